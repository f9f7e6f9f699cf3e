// Launches that overlap: from Hopper on, kernels that call this are launched with the attribute of programmatic stream serialisation, and their blocks start
// while the kernel before still ends. The others are those whose few blocks would gather on the multiprocessors that are free first.
#pragma once

#if __CUDA_ARCH__ >= 900
#define WAIT "griddepcontrol.wait;"
#define LAUNCH "griddepcontrol.launch_dependents;"
#else
#define WAIT ""
#define LAUNCH ""
#endif

// Nothing that the kernel before wrote may be read, nor anything be written, before it returns. The next kernel's blocks may start then;
// they find all kernels done but this one.
__device__ __forceinline__ void begin() {
#ifndef BESIDE
    asm volatile(WAIT "\n " LAUNCH ::: "memory");
#endif
}

// The start of a kernel that waits for all before it: only where LEADS says that the next one runs beside it may that start now.
__device__ __forceinline__ void lead() {
#ifdef LEADS
    asm volatile(LAUNCH ::: "memory");
#endif
}

// The end of a kernel. With BESIDE it runs beside the one before, of the same execution, which has begun or leads: it neither reads nor writes what that writes,
// and ends after it, so that the next one finds both done.
__device__ __forceinline__ void end() {
#ifdef BESIDE
    asm volatile(WAIT ::: "memory");
#endif
}

// Programmatic dependent launch (PTX ISA: griddepcontrol). On Hopper and later, kernels that call begin() are launched with the attribute of programmatic
// stream serialisation: their CTAs may start while the preceding kernel finishes. Before Hopper these functions do nothing. Kernels that do not call
// it have so few CTAs that an early start would put them all on the SMs that become free first.
#pragma once

#if __CUDA_ARCH__ >= 900
#define WAIT "griddepcontrol.wait;"
#define LAUNCH "griddepcontrol.launch_dependents;"
#else
#define WAIT ""
#define LAUNCH ""
#endif

// Waits until the preceding kernel has completed and its writes are visible, then lets the next kernel's CTAs start. A kernel must neither read what
// the preceding kernel writes nor write anything before this. Because it also waits, the next kernel finds all kernels complete but this one.
__device__ __forceinline__ void begin() {
#ifndef BESIDE
    asm volatile(WAIT "\n " LAUNCH ::: "memory");
#endif
}

// In a kernel that is launched without that attribute: with LEADS, lets the next kernel, which is compiled with BESIDE, start now.
__device__ __forceinline__ void lead() {
#ifdef LEADS
    asm volatile(LAUNCH ::: "memory");
#endif
}

// The end of a kernel. With BESIDE the kernel is independent of the preceding one, of the same program, and runs concurrently with it: it waits here
// instead of in begin(), so that it completes last and the next kernel finds both complete.
__device__ __forceinline__ void end() {
#ifdef BESIDE
    asm volatile(WAIT ::: "memory");
#endif
}

// Launches that overlap: from Hopper on, kernels that call this are launched with the attribute of programmatic stream serialisation, and their blocks start
// while the kernel before still ends. The others are those whose few blocks would gather on the multiprocessors that are free first.
#pragma once

// Nothing that the kernel before wrote may be read, nor anything be written, before it returns. The next kernel's blocks may start then;
// they find all kernels done but this one.
__device__ __forceinline__ void begin() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;\n griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

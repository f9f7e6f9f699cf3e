// Operands of matrix instructions, as kernels pass them to the emulator.
#pragma once
#include <cstdint>

namespace emulator {

enum Number { TF32, BF16, F16, E4M3, E5M2, S8, U8 };

// A thread's operands of wgmma: D (+)= A B, 64 by n.
struct Wgmma {
    void *d[128];
    uint32_t a[4];                        // A in registers
    uint64_t descriptor_a, descriptor_b;
    uint32_t n;
    Number type_a, type_b;
    bool registers, integer, add, mn_a, mn_b;
};

}   // namespace emulator

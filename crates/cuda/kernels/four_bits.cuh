// 4-bit weights (s4, or u4 with UNSIGNED) as 16-bit floats.
#pragma once
#include "types.cuh"

// Converts the low four bits of both halves of x: put into the mantissa of 128 (1,024 for f16) and subtract that (and the offset 8 of s4).
__device__ __forceinline__ u32 widen(u32 x) {
#if A_TYPE == T_BF16
    constexpr u32 kBase = 0x43004300, kLess = UNSIGNED ? 0xC300C300 : 0xC308C308;   // -128 or -136
    constexpr u32 kOne = 0x3F803F80;
#else
    constexpr u32 kBase = 0x64006400, kLess = UNSIGNED ? 0xE400E400 : 0xE408E408;   // -1,024 or -1,032
    constexpr u32 kOne = 0x3C003C00;
#endif
    u32 r;
    // (x & mask) ^ base in one instruction.
    asm("lop3.b32 %0, %1, %2, %3, 0x6A;" : "=r"(x) : "r"(x), "r"(0x000F000F), "r"(UNSIGNED ? kBase : kBase ^ 0x00080008));
#if A_TYPE == T_BF16
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(kOne), "r"(kLess));
#else
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(kOne), "r"(kLess));
#endif
    return r;
}

// Element types of the tensor-core kernels: their storage and conversions from and to f32. A kernel is compiled for its types by defines
// (A_TYPE T_BF16). NVRTC is given no system headers, so conversions are PTX cvt instructions instead of cuda_bf16.h and relatives.
#pragma once
#include "launch.cuh"

typedef unsigned char u8;
typedef signed char i8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

// Type codes.
#define T_F32 0
#define T_TF32 1
#define T_BF16 2
#define T_F16 3
#define T_E4M3 4
#define T_E5M2 5
#define T_S8 6
#define T_U8 7
#define T_S32 8

template <int TYPE> struct Element;

template <> struct Element<T_F32> {
    using Raw = float;
    static __device__ __forceinline__ float load(Raw x) { return x; }
    static __device__ __forceinline__ Raw store(float x) { return x; }
};

// f32 in memory, of which the tensor cores read the upper 19 bits.
template <> struct Element<T_TF32> : Element<T_F32> {};

template <> struct Element<T_BF16> {
    using Raw = u16;
    static __device__ __forceinline__ float load(Raw x) { return __uint_as_float(u32(x) << 16); }
    static __device__ __forceinline__ Raw store(float x) {
        u16 r;
        asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r) : "f"(x));
        return r;
    }
};

template <> struct Element<T_F16> {
    using Raw = u16;
    static __device__ __forceinline__ float load(Raw x) {
        float r;
        asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(x));
        return r;
    }
    static __device__ __forceinline__ Raw store(float x) {
        u16 r;
        asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r) : "f"(x));
        return r;
    }
};

#if __CUDA_ARCH__ >= 890
template <> struct Element<T_E4M3> {
    using Raw = u8;
    static __device__ __forceinline__ float load(Raw x) {
        u32 pair;
        asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(pair) : "h"(u16(x)));
        return Element<T_F16>::load(u16(pair));
    }
    static __device__ __forceinline__ Raw store(float x) {
        u16 r;
        asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(r) : "f"(0.0f), "f"(x));
        return u8(r);
    }
};

template <> struct Element<T_E5M2> {
    using Raw = u8;
    static __device__ __forceinline__ float load(Raw x) { return Element<T_F16>::load(u16(x << 8)); }
    static __device__ __forceinline__ Raw store(float x) {
        u16 r;
        asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(r) : "f"(0.0f), "f"(x));
        return u8(r);
    }
};
#endif

template <> struct Element<T_S8> {
    using Raw = i8;
    static __device__ __forceinline__ float load(Raw x) { return float(x); }
    static __device__ __forceinline__ Raw store(float x) {
        int r;
        asm("cvt.rni.sat.s8.f32 %0, %1;" : "=r"(r) : "f"(x));
        return i8(r);
    }
};

template <> struct Element<T_U8> {
    using Raw = u8;
    static __device__ __forceinline__ float load(Raw x) { return float(x); }
    static __device__ __forceinline__ Raw store(float x) {
        u32 r;
        asm("cvt.rni.sat.u8.f32 %0, %1;" : "=r"(r) : "f"(x));
        return u8(r);
    }
};

template <> struct Element<T_S32> {
    using Raw = int;
    static __device__ __forceinline__ float load(Raw x) { return float(x); }
    static __device__ __forceinline__ Raw store(float x) {
        int r;
        asm("cvt.rni.sat.s32.f32 %0, %1;" : "=r"(r) : "f"(x));
        return r;
    }
};

// Packs two values of a 16-bit type into one register, the first in the low half.
template <int TYPE> __device__ __forceinline__ u32 pack2(float low, float high) {
    u32 r;
    if constexpr (TYPE == T_BF16) {
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
    } else {
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
    }
    return r;
}

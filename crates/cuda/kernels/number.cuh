// All data types for the generic kernels: conversion between codes in memory and `real`, as crates/expr/src/number defines it. Rounding is to nearest even.
// Also approximations of functions that generated formulas use.
//
// The generated header has `typedef float real` (or double) before this file.
#pragma once
#include "launch.cuh"

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

#define DEVICE __device__ __forceinline__

// Converts to float so that a further rounding to a narrower type gives the same as from double: round to odd.
DEVICE float narrowed(float v) { return v; }
DEVICE float narrowed(double v) {
    float f = __double2float_rz(v);
    return v == v && (double)f != v && f - f == 0 ? __uint_as_float(__float_as_uint(f) | 1) : f;
}

DEVICE int nearest_int(float v) { return __float2int_rn(v); }
DEVICE int nearest_int(double v) { return v != v ? 0 : __double2int_rn(v); }
DEVICE i64 nearest_long(float v) { return v != v ? 0 : __float2ll_rn(v); }
DEVICE i64 nearest_long(double v) { return v != v ? 0 : __double2ll_rn(v); }

// tanh without branches, to a few ulp: a polynomial near zero, else 1 - 2 / (e^2x + 1).
DEVICE float tangent(float x) {
    const float a = fabsf(x), t = x * x;
    const float series = fmaf(t, fmaf(t, fmaf(t, fmaf(t, -0.0088632355f, 0.021869488f), -0.053968254f), 0.13333334f), -0.33333334f);
    const float far = copysignf(1.0f - __fdividef(2.0f, __expf(2.0f * a) + 1.0f), x);
    return a < 0.4f ? fmaf(x * t, series, x) : far;
}
DEVICE double tangent(double x) { return tanh(x); }

// Division to 1 ulp without branches, for normal or infinite divisors (sums of exponentials); the compiler's division takes a slow path for infinite ones.
DEVICE float ratio(float x, float y) {
    float r;
    asm("rcp.approx.f32 %0, %1;" : "=f"(r) : "f"(y));
    const float q = x * r, rest = fmaf(-q, y, x);
    return rest - rest == 0 ? fmaf(rest, r, q) : q;
}
DEVICE double ratio(double x, double y) { return x / y; }
DEVICE float inverse_root(float x) { return rsqrtf(x); }
DEVICE double inverse_root(double x) { return 1.0 / sqrt(x); }

// Approximations for results that are rounded to 16 bits or fewer. short_exp: relative error 2^-20 |x|. short_ratio: relative error 2^-22, divisors from 1 to
// infinity.
DEVICE float short_exp(float x) {
    float r;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x * 1.44269504f));
    return r;
}
DEVICE float short_ratio(float x, float y) {
    float r;
    // A quarter of y: the reciprocals of the largest floats are subnormal, which .ftz flushes to zero.
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(0.25f * y));
    return 0.25f * x * r;
}
// erf with absolute error 1e-6 (Abramowitz and Stegun, formula 7.1.26).
DEVICE float short_erf(float x) {
    const float a = fabsf(x), t = short_ratio(1.0f, fmaf(0.3275911f, a, 1.0f));
    const float series = fmaf(t, fmaf(t, fmaf(t, fmaf(t, 1.061405429f, -1.453152027f), 1.421413741f), -0.284496736f), 0.254829592f);
    return copysignf(fmaf(-t * series, short_exp(-a * a), 1.0f), x);
}

// How a short float encodes what exceeds its largest finite number.
enum Overflow { TO_INFINITY, TO_NAN, SATURATE };

// A float with a sign bit, E exponent bits and M mantissa bits in the low bits of a word; MAX is the largest finite code.
template <int E, int M, u32 MAX, Overflow BEYOND>
struct ShortFloat {
    enum : int { BIAS = (1 << (E - 1)) - 1 };
    enum : u32 {
        SIGN = 1u << (E + M),
        BEYOND_MAX = BEYOND == SATURATE ? MAX : MAX + 1,
        NOT_A_NUMBER = BEYOND == TO_INFINITY ? MAX + 1 + (1u << (M > 0 ? M - 1 : 0)) : BEYOND == TO_NAN ? MAX + 1 : MAX,
    };

    static DEVICE float decode(u32 code) {
        const u32 magnitude = code & (SIGN - 1), sign = (code & SIGN) << (31 - E - M);
        u32 value;
        if (magnitude >> M) {
            value = (magnitude << (23 - M)) + ((127u - BIAS) << 23);
        } else {
            value = __float_as_uint((float)magnitude * __uint_as_float((u32)(128 - BIAS - M) << 23));
        }
        if (BEYOND == TO_INFINITY && magnitude > MAX) value = magnitude << (23 - M) | 0x7f800000u;
        if (BEYOND == TO_NAN && magnitude > MAX) value = 0x7fc00000u;
        return __uint_as_float(value | sign);
    }

    static DEVICE u32 encode(float v) {
        const u32 bits = __float_as_uint(v), magnitude = bits & 0x7fffffffu, sign = (bits >> 31) << (E + M);
        const int cut = 23 - M;
        // Ties go to the even code; without mantissa bits they go up.
        const u32 odd = M == 0 ? 1 : magnitude >> cut & 1;
        const u32 normal = ((magnitude + (1u << (cut - 1)) - 1 + odd) >> cut) - ((127u - BIAS) << M);
        const float grid = __uint_as_float((u32)(151 - BIAS - M) << 23);
        const u32 subnormal = __float_as_uint(__fadd_rn(__uint_as_float(magnitude), grid)) - __float_as_uint(grid);
        u32 code = magnitude < ((u32)(128 - BIAS) << 23) ? subnormal : normal;
        if (code > MAX) code = BEYOND_MAX;
        if (magnitude > 0x7f800000u) code = NOT_A_NUMBER;
        return code | sign;
    }
};

struct F32 {
    enum { BITS = 32, EXPONENT = 8, MANTISSA = 23, FLOATING = 1 };
    typedef u32 word;
    static DEVICE real decode(word w) { return __uint_as_float(w); }
    static DEVICE word encode(real v) { return __float_as_uint((float)v); }
};
struct F64 {
    enum { BITS = 64, EXPONENT = 11, MANTISSA = 52, FLOATING = 0 };
    typedef u64 word;
    static DEVICE real decode(word w) { return (real)__longlong_as_double(w); }
    static DEVICE word encode(real v) { return __double_as_longlong((double)v); }
};
struct F16 {
    enum { BITS = 16, EXPONENT = 5, MANTISSA = 10, FLOATING = 1 };
    typedef u16 word;
    static DEVICE real decode(word w) {
        float f;
        asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(w));
        return f;
    }
    static DEVICE word encode(real v) {
        word w;
        asm("cvt.rn.f16.f32 %0, %1;" : "=h"(w) : "f"(narrowed(v)));
        return w;
    }
};
struct Bf16 {
    enum { BITS = 16, EXPONENT = 8, MANTISSA = 7, FLOATING = 1 };
    typedef u16 word;
    static DEVICE real decode(word w) { return __uint_as_float((u32)w << 16); }
    static DEVICE word encode(real v) {
        word w;
        asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(w) : "f"(narrowed(v)));
        return w;
    }
};
template <int BITS_OF, int E, int M, u32 MAX, Overflow BEYOND>
struct Short {
    enum { BITS = BITS_OF, EXPONENT = E, MANTISSA = M, FLOATING = 1 };
    typedef u8 word;
    static DEVICE real decode(word w) { return ShortFloat<E, M, MAX, BEYOND>::decode(w); }
    static DEVICE word encode(real v) { return ShortFloat<E, M, MAX, BEYOND>::encode(narrowed(v)); }
};
typedef Short<8, 5, 2, 0x7b, TO_INFINITY> F8E5m2;
typedef Short<8, 4, 3, 0x7e, TO_NAN> F8E4m3;
typedef Short<4, 2, 1, 0x7, SATURATE> F4E2m1;
typedef Short<4, 3, 0, 0x7, SATURATE> F4E3m0;

// A power of two, without sign and zero: encodes the largest one that does not exceed the magnitude.
struct E8m0 {
    enum { BITS = 8, EXPONENT = 8, MANTISSA = 0, FLOATING = 0 };
    typedef u8 word;
    static DEVICE real decode(word w) {
        return __uint_as_float(w == 255 ? 0x7fc00000u : w == 0 ? 0x00400000u : (u32)w << 23);
    }
    static DEVICE word encode(real v) {
        const int exponent = (int)(__double_as_longlong((double)v) >> 52 & 0x7ff) - 1023;
        return exponent > 127 ? 255 : exponent < -127 ? 0 : exponent + 127;
    }
};

// Integers: encoding saturates; NaN becomes 0.
template <int BITS_OF, class WORD, int LOW, int HIGH>
struct Whole {
    enum { BITS = BITS_OF, EXPONENT = 0, MANTISSA = 0, FLOATING = 0 };
    typedef WORD word;
    static DEVICE real decode(word w) { return (real)whole(w); }
    // Byte `i` of four: 2^23 + byte, without its unit of conversions; signed ones are moved up by 128.
    static DEVICE real decode_of(u32 four, int i) {
        const u32 moved = LOW < 0 ? four ^ 0x80808080u : four;
        return (real)(__uint_as_float(__byte_perm(moved, 0x4b000000u, 0x7540 + i)) - (LOW < 0 ? 8388736.0f : 8388608.0f));
    }
    static DEVICE int whole(word w) {
        if (BITS_OF == 4) return LOW < 0 ? (int)((u32)w << 28) >> 28 : w & 15;
        return LOW < 0 ? (int)(signed char)w : (int)w;
    }
    static DEVICE word encode(real v) { return (word)max(LOW, min(HIGH, nearest_int(v))); }
};
typedef Whole<8, u8, -128, 127> S8;
typedef Whole<8, u8, 0, 255> U8;

// Element i of words of a type; bytes of integers are converted four to a word.
template <class T, int N> struct Decoded {
    static DEVICE real of(const typename T::word* words, int i) { return T::decode(words[i]); }
};
template <int LOW, int HIGH, int N> struct Decoded<Whole<8, u8, LOW, HIGH>, N> {
    static DEVICE real of(const u8* words, int i) {
        if (N % 4 != 0) return Whole<8, u8, LOW, HIGH>::decode(words[i]);
        return Whole<8, u8, LOW, HIGH>::decode_of(((const u32*)words)[i / 4], i % 4);
    }
};
typedef Whole<4, u8, -8, 7> S4;
typedef Whole<4, u8, 0, 15> U4;
struct S32 {
    enum { BITS = 32, EXPONENT = 0, MANTISSA = 0, FLOATING = 0 };
    typedef u32 word;
    static DEVICE real decode(word w) { return (real)(int)w; }
    static DEVICE word encode(real v) { return (word)nearest_int(v); }
};
struct S64 {
    enum { BITS = 64, EXPONENT = 0, MANTISSA = 0, FLOATING = 0 };
    typedef u64 word;
    static DEVICE real decode(word w) { return (real)(i64)w; }
    static DEVICE word encode(real v) { return (word)nearest_long(v); }
};
struct Boolean {
    enum { BITS = 8, EXPONENT = 0, MANTISSA = 0, FLOATING = 0 };
    typedef u8 word;
    static DEVICE real decode(word w) { return w != 0; }
    static DEVICE word encode(real v) { return v != 0 && v == v; }
};

// The code of element `at`. 4-bit elements are packed two per byte, the even one in the low half.
template <class T>
DEVICE typename T::word load_code(const void* data, i64 at) {
    if (T::BITS == 4) return (typename T::word)(((const u8*)data)[at >> 1] >> (at & 1) * 4 & 15);
    return ((const typename T::word*)data)[at];
}

// 4-bit elements are written by atomics on the enclosing word, because two threads may write the halves of a byte; the result does not depend on the order.
template <class T>
DEVICE void store_code(void* data, i64 at, typename T::word code) {
    if (T::BITS == 4) {
        const u64 byte = (u64)data + (at >> 1);
        u32* word = (u32*)(byte & ~3ull);
        const int shift = (int)(byte & 3) * 8 + (int)(at & 1) * 4;
        atomicAnd(word, ~(15u << shift));
        atomicOr(word, ((u32)code & 15u) << shift);
    } else {
        ((typename T::word*)data)[at] = code;
    }
}

template <class T>
DEVICE real load(const void* data, i64 at) {
    return T::decode(load_code<T>(data, at));
}
// A number that no thread of the kernel writes, such as a scale: equal ones are loaded once.
template <class T>
DEVICE real constant(const void* data, i64 at) {
    if constexpr (T::BITS == 32) {
        return T::decode((typename T::word)__ldg((const u32*)data + at));
    } else if constexpr (T::BITS == 16) {
        return T::decode((typename T::word)__ldg((const u16*)data + at));
    } else {
        return load<T>(data, at);
    }
}
template <class T>
DEVICE void store(void* data, i64 at, real v) {
    store_code<T>(data, at, T::encode(v));
}

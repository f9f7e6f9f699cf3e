// CUDA's words for kernels that run in the emulator (emulator.h): qualifiers, types, built-in variables and functions. Included before the kernel's source.
#pragma once
#include <math.h>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#define __device__
#define __host__
#define __global__
#define __grid_constant__
#define __forceinline__ inline
#define __restrict__
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))

// ---- the emulator ---------------------------------------------------------------------------------------------------------------------------

namespace emulator {
struct Dim {
    unsigned x, y, z;
};
}   // namespace emulator
extern "C" {
__attribute__((const)) emulator::Dim emulator_thread();
__attribute__((const)) emulator::Dim emulator_block();
__attribute__((const)) emulator::Dim emulator_threads();
__attribute__((const)) emulator::Dim emulator_grid();
void emulator_sync(int site);
void emulator_sync_warp(unsigned mask);
void emulator_exchange(unsigned mask, void *value, unsigned n, unsigned from);
void *emulator_dynamic();
void *emulator_static(unsigned at);
unsigned emulator_shared_address(const void *p);
void *emulator_generic_address(unsigned address);
void emulator_poll(bool changed);
void emulator_allocated(const void *at, size_t n);
void emulator_freed(const void *at);
}
#define threadIdx emulator_thread()
#define blockIdx emulator_block()
#define blockDim emulator_threads()
#define gridDim emulator_grid()

namespace emulator {

// Places of the variables in shared memory, relative to the first, and their bytes.
extern "C" __attribute__((visibility("default"))) unsigned emulator_statics;
unsigned emulator_statics = 0;
inline unsigned allocate(unsigned bytes, unsigned align) {
    unsigned at = (emulator_statics + align - 1) / align * align;
    emulator_statics = at + bytes;
    return at;
}
template <int VARIABLE, unsigned BYTES, unsigned ALIGN> struct Place {
    static inline unsigned at = allocate(BYTES, ALIGN);
};

// The dynamic shared memory of the running thread's CTA, as an array of T.
template <class T> struct Dynamic {
    operator T *() const { return static_cast<T *>(emulator_dynamic()); }
    template <class U> explicit operator U *() const { return static_cast<U *>(emulator_dynamic()); }
};

// The kernel's constants may be read.
extern "C" char __ehdr_start, _end;
static struct Image {
    Image() { emulator_allocated(&__ehdr_start, size_t(&_end - &__ehdr_start)); }
    ~Image() { emulator_freed(&__ehdr_start); }
} image;

// A copy of a parameter, which is not in the device's memory and may not be aligned.
template <class T> __attribute__((no_sanitize("thread"))) inline T parameter(const void *p) {
    T v;
    memcpy(&v, p, sizeof v);
    return v;
}
template <class... T, size_t... I> __attribute__((no_sanitize("thread"))) inline void call(void (*f)(T...), void **p, std::index_sequence<I...>) {
    f(parameter<std::remove_cv_t<T>>(p[I])...);
}
template <class... T> inline void call(void (*f)(T...), void **p) { call(f, p, std::index_sequence_for<T...>()); }

template <class To, class T> inline To bits_as(T v) {
    static_assert(sizeof(T) == sizeof(To));
    To r;
    memcpy(&r, &v, sizeof r);
    return r;
}
// To nearest, to an integer between these bounds; NaN to 0.
template <class T> inline T to_integer(double v, double low, double high) {
    double r = nearbyint(v);
    return v != v ? T(0) : r <= low ? T(low) : r >= high ? T(high) : T(r);
}

}   // namespace emulator

// ---- threads ----------------------------------------------------------------------------------------------------------------------------------

#define __syncthreads() emulator_sync(__COUNTER__)
inline void __syncwarp(unsigned mask = ~0u) { emulator_sync_warp(mask); }
template <class T> inline T __shfl_sync(unsigned mask, T v, int from, int = 32) {
    emulator_exchange(mask, &v, sizeof v, unsigned(from) & 31);
    return v;
}
template <class T> inline T __shfl_xor_sync(unsigned mask, T v, int distance, int = 32) { return __shfl_sync(mask, v, int(threadIdx.x % 32) ^ distance); }
inline unsigned long __cvta_generic_to_shared(const void *p) { return emulator_shared_address(p); }
inline void *__cvta_shared_to_generic(unsigned long address) { return emulator_generic_address(unsigned(address)); }
template <class T> inline T atomicAdd(T *p, T v) { return emulator_poll(true), std::exchange(*p, T(*p + v)); }
inline unsigned atomicOr(unsigned *p, unsigned v) { return emulator_poll(true), std::exchange(*p, *p | v); }
inline unsigned atomicAnd(unsigned *p, unsigned v) { return emulator_poll(true), std::exchange(*p, *p & v); }

// ---- vectors ----------------------------------------------------------------------------------------------------------------------------------

struct __align__(8) uint2 { unsigned x, y; };
struct __align__(16) uint4 { unsigned x, y, z, w; };
struct __align__(8) float2 { float x, y; };
struct __align__(16) float4 { float x, y, z, w; };
struct __align__(8) int2 { int x, y; };
struct __align__(16) int4 { int x, y, z, w; };
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline int2 make_int2(int x, int y) { return {x, y}; }
inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }

// Loads and stores with cache hints.
template <class T> inline T __ldg(const T *p) { return *p; }
template <class T> inline T __ldcg(const T *p) { return *p; }
template <class T> inline T __ldcs(const T *p) { return *p; }
template <class T> inline void __stcs(T *p, T v) { *p = v; }

// ---- numbers ----------------------------------------------------------------------------------------------------------------------------------

inline float __uint_as_float(unsigned v) { return emulator::bits_as<float>(v); }
inline float __int_as_float(int v) { return emulator::bits_as<float>(v); }
inline unsigned __float_as_uint(float v) { return emulator::bits_as<unsigned>(v); }
inline int __float_as_int(float v) { return emulator::bits_as<int>(v); }
inline double __longlong_as_double(long long v) { return emulator::bits_as<double>(v); }
inline long long __double_as_longlong(double v) { return emulator::bits_as<long long>(v); }
inline unsigned __umulhi(unsigned a, unsigned b) { return unsigned((uint64_t(a) * b) >> 32); }
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) { return unsigned((uint64_t(high) << 32 | low) >> (shift & 31)); }
inline int __popc(unsigned v) { return __builtin_popcount(v); }
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
    uint64_t all = uint64_t(y) << 32 | x;
    unsigned r = 0;
    for (int i = 0; i < 4; i++) {
        unsigned c = selector >> 4 * i & 15, byte = unsigned(all >> 8 * (c & 7)) & 255;
        if (c & 8) byte = byte & 128 ? 255 : 0;
        r |= byte << 8 * i;
    }
    return r;
}
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fadd_rn(float a, float b) {
    volatile float sum = a + b;   // not fused with a product
    return sum;
}
inline float __fdividef(float a, float b) { return a / b; }
inline float __expf(float x) { return expf(x); }
inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline float rsqrt(float x) { return rsqrtf(x); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline int __float2int_rn(float v) { return emulator::to_integer<int>(v, -2147483648.0, 2147483647.0); }
inline int __double2int_rn(double v) { return emulator::to_integer<int>(v, -2147483648.0, 2147483647.0); }
inline long long __float2ll_rn(float v) { return llrint(double(v)); }
inline long long __double2ll_rn(double v) { return llrint(v); }
inline unsigned __float2uint_rz(float v) { return v <= 0 ? 0 : v >= 4294967296.0f ? ~0u : unsigned(v); }
inline float __double2float_rz(double v) {
    float f = float(v);
    return fabs(double(f)) > fabs(v) ? std::nextafterf(f, 0.0f) : f;
}
template <class A, class B> inline auto min(A a, B b) -> std::common_type_t<A, B> {
    using T = std::common_type_t<A, B>;
    if constexpr (std::is_floating_point_v<T>) return std::fmin(T(a), T(b));
    else return T(a) < T(b) ? T(a) : T(b);
}
template <class A, class B> inline auto max(A a, B b) -> std::common_type_t<A, B> {
    using T = std::common_type_t<A, B>;
    if constexpr (std::is_floating_point_v<T>) return std::fmax(T(a), T(b));
    else return T(a) > T(b) ? T(a) : T(b);
}

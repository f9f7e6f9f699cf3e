// A function for each PTX instruction that the kernels use. compile.py makes `ptx::cvt<"rn.bf16.f32">(r, x)` of `cvt.rn.bf16.f32 %0, %1;`: what follows the first
// dot is a template argument, the operands are in the order of the text, and operands in braces are `in(...)`, or `out(&...)` if they are results.
#pragma once
#include "cuda.h"
#include "matrices.h"
#include <algorithm>
#include <string_view>

extern "C" {
unsigned emulator_rank();
void emulator_named(unsigned number, unsigned threads, bool waits);
void emulator_cluster_arrive();
void emulator_cluster_wait();
const void *emulator_map_generic(const void *p, unsigned rank);
unsigned char *emulator_shared(unsigned address, unsigned n, bool write);
void emulator_global(const void *p, unsigned n, bool write);
void emulator_fetch(unsigned to, const void *from, unsigned bytes, unsigned valid);
void emulator_fetch_commit();
void emulator_fetch_wait(unsigned pending);
void emulator_store_commit();
void emulator_store_wait(unsigned pending);
void emulator_mbarrier_init(unsigned address, unsigned arrivals);
void emulator_mbarrier_arrive(unsigned address, unsigned bytes);
bool emulator_mbarrier_test(unsigned address, unsigned parity);
void emulator_bulk_fetch(unsigned to, const void *from, unsigned bytes, unsigned barrier);
void emulator_send(unsigned to, unsigned barrier, const unsigned *words, unsigned count);
void emulator_tma_load(unsigned to, const void *map, unsigned barrier, const int *coordinates, const unsigned short *taps, unsigned multicast);
void emulator_tma_store(const void *map, unsigned from, const int *coordinates);
float emulator_f8(unsigned code, int type);
void emulator_ldmatrix(unsigned *r, unsigned address, bool transposed);
void emulator_stmatrix(unsigned address, const unsigned *r, bool transposed);
void emulator_mma(void **d, const unsigned *a, const unsigned *b, unsigned parts, int type_a, int type_b, bool integer);
void emulator_wgmma(emulator::Wgmma *args);
void emulator_wgmma_wait();
}

namespace ptx {

using namespace emulator;

// What follows an instruction's first dot.
template <size_t N> struct Name {
    char text[N];
    consteval Name(const char (&s)[N]) { std::copy_n(s, N, text); }
    constexpr std::string_view view() const { return {text, N - 1}; }
    constexpr bool is(std::string_view s) const { return view() == s; }
    constexpr bool has(std::string_view s) const { return view().find(s) != s.npos; }
    // The `i`-th part between dots, counted from the end.
    constexpr std::string_view last(int i) const {
        std::string_view v = view();
        for (; i > 0; --i) v = v.substr(0, v.rfind('.'));
        return v.substr(v.rfind('.') + 1);
    }
};
template <bool KNOWN> constexpr void known() { static_assert(KNOWN, "this form of the instruction is not in the emulator"); }

template <int N> struct In {
    unsigned v[N];
};
template <int N> struct Out {
    void *p[N];
    void set(const unsigned *v) const {
        for (int i = 0; i < N; i++) memcpy(p[i], v + i, 4);
    }
};
template <class T> inline unsigned word(T v) {
    if constexpr (std::is_same_v<T, float>) return bits_as<unsigned>(v);
    else return unsigned(v);
}
template <class... T> inline In<sizeof...(T)> in(T... v) { return {{word(v)...}}; }
template <class... T> inline Out<sizeof...(T)> out(T *...p) { return {{p...}}; }
inline unsigned sink;
inline unsigned cluster_ctarank() { return emulator_rank(); }

// ---- numbers ----------------------------------------------------------------------------------------------------------------------------------

inline float of_f16(unsigned v) { return float(bits_as<_Float16>((unsigned short)v)); }
inline unsigned to_f16(float v) { return bits_as<unsigned short>(_Float16(v)); }
inline float of_bf16(unsigned v) { return bits_as<float>(v << 16); }
inline unsigned to_bf16(float v) {
    unsigned b = bits_as<unsigned>(v);
    return v != v ? 0x7fff : (b + 0x7fff + (b >> 16 & 1)) >> 16;
}
inline float to_tf32(float v) { return v - v == 0 ? bits_as<float>((bits_as<unsigned>(v) + 0x1000) & ~0x1fffu) : v; }
// To nearest even with MANTISSA bits, finite.
template <int MANTISSA> inline unsigned to_f8(float v) {
    constexpr int bias = MANTISSA == 3 ? 7 : 15;
    const double most = MANTISSA == 3 ? 448 : 57344, x = std::fmin(std::fabs(double(v)), most);
    const unsigned sign = std::signbit(v) ? 128 : 0;
    if (v != v) return 127;
    const int exponent = x == 0 ? 1 - bias : std::max(std::ilogb(x), 1 - bias);
    const int code = int(nearbyint(std::ldexp(x, MANTISSA - exponent)));   // with the implicit bit
    return sign | unsigned(code + ((exponent + bias - 1) << MANTISSA));
}
template <Name M, class D, class... S> inline void cvt(D &d, S... s) {
    const double x[] = {double(s)...};
    constexpr int last = sizeof...(S) - 1;
    if constexpr (M.is("rn.bf16.f32")) d = D(to_bf16(float(x[0])));
    else if constexpr (M.is("rn.f16.f32")) d = D(to_f16(float(x[0])));
    else if constexpr (M.is("f32.f16")) d = of_f16(unsigned(x[0]));
    else if constexpr (M.is("rn.bf16x2.f32")) d = to_bf16(float(x[0])) << 16 | to_bf16(float(x[last]));
    else if constexpr (M.is("rn.f16x2.f32")) d = to_f16(float(x[0])) << 16 | to_f16(float(x[last]));
    else if constexpr (M.is("rni.sat.s8.f32")) d = to_integer<int>(x[0], -128, 127);
    else if constexpr (M.is("rni.sat.u8.f32")) d = to_integer<unsigned>(x[0], 0, 255);
    else if constexpr (M.is("rni.sat.s32.f32")) d = __float2int_rn(float(x[0]));
    else if constexpr (M.is("rna.tf32.f32")) d = bits_as<unsigned>(to_tf32(float(x[0])));
    else if constexpr (M.is("rn.f16x2.e4m3x2")) d = to_f16(emulator_f8(unsigned(x[0]) >> 8, E4M3)) << 16 | to_f16(emulator_f8(unsigned(x[0]) & 255, E4M3));
    else if constexpr (M.is("rn.satfinite.e4m3x2.f32")) d = D(to_f8<3>(float(x[0])) << 8 | to_f8<3>(float(x[last])));
    else if constexpr (M.is("rn.satfinite.e5m2x2.f32")) d = D(to_f8<2>(float(x[0])) << 8 | to_f8<2>(float(x[last])));
    else known<M.is("")>();
}
template <Name M> inline void rcp(float &d, float x) { d = 1.0f / x; }
template <Name M> inline void ex2(float &d, float x) { d = exp2f(x); }
template <Name M> inline void lg2(float &d, float x) { d = log2f(x); }
template <Name M> inline void sqrt(float &d, float x) { d = sqrtf(x); }

// Operations on pairs of 16 bits.
template <Name M, class F> inline unsigned pairs(F f) {
    unsigned r = 0;
    for (int shift = 0; shift < 32; shift += 16) {
        auto of = [&](unsigned v) { return M.has("bf16x2") ? of_bf16(v >> shift & 0xffff) : of_f16(v >> shift & 0xffff); };
        r |= unsigned(f(of)) << shift;
    }
    return r;
}
template <Name M> inline unsigned to_half(float v) { return M.has("bf16x2") ? to_bf16(v) : to_f16(v); }
template <Name M> inline void mul(unsigned &d, unsigned a, unsigned b) { d = pairs<M>([&](auto of) { return to_half<M>(of(a) * of(b)); }); }
template <Name M> inline void fma(unsigned &d, unsigned a, unsigned b, unsigned c) { d = pairs<M>([&](auto of) { return to_half<M>(fmaf(of(a), of(b), of(c))); }); }
template <Name M> inline void max(unsigned &d, unsigned a, unsigned b) { d = pairs<M>([&](auto of) { return to_half<M>(fmaxf(of(a), of(b))); }); }
template <Name M> inline void set(unsigned &d, unsigned a, unsigned b) {
    known<M.has("eq") || M.has("gtu")>();
    d = pairs<M>([&](auto of) { return (M.has("eq") ? of(a) == of(b) : !(of(a) <= of(b))) ? 0xffffu : 0u; });
}
template <Name M, class D> inline void lop3(D &d, unsigned a, unsigned b, unsigned c, unsigned table) {
    unsigned r = 0;
    for (int i = 0; i < 32; i++) r |= (table >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)) & 1) << i;
    d = r;
}
template <Name M> inline void setp(unsigned &p, unsigned a, unsigned b) {
    known<M.is("ne.b32")>();
    p = a != b;
}
template <Name M> inline void selp(unsigned &d, unsigned a, unsigned b, unsigned p) { d = p ? a : b; }
template <Name M> inline void mov(unsigned &d, unsigned a) { d = a; }

// ---- what changes no result -------------------------------------------------------------------------------------------------------------------

template <Name M, class... T> inline void fence(T...) {}
template <Name M, class... T> inline void prefetch(T...) {}
template <Name M, class... T> inline void setmaxnreg(T...) {}
template <Name M> inline void griddepcontrol() {}
template <Name M, class D> inline void createpolicy(D &d, double) { d = 0; }

// ---- loads and stores -------------------------------------------------------------------------------------------------------------------------

template <Name M> constexpr unsigned bytes_of() { return M.has("16") ? 2 : 4; }
template <Name M, class P> inline unsigned char *place(P p, unsigned n, bool write) {
    if constexpr (M.has("shared")) return emulator_shared(unsigned(p), n, write);
    else return emulator_global((const void *)p, n, write), (unsigned char *)p;
}
template <Name M, int N, class P> inline void ld(Out<N> d, P p) {
    unsigned v[N];
    memcpy(v, place<M>(p, 4 * N, false), sizeof v);
    d.set(v);
}
template <Name M, class D, class P> inline void ld(D &d, P p) {
    if constexpr (M.has("acquire")) emulator_poll(false);
    memcpy(&d, place<M>(p, bytes_of<M>(), false), bytes_of<M>());
}
template <Name M, int N, class P> inline void st(P p, In<N> s) { memcpy(place<M>(p, 4 * N, true), s.v, sizeof s.v); }
template <Name M, int N> inline void st(unsigned to, In<N> s, unsigned barrier) { emulator_send(to, barrier, s.v, N); }
template <Name M, class P, class S> requires std::is_arithmetic_v<S> inline void st(P p, S s) { memcpy(place<M>(p, bytes_of<M>(), true), &s, bytes_of<M>()); }
template <Name M> inline void red(unsigned *p, unsigned v) {
    known<M.is("release.gpu.global.add.u32")>();
    emulator_global(p, 4, true);
    *p += v;
    emulator_poll(true);
}
template <Name M, class D> inline void mapa(D &d, unsigned address, unsigned rank) { d = (address & 0xffffff) | (rank + 1) << 24; }
template <Name M, class D, class T> inline void mapa(D &d, const T *p, unsigned rank) { d = D(emulator_map_generic(p, rank)); }

// ---- asynchronous copies ----------------------------------------------------------------------------------------------------------------------

template <Name M> inline void cp() {
    if constexpr (M.is("async.commit_group")) emulator_fetch_commit();
    else if constexpr (M.is("async.wait_all")) emulator_fetch_commit(), emulator_fetch_wait(0);
    else if constexpr (M.is("async.bulk.commit_group")) emulator_store_commit();
    else known<M.is("")>();
}
template <Name M> inline void cp(unsigned pending) {
    if constexpr (M.is("async.wait_group")) emulator_fetch_wait(pending);
    else if constexpr (M.is("async.bulk.wait_group.read")) emulator_store_wait(pending);
    else known<M.is("")>();
}
template <Name M> inline void cp(unsigned to, const void *from, unsigned bytes) { emulator_fetch(to, from, bytes, bytes); }
// `last` is the mbarrier of a bulk copy, a cache policy, or how many of the bytes are read.
template <Name M> inline void cp(unsigned to, const void *from, unsigned bytes, unsigned long long last) {
    if constexpr (M.has("bulk")) emulator_bulk_fetch(to, from, bytes, unsigned(last));
    else emulator_fetch(to, from, bytes, M.has("cache_hint") ? bytes : unsigned(last));
}
template <int N> inline const int *coordinates(const In<N> &x) { return reinterpret_cast<const int *>(x.v); }
template <Name M, int N> inline void cp(unsigned to, const void *map, In<N> x, unsigned barrier) { emulator_tma_load(to, map, barrier, coordinates(x), nullptr, 0); }
// `last` is the ranks of a multicast, or a cache policy.
template <Name M, int N> inline void cp(unsigned to, const void *map, In<N> x, unsigned barrier, unsigned long long last) {
    emulator_tma_load(to, map, barrier, coordinates(x), nullptr, M.has("multicast") ? unsigned(last) : 0);
}
template <Name M, int N, int T> inline void cp(unsigned to, const void *map, In<N> x, unsigned barrier, In<T> taps) {
    unsigned short offsets[3] = {};
    for (int i = 0; i < T; i++) offsets[i] = (unsigned short)taps.v[i];
    emulator_tma_load(to, map, barrier, coordinates(x), offsets, 0);
}
template <Name M, int N> inline void cp(const void *map, In<N> x, unsigned from) { emulator_tma_store(map, from, coordinates(x)); }

// ---- barriers ---------------------------------------------------------------------------------------------------------------------------------

template <Name M> inline void bar(unsigned number, unsigned threads) { emulator_named(number, threads, M.is("sync")); }
template <Name M> inline void barrier() {
    if constexpr (M.has("cluster.arrive")) emulator_cluster_arrive();
    else if constexpr (M.has("cluster.wait")) emulator_cluster_wait();
    else known<M.is("")>();
}
template <Name M> inline void mbarrier(unsigned a, unsigned b) {
    if constexpr (M.has("init")) emulator_mbarrier_init(a, b);
    else emulator_mbarrier_arrive(b, 0);
}
template <Name M> inline void mbarrier(unsigned &p, unsigned address, unsigned x) {
    if constexpr (M.has("try_wait.parity")) p = emulator_mbarrier_test(address, x);
    else if constexpr (M.has("arrive.expect_tx")) emulator_mbarrier_arrive(address, x);
    else known<M.is("")>();
}

// ---- matrices ---------------------------------------------------------------------------------------------------------------------------------

template <Name M> inline void ldmatrix(Out<4> d, unsigned address) {
    unsigned r[4];
    emulator_ldmatrix(r, address, M.has("trans"));
    d.set(r);
}
template <Name M> inline void stmatrix(unsigned address, In<4> s) { emulator_stmatrix(address, s.v, M.has("trans")); }

constexpr Number number_of(std::string_view s) {
    constexpr std::string_view names[] = {"tf32", "bf16", "f16", "e4m3", "e5m2", "s8", "u8"};
    int i = 0;
    while (names[i] != s) ++i;   // an unknown type does not compile
    return Number(i);
}
// Accumulates: the results are the addends, too.
template <Name M, int A, int B> inline void mma(Out<4> d, In<A> a, In<B> b, Out<4>) {
    constexpr Number type_a = number_of(M.last(2)), type_b = number_of(M.last(1));
    emulator_mma(d.p, a.v, b.v, B, type_a, type_b, M.last(0) == "s32");
}

template <Name M> inline void wgmma() {}
template <Name M> inline void wgmma(unsigned) { emulator_wgmma_wait(); }
// N results, A by a descriptor or in registers; after `add` the signs of A and B and, for 16 bits, whether those in shared memory are MN-major.
template <Name M, int N, class A> inline void wgmma(Out<N> d, A a, uint64_t b, unsigned add, int = 1, int = 1, int first = 0, int second = 0) {
    constexpr bool registers = !std::is_integral_v<A>;
    Wgmma w;
    std::copy_n(d.p, N, w.d);
    if constexpr (registers) memcpy(w.a, a.v, sizeof w.a);
    else w.descriptor_a = a;
    w.descriptor_b = b, w.n = N * 2, w.type_a = number_of(M.last(1)), w.type_b = number_of(M.last(0)), w.registers = registers;
    w.integer = M.has("s32"), w.add = add, w.mn_a = !registers && first, w.mn_b = registers ? first : second;
    emulator_wgmma(&w);
}

}   // namespace ptx

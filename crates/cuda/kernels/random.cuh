// Philox 4x32-10 (Salmon, Moraes, Dror and Shaw, 2011): counter-based, so a number depends on its index, the seed and an offset only. How these form counter
// and key is defined by crates/expr/src/philox.
#pragma once

DEVICE void philox(u32 (&counter)[4], u32 key0, u32 key1) {
#pragma unroll
    for (int round = 0; round < 10; ++round) {
        const u64 a = (u64)0xd2511f53u * counter[0], b = (u64)0xcd9e8d57u * counter[2];
        const u32 c0 = (u32)(b >> 32) ^ counter[1] ^ key0, c2 = (u32)(a >> 32) ^ counter[3] ^ key1;
        counter[0] = c0, counter[1] = (u32)b, counter[2] = c2, counter[3] = (u32)a;
        key0 += 0x9e3779b9u, key1 += 0xbb67ae85u;
    }
}

DEVICE u32 philox_at(u64 index, i64 seed, i64 offset) {
    const u64 block = index & ~3ull;
    u32 c[4] = {(u32)offset, (u32)((u64)offset >> 32), (u32)block, (u32)(block >> 32)};
    philox(c, (u32)seed, (u32)((u64)seed >> 32));
    const int lane = (int)(index & 3);
    return lane == 0 ? c[0] : lane == 1 ? c[1] : lane == 2 ? c[2] : c[3];
}

// Whether dropout with probability p keeps the element. Without an offset (0) the counter is another one.
DEVICE bool dropout_keeps(u64 index, i64 seed, i64 offset, float p) {
    const u32 threshold = __float2uint_rz(__fmul_rn(p, 4294967296.0f));
    if (offset != 0) return philox_at(index, seed, offset) > threshold;
    const u32 block = (u32)index & ~3u;
    u32 c[4] = {block, block + 1, block, block + 3};
    philox(c, (u32)seed, (u32)seed);
    return c[2] > threshold;
}

// Stochastic rounding to T: away from zero with the probability of the distance past the neighbour towards zero, with as many random bits as f32 has more
// mantissa bits than T.
template <class T>
DEVICE real round_stochastic(real v, u64 index, u32 seed) {
    if (!T::FLOATING || T::MANTISSA == 23 || !(v - v == 0)) return v;
    const double x = v;
    const int bias = (1 << (T::EXPONENT - 1)) - 1;
    int exponent = (int)(__double_as_longlong(x) >> 52 & 0x7ff) - 1023;
    if (exponent < 1 - bias) exponent = 1 - bias;
    const double quantum = __longlong_as_double((i64)(exponent - T::MANTISSA + 1023) << 52);
    const double one = (double)(1 << (23 - T::MANTISSA));
    const u32 random = philox_at(index, (i64)(u64)seed, 0) & ((1u << (23 - T::MANTISSA)) - 1);
    const double digits = fabs(x) / quantum, whole = floor(digits);
    const double magnitude = (whole + (digits - whole + (double)random / one >= 1.0 ? 1.0 : 0.0)) * quantum;
    return (real)copysign(magnitude, x);
}

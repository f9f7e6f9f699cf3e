// Copies contiguous rows that begin anywhere. A thread makes a few units of 16 bytes of the destination, each from the two aligned units of memory that its elements
// span. Grid-stride loop. With EXACT the rows of the destination begin anywhere, too, and nothing else is written: units that a row does not fill
// are loaded like the others and stored element by element. Otherwise they begin at multiples of 16 bytes, and the last unit of a row also has what follows the row.
//
// The generated header has UNIT, the type of an element as a word; `per_row`, the units of a row, at most; `length`, the elements of a row; and `bases`, which
// adds the offsets of a row.
#include "args.cuh"

enum : int { kElements = 16 / (int)sizeof(UNIT), kUnits = EXACT ? 2 : 4, kStep = 256 * kUnits };

// The 16 bytes from byte `shift` of `x` on, which `y` continues.
DEVICE uint4 joined(const uint4& x, const uint4& y, int shift) {
    const bool two = shift & 8, one = shift & 4;
    const u32 a[6] = {two ? x.z : x.x, two ? x.w : x.y, two ? y.x : x.z, two ? y.y : x.w, two ? y.z : y.x, two ? y.w : y.y};
    u32 b[5];
#pragma unroll
    for (int i = 0; i < 5; ++i) b[i] = one ? a[i + 1] : a[i];
    const u32 bits = shift % 4 * 8;
    return make_uint4(__funnelshift_r(b[0], b[1], bits), __funnelshift_r(b[1], b[2], bits), __funnelshift_r(b[2], b[3], bits), __funnelshift_r(b[3], b[4], bits));
}

// The elements from `begin` to `end` one by one, at the ends of the tensor.
DEVICE uint4 gathered(const UNIT* from, const UNIT* begin, const UNIT* end) {
    u64 words[2] = {0, 0};
#pragma unroll
    for (int i = 0; i < kElements; ++i) {
        if (from + i >= begin && from + i < end) words[i * 2 / kElements] |= (u64)from[i] << i * sizeof(UNIT) % 8 * 8;
    }
    return make_uint4((u32)words[0], (u32)(words[0] >> 32), (u32)words[1], (u32)(words[1] >> 32));
}

// Stores the elements of a unit that a row of `length` has; its first one is the row's element `own`.
DEVICE void store(UNIT* to, const uint4& unit, int own, int length) {
    if (!EXACT || own >= 0 && own + kElements <= length) {
        *(uint4*)to = unit;
        return;
    }
    const u64 words[2] = {unit.x | (u64)unit.y << 32, unit.z | (u64)unit.w << 32};
#pragma unroll
    for (int i = 0; i < kElements; ++i) {
        if ((u32)(own + i) < (u32)length) to[i] = (UNIT)(words[i * 2 / kElements] >> i * sizeof(UNIT) % 8 * 8);
    }
}

extern "C" __global__ void __launch_bounds__(256) align(const __grid_constant__ Args a) {
    begin();
    const UNIT *const first_of = (const UNIT*)a.src_data + a.src_origin, *const last = (const UNIT*)a.src_data + a.src_end;
    for (i64 first = (i64)blockIdx.x * kStep + threadIdx.x; first < a.units; first += (i64)gridDim.x * kStep) {
        uint4 x[kUnits], y[kUnits];
        const UNIT* from[kUnits];
        UNIT* to[kUnits];
        int own[kUnits];   // the unit's first element in the row
        bool inside[kUnits];
#pragma unroll
        for (int j = 0; j < kUnits; ++j) {
            index row = (index)(first + j * 256);
            if (row >= a.units) break;
            const index unit = split(a.per_row[0], row);
            i64 at = a.src_origin, there = a.dst_origin;
            bases(a, row, at, there);
            to[j] = (UNIT*)a.dst_data + there;
            own[j] = (int)unit * kElements;
#if EXACT
            own[j] -= (int)((u64)to[j] & 15) / (int)sizeof(UNIT);
#endif
            to[j] += own[j];
            from[j] = (const UNIT*)a.src_data + at + own[j];
            const uint4* near = (const uint4*)((const u8*)from[j] - ((u64)from[j] & 15));
            inside[j] = (const UNIT*)near >= first_of && (const UNIT*)(near + 2) <= last;
            if (inside[j]) {
                x[j] = near[0];
                y[j] = (const uint4*)from[j] == near ? x[j] : near[1];
            }
        }
#pragma unroll
        for (int j = 0; j < kUnits; ++j) {
            if (first + j * 256 >= a.units) break;
            store(to[j], inside[j] ? joined(x[j], y[j], (int)((u64)from[j] & 15)) : gathered(from[j], first_of, last), own[j], (int)a.length);
        }
    }
    end();
}

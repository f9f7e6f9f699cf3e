// Copies contiguous rows that begin anywhere to rows that begin at multiples of 16 bytes. A thread makes four units of 16 bytes, each from the two aligned units
// of memory that its elements span; the last unit of a row also has what follows the row. Grid-stride loop over 1,024 units.
//
// The generated header has UNIT, the type of an element as a word; `per_row`, the units of a row; and `bases`, which adds the offsets of a row.
#include "args.cuh"

enum : int { kElements = 16 / (int)sizeof(UNIT), kUnits = 4, kStep = 256 * kUnits };

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

// The elements before `end` one by one, at the end of the tensor.
DEVICE uint4 gathered(const UNIT* from, const UNIT* end) {
    u64 words[2] = {0, 0};
#pragma unroll
    for (int i = 0; i < kElements; ++i) {
        if (from + i < end) words[i * 2 / kElements] |= (u64)from[i] << i * sizeof(UNIT) % 8 * 8;
    }
    return make_uint4((u32)words[0], (u32)(words[0] >> 32), (u32)words[1], (u32)(words[1] >> 32));
}

extern "C" __global__ void __launch_bounds__(256) align(const __grid_constant__ Args a) {
    begin();
    const UNIT* const last = (const UNIT*)a.src_data + a.src_end;
    for (i64 first = (i64)blockIdx.x * kStep + threadIdx.x; first < a.units; first += (i64)gridDim.x * kStep) {
        uint4 x[kUnits], y[kUnits];
        const UNIT* from[kUnits];
        i64 to[kUnits];
#pragma unroll
        for (int j = 0; j < kUnits; ++j) {
            index row = (index)(first + j * 256);
            if (row >= a.units) break;
            const index unit = split(a.per_row[0], row);
            i64 at = a.src_origin + (i64)unit * kElements;
            to[j] = a.dst_origin + (i64)unit * kElements;
            bases(a, row, at, to[j]);
            from[j] = (const UNIT*)a.src_data + at;
            const uint4* near = (const uint4*)((const u8*)from[j] - ((u64)from[j] & 15));
            if ((const UNIT*)(near + 2) <= last) {
                x[j] = near[0];
                y[j] = (const uint4*)from[j] == near ? x[j] : near[1];
            }
        }
#pragma unroll
        for (int j = 0; j < kUnits; ++j) {
            if (first + j * 256 >= a.units) break;
            const int shift = (int)((u64)from[j] & 15);
            const bool inside = (const UNIT*)((const u8*)from[j] - shift + 32) <= last;
            *(uint4*)((UNIT*)a.dst_data + to[j]) = inside ? joined(x[j], y[j], shift) : gathered(from[j], last);
        }
    }
    end();
}

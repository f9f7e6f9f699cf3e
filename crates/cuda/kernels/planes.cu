// Pooling and resampling of NCHW tensors through shared memory. A CTA computes a band of rows of one plane, or a group of whole small planes: it copies the
// input rows that these need into shared memory (cp.async, 16 bytes), then each thread computes tiles of TALL_TILE x WIDE_TILE results from there.
//
// The generated header has `tile`, as in windows.cu, which reads inputs by `plane.words` and `plane.at(q)`; `rows_of`, the input rows of the result rows
// [first, last); `STAGED_TYPE`, `staged_data`, `staged_at` of the input. With TABLE, `plane.columns` and `plane.rows` (starting at row `plane.top`) hold
// values that depend on the column or row of the result only (such as interpolation weights): `entry` elements of type Entry each, computed by TABLE.
#include "launch.cuh"

struct Rows {
    int begin, end;
};
#include "args.cuh"

// Copies `count` contiguous elements to shared memory; returns their address there.
DEVICE const STAGED_TYPE::word* staged(u8* room, const void* data, i64 at, int count) {
    const u8* from = (const u8*)((const STAGED_TYPE::word*)data + at);
    // Source and target have the same offset from a multiple of 16 bytes; the ends are copied element by element.
    const int before = (int)((u64)from & 15), size = before + count * (int)sizeof(STAGED_TYPE::word);
    from -= before;
    for (int i = threadIdx.x * 16; i < size; i += 256 * 16) {
        if (i >= before && i + 16 <= size) {
            const u32 to = (u32)__cvta_generic_to_shared(room + i);
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from + i) : "memory");
        } else {
            for (int j = max(i, before); j < min(i + 16, size); j += (int)sizeof(STAGED_TYPE::word)) *(STAGED_TYPE::word*)(room + j) = *(const STAGED_TYPE::word*)(from + j);
        }
    }
    asm volatile("cp.async.commit_group;\n cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    return (const STAGED_TYPE::word*)(room + before);
}

extern "C" __global__ void __launch_bounds__(256, 4) planes(const __grid_constant__ Args a) {
    begin();
    const index band = (index)(blockIdx.x % a.bands), pair = (index)(blockIdx.x / a.bands * a.group), here = min((index)a.group, (index)a.pairs - pair);
    const index first = band * (index)a.band, last = min(first + (index)a.band, (index)a.length[2]);
    const index down = (last - first + TALL_TILE - 1) / TALL_TILE;
    // Includes the rows of the last tile that lie beyond the plane.
    const Rows rows = rows_of(a, first, first + down * TALL_TILE);
    index image = pair, q[RANK] = {};
    q[1] = split(a.steps[2], image), q[0] = image, q[2] = rows.begin;
    const int size = (rows.end - rows.begin) * (int)a.width;
    extern __shared__ __align__(16) u8 room[];
#ifdef TABLE
    Entry *const columns = (Entry*)room, *const lines = columns + a.table_columns * a.entry;
    for (int i = threadIdx.x; i < (int)(a.table_columns + a.table_rows); i += 256) {
        const int row = i - (int)a.table_columns;
        const index at = row < 0 ? min((index)i, (index)a.length[3] - 1) : min(first + row, (index)a.length[2] - 1);
        TABLE(a, row < 0, at, columns + i * a.entry);
    }
#endif
    const STAGED_TYPE::word* words = staged(room + a.tables, a.staged_data, staged_at(a, q), (int)here * size);
    for (index i = threadIdx.x; i < here * down * (index)a.steps[0].n; i += 256) {
        index rest = i, p[RANK];
        p[3] = split(a.steps[0], rest) * WIDE_TILE;
        // A group consists of whole planes.
        p[2] = first + (a.group == 1 ? rest : split(a.steps[1], rest)) * TALL_TILE;
        const index own = a.group == 1 ? 0 : rest;
        image = pair + own;
        p[1] = split(a.steps[2], image), p[0] = image;
#ifdef TABLE
        const Plane plane{words + own * size, rows.begin, (int)a.width, columns, lines, (int)first};
#else
        const Plane plane{words + own * size, rows.begin, (int)a.width};
#endif
        tile<1, TALL_TILE, WIDE_TILE>(a, p, plane);
    }
}

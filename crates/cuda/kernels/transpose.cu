// Batched matrix transposition, for reorders that permute dimensions and may convert: dst[c, r] = src[r, c], in tiles of ROWS x COLUMNS through shared memory.
// Loads and stores are coalesced and as wide as alignment allows, with several loads of a thread in flight. Grid-stride loop over tiles.
//
// The generated header has ROWS and COLUMNS of a tile; DENSE 1 if the rows of a tile are contiguous in the source; UNIT and UNIT_TO, the types of source and
// destination elements as words; `converted`, which converts a UNIT to a UNIT_TO; FROM and TO, the vector width (in elements) of source and destination rows if
// both tensors are aligned to 16 bytes; and `bases`, which adds the offsets of batch b.
#include "args.cuh"

// An odd number of 32-bit words, against bank conflicts.
#define PITCH (COLUMNS + (sizeof(UNIT) < 4 ? 4 / sizeof(UNIT) : 1))

template <class T, int N> struct __align__(16) Units {
    T v[N];
};

template <int N> DEVICE void load_word(Units<UNIT, N>& to, const UNIT* from) {
    const int bytes = N * (int)sizeof(UNIT);
    if (bytes == 16) {
        *(uint4*)to.v = *(const uint4*)from;
    } else if (bytes == 8) {
        *(uint2*)to.v = *(const uint2*)from;
    } else {
#pragma unroll
        for (int i = 0; i < N; ++i) to.v[i] = from[i];
    }
}

// In assembly: from elements that are gathered one by one the compiler makes several narrower stores.
template <int N> DEVICE void store_word(UNIT_TO* to, const Units<UNIT_TO, N>& from) {
    const int bytes = N * (int)sizeof(UNIT_TO);
    if (bytes == 16) {
        const uint4 w = *(const uint4*)from.v;
        asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(w.x), "r"(w.y), "r"(w.z), "r"(w.w) : "memory");
    } else if (bytes == 8) {
        const uint2 w = *(const uint2*)from.v;
        asm volatile("st.global.v2.b32 [%0], {%1, %2};" ::"l"(to), "r"(w.x), "r"(w.y) : "memory");
    } else {
#pragma unroll
        for (int i = 0; i < N; ++i) to[i] = from.v[i];
    }
}

// How 256 threads move a tile of LINES lines of LENGTH elements in words of N: words per line, lines per step, steps, and words of a thread in flight.
template <int N, int LENGTH, int LINES> struct Walk {
    enum : int { WORDS = LENGTH / N, STEP = 256 / WORDS, COUNT = LINES / STEP, FLYING = COUNT < 4 ? COUNT : 4 };
};

template <int N> DEVICE void load_tile(UNIT (*tile)[PITCH], const UNIT* src, i64 stride, int rows, int columns) {
    if (DENSE) {
        // Rows are short: a word may span several.
#pragma unroll 2
        for (int at = threadIdx.x * N; at < rows * columns; at += 256 * N) {
            Units<UNIT, N> word;
            load_word(word, src + at);
            int r = at / columns, c = at - r * columns;
#pragma unroll
            for (int j = 0; j < N; ++j) {
                tile[r][c] = word.v[j];
                if (++c == columns) c = 0, ++r;
            }
        }
        return;
    }
    typedef Walk<N, COLUMNS, ROWS> W;
    const int r = threadIdx.x / W::WORDS, c = threadIdx.x % W::WORDS * N;
    src += r * stride + c;
#pragma unroll 1
    for (int first = 0; first < ROWS; first += W::FLYING * W::STEP) {
        Units<UNIT, N> word[W::FLYING];
#pragma unroll
        for (int i = 0; i < W::FLYING; ++i, src += W::STEP * stride) {
            if (first + r + i * W::STEP < rows && c < columns) load_word(word[i], src);
        }
#pragma unroll
        for (int i = 0; i < W::FLYING; ++i) {
#pragma unroll
            for (int j = 0; j < N; ++j) tile[first + r + i * W::STEP][c + j] = word[i].v[j];
        }
    }
}

template <int N> DEVICE void store_tile(UNIT_TO* dst, UNIT (*tile)[PITCH], i64 stride, int rows, int columns) {
    typedef Walk<N, ROWS, COLUMNS> W;
    const int c = threadIdx.x / W::WORDS, r = threadIdx.x % W::WORDS * N;
    dst += c * stride + r;
#pragma unroll 4
    for (int i = 0; i < W::COUNT; ++i, dst += W::STEP * stride) {
        Units<UNIT_TO, N> word;
#pragma unroll
        for (int j = 0; j < N; ++j) word.v[j] = converted(tile[r + j][c + i * W::STEP]);
        if (r < rows && c + i * W::STEP < columns) store_word(dst, word);
    }
}

extern "C" __global__ void __launch_bounds__(256, 6) transpose(const __grid_constant__ Args a) {
    lead();
    __shared__ __align__(16) UNIT tile[ROWS][PITCH];
    const i64 count = a.tiles_r * a.tiles_c * a.batches;
    const bool aligned = (((u64)a.src_data | (u64)a.dst_data) & 15) == 0;
    for (i64 t = blockIdx.x; t < count; t += gridDim.x) {
        const i64 tc = t % a.tiles_c, rest = t / a.tiles_c, r0 = rest % a.tiles_r * ROWS, c0 = tc * COLUMNS;
        i64 from = a.src_origin, to = a.dst_origin;
        bases(a, (index)(rest / a.tiles_r), from, to);
        const UNIT* src = (const UNIT*)a.src_data + from + r0 * a.src_row + c0;
        UNIT_TO* dst = (UNIT_TO*)a.dst_data + to + c0 * a.dst_row + r0;
        const int rows = (int)min((i64)ROWS, a.rows - r0), columns = (int)min((i64)COLUMNS, a.columns - c0);
        if (aligned) {
            load_tile<FROM>(tile, src, a.src_row, rows, columns);
        } else {
            load_tile<1>(tile, src, a.src_row, rows, columns);
        }
        __syncthreads();
        if (aligned) {
            store_tile<TO>(dst, tile, a.dst_row, rows, columns);
        } else {
            store_tile<1>(dst, tile, a.dst_row, rows, columns);
        }
        __syncthreads();
    }
    end();
}

// Transpositions: elements that are neighbours in memory along one loop before and along another one afterwards, moved through shared memory in tiles of
// 64 x 64, in words as large as the rows on either side allow, of which a thread has several on their way.
//
// The header has UNIT, the type of the elements as words, FROM and TO, how many of them the rows before and afterwards are aligned to where both tensors are
// aligned to 16 bytes, and `bases`, which adds where the tiles of batch `b` begin.
#include "args.cuh"

#define TILE 64
// Rows of a tile are an odd number of 32-bit words apart.
#define PITCH (TILE + (sizeof(UNIT) < 4 ? 4 / sizeof(UNIT) : 1))

template <int N> struct __align__(16) Units {
    UNIT v[N];
};

template <int N> DEVICE void load_word(Units<N>& to, const UNIT* from) {
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

// By instructions of their own: of elements that come one by one the compiler makes several words.
template <int N> DEVICE void store_word(UNIT* to, const Units<N>& from) {
    const int bytes = N * (int)sizeof(UNIT);
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

// Words of a row of a tile, rows that the block moves at once, how often, and words of a thread that are on their way.
template <int N> struct Walk {
    static const int WORDS = TILE / N, ROWS = 256 / WORDS, COUNT = TILE / ROWS, FLYING = COUNT < 4 ? COUNT : 4;
};

template <int N> DEVICE void load_tile(UNIT (*tile)[PITCH], const UNIT* src, i64 stride, int rows, int columns) {
    const int r = threadIdx.x / Walk<N>::WORDS, c = threadIdx.x % Walk<N>::WORDS * N;
    src += r * stride + c;
#pragma unroll 1
    for (int first = 0; first < TILE; first += Walk<N>::FLYING * Walk<N>::ROWS) {
        Units<N> word[Walk<N>::FLYING];
#pragma unroll
        for (int i = 0; i < Walk<N>::FLYING; ++i, src += Walk<N>::ROWS * stride) {
            if (first + r + i * Walk<N>::ROWS < rows && c < columns) load_word(word[i], src);
        }
#pragma unroll
        for (int i = 0; i < Walk<N>::FLYING; ++i) {
#pragma unroll
            for (int j = 0; j < N; ++j) tile[first + r + i * Walk<N>::ROWS][c + j] = word[i].v[j];
        }
    }
}

template <int N> DEVICE void store_tile(UNIT* dst, UNIT (*tile)[PITCH], i64 stride, int rows, int columns) {
    const int c = threadIdx.x / Walk<N>::WORDS, r = threadIdx.x % Walk<N>::WORDS * N;
    dst += c * stride + r;
#pragma unroll 4
    for (int i = 0; i < Walk<N>::COUNT; ++i, dst += Walk<N>::ROWS * stride) {
        Units<N> word;
#pragma unroll
        for (int j = 0; j < N; ++j) word.v[j] = tile[r + j][c + i * Walk<N>::ROWS];
        if (r < rows && c + i * Walk<N>::ROWS < columns) store_word(dst, word);
    }
}

extern "C" __global__ void __launch_bounds__(256, 6) transpose(const __grid_constant__ Args a) {
    __shared__ __align__(16) UNIT tile[TILE][PITCH];
    const i64 count = a.tiles_r * a.tiles_c * a.batches;
    const bool aligned = (((u64)a.src_data | (u64)a.dst_data) & 15) == 0;
    for (i64 t = blockIdx.x; t < count; t += gridDim.x) {
        const i64 tc = t % a.tiles_c, rest = t / a.tiles_c, r0 = rest % a.tiles_r * TILE, c0 = tc * TILE;
        i64 from = a.src_origin, to = a.dst_origin;
        bases(a, (index)(rest / a.tiles_r), from, to);
        const UNIT* src = (const UNIT*)a.src_data + from + r0 * a.src_row + c0;
        UNIT* dst = (UNIT*)a.dst_data + to + c0 * a.dst_row + r0;
        const int rows = (int)min((i64)TILE, a.rows - r0), columns = (int)min((i64)TILE, a.columns - c0);
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
}

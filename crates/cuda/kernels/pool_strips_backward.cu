// Gradients of pooling of NCHW images with small square windows (KERNEL, STRIDE, PADDING as in pool_strips.cu).
//
// A thread computes a strip of TALL_STRIP rows of VECTOR input gradients in registers (both multiples of STRIDE) from all outputs whose windows contain one
// of these inputs. Every gradient is gathered by one thread: no atomics. Grid-stride loop over strips.
//
// The generated header has `strip_of` (position of strip i, in strips), the tensors `diff_dst`, `dst` (the input gradient) and, with KEPT, the workspace `ws`
// with the positions of the maxima (max pooling); otherwise average pooling with `divisor` of pool.cuh.
#include "args.cuh"

// Outputs are numbered relative to that at (first input of the strip) / STRIDE. The windows of outputs FIRST to LAST_OF(size) contain an input of a strip
// of `size` inputs.
#define FIRST (-((KERNEL - 1 - PADDING) / STRIDE))
#define LAST_OF(size) (((size) - 1 + PADDING) / STRIDE)
#define ACROSS_STRIP (VECTOR / STRIDE)
#define ROWS (LAST_OF(TALL_STRIP) - FIRST + 1)
#define COLUMNS (LAST_OF(VECTOR) - FIRST + 1)
#define BESIDE(j) ((j) < -FIRST || (j) >= ACROSS_STRIP - FIRST)

// A row of outputs of a strip: the vector, and the elements beside it (BESIDE).
template <class T>
struct Row {
    Vector<T, ACROSS_STRIP> middle;
    typename T::word sides[COLUMNS];

    DEVICE void load(const void* data, i64 at, const bool (&is)[COLUMNS]) {
        middle.load(data, at);
#pragma unroll
        for (int j = 0; j < COLUMNS; ++j) {
            if (BESIDE(j) && is[j]) sides[j] = load_code<T>(data, at + j + FIRST);
        }
    }
    DEVICE typename T::word code(int j) const { return BESIDE(j) ? sides[j] : middle.words[j + FIRST]; }
};

extern "C" __global__ void __launch_bounds__(256) pool_strips_backward(const __grid_constant__ Args a) {
    begin();
    const i64 threads = (i64)gridDim.x * blockDim.x;
    for (i64 strip = (i64)blockIdx.x * blockDim.x + threadIdx.x; strip < a.strips; strip += threads) {
        index p[RANK];
        strip_of(a, (index)strip, p);
        p[2] *= TALL_STRIP, p[3] *= VECTOR;
        index q[RANK] = {p[0], p[1], p[2] / STRIDE + FIRST, p[3] / STRIDE};
        bool is[COLUMNS];
#pragma unroll
        for (int j = 0; j < COLUMNS; ++j) is[j] = q[3] + j + FIRST >= 0 && q[3] + j + FIRST < (index)a.output[1];
        const index top = q[2];
        bool there[ROWS];
        Row<diff_dst_type> rows[ROWS];
#ifdef KEPT
        Row<ws_type> kept[ROWS];
#endif
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            q[2] = top + r;
            there[r] = q[2] >= 0 && q[2] < (index)a.output[0];
            if (!there[r]) continue;
            rows[r].load(a.diff_dst_data, diff_dst_at(a, q), is);
#ifdef KEPT
            kept[r].load(a.ws_data, ws_at(a, q), is);
#endif
        }
        real sum[TALL_STRIP][VECTOR] = {};
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            if (!there[r]) continue;
#pragma unroll
            for (int j = 0; j < COLUMNS; ++j) {
                real d = is[j] ? diff_dst_type::decode(rows[r].code(j)) : (real)0;
#ifndef KEPT
                const index o[RANK] = {p[0], p[1], top + r, p[3] / STRIDE + j + FIRST};
                d = d * ((real)1 / divisor(a, o));
#endif
                // The window's first input relative to the strip.
                const int down = (r + FIRST) * STRIDE - PADDING, along = (j + FIRST) * STRIDE - PADDING;
#pragma unroll
                for (int y = 0; y < KERNEL; ++y) {
#pragma unroll
                    for (int x = 0; x < KERNEL; ++x) {
                        if (down + y < 0 || down + y >= TALL_STRIP || along + x < 0 || along + x >= VECTOR) continue;
#ifdef KEPT
                        if (is[j] && kept[r].code(j) == (ws_type::word)(y * KERNEL + x)) sum[down + y][along + x] += d;
#else
                        sum[down + y][along + x] += d;
#endif
                    }
                }
            }
        }
#pragma unroll
        for (int t = 0; t < TALL_STRIP; ++t) {
            index own[RANK] = {p[0], p[1], p[2] + t, p[3]};
            if (own[2] >= (index)a.input[0]) break;
            const i64 at = dst_at(a, own);
            Vector<dst_type, VECTOR> out;
#pragma unroll
            for (int i = 0; i < VECTOR; ++i) {
                own[3] = p[3] + i;
                out.words[i] = dst_type::encode(rounded(a, own, at + i, value(a, own, at + i, sum[t][i])));
            }
            out.store(a.dst_data, at);
        }
    }
}

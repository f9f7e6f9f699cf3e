// Max and average pooling of NCHW images with small square windows, whose size is known to the compiler: KERNEL x KERNEL, STRIDE, PADDING; an output row is
// STRIDE times shorter than an input row.
//
// A thread computes a strip of TALL_STRIP rows of ACROSS_STRIP outputs in registers: it loads the input rows of their windows, each as one vector of VECTOR
// inputs and single elements to its left and right. Grid-stride loop over strips.
//
// The generated header has `strip_of` (position of strip i, in strips), the tensors `src`, `dst` and, with KEPT, the workspace `ws` for the positions of the
// maxima. MAXIMUM: max pooling, otherwise average. LOWEST: result of a window without inputs.
#include "args.cuh"

#define ACROSS_STRIP (VECTOR / STRIDE)
#define ROWS ((TALL_STRIP - 1) * STRIDE + KERNEL)
#define COLUMNS ((ACROSS_STRIP - 1) * STRIDE + KERNEL)
#define RIGHT (COLUMNS > PADDING + VECTOR ? COLUMNS - PADDING - VECTOR : 0)

// An input row of a strip: the vector, and the elements beside it.
struct Row {
    Vector<src_type, VECTOR> middle;
    src_type::word sides[PADDING + RIGHT + 1];

    DEVICE void load(const Args& a, i64 at, bool is_left, bool is_right) {
        middle.load(a.src_data, at);
#pragma unroll
        for (int j = 0; j < PADDING; ++j) {
            if (is_left) sides[j] = load_code<src_type>(a.src_data, at - PADDING + j);
        }
#pragma unroll
        for (int j = 0; j < RIGHT; ++j) {
            if (is_right) sides[PADDING + j] = load_code<src_type>(a.src_data, at + VECTOR + j);
        }
    }
    // Input j counted from the left padding, or `outside` if it is padding.
    DEVICE real number(int j, bool is_left, bool is_right, real outside) const {
        if (j < PADDING) return is_left ? src_type::decode(sides[j]) : outside;
        if (j < PADDING + VECTOR) return middle.number(j - PADDING);
        return is_right ? src_type::decode(sides[j - VECTOR]) : outside;
    }
};

// The state of a window: its maximum (NaN is smaller than any number) or sum.
struct Window {
    real x;
    index chosen;
    bool any;

    // `first` is the first kernel element that is not padding.
    DEVICE void begin(index first) {
#ifdef MAXIMUM
        x = __uint_as_float(0x7fc00000u);
#else
        x = 0;
#endif
        chosen = first, any = false;
    }
    DEVICE void take(real y, index k) {
        if (!(y <= x) && y == y) x = y, chosen = k;
    }
};

// The number of inputs that the window of output o has along a dimension of `size` inputs.
DEVICE index inside_size(index o, index size) {
    const index first = o * STRIDE - PADDING;
    return max(min(first + KERNEL, size) - max(first, (index)0), (index)0);
}

// sum / count, with `share` = 1 / count. For integer results the quotient must be exact enough that ties stay ties: a division.
DEVICE real average(real sum, real count, real share) { return dst_type::FLOATING ? sum * share : ratio(sum, count); }

extern "C" __global__ void __launch_bounds__(256) pool_strips(const __grid_constant__ Args a) {
    begin();
    const i64 threads = (i64)gridDim.x * blockDim.x;
    for (i64 strip = (i64)blockIdx.x * blockDim.x + threadIdx.x; strip < a.strips; strip += threads) {
        index p[RANK];
        strip_of(a, (index)strip, p);
        p[2] *= TALL_STRIP, p[3] *= ACROSS_STRIP;
        const index top = p[2] * STRIDE - PADDING, height = (index)a.input[0];
        index q[RANK] = {p[0], p[1], 0, p[3] * STRIDE};
        const bool is_left = q[3] > 0, is_right = q[3] + VECTOR < (index)a.input[1];
        const i64 first = src_at(a, q);
        Row rows[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            if (top + r >= 0 && top + r < height) rows[r].load(a, first + (i64)(top + r) * a.src_stride[2], is_left, is_right);
        }
        Window windows[TALL_STRIP][ACROSS_STRIP];
#pragma unroll
        for (int t = 0; t < TALL_STRIP; ++t) {
            const index above = max(-(top + t * STRIDE), (index)0);
#pragma unroll
            for (int i = 0; i < ACROSS_STRIP; ++i) windows[t][i].begin(above * KERNEL + (i == 0 && !is_left ? PADDING : 0));
        }
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            if (top + r < 0 || top + r >= height) continue;
            real x[COLUMNS];
#ifdef MAXIMUM
            const real outside = __uint_as_float(0x7fc00000u);
#else
            const real outside = 0;
#endif
#pragma unroll
            for (int j = 0; j < COLUMNS; ++j) x[j] = rows[r].number(j, is_left, is_right, outside);
#pragma unroll
            for (int i = 0; i < ACROSS_STRIP; ++i) {
#ifndef KEPT
                real line = x[i * STRIDE];
#pragma unroll
                for (int k = 1; k < KERNEL; ++k) {
#ifdef MAXIMUM
                    line = fmax(line, x[i * STRIDE + k]);
#else
                    line += x[i * STRIDE + k];
#endif
                }
#endif
#pragma unroll
                for (int t = 0; t < TALL_STRIP; ++t) {
                    if (r < t * STRIDE || r >= t * STRIDE + KERNEL) continue;
                    Window& w = windows[t][i];
                    w.any = true;
#ifdef KEPT
#pragma unroll
                    for (int k = 0; k < KERNEL; ++k) w.take(x[i * STRIDE + k], (r - t * STRIDE) * KERNEL + k);
#elif defined MAXIMUM
                    w.x = fmax(w.x, line);
#else
                    w.x += line;
#endif
                }
            }
        }
#pragma unroll
        for (int t = 0; t < TALL_STRIP; ++t) {
            q[2] = p[2] + t, q[3] = p[3];
            if (q[2] >= (index)a.length[2]) break;
            const i64 at = dst_at(a, q);
            const index down = inside_size(q[2], height);
            const real whole = (real)max(down * KERNEL, (index)1), share = (real)1 / whole;
            Vector<dst_type, ACROSS_STRIP> out;
#ifdef KEPT
            Vector<ws_type, ACROSS_STRIP> kept;
            const i64 kept_at = ws_at(a, q);
#endif
#pragma unroll
            for (int i = 0; i < ACROSS_STRIP; ++i) {
                q[3] = p[3] + i;
                const Window& w = windows[t][i];
#ifdef MAXIMUM
                const real v = w.any ? w.x : LOWEST;
#elif defined INCLUDE_PADDING
                const real v = average(w.x, (real)(KERNEL * KERNEL), (real)1 / (real)(KERNEL * KERNEL));
#else
                // Windows that do not reach beyond the vector have no padding to the left and right.
                const bool is_whole = i * STRIDE >= PADDING && i * STRIDE - PADDING + KERNEL <= VECTOR;
                const real v = is_whole ? average(w.x, whole, share) : ratio(w.x, (real)max(down * inside_size(p[3] + i, (index)a.input[1]), (index)1));
#endif
                out.words[i] = dst_type::encode(rounded(a, q, at + i, value(a, q, at + i, v)));
#ifdef KEPT
                kept.words[i] = (ws_type::word)(w.any ? w.chosen : 0);
#endif
            }
            out.store(a.dst_data, at);
#ifdef KEPT
            kept.store(a.ws_data, kept_at);
#endif
        }
    }
}

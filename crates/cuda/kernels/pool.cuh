// Pooling windows: output position o of a spatial dimension sees the inputs o * stride - padding + k * dilation, k below the kernel's size.
#pragma once

// Moves `p` to the input under kernel element k (row-major) of the window at `out`; false in the padding.
DEVICE bool tap(const Args& a, const index* out, index k, index* p) {
    bool inside = true;
    p[0] = out[0], p[1] = out[1];
#pragma unroll
    for (int d = SPATIAL - 1; d >= 0; --d) {
        const index r = d > 0 ? split(a.kernel[d], k) : k;
        p[2 + d] = out[2 + d] * (index)a.stride[d] - (index)a.padding[d] + r * (index)a.dilation[d];
        inside = inside && p[2 + d] >= 0 && p[2 + d] < (index)a.input[d];
    }
    return inside;
}

// Moves `out` to the output whose window has input `p` under kernel element k; false where there is none.
DEVICE bool window(const Args& a, const index* p, index k, index* out) {
    bool inside = true;
    out[0] = p[0], out[1] = p[1];
#pragma unroll
    for (int d = SPATIAL - 1; d >= 0; --d) {
        const index r = d > 0 ? split(a.kernel[d], k) : k;
        index scaled = p[2 + d] + (index)a.padding[d] - r * (index)a.dilation[d];
        inside = inside && scaled >= 0;
        if (scaled < 0) scaled = 0;
        inside = split(a.step[d], scaled) == 0 && inside && scaled < (index)a.output[d];
        out[2 + d] = scaled;
    }
    return inside;
}

// What the sum over a window is divided by.
DEVICE real divisor(const Args& a, const index* out) {
#ifdef INCLUDE_PADDING
    return (real)a.taps;
#else
    int inside = 1;
    for (int d = 0; d < SPATIAL; ++d) {
        int count = 0;
        for (index r = 0; r < (index)a.kernel[d].n; ++r) {
            const index at = out[2 + d] * (index)a.stride[d] - (index)a.padding[d] + r * (index)a.dilation[d];
            count += at >= 0 && at < (index)a.input[d];
        }
        inside *= count;
    }
    return (real)(inside > 0 ? inside : 1);
#endif
}

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

// Calls `f(k, q)` for every kernel element k of the window at `out` whose input q is no padding, in order. Of a line of them those are one run.
template <class F>
DEVICE void each_tap(const Args& a, const index* out, const F& f) {
    const int last = SPATIAL - 1;
    const index size = (index)a.kernel[last].n, distance = (index)a.dilation[last], start = out[2 + last] * (index)a.stride[last] - (index)a.padding[last];
    const index before = start < 0 ? -start : 0, room = (index)a.input[last] - start;
    const index begin = distance == 1 ? before : (before + distance - 1) / distance;
    const index end = room <= 0 ? 0 : min(size, distance == 1 ? room : (room + distance - 1) / distance);
    index q[RANK];
    q[0] = out[0], q[1] = out[1];
    for (index line = 0, first = 0; first < (index)a.taps; ++line, first += size) {
        bool inside = true;
        index rest = line;
#pragma unroll
        for (int d = last - 1; d >= 0; --d) {
            const index r = d > 0 ? split(a.kernel[d], rest) : rest;
            q[2 + d] = out[2 + d] * (index)a.stride[d] - (index)a.padding[d] + r * (index)a.dilation[d];
            inside = inside && q[2 + d] >= 0 && q[2 + d] < (index)a.input[d];
        }
        if (!inside) continue;
#pragma unroll 3
        for (index r = begin; r < end; ++r) {
            q[2 + last] = start + r * distance;
            f(first + r, q);
        }
    }
}

// Calls `f(k, out)` for every output whose window has input `p`, under kernel element k, in the order of these; from dimension D on, k of those before.
template <int D = 0, class F>
DEVICE void each_window(const Args& a, const index* p, const F& f, index* out, index k = 0) {
    if constexpr (D == SPATIAL) {
        f(k, out);
    } else {
        const index size = (index)a.kernel[D].n, distance = (index)a.dilation[D], stride = (index)a.stride[D], at = p[2 + D] + (index)a.padding[D];
        const index reach = at - (size - 1) * distance;
        index first = at, last = reach > 0 ? reach + stride - 1 : 0;
        split(a.step[D], first);
        split(a.step[D], last);
        for (index o = min(first, (index)a.output[D] - 1); o >= last; --o) {
            index r = at - o * stride;
            if (distance != 1) {
                if (r % distance != 0) continue;
                r /= distance;
            }
            out[2 + D] = o;
            each_window<D + 1>(a, p, f, out, k * size + r);
        }
    }
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

// Neighbourhoods of local response normalisation: they extend `half` elements to both sides along the dimensions [AXIS_FIRST, AXIS_LAST).
#pragma once

// Calls f(q) for every position q around p.
template <class F>
DEVICE void around(const Args& a, const index* p, F f) {
    index q[RANK];
    i64 count = 1;
    for (int d = 0; d < RANK; ++d) q[d] = p[d];
    for (int d = AXIS_FIRST; d < AXIS_LAST; ++d) {
        const i64 first = max(0ll, (i64)p[d] - a.half), last = min(a.full[d] - 1, (i64)p[d] + a.half);
        count *= last - first + 1;
    }
    for (i64 t = 0; t < count; ++t) {
        i64 rest = t;
        for (int d = AXIS_LAST - 1; d >= AXIS_FIRST; --d) {
            const i64 first = max(0ll, (i64)p[d] - a.half), size = min(a.full[d] - 1, (i64)p[d] + a.half) - first + 1;
            q[d] = (index)(first + rest % size);
            rest /= size;
        }
        f(q);
    }
}

// Neighbourhoods of local response normalisation: they extend `half` elements to both sides along the dimensions [AXIS_FIRST, AXIS_LAST).
#pragma once

template <int D, class F>
DEVICE void around_from(const Args& a, const index* p, index* q, F& f) {
    if constexpr (D == AXIS_LAST) {
        f(q);
    } else {
        const index first = (index)max((i64)0, (i64)p[D] - a.half), last = (index)min(a.full[D] - 1, (i64)p[D] + a.half);
        for (q[D] = first; q[D] <= last; ++q[D]) around_from<D + 1>(a, p, q, f);
    }
}

// Calls f(q) for every position q around p.
template <class F>
DEVICE void around(const Args& a, const index* p, F f) {
    index q[RANK];
    for (int d = 0; d < RANK; ++d) q[d] = p[d];
    around_from<AXIS_FIRST>(a, p, q, f);
}

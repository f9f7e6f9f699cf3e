// Resampling of planes in shared memory (planes.cu): a thread computes TALL x WIDE neighbours of a plane, those of a row next to each other, which finish_run writes
// as a vector. Inputs are interpolated along rows first, then between rows.
#pragma once

// The position of the result `y` rows below and `x` columns beside p, and whether it exists.
DEVICE bool moved(const Args& a, const index* p, int y, int x, index* q);

#if defined(NEAREST) || defined(TABLE)
// Any ratio. The last two interpolated input rows are kept for the next results; taps of linear interpolation come from the tables.
template <int TALL, int WIDE>
DEVICE void resample(const Args& a, const index* p, const Plane& plane) {
    auto find = [&](int d, index o, index (&at)[2], real& second) {
#ifdef NEAREST
        taps(a, d, min(o, (index)a.length[2 + d] - 1), at, second);
#else
        const Tap t = d ? plane.columns[o] : plane.rows[o - plane.top];
        at[0] = t.places & 0xffff, at[1] = t.places >> 16, second = t.second;
#endif
    };
    u32 left[WIDE], right[WIDE];   // in bytes
    real second[WIDE];
#pragma unroll
    for (int x = 0; x < WIDE; ++x) {
        index at[2];
        find(1, p[3] + x, at, second[x]);
        left[x] = at[0] * (u32)sizeof(from_type::word), right[x] = at[1] * (u32)sizeof(from_type::word);
    }
    auto line = [&](index y, real (&v)[WIDE]) {
        const u8* row = (const u8*)(plane.words + (y - plane.first) * plane.width);
        auto number = [&](u32 place) { return from_type::decode(*(const from_type::word*)(row + place)); };
#pragma unroll
        for (int x = 0; x < WIDE; ++x) v[x] = SIDES == 1 ? number(left[x]) : fma(second[x], number(right[x]), ((real)1 - second[x]) * number(left[x]));
    };
    index held[2] = {-1, -1};
    real lines[2][WIDE];
#pragma unroll
    for (int j = 0; j < TALL; ++j) {
        index own[RANK], at[2];
        real below;
        if (!moved(a, p, j, 0, own)) break;
        find(0, own[2], at, below);
        if (at[0] != held[0]) {
            if (at[0] == held[1]) {
#pragma unroll
                for (int x = 0; x < WIDE; ++x) lines[0][x] = lines[1][x];
            } else {
                line(at[0], lines[0]);
            }
            held[0] = at[0];
        }
        if (SIDES == 2 && at[1] != held[1]) {
            line(at[1], lines[1]);
            held[1] = at[1];
        }
        real v[WIDE];
#pragma unroll
        for (int x = 0; x < WIDE; ++x) v[x] = SIDES == 1 ? lines[0][x] : fma(below, lines[1][x], ((real)1 - below) * lines[0][x]);
        finish_run<WIDE>(a, own, v);
    }
}
#endif

// To twice the size: each result is 3/4 of the nearest input and 1/4 of the next, first between rows, then along rows. The inputs beyond the edges are those on them.
template <int TALL, int WIDE>
DEVICE void resample_twice(const Args& a, const index* p, const Plane& plane) {
    enum { OWN = WIDE / 2 + 2 };
    const int height = (int)a.input[0], columns = (int)a.input[1];
    int at[OWN];
#pragma unroll
    for (int x = 0; x < OWN; ++x) at[x] = min(max((int)p[3] / 2 - 1 + x, 0), columns - 1);
    auto line = [&](int y, real (&v)[OWN]) {
        const from_type::word* row = plane.words + (min(max((int)p[2] / 2 - 1 + y, 0), height - 1) - plane.first) * plane.width;
#pragma unroll
        for (int x = 0; x < OWN; ++x) v[x] = from_type::decode(row[at[x]]);
    };
    real lines[3][OWN];
    line(0, lines[0]);
    line(1, lines[1]);
#pragma unroll
    for (int j = 0; j < TALL / 2; ++j) {
        line(j + 2, lines[(j + 2) % 3]);
        const real(&own)[OWN] = lines[(j + 1) % 3];
#pragma unroll
        for (int side = 0; side < 2; ++side) {
            const real(&next)[OWN] = lines[(j + 2 * side) % 3];
            real t[OWN], v[WIDE];
#pragma unroll
            for (int x = 0; x < OWN; ++x) t[x] = SIDES == 1 ? own[x] : fma((real)0.75, own[x], (real)0.25 * next[x]);
#pragma unroll
            for (int x = 0; x < WIDE; ++x) {
                const real nearest = t[x / 2 + 1];
                v[x] = SIDES == 1 ? nearest : fma((real)0.75, nearest, (real)0.25 * t[x / 2 + 2 * (x % 2)]);
            }
            index q[RANK];
            if (moved(a, p, 2 * j + side, 0, q)) finish_run<WIDE>(a, q, v);
        }
    }
}

// Backward of the same: 3/4 of the gradients of an input's own results and 1/4 of their neighbours', with those on the edges again beyond them, first along rows, then
// down the columns.
template <int TALL, int WIDE>
DEVICE void spread_twice(const Args& a, const index* p, const Plane& plane) {
    const int height = (int)a.output[0], columns = (int)a.output[1], first = 2 * (int)p[3] - 1;
    const bool whole = columns % (2 * WIDE) == 0 && ((u64)plane.words & 15) == 0;
    real sum[TALL][WIDE] = {};
#pragma unroll
    for (int y = SIDES == 1 ? 1 : 0; y < 2 * TALL + SIDES; ++y) {
        const from_type::word* row = plane.words + (min(max(2 * (int)p[2] - 1 + y, 0), height - 1) - plane.first) * plane.width;
        real x[2 * WIDE + 2], t[WIDE];
        auto single = [&](int i) { x[i] = from_type::decode(row[min(max(first + i, 0), columns - 1)]); };
        single(0);
        single(2 * WIDE + 1);
        if (whole) {
            Vector<from_type, 2 * WIDE> inner;
            inner.load(row, first + 1);
#pragma unroll
            for (int i = 0; i < 2 * WIDE; ++i) x[1 + i] = inner.number(i);
        } else {
#pragma unroll
            for (int i = 0; i < 2 * WIDE; ++i) single(1 + i);
        }
#pragma unroll
        for (int i = 0; i < WIDE; ++i) {
            const real own = x[2 * i + 1] + x[2 * i + 2], beside = x[2 * i] + x[2 * i + 3];
            t[i] = SIDES == 1 ? own : fma((real)0.75, own, (real)0.25 * beside);
        }
#pragma unroll
        for (int j = 0; j < TALL; ++j) {
            const int side = y - 2 * j;
            if (side < 0 || side > 3 || SIDES == 1 && side % 3 == 0) continue;
            const real weight = SIDES == 1 ? 1 : side % 3 == 0 ? 0.25 : 0.75;
#pragma unroll
            for (int i = 0; i < WIDE; ++i) sum[j][i] = fma(weight, t[i], sum[j][i]);
        }
    }
#pragma unroll
    for (int j = 0; j < TALL; ++j) {
        index own[RANK];
        if (moved(a, p, j, 0, own)) finish_run<WIDE>(a, own, sum[j]);
    }
}

#ifdef MOST
// Backward of any ratio: sums over the outputs that use an input (at most MOST along each dimension), output row by row, with weights from the tables.
template <int TALL, int WIDE>
DEVICE void spread(const Args& a, const index* p, const Plane& plane) {
    index from[WIDE], count[WIDE];
    float weights[WIDE][MOST];
#pragma unroll
    for (int x = 0; x < WIDE; ++x) {
        const Entry* column = plane.columns + (p[3] + x) * (MOST + 1);
        from[x] = column[0] & 0xffff, count[x] = column[0] >> 16;
#pragma unroll
        for (int k = 0; k < MOST; ++k) weights[x][k] = __uint_as_float(column[1 + k]);
    }
    const Entry* rows[TALL];
    index first = 0x7fffffff, last = -1;
#pragma unroll
    for (int j = 0; j < TALL; ++j) {
        rows[j] = plane.rows + (p[2] + j - plane.top) * (MOST + 1);
        const index begin = rows[j][0] & 0xffff, size = rows[j][0] >> 16;
        if (size > 0) first = min(first, begin), last = max(last, begin + size - 1);
    }
    real sum[TALL][WIDE] = {};
    for (index o = first; o <= last; ++o) {
        const from_type::word* line = plane.words + (o - plane.first) * plane.width;
        real t[WIDE] = {};
#pragma unroll
        for (int x = 0; x < WIDE; ++x) {
#pragma unroll
            for (int k = 0; k < MOST; ++k) {
                if (k < count[x]) t[x] = fma(weights[x][k], from_type::decode(line[from[x] + k]), t[x]);
            }
        }
#pragma unroll
        for (int j = 0; j < TALL; ++j) {
            const u32 k = (u32)(o - (index)(rows[j][0] & 0xffff));
            if (k >= rows[j][0] >> 16) continue;
            const real w = __uint_as_float(rows[j][1 + k]);
#pragma unroll
            for (int x = 0; x < WIDE; ++x) sum[j][x] = fma(w, t[x], sum[j][x]);
        }
    }
#pragma unroll
    for (int j = 0; j < TALL; ++j) {
        index own[RANK];
        if (moved(a, p, j, 0, own)) finish_run<WIDE>(a, own, sum[j]);
    }
}
#endif

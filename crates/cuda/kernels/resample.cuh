// Resampling with half-pixel centres: output o of O is at (o + 1/2) I / O - 1/2 on the axis of the I inputs. Exact integer arithmetic.
#pragma once

// The two inputs of output o along dimension d and the weight of the second; nearest has one input. `numerator` is an integer type that holds 2 O (I + 1).
DEVICE void taps(const Args& a, int d, numerator o, index (&at)[2], real& second) {
    const numerator inputs = (numerator)a.input[d], outputs = (numerator)a.output[d];
    numerator below = (2 * o + 1) * inputs;
#ifdef NEAREST
    split(a.doubled[d], below);
    at[0] = at[1] = (index)below;
    second = 0;
#else
    // Shifted by half an input pixel, so that the dividend is not negative.
    below += outputs;
    const numerator rest = split(a.doubled[d], below);
    second = ratio((real)rest, (real)(2 * outputs));
    at[0] = (index)max((numerator)0, below - 1), at[1] = (index)min(inputs - 1, below);
#endif
}

// The same, but if the second input has weight 0, both are the first with weight 1/2, so that no input without weight (perhaps NaN) takes part.
DEVICE void sure_taps(const Args& a, int d, numerator o, index (&at)[2], real& second) {
    taps(a, d, o, at, second);
    if (second == 0) at[1] = at[0], second = (real)0.5;
}
DEVICE real weight_of_side(int side, real second) { return SIDES == 1 ? (real)1 : side ? second : (real)1 - second; }

// The same for a table in shared memory, with both inputs (below 65,536) in a word.
struct __align__(8) Tap {
    u32 places;
    real second;
};
DEVICE void tap_of(const Args& a, int d, index o, Tap* to) {
    index at[2];
    sure_taps(a, d, o, at, to->second);
    to->places = (u32)at[0] | (u32)at[1] << 16;
}

// Backward: the outputs that use any of the inputs i to j; for nearest the range may include a few that do not.
DEVICE void reach(const Args& a, int d, numerator i, numerator j, index& first, index& last) {
    const numerator inputs = (numerator)a.input[d], outputs = (numerator)a.output[d];
    numerator before = (2 * i - 1) * outputs - inputs, behind = (2 * j + 3) * outputs - inputs - 1;
    const bool all = i == 0 || before < 0, none = behind < 0;
    split(a.spread[d], before);
    split(a.spread[d], behind);
    first = all ? 0 : (index)before + 1;
    last = j == inputs - 1 ? (index)outputs - 1 : none ? -1 : (index)min(outputs - 1, behind);
}

// The weight of input i in output o.
DEVICE real weight_of(const Args& a, int d, numerator o, numerator i) {
    const numerator inputs = (numerator)a.input[d], whole = 2 * (numerator)a.output[d];
#ifdef NEAREST
    numerator own = (2 * o + 1) * inputs;
    split(a.doubled[d], own);
    return own == i ? (real)1 : (real)0;
#else
    const numerator at = min(max((2 * o + 1) * inputs - whole / 2, (numerator)0), (inputs - 1) * whole), apart = at - i * whole;
    return ratio((real)max(whole - max(apart, -apart), (numerator)0), (real)whole);
#endif
}

// Backward, for a table in shared memory: the first output that uses input i and their number in a word, followed by the weights.
DEVICE void spread_of(const Args& a, int d, index i, u32* to) {
    index first, last;
    reach(a, d, i, i, first, last);
    while (first <= last && weight_of(a, d, first, i) == 0) ++first;
    while (first <= last && weight_of(a, d, last, i) == 0) --last;
    to[0] = first <= last ? (u32)first | (u32)(last + 1 - first) << 16 : 0;
    for (index o = first; o <= last; ++o) ((float*)to)[1 + o - first] = (float)weight_of(a, d, o, i);
}

DEVICE bool moved(const Args& a, const index* p, int y, int x, index* q);
template <int LANES> DEVICE void finish_lanes(const Args& a, const index* p, const real (&v)[LANES]);

// Linear, to twice the size: the two by two results that begin at p - 1, from two by two inputs. Each is 3/4 of the nearest input and 1/4 of the other, down the
// columns, then along the rows. The inputs beyond the edges are those on them.
template <int LANES> DEVICE void linear_twice(const Args& a, const index* p) {
    index q[RANK] = {p[0], p[1]};
    real v[2][2][LANES] = {};
#pragma unroll
    for (int x = 0; x < 2; ++x) {
        Vector<from_type, LANES> in[2];
        q[3] = (index)min(max((int)p[3] / 2 - 1 + x, 0), (int)a.input[1] - 1);
#pragma unroll
        for (int y = 0; y < 2; ++y) {
            q[2] = (index)min(max((int)p[2] / 2 - 1 + y, 0), (int)a.input[0] - 1);
            in[y].load(a.from_data, from_at(a, q));
        }
#pragma unroll
        for (int y = 0; y < 2; ++y) {
#pragma unroll
            for (int i = 0; i < LANES; ++i) {
                const real t = fma((real)0.75, in[y].number(i), (real)0.25 * in[1 - y].number(i));
#pragma unroll
                for (int w = 0; w < 2; ++w) v[y][w][i] = fma((real)(w == x ? 0.75 : 0.25), t, v[y][w][i]);
            }
        }
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) {
        index own[RANK];
        const int y = j / 2 - 1, x = j % 2 - 1;
        if ((int)p[2] + y >= 0 && (int)p[3] + x >= 0 && moved(a, p, y, x, own)) finish_lanes<LANES>(a, own, v[j / 2][j % 2]);
    }
}

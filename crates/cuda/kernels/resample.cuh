// Resampling with half-pixel centres: output o of O lies at (o + 1/2) I / O - 1/2 among the I inputs.
#pragma once

// The two inputs of output o along dimension d, and the weight of the second; nearest has one.
DEVICE void taps(const Args& a, int d, i64 o, i64 (&at)[2], real& second) {
    const i64 inputs = a.input[d], outputs = a.output[d];
#ifdef NEAREST
    at[0] = at[1] = (2 * o + 1) * inputs / (2 * outputs);
    second = 0;
#else
    const i64 scaled = (2 * o + 1) * inputs - outputs;
    const i64 below = scaled >= 0 ? scaled / (2 * outputs) : -1;
    second = (real)(scaled - below * 2 * outputs) / (real)(2 * outputs);
    at[0] = max(0ll, min(inputs - 1, below)), at[1] = max(0ll, min(inputs - 1, below + 1));
#endif
}

// The outputs that input i may be a tap of.
DEVICE void reach(const Args& a, int d, i64 i, i64& first, i64& last) {
    const i64 inputs = a.input[d], outputs = a.output[d];
    first = i == 0 ? 0 : max(0ll, ((2 * i - 1) * outputs - inputs) / (2 * inputs) - 1);
    last = i == inputs - 1 ? outputs - 1 : min(outputs - 1, ((2 * i + 3) * outputs - inputs) / (2 * inputs) + 1);
}

// The weight of input i in output o.
DEVICE real weight_of(const Args& a, int d, i64 o, i64 i) {
    i64 at[2];
    real second;
    taps(a, d, o, at, second);
    return (at[0] == i ? (real)1 - second : (real)0) + (at[1] == i ? second : (real)0);
}

// Resampling with half-pixel centres: output o of O lies at (o + 1/2) I / O - 1/2 among the I inputs.
#pragma once

// The two inputs of output o along dimension d, and the weight of the second; nearest has one. `numerator` is a type that holds (2 O) (I + 1).
DEVICE void taps(const Args& a, int d, numerator o, index (&at)[2], real& second) {
    const numerator inputs = (numerator)a.input[d], outputs = (numerator)a.output[d];
    numerator below = (2 * o + 1) * inputs;
#ifdef NEAREST
    split(a.doubled[d], below);
    at[0] = at[1] = (index)below;
    second = 0;
#else
    // Half a pixel further, so that it is no negative number.
    below += outputs;
    const numerator rest = split(a.doubled[d], below);
    second = ratio((real)rest, (real)(2 * outputs));
    at[0] = (index)max((numerator)0, below - 1), at[1] = (index)min(inputs - 1, below);
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
    index at[2];
    real second;
    taps(a, d, (numerator)o, at, second);
    return (at[0] == i ? (real)1 - second : (real)0) + (at[1] == i ? second : (real)0);
}

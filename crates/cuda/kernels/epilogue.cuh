// What happens to an element of the result between its sum and its store.
//
// This file does nothing. The host gives the compiler another one of this name, with the arguments that the chain of post-ops wants in
// `Epilogue` (the end of every kernel's parameters, so their offsets before it stay) and its formula in `epilogue`. `row` and `column` are
// those of the user's result: of a convolution the pixel (n, d, h, w in one number) and the output channel. They lie inside of the result
// also where the tile does not.
#pragma once
#include "types.cuh"

struct Epilogue {
    int unused;
};

__device__ __forceinline__ float epilogue(float sum, const Epilogue &e, int batch, int row, int column) { return sum; }

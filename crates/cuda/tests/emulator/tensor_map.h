// The driver's encoding of a TMA descriptor, which the emulator reads: C and C++. 128 bytes.
#pragma once
#include <stdint.h>

struct tensor_map {
    uint64_t address;
    uint64_t strides[4];                         // bytes, of all dimensions but the innermost
    uint32_t last[5];                            // sizes - 1
    uint16_t box[5];                             // tiled mode
    int16_t lower[3], upper[3];                  // im2col mode: corners of the bounding box along W, H, D
    uint16_t channels, pixels;
    uint8_t steps[5], kind, rank, swizzle, im2col;
    uint8_t unused[33];
};

// What the driver passes to the emulator: C and C++.
#pragma once
#include <stdbool.h>
#include <stdint.h>

// A TMA descriptor. 128 bytes.
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

// A launch: the kernel's entry and its parameters; bytes of dynamic shared memory and of variables in shared memory; CTAs of a cluster.
struct launch {
    const char *kernel;
    void (*entry)(void **parameters);
    void **parameters;
    uint32_t grid[3], threads, dynamic, statics, cluster;
    bool cooperative;
};

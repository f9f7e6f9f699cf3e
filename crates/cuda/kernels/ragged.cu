// Copies between a tensor whose batches have different lengths and lie one behind the other in memory, and a padded tensor, which gets zeros behind the end of
// each batch (cuDNN's ragged offsets). One thread per element of the padded tensor: batch x heads x rows x size, row-major.
//
// Interface
//   defines      WORD: type of an element by its size (u8 to u64); OFFSET: type of the offsets, int or i64; INTO: 1 to pad, 0 to copy the rows of each batch back
//   parameters   (RaggedParams) by value; batch b begins at element offsets[b] * unit
#include "types.cuh"
#include "launch.cuh"

struct RaggedParams {
    WORD *user;
    const OFFSET *offsets;
    WORD *padded;
    i64 unit, count;
    i64 heads, rows, size;
    i64 stride_b, stride_h, stride_r, stride_e;   // of the caller's tensor; that of batches has no meaning
};

extern "C" __global__ void __launch_bounds__(256) ragged(const __grid_constant__ RaggedParams p) {
    begin();
    for (i64 i = i64(blockIdx.x) * 256 + threadIdx.x; i < p.count; i += i64(gridDim.x) * 256) {
        i64 e = i % p.size, rest = i / p.size, r = rest % p.rows, h = rest / p.rows % p.heads, b = rest / p.rows / p.heads;
        i64 first = i64(p.offsets[b]) * p.unit, end = i64(p.offsets[b + 1]) * p.unit;
        bool is_own = first >= 0 && r < (end - first) / p.stride_r;
        WORD *at = p.user + first + h * p.stride_h + r * p.stride_r + e * p.stride_e;
#if INTO
        p.padded[i] = is_own ? *at : WORD(0);
#else
        if (is_own) *at = p.padded[i];
#endif
    }
}

// Combines the parts of attention_sm90.cu with DIVIDED (flash-decoding): rescales each part's output and sum to the common maximum, adds them in a fixed
// order and divides.
//
// One CTA per row (query of a head); a thread adds every kLanes-th part of four elements, and the threads' sums are added through shared memory.
//
// Interface
//   defines      C_TYPE; HEAD 64 or 128
//   parameters   (PartsParams) by value
//   grid         rows; 256 threads
#include "types.cuh"

using C = Element<C_TYPE>;

struct PartsParams {
    const float4 *out;      // (parts, rows, HEAD): unnormalised outputs
    const float2 *sums;     // (parts, rows): maxima times log2(e), and sums
    float *log_sum;         // (rows): log-sum-exp, or null
    int parts, rows, queries, heads;
    C::Raw *to;             // the result
    i64 query, head, batch; // its strides, in elements
    i64 size;               // head size, at most HEAD; contiguous in the result
};

__device__ __forceinline__ float exp2_fast(float x) {
    float r;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}

extern "C" __global__ void __launch_bounds__(256) attention_parts(const __grid_constant__ PartsParams p) {
    constexpr int kUnits = HEAD / 4, kLanes = 256 / kUnits;
    const float kLowest = -__int_as_float(0x7f800000);
    __shared__ float4 outs[kLanes][kUnits];
    __shared__ float sums[kLanes];
    begin();
    int row = int(blockIdx.x), unit = int(threadIdx.x) % kUnits, lane = int(threadIdx.x) / kUnits;
    float max = kLowest;
    for (int j = int(threadIdx.x) % 32; j < p.parts; j += 32) max = fmaxf(max, p.sums[i64(j) * p.rows + row].x);
#pragma unroll
    for (int i = 16; i; i /= 2) max = fmaxf(max, __shfl_xor_sync(~0u, max, i));
    float shift = max == kLowest ? 0.0f : max, sum = 0;
    float4 all = {};
#pragma unroll 4
    for (int j = lane; j < p.parts; j += kLanes) {
        i64 at = i64(j) * p.rows + row;
        float2 own = p.sums[at];
        float4 out = p.out[at * kUnits + unit];
        float factor = exp2_fast(own.x - shift);
        sum += own.y * factor;
        all.x += out.x * factor, all.y += out.y * factor, all.z += out.z * factor, all.w += out.w * factor;
    }
    outs[lane][unit] = all;
    if (unit == 0) sums[lane] = sum;
    __syncthreads();
    if (lane) return;
#pragma unroll
    for (int i = 1; i < kLanes; i++) {
        float4 x = outs[i][unit];
        sum += sums[i];
        all.x += x.x, all.y += x.y, all.z += x.z, all.w += x.w;
    }
    float inverse = sum > 0 ? 1.0f / sum : 0.0f;
    if (p.log_sum && unit == 0) p.log_sum[row] = max * 0.6931471805599453f + logf(sum);
    int query = row % p.queries, head = row / p.queries % p.heads, batch = row / p.queries / p.heads;
    C::Raw *to = p.to + query * p.query + head * p.head + batch * p.batch;
    float v[4] = {all.x, all.y, all.z, all.w};
#pragma unroll
    for (int e = 0; e < 4; e++) {
        if (unit * 4 + e < p.size) to[unit * 4 + e] = C::store(v[e] * inverse);
    }
}

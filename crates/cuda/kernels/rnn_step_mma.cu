// The recurrent part of RNN, LSTM and GRU time steps in 16-bit floats by mma.sync (see rnn_step.cu).
//
// A CTA computes UNITS channels of BATCH samples with all their gates: 32 columns, as chunks of 8 neighbouring channels of a gate (N of mma.sync). The warps
// divide K in blocks of 32; their sums are added in order through shared memory. Weights are kept in shared memory as in rnn_step.cu. The state goes from
// global memory directly to A fragments: the order of K within a block is free, so lane (g, q) loads the 16 bytes from 8q on of rows g and g + 8, and
// the weights are read in the same order of K.
//
// The generated header has UNITS (8; 32 with one gate), BATCH (16, 32), GATES, the previous state and the weights with their strides, and `cell(a, p, sums)`;
// options: BF16 1, or 0 for f16; K_FIRST 1 if the weights are contiguous along K, otherwise along channels. State and weights are aligned to 16 bytes and
// contiguous in groups of 8.
//   grid         (channels / UNITS, samples / BATCH), 256 threads; shared memory for 32 columns of weights, with K rounded up to 64, and the warps' sums
#include "args.cuh"
#include "rnn_steps.cuh"

enum : int {
    kWarps = 8, kTiles = BATCH / 16, kChunks = GATES == 3 ? 3 : 4,
    kAhead = 4 / kTiles,   // blocks of K whose states are in flight
    kPitch = 40,           // floats of a row of sums, padded against bank conflicts
};

DEVICE u32 shared_address(const void* p) { return u32(__cvta_generic_to_shared(p)); }

// The gate and the first channel of chunk j.
DEVICE int gate_of(int j) { return GATES == 1 ? 0 : j; }
DEVICE int channel_of(int j) { return GATES == 1 ? j * 8 : 0; }

DEVICE void copy16(u32 to, const void* from, bool inside) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(inside ? 16 : 0) : "memory");
}

// Layout in shared memory: K by columns, rows of 64 bytes with chunk j swizzled to j ^ k / 8 % 4; or with K_FIRST columns by K, `pitch` bytes per column.
DEVICE void load_weights(u32 to, const Args& a, int depth, int pitch, int channel) {
    for (int i = threadIdx.x; i < depth * 4; i += 256) {
        int j, k, unit;
        u32 at;
        if constexpr (K_FIRST) {
            const int column = i / (depth / 8);
            k = i % (depth / 8) * 8, j = column / 8, unit = column % 8;
            at = to + column * pitch + k * 2;
        } else {
            k = i / 4, j = i % 4, unit = 0;
            at = to + k * 64 + ((j ^ (k / 8 % 4)) * 16);
        }
        const int c = channel + channel_of(j) + unit;
        const bool inside = j < kChunks && k < a.terms && c < a.channels;
        const u16* from = a.step_weights + (inside ? k * a.weights_k + gate_of(j) * a.weights_g + c * a.weights_c : 0);
        copy16(at, from, inside);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
}

// The A fragments of a block of K: rows g and g + 8 of each tile of 16 samples.
typedef uint4 State[kTiles][2];
DEVICE void fetch(State& x, const Args& a, int row0, int k) {
    const int g = threadIdx.x % 32 / 4, q = threadIdx.x % 4, at = k + q * 8, terms = (int)a.terms, samples = (int)a.samples;
#pragma unroll
    for (int t = 0; t < kTiles * 2; ++t) {
        const int row = row0 + t * 8 + g;
        const bool inside = row < samples && at < terms;
        x[t / 2][t % 2] = inside ? __ldcg((const uint4*)(a.step_state + row * terms + at)) : uint4{0, 0, 0, 0};
    }
}

// The B fragments of chunk j and a block of K: two registers for each of its two instructions.
DEVICE void weights_of(u32 (&b)[4], u32 weights, int pitch, int j, int k) {
    const int lane = threadIdx.x % 32;
    if constexpr (K_FIRST) {
        const u32 at = weights + (j * 8 + lane / 4) * pitch + (k + lane % 4 * 8) * 2;
        asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];" : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3]) : "r"(at) : "memory");
    } else {
        const int pair = lane % 8 / 2;
        const u32 at = weights + (k + pair * 8 + lane / 8 * 2 + lane % 2) * 64 + ((j ^ pair) * 16);
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3]) : "r"(at) : "memory");
    }
}

DEVICE void multiply(float (&d)[4], u32 a0, u32 a1, u32 a2, u32 a3, u32 b0, u32 b1) {
#if BF16
#define MMA_TYPES "f32.bf16.bf16.f32"
#else
#define MMA_TYPES "f32.f16.f16.f32"
#endif
    asm volatile("mma.sync.aligned.m16n8k16.row.col." MMA_TYPES " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

extern "C" __global__ void __launch_bounds__(256, 2) rnn_step_mma(const __grid_constant__ Args a) {
    extern __shared__ __align__(16) float memory[];
    __shared__ Args now;
    const int depth = ((int)a.terms + 63) / 64 * 64, pitch = depth * 2 + 64, channel = blockIdx.x * UNITS, row0 = blockIdx.y * BATCH;
    const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, q = threadIdx.x % 4;
    const u32 weights = shared_address(memory);
    float* sums = memory + 8 * pitch;   // after 32 columns of `pitch` bytes
    load_weights(weights, a, depth, pitch, channel);
    begin();
    if (threadIdx.x < 128) advance(now, a, 0, threadIdx.x);
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();

    for (int step = 0;; ++step) {
        float sum[kTiles][kChunks][4] = {};
        State x[kAhead];
        const int apart = kWarps * 32;
#pragma unroll
        for (int i = 0; i < kAhead; ++i) fetch(x[i], now, row0, warp * 32 + i * apart);
        for (int k0 = warp * 32; k0 < depth; k0 += apart * kAhead) {
#pragma unroll
            for (int i = 0; i < kAhead; ++i) {
                const int k = k0 + i * apart;
                if (k >= depth) break;
#pragma unroll
                for (int j = 0; j < kChunks; ++j) {
                    u32 b[4];
                    weights_of(b, weights, pitch, j, k);
#pragma unroll
                    for (int t = 0; t < kTiles; ++t) {
                        multiply(sum[t][j], x[i][t][0].x, x[i][t][1].x, x[i][t][0].y, x[i][t][1].y, b[0], b[1]);
                        multiply(sum[t][j], x[i][t][0].z, x[i][t][1].z, x[i][t][0].w, x[i][t][1].w, b[2], b[3]);
                    }
                }
                fetch(x[i], now, row0, k + apart * kAhead);
            }
        }

#pragma unroll
        for (int t = 0; t < kTiles; ++t) {
#pragma unroll
            for (int j = 0; j < kChunks; ++j) {
                float* to = sums + (warp * BATCH + t * 16 + g) * kPitch + j * 8 + q * 2;
                *(float2*)to = float2{sum[t][j][0], sum[t][j][1]};
                *(float2*)(to + 8 * kPitch) = float2{sum[t][j][2], sum[t][j][3]};
            }
        }
        __syncthreads();
        for (int i = threadIdx.x; i < BATCH * UNITS; i += 256) {
            const int row = i / UNITS, unit = i % UNITS;
            const index p[] = {row0 + row, channel + unit};
            if (p[0] >= a.samples || p[1] >= a.channels) continue;
            real all[GATES] = {};
#pragma unroll
            for (int w = 0; w < kWarps; ++w) {
#pragma unroll
                for (int e = 0; e < GATES; ++e) all[e] += sums[(w * BATCH + row) * kPitch + e * 8 + unit];
            }
            cell(now, p, all);
        }
        if (step + 1 == a.steps) break;
        next_step(now, a, step);
    }
}

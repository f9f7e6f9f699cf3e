// The recurrent part of RNN, LSTM and GRU time steps in f32: gates[sample, gate, channel] = state[sample, :] weights[:, gate, channel], then the cell function.
// One launch computes one or more steps (rnn_steps.cuh).
//
// A CTA computes UNITS channels of BATCH samples with all their gates. Its weights stay in shared memory for all steps; they are loaded before begin(), that is
// while the preceding kernel, which does not write them, still runs. The 8 warps divide K: each transposes pieces of 16 of K of the state into shared memory
// of its own, and accumulates its channels by all samples in registers. The warps' sums are added in order through shared memory, and one thread per
// (sample, channel) computes the cell from the sums of all gates.
//
// The generated header has UNITS (4, 8), BATCH (16, 32), GATES, the previous state and the weights with their strides, and `cell(a, p, sums)`.
//   grid         (channels / UNITS, samples / BATCH), 256 threads; shared memory for the weights, with K rounded up to 16, and for the states or the sums
#include "args.cuh"
#include "rnn_steps.cuh"

enum : int {
    kWarps = 8, kDepth = 16, kPitch = BATCH + 4,
    kGates = GATES == 3 ? 4 : GATES, kColumns = UNITS * kGates,   // gates with padding; columns of a row of weights in shared memory
    kGroups = 32 / UNITS, kRows = BATCH / kGroups,                // threads of a warp that share a channel; samples of each
    kRun = kRows < 4 ? kRows : 4,                                 // of these that are neighbours
    kPieces = BATCH / 8,                                          // float4 loads of a thread per piece of the state
};

template <int COUNT> struct __align__(COUNT * 4) Run {
    float v[COUNT];
};

// Coalesced: neighbouring threads take neighbouring K if the weights are contiguous along K, otherwise neighbouring channels.
DEVICE void load_weights(float* to, const Args& a, int depth, int channel) {
    constexpr int kAll = UNITS * GATES, kStep = 256 / kAll;
    auto load = [&](int k, int unit, int gate) {
        const bool inside = k < a.terms && channel + unit < a.channels;
        to[(k * UNITS + unit) * kGates + gate] =
            inside ? a.step_weights[k * a.weights_k + gate * a.weights_g + (channel + unit) * a.weights_c] : 0.0f;
    };
    if (a.weights_k == 1) {
        for (int k = threadIdx.x; k < depth; k += 256) {
#pragma unroll
            for (int column = 0; column < kAll; ++column) load(k, column % UNITS, column / UNITS);
        }
    } else if (threadIdx.x < kStep * kAll) {
        const int unit = threadIdx.x % UNITS, gate = threadIdx.x / UNITS % GATES;
#pragma unroll 8
        for (int k = threadIdx.x / kAll; k < depth; k += kStep) load(k, unit, gate);
    }
}

// Loads a warp's piece of the state, 16 of K from `k` on; four lanes share a row.
DEVICE void fetch(float4 (&v)[kPieces], const Args& a, int row0, int k) {
#pragma unroll
    for (int j = 0; j < kPieces; ++j) {
        const int i = j * 32 + threadIdx.x % 32, row = row0 + i / 4, at = k + i % 4 * 4;
        const bool inside = row < a.samples && at < a.terms;
        v[j] = inside ? __ldcg((const float4*)(a.step_state + row * a.terms + at)) : float4{0, 0, 0, 0};
    }
}

// Stores the piece transposed: K by samples.
DEVICE void keep(float* to, const float4 (&v)[kPieces]) {
#pragma unroll
    for (int j = 0; j < kPieces; ++j) {
        const int i = j * 32 + threadIdx.x % 32;
        float* at = to + i % 4 * 4 * kPitch + i / 4;
        at[0] = v[j].x, at[kPitch] = v[j].y, at[2 * kPitch] = v[j].z, at[3 * kPitch] = v[j].w;
    }
}

extern "C" __global__ void __launch_bounds__(256, 2) rnn_step(const __grid_constant__ Args a) {
    extern __shared__ __align__(16) float memory[];
    __shared__ Args now;
    const int depth = ((int)a.terms + kDepth - 1) / kDepth * kDepth, channel = blockIdx.x * UNITS, row0 = blockIdx.y * BATCH;
    const int warp = threadIdx.x / 32, unit = threadIdx.x % UNITS, group = threadIdx.x % 32 / UNITS;
    float *weights = memory, *states = memory + depth * kColumns, *own = states + warp * kDepth * kPitch;
    load_weights(weights, a, depth, channel);
    begin();
    if (threadIdx.x < 128) advance(now, a, 0, threadIdx.x);
    __syncthreads();

    for (int step = 0;; ++step) {
        float4 piece[kPieces];
        fetch(piece, now, row0, warp * kDepth);
        float sum[kRows][GATES] = {};
        for (int k = warp * kDepth; k < depth; k += kWarps * kDepth) {
            __syncwarp();
            keep(own, piece);
            __syncwarp();
            fetch(piece, now, row0, k + kWarps * kDepth);
#pragma unroll
            for (int i = 0; i < kDepth; ++i) {
                const Run<kGates> w = *(const Run<kGates>*)(weights + (k + i) * kColumns + unit * kGates);
#pragma unroll
                for (int r = 0; r < kRows; r += kRun) {
                    const Run<kRun> x = *(const Run<kRun>*)(own + i * kPitch + r * kGroups + group * kRun);
#pragma unroll
                    for (int e = 0; e < kRun; ++e) {
#pragma unroll
                        for (int g = 0; g < GATES; ++g) sum[r + e][g] = fmaf(x.v[e], w.v[g], sum[r + e][g]);
                    }
                }
            }
        }

        __syncthreads();   // all have read their states, whose memory the sums reuse
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
            const int row = r / kRun * kRun * kGroups + group * kRun + r % kRun;
            Run<kGates> out = {};
#pragma unroll
            for (int g = 0; g < GATES; ++g) out.v[g] = sum[r][g];
            *(Run<kGates>*)(states + ((warp * BATCH + row) * UNITS + unit) * kGates) = out;
        }
        __syncthreads();
        for (int i = threadIdx.x; i < BATCH * UNITS; i += 256) {
            const index p[] = {row0 + i / UNITS, channel + i % UNITS};
            if (p[0] >= a.samples || p[1] >= a.channels) continue;
            real all[GATES] = {};
#pragma unroll
            for (int w = 0; w < kWarps; ++w) {
                const Run<kGates> part = *(const Run<kGates>*)(states + (w * BATCH * UNITS + i) * kGates);
#pragma unroll
                for (int g = 0; g < GATES; ++g) all[g] += part.v[g];
            }
            cell(now, p, all);
        }
        if (step + 1 == a.steps) break;
        next_step(now, a, step);
    }
}

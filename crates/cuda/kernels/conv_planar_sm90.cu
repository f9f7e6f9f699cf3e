// Convolution of NCHW tensors of 16-bit types on Hopper, stride 1, forward and backward data, without transposing the tensors in memory.
//
// Implicit GEMM with M = output channels, N = pixels, K = taps x input channels: A is the weights, B the input. The loading warps transpose the input on its
// way into shared memory, once for all taps.
//
// A CTA computes 64 * CONSUMERS channels of TILE_N positions of one image. Positions enumerate the input's padded lines (`pitch` positions per line), so
// a tap is a constant offset between positions, and B of a tap is the input tile read from an offset. Positions in the padding are computed and not stored.
//
// Warps
//   consumers   CONSUMERS warpgroups: wgmma
//   loaders     kLoaders warps: per chunk of 64 input channels each writes one plane of 8 channels, 16 bytes per position; 8 consecutive positions of a plane
//               are a core matrix of an unswizzled wgmma operand, and a tap may start at any position
//   weights     one thread loads the weights by TMA, 64 channels of one tap a stage
// Shared memory: rings of `stages` weight stages and of `buffers` input chunks, each with full and empty mbarriers; tables of pixels and taps; sums on
// their way out.
//
// Defines: A_TYPE = B_TYPE (16 bits), C_TYPE, TILE_N (64, 128), CONSUMERS (1, 2)
//
// Interface
//   parameters   (TensorMap weights, PlanarParams), by value
//   maps         weights  tiled, rank 3, (IC, taps, OC), box (64, 1, 64 * CONSUMERS), 128-byte swizzle
//   grid         1-D: tiles of channels (fastest), tiles of positions, images; block kThreads; shared memory as in `Shared`, and 1,024 bytes for alignment
#include "wgmma.cuh"
#include "epilogue.cuh"

using C = Element<C_TYPE>;

enum : int {
    kLoaders = 8,   // warps
    kThreads = 128 * CONSUMERS + 32 * kLoaders + 32,
    kResident = CONSUMERS == 1 && TILE_N == 64 ? 2 : 1,   // CTAs per SM
    kStage = CONSUMERS * 8192,
    kLine = 64 * 4 + 32,   // bytes of a line of 64 sums, padded against bank conflicts
    kSums = CONSUMERS * 4 * 16 * kLine,
    kTaps = 64,                  // of a filter, at most
    kStages = 8, kBuffers = 2,   // at most
};

__device__ __forceinline__ float2 shared_load_pair(u32 address) {
    float2 v;
    asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(v.x), "=f"(v.y) : "r"(address) : "memory");
    return v;
}

// A volatile load, so that the compiler keeps the loads of a thread together and all are in flight at once.
__device__ __forceinline__ u16 load_in_order(const u16 *from) {
    u16 v;
    asm volatile("ld.global.b16 %0, [%1];" : "=h"(v) : "l"(from));
    return v;
}

struct PlanarParams {
    int made, given;             // output and input channels (of this product)
    int chunks;                  // of 64 input channels
    int taps, filter_w, reversed;   // taps of the filter and of one of its rows; backward data: taps in reverse order
    int step_h, step_w;          // dilation: pixels from one tap to the next
    int pad_h, pad_w;
    int in_h, in_w, out_h, out_w;
    int pitch, span;             // positions of a line; positions that the tile reads
    int stages, buffers;         // of weights; of input
    int positions;               // of a plane, a multiple of 8
    int table;                   // entries of the table of pixels: `span` rounded up to what a warp reads at once
    int tiles_c, tiles_p;        // tiles along channels and positions
    const u16 *src;
    i64 src_channel, src_image;
    C::Raw *dst;
    i64 dst_channel, dst_image;
    Epilogue epilogue;
};

// Shared memory. mbarriers and the taps' offsets (`reach`) come first, at fixed offsets.
struct Shared {
    u32 base, planes;            // the input buffers follow the stages of weights
    int plane;                   // bytes of a plane of 8 channels
    u32 out;

    __device__ __forceinline__ Shared(u32 at, const PlanarParams &p)
        : base((at + 1023) & ~1023u), planes(weights(p.stages)), plane(p.positions * 16), out(input(p.buffers)) {}

    __device__ __forceinline__ u32 full(int stage) const { return base + stage * 8; }
    __device__ __forceinline__ u32 empty(int stage) const { return base + (kStages + stage) * 8; }
    __device__ __forceinline__ u32 ready(int buffer) const { return base + (2 * kStages + buffer) * 8; }
    __device__ __forceinline__ u32 free(int buffer) const { return base + (2 * kStages + kBuffers + buffer) * 8; }
    __device__ __forceinline__ u32 reach() const { return base + 256; }
    __device__ __forceinline__ u32 weights(int stage) const { return base + 1024 + stage * kStage; }
    __device__ __forceinline__ u32 input(int buffer) const { return planes + buffer * 8 * plane; }
    __device__ __forceinline__ u32 sums(int warp) const { return out + warp * 16 * kLine; }
    __device__ __forceinline__ u32 pixels() const { return out + kSums; }
};

// A position in a ring of `count` places.
struct Ring {
    int count, at = 0;
    u32 phase = 0;

    __device__ __forceinline__ explicit Ring(int count) : count(count) {}

    __device__ __forceinline__ void next() {
        if (++at == count) at = 0, phase ^= 1;
    }
};

// The tile of this CTA.
struct Tile {
    int channel, first, image;   // the first position

    __device__ __forceinline__ Tile(const PlanarParams &p) {
        int rest = blockIdx.x / p.tiles_c;
        channel = (blockIdx.x - rest * p.tiles_c) * 64 * CONSUMERS;
        image = rest / p.tiles_p;
        first = (rest - image * p.tiles_p) * TILE_N;
    }
};

// Fills the tables: the input pixel of each position of the tile (-1 for padding) and the offset of each tap in bytes. Zeroes the input buffers.
__device__ __forceinline__ void place_pixels(const Shared &s, const PlanarParams &p, int first) {
#pragma unroll 1
    for (int q = threadIdx.x; q < p.table; q += kThreads) {
        int line = (first + q) / p.pitch, y = line - p.pad_h, x = first + q - line * p.pitch - p.pad_w;
        bool inside = q < p.span && u32(y) < u32(p.in_h) && u32(x) < u32(p.in_w);
        shared_store(s.pixels() + q * 4, inside ? u32(y * p.in_w + x) : ~0u);
    }
    // From the last thread down: with small tiles those have no pixels.
#pragma unroll 1
    for (int t = kThreads - 1 - int(threadIdx.x); t < p.taps; t += kThreads) {
        int i = p.reversed ? p.taps - 1 - t : t, line = i / p.filter_w;
        shared_store(s.reach() + t * 4, u32(line * p.step_h * p.pitch + (i - line * p.filter_w) * p.step_w) * 16);
    }
    // Positions in the padding are never written again.
    for (u32 at = threadIdx.x * 16; at < p.buffers * 8 * s.plane; at += kThreads * 16) shared_store(s.input(0) + at, 0, 0, 0, 0);
    fence_async_proxy();
}

enum : int { kFlying = 4 };   // positions that a thread has in flight

// A loading warp: fills its plane of every chunk. Channels beyond the last are zero.
__device__ __forceinline__ void load_planes(const Shared &s, const PlanarParams &p, const Tile &tile, int warp) {
    int lane = threadIdx.x % 32, channel = warp * 8;
    u32 pixels = s.pixels() + lane * 4;
    const u16 *from[8];
#pragma unroll
    for (int i = 0; i < 8; i++) from[i] = p.src + tile.image * p.src_image + ((channel < p.given ? channel : 0) + i) * p.src_channel;
    Ring ring(p.buffers);
#pragma unroll 1
    for (int chunk = 0; chunk < p.chunks; chunk++, ring.next()) {
        barrier_wait(s.free(ring.at), ring.phase ^ 1);
        u32 to = s.input(ring.at) + warp * s.plane + lane * 16, keep = channel < p.given ? ~0u : 0;
#pragma unroll 1
        for (int q = 0; q < p.span; q += 32 * kFlying) {
            u32 v[kFlying][8];
            int pixel[kFlying];
#pragma unroll
            for (int b = 0; b < kFlying; b++) pixel[b] = int(shared_load(pixels + (q + b * 32) * 4));
            // Padding and channels beyond the last load a valid address; the value is dropped.
#pragma unroll
            for (int b = 0; b < kFlying; b++) {
#pragma unroll
                for (int i = 0; i < 8; i++) v[b][i] = load_in_order(from[i] + max(pixel[b], 0));
            }
#pragma unroll
            for (int b = 0; b < kFlying; b++) {
                u32 w[4];
#pragma unroll
                for (int i = 0; i < 4; i++) w[i] = __byte_perm(v[b][i * 2], v[b][i * 2 + 1], 0x5410) & keep;
                if (pixel[b] >= 0) shared_store(to + (q + b * 32) * 16, w[0], w[1], w[2], w[3]);
            }
        }
        channel += 64;
        if (channel < p.given) {
#pragma unroll
            for (int i = 0; i < 8; i++) from[i] += 64 * p.src_channel;
        }
        fence_async_proxy();
        __syncwarp();
        if (lane == 0) barrier_arrive(s.ready(ring.at));
    }
}

__device__ __forceinline__ void load_weights(const Shared &s, const TensorMap &weights, const PlanarParams &p, const Tile &tile) {
    Ring ring(p.stages);
    for (int k = 0; k < p.chunks; k++) {
        for (int tap = 0; tap < p.taps; tap++, ring.next()) {
            barrier_wait(s.empty(ring.at), ring.phase ^ 1);
            barrier_expect(s.full(ring.at), kStage);
            tma_load(s.weights(ring.at), weights, s.full(ring.at), k * 64, tap, tile.channel);
        }
    }
}

// The matrix descriptor of B, K-major without swizzle: core matrices are 8 positions of 16 bytes; the next along N is 8 positions further, the next
// along K a plane further. `first` is the first plane.
__device__ __forceinline__ u64 descriptor_planes(u32 address, int positions, int first) {
    return u64((address >> 4 & 0x3FFF) + u32(first * positions) | u32(positions) << 16) | 8ull << 32;
}

// The main loop of a consumer: per chunk and tap, four wgmma over 64 channels.
__device__ __forceinline__ void multiply(const Shared &s, const PlanarParams &p, int consumer, Acc (&acc)[TILE_N / 2]) {
    bool leader = threadIdx.x % 128 == 0;
    Ring ring(p.stages), input(p.buffers);
    int previous = -1, read = -1;   // to be released: the previous stage, and the buffer if that stage was its last tap
    int tap = 0;
#pragma unroll 1
    for (int left = p.chunks * p.taps; left > 0; left--, ring.next()) {
        if (tap == 0) barrier_wait(s.ready(input.at), input.phase);
        u32 at = s.input(input.at) + shared_load(s.reach() + tap * 4);
        u64 a = descriptor_k_major(s.weights(ring.at) + consumer * 8192);
        barrier_wait(s.full(ring.at), ring.phase);
        wgmma_fence();
#pragma unroll
        for (int k = 0; k < 4; k++) Wgmma<TILE_N, 0, 0>::multiply(acc, a + k * 2, descriptor_planes(at, p.positions, k * 2), k ? 1 : previous >= 0);
        wgmma_commit();
        wgmma_wait<1>();   // all but the group just committed
        if (leader && previous >= 0) barrier_arrive(s.empty(previous));
        if (leader && read >= 0) barrier_arrive(s.free(read));
        previous = ring.at, read = -1;
        if (++tap == p.taps) tap = 0, read = input.at, input.next();
    }
    wgmma_wait<0>();
    wgmma_pin(acc);
}

// Stores a warp's 16 channels through shared memory, 64 positions at a time, so that the stores of neighbouring lanes are coalesced.
__device__ __forceinline__ void store(const Shared &s, const PlanarParams &p, const Tile &tile, const Acc (&acc)[TILE_N / 2]) {
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, channel = tile.channel + warp * 16, lines = min(16, p.made - channel);
    u32 sums = s.sums(warp), own = sums + lane / 4 * kLine + lane % 4 * 8;
    C::Raw *image = p.dst + tile.image * p.dst_image + channel * p.dst_channel;
    // Two 16-bit results per store: the positions of a pair are both pixels or both padding, and the address is aligned.
    bool paired = sizeof(C::Raw) == 2 && (p.pitch | p.out_w | int(p.dst_channel)) % 2 == 0 && reinterpret_cast<u64>(image) % 4 == 0;
#pragma unroll
    for (int first = 0; first < TILE_N; first += 64) {
        int at = tile.first + first + lane * 2, y = at / p.pitch, x = at - y * p.pitch;
        bool inside[2];
        int pixel[2];
#pragma unroll
        for (int i = 0; i < 2; i++) {
            if (i && ++x == p.pitch) x = 0, y++;
            inside[i] = y < p.out_h && x < p.out_w, pixel[i] = y * p.out_w + x;
        }
#pragma unroll
        for (int j = 0; j < 8; j++) {
            const Acc *v = acc + first / 2 + j * 4;
            shared_store(own + j * 32, __float_as_uint(v[0]), __float_as_uint(v[1]));
            shared_store(own + 8 * kLine + j * 32, __float_as_uint(v[2]), __float_as_uint(v[3]));
        }
        __syncwarp();
        C::Raw *to = image + pixel[0], *next = image + pixel[1];
#pragma unroll 8
        for (int r = 0; r < 16; r++, to += p.dst_channel, next += p.dst_channel) {
            float2 sum = shared_load_pair(sums + r * kLine + lane * 8);
            C::Raw low{}, high{};
            if (r < lines && inside[0]) low = C::store(epilogue(sum.x, p.epilogue, tile.image, channel + r, pixel[0]));
            if (r < lines && inside[1]) high = C::store(epilogue(sum.y, p.epilogue, tile.image, channel + r, pixel[1]));
            if constexpr (sizeof(C::Raw) == 2) {
                if (paired) {
                    if (r < lines && inside[0]) *reinterpret_cast<u32 *>(to) = u32(low) | u32(high) << 16;
                    continue;
                }
            }
            if (r < lines && inside[0]) *to = low;
            if (r < lines && inside[1]) *next = high;
        }
        __syncwarp();
    }
}

extern "C" __global__ void __launch_bounds__(kThreads, kResident)
    conv_planar_sm90(const __grid_constant__ TensorMap weights, const __grid_constant__ PlanarParams p) {
    extern __shared__ u8 shared_memory[];
    Shared s(shared_address(shared_memory), p);
    if (threadIdx.x == 0) {
        tma_prefetch(weights);
        for (int i = 0; i < p.stages; i++) {
            barrier_init(s.full(i), 1);
            barrier_init(s.empty(i), CONSUMERS);
        }
        for (int i = 0; i < p.buffers; i++) {
            barrier_init(s.ready(i), kLoaders);
            barrier_init(s.free(i), CONSUMERS);
        }
        barrier_init_fence();
    }
    Tile tile(p);
    place_pixels(s, p, tile.first);
    __syncthreads();
    begin();

    int warp = __shfl_sync(~0u, int(threadIdx.x) / 32, 0) - CONSUMERS * 4;
    if (warp == kLoaders) {
        if (threadIdx.x % 32 == 0) load_weights(s, weights, p, tile);
    } else if (warp >= 0) {
        load_planes(s, p, tile, warp);
    } else {
        Acc acc[TILE_N / 2];
        multiply(s, p, warpgroup_index(), acc);
        store(s, p, tile, acc);
    }
}

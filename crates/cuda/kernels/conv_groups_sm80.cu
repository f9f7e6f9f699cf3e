// Grouped convolution of NHWC tensors of 16-bit types with 8 to 64 channels per group, by mma.sync (sm_80 and later).
//
// A CTA computes 8 x 16 output pixels of the groups that share 64 input channels. cp.async loads the input patch (tile and halo) into shared memory once,
// 128 bytes per pixel, for all taps. Each of the 8 warps has a row of 16 pixels (M of mma.sync); for each tap and group it multiplies the group's channels
// only. Weights (taps, output channels, the group's input channels) are read from L1 directly in fragment order. The result is staged in shared memory and
// stored in 16-byte units.
//
// Interface
//   defines      A_TYPE, C_TYPE (16 bits); GIVEN: input channels of a group (8, 16, 32, 64); MADE: output channels of a CTA's groups (at most 128);
//                SHARED: bytes of dynamic shared memory
//   parameters   (GroupsParams) by value
//   grid         (tiles of pixels of all images, blocks of 64 input channels), 256 threads
#include "epilogue.cuh"

using C = Element<C_TYPE>;

enum : int {
    kHigh = 8, kWide = 16, kChannels = 64,
    kColumns = MADE / 8,                          // blocks of 8 output channels (N of mma.sync)
    kPerGroup = MADE / (kChannels / GIVEN) / 8,   // of those per group
    kTerms = GIVEN < 16 ? 8 : 16, kSteps = GIVEN / kTerms,   // K of mma.sync; instructions per group
};

struct GroupsParams {
    const u16 *src;
    const u16 *weights;
    u16 *dst;
    int given, made;                              // input and output channels of all groups
    int height, width;                            // of the source
    int rows, columns;                            // of the result
    int across, down;                             // tiles of an image
    int taps[2], stride[2], padding[2], dilation[2];   // along H, W
    int patch[2];                                 // pixels of the input patch along H, W
    i64 src_n, src_h, src_w, dst_n, dst_h, dst_w;
    Epilogue epilogue;
};

__device__ __forceinline__ u32 shared_address(const void *p) { return u32(__cvta_generic_to_shared(p)); }

// The address of a 16-byte unit of a pixel, swizzled so that ldmatrix of eight consecutive pixels is free of bank conflicts.
__device__ __forceinline__ u32 unit_at(u32 base, int pixel, int unit) { return base + pixel * 128 + (unit ^ pixel % 8) * 16; }

__device__ __forceinline__ void load_patch(u32 to, const GroupsParams &p, int n, int y0, int x0, int c0) {
    const u16 *image = p.src + n * p.src_n;
    for (int i = int(threadIdx.x); i < p.patch[0] * p.patch[1] * 8; i += 256) {
        int unit = i % 8, pixel = i / 8, y = y0 + pixel / p.patch[1], x = x0 + pixel % p.patch[1], c = c0 + unit * 8;
        bool inside = y >= 0 && y < p.height && x >= 0 && x < p.width && c < p.given;
        const u16 *from = inside ? image + y * p.src_h + x * p.src_w + c : p.src;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(unit_at(to, pixel, unit)), "l"(from), "r"(inside ? 16 : 0) : "memory");
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 0;" ::: "memory");
}

// Fragments of A of 16 pixels and two units: (pixels 0-7, unit), (pixels 8-15, unit), (pixels 0-7, unit + 1), (pixels 8-15, unit + 1).
__device__ __forceinline__ void load_pixels(u32 (&r)[4], u32 base, int first, int step, int unit) {
    int lane = threadIdx.x % 32, pixel = first + lane % 16 * step;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(unit_at(base, pixel, unit + lane / 16))
                 : "memory");
}

#if A_TYPE == T_BF16
#define OPERANDS "f32.bf16.bf16.f32"
#else
#define OPERANDS "f32.f16.f16.f32"
#endif

__device__ __forceinline__ void multiply(float (&d)[4], const u32 (&a)[4], int half, const u16 *w) {
    u32 b0 = __ldg(reinterpret_cast<const u32 *>(w));
    if constexpr (kTerms == 8) {
        asm volatile("mma.sync.aligned.m16n8k8.row.col." OPERANDS " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(half ? a[2] : a[0]), "r"(half ? a[3] : a[1]), "r"(b0));
    } else {
        u32 b1 = __ldg(reinterpret_cast<const u32 *>(w + 8));
        asm volatile("mma.sync.aligned.m16n8k16.row.col." OPERANDS " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    }
}

extern "C" __global__ void __launch_bounds__(256) conv_groups_sm80(const __grid_constant__ GroupsParams p) {
    begin();
    extern __shared__ __align__(128) u8 memory[];
    u32 base = shared_address(memory);
    int tile = int(blockIdx.x), tx = tile % p.across, ty = tile / p.across % p.down, n = tile / p.across / p.down;
    int y0 = ty * kHigh, x0 = tx * kWide, c0 = int(blockIdx.y) * kChannels, o0 = int(blockIdx.y) * MADE;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    load_patch(base, p, n, y0 * p.stride[0] - p.padding[0], x0 * p.stride[1] - p.padding[1], c0);
    __syncthreads();

    float acc[kColumns][4] = {};
    // The weights of this lane's output channel of the first block, from its first k on.
    const u16 *weights = p.weights + i64(o0 + lane / 4) * GIVEN + lane % 4 * 2;
    for (int ky = 0; ky < p.taps[0]; ky++) {
        for (int kx = 0; kx < p.taps[1]; kx++, weights += i64(p.made) * GIVEN) {
            int first = (warp * p.stride[0] + ky * p.dilation[0]) * p.patch[1] + kx * p.dilation[1];
#pragma unroll
            for (int unit = 0; unit < 8; unit += 2) {
                u32 a[4];
                load_pixels(a, base, first, p.stride[1], unit);
#pragma unroll
                for (int half = 0; half < (kTerms == 8 ? 2 : 1); half++) {
                    const int channel = (unit + half) * 8, group = channel / GIVEN, step = channel % GIVEN / kTerms;
#pragma unroll
                    for (int j = 0; j < kPerGroup; j++) {
                        const int column = group * kPerGroup + j;
                        // The last CTA may have fewer groups.
                        if (o0 + column * 8 < p.made) multiply(acc[column], a, half, weights + column * 8 * GIVEN + step * kTerms);
                    }
                }
            }
        }
    }

    __syncthreads();   // all have read the patch, whose memory stages the result
    u32 *staged = reinterpret_cast<u32 *>(memory);
#pragma unroll
    for (int column = 0; column < kColumns; column++) {
#pragma unroll
        for (int half = 0; half < 2; half++) {
            int px = warp * kWide + lane / 4 + half * 8, y = min(y0 + warp, p.rows - 1), x = min(x0 + lane / 4 + half * 8, p.columns - 1);
            int row = (n * p.rows + y) * p.columns + x, c = min(o0 + column * 8 + lane % 4 * 2, p.made - 2);
            u32 low = C::store(epilogue(acc[column][half * 2], p.epilogue, 0, row, c));
            u32 high = C::store(epilogue(acc[column][half * 2 + 1], p.epilogue, 0, row, c + 1));
            staged[px * (MADE / 2) + (column + px) % kColumns * 4 + lane % 4] = low | high << 16;
        }
    }
    __syncthreads();
    const uint4 *units = reinterpret_cast<const uint4 *>(memory);
    for (int i = int(threadIdx.x); i < kHigh * kWide * kColumns; i += 256) {
        int column = i % kColumns, px = i / kColumns, y = y0 + px / kWide, x = x0 + px % kWide, c = o0 + column * 8;
        if (y < p.rows && x < p.columns && c < p.made) {
            *reinterpret_cast<uint4 *>(p.dst + n * p.dst_n + y * p.dst_h + x * p.dst_w + c) = units[px * kColumns + (column + px) % kColumns];
        }
    }
}

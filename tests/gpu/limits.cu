// What the memory of a GPU allows: copies of the sizes of common problems, reads and writes alone, a barrier of the grid, and kernels that read and write as
// normalisations do, without their arithmetic.
//
//     nvcc -O3 -std=c++17 -gencode=arch=compute_90a,code=sm_90a tests/gpu/limits.cu -o limits && ./limits
//
// Times are medians over graphs of launches over more copies of the tensors than L2 holds, launched as the engine does (programmatic dependent launch).
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <functional>
#include <vector>

#define CHECK(call)                                                                                                   \
    do {                                                                                                              \
        const cudaError_t status = (call);                                                                            \
        if (status != cudaSuccess) printf("%s: %s\n", #call, cudaGetErrorString(status)), exit(1);                     \
    } while (0)

using u32 = uint32_t;
using i64 = int64_t;

__device__ __forceinline__ void begin() { asm volatile("griddepcontrol.wait;\n griddepcontrol.launch_dependents;" ::: "memory"); }
__device__ __forceinline__ uint4 load(const uint4* from) { return __ldcs(from); }

// Reads and writes `read` and `write` vectors of 16 bytes, spread evenly over the threads: a copy if they are equal, otherwise one is a multiple of the other.
template <int AHEAD>
__global__ void __launch_bounds__(256) stream(const uint4* from, uint4* to, i64 read, i64 write) {
    begin();
    const i64 all = (i64)gridDim.x * 256, own = (i64)blockIdx.x * 256 * AHEAD + threadIdx.x;
    const int more = read > 0 && write > read ? (int)(write / read) : 1, less = write > 0 && write < read ? (int)(read / write) : 1;
    uint4 last = {1, 2, 3, 4};
    for (i64 i = own; i < (read > 0 ? read : write); i += all * AHEAD) {
        uint4 x[AHEAD];
#pragma unroll
        for (int j = 0; j < AHEAD; ++j) {
            if (i + j * 256 < read) x[j] = load(from + i + j * 256);
            else x[j] = last;
        }
        for (int m = 0; m < more; ++m) {
#pragma unroll
            for (int j = 0; j < AHEAD; ++j) {
                const i64 own = i + j * 256, at = less > 1 ? own / less : m * read + own;
                if (at < write && own % less == 0) __stcs(to + at, x[j]);
            }
        }
        if (write < read) {
#pragma unroll
            for (int j = 0; j < AHEAD; ++j) last.x ^= x[j].x ^ x[j].y ^ x[j].z ^ x[j].w;
        }
    }
    if (write < read && last.x == 0x12345 && last.y == 0) to[0] = last;
}

__device__ u32 counters[64];

// All `count` CTAs that use `counter` meet; the counter's low bits are 0 afterwards.
__device__ void meet(u32* counter, u32 count, bool first) {
    __syncthreads();
    if (threadIdx.x == 0) {
        u32 old, seen;
        asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], %2;" : "=r"(old) : "l"(counter), "r"(first ? 0x80000000u - (count - 1) : 1u) : "memory");
        do {
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(counter) : "memory");
        } while (((old ^ seen) & 0x80000000u) == 0);
    }
    __syncthreads();
}

__global__ void barriers(int times) {
    for (int i = 0; i < times; ++i) meet(counters, gridDim.x, blockIdx.x == 0);
}

// A normalisation of INPUTS tensors with statistics over all of the tensor (or that share of it that the CTAs of one of `teams` teams have): a pass that reads, the
// barrier, and a pass that reads what has not stayed in shared memory (STAGES vectors of each tensor a thread) and in registers (KEPT) again, in the reverse
// order, and writes. `turns` vectors a thread; with `narrow` a CTA reads runs of 128 bytes of rows of `narrow` bytes. `passes`: 1 reads only, 2 and the barrier, 3
// all.
template <int STAGES, int KEPT, int INPUTS>
__global__ void __launch_bounds__(512, 1) two_passes(const char* from, char* to, int turns, int narrow, int teams, int passes) {
    constexpr int AHEAD = STAGES < 8 ? STAGES : 8, SLOT = 8192 * INPUTS;
    extern __shared__ __align__(16) char ring[];
    const int groups = narrow ? narrow / 128 : 1, part = blockIdx.x / groups, parts = gridDim.x / groups;
    auto at = [&](int k) {
        if (!narrow) return ((i64)(k * (int)gridDim.x + (int)blockIdx.x) * 512 + threadIdx.x) * 16;
        return ((i64)(k * parts + part) * 64 + threadIdx.x / 8) * narrow + (blockIdx.x % groups) * 128 + threadIdx.x % 8 * 16;
    };
    const i64 other = (i64)turns * gridDim.x * 8192;
    auto fetch = [&](int k, int slot) {
#pragma unroll
        for (int n = 0; n < INPUTS; ++n) {
            const u32 place = (u32)__cvta_generic_to_shared(ring + slot * SLOT + n * 8192 + threadIdx.x * 16);
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(place), "l"(from + n * other + at(k)) : "memory");
        }
    };
    auto slotted = [&](int slot) {
        uint4 x = *(const uint4*)(ring + slot * SLOT + threadIdx.x * 16);
        if (INPUTS > 1) {
            const uint4 y = *(const uint4*)(ring + slot * SLOT + 8192 + threadIdx.x * 16);
            x.x ^= y.x, x.y ^= y.y, x.z ^= y.z, x.w ^= y.w;
        }
        return x;
    };
    auto commit = [] { asm volatile("cp.async.commit_group;" ::: "memory"); };
    const int ringed = turns - KEPT;
    u32 sum = 0;
    auto add = [&](uint4 x) { sum ^= x.x ^ x.y ^ x.z ^ x.w; };
    for (int k = 0; k < AHEAD; ++k) {
        if (k < ringed) fetch(k, k);
        commit();
    }
    int slot = 0;
    uint4 kept[KEPT > 0 ? KEPT : 1][INPUTS];
#pragma unroll 1
    for (int k = 0; k < ringed; ++k) {
        asm volatile("cp.async.wait_group %0;" ::"n"(AHEAD - 1) : "memory");
        add(slotted(slot));
        if (k + AHEAD < ringed) fetch(k + AHEAD, (slot + AHEAD) % STAGES);
        commit();
        slot = slot + 1 == STAGES ? 0 : slot + 1;
        if (KEPT > 0 && k == ringed - AHEAD - 1) {
#pragma unroll
            for (int i = 0; i < KEPT; ++i) {
#pragma unroll
                for (int n = 0; n < INPUTS; ++n) kept[i][n] = __ldcs((const uint4*)(from + n * other + at(ringed + i)));
            }
        }
    }
#pragma unroll
    for (int i = 0; i < KEPT; ++i) add(kept[i][0]), add(kept[i][INPUTS - 1]);
    if (passes > 1) meet(counters + blockIdx.x * teams / gridDim.x, gridDim.x / teams, blockIdx.x * teams % gridDim.x < teams);
    if (sum == 0x12345678) to[0] = 1;
    if (passes < 3) return;
#pragma unroll
    for (int i = 0; i < KEPT; ++i) {
        kept[i][0].x ^= kept[i][INPUTS - 1].x;
        __stcs((uint4*)(to + at(ringed + i)), kept[i][0]);
    }
#pragma unroll 1
    for (int k = ringed - 1; k >= 0; --k) {
        slot = slot == 0 ? STAGES - 1 : slot - 1;
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 1) : "memory");
        const uint4 x = slotted(slot);
        if (k >= STAGES) fetch(k - STAGES, slot);
        commit();
        __stcs((uint4*)(to + at(k)), x);
    }
}

// Softmax along a strided axis, without its arithmetic: a CTA copies runs of RUN bytes of all `terms` rows of `stride` bytes of an image to shared memory, then writes
// them.
template <int RUN>
__global__ void __launch_bounds__(256) columns(const char* from, char* to, int terms, int stride, int images) {
    begin();
    extern __shared__ __align__(16) char room[];
    constexpr int LANES = RUN / 16, DOWN = 256 / LANES;
    const int runs = (stride + RUN - 1) / RUN, lane = threadIdx.x % LANES * 16, row = threadIdx.x / LANES;
    for (int item = blockIdx.x; item < images * runs; item += gridDim.x) {
        const int column = item % runs * RUN + lane;
        const i64 first = (i64)(item / runs) * terms * stride + column;
        for (int t = row; t < terms && column < stride; t += DOWN) {
            const u32 place = (u32)__cvta_generic_to_shared(room + t * RUN + lane);
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(place), "l"(from + first + (i64)t * stride) : "memory");
        }
        asm volatile("cp.async.commit_group;\n cp.async.wait_group 0;" ::: "memory");
        for (int t = row; t < terms && column < stride; t += DOWN) *(uint4*)(to + first + (i64)t * stride) = *(const uint4*)(room + t * RUN + lane);
    }
}

__global__ void clear(u32* to) {
    begin();
    to[threadIdx.x] = 0;
}

static char *pool;
static const i64 POOL = (i64)6 << 30;
static cudaStream_t stream_;

// Microseconds of a launch over changing memory: `launch(from, to)` for tensors of these bytes.
static double time_of(i64 read, i64 write, const std::function<void(char*, char*)>& launch) {
    const i64 unit = (read + write + 4095) / 4096 * 4096, copies = std::max<i64>(2, std::min<i64>(POOL / unit, 300000000 / unit + 1)), times = std::max<i64>(20, copies);
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    CHECK(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal));
    for (i64 i = 0; i < times; ++i) launch(pool + i % copies * unit, pool + i % copies * unit + (read + 4095) / 4096 * 4096);
    CHECK(cudaStreamEndCapture(stream_, &graph));
    CHECK(cudaGraphInstantiate(&ready, graph, 0));
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    std::vector<float> all;
    for (int i = 0; i < 9; ++i) {
        CHECK(cudaEventRecord(begin, stream_));
        CHECK(cudaGraphLaunch(ready, stream_));
        CHECK(cudaEventRecord(end, stream_));
        CHECK(cudaEventSynchronize(end));
        float ms;
        CHECK(cudaEventElapsedTime(&ms, begin, end));
        if (i > 1) all.push_back(ms * 1000 / times);
    }
    std::sort(all.begin(), all.end());
    CHECK(cudaGraphExecDestroy(ready));
    CHECK(cudaGraphDestroy(graph));
    return all[all.size() / 2];
}

// A launch with the attribute of programmatic dependent launch (`overlaps`) or of cooperative launch.
template <class... Parameters, class... Values>
static void launch(void (*kernel)(Parameters...), int grid, int block, int shared, bool overlaps, Values... values) {
    cudaLaunchAttribute attribute;
    attribute.id = overlaps ? cudaLaunchAttributeProgrammaticStreamSerialization : cudaLaunchAttributeCooperative;
    if (overlaps) attribute.val.programmaticStreamSerializationAllowed = 1;
    else attribute.val.cooperative = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(grid), config.blockDim = dim3(block), config.dynamicSmemBytes = shared, config.stream = stream_;
    config.attrs = &attribute, config.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&config, kernel, (Parameters)values...));
}

template <int STAGES, int KEPT, int INPUTS = 1>
static double passes_of(int sms, int turns, int narrow, int teams, int passes, bool cleared = false) {
    const int shared = STAGES * 8192 * INPUTS, grid = sms / (narrow ? narrow / 128 : 1) * (narrow ? narrow / 128 : 1) / teams * teams;
    CHECK(cudaFuncSetAttribute(two_passes<STAGES, KEPT, INPUTS>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    const i64 bytes = (i64)turns * grid * 8192;
    return time_of(bytes * INPUTS, bytes, [&](char* from, char* to) {
        if (cleared) launch(clear, 1, 32, 0, true, (u32*)(pool + POOL - 4096));
        launch(two_passes<STAGES, KEPT, INPUTS>, grid, 512, shared, false, from, to, turns, narrow, teams, passes);
    });
}

template <int RUN>
static double columns_of(int sms, int terms, int stride, int images) {
    const int shared = terms * RUN, blocks = 220 * 1024 / shared;
    CHECK(cudaFuncSetAttribute(columns<RUN>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    const i64 bytes = (i64)terms * stride * images;
    return time_of(bytes, bytes, [&](char* from, char* to) { launch(columns<RUN>, sms * blocks, 256, shared, true, from, to, terms, stride, images); });
}

int main() {
    int sms;
    CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    CHECK(cudaMalloc(&pool, POOL));
    CHECK(cudaMemset(pool, 0x5a, POOL));
    CHECK(cudaStreamCreate(&stream_));
    printf("copies (the driver's copies), reads alone, writes alone, one byte read for four written, four read for one written, two read for one written (in all three times the size): us (TB/s), the best of six grids\n");
    for (double mb : {12.8, 25.7, 33.6, 41.9, 51.4, 67.1, 102.8, 134.2, 268.4, 536.9}) {
        const i64 n = (i64)(mb * 1e6) / 16;
        double best[6] = {1e9, 1e9, 1e9, 1e9, 1e9, 1e9};
        const i64 sizes[6][2] = {{n, n}, {n, 0}, {0, n}, {n / 4, n / 4 * 4}, {n, n / 4}, {2 * n, n}};
        for (int kind = 0; kind < 6; ++kind) {
            const i64 read = sizes[kind][0], write = sizes[kind][1];
            auto run = [&](auto kernel, int ahead, i64 most) {
                const int grid = (int)std::min<i64>(most, (std::max(read > 0 ? read : write, (i64)1) + 256 * ahead - 1) / (256 * ahead));
                best[kind] = std::min(best[kind], time_of(read * 16, write * 16, [&](char* from, char* to) {
                    launch(kernel, grid, 256, 0, true, (const uint4*)from, (uint4*)to, read, write);
                }));
            };
            for (i64 most : {(i64)sms * 8, (i64)1 << 30}) run(stream<2>, 2, most), run(stream<4>, 4, most), run(stream<8>, 8, most);
        }
        const double driver = time_of(n * 16, n * 16, [&](char* from, char* to) { CHECK(cudaMemcpyAsync(to, from, n * 16, cudaMemcpyDeviceToDevice, stream_)); });
        printf("%6.1f MB  copy %6.1f (%.2f; %6.1f)  read %6.1f (%.2f)  write %6.1f (%.2f)  1:4 %6.1f (%.2f)  4:1 %6.1f (%.2f)  2:1 %6.1f (%.2f)\n", mb, best[0], 2 * mb / best[0], driver, best[1],
               mb / best[1], best[2], mb / best[2], best[3], 1.25 * mb / best[3], best[4], 1.25 * mb / best[4], best[5], 3 * mb / best[5]);
    }
    const double once = time_of(4096, 4096, [&](char*, char*) { launch(barriers, sms, 512, 0, false, 1); });
    const double often = time_of(4096, 4096, [&](char*, char*) { launch(barriers, sms, 512, 0, false, 101); });
    printf("a cooperative launch with a barrier %.2f us, a further barrier %.2f us\n", once, (often - once) / 100);
    printf("clusters of 2, 4, 8 and 16 CTAs of an SM each that are resident at once:");
    for (int size : {2, 4, 8, 16}) {
        cudaLaunchAttribute attribute;
        attribute.id = cudaLaunchAttributeClusterDimension;
        attribute.val.clusterDim.x = size, attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
        cudaLaunchConfig_t config = {};
        config.gridDim = dim3(sms / size * size), config.blockDim = dim3(512), config.dynamicSmemBytes = 27 * 8192, config.attrs = &attribute, config.numAttrs = 1;
        CHECK(cudaFuncSetAttribute(two_passes<27, 0, 1>, cudaFuncAttributeMaxDynamicSharedMemorySize, 27 * 8192));
        if (size > 8) CHECK(cudaFuncSetAttribute(two_passes<27, 0, 1>, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
        int count = 0;
        CHECK(cudaOccupancyMaxActiveClusters(&count, (const void*)two_passes<27, 0, 1>, &config));
        printf(" %d", count);
    }
    printf("\ntwo passes, MB: reads; and the barrier; all; all after a launch that clears; with 12 more vectors a thread in registers; runs of 128 bytes in rows of 512: all, in registers\n");
    for (int turns : {12, 24, 39, 48, 95, 190}) {
        printf("%6.1f MB  %6.1f %6.1f %6.1f %6.1f  %6.1f  %6.1f %6.1f\n", turns * sms * 8192e-6, passes_of<27, 0>(sms, turns, 0, 1, 1), passes_of<27, 0>(sms, turns, 0, 1, 2),
               passes_of<27, 0>(sms, turns, 0, 1, 3), passes_of<27, 0>(sms, turns, 0, 1, 3, true), turns > 24 ? passes_of<27, 12>(sms, turns, 0, 1, 3) : 0.0,
               passes_of<27, 0>(sms, turns, 512, 4, 3), turns > 24 ? passes_of<27, 12>(sms, turns, 512, 4, 3) : 0.0);
    }
    printf("two passes over two tensors, 13 and 6 vectors of each stay, MB of one: all; runs of 128 bytes in rows of 512\n");
    for (int turns : {24, 48, 95}) {
        printf("%6.1f MB  %6.1f %6.1f\n", turns * sms * 8192e-6, passes_of<13, 6, 2>(sms, turns, 0, 1, 3), passes_of<13, 6, 2>(sms, turns, 512, 4, 3));
    }
    printf("copies of runs of 64 and 128 bytes down columns, us\n");
    for (auto [terms, stride, images] : {std::array<int, 3>{1000, 1568, 32}, {1000, 3136, 16}, {130, 25088, 64}, {21, 1 << 20, 16}}) {
        printf("  %4d rows of %7d bytes, %2d images  %6.1f %6.1f\n", terms, stride, images, columns_of<64>(sms, terms, stride, images), columns_of<128>(sms, terms, stride, images));
    }
    CHECK(cudaDeviceSynchronize());
    return 0;
}

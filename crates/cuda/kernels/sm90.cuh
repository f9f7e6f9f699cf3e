// Hopper's instructions, one function each: mbarriers, TMA, proxy fences, setmaxnreg, named barriers, clusters, ldmatrix and stmatrix.
//
// Addresses of shared memory are 32-bit addresses of the shared state space (`shared_address`). "Barrier" in a name is an mbarrier unless it says
// "named".
#pragma once
#include "types.cuh"

// A CUtensorMap, encoded by the host and passed as a `__grid_constant__` parameter.
struct alignas(64) TensorMap {
    u64 opaque[16];
};

__device__ __forceinline__ u32 shared_address(const void *p) { return u32(__cvta_generic_to_shared(p)); }

// ---- mbarriers -----------------------------------------------------------------------------------------------------------------------

__device__ __forceinline__ void barrier_init(u32 barrier, u32 arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

// Makes initialised mbarriers visible to the other CTAs of the cluster and to the asynchronous proxy.
__device__ __forceinline__ void barrier_init_fence() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

__device__ __forceinline__ void barrier_arrive(u32 barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// Arrives at the mbarrier at the same offset in CTA `rank` of the cluster.
__device__ __forceinline__ void barrier_arrive_at(u32 barrier, u32 rank) {
    asm volatile(
        "{\n .reg .b32 remote;\n mapa.shared::cluster.u32 remote, %0, %1;\n"
        " mbarrier.arrive.shared::cluster.b64 _, [remote];\n}" ::"r"(barrier),
        "r"(rank)
        : "memory");
}

// Arrives, and adds `bytes` to the transaction count that the phase waits for.
__device__ __forceinline__ void barrier_expect(u32 barrier, u32 bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

// Waits until the phase of this parity has completed.
__device__ __forceinline__ void barrier_wait(u32 barrier, u32 parity) {
    u32 done;
    do {
        asm volatile(
            "{\n .reg .pred p;\n mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n selp.u32 %0, 1, 0, p;\n}"
            : "=r"(done)
            : "r"(barrier), "r"(parity)
            : "memory");
    } while (!done);
}

// ---- TMA -----------------------------------------------------------------------------------------------------------------------------

__device__ __forceinline__ void tma_prefetch(const TensorMap &map) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

// Tiled mode: loads the box at these coordinates, innermost first, into this CTA's shared memory; completes on `barrier`.
__device__ __forceinline__ void tma_load(u32 to, const TensorMap &map, u32 barrier, int x, int y, int z) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], [%2];" ::"r"(to), "l"(&map),
        "r"(barrier), "r"(x), "r"(y), "r"(z)
        : "memory");
}

__device__ __forceinline__ void tma_load(u32 to, const TensorMap &map, u32 barrier, int x, int y, int z, int w) {
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, %6}], [%2];" ::"r"(to),
        "l"(&map), "r"(barrier), "r"(x), "r"(y), "r"(z), "r"(w)
        : "memory");
}

// As `tma_load`, of what is read once: it is the first to leave L2.
__device__ __forceinline__ void tma_load_once(u32 to, const TensorMap &map, u32 barrier, int x, int y, int z, int w) {
    u64 policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {%3, %4, %5, %6}], [%2], %7;" ::"r"(to),
        "l"(&map), "r"(barrier), "r"(x), "r"(y), "r"(z), "r"(w), "l"(policy)
        : "memory");
}

__device__ __forceinline__ void tma_load(u32 to, const TensorMap &map, u32 barrier, int x, int y, int z, int w, int v) {
    asm volatile(
        "cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, %6, %7}], [%2];" ::"r"(to),
        "l"(&map), "r"(barrier), "r"(x), "r"(y), "r"(z), "r"(w), "r"(v)
        : "memory");
}

// Multicast: the same into every CTA of the cluster whose bit is set in `ranks`, at the same offset, completing on the same mbarrier of each.
__device__ __forceinline__ void tma_load_multicast(u32 to, const TensorMap &map, u32 barrier, u16 ranks, int x, int y, int z) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%4, %5, %6}], [%2], "
        "%3;" ::"r"(to),
        "l"(&map), "r"(barrier), "h"(ranks), "r"(x), "r"(y), "r"(z)
        : "memory");
}

// im2col mode, NHWC: loads pixels of the map's bounding box from (w, h, n) on, each displaced by the filter tap, with channels from `c` on.
__device__ __forceinline__ void tma_load_im2col(u32 to, const TensorMap &map, u32 barrier, int c, int w, int h, int n, u16 tap_w,
                                                u16 tap_h) {
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, %6}], [%2], {%7, "
        "%8};" ::"r"(to),
        "l"(&map), "r"(barrier), "r"(c), "r"(w), "r"(h), "r"(n), "h"(tap_w), "h"(tap_h)
        : "memory");
}

// im2col mode, NDHWC.
__device__ __forceinline__ void tma_load_im2col(u32 to, const TensorMap &map, u32 barrier, int c, int w, int h, int d, int n, u16 tap_w,
                                                u16 tap_h, u16 tap_d) {
    asm volatile(
        "cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, %6, %7}], [%2], {%8, "
        "%9, %10};" ::"r"(to),
        "l"(&map), "r"(barrier), "r"(c), "r"(w), "r"(h), "r"(d), "r"(n), "h"(tap_w), "h"(tap_h), "h"(tap_d)
        : "memory");
}

// Tiled mode: stores a box; elements beyond the tensor are not written.
__device__ __forceinline__ void tma_store(const TensorMap &map, u32 from, int x, int y, int z) {
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(&map), "r"(from), "r"(x), "r"(y),
                 "r"(z)
                 : "memory");
}

__device__ __forceinline__ void tma_store(const TensorMap &map, u32 from, int x, int y, int z, int w) {
    asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.bulk_group [%0, {%2, %3, %4, %5}], [%1];" ::"l"(&map), "r"(from), "r"(x),
                 "r"(y), "r"(z), "r"(w)
                 : "memory");
}

__device__ __forceinline__ void tma_store_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

// Waits until at most PENDING committed bulk groups of this thread still read shared memory.
template <int PENDING> __device__ __forceinline__ void tma_store_wait() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(PENDING) : "memory");
}

// Makes this thread's stores to shared memory visible to the asynchronous proxy (TMA, wgmma) after a barrier.
__device__ __forceinline__ void fence_async_proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// ---- warpgroups and clusters ---------------------------------------------------------------------------------------------------------

template <int COUNT> __device__ __forceinline__ void registers_raise() { asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(COUNT)); }
template <int COUNT> __device__ __forceinline__ void registers_lower() { asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(COUNT)); }

// A named barrier (1 to 15; 0 is that of __syncthreads) of `threads` threads.
__device__ __forceinline__ void named_barrier(int number, int threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}
__device__ __forceinline__ void named_barrier_arrive(int number, int threads) {
    asm volatile("bar.arrive %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

// The warpgroup of this thread, as a warp-uniform value (the shuffle tells the compiler).
__device__ __forceinline__ int warpgroup_index() { return __shfl_sync(~0u, int(threadIdx.x) / 128, 0); }

__device__ __forceinline__ u32 cluster_rank() {
    u32 r;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
    return r;
}

// Barrier of all threads of the cluster. The arrival is relaxed: it does not make earlier writes to memory visible.
__device__ __forceinline__ void cluster_arrive() { asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory"); }
__device__ __forceinline__ void cluster_wait() { asm volatile("barrier.cluster.wait.acquire;" ::: "memory"); }
__device__ __forceinline__ void cluster_meet() {
    cluster_arrive();
    cluster_wait();
}

// The shared::cluster address of the same offset in CTA `rank`.
__device__ __forceinline__ u32 cluster_address(u32 address, u32 rank) {
    u32 r;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"(address), "r"(rank));
    return r;
}

// Stores 16 bytes to another CTA's shared memory (st.async); they count as transaction bytes on `barrier`, an mbarrier of that CTA.
__device__ __forceinline__ void cluster_send4(u32 to, u32 barrier, u32 a, u32 b, u32 c, u32 d) {
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%2, %3, %4, %5}, [%1];" ::"r"(to), "r"(barrier), "r"(a), "r"(b),
                 "r"(c), "r"(d)
                 : "memory");
}

// ---- shared memory to and from fragments ---------------------------------------------------------------------------------------------

// Four 8x8 matrices of 16-bit elements; lane 8i + r has the address of row r of matrix i.
__device__ __forceinline__ void matrix_store4(u32 address, u32 a, u32 b, u32 c, u32 d) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(a), "r"(b), "r"(c), "r"(d)
                 : "memory");
}
__device__ __forceinline__ void matrix_store4_transposed(u32 address, u32 a, u32 b, u32 c, u32 d) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(a), "r"(b), "r"(c), "r"(d)
                 : "memory");
}

// Loads four 8x8 matrices transposed: in r[i] lane 4g + q gets the elements of matrix i in rows 2q and 2q + 1 and column g.
__device__ __forceinline__ void matrix_load4_transposed(u32 *r, u32 address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address)
                 : "memory");
}

__device__ __forceinline__ u32 shared_load(u32 address) {
    u32 v;
    asm volatile("ld.shared.b32 %0, [%1];" : "=r"(v) : "r"(address) : "memory");
    return v;
}
__device__ __forceinline__ uint4 shared_load16(u32 address) {
    uint4 v;
    asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(address) : "memory");
    return v;
}
__device__ __forceinline__ void shared_store(u32 address, u32 value) {
    asm volatile("st.shared.b32 [%0], %1;" ::"r"(address), "r"(value) : "memory");
}
__device__ __forceinline__ void shared_store(u32 address, u32 a, u32 b) {
    asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(address), "r"(a), "r"(b) : "memory");
}
__device__ __forceinline__ void shared_store(u32 address, u32 a, u32 b, u32 c, u32 d) {
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
}
__device__ __forceinline__ void shared_store16(u32 address, u16 value) {
    asm volatile("st.shared.b16 [%0], %1;" ::"r"(address), "h"(value) : "memory");
}

// cp.async: asynchronous copies from global to shared memory.
#pragma once

// Copies BYTES, a multiple of 4; complete after commit_fetches and wait_fetches, for this thread.
template <int BYTES>
__device__ __forceinline__ void fetch(void* to, const void* from) {
    const int piece = BYTES % 16 == 0 ? 16 : BYTES % 8 == 0 ? 8 : 4;
#pragma unroll
    for (int i = 0; i < BYTES; i += piece) {
        const unsigned address = (unsigned)__cvta_generic_to_shared((char*)to + i);
        if (piece == 16) {
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"((const char*)from + i) : "memory");
        } else {
            asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(address), "l"((const char*)from + i), "n"(piece) : "memory");
        }
    }
}

// Commits a thread's copies as a group; waits until at most COUNT groups are pending.
__device__ __forceinline__ void commit_fetches() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int COUNT>
__device__ __forceinline__ void wait_fetches() {
    asm volatile("cp.async.wait_group %0;" ::"n"(COUNT) : "memory");
}

// L2 eviction policies: normal, and evict first.
__device__ __forceinline__ unsigned long long stays_policy() {
    unsigned long long policy;
    asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}
__device__ __forceinline__ unsigned long long goes_policy() {
    unsigned long long policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}

// Copies BYTES with one of these policies; the policy is ignored if BYTES is no multiple of 16.
template <int BYTES>
__device__ __forceinline__ void fetch(void* to, const void* from, unsigned long long policy) {
    if (BYTES % 16 != 0) return fetch<BYTES>(to, from);
#pragma unroll
    for (int i = 0; i < BYTES; i += 16) {
        const unsigned address = (unsigned)__cvta_generic_to_shared((char*)to + i);
        asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(address), "l"((const char*)from + i), "l"(policy) : "memory");
    }
}

// Bulk copies (Hopper): one thread copies, of and to addresses that are multiples of 16 bytes; all threads wait at an mbarrier.
__device__ __forceinline__ void init_barrier(unsigned long long* barrier) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"((unsigned)__cvta_generic_to_shared(barrier)) : "memory");
}
__device__ __forceinline__ void fence_barriers() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ __forceinline__ void expect_bytes(unsigned long long* barrier, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"((unsigned)__cvta_generic_to_shared(barrier)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void wait_bytes(unsigned long long* barrier, unsigned parity) {
    unsigned done;
    do {
        asm volatile("{\n .reg .pred p;\n mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n selp.u32 %0, 1, 0, p;\n}"
                     : "=r"(done)
                     : "r"((unsigned)__cvta_generic_to_shared(barrier)), "r"(parity)
                     : "memory");
    } while (!done);
}
__device__ __forceinline__ void bulk_fetch(void* to, const void* from, unsigned bytes, unsigned long long* barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"((unsigned)__cvta_generic_to_shared(to)),
                 "l"(from), "r"(bytes), "r"((unsigned)__cvta_generic_to_shared(barrier))
                 : "memory");
}

// Copies from global to shared memory that run while the thread goes on.
#pragma once

// Copies BYTES, a multiple of 4, which are there when the thread has waited for what it committed.
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

// Steps of a recurrent network one after the other in one launch, whose blocks run all at once: they keep their weights, and meet between two steps.
//
// The generated header has `steps`, and what the MOVED words of arguments before it are: in the first step as they stand there, in the second `later`, and in
// every one after that `strides` more. `counters` has a zero for each row of blocks.
#pragma once

// The arguments of a step, put into shared memory by threads from `thread` on.
DEVICE void advance(Args& now, const Args& a, int step, int thread) {
    for (int i = thread; i < MOVED; i += 128) {
        const u64 later = (u64)a.later[i] + (u64)(step - 1) * (u64)a.strides[i];
        ((u64*)&now)[i] = step == 0 ? ((const u64*)&a)[i] : later;
    }
}

// All blocks of the row have written the states of this step; `now` is that of the next one. Threads meet before and after.
DEVICE void next_step(Args& now, const Args& a, int step) {
    __syncthreads();
    if (threadIdx.x >= 128) {
        advance(now, a, step + 1, threadIdx.x - 128);
    } else if (threadIdx.x == 0) {
        u32* counter = a.counters + blockIdx.y;
        const u32 wanted = (u32)(step + 1) * gridDim.x;
        u32 seen;
        asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(counter) : "memory");
        do {
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(counter) : "memory");
        } while (seen < wanted);
    }
    __syncthreads();
}

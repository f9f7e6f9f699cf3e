// Several time steps of a recurrent layer in one cooperative launch: all CTAs are co-resident, keep their weights in shared memory, and synchronise between
// steps through a counter in global memory per row of CTAs (`counters`, zeroed): a step reads the states of its samples that the step before wrote.
//
// The first MOVED words of the arguments depend on the step: in step 0 they are as passed, in step s > 0 they are later + (s - 1) * strides. `steps` is the
// number of steps.
#pragma once

// Computes the arguments of a step in shared memory, by 128 threads.
DEVICE void advance(Args& now, const Args& a, int step, int thread) {
    for (int i = thread; i < MOVED; i += 128) {
        const u64 later = (u64)a.later[i] + (u64)(step - 1) * (u64)a.strides[i];
        ((u64*)&now)[i] = step == 0 ? ((const u64*)&a)[i] : later;
    }
}

// Waits until all CTAs of the row have written the states of this step, and sets `now` to the arguments of the next one. Includes barriers of the CTA.
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

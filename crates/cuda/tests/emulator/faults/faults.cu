// Faults that the emulator must find, by number. Data has 256 words, shared memory 1,024 bytes, a CTA 256 threads.
typedef unsigned long long u64;

enum Fault { NONE, BEYOND_DATA, BEYOND_SHARED, UNALIGNED, WRONG_SPACE, READ_RACE, WARP_RACE, WRITE_RACE, LATE_RACE, DIVERGENT, NO_ARRIVAL, EARLY_READ };

extern "C" __global__ void faults(unsigned *data, int fault) {
    extern __shared__ __align__(16) unsigned memory[];
    __shared__ __align__(8) u64 barrier;
    const unsigned t = threadIdx.x, address = (unsigned)__cvta_generic_to_shared(memory), at = (unsigned)__cvta_generic_to_shared(&barrier);
    memory[t] = t;
    __syncthreads();
    unsigned value = memory[255 - t];
    if (fault != LATE_RACE) __syncthreads();
    switch (fault) {
        case BEYOND_DATA: value += data[t + 1]; break;
        case BEYOND_SHARED: value += memory[t + 1]; break;
        case UNALIGNED:
            if (t == 99) {
                const uint4 word = *(const uint4 *)(data + 97);
                *(uint4 *)(memory + 96) = word;
            }
            break;
        case WRONG_SPACE:
            if (t == 7) asm volatile("st.global.v2.b32 [%0], {%1, %2};" ::"l"(memory), "r"(t), "r"(t) : "memory");
            break;
        case READ_RACE:
            if (t == 40) memory[100] = 1;
            if (t == 70) value += memory[100];
            break;
        case WARP_RACE:
            if (t == 32) memory[0] = 1;
            __syncwarp();
            if (t == 33) value += memory[0], memory[1] = 2;
            if (t == 34) value += memory[1];
            break;
        case WRITE_RACE:
            if (t % 100 == 0) memory[5] = t;
            break;
        case LATE_RACE: memory[t] = value; break;
        case DIVERGENT:
            if (t < 128) __syncthreads();
            else __syncthreads();
            break;
        case NO_ARRIVAL:
            if (t == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at) : "memory");
            __syncthreads();
            for (unsigned done = 0; !done;)
                asm volatile("{\n .reg .pred p;\n mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n selp.u32 %0, 1, 0, p;\n}" : "=r"(done) : "r"(at), "r"(0) : "memory");
            break;
        case EARLY_READ:
            // cp.async without waiting: shared memory has the earlier words.
            asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(address + t * 4), "l"(data + t), "n"(4) : "memory");
            if (memory[t] == t) data[1 << 20] = 0;
            break;
    }
    data[t] = value;
}

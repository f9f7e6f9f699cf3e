// Short vectors of neighbouring elements of a tensor in registers, with wide loads and stores.
#pragma once

struct Args;

// N elements of type T. Callable like the tensor's generated accessor: it then returns element `lane`, so that formulas work on either.
template <class T, int N>
struct __align__(16) Vector {
    typename T::word words[N];
    int lane;

    DEVICE void load(const void* data, i64 at) { copy(words, (const typename T::word*)data + at); }
    // The same for data that is not read again soon.
    DEVICE void load_once(const void* data, i64 at) {
        const int bytes = N * (int)sizeof(typename T::word);
        if (bytes % 16 != 0) return load(data, at);
#pragma unroll
        for (int i = 0; i < bytes / 16; ++i) ((uint4*)words)[i] = __ldcs((const uint4*)((const typename T::word*)data + at) + i);
    }
    DEVICE void gather(const void* data, i64 at, i64 stride) {
#pragma unroll
        for (int i = 0; i < N; ++i) words[i] = ((const typename T::word*)data)[at + i * stride];
    }
    // One instruction per 16 bytes, in assembly because the compiler would split the store; partial writes of a sector cost L2 bandwidth.
    DEVICE void store(void* data, i64 at) const {
        const int bytes = N * (int)sizeof(typename T::word);
        typename T::word* to = (typename T::word*)data + at;
        const u32* from = (const u32*)words;
        if (bytes % 16 == 0) {
#pragma unroll
            for (int i = 0; i < bytes / 4; i += 4) {
                asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"((u32*)to + i), "r"(from[i]), "r"(from[i + 1]), "r"(from[i + 2]), "r"(from[i + 3]) : "memory");
            }
        } else if (bytes % 8 == 0) {
#pragma unroll
            for (int i = 0; i < bytes / 4; i += 2) asm volatile("st.global.v2.b32 [%0], {%1, %2};" ::"l"((u32*)to + i), "r"(from[i]), "r"(from[i + 1]) : "memory");
        } else {
            copy(to, words);
        }
    }
    // To memory of any state space; `store` writes global memory.
    DEVICE void put(void* data, i64 at) const { copy((typename T::word*)data + at, words); }
    // Streaming store (evict first): the data is not read again soon.
    DEVICE void store_once(void* data, i64 at) const {
        const int bytes = N * (int)sizeof(typename T::word);
        typename T::word* to = (typename T::word*)data + at;
        if (bytes % 16 != 0) return store(data, at);
#pragma unroll
        for (int i = 0; i < bytes / 16; ++i) __stcs((uint4*)to + i, ((const uint4*)words)[i]);
    }
    DEVICE real number(int i) const {
        // bf16 is the upper half of a float: a shift or a mask of the pair converts it.
        if (T::BITS == 16 && T::EXPONENT == 8 && N % 2 == 0) {
            const u32 pair = ((const u32*)words)[i / 2];
            return __uint_as_float(i % 2 == 0 ? pair << 16 : pair & 0xffff0000u);
        }
        return Decoded<T, N>::of(words, i);
    }
    DEVICE real operator()(const Args&, const index*) const { return number(lane); }

    static DEVICE void copy(typename T::word* to, const typename T::word* from) {
        const int bytes = N * (int)sizeof(typename T::word);
        if (bytes % 16 == 0) {
#pragma unroll
            for (int i = 0; i < bytes / 16; ++i) ((uint4*)to)[i] = ((const uint4*)from)[i];
        } else if (bytes % 8 == 0) {
#pragma unroll
            for (int i = 0; i < bytes / 8; ++i) ((uint2*)to)[i] = ((const uint2*)from)[i];
        } else if (bytes % 4 == 0) {
#pragma unroll
            for (int i = 0; i < bytes / 4; ++i) ((u32*)to)[i] = ((const u32*)from)[i];
        } else {
#pragma unroll
            for (int i = 0; i < N; ++i) to[i] = from[i];
        }
    }
};

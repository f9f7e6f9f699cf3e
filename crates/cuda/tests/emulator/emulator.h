// An emulator of the CUDA execution model: runs the engine's kernels on the host, so that every kernel can be compared with the reference, and its accesses
// to memory checked, on a machine without a GPU.
//
//   compile.py     makes C++ of a kernel's source: PTX in `asm` becomes calls of functions (ptx.h), variables in `__shared__` places in the emulated shared
//                  memory. g++ compiles it with the instrumentation of ThreadSanitizer, whose calls are answered here instead (memory.cpp), so that every
//                  access of a kernel is seen.
//   cuda.h, ptx.h  what a kernel is compiled with: CUDA's types and functions, and a function for each PTX instruction in use. An instruction that has none
//                  does not compile; the message names it.
//   threads.cpp    threads, CTAs, clusters, grids, and how they wait: barriers of warps, CTAs and clusters, named barriers, exchanges of lanes.
//   memory.cpp     allocations, shared memory and its shadow: the checks below.
//   copies.cpp     cp.async, bulk copies, mbarriers, and TMA in tiled and im2col mode with swizzles.
//   matrices.cpp   ldmatrix, stmatrix, mma.sync and wgmma of all types in use.
//
// Execution. A thread is a fiber with a stack of its own; one runs until it waits, then the next. The CTAs of a cluster run together, those of a cooperative
// launch as well, others one after the other. Asynchronous copies happen as late as they may: those of cp.async when their thread waits for them, those of TMA
// when all threads wait. A missing wait therefore shows.
//
// What fails, with the kernel, the CTA and the thread: accesses outside of allocations and of the shared memory that a launch asked for; addresses that are no
// multiple of the access's size; stores of `st.global` to shared memory; two threads that access the same byte of shared memory, one of them writing, without a
// barrier between; `__syncthreads` at different places; threads that wait for each other. Memory that nothing wrote has bytes of 0xFF, NaN or -1: a kernel may read
// it and ignore what it gets, otherwise its results are wrong.
//
// Limits. x86-64 only. Any barrier of a CTA, mbarrier or operation on flags orders all accesses of the CTA that precede it, so some races stay unseen in kernels
// that divide their warps. Races in global memory are not looked for. Proxy fences, programmatic dependent launch and register counts are ignored.
#pragma once
#include "matrices.h"
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

typedef unsigned char u8;
typedef unsigned short u16;
typedef uint32_t u32;
typedef uint64_t u64;

// Shared memory of a CTA: an address is the offset in it; in the upper byte is 0 for the thread's own CTA, otherwise the rank in the cluster + 1.
enum : u32 { kArena = 1 << 18, kOffset = kArena - 1, kRankShift = 24 };
enum : u32 { kMaxThreads = 1024, kStack = 128 << 10 };

struct Dim {
    u32 x, y, z;
};

// Threads that wait until so many have arrived.
struct Barrier {
    u32 arrived = 0, generation = 0;
};

struct WarpBarrier : Barrier {
    u32 mask = 0;
};

struct Warp {
    u32 exited = 0;
    u32 epoch = 0;                       // of the race detector
    std::vector<WarpBarrier> barriers;   // one for each mask in use
    u32 slots[32][8];                    // what lanes give each other
};

struct Warpgroup {
    Barrier barrier;
    emulator::Wgmma *args[128];
};

struct Cta {
    Dim block;
    u32 rank, slot, alive;
    u8 *shared;
    Barrier barrier;
    int site;                            // of the __syncthreads that threads wait at
    Barrier named[16];
    std::vector<Warp> warps;
    std::vector<Warpgroup> groups;
};

// Copies of cp.async, or of bulk stores, of a thread: those of committed groups, oldest first, then what is not committed.
struct Groups {
    std::vector<std::function<void()>> copies;
    std::vector<size_t> ends;            // of the committed groups
    void commit() { ends.push_back(copies.size()); }
    void wait(size_t pending);
};

struct Thread {
    void *stack;                         // the stack pointer while it does not run
    u32 index;
    Cta *cta;
    bool done;
    const u32 *generation;               // what it waits for to differ from `seen`; null if it does not
    u32 seen;
    const char *where;                   // what it waits at
    Groups fetches, stores;
};

// The running launch.
struct Machine {
    const char *kernel;
    Dim grid;
    u32 threads, dynamic, statics, cluster;
    std::vector<Cta> ctas;
    std::vector<Thread> all;
    Thread *now;
    Barrier cluster_barrier;
    bool progress;
    u32 alive, epoch;
    std::vector<std::function<void()>> pending;   // copies of TMA
    char failure[400];
};
extern Machine machine;

// threads.cpp
[[noreturn]] void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
void yield();
// Waits until the barrier's generation changes, or completes it as the last of `expected`.
bool meet(Barrier &barrier, u32 expected, const char *where);
void meet_warp(u32 mask);
// Synchronisation that orders all accesses of all CTAs that run.
void order();

// memory.cpp
void prepare_shared(Cta &cta);
// ATOMIC: by mbarriers and asynchronous copies, of which no two threads' accesses conflict.
enum Access { READ, WRITE, ATOMIC };
// The bytes of a shared address, after the checks of an access of `n` bytes by this thread that is aligned to `align`.
u8 *shared_at(u32 address, u32 n, u32 align, Access access);
// Checks an access to global memory.
void check_global(const void *address, size_t n, u32 align, Access access);
bool is_shared(const void *address);

#define API extern "C" __attribute__((visibility("default")))

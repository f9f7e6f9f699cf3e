// Threads as fibers, and how they wait for each other (emulator.h).
#include "driver.h"
#include "emulator.h"
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <sys/mman.h>

Machine machine;

static void *scheduler;   // the stack pointer of the scheduler while a thread runs
static void (*entry)(void **);
static void **parameters;

extern "C" void emulator_switch(void **from, void *to);
asm(R"(
.text
.type emulator_switch, @function
emulator_switch:
    push %rbp
    push %rbx
    push %r12
    push %r13
    push %r14
    push %r15
    mov %rsp, (%rdi)
    mov %rsi, %rsp
    pop %r15
    pop %r14
    pop %r13
    pop %r12
    pop %rbx
    pop %rbp
    ret
)");

void yield() { emulator_switch(&machine.now->stack, scheduler); }

void fail(const char *format, ...) {
    if (!machine.failure[0]) {
        char what[300];
        va_list args;
        va_start(args, format);
        vsnprintf(what, sizeof what, format, args);
        va_end(args);
        const Thread &t = *machine.now;
        const Dim &b = t.cta->block;
        snprintf(machine.failure, sizeof machine.failure, "%s, CTA (%u, %u, %u), thread %u: %s", machine.kernel, b.x, b.y, b.z, t.index, what);
    }
    for (;;) yield();
}

void order() { ++machine.epoch; }

static void open(Barrier &barrier) {
    barrier.arrived = 0;
    ++barrier.generation;
    machine.progress = true;
}

static void wait(const Barrier &barrier, const char *where) {
    Thread &t = *machine.now;
    t.generation = &barrier.generation;
    t.seen = barrier.generation;
    t.where = where;
    yield();
    t.generation = nullptr;
}

bool meet(Barrier &barrier, u32 expected, const char *where) {
    machine.progress = true;
    if (++barrier.arrived >= expected) {
        open(barrier);
        return true;
    }
    wait(barrier, where);
    return false;
}

static u32 lanes(const Cta &cta, u32 warp) {
    u32 n = machine.threads - warp * 32;
    return (n >= 32 ? ~0u : (1u << n) - 1) & ~cta.warps[warp].exited;
}

void meet_warp(u32 mask) {
    Thread &t = *machine.now;
    u32 number = t.index / 32;
    Warp &warp = t.cta->warps[number];
    if (!(mask >> t.index % 32 & 1)) fail("a warp's operation with a mask that lacks the lane");
    size_t i = 0;
    while (i < warp.barriers.size() && warp.barriers[i].mask != mask) ++i;
    if (i == warp.barriers.size()) {
        warp.barriers.reserve(64);   // threads keep addresses
        if (i == 64) fail("more than 64 masks in a warp");
        warp.barriers.emplace_back();
        warp.barriers[i].mask = mask;
    }
    if (meet(warp.barriers[i], __builtin_popcount(mask & lanes(*t.cta, number)), "an operation of a warp")) ++warp.epoch;
}

static void leave() {
    Thread &t = *machine.now;
    Cta &cta = *t.cta;
    t.stores.commit();
    t.stores.wait(0);
    Warp &warp = cta.warps[t.index / 32];
    t.done = true;
    warp.exited |= 1u << t.index % 32;
    --cta.alive, --machine.alive;
    machine.progress = true;
    if (cta.alive && cta.barrier.arrived && cta.barrier.arrived >= cta.alive) open(cta.barrier), order();
    if (machine.alive && machine.cluster_barrier.arrived && machine.cluster_barrier.arrived >= machine.alive) open(machine.cluster_barrier), order();
    for (auto &b : warp.barriers) {
        if (b.arrived && b.arrived >= u32(__builtin_popcount(b.mask & lanes(cta, t.index / 32)))) open(b), ++warp.epoch;
    }
}

extern "C" __attribute__((noinline)) void emulator_start() {
    entry(parameters);
    leave();
    for (;;) yield();
}

static u8 *stacks;
static size_t stacks_bytes;

API bool emulator_is_stack(const void *p) { return size_t(static_cast<const u8 *>(p) - stacks) < stacks_bytes; }

static void prepare_threads() {
    size_t count = machine.ctas.size() * machine.threads;
    if (stacks_bytes < count * kStack) {
        if (stacks) munmap(stacks, stacks_bytes);
        stacks_bytes = count * kStack;
        stacks = static_cast<u8 *>(mmap(nullptr, stacks_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    }
    if (machine.all.size() < count) machine.all.resize(count);
    for (size_t i = 0; i < count; ++i) {
        void **top = reinterpret_cast<void **>(stacks + (i + 1) * kStack) - 3;
        *--top = reinterpret_cast<void *>(&emulator_start);
        for (int r = 0; r < 6; ++r) *--top = nullptr;
        Thread &t = machine.all[i];
        t.stack = top, t.index = u32(i % machine.threads), t.cta = &machine.ctas[i / machine.threads];
        t.done = false, t.generation = nullptr, t.where = "";
        t.fetches.copies.clear(), t.fetches.ends.clear(), t.stores.copies.clear(), t.stores.ends.clear();
    }
    machine.alive = u32(count);
}

static void report_deadlock(size_t count) {
    for (size_t i = 0; i < count; ++i) {
        Thread &t = machine.all[i];
        if (t.done) continue;
        const Dim &b = t.cta->block;
        snprintf(machine.failure, sizeof machine.failure, "%s, CTA (%u, %u, %u): threads wait for each other, thread %u at %s", machine.kernel, b.x, b.y, b.z, t.index, t.where);
        return;
    }
}

// Runs the CTAs that are prepared.
static void run() {
    prepare_threads();
    const size_t count = machine.ctas.size() * machine.threads;
    // Rounds in which nothing happened; threads that wait for memory to change look at it in each.
    for (int idle = 0; machine.alive && !machine.failure[0]; ++idle) {
        machine.progress = false;
        for (size_t i = 0; i < count && !machine.failure[0]; ++i) {
            Thread &t = machine.all[i];
            if (t.done || (t.generation && *t.generation == t.seen)) continue;
            machine.now = &t;
            emulator_switch(&scheduler, t.stack);
        }
        if (machine.progress) idle = -1;
        if (idle < 2) continue;
        if (machine.pending.empty()) return report_deadlock(count);
        idle = -1;
        auto copies = std::move(machine.pending);
        machine.pending.clear();
        for (auto &copy : copies) copy();
    }
}

static void prepare_ctas(u64 first, u32 count) {
    machine.ctas.resize(count);
    ++machine.epoch;
    for (u32 i = 0; i < count; ++i) {
        Cta &cta = machine.ctas[i];
        u64 at = first + i;
        cta.block = Dim{u32(at % machine.grid.x), u32(at / machine.grid.x % machine.grid.y), u32(at / machine.grid.x / machine.grid.y)};
        cta.rank = i % machine.cluster, cta.slot = i, cta.alive = machine.threads;
        cta.barrier = {};
        for (Barrier &b : cta.named) b = {};
        cta.warps.resize((machine.threads + 31) / 32);
        for (Warp &warp : cta.warps) warp.exited = 0, warp.barriers.clear();
        cta.groups.assign((machine.threads + 127) / 128, Warpgroup{});
        prepare_shared(cta);
    }
    machine.cluster_barrier = Barrier{};
}

// Returns what failed, or null.
API const char *emulator_launch(const launch *given) {
    entry = given->entry, parameters = given->parameters;
    machine.kernel = given->kernel;
    machine.grid = Dim{given->grid[0], given->grid[1], given->grid[2]};
    machine.threads = given->threads, machine.dynamic = given->dynamic, machine.statics = given->statics, machine.cluster = given->cluster;
    machine.failure[0] = 0;
    machine.pending.clear();
    const u64 total = u64(given->grid[0]) * given->grid[1] * given->grid[2];
    const u32 together = given->cooperative ? u32(total) : given->cluster;
    for (u64 first = 0; first < total && !machine.failure[0]; first += together) {
        prepare_ctas(first, together);
        run();
    }
    return machine.failure[0] ? machine.failure : nullptr;
}

// What kernels call.

API Dim emulator_thread() { return Dim{machine.now->index, 0, 0}; }
API Dim emulator_block() { return machine.now->cta->block; }
API Dim emulator_threads() { return Dim{machine.threads, 1, 1}; }
API Dim emulator_grid() { return machine.grid; }
API u32 emulator_rank() { return machine.now->cta->rank; }
API void emulator_fail(const char *what) { fail("%s", what); }

API void emulator_sync(int site) {
    Cta &cta = *machine.now->cta;
    if (cta.barrier.arrived == 0) cta.site = site;
    if (cta.site != site) fail("a __syncthreads that other threads do not reach");
    if (meet(cta.barrier, cta.alive, "__syncthreads")) order();
}
API void emulator_sync_warp(u32 mask) { meet_warp(mask); }

API void emulator_named(u32 number, u32 threads, bool waits) {
    if (number == 0 || number > 15 || threads % 32) fail("named barrier %u of %u threads", number, threads);
    Barrier &b = machine.now->cta->named[number];
    machine.progress = true;
    if (b.arrived + 1 >= threads) {
        open(b);
        order();
    } else {
        ++b.arrived;
        if (waits) wait(b, "a named barrier");
    }
}

// The barrier of a cluster: arrival, and waiting for the phase that this thread arrived at.
API void emulator_cluster_arrive() {
    Thread &t = *machine.now;
    Barrier &b = machine.cluster_barrier;
    t.seen = b.generation;
    machine.progress = true;
    if (++b.arrived >= machine.alive) open(b), order();
}
API void emulator_cluster_wait() {
    Thread &t = *machine.now;
    if (machine.cluster_barrier.generation != t.seen) return;
    t.generation = &machine.cluster_barrier.generation;
    t.where = "the barrier of the cluster";
    yield();
    t.generation = nullptr;
}

// Gives `n` bytes to the other lanes and takes those of lane `from`.
API void emulator_exchange(u32 mask, void *value, u32 n, u32 from) {
    Thread &t = *machine.now;
    Warp &warp = t.cta->warps[t.index / 32];
    memcpy(warp.slots[t.index % 32], value, n);
    meet_warp(mask);
    u32 there = lanes(*t.cta, t.index / 32) & mask;
    u8 taken[32];
    memcpy(taken, warp.slots[there >> from & 1 ? from : t.index % 32], n);
    meet_warp(mask);
    memcpy(value, taken, n);
}

// Lets other threads run, for loops that wait for memory to change; `changed` if this thread changed some.
API void emulator_poll(bool changed) {
    order();
    machine.progress |= changed;
    if (!changed) machine.now->where = "a flag in memory", yield();
}

// Memory of the device, shared memory, and the checks of accesses (emulator.h).
#include "emulator.h"
#include <cstdlib>
#include <cstring>
#include <map>
#include <sys/mman.h>

// ---- global memory: allocations of the driver, and what kernels read from the host: their parameters, constants and stacks ------------------

static std::map<uintptr_t, uintptr_t> allocations;   // the end of each by its begin
static uintptr_t last_begin, last_end;

API void emulator_allocated(const void *at, size_t n) { allocations[uintptr_t(at)] = uintptr_t(at) + n; }
API void emulator_freed(const void *at) {
    allocations.erase(uintptr_t(at));
    last_begin = last_end = 0;
}
extern "C" bool emulator_is_stack(const void *p);

static bool is_allocated(uintptr_t at, size_t n) {
    if (at >= last_begin && at + n <= last_end) return true;
    auto next = allocations.upper_bound(at);
    if (next == allocations.begin()) return false;
    auto found = std::prev(next);
    if (at + n > found->second) return false;
    last_begin = found->first, last_end = found->second;
    return true;
}

void check_global(const void *p, size_t n, u32 align, Access access) {
    const char *what = access == READ ? "a read" : "a write";
    if (is_shared(p)) fail("%s of global memory at an address of shared memory", what);
    if (uintptr_t(p) % align) fail("%s of %zu bytes at an address that is no multiple of %u", what, n, align);
    if (!is_allocated(uintptr_t(p), n)) fail("%s of %zu bytes at %p, outside of all allocations", what, n, p);
}

// ---- shared memory --------------------------------------------------------------------------------------------------------------------------

// What the race detector knows of a byte: who wrote it last, who read it since, and when, in the counts of orders of the machine and of the warp.
struct Shadow {
    u32 written, written_warp, read, read_warp;
    u16 writer, reader;
    u8 readers;   // 0: one thread, 1: several of a warp, 2: of several warps
};

static u8 *arenas;
static Shadow *shadows;
static u32 slots;

static u32 dynamic_begin() { return 1024; }
// With some bytes between that belong to neither.
static u32 statics_begin() { return (dynamic_begin() + machine.dynamic + 255) & ~127u; }

void prepare_shared(Cta &cta) {
    if (slots < machine.ctas.size()) {
        if (arenas) munmap(arenas, size_t(slots) * kArena), munmap(shadows, size_t(slots) * kArena * sizeof(Shadow));
        slots = u32(machine.ctas.size());
        auto map = [](size_t n) { return mmap(nullptr, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0); };
        arenas = static_cast<u8 *>(map(size_t(slots) * kArena));
        shadows = static_cast<Shadow *>(map(size_t(slots) * kArena * sizeof(Shadow)));
        for (u32 i = 0; i < cta.slot; ++i) machine.ctas[i].shared = arenas + size_t(i) * kArena;
    }
    cta.shared = arenas + size_t(cta.slot) * kArena;
    // NaN in all floating-point types.
    memset(cta.shared, 0xff, statics_begin() + machine.statics);
}

bool is_shared(const void *p) { return size_t(static_cast<const u8 *>(p) - arenas) < size_t(slots) * kArena; }

API void *emulator_dynamic() { return machine.now->cta->shared + dynamic_begin(); }
API void *emulator_static(u32 at) { return machine.now->cta->shared + statics_begin() + at; }

static bool is_ours(u32 offset, u32 n) {
    u32 at = offset - dynamic_begin();
    if (at < machine.dynamic) return at + n <= machine.dynamic;
    at = offset - statics_begin();
    return at < machine.statics && at + n <= machine.statics;
}

// Notes an access of a thread to a byte, after the checks.
static void note(Shadow &s, const Thread &t, u32 warp_epoch, Access access, u32 offset) {
    const u32 warp = t.index / 32;
    if (s.written == machine.epoch && s.writer != t.index && (s.writer / 32 != warp || s.written_warp == warp_epoch))
        fail("byte %u of shared memory is %s, and written by thread %u, without a barrier between", offset, access == READ ? "read" : "written", s.writer);
    if (access == READ) {
        const bool others = s.read == machine.epoch && s.reader != t.index;
        if (s.read != machine.epoch || (s.reader / 32 == warp && s.read_warp != warp_epoch && s.readers < 2)) s.readers = 0;
        else if (others) s.readers = s.readers == 2 || s.reader / 32 != warp ? 2 : 1;
        s.read = machine.epoch, s.reader = u16(t.index), s.read_warp = warp_epoch;
        return;
    }
    if (s.read == machine.epoch && (s.readers == 2 || (s.reader / 32 != warp) || (s.read_warp == warp_epoch && (s.readers == 1 || s.reader != t.index))))
        fail("byte %u of shared memory is written, and read by thread %u, without a barrier between", offset, s.reader);
    s.written = machine.epoch, s.writer = u16(t.index), s.written_warp = warp_epoch;
}

static void check_shared(u32 slot, u32 offset, u32 n, u32 align, Access access) {
    const Thread &t = *machine.now;
    if (offset % align) fail("%s of %u bytes of shared memory at %u, no multiple of %u", access == READ ? "a read" : "a write", n, offset, align);
    if (!is_ours(offset, n)) fail("%s of %u bytes at %u, outside of %u bytes of shared memory", access == READ ? "a read" : "a write", n, offset, machine.dynamic + machine.statics);
    // Barriers of the cluster and mbarriers order accesses to other CTAs.
    if (slot != t.cta->slot || access == ATOMIC) return;
    Shadow *s = shadows + size_t(slot) * kArena + offset;
    const u32 epoch = t.cta->warps[t.index / 32].epoch;
    for (u32 i = 0; i < n; ++i) note(s[i], t, epoch, access, offset + i);
}

u8 *shared_at(u32 address, u32 n, u32 align, Access access) {
    const Cta &own = *machine.now->cta;
    u32 rank = address >> kRankShift, slot = rank ? own.slot - own.rank + rank - 1 : own.slot;
    if (rank > machine.cluster || (address & ((1u << kRankShift) - 1)) >= kArena) fail("%x is no address of shared memory", address);
    u32 offset = address & kOffset;
    check_shared(slot, offset, n, align, access);
    return arenas + size_t(slot) * kArena + offset;
}

// The generic address as one of shared memory.
API u32 emulator_shared_address(const void *p) {
    if (!is_shared(p)) fail("%p is no address of shared memory", p);
    size_t at = size_t(static_cast<const u8 *>(p) - arenas);
    u32 slot = u32(at / kArena);
    const Cta &own = *machine.now->cta;
    return u32(at % kArena) | (slot == own.slot ? 0 : (machine.ctas[slot].rank + 1) << kRankShift);
}
API void *emulator_generic_address(u32 address) { return machine.now->cta->shared + (address & kOffset); }
// The same place of another CTA of the cluster.
API const void *emulator_map_generic(const void *p, u32 rank) {
    const Cta &own = *machine.now->cta;
    if (rank >= machine.cluster) fail("CTA %u of a cluster of %u", rank, machine.cluster);
    return static_cast<const u8 *>(p) + (ptrdiff_t(rank) - ptrdiff_t(own.rank)) * ptrdiff_t(kArena);
}

API u8 *emulator_shared(u32 address, u32 n, bool write) { return shared_at(address, n, n, write ? WRITE : READ); }
API void emulator_global(const void *p, u32 n, bool write) { check_global(p, n, n, write ? WRITE : READ); }

// ---- accesses of the kernel's C++, which g++ announces ----------------------------------------------------------------------------------------

static void access(const void *p, size_t n, u32 align, Access kind) {
    if (is_shared(p)) {
        size_t at = size_t(static_cast<const u8 *>(p) - arenas);
        return check_shared(u32(at / kArena), u32(at % kArena), u32(n), align, kind);
    }
    if (!emulator_is_stack(p)) check_global(p, n, align, kind);
}

#define ACCESS(n) \
    API void __tsan_read##n(void *p) { access(p, n, n, READ); } \
    API void __tsan_write##n(void *p) { access(p, n, n, WRITE); } \
    API void __tsan_volatile_read##n(void *p) { access(p, n, n, READ); } \
    API void __tsan_volatile_write##n(void *p) { access(p, n, n, WRITE); } \
    API void __tsan_unaligned_read##n(void *p) { access(p, n, 1, READ); } \
    API void __tsan_unaligned_write##n(void *p) { access(p, n, 1, WRITE); }
ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)
API void __tsan_read_range(void *p, size_t n) { access(p, n, 1, READ); }
API void __tsan_write_range(void *p, size_t n) { access(p, n, 1, WRITE); }
API void __tsan_init() {}
API void __tsan_func_entry(void *) {}
API void __tsan_func_exit() {}

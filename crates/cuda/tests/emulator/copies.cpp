// Asynchronous copies: cp.async, mbarriers, bulk copies, TMA (emulator.h).
#include "emulator.h"
#include "driver.h"
#include <cstring>
#include <memory>

static_assert(sizeof(tensor_map) == 128);

// ---- groups of copies of a thread -------------------------------------------------------------------------------------------------------------

void Groups::wait(size_t pending) {
    if (ends.size() <= pending) return;
    const size_t groups = ends.size() - pending, count = ends[groups - 1];
    for (size_t i = 0; i < count; ++i) copies[i]();
    copies.erase(copies.begin(), copies.begin() + ptrdiff_t(count));
    ends.erase(ends.begin(), ends.begin() + ptrdiff_t(groups));
    for (size_t &end : ends) end -= count;
}

API void emulator_fetch(u32 to, const void *from, u32 bytes, u32 valid) {
    if (valid) check_global(from, valid, 1, READ);
    if (uintptr_t(from) % bytes) fail("cp.async of %u bytes from an address that is no multiple of it", bytes);
    machine.now->fetches.copies.push_back([=] {
        u8 *at = shared_at(to, bytes, bytes, WRITE);
        memset(at, 0, bytes);
        memcpy(at, from, valid);
    });
}
API void emulator_fetch_commit() { machine.now->fetches.commit(); }
API void emulator_fetch_wait(u32 pending) { machine.now->fetches.wait(pending); }
API void emulator_store_commit() { machine.now->stores.commit(); }
API void emulator_store_wait(u32 pending) { machine.now->stores.wait(pending); }

// ---- mbarriers --------------------------------------------------------------------------------------------------------------------------------

// A phase completes when nothing is pending: arrivals and bytes.
struct Mbarrier {
    u16 arrivals, pending;
    int32_t bytes : 31;
    u32 phase : 1;
};
static_assert(sizeof(Mbarrier) == 8);

static Mbarrier &mbarrier_at(u32 address) { return *reinterpret_cast<Mbarrier *>(shared_at(address, 8, 8, ATOMIC)); }

static void complete(Mbarrier &b) {
    machine.progress = true;
    if (b.pending || b.bytes) return;
    b.pending = b.arrivals;
    b.phase ^= 1;
    order();
}

API void emulator_mbarrier_init(u32 address, u32 arrivals) {
    Mbarrier &b = mbarrier_at(address);
    b.arrivals = b.pending = u16(arrivals), b.bytes = 0, b.phase = 0;
}

API void emulator_mbarrier_arrive(u32 address, u32 bytes) {
    Mbarrier &b = mbarrier_at(address);
    if (b.pending == 0) fail("more arrivals at an mbarrier than it counts");
    --b.pending, b.bytes += int(bytes);
    complete(b);
}

API bool emulator_mbarrier_test(u32 address, u32 parity) {
    if (mbarrier_at(address).phase != (parity & 1)) {
        order();
        return true;
    }
    machine.now->where = "an mbarrier";
    yield();
    return false;
}

// ---- copies that complete on an mbarrier ------------------------------------------------------------------------------------------------------

// Bytes on their way to shared memory: `write` puts them there.
static void send(u8 *barrier, u32 bytes, std::function<void()> write) {
    machine.progress = true;
    machine.pending.push_back([=] {
        write();
        Mbarrier &b = *reinterpret_cast<Mbarrier *>(barrier);
        b.bytes -= int(bytes);
        complete(b);
    });
}

API void emulator_bulk_fetch(u32 to, const void *from, u32 bytes, u32 barrier) {
    if (bytes % 16) fail("a bulk copy of %u bytes", bytes);
    check_global(from, bytes, 16, READ);
    u8 *there = shared_at(to, bytes, 16, ATOMIC);
    send(shared_at(barrier, 8, 8, ATOMIC), bytes, [=] { memcpy(there, from, bytes); });
}

API void emulator_send(u32 to, u32 barrier, const u32 *words, u32 count) {
    u32 bytes = count * 4;
    u8 *there = shared_at(to, bytes, bytes, ATOMIC);
    std::vector<u32> kept(words, words + count);
    send(shared_at(barrier, 8, 8, ATOMIC), bytes, [=] { memcpy(there, kept.data(), bytes); });
}

// ---- TMA --------------------------------------------------------------------------------------------------------------------------------------

static const u32 kBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
static u32 element(const tensor_map &m) { return kBytes[m.kind]; }
static u32 row_bytes(const tensor_map &m) { return (m.im2col ? m.channels : m.box[0]) * element(m); }
static u32 rows_of(const tensor_map &m) {
    u32 rows = 1;
    for (u32 d = 1; d < m.rank; ++d) rows *= m.box[d];
    return m.im2col ? m.pixels : rows;
}

// A byte's place by the swizzle: its unit of 16 bytes is permuted by the address's next bits.
u32 swizzled(u32 at, u32 mode) { return mode ? at ^ (at >> 7 & ((1u << mode) - 1)) << 4 : at; }

// The coordinates of the rows of a copy, in the order of shared memory.
struct Rows {
    const tensor_map &m;
    int first[5] = {}, at[5] = {}, offset[3] = {};

    Rows(const tensor_map &map, const int *coordinates, const u16 *taps) : m(map) {
        for (u32 d = 0; d < 5; ++d) first[d] = at[d] = d < m.rank ? coordinates[d] : 0;
        for (u32 d = 0; d < 3; ++d) offset[d] = taps ? taps[d] : 0;
    }
    void next() {
        for (u32 d = 1; d < m.rank; ++d) {
            if (!m.im2col) {
                if (++at[d] < first[d] + int(m.box[d])) return;
                at[d] = first[d];
                continue;
            }
            at[d] += m.steps[d];
            if (d == m.rank - 1u || at[d] <= int(m.last[d]) + m.upper[d - 1]) return;
            at[d] = m.lower[d - 1];
        }
    }
    // The row in global memory, null if it is outside of the tensor.
    u8 *global() const {
        u64 address = m.address;
        for (u32 d = 1; d < m.rank; ++d) {
            int64_t x = at[d] + (m.im2col && d < m.rank - 1u ? offset[d - 1] : 0);
            if (x < 0 || x > int64_t(m.last[d])) return nullptr;
            address += u64(x) * m.strides[d - 1];
        }
        return reinterpret_cast<u8 *>(address);
    }
};

static void check_map(const tensor_map &m) {
    if (m.rank < 3 || m.rank > 5 || m.kind > 12) fail("TMA without a descriptor");
    u64 last = m.address + (u64(m.last[0]) + 1) * element(m);
    for (u32 d = 1; d < m.rank; ++d) last += u64(m.last[d]) * m.strides[d - 1];
    check_global(reinterpret_cast<void *>(m.address), last - m.address, 16, READ);
}

static float to_tf32(u32 bits) {
    bits = (bits & 0x7f800000) == 0x7f800000 ? bits : (bits + 0x1000) & ~0x1fffu;
    float f;
    memcpy(&f, &bits, 4);
    return f;
}

// Elements [x, x + n) of a row, zeros where the tensor has none.
static void read_row(u8 *to, const u8 *row, const tensor_map &m, int x) {
    const u32 size = element(m), bytes = row_bytes(m);
    memset(to, 0, bytes);
    if (!row) return;
    int64_t begin = x < 0 ? 0 : x, end = std::min<int64_t>(int64_t(x) + bytes / size, int64_t(m.last[0]) + 1);
    if (begin >= end) return;
    u8 *there = to + (begin - x) * size;
    memcpy(there, row + begin * size, size_t(end - begin) * size);
    for (int64_t i = 0; m.kind >= 11 && i < end - begin; ++i) {
        u32 bits;
        memcpy(&bits, there + i * 4, 4);
        float f = to_tf32(bits);
        memcpy(there + i * 4, &f, 4);
    }
}

API void emulator_tma_load(u32 to, const void *map, u32 barrier, const int *coordinates, const u16 *taps, u32 multicast) {
    auto m = std::make_shared<tensor_map>();
    memcpy(m.get(), map, sizeof *m);
    check_map(*m);
    if (bool(m->im2col) != bool(taps)) fail("TMA in another mode than the descriptor's");
    if (coordinates[0] * int64_t(element(*m)) % 16) fail("TMA from a place in a row that is no multiple of 16 bytes");   // an illegal instruction on an H200
    const u32 bytes = row_bytes(*m), rows = rows_of(*m), offset = to & kOffset;
    for (u32 rank = 0; rank < machine.cluster; ++rank) {
        if (multicast && !(multicast >> rank & 1)) continue;
        if (!multicast && rank) break;
        u32 upper = multicast ? (rank + 1) << kRankShift : 0;
        u8 *there = shared_at(upper | to, bytes * rows, 128, ATOMIC) - offset;
        Rows row(*m, coordinates, taps);
        send(shared_at(upper | barrier, 8, 8, ATOMIC), bytes * rows, [=]() mutable {
            std::vector<u8> line(bytes);
            Rows r(*m, row.first, nullptr);
            memcpy(r.offset, row.offset, sizeof r.offset);
            for (u32 i = 0; i < rows; ++i, r.next()) {
                read_row(line.data(), r.global(), *m, r.first[0]);
                for (u32 b = 0; b < bytes; b += 16) memcpy(there + swizzled(offset + i * bytes + b, m->swizzle), line.data() + b, 16);
            }
        });
    }
}

API void emulator_tma_store(const void *map, u32 from, const int *coordinates) {
    tensor_map m;
    memcpy(&m, map, sizeof m);
    check_map(m);
    const u32 bytes = row_bytes(m), rows = rows_of(m), offset = from & kOffset, size = element(m);
    u8 *there = shared_at(from, bytes * rows, 128, ATOMIC) - offset;
    std::vector<int> at(coordinates, coordinates + m.rank);
    machine.now->stores.copies.push_back([=] {
        std::vector<u8> line(bytes);
        Rows r(m, at.data(), nullptr);
        for (u32 i = 0; i < rows; ++i, r.next()) {
            u8 *row = r.global();
            if (!row) continue;
            for (u32 b = 0; b < bytes; b += 16) memcpy(line.data() + b, there + swizzled(offset + i * bytes + b, m.swizzle), 16);
            int64_t begin = at[0] < 0 ? 0 : at[0], end = std::min<int64_t>(int64_t(at[0]) + bytes / size, int64_t(m.last[0]) + 1);
            if (begin < end) memcpy(row + begin * size, line.data() + (begin - at[0]) * size, size_t(end - begin) * size);
        }
    });
}

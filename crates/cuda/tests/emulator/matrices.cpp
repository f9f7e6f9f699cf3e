// Matrices in the registers of a warp or warpgroup: ldmatrix, stmatrix, mma.sync, wgmma (emulator.h). Layouts of fragments are those of the PTX ISA.
#include "emulator.h"
#include "matrices.h"
#include <cstring>

using emulator::Number, emulator::Wgmma;
using enum emulator::Number;

u32 swizzled(u32 at, u32 mode);

// ---- numbers ----------------------------------------------------------------------------------------------------------------------------------

static float of_bits(u32 bits) {
    float f;
    memcpy(&f, &bits, 4);
    return f;
}
static float of_f16(u16 code) {
    _Float16 h;
    memcpy(&h, &code, 2);
    return float(h);
}
// A float of 8 bits, whose upper half of an f16 it is with 2 bits of mantissa.
static float of_f8(u8 code, Number type) {
    if (type == E5M2) return of_f16(u16(code << 8));
    u32 magnitude = code & 127;
    if (magnitude == 127) return of_bits(0x7fc00000);
    float value = magnitude >> 3 ? of_bits(((magnitude >> 3) + 120) << 23 | (magnitude & 7) << 20) : float(magnitude) / 512;
    return code & 128 ? -value : value;
}

u32 bytes_of(Number type) { return type == TF32 ? 4 : type == BF16 || type == F16 ? 2 : 1; }

static float decode(const u8 *at, Number type) {
    u32 word;
    u16 half;
    switch (type) {
        case TF32: memcpy(&word, at, 4); return of_bits(word & ~0x1fffu);
        case BF16: memcpy(&half, at, 2); return of_bits(u32(half) << 16);
        case F16: memcpy(&half, at, 2); return of_f16(half);
        case S8: return float(int8_t(*at));
        case U8: return float(*at);
        default: return of_f8(*at, type);
    }
}
API float emulator_f8(u32 code, int type) { return of_f8(u8(code), Number(type)); }

// ---- ldmatrix, stmatrix -----------------------------------------------------------------------------------------------------------------------

// What the lanes of a warp give each other: the rows of matrices, checked.
static Warp &give_row(u32 address, Access access) {
    Thread &t = *machine.now;
    Warp &warp = t.cta->warps[t.index / 32];
    const u8 *row = shared_at(address, 16, 16, access);
    memcpy(warp.slots[t.index % 32], &row, sizeof row);
    meet_warp(~0u);
    return warp;
}

// Element `j` of two that this lane has of matrix `m`: 2q + j of row g, or transposed g of row 2q + j.
static u8 *element(const Warp &warp, u32 m, u32 j, bool transposed) {
    const u32 lane = machine.now->index % 32, row = transposed ? lane % 4 * 2 + j : lane / 4, column = transposed ? lane / 4 : lane % 4 * 2 + j;
    u8 *at;
    memcpy(&at, warp.slots[m * 8 + row], sizeof at);
    return at + column * 2;
}

API void emulator_ldmatrix(u32 *r, u32 address, bool transposed) {
    const Warp &warp = give_row(address, READ);
    for (u32 m = 0; m < 4; ++m)
        for (u32 j = 0; j < 2; ++j) memcpy(reinterpret_cast<u8 *>(r + m) + j * 2, element(warp, m, j, transposed), 2);
    meet_warp(~0u);
}

API void emulator_stmatrix(u32 address, const u32 *r, bool transposed) {
    const Warp &warp = give_row(address, WRITE);
    for (u32 m = 0; m < 4; ++m)
        for (u32 j = 0; j < 2; ++j) memcpy(element(warp, m, j, transposed), reinterpret_cast<const u8 *>(r + m) + j * 2, 2);
    meet_warp(~0u);
}

// ---- mma.sync ---------------------------------------------------------------------------------------------------------------------------------

// A lane's operands.
struct Mma {
    void **d;
    const u32 *a, *b;
};

// D += A B of 16 by 8. In all types a register holds 4 bytes of K: register `p` of a fragment those from 16p + 4q on.
static void multiply_fragments(const Mma *const *args, u32 parts, Number type_a, Number type_b, bool integer) {
    const u32 size = bytes_of(type_a), k = parts * 16 / size;
    float a[16][32], b[8][32];
    for (u32 i = 0; i < k; ++i) {
        const u32 byte = i * size, part = byte / 16, q = byte % 16 / 4;
        for (u32 row = 0; row < 16; ++row) a[row][i] = decode(reinterpret_cast<const u8 *>(&args[row % 8 * 4 + q]->a[row / 8 + part * 2]) + byte % 4, type_a);
        for (u32 column = 0; column < 8; ++column) b[column][i] = decode(reinterpret_cast<const u8 *>(&args[column * 4 + q]->b[part]) + byte % 4, type_b);
    }
    for (u32 row = 0; row < 16; ++row) {
        for (u32 column = 0; column < 8; ++column) {
            float sum = 0;
            for (u32 i = 0; i < k; ++i) sum += a[row][i] * b[column][i];
            void *d = args[row % 8 * 4 + column / 2]->d[row / 8 * 2 + column % 2];
            if (integer) *static_cast<int *>(d) += int(sum);
            else *static_cast<float *>(d) += sum;
        }
    }
}

API void emulator_mma(void **d, const u32 *a, const u32 *b, u32 parts, int type_a, int type_b, bool integer) {
    Thread &t = *machine.now;
    Warp &warp = t.cta->warps[t.index / 32];
    Mma own{d, a, b};
    const Mma *at = &own, *args[32];
    memcpy(warp.slots[t.index % 32], &at, sizeof at);
    meet_warp(~0u);
    // The last lane multiplies, while the others' operands are on their stacks.
    if (t.index % 32 == 31) {
        for (u32 i = 0; i < 32; ++i) memcpy(args + i, warp.slots[i], sizeof at);
        multiply_fragments(args, parts, Number(type_a), Number(type_b), integer);
    }
    meet_warp(~0u);
}

// ---- wgmma ------------------------------------------------------------------------------------------------------------------------------------

// An operand in shared memory by its descriptor: 32 bytes of K of each line (row of A, column of B).
static void read_operand(std::vector<float> &to, u64 descriptor, u32 lines, Number type, bool mn_major) {
    const u32 size = bytes_of(type), k = 32 / size, start = u32(descriptor & 0x3fff) << 4, leading = u32(descriptor >> 16 & 0x3fff) << 4;
    const u32 stride = u32(descriptor >> 32 & 0x3fff) << 4, layout = u32(descriptor >> 62), mode = layout ? 4 - layout : 0, line_bytes = 16u << mode;
    if (mn_major && size != 2) fail("wgmma of an operand that is not contiguous along K and has no 16 bits");
    const u8 *base = machine.now->cta->shared;
    for (u32 line = 0; line < lines; ++line) {
        for (u32 i = 0; i < k; ++i) {
            const u32 byte = i * size;
            u32 at = start;
            if (mn_major) at += line * size / line_bytes * leading + i / 8 * stride + i % 8 * line_bytes + line * size % line_bytes;
            else at += line / 8 * stride + line % 8 * line_bytes + (mode ? byte : byte / 16 * leading + byte % 16);
            at = swizzled(at, mode);
            if (at + size > kArena) fail("wgmma beyond shared memory");
            to[i * lines + line] = decode(base + at, type);
        }
    }
}

// The fragment of A in registers, as that of mma.sync; a warp has 16 rows.
static void gather_operand(std::vector<float> &to, Wgmma *const *args, Number type) {
    const u32 size = bytes_of(type), k = 32 / size;
    for (u32 line = 0; line < 64; ++line) {
        for (u32 i = 0; i < k; ++i) {
            const u32 byte = i * size, row = line % 16;
            const Wgmma &of = *args[line / 16 * 32 + row % 8 * 4 + byte % 16 / 4];
            to[i * 64 + line] = decode(reinterpret_cast<const u8 *>(&of.a[row / 8 + byte / 16 * 2]) + byte % 4, type);
        }
    }
}

static void multiply(Wgmma *const *args) {
    const Wgmma &one = *args[0];
    const u32 k = 32 / bytes_of(one.type_a);
    static std::vector<float> a, b;
    a.assign(64 * k, 0), b.assign(one.n * k, 0);
    if (one.registers) gather_operand(a, args, one.type_a);
    else read_operand(a, one.descriptor_a, 64, one.type_a, one.mn_a);
    read_operand(b, one.descriptor_b, one.n, one.type_b, one.mn_b);
    for (u32 row = 0; row < 64; ++row) {
        float sums[256] = {};
        for (u32 i = 0; i < k; ++i)
            for (u32 column = 0; column < one.n; ++column) sums[column] += a[i * 64 + row] * b[i * one.n + column];
        for (u32 column = 0; column < one.n; ++column) {
            void *d = args[row / 16 * 32 + row % 8 * 4 + column % 8 / 2]->d[column / 8 * 4 + row % 16 / 8 * 2 + column % 2];
            if (one.integer) *static_cast<int *>(d) = (one.add ? *static_cast<int *>(d) : 0) + int(sums[column]);
            else *static_cast<float *>(d) = (one.add ? *static_cast<float *>(d) : 0.0f) + sums[column];
        }
    }
}

API void emulator_wgmma(Wgmma *args) {
    Thread &t = *machine.now;
    Warpgroup &group = t.cta->groups[t.index / 128];
    group.args[t.index % 128] = args;
    // The last one multiplies; the others' operands are on their stacks meanwhile.
    if (group.barrier.arrived == 127) multiply(group.args);
    meet(group.barrier, 128, "wgmma");
}
// Waiting for wgmma is waiting for the warpgroup.
API void emulator_wgmma_wait() {
    Thread &t = *machine.now;
    meet(t.cta->groups[t.index / 128].barrier, 128, "wgmma.wait_group");
}

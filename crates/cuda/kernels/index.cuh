// Positions: an index of elements split by sizes that are arguments.
#pragma once

// A size with what a division by it needs: the quotient of an i below 2^31 is (high half of i * magic + i) >> shift.
struct Size {
    i64 n;
    u32 magic, shift;
};

// Replaces `i` by its quotient by the size and gives the remainder.
DEVICE int split(const Size& size, int& i) {
    const int q = (int)((__umulhi((u32)i, size.magic) + (u32)i) >> size.shift), rest = i - q * (int)size.n;
    i = q;
    return rest;
}
DEVICE i64 split(const Size& size, i64& i) {
    const i64 q = i / size.n, rest = i - q * size.n;
    i = q;
    return rest;
}

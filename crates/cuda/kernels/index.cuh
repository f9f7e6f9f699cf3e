// Index arithmetic: division by sizes that are kernel arguments, by multiplication.
#pragma once

// A divisor with its magic number (after Granlund and Montgomery, 1994): for 0 <= i < 2^31, i / n = (__umulhi(i, magic) + i) >> shift.
struct Size {
    i64 n;
    u32 magic, shift;
};

// Divides `i` by the size in place and returns the remainder.
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

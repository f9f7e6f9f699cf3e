// Pooling windows: along a spatial dimension, output o sees the inputs o * stride - padding + k * dilation for k < kernel size.
#pragma once

// Sets `p` to the input under kernel element k (row-major) of the window of `out`; false if that is padding.
DEVICE bool tap(const Args& a, const index* out, index k, index* p) {
    bool inside = true;
    p[0] = out[0], p[1] = out[1];
#pragma unroll
    for (int d = SPATIAL - 1; d >= 0; --d) {
        const index r = d > 0 ? split(a.kernel[d], k) : k;
        p[2 + d] = out[2 + d] * (index)a.stride[d] - (index)a.padding[d] + r * (index)a.dilation[d];
        inside = inside && p[2 + d] >= 0 && p[2 + d] < (index)a.input[d];
    }
    return inside;
}

// Sets `out` to the output whose window has input `p` under kernel element k; false if there is none.
DEVICE bool window(const Args& a, const index* p, index k, index* out) {
    bool inside = true;
    out[0] = p[0], out[1] = p[1];
#pragma unroll
    for (int d = SPATIAL - 1; d >= 0; --d) {
        const index r = d > 0 ? split(a.kernel[d], k) : k;
        index scaled = p[2 + d] + (index)a.padding[d] - r * (index)a.dilation[d];
        inside = inside && scaled >= 0;
        if (scaled < 0) scaled = 0;
        inside = split(a.step[d], scaled) == 0 && inside && scaled < (index)a.output[d];
        out[2 + d] = scaled;
    }
    return inside;
}

// A thread computes a tile of TALL results along LINE (the last but one spatial dimension, if there are several) by WIDE along LAST; with DILATED one result.
// ACROSS neighbours along LAST are loaded together.
#define LINE (SPATIAL > 1 ? SPATIAL - 2 : 0)
#define LAST (SPATIAL - 1)
#ifdef DILATED
#define DISTANCE(d) ((index)a.dilation[d])
#else
#define DISTANCE(d) ((index)1)
#endif

// The kernel elements [begin, end) of the window of `size` elements that starts at input `start` are inputs; the others are padding.
struct Inside {
    index begin, end;
};
DEVICE Inside inside_of(const Args& a, int d, index start, index size) {
    const index distance = DISTANCE(d), before = start < 0 ? -start : 0, room = max((index)a.input[d] - start, (index)0);
    if (distance == 1) return {before, min(size, room)};
    return {(before + distance - 1) / distance, min(size, (room + distance - 1) / distance)};
}

// The kernel element for each window (or input) of a tile; negative if there is none.
template <int TALL, int WIDE>
struct Elements {
    index line[TALL], own[TALL * WIDE];
    DEVICE void across(int i, index r) {
#pragma unroll
        for (int j = 0; j < TALL; ++j) own[j * WIDE + i] = line[j] + r;
    }
};
#define NOWHERE (-(1 << 29))

// Forward: calls `f(q, k, is)` for the inputs q of the windows of the tile at `out`, in order. k[j] is the kernel element of window j that q is under, negative
// if q is not in window j; without `is` the call is beyond the last input. For small 2D windows ROWS x COLUMNS with strides DOWN and STEP are defined: loops are
// then unrolled and k is a compile-time constant, so that all loads of a tile can be in flight.
#ifdef DOWN
template <int TALL, int WIDE, class F>
DEVICE void each_tap(const Args& a, const index* out, const F& f) {
    index q[RANK];
    q[0] = out[0], q[1] = out[1];
    const index top = out[2] * DOWN - (index)a.padding[0], left = out[3] * STEP - (index)a.padding[1];
#pragma unroll
    for (int row = 0; row < ROWS + (TALL - 1) * DOWN; ++row) {
        q[2] = top + row;
        const bool inside = q[2] >= 0 && q[2] < (index)a.input[0];
#pragma unroll
        for (int column = 0; column < COLUMNS + (WIDE - 1) * STEP; ++column) {
            q[3] = left + column;
            index k[TALL * WIDE];
#pragma unroll
            for (int j = 0; j < TALL * WIDE; ++j) {
                const int r = row - j / WIDE * DOWN, c = column - j % WIDE * STEP;
                k[j] = r >= 0 && r < ROWS && c >= 0 && c < COLUMNS ? r * COLUMNS + c : NOWHERE;
            }
            f(q, k, inside && q[3] >= 0 && q[3] < (index)a.input[1]);
        }
    }
}

// The first kernel element of the window of `out` that is not padding.
DEVICE index first_tap(const Args& a, const index* out) {
    return max((index)a.padding[0] - out[2] * DOWN, (index)0) * COLUMNS + max((index)a.padding[1] - out[3] * STEP, (index)0);
}
#else
template <int TALL, int WIDE, class F>
DEVICE void each_tap(const Args& a, const index* out, const F& f) {
    index q[RANK], start[SPATIAL];
    q[0] = out[0], q[1] = out[1];
#pragma unroll
    for (int d = 0; d < SPATIAL; ++d) start[d] = out[2 + d] * (index)a.stride[d] - (index)a.padding[d];
    const bool flat = LINE == LAST;
    const index size = (index)a.kernel[LINE].n, width = flat ? 1 : (index)a.kernel[LAST].n, down = (index)a.stride[LINE], step = (index)a.stride[LAST];
    const Inside rows = inside_of(a, LINE, start[LINE], size + (TALL - 1) * down);
    const Inside columns = flat ? Inside{0, 1} : inside_of(a, LAST, start[LAST], width + (WIDE - 1) * step);
    const Inside planes = SPATIAL > 2 ? inside_of(a, 0, start[0], (index)a.kernel[0].n) : Inside{0, 1};
    for (index plane = planes.begin; plane < planes.end; ++plane) {
        if (SPATIAL > 2) q[2] = start[0] + plane * DISTANCE(0);
        for (index row = rows.begin; row < rows.end; ++row) {
            Elements<TALL, WIDE> k;
            bool any = false;
#pragma unroll
            for (int j = 0; j < TALL; ++j) {
                const index own = row - j * down;
                const bool in = TALL == 1 || own >= 0 && own < size;
                k.line[j] = in ? (plane * size + own) * width : NOWHERE;
                any = any || in;
            }
            if (!any) continue;
            q[2 + LINE] = start[LINE] + row * DISTANCE(LINE);
            for (index from = columns.begin; from < columns.end; from += ACROSS) {
#pragma unroll
                for (int i = 0; i < (flat ? 1 : ACROSS); ++i) {
                    const index r = from + i;
                    if (!flat) q[2 + LAST] = start[LAST] + r * DISTANCE(LAST);
#pragma unroll
                    for (int x = 0; x < WIDE; ++x) {
                        const index own = r - x * step;
                        k.across(x, WIDE == 1 || own >= 0 && own < width ? own : NOWHERE);
                    }
                    f(q, k.own, r < columns.end);
                }
            }
        }
    }
}
#endif

// The outputs whose windows contain one of the `count` inputs from `at` (counted with the padding) on.
struct Outputs {
    index last, first;
};
DEVICE Outputs outputs_of(const Args& a, int d, index at, index count) {
    const index reach = at - ((index)a.kernel[d].n - 1) * DISTANCE(d);
    index last = at + count - 1, first = reach > 0 ? reach + (index)a.stride[d] - 1 : 0;
    split(a.step[d], last);
    split(a.step[d], first);
    return {min(last, (index)a.output[d] - 1), first};
}

// The kernel element that input `at` (counted with the padding) is under in the window of output o; negative if it is outside of the window.
DEVICE index element_under(const Args& a, int d, index at, index o) {
    const index distance = DISTANCE(d);
    index r = at - o * (index)a.stride[d];
    if (distance != 1) {
        if (r % distance != 0) return -1;
        r /= distance;
    }
    return r >= 0 && r < (index)a.kernel[d].n ? r : -1;
}

// Backward: calls `f(q, k, is)` for the outputs q whose windows contain an input of the tile at `p`, in the order of kernel elements. k[j] is the kernel element
// that input j is under, negative if it is not in the window; without `is` the call is beyond the first output.
template <int TALL, int WIDE, class F>
DEVICE void each_of_any_window(const Args& a, const index* p, const F& f) {
    index q[RANK], at[SPATIAL];
    q[0] = p[0], q[1] = p[1];
#pragma unroll
    for (int d = 0; d < SPATIAL; ++d) at[d] = p[2 + d] + (index)a.padding[d];
    const bool flat = LINE == LAST;
    const index size = (index)a.kernel[LINE].n, width = flat ? 1 : (index)a.kernel[LAST].n;
    const Outputs rows = outputs_of(a, LINE, at[LINE], TALL), columns = flat ? Outputs{0, 0} : outputs_of(a, LAST, at[LAST], WIDE);
    const Outputs planes = SPATIAL > 2 ? outputs_of(a, 0, at[0], 1) : Outputs{0, 0};
    for (index z = planes.last; z >= planes.first; --z) {
        const index plane = SPATIAL > 2 ? element_under(a, 0, at[0], z) : 0;
        if (plane < 0) continue;
        if (SPATIAL > 2) q[2] = z;
        for (index y = rows.last; y >= rows.first; --y) {
            Elements<TALL, WIDE> k;
#pragma unroll
            for (int j = 0; j < TALL; ++j) {
                const index own = element_under(a, LINE, at[LINE] + j, y);
                k.line[j] = own >= 0 ? (plane * size + own) * width : NOWHERE;
            }
            q[2 + LINE] = y;
            for (index from = columns.last; from >= columns.first; from -= ACROSS) {
#pragma unroll
                for (int i = 0; i < (flat ? 1 : ACROSS); ++i) {
                    const index x = from - i;
                    if (!flat) q[2 + LAST] = x;
#pragma unroll
                    for (int j = 0; j < WIDE; ++j) {
                        const index r = flat ? 0 : element_under(a, LAST, at[LAST] + j, x);
                        k.across(j, r >= 0 ? r : NOWHERE);
                    }
                    f(q, k.own, x >= columns.first);
                }
            }
        }
    }
}

#ifdef DOWN
// The same for 2D windows of known size, and tiles whose sizes are multiples of the strides: a tile begins EDGE_DOWN and EDGE_STEP inputs behind the beginning of
// a window.
template <int TALL, int WIDE, class F>
DEVICE void each_known_window(const Args& a, const index* p, const F& f) {
    index q[RANK];
    q[0] = p[0], q[1] = p[1];
    const index y = (p[2] + (index)a.padding[0] - EDGE_DOWN) / DOWN, x = (p[3] + (index)a.padding[1] - EDGE_STEP) / STEP;
#pragma unroll
    for (int row = (EDGE_DOWN + TALL - 1) / DOWN; row >= -((ROWS - 1 - EDGE_DOWN) / DOWN); --row) {
        q[2] = y + row;
        const bool inside = q[2] >= 0 && q[2] < (index)a.output[0];
#pragma unroll
        for (int column = (EDGE_STEP + WIDE - 1) / STEP; column >= -((COLUMNS - 1 - EDGE_STEP) / STEP); --column) {
            q[3] = x + column;
            index k[TALL * WIDE];
#pragma unroll
            for (int j = 0; j < TALL * WIDE; ++j) {
                const int r = EDGE_DOWN + j / WIDE - row * DOWN, c = EDGE_STEP + j % WIDE - column * STEP;
                k[j] = r >= 0 && r < ROWS && c >= 0 && c < COLUMNS ? r * COLUMNS + c : NOWHERE;
            }
            f(q, k, inside && q[3] >= 0 && q[3] < (index)a.output[1]);
        }
    }
}
#endif

template <int TALL, int WIDE, class F>
DEVICE void each_window(const Args& a, const index* p, const F& f) {
#ifdef DOWN
    if constexpr (TALL % DOWN == 0 && WIDE % STEP == 0) return each_known_window<TALL, WIDE>(a, p, f);
#endif
    each_of_any_window<TALL, WIDE>(a, p, f);
}

// The divisor of average pooling at `out`.
DEVICE real divisor(const Args& a, const index* out) {
#ifdef INCLUDE_PADDING
    return (real)a.taps;
#else
    index count = 1;
#pragma unroll
    for (int d = 0; d < SPATIAL; ++d) {
        const Inside own = inside_of(a, d, out[2 + d] * (index)a.stride[d] - (index)a.padding[d], (index)a.kernel[d].n);
        count *= max(own.end - own.begin, (index)0);
    }
    return (real)max(count, (index)1);
#endif
}

// Whether the workspace says that the maximum of channel i is at element k; bytes are compared four at a time.
template <class T, int COUNT>
DEVICE bool was_kept(const Vector<T, COUNT>& kept, int i, index k) {
    if (T::BITS != 8 || COUNT % 4 != 0) return kept.words[i] == (typename T::word)k;
    const u32 apart = ((const u32*)kept.words)[i / 4] ^ (u32)k * 0x01010101u;
    return (apart & 0xffu << i % 4 * 8) == 0;
}

// What no maximum is smaller than: NaN, which is ignored, or the lowest integer.
template <class T, int COUNT>
DEVICE Vector<T, COUNT> nothing() {
    Vector<T, COUNT> x;
#pragma unroll
    for (int i = 0; i < COUNT; ++i) x.words[i] = T::encode(T::FLOATING ? (real)__uint_as_float(0x7fc00000u) : (real)-4e9f);
    return x;
}

// The maximum per channel; NaN is ignored (the initial value is NaN, and fmax returns the other operand).
template <class T, int COUNT>
struct Largest {
    real best[COUNT];
    DEVICE Largest() {
#pragma unroll
        for (int i = 0; i < COUNT; ++i) best[i] = __uint_as_float(0x7fc00000u);
    }
    DEVICE void take(const Vector<T, COUNT>& x) {
#pragma unroll
        for (int i = 0; i < COUNT; ++i) best[i] = fmax(best[i], x.number(i));
    }
    DEVICE real number(int i) const { return best[i]; }
};

// The maximum per channel and the kernel element that it was first found under; NaN is never chosen. Without any number the element is `first`.
template <class T, int COUNT>
struct Chosen {
    real best[COUNT];
    index at[COUNT];
    DEVICE Chosen(index first) {
        const auto none = nothing<T, COUNT>();
#pragma unroll
        for (int i = 0; i < COUNT; ++i) best[i] = none.number(i), at[i] = first;
    }
    DEVICE void take(const Vector<T, COUNT>& x, index k) {
#pragma unroll
        for (int i = 0; i < COUNT; ++i) {
            const real y = x.number(i);
            if (!(y <= best[i]) && y == y) best[i] = y, at[i] = k;
        }
    }
    DEVICE real number(int i) const { return best[i]; }
    DEVICE index element(int i) const { return at[i]; }
};

// The same for 16-bit types, two at a time, by masks.
template <class T, int COUNT>
struct ChosenPairs {
    Vector<T, COUNT> best;
    u32 at[COUNT / 2];
    DEVICE ChosenPairs(index first) {
#pragma unroll
        for (int i = 0; i < COUNT; ++i) best.words[i] = 0x7fff;
#pragma unroll
        for (int i = 0; i < COUNT / 2; ++i) at[i] = (u32)first * 0x10001u;
    }
    DEVICE void take(const Vector<T, COUNT>& x, index k) {
        u32* to = (u32*)best.words;
        const u32* from = (const u32*)x.words;
#pragma unroll
        for (int i = 0; i < COUNT / 2; ++i) {
            u32 larger, number;
            if (T::EXPONENT == 8) {
                asm("set.gtu.u32.bf16x2 %0, %1, %2;" : "=r"(larger) : "r"(from[i]), "r"(to[i]));
                asm("set.eq.u32.bf16x2 %0, %1, %1;" : "=r"(number) : "r"(from[i]));
            } else {
                asm("set.gtu.u32.f16x2 %0, %1, %2;" : "=r"(larger) : "r"(from[i]), "r"(to[i]));
                asm("set.eq.u32.f16x2 %0, %1, %1;" : "=r"(number) : "r"(from[i]));
            }
            const u32 mask = larger & number;
            to[i] = mask & from[i] | ~mask & to[i];
            at[i] = mask & (u32)k * 0x10001u | ~mask & at[i];
        }
    }
    DEVICE real number(int i) const { return best.number(i); }
    DEVICE index element(int i) const { return at[i / 2] >> i % 2 * 16 & 0xffff; }
};
template <int COUNT> struct Chosen<Bf16, COUNT> : ChosenPairs<Bf16, COUNT> { using ChosenPairs<Bf16, COUNT>::ChosenPairs; };
template <int COUNT> struct Chosen<F16, COUNT> : ChosenPairs<F16, COUNT> { using ChosenPairs<F16, COUNT>::ChosenPairs; };

// The maximum for 16-bit types, two at a time.
template <class T, int COUNT>
struct LargestPairs {
    Vector<T, COUNT> best;
    DEVICE LargestPairs() {
#pragma unroll
        for (int i = 0; i < COUNT; ++i) best.words[i] = 0x7fff;
    }
    DEVICE void take(const Vector<T, COUNT>& x) {
        u32* to = (u32*)best.words;
        const u32* from = (const u32*)x.words;
#pragma unroll
        for (int i = 0; i < COUNT / 2; ++i) {
            if (T::EXPONENT == 8) {
                asm("max.bf16x2 %0, %0, %1;" : "+r"(to[i]) : "r"(from[i]));
            } else {
                asm("max.f16x2 %0, %0, %1;" : "+r"(to[i]) : "r"(from[i]));
            }
        }
    }
    DEVICE real number(int i) const { return best.number(i); }
};
template <int COUNT> struct Largest<Bf16, COUNT> : LargestPairs<Bf16, COUNT> {};
template <int COUNT> struct Largest<F16, COUNT> : LargestPairs<F16, COUNT> {};
template <> struct Chosen<Bf16, 1> : Chosen<F32, 1> {
    using Chosen<F32, 1>::Chosen;
    DEVICE void take(const Vector<Bf16, 1>& x, index k) { Chosen<F32, 1>::take(Vector<F32, 1>{{__float_as_uint(x.number(0))}}, k); }
};
template <> struct Chosen<F16, 1> : Chosen<F32, 1> {
    using Chosen<F32, 1>::Chosen;
    DEVICE void take(const Vector<F16, 1>& x, index k) { Chosen<F32, 1>::take(Vector<F32, 1>{{__float_as_uint(x.number(0))}}, k); }
};
template <> struct Largest<Bf16, 1> : Largest<F32, 1> {
    DEVICE void take(const Vector<Bf16, 1>& x) { best[0] = fmax(best[0], x.number(0)); }
};
template <> struct Largest<F16, 1> : Largest<F32, 1> {
    DEVICE void take(const Vector<F16, 1>& x) { best[0] = fmax(best[0], x.number(0)); }
};

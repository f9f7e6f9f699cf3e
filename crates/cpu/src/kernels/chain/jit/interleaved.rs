//! Formulas on several vectors, interleaved operation by operation. Each operation of a formula depends on the one before; the operations
//! of other vectors in between hide the latency, which the processor could not do itself if the next vector's code came several tens of
//! instructions later.

use oxidnn_expr::Num;
use oxidnn_expr::functions::Bits;
use std::array::from_fn;

/// The vectors that a formula is computed for.
#[derive(Clone, Copy)]
pub(crate) struct Interleaved<V, const N: usize>(pub(crate) [V; N]);

impl<V: Copy, const N: usize> Interleaved<V, N> {
    fn each<R>(self, f: impl Fn(V) -> R) -> Interleaved<R, N> {
        Interleaved(self.0.map(f))
    }

    fn with<O: Copy, R>(self, o: Interleaved<O, N>, f: impl Fn(V, O) -> R) -> Interleaved<R, N> {
        Interleaved(from_fn(|i| f(self.0[i], o.0[i])))
    }
}

impl<V: Bits, const N: usize> Num for Interleaved<V, N> {
    type Mask = Interleaved<V::Mask, N>;

    fn constant(v: f64) -> Self {
        Interleaved([V::constant(v); N])
    }
    fn add(self, o: Self) -> Self {
        self.with(o, V::add)
    }
    fn sub(self, o: Self) -> Self {
        self.with(o, V::sub)
    }
    fn mul(self, o: Self) -> Self {
        self.with(o, V::mul)
    }
    fn div(self, o: Self) -> Self {
        self.with(o, V::div)
    }
    fn mul_add(self, a: Self, b: Self) -> Self {
        Interleaved(from_fn(|i| self.0[i].mul_add(a.0[i], b.0[i])))
    }
    fn max(self, o: Self) -> Self {
        self.with(o, V::max)
    }
    fn min(self, o: Self) -> Self {
        self.with(o, V::min)
    }
    fn clamp(self, low: f64, high: f64) -> Self {
        self.each(|x| x.clamp(low, high))
    }
    fn abs(self) -> Self {
        self.each(V::abs)
    }
    fn sqrt(self) -> Self {
        self.each(V::sqrt)
    }
    oxidnn_expr::functions_of_bits!();
    fn powf(self, p: f64) -> Self {
        self.each(|x| x.powf(p))
    }
    fn round(self) -> Self {
        self.each(V::round)
    }
    fn lt(self, o: Self) -> Self::Mask {
        self.with(o, V::lt)
    }
    fn le(self, o: Self) -> Self::Mask {
        self.with(o, V::le)
    }
    fn eq(self, o: Self) -> Self::Mask {
        self.with(o, V::eq)
    }
    fn select(mask: Self::Mask, a: Self, b: Self) -> Self {
        Interleaved(from_fn(|i| V::select(mask.0[i], a.0[i], b.0[i])))
    }
}

impl<V: Bits, const N: usize> Bits for Interleaved<V, N> {
    type Word = Interleaved<V::Word, N>;

    fn word(v: i32) -> Self::Word {
        Interleaved([V::word(v); N])
    }
    fn bits(self) -> Self::Word {
        self.each(V::bits)
    }
    fn from_bits(w: Self::Word) -> Self {
        w.each(V::from_bits)
    }
    fn from_word(w: Self::Word) -> Self {
        w.each(V::from_word)
    }
    fn word_add(a: Self::Word, b: Self::Word) -> Self::Word {
        a.with(b, V::word_add)
    }
    fn word_sub(a: Self::Word, b: Self::Word) -> Self::Word {
        a.with(b, V::word_sub)
    }
    fn word_shl(w: Self::Word, n: u8) -> Self::Word {
        w.each(|w| V::word_shl(w, n))
    }
    fn word_sar(w: Self::Word, n: u8) -> Self::Word {
        w.each(|w| V::word_sar(w, n))
    }
}

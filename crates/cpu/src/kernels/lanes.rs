//! `Lanes`: a fixed number of `f32` that the compiler keeps in one vector register.
//!
//! Written as arrays and loops of constant length only. With `W` the register's width, LLVM turns each operation into one instruction.

/// `W` elements.
#[derive(Clone, Copy, Debug)]
pub struct Lanes<const W: usize>(pub [f32; W]);

impl<const W: usize> Lanes<W> {
    /// Zeros.
    pub const ZERO: Lanes<W> = Lanes([0.0; W]);

    /// The first `W` elements of `s`.
    ///
    /// # Panics
    /// When there are fewer.
    #[inline(always)]
    pub fn load(s: &[f32]) -> Lanes<W> {
        let mut v = [0.0; W];
        v.copy_from_slice(&s[..W]);
        Lanes(v)
    }

    /// Writes them to the front of `s`.
    ///
    /// # Panics
    /// When it is shorter.
    #[inline(always)]
    pub fn store(self, s: &mut [f32]) {
        s[..W].copy_from_slice(&self.0);
    }

    /// `self + x * b`, rounded once if `FMA`.
    #[inline(always)]
    pub fn fma<const FMA: bool>(mut self, x: f32, b: Lanes<W>) -> Lanes<W> {
        for j in 0..W {
            self.0[j] = if FMA { x.mul_add(b.0[j], self.0[j]) } else { x * b.0[j] + self.0[j] };
        }
        self
    }

    /// `self + a * b` lane by lane, rounded once if `FMA`.
    #[inline(always)]
    pub fn fma_lanes<const FMA: bool>(mut self, a: Lanes<W>, b: Lanes<W>) -> Lanes<W> {
        for j in 0..W {
            self.0[j] = if FMA { a.0[j].mul_add(b.0[j], self.0[j]) } else { a.0[j] * b.0[j] + self.0[j] };
        }
        self
    }

    /// Sum of the lanes, pairwise.
    #[inline(always)]
    pub fn sum(self) -> f32 {
        let mut v = self.0;
        let mut n = W;
        while n > 1 {
            n /= 2;
            for j in 0..n {
                v[j] += v[j + n];
            }
        }
        v[0]
    }
}

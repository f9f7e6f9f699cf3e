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
    /// If there are fewer.
    #[inline(always)]
    pub fn load(s: &[f32]) -> Lanes<W> {
        let mut v = [0.0; W];
        v.copy_from_slice(&s[..W]);
        Lanes(v)
    }

    /// Writes them to the front of `s`.
    ///
    /// # Panics
    /// If it is shorter.
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
}

/// Combines the lanes pairwise.
#[inline(always)]
fn pairwise<const W: usize>(mut lanes: [f32; W], join: impl Fn(f32, f32) -> f32) -> f32 {
    let mut n = W;
    while n > 1 {
        n /= 2;
        for j in 0..n {
            lanes[j] = join(lanes[j], lanes[j + n]);
        }
    }
    lanes[0]
}

/// Independent accumulators, to hide latency.
const ACCUMULATORS: usize = 4;

/// Folds two slices of equal lengths, element by element `total = add(total, x, y)`: in `ACCUMULATORS` vectors of `W` lanes, whose totals
/// `join` combines pairwise.
#[inline(always)]
pub fn fold<const W: usize>([x, y]: [&[f32]; 2], neutral: f32, add: impl Fn(f32, f32, f32) -> f32, join: impl Fn(f32, f32) -> f32) -> f32 {
    // Counted loops over arrays, so that the totals stay in registers.
    let mut totals = [[neutral; W]; ACCUMULATORS];
    let ((x_pieces, x_rest), (y_pieces, y_rest)) = (x.as_chunks::<W>(), y.as_chunks::<W>());
    let ((x_fours, x_pieces), (y_fours, y_pieces)) = (x_pieces.as_chunks::<ACCUMULATORS>(), y_pieces.as_chunks::<ACCUMULATORS>());
    for (x, y) in x_fours.iter().zip(y_fours) {
        for k in 0..ACCUMULATORS {
            totals[k] = std::array::from_fn(|j| add(totals[k][j], x[k][j], y[k][j]));
        }
    }
    let [a, b, c, d] = totals;
    let mut lanes: [f32; W] = std::array::from_fn(|j| join(join(a[j], b[j]), join(c[j], d[j])));
    for (x, y) in x_pieces.iter().zip(y_pieces) {
        lanes = std::array::from_fn(|j| add(lanes[j], x[j], y[j]));
    }
    let rest = x_rest.iter().zip(y_rest).fold(neutral, |total, (x, y)| add(total, *x, *y));
    join(pairwise(lanes, &join), rest)
}

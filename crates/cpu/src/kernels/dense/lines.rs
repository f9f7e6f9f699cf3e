//! Sums and maxima of slices, across and down.

/// Vectors that are folded apart, so that one need not wait for the other.
const VECTORS: usize = 4;

/// Folds `map(x, y)` over two slices of the same length in `VECTORS` vectors of `W` lanes, which are then put together pairwise.
#[inline(always)]
pub(super) fn across<const W: usize>(
    x: &[f32],
    y: &[f32],
    neutral: f32,
    map: impl Fn(f32, f32) -> f32,
    join: impl Fn(f32, f32) -> f32,
) -> f32 {
    let mut totals = [[neutral; W]; VECTORS];
    let (x_pieces, x_rest) = x.as_chunks::<W>();
    let (y_pieces, y_rest) = y.as_chunks::<W>();
    let (x_fours, x_pieces) = x_pieces.as_chunks::<VECTORS>();
    let (y_fours, y_pieces) = y_pieces.as_chunks::<VECTORS>();
    for (x, y) in x_fours.iter().zip(y_fours) {
        for k in 0..VECTORS {
            totals[k] = std::array::from_fn(|j| join(totals[k][j], map(x[k][j], y[k][j])));
        }
    }
    let [a, b, c, d] = totals;
    let mut lanes: [f32; W] = std::array::from_fn(|j| join(join(a[j], b[j]), join(c[j], d[j])));
    for (x, y) in x_pieces.iter().zip(y_pieces) {
        lanes = std::array::from_fn(|j| join(lanes[j], map(x[j], y[j])));
    }
    let rest = x_rest.iter().zip(y_rest).fold(neutral, |t, (x, y)| join(t, map(*x, *y)));
    let mut n = W;
    while n > 1 {
        n /= 2;
        for j in 0..n {
            lanes[j] = join(lanes[j], lanes[j + n]);
        }
    }
    join(lanes[0], rest)
}

/// Adds `map(x, y, table)` to `totals` for every row of two slices with rows as long as `totals`, four rows at a time.
#[inline(always)]
pub(super) fn down(totals: &mut [f32], x: &[f32], y: &[f32], table: &[f32], map: impl Fn(f32, f32, f32) -> f32) {
    let n = totals.len();
    let (table, four) = (&table[..n], x.len() / (4 * n) * 4 * n);
    for (x, y) in x[..four].chunks_exact(4 * n).zip(y[..four].chunks_exact(4 * n)) {
        let [x0, x1, x2, x3] = std::array::from_fn(|k| &x[k * n..][..n]);
        let [y0, y1, y2, y3] = std::array::from_fn(|k| &y[k * n..][..n]);
        for j in 0..n {
            let (a, b) = (map(x0[j], y0[j], table[j]), map(x1[j], y1[j], table[j]));
            let (c, d) = (map(x2[j], y2[j], table[j]), map(x3[j], y3[j], table[j]));
            totals[j] += (a + b) + (c + d);
        }
    }
    for (x, y) in x[four..].chunks_exact(n).zip(y[four..].chunks_exact(n)) {
        for j in 0..n {
            totals[j] += map(x[j], y[j], table[j]);
        }
    }
}

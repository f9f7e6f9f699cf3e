//! Sums of rows, down.

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

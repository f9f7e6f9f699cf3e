//! `products`: the sums of products that convolutions, inner products and matmuls are made of.
//!
//! Each of these is `out[m][n] = sum over k of a(m, k) * b(k, n)` for some way to number rows, columns and terms. Fetching an element costs
//! index arithmetic and a conversion, so elements are fetched into tiles and used many times from there. Every sum runs over `k` in order.

/// Rows and columns of a tile.
pub(crate) const TILE: usize = 64;
/// Terms of a tile.
const TERMS: usize = 128;
/// Scratch that [`products`] needs.
pub(crate) const SCRATCH: usize = 2 * TILE * TERMS + TILE * TILE;

/// Stands in a tile for a term that is not there; its bits are of a NaN that no arithmetic makes.
const ABSENT: u64 = 0x7ff8_5eed_ab5e_0001;

/// Calls `out(m, n, row)` with the finished sums of row `m` from column `n` on, at most [`TILE`] of them, for every `m < size[0]` and
/// `n < size[1]` in steps of [`TILE`]; sums have `size[2]` terms.
///
/// `a` answers `None` for a term that takes no part (padding): the factor opposite is then not multiplied, be it infinite. The first
/// [`SCRATCH`] elements of `scratch` are used.
pub(crate) fn products(
    size: [i64; 3],
    scratch: &mut [f64],
    mut a: impl FnMut(i64, i64) -> Option<f64>,
    mut b: impl FnMut(i64, i64) -> f64,
    mut out: impl FnMut(i64, i64, &mut [f64]),
) {
    let [rows, columns, terms] = size;
    let (left, rest) = scratch.split_at_mut(TILE * TERMS);
    let (right, sums) = rest.split_at_mut(TILE * TERMS);
    for m0 in (0..rows).step_by(TILE) {
        let height = (rows - m0).min(TILE as i64) as usize;
        for n0 in (0..columns).step_by(TILE) {
            let width = (columns - n0).min(TILE as i64) as usize;
            sums[..height * width].fill(0.0);
            for k0 in (0..terms).step_by(TERMS) {
                let depth = (terms - k0).min(TERMS as i64) as usize;
                fill(left, [height, depth], |m, k| a(m0 + m, k0 + k).unwrap_or(f64::from_bits(ABSENT)));
                fill(right, [depth, width], |k, n| b(k0 + k, n0 + n));
                accumulate(&left[..height * depth], &right[..depth * width], &mut sums[..height * width], [depth, width]);
            }
            for (m, row) in sums[..height * width].chunks_exact_mut(width).enumerate() {
                out(m0 + m as i64, n0, row);
            }
        }
    }
}

fn fill(tile: &mut [f64], [rows, columns]: [usize; 2], mut f: impl FnMut(i64, i64) -> f64) {
    for (r, row) in tile[..rows * columns].chunks_exact_mut(columns).enumerate() {
        for (c, x) in row.iter_mut().enumerate() {
            *x = f(r as i64, c as i64);
        }
    }
}

fn accumulate(left: &[f64], right: &[f64], sums: &mut [f64], [depth, width]: [usize; 2]) {
    for (terms, row) in left.chunks_exact(depth).zip(sums.chunks_exact_mut(width)) {
        for (&a, factors) in terms.iter().zip(right.chunks_exact(width)) {
            if a.to_bits() == ABSENT {
                continue;
            }
            for (sum, b) in row.iter_mut().zip(factors) {
                *sum += a * b;
            }
        }
    }
}

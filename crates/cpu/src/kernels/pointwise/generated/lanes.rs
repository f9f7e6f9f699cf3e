//! Values of several rows in one vector: lane `l` has that of row `l % n`, for 1, 2 or 4 rows.
//!
//! Totals of several rows are reduced together, with a fraction of the instructions of one row after the other. A single row is treated as
//! if it were all rows, so that its totals do not depend on the number of rows.

use super::super::fold::FoldOp;
use super::write::operation;
use oxidnn_jit::Function;
use oxidnn_jit::ir::{Binary, Val};

/// Folds all lanes of each row's vector.
pub(super) fn fold(f: &mut Function, op: FoldOp, rows: &[Val]) -> Val {
    let op = operation(op);
    let halves = |f: &mut Function, [low, high]: [Binary; 2], a: Val, b: Val| {
        let (low, high) = (f.binary(low, a, b), f.binary(high, a, b));
        f.binary(op, high, low)
    };
    const WORDS: [Binary; 2] = [Binary::InterleaveLow32, Binary::InterleaveHigh32];
    const PAIRS: [Binary; 2] = [Binary::InterleaveLow64, Binary::InterleaveHigh64];
    let total = match *rows {
        [row] => return f.across(op, row),
        [a, b] => {
            let both = halves(f, WORDS, a, b);
            halves(f, PAIRS, both, both)
        }
        [a, b, c, d] => {
            let (first, second) = (halves(f, WORDS, a, b), halves(f, WORDS, c, d));
            halves(f, PAIRS, first, second)
        }
        _ => panic!("{} rows in a vector", rows.len()),
    };
    f.across_quarters(op, total)
}

/// Combines the numbers of some rows, each in all lanes of a vector, in one vector.
pub(super) fn join(f: &mut Function, rows: &[Val]) -> Val {
    let pair = |f: &mut Function, a: Val, b: Val| f.binary(Binary::InterleaveLow32, a, b);
    match *rows {
        [row] => row,
        [a, b] => pair(f, a, b),
        [a, b, c, d] => {
            let (first, second) = (pair(f, a, b), pair(f, c, d));
            f.binary(Binary::InterleaveLow64, first, second)
        }
        _ => panic!("{} rows in a vector", rows.len()),
    }
}

/// The number of each of `n` rows, in all lanes.
pub(super) fn spread(f: &mut Function, x: Val, n: usize) -> Vec<Val> {
    let words: &[Binary] = match n {
        1 => return vec![x],
        2 => &[Binary::InterleaveLow32],
        _ => &[Binary::InterleaveLow32, Binary::InterleaveHigh32],
    };
    let pairs = |f: &mut Function, word: &Binary| {
        let each = f.binary(*word, x, x);
        [Binary::InterleaveLow64, Binary::InterleaveHigh64].map(|half| f.binary(half, each, each))
    };
    words.iter().flat_map(|word| pairs(f, word)).collect()
}

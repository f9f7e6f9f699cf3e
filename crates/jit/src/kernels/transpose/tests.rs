use super::*;
use crate::testing::{ISAS, check, golden, run};

/// Transposes `rows` by `columns` numbers, going along the rows where `along`, and looks at every number around them as well.
fn compare(isa: Isa, rows: usize, columns: usize, along: bool) {
    let lanes = isa.width().lanes();
    let (across, down) = (columns + 5, rows + 3);
    let from: Vec<u32> = (0..rows * across).map(|i| i as u32).collect();
    let mut to = vec![u32::MAX; columns * down];
    let (full, steps) = match along {
        true if rows == lanes => (columns / lanes, [4, across * 4, 4 * down, 4]),
        false if columns == lanes => (rows / lanes, [4, across * 4, 4 * down, 4]),
        _ => (0, [4, across * 4, 4 * down, 4]),
    };
    let all = if along { columns } else { rows }.div_ceil(lanes);
    let args = Args {
        from: from.as_ptr().cast(),
        from_row: steps[1],
        from_square: lanes * if along { steps[0] } else { steps[1] },
        to: to.as_mut_ptr().cast(),
        to_row: steps[2],
        to_square: lanes * if along { steps[2] } else { steps[3] },
        from_ahead: lanes * 4,
        to_ahead: 0,
        full,
        partial: all - full,
        rows: if along { rows } else { rows - full * lanes },
        fewer_rows: if along { 0 } else { lanes },
        columns: if along { columns - full * lanes } else { columns },
        fewer_columns: if along { lanes } else { 0 },
    };
    if !run(Transpose.function(isa), &args) {
        return;
    }
    for (i, got) in to.iter().enumerate() {
        let (c, r) = (i / down, i % down);
        let want = if r < rows { from[r * across + c] } else { u32::MAX };
        assert_eq!(*got, want, "row {r} column {c} of {rows}x{columns} {}", isa.name());
    }
}

#[test]
fn squares_and_parts_of_squares() {
    for isa in ISAS {
        let lanes = isa.width().lanes();
        for n in [1, 3, lanes - 1, lanes] {
            for m in [1, lanes, lanes + 5, 3 * lanes, 300] {
                compare(isa, n, m, true);
                compare(isa, m, n, false);
            }
        }
    }
}

#[test]
fn golden_listings() {
    for isa in [Isa::AVX512, Isa::AVX2] {
        let compiled = Transpose.function(isa).finish_recording().unwrap();
        check(&compiled.code, isa);
        golden(&Transpose.name(isa), &compiled);
        assert_eq!(compiled.inner_spills, 0);
    }
}

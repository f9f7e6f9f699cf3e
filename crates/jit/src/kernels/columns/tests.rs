use super::*;
use crate::testing::{ISAS, golden, run};

const ACTS: [ColumnOp; 9] = [
    ColumnOp::Sum,
    ColumnOp::Moments,
    ColumnOp::Products { masked: false },
    ColumnOp::Products { masked: true },
    ColumnOp::Scale(Bound::None),
    ColumnOp::Scale(Bound::Relu),
    ColumnOp::Scale(Bound::Kept),
    ColumnOp::Gradient { masked: false },
    ColumnOp::Gradient { masked: true },
];
const ROWS: usize = 7;

/// Rows of `width` small integers, apart by more than that.
fn compare(kernel: &Columns, isa: Isa, width: usize) {
    // Vectors that are stored non-temporally lie at multiples of their bytes.
    let (pitch, row_of_bits) = (if kernel.streaming { width + 16 } else { width + 3 }, width.div_ceil(8) + 1);
    let (place, place_of_bits) = (|r: usize| r * pitch, |r: usize| r * row_of_bits);
    let columns = isa.width().lanes() * usize::from(kernel.vectors);
    let number = |i: usize, by: usize| ((i * by + i / 7) % 9) as f32 - 4.0;
    let mut matrices: [Vec<f32>; 3] = std::array::from_fn(|m| (0..place(ROWS) + 16).map(|i| number(i, 5 + m)).collect());
    let starts = matrices.each_ref().map(|m| m.as_ptr().align_offset(64));
    let mut lines: [Vec<f32>; LINES] = std::array::from_fn(|l| (0..width).map(|i| number(i, 2 + l)).collect());
    let mut bits: Vec<u8> = (0..place_of_bits(ROWS)).map(|i| (i * 37 + i / 3 * 11) as u8).collect();
    let (old, start, old_bits) = (matrices.clone(), lines.clone(), bits.clone());
    let args = Args {
        matrices: std::array::from_fn(|m| if m == BITS { bits.as_mut_ptr() } else { matrices[m][starts[m]..].as_mut_ptr().cast() }),
        row: pitch * 4,
        row_of_bits,
        rows: ROWS,
        times: 1,
        next: 0,
        next_of_bits: 0,
        groups: width.div_ceil(columns),
        group: (columns * 4).wrapping_sub(ROWS * pitch * 4),
        group_of_bits: (columns / 8).wrapping_sub(ROWS * row_of_bits),
        width,
        last: 1,
        columns: std::array::from_fn(|l| lines[l].as_mut_ptr()),
    };
    run(kernel.function(isa), &args);
    for c in 0..width {
        let n: [f32; LINES] = std::array::from_fn(|l| start[l][c]);
        let mut sums = n;
        for r in 0..ROWS {
            let [x, mut d, y] = [0, 1, 2].map(|m| old[m][starts[m] + place(r) + c]);
            let bit = |bits: &[u8]| bits[place_of_bits(r) + c / 8] >> (c % 8) & 1 == 1;
            if kernel.act.has_bits() && !bit(&old_bits) {
                d = 0.0;
            }
            let scaled = (x - n[0]) * n[1] + n[2];
            let kept = if kernel.act == ColumnOp::Scale(Bound::Kept) { scaled > 0.0 } else { bit(&old_bits) };
            assert_eq!(bit(&bits), kept, "{} bit of row {r} column {c}", kernel.name(isa));
            let want = match kernel.act {
                ColumnOp::Sum => (x, 0.0, y),
                ColumnOp::Moments => (x - n[2], (x - n[2]) * (x - n[2]), y),
                ColumnOp::Products { .. } => (d, (x - n[2]) * d, y),
                ColumnOp::Scale(Bound::None) => (0.0, 0.0, scaled),
                ColumnOp::Scale(_) => (0.0, 0.0, scaled.max(0.0)),
                ColumnOp::Gradient { .. } => (0.0, 0.0, n[1] * d + n[2] * (x - n[0]) + n[3]),
            };
            (sums[0], sums[1]) = (sums[0] + want.0, sums[1] + want.1);
            assert_eq!(matrices[2][starts[2] + place(r) + c], want.2, "{} row {r} column {c}", kernel.name(isa));
        }
        assert_eq!(lines.each_ref().map(|l| l[c]), sums, "{} column {c}", kernel.name(isa));
    }
    let within = |place: &dyn Fn(usize) -> usize, i: usize, width: usize| (0..ROWS).any(|r| (place(r)..place(r) + width).contains(&i));
    let kept = |i: usize| within(&place_of_bits, i, width.div_ceil(8)) || bits[i] == old_bits[i];
    assert!((0..bits.len()).all(kept), "{}: between rows of bits", kernel.name(isa));
    for ((new, old), start) in matrices.iter().zip(&old).zip(starts) {
        let in_row = |i: usize| i >= start && within(&place, i - start, width);
        assert!((0..new.len()).all(|i| in_row(i) || new[i] == old[i]), "{}: what lies between rows", kernel.name(isa));
    }
}

#[test]
fn columns_hold_what_rows_give() {
    for isa in ISAS {
        let lanes = isa.width().lanes();
        for act in ACTS {
            for vectors in 1..=Columns::most_vectors(isa, act) {
                compare(
                    &Columns { act, elem: Elem::F32, vectors: vectors as u8, masked: false, streaming: false },
                    isa,
                    3 * vectors * lanes,
                );
            }
            if act.lines().0 == 0 {
                compare(&Columns { act, elem: Elem::F32, vectors: 1, masked: false, streaming: true }, isa, 2 * lanes);
            }
            if !act.has_bits() {
                compare(&Columns { act, elem: Elem::F32, vectors: 1, masked: true, streaming: false }, isa, 2 * lanes + 3);
            }
        }
    }
}

#[test]
fn nothing_spills() {
    for isa in ISAS {
        for act in ACTS {
            let vectors = Columns::most_vectors(isa, act) as u8;
            let kernel = |vectors, masked| Columns { act, elem: Elem::F32, vectors, masked, streaming: false };
            for kernel in [kernel(vectors, false), kernel(1, true)] {
                assert_eq!(kernel.compile(isa).unwrap().inner_spills, 0, "{}", kernel.name(isa));
            }
        }
    }
}

/// Generated code changes only when somebody means it to: `cargo xtask bless` writes the files anew.
#[test]
fn golden_listings() {
    for (act, isa) in
        [(ColumnOp::Moments, Isa::AVX512), (ColumnOp::Gradient { masked: true }, Isa::AVX512), (ColumnOp::Scale(Bound::Kept), Isa::AVX2)]
    {
        let kernel = Columns { act, elem: Elem::F32, vectors: Columns::most_vectors(isa, act) as u8, masked: false, streaming: false };
        golden(&kernel, isa);
    }
}

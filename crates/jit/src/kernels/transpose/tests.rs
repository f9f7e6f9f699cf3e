use super::*;
use crate::testing::{ISAS, golden, run};
use half::bf16;

/// Bits of a number of the source: small whole numbers where they are converted.
fn number(elem: Elem, i: usize) -> Vec<u8> {
    match elem {
        Elem::F32 => ((i % 251) as f32 - 125.0).to_le_bytes().to_vec(),
        Elem::Low16 => (i as u16).wrapping_mul(257).to_le_bytes().to_vec(),
        Elem::U8 | Elem::Low8 => vec![(i * 7) as u8],
        _ => bf16::from_f32((i % 101) as f32 - 50.0).to_le_bytes().to_vec(),
    }
}

/// The number as the destination has it.
fn converted(kernel: Transpose, bytes: &[u8], [less, by, over, more]: [f32; UNCHANGED.len()]) -> Vec<u8> {
    let x = match kernel.from {
        _ if kernel.from == kernel.to && kernel.factors == UNCHANGED => return bytes.to_vec(),
        Elem::F32 => f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]),
        Elem::U8 => f32::from(bytes[0]),
        _ => bf16::from_le_bytes([bytes[0], bytes[1]]).to_f32(),
    };
    let x = (x - less) * by / over + more;
    match kernel.to {
        Elem::F32 => x.to_le_bytes().to_vec(),
        Elem::I8 => vec![x.round_ties_even() as i8 as u8],
        _ => bf16::from_f32(x).to_le_bytes().to_vec(),
    }
}

/// Transposes `rows` by `columns` elements, going along the rows where `along`, with `more` zeros after the rows of the destination, and looks at
/// every number around them as well.
fn compare(isa: Isa, kernel: Transpose, [rows, columns, more]: [usize; 3], along: bool) {
    let (lanes, sizes) = (isa.width().lanes(), [kernel.from.bytes(), kernel.to.bytes()]);
    let (across, down) = (columns + 5, rows + more + 3);
    let from: Vec<u8> = (0..rows * across).flat_map(|i| number(kernel.from, i)).collect();
    let mut to = vec![0xee_u8; columns * down * sizes[1]];
    let factors: Vec<f32> = (0..UNCHANGED.len() * rows).map(|i| [1.0, 2.0, 0.5][i % 3]).collect();
    // Columns lie in the order of their numbers, or in the opposite one.
    let place = |c: usize| if kernel.placed { columns - 1 - c } else { c } * down * sizes[1];
    let places: Vec<usize> = (0..columns).map(place).collect();
    let fits = !isa.avx512 && kernel.factors == UNCHANGED && along;
    let double = fits && rows < lanes && rows + more == 2 * lanes && columns.is_multiple_of(lanes);
    let padded = fits && rows + more == lanes || double;
    let full = match along {
        true if rows == lanes && more == 0 || padded => columns / lanes,
        false if columns == lanes => rows / lanes,
        _ => 0,
    };
    let all = if along { columns } else { rows }.div_ceil(lanes);
    let args = Args {
        from: from.as_ptr(),
        from_row: across * sizes[0],
        from_square: lanes * if along { sizes[0] } else { across * sizes[0] },
        to: to.as_mut_ptr(),
        to_row: down * sizes[1],
        to_square: lanes
            * sizes[1]
            * if !along {
                1
            } else if kernel.placed {
                0
            } else {
                down
            },
        from_ahead: lanes * 4,
        to_ahead: 0,
        full,
        partial: all - full,
        rows: if along { rows } else { rows - full * lanes },
        fewer_rows: if along { 0 } else { lanes },
        columns: if along { columns - full * lanes } else { columns },
        fewer_columns: if along { lanes } else { 0 },
        written: if along { rows + more } else { rows - full * lanes },
        factors: std::array::from_fn(|i| factors[i * rows..].as_ptr()),
        factor_square: if along { 0 } else { lanes * 4 },
        places: places.as_ptr(),
        places_square: if along { lanes * size_of::<usize>() } else { 0 },
        present: if along { rows } else { lanes },
        behind: usize::from(double),
    };
    run(kernel.function(isa), &args);
    let factor = |i: usize, row: usize| match kernel.factors[i] {
        Factor::None => [0.0, 1.0, 1.0, 0.0][i],
        Factor::Same => factors[i * rows],
        Factor::ByRow => factors[i * rows + row],
    };
    let mut want = vec![0xee_u8; to.len()];
    for (c, r) in (0..columns).flat_map(|c| (0..rows).map(move |r| (c, r))) {
        let line = &mut want[place(c)..][..(rows + more) * sizes[1]];
        line[rows * sizes[1]..].fill(0);
        let x = converted(kernel, &from[(r * across + c) * sizes[0]..][..sizes[0]], std::array::from_fn(|i| factor(i, r)));
        line[r * sizes[1]..][..sizes[1]].copy_from_slice(&x);
    }
    assert!(to == want, "{rows}x{columns} and {more}, along {along}, {}", kernel.name(isa));
}

#[test]
fn squares_and_parts_of_squares() {
    for isa in ISAS {
        let lanes = isa.width().lanes();
        for n in [1, 3, lanes - 1, lanes] {
            for m in [1, lanes, lanes + 5, 3 * lanes, 300] {
                compare(isa, Transpose::WORDS, [n, m, 0], true);
                compare(isa, Transpose::WORDS, [m, n, 0], false);
            }
        }
    }
}

#[test]
fn numbers_are_converted_scaled_and_put_in_their_places() {
    let kernels = [
        Transpose { from: Elem::F32, to: Elem::I8, factors: [Factor::None, Factor::ByRow, Factor::Same, Factor::None], placed: true },
        Transpose { from: Elem::U8, to: Elem::F32, factors: [Factor::Same, Factor::Same, Factor::ByRow, Factor::Same], placed: false },
        Transpose { from: Elem::F32, to: Elem::Bf16, factors: UNCHANGED, placed: true },
        Transpose { from: Elem::Bf16, to: Elem::Bf16, factors: [Factor::None, Factor::None, Factor::ByRow, Factor::None], placed: true },
        Transpose { from: Elem::F32, to: Elem::I8, factors: [Factor::ByRow, Factor::None, Factor::None, Factor::ByRow], placed: false },
        Transpose { from: Elem::Low16, to: Elem::Low16, factors: UNCHANGED, placed: false },
        Transpose { from: Elem::Low8, to: Elem::Low8, factors: UNCHANGED, placed: true },
    ];
    for isa in ISAS {
        let lanes = isa.width().lanes();
        for (kernel, n) in kernels.into_iter().flat_map(|k| [3, lanes - 1, lanes].map(|n| (k, n))) {
            for m in [1, lanes, 2 * lanes + 5] {
                compare(isa, kernel, [n, m, 0], true);
                compare(isa, kernel, [n, m, lanes - n], true);
                if !isa.avx512 && n < lanes && m % lanes == 0 && kernel.factors == UNCHANGED {
                    compare(isa, kernel, [n, m, 2 * lanes - n], true);
                }
                compare(isa, kernel, [m, n, 0], false);
            }
        }
    }
}

#[test]
fn golden_listings() {
    let narrow =
        Transpose { from: Elem::F32, to: Elem::I8, factors: [Factor::None, Factor::None, Factor::ByRow, Factor::None], placed: true };
    for (kernel, isa) in [Transpose::WORDS, narrow].into_iter().flat_map(|k| [Isa::AVX512, Isa::AVX2].map(|isa| (k, isa))) {
        assert_eq!(golden(&kernel, isa).inner_spills, 0);
    }
}

use super::*;
use crate::testing::{ISAS, golden, run};
use half::bf16;

/// A number of a row, for each type one that converts exactly once it has been scaled.
fn number(elem: Elem, i: usize) -> Vec<u8> {
    let x = (i * 37 + i / 11) as u32;
    match elem {
        Elem::F32 => ((x % 509) as f32 - 254.0).to_le_bytes().to_vec(),
        Elem::Bf16 => bf16::from_f32((x % 201) as f32 - 100.0).to_le_bytes().to_vec(),
        Elem::Low16 => (x as u16).wrapping_mul(257).to_le_bytes().to_vec(),
        _ => vec![x as u8],
    }
}

/// The number as the destination has it, after `- less`, `* by`, `/ over` and `+ more`.
fn converted(kernel: Interleave, bytes: &[u8], [less, by, over, more]: [f32; UNCHANGED.len()]) -> Vec<u8> {
    let x = match kernel.from {
        _ if !kernel.converts() => return bytes.to_vec(),
        Elem::F32 => f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]),
        Elem::Bf16 => bf16::from_le_bytes([bytes[0], bytes[1]]).to_f32(),
        Elem::I8 => f32::from(bytes[0] as i8),
        _ => f32::from(bytes[0]),
    };
    let x = (x - less) * by / over + more;
    match kernel.to {
        Elem::Bf16 => bf16::from_f32(x).to_le_bytes().to_vec(),
        Elem::I8 => vec![x.round_ties_even() as i8 as u8],
        _ => vec![x.round_ties_even() as u8],
    }
}

/// Two groups of `rows` rows of `columns`, and as many words as `written` says after whole vectors; looks at what is after them as well.
fn compare(isa: Isa, kernel: Interleave, rows: usize, columns: usize, padded: bool) {
    let (lanes, size) = (isa.width().lanes(), kernel.from.bytes());
    let (vectors, left) = (columns / lanes, columns % lanes);
    let written = if padded { lanes } else { left };
    let words = vectors * lanes + written;
    let from: Vec<u8> = (0..8 * columns).flat_map(|i| number(kernel.from, i)).collect();
    let mut to = vec![0xee_u8; 2 * (words + 1) * WORD];
    let factors: Vec<f32> = (0..UNCHANGED.len() * columns).map(|i| 1.0 + (i % 3) as f32).collect();
    let sums: Vec<i32> = (0..words + 1).map(|i| i as i32).collect();
    let mut got_sums = sums.clone();
    // The groups change places.
    let places = [[4 * columns * size, 0], [0, (words + 1) * WORD]];
    let args = Args {
        from: from.as_ptr(),
        row: columns * size,
        rows,
        to: to.as_mut_ptr(),
        places: places.as_ptr(),
        groups: 2,
        vectors,
        left,
        written,
        factors: std::array::from_fn(|i| factors[i * columns..].as_ptr()),
        sums: got_sums.as_mut_ptr(),
    };
    run(kernel.function(isa), &args);
    let factor = |i: usize, column: usize| match kernel.factors[i] {
        Factor::None => [0.0, 1.0, 1.0, 0.0][i],
        Factor::Same => factors[i * columns],
        Factor::ByRow => factors[i * columns + column],
    };
    let mut want = vec![0xee_u8; to.len()];
    let mut want_sums = sums;
    for (group, [first, place]) in places.iter().enumerate() {
        assert_eq!(*place, group * (words + 1) * WORD);
        want[*place..][..words * WORD].fill(0);
        for (column, row) in (0..columns).flat_map(|c| (0..rows).map(move |r| (c, r))) {
            let bytes = &from[first + (row * columns + column) * size..][..size];
            let x = converted(kernel, bytes, std::array::from_fn(|i| factor(i, column)));
            if kernel.summed {
                want_sums[column] += i32::from(x[0] as i8);
            }
            want[place + column * WORD + row * x.len()..][..x.len()].copy_from_slice(&x);
        }
    }
    let name = kernel.name(isa);
    assert_eq!(to, want, "{rows} rows of {columns}, {written} behind, {name}");
    assert_eq!(got_sums, want_sums, "{rows} rows of {columns}, {written} behind, {name}");
}

#[test]
fn rows_become_words() {
    let kernels = [
        Interleave { from: Elem::Low8, to: Elem::Low8, factors: UNCHANGED, summed: true },
        Interleave { from: Elem::Low16, to: Elem::Low16, factors: UNCHANGED, summed: false },
        Interleave { from: Elem::F32, to: Elem::I8, factors: [Factor::None, Factor::Same, Factor::ByRow, Factor::None], summed: true },
        Interleave { from: Elem::F32, to: Elem::U8, factors: [Factor::None, Factor::ByRow, Factor::None, Factor::Same], summed: false },
        Interleave { from: Elem::Bf16, to: Elem::Bf16, factors: [Factor::None, Factor::Same, Factor::Same, Factor::None], summed: false },
        Interleave { from: Elem::Bf16, to: Elem::I8, factors: [Factor::None, Factor::Same, Factor::ByRow, Factor::None], summed: true },
        Interleave { from: Elem::I8, to: Elem::I8, factors: [Factor::Same, Factor::ByRow, Factor::Same, Factor::ByRow], summed: true },
        Interleave { from: Elem::U8, to: Elem::U8, factors: [Factor::None, Factor::None, Factor::ByRow, Factor::None], summed: false },
        Interleave { from: Elem::Bf16, to: Elem::Bf16, factors: UNCHANGED, summed: false },
        Interleave { from: Elem::F32, to: Elem::Bf16, factors: UNCHANGED, summed: false },
    ];
    for isa in ISAS {
        let lanes = isa.width().lanes();
        for (kernel, columns) in kernels.into_iter().flat_map(|k| [1, lanes - 1, lanes, 2 * lanes + 3].map(|n| (k, n))) {
            for rows in 0..=kernel.rows() {
                compare(isa, kernel, rows, columns, false);
                compare(isa, kernel, rows, columns, true);
            }
        }
    }
}

#[test]
fn golden_listings() {
    let kernel =
        Interleave { from: Elem::F32, to: Elem::I8, factors: [Factor::None, Factor::None, Factor::ByRow, Factor::None], summed: true };
    for isa in [Isa::AVX512, Isa::AVX2] {
        assert_eq!(golden(&kernel, isa).inner_spills, 0);
    }
}

use super::*;
use crate::testing::{ISAS, golden, run};

fn number(stored: Stored, k: usize, j: usize) -> i32 {
    let x = (k * 37 + j * 11 + k / 7) as i32;
    match stored {
        Stored::S8 => x % 256 - 128,
        Stored::U8 => x % 256,
        Stored::S4 => x % 16 - 8,
        Stored::F8E5m2 | Stored::F8E4m3 => x % 0x7c,
        Stored::F16 => x * 97 % 0x7c00,
        _ => x % 16,
    }
}

/// The element that a code stands for.
fn element(stored: Stored, code: i32) -> f32 {
    let (mantissa, bias) = match stored {
        Stored::F16 => (10, 15),
        Stored::F8E5m2 => (2, 15),
        Stored::F8E4m3 => (3, 7),
        Stored::F4E2m1 => (1, 1),
        Stored::F4E3m0 => (0, 3),
        _ => return code as f32,
    };
    let magnitude = code & ((1 << (stored.bits() - 1)) - 1);
    let (exponent, digits) = (magnitude >> mantissa, magnitude & ((1 << mantissa) - 1));
    let digits = if exponent == 0 { digits } else { digits + (1 << mantissa) };
    let sign = if magnitude == code { 1.0 } else { -1.0 };
    sign * digits as f32 * 2_f32.powi(exponent.max(1) - bias - mantissa)
}

fn scale(j: usize) -> f32 {
    (1 << (j % 4)) as f32 * 0.5
}

fn zero(j: usize) -> f32 {
    (j % 5) as f32
}

fn word(stored: Stored, line: usize, j: usize) -> u32 {
    let code = |p: usize| number(stored, line * stored.in_word() + p, j) as u32 & ((1 << stored.bits()) - 1);
    (0..stored.in_word()).fold(0, |word, p| word | code(p) << (p * stored.bits()))
}

fn unpacks(isa: Isa, kernel: Unpack, lines: usize) {
    let (columns, stored, each) = (usize::from(kernel.line) * isa.width().lanes(), kernel.stored, kernel.stored.in_word());
    let from: Vec<u32> = (0..lines * columns).map(|i| word(stored, i / columns, i % columns)).collect();
    let mut to = vec![f32::NAN; lines * kernel.lines() * columns + 1];
    let (scales, zeros): (Vec<f32>, Vec<u8>) = (0..columns).map(|j| (scale(j), zero(j) as u8)).unzip();
    let (scales, zeros) = (scales.as_ptr().cast(), zeros.as_ptr());
    let args = Args { from: from.as_ptr().cast(), to: to.as_mut_ptr(), lines, scale: scales, zero: zeros };
    run(kernel.function(isa), &args);
    assert!(to.pop().is_some_and(f32::is_nan), "nothing behind the last line is written");
    for (at, bits) in to.iter().map(|x| x.to_bits()).enumerate() {
        let (line, j) = (at / columns, at % columns);
        let want = kernel.places(line % kernel.lines()).map(|place| {
            let number = element(stored, number(stored, line / kernel.lines() * each + place, j));
            (number - kernel.zero.map_or(0.0, |_| zero(j))) * kernel.scale.map_or(1.0, |_| scale(j))
        });
        let got = if kernel.pairs { [bits << 16, bits & 0xffff_0000] } else { [bits; 2] };
        assert_eq!(got.map(f32::from_bits), want, "line {line} column {j} of {}", kernel.name(isa));
    }
}

#[test]
fn panels_are_unpacked() {
    for isa in ISAS {
        for stored in Stored::ALL.into_iter().filter(|stored| stored.bits() <= 8) {
            for line in 1..=if isa.avx512 { 4 } else { 2 } {
                for (scale, zero) in [(None, None), (Some(Elem::F32), None), (None, Some(Elem::U8)), (Some(Elem::F32), Some(Elem::U8))] {
                    // All results are numbers of bf16; floats without zero points are.
                    let zero = zero.filter(|_| stored.is_integral());
                    for pairs in [false, true] {
                        unpacks(isa, Unpack { stored, pairs, line, scale, zero }, 3);
                    }
                }
            }
        }
    }
}

fn unpacks_rows(isa: Isa, kernel: UnpackRows, lines: usize) {
    let (columns, stored) = (usize::from(kernel.line) * isa.width().lanes(), kernel.stored);
    let (each, bits, depth) = (if kernel.pairs { 2 } else { 1 }, stored.bits(), lines * if kernel.pairs { 2 } else { 1 });
    let row = columns * bits / 8 + 3;
    let mut from = vec![0u8; depth * row];
    for (k, j) in (0..depth).flat_map(|k| (0..columns).map(move |j| (k, j))) {
        let code = (number(stored, k, j) & ((1 << bits) - 1)) << (j * bits % 8);
        let to = &mut from[k * row + j * bits / 8..][..bits.div_ceil(8)];
        to.iter_mut().zip(code.to_le_bytes()).for_each(|(to, byte)| *to |= byte);
    }
    let mut to = vec![f32::NAN; lines * columns + 1];
    let (scales, zeros): (Vec<f32>, Vec<f32>) = (0..columns).map(|j| (scale(j), if stored.is_integral() { zero(j) } else { 0.0 })).unzip();
    let args = RowArgs { from: from.as_ptr(), row, to: to.as_mut_ptr(), lines, zero: zeros.as_ptr(), scale: scales.as_ptr() };
    run(kernel.function(isa), &args);
    assert!(to.pop().is_some_and(f32::is_nan), "nothing behind the last line is written");
    for (at, bits) in to.iter().map(|x| x.to_bits()).enumerate() {
        let (line, j) = (at / columns, at % columns);
        let want = [0, each - 1].map(|second| {
            let x = element(stored, number(stored, line * each + second, j));
            (x - if kernel.zero { zeros[j] } else { 0.0 }) * if kernel.scale { scales[j] } else { 1.0 }
        });
        let got = if kernel.pairs { [bits << 16, bits & 0xffff_0000] } else { [bits; 2] };
        assert_eq!(got.map(f32::from_bits), want, "line {line} column {j} of {}", kernel.name(isa));
    }
}

/// With scales, with zero points.
const FACTORS: [[bool; 2]; 4] = [[false, false], [false, true], [true, false], [true, true]];

#[test]
fn rows_are_unpacked() {
    for isa in ISAS {
        for stored in Stored::ALL.into_iter().filter(|stored| stored.bits() <= 8 || *stored == Stored::F16) {
            for line in 1..=if isa.avx512 { 4 } else { 2 } {
                // bf16 does not have all numbers of f16.
                let most = if stored == Stored::F16 { FACTORS.len() } else { 2 * FACTORS.len() };
                for (pairs, [scale, zero]) in [false, true].into_iter().flat_map(|pairs| FACTORS.map(|of| (pairs, of))).take(most) {
                    let kernel = UnpackRows { stored, pairs, line, scale, zero };
                    unpacks_rows(isa, kernel, 3);
                    assert_eq!(kernel.function(isa).finish().unwrap().inner_spills, 0, "{}", kernel.name(isa));
                }
            }
        }
    }
}

#[test]
fn code_is_as_kept() {
    let scaled = Unpack { stored: Stored::U4, pairs: false, line: 4, scale: Some(Elem::Bf16), zero: Some(Elem::U8) };
    let pairs = Unpack { stored: Stored::S4, pairs: true, line: 4, scale: None, zero: None };
    let kept = [(scaled, Isa::AVX512), (pairs, Isa::AVX512_BF16), (Unpack { line: 2, stored: Stored::S8, ..pairs }, Isa::AVX2)];
    for (kernel, isa) in kept {
        assert_eq!(golden(&kernel, isa).inner_spills, 0);
    }
}

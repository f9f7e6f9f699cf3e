use super::*;
use crate::testing::{ISAS, compile, run};
use half::{bf16, f16};

const LANES: usize = 16;

/// Three vectors in, one out, a number.
#[repr(C)]
struct Block {
    a: *const u32,
    b: *const u32,
    c: *mut u32,
    n: i64,
}

/// What a test writes into a function: pointers to `a`, `b`, `c` and the number.
type Body<'t> = &'t dyn Fn(&mut Function, Int, Int, Int, Int);

/// Runs `body` on `a` and `b`; what `c` holds then.
fn on(isa: Isa, a: &[u32], b: &[u32], n: i64, body: Body<'_>) -> [u32; LANES] {
    let mut f = Function::new(isa);
    let args = f.arguments();
    let [pa, pb, pc] = [0, 8, 16].map(|at| f.load_int(args.at(at)));
    let count = f.load_int(args.at(24));
    body(&mut f, pa, pb, pc, count);
    let mut c = [0xdead_beef; LANES];
    let block = Block { a: a.as_ptr(), b: b.as_ptr(), c: c.as_mut_ptr(), n };
    run(f, &block);
    c
}

fn lanes(isa: Isa) -> usize {
    isa.width().lanes()
}

fn floats() -> ([u32; LANES], [u32; LANES]) {
    let a = [
        1.5,
        -2.25,
        0.0,
        -0.0,
        3e38,
        -3e38,
        127.5,
        128.5,
        f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        2.5,
        0.5,
        -0.5,
        1.000_000_1,
        65504.0,
    ];
    let b = [1.5, 3.0, -0.0, 0.0, 3e38, 7.0, -1.0, 1e-3, 1.0, f32::NAN, 2.0, 2.0, f32::INFINITY, 0.25, -1.0, 2.5];
    (a.map(f32::to_bits), b.map(f32::to_bits))
}

fn integers() -> ([u32; LANES], [u32; LANES]) {
    let a = [1, -1, i32::MAX, i32::MIN, 77, -77, 0, 5, 0x0102_0304, -0x0102_0304, 1 << 30, 9, 8, -7, 6, 5];
    let b = [2, 2, 1, -1, -77, 77, 0, 5, 0x7f80_7f80, 0x8000_7fff_u32 as i32, 4, -9, -8, 7, 123_456, 5];
    (a.map(|x| x as u32), b.map(|x| x as u32))
}

fn same_float(x: u32, y: u32) -> bool {
    x == y || (f32::from_bits(x).is_nan() && f32::from_bits(y).is_nan())
}

#[test]
fn binary_instructions_do_what_they_say() {
    type Formula = fn(u32, u32) -> u32;
    fn f(x: u32, y: u32, op: fn(f32, f32) -> f32) -> u32 {
        op(f32::from_bits(x), f32::from_bits(y)).to_bits()
    }
    fn i(x: u32, y: u32, op: fn(i32, i32) -> i32) -> u32 {
        op(x as i32, y as i32) as u32
    }
    let table: [(Binary, Formula); 17] = [
        (Binary::SmallestF32, |x, y| f(x, y, f32::min)),
        (Binary::LargestF32, |x, y| f(x, y, f32::max)),
        (Binary::AddF32, |x, y| f(x, y, |x, y| x + y)),
        (Binary::SubF32, |x, y| f(x, y, |x, y| x - y)),
        (Binary::MulF32, |x, y| f(x, y, |x, y| x * y)),
        (Binary::DivF32, |x, y| f(x, y, |x, y| x / y)),
        (Binary::MinF32, |x, y| f(x, y, |x, y| if x < y { x } else { y })),
        (Binary::MaxF32, |x, y| f(x, y, |x, y| if x > y { x } else { y })),
        (Binary::And, |x, y| x & y),
        (Binary::AndNot, |x, y| !x & y),
        (Binary::Or, |x, y| x | y),
        (Binary::Xor, |x, y| x ^ y),
        (Binary::AddI32, |x, y| i(x, y, i32::wrapping_add)),
        (Binary::SubI32, |x, y| i(x, y, i32::wrapping_sub)),
        (Binary::MulI32, |x, y| i(x, y, i32::wrapping_mul)),
        (Binary::MinI32, |x, y| i(x, y, i32::min)),
        (Binary::MaxI32, |x, y| i(x, y, i32::max)),
    ];
    for isa in ISAS {
        for (op, formula) in table {
            // A NaN that signals stays one where elements are chosen.
            let chooses = matches!(op, Binary::SmallestF32 | Binary::LargestF32);
            for (a, b) in [floats(), integers()].into_iter().take(if chooses { 1 } else { 2 }) {
                // From a register, from memory, one number for all.
                for form in 0..3 {
                    let got = on(isa, &a, &b, 0, &|f, pa, pb, pc, _| {
                        let w = f.isa().width();
                        let x = f.load(w, pa.at(0));
                        let y = match form {
                            0 => Src::Val(f.load(w, pb.at(0))),
                            1 => Src::Mem(pb.at(0)),
                            _ => Src::Splat(pb.at(4)),
                        };
                        let z = f.binary(op, x, y);
                        f.store(pc.at(0), z);
                    });
                    for l in 0..lanes(isa) {
                        let want = formula(a[l], if form == 2 { b[1] } else { b[l] });
                        // Of two zeros either may be the smaller.
                        let zeros = chooses && (got[l] | want) << 1 == 0;
                        assert!(zeros || same_float(got[l], want), "{op:?} lane {l} form {form} {}: {:x} {want:x}", isa.name(), got[l]);
                    }
                }
            }
        }
    }
}

#[test]
fn bytes_are_compared_one_by_one() {
    type Larger = fn(u8, u8) -> u8;
    let all = |x: u32, y: u32, larger: Larger| {
        let (x, y) = (x.to_le_bytes(), y.to_le_bytes());
        u32::from_le_bytes(std::array::from_fn(|i| larger(x[i], y[i])))
    };
    let (a, b) = integers();
    let signed: Larger = |x, y| if (x as i8) > y as i8 { x } else { y };
    for (op, larger) in [(Binary::MaxI8, signed), (Binary::MaxU8, u8::max as Larger)] {
        for isa in ISAS {
            for from_memory in [false, true] {
                let got = on(isa, &a, &b, 0, &|f, pa, pb, pc, _| {
                    let x = f.load(f.isa().width(), pa.at(0));
                    let y = if from_memory { Src::Mem(pb.at(0)) } else { Src::Val(f.load(f.isa().width(), pb.at(0))) };
                    let z = f.binary(op, x, y);
                    f.store(pc.at(0), z);
                });
                let wanted: Vec<u32> = (0..lanes(isa)).map(|l| all(a[l], b[l], larger)).collect();
                assert_eq!(got[..lanes(isa)], wanted[..], "{op:?} {}", isa.name());
            }
        }
    }
}

#[test]
fn unary_instructions_do_what_they_say() {
    type Formula = fn(u32) -> u32;
    fn f(x: u32, op: fn(f32) -> f32) -> u32 {
        op(f32::from_bits(x)).to_bits()
    }
    fn to_i32(x: u32) -> u32 {
        let r = f32::from_bits(x).round_ties_even();
        if (-2_147_483_648.0..2_147_483_648.0).contains(&r) { r as i32 as u32 } else { 0x8000_0000 }
    }
    let table: [(Unary, Formula); 10] = [
        (Unary::SqrtF32, |x| f(x, f32::sqrt)),
        (Unary::RoundF32(Rounding::Nearest), |x| f(x, f32::round_ties_even)),
        (Unary::RoundF32(Rounding::Floor), |x| f(x, f32::floor)),
        (Unary::RoundF32(Rounding::Ceil), |x| f(x, f32::ceil)),
        (Unary::RoundF32(Rounding::Truncate), |x| f(x, f32::trunc)),
        (Unary::F32FromI32, |x| (x as i32 as f32).to_bits()),
        (Unary::I32FromF32, to_i32),
        (Unary::ShlI32(7), |x| x << 7),
        (Unary::ShrI32(7), |x| x >> 7),
        (Unary::SarI32(7), |x| ((x as i32) >> 7) as u32),
    ];
    for isa in ISAS {
        for (op, formula) in table {
            for (a, _) in [floats(), integers()] {
                let got = on(isa, &a, &a, 0, &|f, pa, _, pc, _| {
                    let x = f.load(f.isa().width(), pa.at(0));
                    let y = f.unary(op, x);
                    f.store(pc.at(0), y);
                });
                (0..lanes(isa)).for_each(|l| assert!(same_float(got[l], formula(a[l])), "{op:?} lane {l} {}", isa.name()));
            }
        }
    }
}

fn dot_u8s8(x: u32, y: u32) -> i32 {
    x.to_le_bytes().iter().zip(y.to_le_bytes()).map(|(x, y)| i32::from(*x) * i32::from(y as i8)).sum()
}

#[test]
fn accumulating_instructions_do_what_they_say() {
    let small = |i: usize| f32::from(bf16::from_f32((i as f32 - 7.0) * 0.25)).to_bits();
    let pairs: [u32; LANES] = std::array::from_fn(|i| (small(i) & 0xffff_0000) | small(15 - i) >> 16);
    for isa in ISAS {
        for op in [Accumulate::ScaleAddF32, Accumulate::FmaF32, Accumulate::FnmaF32, Accumulate::DotBf16, Accumulate::DotU8S8] {
            let (a, b) = match op {
                Accumulate::DotBf16 => (pairs, std::array::from_fn(|i| pairs[(i + 5) % LANES])),
                Accumulate::DotU8S8 => integers(),
                _ => (std::array::from_fn(small), std::array::from_fn(|i| small((i + 3) % LANES))),
            };
            for form in 0..3 {
                let got = on(isa, &a, &b, 0, &|f, pa, pb, pc, _| {
                    let w = f.isa().width();
                    let (sum, x) = (f.zero(w), f.load(w, pa.at(0)));
                    f.accumulate(op, sum, x, Src::Mem(pb.at(0)));
                    let y = match form {
                        0 => Src::Val(f.load(w, pb.at(0))),
                        1 => Src::Mem(pb.at(0)),
                        _ => Src::Splat(pb.at(8)),
                    };
                    f.accumulate(op, sum, x, y);
                    f.store(pc.at(0), sum);
                });
                for l in 0..lanes(isa) {
                    let low = |x: u32| f32::from_bits(x << 16);
                    let high = |x: u32| f32::from_bits(x & 0xffff_0000);
                    let term = |x: u32, y: u32| match op {
                        Accumulate::FmaF32 => f32::from_bits(x) * f32::from_bits(y),
                        Accumulate::FnmaF32 => -(f32::from_bits(x) * f32::from_bits(y)),
                        Accumulate::DotBf16 => low(x) * low(y) + high(x) * high(y),
                        Accumulate::ScaleAddF32 | Accumulate::DotU8S8 => 0.0,
                    };
                    let second = if form == 2 { b[2] } else { b[l] };
                    if op == Accumulate::ScaleAddF32 {
                        let [x, y, z] = [a[l], b[l], second].map(f32::from_bits);
                        assert_eq!(f32::from_bits(got[l]), y * x + z, "{op:?} lane {l} {}", isa.name());
                    } else if op == Accumulate::DotU8S8 {
                        assert_eq!(got[l] as i32, dot_u8s8(a[l], b[l]) + dot_u8s8(a[l], second), "lane {l} {}", isa.name());
                    } else {
                        // Small enough to be exact in any order.
                        assert_eq!(f32::from_bits(got[l]), term(a[l], b[l]) + term(a[l], second), "{op:?} lane {l} {}", isa.name());
                    }
                }
            }
        }
    }
}

#[test]
fn comparisons_select() {
    fn holds<T: PartialOrd>(how: Compare, x: T, y: T) -> bool {
        match how {
            Compare::Eq => x == y,
            Compare::Ne => x != y,
            Compare::Lt => x < y,
            Compare::Le => x <= y,
            Compare::Gt => x > y,
            Compare::Ge => x >= y,
        }
    }
    for isa in ISAS {
        for how in [Compare::Eq, Compare::Ne, Compare::Lt, Compare::Le, Compare::Gt, Compare::Ge] {
            for (float, (a, b)) in [(true, floats()), (false, integers())] {
                let got = on(isa, &a, &b, 0, &|f, pa, pb, pc, _| {
                    let w = f.isa().width();
                    let (x, y) = (f.load(w, pa.at(0)), f.load(w, pb.at(0)));
                    let mask = if float { f.compare_f32(how, x, y) } else { f.compare_i32(how, x, y) };
                    let (one, two) = (f.splat_i32(w, 1), f.splat_i32(w, 2));
                    let z = f.select(mask, one, two);
                    f.store(pc.at(0), z);
                });
                for l in 0..lanes(isa) {
                    let yes =
                        if float { holds(how, f32::from_bits(a[l]), f32::from_bits(b[l])) } else { holds(how, a[l] as i32, b[l] as i32) };
                    assert_eq!(got[l], if yes { 1 } else { 2 }, "{how:?} lane {l} {}", isa.name());
                }
            }
        }
    }
}

const ELEMS: [Elem; 11] =
    [Elem::F32, Elem::Bf16, Elem::F16, Elem::I32, Elem::I8, Elem::U8, Elem::F8E5m2, Elem::F8E4m3, Elem::Low16, Elem::Low8, Elem::Whole8];

/// Bits of the mantissa of an 8-bit float, its bias, and its first code beyond all numbers.
fn format(elem: Elem) -> (i32, i32, u8) {
    if elem == Elem::F8E5m2 { (2, 15, 0x7c) } else { (3, 7, 0x7f) }
}

/// The value of a code.
fn f8(elem: Elem, code: u8) -> f32 {
    let ((mantissa, bias, beyond), magnitude) = (format(elem), code & 0x7f);
    let (exponent, digits) = (i32::from(magnitude >> mantissa), i32::from(magnitude & ((1 << mantissa) - 1)));
    let digits = if exponent == 0 { digits } else { digits + (1 << mantissa) };
    let value = match magnitude {
        _ if magnitude < beyond => digits as f32 * 2_f32.powi(exponent.max(1) - bias - mantissa),
        0x7c => f32::INFINITY,
        _ => f32::NAN,
    };
    if code >= 0x80 { -value } else { value }
}

/// The code of the nearest value, the even one of two; numbers half a unit beyond the largest are no numbers.
fn nearest_f8(elem: Elem, x: f32) -> u8 {
    let (beyond, sign) = (format(elem).2, u8::from(x.is_sign_negative()) << 7);
    // The next number after the largest, if it had a code.
    let value = |code: u8| {
        if code == beyond { f64::from(f8(elem, beyond - 1)) * 2.0 - f64::from(f8(elem, beyond - 2)) } else { f64::from(f8(elem, code)) }
    };
    let magnitude = f64::from(x.abs()).min(value(beyond));
    let distance = |code: &u8| (magnitude - value(*code)).abs();
    let code = match x {
        _ if x.is_nan() => {
            if elem == Elem::F8E5m2 {
                0x7e
            } else {
                0x7f
            }
        }
        _ if x.is_infinite() => beyond,
        _ => (0..=beyond).min_by(|a, b| distance(a).total_cmp(&distance(b)).then((a & 1).cmp(&(b & 1)))).unwrap(),
    };
    code | sign
}

#[test]
fn every_8_bit_float_is_loaded_and_stored() {
    for isa in ISAS {
        for (elem, first) in [Elem::F8E5m2, Elem::F8E4m3].into_iter().flat_map(|elem| (0..=255).step_by(8).map(move |first| (elem, first)))
        {
            let codes: [u32; LANES] =
                std::array::from_fn(|i| if i < 2 { u32::from_le_bytes(std::array::from_fn(|j| first + (4 * i + j) as u8)) } else { 0 });
            let got = on(isa, &codes, &codes, 8, &|f, pa, _, pc, count| {
                let lanes = f.first_lanes(count);
                let x = f.load_as(elem, pa.at(0), Some(lanes));
                f.store_masked(pc.at(0), x, lanes);
                f.store_as(elem, pc.at(32), x, Some(lanes));
            });
            for (i, code) in (first..=first + 7).enumerate() {
                let want = f8(elem, code);
                assert!(same_float(got[i], want.to_bits()), "{elem:?} {code:x} {}", isa.name());
                let stored = bytes_of(&got)[32 + i];
                assert!(stored == code || want.is_nan() && f8(elem, stored).is_nan(), "{elem:?} {code:x} as {stored:x} {}", isa.name());
            }
        }
    }
}

fn bytes_of(words: &[u32; LANES]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

#[test]
fn loads_convert_under_masks() {
    let source: [u32; LANES] = std::array::from_fn(|i| 0x3c01_c2f3_u32.wrapping_mul(2 * i as u32 + 1));
    let raw = bytes_of(&source);
    for isa in ISAS {
        for elem in ELEMS {
            for n in (-1..=lanes(isa) as i64).map(|n| (n >= 0).then_some(n)) {
                let got = on(isa, &source, &source, n.unwrap_or(0), &|f, pa, _, pc, count| {
                    let mask = n.map(|_| f.first_lanes(count));
                    let x = f.load_as(elem, pa.at(0), mask);
                    f.store(pc.at(0), x);
                });
                for l in 0..lanes(isa) {
                    let at = &raw[l * elem.bytes()..][..elem.bytes()];
                    let bits16 = || u16::from_le_bytes([at[0], at[1]]);
                    let want = match elem {
                        _ if n.is_some_and(|n| l >= n as usize) => 0,
                        Elem::F32 | Elem::I32 => source[l],
                        Elem::Bf16 => u32::from(bits16()) << 16,
                        Elem::F16 => f16::from_bits(bits16()).to_f32().to_bits(),
                        Elem::I8 => f32::from(at[0] as i8).to_bits(),
                        Elem::U8 => f32::from(at[0]).to_bits(),
                        Elem::F8E5m2 | Elem::F8E4m3 => f8(elem, at[0]).to_bits(),
                        Elem::Low16 => u32::from(bits16()),
                        Elem::Low8 => u32::from(at[0]),
                        Elem::Whole8 => i32::from(at[0] as i8) as u32,
                    };
                    assert!(same_float(got[l], want), "{elem:?} lane {l} of {n:?} {}", isa.name());
                }
            }
        }
    }
}

#[test]
fn flushed_bf16_is_rounded_to_nearest_even() {
    let (a, _) = floats();
    for isa in ISAS {
        let got = on(isa, &a, &a, 0, &|f, pa, _, pc, _| {
            let x = f.load(f.isa().width(), pa.at(0));
            f.store_bf16_flushed(pc.at(0), x, None);
        });
        for (l, got) in bytes_of(&got).chunks(2).take(lanes(isa)).enumerate() {
            let x = f32::from_bits(a[l]);
            let want = bf16::from_f32(x).to_bits().to_le_bytes();
            assert!(got == want || x.is_subnormal() && got[0] == 0 && got[1] & 0x7f == 0, "lane {l}: {x:e} {}", isa.name());
        }
    }
}

#[test]
fn pairs_of_bf16_are_rounded_to_nearest_even() {
    let (a, b) = floats();
    let small = std::array::from_fn(|i| (i as u32) << 31 | (i as u32 * 0x0008_4321) & 0x007f_ffff | (i as u32 & 2) << 14);
    let all = [(a, b), (b, a), (a, small), (small, b)];
    for ((a, b), op) in all.into_iter().flat_map(|data| [(data, Binary::PairBf16), (data, Binary::PairBf16Flushed)]) {
        for isa in ISAS {
            let got = on(isa, &a, &b, 0, &|f, pa, pb, pc, _| {
                let w = f.isa().width();
                let (x, y) = (f.load(w, pa.at(0)), f.load(w, pb.at(0)));
                let pair = f.binary(op, x, y);
                f.store(pc.at(0), pair);
            });
            for l in 0..lanes(isa) {
                let [low, high] = [got[l] as u16, (got[l] >> 16) as u16];
                for (got, x) in [(low, a[l]), (high, b[l])] {
                    let (got, want) = (bf16::from_bits(got), bf16::from_f32(f32::from_bits(x)));
                    let flushed = op == Binary::PairBf16Flushed && f32::from_bits(x).is_subnormal() && got == bf16::ZERO;
                    let same = got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan();
                    assert!(same || flushed, "lane {l}: {x:x} {}", isa.name());
                }
            }
        }
    }
}

#[test]
fn stores_convert_saturate_and_keep_to_their_mask() {
    let (a, _) = floats();
    let mut b = a;
    b.rotate_left(7);
    // Subnormals of both signs, ties among them.
    let small = std::array::from_fn(|i| (i as u32) << 31 | (i as u32 * 0x0008_4321) & 0x007f_ffff | (i as u32 & 2) << 14);
    for isa in ISAS {
        for elem in ELEMS {
            for (a, n) in [a, b, small].into_iter().flat_map(|a| (-1..=lanes(isa) as i64).map(move |n| (a, (n >= 0).then_some(n)))) {
                let got = on(isa, &a, &a, n.unwrap_or(0), &|f, pa, _, pc, count| {
                    let mut x = f.load(f.isa().width(), pa.at(0));
                    let low = match elem {
                        Elem::Low16 => 0xffff,
                        Elem::Low8 | Elem::Whole8 => 0xff,
                        _ => -1,
                    };
                    let low = f.splat_i32(f.isa().width(), low);
                    x = f.binary(Binary::And, x, low);
                    let mask = n.map(|_| f.first_lanes(count));
                    f.store_as(elem, pc.at(0), x, mask);
                });
                let got = bytes_of(&got);
                let written = n.map_or(lanes(isa), |n| n as usize);
                for (l, got) in got.chunks(elem.bytes()).enumerate() {
                    let x = f32::from_bits(*a.get(l).unwrap_or(&0));
                    let nearest = x.round_ties_even();
                    let word = |w: u16| w.to_le_bytes().to_vec();
                    let want = match elem {
                        _ if l >= written => bytes_of(&[0xdead_beef; LANES])[l * elem.bytes()..][..elem.bytes()].to_vec(),
                        Elem::F32 | Elem::I32 => x.to_le_bytes().to_vec(),
                        Elem::Bf16 => word(bf16::from_f32(x).to_bits()),
                        Elem::F16 => word(f16::from_f32(x).to_bits()),
                        Elem::I8 => vec![nearest as i8 as u8],
                        Elem::U8 => vec![nearest as u8],
                        Elem::F8E5m2 | Elem::F8E4m3 => vec![nearest_f8(elem, x)],
                        Elem::Low16 => word(x.to_bits() as u16),
                        Elem::Low8 | Elem::Whole8 => vec![x.to_bits() as u8],
                    };
                    assert_eq!(got, want, "{elem:?} of {x} lane {l} of {n:?} {}", isa.name());
                }
            }
        }
    }
}

#[test]
fn first_lanes_are_all_from_their_number_on() {
    let ones = [1; LANES];
    for isa in ISAS {
        for n in [0, 1, 7, 8, 9, 15, 16, 17, 64, 255, 256, 300, 1 << 16, 1 << 20, i64::from(i32::MAX)] {
            let got = on(isa, &ones, &ones, n, &|f, pa, _, pc, count| {
                let (w, mask) = (f.isa().width(), f.first_lanes(count));
                let (x, zero) = (f.load(w, pa.at(0)), f.zero(w));
                let chosen = f.select(mask, x, zero);
                f.store(pc.at(0), chosen);
            });
            (0..lanes(isa)).for_each(|l| assert_eq!(got[l], u32::from((l as i64) < n), "lane {l} of {n} {}", isa.name()));
        }
    }
}

#[test]
fn masks_are_bits_in_memory() {
    let mut a = [0; LANES];
    (0..LANES).for_each(|l| a[l] = [0, 5, 0x8000_0000, 1][l * 7 % 4]);
    for isa in ISAS {
        for word in [0_u32, 0xffff, 0x1234, 0x8001, 0x00ff_5aa5] {
            let got = on(isa, &a, &[word; LANES], 0, &|f, pa, pb, pc, _| {
                let (w, mask) = (f.isa().width(), f.load_bits(pb.at(0)));
                let (x, zero) = (f.load(w, pa.at(0)), f.zero(w));
                let own = f.compare_i32(Compare::Ne, x, zero);
                let ones = f.splat_i32(w, -1);
                let chosen = f.select(mask, ones, zero);
                f.store(pc.at(0), chosen);
                f.store_bits(pc.at(0), own);
            });
            let bytes = lanes(isa) / 8;
            let kept: u32 = (0..lanes(isa)).map(|l| u32::from(a[l] != 0) << l).sum();
            let first = if word & 1 == 1 { u32::MAX } else { 0 };
            let low = (1_u32 << (8 * bytes)) - 1;
            assert_eq!(got[0], first & !low | kept, "bits of {word:#x} {}", isa.name());
            (1..lanes(isa)).for_each(|l| assert_eq!(got[l] == u32::MAX, word >> l & 1 == 1, "lane {l} of {word:#x} {}", isa.name()));
        }
    }
}

#[test]
fn loops_and_conditions_nest() {
    for isa in ISAS {
        for n in [-3_i64, 0, 1, 2, 9] {
            // The sum over i of i * i below n, and n + 100 where n is 2.
            let got = on(isa, &[0], &[0], n, &|f, _, _, pc, n| {
                let (sum, outer, i) = (f.int(0), f.copy(n), f.int(0));
                f.repeat(outer, |f| {
                    let inner = f.copy(i);
                    f.repeat(inner, |f| f.add(sum, i));
                    f.add(i, 1);
                });
                f.when(Compare::Eq, n, 2, |f| {
                    f.set(sum, n);
                    f.add(sum, 100);
                });
                f.store_int(pc.at(0), sum);
            });
            let want = if n == 2 { 102 } else { (0..n.max(0)).map(|i| i * i).sum() };
            assert_eq!(i64::from(got[0]) | i64::from(got[1]) << 32, want, "{n} {}", isa.name());
        }
    }
}

/// `values` vectors alive over a loop that adds one to each `n` times.
fn crowded(f: &mut Function, pa: Int, pc: Int, n: Int, values: i32, pinned: bool) {
    let w = f.isa().width();
    let all: Vec<Val> = (0..values).map(|i| f.splat(w, pa.at(4 * (i % 16)))).collect();
    if pinned {
        all.iter().for_each(|v| f.pin(*v));
    }
    let one = f.splat_i32(w, 1);
    f.repeat(n, |f| all[..4].iter().for_each(|v| f.update(Binary::AddI32, *v, one)));
    let sum = f.zero(w);
    all.iter().for_each(|v| f.update(Binary::AddI32, sum, *v));
    f.store(pc.at(0), sum);
}

#[test]
fn values_without_registers_live_on_the_stack() {
    let a: [u32; LANES] = std::array::from_fn(|i| i as u32 * 1000);
    for isa in ISAS {
        for values in [10, 14, 15, 31, 40, 100] {
            let got = on(isa, &a, &a, 6, &|f, pa, _, pc, n| crowded(f, pa, pc, n, values, false));
            let want = (0..values).map(|i| a[i as usize % 16]).sum::<u32>() + 24;
            assert_eq!(got[..lanes(isa)], vec![want; lanes(isa)], "{values} {}", isa.name());
            let mut f = Function::new(isa);
            let p = f.arguments();
            let n = f.int(6);
            crowded(&mut f, p, p, n, values, false);
            let compiled = compile(f);
            assert_eq!(compiled.spills > 0, values as usize + 1 > isa.simd_registers(), "{values} {}", isa.name());
            assert_eq!(compiled.inner_spills, 0, "what the loop uses has registers");
        }
    }
}

#[test]
fn integers_and_masks_go_to_the_stack_too() {
    for isa in ISAS {
        let got = on(isa, &[0; LANES], &[0; LANES], 3, &|f, _, _, pc, n| {
            let w = f.isa().width();
            let numbers: Vec<Int> = (0..30).map(|i| f.int(1 << i)).collect();
            let counts: Vec<Int> = (0..9).map(|i| f.int(i)).collect();
            let masks: Vec<Pred> = counts.iter().map(|c| f.first_lanes(*c)).collect();
            let sum = f.int(0);
            f.repeat(n, |f| numbers.iter().for_each(|i| f.add(sum, *i)));
            let lanes = f.splat_int(w, sum);
            let zero = f.zero(w);
            masks.iter().for_each(|k| {
                let part = f.select(*k, lanes, zero);
                f.update(Binary::AddI32, zero, part);
                f.update(Binary::SubI32, zero, part);
            });
            let out = f.select(masks[5], lanes, zero);
            f.store(pc.at(0), out);
        });
        (0..lanes(isa)).for_each(|l| assert_eq!(got[l], if l < 5 { 3 * ((1 << 30) - 1) } else { 0 }, "lane {l} {}", isa.name()));
    }
}

#[test]
fn mistakes_are_errors() {
    let mut f = Function::new(Isa::AVX512);
    let p = f.arguments();
    let n = f.int(6);
    crowded(&mut f, p, p, n, 33, true);
    assert!(matches!(f.finish(), Err(IrError::Pressure { kind: "vector", .. })));

    let mut f = Function::new(Isa::AVX2);
    let p = f.arguments();
    let mut inside = None;
    f.when(Compare::Eq, p, 0, |f| inside = Some(f.int(1)));
    f.store_int(p.at(0), inside.unwrap());
    assert!(matches!(f.finish(), Err(IrError::Undefined { .. })));
}

#[test]
fn quotients_by_a_reciprocal_are_rounded_once() {
    let mut state = 7_u32;
    let mut random = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        // Of any sign and mantissa, between 2^-40 and 2^40.
        state & 0x807f_ffff | ((87 + state % 80) << 23)
    };
    let special = [0, 1 << 31, 0x7f80_0000, 0xff80_0000, 0x7fc0_0000, 0x3f80_0001, 0x7f7f_ffff, 0x4040_0000];
    for isa in ISAS {
        // Subnormal divisors, the largest, zero and no number, each with dividends near it; then any.
        let extreme =
            [1, 0x8000_0017, 0x0058_1234, 0x807f_ffff, 0x0080_0000, 0x7f7f_ffff, 0xfe80_0001, 0, 1 << 31, 0x7f80_0000, 0x7fc0_0000];
        for i in 0..extreme.len() + 200 {
            let b = extreme.get(i).copied().unwrap_or_else(&mut random);
            let dividend = |l: usize| if i < extreme.len() { b ^ (l as u32) << 1 } else { random() };
            let numbers: Vec<u32> = (0..8).map(dividend).chain(special).collect();
            let (a, b): ([u32; LANES], _) = (std::array::from_fn(|l| numbers[l]), [b; LANES]);
            let got = on(isa, &a, &b, 0, &|f, pa, pb, pc, _| {
                let width = f.isa().width();
                let (x, by) = (f.load(width, pa.at(0)), f.load(width, pb.at(0)));
                let divisor = f.divisor(by);
                let quotient = f.quotient(x, divisor);
                f.store(pc.at(0), quotient);
            });
            for l in 0..lanes(isa) {
                let want = (f32::from_bits(a[l]) / f32::from_bits(b[0])).to_bits();
                let off_by_one = f32::from_bits(want).is_subnormal() && got[l].abs_diff(want) == 1;
                assert!(off_by_one || same_float(got[l], want), "{:x} / {:x} on {}: {:x}, not {want:x}", a[l], b[0], isa.name(), got[l]);
            }
        }
    }
}

#[test]
fn four_vectors_are_stored_as_bytes() {
    let (a, b) = floats();
    for isa in ISAS {
        for (elem, least, most) in [(Elem::I8, -128.0, 127.0), (Elem::U8, 0.0, 255.0)] {
            let n = lanes(isa);
            let got = on(isa, &a, &b, 0, &|f, pa, pb, pc, _| {
                let src = [pa, pb, pb, pa].map(|at| f.load(f.isa().width(), at.at(0)));
                f.store_bytes(elem, true, [pc.at(0), pc.at(2 * n as i32)], src);
            });
            let all = [a, b, b, a].into_iter().flat_map(|v| v.into_iter().take(n)).map(f32::from_bits);
            for (i, (x, got)) in all.zip(bytes_of(&got)).enumerate() {
                let want = if x.is_nan() { 0.0 } else { x.round_ties_even().clamp(least, most) };
                assert_eq!(got, want as i32 as u8, "{x} at {i} as {elem:?} on {}", isa.name());
            }
        }
    }
}

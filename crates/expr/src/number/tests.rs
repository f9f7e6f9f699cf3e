use super::*;
use crate::EVERY;
use DataType::*;

/// Types whose codes can all be visited, with a sign bit and mantissa or not.
const SMALL: [DataType; 6] = [F16, Bf16, F8E5m2, F8E4m3, F4E2m1, F4E3m0];
const INTEGERS: [DataType; 4] = [S8, U8, S4, U4];

fn next(v: f64, up: bool) -> f64 {
    if up { v.next_up() } else { v.next_down() }
}

#[test]
fn every_code_survives_the_way_to_f64_and_back() {
    for d in SMALL.into_iter().chain(INTEGERS).chain([E8m0]) {
        for code in (0..1u64 << d.bits()).step_by(EVERY) {
            let v = decode(d, code);
            if v.is_nan() {
                assert!(decode(d, encode(d, v)).is_nan());
            } else {
                assert_eq!(encode(d, v), code, "{d} code {code:#x} = {v}");
            }
        }
    }
    for v in [0.0, -0.0, 1.5, f64::MIN_POSITIVE / 8.0, f64::MAX, f64::NEG_INFINITY] {
        assert_eq!(encode(F64, decode(F64, v.to_bits())), v.to_bits());
    }
    for v in [i32::MIN, -1, 0, 7, i32::MAX] {
        assert_eq!(encode(S32, decode(S32, v as u32 as u64)), v as u32 as u64);
    }
    assert_eq!(encode(S64, decode(S64, i64::MIN as u64)), i64::MIN as u64);
    assert_eq!((decode(Boolean, 7), encode(Boolean, 0.25), encode(Boolean, 0.0), encode(Boolean, f64::NAN)), (1.0, 1, 0, 0));
}

/// Between every two neighbours the middle goes to the even code, and all else to the nearer one.
#[test]
fn half_way_points_go_to_the_even_code() {
    for d in SMALL {
        let f = FloatFormat::of(d).unwrap();
        for code in (0..f.max).step_by(EVERY) {
            let (lo, hi) = (f.decode(code), f.decode(code + 1));
            assert!(lo < hi, "{d} codes are ordered");
            let middle = (lo + hi) / 2.0;
            let even = if d == F4E3m0 && code > 0 { code + 1 } else { code + code % 2 };
            for (v, want) in [(middle, even), (next(middle, false), code), (next(middle, true), code + 1)] {
                assert_eq!(encode(d, v), want, "{d} {v:e}");
                assert_eq!(encode(d, -v), want | f.sign(), "{d} {:e}", -v);
            }
        }
    }
    for d in INTEGERS {
        let (lo, hi) = integral_bounds(d);
        for v in lo as i64..hi as i64 {
            let even = v + (v & 1);
            assert_eq!(round_to(d, v as f64 + 0.5), even as f64, "{d} {v}.5");
            assert_eq!(round_to(d, next(v as f64 + 0.5, false)), v as f64);
            assert_eq!(round_to(d, next(v as f64 + 0.5, true)), (v + 1) as f64);
        }
    }
}

/// Just below the middle between the largest value and the next that the format would have is the largest; from there on it overflows.
#[test]
fn overflow_follows_the_type() {
    for d in SMALL {
        let f = FloatFormat::of(d).unwrap();
        let (max, quantum) = (f.decode(f.max), f.quantum(f.decode(f.max)).1);
        let edge = max + quantum / 2.0;
        assert_eq!(encode(d, next(edge, false)), f.max, "{d}");
        // The largest code is odd for all but f8_e4m3, whose tie at 464 still goes to the even 448.
        assert_eq!(encode(d, edge), if d == F8E4m3 { f.max } else { f.beyond() }, "{d}");
        for v in [next(edge, true), 2.0 * max, 1e300, f64::INFINITY] {
            assert_eq!((encode(d, v), encode(d, -v)), (f.beyond(), f.beyond() | f.sign()), "{d} {v}");
        }
    }
    assert_eq!(decode(F8E4m3, encode(F8E4m3, 448.0)), 448.0);
    assert!(decode(F8E4m3, encode(F8E4m3, 480.0)).is_nan());
    assert_eq!(decode(F8E5m2, encode(F8E5m2, 1e6)), f64::INFINITY);
    assert_eq!((decode(F4E2m1, encode(F4E2m1, -1e6)), decode(F4E3m0, encode(F4E3m0, f64::INFINITY))), (-6.0, 16.0));
    for (d, lo, hi) in [(S8, -128.0, 127.0), (U8, 0.0, 255.0), (S4, -8.0, 7.0), (U4, 0.0, 15.0), (S32, -2147483648.0, 2147483647.0)] {
        assert_eq!((round_to(d, -1e30), round_to(d, 1e30), round_to(d, f64::NAN)), (lo, hi, 0.0));
    }
    assert_eq!((encode(S64, 1e30) as i64, encode(S64, -1e30) as i64, encode(S64, f64::NAN)), (i64::MAX, i64::MIN, 0));
}

#[test]
fn e8m0_keeps_the_exponent() {
    for code in 0..255u64 {
        let v = 2f64.powi(code as i32 - 127);
        assert_eq!((decode(E8m0, code), encode(E8m0, v), encode(E8m0, -v), encode(E8m0, v * 1.999)), (v, code, code, code));
    }
    for v in [f64::NAN, f64::INFINITY, 2f64.powi(128)] {
        assert_eq!(encode(E8m0, v), 255);
    }
    assert_eq!((encode(E8m0, 0.0), encode(E8m0, 1e-300)), (0, 0));
}

/// The `half` crate as an oracle, for f32 inputs (its conversion from f64 rounds twice).
#[test]
fn f16_and_bf16_agree_with_the_half_crate() {
    let mut state = 1u64;
    let check = |v: f64| {
        assert_eq!(encode(F16, v) as u16, half::f16::from_f32(v as f32).to_bits(), "f16 {v:e}");
        assert_eq!(encode(Bf16, v) as u16, half::bf16::from_f32(v as f32).to_bits(), "bf16 {v:e}");
    };
    for _ in 0..400_000 / EVERY {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let exponent = 1023 - 30 + (state >> 58);
        check(f64::from(f64::from_bits(exponent << 52 | state << 6 >> 12 | (state & 1) << 63) as f32));
    }
    for code in (0..=u16::MAX).step_by(EVERY) {
        let (h, b) = (half::f16::from_bits(code), half::bf16::from_bits(code));
        assert!(decode(F16, code.into()) == h.to_f64() || h.is_nan() && decode(F16, code.into()).is_nan());
        assert!(decode(Bf16, code.into()) == b.to_f64() || b.is_nan() && decode(Bf16, code.into()).is_nan());
    }
}

#[test]
fn f32_rounds_like_the_language() {
    let f = FloatFormat::of(F32).unwrap();
    for v in [0.1, -1e-40, 1e-46, 3.4028235677973366e38, 1e39, -0.0, 16777217.0, 16777219.0] {
        assert_eq!(f.encode(v), u64::from((v as f32).to_bits()), "{v:e}");
        assert_eq!(encode(F32, v), f.encode(v));
    }
}

use super::*;
use crate::{EVERY, number};

fn bits_of(dtype: DataType, value: f32) -> u64 {
    let mut bytes = [0u8; 8];
    from_f32(dtype, &[value], &mut bytes[..dtype.bytes(1).unwrap()]);
    u64::from_le_bytes(bytes)
}

fn value_of(dtype: DataType, code: u64) -> f32 {
    let mut out = [0.0];
    to_f32(dtype, &code.to_le_bytes(), &mut out);
    out[0]
}

fn same(dtype: DataType, a: u64, b: u64) -> bool {
    a == b || number::decode(dtype, a).is_nan() && number::decode(dtype, b).is_nan()
}

#[test]
fn every_code_decodes_as_defined() {
    for d in DataType::ALL {
        let codes = 1u64 << d.bits().min(16);
        for code in (0..codes).step_by(EVERY) {
            // For wide types the 16 bits go to the top.
            let code = if d.bits() > 16 { code << (d.bits() - 16) } else { code };
            let (got, want) = (value_of(d, code), number::decode(d, code) as f32);
            assert!(got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan(), "{d} {code:#x}: {got:e}, want {want:e}");
        }
    }
}

#[test]
fn values_encode_as_defined() {
    let mut state = 7u64;
    for d in DataType::ALL {
        let check = |v: f32| {
            let (got, want) = (bits_of(d, v), number::encode(d, f64::from(v)));
            assert!(same(d, got, want), "{d} {v:e} ({:#x}): {got:#x}, want {want:#x}", v.to_bits());
        };
        for _ in 0..300_000 / EVERY {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let bits = (state >> 32) as u32;
            check(f32::from_bits(bits));
            // The same digits near 1, where short types have their values.
            check(f32::from_bits(bits & 0x87ff_ffff | 0x3800_0000));
            check((bits as i32 >> 12) as f32 / 1024.0);
        }
        for v in
            [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 8388607.5, 4194304.5, -4194305.5, 2147483648.0, -2147483648.0, 9.3e18]
        {
            check(v);
        }
    }
}

/// All values that lie half-way between two neighbours of a 16-bit or shorter float, and their neighbours in f32.
#[test]
fn half_way_points_encode_as_defined() {
    for d in DataType::ALL {
        let Some(f) = number::FloatFormat::of(d).filter(|_| d != DataType::F32) else { continue };
        for code in (0..f.max).step_by(EVERY) {
            let middle = ((f.decode(code) + f.decode(code + 1)) / 2.0) as f32;
            for v in [middle, middle.next_up(), middle.next_down(), -middle] {
                assert_eq!(bits_of(d, v), number::encode(d, f64::from(v)), "{d} {v:e}");
            }
        }
    }
}

#[test]
fn nibbles_pack_two_to_a_byte() {
    let mut bytes = [0xff; 3];
    from_f32(DataType::S4, &[-8.0, 7.0, 3.0], &mut bytes[..2]);
    assert_eq!(bytes, [0x78, 0xf3, 0xff]);
    let mut out = [0.0; 3];
    to_f32(DataType::S4, &bytes, &mut out);
    assert_eq!(out, [-8.0, 7.0, 3.0]);
    to_f32(DataType::U4, &bytes, &mut out);
    assert_eq!(out, [8.0, 7.0, 3.0]);
}

//! Values of oneDNN's conversions, NaN and infinity among them.

use super::*;

#[test]
fn floats_round_to_nearest() {
    let mut bits = 0u16;
    bfloat16_assign_f32(Data::of(&mut bits), 1.0 + 1.0 / 512.0);
    assert_eq!((bits, bfloat16_to_f32(Data::of(&mut bits))), (0x3f80, 1.0));
    for (assign, nan, infinity) in [
        (float8_e5m2_assign_f32 as extern "C" fn(Data, f32) -> Data, 0x7e, 0xfc),
        (float8_e4m3_assign_f32, 0x7f, 0xff),
        (float8_e8m0_assign_f32, 0xff, 0xff),
        (float4_e2m1_assign_f32, 0x7, 0xf),
    ] {
        let mut bits = [0u8; 2];
        assign(Data::of(&mut bits[0]), f32::NAN);
        assign(Data::of(&mut bits[1]), f32::NEG_INFINITY);
        assert_eq!(bits, [nan, infinity]);
    }
}

#[test]
fn halves_and_bytes_convert_both_ways() {
    let mut bits = 0u8;
    float8_e4m3_assign_f16(Data::of(&mut bits), 0x3e00);
    assert_eq!((bits, float8_e4m3_to_f16(Data::of(&mut bits)), float8_e4m3_to_bf16(Data::of(&mut bits))), (0x3c, 0x3e00, 0x3fc0));
    let (mut value, mut half) = (3.3f32, 0u16);
    assert!(try_cvt_f32_to_f16(Data::of(&mut half), Data::of(&mut value)) && half == 0x429a);
    assert!(try_cvt_f16_to_f8_e5m2(Data::of(&mut bits), Data::of(&mut half)) && float8_e5m2_to_f32(Data::of(&mut bits)) == 3.5);
    assert_eq!(float4_e3m0_to_f32(Data::of(&mut 1u8)), 0.25);
}

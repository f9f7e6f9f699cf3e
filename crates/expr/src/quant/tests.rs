use super::*;

#[test]
fn quantise_inverts_dequantise() {
    for q in -128..128 {
        let x = dequantise(f64::from(q), 0.125, 3.0);
        assert_eq!(quantise(x, 0.125, 3.0), f64::from(q));
    }
}

#[test]
fn bounds_are_inside_the_type() {
    assert_eq!(bounds(DataType::U8), (0.0, 255.0));
    assert_eq!(bounds(DataType::S32), (-2147483648.0, 2147483520.0));
    assert_eq!(bounds(DataType::F16), (f32::NEG_INFINITY, f32::INFINITY));
}

#[test]
fn combined_sums_round_halves_away_and_saturate() {
    assert_eq!([1, 2, 3, -1, -3].map(|v| combine(0.5, v, 0.0, 7, 0)), [1, 1, 2, -1, -2]);
    assert_eq!(combine(0.5, 1, 0.5, 1, 0), 1);
    assert_eq!(combine(1.0, 1, 1.0, (1 << 24) + 1, 0), (1 << 24) + 2);
    assert_eq!((combine(1.0, i32::MAX, 1.0, 1, 1), combine(2.0, i32::MIN, 0.0, 0, 0)), (i32::MAX, i32::MIN));
}

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

use super::*;

fn tag(dims: &[i64], tag: &str) -> Tensor {
    Tensor::with_tag(Dims::new(dims).unwrap(), DataType::F32, tag).unwrap()
}

#[test]
fn tags_give_strides_and_blocks() {
    let t = tag(&[2, 17, 3, 4], "aBcd16b");
    let b = t.blocking().unwrap();
    assert_eq!(&*b.padded_dims, &[2, 32, 3, 4]);
    assert_eq!(&*b.strides, &[384, 192, 64, 16]);
    assert_eq!(b.offset_of(&[1, 16, 2, 3]), 384 + 192 + 128 + 48);
    assert_eq!(t.bytes(), 2 * 32 * 12 * 4);
    assert_eq!(tag(&[2, 3, 4, 5], "nhwc"), tag(&[2, 3, 4, 5], "axb"));
    assert_eq!(tag(&[2, 3, 4, 5], "nhwc"), tag(&[2, 3, 4, 5], "acdb"));
    assert_eq!(tag(&[32, 32, 3, 3], "OIhw16i16o"), tag(&[32, 32, 3, 3], "ABcd16b16a"));
    assert_eq!(tag(&[2, 32, 32, 3, 3], "gOIhw16i16o"), tag(&[2, 32, 32, 3, 3], "aBCde16c16b"));
    assert_eq!(tag(&[3, 4, 5], "ntc"), tag(&[3, 4, 5], "bac"));
    assert_eq!(tag(&[1, 2, 3, 4, 5], "ldgoi"), tag(&[1, 2, 3, 4, 5], "abdec"));
}

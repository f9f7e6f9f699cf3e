use super::*;
use crate::testkit::{Bound, numbers};

#[test]
fn reads_and_writes_through_blocks() {
    let dims = Dims::from([2, 5, 3]);
    for tag in ["abc", "acb", "aBc4b", "ABc2a4b", "aBc4b2b", "cba"] {
        let tensor = Tensor::with_tag(dims, DataType::F32, tag).unwrap();
        let values = numbers(1, 30);
        let mut b = Bound::default();
        b.put(Arg::SRC, &tensor, &values);
        assert_eq!(b.values(Arg::SRC), values, "{tag}");
        let view = View::of(&b, Arg::SRC).unwrap();
        for_each_position(&dims, |pos| assert_eq!(view.offset(pos), tensor.blocking().unwrap().offset_of(pos), "{tag}"));
    }
}

#[test]
fn padding_becomes_zero_and_nothing_else() {
    for (tag, dims) in [("ABc4a8b", [3, 5, 2]), ("aBc8b4b", [2, 33, 3]), ("abC16c", [1, 2, 1])] {
        let tensor = Tensor::with_tag(dims, DataType::S8, tag).unwrap();
        let bytes = vec![Cell::new(7); tensor.bytes()];
        View::new(Arg::DST, &tensor, &bytes).unwrap().zero_padding();
        let sevens = bytes.iter().filter(|c| c.get() == 7).count() as i64;
        assert_eq!(Some(sevens), tensor.layout.elements(), "{tag}");
        let view = View::new(Arg::DST, &tensor, &bytes).unwrap();
        for_each_position(&dims, |pos| assert_eq!(view.get(pos), 7.0));
    }
}

#[test]
fn nibbles_share_bytes() {
    let tensor = Tensor::plain([2, 3], DataType::S4).unwrap();
    let mut b = Bound::default();
    b.put(Arg::SRC, &tensor, &[-8.0, 7.0, -1.0, 3.4, 100.0, -3.0]);
    assert_eq!(b.values(Arg::SRC), [-8.0, 7.0, -1.0, 3.0, 7.0, -3.0]);
    assert_eq!(b.bytes(Arg::SRC), [0x78, 0x3f, 0xd7]);
}

#[test]
fn dimensions_of_one_broadcast() {
    let mut b = Bound::default();
    b.plain(Arg::SRC, DataType::F32, &[1, 3], &[1.0, 2.0, 3.0]);
    let view = View::of(&b, Arg::SRC).unwrap();
    assert_eq!(view.get(&[5, 2]), 3.0);
}

#[test]
fn bad_arguments_are_named() {
    let b = Bound::default();
    assert!(View::of(&b, Arg::SRC).is_err_and(|e| e.to_string().contains("src")));
    let tensor = Tensor::plain([4], DataType::F32).unwrap();
    let short = vec![Cell::new(0); 15];
    assert!(View::new(Arg::DST, &tensor, &short).is_err_and(|e| e.to_string().contains("16 bytes")));
}

#[test]
fn whole_numbers_saturate_and_ties_go_to_even() {
    let mut b = Bound::default();
    b.plain(Arg::DST, DataType::U8, &[5], &[2.5, 3.5, -4.0, 300.0, 254.6]);
    assert_eq!(b.values(Arg::DST), [2.0, 4.0, 0.0, 255.0, 255.0]);
}

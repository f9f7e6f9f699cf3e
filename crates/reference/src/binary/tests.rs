use crate::lines::{Line, check_same};
use oxidnn_spec::Arg;

#[test]
fn operands_broadcast() {
    let mut l = Line::new("--binary --alg=sub --sdt=f32:s8 --ddt=f32 2x1:1x3");
    l.set(Arg::SRC, &[10.0, 20.0]).set(Arg::SRC_1, &[1.0, 2.0, 3.0]).run();
    assert_eq!(l.values(Arg::DST), [9.0, 8.0, 7.0, 19.0, 18.0, 17.0]);
    check_same(
        "--binary --alg=max --sdt=f32:f32 --ddt=f32 --stag=abcd:abcd --dtag=abcd 2x17x2x3:1x17x1x3",
        "--binary --alg=max --sdt=f32:f32 --ddt=f32 --stag=aBcd16b:acdb --dtag=aBcd8b 2x17x2x3:1x17x1x3",
        Arg::DST,
    );
}

#[test]
fn select_takes_the_first_where_the_condition_holds() {
    let mut l = Line::new("--binary --alg=select --sdt=f32:f32:s8 --ddt=f32 4:4:4");
    l.set(Arg::SRC, &[1.0, 2.0, 3.0, 4.0]).set(Arg::SRC_1, &[5.0, 6.0, 7.0, 8.0]).set(Arg::SRC_2, &[0.0, 1.0, -1.0, 0.0]).run();
    assert_eq!(l.values(Arg::DST), [5.0, 2.0, 3.0, 8.0]);
}

#[test]
fn scales_come_before_the_function() {
    let mut l = Line::new("--binary --alg=max --sdt=s8:s8 --ddt=f32 --attr-scales=src:common:2+src1:common:0.5 2:2");
    l.set(Arg::SRC, &[1.0, 4.0]).set(Arg::SRC_1, &[8.0, 6.0]);
    l.set(Arg::scale(Arg::SRC), &[2.0]).set(Arg::scale(Arg::SRC_1), &[0.5]).run();
    assert_eq!(l.values(Arg::DST), [4.0, 8.0]);
}

#[test]
fn in_place_with_a_sum() {
    let mut l = Line::new("--binary --alg=mul --sdt=f32:f32 --ddt=f32 --attr-post-ops=sum:0.5+relu 4:4");
    l.set(Arg::SRC, &[1.0, 2.0, -3.0, 4.0]).set(Arg::SRC_1, &[2.0, 2.0, 2.0, -2.0]);
    assert_eq!(l.run_in_place(Arg::SRC, Arg::DST), [2.5, 5.0, 0.0, 0.0]);
}

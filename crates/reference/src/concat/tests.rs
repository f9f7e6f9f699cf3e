use crate::lines::{Line, check_same};
use oxidnn_spec::Arg;

#[test]
fn by_hand_with_scales() {
    let mut l = Line::new("--concat --sdt=s8 --ddt=f32 --axis=1 --attr-scales=msrc1:common:0.5 2x1:2x2");
    l.set(Arg::multiple_src(0), &[1.0, 2.0]).set(Arg::multiple_src(1), &[10.0, 20.0, 30.0, 40.0]);
    l.set(Arg::scale(Arg::multiple_src(1)), &[0.5]).run();
    assert_eq!(l.values(Arg::DST), [1.0, 5.0, 10.0, 2.0, 15.0, 20.0]);
}

#[test]
fn layouts() {
    let line = "--concat --sdt=f16 --ddt=f16 --stag=abcd:abcd --dtag=abcd --axis=1 2x9x2x2:2x8x2x2";
    check_same(line, &line.replace("abcd:abcd", "aBcd8b:acdb").replace("dtag=abcd", "dtag=aBcd16b"), Arg::DST);
}

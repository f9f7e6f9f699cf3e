use crate::lines::Line;
use oxidnn_spec::Arg;

#[test]
fn by_hand_and_in_place() {
    let mut l = Line::new("--sum --sdt=f32:f32 --ddt=f32 --scales=2:-0.5 2x2");
    l.set(Arg::multiple_src(0), &[1.0, 2.0, 3.0, 4.0]).set(Arg::multiple_src(1), &[2.0, 4.0, 6.0, -8.0]);
    let want = [1.0, 2.0, 3.0, 12.0];
    assert_eq!(l.run().values(Arg::DST), want);
    assert_eq!(l.run_in_place(Arg::multiple_src(1), Arg::DST), want);
}

#[test]
fn blocked_and_saturated() {
    let mut l = Line::new("--sum --sdt=s8:s8 --ddt=s8 --stag=ab:aB8b --dtag=aB16b --scales=1:1 1x3");
    l.set(Arg::multiple_src(0), &[100.0, -100.0, 1.0]).set(Arg::multiple_src(1), &[100.0, -100.0, 1.0]).run();
    assert_eq!(l.values(Arg::DST), [127.0, -128.0, 2.0]);
}

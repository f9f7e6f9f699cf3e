use crate::lines::{Line, check_same};
use oxidnn_spec::Arg;

#[test]
fn algorithms_by_hand() {
    let x = [3.0, -4.0, 0.5, 2.0];
    let (sum_p3, p): (f64, f64) = (27.0 + 64.0 + 0.125 + 8.0, 3.0);
    for (alg, want) in [
        ("max", 3.0),
        ("min", -4.0),
        ("sum", 1.5),
        ("mul", -12.0),
        ("mean", 0.375),
        ("norm_lp_max", sum_p3.powf(1.0 / p)),
        ("norm_lp_sum", (sum_p3 + 0.5).powf(1.0 / p)),
        ("norm_lp_power_p_max", sum_p3),
        ("norm_lp_power_p_sum", sum_p3 + 0.5),
    ] {
        let mut l = Line::new(&format!("--reduction --sdt=f32 --ddt=f32 --alg={alg} --p=3 --eps=0.5 2x2:1x1"));
        let got = l.set(Arg::SRC, &x).run().values(Arg::DST);
        assert_eq!(got, [f64::from(want as f32)], "{alg}");
    }
    let mut l = Line::new("--reduction --sdt=f32 --ddt=f32 --alg=norm_lp_power_p_max --p=1 --eps=100 2x2:1x2");
    assert_eq!(l.set(Arg::SRC, &x).run().values(Arg::DST), [100.0, 100.0]);
}

#[test]
fn some_dimensions_and_layouts() {
    let mut l = Line::new("--reduction --sdt=s8 --ddt=s32 --alg=sum 2x3:2x1");
    assert_eq!(l.set(Arg::SRC, &[100.0, 100.0, 100.0, 1.0, 2.0, 3.0]).run().values(Arg::DST), [300.0, 6.0]);
    let line = "--reduction --sdt=f32 --ddt=f32 --stag=abcd --dtag=abcd --alg=mul 2x17x3x2:2x17x1x2";
    check_same(line, &line.replace("=abcd", "=aBcd16b"), Arg::DST);
}

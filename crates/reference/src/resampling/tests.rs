use crate::lines::{Line, check_gradients};
use oxidnn_spec::Arg;

#[test]
fn gradients() {
    for alg in ["nearest", "linear"] {
        for shape in ["mb1ic2ih4iw3oh7ow5", "mb2ic1iw9ow4", "mb1ic1id3ih2iw4od2oh5ow4"] {
            let line = |dir: &str| format!("--resampling --dir={dir} --sdt=f64 --ddt=f64 --alg={alg} {shape}");
            check_gradients(&line("FWD_D"), &line("BWD_D"), &[(Arg::SRC, Arg::DIFF_SRC)]);
        }
    }
}

#[test]
fn values_by_hand() {
    for (alg, shape, want) in [
        ("nearest", "iw2ow4", vec![8.0, 8.0, 16.0, 16.0]),
        ("linear", "iw2ow4", vec![8.0, 10.0, 14.0, 16.0]),
        ("nearest", "iw2ow1", vec![16.0]),
        ("linear", "iw2ow1", vec![12.0]),
        ("nearest", "iw2ow3", vec![8.0, 16.0, 16.0]),
    ] {
        let mut l = Line::new(&format!("--resampling --dir=FWD_I --sdt=f32 --ddt=f32 --alg={alg} mb1ic1{shape}"));
        assert_eq!(l.set(Arg::SRC, &[8.0, 16.0]).run().values(Arg::DST), want, "{alg} {shape}");
    }
}

use crate::lines::{Line, check_gradients};
use oxidnn_spec::Arg;

#[test]
fn gradients() {
    for (alg, shape) in [
        ("ACROSS", "mb2ic6ih2iw2ls3alpha1beta0.75k1"),
        ("ACROSS", "mb1ic6ih1iw2ls4alpha0.5beta1k2"),
        ("WITHIN", "mb1ic2ih4iw3ls3alpha1beta0.75k1"),
    ] {
        let line = |dir: &str| format!("--lrn --dir={dir} --dt=f64 --alg={alg} {shape}");
        check_gradients(&line("FWD_D"), &line("BWD_D"), &[(Arg::SRC, Arg::DIFF_SRC)]);
    }
}

#[test]
fn across_by_hand() {
    let mut l = Line::new("--lrn --dir=FWD_D --dt=f32 --alg=ACROSS mb1ic3ih1iw1ls3alpha3beta1k1");
    l.set(Arg::SRC, &[1.0, 2.0, 3.0]).run();
    let want = [1.0 / 6.0, 2.0 / 15.0, 3.0 / 14.0].map(|v: f64| f64::from(v as f32));
    assert_eq!(l.values(Arg::DST), want);
}

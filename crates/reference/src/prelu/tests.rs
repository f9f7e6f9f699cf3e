use crate::lines::{Line, check_gradients};
use oxidnn_spec::Arg;

#[test]
fn gradients() {
    for weights in ["1x3x1", "2x3x4", "1x1x1", "2x1x4"] {
        let line = |dir: &str| format!("--prelu --dir={dir} --sdt=f64:f64 2x3x4:{weights}");
        check_gradients(&line("FWD_D"), &line("BWD_DW"), &[(Arg::WEIGHTS, Arg::DIFF_WEIGHTS)]);
    }
}

#[test]
fn by_hand() {
    let mut l = Line::new("--prelu --dir=BWD_DW --sdt=f32:f32 2x2:1x2");
    l.set(Arg::SRC, &[-1.0, 2.0, -3.0, 0.0]).set(Arg::WEIGHTS, &[0.5, 0.25]).set(Arg::DIFF_DST, &[4.0, 4.0, 4.0, 4.0]).run();
    assert_eq!((l.values(Arg::DIFF_SRC), l.values(Arg::DIFF_WEIGHTS)), (vec![2.0, 4.0, 2.0, 1.0], vec![-16.0, 0.0]));
    assert_eq!(l.run_in_place(Arg::DIFF_DST, Arg::DIFF_SRC), [2.0, 4.0, 2.0, 1.0]);
}

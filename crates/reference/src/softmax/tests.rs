use crate::lines::{Line, check_gradients, check_same};
use oxidnn_spec::Arg;

#[test]
fn gradients() {
    for alg in ["SOFTMAX", "LOGSOFTMAX"] {
        let line = |dir: &str| format!("--softmax --dir={dir} --sdt=f64 --ddt=f64 --alg={alg} --axis=1 2x5x3");
        check_gradients(&line("FWD_D"), &line("BWD_D"), &[(Arg::SRC, Arg::DIFF_SRC)]);
    }
}

#[test]
fn rows_of_infinities() {
    let inf = f64::INFINITY;
    let run = |alg: &str| {
        let mut l = Line::new(&format!("--softmax --dir=FWD_I --sdt=f32 --ddt=f32 --alg={alg} --axis=1 2x2"));
        l.set(Arg::SRC, &[-inf, -inf, 0.0, -inf]).run().values(Arg::DST)
    };
    assert_eq!(run("SOFTMAX_INF_AS_ZERO"), [0.0, 0.0, 1.0, 0.0]);
    let accurate = run("SOFTMAX");
    assert!(accurate[0].is_nan() && accurate[1].is_nan() && accurate[2..] == [1.0, 0.0]);
    assert_eq!(run("LOGSOFTMAX")[2..], [0.0, -inf]);
}

#[test]
fn large_numbers_do_not_overflow() {
    let mut l = Line::new("--softmax --dir=FWD_I --sdt=f32 --ddt=f32 --alg=SOFTMAX --axis=0 2");
    assert_eq!(l.set(Arg::SRC, &[3e38, 3e38]).run().values(Arg::DST), [0.5, 0.5]);
}

/// A run-time source scale multiplies the result.
#[test]
fn scales() {
    let mut l =
        Line::new("--softmax --dir=FWD_I --sdt=s8 --ddt=u8 --alg=SOFTMAX --axis=1 --attr-scales=src:common:0.5+dst:common:0.25 1x4");
    l.set(Arg::SRC, &[3.0; 4]).set(Arg::scale(Arg::SRC), &[0.5]).set(Arg::scale(Arg::DST), &[0.0078125]).run();
    assert_eq!(l.values(Arg::DST), [16.0; 4]);
}

#[test]
fn in_place_and_blocked() {
    let line = "--softmax --dir=FWD_D --sdt=f32 --ddt=f32 --stag=abcd --dtag=abcd --alg=SOFTMAX --axis=1 2x17x2x2";
    let expected = Line::new(line).run().values(Arg::DST);
    assert_eq!(Line::new(line).run_in_place(Arg::SRC, Arg::DST), expected);
    check_same(line, &line.replace("=abcd", "=aBcd16b"), Arg::DST);
    let line = "--softmax --dir=BWD_D --sdt=f32 --ddt=f32 --alg=SOFTMAX --axis=1 2x5x3";
    let expected = Line::new(line).run().values(Arg::DIFF_SRC);
    assert_eq!(Line::new(line).run_in_place(Arg::DIFF_DST, Arg::DIFF_SRC), expected);
}

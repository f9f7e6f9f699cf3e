use crate::lines::{Line, check_gradients, check_same};
use oxidnn_expr::philox;
use oxidnn_spec::Arg;

#[test]
fn gradients() {
    for (alg, alpha, beta) in
        [("tanh", 0.0, 0.0), ("swish", 1.5, 0.0), ("mish", 0.0, 0.0), ("gelu_erf", 0.0, 0.0), ("linear", 2.0, 1.0), ("soft_relu", 2.0, 0.0)]
    {
        let line = |dir: &str, alg: &str| format!("--eltwise --dir={dir} --dt=f64 --alg={alg} --alpha={alpha} --beta={beta} 2x3x4");
        check_gradients(&line("FWD_D", alg), &line("BWD_D", alg), &[(Arg::SRC, Arg::DIFF_SRC)]);
        if alg == "tanh" {
            check_gradients(&line("FWD_D", "tanh_dst"), &line("BWD_D", "tanh_dst"), &[(Arg::SRC, Arg::DIFF_SRC)]);
        }
    }
}

/// `e^0` is 1, yet padded elements stay 0 (checked by every run).
#[test]
fn layouts_and_types() {
    check_same(
        "--eltwise --dir=FWD_D --dt=f32 --tag=abcd --alg=exp 2x17x2x3",
        "--eltwise --dir=FWD_D --dt=f32 --tag=aBcd16b --alg=exp 2x17x2x3",
        Arg::DST,
    );
    let mut l = Line::new("--eltwise --dir=FWD_I --dt=u8 --alg=linear --alpha=2 --beta=-3 5");
    assert_eq!(l.set(Arg::SRC, &[0.0, 1.0, 2.0, 100.0, 255.0]).run().values(Arg::DST), [0.0, 0.0, 1.0, 197.0, 255.0]);
}

#[test]
fn in_place() {
    let line = "--eltwise --dir=FWD_D --dt=f32 --alg=elu --alpha=0.5 --attr-post-ops=mul:f32:common 3x7";
    let expected = Line::new(line).run().values(Arg::DST);
    assert_eq!(Line::new(line).run_in_place(Arg::SRC, Arg::DST), expected);
    let line = "--eltwise --dir=BWD_D --dt=f32 --alg=elu --alpha=0.5 3x7";
    let expected = Line::new(line).run().values(Arg::DIFF_SRC);
    assert_eq!(Line::new(line).run_in_place(Arg::DIFF_DST, Arg::DIFF_SRC), expected);
}

/// Dropout counts physical elements, writes its mask, and goes before the post-ops.
#[test]
fn dropout() {
    let mut l =
        Line::new("--eltwise --dir=FWD_D --dt=f32 --alg=linear --alpha=1 --attr-dropout=0.5:12345:ab --attr-post-ops=add:f32:common 4x8");
    l.set(Arg::DROPOUT_PROBABILITY, &[0.5]).set(Arg::DROPOUT_SEED, &[12345.0]).set(Arg::post_op(0, Arg::SRC_1), &[1.0]);
    l.run();
    let (src, dst, mask) = (l.values(Arg::SRC), l.values(Arg::DST), l.values(Arg::DROPOUT_MASK));
    for i in 0..32 {
        let keep = philox::dropout_keeps(i as u64, 12345, 0, 0.5);
        assert_eq!(mask[i], f64::from(u8::from(keep)));
        assert_eq!(dst[i], if keep { 2.0 * src[i] + 1.0 } else { 1.0 });
    }
    assert!(mask.contains(&0.0) && mask.contains(&1.0));
}

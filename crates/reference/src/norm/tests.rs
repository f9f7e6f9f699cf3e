use crate::lines::{Line, check_gradients, check_same};
use oxidnn_spec::Arg;

const PARAMETERS: [(Arg, Arg); 3] = [(Arg::SRC, Arg::DIFF_SRC), (Arg::SCALE, Arg::DIFF_SCALE), (Arg::SHIFT, Arg::DIFF_SHIFT)];

/// Forward in training and backward of a driver; with parameters where the flags say so.
fn gradients(driver: &str, rest: &str, flags: &str) {
    let pairs: Vec<_> = PARAMETERS.into_iter().zip([true, flags.contains('C'), flags.contains('H')]).filter(|p| p.1).map(|p| p.0).collect();
    let line = |dir: &str| format!("--{driver} --dir={dir} --flags={flags} {rest}");
    let backward = if pairs.len() > 1 { "BWD_DW" } else { "BWD_D" };
    check_gradients(&line("FWD_D"), &line(backward), &pairs);
}

#[test]
fn batch_gradients() {
    for flags in ["", "CH", "G", "GCH", "C"] {
        gradients("bnorm", "--dt=f64 mb3ic2ih2iw3eps0.01", flags);
    }
}

#[test]
fn layer_gradients() {
    for flags in ["", "CH", "GCH", "M", "CM", "GM"] {
        gradients("lnorm", "--dt=f64 2x3x4", flags);
    }
}

#[test]
fn group_gradients() {
    for flags in ["", "CH", "G"] {
        gradients("gnorm", "--dt=f64 g2mb2ic4iw3eps0.01", flags);
    }
}

/// Away from the kink; the bit mask carries what was positive.
#[test]
fn fused_relu_gradients() {
    gradients("bnorm", "--dt=f64 mb3ic2ih2iw3eps0.01", "CHR");
    let line = |dir: &str| format!("--bnorm --dir={dir} --dt=f64 --flags=CHA mb3ic2ih2iw3eps0.01");
    check_gradients(
        &line("FWD_D"),
        &line("BWD_DW"),
        &[(Arg::SRC, Arg::DIFF_SRC), (Arg::SRC_1, Arg::DIFF_SRC_1), (Arg::SCALE, Arg::DIFF_SCALE)],
    );
}

/// Gradients of parameters over an empty batch are written, as zeros.
#[test]
fn empty_batches_have_zero_gradients() {
    for line in
        ["--bnorm --dir=BWD_DW --flags=CH mb0ic2iw2", "--lnorm --dir=BWD_DW --flags=CH 0x2", "--gnorm --dir=BWD_DW --flags=CH g1mb0ic2iw2"]
    {
        let mut l = Line::new(line);
        l.set(Arg::DIFF_SCALE, &[3.0, 4.0]).set(Arg::DIFF_SHIFT, &[5.0, 6.0]).run();
        assert_eq!((l.values(Arg::DIFF_SCALE), l.values(Arg::DIFF_SHIFT)), (vec![0.0; 2], vec![0.0; 2]), "{line}");
    }
}

#[test]
fn statistics_and_mask_by_hand() {
    let mut l = Line::new("--bnorm --dir=FWD_D --dt=f32 --flags=R mb2ic2iw2eps0");
    l.set(Arg::SRC, &[1.0, 3.0, 0.0, 0.0, 5.0, 7.0, 4.0, 4.0]).run();
    assert_eq!((l.values(Arg::MEAN), l.values(Arg::VARIANCE)), (vec![4.0, 2.0], vec![5.0, 4.0]));
    assert_eq!(l.args.bytes(Arg::WORKSPACE), [0b1111_0000]);
    let root = f64::from((1.0 / 5f64.sqrt()) as f32);
    assert_eq!(l.values(Arg::DST), [0.0, 0.0, 0.0, 0.0, root, f64::from((3.0 / 5f64.sqrt()) as f32), 1.0, 1.0]);
}

#[test]
fn root_mean_square_by_hand() {
    let mut l = Line::new("--lnorm --dir=FWD_D --dt=f32 --flags=M 1x2");
    let epsilon = match &l.problem.op {
        oxidnn_spec::Op::LayerNorm(op) => f64::from(op.epsilon.get()),
        _ => unreachable!(),
    };
    l.set(Arg::SRC, &[3.0, 4.0]).run();
    assert_eq!(l.values(Arg::VARIANCE), [12.5]);
    assert!((l.values(Arg::DST)[1] - 4.0 / (12.5 + epsilon).sqrt()).abs() < 1e-6);
}

#[test]
fn in_place_and_blocked() {
    for line in [
        "--bnorm --dir=FWD_D --dt=f32 --tag=abcd --flags=CH mb2ic17ih2iw3eps0.01",
        "--lnorm --dir=FWD_D --dt=f32 --tag=abcd --flags=CH 2x17x2x3",
        "--gnorm --dir=FWD_D --dt=f32 --tag=abcd --flags=CH g17mb2ic17ih2iw3eps0.01",
    ] {
        let expected = Line::new(line).run().values(Arg::DST);
        assert_eq!(Line::new(line).run_in_place(Arg::SRC, Arg::DST), expected, "{line}");
        check_same(line, &line.replace("abcd", "aBcd16b"), Arg::DST);
        let line = line.replace("FWD_D", "BWD_DW");
        let (apart, together) = (Line::new(&line), Line::new(&line));
        let expected = apart.run().values(Arg::DIFF_SRC);
        assert_eq!(together.run_in_place(Arg::DIFF_DST, Arg::DIFF_SRC), expected, "{line}");
        assert_eq!(together.values(Arg::DIFF_SCALE), apart.values(Arg::DIFF_SCALE), "{line}");
    }
}

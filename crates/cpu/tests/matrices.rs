//! Rows of softmax, normalisations and pooling of `f32` against the reference, over sizes that cut tiles, vectors and segments in every way.

mod light;

use light::{Run, cases, difference};
use oxidnn_cpu::ops;
use oxidnn_runtime::{Executor, Threads};
use oxidnn_spec::Arg;
use std::sync::Arc;

/// Every one must be taken by more than the reference.
const LINES: &str = "\
--softmax --dir=FWD_I --axis=1 7x16
--softmax --dir=FWD_D --axis=1 301x37
--softmax --dir=FWD_D --axis=1 --alg=logsoftmax 65x1031
--softmax --dir=FWD_D --axis=1 --inplace=true 3x9001
--softmax --dir=FWD_D --axis=1 --stag=axb --dtag=axb 3x67x5x4
--softmax --dir=BWD_D --axis=2 5x6x129
--softmax --dir=BWD_D --axis=1 --alg=logsoftmax 2x30000
--lnorm --dir=FWD_D --tag=abc --flags=CH 3x50x77
--lnorm --dir=FWD_D --tag=abc --stat_tag=ab 9x31x1000
--lnorm --dir=FWD_I --tag=ab --flags=GC 65x64
--lnorm --dir=FWD_D --tag=ab --flags=H --inplace=true 2x20011
--lnorm --dir=FWD_I --tag=ab --flags=M 700x48
--lnorm --dir=BWD_DW --tag=abc --flags=CH 3x50x77
--lnorm --dir=BWD_DW --tag=ab --flags=CM 700x48
--lnorm --dir=BWD_DW --tag=ab --flags=C --inplace=true 33x1031
--lnorm --dir=BWD_D --tag=ab 2x20011
--bnorm --dir=FWD_D --tag=axb --flags=CH mb7ic19ih9
--bnorm --dir=FWD_D --tag=axb --flags=CH mb8ic64ih56
--bnorm --dir=FWD_I --tag=axb --flags=R --inplace=true mb3ic515ih11
--bnorm --dir=FWD_I --tag=axb --flags=GCH mb2ic4096ih5
--bnorm --dir=BWD_DW --tag=axb --flags=CH mb7ic19ih9
--bnorm --dir=BWD_DW --tag=axb --flags=CH mb4ic64ih56
--bnorm --dir=BWD_D --tag=axb --flags=C --inplace=true mb3ic515ih11
--bnorm --dir=BWD_D --tag=axb mb2ic4096ih5
--pool --dir=FWD_I --tag=axb --alg=max mb2ic24ih15oh8kh3sh2ph1
--pool --dir=FWD_I --tag=axb --alg=max mb2ic9id5ih6iw7od5oh3ow3kd3kh2kw3sd1sh2sw3pd1ph0pw1
--pool --dir=FWD_D --tag=axb --alg=avg_np mb1ic17ih13oh7kh3sh2ph1
--pool --dir=FWD_D --tag=axb --alg=avg_p mb1ic33ih14oh6kh3dh1sh2ph1
";

/// Calls tasks last to first, on three workers in turn.
struct Backwards;

// SAFETY: one thread runs all tasks before it returns.
unsafe impl Executor for Backwards {
    fn threads(&self) -> usize {
        3
    }
    fn run(&self, workers: usize, tasks: usize, body: &(dyn Fn(usize, usize) + Sync)) {
        (0..tasks).rev().for_each(|task| body(task % workers.clamp(1, 3), task));
    }
}

/// Runs every row and the reference on the same arguments and compares.
fn check(run: &Run) {
    let line = run.problem.to_string();
    let mut expected = run.clone();
    expected.execute("ref:any", Threads::inline()).unwrap_or_else(|e| panic!("{line}: {e}"));
    let taken = ops::rows(&run.problem.op).iter().map(|row| row.name).filter(|name| *name != "ref:any" && run.plan(name).is_ok());
    let taken: Vec<_> = taken.collect();
    assert!(!taken.is_empty(), "{line}");
    for row in taken {
        let (mut one, mut other) = (run.clone(), run.clone());
        one.execute(row, Threads::inline()).unwrap_or_else(|e| panic!("{row} {line}: {e}"));
        other.execute(row, Threads::over(Arc::new(Backwards))).unwrap_or_else(|e| panic!("{row} {line}: {e}"));
        assert_eq!(difference(&expected, &one), None, "{row} {line}");
        let same = one.arguments.iter().zip(&other.arguments).all(|(a, b)| a.data() == b.data());
        assert!(same, "{row} {line}: depends on threads");
    }
}

#[test]
fn agrees_with_the_reference() {
    for case in cases(LINES) {
        check(&Run::new(&case).unwrap());
    }
}

/// Sources that are far from zero, where statistics cancel.
#[test]
fn statistics_of_shifted_data() {
    for case in cases("--bnorm --dir=FWD_D --tag=axb mb8ic32ih40\n--lnorm --dir=FWD_D --tag=ab 64x3000\n") {
        let mut run = Run::new(&case).unwrap();
        with_source(&mut run, |i, v| v + 100.0 + 50.0 * (i % 3) as f32);
        check(&run);
    }
}

/// Infinities and NaN in some rows, and a row of nothing but `-inf`.
#[test]
fn softmax_of_infinities() {
    for alg in ["softmax", "logsoftmax", "softmax_inf_as_zero"] {
        let [case] = &cases(&format!("--softmax --dir=FWD_D --axis=1 --alg={alg} 5x40\n"))[..] else { panic!("one case") };
        let mut run = Run::new(case).unwrap();
        with_source(&mut run, |i, v| match (i / 40, i % 40) {
            (0, _) | (1, 7..) => f32::NEG_INFINITY,
            (2, 3) => f32::INFINITY,
            (3, 39) => f32::NAN,
            _ => v,
        });
        check(&run);
    }
}

fn with_source(run: &mut Run, f: impl Fn(usize, f32) -> f32) {
    let src = run.arguments.iter_mut().find(|a| a.arg == Arg::SRC).unwrap();
    let values: &mut [f32] = bytemuck::cast_slice_mut(&mut src.bytes);
    values.iter_mut().take(src.len / 4).enumerate().for_each(|(i, v)| *v = f(i, *v));
}

use super::*;
use crate::compare;
use crate::harness::Truth;
use oxidnn_spec::text::{self, Settings};

fn truth(line: &str) -> Truth {
    let case = text::parse_line(&mut Settings::default(), line).expect("a line").pop().expect("a problem");
    let mut problem = case.problem;
    problem.resolve();
    Truth::of(&problem, &case.fill).expect("a truth")
}

/// Whether the destination passes when element `at` is changed.
fn passes(truth: &Truth, at: usize, change: impl Fn(f64) -> f64) -> bool {
    let right = truth.outputs.get(Arg::DST).expect("a destination");
    let faulty = right.clone();
    let mut values = right.values();
    values[at] = change(values[at]);
    faulty.set_values(&values);
    assert_ne!(faulty.values(), right.values(), "the change is lost in the type");
    let got = HostArgs(truth.outputs.0.iter().map(|(a, t)| (*a, if *a == Arg::DST { faulty.clone() } else { t.clone() })).collect());
    truth.compare(&got).is_empty()
}

/// The first element of the destination that holds a number `wanted`.
fn position(truth: &Truth, wanted: impl Fn(f64) -> bool) -> usize {
    let values = truth.outputs.get(Arg::DST).expect("a destination").values();
    values.iter().position(|v| wanted(*v)).expect("such an element")
}

#[test]
fn integers_behind_exact_arithmetic_are_exact() {
    let exact = [
        "--eltwise --dt=s8 --alg=relu 3x7x5",
        "--matmul --dt=s8:s8:s8 --attr-post-ops=relu 5x8:8x9",
        "--matmul --dt=u8:s8:s8 --attr-scales=src:common:0.25+wei:common:0.5 --attr-post-ops=relu 5x8:8x9",
        "--conv --dt=s8:s8:s32 --dir=FWD_I mb1ic3ih5oc4oh3kh3",
        "--pool --dt=s8 --dir=FWD_I --alg=max mb1ic3ih4oh2kh2sh2",
        "--reorder --sdt=f32 --ddt=s8 4x33",
        "--binary --sdt=s8:s8 --ddt=s8 --alg=add 3x4:3x4",
    ];
    for line in exact {
        let t = truth(line);
        let at = position(&t, |v| v != 0.0 && v.abs() < 100.0);
        assert!(!passes(&t, at, |v| v + 1.0) && !passes(&t, at, |v| v - 1.0), "{line}");
    }
}

#[test]
fn integers_behind_inexact_arithmetic_may_be_one_off() {
    let lines = [
        "--matmul --dt=s8:s8:s8 --attr-post-ops=tanh 5x8:8x9",
        "--matmul --dt=s8:s8:s8 --attr-scales=src:common:0.3 5x8:8x9",
        "--conv --dir=FWD_I --dt=f32:f32:u8 --alg=wino mb1ic16ih5oc16kh3ph1",
    ];
    for line in lines {
        let t = truth(line);
        let at = position(&t, |v| v.abs() < 100.0);
        assert!(passes(&t, at, |v| v + 1.0) && !passes(&t, at, |v| v + 2.0), "{line}");
    }
}

#[test]
fn a_row_is_judged_by_itself() {
    for (line, row) in [
        ("--softmax --dir=FWD_I --axis=1 16x64", 64),
        ("--lnorm --dir=FWD_I --flags=CH 32x128", 128),
        ("--matmul 16x8:8x32", 32),
        ("--bnorm --dir=FWD_I --flags=G mb4ic1ih8iw8", 256),
    ] {
        let mut t = truth(line);
        // Beside a row of large numbers, small ones are to be as exact as without it.
        let dst = t.outputs.get(Arg::DST).expect("a destination").clone();
        let mut values = dst.values();
        let at = (0..row).max_by(|&a, &b| values[a].abs().total_cmp(&values[b].abs())).expect("elements");
        let wrong = |v: f64| v * 1.0005;
        assert!(!passes(&t, at, wrong), "{line}");
        let rows = values.len() / row;
        if rows > 1 {
            values[(rows - 1) * row] = 1e6;
            dst.set_values(&values);
            t.outputs.0.iter_mut().filter(|a| a.0 == Arg::DST).for_each(|a| a.1 = dst.clone());
            assert!(!passes(&t, at, wrong), "{line}: beside a row of large numbers");
        }
    }
}

#[test]
fn a_jump_excuses_the_elements_next_to_it_only() {
    let t = truth("--matmul --attr-scales=src:common:0.3 --attr-post-ops=ge:f32 16x8:8x16");
    let excused = (0..256).filter(|&i| passes(&t, i, |v| 1.0 - v)).count();
    assert!(excused < 8, "{excused} of 256 elements are excused");
    let exact = truth("--matmul --attr-post-ops=ge:f32 16x8:8x16");
    assert!((0..256).all(|i| !passes(&exact, i, |v| 1.0 - v)));
}

#[test]
fn neighbours_of_a_jump() {
    let bounds = Bounds::uniform(DataType::F32, 0.0, 0.0).beside([vec![0.0, 1.0, 1.0], vec![0.0, 1.0, 4.0]]);
    assert!(bounds.accepts(0, 0.0, 0.0) && !bounds.accepts(0, 1.0, 0.0));
    assert!(!bounds.accepts(1, 1.0, 0.0), "the neighbours agree: nothing jumps here");
    assert!(
        bounds.accepts(2, 1.0, 4.0)
            && bounds.accepts(2, 2.0, 4.0)
            && !bounds.accepts(2, 4.5, 4.0)
            && !bounds.accepts(2, f64::INFINITY, 4.0)
    );
}

#[test]
fn special_values_are_those_of_the_truth() {
    for (line, dtype) in [("--eltwise --alg=exp 8", DataType::F32), ("--eltwise --dt=f16 --alg=exp 8", DataType::F16)] {
        let t = truth(line);
        let want = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1.0, 0.0, 1.0, 1.0, 1.0];
        let mut bounds = of(&t.problem, Arg::DST, dtype, &want, &t.inputs);
        bounds.overflow = false;
        let verdict = |i: usize, got: f64| {
            let mut changed = want.to_vec();
            changed[i] = got;
            compare::values(Arg::DST, dtype, &changed, &want, &bounds).is_none()
        };
        assert!(verdict(0, f64::INFINITY) && verdict(2, f64::NAN));
        for (i, got) in [
            (0, f64::MAX),
            (0, 3e38),
            (0, 65504.0),
            (0, f64::NEG_INFINITY),
            (0, 0.0),
            (1, f64::INFINITY),
            (2, 0.0),
            (3, f64::NAN),
            (4, f64::INFINITY),
        ] {
            assert!(!verdict(i, got), "{got} for {} of {dtype}", want[i]);
        }
        assert!(compare::values(Arg::DST, dtype, &want[..7], &want, &bounds).is_some(), "a shorter list");
    }
}

#[test]
fn numbers_next_to_overflow_may_overflow() {
    let mut bounds = Bounds::uniform(DataType::F16, 2f64.powi(-10), 0.0);
    bounds.overflow = true;
    assert!(bounds.accepts(0, f64::INFINITY, 65504.0) && bounds.accepts(0, 65504.0, f64::INFINITY));
    assert!(!bounds.accepts(0, f64::INFINITY, 65000.0) && !bounds.accepts(0, -65504.0, f64::INFINITY));
}

#[test]
fn large_whole_numbers_are_exact_where_nothing_goes_through_f32() {
    let large = |t: &Truth| position(t, |v| v.abs() > F32_INTEGERS && v.abs() < f64::from(i32::MAX / 2));
    let sums = truth("--matmul --dt=s8:s8:s32 --attr-post-ops=linear:1048577:0 4x64:64x4");
    assert!(passes(&sums, large(&sums), |v| v + 1.0));
    let bounds = Bounds::uniform(DataType::S32, 0.0, 0.0);
    assert!(!bounds.accepts(0, 16_777_218.0, 16_777_217.0));
}

#[test]
fn bits_of_factors() {
    assert_eq!(exact::span(&[1.0, 0.5, 0.0, f64::NAN]), 2);
    assert_eq!(exact::span(&[1.0, 1e-8]), exact::span(&[1e-8]) + 27, "1e-8 begins at 2^-27");
    assert_eq!(exact::span(&[]), 0);
}

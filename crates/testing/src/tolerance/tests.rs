use super::*;
use crate::compare;
use crate::harness::Truth;
use oxidnn_expr::Num;
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
fn integers_behind_inexact_arithmetic_may_be_one_off_at_ties() {
    let lines = [
        "--matmul --dt=s8:s8:s8 --attr-scales=src:common:0.3 64x1:1x64",
        "--conv --dir=FWD_I --dt=f32:f32:u8 --alg=wino mb1ic16ih5oc16kh3ph1",
    ];
    for line in lines {
        let t = truth(line);
        let values = t.outputs.get(Arg::DST).expect("a destination").values();
        let inner: Vec<usize> = (0..values.len()).filter(|&i| (2.0..100.0).contains(&values[i].abs())).collect();
        let excused = inner.iter().filter(|&&i| passes(&t, i, |v| v + 1.0) || passes(&t, i, |v| v - 1.0)).count();
        assert!(excused > 0 && 4 * excused < inner.len(), "{line}: {excused} of {}", inner.len());
        assert!(inner.iter().all(|&i| !passes(&t, i, |v| v + 2.0) && !passes(&t, i, |v| v - 2.0)), "{line}");
    }
    let far = truth("--matmul --dt=s8:s8:s8 --attr-post-ops=tanh 5x8:8x9");
    assert!((0..45).all(|i| !passes(&far, i, |v| v + 1.0)), "no number of these is next to a tie");
}

#[test]
fn a_row_is_judged_by_itself() {
    for (line, row) in [
        ("--softmax --dir=FWD_I --axis=1 16x64", 64),
        ("--lnorm --dir=FWD_I --flags=CH 32x128", 128),
        ("--matmul --attr-scales=src:common:0.3 16x8:8x32", 32),
        ("--bnorm --dir=FWD_I --flags=G mb4ic1ih8iw8", 256),
    ] {
        let t = truth(line);
        let values = t.outputs.get(Arg::DST).expect("a destination").values();
        let at = (0..row).max_by(|&a, &b| values[a].abs().total_cmp(&values[b].abs())).expect("elements");
        let wrong = |v: f64| v * 1.0005;
        assert!(!passes(&t, at, wrong), "{line}");
        let rows = values.len() / row;
        if rows > 1 {
            // Beside a row of large numbers, small ones are to be as exact as without it.
            let inputs = t.inputs.clone();
            let src = inputs.get(Arg::SRC).expect("a source");
            let mut values = src.values();
            let first = values.len() - values.len() / rows;
            values[first..].iter_mut().for_each(|v| *v *= 4096.0);
            src.set_values(&values);
            let beside = Truth::over(&t.problem, inputs).expect("a truth");
            assert!(!passes(&beside, at, wrong), "{line}: beside a row of large numbers");
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

/// A whole number between two fused convolutions may be its neighbour where it is next to a tie, which moves sums by a weight; nowhere else.
#[test]
fn a_tie_between_fused_convolutions_excuses_the_sums_that_read_it() {
    let shape = "mb2ic17oc32ih8oh8";
    let near = truth(&format!(
        "--conv --dir=FWD_I --dt=u8:s8:s8 --attr-scales=src:common:0.3+wei:common:0.3 --attr-post-ops=swish:1+dw:k3s1p1:s8:s8 {shape}"
    ));
    let values = near.outputs.get(Arg::DST).expect("a destination").values();
    let inner: Vec<usize> = (0..values.len()).filter(|&i| values[i].abs() < 100.0).collect();
    let excused = inner.iter().filter(|&&i| passes(&near, i, |v| v + 1.0) || passes(&near, i, |v| v - 1.0)).count();
    assert!(excused > 0 && 4 * excused < inner.len(), "{excused} of {}", inner.len());
    let exact = truth(&format!("--conv --dir=FWD_I --dt=u8:s8:s8 --attr-post-ops=relu+dw:k3s1p1:s8:s8 {shape}"));
    let values = exact.outputs.get(Arg::DST).expect("a destination").values();
    let mut inner = (0..values.len()).filter(|&i| values[i].abs() < 100.0);
    assert!(inner.all(|i| !passes(&exact, i, |v| v + 1.0) && !passes(&exact, i, |v| v - 1.0)));
}

#[test]
fn special_values_are_those_of_the_truth() {
    for dtype in [DataType::F32, DataType::F16] {
        let want = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1.0, 0.0, 1.0, 1.0, 1.0];
        let bounds = Bounds::around(dtype, &want, |_, v| 0.001 * v + 0.001, false);
        let verdict = |i: usize, got: f64| {
            let mut changed = want.to_vec();
            changed[i] = got;
            compare::values(Arg::DST, &changed, &want, &bounds).is_none()
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
        assert!(compare::values(Arg::DST, &want[..7], &want, &bounds).is_some(), "a shorter list");
    }
}

#[test]
fn numbers_next_to_overflow_may_overflow() {
    let near = |want: f64| Bounds::around(DataType::F16, &[want], |_, v| v * 2f64.powi(-10), true);
    assert!(near(65504.0).accepts(0, f64::INFINITY) && near(f64::INFINITY).accepts(0, 65504.0));
    assert!(!near(65000.0).accepts(0, f64::INFINITY) && !near(f64::INFINITY).accepts(0, -65504.0));
}

#[test]
fn bounds_move_with_the_truth() {
    let bounds =
        Bounds::around(DataType::F32, &[1.0, 2.0, f64::NAN], |_, _| 0.25, false).moved(&[1.0, 2.0, f64::NAN], &[5.0, 2.5, f64::NAN]);
    assert!(bounds.accepts(0, 5.25) && !bounds.accepts(0, 1.0) && bounds.accepts(1, 2.25) && !bounds.accepts(1, 2.0));
    assert!(bounds.accepts(2, f64::NAN) && !bounds.accepts(2, 0.0));
}

#[test]
fn large_whole_numbers_are_exact_where_nothing_goes_through_f32() {
    let large = |t: &Truth| position(t, |v| v.abs() > 16_777_216.0 && v.abs() < f64::from(i32::MAX / 2));
    let sums = truth("--matmul --dt=s8:s8:s32 --attr-post-ops=linear:1048577:0 4x64:64x4");
    assert!(passes(&sums, large(&sums), |v| v + 1.0));
    let whole = truth("--matmul --dt=s8:s8:s32 4x2000:2000x4");
    let at = position(&whole, |v| v != 0.0);
    assert!(!passes(&whole, at, |v| v + 1.0));
}

/// What f32 arithmetic may make of sums that are exact, or not, in functions that lose the digits of large terms, round, or jump.
#[test]
fn errors_go_where_the_functions_take_them() {
    let inexact = truth("--matmul --attr-scales=src:common:0.3 --attr-post-ops=sum+linear:1:-1 64x8:8x64");
    let near = position(&inexact, |v| v.abs() < 0.01 && v != 0.0);
    assert!(passes(&inexact, near, |v| v + 1e-7) && !passes(&inexact, near, |v| v + 1e-4));
    let exact = truth("--matmul --attr-post-ops=sum+relu 64x8:8x64");
    assert!((0..4096).all(|i| !passes(&exact, i, |v| v + 1e-3)));
    let steep = truth("--matmul --attr-post-ops=linear:1048577:0.3 16x8:8x16");
    let at = position(&steep, |v| v.abs() > 1e6);
    assert!(passes(&steep, at, |v| f64::from((v as f32).next_up())) && !passes(&steep, at, |v| v * (1.0 + 1e-6)));
}

#[test]
fn intervals_hold_what_arithmetic_may_give() {
    let near = |v: f64| Interval::near(v, 0.125);
    let points = [1.5, -2.0, 0.0, 3.0].map(Interval::point);
    assert!(points.iter().all(|p| p.add(Interval::point(0.25)).is_point() && p.mul(Interval::point(0.5)).is_point()));
    assert!(!Interval::point(1.0).add(Interval::point(1e-9)).is_point() && !Interval::point(1.0).div(Interval::point(3.0)).is_point());
    let flag = |m| Interval::select(m, Interval::point(1.0), Interval::point(0.0));
    assert_eq!(flag(near(1.0).lt(Interval::point(2.0))), Interval::point(1.0));
    assert!(flag(near(1.0).lt(Interval::point(1.0))).contains(0.0) && flag(near(1.0).lt(Interval::point(1.0))).contains(1.0));
    assert_eq!(flag(near(1.0).eq(Interval::point(2.0))), Interval::point(0.0));
    assert_eq!(flag(Interval::NAN.eq(Interval::point(2.0))), Interval::point(0.0));
    assert_eq!(near(0.0).abs(), Interval { low: 0.0, high: 0.125, nan: false });
    assert_eq!(near(2.5).round(), Interval { low: 2.0, high: 3.0, nan: false });
    let square = near(0.0).mul(near(0.0));
    assert!(square.contains(0.0) && square.high >= 0.015625);
    assert!(near(0.0).sqrt().nan && near(0.0).sqrt().contains(0.0) && !near(1.0).sqrt().nan);
    assert!(Interval::point(1.0).div(near(0.0)).contains(f64::INFINITY) && near(0.0).div(near(0.0)).nan);
    assert!(Interval::point(89.0).exp().contains(f64::INFINITY) && Interval::point(89.0).exp().contains(4.5e38));
    assert_eq!(Interval::point(f64::INFINITY).add(Interval::point(1.0)), Interval::point(f64::INFINITY));
    assert_eq!(Interval::point(f64::INFINITY).sub(Interval::point(f64::INFINITY)), Interval::NAN);
    assert_eq!(Interval::NAN.max(Interval::point(3.0)), Interval::point(3.0));
    assert_eq!(Interval::point(f64::NEG_INFINITY).exp(), Interval::point(0.0), "a limit");
    assert!(Interval::point(f64::INFINITY).mul(near(0.0)).nan && !Interval::point(f64::INFINITY).mul(near(1.0)).nan);
    assert!(Interval::NAN.mul(near(1.0)) == Interval::NAN && Interval::NAN.exp() == Interval::NAN);
}

#[test]
fn bits_of_factors() {
    assert_eq!(exact::span(&[1.0, 0.5, 0.0, f64::NAN]), 2);
    assert_eq!(exact::span(&[1.0, 1e-8]), exact::span(&[1e-8]) + 27, "1e-8 begins at 2^-27");
    assert_eq!(exact::span(&[]), 0);
}

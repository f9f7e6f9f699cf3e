use super::*;
use crate::{EVERY, eltwise, functions};
use oxidnn_judge::{Bound, within};
use oxidnn_spec::op::EltwiseAlg;

/// Largest relative error of `got` against the `f64` truth over `n` points of `range`, spread evenly and by powers.
fn error(range: (f32, f32), got: impl Fn(f32) -> f32, truth: impl Fn(f64) -> f64) -> f64 {
    let n = 400_000 / EVERY;
    let mut worst: f64 = 0.0;
    let mut check = |x: f32| {
        let want = truth(f64::from(x));
        if want.abs() > f64::from(f32::MIN_POSITIVE) && want.abs() < f64::from(f32::MAX) {
            worst = worst.max(((f64::from(got(x)) - want) / want).abs());
        }
    };
    for i in 0..=n {
        let t = i as f32 / n as f32;
        check(range.0 + (range.1 - range.0) * t);
        let small = 2f32.powf(-30.0 * t);
        check(range.0 * small);
        check(range.1 * small);
    }
    worst
}

fn check<const FMA: bool>() {
    let e = [
        ("exp", 1.1e-7, error((-87.0, 88.3), |x| Lane::<FMA>(x).exp().0, f64::exp)),
        ("the largest exp", 2.6e-7, error((88.3, 88.7), |x| Lane::<FMA>(x).exp().0, f64::exp)),
        ("exp2", 1.1e-7, error((-125.9, 127.4), |x| functions::exp2(Lane::<FMA>(x)).0, f64::exp2)),
        ("the largest exp2", 2.6e-7, error((127.4, 127.9), |x| functions::exp2(Lane::<FMA>(x)).0, f64::exp2)),
        ("exp2_short", 7.2e-6, error((-125.9, 127.4), |x| functions::exp2_short(Lane::<FMA>(x)).0, f64::exp2)),
        ("exp_m1", 2e-7, error((-87.0, 88.5), |x| Lane::<FMA>(x).exp_m1().0, f64::exp_m1)),
        ("ln", 9e-8, error((1e-38, 1e38), |x| Lane::<FMA>(x).ln().0, f64::ln)),
        ("ln near 1", 9e-8, error((0.5, 2.0), |x| Lane::<FMA>(x).ln().0, f64::ln)),
        ("ln_1p", 1.5e-7, error((0.0, 1.0), |x| Lane::<FMA>(x).ln_1p().0, f64::ln_1p)),
        ("tanh", 3.5e-7, error((-12.0, 12.0), |x| Lane::<FMA>(x).tanh().0, f64::tanh)),
        ("erf", 4.1e-7, error((-6.0, 6.0), |x| Lane::<FMA>(x).erf().0, Num::erf)),
        ("powf 2.5", 6e-8, error((0.0, 1e12), |x| Lane::<FMA>(x).powf(2.5).0, |x| x.powf(2.5))),
        ("powf -1.5", 6e-8, error((0.0, 1e12), |x| Lane::<FMA>(x).powf(-1.5).0, |x| x.powf(-1.5))),
        ("powf 3", 6e-8, error((-100.0, 100.0), |x| Lane::<FMA>(x).powf(3.0).0, |x| x.powf(3.0))),
    ];
    for (name, bound, got) in e {
        println!("{name}: {got:.2e} (FMA {FMA})");
        assert!(got <= bound, "{name}: {got:e} exceeds {bound:e} (FMA {FMA})");
    }
}

#[test]
fn errors_are_within_the_documented_bounds() {
    check::<true>();
    check::<false>();
}

#[test]
fn special_values_follow_f64() {
    let inputs =
        [0.0, -0.0, 1.0, -1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1e-45, -1e-45, 1e-40, 3e38, -3e38, 200.0, -200.0, 2.5, -2.5];
    type Pair = (&'static str, fn(Lane<false>) -> Lane<false>, fn(f64) -> f64);
    let functions: [Pair; 10] = [
        ("exp", Num::exp, f64::exp),
        ("exp2", functions::exp2, f64::exp2),
        ("exp_m1", Num::exp_m1, f64::exp_m1),
        ("ln", Num::ln, f64::ln),
        ("tanh", Num::tanh, f64::tanh),
        ("erf", Num::erf, Num::erf),
        ("round", Num::round, f64::round_ties_even),
        ("powf 3", |x| x.powf(3.0), |x| x.powf(3.0)),
        ("powf -0.5", |x| x.powf(-0.5), |x| x.powf(-0.5)),
        ("powf 0", |x| x.powf(0.0), |x| x.powf(0.0)),
    ];
    for (name, lane, truth) in functions {
        for x in inputs {
            let (got, want) = (lane(Lane(x)).0, truth(f64::from(x)) as f32);
            let bound = Bound { relative: 4e-7, absolute: 1e-44 };
            assert!(bound.accepts(f64::from(got), f64::from(want)), "{name}({x:e}) = {got:e}, want {want:e}");
        }
    }
}

/// What is bounded does not exceed its bounds, and reaches them: `1 + erf` of large negative numbers is 0.
#[test]
fn bounded_functions_end_at_one() {
    for i in (0..100_000).step_by(EVERY) {
        let x = 3.0 + i as f32 * 1e-4;
        let all = [Lane::<true>(x).tanh().0, Lane::<true>(x).erf().0, Lane::<false>(x).tanh().0, Lane::<false>(x).erf().0];
        assert!(all.iter().all(|y| *y <= 1.0 && (x < 9.2 || *y == 1.0)), "{x}: {all:?}");
    }
    assert_eq!((Lane::<true>(-4.0).erf().0, Lane::<false>(-4.0).erf().0), (-1.0, -1.0));
}

/// Every function and derivative over slices, against the same formula in `f64`.
#[test]
fn formulas_agree_with_f64() {
    let xs: Vec<f32> = (-4000..4000).step_by(EVERY).map(|i| i as f32 / 401.0).collect();
    for (alg, name) in EltwiseAlg::NAMES {
        let (alpha, beta) = match alg {
            EltwiseAlg::Clip | EltwiseAlg::ClipV2 | EltwiseAlg::ClipV2Dst => (-1.5, 2.25),
            EltwiseAlg::Pow => (0.5, 2.0),
            _ => (0.75, 0.5),
        };
        let mut d = xs.clone();
        forward::<false>(alg, alpha, beta, &mut d);
        let mut dd = vec![1.5f32; xs.len()];
        backward::<false>(alg, alpha, beta, &mut dd, &xs);
        for ((x, d), dd) in xs.iter().zip(d).zip(dd) {
            let s = f64::from(*x);
            for (got, want) in [(d, eltwise::forward(alg, alpha, beta, s)), (dd, eltwise::backward(alg, alpha, beta, 1.5, s))] {
                assert!(within(f64::from(got), want, 2e-6 * want.abs().max(1.0)), "{name}({x}): {got}, want {want}");
            }
        }
    }
}

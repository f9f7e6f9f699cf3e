use super::*;
use crate::lane::Lane;
use EltwiseAlg::*;

/// `(alg, alpha, beta, s, value, derivative)` computed with 40 digits by mpmath.
#[rustfmt::skip]
const KNOWN: [(EltwiseAlg, f32, f32, f64, f64, f64); 24] = [
    (SoftRelu, 2.0, 0.0, -2.5, 0.003357674244559034, 0.0066928509242848554),
    (SoftRelu, 2.0, 0.0, 0.5, 0.6566308437591114, 0.7310585786300049),
    (Logistic, 0.0, 0.0, 0.5, 0.6224593312018546, 0.2350037122015945),
    (Logistic, 0.0, 0.0, 3.0, 0.9525741268224333, 0.04517665973091213),
    (Tanh, 0.0, 0.0, -2.5, -0.9866142981514303, 0.02659222668316062),
    (Tanh, 0.0, 0.0, 0.5, 0.46211715726000974, 0.7864477329659274),
    (Elu, 0.5, 0.0, -2.5, -0.4589575006880506, 0.0410424993119494),
    (Elu, 0.5, 0.0, 0.5, 0.5, 1.0),
    (GeluTanh, 0.0, 0.0, -2.5, -0.015084266089998582, -0.037951576212666184),
    (GeluTanh, 0.0, 0.0, 0.5, 0.34571400982514394, 0.8673699035346423),
    (GeluErf, 0.0, 0.0, -2.5, -0.015524163314440337, -0.03761108590814521),
    (GeluErf, 0.0, 0.0, 0.5, 0.34573123063700656, 0.8674951246561629),
    (Swish, 1.5, 0.0, -2.5, -0.057443424775064034, -0.06120791902263738),
    (Swish, 1.5, 0.0, 0.5, 0.3395893495876965, 0.8425999444967535),
    (Mish, 0.0, 0.0, -2.5, -0.19681620390653334, -0.10974357275018569),
    (Mish, 0.0, 0.0, 0.5, 0.3752452113048951, 0.8864243753577272),
    (Log, 0.0, 0.0, 0.5, -std::f64::consts::LN_2, 2.0),
    (Log, 0.0, 0.0, 3.0, 1.0986122886681098, 0.3333333333333333),
    (Exp, 0.0, 0.0, -2.5, 0.0820849986238988, 0.0820849986238988),
    (Exp, 0.0, 0.0, 0.5, 1.6487212707001282, 1.6487212707001282),
    (Pow, 0.5, -1.5, 0.5, std::f64::consts::SQRT_2, -4.242640687119285),
    (Pow, 0.5, -1.5, 3.0, 0.09622504486493763, -0.048112522432468816),
    (HardSwish, 0.25, 0.5, -2.5, 0.0, 0.0),
    (HardSwish, 0.25, 0.5, 0.5, 0.3125, 0.75),
];

#[test]
fn known_values() {
    for (alg, alpha, beta, s, value, slope) in KNOWN {
        let (got, got_slope) = (forward(alg, alpha, beta, s), backward(alg, alpha, beta, 1.0, s));
        assert!((got - value).abs() <= 2e-15 * value.abs().max(0.1), "{alg:?}({s}) = {got}, want {value}");
        assert!((got_slope - slope).abs() <= 4e-15 * slope.abs().max(0.1), "{alg:?}'({s}) = {got_slope}, want {slope}");
    }
}

/// Parameters that every function takes, and where its source may be.
fn setting(alg: EltwiseAlg) -> (f32, f32, bool) {
    match alg {
        Clip | ClipV2 | ClipV2Dst => (-0.75, 1.25, false),
        Pow => (0.5, 2.5, true),
        Sqrt | SqrtDst | Log => (0.0, 0.0, true),
        HardSigmoid | HardSwish => (0.3, 0.4, false),
        _ => (0.7, 0.2, false),
    }
}

#[test]
fn derivatives_are_those_of_finite_differences() {
    for (alg, name) in EltwiseAlg::NAMES {
        if alg == Round {
            continue;
        }
        let (alpha, beta, positive) = setting(alg);
        let f = |s: f64| forward(alg, alpha, beta, s);
        for i in -40..40 {
            let s = f64::from(i) * 0.097 + 0.0131;
            if positive && s <= 0.0 {
                continue;
            }
            let h = 1e-5;
            let slope = (8.0 * (f(s + h) - f(s - h)) - (f(s + 2.0 * h) - f(s - 2.0 * h))) / (12.0 * h);
            let data = if alg.uses_dst() { f(s) } else { s };
            let got = backward(alg, alpha, beta, 3.0, data) / 3.0;
            assert!((got - slope).abs() < 1e-8 * slope.abs().max(1.0), "{name}'({s}) = {got}, differences give {slope}");
        }
    }
}

#[test]
fn boundaries() {
    let slope = |alg, alpha, beta, s: f64| backward(alg, alpha, beta, 1.0, s);
    // clip keeps the upper bound's gradient, clip_v2 neither.
    assert_eq!([-1.0, 0.0, 2.0, 3.0].map(|s| slope(Clip, -1.0, 2.0, s)), [0.0, 1.0, 1.0, 0.0]);
    for alg in [ClipV2, ClipV2Dst] {
        assert_eq!([-1.0, 0.0, 2.0, 3.0].map(|s| slope(alg, -1.0, 2.0, s)), [0.0, 1.0, 0.0, 0.0]);
    }
    assert_eq!([-5.0, 0.0, 5.0].map(|s| forward(Clip, -1.0, 2.0, s)), [-1.0, 0.0, 2.0]);
    assert_eq!([-1.0, 0.0, 1.0].map(|s| slope(Abs, 0.0, 0.0, s)), [-1.0, 0.0, 1.0]);
    assert_eq!([-1.0, 0.0, 1.0].map(|s| slope(Relu, 0.25, 0.0, s)), [0.25, 0.25, 1.0]);
    assert_eq!([-1.0, 0.0, 1.0].map(|d| slope(EluDst, 2.0, 0.0, d)), [1.0, 2.0, 1.0]);
    assert_eq!([0.5, 1.5, 2.5, -0.5, -1.5].map(|s| forward(Round, 0.0, 0.0, s)), [0.0, 2.0, 2.0, 0.0, -2.0]);
    assert_eq!(forward(Relu, 0.0, 0.0, f64::NEG_INFINITY), 0.0);
    assert!(forward(Relu, 0.0, 0.0, f64::NAN).is_nan());
    // v = 0 and v = 1 are outside.
    assert_eq!([-2.0, 0.0, 2.0].map(|s| slope(HardSigmoid, 0.25, 0.5, s)), [0.0, 0.25, 0.0]);
    assert_eq!([-2.0, 0.0, 2.0].map(|s| slope(HardSwish, 0.25, 0.5, s)), [0.0, 0.5, 1.0]);
}

#[test]
fn powers_at_zero() {
    assert_eq!((forward(Pow, 3.0, 0.0, 0.0), forward(Pow, 3.0, 0.0, -7.0), forward(Pow, 3.0, 0.0, f64::NAN)), (3.0, 3.0, 3.0));
    assert_eq!((backward(Pow, 3.0, 0.0, 1.0, 0.0), backward(Pow, 3.0, 1.0, 1.0, 0.0)), (0.0, 3.0));
    assert_eq!((forward(Pow, 3.0, 2.0, 0.0), backward(Pow, 3.0, 2.0, 1.0, 0.0)), (0.0, 0.0));
    assert_eq!(forward(Pow, 1.0, -1.0, 0.0), f64::INFINITY);
    assert_eq!((forward(Pow, 1.0, 3.0, -2.0), backward(Pow, 1.0, 3.0, 1.0, -2.0)), (-8.0, 12.0));
    assert!(forward(Pow, 1.0, 0.5, -2.0).is_nan());
}

/// Lanes give NaN and infinities where `f64` does.
#[test]
fn numbers_that_are_none_and_infinities() {
    for (alg, name) in EltwiseAlg::NAMES {
        let (alpha, beta, _) = setting(alg);
        assert!(forward(alg, alpha, beta, f64::NAN).is_nan() && forward(alg, alpha, beta, Lane::<false>(f32::NAN)).0.is_nan(), "{name}");
    }
    for p in [0.5f32, -0.5, 1.5, -1.5, 0.3, -0.3, 2.0, 3.0, -3.0, f32::INFINITY, f32::NEG_INFINITY] {
        for s in [f32::NEG_INFINITY, f32::INFINITY, -0.0, 0.0, -1.0, 1.0, 0.5, -0.5, 3.0] {
            let (wide, lane) = (forward(Pow, 1.0, p, f64::from(s)), f64::from(forward(Pow, 1.0, p, Lane::<true>(s)).0));
            assert!(
                wide == lane || wide.is_nan() && lane.is_nan() || (wide - lane).abs() < 1e-6 * wide.abs(),
                "{s}^{p} = {lane}, want {wide}"
            );
            assert_eq!(
                wide.is_sign_negative() && !wide.is_nan(),
                lane.is_sign_negative() && !lane.is_nan(),
                "{s}^{p} = {lane}, want {wide}"
            );
        }
    }
}

/// Far from zero nothing overflows to NaN on the way, and small results keep their digits.
#[test]
fn large_arguments() {
    for s in [-1e30, -1e4, -800.0, 800.0, 1e4, 1e30] {
        for alg in [SoftRelu, Logistic, Swish, Mish, GeluTanh, GeluErf, Tanh, Elu] {
            let (d, slope): (f64, f64) = (forward(alg, 1.0, 0.0, s), backward(alg, 1.0, 0.0, 1.0, s));
            assert!(d.is_finite() && slope.is_finite(), "{alg:?}({s}) = {d}, slope {slope}");
            let identity = !matches!(alg, Logistic | Tanh);
            if identity && s > 0.0 {
                assert!((d - s).abs() <= 1e-12 * s && (slope - 1.0).abs() < 1e-12, "{alg:?}({s}) = {d}, slope {slope}");
            }
        }
    }
    for alg in [SoftRelu, Logistic] {
        assert!((forward(alg, 1.0, 0.0, -700.0) / (-700f64).exp() - 1.0).abs() < 1e-15, "{alg:?}");
    }
    assert!(backward(GeluTanh, 0.0, 0.0, 1.0, f64::NAN).is_nan());
    assert_eq!(forward(Elu, 1.0, 0.0, -1e-12), (-1e-12f64).exp_m1());
}

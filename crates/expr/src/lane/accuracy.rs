//! Element-wise functions and their derivatives over the numbers of `f32`, against the same formulas in `f64`.

use super::*;
use crate::eltwise;
use oxidnn_judge::ulps;
use oxidnn_spec::op::EltwiseAlg;

/// Results below normal numbers may be zeros, and so may results computed from them.
const TINY: f64 = 64.0 * f32::MIN_POSITIVE as f64;

/// How far results may be from the true ones: in units of the last place, or at all, which counts where sums cancel.
type Bound = (f64, f64);

/// The bounds of functions and of their derivatives.
fn bounds(alg: EltwiseAlg) -> [Bound; 2] {
    use EltwiseAlg::*;
    match alg {
        Relu | ReluDst | Square | Abs | Clip | ClipV2 | ClipV2Dst | Round => [(0.5, 0.0), (0.5, 0.0)],
        Sqrt | SqrtDst => [(0.5, 0.0), (1.5, TINY)],
        Linear => [(1.0, 3e-8), (0.5, 0.0)],
        HardSigmoid => [(1.0, 3e-8), (0.5, 0.0)],
        HardSwish => [(2.0, 3e-8), (2.0, 9e-8)],
        Tanh | TanhDst => [(8.0, 0.0), (8.0, TINY)],
        Elu | EluDst => [(4.0, 0.0), (4.0, TINY)],
        Exp | ExpDst | Logistic | LogisticDst => [(4.0, TINY), (8.0, TINY)],
        Log => [(1.0, 0.0), (0.5, 0.0)],
        Pow => [(2.0, 0.0), (2.0, 0.0)],
        SoftRelu => [(8.0, 1e-9), (8.0, 1e-9)],
        Swish => [(8.0, 1e-8), (8.0, 1e-7)],
        Mish => [(8.0, TINY), (8.0, 2e-7)],
        GeluTanh => [(8.0, 2e-8), (8.0, 2e-7)],
        GeluErf => [(8.0, 1e-6), (8.0, 5e-7)],
    }
}

/// One of so many bit patterns is tried; `OXIDNN_FLOATS=1` tries all.
fn step() -> usize {
    let one_of = std::env::var("OXIDNN_FLOATS").ok().and_then(|n| n.parse().ok());
    one_of.unwrap_or(16_381 * crate::EVERY)
}

/// The largest error in units of the last place among those that are larger than `little`, and where.
fn worst(little: f64, got: impl Fn(f32) -> f32 + Sync, want: impl Fn(f64) -> f64 + Sync) -> (f64, f32) {
    let error = |bits: u32| {
        let x = f32::from_bits(bits);
        let (got, want) = (got(x), want(f64::from(x)));
        if (f64::from(got) - want).abs() <= little { (0.0, x) } else { (ulps(got, want), x) }
    };
    let worse = |worst: (f64, f32), error: (f64, f32)| if error.0 > worst.0 { error } else { worst };
    let (step, error) = (step(), &error);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let shares: Vec<_> = (0..threads)
            .map(|first| scope.spawn(move || (0..=u32::MAX).step_by(step).skip(first).step_by(threads).map(error).fold((0.0, 0.0), worse)))
            .collect();
        shares.into_iter().map(|share| share.join().expect("a share does not panic")).fold((0.0, 0.0), worse)
    })
}

fn check<const FMA: bool>() {
    for (alg, name) in EltwiseAlg::NAMES {
        let (alpha, beta) = match alg {
            EltwiseAlg::Clip | EltwiseAlg::ClipV2 | EltwiseAlg::ClipV2Dst => (-1.5, 2.25),
            EltwiseAlg::Pow => (1.5, 2.0),
            _ => (0.75, 0.5),
        };
        let [forward, backward] = bounds(alg);
        let function =
            worst(forward.1, |x| eltwise::forward(alg, alpha, beta, Lane::<FMA>(x)).0, |x| eltwise::forward(alg, alpha, beta, x));
        let derivative = worst(
            backward.1,
            |x| eltwise::backward(alg, alpha, beta, Lane::<FMA>(1.5), Lane(x)).0,
            |x| eltwise::backward(alg, alpha, beta, 1.5, x),
        );
        for (what, (most, _), (error, x)) in [("", forward, function), (" backward", backward, derivative)] {
            println!("{name}{what}: {error:.2} units of the last place at {x:e} (FMA {FMA})");
            assert!(error <= most, "{name}{what} of {x:e} is {error} units of the last place off, at most {most} (FMA {FMA})");
        }
    }
}

#[test]
fn functions_of_all_numbers_are_within_their_bounds() {
    check::<false>();
    check::<true>();
}

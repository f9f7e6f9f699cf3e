//! Element-wise functions of one operand and their derivatives.
//!
//! `forward` is `d = alg(s)`. `backward` is `dd * alg'(x)` with `x` the source, or for a `Dst` algorithm the destination. With `sigma(x) = 1 / (1 + e^-x)`:
//!
//! | algorithm | forward | derivative |
//! |---|---|---|
//! | relu | `s > 0 ? s : alpha s` | `s > 0 ? 1 : alpha` |
//! | tanh, exp, log, sqrt, square, abs, logistic | the function | `1 - tanh^2`, `e^s`, `1/s`, `1/(2 sqrt s)`, `2s`, sign (0 at 0), `sigma (1 - sigma)` |
//! | elu | `s > 0 ? s : alpha (e^s - 1)` | `s > 0 ? 1 : alpha e^s` |
//! | linear | `alpha s + beta` | `alpha` |
//! | soft_relu | `ln(1 + e^(alpha s)) / alpha` | `sigma(alpha s)` |
//! | hardsigmoid | `max(0, min(1, alpha s + beta))` | `alpha` strictly inside, else 0 |
//! | hardswish | `s max(0, min(1, alpha s + beta))` | `2 alpha s + beta` strictly inside, 1 above, 0 below |
//! | swish | `s sigma(alpha s)` | `sigma (1 + alpha s (1 - sigma))` |
//! | mish | `s tanh(ln(1 + e^s))` | `t + s sigma(s) (1 - t^2)`, `t` the hyperbolic tangent |
//! | gelu_tanh | `s/2 (1 + tanh(g))`, `g = sqrt(2/pi) (s + 0.044715 s^3)` | by the product rule |
//! | gelu_erf | `s/2 (1 + erf(s/sqrt 2))` | `(1 + erf)/2 + s e^(-s^2/2) / sqrt(2 pi)` |
//! | clip, clip_v2 | `min(max(s, alpha), beta)` | 1 for `alpha < s <= beta`; `clip_v2`: for `alpha < s < beta` |
//! | pow | `alpha s^beta` | `alpha beta s^(beta - 1)`; 0 when `beta` is 0 |
//! | round | nearest, ties to even | 0 |
//!
//! NaN stays NaN in every forward function, `pow` with `beta = 0` aside, which is `alpha` everywhere; powers of infinity and zero are those of IEEE 754's
//! `pow`. In derivatives a comparison with NaN is false.
//!
//! With the destination `d`: relu `d > 0 ? 1 : alpha`, tanh `1 - d^2`, elu `d > 0 ? 1 : d + alpha`, sqrt `1/(2d)`, logistic `d (1 - d)`,
//! exp `d`, clip_v2 as above. The functions of the specification, rearranged here so that nothing overflows or cancels on the way.

#[cfg(test)]
mod tests;

use crate::Num;
use oxidnn_spec::op::EltwiseAlg;
use std::f64::consts::FRAC_1_SQRT_2;

const SQRT_2_OVER_PI: f64 = 0.797_884_560_802_865_4;
const GELU_CUBE: f64 = 0.044715;
const FRAC_1_SQRT_TAU: f64 = 0.398_942_280_401_432_7;

/// `alg(s)`.
#[inline(always)]
pub fn forward<N: Num>(alg: EltwiseAlg, alpha: f32, beta: f32, s: N) -> N {
    use EltwiseAlg::*;
    let zero = N::constant(0.0);
    let (a, b) = (N::constant(f64::from(alpha)), N::constant(f64::from(beta)));
    match alg {
        Relu | ReluDst => N::select(s.le(zero), if alpha == 0.0 { zero } else { s.mul(a) }, s),
        Tanh | TanhDst => s.tanh(),
        Elu | EluDst => N::select(zero.lt(s), s, s.exp_m1().mul(a)),
        Square => s.mul(s),
        Abs => s.abs(),
        Sqrt | SqrtDst => s.sqrt(),
        Linear => s.mul_add(a, b),
        SoftRelu if alpha == 1.0 => soft_relu(s),
        SoftRelu => soft_relu(s.mul(a)).div(a),
        HardSigmoid => s.mul_add(a, b).clamp(0.0, 1.0),
        Logistic | LogisticDst => logistic(s),
        Exp | ExpDst => s.exp(),
        GeluTanh => gelu_tanh(s),
        GeluErf => s.mul(normal_cdf(s)),
        Swish => s.mul(logistic(s.mul(a))),
        Log => s.ln(),
        Clip | ClipV2 | ClipV2Dst => s.clamp(f64::from(alpha), f64::from(beta)),
        Pow => pow(alpha, beta, s),
        Round => s.round(),
        Mish => mish(s),
        HardSwish => s.mul(s.mul_add(a, b).clamp(0.0, 1.0)),
    }
}

/// `dd * alg'(x)`, with `x` the source, or the destination for a `Dst` algorithm.
#[inline(always)]
pub fn backward<N: Num>(alg: EltwiseAlg, alpha: f32, beta: f32, dd: N, x: N) -> N {
    use EltwiseAlg::*;
    let (zero, one, two) = (N::constant(0.0), N::constant(1.0), N::constant(2.0));
    let (a, b) = (N::constant(f64::from(alpha)), N::constant(f64::from(beta)));
    match alg {
        Relu | ReluDst => N::select(zero.lt(x), dd, dd.mul(a)),
        Tanh => dd.mul(tanh_slope(x)),
        TanhDst => dd.mul(one.sub(x).mul(one.add(x))),
        Elu => dd.mul(N::select(zero.lt(x), one, x.exp().mul(a))),
        EluDst => dd.mul(N::select(zero.lt(x), one, x.add(a))),
        Square => dd.mul(two.mul(x)),
        Abs => N::select(zero.lt(x), dd, N::select(x.lt(zero), zero.sub(dd), zero)),
        Sqrt => dd.div(two.mul(x.sqrt())),
        SqrtDst => dd.div(two.mul(x)),
        Linear => dd.mul(a),
        SoftRelu => dd.mul(logistic(x.mul(a))),
        HardSigmoid => inside(x.mul_add(a, b), zero, one, dd.mul(a)),
        Logistic => {
            let (s, rest) = logistics(x);
            dd.mul(s.mul(rest))
        }
        LogisticDst => dd.mul(x.mul(one.sub(x))),
        Exp => dd.mul(x.exp()),
        ExpDst => dd.mul(x),
        GeluTanh => dd.mul(gelu_tanh_slope(x)),
        GeluErf => {
            let density = x.mul(x).mul(N::constant(-0.5)).exp().mul(N::constant(FRAC_1_SQRT_TAU));
            dd.mul(x.mul_add(density, normal_cdf(x)))
        }
        Swish => {
            let v = x.mul(a);
            let (s, rest) = logistics(v);
            dd.mul(s.mul(v.mul_add(rest, one)))
        }
        Log => dd.div(x),
        Clip => N::select(a.lt(x), N::select(x.le(b), dd, zero), zero),
        ClipV2 | ClipV2Dst => inside(x, a, b, dd),
        Pow if beta == 0.0 => zero,
        Pow => dd.mul(b.mul(pow(alpha, beta - 1.0, x))),
        Round => zero,
        Mish => dd.mul(mish_slope(x)),
        HardSwish => {
            let v = x.mul_add(a, b);
            let middle = dd.mul(two.mul(a).mul_add(x, b));
            N::select(v.le(zero), zero, N::select(one.le(v), dd, middle))
        }
    }
}

/// `low < v < high ? value : 0`.
#[inline(always)]
fn inside<N: Num>(v: N, low: N, high: N, value: N) -> N {
    let zero = N::constant(0.0);
    N::select(low.lt(v), N::select(v.lt(high), value, zero), zero)
}

/// `1 / (1 + e^-v)`: where `v` is very negative the quotient is as exact as the exponential, whose overflow makes it 0.
#[inline(always)]
pub fn logistic<N: Num>(v: N) -> N {
    let one = N::constant(1.0);
    one.div(v.mul(N::constant(-1.0)).exp().add(one))
}

/// [`logistic`] of `v` and of `-v`, which add up to 1, by one exponential that does not overflow, and without cancellation in either:
/// `1 / (1 + e)` and `e / (1 + e)` for `e = e^-|v|`.
#[inline(always)]
fn logistics<N: Num>(v: N) -> (N, N) {
    let (zero, one) = (N::constant(0.0), N::constant(1.0));
    let e = zero.sub(v.abs()).exp();
    let large = one.div(e.add(one));
    let (small, positive) = (e.mul(large), zero.lt(v));
    (N::select(positive, large, small), N::select(positive, small, large))
}

/// `1 - tanh^2(x) = 4e / (1 + e)^2` with `e = e^(-2 |x|)`, so that nothing cancels where the hyperbolic tangent is close to 1.
#[inline(always)]
fn tanh_slope<N: Num>(x: N) -> N {
    let e = x.abs().mul(N::constant(-2.0)).exp();
    let d = N::constant(1.0).add(e);
    N::constant(4.0).mul(e).div(d.mul(d))
}

/// `ln(1 + e^v) = max(v, 0) + ln(1 + e^-|v|)`.
#[inline(always)]
fn soft_relu<N: Num>(v: N) -> N {
    let zero = N::constant(0.0);
    let tail = zero.sub(v.abs()).exp().ln_1p();
    N::select(zero.lt(v), v, zero).add(tail)
}

/// `alpha s^beta`.
#[inline(always)]
fn pow<N: Num>(alpha: f32, beta: f32, s: N) -> N {
    let a = N::constant(f64::from(alpha));
    if beta == 0.0 { a } else { a.mul(s.powf(f64::from(beta))) }
}

/// `(1 + erf(s / sqrt 2)) / 2`.
#[inline(always)]
fn normal_cdf<N: Num>(s: N) -> N {
    let half = N::constant(0.5);
    s.mul(N::constant(FRAC_1_SQRT_2)).erf().mul_add(half, half)
}

/// `s (1 + tanh(g)) / 2 = s / (1 + e^-2g)`.
#[inline(always)]
fn gelu_tanh<N: Num>(s: N) -> N {
    let slope = s.mul(s).mul_add(N::constant(-2.0 * SQRT_2_OVER_PI * GELU_CUBE), N::constant(-2.0 * SQRT_2_OVER_PI));
    s.div(s.mul(slope).exp().add(N::constant(1.0)))
}

/// `w + s 2 g' w (1 - w)` with `w = sigma(2g)`, which is 0 or 1 from 10 on, where `2g` is 87: `1 / (1 + e)` and `1 - w = e w` for `e = e^-2g`.
#[inline(always)]
fn gelu_tanh_slope<N: Num>(s: N) -> N {
    const LINEAR: f64 = 2.0 * SQRT_2_OVER_PI;
    const CUBIC: f64 = LINEAR * GELU_CUBE;
    let (one, c) = (N::constant(1.0), s.clamp(-10.0, 10.0));
    let square = c.mul(c);
    let e = c.mul(square.mul_add(N::constant(-CUBIC), N::constant(-LINEAR))).exp();
    let slope = square.mul_add(N::constant(3.0 * CUBIC), N::constant(LINEAR));
    let w = one.div(e.add(one));
    w.mul(c.mul(slope).mul_add(e.mul(w), one))
}

/// `s tanh(ln(1 + e^s)) = s (n / (n + 2))` for `n = e^s (e^s + 2)`, where the quotient is 1 from 20 on.
#[inline(always)]
fn mish<N: Num>(s: N) -> N {
    let (two, end) = (N::constant(2.0), N::constant(20.0));
    let e = N::select(s.lt(end), s, end).exp();
    let n = e.mul(e.add(two));
    s.mul(n.div(n.add(two)))
}

/// `t + s sigma(s) (1 - t^2)` with `t = tanh(ln(1 + e^s))` as a quotient of polynomials in `e = e^s`: `e w / d^2` for `d = e (e + 2) + 2` and
/// `w = e (e (e + 4) + 4s + 6) + 4s + 4`, which is 1 from 20 on, and 0 from -1e4 on.
#[inline(always)]
fn mish_slope<N: Num>(s: N) -> N {
    let [two, four] = [2.0, 4.0].map(N::constant);
    let c = s.clamp(-1e4, 20.0);
    let (e, fours) = (c.exp(), c.mul(four));
    let (d, inner) = (e.mul_add(e.add(two), two), e.mul_add(e.add(four), fours.add(N::constant(6.0))));
    e.mul(e.mul_add(inner, fours.add(four))).div(d.mul(d))
}

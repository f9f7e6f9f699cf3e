//! The error function in `f64`, which the standard library lacks.

use std::f64::consts::{FRAC_2_SQRT_PI, PI};

/// `erf(x)`, relative error below 1e-14.
///
/// Below 3 the series `2/sqrt(pi) e^(-x^2) sum(2^n x^(2n+1) / (2n+1)!!)`, whose terms are all positive (Abramowitz and Stegun 7.1.6);
/// beyond, one minus the continued fraction of `erfc` (7.1.14).
pub(super) fn erf(x: f64) -> f64 {
    let a = x.abs();
    if a.is_nan() {
        x
    } else if a < 3.0 {
        series(x)
    } else if a > 6.0 {
        1f64.copysign(x)
    } else {
        (1.0 - erfc_fraction(a)).copysign(x)
    }
}

fn series(x: f64) -> f64 {
    let x2 = x * x;
    let (mut term, mut sum, mut n) = (x, x, 1.0);
    while term.abs() > sum.abs() * 1e-17 {
        term *= 2.0 * x2 / (2.0 * n + 1.0);
        sum += term;
        n += 1.0;
    }
    FRAC_2_SQRT_PI * (-x2).exp() * sum
}

/// `erfc(a) = e^(-a^2)/sqrt(pi) * 1/(a + (1/2)/(a + (2/2)/(a + (3/2)/(a + ...))))` for `a >= 3`, evaluated from the 60th level inwards.
fn erfc_fraction(a: f64) -> f64 {
    let fraction = (1..=60).rev().fold(a, |f, n| a + 0.5 * f64::from(n) / f);
    (-a * a).exp() / (PI.sqrt() * fraction)
}

//! The formulas of the cells over rows of gates: each a loop over one gate of a panel, so that the compiler's vectoriser takes it.
//!
//! A gate of a panel is a line of at most [`LINE`] numbers; lines include the panel's padding, whose numbers are finite and never leave scratch.

use oxidnn_expr::{Lane, Num, eltwise};
use oxidnn_spec::op::{EltwiseAlg, RnnActivation};

/// Most numbers of a gate in a panel.
pub(super) const LINE: usize = 64;

/// `x += a + b`
#[inline(always)]
pub(super) fn add(x: &mut [f32], a: &[f32], b: &[f32]) {
    for ((x, a), b) in x.iter_mut().zip(a).zip(b) {
        *x += *a + *b;
    }
}

/// `x += a b`
#[inline(always)]
pub(super) fn add_product<const FMA: bool>(x: &mut [f32], a: &[f32], b: &[f32]) {
    for ((x, a), b) in x.iter_mut().zip(a).zip(b) {
        *x = Lane::<FMA>(*a).mul_add(Lane(*b), Lane(*x)).0;
    }
}

/// `x = 1 / (1 + e^-x)`
#[inline(always)]
pub(super) fn logistic<const FMA: bool>(x: &mut [f32]) {
    for x in x {
        *x = eltwise::logistic(Lane::<FMA>(*x)).0;
    }
}

/// `x = tanh(x)`
#[inline(always)]
pub(super) fn tanh<const FMA: bool>(x: &mut [f32]) {
    for x in x {
        *x = Lane::<FMA>(*x).tanh().0;
    }
}

/// The activation of a vanilla cell.
#[inline(always)]
pub(super) fn activate<const FMA: bool>(activation: RnnActivation, alpha: f32, x: &mut [f32]) {
    match activation {
        RnnActivation::Relu => {
            for x in x {
                *x = eltwise::forward(EltwiseAlg::Relu, alpha, 0.0, Lane::<FMA>(*x)).0;
            }
        }
        RnnActivation::Tanh => tanh::<FMA>(x),
        RnnActivation::Logistic => logistic::<FMA>(x),
    }
}

/// `c = forget c + input candidate`
#[inline(always)]
pub(super) fn next_cell<const FMA: bool>(c: &mut [f32], input: &[f32], forget: &[f32], candidate: &[f32]) {
    for (((c, i), f), g) in c.iter_mut().zip(input).zip(forget).zip(candidate) {
        *c = Lane::<FMA>(*i).mul_add(Lane(*g), Lane(*f * *c)).0;
    }
}

/// `x = a tanh(c)`
#[inline(always)]
pub(super) fn bounded<const FMA: bool>(x: &mut [f32], a: &[f32], c: &[f32]) {
    for ((x, a), c) in x.iter_mut().zip(a).zip(c) {
        *x = *a * Lane::<FMA>(*c).tanh().0;
    }
}

/// `x = a b`
#[inline(always)]
pub(super) fn product(x: &mut [f32], a: &[f32], b: &[f32]) {
    for ((x, a), b) in x.iter_mut().zip(a).zip(b) {
        *x = *a * *b;
    }
}

/// `h = keep update h + (1 - keep update) candidate`
#[inline(always)]
pub(super) fn blend(h: &mut [f32], keep: f32, update: &[f32], candidate: &[f32]) {
    for ((h, u), o) in h.iter_mut().zip(update).zip(candidate) {
        let u = keep * *u;
        *h = u * *h + (1.0 - u) * *o;
    }
}

/// `tanh(x)`
#[inline(always)]
pub(super) fn tanh_of<const FMA: bool>(x: f32) -> f32 {
    Lane::<FMA>(x).tanh().0
}

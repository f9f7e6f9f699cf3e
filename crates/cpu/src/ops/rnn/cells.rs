//! The formulas of the cells over blocks of channels: loops of constant length over arrays, which the compiler's vectoriser takes.
//!
//! Panels are whole blocks; what they have behind the last channel are finite numbers that never leave scratch.

use oxidnn_expr::{Lane, Num, eltwise};
use oxidnn_spec::op::{EltwiseAlg, RnnActivation};

/// Most numbers of a gate in a panel.
pub(super) const LINE: usize = 64;

/// Numbers that are computed together.
pub(super) const BLOCK: usize = 16;

/// Some channels of a gate.
pub(super) type Block = [f32; BLOCK];

/// `tanh(x)`
#[inline(always)]
pub(super) fn tanh<const FMA: bool>(x: f32) -> f32 {
    Lane::<FMA>(x).tanh().0
}

#[inline(always)]
fn logistic<const FMA: bool>(x: f32) -> f32 {
    eltwise::logistic(Lane::<FMA>(x)).0
}

/// `x + a b`
#[inline(always)]
fn with_product<const FMA: bool>(x: f32, a: f32, b: f32) -> f32 {
    Lane::<FMA>(a).mul_add(Lane(b), Lane(x)).0
}

/// The activation of a vanilla cell.
#[inline(always)]
pub(super) fn activate<const FMA: bool>(activation: RnnActivation, alpha: f32, x: &mut Block) {
    match activation {
        RnnActivation::Relu => {
            for x in x {
                *x = eltwise::forward(EltwiseAlg::Relu, alpha, 0.0, Lane::<FMA>(*x)).0;
            }
        }
        RnnActivation::Tanh => {
            for x in x {
                *x = tanh::<FMA>(*x);
            }
        }
        RnnActivation::Logistic => gate::<FMA>(x),
    }
}

/// `x = 1 / (1 + e^-x)`
#[inline(always)]
pub(super) fn gate<const FMA: bool>(x: &mut Block) {
    for x in x {
        *x = logistic::<FMA>(*x);
    }
}

/// Gates of an LSTM but the last, with peephole weights of the first two, and the next cell.
#[inline(always)]
pub(super) fn lstm_cell<const FMA: bool>([input, forget, candidate]: &mut [Block; 3], peephole: [&Block; 2], cell: &mut Block) {
    for j in 0..BLOCK {
        input[j] = logistic::<FMA>(with_product::<FMA>(input[j], peephole[0][j], cell[j]));
        forget[j] = logistic::<FMA>(with_product::<FMA>(forget[j], peephole[1][j], cell[j]));
        candidate[j] = tanh::<FMA>(candidate[j]);
        cell[j] = with_product::<FMA>(forget[j] * cell[j], input[j], candidate[j]);
    }
}

/// The output gate of an LSTM, and the state.
#[inline(always)]
pub(super) fn lstm_state<const FMA: bool>(output: &mut Block, peephole: &Block, cell: &Block) -> Block {
    let mut h = [0.0; BLOCK];
    for j in 0..BLOCK {
        output[j] = logistic::<FMA>(with_product::<FMA>(output[j], peephole[j], cell[j]));
        h[j] = output[j] * tanh::<FMA>(cell[j]);
    }
    h
}

/// The candidate of a gated unit, of which so much is kept back from the update gate, and the state.
#[inline(always)]
pub(super) fn gru_state<const FMA: bool>(candidate: &mut Block, update: &Block, keep: f32, h: &mut Block) {
    for j in 0..BLOCK {
        candidate[j] = tanh::<FMA>(candidate[j]);
        let u = keep * update[j];
        h[j] = u * h[j] + (1.0 - u) * candidate[j];
    }
}

/// `x + a b`
#[inline(always)]
pub(super) fn add_product<const FMA: bool>(x: &mut Block, a: &Block, b: &Block) {
    for j in 0..BLOCK {
        x[j] = with_product::<FMA>(x[j], a[j], b[j]);
    }
}

/// `x + a`
#[inline(always)]
pub(super) fn add(x: &mut Block, a: &Block) {
    for j in 0..BLOCK {
        x[j] += a[j];
    }
}

//! The drivers: one table row each, with the options it has, how its operation is built and how it is written.

mod conv;
mod many;
mod matmul;
mod norm;
mod pointwise;
mod rnn;
mod sdpa;
mod spatial;

pub(super) use norm::{EPSILON, flag_letters};
pub(super) use sdpa::{MASKS, SCALES};
pub(super) use spatial::LRN_ALPHA;

use super::Driver;
use super::error::Result;
use super::values::{Values, name_in};
use crate::Op;
use crate::op::Prop;

/// Every driver.
pub(super) const ALL: &[&Driver] = &[
    &conv::CONV,
    &conv::DECONV,
    &conv::IP,
    &matmul::MATMUL,
    &matmul::REORDER,
    &pointwise::ELTWISE,
    &pointwise::BINARY,
    &spatial::POOL,
    &pointwise::SOFTMAX,
    &norm::BNORM,
    &norm::LNORM,
    &norm::GNORM,
    &spatial::LRN,
    &pointwise::REDUCTION,
    &spatial::RESAMPLING,
    &pointwise::PRELU,
    &pointwise::SHUFFLE,
    &many::CONCAT,
    &many::SUM,
    &rnn::RNN,
    &sdpa::SDPA,
];

/// The driver called `name`.
pub(super) fn find(name: &str) -> Option<&'static Driver> {
    ALL.iter().copied().find(|d| d.name == name)
}

/// The driver of an operation.
pub(super) fn of(op: &Op) -> &'static Driver {
    match op {
        Op::Conv(_) => &conv::CONV,
        Op::Deconv(_) => &conv::DECONV,
        Op::InnerProduct(_) => &conv::IP,
        Op::Matmul(_) => &matmul::MATMUL,
        Op::Reorder(_) => &matmul::REORDER,
        Op::Eltwise(_) => &pointwise::ELTWISE,
        Op::Binary(_) => &pointwise::BINARY,
        Op::Pool(_) => &spatial::POOL,
        Op::Softmax(_) => &pointwise::SOFTMAX,
        Op::BatchNorm(_) => &norm::BNORM,
        Op::LayerNorm(_) => &norm::LNORM,
        Op::GroupNorm(_) => &norm::GNORM,
        Op::Lrn(_) => &spatial::LRN,
        Op::Reduction(_) => &pointwise::REDUCTION,
        Op::Resampling(_) => &spatial::RESAMPLING,
        Op::Prelu(_) => &pointwise::PRELU,
        Op::Shuffle(_) => &pointwise::SHUFFLE,
        Op::Concat(_) => &many::CONCAT,
        Op::Sum(_) => &many::SUM,
        Op::Rnn(_) => &rnn::RNN,
        Op::Sdpa(_) => &sdpa::SDPA,
    }
}

/// Names of propagation kinds; `FWD_B` and `BWD_WB`, with bias, are read by [`dir`].
const PROPS: [(Prop, &str); 7] = [
    (Prop::ForwardTraining, "FWD_D"),
    (Prop::ForwardTraining, "FWD_B"),
    (Prop::ForwardInference, "FWD_I"),
    (Prop::BackwardData, "BWD_D"),
    (Prop::BackwardWeights, "BWD_W"),
    (Prop::BackwardWeights, "BWD_WB"),
    (Prop::Backward, "BWD_DW"),
];

/// The pass that `--dir` names, and whether it is one with bias.
fn dir(v: &Values) -> Result<(Prop, bool)> {
    let prop = v.name("dir", &PROPS)?;
    Ok((prop, v.get("dir").to_ascii_uppercase().ends_with('B')))
}

/// The name of a pass.
fn dir_name(prop: Prop, bias: bool) -> &'static str {
    match (prop, bias) {
        (Prop::ForwardTraining, true) => "FWD_B",
        (Prop::BackwardWeights, true) => "BWD_WB",
        _ => name_in(&PROPS, prop),
    }
}

/// The size that `--mb` gives, else that of the descriptor, else 2.
fn batch(v: &Values, mb: Option<i64>) -> Result<i64> {
    let over: i64 = v.read("mb", super::values::size)?;
    Ok(if over != 0 { over } else { mb.unwrap_or(2) })
}

//! The implementation rows of every operation: one table per operation, best first, and the choice of the table.

pub mod batch_norm;
mod bias;
pub mod binary;
pub mod concat;
pub mod conv;
mod doubles;
pub mod eltwise;
pub mod fallback;
pub mod group_norm;
pub mod inner_product;
pub mod layer_norm;
pub mod lrn;
pub mod matmul;
mod norm;
mod passes;
pub mod pool;
pub mod prelu;
pub mod reduction;
pub mod reorder;
pub mod resampling;
mod reusable;
pub mod rnn;
mod rounded;
mod rounds;
pub mod sdpa;
pub mod shuffle;
pub mod softmax;
mod staged;
mod strips;
pub mod sum;
mod support;

pub use reusable::rows_for;

use crate::CpuTarget;
use oxidnn_runtime::Impl;
use oxidnn_spec::Op;

/// The rows of an operation, best first.
pub fn rows(op: &Op) -> &'static [Impl<CpuTarget>] {
    match op {
        Op::BatchNorm(_) => batch_norm::IMPLS,
        Op::Binary(_) => binary::IMPLS,
        Op::Concat(_) => concat::IMPLS,
        Op::Eltwise(_) => eltwise::IMPLS,
        Op::GroupNorm(_) => group_norm::IMPLS,
        Op::LayerNorm(_) => layer_norm::IMPLS,
        Op::Lrn(_) => lrn::IMPLS,
        Op::Pool(_) => pool::IMPLS,
        Op::Prelu(_) => prelu::IMPLS,
        Op::Reduction(_) => reduction::IMPLS,
        Op::Reorder(_) => reorder::IMPLS,
        Op::Resampling(_) => resampling::IMPLS,
        Op::Rnn(_) => rnn::IMPLS,
        Op::Sdpa(_) => sdpa::IMPLS,
        Op::Shuffle(_) => shuffle::IMPLS,
        Op::Softmax(_) => softmax::IMPLS,
        Op::Sum(_) => sum::IMPLS,
        Op::Conv(_) | Op::Deconv(_) => conv::IMPLS,
        Op::InnerProduct(_) => inner_product::IMPLS,
        Op::Matmul(_) => matmul::IMPLS,
    }
}

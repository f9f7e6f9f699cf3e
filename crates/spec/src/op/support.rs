//! What the library takes, as data: primitives by passes, data types and attributes. The documentation's tables are written from it.

use super::{Prop, TypeTable};
use crate::check::attr::{AttrRules, FORWARD};
use crate::check::{DATA_PROPS, NORM_PROPS, WEIGHTS_PROPS};

/// One primitive.
#[derive(Clone, Copy, Debug)]
pub struct Support {
    /// The specification's name of the primitive kind.
    pub kind: &'static str,
    /// The propagation kinds; none for a primitive with one pass.
    pub props: &'static [Prop],
    /// The data types.
    pub types: &'static TypeTable,
    /// The attributes of the forward (or only) pass.
    pub attr: &'static AttrRules,
}

pub(super) const RNN_PROPS: &[Prop] = &[Prop::ForwardTraining, Prop::ForwardInference, Prop::Backward];

static TABLE: [Support; 21] = [
    line(0, WEIGHTS_PROPS, &super::conv::TYPES),
    line(1, WEIGHTS_PROPS, &super::conv::TYPES),
    line(2, WEIGHTS_PROPS, &super::inner_product::TYPES),
    line(3, &[], &super::matmul::TYPES),
    line(4, NORM_PROPS, &super::norm::BATCH_TYPES),
    line(5, NORM_PROPS, &super::norm::LAYER_TYPES),
    line(6, NORM_PROPS, &super::norm::GROUP_TYPES),
    line(7, DATA_PROPS, &super::lrn::TYPES),
    line(8, DATA_PROPS, &super::pool::TYPES),
    line(9, DATA_PROPS, &super::eltwise::TYPES),
    line(10, DATA_PROPS, &super::softmax::TYPES),
    line(11, &[], &super::reduction::TYPES),
    line(12, DATA_PROPS, &super::resampling::TYPES),
    line(13, &[], &super::binary::TYPES),
    line(14, RNN_PROPS, &super::prelu::TYPES),
    line(15, DATA_PROPS, &super::shuffle::TYPES),
    line(16, &[], &super::concat::TYPES),
    line(17, &[], &super::sum::TYPES),
    line(18, &[], &super::reorder::TYPES),
    line(19, RNN_PROPS, &super::rnn_check::TYPES),
    line(20, RNN_PROPS, &super::sdpa::TYPES),
];

const fn line(index: usize, props: &'static [Prop], types: &'static TypeTable) -> Support {
    Support { kind: FORWARD[index].0, props, types, attr: &FORWARD[index].1 }
}

/// Every primitive with what it takes.
pub fn support() -> &'static [Support] {
    &TABLE
}

//! The library's support as data: primitives by passes, data types and attributes. The documentation's tables are generated from it.

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
    line("convolution", WEIGHTS_PROPS, &super::conv::TYPES),
    line("deconvolution", WEIGHTS_PROPS, &super::conv::TYPES),
    line("inner_product", WEIGHTS_PROPS, &super::inner_product::TYPES),
    line("matmul", &[], &super::matmul::TYPES),
    line("batch_normalization", NORM_PROPS, &super::norm::BATCH_TYPES),
    line("layer_normalization", NORM_PROPS, &super::norm::LAYER_TYPES),
    line("group_normalization", NORM_PROPS, &super::norm::GROUP_TYPES),
    line("lrn", DATA_PROPS, &super::lrn::TYPES),
    line("pooling", DATA_PROPS, &super::pool::TYPES),
    line("eltwise", DATA_PROPS, &super::eltwise::TYPES),
    line("softmax", DATA_PROPS, &super::softmax::TYPES),
    line("reduction", &[], &super::reduction::TYPES),
    line("resampling", DATA_PROPS, &super::resampling::TYPES),
    line("binary", &[], &super::binary::TYPES),
    line("prelu", RNN_PROPS, &super::prelu::TYPES),
    line("shuffle", DATA_PROPS, &super::shuffle::TYPES),
    line("concat", &[], &super::concat::TYPES),
    line("sum", &[], &super::sum::TYPES),
    line("reorder", &[], &super::reorder::TYPES),
    line("rnn", RNN_PROPS, &super::rnn_check::TYPES),
    line("sdpa", RNN_PROPS, &super::sdpa::TYPES),
];

/// The primitive `kind`, whose attributes have a line of their own.
const fn line(kind: &'static str, props: &'static [Prop], types: &'static TypeTable) -> Support {
    let mut i = 0;
    while i < FORWARD.len() {
        if is_same(FORWARD[i].0.as_bytes(), kind.as_bytes()) {
            return Support { kind, props, types, attr: &FORWARD[i].1 };
        }
        i += 1;
    }
    panic!("attributes have no line for this kind of primitive")
}

const fn is_same(a: &[u8], b: &[u8]) -> bool {
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

/// Every primitive with its support.
pub fn support() -> &'static [Support] {
    &TABLE
}

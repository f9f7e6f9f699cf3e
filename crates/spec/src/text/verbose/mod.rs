//! oneDNN's verbose lines: the fields of a problem, and the problem of a line.
//!
//! A line is `onednn_verbose,v1,primitive,exec,cpu,<kind>,<implementation>,<prop>,<memory>,<attributes>,<auxiliary>,<problem>,<ms>`. [`fields`]
//! writes the parts that describe the problem, [`parse`] reads a whole line (of any version that has them), so that a line pasted from a
//! report replays.
//!
//! Memory is a list of `name:type:flags:kind:tag:strides:fN`; flags are `a` (the user asked for `any`), `p` (padded dims), `o` (padded
//! offsets), `0` (an offset); strides are written if the tag does not determine them; `fN` are the extra flags with `s8mM` and `zpmM`, the
//! masks of compensation. A `bia` of a product is followed by its mask, `f0_mask2`. The table has the other fields. Where oneDNN's fields
//! leave something out, it is added in the grammar's words if it is not the default, so that our own lines replay exactly: `eps` of the
//! normalisations, `ss_dt` of layer normalisation, `alpha` and `k` of lrn, `scales` of sum.
//!
//! | kind | memory | auxiliary | problem |
//! |---|---|---|---|
//! | convolution, deconvolution | src wei bia dst | `alg:convolution_direct` | `g2mb2_ic16oc16_ih7oh7kh3sh1dh0ph1_iw7ow7kw3sw1dw0pw1` |
//! | inner_product | src wei bia dst | | `mb2ic512ih2iw2oc48` |
//! | matmul | src wei bia dst | `runtime_dims_masks:1:0` where there are any | `4x8:8x16` |
//! | batch_normalization, lrn | data diff | `flags:CH`, `alg:lrn_across_channels` | `mb2ic16ih7iw7`, `mb2ic16ih7iw7ls5beta0.75` |
//! | layer_normalization | src dst stats diff_src | `flags:CH` | `4x128` |
//! | group_normalization | src dst diff_src | `flags:CH` | `g2mb2ic16ih7iw7` |
//! | pooling | src dst ws | `alg:pooling_max` | `mb2ic16_ih7oh7kh3sh1dh0ph1_iw7ow7kw3sw1dw0pw1` |
//! | eltwise, shuffle, prelu | data (wei) diff | `alg:eltwise_relu alpha:0 beta:0`, `axis:1 group:4` | `2x16x7x7`, `2x16:1x16` |
//! | softmax | src dst diff_src diff_dst | `alg:softmax_accurate axis:1` | `2x16` |
//! | reduction, resampling, reorder | src dst | `alg:reduction_sum p:1 eps:0`, `alg:resampling_linear` | `2x3:1x3`, `mb2ic16_ih4oh8_iw4ow8`, `2x3` |
//! | binary, concat, sum | src src .. dst | `alg:binary_add`, `axis:1` | `2x3:2x1`, `2x3:2x4`, `2x3` |
//! | rnn | src_layer .. dst_iter_c | `alg:vanilla_lstm direction:unidirectional_left2right activation:undef flags:` | `l1t4mb2sic8slc8dhc8dic8` |

mod attributes;
mod memory;
mod problem;
mod read;

pub(super) use memory::unfused;
pub use read::parse;

use crate::Problem;
use std::fmt;

/// The fields of a verbose line that describe the problem. [`fmt::Display`] joins prop kind, memory, attributes, auxiliary and problem by commas.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fields {
    /// The primitive kind, `convolution` for example.
    pub kind: &'static str,
    /// The propagation kind, `undef` where there is none.
    pub prop: &'static str,
    /// The memory descriptors.
    pub memory: String,
    /// The attributes; empty for the defaults.
    pub attributes: String,
    /// Algorithm, axis, flags.
    pub auxiliary: String,
    /// The sizes.
    pub problem: String,
}

impl fmt::Display for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fields { kind: _, prop, memory, attributes, auxiliary, problem } = self;
        write!(f, "{prop},{memory},{attributes},{auxiliary},{problem}")
    }
}

/// The fields of a problem: `given` as the user asked for it, `resolved` with the layouts that the implementation chose.
pub fn fields(given: &Problem, resolved: &Problem) -> Fields {
    Fields {
        kind: given.op.kind(),
        prop: given.op.prop().map_or("undef", |p| p.name()),
        memory: memory::write(&given.op, &resolved.op),
        attributes: attributes::write(&given.attr),
        auxiliary: problem::auxiliary(&given.op),
        problem: problem::sizes(&given.op),
    }
}

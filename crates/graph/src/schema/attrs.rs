//! The attributes that operations have, each with its default and the words that it may be.

use super::{AttrRule, Need};
use crate::AttrId::{self, *};

const fn rule(id: AttrId, need: Need, allowed: &'static [&'static str]) -> AttrRule {
    AttrRule { id, need, allowed }
}

pub(super) const ACCUMULATION_MODE: AttrRule =
    rule(AccumulationMode, Need::Text("strict"), &["strict", "relaxed", "any", "f32", "s32", "f16"]);
pub(super) const ALPHA: AttrRule = rule(Alpha, Need::Required, &[]);
pub(super) const AUTO_BROADCAST: AttrRule = rule(AutoBroadcast, Need::Text("numpy"), &["none", "numpy"]);
pub(super) const AUTO_PAD: AttrRule = rule(AutoPad, Need::Text("None"), &["None", "SAME_UPPER", "SAME_LOWER", "VALID"]);
pub(super) const AXES: AttrRule = rule(Axes, Need::S64s(0, 0), &[]);
pub(super) const AXIS: AttrRule = rule(Axis, Need::Required, &[]);
pub(super) const AXIS_1: AttrRule = rule(Axis, Need::S64(1), &[]);
pub(super) const AXIS_LAST: AttrRule = rule(Axis, Need::S64(-1), &[]);
pub(super) const BEGIN_NORM_AXIS: AttrRule = rule(BeginNormAxis, Need::S64(-1), &[]);
pub(super) const BETA: AttrRule = rule(Beta, Need::Required, &[]);
pub(super) const BETA_1: AttrRule = rule(Beta, Need::F32(1.0), &[]);
pub(super) const COORDINATES: AttrRule = rule(CoordinateTransformationMode, Need::Text("half_pixel"), &["half_pixel", "align_corners"]);
pub(super) const DATA_FORMAT: AttrRule = rule(DataFormat, Need::Text("NXC"), &["NXC", "NCX"]);
pub(super) const DILATIONS: AttrRule = rule(Dilations, Need::Required, &[]);
pub(super) const DILATIONS_1: AttrRule = rule(Dilations, Need::S64s(12, 1), &[]);
pub(super) const DST_SHAPE: AttrRule = rule(DstShape, Need::S64s(12, 0), &[]);
pub(super) const EPSILON: AttrRule = rule(Epsilon, Need::Required, &[]);
pub(super) const EPSILON_1E5: AttrRule = rule(Epsilon, Need::F32(1e-5), &[]);
pub(super) const EXCLUDE_PAD: AttrRule = rule(ExcludePad, Need::Required, &[]);
pub(super) const FACTORS: AttrRule = rule(Scales, Need::Optional, &[]);
pub(super) const GELU_MODE: AttrRule = rule(Mode, Need::Text("gelu_erf"), &["gelu_erf", "gelu_tanh"]);
pub(super) const GROUPS_1: AttrRule = rule(Groups, Need::S64(1), &[]);
pub(super) const GROUPS_NEEDED: AttrRule = rule(Groups, Need::Required, &[]);
pub(super) const GROUP_SHAPE: AttrRule = rule(GroupShape, Need::Optional, &[]);
pub(super) const INTERPOLATE_MODE: AttrRule = rule(Mode, Need::Required, &["nearest", "linear", "bilinear", "trilinear"]);
pub(super) const KEEP_DIMS: AttrRule = rule(KeepDims, Need::Bool(false), &[]);
pub(super) const KEEP_STATS: AttrRule = rule(KeepStats, Need::Bool(true), &[]);
pub(super) const KERNEL: AttrRule = rule(Kernel, Need::Required, &[]);
pub(super) const MAX: AttrRule = rule(Max, Need::Required, &[]);
pub(super) const MIN: AttrRule = rule(Min, Need::Required, &[]);
pub(super) const MOMENTUM: AttrRule = rule(Momentum, Need::Optional, &[]);
pub(super) const ORDER: AttrRule = rule(Order, Need::Required, &[]);
pub(super) const OUTPUT_PADDING: AttrRule = rule(OutputPadding, Need::S64s(12, 0), &[]);
pub(super) const PADS_BEGIN: AttrRule = rule(PadsBegin, Need::Required, &[]);
pub(super) const PADS_END: AttrRule = rule(PadsEnd, Need::Required, &[]);
pub(super) const PER_CHANNEL_BROADCAST: AttrRule = rule(PerChannelBroadcast, Need::Bool(true), &[]);
pub(super) const QTYPE: AttrRule = rule(Qtype, Need::Text("per_tensor"), &["per_tensor", "per_channel", "per_group"]);
pub(super) const ROUNDING_TYPE: AttrRule = rule(RoundingType, Need::Text("floor"), &[]);
pub(super) const SCALES: AttrRule = rule(Scales, Need::Required, &[]);
pub(super) const SHAPE: AttrRule = rule(Shape, Need::Required, &[]);
pub(super) const SIZES: AttrRule = rule(Sizes, Need::Optional, &[]);
pub(super) const SOFTMAX_MODE: AttrRule = rule(Mode, Need::Text("none"), &["none", "inf_as_zero"]);
pub(super) const SPECIAL_ZERO: AttrRule = rule(SpecialZero, Need::Required, &[]);
pub(super) const SRC_SHAPE: AttrRule = rule(SrcShape, Need::S64s(12, 0), &[]);
pub(super) const STRIDES: AttrRule = rule(Strides, Need::Required, &[]);
pub(super) const TRANSPOSE_A: AttrRule = rule(TransposeA, Need::Bool(false), &[]);
pub(super) const TRANSPOSE_B: AttrRule = rule(TransposeB, Need::Bool(false), &[]);
pub(super) const USE_AFFINE: AttrRule = rule(UseAffine, Need::Bool(true), &[]);
pub(super) const USE_DST: AttrRule = rule(UseDst, Need::Bool(true), &[]);
pub(super) const WEIGHTS_SHAPE: AttrRule = rule(WeightsShape, Need::S64s(12, 0), &[]);
pub(super) const WEIGHTS_XIO: AttrRule = rule(WeightsFormat, Need::Text("XIO"), &["XIO", "OIX"]);
pub(super) const WEIGHTS_XOI: AttrRule = rule(WeightsFormat, Need::Text("XOI"), &["XOI", "IOX"]);
pub(super) const ZPS: AttrRule = rule(Zps, Need::Optional, &[]);

//! Attributes of operations: their names, with the specification's numbers, and their values.

use oxidnn_spec::Real;
use std::fmt;

/// The name of an attribute.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[repr(i32)]
#[allow(missing_docs, reason = "the specification's names")]
pub enum AttrId {
    Alpha = 1,
    Beta = 2,
    Epsilon = 3,
    Max = 4,
    Min = 5,
    Momentum = 6,
    Scales = 0x20,
    Axis = 0x30,
    BeginNormAxis = 0x31,
    Groups = 0x32,
    Axes = 0x40,
    Dilations = 0x41,
    DstShape = 0x42,
    Kernel = 0x43,
    Order = 0x44,
    OutputPadding = 0x45,
    PadsBegin = 0x46,
    PadsEnd = 0x47,
    Shape = 0x48,
    Sizes = 0x49,
    SrcShape = 0x4a,
    Strides = 0x4b,
    WeightsShape = 0x4c,
    Zps = 0x4d,
    GroupShape = 0x4e,
    ExcludePad = 0x60,
    KeepDims = 0x61,
    KeepStats = 0x62,
    PerChannelBroadcast = 0x63,
    SpecialZero = 0x64,
    TransposeA = 0x65,
    TransposeB = 0x66,
    UseAffine = 0x67,
    UseDst = 0x68,
    AutoBroadcast = 0x80,
    AutoPad = 0x81,
    CoordinateTransformationMode = 0x82,
    DataFormat = 0x83,
    Mode = 0x84,
    Qtype = 0x85,
    RoundingType = 0x86,
    WeightsFormat = 0x87,
    AccumulationMode = 0x88,
}

use AttrId::*;

/// Every attribute with its name in dumps.
const NAMES: [(AttrId, &str); 43] = [
    (Alpha, "alpha"),
    (Beta, "beta"),
    (Epsilon, "epsilon"),
    (Max, "max"),
    (Min, "min"),
    (Momentum, "momentum"),
    (Scales, "scales"),
    (Axis, "axis"),
    (BeginNormAxis, "begin_norm_axis"),
    (Groups, "groups"),
    (Axes, "axes"),
    (Dilations, "dilations"),
    (DstShape, "dst_shape"),
    (Kernel, "kernel"),
    (Order, "order"),
    (OutputPadding, "output_padding"),
    (PadsBegin, "pads_begin"),
    (PadsEnd, "pads_end"),
    (Shape, "shape"),
    (Sizes, "sizes"),
    (SrcShape, "src_shape"),
    (Strides, "strides"),
    (WeightsShape, "weights_shape"),
    (Zps, "zps"),
    (GroupShape, "group_shape"),
    (ExcludePad, "exclude_pad"),
    (KeepDims, "keep_dims"),
    (KeepStats, "keep_stats"),
    (PerChannelBroadcast, "per_channel_broadcast"),
    (SpecialZero, "special_zero"),
    (TransposeA, "transpose_a"),
    (TransposeB, "transpose_b"),
    (UseAffine, "use_affine"),
    (UseDst, "use_dst"),
    (AutoBroadcast, "auto_broadcast"),
    (AutoPad, "auto_pad"),
    (CoordinateTransformationMode, "coordinate_transformation_mode"),
    (DataFormat, "data_format"),
    (Mode, "mode"),
    (Qtype, "qtype"),
    (RoundingType, "rounding_type"),
    (WeightsFormat, "weights_format"),
    (AccumulationMode, "accumulation_mode"),
];

impl AttrId {
    /// The attribute with the specification's number.
    pub fn from_number(number: i32) -> Option<AttrId> {
        NAMES.iter().map(|n| n.0).find(|&a| a as i32 == number)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|n| n.0 == self).map_or("", |n| n.1)
    }

    /// True for attributes of several numbers.
    pub fn is_list(self) -> bool {
        matches!(self as i32, 0x20..0x30 | 0x40..0x60)
    }

    /// True when `value` has the type that the attribute has.
    pub(crate) fn takes(self, value: &AttrValue) -> bool {
        match value {
            AttrValue::F32(_) => (self as i32) < 0x20,
            AttrValue::F32s(_) => (0x20..0x30).contains(&(self as i32)),
            AttrValue::S64(_) => (0x30..0x40).contains(&(self as i32)),
            AttrValue::S64s(_) => (0x40..0x60).contains(&(self as i32)),
            AttrValue::Bool(_) => (0x60..0x80).contains(&(self as i32)),
            AttrValue::Text(_) => self as i32 >= 0x80,
        }
    }
}

/// A value of an attribute.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum AttrValue {
    /// A number.
    F32(Real),
    /// Numbers.
    F32s(Vec<Real>),
    /// A whole number.
    S64(i64),
    /// Whole numbers.
    S64s(Vec<i64>),
    /// A switch.
    Bool(bool),
    /// A word.
    Text(String),
}

/// The value as messages quote it.
impl fmt::Display for AttrValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AttrValue::F32(v) => write!(f, "{v}"),
            AttrValue::F32s(v) => write!(f, "{v:?}"),
            AttrValue::S64(v) => write!(f, "{v}"),
            AttrValue::S64s(v) => write!(f, "{v:?}"),
            AttrValue::Bool(v) => write!(f, "{v}"),
            AttrValue::Text(v) => f.write_str(v),
        }
    }
}

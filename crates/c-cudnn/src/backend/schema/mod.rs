//! The schema of every descriptor of the backend interface, as data: its attributes, their types and counts, and which must be set.

mod attention;
mod classic;

mod setup;
#[cfg(test)]
mod tests;

/// Type of an attribute's elements, with its number in the interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(clippy::enum_variant_names, reason = "the interface's names")]
pub(crate) enum Type {
    Handle = 0,
    DataType = 1,
    Boolean = 2,
    Int64 = 3,
    Float = 4,
    Double = 5,
    VoidPtr = 6,
    ConvolutionMode = 7,
    HeurMode = 8,
    KnobType = 9,
    NanPropagation = 10,
    NumericalNote = 11,
    LayoutType = 12,
    AttribName = 13,
    PointwiseMode = 14,
    BackendDescriptor = 15,
    GenstatsMode = 16,
    BnFinalizeStatsMode = 17,
    ReductionOperator = 18,
    BehaviorNote = 19,
    TensorReorderingMode = 20,
    ResampleMode = 21,
    PaddingMode = 22,
    Int32 = 23,
    Char = 24,
    SignalMode = 25,
    Fraction = 26,
    NormMode = 27,
    NormPhase = 28,
    RngDistribution = 29,
    MoeMode = 30,
    ReshapeMode = 31,
    OperationGraphMode = 32,
}

use Type::*;

/// Every type, by its number.
const TYPES: [Type; 33] = [
    Handle,
    DataType,
    Boolean,
    Int64,
    Float,
    Double,
    VoidPtr,
    ConvolutionMode,
    HeurMode,
    KnobType,
    NanPropagation,
    NumericalNote,
    LayoutType,
    AttribName,
    PointwiseMode,
    BackendDescriptor,
    GenstatsMode,
    BnFinalizeStatsMode,
    ReductionOperator,
    BehaviorNote,
    TensorReorderingMode,
    ResampleMode,
    PaddingMode,
    Int32,
    Char,
    SignalMode,
    Fraction,
    NormMode,
    NormPhase,
    RngDistribution,
    MoeMode,
    ReshapeMode,
    OperationGraphMode,
];

/// Numbers that mean something, of the types that are enumerations.
const VALUES: &[(Type, &[(i64, i64)])] = &[
    (DataType, &[(0, 23)]),
    (ConvolutionMode, &[(0, 1)]),
    (HeurMode, &[(0, 3)]),
    (KnobType, &[(0, 45)]),
    (NanPropagation, &[(0, 1)]),
    (PointwiseMode, &[(0, 24), (100, 107), (200, 207), (300, 305), (400, 402), (501, 501), (601, 601)]),
    (GenstatsMode, &[(0, 0)]),
    (BnFinalizeStatsMode, &[(0, 1)]),
    (ReductionOperator, &[(0, 8)]),
    (TensorReorderingMode, &[(0, 3)]),
    (ResampleMode, &[(0, 4)]),
    (PaddingMode, &[(0, 2)]),
    (SignalMode, &[(0, 1)]),
    (NormMode, &[(0, 5)]),
    (NormPhase, &[(0, 1)]),
    (RngDistribution, &[(0, 2)]),
    (MoeMode, &[(0, 2)]),
    (ReshapeMode, &[(0, 1)]),
    (OperationGraphMode, &[(-1, 31)]),
];

impl Type {
    /// The type with this number.
    pub(crate) fn of(number: i32) -> Option<Type> {
        usize::try_from(number).ok().and_then(|n| TYPES.get(n).copied())
    }

    /// Bytes of an element.
    pub(crate) const fn size(self) -> usize {
        match self {
            Handle | Int64 | Double | VoidPtr | BackendDescriptor => 8,
            Fraction => 16,
            Boolean | Char => 1,
            _ => 4,
        }
    }

    /// Whether `value` is one of the enumeration's; true of types that are none.
    pub(crate) fn means(self, value: i64) -> bool {
        let known = VALUES.iter().find(|v| v.0 == self);
        known.is_none_or(|(_, ranges)| ranges.iter().any(|r| (r.0..=r.1).contains(&value)))
    }
}

/// How many elements an attribute has at most.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Count {
    One,
    /// As many as a tensor may have dimensions.
    Dims,
    Many,
}

impl Count {
    pub(crate) const fn most(self) -> usize {
        match self {
            Count::One => 1,
            Count::Dims => 8,
            Count::Many => 1 << 24,
        }
    }
}

/// Whether an attribute has to be set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Need {
    Required,
    Optional,
    /// A read-only attribute.
    ReadOnly,
}

/// The type of an attribute's elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Of {
    /// Numbers, addresses, characters.
    Value,
    /// Descriptors of a type.
    Descriptor(i32),
    /// Descriptors of operations.
    Operation,
    /// Tensors that the operation reads.
    Input,
    /// Tensors that the operation writes.
    Output,
}

/// An attribute.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) id: i32,
    pub(crate) name: &'static str,
    pub(crate) types: &'static [Type],
    pub(crate) count: Count,
    pub(crate) need: Need,
    pub(crate) of: Of,
}

const REAL: &[Type] = &[Float, Double];
const SIZES: &[Type] = &[Int64, Fraction];

/// An attribute of one element that may be set.
const fn row(id: i32, name: &'static str, types: &'static [Type], of: Of) -> Row {
    Row { id, name, types, count: Count::One, need: Need::Optional, of }
}

impl Row {
    const fn required(self) -> Row {
        Row { need: Need::Required, ..self }
    }

    const fn read_only(self) -> Row {
        Row { need: Need::ReadOnly, ..self }
    }

    const fn many(self) -> Row {
        Row { count: Count::Many, ..self }
    }

    const fn dims(self) -> Row {
        Row { count: Count::Dims, ..self }
    }
}

/// A type of descriptors.
#[derive(Debug)]
pub(crate) struct Descriptor {
    pub(crate) id: i32,
    pub(crate) name: &'static str,
    pub(crate) rows: &'static [Row],
}

/// Number of types of descriptors.
pub(crate) const TYPES_OF_DESCRIPTORS: i32 = 51;

/// The type of descriptors with this number.
pub(crate) fn descriptor(id: i32) -> Option<&'static Descriptor> {
    all().find(|d| d.id == id)
}

/// Every type of descriptors.
pub(crate) fn all() -> impl Iterator<Item = &'static Descriptor> {
    [setup::DESCRIPTORS, classic::DESCRIPTORS, attention::DESCRIPTORS].into_iter().flatten()
}

impl Descriptor {
    /// The attribute with this number.
    pub(crate) fn row(&self, id: i32) -> Option<&'static Row> {
        self.rows.iter().find(|r| r.id == id)
    }

    /// Whether it is an operation of a graph.
    pub(crate) fn is_operation(&self) -> bool {
        self.name.starts_with("OPERATION_")
    }
}

/// Numbers of descriptor types, as far as the code names them.
pub(crate) mod kind {
    pub(crate) const CONVOLUTION: i32 = 1;
    pub(crate) const ENGINE: i32 = 2;
    pub(crate) const ENGINECFG: i32 = 3;
    pub(crate) const ENGINEHEUR: i32 = 4;
    pub(crate) const EXECUTION_PLAN: i32 = 5;
    pub(crate) const INTERMEDIATE_INFO: i32 = 6;
    pub(crate) const KNOB_CHOICE: i32 = 7;
    pub(crate) const KNOB_INFO: i32 = 8;
    pub(crate) const LAYOUT_INFO: i32 = 9;
    pub(crate) const CONVOLUTION_FORWARD: i32 = 10;
    pub(crate) const CONVOLUTION_BACKWARD_FILTER: i32 = 11;
    pub(crate) const CONVOLUTION_BACKWARD_DATA: i32 = 12;
    pub(crate) const OPERATION_POINTWISE: i32 = 13;
    pub(crate) const GEN_STATS: i32 = 14;
    pub(crate) const OPERATIONGRAPH: i32 = 15;
    pub(crate) const VARIANT_PACK: i32 = 16;
    pub(crate) const TENSOR: i32 = 17;
    pub(crate) const OPERATION_MATMUL: i32 = 19;
    pub(crate) const BN_FINALIZE: i32 = 20;
    pub(crate) const OPERATION_REDUCTION: i32 = 22;
    pub(crate) const BN_BWD_WEIGHTS: i32 = 23;
    pub(crate) const RESAMPLE: i32 = 24;
    pub(crate) const RESAMPLE_FWD: i32 = 25;
    pub(crate) const RESAMPLE_BWD: i32 = 26;
    pub(crate) const CONCAT: i32 = 27;
    pub(crate) const NORM_FORWARD: i32 = 29;
    pub(crate) const NORM_BACKWARD: i32 = 30;
    pub(crate) const RESHAPE: i32 = 31;
    pub(crate) const RNG: i32 = 32;
    pub(crate) const OPERATION_RNG: i32 = 33;
    pub(crate) const KERNEL_CACHE: i32 = 34;
    pub(crate) const PAGED_CACHE_LOAD: i32 = 35;
    pub(crate) const BLOCK_SCALE_QUANTIZE: i32 = 36;
    pub(crate) const BLOCK_SCALE_DEQUANTIZE: i32 = 37;
    pub(crate) const DEVICEPROP: i32 = 38;
    pub(crate) const SDPA_FWD: i32 = 41;
    pub(crate) const MOE_GROUPED_MATMUL: i32 = 42;
    pub(crate) const SDPA_BWD: i32 = 43;
    pub(crate) const BAND_MASK: i32 = 44;
    pub(crate) const SOFTMAX: i32 = 45;
    pub(crate) const TRANSPOSE: i32 = 46;
    pub(crate) const SLICE: i32 = 47;
    pub(crate) const MOE_GROUPED_MATMUL_BWD: i32 = 48;
    pub(crate) const ROPE_FWD: i32 = 49;
    pub(crate) const ROPE_BWD: i32 = 50;
}

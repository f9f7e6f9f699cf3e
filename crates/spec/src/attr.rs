//! Attributes: everything of a primitive that is not the operation itself.

use crate::op::{BinaryAlg, EltwiseAlg};
use crate::{Arg, DataType, Dims, Real, Tensor};
use std::collections::BTreeMap;

/// The largest number of post-ops.
pub const MAX_POST_OPS: usize = 32;

/// Attributes of a primitive. Order of operations: accumulate, times source and weights scales, plus bias,
/// dropout, post-ops in order, divided by the destination scale, plus its zero point, (stochastic) rounding, saturation.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub struct Attr {
    /// Who provides the scratch buffer.
    pub scratchpad: ScratchpadMode,
    /// Which lower precision f32 computation may take.
    pub fpmath: FpMath,
    /// In which type sums are kept.
    pub accumulation: Accumulation,
    /// Results must be the same on every run.
    pub deterministic: bool,
    /// Rounding of destinations; absent means [`Rounding::Environment`].
    pub rounding: BTreeMap<Arg, Rounding>,
    /// Random zeroing of elements.
    pub dropout: Option<Dropout>,
    /// Scales by argument; the numbers are execution arguments [`Arg::scale`].
    pub scales: BTreeMap<Arg, Quant>,
    /// Zero points by argument; the numbers are execution arguments [`Arg::zero_point`].
    pub zero_points: BTreeMap<Arg, Quant>,
    /// Sums of a quantised operand that the caller has already; arguments [`Arg::precomputed`].
    pub precomputed_reductions: BTreeMap<Arg, Quant>,
    /// Operations on each result element, in order.
    pub post_ops: Vec<PostOp>,
    /// Quantisation of int8 recurrent networks.
    pub rnn: RnnQuant,
    /// Prefer kernels that serve every shape to kernels made for this one.
    pub hint_reusable_kernels: bool,
    /// Sizes that will be others in the problems to come: as [`Attr::hint_reusable_kernels`], and code for the examples is made along.
    pub dynamic: Vec<DynamicDim>,
}

/// A size that changes from one problem to the next.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct DynamicDim {
    /// Whose size.
    pub arg: Arg,
    /// Which dimension.
    pub dim: usize,
    /// Sizes that it may have; the first ones of all changing sizes belong together, and so on.
    pub examples: Vec<i64>,
}

/// Who provides the scratch buffer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum ScratchpadMode {
    /// The library leases it for the time of an execution.
    #[default]
    Library,
    /// The caller passes it as [`Arg::SCRATCHPAD`].
    User,
}

/// Permission to compute f32 problems in a lower precision.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct FpMath {
    /// The lowest precision allowed.
    pub mode: FpMathMode,
    /// Also integer weights may be converted to that precision (weight decompression).
    pub apply_to_int: bool,
}

/// Precisions that an f32 computation may be lowered to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum FpMathMode {
    /// None: f32 stays f32.
    #[default]
    Strict,
    /// bfloat16.
    Bf16,
    /// Half precision.
    F16,
    /// TensorFloat-32.
    Tf32,
    /// Whatever is fastest.
    Any,
}

/// In which type sums are kept.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum Accumulation {
    /// f32 for float sources (f64 for f64), s32 for integer ones.
    #[default]
    Strict,
    /// As strict, but intermediate sums may be kept in the destination.
    Relaxed,
    /// Whatever is fastest.
    Any,
    /// s32.
    S32,
    /// f32.
    F32,
    /// f16.
    F16,
}

/// Rounding to a narrower type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum Rounding {
    /// To nearest, ties to even.
    #[default]
    Environment,
    /// Up or down at random, with the probability of the distance; seeded by [`Arg::ROUNDING_SEED`].
    Stochastic,
}

/// Random zeroing of elements with Philox 4x32-10.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Dropout {
    /// Where the kept elements are recorded (u8), if anywhere.
    pub mask: Option<Tensor>,
    /// Type of the seed: s32 or s64.
    pub seed_dtype: DataType,
    /// Whether an offset argument is passed.
    pub use_offset: bool,
    /// Seed, offset and probability are host scalars.
    pub use_host_scalars: bool,
}

/// Scales, zero points or precomputed reductions of one argument.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Quant {
    /// Bit `d` set: one number for each index of dimension `d` (or each group of indices).
    pub mask: u32,
    /// Group sizes along the last two dimensions; empty for none.
    pub groups: Dims,
    /// Type of the numbers.
    pub dtype: DataType,
    /// The number is a host scalar.
    pub on_host: bool,
    /// Whether the library computes the scales itself.
    pub mode: QuantMode,
}

impl Quant {
    /// One f32 number for the whole tensor.
    pub fn common() -> Quant {
        Quant::per(0, DataType::F32)
    }
    /// One number of `dtype` for each index of the dimensions in `mask`.
    pub fn per(mask: u32, dtype: DataType) -> Quant {
        Quant { mask, groups: Dims::default(), dtype, on_host: false, mode: QuantMode::Static }
    }
    /// The same numbers, one for each group of so many indices of the last two dimensions.
    #[must_use]
    pub fn grouped(self, groups: impl Into<Dims>) -> Quant {
        Quant { groups: groups.into(), ..self }
    }
    /// Sizes of the array of numbers for a tensor of `dims`: per dimension 1 where the bit is clear,
    /// else the size, divided by the group along the last two dimensions.
    pub fn dims(&self, dims: &[i64]) -> Dims {
        let n = dims.len();
        Dims::from_fn(n, |d| {
            if self.mask >> d & 1 == 0 {
                return 1;
            }
            let group = if d + 2 < n { 1 } else { self.groups.get(d + 2 - n).map_or(1, |&g| g.max(1)) };
            if dims[d] < 0 { dims[d] } else { dims[d] / group + i64::from(dims[d] % group > 0) }
        })
    }
}

/// Whether scales are given or computed by the library.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum QuantMode {
    /// Given at execution.
    #[default]
    Static,
    /// Computed per OCP MX block of 32, e8m0.
    DynamicMx,
    /// Computed per block of 16, f8_e4m3.
    DynamicFp,
}

/// One operation on the result elements.
#[allow(clippy::large_enum_variant, reason = "descriptions are made once and stored; inline tensors keep them plain data")]
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum PostOp {
    /// `d = d + scale * (dst_before - zero_point)`.
    Sum {
        /// Factor of the old destination.
        scale: Real,
        /// Subtracted from the old destination.
        zero_point: i32,
        /// Type that the old destination's bytes are read as; `None`: its own.
        dtype: Option<DataType>,
    },
    /// `d = alg(d)`.
    Eltwise {
        /// The function.
        alg: EltwiseAlg,
        /// Its first parameter.
        alpha: Real,
        /// Its second parameter.
        beta: Real,
    },
    /// `d = alg(d, src1)`, broadcast; `select` takes `d` where `src2` is not zero, else `src1`.
    Binary {
        /// The function.
        alg: BinaryAlg,
        /// The other operand: each dim 1 or the destination's.
        src1: Tensor,
        /// The condition of a select.
        src2: Option<Tensor>,
    },
    /// `d = d > 0 ? d : d * weights`, weights over the dims in `mask`, f32.
    Prelu {
        /// Bit `d` set: one weight for each index of dimension `d`.
        mask: u32,
    },
    /// A depthwise convolution of the result of a 1x1 convolution.
    Depthwise {
        /// Type of its weights.
        weights: DataType,
        /// Type of its bias, if any.
        bias: Option<DataType>,
        /// Type of its destination.
        dst: DataType,
        /// Kernel size.
        kernel: i64,
        /// Stride.
        stride: i64,
        /// Padding before.
        padding: i64,
    },
}

impl PostOp {
    /// The weights of a prelu post-op of a result of `dims`: its dims where the mask has their bit, else 1; f32, channels last. `None` for
    /// sizes for which there is no such tensor.
    pub fn slopes(mask: u32, dims: &Dims) -> Option<Tensor> {
        let dims = Dims::from_fn(dims.len(), |d| if mask >> d & 1 == 1 { dims[d] } else { 1 });
        let tag = if dims.len() > 2 { "axb" } else { "abx" };
        Tensor::with_tag(dims, DataType::F32, tag).ok()
    }
}

/// Quantisation of int8 recurrent networks: `q = scale * x + shift`; static numbers.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub struct RnnQuant {
    /// Scale and shift of the activations.
    pub data: Option<(Real, Real)>,
    /// Mask and scales of layer and iteration weights.
    pub weights: Option<(u32, Vec<Real>)>,
    /// Mask and scales of the projection weights.
    pub projection: Option<(u32, Vec<Real>)>,
    /// Linear activations, for tests.
    pub linear: Option<RnnLinear>,
}

/// Products in place of a recurrent network's activations, so that oneDNN's tests can compute results exactly. As in these tests, the slope
/// in the gradients of a vanilla cell is its result times the factor; the slopes of other cells come from the gates as usual.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct RnnLinear {
    /// Factors of the gates.
    pub gates: Vec<Real>,
    /// The factor in place of the hyperbolic tangent of an LSTM's cell.
    pub cell: Real,
}

impl Attr {
    /// Index of the depthwise post-op, if any.
    pub fn depthwise_index(&self) -> Option<usize> {
        self.post_ops.iter().position(|p| matches!(p, PostOp::Depthwise { .. }))
    }
    /// True when a sum post-op reads the destination.
    pub fn reads_dst(&self) -> bool {
        self.post_ops.iter().any(|p| matches!(p, PostOp::Sum { .. }))
    }
    /// True if all values are the defaults.
    pub fn is_default(&self) -> bool {
        *self == Attr::default()
    }
}

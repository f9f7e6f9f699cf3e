//! From a builder to a primitive descriptor: the parts that all builders share.

use oxidnn_runtime::{Engine, PrimitiveDesc, knobs};
use oxidnn_spec::op::{BinaryAlg, EltwiseAlg};
use oxidnn_spec::{Accumulation, Arg, Attr, DataType, Error, FpMath, FpMathMode, Op, PostOp, Problem, Quant, Real, ScratchpadMode, Tensor};

/// The attributes that builders begin with: the specification's defaults, with the process's default precision.
pub(crate) fn defaults() -> Attr {
    Attr { fpmath: FpMath { mode: knobs::default_fpmath(), apply_to_int: false }, ..Attr::default() }
}

/// Defines the setters of a builder's source and destination.
macro_rules! data_setters {
    ($builder:ident) => {
        impl $builder {
            /// Source with a layout left to the implementation.
            #[must_use]
            pub fn src(self, dims: impl Into<Dims>, dtype: DataType) -> Self {
                self.src_tensor(Tensor::any(dims, dtype))
            }
            /// Source.
            #[must_use]
            pub fn src_tensor(mut self, tensor: Tensor) -> Self {
                self.src = Some(tensor);
                self
            }
            /// Destination; by default its size follows from the rest, its type is the source's, its layout the implementation's choice.
            #[must_use]
            pub fn dst_tensor(mut self, tensor: Tensor) -> Self {
                self.dst = Some(tensor);
                self
            }
            /// Destination with a layout left to the implementation.
            #[must_use]
            pub fn dst(self, dims: impl Into<Dims>, dtype: DataType) -> Self {
                self.dst_tensor(Tensor::any(dims, dtype))
            }
            /// The destination's type, if its size follows from the rest.
            #[must_use]
            pub fn dst_type(mut self, dtype: DataType) -> Self {
                self.dst_type = Some(dtype);
                self
            }
        }
    };
}
pub(crate) use data_setters;

/// Defines the setters of a builder's weights and bias.
macro_rules! weight_setters {
    ($builder:ident) => {
        impl $builder {
            /// Weights with a layout left to the implementation: packed once, one copy serves all batches and sizes.
            #[must_use]
            pub fn weights(self, dims: impl Into<Dims>, dtype: DataType) -> Self {
                self.weights_tensor(Tensor::any(dims, dtype))
            }
            /// Weights.
            #[must_use]
            pub fn weights_tensor(mut self, tensor: Tensor) -> Self {
                self.weights = Some(tensor);
                self
            }
            /// Bias.
            #[must_use]
            pub fn bias(mut self, dims: impl Into<Dims>, dtype: DataType) -> Self {
                self.bias = Some(Tensor::any(dims, dtype));
                self
            }
        }
    };
}
pub(crate) use weight_setters;

/// A builder of an operation: sets attributes, and ends in a problem or a primitive descriptor.
pub trait Describe: Sized {
    /// The operation as built so far.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] that names the missing or wrong part.
    fn op(&self) -> Result<Op, Error>;

    /// The attributes, to change.
    fn attr_mut(&mut self) -> &mut Attr;

    /// Replaces all attributes.
    #[must_use]
    fn attr(mut self, attr: Attr) -> Self {
        *self.attr_mut() = attr;
        self
    }

    /// Post-ops: operations on each result element, in order.
    #[must_use]
    fn post_ops(mut self, post_ops: PostOps) -> Self {
        self.attr_mut().post_ops = post_ops.0;
        self
    }

    /// Scales of argument `of` ([`Arg::SRC`], [`Arg::WEIGHTS`], [`Arg::DST`]...): one value per index of the dimensions in `mask`. They are
    /// passed at execution as [`Arg::scale`]`(of)`.
    #[must_use]
    fn scales(mut self, of: Arg, mask: u32) -> Self {
        self.attr_mut().scales.insert(of, Quant::per(mask, DataType::F32));
        self
    }

    /// Scales of argument `of`, of any type, by groups, or computed by the library: `Quant::per(3, F16).grouped([32, 1])` is one f16 value per 32
    /// rows of each column.
    #[must_use]
    fn scales_with(mut self, of: Arg, quant: Quant) -> Self {
        self.attr_mut().scales.insert(of, quant);
        self
    }

    /// Zero points of argument `of`, as [`Describe::scales_with`].
    #[must_use]
    fn zero_points_with(mut self, of: Arg, quant: Quant) -> Self {
        self.attr_mut().zero_points.insert(of, quant);
        self
    }

    /// Zero points of argument `of`, as [`Describe::scales`]; s32 values passed as [`Arg::zero_point`]`(of)`.
    #[must_use]
    fn zero_points(mut self, of: Arg, mask: u32) -> Self {
        self.attr_mut().zero_points.insert(of, Quant::per(mask, DataType::S32));
        self
    }

    /// Permission to compute in a lower precision; with `apply_to_int` integer weights are converted to it as well.
    #[must_use]
    fn fpmath(mut self, mode: FpMathMode, apply_to_int: bool) -> Self {
        self.attr_mut().fpmath = FpMath { mode, apply_to_int };
        self
    }

    /// The accumulation mode.
    #[must_use]
    fn accumulation(mut self, mode: Accumulation) -> Self {
        self.attr_mut().accumulation = mode;
        self
    }

    /// Who provides the scratch buffer.
    #[must_use]
    fn scratchpad(mut self, mode: ScratchpadMode) -> Self {
        self.attr_mut().scratchpad = mode;
        self
    }

    /// The validated problem.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] that names the argument, what it got and what it needs.
    fn problem(mut self) -> Result<Problem, Error> {
        let op = self.op()?;
        Problem::new(op, std::mem::take(self.attr_mut()))
    }

    /// The primitive descriptor on `engine`: layouts resolved, implementation chosen.
    ///
    /// # Errors
    /// As [`Describe::problem`]; [`Error::Unimplemented`] with every implementation's reason when none takes the problem.
    fn describe(self, engine: &Engine) -> Result<PrimitiveDesc, Error> {
        PrimitiveDesc::new(engine, self.problem()?)
    }
}

/// A list of post-ops: operations on each result element.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct PostOps(Vec<PostOp>);

impl PostOps {
    /// An empty list.
    #[must_use]
    pub fn new() -> PostOps {
        PostOps::default()
    }

    /// Appends any post-op.
    #[must_use]
    pub fn push(mut self, op: PostOp) -> PostOps {
        self.0.push(op);
        self
    }

    /// `max(d, 0)`.
    #[must_use]
    pub fn relu(self) -> PostOps {
        self.eltwise(EltwiseAlg::Relu, 0.0, 0.0)
    }

    /// `alg(d)`.
    #[must_use]
    pub fn eltwise(self, alg: EltwiseAlg, alpha: f32, beta: f32) -> PostOps {
        self.push(PostOp::Eltwise { alg, alpha: Real::new(alpha), beta: Real::new(beta) })
    }

    /// `d + scale * (the destination's old value)`.
    #[must_use]
    pub fn sum(self, scale: f32) -> PostOps {
        self.push(PostOp::Sum { scale: Real::new(scale), zero_point: 0, dtype: None })
    }

    /// `alg(d, src1)`, `src1` broadcast along dims of 1; passed at execution as [`Arg::post_op`]`(i, Arg::SRC_1)`.
    #[must_use]
    pub fn binary(self, alg: BinaryAlg, src1: Tensor) -> PostOps {
        self.push(PostOp::Binary { alg, src1, src2: None })
    }

    /// `d > 0 ? d : d * weights`, one weight per index of the dims in `mask`; passed as [`Arg::post_op`]`(i, Arg::WEIGHTS)`.
    #[must_use]
    pub fn prelu(self, mask: u32) -> PostOps {
        self.push(PostOp::Prelu { mask })
    }
}

/// A tensor that a builder needs, or the error that names it.
pub(crate) fn need(builder: &str, field: &str, tensor: &Option<Tensor>) -> Result<Tensor, Error> {
    tensor.clone().ok_or_else(|| Error::invalid(field, "nothing", format!("a tensor: call `.{field}(..)` on the {builder} builder")))
}

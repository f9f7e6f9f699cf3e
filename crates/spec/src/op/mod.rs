//! The operations: one file per primitive, and the closed enum of them all.
//!
//! Every operation is a struct of tensors and parameters, checked once in its `new`. [`Op::operands`] lists the tensors with their
//! execution arguments, so that validation, queries, verbose lines, harnesses and C faces need no knowledge of the single operation.

mod binary;
mod concat;
mod conv;
mod eltwise;
pub(crate) mod example;
mod inner_product;
mod lrn;
mod matmul;
mod norm;
mod pool;
mod prelu;
mod reduction;
mod reorder;
mod resampling;
mod rnn;
mod rnn_check;
mod sdpa;
mod shuffle;
mod softmax;
mod sum;
mod support;

pub use binary::{Binary, BinaryAlg};
pub use concat::Concat;
pub use conv::{Conv, ConvAlg, ConvSizes, Deconv, Window};
pub use eltwise::{Eltwise, EltwiseAlg};
pub use inner_product::InnerProduct;
pub use lrn::{Lrn, LrnAlg};
pub use matmul::Matmul;
pub use norm::{BatchNorm, Diff, GroupNorm, LayerNorm, NormFlags};
pub use pool::{Pool, PoolAlg};
pub use prelu::Prelu;
pub use reduction::{Reduction, ReductionAlg};
pub use reorder::{Reorder, RnnScaling};
pub use resampling::{Resampling, ResamplingAlg};
pub use rnn::{Rnn, RnnActivation, RnnCell, RnnDiff, RnnDirection, RnnSizes};
pub use sdpa::{Sdpa, SdpaDiff, SdpaMask, SdpaScale};
pub use shuffle::Shuffle;
pub use softmax::{Softmax, SoftmaxAlg};
pub use sum::Sum;
pub use support::{Support, support};

pub use crate::check::attr::{AttrRules, Masks, PostOps};
pub use crate::check::types::{Pass, TypeRow, TypeTable, Types};
pub(crate) use eltwise::check_eltwise;

use crate::check::Checked;
use crate::{Arg, Attr, Tensor};
use std::fmt;

/// Which pass of training or inference an operation computes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Prop {
    /// Forward, keeping the workspace and statistics that backward needs.
    ForwardTraining,
    /// Forward only.
    ForwardInference,
    /// Gradients of everything: data and parameters.
    Backward,
    /// Gradient of the data.
    BackwardData,
    /// Gradient of weights (and bias).
    BackwardWeights,
}

impl Prop {
    /// True for the two forward kinds.
    pub const fn is_forward(self) -> bool {
        matches!(self, Prop::ForwardTraining | Prop::ForwardInference)
    }
    /// The specification's name, `forward_training` for example.
    pub const fn name(self) -> &'static str {
        match self {
            Prop::ForwardTraining => "forward_training",
            Prop::ForwardInference => "forward_inference",
            Prop::Backward => "backward",
            Prop::BackwardData => "backward_data",
            Prop::BackwardWeights => "backward_weights",
        }
    }
}

impl fmt::Display for Prop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether an execution reads or writes an argument.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Use {
    /// Read.
    In,
    /// Written (read as well where a sum post-op or accumulation asks for it).
    Out,
}

/// One tensor of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operand<T> {
    /// The execution argument it comes as.
    pub arg: Arg,
    /// Read or written.
    pub usage: Use,
    /// Its description.
    pub tensor: T,
}

/// The tensors of an operation, in the specification's order.
pub(crate) struct Operands<T>(pub(crate) Vec<Operand<T>>);

impl<T> Operands<T> {
    pub(crate) fn input(&mut self, arg: Arg, tensor: impl Slot<T>) {
        self.put(arg, Use::In, tensor);
    }
    pub(crate) fn output(&mut self, arg: Arg, tensor: impl Slot<T>) {
        self.put(arg, Use::Out, tensor);
    }
    pub(crate) fn put(&mut self, arg: Arg, usage: Use, tensor: impl Slot<T>) {
        self.0.extend(tensor.slot().map(|tensor| Operand { arg, usage, tensor }));
    }
    /// Sources by number.
    pub(crate) fn sources(&mut self, srcs: impl IntoIterator<Item = impl Slot<T>>) {
        srcs.into_iter().enumerate().for_each(|(i, src)| self.input(Arg::multiple_src(i), src));
    }
    /// Source, weights, bias and destination of a product as its passes read and write them.
    pub(crate) fn product(&mut self, prop: Prop, src: impl Slot<T>, weights: impl Slot<T>, bias: impl Slot<T>, dst: impl Slot<T>) {
        match prop {
            Prop::BackwardData => {
                self.input(Arg::DIFF_DST, dst);
                self.input(Arg::WEIGHTS, weights);
                self.output(Arg::DIFF_SRC, src);
            }
            Prop::BackwardWeights => {
                self.input(Arg::SRC, src);
                self.input(Arg::DIFF_DST, dst);
                self.output(Arg::DIFF_WEIGHTS, weights);
                self.output(Arg::DIFF_BIAS, bias);
            }
            _ => {
                self.input(Arg::SRC, src);
                self.input(Arg::WEIGHTS, weights);
                self.input(Arg::BIAS, bias);
                self.output(Arg::DST, dst);
            }
        }
    }
}

/// A tensor that is there, or perhaps there, by shared or unique reference.
pub(crate) trait Slot<T> {
    fn slot(self) -> Option<T>;
}
impl<'a> Slot<&'a Tensor> for &'a Tensor {
    fn slot(self) -> Option<&'a Tensor> {
        Some(self)
    }
}
impl<'a> Slot<&'a Tensor> for &'a Option<Tensor> {
    fn slot(self) -> Option<&'a Tensor> {
        self.as_ref()
    }
}
impl<'a> Slot<&'a mut Tensor> for &'a mut Tensor {
    fn slot(self) -> Option<&'a mut Tensor> {
        Some(self)
    }
}
impl<'a> Slot<&'a mut Tensor> for &'a mut Option<Tensor> {
    fn slot(self) -> Option<&'a mut Tensor> {
        self.as_mut()
    }
}

/// Writes `operands` and `operands_mut` of an operation from one list, so that the two cannot differ.
macro_rules! operands {
    ($op:ident { $($field:ident),* $(,)? }, $o:ident => $body:block) => {
        impl $op {
            /// The tensors with their execution arguments.
            pub fn operands(&self) -> Vec<$crate::op::Operand<&$crate::Tensor>> {
                let $op { $($field,)* .. } = self;
                let mut $o = $crate::op::Operands(Vec::with_capacity([$(stringify!($field)),*].len()));
                $body
                $o.0
            }
            /// The same, to resolve layouts in.
            pub fn operands_mut(&mut self) -> Vec<$crate::op::Operand<&mut $crate::Tensor>> {
                let $op { $($field,)* .. } = self;
                let mut $o = $crate::op::Operands(Vec::with_capacity([$(stringify!($field)),*].len()));
                $body
                $o.0
            }
        }
    };
}
pub(crate) use operands;

/// Any operation. Operations with many tensors are boxed, so that moving a problem is cheap.
#[derive(PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "every variant is its struct, documented there")]
#[allow(clippy::large_enum_variant, reason = "a few tensors are moved sooner than allocated")]
pub enum Op {
    Conv(Box<Conv>),
    Deconv(Box<Deconv>),
    InnerProduct(InnerProduct),
    Matmul(Matmul),
    BatchNorm(Box<BatchNorm>),
    LayerNorm(Box<LayerNorm>),
    GroupNorm(Box<GroupNorm>),
    Lrn(Lrn),
    Pool(Box<Pool>),
    Eltwise(Eltwise),
    Softmax(Softmax),
    Reduction(Reduction),
    Resampling(Resampling),
    Binary(Binary),
    Prelu(Box<Prelu>),
    Shuffle(Shuffle),
    Concat(Concat),
    Sum(Sum),
    Reorder(Reorder),
    Rnn(Box<Rnn>),
    Sdpa(Box<Sdpa>),
}

impl Clone for Op {
    // A derived function would be compiled, with those of all operations, into every unit that clones a problem.
    #[inline(never)]
    fn clone(&self) -> Op {
        match self {
            Op::Conv(op) => Op::Conv(op.clone()),
            Op::Deconv(op) => Op::Deconv(op.clone()),
            Op::InnerProduct(op) => Op::InnerProduct(op.clone()),
            Op::Matmul(op) => Op::Matmul(op.clone()),
            Op::BatchNorm(op) => Op::BatchNorm(op.clone()),
            Op::LayerNorm(op) => Op::LayerNorm(op.clone()),
            Op::GroupNorm(op) => Op::GroupNorm(op.clone()),
            Op::Lrn(op) => Op::Lrn(op.clone()),
            Op::Pool(op) => Op::Pool(op.clone()),
            Op::Eltwise(op) => Op::Eltwise(op.clone()),
            Op::Softmax(op) => Op::Softmax(op.clone()),
            Op::Reduction(op) => Op::Reduction(op.clone()),
            Op::Resampling(op) => Op::Resampling(op.clone()),
            Op::Binary(op) => Op::Binary(op.clone()),
            Op::Prelu(op) => Op::Prelu(op.clone()),
            Op::Shuffle(op) => Op::Shuffle(op.clone()),
            Op::Concat(op) => Op::Concat(op.clone()),
            Op::Sum(op) => Op::Sum(op.clone()),
            Op::Reorder(op) => Op::Reorder(op.clone()),
            Op::Rnn(op) => Op::Rnn(op.clone()),
            Op::Sdpa(op) => Op::Sdpa(op.clone()),
        }
    }
}

/// Calls `$body` with the struct inside an [`Op`].
macro_rules! each_op {
    ($self:expr, $x:ident => $body:expr) => {
        match $self {
            Op::Conv($x) => $body,
            Op::Deconv($x) => $body,
            Op::InnerProduct($x) => $body,
            Op::Matmul($x) => $body,
            Op::BatchNorm($x) => $body,
            Op::LayerNorm($x) => $body,
            Op::GroupNorm($x) => $body,
            Op::Lrn($x) => $body,
            Op::Pool($x) => $body,
            Op::Eltwise($x) => $body,
            Op::Softmax($x) => $body,
            Op::Reduction($x) => $body,
            Op::Resampling($x) => $body,
            Op::Binary($x) => $body,
            Op::Prelu($x) => $body,
            Op::Shuffle($x) => $body,
            Op::Concat($x) => $body,
            Op::Sum($x) => $body,
            Op::Reorder($x) => $body,
            Op::Rnn($x) => $body,
            Op::Sdpa($x) => $body,
        }
    };
}

impl Op {
    /// The tensors of the operation itself with their execution arguments (those of attributes and the scratchpad
    /// are [`crate::Problem::operands`]'s).
    pub fn operands(&self) -> Vec<Operand<&Tensor>> {
        each_op!(self, x => x.operands())
    }

    /// The same, to resolve layouts in.
    pub fn operands_mut(&mut self) -> Vec<Operand<&mut Tensor>> {
        each_op!(self, x => x.operands_mut())
    }

    /// The tensor that comes as `arg`.
    pub fn tensor(&self, arg: Arg) -> Option<&Tensor> {
        self.operands().into_iter().find(|o| o.arg == arg).map(|o| o.tensor)
    }

    /// The tensor that comes as `arg`, to resolve its layout.
    pub fn tensor_mut(&mut self, arg: Arg) -> Option<&mut Tensor> {
        self.operands_mut().into_iter().find(|o| o.arg == arg).map(|o| o.tensor)
    }

    /// The propagation kind, of the operations that have one.
    pub fn prop(&self) -> Option<Prop> {
        Some(match self {
            Op::Conv(x) => x.prop,
            Op::Deconv(x) => x.prop,
            Op::InnerProduct(x) => x.prop,
            Op::BatchNorm(x) => x.prop,
            Op::LayerNorm(x) => x.prop,
            Op::GroupNorm(x) => x.prop,
            Op::Lrn(x) => x.prop,
            Op::Pool(x) => x.prop,
            Op::Eltwise(x) => x.prop,
            Op::Softmax(x) => x.prop,
            Op::Resampling(x) => x.prop,
            Op::Prelu(x) => x.prop,
            Op::Shuffle(x) => x.prop,
            Op::Rnn(x) => x.prop,
            Op::Sdpa(x) => x.prop,
            _ => return None,
        })
    }

    /// The specification's name of the primitive kind, `convolution` for example.
    pub fn kind(&self) -> &'static str {
        match self {
            Op::Conv(_) => "convolution",
            Op::Deconv(_) => "deconvolution",
            Op::InnerProduct(_) => "inner_product",
            Op::Matmul(_) => "matmul",
            Op::BatchNorm(_) => "batch_normalization",
            Op::LayerNorm(_) => "layer_normalization",
            Op::GroupNorm(_) => "group_normalization",
            Op::Lrn(_) => "lrn",
            Op::Pool(_) => "pooling",
            Op::Eltwise(_) => "eltwise",
            Op::Softmax(_) => "softmax",
            Op::Reduction(_) => "reduction",
            Op::Resampling(_) => "resampling",
            Op::Binary(_) => "binary",
            Op::Prelu(_) => "prelu",
            Op::Shuffle(_) => "shuffle",
            Op::Concat(_) => "concat",
            Op::Sum(_) => "sum",
            Op::Reorder(_) => "reorder",
            Op::Rnn(_) => "rnn",
            Op::Sdpa(_) => "sdpa",
        }
    }
}

/// Conversions of the structs into [`Op`].
macro_rules! into_op {
    ($($name:ident)*; boxed: $($large:ident)*) => {
        $(impl From<$name> for Op {
            fn from(op: $name) -> Op {
                Op::$name(op)
            }
        })*
        $(impl From<$large> for Op {
            fn from(op: $large) -> Op {
                Op::$large(Box::new(op))
            }
        })*
    };
}
into_op!(InnerProduct Matmul Lrn Eltwise Softmax Reduction Resampling Binary Shuffle Concat Sum Reorder;
    boxed: Conv Deconv BatchNorm LayerNorm GroupNorm Pool Prelu Rnn Sdpa);

impl Op {
    /// Fills the tensors that follow from the others, where they are absent.
    pub(crate) fn derive(&mut self, attr: &Attr) {
        match self {
            Op::Conv(x) => x.derive(attr),
            Op::BatchNorm(x) => x.derive(),
            Op::LayerNorm(x) => x.derive(),
            Op::GroupNorm(x) => x.derive(),
            Op::Pool(x) => x.derive(),
            Op::Resampling(x) => x.derive(),
            Op::Rnn(x) => x.derive(),
            Op::Sdpa(x) => x.derive(),
            _ => {}
        }
    }

    /// Whether sizes, strides or offsets of its tensors are given only at execution.
    pub fn has_runtime(&self) -> bool {
        self.operands().iter().any(|o| o.tensor.layout.has_runtime())
    }

    /// Whether the operation may overwrite the input `arg` with its result: those that read an element, or a row, before they write it.
    pub fn may_be_in_place(&self, arg: Arg) -> bool {
        let in_order = matches!(
            self,
            Op::Eltwise(_) | Op::Binary(_) | Op::Sum(_) | Op::Softmax(_) | Op::BatchNorm(_) | Op::LayerNorm(_) | Op::GroupNorm(_)
        );
        in_order && (matches!(arg, Arg::SRC | Arg::SRC_1 | Arg::DIFF_DST) || arg.multiple_src_index().is_some())
    }

    /// Takes the layouts for a backward operation's `any` from the forward operation.
    pub fn follow(&mut self, forward: &Op) {
        if let (Op::Pool(backward), Op::Pool(forward)) = (self, forward) {
            backward.follow(forward);
        }
    }

    /// Every rule of the operation itself.
    pub(crate) fn check(&self) -> Checked {
        each_op!(self, x => x.check())
    }

    /// The tensor that scales or zero points named after `arg` belong to. With a depthwise post-op `DST` is the first convolution's result and
    /// `depthwise(DST)` the second's.
    pub(crate) fn quantised(&self, arg: Arg) -> Option<&Tensor> {
        match arg {
            Arg::DST if self.intermediate().is_some() => self.intermediate(),
            _ if arg == Arg::depthwise(Arg::DST) => self.intermediate().and(self.tensor(Arg::DST)),
            _ => self.tensor(arg),
        }
    }

    /// The result of a convolution that a depthwise one follows.
    pub(crate) fn intermediate(&self) -> Option<&Tensor> {
        match self {
            Op::Conv(x) if x.depthwise_dst.is_some() => Some(&x.dst),
            _ => None,
        }
    }

    /// True where tensors of a depthwise post-op are there.
    pub(crate) fn has_depthwise(&self) -> bool {
        matches!(self, Op::Conv(x) if x.depthwise_dst.is_some() || x.depthwise_weights.is_some() || x.depthwise_bias.is_some())
    }

    /// True for convolutions whose weights have a dimension of groups.
    pub(crate) fn has_groups(&self) -> bool {
        match self {
            Op::Conv(x) => x.weights.dims().len() > x.src.dims().len(),
            Op::Deconv(x) => x.weights.dims().len() > x.src.dims().len(),
            _ => false,
        }
    }

    /// The workspace that forward training keeps for backward, if the operation needs one.
    pub fn workspace(&self) -> Option<&Tensor> {
        match self {
            Op::BatchNorm(x) => x.workspace.as_ref(),
            Op::Pool(x) => x.workspace.as_ref(),
            Op::Rnn(x) => x.workspace.as_ref(),
            Op::Sdpa(x) => x.workspace.as_ref(),
            _ => None,
        }
    }

    /// The tensor that post-ops, dropout and the destination's quantisation apply to: the destination, in backward passes the first gradient
    /// computed.
    pub fn result(&self) -> Option<&Tensor> {
        let mut out = self.operands().into_iter().filter(|o| o.usage == Use::Out).map(|o| (o.arg, o.tensor));
        let first = out.next()?;
        Some(if first.0 == Arg::DST { first.1 } else { out.find(|o| o.0 == Arg::DST).unwrap_or(first).1 })
    }

    /// Whether destinations naturally take the layout of the source.
    pub(crate) const fn follows(&self) -> bool {
        !matches!(self, Op::InnerProduct(_) | Op::Matmul(_) | Op::Rnn(_) | Op::Sdpa(_))
    }
}

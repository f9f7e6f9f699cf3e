//! Convolutions and deconvolutions in all passes. Data with channels last and weights in any order are views. The kernel chooses the
//! weights' layout; constant weights are reordered to it once where constants are kept.

use super::fold::Post;
use super::state::channels_first;
use super::{Lowering, Value, window};
use crate::infer::{weights_order, window_dims};
use crate::{AttrId, Error};
use oxidnn_spec::op::{Conv, ConvAlg, Deconv, Prop};
use oxidnn_spec::{Arg, DataType, Op, Tensor};

/// Which tensors an operation has where.
struct Operands {
    /// Data with the convolution's (or deconvolution's) input channels.
    src: Value,
    /// Output channels, input channels and kernel sizes, groups first where there are several.
    weights: Value,
    dst: Value,
    bias: Option<Value>,
}

/// Weights in the operation's format, by groups where there are several.
fn weights(l: &Lowering<'_>, value: &Value, transposed: bool) -> Result<Value, Error> {
    let n = value.dims().len();
    if n < 3 {
        return Err(Error::shape("weights", value.dims(), "at least 3 dimensions"));
    }
    let value = value.permuted(&weights_order(l.op, n))?;
    let groups = l.op.s64(AttrId::Groups);
    if groups <= 1 {
        return Ok(value);
    }
    // The channels that are counted over all groups: a convolution's outputs, a deconvolution's inputs.
    let d = usize::from(transposed);
    let order: Vec<usize> = [d].into_iter().chain((0..=n).filter(|&i| i != d)).collect();
    value.split(d, groups)?.permuted(&order)
}

impl Operands {
    fn problem(&self, l: &Lowering<'_>, prop: Prop, deconvolution: bool) -> Result<Op, Error> {
        let (s, d, w) = (self.src.spatial()?, self.dst.spatial()?, self.weights.dims());
        let (wide, narrow) = if deconvolution { (d, s) } else { (s, d) };
        let kernel = w.len().checked_sub(s.len()).map_or(&[][..], |first| &w[first..]);
        // Automatic padding is that of the operation's own direction.
        let transposed = matches!(l.op.kind, crate::OpKind::ConvTranspose);
        let window_dims = window_dims(l.op, if transposed { narrow } else { wide }, kernel, transposed)?;
        let window = window(&window_dims, wide, narrow)?;
        let open = Tensor::any(*w, self.weights.dtype());
        let tensors = [self.src.tensor.clone(), open, self.dst.tensor.clone()];
        let bias = self.bias.as_ref().map(|b| b.tensor.clone());
        Ok(match deconvolution {
            true => Deconv::new(prop, ConvAlg::Direct, tensors, bias, window).into(),
            false => Conv::new(prop, self.algorithm(l, prop), tensors, bias, window).into(),
        })
    }

    /// The algorithm that the graph asks for, where there is a choice.
    fn algorithm(&self, l: &Lowering<'_>, prop: Prop) -> ConvAlg {
        let chooses = prop != Prop::BackwardWeights && [&self.src, &self.weights].iter().all(|v| v.dtype() == DataType::F32);
        if chooses { l.convolution } else { ConvAlg::Direct }
    }

    fn args(&self, prop: Prop) -> Vec<(Arg, &Value)> {
        let args = match prop {
            Prop::BackwardData => [(Arg::DIFF_DST, &self.dst), (Arg::WEIGHTS, &self.weights), (Arg::DIFF_SRC, &self.src)],
            Prop::BackwardWeights => [(Arg::SRC, &self.src), (Arg::DIFF_DST, &self.dst), (Arg::DIFF_WEIGHTS, &self.weights)],
            _ => [(Arg::SRC, &self.src), (Arg::WEIGHTS, &self.weights), (Arg::DST, &self.dst)],
        };
        args.into_iter().chain(self.bias.as_ref().map(|b| (Arg::BIAS, b))).collect()
    }

    /// The row that takes the forward pass.
    fn row(&self, l: &mut Lowering<'_>, deconvolution: bool) -> Result<usize, Error> {
        let problem = self.problem(l, Prop::ForwardInference, deconvolution)?;
        l.row(problem, &self.args(Prop::ForwardInference))
    }

    fn lower(self, l: &mut Lowering<'_>, prop: Prop, deconvolution: bool) -> Result<(), Error> {
        let problem = self.problem(l, prop, deconvolution)?;
        l.main(problem, &self.args(prop))
    }
}

fn forward_pass(l: &mut Lowering<'_>, deconvolution: bool) -> Result<(), Error> {
    // Bytes are multiplied by bytes.
    l.quantised &= l.operand(0)?.scaled.is_some() && l.operand(1)?.scaled.is_some();
    let mut src = channels_first(l.op, &l.source(0)?)?;
    let own = l.source(1)?;
    let weights = weights(l, &own, deconvolution)?;
    let mut bias = l.optional(2)?.or(l.folded.bias.take());
    super::norm::by_source(l, &mut src, &mut bias)?;
    if let Some((factor, summand)) = l.folded.norm.take() {
        bias = Some(super::norm::shifted(l, bias, [&factor, &summand])?);
        // One number for each output channel of each group.
        let channels = if l.op.s64(AttrId::Groups) > 1 { 2 } else { 1 };
        let each: Vec<i64> = weights.dims().iter().enumerate().map(|(d, &size)| if d < channels { size } else { 1 }).collect();
        l.factor = Some(factor.reshaped(&each)?);
    }
    let dst = l.destination(channels_first)?;
    let operands = Operands { src, weights, dst, bias };
    pixel_by_pixel(l, &operands, deconvolution)?;
    operands.lower(l, Prop::ForwardInference, deconvolution)
}

/// Reorders operands of post-ops of the size of the result to the order in which a window's results are computed: all channels of a pixel,
/// then the next pixel. The copy costs a tenth of reading them channel by channel. It is not made if a better row takes the operands in
/// their layout.
fn pixel_by_pixel(l: &mut Lowering<'_>, operands: &Operands, deconvolution: bool) -> Result<(), Error> {
    let (checkpoint, given) = (l.checkpoint(), l.folded.clone());
    let (mut posts, mut copied) = (std::mem::take(&mut l.folded.posts), false);
    for post in &mut posts {
        let Post::Binary(_, value) = post else { continue };
        let whole = value.dims() == operands.dst.dims() && value.scaled.is_none();
        let strided = value.tensor.blocking().is_some_and(|b| b.strides.get(1).is_some_and(|&s| s != 1));
        if whole && strided && value.size(1)? > 1 && value.spatial()?.iter().any(|&s| s > 1) {
            *value = l.copied(value, channels_last(value)?)?;
            copied = true;
        }
    }
    l.folded.posts = posts;
    if !copied {
        return Ok(());
    }
    let there = operands.row(l, deconvolution)?;
    let moved = std::mem::replace(&mut l.folded, given);
    if operands.row(l, deconvolution)? < there {
        l.rollback(&checkpoint);
    } else {
        l.folded = moved;
    }
    Ok(())
}

/// Batch, channels and spatial sizes, dense, the channels of a pixel beside each other.
fn channels_last(value: &Value) -> Result<Tensor, Error> {
    let (dims, n) = (*value.dims(), value.dims().len());
    let mut strides = dims;
    let mut step = 1;
    for d in std::iter::once(1).chain((2..n).rev()).chain([0]) {
        strides[d] = step;
        step *= dims[d];
    }
    Ok(Tensor::with_strides(dims, value.dtype(), Some(strides))?)
}

fn data_pass(l: &mut Lowering<'_>, deconvolution: bool) -> Result<(), Error> {
    let dst = channels_first(l.op, &l.input(0)?)?;
    let own = l.input(1)?;
    let weights = weights(l, &own, deconvolution)?;
    let src = l.destination(channels_first)?;
    Operands { src, weights, dst, bias: None }.lower(l, Prop::BackwardData, deconvolution)
}

fn weights_pass(l: &mut Lowering<'_>, deconvolution: bool) -> Result<(), Error> {
    let (src, dst) = (channels_first(l.op, &l.input(0)?)?, channels_first(l.op, &l.input(1)?)?);
    let own = l.output(0)?;
    let weights = weights(l, &own, deconvolution)?;
    Operands { src, weights, dst, bias: None }.lower(l, Prop::BackwardWeights, deconvolution)
}

pub(super) fn forward(l: &mut Lowering<'_>) -> Result<(), Error> {
    forward_pass(l, false)
}

pub(super) fn backward_data(l: &mut Lowering<'_>) -> Result<(), Error> {
    data_pass(l, false)
}

pub(super) fn backward_weights(l: &mut Lowering<'_>) -> Result<(), Error> {
    weights_pass(l, false)
}

pub(super) fn transposed(l: &mut Lowering<'_>) -> Result<(), Error> {
    forward_pass(l, true)
}

pub(super) fn transposed_backward_data(l: &mut Lowering<'_>) -> Result<(), Error> {
    data_pass(l, true)
}

pub(super) fn transposed_backward_weights(l: &mut Lowering<'_>) -> Result<(), Error> {
    weights_pass(l, true)
}

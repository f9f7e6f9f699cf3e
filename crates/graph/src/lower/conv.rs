//! Convolutions and deconvolutions in all passes. Data with channels last and weights in any order are views; the weights' layout is the
//! kernel's to choose, and constant weights are brought into it once where constants are kept.

use super::{Lowering, Value, window};
use crate::infer::{slides, weights_order};
use crate::{AttrId, Error};
use oxidnn_spec::op::{Conv, ConvAlg, Deconv, Prop};
use oxidnn_spec::{Arg, Op, Tensor};

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
    let dims = *value.dims();
    if dims[d] % groups != 0 {
        return Err(Error::shape("weights", dims, format_args!("channels that {groups} groups divide")));
    }
    let mut split: Vec<i64> = dims.to_vec();
    split[d] = dims[d] / groups;
    split.insert(d, groups);
    let value = value.with(value.tensor.layout.reshape(&split)?);
    let order: Vec<usize> = [d].into_iter().chain((0..=n).filter(|&i| i != d)).collect();
    value.permuted(&order)
}

impl Operands {
    fn problem(&self, l: &Lowering<'_>, prop: Prop, deconvolution: bool) -> Result<Op, Error> {
        let (s, d, w) = (self.src.spatial()?, self.dst.spatial()?, self.weights.dims());
        let (wide, narrow) = if deconvolution { (d, s) } else { (s, d) };
        let kernel = w.len().checked_sub(s.len()).map_or(&[][..], |first| &w[first..]);
        // Automatic padding is that of the operation's own direction.
        let transposed = matches!(l.op.kind, crate::OpKind::ConvTranspose);
        let slides = slides(l.op, if transposed { narrow } else { wide }, kernel, transposed)?;
        let window = window(&slides, wide, narrow)?;
        let open = Tensor::any(*w, self.weights.dtype());
        let tensors = [self.src.tensor.clone(), open, self.dst.tensor.clone()];
        let bias = self.bias.as_ref().map(|b| b.tensor.clone());
        Ok(match deconvolution {
            true => Deconv::new(prop, ConvAlg::Direct, tensors, bias, window).into(),
            false => Conv::new(prop, ConvAlg::Direct, tensors, bias, window).into(),
        })
    }

    fn lower(self, l: &mut Lowering<'_>, prop: Prop, deconvolution: bool) -> Result<(), Error> {
        let problem = self.problem(l, prop, deconvolution)?;
        let args = match prop {
            Prop::BackwardData => [(Arg::DIFF_DST, &self.dst), (Arg::WEIGHTS, &self.weights), (Arg::DIFF_SRC, &self.src)],
            Prop::BackwardWeights => [(Arg::SRC, &self.src), (Arg::DIFF_DST, &self.dst), (Arg::DIFF_WEIGHTS, &self.weights)],
            _ => [(Arg::SRC, &self.src), (Arg::WEIGHTS, &self.weights), (Arg::DST, &self.dst)],
        };
        let bias = self.bias.as_ref().map(|b| (Arg::BIAS, b));
        let args: Vec<(Arg, &Value)> = args.into_iter().chain(bias).collect();
        l.step(problem, &args)
    }
}

fn data(l: &Lowering<'_>, value: Value) -> Result<Value, Error> {
    l.channels_first(&value)
}

fn forward_pass(l: &mut Lowering<'_>, deconvolution: bool) -> Result<(), Error> {
    let src = data(l, l.input(0)?)?;
    let weights = weights(l, &l.input(1)?, deconvolution)?;
    let operands = Operands { src, weights, dst: data(l, l.output(0)?)?, bias: l.optional(2)? };
    operands.lower(l, Prop::ForwardInference, deconvolution)
}

fn data_pass(l: &mut Lowering<'_>, deconvolution: bool) -> Result<(), Error> {
    let dst = data(l, l.input(0)?)?;
    let weights = weights(l, &l.input(1)?, deconvolution)?;
    Operands { src: data(l, l.output(0)?)?, weights, dst, bias: None }.lower(l, Prop::BackwardData, deconvolution)
}

fn weights_pass(l: &mut Lowering<'_>, deconvolution: bool) -> Result<(), Error> {
    let (src, dst) = (data(l, l.input(0)?)?, data(l, l.input(1)?)?);
    let weights = weights(l, &l.output(0)?, deconvolution)?;
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

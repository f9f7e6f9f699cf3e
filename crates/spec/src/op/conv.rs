//! Convolution and deconvolution (transposed convolution).

use super::{Prop, operands};
use crate::{Arg, Attr, Dims, PostOp, Tensor};

/// How a kernel slides over the spatial dimensions; one entry a spatial dimension (1 to 3).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Window {
    /// Distance between two applications of the kernel, at least 1.
    pub strides: Dims,
    /// Extra distance between kernel elements; 0 for a dense kernel.
    pub dilations: Dims,
    /// Padding before.
    pub padding_l: Dims,
    /// Padding after.
    pub padding_r: Dims,
}

/// Requested convolution algorithm.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ConvAlg {
    /// Sums of products.
    Direct,
    /// Winograd's minimal filtering (less exact).
    Winograd,
    /// Either.
    Auto,
}

/// Convolution: `dst[n,oc,o..] = bias[oc] + sum(src[n,ic,o*s - pl + k*(d+1)..] * weights[oc,ic,k..])`.
///
/// `src` is N x IC x spatial, `weights` `[G x] OC/G x IC/G x kernel`, `bias` OC, `dst` N x OC x spatial. In a backward pass the tensor
/// of the gradient computed (or given) stands in the same field: `src` is `diff_src` with [`Prop::BackwardData`], `weights` and `bias` are
/// the gradients with [`Prop::BackwardWeights`], and `dst` is `diff_dst` in both.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Conv {
    /// Which pass; not [`Prop::Backward`].
    pub prop: Prop,
    /// Algorithm.
    pub alg: ConvAlg,
    /// Source (gradient).
    pub src: Tensor,
    /// Weights (gradient).
    pub weights: Tensor,
    /// Bias (gradient).
    pub bias: Option<Tensor>,
    /// Destination (gradient). With a depthwise post-op it is no argument but the intermediate result of the 1x1 convolution, rounded to its
    /// type; its layout means nothing.
    pub dst: Tensor,
    /// Strides, dilations, paddings.
    pub window: Window,
    /// Weights of a depthwise post-op: OC x 1 x 1 x k x k (groups first); set from the attributes by [`crate::Problem::new`].
    pub depthwise_weights: Option<Tensor>,
    /// Bias of a depthwise post-op, OC.
    pub depthwise_bias: Option<Tensor>,
    /// Destination of a depthwise post-op, N x OC x ceil(OH / stride) x ceil(OW / stride); then this one is [`Arg::DST`].
    pub depthwise_dst: Option<Tensor>,
}

/// Transposed convolution: the backward-data pass of a [`Conv`] as a forward operation.
///
/// Shapes as for [`Conv`], with `weights` `[G x] OC/G x IC/G x kernel` by the deconvolution's own input and output channels.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Deconv {
    /// Which pass; not [`Prop::Backward`].
    pub prop: Prop,
    /// Algorithm ([`ConvAlg::Auto`] is not used).
    pub alg: ConvAlg,
    /// Source (gradient).
    pub src: Tensor,
    /// Weights (gradient).
    pub weights: Tensor,
    /// Bias (gradient).
    pub bias: Option<Tensor>,
    /// Destination (gradient).
    pub dst: Tensor,
    /// Strides, dilations, paddings.
    pub window: Window,
}

operands!(Conv { prop, src, weights, bias, dst, depthwise_weights, depthwise_bias, depthwise_dst }, o => {
    match prop {
        Prop::BackwardData => {
            o.input(Arg::DIFF_DST, dst);
            o.input(Arg::WEIGHTS, weights);
            o.output(Arg::DIFF_SRC, src);
        }
        Prop::BackwardWeights => {
            o.input(Arg::SRC, src);
            o.input(Arg::DIFF_DST, dst);
            o.output(Arg::DIFF_WEIGHTS, weights);
            o.output(Arg::DIFF_BIAS, bias);
        }
        _ => {
            o.input(Arg::SRC, src);
            o.input(Arg::WEIGHTS, weights);
            o.input(Arg::BIAS, bias);
            o.input(Arg::depthwise(Arg::WEIGHTS), depthwise_weights);
            o.input(Arg::depthwise(Arg::BIAS), depthwise_bias);
            match depthwise_dst {
                Some(last) => o.output(Arg::DST, last),
                None => o.output(Arg::DST, dst),
            }
        }
    }
});

operands!(Deconv { prop, src, weights, bias, dst }, o => {
    match prop {
        Prop::BackwardData => {
            o.input(Arg::DIFF_DST, dst);
            o.input(Arg::WEIGHTS, weights);
            o.output(Arg::DIFF_SRC, src);
        }
        Prop::BackwardWeights => {
            o.input(Arg::SRC, src);
            o.input(Arg::DIFF_DST, dst);
            o.output(Arg::DIFF_WEIGHTS, weights);
            o.output(Arg::DIFF_BIAS, bias);
        }
        _ => {
            o.input(Arg::SRC, src);
            o.input(Arg::WEIGHTS, weights);
            o.input(Arg::BIAS, bias);
            o.output(Arg::DST, dst);
        }
    }
});

/// Sizes of a convolution, spatial dimensions always three (depth, height, width; leading ones 1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConvSizes {
    /// Batch.
    pub mb: i64,
    /// Groups.
    pub g: i64,
    /// Input channels of one group.
    pub ic: i64,
    /// Output channels of one group.
    pub oc: i64,
    /// Input sizes.
    pub i: [i64; 3],
    /// Output sizes.
    pub o: [i64; 3],
    /// Kernel sizes.
    pub k: [i64; 3],
    /// Strides.
    pub s: [i64; 3],
    /// Distances between kernel elements: dilation + 1.
    pub d: [i64; 3],
    /// Padding before.
    pub pl: [i64; 3],
    /// Padding after.
    pub pr: [i64; 3],
}

impl ConvSizes {
    /// Sizes from the tensors; `src` and `dst` as the operation names them.
    pub(crate) fn of(src: &Tensor, weights: &Tensor, dst: &Tensor, window: &Window) -> ConvSizes {
        let (s, w, d) = (src.dims(), weights.dims(), dst.dims());
        let grouped = usize::from(w.len() == s.len() + 1);
        let spatial = s.len() - 2;
        let three = |v: &[i64], fill: i64| {
            let mut out = [fill; 3];
            out[3 - spatial..].copy_from_slice(&v[v.len() - spatial..]);
            out
        };
        ConvSizes {
            mb: s[0],
            g: if grouped == 1 { w[0] } else { 1 },
            oc: w[grouped],
            ic: w[grouped + 1],
            i: three(s, 1),
            o: three(d, 1),
            k: three(w, 1),
            s: three(&window.strides, 1),
            d: three(&window.dilations, 0).map(|d| d + 1),
            pl: three(&window.padding_l, 0),
            pr: three(&window.padding_r, 0),
        }
    }
}

impl Window {
    /// Output sizes of a forward convolution or pooling of `input` by `kernel`: `(i + pl + pr - ((k - 1) * (d + 1) + 1)) / s + 1` a spatial
    /// dimension, rounded down; `None` where that is not positive or does not fit.
    pub fn output(&self, input: &[i64], kernel: &[i64]) -> Option<Dims> {
        let mut out = Dims::default();
        for (j, (&i, &k)) in input.iter().zip(kernel).enumerate() {
            let (s, d) = (*self.strides.get(j)?, *self.dilations.get(j)?);
            let (pl, pr) = (*self.padding_l.get(j)?, *self.padding_r.get(j)?);
            let span = k.checked_sub(1)?.checked_mul(d.checked_add(1)?)?.checked_add(1)?;
            let room = i.checked_add(pl)?.checked_add(pr)?.checked_sub(span)?;
            if room < 0 || s < 1 || j >= 3 {
                return None;
            }
            out.push(room / s + 1);
        }
        Some(out)
    }
}

impl Conv {
    /// A convolution without depthwise post-op, or with one whose tensors [`crate::Problem::new`] adds.
    pub fn new(prop: Prop, alg: ConvAlg, [src, weights, dst]: [Tensor; 3], bias: Option<Tensor>, window: Window) -> Conv {
        Conv { prop, alg, src, weights, bias, dst, window, depthwise_weights: None, depthwise_bias: None, depthwise_dst: None }
    }

    /// The sizes with three spatial dimensions (of the 1x1 convolution, where a depthwise post-op follows).
    pub fn sizes(&self) -> ConvSizes {
        ConvSizes::of(&self.src, &self.weights, &self.dst, &self.window)
    }

    /// Sizes of the depthwise post-op of `attr`, whose source is the 1x1 convolution's result; `None` where there is no such post-op.
    pub fn depthwise_sizes(&self, attr: &Attr) -> Option<ConvSizes> {
        let (kernel, stride, padding) = depthwise(attr)?;
        let base = self.sizes();
        let two = |v: i64, lead: i64| [lead, v, v];
        let mut sizes = ConvSizes { mb: base.mb, g: base.g * base.oc, ic: 1, oc: 1, i: base.o, ..base };
        (sizes.k, sizes.s, sizes.d) = (two(kernel, 1), two(stride, 1), [1; 3]);
        (sizes.pl, sizes.pr) = (two(padding, 0), [0; 3]);
        for d in 1..3 {
            sizes.o[d] = ceil_div(sizes.i[d], stride);
            sizes.pr[d] = (sizes.o[d] - 1) * stride + kernel - sizes.i[d] - padding;
        }
        Some(sizes)
    }

    /// The tensors of a depthwise post-op.
    pub(super) fn derive(&mut self, attr: &Attr) {
        let [n, oc, h, w] = **self.dst.dims() else { return };
        match attr.depthwise_index().map(|i| &attr.post_ops[i]) {
            Some(&PostOp::Depthwise { weights, bias, dst, kernel, stride, .. }) if stride > 0 => {
                let last = Dims::from([n, oc, ceil_div(h, stride), ceil_div(w, stride)]);
                self.depthwise_weights.get_or_insert_with(|| Tensor::any([oc, 1, 1, kernel, kernel], weights));
                self.depthwise_dst.get_or_insert_with(|| Tensor { dtype: dst, layout: self.dst.layout.resized(last) });
                if let (None, Some(bias)) = (&self.depthwise_bias, bias) {
                    self.depthwise_bias = Some(Tensor::any([oc], bias));
                }
            }
            _ => {}
        }
    }
}

/// `a / b` rounded up, for `b > 0`.
fn ceil_div(a: i64, b: i64) -> i64 {
    a / b + i64::from(a % b > 0)
}

/// Kernel, stride and padding of the depthwise post-op.
fn depthwise(attr: &Attr) -> Option<(i64, i64, i64)> {
    match attr.post_ops[attr.depthwise_index()?] {
        PostOp::Depthwise { kernel, stride, padding, .. } => Some((kernel, stride, padding)),
        _ => None,
    }
}

impl Deconv {
    /// A deconvolution.
    pub fn new(prop: Prop, alg: ConvAlg, [src, weights, dst]: [Tensor; 3], bias: Option<Tensor>, window: Window) -> Deconv {
        Deconv { prop, alg, src, weights, bias, dst, window }
    }

    /// The sizes with three spatial dimensions; `i` is the deconvolution's source, `o` its (larger) destination.
    pub fn sizes(&self) -> ConvSizes {
        ConvSizes::of(&self.src, &self.weights, &self.dst, &self.window)
    }
}

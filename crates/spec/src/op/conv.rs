//! Convolution and deconvolution (transposed convolution).

use super::{Prop, operands};
use crate::{Arg, Dims, Tensor};

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
    /// Destination (gradient).
    pub dst: Tensor,
    /// Strides, dilations, paddings.
    pub window: Window,
    /// Weights of a depthwise post-op: OC x 1 x 1 x k x k (groups first); set from the attributes by [`crate::Problem::new`].
    pub depthwise_weights: Option<Tensor>,
    /// Bias of a depthwise post-op, OC.
    pub depthwise_bias: Option<Tensor>,
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

operands!(Conv { prop, src, weights, bias, dst, depthwise_weights, depthwise_bias }, o => {
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
            o.output(Arg::DST, dst);
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

impl Conv {
    /// The sizes with three spatial dimensions.
    pub fn sizes(&self) -> ConvSizes {
        ConvSizes::of(&self.src, &self.weights, &self.dst, &self.window)
    }
}

impl Deconv {
    /// The sizes with three spatial dimensions; `i` is the deconvolution's source, `o` its (larger) destination.
    pub fn sizes(&self) -> ConvSizes {
        ConvSizes::of(&self.src, &self.weights, &self.dst, &self.window)
    }
}

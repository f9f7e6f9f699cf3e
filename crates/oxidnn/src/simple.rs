//! Operations whose parameters fit one call: each function gives a [`Builder`] that takes attributes and ends in a descriptor.

use crate::describe::{Describe, defaults};
use oxidnn_spec::op::{
    BatchNorm, Binary, BinaryAlg, Concat, Eltwise, EltwiseAlg, GroupNorm, LayerNorm, Lrn, LrnAlg, NormFlags, Prelu, Prop, Reduction,
    ReductionAlg, Reorder, Resampling, ResamplingAlg, Shuffle, Softmax, SoftmaxAlg, Sum,
};
use oxidnn_spec::{Attr, DataType, Dims, Error, Op, Real, Tensor};

/// An operation and its attributes.
#[derive(Clone, Debug)]
pub struct Builder {
    op: Op,
    attr: Attr,
}

impl Builder {
    /// Any operation of [`crate::op`].
    pub fn new(op: impl Into<Op>) -> Builder {
        Builder { op: op.into(), attr: defaults() }
    }

    /// The destination's type, if it differs from the source's.
    #[must_use]
    pub fn dst_type(self, dtype: DataType) -> Builder {
        self.with_dst(|t| t.dtype = dtype)
    }

    /// The destination, instead of the default (the source's dims and type, layout left to the implementation).
    #[must_use]
    pub fn dst_tensor(self, tensor: Tensor) -> Builder {
        self.with_dst(|t| *t = tensor)
    }

    fn with_dst(mut self, change: impl FnOnce(&mut Tensor)) -> Builder {
        if let Some(t) = self.op.tensor_mut(oxidnn_spec::Arg::DST) {
            change(t);
        }
        self
    }
}

impl Describe for Builder {
    fn op(&self) -> Result<Op, Error> {
        Ok(self.op.clone())
    }
    fn attr_mut(&mut self) -> &mut Attr {
        &mut self.attr
    }
}

fn like(t: &Tensor) -> Tensor {
    Tensor::any(*t.dims(), t.dtype)
}

/// `dst = alg(src)`; the meaning of `alpha` and `beta` depends on the function.
pub fn eltwise(prop: Prop, alg: EltwiseAlg, alpha: f32, beta: f32, src: Tensor) -> Builder {
    let dst = Some(like(&src));
    Builder::new(Eltwise { prop, alg, alpha: Real::new(alpha), beta: Real::new(beta), src, dst, diff_src: None, diff_dst: None })
}

/// `dst = alg(src0, src1)`; dims of 1 broadcast.
pub fn binary(alg: BinaryAlg, src0: Tensor, src1: Tensor) -> Builder {
    let (a, b) = (*src0.dims(), *src1.dims());
    let dims = Dims::from_fn(a.len(), |d| if a[d] == 1 { b.get(d).copied().unwrap_or(1) } else { a[d] });
    let dst = Tensor::any(dims, src0.dtype);
    Builder::new(Binary { alg, src0, src1, src2: None, dst })
}

/// Softmax, or its logarithm, along `axis`.
pub fn softmax(prop: Prop, alg: SoftmaxAlg, src: Tensor, axis: usize) -> Builder {
    let dst = like(&src);
    Builder::new(Softmax { prop, alg, src: Some(src), dst, diff_src: None, diff_dst: None, axis })
}

/// Batch normalisation.
pub fn batch_norm(prop: Prop, flags: NormFlags, epsilon: f32, src: Tensor) -> Builder {
    let dst = like(&src);
    Builder::new(BatchNorm::forward(prop, flags, epsilon, src, dst))
}

/// Layer (or root-mean-square) normalisation over the last dimension.
pub fn layer_norm(prop: Prop, flags: NormFlags, epsilon: f32, src: Tensor) -> Builder {
    let dst = like(&src);
    Builder::new(LayerNorm::forward(prop, flags, epsilon, src, dst))
}

/// Group normalisation.
pub fn group_norm(prop: Prop, flags: NormFlags, epsilon: f32, groups: i64, src: Tensor) -> Builder {
    let dst = like(&src);
    Builder::new(GroupNorm::forward(prop, flags, epsilon, src, dst).groups(groups))
}

/// Parameters of a local response normalisation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LrnParams {
    /// Size of the neighbourhood.
    pub local_size: i64,
    /// Factor of the sum of squares.
    pub alpha: f32,
    /// Exponent.
    pub beta: f32,
    /// Offset.
    pub k: f32,
}

/// Local response normalisation.
pub fn lrn(prop: Prop, alg: LrnAlg, params: LrnParams, src: Tensor) -> Builder {
    let LrnParams { local_size, alpha, beta, k } = params;
    let dst = Some(like(&src));
    let (alpha, beta, k) = (Real::new(alpha), Real::new(beta), Real::new(k));
    Builder::new(Lrn { prop, alg, src, dst, diff_src: None, diff_dst: None, local_size, alpha, beta, k })
}

/// Reduces every dimension that has size 1 in `dst`. `p` and `eps` are parameters of the norms.
pub fn reduction(alg: ReductionAlg, src: Tensor, dst: Tensor, p: f32, eps: f32) -> Builder {
    Builder::new(Reduction { alg, src, dst, p: Real::new(p), eps: Real::new(eps) })
}

/// Resampling of the spatial dimensions of `src` to those of `dst`.
pub fn resampling(prop: Prop, alg: ResamplingAlg, src: Tensor, dst: Tensor) -> Builder {
    let ratio = |(d, s): (&i64, &i64)| Real::new((*d as f64 / (*s).max(1) as f64) as f32);
    let factors = dst.dims().iter().zip(src.dims().iter()).skip(2).map(ratio).collect();
    Builder::new(Resampling { prop, alg, src, dst, factors })
}

/// `dst = src > 0 ? src : src * weights`, weights' dims 1 or the source's.
pub fn prelu(prop: Prop, src: Tensor, weights: Tensor) -> Builder {
    let dst = Some(like(&src));
    Builder::new(Prelu { prop, src, weights, dst, diff_src: None, diff_weights: None, diff_dst: None })
}

/// Channel shuffle: views `axis` as `rest x group_size` and transposes.
pub fn shuffle(prop: Prop, src: Tensor, axis: usize, group_size: i64) -> Builder {
    let dst = like(&src);
    Builder::new(Shuffle { prop, src, dst, axis, group_size })
}

/// Concatenates `srcs` along `axis`.
///
/// # Errors
/// [`Error::InvalidArguments`] if there is no source, or the axis does not exist.
pub fn concat(axis: usize, srcs: Vec<Tensor>) -> Result<Builder, Error> {
    let first = srcs.first().ok_or_else(|| Error::invalid("srcs", "none", "at least one tensor"))?;
    let mut dims = *first.dims();
    let along: i64 = srcs.iter().filter_map(|s| s.dims().get(axis)).fold(0, |a, &d| a.saturating_add(d));
    *dims.get_mut(axis).ok_or_else(|| Error::invalid("axis", axis, format!("a dimension of {}", first.dims())))? = along;
    let dst = Tensor::any(dims, first.dtype);
    Ok(Builder::new(Concat { axis, srcs, dst }))
}

/// `dst = sum(scales[i] * srcs[i])`.
///
/// # Errors
/// [`Error::InvalidArguments`] if there is no source.
pub fn sum(scales: &[f32], srcs: Vec<Tensor>) -> Result<Builder, Error> {
    let dst = like(srcs.first().ok_or_else(|| Error::invalid("srcs", "none", "at least one tensor"))?);
    Ok(Builder::new(Sum { scales: scales.iter().map(|&s| Real::new(s)).collect(), srcs, dst }))
}

/// Copies `src` into the layout and type of `dst`.
pub fn reorder(src: Tensor, dst: Tensor) -> Builder {
    Builder::new(Reorder { src, dst })
}

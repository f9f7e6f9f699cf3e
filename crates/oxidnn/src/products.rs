//! Builders of matrix products: matmul and inner product.

use crate::describe::{Describe, data_setters, defaults, need, weight_setters};
use oxidnn_spec::op::{self, Prop};
use oxidnn_spec::{Attr, DataType, Dims, Error, MAX_NDIMS, Op, Tensor};

/// Builds a matrix product of `.. x M x K` by `.. x K x N`; batch dimensions broadcast. Weights and bias may have fewer dimensions than the source:
/// `K x N` serve all batches, a bias `[N]` all rows. The descriptor's tensors have as many as the source.
///
/// Arguments: [`Arg::SRC`](oxidnn_spec::Arg::SRC), `WEIGHTS`, `BIAS` where there is one, `DST`.
#[derive(Clone, Debug)]
pub struct Matmul {
    src: Option<Tensor>,
    weights: Option<Tensor>,
    bias: Option<Tensor>,
    dst: Option<Tensor>,
    dst_type: Option<DataType>,
    attr: Attr,
}

data_setters!(Matmul);
weight_setters!(Matmul);

impl Matmul {
    /// A product without operands yet.
    #[must_use]
    pub fn new() -> Matmul {
        Matmul { src: None, weights: None, bias: None, dst: None, dst_type: None, attr: defaults() }
    }
}

impl Default for Matmul {
    fn default() -> Matmul {
        Matmul::new()
    }
}

/// The same tensor with `rank` dimensions: missing leading dimensions are 1.
fn ranked(t: &Tensor, rank: usize) -> Result<Tensor, Error> {
    let missing = rank.saturating_sub(t.dims().len());
    if missing == 0 || rank > MAX_NDIMS {
        return Ok(t.clone());
    }
    let dims = Dims::from_fn(rank, |d| if d < missing { 1 } else { t.dims()[d - missing] });
    if t.layout.is_any() { Ok(Tensor::any(dims, t.dtype)) } else { Ok(Tensor { dtype: t.dtype, layout: t.layout.reshape(&dims)? }) }
}

impl Describe for Matmul {
    fn op(&self) -> Result<Op, Error> {
        let src = need("matmul", "src", &self.src)?;
        let rank = src.dims().len();
        let weights = ranked(&need("matmul", "weights", &self.weights)?, rank)?;
        let dst = match &self.dst {
            Some(t) => t.clone(),
            None => {
                let (s, w) = (src.dims(), weights.dims());
                let n = s.len();
                if n < 2 || w.len() != n {
                    return Err(Error::invalid("weights", w, format!("as many dimensions as the source {s}, at least 2")));
                }
                let size = |d: usize| match d {
                    d if d + 1 == n => w[d],
                    d if d + 2 == n => s[d],
                    d => {
                        if s[d] == 1 {
                            w[d]
                        } else {
                            s[d]
                        }
                    }
                };
                Tensor::any(Dims::from_fn(n, size), self.dst_type.unwrap_or(src.dtype))
            }
        };
        let bias = self.bias.as_ref().map(|b| ranked(b, rank)).transpose()?;
        Ok(op::Matmul { src, weights, bias, dst }.into())
    }
    fn attr_mut(&mut self) -> &mut Attr {
        &mut self.attr
    }
}

/// Builds a forward inner product (fully connected layer): source `N x C [x spatial]`, weights `OC x C [x spatial]`, bias `[OC]`. Backward passes follow
/// from its descriptor: [`crate::Backward`].
#[derive(Clone, Debug)]
pub struct InnerProduct {
    prop: Prop,
    src: Option<Tensor>,
    weights: Option<Tensor>,
    bias: Option<Tensor>,
    dst: Option<Tensor>,
    dst_type: Option<DataType>,
    attr: Attr,
}

data_setters!(InnerProduct);
weight_setters!(InnerProduct);

impl InnerProduct {
    /// An inner product, `prop` [`Prop::ForwardTraining`] or [`Prop::ForwardInference`].
    #[must_use]
    pub fn forward(prop: Prop) -> InnerProduct {
        InnerProduct { prop, src: None, weights: None, bias: None, dst: None, dst_type: None, attr: defaults() }
    }
}

impl Describe for InnerProduct {
    fn op(&self) -> Result<Op, Error> {
        let src = need("inner product", "src", &self.src)?;
        let weights = need("inner product", "weights", &self.weights)?;
        let dst = match (&self.dst, src.dims().first(), weights.dims().first()) {
            (Some(t), ..) => t.clone(),
            (None, Some(&mb), Some(&oc)) => Tensor::any([mb, oc], self.dst_type.unwrap_or(src.dtype)),
            _ => return Err(Error::invalid("src", src.dims(), "at least 2 dimensions")),
        };
        Ok(op::InnerProduct { prop: self.prop, src, weights, bias: self.bias.clone(), dst }.into())
    }
    fn attr_mut(&mut self) -> &mut Attr {
        &mut self.attr
    }
}

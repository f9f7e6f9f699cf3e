//! Builders of operations that slide a kernel: convolution, deconvolution, pooling.

use crate::describe::{Describe, data_setters, defaults, need, weight_setters};
use oxidnn_spec::op::{self, ConvAlg, PoolAlg, Prop};
use oxidnn_spec::{Attr, DataType, Dims, Error, Op, Tensor};

/// Strides, dilations and paddings, one entry per spatial dimension; missing ones have their defaults.
#[derive(Clone, Default, Debug)]
struct Geometry {
    strides: Option<Dims>,
    dilations: Option<Dims>,
    padding: Option<(Dims, Dims)>,
}

impl Geometry {
    fn window(&self, spatial: usize) -> op::Window {
        let (padding_l, padding_r) = self.padding.unwrap_or((Dims::filled(spatial, 0), Dims::filled(spatial, 0)));
        op::Window {
            strides: self.strides.unwrap_or(Dims::filled(spatial, 1)),
            dilations: self.dilations.unwrap_or(Dims::filled(spatial, 0)),
            padding_l,
            padding_r,
        }
    }
}

/// Defines the setters that all window builders share.
macro_rules! geometry {
    ($builder:ident) => {
        impl $builder {
            /// Strides, one per spatial dimension; 1 by default.
            #[must_use]
            pub fn strides(mut self, strides: impl Into<Dims>) -> Self {
                self.geometry.strides = Some(strides.into());
                self
            }
            /// Dilations, as the number of skipped elements between kernel elements; 0 by default.
            #[must_use]
            pub fn dilations(mut self, dilations: impl Into<Dims>) -> Self {
                self.geometry.dilations = Some(dilations.into());
                self
            }
            /// The same padding before and after.
            #[must_use]
            pub fn padding(self, padding: impl Into<Dims>) -> Self {
                let p = padding.into();
                self.padding_lr(p, p)
            }
            /// Padding before and after.
            #[must_use]
            pub fn padding_lr(mut self, before: impl Into<Dims>, after: impl Into<Dims>) -> Self {
                self.geometry.padding = Some((before.into(), after.into()));
                self
            }
        }
    };
}

/// Builds a forward convolution: source `N x IC x spatial`, weights `OC x IC x kernel` or `G x OC/G x IC/G x kernel`, bias `[OC]`, destination
/// `N x OC x spatial`. Backward passes follow from its descriptor: [`crate::Backward`].
#[derive(Clone, Debug)]
pub struct Conv {
    prop: Prop,
    alg: ConvAlg,
    transposed: bool,
    src: Option<Tensor>,
    weights: Option<Tensor>,
    bias: Option<Tensor>,
    dst: Option<Tensor>,
    dst_type: Option<DataType>,
    geometry: Geometry,
    attr: Attr,
}

geometry!(Conv);
data_setters!(Conv);
weight_setters!(Conv);

impl Conv {
    /// A convolution, `prop` [`Prop::ForwardTraining`] or [`Prop::ForwardInference`].
    #[must_use]
    pub fn forward(prop: Prop) -> Conv {
        let geometry = Geometry::default();
        Conv {
            prop,
            alg: ConvAlg::Direct,
            transposed: false,
            src: None,
            weights: None,
            bias: None,
            dst: None,
            dst_type: None,
            geometry,
            attr: defaults(),
        }
    }

    /// A transposed convolution (deconvolution): weights `[G x] OC/G x IC/G x kernel` by its own input and output channels.
    #[must_use]
    pub fn transposed(prop: Prop) -> Conv {
        Conv { transposed: true, ..Conv::forward(prop) }
    }

    /// The algorithm; [`ConvAlg::Direct`] by default. [`ConvAlg::Auto`] takes less time where windows are 3x3 and tiles of results may share the
    /// errors of their largest pixel, see [`ConvAlg::Winograd`].
    #[must_use]
    pub fn algorithm(mut self, alg: ConvAlg) -> Conv {
        self.alg = alg;
        self
    }

    fn output(&self, src: &Tensor, weights: &Tensor, window: &op::Window) -> Option<Tensor> {
        let (s, w) = (src.dims(), weights.dims());
        let spatial = s.len().checked_sub(2)?;
        let grouped = w.len().checked_sub(s.len())?;
        let kernel = w.get(grouped + 2..)?;
        let channels = w[grouped].checked_mul(if grouped == 1 { w[0] } else { 1 })?;
        let mut dims = Dims::from([s[0], channels]);
        if self.transposed {
            for j in 0..spatial {
                dims.push(transposed_size(window, j, s[2 + j], *kernel.get(j)?)?);
            }
        } else {
            window.output(&s[2..], kernel)?.iter().for_each(|&d| dims.push(d));
        }
        Some(Tensor::any(dims, self.dst_type.unwrap_or(src.dtype)))
    }
}

/// Output size of a transposed convolution along spatial dimension `j`; `None` if it does not fit.
fn transposed_size(window: &op::Window, j: usize, input: i64, kernel: i64) -> Option<i64> {
    let span = kernel.checked_sub(1)?.checked_mul(window.dilations.get(j)?.checked_add(1)?)?.checked_add(1)?;
    let reach = input.checked_sub(1)?.checked_mul(*window.strides.get(j)?)?;
    reach.checked_add(span)?.checked_sub(*window.padding_l.get(j)?)?.checked_sub(*window.padding_r.get(j)?)
}

impl Describe for Conv {
    fn op(&self) -> Result<Op, Error> {
        let src = need("convolution", "src", &self.src)?;
        let weights = need("convolution", "weights", &self.weights)?;
        let window = self.geometry.window(src.dims().len().saturating_sub(2));
        let dst = match &self.dst {
            Some(t) => t.clone(),
            None => self
                .output(&src, &weights, &window)
                .ok_or_else(|| Error::invalid("weights", weights.dims(), format!("a kernel that fits the padded source {}", src.dims())))?,
        };
        let tensors = [src, weights, dst];
        Ok(if self.transposed {
            op::Deconv::new(self.prop, self.alg, tensors, self.bias.clone(), window).into()
        } else {
            op::Conv::new(self.prop, self.alg, tensors, self.bias.clone(), window).into()
        })
    }
    fn attr_mut(&mut self) -> &mut Attr {
        &mut self.attr
    }
}

/// Builds a forward pooling of `N x C x spatial`. In training the maximum's place is kept in [`Arg::WORKSPACE`](oxidnn_spec::Arg::WORKSPACE). Its backward pass follows from the descriptor: [`crate::Backward`].
#[derive(Clone, Debug)]
pub struct Pool {
    prop: Prop,
    alg: PoolAlg,
    src: Option<Tensor>,
    dst: Option<Tensor>,
    dst_type: Option<DataType>,
    kernel: Dims,
    geometry: Geometry,
    attr: Attr,
}

geometry!(Pool);
data_setters!(Pool);

impl Pool {
    /// A pooling by `kernel`, sizes of the spatial dimensions.
    #[must_use]
    pub fn forward(prop: Prop, alg: PoolAlg, kernel: impl Into<Dims>) -> Pool {
        let geometry = Geometry::default();
        Pool { prop, alg, src: None, dst: None, dst_type: None, kernel: kernel.into(), geometry, attr: defaults() }
    }
}

impl Describe for Pool {
    fn op(&self) -> Result<Op, Error> {
        let src = need("pooling", "src", &self.src)?;
        let window = self.geometry.window(self.kernel.len());
        let dst = match &self.dst {
            Some(t) => t.clone(),
            None => {
                let spatial = src.dims().get(2..).and_then(|s| window.output(s, &self.kernel));
                let fits = || Error::invalid("kernel", self.kernel, format!("one that fits the padded source {}", src.dims()));
                let sizes = spatial.filter(|s| s.len() + 2 == src.dims().len()).ok_or_else(fits)?;
                let dims = Dims::from_fn(sizes.len() + 2, |d| if d < 2 { src.dims()[d] } else { sizes[d - 2] });
                Tensor::any(dims, self.dst_type.unwrap_or(src.dtype))
            }
        };
        Ok(op::Pool::new(self.prop, self.alg, [src, dst], self.kernel, window).into())
    }
    fn attr_mut(&mut self) -> &mut Attr {
        &mut self.attr
    }
}

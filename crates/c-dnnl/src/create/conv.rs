//! Convolution, deconvolution, pooling.

use super::window::Sizes;
use super::{Creation, forward, source, spatial};
use crate::attr::Attr;
use crate::engine::Engine;
use crate::handle::{Array, In, New};
use crate::memory_desc::MemoryDesc;
use crate::primitive_desc::PrimitiveDesc;
use crate::status::{Failure, Status, guard};
use crate::values::value;
use oxidnn_c_common::numbers::{CONV, DECONV, POOL};
use oxidnn_spec::op::{Conv, ConvAlg, Deconv, Op, Pool, Prop};

/// The tensors of a convolution (or their gradients), and its window.
struct Parts<'a> {
    src: In<'a, MemoryDesc>,
    weights: In<'a, MemoryDesc>,
    bias: In<'a, MemoryDesc>,
    dst: In<'a, MemoryDesc>,
    window: Sizes<'a>,
}

impl Parts<'_> {
    fn conv(&self, prop: Prop, alg: i32) -> Result<Op, Failure> {
        let alg = value(&CONV, alg)?;
        let (data, bias, window) = self.tensors(prop)?;
        Ok(Conv::new(prop, alg, data, bias, window).into())
    }

    fn deconv(&self, prop: Prop, alg: i32) -> Result<Op, Failure> {
        let alg: ConvAlg = value(&DECONV, alg)?;
        let (data, bias, window) = self.tensors(prop)?;
        Ok(Deconv::new(prop, alg, data, bias, window).into())
    }

    fn tensors(&self, prop: Prop) -> Result<([oxidnn_spec::Tensor; 3], Option<oxidnn_spec::Tensor>, oxidnn_spec::op::Window), Failure> {
        let names = match prop {
            Prop::BackwardData => ["diff_src_desc", "weights_desc", "diff_dst_desc"],
            Prop::BackwardWeights => ["src_desc", "diff_weights_desc", "diff_dst_desc"],
            _ => ["src_desc", "weights_desc", "dst_desc"],
        };
        let (src, weights, dst) = (self.src.tensor(names[0])?, self.weights.tensor(names[1])?, self.dst.tensor(names[2])?);
        let window = self.window.over(&src)?;
        Ok(([src, weights, dst], self.bias.optional_tensor("bias_desc")?, window))
    }
}

/// `dnnl_convolution_forward_primitive_desc_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_convolution_forward_primitive_desc_create(
    pd: New<'_, PrimitiveDesc>,
    engine: In<'_, Engine>,
    prop: i32,
    alg: i32,
    src: In<'_, MemoryDesc>,
    weights: In<'_, MemoryDesc>,
    bias: In<'_, MemoryDesc>,
    dst: In<'_, MemoryDesc>,
    strides: Array<'_, i64>,
    dilations: Array<'_, i64>,
    padding_l: Array<'_, i64>,
    padding_r: Array<'_, i64>,
    attr: In<'_, Attr>,
) -> Status {
    guard("dnnl_convolution_forward_primitive_desc_create", || {
        let parts = Parts { src, weights, bias, dst, window: Sizes { strides, dilations, padding_l, padding_r } };
        Creation::forward(pd, engine, attr).make(parts.conv(forward(prop)?, alg)?)
    })
}

/// `dnnl_convolution_backward_data_primitive_desc_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_convolution_backward_data_primitive_desc_create(
    pd: New<'_, PrimitiveDesc>,
    engine: In<'_, Engine>,
    alg: i32,
    diff_src: In<'_, MemoryDesc>,
    weights: In<'_, MemoryDesc>,
    diff_dst: In<'_, MemoryDesc>,
    strides: Array<'_, i64>,
    dilations: Array<'_, i64>,
    padding_l: Array<'_, i64>,
    padding_r: Array<'_, i64>,
    hint: In<'_, PrimitiveDesc>,
    attr: In<'_, Attr>,
) -> Status {
    guard("dnnl_convolution_backward_data_primitive_desc_create", || {
        let window = Sizes { strides, dilations, padding_l, padding_r };
        let parts = Parts { src: diff_src, weights, bias: None.into(), dst: diff_dst, window };
        Creation { pd, engine, hint, attr }.make(parts.conv(Prop::BackwardData, alg)?)
    })
}

/// `dnnl_convolution_backward_weights_primitive_desc_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_convolution_backward_weights_primitive_desc_create(
    pd: New<'_, PrimitiveDesc>,
    engine: In<'_, Engine>,
    alg: i32,
    src: In<'_, MemoryDesc>,
    diff_weights: In<'_, MemoryDesc>,
    diff_bias: In<'_, MemoryDesc>,
    diff_dst: In<'_, MemoryDesc>,
    strides: Array<'_, i64>,
    dilations: Array<'_, i64>,
    padding_l: Array<'_, i64>,
    padding_r: Array<'_, i64>,
    hint: In<'_, PrimitiveDesc>,
    attr: In<'_, Attr>,
) -> Status {
    guard("dnnl_convolution_backward_weights_primitive_desc_create", || {
        let window = Sizes { strides, dilations, padding_l, padding_r };
        let parts = Parts { src, weights: diff_weights, bias: diff_bias, dst: diff_dst, window };
        Creation { pd, engine, hint, attr }.make(parts.conv(Prop::BackwardWeights, alg)?)
    })
}

/// `dnnl_deconvolution_forward_primitive_desc_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_deconvolution_forward_primitive_desc_create(
    pd: New<'_, PrimitiveDesc>,
    engine: In<'_, Engine>,
    prop: i32,
    alg: i32,
    src: In<'_, MemoryDesc>,
    weights: In<'_, MemoryDesc>,
    bias: In<'_, MemoryDesc>,
    dst: In<'_, MemoryDesc>,
    strides: Array<'_, i64>,
    dilations: Array<'_, i64>,
    padding_l: Array<'_, i64>,
    padding_r: Array<'_, i64>,
    attr: In<'_, Attr>,
) -> Status {
    guard("dnnl_deconvolution_forward_primitive_desc_create", || {
        let parts = Parts { src, weights, bias, dst, window: Sizes { strides, dilations, padding_l, padding_r } };
        Creation::forward(pd, engine, attr).make(parts.deconv(forward(prop)?, alg)?)
    })
}

/// `dnnl_deconvolution_backward_data_primitive_desc_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_deconvolution_backward_data_primitive_desc_create(
    pd: New<'_, PrimitiveDesc>,
    engine: In<'_, Engine>,
    alg: i32,
    diff_src: In<'_, MemoryDesc>,
    weights: In<'_, MemoryDesc>,
    diff_dst: In<'_, MemoryDesc>,
    strides: Array<'_, i64>,
    dilations: Array<'_, i64>,
    padding_l: Array<'_, i64>,
    padding_r: Array<'_, i64>,
    hint: In<'_, PrimitiveDesc>,
    attr: In<'_, Attr>,
) -> Status {
    guard("dnnl_deconvolution_backward_data_primitive_desc_create", || {
        let window = Sizes { strides, dilations, padding_l, padding_r };
        let parts = Parts { src: diff_src, weights, bias: None.into(), dst: diff_dst, window };
        Creation { pd, engine, hint, attr }.make(parts.deconv(Prop::BackwardData, alg)?)
    })
}

/// `dnnl_deconvolution_backward_weights_primitive_desc_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_deconvolution_backward_weights_primitive_desc_create(
    pd: New<'_, PrimitiveDesc>,
    engine: In<'_, Engine>,
    alg: i32,
    src: In<'_, MemoryDesc>,
    diff_weights: In<'_, MemoryDesc>,
    diff_bias: In<'_, MemoryDesc>,
    diff_dst: In<'_, MemoryDesc>,
    strides: Array<'_, i64>,
    dilations: Array<'_, i64>,
    padding_l: Array<'_, i64>,
    padding_r: Array<'_, i64>,
    hint: In<'_, PrimitiveDesc>,
    attr: In<'_, Attr>,
) -> Status {
    guard("dnnl_deconvolution_backward_weights_primitive_desc_create", || {
        let window = Sizes { strides, dilations, padding_l, padding_r };
        let parts = Parts { src, weights: diff_weights, bias: diff_bias, dst: diff_dst, window };
        Creation { pd, engine, hint, attr }.make(parts.deconv(Prop::BackwardWeights, alg)?)
    })
}

/// `dnnl_pooling_forward_primitive_desc_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_pooling_forward_primitive_desc_create(
    pd: New<'_, PrimitiveDesc>,
    engine: In<'_, Engine>,
    prop: i32,
    alg: i32,
    src: In<'_, MemoryDesc>,
    dst: In<'_, MemoryDesc>,
    strides: Array<'_, i64>,
    kernel: Array<'_, i64>,
    dilations: Array<'_, i64>,
    padding_l: Array<'_, i64>,
    padding_r: Array<'_, i64>,
    attr: In<'_, Attr>,
) -> Status {
    guard("dnnl_pooling_forward_primitive_desc_create", || {
        let (src, dst) = (source(src, "src_desc")?, dst.tensor("dst_desc")?);
        let window = Sizes { strides, dilations, padding_l, padding_r }.over(&src)?;
        let kernel = spatial(kernel, &src, "kernel")?;
        Creation::forward(pd, engine, attr).make(Pool::new(forward(prop)?, value(&POOL, alg)?, [src, dst], kernel, window))
    })
}

/// `dnnl_pooling_backward_primitive_desc_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_pooling_backward_primitive_desc_create(
    pd: New<'_, PrimitiveDesc>,
    engine: In<'_, Engine>,
    alg: i32,
    diff_src: In<'_, MemoryDesc>,
    diff_dst: In<'_, MemoryDesc>,
    strides: Array<'_, i64>,
    kernel: Array<'_, i64>,
    dilations: Array<'_, i64>,
    padding_l: Array<'_, i64>,
    padding_r: Array<'_, i64>,
    hint: In<'_, PrimitiveDesc>,
    attr: In<'_, Attr>,
) -> Status {
    guard("dnnl_pooling_backward_primitive_desc_create", || {
        let (src, dst) = (diff_src.tensor("diff_src_desc")?, diff_dst.tensor("diff_dst_desc")?);
        let window = Sizes { strides, dilations, padding_l, padding_r }.over(&src)?;
        let kernel = spatial(kernel, &src, "kernel")?;
        Creation { pd, engine, hint, attr }.make(Pool::new(Prop::BackwardData, value(&POOL, alg)?, [src, dst], kernel, window))
    })
}

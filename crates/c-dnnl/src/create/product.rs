//! Inner product and matrix multiplication.

use super::{Creation, forward};
use crate::attr::Attr;
use crate::engine::Engine;
use crate::handle::{In, New};
use crate::memory_desc::MemoryDesc;
use crate::primitive_desc::PrimitiveDesc;
use crate::status::{Status, guard};
use oxidnn_spec::op::{InnerProduct, Matmul, Prop};

/// `dnnl_inner_product_forward_primitive_desc_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_inner_product_forward_primitive_desc_create(
    pd: New<'_, PrimitiveDesc>,
    engine: In<'_, Engine>,
    prop: i32,
    src: In<'_, MemoryDesc>,
    weights: In<'_, MemoryDesc>,
    bias: In<'_, MemoryDesc>,
    dst: In<'_, MemoryDesc>,
    attr: In<'_, Attr>,
) -> Status {
    guard("dnnl_inner_product_forward_primitive_desc_create", || {
        Creation::forward(pd, engine, attr).make(InnerProduct {
            prop: forward(prop)?,
            src: src.tensor("src_desc")?,
            weights: weights.tensor("weights_desc")?,
            bias: bias.optional_tensor("bias_desc")?,
            dst: dst.tensor("dst_desc")?,
        })
    })
}

/// `dnnl_inner_product_backward_data_primitive_desc_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_inner_product_backward_data_primitive_desc_create(
    pd: New<'_, PrimitiveDesc>,
    engine: In<'_, Engine>,
    diff_src: In<'_, MemoryDesc>,
    weights: In<'_, MemoryDesc>,
    diff_dst: In<'_, MemoryDesc>,
    hint: In<'_, PrimitiveDesc>,
    attr: In<'_, Attr>,
) -> Status {
    guard("dnnl_inner_product_backward_data_primitive_desc_create", || {
        Creation { pd, engine, hint, attr }.make(InnerProduct {
            prop: Prop::BackwardData,
            src: diff_src.tensor("diff_src_desc")?,
            weights: weights.tensor("weights_desc")?,
            bias: None,
            dst: diff_dst.tensor("diff_dst_desc")?,
        })
    })
}

/// `dnnl_inner_product_backward_weights_primitive_desc_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_inner_product_backward_weights_primitive_desc_create(
    pd: New<'_, PrimitiveDesc>,
    engine: In<'_, Engine>,
    src: In<'_, MemoryDesc>,
    diff_weights: In<'_, MemoryDesc>,
    diff_bias: In<'_, MemoryDesc>,
    diff_dst: In<'_, MemoryDesc>,
    hint: In<'_, PrimitiveDesc>,
    attr: In<'_, Attr>,
) -> Status {
    guard("dnnl_inner_product_backward_weights_primitive_desc_create", || {
        Creation { pd, engine, hint, attr }.make(InnerProduct {
            prop: Prop::BackwardWeights,
            src: src.tensor("src_desc")?,
            weights: diff_weights.tensor("diff_weights_desc")?,
            bias: diff_bias.optional_tensor("diff_bias_desc")?,
            dst: diff_dst.tensor("diff_dst_desc")?,
        })
    })
}

/// `dnnl_matmul_primitive_desc_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_matmul_primitive_desc_create(
    pd: New<'_, PrimitiveDesc>,
    engine: In<'_, Engine>,
    src: In<'_, MemoryDesc>,
    weights: In<'_, MemoryDesc>,
    bias: In<'_, MemoryDesc>,
    dst: In<'_, MemoryDesc>,
    attr: In<'_, Attr>,
) -> Status {
    guard("dnnl_matmul_primitive_desc_create", || {
        Creation::forward(pd, engine, attr).make(Matmul {
            src: src.tensor("src_desc")?,
            weights: weights.tensor("weights_desc")?,
            bias: bias.optional_tensor("bias_desc")?,
            dst: dst.tensor("dst_desc")?,
        })
    })
}

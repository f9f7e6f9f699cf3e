//! Batch, layer, group and local response normalisation.

use super::{Creation, allowed, diff, forward, source};
use crate::attr::Attr;
use crate::engine::Engine;
use crate::handle::{In, New};
use crate::memory_desc::MemoryDesc;
use crate::primitive_desc::PrimitiveDesc;
use crate::status::{Failure, Status, guard};
use crate::values::{optional_type, value};
use oxidnn_c_common::numbers::{LRN, to_norm_flags};
use oxidnn_spec::op::{BatchNorm, GroupNorm, LayerNorm, Lrn, NormFlags, Prop};
use oxidnn_spec::{DataType, Dims, Real, Tensor};

fn flags(number: u32) -> Result<NormFlags, Failure> {
    to_norm_flags(number).ok_or_else(|| Failure::invalid("flags", number, "bits of dnnl_normalization_flags_t"))
}

fn backward(prop: i32) -> Result<Prop, Failure> {
    allowed(prop, &[Prop::Backward, Prop::BackwardData])
}

/// `dnnl_batch_normalization_forward_primitive_desc_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_batch_normalization_forward_primitive_desc_create(
    pd: New<'_, PrimitiveDesc>,
    engine: In<'_, Engine>,
    prop: i32,
    src: In<'_, MemoryDesc>,
    dst: In<'_, MemoryDesc>,
    epsilon: f32,
    bits: u32,
    attr: In<'_, Attr>,
) -> Status {
    guard("dnnl_batch_normalization_forward_primitive_desc_create", || {
        let (src, dst) = (source(src, "src_desc")?, dst.tensor("dst_desc")?);
        Creation::forward(pd, engine, attr).make(BatchNorm::forward(forward(prop)?, flags(bits)?, epsilon, src, dst))
    })
}

/// `dnnl_batch_normalization_backward_primitive_desc_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_batch_normalization_backward_primitive_desc_create(
    pd: New<'_, PrimitiveDesc>,
    engine: In<'_, Engine>,
    prop: i32,
    diff_src: In<'_, MemoryDesc>,
    diff_dst: In<'_, MemoryDesc>,
    src: In<'_, MemoryDesc>,
    epsilon: f32,
    bits: u32,
    hint: In<'_, PrimitiveDesc>,
    attr: In<'_, Attr>,
) -> Status {
    guard("dnnl_batch_normalization_backward_primitive_desc_create", || {
        let (src, diff) = (source(src, "src_desc")?, diff(diff_src, diff_dst)?);
        Creation { pd, engine, hint, attr }.make(BatchNorm::backward(backward(prop)?, flags(bits)?, epsilon, src, diff))
    })
}

/// `dnnl_group_normalization_forward_primitive_desc_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_group_normalization_forward_primitive_desc_create(
    pd: New<'_, PrimitiveDesc>,
    engine: In<'_, Engine>,
    prop: i32,
    src: In<'_, MemoryDesc>,
    dst: In<'_, MemoryDesc>,
    groups: i64,
    epsilon: f32,
    bits: u32,
    attr: In<'_, Attr>,
) -> Status {
    guard("dnnl_group_normalization_forward_primitive_desc_create", || {
        let (src, dst) = (source(src, "src_desc")?, dst.tensor("dst_desc")?);
        Creation::forward(pd, engine, attr).make(GroupNorm::forward(forward(prop)?, flags(bits)?, epsilon, src, dst).groups(groups))
    })
}

/// `dnnl_group_normalization_backward_primitive_desc_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_group_normalization_backward_primitive_desc_create(
    pd: New<'_, PrimitiveDesc>,
    engine: In<'_, Engine>,
    prop: i32,
    diff_src: In<'_, MemoryDesc>,
    diff_dst: In<'_, MemoryDesc>,
    src: In<'_, MemoryDesc>,
    groups: i64,
    epsilon: f32,
    bits: u32,
    hint: In<'_, PrimitiveDesc>,
    attr: In<'_, Attr>,
) -> Status {
    guard("dnnl_group_normalization_backward_primitive_desc_create", || {
        let (src, diff) = (source(src, "src_desc")?, diff(diff_src, diff_dst)?);
        Creation { pd, engine, hint, attr }.make(GroupNorm::backward(backward(prop)?, flags(bits)?, epsilon, src, diff).groups(groups))
    })
}

/// The parameters of layer normalisation's functions for statistics and learnt parameters.
struct Layer<'a> {
    stats: In<'a, MemoryDesc>,
    /// Data types of scale and shift, and of their gradients; undefined if there are none.
    learnt: [i32; 2],
}

/// f32 for scale, shift and their gradients.
const F32: [i32; 2] = [3, 3];

/// Statistics with the memory order of the source's dimensions, without its last one; `None` for sources with blocks, for which row-major
/// statistics are as good.
fn beside(src: &Tensor) -> Option<Tensor> {
    let b = src.blocking().filter(|b| b.is_plain() && !src.layout.has_runtime())?;
    let dims = Dims::new(src.dims().split_last()?.1)?;
    let mut order: Vec<usize> = (0..dims.len()).collect();
    order.sort_by_key(|&d| std::cmp::Reverse(b.strides[d]));
    let (mut strides, mut step) = (Dims::filled(dims.len(), 0), 1i64);
    for &d in order.iter().rev() {
        strides[d] = step;
        step = step.checked_mul(dims[d].max(1))?;
    }
    Tensor::with_strides(dims, DataType::F32, Some(strides)).ok()
}

impl Layer<'_> {
    /// Sets the tensors of `op` that differ from the defaults: statistics in the caller's layout, parameters of a narrow type.
    fn complete(&self, op: LayerNorm) -> Result<LayerNorm, Failure> {
        let stats = self.stats.optional_tensor("stat_desc")?.filter(|t| !t.layout.is_any()).or_else(|| beside(&op.src));
        let kept = op.prop != Prop::ForwardInference || op.flags.use_global_stats;
        let mean = stats.clone().filter(|_| kept && !op.flags.rms);
        let variance = stats.filter(|_| kept);
        let learnt = if op.flags.use_scale || op.flags.use_shift { Some(self.parameter(&op)?) } else { None };
        let with = |on: bool| learnt.clone().filter(|_| on);
        let (scale, shift) = (with(op.flags.use_scale), with(op.flags.use_shift));
        let all = op.prop == Prop::Backward;
        let gradients = (scale.clone().filter(|_| all), shift.clone().filter(|_| all));
        let shift = shift.filter(|_| op.prop.is_forward());
        Ok(LayerNorm { mean, variance, scale, shift, diff_scale: gradients.0, diff_shift: gradients.1, ..op })
    }

    fn parameter(&self, op: &LayerNorm) -> Result<Tensor, Failure> {
        let [dtype, gradient] = [optional_type(self.learnt[0])?, optional_type(self.learnt[1])?];
        let dtype = dtype.filter(|d| d.is_fp() && (gradient == Some(*d) || op.prop != Prop::Backward));
        let refused =
            || Failure::unimplemented("scale, shift and their gradients of another type than f32, bf16 or f16, or of different types");
        let dtype = dtype.ok_or_else(refused)?;
        let channels = op.src.dims().last().copied().unwrap_or(0);
        Ok(Tensor::plain([channels], dtype)?)
    }

    fn forward(&self, prop: i32, bits: u32, epsilon: f32, [src, dst]: [In<'_, MemoryDesc>; 2]) -> Result<LayerNorm, Failure> {
        let (src, dst) = (source(src, "src_desc")?, dst.tensor("dst_desc")?);
        self.complete(LayerNorm::forward(forward(prop)?, flags(bits)?, epsilon, src, dst))
    }

    fn backward(
        &self,
        prop: i32,
        bits: u32,
        epsilon: f32,
        [diff_src, diff_dst, src]: [In<'_, MemoryDesc>; 3],
    ) -> Result<LayerNorm, Failure> {
        let (src, diff) = (source(src, "src_desc")?, diff(diff_src, diff_dst)?);
        self.complete(LayerNorm::backward(backward(prop)?, flags(bits)?, epsilon, src, diff))
    }
}

/// `dnnl_layer_normalization_forward_primitive_desc_create`: f32 parameters.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_layer_normalization_forward_primitive_desc_create(
    pd: New<'_, PrimitiveDesc>,
    engine: In<'_, Engine>,
    prop: i32,
    src: In<'_, MemoryDesc>,
    dst: In<'_, MemoryDesc>,
    stats: In<'_, MemoryDesc>,
    epsilon: f32,
    bits: u32,
    attr: In<'_, Attr>,
) -> Status {
    guard("dnnl_layer_normalization_forward_primitive_desc_create", || {
        Creation::forward(pd, engine, attr).make(Layer { stats, learnt: F32 }.forward(prop, bits, epsilon, [src, dst])?)
    })
}

/// `dnnl_layer_normalization_forward_primitive_desc_create_v2`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_layer_normalization_forward_primitive_desc_create_v2(
    pd: New<'_, PrimitiveDesc>,
    engine: In<'_, Engine>,
    prop: i32,
    src: In<'_, MemoryDesc>,
    dst: In<'_, MemoryDesc>,
    stats: In<'_, MemoryDesc>,
    learnt: i32,
    epsilon: f32,
    bits: u32,
    attr: In<'_, Attr>,
) -> Status {
    guard("dnnl_layer_normalization_forward_primitive_desc_create_v2", || {
        let layer = Layer { stats, learnt: [learnt; 2] };
        Creation::forward(pd, engine, attr).make(layer.forward(prop, bits, epsilon, [src, dst])?)
    })
}

/// `dnnl_layer_normalization_backward_primitive_desc_create`: f32 parameters.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_layer_normalization_backward_primitive_desc_create(
    pd: New<'_, PrimitiveDesc>,
    engine: In<'_, Engine>,
    prop: i32,
    diff_src: In<'_, MemoryDesc>,
    diff_dst: In<'_, MemoryDesc>,
    src: In<'_, MemoryDesc>,
    stats: In<'_, MemoryDesc>,
    epsilon: f32,
    bits: u32,
    hint: In<'_, PrimitiveDesc>,
    attr: In<'_, Attr>,
) -> Status {
    guard("dnnl_layer_normalization_backward_primitive_desc_create", || {
        let op = Layer { stats, learnt: F32 }.backward(prop, bits, epsilon, [diff_src, diff_dst, src])?;
        Creation { pd, engine, hint, attr }.make(op)
    })
}

/// `dnnl_layer_normalization_backward_primitive_desc_create_v2`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_layer_normalization_backward_primitive_desc_create_v2(
    pd: New<'_, PrimitiveDesc>,
    engine: In<'_, Engine>,
    prop: i32,
    diff_src: In<'_, MemoryDesc>,
    diff_dst: In<'_, MemoryDesc>,
    src: In<'_, MemoryDesc>,
    stats: In<'_, MemoryDesc>,
    gradient: i32,
    learnt: i32,
    epsilon: f32,
    bits: u32,
    hint: In<'_, PrimitiveDesc>,
    attr: In<'_, Attr>,
) -> Status {
    guard("dnnl_layer_normalization_backward_primitive_desc_create_v2", || {
        let op = Layer { stats, learnt: [learnt, gradient] }.backward(prop, bits, epsilon, [diff_src, diff_dst, src])?;
        Creation { pd, engine, hint, attr }.make(op)
    })
}

/// `dnnl_lrn_forward_primitive_desc_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_lrn_forward_primitive_desc_create(
    pd: New<'_, PrimitiveDesc>,
    engine: In<'_, Engine>,
    prop: i32,
    alg: i32,
    src: In<'_, MemoryDesc>,
    dst: In<'_, MemoryDesc>,
    local_size: i64,
    alpha: f32,
    beta: f32,
    k: f32,
    attr: In<'_, Attr>,
) -> Status {
    guard("dnnl_lrn_forward_primitive_desc_create", || {
        Creation::forward(pd, engine, attr).make(Lrn {
            prop: forward(prop)?,
            alg: value(&LRN, alg)?,
            src: source(src, "src_desc")?,
            dst: Some(dst.tensor("dst_desc")?),
            diff_src: None,
            diff_dst: None,
            local_size,
            alpha: Real::new(alpha),
            beta: Real::new(beta),
            k: Real::new(k),
        })
    })
}

/// `dnnl_lrn_backward_primitive_desc_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_lrn_backward_primitive_desc_create(
    pd: New<'_, PrimitiveDesc>,
    engine: In<'_, Engine>,
    alg: i32,
    diff_src: In<'_, MemoryDesc>,
    diff_dst: In<'_, MemoryDesc>,
    src: In<'_, MemoryDesc>,
    local_size: i64,
    alpha: f32,
    beta: f32,
    k: f32,
    hint: In<'_, PrimitiveDesc>,
    attr: In<'_, Attr>,
) -> Status {
    guard("dnnl_lrn_backward_primitive_desc_create", || {
        let diff = diff(diff_src, diff_dst)?;
        Creation { pd, engine, hint, attr }.make(Lrn {
            prop: Prop::BackwardData,
            alg: value(&LRN, alg)?,
            src: source(src, "src_desc")?,
            dst: None,
            diff_src: Some(diff.src),
            diff_dst: Some(diff.dst),
            local_size,
            alpha: Real::new(alpha),
            beta: Real::new(beta),
            k: Real::new(k),
        })
    })
}

//! Attributes of our problems as the library's.

use crate::call::{Library, LongCount, Rank, Sizes};
use crate::describe;
use crate::error::PeerError;
use crate::handle::{Attribute, Owned, PostOps};
use oxidnn_c_common::numbers;
use oxidnn_spec::{Accumulation, Arg, Attr, DataType, Dropout, FpMath, PostOp, Quant, QuantMode, Real, RnnQuant, ScratchpadMode};
use std::sync::Arc;

/// The attributes `attr`; `None` where they are the defaults.
///
/// # Errors
/// The library's refusal.
pub(crate) fn attribute(library: &Arc<Library>, attr: &Attr) -> Result<Option<Owned<Attribute>>, PeerError> {
    if attr.is_default() {
        return Ok(None);
    }
    let a = empty(library)?;
    configure(library, &a, attr)?;
    Ok(Some(a))
}

fn configure(library: &Arc<Library>, a: &Owned<Attribute>, attr: &Attr) -> Result<(), PeerError> {
    if attr.scratchpad != ScratchpadMode::default() {
        library.call("dnnl_primitive_attr_set_scratchpad_mode", (a, numbers::SCRATCHPAD.of(attr.scratchpad)))?;
    }
    if attr.fpmath != FpMath::default() {
        let FpMath { mode, apply_to_int } = attr.fpmath;
        library.call("dnnl_primitive_attr_set_fpmath_mode_v2", (a, numbers::FPMATH.of(mode), i32::from(apply_to_int)))?;
    }
    if attr.accumulation != Accumulation::default() {
        library.call("dnnl_primitive_attr_set_accumulation_mode", (a, numbers::ACCUMULATION.of(attr.accumulation)))?;
    }
    if attr.deterministic {
        library.call("dnnl_primitive_attr_set_deterministic", (a, 1))?;
    }
    for (arg, mode) in &attr.rounding {
        library.call("dnnl_primitive_attr_set_rounding", (a, arg.0, numbers::ROUNDING.of(*mode)))?;
    }
    for (arg, quant) in &attr.scales {
        scales(library, a, *arg, quant)?;
    }
    for (arg, quant) in &attr.zero_points {
        zero_points(library, a, *arg, quant)?;
    }
    for (arg, q) in &attr.precomputed_reductions {
        let (rank, groups) = grouping(q);
        let call = (a, arg.0, q.mask as i32, rank, &groups, numbers::DATA_TYPE.of(q.dtype));
        library.call("dnnl_primitive_attr_set_precomputed_reductions", call)?;
    }
    if let Some(d) = &attr.dropout {
        dropout(library, a, d)?;
    }
    recurrent(library, a, &attr.rnn)?;
    if !attr.post_ops.is_empty() {
        library.call("dnnl_primitive_attr_set_post_ops", (a, &post_ops(library, &attr.post_ops)?))?;
    }
    Ok(())
}

/// Attributes for a reorder of int8 recurrent weights; `None` where there is no quantisation.
///
/// # Errors
/// The library's refusal.
pub(crate) fn recurrent_weights(library: &Arc<Library>, quant: &RnnQuant) -> Result<Option<Owned<Attribute>>, PeerError> {
    if *quant == RnnQuant::default() {
        return Ok(None);
    }
    let a = empty(library)?;
    recurrent(library, &a, quant)?;
    Ok(Some(a))
}

fn empty(library: &Arc<Library>) -> Result<Owned<Attribute>, PeerError> {
    Owned::make(library, |out| library.call("dnnl_primitive_attr_create", (out,)))
}

/// Number and sizes of the groups; no array where there are none.
fn grouping(q: &Quant) -> (Rank, Sizes) {
    (Rank::of(&q.groups), if q.groups.is_empty() { Sizes::none() } else { Sizes::of(&q.groups) })
}

/// The oldest function that can say it, so that older libraries understand.
fn scales(library: &Library, a: &Owned<Attribute>, arg: Arg, q: &Quant) -> Result<(), PeerError> {
    let ((rank, groups), mask, dtype) = (grouping(q), q.mask as i32, numbers::DATA_TYPE.of(q.dtype));
    if q.mode != QuantMode::Static {
        let mode = numbers::QUANT_MODE.of(q.mode);
        library.call("dnnl_primitive_attr_set_scales_v3", (a, arg.0, mask, rank, &groups, dtype, i32::from(q.on_host), mode))
    } else if q.on_host {
        library.call("dnnl_primitive_attr_set_scales_v2", (a, arg.0, mask, rank, &groups, dtype, 1))
    } else {
        library.call("dnnl_primitive_attr_set_scales", (a, arg.0, mask, rank, &groups, dtype))
    }
}

fn zero_points(library: &Library, a: &Owned<Attribute>, arg: Arg, q: &Quant) -> Result<(), PeerError> {
    let ((rank, groups), mask, dtype) = (grouping(q), q.mask as i32, numbers::DATA_TYPE.of(q.dtype));
    if q.on_host {
        library.call("dnnl_primitive_attr_set_zero_points_v2", (a, arg.0, mask, rank, &groups, dtype, 1))
    } else {
        library.call("dnnl_primitive_attr_set_zero_points", (a, arg.0, mask, rank, &groups, dtype))
    }
}

fn dropout(library: &Arc<Library>, a: &Owned<Attribute>, d: &Dropout) -> Result<(), PeerError> {
    let mask = d.mask.as_ref().map(|m| describe::desc(library, m)).transpose()?;
    let mask = mask.as_ref();
    if d.seed_dtype == DataType::S32 && !d.use_offset && !d.use_host_scalars {
        return library.call("dnnl_primitive_attr_set_dropout", (a, mask));
    }
    let switches = (i32::from(d.use_offset), i32::from(d.use_host_scalars));
    library.call("dnnl_primitive_attr_set_dropout_v2", (a, mask, numbers::DATA_TYPE.of(d.seed_dtype), switches.0, switches.1))
}

fn recurrent(library: &Library, a: &Owned<Attribute>, q: &RnnQuant) -> Result<(), PeerError> {
    if let Some((scale, shift)) = q.data {
        library.call("dnnl_primitive_attr_set_rnn_data_qparams", (a, scale.get(), shift.get()))?;
    }
    let list = |scales: &[Real]| scales.iter().map(|s| s.get()).collect::<Vec<f32>>();
    if let Some((mask, scales)) = &q.weights {
        let call = (a, LongCount(scales.len()), *mask as i32, list(scales));
        library.call("dnnl_primitive_attr_set_rnn_weights_qparams", (call.0, call.1, call.2, &call.3[..]))?;
    }
    if let Some((mask, scales)) = &q.projection {
        let call = (a, LongCount(scales.len()), *mask as i32, list(scales));
        library.call("dnnl_primitive_attr_set_rnn_weights_projection_qparams", (call.0, call.1, call.2, &call.3[..]))?;
    }
    if let Some(linear) = &q.linear {
        // What oneDNN's own tests call; no header declares it.
        let call = (a, 1, LongCount(linear.gates.len()), list(&linear.gates));
        let name = "_Z35dnnl_primitive_attr_set_rnn_tparamsP19dnnl_primitive_attrblPKff";
        library.call(name, (call.0, call.1, call.2, &call.3[..], linear.cell.get()))?;
    }
    Ok(())
}

fn post_ops(library: &Arc<Library>, list: &[PostOp]) -> Result<Owned<PostOps>, PeerError> {
    let all = Owned::make(library, |out| library.call("dnnl_post_ops_create", (out,)))?;
    let dtype = |d: &Option<DataType>| d.map_or(0, |d| numbers::DATA_TYPE.of(d));
    for p in list {
        match p {
            PostOp::Sum { scale, zero_point, dtype: d } => {
                library.call("dnnl_post_ops_append_sum", (&all, scale.get(), *zero_point, dtype(d)))?;
            }
            PostOp::Eltwise { alg, alpha, beta } => {
                library.call("dnnl_post_ops_append_eltwise", (&all, numbers::ELTWISE.of(*alg), alpha.get(), beta.get()))?;
            }
            PostOp::Binary { alg, src1, src2: None } => {
                library.call("dnnl_post_ops_append_binary", (&all, numbers::BINARY.of(*alg), &describe::desc(library, src1)?))?;
            }
            PostOp::Binary { alg, src1, src2: Some(src2) } => {
                let (src1, src2) = (describe::desc(library, src1)?, describe::desc(library, src2)?);
                library.call("dnnl_post_ops_append_binary_v2", (&all, numbers::BINARY.of(*alg), &src1, &src2))?;
            }
            PostOp::Prelu { mask } => library.call("dnnl_post_ops_append_prelu", (&all, *mask as i32))?,
            PostOp::Depthwise { weights, bias, dst, kernel, stride, padding } => {
                let types = (numbers::DATA_TYPE.of(*weights), dtype(bias), numbers::DATA_TYPE.of(*dst));
                library.call("dnnl_post_ops_append_dw", (&all, types.0, types.1, types.2, *kernel, *stride, *padding))?;
            }
        }
    }
    Ok(all)
}

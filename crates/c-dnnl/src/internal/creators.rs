//! Creators of attention and of the gated MLP, which oneDNN's CPU engine exports but does not implement.
#![allow(clippy::too_many_arguments, reason = "the functions have the parameters that oneDNN gave them")]

use crate::handle::Data;
use crate::status::{Failure, Status, guard};

fn refuse(function: &'static str, operation: &str, pd: Data, engine: Data) -> Status {
    guard(function, || {
        for (name, data) in [("primitive_desc", pd), ("engine", engine)] {
            if data.is_null() {
                return Err(Failure::null(name));
            }
        }
        Err(Failure::unimplemented(format!("{operation} as a primitive of a CPU; use the graph interface")))
    })
}

/// `sdpa_primitive_desc_create`, forward.
#[unsafe(export_name = "_Z26sdpa_primitive_desc_createPP19dnnl_primitive_descP11dnnl_enginePK16dnnl_memory_descS6_S6_S6_S6_S6_bli15dnnl_alg_kind_t16dnnl_prop_kind_tPK19dnnl_primitive_attrSB_SB_")]
pub extern "C" fn sdpa_forward(
    pd: Data,
    engine: Data,
    _queries: Data,
    _keys: Data,
    _values: Data,
    _dst: Data,
    _mask: Data,
    _scale: Data,
    _inverted: bool,
    _kv_heads: i64,
    _mask_kind: i32,
    _softmax: i32,
    _prop: i32,
    _attr: Data,
    _kq_attr: Data,
    _vs_attr: Data,
) -> Status {
    refuse("sdpa_primitive_desc_create", "attention", pd, engine)
}

/// `sdpa_primitive_desc_create`, backward.
#[unsafe(export_name = "_Z26sdpa_primitive_desc_createPP19dnnl_primitive_descP11dnnl_enginePK16dnnl_memory_descS6_S6_S6_S6_S6_S6_S6_S6_S6_S6_bli15dnnl_alg_kind_tPK19dnnl_primitive_attrPKS_")]
pub extern "C" fn sdpa_backward(
    pd: Data,
    engine: Data,
    _queries: Data,
    _keys: Data,
    _values: Data,
    _dst: Data,
    _diff_queries: Data,
    _diff_keys: Data,
    _diff_values: Data,
    _diff_dst: Data,
    _diff_mask: Data,
    _mask: Data,
    _scale: Data,
    _inverted: bool,
    _kv_heads: i64,
    _mask_kind: i32,
    _softmax: i32,
    _attr: Data,
    _hint: Data,
) -> Status {
    refuse("sdpa_primitive_desc_create", "attention", pd, engine)
}

/// `dnnl_gated_mlp_primitive_desc_create`.
#[unsafe(export_name = "_Z36dnnl_gated_mlp_primitive_desc_createPP19dnnl_primitive_descP11dnnl_enginePK16dnnl_memory_descS6_S6_S6_S6_15dnnl_alg_kind_tPK19dnnl_primitive_attr")]
pub extern "C" fn gated_mlp(
    pd: Data,
    engine: Data,
    _src: Data,
    _gate: Data,
    _up: Data,
    _down: Data,
    _dst: Data,
    _activation: i32,
    _attr: Data,
) -> Status {
    refuse("dnnl_gated_mlp_primitive_desc_create", "a gated perceptron", pd, engine)
}

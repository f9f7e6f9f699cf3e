//! Addresses of the operands of scales and post-ops.

use crate::handle::{Data, Handle, InOut, New, Owned};
use crate::status::{Failure, Status, guard};

/// The object behind a `dnnl_ukernel_attr_params_t`.
#[derive(Clone, Debug, Default)]
pub struct AttrParams {
    /// An array of addresses, one per binary post-op.
    pub(super) post_ops: Option<Data>,
    pub(super) a_scales: Option<Data>,
    pub(super) b_scales: Option<Data>,
    pub(super) d_scales: Option<Data>,
}

impl Owned for AttrParams {}

/// Sets one of the addresses; null clears it.
fn set(
    function: &'static str,
    params: InOut<'_, AttrParams>,
    to: Data,
    place: impl FnOnce(&mut AttrParams) -> &mut Option<Data>,
) -> Status {
    guard(function, || {
        *place(params.get("attr_params")?) = (!to.is_null()).then_some(to);
        Ok::<(), Failure>(())
    })
}

/// `dnnl_ukernel_attr_params_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_ukernel_attr_params_create(attr_params: New<'_, AttrParams>) -> Status {
    guard("dnnl_ukernel_attr_params_create", || attr_params.own("attr_params", AttrParams::default()))
}

/// `dnnl_ukernel_attr_params_set_post_ops_args`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_ukernel_attr_params_set_post_ops_args(attr_params: InOut<'_, AttrParams>, post_ops_args: Data) -> Status {
    set("dnnl_ukernel_attr_params_set_post_ops_args", attr_params, post_ops_args, |p| &mut p.post_ops)
}

/// `dnnl_ukernel_attr_params_set_A_scales`.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "the name is the interface's")]
pub extern "C" fn dnnl_ukernel_attr_params_set_A_scales(attr_params: InOut<'_, AttrParams>, a_scales: Data) -> Status {
    set("dnnl_ukernel_attr_params_set_A_scales", attr_params, a_scales, |p| &mut p.a_scales)
}

/// `dnnl_ukernel_attr_params_set_B_scales`.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "the name is the interface's")]
pub extern "C" fn dnnl_ukernel_attr_params_set_B_scales(attr_params: InOut<'_, AttrParams>, b_scales: Data) -> Status {
    set("dnnl_ukernel_attr_params_set_B_scales", attr_params, b_scales, |p| &mut p.b_scales)
}

/// `dnnl_ukernel_attr_params_set_D_scales`.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "the name is the interface's")]
pub extern "C" fn dnnl_ukernel_attr_params_set_D_scales(attr_params: InOut<'_, AttrParams>, d_scales: Data) -> Status {
    set("dnnl_ukernel_attr_params_set_D_scales", attr_params, d_scales, |p| &mut p.d_scales)
}

/// `dnnl_ukernel_attr_params_destroy`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_ukernel_attr_params_destroy(attr_params: Handle<AttrParams>) -> Status {
    guard("dnnl_ukernel_attr_params_destroy", || {
        attr_params.destroy();
        Ok(())
    })
}

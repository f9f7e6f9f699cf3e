//! oneDNN's internal BRGEMM kernels, by the names that its benchdnn links with. Their arguments are C++ structures without a stable layout, so none is
//! read or written here: functions that create a kernel return `unimplemented`, and the others do nothing. For such kernels use `dnnl_brgemm_*` of
//! the public headers ([`crate::ukernel`]).

use crate::status::{Failure, Status, guard};

fn refuse(function: &'static str) -> Status {
    guard(function, || Err(Failure::unimplemented("internal kernels of oneDNN; use dnnl_brgemm_create")))
}

/// Constructor of an options structure, whose fields the caller sets.
#[unsafe(export_name = "_ZN4dnnl4impl3cpu3x6413brgemm_attr_tC1Ev")]
pub extern "C" fn attr() {}

/// The same as part of another object.
#[unsafe(export_name = "_ZN4dnnl4impl3cpu3x6413brgemm_attr_tC2Ev")]
pub extern "C" fn attr_base() {}

/// Destructor of a descriptor: there is nothing to free.
#[unsafe(export_name = "_ZN4dnnl4impl3cpu3x6413brgemm_desc_tD1Ev")]
pub extern "C" fn desc_drop() {}

/// The same as part of another object.
#[unsafe(export_name = "_ZN4dnnl4impl3cpu3x6413brgemm_desc_tD2Ev")]
pub extern "C" fn desc_drop_base() {}

/// `amx_tile_release`.
#[unsafe(export_name = "_ZN4dnnl4impl3cpu3x6416amx_tile_releaseEv")]
pub extern "C" fn amx_tile_release() -> Status {
    refuse("amx_tile_release")
}

/// `brdgmm_desc_init`.
#[unsafe(export_name = "_ZN4dnnl4impl3cpu3x6416brdgmm_desc_initEPNS2_13brgemm_desc_tENS2_9cpu_isa_tENS2_19brgemm_batch_kind_tE16dnnl_data_type_tS7_bNS2_15brgemm_layout_tEffllllPKNS2_16brgemm_strides_tE")]
pub extern "C" fn brdgmm_desc_init() -> Status {
    refuse("brdgmm_desc_init")
}

/// `brgemm_desc_init`.
#[unsafe(export_name = "_ZN4dnnl4impl3cpu3x6416brgemm_desc_initEPNS2_13brgemm_desc_tENS2_9cpu_isa_tENS2_19brgemm_batch_kind_tE16dnnl_data_type_tS7_bbNS2_15brgemm_layout_tEffllllllPKNS2_16brgemm_strides_tEb")]
pub extern "C" fn brgemm_desc_init() -> Status {
    refuse("brgemm_desc_init")
}

/// `brgemm_init_tiles`.
#[unsafe(export_name = "_ZN4dnnl4impl3cpu3x6417brgemm_init_tilesERKNS2_13brgemm_desc_tEPc")]
pub extern "C" fn brgemm_init_tiles() -> Status {
    refuse("brgemm_init_tiles")
}

/// `amx_tile_configure`.
#[unsafe(export_name = "_ZN4dnnl4impl3cpu3x6418amx_tile_configureEPKc")]
pub extern "C" fn amx_tile_configure() -> Status {
    refuse("amx_tile_configure")
}

/// `brgemm_desc_finalize`.
#[unsafe(export_name = "_ZN4dnnl4impl3cpu3x6420brgemm_desc_finalizeEPNS2_13brgemm_desc_tE")]
pub extern "C" fn brgemm_desc_finalize() -> Status {
    refuse("brgemm_desc_finalize")
}

/// `brgemm_desc_set_attr`.
#[unsafe(export_name = "_ZN4dnnl4impl3cpu3x6420brgemm_desc_set_attrEPNS2_13brgemm_desc_tERKNS2_13brgemm_attr_tE")]
pub extern "C" fn brgemm_desc_set_attr() -> Status {
    refuse("brgemm_desc_set_attr")
}

/// `brgemm_kernel_create`.
#[unsafe(export_name = "_ZN4dnnl4impl3cpu3x6420brgemm_kernel_createEPPNS2_15brgemm_kernel_tERKNS2_13brgemm_desc_tE")]
pub extern "C" fn brgemm_kernel_create() -> Status {
    refuse("brgemm_kernel_create")
}

/// `brgemm_kernel_destroy`.
#[unsafe(export_name = "_ZN4dnnl4impl3cpu3x6421brgemm_kernel_destroyEPNS2_15brgemm_kernel_tE")]
pub extern "C" fn brgemm_kernel_destroy() -> Status {
    refuse("brgemm_kernel_destroy")
}

/// `brgemm_kernel_execute`: there is no kernel to execute.
#[unsafe(export_name = "_ZN4dnnl4impl3cpu3x6421brgemm_kernel_executeEPKNS2_15brgemm_kernel_tElPKNS2_22brgemm_batch_element_tEPvS9_PKNS2_23brgemm_dynamic_values_tE")]
pub extern "C" fn brgemm_kernel_execute() {}

/// `amx_tile_lazy_configure`.
#[unsafe(export_name = "_ZN4dnnl4impl3cpu3x6423amx_tile_lazy_configureEPKc")]
pub extern "C" fn amx_tile_lazy_configure() -> Status {
    refuse("amx_tile_lazy_configure")
}

/// `brgemm_desc_set_postops`.
#[unsafe(export_name = "_ZN4dnnl4impl3cpu3x6423brgemm_desc_set_postopsEPNS2_13brgemm_desc_tEPK19dnnl_primitive_attrPK16dnnl_memory_descl16dnnl_data_type_t")]
pub extern "C" fn brgemm_desc_set_postops() -> Status {
    refuse("brgemm_desc_set_postops")
}

/// `brgemm_kernel_execute_postops`: there is no kernel to execute.
#[unsafe(export_name = "_ZN4dnnl4impl3cpu3x6429brgemm_kernel_execute_postopsEPKNS2_15brgemm_kernel_tElPKNS2_22brgemm_batch_element_tEPvS9_RKNS2_22brgemm_post_ops_data_tES9_PKNS2_23brgemm_dynamic_values_tE")]
pub extern "C" fn brgemm_kernel_execute_postops() {}

/// `brgemm_kernel_execute_postops` of operands by address: there is no kernel to execute.
#[unsafe(export_name = "_ZN4dnnl4impl3cpu3x6429brgemm_kernel_execute_postopsEPKNS2_15brgemm_kernel_tElPKvS7_PKNS2_22brgemm_batch_element_tEPvSB_RKNS2_22brgemm_post_ops_data_tESB_PKNS2_23brgemm_dynamic_values_tE")]
pub extern "C" fn brgemm_kernel_execute_postops_at() {}

//! The names of enumerators: `dnnl_<kind>2str`, each a look-up in [`oxidnn_c_common::names`].

use oxidnn_c_common::names;
use oxidnn_runtime::fork;
use std::ffi::{CStr, c_char};
use std::sync::OnceLock;

/// The name of `number` in the enum whose function is `dnnl_<kind>2str`.
fn name(kind: &str, number: i32) -> &'static CStr {
    load_names();
    names::name(kind, number)
}

/// Initialises the table of names. Forks are excluded meanwhile: a child would wait for the initialising thread.
pub(crate) fn load_names() {
    static LOADED: OnceLock<()> = OnceLock::new();
    fork::once(&LOADED, names::load);
}

#[cfg(test)]
mod tests;

/// Names of `dnnl_status_t`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_status2str(number: i32) -> *const c_char {
    name("status", number).as_ptr()
}

/// Names of `dnnl_data_type_t`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_dt2str(number: i32) -> *const c_char {
    name("dt", number).as_ptr()
}

/// Names of `dnnl_fpmath_mode_t`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_fpmath_mode2str(number: i32) -> *const c_char {
    name("fpmath_mode", number).as_ptr()
}

/// Names of `dnnl_accumulation_mode_t`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_accumulation_mode2str(number: i32) -> *const c_char {
    name("accumulation_mode", number).as_ptr()
}

/// Names of `dnnl_engine_kind_t`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_engine_kind2str(number: i32) -> *const c_char {
    name("engine_kind", number).as_ptr()
}

/// Names of `dnnl_sparse_encoding_t`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_sparse_encoding2str(number: i32) -> *const c_char {
    name("sparse_encoding", number).as_ptr()
}

/// Names of `dnnl_format_tag_t`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_fmt_tag2str(number: i32) -> *const c_char {
    name("fmt_tag", number).as_ptr()
}

/// Names of `dnnl_prop_kind_t`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_prop_kind2str(number: i32) -> *const c_char {
    name("prop_kind", number).as_ptr()
}

/// Names of `dnnl_primitive_kind_t`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_prim_kind2str(number: i32) -> *const c_char {
    name("prim_kind", number).as_ptr()
}

/// Names of `dnnl_alg_kind_t`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_alg_kind2str(number: i32) -> *const c_char {
    name("alg_kind", number).as_ptr()
}

/// Names of `dnnl_rnn_flags_t`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_rnn_flags2str(number: i32) -> *const c_char {
    name("rnn_flags", number).as_ptr()
}

/// Names of `dnnl_rnn_direction_t`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_rnn_direction2str(number: i32) -> *const c_char {
    name("rnn_direction", number).as_ptr()
}

/// Names of `dnnl_scratchpad_mode_t`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_scratchpad_mode2str(number: i32) -> *const c_char {
    name("scratchpad_mode", number).as_ptr()
}

/// Names of `dnnl_rounding_mode_t`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_rounding_mode2str(number: i32) -> *const c_char {
    name("rounding_mode", number).as_ptr()
}

/// Names of `dnnl_quantization_mode_t`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_quantization_mode2str(number: i32) -> *const c_char {
    name("quantization_mode", number).as_ptr()
}

/// Names of `dnnl_cpu_isa_t`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_cpu_isa2str(number: i32) -> *const c_char {
    name("cpu_isa", number).as_ptr()
}

/// Names of `dnnl_cpu_isa_hints_t`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_cpu_isa_hints2str(number: i32) -> *const c_char {
    name("cpu_isa_hints", number).as_ptr()
}

/// Names of the runtimes that `dnnl_version_t` gives.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_runtime2str(number: u32) -> *const c_char {
    name("runtime", number.cast_signed()).as_ptr()
}

/// Names of `dnnl_format_kind_t`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_fmt_kind2str(number: i32) -> *const c_char {
    name("fmt_kind", number).as_ptr()
}

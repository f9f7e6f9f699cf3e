//! Switches: precision, accumulation, scratch, rounding, determinism.

use super::Attr;
use crate::handle::{In, InOut, Out};
use crate::status::{Failure, Status, guard};
use crate::values::value;
use oxidnn_c_common::numbers::{ACCUMULATION, FPMATH, ROUNDING, SCRATCHPAD};
use oxidnn_spec::{Arg, FpMath, Rounding};

/// `dnnl_primitive_attr_get_fpmath_mode`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_primitive_attr_get_fpmath_mode(attr: In<'_, Attr>, mode: Out<'_, i32>) -> Status {
    guard("dnnl_primitive_attr_get_fpmath_mode", || mode.set("mode", FPMATH.of(attr.get("attr")?.spec.fpmath.mode)))
}

/// `dnnl_primitive_attr_set_fpmath_mode`: not for integers.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_primitive_attr_set_fpmath_mode(attr: InOut<'_, Attr>, mode: i32) -> Status {
    guard("dnnl_primitive_attr_set_fpmath_mode", || set_fpmath(attr, mode, false))
}

/// `dnnl_primitive_attr_get_fpmath_mode_v2`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_primitive_attr_get_fpmath_mode_v2(attr: In<'_, Attr>, mode: Out<'_, i32>, apply_to_int: Out<'_, i32>) -> Status {
    guard("dnnl_primitive_attr_get_fpmath_mode_v2", || {
        let fpmath = attr.get("attr")?.spec.fpmath;
        mode.set_optional(FPMATH.of(fpmath.mode));
        apply_to_int.set_optional(fpmath.apply_to_int.into());
        Ok(())
    })
}

/// `dnnl_primitive_attr_set_fpmath_mode_v2`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_primitive_attr_set_fpmath_mode_v2(attr: InOut<'_, Attr>, mode: i32, apply_to_int: i32) -> Status {
    guard("dnnl_primitive_attr_set_fpmath_mode_v2", || set_fpmath(attr, mode, apply_to_int != 0))
}

fn set_fpmath(attr: InOut<'_, Attr>, mode: i32, apply_to_int: bool) -> Result<(), Failure> {
    attr.get("attr")?.spec.fpmath = FpMath { mode: value(&FPMATH, mode)?, apply_to_int };
    Ok(())
}

/// `dnnl_primitive_attr_get_deterministic`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_primitive_attr_get_deterministic(attr: In<'_, Attr>, on: Out<'_, i32>) -> Status {
    guard("dnnl_primitive_attr_get_deterministic", || on.set("value", attr.get("attr")?.spec.deterministic.into()))
}

/// `dnnl_primitive_attr_set_deterministic`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_primitive_attr_set_deterministic(attr: InOut<'_, Attr>, on: i32) -> Status {
    guard("dnnl_primitive_attr_set_deterministic", || {
        attr.get("attr")?.spec.deterministic = on != 0;
        Ok(())
    })
}

/// `dnnl_primitive_attr_get_accumulation_mode`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_primitive_attr_get_accumulation_mode(attr: In<'_, Attr>, mode: Out<'_, i32>) -> Status {
    guard("dnnl_primitive_attr_get_accumulation_mode", || mode.set("mode", ACCUMULATION.of(attr.get("attr")?.spec.accumulation)))
}

/// `dnnl_primitive_attr_set_accumulation_mode`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_primitive_attr_set_accumulation_mode(attr: InOut<'_, Attr>, mode: i32) -> Status {
    guard("dnnl_primitive_attr_set_accumulation_mode", || {
        attr.get("attr")?.spec.accumulation = value(&ACCUMULATION, mode)?;
        Ok(())
    })
}

/// `dnnl_primitive_attr_get_scratchpad_mode`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_primitive_attr_get_scratchpad_mode(attr: In<'_, Attr>, mode: Out<'_, i32>) -> Status {
    guard("dnnl_primitive_attr_get_scratchpad_mode", || mode.set("mode", SCRATCHPAD.of(attr.get("attr")?.spec.scratchpad)))
}

/// `dnnl_primitive_attr_set_scratchpad_mode`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_primitive_attr_set_scratchpad_mode(attr: InOut<'_, Attr>, mode: i32) -> Status {
    guard("dnnl_primitive_attr_set_scratchpad_mode", || {
        attr.get("attr")?.spec.scratchpad = value(&SCRATCHPAD, mode)?;
        Ok(())
    })
}

/// `dnnl_primitive_attr_get_rounding`: the environment's mode for arguments that were not set.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_primitive_attr_get_rounding(attr: In<'_, Attr>, arg: i32, mode: Out<'_, i32>) -> Status {
    guard("dnnl_primitive_attr_get_rounding", || {
        let rounding = attr.get("attr")?.spec.rounding.get(&Arg(arg)).copied().unwrap_or_default();
        mode.set("mode", ROUNDING.of(rounding))
    })
}

/// `dnnl_primitive_attr_set_rounding`, of the primitives' results.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_primitive_attr_set_rounding(attr: InOut<'_, Attr>, arg: i32, mode: i32) -> Status {
    guard("dnnl_primitive_attr_set_rounding", || {
        let (attr, mode) = (attr.get("attr")?, value(&ROUNDING, mode)?);
        if ![Arg::DST, Arg::DIFF_SRC, Arg::DIFF_WEIGHTS].contains(&Arg(arg)) {
            return Err(Failure::invalid("arg", Arg(arg), "dst, diff_src or diff_wei"));
        }
        match mode {
            Rounding::Environment => drop(attr.spec.rounding.remove(&Arg(arg))),
            _ => drop(attr.spec.rounding.insert(Arg(arg), mode)),
        }
        Ok(())
    })
}

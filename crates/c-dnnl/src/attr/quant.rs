//! Scales, zero points and precomputed reductions.

use super::Attr;
use crate::handle::{Array, InOut};
use crate::status::{Failure, Status, guard};
use crate::values::value;
use oxidnn_c_common::numbers::{DATA_TYPE, QUANT_MODE};
use oxidnn_spec::{Arg, DataType, Dims, Quant, QuantMode};

/// Arguments with scales, beside the sources of a concat, and their types.
const SCALED: &[Arg] = &[Arg::SRC, Arg::SRC_1, Arg::SRC_2, Arg::DST, Arg::WEIGHTS, Arg::WEIGHTS_1];
/// Arguments with zero points.
const SHIFTED: &[Arg] = &[Arg::SRC, Arg::SRC_2, Arg::DST, Arg::WEIGHTS, Arg::WEIGHTS_1];

/// C's parameters of scales, zero points or precomputed reductions.
struct Request<'a> {
    arg: i32,
    mask: i32,
    ndims: i32,
    /// Null if not applicable.
    groups: Option<Array<'a, i64>>,
    dtype: i32,
    on_host: bool,
    mode: QuantMode,
}

impl Request<'_> {
    /// Checks what can be checked without a primitive; a single value must have one of the `wide` types, several values may also have `narrow` ones.
    fn quant(&self, wide: &[DataType], narrow: &[DataType]) -> Result<Quant, Failure> {
        let Request { mask, ndims, on_host, mode, .. } = *self;
        let mask = u32::try_from(mask).map_err(|_| Failure::invalid("mask", mask, "no negative number"))?;
        let groups = match ndims {
            0 => &[],
            2 => self.groups.ok_or_else(|| Failure::null("group_dims"))?.slice("group_dims", 2)?,
            _ => return Err(Failure::invalid("group_ndims", ndims, "0 or 2")),
        };
        if groups.iter().any(|&g| g < 1) || !groups.is_empty() && mask == 0 {
            return Err(Failure::invalid(
                "groups",
                format_args!("{groups:?} with mask {mask}"),
                "sizes from 1, with a mask of their dimensions",
            ));
        }
        let dtype = value(&DATA_TYPE, self.dtype)?;
        if !(wide.contains(&dtype) || narrow.contains(&dtype) && mask > 0) {
            return Err(Failure::invalid(
                "data type",
                format_args!("{dtype} with mask {mask}"),
                format_args!("{wide:?}, or with a mask {narrow:?}"),
            ));
        }
        if on_host && (mask != 0 || !groups.is_empty() || mode != QuantMode::Static) {
            return Err(Failure::invalid("is_on_host", format_args!("set with mask {mask}"), "set for one static number only"));
        }
        let groups = Dims::new(groups).unwrap_or_default();
        Ok(Quant { mask, groups, dtype, on_host, mode })
    }

    fn known(&self, args: &[Arg]) -> Result<Arg, Failure> {
        let arg = Arg(self.arg);
        let names = || args.iter().map(Arg::to_string).collect::<Vec<_>>().join(", ");
        if args.contains(&arg) { Ok(arg) } else { Err(Failure::invalid("arg", arg, format_args!("one of {}", names()))) }
    }

    fn scales(&self, attr: InOut<'_, Attr>) -> Result<(), Failure> {
        let attr = attr.get("attr")?;
        let depthwise = SCALED.iter().find(|&&a| Arg::depthwise(a) == Arg(self.arg));
        let arg = match Arg(self.arg).multiple_src_index().or(depthwise.map(|_| 0)) {
            Some(_) => Arg(self.arg),
            None => self.known(SCALED)?,
        };
        let quant = self.quant(&[DataType::F32, DataType::Bf16, DataType::F16], &[DataType::E8m0, DataType::F8E4m3])?;
        attr.spec.scales.insert(arg, quant);
        Ok(())
    }

    fn zero_points(&self, attr: InOut<'_, Attr>) -> Result<(), Failure> {
        use DataType::*;
        let attr = attr.get("attr")?;
        let arg = self.known(SHIFTED)?;
        let quant = match arg {
            Arg::SRC | Arg::WEIGHTS => self.quant(&[S32, S8, U8], &[S4, U4])?,
            _ => self.quant(&[S32], &[])?,
        };
        if !matches!(arg, Arg::SRC | Arg::WEIGHTS) && !quant.groups.is_empty() {
            return Err(Failure::invalid("groups", quant.groups, format_args!("none for {arg}")));
        }
        attr.spec.zero_points.insert(arg, quant);
        Ok(())
    }

    fn reductions(&self, attr: InOut<'_, Attr>) -> Result<(), Failure> {
        let attr = attr.get("attr")?;
        let arg = self.known(&[Arg::SRC])?;
        attr.spec.precomputed_reductions.insert(arg, self.quant(&[DataType::S32], &[])?);
        Ok(())
    }
}

/// One value, or one per index of the masked dimensions, in memory.
fn per(arg: i32, mask: i32, dtype: DataType) -> Request<'static> {
    Request { arg, mask, ndims: 0, groups: None, dtype: DATA_TYPE.of(dtype), on_host: false, mode: QuantMode::Static }
}

/// `dnnl_primitive_attr_set_scales_mask`: f32 values.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_primitive_attr_set_scales_mask(attr: InOut<'_, Attr>, arg: i32, mask: i32) -> Status {
    guard("dnnl_primitive_attr_set_scales_mask", || per(arg, mask, DataType::F32).scales(attr))
}

/// `dnnl_primitive_attr_set_scales`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_primitive_attr_set_scales(
    attr: InOut<'_, Attr>,
    arg: i32,
    mask: i32,
    ndims: i32,
    groups: Array<'_, i64>,
    dtype: i32,
) -> Status {
    guard("dnnl_primitive_attr_set_scales", || Request { ndims, groups: Some(groups), dtype, ..per(arg, mask, DataType::F32) }.scales(attr))
}

/// `dnnl_primitive_attr_set_scales_v2`: a host scalar is allowed.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_primitive_attr_set_scales_v2(
    attr: InOut<'_, Attr>,
    arg: i32,
    mask: i32,
    ndims: i32,
    groups: Array<'_, i64>,
    dtype: i32,
    on_host: i32,
) -> Status {
    guard("dnnl_primitive_attr_set_scales_v2", || {
        Request { ndims, groups: Some(groups), dtype, on_host: on_host != 0, ..per(arg, mask, DataType::F32) }.scales(attr)
    })
}

/// `dnnl_primitive_attr_set_scales_v3`: the primitive may compute the scales (dynamic quantisation).
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_primitive_attr_set_scales_v3(
    attr: InOut<'_, Attr>,
    arg: i32,
    mask: i32,
    ndims: i32,
    groups: Array<'_, i64>,
    dtype: i32,
    on_host: i32,
    mode: i32,
) -> Status {
    guard("dnnl_primitive_attr_set_scales_v3", || {
        let mode = value(&QUANT_MODE, mode)?;
        Request { ndims, groups: Some(groups), dtype, on_host: on_host != 0, mode, ..per(arg, mask, DataType::F32) }.scales(attr)
    })
}

/// `dnnl_primitive_attr_set_zero_points_mask`: s32 values.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_primitive_attr_set_zero_points_mask(attr: InOut<'_, Attr>, arg: i32, mask: i32) -> Status {
    guard("dnnl_primitive_attr_set_zero_points_mask", || per(arg, mask, DataType::S32).zero_points(attr))
}

/// `dnnl_primitive_attr_set_zero_points`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_primitive_attr_set_zero_points(
    attr: InOut<'_, Attr>,
    arg: i32,
    mask: i32,
    ndims: i32,
    groups: Array<'_, i64>,
    dtype: i32,
) -> Status {
    guard("dnnl_primitive_attr_set_zero_points", || {
        Request { ndims, groups: Some(groups), dtype, ..per(arg, mask, DataType::S32) }.zero_points(attr)
    })
}

/// `dnnl_primitive_attr_set_zero_points_v2`: a host scalar is allowed.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_primitive_attr_set_zero_points_v2(
    attr: InOut<'_, Attr>,
    arg: i32,
    mask: i32,
    ndims: i32,
    groups: Array<'_, i64>,
    dtype: i32,
    on_host: i32,
) -> Status {
    guard("dnnl_primitive_attr_set_zero_points_v2", || {
        Request { ndims, groups: Some(groups), dtype, on_host: on_host != 0, ..per(arg, mask, DataType::S32) }.zero_points(attr)
    })
}

/// `dnnl_primitive_attr_set_precomputed_reductions`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_primitive_attr_set_precomputed_reductions(
    attr: InOut<'_, Attr>,
    arg: i32,
    mask: i32,
    ndims: i32,
    groups: Array<'_, i64>,
    dtype: i32,
) -> Status {
    guard("dnnl_primitive_attr_set_precomputed_reductions", || {
        Request { ndims, groups: Some(groups), dtype, ..per(arg, mask, DataType::S32) }.reductions(attr)
    })
}

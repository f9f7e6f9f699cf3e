//! Dropout.

use super::Attr;
use crate::handle::{In, InOut, Out};
use crate::memory_desc::MemoryDesc;
use crate::status::{Failure, Status, guard};
use crate::values::value;
use oxidnn_c_common::numbers::DATA_TYPE;
use oxidnn_spec::{DataType, Dropout};

/// `dnnl_primitive_attr_get_dropout`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_primitive_attr_get_dropout(attr: In<'_, Attr>, mask: Out<'_, *const MemoryDesc>) -> Status {
    guard("dnnl_primitive_attr_get_dropout", || {
        mask.set_optional(&attr.get("attr")?.dropout_mask);
        Ok(())
    })
}

/// `dnnl_primitive_attr_get_dropout_v2`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_primitive_attr_get_dropout_v2(
    attr: In<'_, Attr>,
    mask: Out<'_, *const MemoryDesc>,
    seed: Out<'_, i32>,
    use_offset: Out<'_, i32>,
    use_host_scalars: Out<'_, i32>,
) -> Status {
    guard("dnnl_primitive_attr_get_dropout_v2", || {
        let attr = attr.get("attr")?;
        let of = |f: fn(&Dropout) -> i32| attr.spec.dropout.as_ref().map_or(0, f);
        mask.set_optional(&attr.dropout_mask);
        seed.set_optional(of(|d| DATA_TYPE.of(d.seed_dtype)));
        use_offset.set_optional(of(|d| d.use_offset.into()));
        use_host_scalars.set_optional(of(|d| d.use_host_scalars.into()));
        Ok(())
    })
}

/// `dnnl_primitive_attr_set_dropout`: a 32-bit seed, no offset.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_primitive_attr_set_dropout(attr: InOut<'_, Attr>, mask: In<'_, MemoryDesc>) -> Status {
    let dropout = Dropout { mask: None, seed_dtype: DataType::S32, use_offset: false, use_host_scalars: false };
    guard("dnnl_primitive_attr_set_dropout", || set(attr, mask, dropout))
}

/// `dnnl_primitive_attr_set_dropout_v2`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_primitive_attr_set_dropout_v2(
    attr: InOut<'_, Attr>,
    mask: In<'_, MemoryDesc>,
    seed: i32,
    use_offset: i32,
    use_host_scalars: i32,
) -> Status {
    guard("dnnl_primitive_attr_set_dropout_v2", || {
        let seed_dtype = value(&DATA_TYPE, seed)?;
        if !matches!(seed_dtype, DataType::S32 | DataType::S64) {
            return Err(Failure::invalid("seed_dt", seed_dtype, "s32 or s64"));
        }
        set(attr, mask, Dropout { mask: None, seed_dtype, use_offset: use_offset != 0, use_host_scalars: use_host_scalars != 0 })
    })
}

/// With an empty descriptor, no mask is written.
fn set(attr: InOut<'_, Attr>, mask: In<'_, MemoryDesc>, dropout: Dropout) -> Result<(), Failure> {
    let (attr, record) = (attr.get("attr")?, mask.get("mask_desc")?);
    let mask = mask.optional_tensor("mask_desc")?;
    if let Some(mask) = mask.as_ref().filter(|m| m.dtype != DataType::U8) {
        return Err(Failure::invalid("mask_desc", mask.dtype, "u8"));
    }
    attr.dropout_mask = if mask.is_some() { *record } else { MemoryDesc::ZERO };
    attr.spec.dropout = Some(Dropout { mask, ..dropout });
    Ok(())
}

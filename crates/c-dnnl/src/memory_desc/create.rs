//! Making memory descriptors: from strides, tags, encodings, and other descriptors.

use super::{MemoryDesc, data_type, record};
use crate::handle::{Array, New};
use crate::status::{Failure, Status, guard};
use oxidnn_c_common::{names, numbers};
use oxidnn_spec::{Dims, Layout, MAX_NDIMS, Tensor};

/// The `ndims` sizes of a parameter `name`.
///
/// # Errors
/// `invalid_arguments` for a null pointer or another number of dimensions than 1 to 12.
pub fn dims(sizes: Array<'_, i64>, ndims: i32, name: &str) -> Result<Dims, Failure> {
    let n = usize::try_from(ndims).ok().filter(|n| (1..=MAX_NDIMS).contains(n));
    let n = n.ok_or_else(|| Failure::invalid("ndims", ndims, "1 to 12"))?;
    Dims::new(sizes.slice(name, n)?).ok_or_else(|| Failure::invalid(name, n, "at most 12 sizes"))
}

/// `dnnl_memory_desc_create_with_strides`; row-major without strides.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_memory_desc_create_with_strides(
    desc: New<'_, MemoryDesc>,
    ndims: i32,
    sizes: Array<'_, i64>,
    dtype: i32,
    strides: Array<'_, i64>,
) -> Status {
    guard("dnnl_memory_desc_create_with_strides", || {
        desc.check("memory_desc")?;
        if ndims == 0 {
            return desc.own("memory_desc", MemoryDesc::ZERO);
        }
        let (sizes, dtype) = (dims(sizes, ndims, "dims")?, data_type(dtype, "data_type")?);
        let strides = strides.optional(sizes.len()).and_then(Dims::new);
        desc.own("memory_desc", record(&Tensor::with_strides(sizes, dtype, strides)?))
    })
}

/// The record of a tensor with the layout that `tag` names.
fn with_tag(sizes: Dims, dtype: i32, tag: &str) -> Result<MemoryDesc, Failure> {
    let tensor = Tensor { dtype: data_type(dtype, "data_type")?, layout: Layout::with_tag(sizes, tag)? };
    tensor.layout.check()?;
    Ok(record(&tensor))
}

/// `dnnl_memory_desc_create_with_tag`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_memory_desc_create_with_tag(
    desc: New<'_, MemoryDesc>,
    ndims: i32,
    sizes: Array<'_, i64>,
    dtype: i32,
    tag: i32,
) -> Status {
    guard("dnnl_memory_desc_create_with_tag", || {
        desc.check("memory_desc")?;
        if ndims == 0 || tag == numbers::TAG_UNDEF {
            return desc.own("memory_desc", MemoryDesc::ZERO);
        }
        let letters = names::tag(tag).ok_or_else(|| Failure::invalid("tag", tag, "a format tag"))?;
        desc.own("memory_desc", with_tag(dims(sizes, ndims, "dims")?, dtype, letters)?)
    })
}

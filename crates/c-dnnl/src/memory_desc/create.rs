//! Creating memory descriptors: from strides, tags, encodings and blobs.

use super::{MemoryDesc, data_type, record};
use crate::debug::load_names;
use crate::handle::{Array, ArrayMut, In, InOut, New, Out, Text};
use crate::status::{Failure, Status, guard};
use oxidnn_c_common::{names, numbers};
use oxidnn_spec::{Dims, Format, Layout, MAX_NDIMS, Sparse, Tensor};

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
        desc.own("memory_desc", sound(&Tensor::with_strides(sizes, dtype, strides)?)?)
    })
}

/// The record of a tensor with the layout `tag`; `undef` and no dimensions give the empty descriptor.
fn with_tag(ndims: i32, sizes: Array<'_, i64>, dtype: i32, tag: &str) -> Result<MemoryDesc, Failure> {
    if ndims == 0 || tag == "undef" {
        return Ok(MemoryDesc::ZERO);
    }
    let (sizes, dtype) = (dims(sizes, ndims, "dims")?, data_type(dtype, "data_type")?);
    let tensor = Tensor { dtype, layout: Layout::with_tag(sizes, tag)? };
    sound(&tensor)
}

/// The record of a new tensor, if sizes and strides are consistent and no byte of a 4-bit type belongs to two rows.
fn sound(tensor: &Tensor) -> Result<MemoryDesc, Failure> {
    tensor.layout.check()?;
    let is_cut = |(&size, &stride): (&i64, &i64)| size != 1 && stride > 1 && stride % 2 == 1;
    if let Some(b) = tensor.blocking().filter(|_| tensor.dtype.bits() == 4 && !tensor.is_empty() && !tensor.layout.has_runtime())
        && b.padded_dims.iter().zip(b.strides.iter()).any(is_cut)
    {
        return Err(Failure::invalid("strides", b.strides, "even strides but for the innermost dimension, for a 4-bit type"));
    }
    Ok(record(tensor))
}

/// As [`with_tag`], by the tag's enumerator.
fn with_tag_number(ndims: i32, sizes: Array<'_, i64>, dtype: i32, tag: i32) -> Result<MemoryDesc, Failure> {
    load_names();
    let letters = if tag == numbers::TAG_UNDEF || ndims == 0 { Some("undef") } else { names::tag(tag) };
    with_tag(ndims, sizes, dtype, letters.ok_or_else(|| Failure::invalid("tag", tag, "a format tag"))?)
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
        desc.own("memory_desc", with_tag_number(ndims, sizes, dtype, tag)?)
    })
}

/// `dnnl_memory_desc_create_with_string_tag`: any valid tag, with or without an enumerator. Test programs link against it.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_memory_desc_create_with_string_tag(
    desc: New<'_, MemoryDesc>,
    ndims: i32,
    sizes: Array<'_, i64>,
    dtype: i32,
    tag: Text<'_>,
) -> Status {
    guard("dnnl_memory_desc_create_with_string_tag", || {
        desc.check("memory_desc")?;
        desc.own("memory_desc", with_tag(ndims, sizes, dtype, tag.get("tag")?)?)
    })
}

/// `dnnl::impl::memory_desc_init_by_tag`: as `dnnl_memory_desc_create_with_tag`, into the caller's record. Test programs link against it.
#[unsafe(export_name = "_ZN4dnnl4impl23memory_desc_init_by_tagER16dnnl_memory_desciPKl16dnnl_data_type_t17dnnl_format_tag_t")]
pub extern "C" fn memory_desc_init_by_tag(desc: Out<'_, MemoryDesc>, ndims: i32, sizes: Array<'_, i64>, dtype: i32, tag: i32) -> Status {
    guard("memory_desc_init_by_tag", || desc.set("memory_desc", with_tag_number(ndims, sizes, dtype, tag)?))
}

/// `dnnl::impl::glob_zero_md`: the empty descriptor, which test programs refer to.
#[unsafe(export_name = "_ZN4dnnl4impl12glob_zero_mdE")]
pub static GLOB_ZERO_MD: MemoryDesc = MemoryDesc::ZERO;

/// `dnnl_memory_desc_set_data_type`: the same layout of another type. Test programs link against it.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_memory_desc_set_data_type(desc: InOut<'_, MemoryDesc>, dtype: i32) -> Status {
    guard("dnnl_memory_desc_set_data_type", || {
        let desc = desc.get("memory_desc")?;
        if dtype != 0 {
            data_type(dtype, "data_type")?;
        }
        desc.data_type = dtype;
        Ok(())
    })
}

/// The arguments of a creator of a sparse tensor.
struct SparseCall<'a> {
    ndims: i32,
    sizes: Array<'a, i64>,
    dtype: i32,
    /// Data types of index arrays, 0 for those that the encoding does not have.
    indices: [i32; 2],
}

impl SparseCall<'_> {
    /// The record of a tensor in the encoding; index arrays may be of any type here.
    fn record(&self, encoding: Sparse) -> Result<MemoryDesc, Failure> {
        if self.ndims == 0 {
            return Ok(MemoryDesc::ZERO);
        }
        let (dims, dtype) = (dims(self.sizes, self.ndims, "dims")?, data_type(self.dtype, "data_type")?);
        if dims.len() > 2 && !matches!(encoding, Sparse::Packed { .. }) {
            return Err(Failure::unimplemented(format_args!("a sparse tensor of {} dimensions; 1 or 2 in this encoding", dims.len())));
        }
        for number in self.indices.iter().filter(|n| **n != 0) {
            data_type(*number, "indices_data_type")?;
        }
        let tensor = Tensor { dtype, layout: Layout { dims, format: Format::Sparse(encoding) } };
        tensor.layout.check()?;
        let mut record = record(&tensor);
        record.format.metadata_types = self.indices;
        Ok(record)
    }
}

/// `dnnl_memory_desc_create_with_csr_encoding`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_memory_desc_create_with_csr_encoding(
    desc: New<'_, MemoryDesc>,
    ndims: i32,
    sizes: Array<'_, i64>,
    dtype: i32,
    nnz: i64,
    indices: i32,
    pointers: i32,
) -> Status {
    guard("dnnl_memory_desc_create_with_csr_encoding", || {
        desc.check("memory_desc")?;
        let call = SparseCall { ndims, sizes, dtype, indices: [indices, pointers] };
        desc.own("memory_desc", call.record(Sparse::Csr { nnz })?)
    })
}

/// `dnnl_memory_desc_create_with_coo_encoding`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_memory_desc_create_with_coo_encoding(
    desc: New<'_, MemoryDesc>,
    ndims: i32,
    sizes: Array<'_, i64>,
    dtype: i32,
    nnz: i64,
    indices: i32,
) -> Status {
    guard("dnnl_memory_desc_create_with_coo_encoding", || {
        desc.check("memory_desc")?;
        let call = SparseCall { ndims, sizes, dtype, indices: [indices, 0] };
        desc.own("memory_desc", call.record(Sparse::Coo { nnz })?)
    })
}

/// `dnnl_memory_desc_create_with_packed_encoding`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_memory_desc_create_with_packed_encoding(
    desc: New<'_, MemoryDesc>,
    ndims: i32,
    sizes: Array<'_, i64>,
    dtype: i32,
    nnz: i64,
) -> Status {
    guard("dnnl_memory_desc_create_with_packed_encoding", || {
        desc.check("memory_desc")?;
        let call = SparseCall { ndims, sizes, dtype, indices: [0, 0] };
        desc.own("memory_desc", call.record(Sparse::Packed { nnz, blocking: None })?)
    })
}

/// `dnnl_memory_desc_create_host_scalar`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_memory_desc_create_host_scalar(desc: New<'_, MemoryDesc>, dtype: i32) -> Status {
    guard("dnnl_memory_desc_create_host_scalar", || {
        desc.check("memory_desc")?;
        desc.own("memory_desc", record(&Tensor::host_scalar(data_type(dtype, "data_type")?)))
    })
}

/// `dnnl_memory_desc_get_blob`: the record's bytes, or their number.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_memory_desc_get_blob(blob: ArrayMut<'_, u8>, size: InOut<'_, usize>, desc: In<'_, MemoryDesc>) -> Status {
    guard("dnnl_memory_desc_get_blob", || {
        let (size, desc) = (size.get("size")?, desc.get("memory_desc")?);
        if blob.is_null() {
            *size = size_of::<MemoryDesc>();
            return Ok(());
        }
        let bytes = bytemuck::bytes_of(desc);
        blob.fill("blob", &bytes[..bytes.len().min(*size)])
    })
}

/// `dnnl_memory_desc_create_with_blob`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_memory_desc_create_with_blob(desc: New<'_, MemoryDesc>, blob: Array<'_, u8>) -> Status {
    guard("dnnl_memory_desc_create_with_blob", || {
        desc.check("memory_desc")?;
        let bytes = blob.slice("blob", size_of::<MemoryDesc>())?;
        desc.own("memory_desc", bytemuck::pod_read_unaligned(bytes))
    })
}

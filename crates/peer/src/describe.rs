//! Memory descriptors of our tensors.

use crate::call::{Library, Rank, Sizes};
use crate::error::PeerError;
use crate::handle::{Desc, Owned};
use oxidnn_c_common::numbers;
use oxidnn_spec::{Blocking, DataType, Format, Sparse, Tensor};
use std::ffi::CString;
use std::sync::Arc;

/// The descriptor of `tensor`.
///
/// # Errors
/// The library's refusal; [`PeerError::Inexpressible`] for packed formats, which are each library's own.
pub(crate) fn desc(library: &Arc<Library>, tensor: &Tensor) -> Result<Owned<Desc>, PeerError> {
    let dims = tensor.dims();
    let (rank, sizes, dtype) = (Rank::of(dims), Sizes::of(dims), numbers::DATA_TYPE.of(tensor.dtype));
    let index = numbers::DATA_TYPE.of(DataType::S32);
    let inexpressible = |what: &str| Err(PeerError::Inexpressible(format!("{what} is each library's own")));
    match &tensor.layout.format {
        Format::Any => {
            Owned::make(library, |out| library.call("dnnl_memory_desc_create_with_tag", (out, rank, &sizes, dtype, numbers::TAG_ANY)))
        }
        Format::HostScalar => Owned::make(library, |out| library.call("dnnl_memory_desc_create_host_scalar", (out, dtype))),
        Format::Sparse(Sparse::Csr { nnz }) => Owned::make(library, |out| {
            library.call("dnnl_memory_desc_create_with_csr_encoding", (out, rank, &sizes, dtype, *nnz, index, index))
        }),
        Format::Sparse(Sparse::Coo { nnz }) => {
            Owned::make(library, |out| library.call("dnnl_memory_desc_create_with_coo_encoding", (out, rank, &sizes, dtype, *nnz, index)))
        }
        Format::Sparse(Sparse::Packed { .. }) => inexpressible("a packed sparse tensor"),
        Format::Packed(_) => inexpressible("a packed format"),
        Format::Blocked(b) => blocked(library, tensor, b),
    }
}

/// By strides where these say all, else by tag, else by the structure itself.
fn blocked(library: &Arc<Library>, tensor: &Tensor, b: &Blocking) -> Result<Owned<Desc>, PeerError> {
    let dims = tensor.dims();
    let (rank, sizes, dtype) = (Rank::of(dims), Sizes::of(dims), numbers::DATA_TYPE.of(tensor.dtype));
    let with_strides = |strides: &Sizes| {
        Owned::<Desc>::make(library, |out| library.call("dnnl_memory_desc_create_with_strides", (out, rank, &sizes, dtype, strides)))
    };
    if b.is_plain() && b.offset == 0 && b.padded_dims == *dims && b.compensation.is_none() {
        return with_strides(&Sizes::of(&b.strides));
    }
    if let Some(tag) = tensor.layout.tag().and_then(|t| CString::new(t).ok()) {
        let by_tag = Owned::make(library, |out| library.call("dnnl_memory_desc_create_with_string_tag", (out, rank, &sizes, dtype, &tag)));
        if !matches!(by_tag, Err(PeerError::Missing(_))) {
            return by_tag;
        }
    }
    with_strides(&Sizes::none())?.with_blocking(b)
}

/// Writes `b` into the structure of 768 bytes behind a descriptor, by the offsets of its fields.
pub(crate) fn write_blocking(blob: &mut [u8], b: &Blocking) {
    let mut put = |at: usize, bytes: &[u8]| blob[at..at + bytes.len()].copy_from_slice(bytes);
    let lists = [(112, &b.padded_dims), (208, &b.padded_offsets), (320, &b.strides)];
    for (at, list) in lists {
        list.iter().enumerate().for_each(|(i, v)| put(at + 8 * i, &v.to_le_bytes()));
    }
    put(304, &b.offset.to_le_bytes());
    put(416, &(b.inner.len() as i32).to_le_bytes());
    for (i, (dim, size)) in b.inner.iter().enumerate() {
        put(424 + 8 * i, &size.to_le_bytes());
        put(520 + 8 * i, &(dim as i64).to_le_bytes());
    }
    if let Some(c) = &b.compensation {
        let flags =
            u64::from(c.s8s8_mask.is_some()) | u64::from(c.scale_adjust.is_some()) << 1 | u64::from(c.zero_point_mask.is_some()) << 3;
        put(640, &flags.to_le_bytes());
        put(648, &c.s8s8_mask.unwrap_or(0).to_le_bytes());
        put(652, &c.scale_adjust.map_or(0.0, oxidnn_spec::Real::get).to_le_bytes());
        put(656, &c.zero_point_mask.unwrap_or(0).to_le_bytes());
    }
}

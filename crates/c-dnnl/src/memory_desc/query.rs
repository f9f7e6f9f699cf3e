//! Queries of descriptors, and sizes in bytes.

use super::{MemoryDesc, data_type, tensor};
use crate::handle::{Data, In};
use crate::status::{Failure, Status, guard, guard_value};
use oxidnn_c_common::numbers;
use oxidnn_c_common::records::{encoding, format_kind};
use oxidnn_spec::{Blocking, DataType, RUNTIME, Tensor};

/// Size of a tensor whose dimensions are given at execution: `DNNL_RUNTIME_SIZE_VAL`.
const RUNTIME_SIZE: usize = 1 << 63;

/// `dnnl_data_type_size`: bytes of an element, 1 for 4-bit types; the largest value for an invalid type, as in oneDNN.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_data_type_size(dtype: i32) -> usize {
    numbers::DATA_TYPE.value(dtype).map_or(usize::MAX, |t| t.bits().div_ceil(8))
}

/// `dnnl_memory_desc_get_size`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_memory_desc_get_size(desc: In<'_, MemoryDesc>) -> usize {
    guard_value("dnnl_memory_desc_get_size", 0, || desc.optional().map_or(Ok(0), |d| size(d, 0)))
}

/// `dnnl_memory_desc_get_size_v2`: for one buffer.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_memory_desc_get_size_v2(desc: In<'_, MemoryDesc>, index: i32) -> usize {
    guard_value("dnnl_memory_desc_get_size_v2", 0, || match (desc.optional(), usize::try_from(index)) {
        (Some(d), Ok(index)) => size(d, index),
        _ => Ok(0),
    })
}

fn size(record: &MemoryDesc, index: usize) -> Result<usize, Failure> {
    match record.format_kind {
        _ if record.ndims == 0 => Ok(0),
        format_kind::BLOCKED
            if index == 0
                && let Some(bytes) = plain_bytes(record) =>
        {
            Ok(bytes)
        }
        format_kind::SPARSE => Ok(sparse_bytes(record, index).unwrap_or(0)),
        _ => Ok(buffer_bytes(&tensor(record, "memory_desc")?, index)),
    }
}

/// As [`buffer_bytes`], for a sparse tensor with index arrays of any type.
fn sparse_bytes(record: &MemoryDesc, index: usize) -> Option<usize> {
    let (sparse, dims) = (&record.format, record.dims.get(..usize::try_from(record.ndims).ok()?)?);
    let blocked = sparse.packed.strides[0] != 0;
    if dims.contains(&0) || index >= usize::try_from(buffers(record)).ok()? {
        return Some(0);
    }
    if dims.contains(&RUNTIME) {
        return Some(RUNTIME_SIZE);
    }
    let bytes = |number: i32, count: i64| numbers::DATA_TYPE.value(number)?.bytes(usize::try_from(count).ok()?);
    match (sparse.encoding, index) {
        (encoding::PACKED, _) if !blocked => Some(0),
        (encoding::PACKED, _) => tensor(record, "memory_desc").ok()?.buffer_bytes(index),
        (_, 0) => bytes(record.data_type, sparse.nnz),
        (encoding::CSR, 2) => bytes(sparse.metadata_types[1], dims[0].checked_add(1)?),
        _ => bytes(sparse.metadata_types[0], sparse.nnz),
    }
}

/// Bytes of buffer `index` as the interface counts them: of strides and blocks with the gap after the last row and without the bytes
/// before the first element.
pub fn buffer_bytes(tensor: &Tensor, index: usize) -> usize {
    if index >= tensor.buffers() {
        return 0;
    }
    match tensor.blocking() {
        Some(_) if tensor.is_empty() => 0,
        Some(_) if tensor.layout.has_runtime() => RUNTIME_SIZE,
        Some(b) => blocked_bytes(b, tensor.dtype).unwrap_or(0),
        None => tensor.buffer_bytes(index).unwrap_or(0),
    }
}

/// Bytes of a tensor of strides and blocks, with all sizes given and nothing after its data, as [`blocked_bytes`] counts them, directly
/// from its record. `None` for others. Programs ask for the size of every descriptor that they make.
fn plain_bytes(record: &MemoryDesc) -> Option<usize> {
    let n = usize::try_from(record.ndims).ok().filter(|n| *n <= record.dims.len())?;
    let b = record.blocked();
    let blocks = usize::try_from(b.inner_nblks).ok().filter(|count| *count <= b.inner_blks.len() && record.extra.flags == 0)?;
    let (mut inner, mut volume) = ([1i64; 12], 1i64);
    for (&dim, &size) in b.inner_idxs[..blocks].iter().zip(&b.inner_blks) {
        let inner = inner[..n].get_mut(usize::try_from(dim).ok()?)?;
        *inner = inner.checked_mul(size).filter(|inner| *inner > 0)?;
        volume = volume.checked_mul(size)?;
    }
    let numbers = || record.padded_dims[..n].iter().zip(&b.strides[..n]).zip(&inner);
    if record.dims[..n].iter().chain(&record.padded_dims[..n]).any(|&size| size <= 0)
        || b.strides[..n].contains(&RUNTIME)
        || record.offset0 == RUNTIME
    {
        return None;
    }
    let mut ways = numbers().map(|((&padded, &stride), &inner)| match padded / inner {
        count @ 0..=1 => Some(count * volume),
        count => count.checked_mul(stride),
    });
    let most = ways.try_fold(0, |most: i64, way| Some(most.max(way?)))?;
    data_type(record.data_type, "memory_desc").ok()?.bytes(usize::try_from(most).ok()?)
}

/// Bytes of the data, and of the sums after it, which begin at a multiple of 4. The data are as many elements as the dimension with the longest way
/// has, the gap after its last element included.
fn blocked_bytes(b: &Blocking, dtype: DataType) -> Option<usize> {
    let mut most = 0;
    for (d, (&padded, &stride)) in b.padded_dims.iter().zip(b.strides.iter()).enumerate() {
        most = most.max(match padded / b.inner.of(d) {
            count @ 0..=1 => count * b.inner.volume(),
            count => count.checked_mul(stride)?,
        });
    }
    let data = dtype.bytes(usize::try_from(most).ok()?)?;
    let Some(c) = b.compensation else { return Some(data) };
    let sums = |mask: Option<u32>| {
        let Some(mask) = mask else { return Some(0) };
        let dims = b.padded_dims.iter().enumerate().filter(|(d, _)| mask >> d & 1 == 1);
        let count = dims.map(|(_, &n)| n).try_fold(1i64, i64::checked_mul).filter(|n| *n != RUNTIME)?;
        DataType::S32.bytes(usize::try_from(count).ok()?)
    };
    data.next_multiple_of(4).checked_add(sums(c.s8s8_mask)?)?.checked_add(sums(c.zero_point_mask)?)
}

/// The queries.
mod what {
    pub(super) const NDIMS: i32 = 256;
    pub(super) const DIMS: i32 = 257;
    pub(super) const DATA_TYPE: i32 = 258;
    pub(super) const SUBMEMORY_OFFSET: i32 = 259;
    pub(super) const PADDED_DIMS: i32 = 260;
    pub(super) const PADDED_OFFSETS: i32 = 261;
    pub(super) const FORMAT_KIND: i32 = 262;
    pub(super) const INNER_NBLKS: i32 = 263;
    pub(super) const INNER_BLKS: i32 = 264;
    pub(super) const INNER_IDXS: i32 = 265;
    pub(super) const SPARSE_ENCODING: i32 = 266;
    pub(super) const NNZ: i32 = 267;
    pub(super) const NUM_HANDLES: i32 = 268;
    pub(super) const STRIDES: i32 = 14;
}

/// `dnnl_memory_desc_query`, which does not support sparse encodings.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_memory_desc_query(desc: In<'_, MemoryDesc>, query: i32, result: Data) -> Status {
    guard("dnnl_memory_desc_query", || match query {
        what::SPARSE_ENCODING | what::NNZ | what::NUM_HANDLES => Err(unknown(query)),
        _ => answer(desc.get("memory_desc")?, query, 0, result),
    })
}

fn unknown(query: i32) -> Failure {
    Failure::unimplemented(format_args!("query {query} of a memory descriptor"))
}

/// `dnnl_memory_desc_query_v2`: for one buffer.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_memory_desc_query_v2(desc: In<'_, MemoryDesc>, query: i32, index: i32, result: Data) -> Status {
    guard("dnnl_memory_desc_query_v2", || {
        let desc = desc.get("memory_desc")?;
        if index > 0 && query != what::DATA_TYPE {
            return Err(Failure::invalid("index", index, "0, but for the query of a data type"));
        }
        answer(desc, query, index, result)
    })
}

fn answer(d: &MemoryDesc, query: i32, index: i32, result: Data) -> Result<(), Failure> {
    let blocked = || match d.format_kind {
        format_kind::BLOCKED => Ok(d.blocked()),
        kind => Err(Failure::invalid("what", format_args!("a query for strides and blocks, format kind {kind}"), "format kind 2, blocked")),
    };
    let sparse = || match d.format_kind {
        format_kind::SPARSE => Ok(&d.format),
        kind => Err(Failure::invalid("what", format_args!("a query for an encoding, format kind {kind}"), "format kind 4, sparse")),
    };
    let set_address = |dims: &[i64; 12]| result.set::<*const i64>("result", dims.as_ptr());
    match query {
        what::NDIMS => result.set("result", d.ndims),
        what::DIMS => set_address(&d.dims),
        what::DATA_TYPE => result.set("result", type_of(d, index)?),
        what::SUBMEMORY_OFFSET => result.set("result", d.offset0),
        what::PADDED_DIMS => set_address(&d.padded_dims),
        what::PADDED_OFFSETS => set_address(&d.padded_offsets),
        what::FORMAT_KIND => result.set("result", d.format_kind),
        what::STRIDES => set_address(&blocked()?.strides),
        what::INNER_NBLKS => result.set("result", blocked()?.inner_nblks),
        what::INNER_BLKS => set_address(&blocked()?.inner_blks),
        what::INNER_IDXS => set_address(&blocked()?.inner_idxs),
        what::SPARSE_ENCODING => result.set("result", sparse()?.encoding),
        what::NNZ => result.set("result", sparse()?.nnz),
        what::NUM_HANDLES => result.set("result", buffers(d)),
        _ => Err(unknown(query)),
    }
}

/// The data type of one buffer: of values, or of an index array.
fn type_of(d: &MemoryDesc, index: i32) -> Result<i32, Failure> {
    match (index, d.format_kind, d.format.encoding) {
        (0, ..) => Ok(d.data_type),
        (1.., format_kind::SPARSE, encoding::CSR) if index < buffers(d) => Ok(d.format.metadata_types[index as usize - 1]),
        (1.., format_kind::SPARSE, _) if index < buffers(d) => Ok(d.format.metadata_types[0]),
        _ => Err(Failure::invalid("index", index, format_args!("0 to {}", buffers(d) - 1))),
    }
}

/// Number of buffers of a tensor's memory.
fn buffers(d: &MemoryDesc) -> i32 {
    match (d.format_kind, d.format.encoding) {
        (format_kind::SPARSE, encoding::COO) => d.ndims + 1,
        (format_kind::SPARSE, _) => 3,
        _ => 1,
    }
}

//! Memory descriptors: the record that clients see, and the tensor that it describes.
//!
//! A handle points to a [`MemoryDesc`], which clients read and write, so it is read at each use: [`tensor`] checks it and converts it to a tensor,
//! [`record`] does the reverse. A primitive's own descriptors are records that the primitive descriptor owns.

pub mod create;
pub mod derive;
pub mod query;
#[cfg(test)]
mod tests;

use crate::handle::{Handle, In, New, Owned};
use crate::status::{Failure, Status, guard};
use oxidnn_c_common::numbers;
pub use oxidnn_c_common::records::MemoryDesc;
use oxidnn_c_common::records::{Blocked, DimsArray, Extra, Sparse as SparseRecord, encoding, extra_flags, format_kind};
use oxidnn_runtime::fork;
use oxidnn_spec::{Blocking, Blocks, Compensation, DataType, Dims, Format, Layout, MAX_NDIMS, Packed, Real, Sparse, Tensor};
use std::sync::{Arc, Mutex};

impl Owned for MemoryDesc {}

impl In<'_, MemoryDesc> {
    /// The tensor described.
    ///
    /// # Errors
    /// `invalid_arguments` for a null pointer, the empty descriptor, and an invalid record.
    pub fn tensor(&self, name: &str) -> Result<Tensor, Failure> {
        self.get(name)?;
        self.optional_tensor(name)?.ok_or_else(|| Failure::invalid(name, "the descriptor of nothing", "a tensor's"))
    }

    /// The tensor described, `None` for a null pointer and the empty descriptor.
    ///
    /// # Errors
    /// `invalid_arguments` for an invalid record.
    pub fn optional_tensor(&self, name: &str) -> Result<Option<Tensor>, Failure> {
        match self.optional() {
            Some(record) if record.ndims != 0 => tensor(record, name).map(Some),
            _ => Ok(None),
        }
    }
}

/// The record of a tensor.
pub fn record(tensor: &Tensor) -> MemoryDesc {
    let dims = padded(tensor.dims());
    let mut record = MemoryDesc {
        ndims: tensor.dims().len() as i32,
        dims,
        padded_dims: dims,
        data_type: numbers::DATA_TYPE.of(tensor.dtype),
        ..MemoryDesc::ZERO
    };
    match &tensor.layout.format {
        Format::Any => record.format_kind = format_kind::ANY,
        Format::HostScalar => record.format_kind = format_kind::HOST_SCALAR,
        Format::Blocked(b) => {
            record.padded_dims = padded(&b.padded_dims);
            record.padded_offsets = padded(&b.padded_offsets);
            record.offset0 = b.offset;
            record.extra = b.compensation.map_or(record.extra, extra);
            record.set_blocked(blocked(b));
        }
        Format::Packed(p) => {
            record.format_kind = format_kind::OPAQUE;
            let head = [name_index(p.name), p.bytes as i64, p.params.len() as i64];
            record.set_words(&[&head[..], &p.params].concat());
        }
        Format::Sparse(s) => (record.format_kind, record.format) = (format_kind::SPARSE, sparse(s)),
    }
    record
}

/// The tensor of a record; `name` is for messages.
///
/// # Errors
/// `invalid_arguments` if the record is invalid.
pub fn tensor(record: &MemoryDesc, name: &str) -> Result<Tensor, Failure> {
    let dims = to_dims(&record.dims, record.ndims, name)?;
    let dtype = data_type(record.data_type, name)?;
    let format = match record.format_kind {
        format_kind::ANY => Format::Any,
        format_kind::HOST_SCALAR => Format::HostScalar,
        format_kind::BLOCKED => {
            let mut b = to_blocking(record.blocked(), record.ndims, name)?;
            b.padded_dims = to_dims(&record.padded_dims, record.ndims, name)?;
            b.padded_offsets = to_dims(&record.padded_offsets, record.ndims, name)?;
            b.offset = record.offset0;
            b.compensation = to_compensation(&record.extra);
            b.into()
        }
        format_kind::OPAQUE => Format::Packed(Arc::new(to_packed(record.words(), name)?)),
        format_kind::SPARSE => Format::Sparse(to_sparse(record, &dims, name)?),
        kind => return Err(Failure::invalid(name, format_args!("format kind {kind}"), "one of 1 to 5")),
    };
    let tensor = Tensor { dtype, layout: Layout { dims, format } };
    tensor.layout.check().map_err(|e| e.within(name))?;
    Ok(tensor)
}

/// The type of the enumerator `number`, if tensors of the interface may have it; `name` is for messages.
///
/// # Errors
/// `invalid_arguments` if there is no such type.
pub fn data_type(number: i32, name: &str) -> Result<DataType, Failure> {
    let known = numbers::DATA_TYPE.value(number).filter(|t| !matches!(t, DataType::Boolean | DataType::F4E3m0));
    known.ok_or_else(|| Failure::invalid(name, format_args!("data type {number}"), "the number of a tensor's data type"))
}

/// The first `ndims` elements.
fn to_dims(numbers: &DimsArray, ndims: i32, name: &str) -> Result<Dims, Failure> {
    let n = usize::try_from(ndims).ok().filter(|n| (1..=MAX_NDIMS).contains(n));
    let dims = n.and_then(|n| Dims::new(&numbers[..n]));
    dims.ok_or_else(|| Failure::invalid(name, format_args!("{ndims} dimensions"), "1 to 12"))
}

fn padded(dims: &Dims) -> DimsArray {
    let mut all = [0; MAX_NDIMS];
    all[..dims.len()].copy_from_slice(dims);
    all
}

fn blocked(b: &Blocking) -> Blocked {
    let (mut inner_blks, mut inner_idxs) = ([0; MAX_NDIMS], [0; MAX_NDIMS]);
    for (i, (dim, size)) in b.inner.iter().enumerate() {
        (inner_blks[i], inner_idxs[i]) = (size, dim as i64);
    }
    Blocked { strides: padded(&b.strides), inner_nblks: b.inner.len() as i32, gap: 0, inner_blks, inner_idxs }
}

/// Strides and blocks; other fields of the record are not set.
fn to_blocking(b: &Blocked, ndims: i32, name: &str) -> Result<Blocking, Failure> {
    let strides = to_dims(&b.strides, ndims, name)?;
    let bad = || Failure::invalid(name, format_args!("{} inner blocks", b.inner_nblks), "at most 12, of the tensor's dimensions");
    let count = usize::try_from(b.inner_nblks).ok().filter(|n| *n <= MAX_NDIMS).ok_or_else(bad)?;
    let mut inner = Blocks::default();
    for (&dim, &size) in b.inner_idxs[..count].iter().zip(&b.inner_blks) {
        inner.push(usize::try_from(dim).ok().filter(|d| *d < strides.len()).ok_or_else(bad)?, size);
    }
    let zero = Dims::filled(strides.len(), 0);
    Ok(Blocking { padded_dims: zero, padded_offsets: zero, offset: 0, strides, inner, compensation: None })
}

fn extra(c: Compensation) -> Extra {
    let flag = |on: bool, bit: u64| if on { bit } else { 0 };
    let mask = |m: Option<u32>| m.unwrap_or(0) as i32;
    Extra {
        flags: flag(c.s8s8_mask.is_some(), extra_flags::S8S8)
            | flag(c.scale_adjust.is_some(), extra_flags::SCALE_ADJUST)
            | flag(c.zero_point_mask.is_some(), extra_flags::ASYMMETRIC_SRC),
        compensation_mask: mask(c.s8s8_mask),
        scale_adjust: c.scale_adjust.map_or(0, |s| s.get().to_bits()),
        asymm_compensation_mask: mask(c.zero_point_mask),
        ..MemoryDesc::ZERO.extra
    }
}

fn to_compensation(e: &Extra) -> Option<Compensation> {
    let on = |bit: u64| e.flags & bit != 0;
    let c = Compensation {
        s8s8_mask: on(extra_flags::S8S8).then_some(e.compensation_mask as u32),
        zero_point_mask: on(extra_flags::ASYMMETRIC_SRC).then_some(e.asymm_compensation_mask as u32),
        scale_adjust: on(extra_flags::SCALE_ADJUST).then_some(Real::new(f32::from_bits(e.scale_adjust))),
    };
    (c != Compensation::default()).then_some(c)
}

fn sparse(s: &Sparse) -> SparseRecord {
    let s32 = numbers::DATA_TYPE.of(DataType::S32);
    let (encoding, metadata_types, packed) = match s {
        Sparse::Csr { .. } => (encoding::CSR, [s32, s32], Blocked::ZERO),
        Sparse::Coo { .. } => (encoding::COO, [s32, 0], Blocked::ZERO),
        Sparse::Packed { blocking, .. } => (encoding::PACKED, [0, 0], blocking.as_deref().map_or(Blocked::ZERO, blocked)),
    };
    SparseRecord { encoding, gap: 0, nnz: s.nnz(), metadata_types, packed }
}

fn to_sparse(record: &MemoryDesc, dims: &Dims, name: &str) -> Result<Sparse, Failure> {
    let s = &record.format;
    let nnz = s.nnz;
    let s32 = numbers::DATA_TYPE.of(DataType::S32);
    if s.metadata_types.iter().any(|&t| t != 0 && t != s32) {
        return Err(Failure::unimplemented(format_args!("{name}: index arrays of other types than s32")));
    }
    Ok(match s.encoding {
        encoding::CSR => Sparse::Csr { nnz },
        encoding::COO => Sparse::Coo { nnz },
        encoding::PACKED if s.packed.strides[..dims.len()].iter().all(|&v| v == 0) => Sparse::Packed { nnz, blocking: None },
        encoding::PACKED => {
            let mut b = to_blocking(&s.packed, record.ndims, name)?;
            let up = |d: usize| {
                let block = b.inner.of(d).max(1);
                dims[d].checked_add(block - 1).map_or(dims[d], |end| end / block * block)
            };
            b.padded_dims = Dims::from_fn(dims.len(), up);
            Sparse::Packed { nnz, blocking: Some(Arc::new(b)) }
        }
        other => return Err(Failure::invalid(name, format_args!("sparse encoding {other}"), "1 (CSR), 2 (packed) or 3 (COO)")),
    })
}

/// Names of implementations' own formats, which records give by their index.
static NAMES: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());

fn name_index(name: &'static str) -> i64 {
    let mut names = fork::lock(&NAMES);
    let index = names.iter().position(|n| *n == name).unwrap_or_else(|| {
        names.push(name);
        names.len() - 1
    });
    index as i64
}

fn to_packed(words: &[i64], name: &str) -> Result<Packed, Failure> {
    let names = fork::lock(&NAMES);
    let format = |index: i64, bytes: i64, count: i64| {
        let params = words.get(3..3 + usize::try_from(count).ok().filter(|c| *c <= MAX_NDIMS)?)?;
        let name = *names.get(usize::try_from(index).ok()?)?;
        Some(Packed { name, bytes: usize::try_from(bytes).ok()?, params: Dims::new(params)? })
    };
    let found = words.first_chunk().and_then(|&[index, bytes, count]| format(index, bytes, count));
    found.ok_or_else(|| Failure::invalid(name, "an opaque format that this process did not make", "one of a primitive of this process"))
}

/// `dnnl_memory_desc_destroy`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_memory_desc_destroy(desc: Handle<MemoryDesc>) -> Status {
    guard("dnnl_memory_desc_destroy", || {
        desc.destroy();
        Ok(())
    })
}

/// `dnnl_memory_desc_clone`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_memory_desc_clone(desc: New<'_, MemoryDesc>, existing: In<'_, MemoryDesc>) -> Status {
    guard("dnnl_memory_desc_clone", || desc.own("memory_desc", *existing.get("existing_memory_desc")?))
}

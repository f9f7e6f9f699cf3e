//! Derived descriptors: submemory, reshape, permuted axes; equality.

use super::{MemoryDesc, create::dims, record, tensor};
use crate::handle::{Array, In, New};
use crate::status::{Failure, Status, guard, guard_value};
use oxidnn_c_common::records::format_kind;
use oxidnn_spec::{Layout, Tensor};

/// The record of the tensor of `desc` with its layout changed by `change`.
fn changed(desc: In<'_, MemoryDesc>, change: impl FnOnce(&Layout) -> Result<Layout, Failure>) -> Result<MemoryDesc, Failure> {
    let Tensor { dtype, layout } = desc.tensor("parent_memory_desc")?;
    Ok(record(&Tensor { dtype, layout: change(&layout)? }))
}

/// `dnnl_memory_desc_create_submemory`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_memory_desc_create_submemory(
    desc: New<'_, MemoryDesc>,
    parent: In<'_, MemoryDesc>,
    sizes: Array<'_, i64>,
    offsets: Array<'_, i64>,
) -> Status {
    guard("dnnl_memory_desc_create_submemory", || {
        desc.check("memory_desc")?;
        let ndims = parent.get("parent_memory_desc")?.ndims;
        if ndims == 0 {
            return Err(Failure::unimplemented("a part of nothing"));
        }
        let (sizes, offsets) = (dims(sizes, ndims, "dims")?, dims(offsets, ndims, "offsets")?);
        desc.own("memory_desc", changed(parent, |l| Ok(l.submemory(&sizes, &offsets)?))?)
    })
}

/// `dnnl_memory_desc_reshape`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_memory_desc_reshape(
    desc: New<'_, MemoryDesc>,
    existing: In<'_, MemoryDesc>,
    ndims: i32,
    sizes: Array<'_, i64>,
) -> Status {
    guard("dnnl_memory_desc_reshape", || {
        desc.check("memory_desc")?;
        let sizes = dims(sizes, ndims, "dims")?;
        desc.own("memory_desc", changed(existing, |l| Ok(l.reshape(&sizes)?))?)
    })
}

/// `dnnl_memory_desc_permute_axes`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_memory_desc_permute_axes(
    desc: New<'_, MemoryDesc>,
    existing: In<'_, MemoryDesc>,
    permutation: Array<'_, i32>,
) -> Status {
    guard("dnnl_memory_desc_permute_axes", || {
        desc.check("memory_desc")?;
        let permute = |l: &Layout| {
            if l.has_runtime() {
                return Err(Failure::invalid("existing_memory_desc", l.dims, "sizes and strides known now"));
            }
            let places = permutation.slice("permutation", l.ndims())?;
            let places = places.iter().map(|&p| usize::try_from(p)).collect::<Result<Vec<_>, _>>();
            Ok(l.permute(&places.map_err(|_| Failure::invalid("permutation", "a negative number", "numbers of dimensions"))?)?)
        };
        desc.own("memory_desc", changed(existing, permute)?)
    })
}

/// `dnnl_memory_desc_equal`: 1 if both describe the same tensor.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_memory_desc_equal(left: In<'_, MemoryDesc>, right: In<'_, MemoryDesc>) -> i32 {
    guard_value("dnnl_memory_desc_equal", 0, || {
        Ok(i32::from(match (left.optional(), right.optional()) {
            (Some(left), Some(right)) => equal(left, right),
            (left, right) => left.is_none() && right.is_none(),
        }))
    })
}

/// Whether both describe the same tensor, or are both empty. Strides of dimensions whose size and padded size are 1 do not count.
pub fn equal(left: &MemoryDesc, right: &MemoryDesc) -> bool {
    if left == right || left.ndims == 0 && right.ndims == 0 {
        return true;
    }
    may_be_equal(left, right) && matches!((tensor(left, "lhs"), tensor(right, "rhs")), (Ok(l), Ok(r)) if l == r)
}

/// False if the plain fields already differ.
fn may_be_equal(left: &MemoryDesc, right: &MemoryDesc) -> bool {
    let n = usize::try_from(left.ndims).unwrap_or(0).min(left.dims.len());
    let head = |d: &MemoryDesc| (d.ndims, d.data_type, d.format_kind, d.offset0);
    if head(left) != head(right) || left.dims[..n] != right.dims[..n] || left.padded_dims[..n] != right.padded_dims[..n] {
        return false;
    }
    let counts = |(d, (l, r)): (usize, (&i64, &i64))| l != r && left.padded_dims[d] != 1;
    let strides = || left.blocked().strides[..n].iter().zip(&right.blocked().strides).enumerate();
    left.format_kind != format_kind::BLOCKED || !strides().any(counts)
}

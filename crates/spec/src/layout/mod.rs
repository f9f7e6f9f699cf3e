//! The places of a tensor's elements in memory.
//!
//! [`Layout`] is the specification's memory descriptor without the data type: logical dimensions and a
//! [`Format`]. Nearly all layouts are [`Blocking`]s: strides for the outer position of every dimension plus a
//! list of inner blocks, so that `aBcd16b` is strides over `a, b/16, c, d` and one inner block of 16 `b`.

mod algebra;
mod build;
mod follow;
mod nest;
mod tag;
#[cfg(test)]
mod tests;
mod transform;

pub use nest::{Loop, Nest};
pub use tag::TagError;

use crate::{DataType, Dims, Error, MAX_NDIMS, RUNTIME, dims};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Logical dimensions and how their elements are placed.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Layout {
    /// Logical sizes; 0 is legal (an empty tensor), [`RUNTIME`] means "given at execution".
    pub dims: Dims,
    /// The placement.
    pub format: Format,
}

/// The kinds of placement. Large ones are shared by the copies of a layout, so that descriptions are small and quick to copy, to hash and to
/// compare; [`Layout::blocking_mut`] changes one copy.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Format {
    /// The implementation chooses when the primitive descriptor is made.
    Any,
    /// Strides and inner blocks.
    Blocked(Arc<Blocking>),
    /// Known only to the implementation that made it; `bytes` large.
    Packed(Arc<Packed>),
    /// Values and index arrays.
    Sparse(Sparse),
    /// One number that lives on the host.
    HostScalar,
}

/// Strides and inner blocks. All lists but `inner` have one entry a dimension.
#[derive(Clone, Debug)]
pub struct Blocking {
    /// Sizes with padding: at least the logical ones; multiples of the inner blocks, except in a part of a block made by
    /// [`Layout::submemory`].
    pub padded_dims: Dims,
    /// Where the logical tensor begins within the padded one (0 in practice).
    pub padded_offsets: Dims,
    /// Elements before the first one.
    pub offset: i64,
    /// Distance in elements from one outer block of a dimension to the next.
    pub strides: Dims,
    /// Inner blocks, outermost first.
    pub inner: Blocks,
    /// Buffers of int32 sums behind the data of quantised weights.
    pub compensation: Option<Compensation>,
}

/// A list of inner blocks `(dimension, size)`, outermost first.
#[derive(Clone, Copy, Eq, Default, Debug)]
pub struct Blocks {
    len: u8,
    dims: [u8; MAX_NDIMS],
    sizes: [i64; MAX_NDIMS],
}

/// Of the blocks that are there: most layouts have none.
impl PartialEq for Blocks {
    fn eq(&self, o: &Blocks) -> bool {
        self.len == o.len && self.iter().eq(o.iter())
    }
}

/// As equality.
impl Hash for Blocks {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.len.hash(state);
        self.iter().for_each(|block| block.hash(state));
    }
}

/// int32 sums that a reorder appends to int8 weights, for kernels that multiply unsigned by signed bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Compensation {
    /// Sums for shifting an s8 source by 128: mask over the dims of the sums.
    pub s8s8_mask: Option<u32>,
    /// Sums for an asymmetric source: mask over the dims of the sums.
    pub zero_point_mask: Option<u32>,
    /// Factor that the weights were multiplied with (0.5 on processors without VNNI), if any.
    pub scale_adjust: Option<crate::Real>,
}

/// An implementation's own format.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Packed {
    /// Which packing: the same name and size mean the same format.
    pub name: &'static str,
    /// Size of the buffer.
    pub bytes: usize,
    /// Parameters of the packing.
    pub params: Dims,
}

/// Sparse encodings.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Sparse {
    /// Compressed rows: values, column indices, row pointers (both index arrays s32).
    Csr {
        /// Number of stored values.
        nnz: i64,
    },
    /// Coordinates: values, then one s32 index array a dimension.
    Coo {
        /// Number of stored values.
        nnz: i64,
    },
    /// A bit mask and packed values, made by a reorder.
    Packed {
        /// Number of stored values.
        nnz: i64,
        /// Blocking of the dense tensor behind the mask, chosen by the implementation.
        blocking: Option<Arc<Blocking>>,
    },
}

impl Sparse {
    /// Number of stored values.
    pub fn nnz(&self) -> i64 {
        match self {
            Sparse::Csr { nnz } | Sparse::Coo { nnz } | Sparse::Packed { nnz, .. } => *nnz,
        }
    }
}

impl From<Blocking> for Format {
    fn from(b: Blocking) -> Format {
        Format::Blocked(Arc::new(b))
    }
}

impl Blocks {
    /// Appends a block of `size` elements of dimension `dim` inside the present ones.
    ///
    /// # Panics
    /// When 12 blocks are there already.
    pub fn push(&mut self, dim: usize, size: i64) {
        self.dims[self.len as usize] = dim as u8;
        self.sizes[self.len as usize] = size;
        self.len += 1;
    }
    /// The blocks `(dimension, size)`, outermost first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (usize, i64)> + ExactSizeIterator + '_ {
        (0..self.len as usize).map(|i| (self.dims[i] as usize, self.sizes[i]))
    }
    /// Number of blocks.
    #[inline]
    pub fn len(&self) -> usize {
        self.len as usize
    }
    /// True when there are none: a plain layout.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// Product of the sizes of all blocks of `dim`.
    pub fn of(&self, dim: usize) -> i64 {
        self.iter().filter(|b| b.0 == dim).map(|b| b.1).product()
    }
    /// Product of all sizes.
    pub fn volume(&self) -> i64 {
        self.iter().map(|b| b.1).product()
    }
}

/// Strides of dimensions whose size and padded size are 1 do not count.
impl PartialEq for Blocking {
    fn eq(&self, o: &Blocking) -> bool {
        let Blocking { padded_dims, padded_offsets, offset, strides, inner, compensation } = self;
        *padded_dims == o.padded_dims
            && *padded_offsets == o.padded_offsets
            && *offset == o.offset
            && *inner == o.inner
            && *compensation == o.compensation
            && strides.len() == o.strides.len()
            && strides.iter().zip(o.strides.iter()).zip(padded_dims.iter()).all(|((a, b), &d)| a == b || d == 1)
    }
}
impl Eq for Blocking {}

/// Agrees with equality: strides that do not count are hashed as 0, offsets of padding, which are 0 in practice, not at all.
impl Hash for Blocking {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Blocking { padded_dims, padded_offsets: _, offset, strides, inner, compensation } = self;
        (padded_dims, offset, inner, compensation).hash(state);
        let counted = strides.iter().zip(padded_dims.iter()).map(|(s, d)| if *d == 1 { 0 } else { *s });
        dims::hash_pairs(counted, state);
    }
}

impl Blocking {
    /// Element offset of the logical position `pos` (no bounds are checked here).
    #[inline]
    pub fn offset_of(&self, pos: &[i64]) -> i64 {
        let mut off = self.offset;
        if self.inner.is_empty() {
            for (p, s) in pos.iter().zip(self.strides.iter()) {
                off += p * s;
            }
            return off;
        }
        let mut outer = [0i64; MAX_NDIMS];
        outer[..pos.len()].copy_from_slice(pos);
        for (o, po) in outer.iter_mut().zip(self.padded_offsets.iter()) {
            *o += po;
        }
        let mut stride = 1;
        for (d, size) in self.inner.iter().rev() {
            off += outer[d] % size * stride;
            outer[d] /= size;
            stride *= size;
        }
        for (o, s) in outer.iter().zip(self.strides.iter()) {
            off += o * s;
        }
        off
    }

    /// What padded position `p` of dimension `d` adds to an element offset: an offset is a sum of one term a dimension, since inner blocks
    /// split one dimension each.
    pub fn term(&self, d: usize, mut p: i64) -> i64 {
        let (mut term, mut stride) = (0, 1);
        for (e, size) in self.inner.iter().rev() {
            if e == d {
                term += p % size * stride;
                p /= size;
            }
            stride *= size;
        }
        term + p * self.strides[d]
    }

    /// True if there are no inner blocks.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.inner.is_empty()
    }
}

impl Layout {
    /// A layout that the implementation may choose.
    pub fn any(dims: impl Into<Dims>) -> Layout {
        Layout { dims: dims.into(), format: Format::Any }
    }

    /// One number on the host: one dimension of size 1.
    pub const fn host_scalar() -> Layout {
        Layout { dims: Dims::ONE, format: Format::HostScalar }
    }

    /// The blocking, where the layout is one.
    #[inline]
    pub fn blocking(&self) -> Option<&Blocking> {
        match &self.format {
            Format::Blocked(b) => Some(b),
            _ => None,
        }
    }

    /// The blocking, where the layout is one, to change it in this copy of the layout.
    pub fn blocking_mut(&mut self) -> Option<&mut Blocking> {
        match &mut self.format {
            Format::Blocked(b) => Some(Arc::make_mut(b)),
            _ => None,
        }
    }

    /// Number of dimensions.
    pub fn ndims(&self) -> usize {
        self.dims.len()
    }

    /// True where the format is [`Format::Any`].
    pub fn is_any(&self) -> bool {
        matches!(self.format, Format::Any)
    }

    /// True when a dimension, stride or offset is given only at execution.
    pub fn has_runtime(&self) -> bool {
        self.dims.has_runtime() || self.blocking().is_some_and(|b| b.strides.has_runtime() || b.offset == RUNTIME)
    }

    /// Number of logical elements; `None` with runtime dimensions or on overflow.
    pub fn elements(&self) -> Option<i64> {
        self.dims.volume()
    }
}

/// A tensor description: type and layout; the specification's memory descriptor.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Tensor {
    /// Type of the elements.
    pub dtype: DataType,
    /// Dimensions and placement.
    pub layout: Layout,
}

impl Tensor {
    /// A tensor whose layout the implementation chooses.
    pub fn any(dims: impl Into<Dims>, dtype: DataType) -> Tensor {
        Tensor { dtype, layout: Layout::any(dims) }
    }

    /// A row-major tensor.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] when a dimension is negative (and not [`RUNTIME`]) or the size overflows.
    pub fn plain(dims: impl Into<Dims>, dtype: DataType) -> Result<Tensor, Error> {
        Ok(Tensor { dtype, layout: Layout::plain(dims.into())? })
    }

    /// A tensor with the layout that `tag` names (`aBcd16b`, `nhwc`, `any`...).
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] when the tag is malformed or does not fit the dimensions.
    pub fn with_tag(dims: impl Into<Dims>, dtype: DataType, tag: &str) -> Result<Tensor, Error> {
        Ok(Tensor { dtype, layout: Layout::with_tag(dims.into(), tag)? })
    }

    /// One number on the host.
    pub const fn host_scalar(dtype: DataType) -> Tensor {
        Tensor { dtype, layout: Layout::host_scalar() }
    }

    /// Type and sizes, `f32 2x3x4` for example.
    pub fn summary(&self) -> String {
        format!("{} {}", self.dtype, self.dims())
    }

    /// The logical sizes.
    #[inline]
    pub fn dims(&self) -> &Dims {
        &self.layout.dims
    }

    /// The blocking, where the layout is one.
    pub fn blocking(&self) -> Option<&Blocking> {
        self.layout.blocking()
    }

    /// True where an empty dimension leaves no elements.
    pub fn is_empty(&self) -> bool {
        self.dims().contains(&0)
    }
}

//! Operations on layouts: sizes.

use super::{Format, Layout, Sparse, Tensor};
use crate::{DataType, RUNTIME};

impl Tensor {
    /// Bytes of buffer `index` that the tensor needs: 0 for `any` and empty tensors, `None` with runtime dimensions.
    /// A dense tensor has one buffer; CSR has values, indices, pointers; COO values and one index array a dimension.
    pub fn buffer_bytes(&self, index: usize) -> Option<usize> {
        match &self.layout.format {
            Format::Any => Some(0),
            Format::HostScalar => self.dtype.bytes(1),
            Format::Packed(p) => Some(p.bytes),
            Format::Blocked(b) if b.compensation.is_some() => self.compensation_at()?.checked_add(self.layout.compensation_bytes()?),
            Format::Blocked(_) => self.dtype.bytes(usize::try_from(self.layout.extent()?).ok()?),
            Format::Sparse(s) => self.sparse_bytes(s, index),
        }
    }

    /// The byte where the sums of a layout with [`Compensation`](super::Compensation) begin: the first multiple of 4 behind the data. `None` as for
    /// [`Layout::extent`].
    pub fn compensation_at(&self) -> Option<usize> {
        self.dtype.bytes(usize::try_from(self.layout.extent()?).ok()?)?.checked_next_multiple_of(4)
    }

    /// Bytes of the first buffer; 0 where [`Tensor::buffer_bytes`] does not know.
    pub fn bytes(&self) -> usize {
        self.buffer_bytes(0).unwrap_or(0)
    }

    /// Number of buffers: 1 for dense tensors, 3 for CSR, 1 + dims for COO, 3 for packed sparse.
    pub fn buffers(&self) -> usize {
        match &self.layout.format {
            Format::Sparse(Sparse::Csr { .. } | Sparse::Packed { .. }) => 3,
            Format::Sparse(Sparse::Coo { .. }) => 1 + self.dims().len(),
            _ => 1,
        }
    }

    fn sparse_bytes(&self, s: &Sparse, index: usize) -> Option<usize> {
        let nnz = usize::try_from(s.nnz()).ok()?;
        match (s, index) {
            (_, 0) => self.dtype.bytes(nnz),
            (Sparse::Csr { .. }, 2) => DataType::S32.bytes(usize::try_from(*self.dims().first()?).ok()?.checked_add(1)?),
            (Sparse::Packed { blocking, .. }, _) => {
                let dense = Format::Blocked(blocking.clone()?);
                let elements = usize::try_from(Layout { dims: *self.dims(), format: dense }.extent()?).ok()?;
                if index == 1 { Some(elements.div_ceil(8)) } else { DataType::S64.bytes(elements.div_ceil(64)) }
            }
            _ => DataType::S32.bytes(nnz),
        }
    }
}

impl Layout {
    /// Number of elements from the start of the buffer (the offset included) to the last element's end, padding included;
    /// 0 for an empty tensor, `None` with runtime dimensions or where the layout is not [`Format::Blocked`].
    pub fn extent(&self) -> Option<i64> {
        let b = self.blocking()?;
        if self.has_runtime() {
            return None;
        }
        if self.dims.contains(&0) {
            return Some(0);
        }
        let (mut last, is_plain) = (b.inner.volume() - 1, b.is_plain());
        for d in 0..self.dims.len() {
            let beyond_first = if is_plain { b.padded_dims[d] - 1 } else { (b.padded_dims[d] - 1) / b.inner.of(d) };
            last = last.checked_add(beyond_first.checked_mul(b.strides[d])?)?;
        }
        b.offset.checked_add(last)?.checked_add(1)
    }

    /// Bytes of the sums behind the data.
    fn compensation_bytes(&self) -> Option<usize> {
        let Some((b, c)) = self.blocking().and_then(|b| Some((b, b.compensation?))) else {
            return Some(0);
        };
        let one = |mask: Option<u32>| -> Option<usize> {
            let Some(mask) = mask else { return Some(0) };
            let dims = b.padded_dims.iter().enumerate().filter(|(d, _)| mask >> d & 1 == 1);
            let n = dims.map(|(_, &v)| v).try_fold(1i64, |a, v| if v == RUNTIME { None } else { a.checked_mul(v) })?;
            DataType::S32.bytes(usize::try_from(n).ok()?)
        };
        one(c.s8s8_mask)?.checked_add(one(c.zero_point_mask)?)
    }
}

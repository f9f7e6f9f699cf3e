//! Making layouts from strides and encodings, and the check that every layout of a problem passes.

use super::{Blocking, Blocks, Format, Layout, Packed, Sparse, Tensor};
use crate::{DataType, Dims, Error, MAX_NDIMS, RUNTIME};

/// Sizes of descriptions stay below this, so that sums and byte counts of them cannot overflow.
pub(super) const LARGEST: i64 = i64::MAX / 16;

fn check_dims(dims: &Dims) -> Result<(), Error> {
    if dims.is_empty() {
        return Err(Error::invalid("dims", "none", format_args!("1 to {MAX_NDIMS} dimensions")));
    }
    match dims.iter().find(|&&d| d < 0 && d != RUNTIME || d > LARGEST) {
        Some(_) => Err(Error::invalid("dims", dims, "sizes from 0 to 2^59 (or the runtime value)")),
        None => Ok(()),
    }
}

impl Tensor {
    /// A tensor with a distance in elements from one index to the next for each dimension; row-major where `strides` is `None`.
    ///
    /// Stride 0 repeats elements; strides of dimensions of size 1 do not matter; sizes and strides may be [`RUNTIME`].
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] when the ranks differ, a size or stride is negative or too large, elements overlap, or a 4-bit type has an odd
    /// stride that is not the innermost.
    pub fn with_strides(dims: impl Into<Dims>, dtype: DataType, strides: Option<Dims>) -> Result<Tensor, Error> {
        let dims = dims.into();
        check_dims(&dims)?;
        let Some(strides) = strides else { return Tensor::plain(dims, dtype) };
        let bad = |expected: &str| Err(Error::invalid("strides", strides, expected));
        if strides.len() != dims.len() {
            return bad(&format!("{} strides", dims.len()));
        }
        if strides.iter().any(|&s| s < 0 && s != RUNTIME || s > LARGEST) {
            return bad("strides from 0 to 2^59 (or the runtime value)");
        }
        let known = !dims.contains(&0) && !dims.has_runtime() && !strides.has_runtime();
        if dtype.bits() == 4 && known && dims.iter().zip(strides.iter()).any(|(&d, &s)| d > 1 && s != RUNTIME && s > 1 && s % 2 == 1) {
            return bad("even strides but for the innermost dimension, for a 4-bit type");
        }
        let padded_offsets = Dims::filled(dims.len(), 0);
        let blocking = Blocking { padded_dims: dims, padded_offsets, offset: 0, strides, inner: Blocks::default(), compensation: None };
        if overlaps(&blocking) {
            return bad(&format!("no two elements of {dims} at one place"));
        }
        let tensor = Tensor { dtype, layout: Layout { dims, format: blocking.into() } };
        tensor.layout.check()?;
        Ok(tensor)
    }

    /// A sparse matrix of compressed rows: values of `dtype`, column indices and row pointers s32.
    ///
    /// # Errors
    /// [`Error::Unimplemented`] for another rank than 2, [`Error::InvalidArguments`] for other wrong sizes.
    pub fn csr(dims: impl Into<Dims>, dtype: DataType, nnz: i64) -> Result<Tensor, Error> {
        Tensor::sparse(dims.into(), dtype, Sparse::Csr { nnz }, 2)
    }

    /// A sparse vector or matrix of coordinates: values of `dtype`, one s32 index array a dimension.
    ///
    /// # Errors
    /// [`Error::Unimplemented`] for more than 2 dimensions, [`Error::InvalidArguments`] for other wrong sizes.
    pub fn coo(dims: impl Into<Dims>, dtype: DataType, nnz: i64) -> Result<Tensor, Error> {
        Tensor::sparse(dims.into(), dtype, Sparse::Coo { nnz }, 2)
    }

    /// A sparse tensor of a bit mask and packed values, whose blocking the implementation chooses.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] for wrong sizes.
    pub fn packed_sparse(dims: impl Into<Dims>, dtype: DataType, nnz: i64) -> Result<Tensor, Error> {
        Tensor::sparse(dims.into(), dtype, Sparse::Packed { nnz, blocking: None }, MAX_NDIMS)
    }

    fn sparse(dims: Dims, dtype: DataType, sparse: Sparse, max_ndims: usize) -> Result<Tensor, Error> {
        check_dims(&dims)?;
        if dims.len() > max_ndims || matches!(sparse, Sparse::Csr { .. }) && dims.len() != 2 {
            return Err(Error::unimplemented("sparse encoding", format_args!("{} dimensions, it has at most {max_ndims}", dims.len())));
        }
        let tensor = Tensor { dtype, layout: Layout { dims, format: Format::Sparse(sparse) } };
        tensor.layout.check()?;
        Ok(tensor)
    }

    /// A tensor in an implementation's own format.
    pub fn opaque(dims: impl Into<Dims>, dtype: DataType, packed: Packed) -> Tensor {
        Tensor { dtype, layout: Layout { dims: dims.into(), format: Format::Packed(packed.into()) } }
    }
}

/// True if two elements may share a place: a stride is smaller than the span of the dimensions inside it. Strides of 0 are taken to be
/// intended.
fn overlaps(b: &Blocking) -> bool {
    if b.padded_dims.contains(&0) || b.strides.has_runtime() || b.padded_dims.has_runtime() {
        return false;
    }
    let mut dims: Vec<(i64, i64)> = b.strides.iter().copied().zip(b.padded_dims.iter().copied()).filter(|&(s, d)| s > 0 && d > 1).collect();
    dims.sort_unstable();
    let mut span = 1i64;
    for (stride, size) in dims {
        if stride < span {
            return true;
        }
        span = stride.saturating_mul(size);
    }
    false
}

impl Layout {
    /// Checks that the lists agree with each other and that no size overflows; every tensor of a problem passes here.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] that says which number is wrong.
    pub fn check(&self) -> Result<(), Error> {
        check_dims(&self.dims)?;
        match &self.format {
            Format::Any if self.dims.has_runtime() => {
                Err(Error::invalid("dims", self.dims, "no runtime dimension where the layout is left to the implementation"))
            }
            Format::Any | Format::Packed(_) => self.check_volume(),
            Format::HostScalar if *self.dims != [1] => Err(Error::invalid("dims", self.dims, "1 for a host scalar")),
            Format::HostScalar => Ok(()),
            Format::Blocked(b) => self.check_blocking(b),
            Format::Sparse(s) => {
                self.check_volume()?;
                let most = self.dims.volume().unwrap_or(LARGEST);
                let packed = match s {
                    Sparse::Packed { blocking, .. } => blocking.as_ref(),
                    _ => None,
                };
                packed.map_or(Ok(()), |b| Layout { dims: self.dims, format: Format::Blocked(b.clone()) }.check())?;
                if (0..=most).contains(&s.nnz()) {
                    return Ok(());
                }
                Err(Error::invalid("nnz", s.nnz(), format_args!("0 to {most}")))
            }
        }
    }

    /// True when every list has one entry a dimension and every block is of a present one, their product in bounds.
    pub(crate) fn lists_agree(&self) -> bool {
        let n = self.dims.len();
        let sound = |b: &Blocking| {
            let volume = b.inner.iter().try_fold(1i64, |a, (d, s)| a.checked_mul(s).filter(|_| d < n && s > 0));
            [&b.padded_dims, &b.padded_offsets, &b.strides].iter().all(|l| l.len() == n) && volume.is_some_and(|v| v <= LARGEST)
        };
        n > 0 && self.blocking().is_none_or(sound)
    }

    /// That products of any sizes do not overflow, where others are 0, too, or come with executions.
    pub(super) fn check_volume(&self) -> Result<(), Error> {
        let padded = self.blocking().map(|b| ("padded_dims", &b.padded_dims));
        for (name, dims) in std::iter::once(("dims", &self.dims)).chain(padded) {
            if dims.iter().try_fold(1i64, |n, &d| n.checked_mul(d.max(1))).is_none_or(|n| n > LARGEST) {
                return Err(Error::invalid(name, dims, "at most 2^59 elements, with sizes of 1 in the place of 0"));
            }
        }
        Ok(())
    }

    fn check_blocking(&self, b: &Blocking) -> Result<(), Error> {
        let n = self.dims.len();
        for (name, list) in [("padded_dims", &b.padded_dims), ("padded_offsets", &b.padded_offsets), ("strides", &b.strides)] {
            if list.len() != n {
                return Err(Error::invalid(name, list, format_args!("{n} numbers")));
            }
        }
        let mut blocks = Dims::filled(n, 1);
        for (d, size) in b.inner.iter() {
            let product = if d < n && size >= 1 { blocks[d].checked_mul(size).filter(|&p| p <= LARGEST) } else { None };
            match product {
                Some(p) => blocks[d] = p,
                None => {
                    return Err(Error::invalid(
                        "inner blocks",
                        format_args!("{size} of dimension {d}"),
                        "sizes from 1 of present dimensions",
                    ));
                }
            }
        }
        if b.inner.iter().try_fold(1i64, |a, (_, s)| a.checked_mul(s)).is_none_or(|v| v > LARGEST) {
            return Err(Error::invalid("inner blocks", "a product that overflows", "at most 2^59 elements"));
        }
        for d in 0..n {
            let (dim, padded, before, stride) = (self.dims[d], b.padded_dims[d], b.padded_offsets[d], b.strides[d]);
            let fits = dim != RUNTIME && before >= 0 && padded <= LARGEST && dim.checked_add(before).is_some_and(|end| end <= padded);
            if !(fits || dim == RUNTIME && padded == RUNTIME && before == 0) {
                return Err(Error::invalid("padded_dims", b.padded_dims, format_args!("at least {}", self.dims)));
            }
            if !(0..=LARGEST).contains(&stride) && stride != RUNTIME {
                return Err(Error::invalid("strides", b.strides, "strides from 0 to 2^59 (or the runtime value)"));
            }
        }
        if !(0..=LARGEST).contains(&b.offset) && b.offset != RUNTIME {
            return Err(Error::invalid("offset", b.offset, "0 to 2^59"));
        }
        if !self.has_runtime() && self.extent().is_none_or(|e| e > LARGEST) {
            return Err(Error::invalid("strides", b.strides, "at most 2^59 elements from the first to the last"));
        }
        self.check_volume()
    }
}

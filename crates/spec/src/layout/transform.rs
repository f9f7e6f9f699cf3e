//! Views of a tensor: a part of it, the same elements in other dimensions, dimensions in another order.

use super::{Blocking, Blocks, Format, Layout};
use crate::{Dims, Error};

impl Layout {
    /// The layout of the part of `dims` elements that begins at `offsets`, in the same buffer.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] if the part is not inside; [`Error::Unimplemented`] for layouts that are not strides and blocks, runtime
    /// sizes, and parts that cut a block: an offset must be at the beginning of one, and a size that does not reach the end must be whole
    /// blocks or less than one.
    pub fn submemory(&self, dims: &[i64], offsets: &[i64]) -> Result<Layout, Error> {
        let n = self.ndims();
        if dims.len() != n || offsets.len() != n {
            return Err(Error::invalid(
                "submemory",
                format_args!("{} dims, {} offsets", dims.len(), offsets.len()),
                format_args!("{n} of each"),
            ));
        }
        let no = |why: &str| Err(Error::unimplemented("submemory", why));
        if self.has_runtime() {
            return no("runtime dimensions");
        }
        let fits = |d: usize| offsets[d].checked_add(dims[d]).is_some_and(|end| dims[d] >= 0 && offsets[d] >= 0 && end <= self.dims[d]);
        if let Some(d) = (0..n).find(|&d| !fits(d)) {
            let got = format_args!("{} from {} of dimension {d}", dims[d], offsets[d]);
            return Err(Error::invalid("submemory", got, format_args!("inside 0..{}", self.dims[d])));
        }
        let Some(b) = self.blocking() else { return no("a layout that is not strides and blocks") };
        let mut part = b.clone();
        for d in 0..n {
            let (size, start, block) = (dims[d], offsets[d], b.inner.of(d));
            if b.padded_offsets[d] != 0 || start % block != 0 {
                return no("a part that does not begin at a block");
            }
            let border = start + size == self.dims[d];
            if !border && size % block != 0 && size > block {
                return no("a part that ends inside a block");
            }
            part.padded_dims[d] = if border { b.padded_dims[d] - start } else { size };
            part.offset += start / block * b.strides[d];
        }
        let dims = Dims::from_fn(n, |d| dims[d]);
        Ok(Layout { dims, format: part.into() })
    }

    /// The layout of the same elements, in the same order, as a tensor of `dims`: dimensions of size 1 are added and removed, and
    /// dimensions without blocks and padding that are dense in memory are split and merged.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] if the number of elements differs, or if the layout does not allow it.
    pub fn reshape(&self, dims: &[i64]) -> Result<Layout, Error> {
        let bad = |expected: &str| Error::invalid("reshape", format_args!("{} as {dims:?}", self.dims), expected);
        let new = Dims::new(dims).filter(|d| !d.is_empty()).ok_or_else(|| bad("1 to 12 dimensions"))?;
        let (from, to) = (self.dims.volume(), new.volume());
        if from.is_none() || from != to {
            return Err(bad("an equal number of elements, known now"));
        }
        match &self.format {
            Format::Any => Ok(Layout::any(new)),
            Format::Blocked(b) if b.compensation.is_none() && !self.has_runtime() => {
                if new == self.dims {
                    return Ok(self.clone());
                }
                let blocking =
                    reshaped(&self.dims, b, &new).ok_or_else(|| bad("splits and merges of dense dimensions without blocks only"))?;
                Ok(Layout { dims: new, format: blocking.into() })
            }
            _ => Err(bad("a layout of strides and blocks")),
        }
    }

    /// The layout with dimension `d` in the place `permutation[d]`.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] when `permutation` is none, or the layout is not strides and blocks.
    pub fn permute(&self, permutation: &[usize]) -> Result<Layout, Error> {
        let n = self.ndims();
        let mut seen = vec![false; n];
        let valid = permutation.len() == n && permutation.iter().all(|&p| p < n && !std::mem::replace(&mut seen[p], true));
        if !valid {
            return Err(Error::invalid("permutation", format_args!("{permutation:?}"), format_args!("each of 0..{n} once")));
        }
        let moved = |list: &Dims| {
            let mut out = *list;
            for (d, &p) in permutation.iter().enumerate() {
                out[p] = list[d];
            }
            out
        };
        let format = match &self.format {
            Format::Any => Format::Any,
            Format::Blocked(b) if b.compensation.is_none() => {
                let mut inner = Blocks::default();
                for (d, size) in b.inner.iter() {
                    inner.push(permutation[d], size);
                }
                let (padded_dims, padded_offsets, strides) = (moved(&b.padded_dims), moved(&b.padded_offsets), moved(&b.strides));
                Blocking { padded_dims, padded_offsets, offset: b.offset, strides, inner, compensation: None }.into()
            }
            _ => return Err(Error::invalid("permutation", "a layout that is opaque, sparse or compensated", "strides and blocks, or any")),
        };
        Ok(Layout { dims: moved(&self.dims), format })
    }
}

/// The blocking of `new`, group by group from the last dimension: the shortest runs of old and new dimensions with equal products correspond.
fn reshaped(old: &Dims, b: &Blocking, new: &Dims) -> Option<Blocking> {
    let mut out = Blocking {
        padded_dims: *new,
        padded_offsets: Dims::filled(new.len(), 0),
        strides: Dims::filled(new.len(), 1),
        inner: Blocks::default(),
        ..b.clone()
    };
    let plain = |d: usize| b.padded_dims[d] == old[d] && b.padded_offsets[d] == 0 && b.inner.of(d) == 1;
    let before_padding = |end: usize| (0..end).rev().take_while(|&d| old[d] == 1).any(|d| !plain(d));
    let mut kept = [None; crate::MAX_NDIMS];
    let mut around = b.inner.volume();
    let (mut i, mut j) = (old.len(), new.len());
    while i > 0 || j > 0 {
        if i > 0 && old[i - 1] == 1 && plain(i - 1) && (j == 0 || new[j - 1] != 1 || before_padding(i - 1)) {
            i -= 1;
        } else if i > 0 && j > 0 && old[i - 1] == new[j - 1] {
            (i, j) = (i - 1, j - 1);
            kept[i] = Some(j);
            (out.strides[j], out.padded_dims[j], out.padded_offsets[j]) = (b.strides[i], b.padded_dims[i], b.padded_offsets[i]);
            around = b.strides[i].checked_mul(new[j])? / b.inner.of(i);
        } else if j > 0 && new[j - 1] == 1 {
            j -= 1;
            out.strides[j] = around;
        } else {
            (i, j) = regroup(old, b, new, &mut out, (i, j))?;
            around = out.strides[j].checked_mul(new[j])?;
        }
    }
    for (d, size) in b.inner.iter() {
        out.inner.push(kept[d]?, size);
    }
    Some(out)
}

/// Splits or merges one group that ends before old dimension `end.0` and new dimension `end.1`; returns where it begins.
fn regroup(old: &Dims, b: &Blocking, new: &Dims, out: &mut Blocking, end: (usize, usize)) -> Option<(usize, usize)> {
    let last = |dims: &Dims, end: usize| end.checked_sub(1).map(|d| (d, dims[d]));
    let ((mut i, mut p), (mut j, mut q)) = (last(old, end.0)?, last(new, end.1)?);
    while p != q {
        let (dims, at, product) = if p < q { (old, &mut i, &mut p) } else { (new, &mut j, &mut q) };
        let (before, size) = last(dims, *at)?;
        (*at, *product) = (before, product.checked_mul(size)?);
    }
    let mut inside: Option<i64> = None;
    for d in (i..end.0).rev().filter(|&d| old[d] > 1 || b.padded_dims[d] > 1) {
        let plain = b.padded_dims[d] == old[d] && b.padded_offsets[d] == 0 && b.inner.of(d) == 1;
        if !plain || inside.is_some_and(|s| s != b.strides[d]) {
            return None;
        }
        inside = Some(b.strides[d].checked_mul(old[d])?);
    }
    let innermost = (i..end.0).rev().find(|&d| old[d] > 1)?;
    let mut stride = b.strides[innermost];
    for d in (j..end.1).rev() {
        out.strides[d] = stride;
        stride = stride.checked_mul(new[d])?;
    }
    Some((i, j))
}

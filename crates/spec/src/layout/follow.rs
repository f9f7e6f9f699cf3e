//! Layouts made after others: the same memory order and blocks for other sizes.

use super::{Blocking, Blocks, Format, Layout, Sparse};
use crate::{Dims, RUNTIME};
use std::sync::Arc;

impl Blocking {
    /// Dimensions from the outermost in memory to the innermost: by falling stride; if strides are equal, larger dimensions and then lower
    /// indices first. Strides of dimensions of size 1 tell the intended order, such as channels last.
    pub(crate) fn order(&self) -> Vec<usize> {
        let n = self.strides.len();
        if self.strides.has_runtime() {
            return (0..n).collect();
        }
        let outer = |d: usize| self.padded_dims[d] / self.inner.of(d).max(1);
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by_key(|&d| (std::cmp::Reverse(self.strides[d]), std::cmp::Reverse(outer(d))));
        order
    }
}

impl Layout {
    /// The dense layout of `dims` with this one's memory order and, if the sizes of all blocked dimensions agree, its inner blocks. Without
    /// blocks if these exceed the address space at other strides; row-major if this one is not [`Format::Blocked`] or has another number of
    /// dimensions; `any` stays `any`.
    pub fn resized(&self, dims: Dims) -> Layout {
        if self.is_any() {
            return Layout::any(dims);
        }
        if let Some(b) = self.blocking().filter(|b| dims == self.dims && b.offset == 0 && self.is_dense(true)) {
            return if b.compensation.is_none() {
                self.clone()
            } else {
                Layout { dims, format: Blocking { compensation: None, ..b.clone() }.into() }
            };
        }
        let order = self.blocking().filter(|b| b.strides.len() == dims.len()).map(|b| (b.order(), b.inner));
        let (order, inner) = order.unwrap_or_else(|| ((0..dims.len()).collect(), Blocks::default()));
        let agree = inner.iter().all(|(d, _)| dims[d] != RUNTIME && self.dims.get(d) == Some(&dims[d]));
        let inner = if agree { inner } else { Blocks::default() };
        let ordered = |inner: Blocks| Layout::ordered(dims, &order, inner);
        ordered(inner).or_else(|_| ordered(Blocks::default())).unwrap_or(Layout { dims, format: Format::Any })
    }

    /// The layout for `dims`, where sizes, strides or the offset come with an execution. Known strides stay; dimensions of unknown strides
    /// are outside of those, the first outermost.
    pub fn at_sizes(&self, dims: Dims) -> Layout {
        let Format::Blocked(b) = &self.format else { return Layout { dims, format: self.format.clone() } };
        let known = |given: i64, or: i64| if given == RUNTIME { or } else { given };
        let padded_dims = Dims::from_fn(dims.len(), |d| known(b.padded_dims[d], dims[d]));
        let blocks = |d: usize| padded_dims[d] / b.inner.of(d).max(1);
        let mut strides = b.strides;
        let far = |d: usize| (blocks(d) - 1).max(0).saturating_mul(b.strides[d]);
        let far = (0..dims.len()).filter(|&d| b.strides[d] != RUNTIME).map(far).fold(0, i64::saturating_add);
        let mut extent = far.saturating_add(b.inner.volume());
        for d in (0..dims.len()).rev().filter(|&d| b.strides[d] == RUNTIME) {
            strides[d] = extent;
            extent = extent.saturating_mul(blocks(d).max(1));
        }
        let blocking = Blocking { padded_dims, strides, offset: known(b.offset, 0), ..(**b).clone() };
        Layout { dims, format: Format::Blocked(blocking.into()) }
    }

    /// Makes an `any` layout concrete: after `leader`, else row-major.
    pub(crate) fn resolve_like(&mut self, leader: Option<&Layout>) {
        *self = match leader.filter(|l| !l.is_any()) {
            Some(l) => l.resized(self.dims),
            None => Layout::plain(self.dims).unwrap_or_else(|_| self.clone()),
        };
    }

    /// Gives a packed sparse layout whose order of elements is still open the row-major one.
    pub(crate) fn resolve_packed(&mut self) {
        let Format::Sparse(Sparse::Packed { blocking, .. }) = &mut self.format else { return };
        if blocking.is_none() {
            *blocking = Layout::plain(self.dims).ok().and_then(|l| l.blocking().cloned().map(Arc::new));
        }
    }
}

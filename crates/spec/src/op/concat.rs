//! Concatenation.

use super::operands;
use crate::check::types::{ALL, Pass, TypeTable, row};
use crate::check::{self, Checked, ensure};
use crate::{Arg, Dims, Layout, RUNTIME, Tensor};

/// Puts the sources one after the other along an axis.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Concat {
    /// The axis.
    pub axis: usize,
    /// Sources; dims equal but for the axis.
    pub srcs: Vec<Tensor>,
    /// Destination.
    pub dst: Tensor,
}

operands!(Concat { srcs, dst }, o => {
    o.sources(srcs);
    o.output(Arg::DST, dst);
});

impl Concat {
    /// The layout of a destination that is left open: that of the first source with blocks such that every source begins at a multiple of
    /// its block. If the first source has blocks and there is no such source, the order of the largest source without blocks. `None` if
    /// there is neither.
    pub(crate) fn favoured(&self) -> Option<Layout> {
        self.blocked().or_else(|| self.largest_plain())
    }

    fn largest_plain(&self) -> Option<Layout> {
        let has_blocks = |src: &Tensor| src.blocking().is_some_and(|b| b.inner.iter().next().is_some());
        let plain = self.srcs.iter().filter(|src| src.blocking().is_some() && !has_blocks(src));
        let largest = plain.rev().max_by_key(|src| src.dims()[self.axis]).filter(|_| self.srcs.first().is_some_and(has_blocks))?;
        Some(largest.layout.resized(*self.dst.dims()))
    }

    fn blocked(&self) -> Option<Layout> {
        let fits = |layout: &Layout| {
            let mut start = Dims::filled(layout.dims.len(), 0);
            self.srcs.iter().filter(|src| !src.is_empty()).all(|src| {
                let part = layout.submemory(src.dims(), &start);
                start[self.axis] += src.dims()[self.axis];
                part.is_ok()
            })
        };
        let blocks = self.srcs.iter().filter_map(Tensor::blocking).filter(|b| b.inner.iter().next().is_some() && b.compensation.is_none());
        let mut layouts = blocks.filter_map(|b| Layout::ordered(*self.dst.dims(), &b.order(), b.inner).ok());
        layouts.find(fits)
    }
}

/// Data types.
pub(super) const TYPES: TypeTable = TypeTable { columns: &["src", "dst"], rows: &[row(Pass::Every, &[ALL, ALL])] };

impl Concat {
    pub(super) fn check(&self) -> Checked {
        let Some(first) = self.srcs.first() else { return ensure(false, "sources", 0, "at least 1") };
        ensure(self.srcs.len() < 1024, "sources", self.srcs.len(), "less than 1024")?;
        let mut expected = *first.dims();
        ensure(self.axis < expected.len(), "axis", self.axis, format_args!("less than {}", expected.len()))?;
        let mut total = 0i64;
        for (i, src) in self.srcs.iter().enumerate() {
            let arg = Arg::multiple_src(i);
            check::rank(arg, src, expected.len()..=expected.len())?;
            expected[self.axis] = src.dims()[self.axis];
            check::dims(arg, src, &expected)?;
            ensure(src.dtype == first.dtype, arg, src.dtype, first.dtype)?;
            let size = src.dims()[self.axis];
            total = if check::open(total, size) { RUNTIME } else { total.saturating_add(size) };
        }
        expected[self.axis] = total;
        check::dims(Arg::DST, &self.dst, &expected)
    }
}

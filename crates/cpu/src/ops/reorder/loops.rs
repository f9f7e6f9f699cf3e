//! Layouts as loops: each dimension is cut where blocks of any tensor end, and every loop has a stride in each tensor.

use super::factors::still;
use oxidnn_runtime::Skip;
use oxidnn_spec::op::Reorder;
use oxidnn_spec::{Blocking, Dims, MAX_NDIMS};

/// A loop over tensors: its size, and its strides in elements in destination, source, and further tensors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loop<const N: usize = 2> {
    pub(crate) size: usize,
    pub(crate) steps: [usize; N],
}

/// Refuses layouts without loops.
pub(super) fn padded() -> Skip {
    Skip::Layout("of src or dst: padding, or blocks that do not nest".into())
}

/// Positions to visit: as many as the larger of destination and source has, but no more than the destination within one block of the
/// source.
pub(super) fn walked(dst: &Blocking, src: &Blocking) -> Dims {
    Dims::from_fn(dst.padded_dims.len(), |d| {
        let (written, read) = (dst.padded_dims[d], src.padded_dims[d]);
        let mut unit = 1;
        let mut fits = |block: i64| {
            unit *= block;
            unit >= written || written % unit == 0
        };
        let within = src.inner.iter().rev().filter(|inner| inner.0 == d).all(|inner| fits(inner.1)) && unit >= written;
        if within && written > 1 { written } else { written.max(read) }
    })
}

/// The positions at which blocks of dimension `d` end, from 1 to its size, each a divisor of the next; `None` if blocks do not nest.
pub(crate) fn units(d: usize, size: i64, tensors: &[&Blocking]) -> Option<Vec<i64>> {
    let mut units = vec![1, size];
    for b in tensors {
        let mut unit = 1;
        for (_, block) in b.inner.iter().rev().filter(|inner| inner.0 == d) {
            unit *= block;
            units.push(unit.min(size));
        }
    }
    units.sort_unstable();
    units.dedup();
    units.windows(2).all(|w| w[1] % w[0] == 0).then_some(units)
}

/// Elements from a position of dimension `d` to the one `unit` behind it, at a position that is a multiple of `unit`.
pub(crate) fn step(b: &Blocking, d: usize, unit: i64) -> i64 {
    let (mut below, mut stride) = (1, 1);
    for (e, block) in b.inner.iter().rev() {
        if e == d {
            if below * block > unit {
                return unit / below * stride;
            }
            below *= block;
        }
        stride *= block;
    }
    unit / below * b.strides[d]
}

/// The loops of more than one position over dimensions and their blocks, outermost in the destination first, merged where all tensors allow
/// it.
pub(crate) fn loops<const N: usize>(dims: &Dims, tensors: [&Blocking; N]) -> Option<Vec<Loop<N>>> {
    let mut all = Vec::with_capacity(2 * MAX_NDIMS);
    for (d, size) in dims.iter().enumerate() {
        for w in units(d, *size, &tensors)?.windows(2) {
            all.push(Loop { size: (w[1] / w[0]) as usize, steps: tensors.map(|b| step(b, d, w[0]) as usize) });
        }
    }
    all.sort_by_key(|l| std::cmp::Reverse(l.steps));
    let mut joined: Vec<Loop<N>> = Vec::with_capacity(all.len());
    for l in all {
        match joined.last_mut().filter(|before| (0..N).all(|t| before.steps[t] == l.steps[t] * l.size)) {
            Some(before) => *before = Loop { size: before.size * l.size, ..l },
            None => joined.push(l),
        }
    }
    Some(joined)
}

/// The elements of tensors, the first of all, at position `i` of some loops, the last innermost.
pub(super) fn place<const N: usize, const M: usize>(loops: &[Loop<N>], mut at: [usize; M], mut i: usize) -> [usize; M] {
    for l in loops.iter().rev() {
        (0..M).for_each(|t| at[t] += i % l.size * l.steps[t]);
        i /= l.size;
    }
    at
}

/// The elements of all tensors at all positions of some loops, the first innermost.
pub(super) fn positions<const N: usize>(loops: &[Loop<N>]) -> Vec<[usize; N]> {
    let mut all = vec![[0; N]];
    for l in loops {
        let before = all.clone();
        all = (0..l.size).flat_map(|i| before.iter().map(move |at| std::array::from_fn(|t| at[t] + i * l.steps[t]))).collect();
    }
    all
}

/// Dimensions with padding.
pub(super) const PADDED: usize = 3;

/// Two tensors without offsets of their elements in padded ones, and the positions of loops over both.
pub(super) struct Walk<'r> {
    pub(super) dst: &'r Blocking,
    pub(super) src: &'r Blocking,
    pub(super) sizes: Dims,
    /// The dimensions with padding, each as the strides of its positions, and their sizes in source and destination; nothing moves along the others.
    pub(super) positions: [Blocking; PADDED],
    pub(super) ends: Vec<[usize; 2]>,
}

impl<'r> Walk<'r> {
    /// # Errors
    /// Other layouts.
    pub(super) fn new(op: &'r Reorder) -> Result<Walk<'r>, Skip> {
        super::check_known(op)?;
        let dims = op.dst.dims();
        let whole = |b: &&Blocking| b.padded_offsets.iter().all(|o| *o == 0);
        let [Some(dst), Some(src)] = [&op.dst, &op.src].map(|t| t.blocking().filter(whole)) else { return Err(padded()) };
        let sizes = walked(dst, src);
        let (mut positions, mut ends) = (std::array::from_fn(|_| still(dims)), Vec::new());
        for d in (0..dims.len()).filter(|d| sizes[*d] > dims[*d]) {
            let position: &mut Blocking = positions.get_mut(ends.len()).ok_or_else(padded)?;
            position.strides[d] = 1;
            ends.push([dims[d] as usize, dst.padded_dims[d] as usize]);
        }
        Ok(Walk { dst, src, sizes, positions, ends })
    }
}

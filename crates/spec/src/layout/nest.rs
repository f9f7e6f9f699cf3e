//! Loop nests over tensors: any set of layouts as few loops with one stride a tensor, for kernels that treat each element alike.

use super::{Blocking, Layout};
use crate::{Dims, MAX_NDIMS};

/// One loop: how often, and how far each tensor moves a step (0 where a tensor is broadcast).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Loop<const T: usize> {
    /// Number of steps, at least 2.
    pub size: i64,
    /// Elements that each tensor moves a step.
    pub strides: [i64; T],
}

/// Loops, outermost first, that visit every element of `T` tensors together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Nest<const T: usize> {
    /// The loops; none for one element.
    pub loops: Vec<Loop<T>>,
    /// Element offset of each tensor's first element.
    pub offsets: [i64; T],
}

impl<const T: usize> Nest<T> {
    /// The shortest nest over `dims` for tensors of these layouts; a tensor's dimension of size 1 is broadcast to a larger one of `dims`.
    /// Blocked dimensions are split, dimensions of size 1 dropped, and neighbours merged where every tensor allows it; the order is by
    /// falling stride of the first tensor, then of the others.
    ///
    /// `None` for layouts that are not strides and blocks, runtime sizes, and dimensions that blocks do not divide (pass padded sizes as `dims`
    /// to visit the padding too). An empty `dims` gives a loop of size 0.
    pub fn over(dims: &Dims, layouts: [&Layout; T]) -> Option<Nest<T>> {
        let mut blockings: Vec<&Blocking> = Vec::with_capacity(T);
        for l in layouts {
            let fits = l.ndims() == dims.len() && !l.has_runtime();
            let b = l.blocking().filter(|b| fits && b.padded_offsets.iter().all(|&o| o == 0))?;
            blockings.push(b);
        }
        let offsets = std::array::from_fn(|t| blockings[t].offset);
        if dims.contains(&0) {
            return Some(Nest { loops: vec![Loop { size: 0, strides: [0; T] }], offsets });
        }
        let mut loops = Vec::new();
        for (d, &size) in dims.iter().enumerate() {
            let mut units = vec![1i64];
            for (b, l) in blockings.iter().zip(layouts) {
                if l.dims[d] != 1 || size == 1 {
                    block_units(b, d, &mut units)?;
                }
            }
            units.sort_unstable();
            units.dedup();
            units.push(size.max(*units.last()?));
            for w in units.windows(2) {
                if w[1] % w[0] != 0 {
                    return None;
                }
                let strides = std::array::from_fn(|t| if layouts[t].dims[d] == 1 { 0 } else { blockings[t].stride_at(d, w[0]) });
                if size > 1 && w[1] > w[0] {
                    loops.push(Loop { size: w[1] / w[0], strides });
                }
            }
            if size > 1 && units.last() != Some(&size) {
                return None;
            }
        }
        loops.sort_by_key(|l| std::cmp::Reverse(l.strides));
        Some(Nest { loops: merged(loops), offsets })
    }

    /// Number of positions that the nest visits.
    pub fn volume(&self) -> i64 {
        self.loops.iter().map(|l| l.size).product()
    }

    /// Calls `f` with the element offset of each tensor for every position, in the nest's order.
    pub fn for_each(&self, mut f: impl FnMut([i64; T])) {
        fn walk<const T: usize>(loops: &[Loop<T>], at: [i64; T], f: &mut impl FnMut([i64; T])) {
            let Some((outer, inner)) = loops.split_first() else { return f(at) };
            let mut at = at;
            for _ in 0..outer.size {
                walk(inner, at, f);
                for (a, s) in at.iter_mut().zip(outer.strides) {
                    *a += s;
                }
            }
        }
        walk(&self.loops, self.offsets, &mut f);
    }
}

/// Adds the sizes at which blocks of dimension `d` end.
fn block_units(b: &Blocking, d: usize, units: &mut Vec<i64>) -> Option<()> {
    let mut unit = 1i64;
    for (_, size) in b.inner.iter().rev().filter(|x| x.0 == d) {
        unit = unit.checked_mul(size)?;
        units.push(unit);
    }
    Some(())
}

impl Blocking {
    /// How far the tensor moves, in elements, when the index of dimension `d` grows by `unit`, a divisor of block boundaries.
    pub fn stride_at(&self, d: usize, unit: i64) -> i64 {
        let (mut stride, mut within) = (1, 1);
        for (dim, size) in self.inner.iter().rev() {
            if dim == d {
                if unit < within * size {
                    return unit / within * stride;
                }
                within *= size;
            }
            stride *= size;
        }
        unit / within * self.strides[d]
    }
}

/// Joins each loop with its inner neighbour where all tensors pass from the one to the other without a jump.
fn merged<const T: usize>(loops: Vec<Loop<T>>) -> Vec<Loop<T>> {
    let mut out: Vec<Loop<T>> = Vec::with_capacity(loops.len().min(2 * MAX_NDIMS));
    for inner in loops {
        match out.last_mut() {
            Some(outer) if (0..T).all(|t| outer.strides[t] == inner.strides[t] * inner.size) => {
                *outer = Loop { size: outer.size * inner.size, strides: inner.strides };
            }
            _ => out.push(inner),
        }
    }
    out
}

impl Layout {
    /// True if there are no holes between the first and the last element: all elements counted with padding (`padded`) or without.
    pub fn is_dense(&self, padded: bool) -> bool {
        let Some(b) = self.blocking().filter(|_| !self.has_runtime()) else { return false };
        let count = if padded { b.padded_dims.volume() } else { self.dims.volume() };
        match (count, self.extent()) {
            (Some(count), Some(extent)) => count == 0 || count == extent - b.offset && !b.strides_repeat(),
            _ => false,
        }
    }

    /// True when the layout is row-major without holes or offset.
    pub fn is_row_major(&self) -> bool {
        Layout::plain(self.dims).is_ok_and(|plain| plain == *self)
    }
}

impl Blocking {
    /// True where a dimension of more than one element has stride 0.
    fn strides_repeat(&self) -> bool {
        self.strides.iter().zip(self.padded_dims.iter()).any(|(&s, &d)| s == 0 && d > 1)
    }
}

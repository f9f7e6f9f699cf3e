//! Boxes of positions within a tensor, positions as indices, and room for as many numbers.

use crate::for_each_position;
use oxidnn_spec::{Dims, Error};

/// The positions `start..start + size` along every dimension.
#[derive(Clone, Copy)]
pub(crate) struct Region {
    pub(crate) start: Dims,
    pub(crate) size: Dims,
}

impl Region {
    /// All positions of a tensor of `dims`.
    pub(crate) fn all(dims: &Dims) -> Region {
        Region { start: Dims::filled(dims.len(), 0), size: *dims }
    }

    /// The positions whose index along `d` is in `start..start + size`.
    #[must_use]
    pub(crate) fn along(mut self, d: usize, start: i64, size: i64) -> Region {
        self.start[d] = start;
        self.size[d] = size;
        self
    }

    /// Number of positions.
    pub(crate) fn count(&self) -> i64 {
        self.size.iter().product()
    }

    /// Calls `f` with every position.
    pub(crate) fn for_each(&self, mut f: impl FnMut(&[i64])) {
        let mut at = self.start;
        for_each_position(&self.size, |p| {
            for ((a, s), p) in at.iter_mut().zip(self.start.iter()).zip(p) {
                *a = s + p;
            }
            f(&at);
        });
    }

    /// The sum of `f` over all positions.
    pub(crate) fn sum(&self, mut f: impl FnMut(&[i64]) -> f64) -> f64 {
        let mut sum = 0.0;
        self.for_each(|pos| sum += f(pos));
        sum
    }
}

/// The first `len` elements of the scratch.
pub(crate) fn lease(scratch: &mut [f64], len: i64) -> Result<&mut [f64], Error> {
    let have = scratch.len();
    let part = usize::try_from(len).ok().and_then(|len| scratch.get_mut(..len));
    part.ok_or_else(|| Error::invalid("scratch", format_args!("{have} elements"), format_args!("{len}")))
}

/// Index of `pos` in row-major order.
pub(crate) fn ravel(pos: &[i64], dims: &[i64]) -> usize {
    pos.iter().zip(dims).fold(0, |i, (p, d)| i * d + p) as usize
}

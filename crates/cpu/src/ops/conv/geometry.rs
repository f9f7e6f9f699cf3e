//! Which source elements each result reads with which weights: convolution and its transpose as sums over taps.
//!
//! In one spatial dimension the results of a [`Phase`] are at `first + step * j`, and weight `k` is multiplied with the source element at
//! `j * stride + offset`. A convolution has one phase; its transpose with stride `s` has `s` phases, each with the weights that contribute
//! to its results. So all loops run densely over `j` and over a list of taps.

use oxidnn_runtime::Skip;
use oxidnn_spec::op::ConvSizes;

/// Most taps of a window, and most combinations of phases: plans list them.
const MAX_TAPS: i64 = 1 << 16;
const MAX_PHASES: i64 = 1 << 12;

/// Which of the two tensors the window slides over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Direction {
    /// The source: the result is at `o`, the source at `o * s - pl + k * d`.
    Gather,
    /// The result: the source is at `o`, the result at `o * s - pl + k * d`.
    Scatter,
}

/// Result coordinates of one dimension with the same weights.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Phase {
    /// First result coordinate.
    pub(crate) first: i64,
    /// Number of them.
    pub(crate) count: usize,
    /// Weight coordinates, each with the source coordinate that it reads at `j = 0`.
    pub(crate) taps: Vec<(i64, i64)>,
}

/// One spatial dimension of a problem.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Line {
    /// The phases.
    pub(crate) phases: Vec<Phase>,
    /// Distance of neighbouring result coordinates of a phase.
    pub(crate) step: i64,
    /// Distance of the source coordinates that they read.
    pub(crate) stride: i64,
    /// Size of the source.
    pub(crate) source: i64,
}

/// The lines of a problem, from depth to width, for sizes of the result and of the source.
///
/// # Errors
/// More taps or phases than plans list.
pub(crate) fn lines(direction: Direction, s: &ConvSizes, [result, source]: [[i64; 3]; 2]) -> Result<[Line; 3], Skip> {
    let all = |each: [i64; 3]| each.iter().fold(1i64, |n, size| n.saturating_mul((*size).max(1)));
    if all(s.k) > MAX_TAPS {
        return Err(Skip::Shape("a window of more than 65536 taps"));
    }
    if direction == Direction::Scatter && all(std::array::from_fn(|i| s.s[i].min(result[i]))) > MAX_PHASES {
        return Err(Skip::Shape("strides of more than 4096 phases"));
    }
    Ok(std::array::from_fn(|i| Line::new(direction, s, i, result[i], source[i])))
}

impl Line {
    /// Dimension `i` (depth, height or width) of a problem.
    pub(crate) fn new(direction: Direction, s: &ConvSizes, i: usize, result: i64, source: i64) -> Line {
        let (k, stride, d, pl) = (s.k[i], s.s[i], s.d[i], s.pl[i]);
        if direction == Direction::Gather {
            let taps = (0..k).map(|k| (k, k * d - pl)).collect();
            return Line { phases: vec![Phase { first: 0, count: result as usize, taps }], step: 1, stride, source };
        }
        let phase = |first: i64| Phase { first, count: ((result - first + stride - 1) / stride) as usize, taps: Vec::new() };
        let mut phases: Vec<Phase> = (0..stride.min(result)).map(phase).collect();
        for k in 0..k {
            let first = (k * d - pl).rem_euclid(stride);
            if let Some(phase) = phases.get_mut(first as usize) {
                phase.taps.push((k, (first + pl - k * d) / stride));
            }
        }
        Line { phases, step: stride, stride: 1, source }
    }
}

impl Line {
    /// Results of a phase whose taps are all inside the source.
    pub(crate) fn inside(&self, phase: &Phase) -> usize {
        let Some((low, high)) = phase.reach(self.stride, 0, 1) else { return phase.count };
        let first = (-low).max(0) as u64;
        let behind = (self.source - high).max(0) as u64;
        let (first, end) = (first.div_ceil(self.stride as u64), behind.div_ceil(self.stride as u64).min(phase.count as u64));
        end.saturating_sub(first) as usize
    }

    /// The line of `count` results of a phase from `first` on, with a range of its taps.
    pub(crate) fn part(&self, phase: usize, first: usize, count: usize, taps: std::ops::Range<usize>) -> Line {
        let shift = first as i64 * self.stride;
        let phase = &self.phases[phase];
        let taps = phase.taps[taps].iter().map(|t| (t.0, t.1 + shift)).collect();
        Line { phases: vec![Phase { first: phase.first + first as i64 * self.step, count, taps }], ..*self }
    }
}

impl Phase {
    /// Smallest and largest source coordinate that `count` results from `start` on read; `None` without taps.
    pub(crate) fn reach(&self, stride: i64, start: usize, count: usize) -> Option<(i64, i64)> {
        let low = self.taps.iter().map(|t| t.1).min()?;
        let high = self.taps.iter().map(|t| t.1).max()?;
        Some((start as i64 * stride + low, (start + count - 1) as i64 * stride + high))
    }
}

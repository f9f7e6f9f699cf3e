//! The order in which tiles take the results of a window. Results with the same taps come one after the other, so that tiles have few taps
//! that only read padding, or none.
//!
//! In each dimension the results of a phase fall into a few [`Run`]s with the same taps inside the source: with a 3x3 window and padding 1
//! the first row, the last, and all between. A [`Patch`] is a product of runs, over all images. Neighbouring patches are joined to a
//! [`Segment`] if that saves more time in tiles than it costs in taps that read zeros, where reading zeros is allowed. A segment is cut
//! evenly into tiles.

use crate::kernels::amx;
use crate::ops::conv::geometry::{Line, Phase};
use std::ops::Range;

#[cfg(test)]
mod tests;

/// Time of a tile besides its products, in taps of one row.
const TILE_OVERHEAD: usize = 1;
/// Rows below which a tile takes no less time, since it reads the whole panel anyway.
const MIN_TILE_ROWS: usize = 3;
/// The same for AMX tiles, of up to 32 rows.
const MIN_AMX_TILE_ROWS: usize = 20;
/// AMX: in the time of one row of products, this many rows are gathered, if neighbours are not at a constant stride.
const GATHERS_PER_ROW: usize = 4;
/// Rows whose addresses take as long as a row of products, if some taps of a tile read padding and every address is looked up.
const LOOKUPS_PER_ROW: usize = 8;
/// Most patches of a phase; with more, results at the edges take all taps.
const MAX_PATCHES: usize = 1024;
/// The same where taps on padding are not allowed.
const MAX_EXACT_PATCHES: usize = 16 << 10;

/// Neighbouring results of one dimension with the same taps, a range of the phase's taps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Run {
    pub(super) first: usize,
    pub(super) count: usize,
    pub(super) taps: Range<usize>,
}

/// A product of runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Patch {
    /// First result of the phase in every dimension, and their numbers.
    pub(super) first: [usize; 3],
    pub(super) count: [usize; 3],
    taps: [Range<usize>; 3],
}

/// Patches of one phase that are cut into tiles together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Segment {
    /// Which phase of each dimension.
    pub(super) phases: [usize; 3],
    /// The patches, every one over all images.
    pub(super) patches: Range<usize>,
    /// The first result in the order, and their number.
    pub(super) first_row: usize,
    pub(super) rows: usize,
    /// The taps of each dimension that any of its results reads.
    pub(super) taps: [Range<usize>; 3],
    /// Whether no result has a tap on padding.
    pub(super) exact: bool,
}

/// How [`Order::new`] cuts.
#[derive(Clone, Copy, Debug)]
pub(in crate::ops::conv) struct Cut {
    pub(in crate::ops::conv) images: usize,
    /// Most rows of a tile.
    pub(in crate::ops::conv) rows: usize,
    /// Whether tiles are AMX tiles.
    pub(in crate::ops::conv) on_amx: bool,
    /// Results have all taps, including those on padding.
    pub(in crate::ops::conv) all_taps: bool,
    /// No result has taps on padding, if there are not too many patches: zero times a weight may be NaN.
    pub(in crate::ops::conv) exact: bool,
}

/// All results of a problem, cut into tiles.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::ops::conv) struct Order {
    pub(super) patches: Vec<Patch>,
    pub(super) segments: Vec<Segment>,
    pub(super) images: usize,
}

impl Run {
    /// The runs of a phase.
    pub(super) fn all(phase: &Phase, line: &Line) -> Vec<Run> {
        // Results from ceil(-t / stride) to before ceil((source - t) / stride) have a tap at offset `t` inside the source.
        let clamp = |x: i64| x.clamp(0, phase.count as i64) as usize;
        let up = |x: i64| x.div_euclid(line.stride) + i64::from(x.rem_euclid(line.stride) != 0);
        let span = |t: i64| clamp(up(-t))..clamp(up(line.source - t));
        let spans: Vec<Range<usize>> = phase.taps.iter().map(|t| span(t.1)).collect();
        let mut bounds: Vec<usize> = spans.iter().flat_map(|s| [s.start, s.end]).chain([0, phase.count]).collect();
        bounds.sort_unstable();
        bounds.dedup();
        // Offsets rise or fall from tap to tap, and so do both ends of these ranges.
        let rises = phase.taps.first().zip(phase.taps.last()).is_none_or(|(first, last)| first.1 <= last.1);
        let run = |b: &[usize]| {
            let (begun, open) = (|s: &Range<usize>| s.start <= b[0], |s: &Range<usize>| b[0] < s.end);
            let (first, end) = if rises {
                (spans.partition_point(|s| !begun(s)), spans.partition_point(open))
            } else {
                (spans.partition_point(|s| !open(s)), spans.partition_point(begun))
            };
            Run { first: b[0], count: b[1] - b[0], taps: if first < end { first..end } else { 0..0 } }
        };
        bounds.windows(2).map(run).collect()
    }

    fn whole(phase: &Phase) -> Vec<Run> {
        vec![Run { first: 0, count: phase.count, taps: 0..phase.taps.len() }]
    }
}

/// Time of `rows` rows with `taps` taps each, in taps of one row.
pub(in crate::ops::conv) fn cost(rows: usize, taps: usize, most: usize) -> usize {
    cost_of(rows, taps, [MIN_TILE_ROWS, most])
}

/// The same, if tiles of fewer than `least` rows take as long as `least` rows.
fn cost_of(rows: usize, taps: usize, [least, most]: [usize; 2]) -> usize {
    let tiles = rows.div_ceil(most);
    taps * rows.max(least * tiles) + TILE_OVERHEAD * tiles
}

impl Patch {
    /// Number of results in an image.
    pub(super) fn pixels(&self) -> usize {
        self.count.iter().product()
    }
}

impl Segment {
    fn cost(&self, rows: usize) -> usize {
        cost(self.rows, self.taps.iter().map(Range::len).product(), rows)
    }

    /// Both segments as one.
    fn join(&self, next: &Segment) -> Segment {
        let taps = std::array::from_fn(|i| {
            let (a, b) = (&self.taps[i], &next.taps[i]);
            match (a.is_empty(), b.is_empty()) {
                (true, _) => b.clone(),
                (_, true) => a.clone(),
                _ => a.start.min(b.start)..a.end.max(b.end),
            }
        });
        Segment {
            patches: self.patches.start..next.patches.end,
            rows: self.rows + next.rows,
            exact: self.exact && next.exact && self.taps == next.taps,
            taps,
            ..self.clone()
        }
    }

    /// Number of taps.
    pub(super) fn all_taps(&self) -> usize {
        self.taps.iter().map(Range::len).product()
    }
}

impl Order {
    /// The order of the results of `lines`.
    pub(in crate::ops::conv) fn new(lines: &[Line; 3], cut: Cut) -> Order {
        let mut order = Order { patches: Vec::new(), segments: Vec::new(), images: cut.images };
        for d in 0..lines[0].phases.len() {
            for h in 0..lines[1].phases.len() {
                for w in 0..lines[2].phases.len() {
                    order.phase(lines, [d, h, w], cut);
                }
            }
        }
        let mut first = 0;
        for s in &mut order.segments {
            s.first_row = first;
            first += s.rows;
        }
        order
    }

    /// Time of all tiles of at most `rows` rows, in taps of one row.
    pub(in crate::ops::conv) fn cost(&self, rows: usize) -> usize {
        self.segments.iter().map(|s| s.cost(rows)).sum()
    }

    /// Adds the results of one combination of phases.
    fn phase(&mut self, lines: &[Line; 3], phases: [usize; 3], cut: Cut) {
        let phase: [&Phase; 3] = std::array::from_fn(|i| &lines[i].phases[phases[i]]);
        let mut runs: [Vec<Run>; 3] = std::array::from_fn(|i| Run::all(phase[i], &lines[i]));
        let many = runs.iter().map(Vec::len).product::<usize>() > if cut.exact { MAX_EXACT_PATCHES } else { MAX_PATCHES };
        if many {
            runs = std::array::from_fn(|i| Run::whole(phase[i]));
        }
        let inside =
            |i: usize| phase[i].reach(lines[i].stride, 0, phase[i].count.max(1)).is_none_or(|(l, h)| l >= 0 && h < lines[i].source);
        // Edges that were not told apart may have taps that read padding.
        let exact = !many || (0..3).all(inside);
        let of = |run: [&Run; 3]| {
            let taps = std::array::from_fn(|i| if cut.all_taps { 0..phase[i].taps.len() } else { run[i].taps.clone() });
            let exact = exact && (0..3).all(|i| taps[i] == run[i].taps);
            (Patch { first: run.map(|r| r.first), count: run.map(|r| r.count), taps }, exact)
        };
        let first = self.segments.len();
        for d in &runs[0] {
            for h in &runs[1] {
                for w in &runs[2] {
                    self.patch(of([d, h, w]), phases, cut, first);
                }
            }
        }
    }

    /// Adds a patch to the segments of its phase, the first of which is `first`.
    fn patch(&mut self, (patch, exact): (Patch, bool), phases: [usize; 3], cut: Cut, first: usize) {
        let rows = patch.count.iter().product::<usize>() * cut.images;
        if rows == 0 {
            return;
        }
        let at = self.patches.len();
        let taps = patch.taps.clone();
        self.patches.push(patch);
        let mut new = Segment { phases, patches: at..at + 1, first_row: 0, rows, taps, exact };
        while self.segments.len() > first
            && let Some(last) = self.segments.last()
        {
            let joint = last.join(&new);
            if cut.exact && last.taps != new.taps {
                break;
            }
            let looked_up = |s: &Segment| if s.exact { 0 } else { s.rows * s.all_taps() / LOOKUPS_PER_ROW };
            let patches = &self.patches;
            let in_lines = |s: &Segment| s.exact && s.patches.len() == 1 && patches[s.patches.start].count[2] >= amx::SHORT;
            let copied = |s: &Segment| if in_lines(s) { 0 } else { s.rows * s.all_taps() / GATHERS_PER_ROW };
            let cost = |s: &Segment| match cut.on_amx {
                true => cost_of(s.rows, s.all_taps(), [MIN_AMX_TILE_ROWS, cut.rows]) + copied(s),
                false => s.cost(cut.rows) + looked_up(s),
            };
            if cost(&joint) > cost(last) + cost(&new) {
                break;
            }
            self.segments.pop();
            new = joint;
        }
        self.segments.push(new);
    }
}

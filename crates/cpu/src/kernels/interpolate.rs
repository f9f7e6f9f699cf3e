//! Rows of elements that are added up with weights, in generated code: safe to run, since every address is checked before it is used.

use super::code;
use super::extent::{Read, Written};
use oxidnn_jit::ir::Elem;
use oxidnn_jit::kernels::blend::Tap as Line;
use oxidnn_jit::kernels::interpolate::{Args, Interpolate, LANES, Pick, Weights};
use oxidnn_jit::{Entry, Isa};
use oxidnn_runtime::Buf;
use oxidnn_spec::Error;
use std::ops::Range;

/// Lines of results that are weighted sums of a few elements of a line: the tables of their taps.
#[derive(Debug)]
pub struct LineTaps {
    sources: u8,
    taps: u8,
    /// Byte offsets of each vector of results in a row, and of each of its source vectors in a line.
    places: Vec<usize>,
    starts: Vec<usize>,
    picks: Vec<Pick>,
    weights: Vec<Weights>,
    /// Elements of a line, and results.
    line: usize,
    results: usize,
}

impl LineTaps {
    /// Most taps of a result, and most source vectors for all taps of a vector of results.
    pub const MAX_TAPS: usize = 8;
    const MAX_SOURCES: usize = 4;

    /// LineTaps of elements of a line of `line` elements of `sizes[0]` bytes, stored in `sizes[1]` bytes; each result has its elements with their weights in
    /// `taps`. `None` where a line or the results are shorter than a vector, results have no elements, or those of neighbouring results are far apart.
    #[must_use]
    pub fn new(taps: &[Vec<(usize, f32)>], line: usize, sizes: [usize; 2], lanes: usize) -> Option<LineTaps> {
        let most = taps.iter().map(Vec::len).max()?;
        let (last_start, last) = (line.checked_sub(lanes)?, taps.len().checked_sub(lanes)?);
        if most > LineTaps::MAX_TAPS || taps.iter().any(|taps| taps.is_empty() || taps.iter().any(|tap| tap.0 >= line)) {
            return None;
        }
        let firsts: Vec<usize> = (0..taps.len()).step_by(lanes).map(|first| first.min(last)).collect();
        let starts = firsts.iter().map(|first| starts_of(&taps[*first..][..lanes], last_start));
        let mut starts = starts.collect::<Option<Vec<Vec<usize>>>>()?;
        let sources = starts.iter().map(Vec::len).max()?;
        // Where fewer would do, no lane comes from the others.
        starts.iter_mut().for_each(|of| of.resize(sources, of[0]));
        let (mut picks, mut weights) = (Vec::new(), Vec::new());
        for (first, starts) in firsts.iter().zip(&starts) {
            for tap in 0..most {
                let part = picks.len();
                picks.resize(part + sources, Pick::default());
                let mut weight = [0.0; LANES];
                for (lane, of) in taps[*first..][..lanes].iter().enumerate() {
                    let (at, share) = tap_of(of, tap, most);
                    let from = starts.iter().position(|start| (*start..start + lanes).contains(&at))?;
                    let pick: &mut Pick = &mut picks[part + from];
                    pick.lanes[lane] = (at - starts[from]) as u8;
                    pick.takes |= 1 << lane;
                    weight[lane] = share;
                }
                weights.push(weight);
            }
        }
        let bytes = |elements: Vec<usize>, size: usize| elements.into_iter().map(|at| at * size).collect();
        let (places, starts) = (bytes(firsts, sizes[1]), bytes(starts.concat(), sizes[0]));
        Some(LineTaps { sources: sources as u8, taps: most as u8, places, starts, picks, weights, line, results: taps.len() })
    }

    /// Bytes of the tables.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let ints = size_of_val(&self.places[..]) + size_of_val(&self.starts[..]);
        ints + size_of_val(&self.picks[..]) + size_of_val(&self.weights[..])
    }
}

/// Tap `tap` of `most` taps of a result. The last of fewer counts several times, with a part of its weight that is exact: a weight of 0 would make an
/// infinite element count.
fn tap_of(taps: &[(usize, f32)], tap: usize, most: usize) -> (usize, f32) {
    let (last, more) = (taps.len() - 1, most - taps.len());
    let (at, weight) = taps[tap.min(last)];
    let halvings = if tap < last { 0 } else { (tap - last + 1).min(more) };
    (at, weight * 0.5f32.powi(halvings as i32))
}

/// Where the source vectors of a vector of results begin, at `last` at most; `None` if there are too many.
fn starts_of(taps: &[Vec<(usize, f32)>], last: usize) -> Option<Vec<usize>> {
    let mut left: Vec<usize> = taps.iter().flatten().map(|tap| tap.0).collect();
    let mut starts = Vec::new();
    while let Some(start) = left.iter().min().map(|at| (*at).min(last)) {
        left.retain(|at| *at >= start + taps.len());
        starts.push(start);
    }
    (starts.len() <= LineTaps::MAX_SOURCES).then_some(starts)
}

/// Rows of results, each of which is made of as many lines of the source. Offsets are in bytes from the first row and line.
#[derive(Clone, Debug)]
pub struct RowLines {
    lines: Vec<Line>,
    rows: Vec<usize>,
    /// Lines of a row.
    each: u8,
    /// The farthest line and row.
    farthest: [usize; 2],
}

impl RowLines {
    /// Most lines of a row.
    pub const MAX_LINES: usize = 4;

    /// Rows with their lines. `None` without rows, or with none or too many lines.
    #[must_use]
    pub fn new(rows: &[(usize, Vec<(usize, f32)>)]) -> Option<RowLines> {
        let each = rows.iter().map(|row| row.1.len()).max().filter(|each| *each <= RowLines::MAX_LINES)?;
        if rows.iter().any(|row| row.1.is_empty()) {
            return None;
        }
        let line = |(source, weight): (usize, f32)| Line { source, weight };
        let lines: Vec<Line> = rows.iter().flat_map(|row| (0..each).map(move |i| line(tap_of(&row.1, i, each)))).collect();
        let farthest = [lines.iter().map(|line| line.source).max()?, rows.iter().map(|row| row.0).max()?];
        Some(RowLines { lines, rows: rows.iter().map(|row| row.0).collect(), each: each as u8, farthest })
    }

    /// Number of rows.
    #[must_use]
    pub fn count(&self) -> usize {
        self.rows.len()
    }

    /// Bytes of the table.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of_val(&self.lines[..]) + size_of_val(&self.rows[..])
    }
}

/// A kernel of some [`LineTaps`] and [`RowLines`].
#[derive(Clone, Debug)]
pub struct Interpolator {
    key: Interpolate,
    entry: Entry<Args>,
}

impl Interpolator {
    /// The kernel for elements of these types in source and results.
    ///
    /// # Errors
    /// As for [`code::get`].
    pub fn get(isa: Isa, [from, to]: [Elem; 2], sums: &LineTaps, rows: &RowLines) -> Result<Interpolator, Error> {
        let key = Interpolate { from, to, lines: rows.each, sources: sums.sources, taps: sums.taps };
        Ok(Interpolator { key, entry: code::get(isa, &key)? })
    }

    /// Computes some rows; their offsets count from byte `at` of source and results.
    ///
    /// # Panics
    /// If a line or row is outside its memory, or the tables are not those of the kernel.
    pub fn run(&self, sums: &LineTaps, (rows, range): (&RowLines, Range<usize>), bufs: [Buf<'_>; 2], at: [usize; 2]) {
        let Interpolate { from, to, .. } = self.key;
        assert!(
            self.key == Interpolate { from, to, lines: rows.each, sources: sums.sources, taps: sums.taps },
            "{:?} for others",
            self.key
        );
        let offsets = &rows.rows[range.clone()];
        if offsets.is_empty() {
            return;
        }
        let reach = |far: usize, elements: usize, elem: Elem| elements.checked_mul(elem.bytes()).and_then(|bytes| bytes.checked_add(far));
        let args = Args {
            source: Read::from(bufs[0]).at("lines", at[0], reach(rows.farthest[0], sums.line, from)),
            result: Written::from(bufs[1]).at("rows", at[1], reach(rows.farthest[1], sums.results, to)),
            lines: rows.lines[range.start * usize::from(rows.each)..].as_ptr(),
            rows: offsets.as_ptr(),
            count: offsets.len(),
            places: sums.places.as_ptr(),
            sources: sums.starts.as_ptr(),
            picks: sums.picks.as_ptr(),
            weights: sums.weights.as_ptr(),
            vectors: sums.places.len(),
        };
        // SAFETY: lines and rows were checked up to the farthest, the tables' vectors lie within them, and the tables have as many entries as the kernel
        // reads: they were made for its key, whose instruction set has the lanes of the tables.
        unsafe { self.entry.call(&args) }
    }
}

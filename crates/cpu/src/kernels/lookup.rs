//! Rows of elements that are copied to arbitrary places, or added up with weights, in generated code: safe to run, since every address is checked
//! before it is used.

use super::code;
use super::extent::{Read, Written};
use oxidnn_jit::ir::Elem;
use oxidnn_jit::kernels::blend::Tap as Line;
use oxidnn_jit::kernels::byte_table::{self, ByteTable, VECTOR};
use oxidnn_jit::kernels::interpolate::{self, Interpolate, Pick, Weights};
use oxidnn_jit::kernels::lookup::{Args, LANES, Lookup, SOURCES, Source, Step};
use oxidnn_jit::{Entry, Isa};
use oxidnn_runtime::Buf;
use oxidnn_spec::Error;
use std::ops::Range;

/// The kernels of some [`Places`]: one for each run of vectors with the same number of source vectors.
#[derive(Clone, Debug)]
pub struct Looker(Vec<Entry<Args>>);

/// The places of the elements of a row, vector by vector.
#[derive(Debug)]
pub struct Places {
    all: Vec<Like>,
    /// Bytes that are accessed in destination and source.
    reach: [usize; 2],
}

/// Consecutive vectors of the destination with the same number of source vectors, all of which are accessed whole, or under masks.
#[derive(Debug)]
struct Like {
    count: usize,
    whole: bool,
    steps: Vec<Step>,
    sources: Vec<Source>,
}

/// Rows of a tensor.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'b> {
    /// Its memory.
    pub buf: Buf<'b>,
    /// The byte offset from which the first row's places count.
    pub at: usize,
    /// Bytes from there to that of the next row.
    pub next: usize,
}

impl Places {
    /// From the places of elements in destination and source, with elements of these sizes, in vectors of `lanes` lanes.
    #[must_use]
    pub fn new(row: &[[u32; 2]], sizes: [usize; 2], lanes: usize) -> Places {
        let mut row: Vec<[usize; 2]> = row.iter().map(|place| place.map(|at| at as usize)).collect();
        row.sort_unstable();
        let ends: [usize; 2] = std::array::from_fn(|t| row.iter().map(|place| place[t] + 1).max().unwrap_or(0));
        let mut places = Places { all: Vec::new(), reach: [0, 1].map(|t| ends[1 - t] * sizes[1 - t]) };
        // The last vector of the source is moved back to end where the source does.
        let last = ends[1].checked_sub(lanes);
        let mut rest = &row[..];
        while let Some(first) = rest.first().map(|place| place[0]) {
            let (vector, behind) = rest.split_at(rest.partition_point(|place| place[0] < first + lanes));
            places.vector((first, vector.to_vec()), last, sizes, lanes);
            rest = behind;
        }
        places
    }

    /// A vector of the destination, with the vectors of the source that it needs, which begin at `last` at most, if that is given.
    fn vector(&mut self, (first, mut left): (usize, Vec<[usize; 2]>), last: Option<usize>, [written, read]: [usize; 2], lanes: usize) {
        let mut sources = Vec::new();
        while let Some(start) = left.iter().map(|place| place[1]).min() {
            let start = last.map_or(start, |last| start.min(last));
            let mut source = Source { from: start * read, reads: 0, takes: 0, lanes: [0; LANES] };
            for [to, at] in left.extract_if(.., |place| place[1] < start + lanes) {
                source.lanes[to - first] = (at - start) as u8;
                source.takes |= 1 << (to - first);
                source.reads |= 1 << (at - start);
            }
            sources.push(source);
        }
        for sources in sources.chunks(SOURCES) {
            let writes = sources.iter().fold(0, |writes, source| writes | source.takes);
            let (count, whole) = (sources.len(), last.is_some() && writes == u16::MAX >> (LANES - lanes));
            let i = self.all.iter().position(|like| (like.count, like.whole) == (count, whole)).unwrap_or(self.all.len());
            if i == self.all.len() {
                self.all.push(Like { count, whole, steps: Vec::new(), sources: Vec::new() });
            }
            self.all[i].steps.push(Step { to: first * written, writes });
            self.all[i].sources.extend(sources);
        }
    }

    /// Numbers of vectors of source and destination.
    #[must_use]
    pub fn vectors(&self) -> [usize; 2] {
        let sum = |of: fn(&Like) -> usize| self.all.iter().map(of).sum();
        [sum(|like| like.sources.len()), sum(|like| like.steps.len())]
    }

    /// Bytes of the tables.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let [sources, steps] = self.vectors();
        sources * size_of::<Source>() + steps * size_of::<Step>()
    }
}

impl Looker {
    /// The kernels for these element types and places.
    ///
    /// # Errors
    /// As for [`code::get`].
    pub fn get(isa: Isa, [to, from]: [Elem; 2], places: &Places) -> Result<Looker, Error> {
        let kernel = |like: &Like| code::get(isa, &Lookup { from, to, sources: like.count as u8, whole: like.whole });
        Ok(Looker(places.all.iter().map(kernel).collect::<Result<_, _>>()?))
    }

    /// Moves `times` rows. The places of the first row count from a byte offset in destination and source, those of each further row from
    /// `next` bytes later.
    ///
    /// # Panics
    /// If an element is outside its memory, or the kernels were made for other places.
    pub fn run(&self, places: &Places, times: usize, to: Rows<'_>, from: Rows<'_>) {
        assert!(self.0.len() == places.all.len(), "{} kernels for {}", self.0.len(), places.all.len());
        if self.0.is_empty() || times == 0 {
            return;
        }
        let reach = |rows: &Rows<'_>, one: usize| rows.next.checked_mul(times - 1).and_then(|bytes| bytes.checked_add(one));
        let (from_next, to_next) = (from.next, to.next);
        let from = Read::from(from.buf).at("elements", from.at, reach(&from, places.reach[0]));
        let to = Written::from(to.buf).at("places", to.at, reach(&to, places.reach[1]));
        for (entry, like) in self.0.iter().zip(&places.all) {
            let (steps, sources, count) = (like.steps.as_ptr(), like.sources.as_ptr(), like.steps.len());
            let args = Args { from, to, steps, sources, count, times, from_next, to_next };
            // SAFETY: all lanes that the tables name, and all lanes of whole vectors, are inside their memory, which was checked, and every
            // step has as many sources as the kernel reads.
            unsafe { entry.call(&args) }
        }
    }
}

/// The kernels that replace bytes by their results in a table, the second one with non-temporal stores.
#[derive(Clone, Debug)]
pub struct ByteLooker([Entry<byte_table::Args>; 2]);

impl ByteLooker {
    /// The kernels for a processor with AVX512-VBMI.
    ///
    /// # Errors
    /// As for [`code::get`].
    pub fn get(isa: Isa) -> Result<ByteLooker, Error> {
        let [near, far] = [false, true].map(|streaming| code::get(isa, &ByteTable { streaming }));
        Ok(ByteLooker([near?, far?]))
    }

    /// Stores the results of bytes, non-temporally if `far` and they are aligned.
    ///
    /// # Panics
    /// If there is less memory for results.
    pub fn run(&self, table: &[u8; 256], to: Buf<'_>, bytes: Buf<'_>, far: bool) {
        let (count, results) = (bytes.len(), to);
        let (from, to) = (Read::from(bytes).at("bytes", 0, Some(count)), Written::from(results).at("results", 0, Some(count)));
        let args = byte_table::Args { from, to, table: table.as_ptr(), vectors: count / VECTOR };
        // SAFETY: all whole vectors of the bytes and their results are inside their memory, which was checked.
        unsafe { self.0[usize::from(far && to.addr().is_multiple_of(VECTOR))].call(&args) };
        for i in count / VECTOR * VECTOR..count {
            results.set(i, table[usize::from(bytes.get::<u8>(i))]);
        }
    }
}

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
#[must_use]
pub fn tap_of(taps: &[(usize, f32)], tap: usize, most: usize) -> (usize, f32) {
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
    entry: Entry<interpolate::Args>,
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
        let args = interpolate::Args {
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

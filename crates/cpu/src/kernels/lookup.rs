//! Rows of elements that are copied to arbitrary places, in generated code: safe to run, since every address is checked before it is used.

use super::code;
use super::extent::{Read, Written};
use oxidnn_jit::ir::Elem;
use oxidnn_jit::kernels::lookup::{Args, LANES, Lookup, SOURCES, Source, Step};
use oxidnn_jit::{Entry, Isa};
use oxidnn_runtime::Buf;
use oxidnn_spec::Error;

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

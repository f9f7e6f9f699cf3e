//! Strips of pooling by generated code: safe to run, since every address is checked before it is used.

use super::code;
use super::extent::{Read, Written, reach};
use super::strip::{Finished, Tailed};
use super::tile::TailArgs;
use super::tile::tail::Results;
use oxidnn_jit::ir::Elem;
use oxidnn_jit::kernels::pool::{Args, Line, Pool, Row, Take};
use oxidnn_jit::{Entry, Isa};
use oxidnn_runtime::Buf;
use oxidnn_spec::Error;
use std::ops::Range;

/// Rows of results with the lines of their windows: made once for a plan, so that calls need not look at each.
#[derive(Clone, Default, Debug)]
pub struct Table {
    rows: Vec<Row>,
    lines: Vec<Line>,
    /// The first line of every row.
    starts: Vec<usize>,
    /// The farthest line of the source and of places that are read, the farthest result and its places.
    source: usize,
    read: usize,
    result: usize,
    written: usize,
    /// The bits of all results' places.
    places: usize,
}

impl Table {
    /// Adds a row and the lines of its window, which it need not count.
    pub fn push(&mut self, row: Row, lines: impl Iterator<Item = Line>) {
        let start = self.lines.len();
        self.lines.extend(lines);
        for line in &self.lines[start..] {
            (self.source, self.read) = (self.source.max(line.source), self.read.max(line.places));
        }
        (self.result, self.written) = (self.result.max(row.result), self.written.max(row.places));
        self.places |= row.result;
        self.starts.push(start);
        self.rows.push(Row { lines: self.lines.len() - start, ..row });
    }

    /// True where every row has a line.
    pub fn is_met(&self) -> bool {
        self.rows.iter().all(|r| r.lines > 0)
    }
}

/// Bytes of a line of memory.
const LINE: usize = 64;

/// What a kernel is made for.
pub type Spec = Tailed<Pool>;

/// Kernels for whole groups of vectors of channels, and for what is left of the last group where that may be part of one: a group the last vector of
/// which is under a mask, or where masks are slow vectors of which the first begins with channels that are made already.
#[derive(Clone, Debug)]
pub struct Strip {
    whole: Option<Part>,
    rest: Option<Part>,
    again: usize,
}

/// The channels of strips.
#[derive(Clone, Copy, Debug)]
pub struct Channels {
    /// How many.
    pub count: usize,
    /// Whether some may be made twice with the same result.
    pub twice: bool,
    /// Bytes of the last one that are not its own: what is left of the last group begins so much earlier. Whole groups do not reach it then.
    pub again: usize,
}

impl Channels {
    /// Those of whole groups, and those behind them.
    fn parted(count: usize, again: usize, group: usize) -> [usize; 2] {
        let whole = (count - usize::from(again > 0)) / group * group;
        [whole, count - whole]
    }
}

/// A kernel, with what its reach depends on.
#[derive(Clone, Debug)]
struct Part {
    entry: Entry<Finished<Args>>,
    /// What stores results past the caches.
    streaming: Option<Entry<Finished<Args>>>,
    spec: Spec,
    lanes: usize,
    /// Distance of the first and the last source column that is read; `None` where none is.
    span: Option<usize>,
}

/// A tensor: its memory, the byte where a call begins, and distances of neighbours in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// The memory.
    pub buf: Buf<'a>,
    /// The first byte.
    pub at: usize,
    /// Distance of columns.
    pub column: usize,
    /// Distance of strips.
    pub strip: usize,
    /// Distance of vectors of a group.
    pub vector: usize,
    /// Distance of groups.
    pub group: usize,
}

/// One call: a number of equal strips of some rows, by a number of channels.
#[derive(Debug)]
pub struct Call<'a> {
    /// The rows, by their distances from the first bytes.
    pub table: &'a Table,
    /// Which of them.
    pub rows: Range<usize>,
    /// The source from the first column that the first strip reads.
    pub source: Side<'a>,
    /// The result.
    pub result: Side<'a>,
    /// Places, where there are any: under the source where they are read, under the result where they are written.
    pub places: Option<Side<'a>>,
    /// Number of strips.
    pub strips: usize,
    /// Number of channels.
    pub channels: usize,
    /// Operands of the tail, and which of their columns is the first channel's.
    pub tail: (&'a TailArgs<'a>, usize),
}

impl Strip {
    /// The kernels for `spec` and channels. Results that are f32 as they are go past the caches if they are `far`, and whole lines.
    ///
    /// # Errors
    /// As for [`code::get`].
    pub fn get(isa: Isa, spec: &Spec, channels: Channels, far: bool) -> Result<Strip, Error> {
        let (pool, lanes) = (&spec.sums, isa.width().lanes());
        let part = |vectors, masked| Part::get(isa, Spec { sums: Pool { vectors, masked, ..pool.clone() }, tail: spec.tail.clone() }, far);
        let group = usize::from(pool.vectors) * lanes;
        let Channels { count, twice, again } = channels;
        let [groups, behind] = Channels::parted(count, again, group);
        let whole = groups > 0;
        let rest = pool.masked.then(|| match isa.avx512 {
            true => part(behind.div_ceil(lanes) as u8, true),
            false => part(1, !(whole && twice)),
        });
        Ok(Strip { whole: whole.then(|| part(pool.vectors, false)).transpose()?, rest: rest.transpose()?, again })
    }

    /// Computes and stores the results.
    ///
    /// # Panics
    /// When an address lies outside its buffer, or channels are not what there are kernels for.
    pub fn run(&self, mut call: Call<'_>) {
        let group = self.whole.as_ref().map_or(usize::MAX, Part::group);
        let [whole, _] = Channels::parted(call.channels, self.again, group);
        let groups = if self.rest.is_none() { call.channels.div_ceil(group) } else { whole / group };
        let channels = call.channels.min(groups.saturating_mul(group));
        assert!(self.again == 0 || groups > 0, "{} channels, the last of which is not whole", call.channels);
        let behind = call.channels - channels;
        if let (Some(whole), true) = (&self.whole, channels > 0) {
            call.channels = channels;
            whole.run(&call);
        }
        if let (Some(rest), true) = (&self.rest, behind > 0) {
            call.channels = if rest.spec.sums.masked { behind } else { behind.next_multiple_of(rest.lanes) };
            let again = call.channels - behind;
            for side in [&mut call.source, &mut call.result].into_iter().chain(&mut call.places) {
                // Vectors behind the last group follow each other.
                side.at += groups * side.group - again * (side.vector / rest.lanes) - self.again;
                side.group = side.vector;
            }
            call.tail.1 += channels - again;
            rest.run(&call);
        }
    }
}

impl Part {
    fn get(isa: Isa, spec: Spec, far: bool) -> Result<Part, Error> {
        let streamed = || Spec { sums: Pool { streaming: true, ..spec.sums.clone() }, tail: spec.tail.clone() };
        let streaming = (far && !spec.sums.masked).then(|| code::get(isa, &streamed())).transpose()?;
        let span = spec.sums.last().map(|last| (last - spec.sums.first()) as usize);
        Ok(Part { entry: code::get(isa, &spec)?, streaming, lanes: isa.width().lanes(), span, spec })
    }

    /// Channels of a group.
    fn group(&self) -> usize {
        usize::from(self.spec.sums.vectors) * self.lanes
    }

    fn run(&self, call: &Call<'_>) {
        if call.strips == 0 || call.rows.is_empty() {
            return;
        }
        let args = self.checked(call);
        let entry = self.streaming.as_ref().filter(|_| self.fills_lines(call, args.args.result)).unwrap_or(&self.entry);
        // SAFETY: the kernel reads rows, lines, source and places and writes results or places no farther than was asked of them.
        unsafe { entry.call(&args) }
    }

    /// Whether the results of a call, the first of which is there, are whole vectors at multiples of their bytes, and whole lines.
    fn fills_lines(&self, call: &Call<'_>, first: *mut u8) -> bool {
        let (side, bytes) = (&call.result, self.lanes * size_of::<f32>());
        let places = first.addr() | call.table.places | side.column | side.strip | side.vector | side.group;
        places.is_multiple_of(bytes) && (bytes == LINE || side.column == bytes || self.spec.sums.vectors.is_multiple_of(2))
    }

    /// How far so many columns of every strip and group reach, from `farthest` of a tensor's rows or lines on.
    fn reach(&self, call: &Call<'_>, side: &Side, (columns, size, farthest): (usize, usize, usize)) -> Option<usize> {
        let (vectors, group) = (usize::from(self.spec.sums.vectors), usize::from(self.spec.sums.vectors) * self.lanes);
        let groups = call.channels.div_ceil(group);
        // The last vector may be a part of one.
        let last = call.channels - (groups - 1) * group - (vectors - 1) * self.lanes;
        let loops = [(columns, side.column), (call.strips, side.strip), (vectors, side.vector), (groups, side.group)];
        reach(&loops, last * size)?.checked_add(farthest)
    }

    /// The arguments of a call that is not empty.
    fn checked(&self, call: &Call<'_>) -> Finished<Args> {
        let (pool, table, lanes) = (&self.spec.sums, call.table, self.lanes);
        let group = usize::from(pool.vectors) * lanes;
        let whole = call.channels.is_multiple_of(group);
        let last = usize::from(pool.vectors) - 1;
        let part = pool.masked && (last == 0 || (last * lanes..=group).contains(&call.channels));
        assert!(whole || part, "{} channels are not whole groups of {group}", call.channels);
        let rows = &table.rows[call.rows.clone()];
        let results = usize::from(pool.results);
        let near =
            |side: &Side, elem: Elem| assert!(pool.vectors == 1 || side.vector == lanes * elem.bytes(), "vectors that lie apart: {call:?}");
        // Vectors of a group of the source follow each other.
        near(&call.source, pool.source);
        let span = self.span.filter(|_| !table.lines.is_empty()).map(|span| span + 1);
        let source = span.map_or(std::ptr::null(), |span| {
            let reach = self.reach(call, &call.source, (span, pool.source.bytes(), table.source));
            Read::from(call.source.buf).at("source", call.source.at, reach)
        });
        let reach = self.reach(call, &call.result, (results, self.spec.tail.dst_size(), table.result));
        let result = Written::from(call.result.buf).at("result", call.result.at, reach);
        let nothing = Side { buf: Buf::empty(), at: 0, column: 0, strip: 0, vector: 0, group: 0 };
        let wanted = match pool.take {
            Take::Chosen(elem) => Some((elem, span.map(|span| (span, elem.bytes(), table.read)))),
            Take::Place(elem) => Some((elem, Some((results, elem.bytes(), table.written)))),
            _ => None,
        };
        let (places, first) = match (wanted, &call.places) {
            (None, _) => (nothing, std::ptr::null_mut()),
            (Some(_), None) => panic!("no places: {call:?}"),
            (Some((elem, columns)), Some(places)) => {
                near(places, elem);
                let at = |columns| Written::from(places.buf).at("places", places.at, self.reach(call, places, columns));
                (*places, columns.map_or(std::ptr::null_mut(), at))
            }
        };
        let groups = call.channels.div_ceil(group);
        let args = Args {
            rows: rows.as_ptr(),
            count: rows.len(),
            lines: table.lines[table.starts[call.rows.start]..].as_ptr(),
            strips: call.strips,
            groups,
            channels: call.channels,
            source,
            column: call.source.column,
            strip: call.source.strip,
            group: call.source.group,
            result,
            result_column: call.result.column,
            result_strip: call.result.strip,
            result_vector: call.result.vector,
            result_group: call.result.group,
            places: first,
            places_column: places.column,
            places_strip: places.strip,
            places_group: places.group,
        };
        let results = Results { column: call.tail.1, channels: groups * group, at: result, reach };
        Finished::new(args, &self.spec.tail, call.tail.0, results)
    }
}

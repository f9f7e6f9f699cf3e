//! Strips of depthwise convolution by generated code: safe to run, since every address is checked before it is used.

use super::code;
use super::extent::{LINE, Read, Written, reach};
use super::tile::tail::{Results, StripBlock};
use super::tile::{Tail, TailArgs};
use oxidnn_jit::kernels::depthwise::{Args, Depthwise, Row, StripKey, weights};
use oxidnn_jit::{Entry, Function, Isa, Key};
use oxidnn_spec::Error;
use std::mem::offset_of;
use std::ops::Range;

pub use oxidnn_jit::kernels::depthwise::Line;

/// Bytes of a number of sums.
const WORD: usize = size_of::<f32>();

/// Rows of results with the lines of their windows: made once for a plan, so that calls need not look at each.
#[derive(Clone, Default, Debug)]
pub struct Table {
    rows: Vec<Row>,
    lines: Vec<Line>,
    /// The first line of every row.
    starts: Vec<usize>,
    /// The farthest line of the source and of the weights, and the farthest result.
    source: usize,
    weights: usize,
    result: usize,
}

impl Table {
    /// Adds a row whose results are so many bytes behind the first, and the lines of its window.
    pub fn push(&mut self, result: usize, lines: impl Iterator<Item = Line>) {
        let start = self.lines.len();
        self.lines.extend(lines);
        for line in &self.lines[start..] {
            (self.source, self.weights) = (self.source.max(line.source), self.weights.max(line.weights));
        }
        self.result = self.result.max(result);
        self.starts.push(start);
        self.rows.push(Row { result, lines: self.lines.len() - start });
    }
}

/// A kernel of strips whose results a tail finishes. This is its key.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Tailed<K> {
    /// What makes the results.
    pub sums: K,
    /// What happens to them, storing included.
    pub tail: Tail,
}

/// A kernel of depthwise convolution.
pub type Spec = Tailed<Depthwise>;

impl<K: StripKey> Key for Tailed<K> {
    type Args = Finished<K::Args>;

    fn name(&self, isa: Isa) -> String {
        self.sums.name(isa)
    }

    fn write(&self, f: &mut Function) {
        self.sums.write_strips(f, &mut |f, strip| self.tail.write_strip(f, strip, Finished::<K::Args>::TAIL));
    }
}

/// What kernels of strips read: their own arguments, and what their tails do.
#[repr(C)]
#[derive(Debug)]
pub struct Finished<A> {
    pub(super) args: A,
    tail: StripBlock,
}

impl<A> Finished<A> {
    /// Where a tail finds its arguments.
    pub(super) const TAIL: usize = offset_of!(Finished<A>, tail);

    /// The arguments of a call with these results.
    ///
    /// # Panics
    /// Where the tail's operands end before the results do.
    pub(super) fn new(args: A, tail: &Tail, operands: &TailArgs<'_>, results: Results) -> Finished<A> {
        let found = operands.of_strips(tail, results);
        Finished { args, tail: found.unwrap_or_else(|| panic!("operands of a strip's tail end before {results:?}")) }
    }
}

/// Kernels for whole vectors of channels, and for what is left of the last one where that may be part of one.
#[derive(Clone, Debug)]
pub struct Strip {
    whole: Option<Part>,
    rest: Option<Part>,
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
    /// Vectors of a line of weights.
    line: usize,
}

/// Distances of neighbours in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    /// Columns.
    pub column: usize,
    /// Strips.
    pub strip: usize,
    /// Vectors of channels.
    pub vector: usize,
}

/// One call: a number of equal strips of some rows, by a number of channels.
#[derive(Debug)]
pub struct Call<'a> {
    /// The rows, by their distances from `result.1`, with lines by their distances from `source.1` and `weights.1`.
    pub table: &'a Table,
    /// Which of them.
    pub rows: Range<usize>,
    /// The source, and the first column that the first strip reads.
    pub source: (Read<'a>, usize),
    /// Its distances.
    pub source_steps: Steps,
    /// The weights, and those of the first vector.
    pub weights: (Read<'a>, usize),
    /// Distance of vectors of the weights.
    pub weights_vector: usize,
    /// The result, and where the first goes.
    pub result: (Written<'a>, usize),
    /// Its distances.
    pub result_steps: Steps,
    /// Number of strips.
    pub strips: usize,
    /// Number of channels of the result; where groups have others of the source, those are last in memory.
    pub channels: usize,
    /// What is subtracted from the source, for every channel; whole vectors, or empty.
    pub shift: &'a [f32],
    /// Operands of the tail, and which of their columns is the first channel's.
    pub tail: (&'a TailArgs<'a>, usize),
    /// True where the window's last line comes from beyond L2.
    pub far: bool,
}

impl Call<'_> {
    /// Brings what the strips read of their window's last line: pixels of so many bytes.
    fn meet(&self, pixel: usize) {
        let (table, steps) = (self.table, &self.source_steps);
        for row in self.rows.clone() {
            let last = table.starts[row] + table.rows[row].lines;
            let Some(line) = table.lines[table.starts[row]..last].last() else { continue };
            meet(self.source.0, self.source.1 + line.source, [steps.column, self.strips * steps.strip], pixel);
        }
    }
}

/// Brings the pixels of a line whose distance, and whose last one's end, is so many bytes; together where they share lines of the cache.
fn meet(memory: Read<'_>, first: usize, [column, line]: [usize; 2], pixel: usize) {
    if column <= pixel.next_multiple_of(LINE) {
        return memory.meet(first, line);
    }
    (0..line).step_by(column).for_each(|at| memory.meet(first + at, pixel));
}

impl Strip {
    /// The kernels for `spec` and so many channels.
    ///
    /// # Errors
    /// As for [`code::get`].
    pub fn get(isa: Isa, spec: &Spec, channels: usize) -> Result<Strip, Error> {
        let sums = &spec.sums;
        let part = |masked| Part::get(isa, Spec { sums: Depthwise { masked, ..sums.clone() }, tail: spec.tail.clone() });
        // Groups of other channels of the source have vectors of their own.
        let whole = !sums.masked || sums.group[0] == sums.group[1] && channels >= isa.width().lanes();
        Ok(Strip { whole: whole.then(|| part(false)).transpose()?, rest: sums.masked.then(|| part(true)).transpose()? })
    }

    /// Computes and stores the results.
    ///
    /// # Panics
    /// When an address lies outside its buffer, or channels are not what there are kernels for.
    pub fn run(&self, mut call: Call<'_>) {
        let vectors = match (&self.whole, &self.rest) {
            (Some(whole), Some(_)) => call.channels / whole.lanes,
            (Some(whole), None) => call.channels.div_ceil(whole.lanes),
            _ => 0,
        };
        if let Some(part) = self.whole.as_ref().or(self.rest.as_ref()).filter(|_| call.far) {
            let Depthwise { group: [from, to], source, .. } = part.spec.sums;
            call.meet(call.channels / usize::from(to) * usize::from(from) * source.bytes());
        }
        let channels = self.whole.as_ref().map_or(0, |whole| call.channels.min(vectors * whole.lanes));
        let behind = call.channels - channels;
        if let (Some(whole), true) = (&self.whole, channels > 0) {
            call.channels = channels;
            whole.run(&call);
        }
        if let (Some(rest), true) = (&self.rest, behind > 0) {
            call.channels = behind;
            call.source.1 += vectors * call.source_steps.vector;
            call.weights.1 += vectors * call.weights_vector;
            call.result.1 += vectors * call.result_steps.vector;
            call.shift = call.shift.get(channels..).unwrap_or_default();
            call.tail.1 += channels;
            rest.run(&call);
        }
    }
}

impl Part {
    fn get(isa: Isa, mut spec: Spec) -> Result<Part, Error> {
        let streaming = (spec.sums.streaming && !spec.sums.masked).then(|| code::get(isa, &spec)).transpose()?;
        spec.sums.streaming = false;
        let span = spec.sums.last().map(|last| (last - spec.sums.first()) as usize);
        let line = spec.sums.taps.iter().map(|t| usize::from(t.weights) + 1).max().unwrap_or(0) * usize::from(spec.sums.group[0]);
        Ok(Part { entry: code::get(isa, &spec)?, streaming, lanes: isa.width().lanes(), span, line, spec })
    }

    fn run(&self, call: &Call<'_>) {
        if call.strips == 0 || call.rows.is_empty() {
            return;
        }
        let args = self.checked(call);
        let entry = self.streaming.as_ref().filter(|_| self.fills_lines(call, args.args.result)).unwrap_or(&self.entry);
        // SAFETY: the kernel reads rows, lines, shifts, source and weights and writes results no farther than was asked of them.
        unsafe { entry.call(&args) }
    }

    /// Whether the results of a call, the first of which is there, are whole lines of the caches.
    fn fills_lines(&self, call: &Call<'_>, first: *mut u8) -> bool {
        let (steps, rows) = (&call.result_steps, &call.table.rows[call.rows.clone()]);
        let places = rows.iter().fold(first.addr() | steps.column | steps.strip | steps.vector, |all, row| all | row.result);
        places.is_multiple_of(LINE) && self.lanes * self.spec.tail.dst_size() == LINE
    }

    /// The arguments of a call that is not empty.
    fn checked(&self, call: &Call<'_>) -> Finished<Args> {
        let vectors = call.channels.div_ceil(self.lanes);
        let (table, rows, Spec { sums, tail }) = (call.table, &call.table.rows[call.rows.clone()], &self.spec);
        let [x_size, w_size, y_size] = [sums.source.bytes(), sums.weights.bytes(), tail.dst_size()];
        assert!(sums.masked || call.channels.is_multiple_of(self.lanes), "{} channels are not whole vectors", call.channels);
        let [from, to] = sums.group.map(usize::from);
        let (source_channels, each) = (call.channels / to * from, self.lanes / to * from);
        let side_by_side = from == to || call.source_steps.vector == each * x_size;
        assert!(side_by_side, "groups of {from} channels to {to} that lie apart");
        let shift = if sums.shifted { Some(vectors * self.lanes * WORD) } else { Some(0) };
        let last = call.channels - (vectors - 1) * self.lanes;
        let strips = |farthest: usize, s: &Steps, columns: usize, bytes: usize| {
            reach(&[(columns, s.column), (call.strips, s.strip), (vectors, s.vector)], last * bytes)?.checked_add(farthest)
        };
        let taps = reach(&[(vectors, call.weights_vector)], self.line * self.lanes * w_size);
        let taps = taps.and_then(|taps| taps.checked_add(table.weights));
        // Lines read their weights, those too whose taps all meet padding.
        let weights = if table.lines.is_empty() { std::ptr::null() } else { call.weights.0.at("weights", call.weights.1, taps) };
        let source = match self.span.filter(|_| !table.lines.is_empty()) {
            None => std::ptr::null(),
            Some(span) if from == to => {
                call.source.0.at("source", call.source.1, strips(table.source, &call.source_steps, span + 1, x_size))
            }
            Some(span) => {
                let s = &call.source_steps;
                let end = reach(&[(span + 1, s.column), (call.strips, s.strip)], source_channels * x_size);
                call.source.0.at("source", call.source.1, end.and_then(|end| end.checked_add(table.source)))
            }
        };
        let result = strips(table.result, &call.result_steps, sums.results.into(), y_size);
        let at = call.result.0.at("result", call.result.1, result);
        let results = Results { column: call.tail.1, channels: vectors * self.lanes, at, reach: result };
        let args = Args {
            rows: rows.as_ptr(),
            count: rows.len(),
            lines: table.lines[table.starts[call.rows.start]..].as_ptr(),
            source,
            column: call.source_steps.column,
            strip: call.source_steps.strip,
            vector: call.source_steps.vector,
            strips: call.strips,
            vectors,
            channels: call.channels,
            source_channels,
            weights,
            weights_vector: call.weights_vector,
            result: at,
            result_column: call.result_steps.column,
            result_strip: call.result_steps.strip,
            result_vector: call.result_steps.vector,
            shift: Read::from(call.shift).at("shift", 0, shift).cast(),
        };
        Finished::new(args, tail, call.tail.0, results)
    }
}

/// The kernel of a gradient of weights.
#[derive(Clone, Debug)]
pub struct Gradient {
    entry: Entry<weights::Args>,
    key: weights::Gradient,
    lanes: usize,
    /// Strips of the part that is repeated, and what a row reads with them: columns before the first place's, the last column counted from that (before
    /// it, where all taps are), and places.
    strips: usize,
    before: usize,
    last: i64,
    places: usize,
    /// Elements of a vector's sums.
    sums: usize,
}

/// One call of a [`Gradient`]: some rows of some images, by a number of channels.
#[derive(Debug)]
pub struct GradientCall<'a> {
    /// The source with the column from which those of taps are counted at the first place, and the gradient of the result with that place; with
    /// their distances.
    pub operands: [(Read<'a>, usize, weights::Steps); 2],
    /// Rows and images.
    pub counts: [usize; 2],
    /// Number of channels.
    pub channels: usize,
    /// What is added to, and numbers from the sums of a vector of channels to the next's, and from those of a line.
    pub sums: (&'a mut [f32], [usize; 2]),
    /// True where strips come from beyond L2.
    pub far: bool,
}

impl GradientCall<'_> {
    /// Brings what the strips read: of the source the lines of the window that the row before has not read.
    fn meet(&self, strips: usize, lines: usize, sizes: [usize; 2]) {
        let [(x, x_at, source), (y, y_at, gradient)] = self.operands;
        let new = (source.row / source.line.max(1)).clamp(1, lines);
        let [x_pixel, y_pixel] = sizes.map(|size| self.channels * size);
        for line in lines - new..lines {
            meet(x, x_at + line * source.line, [source.column, strips * source.strip], x_pixel);
        }
        meet(y, y_at, [gradient.column, strips * gradient.strip], y_pixel);
    }
}

impl Gradient {
    /// The kernel for `key`, for rows with so many strips of the part that is repeated.
    ///
    /// # Errors
    /// As for [`code::get`]; [`Error::Runtime`] for rows that no memory has.
    pub fn get(isa: Isa, key: &weights::Gradient, strips: usize) -> Result<Gradient, Error> {
        let reach = key
            .reach(strips)
            .filter(|_| strips > 0)
            .and_then(|(low, high, places)| Some((usize::try_from(low.checked_neg()?.max(0)).ok()?, high, places)));
        let (before, last, places) = reach.ok_or_else(|| Error::Runtime(format!("a row of {strips} strips")))?;
        let lanes = isa.width().lanes();
        let sums = key.taps.iter().map(|t| usize::from(t.weights) + 1).max().unwrap_or(0) * usize::from(key.group) * lanes;
        Ok(Gradient { entry: code::get(isa, key)?, key: key.clone(), lanes, strips, before, last, places, sums })
    }

    /// Adds the products to the sums.
    ///
    /// # Panics
    /// When an address lies outside its buffer.
    pub fn run(&self, call: GradientCall<'_>) {
        if call.counts.contains(&0) || call.channels == 0 {
            return;
        }
        if call.far {
            call.meet(self.strips, usize::from(self.key.lines).max(1), self.key.types.map(|t| t.bytes()));
        }
        let args = self.checked(call);
        // SAFETY: the kernel reads source and gradient and adds to sums no farther than was asked of them.
        unsafe { self.entry.call(&args) }
    }

    /// The arguments of a call that is not empty.
    fn checked(&self, call: GradientCall<'_>) -> weights::Args {
        let GradientCall { operands, counts: [rows, images], channels, sums: (sums, [sums_vector, sums_line]), .. } = call;
        let vectors = channels.div_ceil(self.lanes);
        assert!(self.key.masked || channels.is_multiple_of(self.lanes), "{channels} channels are not whole vectors");
        let [(x, x_at, source_steps), (y, y_at, gradient_steps)] = operands;
        let last = channels - (vectors - 1) * self.lanes;
        let lines = usize::from(self.key.lines);
        let outer = |s: &weights::Steps| reach(&[(rows, s.row), (images, s.image), (vectors, s.vector)], 0);
        // Strips follow each other as places do.
        let strip = self.key.parts.iter().find(|p| p.repeated).map_or(0, |p| usize::from(p.places));
        let even = |steps: &weights::Steps, places: usize| places.checked_mul(steps.column) == Some(steps.strip);
        let evenly = even(&gradient_steps, strip) && even(&source_steps, strip * usize::from(self.key.stride));
        assert!(evenly, "strips that do not follow each other: {operands:?}");
        let [x_size, y_size] = self.key.types.map(|t| t.bytes());
        // The first tap may lie before the first place's column.
        let before = self.before.checked_mul(source_steps.column).filter(|before| *before <= x_at);
        let source = || {
            let columns = i64::try_from(source_steps.column).ok()?.checked_mul(self.last)?;
            let taps = reach(&[(lines, source_steps.line)], 0)?;
            let farthest =
                outer(&source_steps)?.checked_add(taps)?.checked_add(before?)?.checked_add_signed(isize::try_from(columns).ok()?)?;
            farthest.checked_add(last * x_size)
        };
        let source = x.at("source", x_at - before.unwrap_or(0), source()).wrapping_add(before.unwrap_or(0));
        let places = reach(&[(self.places.max(1), gradient_steps.column)], last * y_size);
        let gradient = outer(&gradient_steps).zip(places).and_then(|(outer, places)| outer.checked_add(places));
        let of_sums = reach(&[(vectors, sums_vector), (lines, sums_line)], self.sums).and_then(|numbers| numbers.checked_mul(WORD));
        weights::Args {
            source,
            source_steps,
            gradient: y.at("gradient", y_at, gradient),
            gradient_steps,
            strips: self.strips,
            rows,
            images,
            vectors,
            channels,
            sums: Written::from(sums).at("sums", 0, of_sums).cast(),
            sums_vector: sums_vector * WORD,
            sums_line: sums_line * WORD,
        }
    }
}

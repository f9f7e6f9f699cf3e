//! Strips of results of windows in generated code (depthwise convolution, pooling): safe to run, since every address is checked before it
//! is used.

use super::code;
use super::extent::{LINE, Read, Written, reach};
use super::microkernel::epilogue::{Results, StripBlock};
use super::microkernel::{Epilogue, EpilogueArgs};
use oxidnn_jit::ir::Elem;
use oxidnn_jit::kernels::depthwise::weights;
use oxidnn_jit::kernels::strips::{self, Args, Other, StripKey, Window, WindowKey};
use oxidnn_jit::{Entry, Function, Isa, Key};
use oxidnn_runtime::Buf;
use oxidnn_spec::Error;
use std::mem::offset_of;
use std::ops::Range;

pub use oxidnn_jit::kernels::strips::{Line, Row};

/// Bytes of an element of sums.
const WORD: usize = size_of::<f32>();

/// Rows of results with the lines of their windows. The farthest offsets are computed once for a plan, so calls need not inspect each row.
#[derive(Clone, Default, Debug)]
pub struct Table {
    rows: Vec<Row>,
    lines: Vec<Line>,
    /// The index of every row's first line.
    starts: Vec<usize>,
    /// The farthest offsets of lines that are read, in the source and in the other operand; and of rows that are written, in the result and
    /// in the other operand.
    read: [usize; 2],
    written: [usize; 2],
    /// The bitwise OR of all results' offsets, which shows their alignment.
    places: usize,
}

impl Table {
    /// An empty table with room for so many rows, and so many lines in all.
    pub fn with_capacity(rows: usize, lines: usize) -> Table {
        Table { rows: Vec::with_capacity(rows), lines: Vec::with_capacity(lines), starts: Vec::with_capacity(rows), ..Table::default() }
    }

    /// Adds a row and the lines of its window; `row.lines` is set here.
    pub fn push(&mut self, row: Row, lines: impl Iterator<Item = Line>) {
        let start = self.lines.len();
        self.lines.extend(lines);
        let farthest = |most: [usize; 2], at: [usize; 2]| [most[0].max(at[0]), most[1].max(at[1])];
        self.read = self.lines[start..].iter().fold(self.read, |most, line| farthest(most, [line.source, line.other]));
        self.written = farthest(self.written, [row.result, row.other]);
        self.places |= row.result;
        self.starts.push(start);
        self.rows.push(Row { lines: self.lines.len() - start, ..row });
    }

    /// The rows of so many images, at these distances in source, result and the other operand.
    #[must_use]
    pub fn repeated(&self, images: usize, [source, result, other]: [usize; 3]) -> Table {
        let mut all = Table::with_capacity(images * self.rows.len(), images * self.lines.len());
        for (image, (i, row)) in (0..images).flat_map(|image| self.rows.iter().enumerate().map(move |row| (image, row))) {
            let line = |l: &Line| Line { source: l.source + image * source, other: l.other + image * other, ..*l };
            let row = Row { result: row.result + image * result, other: row.other + image * other, ..*row };
            all.push(row, self.window(i).iter().map(line));
        }
        all
    }

    /// Number of lines.
    pub fn lines(&self) -> usize {
        self.lines.len()
    }

    /// The lines of a row's window.
    fn window(&self, row: usize) -> &[Line] {
        &self.lines[self.starts[row]..][..self.rows[row].lines]
    }

    /// Whether every row has a line.
    pub fn is_met(&self) -> bool {
        self.rows.iter().all(|r| r.lines > 0)
    }
}

/// The key of a kernel of strips with an epilogue.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct WithEpilogue<K> {
    /// The kernel for the results.
    pub sums: K,
    /// Their epilogue, which stores them.
    pub epilogue: Epilogue,
}

impl<K: StripKey> Key for WithEpilogue<K> {
    type Args = Finished<K::Args>;

    fn name(&self, isa: Isa) -> String {
        self.sums.name(isa)
    }

    fn write(&self, f: &mut Function) {
        self.sums.write_strips(f, &mut |f, strip| self.epilogue.write_strip(f, strip, Finished::<K::Args>::TAIL));
    }
}

/// Arguments of kernels of strips: their own, and those of the epilogue.
#[repr(C)]
#[derive(Debug)]
pub struct Finished<A> {
    pub(super) args: A,
    epilogue: StripBlock,
}

impl<A> Finished<A> {
    /// The offset of the epilogue's arguments.
    pub(super) const TAIL: usize = offset_of!(Finished<A>, epilogue);

    /// The arguments of a call with these results.
    ///
    /// # Panics
    /// If the epilogue's operands are shorter than the results.
    pub(super) fn new(args: A, epilogue: &Epilogue, operands: &EpilogueArgs<'_>, results: Results) -> Finished<A> {
        let found = operands.of_strips(epilogue, results);
        Finished { args, epilogue: found.unwrap_or_else(|| panic!("operands of a strip's epilogue end before {results:?}")) }
    }
}

/// Kernels for whole groups of vectors of channels, and for the rest of the channels: a group whose last vector is masked; or, where masks
/// are slow, single vectors of which the first overlaps channels that were computed already.
#[derive(Clone, Debug)]
pub struct Strip {
    whole: Option<Part>,
    rest: Option<Part>,
    again: usize,
}

/// The channels of strips.
#[derive(Clone, Copy, Debug)]
pub struct Channels {
    /// Number of channels.
    pub count: usize,
    /// Whether channels may be computed twice with the same result.
    pub twice: bool,
    /// Bytes by which the last channel overlaps the one before: the rest begins that much earlier, and whole groups do not include it.
    pub again: usize,
}

impl Channels {
    /// Channels that are computed once.
    pub fn once(count: usize) -> Channels {
        Channels { count, twice: false, again: 0 }
    }

    /// Channels of whole groups, and of the rest.
    fn parted(count: usize, again: usize, group: usize) -> [usize; 2] {
        let whole = (count - usize::from(again > 0)) / group * group;
        [whole, count - whole]
    }
}

/// A kernel, with the parameters of its reach.
#[derive(Clone, Debug)]
struct Part {
    entry: Entry<Finished<Args>>,
    /// The kernel with non-temporal stores.
    streaming: Option<Entry<Finished<Args>>>,
    window: Window,
    other: Other,
    /// Channels of a group, of the source and of the result.
    channels: [usize; 2],
    is_shifted: bool,
    epilogue: Epilogue,
    lanes: usize,
    /// Columns from the first to the last that is read; `None` if none is read.
    span: Option<usize>,
}

/// A tensor: its memory, the byte offset of the call, and strides in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Operand<'a> {
    /// The memory.
    pub buf: Buf<'a>,
    /// The first byte.
    pub at: usize,
    /// Stride of columns.
    pub column: usize,
    /// Stride of strips.
    pub strip: usize,
    /// Stride of vectors within a group.
    pub vector: usize,
    /// Stride of groups.
    pub group: usize,
}

impl Operand<'_> {
    /// The same with groups of one vector, whose stride is that of vectors.
    pub fn of_vectors(self) -> Self {
        Operand { vector: self.group, ..self }
    }

    /// The operand as kernels take it, from an address on.
    fn from(&self, at: *mut u8) -> strips::Operand {
        strips::Operand { at, column: self.column, strip: self.strip, vector: self.vector, group: self.group }
    }
}

/// A call: equal strips of some rows, for some channels.
#[derive(Debug)]
pub struct Call<'a> {
    /// The rows and lines, by byte offset.
    pub table: &'a Table,
    /// The rows to compute.
    pub rows: Range<usize>,
    /// The source, from the first column that the first strip reads.
    pub source: Operand<'a>,
    /// The result.
    pub result: Operand<'a>,
    /// A third operand, if there is one: weights, of which only groups have a stride, or places of maxima.
    pub other: Option<Operand<'a>>,
    /// Number of strips.
    pub strips: usize,
    /// Number of channels of the result; if groups have other numbers of channels in the source, channels are last in memory.
    pub channels: usize,
    /// What is subtracted from the source, by channel; whole vectors, or empty.
    pub shift: &'a [f32],
    /// Operands of the epilogue, and the column of these that belongs to the first channel.
    pub epilogue: (&'a EpilogueArgs<'a>, usize),
    /// Whether lines of the window that the row before does not read come from beyond L2.
    pub far: bool,
}

impl Call<'_> {
    /// Reads ahead the pixels, of `pixel` bytes, in the lines of the windows that the row before does not read.
    fn check_reads(&self, pixel: usize) {
        let (table, source) = (self.table, &self.source);
        for row in self.rows.clone() {
            let met = row.checked_sub(1).and_then(|before| table.window(before).last());
            for line in table.window(row).iter().filter(|line| met.is_none_or(|met| line.source > met.source)) {
                check_reads(source.buf.into(), source.at + line.source, [source.column, self.strips * source.strip], pixel);
            }
        }
    }
}

/// Reads ahead the pixels of a line, `column` bytes apart over `line` bytes; as one run if they share cache lines.
fn check_reads(memory: Read<'_>, first: usize, [column, line]: [usize; 2], pixel: usize) {
    if column <= pixel.next_multiple_of(LINE) {
        return memory.check_reads(first, line);
    }
    (0..line).step_by(column).for_each(|at| memory.check_reads(first + at, pixel));
}

impl Strip {
    /// The kernels for `spec` and channels. If the window asks for non-temporal stores, these are used for whole vectors that fill cache
    /// lines.
    ///
    /// # Errors
    /// As for [`code::get`].
    pub fn get<K: WindowKey>(isa: Isa, spec: &WithEpilogue<K>, channels: Channels) -> Result<Strip, Error> {
        let (window, [from, to]) = (spec.sums.window(), spec.sums.group());
        let (lanes, masked) = (isa.width().lanes(), window.masked);
        let part = |vectors, masked| {
            let sums = spec.sums.with(Window { vectors, masked, ..window.clone() });
            Part::get(isa, WithEpilogue { sums, epilogue: spec.epilogue.clone() })
        };
        let group = window.channels(lanes);
        let Channels { count, twice, again } = channels;
        let [groups, behind] = Channels::parted(count, again, group);
        // Groups with other numbers of channels in the source have vectors of their own.
        let whole = groups > 0 && (from == to && window.idle == 0 || !masked);
        let rest = masked.then(|| match isa.avx512 {
            true => part(behind.div_ceil(lanes).max(1) as u8, true),
            false => part(1, !(whole && twice)),
        });
        Ok(Strip { whole: whole.then(|| part(window.vectors, false)).transpose()?, rest: rest.transpose()?, again })
    }

    /// Computes and stores the results.
    ///
    /// # Panics
    /// If an address is outside its buffer, or there are no kernels for the channels.
    pub fn run(&self, mut call: Call<'_>) {
        if let Some(part) = self.whole.as_ref().or(self.rest.as_ref()).filter(|_| call.far) {
            let [from, to] = part.channels;
            call.check_reads(call.channels / to * from * part.window.source.bytes());
        }
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
            call.channels = if rest.window.masked { behind } else { behind.next_multiple_of(rest.lanes) };
            let again = call.channels - behind;
            for operand in [&mut call.source, &mut call.result].into_iter().chain(&mut call.other) {
                // Single vectors after the last group follow each other.
                operand.at += groups * operand.group - again * (operand.vector / rest.lanes) - self.again;
                operand.group = operand.vector;
            }
            call.shift = call.shift.get(channels..).unwrap_or_default();
            call.epilogue.1 += channels - again;
            rest.run(&call);
        }
    }
}

impl Part {
    fn get<K: WindowKey>(isa: Isa, mut spec: WithEpilogue<K>) -> Result<Part, Error> {
        let window = Window { streaming: false, ..spec.sums.window().clone() };
        let streams = spec.sums.window().streaming && !window.masked;
        let streaming = streams.then(|| code::get(isa, &spec)).transpose()?;
        spec.sums = spec.sums.with(window.clone());
        Ok(Part {
            entry: code::get(isa, &spec)?,
            streaming,
            span: window.last().map(|last| (last - window.first()) as usize + 1),
            window,
            other: spec.sums.other(),
            channels: spec.sums.group(),
            is_shifted: spec.sums.is_shifted(),
            epilogue: spec.epilogue,
            lanes: isa.width().lanes(),
        })
    }

    /// Channels of a group of vectors.
    fn group(&self) -> usize {
        self.window.channels(self.lanes)
    }

    fn run(&self, call: &Call<'_>) {
        if call.strips == 0 || call.rows.is_empty() {
            return;
        }
        let args = self.checked(call);
        let entry = self.streaming.as_ref().filter(|_| self.fills_lines(call, args.args.result.at)).unwrap_or(&self.entry);
        // SAFETY: the kernel reads rows, lines, shifts, source and third operand and writes results, or places, no farther than was
        // checked.
        unsafe { entry.call(&args) }
    }

    /// Whether the results of a call, of which `first` is the first, are aligned vectors and whole cache lines.
    fn fills_lines(&self, call: &Call<'_>, first: *mut u8) -> bool {
        let (operand, bytes) = (&call.result, self.lanes * self.epilogue.dst_size());
        let places = first.addr() | call.table.places | operand.column | operand.strip | operand.vector | operand.group;
        places.is_multiple_of(bytes) && (bytes == LINE || operand.column == bytes || self.window.vectors.is_multiple_of(2))
    }

    /// How far `columns` columns of every strip and group reach, from `farthest`, the farthest of a tensor's rows or lines.
    fn reach(&self, call: &Call<'_>, operand: &Operand<'_>, (columns, size, farthest): (usize, usize, usize)) -> Option<usize> {
        let (vectors, group) = (usize::from(self.window.vectors), self.group());
        let groups = call.channels.div_ceil(group);
        // The last vector may be partial.
        let last = call.channels - (groups - 1) * group - (vectors - 1) * self.lanes;
        let loops = [(columns, operand.column), (call.strips, operand.strip), (vectors, operand.vector), (groups, operand.group)];
        reach(&loops, last * size)?.checked_add(farthest)
    }

    /// The reach in the source of a call, with `channels` channels and `span` columns.
    fn reach_source(&self, call: &Call<'_>, channels: usize, span: usize) -> Option<usize> {
        let (operand, size, [from, to]) = (&call.source, self.window.source.bytes(), self.channels);
        if from == to {
            return self.reach(call, operand, (span, size, call.table.read[0]));
        }
        assert!(operand.group == self.lanes / to * from * size, "groups of {from} channels to {to} that lie apart");
        reach(&[(span, operand.column), (call.strips, operand.strip)], channels * size)?.checked_add(call.table.read[0])
    }

    /// The third operand of a call, of whose lines `span` columns are read.
    fn other(&self, call: &Call<'_>, groups: usize, span: Option<usize>) -> strips::Operand {
        let operand = match (self.other, &call.other) {
            (Other::None, _) => return strips::Operand::NONE,
            (_, None) => panic!("no operand beside source and result: {call:?}"),
            (_, Some(operand)) => operand,
        };
        let place = |elem: Elem, columns: usize, farthest: usize| {
            self.check_contiguous(operand, elem);
            Written::from(operand.buf).at("places", operand.at, self.reach(call, operand, (columns, elem.bytes(), farthest)))
        };
        let at = match self.other {
            // Lines read their weights even if all their taps are on padding.
            Other::Weights(elem, vectors) if !call.table.lines.is_empty() => {
                let end = reach(&[(groups, operand.group)], vectors * self.group() * elem.bytes());
                Read::from(operand.buf).at("weights", operand.at, end.and_then(|end| end.checked_add(call.table.read[1]))).cast_mut()
            }
            Other::Read(elem) => span.map_or(std::ptr::null_mut(), |span| place(elem, span, call.table.read[1])),
            Other::Written(elem) => place(elem, self.window.results.into(), call.table.written[1]),
            Other::None | Other::Weights(..) => std::ptr::null_mut(),
        };
        operand.from(at)
    }

    /// Whether the vectors of a group are contiguous.
    fn check_contiguous(&self, operand: &Operand<'_>, elem: Elem) {
        assert!(self.window.vectors == 1 || operand.vector == self.lanes * elem.bytes(), "vectors that lie apart: {operand:?}");
    }

    /// The arguments of a call that is not empty.
    fn checked(&self, call: &Call<'_>) -> Finished<Args> {
        let (window, table, group, [from, to]) = (&self.window, call.table, self.group(), self.channels);
        let last = (usize::from(window.vectors) - 1) * self.lanes;
        let part = window.masked && (last == 0 || (last..=group).contains(&call.channels));
        assert!(part || call.channels.is_multiple_of(group), "{} channels are not whole groups of {group}", call.channels);
        self.check_contiguous(&call.source, window.source);
        let (groups, source_channels) = (call.channels.div_ceil(group), call.channels / to * from);
        let span = self.span.filter(|_| !table.lines.is_empty());
        let source = span.map_or(std::ptr::null(), |span| {
            Read::from(call.source.buf).at("source", call.source.at, self.reach_source(call, source_channels, span))
        });
        let reach = self.reach(call, &call.result, (window.results.into(), self.epilogue.dst_size(), table.written[0]));
        let result = Written::from(call.result.buf).at("result", call.result.at, reach);
        let read = (groups - 1) * group + group.next_multiple_of(self.lanes);
        let shift = if self.is_shifted { read * WORD } else { 0 };
        let rows = &table.rows[call.rows.clone()];
        let args = Args {
            rows: rows.as_ptr(),
            count: rows.len(),
            lines: table.lines[table.starts[call.rows.start]..].as_ptr(),
            strips: call.strips,
            groups,
            channels: call.channels,
            source_channels,
            source: call.source.from(source.cast_mut()),
            result: call.result.from(result),
            other: self.other(call, groups, span),
            shift: Read::from(call.shift).at("shift", 0, Some(shift)).cast(),
        };
        let results = Results { column: call.epilogue.1, channels: read, at: result, reach };
        Finished::new(args, &self.epilogue, call.epilogue.0, results)
    }
}

/// The kernel of a gradient of weights.
#[derive(Clone, Debug)]
pub struct Gradient {
    entry: Entry<weights::Args>,
    key: weights::Gradient,
    lanes: usize,
    /// Strips of the part that loops, and what a row reads with them: columns before the first place's, the last column relative to that
    /// (negative if all taps are before it), and places.
    strips: usize,
    before: usize,
    last: i64,
    places: usize,
    /// Elements of a vector's sums.
    sums: usize,
}

/// A call of a [`Gradient`]: some rows of some images, for some channels.
#[derive(Debug)]
pub struct GradientCall<'a> {
    /// The source, at the column of a tap at offset 0 for the first place, and the gradient of the result, at the first place; with their
    /// strides.
    pub operands: [(Read<'a>, usize, weights::Steps); 2],
    /// Rows and images.
    pub counts: [usize; 2],
    /// Number of channels.
    pub channels: usize,
    /// The sums that are added to; elements from one vector of channels to the next, and from one line to the next.
    pub sums: (&'a mut [f32], [usize; 2]),
    /// Whether strips come from beyond L2.
    pub far: bool,
}

impl GradientCall<'_> {
    /// Reads ahead what the strips read: of the source only the lines of the window that the row before has not read.
    fn check_reads(&self, strips: usize, lines: usize, sizes: [usize; 2]) {
        let [(x, x_at, source), (y, y_at, gradient)] = self.operands;
        let new = (source.row / source.line.max(1)).clamp(1, lines);
        let [x_pixel, y_pixel] = sizes.map(|size| self.channels * size);
        for line in lines - new..lines {
            check_reads(x, x_at + line * source.line, [source.column, strips * source.strip], x_pixel);
        }
        check_reads(y, y_at, [gradient.column, strips * gradient.strip], y_pixel);
    }
}

impl Gradient {
    /// The kernel for `key`, for rows with `strips` strips of the part that loops.
    ///
    /// # Errors
    /// As for [`code::get`]; [`Error::Runtime`] for rows that exceed the address space.
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
    /// If an address is outside its buffer.
    pub fn run(&self, call: GradientCall<'_>) {
        if call.counts.contains(&0) || call.channels == 0 {
            return;
        }
        if call.far {
            call.check_reads(self.strips, usize::from(self.key.lines).max(1), self.key.types.map(|t| t.bytes()));
        }
        let args = self.checked(call);
        // SAFETY: the kernel reads source and gradient and adds to sums no farther than was checked.
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
        // Strips are contiguous if places are.
        let strip = self.key.parts.iter().find(|p| p.repeated).map_or(0, |p| usize::from(p.places));
        let even = |steps: &weights::Steps, places: usize| places.checked_mul(steps.column) == Some(steps.strip);
        let evenly = even(&gradient_steps, strip) && even(&source_steps, strip * usize::from(self.key.stride));
        assert!(evenly, "strips that do not follow each other: {operands:?}");
        let [x_size, y_size] = self.key.types.map(|t| t.bytes());
        // The first tap may be before the first place's column.
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

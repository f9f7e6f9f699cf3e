//! Strips of depthwise convolution by generated code: safe to run, since every address is checked before it is used.

use super::code::{Kernels, Key};
use super::tile::{Tail, TailArgs};
use oxidnn_jit::kernels::depthwise::{Args, Depthwise, Row, weights};
use oxidnn_jit::{Entry, Function, Isa};
use oxidnn_runtime::Buf;
use oxidnn_spec::Error;
use std::mem::offset_of;
use std::ops::Range;

pub use oxidnn_jit::kernels::depthwise::Line;

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

/// What a kernel is made for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Spec {
    /// The sums.
    pub sums: Depthwise,
    /// What happens to them, storing included.
    pub tail: Tail,
}

/// What kernels of strips read: their own arguments, and what their tails do.
#[repr(C)]
#[derive(Debug)]
pub struct Finished<A> {
    args: A,
    /// The first line of the tail's operands from the call's first channel on.
    lines: *const f32,
    /// Bytes from a line to the next.
    pitch: usize,
}

impl<A> Finished<A> {
    /// Where a tail finds its arguments.
    pub(super) const FIELDS: [usize; 2] = [offset_of!(Finished<A>, lines), offset_of!(Finished<A>, pitch)];

    /// The arguments of a call of so many channels, whose first one is `operands.1` for the tail.
    ///
    /// # Panics
    /// Where the tail's operands end before these channels.
    pub(super) fn new(args: A, tail: &Tail, operands: (&TailArgs<'_>, usize), channels: usize) -> Finished<A> {
        let found = operands.0.from_column(tail, operands.1, channels);
        let (lines, pitch) = found.unwrap_or_else(|| panic!("operands of a strip's tail end before channel {} + {channels}", operands.1));
        Finished { args, lines, pitch }
    }
}

static STRIPS: Kernels<Spec> = Kernels::new();

impl Key for Spec {
    type Args = Finished<Args>;

    fn name(&self, isa: Isa) -> String {
        self.sums.name(isa)
    }

    fn function(&self, isa: Isa) -> Function {
        self.sums.function_with(isa, |f, strip| self.tail.write_strip(f, strip, Finished::<Args>::FIELDS))
    }
}

/// A kernel, with what its reach depends on.
#[derive(Clone, Debug)]
pub struct Strip {
    entry: Entry<Finished<Args>>,
    tail: Tail,
    lanes: usize,
    /// Bytes of an element of source, weights and result.
    source: usize,
    weights: usize,
    result: usize,
    results: usize,
    shifted: bool,
    masked: bool,
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

/// Memory that a call reads.
#[derive(Clone, Copy, Debug)]
pub struct Read<'a>(Buf<'a>);

/// Memory that a call writes.
#[derive(Debug)]
pub struct Written<'a>(Buf<'a>);

impl<'a> From<Buf<'a>> for Read<'a> {
    fn from(buf: Buf<'a>) -> Self {
        Read(buf)
    }
}

impl<'a> From<&'a [f32]> for Read<'a> {
    fn from(numbers: &'a [f32]) -> Self {
        // SAFETY: the region is borrowed for as long as this lives, and only read through it.
        Read(unsafe { Buf::new(numbers.as_ptr().cast_mut().cast(), size_of_val(numbers)) })
    }
}

impl<'a> From<Buf<'a>> for Written<'a> {
    fn from(buf: Buf<'a>) -> Self {
        Written(buf)
    }
}

impl<'a> From<&'a mut [f32]> for Written<'a> {
    fn from(numbers: &'a mut [f32]) -> Self {
        // SAFETY: the region is borrowed by this alone for as long as it lives.
        Written(unsafe { Buf::new(numbers.as_mut_ptr().cast(), size_of_val(numbers)) })
    }
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
    /// Number of channels.
    pub channels: usize,
    /// What is subtracted from the source, for every channel; whole vectors, or empty.
    pub shift: &'a [f32],
    /// Operands of the tail, and which of their columns is the first channel's.
    pub tail: (&'a TailArgs<'a>, usize),
}

impl Strip {
    /// The kernel for `spec`.
    ///
    /// # Errors
    /// As for [`Kernels::get`].
    pub fn get(isa: Isa, spec: &Spec) -> Result<Strip, Error> {
        let sums = &spec.sums;
        Ok(Strip {
            entry: STRIPS.get(isa, spec)?,
            lanes: isa.width().lanes(),
            source: sums.source.bytes(),
            weights: sums.weights.bytes(),
            result: spec.tail.dst_size(),
            tail: spec.tail.clone(),
            results: sums.results.into(),
            shifted: sums.shifted,
            masked: sums.masked,
            span: sums.last().map(|last| (last - sums.first()) as usize),
            line: sums.taps.iter().map(|t| usize::from(t.weights) + 1).max().unwrap_or(0) * usize::from(sums.group),
        })
    }

    /// Computes and stores the results.
    ///
    /// # Panics
    /// When an address lies outside its buffer.
    pub fn run(&self, call: &Call<'_>) {
        if call.strips == 0 || call.channels == 0 || call.rows.is_empty() {
            return;
        }
        let args = self.checked(call);
        // SAFETY: the kernel reads rows, lines, shifts, source and weights and writes results within the reach that was checked; buffers are
        // valid by the promise of `Buf::new`.
        unsafe { self.entry.call(&args) }
    }

    /// The arguments of a call that is not empty.
    fn checked(&self, call: &Call<'_>) -> Finished<Args> {
        let vectors = call.channels.div_ceil(self.lanes);
        let (table, rows) = (call.table, &call.table.rows[call.rows.clone()]);
        assert!(self.masked || call.channels.is_multiple_of(self.lanes), "{} channels are not whole vectors", call.channels);
        assert!(!self.shifted || call.shift.len() >= vectors * self.lanes, "{} shifts for {vectors} vectors", call.shift.len());
        let last = call.channels - (vectors - 1) * self.lanes;
        let reach = |s: &Steps, columns: usize, bytes: usize| {
            let steps = [columns.checked_mul(s.column), (call.strips - 1).checked_mul(s.strip), (vectors - 1).checked_mul(s.vector)];
            steps.into_iter().try_fold(last * bytes, |sum, step| sum.checked_add(step?))
        };
        let source = reach(&call.source_steps, self.span.unwrap_or(0), self.source);
        let weights = (vectors - 1).checked_mul(call.weights_vector).and_then(|w| w.checked_add(self.line * self.lanes * self.weights));
        let (from, by, to) = ((call.source.0.0, call.source.1), (call.weights.0.0, call.weights.1), (call.result.0.0, call.result.1));
        let inside = |(buf, at): (Buf, usize), most: usize, reach: Option<usize>| {
            reach.and_then(|r| at.checked_add(most)?.checked_add(r)).is_some_and(|end| end <= buf.len())
        };
        let reads = !table.lines.is_empty() && self.span.is_some();
        let fits = inside(from, table.source, source) && inside(by, table.weights, weights);
        assert!(!reads || fits, "a strip outside its source or weights: {call:?}");
        assert!(inside(to, table.result, reach(&call.result_steps, self.results - 1, self.result)), "a strip outside its result: {call:?}");
        let sums = Args {
            rows: rows.as_ptr(),
            count: rows.len(),
            lines: table.lines[table.starts[call.rows.start]..].as_ptr(),
            source: from.0.as_ptr().wrapping_add(from.1),
            column: call.source_steps.column,
            strip: call.source_steps.strip,
            vector: call.source_steps.vector,
            strips: call.strips,
            vectors,
            channels: call.channels,
            weights: by.0.as_ptr().wrapping_add(by.1),
            weights_vector: call.weights_vector,
            result: to.0.as_ptr().wrapping_add(to.1),
            result_column: call.result_steps.column,
            result_strip: call.result_steps.strip,
            result_vector: call.result_steps.vector,
            shift: call.shift.as_ptr(),
        };
        Finished::new(sums, &self.tail, call.tail, vectors * self.lanes)
    }
}

static GRADIENTS: Kernels<weights::Gradient> = Kernels::new();

impl Key for weights::Gradient {
    type Args = weights::Args;

    fn name(&self, isa: Isa) -> String {
        weights::Gradient::name(self, isa)
    }

    fn function(&self, isa: Isa) -> Function {
        weights::Gradient::function(self, isa)
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
    /// Numbers of a vector's sums.
    sums: usize,
}

/// One call of a [`Gradient`]: some rows of some images, by a number of channels.
#[derive(Debug)]
pub struct GradientCall<'a> {
    /// The source with the column from which those of taps are counted at the first place, and the gradient of the result with that place; with
    /// their distances.
    pub operands: [(Buf<'a>, usize, weights::Steps); 2],
    /// Rows and images.
    pub counts: [usize; 2],
    /// Number of channels.
    pub channels: usize,
    /// What is added to, and numbers from the sums of a vector of channels to the next's.
    pub sums: (&'a mut [f32], usize),
}

/// Bytes behind the first one that loops of so many positions reach, each so many bytes apart; `None` on overflow.
fn farthest(loops: &[(usize, usize)]) -> Option<usize> {
    loops.iter().try_fold(0usize, |end, (n, step)| end.checked_add(n.checked_sub(1)?.checked_mul(*step)?))
}

impl Gradient {
    /// The kernel for `key`, for rows with so many strips of the part that is repeated.
    ///
    /// # Errors
    /// As for [`Kernels::get`]; [`Error::Runtime`] for rows that no memory has.
    pub fn get(isa: Isa, key: &weights::Gradient, strips: usize) -> Result<Gradient, Error> {
        let reach = key
            .reach(strips)
            .filter(|_| strips > 0)
            .and_then(|(low, high, places)| Some((usize::try_from(low.checked_neg()?.max(0)).ok()?, high, places)));
        let (before, last, places) = reach.ok_or_else(|| Error::Runtime(format!("a row of {strips} strips")))?;
        let lanes = isa.width().lanes();
        let sums = key.taps.iter().map(|t| usize::from(t.weights) + 1).max().unwrap_or(0) * usize::from(key.group) * lanes;
        Ok(Gradient { entry: GRADIENTS.get(isa, key)?, key: key.clone(), lanes, strips, before, last, places, sums })
    }

    /// Adds the products to the sums.
    ///
    /// # Panics
    /// When an address lies outside its buffer.
    pub fn run(&self, call: GradientCall<'_>) {
        if call.counts.contains(&0) || call.channels == 0 {
            return;
        }
        let args = self.checked(call);
        // SAFETY: the kernel reads source and gradient and adds to sums within the reach that was checked; buffers are valid by the promise of
        // `Buf::new`.
        unsafe { self.entry.call(&args) }
    }

    /// The arguments of a call that is not empty.
    fn checked(&self, call: GradientCall<'_>) -> weights::Args {
        let GradientCall { operands, counts: [rows, images], channels, sums: (sums, sums_vector) } = call;
        let vectors = channels.div_ceil(self.lanes);
        assert!(self.key.masked || channels.is_multiple_of(self.lanes), "{channels} channels are not whole vectors");
        let [(x, x_at, source_steps), (y, y_at, gradient_steps)] = operands;
        let last = channels - (vectors - 1) * self.lanes;
        let outer = |s: &weights::Steps| [(rows, s.row), (images, s.image), (vectors, s.vector)];
        let fits = || {
            let begin = self.before.checked_mul(source_steps.column)?;
            let column = i64::try_from(source_steps.column).ok()?.checked_mul(self.last)?;
            let source = isize::try_from(farthest(&outer(&source_steps))?).ok()?.checked_add(isize::try_from(column).ok()?)?;
            let gradient = farthest(&outer(&gradient_steps))?.checked_add(farthest(&[(self.places.max(1), gradient_steps.column)])?)?;
            // Strips follow each other as places do.
            let strip = self.key.parts.iter().find(|p| p.repeated).map_or(0, |p| usize::from(p.places));
            let even = gradient_steps.strip == strip.checked_mul(gradient_steps.column)?
                && source_steps.strip == strip.checked_mul(self.key.stride.into())?.checked_mul(source_steps.column)?;
            let ends = |at: usize, size: usize, buf: &Buf<'_>| Some(at.checked_add(last * size)? <= buf.len());
            let [x_size, y_size] = self.key.types.map(|t| t.bytes());
            Some(
                even && begin <= x_at
                    && ends(x_at.checked_add_signed(source)?, x_size, &x)?
                    && ends(y_at.checked_add(gradient)?, y_size, &y)?,
            )
        };
        assert!(fits() == Some(true), "strips outside their operands: {operands:?}, {rows} rows, {images} images");
        let end = (vectors - 1).checked_mul(sums_vector).and_then(|n| n.checked_add(self.sums));
        assert!(end.is_some_and(|end| end <= sums.len()), "{} sums for {vectors} vectors", sums.len());
        weights::Args {
            source: x.as_ptr().wrapping_add(x_at),
            source_steps,
            gradient: y.as_ptr().wrapping_add(y_at),
            gradient_steps,
            strips: self.strips,
            rows,
            images,
            vectors,
            channels,
            sums: sums.as_mut_ptr(),
            sums_vector: sums_vector * size_of::<f32>(),
        }
    }
}

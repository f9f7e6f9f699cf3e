//! The loop nest of kernels whose results are strips: neighbouring results of a line, of some vectors of channels, which stay in registers over all lines
//! of the window.
//!
//! A call computes rows of results, group by group of vectors, so that the source of a window stays in L1 from row to row. The lines of the
//! window come as a table, so their number, the padding above and below and all distances are data. Columns that do not exist (padding left
//! and right) are part of the key: a line of results is cut into a strip that touches the left edge, any number of equal strips within, and
//! one that touches the right edge, without work for the columns that do not exist. Sizes of images are in no key.

use crate::asm::Width;
use crate::ir::{Addr, Compare, Elem, Function, Int, Pred, Prefetch, Val};
use crate::key::Key;
use std::mem::offset_of;

/// The operands of a result of a line: a source column, counted from the column of the result itself, and the weights for it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Tap {
    /// The column.
    pub column: i16,
    /// Which weights of the line, or the place of the tap in it.
    pub weights: u16,
}

/// The window of a strip, part of the keys of all kernels of strips.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Window {
    /// Type of the source.
    pub source: Elem,
    /// Results of a strip.
    pub results: u8,
    /// Source columns between results.
    pub stride: u8,
    /// Results between source columns: result `j` uses column `x` by the taps whose column is `x step - j stride`.
    pub step: u8,
    /// The taps of a line.
    pub taps: Vec<Tap>,
    /// First source column that exists and the one after the last, counted from the column of the first result; columns that no tap uses
    /// may count as either.
    pub inside: (i16, i16),
    /// Vectors of channels that are contiguous in memory and computed together: a group.
    pub vectors: u8,
    /// Last lanes of every vector that are left idle, where whole groups of channels do not fill it; a group of vectors is one then.
    pub idle: u8,
    /// True when the last vector of a group may be part of one; there is one group then, or a group is one vector. Always where lanes are idle.
    pub masked: bool,
    /// Whether results, whole vectors of f32 at multiples of their bytes, are stored non-temporally.
    pub streaming: bool,
    /// Whether groups of vectors are the innermost loop, in the order of memory where channels are last, and not the outermost.
    pub across: bool,
}

/// A line of the window.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Line {
    /// Bytes added to the source's address.
    pub source: usize,
    /// Bytes added to that of the other operand where it is read.
    pub other: usize,
    /// The other data of a line: its factor, or the bits of the place of its first tap.
    pub value: f32,
}

/// A row of results.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Row {
    /// Bytes added to the result's address.
    pub result: usize,
    /// Bytes added to that of the other operand where it is written.
    pub other: usize,
    /// Number of lines of the window that exist there.
    pub lines: usize,
    /// The address of the sums' divisors.
    pub divisor: f32,
}

/// An operand; distances in bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Operand {
    /// The first column of the first strip, before the offsets of lines and rows.
    pub at: *mut u8,
    /// Distance of columns.
    pub column: usize,
    /// Distance of strips.
    pub strip: usize,
    /// Distance of vectors of a group.
    pub vector: usize,
    /// Distance of groups.
    pub group: usize,
}

impl Operand {
    /// No operand.
    pub const NONE: Operand = Operand { at: std::ptr::null_mut(), column: 0, strip: 0, vector: 0, group: 0 };
}

/// Arguments of a kernel.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Args {
    /// The rows.
    pub rows: *const Row,
    /// Number of rows, at least 1.
    pub count: usize,
    /// The lines of all rows.
    pub lines: *const Line,
    /// Number of strips, at least 1.
    pub strips: usize,
    /// Number of groups of vectors, at least 1.
    pub groups: usize,
    /// Number of channels of the result.
    pub channels: usize,
    /// Number of channels of the source; read where groups of channels have others than of the result.
    pub source_channels: usize,
    /// The source, from the first column that is read ([`Window::first`]).
    pub source: Operand,
    /// The result.
    pub result: Operand,
    /// [`Other`].
    pub other: Operand,
    /// For every channel the f32 number subtracted from the source, whole vectors.
    pub shift: *const f32,
}

/// The operand beside source and result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Other {
    /// There is none.
    None,
    /// Weights of this type, so many vectors for a group and line, the same for all strips and rows.
    Weights(Elem, usize),
    /// Elements under those of the source.
    Read(Elem),
    /// Elements under those of the result.
    Written(Elem),
}

/// The results of a strip, for the epilogue.
#[derive(Debug)]
pub struct Strip<'s> {
    /// Pointer to the arguments, the kernel's own, which may be the first field of a larger block.
    pub args: Int,
    /// Where among them the distance of results is.
    pub column: usize,
    /// Index of the first channel, counted from the call's first.
    pub channel: Int,
    /// Where the first result goes.
    pub result: Int,
    /// The sums.
    pub values: &'s [Val],
    /// Which lanes are wanted; `None` means all.
    pub mask: Option<Pred>,
    /// True when no sum is subnormal.
    pub normal: bool,
    /// Whether results of f32, whole vectors at multiples of their bytes, are stored non-temporally.
    pub streaming: bool,
}

/// Writes the epilogue of a strip's results while they are in registers, stores included.
pub type Finish<'f> = dyn FnMut(&mut Function, &Strip<'_>) + 'f;

/// Kernels of strips, which by themselves store results as f32.
pub trait StripKey: Key {
    /// Writes the kernel with `finish` after the results of every vector of channels.
    fn write_strips(&self, f: &mut Function, finish: &mut Finish<'_>);
}

/// Kernels that go through windows by the nest of this file.
pub trait WindowKey: StripKey<Args = Args> {
    /// Their window.
    fn window(&self) -> &Window;
    /// The same kernel over another window.
    fn with(&self, window: Window) -> Self;
    /// The operand beside source and result.
    fn other(&self) -> Other;
    /// Channels of a group of channels, of the source and of the result.
    fn group(&self) -> [usize; 2] {
        [1; 2]
    }
    /// True when [`Args::shift`] is subtracted from the source.
    fn is_shifted(&self) -> bool {
        false
    }
}

impl Strip<'_> {
    /// Stores the sums converted to `elem`.
    pub fn store(&self, f: &mut Function, elem: Elem) {
        let put = |f: &mut Function, at: Int, value: Val| match self.streaming {
            true => f.store_streaming(at.at(0), value),
            false => f.store_as(elem, at.at(0), value, self.mask),
        };
        let [first, others @ ..] = self.values else { return };
        put(f, self.result, *first);
        if others.is_empty() {
            return;
        }
        let (column, at) = (f.argument(self.args, self.column), f.copy(self.result));
        for value in others {
            f.add(at, column);
            put(f, at, *value);
        }
    }
}

/// Columns that addressing modes reach from one base register: an index is scaled by 1, 2 or 4, and a register with the triple stride reaches
/// the fourth.
const COLUMNS_PER_BASE: i32 = 5;
/// Bytes of a cache line.
const CACHE_LINE_BYTES: usize = 64;

/// The source columns that the results of a strip use; for the fields see [`Window`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Columns<'t> {
    pub(super) taps: &'t [Tap],
    pub(super) results: u8,
    pub(super) stride: u8,
    pub(super) step: u8,
    pub(super) inside: (i16, i16),
}

impl<'t> Columns<'t> {
    /// The first that is read, counted from the column of the first result; 0 where none is.
    pub(super) fn first(self) -> i32 {
        self.all().next().unwrap_or(0)
    }

    /// Those that are read, in order.
    pub(super) fn all(self) -> impl Iterator<Item = i32> + use<'t> {
        let (stride, step) = (i32::from(self.stride), i32::from(self.step));
        let low = self.taps.iter().map(|t| i32::from(t.column)).min().unwrap_or(0).div_euclid(step);
        let high = self.taps.iter().map(|t| i32::from(t.column)).max().unwrap_or(-1) + (i32::from(self.results) - 1) * stride;
        let (from, to) = self.inside;
        (low.max(i32::from(from))..(high.div_euclid(step) + 1).min(i32::from(to))).filter(move |x| self.users(*x).next().is_some())
    }

    /// The results and taps that use a column.
    pub(super) fn users(self, column: i32) -> impl Iterator<Item = (usize, usize)> + use<'t> {
        self.taps.iter().enumerate().filter_map(move |(tap, t)| {
            let (distance, stride) = (column * i32::from(self.step) - i32::from(t.column), i32::from(self.stride));
            let used = distance >= 0 && distance % stride == 0 && distance / stride < i32::from(self.results);
            used.then(|| ((distance / stride) as usize, tap))
        })
    }
}

impl Window {
    /// Of f32, three neighbouring columns around each result, in one vector.
    #[cfg(test)]
    pub(super) fn three(results: u8, stride: u8) -> Window {
        let taps = (0..3).map(|i| Tap { column: i - 1, weights: i as u16 }).collect();
        Window { results, stride, taps, inside: (-1, 1000), ..Window::of_vectors(1) }
    }

    /// One of so many vectors in a group, with nothing else as yet.
    pub fn of_vectors(vectors: u8) -> Window {
        let (taps, inside) = (Vec::new(), (0, 0));
        Window {
            source: Elem::F32,
            results: 0,
            stride: 1,
            step: 1,
            taps,
            inside,
            vectors,
            idle: 0,
            masked: false,
            streaming: false,
            across: false,
        }
    }

    /// Channels of a group of vectors.
    pub fn channels(&self, lanes: usize) -> usize {
        usize::from(self.vectors) * lanes - usize::from(self.idle)
    }

    /// The first source column that is read, counted from the column of the first result; 0 where none is.
    pub fn first(&self) -> i32 {
        self.columns().first()
    }

    /// The last source column that is read; `None` where none is.
    pub fn last(&self) -> Option<i32> {
        self.columns().all().last()
    }

    /// Columns that a result uses.
    pub fn count(&self, result: usize) -> usize {
        let columns = self.columns();
        columns.all().flat_map(|x| columns.users(x)).filter(|(i, _)| *i == result).count()
    }

    pub(super) fn columns(&self) -> Columns<'_> {
        Columns { taps: &self.taps, results: self.results, stride: self.stride, step: self.step, inside: self.inside }
    }

    /// Writes the loops around strips: `group` writes the registers of a group of vectors, `strip` the results of a strip.
    pub(super) fn write<G>(
        &self,
        f: &mut Function,
        other: Other,
        group: impl FnOnce(&mut Function, &At) -> G,
        strip: impl FnOnce(&mut Function, &At, &G),
    ) {
        let (args, width) = (f.arguments(), f.isa().width());
        let column = ColumnStrides::new(f, args, offset_of!(Args, source.column));
        let [source, result] = [offset_of!(Args, source.at), offset_of!(Args, result.at)].map(|at| f.argument(args, at));
        let operand = (other != Other::None).then(|| f.argument(args, offset_of!(Args, other.at)));
        // Weights are the same for all rows.
        let advances = matches!(other, Other::Read(_) | Other::Written(_));
        let channel = f.int(0);
        let line =
            |f: &mut Function| [offset_of!(Args, rows), offset_of!(Args, lines), offset_of!(Args, count)].map(|at| f.argument(args, at));
        let mask = |f: &mut Function, channel: Int| {
            self.masked.then(|| {
                let left = channels_left(f, (args, offset_of!(Args, channels)), channel, self.vectors);
                if self.idle > 0 {
                    let most = f.int(self.channels(width.lanes()) as i64);
                    f.when(Compare::Gt, left, most, |f| f.set(left, most));
                }
                f.first_lanes(left)
            })
        };
        let next_group = |f: &mut Function, at: &At| {
            f.advance(at.source, args, offset_of!(Args, source.group));
            f.advance(at.result, args, offset_of!(Args, result.group));
            at.other.into_iter().for_each(|p| f.advance(p, args, offset_of!(Args, other.group)));
            f.add(at.channel, self.channels(width.lanes()) as i32);
        };
        let rows_of = |f: &mut Function, at: &At, count: Int, row: &mut dyn FnMut(&mut Function, &At)| {
            f.repeat_some(count, |f| {
                let (source, result) = (f.copy(at.source), f.copy(at.result));
                f.advance(result, at.row, offset_of!(Row, result));
                let operand = at.other.map(|other| if advances { f.copy(other) } else { other });
                if let (Other::Written(_), Some(other)) = (other, operand) {
                    f.advance(other, at.row, offset_of!(Row, other));
                }
                let strips = f.argument(args, offset_of!(Args, strips));
                f.repeat_some(strips, |f| {
                    row(f, &At { source, other: operand, result, ..*at });
                    f.advance(source, args, offset_of!(Args, source.strip));
                    f.advance(result, args, offset_of!(Args, result.strip));
                    operand.filter(|_| advances).into_iter().for_each(|p| f.advance(p, args, offset_of!(Args, other.strip)));
                });
                let (used, size) = (f.argument(at.row, offset_of!(Row, lines)), f.int(size_of::<Line>() as i64));
                f.mul(used, size);
                f.add(at.lines, used);
                f.add(at.row, size_of::<Row>() as i32);
            });
        };
        let (mut group, mut strip) = (Some(group), Some(strip));
        let mut write = |f: &mut Function, at: &At, registers: &G| {
            if !self.streaming {
                self.prefetch_results(f, at);
            }
            strip.take().into_iter().for_each(|strip| strip(f, at, registers));
        };
        let mut registers = |f: &mut Function, at: &At| group.take().map(|group| group(f, at));
        if self.across {
            let [row, lines, count] = line(f);
            let at = At { args, row, lines, channel, column, source, other: operand, result, mask: None };
            rows_of(f, &at, count, &mut |f, at| {
                let [source, result, channel] = [at.source, at.result, at.channel].map(|at| f.copy(at));
                let (other, groups) = (at.other.map(|other| f.copy(other)), f.argument(args, offset_of!(Args, groups)));
                f.repeat_some(groups, |f| {
                    let at = At { source, other, result, channel, mask: mask(f, channel), ..*at };
                    registers(f, &at).iter().for_each(|registers| write(f, &at, registers));
                    next_group(f, &at);
                });
            });
        } else {
            let groups = f.argument(args, offset_of!(Args, groups));
            f.repeat_some(groups, |f| {
                let mask = mask(f, channel);
                let [row, lines, count] = line(f);
                let at = At { args, row, lines, channel, column, source, other: operand, result, mask };
                let registers = registers(f, &at);
                rows_of(f, &at, count, &mut |f, at| registers.iter().for_each(|registers| write(f, at, registers)));
                next_group(f, &at);
            });
        }
        if self.streaming {
            f.store_fence();
        }
    }

    /// Prefetches the cache lines of a strip's results for writing while these are computed: stores that miss wait for their lines one after the
    /// other.
    fn prefetch_results(&self, f: &mut Function, at: &At) {
        let column = f.argument(at.args, offset_of!(Args, result.column));
        let to = f.copy(at.result);
        for _ in 0..self.results {
            for vector in 0..i32::from(self.vectors) {
                f.prefetch(Prefetch::Write, to.at(vector * Width::W512.bytes() as i32));
            }
            f.add(to, column);
        }
    }

    /// Writes the epilogue of the results of a group's vectors.
    pub(super) fn finish<'v>(
        &self,
        f: &mut Function,
        at: &At,
        vectors: impl Iterator<Item = &'v Vec<Val>>,
        (normal, finish): (bool, &mut Finish<'_>),
    ) {
        let (args, column, streaming) = (at.args, offset_of!(Args, result.column), self.streaming);
        if streaming && f.isa().width().bytes() < CACHE_LINE_BYTES {
            return stream_lines(f, at, &vectors.collect::<Vec<_>>());
        }
        let (mut channel, mut result) = (at.channel, at.result);
        for (vector, values) in vectors.enumerate() {
            if vector > 0 {
                (channel, result) = (f.copy(channel), f.copy(result));
                f.add(channel, f.isa().width().lanes() as i32);
                f.advance(result, args, offset_of!(Args, result.vector));
            }
            finish(f, &Strip { args, column, channel, result, values, mask: at.mask(self, vector), normal, streaming });
        }
    }
}

/// Stores results non-temporally, one after the other with all its vectors: lines that are written in halves, with as many other lines in
/// between as a strip has results, would leave the write-combining buffers half full.
fn stream_lines(f: &mut Function, at: &At, vectors: &[&Vec<Val>]) {
    let (column, result) = (f.argument(at.args, offset_of!(Args, result.column)), f.copy(at.result));
    for i in 0..vectors.first().map_or(0, |values| values.len()) {
        let to = f.copy(result);
        for (vector, values) in vectors.iter().enumerate() {
            if vector > 0 {
                f.advance(to, at.args, offset_of!(Args, result.vector));
            }
            f.store_streaming(to.at(0), values[i]);
        }
        f.add(result, column);
    }
}

/// The existing lanes of the last of a group's vectors; the argument at a given place is the number of channels.
pub(super) fn last_lanes(f: &mut Function, channels: (Int, usize), channel: Int, vectors: u8) -> Pred {
    let left = channels_left(f, channels, channel, vectors);
    f.first_lanes(left)
}

/// Channels from the last of a group's vectors on.
fn channels_left(f: &mut Function, (args, channels): (Int, usize), channel: Int, vectors: u8) -> Int {
    let left = f.argument(args, channels);
    f.sub(left, channel);
    let before = f.isa().width().lanes() * (usize::from(vectors) - 1);
    if before > 0 {
        f.add(left, -(before as i32));
    }
    left
}

/// Where a strip is.
#[derive(Clone, Copy)]
pub(super) struct At {
    pub(super) args: Int,
    /// Its row, and the lines of that.
    pub(super) row: Int,
    lines: Int,
    /// The first channel of the group.
    pub(super) channel: Int,
    /// Distance of source columns.
    pub(super) column: ColumnStrides,
    source: Int,
    /// The operand beside source and result.
    pub(super) other: Option<Int>,
    pub(super) result: Int,
    mask: Option<Pred>,
}

impl At {
    /// The existing lanes of a vector of a group.
    pub(super) fn mask(&self, window: &Window, vector: usize) -> Option<Pred> {
        self.mask.filter(|_| vector + 1 == usize::from(window.vectors))
    }

    /// Runs `body` for every line of the window, with the addresses of its source and of the other operand where that is `read`, and the place of its value.
    pub(super) fn over_lines(&self, f: &mut Function, read: bool, body: impl FnOnce(&mut Function, Int, Option<Int>, Addr)) {
        let (lines, count) = (f.copy(self.lines), f.argument(self.row, offset_of!(Row, lines)));
        f.repeat(count, |f| self.line(f, (lines, read), body));
    }

    /// The same where no other operand is read, with the first iteration peeled: `first` is its body.
    pub(super) fn over_lines_peeled(
        &self,
        f: &mut Function,
        first: impl FnOnce(&mut Function, Int, Option<Int>, Addr),
        body: impl FnOnce(&mut Function, Int, Option<Int>, Addr),
    ) {
        let (lines, count) = (f.copy(self.lines), f.argument(self.row, offset_of!(Row, lines)));
        f.when(Compare::Gt, count, 0, |f| {
            self.line(f, (lines, false), first);
            f.add(count, -1);
            f.repeat(count, |f| self.line(f, (lines, false), body));
        });
    }

    /// Runs `body` for the line at `lines`, and goes to the next.
    fn line(&self, f: &mut Function, (lines, read): (Int, bool), body: impl FnOnce(&mut Function, Int, Option<Int>, Addr)) {
        let mut address = |base: Int, offset: usize| {
            let at = f.argument(lines, offset);
            f.add(at, base);
            at
        };
        let source = address(self.source, offset_of!(Line, source));
        let other = self.other.filter(|_| read).map(|other| address(other, offset_of!(Line, other)));
        body(f, source, other, lines.at(offset_of!(Line, value) as i32));
        f.add(lines, size_of::<Line>() as i32);
    }
}

/// The stride of columns, times 1, 3 and 5.
#[derive(Clone, Copy)]
pub(super) struct ColumnStrides(pub(super) [Int; 3]);

impl ColumnStrides {
    /// Those of an argument.
    pub(super) fn new(f: &mut Function, args: Int, offset: usize) -> ColumnStrides {
        let column = f.argument(args, offset);
        ColumnStrides([column, f.address(column.indexed(column, 2, 0)), f.address(column.indexed(column, 4, 0))])
    }
}

/// The base address while the code goes through the columns of a line.
pub(super) struct Cursor {
    source: Int,
    strides: ColumnStrides,
    /// The address of the other operand, which advances too, and its stride of columns.
    other: Option<(Int, Int)>,
    base: i32,
}

impl Cursor {
    /// From the address of column `base` on.
    pub(super) fn new(source: Int, strides: ColumnStrides, base: i32, other: Option<(Int, Int)>) -> Cursor {
        Cursor { source, strides, other, base }
    }

    /// Advances the base until addressing modes reach column `x`; columns come in increasing order.
    pub(super) fn seek(&mut self, f: &mut Function, x: i32) -> ColumnAddress {
        let [column, triple, quintuple] = self.strides.0;
        let (in_reach, distance) = if self.other.is_some() { (1, column) } else { (COLUMNS_PER_BASE, quintuple) };
        while x - self.base >= in_reach {
            f.add(self.source, distance);
            self.other.into_iter().for_each(|(at, column)| f.add(at, column));
            self.base += in_reach;
        }
        ColumnAddress { source: self.source, column, triple, columns: x - self.base }
    }
}

/// The address of a column: a base, and columns from there.
#[derive(Clone, Copy)]
pub(super) struct ColumnAddress {
    source: Int,
    column: Int,
    triple: Int,
    columns: i32,
}

impl ColumnAddress {
    /// The address `disp` bytes into the column.
    pub(super) fn at(&self, disp: i32) -> Addr {
        match self.columns {
            0 => self.source.at(disp),
            3 => self.source.indexed(self.triple, 1, disp),
            n => self.source.indexed(self.column, n as u8, disp),
        }
    }
}

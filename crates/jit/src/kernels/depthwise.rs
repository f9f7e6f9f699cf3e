//! The inner kernel of depthwise convolution, and of groups of few channels: strips of results of one vector of channels stay in registers
//! over the whole window.
//!
//! Vectors run over channels. Where a group is one channel, a result takes one multiply-add a tap. A strip is a number of neighbouring
//! results of a line; for every line of the window the weights of its taps are held in registers, and every source column is loaded once for
//! all taps of all results that meet it. With `n` results and `k` taps that is `n * k` multiply-adds for about `n + 2 * k` loads: the floor
//! is the multiply-adds, `k / 2` cycles a result and line.
//!
//! Where groups are several channels, a vector of results is several groups and the same is done once for each source channel of a group: with the first
//! channel of every group spread over the group's results, then with the second, and so on. A column is then loaded and spread by one instruction;
//! where groups have more source channels than results, by one for each vector of them that a vector of results meets.
//!
//! With dot products of bf16 the elements are words, pairs of numbers: of two channels of a group, or of one and a zero.
//!
//! A call makes rows of results of some vectors of channels, vector by vector, so that the source of a window stays in L1 from
//! row to row. The lines of the window come as a table of addresses, so their number, the padding above and below and all distances are data. Columns
//! that do not exist (padding left and right) are part of the key: a line of results is cut into a strip that touches the left edge, any
//! number of equal strips within, and one that touches the right edge, each of which does just the multiply-adds there are. Sizes of images
//! are no part of any key.

use crate::asm::Width;
use crate::ir::{Accumulate, Addr, Binary, Compare, Elem, Function, Int, Pred, Prefetch, Src, Val};
use crate::isa::Isa;
use crate::key::Key;
use std::mem::offset_of;

#[cfg(test)]
mod tests;
pub mod weights;

/// What a result of a line meets: a source column, counted from the column of the result itself, and the weights for it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Tap {
    /// The column.
    pub column: i16,
    /// Which weights of the line: as many vectors as a group has source channels, in their order.
    pub weights: u16,
}

/// What a kernel is made for. This is its key.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Depthwise {
    /// Type of the source.
    pub source: Elem,
    /// Type of the weights.
    pub weights: Elem,
    /// True when both are pairs of bf16, as [`Elem::F32`] or, with a zero, as [`Elem::Low16`]; a pair counts as one channel. For processors that multiply
    /// them.
    pub dots: bool,
    /// Channels of a group, of the source and of the result; a vector of results is whole groups. Source channels are at most a vector, and a multiple
    /// of the results where they are more.
    pub group: [u8; 2],
    /// Results of a strip.
    pub results: u8,
    /// Source columns between results.
    pub stride: u8,
    /// The taps of a line.
    pub taps: Vec<Tap>,
    /// First source column that exists and the one behind the last, counted from the column of the first result; columns that no tap meets
    /// need not be told from others.
    pub inside: (i16, i16),
    /// True when [`Args::shift`] is subtracted from the source.
    pub shifted: bool,
    /// True when the number of channels need not be whole vectors; of the source, one or two vectors are met then.
    pub masked: bool,
    /// True when all channels of the source are in one vector.
    pub single: bool,
    /// Whether results, whole vectors of f32 at multiples of their bytes, go past the caches.
    pub streaming: bool,
}

/// A line of the window, in bytes.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Line {
    /// Added to [`Args::source`].
    pub source: usize,
    /// Added to [`Args::weights`].
    pub weights: usize,
}

/// A row of results.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Row {
    /// Bytes added to [`Args::result`].
    pub result: usize,
    /// Number of lines of the window that exist there; none leaves zeros.
    pub lines: usize,
}

/// Arguments of a kernel. Distances are in bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Args {
    /// The rows.
    pub rows: *const Row,
    /// Number of rows, at least 1.
    pub count: usize,
    /// The lines of all rows.
    pub lines: *const Line,
    /// The first source column that the first strip reads ([`Depthwise::first`]), less what the lines add.
    pub source: *const u8,
    /// Distance of source columns.
    pub column: usize,
    /// Distance of the strips' source columns.
    pub strip: usize,
    /// Distance of vectors of the source.
    pub vector: usize,
    /// Number of strips, at least 1.
    pub strips: usize,
    /// Number of vectors of channels, at least 1.
    pub vectors: usize,
    /// Number of channels of the result.
    pub channels: usize,
    /// Weights of the first vector of channels, less what the lines add.
    pub weights: *const u8,
    /// Distance of vectors of the weights.
    pub weights_vector: usize,
    /// The first result, less what the rows add.
    pub result: *mut u8,
    /// Distance of results.
    pub result_column: usize,
    /// Distance of the strips' results.
    pub result_strip: usize,
    /// Distance of vectors of results.
    pub result_vector: usize,
    /// For every channel the f32 number subtracted from the source, whole vectors.
    pub shift: *const f32,
    /// Number of channels of the source; read where groups have others than of the result.
    pub source_channels: usize,
}

/// The results of a strip, for what follows them.
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
    /// Whether results of f32, whole vectors at multiples of their bytes, go past the caches.
    pub streaming: bool,
}

/// Writes what happens to the results of a strip while they are in registers, storing included.
pub type Finish<'f> = dyn FnMut(&mut Function, &Strip<'_>) + 'f;

/// Kernels of strips, which by themselves store results as f32.
pub trait StripKey: Key {
    /// Writes the kernel with `finish` behind the results of every vector of channels.
    fn write_strips(&self, f: &mut Function, finish: &mut Finish<'_>);
}

impl Strip<'_> {
    /// Stores the sums converted to `elem`.
    pub fn store(&self, f: &mut Function, elem: Elem) {
        let column = f.argument(self.args, self.column);
        let at = f.copy(self.result);
        for value in self.values {
            f.store_as(elem, at.at(0), *value, self.mask);
            f.add(at, column);
        }
    }

    /// Stores the sums as they are past the caches: whole vectors at multiples of their bytes.
    pub(super) fn store_streaming(&self, f: &mut Function) {
        let column = f.argument(self.args, self.column);
        let at = f.copy(self.result);
        for value in self.values {
            f.store_streaming(at.at(0), *value);
            f.add(at, column);
        }
    }
}

/// Taps whose weights are held in registers; those of wider windows are read with every use.
const HELD: usize = 8;

/// Columns that are reached from one base: x86 addresses reach 0, 1, 2, 4 times a register, and one with the triple reaches 3.
pub(super) const SHARE: i32 = 5;

impl Key for Depthwise {
    type Args = Args;

    /// The name in dumps and profiles, such as `depthwise.f32f32.14x3s1.avx512` or `groups4.f32f32.14x3s1.avx512`.
    fn name(&self, isa: Isa) -> String {
        let Depthwise { source, weights, results, stride, group, dots, .. } = self;
        let types = if *dots { "dots".into() } else { format!("{source:?}{weights:?}").to_lowercase() };
        let types = if self.streaming { format!("{types}.streaming") } else { types };
        let kind = match group {
            [1, 1] => "depthwise".into(),
            [from, to] if from == to => format!("groups{to}"),
            [from, to] => format!("groups{from}to{to}"),
        };
        format!("{kind}.{types}.{results}x{}s{stride}.{}", self.taps.len(), isa.name())
    }

    fn write(&self, f: &mut Function) {
        self.write_strips(f, &mut |f, strip| strip.store(f, Elem::F32));
    }
}

impl StripKey for Depthwise {
    fn write_strips(&self, f: &mut Function, finish: &mut Finish<'_>) {
        Writer { kernel: self, width: f.isa().width() }.write(f, finish);
    }
}

impl Depthwise {
    /// The most results that a strip with so many taps may have, where channels may end within vectors and all of the source may be in one.
    pub fn most_results(isa: Isa, taps: usize, [source, result]: [usize; 2], [masked, single]: [bool; 2]) -> usize {
        let more = if single { 0 } else { (source / result.max(1)).saturating_sub(1) };
        let sources = if masked && more > 0 { more + 1 } else { usize::from(source < result || masked && source > result) };
        let masks = if isa.avx512 { 0 } else { usize::from(masked) + sources + more };
        let spread = usize::from(source > 1 || result > 1) + usize::from(source > result);
        isa.simd_registers().saturating_sub(taps.min(HELD) + masks + spread + 3).clamp(1, 16)
    }

    /// The first source column that is read, counted from the column of the first result; 0 where none is.
    pub fn first(&self) -> i32 {
        self.columns().first()
    }

    /// The last source column that is read; `None` where none is.
    pub fn last(&self) -> Option<i32> {
        self.columns().all().last()
    }

    fn columns(&self) -> Columns<'_> {
        Columns { taps: &self.taps, results: self.results, stride: self.stride, step: 1, inside: self.inside }
    }
}

/// The source columns that the results of a strip meet; for the fields see [`Depthwise`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Columns<'t> {
    pub(super) taps: &'t [Tap],
    pub(super) results: u8,
    pub(super) stride: u8,
    /// Results between the columns that a tap meets.
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

    /// The results and taps that meet a column.
    pub(super) fn users(self, column: i32) -> impl Iterator<Item = (usize, usize)> + use<'t> {
        self.taps.iter().enumerate().filter_map(move |(tap, t)| {
            let (distance, stride) = (column * i32::from(self.step) - i32::from(t.column), i32::from(self.stride));
            let met = distance >= 0 && distance % stride == 0 && distance / stride < i32::from(self.results);
            met.then(|| ((distance / stride) as usize, tap))
        })
    }
}

/// Where a column is, `behind` columns behind a base that has been brought near; `column` is their distance, its triple and its quintuple.
pub(super) fn column_at(source: Int, [column, triple, _]: [Int; 3], behind: i32, disp: i32) -> Addr {
    match behind {
        0 => source.at(disp),
        3 => source.indexed(triple, 1, disp),
        n => source.indexed(column, n as u8, disp),
    }
}

struct Writer<'k> {
    kernel: &'k Depthwise,
    width: Width,
}

/// What stays the same for all lines of the window.
struct Frame {
    /// Distance of source columns, its triple and its quintuple.
    column: [Int; 3],
    /// Added to the lines' sources and weights.
    source: Int,
    weights: Int,
    shift: Option<Val>,
    /// The lanes that exist of each vector of the source that a vector of results meets; none means all.
    masks: Vec<Pred>,
}

impl Writer<'_> {
    fn write(&self, f: &mut Function, finish: &mut Finish<'_>) {
        let args = f.arguments();
        let column = f.argument(args, offset_of!(Args, column));
        let column = [column, f.address(column.indexed(column, 2, 0)), f.address(column.indexed(column, 4, 0))];
        let source = f.argument(args, offset_of!(Args, source));
        let result = f.argument(args, offset_of!(Args, result));
        let weights = f.argument(args, offset_of!(Args, weights));
        let channel = f.int(0);
        // Source channels that are left, where a vector of results does not meet one vector of them.
        let [from, to] = self.kernel.group;
        let other = (from < to || from > to && self.kernel.masked).then(|| f.argument(args, offset_of!(Args, source_channels)));
        let vectors = f.argument(args, offset_of!(Args, vectors));
        f.repeat_some(vectors, |f| {
            let (mask, shift) = self.lanes(f, args, channel);
            let masks = match other {
                Some(left) => self.met(f, left),
                None => mask.into_iter().collect(),
            };
            let rows = f.argument(args, offset_of!(Args, rows));
            let lines = f.argument(args, offset_of!(Args, lines));
            let count = f.argument(args, offset_of!(Args, count));
            f.repeat_some(count, |f| {
                let (from, to) = (f.copy(source), f.copy(result));
                let more = f.argument(rows, offset_of!(Row, result));
                f.add(to, more);
                let frame = Frame { column, source: from, weights, shift, masks: masks.clone() };
                let strips = f.argument(args, offset_of!(Args, strips));
                f.repeat_some(strips, |f| {
                    if !self.kernel.streaming {
                        self.ask(f, args, to);
                    }
                    let values = self.sums(f, (rows, lines), &frame);
                    let column = offset_of!(Args, result_column);
                    let (values, normal, streaming) = (&values[..], self.kernel.dots, self.kernel.streaming);
                    finish(f, &Strip { args, column, channel, result: to, values, mask, normal, streaming });
                    advance(f, from, args, offset_of!(Args, strip));
                    advance(f, to, args, offset_of!(Args, result_strip));
                });
                let used = f.argument(rows, offset_of!(Row, lines));
                f.shl(used, size_of::<Line>().trailing_zeros() as u8);
                f.add(lines, used);
                f.add(rows, size_of::<Row>() as i32);
            });
            advance(f, source, args, offset_of!(Args, vector));
            advance(f, result, args, offset_of!(Args, result_vector));
            advance(f, weights, args, offset_of!(Args, weights_vector));
            f.add(channel, self.width.lanes() as i32);
            if let Some(left) = other {
                f.sub(left, self.source_lanes() as i32);
            }
        });
        if self.kernel.streaming {
            f.store_fence();
        }
    }

    /// The lanes that exist of each vector of the source that a vector of results meets, `left` channels being left.
    fn met(&self, f: &mut Function, left: Int) -> Vec<Pred> {
        let left = f.splat_int(self.width, left);
        let lanes = self.width.lanes();
        let vectors = if self.kernel.single { 1 } else { self.source_lanes().div_ceil(lanes) };
        let mask = |part: usize| {
            let numbers: Vec<u8> = (part * lanes..(part + 1) * lanes).flat_map(|lane| (lane as u32).to_le_bytes()).collect();
            let numbers = f.constant(&numbers);
            let numbers = f.load(self.width, numbers);
            f.compare_i32(Compare::Gt, left, numbers)
        };
        (0..vectors).map(mask).collect()
    }

    /// Source channels that a vector of results meets.
    fn source_lanes(&self) -> usize {
        let [from, to] = self.kernel.group.map(usize::from);
        self.width.lanes() / to.max(1) * from
    }

    /// Asks for the lines of a strip's results while its sums are computed: stores wait for their lines one after the other.
    fn ask(&self, f: &mut Function, args: Int, result: Int) {
        let column = f.argument(args, offset_of!(Args, result_column));
        let at = f.copy(result);
        for _ in 0..self.kernel.results {
            f.prefetch(Prefetch::Write, at.at(0));
            f.add(at, column);
        }
    }

    /// Which lanes of a vector of channels exist, and what is subtracted from them.
    fn lanes(&self, f: &mut Function, args: Int, channel: Int) -> (Option<Pred>, Option<Val>) {
        let mask = self.kernel.masked.then(|| {
            let left = f.argument(args, offset_of!(Args, channels));
            f.sub(left, channel);
            f.first_lanes(left)
        });
        let shift = self.kernel.shifted.then(|| {
            let shift = f.argument(args, offset_of!(Args, shift));
            f.load(self.width, shift.indexed(channel, 4, 0))
        });
        (mask, shift)
    }

    /// The sums of a strip over all lines of the window.
    fn sums(&self, f: &mut Function, (row, lines): (Int, Int), frame: &Frame) -> Vec<Val> {
        let kernel = self.kernel;
        let sums: Vec<Val> = (0..kernel.results).map(|_| f.zero(self.width)).collect();
        sums.iter().for_each(|s| f.pin(*s));
        let lines = f.copy(lines);
        let count = f.argument(row, offset_of!(Row, lines));
        f.repeat(count, |f| {
            let source = f.argument(lines, offset_of!(Line, source));
            let weights = f.argument(lines, offset_of!(Line, weights));
            f.add(lines, size_of::<Line>() as i32);
            f.add(source, frame.source);
            f.add(weights, frame.weights);
            for channel in 0..kernel.group[0] {
                let source = if kernel.group[0] > 1 { f.copy(source) } else { source };
                self.line(f, (source, weights, channel), frame, &sums);
            }
        });
        sums
    }

    /// The products of one line with a channel of every group, column by column.
    fn line(&self, f: &mut Function, (source, weights, channel): (Int, Int, u8), frame: &Frame, sums: &[Val]) {
        let kernel = self.kernel;
        let add = if kernel.dots { Accumulate::DotBf16 } else { Accumulate::FmaF32 };
        let spread = self.spread(f, channel);
        let held: Vec<Val> = match kernel.taps.len() {
            0..=HELD => kernel.taps.iter().map(|t| f.load_as(kernel.weights, self.weights(weights, t, channel), None)).collect(),
            _ => Vec::new(),
        };
        let mut base = kernel.first();
        let columns = kernel.columns();
        for x in columns.all() {
            while x - base >= SHARE {
                f.add(source, frame.column[2]);
                base += SHARE;
            }
            let at = column_at(source, frame.column, x - base, 0);
            let plain = kernel.source == Elem::F32 && frame.masks.is_empty() && frame.shift.is_none();
            if plain && spread.is_none() && !held.is_empty() && columns.users(x).count() == 1 {
                columns.users(x).for_each(|(i, t)| f.accumulate(add, sums[i], held[t], Src::Mem(at)));
                continue;
            }
            let value = match &spread {
                Some(spread) if !spread.parts.is_empty() => self.joined(f, (source, x - base), frame, spread),
                Some(spread) if plain => f.binary(Binary::Lookup32, spread.index, Src::Mem(at)),
                _ => {
                    let value = f.load_as(kernel.source, at, frame.masks.first().copied());
                    let value = frame.shift.map_or(value, |shift| f.binary(Binary::SubF32, value, shift));
                    spread.as_ref().map_or(value, |spread| f.binary(Binary::Lookup32, spread.index, value))
                }
            };
            for (i, t) in columns.users(x) {
                let by = match held.get(t) {
                    Some(held) => Src::Val(*held),
                    None if kernel.weights == Elem::F32 => Src::Mem(self.weights(weights, &kernel.taps[t], channel)),
                    None => Src::Val(f.load_as(kernel.weights, self.weights(weights, &kernel.taps[t], channel), None)),
                };
                f.accumulate(add, sums[i], value, by);
            }
        }
    }

    /// How a channel of the groups is spread over their results; `None` where a group is one channel.
    fn spread(&self, f: &mut Function, channel: u8) -> Option<Spread> {
        let index = spread(f, self.width, self.kernel.group, channel)?;
        let lanes = self.width.lanes();
        let of: Vec<usize> = (0..lanes).map(|lane| met(self.kernel.group, lane, channel) / lanes).collect();
        let mut parts = Vec::new();
        if !self.kernel.single && of.iter().any(|part| *part > 0) {
            for part in (of[0]..=of[lanes - 1]).filter(|part| of.contains(part)) {
                let before = of.iter().filter(|p| **p <= part).count();
                let count = f.int(before as i64);
                parts.push((part, f.first_lanes(count)));
            }
        }
        Some(Spread { index, parts })
    }

    /// A channel of the groups at a column so many behind a base, from several vectors.
    fn joined(&self, f: &mut Function, (source, behind): (Int, i32), frame: &Frame, spread: &Spread) -> Val {
        let mut all = None;
        for (part, mask) in spread.parts.iter().rev() {
            let at = column_at(source, frame.column, behind, (part * self.width.lanes() * self.kernel.source.bytes()) as i32);
            let exists = frame.masks.get(*part).copied();
            let value = if self.kernel.source == Elem::F32 && exists.is_none() {
                f.binary(Binary::Lookup32, spread.index, Src::Mem(at))
            } else {
                let value = f.load_as(self.kernel.source, at, exists);
                f.binary(Binary::Lookup32, spread.index, value)
            };
            all = Some(all.map_or(value, |later| f.select(*mask, value, later)));
        }
        all.unwrap_or_else(|| f.zero(self.width))
    }

    fn weights(&self, line: Int, tap: &Tap, channel: u8) -> Addr {
        let vector = i32::from(tap.weights) * i32::from(self.kernel.group[0]) + i32::from(channel);
        line.at(vector * (self.width.lanes() * self.kernel.weights.bytes()) as i32)
    }
}

/// How the lanes of a vector of results take a channel of their groups.
struct Spread {
    /// The lane of the source.
    index: Val,
    /// Where the groups' channels are in several vectors: the number of each, and the lanes whose channel it or an earlier one has.
    parts: Vec<(usize, Pred)>,
}

/// The source channel, counted from the vector's first, that is a channel of a lane's group.
fn met([from, to]: [u8; 2], lane: usize, channel: u8) -> usize {
    lane / usize::from(to.max(1)) * usize::from(from) + usize::from(channel)
}

/// Where the lanes of a vector take a channel of their group from, within a vector.
fn spread(f: &mut Function, width: Width, group: [u8; 2], channel: u8) -> Option<Val> {
    let lanes = width.lanes();
    (group != [1, 1]).then(|| {
        let bytes: Vec<u8> = (0..lanes).flat_map(|lane| ((met(group, lane, channel) % lanes) as u32).to_le_bytes()).collect();
        let at = f.constant(&bytes);
        f.load(width, at)
    })
}

/// `value +=` the argument at `offset`.
fn advance(f: &mut Function, value: Int, args: Int, offset: usize) {
    let by = f.argument(args, offset);
    f.add(value, by);
}

//! The inner kernel of depthwise convolution, and of groups of few channels: strips of results of one vector of channels stay in registers
//! over the whole window.
//!
//! Vectors run over channels. Where a group is one channel, a result takes one multiply-add a tap. A strip is a number of neighbouring
//! results of a line. For every line of the window the weights of its taps are in registers, some taps at a time, and every source column is loaded once
//! for all of these taps of all results that use it. With `n` results and `k` taps that is `n * k` multiply-adds for about `n + 2 * k` loads: the floor is
//! the multiply-adds, `k / 2` cycles a result and line.
//!
//! Where groups have several channels, a vector of results covers several groups, and the same is done once for each source channel of a
//! group: with the first channel of every group broadcast over the group's results, then with the second, and so on. One instruction loads
//! a column and broadcasts its channels; if groups have more source channels than results, it takes one for each source vector.
//!
//! With dot products the elements are words: pairs of bf16, of two channels of a group or of one and a zero, or bytes of four channels.
//!
//! Rows, lines and strips follow each other as [`strips`](super::strips) says.

use super::strips::{Args, At, ColumnAddress, Columns, Cursor, Finish, Other, StripKey, Tap, Window, WindowKey};
use crate::asm::Width;
use crate::ir::{Accumulate, Addr, Binary, Compare, Elem, Function, Int, Pred, Src, Unary, Val};
use crate::isa::Isa;
use crate::key::Key;
use std::mem::offset_of;

#[cfg(test)]
mod tests;
pub mod weights;

/// The key of a kernel: everything that its code depends on.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Depthwise {
    /// The window. A group of vectors is one vector, whose parts use one or two source vectors. The weights of a tap are as many vectors as
    /// a group has source channels, in their order.
    pub window: Window,
    /// Type of the weights.
    pub weights: Elem,
    /// What multiplies words: pairs of bf16, as [`Elem::F32`] or, with a zero, as [`Elem::Low16`], or four bytes of the source by four of the weights, as
    /// [`Elem::F32`]. A word counts as one channel. For processors that multiply them.
    pub dots: Option<Accumulate>,
    /// True when bytes of the source are signed. Their highest bits are flipped, which adds 128 to each, and the products of 128 are subtracted from sums.
    pub signed: bool,
    /// Channels of a group, of the source and of the result, at most a vector; a vector of results is whole groups, beside idle lanes.
    pub group: [u8; 2],
    /// True when [`Args::shift`] is subtracted from the source.
    pub shifted: bool,
    /// True when all channels of the source are in one vector.
    pub single: bool,
}

/// Taps whose weights are in registers at a time.
const RESIDENT_TAPS: usize = 8;

impl Key for Depthwise {
    type Args = Args;

    /// The name in dumps and profiles, such as `depthwise.f32f32.14x3s1.avx512` or `groups4.f32f32.14x3s1.avx512`.
    fn name(&self, isa: Isa) -> String {
        let Depthwise { window: Window { source, results, stride, taps, streaming, across, .. }, weights, group, dots, .. } = self;
        let types = match dots {
            Some(Accumulate::DotU8S8) if self.signed => "signed".into(),
            Some(Accumulate::DotU8S8) => "bytes".into(),
            Some(_) => "dots".into(),
            None => format!("{source:?}{weights:?}").to_lowercase(),
        };
        let types = if *streaming { format!("{types}.streaming") } else { types };
        let types = if *across { format!("{types}.across") } else { types };
        let kind = match group {
            [1, 1] => "depthwise".into(),
            [from, to] if from == to => format!("groups{to}"),
            [from, to] => format!("groups{from}to{to}"),
        };
        format!("{kind}.{types}.{results}x{}s{stride}.{}", taps.len(), isa.name())
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

impl WindowKey for Depthwise {
    fn window(&self) -> &Window {
        &self.window
    }
    fn with(&self, window: Window) -> Depthwise {
        Depthwise { window, ..self.clone() }
    }
    fn other(&self) -> Other {
        let taps = self.window.taps.iter().map(|t| usize::from(t.weights) + 1).max().unwrap_or(0);
        Other::Weights(self.weights, taps * usize::from(self.group[0]))
    }
    fn group(&self) -> [usize; 2] {
        self.group.map(usize::from)
    }
    fn is_shifted(&self) -> bool {
        self.shifted
    }
}

impl Depthwise {
    /// The most results that a strip with so many taps may have, where channels may end within vectors, all of the source may be in one, and bytes may be
    /// signed.
    pub fn most_results(isa: Isa, taps: usize, [source, result]: [usize; 2], [masked, single, signed]: [bool; 3]) -> usize {
        let lanes = isa.width().lanes();
        let more = if single || source <= result { 0 } else { (lanes / result.max(1) * source).div_ceil(lanes).saturating_sub(1) };
        let sources = if masked && more > 0 { more + 1 } else { usize::from(source < result || masked && source > result) };
        let idle = usize::from(!lanes.is_multiple_of(result.max(1)));
        let masks = if isa.avx512 { 0 } else { usize::from(masked) + sources + more + idle };
        let broadcast = usize::from(source > 1 || result > 1) + usize::from(source > result) + 2 * usize::from(signed);
        isa.simd_registers().saturating_sub(taps.min(RESIDENT_TAPS) + masks + broadcast + 3).clamp(1, 16)
    }
}

struct Writer<'k> {
    kernel: &'k Depthwise,
    width: Width,
}

/// Values that stay the same for all strips of a vector of results.
struct Frame {
    shift: Option<Val>,
    /// The lanes that exist of each source vector of a result vector; none means all.
    masks: Vec<Pred>,
    /// The lanes that are not idle, which lines of weights have; none means all.
    there: Option<Pred>,
    /// The bits that make signed bytes unsigned.
    flip: Option<Val>,
}

/// The highest bits of four bytes.
const FLIP: u32 = 0x8080_8080;

/// The part of a line of the window that is multiplied at a time: its weights, a channel of every group, and some taps.
#[derive(Clone, Copy)]
struct Part<'t> {
    weights: Int,
    channel: u8,
    taps: &'t [Tap],
}

impl Writer<'_> {
    fn write(&self, f: &mut Function, finish: &mut Finish<'_>) {
        let window = &self.kernel.window;
        window.write(
            f,
            self.kernel.other(),
            |f, at| self.frame(f, at),
            |f, at, frame| {
                let sums = self.sums(f, at, frame);
                window.finish(f, at, std::iter::once(&sums), (self.kernel.dots == Some(Accumulate::DotBf16), finish));
            },
        );
    }

    fn frame(&self, f: &mut Function, at: &At) -> Frame {
        let [from, to] = self.kernel.group;
        let shift = self.kernel.shifted.then(|| {
            let shift = f.argument(at.args, offset_of!(Args, shift));
            f.load(self.width, shift.indexed(at.channel, 4, 0))
        });
        let masks = match from < to || from > to && self.kernel.window.masked {
            _ if self.splats() => Vec::new(),
            true => self.source_masks(f, at),
            false => at.mask(&self.kernel.window, 0).into_iter().collect(),
        };
        let window = &self.kernel.window;
        let there = (window.idle > 0).then(|| {
            let count = f.int(window.channels(self.width.lanes()) as i64);
            f.first_lanes(count)
        });
        let flip = self.kernel.signed.then(|| f.splat_i32(self.width, FLIP as i32));
        Frame { shift, masks, there, flip }
    }

    /// Whether a vector of results is one group: then a load broadcasts a source channel.
    fn splats(&self) -> bool {
        let Depthwise { group: [from, to], window, shifted, .. } = self.kernel;
        from < to && usize::from(*to) == self.width.lanes() && window.source == Elem::F32 && !shifted
    }

    /// The lanes that exist of each source vector of a result vector.
    fn source_masks(&self, f: &mut Function, at: &At) -> Vec<Pred> {
        let lanes = self.width.lanes();
        let [from, to] = self.kernel.group.map(usize::from);
        let (sources, results) = (lanes / to.max(1) * from, self.kernel.window.channels(lanes));
        // Source channels that are left. Vectors are counted by their results, divided exactly as a multiplication.
        let (left, done, per_vector) = (f.argument(at.args, offset_of!(Args, source_channels)), f.copy(at.channel), f.int(sources as i64));
        match results.is_power_of_two() {
            true => f.shr(done, results.trailing_zeros() as u8),
            false => {
                let reciprocal = f.int((1i64 << 32) / results as i64 + 1);
                f.mul(done, reciprocal);
                f.shr(done, 32);
            }
        }
        f.mul(done, per_vector);
        f.sub(left, done);
        let left = f.splat_int(self.width, left);
        let vectors = if self.kernel.single { 1 } else { sources.div_ceil(lanes) };
        let mask = |part: usize| {
            let numbers: Vec<u8> = (part * lanes..(part + 1) * lanes).flat_map(|lane| (lane as u32).to_le_bytes()).collect();
            let numbers = f.constant(&numbers);
            let numbers = f.load(self.width, numbers);
            f.compare_i32(Compare::Gt, left, numbers)
        };
        (0..vectors).map(mask).collect()
    }

    /// The sums of a strip over all lines of the window.
    fn sums(&self, f: &mut Function, at: &At, frame: &Frame) -> Vec<Val> {
        let of_flips = usize::from(frame.flip.is_some());
        let sums: Vec<Val> = (0..usize::from(self.kernel.window.results) + of_flips).map(|_| f.zero(self.width)).collect();
        sums.iter().for_each(|s| f.pin(*s));
        at.over_lines(f, true, |f, source, weights, _| {
            let Some(weights) = weights else { return };
            let (taps, channels) = (&self.kernel.window.taps, self.kernel.group[0]);
            let each = taps.len().div_ceil(taps.len().div_ceil(RESIDENT_TAPS).max(1)).max(1);
            for channel in 0..channels {
                for taps in taps.chunks(each) {
                    let source = if channels > 1 || each < self.kernel.window.taps.len() { f.copy(source) } else { source };
                    let cursor = Cursor::new(source, at.column, self.kernel.window.first(), None);
                    self.line(f, cursor, Part { weights, channel, taps }, frame, &sums);
                }
            }
        });
        if self.kernel.dots != Some(Accumulate::DotU8S8) {
            return sums;
        }
        let (sums, of_flips) = sums.split_at(sums.len() - of_flips);
        let less = |f: &mut Function, sum: Val| of_flips.first().map_or(sum, |flips| f.binary(Binary::SubI32, sum, *flips));
        let sum = |sum: &Val| {
            let sum = less(f, *sum);
            f.unary(Unary::F32FromI32, sum)
        };
        sums.iter().map(sum).collect()
    }

    /// The products of some taps of one line with a channel of every group, column by column.
    fn line(&self, f: &mut Function, mut cursor: Cursor, part: Part<'_>, frame: &Frame, sums: &[Val]) {
        let Part { weights, channel, taps } = part;
        let (kernel, window) = (self.kernel, &self.kernel.window);
        let add = kernel.dots.unwrap_or(Accumulate::FmaF32);
        let splats = self.splats();
        let (broadcast, disp) = if splats { (None, i32::from(channel) * 4) } else { (self.broadcast(f, channel), 0) };
        let resident: Vec<Val> = taps.iter().map(|t| f.load_as(kernel.weights, self.weights(weights, t, channel), frame.there)).collect();
        let columns = Columns { taps, ..window.columns() };
        if let (Some(flip), Some((of_flips, sums))) = (frame.flip, sums.split_last()) {
            // Results without a column of a tap have a flipped zero there.
            let met: Vec<(usize, usize)> = columns.all().flat_map(|x| columns.users(x)).collect();
            for (t, weights) in resident.iter().enumerate() {
                let without = sums.iter().enumerate().filter(|(i, _)| !met.contains(&(*i, t))).map(|(_, sum)| sum);
                without.chain([of_flips]).for_each(|sum| f.accumulate(add, *sum, flip, Src::Val(*weights)));
            }
        }
        for x in columns.all() {
            let address = cursor.seek(f, x);
            let at = address.at(disp);
            let plain = window.source == Elem::F32 && frame.masks.is_empty() && frame.shift.is_none();
            // Of products of bytes, the unsigned ones of the source come first, and only the second operand may be memory.
            let commutes = add != Accumulate::DotU8S8;
            if plain && commutes && broadcast.is_none() && columns.users(x).count() == 1 {
                let source = if splats { Src::Splat(at) } else { Src::Mem(at) };
                columns.users(x).for_each(|(i, t)| f.accumulate(add, sums[i], resident[t], source));
                continue;
            }
            let value = match &broadcast {
                None if splats => f.splat(self.width, at),
                Some(broadcast) if !broadcast.parts.is_empty() => self.broadcast_from_parts(f, address, frame, broadcast),
                Some(broadcast) if plain => f.binary(Binary::Lookup32, broadcast.index, Src::Mem(at)),
                _ => {
                    let value = f.load_as(window.source, at, frame.masks.first().copied());
                    let value = frame.shift.map_or(value, |shift| f.binary(Binary::SubF32, value, shift));
                    broadcast.as_ref().map_or(value, |broadcast| f.binary(Binary::Lookup32, broadcast.index, value))
                }
            };
            let value = frame.flip.map_or(value, |flip| f.binary(Binary::Xor, value, flip));
            columns.users(x).for_each(|(i, t)| f.accumulate(add, sums[i], value, Src::Val(resident[t])));
        }
    }

    /// How a channel of the groups is broadcast over their results; `None` where a group is one channel.
    fn broadcast(&self, f: &mut Function, channel: u8) -> Option<Broadcast> {
        let start = |at: usize| self.part_start(at / self.width.lanes());
        let index = broadcast(f, self.width, (self.kernel.group, channel), |at| at - start(at))?;
        let (lanes, used) = (self.width.lanes(), self.kernel.window.channels(self.width.lanes()));
        let of: Vec<usize> = (0..lanes).map(|lane| source_channel(self.kernel.group, lane.min(used - 1), channel) / lanes).collect();
        let mut parts = Vec::new();
        if !self.kernel.single && of.iter().any(|part| *part > 0) {
            for part in (of[0]..=of[lanes - 1]).filter(|part| of.contains(part)) {
                let lanes_up_to = of.iter().filter(|p| **p <= part).count();
                let count = f.int(lanes_up_to as i64);
                parts.push((part, f.first_lanes(count)));
            }
        }
        Some(Broadcast { index, parts })
    }

    /// The first source channel of a part of the groups of a vector of results. Without masks the last part ends with them: no channel follows the last one.
    fn part_start(&self, part: usize) -> usize {
        let Depthwise { group: [from, to], window, .. } = self.kernel;
        let (lanes, start) = (self.width.lanes(), part * self.width.lanes());
        let all = lanes / usize::from(*to).max(1) * usize::from(*from);
        if window.masked || from <= to { start } else { start.min(all.saturating_sub(lanes)) }
    }

    /// A channel of the groups at a column, broadcast from several source vectors.
    fn broadcast_from_parts(&self, f: &mut Function, address: ColumnAddress, frame: &Frame, broadcast: &Broadcast) -> Val {
        let (mut all, source) = (None, self.kernel.window.source);
        for (part, mask) in broadcast.parts.iter().rev() {
            let at = address.at((self.part_start(*part) * source.bytes()) as i32);
            let exists = frame.masks.get(*part).copied();
            let value = if source == Elem::F32 && exists.is_none() {
                f.binary(Binary::Lookup32, broadcast.index, Src::Mem(at))
            } else {
                let value = f.load_as(source, at, exists);
                f.binary(Binary::Lookup32, broadcast.index, value)
            };
            all = Some(all.map_or(value, |later| f.select(*mask, value, later)));
        }
        all.unwrap_or_else(|| f.zero(self.width))
    }

    fn weights(&self, line: Int, tap: &Tap, channel: u8) -> Addr {
        let vector = i32::from(tap.weights) * i32::from(self.kernel.group[0]) + i32::from(channel);
        line.at(vector * (self.kernel.window.channels(self.width.lanes()) * self.kernel.weights.bytes()) as i32)
    }
}

/// The permutation that broadcasts a channel of every group over the group's results.
struct Broadcast {
    /// The source lane of every lane.
    index: Val,
    /// Where the groups' channels are in several vectors: the number of each, and the lanes whose channel it or an earlier one has.
    parts: Vec<(usize, Pred)>,
}

/// The source channel, counted from the vector's first, that is a channel of a lane's group.
fn source_channel([from, to]: [u8; 2], lane: usize, channel: u8) -> usize {
    lane / usize::from(to.max(1)) * usize::from(from) + usize::from(channel)
}

/// The index vector of the permutation that broadcasts a channel of every group over the group's lanes, from the lanes where source channels are; `None` where
/// a group is one channel.
fn broadcast(f: &mut Function, width: Width, (group, channel): ([u8; 2], u8), lane_of: impl Fn(usize) -> usize) -> Option<Val> {
    (group != [1, 1]).then(|| {
        let lane = |lane| lane_of(source_channel(group, lane, channel)) as u32;
        let bytes: Vec<u8> = (0..width.lanes()).flat_map(|result| lane(result).to_le_bytes()).collect();
        let at = f.constant(&bytes);
        f.load(width, at)
    })
}

//! Panels of plain weights of 8 or 4 bits: rows or columns in the caller's memory, unpacked block by block to L2.
//!
//! A block of [`K_BLOCK`] by a panel's columns is read into L1, decoded to f32, scaled if weights are quantised by groups of K, and then
//! becomes lines of a panel: in f32, or in bf16 pairs, which represent all 8-bit integers and to which scaled values are rounded. Weights
//! stored by columns are transposed on the way.

use super::call::Column;
use super::weights::{Lie, Weights};
use crate::kernels::multiversion::{Body, Simd};
use crate::kernels::nest::Packed;
use crate::kernels::tile::pack::{self, Form};
use oxidnn_expr::convert;
use oxidnn_jit::kernels::unpack::Stored;
use oxidnn_runtime::Buf;
use oxidnn_spec::DataType;
use std::ops::Range;

/// Elements of K in a block, and most columns of a panel.
const K_BLOCK: usize = 64;
const MAX_COLUMNS: usize = 64;
/// Elements of a block.
const BLOCK_ELEMENTS: usize = K_BLOCK * MAX_COLUMNS;

/// Plain weights, and the panels that they become.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Plain {
    pub(super) weights: Weights,
    /// Columns of a panel.
    pub(super) width: usize,
    /// Whether lines are bf16 pairs; else f32.
    pub(super) pairs: bool,
    /// Elements of K in a group of scales and zero points; all of K without groups.
    pub(super) group: usize,
}

/// Scales and zero points of the groups, for weights `(w - zero) * scale`.
pub(super) type Factors<'a> = [Option<Column<'a>>; 2];

/// A block of weights.
struct Block {
    depth: Range<usize>,
    columns: Range<usize>,
}

/// The weights, and their scales and zero points.
struct From<'f> {
    simd: Simd,
    b: Buf<'f>,
    /// Byte offset of the matrix.
    start: usize,
    factors: &'f Factors<'f>,
}

/// Buffers in L1.
struct Buffers {
    raw: [u8; BLOCK_ELEMENTS],
    numbers: [f32; BLOCK_ELEMENTS],
    pairs: [f32; BLOCK_ELEMENTS / 2],
}

impl Plain {
    /// Whether these weights are unpacked here.
    pub(super) fn takes(weights: &Weights, group: Option<usize>) -> bool {
        let bytes = |elements: usize| (elements * weights.stored.bits()).is_multiple_of(8);
        match weights.lie {
            Lie::Panels { .. } => false,
            Lie::Rows { .. } => bytes(weights.n),
            Lie::Columns { .. } => bytes(weights.k) && group.is_none_or(bytes),
        }
    }

    fn form(&self) -> Form {
        if self.pairs { Form { size: 2, together: 2, width: self.width } } else { Form { size: 4, together: 1, width: self.width } }
    }

    /// Writes panels one after the other.
    pub(super) fn panels(&self, simd: Simd, b: Buf, factors: &Factors<'_>, panels: Packed, to: &mut [f32]) {
        let Packed { at: start, depth, columns } = panels;
        let each = self.form().panel(depth.len()) / 4;
        let mut buffers = Buffers { raw: [0; BLOCK_ELEMENTS], numbers: [0.0; BLOCK_ELEMENTS], pairs: [0.0; BLOCK_ELEMENTS / 2] };
        for (first, to) in columns.clone().step_by(self.width).zip(to.chunks_exact_mut(each.max(1))) {
            let columns = first..columns.end.min(first + self.width);
            let mut at = depth.start;
            while at < depth.end {
                let end = depth.end.min(at + K_BLOCK).min((at / self.group + 1).saturating_mul(self.group));
                let lines = &mut to[(at - depth.start) / self.form().together * self.width..];
                let from = From { simd, b, start, factors };
                self.block(&from, Block { depth: at..end, columns: columns.clone() }, &mut buffers, lines);
                at = end;
            }
        }
    }

    /// Writes the lines of a block, which is within one group.
    fn block(&self, from: &From<'_>, block: Block, buffers: &mut Buffers, to: &mut [f32]) {
        let (Block { depth, columns }, Buffers { raw, numbers, pairs }) = (block, buffers);
        let (simd, stored, [scale, zero]) = (from.simd, self.weights.stored, from.factors);
        let bits = stored.bits();
        // Contiguous runs of elements: columns of the block, or rows of it; they are `pitch` elements apart after reading.
        let (runs, first, distance, len, pitch) = match self.weights.lie {
            Lie::Columns { distance } => (columns.clone(), depth.start, distance, depth.len(), K_BLOCK),
            Lie::Rows { distance } | Lie::Panels { distance, .. } => (depth.clone(), columns.start, distance, columns.len(), self.width),
        };
        let raw = &mut raw[..runs.len() * pitch * bits / 8];
        let start = from.start + runs.start * distance + first * bits / 8;
        Runs { b: from.b, start, distance, len: len * bits / 8 }.read(raw, pitch * bits / 8);
        let mut factor = [[0.0; MAX_COLUMNS], [1.0; MAX_COLUMNS]];
        for (of, line) in [zero, scale].into_iter().zip(&mut factor) {
            if let Some(of) = of {
                of.buf.part(depth.start / self.group * of.row, of.row).read(columns.start, &mut line[..columns.len()]);
            }
        }
        let scaled = (scale.is_some() || zero.is_some()).then_some(&factor);
        let by_column = matches!(self.weights.lie, Lie::Columns { .. });
        let count = runs.len() * pitch;
        // Rows become lines directly, columns are transposed.
        let (numbers, pairs) = (&mut numbers[..count], &mut pairs[..count / 2]);
        // Integers become pairs directly, all else by way of f32.
        let whole = scaled.is_none() && stored.is_integral();
        match (by_column, self.pairs, whole) {
            (false, false, _) => return simd.run(Decode { stored, raw, scaled, by_column, pitch, to: &mut to[..count] }),
            (false, true, true) => return simd.run(Pairs { stored, raw, pitch: Some(pitch), to }),
            (true, true, true) => simd.run(Pairs { stored, raw, pitch: None, to: &mut *pairs }),
            _ => simd.run(Decode { stored, raw, scaled, by_column, pitch, to: &mut *numbers }),
        }
        match (by_column, self.pairs, whole) {
            (false, ..) => return simd.run(Rounded { numbers, pitch: Some(pitch), to }),
            (true, true, false) => simd.run(Rounded { numbers, pitch: None, to: &mut *pairs }),
            _ => {}
        }
        let (form, size) = (self.form(), self.form().size);
        let bytes = bytemuck::cast_slice(if self.pairs { pairs } else { numbers });
        let from = pack::Plain { bytes, depth: size, column: pitch * size };
        pack::panels(simd, &from, 0..len, 0..columns.len(), form, &mut to[..form.panel(len) / 4]);
    }
}

/// Runs of `len` bytes in memory, `distance` apart, from a byte offset on.
struct Runs<'r> {
    b: Buf<'r>,
    start: usize,
    distance: usize,
    len: usize,
}

impl Runs<'_> {
    /// Reads them to places `pitch` apart.
    fn read(&self, to: &mut [u8], pitch: usize) {
        let Runs { b, start, distance, len } = *self;
        if distance == pitch && len == pitch {
            return b.read(start, to);
        }
        // Constant lengths are a load and a store each.
        match len.next_power_of_two() {
            ..=4 if pitch >= 4 => self.read_by::<4>(to, pitch),
            ..=8 if pitch >= 8 => self.read_by::<8>(to, pitch),
            16 if pitch >= 16 => self.read_by::<16>(to, pitch),
            32 if pitch >= 32 => self.read_by::<32>(to, pitch),
            _ => self.read_by::<64>(to, pitch),
        }
    }

    /// The same by `N` bytes, of which those behind a run are its neighbours, and meet columns that nothing reads.
    fn read_by<const N: usize>(&self, to: &mut [u8], pitch: usize) {
        let Runs { b, start, distance, len } = *self;
        for (at, to) in (start..).step_by(distance.max(1)).zip(to.chunks_exact_mut(pitch)) {
            if len <= N && N <= pitch && at + N <= b.len() {
                b.read(at, &mut to[..N]);
            } else {
                b.read(at, &mut to[..len]);
            }
        }
    }
}

/// Decodes runs of elements, `pitch` apart, and scales them by run or by position in the run.
struct Decode<'d> {
    stored: Stored,
    raw: &'d [u8],
    scaled: Option<&'d [[f32; MAX_COLUMNS]; 2]>,
    by_column: bool,
    pitch: usize,
    to: &'d mut [f32],
}

impl Body for Decode<'_> {
    type Out = ();

    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        let Decode { stored, raw, scaled, by_column, pitch, to } = self;
        match stored {
            Stored::S8 => to.iter_mut().zip(raw).for_each(|(x, b)| *x = f32::from(b.cast_signed())),
            Stored::U8 => to.iter_mut().zip(raw).for_each(|(x, b)| *x = f32::from(*b)),
            // Element `i` of a word is shifted to the high bits, and down from there.
            Stored::S4 => words(raw, to, |word, i| (word << (28 - 4 * i)).cast_signed() >> 28),
            Stored::U4 => words(raw, to, |word, i| (word << (28 - 4 * i) >> 28).cast_signed()),
            Stored::F8E5m2 => convert::load::<{ DataType::F8E5m2 as usize }>(raw, to),
            Stored::F8E4m3 => convert::load::<{ DataType::F8E4m3 as usize }>(raw, to),
            Stored::F4E2m1 => convert::load::<{ DataType::F4E2m1 as usize }>(raw, to),
            Stored::F4E3m0 => convert::load::<{ DataType::F4E3m0 as usize }>(raw, to),
            Stored::F32 | Stored::Bf16 | Stored::F16 => unreachable!("weights of more than 8 bits are not unpacked"),
        }
        let Some([zeros, scales]) = scaled else { return };
        for (i, run) in to.chunks_exact_mut(pitch).enumerate() {
            if by_column {
                let (zero, scale) = (zeros[i], scales[i]);
                run.iter_mut().for_each(|x| *x = (*x - zero) * scale);
            } else {
                run.iter_mut().zip(zeros.iter().zip(scales)).for_each(|(x, (zero, scale))| *x = (*x - zero) * scale);
            }
        }
    }
}

/// Decodes words of eight elements.
#[inline(always)]
fn words(raw: &[u8], to: &mut [f32], element: impl Fn(u32, u32) -> i32) {
    for (to, word) in to.as_chunks_mut::<8>().0.iter_mut().zip(raw.as_chunks::<4>().0) {
        let word = u32::from_le_bytes(*word);
        *to = std::array::from_fn(|i| element(word, i as u32) as f32);
    }
}

/// Decodes runs of elements to bf16 pairs: of neighbouring runs, an odd last one with zeros; or of neighbours within a run.
struct Pairs<'p> {
    stored: Stored,
    raw: &'p [u8],
    pitch: Option<usize>,
    to: &'p mut [f32],
}

impl Body for Pairs<'_> {
    type Out = ();

    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        let Pairs { stored, raw, pitch, to } = self;
        let (low, high) = (|b: u8| i32::from((b << 4).cast_signed() >> 4), |b: u8| i32::from(b.cast_signed() >> 4));
        match (stored, pitch) {
            (Stored::S8, Some(pitch)) => byte_rows(raw, pitch, to, |b| i32::from(b.cast_signed())),
            (Stored::U8, Some(pitch)) => byte_rows(raw, pitch, to, i32::from),
            (Stored::S4, Some(pitch)) => word_rows(raw, pitch, to, |word, i| (word << (28 - 4 * i)).cast_signed() >> 28),
            (_, Some(pitch)) => word_rows(raw, pitch, to, |word, i| (word << (28 - 4 * i) >> 28).cast_signed()),
            (Stored::S8, None) => neighbours(raw, to, |[low, high]: [u8; 2]| [low, high].map(|b| i32::from(b.cast_signed()))),
            (Stored::U8, None) => neighbours(raw, to, |[low, high]: [u8; 2]| [low, high].map(i32::from)),
            (Stored::S4, None) => neighbours(raw, to, |[b]: [u8; 1]| [low(b), high(b)]),
            (_, None) => neighbours(raw, to, |[b]: [u8; 1]| [i32::from(b & 15), i32::from(b >> 4)]),
        }
    }
}

/// Rounds runs of f32 to bf16 pairs, in the arrangement of [`Pairs`].
struct Rounded<'r> {
    numbers: &'r [f32],
    pitch: Option<usize>,
    to: &'r mut [f32],
}

impl Body for Rounded<'_> {
    type Out = ();

    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        let Rounded { numbers, pitch, to } = self;
        let word = |low: f32, high: f32| f32::from_bits(convert::bf16_pair(low, high));
        let Some(pitch) = pitch else {
            return to.iter_mut().zip(numbers.as_chunks::<2>().0).for_each(|(to, [low, high])| *to = word(*low, *high));
        };
        for (to, runs) in to.chunks_exact_mut(pitch).zip(numbers.chunks(2 * pitch)) {
            let (low, high) = runs.split_at(pitch);
            if high.is_empty() {
                to.iter_mut().zip(low).for_each(|(to, low)| *to = word(*low, 0.0));
            } else {
                to.iter_mut().zip(low.iter().zip(high)).for_each(|(to, (low, high))| *to = word(*low, *high));
            }
        }
    }
}

/// Two integers as bf16, which represents them, in the bits of a word.
#[inline(always)]
fn pair([low, high]: [i32; 2]) -> f32 {
    f32::from_bits((low as f32).to_bits() >> 16 | (high as f32).to_bits() & 0xffff_0000)
}

/// Pairs of neighbouring elements, decoded from `N` bytes each.
#[inline(always)]
fn neighbours<const N: usize>(raw: &[u8], to: &mut [f32], numbers: impl Fn([u8; N]) -> [i32; 2]) {
    to.iter_mut().zip(raw.as_chunks::<N>().0).for_each(|(word, bytes)| *word = pair(numbers(*bytes)));
}

/// Pairs of rows of bytes.
#[inline(always)]
fn byte_rows(raw: &[u8], pitch: usize, to: &mut [f32], number: impl Fn(u8) -> i32) {
    for (to, rows) in to.chunks_exact_mut(pitch).zip(raw.chunks(2 * pitch)) {
        let (low, high) = rows.split_at(pitch);
        if high.is_empty() {
            to.iter_mut().zip(low).for_each(|(word, low)| *word = pair([number(*low), 0]));
        } else {
            to.iter_mut().zip(low.iter().zip(high)).for_each(|(word, (low, high))| *word = pair([number(*low), number(*high)]));
        }
    }
}

/// Pairs of rows of words of eight elements.
#[inline(always)]
fn word_rows(raw: &[u8], pitch: usize, to: &mut [f32], element: impl Fn(u32, u32) -> i32) {
    for (to, rows) in to.chunks_exact_mut(pitch).zip(raw.chunks(pitch)) {
        let (low, high) = rows.split_at(pitch / 2);
        let lines = to.as_chunks_mut::<8>().0.iter_mut().zip(low.as_chunks::<4>().0);
        if high.is_empty() {
            lines.for_each(|(to, low)| {
                let low = u32::from_le_bytes(*low);
                *to = std::array::from_fn(|i| pair([element(low, i as u32), 0]));
            });
        } else {
            lines.zip(high.as_chunks::<4>().0).for_each(|((to, low), high)| {
                let [low, high] = [low, high].map(|word| u32::from_le_bytes(*word));
                *to = std::array::from_fn(|i| pair([element(low, i as u32), element(high, i as u32)]));
            });
        }
    }
}

//! Panels of plain weights of 8 or 4 bits, or of f16: rows or columns in the caller's memory, unpacked block by block to L2. Panels of f16
//! are rows, too.
//!
//! A block of [`K_BLOCK`] by a panel's columns is decoded, scaled if weights are quantised by groups of K, and becomes lines of a panel: in
//! f32, or in bf16 pairs, which represent all 8-bit integers and to which scaled values are rounded. Generated code does that to rows;
//! columns are read into L1, decoded there, and transposed.

use super::call::{Column, MAX_COLUMNS, RowUnpacker, WeightRows};
use super::weights::{WeightOrder, Weights};
use crate::kernels::macrokernel::PanelBlock;
use crate::kernels::microkernel::pack::{self, PanelLayout};
use crate::kernels::multiversion::{Simd, multiversion};
use crate::kernels::scratch::lend;
use oxidnn_expr::convert;
use oxidnn_jit::Isa;
use oxidnn_jit::kernels::unpack::{Stored, UnpackRows};
use oxidnn_runtime::Buf;
use oxidnn_spec::{DataType, Error};
use std::ops::Range;

/// Elements of K in a block.
const K_BLOCK: usize = 64;
/// Elements that columns of a block are padded to a multiple of.
const RUN: usize = 16;
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

/// The packing of plain weights.
#[derive(Debug)]
pub(super) struct PlainPacker {
    plain: Plain,
    /// The kernel for rows.
    rows: Option<RowUnpacker>,
}

/// Scales and zero points of the groups, for weights `(w - zero) * scale`.
pub(super) type Factors<'a> = [Option<Column<'a>>; 2];

/// A block of weights within one group.
struct Block<'f> {
    depth: Range<usize>,
    columns: Range<usize>,
    /// Zero points and scales by column, and whether there are any.
    factors: &'f [[f32; MAX_COLUMNS]; 2],
    scaled: bool,
}

/// The weights' memory.
#[derive(Clone, Copy)]
struct From<'f> {
    simd: Simd,
    b: Buf<'f>,
    /// Byte offset of the matrix, and bytes from a row or column to the next.
    start: usize,
    distance: usize,
}

/// Buffers in L1.
struct Buffers {
    raw: [u8; 2 * BLOCK_ELEMENTS],
    numbers: [f32; BLOCK_ELEMENTS],
    pairs: [f32; BLOCK_ELEMENTS / 2],
}

impl Plain {
    /// Whether these weights are unpacked here.
    pub(super) fn takes(weights: &Weights, group: Option<usize>) -> bool {
        let bytes = |elements: usize| (elements * weights.stored.bits()).is_multiple_of(8);
        match weights.order {
            WeightOrder::Panels { .. } => weights.stored == Stored::F16,
            WeightOrder::Rows { .. } => bytes(weights.n),
            WeightOrder::Columns { .. } => bytes(weights.k) && group.is_none_or(bytes),
        }
    }

    fn form(&self) -> PanelLayout {
        if self.pairs { PanelLayout { size: 2, vnni: 2, width: self.width } } else { PanelLayout { size: 4, vnni: 1, width: self.width } }
    }

    /// The packing, with zero points and scales if `scaled`.
    ///
    /// # Errors
    /// [`Error::Runtime`] when code cannot be generated.
    pub(super) fn build(self, isa: Isa, scaled: bool) -> Result<PlainPacker, Error> {
        let line = (self.width / isa.width().lanes()) as u8;
        let spec = UnpackRows { stored: self.weights.stored, pairs: self.pairs, line, scaled };
        let rows = (!matches!(self.weights.order, WeightOrder::Columns { .. })).then(|| RowUnpacker::get(isa, spec)).transpose()?;
        Ok(PlainPacker { plain: self, rows })
    }
}

impl PlainPacker {
    /// Writes panels one after the other.
    pub(super) fn panels(&self, simd: Simd, b: Buf, factors: &Factors<'_>, panels: PanelBlock, to: &mut [f32]) {
        let (PanelBlock { at: start, depth, columns }, Plain { weights, width, group, .. }) = (panels, self.plain);
        let form = self.plain.form();
        let each = form.panel(depth.len()) / 4;
        let mut buffers = Buffers { raw: [0; 2 * BLOCK_ELEMENTS], numbers: [0.0; BLOCK_ELEMENTS], pairs: [0.0; BLOCK_ELEMENTS / 2] };
        for (first, to) in columns.clone().step_by(width).zip(to.chunks_exact_mut(each.max(1))) {
            let columns = first..columns.end.min(first + width);
            let mut at = depth.start;
            while at < depth.end {
                let end = depth.end.min(at + K_BLOCK).min((at / group + 1).saturating_mul(group));
                let lines = &mut to[(at - depth.start) / form.vnni * width..];
                let mut factor = [[0.0; MAX_COLUMNS], [1.0; MAX_COLUMNS]];
                for (of, line) in factors.iter().rev().zip(&mut factor) {
                    if let Some(of) = of {
                        of.buf.part(at / group * of.row, of.row).read(first, &mut line[..columns.len()]);
                    }
                }
                let scaled = factors.iter().any(Option::is_some);
                let block = Block { depth: at..end, columns: columns.clone(), factors: &factor, scaled };
                match (weights.order, &self.rows) {
                    (WeightOrder::Columns { distance }, _) => {
                        self.plain.columns(&From { simd, b, start, distance }, block, &mut buffers, lines)
                    }
                    (WeightOrder::Rows { distance }, Some(code)) => {
                        self.plain.rows(&From { simd, b, start, distance }, code, block, &mut buffers.numbers, lines);
                    }
                    (WeightOrder::Panels { distance: panel, .. }, Some(code)) => {
                        let distance = width * weights.stored.bits() / 8;
                        let start = start + first / width * panel - first / width * distance;
                        self.plain.rows(&From { simd, b, start, distance }, code, block, &mut buffers.numbers, lines);
                    }
                    (_, None) => panic!("rows without a kernel"),
                }
                at = end;
            }
        }
    }
}

impl Plain {
    /// Writes the lines of a block of rows.
    fn rows(&self, from: &From<'_>, code: &RowUnpacker, block: Block<'_>, spare: &mut [f32], to: &mut [f32]) {
        let (Block { depth, columns, factors, .. }, From { b, distance, .. }) = (block, *from);
        let bits = self.weights.stored.bits();
        let start = from.start + depth.start * distance + columns.start * bits / 8;
        let rows = WeightRows { buf: b, start, distance };
        let padded = depth.len().next_multiple_of(self.form().vnni);
        let end = code.reach(&rows, depth.len()).and_then(|reach| reach.checked_add(start));
        if padded == depth.len() && end.is_some_and(|end| end <= b.len()) {
            return code.run(rows, padded, factors, to);
        }
        // The last rows, behind which there may be no memory, or no row for a pair.
        let pitch = self.width * bits / 8;
        let raw = &mut bytemuck::cast_slice_mut::<f32, u8>(spare)[..padded * pitch];
        raw.fill(0);
        Runs { b, start, distance, len: columns.len() * bits / 8 }.read(&mut raw[..depth.len() * pitch], pitch);
        code.run(WeightRows { buf: lend(spare), start: 0, distance: pitch }, padded, factors, to);
    }

    /// Writes the lines of a block of columns.
    fn columns(&self, from: &From<'_>, block: Block<'_>, buffers: &mut Buffers, to: &mut [f32]) {
        let (Block { depth, columns, factors, scaled }, Buffers { raw, numbers, pairs }) = (block, buffers);
        let (From { simd, b, distance, .. }, stored, run) = (*from, self.weights.stored, depth.len().next_multiple_of(RUN));
        let (bits, count) = (stored.bits(), columns.len() * run);
        let raw = &mut raw[..count * bits / 8];
        let start = from.start + columns.start * distance + depth.start * bits / 8;
        Runs { b, start, distance, len: depth.len() * bits / 8 }.read(raw, run * bits / 8);
        let (numbers, pairs) = (&mut numbers[..count], &mut pairs[..count / 2]);
        // Integers become pairs directly, all else by way of f32.
        if self.pairs && !scaled && stored.is_integral() {
            decode_pairs(simd, stored, raw, pairs);
        } else {
            decode(simd, stored, raw, scaled.then_some((factors, run)), numbers);
            if self.pairs {
                round_pairs(simd, numbers, pairs);
            }
        }
        let (form, size) = (self.form(), self.form().size);
        let bytes = bytemuck::cast_slice(if self.pairs { pairs } else { numbers });
        let from = pack::PlainMatrix { bytes, depth: size, column: run * size };
        pack::panels(simd, &from, 0..depth.len(), 0..columns.len(), form, &mut to[..form.panel(depth.len()) / 4]);
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

multiversion! {
    /// Decodes elements, and scales them by runs of a length.
    fn decode(stored: Stored, raw: &[u8], scaled: Option<(&[[f32; MAX_COLUMNS]; 2], usize)>, to: &mut [f32]) {
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
            Stored::F16 => convert::load::<{ DataType::F16 as usize }>(raw, to),
            Stored::F32 | Stored::Bf16 => unreachable!("weights that are not unpacked"),
        }
        let Some(([zeros, scales], run)) = scaled else { return };
        for (run, (zero, scale)) in to.chunks_exact_mut(run).zip(zeros.iter().zip(scales)) {
            run.as_chunks_mut::<RUN>().0.iter_mut().flatten().for_each(|x| *x = (*x - zero) * scale);
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

multiversion! {
    /// Decodes integers to bf16 pairs of neighbours.
    fn decode_pairs(stored: Stored, raw: &[u8], to: &mut [f32]) {
        let (low, high) = (|b: u8| i32::from((b << 4).cast_signed() >> 4), |b: u8| i32::from(b.cast_signed() >> 4));
        match stored {
            Stored::S8 => neighbours(raw, to, |[low, high]: [u8; 2]| [low, high].map(|b| i32::from(b.cast_signed()))),
            Stored::U8 => neighbours(raw, to, |[low, high]: [u8; 2]| [low, high].map(i32::from)),
            Stored::S4 => neighbours(raw, to, |[b]: [u8; 1]| [low(b), high(b)]),
            _ => neighbours(raw, to, |[b]: [u8; 1]| [i32::from(b & 15), i32::from(b >> 4)]),
        }
    }
}

multiversion! {
    /// Rounds f32 to bf16 pairs of neighbours.
    fn round_pairs(numbers: &[f32], to: &mut [f32]) {
        let pairs = to.iter_mut().zip(numbers.as_chunks::<2>().0);
        pairs.for_each(|(to, [low, high])| *to = f32::from_bits(convert::bf16_pair(*low, *high)));
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

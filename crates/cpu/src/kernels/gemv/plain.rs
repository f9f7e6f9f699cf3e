//! Panels of plain weights of 8 or 4 bits, or of f16: rows or columns in the caller's memory, unpacked block by block to L2. Panels of f16
//! are rows, too.
//!
//! A block of K by a panel's columns is decoded, scaled if weights are quantised by groups of K, and becomes lines of a panel: in
//! f32, or in bf16 pairs, which represent all 8-bit integers and to which scaled values are rounded. Generated code does that: to rows
//! where they lie; columns are transposed by words of 32 bits first, to panels of stored elements in L1.

use super::call::{Column, MAX_COLUMNS, RowUnpacker, Unpacker, WeightRows};
use super::weights::{WeightOrder, Weights};
use crate::kernels::macrokernel::PanelBlock;
use crate::kernels::microkernel::pack::PanelLayout;
use crate::kernels::multiversion::{Simd, multiversion};
use crate::kernels::scratch::lend;
use crate::kernels::transpose::{Matrix, RegisterTranspose, TransposeOperand, no_factors};
use oxidnn_jit::Isa;
use oxidnn_jit::ir::Elem;
use oxidnn_jit::kernels::unpack::{Stored, Unpack, UnpackRows};
use oxidnn_runtime::Buf;
use oxidnn_spec::Error;
use std::ops::Range;

/// Elements of K in a block of rows.
const ROW_BLOCK: usize = 64;
/// Words of a column in a block: two cache lines, of which the second is prefetched while the first is transposed.
const COLUMN_WORDS: usize = 32;
/// Words of a block, and most numbers in a line of words.
const BLOCK_WORDS: usize = COLUMN_WORDS * MAX_COLUMNS;
const LINE_NUMBERS: usize = 8 * MAX_COLUMNS;

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
    code: Code,
}

/// The kernel.
#[derive(Debug)]
enum Code {
    /// For rows.
    Rows(RowUnpacker),
    /// For columns.
    Words(Words),
}

/// The kernels for columns: they are transposed to panels of words, which are decoded.
#[derive(Debug)]
struct Words {
    squares: RegisterTranspose,
    code: Unpacker,
}

/// Scales and zero points of the groups, for weights `(w - zero) * scale`.
pub(super) type Factors<'a> = [Option<Column<'a>>; 2];

/// A block of weights within one group.
struct Block<'f> {
    depth: Range<usize>,
    columns: Range<usize>,
    /// Zero points and scales by column.
    factors: &'f mut [[f32; MAX_COLUMNS]; 2],
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
    words: [f32; BLOCK_WORDS],
    last: [f32; LINE_NUMBERS],
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

    /// The packing, with scales and with zero points if there are any.
    ///
    /// # Errors
    /// [`Error::Runtime`] when code cannot be generated.
    pub(super) fn build(self, isa: Isa, [scale, zero]: [bool; 2]) -> Result<PlainPacker, Error> {
        let (stored, pairs, line) = (self.weights.stored, self.pairs, (self.width / isa.width().lanes()) as u8);
        let code = if let WeightOrder::Columns { .. } = self.weights.order {
            let [scale, zero] = [scale, zero].map(|has| has.then_some(Elem::F32));
            let code = Unpacker::get(isa, Unpack { stored, pairs, line, scale, zero })?;
            Code::Words(Words { squares: RegisterTranspose::get(isa)?, code })
        } else {
            Code::Rows(RowUnpacker::get(isa, UnpackRows { stored, pairs, line, scale, zero })?)
        };
        Ok(PlainPacker { plain: self, code })
    }
}

impl PlainPacker {
    /// Writes panels one after the other.
    pub(super) fn panels(&self, simd: Simd, b: Buf, factors: &Factors<'_>, panels: PanelBlock, to: &mut [f32]) {
        let (PanelBlock { at: start, depth, columns }, Plain { weights, width, group, .. }) = (panels, self.plain);
        let form = self.plain.form();
        let each = form.panel(depth.len()) / 4;
        let mut buffers = Buffers { words: [0.0; BLOCK_WORDS], last: [0.0; LINE_NUMBERS] };
        let most = if let Code::Words(_) = self.code { COLUMN_WORDS * weights.stored.in_word() } else { ROW_BLOCK };
        for (first, to) in columns.clone().step_by(width).zip(to.chunks_exact_mut(each.max(1))) {
            let columns = first..columns.end.min(first + width);
            let mut at = depth.start;
            while at < depth.end {
                let end = depth.end.min(at + most).min((at / group + 1).saturating_mul(group));
                let lines = &mut to[(at - depth.start) / form.vnni * width..];
                let mut factor = [[0.0; MAX_COLUMNS], [1.0; MAX_COLUMNS]];
                for (of, line) in factors.iter().rev().zip(&mut factor) {
                    if let Some(of) = of {
                        of.buf.part(at / group * of.row, of.row).read(first, &mut line[..columns.len()]);
                    }
                }
                let block = Block { depth: at..end, columns: columns.clone(), factors: &mut factor };
                match (weights.order, &self.code) {
                    (WeightOrder::Columns { distance }, Code::Words(code)) => {
                        self.plain.columns(&From { simd, b, start, distance }, code, block, &mut buffers, lines);
                    }
                    (WeightOrder::Panels { distance: panel, .. }, Code::Rows(code)) => {
                        let distance = width * weights.stored.bits() / 8;
                        let start = start + first / width * panel - first / width * distance;
                        self.plain.rows(&From { simd, b, start, distance }, code, block, &mut buffers.words, lines);
                    }
                    (WeightOrder::Rows { distance }, Code::Rows(code)) => {
                        self.plain.rows(&From { simd, b, start, distance }, code, block, &mut buffers.words, lines);
                    }
                    (order, code) => panic!("{code:?} for {order:?}"),
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
        for (i, row) in raw.chunks_exact_mut(pitch).take(depth.len()).enumerate() {
            b.read(start + i * distance, &mut row[..columns.len() * bits / 8]);
        }
        code.run(WeightRows { buf: lend(spare), start: 0, distance: pitch }, padded, factors, to);
    }

    /// Writes the lines of a block of columns.
    fn columns(&self, from: &From<'_>, kernels: &Words, block: Block<'_>, buffers: &mut Buffers, to: &mut [f32]) {
        let Words { squares, code } = kernels;
        let (Block { depth, columns, factors }, Buffers { words, last }) = (block, buffers);
        let (From { simd, b, distance, .. }, form, bits) = (*from, self.form(), self.weights.stored.bits());
        let (len, in_word, width) = (depth.len() * bits / 8, self.weights.stored.in_word(), self.width);
        let start = from.start + columns.start * distance + depth.start * bits / 8;
        let (whole, rest) = (len / 4, len % 4);
        let (from, to_words) = (Matrix { buf: b, at: start, row: distance }, Matrix { buf: lend(words), at: 0, row: width * 4 });
        let written = TransposeOperand {
            from,
            rows: columns.len(),
            columns: whole,
            to: to_words,
            written: width,
            places: None,
            factors: no_factors(),
        };
        squares.turn(&written);
        let words = &mut words[..len.div_ceil(4) * width];
        if rest > 0 {
            let line: &mut [u8] = bytemuck::cast_slice_mut(&mut words[whole * width..]);
            line.fill(0);
            let ends = line.chunks_exact_mut(4).take(columns.len()).enumerate();
            ends.for_each(|(i, word)| b.read(start + i * distance + whole * 4, &mut word[..rest]));
        }
        if self.pairs && bits == 4 {
            sort_nibbles(simd, bytemuck::cast_slice_mut(words));
        }
        let [zero, scale] = factors.each_mut().map(|of| Some(lend(of)));
        let (words, behind) = words.split_at_mut(whole * width);
        let (to, to_rest) = to.split_at_mut(whole * in_word / form.vnni * width);
        code.run(lend(words), whole, [scale, zero], to);
        if rest > 0 {
            code.run(lend(behind), 1, [scale, zero], last);
            let count = (depth.len() - whole * in_word).div_ceil(form.vnni) * width;
            to_rest[..count].copy_from_slice(&last[..count]);
        }
    }
}

multiversion! {
    /// Exchanges 4-bit elements within words so that those which become pairs of consecutive depths are four apart.
    fn sort_nibbles(raw: &mut [u8]) {
        for word in raw.as_chunks_mut::<4>().0 {
            let [even, odd] = [0, 4].map(|shift| {
                let apart = u32::from_le_bytes(*word) >> shift & 0x0f0f_0f0f;
                let pairs = (apart | apart >> 4) & 0x00ff_00ff;
                (pairs | pairs >> 8) & 0xffff
            });
            *word = (even | odd << 16).to_le_bytes();
        }
    }
}

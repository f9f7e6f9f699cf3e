//! Packing: panels from plain matrices.
//!
//! A panel has a line for every step of K: for each of its columns as many elements of consecutive K as the product takes together (see
//! [`layout`](super::layout)). If columns are contiguous in memory, a line is a copy, or an interleaving of a few rows (`interleave`). If K
//! is contiguous (a transposed matrix), squares of 32-bit words are transposed in registers, since the elements of a step are contiguous
//! already. Squares are taken along K, so that few streams are read at a time and rows at power-of-two strides do not conflict in L1.

use super::interleave;
use crate::kernels::multiversion::{Simd, multiversion};
use crate::kernels::transpose::{self, Words};
use std::ops::Range;

#[cfg(test)]
mod tests;

/// A plain matrix `B`; strides in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Plain<'a> {
    /// Memory, from the first element on.
    pub bytes: &'a [u8],
    /// From a row to the next.
    pub depth: usize,
    /// From a column to the next.
    pub column: usize,
}

/// The layout of panels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Form {
    /// Bytes of an element.
    pub size: usize,
    /// Elements of consecutive K that are contiguous.
    pub together: usize,
    /// Columns of a panel.
    pub width: usize,
}

impl Form {
    /// Bytes of a line.
    pub const fn line(&self) -> usize {
        self.width * self.together * self.size
    }

    /// Bytes of a panel.
    pub const fn panel(&self, depth: usize) -> usize {
        depth.div_ceil(self.together) * self.line()
    }
}

/// Packs a part of a matrix into panels, one after the other, zero-padded behind the last column and the last row.
///
/// # Panics
/// When the matrix does not have these rows and columns, or `to` is too short.
pub fn panels(simd: Simd, from: &Plain<'_>, depth: Range<usize>, columns: Range<usize>, form: Form, to: &mut [f32]) {
    let to: &mut [u8] = bytemuck::cast_slice_mut(to);
    if depth.is_empty() {
        return;
    }
    // A single column is handled as contiguous along K if it is.
    if from.column == form.size && (columns.len() > 1 || from.depth != form.size) {
        let from = Plain { bytes: &from.bytes[depth.start * from.depth + columns.start * from.column..], ..*from };
        if interleave::panels(simd, &from, Size { depth: depth.len(), columns: columns.len() }, form, to) {
            return;
        }
    }
    for (first, panel) in columns.clone().step_by(form.width).zip(to.chunks_exact_mut(form.panel(depth.len()))) {
        let count = form.width.min(columns.end - first);
        let from = Plain { bytes: &from.bytes[depth.start * from.depth + first * from.column..], ..*from };
        let size = Size { depth: depth.len(), columns: count };
        if from.depth == form.size && form.size * form.together == 4 {
            words(simd, &from, size, form, panel);
        } else if from.depth == form.size && (form.size, form.together) == (2, 1) {
            halves(simd, &from, size, form, panel);
        } else {
            single(&from, 0..size.depth, size.columns, form, panel);
        }
    }
}

/// The part of a panel that exists in the matrix.
#[derive(Clone, Copy)]
pub(super) struct Size {
    pub(super) depth: usize,
    pub(super) columns: usize,
}

/// Packs a panel of a transposed matrix whose steps are words.
fn words(simd: Simd, from: &Plain<'_>, size: Size, form: Form, to: &mut [u8]) {
    let whole = size.depth / form.together;
    let (lines, last) = to.split_at_mut(whole * form.line());
    transpose::words(simd, &Words { bytes: from.bytes, step: from.column, lines: size.columns, count: whole }, lines, form.width);
    if !last.is_empty() {
        let from = Plain { bytes: &from.bytes[whole * 4..], ..*from };
        match (size.depth - whole * form.together) * form.size {
            1 => part_of_words::<1>(&from, size.columns, last),
            2 => part_of_words::<2>(&from, size.columns, last),
            _ => part_of_words::<3>(&from, size.columns, last),
        }
    }
}

/// Packs the last line of a panel, whose words have only `N` bytes from the matrix.
fn part_of_words<const N: usize>(from: &Plain<'_>, columns: usize, to: &mut [u8]) {
    let (line, rest) = to.as_chunks_mut::<4>().0.split_at_mut(columns);
    for (j, word) in line.iter_mut().enumerate() {
        *word = [0; 4];
        word[..N].copy_from_slice(&from.bytes[j * from.column..][..N]);
    }
    rest.fill([0; 4]);
}

/// Words that are transposed before they are split, and most lines of them.
const CHUNK_WORDS: usize = 1024;
const MAX_CHUNK_LINES: usize = 16;

/// Packs a panel of a transposed matrix of 16-bit elements that are not interleaved: pairs are transposed as words, then split into two
/// lines.
fn halves(simd: Simd, from: &Plain<'_>, size: Size, form: Form, to: &mut [u8]) {
    let (mut words, lines, pairs) = ([[0u8; 4]; CHUNK_WORDS], MAX_CHUNK_LINES.min(form.width), size.depth / 2);
    for first in (0..form.width).step_by(lines) {
        let there = size.columns.saturating_sub(first).min(lines);
        let column = &from.bytes[(first * from.column).min(from.bytes.len())..];
        for done in (0..pairs).step_by(CHUNK_WORDS / lines) {
            let count = (CHUNK_WORDS / lines).min(pairs - done);
            let words = &mut words[..count * lines];
            let bytes = &column[(done * 4).min(column.len())..];
            transpose::words(simd, &Words { bytes, step: from.column, lines: there, count }, words.as_flattened_mut(), lines);
            split(simd, words, lines, &mut to[2 * done * form.line() + first * 2..], form.line());
        }
    }
    if size.depth > 2 * pairs {
        let from = Plain { bytes: &from.bytes[pairs * 4..], ..*from };
        single(&from, 0..1, size.columns, form, &mut to[2 * pairs * form.line()..]);
    }
}

multiversion! {
    /// Writes the low halves of rows of [`MAX_CHUNK_LINES`] or 8 words to one line and the high halves to the next, `line` bytes later.
    fn split(words: &[[u8; 4]], lines: usize, to: &mut [u8], line: usize) {
        if lines == MAX_CHUNK_LINES { split_rows::<MAX_CHUNK_LINES>(words, to, line) } else { split_rows::<8>(words, to, line) }
    }
}

#[inline(always)]
fn split_rows<const N: usize>(words: &[[u8; 4]], to: &mut [u8], line: usize) {
    for (i, row) in words.as_chunks::<N>().0.iter().enumerate() {
        let words = row.map(u32::from_le_bytes);
        for (half, shift) in [0, 16].into_iter().enumerate() {
            let halves: [[u8; 2]; N] = words.map(|word| ((word >> shift) as u16).to_le_bytes());
            to[(2 * i + half) * line..][..2 * N].copy_from_slice(halves.as_flattened());
        }
    }
}

/// Packs a panel element by element.
fn single(from: &Plain<'_>, depth: Range<usize>, columns: usize, form: Form, to: &mut [u8]) {
    match form.size {
        1 => single_sized::<1>(from, depth, columns, form, to),
        2 => single_sized::<2>(from, depth, columns, form, to),
        _ => single_sized::<4>(from, depth, columns, form, to),
    }
}

/// Packs a panel element by element, `N` bytes each.
fn single_sized<const N: usize>(from: &Plain<'_>, depth: Range<usize>, columns: usize, form: Form, to: &mut [u8]) {
    to.fill(0);
    for k in depth {
        let line = &mut to[k / form.together * form.line()..][k % form.together * N..];
        for (j, to) in line.chunks_mut(form.together * N).take(columns).enumerate() {
            to[..N].copy_from_slice(&from.bytes[k * from.depth + j * from.column..][..N]);
        }
    }
}

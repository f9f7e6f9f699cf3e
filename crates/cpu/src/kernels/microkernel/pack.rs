//! Packing: panels from plain matrices.
//!
//! A panel has a line for every step of K: for each of its columns as many elements of consecutive K as the product takes together (see
//! [`layout`](super::layout)). If columns are contiguous in memory, a line is a copy, or an interleaving of a few rows (`interleave`). If K
//! is contiguous (a transposed matrix), squares are transposed in registers: of 32-bit words where the elements of a step are contiguous
//! already, else of elements. Squares are taken along K, so that few streams are read at a time and rows at power-of-two strides do not conflict in L1.

use super::interleave;
use crate::kernels::multiversion::Simd;
use crate::kernels::transpose::{self, Lines};
use std::ops::Range;

#[cfg(test)]
mod tests;

/// A plain matrix `B`; strides in bytes.
#[derive(Clone, Copy, Debug)]
pub struct PlainMatrix<'a> {
    /// Memory, from the first element on.
    pub bytes: &'a [u8],
    /// From a row to the next.
    pub depth: usize,
    /// From a column to the next.
    pub column: usize,
}

/// The layout of panels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PanelLayout {
    /// Bytes of an element.
    pub size: usize,
    /// Elements of consecutive K that are contiguous.
    pub vnni: usize,
    /// Columns of a panel.
    pub width: usize,
}

impl PanelLayout {
    /// Bytes of a line.
    pub const fn line(&self) -> usize {
        self.width * self.vnni * self.size
    }

    /// Bytes of a panel.
    pub const fn panel(&self, depth: usize) -> usize {
        depth.div_ceil(self.vnni) * self.line()
    }
}

/// Packs a part of a matrix into panels, one after the other, zero-padded behind the last column and the last row.
///
/// # Panics
/// When the matrix does not have these rows and columns, or `to` is too short.
pub fn panels(simd: Simd, from: &PlainMatrix<'_>, depth: Range<usize>, columns: Range<usize>, form: PanelLayout, to: &mut [f32]) {
    let to: &mut [u8] = bytemuck::cast_slice_mut(to);
    if depth.is_empty() {
        return;
    }
    // A single column is handled as contiguous along K if it is.
    if from.column == form.size && (columns.len() > 1 || from.depth != form.size) {
        let from = PlainMatrix { bytes: &from.bytes[depth.start * from.depth + columns.start * from.column..], ..*from };
        if interleave::panels(simd, &from, Size { depth: depth.len(), columns: columns.len() }, form, to) {
            return;
        }
    }
    for (first, panel) in columns.clone().step_by(form.width).zip(to.chunks_exact_mut(form.panel(depth.len()))) {
        let count = form.width.min(columns.end - first);
        let from = PlainMatrix { bytes: &from.bytes[depth.start * from.depth + first * from.column..], ..*from };
        let size = Size { depth: depth.len(), columns: count };
        if from.depth == form.size && form.size * form.vnni == 4 {
            words(simd, &from, size, form, panel);
        } else if from.depth == form.size && (form.size, form.vnni) == (2, 1) {
            let lines = Lines { bytes: from.bytes, step: from.column, lines: size.columns, count: size.depth };
            transpose::elements::<2>(simd, &lines, panel, form.width);
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
fn words(simd: Simd, from: &PlainMatrix<'_>, size: Size, form: PanelLayout, to: &mut [u8]) {
    let whole = size.depth / form.vnni;
    let (lines, last) = to.split_at_mut(whole * form.line());
    transpose::elements::<4>(simd, &Lines { bytes: from.bytes, step: from.column, lines: size.columns, count: whole }, lines, form.width);
    if !last.is_empty() {
        let from = PlainMatrix { bytes: &from.bytes[whole * 4..], ..*from };
        single(&from, 0..size.depth - whole * form.vnni, size.columns, form, last);
    }
}

/// Packs a panel element by element.
fn single(from: &PlainMatrix<'_>, depth: Range<usize>, columns: usize, form: PanelLayout, to: &mut [u8]) {
    match form.size {
        1 => single_sized::<1>(from, depth, columns, form, to),
        2 => single_sized::<2>(from, depth, columns, form, to),
        _ => single_sized::<4>(from, depth, columns, form, to),
    }
}

/// Packs a panel element by element, `N` bytes each.
fn single_sized<const N: usize>(from: &PlainMatrix<'_>, depth: Range<usize>, columns: usize, form: PanelLayout, to: &mut [u8]) {
    to.fill(0);
    for k in depth {
        let line = &mut to[k / form.vnni * form.line()..][k % form.vnni * N..];
        for (j, to) in line.chunks_mut(form.vnni * N).take(columns).enumerate() {
            to[..N].copy_from_slice(&from.bytes[k * from.depth + j * from.column..][..N]);
        }
    }
}

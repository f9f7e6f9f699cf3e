//! Problems for the kernels of this folder, checked exactly.

use super::dot::{Args, Dot, DotType, InitialSums, LineStride, Stride};
use crate::isa::Isa;
use crate::key::Key;
use crate::testing::run;
use half::{bf16, f16};

/// Small integers, so that every sum is exact in every order; bytes use their whole range.
fn number(product: DotType, right: bool, i: usize) -> i32 {
    let x = ((i * 37 + i / 11) % 13) as i32;
    match (product, right) {
        (DotType::U8S8 | DotType::U8S7, false) => x * 21,
        (DotType::S8S7, false) => x * 21 - 128,
        (DotType::U8S7 | DotType::S8S7, true) => x * 10 - 64,
        (DotType::U8S8 | DotType::S8S8, _) => x * 21 - 128,
        (DotType::I16, _) => x * 42 - 255,
        _ => x - 6,
    }
}

fn put(product: DotType, x: i32, out: &mut Vec<u8>) {
    match product {
        DotType::F32 => out.extend((x as f32).to_le_bytes()),
        DotType::Bf16 => out.extend(bf16::from_f32(x as f32).to_le_bytes()),
        DotType::F16 => out.extend(f16::from_f32(x as f32).to_le_bytes()),
        DotType::U8S8 | DotType::S8S8 | DotType::U8S7 | DotType::S8S7 => out.push(x as u8),
        DotType::I16 => out.extend((x as i16).to_le_bytes()),
    }
}

/// Bytes that the addresses of rows are before their first steps.
const A_FROM: usize = 12;

/// Elements of a product: taps, each `rows` by `depth` and `depth` by `columns`.
pub(super) struct Case {
    pub(super) dot: Dot,
    pub(super) isa: Isa,
    pub(super) taps: usize,
    pub(super) steps: usize,
    pub(super) last: usize,
}

impl Case {
    fn depth(&self) -> usize {
        self.steps * self.dot.product.step_depth() + usize::from(self.dot.k_tail)
    }

    fn a(&self, tap: usize, row: usize, k: usize) -> i32 {
        number(self.dot.product, false, tap * 1000 + row * 57 + k)
    }

    fn b(&self, tap: usize, k: usize, column: usize) -> i32 {
        number(self.dot.product, true, tap * 777 + column * 31 + k)
    }

    /// Columns that exist.
    fn shown(&self) -> usize {
        let (columns, lanes) = (self.dot.columns(self.isa), self.isa.width().lanes());
        if self.dot.masked { columns - lanes + self.last } else { columns }
    }

    /// Bytes of a number.
    fn size(&self) -> usize {
        4 / self.dot.product.step_depth()
    }

    /// A row of `A` of a tap, with the distance of its steps; it ends with the last element, and elements that must not be read are NaN.
    pub(super) fn left(&self, tap: usize, row: usize) -> (Vec<u8>, usize) {
        let step = match self.dot.a_step {
            Stride::Fixed(bytes) => bytes as usize,
            Stride::Given => 20,
            Stride::Across => usize::from(self.dot.rows) * 4 + 12,
        };
        let depth = self.dot.product.step_depth();
        let mut bytes = Vec::new();
        for k in 0..self.depth() {
            bytes.resize(k / depth * step + k % depth * self.size(), 0xff);
            put(self.dot.product, self.a(tap, row, k), &mut bytes);
        }
        (bytes, step)
    }

    /// All rows of `A` of a tap as neighbours, with the distance of their steps.
    fn across(&self, tap: usize) -> (Vec<u8>, usize) {
        let rows: Vec<_> = (0..usize::from(self.dot.rows)).map(|i| self.left(tap, i)).collect();
        let mut bytes = Vec::new();
        for (i, (row, step)) in rows.iter().enumerate() {
            for (k, step_bytes) in row.chunks(*step).enumerate() {
                let (at, n) = (k * step + i * 4, step_bytes.len().min(4));
                bytes.resize(bytes.len().max(at + n), 0xff);
                bytes[at..at + n].copy_from_slice(&step_bytes[..n]);
            }
        }
        (bytes, rows.first().map_or(0, |r| r.1))
    }

    /// `B` of a tap, with the distance of its lines; ends with the last number that is read.
    pub(super) fn right(&self, tap: usize) -> (Vec<u8>, usize) {
        let product = self.dot.product;
        let (columns, line) = match self.dot.line {
            LineStride::Packed(vectors) => {
                (self.dot.columns(self.isa), usize::from(vectors) * self.isa.width().bytes() * self.size() * product.vnni() / 4)
            }
            LineStride::Strided => (self.shown(), self.shown() * 4 + 20),
        };
        let mut bytes = Vec::new();
        for first in (0..self.depth()).step_by(product.vnni()) {
            bytes.resize(first / product.vnni() * line, 0xff);
            for column in 0..columns {
                for k in first..first + product.vnni() {
                    put(product, if k < self.depth() { self.b(tap, k, column) } else { 0 }, &mut bytes);
                }
            }
        }
        (bytes, line)
    }

    /// The old value of a sum in memory.
    fn before(&self, i: usize) -> u32 {
        if self.dot.product.is_integer() { i as u32 } else { (i as f32).to_bits() }
    }

    /// Runs the kernel and checks its results: a strip of one tile and one of two by two panels, or by one where the last vector is masked,
    /// all of which have equal operands.
    pub(super) fn run(&self) {
        let (rows, columns) = (usize::from(self.dot.rows), self.dot.columns(self.isa));
        let rows_of = |tap: usize| match self.dot.a_step {
            Stride::Across => vec![self.across(tap)],
            _ => (0..rows).map(|i| self.left(tap, i)).collect::<Vec<_>>(),
        };
        let left: Vec<_> = (0..self.taps).map(rows_of).collect();
        let twice = |(bytes, line): (Vec<u8>, usize)| (bytes.repeat(2), line);
        let right: Vec<_> = (0..self.taps).map(|t| twice(self.right(t))).collect();
        // Panels are anywhere; the base is another address.
        let (base, panels) = (0x1000_usize, if self.dot.masked { 1 } else { 2 });
        let sums_row = panels * columns + 3;
        let mut sums = [self.sums(sums_row), self.sums(sums_row), self.sums(sums_row)].concat();
        let mut strips = Vec::new();
        for (first, tiles) in [(2, 1), (0, 2)] {
            strips.extend([self.taps, tiles, first * rows * sums_row * 4, 0, usize::MAX]);
            strips.resize(strips.len() + rows, usize::MAX);
            for (left, right) in left.iter().zip(&right) {
                strips.push(right.0.as_ptr().addr().wrapping_sub(base));
                strips.extend(left.iter().map(|row| row.0.as_ptr().addr().wrapping_sub(A_FROM)));
            }
        }
        assert_eq!(Some(strips.len()), self.dot.strip_words(self.taps).map(|n| n * 2));
        let args = Args {
            strips: strips.as_ptr(),
            count: 2,
            panels,
            steps: self.steps,
            b: std::ptr::without_provenance(base),
            b_panel: right.first().map_or(0, |b| b.0.len() / 2),
            a_from: A_FROM,
            sums: sums.as_mut_ptr().cast(),
            sums_row: sums_row * 4,
            a_step: left.first().and_then(|l| l.first()).map_or(0, |a| a.1),
            b_row: right.first().map_or(0, |b| b.1),
            last: self.last,
            prefetch: 1 << 20,
            prefetch_step: 192,
        };
        run(self.dot.function(self.isa), &args);
        sums.chunks(sums.len() / 3).for_each(|sums| self.check(sums, sums_row));
    }

    /// Compares every sum of a tile by as many panels as fit into a row, and the memory between them.
    pub(super) fn check(&self, sums: &[u32], sums_row: usize) {
        self.check_at(sums, sums_row, |i| i);
    }

    /// The same for sums whose old values are at other places of [`Case::sums`].
    pub(super) fn check_at(&self, sums: &[u32], sums_row: usize, at: impl Fn(usize) -> usize) {
        let columns = self.dot.columns(self.isa);
        for (i, got) in sums.iter().enumerate() {
            let (row, panel, column) = (i / sums_row, i % sums_row / columns, i % sums_row % columns);
            let before = at(i);
            let mut want = self.before(before);
            if panel < sums_row / columns && column < self.shown() {
                let terms = (0..self.taps).flat_map(|t| (0..self.depth()).map(move |k| (t, k)));
                let flipped = if matches!(self.dot.product, DotType::S8S8 | DotType::S8S7) && !self.isa.amx { 128 } else { 0 };
                let sum: i32 = terms.map(|(t, k)| (self.a(t, row, k) + flipped) * self.b(t, k, column)).sum();
                let sum = sum + if self.dot.start == InitialSums::Zero { 0 } else { before as i32 };
                want = if self.dot.product.is_integer() { sum as u32 } else { (sum as f32).to_bits() };
            }
            // -0 and 0 are the same sum.
            let zeros = |x: u32| if x == 0x8000_0000 { 0 } else { x };
            assert_eq!(zeros(*got), zeros(want), "row {row} column {column} of {} {:?}", self.dot.name(self.isa), self.dot);
        }
    }

    /// Sums in memory before a kernel runs, with so many elements between rows.
    pub(super) fn sums(&self, sums_row: usize) -> Vec<u32> {
        (0..usize::from(self.dot.rows) * sums_row).map(|i| self.before(i)).collect()
    }
}

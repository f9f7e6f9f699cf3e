//! Storing the sums of gradients of weights: as the lines of the gradient's blocks, or row by row through the portable epilogue.

use super::run::{Block, Bound};
use super::tiled::{Gradient, MAX_PANEL_COLUMNS};
use crate::kernels::access::Pos;
use crate::kernels::multiversion::Body;
use crate::kernels::portable_epilogue::{PortableEpilogue, Run, Sums};
use oxidnn_expr::convert::bf16_pair;
use oxidnn_runtime::Buf;
use oxidnn_spec::{DataType, MAX_NDIMS};
use std::ops::Range;

/// Elements of the lines of several rows that are stored together.
const ACROSS_ELEMENTS: usize = 256;

/// What the lines of the gradient's blocks have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Lines {
    /// The columns of a row.
    Rows,
    /// So many columns of a pair of rows, as bf16.
    RowPairs(usize),
    /// So many rows of a column, or of a pair of columns as bf16.
    Column(usize),
    ColumnPairs(usize),
    /// Anything else.
    Any,
}

/// Stores sums as pairs of bf16 rows in blocks of `width` columns, with zeros behind the last row and column.
struct Interleaved<'a> {
    sums: &'a [f32],
    panel: usize,
    columns: usize,
    width: usize,
    to: Buf<'a>,
    /// The first element, and elements from a pair to the next and from a block to the next.
    first: usize,
    strides: [usize; 2],
}

impl Body for Interleaved<'_> {
    type Out = ();

    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        let mut words = [0u32; MAX_PANEL_COLUMNS];
        for (i, rows) in self.sums.chunks(2 * self.panel).enumerate() {
            let (even, odd) = rows.split_at(self.panel);
            // Whole vectors: panels are, and the compiler splits no loop then.
            for (i, words) in words.as_chunks_mut::<W>().0.iter_mut().enumerate().take(self.columns.div_ceil(W)) {
                let Some(low) = even.as_chunks::<W>().0.get(i) else { return };
                let high = odd.as_chunks::<W>().0.get(i).unwrap_or(&[0.0; W]);
                for (word, (low, high)) in words.iter_mut().zip(low.iter().zip(high)) {
                    *word = bf16_pair(*low, *high);
                }
            }
            words[self.columns..].fill(0);
            for (block, words) in words[..self.columns.next_multiple_of(self.width)].chunks(self.width).enumerate() {
                self.to.write(self.first + i * self.strides[0] + block * self.strides[1], bytemuck::cast_slice::<u32, u16>(words));
            }
        }
    }
}

/// Lines of `width` words, each of a column of sums or, as bf16, of a pair of columns, with zeros behind the last row.
struct Across<'a> {
    rows: &'a [f32],
    panel: usize,
    columns: Range<usize>,
    width: usize,
    pairs: bool,
    words: &'a mut [u32],
}

impl Body for Across<'_> {
    type Out = ();

    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        let Across { rows, panel, columns, width, pairs, words } = self;
        if rows.len() < width * panel {
            words.fill(0);
        }
        for (i, row) in rows.chunks_exact(panel).enumerate() {
            let lines = words.chunks_exact_mut(width);
            let row = &row[columns.clone()];
            if !pairs {
                lines.zip(row).for_each(|(line, sum)| line[i] = sum.to_bits());
                continue;
            }
            lines.zip(row.chunks(2)).for_each(|(line, pair)| line[i] = bf16_pair(pair[0], pair.get(1).copied().unwrap_or(0.0)));
        }
    }
}

impl Gradient {
    /// The lines of the gradient, if they are stored whole and unchanged.
    pub(super) fn lines(&self, epilogue: &PortableEpilogue<'_>) -> Lines {
        let (dst, b) = (epilogue.dst(), epilogue.dst().blocking());
        let (mut inner, columns) = (b.inner.iter(), self.columns.channels / self.joined);
        let (dim, width) = inner.next().map_or((self.column_dim, 1), |(dim, width)| (dim, width as usize));
        let alone = inner.next().is_none() && width <= MAX_PANEL_COLUMNS;
        match dst.dtype() {
            _ if !epilogue.is_plain() => Lines::Any,
            DataType::Bf16 if self.joined == 1 => {
                self.pairs_of_rows(b).map(Lines::RowPairs).or(self.pairs_of_columns(b).map(Lines::ColumnPairs)).unwrap_or(Lines::Any)
            }
            DataType::F32 if alone && dim == self.column_dim => {
                let contiguous = if b.is_plain() { b.strides[dim] == 1 } else { width.is_multiple_of(self.panel) || columns <= width };
                // Padding only behind the columns of the last block.
                let padding = |d: usize| (b.padded_dims[d] - dst.dims()[d]) as usize;
                let padded = (0..dst.dims().len()).all(|d| padding(d) < if d == dim { width } else { 1 });
                if contiguous && padded { Lines::Rows } else { Lines::Any }
            }
            DataType::F32 if alone && dim == self.row_dim && self.joined == 1 => {
                let is_whole = self.rows.blocks == 1 || self.rows.each.is_multiple_of(width);
                if is_whole { Lines::Column(width) } else { Lines::Any }
            }
            _ => Lines::Any,
        }
    }
}

impl Bound<'_> {
    /// Stores the sums of a block.
    pub(super) fn store_all(&self, block: usize, sums: &mut [f32]) {
        let p = self.plan;
        let at = self.at(block);
        let [td, th, tw] = p.taps();
        for panel in 0..at.columns.1.div_ceil(p.panel) {
            for tap in (0..td * th * tw).map(|tap| [tap / (th * tw), tap / tw % th, tap % tw]) {
                self.store(&at, (panel, tap), &mut sums[self.sums(&at, (panel, tap))]);
            }
        }
    }

    /// The position of a tap and panel in the gradient.
    pub(super) fn position(&self, at: &Block, (panel, tap): (usize, [usize; 3])) -> Pos {
        let p = self.plan;
        let dims = self.epilogue.dst().dims().len();
        let mut pos: Pos = [0; MAX_NDIMS];
        let each = p.rows.channels / p.joined;
        if p.grouped {
            pos[0] = (at.group * p.joined + at.rows.0 / each) as i64;
        }
        (pos[p.column_dim], pos[p.row_dim]) = ((at.columns.0 + panel * p.panel) as i64, (at.rows.0 % each) as i64);
        for (i, tap) in tap.iter().enumerate() {
            if let Some(d) = p.tap_dim(dims, i) {
                pos[d] = *tap as i64;
            }
        }
        pos
    }

    /// Stores the sums of a tap and panel.
    pub(super) fn store(&self, at: &Block, (panel, tap): (usize, [usize; 3]), sums: &mut [f32]) {
        let p = self.plan;
        let dst = self.epilogue.dst();
        let dims = dst.dims().len();
        let mut pos = self.position(at, (panel, tap));
        let columns = p.panel.min(p.columns.channels - at.columns.0 - panel * p.panel);
        let rows = at.rows.1;
        for (index, sums) in sums.chunks_exact_mut(rows * p.panel).enumerate() {
            if let Some(d) = p.tap_dim(dims, 2).filter(|_| p.rows.grid.merged) {
                pos[d] = index as i64;
            }
            if p.joined > 1 {
                self.store_diagonal(pos, at.rows, sums);
                continue;
            }
            match self.lines {
                Lines::Column(width) => self.store_across(pos, sums, (columns, width), 1),
                Lines::ColumnPairs(width) => self.store_across(pos, sums, (columns, width), 2),
                Lines::RowPairs(width) => {
                    let (first, strides) = (dst.offset(&pos), [p.row_dim, p.column_dim].map(|d| dst.blocking().strides[d] as usize));
                    dst.simd().run(Interleaved { sums, panel: p.panel, columns, width, to: dst.buf(), first, strides });
                }
                Lines::Rows | Lines::Any => self.store_rows(pos, sums, (rows, columns)),
            }
        }
    }

    /// Stores `rows` by `columns` sums from the row at `pos` on.
    fn store_rows(&self, pos: Pos, data: &mut [f32], (rows, columns): (usize, usize)) {
        let (p, dst) = (self.plan, self.epilogue.dst());
        if self.lines != Lines::Rows {
            let sums = Sums { data, exact: None, step: p.panel, columns, dim: p.column_dim };
            return self.epilogue.store(sums, std::iter::once(Run { pos, dim: p.row_dim, step: 1, count: rows }));
        }
        let (to, step) = (dst.offset(&pos), dst.blocking().strides[p.row_dim] as usize);
        if [step, columns] == [p.panel; 2] {
            return dst.buf().write(to, &data[..rows * columns]);
        }
        data.chunks(p.panel).take(rows).enumerate().for_each(|(i, line)| dst.buf().write(to + i * step, &line[..columns]));
        self.pad(pos, (rows, columns));
    }

    /// Writes zeros behind the gradient's last columns in `rows` rows, if these are among the `columns` columns from `pos` on.
    pub(super) fn pad(&self, pos: Pos, (rows, columns): (usize, usize)) {
        let (p, dst) = (self.plan, self.epilogue.dst());
        let (b, end) = (dst.blocking(), pos[p.column_dim] + columns as i64);
        let zeros = (b.padded_dims[p.column_dim] - end) as usize;
        if end == dst.dims()[p.column_dim] && zeros > 0 {
            self.zeros(pos, rows, columns..columns + zeros);
        }
    }

    /// Writes zeros to some columns from `pos` on, in `rows` rows.
    pub(super) fn zeros(&self, pos: Pos, rows: usize, columns: Range<usize>) {
        let dst = self.epilogue.dst();
        let (to, step) = (dst.offset(&pos) + columns.start, dst.blocking().strides[self.plan.row_dim] as usize);
        let bytes = columns.len() * size_of::<f32>();
        if step == columns.len() {
            return dst.buf().part(to * size_of::<f32>(), rows * bytes).fill(0);
        }
        (0..rows).for_each(|i| dst.buf().part((to + i * step) * size_of::<f32>(), bytes).fill(0));
    }

    /// Stores the sums of a tap of joined groups whose row and column belong to the same group, from the row at `pos` on.
    fn store_diagonal(&self, mut pos: Pos, (first, count): (usize, usize), sums: &mut [f32]) {
        let p = self.plan;
        let [rows, columns] = [&p.rows, &p.columns].map(|side| side.channels / p.joined);
        let mut row = first;
        while row < first + count {
            let (group, n) = (row / rows, (rows - row % rows).min(first + count - row));
            self.store_rows(pos, &mut sums[(row - first) * p.panel + group * columns..], (n, columns));
            (pos[0], pos[p.row_dim], row) = (pos[0] + 1, 0, row + n);
        }
    }

    /// Stores the sums of a tap and panel in a gradient with lines of `width` rows of `each` columns: one, or a pair as bf16.
    fn store_across(&self, mut pos: Pos, sums: &[f32], (columns, width): (usize, usize), each: usize) {
        let (p, dst, pairs) = (self.plan, self.epilogue.dst(), each == 2);
        let step = dst.blocking().strides[p.column_dim] as usize;
        // Lines that follow each other are stored together.
        let together = if step == width * each { ACROSS_ELEMENTS / width } else { 1 };
        for rows in sums.chunks(width * p.panel) {
            let (to, mut words) = (dst.offset(&pos), [0; ACROSS_ELEMENTS]);
            for first in (0..columns).step_by(together * each) {
                let columns = first..columns.min(first + together * each);
                let (to, words) = (to + first / each * step, &mut words[..columns.len().div_ceil(each) * width]);
                dst.simd().run(Across { rows, panel: p.panel, columns, width, pairs, words: &mut *words });
                if pairs {
                    dst.buf().write(to, bytemuck::cast_slice::<u32, u16>(words));
                } else {
                    dst.buf().write(to, words);
                }
            }
            pos[p.row_dim] += width as i64;
        }
    }
}

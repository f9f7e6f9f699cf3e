//! Calls of the kernels for a block of columns, by the layout of the weights.

use super::call::{Column, On, Ready};
use super::weights::WeightOrder;
use super::{Operands, Product, REREAD, Set, Shared};
use crate::kernels::convert::Elements;
use crate::kernels::multiversion::multiversion;
use oxidnn_jit::kernels::unpack::Stored;
use oxidnn_spec::DataType;

/// Columns whose last elements are read at a time.
const LINE: usize = 128;

/// The part of the weights that a call multiplies: columns from the first, and K from `start`.
#[derive(Clone, Copy)]
pub(super) struct WeightBlock {
    pub(super) first: usize,
    pub(super) columns: usize,
    pub(super) start: usize,
    pub(super) depth: usize,
}

/// The destination of sums: rows `step` apart; `raw` is room for sums that a kernel leaves in another order.
pub(super) struct RawSums<'s> {
    pub(super) raw: &'s mut [f32],
    pub(super) sums: &'s mut [f32],
    pub(super) step: usize,
}

impl Product {
    /// Panels: sums are accumulated in place. If registers cannot hold the sums of all vectors, a part of a panel that stays in the cache
    /// is read several times.
    pub(super) fn panels(&self, set: &Set, on: On<'_>, width: usize, block: WeightBlock, to: RawSums<'_>) {
        let RawSums { sums, step, .. } = to;
        for row in sums.chunks_mut(step).take(self.request.rows) {
            let wanted = block.columns.next_multiple_of(width).min(row.len());
            row[..wanted].fill(0.0);
        }
        let (panels, taken) = (block.columns.div_ceil(width), self.cut.taken / width);
        let whole = if set.single.is_some() { panels / taken * taken } else { panels };
        for (ready, panels, taken) in [(Some(&set.main), 0..whole, taken), (set.single.as_ref(), whole..panels, 1)] {
            let Some(ready) = ready else { continue };
            for panel in panels.step_by(taken) {
                let block = WeightBlock { first: block.first + panel * width, ..block };
                self.panels_at_once(ready, on, block, (&mut sums[panel * width..], step));
            }
        }
    }

    /// The panels of a call.
    fn panels_at_once<'b>(&self, ready: &Ready, on: On<'b>, block: WeightBlock, (sums, step): (&mut [f32], usize)) {
        let WeightOrder::Panels { columns: width, distance } = self.request.weights.order else { return };
        let WeightBlock { first, start, depth, .. } = block;
        let (line, rows) = (width * self.decode.line_bytes(), self.request.rows);
        let wide = self.vectors * self.lanes();
        let group = self.request.grouped.map(|g| g.size / self.decode.line_depth());
        let lines = depth.div_ceil(self.decode.line_depth());
        let most = if wide == width { lines } else { (REREAD / line).next_multiple_of(group.unwrap_or(4)) };
        let b = first / width * distance + start / self.decode.line_depth() * line;
        for at in (0..lines).step_by(most.max(1)) {
            let now = most.min(lines - at);
            let (groups, count, index) = match group {
                Some(group) => (now / group, group, (start / self.decode.line_depth() + at) / group),
                None => (1, now, 0),
            };
            for vector in (0..width).step_by(wide) {
                let place = b + at * line + vector * self.decode.line_bytes();
                let column = |of: Option<Column<'b>>| Some(of?.behind(index, first + vector));
                let call = On {
                    a: &on.a[self.order.words(at * self.decode.line_depth())..],
                    b: on.b.part(place, on.b.len() - place),
                    b_row: distance,
                    groups,
                    count,
                    scale: column(on.scale),
                    zero: column(on.zero),
                    a_sums: if group.is_some() && !on.a_sums.is_empty() { &on.a_sums[index * rows..] } else { &[] },
                    ..on
                };
                ready.run(&call, &mut sums[vector..], step);
            }
        }
    }

    /// Rows of weights; group by group if groups are scaled.
    pub(super) fn rows(&self, set: &Set, shared: &Shared<'_>, on: On<'_>, block: WeightBlock, to: RawSums<'_>) {
        let RawSums { raw, sums, step } = to;
        let Some(size) = self.request.grouped.filter(|g| g.scale.is_some()).map(|g| g.size) else {
            self.lines(set, (shared, on), block, RawSums { raw, sums: &mut *sums, step });
            return self.subtract_zeros(shared, on, block, (sums, step));
        };
        let rows = self.request.rows;
        let (raw, part) = raw.split_at_mut(raw.len() - rows * self.cut.block);
        sums.chunks_mut(step).take(rows).for_each(|row| row[..block.columns].fill(0.0));
        for from in (0..block.depth).step_by(size) {
            let group = WeightBlock { start: block.start + from, depth: size, ..block };
            let on = On { a: &on.a[from * rows..], ..on };
            self.lines(set, (shared, on), group, RawSums { raw: &mut *raw, sums: &mut *part, step: self.cut.block });
            self.scale(shared, on, group, RawSums { raw: &mut *part, sums: &mut *sums, step });
        }
        self.subtract_zeros(shared, on, block, (sums, step));
    }

    /// Adds the raw sums of a group, times its scales, to the sums over groups.
    fn scale(&self, shared: &Shared<'_>, on: On<'_>, group: WeightBlock, to: RawSums<'_>) {
        let (RawSums { raw, sums, step }, mut line) = (to, [0.0; LINE]);
        for from in (0..group.columns).step_by(LINE) {
            let line = &mut line[..LINE.min(group.columns - from)];
            self.numbers(shared, on.scale, (group.start, group.first + from), line);
            for (sums, part) in sums.chunks_mut(step).zip(raw.chunks(self.cut.block)).take(self.request.rows) {
                sums[from..].iter_mut().zip(&part[from..]).zip(&*line).for_each(|((sum, part), scale)| *sum += part * scale);
            }
        }
    }

    /// Subtracts the zero points of groups, times the sums of `A` over each group, scaled as the products are.
    pub(super) fn subtract_zeros(&self, shared: &Shared<'_>, on: On<'_>, block: WeightBlock, (sums, step): (&mut [f32], usize)) {
        let Some(grouped) = self.request.grouped.filter(|g| g.zero.is_some()) else { return };
        let (rows, mut lines) = (self.request.rows, [[0.0; LINE]; 2]);
        for start in (block.start..block.start + block.depth).step_by(grouped.size) {
            let a = &on.a_sums[start / grouped.size * rows..][..rows];
            for from in (0..block.columns).step_by(LINE) {
                let [zeros, scales] = lines.each_mut().map(|line| &mut line[..LINE.min(block.columns - from)]);
                self.numbers(shared, on.zero, (start, block.first + from), zeros);
                if on.scale.is_some() {
                    self.numbers(shared, on.scale, (start, block.first + from), scales);
                    zeros.iter_mut().zip(&*scales).for_each(|(zero, scale)| *zero *= scale);
                }
                for (sums, a) in sums.chunks_mut(step).zip(a) {
                    sums[from..].iter_mut().zip(&*zeros).for_each(|(sum, zero)| *sum -= zero * a);
                }
            }
        }
    }

    /// The scales or zero points of the group at `depth`, from column `column` on.
    fn numbers(&self, shared: &Shared<'_>, of: Option<Column<'_>>, (depth, column): (usize, usize), out: &mut [f32]) {
        let (Some(Column { buf, row, dtype }), Some(grouped)) = (of, self.request.grouped) else { return };
        let at = depth / grouped.size * row / (dtype.bits() / 8) + column;
        Elements { buf, dtype, at, stride: 1 }.read(shared.on.epilogue.dst().simd(), out);
    }

    /// Rows of weights: the kernel's sums are by vectors and parts, and are reordered to rows. Words at the end of rows may end in the next row.
    fn lines(&self, set: &Set, (shared, on): (&Shared<'_>, On<'_>), block: WeightBlock, to: RawSums<'_>) {
        let WeightOrder::Rows { distance } = self.request.weights.order else { return };
        let (WeightBlock { first, columns, start, depth }, RawSums { raw, sums, step }) = (block, to);
        let (lanes, in_word, rows) = (self.lanes(), self.decode.in_lane(), self.request.rows);
        let (words, lines) = (columns.div_ceil(in_word), oxidnn_jit::kernels::gemv::Gemv::lines(self.request.isa));
        let raw = &mut raw[..(words / lanes + 1) * in_word * rows * lanes];
        raw.fill(0.0);
        let place = first * self.decode.stored.bits() / 8 + start * distance;
        let ends = !columns.is_multiple_of(in_word) && start + depth == self.request.weights.k;
        let whole = depth - usize::from(ends);
        let calls = [
            (Some(&set.main), 0..whole / lines * lines, lines, words),
            (set.single.as_ref(), whole / lines * lines..whole, 1, words),
            (set.single.as_ref(), whole..depth, 1, columns / in_word),
        ];
        for (ready, range, lines, words) in calls {
            let Some(ready) = ready.filter(|_| !range.is_empty()) else { continue };
            let place = place + range.start * distance;
            let call = On {
                a: &on.a[range.start * rows..],
                b: on.b.part(place, on.b.len() - place),
                b_row: distance,
                groups: range.len() / lines,
                count: words / lanes,
                last: words % lanes,
                ..on
            };
            ready.run(&call, raw, 0);
        }
        if rows * in_word == 1 {
            return sums[..columns].copy_from_slice(&raw[..columns]);
        }
        for (row, sums) in sums.chunks_mut(step).take(rows).enumerate() {
            reorder(shared.on.epilogue.dst().simd(), (&raw[row * lanes..], rows * lanes), lanes, in_word, &mut sums[..columns]);
        }
        if ends {
            let (mut last, at) = ([0.0], (start + depth - 1) * (distance / 2) + first + columns - 1);
            Elements { buf: on.b, dtype: self.half(), at, stride: 1 }.read(shared.on.epilogue.dst().simd(), &mut last);
            for (row, a) in sums.chunks_mut(step).zip(&on.a[(depth - 1) * rows..][..rows]) {
                row[columns - 1] += a * last[0];
            }
        }
    }

    /// The type of 16-bit weights.
    fn half(&self) -> DataType {
        if self.decode.stored == Stored::F16 { DataType::F16 } else { DataType::Bf16 }
    }

    /// Columns of weights: the kernel leaves the sums of all rows of a column behind each other.
    pub(super) fn columns_of(&self, set: &Set, on: On<'_>, distance: usize, block: WeightBlock, to: RawSums<'_>) {
        let (WeightBlock { first, columns, start, depth }, RawSums { raw, sums, step }) = (block, to);
        let (lanes, rows) = (self.lanes(), self.request.rows);
        let words = depth / self.decode.stored.in_word();
        let (taken, vectors) = (self.cut.taken, words / lanes);
        // Vectors of a scaled part, and number of such parts.
        let size = self.request.grouped.filter(|g| g.scale.is_some()).map(|g| g.size);
        let count = size.map_or(vectors, |size| (size / self.decode.stored.in_word() / lanes).max(1));
        let parts = if size.is_some() { vectors / count } else { 0 };
        let place = start * self.decode.stored.bits() / 8 + first * distance;
        for (ready, from, groups) in
            [(Some(&set.main), 0, columns / taken), (set.single.as_ref(), columns / taken * taken, columns % taken)]
        {
            let Some(ready) = ready.filter(|_| groups > 0) else { continue };
            let place = place + from * distance;
            let b = on.b.part(place, on.b.len() - place);
            let scale = on.scale.zip(size).map(|(of, size)| of.behind(start / size, first + from));
            let call = On { b, b_row: distance, groups, count, parts, last: words % lanes, scale, ..on };
            ready.run(&call, &mut raw[from * rows..], 0);
        }
        if rows == 1 {
            return sums[..columns].copy_from_slice(&raw[..columns]);
        }
        for (row, sums) in sums.chunks_mut(step).take(rows).enumerate() {
            sums[..columns].iter_mut().zip(raw[row..].iter().step_by(rows)).for_each(|(to, sum)| *to = *sum);
        }
    }

    /// Adds the products of the last element of each column, for columns of 16-bit weights that end within a word.
    pub(super) fn last_row(&self, on: &Operands<'_>, batch: usize, distance: usize, block: WeightBlock, to: RawSums<'_>) {
        let (WeightBlock { first, columns, start, depth }, RawSums { sums, step, .. }) = (block, to);
        let (size, last) = (self.decode.stored.bits() / 8, start + depth - 1);
        let (buf, pos) = (self.request.weights_of(on, batch), self.request.positions(on, batch)[0]);
        let mut line = [0.0; LINE];
        for from in (0..columns).step_by(LINE) {
            let line = &mut line[..LINE.min(columns - from)];
            let at = (first + from) * (distance / size) + last;
            Elements { buf, dtype: self.half(), at, stride: distance / size }.read(on.epilogue.dst().simd(), line);
            for (row, sums) in sums.chunks_mut(step).enumerate().take(self.request.rows) {
                let mut a = [0.0];
                on.a.read(&on.places.axes[1], &on.places.axes[0].at(&pos, row), last, &mut a);
                sums[from..].iter_mut().zip(&*line).for_each(|(sum, b)| *sum += a[0] * b);
            }
        }
    }
}

multiversion! {
    /// Writes the sums of a row in the order of columns, from sums by vectors and parts, which are a distance apart.
    fn reorder(from: (&[f32], usize), lanes: usize, in_word: usize, sums: &mut [f32]) {
        let (raw, part) = from;
        for (vector, sums) in sums.chunks_mut(lanes * in_word).enumerate() {
            let from = |i: usize| &raw[(vector * in_word + i) * part..][..lanes];
            // Loops of a known number of lanes would not become vectors.
            match in_word {
                1 => sums.copy_from_slice(&from(0)[..sums.len()]),
                2 => {
                    let (words, last) = sums.as_chunks_mut();
                    last.iter_mut().zip(&from(0)[words.len()..]).for_each(|(to, low)| *to = *low);
                    for ((to, low), high) in words.iter_mut().zip(from(0)).zip(from(1)) {
                        *to = [*low, *high];
                    }
                }
                _ => (0..in_word).for_each(|i| sums.iter_mut().skip(i).step_by(in_word).zip(from(i)).for_each(|(s, x)| *s = *x)),
            }
        }
    }
}

//! Rows of pixels for AMX: 16 at a time, with all taps of their segment, including those on padding.

use super::super::{Offset, Tap};
use super::{Bound, Cursor};
use crate::kernels::amx::{HalfTile, HalfTileProvider, Run};
use crate::kernels::macrokernel::{RowProvider, SumBlock};
use crate::kernels::microkernel::MOST_ROWS;
use oxidnn_jit::kernels::tiles::LINES;
use std::ops::Range;

impl<'a> HalfTileProvider for Bound<'a> {
    type Cursor = Cursor<'a>;

    fn cursor(&self, unit: usize, row: usize) -> Cursor<'a> {
        RowProvider::cursor(self, unit, row)
    }

    fn lines(&self, cursor: &mut Cursor<'a>, half: &mut HalfTile<'_>) {
        let (segment, rows) = (cursor.segment, half.rows);
        let exact = cursor.segment().exact;
        if cursor.left < rows || !exact && !self.is_inside(cursor, rows) {
            return self.gather(cursor, half);
        }
        let (first, [step, to_step]) = (cursor.source.now, [cursor.source.offsets[1], cursor.result.offsets[1]]);
        half.padded |= self.plan.padded.as_ref().is_some_and(|(copy, _)| copy.watched || !self.is_inside(cursor, rows));
        *half.to = match self.wide() {
            Some(line) => self.wide_results(cursor, line, half.nowhere),
            None => std::array::from_fn(|i| cursor.result.now.wrapping_add(to_step.wrapping_mul(i))),
        };
        self.pass.taps(&self.pass.order.segments[segment], |tap| half.line(tap.b, first.wrapping_add_signed(tap.a), step));
        cursor.advance(rows);
    }

    fn run(&self, cursor: &Cursor<'a>, rows: usize) -> Run {
        if !cursor.segment().exact || self.plan.padded.as_ref().is_some_and(|(copy, _)| !copy.watched) {
            return Run::ONE;
        }
        let bytes = [rows.wrapping_mul(cursor.source.offsets[1]), rows.wrapping_mul(cursor.result.offsets[1])];
        if self.wide().is_some() {
            return Run { tiles: (cursor.left / rows).max(1), bytes: [bytes[0], 0], listed: true, ..Run::ONE };
        }
        let (patch, [_, line, _]) = (&self.pass.order.patches[cursor.patch], &self.pass.lines);
        let line_bytes =
            [(&cursor.source, line.stride), (&cursor.result, line.step)].map(|(lane, step)| lane.place.strides[1] * step as usize);
        Run {
            tiles: (cursor.left / rows).max(1),
            bytes,
            listed: false,
            line: if cursor.left == patch.count[2] { patch.count[2] } else { 0 },
            lines: patch.first[1] + patch.count[1] - cursor.at[1],
            line_bytes,
        }
    }

    fn places(&self, cursor: &mut Cursor<'a>, nowhere: usize, to: &mut [usize]) {
        if let Some(line) = self.wide() {
            to.copy_from_slice(&self.wide_results(cursor, line, nowhere)[..to.len()]);
        }
        cursor.advance(to.len());
    }

    fn skip(&self, cursor: &mut Cursor<'a>, mut rows: usize) {
        while rows > 0 {
            let here = cursor.left.min(rows);
            cursor.advance(here);
            rows -= here;
        }
    }

    fn inside(&self, cursor: &mut Cursor<'a>, tap: &mut dyn FnMut(usize, usize, Range<usize>)) {
        let (pass, segment, mut line) = (self.pass, cursor.segment, [0; MOST_ROWS]);
        let (mut pixels, _) = self.pixels(cursor, 1);
        if let Some(line) = self.wide() {
            let [_, h, w] = &mut pixels.at;
            (h[0], w[0]) = (w[0] / line as i64, w[0] % line as i64);
            let [_, height, width] = &self.pass.lines;
            if h[0] as usize >= height.phases[0].count || w[0] as usize >= width.phases[0].count {
                return;
            }
        }
        pixels.at[1][0] += self.band as i64 * self.pass.lines[1].stride;
        // Merged taps read padding in a copy only, whose pixels are whole steps.
        let joined = if self.plan.padded.is_some() { pass.joined } else { 1 };
        let each = pass.steps / joined;
        pass.taps(&pass.order.segments[segment], |joint| {
            for i in 0..joined {
                let [d, h, w] = joint.at;
                if self.tap(&Tap { at: [d, h, w + i as i64], ..joint }, &pixels, 1, &mut line) {
                    tap(joint.b, line[0], i * each..(i + 1) * each);
                }
            }
        });
    }

    fn store(&self, block: SumBlock<'_>) {
        RowProvider::store(self, block);
    }
}

impl Bound<'_> {
    /// Pixels of a line of the copy, if all results of a plane are one line.
    fn wide(&self) -> Option<usize> {
        self.plan.padded.as_ref().and_then(|(copy, _)| copy.wide())
    }

    /// The addresses of the next results of a plane whose lines are `line` results apart; results between lines and behind the last go to
    /// `nowhere`.
    fn wide_results(&self, cursor: &Cursor<'_>, line: usize, nowhere: usize) -> [usize; LINES] {
        let [_, height, width] = &self.pass.lines;
        let [lines, count] = [height, width].map(|line| line.phases[0].count);
        let (step, down) = (cursor.result.offsets[1], cursor.result.place.strides[1].wrapping_mul(height.step as usize));
        let first = cursor.result.now.wrapping_sub(step.wrapping_mul(cursor.at[2]));
        let (mut h, mut w) = (cursor.at[2] / line, cursor.at[2] % line);
        let mut begin = first.wrapping_add(down.wrapping_mul(h));
        let (mut to, mut i) = ([nowhere; LINES], 0);
        while i < LINES && h < lines {
            let n = if w < count { count - w } else { line - w }.min(LINES - i);
            if w < count {
                (i..i + n).zip(w..).for_each(|(i, w)| to[i] = begin.wrapping_add(step.wrapping_mul(w)));
            }
            (i, w) = (i + n, w + n);
            if w == line {
                (h, w, begin) = (h + 1, 0, begin.wrapping_add(down));
            }
        }
        to
    }

    /// Whether the next results of a line read no padding.
    fn is_inside(&self, cursor: &Cursor<'_>, rows: usize) -> bool {
        let lines = &self.pass.lines;
        let at = |d: usize, i: usize| (cursor.at[d] + i) as i64 * lines[d].stride;
        let ends = [at(0, 0)..=at(0, 0), at(1, 0)..=at(1, 0), at(2, 0)..=at(2, rows - 1) + self.pass.joined as i64 - 1];
        let met = |tap: &Offset, d: usize| ends[d].start() + tap.at >= 0 && ends[d].end() + tap.at < lines[d].source;
        (0..3).all(|d| self.pass.offsets(cursor.segment(), d).iter().all(|tap| met(tap, d)))
    }

    /// Gathers the rows of results of several lines, or of which some read padding.
    fn gather(&self, cursor: &mut Cursor<'_>, half: &mut HalfTile<'_>) {
        let (pass, segment, exact) = (self.pass, cursor.segment, cursor.segment().exact);
        let (step, one_line) = (cursor.source.offsets[1], cursor.left >= half.rows);
        let (pixels, to) = self.pixels::<LINES>(cursor, half.rows);
        half.to[..half.rows].copy_from_slice(&to[..half.rows]);
        let base = pixels.base;
        if exact && !one_line {
            half.padded |= self.plan.padded.is_some();
            return pass.taps(&pass.order.segments[segment], |tap| half.tap(tap.b, &base.map(|base| base.wrapping_add_signed(tap.a))));
        }
        pass.taps(&pass.order.segments[segment], |tap| {
            let is_pixel = |i: usize| exact || pixels.is_inside(&pass.lines, &tap, i);
            if one_line && (0..half.rows).all(is_pixel) {
                return half.line(tap.b, base[0].wrapping_add_signed(tap.a), step);
            }
            half.padded |= self.plan.padded.is_some() || !(0..half.rows).all(is_pixel);
            half.tap(tap.b, &std::array::from_fn(|i| if is_pixel(i) { base[i].wrapping_add_signed(tap.a) } else { self.zeros }));
        });
    }
}

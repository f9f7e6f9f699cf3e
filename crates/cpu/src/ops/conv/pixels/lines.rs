//! Pixels for tiles of AMX: 16 at a time, with all taps of their segment, those that read padding included.

use super::super::tiles::Offset;
use super::{Bound, Walk};
use crate::kernels::amx::{Half, Lines, Run};
use crate::kernels::nest::{Block, Rows};
use crate::kernels::tile::MOST_ROWS;
use oxidnn_jit::kernels::tiles::LINES;

impl<'a> Lines for Bound<'a> {
    type Walk = Walk<'a>;

    fn walk(&self, unit: usize, row: usize) -> Walk<'a> {
        Rows::walk(self, unit, row)
    }

    fn lines(&self, walk: &mut Walk<'a>, half: &mut Half<'_>) {
        let (segment, rows) = (walk.segment, half.rows);
        let exact = walk.segment().exact;
        if walk.left < rows || !exact && !self.is_inside(walk, rows) {
            return self.gather(walk, half);
        }
        let (first, [step, to_step]) = (walk.source.now, [walk.source.ahead[1], walk.result.ahead[1]]);
        *half.to = std::array::from_fn(|i| walk.result.now.wrapping_add(to_step.wrapping_mul(i)));
        self.pass.taps(&self.pass.order.segments[segment], |tap| half.line(tap.b, first.wrapping_add_signed(tap.a), step));
        walk.advance(rows);
    }

    fn run(&self, walk: &Walk<'a>, rows: usize) -> Run {
        if !walk.segment().exact {
            return Run::ONE;
        }
        let bytes = [rows.wrapping_mul(walk.source.ahead[1]), rows.wrapping_mul(walk.result.ahead[1])];
        let (patch, [_, line, _]) = (&self.pass.order.patches[walk.patch], &self.pass.lines);
        let line_bytes = [(&walk.source, line.stride), (&walk.result, line.step)].map(|(lane, step)| lane.place.strides[1] * step as usize);
        Run {
            tiles: (walk.left / rows).max(1),
            bytes,
            line: if walk.left == patch.count[2] { patch.count[2] } else { 0 },
            lines: patch.first[1] + patch.count[1] - walk.at[1],
            line_bytes,
        }
    }

    fn skip(&self, walk: &mut Walk<'a>, mut rows: usize) {
        while rows > 0 {
            let here = walk.left.min(rows);
            walk.advance(here);
            rows -= here;
        }
    }

    fn inside(&self, walk: &mut Walk<'a>, tap: &mut dyn FnMut(usize, usize)) {
        let (pass, segment, mut line) = (self.pass, walk.segment, [0; MOST_ROWS]);
        let (pixels, _) = self.pixels(walk, 1);
        pass.taps(&pass.order.segments[segment], |t| {
            if self.tap(&t, &pixels, 1, &mut line) {
                tap(t.b, line[0]);
            }
        });
    }

    fn store(&self, block: Block<'_>) {
        Rows::store(self, block);
    }
}

impl Bound<'_> {
    /// Whether the next results of a line meet no padding.
    fn is_inside(&self, walk: &Walk<'_>, rows: usize) -> bool {
        let lines = &self.pass.lines;
        let at = |d: usize, i: usize| (walk.at[d] + i) as i64 * lines[d].stride;
        let ends = [at(0, 0)..=at(0, 0), at(1, 0)..=at(1, 0), at(2, 0)..=at(2, rows - 1)];
        let met = |tap: &Offset, d: usize| ends[d].start() + tap.at >= 0 && ends[d].end() + tap.at < lines[d].source;
        (0..3).all(|d| self.pass.offsets(walk.segment(), d).iter().all(|tap| met(tap, d)))
    }

    /// Results of several lines, or some of which meet padding.
    fn gather(&self, walk: &mut Walk<'_>, half: &mut Half<'_>) {
        let (pass, segment, exact) = (self.pass, walk.segment, walk.segment().exact);
        let lines = &self.pass.lines;
        let [step, to_step] = [walk.source.ahead[1], walk.result.ahead[1]];
        let (mut base, mut at) = ([0; LINES], [[0; LINES]; 3]);
        let one_line = walk.left >= half.rows;
        let mut i = 0;
        while i < half.rows {
            let n = walk.left.min(half.rows - i);
            for k in 0..n {
                base[i + k] = walk.source.now.wrapping_add(step.wrapping_mul(k));
                half.to[i + k] = walk.result.now.wrapping_add(to_step.wrapping_mul(k));
                (at[0][i + k], at[1][i + k]) = (walk.at[0] as i64 * lines[0].stride, walk.at[1] as i64 * lines[1].stride);
                at[2][i + k] = (walk.at[2] + k) as i64 * lines[2].stride;
            }
            walk.advance(n);
            i += n;
        }
        pass.taps(&pass.order.segments[segment], |tap| {
            let inside = |d: usize, i: usize| exact | (((at[d][i] + tap.at[d]) as u64) < lines[d].source as u64);
            let is_pixel = |i: usize| inside(0, i) & inside(1, i) & inside(2, i);
            if one_line && (0..half.rows).all(is_pixel) {
                return half.line(tap.b, base[0].wrapping_add_signed(tap.a), step);
            }
            half.padded |= !(0..half.rows).all(is_pixel);
            half.tap(tap.b, &std::array::from_fn(|i| if is_pixel(i) { base[i].wrapping_add_signed(tap.a) } else { self.zeros }));
        });
    }
}

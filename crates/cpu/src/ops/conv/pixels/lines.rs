//! Pixels for tiles of AMX: 16 at a time, with all taps of their segment, those that read padding included.

use super::{Bound, Tap, Walk};
use crate::kernels::amx::{Half, Lines};
use crate::kernels::tile::drive::{Block, Work};
use oxidnn_jit::kernels::tiles::LINES;

impl<'a> Lines for Bound<'a> {
    type Walk = Walk<'a>;

    fn walk(&self, unit: usize, row: usize) -> Walk<'a> {
        Work::walk(self, unit, row)
    }

    fn lines(&self, walk: &mut Walk<'a>, half: &mut Half<'_>) {
        let (segment, rows) = (walk.segment, half.rows);
        let exact = walk.segment().exact;
        if walk.left < rows || !exact && !self.is_inside(walk, rows) {
            return self.gather(walk, half);
        }
        let (first, [step, to_step]) = (walk.source.now, [walk.source.ahead[1], walk.result.ahead[1]]);
        half.to = std::array::from_fn(|i| walk.result.now + i * to_step);
        for tap in &self.pass.taps[segment] {
            half.line(tap.b, first.wrapping_add_signed(tap.a), step);
        }
        walk.advance(rows);
    }

    fn store(&self, block: Block<'_>) {
        Work::store(self, block);
    }
}

impl Bound<'_> {
    /// Whether the next results of a line meet no padding.
    fn is_inside(&self, walk: &Walk<'_>, rows: usize) -> bool {
        let lines = &self.pass.lines;
        let at = |d: usize, i: usize| (walk.at[d] + i) as i64 * lines[d].stride;
        let ends = [at(0, 0)..=at(0, 0), at(1, 0)..=at(1, 0), at(2, 0)..=at(2, rows - 1)];
        let met = |tap: &Tap, d: usize| ends[d].start() + tap.at[d] >= 0 && ends[d].end() + tap.at[d] < lines[d].source;
        self.pass.taps[walk.segment].iter().all(|tap| (0..3).all(|d| met(tap, d)))
    }

    /// Results of several lines, or some of which meet padding.
    fn gather(&self, walk: &mut Walk<'_>, half: &mut Half<'_>) {
        let (taps, exact) = (&self.pass.taps[walk.segment], walk.segment().exact);
        let lines = &self.pass.lines;
        let [step, to_step] = [walk.source.ahead[1], walk.result.ahead[1]];
        let (mut base, mut at) = ([0; LINES], [[0; LINES]; 3]);
        let one_line = walk.left >= half.rows;
        let mut i = 0;
        while i < half.rows {
            let n = walk.left.min(half.rows - i);
            for k in 0..n {
                base[i + k] = walk.source.now + k * step;
                half.to[i + k] = walk.result.now + k * to_step;
                (at[0][i + k], at[1][i + k]) = (walk.at[0] as i64 * lines[0].stride, walk.at[1] as i64 * lines[1].stride);
                at[2][i + k] = (walk.at[2] + k) as i64 * lines[2].stride;
            }
            walk.advance(n);
            i += n;
        }
        for tap in taps {
            let inside = |d: usize, i: usize| exact | (((at[d][i] + tap.at[d]) as u64) < lines[d].source as u64);
            let is_pixel = |i: usize| inside(0, i) & inside(1, i) & inside(2, i);
            if one_line && (0..half.rows).all(is_pixel) {
                half.line(tap.b, base[0].wrapping_add_signed(tap.a), step);
                continue;
            }
            half.tap(tap.b, &std::array::from_fn(|i| if is_pixel(i) { base[i].wrapping_add_signed(tap.a) } else { self.zeros }));
        }
    }
}

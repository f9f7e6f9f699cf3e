//! Pixels for tiles of AMX: 16 at a time, with all taps of their segment, those that read padding included.

use super::{Bound, Walk};
use crate::kernels::amx::{Half, Lines};
use crate::kernels::tile::drive::{Block, Work};
use oxidnn_jit::kernels::tiles::LINES;

impl<'a> Lines for Bound<'a> {
    type Walk = Walk<'a>;

    fn walk(&self, unit: usize, row: usize) -> Walk<'a> {
        Work::walk(self, unit, row)
    }

    fn lines(&self, walk: &mut Walk<'a>, half: &mut Half<'_>) {
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
        let distance = if one_line { Some(step) } else { None };
        for tap in taps {
            let rows = base.map(|row| row.wrapping_add_signed(tap.a));
            if exact {
                half.tap(tap.b, &rows, distance);
                continue;
            }
            let inside = |d: usize, i: usize| ((at[d][i] + tap.at[d]) as u64) < lines[d].source as u64;
            let mut all = true;
            let padded = std::array::from_fn(|i| {
                let is_pixel = inside(0, i) & inside(1, i) & inside(2, i);
                all &= is_pixel | (i >= half.rows);
                if is_pixel { rows[i] } else { self.zeros }
            });
            half.tap(tap.b, &padded, distance.filter(|_| all));
        }
    }

    fn store(&self, block: Block<'_>) {
        Work::store(self, block);
    }
}

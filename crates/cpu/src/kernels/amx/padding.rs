//! Padding under windows on AMX: rows of zeros, whose products with non-finite weights are NaN although these taps do not count.
//!
//! Kernels watch sums, and a task with a non-finite one is computed once more, without padding. If results cannot be computed twice, because
//! the epilogue reads the destination, the task inspects its weights first, and if one is not finite checks the sums of every tile.

use super::{HalfTileProvider, Task};
use crate::kernels::macrokernel::KBlock;
use crate::kernels::multiversion::multiversion;
use oxidnn_expr::number;
use oxidnn_runtime::Buf;
use oxidnn_spec::DataType;
use std::ops::Range;

multiversion! {
    /// Whether all elements of panels of bf16 are finite.
    pub(super) fn are_finite(panels: Buf<'_>) -> bool {
        // Adding 1 to an exponent of all ones carries into the sign bit.
        let carry = |word: u32| (word & 0x7f80_7f80).wrapping_add(0x0080_0080);
        let mut all = [0_u32; 16];
        for i in 0..panels.len() / 64 {
            let words = panels.get::<[u32; 16]>(i);
            all.iter_mut().zip(words).for_each(|(all, word)| *all |= carry(word));
        }
        all.iter().fold(0, |all, word| all | word) & 0x8000_8000 == 0
    }
}

/// Adds the products of a row of bf16 and the columns of a panel, over some steps of a K block; both begin at byte offsets.
fn add_pairs([(a, row), (b, panel)]: [(Buf, usize); 2], (part, steps): (&KBlock, Range<usize>), sums: &mut [f32]) {
    let value = |half: u16| number::decode(DataType::Bf16, u64::from(half)) as f32;
    let width = sums.len();
    for step in steps {
        let mut pair = [0_u8; 4];
        let bytes = if step < part.first + part.steps { 4 } else { 2 * usize::from(part.k_tail) };
        a.read(row + step * 4, &mut pair[..bytes]);
        let factors = [[pair[0], pair[1]], [pair[2], pair[3]]].map(|half| value(u16::from_ne_bytes(half)));
        for (column, sum) in sums.iter_mut().enumerate() {
            let mut pair = [0_u8; 4];
            b.read(panel + (step * width + column) * 4, &mut pair);
            for (i, half) in [[pair[0], pair[1]], [pair[2], pair[3]]].into_iter().enumerate().take(bytes / 2) {
                *sum += factors[i] * value(u16::from_ne_bytes(half));
            }
        }
    }
}

impl<W: HalfTileProvider> Task<'_, '_, W> {
    /// Whether all weights of the task's panels are finite.
    pub(super) fn are_weights_finite(&self) -> bool {
        let (on, bytes) = (self.on, self.macrokernel.shape.panel_bytes);
        self.panels.clone().all(|panel| are_finite(on.simd, on.b.part(self.b_at + panel * on.b_panel, bytes)))
    }

    /// Computes again, without padding, the sums of rows that came out as NaN: a zero of padding times a non-finite weight is NaN.
    #[cold]
    pub(super) fn without_padding(&self, rows: Range<usize>, sums: &mut [f32]) {
        let (macrokernel, on, width, panels) = (self.macrokernel, self.on, self.macrokernel.shape.panel, &self.panels);
        for (row, line) in rows.zip(sums.chunks_mut(macrokernel.sums_row())) {
            let line = &mut line[..panels.len() * width];
            if !line.iter().fold(false, |any, sum| any | sum.is_nan()) {
                continue;
            }
            line.fill(0.0);
            let mut cursor = on.rows.cursor(self.unit, row);
            on.rows.inside(&mut cursor, &mut |b, address, steps| {
                let from = address.wrapping_sub(on.a.as_ptr().addr());
                for part in macrokernel.shape.k_blocks.iter().filter(|part| part.takes(b)) {
                    let steps = steps.start.max(part.first)..steps.end.min(part.first + part.all_steps());
                    for (panel, sums) in panels.clone().zip(line.chunks_exact_mut(width)) {
                        let first = self.b_at + panel * on.b_panel + b;
                        add_pairs([(on.a, from), (on.b, first)], (part, steps.clone()), sums);
                    }
                }
            });
        }
    }
}

//! Small products of a batch: the tiles of several units are one list, in which each strip has its own place in `B`, so that one call of a
//! kernel computes many units.

use super::{Factors, Operands, Ready, RowProvider, VectorMacrokernel};
use crate::kernels::microkernel::{AddressList, MicrokernelCall, Panels};
use crate::kernels::scratch::lend;
use oxidnn_runtime::Buf;
use std::ops::Range;

/// Words of a list.
const LIST_WORDS: usize = 512;
/// Vectors of products of a unit above which listing it separately costs little.
const MAX_UNIT_VECTORS: usize = 64 << 10;
/// Bytes of panels that are packed for a list, which stay in L1, and most units of a list.
const MAX_PACKED_BYTES: usize = 16 << 10;
const MAX_UNITS: usize = 16;

impl VectorMacrokernel {
    /// Units whose tiles are one list; 1 if each unit has lists of its own.
    pub(super) fn batch(&self) -> usize {
        let shape = &self.shape;
        let [part] = &shape.k_blocks[..] else { return 1 };
        let alone = self.facts.matrix && shape.even && !shape.carries() && self.wide.is_none() && !self.seven_bit_weights;
        let vectors = shape.columns.div_ceil(self.isa.width().lanes());
        let work = [vectors, part.all_steps(), shape.rows.iter().sum()].into_iter().fold(1, usize::saturating_mul);
        let whole = self.cut.groups() == 1 && self.block >= self.all && self.all > 0;
        if shape.units < 2 || !alone || !whole || work > MAX_UNIT_VECTORS || self.is_outer(part, shape.panels(), false) {
            return 1;
        }
        let bytes = shape.panel_bytes.saturating_mul(shape.panels()).max(1);
        if shape.packs() { (MAX_PACKED_BYTES / bytes).clamp(1, MAX_UNITS) } else { shape.units }
    }
}

impl Ready {
    /// Whether units share the operands of the epilogue and their tiles are one list.
    pub(super) fn joins<W>(&self, on: &Operands<'_, W>) -> bool {
        let macrokernel = &*self.macrokernel;
        macrokernel.facts.batch > 1 && on.epilogue.is_none_or(|(_, column)| column(0) == column(macrokernel.shape.units - 1))
    }

    /// Computes whole units; `packed` is scratch for the panels of the units of a list.
    pub(super) fn units<W: RowProvider>(&self, units: Range<usize>, packed: &mut [f32], on: &Operands<'_, W>) {
        let batch = self.macrokernel.facts.batch;
        for first in units.clone().step_by(batch) {
            self.list_of(first..units.end.min(first + batch), packed, on);
        }
    }

    /// Computes the units of a list.
    fn list_of<W: RowProvider>(&self, units: Range<usize>, packed: &mut [f32], on: &Operands<'_, W>) {
        let (macrokernel, shape, all) = (&*self.macrokernel, &self.macrokernel.shape, 0..self.macrokernel.shape.panels());
        let (each, packs) = (packed.len() / macrokernel.facts.batch, shape.packs());
        let mut step = shape.panel_step(on);
        if packs {
            for (unit, to) in units.clone().zip(packed.chunks_exact_mut(each.max(1))) {
                step = macrokernel.pack(on, (on.b_unit)(unit), (&all, 0..1), to).step;
            }
        }
        let b = (if packs { lend(packed) } else { on.b }, step);
        let place = |unit: usize| if packs { (unit - units.start) * each * 4 } else { (on.b_unit)(unit) };
        let mut words = [0; LIST_WORDS];
        for (row, rows, tiles) in macrokernel.even(&(0..macrokernel.all)).into_iter().filter(|run| !run.2.is_empty()) {
            let mut list = AddressList::new(&mut words, rows);
            for unit in units.clone() {
                let (mut cursor, mut left) = (on.rows.cursor(unit, row), tiles.len());
                list.put_behind(place(unit));
                while left > 0 {
                    if !list.has_room(1) {
                        self.all_panels(&list, b, units.start, on);
                        list.restart(rows);
                    }
                    left -= on.rows.strip(&mut cursor, 0, left, &mut list);
                }
            }
            self.all_panels(&list, b, units.start, on);
        }
    }

    /// Computes the tiles of a list with all panels of units like `unit`.
    fn all_panels<W: RowProvider>(&self, list: &AddressList<'_>, (b, step): (Buf, usize), unit: usize, on: &Operands<'_, W>) {
        let (macrokernel, shape) = (&*self.macrokernel, &self.macrokernel.shape);
        let (whole, all) = (shape.panels().min(macrokernel.facts.whole), shape.panels());
        for (panels, narrow) in [(0..whole, false), (whole..all, true)] {
            let tile =
                self.tiles.0[Factors::AsIs as usize][macrokernel.index(list.rows(), narrow, 0)].as_ref().filter(|_| !panels.is_empty());
            let Some(tile) = tile else { continue };
            let column = panels.start * shape.panel;
            let at = Panels { at: panels.start * step, step, count: panels.len(), outer: false };
            tile.run(MicrokernelCall {
                a: on.a,
                zeros: on.zeros,
                b,
                c: on.c,
                column,
                epilogue_column: on.epilogue.map_or(0, |(_, first)| first(unit)) + column,
                a_step: on.a_step,
                b_row: on.b_row,
                last: macrokernel.facts.last,
                epilogue: on.epilogue.map(|(args, _)| args),
                ..MicrokernelCall::raw(list.strips(), shape.k_blocks[0].steps, at, (&mut [], 0))
            });
        }
    }
}

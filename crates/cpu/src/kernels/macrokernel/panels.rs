//! The provider of `B`: the places of a group's panels while tiles are multiplied by a K block of them, and the part of `B` that is
//! prefetched meanwhile.

use super::shape::{BLayout, KBlock, Operands, Packing, PanelBlock, Shape};
use super::{Task, VectorMacrokernel};
use crate::kernels::microkernel::{Grid, PREFETCH_BYTES, PrefetchQueue, upconvert};
use crate::kernels::scratch::lend;
use oxidnn_runtime::Buf;
use std::ops::Range;

/// The panels of a group.
#[derive(Clone, Copy)]
pub(super) struct Memory<'m> {
    pub(super) buf: Buf<'m>,
    /// Byte offset of the first panel, and bytes from one to the next.
    at: usize,
    pub(super) step: usize,
    /// Steps of K before the first one that is there, and bytes of a step.
    first: usize,
    line: usize,
}

/// Panels in memory for all K blocks, or scratch to which they are packed for each K block.
pub(super) enum Group<'m> {
    InMemory(Memory<'m>),
    Packs(&'m mut [f32]),
}

impl Memory<'_> {
    /// Byte offset of a K block in a panel.
    pub(super) fn at(&self, panel: usize, part: &KBlock) -> usize {
        self.at + panel * self.step + (part.first - self.first) * self.line
    }
}

/// The prefetch.
pub(super) enum NextPanels {
    /// Bytes of `B`, spread evenly over all tiles of a task.
    Run(Range<usize>),
    /// A prefetch in many pieces.
    Grid(PrefetchQueue),
}

impl Shape {
    /// Bytes of a step of all columns of a panel.
    fn step_bytes<W>(&self, on: &Operands<'_, W>) -> usize {
        if self.b_layout == BLayout::InPlace { on.b_row * self.product.step_depth() } else { 4 * self.panel }
    }

    /// Bytes from a panel to the next in `B`.
    pub(super) fn panel_step<W>(&self, on: &Operands<'_, W>) -> usize {
        if self.b_layout == BLayout::InPlace { self.panel * 4 / self.product.step_depth() } else { on.b_panel }
    }
}

impl VectorMacrokernel {
    /// Whether panels are packed with all their K blocks: those that are inspected or widened.
    fn packs_whole(&self) -> bool {
        self.shape.packs() && (self.seven_bit_weights || self.wide.is_some())
    }

    /// Elements of scratch for the packed panels of a group; `None` on overflow.
    pub(super) fn packed_len(&self) -> Option<usize> {
        let panel = match self.shape.packs() {
            true if self.packs_whole() => self.shape.panel_bytes / 4,
            true => self.shape.most(&KBlock::all_steps).checked_mul(self.shape.panel)?,
            false => 0,
        };
        let unit = panel.checked_mul(self.cut.most_panels())?.checked_next_multiple_of(16)?;
        unit.checked_mul(if self.shape.packs() { self.facts.batch } else { 1 })
    }

    /// The panels of a unit, which begins at byte `b_at` of `B`.
    pub(super) fn group<'m, W>(&self, on: &Operands<'m, W>, b_at: usize, panels: &Range<usize>, packed: &'m mut [f32]) -> Group<'m> {
        if self.shape.packs() {
            let all = 0..self.shape.k_blocks.len();
            return if self.packs_whole() { Group::InMemory(self.pack(on, b_at, (panels, all), packed)) } else { Group::Packs(packed) };
        }
        let (step, line) = (self.shape.panel_step(on), self.shape.step_bytes(on));
        Group::InMemory(Memory { buf: on.b, at: b_at + panels.start * step, step, first: 0, line })
    }

    /// Packs some K blocks of panels.
    pub(super) fn pack<'m, W>(
        &self,
        on: &Operands<'_, W>,
        b_at: usize,
        (panels, parts): (&Range<usize>, Range<usize>),
        packed: &'m mut [f32],
    ) -> Memory<'m> {
        let (shape, form) = (&self.shape, self.shape.form());
        let (first, last) = (shape.k_blocks[parts.start].first, &shape.k_blocks[parts.end - 1]);
        let each = shape.product.step_depth();
        let depth = first * each..(last.first + last.steps) * each + usize::from(last.k_tail);
        let columns = panels.start * shape.panel..shape.columns.min(panels.end * shape.panel);
        let step = form.panel(depth.len());
        on.packs.panels(on.simd, PanelBlock { at: b_at, depth, columns }, form, packed);
        Memory { buf: lend(packed), at: 0, step, first, line: 4 * shape.panel }
    }

    /// Whether the elements of `panels` panels fit, so that their bytes can be multiplied directly.
    pub(super) fn fits<W>(&self, on: &Operands<'_, W>, b: &Memory<'_>, panels: usize) -> bool {
        let bytes = self.shape.panel_bytes;
        // Contiguous panels are treated as one.
        let (count, each) = if b.step == bytes { (1, panels * bytes) } else { (panels, bytes) };
        let fits = |bytes: Buf<'_>| upconvert::fits(on.simd, bytes);
        (0..count).map(|i| b.buf.part(b.at + i * b.step, each)).all(|b| on.notes.map_or_else(|| fits(b), |notes| notes.all(b, fits)))
    }
}

impl<W> Task<'_, '_, W> {
    /// Widens the panels.
    pub(super) fn widen(&self, b: &Memory<'_>, to: &mut [f32]) {
        let (bytes, panel) = (self.macrokernel.shape.panel_bytes, self.macrokernel.shape.panel);
        for (i, to) in (0..self.panels.len()).zip(to.chunks_exact_mut((bytes / 2).max(1))) {
            upconvert::panels(self.on.simd, b.buf.part(b.at + i * b.step, bytes), panel * 4, to);
        }
    }

    /// The part of `B` that is used after a K block: the next K block of the same panels, or the first one of the next panels.
    pub(super) fn next_panels(&self, part: usize) -> Option<NextPanels> {
        let (on, macrokernel, shape) = (self.on, self.macrokernel, &self.macrokernel.shape);
        let (panels, part) = if part + 1 < shape.k_blocks.len() {
            (self.panels.clone(), part + 1)
        } else if self.tiles.end < macrokernel.all {
            (self.panels.clone(), 0)
        } else {
            (macrokernel.cut.behind(&self.panels), 0)
        };
        let (part, step) = (&shape.k_blocks[part], shape.panel_step(on));
        if panels.is_empty() {
            return None;
        }
        if let Some([first, end]) = part.taken {
            let at = self.b_at + panels.start * step;
            return Some(NextPanels::Run(at + first..at + end));
        }
        if shape.b_layout == BLayout::Panels && shape.k_blocks.len() == 1 {
            let at = self.b_at + panels.start * step;
            return (panels != self.panels).then(|| NextPanels::Run(at..at + panels.len() * step));
        }
        if !shape.is_matrix() || shape.k_blocks.len() == 1 && panels == self.panels {
            return None;
        }
        let (each, size, width) = (shape.product.step_depth(), 4 / shape.product.step_depth(), shape.panel);
        let chunks = |bytes: usize| bytes.div_ceil(PREFETCH_BYTES);
        let at = on.b.as_ptr().addr() + self.b_at;
        Some(NextPanels::Grid(match on.packs {
            Packing::By(_) => return None,
            Packing::Nothing if shape.b_layout == BLayout::Panels => {
                let grid =
                    Grid { inner: chunks(part.steps * 4 * width), inner_step: PREFETCH_BYTES, outer: panels.len(), outer_step: step };
                PrefetchQueue::new(at + panels.start * step + part.first * 4 * width, grid)
            }
            // In a transposed matrix, rows are columns of the panels.
            Packing::Plain(plain) if plain.column != size => {
                let (inner, outer) = (panels.len() * width, chunks(part.steps * 4));
                let grid = Grid { inner, inner_step: plain.column, outer, outer_step: PREFETCH_BYTES };
                PrefetchQueue::new(at + part.first * 4 + panels.start * width * plain.column, grid)
            }
            packs => {
                let row = if let Packing::Plain(plain) = packs { plain.depth } else { on.b_row };
                let outer = chunks(panels.len() * width * size);
                let grid = Grid { inner: part.steps * each, inner_step: row, outer, outer_step: PREFETCH_BYTES };
                PrefetchQueue::new(at + part.first * each * row + panels.start * width * size, grid)
            }
        }))
    }
}

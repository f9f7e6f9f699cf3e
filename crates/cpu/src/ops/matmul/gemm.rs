//! A product of plain matrices on tiles: rows of `A` in place, `B` in panels or plain, cut into tasks.
//!
//! A task is a block of rows by a group of panels. It walks the depth in parts, so that a part of its panels stays in L2 while
//! all its rows meet it; `B` that does not lie in panels is packed part by part, once for all rows of the task. A tile of rows goes through
//! the panels of the group before the next one does, so that `A` is read from far once for a group; panels so short that they stay in L1
//! meet all tiles before the next one does. Sums pass from part to part through scratch; the tiles of the last part finish them.
//!
//! How the depth is cut follows from the depth alone, so results depend neither on how many rows and columns there are nor on who computes
//! them; the other cuts may depend on the number of workers.

use crate::CpuTarget;
use crate::hardware::{Blocks, Budget, K_STEPS, KBlock};
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::{Part, for_workers};
use crate::kernels::tile::pack::{self, Form, Plain};
use crate::kernels::tile::wide::{self, Before, Wide};
use crate::kernels::tile::{
    AHEAD, Ahead, Call, Grid, Line, List, MOST_ROWS, Next, ONE_STRIP, Panels, Product, Spec, Start, Stride, Strip, Tail, TailArgs, Tile,
    tallest,
};
use oxidnn_jit::Isa;
use oxidnn_runtime::{Buf, Executor};
use oxidnn_spec::Error;
use std::ops::Range;
use std::sync::Arc;

#[cfg(test)]
mod tests;

/// Multiply-adds for which no second thread is woken.
const SMALL: usize = 1 << 18;
/// Tasks for every worker where there are several.
const TASKS: usize = 4;
/// Tiles in a block of rows at least, where it is cut for the sake of more tasks.
const TILES: usize = 4;
/// How `B` lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Right {
    /// In panels.
    Panels,
    /// Plain: panels are made of it.
    Packed,
    /// Plain, rows contiguous and few: read where it is.
    InPlace,
}

/// What kernels depend on.
#[derive(Clone, Debug)]
pub(crate) struct Kind {
    /// Instructions.
    pub(crate) isa: Isa,
    /// Types.
    pub(crate) product: Product,
    /// How `B` lies.
    pub(crate) right: Right,
    /// How the steps of `A` lie.
    pub(crate) a_step: Stride,
    /// What finishes sums in registers; without it they are handed on.
    pub(crate) tail: Option<Arc<Tail>>,
}

impl Kind {
    /// How the lines of panels of so many columns lie.
    fn line(&self, width: usize) -> Line {
        if self.right == Right::InPlace { Line::Apart } else { Line::Packed((width / self.isa.width().lanes()) as u8) }
    }
}

/// Sizes of a product.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sizes {
    /// Independent products.
    pub(crate) batch: usize,
    /// Rows of `A`.
    pub(crate) rows: usize,
    /// Columns of `B`.
    pub(crate) columns: usize,
    /// Columns of a panel.
    pub(crate) width: usize,
    /// Depth.
    pub(crate) depth: usize,
}

/// How a product is cut.
#[derive(Clone, Copy, Debug)]
struct Cut {
    sizes: Sizes,
    panels: usize,
    parts: usize,
    /// Steps of a part, the last one may have fewer.
    steps: usize,
    /// Numbers of a step that is not whole.
    partial: usize,
    /// What stays in which cache.
    budget: Budget,
    /// Rows of the tallest tile.
    tall: usize,
    /// Rows of a block.
    block: usize,
    /// Groups of panels, one for a task.
    groups: usize,
    /// Whether bytes are multiplied by an instruction that takes weights of seven bits, and whether and how they are widened for others.
    seven_bits: bool,
    wide: Option<Wide>,
}

/// A planned product.
#[derive(Clone, Debug)]
pub(crate) struct Gemm {
    kind: Kind,
    cut: Cut,
    workers: usize,
}

/// A product with its kernels.
#[derive(Debug)]
pub(crate) struct Ready {
    gemm: Gemm,
    tiles: Tiles,
}

/// Kernels by [factors](Factors), and by [`index`].
type Tiles = [Vec<Option<Tile>>; 3];

/// What kernels multiply.
#[derive(Clone, Copy)]
enum Factors {
    /// Numbers as they are.
    AsIs,
    /// Bytes by weights of seven bits.
    SevenBits,
    /// Words made of bytes.
    Words,
}

/// Memory of a product; distances in bytes.
pub(crate) struct Operands<'a> {
    /// Memory of `A`.
    pub(crate) a: Buf<'a>,
    /// From a row of `A` to the next.
    pub(crate) a_row: usize,
    /// From a number of a row of `A` to the next.
    pub(crate) a_depth: usize,
    /// Memory of `B`.
    pub(crate) b: Buf<'a>,
    /// The same, where it is to be packed.
    pub(crate) b_bytes: &'a [u8],
    /// From a row of `B` to the next; in panels, from a line to the next.
    pub(crate) b_row: usize,
    /// From a column of `B` to the next; in panels, from a panel to the next.
    pub(crate) b_column: usize,
    /// Memory of the destination.
    pub(crate) c: Buf<'a>,
    /// From a row of the destination to the next.
    pub(crate) c_row: usize,
    /// Where a product of the batch begins in `A`, `B` and the destination.
    pub(crate) starts: &'a (dyn Fn(usize) -> [usize; 3] + Sync),
    /// Operands of the tail.
    pub(crate) tail: Option<&'a TailArgs<'a>>,
    /// The column of these with which a product of the batch begins.
    pub(crate) tail_column: &'a (dyn Fn(usize) -> usize + Sync),
    /// Takes raw sums where there is no tail.
    pub(crate) store: &'a (dyn Fn(Block<'_>) + Sync),
}

/// Raw sums of a block.
#[derive(Debug)]
pub(crate) struct Block<'s> {
    /// The product of the batch.
    pub(crate) batch: usize,
    /// Its rows.
    pub(crate) rows: Range<usize>,
    /// Its columns.
    pub(crate) columns: Range<usize>,
    /// The sums, f32 or the bits of i32.
    pub(crate) sums: &'s mut [f32],
    /// As many numbers of scratch.
    pub(crate) spare: &'s mut [f32],
    /// From a row of sums to the next.
    pub(crate) step: usize,
}

/// Place of a part in the depth, as far as kernels differ by it.
#[derive(Clone, Copy)]
enum Phase {
    Only,
    First,
    Middle,
    Last,
}

impl Phase {
    const COUNT: usize = 4;

    fn of(part: usize, parts: usize) -> Phase {
        match (part == 0, part + 1 == parts) {
            (true, true) => Phase::Only,
            (true, false) => Phase::First,
            (false, false) => Phase::Middle,
            (false, true) => Phase::Last,
        }
    }
}

/// Cuts `range` evenly into tiles of at most `most` rows: runs of tiles that are equally tall, each its first row, rows of a tile and their number.
pub(crate) fn runs(range: Range<usize>, most: usize) -> impl Iterator<Item = (usize, usize, usize)> {
    let (start, n) = (range.start, range.len());
    let tiles = n.div_ceil(most).max(1);
    let (each, more) = (n / tiles, n % tiles);
    [(start, each + 1, more), (start + more * (each + 1), each, tiles - more)].into_iter().filter(|run| run.1 * run.2 > 0)
}

impl Sizes {
    /// Whether a second thread does not pay.
    fn small(&self) -> bool {
        self.batch.saturating_mul(self.rows).saturating_mul(self.columns).saturating_mul(self.depth) <= SMALL
    }
}

impl Cut {
    fn new(kind: &Kind, sizes: Sizes, target: &CpuTarget) -> Cut {
        let (workers, budget) = (target.threads, target.caches.budget(false));
        let Sizes { batch, rows, columns, width, depth } = sizes;
        let (step, vectors) = (kind.product.depth(), width / kind.isa.width().lanes());
        let all_steps = depth.div_ceil(step);
        let parts = all_steps.div_ceil(K_STEPS.matrix).max(1);
        let steps = all_steps.div_ceil(parts);
        let tall = tallest(kind.isa, kind.product, vectors).min(rows).max(1);
        let panels = columns.div_ceil(width);
        let spec = Spec { line: kind.line(width), a_step: kind.a_step, ..Spec::new(kind.product, tall, 1) };
        let seven_bits = wide::asks_for_seven_bits(kind.isa, kind.product, spec.line);
        let wide =
            Wide::new(&wide::About { isa: kind.isa, spec: &spec, tiles: rows.div_ceil(tall), panels, source: 0, parts: &[[1, steps]] });
        let carries = parts > 1 || kind.tail.is_none();
        let k = KBlock { panel: steps * width * 4, panels, width, tall, tiles: rows.div_ceil(tall), carries };
        let kept = if kind.right == Right::Panels { budget.panels } else { budget.plain };
        let Blocks { mc: mut block, nc: mut group } = k.blocks([kept, budget.sums]);
        if kind.right != Right::Packed {
            block = block.min((budget.rows / (steps * 4 * tall).max(1)).max(TILES));
        }
        if workers > 1 && !sizes.small() {
            let wanted = (workers * TASKS).div_ceil(batch.max(1));
            group = group.min(panels.div_ceil(wanted)).max(1);
            let blocks = wanted.div_ceil(panels.div_ceil(group).max(1));
            block = block.min(rows.div_ceil(tall).div_ceil(blocks).max(TILES));
        }
        // Blocks are equally tall, whatever remains in the last tile of each, and groups equally wide: as many as share out evenly, where they can.
        let blocks = rows.div_ceil(block * tall).max(1);
        let (least, block) = (panels.div_ceil(group), rows.div_ceil(blocks).max(1));
        let groups = (least..=panels.min(2 * least)).find(|n| (batch * blocks * n).is_multiple_of(workers)).unwrap_or(least);
        Cut { sizes, panels, parts, steps, partial: depth % step, budget, tall, block, groups, seven_bits, wide }
    }

    /// Steps of a part: the first, and how many are whole.
    fn part(&self, part: usize, step: usize) -> (usize, usize) {
        let first = part * self.steps;
        (first, (self.sizes.depth / step).min(first + self.steps) - first)
    }

    fn blocks(&self) -> usize {
        self.sizes.rows.div_ceil(self.block)
    }

    /// The panels of a group.
    fn group(&self, group: usize) -> Range<usize> {
        group * self.panels / self.groups..(group + 1) * self.panels / self.groups
    }

    /// Most panels of a group.
    fn most_panels(&self) -> usize {
        self.panels.div_ceil(self.groups.max(1))
    }

    /// Whether `B` is so large that tiles ask for its parts before they are met.
    fn far(&self) -> bool {
        self.steps * self.parts * self.sizes.width * self.panels * 4 > self.budget.plain
    }

    /// Whether there is so much of `A` that tiles ask for the rows that follow, as they do where they meet whole rows.
    fn far_rows(&self) -> bool {
        self.parts == 1 && self.sizes.batch * self.sizes.rows * self.steps * 4 > self.budget.far
    }

    /// From a row of sums to the next.
    fn sums_row(&self) -> usize {
        self.most_panels() * self.sizes.width
    }

    fn rows(&self, block: usize) -> Range<usize> {
        block * self.block..self.sizes.rows.min((block + 1) * self.block)
    }

    /// Columns of the last panel, where it has fewer than the others; else 0.
    fn narrow(&self) -> usize {
        self.sizes.columns % self.sizes.width
    }

    /// Panels that have all their columns.
    fn whole(&self) -> usize {
        self.sizes.columns / self.sizes.width
    }
}

impl Gemm {
    /// The product on a processor.
    pub(crate) fn new(kind: Kind, sizes: Sizes, target: &CpuTarget) -> Gemm {
        let cut = Cut::new(&kind, sizes, target);
        Gemm { kind, cut, workers: target.threads }
    }

    /// How `B` is read.
    pub(crate) fn right(&self) -> Right {
        self.kind.right
    }

    /// Numbers of scratch of all workers; `None` on overflow.
    pub(crate) fn scratch_len(&self) -> Option<usize> {
        let wide = self.wide_len()?.checked_add(self.widened_len())?;
        for_workers(self.workers, self.panels_len().checked_add(wide)?.checked_add(self.sums_len().checked_mul(2)?)?)
    }

    /// Numbers of scratch that widen rows, and that widened panels of a group take.
    fn wide_len(&self) -> Option<usize> {
        self.cut.wide.map_or(Some(0), |w| w.scratch_len())
    }

    fn widened_len(&self) -> usize {
        if self.cut.wide.is_some() { self.cut.most_panels() * self.cut.steps * self.cut.sizes.width * 2 } else { 0 }
    }

    /// Numbers of scratch that hold the panels of a group.
    fn panels_len(&self) -> usize {
        if self.kind.right == Right::Packed { self.cut.most_panels() * self.cut.steps * self.cut.sizes.width } else { 0 }
    }

    fn sums_len(&self) -> usize {
        if self.cut.parts > 1 || self.kind.tail.is_none() { self.cut.block * self.cut.sums_row() } else { 0 }
    }

    /// Makes the kernels.
    ///
    /// # Errors
    /// [`Error::Runtime`] where a kernel cannot be made.
    pub(crate) fn build(&self) -> Result<Ready, Error> {
        let mut tiles = [(); 3].map(|()| vec![None; MOST_ROWS * 2 * Phase::COUNT]);
        let last_block = self.cut.blocks().saturating_sub(1);
        for (_, rows, _) in [0, last_block].into_iter().flat_map(|b| runs(self.cut.rows(b), self.cut.tall)) {
            let kinds = [(false, self.cut.whole() > 0), (true, self.cut.narrow() > 0)];
            for narrow in kinds.into_iter().filter(|(_, used)| *used).map(|(narrow, _)| narrow) {
                for part in [0, self.cut.parts / 2, self.cut.parts - 1] {
                    let phase = Phase::of(part, self.cut.parts);
                    for (tiles, spec) in tiles.iter_mut().zip(self.specs(rows, narrow, phase)) {
                        let tile = &mut tiles[index(rows, narrow, phase)];
                        if let Some(spec) = spec.filter(|_| tile.is_none()) {
                            *tile = Some(Tile::get(self.kind.isa, &spec)?);
                        }
                    }
                }
            }
        }
        Ok(Ready { gemm: self.clone(), tiles })
    }

    /// The kernels by factors.
    fn specs(&self, rows: usize, narrow: bool, phase: Phase) -> [Option<Spec>; 3] {
        let (cut, lanes) = (&self.cut, self.kind.isa.width().lanes());
        let columns = if narrow { cut.narrow() } else { cut.sizes.width };
        let ends = matches!(phase, Phase::Only | Phase::Last);
        let spec = Spec {
            product: self.kind.product,
            rows: rows as u8,
            vectors: columns.div_ceil(lanes) as u8,
            line: self.kind.line(cut.sizes.width),
            a_step: self.kind.a_step,
            partial: if ends { cut.partial as u8 } else { 0 },
            start: if matches!(phase, Phase::Only | Phase::First) { Start::Zero } else { Start::Load },
            tail: self.kind.tail.clone().filter(|_| ends),
            masked: !columns.is_multiple_of(lanes),
            ahead: cut.far() || cut.far_rows(),
        };
        let seven_bits = cut.seven_bits.then(|| wide::seven_bits(spec.clone()));
        let words = cut.wide.is_some().then(|| wide::words(spec.clone()));
        [words.is_none().then_some(spec), seven_bits, words]
    }

    fn task(&self, simd: Simd, tiles: &Tiles, on: &Operands<'_>, at: &Place, share: &mut [f32]) {
        let (packed, share) = share.split_at_mut(self.panels_len());
        let (widened, share) = share.split_at_mut(self.widened_len());
        let (rows_of_a, sums) = share.split_at_mut(self.wide_len().unwrap_or(0));
        let (sums, spare) = sums.split_at_mut(self.sums_len());
        for part in 0..self.cut.parts {
            let right = self.panels(simd, on, at, part, packed);
            let seven_bits = self.cut.seven_bits && self.fits(simd, &right, at.panels.len(), part);
            let wide = self.cut.wide.as_ref().filter(|_| !seven_bits);
            let next = if wide.is_some() { Next::default() } else { self.next(on, at, part) };
            if wide.is_some() {
                self.widen((simd, &mut *widened), &right, at.panels.len(), part);
            }
            let factors = if seven_bits { Factors::SevenBits } else { wide.map_or(Factors::AsIs, |_| Factors::Words) };
            let kernels = &tiles[factors as usize];
            let wide = wide.map(|wide| Widening { wide, simd, panels: &*widened, rows: &mut *rows_of_a });
            let mut group = Group { kernels, on, at, part, right, wide, next };
            for (first, rows, count) in runs(at.rows.clone(), self.cut.tall) {
                let mut done = 0;
                while done < count {
                    let tiles = self.strip(&group, rows).min(count - done);
                    self.walk_all(&mut group, (first + done * rows, rows, tiles), sums);
                    done += tiles;
                }
            }
        }
        if self.kind.tail.is_none() {
            let width = self.cut.sizes.width;
            let columns = at.panels.start * width..self.cut.sizes.columns.min(at.panels.end * width);
            (on.store)(Block { batch: at.batch, rows: at.rows.clone(), columns, sums, spare, step: self.cut.sums_row() });
        }
    }

    /// Where the panels of a task lie in a part of the depth; makes them where that is to be.
    fn panels<'m>(&self, simd: Simd, on: &Operands<'m>, at: &Place, part: usize, packed: &'m mut [f32]) -> Memory<'m> {
        let (step, width) = (self.kind.product.depth(), self.cut.sizes.width);
        let (first, _) = self.cut.part(part, step);
        let start = at.starts[1];
        match self.kind.right {
            Right::Panels => Memory { buf: on.b, start: start + at.panels.start * on.b_column + first * on.b_row, panel: on.b_column },
            Right::InPlace => {
                let size = 4 / step;
                Memory { buf: on.b, start: start + at.panels.start * width * size + first * step * on.b_row, panel: width * size }
            }
            Right::Packed => {
                let form = Form { size: 4 / step, together: self.kind.product.together(), width };
                let depth = first * step..self.cut.sizes.depth.min((first + self.cut.steps) * step);
                let columns = at.panels.start * width..self.cut.sizes.columns.min(at.panels.end * width);
                let from = Plain { bytes: &on.b_bytes[start..], depth: on.b_row, column: on.b_column };
                let panel = form.panel(depth.len());
                pack::panels(simd, &from, depth, columns, form, packed);
                // SAFETY: the panels stay as they are until the tiles of this part are done, which only read them.
                let buf = unsafe { lend(packed) };
                Memory { buf, start: 0, panel }
            }
        }
    }

    /// Panels of a part, with the last step that is not whole.
    fn bytes<'m>(&self, from: &Memory<'m>, panels: usize, part: usize) -> impl Iterator<Item = Buf<'m>> {
        let steps = self.cut.part(part, self.kind.product.depth()).1 + usize::from(self.is_partial(part));
        let (buf, start, panel, len) = (from.buf, from.start, from.panel, steps * self.cut.sizes.width * 4);
        (0..panels).map(move |i| buf.part(start + i * panel, len))
    }

    /// Whether bytes can be multiplied as they are by the panels of a part.
    fn fits(&self, simd: Simd, from: &Memory, panels: usize, part: usize) -> bool {
        self.bytes(from, panels, part).all(|panel| wide::fits(simd, panel))
    }

    /// Widens the panels of a part.
    fn widen(&self, (simd, to): (Simd, &mut [f32]), from: &Memory, panels: usize, part: usize) {
        let width = self.cut.sizes.width;
        for (from, to) in self.bytes(from, panels, part).zip(to.chunks_exact_mut((self.cut.steps * width * 2).max(1))) {
            wide::panels(simd, from, width * 4, &mut to[..from.len() / 2]);
        }
    }

    /// Whether a part ends with a step that is not whole.
    fn is_partial(&self, part: usize) -> bool {
        self.cut.partial > 0 && part + 1 == self.cut.parts
    }

    /// What of `B` is wanted next: the next part of the same panels, or the first part of those of the next task.
    fn next(&self, on: &Operands<'_>, at: &Place, part: usize) -> Next {
        let (cut, product) = (&self.cut, self.kind.product);
        let (panels, part) = if part + 1 < cut.parts {
            (at.panels.clone(), part + 1)
        } else if at.group + 1 < cut.groups {
            (cut.group(at.group + 1), 0)
        } else if at.rows.end < cut.sizes.rows {
            (cut.group(0), 0)
        } else {
            return Next::default();
        };
        let (first, steps) = cut.part(part, product.depth());
        let (step, size, width) = (product.depth(), 4 / product.depth(), cut.sizes.width);
        let chunks = |bytes: usize| bytes.div_ceil(AHEAD);
        let start = on.b.as_ptr().addr() + at.starts[1];
        if self.kind.right == Right::Panels {
            let grid = Grid { inner: chunks(steps * 4 * width), inner_step: AHEAD, outer: panels.len(), outer_step: on.b_column };
            return Next::new(start + panels.start * on.b_column + first * on.b_row, grid);
        }
        let start = start + first * step * on.b_row + panels.start * width * on.b_column;
        let grid = if on.b_column == size {
            Grid { inner: steps * step, inner_step: on.b_row, outer: chunks(panels.len() * width * size), outer_step: AHEAD }
        } else {
            Grid { inner: panels.len() * width, inner_step: on.b_column, outer: chunks(steps * 4), outer_step: AHEAD }
        };
        Next::new(start, grid)
    }

    /// Tiles of the next strip. While memory is asked for ahead it is as long as its tiles ask for what is in one piece.
    fn strip(&self, group: &Group<'_>, rows: usize) -> usize {
        let steps = self.cut.steps.max(1);
        if group.next.is_left() {
            group.next.piece().div_ceil((steps / 4).max(1))
        } else {
            (self.cut.budget.strip / (steps * rows * 4)).max(1)
        }
    }

    /// A strip, which is its first row, rows of a tile and number of tiles, by all panels of a group.
    fn walk_all(&self, group: &mut Group<'_>, strip: (usize, usize, usize), sums: &mut [f32]) {
        let (cut, all) = (&self.cut, group.at.panels.clone());
        let whole = all.start..all.end.min(cut.whole());
        let narrow = whole.end.max(all.start)..all.end;
        if group.next.is_left() {
            whole.for_each(|panel| self.walk(group, strip, panel..panel + 1, sums));
        } else {
            self.walk(group, strip, whole, sums);
        }
        self.walk(group, strip, narrow, sums);
    }

    /// A strip by panels with equally many columns.
    fn walk(&self, group: &mut Group<'_>, (row, rows, tiles): (usize, usize, usize), panels: Range<usize>, sums: &mut [f32]) {
        if panels.is_empty() {
            return;
        }
        let Group { kernels, on, at, part, right, wide, next } = group;
        let (cut, on) = (&self.cut, *on);
        let (first, steps) = cut.part(*part, self.kind.product.depth());
        let tile = kernels[index(rows, panels.end > cut.whole(), Phase::of(*part, cut.parts))].as_ref();
        let tile = tile.unwrap_or_else(|| panic!("no kernel of {rows} rows was made"));
        let a = on.a.as_ptr().addr() + at.starts[0] + first * self.kind.product.depth() * on.a_depth + row * on.a_row;
        let c = on.c.as_ptr().addr() + at.starts[2] + row * on.c_row;
        let mut words = [0; ONE_STRIP];
        let mut list = List::new(&mut words, rows);
        let offsets = |row: usize| -> [usize; MOST_ROWS] { std::array::from_fn(|i| i * row) };
        let sums_at = (row - at.rows.start) * cut.sums_row() * 4;
        list.strip(Strip { tiles, sums: sums_at, a_row: on.a_row, c_row: on.c_row, to: (c, &offsets(on.c_row)) });
        list.tap(0, a, &offsets(on.a_row));
        let (i, column) = (panels.start - at.panels.start, panels.start * cut.sizes.width);
        let outer = steps * cut.sizes.width * 4 <= cut.budget.l1_panel;
        let ahead = if next.is_left() {
            next.take(steps / 4 * tiles)
        } else if cut.far_rows() && on.a_depth * self.kind.product.depth() == 4 {
            // As fast as the tiles go on, two tiles before them.
            let (tile, asks) = (rows * on.a_row, steps / 4 * if outer { 1 } else { panels.len() });
            Ahead { at: a.wrapping_add(2 * tile), step: tile / asks.max(1), panel: 0 }
        } else {
            Ahead::default()
        };
        let call = Call {
            strips: list.strips(),
            steps,
            a: on.a,
            a_from: 0,
            zeros: Buf::empty(),
            b: right.buf,
            panels: Panels { at: right.start + i * right.panel, step: right.panel, count: panels.len(), outer },
            c: on.c,
            column,
            tail_column: (on.tail_column)(at.batch) + column,
            tail: on.tail,
            sums: sums.get_mut(i * cut.sizes.width..).unwrap_or_default(),
            sums_row: cut.sums_row(),
            a_step: on.a_depth * self.kind.product.depth(),
            b_row: on.b_row,
            last: (cut.sizes.columns - 1) % self.kind.isa.width().lanes() + 1,
            ahead,
        };
        let Some(Widening { wide, simd, panels: widened, rows }) = wide else { return tile.run(call) };
        let panel = cut.steps * cut.sizes.width * 8;
        let panels = Panels { at: i * panel, step: panel, count: panels.len(), outer: panel <= cut.budget.l1_panel };
        let call = Call { panels, ahead: Ahead::default(), ..call };
        let partial = if self.is_partial(*part) { cut.partial as u8 } else { 0 };
        wide.run((*simd, &mut **rows), tile, call, Before { panels: widened, sources: None, partial });
    }
}

impl Ready {
    /// Computes everything, with scratch of [`Gemm::scratch_len`] numbers.
    pub(crate) fn run(&self, simd: Simd, executor: &dyn Executor, scratch: &mut Part<'_>, on: &Operands<'_>) {
        let Ready { gemm, tiles } = self;
        let (cut, blocks, groups) = (&gemm.cut, gemm.cut.blocks(), gemm.cut.groups);
        let tasks = cut.sizes.batch * blocks * groups;
        scratch.work(executor, if cut.sizes.small() { 1 } else { gemm.workers }, tasks, &|task, share| {
            let (rest, batch) = (task % (blocks * groups), task / (blocks * groups));
            let (block, group) = (rest / groups, rest % groups);
            let at = Place { batch, starts: (on.starts)(batch), rows: cut.rows(block), group, panels: cut.group(group) };
            gemm.task(simd, tiles, on, &at, share);
        });
    }
}

/// Scratch as memory of an operand.
///
/// # Safety
/// While the memory is in use, the numbers must stay where they are, and parallel parts must not write what others read or write.
pub(crate) unsafe fn lend(numbers: &mut [f32]) -> Buf<'_> {
    // SAFETY: the numbers are valid memory, and the rest is the caller's promise.
    unsafe { Buf::new(numbers.as_mut_ptr().cast(), size_of_val(numbers)) }
}

/// What a task computes.
struct Place {
    batch: usize,
    /// Where its product begins in `A`, `B` and the destination.
    starts: [usize; 3],
    rows: Range<usize>,
    /// The group, and its panels.
    group: usize,
    panels: Range<usize>,
}

/// The panels of a task in a part of the depth.
struct Group<'g> {
    kernels: &'g [Option<Tile>],
    on: &'g Operands<'g>,
    at: &'g Place,
    part: usize,
    right: Memory<'g>,
    /// Where bytes are widened.
    wide: Option<Widening<'g>>,
    /// What is asked for meanwhile.
    next: Next,
}

/// Bytes that tiles meet as words.
struct Widening<'g> {
    wide: &'g Wide,
    simd: Simd,
    /// Panels that were widened.
    panels: &'g [f32],
    /// Scratch for rows of `A`.
    rows: &'g mut [f32],
}

/// Panels in memory.
struct Memory<'a> {
    buf: Buf<'a>,
    /// The byte where the first begins.
    start: usize,
    /// Bytes from a panel to the next.
    panel: usize,
}

/// Where a kernel is among all: by rows, by whether its panel has fewer columns than the others, by phase.
const fn index(rows: usize, narrow: bool, phase: Phase) -> usize {
    ((rows - 1) * 2 + narrow as usize) * Phase::COUNT + phase as usize
}

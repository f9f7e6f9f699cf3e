//! The loops around tiles: a matrix product whose rows of `A` are wherever a [`Work`] says, and whose `B` comes in panels.
//!
//! The product is cut into tasks of a block of rows by a group of panels, which workers share. A task walks the reduction in parts: a part of
//! a group of panels stays in the second cache while every tile of the block's rows meets it. Sums go from part to part through scratch. The
//! last part's tiles finish them in registers where the tail can do it; else the task hands the sums to the work, a block at a time.
//!
//! All cuts are functions of the product's sizes, so that results do not depend on who computes what.

use super::{Ahead, Call, Line, MOST_ROWS, Product, Spec, Start, Stride, Tail, TailArgs, Tile, max_rows};
use crate::kernels::scratch::{Part as Scratch, for_workers};
use oxidnn_jit::Isa;
use oxidnn_runtime::{Buf, Executor};
use oxidnn_spec::Error;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

#[cfg(test)]
mod tests;

/// Bytes of panels that stay in the second cache.
const PANELS: usize = 384 << 10;
/// Numbers of sums that a task carries from part to part.
const SUMS: usize = 32 << 10;
/// Tasks that a large product is cut into at least, so that many workers find work.
const TASKS: usize = 32;
/// Multiply-adds that are worth a task of their own.
const WORTH: usize = 1 << 20;
/// Tiles that a block of rows has at least where it is cut for the sake of more tasks, for panels within and beyond [`STAYS`] bytes.
const TILES: usize = 4;
const FAR_TILES: usize = 24;
/// Bytes of a panel that stays in the second cache from one block of rows to the next.
const STAYS: usize = 512 << 10;

/// A part of the reduction. All its taps have the same depth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    /// Most taps that a tile has in it.
    pub taps: usize,
    /// Whole steps of every tap.
    pub steps: usize,
    /// Numbers of a last step that is not whole, 0 if there is none.
    pub partial: u8,
}

/// A product as the loops see it.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Independent products of the same sizes: images, groups, batches.
    pub units: usize,
    /// Rows of each, in stretches: no tile has rows of two.
    pub rows: Vec<usize>,
    /// Columns of each.
    pub columns: usize,
    /// Columns of a panel.
    pub panel: usize,
    /// The reduction.
    pub parts: Vec<Part>,
    /// Types.
    pub product: Product,
    /// How the lines of `B` lie.
    pub line: Line,
    /// How the steps of `A` lie.
    pub a_step: Stride,
    /// What finishes sums in registers; without it [`Work::store`] gets them.
    pub tail: Option<Arc<Tail>>,
}

/// Where the operands of a product are, and where its results go.
pub trait Work: Sync {
    /// A place among the rows of a unit, in a part of the reduction.
    type Walk;

    /// The place of `row`.
    fn walk(&self, unit: usize, row: usize, part: usize) -> Self::Walk;

    /// Writes the taps of the next `to.len()` rows, and to `to` the addresses of the unit's first column in the destination; goes on behind
    /// these rows. The rows are of one tile, and do not cross a stretch.
    fn tile(&self, walk: &mut Self::Walk, table: &mut Table<'_>, to: &mut [usize]);

    /// Finishes and stores a block of raw sums; called only where there is no tail.
    fn store(&self, block: Block<'_>);
}

/// Raw sums of a block of rows and columns.
#[derive(Debug)]
pub struct Block<'s> {
    /// The unit.
    pub unit: usize,
    /// Its rows.
    pub rows: Range<usize>,
    /// Its columns.
    pub columns: Range<usize>,
    /// The sums, `f32` or the bits of 32-bit integers.
    pub sums: &'s mut [f32],
    /// As many numbers of scratch.
    pub spare: &'s mut [f32],
    /// Distance of two rows.
    pub step: usize,
}

/// The taps of a tile, being written.
#[derive(Debug)]
pub struct Table<'t> {
    words: &'t mut [usize],
    rows: usize,
    len: usize,
}

impl Table<'_> {
    /// Adds a tap whose lines of `B` are `b` bytes behind the first of a panel, and whose rows of `A` begin `offset` bytes behind `base`.
    ///
    /// # Panics
    /// When there are more taps than [`Part::taps`] said.
    #[inline(always)]
    pub fn tap(&mut self, b: usize, base: &[usize; MOST_ROWS], offset: usize) {
        // All rows are written, and those that the tile does not have overwritten by the next tap.
        let tap = &mut self.words[self.len..self.len + 1 + MOST_ROWS];
        tap[0] = b;
        tap[1..].iter_mut().zip(base).for_each(|(to, base)| *to = base.wrapping_add(offset));
        self.len += self.rows + 1;
    }

    /// Number of rows of the tile.
    pub fn rows(&self) -> usize {
        self.rows
    }
}

/// The memory of a product.
pub struct Operands<'a, W> {
    /// Where tables and destinations come from.
    pub work: &'a W,
    /// Memory of `A`.
    pub a: Buf,
    /// Memory of the rows of `A` that stand for padding.
    pub zeros: Buf,
    /// Memory of `B`.
    pub b: Buf,
    /// Byte of `B` where a unit's panels begin, as a function of the unit.
    pub b_unit: &'a (dyn Fn(usize) -> usize + Sync),
    /// Distance of two panels in bytes.
    pub b_panel: usize,
    /// Distance of two lines in bytes where the kernel does not know it.
    pub b_row: usize,
    /// Distance of two steps of `A` in bytes where the kernel does not know it.
    pub a_step: usize,
    /// Memory of the destination.
    pub c: Buf,
    /// Operands of the tail, with the column of a unit's first one as a function of the unit.
    pub tail: Option<(&'a TailArgs<'a>, &'a (dyn Fn(usize) -> usize + Sync))>,
}

/// A planned product.
#[derive(Debug)]
pub struct Drive {
    isa: Isa,
    shape: Shape,
    /// Rows of the tallest tile.
    tall: usize,
    /// Tiles of a unit, and of a block.
    all: usize,
    block: usize,
    /// Panels of a group.
    group: usize,
    tiles: OnceLock<Tiles>,
}

/// Kernels by rows, by whether the panel is the last, and by part.
#[derive(Debug)]
struct Tiles(Vec<Option<Tile>>);

impl Drive {
    /// Decides how to cut a product.
    pub fn new(isa: Isa, shape: Shape) -> Drive {
        let vectors = shape.panel / isa.width().lanes();
        let tall = max_rows(isa, vectors).min(shape.rows.iter().copied().max().unwrap_or(0)).max(1);
        let rows: usize = shape.rows.iter().sum();
        let all: usize = shape.rows.iter().map(|r| r.div_ceil(tall)).sum();
        let panels = shape.columns.div_ceil(shape.panel).max(1);
        let bytes = |p: &Part| p.taps * (p.steps + usize::from(p.partial > 0)) * shape.panel * 4;
        let widest = shape.parts.iter().map(bytes).max().unwrap_or(0).max(1);
        let mut group = (PANELS / widest).clamp(1, panels);
        let steps: usize = shape.parts.iter().map(|p| p.taps * (p.steps + 1)).sum();
        let worth = |rows: usize, panels: usize| rows * panels * shape.panel * steps;
        // As many tasks as are wanted and worth it: first by rows, then by panels.
        let wanted = (shape.units * worth(rows, panels) / WORTH).clamp(1, TASKS).div_ceil(shape.units.max(1));
        // A panel that does not stay in the second cache is read again for every block.
        let least = if shape.parts.iter().map(bytes).sum::<usize>() > STAYS { FAR_TILES } else { TILES };
        let most = (all / least).max(1);
        let by_panels = wanted.div_ceil(most).min(panels);
        group = group.min(panels.div_ceil(by_panels));
        let groups = panels.div_ceil(group);
        let mut block = all.div_ceil(wanted.div_ceil(groups).min(most));
        if shape.carries() {
            block = block.min((SUMS / (group * shape.panel) / tall).max(1));
        }
        Drive { isa, tall, all, block: block.max(1), group, shape, tiles: OnceLock::new() }
    }

    /// What it computes.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Numbers of scratch for `workers` workers; `None` on overflow.
    pub fn scratch_len(&self, workers: usize) -> Option<usize> {
        for_workers(workers, self.table_len().checked_add(self.sums_len().checked_mul(2)?)?)
    }

    /// Numbers of scratch that hold a table.
    fn table_len(&self) -> usize {
        let taps = self.shape.parts.iter().map(|p| p.taps).max().unwrap_or(0);
        ((taps * (self.tall + 1) + MOST_ROWS) * size_of::<usize>() / size_of::<f32>()).next_multiple_of(16)
    }

    fn sums_len(&self) -> usize {
        if self.shape.carries() { self.block.min(self.all) * self.tall * self.step() } else { 0 }
    }

    /// Distance of two rows of sums.
    fn step(&self) -> usize {
        self.group * self.shape.panel
    }

    fn blocks(&self) -> usize {
        self.all.div_ceil(self.block)
    }

    fn panels(&self) -> usize {
        self.shape.columns.div_ceil(self.shape.panel)
    }

    /// Makes the kernels. To be called before [`Drive::run`].
    ///
    /// # Errors
    /// [`Error::Runtime`] where a kernel cannot be made.
    pub fn prepare(&self) -> Result<(), Error> {
        if self.tiles.get().is_some() {
            return Ok(());
        }
        let mut tiles = vec![None; self.tall * 2 * self.shape.parts.len()];
        for rows in self.heights() {
            for last in [false, true] {
                for part in 0..self.shape.parts.len() {
                    if last || self.panels() > 1 {
                        tiles[self.index(rows, last, part)] = Some(Tile::get(self.isa, &self.spec(rows, last, part))?);
                    }
                }
            }
        }
        let _ = self.tiles.set(Tiles(tiles));
        Ok(())
    }

    fn index(&self, rows: usize, last: bool, part: usize) -> usize {
        ((rows - 1) * 2 + usize::from(last)) * self.shape.parts.len() + part
    }

    fn spec(&self, rows: usize, last: bool, part: usize) -> Spec {
        let lanes = self.isa.width().lanes();
        let columns = if last { self.shape.columns - (self.panels() - 1) * self.shape.panel } else { self.shape.panel };
        let ends = part + 1 == self.shape.parts.len();
        Spec {
            product: self.shape.product,
            rows: rows as u8,
            vectors: columns.div_ceil(lanes) as u8,
            line: self.shape.line,
            a_step: self.shape.a_step,
            partial: self.shape.parts[part].partial,
            start: if part == 0 { Start::Zero } else { Start::Load },
            tail: self.shape.tail.clone().filter(|_| ends),
            masked: !columns.is_multiple_of(lanes),
            ahead: false,
        }
    }

    /// All numbers of rows that tiles have.
    fn heights(&self) -> impl Iterator<Item = usize> {
        (1..=self.tall).filter(|rows| {
            self.shape.rows.iter().filter(|n| **n > 0).any(|n| {
                let tiles = n.div_ceil(self.tall);
                *rows == n / tiles || *rows == n.div_ceil(tiles)
            })
        })
    }

    /// The tiles `tiles`, their first row and its number: every stretch is cut evenly.
    fn cut(&self, tiles: Range<usize>) -> impl Iterator<Item = (usize, usize)> {
        let (mut row, mut tile) = (0, 0);
        self.shape.rows.iter().flat_map(move |n| {
            let count = n.div_ceil(self.tall);
            let (first, start) = (row, tile);
            (row, tile) = (row + n, tile + count);
            let here = tiles.start.clamp(start, tile) - start..tiles.end.clamp(start, tile) - start;
            // The first tiles have the rows that are left over.
            let (each, more) = (n / count.max(1), n % count.max(1));
            here.map(move |t| (first + t * each + t.min(more), each + usize::from(t < more)))
        })
    }

    /// Computes everything on at most `workers` workers, with scratch of the length for that many.
    pub fn run<W: Work>(&self, executor: &dyn Executor, workers: usize, scratch: &mut Scratch<'_>, on: &Operands<'_, W>) {
        let Some(kernels) = self.tiles.get() else { return };
        let (blocks, groups) = (self.blocks(), self.panels().div_ceil(self.group));
        scratch.work(executor, workers, self.shape.units * blocks * groups, &|task, share| {
            let (block, rest) = (task % blocks, task / blocks);
            let (group, unit) = (rest % groups, rest / groups);
            let panels = group * self.group..self.panels().min((group + 1) * self.group);
            let block = block * self.block..self.all.min((block + 1) * self.block);
            let first = self.cut(block.clone()).next().map_or(0, |(row, _)| row);
            let tail = on.tail.map(|(args, column)| (args, column(unit)));
            let task = Task { drive: self, kernels, on, unit, b_at: (on.b_unit)(unit), tail, tiles: block, first, panels };
            task.run(share);
        });
    }
}

/// A block of rows by a group of panels.
struct Task<'t, 'a, W> {
    drive: &'t Drive,
    kernels: &'t Tiles,
    on: &'t Operands<'a, W>,
    unit: usize,
    /// Byte of `B` where the unit's panels begin, and the tail with the unit's first column.
    b_at: usize,
    tail: Option<(&'t TailArgs<'a>, usize)>,
    /// The tiles, and their first row.
    tiles: Range<usize>,
    first: usize,
    panels: Range<usize>,
}

impl<W: Work> Task<'_, '_, W> {
    fn run(&self, share: &mut [f32]) {
        let Drive { shape, .. } = self.drive;
        let (words, sums) = share.split_at_mut(self.drive.table_len());
        let words: &mut [usize] = bytemuck::cast_slice_mut(words);
        let mut end = self.first;
        for part in 0..shape.parts.len() {
            let at = self.at(part);
            let mut walk = self.on.work.walk(self.unit, self.first, part);
            for (row, rows) in self.drive.cut(self.tiles.clone()) {
                let mut table = Table { words, rows, len: 0 };
                let mut to = [0; MOST_ROWS];
                let to = &mut to[..rows];
                self.on.work.tile(&mut walk, &mut table, to);
                let len = table.len;
                end = row + rows;
                self.tile(&at, row, &words[..len], to, sums);
            }
        }
        if shape.tail.is_none() {
            let columns = self.panels.start * shape.panel..shape.columns.min(self.panels.end * shape.panel);
            let (sums, spare) = sums.split_at_mut(self.drive.sums_len());
            self.on.work.store(Block { unit: self.unit, rows: self.first..end, columns, sums, spare, step: self.drive.step() });
        }
    }

    /// What the tiles of a part share.
    fn at(&self, part: usize) -> At<'_> {
        let Drive { shape, isa, .. } = self.drive;
        let (lanes, parts, panels) = (isa.width().lanes(), shape.parts.len(), self.drive.panels());
        let columns = shape.columns - (panels - 1) * shape.panel;
        At {
            kernels: &self.kernels.0[part..],
            parts,
            steps: shape.parts[part].steps,
            tail: self.tail.filter(|_| part + 1 == parts),
            last_panel: panels - 1,
            last: lanes - (columns.next_multiple_of(lanes) - columns),
            sums_row: self.drive.step(),
        }
    }

    /// Some rows by all panels, in one part.
    fn tile(&self, at: &At<'_>, row: usize, table: &[usize], c_rows: &[usize], sums: &mut [f32]) {
        let (on, panel) = (self.on, self.drive.shape.panel);
        for p in self.panels.clone() {
            let last = p == at.last_panel;
            let Some(tile) = &at.kernels[((c_rows.len() - 1) * 2 + usize::from(last)) * at.parts] else { continue };
            let first = (row - self.first) * at.sums_row + (p - self.panels.start) * panel;
            tile.run(Call {
                table,
                steps: at.steps,
                a: on.a,
                zeros: on.zeros,
                b: on.b,
                b_at: self.b_at + p * on.b_panel,
                c_rows,
                c: on.c,
                column: p * panel,
                tail_column: at.tail.map_or(0, |t| t.1) + p * panel,
                a_step: on.a_step,
                b_row: on.b_row,
                last: at.last,
                tail: at.tail.map(|t| t.0),
                sums: sums.get_mut(first..).unwrap_or_default(),
                sums_row: at.sums_row,
                ahead: Ahead::default(),
            });
        }
    }
}

/// What the tiles of a task share in a part of the reduction.
struct At<'t> {
    /// Kernels from the part's first on: by rows, by whether the panel is the last, and by part.
    kernels: &'t [Option<Tile>],
    parts: usize,
    steps: usize,
    tail: Option<(&'t TailArgs<'t>, usize)>,
    last_panel: usize,
    /// Columns of the last vector of the last panel.
    last: usize,
    sums_row: usize,
}

impl Shape {
    /// Whether sums pass through scratch.
    fn carries(&self) -> bool {
        self.parts.len() > 1 || self.tail.is_none()
    }
}

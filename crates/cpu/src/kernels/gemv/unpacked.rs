//! Products of many rows with weights of 8 or 4 bits: a part of a panel is unpacked to L2 and met by all rows of a block.
//!
//! Without groups, whole numbers become bf16 exactly where the source has that type, and scales are the tail's; with groups they become f32,
//! scaled. Tasks are a panel by a block of rows.

use super::call::{Column, Unpacker, multiply};
use super::shared::Finished;
use super::weights::Lie;
use super::{Factor, Operands, Request};
use crate::hardware::K_STEPS;
use crate::kernels::scratch::{Part, Scratch, booked, for_workers};
use crate::kernels::tile::{self, List, MOST_ROWS, ONE_STRIP, Spec, Start, Strip, Tile, max_rows, max_vectors};
use oxidnn_jit::ir::Elem;
use oxidnn_jit::kernels::unpack::{Stored, Unpack};
use oxidnn_runtime::{Buf, Executor, Skip};
use oxidnn_spec::{DataType, Error};

/// Depth that is unpacked at a time.
const DEPTH: usize = K_STEPS.unpacked;
/// Rows of a block.
const ROWS: usize = 240;
/// Numbers that are converted at a time while the source is copied.
const LINE: usize = 256;
/// Distances of rows that are multiples of this put the rows of a block into few sets of the caches.
const ALIAS: usize = 1024;

/// A planned product.
#[derive(Clone, Debug)]
pub struct Unpacked {
    request: Request,
    /// Whether bf16 pairs are multiplied; else f32.
    pairs: bool,
    /// Whether rows of the source have the numbers that are multiplied, in order, and are read where they are.
    in_place: bool,
    /// Columns of a panel, and the distance of panels in bytes.
    panel: (usize, usize),
    /// Rows of the tallest tile, and tiles of a block.
    tall: usize,
    block: usize,
}

/// A product with its kernels.
#[derive(Debug)]
pub struct ReadyUnpacked {
    product: Unpacked,
    set: Set,
}

#[derive(Debug)]
struct Set {
    unpacker: Unpacker,
    /// By number of rows: those of a tile, and one more.
    tiles: [Option<Tile>; 2],
}

/// Numbers of scratch: the source and its sums by group, tables of scales and zero points, and what workers own.
struct Lens {
    a: usize,
    a_sums: usize,
    tables: [usize; 2],
    workers: usize,
}

/// What tasks share in an execution.
struct Shared<'a> {
    on: &'a Operands<'a>,
    a: Buf<'a>,
    a_sums: &'a [f32],
    factors: [Option<Column<'a>>; 2],
}

impl Unpacked {
    /// Plans it; `natural` is the distance of rows in bytes where the source has plain f32 or bf16 numbers, contiguous along the depth.
    ///
    /// # Errors
    /// What it does not do.
    pub fn new(request: Request, natural: Option<usize>) -> Result<Unpacked, Skip> {
        let Request { isa, weights, grouped, rows, .. } = request;
        let lanes = isa.width().lanes();
        let Lie::Panels { columns, distance } = weights.lie else { return Err(Skip::Layout("of weights: not in panels".into())) };
        if !matches!(weights.stored, Stored::S8 | Stored::U8 | Stored::S4 | Stored::U4) || columns / lanes > max_vectors(isa) {
            return Err(Skip::DataType("weights that are not of 8 or 4 bits, in panels of tiles".into()));
        }
        if weights.k == 0 || weights.n == 0 || rows == 0 {
            return Err(Skip::Shape("nothing to multiply"));
        }
        if grouped.is_some_and(|g| !g.size.is_multiple_of(weights.stored.in_word()) || !weights.k.is_multiple_of(g.size)) {
            return Err(Skip::Attr("groups of weights that share words".into()));
        }
        let pairs = request.bf16 && isa.bf16 && grouped.is_none();
        let row = natural.filter(|_| if pairs { weights.k.is_multiple_of(2) } else { !request.bf16 });
        let in_order = !pairs || weights.stored.bits() > 4;
        let in_place = in_order && row.is_some_and(|row| !row.is_multiple_of(ALIAS) || rows <= MOST_ROWS);
        let tall = max_rows(isa, columns / lanes).min(rows);
        let tiles = rows.div_ceil(tall);
        let block = tiles.div_ceil(tiles.div_ceil(ROWS / tall));
        Ok(Unpacked { request, pairs, in_place, panel: (columns, distance), tall, block })
    }

    /// Type of the numbers of the source that is taken in place.
    pub fn word_type(request: &Request) -> DataType {
        if request.bf16 { DataType::Bf16 } else { DataType::F32 }
    }

    /// Words of a row of the source's copy: an odd number of lines of the cache, which spreads rows over its sets.
    fn a_row(&self) -> usize {
        let words = if self.pairs { self.request.weights.k.div_ceil(2) } else { self.request.weights.k };
        words.next_multiple_of(16) | 16
    }

    /// Numbers of scratch; `None` on overflow.
    fn lens(&self) -> Option<Lens> {
        let Request { weights, batches, rows, grouped, zero, .. } = self.request;
        let table = |factor: Option<Factor>, size: usize| match factor {
            Some(Factor::Table) => (weights.k / size).checked_mul(self.request.padded_columns()),
            _ => Some(0),
        };
        let tables = grouped.map_or(Some([0; 2]), |g| Some([table(g.scale, g.size)?, table(g.zero, g.size)?]))?;
        let a = if self.in_place { 0 } else { batches.checked_mul(rows)?.checked_mul(self.a_row())? };
        let worker = DEPTH.checked_add(self.block * self.tall)?.checked_mul(self.panel.0)?;
        let a_sums = if zero { batches.checked_mul(rows)? } else { 0 };
        Some(Lens { a, a_sums, tables, workers: for_workers(self.request.workers, worker)? })
    }

    /// Bytes of scratch; `None` on overflow.
    pub fn scratch_bytes(&self) -> Option<usize> {
        let Lens { a, a_sums, tables: [scales, zeros], workers } = self.lens()?;
        booked(&[a, a_sums, scales, zeros, workers])
    }

    /// Makes the kernels.
    ///
    /// # Errors
    /// [`Error::Runtime`] when code cannot be made.
    pub fn build(&self) -> Result<ReadyUnpacked, Error> {
        let Request { isa, rows, .. } = self.request;
        let vectors = self.panel.0 / isa.width().lanes();
        let product = if self.pairs { tile::Product::Bf16 } else { tile::Product::F32 };
        let tile = |rows: usize| Tile::get(isa, &Spec { start: Start::Load, ..Spec::new(product, rows, vectors) });
        let (each, more) = self.heights();
        let tiles = [Some(tile(each)?), if more > 0 { Some(tile(each + 1)?) } else { None }];
        debug_assert!(rows >= each);
        let set = Set { unpacker: Unpacker::get(isa, self.unpack_spec())?, tiles };
        Ok(ReadyUnpacked { product: self.clone(), set })
    }

    fn unpack_spec(&self) -> Unpack {
        let Request { isa, weights, grouped, .. } = self.request;
        let elem = |factor: Option<Factor>| factor.map(Factor::elem);
        let (scale, zero): (Option<Elem>, Option<Elem>) = grouped.map_or((None, None), |g| (elem(g.scale), elem(g.zero)));
        Unpack { stored: weights.stored, pairs: self.pairs, line: (self.panel.0 / isa.width().lanes()) as u8, scale, zero }
    }

    fn tiles(&self) -> usize {
        self.request.rows.div_ceil(self.tall)
    }

    /// Rows of a tile, and how many tiles (the first ones) have one more.
    fn heights(&self) -> (usize, usize) {
        (self.request.rows / self.tiles(), self.request.rows % self.tiles())
    }

    /// First row of a tile.
    fn row_of(&self, tile: usize) -> usize {
        let (each, more) = self.heights();
        tile * each + tile.min(more)
    }

    /// The source as rows of the tiles' numbers, batch by batch.
    fn copy<'p>(&self, on: &Operands<'_>, executor: &dyn Executor, part: Part<'p>) -> Buf<'p> {
        let Request { batches, rows, weights, .. } = self.request;
        let (to, a_row) = (part.into_buf(), self.a_row());
        let unpack = self.unpack_spec();
        let places: [[usize; 2]; 4] = std::array::from_fn(|n| unpack.places(n));
        executor.run(executor.threads(), batches * rows, &|_, index| {
            let pos = on.axes[0].at(&self.request.positions(on, index / rows)[0], index % rows);
            let (mut line, mut words) = ([0.0f32; LINE], [0u32; LINE / 2]);
            for first in (0..weights.k).step_by(LINE) {
                let count = LINE.min(weights.k - first);
                on.a.read(&on.axes[1], &pos, first, &mut line[..count]);
                if !self.pairs {
                    to.write(index * a_row + first, &line[..count]);
                    continue;
                }
                line[count..].fill(0.0);
                let words = &mut words[..count.next_multiple_of(weights.stored.in_word()) / 2];
                let each = weights.stored.in_word() / 2;
                for (words, line) in words.chunks_exact_mut(each).zip(line.chunks_exact(2 * each)) {
                    for (word, [low, high]) in words.iter_mut().zip(&places) {
                        *word = line[*low].to_bits() >> 16 | line[*high].to_bits() & 0xffff_0000;
                    }
                }
                to.write(index * a_row + first / 2, words);
            }
        });
        to
    }

    /// Address of the first number of a batch's first row of the source, and the distance of rows in bytes.
    fn a_place(&self, shared: &Shared<'_>, batch: usize) -> (usize, usize) {
        let base = shared.a.as_ptr().addr();
        if !self.in_place {
            let row = self.a_row() * 4;
            return (base + batch * self.request.rows * row, row);
        }
        let view = &shared.on.a.view;
        let size = if self.pairs { 2 } else { 4 };
        let row = shared.on.axes[0].stride(view).unwrap_or(0) as usize;
        (base + view.offset(&self.request.positions(shared.on, batch)[0]) * size, row * size)
    }

    /// A panel by a block of rows.
    fn task(&self, set: &Set, shared: &Shared<'_>, (batch, panel): (usize, usize), block: usize, scratch: &mut [f32]) {
        let Request { weights, .. } = self.request;
        let (columns, distance) = self.panel;
        let (unpacked, sums) = scratch.split_at_mut(DEPTH * columns);
        let tiles = block * self.block..self.tiles().min((block + 1) * self.block);
        let (first, end) = (self.row_of(tiles.start), self.row_of(tiles.end));
        let sums = &mut sums[..(end - first) * columns];
        sums.fill(0.0);
        let b = self.request.weights_of(shared.on, batch);
        let b = b.part(panel * distance, b.len() - panel * distance);
        let (a, a_row) = self.a_place(shared, batch);
        let (each, _) = self.heights();
        for k in (0..weights.k).step_by(DEPTH) {
            let depth = DEPTH.min(weights.k - k);
            self.unpack(set, shared, b, (panel * columns, k, depth), unpacked);
            let (size, steps) = if self.pairs {
                (2, if self.in_place { depth / 2 } else { depth.next_multiple_of(weights.stored.in_word()) / 2 })
            } else {
                (4, depth)
            };
            for tile in tiles.clone() {
                let (row, rows) = (self.row_of(tile), self.row_of(tile + 1) - self.row_of(tile));
                let mut words = [0; ONE_STRIP];
                let mut list = List::new(&mut words, rows);
                let sums_at = (row - first) * columns * 4;
                list.strip(Strip { tiles: 1, sums: sums_at, a_row, c_row: 0, to: (0, &[0; MOST_ROWS]) });
                list.tap(0, a + row * a_row + k * size, &std::array::from_fn(|i| i * a_row));
                let tile = set.tiles[rows - each].as_ref().unwrap_or_else(|| panic!("no kernel of {rows} rows was made"));
                multiply(tile, (list.strips(), steps), shared.a, unpacked, (sums, columns));
            }
        }
        let at = Finished { batch, row: first, rows: end - first, first: panel * columns, step: columns };
        self.request.finish(shared.on, shared.a_sums, at, sums);
    }

    /// Unpacks a part of a panel whose first column and depth are given, group by group.
    fn unpack(&self, set: &Set, shared: &Shared<'_>, b: Buf, (column, k, depth): (usize, usize, usize), to: &mut [f32]) {
        let Request { weights, grouped, .. } = self.request;
        let in_word = weights.stored.in_word();
        let columns = self.panel.0;
        let size = grouped.map_or(usize::MAX, |g| g.size);
        let elems = grouped.map_or([None; 2], |g| [g.scale, g.zero]);
        let mut at = k;
        while at < k + depth {
            let end = (k + depth).min((at / size + 1).saturating_mul(size));
            let factors = [0, 1].map(|i| {
                let (of, elem) = (shared.factors[i]?, elems[i]?.elem());
                let begin = at / size * of.row + column * elem.bytes();
                Some(of.buf.part(begin, of.buf.len() - begin))
            });
            let start = at / in_word * columns * 4;
            let to = &mut to[(at - k) * columns / if self.pairs { 2 } else { 1 }..];
            set.unpacker.run(b.part(start, b.len() - start), (end - at).div_ceil(in_word), factors, to);
            at = end;
        }
    }
}

impl ReadyUnpacked {
    /// Computes everything.
    ///
    /// # Errors
    /// [`Error::Runtime`] when scratch is short.
    pub fn run(&self, on: &Operands<'_>, executor: &dyn Executor, scratch: &mut Scratch<'_>) -> Result<(), Error> {
        let ReadyUnpacked { product, set } = self;
        let Lens { a, a_sums, tables: [scales, zeros], workers: each } =
            product.lens().ok_or_else(|| Error::Runtime("sizes beyond the address space".into()))?;
        let Request { workers, batches, grouped, .. } = product.request;
        let a = scratch.take(a)?;
        let a = if product.in_place { on.a.view.buf() } else { product.copy(on, executor, a) };
        let a_sums = product.request.sum_groups(on, scratch.take(a_sums)?, executor);
        let (scale, zero) = (grouped.and_then(|g| g.scale), grouped.and_then(|g| g.zero));
        let factors = [
            product.request.factor(on, (scale, &on.scale), on.factors[0], scratch.take(scales), executor)?,
            product.request.factor(on, (zero, &on.zero), on.factors[1], scratch.take(zeros), executor)?,
        ];
        let shared = Shared { on, a, a_sums, factors };
        let (panels, blocks) = (product.request.weights.n.div_ceil(product.panel.0), product.tiles().div_ceil(product.block));
        scratch.take(each)?.work(executor, workers, batches * panels * blocks, &|task, scratch| {
            let (block, rest) = (task % blocks, task / blocks);
            product.task(set, &shared, (rest / panels, rest % panels), block, scratch);
        });
        Ok(())
    }
}

//! The inner kernel of `dot` on the tile registers of AMX.
//!
//! `C[i][j] (+)= sum over taps and depth of A[i][k] * B[k][j]` for up to 32 rows and any number of panels. `A` is read in place, by two
//! tiles of up to 16 rows each at a constant stride (other rows are copied first, see [`gather`](super::gather)), `B` in the panels of the
//! other kernels: a line of them is 64 bytes for every 16 columns, and a tile takes lines at any stride. So weights that are packed once
//! serve vectors and tiles.
//!
//! Two tiles of `A`, two of `B` and the four of their products fill the eight registers: every load feeds two products, which take 16
//! cycles each, where a load takes 8 from L1 and about 22 from L2. With one tile of rows, it is multiplied by four of columns. Rows are
//! multiplied by every panel and stay in L1; panels, which are read once for these rows, are prefetched so as to bypass L1.
//!
//! Blocks prefetch what comes from beyond L2, since data come slowly from L3 if only tile loads ask for them: 4 KiB of a panel that a tile
//! of rows reads are a page, at whose begin the hardware prefetcher starts again.
//!
//! Code depends neither on depth nor on rows: these are shapes of registers ([`Shape::bytes`]), which [`Setup`] sets for many calls. Depths
//! that are not a multiple of 16 steps are cut into equal blocks, or end in a call with other shapes that continues the sums of the first.

use super::dot::{DotType, InitialSums, PrefetchMode, STREAM_BYTES};
use crate::ir::{Compare, Function, Int, Prefetch, Reuse, Tile, TileProduct};
use crate::isa::Isa;
use crate::key::Key;
use std::mem::offset_of;
use std::ptr;

#[cfg(test)]
mod tests;

/// Most rows of a tile, and most steps of a block.
pub const LINES: usize = 16;
/// Most rows of a kernel: two tiles.
pub const ROWS: usize = 2 * LINES;
/// Bytes of a line of a tile.
const LINE_BYTES: usize = 64;
/// Words of a tap in [`Args::taps`].
pub const TAP_WORDS: usize = 5;

/// The key of a kernel: everything that its code depends on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Tiles {
    /// Types.
    pub product: TileProduct,
    /// Tiles of rows: 1 or 2.
    pub tall: u8,
    /// Vectors of 16 columns that a panel has, 1 to 4.
    pub vectors: u8,
    /// Vectors in a line of a panel, at least as many.
    pub line: u8,
    /// The initial value of the sums.
    pub start: InitialSums,
    /// When panels are used again: soon where they, and the rows multiplied by them, stay in L1.
    pub panels: Reuse,
    /// What blocks prefetch.
    pub prefetch: PrefetchMode,
}

/// Arguments of a kernel.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Args {
    /// The taps, one after the other, [`TAP_WORDS`] words each: the offset added to the address of `B`; for each of the two tiles the address of
    /// the first row and the stride of its rows in bytes.
    pub taps: *const usize,
    /// Number of taps; 0 leaves the initial sums.
    pub count: usize,
    /// Bytes from the addresses of the rows of `A` to the first step.
    pub a_from: usize,
    /// Blocks of steps of every tap, and bytes of one in a row of `A` and in a panel of `B`.
    pub blocks: usize,
    /// See [`Args::blocks`].
    pub a_block: usize,
    /// See [`Args::blocks`].
    pub b_block: usize,
    /// Where the lines of the first panel begin.
    pub b: *const u8,
    /// Number of panels, at least 1.
    pub panels: usize,
    /// Bytes from a panel to the next.
    pub b_panel: usize,
    /// Number of tiles that are multiplied by the panels, at least 1, and bytes from the rows and the sums of one to those of the next.
    pub tiles: usize,
    /// See [`Args::tiles`].
    pub a_tile: usize,
    /// Bytes from the end of a tile's last panel to the first panel of the next tile.
    pub b_tile: usize,
    /// See [`Args::tiles`].
    pub sums_tile: usize,
    /// First sum, f32 or i32; those of a panel follow those of the panel before.
    pub sums: *mut u8,
    /// Distance of the rows of sums in bytes.
    pub sums_row: usize,
    /// Bytes from the first row of sums to the first one of the lower tile.
    pub sums_lower: usize,
    /// Where memory begins that is wanted in L2: [`PREFETCH_BYTES`] bytes in every block. Any address will do.
    pub prefetch: usize,
    /// Bytes from there to the next block's prefetch, in this tile and in those that follow.
    pub prefetch_step: usize,
}

impl Args {
    /// Of no call yet.
    pub const NONE: Args = Args {
        taps: ptr::null(),
        count: 0,
        a_from: 0,
        blocks: 0,
        a_block: 0,
        b_block: 0,
        b: ptr::null(),
        panels: 0,
        b_panel: 0,
        tiles: 0,
        a_tile: 0,
        b_tile: 0,
        sums_tile: 0,
        sums: ptr::null_mut(),
        sums_row: 0,
        sums_lower: 0,
        prefetch: 0,
        prefetch_step: 0,
    };
}

/// How far ahead [`PrefetchMode::NextBlock`] prefetches: a block of depth of the widest panel.
const NEXT_BYTES: i32 = (4 * LINES * LINE_BYTES) as i32;

/// Bytes that a block prefetches, see [`Args::prefetch`].
pub const PREFETCH_BYTES: usize = 512;

/// Sizes of the registers' operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Rows of the upper and the lower tile; the latter is not used where it has none.
    pub rows: [usize; 2],
    /// Steps of a block.
    pub steps: usize,
}

impl Shape {
    /// The configuration given to the processor.
    pub fn bytes(&self) -> [u8; 64] {
        let mut bytes = [0; 64];
        bytes[0] = 1;
        let tall = self.rows[1] > 0;
        for tile in 0..8 {
            // Tiles of rows by steps, and which rows a tile has; the others are lines of `B`.
            let (is_a, row) = match (tall, tile) {
                (true, 0..4) => (false, Some(tile / 2)),
                (true, 4 | 5) => (true, Some(tile - 4)),
                (false, 0..4) => (false, Some(0)),
                (false, 4) => (true, Some(0)),
                _ => (false, None),
            };
            bytes[16 + 2 * tile] = if is_a { 4 * self.steps as u8 } else { LINE_BYTES as u8 };
            bytes[48 + tile] = row.map_or(self.steps, |i| self.rows[i]) as u8;
        }
        bytes
    }
}

/// An operation on all registers; the argument holds the bytes of their [`Shape`]. This is its key.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Setup {
    /// Gives them their shapes, until this thread says otherwise.
    Shape,
    /// A product of no consequence, which changes register 0: the unit goes to sleep when it has had nothing to do for a thousand cycles or two, and
    /// takes 700 to wake.
    Awake(TileProduct),
    /// Gives them up: a thread that holds no tiles is switched faster.
    Release,
}

impl Key for Setup {
    type Args = [u8; 64];

    fn name(&self, isa: Isa) -> String {
        format!("tiles.{self:?}.{}", isa.name()).to_lowercase().replace('(', ".").replace(')', "")
    }

    fn write(&self, f: &mut Function) {
        let shape = f.arguments();
        match self {
            Setup::Shape => f.tile_config(shape.at(0)),
            Setup::Awake(product) => f.tile_dot(*product, Tile(0), Tile(4), Tile(6)),
            Setup::Release => f.tile_release(),
        }
    }
}

/// The tiles that multiply types, where there are any.
pub fn product(types: DotType) -> Option<TileProduct> {
    match types {
        DotType::Bf16 => Some(TileProduct::Bf16),
        DotType::U8S8 => Some(TileProduct::U8S8),
        DotType::S8S8 => Some(TileProduct::S8S8),
        DotType::F32 | DotType::F16 | DotType::U8S7 | DotType::S8S7 | DotType::I16 => None,
    }
}

/// Code that the kernel interleaves with its products: the epilogue, and other vector work.
pub trait Interleaved {
    /// Whether the sums of a block are stored one by one among the first products of the next block. The stores of four tiles in a row, which
    /// wait for their products, leave the scheduler no room for the loads and products behind them.
    const DEFERS: bool;

    /// Before the first product of a block.
    fn begin(&mut self, _f: &mut Function, _block: Block) {}
    /// Stores the sums of a tile of rows by a vector of the block before, if that has these, which are still in their register.
    fn store(&mut self, _f: &mut Function, _sum: (usize, usize)) {}
    /// After every step of blocks of depth.
    fn step(&mut self, _f: &mut Function) {}
    /// While the sums of a block are in registers.
    fn leave(&mut self, f: &mut Function, block: Block);
    /// After the last panel of a tile.
    fn next(&mut self, _f: &mut Function) {}
    /// After the last block, whose sums are still in registers if stores are deferred.
    fn end(&mut self, _f: &mut Function) {}
}

/// The kernel's registers of addresses and strides.
#[derive(Clone, Copy)]
struct At {
    /// The arguments: so many bytes from an address.
    args: (Int, usize),
    /// Bytes from the addresses of rows to their first step.
    from: Int,
    /// The panel, and its sums.
    b: Int,
    sums: Int,
    b_row: Int,
    /// The next prefetch, and the distance to the ones that follow.
    prefetch: Int,
    ahead_step: Int,
    /// If stores are deferred: 2 if registers hold the sums of a block, else 1.
    held: Option<Int>,
}

/// Stores sums to [`Args::sums`].
struct StoreSums(At);

impl Interleaved for StoreSums {
    const DEFERS: bool = false;

    fn leave(&mut self, f: &mut Function, block: Block) {
        let (rows, row) = self.0.sums(f, block);
        block.store(f, &rows, row);
    }
}

/// A block of a panel: two tiles of rows by up to two vectors of columns, or one by up to four, whose sums are in registers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Block {
    /// Tiles of rows.
    pub tall: usize,
    /// The first of its vectors among those of the panel, and their number.
    pub first: usize,
    /// See [`Block::first`].
    pub vectors: usize,
}

impl Block {
    /// The register of the sums of a tile of rows by a vector.
    fn sum(self, row: usize, vector: usize) -> Tile {
        Tile((2 * row + vector) as u8)
    }

    /// All tiles of rows by all vectors, with the registers of their sums.
    fn sums(self) -> impl Iterator<Item = (usize, usize, Tile)> {
        (0..self.tall).flat_map(move |i| (0..self.vectors).map(move |j| (i, j, self.sum(i, j))))
    }

    /// Stores the sums, those of every tile of rows from its own place on.
    pub fn store(self, f: &mut Function, rows: &[Int], row: Int) {
        self.sums().for_each(|(i, j, _)| self.store_sum(f, (i, j), rows[i], row));
    }

    /// Stores the sums of a tile of rows by a vector; `to` is the place of the tile of rows.
    pub fn store_sum(self, f: &mut Function, (i, j): (usize, usize), to: Int, row: Int) {
        f.tile_store(to, row, (j * LINE_BYTES) as i32, self.sum(i, j));
    }
}

/// A block of depth of a tap.
struct Step {
    block: Block,
    /// If stores are deferred: 1 or 2 (see [`At::held`]) in the first step of a block, else 0.
    first: Option<Int>,
    /// For every tile of rows the next address, and the stride; and the next lines of the panel.
    rows: Vec<(Int, Int)>,
    b: Int,
}

impl At {
    /// Loads a field of the arguments, where it is used: few registers of addresses are left beside an epilogue.
    fn argument(&self, f: &mut Function, field: usize) -> Int {
        f.load_int(self.args.0.at((self.args.1 + field) as i32))
    }

    /// The first sums of a block of the panel for every tile of rows, and the distance of rows.
    fn sums(&self, f: &mut Function, block: Block) -> (Vec<Int>, Int) {
        let upper = f.address(self.sums.at((block.first * LINE_BYTES) as i32));
        let mut rows = vec![upper];
        if block.tall == 2 {
            let lower = self.argument(f, offset_of!(Args, sums_lower));
            f.add(lower, upper);
            rows.push(lower);
        }
        (rows, self.argument(f, offset_of!(Args, sums_row)))
    }
}

impl Key for Tiles {
    type Args = Args;

    /// The name in dumps and profiles, such as `tiles.bf16bf16f32.32x64.avx512_amx`.
    fn name(&self, isa: Isa) -> String {
        let types = match self.product {
            TileProduct::Bf16 => "bf16bf16f32",
            TileProduct::U8S8 => "u8s8s32",
            TileProduct::S8S8 => "s8s8s32",
        };
        format!("tiles.{types}.{}x{}.{}", usize::from(self.tall) * LINES, usize::from(self.vectors) * LINES, isa.name())
    }

    /// Sums are stored to [`Args::sums`].
    fn write(&self, f: &mut Function) {
        let args = f.arguments();
        let at = self.begin::<StoreSums>(f, (args, 0));
        self.tiles(f, &at, &mut StoreSums(at));
    }
}

impl Tiles {
    /// The blocks of a panel.
    pub fn blocks(&self) -> impl DoubleEndedIterator<Item = Block> + use<> {
        let (tall, all) = (usize::from(self.tall), usize::from(self.vectors));
        let max_vectors = if tall == 1 { 4 } else { 2 };
        (0..all).step_by(max_vectors).map(move |first| Block { tall, first, vectors: max_vectors.min(all - first) })
    }

    /// Writes the kernel with other work interleaved. The arguments are so many bytes from an address.
    pub fn write_interleaved<I: Interleaved>(&self, f: &mut Function, args: (Int, usize), interleaved: &mut I) {
        let at = self.begin::<I>(f, args);
        self.tiles(f, &at, interleaved);
    }

    fn begin<I: Interleaved>(&self, f: &mut Function, args: (Int, usize)) -> At {
        let argument = |f: &mut Function, field: usize| f.load_int(args.0.at((args.1 + field) as i32));
        let [from, b, sums] = [offset_of!(Args, a_from), offset_of!(Args, b), offset_of!(Args, sums)].map(|field| argument(f, field));
        let b_row = f.int(i64::from(self.line) * LINE_BYTES as i64);
        let [ahead, ahead_step] = [offset_of!(Args, prefetch), offset_of!(Args, prefetch_step)].map(|field| argument(f, field));
        let held = I::DEFERS.then(|| f.int(1));
        At { args, from, b, sums, b_row, prefetch: ahead, ahead_step, held }
    }

    fn tiles(&self, f: &mut Function, at: &At, interleaved: &mut impl Interleaved) {
        let (tiles, sums) = (at.argument(f, offset_of!(Args, tiles)), f.copy(at.sums));
        f.repeat_some(tiles, |f| {
            let panels = at.argument(f, offset_of!(Args, panels));
            f.repeat_some(panels, |f| {
                for block in self.blocks() {
                    self.products(f, at, block, interleaved);
                    interleaved.leave(f, block);
                    if let Some(held) = at.held {
                        let full = f.int(2);
                        f.set(held, full);
                    }
                }
                let bytes = at.argument(f, offset_of!(Args, b_panel));
                f.add(at.b, bytes);
                f.add(at.sums, i32::from(self.line) * LINE_BYTES as i32);
            });
            let [b_tile, a_tile, sums_tile] =
                [offset_of!(Args, b_tile), offset_of!(Args, a_tile), offset_of!(Args, sums_tile)].map(|field| at.argument(f, field));
            f.add(at.b, b_tile);
            f.add(at.from, a_tile);
            f.add(sums, sums_tile);
            f.set(at.sums, sums);
            interleaved.next(f);
        });
        interleaved.end(f);
    }

    /// The initial value of sums.
    fn start(&self, f: &mut Function, at: &At, block: Block, (i, j): (usize, usize)) {
        let sum = block.sum(i, j);
        if self.start == InitialSums::Zero {
            return f.tile_zero(sum);
        }
        // The unit rounds every product into the sums that it holds, whatever they began with.
        let (rows, row) = at.sums(f, block);
        f.tile_load(sum, (rows[i], (j * LINE_BYTES) as i32), row, Reuse::Temporal);
    }

    /// Prefetches the lines of a vector of a panel that come after the next ones, if these are not prefetched by address.
    fn prefetch(&self, f: &mut Function, b: Int, vector: usize) {
        let (to, bytes) = match self.prefetch {
            PrefetchMode::Panels => (Prefetch::L2, STREAM_BYTES),
            PrefetchMode::NextBlock => (Prefetch::L1, NEXT_BYTES),
            PrefetchMode::Given | PrefetchMode::Nothing => return,
        };
        let lines = (0..LINES).map(|line| ((line * usize::from(self.line) + vector) * LINE_BYTES) as i32 + bytes);
        lines.for_each(|at| f.prefetch(to, b.at(at)));
    }

    /// The sums of a block of a panel.
    fn products(&self, f: &mut Function, at: &At, block: Block, interleaved: &mut impl Interleaved) {
        interleaved.begin(f, block);
        let first = at.held.map(|held| f.copy(held));
        if first.is_none() {
            block.sums().for_each(|(i, j, _)| self.start(f, at, block, (i, j)));
        }
        let (taps, taps_left) = (at.argument(f, offset_of!(Args, taps)), at.argument(f, offset_of!(Args, count)));
        f.repeat(taps_left, |f| {
            let word = |f: &mut Function, i: usize| f.load_int(taps.at((i * size_of::<usize>()) as i32));
            let b = word(f, 0);
            f.add(b, at.b);
            let rows: Vec<(Int, Int)> = (0..block.tall).map(|i| (word(f, 1 + 2 * i), word(f, 2 + 2 * i))).collect();
            f.add(taps, (TAP_WORDS * size_of::<usize>()) as i32);
            rows.iter().for_each(|(a, _)| f.add(*a, at.from));
            let blocks = at.argument(f, offset_of!(Args, blocks));
            let step = Step { block, first, rows, b };
            f.repeat(blocks, |f| {
                self.step(f, at, &step, interleaved);
                if self.prefetch == PrefetchMode::Given {
                    (0..PREFETCH_BYTES).step_by(LINE_BYTES).for_each(|byte| f.prefetch(Prefetch::L2, at.prefetch.at(byte as i32)));
                    f.add(at.prefetch, at.ahead_step);
                }
                first.iter().for_each(|first| f.and(*first, 0));
                interleaved.step(f);
            });
        });
    }

    /// The products of a step. Loads are two products ahead, so that few wait for the stores of sums.
    fn step(&self, f: &mut Function, at: &At, step: &Step, interleaved: &mut impl Interleaved) {
        let (block, first) = (step.block, step.first);
        let (tall, count) = (block.tall, block.vectors);
        let widest = self.blocks().map(|block| block.vectors).max().unwrap_or(0);
        let a_tile = |i: usize| Tile(4 + i as u8);
        let b_tile = |j: usize| Tile(if tall == 2 { 6 + j as u8 } else { 5 + (j % 3) as u8 });
        let [a_block, b_block] = [offset_of!(Args, a_block), offset_of!(Args, b_block)].map(|field| at.argument(f, field));
        let load = |f: &mut Function, i: usize| match i.checked_sub(1) {
            Some(j) if j < count => {
                self.prefetch(f, step.b, block.first + j);
                f.tile_load(b_tile(j), (step.b, ((block.first + j) * LINE_BYTES) as i32), at.b_row, self.panels);
            }
            _ => {
                let i = usize::from(i > 0);
                let (a, row) = step.rows[i];
                f.tile_load(a_tile(i), (a, 0), row, Reuse::Temporal);
                f.add(a, a_block);
            }
        };
        // The first rows, the vectors, the other rows.
        let mut loads = 0..tall + count;
        loads.by_ref().take(2).for_each(|i| load(f, i));
        for (i, j) in (0..tall).flat_map(|i| (0..widest).map(move |j| (i, j))) {
            loads.next().into_iter().for_each(|i| load(f, i));
            if let Some(first) = first {
                f.when(Compare::Gt, first, 1, |f| interleaved.store(f, (i, j)));
            }
            if j < count {
                first.iter().for_each(|first| f.when(Compare::Gt, *first, 0, |f| self.start(f, at, block, (i, j))));
                f.tile_dot(self.product, block.sum(i, j), a_tile(i), b_tile(j));
            }
        }
        f.add(step.b, b_block);
    }
}

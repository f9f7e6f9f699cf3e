//! The inner kernel of `dot` on the tile registers of AMX.
//!
//! The same sums over the same operands as [`dot`](super::dot) (address lists, `A` in place, `B` packed for 16 or 32 columns), by blocks of 16
//! steps: a tile of `A` is 16 rows of 64 bytes, a tile of `B` 16 lines of 16 columns. Two tiles of either and the four of their products fill
//! the eight registers: every load feeds two products, which is what the loads can keep up with. Parts whose depth is no multiple of 16 steps
//! end in a part of their own, copied and filled with zeros.

use super::dot::{Product, Start};
use crate::ir::{Function, Int, Tile, TileProduct};
use crate::isa::Isa;
use std::mem::offset_of;

#[cfg(test)]
mod tests;

/// Lines of a tile, and steps of a block.
pub const LINES: usize = 16;
/// Bytes of a line of a tile.
const LINE: usize = 64;

/// What a kernel is made for. This is its key.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Tiles {
    /// Types.
    pub product: TileProduct,
    /// Rows of the tile, 1 to 32.
    pub rows: u8,
    /// Columns of the tile, in vectors of 16: 1 or 2.
    pub vectors: u8,
    /// What the sums begin with.
    pub start: Start,
    /// True when the kernel sets the tile registers up and gives them up; else the caller has done so, with [`Tiles::shapes`].
    pub configures: bool,
}

/// Where one part of the reduction lies.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    /// First step of the first row of `A`.
    pub a: *const u8,
    /// First step of the panel of `B`.
    pub b: *const u8,
}

/// Arguments of a kernel.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Args {
    /// The parts.
    pub pairs: *const Pair,
    /// Number of parts; none leaves what the sums begin with.
    pub count: usize,
    /// Blocks of 16 steps in every part.
    pub blocks: usize,
    /// First sum.
    pub c: *mut u8,
    /// Distance of the rows of `C` in bytes.
    pub c_row: usize,
    /// Distance of the rows of `A` in bytes.
    pub a_row: usize,
}

impl Tiles {
    /// The function of [`Args`]. Needs [`Isa::amx`].
    pub fn function(&self) -> Function {
        let mut f = Function::new(Isa::AMX);
        self.write(&mut f);
        f
    }

    /// The name in dumps and profiles.
    pub fn name(&self) -> String {
        let types = match self.product {
            TileProduct::Bf16 => "bf16bf16f32",
            TileProduct::U8S8 => "u8s8s32",
        };
        format!("dot.{types}.{}x{}.{}", self.rows, usize::from(self.vectors) * LINES, Isa::AMX.name())
    }

    /// The types as the other kernels name them.
    pub fn types(&self) -> Product {
        match self.product {
            TileProduct::Bf16 => Product::Bf16,
            TileProduct::U8S8 => Product::U8S8,
        }
    }

    /// The shapes of the tile registers: sums, two tiles of `A`, two of `B`.
    pub fn shapes(&self) -> [u8; 64] {
        let mut shapes = [0; 64];
        shapes[0] = 1;
        for tile in 0..8 {
            shapes[16 + 2 * tile] = LINE as u8;
            shapes[48 + tile] = match tile {
                0..4 => self.lines(tile / 2) as u8,
                4 | 5 => self.lines(tile - 4) as u8,
                _ => LINES as u8,
            };
        }
        shapes
    }

    /// Rows in the upper or lower tiles; a tile that is not used has one.
    fn lines(&self, i: usize) -> usize {
        usize::from(self.rows).saturating_sub(i * LINES).clamp(1, LINES)
    }

    fn uppers(&self) -> usize {
        usize::from(self.rows).div_ceil(LINES).clamp(1, 2)
    }

    fn each_sum(&self, mut body: impl FnMut(usize, usize, Tile)) {
        for i in 0..self.uppers() {
            for j in 0..usize::from(self.vectors) {
                body(i, j, Tile((2 * i + j) as u8));
            }
        }
    }

    fn write(&self, f: &mut Function) {
        let args = f.arguments();
        if self.configures {
            let shapes = f.constant(&self.shapes());
            f.tile_config(shapes);
        }
        let (c, c_row, second) = self.output(f, args);
        self.each_sum(|i, j, sum| match self.start {
            Start::Zero => f.tile_zero(sum),
            Start::Load => f.tile_load(sum, [c, second][i], c_row, (j * LINE) as i32),
        });
        let a_row = f.load_int(args.at(offset_of!(Args, a_row) as i32));
        let b_row = f.int(i64::from(self.vectors) * LINE as i64);
        let pairs = f.load_int(args.at(offset_of!(Args, pairs) as i32));
        let count = f.load_int(args.at(offset_of!(Args, count) as i32));
        f.repeat(count, |f| {
            let a = f.load_int(pairs.at(offset_of!(Pair, a) as i32));
            let b = f.load_int(pairs.at(offset_of!(Pair, b) as i32));
            f.add(pairs, size_of::<Pair>() as i32);
            let lower = below(f, a, a_row);
            let blocks = f.load_int(args.at(offset_of!(Args, blocks) as i32));
            f.repeat(blocks, |f| self.block(f, [a, lower], a_row, b, b_row));
        });
        self.each_sum(|i, j, sum| f.tile_store([c, second][i], c_row, (j * LINE) as i32, sum));
        if self.configures {
            f.tile_release();
        }
    }

    /// Pointers to the upper and lower sums, and the distance of their rows.
    fn output(&self, f: &mut Function, args: Int) -> (Int, Int, Int) {
        let c = f.load_int(args.at(offset_of!(Args, c) as i32));
        let row = f.load_int(args.at(offset_of!(Args, c_row) as i32));
        let second = below(f, c, row);
        (c, row, second)
    }

    fn block(&self, f: &mut Function, a: [Int; 2], a_row: Int, b: Int, b_row: Int) {
        let vectors = usize::from(self.vectors);
        for j in 0..vectors {
            f.tile_load(Tile(6 + j as u8), b, b_row, (j * LINE) as i32);
        }
        for (i, a) in a.into_iter().take(self.uppers()).enumerate() {
            f.tile_load(Tile(4 + i as u8), a, a_row, 0);
            for j in 0..vectors {
                f.tile_dot(self.product, Tile((2 * i + j) as u8), Tile(4 + i as u8), Tile(6 + j as u8));
            }
            f.add(a, LINE as i32);
        }
        f.add(b, (vectors * LINE * LINES) as i32);
    }
}

/// The place 16 rows below another.
fn below(f: &mut Function, at: Int, row: Int) -> Int {
    let far = f.copy(row);
    f.shl(far, 4);
    f.add(far, at);
    far
}

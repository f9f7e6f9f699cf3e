//! Tiles of AMX.

use super::memory::{load, load_into, store_from};
use super::{Arg, Machine, Step};
use crate::asm::Op;

/// Lines and bytes of a line that a tile can have.
const LINES: usize = 16;
const LINE_BYTES: usize = 64;

/// The tile registers.
#[derive(Debug, Default)]
pub(super) struct Tiles {
    tiles: [Tile; 8],
    is_set_up: bool,
}

/// A tile; what is outside of its shape is 0.
#[derive(Clone, Copy, Debug)]
struct Tile {
    lines: usize,
    /// Bytes of a line.
    bytes: usize,
    data: [[u8; LINE_BYTES]; LINES],
}

impl Default for Tile {
    fn default() -> Tile {
        Tile { lines: 0, bytes: 0, data: [[0; LINE_BYTES]; LINES] }
    }
}

impl Tile {
    fn word(&self, line: usize, word: usize) -> [u8; 4] {
        let mut bytes = [0; 4];
        bytes.copy_from_slice(&self.data[line][4 * word..4 * word + 4]);
        bytes
    }
}

impl Machine {
    pub(super) fn tile(&mut self, op: Op, step: &Step) {
        let [to, a, b, _] = step.operands;
        match op {
            Op::TileConfig => self.tiles = Tiles::shaped(&load(self.place(to))),
            Op::TileRelease => self.tiles = Tiles::default(),
            Op::TileZero => self.tiles.get(to).data = [[0; LINE_BYTES]; LINES],
            Op::TileLoad | Op::TileLoadPassing => {
                let (mut address, stride) = self.lines_at(a);
                let tile = self.tiles.get(to);
                tile.data = [[0; LINE_BYTES]; LINES];
                for line in &mut tile.data[..tile.lines] {
                    load_into(address, &mut line[..tile.bytes]);
                    address = address.wrapping_add(stride);
                }
            }
            Op::TileStore => {
                let (mut address, stride) = self.lines_at(to);
                let tile = self.tiles.get(a);
                for line in &tile.data[..tile.lines] {
                    store_from(address, &line[..tile.bytes]);
                    address = address.wrapping_add(stride);
                }
            }
            op => self.tiles.dot(op, [to, a, b]),
        }
    }

    /// The address of the first line, and the distance between lines: the index of the operand.
    fn lines_at(&self, arg: Arg) -> (u64, u64) {
        let Arg::Mem(place) = arg else { unreachable!("{arg:?} is no memory") };
        let stride = place.index.map_or(0, |(r, scale)| self.ints[r as usize].wrapping_mul(u64::from(scale)));
        (self.address(place).wrapping_sub(stride), stride)
    }
}

impl Tiles {
    fn shaped(config: &[u8; 64]) -> Tiles {
        assert_eq!(config[0], 1, "the palette of a tile configuration");
        let mut tiles = Tiles { is_set_up: true, ..Tiles::default() };
        for (i, tile) in tiles.tiles.iter_mut().enumerate() {
            tile.bytes = usize::from(u16::from_le_bytes([config[16 + 2 * i], config[17 + 2 * i]]));
            tile.lines = usize::from(config[48 + i]);
            assert!(tile.bytes <= LINE_BYTES && tile.lines <= LINES, "tile {i} of {} lines of {} bytes", tile.lines, tile.bytes);
        }
        tiles
    }

    fn get(&mut self, arg: Arg) -> &mut Tile {
        let Arg::Tile(t) = arg else { unreachable!("{arg:?} is no tile") };
        assert!(self.is_set_up, "tiles have no shapes");
        let tile = &mut self.tiles[usize::from(t)];
        assert!(tile.lines > 0 && tile.bytes > 0, "tile {t} has no shape");
        tile
    }

    /// `c += a * b`
    fn dot(&mut self, op: Op, [c, a, b]: [Arg; 3]) {
        let (mut c_tile, a, b) = (*self.get(c), *self.get(a), *self.get(b));
        let fits = c_tile.lines == a.lines && c_tile.bytes == b.bytes && a.bytes == 4 * b.lines;
        assert!(fits, "{op:?} of tiles of other shapes: {:?}", [&c_tile, &a, &b].map(|t| (t.lines, t.bytes)));
        for m in 0..c_tile.lines {
            for n in 0..c_tile.bytes / 4 {
                let old = c_tile.word(m, n);
                let pairs = (0..b.lines).map(|k| (a.word(m, k), b.word(k, n)));
                let new = if op == Op::TileDotBf16 { dot_bf16(old, pairs) } else { dot_bytes(op, old, pairs) };
                c_tile.data[m][4 * n..4 * n + 4].copy_from_slice(&new);
            }
        }
        *self.get(c) = c_tile;
    }
}

/// The sums of even and of odd products are separate until the end.
fn dot_bf16(old: [u8; 4], pairs: impl Iterator<Item = ([u8; 4], [u8; 4])>) -> [u8; 4] {
    let mut sums = [0.0; 2];
    for (a, b) in pairs {
        for (half, sum) in sums.iter_mut().enumerate() {
            let value = |x: [u8; 4]| flushed(f32::from_bits(u32::from(u16::from_le_bytes([x[2 * half], x[2 * half + 1]])) << 16));
            *sum = flushed(value(a).mul_add(value(b), *sum));
        }
    }
    flushed(flushed(f32::from_le_bytes(old)) + flushed(sums[0] + sums[1])).to_le_bytes()
}

fn dot_bytes(op: Op, old: [u8; 4], pairs: impl Iterator<Item = ([u8; 4], [u8; 4])>) -> [u8; 4] {
    let left = |x: u8| if op == Op::TileDotU8S8 { i32::from(x) } else { i32::from(x as i8) };
    let mut sum = i32::from_le_bytes(old);
    for (a, b) in pairs {
        sum = (0..4).fold(sum, |sum, i| sum.wrapping_add(left(a[i]) * i32::from(b[i] as i8)));
    }
    sum.to_le_bytes()
}

/// Subnormal numbers become zeros of their sign.
pub(super) fn flushed(x: f32) -> f32 {
    if x.is_subnormal() { 0.0_f32.copysign(x) } else { x }
}

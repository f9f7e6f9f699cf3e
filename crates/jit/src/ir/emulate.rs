//! Tiles of AMX as memory: each instruction as a loop over lines by vectors, which is slow and exact.
//!
//! Turns a function written for a processor with AMX into one that computes the same on a processor with AVX-512, VNNI and BF16, so that
//! kernels and their callers run where there are no tiles. The tile shapes are those of the configuration: a line is as long as it says,
//! and the bytes behind it are zeros.

use super::{Accumulate, Addr, Binary, Function, Int, Pred, Src, Tile, TileProduct, Val};
use crate::asm::Width;

/// Bytes of a line, and of a tile.
const LINE_BYTES: i32 = 64;
const TILE_BYTES: i32 = 16 * LINE_BYTES;
/// Bytes of the configuration, which is before the tiles.
const CONFIG_BYTES: i32 = 64;
/// Offsets in the configuration: the bytes of a line (`colsb`) and the number of lines (`rows`) of the first tile.
const COLSB_OFFSET: i32 = 16;
const ROWS_OFFSET: i32 = 48;
/// The bits that make signed bytes unsigned.
const FLIP: i32 = 0x8080_8080_u32 as i32;

pub(super) fn config(f: &mut Function, shapes: Addr) {
    let area = f.tiles.unwrap_or_else(|| f.local((CONFIG_BYTES + 8 * TILE_BYTES) as usize));
    f.tiles = Some(area);
    let shapes = f.load(Width::W512, shapes);
    f.store(area.at(0), shapes);
}

/// The memory of the tiles; before it is set up nothing is computed, as the processor would refuse to.
fn area(f: &mut Function) -> Int {
    f.tiles.unwrap_or_else(|| f.int(0))
}

fn first_line(f: &mut Function, tile: Tile) -> Int {
    let area = area(f);
    f.address(area.at(CONFIG_BYTES + i32::from(tile.0) * TILE_BYTES))
}

fn lines(f: &mut Function, tile: Tile) -> Int {
    let area = area(f);
    f.load_u8(area.at(ROWS_OFFSET + i32::from(tile.0)))
}

/// Words of a line.
fn words(f: &mut Function, tile: Tile) -> Int {
    let area = area(f);
    let words = f.load_u16(area.at(COLSB_OFFSET + 2 * i32::from(tile.0)));
    f.shr(words, 2);
    words
}

fn line_mask(f: &mut Function, tile: Tile) -> Pred {
    let words = words(f, tile);
    f.first_lanes(words)
}

pub(super) fn zero(f: &mut Function, tile: Tile) {
    let (to, zero) = (first_line(f, tile), f.zero(Width::W512));
    (0..TILE_BYTES).step_by(LINE_BYTES as usize).for_each(|line| f.store(to.at(line), zero));
}

pub(super) fn load(f: &mut Function, tile: Tile, from: Addr, stride: Int) {
    zero(f, tile);
    let (from, to, mask, lines) = (f.address(from), first_line(f, tile), line_mask(f, tile), lines(f, tile));
    f.repeat(lines, |f| {
        let line = f.load_masked(from.at(0), mask);
        f.store(to.at(0), line);
        f.add(from, stride);
        f.add(to, LINE_BYTES);
    });
}

pub(super) fn store(f: &mut Function, to: Addr, stride: Int, tile: Tile) {
    let (from, to, mask, lines) = (first_line(f, tile), f.address(to), line_mask(f, tile), lines(f, tile));
    f.repeat(lines, |f| {
        let line = f.load(Width::W512, from.at(0));
        f.store_masked(to.at(0), line, mask);
        f.add(from, LINE_BYTES);
        f.add(to, stride);
    });
}

pub(super) fn dot(f: &mut Function, op: TileProduct, [c, a, b]: [Tile; 3]) {
    let (sums, left, count) = (first_line(f, c), first_line(f, a), lines(f, c));
    f.repeat(count, |f| {
        let sum = f.load(Width::W512, sums.at(0));
        let (step, line, steps) = (f.copy(left), first_line(f, b), words(f, a));
        f.repeat(steps, |f| {
            let right = f.load(Width::W512, line.at(0));
            step_of(f, op, sum, step.at(0), right);
            f.add(step, 4);
            f.add(line, LINE_BYTES);
        });
        f.store(sums.at(0), sum);
        f.add(sums, LINE_BYTES);
        f.add(left, LINE_BYTES);
    });
}

/// `sum += left * right` for the step of a row at `left` and a line.
fn step_of(f: &mut Function, op: TileProduct, sum: Val, left: Addr, right: Val) {
    match op {
        TileProduct::Bf16 => f.accumulate(Accumulate::DotBf16, sum, right, Src::Splat(left)),
        TileProduct::U8S8 => {
            let left = f.splat(Width::W512, left);
            f.accumulate(Accumulate::DotU8S8, sum, left, right);
        }
        TileProduct::S8S8 => {
            // With 128 more in every byte of the row, and without that again.
            let flip = f.splat_i32(Width::W512, FLIP);
            let (flipped, surplus) = (f.binary(Binary::Xor, flip, Src::Splat(left)), f.zero(Width::W512));
            f.accumulate(Accumulate::DotU8S8, sum, flipped, right);
            f.accumulate(Accumulate::DotU8S8, surplus, flip, right);
            f.update(Binary::SubI32, sum, surplus);
        }
    }
}

use super::*;
use crate::kernels::cases::Case;
use crate::kernels::dot::{Dot, Stride};
use crate::testing::{check, golden};

#[test]
fn tiles_hold_the_sums() {
    for product in [TileProduct::Bf16, TileProduct::U8S8] {
        for (rows, vectors) in [(32, 2), (32, 1), (16, 2), (1, 1), (17, 2), (23, 1), (5, 2)] {
            for start in [Start::Zero, Start::Load] {
                for (parts, blocks) in [(1, 1), (3, 2), (0, 1), (2, 5)] {
                    let tiles = Tiles { product, rows, vectors, start, configures: true };
                    let same = Dot { start, a_row: Stride::Given, ..Dot::new(tiles.types(), rows, vectors) };
                    Case { dot: same, isa: Isa::AMX, parts, steps: blocks * LINES, last: 0 }.run_as(tiles.function(), LINES);
                }
            }
        }
    }
}

#[test]
fn golden_listings() {
    for product in [TileProduct::Bf16, TileProduct::U8S8] {
        let tiles = Tiles { product, rows: 32, vectors: 2, start: Start::Zero, configures: true };
        let compiled = tiles.function().finish_recording().unwrap();
        check(&compiled.code, Isa::AMX);
        golden(&tiles.name(), &compiled);
    }
}

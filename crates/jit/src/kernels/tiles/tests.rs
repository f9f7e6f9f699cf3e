use super::*;
use crate::kernels::cases::Case;
use crate::kernels::dot::Dot;
use crate::testing::{check, golden, run};

#[test]
fn tiles_hold_the_sums() {
    for product in [TileProduct::Bf16, TileProduct::U8S8] {
        for (rows, vectors) in [(32, 2), (32, 1), (16, 2), (1, 1), (17, 2), (23, 1), (5, 2)] {
            for start in [Start::Zero, Start::Load] {
                for (parts, blocks) in [(1, 1), (3, 2), (0, 1), (2, 5)] {
                    let tiles = Tiles { product, rows, vectors, start, configures: true };
                    let dot = Dot { start, ..Dot::new(tiles.types(), rows, vectors) };
                    let case = Case { dot, isa: Isa::AMX, taps: parts, steps: blocks * LINES, last: 0 };
                    sums_are_right(&tiles, &case, blocks);
                }
            }
        }
    }
}

fn sums_are_right(tiles: &Tiles, case: &Case, blocks: usize) {
    let rows = usize::from(tiles.rows);
    let left: Vec<Vec<u8>> = (0..case.taps).map(|t| (0..rows).flat_map(|i| case.left(t, i).0).collect()).collect();
    let right: Vec<Vec<u8>> = (0..case.taps).map(|t| case.right(t).0).collect();
    let pairs: Vec<Pair> = left.iter().zip(&right).map(|(a, b)| Pair { a: a.as_ptr(), b: b.as_ptr() }).collect();
    let c_row = usize::from(tiles.vectors) * LINES + 3;
    let mut sums = case.sums(c_row);
    let args =
        Args { pairs: pairs.as_ptr(), count: pairs.len(), blocks, c: sums.as_mut_ptr().cast(), c_row: c_row * 4, a_row: blocks * LINE };
    if run(tiles.function(), &args) {
        case.check(&sums, c_row);
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

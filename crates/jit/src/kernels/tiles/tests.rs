use super::*;
use crate::kernels::cases::Case;
use crate::kernels::dot::{Dot, LineStride};
use crate::testing::{golden, run};

/// Bytes that the addresses of rows are before their first steps.
const A_FROM: usize = 12;

/// Types as the other kernels name them.
fn types(product: TileProduct) -> DotType {
    DotType::ALL.into_iter().find(|p| super::product(*p) == Some(product)).unwrap()
}

fn tiles(product: TileProduct, tall: u8, vectors: u8) -> Tiles {
    Tiles { product, tall, vectors, line: vectors, start: InitialSums::Zero, panels: Reuse::Temporal, prefetch: PrefetchMode::Given }
}

#[test]
fn tiles_hold_the_sums() {
    for isa in [Isa::AMX] {
        for product in TileProduct::ALL {
            for rows in [[16, 16], [16, 7], [3, 3], [16, 0], [1, 0], [11, 0]] {
                for (vectors, line) in [(1, 1), (2, 2), (3, 4), (4, 4), (3, 3)] {
                    for (taps, blocks, steps) in [(1, 1, 16), (3, 2, 16), (0, 1, 16), (2, 3, 12), (1, 1, 1)] {
                        for start in [InitialSums::Zero, InitialSums::Load] {
                            let tall = if rows[1] > 0 { 2 } else { 1 };
                            let panels = if start == InitialSums::Load { Reuse::NonTemporal } else { Reuse::Temporal };
                            let ahead = if start == InitialSums::Load {
                                [PrefetchMode::Panels, PrefetchMode::NextBlock][blocks % 2]
                            } else {
                                PrefetchMode::Given
                            };
                            let kernel = Tiles { line, start, panels, prefetch: ahead, ..tiles(product, tall, vectors) };
                            let dot = Dot::new(types(product), (rows[0] + rows[1]) as u8, vectors);
                            let dot = Dot { start, line: LineStride::Packed(line), ..dot };
                            sums_are_right(&kernel, &Case { dot, isa, taps, steps: steps * blocks, last: 0 }, Shape { rows, steps });
                        }
                    }
                }
            }
        }
    }
}

/// Two panels of equal operands.
fn sums_are_right(kernel: &Tiles, case: &Case, shape: Shape) {
    let rows: usize = shape.rows.iter().sum();
    let line = usize::from(kernel.line) * LINE_BYTES;
    let left: Vec<Vec<Vec<u8>>> = (0..case.taps)
        .map(|t| {
            // The lower rows lie elsewhere, at another distance.
            let half = |rows: std::ops::Range<usize>, more: usize| {
                rows.flat_map(|i| [case.left(t, i).0, vec![0xff; more]].concat()).collect::<Vec<u8>>()
            };
            vec![half(0..shape.rows[0], 0), half(shape.rows[0]..rows, 12)]
        })
        .collect();
    let right: Vec<Vec<u8>> = (0..case.taps).map(|t| case.right(t).0.repeat(2)).collect();
    let base = 0x1000_usize;
    let mut taps = Vec::new();
    for (left, right) in left.iter().zip(&right) {
        taps.push(right.as_ptr().addr().wrapping_sub(base));
        for (half, more) in left.iter().zip([0, 12]) {
            taps.extend([half.as_ptr().addr().wrapping_sub(A_FROM), case.steps * 4 + more]);
        }
    }
    let sums_row = 2 * usize::from(kernel.line) * LINES + 3;
    let mut sums = case.sums(sums_row);
    let before = sums.clone();
    let shapes = shape.bytes();
    let args = Args {
        taps: taps.as_ptr(),
        count: case.taps,
        a_from: A_FROM,
        blocks: case.steps / shape.steps,
        a_block: shape.steps * 4,
        b_block: shape.steps * line,
        b: std::ptr::without_provenance(base),
        panels: 2,
        b_panel: right.first().map_or(0, |b| b.len() / 2),
        tiles: 1,
        a_tile: 0,
        b_tile: 0,
        sums_tile: 0,
        sums: sums.as_mut_ptr().cast(),
        sums_row: sums_row * 4,
        sums_lower: shape.rows[0] * sums_row * 4,
        prefetch: 1 << 20,
        prefetch_step: 192,
    };
    run(Setup::Shape.function(case.isa), &shapes);
    run(kernel.function(case.isa), &args);
    run(Setup::Release.function(case.isa), &shapes);
    // The columns of a line that the panel does not have stay as they were, and the case knows panels that follow each other.
    let (columns, line) = (usize::from(kernel.vectors) * LINES, usize::from(kernel.line) * LINES);
    for (i, (sum, before)) in sums.iter().zip(&before).enumerate() {
        let column = i % sums_row;
        assert!(column / line < 2 && column % line < columns || sum == before, "{kernel:?}");
    }
    for panel in 0..2 {
        let one: Vec<u32> = (0..rows).flat_map(|i| sums[i * sums_row + panel * line..][..columns].to_vec()).collect();
        let at = |i: usize| i / columns * sums_row + panel * line + i % columns;
        case.check_at(&one, columns, at);
    }
}

/// The processor refuses products whose shapes do not agree.
#[test]
fn shapes_agree() {
    for rows in [[16, 16], [16, 1], [9, 0]] {
        for steps in [1, 12, 16] {
            let bytes = Shape { rows, steps }.bytes();
            let (row, lines) = (|t: usize| usize::from(bytes[16 + 2 * t]), |t: usize| usize::from(bytes[48 + t]));
            let pairs: &[_] = if rows[1] > 0 { &[(0, 4, 6), (1, 4, 7), (2, 5, 6), (3, 5, 7)] } else { &[(0, 4, 5), (1, 4, 6), (3, 4, 5)] };
            for &(c, a, b) in pairs {
                assert_eq!((lines(c), row(c), row(a), lines(b)), (lines(a), row(b), 4 * steps, steps), "{c} += {a} * {b}");
            }
        }
    }
}

#[test]
fn golden_listings() {
    let far = Tiles { panels: Reuse::NonTemporal, ..tiles(TileProduct::U8S8, 2, 2) };
    let kept = TileProduct::ALL.map(|product| tiles(product, 2, 4)).into_iter().chain([tiles(TileProduct::Bf16, 1, 4), far]);
    for kernel in kept {
        assert_eq!(golden(&kernel, Isa::AMX).inner_spills, 0, "{kernel:?}");
    }
    for setup in [Setup::Shape, Setup::Awake(TileProduct::Bf16), Setup::Release] {
        golden(&setup, Isa::AMX);
    }
}

use super::super::block::TileConfig;
use super::*;
use crate::kernels::microkernel::{EpilogueArgs, Panels, Prefetch};
use crate::kernels::scratch::lend;
use oxidnn_jit::ir::Reuse;
use oxidnn_jit::kernels::dot::{InitialSums, PrefetchMode};
use oxidnn_jit::kernels::tiles::Shape;
use std::panic::{AssertUnwindSafe, catch_unwind};

fn key(product: TileProduct, tall: u8, vectors: u8) -> FusedKey {
    let tiles = Tiles {
        product,
        tall,
        vectors,
        line: vectors,
        start: InitialSums::Zero,
        panels: Reuse::NonTemporal,
        prefetch: PrefetchMode::Given,
    };
    FusedKey { tiles, epilogue: Arc::new(Epilogue::raw()), masked: false, asks: tall == 2, watches: tall == 2 }
}

/// Four tiles of two rows by two panels of 16 columns: two lines of one, then a line of two.
fn run(isa: Isa, [a, b, sums, c]: &mut [Vec<f32>; 4]) {
    let registers = TileConfig::get(isa, TileProduct::Bf16).unwrap();
    let finisher = FusedKernel::get(isa, &key(TileProduct::Bf16, 2, 1)).unwrap();
    let (steps, row) = (4, 2 * LINES);
    let mut held = registers.hold();
    held.set(Shape { rows: [1, 1], steps });
    let (first, to) = (a.as_ptr().addr(), c.as_ptr().addr());
    let (a, b, c) = (lend(a), lend(b), lend(c));
    let epilogue = EpilogueCall { c, epilogue: Some(&EpilogueArgs::NONE), ..EpilogueCall::raw(&[], 0, Panels::one(0), (&mut [], 0)) };
    let mut pipeline = Pipeline::new(lend(sums), &Epilogue::raw(), row, &epilogue);
    for (tile, tiles, lines) in [(0, 1, 2), (2, 2, 1)] {
        let at = |i: usize| first + (2 * tile + i) * steps * 4;
        let mut call = Call {
            taps: &[0, at(0), 0, at(1), 0],
            blocks: 1,
            from: 0,
            source: a,
            gathered: &[],
            b,
            b_at: 0,
            b_panel: steps * LINES * 4,
            panels: 2,
            tiles,
            a_tile: 2 * steps * 4,
            b_tile: 0,
            sums_tile: 0,
            lines,
            a_line: 2 * steps * 4,
            sums: &mut [],
            sums_row: 0,
            prefetch: Prefetch::default(),
            prefetch_line: 0,
        };
        let rows = [0, 1].map(|i| to + (2 * tile + i) * row * 4);
        pipeline.run(
            &finisher,
            &held,
            &mut call,
            &Results { each: rows.len(), rows: &rows, tile: 2 * row * 4, line: 2 * row * 4, column: 0 },
        );
    }
    pipeline.end();
}

/// Operands and results of all tiles of a call are checked before the first one is multiplied, and results are right.
#[test]
fn pipelines_refuse_operands_that_are_too_short() {
    let Some(isa) = [Isa::AMX, Isa::AMX.emulated()].into_iter().find(|isa| isa.is_present()) else { return };
    let lens = [8 * 4, 2 * 4 * LINES, Pipeline::LEN, 8 * 2 * LINES];
    // A pair of ones in bf16.
    let one = f32::from_bits(0x3f80_3f80);
    let mut memory = lens.map(|len| vec![one; len]);
    run(isa, &mut memory);
    assert!(memory[3].iter().all(|sum| *sum == 8.0), "{:?}", memory[3]);
    for short in 0..lens.len() {
        let mut memory: [Vec<f32>; 4] = std::array::from_fn(|i| vec![one; lens[i] - usize::from(i == short)]);
        assert!(catch_unwind(AssertUnwindSafe(|| run(isa, &mut memory))).is_err(), "runs with piece {short} of {lens:?} too short");
        assert!(memory[3][4 * 2 * LINES..].iter().all(|v| *v == one), "has written results of the last call without piece {short}");
    }
}

/// Sums in memory, or zeros, are converted and stored as results.
#[test]
fn sums_in_memory_are_finished() {
    let Some(isa) = [Isa::AMX, Isa::AMX.emulated()].into_iter().find(|isa| isa.is_present()) else { return };
    // Blocks of two vectors and of one.
    let finisher = FusedKernel::get(isa, &key(TileProduct::U8S8, 2, 3)).unwrap();
    let (rows, row, step) = (7, 2 * 3 * LINES, 2 * 3 * LINES + 5);
    let sums: Vec<f32> = (0..rows * step).map(|i| f32::from_bits(i as u32)).collect();
    for from in [Some((&sums[..], step)), None] {
        let (mut c, mut left) = (vec![1.0; rows * row], vec![0.0; Pipeline::LEN]);
        let to: Vec<usize> = (0..rows).map(|i| c.as_ptr().addr() + i * row * 4).collect();
        let memory = lend(&mut c);
        let epilogue =
            EpilogueCall { c: memory, epilogue: Some(&EpilogueArgs::NONE), ..EpilogueCall::raw(&[], 0, Panels::one(0), (&mut [], 0)) };
        let mut pipeline = Pipeline::new(lend(&mut left), &Epilogue::raw(), row, &epilogue);
        pipeline.finish(&finisher, 2, from, &Results { each: to.len(), rows: &to, tile: 0, line: 0, column: 0 });
        for (i, x) in c.iter().enumerate() {
            let wanted = if from.is_some() { i / row * step + i % row } else { 0 };
            assert_eq!(*x, wanted as f32, "{i}");
        }
    }
}

/// On any processor, without executing them.
#[test]
fn kernels_of_all_shapes_are_generated() {
    for (product, (tall, vectors)) in
        TileProduct::ALL.iter().flat_map(|p| [(1, 4), (1, 3), (2, 1), (2, 3), (2, 4)].map(|shape| (*p, shape)))
    {
        let key = FusedKey { masked: vectors % 2 == 1, ..key(product, tall, vectors) };
        assert!(key.function(Isa::AMX).finish().is_ok(), "{key:?}");
        for block in key.tiles.blocks() {
            assert!(Flush(key.clone(), block).function(Isa::AMX).finish().is_ok(), "{key:?}, {block:?}");
        }
    }
}

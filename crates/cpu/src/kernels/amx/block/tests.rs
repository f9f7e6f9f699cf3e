use super::*;
use crate::kernels::scratch::lend;
use oxidnn_jit::ir::Reuse;
use oxidnn_jit::kernels::dot::{InitialSums, PrefetchMode};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// AMX, emulated where this processor has none.
fn isa() -> Option<Isa> {
    [Isa::AMX, Isa::AMX.emulated()].into_iter().find(|isa| isa.is_present())
}

/// Calls `run` with slices of `lens` elements, and with each of them one element short, which must be refused with nothing written.
fn refuses(what: &str, lens: [usize; 3], run: impl Fn(&mut [Vec<f32>; 3])) {
    run(&mut lens.map(|len| vec![1.0; len]));
    for short in 0..lens.len() {
        let mut memory: [Vec<f32>; 3] = std::array::from_fn(|i| vec![1.0; lens[i] - usize::from(i == short)]);
        assert!(catch_unwind(AssertUnwindSafe(|| run(&mut memory))).is_err(), "{what} runs with piece {short} of {lens:?} too short");
        assert!(memory.iter().flatten().all(|v| *v == 1.0), "{what} has written before it refused piece {short}");
    }
}

#[test]
fn blocks_refuse_operands_that_are_too_short() {
    let Some(isa) = isa() else { return };
    let registers = TileConfig::get(isa, TileProduct::Bf16).unwrap();
    let kernel = Tiles {
        product: TileProduct::Bf16,
        tall: 2,
        vectors: 1,
        line: 1,
        start: InitialSums::Zero,
        panels: Reuse::NonTemporal,
        prefetch: PrefetchMode::Given,
    };
    let block = Block::get(isa, kernel).unwrap();
    let (shape, blocks) = (Shape { rows: [3, 2], steps: 4 }, 2);
    let steps = shape.steps * blocks;
    // Rows of both tiles follow each other in the source, and those of a gathered copy of the lower tile's.
    let lens = [5 * steps, 2 * steps * LINES, 5 * 2 * LINES];
    for gathered in [false, true] {
        refuses("a block", lens, |[a, b, sums]| {
            let mut held = registers.hold();
            held.set(shape);
            let mut copy = a.clone();
            let (upper, lower) = (a.as_ptr().addr(), a.as_ptr().addr() + 3 * steps * 4);
            let taps = if gathered { copy.as_ptr().addr() + 3 * steps * 4 } else { lower };
            let taps = [0, upper, steps * 4, taps, steps * 4];
            let source = if gathered { lend(&mut a[..3 * steps]) } else { lend(a) };
            let call = Call {
                taps: &taps,
                blocks,
                from: 0,
                source,
                gathered: if gathered { &mut copy } else { &mut [] },
                b: lend(b),
                b_at: 0,
                b_panel: steps * LINES * 4,
                panels: 2,
                tiles: 1,
                a_tile: 0,
                b_tile: 0,
                sums_tile: 5 * 2 * LINES,
                lines: 1,
                a_line: 0,
                sums,
                sums_row: 2 * LINES,
                prefetch: Prefetch::default(),
                prefetch_line: 0,
            };
            block.run(&held, call);
        });
    }
}

#[test]
fn gathering_refuses_rows_that_are_too_short() {
    let Some(isa) = isa() else { return };
    let (words, step) = (LINES + 3, Gatherer::row(LINES + 3));
    let gatherer = Gatherer::get(isa, 0).unwrap();
    refuses("gathered rows", [2 * words, words, 3 * step], |[source, zeros, to]| {
        let first = source.as_ptr().addr();
        let rows = [first, first + words * 4, zeros.as_ptr().addr()];
        gatherer.run(&rows, (0, words), [lend(source), lend(zeros)], to);
    });
}

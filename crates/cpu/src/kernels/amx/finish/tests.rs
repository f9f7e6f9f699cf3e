use super::super::block::Registers;
use super::*;
use crate::kernels::scratch::lend;
use crate::kernels::tile::{Ahead, Panels, TailArgs};
use oxidnn_jit::ir::Reuse;
use oxidnn_jit::kernels::dot::Start;
use oxidnn_jit::kernels::tiles::Shape;
use std::panic::{AssertUnwindSafe, catch_unwind};

fn key(product: TileProduct, tall: u8, vectors: u8) -> Finish {
    let tiles = Tiles { product, tall, vectors, line: vectors, start: Start::Zero, panels: Reuse::Far };
    Finish { tiles, tail: Arc::new(Tail::raw()), masked: false }
}

/// Two tiles of two rows by two panels of 16 columns, one after the other.
fn run(isa: Isa, [a, b, sums, c]: &mut [Vec<f32>; 4]) {
    let registers = Registers::get(isa, TileProduct::Bf16).unwrap();
    let finisher = Finisher::get(isa, &key(TileProduct::Bf16, 2, 1)).unwrap();
    let (steps, row) = (4, 2 * LINES);
    let mut held = registers.hold();
    held.set(Shape { rows: [1, 1], steps });
    let (first, to) = (a.as_ptr().addr(), c.as_ptr().addr());
    let (a, b, c) = (lend(a), lend(b), lend(c));
    let tail = TailCall { c, tail: Some(&TailArgs::NONE), ..TailCall::raw(&[], 0, Panels::one(0), (&mut [], 0)) };
    let mut pipeline = Pipeline::new(lend(sums), &Tail::raw(), row, &tail);
    for tile in [0, 2] {
        let at = |i: usize| first + (tile + i) * steps * 4;
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
            sums: &mut [],
            sums_row: 0,
            ahead: Ahead::default(),
        };
        pipeline.run(&finisher, &held, &mut call, (&[to + tile * row * 4, to + (tile + 1) * row * 4], 0));
    }
    pipeline.flush();
}

/// The second tile's operands and results are checked before it is multiplied, and the first one's results are as they are to be.
#[test]
fn pipelines_refuse_operands_that_are_too_short() {
    let Some(isa) = Isa::host_within(Isa::EMULATED_AMX).filter(|isa| isa.amx) else { return };
    let lens = [4 * 4, 2 * 4 * LINES, Pipeline::LEN, 4 * 2 * LINES];
    // A pair of bf16 ones.
    let one = f32::from_bits(0x3f80_3f80);
    let mut memory = lens.map(|len| vec![one; len]);
    run(isa, &mut memory);
    assert!(memory[3].iter().all(|sum| *sum == 8.0), "{:?}", memory[3]);
    for short in 0..lens.len() {
        let mut memory: [Vec<f32>; 4] = std::array::from_fn(|i| vec![one; lens[i] - usize::from(i == short)]);
        assert!(catch_unwind(AssertUnwindSafe(|| run(isa, &mut memory))).is_err(), "runs with piece {short} of {lens:?} too short");
        assert!(memory[3][2 * 2 * LINES..].iter().all(|v| *v == one), "has written the second tile's results without piece {short}");
    }
}

use super::*;
use crate::CpuTarget;
use crate::kernels::gemv::{PanelRun, Row};
use crate::kernels::scratch::lend;
use oxidnn_jit::kernels::gemv::{Groups, Scales};
use oxidnn_jit::kernels::unpack::{Decode, Stored};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Calls `run` with slices of `lens` elements, and with each of them one element short, which must be refused with nothing written.
fn refuses(what: &str, lens: &[usize], run: impl Fn(&mut [Vec<f32>])) {
    let memory =
        |short: usize| -> Vec<Vec<f32>> { lens.iter().enumerate().map(|(i, len)| vec![1.0; len - usize::from(i == short)]).collect() };
    run(&mut memory(lens.len()));
    for short in 0..lens.len() {
        let mut memory = memory(short);
        assert!(catch_unwind(AssertUnwindSafe(|| run(&mut memory))).is_err(), "{what} runs with piece {short} of {lens:?} too short");
        assert!(memory.iter().flatten().all(|v| *v == 1.0), "{what} has written before it refused piece {short}");
    }
}

#[test]
fn gemv_refuses_operands_that_are_too_short() {
    let Some(isa) = CpuTarget::host().jit else { return };
    let (lanes, decode, rows) = (isa.width().lanes(), Decode { stored: Stored::F32, pairs: false }, 2);
    let groups = Some(Groups { scale: Some(Elem::F32), zero: Some(Elem::F32) });
    // Two groups of three lines, and two columns or rows of three vectors and five words: elements of `A`, `B`, `C` and the per-group
    // operands.
    let cases = [
        (
            Layout::Panel { line: 2, vectors: 1, panels: 1, groups },
            vec![6 * rows, 11 * lanes, (rows - 1) * 3 * lanes + lanes, 5 * lanes, 5 * lanes, 2 * rows],
        ),
        (
            Layout::Panel { line: 1, vectors: 1, panels: 2, groups },
            vec![6 * rows, 4 * lanes + 6 * lanes, (rows - 1) * 3 * lanes + 2 * lanes, 6 * lanes, 6 * lanes, 2 * rows],
        ),
        (Layout::Rows { lines: 2, masked: true }, vec![4 * rows, 3 * 4 * lanes + 3 * lanes + 5, 4 * rows * lanes]),
        (Layout::Columns { columns: 2, masked: true, scales: None }, vec![7 * lanes + 5, 3 * 4 * lanes + 3 * lanes + 5, 2 * rows + lanes]),
        (
            Layout::Columns { columns: 2, masked: false, scales: Some(Scales { elem: Elem::F32, in_vector: 2 }) },
            vec![10 * lanes, 3 * 4 * lanes + 6 * lanes, 2 * rows + lanes, 3 * 4 * lanes + 4],
        ),
    ];
    for (layout, lens) in cases {
        let kernel = Ready::get(isa, Gemv { decode, rows: rows as u8, layout }).unwrap();
        refuses(&format!("{layout:?}"), &lens, |memory| {
            let [a, b, c, quantised @ ..] = memory else { panic!("three operands") };
            let mut of_groups = quantised.iter_mut();
            let mut column = || of_groups.next().map(|numbers| Column { buf: lend(numbers), row: 4 * lanes * 4, dtype: DataType::F32 });
            let (scale, zero) = (column(), column());
            let a_sums = of_groups.next().map_or(&[][..], |sums| sums);
            // Two parts of three vectors if scaled.
            let parts = if matches!(layout, Layout::Columns { scales: Some(_), .. }) { 2 } else { 0 };
            let on = On { a, a_row: 4 * lanes, b: lend(b), b_row: 4 * lanes * 4, groups: 2, count: 3, parts, last: 5, scale, zero, a_sums };
            kernel.run(&on, c, 3 * lanes);
        });
    }
}

#[test]
fn rows_refuse_operands_that_are_too_short() {
    let Some(isa) = CpuTarget::host().jit else { return };
    let columns = 2 * isa.width().lanes();
    let row = Row::get(isa, columns).unwrap();
    // Two panels of three lines.
    refuses("a row", &[3, 6 * columns, 2 * columns], |memory| {
        let [a, b, c] = memory else { panic!("three operands") };
        row.add((lend(a), 0), 3, &PanelRun { buf: lend(b), at: 0, step: 3 * columns * 4, count: 2 }, c);
    });
}

#[test]
fn unpacking_refuses_operands_that_are_too_short() {
    let Some(isa) = CpuTarget::host().jit else { return };
    let lanes = isa.width().lanes();
    let spec = Unpack { stored: Stored::S8, pairs: false, line: 2, scale: Some(Elem::F32), zero: Some(Elem::F32) };
    let kernel = Unpacker::get(isa, spec).unwrap();
    let columns = 2 * lanes;
    refuses("unpacked bytes", &[3 * columns, 3 * 4 * columns, columns, columns], |memory| {
        let [from, to, scale, zero] = memory else { panic!("four operands") };
        kernel.run(lend(from), 3, [Some(lend(scale)), Some(lend(zero))], to);
    });
}

#[test]
fn unpacking_rows_refuses_operands_that_are_too_short() {
    let Some(isa) = CpuTarget::host().jit else { return };
    let columns = 2 * isa.width().lanes();
    let kernel = RowUnpacker::get(isa, UnpackRows { stored: Stored::S8, pairs: false, line: 2, scale: true, zero: true }).unwrap();
    // Three rows of a byte for each column, two rows' bytes apart.
    refuses("unpacked rows", &[5 * columns / 4, 3 * columns], |memory| {
        let [from, to] = memory else { panic!("two operands") };
        kernel.run(WeightRows { buf: lend(from), start: 0, distance: 2 * columns }, 3, &[[1.0; MAX_COLUMNS]; 2], to);
    });
}

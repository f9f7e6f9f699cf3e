//! Entries of generated code that take slices and buffers: with memory as long as they say they run, with any of it one number shorter they refuse before
//! anything is read or written. Tiles, cells and rows, whose calls are built from shapes, have such tests beside them.

use oxidnn_cpu::CpuTarget;
use oxidnn_cpu::kernels::columns::{Act, Sweep};
use oxidnn_cpu::kernels::transpose::{Matrix, Squares};
use oxidnn_cpu::kernels::winograd::{POSITIONS, RESULTS, Transforms};
use oxidnn_jit::Isa;
use oxidnn_jit::ir::Elem;
use oxidnn_runtime::Allocation;
use std::panic::{AssertUnwindSafe, catch_unwind};

type Call = dyn Fn(&mut [Vec<f32>]);

/// An entry: its name, the numbers in each piece of memory that it takes, and a call with these.
struct Entry {
    name: String,
    lens: Vec<usize>,
    call: Box<Call>,
}

fn entry(name: impl Into<String>, lens: &[usize], call: impl Fn(&mut [Vec<f32>]) + 'static) -> Entry {
    Entry { name: name.into(), lens: lens.to_vec(), call: Box::new(call) }
}

/// As much memory of its own as `numbers` has.
fn buffer(numbers: &[f32]) -> Allocation {
    Allocation::host(size_of_val(numbers)).unwrap()
}

fn sweep(isa: Isa, act: Act) -> Entry {
    let (width, rows) = (2 * isa.width().lanes() + 3, 5);
    let (of_sums, of_all) = act.lines();
    let matrices = act.matrices().len();
    let lens: Vec<usize> = (0..matrices).map(|_| rows * width).chain((0..of_all).map(|_| width)).collect();
    let sweep = Sweep::get(isa, act, Elem::F32, width).unwrap();
    entry(format!("{act:?}"), &lens, move |memory| {
        let (of_matrices, lines) = memory.split_at_mut(matrices);
        let of_matrices: Vec<Allocation> = of_matrices.iter().map(|m| buffer(m)).collect();
        let bufs: Vec<_> = of_matrices.iter().map(|m| (m.region().bytes().unwrap(), 0)).collect();
        let (sums, numbers) = lines.split_at_mut(of_sums);
        let mut sums: Vec<&mut [f32]> = sums.iter_mut().map(|s| &mut s[..]).collect();
        let numbers: Vec<&[f32]> = numbers.iter().map(|n| &n[..]).collect();
        sweep.run(&bufs, 0..rows, &mut sums, &numbers);
    })
}

fn entries(isa: Isa) -> Vec<Entry> {
    let lanes = isa.width().lanes();
    let (rows, columns) = (lanes + 3, 2 * lanes + 1);
    let acts = [Act::Sum, Act::Squares, Act::Products, Act::Scale { bounded: true }, Act::Gradient];
    let mut all: Vec<Entry> = acts.into_iter().map(|act| sweep(isa, act)).collect();
    let squares = Squares::get(isa).unwrap();
    let exchange = squares.clone();
    all.push(entry("exchanged slices", &[rows * columns; 2], move |memory| {
        let [from, to] = memory else { panic!("two slices") };
        exchange.exchange(from, to, rows, columns);
    }));
    all.push(entry("exchanged buffers", &[rows * columns; 2], move |memory| {
        let [from, to] = [&memory[0], &memory[1]].map(|m| buffer(m));
        let matrix = |buf, row| Matrix { buf, at: 0, row };
        let (from, to) = (matrix(from.region().bytes().unwrap(), columns * 4), matrix(to.region().bytes().unwrap(), rows * 4));
        squares.run(from, to, rows, columns);
    }));
    let transforms = Transforms::get(isa).unwrap();
    let weights = transforms.clone();
    all.push(entry("transformed weights", &[9 * lanes, POSITIONS * lanes], move |memory| {
        let [from, to] = memory else { panic!("two slices") };
        weights.weights(buffer(from).region().bytes().unwrap(), 0, (lanes * 4) as isize, 1, to, lanes);
    }));
    all.push(entry("transformed sums", &[POSITIONS * lanes, RESULTS * RESULTS * lanes], move |memory| {
        let [from, to] = memory else { panic!("two slices") };
        transforms.block((from, lanes), 1, lanes, to);
    }));
    all
}

#[test]
fn memory_that_is_one_number_short_is_refused() {
    let Some(isa) = CpuTarget::host().jit else { return };
    for Entry { name, lens, call } in entries(isa) {
        let memory = |short: Option<usize>| -> Vec<Vec<f32>> {
            lens.iter().enumerate().map(|(i, len)| vec![1.0; len - usize::from(short == Some(i))]).collect()
        };
        call(&mut memory(None));
        for short in 0..lens.len() {
            let mut memory = memory(Some(short));
            let refused = catch_unwind(AssertUnwindSafe(|| call(&mut memory)));
            assert!(refused.is_err(), "{name} runs with piece {short} of {lens:?} too short");
            assert!(memory.iter().flatten().all(|v| *v == 1.0), "{name} has written before it refused piece {short}");
        }
    }
}

//! Runs one row of a problem and the reference on the same data, and compares.
#![allow(dead_code, reason = "every test binary uses its part")]

use oxidnn_cpu::ops::{fallback, rows};
use oxidnn_cpu::{CpuTarget, Isa};
use oxidnn_expr::number;
use oxidnn_judge::within;
use oxidnn_reference::{View, for_each_position};
use oxidnn_runtime::queue::Immediate;
use oxidnn_runtime::{Bound, Buf, Ctx, Executor, Region, Threads};
use oxidnn_spec::{Arg, DataType, Dims, Operand, Problem, Tensor, Use};
use std::sync::Arc;

/// Memory of 64-byte alignment.
#[derive(Clone)]
pub(crate) struct Memory(Vec<[u64; 8]>);

impl Memory {
    pub(crate) fn new(bytes: usize) -> Memory {
        Memory(vec![[0; 8]; bytes.div_ceil(64) + 1])
    }
    pub(crate) fn buf(&mut self, bytes: usize) -> Buf<'_> {
        // SAFETY: the region belongs to the vector, which outlives the test's use of the buffer.
        unsafe { Buf::new(self.0.as_mut_ptr().cast(), bytes) }
    }
}

/// Several workers of which each takes every n-th task, in an order unlike the inline one.
pub(crate) struct Workers(pub(crate) usize);

// SAFETY: a worker is a thread with tasks of its own, and the scope ends after all of them.
unsafe impl Executor for Workers {
    fn threads(&self) -> usize {
        self.0
    }
    fn run(&self, workers: usize, tasks: usize, body: &(dyn Fn(usize, usize) + Sync)) {
        let workers = workers.min(self.0).max(1);
        std::thread::scope(|s| {
            for w in 0..workers {
                s.spawn(move || (w..tasks).rev().step_by(1).filter(|t| t % workers == w).for_each(|t| body(w, t)));
            }
        });
    }
}

pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % below
    }
}

/// A value that suits the argument: small whole numbers for data, powers of two for scales, so that exact sums stay exact.
fn value(arg: Arg, dtype: DataType, random: &mut Random) -> f64 {
    let name = arg.to_string();
    if name.starts_with("scales") {
        return [0.25, 0.5, 1.0, 2.0][random.next(4) as usize];
    }
    let r = random.next(9) as f64;
    match dtype {
        DataType::U8 | DataType::U4 => r,
        DataType::F4E2m1 | DataType::F4E3m0 => [-2.0, -1.0, 0.0, 1.0, 2.0][r as usize % 5],
        _ => r - 4.0,
    }
}

/// A tensor in a layout.
pub(crate) fn tensor(dims: &[i64], dtype: DataType, tag: &str) -> Tensor {
    Tensor::with_tag(Dims::new(dims).expect("dims"), dtype, tag).expect("a tag")
}

struct Data {
    operand: Operand<Tensor>,
    memory: Memory,
}

fn fill(data: &mut Data, random: &mut Random, garbage: bool) {
    let bytes = data.operand.tensor.bytes();
    let buf = data.memory.buf(bytes);
    if garbage {
        buf.fill(0x3c);
    }
    if data.operand.tensor.is_empty() {
        return;
    }
    if data.operand.tensor.blocking().is_none() {
        let v = number::encode(data.operand.tensor.dtype, value(data.operand.arg, data.operand.tensor.dtype, random));
        buf.write(0, &v.to_le_bytes()[..bytes.min(8)]);
        return;
    }
    let view = View::new(data.operand.arg, &data.operand.tensor, buf.cells()).expect("a view");
    for_each_position(data.operand.tensor.dims(), |pos| view.set(pos, value(data.operand.arg, data.operand.tensor.dtype, random)));
}

fn execute(problem: &Problem, row: &str, target: &CpuTarget, threads: Threads, data: &mut [Data]) {
    let imp = rows(&problem.op).iter().chain([&fallback::ROW]).find(|r| r.name == row).expect("the row");
    let plan = (imp.plan)(problem, target).unwrap_or_else(|why| panic!("{row} skips {problem:?}: {why}"));
    let mut scratch = Memory::new(plan.scratch_bytes());
    let scratch = scratch.buf(plan.scratch_bytes());
    scratch.fill(0xff);
    // A plan is a value: what was built before changes nothing, and is not what runs.
    drop(plan.build().expect("an executable"));
    let exec = plan.build().expect("another one");
    let lent = data.iter_mut().map(|Data { operand, memory, .. }| (&*operand, [Region::host(memory.buf(operand.tensor.bytes()))]));
    let lent: Vec<(&Operand<Tensor>, [Region; 1])> = lent.collect();
    let args = lent.iter().map(|(o, regions)| Bound { arg: o.arg, usage: o.usage, tensor: &o.tensor, regions, notes: None });
    let args: Vec<Bound<'_>> = args.collect();
    exec.run(&Ctx { args: &args, scratch: Region::host(scratch), queue: &Immediate::new(threads) }).expect("a run");
}

/// Plans `problem` with `row`, runs it and the reference, and compares every output; `concrete` replaces tensors with runtime dimensions.
pub(crate) fn check_with(problem: &Problem, row: &str, isa: Isa, concrete: &[(Arg, Tensor)]) {
    check_on(&CpuTarget::within(isa, 3), problem, row, concrete);
}

/// The same on a target.
pub(crate) fn check_on(target: &CpuTarget, problem: &Problem, row: &str, concrete: &[(Arg, Tensor)]) {
    let imp = rows(&problem.op).iter().find(|r| r.name == row).expect("the row");
    let plan = (imp.plan)(problem, target).unwrap_or_else(|why| panic!("{row} skips {problem:?}: {why}"));
    let problem = plan.problem().clone();
    let mut random = Random(1);
    let mut data: Vec<Data> = problem
        .operands()
        .into_iter()
        .map(|mut operand| {
            if let Some((_, t)) = concrete.iter().find(|(a, _)| *a == operand.arg) {
                operand.tensor = t.clone();
            }
            let memory = Memory::new(operand.tensor.bytes());
            let mut d = Data { operand, memory };
            let garbage = d.operand.usage == Use::Out && !problem.attr.reads_dst();
            fill(&mut d, &mut random, garbage);
            d
        })
        .collect();
    let copy =
        |data: &[Data]| -> Vec<Data> { data.iter().map(|d| Data { operand: d.operand.clone(), memory: d.memory.clone() }).collect() };
    let mut expected = copy(&data);
    execute(&problem, "ref:any", target, Threads::inline(), &mut expected);
    let mut parallel = copy(&data);
    execute(&problem, row, target, Threads::over(Arc::new(Workers(2))), &mut parallel);
    execute(&problem, row, target, Threads::inline(), &mut data);
    for ((got, want), parallel) in data.iter_mut().zip(&mut expected).zip(&mut parallel).filter(|((d, _), _)| d.operand.usage == Use::Out) {
        compare(&problem, got, want);
        let bytes = got.operand.tensor.bytes();
        let (a, b) = (got.memory.buf(bytes), parallel.memory.buf(bytes));
        assert!((0..bytes).all(|i| a.get::<u8>(i) == b.get::<u8>(i)), "{problem:?}: differs with two workers");
    }
}

/// As [`check_with`] on every instruction set of this machine.
pub(crate) fn check(problem: &Problem, row: &str) {
    for isa in Isa::ALL.into_iter().filter(|i| i.is_present()) {
        check_with(problem, row, isa, &[]);
    }
}

fn compare(problem: &Problem, got: &mut Data, want: &mut Data) {
    let tensor = got.operand.tensor.clone();
    if tensor.is_empty() {
        return;
    }
    let bytes = tensor.bytes();
    let (a, b) = (got.memory.buf(bytes), want.memory.buf(bytes));
    let a = View::new(got.operand.arg, &tensor, a.cells()).expect("a view");
    let b = View::new(got.operand.arg, &tensor, b.cells()).expect("a view");
    let tolerance = (tensor.dtype.epsilon() * 2.0).clamp(2e-6, 1.0);
    let mut wrong = Vec::new();
    for_each_position(tensor.dims(), |pos| {
        let (x, y) = (a.get(pos), b.get(pos));
        if !within(x, y, tolerance * y.abs().max(1.0)) {
            wrong.push((pos.to_vec(), x, y));
        }
    });
    assert!(wrong.is_empty(), "{problem:?}\n{} differ in {}, first {:?}", got.operand.arg, wrong.len(), &wrong[..wrong.len().min(8)]);
    if let Some(blocking) = tensor.blocking() {
        for_each_position(&blocking.padded_dims, |pos| {
            if pos.iter().zip(tensor.dims().iter()).any(|(p, d)| p >= d) {
                assert_eq!(a.load(blocking.offset_of(pos)), 0.0, "{problem:?}\npadding of {} at {pos:?}", got.operand.arg);
            }
        });
    }
}

//! Where the time goes when primitives are made, and around an execution: median nanoseconds of each step, over the problems of a batch file.
//!
//! `cold` is all of creation after other work has used the core's caches, as between executions.
//!
//! `cargo run --release -p oxidnn-testing --example create -- FILE`

use oxidnn_runtime::{Engine, Memory, Primitive, PrimitiveDesc, Stream, Threads, cache};
use oxidnn_spec::text::{self, Settings};
use oxidnn_spec::{Arg, Error, Problem};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::hint::black_box;
use std::time::Instant;

/// The steps, in the order of a primitive's life.
const STEPS: [&str; 10] = ["validate", "clone", "hash", "equal", "resolve", "operands", "describe", "create", "found", "cold"];

/// Bytes that are walked over to drive everything else out of a core's own caches.
const SWEEP: usize = 4 << 20;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args().nth(1).ok_or("a batch file is missing")?;
    let mut problems = Vec::new();
    for (_, line) in text::lines(&std::fs::read_to_string(file)?) {
        problems.extend(text::parse_line(&mut Settings::default(), &line)?.into_iter().map(|c| c.problem));
    }
    println!("{} problems of {} bytes, tensors of {}", problems.len(), size_of::<Problem>(), size_of::<oxidnn_spec::Tensor>());
    let mut steps = vec![Vec::new(); STEPS.len()];
    for problem in &problems {
        for (all, ns) in steps.iter_mut().zip(measure(problem)?) {
            all.push(ns);
        }
    }
    for (name, times) in STEPS.iter().zip(&mut steps) {
        times.sort_unstable();
        println!("{name:>10} {:>8} ns median {:>8} most", times[times.len() / 2], times[times.len() - 1]);
    }
    execution(&problems[0])?;
    Ok(())
}

fn measure(problem: &Problem) -> Result<[u128; STEPS.len()], Error> {
    let engine = oxidnn_cpu::engine();
    let other = problem.clone();
    let hash = || {
        let mut hasher = DefaultHasher::new();
        problem.hash(&mut hasher);
        hasher.finish()
    };
    let desc = PrimitiveDesc::new(&engine, problem.clone())?;
    let mut sweep = vec![1u8; SWEEP];
    Ok([
        median(|| (), || drop(black_box(Problem::new(problem.op.clone(), problem.attr.clone())))),
        median(|| (), || drop(black_box(problem.clone()))),
        median(|| (), || _ = black_box(hash())),
        median(|| (), || _ = black_box(*problem == other)),
        median(|| (), || black_box(problem.clone()).resolve()),
        median(|| (), || _ = black_box(problem.operands())),
        median(|| (), || drop(black_box(PrimitiveDesc::new(&engine, problem.clone())))),
        median(cache::clear, || drop(black_box(desc.create()))),
        median(|| (), || drop(black_box(desc.create()))),
        median(
            || {
                cache::clear();
                sweep.iter_mut().step_by(64).for_each(|b| *b = black_box(*b).wrapping_add(1));
            },
            || drop(black_box(fresh(&engine, problem))),
        ),
    ])
}

/// From the operation to ready code.
fn fresh(engine: &Engine, problem: &Problem) -> Result<Primitive, Error> {
    PrimitiveDesc::new(engine, Problem::new(problem.op.clone(), problem.attr.clone())?)?.create()
}

/// The time of an execution, where the work of the first problem is small.
fn execution(problem: &Problem) -> Result<(), Error> {
    let engine = oxidnn_cpu::engine();
    let stream = Stream::with_threads(&engine, Threads::inline())?;
    let primitive = PrimitiveDesc::new(&engine, problem.clone())?.create()?;
    let operands = primitive.desc().operands().iter();
    let memories = operands.map(|o| Ok((o.arg, Memory::new(&engine, o.tensor.clone())?))).collect::<Result<Vec<_>, Error>>()?;
    let args: Vec<(Arg, &Memory<'_>)> = memories.iter().map(|(a, m)| (*a, m)).collect();
    println!("{:>10} {:>8} ns, of {problem}", "execute", median(|| (), || _ = black_box(primitive.execute(&stream, &args))));
    Ok(())
}

/// Median time of one `call` after `before`, the clock's own time taken off.
fn median(mut before: impl FnMut(), mut call: impl FnMut()) -> u128 {
    let mut time = |call: &mut dyn FnMut()| {
        let mut times: Vec<u128> = (0..301)
            .map(|_| {
                before();
                let start = Instant::now();
                call();
                start.elapsed().as_nanos()
            })
            .collect();
        times.sort_unstable();
        times[times.len() / 2]
    };
    time(&mut call).saturating_sub(time(&mut || ()))
}

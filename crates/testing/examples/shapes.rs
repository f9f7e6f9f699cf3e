//! Very many shapes: the memory that the process keeps for them, and the cost of the first execution of one.
//!
//! `cargo run --release -p oxidnn-testing --example shapes -- memory 1000000` makes and executes that many primitives of different shapes
//! on 8 threads, a quarter of them as sizes of primitives with open sizes, and prints resident memory and the contents of the caches; it
//! fails if memory still grows after the first fifth.
//!
//! `... -- first 10000` prints how often description, creation and first execution together (the best of three, since others use the
//! machine) take less than twice the time of a later execution, and 100 us; it fails if that is rarer than 99 in a hundred.
//!
//! `... -- sizes 100` executes so many sizes of a 3x3 convolution by one primitive with open sizes, and by one primitive each, in turns; it
//! fails if the former has less than 0.9 of the speed.

use oxidnn_cpu::kernels::code;
use oxidnn_runtime::{Engine, Memory, Primitive, PrimitiveDesc, Stream, Threads, cache, scratch};
use oxidnn_spec::op::{Conv, ConvAlg, Eltwise, EltwiseAlg, Matmul, Op, Prop, Softmax, SoftmaxAlg, Window};
use oxidnn_spec::{Arg, Attr, DataType, Dims, Error, Problem, RUNTIME, Tensor};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Threads that make primitives.
const THREADS: usize = 8;

/// Bytes that memory may grow by after the first fifth, because allocators leave gaps between blocks.
const SLACK: usize = 32 << 20;

fn main() -> Outcome {
    let args: Vec<String> = std::env::args().collect();
    let count = args.get(2).map_or(Ok(10_000), |n| n.parse())?;
    match args.get(1).map(String::as_str) {
        Some("memory") => memory(count),
        Some("first") => first(count),
        Some("sizes") => sizes(count),
        _ => Err("`memory COUNT`, `first COUNT` or `sizes COUNT`".into()),
    }
}

fn tensor(dims: impl Into<Dims>, tag: &str) -> Result<Tensor, Error> {
    Tensor::with_tag(dims, DataType::F32, tag)
}

fn convolution([n, h, w]: [i64; 3], [ic, oc]: [i64; 2], k: i64) -> Result<Op, Error> {
    let two = |v: i64| Dims::from([v, v]);
    let window = Window { strides: two(1), dilations: two(0), padding_l: two(k / 2), padding_r: two(k / 2) };
    let tensors = [tensor([n, ic, h, w], "acdb")?, Tensor::any([oc, ic, k, k], DataType::F32), tensor([n, oc, h, w], "acdb")?];
    Ok(Conv::new(Prop::ForwardInference, ConvAlg::Direct, tensors, None, window).into())
}

fn product(m: i64, n: i64, k: i64) -> Result<Op, Error> {
    Ok(Matmul { src: tensor([m, k], "ab")?, weights: Tensor::any([k, n], DataType::F32), bias: None, dst: tensor([m, n], "ab")? }.into())
}

/// The operation number `i`, no two alike.
fn operation(i: i64) -> Result<Op, Error> {
    let (kind, i) = (i % 4, i / 4);
    let (a, b, c) = (1 + i % 61, 1 + i / 61 % 67, 1 + i / (61 * 67));
    match kind {
        0 => product(a, b, c),
        1 => convolution([1, a % 13 + 1, b % 11 + 1], [a, c], 1 + b / 11 % 2 * 2),
        2 => {
            let t = tensor([a, b, c], "abc")?;
            Ok(Softmax {
                prop: Prop::ForwardInference,
                alg: SoftmaxAlg::Accurate,
                axis: 2,
                src: Some(t.clone()),
                dst: t,
                diff_src: None,
                diff_dst: None,
            }
            .into())
        }
        _ => {
            let t = tensor([a, b, c], "abc")?;
            Ok(Eltwise::forward(Prop::ForwardInference, EltwiseAlg::Swish, [1.0, 0.0], t.clone(), t).into())
        }
    }
}

/// Memory for every argument, as `problem` describes it.
fn memories(engine: &Engine, problem: &Problem) -> Result<Vec<(Arg, Memory<'static>)>, Error> {
    problem.op.operands().iter().map(|o| Ok((o.arg, Memory::new(engine, o.tensor.clone())?))).collect()
}

fn execute(primitive: &Primitive, stream: &Stream, memories: &[(Arg, Memory<'_>)]) -> Result<(), Error> {
    let args: Vec<(Arg, &Memory<'_>)> = memories.iter().map(|(a, m)| (*a, m)).collect();
    primitive.execute(stream, &args)
}

fn resident() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").ok().and_then(|s| s.split(' ').nth(1)?.parse::<usize>().ok());
    pages.unwrap_or(0) * 4096
}

fn memory(count: usize) -> Outcome {
    let engine = oxidnn_cpu::engine();
    let open = PrimitiveDesc::new(&engine, Problem::new(product(RUNTIME, 24, 16)?, Attr::default())?)?.create()?;
    let (next, mut warm) = (AtomicUsize::new(0), 0);
    for part in 1..=10 {
        let end = count / 10 * part;
        let work = || -> Result<(), Error> {
            let stream = Stream::with_threads(&engine, Threads::inline())?;
            loop {
                let i = next.fetch_add(1, Ordering::Relaxed);
                if i >= end {
                    return Ok(());
                }
                if i % 4 == 3 {
                    let rows = 1 + i as i64 / 4;
                    let args = [
                        (Arg::SRC, Memory::new(&engine, tensor([rows % 4096 + 1, 16], "ab")?)?),
                        (Arg::WEIGHTS, Memory::new(&engine, open.desc().problem().op.operands()[1].tensor.clone())?),
                        (Arg::DST, Memory::new(&engine, tensor([rows % 4096 + 1, 24], "ab")?)?),
                    ];
                    execute(&open, &stream, &args)?;
                    continue;
                }
                let desc = PrimitiveDesc::new(&engine, Problem::new(operation(i as i64)?, Attr::default())?)?;
                execute(&desc.create()?, &stream, &memories(&engine, desc.problem())?)?;
            }
        };
        next.store(count / 10 * (part - 1), Ordering::Relaxed);
        std::thread::scope(|scope| {
            let all: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
            all.into_iter().try_for_each(|t| t.join().map_err(|_| Error::Runtime("a thread panicked".into()))?)
        })?;
        let (now, stats, sizes) = (resident(), cache::stats(), cache::remembered_sizes());
        if part == 2 {
            warm = now;
        }
        println!(
            "{end:>8} shapes: {:>4} MiB resident, cache {} entries {} KiB, sizes {} of {} KiB, scratch {} KiB, code of {} kernels",
            now >> 20,
            stats.entries,
            stats.bytes >> 10,
            sizes.0,
            sizes.1 >> 10,
            scratch::arena().stats().idle >> 10,
            code::made(),
        );
    }
    if resident() > warm + SLACK {
        return Err(format!("{} MiB more than after the first fifth", (resident() - warm) >> 20).into());
    }
    Ok(())
}

fn first(count: usize) -> Outcome {
    let engine = oxidnn_cpu::engine();
    let stream = Stream::with_threads(&engine, Threads::inline())?;
    let mut over: Vec<(f64, String)> = Vec::new();
    let mut extra = Vec::new();
    let mut state = 1u64;
    let mut draw = |n: i64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        1 + (state >> 33) as i64 % n
    };
    for i in 0..count {
        let op = match i % 2 {
            0 => product(draw(200), draw(300), draw(300))?,
            _ => convolution([draw(2), draw(30), draw(30)], [draw(64), draw(64)], 1 + 2 * (draw(2) - 1))?,
        };
        let problem = Problem::new(op, Attr::default())?;
        let all = memories(&engine, PrimitiveDesc::new(&engine, problem.clone())?.problem())?;
        // The second time only kernels are there, which almost all shapes find.
        let (mut first, mut last) = (Duration::MAX, None);
        for _ in 0..3 {
            cache::clear();
            let begin = Instant::now();
            let primitive = PrimitiveDesc::new(&engine, problem.clone())?.create()?;
            execute(&primitive, &stream, &all)?;
            first = first.min(begin.elapsed());
            last = Some(primitive);
        }
        let Some(primitive) = last else { continue };
        let mut steady = Duration::MAX;
        for _ in 0..5 {
            let begin = Instant::now();
            execute(&primitive, &stream, &all)?;
            steady = steady.min(begin.elapsed());
        }
        extra.push(first.saturating_sub(steady));
        let limit = steady * 2 + Duration::from_micros(100);
        if first > limit {
            over.push((first.as_secs_f64() / limit.as_secs_f64(), format!("{first:?} against {steady:?}: {problem}")));
        }
    }
    extra.sort_unstable();
    over.sort_by(|a, b| b.0.total_cmp(&a.0));
    println!("beyond an execution: median {:?}, 99 % {:?}, most {:?}", extra[count / 2], extra[count * 99 / 100], extra[count - 1]);
    println!("{} kernels made", code::made());
    let verdict = if over.len() * 100 > count { "does not hold" } else { "holds" };
    println!("{} of {count} took more than twice an execution and 100 us, one in a hundred may: {verdict}", over.len());
    over.iter().take(5).for_each(|(_, line)| println!("  {line}"));
    if over.len() * 100 > count { Err("more than one in a hundred".into()) } else { Ok(()) }
}

fn sizes(count: usize) -> Outcome {
    let engine = oxidnn_cpu::engine();
    let stream = Stream::with_threads(&engine, Threads::inline())?;
    let describe =
        |height, width| PrimitiveDesc::new(&engine, Problem::new(convolution([1, height, width], [64, 64], 3)?, Attr::default())?);
    let open = describe(RUNTIME, RUNTIME)?.create()?;
    let (mut together, mut slowest) = ([Duration::ZERO; 2], (f64::MAX, String::new()));
    for i in 0..count as i64 {
        let fixed = describe(7 + i % 50, 7 + i * 7 % 53)?.create()?;
        let its = memories(&engine, fixed.desc().problem())?;
        let weights = open.desc().problem().op.operands()[1].tensor.clone();
        let mut opens = memories(&engine, fixed.desc().problem())?;
        opens.iter_mut().filter(|(arg, _)| *arg == Arg::WEIGHTS).try_for_each(|(_, memory)| {
            *memory = Memory::new(&engine, weights.clone())?;
            Ok::<(), Error>(())
        })?;
        let mut best = [Duration::MAX; 2];
        for _ in 0..20 {
            for ((primitive, memories), best) in [(&open, &opens), (&fixed, &its)].into_iter().zip(&mut best) {
                let begin = Instant::now();
                execute(primitive, &stream, memories)?;
                *best = begin.elapsed().min(*best);
            }
        }
        together.iter_mut().zip(best).for_each(|(all, one)| *all += one);
        let speed = best[1].as_secs_f64() / best[0].as_secs_f64();
        if speed < slowest.0 {
            slowest = (speed, format!("{best:?}: {}", fixed.desc().problem()));
        }
    }
    let speed = together[1].as_secs_f64() / together[0].as_secs_f64();
    println!("least speed of a size: {:.3}, {}", slowest.0, slowest.1);
    let verdict = if speed < 0.9 { "does not hold" } else { "holds" };
    println!(
        "{count} sizes by one primitive in {:?}, by one each in {:?}: {speed:.3} of the speed, at least 0.9: {verdict}",
        together[0], together[1]
    );
    if speed < 0.9 { Err("sizes of the execution are too slow".into()) } else { Ok(()) }
}

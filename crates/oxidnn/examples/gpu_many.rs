//! Many threads on few streams of a GPU, and very many shapes on one stream; `tests/gpu/verify.sh` runs it.
//!
//! ```text
//! cargo run --release -p oxidnn --example gpu_many -- threads          # 64 threads share primitives on 8 streams: the bits of one thread
//! cargo run --release -p oxidnn --example gpu_many -- shapes 1000000   # so many shapes: host and GPU memory do not grow after the first fifth
//! ```

use oxidnn::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

type Outcome = Result<(), Box<dyn std::error::Error>>;

const THREADS: usize = 64;
const STREAMS: usize = 8;
const ROUNDS: usize = 200;

/// Threads that create shapes; bytes by which host memory may grow after the first fifth, because allocators fragment.
const MAKERS: usize = 4;
const SLACK: usize = 32 << 20;

/// A prime that does not divide usual numbers of shapes, so that each comes once.
const SHUFFLE: usize = 611_953;

fn main() -> Outcome {
    let args: Vec<String> = std::env::args().collect();
    let engine = Engine::cuda(0)?;
    match args.get(1).map(String::as_str) {
        Some("threads") => threads(&engine),
        Some("shapes") => shapes(&engine, args.get(2).map_or(Ok(1_000_000), |n| n.parse())?),
        _ => Err("`threads` or `shapes COUNT`".into()),
    }
}

/// Convolution, normalisation, product and softmax: with and without scratch, all kinds of kernels.
fn primitives(engine: &Engine) -> Result<Vec<Primitive>, Error> {
    let conv = Conv::forward(Prop::ForwardInference).src([4, 64, 28, 28], Bf16).weights([64, 64, 3, 3], Bf16).padding([1, 1]);
    let planar =
        Conv::forward(Prop::ForwardInference).src_tensor(Tensor::plain([2, 64, 14, 14], F16)?).weights([64, 64, 3, 3], F16).padding([1, 1]);
    let rows = Tensor::plain([512, 768], F32)?;
    let flags = oxidnn::op::NormFlags::default();
    Ok(vec![
        conv.describe(engine)?.create()?,
        planar.describe(engine)?.create()?,
        Matmul::new().src([256, 512], Bf16).weights([512, 384], Bf16).describe(engine)?.create()?,
        Matmul::new().src([200, 1024], F32).weights([1024, 96], F32).describe(engine)?.create()?,
        oxidnn::layer_norm(Prop::ForwardInference, flags, 1e-5, rows.clone()).describe(engine)?.create()?,
        oxidnn::softmax(Prop::ForwardInference, SoftmaxAlg::Accurate, rows, 1).describe(engine)?.create()?,
    ])
}

/// Memory for all arguments; inputs depend on `seed`.
fn memories(engine: &Engine, primitive: &Primitive, seed: usize) -> Result<Vec<(Arg, Memory<'static>)>, Error> {
    let one = |o: &oxidnn::Operand<Tensor>| {
        let memory = Memory::new(engine, o.tensor.clone())?;
        if o.usage == oxidnn::Use::In {
            memory.write_with(|i| ((i * 31 + seed * 17) % 251) as f64 / 125.0 - 1.0)?;
        }
        Ok((o.arg, memory))
    };
    primitive.desc().operands().iter().map(one).collect()
}

fn execute(primitive: &Primitive, stream: &Stream, memories: &[(Arg, Memory<'_>)]) -> Result<(), Error> {
    primitive.execute(stream, &memories.iter().map(|(arg, m)| (*arg, m)).collect::<Vec<_>>())
}

/// The result's bits.
fn result(memories: &[(Arg, Memory<'_>)]) -> Result<Vec<u32>, Error> {
    let dst = memories.iter().find(|m| m.0 == Arg::DST).ok_or_else(|| Error::arg(Arg::DST, "nothing", "a result"))?;
    Ok(dst.1.read_f32()?.into_iter().map(f32::to_bits).collect())
}

fn threads(engine: &Engine) -> Outcome {
    let (all, begin) = (primitives(engine)?, Instant::now());
    let streams = (0..STREAMS).map(|_| Stream::new(engine)).collect::<Result<Vec<_>, _>>()?;
    let expected = all.iter().map(|p| {
        let m = memories(engine, p, 1)?;
        execute(p, &streams[0], &m)?;
        result(&m)
    });
    let expected = expected.collect::<Result<Vec<_>, Error>>()?;
    let work = |thread: usize| -> Result<usize, Error> {
        let stream = &streams[thread % STREAMS];
        let own = all.iter().map(|p| memories(engine, p, 1)).collect::<Result<Vec<_>, _>>()?;
        let mut wrong = 0;
        for round in 0..ROUNDS {
            let i = (thread + round) % all.len();
            execute(&all[i], stream, &own[i])?;
            // Some results are read at once, most executions are followed by the next.
            if round % 16 == 15 {
                wrong += usize::from(result(&own[i])? != expected[i]);
            }
        }
        Ok(wrong)
    };
    let wrong = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..THREADS)
            .map(|t| {
                scope.spawn({
                    let work = &work;
                    move || work(t)
                })
            })
            .collect();
        let joined = handles.into_iter().map(|h| h.join().map_err(|_| Error::Runtime("a thread panicked".into()))?);
        joined.sum::<Result<usize, Error>>()
    })?;
    let count = THREADS * ROUNDS;
    println!(
        "{count} executions of {} primitives, {THREADS} threads on {STREAMS} streams: {wrong} wrong, {:.1} s",
        all.len(),
        begin.elapsed().as_secs_f64()
    );
    if wrong == 0 { Ok(()) } else { Err("results differ from those of one thread".into()) }
}

/// Operation `i` of four kinds, no two alike.
fn shape(engine: &Engine, i: i64) -> Result<PrimitiveDesc, Error> {
    let (kind, i) = (i % 4, i / 4);
    let (a, b, c) = (1 + i % 61, 1 + i / 61 % 67, 1 + i / (61 * 67));
    let plain = |dims: [i64; 3]| Tensor::plain(dims, F32);
    match kind {
        0 => Matmul::new().src([8 * a, 8 * b], Bf16).weights([8 * b, 8 * c], Bf16).describe(engine),
        1 => Conv::forward(Prop::ForwardInference)
            .src_tensor(Tensor::with_tag([1, 8 * (1 + a % 8), 4 + a / 8, 4 + b], Bf16, "acdb")?)
            .weights([8 * c, 8 * (1 + a % 8), 3, 3], Bf16)
            .padding([1, 1])
            .describe(engine),
        2 => oxidnn::softmax(Prop::ForwardInference, SoftmaxAlg::Accurate, plain([a, b, c])?, 2).describe(engine),
        _ => oxidnn::eltwise(Prop::ForwardInference, EltwiseAlg::Swish, 1.0, 0.0, plain([a, b, c])?).describe(engine),
    }
}

fn resident() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").ok().and_then(|s| s.split(' ').nth(1)?.parse::<usize>().ok());
    pages.unwrap_or(0) * 4096
}

/// Megabytes of GPU memory in use, by `nvidia-smi`; `None` without it.
fn in_use() -> Option<usize> {
    let out = std::process::Command::new("nvidia-smi").args(["--query-gpu=memory.used", "--format=csv,noheader,nounits"]).output().ok()?;
    String::from_utf8(out.stdout).ok()?.lines().next()?.trim().parse().ok()
}

fn shapes(engine: &Engine, count: usize) -> Outcome {
    let (next, begin, mut warm) = (AtomicUsize::new(0), Instant::now(), (0, None));
    for part in 1..=10 {
        let end = count / 10 * part;
        let work = || -> Result<(), Error> {
            let stream = Stream::new(engine)?;
            loop {
                let i = next.fetch_add(1, Ordering::Relaxed);
                if i >= end {
                    return stream.wait();
                }
                // Large and small shapes alternate, so that the first fifth has as much in flight as the last.
                let desc = shape(engine, (i * SHUFFLE % count) as i64)?;
                let all = desc
                    .operands()
                    .iter()
                    .map(|o| Ok((o.arg, Memory::new(engine, o.tensor.clone())?)))
                    .collect::<Result<Vec<_>, Error>>()?;
                execute(&desc.create()?, &stream, &all)?;
            }
        };
        next.store(count / 10 * (part - 1), Ordering::Relaxed);
        std::thread::scope(|scope| {
            let all: Vec<_> = (0..MAKERS).map(|_| scope.spawn(work)).collect();
            all.into_iter().try_for_each(|t| t.join().map_err(|_| Error::Runtime("a thread panicked".into()))?)
        })?;
        let (now, stats) = ((resident(), in_use()), oxidnn::cache::stats());
        if part == 2 {
            warm = now;
        }
        let gpu = now.1.map_or("unknown".into(), |mb| format!("{mb} MiB"));
        println!(
            "{end:>8} shapes, {:.1} s: {} MiB of the host, {gpu} of the GPU, cache {} entries {} KiB",
            begin.elapsed().as_secs_f64(),
            now.0 >> 20,
            stats.entries,
            stats.bytes >> 10
        );
    }
    let grown = resident().saturating_sub(warm.0);
    if grown > SLACK {
        return Err(format!("the host has {} MiB more than after the first fifth", grown >> 20).into());
    }
    if let (Some(before), Some(now)) = (warm.1, in_use())
        && now > before + 64
    {
        return Err(format!("the GPU has {} MiB more in use than after the first fifth", now - before).into());
    }
    Ok(())
}

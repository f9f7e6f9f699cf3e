//! Times on a GPU: the median over launches of a CUDA graph of executions, which use up to eight copies of the arguments in turn, so that large ones do not stay
//! in L2. A time does not include the host; the host's time of an execution is the mean over many asynchronous ones.
//!
//! `--peer cuda` measures cuBLASLt on the products among them, in the same process, with the same data and in the same way.

use super::Setup;
use super::ours::{self, Bound, Given, Inputs, Ours};
use super::row::{Figures, Row, Theirs};
use crate::print;
use crate::problems::Named;
use crate::progress::Progress;
use anyhow::{Context, Result};
use oxidnn_cuda::CudaQueue;
use oxidnn_cuda::cublas::{Behind, Prepared, Product};
use oxidnn_runtime::Stream;
use oxidnn_spec::op::EltwiseAlg;
use oxidnn_spec::{Arg, DataType, Error, FpMathMode, Op, PostOp, Problem, Tensor};
use std::cell::Cell;
use std::time::{Duration, Instant};

/// Bytes of all copies of the arguments; copies, at most; executions of a graph.
const BYTES: f64 = 250e6;
const COPIES: f64 = 8.0;
const EXECUTIONS: f64 = 400.0;

/// Executions over which the host's time is averaged: fewer than may be pending.
const SUBMISSIONS: usize = 256;

/// Tuning: number of candidate tiles of a product, the best ones by the time model; share of the time by which one must be faster than those before it.
const TILES: usize = 10;
const CLEARLY: f64 = 0.01;

/// How long a graph takes, at least; timed launches.
const LONG: Duration = Duration::from_millis(2);
const LAUNCHES: usize = 11;

/// The arguments that are filled with noise.
const DATA: [Arg; 7] = [Arg::SRC, Arg::SRC_1, Arg::SRC_2, Arg::WEIGHTS, Arg::WEIGHTS_1, Arg::DST, Arg::DIFF_DST];

/// Bytes after which the noise repeats; divides no usual size.
const PERIOD: usize = 8 * 130_003;

/// Noise with all mantissas and signs, and magnitudes from an eighth to two: the power of a product, and so the clock, depends on its data.
fn make_noise(dtype: DataType, bytes: &[Cell<u8>]) {
    // Mantissa bits, and the exponent of a quarter.
    let (mantissa, quarter) = match dtype {
        DataType::F32 => (23, 125),
        DataType::Bf16 => (7, 125),
        DataType::F16 => (10, 13),
        DataType::F8E5m2 => (2, 13),
        DataType::F8E4m3 => (3, 5),
        DataType::S8 | DataType::S4 | DataType::U4 => (8, 0),
        _ => return,
    };
    let size = dtype.bits().div_ceil(8);
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let begin = bytes.len().min(PERIOD);
    for number in bytes[..begin].chunks_exact(size) {
        let r = next();
        let bits = match quarter {
            0 => r,
            _ => (r >> 63) << (size * 8 - 1) | (quarter + (r >> 61 & 3) - 1) << mantissa | (r & ((1 << mantissa) - 1)),
        };
        number.iter().zip(bits.to_le_bytes()).for_each(|(to, b)| to.set(b));
    }
    for i in begin..bytes.len() {
        bytes[i].set(bytes[i - PERIOD].get());
    }
}

/// The rows of a suite.
pub(super) fn suite(suite: &[Named], (threads, stream): (usize, &Stream), bench: &Setup, progress: &Progress) -> Result<Vec<Row>> {
    let mut rows = Vec::with_capacity(suite.len());
    for named in suite {
        if print::is_closed() {
            break;
        }
        progress.doing(&named.case.problem);
        match one(named, (threads, stream), bench) {
            Ok(row) => {
                bench.measured(&row, progress);
                rows.push(row);
            }
            Err(e) => eprintln!("{}: {e:#}", named.case.problem),
        }
    }
    Ok(rows)
}

fn one(named: &Named, (threads, stream): (usize, &Stream), bench: &Setup) -> Result<Row> {
    let inputs = Inputs::of(named, bench.options.all_bytes)?;
    for (_, t) in inputs.values.0.iter().filter(|(arg, _)| DATA.contains(arg)) {
        make_noise(t.tensor.dtype, &t.bufs[0]);
    }
    let given = (0..copies(&inputs)).map(|_| ours::given(&inputs, stream)).collect::<Result<Vec<_>, _>>()?;
    if bench.options.tunes {
        tune(named, &given, stream, bench)?;
    }
    let (implementation, ours) = measured(named, &given, stream, bench)?;
    drop(given);
    let mut row = Row::new(named, &inputs, threads, bench, (implementation, ours));
    if bench.races_cuda {
        let theirs = race(&inputs, copies(&inputs), stream).map(|figures| Theirs { implementation: "cublasLt".into(), figures });
        row.peer = Some(theirs.map_err(|e| format!("{e:#}")));
    }
    Ok(row)
}

/// Measures the candidate tiles of the problem's products, one product after the other, and keeps the fastest of each in the kernel store. The model's choice is
/// kept if none is clearly faster.
fn tune(named: &Named, given: &[Given], stream: &Stream, bench: &Setup) -> Result<()> {
    let target = queue_of(stream)?.device().target().clone();
    let tuned = target.tuned.as_ref().context("a GPU that keeps no measurements")?;
    let (made, products) = tuned.watch(&target, || ours::create(&named.case.problem, stream, bench));
    made?;
    for product in &products {
        let mut best = (0, f64::INFINITY);
        for i in 0..product.tiles().min(TILES) {
            tuned.choose(product, i);
            let (_, figures) = measured(named, given, stream, bench)?;
            if figures.ms < best.1 * (1.0 - CLEARLY) {
                best = (i, figures.ms);
            }
        }
        tuned.choose(product, best.0);
    }
    Ok(tuned.save()?)
}

/// Copies of the arguments, used in turn.
fn copies(inputs: &Inputs) -> usize {
    (BYTES / inputs.settled.bytes().max(1) as f64).ceil().clamp(1.0, COPIES) as usize
}

/// The implementation that the problem gets now, and its times over these copies of the arguments.
fn measured(named: &Named, given: &[Given], stream: &Stream, bench: &Setup) -> Result<(String, Figures)> {
    let (mut sides, mut implementation, mut create_us) = (Vec::with_capacity(given.len()), String::new(), 0.0);
    for copy in given {
        let (primitive, created) = ours::create(&named.case.problem, stream, bench)?;
        if sides.is_empty() {
            (implementation, create_us) = (primitive.desc().impl_name().to_owned(), created.took.as_secs_f64() * 1e6);
        }
        sides.push(Ours::over(primitive, named, copy.clone(), stream)?);
    }
    let bound: Vec<Bound<'_>> = sides.iter().map(Ours::bound).collect();
    let figures = timed(&bound, stream)?;
    Ok((implementation, Figures { create_us, ..figures }))
}

/// The product for cuBLASLt; `None` if the problem is more than cuBLASLt can do.
fn product(problem: &Problem) -> Option<Product> {
    let Op::Matmul(op) = &problem.op else { return None };
    let (dims, n) = (op.dst.dims(), op.dst.dims().len());
    let gelu = |p: &PostOp| matches!(p, PostOp::Eltwise { alg: EltwiseAlg::GeluTanh, .. });
    let relu = |p: &PostOp| matches!(p, PostOp::Eltwise { alg: EltwiseAlg::Relu, alpha, .. } if alpha.get() == 0.0);
    let behind = match (&op.bias, &problem.attr.post_ops[..]) {
        (None, []) => Behind::Nothing,
        (Some(_), []) => Behind::Bias,
        (Some(_), [p]) if relu(p) => Behind::BiasRelu,
        (Some(_), [p]) if gelu(p) => Behind::BiasGelu,
        _ => return None,
    };
    let batch: i64 = dims[..n - 2].iter().product();
    let whole = |t: &Tensor| t.dims()[..n - 2] == dims[..n - 2] && t.layout.is_dense(false);
    let column_major = |t: &Tensor| t.blocking().is_some_and(|b| b.strides[n - 1] != 1);
    let all = [&op.src, &op.weights, &op.dst];
    (all.iter().all(|t| whole(t)) && !column_major(&op.dst)).then(|| Product {
        sizes: [dims[n - 2], dims[n - 1], op.src.dims()[n - 1], batch],
        types: all.map(|t| t.dtype),
        turned: [column_major(&op.src), column_major(&op.weights)],
        rounded: problem.attr.fpmath.mode == FpMathMode::Tf32,
        behind,
    })
}

/// cuBLASLt's times, with the same data over as many copies.
fn race(inputs: &Inputs, copies: usize, stream: &Stream) -> Result<Figures> {
    let queue = queue_of(stream)?;
    let product = product(&inputs.settled).context("no product of cuBLASLt")?;
    let bytes = |arg: Arg| {
        let t = inputs.values.0.iter().find(|(a, _)| *a == arg).map(|(_, t)| &t.bufs[0]);
        t.map(|b| b.iter().map(Cell::get).collect::<Vec<u8>>()).unwrap_or_default()
    };
    let (source, weights) = (bytes(Arg::SRC), bytes(Arg::WEIGHTS));
    let sides = (0..copies).map(|_| Prepared::new(queue, &product, [&source, &weights])).collect::<Result<Vec<_>, _>>()?;
    median(sides.len(), &|i| sides[i].run(queue), stream)
}

fn queue_of(stream: &Stream) -> Result<&CudaQueue> {
    stream.queue().as_any().downcast_ref::<CudaQueue>().context("a stream that is no GPU's")
}

fn timed(bound: &[Bound<'_>], stream: &Stream) -> Result<Figures> {
    for b in bound {
        b.once()?;
    }
    let figures = median(bound.len(), &|i| bound[i].submit(), stream)?;
    let start = Instant::now();
    for i in 0..SUBMISSIONS {
        bound[i % bound.len()].submit()?;
    }
    let host = start.elapsed().as_secs_f64() / SUBMISSIONS as f64;
    stream.wait()?;
    Ok(Figures { average_ms: host * 1e3, ..figures })
}

/// The median time of an execution, of `copies` in each launch of a graph.
fn median(copies: usize, submit: &dyn Fn(usize) -> Result<(), Error>, stream: &Stream) -> Result<Figures> {
    let queue = queue_of(stream)?;
    submit(0)?;
    let begin = stream.record()?;
    (0..copies).try_for_each(submit)?;
    let end = stream.record()?;
    stream.wait()?;
    let estimate = end.since(&begin)?.as_secs_f64() / copies as f64;
    let executions = (LONG.as_secs_f64() / estimate.max(1e-9)).clamp(copies as f64, EXECUTIONS) as usize;
    let graph = queue.capture(|| (0..executions).try_for_each(|i| submit(i % copies)))?;
    graph.launch()?;
    stream.wait()?;
    let mut times = Vec::with_capacity(LAUNCHES);
    for _ in 0..LAUNCHES {
        let begin = stream.record()?;
        graph.launch()?;
        let end = stream.record()?;
        stream.wait()?;
        times.push(end.since(&begin)?.as_secs_f64() * 1e3 / executions as f64);
    }
    times.sort_by(f64::total_cmp);
    Ok(Figures { ms: times[LAUNCHES / 2], ..Figures::default() })
}

//! Times on a GPU: the median over launches of a graph of executions, over as many copies of the arguments as exceed the second-level cache.
//!
//! Neither the host nor warm caches are part of such a time. What the host takes of an execution is the mean over many that are not waited for.

use super::Setup;
use super::ours::{self, Bound, Inputs, Ours};
use super::row::{Figures, Row};
use crate::print;
use crate::problems::Named;
use crate::progress::Progress;
use anyhow::{Context, Result};
use oxidnn_cuda::CudaQueue;
use oxidnn_runtime::Stream;
use oxidnn_spec::{Arg, DataType};
use std::cell::Cell;
use std::time::{Duration, Instant};

/// Bytes of all copies of the arguments, where eight copies are as many, and executions of a graph.
const BYTES: f64 = 250e6;
const COPIES: f64 = 8.0;
const EXECUTIONS: f64 = 400.0;

/// Executions over which the host's time is the mean: fewer than may wait.
const SUBMISSIONS: usize = 256;

/// How long a graph takes at least, and launches that are timed.
const LONG: Duration = Duration::from_millis(2);
const LAUNCHES: usize = 11;

/// The arguments that get noise.
const DATA: [Arg; 7] = [Arg::SRC, Arg::SRC_1, Arg::SRC_2, Arg::WEIGHTS, Arg::WEIGHTS_1, Arg::DST, Arg::DIFF_DST];

/// Bytes after which the noise begins again, which divides no usual size.
const PERIOD: usize = 8 * 130_003;

/// Numbers of all mantissas and signs, of sizes from an eighth to two: the power that a product takes, and so its clock, depends on its numbers.
fn make_noise(dtype: DataType, bytes: &[Cell<u8>]) {
    // Bits of the mantissa, and the exponent of a quarter.
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
    let inputs = Inputs::of(named, bench)?;
    for (_, t) in inputs.values.0.iter().filter(|(arg, _)| DATA.contains(arg)) {
        make_noise(t.tensor.dtype, &t.bufs[0]);
    }
    let copies = (BYTES / inputs.settled.bytes().max(1) as f64).ceil().clamp(1.0, COPIES) as usize;
    let (mut sides, mut implementation, mut create_us) = (Vec::with_capacity(copies), String::new(), 0.0);
    for copy in 0..copies {
        let (primitive, created) = ours::create(&named.case.problem, stream, bench)?;
        if copy == 0 {
            (implementation, create_us) = (primitive.desc().impl_name().to_owned(), created.took.as_secs_f64() * 1e6);
        }
        sides.push(Ours::new(primitive, named, &inputs, stream)?);
    }
    let bound: Vec<Bound<'_>> = sides.iter().map(Ours::bound).collect();
    let ours = Figures { create_us, ..timed(&bound, stream)? };
    Ok(Row::new(named, &inputs, threads, bench, (implementation, ours)))
}

fn timed(bound: &[Bound<'_>], stream: &Stream) -> Result<Figures> {
    let queue = stream.queue().as_any().downcast_ref::<CudaQueue>().context("a stream that is no GPU's")?;
    for b in bound {
        b.once()?;
    }
    let begin = stream.record()?;
    for b in bound {
        b.submit()?;
    }
    let end = stream.record()?;
    stream.wait()?;
    let start = Instant::now();
    for i in 0..SUBMISSIONS {
        bound[i % bound.len()].submit()?;
    }
    let host = start.elapsed().as_secs_f64() / SUBMISSIONS as f64;
    stream.wait()?;
    let estimate = end.since(&begin)?.as_secs_f64() / bound.len() as f64;
    let executions = (LONG.as_secs_f64() / estimate.max(1e-9)).clamp(bound.len() as f64, EXECUTIONS) as usize;
    let graph = queue.capture(|| (0..executions).try_for_each(|i| bound[i % bound.len()].submit()))?;
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
    Ok(Figures { ms: times[LAUNCHES / 2], average_ms: host * 1e3, create_us: 0.0 })
}

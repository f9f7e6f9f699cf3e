//! Times on a GPU: the median over launches of a graph of executions, over as many copies of the arguments as exceed the second-level cache.
//!
//! Neither the host nor warm caches are part of such a time. What the host takes of an execution is the mean over many that are not waited for.

use super::ours::{self, Bound, Inputs, Ours};
use super::row::{Figures, Row};
use super::Setup;
use crate::print;
use crate::problems::Named;
use crate::progress::Progress;
use anyhow::{Context, Result};
use oxidnn_cuda::CudaQueue;
use oxidnn_runtime::Stream;
use std::time::{Duration, Instant};

/// Bytes of all copies of the arguments, where eight copies are as many, and executions of a graph.
const BYTES: f64 = 250e6;
const COPIES: f64 = 8.0;
const EXECUTIONS: f64 = 400.0;

/// How long a graph takes at least, and launches that are timed.
const LONG: Duration = Duration::from_millis(2);
const LAUNCHES: usize = 11;

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
    let (begin, start) = (stream.record()?, Instant::now());
    for b in bound {
        b.submit()?;
    }
    let host = start.elapsed().as_secs_f64() / bound.len() as f64;
    let end = stream.record()?;
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

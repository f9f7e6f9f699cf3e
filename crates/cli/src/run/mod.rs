//! `oxidnn run`: classifies the digits that come with the program by a net that `examples/train_digits` made, and says how well and how fast.
//!
//! Digits, labels and weights are part of the binary (`assets/digits`), so that it works anywhere.

mod net;
mod report;

use crate::{Run, print, session};
use anyhow::{Context, Result};
use net::Net;
use oxidnn::Stream;
use oxidnn_testing::idx::Labelled;
use std::process::ExitCode;
use std::time::{Duration, Instant};

static IMAGES: &[u8] = include_bytes!("../../assets/test-images-idx3-ubyte");
static LABELS: &[u8] = include_bytes!("../../assets/test-labels-idx1-ubyte");
static WEIGHTS: &[u8] = include_bytes!("../../assets/weights.safetensors");

/// Share of the digits that the net must read rightly, on every machine and by every implementation.
const PROMISE: f64 = 0.97;
/// How long the net is timed.
const TIMED: Duration = Duration::from_millis(300);

/// The findings of a run.
struct Findings {
    /// The digits.
    digits: Labelled,
    /// The net's class for each.
    answers: Vec<net::Answer>,
    /// Images a second, from the first primitive to the last of a batch; the median of many batches.
    images_per_second: f64,
    /// Median time of each primitive on a batch, in the order of the net.
    times: Vec<Duration>,
    /// Threads of the stream.
    threads: usize,
}

impl Findings {
    fn right(&self) -> usize {
        self.answers.iter().enumerate().filter(|(i, a)| a.class == self.digits.label(*i)).count()
    }

    fn accuracy(&self) -> f64 {
        self.right() as f64 / self.digits.count() as f64
    }
}

/// Runs the command; the exit code is 1 when fewer digits are read rightly than promised.
pub(crate) fn run(args: &Run) -> Result<ExitCode> {
    let stream = session::stream(args.threads)?;
    let engine = stream.engine();
    let digits = Labelled::parse(IMAGES, LABELS, 10)?;
    let batch = args.batch.clamp(1, digits.count());
    let net = Net::new(engine, batch, digits.size(), WEIGHTS).context("the digits net")?;
    let answers = net.classify(&digits, &stream)?;
    let (times, whole) = time(&net, &stream)?;
    let images_per_second = batch as f64 / whole.as_secs_f64();
    let findings = Findings { digits, answers, images_per_second, times, threads: stream.executor().threads() };
    if args.json {
        print::line(report::json(&net, &findings));
    } else {
        report::print(engine, &net, &findings);
    }
    Ok(if findings.accuracy() >= PROMISE { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Median time of each primitive on a batch, and of all together.
fn time(net: &Net, stream: &Stream) -> Result<(Vec<Duration>, Duration)> {
    let (mut steps, mut whole, start) = (vec![Vec::new(); net.steps().len()], Vec::new(), Instant::now());
    while start.elapsed() < TIMED || whole.len() < 3 {
        let begin = Instant::now();
        for (step, times) in net.steps().iter().zip(&mut steps) {
            let begin = Instant::now();
            step.execute(stream)?;
            stream.wait()?;
            times.push(begin.elapsed());
        }
        whole.push(begin.elapsed());
    }
    Ok((steps.into_iter().map(median).collect(), median(whole)))
}

fn median(mut times: Vec<Duration>) -> Duration {
    let middle = times.len() / 2;
    *times.select_nth_unstable(middle).1
}

//! `--processes N`: how processes share the cores.
//!
//! The program starts itself: once alone, then as many times at once as asked for. Each process executes the problems over and over for as
//! long as the experiment lasts, all starting at a signal from here, and reports the operations it did in that time: its share of the
//! machine, waiting included, not its fastest execution.

use super::ours::{self, Inputs, Ours};
use super::{Options, Setup};
use crate::problems::Named;
use crate::{Bench, print};
use anyhow::{Context, Result};
use oxidnn_runtime::threads;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// Seconds that processes compute for, by default.
const SECONDS: f64 = 4.0;

/// One process of the experiment: says that it is ready, waits for a line, computes for `seconds`, prints 10^9 operations a second.
pub(super) fn sustain(cases: &[Named], seconds: f64, args: &Bench) -> Result<ExitCode> {
    let count = args.threads.first().copied().unwrap_or_else(threads::default_threads);
    let bench = Setup::new(Options::of(args), None, &[count])?;
    let stream = &bench.streams[0].1;
    let mut work = Vec::with_capacity(cases.len());
    for named in cases {
        let inputs = Inputs::of(named, bench.options.all_bytes)?;
        let (primitive, _) = ours::create(&named.case.problem, stream, &bench)?;
        work.push((inputs.settled.flops(), Ours::new(primitive, named, &inputs, stream)?));
    }
    let work: Vec<_> = work.iter().map(|(flops, ours)| (flops, ours.bound())).collect();
    work.iter().try_for_each(|(_, bound)| bound.once())?;
    print::line("ready");
    std::io::stdin().lock().read_line(&mut String::new())?;
    let (begin, budget, mut done) = (Instant::now(), Duration::from_secs_f64(seconds), 0.0);
    for (flops, bound) in work.iter().cycle() {
        bound.once()?;
        done += *flops;
        if begin.elapsed() >= budget {
            break;
        }
    }
    print::line(done / begin.elapsed().as_secs_f64() / 1e9);
    Ok(ExitCode::SUCCESS)
}

/// Runs the experiment and prints the shares.
pub(super) fn compare(processes: usize, args: &Bench) -> Result<ExitCode> {
    let seconds = args.seconds.unwrap_or(SECONDS);
    let alone = together(1, seconds)?[0];
    print::line(format_args!("alone: {alone:.1} Gop/s"));
    let shares = together(processes, seconds)?;
    for (i, gops) in shares.iter().enumerate() {
        print::line(format_args!("process {} of {processes}: {gops:.1} Gop/s, {:.2} of what one has alone", i + 1, gops / alone));
    }
    let all: f64 = shares.iter().sum();
    print::line(format_args!("together: {all:.1} Gop/s, {:.2} of what one has alone", all / alone));
    Ok(ExitCode::SUCCESS)
}

/// The result of each of `processes` at once.
fn together(processes: usize, seconds: f64) -> Result<Vec<f64>> {
    let mut children = (0..processes).map(|_| start(seconds)).collect::<Result<Vec<_>>>()?;
    let mut answers: Vec<_> = children.iter_mut().filter_map(|c| c.stdout.take()).map(|out| BufReader::new(out).lines()).collect();
    for lines in &mut answers {
        lines.next().context("a process ended before it was ready")??;
    }
    for child in &mut children {
        child.stdin.take().context("no way to talk to a process")?.write_all(b"go\n")?;
    }
    let read = |lines: &mut std::io::Lines<_>| Ok(lines.next().context("a process ended early")??.parse::<f64>()?);
    let rates = answers.iter_mut().map(read).collect();
    children.into_iter().for_each(|mut c| _ = c.wait());
    rates
}

/// The same command as one process of the experiment.
fn start(seconds: f64) -> Result<Child> {
    let mut words: Vec<_> = std::env::args_os().skip(1).collect();
    if let Some(at) = words.iter().position(|w| w.to_string_lossy().starts_with("--processes")) {
        let separate = words[at] == *"--processes";
        words.drain(at..=at + usize::from(separate));
    }
    let sustain = format!("--sustain={seconds}");
    let child = Command::new(std::env::current_exe()?).args(words).arg(sustain).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    child.context("cannot start the program again")
}

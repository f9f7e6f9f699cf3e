//! `oxidnn sweep`: random problems that people could have, printed, checked or raced.
//!
//! Problems are checked by processes of their own ([`worker`]), which are told numbers of problems and answer with verdicts. So a panic
//! that spoils a process, a crash and a problem that never ends cost one process, not the sweep. A failure in a process that did other
//! problems before is repeated in a fresh one, and the report says if a problem fails only after others. A race that ours loses clearly is
//! run again too, with memory at other addresses, and the second one counts.

mod report;
mod rows;
mod talk;
mod worker;

use crate::progress::Progress;
use crate::{Sweep, print};
use anyhow::{Context, Result, anyhow};
use oxidnn_cpu::Limit;
use oxidnn_testing::sweep::{Choices, Drawn, Sweep as Source};
use report::Report;
use serde_json::{Value, json};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Sender};
use std::time::{Duration, Instant};
use talk::{Answer, Talk};

/// Operations of the reference that a problem may cost, by default.
const BUDGET: f64 = 2e6;
/// The same of small problems.
const SMALL_BUDGET: f64 = 1e5;
/// Operations of a problem that is raced.
const PEER_BUDGET: f64 = 2e9;

/// Runs the command; the exit code is 1 where a problem is computed wrongly, or not at all, or slower than by the other library.
pub(crate) fn run(args: &Sweep) -> Result<ExitCode> {
    if let Some(isa) = &args.max_isa {
        Limit::named(isa).with_context(|| format!("--max-isa {isa}: one of {}", oxidnn_runtime::knobs::CPU_ISAS.join(", ")))?;
    }
    let source = source(args)?;
    if args.worker {
        return worker::run(args, &source);
    }
    if args.rows {
        return rows::run(args, &source);
    }
    if args.verify || args.peer.is_some() {
        return supervise(args, &source);
    }
    for index in indices(args) {
        if print::is_closed() {
            break;
        }
        let drawn = source.problem(index).map_err(|e| anyhow!(e))?;
        if args.json {
            print::line(json!({ "index": index, "problem": drawn.line, "redrawn": drawn.refused }))
        } else {
            print::line(drawn.line)
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn source(args: &Sweep) -> Result<Source> {
    let budget = args.budget.unwrap_or(match (args.peer.is_some(), args.small) {
        (_, true) => SMALL_BUDGET,
        (true, _) => PEER_BUDGET,
        _ => BUDGET,
    });
    let choices = Choices { seed: args.seed, small: args.small, drivers: args.drivers.clone(), budget };
    Source::new(choices).map_err(|e| anyhow!("--drivers: {e}"))
}

fn indices(args: &Sweep) -> std::ops::Range<u64> {
    args.skip..args.skip.saturating_add(args.count as u64)
}

/// How many processes there are.
fn jobs(args: &Sweep) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    args.jobs.unwrap_or_else(|| if args.verify { cores() } else { 1 })
}

/// A problem with its verdict.
struct Done {
    index: u64,
    drawn: Drawn,
    answer: Value,
}

/// Has processes check every problem, and reports.
fn supervise(args: &Sweep, source: &Source) -> Result<ExitCode> {
    let (next, begin) = (&AtomicU64::new(args.skip), Instant::now());
    let mut report = Report::new(args, Progress::new(args.count));
    let (sender, done) = mpsc::channel();
    std::thread::scope(|s| {
        let senders = vec![sender; jobs(args)];
        let workers: Vec<_> = senders.into_iter().map(|to| s.spawn(move || employ(args, source, (next, begin), &to))).collect();
        for one in done.iter().take(args.count) {
            report.tell(&one);
        }
        workers.into_iter().try_for_each(|w| w.join().map_err(|_| anyhow!("a thread of the supervisor panicked"))?)
    })?;
    Ok(report.end())
}

/// Asks one process after the other until there are no more problems, or until the time since the beginning is over.
fn employ(args: &Sweep, source: &Source, (next, begin): (&AtomicU64, Instant), done: &Sender<Done>) -> Result<()> {
    let (limit, end) = (Duration::from_secs_f64(args.limit), indices(args).end);
    let mut process: Option<Talk> = None;
    loop {
        let index = next.fetch_add(1, Ordering::Relaxed);
        if index >= end || args.within.is_some_and(|s| begin.elapsed().as_secs_f64() > s) {
            return Ok(());
        }
        let drawn = source.problem(index).map_err(|e| anyhow!(e))?;
        let fresh = process.is_none();
        let mut answer = ask(&mut process, args, index, limit)?;
        if answer.is_harmful() && !fresh {
            process = None;
            let again = ask(&mut process, args, index, limit)?;
            answer = if again.is_harmful() { again } else { answer.in_company_only() };
        }
        if let Some(ratio) = answer.cliff() {
            process = None;
            let again = ask(&mut process, args, index, limit)?;
            answer = if again.0["ratio"].is_f64() { again.after(ratio) } else { again };
        }
        if answer.is_harmful() && args.peer.is_some() && !Talk::begin(args, true)?.ask(index, limit)?.is_harmful() {
            answer = answer.of_the_peer();
        }
        if answer.is_harmful() || answer.is_alone() {
            process = None;
        }
        // Nobody waits for it where the command has failed already.
        let _ = done.send(Done { index, drawn, answer: answer.0 });
    }
}

/// The verdict on a problem by the process, or by a new one if there is none.
fn ask(process: &mut Option<Talk>, args: &Sweep, index: u64, limit: Duration) -> Result<Answer> {
    let talk = match process {
        Some(talk) => talk,
        None => process.insert(Talk::begin(args, false)?),
    };
    let answer = talk.ask(index, limit)?;
    if talk.has_ended() {
        *process = None;
    }
    Ok(answer)
}

//! A process that reads numbers of problems, and prints verdicts.

use super::talk::READY;
use crate::bench::{Options, Setup, race};
use crate::problems::Named;
use crate::progress::Progress;
use crate::{Sweep, print, verify};
use anyhow::{Context, Result, anyhow};
use oxidnn_runtime::threads;
use oxidnn_testing::harness::{Harness, Verdict};
use oxidnn_testing::sweep::{Drawn, Sweep as Source, family};
use serde_json::{Value, json};
use std::backtrace::Backtrace;
use std::io::BufRead;
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

/// Seconds that each library executes a problem, by default.
const SECONDS: f64 = 0.05;

/// Where the last panic was.
static PANIC: Mutex<String> = Mutex::new(String::new());

/// Returns the verdict on a problem.
type Judge = Box<dyn Fn(&Drawn) -> Value>;

/// Answers until there are no more questions.
pub(super) fn run(args: &Sweep, source: &Source) -> Result<ExitCode> {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map_or(String::new(), |l| format!("{}:{}: ", l.file(), l.line()));
        let place = caller(&Backtrace::force_capture().to_string()).map_or(place.clone(), |name| format!("{name}, {place}"));
        *PANIC.lock().unwrap_or_else(PoisonError::into_inner) = place;
    }));
    let judge: Judge = match &args.peer {
        Some(library) => racer(args, library)?,
        None => {
            let harness = verify::harness(&args.threads, 1, args.row.clone())?;
            Box::new(move |drawn| verdict(&harness, drawn))
        }
    };
    print::line(READY);
    for line in std::io::stdin().lock().lines() {
        let index: u64 = line?.trim().parse().context("a worker reads numbers of problems")?;
        let drawn = source.problem(index).map_err(|e| anyhow!(e))?;
        let mut answer = judge(&drawn);
        answer["index"] = index.into();
        print::line(answer);
    }
    Ok(ExitCode::SUCCESS)
}

/// The innermost function of our crates in a backtrace.
fn caller(trace: &str) -> Option<String> {
    let mut names = trace.lines().filter_map(|line| line.split_once(": ").map(|(_, name)| name.trim()));
    names.find(|name| name.contains("oxidnn_")).map(String::from)
}

fn verdict(harness: &Harness, drawn: &Drawn) -> Value {
    match harness.judge(&drawn.case) {
        Verdict::Passed { rows } => json!({ "verdict": "passed", "rows": rows }),
        Verdict::Wrong { why } => json!({ "verdict": "wrong", "why": why }),
        Verdict::Panicked { message } => {
            let place = PANIC.lock().unwrap_or_else(PoisonError::into_inner);
            json!({ "verdict": "panicked", "why": [format!("{place}{message}")] })
        }
        Verdict::Refused { why } => json!({ "verdict": "refused", "why": why.lines().collect::<Vec<_>>() }),
        Verdict::Skipped => json!({ "verdict": "skipped" }),
    }
}

/// Runs problems on both libraries.
fn racer(args: &Sweep, library: &Path) -> Result<Judge> {
    let counts = if args.threads.is_empty() { vec![threads::default_threads()] } else { args.threads.clone() };
    let options = Options::race(args.seconds.unwrap_or(SECONDS), args.row.clone());
    let setup = Setup::new(options, (!args.alone).then_some(library), &counts)?;
    Ok(Box::new(move |drawn| {
        let named = Named { suite: family(&drawn.case.problem), case: drawn.case.clone() };
        let raced = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| slowest(&named, &setup)));
        match raced {
            Ok(Ok(answer)) => answer,
            Ok(Err(e)) => json!({ "verdict": "refused", "why": [format!("{e:#}")] }),
            Err(_) => json!({ "verdict": "panicked", "why": [PANIC.lock().unwrap_or_else(PoisonError::into_inner).clone()] }),
        }
    }))
}

/// The number of threads on which ours is worst beside the peer.
fn slowest(named: &Named, setup: &Setup) -> Result<Value> {
    let progress = Progress::new(0);
    let mut worst: Option<Value> = None;
    for (threads, stream) in setup.streams() {
        for row in race::suite(std::slice::from_ref(named), (*threads, stream), setup, &progress)? {
            let Some(theirs) = row.theirs() else {
                let why = row.peer.as_ref().and_then(|p| p.as_ref().err()).cloned().unwrap_or_default();
                return Ok(json!({ "verdict": "alone", "impl": row.implementation, "ms": row.ours.ms, "why": [why] }));
            };
            let ratio = theirs.figures.ms / row.ours.ms;
            if worst.as_ref().is_none_or(|w| w["ratio"].as_f64().is_some_and(|r| ratio < r)) {
                worst = Some(json!({
                    "verdict": "raced", "ratio": ratio, "ms": row.ours.ms, "peer_ms": theirs.figures.ms, "threads": threads,
                    "impl": row.implementation, "peer_impl": theirs.implementation
                }));
            }
        }
    }
    worst.context("no number of threads")
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_backtrace_names_our_innermost_function() {
        let trace = "   0: std::backtrace_rs::trace\n   1: core::panicking::panic\n             at ./core/panicking.rs:80:5\n   \
                     2: oxidnn_cpu::ops::matmul::plan\n   3: oxidnn_runtime::desc::new\n   4: oxidnn::sweep::run";
        assert_eq!(super::caller(trace).as_deref(), Some("oxidnn_cpu::ops::matmul::plan"));
        assert_eq!(super::caller("   0: core::ops"), None);
    }
}

//! `oxidnn verify`: every implementation row against the reference.

use crate::problems::{self, Named};
use crate::{Verify, print, progress, session};
use anyhow::Result;
use oxidnn_runtime::{EngineKind, Stream, Threads};
use oxidnn_spec::Error;
use oxidnn_testing::harness::{Harness, Outcome, REFERENCE_ROW, RowResult};
use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What became of one problem.
enum Verdict {
    Passed { rows: Vec<String> },
    Failed { why: Vec<String> },
    Skipped { why: String },
}

/// Runs the command; the exit code is 1 when a problem failed.
pub(crate) fn run(args: &Verify) -> Result<ExitCode> {
    let cases = problems::collect(&args.selection)?;
    let verdicts = judge_all(&cases, args)?;
    let mut rows: BTreeMap<String, usize> = BTreeMap::new();
    let (mut passed, mut failed, mut skipped, mut only_reference) = (0, 0, 0, Vec::new());
    for (case, verdict) in cases.iter().zip(&verdicts) {
        let line = || case.case.problem.to_string();
        match verdict {
            Verdict::Passed { rows: names } => {
                passed += 1;
                for n in names {
                    *rows.entry(n.clone()).or_default() += 1;
                }
                if names.iter().all(|n| n == REFERENCE_ROW) {
                    only_reference.push(line());
                }
            }
            Verdict::Failed { why } => {
                failed += 1;
                print_failure(args.selection.json, &line(), why);
            }
            Verdict::Skipped { why } => {
                skipped += 1;
                print::line(format_args!("SKIPPED {}: {why}", line()));
            }
        }
    }
    report_rows(&rows, &only_reference, args.brief);
    print::line(format_args!("{passed} passed, {failed} failed, {skipped} skipped"));
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn judge_all(cases: &[Named], args: &Verify) -> Result<Vec<Verdict>> {
    let bar = progress::bar(cases.len());
    let next = AtomicUsize::new(0);
    let verdicts: Mutex<Vec<(usize, Verdict)>> = Mutex::default();
    let engine = session::engine();
    let work = || -> Result<()> {
        let threads = match args.threads[..] {
            _ if args.jobs > 1 => Threads::inline(),
            [] => Threads::global(),
            [first, ..] => Threads::new(first),
        };
        let stream = Stream::with_threads(&engine, threads.clone())?;
        let others = args.threads.get(usize::from(args.jobs == 1)..).unwrap_or_default();
        let harness = Harness::new(engine.clone(), stream, args.selection.row.clone());
        let harness = harness.and_special(args.fill);
        let harness = match engine.kind() {
            EngineKind::Cpu => harness.and_narrower(&threads)?.and_threads(others)?,
            EngineKind::Gpu => harness,
        };
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(named) = cases.get(i) else { return Ok(()) };
            let verdict = judge(&harness, named);
            bar.inc(1);
            verdicts.lock().unwrap_or_else(|e| e.into_inner()).push((i, verdict));
        }
    };
    std::thread::scope(|s| {
        let workers: Vec<_> = (0..args.jobs.max(1)).map(|_| s.spawn(work)).collect();
        workers.into_iter().try_for_each(|w| w.join().map_err(|_| anyhow::anyhow!("a worker panicked"))?)
    })?;
    bar.finish_and_clear();
    let mut verdicts = verdicts.into_inner().unwrap_or_else(|e| e.into_inner());
    verdicts.sort_by_key(|v| v.0);
    Ok(verdicts.into_iter().map(|v| v.1).collect())
}

/// A panic inside an implementation fails its problem, not the run; the message is on standard error.
fn judge(harness: &Harness, named: &Named) -> Verdict {
    let verified = std::panic::catch_unwind(AssertUnwindSafe(|| harness.verify(&named.case)));
    match verified.unwrap_or_else(|_| Err(Error::Runtime("the implementation panicked".into()))) {
        Err(Error::Unimplemented(refusal)) => Verdict::Failed { why: vec![refusal.to_string()] },
        Err(e) => Verdict::Failed { why: vec![e.to_string()] },
        Ok(results) if results.is_empty() => {
            Verdict::Skipped { why: "no implementation of that name takes it, or what such values give is not defined".into() }
        }
        Ok(results) => {
            let why: Vec<String> = results.iter().flat_map(failures).collect();
            if why.is_empty() { Verdict::Passed { rows: results.into_iter().map(|r| r.row).collect() } } else { Verdict::Failed { why } }
        }
    }
}

fn failures(r: &RowResult) -> Vec<String> {
    match &r.outcome {
        Outcome::Passed => Vec::new(),
        Outcome::Wrong(all) => all.iter().map(|m| format!("{}: {m}", r.row)).collect(),
        Outcome::Failed(e) => vec![format!("{}: {e}", r.row)],
    }
}

fn print_failure(json: bool, line: &str, why: &[String]) {
    if json {
        print::line(serde_json::json!({ "problem": line, "failed": why }));
    } else {
        print::line(format_args!("FAILED {line}"));
        for w in why {
            print::line(format_args!("    {w}"));
        }
    }
}

fn report_rows(rows: &BTreeMap<String, usize>, only_reference: &[String], brief: bool) {
    if !brief {
        for line in only_reference {
            print::line(format_args!("REFERENCE ONLY {line}"));
        }
    }
    for (row, n) in rows {
        print::line(format_args!("{n:>7} problems passed on {row}"));
    }
    if !only_reference.is_empty() {
        print::line(format_args!("{:>7} problems were taken by the reference only", only_reference.len()));
    }
}

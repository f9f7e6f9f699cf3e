//! `oxidnn verify`: every implementation row against the reference.

use crate::problems::{self, Named};
use crate::progress::Progress;
use crate::{Verify, print, session};
use anyhow::{Result, bail};
use oxidnn_runtime::{EngineKind, Stream, Threads, knobs};
use oxidnn_testing::harness::{Harness, REFERENCE_ROW, Verdict};
use serde_json::json;
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};

/// Runs the command; the exit code is 1 when a problem failed.
pub(crate) fn run(args: &Verify) -> Result<ExitCode> {
    if args.asynchronous {
        knobs::set_asynchronous_streams(true);
    }
    let cases = problems::collect(&args.selection)?;
    let mut report = Report { args, progress: Progress::new(cases.len()), found: Found::default() };
    let (cases, next) = (&cases, &AtomicUsize::new(0));
    let (sender, verdicts) = mpsc::channel();
    std::thread::scope(|s| {
        let senders = vec![sender; args.jobs];
        let workers: Vec<_> = senders.into_iter().map(|to| s.spawn(move || judge(args, cases, next, &to))).collect();
        let (mut early, mut due) = (BTreeMap::new(), 0);
        for (i, verdict) in verdicts.iter().take(cases.len()) {
            report.progress.inc();
            early.insert(i, verdict);
            while let Some(verdict) = early.remove(&due) {
                report.tell(&cases[due], verdict);
                due += 1;
            }
        }
        workers.into_iter().try_for_each(|w| w.join().map_err(|_| anyhow::anyhow!("a worker panicked"))?)
    })?;
    report.progress.end();
    report.end()
}

/// Judges problems until there are no more.
fn judge(args: &Verify, cases: &[Named], next: &AtomicUsize, verdicts: &Sender<(usize, Verdict)>) -> Result<()> {
    let harness = harness(&args.threads, args.jobs, args.selection.row.clone())?.and_special(args.fill).and_unaligned(args.unaligned);
    loop {
        let i = next.fetch_add(1, Ordering::Relaxed);
        let Some(named) = cases.get(i) else { return Ok(()) };
        // Nobody waits for it where the command has failed already.
        let _ = verdicts.send((i, harness.judge(&named.case)));
    }
}

/// The judge of problems, `jobs` of them at a time, on these numbers of threads; a GPU ignores the latter.
pub(crate) fn harness(threads: &[usize], jobs: usize, row: Option<String>) -> Result<Harness> {
    let engine = session::engine();
    if engine.kind() == EngineKind::Gpu {
        let stream = Stream::new(&engine)?;
        return Ok(Harness::new(engine, stream, row));
    }
    let (first, others) = match threads {
        _ if jobs > 1 => (Threads::inline(), threads),
        [] => (Threads::global(), threads),
        [first, others @ ..] => (Threads::new(*first), others),
    };
    Ok(Harness::on(&first, row)?.and_narrower(&first)?.and_emulated(&first)?.and_small_caches(&first)?.and_threads(others)?)
}

/// Numbers of problems.
#[derive(Default)]
struct Found {
    passed: usize,
    failed: usize,
    skipped: usize,
    /// By row.
    rows: BTreeMap<String, usize>,
    only_reference: Vec<String>,
}

/// The output while problems are judged, and at the end.
struct Report<'a> {
    args: &'a Verify,
    progress: Progress,
    found: Found,
}

impl Report<'_> {
    fn tell(&mut self, named: &Named, verdict: Verdict) {
        let line = named.case.problem.to_string();
        let (word, rows, why) = match verdict {
            Verdict::Passed { rows } => ("passed", rows, Vec::new()),
            Verdict::Wrong { why } => ("failed", Vec::new(), why),
            Verdict::Panicked { message } => ("failed", Vec::new(), vec![format!("the implementation panicked: {message}")]),
            Verdict::Refused { why } => ("failed", Vec::new(), vec![why]),
            Verdict::Skipped => {
                ("skipped", Vec::new(), vec!["no implementation of that name takes it, or what such values give is not defined".into()])
            }
        };
        if self.args.selection.json {
            self.progress.print(json!({ "suite": named.suite, "problem": line, "verdict": word, "rows": rows, "why": why }));
        } else if word != "passed" {
            self.progress.print(format_args!("{} {line}", word.to_uppercase()));
            why.iter().flat_map(|w| w.lines()).for_each(|w| self.progress.print(format_args!("    {w}")));
        }
        let found = &mut self.found;
        let count = match word {
            "passed" => &mut found.passed,
            "failed" => &mut found.failed,
            _ => &mut found.skipped,
        };
        *count += 1;
        if word == "passed" && rows.iter().all(|row| row == REFERENCE_ROW) {
            found.only_reference.push(line);
        }
        rows.into_iter().for_each(|row| *found.rows.entry(row).or_default() += 1);
    }

    /// The last lines; an error where no problem has a row of the name that was asked for.
    fn end(&self) -> Result<ExitCode> {
        let Found { passed, failed, skipped, rows, only_reference } = &self.found;
        let result = format!("{passed} passed, {failed} failed, {skipped} skipped");
        if self.args.selection.json {
            eprintln!("{result}");
        } else {
            if !self.args.brief {
                only_reference.iter().for_each(|line| print::line(format_args!("REFERENCE ONLY {line}")));
            }
            rows.iter().for_each(|(row, n)| print::line(format_args!("{n:>7} problems passed on {row}")));
            if !only_reference.is_empty() {
                print::line(format_args!("{:>7} problems were taken by the reference only", only_reference.len()));
            }
            print::line(result);
        }
        if let Some(row) = self.args.selection.row.as_deref().filter(|_| passed + failed == 0) {
            bail!("no implementation with `{row}` in its name takes any of these problems; `oxidnn explain` lists who does");
        }
        Ok(if *failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

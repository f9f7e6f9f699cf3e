//! `oxidnn verify --peer LIB`: another library against the reference.
//!
//! The library runs in a process of its own, which prints one JSON object a problem. A problem may spoil the library's memory for those behind
//! it, so anything but agreement or refusal counts only from a fresh process: the process ends there, or crashes, and the next one begins with the
//! problem in question.

use super::{load, resolved};
use crate::problems::{self, Named};
use crate::{Verify, progress};
use anyhow::{Context, Result};
use oxidnn_peer::{Created, Peer, PeerError, Status};
use oxidnn_spec::Arg;
use oxidnn_testing::compare::Mismatch;
use oxidnn_testing::harness::Truth;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};

/// What can become of a problem, with the words of the report.
const VERDICTS: [(&str, &str); 6] = [
    ("agrees", "agree with the reference"),
    ("DIFFERS", "differ"),
    ("INVALID", "are called invalid by the peer"),
    ("CRASHED", "crash the peer"),
    ("FAILED", "failed"),
    ("refused", "are refused by the peer"),
];

/// More implementations of one problem than any library has.
const MAX_IMPLEMENTATIONS: usize = 32;

/// Those that do no harm.
const HARMLESS: [&str; 2] = ["agrees", "refused"];

/// Checks the library against the reference; the exit code is 1 when a problem disagrees.
pub(crate) fn verify(args: &Verify, library: &Path) -> Result<ExitCode> {
    let cases = problems::collect(&args.selection)?;
    match args.peer_from {
        Some(first) => converse(args, library, &cases[first.min(cases.len())..]),
        None => supervise(args, &cases),
    }
}

/// Runs problems on the library, and prints what became of them, up to the first that wants a fresh process.
fn converse(args: &Verify, library: &Path, cases: &[Named]) -> Result<ExitCode> {
    let peer = load(library, args.threads)?;
    for (i, named) in cases.iter().enumerate() {
        let mut implementation = String::new();
        let (verdict, why) = judge(&peer, named, &mut implementation).unwrap_or_else(verdict_of);
        if i > 0 && !HARMLESS.contains(&verdict) {
            return Ok(ExitCode::SUCCESS);
        }
        println!("{}", json!({ "verdict": verdict, "peer_impl": implementation, "why": why }));
    }
    Ok(ExitCode::SUCCESS)
}

/// Starts processes that talk to the library until every problem has its verdict, and reports.
fn supervise(args: &Verify, cases: &[Named]) -> Result<ExitCode> {
    let bar = progress::bar(cases.len());
    let mut counts = [0usize; VERDICTS.len()];
    let mut done = 0;
    let mut tell = |named: &Named, answer: &Value| {
        let verdict = answer["verdict"].as_str().unwrap_or_default();
        VERDICTS.iter().zip(&mut counts).filter(|(v, _)| v.0 == verdict).for_each(|(_, n)| *n += 1);
        print(args.selection.json, named, verdict, answer);
        bar.inc(1);
    };
    while done < cases.len() {
        let mut child = start(done)?;
        let output = child.stdout.take().context("the process has no output")?;
        let begun = done;
        for line in BufReader::new(output).lines() {
            let answer: Value = serde_json::from_str(&line?)?;
            if let Some(named) = cases.get(done) {
                tell(named, &answer);
            }
            done += 1;
        }
        let status = child.wait()?;
        if done > begun {
            continue;
        }
        if status.code().is_some() {
            anyhow::bail!("the process that talks to the peer ended with {status}");
        }
        tell(&cases[done], &json!({ "verdict": "CRASHED", "peer_impl": "", "why": status.to_string() }));
        done += 1;
    }
    bar.finish_and_clear();
    if !args.selection.json {
        let said = VERDICTS.iter().zip(counts).map(|((_, words), n)| format!("{n} {words}"));
        println!("{}", said.collect::<Vec<_>>().join(", "));
    }
    let harm = VERDICTS.iter().zip(counts).any(|((verdict, _), n)| n > 0 && !HARMLESS.contains(verdict));
    Ok(if harm { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// This program with the same arguments, from problem `first` on.
fn start(first: usize) -> Result<Child> {
    let mut arguments = std::env::args_os().skip(1);
    let command = arguments.next().context("no command")?;
    let mut child = Command::new(std::env::current_exe()?);
    child.arg(command).arg(format!("--peer-from={first}")).args(arguments).stdout(Stdio::piped());
    child.spawn().context("cannot start the process that talks to the peer")
}

fn print(as_json: bool, named: &Named, verdict: &str, answer: &Value) {
    let problem = named.case.problem.to_string();
    if as_json {
        let (implementation, why) = (&answer["peer_impl"], &answer["why"]);
        println!("{}", json!({ "suite": named.suite, "problem": problem, "verdict": verdict, "peer_impl": implementation, "why": why }));
    } else if verdict != VERDICTS[0].0 {
        let part = |key: &str| answer[key].as_str().unwrap_or_default().to_owned();
        println!("{verdict} {problem}\n    {} {}", part("peer_impl"), part("why"));
    }
}

/// A verdict and its reason.
type Judged = (&'static str, String);

fn verdict_of(e: PeerError) -> Judged {
    let verdict = match (&e, e.status()) {
        (PeerError::Ours(_) | PeerError::Signature { .. } | PeerError::Size { .. } | PeerError::Load { .. }, _) => "FAILED",
        (_, Some(Status::InvalidArguments)) => "INVALID",
        (_, Some(Status::RuntimeError | Status::Other(_))) => "FAILED",
        _ => "refused",
    };
    (verdict, e.to_string())
}

/// Compares the implementation that the library prefers; where it differs, also names those of its others that agree with the reference.
fn judge(peer: &Peer, named: &Named, implementation: &mut String) -> Result<Judged, PeerError> {
    let case = &named.case;
    let created = peer.create(&case.problem)?;
    *implementation = created.impl_name()?;
    let truth = Truth::of(&resolved(&case.problem, &case.fill)?, &case.fill)?;
    let wrong = differences(peer, created, &truth)?;
    if wrong.is_empty() {
        return Ok(("agrees", wrong));
    }
    let (mut seen, mut agreeing) = (vec![implementation.clone()], Vec::new());
    for skip in 1..MAX_IMPLEMENTATIONS {
        let other = match peer.create_nth(&case.problem, skip) {
            Ok(other) => other,
            Err(e) if e.status() == Some(Status::LastImplReached) => break,
            Err(_) => continue,
        };
        let name = other.impl_name()?;
        if seen.contains(&name) {
            continue;
        }
        seen.push(name.clone());
        if differences(peer, other, &truth).is_ok_and(|w| w.is_empty()) {
            agreeing.push(name);
        }
    }
    let others = if agreeing.is_empty() { String::new() } else { format!("; its {} agrees", agreeing.join(", ")) };
    Ok(("DIFFERS", wrong + &others))
}

/// What `created` computes otherwise than the reference; nothing where the two agree.
fn differences(peer: &Peer, created: Created, truth: &Truth) -> Result<String, PeerError> {
    let prepared = peer.bind(created, &truth.problem, &truth.inputs, truth.inplace)?;
    prepared.run()?;
    let mut got = prepared.outputs(&truth.inputs)?;
    got.0.retain(|(arg, _)| *arg != Arg::WORKSPACE);
    Ok(truth.compare(&got).iter().map(Mismatch::to_string).collect::<Vec<_>>().join("; "))
}

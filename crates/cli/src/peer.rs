//! `oxidnn verify --peer LIB`: another library and ours, called through the same C functions, against each other.
//!
//! Our library is the one that programs would load (`--ours`, by default the `libdnnl.so` beside this program). If the two compute
//! different numbers, or only one computes, the reference judges. Differences that a page explains (`explained`) are counted and are not
//! failures.
//!
//! The libraries run in a process of their own, which prints JSON objects: the library's name before it calls ours, and the verdict at the
//! end. A problem may corrupt the memory of later ones, so anything but agreement or refusal counts only from a fresh process: the process
//! ends there, or crashes, and the next one begins with the problem in question. After a crash, ours runs once more without the peer, which
//! may have corrupted its memory: only a crash without the peer is ours.

use crate::explained::{Disagreement, Explained};
use crate::problems::{self, Named};
use crate::progress::Progress;
use crate::{Verify, print};
use anyhow::{Context, Result, ensure};
use oxidnn_peer::{Created, Peer, PeerError, Status};
use oxidnn_spec::text::FillHints;
use oxidnn_spec::{Arg, Problem};
use oxidnn_testing::compare::Mismatch;
use oxidnn_testing::concrete::concrete;
use oxidnn_testing::harness::Truth;
use oxidnn_testing::host::HostArgs;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};

/// The possible verdicts on a problem, with the words of the report.
const VERDICTS: [(&str, &str); 11] = [
    ("agrees", "agree"),
    ("THEIRS", "differ, and the reference agrees with ours"),
    ("OURS", "differ, and the reference agrees with the peer"),
    ("DIFFERS", "differ, and the reference agrees with neither"),
    ("INVALID", "are called invalid by the peer"),
    ("MISSING", "are refused by ours"),
    ("CRASHED", "crash in the peer"),
    ("FAILED", "fail in the peer"),
    ("BROKEN", "crash or fail in ours"),
    ("alone", "are refused by the peer, and ours agrees with the reference"),
    ("refused", "are refused by both"),
];

/// More implementations of one problem than any library has.
const MAX_IMPLEMENTATIONS: usize = 32;

/// Those that do no harm.
const HARMLESS: [&str; 3] = ["agrees", "alone", "refused"];

/// Between the names of two implementations.
const AGAINST: &str = " against ";

/// The line that says that our library is being called.
const CALLS_OURS: &str = "ours";

/// Checks the libraries against each other; the exit code is 1 when a problem disagrees.
pub(crate) fn verify(args: &Verify, library: &Path) -> Result<ExitCode> {
    ensure!(args.threads.len() < 2, "--peer compares on one number of threads, --threads names {}", args.threads.len());
    problems::read_again(&args.selection, "--peer reads the problems in processes of their own")?;
    let cases = problems::collect(&args.selection)?;
    match args.peer_from {
        Some(first) => converse(args, library, &cases[first.min(cases.len())..]),
        None => supervise(args, &cases),
    }
}

/// The problem with every open layout and size settled, for the reference and the filling of arguments.
fn resolved(problem: &Problem, fill: &FillHints) -> Result<Problem, PeerError> {
    let mut problem = problem.clone();
    problem.resolve();
    Ok(concrete(&problem, fill)?)
}

/// The file of our library.
fn face(args: &Verify) -> Result<PathBuf> {
    if let Some(file) = &args.ours {
        return Ok(file.clone());
    }
    let beside = std::env::current_exe()?.with_file_name("libdnnl.so");
    let help = "build it (cargo build --release -p oxidnn-c-dnnl), or name a file with --ours";
    beside.is_file().then_some(beside.clone()).with_context(|| format!("{} is not there: {help}", beside.display()))
}

/// The two libraries.
struct Pair {
    theirs: Peer,
    ours: Peer,
}

impl Pair {
    /// Opens both, and prints their versions once.
    fn load(args: &Verify, library: &Path) -> Result<Pair> {
        let open = |option: &str, file: &Path, threads: Option<usize>| {
            let opened = Peer::load(file, threads).with_context(|| format!("{option} {}", file.display()))?;
            if args.peer_from == Some(0) {
                eprintln!("{option}: {}", opened.describe());
            }
            Ok::<_, anyhow::Error>(opened)
        };
        let pair = Pair { theirs: open("--peer", library, args.threads.first().copied())?, ours: open("--ours", &face(args)?, None)? };
        if !pair.theirs.threads_are_set() && args.peer_from == Some(0) {
            eprintln!(
                "--peer: has no OpenMP runtime, so --threads does not reach it; bind the whole process to so many cores instead (taskset)"
            );
        }
        Ok(pair)
    }
}

/// Runs problems on the libraries, and prints their verdicts, up to the first that needs a fresh process.
fn converse(args: &Verify, library: &Path, cases: &[Named]) -> Result<ExitCode> {
    let pair = Pair::load(args, library)?;
    for (i, named) in cases.iter().enumerate() {
        let mut implementation = String::new();
        let theirs = (!args.peer_idle).then_some(&pair.theirs);
        let ((verdict, why), off) = judge(theirs, &pair.ours, named, &mut implementation).unwrap_or_else(|e| (verdict_of(e), None));
        if i > 0 && !HARMLESS.contains(&verdict) {
            return Ok(ExitCode::SUCCESS);
        }
        let off = off.map_or(Value::Null, |off| if off.is_finite() { json!(off) } else { json!("without measure") });
        print::line(json!({ "verdict": verdict, "impl": implementation, "why": why, "off": off }));
    }
    Ok(ExitCode::SUCCESS)
}

/// The findings so far.
struct Report {
    json: bool,
    page: Explained,
    progress: Progress,
    counts: [usize; VERDICTS.len()],
    /// How many of those that do harm the page explains, and how many it does not.
    explained: usize,
    unexplained: usize,
}

impl Report {
    /// Counts an answer, and prints it where that is asked for or it does harm.
    fn tell(&mut self, named: &Named, answer: &Value) {
        let part = |key: &str| answer[key].as_str().unwrap_or_default();
        let (verdict, pair, why) = (part("verdict"), part("impl"), part("why"));
        VERDICTS.iter().zip(&mut self.counts).filter(|(v, _)| v.0 == verdict).for_each(|(_, n)| *n += 1);
        let harmless = HARMLESS.contains(&verdict);
        let problem = named.case.problem.to_string();
        let implementation = pair.split(AGAINST).next().unwrap_or_default();
        // JSON has no infinity: a distance that no number says is a text.
        let off = answer["off"].as_f64().or(answer["off"].is_string().then_some(f64::INFINITY));
        let reason = self.page.reason(&Disagreement { verdict, problem: &problem, implementation, off }).filter(|_| !harmless);
        if self.json {
            let explained = reason.map_or(Value::Null, Value::from);
            let line = json!({ "suite": named.suite, "problem": problem, "verdict": verdict, "impl": pair, "why": why, "off": answer["off"], "explained": explained });
            self.progress.print(line);
        } else if !harmless && reason.is_none() {
            self.progress.print(format_args!("{verdict} {problem}\n    {pair} {why}"));
        }
        self.explained += usize::from(reason.is_some());
        self.unexplained += usize::from(!harmless && reason.is_none());
        self.progress.inc();
    }

    /// Ends the report; whether nothing did harm.
    fn end(&self) -> ExitCode {
        self.progress.end();
        if !self.json {
            let said = VERDICTS.iter().zip(self.counts).map(|((_, words), n)| format!("{n} {words}"));
            print::line(said.collect::<Vec<_>>().join(", "));
            print::line(format_args!("{} disagreements are explained, {} are not", self.explained, self.unexplained));
        }
        if self.unexplained == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

/// Starts processes that talk to the library until every problem has its verdict, and reports.
fn supervise(args: &Verify, cases: &[Named]) -> Result<ExitCode> {
    let page = Explained::load(args.explained.as_deref(), &args.selection.batch)?;
    let progress = Progress::new(cases.len());
    let mut report = Report { json: args.selection.json, page, progress, counts: [0; VERDICTS.len()], explained: 0, unexplained: 0 };
    let mut done = 0;
    while done < cases.len() {
        let mut child = start(done, args.threads.first().copied(), false)?;
        let output = child.stdout.take().context("the process has no output")?;
        let (begun, mut running) = (done, "the peer");
        for line in BufReader::new(output).lines() {
            // The libraries write to standard output too.
            let Ok(answer) = serde_json::from_str::<Value>(&line?) else { continue };
            if answer == CALLS_OURS {
                running = CALLS_OURS;
                continue;
            }
            running = "the peer";
            if let Some(named) = cases.get(done) {
                report.tell(named, &answer);
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
        let (verdict, place) = match (right_alone(done, args.threads.first().copied())?, running) {
            (false, _) => ("BROKEN", "in either; ours is not right without the peer either"),
            (true, CALLS_OURS) => ("CRASHED", "in ours, which is right where the peer has not run before"),
            (true, _) => ("CRASHED", "in the peer; ours is right"),
        };
        report.tell(&cases[done], &json!({ "verdict": verdict, "impl": "", "why": format!("{status} {place}") }));
        done += 1;
    }
    Ok(report.end())
}

/// Whether our library computes problem `first` as the reference does, or refuses it, in a process where nothing ran before.
fn right_alone(first: usize, threads: Option<usize>) -> Result<bool> {
    let mut child = start(first, threads, true)?;
    let output = child.stdout.take().context("the process has no output")?;
    let answers = BufReader::new(output).lines().map_while(Result::ok).filter_map(|line| serde_json::from_str::<Value>(&line).ok());
    let verdict = answers.filter(|a| *a != CALLS_OURS).map(|a| a["verdict"] == "alone" || a["verdict"] == "refused").next();
    // One answer is enough.
    let _ = child.kill();
    child.wait()?;
    Ok(verdict == Some(true))
}

/// This program with the same arguments, from problem `first` on; `alone` without the peer.
fn start(first: usize, threads: Option<usize>, alone: bool) -> Result<Child> {
    let mut arguments = std::env::args_os().skip(1);
    let command = arguments.next().context("no command")?;
    let mut child = Command::new(std::env::current_exe()?);
    child.arg(command).arg(format!("--peer-from={first}")).args(alone.then_some("--peer-idle")).args(arguments).stdout(Stdio::piped());
    child.envs(threads.map(|n| ("OXIDNN_NUM_THREADS", n.to_string())));
    child.spawn().context("cannot start the process that talks to the peer")
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

/// A library's result of a problem: its outputs, or why there are none.
fn computed(peer: &Peer, created: Result<Created, PeerError>, truth: &Truth) -> Result<HostArgs, PeerError> {
    let prepared = peer.bind(created?, &truth.problem, &truth.inputs, truth.inplace)?;
    prepared.run()?;
    let mut got = prepared.outputs(&truth.inputs)?;
    got.0.retain(|(arg, _)| *arg != Arg::WORKSPACE);
    Ok(got)
}

/// Mismatches in words; nothing where there are none.
fn said(mismatches: &[Mismatch]) -> String {
    mismatches.iter().map(Mismatch::to_string).collect::<Vec<_>>().join("; ")
}

/// How far the worst of some mismatches is off, relative to the largest element of its output.
fn distance(mismatches: &[Mismatch]) -> Option<f64> {
    mismatches.iter().map(Mismatch::distance).reduce(f64::max)
}

/// Compares the implementations that the libraries prefer, and reports the error of the peer's; if the peer's is wrong, also names those of
/// its others that are right.
fn judge(peer: Option<&Peer>, ours: &Peer, named: &Named, implementation: &mut String) -> Result<(Judged, Option<f64>), PeerError> {
    let case = &named.case;
    let idle = || PeerError::Inexpressible("the peer is idle".into());
    let peer = peer.ok_or_else(idle);
    let created = peer.clone().and_then(|p| p.create(&case.problem));
    *implementation = created.as_ref().map_or(Ok("-".into()), Created::impl_name)?;
    let truth = Truth::of(&resolved(&case.problem, &case.fill)?, &case.fill)?;
    let theirs = peer.clone().and_then(|p| computed(p, created, &truth));
    print::line(json!(CALLS_OURS));
    let created = ours.create(&case.problem);
    *implementation += AGAINST;
    *implementation += &created.as_ref().map_or(Ok("-".into()), Created::impl_name)?;
    let ours = computed(ours, created, &truth);
    let (theirs, ours) = match (theirs, ours) {
        (Ok(theirs), Ok(ours)) => (theirs, ours),
        (Ok(_), Err(e)) => return Ok((("MISSING", e.to_string()), None)),
        (Err(refusal), Ok(ours)) => {
            let (verdict, why) = verdict_of(refusal);
            let wrong = said(&truth.compare(&ours));
            let judged = match (verdict, wrong.is_empty()) {
                ("refused", true) => ("alone", why),
                (_, true) => (verdict, why),
                (_, false) => ("OURS", format!("{why}; ours: {wrong}")),
            };
            return Ok((judged, None));
        }
        (Err(_), Err(ours)) if verdict_of(ours.clone()).0 == "FAILED" => return Ok((("BROKEN", ours.to_string()), None)),
        (Err(refusal), Err(ours)) => return Ok((("refused", format!("{refusal}; ours: {ours}")), None)),
    };
    let between = said(&truth.compare_with(&theirs, &ours));
    if between.is_empty() {
        return Ok((("agrees", between), None));
    }
    let [theirs, ours] = [theirs, ours].map(|got| truth.compare(&got));
    let off = distance(&theirs);
    let [theirs, ours] = [theirs, ours].map(|wrong| said(&wrong));
    let judged = match (theirs.is_empty(), ours.is_empty()) {
        (true, true) => ("agrees", between),
        (true, false) => ("OURS", between),
        (false, true) => ("THEIRS", theirs + &peer.map_or_else(|_| String::new(), |p| agreeing(p, named, &truth))),
        (false, false) => ("DIFFERS", format!("{between}; reference and peer: {theirs}; reference and ours: {ours}")),
    };
    Ok((judged, off))
}

/// The peer's other implementations that agree with the reference, in words.
fn agreeing(peer: &Peer, named: &Named, truth: &Truth) -> String {
    let (mut seen, mut right) = (Vec::new(), Vec::new());
    for skip in 0..MAX_IMPLEMENTATIONS {
        let other = match peer.create_nth(&named.case.problem, skip) {
            Ok(other) => other,
            Err(e) if e.status() == Some(Status::LastImplReached) => break,
            Err(_) => continue,
        };
        let Ok(name) = other.impl_name() else { continue };
        if seen.contains(&name) {
            continue;
        }
        seen.push(name.clone());
        if computed(peer, Ok(other), truth).is_ok_and(|got| truth.compare(&got).is_empty()) {
            right.push(name);
        }
    }
    if right.is_empty() { String::new() } else { format!("; its {} agrees", right.join(", ")) }
}

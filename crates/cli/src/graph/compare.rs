//! `oxidnn graph --verify --peer LIB`: results of graphs here and in another library, against each other and against their operations one
//! by one.
//!
//! The other library runs in a process of its own, which prints a JSON object when ours is done with a graph, and one with the verdict. As
//! for problems (`peer`), anything but agreement counts only from a fresh process, and explained differences do not count as failures.

use super::case::Case;
use super::run::{self, Difference};
use super::truth::Accuracy;
use super::{Options, race};
use crate::explained::{Disagreement, Explained};
use crate::print;
use crate::progress::Progress;
use anyhow::{Context, Result, ensure};
use oxidnn_graph::{Graph, Policy};
use oxidnn_peer::{Peer, PeerError, Status};
use oxidnn_runtime::{EngineKind, Stream};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitCode, Stdio};

/// Verdicts that do no harm: equal results; as near to the truth as the operations one by one, whose roundings make more of a difference than is
/// allowed; only ours computes, and is right.
const HARMLESS: [&str; 3] = ["agrees", "rounds", "alone"];

/// The facts about a graph before the other library is called.
const CALLS_PEER: &str = "peer";

/// The verdict on a graph, its reason, and the error of the other library.
struct Verdict {
    word: &'static str,
    why: String,
    off: Option<f64>,
    /// Whether both libraries make the same partitions.
    same: bool,
}

/// Compares the graphs from number `first` on with those of `peer`, and prints verdicts up to the first that needs a fresh process.
pub(super) fn converse(cases: &[Case], first: usize, stream: &Stream, peer: &Peer) -> Result<ExitCode> {
    for (i, case) in cases.iter().enumerate().skip(first) {
        let Verdict { word, why, off, same } = verdict(case, stream, peer)?;
        if i > first && !HARMLESS.contains(&word) {
            break;
        }
        let off = off.map(|off| if off.is_finite() { json!(off) } else { json!("without measure") });
        print::line(json!({ "verdict": word, "why": why, "off": off, "same": same }));
    }
    Ok(ExitCode::SUCCESS)
}

fn wrong(differences: &[Difference]) -> String {
    differences.iter().filter(|d| !d.fits()).map(Difference::to_string).collect::<Vec<_>>().join("; ")
}

fn verdict(case: &Case, stream: &Stream, peer: &Peer) -> Result<Verdict> {
    let partitioned = |policy| case.net.partitioned(EngineKind::Cpu, policy).with_context(|| case.name.clone());
    let (graph, single) = (partitioned(Policy::Fusion)?, partitioned(Policy::Debug)?);
    let (ours, single) = (run::compute(stream, &graph, None), run::compute(stream, &single, None));
    let said = |word, why, off| Verdict { word, why, off, same: false };
    if let Some(e) = ours.failed.as_ref().or(single.failed.as_ref()) {
        return Ok(said("BROKEN", e.to_string(), None));
    }
    let own = wrong(&run::differences(&case.net, &ours, &single)?);
    if !own.is_empty() {
        let accuracy = Accuracy::of(&case.net, stream, [&ours, &single])?;
        if !accuracy.is_right() {
            return Ok(said("OURS", format!("{own}; {accuracy}"), None));
        }
    }
    print::line(json!(CALLS_PEER));
    let (there, same) = match race::theirs(case, &graph, &ours, peer)? {
        Ok((run, _, same)) => (race::computed_there(stream, &run, &ours)?, same),
        Err(e) => return Ok(said(word_of(&e), e.to_string(), None)),
    };
    let agree = [&ours, &single].map(|right| run::differences(&case.net, &there, right));
    let [between, theirs] = agree;
    let (between, theirs) = (between?, theirs?);
    let off = theirs.iter().map(Difference::relative).reduce(f64::max);
    let agrees = wrong(&between).is_empty() || wrong(&theirs).is_empty();
    if agrees && own.is_empty() {
        return Ok(Verdict { word: "agrees", why: String::new(), off, same });
    }
    let accuracy = Accuracy::of(&case.net, stream, [&there, &single])?;
    match agrees || accuracy.is_right() {
        true => Ok(Verdict { word: "rounds", why: accuracy.to_string(), off, same }),
        false => Ok(Verdict { word: "THEIRS", why: format!("{}; {accuracy}", wrong(&theirs)), off, same }),
    }
}

fn word_of(e: &PeerError) -> &'static str {
    match e.status() {
        Some(Status::Unimplemented) => "alone",
        Some(Status::InvalidArguments) => "INVALID",
        _ => "FAILED",
    }
}

/// The graph as the page of differences names it: its partitions' patterns, and the kinds of its operations.
fn line(case: &Case, graph: &Graph) -> String {
    let mut words = vec!["--graph".to_string()];
    words.extend(graph.partitions().iter().map(|p| format!("--pattern={}", p.pattern())));
    let mut kinds: Vec<&str> = case.net.ops.iter().map(|op| op.kind.name()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    words.extend(kinds.into_iter().map(|kind| format!("--op={kind}")));
    words.push(case.name.clone());
    words.join(" ")
}

/// The findings so far.
struct Report<'a> {
    options: &'a Options,
    page: Explained,
    progress: Progress,
    counts: BTreeMap<String, usize>,
    explained: usize,
    unexplained: usize,
    /// Graphs whose partitions are not those of the other library.
    others: usize,
}

impl Report<'_> {
    fn tell(&mut self, case: &Case, answer: &Value) -> Result<()> {
        let verdict = answer["verdict"].as_str().unwrap_or_default();
        let graph = case.net.partitioned(EngineKind::Cpu, Policy::Fusion)?;
        *self.counts.entry(verdict.to_string()).or_default() += 1;
        let harmless = HARMLESS.contains(&verdict);
        let off = answer["off"].as_f64().or(answer["off"].is_string().then_some(f64::INFINITY));
        let problem = line(case, &graph);
        let reason = self.page.reason(&Disagreement { verdict, problem: &problem, implementation: "", off }).filter(|_| !harmless);
        self.others += usize::from(answer["same"] == json!(false) && verdict == "agrees");
        self.explained += usize::from(reason.is_some());
        self.unexplained += usize::from(!harmless && reason.is_none());
        if self.options.json {
            self.progress.print(json!({ "graph": problem, "answer": answer, "explained": reason }));
        } else if !harmless && reason.is_none() {
            self.progress.print(format_args!("{verdict} {problem}\n    {}", answer["why"].as_str().unwrap_or_default()));
        }
        self.progress.inc();
        Ok(())
    }

    fn end(&self) -> ExitCode {
        self.progress.end();
        if !self.options.json {
            let said: Vec<String> = self.counts.iter().map(|(verdict, n)| format!("{n} {verdict}")).collect();
            print::line(said.join(", "));
            print::line(format_args!(
                "{} disagreements are explained, {} are not; {} that agree have other partitions there",
                self.explained, self.unexplained, self.others
            ));
        }
        if self.unexplained == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

/// Starts processes that talk to the library until every graph has its verdict, and reports.
pub(super) fn supervise(options: &Options, cases: &[Case]) -> Result<ExitCode> {
    let page = Explained::load(options.explained.as_deref(), &options.batch)?;
    let (progress, counts) = (Progress::new(cases.len()), BTreeMap::new());
    let mut report = Report { options, page, progress, counts, explained: 0, unexplained: 0, others: 0 };
    let mut done = 0;
    while done < cases.len() {
        let before = done;
        let mut child = start(done)?;
        let output = child.stdout.take().context("the process has no output")?;
        let mut calls_peer = false;
        for text in BufReader::new(output).lines() {
            let Ok(answer) = serde_json::from_str::<Value>(&text?) else { continue };
            if answer == CALLS_PEER {
                calls_peer = true;
                continue;
            }
            report.tell(&cases[done], &answer)?;
            (done, calls_peer) = (done + 1, false);
        }
        let status = child.wait()?;
        // A library may crash while the process ends.
        if done > before || done == cases.len() && !calls_peer {
            continue;
        }
        ensure!(!status.success(), "the process that talks to the peer ended without a word");
        let word = if calls_peer { "CRASHED" } else { "BROKEN" };
        report.tell(&cases[done], &json!({ "verdict": word, "why": status.to_string(), "same": false }))?;
        done += 1;
    }
    Ok(report.end())
}

/// This program with the same arguments, from graph `first` on.
fn start(first: usize) -> Result<Child> {
    let mut arguments = std::env::args_os().skip(1);
    let command = arguments.next().context("no command")?;
    let mut child = Command::new(std::env::current_exe()?);
    child.arg(command).arg(format!("--peer-from={first}")).args(arguments).stdout(Stdio::piped());
    child.spawn().context("cannot start the process that talks to the peer")
}

//! A graph in this library and another, in turns, on the same numbers.

use super::Options;
use super::case::Case;
use super::run::{self, Computed, Difference};
use crate::bench::race::Pair;
use crate::print;
use anyhow::Result;
use oxidnn_graph::{Graph, LogicalTensor, Property};
use oxidnn_peer::{GraphRun, Peer, PeerError, Status};
use oxidnn_runtime::{Memory, Stream};
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;

/// Seconds for each library, by default.
const SECONDS: f64 = 0.3;
/// Sleep before a turn of several threads.
const QUIET: Duration = Duration::from_millis(10);

/// Where a race takes place.
pub(super) struct Sides {
    pub(super) stream: Stream,
    pub(super) peer: Peer,
}

/// The result of a race.
pub(super) struct Raced {
    name: String,
    /// Partitions here and there, and whether they are the same.
    partitions: [usize; 2],
    same: bool,
    /// Milliseconds of an execution, and of the compilation.
    ours: [f64; 2],
    theirs: Result<[f64; 2], String>,
    /// How many times as fast as the other library it should be.
    least: Option<f64>,
}

impl Raced {
    /// How many times as fast this library is.
    fn ratio(&self) -> Option<f64> {
        self.theirs.as_ref().ok().map(|t| t[0] / self.ours[0])
    }

    /// The required ratio, and whether it is reached; empty if there is none.
    fn verdict(&self) -> String {
        let verdict = |(least, ratio): (f64, f64)| format!("{least:.1} {}", if ratio >= least { "met" } else { "MISSED" });
        self.least.zip(self.ratio()).map(verdict).unwrap_or_default()
    }
}

fn bytes(lt: &LogicalTensor, memory: &Memory<'_>) -> Result<Vec<u8>> {
    if lt.property == Property::HostScalar {
        let number = memory.read_f64()?.first().copied().unwrap_or_default();
        return Ok(match lt.dtype {
            Some(oxidnn_spec::DataType::F32) => (number as f32).to_le_bytes().to_vec(),
            Some(oxidnn_spec::DataType::S32) => (number as i32).to_le_bytes().to_vec(),
            _ => (number as i64).to_le_bytes().to_vec(),
        });
    }
    Ok(memory.map(0)?.to_vec())
}

/// The graph on the other library, with our inputs, and whether its partitions are ours.
pub(super) fn theirs(case: &Case, graph: &Graph, computed: &Computed, peer: &Peer) -> Result<Result<(GraphRun, usize, bool), PeerError>> {
    let made = |id: usize| case.net.ops.iter().any(|op| op.outputs.iter().any(|lt| lt.id == id));
    let mut given = BTreeMap::new();
    for (id, (lt, memory)) in computed.tensors.iter().filter(|(id, _)| !made(**id)) {
        given.insert(*id, (*lt, bytes(lt, memory)?));
    }
    let groups = |mut all: Vec<Vec<usize>>| {
        all.iter_mut().for_each(|g| g.sort_unstable());
        all.sort();
        all
    };
    let ours = groups(graph.partitions().iter().map(|p| p.ops().iter().map(|o| o.id).collect()).collect());
    Ok(peer.partitions(&case.net.ops, case.net.fpmath).and_then(|partitions| {
        let same = ours == groups(partitions.iter().map(|p| p.ops.clone()).collect());
        // A graph that it does not compute takes it no time, and differs from nothing.
        let computed = |id: &usize| graph.partitions().iter().any(|p| p.refusal().is_none() && p.ops().iter().any(|op| op.id == *id));
        if let Some(refused) = partitions.iter().find(|p| !p.is_supported && p.ops.iter().any(computed)) {
            return Err(PeerError::Refused { what: format!("partition of operations {:?}", refused.ops), status: Status::Unimplemented });
        }
        let run = peer.graph(&partitions, &given)?;
        run.run()?;
        Ok((run, partitions.len(), same))
    }))
}

/// The other library's results, in the form of the comparison; without host scalars, which are given.
pub(super) fn computed_there(stream: &Stream, run: &GraphRun, ours: &Computed) -> Result<Computed> {
    let mut there = Computed::default();
    for (id, _) in ours.tensors.iter().filter(|(_, (lt, _))| lt.property != Property::HostScalar) {
        if let Some((lt, bytes)) = run.read(*id)? {
            let memory = Memory::new(stream.engine(), lt.tensor()?)?;
            let mut to = memory.map_mut(0)?;
            let count = to.len().min(bytes.len());
            to[..count].copy_from_slice(&bytes[..count]);
            to.unmap()?;
            there.tensors.insert(*id, (lt, memory));
        }
    }
    Ok(there)
}

/// Races one graph and shows the result; false where something is wrong with it.
pub(super) fn show(options: &Options, case: &Case, graph: &Graph, sides: &Sides, all: &mut Vec<Raced>) -> Result<bool> {
    let Sides { stream, peer } = sides;
    let computed = run::compute(stream, graph, None);
    if let Some(e) = &computed.failed {
        print::line(if options.json {
            json!({"graph": case.name, "error": e.to_string()}).to_string()
        } else {
            format!("{}: {e}", case.name)
        });
        return Ok(false);
    }
    let mut prepared = Vec::new();
    for times in &computed.done {
        let partition = times.compiled.partition();
        let memories = |ports: &[LogicalTensor]| ports.iter().map(|lt| &computed.tensors[&lt.id].1 as &Memory<'_>).collect::<Vec<_>>();
        prepared.push((&times.compiled, memories(partition.inputs()), memories(partition.outputs())));
    }
    // One after the other they need the scratch of the one that needs most.
    let scratch = prepared.iter().map(|(compiled, ..)| compiled.scratch_bytes()).max().filter(|bytes| *bytes > 0);
    let scratch = scratch.map(|bytes| Memory::scratch(stream.engine(), bytes)).transpose()?;
    let ours = || -> Result<()> {
        for (compiled, inputs, outputs) in &prepared {
            compiled.execute(stream, inputs, outputs, scratch.as_ref())?;
        }
        Ok(stream.wait()?)
    };
    let seconds = options.seconds.unwrap_or(SECONDS);
    let quiet = if options.threads == Some(1) { Duration::ZERO } else { QUIET };
    let mut pair = Pair::default();
    let other = theirs(case, graph, &computed, peer)?;
    let mut right = true;
    let (mut partitions, mut same) = ([graph.partitions().len(), 0], false);
    let theirs = match &other {
        Err(e) => {
            pair.alternate(ours, None::<fn() -> Result<(), PeerError>>, seconds, quiet)??;
            Err(e.to_string())
        }
        Ok((run, count, equal)) => {
            (partitions[1], same) = (*count, *equal);
            if options.verify {
                let there = computed_there(stream, run, &computed)?;
                let differences = run::differences(&case.net, &computed, &there)?;
                right = differences.iter().all(Difference::fits);
                differences.iter().for_each(|d| print::line(if options.json { d.json().to_string() } else { format!("  {d}") }));
            }
            let compile: f64 = run.compiled().iter().map(Duration::as_secs_f64).sum();
            let raced = pair.alternate(ours, Some(|| run.run()), seconds, quiet)?;
            raced.map(|()| [pair.theirs.best().as_secs_f64() * 1e3, compile * 1e3]).map_err(|e| e.to_string())
        }
    };
    let compile: f64 = computed.done.iter().map(|t| t.compile).sum();
    let ours = [pair.ours.best().as_secs_f64() * 1e3, compile * 1e3];
    let raced = Raced { name: case.name.clone(), partitions, same, ours, theirs, least: case.least };
    print(options, &raced);
    all.push(raced);
    Ok(right)
}

fn print(options: &Options, raced: &Raced) {
    let Raced { name, partitions, same, ours, theirs, least } = raced;
    if options.json {
        let (theirs, error) = (theirs.as_ref().ok(), theirs.as_ref().err());
        return print::line(json!({
            "graph": name, "partitions": partitions, "same_partitions": same, "ms": ours[0], "compile_ms": ours[1],
            "peer_ms": theirs.map(|t| t[0]), "peer_compile_ms": theirs.map(|t| t[1]), "ratio": raced.ratio(), "least": least, "peer_error": error,
        }));
    }
    if options.markdown {
        return;
    }
    let other = match theirs {
        Ok([ms, _]) => {
            let verdict = raced.verdict();
            let verdict = if verdict.is_empty() { verdict } else { format!(" ({verdict})") };
            format!("{ms:.4} ms there, {:.2} times as fast{verdict}", raced.ratio().unwrap_or_default())
        }
        Err(e) => format!("not there: {e}"),
    };
    let groups = if *same { String::new() } else { format!(", {} partitions here, {} there", partitions[0], partitions[1]) };
    print::line(format_args!("{:10.4} ms here, {other}: {name}{groups}", ours[0]));
}

/// The table of all races, and their mean.
pub(super) fn summary(options: &Options, all: &[Raced]) {
    if options.markdown {
        print::line(
            "| graph | partitions | ms | peer's ms | times as fast | should be | compiled in ms | peer |\n|---|---:|---:|---:|---:|---|---:|---:|",
        );
        for raced in all {
            let Raced { name, partitions: [here, there], ours, theirs, .. } = raced;
            let count = if here == there { here.to_string() } else { format!("{here}, peer {there}") };
            match theirs {
                Ok(theirs) => print::line(format_args!(
                    "| `{name}` | {count} | {:.4} | {:.4} | {:.2} | {} | {:.1} | {:.1} |",
                    ours[0],
                    theirs[0],
                    theirs[0] / ours[0],
                    raced.verdict(),
                    ours[1],
                    theirs[1]
                )),
                Err(e) => print::line(format_args!("| `{name}` | {count} | {:.4} | {e} | | | {:.1} | |", ours[0], ours[1])),
            }
        }
    }
    let ratios: Vec<f64> = all.iter().filter_map(Raced::ratio).collect();
    if ratios.len() > 1 && !options.json {
        let mean = (ratios.iter().map(|r| r.ln()).sum::<f64>() / ratios.len() as f64).exp();
        let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let slower = ratios.iter().filter(|r| **r < 1.0).count();
        print::line(format_args!(
            "{} graphs: {mean:.2} times as fast in the geometric mean, {least:.2} at least, {slower} slower",
            ratios.len()
        ));
        let asked = all.iter().filter_map(|raced| Some(raced.ratio()? >= raced.least?));
        let (met, missed): (Vec<bool>, Vec<bool>) = asked.partition(|&met| met);
        if !met.is_empty() || !missed.is_empty() {
            print::line(format_args!("as fast as they should be: {} of {}", met.len(), met.len() + missed.len()));
        }
    }
}

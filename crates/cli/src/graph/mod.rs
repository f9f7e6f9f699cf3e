//! `oxidnn graph`: graphs from files: their partitions, why operations are not in larger ones, what is computed, and how long it takes.

mod dot;
mod load;
mod run;

use crate::{numbers, print, session};
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use oxidnn_graph::{Graph, Partition, Policy};
use oxidnn_runtime::Engine;
use run::{Net, Times};
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

/// Shows the partitions of graphs: files that oneDNN's or this library's ONEDNN_GRAPH_DUMP=graph wrote.
#[derive(Args)]
pub(crate) struct Options {
    /// Files of graphs.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// What partitions may be: as large as they can be computed together, or one operation.
    #[arg(long, value_name = "POLICY", default_value = "fusion")]
    policy: Choice,
    /// Say of each operation which patterns of higher priority declined, and why.
    #[arg(long)]
    explain: bool,
    /// Print the graph in the language of Graphviz instead.
    #[arg(long, conflicts_with_all = ["json", "verify", "seconds"])]
    dot: bool,
    /// Compute with numbers of the program's own, and compare with the operations one by one.
    #[arg(long)]
    verify: bool,
    /// Time each partition for so many seconds.
    #[arg(long, value_name = "S", value_parser = numbers::seconds)]
    seconds: Option<f64>,
    /// Print JSON, one object a line.
    #[arg(long)]
    json: bool,
}

/// The specification's policies.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Choice {
    Fusion,
    Debug,
}

/// Runs the command; the exit code is 1 when a partition cannot be compiled or computes something else than its operations.
pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    let engine = session::engine();
    let mut code = ExitCode::SUCCESS;
    for file in &options.files {
        let shown = file.display();
        let text = std::fs::read_to_string(file).with_context(|| format!("{shown}"))?;
        let net = load::graph(&text).with_context(|| format!("{shown}"))?;
        let policy = if options.policy == Choice::Debug { Policy::Debug } else { Policy::Fusion };
        let graph = net.partitioned(policy).with_context(|| format!("{shown}"))?;
        if options.dot {
            print::line(dot::text(&graph));
            continue;
        }
        if !show(options, &engine, &net, &graph)? {
            code = ExitCode::FAILURE;
        }
    }
    Ok(code)
}

/// Shows one graph; false where something is wrong with it.
fn show(options: &Options, engine: &Engine, net: &Net, graph: &Graph) -> Result<bool> {
    let computed = run::compute(engine, graph, options.seconds);
    for (i, partition) in graph.partitions().iter().enumerate() {
        // After a partition that fails there is nothing to compile the others for.
        let times = computed.done.get(i);
        if options.json {
            print::line(of_partition(partition, times));
        } else {
            lines(partition, times);
        }
    }
    if options.explain {
        for explanation in graph.explain() {
            match options.json {
                true => print::line(json!({
                    "op": explanation.op, "kind": explanation.kind.name(), "partition": explanation.partition, "pattern": explanation.pattern,
                    "declined": explanation.declined.iter().map(|(n, p, w)| json!({"pattern": n, "priority": p, "why": w})).collect::<Vec<_>>(),
                })),
                false => print::line(explanation),
            }
        }
    }
    if let Some(e) = &computed.failed {
        print::line(if options.json { json!({ "error": e.to_string() }).to_string() } else { format!("not computed further: {e}") });
        return Ok(false);
    }
    if !options.verify {
        return Ok(true);
    }
    let single = run::compute(engine, &net.partitioned(Policy::Debug)?, None);
    if let Some(e) = &single.failed {
        print::line(if options.json { json!({ "error": e.to_string() }).to_string() } else { format!("one by one: {e}") });
        return Ok(false);
    }
    let mut right = true;
    for difference in run::differences(net, &computed, &single)? {
        right &= difference.fits();
        print::line(if options.json { difference.json().to_string() } else { difference.to_string() });
    }
    Ok(right)
}

fn kinds(partition: &Partition) -> Vec<String> {
    partition.ops().iter().map(|op| format!("{} {}", op.id, op.kind.name())).collect()
}

fn of_partition(partition: &Partition, times: Option<&Times>) -> String {
    json!({
        "partition": partition.id(), "pattern": partition.pattern(), "refusal": partition.refusal(),
        "ops": partition.ops().iter().map(|op| json!({"id": op.id, "kind": op.kind.name()})).collect::<Vec<_>>(),
        "steps": times.map(|t| t.compiled.notes()),
        "problems": times.map(|t| t.compiled.problems().into_iter().map(|(p, i)| json!({"problem": p, "impl": i})).collect::<Vec<_>>()),
        "scratch_bytes": times.map(|t| t.compiled.scratch_bytes()),
        "in_place": times.map(|t| t.compiled.in_place()),
        "compile_ms": times.map(|t| t.compile * 1e3),
        "execute_ms": times.and_then(|t| t.execute).map(|t| t * 1e3),
    })
    .to_string()
}

fn lines(partition: &Partition, times: Option<&Times>) {
    print::line(format_args!("partition {} ({}): {}", partition.id(), partition.pattern(), kinds(partition).join(", ")));
    if let Some(why) = partition.refusal() {
        print::line(format_args!("  not supported: {why}"));
    }
    let Some(Times { compiled, compile, execute }) = times else { return };
    for note in compiled.notes() {
        print::line(format_args!("  step: {note}"));
    }
    for (problem, name) in compiled.problems() {
        print::line(format_args!("    {name} {problem}"));
    }
    print::line(format_args!("  scratch: {} bytes, compiled in {:.3} ms", compiled.scratch_bytes(), compile * 1e3));
    if let Some(execute) = execute {
        print::line(format_args!("  time: {:.4} ms", execute * 1e3));
    }
}

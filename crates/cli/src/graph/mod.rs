//! `oxidnn graph`: graphs from files: their partitions, why operations are not in larger ones, the computed problems, their times, and the
//! times of another library.

mod case;
mod compare;
mod dot;
mod load;
mod race;
mod rewrite;
mod run;
mod svg;
mod truth;

use crate::{numbers, print, session};
use anyhow::{Context, Result, ensure};
use case::Case;
use clap::{Args, ValueEnum};
use oxidnn_graph::{Graph, Partition, Policy, set_constant_capacity};
use oxidnn_peer::Peer;
use oxidnn_runtime::{EngineKind, Stream};
use race::Sides;
use run::Times;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;
use truth::Accuracy;

/// Shows the partitions of graphs: files that oneDNN's or this library's ONEDNN_GRAPH_DUMP=graph wrote, changed as benchdnn's words say.
#[derive(Args)]
pub(crate) struct Options {
    /// A file of benchdnn's words, such as --reset --in-shapes=0:2x64x56x56 --case=FILE (may be given many times).
    #[arg(long, value_name = "FILE")]
    batch: Vec<PathBuf>,
    /// The policy of partitions: as large as oneDNN makes them, one operation each, or whole networks.
    #[arg(long, value_name = "POLICY", default_value = "fusion")]
    policy: Choice,
    /// Say of each operation which patterns of higher priority declined, and why.
    #[arg(long)]
    explain: bool,
    /// Print the graph in the language of Graphviz instead.
    #[arg(long, conflicts_with_all = ["json", "verify", "seconds", "svg", "peer"])]
    dot: bool,
    /// Draw the graph, its partitions as frames, as SVG instead.
    #[arg(long, conflicts_with_all = ["json", "verify", "seconds", "peer"])]
    svg: bool,
    /// Compute with numbers of the program's own, and compare with the operations one by one, and with the other library where there is one.
    #[arg(long)]
    verify: bool,
    /// With --verify --peer: a page that explains disagreements, by default the peer-differences.md in a folder above the first batch file.
    #[arg(long, value_name = "FILE", requires = "peer")]
    explained: Option<PathBuf>,
    /// Be the process that talks to the other library, from this graph on.
    #[arg(long, value_name = "N", hide = true)]
    peer_from: Option<usize>,
    /// Time each partition, and each step of it, for so many seconds; with --peer the whole graph in either library.
    #[arg(long, value_name = "S", value_parser = numbers::seconds)]
    seconds: Option<f64>,
    /// Race another oneDNN library's graphs (a file, or a folder that holds libdnnl.so.3) in the same process.
    #[arg(long, value_name = "LIB")]
    peer: Option<PathBuf>,
    /// Worker threads; all of the machine's by default.
    #[arg(long, value_name = "N", value_parser = numbers::threads)]
    threads: Option<usize>,
    /// Megabytes that either library may keep of results that depend only on constant tensors.
    #[arg(long, value_name = "MB", default_value_t = 4096)]
    keep: usize,
    /// Print JSON, one object a line.
    #[arg(long)]
    json: bool,
    /// Print a table of the race in Markdown.
    #[arg(long, requires = "peer")]
    markdown: bool,
    /// Files, or benchdnn's words: --case, --in-shapes, --dt, --mb, --op-attrs, --op-kind, --tensor-property, --attr-fpmath,
    /// --expected-n-partitions, --reset, --batch; and of ours --layouts=any, which leaves the layouts between operations to the library, and
    /// --least=RATIO, how many times as fast as the other library the graphs behind it should be.
    #[arg(value_name = "FILE", trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

/// The specification's policies, and one of our own.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Choice {
    Fusion,
    Debug,
    Max,
}

impl From<Choice> for Policy {
    fn from(choice: Choice) -> Policy {
        match choice {
            Choice::Fusion => Policy::Fusion,
            Choice::Debug => Policy::Debug,
            Choice::Max => Policy::Max,
        }
    }
}

/// `oxidnn verify --graph ...` and `oxidnn bench --graph ...` as the words of this command; others unchanged.
pub(crate) fn routed(mut args: Vec<std::ffi::OsString>) -> Vec<std::ffi::OsString> {
    let command = args.get(1).and_then(|a| a.to_str()).unwrap_or_default();
    let extra: &[&str] = match command {
        "verify" => &["--verify"],
        "bench" if !args.iter().any(|a| a.to_string_lossy().starts_with("--seconds")) => &["--seconds=0.3"],
        "bench" => &[],
        _ => return args,
    };
    if args.iter().any(|a| a == "--graph") {
        args.retain(|a| a != "--graph");
        args[1] = "graph".into();
        args.splice(2..2, extra.iter().map(Into::into));
    }
    args
}

/// Runs the command; the exit code is 1 when a partition cannot be compiled, computes something else than its operations, or there are not as many
/// partitions as there should be.
pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    let cases = case::collect(&options.batch, &options.words)?;
    let compares = options.verify && options.peer.is_some() && options.seconds.is_none();
    if compares && options.peer_from.is_none() {
        return compare::supervise(options, &cases);
    }
    let stream = session::stream(options.threads)?;
    let kind = stream.engine().kind();
    set_constant_capacity(kind, options.keep.saturating_mul(1 << 20));
    ensure!(options.peer.is_none() || kind == EngineKind::Cpu, "--peer: the other library's graphs are those of its CPU engine");
    let sides = match &options.peer {
        None => None,
        Some(file) => {
            let peer = Peer::load(file, options.threads).with_context(|| format!("--peer {}", file.display()))?;
            peer.keep_constants(options.keep)?;
            if !options.json && options.peer_from.is_none_or(|first| first == 0) {
                eprintln!("--peer: {}", peer.describe());
            }
            Some(Sides { stream: stream.clone(), peer })
        }
    };
    if let (true, Some(first), Some(sides)) = (compares, options.peer_from, &sides) {
        return compare::converse(&cases, first, &sides.stream, &sides.peer);
    }
    let (mut right, mut raced) = (true, Vec::new());
    for case in &cases {
        if print::is_closed() {
            break;
        }
        let graph = case.net.partitioned(kind, options.policy.into()).with_context(|| case.name.clone())?;
        if options.dot || options.svg {
            print::line(if options.dot { dot::text(&graph) } else { svg::text(&graph) });
            continue;
        }
        right &= expected(options, case, &graph);
        right &= match &sides {
            Some(sides) => race::show(options, case, &graph, sides, &mut raced)?,
            None => show(options, case, &graph, &stream)?,
        };
    }
    race::summary(options, &raced);
    Ok(if right { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Whether there are as many partitions as there should be; said where not.
fn expected(options: &Options, case: &Case, graph: &Graph) -> bool {
    let count = graph.partitions().len();
    let wanted = case.partitions.filter(|&n| n != count && options.policy == Choice::Fusion);
    if let Some(wanted) = wanted {
        let text = format!("{}: {count} partitions, expected {wanted}", case.name);
        print::line(if options.json { json!({ "error": text }).to_string() } else { text });
    }
    wanted.is_none()
}

/// Shows one graph; false where something is wrong with it.
fn show(options: &Options, case: &Case, graph: &Graph, stream: &Stream) -> Result<bool> {
    let computed = run::compute(stream, graph, options.seconds);
    if !options.json {
        print::line(&case.name);
    }
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
    let failed = |what: &str, e: &dyn std::fmt::Display| {
        print::line(if options.json { json!({ "error": e.to_string() }).to_string() } else { format!("{what}: {e}") });
    };
    if let Some(e) = &computed.failed {
        failed("not computed further", e);
        return Ok(false);
    }
    if !options.verify {
        return Ok(true);
    }
    // A GPU's results are compared with those of a processor.
    let stream = if stream.engine().kind() == EngineKind::Cpu { stream.clone() } else { Stream::new(&oxidnn_cpu::engine())? };
    let single = run::compute(&stream, &case.net.partitioned(EngineKind::Cpu, Policy::Debug)?, None);
    if let Some(e) = &single.failed {
        failed("one by one", e);
        return Ok(false);
    }
    let differences = run::differences(&case.net, &computed, &single)?;
    for difference in &differences {
        print::line(if options.json { difference.json().to_string() } else { difference.to_string() });
    }
    if differences.iter().all(run::Difference::fits) {
        return Ok(true);
    }
    let accuracy = Accuracy::of(&case.net, &stream, [&computed, &single])?;
    print::line(if options.json {
        json!({ "truth": accuracy.to_string(), "right": accuracy.is_right() }).to_string()
    } else {
        accuracy.to_string()
    });
    Ok(accuracy.is_right())
}

fn kinds(partition: &Partition) -> Vec<String> {
    partition.ops().iter().map(|op| format!("{} {}", op.id, op.kind.name())).collect()
}

/// The problems of a partition, each with its implementation and the time of its step, where it has one.
fn steps(times: &Times) -> Vec<(String, &'static str, Option<f64>)> {
    let prepared = times.compiled.prepared();
    let time = |i: usize| i.checked_sub(prepared).and_then(|i| times.steps.get(i)).copied();
    times.compiled.problems().into_iter().enumerate().map(|(i, (problem, name))| (problem, name, time(i))).collect()
}

fn of_partition(partition: &Partition, times: Option<&Times>) -> String {
    let problem =
        |(problem, name, time): (String, &str, Option<f64>)| json!({"problem": problem, "impl": name, "ms": time.map(|t| t * 1e3)});
    json!({
        "partition": partition.id(), "pattern": partition.pattern(), "refusal": partition.refusal(),
        "ops": partition.ops().iter().map(|op| json!({"id": op.id, "kind": op.kind.name()})).collect::<Vec<_>>(),
        "steps": times.map(|t| t.compiled.notes()),
        "problems": times.map(|t| steps(t).into_iter().map(problem).collect::<Vec<_>>()),
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
    let Some(times) = times else { return };
    for note in times.compiled.notes() {
        print::line(format_args!("  step: {note}"));
    }
    for (problem, name, time) in steps(times) {
        match time {
            Some(time) => print::line(format_args!("    {:10.4} ms {name} {problem}", time * 1e3)),
            None => print::line(format_args!("    {name} {problem}")),
        }
    }
    print::line(format_args!("  scratch: {} bytes, compiled in {:.3} ms", times.compiled.scratch_bytes(), times.compile * 1e3));
    if let Some(execute) = times.execute {
        print::line(format_args!("  time: {:.4} ms", execute * 1e3));
    }
}

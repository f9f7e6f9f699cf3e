//! Results as Markdown: the machine, a table of suites, and a table of problems for each suite. BENCHMARKS.md has such tables.

use super::row::{Row, Summary, number};
use super::{Setup, created};
use crate::print;
use oxidnn_cpu::CpuDevice;
use oxidnn_runtime::Device;

/// Prints all of it.
pub(super) fn print(rows: &[Row], bench: &Setup) {
    print::line(machine(bench));
    print::line("");
    suites(&bench.summaries(rows), bench);
    print::line(format_args!("\n{}", created(rows)));
    for suite in rows.chunk_by(|a, b| a.suite == b.suite) {
        print::line(format_args!("\n### {}\n", suite[0].suite));
        problems(suite, bench);
    }
}

/// The machine, the library and the peer of the figures.
fn machine(bench: &Setup) -> String {
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpuinfo.lines().find_map(|l| l.strip_prefix("model name")).and_then(|l| l.split(':').nth(1)).unwrap_or("unknown processor");
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let peaks: Vec<String> = bench.peaks.measured().iter().map(|(kind, gops)| format!("{} {gops:.0}", kind.name())).collect();
    let peer = bench.peer.as_ref().map_or(String::new(), |p| format!("; peer: oneDNN {}", p.version()));
    format!(
        "{}, {cores} cores, {}; oxidnn {}{peer}; measured peaks of one core in Gop/s: {}; of problems without products, % of peak is that of a copy of as many bytes.",
        model.trim(),
        CpuDevice::host().verbose_info().join(", "),
        env!("CARGO_PKG_VERSION"),
        peaks.join(", ")
    )
}

fn row<const N: usize>(cells: [String; N]) {
    print::line(format_args!("| {} |", cells.join(" | ")));
}

fn header<const N: usize>(cells: [&str; N], text_columns: usize) {
    row(cells.map(String::from));
    let rule: Vec<&str> = (0..N).map(|i| if i < text_columns { "---" } else { "--:" }).collect();
    print::line(format_args!("|{}|", rule.join("|")));
}

fn suites(summaries: &[Summary], bench: &Setup) {
    if bench.peer.is_none() {
        header(["suite", "threads", "problems", "ms", "Gop/s", "% of peak", "GB/s", "created in us"], 1);
        for s in summaries {
            row(s.cells());
        }
        return;
    }
    let columns =
        ["suite", "threads", "ratio", "worst", "ms", "peer ms", "Gop/s", "peer Gop/s", "% of peak", "created in us", "peer us", "refused"];
    header(columns, 1);
    for s in summaries {
        row([
            s.suite.clone(),
            s.threads.to_string(),
            number(s.geomean, 3),
            s.worst.as_ref().map_or("-".into(), |(ratio, problem)| format!("{ratio:.2} `{}`", shape(problem))),
            format!("{:.3}", s.ms),
            number(s.peer_ms, 3),
            format!("{:.1}", s.gops),
            number(s.peer_gops, 1),
            number(s.peak_percent, 0),
            format!("{:.0}", s.create_us),
            number(s.peer_create_us, 0),
            s.refused.to_string(),
        ]);
    }
}

/// The descriptor of a problem line, without its options.
fn shape(problem: &str) -> &str {
    problem.rsplit(' ').next().unwrap_or(problem)
}

fn problems(suite: &[Row], bench: &Setup) {
    if bench.peer.is_none() {
        header(["problem", "implementation", "threads", "ms", "Gop/s", "% of peak", "created in us"], 2);
        for r in suite {
            row([
                format!("`{}`", r.problem),
                r.implementation.clone(),
                r.threads.to_string(),
                format!("{:.4}", r.ours.ms),
                format!("{:.1}", r.gops()),
                number(r.bound_percent(), 0),
                format!("{:.0}", r.ours.create_us),
            ]);
        }
        return;
    }
    header(["problem", "implementation", "peer's", "threads", "ratio", "ms", "peer ms", "Gop/s", "% of peak"], 3);
    for r in suite {
        let theirs = r.theirs();
        let name = match &r.peer {
            Some(Err(why)) => why.clone(),
            _ => theirs.map_or(String::new(), |t| t.implementation.clone()),
        };
        row([
            format!("`{}`", r.problem),
            r.implementation.clone(),
            name,
            r.threads.to_string(),
            number(r.ratio(), 2),
            format!("{:.4}", r.ours.ms),
            number(theirs.map(|t| t.figures.ms), 4),
            format!("{:.1}", r.gops()),
            number(r.bound_percent(), 0),
        ]);
    }
}

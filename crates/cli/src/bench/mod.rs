//! `oxidnn bench`: times problems, here and, with `--peer`, on another oneDNN library in the same process.
//!
//! A command is a list of suites (batch files) and a list of thread counts. For every problem and count, [`race`] makes the primitives, gives both
//! sides the same numbers, and lets them execute in turns; `--first` times creation and the first execution instead ([`first`]). What comes
//! out is a list of [`Row`]s, which [`report`] and [`markdown`] print. `--processes` is another experiment: [`sharing`].

mod first;
mod markdown;
mod ours;
mod peaks;
mod race;
mod report;
mod row;
mod sharing;

use crate::problems::{self, Named};
use crate::{Bench, print, progress, session};
use anyhow::{Context, Result, bail};
use oxidnn_cpu::Limit;
use oxidnn_peer::Peer;
use oxidnn_runtime::{Stream, threads};
use oxidnn_spec::Op;
use oxidnn_spec::op::ConvAlg;
use peaks::Peaks;
use row::{Row, Summary};
use std::path::Path;
use std::process::{Command, ExitCode};

/// Runs the command; the exit code tells only whether it ran.
pub(crate) fn run(args: &Bench) -> Result<ExitCode> {
    if let Some(isa) = &args.max_isa {
        return limited(isa);
    }
    let cases = cases(args)?;
    if let Some(processes) = args.processes {
        return sharing::compare(processes, args);
    }
    if let Some(seconds) = args.sustain {
        return sharing::sustain(&cases, seconds, args);
    }
    let counts = if args.threads.is_empty() { vec![threads::default_threads()] } else { args.threads.clone() };
    let bench = Setup::new(args, &counts)?;
    let bar = progress::bar(cases.len() * counts.len());
    let mut rows = Vec::with_capacity(cases.len() * counts.len());
    for suite in cases.chunk_by(|a, b| a.suite == b.suite) {
        let before = rows.len();
        for (threads, stream) in &bench.streams {
            let measure = if args.first { first::suite } else { race::suite };
            rows.extend(measure(suite, (*threads, stream), &bench, &bar)?);
        }
        if args.selection.json {
            report::json(&rows[before..], &bench);
        }
    }
    bar.finish_and_clear();
    match (args.selection.json, args.markdown, args.csv) {
        (true, ..) => {}
        (_, true, _) => markdown::print(&rows, &bench),
        (_, _, true) => report::csv(&rows),
        _ => report::tables(&rows, &bench),
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs the same command in a process whose environment limits the instruction sets of both libraries.
fn limited(isa: &str) -> Result<ExitCode> {
    Limit::named(isa).with_context(|| format!("--max-isa {isa}: one of {}", oxidnn_runtime::knobs::CPU_ISAS.join(", ")))?;
    let mut skip = false;
    let words = std::env::args_os().skip(1).filter(|word| {
        let option = word.to_string_lossy();
        let drop = std::mem::replace(&mut skip, option == "--max-isa");
        !(drop || option.starts_with("--max-isa"))
    });
    let mut again = Command::new(std::env::current_exe()?);
    let status = again.args(words).env_remove("OXIDNN_MAX_CPU_ISA").env("ONEDNN_MAX_CPU_ISA", isa.to_uppercase()).status()?;
    Ok(status.code().and_then(|c| u8::try_from(c).ok()).map_or(ExitCode::FAILURE, ExitCode::from))
}

/// The problems of the command, with its algorithm of convolution where it names one.
fn cases(args: &Bench) -> Result<Vec<Named>> {
    let mut selection = args.selection.clone();
    if let Some(folder) = &args.suites {
        selection.batch.extend(problems::suites_of(folder)?);
    }
    let mut cases = problems::collect(&selection)?;
    let Some(name) = &args.alg else { return Ok(cases) };
    let alg = match name.as_str() {
        "direct" => ConvAlg::Direct,
        "auto" => ConvAlg::Auto,
        "wino" | "winograd" => ConvAlg::Winograd,
        _ => bail!("--alg {name}: one of direct, auto, wino"),
    };
    for named in &mut cases {
        match &mut named.case.problem.op {
            Op::Conv(x) => x.alg = alg,
            Op::Deconv(x) => x.alg = alg,
            _ => {}
        }
    }
    Ok(cases)
}

/// What every measurement needs.
struct Setup<'a> {
    args: &'a Bench,
    /// A stream for every number of threads, of an engine that plans for it.
    streams: Vec<(usize, Stream)>,
    peaks: Peaks,
    peer: Option<Peer>,
}

impl<'a> Setup<'a> {
    fn new(args: &'a Bench, counts: &[usize]) -> Result<Setup<'a>> {
        let peer = args.peer.as_deref().map(load).transpose()?;
        let streams = counts.iter().map(|&n| Ok((n, session::stream(Some(n))?))).collect::<Result<_>>()?;
        Ok(Setup { args, streams, peaks: Peaks::default(), peer })
    }

    /// Summaries of `rows`, which are one or more suites, by number of threads.
    fn summaries(&self, rows: &[Row]) -> Vec<Summary> {
        let suites = rows.chunk_by(|a, b| a.suite == b.suite);
        suites.flat_map(|rows| self.streams.iter().map(|(n, _)| Summary::of(rows, *n))).collect()
    }
}

/// Opens the other library and says what it is.
fn load(library: &Path) -> Result<Peer> {
    let peer = Peer::load(library, None).with_context(|| format!("--peer {}", library.display()))?;
    eprintln!("peer: {}", peer.describe());
    Ok(peer)
}

/// Tells the peer its number of threads.
fn set_threads(peer: &Peer, threads: usize) {
    if !peer.set_threads(threads) && threads != threads::default_threads() {
        eprintln!("peer: has no OpenMP runtime, so --threads does not reach it; bind the whole process to so many cores instead (taskset)");
    }
}

/// How long primitives took to be made.
fn created(rows: &[Row]) -> String {
    let [(found, fast), (made, slow)] = row::creation(rows);
    let kernels: usize = rows.iter().map(|r| r.kernels).sum();
    format!(
        "created, median: {fast:.1} us where all kernels existed ({found} problems), {slow:.0} us where some were made ({made}, {kernels} kernels)"
    )
}

/// Closes a table or a list of tables with what the figures mean.
fn legend(rows: &[Row], bench: &Setup) {
    if bench.peer.is_some() {
        print::line("ratio: the peer's time over ours");
    }
    if !bench.args.first {
        print::line(created(rows));
    }
    for peak in bench.peaks.measured() {
        print::line(format_args!("measured peak of {}: {:.0} Gop/s on one thread", peak.0.name(), peak.1));
    }
}

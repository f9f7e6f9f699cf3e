//! `oxidnn bench`: times problems, here and, with `--peer`, on another oneDNN library in the same process.
//!
//! A command is a list of suites (batch files) and a list of thread counts. For every problem and count, [`race`] makes the primitives,
//! gives both sides the same numbers, and lets them execute in turns; `--first` times creation and the first execution instead ([`first`]).
//! The result is a list of [`Row`]s, which [`report`] and [`markdown`] print. `--processes` is another experiment: [`sharing`].

mod first;
mod gpu;
mod markdown;
mod ours;
mod peaks;
pub(crate) mod race;
mod report;
mod row;
mod sharing;

use crate::problems::{self, Named};
use crate::progress::Progress;
use crate::{Bench, print, session};
use anyhow::{Context, Result, bail};
pub(crate) use ours::fastest;
use oxidnn_cpu::Limit;
use oxidnn_peer::Peer;
use oxidnn_runtime::{EngineKind, Stream, threads};
use oxidnn_spec::Op;
use oxidnn_spec::op::ConvAlg;
use peaks::Peaks;
pub(crate) use row::number;
use row::{Row, Summary};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Once;

/// Runs the command; the exit code tells only whether it ran.
pub(crate) fn run(args: &Bench) -> Result<ExitCode> {
    if let Some(isa) = &args.max_isa {
        return limited(isa);
    }
    let cases = cases(args)?;
    if let Some(processes) = args.processes {
        problems::read_again(&args.selection, "--processes starts the program again")?;
        return sharing::compare(processes, args);
    }
    if let Some(seconds) = args.sustain {
        return sharing::sustain(&cases, seconds, args);
    }
    let counts = if args.threads.is_empty() { vec![threads::default_threads()] } else { args.threads.clone() };
    let bench = Setup::new(Options::of(args), args.peer.as_deref(), &counts)?;
    let progress = Progress::new(cases.len() * counts.len());
    let mut rows = Vec::with_capacity(cases.len() * counts.len());
    if args.csv {
        print::line(report::CSV);
    }
    for suite in cases.chunk_by(|a, b| a.suite == b.suite) {
        let before = rows.len();
        for (threads, stream) in &bench.streams {
            if print::is_closed() {
                return Ok(ExitCode::SUCCESS);
            }
            let gpu = stream.engine().kind() == EngineKind::Gpu;
            let measure = if args.first {
                first::suite
            } else if gpu {
                gpu::suite
            } else {
                race::suite
            };
            rows.extend(measure(suite, (*threads, stream), &bench, &progress)?);
        }
        if args.selection.json {
            report::json_totals(&rows[before..], &bench);
        }
    }
    progress.end();
    match (args.selection.json || args.csv, args.markdown) {
        (true, _) => {}
        (_, true) => markdown::print(&rows, &bench),
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

/// How problems are measured and reported.
#[derive(Clone, Default)]
pub(crate) struct Options {
    /// Seconds that each library executes a problem.
    seconds: f64,
    /// Only implementations whose name contains this.
    row: Option<String>,
    /// Bytes that are multiplied take all their values.
    all_bytes: bool,
    /// Creation and the first execution are timed instead.
    first: bool,
    /// Tiles of products are measured before, and the best ones kept, on a GPU.
    tunes: bool,
    /// Only totals of suites are printed.
    summary: bool,
    /// The output for a problem as soon as it is measured.
    early: Option<Early>,
}

/// A form in which problems are printed one by one.
#[derive(Clone, Copy)]
enum Early {
    Json,
    Csv,
}

impl Options {
    /// Races whose rows are not printed here.
    pub(crate) fn race(seconds: f64, row: Option<String>) -> Options {
        Options { seconds, row, ..Options::default() }
    }

    fn of(args: &Bench) -> Options {
        let Bench { all_bytes, first, tune: tunes, summary, .. } = *args;
        let early = if args.csv { Some(Early::Csv) } else { args.selection.json.then_some(Early::Json) };
        Options { seconds: args.seconds.unwrap_or(race::SECONDS), row: args.selection.row.clone(), all_bytes, first, tunes, summary, early }
    }
}

/// The setup of every measurement.
pub(crate) struct Setup {
    options: Options,
    /// A stream for every number of threads, of an engine that plans for it.
    streams: Vec<(usize, Stream)>,
    peaks: Peaks,
    peer: Option<Peer>,
    /// NVIDIA's libraries are raced instead, on a GPU.
    races_cuda: bool,
}

impl Setup {
    /// Streams on these numbers of threads, and the other library.
    pub(crate) fn new(options: Options, peer: Option<&Path>, counts: &[usize]) -> Result<Setup> {
        let gpu = session::engine().kind() == EngineKind::Gpu;
        let races_cuda = gpu && peer.is_some_and(|p| p == Path::new("cuda"));
        if gpu && peer.is_some() && !races_cuda {
            bail!("--peer on a GPU: cuda, for NVIDIA's libraries; another oneDNN library is raced on the processor");
        }
        let peer = peer.filter(|_| !races_cuda).map(load).transpose()?;
        let streams = counts.iter().map(|&n| Ok((n, session::stream(Some(n))?))).collect::<Result<_>>()?;
        Ok(Setup { options, streams, peaks: Peaks::default(), peer, races_cuda })
    }

    /// A stream for every number of threads.
    pub(crate) fn streams(&self) -> &[(usize, Stream)] {
        &self.streams
    }

    /// Prints a problem that has been measured, where it is not kept for a table.
    fn measured(&self, row: &Row, progress: &Progress) {
        match self.options.early {
            Some(Early::Json) => progress.print(report::object(row, self)),
            Some(Early::Csv) => progress.print(report::csv(row)),
            None => {}
        }
        progress.inc();
    }

    /// Summaries of `rows`, which are one or more suites, by number of threads.
    fn summaries(&self, rows: &[Row]) -> Vec<Summary> {
        let suites = rows.chunk_by(|a, b| a.suite == b.suite);
        suites.flat_map(|rows| self.streams.iter().map(|(n, _)| Summary::of(rows, *n))).collect()
    }
}

/// Opens the other library and prints its version.
fn load(library: &Path) -> Result<Peer> {
    let peer = Peer::load(library, None).with_context(|| format!("--peer {}", library.display()))?;
    eprintln!("peer: {}", peer.describe());
    Ok(peer)
}

/// Tells the peer its number of threads.
fn set_threads(peer: &Peer, threads: usize) {
    static SAID: Once = Once::new();
    let why = "peer: has no OpenMP runtime, so --threads does not reach it; bind the whole process to so many cores instead (taskset)";
    if !peer.set_threads(threads) && threads != threads::default_threads() {
        SAID.call_once(|| eprintln!("{why}"));
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

/// Ends a table or a list of tables with an explanation of the figures.
fn legend(rows: &[Row], bench: &Setup) {
    if bench.peer.is_some() {
        print::line("ratio: the peer's time over ours");
    }
    if !bench.options.first {
        print::line(print::wrapped(&created(rows), 0));
    }
    if rows.iter().any(|r| r.copy_percent().is_some()) {
        print::line("% of peak, of problems without products: of the speed of a copy of as many bytes");
    }
    for peak in bench.peaks.measured() {
        print::line(format_args!("measured peak of {}: {:.0} Gop/s on one thread", peak.0.name(), peak.1));
    }
}

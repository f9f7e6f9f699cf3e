//! `oxidnn bench --peer LIB`: both libraries on every problem, in turns.
//!
//! The turns are short and many, so that what else the machine does meets both. Each turn runs one library only, for as long as
//! [`TURNS`] of them fill the time of a problem: threads that still spin after the other library's last execution have gone to sleep, and caches
//! are warm, when the executions that count are made. A library's time is that of its fastest execution.

use super::{load, product_type, resolved};
use crate::bench::Peak;
use crate::problems::{self, Named};
use crate::{Bench, progress, session};
use anyhow::Result;
use comfy_table::{CellAlignment, Table, presets};
use oxidnn_peer::{Peer, PeerError, Prepared};
use oxidnn_runtime::{Engine, Memory, Primitive, Stream};
use oxidnn_spec::Arg;
use oxidnn_testing::concrete::concrete;
use oxidnn_testing::{fill, harness};
use serde_json::json;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Turns of each library.
const TURNS: u32 = 10;

/// One problem's figures.
struct Row {
    suite: String,
    problem: String,
    implementation: String,
    ms: f64,
    gops: f64,
    peak_percent: Option<f64>,
    create_us: f64,
    peer: Result<Theirs, PeerError>,
}

/// The other library's figures.
struct Theirs {
    implementation: String,
    ms: f64,
    create_us: f64,
}

impl Row {
    /// Their time over ours.
    fn ratio(&self) -> Option<f64> {
        self.peer.as_ref().ok().map(|p| p.ms / self.ms)
    }
}

/// A suite's ratios.
struct Summary {
    suite: String,
    geomean: f64,
    worst: f64,
    problems: usize,
    refused: usize,
}

/// Runs the command; the exit code tells only whether it ran.
pub(crate) fn bench(args: &Bench, library: &Path) -> Result<ExitCode> {
    let cases = problems::collect(&args.selection)?;
    let peer = load(library, args.selection.threads)?;
    let engine = session::engine();
    let stream = session::stream(&engine, args.selection.threads)?;
    let peak = Peak::measure(&stream);
    let bar = progress::bar(cases.len());
    let mut rows = Vec::with_capacity(cases.len());
    for named in &cases {
        bar.set_message(named.case.problem.to_string());
        let row = race(named, &Track { peer: &peer, engine: &engine, stream: &stream, peak: &peak, args })?;
        if args.selection.json {
            print_json(&row);
        }
        rows.push(row);
        bar.inc(1);
    }
    bar.finish_and_clear();
    let summaries = summarise(&rows);
    if args.selection.json {
        for Summary { suite, geomean, worst, problems, refused } in &summaries {
            println!("{}", json!({ "suite": suite, "geomean": geomean, "worst": worst, "problems": problems, "refused": refused }));
        }
    } else {
        print_table(&rows, &summaries, &peak);
    }
    Ok(ExitCode::SUCCESS)
}

/// What every race needs.
struct Track<'a> {
    peer: &'a Peer,
    engine: &'a Engine,
    stream: &'a Stream,
    peak: &'a Peak,
    args: &'a Bench,
}

fn race(named: &Named, t: &Track) -> Result<Row> {
    let (problem, hints) = (&named.case.problem, &named.case.fill);
    let begin = Instant::now();
    let desc = session::describe(t.engine, problem, t.args.selection.row.as_deref())?;
    let primitive = desc.create()?;
    let create = begin.elapsed();
    let memories = harness::upload(t.engine, &fill::arguments(&concrete(desc.problem(), hints)?, hints))?;
    let bound: Vec<(Arg, &Memory<'_>)> = memories.iter().map(|(a, m)| (*a, m)).collect();
    let ours = Ours { primitive, stream: t.stream, bound: &bound };
    ours.once()?;
    let theirs = theirs(named, t.peer);
    let (ours_best, peer) = match theirs {
        Ok((prepared, theirs)) => match alternate(&ours, &prepared, t.args.seconds) {
            Ok((our, their)) => (our, Ok(Theirs { ms: their.as_secs_f64() * 1e3, ..theirs })),
            Err(Stopped::Ours(e)) => return Err(e),
            Err(Stopped::Theirs(e)) => (turn(&ours, t.args.seconds)?, Err(e)),
        },
        Err(e) => (turn(&ours, t.args.seconds)?, Err(e)),
    };
    let seconds = ours_best.as_secs_f64();
    let gops = desc.problem().flops() / seconds / 1e9;
    Ok(Row {
        suite: named.suite.clone(),
        problem: problem.to_string(),
        implementation: desc.impl_name().to_owned(),
        ms: seconds * 1e3,
        gops,
        peak_percent: t.peak.of(product_type(&problem.op)).filter(|_| gops > 0.0).map(|p| gops / p * 100.0),
        create_us: create.as_secs_f64() * 1e6,
        peer,
    })
}

/// The problem on the other library, with data of its own, run once.
fn theirs(named: &Named, peer: &Peer) -> Result<(Prepared, Theirs), PeerError> {
    let (problem, hints) = (&named.case.problem, &named.case.fill);
    let created = peer.create(problem)?;
    let theirs = Theirs { implementation: created.impl_name()?, ms: 0.0, create_us: created.spent().as_secs_f64() * 1e6 };
    let settled = resolved(problem, hints)?;
    let prepared = peer.bind(created, &settled, &fill::arguments(&settled, hints), None)?;
    prepared.run()?;
    Ok((prepared, theirs))
}

/// Something that can be executed again and again.
trait Runs {
    type Error;
    fn once(&self) -> Result<(), Self::Error>;
}

/// Our primitive with its memory.
struct Ours<'a> {
    primitive: Primitive,
    stream: &'a Stream,
    bound: &'a [(Arg, &'a Memory<'a>)],
}

impl Runs for Ours<'_> {
    type Error = anyhow::Error;
    fn once(&self) -> Result<()> {
        self.primitive.execute(self.stream, self.bound)?;
        Ok(self.stream.wait()?)
    }
}

impl Runs for Prepared {
    type Error = PeerError;
    fn once(&self) -> Result<(), PeerError> {
        self.run()
    }
}

/// Who ended a race.
enum Stopped {
    Ours(anyhow::Error),
    Theirs(PeerError),
}

/// The fastest execution of either side, over [`TURNS`] turns each that share `seconds`.
fn alternate(ours: &Ours, theirs: &Prepared, seconds: f64) -> Result<(Duration, Duration), Stopped> {
    let one = seconds / f64::from(TURNS);
    let mut best = (Duration::MAX, Duration::MAX);
    for _ in 0..TURNS {
        best.0 = best.0.min(turn(ours, one).map_err(Stopped::Ours)?);
        best.1 = best.1.min(turn(theirs, one).map_err(Stopped::Theirs)?);
    }
    Ok(best)
}

/// Executions for `seconds`, at least two; the fastest.
fn turn<R: Runs>(side: &R, seconds: f64) -> Result<Duration, R::Error> {
    let (begin, budget) = (Instant::now(), Duration::from_secs_f64(seconds));
    let (mut best, mut runs) = (Duration::MAX, 0);
    while runs < 2 || begin.elapsed() < budget {
        let start = Instant::now();
        side.once()?;
        best = best.min(start.elapsed());
        runs += 1;
    }
    Ok(best)
}

/// Geometric mean and worst ratio of every suite, in the order in which they came.
fn summarise(rows: &[Row]) -> Vec<Summary> {
    let mut suites: Vec<&str> = Vec::new();
    for r in rows {
        if !suites.contains(&r.suite.as_str()) {
            suites.push(&r.suite);
        }
    }
    let summary = |suite: &str| {
        let of: Vec<&Row> = rows.iter().filter(|r| r.suite == suite).collect();
        let ratios: Vec<f64> = of.iter().filter_map(|r| r.ratio()).collect();
        let geomean = (ratios.iter().map(|r| r.ln()).sum::<f64>() / ratios.len() as f64).exp();
        let worst = ratios.iter().copied().fold(f64::NAN, f64::min);
        Summary { suite: suite.into(), geomean, worst, problems: of.len(), refused: of.len() - ratios.len() }
    };
    suites.into_iter().map(summary).collect()
}

fn print_json(r: &Row) {
    let Row { suite, problem, implementation, ms, gops, peak_percent, create_us, peer } = r;
    let theirs = peer.as_ref().ok();
    let mut line = json!({
        "suite": suite, "problem": problem, "impl": implementation, "peer_impl": theirs.map(|p| &p.implementation), "ms": ms,
        "peer_ms": theirs.map(|p| p.ms), "ratio": r.ratio(), "gops": gops, "peak_percent": peak_percent, "create_us": create_us,
        "peer_create_us": theirs.map(|p| p.create_us)
    });
    if let Err(e) = peer {
        line["refused"] = e.to_string().into();
    }
    println!("{line}");
}

fn print_table(rows: &[Row], summaries: &[Summary], peak: &Peak) {
    let header = ["problem", "implementation", "peer's", "ratio", "ms", "peer ms", "Gop/s", "% of peak", "create us", "peer create us"];
    let mut table = Table::new();
    table.load_preset(presets::UTF8_HORIZONTAL_ONLY).set_header(header);
    for r in rows {
        let (name, ms, create) = match &r.peer {
            Ok(p) => (p.implementation.clone(), format!("{:.4}", p.ms), format!("{:.0}", p.create_us)),
            Err(e) => (e.to_string(), "-".into(), "-".into()),
        };
        table.add_row([
            r.problem.clone(),
            r.implementation.clone(),
            name,
            r.ratio().map_or("-".into(), |v| format!("{v:.2}")),
            format!("{:.4}", r.ms),
            ms,
            format!("{:.1}", r.gops),
            r.peak_percent.map_or("-".into(), |p| format!("{p:.0}")),
            format!("{:.0}", r.create_us),
            create,
        ]);
    }
    for column in table.column_iter_mut().skip(3) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    println!("{table}");
    for Summary { suite, geomean, worst, problems, refused } in summaries {
        println!(
            "{suite}: ratio {geomean:.3} (geometric mean), {worst:.3} (worst), over {} problems; {refused} refused",
            problems - refused
        );
    }
    println!("ratio: the peer's time over ours; measured f32 peak {:.0} Gflop/s on {} thread(s)", peak.f32_gflops, peak.threads);
}

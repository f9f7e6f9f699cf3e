//! `oxidnn bench`: times problems.

use crate::problems::{self, Named};
use crate::{Bench, print, progress, session};
use anyhow::Result;
use comfy_table::CellAlignment;
use oxidnn_cpu::kernels::multiversion::Simd;
use oxidnn_runtime::{Engine, Memory, Stream};
use oxidnn_spec::{Arg, DataType};
use oxidnn_testing::concrete::concrete;
use oxidnn_testing::{fill, harness};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// One problem's figures.
struct Row {
    suite: String,
    problem: String,
    implementation: String,
    gops: f64,
    gbytes: f64,
    min_ms: f64,
    avg_ms: f64,
    create_us: f64,
    peak_percent: Option<f64>,
}

/// Runs the command.
pub(crate) fn run(args: &Bench) -> Result<ExitCode> {
    let cases = problems::collect(&args.selection)?;
    let engine = session::engine();
    let stream = session::stream(&engine, args.selection.threads)?;
    let peak = Peak::measure(&stream);
    let bar = progress::bar(cases.len());
    let mut rows = Vec::with_capacity(cases.len());
    for named in &cases {
        bar.set_message(named.case.problem.to_string());
        rows.push(time(named, &engine, &stream, &peak, args)?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    if args.selection.json {
        rows.iter().for_each(print_json);
    } else if args.csv {
        print_csv(&rows);
    } else {
        if !args.summary {
            print_table(&rows);
        }
        if rows.len() > 1 {
            print_suites(&rows);
        }
        print::line(format_args!("measured f32 peak {:.0} Gflop/s on {} thread(s)", peak.f32_gflops, peak.threads));
    }
    Ok(ExitCode::SUCCESS)
}

/// This machine's measured peak with the stream's threads.
pub(crate) struct Peak {
    pub(crate) f32_gflops: f64,
    pub(crate) threads: usize,
}

impl Peak {
    pub(crate) fn measure(stream: &Stream) -> Peak {
        let threads = stream.executor().threads();
        Peak { f32_gflops: oxidnn_cpu::peak::single_core_flops(Simd::host()) / 1e9 * threads as f64, threads }
    }

    /// Peak for products of `dtype`: the f32 figure, times the lanes that a narrower type has more of.
    pub(crate) fn of(&self, dtype: DataType) -> Option<f64> {
        matches!(dtype, DataType::F32).then_some(self.f32_gflops)
    }
}

fn time(named: &Named, engine: &Engine, stream: &Stream, peak: &Peak, args: &Bench) -> Result<Row> {
    let problem = &named.case.problem;
    let begin = Instant::now();
    let desc = session::describe(engine, problem, args.selection.row.as_deref())?;
    let primitive = desc.create()?;
    let create = begin.elapsed();
    let resolved = concrete(desc.problem(), &named.case.fill)?;
    let mut inputs = fill::arguments(&resolved, &named.case.fill);
    harness::take_forward_results(&resolved, &mut inputs, &[])?;
    let mut memories = harness::upload(engine, &inputs)?;
    if let Some(scratchpad) = desc.scratchpad() {
        memories.push((Arg::SCRATCHPAD, Memory::new(engine, scratchpad.clone())?));
    }
    let bound: Vec<(Arg, &Memory<'_>)> = memories.iter().map(|(a, m)| (*a, m)).collect();
    let once = || -> Result<Duration> {
        let begin = Instant::now();
        primitive.execute(stream, &bound)?;
        stream.wait()?;
        Ok(begin.elapsed())
    };
    once()?;
    let budget = Duration::from_secs_f64(args.seconds);
    let (mut total, mut min, mut runs) = (Duration::ZERO, Duration::MAX, 0u32);
    while (total < budget || runs < 3) && runs < 1_000_000 {
        let t = once()?;
        (total, min, runs) = (total + t, min.min(t), runs + 1);
    }
    let seconds = min.as_secs_f64();
    let gops = desc.problem().flops() / seconds / 1e9;
    let dtype = problem.op.operands().first().map_or(DataType::F32, |o| o.tensor.dtype);
    Ok(Row {
        suite: named.suite.clone(),
        problem: problem.to_string(),
        implementation: desc.impl_name().to_owned(),
        gops,
        gbytes: desc.problem().bytes() as f64 / seconds / 1e9,
        min_ms: seconds * 1e3,
        avg_ms: total.as_secs_f64() * 1e3 / f64::from(runs),
        create_us: create.as_secs_f64() * 1e6,
        peak_percent: peak.of(dtype).filter(|_| gops > 0.0).map(|p| gops / p * 100.0),
    })
}

fn print_json(r: &Row) {
    let Row { suite, problem, implementation, gops, gbytes, min_ms, avg_ms, create_us, peak_percent } = r;
    print::line(serde_json::json!({
        "suite": suite, "problem": problem, "impl": implementation, "gops": gops, "gbytes": gbytes, "ms": min_ms,
        "avg_ms": avg_ms, "create_us": create_us, "peak_percent": peak_percent
    }));
}

fn print_csv(rows: &[Row]) {
    print::line("suite,problem,impl,gops,gbytes,min_ms,avg_ms,create_us,peak_percent");
    for r in rows {
        let peak = r.peak_percent.map_or(String::new(), |p| format!("{p:.1}"));
        let Row { suite, problem, implementation, gops, gbytes, min_ms, avg_ms, create_us, .. } = r;
        print::line(format_args!("{suite},{problem},{implementation},{gops:.3},{gbytes:.3},{min_ms:.6},{avg_ms:.6},{create_us:.1},{peak}"));
    }
}

fn percent(p: Option<f64>) -> String {
    p.map_or("-".into(), |p| format!("{p:.0}"))
}

fn print_table(rows: &[Row]) {
    let mut table = print::table(["problem", "implementation", "Gop/s", "% of peak", "GB/s", "min ms", "avg ms", "create us"]);
    for r in rows {
        table.add_row([
            r.problem.clone(),
            r.implementation.clone(),
            format!("{:.1}", r.gops),
            percent(r.peak_percent),
            format!("{:.1}", r.gbytes),
            format!("{:.4}", r.min_ms),
            format!("{:.4}", r.avg_ms),
            format!("{:.0}", r.create_us),
        ]);
    }
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    print::line(&table);
}

/// Totals of each suite: rates over the sum of the fastest times.
fn print_suites(rows: &[Row]) {
    let mut table = print::table(["suite", "problems", "ms", "Gop/s", "% of peak", "GB/s", "create us, median"]);
    for suite in rows.chunk_by(|a, b| a.suite == b.suite) {
        let ms: f64 = suite.iter().map(|r| r.min_ms).sum();
        let total = |rate: fn(&Row) -> f64| suite.iter().map(|r| rate(r) * r.min_ms).sum::<f64>() / ms;
        let gops = total(|r| r.gops);
        let f32_only = suite.iter().all(|r| r.peak_percent.is_some());
        let mut create: Vec<f64> = suite.iter().map(|r| r.create_us).collect();
        create.sort_by(f64::total_cmp);
        table.add_row([
            suite[0].suite.clone(),
            suite.len().to_string(),
            format!("{ms:.3}"),
            format!("{gops:.1}"),
            percent(f32_only.then(|| total(|r| r.peak_percent.unwrap_or(0.0)))),
            format!("{:.1}", total(|r| r.gbytes)),
            format!("{:.0}", create[create.len() / 2]),
        ]);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    print::line(&table);
}

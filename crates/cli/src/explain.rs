//! `oxidnn explain`: which implementations take a problem and how, and why the others decline.

use crate::problems::Named;
use crate::{Explain, bench, print, problems, session};
use anyhow::Result;
use oxidnn_runtime::{Decision, PrimitiveDesc, Stream, Verdict};
use serde_json::{Value, json};
use std::process::ExitCode;

/// Runs the command; the exit code is 1 when no implementation takes a problem.
pub(crate) fn run(args: &Explain) -> Result<ExitCode> {
    let (selection, engine) = (&args.selection, session::engine());
    if !selection.json {
        engine.device().verbose_info().iter().for_each(print::line);
    }
    let stream = args.measure.then(|| session::stream(None)).transpose()?;
    let mut code = ExitCode::SUCCESS;
    for named in problems::collect(selection)? {
        match session::describe(&engine, &named.case.problem, selection.row.as_deref()) {
            Ok(desc) if selection.json => print::line(object(&desc, &named, stream.as_ref())?),
            Ok(desc) => {
                print::line(&named.case.problem);
                print::line(format_args!("  resolved: {}", desc.problem()));
                print::line(format_args!("  scratch:  {} bytes", desc.plan().scratch_bytes()));
                for (name, verdict) in desc.explain() {
                    print::line(format_args!("  {name}: {verdict}"));
                    if let Some((decision, measured)) = decided(&desc, (name, &verdict), &named, stream.as_ref())? {
                        lines(&decision, measured);
                    }
                }
            }
            Err(e) => {
                print::line(&e);
                code = ExitCode::FAILURE;
            }
        }
    }
    Ok(code)
}

/// The decision of a row that takes the problem, and its time in seconds if there is a stream to measure on.
fn decided(
    desc: &PrimitiveDesc,
    (name, verdict): (&str, &Verdict),
    named: &Named,
    stream: Option<&Stream>,
) -> Result<Option<(Decision, Option<f64>)>> {
    if matches!(verdict, Verdict::Skipped(_)) {
        return Ok(None);
    }
    let Ok(row) = PrimitiveDesc::with_filter(desc.engine(), named.case.problem.clone(), name) else { return Ok(None) };
    let decision = row.plan().decision();
    let measured = stream.map(|stream| bench::fastest(row, named, stream)).transpose()?;
    Ok((!decision.algorithm.is_empty() || measured.is_some()).then_some((decision, measured)))
}

/// Prints a decision.
fn lines(decision: &Decision, measured: Option<f64>) {
    if !decision.algorithm.is_empty() {
        print::line(format_args!("    {}", decision.algorithm));
    }
    for block in &decision.blocks {
        print::line(format_args!("    {:<9} {:>10} bytes  {}", block.level, block.bytes, block.what));
    }
    let micro = |seconds: f64| format!("{:.1} us", seconds * 1e6);
    let times = [decision.seconds.map(|s| format!("predicted {}", micro(s))), measured.map(|s| format!("measured {}", micro(s)))];
    let times: Vec<String> = times.into_iter().flatten().collect();
    if !times.is_empty() {
        print::line(format_args!("    {}", times.join(", ")));
    }
}

/// The same as JSON.
fn object(desc: &PrimitiveDesc, named: &Named, stream: Option<&Stream>) -> Result<Value> {
    let mut decisions = serde_json::Map::new();
    for row in desc.explain() {
        let Some((decision, measured)) = decided(desc, (row.0, &row.1), named, stream)? else { continue };
        let block = |b: &oxidnn_runtime::Blocked| json!({"level": b.level.to_string(), "bytes": b.bytes, "what": b.what});
        let blocks: Vec<Value> = decision.blocks.iter().map(block).collect();
        let value = json!({"algorithm": decision.algorithm, "blocks": blocks, "predicted_s": decision.seconds, "measured_s": measured});
        decisions.insert(row.0.to_owned(), value);
    }
    Ok(json!({
        "problem": named.case.problem.to_string(), "impl": desc.impl_name(), "resolved": desc.problem().to_string(),
        "scratch_bytes": desc.plan().scratch_bytes(), "decisions": decisions,
        "rows": desc.explain().iter().map(|(name, v)| format!("{name}: {v}")).collect::<Vec<_>>()
    }))
}

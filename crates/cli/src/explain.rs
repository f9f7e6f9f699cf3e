//! `oxidnn explain`: which implementation takes a problem, and why the others decline.

use crate::{Selection, print, problems, session};
use anyhow::Result;
use std::process::ExitCode;

/// Runs the command; the exit code is 1 when no implementation takes a problem.
pub(crate) fn run(selection: &Selection) -> Result<ExitCode> {
    let engine = session::engine();
    if !selection.json {
        engine.device().verbose_info().iter().for_each(print::line);
    }
    let mut code = ExitCode::SUCCESS;
    for named in problems::collect(selection)? {
        let problem = named.case.problem;
        match session::describe(&engine, &problem, selection.row.as_deref()) {
            Ok(desc) if selection.json => print::line(serde_json::json!({
                "problem": problem.to_string(), "impl": desc.impl_name(), "resolved": desc.problem().to_string(),
                "scratch_bytes": desc.plan().scratch_bytes(), "rows": desc.explain().iter().map(|(name, v)| format!("{name}: {v}")).collect::<Vec<_>>()
            })),
            Ok(desc) => {
                print::line(problem);
                print::line(format_args!("  resolved: {}", desc.problem()));
                print::line(format_args!("  scratch:  {} bytes", desc.plan().scratch_bytes()));
                for (name, verdict) in desc.explain() {
                    print::line(format_args!("  {name}: {verdict}"));
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

//! `oxidnn explain`: which implementation takes a problem, and why the others decline.

use crate::{Selection, problems, session};
use anyhow::Result;
use std::process::ExitCode;

/// Runs the command; the exit code is 1 when no implementation takes a problem.
pub(crate) fn run(selection: &Selection) -> Result<ExitCode> {
    let engine = session::engine();
    let mut code = ExitCode::SUCCESS;
    for named in problems::collect(selection)? {
        let problem = named.case.problem;
        match session::describe(&engine, &problem, selection.row.as_deref()) {
            Ok(desc) if selection.json => println!(
                "{}",
                serde_json::json!({
                    "problem": problem.to_string(), "impl": desc.impl_name(), "resolved": desc.problem().to_string(),
                    "scratch_bytes": desc.plan().scratch_bytes(), "rows": desc.explain().iter().map(|(name, v)| format!("{name}: {v}")).collect::<Vec<_>>()
                })
            ),
            Ok(desc) => {
                println!("{problem}");
                println!("  resolved: {}", desc.problem());
                println!("  scratch:  {} bytes", desc.plan().scratch_bytes());
                for (name, verdict) in desc.explain() {
                    println!("  {name}: {verdict}");
                }
            }
            Err(e) => {
                println!("{e}");
                code = ExitCode::FAILURE;
            }
        }
    }
    Ok(code)
}

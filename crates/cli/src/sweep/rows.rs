//! `oxidnn sweep --rows`: which problems no generated code takes, by family and instruction set, and why. Nothing is executed, and no peer is needed.

use super::indices;
use crate::coverage::engines;
use crate::{Sweep, print, session};
use anyhow::{Result, anyhow};
use comfy_table::CellAlignment;
use oxidnn_runtime::{PrimitiveDesc, Verdict};
use oxidnn_spec::{DataType, Problem};
use oxidnn_testing::harness::REFERENCE_ROW;
use oxidnn_testing::sweep::{Sweep as Source, family};
use serde_json::json;
use std::collections::BTreeMap;
use std::process::ExitCode;

/// The types for which other libraries generate code.
const TYPES: [DataType; 5] = [DataType::F32, DataType::Bf16, DataType::F16, DataType::S8, DataType::U8];

/// Runs the command; the exit code is 1 where a problem of these types has no generated code on an instruction set.
pub(super) fn run(args: &Sweep, source: &Source) -> Result<ExitCode> {
    let engines: Vec<_> = engines().into_iter().filter(|e| args.max_isa.as_ref().is_none_or(|isa| e.0.contains(isa.as_str()))).collect();
    // Of a family: its problems, and those without generated code for each engine.
    let mut families: BTreeMap<String, (usize, Vec<usize>)> = BTreeMap::new();
    for index in indices(args) {
        let drawn = source.problem(index).map_err(|e| anyhow!(e))?;
        let problem = &drawn.case.problem;
        let (problems, counts) = families.entry(family(problem)).or_insert_with(|| (0, vec![0; engines.len()]));
        *problems += 1;
        if !is_usual(problem) {
            continue;
        }
        let mut slow = Vec::new();
        for ((isa, engine), count) in engines.iter().zip(counts) {
            // A problem that is refused altogether counts for no row.
            let Ok(desc) = session::describe(engine, problem, args.row.as_deref()) else { continue };
            if is_slow(desc.impl_name()) {
                *count += 1;
                slow.push(format!("{isa}: {}{}", desc.impl_name(), declined(&desc)));
            }
        }
        if slow.is_empty() || print::is_closed() {
            continue;
        }
        match args.json {
            true => print::line(json!({ "index": index, "problem": drawn.line, "rows": slow })),
            false => print::line(format_args!("SLOW {}\n    {}", drawn.line, slow.join("\n    "))),
        }
    }
    let names: Vec<&str> = engines.iter().map(|e| e.0.as_str()).collect();
    if !args.json {
        print_table(&names, &families);
    }
    let all: usize = families.values().flat_map(|f| &f.1).sum();
    eprintln!("oxidnn: {all} times no generated code for one of {} problems on {}", args.count, names.join(" and "));
    Ok(if all == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Whether all data have types for which other libraries generate code.
fn is_usual(problem: &Problem) -> bool {
    problem.op.operands().iter().take(2).all(|o| TYPES.contains(&o.tensor.dtype))
}

fn is_slow(row: &str) -> bool {
    row == REFERENCE_ROW || row.ends_with(":portable")
}

/// Why the last row with generated code declines.
fn declined(desc: &PrimitiveDesc) -> String {
    let reason = |(name, verdict): (&'static str, Verdict)| match verdict {
        Verdict::Skipped(skip) if name.ends_with(":jit") => Some(format!(" ({name} {skip})")),
        _ => None,
    };
    desc.explain().into_iter().rev().find_map(reason).unwrap_or_default()
}

fn print_table(names: &[&str], families: &BTreeMap<String, (usize, Vec<usize>)>) {
    let mut table = print::table(["family", "problems"]);
    table.set_header(["family", "problems"].iter().chain(names));
    for (name, (problems, counts)) in families.iter().filter(|f| f.1.1.iter().any(|n| *n > 0)) {
        table.add_row([name.clone(), problems.to_string()].into_iter().chain(counts.iter().map(usize::to_string)));
    }
    table.column_iter_mut().skip(1).for_each(|c| c.set_cell_alignment(CellAlignment::Right));
    print::line(&table);
}

//! `oxidnn verify --coverage`: which problems only the reference takes, by operation and type of data, and why. Nothing is executed.

use crate::problems;
use crate::{Verify, print, session};
use anyhow::Result;
use comfy_table::CellAlignment;
use oxidnn_cpu::{CpuDevice, CpuTarget, Isa};
use oxidnn_runtime::{Engine, EngineKind, PrimitiveDesc, Verdict};
use oxidnn_testing::harness::REFERENCE_ROW;
use serde_json::json;
use std::collections::BTreeMap;
use std::process::ExitCode;

/// Problems that only the reference takes, of all, by operation, type, and instruction set.
type Counts = BTreeMap<(String, String), Vec<[usize; 2]>>;

/// Runs the command; the exit code tells only whether it ran.
pub(crate) fn run(args: &Verify) -> Result<ExitCode> {
    let engines = engines();
    let (mut counts, mut reasons) = (Counts::new(), BTreeMap::<String, (usize, String)>::new());
    for named in problems::collect(&args.selection)? {
        let problem = &named.case.problem;
        let dtype = problem.op.operands().first().map_or("-", |o| o.tensor.dtype.name());
        let key = (problem.op.kind().to_string(), dtype.to_owned());
        let entry = counts.entry(key.clone()).or_insert_with(|| vec![[0; 2]; engines.len()]);
        for ((isa, engine), count) in engines.iter().zip(entry) {
            // A problem that is refused altogether counts for no row.
            let Ok(desc) = session::describe(engine, problem, args.selection.row.as_deref()) else { continue };
            count[1] += 1;
            if desc.impl_name() == REFERENCE_ROW {
                count[0] += 1;
                let why = format!("{} {} {isa}: {}", key.0, key.1, declined(&desc));
                reasons.entry(why).or_insert_with(|| (0, problem.to_string())).0 += 1;
            }
        }
    }
    let names: Vec<&str> = engines.iter().map(|e| e.0.as_str()).collect();
    if args.selection.json {
        for ((op, dtype), entry) in &counts {
            let by: serde_json::Map<_, _> = names.iter().zip(entry).map(|(n, [only, all])| ((*n).to_owned(), json!([only, all]))).collect();
            print::line(json!({ "op": op, "type": dtype, "reference_only_of": by }));
        }
        return Ok(ExitCode::SUCCESS);
    }
    if !args.brief {
        let mut reasons: Vec<_> = reasons.into_iter().collect();
        reasons.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
        for (why, (count, line)) in reasons {
            print::line(format_args!("{count:>6}  {why}\n        {line}"));
        }
    }
    print_table(&names, &counts);
    Ok(ExitCode::SUCCESS)
}

/// The engines that plans are made for, with their names: for every instruction set of this processor that has generated code.
pub(crate) fn engines() -> Vec<(String, Engine)> {
    let engine = session::engine();
    if engine.kind() == EngineKind::Gpu {
        return vec![("gpu".into(), engine)];
    }
    let host = *CpuDevice::host().target();
    let narrower = [Isa::Avx512, Isa::Avx2].into_iter().filter(|isa| isa.is_present() && *isa <= host.isa);
    let on = |isa: Isa| (isa.name().to_owned(), Engine::new(CpuDevice::new(CpuTarget::within(isa, host.threads))));
    let mut engines: Vec<_> = narrower.map(on).collect();
    if engines.is_empty() {
        engines.push((host.isa.name().to_owned(), engine));
    }
    engines
}

/// Why the rows before the reference decline: the last one, which is the most general.
fn declined(desc: &PrimitiveDesc) -> String {
    let mut skipped = desc.explain().into_iter().rev().filter_map(|(name, verdict)| match verdict {
        Verdict::Skipped(skip) => Some(format!("{name} {skip}")),
        _ => None,
    });
    skipped.next().unwrap_or_else(|| "no other row".into())
}

fn print_table(names: &[&str], counts: &Counts) {
    let mut table = print::table(["operation", "type"]);
    table.set_header(["operation", "type"].iter().chain(names));
    for ((op, dtype), entry) in counts.iter().filter(|(_, entry)| entry.iter().any(|[only, _]| *only > 0)) {
        let cells = entry.iter().map(|[only, all]| format!("{only} of {all}"));
        table.add_row([op.clone(), dtype.clone()].into_iter().chain(cells));
    }
    table.column_iter_mut().skip(2).for_each(|c| c.set_cell_alignment(CellAlignment::Right));
    print::line(&table);
    let sum = |i: usize| {
        let [only, all] = counts.values().fold([0; 2], |[a, b], entry| [a + entry[i][0], b + entry[i][1]]);
        format!("{}: {only} of {all} problems are taken by the reference only", names[i])
    };
    (0..names.len()).for_each(|i| print::line(sum(i)));
}

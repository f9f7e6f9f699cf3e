//! The order of rows for primitives whose sizes will change: rows whose kernels serve every shape come first.
//!
//! No generated kernel of this engine depends on tensor sizes, but some rows are for a few shapes only (few rows, small weights) or use a
//! weight layout that other rows do not read; their [`Tier`] says so. With the hint, problems of all sizes get the same rows, and share
//! their few kernels and their packed weights. The rows show the hint in their names, so that a program sees that it was followed.

use super::rows;
use crate::CpuTarget;
use oxidnn_runtime::{Impl, Tier, fork, knobs};
use oxidnn_spec::{Op, Problem};
use std::collections::HashMap;
use std::sync::Mutex;

#[cfg(test)]
mod tests;

/// The suffix of the names of rows in the other order.
const MARK: &str = ":reusable";

/// The rows of a problem's operation, best first, in the order that its hint or the process's setting asks for.
pub fn rows_for(problem: &Problem) -> &'static [Impl<CpuTarget>] {
    let wanted = problem.attr.hint_reusable_kernels || !problem.attr.dynamic.is_empty() || knobs::get().prefer_reusable_kernels;
    if wanted { reusable_first(&problem.op) } else { rows(&problem.op) }
}

/// The rows of an operation, best first.
type Table = &'static [Impl<CpuTarget>];

/// The table of an operation in the other order, made at its first use.
fn reusable_first(op: &Op) -> Table {
    static TABLES: Mutex<Option<HashMap<&'static str, Table>>> = Mutex::new(None);
    let mut tables = fork::lock(&TABLES);
    tables.get_or_insert_with(HashMap::new).entry(op.kind()).or_insert_with(|| ordered(rows(op)))
}

fn ordered(table: &[Impl<CpuTarget>]) -> Table {
    let mut all: Vec<&Impl<CpuTarget>> = table.iter().collect();
    all.sort_by_key(|row| row.tier);
    let renamed = all.iter().map(|row| {
        let name = if row.tier == Tier::Reusable { &*format!("{}{MARK}", row.name).leak() } else { row.name };
        // A row for some shapes is asked when no other takes the problem.
        Impl { name, by_time: row.by_time && row.tier == Tier::Reusable, plan: row.plan, tier: row.tier }
    });
    renamed.collect::<Vec<_>>().leak()
}

//! The order of rows where sizes will change: those whose kernels serve every shape come first.
//!
//! No generated kernel of this engine depends on the sizes of tensors, but some rows are chosen for a few shapes only (few rows, small weights)
//! or bring weights into a layout that others do not read; their [`Tier`] says so. With the hint, problems of all sizes meet the same rows, share their few kernels
//! and their packed weights. The rows carry the hint in their names, so that a program sees that it was followed.

use super::rows;
use crate::CpuTarget;
use oxidnn_runtime::{Impl, Tier, fork, knobs};
use oxidnn_spec::{Op, Problem};
use std::collections::HashMap;
use std::sync::Mutex;

/// Behind the names of the other rows.
const MARK: &str = ":reusable";

/// The rows of a problem's operation, best first, in the order that its hint or the process asks for.
pub fn rows_for(problem: &Problem) -> &'static [Impl<CpuTarget>] {
    let wanted = problem.attr.hint_reusable_kernels || !problem.attr.dynamic.is_empty() || knobs::get().prefer_reusable_kernels;
    if wanted { reusable_first(&problem.op) } else { rows(&problem.op) }
}

/// The rows of an operation, best first.
type Table = &'static [Impl<CpuTarget>];

/// The table of an operation in the other order, made when it is first asked for.
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
        Impl { name, plan: row.plan, tier: row.tier }
    });
    renamed.collect::<Vec<_>>().leak()
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxidnn_spec::Attr;
    use oxidnn_spec::op::Matmul;
    use oxidnn_spec::{DataType, Tensor};

    #[test]
    fn the_hint_brings_rows_for_all_shapes_first() {
        let tensor = |m: i64, n: i64| Tensor::plain([m, n], DataType::F32).unwrap();
        let product = Matmul { src: tensor(2, 3), weights: tensor(3, 4), bias: None, dst: tensor(2, 4) };
        let names = |hint: bool| {
            let attr = Attr { hint_reusable_kernels: hint, ..Attr::default() };
            rows_for(&Problem::new(product.clone(), attr).unwrap()).iter().map(|r| r.name).collect::<Vec<_>>()
        };
        let (plain, hinted) = (names(false), names(true));
        let first = &rows(&Problem::new(product.clone(), Attr::default()).unwrap().op)[0];
        assert!(first.tier == Tier::Particular && first.name == plain[0] && hinted[0].ends_with(MARK), "{plain:?} {hinted:?}");
        assert_eq!((plain.len(), plain.last(), names(true)), (hinted.len(), hinted.last(), hinted.clone()));
    }
}

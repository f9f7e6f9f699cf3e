//! `passes:jit`, `passes:portable`: an operation, and what happens to its result by a program behind it.
//!
//! What happens to a result that no kernel does in registers (post-ops whose operands lie otherwise than the result or are broadcast in other ways, dropout,
//! stochastic rounding, types that generated code does not store) would leave an operation to portable code. The first pass computes it without that,
//! into the destination where that is of f32 and not read, else into scratch; the second is a program over elements, which takes operands however they lie:
//! two more times the destination's bytes through the caches.

use super::rows;
use super::staged::{self, Copied};
use super::support::{is_generated, is_portable, known};
use crate::CpuTarget;
use crate::kernels::pointwise::{Builder, Pipeline, Program};
use crate::row::RowPlan;
use oxidnn_runtime::{Impl, Plan, Skip};
use oxidnn_spec::op::Reorder;
use oxidnn_spec::{Arg, Attr, DataType, Op, Problem};

/// Plans `problem` with generated code for the operation.
///
/// # Errors
/// [`Skip`] where there is nothing to do behind the operation, or no such row takes it alone.
pub(super) fn generated(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    plan(problem, target, is_generated)
}

/// The same with portable code.
///
/// # Errors
/// As there.
pub(super) fn portable(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    plan(problem, target, is_portable)
}

/// Plans `problem` as one whose result is stored in f32 as it is, which the first of its operation's rows of a kind takes, and a program behind it.
fn plan(problem: &Problem, target: &CpuTarget, kind: fn(&&Impl<CpuTarget>) -> bool) -> Result<Box<dyn Plan>, Skip> {
    known(problem)?;
    let dst = problem.op.tensor(Arg::DST).ok_or(Skip::Op("without a destination"))?;
    if dst.dtype == DataType::F64 {
        return Err(Skip::DataType("f64 of dst, which would lose digits between two passes".into()));
    }
    let mut bare = problem.clone();
    let (first, behind) = split(&problem.attr);
    if dst.dtype == DataType::S32 && behind == Attr::default() {
        return Err(Skip::DataType("s32 of dst, of which f32 between two passes would lose digits".into()));
    }
    bare.attr = first;
    if let Some(dst) = bare.op.tensor_mut(Arg::DST) {
        dst.dtype = DataType::F32;
    }
    if bare == *problem {
        return Err(Skip::Op("results that are stored in f32 as they are"));
    }
    let bare = Problem::new(bare.op, bare.attr).map_err(|_| Skip::DataType(format!("{} of dst, which may not be f32 here", dst.dtype)))?;
    let first = rows(&problem.op).iter().filter(kind).find_map(|row| (row.plan)(&bare, target).ok());
    let first = first.ok_or(Skip::Op("that no row takes on its own"))?;
    let mut resolved = problem.clone();
    for o in resolved.op.operands_mut() {
        let chosen = first.problem().op.tensor(o.arg).ok_or(Skip::Op("without an operand"))?;
        if o.tensor.layout.is_any() {
            o.tensor.layout = chosen.layout.clone();
        }
    }
    resolved.resolve();
    let between = first.problem().op.tensor(Arg::DST).ok_or(Skip::Op("without a destination"))?.clone();
    let dst = resolved.op.tensor(Arg::DST).ok_or(Skip::Op("without a destination"))?.clone();
    let apart = dst.dtype != DataType::F32 || resolved.attr.reads_dst();
    let behind = Problem { op: Op::Reorder(Reorder { src: between.clone(), dst }), attr: split(&resolved.attr).1 };
    // What is drawn for each element is portable code.
    let second = Program::plan_in_stages(&behind, target, elements).or_else(|_| RowPlan::resolved(&behind, target, elements))?;
    let what = "without what follows, which is a pass behind it";
    staged::with_copy(resolved, first, Copied { what, arg: Arg::DST, apart, reorders: [None, Some(second)] }, target)
}

/// What a row's code does with its result in registers; declines where something happens to that and there is no such code: a pass behind the row does it in
/// generated code, where the row would in portable code, which takes longer from 16 elements on.
///
/// # Errors
/// As said.
pub(crate) fn left<T>(tail: Option<T>, attr: &Attr) -> Result<Option<T>, Skip> {
    let nothing = tail.is_some() || split(attr).1 == Attr::default();
    if nothing { Ok(tail) } else { Err(Skip::Attr("what happens to results, which no code does in registers".into())) }
}

/// Attributes of the operation, and those of what happens to its result.
fn split(attr: &Attr) -> (Attr, Attr) {
    let (mut first, mut second) = (attr.clone(), Attr::default());
    second.post_ops = std::mem::take(&mut first.post_ops);
    second.dropout = first.dropout.take();
    second.scales.extend(first.scales.remove(&Arg::DST).map(|q| (Arg::DST, q)));
    second.zero_points.extend(first.zero_points.remove(&Arg::DST).map(|q| (Arg::DST, q)));
    second.rounding.extend(first.rounding.remove(&Arg::DST).map(|r| (Arg::DST, r)));
    (first, second)
}

/// A program that stores the elements of the source, and what happens to them, under the destination's.
pub(super) fn elements(problem: &Problem) -> Result<(Pipeline, usize), Skip> {
    let mut b = Builder::elementwise(problem, Arg::DST)?;
    b.load_argument(0, Arg::SRC)?;
    b.result(Arg::DST)?;
    b.finish()
}

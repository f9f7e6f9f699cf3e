//! `passes:jit`, `passes:portable`: an operation, and a second pass over its result.
//!
//! Some steps after the operation are not done by kernels in registers: post-ops whose operands have another layout or another broadcast
//! than the result's, dropout, stochastic rounding, types that generated code does not store. They would leave the operation to portable
//! code. Instead, the first pass computes the operation without them, into the destination if that is f32 and not read, else into scratch;
//! the second pass is a program over elements, which takes operands of any layout. The cost is that the destination's bytes go through the
//! caches twice more.

use super::rows;
use super::staged::{self, Copied};
use super::support::{is_generated, is_portable, known};
use crate::CpuTarget;
use crate::kernels::chain::{self, jit};
use crate::kernels::pointwise::{Builder, Pipeline, Program};
use crate::row::RowPlan;
use oxidnn_jit::Isa;
use oxidnn_runtime::{Choose, Impl, Plan, Skip};
use oxidnn_spec::op::Reorder;
use oxidnn_spec::{Arg, Attr, DataType, Op, Problem};

/// Plans `problem` with generated code for the operation.
///
/// # Errors
/// [`Skip`] if there is nothing to do after the operation, or no such row takes it alone.
pub(super) fn generated(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    plan(problem, target, |bare| by_first(bare, target, is_generated))
}

/// The same with portable code.
///
/// # Errors
/// As for [`generated`].
pub(super) fn portable(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    plan(problem, target, |bare| by_first(bare, target, is_portable))
}

/// Plans the operation by `row`, with a second pass for what follows.
///
/// # Errors
/// As for [`generated`], or that of the row.
pub(crate) fn behind(problem: &Problem, target: &CpuTarget, row: Choose<CpuTarget>) -> Result<Box<dyn Plan>, Skip> {
    plan(problem, target, |bare| row(bare, target))
}

/// Plans `bare` by the first of its rows of the given kind.
fn by_first(bare: &Problem, target: &CpuTarget, kind: fn(&&Impl<CpuTarget>) -> bool) -> Result<Box<dyn Plan>, Skip> {
    let first = rows(&bare.op).iter().filter(kind).find_map(|row| (row.plan)(bare, target).ok());
    first.ok_or(Skip::Op("that no row takes on its own"))
}

/// Plans the operation without what follows, stored in f32, by `first`, with a second pass for what follows.
fn plan<F>(problem: &Problem, target: &CpuTarget, first: F) -> Result<Box<dyn Plan>, Skip>
where
    F: FnOnce(&Problem) -> Result<Box<dyn Plan>, Skip>,
{
    known(problem)?;
    let dst = problem.op.tensor(Arg::DST).ok_or(Skip::Op("without a destination"))?;
    if dst.dtype == DataType::F64 {
        return Err(Skip::DataType("f64 of dst, which would lose digits between two passes".into()));
    }
    let mut bare = problem.clone();
    let (own, behind) = split(&problem.attr);
    if dst.dtype == DataType::S32 && behind == Attr::default() {
        return Err(Skip::DataType("s32 of dst, of which f32 between two passes would lose digits".into()));
    }
    bare.attr = own;
    if let Some(dst) = bare.op.tensor_mut(Arg::DST) {
        dst.dtype = DataType::F32;
    }
    if bare == *problem {
        return Err(Skip::Op("results that are stored in f32 as they are"));
    }
    let bare = Problem::new(bare.op, bare.attr).map_err(|_| Skip::DataType(format!("{} of dst, which may not be f32 here", dst.dtype)))?;
    let first = first(&bare)?;
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
    // Random numbers are drawn in portable code.
    let second = Program::plan_in_stages(&behind, target, elements).or_else(|_| RowPlan::resolved(&behind, target, elements))?;
    let what = "without what follows, which is a pass behind it";
    staged::with_copy(resolved, first, Copied { what, arg: Arg::DST, apart, reorders: [None, Some(second)], seconds: None }, target)
}

/// The epilogue `epilogue` of a row in registers. If there is none although the attributes need one, the row declines: a second pass in
/// generated code is faster than the row's portable epilogue from 16 elements on.
///
/// # Errors
/// The reason why the row declines.
pub(crate) fn left<T>(epilogue: Option<T>, attr: &Attr) -> Result<Option<T>, Skip> {
    let nothing = epilogue.is_some() || split(attr).1 == Attr::default();
    if nothing { Ok(epilogue) } else { Err(Skip::Attr("what happens to results, which no code does in registers".into())) }
}

/// Cycles of a vector of a long function; of a vector of a pass in L2, and beyond it; and of beginning a pass. Measured on Zen 4.
const TRANSCENDENTAL_CYCLES: usize = 20;
const PASS_CYCLES: [usize; 2] = [10, 30];
const PASS_SETUP_CYCLES: usize = 2000;

/// Declines results with so few columns that vectors are partly idle, if long functions follow: a second pass computes these on whole
/// vectors.
///
/// # Errors
/// The reason why the row declines.
pub(crate) fn fills(attr: &Attr, [rows, columns]: [usize; 2], (isa, target): (Isa, &CpuTarget)) -> Result<(), Skip> {
    let lanes = isa.width().lanes();
    let long = chain::steps(attr, DataType::F32, [false; 2]).flatten().filter(|step| !jit::is_short(step.formula)).count();
    let idle = columns.next_multiple_of(lanes) - columns;
    let far = rows.saturating_mul(columns).saturating_mul(size_of::<f32>()) > target.caches.l2;
    let [saved, pass] =
        [idle * long * TRANSCENDENTAL_CYCLES, columns * PASS_CYCLES[usize::from(far)]].map(|each| rows.saturating_mul(each) / lanes);
    if saved > pass.saturating_add(PASS_SETUP_CYCLES) { Err(Skip::Attr("long functions behind few columns".into())) } else { Ok(()) }
}

/// A second pass is preferred to copies if its predicted time is at most this fraction of theirs.
const MAX_TIME_RATIO: f64 = 0.7;

/// Plans `problem` by `row`, which copies operands, unless a second pass is predicted to be faster, both on one thread.
///
/// # Errors
/// The reason, or that of the row.
pub(crate) fn unless_sooner(problem: &Problem, target: &CpuTarget, row: Choose<CpuTarget>) -> Result<Box<dyn Plan>, Skip> {
    let planned = row(problem, target)?;
    let alone = CpuTarget { threads: 1, ..*target };
    let seconds = |row: Choose<CpuTarget>| row(problem, &alone).ok().and_then(|plan| plan.decision().seconds);
    match seconds(generated).and_then(|behind| Some((behind, seconds(row)?))) {
        Some((behind, copies)) if behind < copies * MAX_TIME_RATIO => {
            Err(Skip::Attr("what a pass behind an operation without copies does".into()))
        }
        _ => Ok(planned),
    }
}

/// The attributes of the operation, and those of what follows.
fn split(attr: &Attr) -> (Attr, Attr) {
    let (mut first, mut second) = (attr.clone(), Attr::default());
    second.post_ops = std::mem::take(&mut first.post_ops);
    second.dropout = first.dropout.take();
    second.scales.extend(first.scales.remove(&Arg::DST).map(|q| (Arg::DST, q)));
    second.zero_points.extend(first.zero_points.remove(&Arg::DST).map(|q| (Arg::DST, q)));
    second.rounding.extend(first.rounding.remove(&Arg::DST).map(|r| (Arg::DST, r)));
    (first, second)
}

/// A program that stores the elements of the source, with what follows, as the destination.
pub(super) fn elements(problem: &Problem) -> Result<(Pipeline, usize), Skip> {
    let mut b = Builder::elementwise(problem, Arg::DST)?;
    b.load_argument(0, Arg::SRC)?;
    b.result(Arg::DST)?;
    b.finish()
}

//! `passes:jit`, `passes:portable`: an operation, and what happens to its result by a program behind it.
//!
//! What happens to a result that no kernel does in registers (post-ops whose operands lie otherwise than the result or are broadcast in other ways, dropout,
//! stochastic rounding, types that generated code does not store) would leave an operation to portable code. The first pass computes it without that,
//! into the destination where that is of f32 and not read, else into scratch; the second is a program over elements, which takes operands however they lie:
//! two more times the destination's bytes through the caches.

use super::support::run_with;
use crate::CpuTarget;
use crate::decision::around;
use crate::kernels::multiversion::Simd;
use crate::kernels::pointwise::{Builder, Pipeline, Program};
use crate::kernels::scratch::{Scratch, booked};
use crate::row::{Generated, RowPlan};
use oxidnn_runtime::{Bound, Ctx, Decision, Exec, Impl, Plan, Region, Skip};
use oxidnn_spec::op::{Reorder, Use};
use oxidnn_spec::{Arg, Attr, DataType, Error, Op, Problem, Tensor};
use std::sync::Arc;

/// Bytes of an element between the passes.
const WORD: usize = 4;

/// A pass that writes something else than the destination, and one that makes the destination of that.
#[derive(Debug)]
pub(super) struct Passes {
    /// What is done so, for people to read.
    pub(super) what: &'static str,
    pub(super) first: Box<dyn Plan>,
    pub(super) second: Box<dyn Plan>,
    /// What the first pass leaves, and whether it leaves it in scratch.
    pub(super) between: Tensor,
    pub(super) apart: bool,
}

/// Plans `problem` as one whose result is stored in f32 as it is, which the first of `rows` takes, and a program behind it.
///
/// # Errors
/// [`Skip`] where there is nothing to do behind the operation, or none of the rows takes it alone.
pub(super) fn plan(
    problem: &Problem,
    target: &CpuTarget,
    mut rows: impl Iterator<Item = &'static Impl<CpuTarget>>,
) -> Result<Box<dyn Plan>, Skip> {
    super::support::known(problem)?;
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
    let first = rows.find_map(|row| (row.plan)(&bare, target).ok()).ok_or(Skip::Op("that no row takes on its own"))?;
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
    Passes { what, first, second, between, apart }.plan(resolved, target)
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

/// Puts an argument in the place of the one of its name.
fn put<'a>(new: Bound<'a>) -> impl Fn(&mut Bound<'a>) {
    move |bound| {
        if bound.arg == new.arg {
            *bound = new;
        }
    }
}

impl Passes {
    /// The plan of a resolved problem.
    ///
    /// # Errors
    /// Where scratch exceeds the address space.
    pub(super) fn plan(self, problem: Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
        let scratch_bytes = booked(&self.parts()).ok_or(Skip::Shape("scratch exceeds the address space"))?;
        Ok(Box::new(RowPlan { problem, scratch_bytes, isa: target.isa, kernel: Arc::new(self) }))
    }

    /// Elements of scratch: what the passes need one after the other, and the result of the first.
    fn parts(&self) -> [usize; 2] {
        let shared = self.first.scratch_bytes().max(self.second.scratch_bytes());
        [shared.div_ceil(WORD), if self.apart { self.between.bytes().div_ceil(WORD) } else { 0 }]
    }
}

impl Generated for Passes {
    type Code = [Arc<dyn Exec>; 2];

    fn decision(&self, _: &Problem) -> Decision {
        around(self.what, &*self.first, 1, self.between.bytes())
    }

    fn build(&self) -> Result<Self::Code, Error> {
        Ok([self.first.build()?, self.second.build()?])
    }

    fn run(&self, [first, second]: &Self::Code, _simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let [shared, between] = self.parts();
        let shared = Region::host(scratch.take(shared)?.into_buf());
        let scratch = [Region::host(scratch.take(between)?.into_buf().part(0, if self.apart { self.between.bytes() } else { 0 }))];
        let dst = *ctx.bound(Arg::DST).ok_or_else(|| Error::arg(Arg::DST, "nothing", "a memory object"))?;
        let between = Bound { tensor: &self.between, regions: if self.apart { &scratch } else { dst.regions }, ..dst };
        run_with(&**first, ctx, shared, put(between))?;
        run_with(&**second, ctx, shared, put(Bound { arg: Arg::SRC, usage: Use::In, ..between }))
    }
}

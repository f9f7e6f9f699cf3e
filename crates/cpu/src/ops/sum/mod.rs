//! Weighted sums of tensors.

use crate::kernels::pointwise::{Builder, Over, Pipeline, Program};
use crate::ops::{fallback, staged};
use crate::{CpuTarget, RowPlan};
use oxidnn_runtime::{Impl, Plan, Skip};
use oxidnn_spec::op::{BinaryAlg, EltwiseAlg, Sum};
use oxidnn_spec::{Arg, Op, Problem};
use std::ops::Range;

/// The rows, best first.
pub const IMPLS: &[Impl<CpuTarget>] = &[
    Impl::new("staged:jit", |p, t| staged::alike(p, t, chunks)),
    Impl::new("chunks:jit", chunks),
    Impl::new("chunks:portable", |p, t| RowPlan::resolved(p, t, pipeline)),
    fallback::ROW,
];

/// Sources that are added in one pass: as many as kernels have addresses for, besides the destination and the sum so far.
const MAX_SOURCES_PER_PASS: usize = 8;

fn chunks(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    Program::plan_in_stages(problem, target, pipeline)
}

/// One pass, or several for many sources, with sums in scratch in between: the destination, which may be a source, is written last.
fn pipeline(problem: &Problem) -> Result<(Pipeline, usize), Skip> {
    let Op::Sum(op) = &problem.op else { return Err(Skip::Op("another operation than sum")) };
    let passes = op.scales.len().div_ceil(MAX_SOURCES_PER_PASS);
    if passes <= 1 {
        let mut b = Builder::elementwise(problem, Arg::DST)?;
        add(&mut b, op, 0..op.scales.len())?;
        b.result(Arg::DST)?;
        if op.scales.iter().all(|scale| scale.get().is_finite()) {
            b.keep_zeros();
        }
        return b.finish();
    }
    let mut b = Builder::new(problem, op.dst.dims(), None)?;
    let partial = b.table(b.all())?;
    for pass in 0..passes {
        b.group(b.all());
        b.stage(Over::All);
        let is_last = pass + 1 == passes;
        if is_last {
            b.argument(Arg::DST)?;
        }
        let sums = b.bind(&partial)?;
        if pass > 0 {
            b.load(0, sums);
        }
        add(&mut b, op, pass * MAX_SOURCES_PER_PASS..((pass + 1) * MAX_SOURCES_PER_PASS).min(op.scales.len()))?;
        if is_last { b.result(Arg::DST)? } else { b.store(0, sums) }
    }
    b.finish()
}

/// Adds some sources to register 0; the very first one initialises it.
fn add(b: &mut Builder<'_>, op: &Sum, sources: Range<usize>) -> Result<(), Skip> {
    for i in sources {
        b.load_argument(i.min(1), Arg::multiple_src(i))?;
        match (i, op.scales[i].get()) {
            (0, 1.0) => {}
            (0, scale) => b.forward(0, EltwiseAlg::Linear, scale, 0.0),
            (_, 1.0) => b.both(0, BinaryAlg::Add),
            (_, scale) => b.accumulate(scale, 0.0),
        }
    }
    Ok(())
}

//! Concatenation: each source goes to its part of the destination.

use crate::kernels::pointwise::Copies;
use crate::ops::fallback;
use crate::{CpuTarget, RowPlan};
use oxidnn_runtime::{Impl, Plan, Skip};
use oxidnn_spec::op::Concat;
use oxidnn_spec::{Arg, Dims, Op, Problem};

/// The rows, best first.
pub const IMPLS: &[Impl<CpuTarget>] = &[Impl { name: "runs:portable", plan }, fallback::ROW];

fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    RowPlan::resolved(problem, target, |problem| match &problem.op {
        Op::Concat(op) => copies(op, problem),
        _ => Err(Skip::Op("another operation than concat")),
    })
}

fn copies(op: &Concat, problem: &Problem) -> Result<(Copies, usize), Skip> {
    let attr = &problem.attr;
    if !(attr.scales.is_empty() && attr.zero_points.is_empty() && attr.post_ops.is_empty()) {
        return Err(Skip::Attr("scales, zero points and post-ops".into()));
    }
    let mut copies = Copies::new(Arg::DST, &op.dst)?;
    let mut start = Dims::filled(op.dst.dims().len(), 0);
    for (i, src) in op.srcs.iter().enumerate() {
        if src.dtype != op.dst.dtype {
            return Err(Skip::DataType(format!("{} to {}", src.dtype, op.dst.dtype)));
        }
        if !src.is_empty() {
            let part =
                op.dst.layout.submemory(src.dims(), &start).map_err(|_| Skip::Layout("of dst: sources that end inside a block".into()))?;
            copies.add(Arg::multiple_src(i), src.dims(), &part, &src.layout)?;
        }
        start[op.axis] += src.dims()[op.axis];
    }
    Ok((copies, 0))
}

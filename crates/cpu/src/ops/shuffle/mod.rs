//! Channel shuffle: the axis as rows and columns, transposed.

mod permuted;

use crate::kernels::pointwise::Tables;
use crate::ops::fallback;
use crate::{CpuTarget, RowPlan};
use oxidnn_runtime::{Impl, Plan, Skip};
use oxidnn_spec::op::Shuffle;
use oxidnn_spec::{Arg, Op, Problem, Tensor};

/// The rows, best first.
pub const IMPLS: &[Impl<CpuTarget>] = &[
    Impl::new("lanes:jit", permuted),
    Impl::new("tables:jit", looked_up),
    Impl::new("tables:portable", |p, t| RowPlan::resolved(p, t, |problem| Ok((placed(problem, |tables| tables)?, 0)))),
    fallback::ROW,
];

fn shuffle(problem: &Problem) -> Result<(&Shuffle, Sides<'_>), Skip> {
    let Op::Shuffle(op) = &problem.op else { return Err(Skip::Op("another operation than shuffle")) };
    Ok(match op.prop.is_forward() {
        true => (op, ([Arg::DST, Arg::SRC], [&op.dst, &op.src], op.src.dims()[op.axis] / op.group_size)),
        false => (op, ([Arg::DIFF_SRC, Arg::DIFF_DST], [&op.src, &op.dst], op.group_size)),
    })
}

/// Destination and source with their tensors, and rows of the source's axis as a matrix that is transposed.
type Sides<'p> = ([Arg; 2], [&'p Tensor; 2], i64);

fn permuted(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let isa = target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?;
    RowPlan::resolved(problem, target, |problem| {
        let (op, (args, tensors, rows)) = shuffle(problem)?;
        Ok((permuted::kernel(args, tensors, op.axis, rows, isa)?, 0))
    })
}

fn looked_up(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let isa = target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?;
    RowPlan::resolved(problem, target, |problem| {
        let (op, (_, [to, _], _)) = shuffle(problem)?;
        if to.blocking().is_none_or(|b| b.inner.of(op.axis) == 1 && b.strides[op.axis] != 1) {
            return Err(Skip::Layout("of dst: elements of the axis that are not neighbours".into()));
        }
        Ok((placed(problem, Tables::in_long_rows)?.looked_up(isa)?, 0))
    })
}

fn placed(problem: &Problem, rows_of: fn(Tables) -> Tables) -> Result<Tables, Skip> {
    let (op, (args, [to, from], rows)) = shuffle(problem)?;
    let columns = op.src.dims()[op.axis] / rows.max(1);
    let mut tables = rows_of(Tables::new(args[0], to)?);
    tables.fill(args[1], from, |d, p| if d == op.axis { p % rows * columns + p / rows } else { p })?;
    Ok(tables)
}

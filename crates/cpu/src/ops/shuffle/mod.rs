//! Channel shuffle: a transposition of the axis as a matrix.

mod permuted;

use crate::kernels::pointwise::{Copies, Tables};
use crate::ops::fallback;
use crate::{CpuTarget, RowPlan};
use oxidnn_runtime::{Impl, Plan, Skip};
use oxidnn_spec::op::Shuffle;
use oxidnn_spec::{Arg, Layout, Op, Problem, Tensor};

/// The rows, best first.
pub const IMPLS: &[Impl<CpuTarget>] = &[
    Impl::new("lanes:jit", permuted),
    Impl::new("tables:jit", looked_up),
    Impl::new("tiles:portable", |p, t| RowPlan::resolved(p, t, |problem| Ok((copies(problem)?, 0)))),
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

/// Destination and source, their tensors, and the number of rows of the source's axis as a matrix, which is transposed.
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

/// Copies of the axis as a matrix, whose rows are columns of the source's.
fn copies(problem: &Problem) -> Result<Copies, Skip> {
    let (op, (args, [to, from], rows)) = shuffle(problem)?;
    let (dims, axis) = (*from.dims(), op.axis);
    if from.dtype != to.dtype {
        return Err(Skip::DataType(format!("{} to {}", from.dtype, to.dtype)));
    }
    if to.blocking().is_some_and(|b| b.strides[axis] == 1) {
        return Err(Skip::Layout(format!("of {}: elements of the axis that are neighbours", args[0])));
    }
    let mut copies = Copies::new(args[0], to)?;
    if from.is_empty() {
        return Ok(copies);
    }
    if dims.len() == oxidnn_spec::MAX_NDIMS {
        return Err(Skip::Shape("12 dimensions"));
    }
    let matrix = |layout: &Layout, sizes: [i64; 2]| {
        let mut all: Vec<i64> = dims.to_vec();
        all.splice(axis..=axis, sizes);
        layout.reshape(&all).map_err(|_| Skip::Layout("with blocks of the axis".into()))
    };
    let columns = dims[axis] / rows;
    let mut transposed: Vec<usize> = (0..=dims.len()).collect();
    transposed.swap(axis, axis + 1);
    let from = matrix(&from.layout, [rows, columns])?;
    let to = matrix(&to.layout, [columns, rows])?.permute(&transposed).map_err(|e| Skip::Layout(e.to_string()))?;
    copies.add(args[1], &from.dims, &to, &from)?;
    Ok(copies)
}

//! Reorder: changes of layout, type and scale.

mod squares;

use crate::kernels::pointwise::{Builder, Copies, FoldOp, Over, Pipeline, Program};
use crate::ops::fallback;
use crate::{CpuTarget, RowPlan};
use oxidnn_runtime::{Impl, Plan, Skip};
use oxidnn_spec::op::{EltwiseAlg, Reorder};
use oxidnn_spec::{Arg, Attr, DataType, Op, Problem, Tensor};

/// The rows, best first: copies bit by bit, then arithmetic.
pub const IMPLS: &[Impl<CpuTarget>] = &[
    Impl { name: "squares:jit", plan: squares::plan },
    Impl { name: "tiles:portable", plan: copy },
    Impl { name: "chunks:jit", plan: generated },
    Impl { name: "chunks:portable", plan: convert },
    fallback::ROW,
];

/// Words that are a few vectors: too few for a copy of bytes, enough for generated code.
const VECTORS: std::ops::RangeInclusive<i64> = 4..=64;

fn reorder(problem: &Problem) -> Result<&Reorder, Skip> {
    match &problem.op {
        Op::Reorder(op) if op.rnn_scaling(&problem.attr.rnn).is_some() => Err(Skip::Attr("quantisation of recurrent networks".into())),
        Op::Reorder(op) => Ok(op),
        _ => Err(Skip::Op("another operation than reorder")),
    }
}

/// Whether all that happens to elements is that they change their places.
fn check_copy(op: &Reorder, attr: &Attr) -> Result<(), Skip> {
    if op.src.dtype != op.dst.dtype {
        return Err(Skip::DataType(format!("{} to {}", op.src.dtype, op.dst.dtype)));
    }
    if !(attr.scales.is_empty() && attr.zero_points.is_empty() && attr.post_ops.is_empty()) {
        return Err(Skip::Attr("scales, zero points and post-ops".into()));
    }
    if op.dst.blocking().is_some_and(|b| b.compensation.is_some()) {
        return Err(Skip::Layout("of dst: with sums".into()));
    }
    Ok(())
}

fn copy(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    RowPlan::resolved(problem, target, |problem| {
        let op = reorder(problem)?;
        check_copy(op, &problem.attr)?;
        let mut copies = Copies::new(Arg::DST, &op.dst)?;
        copies.add(Arg::SRC, op.dst.dims(), &op.dst.layout, &op.src.layout)?;
        let wide = matches!(op.dst.dtype, DataType::S32 | DataType::S64);
        if target.jit.is_some() && !wide && VECTORS.contains(&copies.words()) {
            return Err(Skip::Shape("runs of few vectors, which generated code copies"));
        }
        Ok((copies, 0))
    })
}

fn generated(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    Program::plan(problem, target, |problem| {
        let op = reorder(problem)?;
        let (pipeline, scratch) = arithmetic(op, problem)?;
        Ok((if check_copy(op, &problem.attr).is_ok() { pipeline.in_words() } else { pipeline }, scratch))
    })
}

fn convert(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    RowPlan::resolved(problem, target, |problem| arithmetic(reorder(problem)?, problem))
}

fn arithmetic(op: &Reorder, problem: &Problem) -> Result<(Pipeline, usize), Skip> {
    let wide = |t: &Tensor| matches!(t.dtype, DataType::S32 | DataType::S64);
    if wide(&op.src) && wide(&op.dst) && problem.attr.is_default() {
        return Err(Skip::DataType(format!("{} to {}: f32 does not hold every number", op.src.dtype, op.dst.dtype)));
    }
    let mut b = Builder::elementwise(problem, Arg::DST)?;
    b.load_argument(0, Arg::SRC)?;
    b.unshift(0, Arg::SRC)?;
    b.scale(0, Arg::SRC)?;
    let adjust = op.dst.blocking().and_then(|b| b.compensation?.scale_adjust);
    if let Some(adjust) = adjust {
        b.forward(0, EltwiseAlg::Linear, adjust.get(), 0.0);
    }
    b.result(Arg::DST)?;
    sums(op, &mut b)?;
    b.finish()
}

/// The sums behind quantised weights: `-128 sum(w)` for an s8 source shifted to u8, `-sum(w)` for a source with a zero point, row-major over the
/// padded sizes of the dimensions that they go by.
fn sums(op: &Reorder, b: &mut Builder<'_>) -> Result<(), Skip> {
    let Some((blocking, sums)) = op.dst.blocking().and_then(|b| Some((b, b.compensation?))) else { return Ok(()) };
    let extent = op.dst.layout.extent().and_then(|e| op.dst.dtype.bytes(usize::try_from(e).ok()?));
    let mut start = extent.ok_or(Skip::Shape("sums of runtime sizes"))?;
    b.clear(Arg::DST, start);
    for (mask, factor) in [(sums.s8s8_mask, -128.0), (sums.zero_point_mask, -1.0)] {
        let Some(mask) = mask else { continue };
        b.group(mask);
        b.argument(Arg::DST)?;
        let table = b.table(mask)?;
        let table = b.bind(&table)?;
        let out = b.behind(Arg::DST, start, mask, &blocking.padded_dims)?;
        b.stage(Over::All);
        b.load_argument(0, Arg::DST)?;
        b.fold(0, FoldOp::Sum, table);
        b.stage(Over::Kept);
        b.load(0, table);
        b.forward(0, EltwiseAlg::Linear, factor, 0.0);
        b.store(0, out);
        start +=
            4 * (0..blocking.padded_dims.len()).filter(|d| mask >> d & 1 == 1).map(|d| blocking.padded_dims[d] as usize).product::<usize>();
    }
    Ok(())
}

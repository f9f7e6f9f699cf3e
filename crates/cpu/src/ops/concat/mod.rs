//! Concatenation: each source goes to its part of the destination.

mod reordered;

use crate::kernels::pointwise::{Builder, Copies, Over, Pipeline, Program, Tables};
use crate::ops::{fallback, support};
use crate::{CpuTarget, RowPlan};
use oxidnn_runtime::{Impl, Plan, Skip};
use oxidnn_spec::op::Concat;
use oxidnn_spec::{Arg, Attr, DataType, Dims, Layout, Op, Problem, QuantMode, Tensor};

/// The rows, best first.
pub const IMPLS: &[Impl<CpuTarget>] = &[
    Impl::new("reorders:jit", reordered::plan),
    Impl::new("runs:portable", copy),
    Impl::new("chunks:jit", |p, t| Program::plan_in_stages(p, t, arithmetic)),
    Impl::new("chunks:portable", |p, t| RowPlan::resolved(p, t, arithmetic)),
    Impl::new("tables:jit", looked_up),
    Impl::new("tables:portable", |p, t| RowPlan::resolved(p, t, |problem| Ok((placed(problem, |tables| tables)?, 0)))),
    fallback::ROW,
];

/// Words of a line of memory.
const LINE: i64 = 16;

fn concat(problem: &Problem) -> Result<&Concat, Skip> {
    match &problem.op {
        Op::Concat(op) => Ok(op),
        _ => Err(Skip::Op("another operation than concat")),
    }
}

fn copy(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    RowPlan::resolved(problem, target, |problem| {
        let op = concat(problem)?;
        let copies = copies(op, problem)?;
        // Only generated code stores non-temporally: whole lines.
        let is_far = !target.is_near(op.dst.bytes().saturating_mul(2));
        if target.jit.is_some() && is_far && copies.words() >= LINE && copies.are_at_multiples(LINE) {
            return Err(Skip::Shape("lines that do not stay in the caches"));
        }
        Ok((copies, 0))
    })
}

fn looked_up(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let isa = target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?;
    RowPlan::resolved(problem, target, |problem| {
        if concat(problem)?.dst.dtype.bits() < 16 {
            return Err(Skip::DataType("bytes, of which parts of vectors are stored".into()));
        }
        Ok((placed(problem, Tables::in_long_rows)?.looked_up(isa)?, 0))
    })
}

fn placed(problem: &Problem, rows: fn(Tables) -> Tables) -> Result<Tables, Skip> {
    let (op, attr) = (concat(problem)?, &problem.attr);
    let common = attr.scales.values().all(|q| q.mask == 0 && q.dtype == DataType::F32 && q.mode == QuantMode::Static && !q.on_host);
    if !common || !(Attr { scales: Default::default(), scratchpad: Default::default(), ..attr.clone() }).is_default() {
        return Err(Skip::Attr("other than a scale of each source".into()));
    }
    let (mut tables, mut start) = (rows(Tables::new(Arg::DST, &op.dst)?), 0);
    for (i, src) in op.srcs.iter().enumerate() {
        let arg = Arg::multiple_src(i);
        let scale = attr.scales.contains_key(&arg).then(|| (arg, Dims::filled(src.dims().len(), 0)));
        tables.add(arg, src, &[scale, None], |d, p| if d == op.axis { start + p } else { p })?;
        start += src.dims()[op.axis];
    }
    Ok(tables)
}

/// The part of the destination that each source goes to; `None` for empty sources.
fn parts(op: &Concat) -> Result<Vec<Option<Layout>>, Skip> {
    let mut start = Dims::filled(op.dst.dims().len(), 0);
    let mut part = |src: &Tensor| {
        let layout = op.dst.layout.submemory(src.dims(), &start);
        start[op.axis] += src.dims()[op.axis];
        let bad = |_| Skip::Layout("of dst: sources that end inside a block".into());
        if src.is_empty() { Ok(None) } else { layout.map(Some).map_err(bad) }
    };
    op.srcs.iter().map(&mut part).collect()
}

fn arithmetic(problem: &Problem) -> Result<(Pipeline, usize), Skip> {
    let op = concat(problem)?;
    if !problem.attr.post_ops.is_empty() {
        return Err(Skip::Attr("post-ops".into()));
    }
    let moves = problem.attr.scales.is_empty() && op.srcs.iter().all(|src| src.dtype == op.dst.dtype);
    let whole = with_padding(op).filter(|_| moves);
    let op = whole.as_ref().unwrap_or(op);
    let mut b = Builder::new(problem, op.dst.dims(), None)?;
    for (i, (src, part)) in op.srcs.iter().zip(parts(op)?).enumerate() {
        let Some(part) = part else { continue };
        b.positions(src.dims());
        b.group(b.all());
        b.stage(Over::All);
        let dst = b.part(Arg::DST, &part)?;
        let from = b.part(Arg::multiple_src(i), &src.layout)?;
        b.load(0, from);
        b.scale(0, Arg::multiple_src(i))?;
        b.epilogue(Arg::DST)?;
        b.store(0, dst);
    }
    if whole.is_none() {
        b.pad(Arg::DST)?;
    }
    let (mut pipeline, scratch) = b.finish()?;
    pipeline.copy_words();
    Ok((pipeline, scratch))
}

/// The concatenation with padding as elements, if all tensors have the same, along the axis only that at the end: copied in longer runs.
fn with_padding(op: &Concat) -> Option<Concat> {
    let first = op.dst.blocking()?.padded_dims;
    let whole = |(t, last): (&Tensor, bool)| {
        let layout = support::with_padding(t)?;
        let alike = (0..first.len()).all(|d| if d == op.axis { last || layout.dims[d] == t.dims()[d] } else { layout.dims[d] == first[d] });
        alike.then_some(Tensor { dtype: t.dtype, layout })
    };
    let padded = first != *op.dst.dims() && !op.dst.is_empty();
    let numbered = op.srcs.iter().enumerate().map(|(i, src)| (src, i + 1 == op.srcs.len()));
    let (srcs, dst) = (numbered.map(whole).collect::<Option<Vec<_>>>()?, whole((&op.dst, true))?);
    let ends = srcs.iter().map(|src| src.dims()[op.axis]).sum::<i64>() == first[op.axis];
    (padded && ends).then_some(Concat { axis: op.axis, srcs, dst })
}

fn copies(op: &Concat, problem: &Problem) -> Result<Copies, Skip> {
    let attr = &problem.attr;
    if !(attr.scales.is_empty() && attr.zero_points.is_empty() && attr.post_ops.is_empty()) {
        return Err(Skip::Attr("scales, zero points and post-ops".into()));
    }
    let whole = with_padding(op);
    let op = whole.as_ref().unwrap_or(op);
    let mut copies = Copies::new(Arg::DST, &op.dst)?;
    for (i, (src, part)) in op.srcs.iter().zip(parts(op)?).enumerate() {
        if src.dtype != op.dst.dtype {
            return Err(Skip::DataType(format!("{} to {}", src.dtype, op.dst.dtype)));
        }
        if let Some(part) = part {
            copies.add(Arg::multiple_src(i), src.dims(), &part, &src.layout)?;
        }
    }
    Ok(copies)
}

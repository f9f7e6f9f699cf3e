//! `reorders:jit`: concatenation of sources whose contiguous dimension differs from the destination's. Each source is reordered into its
//! part of the destination, a view of the same memory, by the best row of reorders. Where the destination does not stay in the caches until the
//! last source is there, and they share its lines, all of them go band by band of rows.

use super::{concat, parts, with_padding};
use crate::CpuTarget;
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::{Scratch, booked, for_workers};
use crate::ops::reorder;
use crate::ops::rounds::{self, behind, bytes, part};
use crate::ops::support::{OPERANDS, best, run_with};
use crate::row::{Generated, RowPlan, TOO_LARGE};
use oxidnn_runtime::{ALIGNMENT, Ctx, Exec, Plan, Region, Skip};
use oxidnn_spec::op::{Concat, Reorder};
use oxidnn_spec::{Arg, Attr, Error, Layout, Problem, Tensor};
use std::sync::Arc;

/// Elements from which on separate reorders pay.
const MIN_ELEMENTS: i64 = 1024;
/// Contiguous elements, common to a source and the destination, from which on one pass over all sources is as fast.
const MAX_RUN: usize = 16;

/// A source and its part of the destination, of one band.
#[derive(Debug)]
struct Part {
    src: Arg,
    tensors: [Tensor; 2],
    /// Bytes from one image and from one band to the next, in source and destination.
    steps: [[usize; 2]; 2],
    plan: Box<dyn Plan>,
}

/// All parts, one after the other, for each band.
#[derive(Debug)]
struct Parts {
    parts: Vec<Part>,
    /// Elements of scratch of a worker.
    scratch: usize,
    /// All bands, and those of an image.
    bands: [usize; 2],
    /// Workers that take bands of their own; 0 if all work on the same one.
    workers: usize,
}

/// The rows of a band; `None` also if a source's part of the destination is apart from the others'.
fn rows_of_band(op: &Concat, attr: &Attr, target: &CpuTarget) -> Option<i64> {
    let all: Vec<&Tensor> = op.srcs.iter().chain([&op.dst]).collect();
    let scaled = attr.scales.values().any(|scale| scale.mask != 0);
    let rows = rounds::rows_of_band(&all, op.dst.bytes(), target)?;
    let shared = op.dst.blocking().is_some_and(|b| b.strides[1] < b.strides[2]);
    (shared && op.axis == 1 && !scaled).then_some(rows)
}

/// Whether all sources have long runs in common with their parts of the destination.
fn has_runs(op: &Concat) -> Result<bool, Skip> {
    let run = |(src, part): (&Tensor, Option<Layout>)| {
        part.is_none_or(|layout| reorder::run(&Tensor { dtype: op.dst.dtype, layout }, src) >= MAX_RUN)
    };
    Ok(op.srcs.iter().zip(parts(op)?).all(run))
}

/// Plans such a concatenation.
///
/// # Errors
/// Problems that the row does not take.
pub(super) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?;
    RowPlan::resolved(problem, target, |problem| {
        let (op, attr) = (concat(problem)?, &problem.attr);
        if !(Attr { scales: Default::default(), scratchpad: Default::default(), ..attr.clone() }).is_default() {
            return Err(Skip::Attr("other than scales of the sources".into()));
        }
        // The operands are each source and its scale, the destination and scratch.
        if 2 * op.srcs.len() + 2 > OPERANDS {
            return Err(Skip::Shape("many sources"));
        }
        if op.dst.dims().volume().is_none_or(|n| n < MIN_ELEMENTS) {
            return Err(Skip::Shape("few elements"));
        }
        let moves = attr.scales.is_empty() && op.srcs.iter().all(|src| src.dtype == op.dst.dtype);
        let whole = with_padding(op).filter(|_| moves);
        if has_runs(op)? || whole.is_some_and(|whole| has_runs(&whole).is_ok_and(|has| has)) {
            return Err(Skip::Layout("of src and dst: the same neighbours".into()));
        }
        let rows = rows_of_band(op, attr, target);
        let band = |t: &Tensor| rows.map_or(Some(t.clone()), |rows| part(t, 1, rows)).ok_or(Skip::Layout("of src or dst: no bands".into()));
        let steps = |t: &Tensor| rows.map_or([0; 2], |rows| [bytes(t, 0), bytes(t, 2) * rows as usize]);
        let workers = if rows.is_some() { target.threads.max(1) } else { 0 };
        let inner = &CpuTarget { threads: if workers > 0 { 1 } else { target.threads }, ..*target };
        let mut all = Vec::new();
        for (i, (src, part)) in op.srcs.iter().zip(parts(op)?).enumerate() {
            let Some(layout) = part else { continue };
            let (arg, dst) = (Arg::multiple_src(i), Tensor { dtype: op.dst.dtype, layout });
            let mut of_part = Attr::default();
            of_part.scales.extend(attr.scales.get(&arg).map(|scale| (Arg::SRC, scale.clone())));
            let (steps, tensors) = ([src, &dst].map(steps), [band(src)?, band(&dst)?]);
            let moved = Problem::new(Reorder { src: tensors[0].clone(), dst: tensors[1].clone() }, of_part);
            let moved = moved.map_err(|e| Skip::Layout(format!("of dst: {e}")))?;
            let plan = best(reorder::IMPLS, &moved, inner).ok_or(Skip::Op("a source that only the reference reorders"))?;
            all.push(Part { src: arg, tensors, steps, plan });
        }
        let scratch = all.iter().map(|part| part.plan.scratch_bytes()).max().unwrap_or(0).next_multiple_of(ALIGNMENT) / size_of::<f32>();
        let dims = op.dst.dims();
        let bands = rows.map_or([1; 2], |rows| [dims[0] * (dims[2] / rows), dims[2] / rows].map(|n| n as usize));
        let booked = for_workers(workers, scratch).and_then(|all| booked(&[all]));
        Ok((Parts { parts: all, scratch, bands, workers }, booked.ok_or(TOO_LARGE)?))
    })
}

impl Generated for Parts {
    type Code = Vec<Arc<dyn Exec>>;

    fn build(&self) -> Result<Vec<Arc<dyn Exec>>, Error> {
        self.parts.iter().map(|part| part.plan.build()).collect()
    }

    fn run(&self, code: &Vec<Arc<dyn Exec>>, _: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let each = self.scratch * size_of::<f32>();
        let shares = scratch.take(for_workers(self.workers, self.scratch).unwrap_or(0))?.into_buf();
        rounds::each(ctx, self.workers, self.bands[0], &|ctx, worker, band| {
            let share = Region::host(shares.part(worker * each, each));
            self.parts.iter().zip(code).try_for_each(|(part, exec)| self.run_part(part, &**exec, ctx, (share, band)))
        })
    }
}

impl Parts {
    /// Reorders a band of a source.
    fn run_part(&self, part: &Part, exec: &dyn Exec, ctx: &Ctx<'_>, (scratch, band): (Region<'_>, usize)) -> Result<(), Error> {
        let place = [band / self.bands[1], band % self.bands[1]];
        let memory = |arg: Arg, steps: [usize; 2]| Ok([Region::host(behind(ctx.buf(arg)?, steps[0] * place[0] + steps[1] * place[1]))]);
        let [from, to] = [memory(part.src, part.steps[0])?, memory(Arg::DST, part.steps[1])?];
        run_with(exec, ctx, scratch, |bound| match bound.arg {
            Arg::DST => (bound.tensor, bound.regions) = (&part.tensors[1], &to),
            arg if arg == part.src => (bound.arg, bound.tensor, bound.regions) = (Arg::SRC, &part.tensors[0], &from),
            arg if arg == Arg::scale(part.src) => bound.arg = Arg::scale(Arg::SRC),
            _ => {}
        })
    }
}

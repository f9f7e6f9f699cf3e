//! `reorders:jit`: concatenation of sources whose contiguous dimension differs from the destination's. Each source is reordered into its
//! part of the destination, a view of the same memory, by the best row of reorders.

use super::{concat, parts};
use crate::CpuTarget;
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::{Scratch, booked};
use crate::ops::reorder;
use crate::ops::support::{OPERANDS, run_with};
use crate::row::{Generated, RowPlan, TOO_LARGE};
use oxidnn_runtime::{Bound, Ctx, Exec, Plan, Region, Skip, Tier};
use oxidnn_spec::op::Reorder;
use oxidnn_spec::{Arg, Attr, Error, Problem, Tensor};
use std::sync::Arc;

/// Elements from which on separate reorders pay.
const MIN_ELEMENTS: i64 = 1024;
/// Contiguous elements, common to a source and the destination, from which on one pass over all sources is as fast.
const MAX_RUN: usize = 16;

/// A source and its part of the destination.
#[derive(Debug)]
struct Part {
    src: Arg,
    dst: Tensor,
    plan: Box<dyn Plan>,
}

/// All parts, one after the other.
#[derive(Debug)]
struct Parts {
    parts: Vec<Part>,
    scratch: usize,
}

/// Plans such a concatenation.
///
/// # Errors
/// Problems that the row does not take.
pub(super) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?;
    RowPlan::resolved(problem, target, |problem| {
        let op = concat(problem)?;
        let attr = &problem.attr;
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
        let (mut all, mut alike) = (Vec::new(), true);
        for (i, (src, part)) in op.srcs.iter().zip(parts(op)?).enumerate() {
            let Some(layout) = part else { continue };
            let (arg, dst) = (Arg::multiple_src(i), Tensor { dtype: op.dst.dtype, layout });
            let mut of_part = Attr::default();
            of_part.scales.extend(attr.scales.get(&arg).map(|scale| (Arg::SRC, scale.clone())));
            alike &= reorder::run(&dst, src) >= MAX_RUN;
            let moved = Problem::new(Reorder { src: src.clone(), dst: dst.clone() }, of_part);
            let moved = moved.map_err(|e| Skip::Layout(format!("of dst: {e}")))?;
            let rows = reorder::IMPLS.iter().filter(|row| row.tier != Tier::Reference);
            let plan = rows
                .map(|row| (row.plan)(&moved, target))
                .find_map(Result::ok)
                .ok_or(Skip::Op("a source that only the reference reorders"))?;
            all.push(Part { src: arg, dst, plan });
        }
        if alike {
            return Err(Skip::Layout("of src and dst: the same neighbours".into()));
        }
        let scratch = all.iter().map(|part| part.plan.scratch_bytes()).max().unwrap_or(0).div_ceil(size_of::<f32>());
        Ok((Parts { parts: all, scratch }, booked(&[scratch]).ok_or(TOO_LARGE)?))
    })
}

impl Generated for Parts {
    type Code = Vec<Arc<dyn Exec>>;

    fn build(&self) -> Result<Vec<Arc<dyn Exec>>, Error> {
        self.parts.iter().map(|part| part.plan.build()).collect()
    }

    fn run(&self, code: &Vec<Arc<dyn Exec>>, _: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let scratch = Region::host(scratch.take(self.scratch)?.into_buf());
        for (part, exec) in self.parts.iter().zip(code) {
            run_part(part, &**exec, ctx, scratch)?;
        }
        Ok(())
    }
}

/// Reorders a source.
fn run_part<'a>(part: &'a Part, exec: &dyn Exec, ctx: &Ctx<'a>, scratch: Region<'a>) -> Result<(), Error> {
    run_with(exec, ctx, scratch, |bound: &mut Bound<'a>| match bound.arg {
        Arg::DST => bound.tensor = &part.dst,
        arg if arg == part.src => bound.arg = Arg::SRC,
        arg if arg == Arg::scale(part.src) => bound.arg = Arg::scale(Arg::SRC),
        _ => {}
    })
}

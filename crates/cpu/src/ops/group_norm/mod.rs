//! Group normalisation: statistics by batch item and group of channels.

use crate::ops::fallback;
use crate::ops::norm::Norm;
use crate::{CpuTarget, RowPlan};
use oxidnn_runtime::{Impl, Plan, Skip};
use oxidnn_spec::{Op, Problem};

/// The rows, best first.
pub const IMPLS: &[Impl<CpuTarget>] = &[Impl { name: "folds:portable", plan }, fallback::ROW];

fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    RowPlan::resolved(problem, target, |problem| match &problem.op {
        Op::GroupNorm(op) => {
            let norm = Norm {
                problem,
                prop: op.prop,
                flags: op.flags,
                epsilon: op.epsilon.get(),
                src: &op.src,
                split: Some((1, op.groups)),
                kept: 0b011,
                channel: 0b110,
                workspace: false,
            };
            norm.pipeline()
        }
        _ => Err(Skip::Op("another operation than group normalisation")),
    })
}

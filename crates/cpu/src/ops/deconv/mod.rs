//! Rows of deconvolution: a convolution's gradient with respect to its source, as a forward operation.

use crate::CpuTarget;
use crate::ops::conv::depthwise;
use crate::ops::conv::geometry::Direction;
use crate::ops::conv::weights;
use crate::ops::conv::window::{self, Setup};
use crate::ops::conv::{planes, tiles};
use crate::ops::{fallback, staged};
use oxidnn_runtime::{Choose, Impl, Plan, Skip};
use oxidnn_spec::{Arg, Op, Problem, Prop};

/// Best first.
pub const IMPLS: &[Impl<CpuTarget>] = &[
    Impl::new("direct:jit", direct_jit),
    Impl::new("packed:amx", amx),
    Impl::new("packed:jit", tiles),
    Impl::new("staged:jit", staged),
    Impl::new("direct:portable", direct),
    Impl::new("packed:portable", packed),
    fallback::ROW,
];

/// The rows that [`staged`] makes copies for.
const GENERATED: &[Choose<CpuTarget>] = &[direct_jit, amx, tiles];

fn direct_jit(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    match problem.op.prop() {
        Some(Prop::BackwardWeights) => depthwise::gradient::plan(problem.clone(), target, gradient),
        _ => planes::plan(problem, target, setup, depthwise::jit::plan),
    }
}

fn staged(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let mut problem = problem.clone();
    if problem.op.prop() == Some(Prop::BackwardWeights) {
        weights::tiled::resolve(&mut problem, target, gradient)?;
    }
    staged::plan(&problem, target, GENERATED, staged::types(&problem))
}

fn direct(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    depthwise::plan(problem.clone(), target, setup)
}

fn tiles(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    match problem.op.prop() {
        _ if depthwise::is_depthwise(problem) => Err(depthwise::ONE),
        Some(Prop::BackwardWeights) => weights::tiled::plan(problem.clone(), target, gradient),
        _ => planes::packed(problem, target, setup),
    }
}

fn amx(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    if depthwise::is_depthwise(problem) {
        return Err(depthwise::ONE);
    }
    planes::plan(problem, target, setup, tiles::plan_amx)
}

fn packed(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    match problem.op.prop() {
        Some(Prop::BackwardWeights) => weights::plan(problem.clone(), target, gradient),
        _ => window::plan(problem.clone(), target, setup),
    }
}

/// A deconvolution forward, or backward by data, as a window over one of its tensors.
fn setup(op: &Op) -> Option<Setup<'_>> {
    let Op::Deconv(op) = op else { return None };
    let (src, dst) = (&op.src, &op.dst);
    let (direction, source, result, result_channel) = match op.prop {
        Prop::ForwardTraining | Prop::ForwardInference => (Direction::Scatter, (Arg::SRC, src), (Arg::DST, dst), 0),
        Prop::BackwardData => (Direction::Gather, (Arg::DIFF_DST, dst), (Arg::DIFF_SRC, src), 1),
        _ => return None,
    };
    Some(Setup { direction, sizes: op.sizes(), source, weights: &op.weights, result, result_channel, biased: op.bias.is_some() })
}

/// A deconvolution backward by weights: the window slides over the destination's gradient.
fn gradient(op: &Op) -> Option<weights::Setup<'_>> {
    let Op::Deconv(op) = op else { return None };
    Some(weights::Setup { sizes: op.sizes(), x: (Arg::DIFF_DST, &op.dst), y: (Arg::SRC, &op.src), weights: &op.weights, x_first: true })
}

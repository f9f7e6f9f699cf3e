//! Rows of convolution and deconvolution, which is a convolution's gradient with respect to its source as a forward operation.

mod blocked;
mod columns;
mod compensation;
pub(crate) mod depthwise;
mod edges;
mod execute;
mod few;
mod filled;
mod flat;
mod fused;
pub(crate) mod geometry;
mod joint;
mod order;
mod packed;
mod padded;
mod pixels;
mod sampled;
mod scaled;
mod scattered;
#[cfg(test)]
mod tests;
pub(crate) mod tiles;
pub(crate) mod weights;
pub(crate) mod window;
mod winograd;

use crate::CpuTarget;
use crate::ops::{fallback, passes, rounded, staged, support};
use oxidnn_runtime::{Choose, Impl, Plan, Skip};
use oxidnn_spec::{Arg, Problem, Prop};

/// Best first.
pub const IMPLS: &[Impl<CpuTarget>] = &[
    Impl::new("fused:any", fused::plan),
    Impl::new("scaled:jit", scaled::plan),
    Impl::new("direct:jit", direct),
    Impl::new("rounded:amx", rounded).for_some_shapes(),
    Impl::new("winograd:jit", winograd).for_some_shapes(),
    Impl::new("packed:amx", amx),
    Impl::new("few_channels:jit", few::plan).for_some_shapes(),
    Impl::new("blocked1x1:jit", blocked::plan).for_some_shapes(),
    Impl::new("nchw1x1:jit", nchw1x1),
    Impl::new("unit_stride:jit", sampled::plan),
    Impl::new("scattered:jit", scattered).for_some_shapes(),
    Impl::new("edges:jit", edges).for_some_shapes(),
    Impl::new("packed:jit", packed),
    Impl::new("repeated:jit", repeated),
    Impl::new("bwd_weights:amx", bwd_weights_amx),
    Impl::new("flat:jit", flat),
    Impl::new("bwd_weights:jit", bwd_weights),
    Impl::new("staged:jit", staged),
    Impl::new("passes:jit", passes::generated),
    Impl::new("direct:portable", direct_portable),
    Impl::new("packed:portable", packed_portable),
    Impl::new("passes:portable", passes::portable),
    fallback::ROW,
];

/// f32 on tiles of AMX.
fn rounded(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    rounded::plan(problem, target, &[amx, amx_to_copy, bwd_weights_amx])
}

/// On tiles of AMX, to a copy of the result, from a source that lies as they want it.
fn amx_to_copy(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    if !window::Setup::of(&problem.op)?.source.1.layout.is_any() {
        return Err(Skip::Layout("of the source: given".into()));
    }
    staged::plan(problem, target, &[amx], &[&[]])
}

/// The rows that [`staged`] makes copies for.
const GENERATED: &[Choose<CpuTarget>] = &[direct, winograd, amx, nchw1x1, sampled::plan, edges, packed, bwd_weights_amx, bwd_weights];

/// Depthwise, and groups of few channels.
fn direct(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    match problem.op.prop() {
        Some(Prop::BackwardWeights) => depthwise::gradient::plan(problem.clone(), target),
        _ => depthwise::jit::plan(problem.clone(), target),
    }
}

fn winograd(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    winograd::plan(problem.clone(), target)
}

/// On tiles of AMX, channels last.
fn amx(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    dense(problem)?;
    tiles::plan_amx(problem.clone(), target)
}

/// Windows of one pixel, NCHW in place.
fn nchw1x1(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    dense(problem)?;
    columns::plan(problem, target)
}

/// To few channels, NCHW.
fn scattered(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    dense(problem)?;
    scattered::plan(problem, target)
}

/// Windows over small images, channels last.
fn edges(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    dense(problem)?;
    edges::plan(problem.clone(), target)
}

/// On vectors, channels last.
fn packed(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    dense(problem)?;
    tiles::plan(problem.clone(), target)
}

/// Gradients of weights, on tiles of AMX.
fn bwd_weights_amx(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    dense(problem)?;
    weights::tiled::plan_amx(problem.clone(), target)
}

/// Gradients of weights of windows of one pixel.
fn flat(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    flat::plan(problem, target)
}

/// Gradients of weights, on vectors.
fn bwd_weights(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    dense(problem)?;
    let weights = problem.op.tensor(Arg::DIFF_WEIGHTS).zip(problem.op.tensor(Arg::SRC));
    let grouped = weights.is_some_and(|(weights, src)| weights.dims().len() > src.dims().len() && weights.dims()[0] > 1);
    if grouped && sampled::met(problem).is_some() {
        return Err(Skip::Shape("groups whose windows of one pixel skip pixels: those that are met are copied for all groups at once"));
    }
    weights::tiled::plan(problem.clone(), target)
}

/// Gradients of weights of groups of one channel of one operand and several of the other.
fn repeated(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    staged::repeated(problem, target, &[direct, |problem, target| with_copies(problem, target, &[direct])])
}

fn staged(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    passes::unless_sooner(problem, target, |problem, target| with_copies(problem, target, GENERATED))
}

/// Plans by the first of `rows` that takes copies of some operands: of the source, of the pixels that windows meet.
fn with_copies(problem: &Problem, target: &CpuTarget, rows: &[Choose<CpuTarget>]) -> Result<Box<dyn Plan>, Skip> {
    let Some(met) = sampled::met(problem) else { return of_all(problem, target, rows) };
    let inner = of_all(&met, target, rows)?;
    let mut resolved = problem.clone();
    support::adopt(&mut resolved, inner.problem(), &[Arg::SRC]);
    staged::viewed(resolved, inner, target)
}

/// The same of all pixels.
fn of_all(problem: &Problem, target: &CpuTarget, rows: &[Choose<CpuTarget>]) -> Result<Box<dyn Plan>, Skip> {
    let types = staged::types(problem);
    if problem.op.prop() != Some(Prop::BackwardWeights) {
        return staged::plan(problem, target, rows, types);
    }
    // Groups of few channels have a layout of their own.
    staged::plan(problem, target, &[direct], types).or_else(|_| {
        let mut problem = problem.clone();
        weights::tiled::resolve(&mut problem, target)?;
        staged::plan(&problem, target, rows, types)
    })
}

fn direct_portable(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    depthwise::plan(problem.clone(), target)
}

fn packed_portable(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    match problem.op.prop() {
        Some(Prop::BackwardWeights) => weights::plan(problem.clone(), target),
        _ => window::plan(problem.clone(), target),
    }
}

/// Whether groups have more than one channel, as products want it.
fn dense(problem: &Problem) -> Result<(), Skip> {
    if depthwise::is_depthwise(problem) { Err(depthwise::ONE) } else { Ok(()) }
}

//! Rows of convolution and deconvolution. Forward deconvolution is the gradient of a convolution with respect to its source.
//!
//! | files | what they are for |
//! |---|---|
//! | `window`, `geometry` | what all rows share: a problem as a window over one of its tensors; its taps, by phases of the stride |
//! | `tiles` | `packed:jit`, `packed:amx`: implicit GEMM. `tiles::run` executes it, `order` says which results a tile takes, `repack` packs weights again at execution, `compensation` corrects sums of integers, `subpixel` has the phases of strided gradients as columns, `padded` is AMX's copy of the source |
//! | `nchw1x1`, `few_channels`, `unit_stride` | 1x1 windows: of NCHW in place; of NCHW to few channels; with strides, reduced to unit stride |
//! | `edges`, `scattered`, `winograd` | small images; few result channels of NCHW by GEMM and col2im; F(4x4, 3x3) |
//! | `depthwise`, `scaled` | groups of one or few channels: `direct:portable`, in `depthwise::jit` `direct:jit`, and its gradients of weights; depthwise 1x1 |
//! | `weights`, `flat` | gradients of weights: `packed:portable`, in `weights::tiled` `bwd_weights`; of 1x1 windows as an inner product |
//! | `fused` | a depthwise post-op behind 1x1 |
//! | `portable` | `packed:portable` |

pub(crate) mod depthwise;
mod edges;
mod few_channels;
mod flat;
mod fused;
pub(crate) mod geometry;
mod nchw1x1;
mod portable;
mod scaled;
mod scattered;
#[cfg(test)]
mod tests;
pub(crate) mod tiles;
mod unit_stride;
pub(crate) mod weights;
pub(crate) mod window;
mod winograd;

use crate::CpuTarget;
use crate::ops::{bias, doubles, fallback, passes, rounded, staged, support};
use oxidnn_runtime::{Choose, Impl, Plan, Skip};
use oxidnn_spec::{Arg, DataType, Problem, Prop};

/// Best first.
pub const IMPLS: &[Impl<CpuTarget>] = &[
    Impl::new("fused:any", fused::plan),
    Impl::new("scaled:jit", scaled::plan),
    Impl::new("direct:jit", |p, t| bias::apart(p, t, direct)),
    Impl::new("rounded:amx", |p, t| bias::apart(p, t, rounded)).for_some_shapes(),
    Impl::new("winograd:jit", winograd::plan).for_some_shapes(),
    Impl::new("packed:amx", tiles::plan_amx),
    Impl::new("nchw1x1:jit", nchw1x1::plan),
    Impl::new("few_channels:jit", few_channels::plan).for_some_shapes(),
    Impl::new("scattered:jit", scattered::plan).for_some_shapes(),
    Impl::new("edges:jit", edges::plan).for_some_shapes(),
    Impl::new("packed:jit", tiles::plan),
    Impl::new("repeated:jit", |p, t| bias::apart(p, t, repeated)),
    Impl::new("bwd_weights:amx", |p, t| bias::apart(p, t, weights::tiled::plan_amx)),
    Impl::new("flat:jit", |p, t| bias::apart(p, t, flat::plan)),
    Impl::new("bwd_weights:jit", |p, t| bias::apart(p, t, bwd_weights)),
    Impl::new("staged:jit", |p, t| bias::apart(p, t, staged)),
    Impl::new("passes:jit", passes::generated),
    Impl::new("direct:portable", depthwise::plan),
    Impl::new("packed:portable", |p, t| bias::apart(p, t, packed_portable)),
    Impl::new("passes:portable", passes::portable),
    Impl::new("doubles:portable", doubles::plan),
    fallback::ROW,
];

/// f32 products rounded to bf16 on AMX, if the `fpmath` mode allows it.
fn rounded(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    if problem.op.prop() != Some(Prop::BackwardWeights) {
        tiles::check_rounded(problem)?;
    }
    rounded::plan(problem, target, &[tiles::plan_amx, amx_to_copy, weights::tiled::plan_amx])
}

/// AMX with a copy of the result, for sources of open layout, which then get the layout that the row prefers.
fn amx_to_copy(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    if !window::Setup::of(&problem.op)?.source.1.layout.is_any() {
        return Err(Skip::Layout("of the source: given".into()));
    }
    staged::plan(problem, target, &[tiles::plan_amx], &[&[]])
}

/// The rows that [`staged`] plans over copies of operands.
const GENERATED: &[Choose<CpuTarget>] =
    &[direct, winograd::plan, tiles::plan_amx, nchw1x1::plan, edges::plan, tiles::plan, weights::tiled::plan_amx, bwd_weights];

/// Depthwise, and groups of few channels.
fn direct(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    match problem.op.prop() {
        Some(Prop::BackwardWeights) => depthwise::gradient::plan(problem, target),
        _ => depthwise::jit::plan(problem, target),
    }
}

/// Gradients of weights on vector microkernels.
fn bwd_weights(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    dense(problem)?;
    let weights = problem.op.tensor(Arg::DIFF_WEIGHTS).zip(problem.op.tensor(Arg::SRC));
    let grouped = weights.is_some_and(|(weights, src)| weights.dims().len() > src.dims().len() && weights.dims()[0] > 1);
    if grouped && unit_stride::reduce(problem, false).is_some() {
        return Err(Skip::Shape("groups whose windows of one pixel skip pixels: those that are met are copied for all groups at once"));
    }
    weights::tiled::plan(problem, target)
}

/// Gradients of weights of groups with one channel in one operand and several in the other.
fn repeated(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let s = weights::Setup::of(&problem.op)?;
    let f16 = [s.x.1, s.y.1].iter().any(|t| t.dtype == DataType::F16);
    if !f16 && s.sizes.k.iter().zip(&s.sizes.s).all(|(taps, stride)| taps <= stride) {
        return Err(Skip::Shape("windows that share no pixels, for which copies take longer than products"));
    }
    staged::repeated(problem, target, &[direct, |problem, target| with_copies(problem, target, &[direct])])
}

fn staged(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    passes::unless_sooner(problem, target, |problem, target| with_copies(problem, target, GENERATED))
}

/// Plans over copies of operands by the first of `rows` that takes them. Of the source only the pixels that windows read are copied, or,
/// if pixels are closest, their lines.
fn with_copies(problem: &Problem, target: &CpuTarget, rows: &[Choose<CpuTarget>]) -> Result<Box<dyn Plan>, Skip> {
    let Some(reduced) = unit_stride::reduce(problem, problem.op.prop() != Some(Prop::BackwardWeights)) else {
        return of_all(problem, target, rows);
    };
    let inner = of_all(&reduced, target, rows)?;
    let mut resolved = problem.clone();
    support::adopt(&mut resolved, inner.problem(), &[Arg::SRC]);
    staged::viewed(resolved, inner, target)
}

/// The same with all pixels of the source copied.
fn of_all(problem: &Problem, target: &CpuTarget, rows: &[Choose<CpuTarget>]) -> Result<Box<dyn Plan>, Skip> {
    let types = staged::types(problem);
    // Groups of few channels are faster there even with more copies; for gradients of weights they have a weight layout of their own.
    staged::plan(problem, target, &[direct], types).or_else(|_| {
        if problem.op.prop() != Some(Prop::BackwardWeights) {
            return staged::plan(problem, target, rows, types);
        }
        let mut problem = problem.clone();
        weights::tiled::resolve(&mut problem, target)?;
        staged::plan(&problem, target, rows, types)
    })
}

/// Whether products of copies to channels last are predicted to be faster than `row`, both on one thread.
fn copies_are_sooner(problem: &Problem, target: &CpuTarget, row: Choose<CpuTarget>) -> bool {
    let alone = CpuTarget { threads: 1, ..*target };
    let seconds = |plan: Result<Box<dyn Plan>, Skip>| plan.ok().and_then(|plan| plan.decision().seconds);
    let copies = seconds(of_all(problem, &alone, &[tiles::plan]));
    copies.zip(seconds(row(problem, &alone))).is_some_and(|(copies, here)| copies < here)
}

fn packed_portable(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    match problem.op.prop() {
        Some(Prop::BackwardWeights) => weights::plan(problem, target),
        _ => portable::plan(problem, target),
    }
}

/// Refuses groups of one channel, which the depthwise rows take.
fn dense(problem: &Problem) -> Result<(), Skip> {
    if depthwise::is_depthwise(problem) { Err(depthwise::ONE) } else { Ok(()) }
}

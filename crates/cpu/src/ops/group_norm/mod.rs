//! Group normalisation: statistics by batch item and group of channels.

mod columns;

use crate::kernels::pointwise::{Pipeline, Program};
use crate::ops::fallback;
use crate::ops::norm::Norm;
use crate::ops::support::{self, pixel_distance};
use crate::ops::{batch_norm, rounds, staged};
use crate::{CpuTarget, RowPlan};
use oxidnn_runtime::{Impl, Plan, Skip};
use oxidnn_spec::op::GroupNorm;
use oxidnn_spec::{DataType, Op, Problem, Tensor};

/// The rows, best first.
pub const IMPLS: &[Impl<CpuTarget>] = &[
    Impl::new("columns:jit", by_column),
    Impl::new("stages:jit", stages),
    Impl::new("staged:jit", |p, t| staged::plan(&support::resolved(p), t, &[stages], &[&[]])),
    Impl::new("folds:portable", |p, t| RowPlan::resolved(p, t, pipeline)),
    fallback::ROW,
];

/// Elements of an image from which on columns are faster than stages.
const MIN_IMAGE: i64 = 32768;
/// Neighbouring channels that fill less than half a vector: these problems are faster on copies whose pixels are contiguous. Measured on
/// Zen 4.
const MAX_COPIED_CHANNELS: i64 = 8;

/// Forward passes with channels as columns: as batch normalisations of one image after the other.
///
/// # Errors
/// Other problems, and those of few elements an image.
fn by_column(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let problem = support::resolved(problem);
    support::known(&problem)?;
    let Op::GroupNorm(op) = &problem.op else { return Err(Skip::Op("another operation than group normalisation")) };
    let (dims, other) = (*op.src.dims(), || Skip::Shape("gradients, or few elements"));
    let each = dims[1..].iter().fold(1i64, |n, d| n.saturating_mul(*d));
    if !op.prop.is_forward() || op.flags.rms || each < MIN_IMAGE || dims[0] == 0 {
        return Err(other());
    }
    let image = |t: &Tensor| rounds::part(t, 1, *t.dims().get(2).unwrap_or(&1)).filter(|_| rounds::is_apart(t, 0)).ok_or_else(other);
    let line = |t: &Option<Tensor>| t.as_ref().map(|_| Tensor::plain([1, op.groups], DataType::F32)).transpose().map_err(|_| other());
    let (src, dst) = (image(&op.src)?, op.dst.as_ref().map(image).transpose()?);
    let inner = GroupNorm { src, dst, mean: line(&op.mean)?, variance: line(&op.variance)?, ..GroupNorm::clone(op) };
    let inner = Problem::new(inner, problem.attr.clone()).map_err(|_| other())?;
    let inner = batch_norm::columns::plan(&inner, target)?;
    let images = dims[0] as usize;
    staged::by_image(problem, inner, images, target)
}

fn stages(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    if let Op::GroupNorm(op) = &problem.op
        && is_copied(&op.src)
    {
        return Err(Skip::Layout("of src: few neighbouring channels, or pixels at several distances".into()));
    }
    Program::plan_in_stages(problem, target, pipeline)
}

/// Whether neither channels nor pixels are runs that fill vectors. Padding of blocks of channels is no part of runs.
fn is_copied(src: &Tensor) -> bool {
    let Some(b) = src.blocking() else { return false };
    let dims = src.dims();
    match columns::has_contiguous_channels(src) {
        _ if b.inner.of(0) > 1 || dims[0] > 1 && b.strides[0] == 1 => true,
        true if b.inner.is_empty() => dims[1] < MAX_COPIED_CHANNELS,
        true => dims[1] < MAX_COPIED_CHANNELS * (b.padded_dims[1] / b.inner.of(1)),
        false => b.inner.iter().any(|(d, _)| d > 1) || pixel_distance(src).is_none(),
    }
}

fn pipeline(problem: &Problem) -> Result<(Pipeline, usize), Skip> {
    let Op::GroupNorm(op) = &problem.op else { return Err(Skip::Op("another operation than group normalisation")) };
    if columns::suits(op) {
        return columns::pipeline(&Norm::of(problem)?, op.groups);
    }
    Norm::of(problem)?.pipeline()
}

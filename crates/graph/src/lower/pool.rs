//! Pooling and interpolation.

use super::fold::Post;
use super::state::channels_first;
use super::{Lowering, Value, window};
use crate::infer::window_dims;
use crate::{AttrId, Error, OpKind};
use oxidnn_spec::op::{EltwiseAlg, Pool, PoolAlg, Prop, Resampling, ResamplingAlg};
use oxidnn_spec::{Arg, Dims, Problem, Tensor};

fn algorithm(l: &Lowering<'_>) -> PoolAlg {
    match l.op.kind {
        OpKind::MaxPool | OpKind::MaxPoolBackward => PoolAlg::Max,
        _ if l.op.flag(AttrId::ExcludePad) => PoolAlg::AvgExcludePadding,
        _ => PoolAlg::AvgIncludePadding,
    }
}

/// The pooling between these tensors; the padding after follows from their sizes.
fn pool(l: &Lowering<'_>, prop: Prop, src: &Value, dst: &Value) -> Result<Pool, Error> {
    let (wide, kernel) = (src.spatial()?, l.op.s64s(AttrId::Kernel));
    let window = window(&window_dims(l.op, wide, kernel, false)?, wide, dst.spatial()?)?;
    let kernel = Dims::new(kernel).unwrap_or_default();
    Ok(Pool::new(prop, algorithm(l), [src.tensor.clone(), dst.tensor.clone()], kernel, window))
}

pub(super) fn forward(l: &mut Lowering<'_>) -> Result<(), Error> {
    let mut src = l.source(0)?;
    if let Some((scale, zero)) = src.scaled.as_ref().and_then(|s| s.common) {
        // The largest byte is that of the largest number; padding, where it counts, is 0.
        let same = scale > 0.0 && (zero == 0.0 || algorithm(l) != PoolAlg::AvgIncludePadding);
        if same {
            l.folded.posts.insert(0, Post::Eltwise(EltwiseAlg::Linear, [scale, -zero * scale]));
            src = src.raw();
        }
    }
    let src = channels_first(l.op, &l.plain(src)?)?;
    let dst = l.destination(channels_first)?;
    let problem = pool(l, Prop::ForwardInference, &src, &dst)?;
    l.main(problem, &[(Arg::SRC, &src), (Arg::DST, &dst)])
}

pub(super) fn average_backward(l: &mut Lowering<'_>) -> Result<(), Error> {
    let (diff_dst, diff_src) = (channels_first(l.op, &l.input(0)?)?, channels_first(l.op, &l.output(0)?)?);
    let problem = pool(l, Prop::BackwardData, &diff_src, &diff_dst)?;
    l.step(problem, &[(Arg::DIFF_DST, &diff_dst), (Arg::DIFF_SRC, &diff_src)])
}

/// The places of the maxima are found again by a forward pass.
pub(super) fn max_backward(l: &mut Lowering<'_>) -> Result<(), Error> {
    let (src, diff_dst) = (channels_first(l.op, &l.input(0)?)?, channels_first(l.op, &l.input(1)?)?);
    let diff_src = channels_first(l.op, &l.output(0)?)?;
    let layout = diff_dst.tensor.layout.resized(*diff_dst.dims());
    let dst = l.temporary(Tensor { dtype: diff_dst.dtype(), layout }, false);
    let forward = Problem::new(pool(l, Prop::ForwardTraining, &src, &dst)?, l.attr.clone())?;
    let workspace = forward.op.workspace().cloned();
    let workspace = workspace.ok_or_else(|| Error::Unimplemented("max pooling without a workspace".into()))?;
    let workspace = l.temporary(workspace, false);
    l.step(forward.op, &[(Arg::SRC, &src), (Arg::DST, &dst), (Arg::WORKSPACE, &workspace)])?;
    let problem = pool(l, Prop::BackwardData, &diff_src, &diff_dst)?;
    l.step(problem, &[(Arg::DIFF_DST, &diff_dst), (Arg::WORKSPACE, &workspace), (Arg::DIFF_SRC, &diff_src)])
}

fn resampling(l: &Lowering<'_>, prop: Prop, src: &Value, dst: &Value) -> Resampling {
    let alg = if l.op.text(AttrId::Mode) == "nearest" { ResamplingAlg::Nearest } else { ResamplingAlg::Linear };
    Resampling { prop, alg, src: src.tensor.clone(), dst: dst.tensor.clone(), factors: l.op.f32s(AttrId::Scales).to_vec() }
}

pub(super) fn interpolate(l: &mut Lowering<'_>) -> Result<(), Error> {
    let src = channels_first(l.op, &l.input(0)?)?;
    let dst = l.destination(channels_first)?;
    let problem = resampling(l, Prop::ForwardInference, &src, &dst);
    l.main(problem, &[(Arg::SRC, &src), (Arg::DST, &dst)])
}

pub(super) fn interpolate_backward(l: &mut Lowering<'_>) -> Result<(), Error> {
    let (diff_dst, diff_src) = (channels_first(l.op, &l.input(1)?)?, channels_first(l.op, &l.output(0)?)?);
    let problem = resampling(l, Prop::BackwardData, &diff_src, &diff_dst);
    l.step(problem, &[(Arg::DIFF_DST, &diff_dst), (Arg::DIFF_SRC, &diff_src)])
}

//! `unit_stride:jit`: windows of one pixel that skip pixels of tensors whose pixels lie closest (NCHW): the pixels that they meet are gathered first, and what is left
//! is a window that skips none.
//!
//! Three of four pixels are not needed where a window goes on by two, and a row that transposes its source, or reads it in place, would fetch and
//! turn them all. What is gathered stays in the caches for the row that takes it.

use super::{nchw1x1, of_all, packed};
use crate::CpuTarget;
use crate::kernels::access::View;
use crate::kernels::multiversion::{Body, Simd};
use crate::kernels::scratch::Scratch;
use crate::ops::staged::{self, Copied};
use crate::ops::support;
use crate::row::{Kernel, RowPlan};
use oxidnn_runtime::{Buf, Ctx, Plan, Skip};
use oxidnn_spec::op::Reorder;
use oxidnn_spec::{Arg, Attr, DataType, Dims, Error, MAX_NDIMS, Op, Problem, Prop, Tensor};
use std::ops::Range;

#[cfg(test)]
mod tests;

/// Bytes that are gathered at most: all images at once.
const MOST: usize = 8 << 20;
/// Channels of a task.
const CHANNELS: usize = 16;

/// A copy of the pixels that are met.
#[derive(Debug)]
struct Sampled {
    tensor: Tensor,
    /// Elements from an image, a channel, and a pixel to the next that is met, depth first.
    image: usize,
    channel: usize,
    at: [usize; 3],
}

/// Plans `problem`, where it is a convolution forward of such windows.
///
/// # Errors
/// What the row does not take.
pub(crate) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let (dense, src, [image, channel, at @ ..]) = dense(problem)?;
    let inner = nchw1x1(&dense, target).or_else(|_| packed(&dense, target)).or_else(|_| of_all(&dense, target, &[packed]))?;
    let mut problem = problem.clone();
    support::adopt(&mut problem, inner.problem(), &[Arg::SRC]);
    let dst = inner.problem().op.tensor(Arg::SRC).ok_or(Skip::Op("without a source"))?.clone();
    let sampled = Sampled { tensor: dst.clone(), image, channel, at };
    let copy = Problem { op: Op::Reorder(Reorder { src, dst }), attr: Attr::default() };
    let reorders = [Some(RowPlan::of(copy, target, Some(0), sampled)?), None];
    let what = "pixels that are met, gathered";
    staged::with_copy(problem, inner, Copied { what, arg: Arg::SRC, apart: true, reorders }, target)
}

/// The problem over the pixels that are met, where they lie, if windows of one pixel skip some.
pub(super) fn met(problem: &Problem) -> Option<Problem> {
    let mut met = problem.clone();
    let Op::Conv(op) = &mut met.op else { return None };
    let (s, n) = (op.sizes(), op.src.dims().len());
    let skips = s.k == [1; 3] && s.pl == [0; 3] && s.s != [1; 3];
    let inside = (0..3).all(|i| (s.o[i] - 1) * s.s[i] < s.i[i]);
    let known = !op.src.dims().has_runtime() && !op.src.is_empty();
    let apart = op.src.blocking().is_some_and(|b| b.inner.iter().all(|(d, _)| d < 2));
    if op.prop == Prop::BackwardData || op.depthwise_dst.is_some() || !(skips && inside && known && apart) {
        return None;
    }
    let dims = Dims::from_fn(n, |d| if d < 2 { op.src.dims()[d] } else { s.o[d + 3 - n] });
    op.src.layout = op.src.layout.submemory(&dims, &[0; MAX_NDIMS][..n]).ok()?;
    let b = op.src.layout.blocking_mut()?;
    for d in 2..n {
        b.strides[d] = b.strides[d].checked_mul(s.s[d + 3 - n])?;
    }
    op.window.strides = Dims::from_fn(n - 2, |_| 1);
    op.window.padding_r = Dims::from_fn(n - 2, |_| 0);
    Some(met)
}

/// The problem over the pixels that are met, one behind the other; these where they lie, and their distances: of images, channels, and pixels by dimension.
fn dense(problem: &Problem) -> Result<(Problem, Tensor, [usize; 5]), Skip> {
    let no = || Skip::Layout("of the source: pixels are not closest".into());
    let none = Skip::Shape("other than windows of one pixel that skip pixels");
    let (Op::Conv(all), Some(mut dense)) = (&problem.op, met(problem)) else { return Err(none) };
    let Op::Conv(op) = &mut dense.op else { return Err(none) };
    if !matches!(op.prop, Prop::ForwardTraining | Prop::ForwardInference) {
        return Err(none);
    }
    if op.src.dtype != DataType::F32 || problem.operands().len() + 2 > support::OPERANDS {
        return Err(Skip::DataType("other than f32 with pixels last".into()));
    }
    let (dims, n) = (*op.src.dims(), op.src.dims().len());
    let closest = |t: &Tensor| t.blocking().is_some_and(|b| b.is_plain() && b.strides[n - 1] == 1 && dims[1] > 1);
    let b = op.src.blocking().filter(|_| closest(&all.src)).ok_or_else(no)?;
    let mut distances = [0; 5];
    for d in 0..n {
        distances[if d < 2 { d } else { d + 5 - n }] = usize::try_from(b.strides[d]).map_err(|_| no())?;
    }
    let plain = Tensor::with_tag(dims, DataType::F32, "abx").map_err(|e| Skip::Layout(e.to_string()))?;
    let met = std::mem::replace(&mut op.src, plain);
    if op.src.bytes() > MOST {
        return Err(Skip::Shape("many images"));
    }
    Ok((dense, met, distances))
}

/// Some channels of an image, to be gathered.
struct Gather<'a> {
    plan: &'a Sampled,
    from: Buf<'a>,
    /// The first number of the source.
    first: usize,
    to: Buf<'a>,
    image: usize,
    channels: Range<usize>,
}

impl Body for Gather<'_> {
    type Out = ();

    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        let (p, dims) = (self.plan, self.plan.tensor.dims());
        let size = |i: usize| (i + dims.len()).checked_sub(3).filter(|d| *d >= 2).map_or(1, |d| dims[d] as usize);
        let [depth, height, width] = std::array::from_fn(size);
        let lines = depth * height;
        for channel in self.channels.clone() {
            let from = self.first + self.image * p.image + channel * p.channel;
            let to = (self.image * dims[1] as usize + channel) * lines * width;
            for line in 0..lines {
                let (from, to) = (from + line / height * p.at[0] + line % height * p.at[1], to + line * width);
                match (p.at[2], width) {
                    (2, 16..) => self.pairs::<16, 31>(from, to, width),
                    (2, 8..) => self.pairs::<8, 15>(from, to, width),
                    (2, 4..) => self.pairs::<4, 7>(from, to, width),
                    (step, _) => (0..width).for_each(|i| self.to.set(to + i, self.from.get::<f32>(from + i * step))),
                }
            }
        }
    }
}

impl Gather<'_> {
    /// Every second number of a line of at least `N`, which `M` numbers hold: the last `N` overlap those before.
    #[inline(always)]
    fn pairs<const N: usize, const M: usize>(&self, from: usize, to: usize, count: usize) {
        for i in (0..count).step_by(N) {
            let i = i.min(count - N);
            let mut numbers = [0.0f32; M];
            self.from.read(from + 2 * i, &mut numbers);
            let met: [f32; N] = std::array::from_fn(|k| numbers[2 * k]);
            self.to.write(to + i, &met);
        }
    }
}

impl Kernel for Sampled {
    fn run(&self, simd: Simd, ctx: &Ctx<'_>, _: Scratch<'_>) -> Result<(), Error> {
        let (view, to) = (View::of(simd, ctx, Arg::SRC)?, ctx.buf(Arg::DST)?);
        let (from, offset) = (view.buf(), view.offset(&[0; MAX_NDIMS]));
        let [images, channels] = [0, 1].map(|d| self.tensor.dims()[d] as usize);
        let blocks = channels.div_ceil(CHANNELS);
        ctx.executor().run(ctx.executor().threads(), images * blocks, &|_, task| {
            let first = task % blocks * CHANNELS;
            let channels = first..channels.min(first + CHANNELS);
            simd.run(Gather { plan: self, from, first: offset, to, image: task / blocks, channels });
        });
        Ok(())
    }
}

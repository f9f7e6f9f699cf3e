//! `transposed:jit`, `transposed:amx` and `transposed_direct:jit`: convolutions of tensors whose pixels lie closest (NCHW), on rows for tensors
//! whose channels do.
//!
//! Source and result go through scratch with channels last: squares of channels by pixels are transposed in registers, which costs a few per
//! cent of what the products take. Images are taken in rounds, so that scratch is a few images and stays in the caches. Where windows are one
//! pixel, any pixels are an image: rounds are then bands of pixels that fit a core's own cache, and every worker takes whole rounds. Weights
//! have the layout that they have for channels last, since layouts of weights do not depend on the data's.

use super::window::Setup;
use crate::CpuTarget;
use crate::decision::around;
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::{Scratch, booked, for_workers};
use crate::kernels::transpose::{Matrix, Squares};
use crate::ops::support;
use crate::row::{Generated, RowPlan};
use oxidnn_jit::Isa;
use oxidnn_runtime::queue::Immediate;
use oxidnn_runtime::{ALIGNMENT, Buf, Ctx, Decision, Exec, Executor, Plan, Region, Skip};
use oxidnn_spec::{Arg, Attr, Dims, Error, MAX_NDIMS, PostOp, Problem, Tensor};
use std::sync::{Arc, OnceLock};

/// Rounds of bands at least.
const ROUNDS: usize = 8;
/// Fewest pixels of a band.
const BAND_PIXELS: usize = 48;
/// Pixels and channels of a task of a copy.
const PIXELS: usize = 512;
const CHANNELS: usize = 256;

/// How a problem is planned for channels last.
pub(crate) type Inner = fn(Problem, &CpuTarget) -> Result<Box<dyn Plan>, Skip>;

/// A tensor that is copied.
#[derive(Debug)]
struct Side {
    arg: Arg,
    /// What it is in scratch: some images, channels last.
    tensor: Tensor,
    channels: usize,
    /// Pixels of a band; an image that is not cut is one.
    pixels: usize,
    /// Bands of an image.
    bands: usize,
    /// Bytes before the first number, of an image and of a channel.
    start: usize,
    image: usize,
    plane: usize,
    before: bool,
    after: bool,
}

#[derive(Debug)]
struct Planes {
    isa: Isa,
    inner: Box<dyn Plan>,
    sides: Vec<Side>,
    cut: Cut,
    /// Workers that take rounds of their own; 0 where all work on one.
    workers: usize,
}

/// The code of the inner row and of the copies.
struct Code {
    inner: Arc<dyn Exec>,
    squares: Squares,
}

/// How a batch is cut into rounds.
#[derive(Clone, Copy, Debug)]
struct Cut {
    /// Bands of an image.
    bands: usize,
    /// Bands of a round, and number of rounds.
    each: usize,
    rounds: usize,
}

/// Plans `problem`, by `inner` with channels last, between copies.
///
/// # Errors
/// Channels that are last already, layouts that squares do not transpose, and what `inner` declines.
pub(crate) fn plan(mut problem: Problem, target: &CpuTarget, inner: Inner) -> Result<Box<dyn Plan>, Skip> {
    let isa = target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?;
    let s = Setup::of(&problem.op)?;
    let data = [s.source.0, s.result.0];
    for o in problem.op.operands_mut().into_iter().filter(|o| data.contains(&o.arg)) {
        crate::ops::support::resolve(o.tensor, "axb")?;
    }
    let s = Setup::of(&problem.op)?;
    let copied: Vec<bool> = [s.source.1, s.result.1].iter().map(|t| !is_last(t)).collect();
    if !copied.contains(&true) || problem.operands().len() + 2 > support::OPERANDS {
        return Err(Skip::Layout("of source and result: channels are last".into()));
    }
    let whole = Cut { bands: 1, each: s.sizes.mb as usize, rounds: 1 };
    let (cut, apart) = match copied[..] {
        [true, true] => bands(&problem, &s, target).map_or_else(|| (images(&problem, &s, target), false), |cut| (cut, true)),
        _ => (whole, false),
    };
    let mut sides = Vec::new();
    for ((arg, tensor), result) in [(s.source, false), (s.result, true)] {
        if !is_last(tensor) {
            sides.push(Side::new(arg, tensor, &cut, (!result || problem.attr.reads_dst(), result))?);
        }
    }
    let mut last = problem.clone();
    for o in last.op.operands_mut() {
        if let Some(side) = sides.iter().find(|s| s.arg == o.arg) {
            *o.tensor = side.tensor.clone();
        }
    }
    let inner = inner(last, &CpuTarget { threads: if apart { 1 } else { target.threads }, ..*target })?;
    support::adopt(&mut problem, inner.problem(), &data);
    let workers = if apart { target.threads.max(1) } else { 0 };
    let planes = Planes { isa, inner, sides, cut, workers };
    RowPlan::of(problem, target, planes.each().and_then(|each| booked(&[for_workers(workers, each)?])), planes)
}

/// Whether channels lie closest, or there is one.
fn is_last(tensor: &Tensor) -> bool {
    tensor.dims()[1] == 1 || tensor.blocking().is_some_and(|b| b.is_plain() && b.strides[1] == 1)
}

/// Whether an operand of a post-op differs by a dimension that `which` names.
pub(super) fn differs(attr: &Attr, which: impl Fn(usize) -> bool) -> bool {
    let tensor = |t: &Tensor| t.dims().iter().enumerate().any(|(d, n)| *n != 1 && which(d));
    attr.post_ops.iter().any(|p| match p {
        PostOp::Binary { src1, src2, .. } => tensor(src1) || src2.as_ref().is_some_and(tensor),
        PostOp::Prelu { mask } => (0..MAX_NDIMS).any(|d| mask >> d & 1 == 1 && which(d)),
        _ => false,
    })
}

/// The largest divisor of `n` that is at most `most`; at least 1.
pub(super) fn divisor(n: usize, most: usize) -> usize {
    (1..=most.clamp(1, n.max(1))).rev().find(|d| n.is_multiple_of(*d)).unwrap_or(1)
}

/// Rounds of images: as many as divide the batch and fit the caches; all in one where an operand differs by image.
fn images(problem: &Problem, s: &Setup<'_>, target: &CpuTarget) -> Cut {
    let all = s.sizes.mb as usize;
    let bytes = s.source.1.bytes().saturating_add(s.result.1.bytes()) / all.max(1);
    let each = if differs(&problem.attr, |d| d == 0) { all } else { divisor(all, target.caches.l3 / 8 / bytes.max(1)) };
    Cut { bands: 1, each, rounds: all / each.max(1) }
}

/// Rounds of pixels, where windows are one pixel, there are enough of them, and weights need not be packed for each.
fn bands(problem: &Problem, s: &Setup<'_>, target: &CpuTarget) -> Option<Cut> {
    let (from, to) = (s.source.1.dims(), s.result.1.dims());
    let pointwise = s.sizes.k == [1; 3] && s.sizes.s == [1; 3] && from[2..] == to[2..];
    let packed = s.weights.blocking().is_none_or(|b| !b.is_plain());
    if !pointwise || !packed || differs(&problem.attr, |d| d != 1) {
        return None;
    }
    let (all, pixels) = (s.sizes.mb as usize, to[2..].iter().product::<i64>() as usize);
    let bytes = (from[1] as usize).checked_mul(s.source.1.dtype.bits() / 8)?.checked_add(to[1] as usize * s.result.1.dtype.bits() / 8)?;
    let most = (target.caches.budget(false).plain / bytes.max(1)).min(BAND_PIXELS.max(all.checked_mul(pixels)? / ROUNDS));
    let band = divisor(pixels, most);
    let each = if band == pixels { divisor(all, most / pixels.max(1)) } else { 1 };
    let (bands, rounds) = (pixels / band, all * (pixels / band) / each);
    (band * each >= BAND_PIXELS && rounds >= ROUNDS).then_some(Cut { bands, each, rounds })
}

impl Side {
    fn new(arg: Arg, tensor: &Tensor, cut: &Cut, (before, after): (bool, bool)) -> Result<Side, Skip> {
        let no = || Skip::Layout(format!("of {arg}: neither channels nor pixels are last"));
        let dims = tensor.dims();
        if tensor.dtype.bits() != 32 {
            return Err(Skip::DataType(format!("{} with pixels last", tensor.dtype)));
        }
        let b = tensor.blocking().filter(|b| b.is_plain() && !dims.contains(&0)).ok_or_else(no)?;
        let mut pixels = 1;
        for d in (2..dims.len()).rev() {
            if dims[d] != 1 && b.strides[d] != pixels {
                return Err(no());
            }
            pixels *= dims[d];
        }
        if b.strides[1] < pixels {
            return Err(no());
        }
        let band = pixels / cut.bands as i64;
        let some = Dims::from_fn(dims.len(), |d| match d {
            0 => cut.each as i64,
            d if d == 1 || cut.bands == 1 => dims[d],
            d if d + 1 == dims.len() => band,
            _ => 1,
        });
        let last = Tensor::with_tag(some, tensor.dtype, "axb").map_err(|e| Skip::Layout(e.to_string()))?;
        let (start, image, plane) = (b.offset as usize * 4, b.strides[0] as usize * 4, b.strides[1] as usize * 4);
        let (channels, pixels, bands) = (dims[1] as usize, band as usize, cut.bands);
        Ok(Side { arg, tensor: last, channels, pixels, bands, start, image, plane, before, after })
    }

    /// Copies the bands from `first` on between `planes` and `last`, to the latter where `inwards`.
    fn copy(&self, squares: &Squares, executor: &dyn Executor, (planes, last): (Buf, Buf), first: usize, inwards: bool) {
        let each = self.tensor.dims()[0] as usize;
        let (blocks, strips) = (self.pixels.div_ceil(PIXELS), self.channels.div_ceil(CHANNELS));
        executor.run(executor.threads(), each * strips * blocks, &|_, task| {
            let (block, rest) = (task % blocks, task / blocks);
            let (pixel, channel, band) = (block * PIXELS, rest % strips * CHANNELS, rest / strips);
            let (pixels, channels) = (PIXELS.min(self.pixels - pixel), CHANNELS.min(self.channels - channel));
            let (image, within) = ((first + band) / self.bands, (first + band) % self.bands);
            let at = self.start + image * self.image + channel * self.plane + (within * self.pixels + pixel) * 4;
            let planes = Matrix { buf: planes, at, row: self.plane };
            let row = self.channels * 4;
            let last = Matrix { buf: last, at: (band * self.pixels + pixel) * row + channel * 4, row };
            if inwards {
                squares.run(planes, last, channels, pixels);
            } else {
                squares.run(last, planes, pixels, channels);
            }
        });
    }
}

impl Planes {
    /// Elements of scratch of a round, which the inner row has and every side; `None` on overflow.
    fn each(&self) -> Option<usize> {
        let inner = self.inner.scratch_bytes().checked_next_multiple_of(ALIGNMENT)?;
        let bytes = |s: &Side| s.tensor.bytes().checked_next_multiple_of(ALIGNMENT);
        Some(self.sides.iter().try_fold(inner, |sum, side| sum.checked_add(bytes(side)?))? / 4)
    }

    /// One round, in scratch of its own.
    fn round(&self, code: &Code, ctx: &Ctx<'_>, scratch: Buf, round: usize) -> Result<(), Error> {
        let mut used = 0;
        let mut take = |bytes: usize| {
            let part = scratch.part(used, bytes);
            used += bytes.next_multiple_of(ALIGNMENT);
            part
        };
        let inner = take(self.inner.scratch_bytes());
        let mut bufs = [Buf::empty(); 2];
        bufs.iter_mut().zip(&self.sides).for_each(|(buf, side)| *buf = take(side.tensor.bytes()));
        let regions = bufs.map(|buf| [Region::host(buf)]);
        let first = round * self.cut.each;
        for (side, buf) in self.sides.iter().zip(bufs).filter(|s| s.0.before) {
            side.copy(&code.squares, ctx.executor(), (ctx.buf(side.arg)?, buf), first, true);
        }
        support::run_with(&*code.inner, ctx, Region::host(inner), |bound| {
            if let Some((side, region)) = self.sides.iter().zip(&regions).find(|s| s.0.arg == bound.arg) {
                (bound.tensor, bound.regions) = (&side.tensor, region);
            }
        })?;
        for (side, buf) in self.sides.iter().zip(bufs).filter(|s| s.0.after) {
            side.copy(&code.squares, ctx.executor(), (ctx.buf(side.arg)?, buf), first, false);
        }
        Ok(())
    }
}

impl Generated for Planes {
    type Code = Code;

    fn decision(&self, _: &Problem) -> Decision {
        let copies = self.sides.iter().map(|s| s.tensor.bytes()).sum();
        around("channels brought last, round by round", &*self.inner, self.cut.rounds.div_ceil(self.workers.max(1)), copies)
    }

    fn build(&self) -> Result<Code, Error> {
        Ok(Code { inner: self.inner.build()?, squares: Squares::get(self.isa)? })
    }

    fn run(&self, code: &Code, _simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let each = self.each().unwrap_or(0);
        let shares = scratch.take(for_workers(self.workers, each).unwrap_or(0))?.into_buf();
        let share = |worker: usize| shares.part(worker * each * 4, each * 4);
        if self.workers == 0 {
            return (0..self.cut.rounds).try_for_each(|round| self.round(code, ctx, share(0), round));
        }
        let failure = OnceLock::new();
        ctx.executor().run(self.workers.min(ctx.executor().threads().max(1)), self.cut.rounds, &|worker, round| {
            if let Err(e) = self.round(code, &Ctx { queue: Immediate::inline(), ..*ctx }, share(worker), round) {
                let _ = failure.set(e);
            }
        });
        failure.into_inner().map_or(Ok(()), Err)
    }
}

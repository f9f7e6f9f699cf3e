//! Convolutions of tensors whose pixels lie closest (NCHW), on rows for tensors whose channels do.
//!
//! Source and result go through scratch with channels last: squares of channels by pixels are transposed in registers, which costs a few per
//! cent of what the products take. Images are taken in rounds, so that scratch is a few images and stays in the caches. Weights have the
//! layout that they have for channels last, since layouts of weights do not depend on the data's.

use super::window::Setup;
use crate::CpuTarget;
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::{Scratch, booked};
use crate::kernels::transpose::{Matrix, Squares};
use crate::row::{Kernel, RowPlan};
use oxidnn_jit::Isa;
use oxidnn_runtime::{Bound, Buf, Ctx, Exec, Executor, Plan, Skip};
use oxidnn_spec::{Arg, Dims, Error, Op, PostOp, Problem, Tensor};
use std::fmt;
use std::sync::{Arc, OnceLock};

/// Bytes of source and result that a round has at most, unless one image has more.
const ROUND: usize = 4 << 20;
/// Pixels and channels of a task of a copy.
const PIXELS: usize = 512;
const CHANNELS: usize = 64;
/// Most operands.
const OPERANDS: usize = 32;

/// How a problem of operations that `setup` describes is planned for channels last.
pub(crate) type Inner = fn(Problem, &CpuTarget, fn(&Op) -> Option<Setup<'_>>) -> Result<Box<dyn Plan>, Skip>;

/// A tensor that is copied.
#[derive(Debug)]
struct Side {
    arg: Arg,
    /// What it is in scratch: some images, channels last.
    tensor: Tensor,
    channels: usize,
    pixels: usize,
    /// Bytes before the first number, of an image and of a channel.
    start: usize,
    image: usize,
    plane: usize,
    before: bool,
    after: bool,
}

struct Planes {
    isa: Isa,
    inner: Box<dyn Plan>,
    exec: OnceLock<(Arc<dyn Exec>, Squares)>,
    sides: Vec<Side>,
    /// Images of a round, and number of rounds.
    images: usize,
    rounds: usize,
}

impl fmt::Debug for Planes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Planes").field("inner", &self.inner).field("sides", &self.sides).field("images", &self.images).finish()
    }
}

/// Plans `problem`, whose operation `setup` describes, by `inner`: as it is, or else with channels last.
///
/// # Errors
/// What `inner` declines.
pub(crate) fn plan(
    problem: &Problem,
    target: &CpuTarget,
    setup: fn(&Op) -> Option<Setup<'_>>,
    inner: Inner,
) -> Result<Box<dyn Plan>, Skip> {
    match inner(problem.clone(), target, setup) {
        Err(Skip::Layout(why)) => copied(problem.clone(), target, setup, inner).map_err(|_| Skip::Layout(why)),
        done => done,
    }
}

/// Plans `problem` by `inner` with channels last.
fn copied(mut problem: Problem, target: &CpuTarget, setup: fn(&Op) -> Option<Setup<'_>>, inner: Inner) -> Result<Box<dyn Plan>, Skip> {
    let isa = target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?;
    let s = setup(&problem.op).ok_or(Skip::Op("this propagation kind"))?;
    let data = [s.source.0, s.result.0];
    for o in problem.op.operands_mut().into_iter().filter(|o| data.contains(&o.arg)) {
        crate::ops::support::resolve(o.tensor, "axb")?;
    }
    let s = setup(&problem.op).ok_or(Skip::Op("this propagation kind"))?;
    let copied: Vec<bool> = [s.source.1, s.result.1].iter().map(|t| !is_last(t)).collect();
    if !copied.contains(&true) || problem.operands().len() > OPERANDS {
        return Err(Skip::Layout("of source and result: channels are last".into()));
    }
    let images = if copied == [true; 2] { round(&problem, &s) } else { s.sizes.mb as usize };
    let mut sides = Vec::new();
    for ((arg, tensor), result) in [(s.source, false), (s.result, true)] {
        if !is_last(tensor) {
            sides.push(Side::new(arg, tensor, images, (!result || problem.attr.reads_dst(), result))?);
        }
    }
    let rounds = s.sizes.mb as usize / images.max(1);
    let mut last = problem.clone();
    for o in last.op.operands_mut() {
        if let Some(side) = sides.iter().find(|s| s.arg == o.arg) {
            *o.tensor = side.tensor.clone();
        }
    }
    let inner = inner(last, target, setup)?;
    let chosen = inner.problem();
    for o in problem.op.operands_mut().into_iter().filter(|o| !data.contains(&o.arg)) {
        if let Some(chosen) = chosen.op.operands().iter().find(|c| c.arg == o.arg) {
            *o.tensor = chosen.tensor.clone();
        }
    }
    problem.attr = chosen.attr.clone();
    let planes = Planes { isa, inner, exec: OnceLock::new(), sides, images, rounds };
    let scratch_bytes = booked(&planes.scratch_parts()).ok_or(Skip::Shape("scratch exceeds the address space"))?;
    Ok(Box::new(RowPlan { problem, scratch_bytes, isa: target.isa, kernel: Arc::new(planes) }))
}

/// Whether channels lie closest, or there is one.
fn is_last(tensor: &Tensor) -> bool {
    tensor.dims()[1] == 1 || tensor.blocking().is_some_and(|b| b.is_plain() && b.strides[1] == 1)
}

/// Images of a round: as many as divide the batch and fit the caches; all where an operand differs by image.
fn round(problem: &Problem, s: &Setup<'_>) -> usize {
    let by_image = |p: &PostOp| match p {
        PostOp::Binary { src1, src2, .. } => src1.dims()[0] != 1 || src2.as_ref().is_some_and(|t| t.dims()[0] != 1),
        PostOp::Prelu { mask } => mask & 1 == 1,
        _ => false,
    };
    let all = s.sizes.mb as usize;
    if problem.attr.post_ops.iter().any(by_image) {
        return all;
    }
    let bytes = s.source.1.bytes().saturating_add(s.result.1.bytes()) / all.max(1);
    let most = (ROUND / bytes.max(1)).clamp(1, all.max(1));
    (1..=most).rev().find(|n| all.is_multiple_of(*n)).unwrap_or(all)
}

impl Side {
    fn new(arg: Arg, tensor: &Tensor, images: usize, (before, after): (bool, bool)) -> Result<Side, Skip> {
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
        let some = Dims::from_fn(dims.len(), |d| if d == 0 { images as i64 } else { dims[d] });
        let last = Tensor::with_tag(some, tensor.dtype, "axb").map_err(|e| Skip::Layout(e.to_string()))?;
        let (start, image, plane) = (b.offset as usize * 4, b.strides[0] as usize * 4, b.strides[1] as usize * 4);
        Ok(Side { arg, tensor: last, channels: dims[1] as usize, pixels: pixels as usize, start, image, plane, before, after })
    }

    /// Copies the images from `first` on between `planes` and `last`, to the latter where `inwards`.
    fn copy(&self, squares: &Squares, executor: &dyn Executor, (planes, last): (Buf, Buf), first: usize, inwards: bool) {
        let images = self.tensor.dims()[0] as usize;
        let (blocks, strips) = (self.pixels.div_ceil(PIXELS), self.channels.div_ceil(CHANNELS));
        executor.run(executor.threads(), images * strips * blocks, &|_, task| {
            let (block, rest) = (task % blocks, task / blocks);
            let (pixel, channel, image) = (block * PIXELS, rest % strips * CHANNELS, rest / strips);
            let (pixels, channels) = (PIXELS.min(self.pixels - pixel), CHANNELS.min(self.channels - channel));
            let at = self.start + (first + image) * self.image + channel * self.plane + pixel * 4;
            let planes = Matrix { buf: planes, at, row: self.plane };
            let row = self.channels * 4;
            let last = Matrix { buf: last, at: (image * self.pixels + pixel) * row + channel * 4, row };
            if inwards {
                squares.run(planes, last, channels, pixels);
            } else {
                squares.run(last, planes, pixels, channels);
            }
        });
    }
}

impl Planes {
    /// Numbers of scratch: of the inner row, and of each side.
    fn scratch_parts(&self) -> Vec<usize> {
        let sides = self.sides.iter().map(|s| s.tensor.bytes().div_ceil(4));
        std::iter::once(self.inner.scratch_bytes().div_ceil(4)).chain(sides).collect()
    }
}

impl Kernel for Planes {
    fn prepare(&self) -> Result<(), Error> {
        if self.exec.get().is_none() {
            let _ = self.exec.set((self.inner.build()?, Squares::get(self.isa)?));
        }
        Ok(())
    }

    fn run(&self, _simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let Some((exec, squares)) = self.exec.get() else { return Err(Error::Runtime("code that was not prepared".into())) };
        let inner = scratch.take(self.inner.scratch_bytes().div_ceil(4))?.into_buf();
        let mut bufs = [[Buf::empty()]; 2];
        for (buf, side) in bufs.iter_mut().zip(&self.sides) {
            buf[0] = scratch.take(side.tensor.bytes().div_ceil(4))?.into_buf().part(0, side.tensor.bytes());
        }
        let nothing = Bound { bufs: &[], ..*ctx.args.first().ok_or_else(|| Error::Runtime("no arguments".into()))? };
        let mut args = [nothing; OPERANDS + 2];
        let count = ctx.args.len();
        let list = args.get_mut(..count).ok_or_else(|| Error::Runtime(format!("{count} arguments")))?;
        list.copy_from_slice(ctx.args);
        for bound in list.iter_mut() {
            if let Some(i) = self.sides.iter().position(|s| s.arg == bound.arg) {
                (bound.tensor, bound.bufs) = (&self.sides[i].tensor, &bufs[i]);
            }
        }
        for first in (0..self.rounds).map(|r| r * self.images) {
            for (side, buf) in self.sides.iter().zip(&bufs).filter(|s| s.0.before) {
                side.copy(squares, ctx.executor, (ctx.buf(side.arg)?, buf[0]), first, true);
            }
            exec.run(&Ctx { args: list, scratch: inner, executor: ctx.executor })?;
            for (side, buf) in self.sides.iter().zip(&bufs).filter(|s| s.0.after) {
                side.copy(squares, ctx.executor, (ctx.buf(side.arg)?, buf[0]), first, false);
            }
        }
        Ok(())
    }
}

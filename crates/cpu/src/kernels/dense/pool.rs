//! Forward pooling with channels last.
//!
//! Maxima and sums over a window are those of columns, then of what the columns gave: for each line of results the lines of the source under
//! the window are joined element by element, and the joined line is then gathered at the distance of the strides. Every element of the source
//! is thus read once for each line that sees it, in vectors of pixels and channels together.

use super::{bytes, plain_attributes, tensor};
use crate::kernels::multiversion::{Body, Simd};
use crate::kernels::pointwise::GRAIN;
use crate::kernels::scratch::{Scratch, for_workers};
use crate::row::{Kernel, TOO_LARGE};
use oxidnn_runtime::{Buf, Ctx, Skip};
use oxidnn_spec::op::{self, PoolAlg};
use oxidnn_spec::{Arg, DataType, Error, Problem, Tensor};

/// Elements of a worker's lines at most.
const LINES: usize = 256 * 1024;

/// A dimension that windows slide along.
#[derive(Clone, Copy, Debug)]
struct Side {
    input: usize,
    output: usize,
    kernel: usize,
    stride: usize,
    step: usize,
    padding: usize,
}

/// Maxima without indices, and averages.
#[derive(Debug)]
pub struct Pool {
    alg: PoolAlg,
    channels: usize,
    images: usize,
    /// Depth, height and width, leading ones of size 1.
    sides: [Side; 3],
    workers: usize,
    space: usize,
}

impl Side {
    /// The inputs that output `at` sees.
    fn seen(self, at: usize) -> impl Iterator<Item = usize> + Clone {
        let first = at * self.stride;
        let from = self.padding.saturating_sub(first).div_ceil(self.step);
        let to = (self.input + self.padding).saturating_sub(first).div_ceil(self.step).min(self.kernel);
        (from..to).map(move |k| first + k * self.step - self.padding)
    }
}

/// The argument `arg` where it is `f32` with channels last.
fn channels_last(problem: &Problem, arg: Arg) -> Result<Tensor, Skip> {
    let t = tensor(problem, arg)?;
    let same = Tensor::with_tag(*t.dims(), DataType::F32, "axb").is_ok_and(|last| last.layout == t.layout);
    if same { Ok(t) } else { Err(Skip::Layout(format!("of {arg}: channels are not last"))) }
}

impl Pool {
    /// The kernel with its bytes of scratch.
    ///
    /// # Errors
    /// [`Skip`] for anything but forward `f32` with channels last, without indices and post-ops.
    pub fn new(op: &op::Pool, problem: &Problem, workers: usize) -> Result<(Pool, usize), Skip> {
        if !op.prop.is_forward() || op.workspace.is_some() {
            return Err(Skip::Op("gradients and indices"));
        }
        plain_attributes(problem)?;
        let (src, dst) = (channels_last(problem, Arg::SRC)?, channels_last(problem, Arg::DST)?);
        let (n, window) = (op.kernel.len(), &op.window);
        let sides = std::array::from_fn(|d| match (d + n).checked_sub(3) {
            None => Side { input: 1, output: 1, kernel: 1, stride: 1, step: 1, padding: 0 },
            Some(d) => Side {
                input: src.dims()[d + 2] as usize,
                output: dst.dims()[d + 2] as usize,
                kernel: op.kernel[d] as usize,
                stride: window.strides[d] as usize,
                step: window.dilations[d] as usize + 1,
                padding: window.padding_l[d] as usize,
            },
        });
        let (images, channels) = (dst.dims()[0] as usize, dst.dims()[1] as usize);
        let each = (2 * sides[2].input + sides[2].output).saturating_mul(channels);
        if channels < 8 || each > LINES || src.layout.elements() == Some(0) || dst.layout.elements() == Some(0) {
            return Err(Skip::Shape("few channels, or lines that leave the cache"));
        }
        let space = for_workers(workers, each).ok_or(TOO_LARGE)?;
        Ok((Pool { alg: op.alg, channels, images, sides, workers, space }, bytes(&[space])?))
    }

    /// Makes line `index` of the results in the front of `space`.
    fn line<'s>(&self, simd: Simd, src: Buf, index: usize, space: &'s mut [f32]) -> &'s [f32] {
        let ([depth, height, width], max) = (self.sides, self.alg == PoolAlg::Max);
        let (image, d, h) = (index / height.output / depth.output, index / height.output % depth.output, index % height.output);
        let (result, rest) = space.split_at_mut(width.output * self.channels);
        let (joined, next) = rest.split_at_mut(width.input * self.channels);
        let next = &mut next[..joined.len()];
        let mut lines = 0;
        for (d, h) in depth.seen(d).flat_map(|d| height.seen(h).map(move |h| (d, h))) {
            let at = ((image * depth.input + d) * height.input + h) * joined.len();
            if lines == 0 {
                src.read(at, joined);
            } else {
                src.read(at, next);
                simd.run(Join { max, to: joined, from: next });
            }
            lines += 1;
        }
        for (w, result) in result.chunks_exact_mut(self.channels).enumerate() {
            let mut seen = if lines == 0 { 0 } else { width.seen(w).count() };
            let mut pixels = width.seen(w).take(seen).map(|i| &joined[i * self.channels..][..self.channels]);
            match pixels.next() {
                Some(first) => result.copy_from_slice(first),
                None => result.fill(if max { f32::MIN } else { 0.0 }),
            }
            pixels.for_each(|from| simd.run(Join { max, to: result, from }));
            seen = (seen * lines).max(1);
            match self.alg {
                PoolAlg::Max => {}
                PoolAlg::AvgExcludePadding => simd.run(Divide(result, seen as f32)),
                PoolAlg::AvgIncludePadding => simd.run(Divide(result, self.sides.iter().map(|s| s.kernel).product::<usize>() as f32)),
            }
        }
        result
    }
}

impl Kernel for Pool {
    fn run(&self, simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let (src, dst) = (ctx.buf(Arg::SRC)?, ctx.buf(Arg::DST)?);
        let [depth, height, width] = self.sides;
        let (lines, len) = (self.images * depth.output * height.output, width.output * self.channels);
        let seen = [depth, height].map(|side| side.kernel.min(side.input)).iter().product::<usize>();
        let each = (GRAIN as usize / (width.input * self.channels).saturating_mul(seen)).max(1);
        scratch.take(self.space)?.work(ctx.executor(), self.workers, lines.div_ceil(each), &|task, space| {
            for index in task * each..((task + 1) * each).min(lines) {
                dst.write(index * len, self.line(simd, src, index, space));
            }
        });
        Ok(())
    }
}

/// Joins elements one by one: the larger, or a NaN's neighbour, or the sum.
struct Join<'a> {
    max: bool,
    to: &'a mut [f32],
    from: &'a [f32],
}

impl Body for Join<'_> {
    type Out = ();
    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        let Join { max, to, from } = self;
        match max {
            true => to.iter_mut().zip(from).for_each(|(t, f)| *t = t.max(*f)),
            false => to.iter_mut().zip(from).for_each(|(t, f)| *t += f),
        }
    }
}

/// Divides all elements.
struct Divide<'a>(&'a mut [f32], f32);

impl Body for Divide<'_> {
    type Out = ();
    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        self.0.iter_mut().for_each(|x| *x /= self.1);
    }
}

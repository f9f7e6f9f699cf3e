//! `direct:portable`: depthwise convolution (one channel in and out of each group), forward and backward by data, and deconvolution.
//!
//! The reduction is only over the window, so vectors run over channels, which are last. A task is a row of result pixels times a block of
//! channels; several pixels at a time share each load of the weights. Source rows that are not channels-last `f32` are copied first.

pub(crate) mod gradient;
pub(crate) mod jit;
mod run;

use super::geometry::{self, Line};
use super::window::{Setup, check_quantisation, place, place_tap, resolved, sizes_of, spatial};
use crate::CpuTarget;
use crate::decision::{How, PORTABLE, padding};
use crate::hardware::Core;
use crate::kernels::access::{Axis, Pos, View};
use crate::kernels::broadcast::Broadcast;
use crate::kernels::chain::{Before, Chain};
use crate::kernels::dot::pack::{self, Source, Span};
use crate::kernels::lanes::Lanes;
use crate::kernels::multiversion::{Body, Simd};
use crate::kernels::portable_epilogue::{self, PortableEpilogue, Run, Sums};
use crate::kernels::scratch::{Lens, Scratch, for_workers};
use crate::ops::strips::meeting;
use crate::ops::support;
use crate::row::{Kernel, RowPlan, TOO_LARGE};
use oxidnn_runtime::{Ctx, Decision, Plan, Skip};
use oxidnn_spec::op::ConvSizes;
use oxidnn_spec::{Arg, Attr, Error, MAX_NDIMS, Op, Problem, Tensor};

/// Largest number of channels of a task.
const CHANNELS: usize = 256;
/// Largest number of taps.
const TAPS: usize = 256;
/// Pixels that share a load of the weights.
const PIXELS: usize = 6;

#[derive(Debug)]
struct Depthwise {
    attr: Attr,
    source: Arg,
    result: Arg,
    lines: [Line; 3],
    kernel: [i64; 3],
    channels: usize,
    images: usize,
    result_sizes: [i64; 3],
    workers: usize,
    /// Elements of a worker's sums.
    sums: usize,
    /// Packed weights are shared; each worker has sums and copied source rows.
    scratch: Lens,
}

/// A tap of a row: its source row, its source column at the first result of the row, and its weights.
#[derive(Clone, Copy, Default)]
struct Tap {
    row: usize,
    column: i64,
    weights: usize,
}

/// The layout that `any` stands for in the weights of groups of few channels: vectors of result channels, as many whole groups as they hold, in each the
/// taps, in each the source channels of a group; in pairs if they are words.
fn weights_tag(ndims: usize, lanes: usize, group: [usize; 2], (result_channel, together): (usize, usize)) -> String {
    if group == [1, 1] {
        let taps: String = ('b'..).take(ndims - 1).collect();
        return format!("A{taps}{lanes}a");
    }
    let (taps, to): (String, _) = (('d'..).take(ndims - 3).collect(), group[1]);
    let (result, source) = if result_channel == 0 { ('b', 'c') } else { ('c', 'b') };
    let block = |d: char, size: usize| if size > 1 { (d.to_ascii_uppercase(), format!("{size}{d}")) } else { (d, String::new()) };
    let ((groups, groups_block), (results, results_block)) = (block('a', lanes / to), block(result, to));
    let (source, source_block) = block(source, together);
    format!("{groups}{results}{taps}{source}{groups_block}{results_block}{source_block}")
}

/// Vectors of channels beyond which the last one is filled up, if that adds at most a fifth.
const VECTORS: i64 = 2;

/// Bytes between pixels of which multiples meet in few sets of L1, and bytes of a cache line.
const APART: i64 = 1024;
const LINE: i64 = 64;

/// The layout that kernels of depthwise windows give data of layout `any`: channels last, or in blocks of a vector where several pixels are read whose
/// channels end within one, since vectors would begin anywhere in lines of the cache then, or whose distance lets them meet in the same sets; and where a
/// block is a stream of cache lines or pixels come from afar, except for gradients of data with strides. Measured on Sapphire Rapids.
fn data_tag(data: [&Tensor; 2], sizes: &ConvSizes, (target, lanes): (&CpuTarget, usize), scatters: bool) -> String {
    let (channels, lanes, bytes) = (data[0].dims()[1], lanes as i64, data[0].dtype.bits() as i64 / 8);
    let open = data.iter().all(|t| t.layout.is_any() && t.dims()[1] == channels && !t.dtype.is_integral());
    let fills = channels > VECTORS * lanes && (lanes - channels % lanes) * 5 <= channels;
    let uneven = channels % lanes != 0 && fills;
    let all = data.iter().fold(0i64, |n, t| n.saturating_add(t.dims().volume().unwrap_or(0).saturating_mul(bytes)));
    let (slides, far) = (sizes.s == [1; 3], all as usize > Core::host().near(&target.caches));
    let streams = channels % lanes == 0 && (slides && lanes * bytes == LINE || far && (slides || !scatters));
    let blocked = channels > 0 && (uneven || streams || channels.wrapping_mul(bytes) % APART == 0);
    if open && sizes.k != [1; 3] && blocked { format!("aBx{lanes}b") } else { "axb".into() }
}

/// Why rows of products leave a problem to those of depthwise windows.
pub(crate) const ONE: Skip = Skip::Shape("one channel in a group");

/// Whether every group has one channel in and out, and the window is one that the rows of this file take.
pub(crate) fn is_depthwise(problem: &Problem) -> bool {
    let (source, weights, sizes) = match &problem.op {
        Op::Conv(op) => (&op.src, &op.weights, op.sizes()),
        Op::Deconv(op) => (&op.src, &op.weights, op.sizes()),
        _ => return false,
    };
    let taps = sizes.k.iter().fold(1i64, |n, k| n.saturating_mul(*k));
    weights.dims().len() > source.dims().len() && sizes.oc == 1 && sizes.ic == 1 && taps <= TAPS as i64
}

/// Plans `problem`.
///
/// # Errors
/// Problems that the row does not take.
pub(crate) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let s = Setup::of(&problem.op)?;
    let (weights, sizes) = (s.weights.dims(), s.sizes);
    if weights.len() == s.source.1.dims().len() || sizes.oc != 1 || sizes.ic != 1 {
        return Err(Skip::Shape("more than one channel in a group"));
    }
    if sizes.k.iter().fold(1i64, |n, k| n.saturating_mul(*k)) > TAPS as i64 {
        return Err(Skip::Shape("a window of more than 256 elements"));
    }
    let tag = weights_tag(weights.len(), target.isa.lanes(), [1, 1], (s.result_channel, 1));
    let problem = resolved(problem, ["axb", &tag])?;
    let s = Setup::of(&problem.op)?;
    for t in [s.source.1, s.weights] {
        support::operand_type(t.dtype)?;
    }
    portable_epilogue::check(&problem.attr, s.result.1)?;
    check_quantisation(&problem.attr, &s)?;
    let lines = geometry::lines(s.direction, &s.sizes, [s.result.1, s.source.1].map(sizes_of))?;
    let kernel = Depthwise::new(&s, &problem.attr, lines, target).ok_or(TOO_LARGE)?;
    RowPlan::of(problem, target, kernel.scratch.bytes(), kernel)
}

impl Depthwise {
    fn new(s: &Setup<'_>, attr: &Attr, lines: [Line; 3], target: &CpuTarget) -> Option<Depthwise> {
        let (from, to) = (sizes_of(s.source.1), sizes_of(s.result.1));
        let channels = s.sizes.g as usize;
        let block = channels.min(CHANNELS);
        let widest = lines[2].phases.iter().map(|p| p.count).max().unwrap_or(0);
        let rows = (s.sizes.k[0] * s.sizes.k[1]) as usize;
        let (sums, copy) = (widest.checked_mul(block)?, rows.checked_mul(from[2] as usize)?.checked_mul(block)?);
        let packed = (s.sizes.k.iter().product::<i64>() as usize).checked_mul(channels)?;
        Some(Depthwise {
            attr: attr.clone(),
            source: s.source.0,
            result: s.result.0,
            kernel: s.sizes.k,
            channels,
            images: s.sizes.mb as usize,
            result_sizes: to,
            workers: target.threads,
            sums,
            scratch: Lens { shared: packed, workers: for_workers(target.threads, sums.checked_add(copy)?)? },
            lines,
        })
    }
}

impl Kernel for Depthwise {
    fn decision(&self, problem: &Problem) -> Decision {
        let taps: i64 = self.kernel.iter().product();
        let rows = self.scratch.workers / self.workers.max(1) * 4;
        let lanes = CpuTarget::host().isa.lanes();
        How::new("a row of results at a time, channels in lanes, in portable code", Core::host().rate(lanes, 1) / PORTABLE, self.workers)
            .registers(format!("{lanes} lanes of a sum"), lanes * 4)
            .block(format!("weights of {taps} taps of {} channels", self.channels), self.scratch.shared * 4)
            .block("source rows under the window, and sums", rows)
            .padding(padding(self.channels, lanes))
            .copies(self.scratch.shared * 4)
            .decision(problem)
    }

    fn run(&self, simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let source = |arg: Arg| Source::shifted(simd, ctx, &self.attr, arg);
        let (from, by, dst) = (source(self.source)?, source(Arg::WEIGHTS)?, View::of(simd, ctx, self.result)?);
        dst.zero_padding();
        if dst.dims().contains(&0) {
            return Ok(());
        }
        let by_weights = || Ok(Broadcast::scale(simd, ctx, &self.attr, Arg::WEIGHTS, by.view.dims())?.permuted(&[None, Some(0)]));
        let before = Before::by_channel(ctx, &self.attr, self.source, &from.view, by_weights)?;
        let epilogue = PortableEpilogue::new(Chain::new(simd, ctx, &self.attr, self.result)?.with(&before))?;
        let packed = scratch.take(self.scratch.shared)?.fill(ctx.executor(), self.channels, &|tap, out| self.pack(&by, tap, out));
        let mut workers = scratch.take(self.scratch.workers)?;
        let bound = Bound { plan: self, simd, source: from, weights: packed, epilogue };
        let rows = (self.result_sizes[0] * self.result_sizes[1]) as usize * self.lines[2].phases.len();
        let tasks = self.images * self.channels.div_ceil(CHANNELS) * rows;
        workers.work(ctx.executor(), self.workers, tasks, &|task, scratch| bound.row(task, scratch));
        Ok(())
    }
}

impl Depthwise {
    /// Writes the weights of a tap, for all channels.
    fn pack(&self, weights: &Source<'_>, tap: usize, out: &mut [f32]) {
        let (dims, mut pos): (_, Pos) = (weights.view.dims(), [0; MAX_NDIMS]);
        place_tap(&mut pos, (dims.len(), 3), tap, self.kernel);
        weights.read(&Axis::new(&[0], dims), &pos, 0, out);
    }
}

/// A problem bound to its arguments.
struct Bound<'a> {
    plan: &'a Depthwise,
    simd: Simd,
    source: Source<'a>,
    weights: &'a [f32],
    epilogue: PortableEpilogue<'a>,
}

impl Bound<'_> {
    /// A row of results: an image, a block of channels, a depth, a height and a phase of the width.
    fn row(&self, task: usize, scratch: &mut [f32]) {
        let p = self.plan;
        let phases = p.lines[2].phases.len();
        let (phase, rest) = (&p.lines[2].phases[task % phases], task / phases);
        let (h, rest) = (rest as i64 % p.result_sizes[1], rest / p.result_sizes[1] as usize);
        let (d, rest) = (rest as i64 % p.result_sizes[0], rest / p.result_sizes[0] as usize);
        let blocks = p.channels.div_ceil(CHANNELS);
        let (first, image) = (rest % blocks * CHANNELS, rest / blocks);
        let channels = CHANNELS.min(p.channels - first);
        let (sums, copy) = scratch.split_at_mut(p.sums);
        let sums = &mut sums[..phase.count * channels];
        let mut taps = [Tap::default(); TAPS];
        let mut n = 0;
        let mut rows = 0;
        let in_place = self.in_place(image, first);
        let width = p.lines[2].source as usize;
        for (kd, z) in meeting(&p.lines[0], d) {
            for (kh, y) in meeting(&p.lines[1], h) {
                let row = match &in_place {
                    Some((start, strides)) => start + z as usize * strides[0] + y as usize * strides[1],
                    None => {
                        let at = rows * width * channels;
                        self.copy_row(image, first, [z, y], &mut copy[at..][..width * channels], channels);
                        at
                    }
                };
                rows += 1;
                for (kw, x) in &phase.taps {
                    let tap = (kd * p.kernel[1] + kh) * p.kernel[2] + kw;
                    taps[n] = Tap { row, column: *x, weights: tap as usize * p.channels + first };
                    n += 1;
                }
            }
        }
        let (data, pixel) = match (&in_place, self.source.floats) {
            (Some((_, strides)), Some(floats)) => (floats, strides[2]),
            _ => (&*copy, channels),
        };
        let stride = p.lines[2].stride;
        let out = &mut *sums;
        self.simd.run(Row { data, pixel, taps: &taps[..n], weights: self.weights, width: width as i64, stride, channels, out });
        let mut pos: Pos = [0; MAX_NDIMS];
        (pos[0], pos[1]) = (image as i64, first as i64);
        let n = self.epilogue.dst().dims().len();
        place(&mut pos, n, [d, h, phase.first]);
        let run = Run { pos, dim: n - 1, step: p.lines[2].step, count: phase.count };
        self.epilogue.store(Sums { data: sums, exact: None, step: channels, columns: channels, dim: 1 }, std::iter::once(run));
    }

    /// The image's first element and the strides of pixels, if they can be read in place.
    fn in_place(&self, image: usize, first: usize) -> Option<(usize, [usize; 3])> {
        let view = &self.source.view;
        self.source.floats?;
        if !self.source.is_plain() || view.stride(1) != Some(1) {
            return None;
        }
        let mut pos: Pos = [0; MAX_NDIMS];
        (pos[0], pos[1]) = (image as i64, first as i64);
        let strides = std::array::from_fn(|i| spatial(i, view.dims().len(), 2).map_or(0, |d| view.blocking().strides[d] as usize));
        Some((view.offset(&pos), strides))
    }

    /// Copies a source row: pixels by channels.
    fn copy_row(&self, image: usize, first: usize, [z, y]: [i64; 2], out: &mut [f32], channels: usize) {
        let dims = self.source.view.dims();
        let mut pos: Pos = [0; MAX_NDIMS];
        pos[0] = image as i64;
        place(&mut pos, dims.len(), [z, y, 0]);
        let (across, channel) = (Axis::new(&[dims.len() - 1], dims), Axis::new(&[1], dims));
        let pixels = Span { axis: &across, first: 0, count: self.plan.lines[2].source as usize };
        pack::rows(&self.source, &pos, pixels, Span { axis: &channel, first, count: channels }, out, channels);
    }
}

/// A row of results: `out[j][c] = sum over taps of data[row + (column + j * stride) * pixel + c] * weights[tap.weights + c]`, without taps
/// whose column is outside the source.
struct Row<'a> {
    data: &'a [f32],
    pixel: usize,
    taps: &'a [Tap],
    weights: &'a [f32],
    width: i64,
    stride: i64,
    channels: usize,
    out: &'a mut [f32],
}

impl Body for Row<'_> {
    type Out = ();

    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(mut self) {
        let count = self.out.len() / self.channels.max(1);
        let low = self.taps.iter().map(|t| t.column).min().unwrap_or(0);
        let high = self.taps.iter().map(|t| t.column).max().unwrap_or(0);
        let (stride, width) = (self.stride, self.width);
        let inside = |j: usize| low + j as i64 * stride >= 0 && high + j as i64 * stride < width;
        let mut j = 0;
        while j < count {
            if j + PIXELS <= count && inside(j) && inside(j + PIXELS - 1) {
                self.pixels::<W, FMA, PIXELS>(j);
                j += PIXELS;
            } else {
                self.pixels::<W, FMA, 1>(j);
                j += 1;
            }
        }
    }
}

impl Row<'_> {
    /// Pixels `j..j + P`; several only where all taps are inside.
    #[inline(always)]
    fn pixels<const W: usize, const FMA: bool, const P: usize>(&mut self, j: usize) {
        let whole = self.channels / W * W;
        for c in (0..whole).step_by(W) {
            let mut sums = [Lanes::<W>::ZERO; P];
            for tap in self.taps {
                let column = tap.column + j as i64 * self.stride;
                if P == 1 && (column < 0 || column >= self.width) {
                    continue;
                }
                let weights = Lanes::load(&self.weights[tap.weights + c..]);
                let start = tap.row + column as usize * self.pixel + c;
                let step = self.stride as usize * self.pixel;
                for (i, sum) in sums.iter_mut().enumerate() {
                    *sum = sum.fma_lanes::<FMA>(Lanes::load(&self.data[start + i * step..]), weights);
                }
            }
            for (i, sum) in sums.into_iter().enumerate() {
                sum.store(&mut self.out[(j + i) * self.channels + c..]);
            }
        }
        for c in whole..self.channels {
            for i in 0..P {
                let mut sum = 0.0;
                for tap in self.taps {
                    let column = tap.column + (j + i) as i64 * self.stride;
                    if column >= 0 && column < self.width {
                        sum += self.data[tap.row + column as usize * self.pixel + c] * self.weights[tap.weights + c];
                    }
                }
                self.out[(j + i) * self.channels + c] = sum;
            }
        }
    }
}

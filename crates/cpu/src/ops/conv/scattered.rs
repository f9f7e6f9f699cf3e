//! `scattered:jit`: gradients of data, deconvolutions, and convolutions of unit strides with few result channels, of NCHW tensors.
//!
//! Few channels leave most of a vector idle. Here channels times taps are the rows of a product, and pixels its columns, in place
//! ([`nchw1x1`](super::nchw1x1)); each product is then added to the result that its tap leads to (col2im).

use super::geometry::{self, Direction, Line, Phase};
use super::nchw1x1::{plan_any, taken};
use super::tiles;
use super::window::{self, Setup, place_tap, resolve_planes, sizes_of};
use crate::CpuTarget;
use crate::decision::around;
use crate::kernels::access::{Pos, View};
use crate::kernels::microkernel::DotType;
use crate::kernels::microkernel::layout::panel_columns;
use crate::kernels::multiversion::{Body, Simd};
use crate::kernels::scratch::{Scratch, booked};
use crate::ops::staged::{self, Types};
use crate::ops::strips::meeting;
use crate::ops::{passes, support};
use crate::row::{Generated, RowPlan};
use oxidnn_jit::Isa;
use oxidnn_runtime::{Bound, Buf, Ctx, Decision, Exec, Plan, Region, Skip};
use oxidnn_spec::op::{Conv, ConvAlg, ConvSizes, Use, Window};
use oxidnn_spec::{Arg, Attr, DataType, Dims, Error, MAX_NDIMS, Op, Problem, Prop, Tensor};
use std::ops::Range;
use std::sync::Arc;

/// Fewest source channels of a group.
const MIN_DEPTH: i64 = 4;
/// Most bytes of an image's products.
const MAX_IMAGE_BYTES: usize = 16 << 20;
/// Results whose sums are on the stack at a time, results of a line that are collected there, and lines of a task.
const CHUNK: usize = 64;
const COLLECTED: usize = 512;
const LINES: usize = 16;
/// Vectors of multiply-adds in the time that it takes to add a number to its result, to begin with a line of them, and to copy a weight. Measured on
/// Zen 4, of lines on Zen 3.
const VECTORS_PER_SCATTER_ADD: f64 = 2.0;
const VECTORS_PER_LINE: f64 = 64.0;
const VECTORS_PER_WEIGHT: f64 = 6.0;
/// The same for transposing a number of a channels-last source.
const VECTORS_PER_TRANSPOSED: f64 = 2.0;
/// The same for copying a number of planes to channels last, or back, measured on Sapphire Rapids.
const VECTORS_PER_COPIED: f64 = 6.0;

/// The types of copies of 16-bit operands.
const FLOATS: Types = &[
    (Arg::SRC, DataType::F32),
    (Arg::WEIGHTS, DataType::F32),
    (Arg::DST, DataType::F32),
    (Arg::DIFF_DST, DataType::F32),
    (Arg::DIFF_SRC, DataType::F32),
];

#[derive(Debug)]
struct Scattered {
    inner: Box<dyn Plan>,
    sizes: ConvSizes,
    source: Arg,
    result: Arg,
    /// Which of the weights' channel dimensions is the result's, and whether there is a dimension of groups before them.
    result_channel: usize,
    has_groups: bool,
    /// Source and result channels of a group, and taps.
    depth: usize,
    channels: usize,
    taps: usize,
    /// The results that products are added to, and sizes of the source and of the result.
    lines: [Line; 3],
    from: [usize; 3],
    to: [usize; 3],
}

/// Plans `problem`; what follows the operation is a pass behind it.
///
/// # Errors
/// Problems that the row does not take.
pub(crate) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    if problem.attr.post_ops.is_empty() { bare(problem, target) } else { passes::behind(problem, target, bare) }
}

/// Plans the operation alone, on a copy of a channels-last source if that takes less time than channels-last tiles.
fn bare(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let s = Setup::of(&problem.op)?;
    if s.sizes.g > 1 && staged::plan(problem, target, &[super::direct], &[&[]]).is_ok() {
        return Err(Skip::Shape("groups of few channels, which strips multiply faster, on copies if need be"));
    }
    let given = s.source.1.blocking().is_some_and(|b| b.is_plain()) && !are_planes(s.source.1);
    let copies = |isa: Isa| {
        let numbers = sizes(&s)[1] as f64 * taken(s.source.1, isa)[0] as f64;
        saved(&s, isa, s.source.1.dtype == DataType::Bf16 && isa.bf16) * taps(&s) as f64 > VECTORS_PER_TRANSPOSED * numbers
    };
    // Those tiles have the channels of all phases as columns, if a panel has so many.
    let phases = (0..3).fold(sizes(&s)[0].max(0) as usize, |n, i| n.saturating_mul(s.sizes.s[i].max(1) as usize));
    let joins = |isa: Isa| phases <= panel_columns(isa, phases);
    let joined = s.sizes.s != [1; 3] && s.sizes.g == 1 && !s.biased && target.jit.is_none_or(joins);
    match [s.source.1, s.weights].map(|t| t.dtype) {
        _ if !given || joined || !target.jit.is_some_and(copies) => in_place(problem, target),
        [DataType::F32, _] => staged::plan(problem, target, &[of_planes], &[&[]]),
        [DataType::Bf16, DataType::Bf16] | [DataType::F16, DataType::F16] => {
            staged::plan(problem, target, &[|problem, target| of_planes(&with_abx(problem, &[Arg::WEIGHTS])?, target)], &[FLOATS])
        }
        _ => in_place(problem, target),
    }
}

/// Vectors of multiply-adds of channels-last tiles, which compute whole vectors, mostly idle, in fewer steps of pairs if these are native, beyond those of
/// this row, which computes exactly the channels, but then adds every product.
fn saved(s: &Setup<'_>, isa: Isa, pairs: bool) -> f64 {
    let [channels, depth] = sizes(s).map(|n| n as f64);
    let [pixels, taken] = taken(s.source.1, isa).map(|n| n as f64);
    let lines = pixels / sizes_of(s.source.1)[2].max(1) as f64;
    let each =
        depth * (taken / isa.width().lanes() as f64 + VECTORS_PER_WEIGHT) + VECTORS_PER_SCATTER_ADD * pixels + VECTORS_PER_LINE * lines;
    depth / if pairs { 2.0 } else { 1.0 } * pixels - channels * each
}

/// Taps of the window.
fn taps(s: &Setup<'_>) -> i64 {
    s.sizes.k.iter().fold(1i64, |n, k| n.saturating_mul(*k))
}

/// Result and source channels of a group.
fn sizes(s: &Setup<'_>) -> [i64; 2] {
    if s.result_channel == 0 { [s.sizes.oc, s.sizes.ic] } else { [s.sizes.ic, s.sizes.oc] }
}

/// Plans the operation over planes.
fn in_place(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    super::dense(problem)?;
    let isa = target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?;
    let s = Setup::of(&problem.op)?;
    let operands = [s.source.1, s.weights, s.result.1];
    let (single, half) =
        (DataType::F32, [DataType::Bf16, DataType::F16].contains(&s.source.1.dtype) && s.source.1.dtype == s.weights.dtype);
    if !half && operands.iter().any(|t| t.dtype != single) {
        return Err(Skip::DataType("other than floating-point numbers".into()));
    }
    let Attr { post_ops, scales, zero_points, dropout, rounding, .. } = &problem.attr;
    if !(post_ops.is_empty() && scales.is_empty() && zero_points.is_empty() && rounding.is_empty()) || dropout.is_some() {
        return Err(Skip::Attr("what changes results".into()));
    }
    let ([channels, depth], taps) = (sizes(&s), taps(&s));
    // With more channels, tiles whose columns are channels leave less than half of a vector idle.
    let most = isa.width().lanes() as i64 / 2;
    if !(1..=most).contains(&channels) || depth < MIN_DEPTH || !(1..=1 << 10).contains(&taps) {
        return Err(Skip::Shape("other than few channels of many, or so many taps"));
    }
    let gathers = s.direction == Direction::Gather;
    if gathers && (taps == 1 || s.sizes.s != [1; 3]) {
        return Err(Skip::Shape("windows of one pixel, or strides that leave some products without a result"));
    }
    let [pixels, taken] = taken(s.source.1, isa);
    let open = s.source.1.layout.is_any() && s.result.1.layout.is_any();
    let copied = half || gathers || s.sizes.s[2] != 1 && open;
    // Channels-last tiles would have copies of planes.
    let numbers = |t: &Tensor| t.dims().iter().skip(1).fold(1.0, |n, size| n * *size as f64);
    let kept = if copied || open { 0.0 } else { VECTORS_PER_COPIED * (numbers(s.source.1) + numbers(s.result.1)) };
    let asked = copied || !open || pixels * 32 < taken * 31;
    if asked && saved(&s, isa, half && isa.bf16) * taps as f64 + kept <= 0.0 {
        return Err(Skip::Shape("so many channels that channels-last tiles are faster"));
    }
    let mut resolved = problem.clone();
    resolve_planes(&mut resolved, isa)?;
    let s = Setup::of(&resolved.op)?;
    if !are_planes(s.source.1) || !are_planes(s.result.1) {
        return Err(Skip::Layout("other than pixels closest".into()));
    }
    if half {
        return staged::plan(problem, target, &[of_plain_weights], &[FLOATS]);
    }
    let tag = tiles::weights_tag(&s, isa, DotType::F32);
    let problem = window::resolved(&resolved, ["abx", &tag])?;
    let s = Setup::of(&problem.op)?;
    let inner = plan_any(&products(&s, channels * taps, depth)?, target)?;
    let sizes = |t: &Tensor| sizes_of(t).map(|n| n as usize);
    let scattered = Scattered {
        inner,
        sizes: s.sizes,
        source: s.source.0,
        result: s.result.0,
        result_channel: s.result_channel,
        has_groups: s.weights.dims().len() > s.result.1.dims().len(),
        depth: depth as usize,
        channels: channels as usize,
        taps: taps as usize,
        lines: geometry::lines(s.direction, &s.sizes, [s.result.1, s.source.1].map(sizes_of))?,
        from: sizes(s.source.1),
        to: sizes(s.result.1),
    };
    RowPlan::of(problem, target, scattered.parts().and_then(|parts| booked(&parts)), scattered)
}

/// The problem with open layouts of these operands plain.
fn with_abx(problem: &Problem, args: &[Arg]) -> Result<Problem, Skip> {
    let mut problem = problem.clone();
    for o in problem.op.operands_mut().into_iter().filter(|o| args.contains(&o.arg)) {
        support::resolve(o.tensor, "abx")?;
    }
    Ok(problem)
}

/// Plans `problem` with weights that are not padded to panels, if their layout is open.
fn of_plain_weights(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    plan(&with_abx(problem, &[Arg::WEIGHTS])?, target)
}

/// Plans `problem` over planes wherever layouts are open, however many channels there are.
fn of_planes(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    in_place(&with_abx(problem, &[Arg::SRC, Arg::DST, Arg::DIFF_SRC, Arg::DIFF_DST])?, target)
}

/// Whether the pixels of a channel follow each other, the channels of an image, and the images.
fn are_planes(t: &Tensor) -> bool {
    let plain = Tensor::with_tag(*t.dims(), t.dtype, "abx").ok().filter(|_| !t.is_empty());
    let (Some(b), Some(plain)) = (t.blocking(), plain.as_ref().and_then(Tensor::blocking)) else { return false };
    let alike = |d: usize| t.dims()[d] == 1 || b.strides[d] == plain.strides[d];
    b.is_plain() && b.offset == 0 && (0..t.dims().len()).all(alike)
}

/// The product of an image's pixels with `rows` rows of weights in a group.
fn products(s: &Setup<'_>, rows: i64, depth: i64) -> Result<Problem, Skip> {
    let refused = |e: Error| Skip::Layout(e.to_string());
    let (groups, pixels) = (s.sizes.g, s.source.1.dims()[2..].iter().product::<i64>());
    let plain = |channels: i64| Tensor::with_tag([1, channels, pixels], DataType::F32, "abx").map_err(refused);
    let (src, dst) = (plain(groups * depth)?, plain(groups * rows)?);
    if dst.bytes() > MAX_IMAGE_BYTES {
        return Err(Skip::Shape("so many products"));
    }
    let weights = if groups > 1 { Dims::from_fn(4, |d| [groups, rows, depth, 1][d]) } else { Dims::from_fn(3, |d| [rows, depth, 1][d]) };
    let all = |n: i64| Dims::from_fn(1, |_| n);
    let window = Window { strides: all(1), dilations: all(0), padding_l: all(0), padding_r: all(0) };
    let tensors = [src, Tensor::any(weights, DataType::F32), dst];
    Problem::new(Conv::new(Prop::ForwardInference, ConvAlg::Direct, tensors, None, window), Attr::default()).map_err(refused)
}

impl Scattered {
    /// Elements of scratch: for the product's execution, its weights and its results; `None` on overflow.
    fn parts(&self) -> Option<[usize; 3]> {
        let Op::Conv(product) = &self.inner.problem().op else { return None };
        Some([self.inner.scratch_bytes(), product.weights.bytes(), product.dst.bytes()].map(|bytes| bytes.div_ceil(4)))
    }

    /// Writes the weights of a result channel, tap by tap, as rows of the product.
    fn pack(&self, from: &View<'_>, to: &View<'_>, channel: usize) {
        let (n, grouped, has_groups) = (from.dims().len(), usize::from(self.sizes.g > 1), usize::from(self.has_groups));
        let (row, depth_dim) = (has_groups + self.result_channel, has_groups + 1 - self.result_channel);
        for tap in 0..self.taps {
            let (mut pos, mut at): (Pos, Pos) = ([0; MAX_NDIMS], [0; MAX_NDIMS]);
            if has_groups == 1 {
                pos[0] = (channel / self.channels) as i64;
            }
            if grouped == 1 {
                at[0] = (channel / self.channels) as i64;
            }
            pos[row] = (channel % self.channels) as i64;
            at[grouped] = (channel % self.channels * self.taps + tap) as i64;
            place_tap(&mut pos, (n, 2 + has_groups), tap, self.sizes.k);
            if let (Some(step), Some(to_step)) = (unblocked(from, depth_dim), unblocked(to, grouped + 1)) {
                let (buf, to_buf, place, to_place) = (from.buf(), to.buf(), from.offset(&pos), to.offset(&at));
                (0..self.depth).for_each(|i| to_buf.set(to_place + i * to_step, buf.get::<f32>(place + i * step)));
                continue;
            }
            let mut line = [0.0; CHUNK];
            for first in (0..self.depth).step_by(CHUNK) {
                let line = &mut line[..CHUNK.min(self.depth - first)];
                (pos[depth_dim], at[grouped + 1]) = (first as i64, first as i64);
                from.read(&pos, depth_dim, line);
                to.write(&at, grouped + 1, line);
            }
        }
    }
}

/// The stride of a dimension that has no blocks.
fn unblocked(view: &View<'_>, dim: usize) -> Option<usize> {
    view.blocking().inner.iter().all(|block| block.0 != dim).then(|| view.blocking().strides[dim] as usize)
}

/// The products of a result channel, to be added to its plane.
struct Col2Im<'a> {
    plan: &'a Scattered,
    products: Buf<'a>,
    /// Index of the first product.
    first: usize,
    to: Buf<'a>,
    /// Index of the plane's first result, the lines of it, and the value that all sums start with.
    plane: usize,
    lines: Range<usize>,
    begin: f32,
}

impl Body for Col2Im<'_> {
    type Out = ();

    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(mut self) {
        let ([_, height, width], line) = (self.plan.to, &self.plan.lines[2]);
        let mut row = [0.0; COLLECTED];
        let row = row.get_mut(..width).filter(|_| line.step > 1);
        let row = &mut row.unwrap_or_default()[..];
        for at in std::mem::take(&mut self.lines) {
            line.phases.iter().for_each(|phase| self.phase::<W>([at / height, at % height], phase, row));
            self.to.write(self.plane + at * width, row);
        }
    }
}

impl Col2Im<'_> {
    /// The results of a phase of a line, which have the same taps: to `row`, if that is not empty.
    #[inline(always)]
    fn phase<const W: usize>(&self, [z, y]: [usize; 2], phase: &Phase, row: &mut [f32]) {
        let p = self.plan;
        let ([depth, height, width], [_, kh, kw], step) = (p.from.map(|n| n as i64), p.sizes.k, p.lines[2].step as usize);
        for first in (0..phase.count).step_by(CHUNK) {
            let (n, mut sums) = (CHUNK.min(phase.count - first), [self.begin; CHUNK]);
            for (d, z) in meeting(&p.lines[0], z as i64) {
                for (h, y) in meeting(&p.lines[1], y as i64) {
                    for (w, x) in &phase.taps {
                        let x = x + first as i64;
                        let (low, end) = ((-x).clamp(0, n as i64), (width - x).clamp(0, n as i64));
                        if low < end {
                            let tap = (d * kh + h) * kw + w;
                            let from = self.first + (((tap * depth + z) * height + y) * width + x + low) as usize;
                            self.add::<W>(from, &mut sums[low as usize..end as usize]);
                        }
                    }
                }
            }
            let (column, line) = (phase.first as usize + first * step, self.plane + (z * p.to[1] + y) * p.to[2]);
            match row.get_mut(column..) {
                Some(row) if !row.is_empty() => row.iter_mut().step_by(step).zip(&sums[..n]).for_each(|(x, sum)| *x = *sum),
                _ if step == 1 => self.to.write(line + column, &sums[..n]),
                _ => sums[..n].iter().enumerate().for_each(|(i, sum)| self.to.set(line + column + i * step, *sum)),
            }
        }
    }

    /// Adds contiguous products, the remainder in parts of a vector.
    #[inline(always)]
    fn add<const W: usize>(&self, from: usize, sums: &mut [f32]) {
        let all = sums.len();
        let sums = self.vectors::<W>(from, sums);
        let sums = self.vectors::<8>(from + all - sums.len(), sums);
        let sums = self.vectors::<4>(from + all - sums.len(), sums);
        self.vectors::<1>(from + all - sums.len(), sums);
    }

    /// Adds whole vectors; returns the rest.
    #[inline(always)]
    fn vectors<'s, const W: usize>(&self, from: usize, sums: &'s mut [f32]) -> &'s mut [f32] {
        let (vectors, rest) = sums.as_chunks_mut::<W>();
        let mut products = [0.0; W];
        for (i, sums) in vectors.iter_mut().enumerate() {
            self.products.read(from + i * W, &mut products);
            sums.iter_mut().zip(&products).for_each(|(sum, x)| *sum += x);
        }
        rest
    }
}

impl Generated for Scattered {
    type Code = Arc<dyn Exec>;

    fn decision(&self, _: &Problem) -> Decision {
        let bytes = self.inner.problem().op.tensor(Arg::DST).map_or(0, Tensor::bytes);
        around("products of pixels by taps, added where the window has them", &*self.inner, self.sizes.mb as usize, bytes)
    }

    fn build(&self) -> Result<Arc<dyn Exec>, Error> {
        self.inner.build()
    }

    fn run(&self, exec: &Arc<dyn Exec>, simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let missing = || Error::Runtime("a product without an operand".into());
        let Op::Conv(product) = &self.inner.problem().op else { return Err(missing()) };
        let [shared, weights, products] = self.parts().ok_or_else(missing)?;
        let shared = Region::host(scratch.take(shared)?.into_buf());
        let rows = scratch.take(weights)?.into_buf();
        let products = scratch.take(products)?.into_buf();
        let (from, source, result) = (View::of(simd, ctx, Arg::WEIGHTS)?, ctx.buf(self.source)?, ctx.buf(self.result)?);
        let to = View::new(simd, Arg::WEIGHTS, &product.weights, rows)?;
        to.zero_padding();
        let channels = self.sizes.g as usize * self.channels;
        let executor = ctx.executor();
        executor.run(executor.threads(), channels, &|_, channel| self.pack(&from, &to, channel));
        let bias = View::optional(simd, ctx, Arg::BIAS)?;
        let image = |sizes: &[usize; 3], channels: usize| sizes.iter().product::<usize>() * channels;
        let (in_image, out_image) = (image(&self.from, self.sizes.g as usize * self.depth), image(&self.to, channels));
        let any = *ctx.args.first().ok_or_else(missing)?;
        for index in 0..self.sizes.mb as usize {
            let regions = [[Region::host(source.part(index * in_image * 4, in_image * 4))], [Region::host(rows)], [Region::host(products)]];
            let [a, b, c] = &regions;
            let args = [
                Bound { arg: Arg::SRC, usage: Use::In, tensor: &product.src, regions: a, ..any },
                Bound { arg: Arg::WEIGHTS, usage: Use::In, tensor: &product.weights, regions: b, ..any },
                Bound { arg: Arg::DST, usage: Use::Out, tensor: &product.dst, regions: c, ..any },
            ];
            exec.run(&Ctx { args: &args, scratch: shared, ..*ctx })?;
            let (all, parts) = (self.to[0] * self.to[1], (self.to[0] * self.to[1]).div_ceil(LINES));
            executor.run(executor.threads(), channels * parts, &|_, task| {
                let (channel, part) = (task / parts, task % parts * LINES);
                let mut pos: Pos = [0; MAX_NDIMS];
                pos[0] = channel as i64;
                let begin = bias.as_ref().map_or(0.0, |bias| bias.get(&pos));
                let first = channel * self.taps * self.from.iter().product::<usize>();
                let plane = index * out_image + channel * self.to.iter().product::<usize>();
                simd.run(Col2Im { plan: self, products, first, to: result, plane, lines: part..all.min(part + LINES), begin });
            });
        }
        Ok(())
    }
}

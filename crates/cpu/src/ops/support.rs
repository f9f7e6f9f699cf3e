//! What the rows of products (matmul, inner product, convolution) share when they plan and bind arguments.

use crate::kernels::access::{Axis, Pos, View, for_each};
use crate::kernels::dot::pack::{Source, has_smaller_stride};
use crate::kernels::dot::panel_width;
use crate::kernels::multiversion::Body;
use crate::kernels::tile::layout::panel_tag;
use crate::ops::fallback;
use crate::{CpuTarget, Isa};
use oxidnn_runtime::{Bound, Ctx, Exec, Executor, Impl, Plan, Region, Skip, plan_rows};
use oxidnn_spec::op::Use;
use oxidnn_spec::{Arg, Attr, Blocking, Compensation, DataType, Dims, Error, Format, MAX_NDIMS, Problem, Tensor};

/// Refuses types that packing does not convert to `f32` exactly.
///
/// # Errors
/// The type.
pub(super) fn operand_type(dtype: DataType) -> Result<(), Skip> {
    match dtype {
        DataType::F64 | DataType::S32 | DataType::S64 | DataType::E8m0 | DataType::Boolean => {
            Err(Skip::DataType(format!("{dtype} as operand of a product")))
        }
        _ => Ok(()),
    }
}

/// The plan of the best of some rows but the reference.
pub(super) fn best(rows: &[Impl<CpuTarget>], problem: &Problem, target: &CpuTarget) -> Option<Box<dyn Plan>> {
    let planned = plan_rows(rows, problem, target, 0).ok()?;
    (planned.name != fallback::ROW.name).then_some(planned.plan)
}

/// What `made` makes for the instruction set, or else for vectors of half the width, for which blocks of half a vector are whole.
/// # Errors
/// The reason for the full width.
pub(super) fn of_widths<T>(isa: oxidnn_jit::Isa, made: impl Fn(oxidnn_jit::Isa) -> Result<T, Skip>) -> Result<T, Skip> {
    let narrow = oxidnn_jit::Isa::AVX2;
    made(isa).or_else(|skip| if isa == narrow { Err(skip) } else { made(narrow).map_err(|_| skip) })
}

/// Takes over from another problem the operands, except those in `but`, and the attributes.
pub(super) fn adopt(problem: &mut Problem, chosen: &Problem, but: &[Arg]) {
    for o in problem.op.operands_mut().into_iter().filter(|o| !but.contains(&o.arg)) {
        if let Some(tensor) = chosen.op.tensor(o.arg) {
            *o.tensor = tensor.clone();
        }
    }
    problem.attr = chosen.attr.clone();
}

/// Whether a row runs generated code only.
pub(super) fn is_generated(row: &&Impl<CpuTarget>) -> bool {
    [":jit", ":amx"].iter().any(|tier| row.name.ends_with(tier))
}

/// Whether a row runs portable code only.
pub(super) fn is_portable(row: &&Impl<CpuTarget>) -> bool {
    row.name.ends_with(":portable")
}

/// Most operands of an execution that runs other executions.
pub(super) const OPERANDS: usize = 40;

/// Runs `exec` with other scratch and with arguments changed by `change`.
///
/// # Errors
/// [`Error`] of the execution, or [`Error::Runtime`] for more than [`OPERANDS`] arguments or none.
pub(super) fn run_with<'a>(exec: &dyn Exec, ctx: &Ctx<'a>, scratch: Region<'a>, change: impl Fn(&mut Bound<'a>)) -> Result<(), Error> {
    let mut args = [*ctx.args.first().ok_or_else(|| Error::Runtime("no arguments".into()))?; OPERANDS];
    let count = ctx.args.len();
    let list = args.get_mut(..count).ok_or_else(|| Error::Runtime(format!("{count} arguments")))?;
    list.copy_from_slice(ctx.args);
    list.iter_mut().for_each(change);
    exec.run(&Ctx { args: list, scratch, ..*ctx })
}

/// Runs `exec` with other scratch from one buffer to another; `named` renames the other arguments or drops them.
///
/// # Errors
/// [`Error`] of the execution, or [`Error::Runtime`] for more than [`OPERANDS`] arguments.
pub(super) fn run_between<'a>(
    exec: &dyn Exec,
    ctx: &Ctx<'a>,
    scratch: Region<'a>,
    [from, to]: [Bound<'a>; 2],
    named: impl Fn(Arg) -> Option<Arg>,
) -> Result<(), Error> {
    let mut args = [Bound { arg: Arg::SRC, usage: Use::In, ..from }; OPERANDS];
    args[1] = Bound { arg: Arg::DST, usage: Use::Out, ..to };
    let mut count = 2;
    for bound in ctx.args {
        let Some(arg) = named(bound.arg) else { continue };
        let next = args.get_mut(count).ok_or_else(|| Error::Runtime(format!("{} arguments", ctx.args.len())))?;
        (*next, count) = (Bound { arg, ..*bound }, count + 1);
    }
    exec.run(&Ctx { args: &args[..count], scratch, ..*ctx })
}

/// Resolves an open layout to `tag`.
///
/// # Errors
/// Tags that do not fit.
pub(super) fn resolve(tensor: &mut Tensor, tag: &str) -> Result<(), Skip> {
    if tensor.layout.is_any() {
        *tensor = Tensor::with_tag(*tensor.dims(), tensor.dtype, tag).map_err(|e| Skip::Layout(e.to_string()))?;
    }
    Ok(())
}

/// Adds to the layout of weights of bytes that reorders store their column sums over `depth`, times -1, behind the elements.
pub(super) fn keep_sums(weights: &mut Tensor, depth: &[usize]) {
    let mask = columns_mask(weights, depth);
    if let Some(blocking) = weights.layout.blocking_mut() {
        blocking.compensation = Some(Compensation { zero_point_mask: Some(mask), ..Compensation::default() });
    }
}

/// Where the sums that [`keep_sums`] keeps begin, in 32-bit elements; `None` without them.
pub(super) fn kept_sums(weights: &Tensor, depth: &[usize]) -> Option<usize> {
    let sums = weights.blocking()?.compensation?;
    let kept = Compensation { zero_point_mask: Some(columns_mask(weights, depth)), ..Compensation::default() };
    weights.compensation_at().filter(|_| sums == kept).map(|byte| byte / 4)
}

/// Mask of all dimensions but those of K.
fn columns_mask(weights: &Tensor, depth: &[usize]) -> u32 {
    (0..weights.dims().len()).filter(|d| !depth.contains(d)).fold(0, |mask, d| mask | 1 << d)
}

/// The layout that `any` resolves to for the weights of windows: panels of the result's channels (the first of the two channel dimensions
/// for `result_channel` 0), in these the taps, in these the other channels.
pub(super) fn window_tag(weights: &Tensor, grouped: bool, result_channel: usize, isa: Isa) -> String {
    let (first, n) = (usize::from(grouped), weights.dims().len());
    let (column, depth) = (first + result_channel, first + 1 - result_channel);
    let depth: Vec<usize> = (first + 2..n).chain([depth]).collect();
    panel_tag(n, &depth, column, panel_width(isa, weights.dims()[column].max(0) as usize), 1)
}

/// Refuses resolved problems with tensors that are not dense.
///
/// # Errors
/// The first such tensor, by name.
pub(super) fn dense(problem: &Problem) -> Result<(), Skip> {
    match problem.operands().iter().find(|o| !matches!(o.tensor.layout.format, Format::Blocked(_) | Format::HostScalar)) {
        Some(o) => Err(Skip::Layout(format!("of {}: not dense", o.arg))),
        None => Ok(()),
    }
}

/// Elements between neighbouring pixels where all of an image follow each other at one distance; 0 where there is one.
pub(super) fn pixel_distance(tensor: &Tensor) -> Option<i64> {
    distance_of_pixels(tensor.blocking()?, tensor.dims())
}

fn distance_of_pixels(b: &Blocking, dims: &[i64]) -> Option<i64> {
    let mut sizes = (2..dims.len()).rev().filter(|d| dims[*d] != 1);
    let first = sizes.clone().next().map_or(0, |d| b.strides[d]);
    let mut next = first;
    let follow = sizes.all(|d| {
        let fits = b.strides[d] == next;
        next = next.saturating_mul(dims[d]);
        fits
    });
    follow.then_some(first)
}

/// Whether all sizes, strides and offsets are known when a problem is planned.
///
/// # Errors
/// The first such tensor, by name.
pub(super) fn known(problem: &Problem) -> Result<(), Skip> {
    match problem.operands().iter().find(|o| o.tensor.layout.has_runtime()) {
        Some(o) => Err(Skip::Layout(format!("of {}: sizes or strides that are given at execution", o.arg))),
        None => Ok(()),
    }
}

/// Largest magnitude of an 8-bit or 4-bit integer type.
fn largest(dtype: DataType) -> Option<f32> {
    Some(match dtype {
        DataType::U8 => 255.0,
        DataType::S8 => 128.0,
        DataType::U4 => 15.0,
        DataType::S4 => 8.0,
        _ => return None,
    })
}

/// How many products of two integers (less zero points) can be added in `f32` without rounding: all sums stay below 2^24. `None` if an
/// operand is not of integers.
pub(super) fn exact_depth(sources: [&Source<'_>; 2], attr: &Attr) -> Option<usize> {
    let mut product = 1.0;
    for (source, arg) in sources.into_iter().zip([Arg::SRC, Arg::WEIGHTS]) {
        if source.scale.is_some() {
            return None;
        }
        let count = attr.zero_points.get(&arg).and_then(|q| q.dims(source.view.dims()).volume()).unwrap_or(0);
        product *= largest(source.view.dtype())? + source.zero_point.map_or(0.0, |z| z.largest(count as usize));
    }
    Some(((1u32 << 24) as f32 / product).max(1.0) as usize)
}

/// Most channels of a task of the bias gradient, and channels whose sums stay in registers.
const MAX_TASK_CHANNELS: usize = 512;
const REGISTER_CHANNELS: usize = 64;

/// Writes the sums of `dst` over all dimensions but the second (the channels) to `bias`.
pub(super) fn bias_gradient(executor: &dyn Executor, dst: &View<'_>, bias: &View<'_>) {
    bias.zero_padding();
    let channels = dst.dims()[1] as usize;
    // Each channel is summed on its own, so the number of channels in a task does not change results.
    let each = channels.div_ceil(executor.threads().max(1)).next_multiple_of(REGISTER_CHANNELS).clamp(REGISTER_CHANNELS, MAX_TASK_CHANNELS);
    executor.run(executor.threads(), channels.div_ceil(each), &|_, task| {
        let (first, count) = (task * each, each.min(channels - task * each));
        // Clearing room for more sums takes longer than adding a few.
        if count <= REGISTER_CHANNELS {
            channel_sums(dst, bias, first, &mut [0.0; REGISTER_CHANNELS][..count]);
        } else {
            channel_sums(dst, bias, first, &mut [0.0; MAX_TASK_CHANNELS][..count]);
        }
    });
}

/// Pixels whose sum in f32 is added to the sum in f64: those that are converted to f32 first, and those that are read where they lie.
const PIXELS_PER_PARTIAL_SUM: usize = 16;
const PIXELS_IN_PLACE: usize = 512;

/// A line of `count` pixels at one stride, with channels in blocks.
#[derive(Clone, Copy)]
struct Pixels {
    count: usize,
    step: usize,
    block: usize,
    channel_step: usize,
}

/// Adds a line of pixels from `pos` on to the sums of their channels.
fn channel_rows(dst: &View<'_>, pos: &Pos, line: Pixels, mut total: &mut [f64]) {
    let Pixels { count, step, block, channel_step } = line;
    let mut pos = *pos;
    while !total.is_empty() {
        let wide = channel_step == 1 && matches!(dst.dtype(), DataType::F32 | DataType::Bf16);
        let most = if wide { MAX_TASK_CHANNELS } else { REGISTER_CHANNELS };
        let channels = (block - pos[1] as usize % block).min(total.len()).min(most);
        let (now, rest) = std::mem::take(&mut total).split_at_mut(channels);
        let first = dst.offset(&pos);
        if wide {
            // Some pixels at a time, read in place.
            for start in (0..count).step_by(PIXELS_IN_PLACE) {
                dst.simd().run(AddPixels { dst, first: first + start * step, step, count: PIXELS_IN_PLACE.min(count - start), total: now });
            }
            (pos[1], total) = (pos[1] + channels as i64, rest);
            continue;
        }
        let mut rows = [0.0f32; PIXELS_PER_PARTIAL_SUM * REGISTER_CHANNELS];
        for start in (0..count).step_by(PIXELS_PER_PARTIAL_SUM) {
            let rows = &mut rows[..PIXELS_PER_PARTIAL_SUM.min(count - start) * channels];
            // Contiguous pixels are one run.
            let each = if channel_step == 1 && step == channels { rows.len() } else { channels };
            rows.chunks_exact_mut(each).enumerate().for_each(|(i, row)| dst.read_run(first + (start + i) * step, channel_step, row));
            dst.simd().run(AddRows { rows: &*rows, total: &mut *now });
        }
        (pos[1], total) = (pos[1] + channels as i64, rest);
    }
}

/// Adds pixels from `pos` on, `rows` rows of `width` pixels, to the sums of some channels. Channels are last, or in blocks.
pub(super) fn add_rows(dst: &View<'_>, pos: &Pos, [rows, width]: [usize; 2], sums: &mut [f32]) {
    let (b, last) = (dst.blocking(), dst.dims().len() - 1);
    let (block, channel_step) = b.inner.iter().next().map_or((usize::MAX, b.strides[1] as usize), |(_, block)| (block as usize, 1));
    let (lines, count, step) = match distance_of_pixels(b, dst.dims()) {
        Some(step) => (1, rows * width, step as usize),
        None => (rows, width, if last > 1 { b.strides[last] as usize } else { 0 }),
    };
    let mut pos = *pos;
    for _ in 0..lines {
        let mut at = pos;
        for sums in sums.chunks_mut(MAX_TASK_CHANNELS) {
            let mut total = [0.0; MAX_TASK_CHANNELS];
            channel_rows(dst, &at, Pixels { count, step, block, channel_step }, &mut total[..sums.len()]);
            sums.iter_mut().zip(&total).for_each(|(sum, t)| *sum += *t as f32);
            at[1] += sums.len() as i64;
        }
        if last > 2 {
            pos[last - 1] += 1;
        }
    }
}

/// `total +=` each row.
struct AddRows<'a> {
    rows: &'a [f32],
    total: &'a mut [f64],
}

impl Body for AddRows<'_> {
    type Out = ();
    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        let AddRows { rows, total } = self;
        for row in rows.chunks_exact(total.len()) {
            total.iter_mut().zip(row).for_each(|(t, x)| *t += f64::from(*x));
        }
    }
}

/// `total +=` each pixel of f32 or bf16, whose channels are contiguous from element `first` on.
struct AddPixels<'a> {
    dst: &'a View<'a>,
    first: usize,
    step: usize,
    count: usize,
    total: &'a mut [f64],
}

impl Body for AddPixels<'_> {
    type Out = ();
    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(mut self) {
        let all = self.total.len();
        let wide = all / REGISTER_CHANNELS * REGISTER_CHANNELS;
        self.pieces::<REGISTER_CHANNELS, 2>(0, wide);
        match all {
            16.. => self.pieces::<16, 8>(wide, all),
            4.. => self.pieces::<4, 8>(wide, all),
            _ => self.pieces::<1, 8>(wide, all),
        }
    }
}

impl AddPixels<'_> {
    /// Adds the channels from `first` to `end`, `N` at a time. The last ones are read with some of those before them.
    #[inline(always)]
    fn pieces<const N: usize, const SETS: usize>(&mut self, mut first: usize, end: usize) {
        // A loop of the language: those of the standard library are not compiled for wide vectors.
        while first < end {
            let from = first.min(end - N);
            self.columns::<N, SETS>(from, first - from);
            first = from + N;
        }
    }

    /// Adds `N` channels of all pixels in f32, but for the first `done`. Few sums would wait for each other: pixels are added to several sets
    /// of them.
    #[inline(always)]
    fn columns<const N: usize, const SETS: usize>(&mut self, first: usize, done: usize) {
        let (mut sets, whole) = ([[0.0; N]; SETS], self.count / SETS * SETS);
        for group in 0..self.count / SETS {
            for (i, sums) in sets.iter_mut().enumerate() {
                self.add(first, group * SETS + i, sums);
            }
        }
        for pixel in whole..self.count {
            self.add(first, pixel, &mut sets[0]);
        }
        let (sums, rest) = sets.split_at_mut(1);
        for set in rest {
            for (sum, x) in sums[0].iter_mut().zip(set) {
                *sum += *x;
            }
        }
        for (t, x) in self.total[first..first + N].iter_mut().zip(&sums[0]).skip(done) {
            *t += f64::from(*x);
        }
    }

    /// Adds `N` channels of a pixel, from channel `first` on.
    #[inline(always)]
    fn add<const N: usize>(&self, first: usize, pixel: usize, sums: &mut [f32; N]) {
        let (from, at) = (self.dst.buf(), self.first + first + pixel * self.step);
        if self.dst.dtype() == DataType::F32 {
            let mut line = [0.0f32; N];
            from.read(at, &mut line);
            for (t, x) in sums.iter_mut().zip(&line) {
                *t += *x;
            }
        } else {
            let mut line = [0u16; N];
            from.read(at, &mut line);
            for (t, x) in sums.iter_mut().zip(&line) {
                *t += f32::from_bits(u32::from(*x) << 16);
            }
        }
    }
}

/// The sum of a line of numbers, short enough for partial sums of f32.
pub(super) struct LineSum<'a>(pub(super) &'a [f32]);

impl Body for LineSum<'_> {
    type Out = f64;
    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) -> f64 {
        // Loops of the language: those of the standard library are not compiled for wide vectors. Two sums hide the latency of additions.
        let (pairs, rest) = self.0.as_chunks::<W>().0.as_chunks::<2>();
        let (mut even, mut odd) = ([0.0f32; W], [0.0f32; W]);
        for [x, y] in pairs {
            for i in 0..W {
                even[i] += x[i];
                odd[i] += y[i];
            }
        }
        for i in 0..W {
            even[i] += odd[i];
        }
        let rest = rest.as_flattened().iter().chain(self.0.as_chunks::<W>().1);
        rest.fold(f64::from(pairwise(even)), |sum, x| sum + f64::from(*x))
    }
}

/// The sum of a power of two of numbers, halves added to each other. Inlined, it would let the compiler split the vectors of the loop before it.
#[inline(never)]
fn pairwise<const N: usize>(mut numbers: [f32; N]) -> f32 {
    let mut width = N / 2;
    while width > 0 {
        (0..width).for_each(|i| numbers[i] += numbers[i + width]);
        width /= 2;
    }
    numbers[0]
}

/// Elements that are read together to be added.
const LINE: usize = 256;

/// Sums `dst` over images and pixels for the channels from `first` on, as many as there is room for in `total`, which is zeros.
fn channel_sums(dst: &View<'_>, bias: &View<'_>, first: usize, total: &mut [f64]) {
    let dims = dst.dims();
    let last = dims.len() - 1;
    let (channel, across) = (Axis::new(&[1], dims), Axis::new(&[last], dims));
    let by_channel = last == 1 || !has_smaller_stride(dst, &across, &channel);
    let mut high = *dims;
    high[1] = 1;
    let b = dst.blocking();
    let mut inner = b.inner.iter();
    let channel_blocks = match (inner.next(), inner.next()) {
        (None, None) => Some((usize::MAX, b.strides[1] as usize)),
        (Some((1, block)), None) => Some((block as usize, 1)),
        _ => None,
    };
    // The dimensions that lines run along: all of an image where its pixels follow each other, the width, or images if there is only one pixel.
    let image = distance_of_pixels(b, dims).filter(|_| last > 1 && channel_blocks.is_some());
    let (along, step) = match image {
        Some(step) => (2..last + 1, step),
        None if last > 1 => (last..last + 1, b.strides[last]),
        None => (0..1, b.strides[0]),
    };
    let (count, step) = (dims[along.clone()].iter().product::<i64>() as usize, step as usize);
    let pixels = channel_blocks.map(|(block, channel_step)| Pixels { count, step, block, channel_step });
    if pixels.is_some() || !by_channel {
        high[along].fill(1);
    }
    for_each(&Dims::filled(dims.len(), 0), &high, |pos| {
        let mut pos = *pos;
        pos[1] = first as i64;
        match pixels {
            Some(pixels) if by_channel => channel_rows(dst, &pos, pixels, total),
            _ if by_channel => {
                let mut line = [0.0f32; LINE];
                for total in total.chunks_mut(LINE) {
                    let line = &mut line[..total.len()];
                    dst.read(&pos, 1, line);
                    total.iter_mut().zip(&*line).for_each(|(t, x)| *t += f64::from(*x));
                    pos[1] += line.len() as i64;
                }
            }
            _ => {
                let mut line = [0.0f32; LINE];
                for t in &mut *total {
                    for start in (0..count).step_by(LINE) {
                        let line = &mut line[..(count - start).min(LINE)];
                        match image {
                            Some(_) => dst.read_run(dst.offset(&pos) + start * step, step, line),
                            None => {
                                pos[last] = start as i64;
                                dst.read(&pos, last, line);
                            }
                        }
                        *t += dst.simd().run(LineSum(line));
                    }
                    pos[1] += 1;
                }
            }
        }
    });
    let mut pos: Pos = [0; MAX_NDIMS];
    pos[0] = first as i64;
    for total in total.chunks(REGISTER_CHANNELS) {
        let mut line = [0.0f32; REGISTER_CHANNELS];
        line.iter_mut().zip(total).for_each(|(x, t)| *x = *t as f32);
        bias.write(&pos, 0, &line[..total.len()]);
        pos[0] += total.len() as i64;
    }
}

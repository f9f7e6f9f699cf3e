//! `columns:jit`: batch normalisation of matrices with a column for each channel: channels last, or in blocks.
//!
//! With channels last the tensor is one matrix; with blocks every image and block is a matrix, whose rows are the pixels. Rows are cut into
//! segments, which depend on the sizes alone. Each segment folds its columns in `f32`; the segments' results are combined in `f64`, in
//! order. Deviations are taken from a center, the mean of a segment's first rows, and corrected to the overall mean (Chan, Golub, LeVeque,
//! *Algorithms for computing the sample variance*), so elements are read once for both statistics. If `k` of `n` rows give the center, its
//! distance from the mean is at most `sqrt(n / k)` standard deviations, since these rows are among the segment's. So the error of the
//! correction is bounded whatever the elements are.
//!
//! Blocks of channels are independent: as many as fit into L2 are finished before the next ones, so that what the statistics have read is
//! still there when it is normalised.

use crate::CpuTarget;
use crate::kernels::code::elem;
use crate::kernels::columns::{self, Bound, ColumnKernels, ColumnOp};
use crate::kernels::multiversion::{Body, Simd};
use crate::kernels::pointwise::GRAIN;
use crate::kernels::scratch::{Part, Scratch, booked};
use crate::ops::norm::Norm;
use crate::row::{Generated, RowPlan, TOO_LARGE};
use oxidnn_jit::Isa;
use oxidnn_jit::ir::Elem;
use oxidnn_runtime::{Buf, Ctx, Plan, Skip};
use oxidnn_spec::op::{NormFlags, Prop};
use oxidnn_spec::{Arg, DataType, Error, Problem, Rounding, Tensor};
use std::ops::Range;

/// Most channels of a matrix: a row stays in L1.
const CHANNELS: usize = 4096;
/// Fewest rows of a segment, and most rows that give its center.
const ROWS: usize = 32;
/// One row in this many goes into the center.
const CENTERED: usize = 64;
/// Rows of a segment of several images, if an image has fewer.
const JOINT: usize = 256;
/// Columns whose totals are combined at a time.
const COLUMNS: usize = 64;
/// Fewest segments of a group for each worker.
const SEGMENTS: usize = 4;
/// The matrices that a tensor consists of: one for each image and block of channels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Matrices {
    images: usize,
    blocks: usize,
    rows: usize,
    /// Channels of a block, and all channels without padding.
    width: usize,
    channels: usize,
    elem: Elem,
}

/// Some rows of the matrices of some blocks and images.
#[derive(Clone, Debug)]
struct Segment {
    images: Range<usize>,
    blocks: Range<usize>,
    rows: Range<usize>,
    /// Columns of a block.
    width: usize,
}

impl Matrices {
    fn of(tensor: &Tensor) -> Result<Matrices, Skip> {
        let other = || Skip::Layout("channels that are neither last nor in blocks".into());
        let elem = elem(tensor.dtype).filter(|e| matches!(e, Elem::F32 | Elem::Bf16 | Elem::F16 | Elem::I8));
        let elem = elem.ok_or_else(|| Skip::DataType(format!("{} in generated columns", tensor.dtype)))?;
        let (b, dims) = (tensor.blocking().ok_or_else(other)?, tensor.dims());
        let [images, channels] = [dims[0], dims[1]].map(|n| n as usize);
        let pixels = dims[2..].iter().product::<i64>() as usize;
        if images * channels * pixels == 0 {
            return Err(Skip::Shape("no elements"));
        }
        if channels == 1 && b.inner.is_empty() {
            return Err(Skip::Shape("a single channel, which is a row"));
        }
        let plain = Matrices { images: 1, blocks: 1, rows: images * pixels, width: channels, channels, elem };
        if b.strides[1] == 1 && contiguous(tensor) {
            return Ok(plain);
        }
        let mut inner = b.inner.iter();
        let (Some((1, block)), None) = (inner.next(), inner.next()) else { return Err(other()) };
        // Pixels must be contiguous, then blocks, then images.
        let mut next = block;
        let mut follows = b.offset == 0 && tensor.layout.is_dense(true);
        for d in (2..dims.len()).rev().chain([1, 0]) {
            let size = if d == 1 { b.padded_dims[1] / block } else { b.padded_dims[d] };
            follows &= (size == 1 || b.strides[d] == next) && (d == 1 || size == dims[d]);
            next *= size;
        }
        let width = block as usize;
        if !follows || !width.is_multiple_of(8) || width > CHANNELS {
            return Err(other());
        }
        // Without several pixels, blocks are contiguous.
        if pixels == 1 && channels.is_multiple_of(width) && channels <= CHANNELS {
            return Ok(plain);
        }
        Ok(Matrices { images, blocks: channels.div_ceil(width), rows: pixels, width, channels, elem })
    }

    /// Runs a pass on a segment, accumulating its sums. A matrix of bits is the last one, if the kernel has one.
    fn sweep(&self, kernel: &ColumnKernels, bufs: &[Buf], segment: &Segment, sums: &mut [&mut [f32]], numbers: &[&[f32]]) {
        let (distance, count) = (self.rows * self.width, bufs.len());
        let (images, image) = (segment.images.len(), self.blocks * distance);
        let blocks = columns::Blocks { count: segment.blocks.len(), distance, images, image };
        let [start, first_bit] = self.start(segment.images.start * self.blocks + segment.blocks.start);
        let mut matrices = [(Buf::empty(), 0); columns::MATRICES];
        for (i, (matrix, buf)) in matrices.iter_mut().zip(bufs).enumerate() {
            *matrix = (*buf, if kernel.act().has_bits() && i + 1 == count { first_bit } else { start });
        }
        kernel.run(&matrices[..count], (segment.rows.clone(), blocks), sums, numbers);
    }

    /// Elements of a line by column, including padding channels of blocks.
    fn columns(&self) -> usize {
        self.blocks * self.width
    }

    /// Rows of a segment, segments of a matrix, and images of a segment if an image has few rows. Results depend on these.
    fn pieces(&self) -> [usize; 3] {
        let each = (GRAIN as usize / self.width).max(ROWS).min(self.rows);
        [each, self.rows.div_ceil(each), (JOINT / self.rows).clamp(1, self.images)]
    }

    /// Groups of `together` blocks; the last may have fewer.
    fn groups(&self, together: usize) -> impl Iterator<Item = Group> + use<> {
        let (Matrices { images, blocks, width, .. }, [each, pieces, joint]) = (*self, self.pieces());
        (0..blocks).step_by(together).map(move |first| {
            let blocks = first..blocks.min(first + together);
            let most = (GRAIN as usize / (each * joint * width)).clamp(1, blocks.len());
            let parts = blocks.len().div_ceil(most);
            Group { count: images.div_ceil(joint) * parts * pieces, each: blocks.len().div_ceil(parts), blocks, parts, pieces }
        })
    }

    /// Blocks of a group, such that there are segments for all workers: as many as have `tensors` tensors in L2; one if L2 is too small;
    /// all if the last-level cache is too small, too.
    fn together(&self, tensors: usize, target: &CpuTarget) -> usize {
        let (caches, workers) = (&target.caches, target.threads);
        let block = (self.images * self.rows * self.width * self.elem.bytes()).saturating_mul(tensors);
        let [_, pieces, joint] = self.pieces();
        let least = (SEGMENTS * workers).div_ceil(self.images.div_ceil(joint) * pieces);
        let most = if !target.is_near(block) { self.blocks } else { caches.l2.saturating_mul(workers) / block };
        most.max(least).clamp(1, self.blocks)
    }

    fn segment(&self, group: &Group, index: usize) -> Segment {
        let [each, _, joint] = self.pieces();
        let (piece, rest) = (index % group.pieces, index / group.pieces);
        let (block, image) = (group.blocks.start + rest % group.parts * group.each, rest / group.parts * joint);
        Segment {
            images: image..(image + joint).min(self.images),
            blocks: block.min(group.blocks.end)..(block + group.each).min(group.blocks.end),
            rows: piece * each..((piece + 1) * each).min(self.rows),
            width: self.width,
        }
    }

    /// Byte offset of a matrix, and of its bits.
    fn start(&self, matrix: usize) -> [usize; 2] {
        let elements = matrix * self.rows * self.width;
        [elements * self.elem.bytes(), elements / 8]
    }
}

impl Segment {
    /// The first rows, which give the center.
    fn first(&self) -> Segment {
        let most = (self.count() / CENTERED).clamp(1, ROWS);
        let rows = self.rows.start..self.rows.end.min(self.rows.start + most);
        let images = self.images.start..self.images.end.min(self.images.start + most.div_ceil(rows.len()));
        Segment { images, rows, ..self.clone() }
    }

    /// The first row.
    fn row(&self) -> Segment {
        Segment { images: self.images.start..self.images.start + 1, rows: self.rows.start..self.rows.start + 1, ..self.clone() }
    }

    /// The rows of all its images.
    fn count(&self) -> usize {
        self.images.len() * self.rows.len()
    }

    /// Its columns, of those of all blocks.
    fn columns(&self) -> Range<usize> {
        self.blocks.start * self.width..self.blocks.end * self.width
    }
}

/// Some blocks of all images, and their segments: by images, then by blocks.
#[derive(Clone, Debug)]
struct Group {
    blocks: Range<usize>,
    /// Most blocks of a segment, and segments with the same rows.
    each: usize,
    parts: usize,
    /// Segments with the same images and blocks.
    pieces: usize,
    /// All segments.
    count: usize,
}

impl Group {
    /// The columns of its blocks.
    fn columns(&self, width: usize) -> Range<usize> {
        self.blocks.start * width..self.blocks.end * width
    }

    /// The segments that have a block, by index, with the block's index in each.
    fn of_block(&self, block: usize) -> (impl Iterator<Item = usize> + use<>, usize) {
        let (at, pieces) = (block - self.blocks.start, self.pieces);
        let (first, at) = (at / self.each * pieces, at % self.each);
        ((first..self.count).step_by(self.parts * pieces).flat_map(move |first| first..first + pieces), at)
    }
}

/// Plans `problem`, a batch normalisation, or the group normalisation of one image forward, whose groups have the statistics that their columns make together.
///
/// # Errors
/// [`Skip`] for channels that are neither last nor in blocks, for attributes and fused operations with a second tensor, and for gradients of a fused ReLU with
/// constant statistics.
pub(crate) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let isa = target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?;
    RowPlan::resolved(problem, target, |problem| {
        let norm = Norm::of(problem)?;
        let kernel = BatchNorm::new(&norm, target, isa)?;
        let scratch = kernel.scratch_bytes().ok_or(TOO_LARGE)?;
        Ok((kernel, scratch))
    })
}

/// Whether a tensor has no blocks, gaps or padding.
fn contiguous(tensor: &Tensor) -> bool {
    let plain = tensor.blocking().is_some_and(|b| b.is_plain() && b.offset == 0 && b.padded_dims == *tensor.dims());
    plain && tensor.layout.is_dense(false)
}

/// Refuses an argument `arg` that is not one contiguous f32 for each of `channels`.
fn check_line(problem: &Problem, arg: Arg, channels: usize) -> Result<(), Skip> {
    let fits = |t: &Tensor| t.dtype == DataType::F32 && contiguous(t) && t.layout.elements() == Some(channels as i64);
    if problem.tensor(arg).is_some_and(|t| fits(&t)) { Ok(()) } else { Err(Skip::Layout(format!("of {arg}"))) }
}

/// Statistics, scale and shift by column.
#[derive(Debug)]
struct BatchNorm {
    matrices: Matrices,
    /// Channels with the same statistics.
    shared: usize,
    /// Blocks that are finished before the next.
    together: usize,
    flags: NormFlags,
    epsilon: f32,
    forward: bool,
    /// Whether a bit for each element says where a fused ReLU is not 0.
    bits: bool,
    /// Whether mean and variance are arguments.
    stats: bool,
    /// Whether the gradients of scale and shift are wanted.
    learnt: [bool; 2],
    isa: Isa,
    /// Whether results are stored non-temporally, because the tensors of a pass do not fit into the last-level cache.
    far: bool,
}

impl BatchNorm {
    fn new(op: &Norm<'_>, target: &CpuTarget, isa: Isa) -> Result<BatchNorm, Skip> {
        let (problem, forward, flags) = (op.problem, op.prop.is_forward(), op.flags);
        let bits = op.workspace.is_some();
        if flags.fuse_add_relu || flags.rms || bits && !forward && flags.use_global_stats {
            return Err(Skip::Op("a fused sum, gradients of a fused ReLU with constant statistics"));
        }
        let attr = &problem.attr;
        let stochastic = attr.rounding.values().any(|&r| r == Rounding::Stochastic);
        let plain = attr.post_ops.is_empty() && attr.scales.is_empty() && attr.zero_points.is_empty() && attr.dropout.is_none();
        if !plain || stochastic {
            return Err(Skip::Attr("that changes the result".into()));
        }
        let args: &[Arg] = if forward { &[Arg::SRC, Arg::DST] } else { &[Arg::SRC, Arg::DIFF_DST, Arg::DIFF_SRC] };
        let matrices = Matrices::of(op.src)?;
        let shared = op.split.map_or(1, |(_, groups)| matrices.channels / groups as usize);
        for arg in args {
            if problem.tensor(*arg).is_none_or(|t| t.layout != op.src.layout || t.dtype != op.src.dtype) {
                return Err(Skip::Layout(format!("of {arg}: another than that of src")));
            }
        }
        // With blocks of half a vector, or rows of bits that need a mask, vectors of half the width are whole.
        let is_masked = |isa: Isa| !matrices.width.is_multiple_of(isa.width().lanes());
        let whole = bits || matrices.blocks > 1 || matrices.width != matrices.channels;
        let isa = if whole && is_masked(isa) { Isa::AVX2 } else { isa };
        let narrow = is_masked(isa) && matrices.elem != Elem::F32 && !isa.avx512;
        if matrices.width > CHANNELS || narrow || bits && is_masked(isa) {
            return Err(Skip::Shape("more channels than lines stay in L1 of, or parts of vectors of narrow numbers or bits"));
        }
        let all = op.prop == Prop::Backward;
        let learnt = [all && op.has(Arg::DIFF_SCALE), all && op.has(Arg::DIFF_SHIFT)];
        let stats = op.has(Arg::MEAN) && op.has(Arg::VARIANCE);
        let channels = matrices.channels;
        let lines = [
            (stats, Arg::MEAN, channels / shared),
            (stats, Arg::VARIANCE, channels / shared),
            (flags.use_scale, Arg::SCALE, channels),
            (forward && flags.use_shift, Arg::SHIFT, channels),
            (learnt[0], Arg::DIFF_SCALE, channels),
            (learnt[1], Arg::DIFF_SHIFT, channels),
        ];
        for (_, arg, elements) in lines.into_iter().filter(|a| a.0) {
            check_line(problem, arg, elements)?;
        }
        let once = flags.use_global_stats && (forward || learnt == [false; 2]);
        let together = if once { matrices.blocks } else { matrices.together(args.len(), target) };
        // Channels with the same statistics are finished together.
        let together = match (shared % matrices.width, matrices.width % shared) {
            (_, 0) => together,
            (0, _) => together.next_multiple_of(shared / matrices.width).min(matrices.blocks),
            _ => matrices.blocks,
        };
        let bytes = op.src.bytes().saturating_mul(args.len());
        let far = !target.keeps(bytes);
        Ok(BatchNorm { matrices, shared, together, flags, epsilon: op.epsilon, forward, bits, stats, learnt, isa, far })
    }

    /// Bytes of scratch: lines of parameters, and the segments' sums; `None` on overflow.
    fn scratch_bytes(&self) -> Option<usize> {
        booked(&[4 * self.matrices.columns().next_multiple_of(16), self.folded()])
    }

    /// The passes, in their order.
    fn acts(&self) -> Vec<ColumnOp> {
        let bound = match (self.bits, self.flags.fuse_relu) {
            (true, _) => Bound::Kept,
            (false, true) => Bound::Relu,
            (false, false) => Bound::None,
        };
        match self.forward {
            true => vec![ColumnOp::Sum, ColumnOp::Moments, ColumnOp::Scale(bound)],
            false if self.flags.use_global_stats => vec![ColumnOp::Products { masked: false }, ColumnOp::Scale(Bound::None)],
            false => vec![ColumnOp::Products { masked: self.bits }, ColumnOp::Gradient { masked: self.bits }],
        }
    }

    /// Elements of scratch for the segments' sums.
    fn folded(&self) -> usize {
        let sums = if self.forward { 3 } else { 2 };
        // The first group is the largest.
        sums * self.matrices.width * self.matrices.groups(self.together).next().map_or(0, |group| group.count * group.each)
    }

    /// The memory of the bits, if there are any.
    fn bits<'a>(&self, ctx: &Ctx<'a>) -> Result<Buf<'a>, Error> {
        if self.bits { ctx.buf(Arg::WORKSPACE) } else { Ok(Buf::empty()) }
    }

    /// The argument `arg` by column if it is `used`, else `default` for every column; zeros for padding channels.
    fn parameters<'s>(
        &self,
        ctx: &Ctx<'_>,
        scratch: &mut Scratch<'s>,
        arg: Arg,
        (used, default): (bool, f32),
    ) -> Result<&'s mut [f32], Error> {
        let values = scratch.take(self.matrices.columns())?.into_slice();
        let (there, others) = values.split_at_mut(self.matrices.channels);
        others.fill(0.0);
        if used {
            ctx.buf(arg)?.read(0, there);
        } else {
            there.fill(default);
        }
        Ok(values)
    }

    /// Computes mean and variance of the columns of a group from the source.
    fn statistics(&self, on: On<'_, '_>, group: &Group, folded: &mut Part<'_>, lines: [&mut [f32]; 2]) -> Result<(), Error> {
        let On { code, simd, ctx } = on;
        let (matrices, width, src) = (&self.matrices, self.matrices.width, ctx.buf(Arg::SRC)?);
        let each = group.each * width;
        let [folded, _] = folded.split(group.count * 3 * each);
        let folded = folded.fill(ctx.executor(), 3 * each, &|index, folded| {
            let segment = matrices.segment(group, index);
            let (sums, rest) = folded.split_at_mut(each);
            let (squares, means) = rest.split_at_mut(each);
            let [sums, squares, means] = [sums, squares, means].map(|line| &mut line[..segment.columns().len()]);
            let first = segment.first();
            let total = |of: &Segment, totals: &mut [f32]| {
                totals.fill(0.0);
                matrices.sweep(&code[0], &[src], of, &mut [totals], &[]);
            };
            total(&first, means);
            let count = first.count() as f32;
            if count > 1.0 {
                total(&segment.row(), sums);
            } else {
                sums.copy_from_slice(means);
            }
            means.iter_mut().zip(&*sums).for_each(|(mean, row)| *mean = center(*mean / count, *row));
            sums.fill(0.0);
            squares.fill(0.0);
            matrices.sweep(&code[1], &[src], &segment, &mut [sums, squares], &[means]);
        });
        // The blocks of a segment follow each other.
        let [mean, variance] = lines.map(|line| line[group.columns(width)].chunks_mut(each));
        for (block, (mean, variance)) in group.blocks.clone().step_by(group.each).zip(mean.zip(variance)) {
            for (i, (mean, variance)) in mean.chunks_mut(COLUMNS).zip(variance.chunks_mut(COLUMNS)).enumerate() {
                simd.run(Joined { matrices, folded, group, block, first: i * COLUMNS, mean, variance });
            }
        }
        Ok(())
    }

    /// The given mean and variance.
    fn given<'s>(&self, ctx: &Ctx<'_>, scratch: &mut Scratch<'s>) -> Result<[&'s mut [f32]; 2], Error> {
        let given = self.stats && (self.flags.use_global_stats || !self.forward);
        let mut line = |arg: Arg| -> Result<&'s mut [f32], Error> {
            let line = self.parameters(ctx, scratch, arg, (given && self.shared == 1, 0.0))?;
            if given && self.shared > 1 {
                let buf = ctx.buf(arg)?;
                let of_groups = line[..self.matrices.channels].chunks_mut(self.shared).enumerate();
                of_groups.for_each(|(group, line)| line.fill(buf.get(group)));
            }
            Ok(line)
        };
        Ok([line(Arg::MEAN)?, line(Arg::VARIANCE)?])
    }

    fn forward(&self, on: On<'_, '_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let (ctx, channels) = (on.ctx, self.matrices.channels);
        let [mean, variance] = self.given(ctx, &mut scratch)?;
        let factor = self.parameters(ctx, &mut scratch, Arg::SCALE, (self.flags.use_scale, 1.0))?;
        let shift = &*self.parameters(ctx, &mut scratch, Arg::SHIFT, (self.flags.use_shift, 0.0))?;
        let mut folded = scratch.take(if self.flags.use_global_stats { 0 } else { self.folded() })?;
        let all = [ctx.buf(Arg::SRC)?, ctx.buf(Arg::DST)?, self.bits(ctx)?];
        for group in self.matrices.groups(self.together) {
            if !self.flags.use_global_stats {
                self.statistics(on, &group, &mut folded, [&mut *mean, &mut *variance])?;
            }
            // Padding channels must stay zero whatever epsilon is.
            let columns = group.columns(self.matrices.width);
            let columns = columns.start..columns.end.min(channels);
            if self.shared > 1 && !self.flags.use_global_stats {
                let of_groups = mean[columns.clone()].chunks_mut(self.shared).zip(variance[columns.clone()].chunks_mut(self.shared));
                of_groups.for_each(|(mean, variance)| join(mean, variance));
            }
            on.simd.run(Inverse { factor: &mut factor[columns.clone()], variance: &variance[columns], epsilon: self.epsilon });
            self.last(on, 2, (&group, &all), &[mean, factor, shift]);
        }
        if !self.flags.use_global_stats && self.stats {
            for (arg, line) in [(Arg::MEAN, mean), (Arg::VARIANCE, variance)] {
                let statistics = channels / self.shared;
                (1..statistics).filter(|_| self.shared > 1).for_each(|i| line[i] = line[i * self.shared]);
                ctx.buf(arg)?.write(0, &line[..statistics]);
            }
        }
        Ok(())
    }

    /// With `n` rows, `x` the normalised source and `f = scale / sigma`: `diff_src = f (dd - sum(dd) / n - x sum(dd x) / n)`, and `f dd` where statistics are
    /// constants.
    fn backward(&self, on: On<'_, '_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let (ctx, matrices) = (on.ctx, &self.matrices);
        let [mean, slope] = self.given(ctx, &mut scratch)?;
        let factor = self.parameters(ctx, &mut scratch, Arg::SCALE, (self.flags.use_scale, 1.0))?;
        let constant = scratch.take(matrices.columns())?.into_slice();
        constant.fill(0.0);
        let mut folded = scratch.take(self.folded())?;
        let (mean, width, all) = (&*mean, matrices.width, (matrices.images * matrices.rows) as f32);
        let [src, gradient, result] = [ctx.buf(Arg::SRC)?, ctx.buf(Arg::DIFF_DST)?, ctx.buf(Arg::DIFF_SRC)?];
        // Where statistics are constants, the gradients are those of the results, by the factors of their columns.
        let (scaled, whole) = ([gradient, result, Buf::empty()], [src, gradient, result, self.bits(ctx)?]);
        let fixed = self.flags.use_global_stats;
        let outputs = [(self.learnt[0], Arg::DIFF_SCALE), (self.learnt[1], Arg::DIFF_SHIFT)];
        for group in matrices.groups(self.together) {
            if fixed && self.learnt == [false; 2] {
                let columns = group.columns(width);
                let columns = columns.start..columns.end.min(matrices.channels);
                on.simd.run(Inverse { factor: &mut factor[columns.clone()], variance: &slope[columns], epsilon: self.epsilon });
                self.last(on, 1, (&group, &scaled), &[constant, factor, constant]);
                continue;
            }
            let folded = self.products(on, &group, &mut folded, mean)?;
            let part = |block: usize| group.each.min(group.blocks.end - block) * width;
            let parts = group.blocks.clone().step_by(group.each);
            for (block, first) in parts.flat_map(|block| (0..part(block)).step_by(COLUMNS).map(move |first| (block, first))) {
                let c = block * width + first;
                let columns = c..(c + COLUMNS.min(part(block) - first)).min(matrices.channels).max(c);
                let lines = [&mut factor[columns.clone()], &mut slope[columns.clone()], &mut constant[columns.clone()]];
                let (group, epsilon) = (&group, self.epsilon);
                let learnt = on.simd.run(Learnt { folded, group, block, first, width, all, epsilon, lines });
                for (values, (_, arg)) in learnt.iter().zip(outputs).filter(|o| o.1.0) {
                    ctx.buf(arg)?.write(c, &values[..columns.len()]);
                }
            }
            if fixed {
                constant[group.columns(width)].fill(0.0);
                self.last(on, 1, (&group, &scaled), &[constant, factor, constant]);
            } else {
                self.last(on, 1, (&group, &whole), &[mean, factor, slope, constant]);
            }
        }
        Ok(())
    }

    /// The sums of gradients, and of their products with deviations, of every segment of a group.
    fn products<'f>(&self, on: On<'_, '_>, group: &Group, folded: &'f mut Part<'_>, mean: &[f32]) -> Result<&'f [f32], Error> {
        let On { code, ctx, .. } = on;
        let (matrices, each) = (&self.matrices, group.each * self.matrices.width);
        let all = [ctx.buf(Arg::SRC)?, ctx.buf(Arg::DIFF_DST)?, self.bits(ctx)?];
        let [folded, _] = folded.split(group.count * 2 * each);
        Ok(folded.fill(ctx.executor(), 2 * each, &|index, folded| {
            let segment = matrices.segment(group, index);
            let (sums, products) = folded.split_at_mut(each);
            let [sums, products] = [sums, products].map(|line| &mut line[..segment.columns().len()]);
            sums.fill(0.0);
            products.fill(0.0);
            matrices.sweep(&code[0], self.with_bits(&all), &segment, &mut [sums, products], &[&mean[segment.columns()]]);
        }))
    }

    /// The last pass over the matrices of a group, in parallel over its segments. The last segments come first, because they are still in the caches.
    fn last<const N: usize>(&self, On { code, ctx, .. }: On<'_, '_>, pass: usize, (group, all): (&Group, &[Buf]), lines: &[&[f32]; N]) {
        ctx.executor().run(ctx.executor().threads(), group.count, &|_, task| {
            let segment = self.matrices.segment(group, group.count - 1 - task);
            self.matrices.sweep(&code[pass], self.with_bits(all), &segment, &mut [], &lines.map(|line| &line[segment.columns()]));
        });
    }

    /// Matrices of a pass; the last of them is bits if `bits`.
    fn with_bits<'m, 'b>(&self, all: &'m [Buf<'b>]) -> &'m [Buf<'b>] {
        &all[..all.len() - usize::from(!self.bits)]
    }
}

/// What an execution runs with.
#[derive(Clone, Copy)]
struct On<'e, 'a> {
    /// The kernels of the passes, in their order.
    code: &'e [ColumnKernels],
    simd: Simd,
    ctx: &'e Ctx<'a>,
}

impl Generated for BatchNorm {
    type Code = Vec<ColumnKernels>;

    fn build(&self) -> Result<Vec<ColumnKernels>, Error> {
        let get = |act: ColumnOp| ColumnKernels::get(self.isa, act, self.matrices.elem, (self.matrices.width, self.far));
        self.acts().into_iter().map(get).collect()
    }

    fn run(&self, code: &Vec<ColumnKernels>, simd: Simd, ctx: &Ctx<'_>, scratch: Scratch<'_>) -> Result<(), Error> {
        let on = On { code, simd, ctx };
        if self.forward { self.forward(on, scratch) } else { self.backward(on, scratch) }
    }
}

/// Mean and variance of each of some columns become those of all of them.
fn join(mean: &mut [f32], variance: &mut [f32]) {
    let count = mean.len() as f64;
    let all = mean.iter().map(|m| f64::from(*m)).sum::<f64>() / count;
    let squares = mean.iter().zip(&*variance).map(|(m, v)| f64::from(*v) + (f64::from(*m) - all).powi(2));
    let both = squares.sum::<f64>() / count;
    mean.fill(all as f32);
    variance.fill(both as f32);
}

/// The center of a column's deviations: its mean, rounded so that its distance from the element `row` has few bits.
fn center(mean: f32, row: f32) -> f32 {
    // Sign, exponent, and three bits of the fraction.
    const FIRST: u32 = 0xfff0_0000;
    let center = row + f32::from_bits((mean - row).to_bits() & FIRST);
    // Nothing has a distance from infinity.
    if center.is_finite() { center } else { 0.0 }
}

/// Puts together what segments have folded: mean and variance of some columns of the blocks of a segment, from one on; `block` is the first.
struct Joined<'a> {
    matrices: &'a Matrices,
    folded: &'a [f32],
    group: &'a Group,
    block: usize,
    first: usize,
    mean: &'a mut [f32],
    variance: &'a mut [f32],
}

impl Body for Joined<'_> {
    type Out = ();
    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        let Joined { matrices, folded, group, block, first, mean, variance } = self;
        let (width, all, n) = (matrices.width, (matrices.images * matrices.rows) as f64, mean.len());
        let share = 1.0 / all;
        let mut totals = [0.0; COLUMNS];
        let mut squares = [0.0; COLUMNS];
        let ((segments, at), each) = (group.of_block(block), group.each * width);
        // Sums of deviations, of their squares, and centers of a segment.
        let of = |i: usize| {
            let all = &folded[i * 3 * each..][..3 * each];
            (matrices.segment(group, i).count() as f64, [0, 1, 2].map(|k| &all[k * each + at * width + first..][..n]))
        };
        let (totals, squares) = (&mut totals[..n], &mut squares[..n]);
        for i in segments {
            let (count, [sums, _, centers]) = of(i);
            for ((total, sum), center) in totals.iter_mut().zip(sums).zip(centers) {
                *total += f64::from(*sum) + count * f64::from(*center);
            }
        }
        totals.iter_mut().for_each(|total| *total /= all);
        for i in group.of_block(block).0 {
            let (count, [sums, near, centers]) = of(i);
            for ((((square, total), sum), near), center) in squares.iter_mut().zip(&*totals).zip(sums).zip(near).zip(centers) {
                let distance = f64::from(*center) - total;
                *square += f64::from(*near) + distance * (2.0 * f64::from(*sum) + count * distance);
            }
        }
        for (((mean, variance), total), square) in mean.iter_mut().zip(variance).zip(&*totals).zip(&*squares) {
            *mean = *total as f32;
            // Rounding must not make the variance negative; NaN stays.
            let v = (square * share) as f32;
            *variance = if v < 0.0 { 0.0 } else { v };
        }
    }
}

/// `factor /= sqrt(variance + epsilon)`.
struct Inverse<'a> {
    factor: &'a mut [f32],
    variance: &'a [f32],
    epsilon: f32,
}

impl Body for Inverse<'_> {
    type Out = ();
    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        self.factor.iter_mut().zip(self.variance).for_each(|(f, v)| *f /= (v + self.epsilon).sqrt());
    }
}

/// What the gradients of some columns of the blocks of a segment need, from one on; `block` is the first. `lines` are `factor`, `slope`,
/// which is the variance before, and `constant` of the gradient, of as many columns as exist. Gives the gradients of scale and shift.
struct Learnt<'a> {
    folded: &'a [f32],
    group: &'a Group,
    block: usize,
    first: usize,
    width: usize,
    all: f32,
    epsilon: f32,
    lines: [&'a mut [f32]; 3],
}

impl Body for Learnt<'_> {
    type Out = [[f32; COLUMNS]; 2];
    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) -> Self::Out {
        let [factor, slope, constant] = self.lines;
        let (n, width, first) = (factor.len(), self.width, self.first);
        let (slope, constant) = (&mut slope[..n], &mut constant[..n]);
        let (mut sums, mut products) = ([0.0f64; COLUMNS], [0.0f64; COLUMNS]);
        let (segments, at) = self.group.of_block(self.block);
        for i in segments {
            let [sum, product] = [0, 1].map(|k| &self.folded[(2 * i + k) * self.group.each * width + at * width + first..][..n]);
            for j in 0..n {
                sums[j] += f64::from(sum[j]);
                products[j] += f64::from(product[j]);
            }
        }
        let mut learnt = [[0.0; COLUMNS]; 2];
        for j in 0..n {
            let inverse = 1.0 / (slope[j] + self.epsilon).sqrt();
            let (sum, product) = (sums[j] as f32, products[j] as f32 * inverse);
            factor[j] *= inverse;
            (slope[j], constant[j]) = (-factor[j] * inverse * product / self.all, -factor[j] * sum / self.all);
            (learnt[0][j], learnt[1][j]) = (product, sum);
        }
        learnt
    }
}

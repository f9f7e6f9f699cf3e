//! Batch normalisation of matrices with a channel a column: channels last, or in blocks.
//!
//! With channels last the tensor is one matrix; in blocks it is one for every image and block, whose rows are the pixels. Rows are cut into
//! segments, a function of the sizes alone. Each segment folds its columns in `f32`; what segments have folded is put together in `f64`, in
//! their order. Deviations are taken from the mean of the segment, which is in the cache still, and moved to the mean of all (Chan, Golub,
//! LeVeque, *Algorithms for computing the sample variance*), so that memory is read once for both statistics.
//!
//! Blocks of channels know nothing of each other: as many as the last cache holds are done with before the next, so that what statistics have
//! read is there still when it is normalised.

use super::lines::down;
use super::{Matrix, TILE, bytes, contiguous, plain_attributes};
use crate::CpuTarget;
use crate::kernels::code::elem;
use crate::kernels::columns::{Act, Batches, Bound, Sweep};
use crate::kernels::multiversion::{Body, Simd};
use crate::kernels::pointwise::GRAIN;
use crate::kernels::scratch::{Part, Scratch};
use crate::row::Generated;
use oxidnn_jit::Isa;
use oxidnn_jit::ir::Elem;
use oxidnn_runtime::{Buf, Ctx, Executor, Skip};
use oxidnn_spec::op::{self, NormFlags, Prop};
use oxidnn_spec::{Arg, Error, Problem, Tensor};
use std::ops::Range;

/// Rows of a segment at least.
const ROWS: usize = 32;
/// Columns whose totals are put together at a time.
const COLUMNS: usize = 64;
/// The part of the last cache that a group fills: the rest is for what others have in it.
const NEAR: usize = 2;
/// Segments of a group, for each worker, at least.
const SEGMENTS: usize = 4;
/// Columns of rows that are joined: sums of four vectors do not wait for each other.
const JOINED: usize = 64;

/// The matrices that a tensor is: those of the blocks of channels of every image, one behind the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Matrices {
    images: usize,
    blocks: usize,
    rows: usize,
    /// Channels of a block, and all that exist.
    width: usize,
    channels: usize,
    elem: Elem,
    /// Rows that are one of a matrix as many times as wide, for generated code.
    joined: usize,
}

/// Elements by column, as often as rows are joined.
type Repeated = [f32; JOINED];

/// Some rows of the matrices of a block, of so many images from the one of a matrix on.
#[derive(Clone, Debug)]
struct Segment {
    matrix: usize,
    images: usize,
    rows: Range<usize>,
    /// Its channels.
    columns: Range<usize>,
}

impl Matrices {
    fn of(tensor: &Tensor) -> Result<Matrices, Skip> {
        let other = || Skip::Layout("channels that are neither last nor in blocks".into());
        let elem = elem(tensor.dtype).filter(|e| matches!(e, Elem::F32 | Elem::Bf16 | Elem::F16));
        let elem = elem.ok_or_else(|| Skip::DataType(format!("{} in generated columns", tensor.dtype)))?;
        let (b, dims) = (tensor.blocking().ok_or_else(other)?, tensor.dims());
        let [images, channels] = [dims[0], dims[1]].map(|n| n as usize);
        let pixels = dims[2..].iter().product::<i64>() as usize;
        if images * channels * pixels == 0 {
            return Err(Skip::Shape("no elements"));
        }
        if b.strides[1] == 1 && contiguous(tensor) {
            return Ok(Matrices { images: 1, blocks: 1, rows: images * pixels, width: channels, channels, elem, joined: 1 });
        }
        let mut inner = b.inner.iter();
        let (Some((1, block)), None) = (inner.next(), inner.next()) else { return Err(other()) };
        // Pixels follow each other, then blocks, then images.
        let mut next = block;
        let mut follows = b.offset == 0 && tensor.layout.is_dense(true);
        for d in (2..dims.len()).rev().chain([1, 0]) {
            let size = if d == 1 { b.padded_dims[1] / block } else { b.padded_dims[d] };
            follows &= (size == 1 || b.strides[d] == next) && (d == 1 || size == dims[d]);
            next *= size;
        }
        let width = block as usize;
        if !follows || !width.is_multiple_of(8) || width > TILE {
            return Err(other());
        }
        Ok(Matrices { images, blocks: channels.div_ceil(width), rows: pixels, width, channels, elem, joined: 1 })
    }

    /// The same with narrow rows joined, where these are whole vectors.
    fn join_rows(self, lanes: usize) -> Matrices {
        let fits = |n: &usize| self.width * n <= JOINED && self.rows.is_multiple_of(*n) && self.width.is_multiple_of(lanes);
        Matrices { joined: [4, 2].into_iter().find(fits).unwrap_or(1), ..self }
    }

    /// Does the work of a kernel on some rows, joined: what they are summed to is added up, numbers by column are repeated.
    fn sweep(&self, kernel: &Sweep, matrices: &[(Buf, usize)], segment: &Segment, sums: &mut [&mut [f32]], numbers: &[&[f32]]) {
        let (rows, batches) = (&segment.rows, Batches { count: segment.images, distance: self.blocks * self.rows * self.width });
        if self.joined == 1 {
            return kernel.run(matrices, (rows.clone(), batches), sums, numbers);
        }
        let (n, all) = (self.joined, self.width * self.joined);
        let (mut wide, mut repeated): ([Repeated; 2], [Repeated; 4]) = ([[0.0; JOINED]; 2], [[0.0; JOINED]; 4]);
        for (to, line) in repeated.iter_mut().zip(numbers) {
            to[..all].chunks_exact_mut(self.width).for_each(|to| to.copy_from_slice(&line[..self.width]));
        }
        let mut of_all = wide.each_mut().map(|line| &mut line[..all]);
        let lines = repeated.each_ref().map(|line| &line[..all]);
        kernel.run(matrices, (rows.start / n..rows.end / n, batches), &mut of_all[..sums.len()], &lines[..numbers.len()]);
        for (sums, wide) in sums.iter_mut().zip(&wide) {
            for part in wide[..all].chunks_exact(self.width) {
                sums.iter_mut().zip(part).for_each(|(sum, x)| *sum += x);
            }
        }
    }

    /// Elements by column, those included that blocks have beyond the channels.
    fn columns(&self) -> usize {
        self.blocks * self.width
    }

    /// Rows of a matrix in a segment, segments of a matrix, and images whose matrices are a segment together where one is too small for that.
    fn pieces(&self) -> [usize; 3] {
        let most = (GRAIN as usize / self.width).max(ROWS);
        let each = most.next_multiple_of(self.joined).min(self.rows);
        [each, self.rows.div_ceil(each), (most / self.rows).clamp(1, self.images)]
    }

    /// Groups of so many blocks, but for the last.
    fn groups(&self, together: usize) -> impl Iterator<Item = Group> + use<> {
        let (Matrices { images, blocks, .. }, [_, pieces, joint]) = (*self, self.pieces());
        (0..blocks).step_by(together).map(move |first| {
            let blocks = first..blocks.min(first + together);
            Group { count: images.div_ceil(joint) * blocks.len() * pieces, blocks, pieces }
        })
    }

    /// Blocks of a group of which `tensors` stay in `near` bytes, and whose segments are enough for all workers; all where a block is too large.
    fn together(&self, tensors: usize, near: usize, workers: usize) -> usize {
        let block = (self.images * self.rows * self.width * self.elem.bytes()).saturating_mul(tensors);
        let [_, pieces, joint] = self.pieces();
        let least = (SEGMENTS * workers).div_ceil(self.images.div_ceil(joint) * pieces);
        let most = if block > near { self.blocks } else { near / block };
        most.max(least).min(self.blocks)
    }

    fn segment(&self, group: &Group, index: usize) -> Segment {
        let ([each, _, joint], blocks) = (self.pieces(), group.blocks.len());
        let (piece, matrix) = (index % group.pieces, index / group.pieces);
        let (block, image) = (group.blocks.start + matrix % blocks, matrix / blocks * joint);
        let rows = piece * each..((piece + 1) * each).min(self.rows);
        let columns = block * self.width..(block + 1) * self.width;
        Segment { matrix: image * self.blocks + block, images: joint.min(self.images - image), rows, columns }
    }

    /// Byte at which a matrix begins, and that at which its bits do.
    fn start(&self, matrix: usize) -> [usize; 2] {
        let elements = matrix * self.rows * self.width;
        [elements * self.elem.bytes(), elements / 8]
    }
}

impl Segment {
    /// The rows of all its images.
    fn count(&self) -> usize {
        self.images * self.rows.len()
    }
}

/// Some blocks of all images, and their segments: images by images, block by block.
#[derive(Clone, Debug)]
struct Group {
    blocks: Range<usize>,
    /// Segments of the same images of a block.
    pieces: usize,
    /// All segments.
    count: usize,
}

impl Group {
    /// The columns of its blocks.
    fn columns(&self, width: usize) -> Range<usize> {
        self.blocks.start * width..self.blocks.end * width
    }

    /// The segments of a block, by number.
    fn of_block(&self, block: usize) -> impl Iterator<Item = usize> + use<> {
        let (first, pieces) = ((block - self.blocks.start) * self.pieces, self.pieces);
        (first..self.count).step_by(self.blocks.len() * pieces).flat_map(move |first| first..first + pieces)
    }
}

/// Statistics, scale and shift by column.
#[derive(Debug)]
pub struct BatchNorm {
    matrices: Matrices,
    /// Blocks that are done with before the next.
    together: usize,
    /// Workers, and where the only matrix is gone through without generated code, its size.
    matrix: Matrix,
    flags: NormFlags,
    epsilon: f32,
    forward: bool,
    /// Whether a bit for each element says where a fused ReLU lets it pass.
    bits: bool,
    /// Whether mean and variance are arguments: given, or wanted.
    stats: bool,
    /// Whether the gradients of scale and shift are wanted.
    learnt: [bool; 2],
    space: usize,
    /// Instructions of generated code, where rows are gone through by such.
    jit: Option<Isa>,
}

impl BatchNorm {
    /// The kernel with its bytes of scratch; by generated code where there is an instruction set for it.
    ///
    /// # Errors
    /// [`Skip`] for channels that are neither last nor in blocks, for fused operations with a second tensor, and for gradients with constant
    /// statistics; without generated code for anything but `f32` with channels last, and bits of a fused ReLU.
    pub fn new(op: &op::BatchNorm, problem: &Problem, target: &CpuTarget, jit: Option<Isa>) -> Result<(BatchNorm, usize), Skip> {
        let (forward, flags, workers) = (op.prop.is_forward(), op.flags, target.threads);
        let bits = op.workspace.is_some();
        if flags.fuse_add_relu || flags.rms || !forward && flags.use_global_stats || bits && jit.is_none() {
            return Err(Skip::Op("a fused sum, gradients with constant statistics, bits without generated code"));
        }
        plain_attributes(problem)?;
        let args: &[Arg] = if forward { &[Arg::SRC, Arg::DST] } else { &[Arg::SRC, Arg::DIFF_DST, Arg::DIFF_SRC] };
        let matrices = Matrices::of(&op.src)?;
        for arg in args {
            if problem.tensor(*arg).is_none_or(|t| t.layout != op.src.layout || t.dtype != op.src.dtype) {
                return Err(Skip::Layout(format!("of {arg}: another than that of src")));
            }
        }
        let matrix = match jit {
            Some(_) => Matrix { rows: matrices.rows, width: matrices.width, workers },
            None => Matrix::of(problem, 1, args, workers)?,
        };
        // Blocks of half a vector, and rows of bits, are whole ones of half the width.
        let whole = bits || matrices.blocks > 1 || matrices.width != matrices.channels;
        let jit = jit.map(|jit| if whole && !matrices.width.is_multiple_of(jit.width().lanes()) { Isa::AVX2 } else { jit });
        let masked = jit.is_some_and(|jit| !matrices.width.is_multiple_of(jit.width().lanes()));
        let narrow = masked && matrices.elem != Elem::F32 && jit.is_some_and(|jit| !jit.avx512);
        if matrix.width > TILE || narrow || bits && masked {
            return Err(Skip::Shape("more channels than a tile has room for, or parts of vectors of narrow numbers or bits"));
        }
        let matrices = jit.map_or(matrices, |jit| matrices.join_rows(jit.width().lanes()));
        let all = op.prop == Prop::Backward;
        let learnt = [all && op.diff_scale.is_some(), all && op.diff_shift.is_some()];
        let stats = op.mean.is_some() && op.variance.is_some();
        let by_column = [
            (stats, Arg::MEAN),
            (stats, Arg::VARIANCE),
            (flags.use_scale, Arg::SCALE),
            (forward && flags.use_shift, Arg::SHIFT),
            (learnt[0], Arg::DIFF_SCALE),
            (learnt[1], Arg::DIFF_SHIFT),
        ];
        for (_, arg) in by_column.into_iter().filter(|a| a.0) {
            Matrix { width: matrices.channels, ..matrix }.by_column(problem, arg)?;
        }
        let space = if jit.is_some() { 0 } else { matrix.space(if forward { 1 } else { 2 })? };
        let once = forward && flags.use_global_stats;
        let together = if once { matrices.blocks } else { matrices.together(args.len(), target.caches.l3 / NEAR, workers) };
        let kernel = BatchNorm { matrices, together, matrix, flags, epsilon: op.epsilon.get(), forward, bits, stats, learnt, space, jit };
        let parameters = 4 * kernel.matrices.columns().next_multiple_of(16);
        let scratch = bytes(&[parameters, space, kernel.folded()])?;
        Ok((kernel, scratch))
    }

    /// Elements of scratch of what segments fold.
    fn folded(&self) -> usize {
        let sums = if self.forward { 3 } else { 2 };
        // No group has more than the first.
        sums * self.matrices.width * self.matrices.groups(self.together).next().map_or(0, |group| group.count)
    }

    /// Calls `body` in parallel for all segments of a group, the last ones first: those are still near.
    fn each(&self, executor: &dyn Executor, group: &Group, body: &(dyn Fn(Segment) + Sync)) {
        let count = group.count;
        executor.run(executor.threads(), count, &|_, task| body(self.matrices.segment(group, count - 1 - task)));
    }

    /// The memory of the bits, where there are any.
    fn bits<'a>(&self, ctx: &Ctx<'a>) -> Result<Buf<'a>, Error> {
        if self.bits { ctx.buf(Arg::WORKSPACE) } else { Ok(Buf::empty()) }
    }

    /// The argument `arg` by columns where it is `used`, else `default` for every column; zeros where there is no channel.
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

    /// Fills `mean` and `variance` of the columns of a group with the statistics of the source.
    fn statistics(&self, on: On<'_, '_>, group: &Group, [tiles, folded]: [&mut Part<'_>; 2], lines: [&mut [f32]; 2]) -> Result<(), Error> {
        let On { code, simd, ctx } = on;
        let (matrices, matrix, width, src) = (&self.matrices, &self.matrix, self.matrices.width, ctx.buf(Arg::SRC)?);
        let [_, folded] = folded.split(0);
        let folded = tiles.work_on(folded, ctx.executor(), matrix.workers, (group.count, 3 * width), &|index, folded, space| {
            let segment = matrices.segment(group, index);
            let (from, rows) = ((src, matrices.start(segment.matrix)[0]), &segment.rows);
            let (sums, rest) = folded.split_at_mut(width);
            let (squares, means) = rest.split_at_mut(width);
            sums.fill(0.0);
            squares.fill(0.0);
            match code.first() {
                Some(sum) => matrices.sweep(sum, &[from], &segment, &mut [&mut *sums], &[]),
                None => matrix.each(rows.clone(), |rows| simd.run(Sum { x: matrix.read(src, &rows, space).0, totals: sums })),
            }
            let count = segment.count() as f32;
            means.iter_mut().zip(&*sums).for_each(|(mean, sum)| *mean = sum / count);
            match code.get(1) {
                Some(pass) => matrices.sweep(pass, &[from], &segment, &mut [squares], &[means]),
                None => matrix
                    .each(rows.clone(), |rows| simd.run(Squares { x: matrix.read(src, &rows, space).0, mean: means, totals: squares })),
            }
        });
        let folded = &*folded.into_slice();
        let [mean, variance] = lines.map(|line| line[group.columns(width)].chunks_mut(width));
        for (block, (mean, variance)) in group.blocks.clone().zip(mean.zip(variance)) {
            for (i, (mean, variance)) in mean.chunks_mut(COLUMNS).zip(variance.chunks_mut(COLUMNS)).enumerate() {
                self.join(folded, (group, block), i * COLUMNS, [mean, variance]);
            }
        }
        Ok(())
    }

    /// Puts together what segments have folded: mean and variance of some columns of a block of a group, from one on.
    fn join(&self, folded: &[f32], (group, block): (&Group, usize), first: usize, [mean, variance]: [&mut [f32]; 2]) {
        let (matrices, width) = (&self.matrices, self.matrices.width);
        let all = (matrices.images * matrices.rows) as f64;
        let folded = |i: usize| (matrices.segment(group, i).count() as f64, &folded[i * 3 * width..][..3 * width]);
        let segments = || group.of_block(block).map(folded);
        let [mut sums, mut squares] = [[0.0; COLUMNS]; 2];
        for (_, f) in segments() {
            sums.iter_mut().zip(&f[first..width]).for_each(|(sum, f)| *sum += f64::from(*f));
        }
        // Squares are those of the distances from a segment's mean as f32 has it: what it is off by counts too.
        for (n, f) in segments() {
            let parts = f[first..width].iter().zip(&f[width + first..2 * width]).zip(&f[2 * width + first..]);
            for ((square, total), ((sum, near), center)) in squares.iter_mut().zip(&sums).zip(parts) {
                let (center, distance) = (f64::from(*center), f64::from(*center) - total / all);
                *square += f64::from(*near) + 2.0 * distance * (f64::from(*sum) - n * center) + n * distance * distance;
            }
        }
        mean.iter_mut().zip(&sums).for_each(|(m, sum)| *m = (sum / all) as f32);
        variance.iter_mut().zip(&squares).for_each(|(v, square)| *v = (square / all) as f32);
    }

    /// The given mean and variance.
    fn given<'s>(&self, ctx: &Ctx<'_>, scratch: &mut Scratch<'s>) -> Result<[&'s mut [f32]; 2], Error> {
        let given = (self.stats && (self.flags.use_global_stats || !self.forward), 0.0);
        Ok([self.parameters(ctx, scratch, Arg::MEAN, given)?, self.parameters(ctx, scratch, Arg::VARIANCE, given)?])
    }

    fn forward(&self, on: On<'_, '_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let (ctx, channels) = (on.ctx, self.matrices.channels);
        let [mean, variance] = self.given(ctx, &mut scratch)?;
        let factor = self.parameters(ctx, &mut scratch, Arg::SCALE, (self.flags.use_scale, 1.0))?;
        let shift = &*self.parameters(ctx, &mut scratch, Arg::SHIFT, (self.flags.use_shift, 0.0))?;
        let mut tiles = scratch.take(self.space)?;
        let mut folded = scratch.take(if self.flags.use_global_stats { 0 } else { self.folded() })?;
        for group in self.matrices.groups(self.together) {
            if !self.flags.use_global_stats {
                self.statistics(on, &group, [&mut tiles, &mut folded], [&mut *mean, &mut *variance])?;
            }
            // Padding stays zero, whatever epsilon is.
            let columns = group.columns(self.matrices.width);
            for c in columns.start..columns.end.min(channels) {
                factor[c] /= (variance[c] + self.epsilon).sqrt();
            }
            self.scale(on, &group, &mut tiles, [mean, factor, shift])?;
        }
        if !self.flags.use_global_stats && self.stats {
            ctx.buf(Arg::MEAN)?.write(0, &mean[..channels]);
            ctx.buf(Arg::VARIANCE)?.write(0, &variance[..channels]);
        }
        Ok(())
    }

    /// Normalises the elements of a group by what is known of every column.
    fn scale(&self, on: On<'_, '_>, group: &Group, tiles: &mut Part<'_>, lines: [&[f32]; 3]) -> Result<(), Error> {
        let On { code, simd, ctx } = on;
        let (matrices, matrix) = (&self.matrices, &self.matrix);
        let (src, dst, bits) = (ctx.buf(Arg::SRC)?, ctx.buf(Arg::DST)?, self.bits(ctx)?);
        if let Some(scale) = code.get(2) {
            self.each(ctx.executor(), group, &|segment| {
                let [start, first_bit] = matrices.start(segment.matrix);
                let all = [(src, start), (dst, start), (bits, first_bit)];
                let lines = lines.map(|line| &line[segment.columns.clone()]);
                matrices.sweep(scale, &all[..2 + usize::from(self.bits)], &segment, &mut [], &lines);
            });
            return Ok(());
        }
        let [mean, factor, shift] = lines;
        matrix.tiles(ctx.executor(), tiles, &|rows, space| {
            let (x, _) = matrix.read(src, &rows, space);
            simd.run(Forward { x, mean, factor, shift, relu: self.flags.fuse_relu });
            matrix.write(dst, &rows, x);
        });
        Ok(())
    }

    /// With `n` rows, `x` the normalised source and `f = scale / sigma`: `diff_src = f (dd - sum(dd) / n - x sum(dd x) / n)`.
    fn backward(&self, on: On<'_, '_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let (ctx, matrices) = (on.ctx, &self.matrices);
        let [mean, slope] = self.given(ctx, &mut scratch)?;
        let factor = self.parameters(ctx, &mut scratch, Arg::SCALE, (self.flags.use_scale, 1.0))?;
        let constant = scratch.take(matrices.columns())?.into_slice();
        constant.fill(0.0);
        let (mut tiles, mut folded) = (scratch.take(self.space)?, scratch.take(self.folded())?);
        let (mean, width, all) = (&*mean, matrices.width, (matrices.images * matrices.rows) as f32);
        let outputs = [(self.learnt[0], Arg::DIFF_SCALE), (self.learnt[1], Arg::DIFF_SHIFT)];
        for group in matrices.groups(self.together) {
            let folded = self.products(on, &group, (&mut tiles, &mut folded), mean)?;
            let total = |block: usize, at: usize| group.of_block(block).map(|i| f64::from(folded[i * 2 * width + at])).sum::<f64>() as f32;
            let columns = group.columns(width);
            for c in columns.start..columns.end.min(matrices.channels) {
                let inverse = 1.0 / (slope[c] + self.epsilon).sqrt();
                let (sum, product) = (total(c / width, c % width), total(c / width, width + c % width) * inverse);
                for ((wanted, arg), value) in outputs.into_iter().zip([product, sum]) {
                    if wanted {
                        ctx.buf(arg)?.set(c, value);
                    }
                }
                factor[c] *= inverse;
                (slope[c], constant[c]) = (-factor[c] * inverse * product / all, -factor[c] * sum / all);
            }
            self.gradient(on, &group, &mut tiles, [mean, factor, slope, constant])?;
        }
        Ok(())
    }

    /// The sums of gradients, and of their products with deviations, of every segment of a group.
    fn products<'f>(
        &self,
        on: On<'_, '_>,
        group: &Group,
        space: (&mut Part<'_>, &'f mut Part<'_>),
        mean: &[f32],
    ) -> Result<&'f [f32], Error> {
        let On { code, simd, ctx } = on;
        let (matrices, matrix, width) = (&self.matrices, &self.matrix, self.matrices.width);
        let (src, diff_dst, bits) = (ctx.buf(Arg::SRC)?, ctx.buf(Arg::DIFF_DST)?, self.bits(ctx)?);
        let ((tiles, folded), workers) = (space, matrix.workers);
        let [_, folded] = folded.split(0);
        let folded = tiles.work_on(folded, ctx.executor(), workers, (group.count, 2 * width), &|index, folded, space| {
            let (sums, products) = folded.split_at_mut(width);
            sums.fill(0.0);
            products.fill(0.0);
            let segment = matrices.segment(group, index);
            if let Some(pass) = code.first() {
                let [start, first_bit] = matrices.start(segment.matrix);
                let all = [(src, start), (diff_dst, start), (bits, first_bit)];
                let mean = &mean[segment.columns.clone()];
                return matrices.sweep(pass, &all[..2 + usize::from(self.bits)], &segment, &mut [sums, products], &[mean]);
            }
            matrix.each(segment.rows, |rows| {
                let (x, rest) = matrix.read(src, &rows, space);
                let (dd, _) = matrix.read(diff_dst, &rows, rest);
                simd.run(Sum { x: dd, totals: sums });
                simd.run(Products { x, dd, mean, totals: products });
            });
        });
        Ok(folded.into_slice())
    }

    /// The gradients of the elements of a group by what is known of every column.
    fn gradient(&self, on: On<'_, '_>, group: &Group, tiles: &mut Part<'_>, lines: [&[f32]; 4]) -> Result<(), Error> {
        let On { code, simd, ctx } = on;
        let (matrices, matrix) = (&self.matrices, &self.matrix);
        let (src, diff_dst, diff_src, bits) = (ctx.buf(Arg::SRC)?, ctx.buf(Arg::DIFF_DST)?, ctx.buf(Arg::DIFF_SRC)?, self.bits(ctx)?);
        if let Some(gradient) = code.get(1) {
            self.each(ctx.executor(), group, &|segment| {
                let [start, first_bit] = matrices.start(segment.matrix);
                let all = [(src, start), (diff_dst, start), (diff_src, start), (bits, first_bit)];
                let lines = lines.map(|line| &line[segment.columns.clone()]);
                matrices.sweep(gradient, &all[..3 + usize::from(self.bits)], &segment, &mut [], &lines);
            });
            return Ok(());
        }
        let [mean, factor, slope, constant] = lines;
        matrix.tiles(ctx.executor(), tiles, &|rows, space| {
            let (x, rest) = matrix.read(src, &rows, space);
            let (dd, _) = matrix.read(diff_dst, &rows, rest);
            simd.run(Backward { x, dd, mean, factor, slope, constant });
            matrix.write(diff_src, &rows, dd);
        });
        Ok(())
    }
}

/// What an execution goes through rows with.
#[derive(Clone, Copy)]
struct On<'e, 'a> {
    /// The kernels of the passes in their order; none where there is no generated code.
    code: &'e [Sweep],
    simd: Simd,
    ctx: &'e Ctx<'a>,
}

impl Generated for BatchNorm {
    type Code = Vec<Sweep>;

    fn build(&self) -> Result<Vec<Sweep>, Error> {
        let Some(isa) = self.jit else { return Ok(Vec::new()) };
        let bound = match (self.bits, self.flags.fuse_relu) {
            (true, _) => Bound::Kept,
            (false, true) => Bound::Relu,
            (false, false) => Bound::None,
        };
        let acts: &[Act] = match self.forward {
            true => &[Act::Sum, Act::Squares, Act::Scale(bound)],
            false => &[Act::Products { masked: self.bits }, Act::Gradient { masked: self.bits }],
        };
        acts.iter().map(|act| Sweep::get(isa, *act, self.matrices.elem, self.matrices.width * self.matrices.joined)).collect()
    }

    fn run(&self, code: &Vec<Sweep>, simd: Simd, ctx: &Ctx<'_>, scratch: Scratch<'_>) -> Result<(), Error> {
        let on = On { code, simd, ctx };
        if self.forward { self.forward(on, scratch) } else { self.backward(on, scratch) }
    }
}

/// Adds the rows of `x` to `totals`.
struct Sum<'a> {
    x: &'a [f32],
    totals: &'a mut [f32],
}

impl Body for Sum<'_> {
    type Out = ();
    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        down(self.totals, self.x, self.x, &self.x[..self.totals.len()], |x, _, _| x);
    }
}

/// Adds the squared deviations of the rows of `x`.
struct Squares<'a> {
    x: &'a [f32],
    mean: &'a [f32],
    totals: &'a mut [f32],
}

impl Body for Squares<'_> {
    type Out = ();
    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        down(self.totals, self.x, self.x, self.mean, |x, _, m| (x - m) * (x - m));
    }
}

/// Adds the products of deviations and gradients.
struct Products<'a> {
    x: &'a [f32],
    dd: &'a [f32],
    mean: &'a [f32],
    totals: &'a mut [f32],
}

impl Body for Products<'_> {
    type Out = ();
    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        down(self.totals, self.x, self.dd, self.mean, |x, dd, m| (x - m) * dd);
    }
}

/// `x = (x - mean) * factor + shift`, not below 0 with `relu`.
struct Forward<'a> {
    x: &'a mut [f32],
    mean: &'a [f32],
    factor: &'a [f32],
    shift: &'a [f32],
    relu: bool,
}

impl Body for Forward<'_> {
    type Out = ();
    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        let Forward { x, mean, factor, shift, relu } = self;
        let low = if relu { 0.0 } else { f32::NEG_INFINITY };
        for row in x.chunks_exact_mut(mean.len()) {
            for (((x, m), f), s) in row.iter_mut().zip(mean).zip(factor).zip(shift) {
                let y = (*x - m) * f + s;
                *x = if y < low { low } else { y };
            }
        }
    }
}

/// `dd = factor * dd + slope * (x - mean) + constant`.
struct Backward<'a> {
    x: &'a [f32],
    dd: &'a mut [f32],
    mean: &'a [f32],
    factor: &'a [f32],
    slope: &'a [f32],
    constant: &'a [f32],
}

impl Body for Backward<'_> {
    type Out = ();
    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        let Backward { x, dd, mean, factor, slope, constant } = self;
        let n = mean.len();
        let (factor, slope, constant) = (&factor[..n], &slope[..n], &constant[..n]);
        for (x, dd) in x.chunks_exact(n).zip(dd.chunks_exact_mut(n)) {
            for j in 0..n {
                dd[j] = factor[j] * dd[j] + (slope[j] * (x[j] - mean[j]) + constant[j]);
            }
        }
    }
}

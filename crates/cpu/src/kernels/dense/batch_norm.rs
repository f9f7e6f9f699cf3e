//! Batch normalisation of matrices with a channel a column: channels last, or in blocks.
//!
//! With channels last the tensor is one matrix; in blocks it is one for every image and block, whose rows are the pixels. Rows are cut into
//! segments, a function of the sizes alone. Each segment folds its columns in `f32`; what segments have folded is put together in `f64`, in
//! their order. Deviations are taken from the mean of a segment's first rows, and moved to the mean of all (Chan, Golub, LeVeque, *Algorithms for
//! computing the sample variance*), so that elements are read once for both statistics. Where `k` of `n` rows give that center, its distance
//! from the mean is at most `sqrt(n / k)` deviations, as these rows are among the segment's: what is lost when it is moved is bounded, whatever the
//! elements are.
//!
//! Blocks of channels know nothing of each other: as many as the nearest cache holds are done with before the next, so that what statistics have
//! read is there still when it is normalised.

use super::{Matrix, TILE, bytes, contiguous, plain_attributes};
use crate::CpuTarget;
use crate::hardware::Caches;
use crate::kernels::code::elem;
use crate::kernels::columns::{self, Act, Bound, Sweep};
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

/// Rows of a segment at least, and those of which the mean is its center at most.
const ROWS: usize = 32;
/// Rows for each of those.
const CENTERED: usize = 16;
/// Rows of the images of a segment, where one has fewer.
const JOINT: usize = 256;
/// Columns whose totals are put together at a time.
const COLUMNS: usize = 64;
/// Segments of a group, for each worker, at least.
const SEGMENTS: usize = 4;
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
        let plain = Matrices { images: 1, blocks: 1, rows: images * pixels, width: channels, channels, elem };
        if b.strides[1] == 1 && contiguous(tensor) {
            return Ok(plain);
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
        // The blocks of a single pixel are neighbours.
        if pixels == 1 && channels.is_multiple_of(width) && channels <= TILE {
            return Ok(plain);
        }
        Ok(Matrices { images, blocks: channels.div_ceil(width), rows: pixels, width, channels, elem })
    }

    /// Does the work of a kernel on a segment: what it is summed to is added up. Of a matrix of bits there is the last, where the kernel has one.
    fn sweep(&self, kernel: &Sweep, bufs: &[Buf], segment: &Segment, sums: &mut [&mut [f32]], numbers: &[&[f32]]) {
        let blocks = columns::Blocks { count: segment.blocks.len(), distance: self.rows * self.width };
        for image in segment.images.clone() {
            let [start, first_bit] = self.start(image * self.blocks + segment.blocks.start);
            let mut matrices = [(Buf::empty(), 0); columns::MATRICES];
            let count = bufs.len();
            for (i, (matrix, buf)) in matrices.iter_mut().zip(bufs).enumerate() {
                *matrix = (*buf, if kernel.act().has_bits() && i + 1 == count { first_bit } else { start });
            }
            kernel.run(&matrices[..count], (segment.rows.clone(), blocks), sums, numbers);
        }
    }

    /// Elements by column, those included that blocks have beyond the channels.
    fn columns(&self) -> usize {
        self.blocks * self.width
    }

    /// Rows of a segment, segments of a matrix, and images that are a segment together where the rows of one are few. Sums depend on how these are cut.
    fn pieces(&self) -> [usize; 3] {
        let each = (GRAIN as usize / self.width).max(ROWS).min(self.rows);
        [each, self.rows.div_ceil(each), (JOINT / self.rows).clamp(1, self.images)]
    }

    /// Groups of so many blocks, but for the last.
    fn groups(&self, together: usize) -> impl Iterator<Item = Group> + use<> {
        let (Matrices { images, blocks, width, .. }, [each, pieces, joint]) = (*self, self.pieces());
        (0..blocks).step_by(together).map(move |first| {
            let blocks = first..blocks.min(first + together);
            let most = (GRAIN as usize / (each * joint * width)).clamp(1, blocks.len());
            let parts = blocks.len().div_ceil(most);
            Group { count: images.div_ceil(joint) * parts * pieces, each: blocks.len().div_ceil(parts), blocks, parts, pieces }
        })
    }

    /// Blocks of a group, whose segments are enough for all workers: those of which `tensors` stay in L2, one where that is too small for it, and all
    /// where the last cache is, too.
    fn together(&self, tensors: usize, caches: &Caches, workers: usize) -> usize {
        let block = (self.images * self.rows * self.width * self.elem.bytes()).saturating_mul(tensors);
        let [_, pieces, joint] = self.pieces();
        let least = (SEGMENTS * workers).div_ceil(self.images.div_ceil(joint) * pieces);
        let most = if !caches.keep(block) { self.blocks } else { caches.l2.saturating_mul(workers) / block };
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

    /// Byte at which a matrix begins, and that at which its bits do.
    fn start(&self, matrix: usize) -> [usize; 2] {
        let elements = matrix * self.rows * self.width;
        [elements * self.elem.bytes(), elements / 8]
    }
}

impl Segment {
    /// The first rows, as many as a center is made of.
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

    /// Its columns among those of all blocks.
    fn columns(&self) -> Range<usize> {
        self.blocks.start * self.width..self.blocks.end * self.width
    }
}

/// Some blocks of all images, and their segments: images by images, some blocks by some blocks.
#[derive(Clone, Debug)]
struct Group {
    blocks: Range<usize>,
    /// Blocks of a segment at most, and segments of the same rows.
    each: usize,
    parts: usize,
    /// Segments of the same images and blocks.
    pieces: usize,
    /// All segments.
    count: usize,
}

impl Group {
    /// The columns of its blocks.
    fn columns(&self, width: usize) -> Range<usize> {
        self.blocks.start * width..self.blocks.end * width
    }

    /// The segments that have a block, by number, and its place among their blocks.
    fn of_block(&self, block: usize) -> (impl Iterator<Item = usize> + use<>, usize) {
        let (at, pieces) = (block - self.blocks.start, self.pieces);
        let (first, at) = (at / self.each * pieces, at % self.each);
        ((first..self.count).step_by(self.parts * pieces).flat_map(move |first| first..first + pieces), at)
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
    /// Whether results go past the caches: the tensors of a pass have no room in the last one beside others.
    far: bool,
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
        let together = if once { matrices.blocks } else { matrices.together(args.len(), &target.caches, workers) };
        let far = !target.caches.keep(op.src.bytes().saturating_mul(args.len()));
        let epsilon = op.epsilon.get();
        let kernel = BatchNorm { matrices, together, matrix, flags, epsilon, forward, bits, stats, learnt, space, jit, far };
        let parameters = 4 * kernel.matrices.columns().next_multiple_of(16);
        let scratch = bytes(&[parameters, space, kernel.folded()])?;
        Ok((kernel, scratch))
    }

    /// What is done, in this order.
    fn acts(&self) -> Vec<Act> {
        let bound = match (self.bits, self.flags.fuse_relu) {
            (true, _) => Bound::Kept,
            (false, true) => Bound::Relu,
            (false, false) => Bound::None,
        };
        match self.forward {
            true => vec![Act::Sum, Act::Moments, Act::Scale(bound)],
            false => vec![Act::Products { masked: self.bits }, Act::Gradient { masked: self.bits }],
        }
    }

    /// Elements of scratch of what segments fold.
    fn folded(&self) -> usize {
        let sums = if self.forward { 3 } else { 2 };
        // No group has more than the first.
        sums * self.matrices.width * self.matrices.groups(self.together).next().map_or(0, |group| group.count * group.each)
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
        let each = group.each * width;
        let folded = tiles.work_on(folded, ctx.executor(), matrix.workers, (group.count, 3 * each), &|index, folded, space| {
            let segment = matrices.segment(group, index);
            let (rows, columns) = (&segment.rows, segment.columns().len());
            let (sums, rest) = folded.split_at_mut(each);
            let (squares, means) = rest.split_at_mut(each);
            let [sums, squares, means] = [sums, squares, means].map(|line| &mut line[..columns]);
            let mut sum = |of: &Segment, totals: &mut [f32]| {
                totals.fill(0.0);
                match code.first() {
                    Some(sum) => matrices.sweep(sum, &[src], of, &mut [totals], &[]),
                    None => matrix.each(of.rows.clone(), |rows| {
                        let x = &*matrix.read(src, &rows, space).0;
                        simd.run(Down { totals, rows: [x; 2], table: &x[..columns], map: |x, _, _| x });
                    }),
                }
            };
            let first = segment.first();
            sum(&first, means);
            sum(&segment.row(), sums);
            let count = first.count() as f32;
            means.iter_mut().zip(&*sums).for_each(|(mean, row)| *mean = center(*mean / count, *row));
            sums.fill(0.0);
            squares.fill(0.0);
            match code.get(1) {
                Some(moments) => matrices.sweep(moments, &[src], &segment, &mut [sums, squares], &[means]),
                None => matrix.each(rows.clone(), |rows| {
                    let (x, table) = (&*matrix.read(src, &rows, space).0, &*means);
                    simd.run(Down { totals: sums, rows: [x; 2], table, map: |x, _, c| x - c });
                    simd.run(Down { totals: squares, rows: [x; 2], table, map: |x, _, c| (x - c) * (x - c) });
                }),
            }
        });
        let folded = &*folded.into_slice();
        let [mean, variance] = lines.map(|line| line[group.columns(width)].chunks_mut(width));
        for (block, (mean, variance)) in group.blocks.clone().zip(mean.zip(variance)) {
            for (i, (mean, variance)) in mean.chunks_mut(COLUMNS).zip(variance.chunks_mut(COLUMNS)).enumerate() {
                simd.run(Joined { matrices, folded, group, block, first: i * COLUMNS, mean, variance });
            }
        }
        Ok(())
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
            let columns = columns.start..columns.end.min(channels);
            on.simd.run(Inverse { factor: &mut factor[columns.clone()], variance: &variance[columns], epsilon: self.epsilon });
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
            let all = [src, dst, bits];
            self.each(ctx.executor(), group, &|segment| {
                let lines = lines.map(|line| &line[segment.columns()]);
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
            for (block, first) in group.blocks.clone().flat_map(|block| (0..width).step_by(COLUMNS).map(move |first| (block, first))) {
                let c = block * width + first;
                let columns = c..(c + COLUMNS.min(width - first)).min(matrices.channels).max(c);
                let lines = [&mut factor[columns.clone()], &mut slope[columns.clone()], &mut constant[columns.clone()]];
                let (group, epsilon) = (&group, self.epsilon);
                let learnt = on.simd.run(Learnt { folded, group, block, first, width, all, epsilon, lines });
                for (values, (_, arg)) in learnt.iter().zip(outputs).filter(|o| o.1.0) {
                    ctx.buf(arg)?.write(c, &values[..columns.len()]);
                }
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
        let each = group.each * width;
        let folded = tiles.work_on(folded, ctx.executor(), workers, (group.count, 2 * each), &|index, folded, space| {
            let segment = matrices.segment(group, index);
            let (sums, products) = folded.split_at_mut(each);
            let [sums, products] = [sums, products].map(|line| &mut line[..segment.columns().len()]);
            sums.fill(0.0);
            products.fill(0.0);
            if let Some(pass) = code.first() {
                let all = [src, diff_dst, bits];
                let mean = &mean[segment.columns()];
                return matrices.sweep(pass, &all[..2 + usize::from(self.bits)], &segment, &mut [sums, products], &[mean]);
            }
            matrix.each(segment.rows, |rows| {
                let (x, rest) = matrix.read(src, &rows, space);
                let (x, dd) = (&*x, &*matrix.read(diff_dst, &rows, rest).0);
                simd.run(Down { totals: sums, rows: [dd; 2], table: mean, map: |dd, _, _| dd });
                simd.run(Down { totals: products, rows: [x, dd], table: mean, map: |x, dd, m| (x - m) * dd });
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
            let all = [src, diff_dst, diff_src, bits];
            self.each(ctx.executor(), group, &|segment| {
                let lines = lines.map(|line| &line[segment.columns()]);
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
        let get = |act: &Act| Sweep::get(isa, *act, self.matrices.elem, (self.matrices.width, self.far));
        self.acts().iter().map(get).collect()
    }

    fn run(&self, code: &Vec<Sweep>, simd: Simd, ctx: &Ctx<'_>, scratch: Scratch<'_>) -> Result<(), Error> {
        let on = On { code, simd, ctx };
        if self.forward { self.forward(on, scratch) } else { self.backward(on, scratch) }
    }
}

/// Adds `map(x, y, table)` to `totals` for every row of two slices with rows as long as `totals`, four rows at a time.
struct Down<'a, F> {
    totals: &'a mut [f32],
    rows: [&'a [f32]; 2],
    table: &'a [f32],
    map: F,
}

impl<F: Fn(f32, f32, f32) -> f32> Body for Down<'_, F> {
    type Out = ();
    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        let Down { totals, rows: [x, y], table, map } = self;
        let n = totals.len();
        let (table, four) = (&table[..n], x.len() / (4 * n) * 4 * n);
        for (x, y) in x[..four].chunks_exact(4 * n).zip(y[..four].chunks_exact(4 * n)) {
            let [x0, x1, x2, x3] = std::array::from_fn(|k| &x[k * n..][..n]);
            let [y0, y1, y2, y3] = std::array::from_fn(|k| &y[k * n..][..n]);
            for j in 0..n {
                let (a, b) = (map(x0[j], y0[j], table[j]), map(x1[j], y1[j], table[j]));
                let (c, d) = (map(x2[j], y2[j], table[j]), map(x3[j], y3[j], table[j]));
                totals[j] += (a + b) + (c + d);
            }
        }
        for (x, y) in x[four..].chunks_exact(n).zip(y[four..].chunks_exact(n)) {
            for j in 0..n {
                totals[j] += map(x[j], y[j], table[j]);
            }
        }
    }
}

/// What a column's deviations are taken from: its mean, but for the last bits of the distance from an element, `row`.
fn center(mean: f32, row: f32) -> f32 {
    // Sign, exponent, and three bits behind the leading one.
    const FIRST: u32 = 0xfff0_0000;
    let center = row + f32::from_bits((mean - row).to_bits() & FIRST);
    // Nothing is at a distance from infinity.
    if center.is_finite() { center } else { 0.0 }
}

/// Puts together what segments have folded: mean and variance of some columns of a block of a group, from one on.
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
            // Rounding must not make it negative; NaN stays.
            let v = (square / all) as f32;
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

/// What the gradients of some columns of a block of a group need, from one on: `lines` are `factor`, `slope`, which is the variance before, and
/// `constant` of [`Backward`], of as many columns as exist. Gives the gradients of scale and shift.
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

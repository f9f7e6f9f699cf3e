//! A product as loops: what every loop adds to the positions of its operands.

use crate::kernels::doubles::{COLUMNS, ROWS};
use oxidnn_reference::View;
use oxidnn_runtime::Skip;
use oxidnn_spec::op::ConvSizes;
use oxidnn_spec::{Arg, Dims, MAX_NDIMS, Op, Problem, Prop};
use std::ops::Range;

/// A problem as sums of products: `dst[batch][row][column] = sum over parts and depths of a * b`, with loops for each of these five.
#[derive(Debug)]
pub(super) struct Shape {
    /// `a`, `b` and the destination.
    pub(super) args: [Arg; 3],
    /// Whether the bias has the dimensions of the destination.
    pub(super) is_matmul: bool,
    loops: [Vec<Loop>; 5],
    /// By dimension of `a`: a position is `(start + steps) / divisor`, and there is no product where that is no whole number, or outside.
    start: [i64; MAX_NDIMS],
    divisor: [i64; MAX_NDIMS],
    /// Masks of the dimensions of `a` and `b` along which depths step.
    deep: [u32; 2],
}

/// A loop: its size, and its dimension and step in `a`, `b` and the destination.
#[derive(Debug)]
struct Loop(i64, [Option<(usize, i64)>; 3]);

/// The loops of a shape.
pub(super) const BATCH: usize = 0;
/// Parts of a sum whose rows differ: taps of a window.
pub(super) const PART: usize = 1;
/// Rows of `a` and of the destination.
pub(super) const ROW: usize = 2;
/// Columns of `b` and of the destination.
pub(super) const COLUMN: usize = 3;
/// Products of a part.
pub(super) const DEPTH: usize = 4;

/// The operands.
pub(super) const A: usize = 0;
pub(super) const B: usize = 1;
pub(super) const DST: usize = 2;

/// A step of one along a dimension.
const fn by(dim: usize) -> Option<(usize, i64)> {
    Some((dim, 1))
}

impl Shape {
    /// The loops of a resolved problem.
    pub(super) fn of(problem: &Problem) -> Result<Shape, Skip> {
        let forward = problem.op.prop().is_none_or(|p| p.is_forward());
        let args = match (problem.op.prop(), matches!(problem.op, Op::Conv(_))) {
            (Some(Prop::BackwardData), _) => [Arg::DIFF_DST, Arg::WEIGHTS, Arg::DIFF_SRC],
            (Some(Prop::BackwardWeights), true) => [Arg::SRC, Arg::DIFF_DST, Arg::DIFF_WEIGHTS],
            (Some(Prop::BackwardWeights), false) => [Arg::DIFF_DST, Arg::SRC, Arg::DIFF_WEIGHTS],
            _ => [Arg::SRC, Arg::WEIGHTS, Arg::DST],
        };
        let mut shape = Shape {
            args,
            is_matmul: matches!(problem.op, Op::Matmul(_)),
            loops: Default::default(),
            start: [0; MAX_NDIMS],
            divisor: [1; MAX_NDIMS],
            deep: [0; 2],
        };
        let ndims = |arg: Arg| problem.op.tensor(arg).map_or(0, |t| t.dims().len());
        match &problem.op {
            Op::Conv(op) => shape.windows(&op.sizes(), [true, forward, op.weights.dims().len() > op.src.dims().len()], op.src.dims().len()),
            Op::Deconv(op) => {
                shape.windows(&op.sizes(), [false, forward, op.weights.dims().len() > op.src.dims().len()], op.src.dims().len());
            }
            Op::Matmul(_) | Op::InnerProduct(_) => shape.matrices(problem, ndims(args[0]).max(ndims(args[1]))),
            _ => return Err(Skip::Op("anything but products")),
        }
        for Loop(_, steps) in &shape.loops[DEPTH] {
            for (deep, step) in shape.deep.iter_mut().zip(steps) {
                *deep |= step.map_or(0, |(d, _)| 1 << d);
            }
        }
        Ok(shape)
    }

    fn add(&mut self, group: usize, size: i64, steps: [Option<(usize, i64)>; 3]) {
        self.loops[group].push(Loop(size, steps));
    }

    /// Loops of a matmul, or of an inner product, over tensors of up to `n` dimensions.
    fn matrices(&mut self, problem: &Problem, n: usize) {
        let dims = |operand: usize| problem.op.tensor(self.args[operand]).map_or(Dims::default(), |t| *t.dims());
        let (a, b, dst) = (dims(A), dims(B), dims(DST));
        if self.is_matmul {
            for d in 0..n - 2 {
                let step = |dims: &Dims| by(d).filter(|_| dims[d] != 1);
                self.add(BATCH, dst[d], [step(&a), step(&b), by(d)]);
            }
            self.add(ROW, a[n - 2], [by(n - 2), None, by(n - 2)]);
            self.add(COLUMN, b[n - 1], [None, by(n - 1), by(n - 1)]);
            return self.add(DEPTH, a[n - 1], [by(n - 1), by(n - 2), None]);
        }
        match self.args[DST] {
            Arg::DST => {
                self.add(ROW, a[0], [by(0), None, by(0)]);
                self.add(COLUMN, b[0], [None, by(0), by(1)]);
                (1..n).for_each(|d| self.add(DEPTH, a[d], [by(d), by(d), None]));
            }
            gradient => {
                // Of the source, by the gradient's rows and the columns of the weights; or of the weights, by the same transposed.
                let (row, depth) = if gradient == Arg::DIFF_SRC { (0, 1) } else { (1, 0) };
                self.add(ROW, a[row], [by(row), None, by(0)]);
                (1..n).for_each(|d| self.add(COLUMN, b[d], [None, by(d), by(d)]));
                self.add(DEPTH, a[depth], [by(depth), by(0), None]);
            }
        }
    }

    /// Loops of a convolution, or of a deconvolution, whose tensors have `n` dimensions. A window relates pixels of a small grid to those of
    /// a large one: `large = small * stride - padding + tap * dilation`. A convolution reads the large grid, a deconvolution the small one.
    fn windows(&mut self, z: &ConvSizes, [convolution, forward, grouped]: [bool; 3], n: usize) {
        let (first, of_weights) = (usize::from(grouped), self.args[DST] == Arg::DIFF_WEIGHTS);
        let group = |dim: usize| by(dim).filter(|_| grouped);
        // The spatial dimensions: the index among the sizes, the dimension of images, and that of weights.
        let spatial = || (2..n).map(|d| (d + 3 - n, d, first + d));
        let (small, large) = if convolution { (z.o, z.i) } else { (z.i, z.o) };
        if of_weights {
            let (rows, columns) = if convolution { (z.ic, z.oc) } else { (z.oc, z.ic) };
            self.add(BATCH, z.g, [Some((1, rows)), Some((1, columns)), group(0)]);
            self.add(ROW, rows, [by(1), None, by(first + usize::from(convolution))]);
            self.add(COLUMN, columns, [None, by(1), by(first + usize::from(!convolution))]);
            self.add(DEPTH, z.mb, [by(0), by(0), None]);
            for (i, image, weight) in spatial() {
                self.start[image] = -z.pl[i];
                self.add(BATCH, z.k[i], [Some((image, z.d[i])), None, by(weight)]);
                self.add(DEPTH, small[i], [Some((image, z.s[i])), by(image), None]);
            }
            return;
        }
        let ([result, given], reads_large) = (if forward { [z.oc, z.ic] } else { [z.ic, z.oc] }, forward == convolution);
        self.add(BATCH, z.g, [Some((1, given)), group(0), Some((1, result))]);
        self.add(ROW, z.mb, [by(0), None, by(0)]);
        self.add(COLUMN, result, [None, by(first + usize::from(!forward)), by(1)]);
        self.add(DEPTH, given, [by(1), by(first + usize::from(forward)), None]);
        for (i, image, weight) in spatial() {
            let (size, start, divisor, pixel, tap) =
                if reads_large { (small[i], -z.pl[i], 1, z.s[i], z.d[i]) } else { (large[i], z.pl[i], z.s[i], 1, -z.d[i]) };
            (self.start[image], self.divisor[image]) = (start, divisor);
            self.add(PART, z.k[i], [Some((image, tap)), by(weight), None]);
            self.add(ROW, size, [Some((image, pixel)), None, by(image)]);
        }
    }

    /// Number of indices of some loops.
    pub(super) fn count(&self, group: usize) -> usize {
        self.loops[group].iter().map(|l| l.0 as usize).product()
    }

    /// Number of blocks.
    pub(super) fn tasks(&self) -> usize {
        self.count(BATCH) * self.count(ROW).div_ceil(ROWS) * self.count(COLUMN).div_ceil(COLUMNS)
    }

    /// The batch of a block, its rows and its columns.
    pub(super) fn place(&self, task: usize) -> (usize, Range<usize>, Range<usize>) {
        let (all_rows, all_columns) = (self.count(ROW), self.count(COLUMN));
        let [rows, columns] = [all_rows.div_ceil(ROWS), all_columns.div_ceil(COLUMNS)];
        let (m, n, batch) = (task % rows * ROWS, task / rows % columns * COLUMNS, task / rows / columns);
        (batch, m..all_rows.min(m + ROWS), n..all_columns.min(n + COLUMNS))
    }

    /// What indices of some loops add to the position of an operand.
    pub(super) fn position(&self, operand: usize, indices: &[(usize, usize)]) -> [i64; MAX_NDIMS] {
        let mut pos = [0; MAX_NDIMS];
        for (group, index) in indices {
            let mut rest = *index;
            for Loop(size, steps) in self.loops[*group].iter().rev() {
                let size = (*size).max(1) as usize;
                if let Some((d, step)) = steps[operand] {
                    pos[d] += (rest % size) as i64 * step;
                }
                rest /= size;
            }
        }
        pos
    }

    /// What indices of some loops add to an offset in `a` or `b`, along the dimensions on which depths step or along the others; `None`
    /// where there is no product.
    pub(super) fn offset(&self, view: &View<'_>, operand: usize, deep: bool, indices: &[(usize, usize)]) -> Option<i64> {
        let (pos, mut sum) = (self.position(operand, indices), 0);
        for d in (0..view.dims().len()).filter(|d| (self.deep[operand] >> d & 1 == 1) == deep) {
            let (p, divisor) = if operand == A { (self.start[d] + pos[d], self.divisor[d]) } else { (pos[d], 1) };
            if p < 0 || p % divisor != 0 || p / divisor >= view.dims()[d] {
                return None;
            }
            sum += view.dim(d, p / divisor);
        }
        Some(sum)
    }
}

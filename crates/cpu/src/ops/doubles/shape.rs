//! Which elements of the operands meet in which product: matrices, and windows over grids of pixels.

use crate::kernels::doubles::{COLUMNS, ROWS};
use crate::ops::fallback;
use oxidnn_reference::View;
use oxidnn_runtime::{Buf, Skip};
use oxidnn_spec::op::ConvSizes;
use oxidnn_spec::{Arg, DataType, Dims, Error, MAX_NDIMS, Op, Problem, Prop};
use std::ops::Range;

/// A problem as sums of products: `dst[batch][row][column] = sum over parts and depths of a * b`.
#[derive(Debug)]
pub(super) struct Shape {
    /// `a`, `b` and the destination.
    pub(super) args: [Arg; 3],
    /// Parts of a sum: taps of a window whose rows differ, or one.
    pub(super) parts: usize,
    /// Products of a part.
    pub(super) depth: usize,
    /// Columns of a batch.
    pub(super) columns: usize,
    /// Whether the bias has the dimensions of the destination.
    pub(super) is_matmul: bool,
    rows: usize,
    batches: usize,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// Matmul and inner product: sizes of the batch dimensions; the dimensions that make the rows of `a` and its depth, the columns of `b` and
    /// its depth, and the rows and columns of the destination.
    Matrices { leading: Dims, a: [Range<usize>; 2], b: [Range<usize>; 2], dst: [Range<usize>; 2] },
    /// Convolution or its gradient of data: results on one grid of pixels from data on the other. One batch per group, one row per pixel, one
    /// part per tap.
    Data { grids: Grids, forward: bool },
    /// Gradients of weights: one batch per group and tap, one row per channel on the large grid, one column per channel on the small one.
    Weights { grids: Grids },
}

/// A window relates pixels of a small grid to those of a large one: `large = small * stride - padding + tap * dilation`. A convolution reads
/// the large grid, a deconvolution the small one.
#[derive(Debug)]
struct Grids {
    sizes: ConvSizes,
    small: [i64; 3],
    large: [i64; 3],
    /// The source is on the large grid.
    convolution: bool,
    /// Spatial dimensions of the tensors.
    spatial: usize,
}

impl Grids {
    /// The grid of the results of data, forward or of its gradient.
    fn of_result(&self, forward: bool) -> [i64; 3] {
        if self.reads_large(forward) { self.small } else { self.large }
    }

    /// Whether data on the large grid is read.
    fn reads_large(&self, forward: bool) -> bool {
        forward == self.convolution
    }

    /// The group and tap of a batch of gradients of weights.
    fn tap(&self, batch: usize) -> [i64; 4] {
        let [d, h, w] = self.sizes.k;
        digits(batch, [self.sizes.g, d, h, w])
    }

    /// The pixel of the large grid that tap `k` relates to `small`.
    fn to_large(&self, small: [i64; 3], k: [i64; 3]) -> Option<[i64; 3]> {
        let z = &self.sizes;
        let large: [i64; 3] = std::array::from_fn(|d| small[d] * z.s[d] - z.pl[d] + k[d] * z.d[d]);
        large.iter().zip(self.large).all(|(p, size)| (0..size).contains(p)).then_some(large)
    }

    /// The pixel of the small grid that tap `k` relates to `large`.
    fn to_small(&self, large: [i64; 3], k: [i64; 3]) -> Option<[i64; 3]> {
        let z = &self.sizes;
        let scaled: [i64; 3] = std::array::from_fn(|d| large[d] + z.pl[d] - k[d] * z.d[d]);
        let met = (0..3).all(|d| scaled[d] >= 0 && scaled[d] % z.s[d] == 0 && scaled[d] / z.s[d] < self.small[d]);
        met.then(|| std::array::from_fn(|d| scaled[d] / z.s[d]))
    }
}

/// The coordinates of element `number` of a row-major array of `sizes`.
fn digits<const N: usize>(mut number: usize, sizes: [i64; N]) -> [i64; N] {
    let mut digits = [0; N];
    for (digit, size) in digits.iter_mut().zip(sizes).rev() {
        let size = size.max(1) as usize;
        (*digit, number) = ((number % size) as i64, number / size);
    }
    digits
}

/// The product of sizes.
fn count(sizes: &[i64]) -> usize {
    sizes.iter().map(|size| *size as usize).product()
}

/// Sets the coordinates of dimensions `range` of `dims` to those of index `index`.
fn place(pos: &mut [i64; MAX_NDIMS], dims: &Dims, range: Range<usize>, mut index: usize) {
    for d in range.rev() {
        let size = dims[d].max(1) as usize;
        (pos[d], index) = ((index % size) as i64, index / size);
    }
}

/// What index `index` of dimensions `range` adds to an offset.
fn term(view: &View<'_>, range: &Range<usize>, mut index: usize) -> i64 {
    let mut sum = 0;
    for d in range.clone().rev() {
        let size = view.dims()[d].max(1) as usize;
        (sum, index) = (sum + view.dim(d, (index % size) as i64), index / size);
    }
    sum
}

/// What a batch adds to an offset in `view`, whose leading dimensions of size 1 are repeated.
fn repeated(view: &View<'_>, leading: &Dims, mut batch: usize) -> i64 {
    let mut sum = 0;
    for (d, size) in leading.iter().enumerate().rev() {
        let size = (*size).max(1) as usize;
        (sum, batch) = (sum + view.dim(d, (batch % size) as i64), batch / size);
    }
    sum
}

/// What pixel `p` adds to an offset, where spatial dimensions begin with `first`.
fn spatial(view: &View<'_>, first: usize, p: [i64; 3]) -> i64 {
    let dims = view.dims().len() - first;
    (0..dims).map(|d| view.dim(first + d, p[3 - dims + d])).sum()
}

impl Shape {
    /// The sums of a resolved problem.
    pub(super) fn of(problem: &Problem) -> Result<Shape, Skip> {
        let (sizes, convolution, spatial) = match &problem.op {
            Op::Conv(op) => (op.sizes(), true, op.src.dims().len() - 2),
            Op::Deconv(op) => (op.sizes(), false, op.src.dims().len() - 2),
            _ => return Shape::matrices(problem),
        };
        let (small, large) = if convolution { (sizes.o, sizes.i) } else { (sizes.i, sizes.o) };
        let (z, grids) = (sizes, Grids { sizes, small, large, convolution, spatial });
        let taps = count(&z.k);
        if problem.op.prop() == Some(Prop::BackwardWeights) {
            let ([a, b], [rows, columns]) =
                if convolution { ([Arg::SRC, Arg::DIFF_DST], [z.ic, z.oc]) } else { ([Arg::DIFF_DST, Arg::SRC], [z.oc, z.ic]) };
            return Ok(Shape {
                args: [a, b, Arg::DIFF_WEIGHTS],
                parts: 1,
                depth: count(&[z.mb]) * count(&small),
                columns: columns as usize,
                is_matmul: false,
                rows: rows as usize,
                batches: count(&[z.g]) * taps,
                kind: Kind::Weights { grids },
            });
        }
        let forward = problem.op.prop() != Some(Prop::BackwardData);
        let (result, given) = if forward { (z.oc, z.ic) } else { (z.ic, z.oc) };
        let grid = grids.of_result(forward);
        Ok(Shape {
            args: if forward { [Arg::SRC, Arg::WEIGHTS, Arg::DST] } else { [Arg::DIFF_DST, Arg::WEIGHTS, Arg::DIFF_SRC] },
            parts: taps,
            depth: given as usize,
            columns: result as usize,
            is_matmul: false,
            rows: count(&[z.mb]) * count(&grid),
            batches: z.g as usize,
            kind: Kind::Data { grids, forward },
        })
    }

    /// Those of a matmul or an inner product.
    fn matrices(problem: &Problem) -> Result<Shape, Skip> {
        let is_matmul = matches!(problem.op, Op::Matmul(_));
        let (args, ndims) = match (&problem.op, problem.op.prop()) {
            (Op::Matmul(op), _) => ([Arg::SRC, Arg::WEIGHTS, Arg::DST], op.dst.dims().len()),
            (Op::InnerProduct(op), Some(Prop::BackwardData)) => ([Arg::DIFF_DST, Arg::WEIGHTS, Arg::DIFF_SRC], op.src.dims().len()),
            (Op::InnerProduct(op), Some(Prop::BackwardWeights)) => ([Arg::DIFF_DST, Arg::SRC, Arg::DIFF_WEIGHTS], op.src.dims().len()),
            (Op::InnerProduct(op), _) => ([Arg::SRC, Arg::WEIGHTS, Arg::DST], op.src.dims().len()),
            _ => return Err(Skip::Op("anything but products")),
        };
        let (first, inner) = (0..1, 1..ndims);
        let batch = if is_matmul { ndims - 2 } else { 0 };
        let (row, column) = (batch..batch + 1, batch + 1..batch + 2);
        let [a, b, dst] = match args {
            _ if is_matmul => [[row.clone(), column.clone()], [column.clone(), row.clone()], [row, column]],
            [_, _, Arg::DIFF_SRC] => [[first.clone(), 1..2], [inner.clone(), first.clone()], [first, inner]],
            [_, _, Arg::DIFF_WEIGHTS] => [[1..2, first.clone()], [inner.clone(), first.clone()], [first, inner]],
            _ => [[first.clone(), inner.clone()], [first.clone(), inner], [first, 1..2]],
        };
        let sizes = |arg: Arg, range: &Range<usize>| problem.op.tensor(arg).map_or(0, |t| count(&t.dims()[range.clone()]));
        let leading = problem.op.tensor(args[2]).map_or(Dims::filled(0, 0), |t| Dims::from_fn(batch, |d| t.dims()[d]));
        Ok(Shape {
            parts: 1,
            depth: sizes(args[0], &a[1]),
            columns: sizes(args[2], &dst[1]),
            is_matmul,
            rows: sizes(args[2], &dst[0]),
            batches: count(&leading),
            args,
            kind: Kind::Matrices { leading, a, b, dst },
        })
    }

    /// Number of blocks.
    pub(super) fn tasks(&self) -> usize {
        self.batches * self.rows.div_ceil(ROWS) * self.columns.div_ceil(COLUMNS)
    }

    /// The batch of a block, its rows and its columns.
    pub(super) fn place(&self, task: usize) -> (usize, Range<usize>, Range<usize>) {
        let [rows, columns] = [self.rows.div_ceil(ROWS), self.columns.div_ceil(COLUMNS)];
        let (m, n, batch) = (task % rows * ROWS, task / rows % columns * COLUMNS, task / rows / columns);
        (batch, m..self.rows.min(m + ROWS), n..self.columns.min(n + COLUMNS))
    }

    /// The coordinates of a result that its row decides, the others 0, in a destination of `dims`.
    pub(super) fn row(&self, dims: &Dims, batch: usize, m: usize) -> [i64; MAX_NDIMS] {
        let mut pos = [0; MAX_NDIMS];
        match &self.kind {
            Kind::Matrices { leading, dst: [rows, _], .. } => {
                place(&mut pos, dims, 0..leading.len(), batch);
                place(&mut pos, dims, rows.clone(), m);
            }
            Kind::Data { grids, forward } => {
                let (z, [d, h, w]) = (&grids.sizes, grids.of_result(*forward));
                let [image, p @ ..] = digits(m, [z.mb, d, h, w]);
                pos[0] = image;
                pos[2..dims.len()].copy_from_slice(&p[3 - grids.spatial..]);
            }
            Kind::Weights { grids } => {
                let [g, k @ ..] = grids.tap(batch);
                let first = dims.len() - 2 - grids.spatial;
                pos[0] = if first > 0 { g } else { 0 };
                pos[first + usize::from(grids.convolution)] = m as i64;
                pos[first + 2..dims.len()].copy_from_slice(&k[3 - grids.spatial..]);
            }
        }
        pos
    }

    /// The coordinates that its column decides, the others 0.
    pub(super) fn column(&self, dims: &Dims, batch: usize, n: usize) -> [i64; MAX_NDIMS] {
        let mut pos = [0; MAX_NDIMS];
        match &self.kind {
            Kind::Matrices { dst: [_, columns], .. } => place(&mut pos, dims, columns.clone(), n),
            Kind::Data { .. } => pos[1] = (batch * self.columns + n) as i64,
            Kind::Weights { grids } => pos[dims.len() - 2 - grids.spatial + usize::from(!grids.convolution)] = n as i64,
        }
        pos
    }
}

/// The operands of a task.
pub(super) struct Operands<'a> {
    pub(super) shape: &'a Shape,
    pub(super) a: Operand<'a>,
    pub(super) b: Operand<'a>,
}

/// An operand, and its memory where its elements are `f64`.
#[derive(Clone, Copy)]
pub(super) struct Operand<'a> {
    view: View<'a>,
    numbers: Option<Buf<'a>>,
}

impl<'a> Operand<'a> {
    /// The argument `arg`.
    pub(super) fn of(args: &'a fallback::Arguments<'a>, arg: Arg) -> Result<Operand<'a>, Error> {
        let view = View::of(args, arg)?;
        let numbers = if view.dtype() == DataType::F64 { Some(args.0.buf(arg)?) } else { None };
        Ok(Operand { view, numbers })
    }

    /// The element at an offset.
    #[inline(always)]
    pub(super) fn load(&self, offset: i64) -> f64 {
        match self.numbers {
            Some(numbers) => numbers.get(offset as usize),
            None => self.view.load(offset),
        }
    }
}

impl Operands<'_> {
    /// Where the elements of a row of `a` begin; `None` where a part does not meet the row.
    pub(super) fn row(&self, batch: usize, part: usize, m: usize) -> Option<i64> {
        let a = &self.a.view;
        Some(
            a.origin()
                + match &self.shape.kind {
                    Kind::Matrices { leading, a: [rows, _], .. } => repeated(a, leading, batch) + term(a, rows, m),
                    Kind::Data { grids, forward } => {
                        let (z, [d, h, w]) = (&grids.sizes, grids.of_result(*forward));
                        let ([image, p @ ..], k) = (digits(m, [z.mb, d, h, w]), digits(part, z.k));
                        let met = if grids.reads_large(*forward) { grids.to_large(p, k) } else { grids.to_small(p, k) };
                        a.dim(0, image) + spatial(a, 2, met?)
                    }
                    Kind::Weights { grids } => a.dim(1, grids.tap(batch)[0] * self.shape.rows as i64 + m as i64),
                },
        )
    }

    /// Where the elements of a column of `b` begin.
    pub(super) fn column(&self, batch: usize, part: usize, n: usize) -> i64 {
        let b = &self.b.view;
        b.origin()
            + match &self.shape.kind {
                Kind::Matrices { leading, b: [columns, _], .. } => repeated(b, leading, batch) + term(b, columns, n),
                Kind::Data { grids, forward } => {
                    let first = b.dims().len() - 2 - grids.spatial;
                    let group = if first > 0 { b.dim(0, batch as i64) } else { 0 };
                    group + b.dim(first + usize::from(!forward), n as i64) + spatial(b, first + 2, digits(part, grids.sizes.k))
                }
                Kind::Weights { grids } => b.dim(1, grids.tap(batch)[0] * self.shape.columns as i64 + n as i64),
            }
    }

    /// What a depth adds to both; `None` where the tap of a batch does not meet it.
    pub(super) fn depth(&self, batch: usize, k: usize) -> Option<[i64; 2]> {
        let (a, b) = (&self.a.view, &self.b.view);
        Some(match &self.shape.kind {
            Kind::Matrices { a: [_, of_a], b: [_, of_b], .. } => [term(a, of_a, k), term(b, of_b, k)],
            Kind::Data { grids, forward } => {
                let first = b.dims().len() - 2 - grids.spatial;
                [a.dim(1, (batch * self.shape.depth + k) as i64), b.dim(first + usize::from(*forward), k as i64)]
            }
            Kind::Weights { grids } => {
                let (z, [_, tap @ ..], [d, h, w]) = (&grids.sizes, grids.tap(batch), grids.small);
                let [image, p @ ..] = digits(k, [z.mb, d, h, w]);
                let met = grids.to_large(p, tap)?;
                [a.dim(0, image) + spatial(a, 2, met), b.dim(0, image) + spatial(b, 2, p)]
            }
        })
    }
}

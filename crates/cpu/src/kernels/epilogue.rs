//! What happens to accumulated sums on their way to the destination: scales, bias, post-ops, the destination's scale and zero point,
//! conversion.
//!
//! Results come as blocks of rows in scratch; a row is a run of elements along one dimension of the destination, and consecutive rows are
//! neighbours along another one ([`Run`]). Everything is done row by row, in vectors; the block is then stored along whichever of the two
//! dimensions is contiguous in memory.

use super::access::{Pos, View};
use super::broadcast::Broadcast;
use super::multiversion::{Body, Simd};
use oxidnn_expr::{Lane, binary, lane};
use oxidnn_runtime::{Ctx, Skip};
use oxidnn_spec::op::{BinaryAlg, EltwiseAlg};
use oxidnn_spec::{Arg, Attr, DataType, Error, PostOp, QuantMode, Rounding, Tensor};

/// Columns that are processed at a time.
const CHUNK: usize = 128;

/// Consecutive rows of a block: `count` positions from `pos` on, `step` apart along dimension `dim`.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// Position of the first row's first element.
    pub pos: Pos,
    /// The dimension that the rows follow.
    pub dim: usize,
    /// Distance of two rows along it.
    pub step: i64,
    /// Number of rows.
    pub count: usize,
}

/// A block of sums.
#[derive(Debug)]
pub struct Sums<'s> {
    /// The elements.
    pub data: &'s mut [f32],
    /// The same as 32-bit integers (in the bits), where `data` cannot hold them: then `data` is not read.
    pub exact: Option<&'s mut [f32]>,
    /// Distance of two rows.
    pub step: usize,
    /// Number of columns that belong to the result.
    pub columns: usize,
    /// The dimension that the columns follow.
    pub dim: usize,
}

#[derive(Clone, Copy, Debug)]
#[allow(clippy::large_enum_variant, reason = "lies in an array on the stack: executions allocate nothing")]
enum Step<'a> {
    Sum { scale: f32, zero_point: f32, dtype: DataType },
    Eltwise { alg: EltwiseAlg, alpha: f32, beta: f32 },
    Binary { alg: BinaryAlg, src1: Broadcast<'a>, src2: Option<Broadcast<'a>> },
    Prelu(Broadcast<'a>),
}

/// The tail of a primitive, bound to its arguments. Operands of post-ops are looked up where they are used: a table of them all would take more
/// time to make than a small product.
#[derive(Clone, Copy, Debug)]
pub struct Epilogue<'a> {
    ctx: Ctx<'a>,
    dst: View<'a>,
    factors: [Broadcast<'a>; 2],
    bias: Option<Broadcast<'a>>,
    post_ops: &'a [PostOp],
    scale: Broadcast<'a>,
    zero_point: Broadcast<'a>,
    plain: bool,
}

/// Whether [`Epilogue`] does all that the attributes ask for.
///
/// # Errors
/// The attribute that it does not do.
pub fn check(attr: &Attr, dst: &Tensor) -> Result<(), Skip> {
    let no = |what: &str| Err(Skip::Attr(what.into()));
    if dst.dtype.bits() == 4 || dst.dtype == DataType::F64 {
        return Err(Skip::DataType(format!("{} as destination", dst.dtype)));
    }
    if attr.dropout.is_some() {
        return no("dropout");
    }
    if attr.rounding.values().any(|r| *r == Rounding::Stochastic) {
        return no("stochastic rounding");
    }
    if attr.scales.values().any(|q| q.mode != QuantMode::Static) {
        return no("scales computed by the library");
    }
    if attr.depthwise_index().is_some() {
        return no("a depthwise post-op");
    }
    Ok(())
}

impl<'a> Epilogue<'a> {
    /// The tail for the destination passed as `arg`. `factors` are the scales of the sources by positions of the destination; attributes of
    /// the destination apply to [`Arg::DST`] only.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] when an argument is missing.
    pub fn new(
        (simd, ctx): (Simd, &Ctx<'a>),
        attr: &'a Attr,
        arg: Arg,
        factors: [Broadcast<'a>; 2],
        bias: Option<Broadcast<'a>>,
    ) -> Result<Epilogue<'a>, Error> {
        let dst = View::of(simd, ctx, arg)?;
        let mut tail = Epilogue {
            ctx: *ctx,
            dst,
            factors,
            bias,
            post_ops: &[],
            scale: Broadcast::constant(1.0),
            zero_point: Broadcast::constant(0.0),
            plain: false,
        };
        if arg == Arg::DST {
            tail.post_ops = &attr.post_ops;
            for (i, op) in attr.post_ops.iter().enumerate() {
                Step::new((simd, ctx), i, op, dst.dtype())?;
            }
            tail.scale = Broadcast::scale(simd, ctx, attr, arg, dst.dims())?;
            tail.zero_point = Broadcast::zero_point(simd, ctx, attr, arg, dst.dims())?;
        }
        tail.plain = tail.factors.iter().chain([&tail.scale]).all(|f| f.is_constant(1.0))
            && tail.bias.is_none()
            && tail.post_ops.is_empty()
            && tail.zero_point.is_constant(0.0);
        Ok(tail)
    }

    /// The destination.
    pub fn dst(&self) -> &View<'a> {
        &self.dst
    }

    /// True when sums go to the destination as they are.
    pub fn is_plain(&self) -> bool {
        self.plain
    }

    /// Finishes a block whose rows are those of `runs` in order, and stores it.
    pub fn store(&self, sums: Sums<'_>, runs: impl Iterator<Item = Run>) {
        let Sums { data, exact, step, columns, dim } = sums;
        if let Some(exact) = exact {
            let whole: &[i32] = bytemuck::cast_slice(exact);
            if self.plain && self.dst.dtype() == DataType::S32 {
                return self.store_whole(whole, step, (columns, dim), runs);
            }
            data.iter_mut().zip(whole).for_each(|(x, w)| *x = *w as f32);
        }
        let along_columns = self.stride(dim) <= 1;
        let mut first = 0;
        for run in runs {
            let rows = &mut data[first * step..];
            for i in 0..run.count {
                let mut pos = run.pos;
                pos[run.dim] += run.step * i as i64;
                let row = &mut rows[i * step..][..columns];
                if !self.plain {
                    self.row(&pos, dim, row);
                }
                if along_columns {
                    self.dst.write(&pos, dim, row);
                }
            }
            if !along_columns {
                self.store_across(rows, step, columns, dim, &run);
            }
            first += run.count;
        }
    }

    /// Stores sums that are integers as they are.
    fn store_whole(&self, sums: &[i32], step: usize, (columns, dim): (usize, usize), runs: impl Iterator<Item = Run>) {
        let mut first = 0;
        for run in runs {
            for i in 0..run.count {
                let mut pos = run.pos;
                pos[run.dim] += run.step * i as i64;
                self.dst.write_whole(&pos, dim, &sums[(first + i) * step..][..columns]);
            }
            first += run.count;
        }
    }

    /// Distance of neighbours along `dim` in memory, inside a block where the dimension is blocked.
    fn stride(&self, dim: usize) -> i64 {
        let blocking = self.dst.blocking();
        match blocking.inner.iter().enumerate().rfind(|(_, b)| b.0 == dim) {
            Some((i, _)) => blocking.inner.iter().skip(i + 1).map(|b| b.1).product(),
            None => blocking.strides[dim],
        }
    }

    /// Stores a run column by column.
    fn store_across(&self, rows: &[f32], step: usize, columns: usize, dim: usize, run: &Run) {
        let mut line = [0.0; CHUNK];
        for j in 0..columns {
            for start in (0..run.count).step_by(CHUNK) {
                let line = &mut line[..(run.count - start).min(CHUNK)];
                for (i, x) in line.iter_mut().enumerate() {
                    *x = rows[(start + i) * step + j];
                }
                let mut pos = run.pos;
                pos[dim] += j as i64;
                pos[run.dim] += run.step * start as i64;
                if run.step == 1 {
                    self.dst.write(&pos, run.dim, line);
                    continue;
                }
                for x in line.iter() {
                    self.dst.write(&pos, run.dim, std::slice::from_ref(x));
                    pos[run.dim] += run.step;
                }
            }
        }
    }

    /// Takes the sums from `pos` on along `dim` through everything but the conversion.
    pub fn row(&self, pos: &Pos, dim: usize, row: &mut [f32]) {
        let (mut pos, mut buffers) = (*pos, [[0.0; CHUNK]; 2]);
        for x in row.chunks_mut(CHUNK) {
            let [line, other] = &mut buffers;
            let (line, other) = (&mut line[..x.len()], &mut other[..x.len()]);
            for factor in self.factors.iter().filter(|f| !f.is_constant(1.0)) {
                factor.line(&pos, dim, line);
                zip(x, line, |x, f| x * f);
            }
            if let Some(bias) = &self.bias {
                bias.line(&pos, dim, line);
                zip(x, line, |x, b| x + b);
            }
            for (i, op) in self.post_ops.iter().enumerate() {
                // Every operand was there when the tail was made.
                if let Ok(step) = Step::new((self.dst.simd(), &self.ctx), i, op, self.dst.dtype()) {
                    self.step(&step, (&pos, dim), x, line, other);
                }
            }
            if !self.scale.is_constant(1.0) {
                self.scale.line(&pos, dim, line);
                zip(x, line, |x, s| x / s);
            }
            if !self.zero_point.is_constant(0.0) {
                self.zero_point.line(&pos, dim, line);
                zip(x, line, |x, z| x + z);
            }
            pos[dim] += x.len() as i64;
        }
    }

    fn step(&self, step: &Step<'a>, (pos, dim): (&Pos, usize), x: &mut [f32], line: &mut [f32], other: &mut [f32]) {
        match step {
            Step::Sum { scale, zero_point, dtype } => {
                self.dst.reinterpret(*dtype).read(pos, dim, line);
                zip(x, line, |x, old| x + scale * (old - zero_point));
            }
            Step::Eltwise { alg, alpha, beta } => self.dst.simd().run(EltwiseRow { alg: *alg, alpha: *alpha, beta: *beta, x }),
            Step::Binary { alg, src1, src2 } => {
                src1.line(pos, dim, line);
                match src2 {
                    Some(src2) => src2.line(pos, dim, other),
                    None => other.fill(0.0),
                }
                self.dst.simd().run(BinaryRow { alg: *alg, x, src1: line, src2: other });
            }
            Step::Prelu(weights) => {
                weights.line(pos, dim, line);
                zip(x, line, |x, w| if x > 0.0 { x } else { x * w });
            }
        }
    }
}

#[inline(always)]
fn zip(x: &mut [f32], y: &[f32], f: impl Fn(f32, f32) -> f32) {
    for (x, y) in x.iter_mut().zip(y) {
        *x = f(*x, *y);
    }
}

impl<'a> Step<'a> {
    fn new((simd, ctx): (Simd, &Ctx<'a>), i: usize, op: &PostOp, dst: DataType) -> Result<Step<'a>, Error> {
        let operand = |of: Arg| -> Result<Broadcast<'a>, Error> { Ok(Broadcast::tensor(View::of(simd, ctx, Arg::post_op(i, of))?)) };
        Ok(match op {
            PostOp::Sum { scale, zero_point, dtype } => {
                Step::Sum { scale: scale.get(), zero_point: *zero_point as f32, dtype: dtype.unwrap_or(dst) }
            }
            PostOp::Eltwise { alg, alpha, beta } => Step::Eltwise { alg: *alg, alpha: alpha.get(), beta: beta.get() },
            PostOp::Binary { alg, src2, .. } => {
                Step::Binary { alg: *alg, src1: operand(Arg::SRC_1)?, src2: if src2.is_some() { Some(operand(Arg::SRC_2)?) } else { None } }
            }
            PostOp::Prelu { .. } => Step::Prelu(operand(Arg::WEIGHTS)?),
            PostOp::Depthwise { .. } => return Err(Error::Runtime("a depthwise post-op in the shared tail".into())),
        })
    }
}

struct EltwiseRow<'x> {
    alg: EltwiseAlg,
    alpha: f32,
    beta: f32,
    x: &'x mut [f32],
}

impl Body for EltwiseRow<'_> {
    type Out = ();
    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        let EltwiseRow { alg, alpha, beta, x } = self;
        lane::forward::<FMA>(alg, alpha, beta, x);
    }
}

struct BinaryRow<'x> {
    alg: BinaryAlg,
    x: &'x mut [f32],
    src1: &'x [f32],
    src2: &'x [f32],
}

impl Body for BinaryRow<'_> {
    type Out = ();
    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        match self.alg {
            BinaryAlg::Add => zip(self.x, self.src1, |a, b| a + b),
            BinaryAlg::Mul => zip(self.x, self.src1, |a, b| a * b),
            alg => {
                for ((x, a), b) in self.x.iter_mut().zip(self.src1).zip(self.src2) {
                    *x = binary::apply(alg, Lane::<FMA>(*x), Lane(*a), Lane(*b)).0;
                }
            }
        }
    }
}

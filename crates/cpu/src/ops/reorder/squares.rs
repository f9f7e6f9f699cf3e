//! `squares:jit`: copies of 32-bit words between layouts with different contiguous dimensions, transposed in squares in registers.
//!
//! Typical cases are NCHW to NHWC, either to blocks of channels, and back, and weights to panels. Dimensions are cut where blocks of either
//! layout end, and merged where neither layout separates them. What remains is a matrix that is transposed for every iteration of the other
//! loops. A task has some of these matrices, or some columns of a large one. Narrow elements are moved as words if both layouts have whole
//! words contiguous.

use super::loops::{Loop, loops, padded, place};
use super::reorder;
use super::sums::{Behind, Summed};
use super::time::{Timed, Times, total};
use crate::kernels::multiversion::Simd;
use crate::kernels::pointwise::{GRAIN, evenly};
use crate::kernels::scratch::Scratch;
use crate::kernels::transpose::{Matrix, RegisterTranspose};
use crate::row::Generated;
use crate::{CpuTarget, RowPlan};
use oxidnn_jit::Isa;
use oxidnn_runtime::{Ctx, Plan, Skip};
use oxidnn_spec::op::Reorder;
use oxidnn_spec::{Arg, Blocking, Error, Problem};

/// Bytes of a word.
const WORD: usize = 4;
/// Words of a piece that stays in L2 on both sides: several cache lines of each of its rows.
const L2_WORDS: usize = 8192;
/// Columns of a piece with few rows, which stays in L1 until all strips of squares have written their part of its cache lines.
const L1_COLUMNS: usize = 128;

/// Nanoseconds of an execution, a call, a square, and a vector of it, without and with AVX-512.
const TIMES: Times<4> = [[103.0, 68.0, 3.2, 0.65], [103.0, 60.0, 16.0, 1.6]];

/// The transpositions of one reorder.
#[derive(Debug)]
struct Transposed {
    jit: Isa,
    /// First elements of destination and source.
    starts: [usize; 2],
    /// The loop that is contiguous in the destination: the rows of a matrix.
    rows: Loop,
    /// The loop that is contiguous in the source: its columns, and the columns of a task.
    columns: Loop,
    piece: usize,
    /// The other loops.
    outer: Vec<Loop>,
}

/// Plans a transposition.
///
/// # Errors
/// Problems that the row does not take.
pub(super) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let jit = target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?;
    RowPlan::resolved(problem, target, |problem| {
        let op = reorder(problem)?;
        super::check_copy(op, &problem.attr)?;
        let [dst, src] = layouts(op)?;
        let all = loops(op.dst.dims(), [dst, src]).ok_or_else(padded)?;
        let words = in_words(op.dst.dtype.bits(), all, [dst.offset as usize, src.offset as usize]);
        let (mut outer, starts) = words.ok_or_else(|| Skip::DataType(format!("{}, which are no words", op.dst.dtype)))?;
        let mut taken = |t: usize| outer.iter().position(|l| l.steps[t] == 1).map(|i| outer.remove(i));
        let (Some(rows), Some(columns)) = (taken(0), taken(1)) else {
            return Err(Skip::Layout("of src: neighbours are those of dst".into()));
        };
        let lanes = jit.width().lanes();
        if rows.size.min(columns.size) < lanes {
            return Err(Skip::Shape("fewer neighbours than a square has rows"));
        }
        // If a matrix has several strips of squares, each strip writes a part of the same cache lines.
        let most = if rows.size > lanes { L2_WORDS.min(L1_COLUMNS * rows.size) } else { GRAIN as usize };
        let piece = (most / rows.size.max(1)).next_multiple_of(lanes).clamp(lanes, columns.size.max(lanes));
        let data = Transposed { jit, starts, rows, columns, piece, outer };
        let (sums, scratch) = Behind::plan(op, problem, jit)?;
        Ok((Summed::new(op, target, data, sums), scratch))
    })
}

/// The loops and first elements in words, if elements of `bits` bits fill words in both tensors.
fn in_words(bits: usize, loops: Vec<Loop>, starts: [usize; 2]) -> Option<(Vec<Loop>, [usize; 2])> {
    let ratio = match bits {
        32 => return Some((loops, starts)),
        8 | 16 => 32 / bits,
        _ => return None,
    };
    let whole = |n: usize| n.is_multiple_of(ratio).then_some(n / ratio);
    let both = |[a, b]: [usize; 2]| Some([whole(a)?, whole(b)?]);
    let word =
        |l: &Loop| if l.steps == [1; 2] { Some(Loop { size: whole(l.size)?, ..*l }) } else { Some(Loop { steps: both(l.steps)?, ..*l }) };
    if !loops.iter().any(|l| l.steps == [1; 2]) {
        return None;
    }
    let words: Vec<Loop> = loops.iter().map(word).collect::<Option<_>>()?;
    Some((words.into_iter().filter(|l| l.size > 1).collect(), both(starts)?))
}

/// Strides and blocks of destination and source.
///
/// # Errors
/// Tensors without elements, with padding, or with a layout that only the execution gives.
fn layouts(op: &Reorder) -> Result<[&Blocking; 2], Skip> {
    super::check_known(op)?;
    match [&op.dst, &op.src].map(|t| t.blocking().filter(|b| b.padded_dims == *t.dims())) {
        [Some(dst), Some(src)] => Ok([dst, src]),
        _ => Err(padded()),
    }
}

impl Timed for Transposed {
    fn time(&self, isa: Option<Isa>) -> Option<f64> {
        let (lanes, outer) = (self.jit.width().lanes(), self.outer.iter().map(|l| l.size as f64).product::<f64>());
        let [rows, columns] = [self.rows, self.columns].map(|l| l.size);
        let strips = outer * rows.div_ceil(lanes) as f64;
        let calls = outer * columns.div_ceil(self.piece) as f64;
        Some(total(&TIMES, isa, [1.0, calls, strips * columns.div_ceil(lanes) as f64, strips * columns as f64]))
    }
}

impl Generated for Transposed {
    type Code = RegisterTranspose;

    fn build(&self) -> Result<RegisterTranspose, Error> {
        RegisterTranspose::get(self.jit)
    }

    fn run(&self, squares: &RegisterTranspose, _: Simd, ctx: &Ctx<'_>, _: Scratch<'_>) -> Result<(), Error> {
        let (to, from) = (ctx.buf(Arg::DST)?, ctx.buf(Arg::SRC)?);
        let (rows, columns) = (self.rows, self.columns);
        let pieces = columns.size.div_ceil(self.piece);
        let all = pieces * self.outer.iter().map(|l| l.size).product::<usize>();
        let each = evenly(all, GRAIN as usize / (rows.size * self.piece.min(columns.size)).max(1));
        ctx.executor().run(ctx.executor().threads(), all.div_ceil(each), &|_, task| {
            for i in task * each..all.min((task + 1) * each) {
                let first = i % pieces * self.piece;
                let at = place(&self.outer, self.starts, i / pieces);
                let from = Matrix { buf: from, at: (at[1] + first) * WORD, row: rows.steps[1] * WORD };
                let to = Matrix { buf: to, at: (at[0] + first * columns.steps[0]) * WORD, row: columns.steps[0] * WORD };
                squares.run(from, to, rows.size, self.piece.min(columns.size - first));
            }
        });
        Ok(())
    }
}

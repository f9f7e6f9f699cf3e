//! `sparse:portable`: products with a sparse operand.
//!
//! A matrix in CSR or COO is multiplied entry by entry. A line of the result (a row for a sparse source, a column for sparse weights) is
//! the sum, over the entries of that line, of the entry times a line of the dense operand. The dense operand is packed into panels, and the
//! sums of a line within a panel stay in registers over all entries. A result by columns is transposed at the end. Weights with a bit mask
//! are expanded for a dense product: they save memory, not operations.

use super::IMPLS;
use crate::CpuTarget;
use crate::kernels::convert::to_f32;
use crate::kernels::multiversion::{Body, Simd};
use crate::kernels::scratch::{Scratch, booked};
use crate::ops::{fallback, staged, support};
use crate::row::{Kernel, RowPlan, TOO_LARGE};
use oxidnn_runtime::{Buf, Ctx, Element, Plan, Skip};
use oxidnn_spec::op::Reorder;
use oxidnn_spec::{Arg, Attr, DataType, Error, Format, Layout, Op, Problem, Sparse, Tensor};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(test)]
mod tests;

/// Widths of panels.
const PANEL_WIDTHS: [usize; 3] = [16, 32, 64];
/// Values that are converted at a time.
const CHUNK: usize = 256;
/// Multiplications of a task, roughly.
const TASK_PRODUCTS: usize = 1 << 16;

/// Takes products of one sparse operand.
///
/// # Errors
/// [`Skip`] for dense products, and for sizes that are given at execution.
pub(super) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let Op::Matmul(op) = &problem.op else { return Err(Skip::Op("anything but matmul")) };
    let is_sparse = |t: &Tensor| matches!(t.layout.format, Format::Sparse(_));
    let arg = if is_sparse(&op.src) { Arg::SRC } else { Arg::WEIGHTS };
    let sparse = problem.op.tensor(arg).filter(|t| is_sparse(t)).ok_or(Skip::Layout("of src and wei: dense".into()))?;
    support::known(problem)?;
    if let Format::Sparse(Sparse::Packed { .. }) = sparse.layout.format {
        return expanded(problem, arg, target);
    }
    let resolved = support::resolved(problem);
    let (entries, inner) = Entries::of(&resolved, arg)?;
    let inner = RowPlan { problem: inner, scratch_bytes: entries.scratch()?, isa: target.isa, kernel: Arc::new(entries) };
    staged::copied(&resolved, Box::new(inner), target).ok_or(Skip::Layout("of the operands, nor any that they could be copied to".into()))
}

/// Plans the product of weights with a bit mask as that of dense ones.
fn expanded(problem: &Problem, arg: Arg, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let none = || Skip::Layout(format!("of {arg}: a mask over no elements"));
    let resolved = support::resolved(problem);
    let packed = resolved.op.tensor(arg).ok_or_else(none)?;
    let Format::Sparse(Sparse::Packed { blocking: Some(blocking), .. }) = &packed.layout.format else { return Err(none()) };
    let layout = Layout { dims: packed.layout.dims, format: Format::Blocked(Arc::clone(blocking)) };
    let dense = Tensor { dtype: packed.dtype, layout };
    let mut open = problem.clone();
    *open.op.tensor_mut(arg).ok_or_else(none)? = packed.clone();
    let mut inner = open.clone();
    *inner.op.tensor_mut(arg).ok_or_else(none)? = dense;
    let rows = IMPLS.iter().filter(|row| row.name != fallback::ROW.name);
    let inner = rows.filter_map(|row| (row.plan)(&inner, target).ok()).next().ok_or(Skip::Op("what a row takes dense"))?;
    staged::copied(&open, inner, target).ok_or_else(none)
}

/// The plan of a reorder of a tensor with a bit mask to its dense layout.
pub(crate) fn expansion(src: &Tensor, dst: &Tensor, target: &CpuTarget) -> Option<Box<dyn Plan>> {
    let Format::Sparse(Sparse::Packed { nnz, .. }) = src.layout.format else { return None };
    let (nnz, elements) = (usize::try_from(nnz).ok()?, usize::try_from(dst.layout.extent()?).ok()?);
    if ![8, 16, 32].contains(&src.dtype.bits()) || src.dtype != dst.dtype {
        return None;
    }
    let problem = Problem { op: Op::Reorder(Reorder { src: src.clone(), dst: dst.clone() }), attr: Attr::default() };
    let kernel = Expansion { bytes: src.dtype.bits() / 8, nnz, elements };
    Some(Box::new(RowPlan { problem, scratch_bytes: 0, isa: target.isa, kernel: Arc::new(kernel) }))
}

/// The arrays of a sparse matrix.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Code {
    /// Values, columns, and the begin of each row.
    Csr,
    /// Values, rows, columns.
    Coo,
}

/// A sparse matrix times a dense one in panels, line by line of the result.
#[derive(Debug)]
struct Entries {
    /// The sparse operand, the dense one, and the dimension of the sparse operand along which result lines are counted.
    args: [Arg; 2],
    line: usize,
    code: Code,
    dtype: DataType,
    dims: [usize; 2],
    nnz: usize,
    /// Elements of a line of the result, and of a panel.
    across: usize,
    width: usize,
}

/// Entries by line: line `i` has `starts[i]` to `starts[i + 1]`, numbers of s32. An entry is the index of a line of the dense operand and
/// an f32.
#[derive(Clone, Copy)]
struct Grouped<'a> {
    starts: Buf<'a>,
    at: Buf<'a>,
    values: Buf<'a>,
}

impl Entries {
    /// The kernel of a resolved problem, and its view of the operands: the dense one in panels, the result by lines, in f32.
    fn of(problem: &Problem, sparse: Arg) -> Result<(Entries, Problem), Skip> {
        const NO_OPERANDS: Skip = Skip::Op("without operands");
        let operand = |arg: Arg| problem.op.tensor(arg).ok_or(NO_OPERANDS);
        let (dense, line) = if sparse == Arg::SRC { (Arg::WEIGHTS, 0) } else { (Arg::SRC, 1) };
        let (matrix, other) = (operand(sparse)?, operand(dense)?);
        let (code, nnz) = match matrix.layout.format {
            Format::Sparse(Sparse::Csr { nnz }) => (Code::Csr, nnz),
            Format::Sparse(Sparse::Coo { nnz }) => (Code::Coo, nnz),
            _ => return Err(Skip::Layout(format!("of {sparse}: neither CSR nor COO"))),
        };
        let size =
            |n: i64| usize::try_from(n).ok().filter(|n| i32::try_from(*n).is_ok()).ok_or(Skip::Shape("more than 2^31 entries or lines"));
        let [rows, columns] = **matrix.dims() else { return Err(Skip::Shape("other than matrices")) };
        if other.is_empty() || matrix.dims().contains(&0) {
            return Err(Skip::Shape("empty"));
        }
        let across = size(other.dims()[1 - line])?;
        let width = PANEL_WIDTHS.into_iter().find(|w| *w >= across).unwrap_or(PANEL_WIDTHS[PANEL_WIDTHS.len() - 1]);
        let mut inner = problem.clone();
        let tags = if line == 0 { [format!("Ba{width}b"), "ab".into()] } else { [format!("Ab{width}a"), "ba".into()] };
        for (arg, tag) in [dense, Arg::DST].into_iter().zip(tags) {
            let tensor = inner.op.tensor_mut(arg).ok_or(NO_OPERANDS)?;
            *tensor = Tensor::with_tag(*tensor.dims(), DataType::F32, &tag).map_err(|e| Skip::Layout(e.to_string()))?;
        }
        let entries = Entries {
            args: [sparse, dense],
            line,
            code,
            dtype: matrix.dtype,
            dims: [size(rows)?, size(columns)?],
            nnz: size(nnz)?,
            across,
            width,
        };
        Ok((entries, inner))
    }

    /// Whether the operand's own arrays have the form of [`Grouped`].
    fn is_grouped(&self) -> bool {
        self.code == Code::Csr && self.line == 0 && self.dtype == DataType::F32
    }

    /// Words of scratch: begins of lines, with one more word for counting, and the entries.
    fn parts(&self) -> [usize; 3] {
        if self.is_grouped() { [0; 3] } else { [self.dims[self.line] + 2, self.nnz, self.nnz] }
    }

    fn scratch(&self) -> Result<usize, Skip> {
        booked(&self.parts()).ok_or(TOO_LARGE)
    }

    /// Calls `f` with each entry's index, row and column, in the order of the arrays.
    fn each(&self, [_, first, second]: [Buf<'_>; 3], mut f: impl FnMut(usize, [usize; 2])) {
        let at = |buf: Buf<'_>, i: usize| buf.get::<i32>(i) as usize;
        match self.code {
            Code::Coo => (0..self.nnz).for_each(|e| f(e, [at(first, e), at(second, e)])),
            Code::Csr => {
                for row in 0..self.dims[0] {
                    (at(second, row)..at(second, row + 1)).for_each(|e| f(e, [row, at(first, e)]));
                }
            }
        }
    }

    /// Checks the indices, which are the caller's data: all must be inside the matrix, and rows must begin in order.
    fn check(&self, [_, first, second]: [Buf<'_>; 3]) -> Result<(), Error> {
        let inside = |buf: Buf<'_>, size: usize| (0..self.nnz).fold(true, |good, e| good & ((buf.get::<i32>(e) as u32) < size as u32));
        let [rows, columns] = self.dims;
        let good = match self.code {
            Code::Coo => inside(first, rows) && inside(second, columns),
            Code::Csr => {
                let start = |row: usize| buf_index(second, row);
                start(0) == 0
                    && start(rows) == self.nnz as i64
                    && (0..rows).fold(true, |good, row| good & (start(row) <= start(row + 1)))
                    && inside(first, columns)
            }
        };
        let wrong = || Error::arg(self.args[0], "indices outside the matrix", "row and column indices within its dimensions");
        if good { Ok(()) } else { Err(wrong()) }
    }

    /// The entries by line: the operand's own arrays, or sorted copies in scratch.
    fn grouped<'a>(&self, simd: Simd, bufs: [Buf<'a>; 3], mut scratch: Scratch<'a>) -> Result<Grouped<'a>, Error> {
        if self.is_grouped() {
            return Ok(Grouped { starts: bufs[2], at: bufs[1], values: bufs[0] });
        }
        let [starts, at, values] = self.parts();
        let [starts, at, values] = [scratch.take(starts)?.into_buf(), scratch.take(at)?.into_buf(), scratch.take(values)?.into_buf()];
        // A counting sort. The number of entries of line `i` is counted at `i + 2`; after the prefix sum, place `i + 1` is where line `i`
        // begins, and moves on with each entry that is placed, until it is where line `i + 1` begins.
        starts.fill(0);
        let add = |i: usize, n: i32| {
            let old = starts.get::<i32>(i);
            starts.set(i, old + n);
            old
        };
        self.each(bufs, |_, pos| _ = add(pos[self.line] + 2, 1));
        (1..self.dims[self.line] + 2).for_each(|i| _ = add(i, starts.get(i - 1)));
        let (mut bytes, mut near) = ([0u8; 4 * CHUNK], [0.0f32; CHUNK]);
        self.each(bufs, |e, pos| {
            if e % CHUNK == 0 {
                let count = CHUNK.min(self.nnz - e);
                let bytes = &mut bytes[..count * self.dtype.bits() / 8];
                bufs[0].part(e * self.dtype.bits() / 8, bytes.len()).read(0, bytes);
                to_f32(simd, self.dtype, bytes, &mut near[..count]);
            }
            let to = add(pos[self.line] + 1, 1) as usize;
            at.set(to, pos[1 - self.line] as i32);
            values.set(to, near[e % CHUNK]);
        });
        Ok(Grouped { starts, at, values })
    }
}

/// An element of an index array.
fn buf_index(buf: Buf<'_>, i: usize) -> i64 {
    i64::from(buf.get::<i32>(i))
}

/// Some lines of the result, in one panel.
struct Lines<'a> {
    entries: &'a Entries,
    grouped: Grouped<'a>,
    panel: usize,
    lines: std::ops::Range<usize>,
    dense: &'a [f32],
    dst: Buf<'a>,
}

impl Lines<'_> {
    #[inline(always)]
    fn run_in<const WIDTH: usize, const FMA: bool>(self) {
        let Lines { entries, grouped, panel, lines, dense, dst } = self;
        let depth = entries.dims[1 - entries.line];
        let (rows, _) = dense.as_chunks::<WIDTH>();
        let rows = &rows[panel * depth..][..depth];
        let width = (entries.across - panel * WIDTH).min(WIDTH);
        for line in lines {
            let [begin, end] = [line, line + 1].map(|i| grouped.starts.get::<i32>(i) as usize);
            let mut sums = [0.0f32; WIDTH];
            for e in begin..end {
                let (value, row) = (grouped.values.get::<f32>(e), &rows[grouped.at.get::<i32>(e) as usize]);
                for (sum, x) in sums.iter_mut().zip(row) {
                    *sum = if FMA { value.mul_add(*x, *sum) } else { value * x + *sum };
                }
            }
            dst.write(line * entries.across + panel * WIDTH, &sums[..width]);
        }
    }
}

impl Body for Lines<'_> {
    type Out = ();
    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        match self.entries.width {
            16 => self.run_in::<16, FMA>(),
            32 => self.run_in::<32, FMA>(),
            _ => self.run_in::<64, FMA>(),
        }
    }
}

impl Kernel for Entries {
    fn run(&self, simd: Simd, ctx: &Ctx<'_>, scratch: Scratch<'_>) -> Result<(), Error> {
        let [sparse, dense] = self.args;
        let bufs = buffers(ctx, sparse)?;
        self.check(bufs)?;
        let grouped = self.grouped(simd, bufs, scratch)?;
        let (dst, dense) =
            (ctx.buf(Arg::DST)?, ctx.input(dense).ok_or_else(|| Error::arg(dense, "memory that is written", "panels in scratch"))?);
        let (count, panels) = (self.dims[self.line], self.across.div_ceil(self.width));
        let each = (self.nnz * self.width / count).max(self.width);
        let lines = (TASK_PRODUCTS / each).clamp(1, count);
        let chunks = count.div_ceil(lines);
        ctx.executor().run(ctx.executor().threads(), panels * chunks, &|_, task| {
            let first = task % chunks * lines;
            let lines = first..(first + lines).min(count);
            simd.run(Lines { entries: self, grouped, panel: task / chunks, lines, dense, dst });
        });
        Ok(())
    }
}

/// The three buffers of a sparse matrix.
fn buffers<'a>(ctx: &Ctx<'a>, arg: Arg) -> Result<[Buf<'a>; 3], Error> {
    let regions = ctx.bound(arg).map_or(&[][..], |bound| bound.regions);
    let bytes = |i: usize| regions.get(i).and_then(|region| region.bytes());
    match [bytes(0), bytes(1), bytes(2)] {
        [Some(a), Some(b), Some(c)] => Ok([a, b, c]),
        _ => Err(Error::arg(arg, format_args!("{} buffers", regions.len()), "three buffers in the memory of the host")),
    }
}

/// Expands elements with a bit mask: each goes to its bit, zeros elsewhere.
#[derive(Debug)]
struct Expansion {
    bytes: usize,
    nnz: usize,
    /// Elements that the mask covers.
    elements: usize,
}

/// Bits of a word of the mask; the number of values before each word is known.
const MASK_WORD_BITS: usize = 64;
/// Words of a task.
const TASK_WORDS: usize = 64;

impl Expansion {
    /// Expands words `words` of the mask; false if they name more values than there are.
    fn words<T: Element>(&self, words: std::ops::Range<usize>, [values, bits, starts]: [Buf<'_>; 3], dst: Buf<'_>) -> bool {
        for word in words {
            let count = (self.elements - word * MASK_WORD_BITS).min(MASK_WORD_BITS);
            let mut mask = [0u8; MASK_WORD_BITS / 8];
            bits.read(word * MASK_WORD_BITS / 8, &mut mask[..count.div_ceil(8)]);
            let mut mask = u64::from_le_bytes(mask) & u64::MAX >> (MASK_WORD_BITS - count);
            let start = usize::try_from(starts.get::<i64>(word)).unwrap_or(usize::MAX);
            if start.checked_add(mask.count_ones() as usize).is_none_or(|end| end > self.nnz) {
                return false;
            }
            let mut out = [T::zeroed(); MASK_WORD_BITS];
            for next in start.. {
                if mask == 0 {
                    break;
                }
                out[mask.trailing_zeros() as usize] = values.get::<T>(next);
                mask &= mask - 1;
            }
            dst.write(word * MASK_WORD_BITS, &out[..count]);
        }
        true
    }
}

impl Kernel for Expansion {
    fn run(&self, _simd: Simd, ctx: &Ctx<'_>, _scratch: Scratch<'_>) -> Result<(), Error> {
        let (bufs, dst) = (buffers(ctx, Arg::SRC)?, ctx.buf(Arg::DST)?);
        let (words, is_good) = (self.elements.div_ceil(MASK_WORD_BITS), AtomicBool::new(true));
        ctx.executor().run(ctx.executor().threads(), words.div_ceil(TASK_WORDS), &|_, task| {
            let words = task * TASK_WORDS..((task + 1) * TASK_WORDS).min(words);
            let good = match self.bytes {
                1 => self.words::<u8>(words, bufs, dst),
                2 => self.words::<u16>(words, bufs, dst),
                _ => self.words::<u32>(words, bufs, dst),
            };
            if !good {
                is_good.store(false, Ordering::Relaxed);
            }
        });
        let wrong = || Error::arg(Arg::WEIGHTS, "a mask of more values than there are", "the layout that a reorder made");
        if is_good.into_inner() { Ok(()) } else { Err(wrong()) }
    }
}

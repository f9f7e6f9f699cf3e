//! `doubles:portable`: products of `f64` in any layout: matmul, inner product, convolution and deconvolution, in all directions.
//!
//! A result is cut into blocks of rows and columns; a task computes one. In every layout the offset of an element is a sum of one term a
//! dimension, so rows, columns and depths are lists of offsets that are added while operands are packed. A convolution is one product a
//! tap, of the rows whose windows do not reach padding with it; a gradient of weights is one a tap, over the pixels that the tap meets. Post-ops and conversions are the reference's, element by element.

pub(super) mod elements;
mod shape;

use crate::CpuTarget;
use crate::decision::{self, How};
use crate::kernels::doubles::{Block, COLUMNS, DEPTH, ROWS, SCRATCH};
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::{Scratch, booked, for_workers};
use crate::ops::{fallback, support};
use crate::row::{Kernel, RowPlan};
use oxidnn_reference::{Epilogue, View, for_each_position};
use oxidnn_runtime::{Buf, Ctx, Decision, Plan, Skip};
use oxidnn_spec::{Arg, Attr, DataType, Dims, Error, MAX_NDIMS, Problem, QuantMode};
use shape::{A, B, BATCH, COLUMN, DST, PART, ROW, Shape};
use std::ops::Range;

/// Multiply-adds of a core in a cycle: two vectors of eight, half of which wait for operands to be packed.
const MULTIPLY_ADDS_PER_CYCLE: f64 = 4.0;

#[derive(Debug)]
struct Doubles {
    attr: Attr,
    shape: Shape,
    workers: usize,
    /// Elements of 32 bits of all workers' scratch.
    scratch: usize,
}

/// Takes dense products with an operand of `f64`, without scales or zero points of their operands.
///
/// # Errors
/// [`Skip`] of what it does not take.
pub(super) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    check(problem)?;
    let problem = support::resolved(problem);
    support::dense(&problem)?;
    let shape = Shape::of(&problem)?;
    let scratch = for_workers(target.threads, 2 * SCRATCH);
    let kernel = Doubles { attr: problem.attr.clone(), shape, workers: target.threads, scratch: scratch.unwrap_or(0) };
    RowPlan::of(problem, target, scratch.and_then(|s| booked(&[s])), kernel)
}

/// Declines what the packing of operands does not do.
fn check(problem: &Problem) -> Result<(), Skip> {
    support::known(problem)?;
    if problem.operands().iter().all(|o| o.tensor.dtype != DataType::F64) {
        return Err(Skip::DataType("other than f64".into()));
    }
    let attr = &problem.attr;
    let no = |what: &str| Err(Skip::Attr(what.into()));
    let operands = [Arg::SRC, Arg::WEIGHTS];
    if operands.iter().any(|arg| attr.scales.contains_key(arg) || attr.zero_points.contains_key(arg)) {
        return no("scales or zero points of operands");
    }
    if attr.scales.values().any(|q| q.mode != QuantMode::Static) {
        return no("scales computed by the library");
    }
    if attr.depthwise_index().is_some() {
        return no("a depthwise post-op");
    }
    match problem.operands().iter().find(|o| o.tensor.dtype.bits() < 8) {
        Some(o) => Err(Skip::DataType(format!("{} of {}: elements that share a byte", o.tensor.dtype, o.arg))),
        None => Ok(()),
    }
}

impl Kernel for Doubles {
    fn decision(&self, problem: &Problem) -> Decision {
        let columns = self.shape.count(COLUMN).min(COLUMNS);
        How::new("sums of products in f64, operands packed element by element", MULTIPLY_ADDS_PER_CYCLE, self.workers)
            .registers("12 rows of two vectors of f64", 12 * 16 * size_of::<f64>())
            .block("a K block of both operands, packed, and a block of sums", SCRATCH * size_of::<f64>())
            .padding(decision::padding(columns, 16))
            .decision(problem)
    }

    fn run(&self, simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let args = fallback::Arguments(ctx);
        let dst = View::of(&args, self.shape.args[2])?;
        // What may be missing is found before anything is written: tasks look it up again, as views are of one thread.
        Task::of(self, &args)?;
        let part = &mut scratch.take(self.scratch)?;
        if !dst.is_empty() {
            part.work(ctx.executor(), self.workers, self.shape.tasks(), &|task, scratch| {
                let args = fallback::Arguments(ctx);
                let scratch = bytemuck::try_cast_slice_mut::<f32, f64>(scratch);
                let (Ok(on), Ok(scratch)) = (Task::of(self, &args), scratch) else { unreachable!("looked up before") };
                on.block(simd, task, scratch);
            });
        }
        dst.zero_padding();
        bias_gradient(ctx)
    }
}

/// The sums of the result's gradient over everything but channels.
fn bias_gradient(ctx: &Ctx<'_>) -> Result<(), Error> {
    let args = fallback::Arguments(ctx);
    let Some(bias) = View::optional(&args, Arg::DIFF_BIAS)? else { return Ok(()) };
    let channels = bias.dims()[0] as usize;
    View::of(&args, Arg::DIFF_DST)?;
    ctx.executor().run(ctx.executor().threads(), channels, &|_, channel| {
        let args = fallback::Arguments(ctx);
        let (Ok(bias), Ok(from)) = (View::of(&args, Arg::DIFF_BIAS), View::of(&args, Arg::DIFF_DST)) else {
            unreachable!("looked up before")
        };
        let dims = Dims::from_fn(from.dims().len(), |d| if d == 1 { 1 } else { from.dims()[d] });
        let (mut sum, first) = (0.0, from.dim(1, channel as i64));
        for_each_position(&dims, |pos| sum += from.load(from.offset(pos) + first));
        bias.set(&[channel as i64], sum);
    });
    bias.zero_padding();
    Ok(())
}

/// The arguments of a task.
struct Task<'a> {
    shape: &'a Shape,
    a: Operand<'a>,
    b: Operand<'a>,
    bias: Option<View<'a>>,
    epilogue: Epilogue<'a>,
}

/// An operand, and its memory where its elements are `f64`.
#[derive(Clone, Copy)]
struct Operand<'a> {
    view: View<'a>,
    numbers: Option<Buf<'a>>,
}

impl<'a> Operand<'a> {
    fn of(args: &'a fallback::Arguments<'a>, arg: Arg) -> Result<Operand<'a>, Error> {
        let view = View::of(args, arg)?;
        let numbers = if view.dtype() == DataType::F64 { Some(args.0.buf(arg)?) } else { None };
        Ok(Operand { view, numbers })
    }

    /// The element at an offset.
    #[inline(always)]
    fn load(&self, offset: i64) -> f64 {
        match self.numbers {
            Some(numbers) => numbers.get(offset as usize),
            None => self.view.load(offset),
        }
    }
}

impl<'a> Task<'a> {
    fn of(kernel: &'a Doubles, args: &'a fallback::Arguments<'a>) -> Result<Task<'a>, Error> {
        let [a, b, dst] = kernel.shape.args;
        Ok(Task {
            shape: &kernel.shape,
            a: Operand::of(args, a)?,
            b: Operand::of(args, b)?,
            bias: View::optional(args, Arg::BIAS)?,
            epilogue: Epilogue::new(&kernel.attr, args, dst)?,
        })
    }

    /// Computes the block of task `task`.
    fn block(&self, simd: Simd, task: usize, scratch: &mut [f64]) {
        let Task { shape, a, b, .. } = self;
        let (batch, m, n) = shape.place(task);
        let mut block = Block::new(scratch, n.len());
        for part in 0..shape.count(PART) {
            let (mut rows, mut starts, mut count) = ([0; ROWS], [0; ROWS], 0);
            for (i, m) in m.clone().enumerate() {
                let Some(start) = shape.offset(&a.view, A, false, &[(BATCH, batch), (PART, part), (ROW, m)]) else { continue };
                (rows[count], starts[count], count) = (i, a.view.origin() + start, count + 1);
            }
            if count == 0 {
                continue;
            }
            let mut columns = [0; COLUMNS];
            for (column, n) in columns.iter_mut().zip(n.clone()) {
                let start = shape.offset(&b.view, B, false, &[(BATCH, batch), (PART, part), (COLUMN, n)]);
                *column = b.view.origin() + start.unwrap_or(0);
            }
            let at = |k: usize| {
                let indices = [(BATCH, batch), (shape::DEPTH, k)];
                Some([shape.offset(&a.view, A, true, &indices)?, shape.offset(&b.view, B, true, &indices)?])
            };
            let mut depths = (0..shape.count(shape::DEPTH)).filter_map(at).peekable();
            while depths.peek().is_some() {
                let (mut offsets, mut depth) = ([[0; 2]; DEPTH], 0);
                for (offset, each) in offsets.iter_mut().zip(depths.by_ref()) {
                    (*offset, depth) = (each, depth + 1);
                }
                let load_a = |i: usize, k: usize| a.load(starts[i] + offsets[k][0]);
                let load_b = |k: usize, j: usize| b.load(columns[j] + offsets[k][1]);
                block.add(simd, &rows[..count], depth, load_a, load_b);
            }
        }
        self.store(batch, m, n, &block);
    }

    /// Adds the bias to the sums of a block, and takes them through the attributes to the destination.
    fn store(&self, batch: usize, m: Range<usize>, n: Range<usize>, block: &Block<'_>) {
        let (shape, dims) = (self.shape, self.epilogue.dst().dims());
        let mut columns = [[0; MAX_NDIMS]; COLUMNS];
        columns.iter_mut().zip(n).for_each(|(column, n)| *column = shape.position(DST, &[(COLUMN, n)]));
        for (i, m) in m.enumerate() {
            let row = shape.position(DST, &[(BATCH, batch), (ROW, m)]);
            for (column, &sum) in columns.iter().zip(block.row(i)) {
                let pos: [i64; MAX_NDIMS] = std::array::from_fn(|d| row[d] + column[d]);
                let pos = &pos[..dims.len()];
                let bias = self.bias.map_or(0.0, |bias| if shape.is_matmul { bias.get(pos) } else { bias.get(&pos[1..2]) });
                self.epilogue.finish(pos, sum + bias);
            }
        }
    }
}

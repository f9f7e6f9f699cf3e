//! `Tail`: what happens to a tile's sums while they are in registers, up to their place in the destination.
//!
//! A tail is a list of steps over f32 (or s32, before the first step that scales). Operands of steps that differ by column are converted once
//! for an execution to lines of f32 in scratch, one line for each step, padded to whole vectors: so kernels depend neither on the types of such
//! operands nor on whether they are one number or many. What a tail cannot do has a reason, and goes through
//! [`Epilogue`](crate::kernels::epilogue::Epilogue).

use super::{Call, Places, Spec};
use crate::kernels::access::Pos;
use crate::kernels::broadcast::Broadcast;
use crate::kernels::epilogue;
use crate::kernels::multiversion::Simd;
use oxidnn_jit::Function;
use oxidnn_jit::ir::{Binary, Compare, Elem, Int, Unary, Val};
use oxidnn_jit::kernels::dot::Sums;
use oxidnn_runtime::{Ctx, Skip};
use oxidnn_spec::op::EltwiseAlg;
use oxidnn_spec::{Arg, Attr, DataType, Error, MAX_NDIMS, PostOp, Tensor};
use std::mem::offset_of;

/// Columns that a line of operands is padded to: those of the widest tile.
const PADDED: usize = 64;

/// A tail, part of the key of kernels.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Tail {
    steps: Vec<Step>,
    dst: Elem,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Step {
    /// `s32 x - column`
    Compensate,
    /// `x * column`
    Scale,
    /// `x + column`
    Add,
    /// `x / column`
    Unscale,
    /// `max(x, 0)`
    Relu,
}

/// What a tail is planned for.
#[derive(Clone, Copy, Debug)]
pub struct About<'p> {
    /// The attributes.
    pub attr: &'p Attr,
    /// The destination, its layout resolved.
    pub dst: &'p Tensor,
    /// The dimension of the destination that columns follow.
    pub columns: usize,
    /// True when numbers are subtracted from whole sums, by column.
    pub compensated: bool,
    /// True when the sums have factors, one for all or by column.
    pub scaled: bool,
    /// True when there is a bias, one for all or by column.
    pub biased: bool,
}

/// Where the numbers of an execution come from.
#[derive(Clone, Copy)]
pub struct Operands<'c, 'a> {
    /// The arguments.
    pub ctx: (Simd, &'c Ctx<'a>),
    /// The attributes.
    pub attr: &'c Attr,
    /// The destination, its sizes concrete.
    pub dst: &'c Tensor,
    /// The dimension of the destination that columns follow.
    pub columns: usize,
    /// What is subtracted from the whole sums of every column.
    pub compensation: &'c [i32],
    /// Factors of the sums by positions of the destination.
    pub factors: [Broadcast<'a>; 2],
    /// The bias.
    pub bias: Option<Broadcast<'a>>,
}

/// The operands of a tail in an execution.
#[derive(Clone, Copy, Debug)]
pub struct TailArgs<'a> {
    /// One line for each step that has one.
    lines: &'a [f32],
    /// Numbers of a line.
    pitch: usize,
}

/// What kernels read besides the arguments of `dot`.
#[repr(C)]
#[derive(Debug)]
pub(super) struct Block {
    /// Addresses of the rows of the destination.
    c_rows: *const usize,
    /// Bytes from there to the tile's first column.
    c_offset: usize,
    /// The first line of operands from the tile's first column on.
    lines: *const f32,
    /// Bytes from a line to the next.
    pitch: usize,
}

impl TailArgs<'_> {
    /// No operands.
    pub const NONE: TailArgs<'static> = TailArgs { lines: &[], pitch: 0 };

    pub(super) fn block(&self, spec: &Spec, call: &Call<'_>) -> Block {
        Block {
            c_rows: call.c_rows.as_ptr(),
            c_offset: spec.tail.as_ref().map_or(0, |t| call.column * t.dst_size()),
            lines: self.lines.as_ptr().wrapping_add(call.tail_column),
            pitch: self.pitch * 4,
        }
    }
}

impl Step {
    fn has_line(&self) -> bool {
        !matches!(self, Step::Relu)
    }
}

impl Tail {
    /// The tail for a destination.
    ///
    /// # Errors
    /// What it does not do.
    pub fn plan(about: &About<'_>) -> Result<Tail, Skip> {
        let About { attr, dst, columns, .. } = *about;
        epilogue::check(attr, dst)?;
        let elem = elem(dst.dtype).ok_or_else(|| Skip::DataType(format!("{} as destination of a tile", dst.dtype)))?;
        if !dst.blocking().is_some_and(|b| b.is_plain() && (b.strides[columns] == 1 || dst.dims()[columns] == 1)) {
            return Err(Skip::Layout("a destination whose columns are apart".into()));
        }
        let mut steps = Vec::new();
        steps.extend(about.compensated.then_some(Step::Compensate));
        steps.extend(about.scaled.then_some(Step::Scale));
        steps.extend(about.biased.then_some(Step::Add));
        for op in &attr.post_ops {
            steps.push(match op {
                PostOp::Eltwise { alg: EltwiseAlg::Relu, alpha, .. } if alpha.get() == 0.0 => Step::Relu,
                other => return Err(Skip::Attr(format!("the post-op {other:?}"))),
            });
        }
        let varies = |quant: Option<&oxidnn_spec::Quant>| quant.is_some_and(|q| q.mask & !(1 << columns) != 0 || !q.groups.is_empty());
        let (scale, zero_point) = (attr.scales.get(&Arg::DST), attr.zero_points.get(&Arg::DST));
        if varies(scale) || varies(zero_point) {
            return Err(Skip::Attr("quantisation of the destination that differs by row".into()));
        }
        steps.extend(scale.map(|_| Step::Unscale));
        steps.extend(zero_point.map(|_| Step::Add));
        Ok(Tail { steps, dst: elem })
    }

    /// Whether the rows of the destination have the columns, and the operands reach as far as they are read.
    pub(super) fn is_inside(&self, args: &TailArgs<'_>, call: &Call<'_>, columns: usize, padded: usize) -> bool {
        let lines = self.lines();
        let reach = call.tail_column.checked_add(padded).is_some_and(|end| end <= args.pitch) && lines * args.pitch <= args.lines.len();
        let size = self.dst_size();
        let (Some(len), Some(offset)) = (columns.checked_mul(size), call.column.checked_mul(size)) else { return false };
        let places = Places::new(call.c, len);
        (lines == 0 || reach) && call.c_rows.iter().fold(true, |ok, row| ok & places.holds(row.wrapping_add(offset)))
    }

    /// Bytes of an element of the destination.
    pub fn dst_size(&self) -> usize {
        self.dst.bytes()
    }

    /// Lines of operands.
    fn lines(&self) -> usize {
        self.steps.iter().filter(|s| s.has_line()).count()
    }

    /// Numbers of scratch that the operands of an execution need for a destination of so many columns; `None` on overflow.
    pub fn scratch(&self, columns: usize) -> Option<usize> {
        columns.checked_add(PADDED)?.checked_next_multiple_of(PADDED)?.checked_mul(self.lines())
    }

    /// The operands of an execution, converted into scratch of [`Tail::scratch`] numbers.
    ///
    /// # Errors
    /// [`Error`] when an argument is missing or the scratch is too small.
    pub fn args<'s>(&self, from: &Operands<'_, '_>, scratch: &'s mut [f32]) -> Result<TailArgs<'s>, Error> {
        let dims = from.dst.dims();
        let columns = dims[from.columns].max(0) as usize;
        let lines = self.lines();
        let pitch = scratch.len() / lines.max(1);
        if lines > 0 && pitch < columns.next_multiple_of(PADDED) {
            return Err(Error::Runtime(format!("{} numbers of scratch for {lines} lines of {columns} columns", scratch.len())));
        }
        let (simd, ctx) = from.ctx;
        let scale = Broadcast::scale(simd, ctx, from.attr, Arg::DST, dims)?;
        let zero_point = Broadcast::zero_point(simd, ctx, from.attr, Arg::DST, dims)?;
        let mut adds = from.bias.into_iter().chain([zero_point]);
        for (step, line) in self.steps.iter().filter(|s| s.has_line()).zip(scratch.chunks_exact_mut(pitch.max(1))) {
            let (line, padding) = line.split_at_mut(columns);
            padding.fill(0.0);
            let pos: Pos = [0; MAX_NDIMS];
            match step {
                Step::Compensate => line.iter_mut().zip(from.compensation).for_each(|(x, c)| *x = f32::from_bits(*c as u32)),
                Step::Scale => {
                    let [first, second] = from.factors;
                    first.line(&pos, from.columns, line);
                    let mut others = [0.0; PADDED];
                    for (i, part) in line.chunks_mut(PADDED).enumerate() {
                        let mut pos = pos;
                        pos[from.columns] = (i * PADDED) as i64;
                        second.line(&pos, from.columns, &mut others[..part.len()]);
                        part.iter_mut().zip(&others).for_each(|(x, y)| *x *= y);
                    }
                }
                Step::Unscale => scale.line(&pos, from.columns, line),
                Step::Add => adds.next().unwrap_or(zero_point).line(&pos, from.columns, line),
                Step::Relu => {}
            }
        }
        Ok(TailArgs { lines: scratch, pitch })
    }

    /// Writes the steps and stores the sums.
    pub(super) fn write(&self, f: &mut Function, sums: &Sums<'_>, whole: bool) {
        let argument = |f: &mut Function, field: usize| f.load_int(sums.args.at((offset_of!(super::Args, tail) + field) as i32));
        let (lines, pitch) = (argument(f, offset_of!(Block, lines)), argument(f, offset_of!(Block, pitch)));
        let (c_rows, offset) = (argument(f, offset_of!(Block, c_rows)), argument(f, offset_of!(Block, c_offset)));
        let row = |f: &mut Function, i: usize| {
            let row = f.load_int(c_rows.at((i * size_of::<usize>()) as i32));
            f.add(row, offset);
            row
        };
        let list: Vec<Int> = (0..sums.values.len() / sums.vectors).map(|i| row(f, i)).collect();
        for v in 0..sums.vectors {
            let mut column: Vec<Val> = sums.values.iter().skip(v).step_by(sums.vectors).copied().collect();
            self.vector(f, &mut column, (lines, pitch, v), whole);
            for (x, row) in column.iter().zip(&list) {
                let to = row.at((v * f.width(*x).lanes() * self.dst.bytes()) as i32);
                f.store_as(self.dst, to, *x, sums.mask(v));
            }
        }
    }

    /// The steps for one vector of every row.
    fn vector(&self, f: &mut Function, column: &mut [Val], (lines, pitch, v): (Int, Int, usize), whole: bool) {
        let width = f.isa().width();
        let line = f.address(lines.at((v * width.bytes()) as i32));
        let mut is_whole = whole;
        for step in &self.steps {
            if is_whole && *step != Step::Compensate {
                column.iter_mut().for_each(|x| *x = f.unary(Unary::F32FromI32, *x));
                is_whole = false;
            }
            let operand = step.has_line().then(|| {
                let operand = f.load(width, line.at(0));
                f.add(line, pitch);
                operand
            });
            let op = match step {
                Step::Compensate => Binary::SubI32,
                Step::Scale => Binary::MulF32,
                Step::Add => Binary::AddF32,
                Step::Unscale => Binary::DivF32,
                Step::Relu => Binary::MaxF32,
            };
            let operand = operand.unwrap_or_else(|| f.zero(width));
            column.iter_mut().for_each(|x| *x = f.binary(op, *x, operand));
        }
        match (is_whole, self.dst == Elem::I32) {
            (true, false) => column.iter_mut().for_each(|x| *x = f.unary(Unary::F32FromI32, *x)),
            (false, true) => column.iter_mut().for_each(|x| *x = whole_number(f, *x)),
            _ => {}
        }
    }
}

/// f32 to i32 to nearest even, saturated, NaN to 0.
fn whole_number(f: &mut Function, x: Val) -> Val {
    let width = f.width(x);
    let limit = f.splat_f32(width, 2_147_483_648.0);
    let (above, number) = (f.compare_f32(Compare::Ge, x, limit), f.compare_f32(Compare::Eq, x, x));
    let (most, zero) = (f.splat_i32(width, i32::MAX), f.zero(width));
    let converted = f.unary(Unary::I32FromF32, x);
    let bounded = f.select(above, most, converted);
    f.select(number, bounded, zero)
}

/// The type as kernels store it.
fn elem(dtype: DataType) -> Option<Elem> {
    Some(match dtype {
        DataType::F32 => Elem::F32,
        DataType::Bf16 => Elem::Bf16,
        DataType::F16 => Elem::F16,
        DataType::S32 => Elem::I32,
        DataType::S8 => Elem::I8,
        DataType::U8 => Elem::U8,
        _ => return None,
    })
}

//! Programs over chunks: the instructions on elements between loads and stores, and the builder of such programs.
//!
//! A [`Builder`] makes a [`Pipeline`] of groups. A group has kept and reduced dimensions. Its stages run over all positions, or over the
//! kept positions alone. A stage over all positions may fold registers over the reduced dimensions into tables in scratch, which later
//! stages load like any tensor. Softmax, for example, is one group that keeps all dimensions but the axis: fold the maximum; subtract it,
//! take the exponential and fold the sum; multiply by its reciprocal.

use super::fold::FoldOp;
use super::operand::Kind;
use super::pipeline::{Cost, Grid, Group, Padding, Pipeline};
use super::{Nest, OPERANDS, Place};
use crate::kernels::chain::{self, Formula, Unary, jit};
use oxidnn_runtime::Skip;
use oxidnn_spec::op::{BinaryAlg, EltwiseAlg};
use oxidnn_spec::{Arg, Attr, Blocking, Blocks, DataType, Dims, Layout, MAX_NDIMS, Problem, Quant, QuantMode, Rounding, Tensor};
use std::cmp::Ordering;
use std::ops::Range;

/// Registers of a program.
pub(super) const REGISTERS: usize = 4;

/// Cost of a step of many instructions, relative to moving an element.
const LONG_STEP_COST: i64 = 4;

/// The mask of the positions of rows in [`Builder::total`].
pub const IN_ALL: u32 = 0b10;

/// Lines of tables' rows are multiples of this many elements.
pub(super) const LINE: usize = 16;

/// Folds of one stage.
pub(super) const FOLDS: usize = 2;

/// One instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Step {
    /// Loads operand `operand` into register `to`.
    Load { to: usize, operand: usize },
    /// Stores register `from` to operand `operand`.
    Store { from: usize, operand: usize },
    /// `r[to] = r[from]`.
    Copy { to: usize, from: usize },
    /// `r[at] = f(r[at], r[at + 1], r[at + 2])`.
    Apply { at: usize, formula: Formula },
    /// `r[at] = alg(r[at], operand)`, by way of `r[at + 1]` unless the operand is constant over a chunk.
    With { at: usize, alg: BinaryAlg, operand: usize },
    /// Dropout: `r[0] = r[0] / (1 - p)` for elements that the generator keeps, else 0; the mask is stored by way of `r[1]`.
    Drop(Drop),
    /// Stochastic rounding of `r[0]` to a type.
    Round(Round),
}

/// Stochastic rounding: the tensor whose elements are counted in memory order, the operand of the seed, and the type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Round {
    pub(super) of: usize,
    pub(super) seed: usize,
    pub(super) dtype: DataType,
}

/// The operands of dropout: the tensor whose elements are counted in memory order, the mask, and scalars.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Drop {
    pub(super) of: usize,
    pub(super) mask: Option<usize>,
    pub(super) probability: usize,
    pub(super) seed: usize,
    pub(super) offset: Option<usize>,
}

impl Step {
    /// Whether it has many instructions.
    pub(super) fn is_long(&self) -> bool {
        match self {
            Step::Apply { formula, .. } => !jit::is_short(*formula),
            Step::Drop(_) | Step::Round(_) => true,
            Step::Load { .. } | Step::Store { .. } | Step::Copy { .. } | Step::With { .. } => false,
        }
    }

    /// The operand that it loads or stores.
    pub(super) fn operand(&self) -> Option<usize> {
        match *self {
            Step::Load { operand, .. } | Step::Store { operand, .. } | Step::With { operand, .. } => Some(operand),
            _ => None,
        }
    }

    /// The same with another operand index.
    pub(super) fn with_operand(self, number: impl Fn(usize) -> usize) -> Step {
        match self {
            Step::Load { to, operand } => Step::Load { to, operand: number(operand) },
            Step::Store { from, operand } => Step::Store { from, operand: number(operand) },
            Step::With { at, alg, operand } => Step::With { at, alg, operand: number(operand) },
            other => other,
        }
    }
}

/// A register folded over the reduced positions into an operand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fold {
    pub(super) register: usize,
    pub(super) op: FoldOp,
    pub(super) operand: usize,
}

/// The positions that a stage visits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Over {
    /// All.
    All,
    /// The kept ones.
    Kept,
}

#[derive(Debug)]
pub(super) struct Stage {
    pub(super) over: Over,
    pub(super) steps: Vec<Step>,
    pub(super) folds: Vec<Fold>,
}

/// Where an operand's elements come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Source {
    /// An execution argument.
    Argument(Arg),
    /// Scratch, from this element on.
    Table(usize),
    /// A row of elements, one for each reduced position, of each worker's own: one stage passes it to the next on the same row.
    Row,
    /// The sums of a task's rows, one for each reduced position: a line of scratch for each task, from this element on.
    Sums(usize),
}

#[derive(Clone, Debug)]
pub(super) struct Operand {
    pub(super) source: Source,
    pub(super) kind: Kind,
    /// `None` if sizes are known only at execution.
    pub(super) place: Option<Place>,
}

/// Elements in scratch, one for each position of some dimensions.
#[derive(Clone, Debug)]
pub struct Table {
    at: usize,
    strides: Dims,
}

/// Sums over the rows of tasks: the operand of a group, and the table of all tasks, by task and reduced position, with its sizes.
#[derive(Clone, Debug)]
pub struct Sums {
    /// The operand to which rows are added.
    pub operand: usize,
    table: Table,
    sizes: [i64; 2],
}

/// A dimension of the tensors that is two dimensions of the positions: `(dimension, size of the outer)`.
pub type Split = Option<(usize, i64)>;

/// A pipeline while it is built.
#[derive(Debug)]
pub struct Builder<'p> {
    problem: &'p Problem,
    space: Dims,
    split: Split,
    groups: Vec<Draft>,
    tables: usize,
    padding: Vec<Padding>,
    cleared: Vec<(Arg, Range<usize>)>,
    /// Whether groups may write the padded areas of their results; and whether they write zeros where all operands are zero.
    spreads: bool,
    keeps_zeros: bool,
    /// Whether tensors that are mostly padding are zeroed as a whole before anything else.
    clears: bool,
}

#[derive(Debug)]
pub(super) struct Draft {
    kept: u32,
    space: Dims,
    pub(super) operands: Vec<Operand>,
    pub(super) stages: Vec<Stage>,
    /// Kept positions of a task, if its rows are added up.
    rows: Option<i64>,
}

impl<'p> Builder<'p> {
    /// A pipeline over the positions of tensors of `dims`, of which one dimension may be split in two.
    ///
    /// # Errors
    /// [`Skip`] for too many dimensions.
    pub fn new(problem: &'p Problem, dims: &Dims, split: Split) -> Result<Builder<'p>, Skip> {
        let space = split_dims(dims, dims, split);
        let space = space.ok_or(Skip::Shape("more dimensions than loops"))?;
        Ok(Builder {
            problem,
            space,
            split,
            groups: Vec::new(),
            tables: 0,
            padding: Vec::new(),
            cleared: Vec::new(),
            spreads: false,
            keeps_zeros: false,
            clears: false,
        })
    }

    /// A pipeline of one stage over the positions of `result`, in the order of its memory.
    ///
    /// # Errors
    /// As for [`Builder::new`] and [`Builder::argument`].
    pub fn elementwise(problem: &'p Problem, result: Arg) -> Result<Builder<'p>, Skip> {
        let dims = *problem.tensor(result).ok_or(Skip::Op("without a result"))?.dims();
        let mut b = Builder::new(problem, &dims, None)?;
        b.spreads = true;
        b.group(b.all());
        b.stage(Over::All);
        b.argument(result)?;
        Ok(b)
    }

    /// `r[to]` becomes the argument `arg`.
    ///
    /// # Errors
    /// As for [`Builder::argument`].
    pub fn load_argument(&mut self, to: usize, arg: Arg) -> Result<(), Skip> {
        let operand = self.argument(arg)?;
        self.load(to, operand);
        Ok(())
    }

    /// The positions' dimensions.
    pub fn space(&self) -> &Dims {
        &self.space
    }

    /// A mask of all dimensions.
    pub fn all(&self) -> u32 {
        (1u32 << self.space.len()) - 1
    }

    /// Number of positions of the dimensions in `mask`.
    pub fn count(&self, mask: u32) -> i64 {
        self.space.iter().enumerate().filter(|(d, _)| mask >> d & 1 == 1).map(|(_, s)| *s).product()
    }

    /// Uses the positions of tensors of `dims` from here on.
    pub fn positions(&mut self, dims: &Dims) {
        self.space = *dims;
    }

    /// Uses the positions of tensors of `dims`, with one dimension split in two, from here on.
    ///
    /// # Errors
    /// [`Skip`] for too many dimensions.
    pub fn split_positions(&mut self, dims: &Dims, split: (usize, i64)) -> Result<(), Skip> {
        self.space = split_dims(dims, dims, Some(split)).ok_or(Skip::Shape("more dimensions than loops"))?;
        self.split = Some(split);
        Ok(())
    }

    /// Uses the positions of tensors of `dims`, without a split dimension, from here on.
    pub fn whole_positions(&mut self, dims: &Dims) {
        (self.space, self.split) = (*dims, None);
    }

    /// Begins a group that keeps the dimensions in `kept`. Loops run in the order of its first operand's memory.
    pub fn group(&mut self, kept: u32) {
        self.groups.push(Draft { kept, space: self.space, operands: Vec::new(), stages: Vec::new(), rows: None });
    }

    /// Begins a stage of the group.
    pub fn stage(&mut self, over: Over) {
        if let Some(g) = self.groups.last_mut() {
            g.stages.push(Stage { over, steps: Vec::new(), folds: Vec::new() });
        }
    }

    fn put(&mut self, operand: Operand) -> Result<usize, Skip> {
        if let (Kind::Number(dtype @ (DataType::F64 | DataType::S64)), Source::Argument(arg)) = (operand.kind, operand.source) {
            return Err(Skip::DataType(format!("{dtype} of {arg}")));
        }
        self.place_operand(operand)
    }

    fn place_operand(&mut self, operand: Operand) -> Result<usize, Skip> {
        let Some(group) = self.groups.last_mut() else { return Err(Skip::Op("without a group")) };
        let same = |o: &Operand| o.source == operand.source && o.kind == operand.kind;
        if let Some(i) = group.operands.iter().position(same) {
            return Ok(i);
        }
        if group.operands.len() == OPERANDS {
            return Err(Skip::Attr(format!("more than {OPERANDS} tensors")));
        }
        group.operands.push(operand);
        Ok(group.operands.len() - 1)
    }

    pub(super) fn tensor(&self, arg: Arg) -> Result<Tensor, Skip> {
        self.problem.tensor(arg).ok_or_else(|| Skip::Layout(format!("of {arg}: there is none")))
    }

    /// The argument `arg` as an operand of the group, broadcast along dimensions of size 1.
    ///
    /// # Errors
    /// [`Skip`] for its type or layout.
    pub fn argument(&mut self, arg: Arg) -> Result<usize, Skip> {
        let tensor = self.tensor(arg)?;
        self.put(Operand { source: Source::Argument(arg), kind: Kind::Number(tensor.dtype), place: self.place(arg, &tensor.layout)? })
    }

    /// An argument that is a single number of any type.
    fn single(&mut self, arg: Arg) -> Result<usize, Skip> {
        let kind = Kind::Number(self.tensor(arg)?.dtype);
        let place = Some(Place::single(self.space.len()));
        self.place_operand(Operand { source: Source::Argument(arg), kind, place })
    }

    /// The part of the argument `arg` that `layout` describes, as an operand of the group.
    ///
    /// # Errors
    /// As for [`Builder::argument`].
    pub fn part(&mut self, arg: Arg, layout: &Layout) -> Result<usize, Skip> {
        let (tensor, place) = (self.tensor(arg)?, self.place(arg, layout)?);
        self.put(Operand { source: Source::Argument(arg), kind: Kind::Number(tensor.dtype), place })
    }

    fn place(&self, arg: Arg, layout: &Layout) -> Result<Option<Place>, Skip> {
        let bad = || Skip::Layout(format!("of {arg}"));
        if layout.blocking().is_none() {
            return if layout.ndims() == 1 { Ok(Some(Place::single(self.space.len()))) } else { Err(bad()) };
        }
        if layout.has_runtime() {
            return Ok(None);
        }
        let place = match self.split {
            None => Place::of(layout),
            Some((d, outer)) => {
                let dims = Dims::from_fn(self.space.len() - 1, |e| {
                    if e == d { self.space[d] * self.space[d + 1] } else { self.space[e + usize::from(e > d)] }
                });
                let dims = split_dims(&layout.dims, &dims, Some((d, outer))).ok_or_else(bad)?;
                match layout.reshape(&dims) {
                    Ok(layout) => Place::of(&layout),
                    Err(_) => split_blocks(layout, d, dims),
                }
            }
        };
        place.map(Some).ok_or_else(bad)
    }

    /// The argument `arg`, whose dimensions are those of the positions in `mask`, as an operand of the group.
    ///
    /// # Errors
    /// [`Skip`] for its type, or a layout with blocks.
    pub fn argument_by(&mut self, arg: Arg, mask: u32) -> Result<usize, Skip> {
        let tensor = self.tensor(arg)?;
        let mut named = Dims::default();
        for d in (0..self.space.len()).filter(|d| mask >> d & 1 == 1) {
            named.push(self.space[d]);
        }
        let layout = if *tensor.dims() == named { Some(tensor.layout.clone()) } else { tensor.layout.reshape(&named).ok() };
        let blocking = layout.as_ref().and_then(|l| l.blocking()).filter(|b| b.is_plain() && b.offset == 0 && b.padded_dims == named);
        let Some(b) = blocking else { return Err(Skip::Layout(format!("of {arg}"))) };
        let (mut strides, mut next) = (Dims::filled(self.space.len(), 0), b.strides.iter());
        for d in (0..self.space.len()).filter(|d| mask >> d & 1 == 1) {
            strides[d] = next.next().copied().unwrap_or(0);
        }
        let place = Some(Place::strided(strides));
        self.put(Operand { source: Source::Argument(arg), kind: Kind::Number(tensor.dtype), place })
    }

    /// The bits of the argument `arg`, one for each position in the order of a layout, as an operand of the group.
    ///
    /// # Errors
    /// [`Skip`] for layouts that are not strides and blocks of all positions.
    pub fn bits(&mut self, arg: Arg, order: &Layout) -> Result<usize, Skip> {
        let place = Place::of(order).filter(|_| order.dims == self.space);
        let place = Some(place.ok_or(Skip::Shape("bits that cannot be numbered"))?);
        self.put(Operand { source: Source::Argument(arg), kind: Kind::Bits, place })
    }

    /// A new table with one number for each position of the dimensions in `mask`.
    ///
    /// # Errors
    /// [`Skip`] for too many elements.
    pub fn table(&mut self, mask: u32) -> Result<Table, Skip> {
        let mut strides = Dims::filled(self.space.len(), 0);
        let mut stride = 1i64;
        for d in self.order().into_iter().rev().filter(|d| mask >> d & 1 == 1) {
            strides[d] = stride;
            stride = stride.checked_mul(self.space[d]).ok_or(Skip::Shape("too many elements"))?;
        }
        let at = self.tables;
        self.tables =
            usize::try_from(stride).ok().and_then(|n| at.checked_add(n.next_multiple_of(16))).ok_or(Skip::Shape("too many elements"))?;
        Ok(Table { at, strides })
    }

    /// The positions' dimensions from the outermost to the innermost in the memory of the operation's first tensor, those with blocks last:
    /// so elements that are contiguous there are contiguous in tables.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.space.len()).collect();
        let operands = self.problem.op.operands();
        let Some(b) = operands.first().and_then(|o| o.tensor.blocking()).filter(|b| !b.strides.has_runtime()) else { return order };
        let of = |d: usize| self.split.filter(|(at, _)| d > *at).map_or(d, |_| d - 1);
        if order.iter().all(|d| of(*d) < b.strides.len()) {
            order.sort_by_key(|d| (b.inner.of(of(*d)) > 1, std::cmp::Reverse(b.strides[of(*d)])));
        }
        order
    }

    /// A table as an operand of the group; it may have been made when no dimension was split.
    ///
    /// # Errors
    /// [`Skip`] for too many operands.
    pub fn bind(&mut self, table: &Table) -> Result<usize, Skip> {
        let mut strides = table.strides;
        if let Some((at, _)) = self.split.filter(|_| strides.len() < self.space.len()) {
            strides = Dims::from_fn(self.space.len(), |d| match d.cmp(&at) {
                Ordering::Less => table.strides[d],
                Ordering::Equal => table.strides[at] * self.space[at + 1],
                Ordering::Greater => table.strides[d - 1],
            });
        }
        let place = Some(Place::strided(strides));
        self.put(Operand { source: Source::Table(table.at), kind: Kind::Number(DataType::F32), place })
    }

    /// A row of elements of the worker's own as an operand of the group, for kernels that run all stages on a row.
    ///
    /// # Errors
    /// [`Skip`] for too many operands.
    pub fn row(&mut self) -> Result<usize, Skip> {
        let place = Some(self.of_row()?.0);
        self.put(Operand { source: Source::Row, kind: Kind::Number(DataType::F32), place })
    }

    /// Strides that make the reduced positions of the group contiguous, and their number.
    fn of_row(&self) -> Result<(Place, i64), Skip> {
        let kept = self.groups.last().map_or(0, |g| g.kept);
        let (mut strides, mut stride) = (Dims::filled(self.space.len(), 0), 1i64);
        for d in (0..self.space.len()).rev().filter(|d| kept >> d & 1 == 0) {
            strides[d] = stride;
            stride = stride.checked_mul(self.space[d]).ok_or(Skip::Shape("too many elements"))?;
        }
        Ok((Place::strided(strides), stride))
    }

    /// Sums over every `rows` rows of the group (a task), by reduced position, as an operand of the group, for kernels that run all stages
    /// on a row: each row loads it, adds to it, and stores it.
    ///
    /// # Errors
    /// [`Skip`] for too many elements or operands.
    pub fn sums(&mut self, rows: i64) -> Result<Sums, Skip> {
        let (place, width) = self.of_row()?;
        let line = usize::try_from(width).map_err(|_| Skip::Shape("too many elements"))?.next_multiple_of(LINE);
        let kept = self.groups.last_mut().map_or(1, |g| {
            g.rows = Some(rows);
            (0..g.space.len()).filter(|d| g.kept >> d & 1 == 1).map(|d| g.space[d]).product::<i64>()
        });
        let (tasks, at) = ((kept + rows - 1) / rows, self.tables);
        self.tables = (tasks as usize).checked_mul(line).and_then(|n| at.checked_add(n)).ok_or(Skip::Shape("too many elements"))?;
        let operand = self.put(Operand { source: Source::Sums(at), kind: Kind::Number(DataType::F32), place: Some(place) })?;
        let table = Table { at, strides: Dims::from_fn(2, |d| [line as i64, 1][d]) };
        Ok(Sums { operand, table, sizes: [tasks, width] })
    }

    /// Adds `r[register]` to sums; uses `r[2]` and the register after it.
    pub fn add_up(&mut self, register: usize, sums: &Sums) {
        self.copy(2, register);
        self.with(2, BinaryAlg::Add, sums.operand);
        self.store(2, sums.operand);
    }

    /// Begins a group that adds the sums of all tasks, and a stage over the reduced positions, whose mask is now [`IN_ALL`]. Returns the
    /// operands of all sums.
    ///
    /// # Errors
    /// [`Skip`] for too many elements or operands.
    pub fn total(&mut self, sums: &[&Sums]) -> Result<Vec<usize>, Skip> {
        let Some(sizes) = sums.first().map(|s| s.sizes) else { return Ok(Vec::new()) };
        self.positions(&Dims::from_fn(2, |d| sizes[d]));
        self.group(IN_ALL);
        let tables = sums.iter().map(|_| self.table(IN_ALL)).collect::<Result<Vec<_>, _>>()?;
        let totals = tables.iter().map(|table| self.bind(table)).collect::<Result<Vec<_>, _>>()?;
        self.stage(Over::All);
        for (register, (sums, total)) in sums.iter().zip(&totals).enumerate() {
            let sums = self.bind(&sums.table)?;
            self.load(register, sums);
            self.fold(register, FoldOp::Sum, *total);
        }
        self.stage(Over::Kept);
        Ok(totals)
    }

    fn push(&mut self, step: Step) {
        if let Some(stage) = self.groups.last_mut().and_then(|g| g.stages.last_mut()) {
            stage.steps.push(step);
        }
    }

    /// `r[to]` becomes the operand.
    pub fn load(&mut self, to: usize, operand: usize) {
        self.push(Step::Load { to, operand });
    }

    /// `r[to]` becomes `r[from]`.
    pub fn copy(&mut self, to: usize, from: usize) {
        self.push(Step::Copy { to, from });
    }

    /// The operand becomes `r[from]`.
    pub fn store(&mut self, from: usize, operand: usize) {
        self.push(Step::Store { from, operand });
    }

    /// Folds `r[register]` over the reduced positions into the operand at the end of the stage, which must not use the register afterwards.
    pub fn fold(&mut self, register: usize, op: FoldOp, operand: usize) {
        if let Some(stage) = self.groups.last_mut().and_then(|g| g.stages.last_mut()) {
            stage.folds.push(Fold { register, op, operand });
            debug_assert!(stage.folds.len() <= FOLDS, "folds of a stage");
        }
    }

    fn apply(&mut self, at: usize, formula: Formula) {
        self.push(Step::Apply { at, formula });
    }

    /// `r[at] = f(r[at])`.
    pub fn forward(&mut self, at: usize, alg: EltwiseAlg, alpha: f32, beta: f32) {
        self.apply(at, Formula::Forward(Unary::new(alg, alpha, beta)));
    }

    /// `r[at] = r[at] / by`, rounded once: by a product with the reciprocal if that is exact (a power of two). Uses the register after it.
    pub fn divide(&mut self, at: usize, by: f32) {
        if by.is_normal() && by.to_bits().trailing_zeros() >= f32::MANTISSA_DIGITS - 1 {
            return self.forward(at, EltwiseAlg::Linear, 1.0 / by, 0.0);
        }
        self.copy(at + 1, at);
        self.forward(at + 1, EltwiseAlg::Clip, by, by);
        self.both(at, BinaryAlg::Div);
    }

    /// `r[at] = r[at]^exponent`.
    pub fn power(&mut self, at: usize, exponent: f32) {
        match exponent {
            1.0 => {}
            2.0 => self.forward(at, EltwiseAlg::Square, 0.0, 0.0),
            0.5 => self.forward(at, EltwiseAlg::Sqrt, 0.0, 0.0),
            _ => self.forward(at, EltwiseAlg::Pow, 1.0, exponent),
        }
    }

    /// `r[0] = r[0] * f'(r[1])`.
    pub fn backward(&mut self, alg: EltwiseAlg, alpha: f32, beta: f32) {
        self.apply(0, Formula::Backward(Unary::new(alg, alpha, beta)));
    }

    /// `r[at] = alg(r[at], r[at + 1], r[at + 2])`.
    pub fn both(&mut self, at: usize, alg: BinaryAlg) {
        self.apply(at, Formula::Binary(alg));
    }

    /// `r[at] = alg(r[at], operand)`; uses the register after it.
    pub fn with(&mut self, at: usize, alg: BinaryAlg, operand: usize) {
        self.push(Step::With { at, alg, operand });
    }

    /// `r[0] = r[0] > 0 ? r[0] : r[0] * r[1]`.
    pub fn prelu(&mut self) {
        self.apply(0, Formula::Prelu);
    }

    /// `r[0] += scale * (r[1] - zero_point)`.
    pub fn accumulate(&mut self, scale: f32, zero_point: f32) {
        self.apply(0, Formula::Accumulate { scale: scale.into(), zero_point: zero_point.into() });
    }

    /// Multiplies register `at` by the scales of `of`, if it has any; uses the register after it.
    ///
    /// # Errors
    /// [`Skip`] for scales that the library computes, and for scales whose strides programs cannot express.
    pub fn scale(&mut self, at: usize, of: Arg) -> Result<(), Skip> {
        self.quant(at, Arg::scale(of), self.problem.attr.scales.get(&of), BinaryAlg::Mul)
    }

    /// Divides register `at` by the scales of `of`.
    ///
    /// # Errors
    /// As for [`Builder::scale`].
    pub fn unscale(&mut self, at: usize, of: Arg) -> Result<(), Skip> {
        self.quant(at, Arg::scale(of), self.problem.attr.scales.get(&of), BinaryAlg::Div)
    }

    /// Subtracts the zero points of `of` from register `at`.
    ///
    /// # Errors
    /// As for [`Builder::scale`].
    pub fn unshift(&mut self, at: usize, of: Arg) -> Result<(), Skip> {
        self.quant(at, Arg::zero_point(of), self.problem.attr.zero_points.get(&of), BinaryAlg::Sub)
    }

    fn quant(&mut self, at: usize, arg: Arg, quant: Option<&Quant>, alg: BinaryAlg) -> Result<(), Skip> {
        if let Some(quant) = quant {
            let operand = self.numbers(arg, quant)?;
            self.with(at, alg, operand);
        }
        Ok(())
    }

    /// The elements of a quantisation as an operand of the group.
    fn numbers(&mut self, arg: Arg, quant: &Quant) -> Result<usize, Skip> {
        if quant.mode != QuantMode::Static {
            return Err(Skip::Attr("scales that the library computes".into()));
        }
        if quant.mask != 0 && (self.space.has_runtime() || self.split.is_some()) {
            return Err(Skip::Attr("scales by dimensions that are not known or split".into()));
        }
        let place = Some(numbers(quant, &self.space));
        self.put(Operand { source: Source::Argument(arg), kind: Kind::Number(quant.dtype), place })
    }

    /// Stores the result in register 0 to `arg`: post-ops, scale and zero point if it is [`Arg::DST`], the store, and zeros in the padded
    /// area at the end.
    ///
    /// # Errors
    /// [`Skip`] for attributes, types and layouts that programs do not support.
    pub fn result(&mut self, arg: Arg) -> Result<(), Skip> {
        self.epilogue(arg)?;
        let operand = self.argument(arg)?;
        self.store(0, operand);
        self.pad(arg)
    }

    /// Post-ops, scale and zero point of register 0, if `arg` is [`Arg::DST`].
    ///
    /// # Errors
    /// As for [`Builder::result`].
    pub fn epilogue(&mut self, arg: Arg) -> Result<(), Skip> {
        let problem = self.problem;
        if arg == Arg::DST {
            self.dropout()?;
            for step in chain::steps(&problem.attr, self.tensor(arg)?.dtype, [false; 2]) {
                self.step(step?)?;
            }
        }
        if problem.attr.rounding.get(&arg) == Some(&Rounding::Stochastic) {
            let (of, seed, dtype) = (self.argument(arg)?, self.single(Arg::ROUNDING_SEED)?, self.tensor(arg)?.dtype);
            self.push(Step::Round(Round { of, seed, dtype }));
        }
        Ok(())
    }

    /// Dropout of register 0, if the problem has it; uses the register after it.
    fn dropout(&mut self) -> Result<(), Skip> {
        let Some(dropout) = &self.problem.attr.dropout else { return Ok(()) };
        let of = self.argument(Arg::DST)?;
        let mask = match &dropout.mask {
            Some(mask) => {
                let (kind, place) = (Kind::Number(mask.dtype), self.place(Arg::DROPOUT_MASK, &mask.layout)?);
                let mask = Some(self.put(Operand { source: Source::Argument(Arg::DROPOUT_MASK), kind, place })?);
                self.pad(Arg::DROPOUT_MASK)?;
                mask
            }
            None => None,
        };
        let (probability, seed) = (self.single(Arg::DROPOUT_PROBABILITY)?, self.single(Arg::DROPOUT_SEED)?);
        let offset = if dropout.use_offset { Some(self.single(Arg::DROPOUT_OFFSET)?) } else { None };
        self.push(Step::Drop(Drop { of, mask, probability, seed, offset }));
        Ok(())
    }

    /// Zeroes these bytes of `arg`, as far as it has them, before anything else.
    pub fn clear(&mut self, arg: Arg, bytes: Range<usize>) {
        self.cleared.push((arg, bytes));
    }

    /// Zeroes all elements of `arg`, if it is an argument.
    ///
    /// # Errors
    /// [`Skip`] for tensors with gaps.
    pub fn zero(&mut self, arg: Arg) -> Result<(), Skip> {
        let Some(tensor) = self.problem.tensor(arg) else { return Ok(()) };
        if !tensor.layout.is_dense(true) || tensor.blocking().is_none_or(|b| b.offset != 0) {
            return Err(Skip::Layout(format!("of {arg}: zeros between other elements")));
        }
        // The memory may go on behind the tensor, with images of other workers.
        let bytes = tensor.bytes();
        self.clear(arg, 0..bytes);
        Ok(())
    }

    /// 32-bit integers in the memory of `arg` from byte `start` on, row-major over the dimensions in `mask` with their sizes in `sizes`, as
    /// an operand of the group.
    ///
    /// # Errors
    /// [`Skip`] if they are not aligned.
    pub fn behind(&mut self, arg: Arg, start: usize, mask: u32, sizes: &Dims) -> Result<usize, Skip> {
        if !start.is_multiple_of(4) {
            return Err(Skip::Layout(format!("of {arg}: sums that are not aligned")));
        }
        let (mut strides, mut stride) = (Dims::filled(self.space.len(), 0), 1);
        for d in (0..self.space.len()).rev().filter(|d| mask >> d & 1 == 1) {
            strides[d] = stride;
            stride *= sizes[d];
        }
        let groups = Dims::filled(self.space.len(), 1);
        let place = Some(Place::Table { origin: start as i64 / 4, strides, groups });
        self.put(Operand { source: Source::Argument(arg), kind: Kind::Number(DataType::S32), place })
    }

    /// Lets padded areas that are most of a tensor be zeroed with all of it, before anything else: nothing reads results' memory.
    pub fn clear_sparse(&mut self) {
        self.clears = true;
    }

    /// Says that results of zeros are zeros: padded areas that are among the positions need no zeros at the end.
    pub fn keep_zeros(&mut self) {
        self.keeps_zeros = (Attr { scratchpad: Default::default(), ..self.problem.attr.clone() }).is_default();
    }

    /// Zeroes the padded area of `arg` at the end.
    ///
    /// # Errors
    /// [`Skip`] for its layout.
    pub fn pad(&mut self, arg: Arg) -> Result<(), Skip> {
        let tensor = self.tensor(arg)?;
        if !tensor.layout.has_runtime() && tensor.blocking().is_some_and(|b| b.padded_dims != *tensor.dims()) {
            if self.clears && super::copy::is_sparse(&tensor) {
                self.spreads = false;
                return self.zero(arg);
            }
            let nest = Nest::padding(&tensor.layout).ok_or_else(|| Skip::Layout(format!("of {arg}")))?;
            self.padding.push(Padding { arg, dtype: tensor.dtype, nest });
        }
        Ok(())
    }

    /// A step of the chain on register 0; uses the registers after it.
    fn step(&mut self, step: chain::Step) -> Result<(), Skip> {
        let [first, second] = step.operands;
        let first = first.map(|operand| self.operand(operand)).transpose()?;
        let second = second.map(|operand| self.operand(operand)).transpose()?;
        match (step.formula, first, second) {
            (Formula::Binary(alg), Some(operand), None) => self.with(0, alg, operand),
            (formula, ..) => {
                (1..).zip([first, second].into_iter().flatten()).for_each(|(to, operand)| self.load(to, operand));
                self.apply(0, formula);
            }
        }
        Ok(())
    }

    /// An operand of the chain as an operand of the group.
    fn operand(&mut self, operand: chain::Operand) -> Result<usize, Skip> {
        let (attr, dst) = (&self.problem.attr, Arg::DST);
        match (operand, attr.scales.get(&dst), attr.zero_points.get(&dst)) {
            (chain::Operand::Before(dtype), ..) => {
                let place = self.place(dst, &self.tensor(dst)?.layout)?;
                self.put(Operand { source: Source::Argument(dst), kind: Kind::Number(dtype), place })
            }
            (chain::Operand::PostOp(i, of), ..) => self.argument(Arg::post_op(i, of)),
            (chain::Operand::Scale, Some(quant), _) => self.numbers(Arg::scale(dst), quant),
            (chain::Operand::ZeroPoint, _, Some(quant)) => self.numbers(Arg::zero_point(dst), quant),
            (operand, ..) => Err(Skip::Attr(format!("{operand:?} of a program"))),
        }
    }

    /// The last group and the padded areas, for kernels that run the stages themselves.
    pub(super) fn last_group(&mut self) -> Option<(Draft, Vec<Padding>)> {
        Some((self.groups.pop()?, std::mem::take(&mut self.padding)))
    }

    /// The pipeline and its bytes of scratch.
    ///
    /// # Errors
    /// [`Skip`] for operands whose blocks do not nest, and for folds without positions.
    pub fn finish(self) -> Result<(Pipeline, usize), Skip> {
        let (mut groups, mut partials, mut padding) = (Vec::new(), 0, self.padding);
        for Draft { kept, mut space, operands, stages, rows } in self.groups {
            let mut places: Option<Vec<Place>> = operands.iter().map(|o| o.place.clone()).collect();
            if let Some(places) = places.as_mut().filter(|_| self.spreads && (0..space.len()).all(|d| kept >> d & 1 == 1)) {
                let is_all = spread(&mut space, places);
                padding.retain(|_| !(is_all && self.keeps_zeros));
            }
            let whole = whole(&operands, &stages);
            let grid = match places {
                None => None,
                Some(places) => {
                    let new = |cost| Grid::new(&space, kept, &places, cost).ok_or_else(|| Skip::Layout("blocks that do not nest".into()));
                    let grid = new((!whole).then(|| cost(&stages)))?;
                    let grid = if let Some(rows) = rows { grid.in_tasks(rows) } else { grid };
                    // Tasks share no bytes of single bits only if positions are in the order of the bits.
                    let bits = stored(&stages).any(|o| operands[o].kind.bits() == 1);
                    Some(if bits && !grid.kept.follows(0) { new(None)? } else { grid })
                }
            };
            if let Some(grid) = &grid {
                if grid.folds_nothing() && stages.iter().any(|s| !s.folds.is_empty()) {
                    return Err(Skip::Shape("nothing to fold"));
                }
                partials = partials.max(grid.partials());
            }
            groups.push(Group { space, operands, stages, grid });
        }
        let numbers = partials.checked_add(self.tables).and_then(|n| n.checked_mul(4)).ok_or(Skip::Shape("too many elements"))?;
        Ok((Pipeline { groups, padding, cleared: self.cleared, tables: self.tables }, numbers))
    }
}

/// Includes padded areas, which are zeroed at the end, in the positions of the space, if all operands have them: then tensors with blocks
/// are whole runs of memory. Whether positions are then all that the operands have.
fn spread(space: &mut Dims, places: &mut [Place]) -> bool {
    let exist = *space;
    let volume = |place: &Place| if let Place::Tensor(_, blocking) = place { blocking.padded_dims.volume() } else { None };
    let is_near = places.first().and_then(volume).is_some_and(|volume| volume <= NEAR);
    for d in (0..space.len()).filter(|d| exist[*d] > 0) {
        let is_broadcast = |dims: &Dims| dims[d] == 1 && exist[d] > 1;
        let sizes = places.iter().filter_map(|place| match place {
            Place::Tensor(dims, _) if is_broadcast(dims) => None,
            Place::Tensor(_, blocking) => Some(blocking.padded_dims[d]),
            Place::Table { strides, .. } => (strides[d] != 0).then_some(exist[d]),
        });
        let (least, most) = sizes.fold((i64::MAX, 0), |(least, most), size| (size.min(least), size.max(most)));
        let skips = |place: &Place| is_near && matches!(place, Place::Tensor(dims, blocking) if skips_lines(dims, blocking, d));
        if least != most || most == exist[d] || places.iter().any(skips) {
            continue;
        }
        space[d] = most;
        for place in places.iter_mut() {
            match place {
                Place::Tensor(dims, _) if !is_broadcast(dims) => dims[d] = most,
                _ => {}
            }
        }
    }
    let whole =
        |dims: &Dims, b: &Blocking| (0..exist.len()).all(|d| dims[d] == b.padded_dims[d] && (space[d] == exist[d] || dims[d] == space[d]));
    places.iter().all(|place| matches!(place, Place::Tensor(dims, blocking) if whole(dims, blocking)))
}

/// Size of a dimension with padding, relative to that without, from which on its padding is most of a tensor.
const SPARSE: i64 = 4;
/// Most elements of a tensor, with its padding, that are in the caches when padded areas are zeroed at the end: from memory, one pass over all is faster.
const NEAR: i64 = 1 << 20;

/// Whether a dimension's padding is most of a tensor, and fills blocks between those that exist, which need not be read.
pub fn skips_lines(dims: &Dims, b: &Blocking, d: usize) -> bool {
    b.padded_dims[d] >= SPARSE * dims[d] && b.inner.iter().last().is_some_and(|(dim, _)| dim != d)
}

/// Whether elements that share a byte may be stored out of memory order, so that one task must store them all.
fn whole(operands: &[Operand], stages: &[Stage]) -> bool {
    stored(stages).any(|o| operands[o].kind.bits() == 4 || operands[o].kind.bits() == 1 && o != 0)
}

/// The cost of a position over all stages.
fn cost(stages: &[Stage]) -> Cost {
    let long = |stage: &Stage| stage.steps.iter().filter(|step| step.is_long()).count() as i64;
    let all = || stages.iter().filter(|stage| stage.over == Over::All);
    Cost { weight: all().map(|stage| 1 + (LONG_STEP_COST - 1) * long(stage)).sum::<i64>().max(1), passes: all().count() }
}

/// The operands that stages store.
fn stored(stages: &[Stage]) -> impl Iterator<Item = usize> + '_ {
    let stored = |step: &Step| if let Step::Store { operand, .. } = step { Some(*operand) } else { None };
    stages.iter().flat_map(|s| &s.steps).filter_map(stored)
}

/// `dims`, a tensor's, with dimension `split.0` as two: sizes `split.1` and the rest if the tensor has its full size (that of `full`), else
/// 1 and 1.
fn split_dims(dims: &Dims, full: &Dims, split: Split) -> Option<Dims> {
    let Some((at, outer)) = split else { return Some(*dims) };
    let mut out = Vec::with_capacity(dims.len() + 1);
    for (d, &size) in dims.iter().enumerate() {
        match d == at {
            true if size == full[d] => out.extend([outer, size / outer.max(1)]),
            true => out.extend([1, size]),
            false => out.push(size),
        }
    }
    Dims::new(&out)
}

/// A tensor with blocks along dimension `d`, which is two of `dims`, if the inner one is whole blocks or a part of a block; else `None`.
fn split_blocks(layout: &Layout, d: usize, dims: Dims) -> Option<Place> {
    let b = layout.blocking().filter(|b| b.padded_dims[d] == layout.dims[d] && b.padded_offsets.iter().all(|o| *o == 0))?;
    if b.inner.len() == MAX_NDIMS {
        return None;
    }
    let (inner, block) = (dims[d + 1], b.inner.of(d));
    let two = |v: &Dims, [first, second]: [i64; 2]| {
        Dims::from_fn(dims.len(), |e| match e.cmp(&d) {
            Ordering::Less => v[e],
            Ordering::Equal => first,
            Ordering::Greater => {
                if e == d + 1 {
                    second
                } else {
                    v[e - 1]
                }
            }
        })
    };
    let mut blocks = Blocks::default();
    for (e, size) in b.inner.iter() {
        match e.cmp(&d) {
            Ordering::Less => blocks.push(e, size),
            Ordering::Greater => blocks.push(e + 1, size),
            Ordering::Equal if inner % block == 0 => blocks.push(d + 1, size),
            Ordering::Equal if size == block && block % inner == 0 => {
                blocks.push(d, block / inner);
                blocks.push(d + 1, inner);
            }
            Ordering::Equal => return None,
        }
    }
    let whole = (inner / block).max(1);
    Some(Place::Tensor(
        dims,
        Blocking {
            padded_dims: two(&b.padded_dims, [dims[d], inner]),
            padded_offsets: Dims::filled(dims.len(), 0),
            offset: b.offset,
            strides: two(&b.strides, [b.strides[d] * whole, b.strides[d]]),
            inner: blocks,
            compensation: None,
        },
    ))
}

/// The place of the elements of `quant` for a tensor of `dims`: row-major over groups.
fn numbers(quant: &Quant, dims: &Dims) -> Place {
    let (n, mut strides) = (dims.len(), Dims::filled(dims.len(), 0));
    if quant.mask != 0 {
        let (sizes, mut stride) = (quant.dims(dims), 1);
        for d in (0..n).rev().filter(|&d| sizes[d] > 1) {
            strides[d] = stride;
            stride *= sizes[d];
        }
    }
    let group = |d: usize| if quant.groups.is_empty() || d + 2 < n { 1 } else { quant.groups[d + 2 - n].max(1) };
    Place::Table { origin: 0, strides, groups: Dims::from_fn(n, group) }
}

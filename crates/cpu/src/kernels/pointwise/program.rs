//! Programs over chunks: what happens to an element between its loads and its store.

use super::formula::{self, Unary};
use super::{CHUNK, Chunk, GRAIN, Memory, Nest, OPERANDS, Place, split};
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::Scratch;
use crate::row::Kernel;
use oxidnn_runtime::{Ctx, Skip};
use oxidnn_spec::op::{BinaryAlg, EltwiseAlg};
use oxidnn_spec::{Arg, DataType, Dims, Error, PostOp, Problem, Quant, QuantMode, Rounding, Tensor};

/// Registers of a program; 0 is the result.
const REGISTERS: usize = 4;

/// One instruction.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Step {
    /// Loads operand `operand` into register `to`.
    Load { to: usize, operand: usize },
    /// `r[at] = f(r[at])`.
    Forward { at: usize, f: Unary },
    /// `r[0] = r[0] * f'(r[1])`.
    Backward(Unary),
    /// `r[at] = alg(r[at], r[at + 1], r[at + 2])`.
    Both { at: usize, alg: BinaryAlg },
    /// `r[0] = prelu(r[0], r[1])`.
    Prelu,
    /// `r[0] += scale * (r[1] - zero_point)`.
    Accumulate { scale: f32, zero_point: f32 },
}

/// An execution argument with the type it is read as, and its place.
#[derive(Clone, Debug)]
struct Operand {
    arg: Arg,
    dtype: DataType,
    place: Option<Place>,
}

/// A program in the making. Operand 0 is the destination.
#[derive(Debug)]
pub struct Program<'p> {
    problem: &'p Problem,
    dims: Dims,
    operands: Vec<Operand>,
    steps: Vec<Step>,
}

/// A finished program with its loops.
#[derive(Debug)]
pub struct Chunks {
    dims: Dims,
    operands: Vec<Operand>,
    steps: Vec<Step>,
    /// `None` where sizes are known only at execution.
    nest: Option<Nest>,
    padding: Nest,
}

impl<'p> Program<'p> {
    /// A program that computes `dst` of `problem` (layouts resolved).
    ///
    /// # Errors
    /// [`Skip`] for attributes, types and layouts that programs do not do.
    pub fn new(problem: &'p Problem, dst: Arg) -> Result<Program<'p>, Skip> {
        let attr = &problem.attr;
        if attr.dropout.is_some() {
            return Err(Skip::Attr("dropout".into()));
        }
        if attr.rounding.values().any(|&r| r == Rounding::Stochastic) {
            return Err(Skip::Attr("stochastic rounding".into()));
        }
        let tensor = problem.tensor(dst).ok_or(Skip::Op("without a destination"))?;
        let mut program = Program { problem, dims: *tensor.dims(), operands: Vec::new(), steps: Vec::new() };
        program.operand(dst, &tensor, tensor.dtype)?;
        Ok(program)
    }

    fn operand(&mut self, arg: Arg, tensor: &Tensor, dtype: DataType) -> Result<usize, Skip> {
        let place = match tensor.layout.blocking() {
            None if tensor.dtype == dtype && tensor.dims().len() == 1 => Some(Place::single(self.dims.len())),
            None => return Err(Skip::Layout(format!("of {arg}"))),
            Some(_) if tensor.layout.has_runtime() => None,
            Some(_) => Some(Place::of(&tensor.layout).ok_or_else(|| Skip::Layout(format!("of {arg}")))?),
        };
        self.put(Operand { arg, dtype, place })
    }

    fn put(&mut self, operand: Operand) -> Result<usize, Skip> {
        if matches!(operand.dtype, DataType::F64 | DataType::S64) {
            return Err(Skip::DataType(format!("{} of {}", operand.dtype, operand.arg)));
        }
        if self.operands.len() == OPERANDS {
            return Err(Skip::Attr(format!("more than {OPERANDS} tensors")));
        }
        self.operands.push(operand);
        Ok(self.operands.len() - 1)
    }

    /// Loads the argument `arg`, broadcast where its size is 1, into register `to`.
    ///
    /// # Errors
    /// As for [`Program::new`].
    pub fn load(&mut self, to: usize, arg: Arg) -> Result<(), Skip> {
        let tensor = self.problem.tensor(arg).ok_or_else(|| Skip::Layout(format!("of {arg}: there is none")))?;
        let operand = self.operand(arg, &tensor, tensor.dtype)?;
        self.steps.push(Step::Load { to, operand });
        Ok(())
    }

    /// `r[at] = f(r[at])`.
    pub fn forward(&mut self, at: usize, alg: EltwiseAlg, alpha: f32, beta: f32) {
        self.steps.push(Step::Forward { at, f: Unary { alg, alpha, beta } });
    }

    /// `r[0] = r[0] * f'(r[1])`.
    pub fn backward(&mut self, alg: EltwiseAlg, alpha: f32, beta: f32) {
        self.steps.push(Step::Backward(Unary { alg, alpha, beta }));
    }

    /// `r[at] = alg(r[at], r[at + 1], r[at + 2])`.
    pub fn both(&mut self, at: usize, alg: BinaryAlg) {
        self.steps.push(Step::Both { at, alg });
    }

    /// `r[0] = r[0] > 0 ? r[0] : r[0] * r[1]`.
    pub fn prelu(&mut self) {
        self.steps.push(Step::Prelu);
    }

    /// `r[0] += scale * (r[1] - zero_point)`.
    pub fn accumulate(&mut self, scale: f32, zero_point: f32) {
        self.steps.push(Step::Accumulate { scale, zero_point });
    }

    /// Multiplies register `at` by the scales of `of`, where there are any; uses the register behind it.
    ///
    /// # Errors
    /// As for [`Program::new`].
    pub fn scale(&mut self, at: usize, of: Arg) -> Result<(), Skip> {
        self.quant(at, Arg::scale(of), self.problem.attr.scales.get(&of), BinaryAlg::Mul)
    }

    /// Subtracts the zero points of `of` from register `at`.
    ///
    /// # Errors
    /// As for [`Program::new`].
    pub fn unshift(&mut self, at: usize, of: Arg) -> Result<(), Skip> {
        self.quant(at, Arg::zero_point(of), self.problem.attr.zero_points.get(&of), BinaryAlg::Sub)
    }

    fn quant(&mut self, at: usize, arg: Arg, quant: Option<&Quant>, alg: BinaryAlg) -> Result<(), Skip> {
        let Some(quant) = quant else { return Ok(()) };
        if quant.mode != QuantMode::Static {
            return Err(Skip::Attr("scales that the library computes".into()));
        }
        let place = if self.dims.has_runtime() && quant.mask != 0 { None } else { Some(table(quant, &self.dims)) };
        if place.is_none() {
            return Err(Skip::Attr("scales of runtime dimensions".into()));
        }
        let operand = self.put(Operand { arg, dtype: quant.dtype, place })?;
        self.steps.push(Step::Load { to: at + 1, operand });
        self.steps.push(Step::Both { at, alg });
        Ok(())
    }

    /// The post-ops of the problem and the destination's scale and zero point, if the destination is [`Arg::DST`]; then the loops.
    ///
    /// # Errors
    /// As for [`Program::new`].
    pub fn finish(mut self) -> Result<Chunks, Skip> {
        let attr = &self.problem.attr;
        if self.operands[0].arg == Arg::DST {
            for (i, post_op) in attr.post_ops.iter().enumerate() {
                self.post_op(i, post_op)?;
            }
            self.quant(0, Arg::scale(Arg::DST), attr.scales.get(&Arg::DST), BinaryAlg::Div)?;
            self.quant(0, Arg::zero_point(Arg::DST), attr.zero_points.get(&Arg::DST), BinaryAlg::Add)?;
        }
        let Program { problem, dims, operands, steps } = self;
        let uneven = || Skip::Layout("blocks that do not nest".into());
        let places: Option<Vec<Place>> = operands.iter().map(|o| o.place.clone()).collect();
        let nest = places.map(|p| Nest::over(&dims, &p).ok_or_else(uneven)).transpose()?;
        let padding = match problem.tensor(operands[0].arg) {
            Some(t) if nest.is_some() => Nest::padding(&t.layout).ok_or_else(uneven)?,
            _ => Nest::default(),
        };
        Ok(Chunks { dims, operands, steps, nest, padding })
    }

    fn post_op(&mut self, i: usize, post_op: &PostOp) -> Result<(), Skip> {
        match post_op {
            PostOp::Sum { scale, zero_point, dtype } => {
                let Operand { arg, dtype: own, place } = self.operands[0].clone();
                let operand = self.put(Operand { arg, dtype: dtype.unwrap_or(own), place })?;
                self.steps.push(Step::Load { to: 1, operand });
                self.accumulate(scale.get(), *zero_point as f32);
            }
            PostOp::Eltwise { alg, alpha, beta } => self.forward(0, *alg, alpha.get(), beta.get()),
            PostOp::Binary { alg, src2, .. } => {
                self.load(1, Arg::post_op(i, Arg::SRC_1))?;
                if src2.is_some() {
                    self.load(2, Arg::post_op(i, Arg::SRC_2))?;
                }
                self.both(0, *alg);
            }
            PostOp::Prelu { .. } => {
                self.load(1, Arg::post_op(i, Arg::WEIGHTS))?;
                self.prelu();
            }
            PostOp::Depthwise { .. } => return Err(Skip::Attr("a depthwise post-op".into())),
        }
        Ok(())
    }
}

/// Where the numbers of `quant` lie for a tensor of `dims`: row-major over groups.
fn table(quant: &Quant, dims: &Dims) -> Place {
    let (n, sizes) = (dims.len(), quant.dims(dims));
    let mut strides = Dims::filled(n, 0);
    let mut stride = 1;
    for d in (0..n).rev().filter(|&d| sizes[d] > 1) {
        strides[d] = stride;
        stride *= sizes[d];
    }
    let group = |d: usize| if quant.groups.is_empty() || d + 2 < n { 1 } else { quant.groups[d + 2 - n].max(1) };
    Place::Table { strides, groups: Dims::from_fn(n, group) }
}

impl Chunks {
    /// The operands' memory.
    fn bind(&self, ctx: &Ctx<'_>) -> Result<[Memory; OPERANDS], Error> {
        let mut memory = [Memory::default(); OPERANDS];
        for (m, o) in memory.iter_mut().zip(&self.operands) {
            *m = Memory { buf: ctx.buf(o.arg)?, dtype: o.dtype };
        }
        Ok(memory)
    }

    /// The loops for the sizes that the arguments have.
    fn late_nest(&self, ctx: &Ctx<'_>) -> Result<Nest, Error> {
        let mut places = Vec::with_capacity(self.operands.len());
        for o in &self.operands {
            let place = match &o.place {
                Some(p) => Some(p.clone()),
                None => ctx.bound(o.arg).and_then(|b| Place::of(&b.tensor.layout)),
            };
            places.push(place.ok_or_else(|| Error::arg(o.arg, "a layout with runtime sizes", "one without"))?);
        }
        let dims = ctx.bound(self.operands[0].arg).map_or(self.dims, |b| *b.tensor.dims());
        Nest::over(&dims, &places).ok_or_else(|| Error::Runtime("blocks of the arguments do not nest".into()))
    }

    fn chunk(&self, simd: Simd, memory: &[Memory; OPERANDS], chunk: &Chunk<'_>, registers: &mut [[f32; CHUNK]; REGISTERS]) {
        let n = chunk.len();
        for step in &self.steps {
            match *step {
                Step::Load { to, operand } => memory[operand].load(simd, chunk, operand, &mut registers[to]),
                Step::Forward { at, f } => formula::forward(simd, f, &mut registers[at][..n]),
                Step::Backward(f) => {
                    let (x, rest) = registers.split_at_mut(1);
                    formula::backward(simd, f, &mut x[0][..n], &rest[0][..n]);
                }
                Step::Both { at, alg } => {
                    let (x, rest) = registers.split_at_mut(at + 1);
                    let z = rest.get(1).unwrap_or(&rest[0]);
                    formula::both(simd, alg, &mut x[at][..n], &rest[0][..n], &z[..n]);
                }
                Step::Prelu => {
                    let (x, rest) = registers.split_at_mut(1);
                    formula::prelu(simd, &mut x[0][..n], &rest[0][..n]);
                }
                Step::Accumulate { scale, zero_point } => {
                    let (x, rest) = registers.split_at_mut(1);
                    formula::accumulate(simd, scale, zero_point, &mut x[0][..n], &rest[0][..n]);
                }
            }
        }
        memory[0].store(simd, chunk, 0, &registers[0]);
    }
}

impl Kernel for Chunks {
    fn run(&self, simd: Simd, ctx: &Ctx<'_>, _scratch: Scratch<'_>) -> Result<(), Error> {
        let memory = self.bind(ctx)?;
        let late;
        let nest = match &self.nest {
            Some(nest) => nest,
            None => {
                late = self.late_nest(ctx)?;
                &late
            }
        };
        let whole_bytes = memory[0].dtype.bits() >= 8;
        let grain = if whole_bytes { GRAIN } else { i64::MAX };
        split(ctx.executor, nest.volume(), grain, &|range| {
            let mut registers = [[0.0; CHUNK]; REGISTERS];
            nest.walk(range, |chunk| self.chunk(simd, &memory, chunk, &mut registers));
        });
        zero(simd, &memory[0], &self.padding, ctx);
        Ok(())
    }
}

/// Writes zeros to every position of `nest`, whose only operand `memory` is.
pub(crate) fn zero(simd: Simd, memory: &Memory, nest: &Nest, ctx: &Ctx<'_>) {
    let grain = if memory.dtype.bits() >= 8 { GRAIN } else { i64::MAX };
    split(ctx.executor, nest.volume(), grain, &|range| {
        nest.walk(range, |chunk| memory.store(simd, chunk, 0, &[0.0; CHUNK]));
    });
}

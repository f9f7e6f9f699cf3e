//! `packed:jit` and `packed:amx`, backward: backpropagation through time, layers from the last to the first.
//!
//! Step by step the gradients of the gates' sums, the *deltas*, are computed from the gradients of states, which are products of the
//! previous step's deltas and the transposed weights. Then the gradients of a layer's input and of all weights are products over all steps
//! at once. Gates are computed in f32, as the workspace has them; the rounding of states counts as the identity. If weights are bf16 and
//! the processor multiplies bf16, deltas are rounded to bf16 for the products, as states are in forward passes.
//!
//! Deltas are stored twice: in rows of samples, as tiles read their left operand, and in f32 panels of channels, as tiles read their right
//! operand.

use super::cut::{Cut, On};
use super::forward::{check_amx, factors, is_backward, rows_of};
use super::parameters::{self, Parameters, Space};
use super::sizes::{Panels, Sizes};
use super::skinny::{self, Rows, Skinny};
use super::states::{self, Codec, Lines};
use super::step::Step;
use super::sweep::Sweep;
use super::weights::{Roles, Weights};
use crate::CpuTarget;
use crate::kernels::access::View;
use crate::kernels::gemm::{self, Gemm, Kind, Operands};
use crate::kernels::multiversion::Simd;
use crate::kernels::nest::Right;
use crate::kernels::scratch::{Part, Scratch, booked, for_workers};
use crate::kernels::tile::{Product, Stride, Tail, TailArgs};
use crate::ops::support;
use crate::row::{Generated, RowPlan, TOO_LARGE};
use oxidnn_jit::Isa;
use oxidnn_runtime::{Buf, Ctx, Decision, Plan, Skip};
use oxidnn_spec::op::{Rnn, RnnCell, RnnDirection};
use oxidnn_spec::{Arg, Attr, DataType, Error, Op, Problem};
use std::sync::Arc;

/// The representation of everything in scratch.
const F32: Codec = Codec::plain(DataType::F32);

/// A planned backward pass.
#[derive(Debug)]
pub(super) struct Backward {
    pub(super) op: Rnn,
    pub(super) z: Sizes,
    pub(super) cut: Cut,
    workers: usize,
    /// The type of the products.
    pub(super) product: Product,
    /// Channels of gates and cells, of the states that a step gives, and of those that it takes.
    pub(super) gates: Panels,
    pub(super) outputs: Panels,
    pub(super) states: Panels,
    layer: Weights,
    pub(super) iter: Weights,
    pub(super) projection: Option<Weights>,
    /// Products of deltas with the weights of the state, and of gradients with those of the projection.
    pub(super) skinny: Skinny,
    pub(super) second: Option<Skinny>,
    /// Products for the gradients of a layer's input.
    inputs: Gemm,
    parameters: Parameters,
    /// Factors of linear activations by gate, and of the cell.
    pub(super) linear: Option<[f32; 5]>,
    /// Elements of a row of the workspace.
    pub(super) workspace_row: usize,
    src: Option<(usize, usize)>,
    lens: Lens,
}

/// Elements of scratch by purpose; see [`Sweep`].
#[derive(Clone, Copy, Default, Debug)]
struct Lens {
    layer: usize,
    iter: usize,
    projection: usize,
    peephole: usize,
    src: usize,
    first: usize,
    cell: usize,
    dh: usize,
    dc: usize,
    given: usize,
    given_panels: usize,
    given_words: usize,
    outputs: usize,
    rows: usize,
    panels: usize,
    words: usize,
    reset: usize,
    attention: usize,
    /// Left operands of the gradients of weights: inputs, and states.
    sides: [usize; 2],
    workers: usize,
}

impl Lens {
    /// Bytes in total; `None` on overflow.
    fn bytes(&self) -> Option<usize> {
        let Lens { layer, iter, projection, peephole, src, first, cell, dh, dc, .. } = *self;
        let Lens { given, given_panels, given_words, outputs, rows, panels, words, reset, attention, sides: [x, h], workers, .. } = *self;
        let states = [first, cell, dh, dc, given, given_panels, given_words, outputs];
        let all =
            [&[layer, iter, projection, peephole, src][..], &states, &[rows, panels, words, reset, attention, x, h, workers]].concat();
        booked(&all)
    }
}

/// Whether all weights are bf16, so that products are.
fn has_pairs(op: &Rnn) -> bool {
    let weights = [Some(&op.weights_layer), Some(&op.weights_iter), op.weights_projection.as_ref()];
    weights.into_iter().flatten().all(|t| t.dtype == DataType::Bf16)
}

/// Takes backward passes of floating-point elements; on AMX those whose weights it multiplies, if it is faster.
///
/// # Errors
/// Problems that the row does not take.
pub(super) fn plan(problem: &Problem, target: &CpuTarget, isa: Isa) -> Result<Box<dyn Plan>, Skip> {
    let Op::Rnn(op) = &problem.op else { return Err(Skip::Op("anything but a recurrent network")) };
    match has_pairs(op) {
        false if isa.amx => Err(Skip::DataType("weights that are not bf16".into())),
        true if isa.amx => {
            check_amx(&Sizes::of(op)?, Product::Bf16)?;
            plan_on(problem, target, (isa, Product::Bf16))
        }
        true if isa.bf16 => plan_on(problem, target, (isa, Product::Bf16)).or_else(|_| plan_on(problem, target, (isa, Product::F32))),
        _ => plan_on(problem, target, (isa, Product::F32)),
    }
}

fn plan_on(problem: &Problem, target: &CpuTarget, (isa, product): (Isa, Product)) -> Result<Box<dyn Plan>, Skip> {
    let Op::Rnn(op) = &problem.op else { return Err(Skip::Op("anything but a recurrent network")) };
    let z = Sizes::of(op)?;
    let [inputs, states, gates] = [z.slc, z.sic, z.dhc].map(|n| Panels::of(isa, n));
    let mut problem = problem.clone();
    if let Op::Rnn(op) = &mut problem.op {
        Weights::resolve(&mut op.weights_layer, Roles::LAYER_BACK, inputs, product)?;
        Weights::resolve(&mut op.weights_iter, Roles::ITER_BACK, states, product)?;
        if let Some(projection) = &mut op.weights_projection {
            Weights::resolve(projection, Roles::PROJECTION_BACK, gates, product)?;
        }
    }
    problem.resolve();
    support::dense(&problem)?;
    let Op::Rnn(op) = &problem.op else { return Err(Skip::Op("anything but a recurrent network")) };
    let kernel = Backward::new((op, &problem.attr), (isa, product), target)?;
    RowPlan::of(problem, target, kernel.lens.bytes(), kernel)
}

impl Backward {
    fn new((op, attr): (&Rnn, &Attr), (isa, product): (Isa, Product), target: &CpuTarget) -> Result<Backward, Skip> {
        let z = Sizes::of(op)?;
        let [inputs, states, gates, outputs] = [z.slc, z.sic, z.dhc, z.dic].map(|n| Panels::of(isa, n));
        let iter = Weights::new(&op.weights_iter, Roles::ITER_BACK, states, product)?;
        let projection = op.weights_projection.as_ref().map(|t| Weights::new(t, Roles::PROJECTION_BACK, gates, product));
        let cut = Cut::new(&z, target, states.count, iter.stack_bytes());
        let deltas = z.dhc.next_multiple_of(product.depth());
        let sizes =
            gemm::Sizes { batch: z.directions, rows: z.samples(), columns: inputs.padded(), width: inputs.width, depth: z.gates * deltas };
        let tail = Some(Arc::new(Tail::raw()));
        let kind = Kind { isa, product, right: Right::Panels, a_step: Stride::Fixed(4), begins: false, tail };
        let mut backward = Backward {
            cut,
            workers: target.threads,
            product,
            gates,
            outputs,
            states,
            layer: Weights::new(&op.weights_layer, Roles::LAYER_BACK, inputs, product)?,
            skinny: Skinny::new(isa, product, [deltas, states.width], (&cut, z.time)),
            second: projection
                .is_some()
                .then(|| Skinny::new(isa, product, [z.dic.next_multiple_of(product.depth()), gates.width], (&cut, z.time))),
            projection: projection.transpose()?,
            iter,
            inputs: Gemm::new(kind, sizes, target)?,
            parameters: Parameters::new(op, &z, (isa, product), target)?,
            linear: attr.rnn.linear.as_ref().map(factors),
            workspace_row: op.workspace_row().unwrap_or(0) as usize,
            src: rows_of(&op.src_layer).filter(|_| op.src_layer.dtype == DataType::F32),
            lens: Lens::default(),
            op: op.clone(),
            z,
        };
        backward.lens = backward.lens().ok_or(TOO_LARGE)?;
        Ok(backward)
    }

    /// Elements of scratch.
    fn lens(&self) -> Option<Lens> {
        let z = &self.z;
        let all = z.directions.checked_mul(z.time)?.checked_mul(z.batch)?;
        let (rows, padded) = (z.directions.checked_mul(z.batch)?, self.gates.padded());
        let when = |there: bool, len: Option<usize>| if there { len } else { Some(0) };
        let (lstm, projected) = (self.op.cell == RnnCell::Lstm, self.projection.is_some());
        let deltas = all.checked_mul(z.bias_gates)?;
        let narrow = self.product != Product::F32;
        let words = z.directions.checked_mul(self.parameters.words())?;
        let widest = self.states.width.max(self.gates.width).max(self.outputs.width);
        let each = self.cut.tallest().checked_mul(widest)?;
        let products = self.inputs.scratch_len()?.max(self.parameters.scratch_len()?);
        Some(Lens {
            layer: self.layer.scratch_len()?,
            iter: self.iter.scratch_len()?,
            projection: self.projection.as_ref().map_or(Some(0), Weights::scratch_len)?,
            peephole: when(self.op.weights_peephole.is_some(), z.stacks().checked_mul(3)?.checked_mul(padded))?,
            src: when(self.src.is_none(), all.checked_mul(z.slc))?,
            first: rows.checked_mul(self.state_width())?,
            cell: when(lstm, rows.checked_mul(padded))?,
            dh: rows.checked_mul(self.state_width())?,
            dc: when(lstm, rows.checked_mul(padded))?,
            given: when(projected, rows.checked_mul(self.outputs.padded()))?.div_ceil(self.product.depth()),
            given_panels: when(projected, all.checked_mul(self.outputs.padded()))?,
            given_words: when(projected && narrow, words.checked_mul(self.outputs.padded()))?,
            outputs: all.checked_mul(self.output_width())?,
            rows: deltas.checked_mul(self.delta_channels())?.div_ceil(self.product.depth()),
            panels: deltas.checked_mul(padded)?,
            words: when(narrow, words.checked_mul(z.bias_gates)?.checked_mul(padded))?,
            reset: when(self.resets_first(), all.checked_mul(padded))?,
            attention: when(self.op.attention.is_some(), all.checked_mul(self.gates.count))?,
            sides: self.parameters.sides(z, self.resets_first())?,
            workers: products.max(for_workers(self.workers, each)?),
        })
    }

    /// Whether the reset gate is applied before the product, so that a step has a second phase.
    pub(super) fn resets_first(&self) -> bool {
        matches!(self.op.cell, RnnCell::Gru | RnnCell::Augru)
    }

    /// Bytes of an element in the products.
    pub(super) fn element(&self) -> usize {
        4 / self.product.depth()
    }

    /// Elements of a gate in a row of deltas: whole steps, zero-padded.
    pub(super) fn delta_channels(&self) -> usize {
        self.z.dhc.next_multiple_of(self.product.depth())
    }

    /// Elements of a row of states.
    pub(super) fn state_width(&self) -> usize {
        self.states.padded().max(self.outputs.padded()).max(self.gates.padded())
    }

    /// Elements of a row of gradients of a layer's results and inputs.
    pub(super) fn output_width(&self) -> usize {
        self.outputs.padded().max(self.layer.panels.padded())
    }

    fn on<'e>(&self, ctx: &Ctx<'e>, steps: usize, phases: [usize; 2]) -> On<'e> {
        On { executor: ctx.executor(), workers: self.workers, directions: self.z.directions, steps, phases }
    }
}

/// All kernels of a backward pass.
pub(super) struct Code {
    pub(super) skinny: skinny::Ready,
    pub(super) second: Option<skinny::Ready>,
    inputs: gemm::Ready,
    pub(super) parameters: parameters::Code,
}

impl Generated for Backward {
    type Code = Code;

    fn decision(&self, problem: &Problem) -> Decision {
        let mut how = self.inputs.how();
        how.algorithm =
            "gradients of a recurrent network: step by step those of states, then those of inputs and weights for all steps at once".into();
        how.blocks.push(("weights of the state of a layer and direction, which all steps meet".into(), self.iter.stack_bytes()));
        how.decision(problem)
    }

    fn build(&self) -> Result<Code, Error> {
        Ok(Code {
            skinny: self.skinny.build()?,
            second: self.second.as_ref().map(Skinny::build).transpose()?,
            inputs: self.inputs.build()?,
            parameters: self.parameters.build()?,
        })
    }

    fn run(&self, code: &Code, simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let lens = &self.lens;
        let layer = self.layer.panels(simd, ctx, scratch.take(lens.layer)?)?;
        let view = View::optional(simd, ctx, Arg::WEIGHTS_2)?;
        let lines = Lines { z: &self.z, panels: self.gates, gates: 3 };
        let sweep = Sweep {
            plan: self,
            code,
            simd,
            iter: self.iter.panels(simd, ctx, scratch.take(lens.iter)?)?,
            projection: match &self.projection {
                Some(weights) => weights.panels(simd, ctx, scratch.take(lens.projection)?)?,
                None => Buf::empty(),
            },
            peephole: lines.fill(ctx.executor(), view.as_ref(), scratch.take(lens.peephole)?),
            attention: View::optional(simd, ctx, Arg::SRC_3)?,
            workspace: ctx.buf(Arg::WORKSPACE)?,
            first: scratch.take(lens.first)?.into_buf(),
            cell: scratch.take(lens.cell)?.into_buf(),
            dh: scratch.take(lens.dh)?.into_buf(),
            dc: scratch.take(lens.dc)?.into_buf(),
            given: scratch.take(lens.given)?.into_buf(),
            given_panels: scratch.take(lens.given_panels)?.into_buf(),
            outputs: scratch.take(lens.outputs)?.into_buf(),
            rows: scratch.take(lens.rows)?.into_buf(),
            panels: scratch.take(lens.panels)?.into_buf(),
            reset: scratch.take(lens.reset)?.into_buf(),
            attention_parts: scratch.take(lens.attention)?.into_buf(),
        };
        let src = self.source(simd, ctx, scratch.take(lens.src)?)?;
        let mut space = Space {
            inputs: scratch.take(lens.sides[0])?,
            states: scratch.take(lens.sides[1])?,
            deltas: scratch.take(lens.words)?,
            given: scratch.take(lens.given_words)?,
            work: scratch.take(lens.workers)?,
        };
        self.results(simd, ctx, &sweep)?;
        for l in (0..self.z.layers).rev() {
            self.start(simd, ctx, &sweep, l)?;
            self.steps(ctx, &sweep, l, &mut space.work);
            self.leave(simd, ctx, &sweep, l)?;
            self.parameters.run((simd, ctx), &sweep, (l, &src), &mut space)?;
            self.below(ctx, &sweep, (l, layer), &mut space.work);
        }
        self.attention(simd, ctx, &sweep)?;
        self.write(simd, ctx, &sweep)
    }
}

impl Backward {
    /// Rows of the source in f32, copied unless they can be read in place.
    fn source<'a>(&self, simd: Simd, ctx: &Ctx<'a>, part: Part<'a>) -> Result<Rows<'a>, Error> {
        if let Some((start, row)) = self.src {
            return Ok(Rows { buf: ctx.buf(Arg::SRC)?, start, row });
        }
        let (z, to) = (&self.z, part.into_buf());
        let view = View::of(simd, ctx, Arg::SRC)?;
        ctx.executor().run(self.workers, z.samples(), &|_, i| {
            F32.load(&view, (&[i / z.batch, i % z.batch], 0), to, (i * z.slc, z.slc), z.slc);
        });
        Ok(Rows { buf: to, start: 0, row: z.slc * 4 })
    }

    /// Gradients of the network's results, as those of the last layer's states.
    fn results(&self, simd: Simd, ctx: &Ctx<'_>, sweep: &Sweep<'_>) -> Result<(), Error> {
        let (z, width) = (&self.z, self.output_width());
        let view = View::of(simd, ctx, Arg::DIFF_DST)?;
        ctx.executor().run(self.workers, z.directions * z.samples(), &|_, i| {
            let (d, sample) = (i / z.samples(), i % z.samples());
            let channel = if self.op.direction == RnnDirection::BidirectionalConcat { d * z.dic } else { 0 };
            let at = [sample / z.batch, sample % z.batch];
            F32.load(&view, (&at, channel), sweep.outputs, (i * width, width), z.dic);
        });
        Ok(())
    }

    /// The initial states of a layer, and the gradients of its final states.
    fn start(&self, simd: Simd, ctx: &Ctx<'_>, sweep: &Sweep<'_>, l: usize) -> Result<(), Error> {
        let (z, width, padded) = (&self.z, self.state_width(), self.gates.padded());
        let lists = [
            (Arg::SRC_1, sweep.first, z.sic, width),
            (Arg::SRC_2, sweep.cell, z.dhc, padded),
            (Arg::DIFF_DST_1, sweep.dh, z.dic, width),
            (Arg::DIFF_DST_2, sweep.dc, z.dhc, padded),
        ];
        for (arg, to, count, width) in lists {
            let Some(view) = View::optional(simd, ctx, arg)? else {
                to.fill(0);
                continue;
            };
            for i in 0..z.directions * z.batch {
                F32.load(&view, (&[l, i / z.batch, i % z.batch], 0), to, (i * width, width), count);
            }
        }
        Ok(())
    }

    /// All steps of a layer, and the gradients of its initial states if they are wanted.
    fn steps(&self, ctx: &Ctx<'_>, sweep: &Sweep<'_>, l: usize, work: &mut Part<'_>) {
        let time = |d: usize, step: usize| if is_backward(&self.op, d) { self.z.time - 1 - step } else { step };
        let steps = self.z.time;
        let second = if self.resets_first() || self.projection.is_some() { self.gates.count } else { 0 };
        self.cut.run(self.on(ctx, steps, [self.outputs.count, second]), work, &|place, share| {
            let step = steps - 1 - place.step;
            let at = |step: usize| time(place.d, step);
            let after = (place.step > 0).then(|| at(step + 1));
            sweep.panel(&Step { l, t: at(step), before: step.checked_sub(1).map(at), after, place }, share);
        });
        if self.op.diff.as_ref().is_none_or(|diff| diff.src_iter.is_none()) {
            return;
        }
        self.cut.run(self.on(ctx, 1, [self.states.count, 0]), work, &|place, share| {
            let t = time(place.d, 0);
            sweep.last(&Step { l, t, before: None, after: Some(t), place }, share);
        });
    }

    /// Stores the gradients of a layer's initial states.
    fn leave(&self, simd: Simd, ctx: &Ctx<'_>, sweep: &Sweep<'_>, l: usize) -> Result<(), Error> {
        let z = &self.z;
        let lists = [(Arg::DIFF_SRC_1, sweep.dh, z.sic, self.state_width()), (Arg::DIFF_SRC_2, sweep.dc, z.dhc, self.gates.padded())];
        for (arg, from, count, width) in lists {
            let Some(view) = View::optional(simd, ctx, arg)? else { continue };
            for i in 0..z.directions * z.batch {
                F32.store(&view, (&[l, i / z.batch, i % z.batch], 0), &[(from, i * width)], count);
            }
            if l == 0 {
                view.zero_padding();
            }
        }
        Ok(())
    }

    /// Computes the gradients of a layer's input, in the memory of those of its results.
    fn below(&self, ctx: &Ctx<'_>, sweep: &Sweep<'_>, (l, weights): (usize, Buf), work: &mut Part<'_>) {
        let (z, width) = (&self.z, self.output_width());
        let (element, a_row) = (self.element(), z.bias_gates * self.delta_channels() * self.element());
        let starts = |d: usize| [d * z.samples() * a_row, self.layer.at(l * z.directions + d, 0, 0), d * z.samples() * width * 4];
        let on = Operands {
            a: sweep.rows,
            a_row,
            a_depth: element,
            b: weights,
            b_row: self.layer.panels.width * 4,
            b_column: self.layer.panel_bytes(),
            c: sweep.outputs,
            c_row: width * 4,
            starts: &starts,
            tail: Some(&TailArgs::NONE),
            ..Operands::NONE
        };
        sweep.code.inputs.run(sweep.simd, ctx.executor(), work, &on);
    }

    /// Stores the gradient of attention: sums over the panels.
    fn attention(&self, simd: Simd, ctx: &Ctx<'_>, sweep: &Sweep<'_>) -> Result<(), Error> {
        let (z, panels) = (&self.z, self.gates.count);
        let Some(view) = View::optional(simd, ctx, Arg::DIFF_SRC_3)? else { return Ok(()) };
        for i in 0..z.samples() {
            let sum: f32 = (0..panels).map(|panel| sweep.attention_parts.get::<f32>(i * panels + panel)).sum();
            view.write(&states::position(&[i / z.batch, i % z.batch]), 2, &[sum]);
        }
        Ok(())
    }

    /// Stores the gradient of the source: the sum over the directions.
    fn write(&self, simd: Simd, ctx: &Ctx<'_>, sweep: &Sweep<'_>) -> Result<(), Error> {
        let (z, width) = (&self.z, self.output_width());
        let view = View::of(simd, ctx, Arg::DIFF_SRC)?;
        view.zero_padding();
        ctx.executor().run(self.workers, z.samples(), &|_, i| {
            let from = [(sweep.outputs, i * width), (sweep.outputs, (z.samples() + i) * width)];
            F32.store(&view, (&[i / z.batch, i % z.batch], 0), &from[..z.directions], z.slc);
        });
        Ok(())
    }
}

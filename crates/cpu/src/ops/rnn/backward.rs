//! `packed:jit` and `packed:amx`, backward: backpropagation through time, layers from the last to the first.
//!
//! Step by step the gradients of the gates' sums, the *deltas*, are computed from the gradients of states, which are products of the
//! previous step's deltas and the transposed weights. Then the gradients of a layer's input and of all weights are products over all steps
//! at once. Gates are computed in f32, as the workspace has them; the rounding of states counts as the identity. If weights are bf16 and
//! the processor multiplies bf16, deltas are rounded to bf16 for the products, as states are in forward passes.
//!
//! Deltas are stored twice: in rows of samples, as tiles read their left operand, and in f32 panels of channels, as tiles read their right
//! operand.

use super::cell_bwd::CellBwd;
use super::cell_fwd::Step;
use super::diff_weights::{self, DiffWeights, Space};
use super::forward::{TASK_WEIGHT_BYTES, check_amx, factors, is_backward, over_all_steps, rows_of};
use super::network;
use super::partition::Partition;
use super::sizes::{Panels, Sizes};
use super::skinny::{self, Skinny};
use super::states::{self, Codec, Lines, States};
use super::weights::{self, Roles, Weights};
use crate::CpuTarget;
use crate::kernels::access::View;
use crate::kernels::gemm::{self, Gemm, Kind, Operands};
use crate::kernels::macrokernel::BLayout;
use crate::kernels::microkernel::{DotType, Epilogue, EpilogueArgs, Stride};
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::{Part, Scratch, booked, for_workers};
use crate::row::{Generated, RowPlan, TOO_LARGE};
use bytemuck::{NoUninit, cast_slice};
use oxidnn_jit::Isa;
use oxidnn_runtime::{Buf, Ctx, Decision, Plan, Skip};
use oxidnn_spec::op::{Rnn, RnnCell, RnnDirection};
use oxidnn_spec::{Arg, DataType, Error, Problem, Tensor};
use std::ops::Range;
use std::slice;
use std::sync::Arc;

/// Sums of a task of several panels, which stay in L1.
const TASK_SUMS: usize = 8 << 10;

/// The representation of everything in scratch.
const F32: Codec = Codec::plain(DataType::F32);

/// A planned backward pass.
#[derive(Debug)]
pub(super) struct Backward {
    pub(super) op: Rnn,
    pub(super) z: Sizes,
    pub(super) partition: Partition,
    workers: usize,
    /// The type of the products.
    pub(super) product: DotType,
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
    parameters: DiffWeights,
    /// Factors of linear activations by gate, and of the cell.
    pub(super) linear: Option<[f32; 5]>,
    /// Elements of a row of the workspace.
    pub(super) workspace_row: usize,
    /// Byte offset and stride of the source's rows, of the gradient of the results, and of that of the source, where they are used in place.
    src: Option<(usize, usize)>,
    diff_dst: Option<(usize, usize)>,
    diff_src: Option<(usize, usize)>,
    lens: Lens,
}

/// Elements of scratch by purpose; see [`CellBwd`].
#[derive(Clone, Copy, Default, NoUninit, Debug)]
#[repr(C)]
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
    let op = network(problem)?;
    match has_pairs(op) {
        false if isa.amx => Err(Skip::DataType("weights that are not bf16".into())),
        true if isa.amx => {
            check_amx(&Sizes::of(op)?, DotType::Bf16)?;
            plan_on(problem, target, (isa, DotType::Bf16))
        }
        true if isa.bf16 => plan_on(problem, target, (isa, DotType::Bf16)).or_else(|_| plan_on(problem, target, (isa, DotType::F32))),
        _ => plan_on(problem, target, (isa, DotType::F32)),
    }
}

fn plan_on(problem: &Problem, target: &CpuTarget, (isa, product): (Isa, DotType)) -> Result<Box<dyn Plan>, Skip> {
    let panels = Backward::panels(&Sizes::of(network(problem)?)?, isa);
    let problem = weights::resolve(problem, &Roles::BACKWARD, panels, product)?;
    let kernel = Backward::new(&problem, (isa, product), target)?;
    RowPlan::of(problem, target, booked(cast_slice(slice::from_ref(&kernel.lens))), kernel)
}

impl Backward {
    /// Panels of the columns of the weights of input, state and projection.
    fn panels(z: &Sizes, isa: Isa) -> [Panels; 3] {
        [z.slc, z.sic, z.dhc].map(|n| Panels::of(isa, n))
    }

    fn new(problem: &Problem, (isa, product): (Isa, DotType), target: &CpuTarget) -> Result<Backward, Skip> {
        let op = network(problem)?;
        let z = Sizes::of(op)?;
        let panels = Backward::panels(&z, isa);
        let ([inputs, states, gates], outputs) = (panels, Panels::of(isa, z.dic));
        let (layer, iter, projection) = Weights::all(op, &Roles::BACKWARD, panels, product)?;
        let partition = Partition::new(&z, target, states.count, iter.stack_bytes());
        let deltas = z.dhc.next_multiple_of(product.step_depth());
        let sizes = gemm::Sizes { batch: z.directions, rows: z.samples(), columns: z.slc, width: inputs.width, depth: z.gates * deltas };
        let epilogue = Some(Arc::new(Epilogue::raw()));
        let diff = op.diff.as_ref().ok_or(Skip::Op("backward without gradients"))?;
        let rows = |tensor: &Tensor| rows_of(tensor).filter(|_| tensor.dtype == DataType::F32);
        let on = over_all_steps(isa, product, &sizes, target);
        let kind = Kind { isa: on, product, right: BLayout::Panels, a_step: Stride::Fixed(4), begins: false, epilogue };
        let mut backward = Backward {
            partition,
            workers: target.threads,
            product,
            gates,
            outputs,
            states,
            layer,
            skinny: Skinny::new(isa, product, [deltas, states.width], (&partition, z.time)),
            second: projection
                .is_some()
                .then(|| Skinny::new(isa, product, [z.dic.next_multiple_of(product.step_depth()), gates.width], (&partition, z.time))),
            projection,
            iter,
            inputs: Gemm::new(kind, sizes, target)?,
            parameters: DiffWeights::new(op, &z, (isa, product), target)?,
            linear: problem.attr.rnn.linear.as_ref().map(factors),
            workspace_row: op.workspace_row().unwrap_or(0) as usize,
            src: rows(&op.src_layer),
            diff_dst: rows(&diff.dst_layer),
            diff_src: rows(&diff.src_layer).filter(|_| z.directions == 1),
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
        let narrow = self.product != DotType::F32;
        let words = z.directions.checked_mul(self.parameters.words())?;
        let widest = [0, 1].map(|phase| self.phase(phase)).iter().fold(self.states.width, |most, p| most.max(p.0.width * p.1));
        let each = self.partition.tallest().checked_mul(widest)?;
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
            given: when(projected, rows.checked_mul(self.outputs.padded()))?.div_ceil(self.product.step_depth()),
            given_panels: when(projected, all.checked_mul(self.outputs.padded()))?,
            given_words: when(projected && narrow, words.checked_mul(self.outputs.padded()))?,
            outputs: when(z.layers > 1 || self.diff_dst.is_none() || self.diff_src.is_none(), all.checked_mul(self.output_width()))?,
            rows: deltas.checked_mul(self.delta_channels())?.div_ceil(self.product.step_depth()),
            panels: deltas.checked_mul(padded)?,
            words: when(narrow, words.checked_mul(z.bias_gates)?.checked_mul(padded))?,
            reset: when(self.resets_first(), all.checked_mul(padded))?,
            attention: when(self.op.attention.is_some(), all.checked_mul(self.gates.count))?,
            sides: self.parameters.sides(z, self.resets_first())?,
            workers: products.max(for_workers(self.workers, each)?),
        })
    }

    /// The panels of a phase of a step, and how many of these a task has: several if workers do not share a step, so that rows are read and
    /// written in longer runs.
    fn phase(&self, phase: usize) -> (Panels, usize) {
        let (panels, skinny, weights) = match (phase, &self.second, &self.projection) {
            (1, Some(second), Some(projection)) => (self.gates, second, projection),
            (1, ..) => (self.gates, &self.skinny, &self.iter),
            _ => (self.outputs, &self.skinny, &self.iter),
        };
        let most = (TASK_SUMS / (self.partition.tallest() * panels.width)).min(TASK_WEIGHT_BYTES / weights.panel_bytes().max(1));
        (panels, if self.partition.whole && skinny.is_whole() { most.clamp(1, panels.count) } else { 1 })
    }

    /// The panels of a phase, and those of a task.
    pub(super) fn task(&self, phase: usize, task: usize) -> (Panels, Range<usize>) {
        let (panels, each) = self.phase(phase);
        (panels, task * each..panels.count.min((task + 1) * each))
    }

    /// Whether the reset gate is applied before the product, so that a step has a second phase.
    pub(super) fn resets_first(&self) -> bool {
        matches!(self.op.cell, RnnCell::Gru | RnnCell::Augru)
    }

    /// Bytes of an element in the products.
    pub(super) fn element(&self) -> usize {
        4 / self.product.step_depth()
    }

    /// Elements of a gate in a row of deltas: whole steps, zero-padded.
    pub(super) fn delta_channels(&self) -> usize {
        self.z.dhc.next_multiple_of(self.product.step_depth())
    }

    /// Elements of a row of states.
    pub(super) fn state_width(&self) -> usize {
        self.states.padded().max(self.outputs.padded()).max(self.gates.padded())
    }

    /// Elements of a row of gradients of a layer's results and inputs.
    pub(super) fn output_width(&self) -> usize {
        self.outputs.padded().max(self.layer.panels.padded())
    }
}

/// All kernels of a backward pass.
pub(super) struct Code {
    pub(super) skinny: skinny::Ready,
    pub(super) second: Option<skinny::Ready>,
    inputs: gemm::Ready,
    pub(super) parameters: diff_weights::Code,
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
        let outputs = States::packed(F32, scratch.take(lens.outputs)?.into_buf(), self.z.time, self.z.batch, self.output_width());
        let mut cells = CellBwd {
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
            results: self.copy_init_layer(simd, ctx, outputs)?,
            rows: scratch.take(lens.rows)?.into_buf(),
            panels: scratch.take(lens.panels)?.into_buf(),
            reset: scratch.take(lens.reset)?.into_buf(),
            attention_parts: scratch.take(lens.attention)?.into_buf(),
        };
        let src = F32.copy_init_layer((simd, ctx), &self.z, self.src, scratch.take(lens.src)?)?.rows(0, 0);
        let mut space = Space {
            inputs: scratch.take(lens.sides[0])?,
            states: scratch.take(lens.sides[1])?,
            deltas: scratch.take(lens.words)?,
            given: scratch.take(lens.given_words)?,
            work: scratch.take(lens.workers)?,
        };
        for l in (0..self.z.layers).rev() {
            self.copy_init_iter(simd, ctx, &cells, l)?;
            self.steps(ctx, &cells, l, &mut space.work);
            self.copy_res_iter(simd, ctx, &cells, l)?;
            self.parameters.run((simd, ctx), &cells, (l, &src), &mut space)?;
            cells.results = match self.diff_src.filter(|_| l == 0) {
                Some((start, row)) => States { buf: ctx.buf(Arg::DIFF_SRC)?, start, row, ..outputs },
                None => outputs,
            };
            self.diff_layer_gemm(ctx, &cells, (l, layer), &mut space.work);
        }
        self.attention(simd, ctx, &cells)?;
        self.copy_res_layer(simd, ctx, outputs)
    }
}

impl Backward {
    /// Gradients of the network's results, as those of the last layer's states: in place, or copied.
    fn copy_init_layer<'a>(&self, simd: Simd, ctx: &Ctx<'a>, outputs: States<'a>) -> Result<States<'a>, Error> {
        let (z, width) = (&self.z, self.output_width());
        let both = self.op.direction == RnnDirection::BidirectionalConcat;
        if let Some((start, row)) = self.diff_dst {
            let direction = if both { z.dic * 4 } else { 0 };
            return Ok(States { codec: F32, buf: ctx.buf(Arg::DIFF_DST)?, start, direction, time: z.batch * row, row });
        }
        let view = View::of(simd, ctx, Arg::DIFF_DST)?;
        ctx.executor().run(self.workers, z.directions * z.samples(), &|_, i| {
            let (d, sample) = (i / z.samples(), i % z.samples());
            let channel = if both { d * z.dic } else { 0 };
            let at = [sample / z.batch, sample % z.batch];
            F32.load(&view, (&at, channel), outputs.buf, (i * width, width), z.dic);
        });
        Ok(outputs)
    }

    /// The initial states of a layer, and the gradients of its final states.
    fn copy_init_iter(&self, simd: Simd, ctx: &Ctx<'_>, cells: &CellBwd<'_>, l: usize) -> Result<(), Error> {
        let (z, width, padded) = (&self.z, self.state_width(), self.gates.padded());
        let lists = [
            (Arg::SRC_1, cells.first, z.sic, width),
            (Arg::SRC_2, cells.cell, z.dhc, padded),
            (Arg::DIFF_DST_1, cells.dh, z.dic, width),
            (Arg::DIFF_DST_2, cells.dc, z.dhc, padded),
        ];
        for (arg, to, count, width) in lists {
            States::packed(F32, to, 1, z.batch, width).copy_init_iter((simd, View::optional(simd, ctx, arg)?.as_ref()), z, l, count);
        }
        Ok(())
    }

    /// All steps of a layer, and the gradients of its initial states if they are wanted.
    fn steps(&self, ctx: &Ctx<'_>, cells: &CellBwd<'_>, l: usize, work: &mut Part<'_>) {
        let time = |d: usize, step: usize| if is_backward(&self.op, d) { self.z.time - 1 - step } else { step };
        let steps = self.z.time;
        let tasks = |phase: usize| self.phase(phase).0.count.div_ceil(self.phase(phase).1);
        let second = if self.resets_first() || self.projection.is_some() { tasks(1) } else { 0 };
        self.partition.run(ctx.executor(), (steps, [tasks(0), second]), work, &|place, share| {
            let step = steps - 1 - place.step;
            let at = |step: usize| time(place.d, step);
            let after = (place.step > 0).then(|| at(step + 1));
            cells.panels(&Step { l, t: at(step), before: step.checked_sub(1).map(at), after, place }, share);
        });
        if self.op.diff.as_ref().is_none_or(|diff| diff.src_iter.is_none()) {
            return;
        }
        self.partition.run(ctx.executor(), (1, [self.states.count, 0]), work, &|place, share| {
            let t = time(place.d, 0);
            cells.last(&Step { l, t, before: None, after: Some(t), place }, share);
        });
    }

    /// Stores the gradients of a layer's initial states.
    fn copy_res_iter(&self, simd: Simd, ctx: &Ctx<'_>, cells: &CellBwd<'_>, l: usize) -> Result<(), Error> {
        let z = &self.z;
        let lists = [(Arg::DIFF_SRC_1, cells.dh, z.sic, self.state_width()), (Arg::DIFF_SRC_2, cells.dc, z.dhc, self.gates.padded())];
        for (arg, from, count, width) in lists {
            if let Some(view) = View::optional(simd, ctx, arg)? {
                States::packed(F32, from, 1, z.batch, width).copy_res_iter(&view, z, (l, count), |_| 0);
            }
        }
        Ok(())
    }

    /// Computes the gradients of a layer's input, the results of the layer below.
    fn diff_layer_gemm(&self, ctx: &Ctx<'_>, cells: &CellBwd<'_>, (l, weights): (usize, Buf), work: &mut Part<'_>) {
        let (z, to) = (&self.z, cells.results);
        let (element, a_row) = (self.element(), z.bias_gates * self.delta_channels() * self.element());
        let starts = |d: usize| [d * z.samples() * a_row, self.layer.at(l * z.directions + d, 0, 0), to.rows(d, 0).start];
        let on = Operands {
            a: cells.rows,
            a_row,
            a_depth: element,
            b: weights,
            b_row: self.layer.panels.width * 4,
            b_column: self.layer.panel_bytes(),
            c: to.buf,
            c_row: to.row,
            starts: &starts,
            epilogue: Some(&EpilogueArgs::NONE),
            ..Operands::NONE
        };
        cells.code.inputs.run(cells.simd, ctx.executor(), work, &on);
    }

    /// Stores the gradient of attention: sums over the panels.
    fn attention(&self, simd: Simd, ctx: &Ctx<'_>, cells: &CellBwd<'_>) -> Result<(), Error> {
        let (z, panels) = (&self.z, self.gates.count);
        let Some(view) = View::optional(simd, ctx, Arg::DIFF_SRC_3)? else { return Ok(()) };
        for i in 0..z.samples() {
            let sum: f32 = (0..panels).map(|panel| cells.attention_parts.get::<f32>(i * panels + panel)).sum();
            view.write(&states::position(&[i / z.batch, i % z.batch]), 2, &[sum]);
        }
        Ok(())
    }

    /// Stores the gradient of the source: the sum over the directions, unless it is in place already.
    fn copy_res_layer(&self, simd: Simd, ctx: &Ctx<'_>, outputs: States<'_>) -> Result<(), Error> {
        let z = &self.z;
        let view = View::of(simd, ctx, Arg::DIFF_SRC)?;
        view.zero_padding();
        if self.diff_src.is_some() {
            return Ok(());
        }
        ctx.executor().run(self.workers, z.samples(), &|_, i| {
            let from = [0, 1].map(|d| outputs.row([d, i / z.batch, i % z.batch]));
            F32.store(&view, (&[i / z.batch, i % z.batch], 0), &from[..z.directions], z.slc);
        });
        Ok(())
    }
}

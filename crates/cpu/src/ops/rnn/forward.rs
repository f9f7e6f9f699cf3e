//! `packed:jit` and `packed:amx`, forward: first the products of a layer's input for all steps at once, then step by step the products of
//! the state, whose sums become gates and states while they are in L1.
//!
//! States, gates and cells are in scratch, padded to whole panels, states rounded to the type of the source; those of the last layer are
//! written to the destination if tiles can read its rows. A task of a step has all gates of the channels of a panel, so that one pass
//! finishes them. If the second product of a step needs all channels of the first (the reset state of a GRU, a projection), the step has
//! two phases.

use super::cell_fwd::{ByChannel, CellFwd, Step};
use super::network;
use super::partition::Partition;
use super::postgemm::{self, Pass, Postgemm, Scalars};
use super::quantised::{self, Quantised};
use super::sizes::{Panels, Sizes};
use super::skinny::{self, Skinny};
use super::states::{self, Codec, Lines, States};
use super::weights::{self, Roles, Weights};
use crate::CpuTarget;
use crate::kernels::access::View;
use crate::kernels::amx;
use crate::kernels::code::elem;
use crate::kernels::gemm::{self, Gemm, Kind, Operands};
use crate::kernels::macrokernel::BLayout;
use crate::kernels::microkernel::{DotType, Epilogue, EpilogueArgs, Stride};
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::{Part, Scratch, booked, for_workers};
use crate::ops::matmul::place;
use crate::ops::matmul::tiled::product;
use crate::row::{Generated, RowPlan, TOO_LARGE};
use bytemuck::{NoUninit, cast_slice};
use oxidnn_jit::Isa;
use oxidnn_runtime::{Buf, Ctx, Decision, Plan, Skip};
use oxidnn_spec::op::{Rnn, RnnCell, RnnDirection};
use oxidnn_spec::{Arg, DataType, Error, Problem, Prop, RnnLinear, Tensor};
use std::ops::Range;
use std::slice;
use std::sync::Arc;

/// Sums of a task of several panels, which stay in L1, and bytes of its weights, which stay in L2 if their bits are inspected first.
const TASK_SUMS: usize = 2 << 10;
pub(super) const TASK_WEIGHT_BYTES: usize = 128 << 10;

/// A planned forward pass.
#[derive(Debug)]
pub(super) struct Forward {
    pub(super) op: Rnn,
    pub(super) z: Sizes,
    partition: Partition,
    workers: usize,
    isa: Isa,
    pub(super) product: DotType,
    /// Types of the states and of the cell state.
    pub(super) state: DataType,
    pub(super) cell: DataType,
    /// Channels of gates and cells, and of states.
    pub(super) gates: Panels,
    pub(super) outputs: Panels,
    pub(super) iter: Weights,
    pub(super) layer: Weights,
    pub(super) projection: Option<Weights>,
    /// Products of the first and of the second phase of a step.
    pub(super) skinny: Skinny,
    pub(super) second: Option<Skinny>,
    gemm: Gemm,
    /// Products of the input of a single step of one sample, in place of these.
    row: Option<Skinny>,
    /// The kernels' keys for turning the sums of each phase into states.
    cells: [Option<postgemm::Spec>; 2],
    quantised: Option<Quantised>,
    /// Factors of linear activations by gate, and of the cell.
    linear: Option<[f32; 5]>,
    /// Elements of a row of the workspace.
    pub(super) workspace_row: usize,
    /// Byte offset and stride of the source's rows, if they are read in place, and of the destination's.
    src: Option<(usize, usize)>,
    dst: Option<(usize, usize)>,
    lens: Lens,
}

/// All kernels of a forward pass.
pub(super) struct Code {
    /// The kernels for the products of the two phases of a step, and for turning their sums into states.
    pub(super) skinny: skinny::Ready,
    pub(super) second: Option<skinny::Ready>,
    pub(super) cells: [Option<Postgemm>; 2],
    /// The kernels for the products of the input.
    gemm: gemm::Ready,
    pub(super) row: Option<skinny::Ready>,
}

/// Elements of scratch of an execution, by purpose.
#[derive(Clone, Copy, Default, NoUninit, Debug)]
#[repr(C)]
struct Lens {
    weights: [usize; 3],
    bias: usize,
    whole: [usize; 3],
    projected: [usize; 3],
    peephole: usize,
    shares: usize,
    src: usize,
    gates: usize,
    sequences: [usize; 2],
    first: usize,
    cell: usize,
    middle: usize,
    workers: usize,
}

/// Refuses what AMX does not multiply, or not faster than vectors.
///
/// # Errors
/// Types, and steps that are too small.
pub(super) fn check_amx(z: &Sizes, product: DotType) -> Result<(), Skip> {
    amx::check(product)?;
    let sizes = [1, z.batch, z.gates.saturating_mul(z.dhc), z.sic].map(|n| n as i64);
    if amx::is_faster(product, sizes) { Ok(()) } else { Err(Skip::Shape("too little work for tiles of AMX")) }
}

/// The instruction set of products over all steps: with AMX where it is faster, even if a step has too few samples for it. Rows that end
/// within a step would be gathered. Where products on vectors add 128 to sources, corrections of both are alike only on vectors.
pub(super) fn over_all_steps(isa: Isa, product: DotType, sizes: &gemm::Sizes, target: &CpuTarget) -> Isa {
    let gemm::Sizes { batch, rows, columns, depth, .. } = *sizes;
    let taken = product != DotType::S8S8 && depth.is_multiple_of(product.step_depth()) && amx::check(product).is_ok();
    let faster = || amx::is_faster(product, [batch, rows, columns, depth].map(|n| n as i64));
    target.jit.filter(|full| full.amx && taken && faster()).unwrap_or(isa)
}

/// Takes forward passes in the types that the instruction set multiplies; on AMX if it is faster.
///
/// # Errors
/// Problems that the row does not take.
pub(super) fn plan(problem: &Problem, target: &CpuTarget, isa: Isa) -> Result<Box<dyn Plan>, Skip> {
    let op = network(problem)?;
    let (z, product) = (Sizes::of(op)?, product(op.src_layer.dtype, op.weights_layer.dtype)?);
    if isa.amx {
        check_amx(&z, product)?;
    }
    let problem = weights::resolve(problem, &Roles::FORWARD, Forward::panels(&z, isa), product)?;
    let kernel = Forward::new(&problem, (isa, product), target)?;
    RowPlan::of(problem, target, booked(cast_slice(slice::from_ref(&kernel.lens))), kernel)
}

impl Forward {
    /// Panels of the columns of the weights of input, state and projection.
    fn panels(z: &Sizes, isa: Isa) -> [Panels; 3] {
        [z.dhc, z.dhc, z.dic].map(|n| Panels::of(isa, n))
    }

    fn new(problem: &Problem, (isa, product): (Isa, DotType), target: &CpuTarget) -> Result<Forward, Skip> {
        let (op, attr) = (network(problem)?, &problem.attr);
        let z = Sizes::of(op)?;
        let panels = Forward::panels(&z, isa);
        let [gates, _, outputs] = panels;
        let (layer, iter, projection) = Weights::all(op, &Roles::FORWARD, panels, product)?;
        let partition = Partition::new(&z, target, gates.count, iter.stack_bytes());
        let second = match (&projection, op.cell) {
            (Some(_), _) => Some([z.dhc, outputs.width]),
            (None, RnnCell::Gru | RnnCell::Augru) => Some([z.sic, gates.width]),
            _ => None,
        };
        let sizes = gemm::Sizes {
            batch: z.directions * gates.count,
            rows: z.samples(),
            columns: z.gates * gates.width,
            width: gates.width,
            depth: z.slc,
        };
        let kind = Kind {
            isa: over_all_steps(isa, product, &sizes, target),
            product,
            right: BLayout::Panels,
            a_step: Stride::Fixed(4),
            begins: false,
            epilogue: Some(Arc::new(Epilogue::raw())),
        };
        let skinny = Skinny::new(isa, product, [z.sic, gates.width], (&partition, z.time));
        let second = second.map(|size| Skinny::new(isa, product, size, (&partition, z.time)));
        let cell = op.src_iter_c.as_ref().or(op.dst_iter_c.as_ref()).map_or(DataType::F32, |t| t.dtype);
        let mut forward = Forward {
            partition,
            workers: target.threads,
            isa,
            product,
            state: op.src_layer.dtype,
            cell,
            gates,
            outputs,
            skinny,
            second,
            gemm: Gemm::new(kind, sizes, target)?,
            row: (z.samples() == 1 && !isa.amx).then(|| Skinny::row(isa, product, [z.slc, gates.width])),
            cells: [None; 2],
            quantised: product.is_integer().then(|| Quantised::new(attr, (isa, product), &z)),
            linear: attr.rnn.linear.as_ref().map(factors),
            workspace_row: op.workspace_row().unwrap_or(0) as usize,
            src: rows_of(&op.src_layer),
            // Tiles of AMX read whole steps of states.
            dst: rows_of(&op.dst_layer)
                .filter(|_| op.dst_layer.dtype == op.src_layer.dtype && op.direction != RnnDirection::BidirectionalSum)
                .filter(|_| !isa.amx || z.dic.is_multiple_of(product.step_depth())),
            lens: Lens::default(),
            op: op.clone(),
            z,
            layer,
            iter,
            projection,
        };
        forward.cells = forward.cell_specs()?;
        forward.lens = forward.lens().ok_or(TOO_LARGE)?;
        Ok(forward)
    }

    /// The kernels of the phases of a step.
    fn cell_specs(&self) -> Result<[Option<postgemm::Spec>; 2], Skip> {
        let (op, z, lanes) = (&self.op, &self.z, self.isa.width().lanes());
        let projected = self.projection.is_some();
        let (first, second) = match op.cell {
            RnnCell::Vanilla => (Pass::Vanilla(op.activation, op.alpha), None),
            RnnCell::Lstm => (
                Pass::Lstm { peephole: op.weights_peephole.is_some(), projected },
                projected.then_some((Pass::Projection, self.outputs, z.dic)),
            ),
            RnnCell::Gru | RnnCell::Augru => (Pass::GruPart1, Some((Pass::GruPart2, self.gates, z.dhc))),
            RnnCell::LbrGru | RnnCell::LbrAugru => (Pass::LbrGru, None),
        };
        let elem = |dtype: DataType| elem(dtype).ok_or_else(|| Skip::DataType(format!("{dtype} as state")));
        let (state, cell) = (elem(self.state)?, elem(self.cell)?);
        let spec = |(pass, panels, channels): (Pass, Panels, usize), skinny: &Skinny| postgemm::Spec {
            pass,
            columns: skinny.columns() as u16,
            width: panels.width as u16,
            state,
            cell,
            whole: self.product.is_integer(),
            training: op.prop == Prop::ForwardTraining,
            attention: op.attention.is_some() && pass != Pass::GruPart1,
            masked: !channels.is_multiple_of(lanes * postgemm::vectors(self.isa, skinny.columns())),
            linear: self.linear.is_some(),
        };
        let first = spec((first, self.gates, z.dhc), &self.skinny);
        Ok([Some(first), second.zip(self.second.as_ref()).map(|(second, skinny)| spec(second, skinny))])
    }

    fn lens(&self) -> Option<Lens> {
        let z = &self.z;
        let size = self.state.bits() / 8;
        let states = |rows: usize, width: usize| Some(rows.checked_mul(width)?.checked_mul(size)?.div_ceil(4));
        let samples = z.time.checked_mul(z.batch)?;
        let (all, rows) = (z.directions.checked_mul(samples)?, z.directions.checked_mul(z.batch)?);
        let padded = self.gates.padded();
        let by_channel = |count: usize| z.stacks().checked_mul(count)?.checked_mul(padded);
        let sequence = states(all, self.outputs.padded())?;
        let is_whole = self.product.is_integer();
        let projected = z.stacks().checked_mul(self.outputs.padded())?;
        // Layers whose states are in scratch.
        let kept = z.layers - usize::from(self.dst.is_some());
        let sums = |phase: usize| {
            let (gates, panels, each) = self.phase(phase);
            self.partition.tallest().checked_mul(gates.len() * panels.width * each)
        };
        let each = sums(0)?.max(sums(1)?);
        Some(Lens {
            weights: [self.layer.scratch_len()?, self.iter.scratch_len()?, self.projection.as_ref().map_or(Some(0), Weights::scratch_len)?],
            bias: by_channel(z.bias_gates)?,
            whole: if is_whole { [by_channel(z.gates)?, by_channel(z.gates)?, z.stacks() * self.gates.count] } else { [0; 3] },
            projected: if is_whole && self.projection.is_some() { [projected, projected, z.stacks() * self.outputs.count] } else { [0; 3] },
            peephole: if self.op.weights_peephole.is_some() { by_channel(3)? } else { 0 },
            shares: if self.op.attention.is_some() { samples } else { 0 },
            src: if self.src.is_some() { 0 } else { states(samples, z.slc)? },
            gates: all.checked_mul(z.gates)?.checked_mul(padded)?,
            sequences: [0, 1].map(|i| if kept > i { sequence } else { 0 }),
            first: states(rows, self.first_width())?,
            cell: if self.op.cell == RnnCell::Lstm { rows.checked_mul(padded)? } else { 0 },
            middle: if self.second.is_some() { states(rows, padded)? } else { 0 },
            workers: self.gemm.scratch_len()?.max(for_workers(self.workers, each)?),
        })
    }

    /// Elements of a row of a layer's initial states.
    pub(super) fn first_width(&self) -> usize {
        self.z.sic.next_multiple_of(16).max(self.gates.padded())
    }

    /// Whether the reset gate is applied before the product, so that a step has a second phase.
    pub(super) const fn resets_first(&self) -> bool {
        matches!(self.op.cell, RnnCell::Gru | RnnCell::Augru)
    }

    /// Gates of a phase of a step, its panels, and how many of these a task has: several if workers do not share a step.
    fn phase(&self, phase: usize) -> (Range<usize>, Panels, usize) {
        let (gates, panels, skinny) = match (phase, &self.second) {
            (0, Some(_)) if self.projection.is_none() => (0..2, self.gates, Some(&self.skinny)),
            (0, _) => (0..self.z.gates, self.gates, Some(&self.skinny)),
            (_, second) if self.projection.is_none() => (2..3, self.gates, second.as_ref()),
            (_, second) => (0..1, self.outputs, second.as_ref()),
        };
        let weights = if phase == 1 { self.projection.as_ref().unwrap_or(&self.iter) } else { &self.iter };
        let (sums, bytes) = (self.partition.tallest() * gates.len() * panels.width, gates.len() * weights.panel_bytes());
        let whole = self.partition.whole && skinny.is_some_and(Skinny::is_whole);
        let each = if whole { (TASK_SUMS / sums).min(TASK_WEIGHT_BYTES / bytes.max(1)) } else { 1 };
        (gates, panels, each.clamp(1, panels.count))
    }

    /// Gates of a phase of a step, its panels, and those of a task.
    pub(super) fn task(&self, phase: usize, task: usize) -> (Range<usize>, Panels, Range<usize>) {
        let (gates, panels, each) = self.phase(phase);
        (gates, panels, task * each..panels.count.min((task + 1) * each))
    }

    /// Tasks of each phase of a step, for a slice.
    fn phases(&self) -> [usize; 2] {
        let tasks = |phase: usize| self.phase(phase).1.count.div_ceil(self.phase(phase).2);
        [tasks(0), if self.second.is_some() { tasks(1) } else { 0 }]
    }

    /// The representation of states.
    fn codec(&self) -> Codec {
        self.quantised.as_ref().map_or(Codec::plain(self.state), |q| q.codec(self.state))
    }
}

/// Factors of linear activations in the form of the cell kernels.
pub(super) fn factors(linear: &RnnLinear) -> [f32; 5] {
    let mut all = [0.0; 5];
    all.iter_mut().zip(&linear.gates).for_each(|(to, gate)| *to = gate.get());
    all[4] = linear.cell.get();
    all
}

/// Whether direction `d` of a network runs backward in time.
pub(super) fn is_backward(op: &Rnn, d: usize) -> bool {
    op.direction == RnnDirection::Right2Left || d == 1
}

/// Byte offset of a layer's tensor and bytes from row to row, if tiles can read its rows in place.
pub(super) fn rows_of(tensor: &Tensor) -> Option<(usize, usize)> {
    let place = place::plain(tensor, &[0, 1], &[2]).ok()?;
    (place.column == tensor.dtype.bits() / 8).then_some((place.start, place.row))
}

impl Generated for Forward {
    type Code = Code;

    fn decision(&self, problem: &Problem) -> Decision {
        let mut how = self.gemm.how();
        how.algorithm = "recurrent network: products of the input of all steps at once, then those of the state step by step".into();
        how.blocks.push(("weights of the state of a layer and direction, which all steps meet".into(), self.iter.stack_bytes()));
        how.decision(problem)
    }

    fn build(&self) -> Result<Code, Error> {
        let cell = |spec: &Option<postgemm::Spec>| spec.as_ref().map(|spec| Postgemm::get(self.isa, spec)).transpose();
        Ok(Code {
            skinny: self.skinny.build()?,
            second: self.second.as_ref().map(Skinny::build).transpose()?,
            cells: [cell(&self.cells[0])?, cell(&self.cells[1])?],
            gemm: self.gemm.build()?,
            row: self.row.as_ref().map(Skinny::build).transpose()?,
        })
    }

    fn run(&self, code: &Code, simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let (lens, z, codec) = (&self.lens, &self.z, self.codec());
        let [layer, iter, projection] = lens.weights.map(|n| scratch.take(n));
        let layer = self.layer.panels(simd, ctx, layer?)?;
        let iter = self.iter.panels(simd, ctx, iter?)?;
        let projection = match &self.projection {
            Some(weights) => weights.panels(simd, ctx, projection?)?,
            None => Buf::empty(),
        };
        let lines = self.lines((simd, ctx), [layer, iter, projection], &mut scratch)?;
        let src = codec.copy_init_layer((simd, ctx), z, self.src, scratch.take(lens.src)?)?;
        let mut gates = scratch.take(lens.gates)?;
        let sequences = [scratch.take(lens.sequences[0])?.into_buf(), scratch.take(lens.sequences[1])?.into_buf()];
        let sequences = sequences.map(|buf| States::packed(codec, buf, z.time, z.batch, self.outputs.padded()));
        let first = States::packed(codec, scratch.take(lens.first)?.into_buf(), 1, z.batch, self.first_width());
        let mut run = CellFwd {
            plan: self,
            code,
            simd,
            iter,
            projection,
            lines,
            workspace: if self.op.prop == Prop::ForwardTraining { Some(ctx.buf(Arg::WORKSPACE)?) } else { None },
            gates: gates.lend(),
            sequence: sequences[0],
            first,
            begins_with_zeros: self.op.src_iter.is_none() && self.quantised.is_none(),
            cell: States::packed(Codec::plain(self.cell), scratch.take(lens.cell)?.into_buf(), 1, z.batch, self.gates.padded()),
            middle: States::packed(codec, scratch.take(lens.middle)?.into_buf(), 1, z.batch, self.gates.padded()),
        };
        if self.isa.amx && [z.dic, z.dhc].iter().any(|n| !n.is_multiple_of(self.product.step_depth())) {
            // Elements behind a state are multiplied by zeros, and must be numbers.
            [sequences[0].buf, sequences[1].buf, run.middle.buf].iter().for_each(|states| states.fill(0));
        }
        let mut work = scratch.take(lens.workers)?;
        for l in 0..z.layers {
            let below = (l > 0).then_some(run.sequence);
            run.sequence = self.results(ctx, l)?.unwrap_or(sequences[l % 2]);
            let [h, c] = [View::optional(simd, ctx, Arg::SRC_1)?, View::optional(simd, ctx, Arg::SRC_2)?];
            run.first.copy_init_iter((simd, h.as_ref()), z, l, z.sic);
            run.cell.copy_init_iter((simd, c.as_ref()), z, l, z.dhc);
            let below = below.unwrap_or(src);
            match run.layer_gemm_of_one(ctx.executor(), (l, layer, below), &mut gates) {
                Some(gates) => run.gates = gates,
                None => self.layer_gemm(simd, ctx, (l, layer, below), &run, &mut work),
            }
            self.steps(ctx, l, &run, &mut work);
            let last = |d: usize| if is_backward(&self.op, d) { 0 } else { z.time - 1 };
            if let Some(h) = View::optional(simd, ctx, Arg::DST_1)? {
                run.sequence.copy_res_iter(&h, z, (l, z.dic), last);
            }
            if let Some(c) = View::optional(simd, ctx, Arg::DST_2)? {
                run.cell.copy_res_iter(&c, z, (l, z.dhc), |_| 0);
            }
        }
        if self.dst.is_some() { Ok(()) } else { self.copy_res_layer(simd, ctx, run.sequence) }
    }
}

impl Forward {
    /// What cells need besides sums. `weights` are those of input, state and projection.
    fn lines<'s>(&self, (simd, ctx): (Simd, &Ctx<'_>), weights: [Buf; 3], scratch: &mut Scratch<'s>) -> Result<ByChannel<'s>, Error> {
        let (lens, z) = (&self.lens, &self.z);
        let bias = scratch.take(lens.bias)?;
        let whole = lens.whole.map(|n| scratch.take(n));
        let projected = lens.projected.map(|n| scratch.take(n));
        let (view, peephole) = (View::optional(simd, ctx, Arg::BIAS)?, View::optional(simd, ctx, Arg::WEIGHTS_2)?);
        let lines = |gates: usize| Lines { z, panels: self.gates, gates };
        let peephole = lines(3).fill(ctx.executor(), peephole.as_ref(), scratch.take(lens.peephole)?);
        let shares = scratch.take(lens.shares)?.into_slice();
        if let Some(attention) = View::optional(simd, ctx, Arg::SRC_3)? {
            for (i, share) in shares.iter_mut().enumerate() {
                *share = 1.0 - attention.get(&states::position(&[i / z.batch, i % z.batch]));
            }
        }
        let bias = lines(z.bias_gates).fill(ctx.executor(), view.as_ref(), bias);
        let taken = |[shifts, factors, bits]: [Result<Part<'s>, Error>; 3]| -> Result<quantised::Lines<'s>, Error> {
            let (shifts, factors, seven_bits) = (shifts?.into_slice(), factors?.into_slice(), bits?.into_slice());
            Ok(quantised::Lines { simd, shifts, factors, seven_bits })
        };
        let (mut first, mut second) = (taken(whole)?, taken(projected)?);
        if let Some(quantised) = &self.quantised {
            quantised.fill(z, &[(&self.layer, weights[0]), (&self.iter, weights[1])], &mut first);
            if let Some(projection) = &self.projection {
                quantised.fill(z, &[(projection, weights[2])], &mut second);
            }
        }
        let (scale, shift) = self.codec().whole.unwrap_or((1.0, 0.0));
        let numbers = Scalars { scale, shift, linear: self.linear.unwrap_or_default() };
        let whole: [&[f32]; 3] = [first.shifts, first.factors, first.seven_bits];
        let projected: [&[f32]; 3] = [second.shifts, second.factors, second.seven_bits];
        Ok(ByChannel { bias, whole, projected, peephole, shares, numbers })
    }

    /// The destination's rows for a layer's states: of the last layer only, if at all.
    fn results<'a>(&self, ctx: &Ctx<'a>, l: usize) -> Result<Option<States<'a>>, Error> {
        let (z, Some((start, row))) = (&self.z, self.dst.filter(|_| l + 1 == self.z.layers)) else { return Ok(None) };
        let codec = self.codec();
        Ok(Some(States { codec, buf: ctx.buf(Arg::DST)?, start, direction: z.dic * codec.size(), time: z.batch * row, row }))
    }

    /// The products of a layer's input, for all steps of both directions.
    fn layer_gemm(&self, simd: Simd, ctx: &Ctx<'_>, (l, layer, below): (usize, Buf, States), run: &CellFwd<'_>, work: &mut Part<'_>) {
        let (z, c_row) = (&self.z, self.z.gates * self.gates.width * 4);
        let starts = |index: usize| {
            let (d, panel) = (index / self.gates.count, index % self.gates.count);
            [below.rows(d, 0).start, self.layer.at(l * z.directions + d, panel, 0), index * z.samples() * c_row]
        };
        let on = Operands {
            a: below.buf,
            a_row: below.row,
            a_depth: below.codec.size(),
            b: layer,
            b_row: self.gates.width * 4,
            b_column: self.layer.panel_bytes(),
            c: run.gates,
            c_row,
            starts: &starts,
            epilogue: Some(&EpilogueArgs::NONE),
            ..Operands::NONE
        };
        run.code.gemm.run(simd, ctx.executor(), work, &on);
    }

    /// All steps of a layer.
    fn steps(&self, ctx: &Ctx<'_>, l: usize, run: &CellFwd<'_>, work: &mut Part<'_>) {
        let z = &self.z;
        self.partition.run(ctx.executor(), (z.time, self.phases()), work, &|place, share| {
            let time = |step: usize| if is_backward(&self.op, place.d) { z.time - 1 - step } else { step };
            let before = place.step.checked_sub(1).map(time);
            run.panels(&Step { l, t: time(place.step), before, after: None, place }, share);
        });
    }

    /// Stores the results of the last layer, unless they are in the destination's rows already.
    fn copy_res_layer(&self, simd: Simd, ctx: &Ctx<'_>, sequence: States) -> Result<(), Error> {
        let (z, codec) = (&self.z, self.codec());
        let dst = View::of(simd, ctx, Arg::DST)?;
        dst.zero_padding();
        let alone = z.directions == 1;
        let each = if alone { states::together(&dst, 1, z.batch, [sequence.row / codec.size(), z.dic]) } else { 1 };
        ctx.executor().run(self.workers, z.samples() / each, &|_, i| {
            let (t, n) = (i * each / z.batch, i * each % z.batch);
            let of = |d: usize| sequence.row([d, t, n]);
            if self.op.direction == RnnDirection::BidirectionalSum {
                return codec.store(&dst, (&[t, n], 0), &[of(0), of(1)], z.dic);
            }
            (0..z.directions).for_each(|d| codec.store(&dst, (&[t, n], d * z.dic), &[of(d)], each * z.dic));
        });
        Ok(())
    }
}

//! `packed:jit`, forward: the products of a layer's input for all steps at once, then step by step the products of the state, whose sums become
//! gates and states while they are in the first cache.
//!
//! States, gates and cells live in scratch, padded to whole panels, states in the type of the source as it rounds them. A task of a step has all
//! gates of the channels of a panel, so that one pass finishes them. Where the second product of a step needs all channels of the first (the
//! reset state of a GRU, a projection), a step has two phases.

use super::cells::LINE;
use super::cut::{Cut, On, Place};
use super::sizes::{Panels, Sizes};
use super::skinny::{Rows, Skinny};
use super::states::{self, Lines};
use super::weights::{Roles, Weights};
use crate::CpuTarget;
use crate::kernels::access::View;
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::{Part, Scratch, booked, for_workers};
use crate::kernels::tile::{Product, Stride, Tail, TailArgs};
use crate::ops::matmul::gemm::{self, Gemm, Kind, Operands, Right};
use crate::ops::matmul::place;
use crate::ops::matmul::tiled::product;
use crate::ops::support;
use crate::row::{Kernel, RowPlan};
use oxidnn_jit::Isa;
use oxidnn_runtime::{Buf, Ctx, Plan, Skip};
use oxidnn_spec::op::{Rnn, RnnCell, RnnDirection};
use oxidnn_spec::{Arg, DataType, Error, Op, Problem, Prop};
use std::sync::Arc;

/// A planned forward pass.
#[derive(Debug)]
pub(super) struct Forward {
    pub(super) op: Rnn,
    pub(super) z: Sizes,
    pub(super) cut: Cut,
    workers: usize,
    /// Type of states, and of the cell state.
    pub(super) state: DataType,
    pub(super) cell: DataType,
    /// Channels of gates and cells, and of states.
    pub(super) gates: Panels,
    pub(super) outputs: Panels,
    pub(super) iter: Weights,
    layer: Weights,
    pub(super) projection: Option<Weights>,
    /// Products of the first and second phase of a step.
    pub(super) skinny: Skinny,
    pub(super) second: Option<Skinny>,
    gemm: Gemm,
    /// Numbers of a row of the workspace.
    pub(super) workspace_row: usize,
    /// Where the rows of the source are, where they are taken as they lie.
    src: Option<(usize, usize)>,
    lens: Lens,
}

/// Numbers of scratch of the parts of an execution, in their order.
#[derive(Clone, Copy, Debug)]
struct Lens {
    weights: [usize; 3],
    bias: usize,
    peephole: usize,
    src: usize,
    gates: usize,
    sequences: [usize; 2],
    first: usize,
    cell: usize,
    middle: usize,
    gemm: usize,
    share: usize,
}

impl Lens {
    fn list(&self) -> [usize; 13] {
        let Lens { weights: [w, u, p], bias, peephole, src, gates, sequences: [s, t], first, cell, middle, gemm, share } = *self;
        [w, u, p, bias, peephole, src, gates, s, t, first, cell, middle, gemm.max(share)]
    }
}

/// Takes forward passes in the types that tiles multiply.
///
/// # Errors
/// What the row does not take.
pub(super) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let isa = target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?;
    let Op::Rnn(op) = &problem.op else { return Err(Skip::Op("anything but a recurrent network")) };
    if !op.prop.is_forward() {
        return Err(Skip::Op("backward"));
    }
    let (z, product) = (Sizes::of(op)?, product(op.src_layer.dtype, op.weights_layer.dtype)?);
    if product.is_whole() {
        return Err(Skip::DataType(format!("{} as source", op.src_layer.dtype)));
    }
    let (gates, outputs) = (Panels::of(isa, z.dhc), Panels::of(isa, z.dic));
    let mut problem = problem.clone();
    if let Op::Rnn(op) = &mut problem.op {
        Weights::resolve(&mut op.weights_layer, Roles::LAYER, gates, product)?;
        Weights::resolve(&mut op.weights_iter, Roles::ITER, gates, product)?;
        if let Some(projection) = &mut op.weights_projection {
            Weights::resolve(projection, Roles::PROJECTION, outputs, product)?;
        }
    }
    problem.resolve();
    support::dense(&problem)?;
    let Op::Rnn(op) = &problem.op else { return Err(Skip::Op("anything but a recurrent network")) };
    let kernel = Forward::new(op, z, (isa, product, target.threads), gates, outputs)?;
    let scratch_bytes = booked(&kernel.lens.list()).ok_or(TOO_LONG)?;
    Ok(Box::new(RowPlan { problem, scratch_bytes, isa: target.isa, kernel: Arc::new(kernel) }))
}

/// What a plan says where sizes overflow.
pub(super) const TOO_LONG: Skip = Skip::Shape("scratch exceeds the address space");

impl Forward {
    fn new(op: &Rnn, z: Sizes, (isa, product, workers): (Isa, Product, usize), gates: Panels, outputs: Panels) -> Result<Forward, Skip> {
        let layer = Weights::new(&op.weights_layer, Roles::LAYER, gates, product)?;
        let iter = Weights::new(&op.weights_iter, Roles::ITER, gates, product)?;
        let projection = op.weights_projection.as_ref().map(|t| Weights::new(t, Roles::PROJECTION, outputs, product)).transpose()?;
        let cut = Cut::new(&z, workers, gates.count, iter.stack_bytes());
        let second = match (&projection, op.cell) {
            (Some(_), _) => Some([z.dhc, outputs.width, 0]),
            (None, RnnCell::Gru | RnnCell::Augru) => Some([z.sic, gates.width, iter.stack_bytes()]),
            _ => None,
        };
        let sizes = gemm::Sizes {
            batch: z.directions * gates.count,
            rows: z.samples(),
            columns: z.gates * gates.width,
            width: gates.width,
            depth: z.slc,
        };
        let kind = Kind { isa, product, right: Right::Panels, a_step: Stride::Fixed(4), tail: Some(Arc::new(Tail::raw())) };
        let cell = op.src_iter_c.as_ref().or(op.dst_iter_c.as_ref()).map_or(DataType::F32, |t| t.dtype);
        let mut forward = Forward {
            cut,
            workers,
            state: op.src_layer.dtype,
            cell,
            gates,
            outputs,
            skinny: Skinny::new(isa, product, [z.sic, gates.width, iter.stack_bytes()], &cut),
            second: second.map(|size| Skinny::new(isa, product, size, &cut)),
            gemm: Gemm::new(kind, sizes, workers),
            workspace_row: op.workspace_row().unwrap_or(0) as usize,
            src: in_place(op),
            lens: Lens {
                weights: [0; 3],
                bias: 0,
                peephole: 0,
                src: 0,
                gates: 0,
                sequences: [0; 2],
                first: 0,
                cell: 0,
                middle: 0,
                gemm: 0,
                share: 0,
            },
            op: op.clone(),
            z,
            layer,
            iter,
            projection,
        };
        forward.lens = forward.lens().ok_or(TOO_LONG)?;
        Ok(forward)
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
        let each = self.cut.tallest().checked_mul(z.gates.max(1))?.checked_mul(LINE)?;
        Some(Lens {
            weights: [self.layer.scratch_len()?, self.iter.scratch_len()?, self.projection.as_ref().map_or(Some(0), Weights::scratch_len)?],
            bias: by_channel(z.bias_gates)?,
            peephole: if self.op.weights_peephole.is_some() { by_channel(3)? } else { 0 },
            src: if self.src.is_some() { 0 } else { states(samples, z.slc)? },
            gates: all.checked_mul(z.gates)?.checked_mul(padded)?,
            sequences: [sequence, if z.layers > 1 { sequence } else { 0 }],
            first: states(rows, self.first_width())?,
            cell: if self.op.cell == RnnCell::Lstm { rows.checked_mul(padded)? } else { 0 },
            middle: if self.second.is_some() { states(rows, padded)? } else { 0 },
            gemm: self.gemm.scratch_len()?,
            share: for_workers(self.workers, each)?,
        })
    }

    /// Numbers of a row of the states that a layer begins with.
    pub(super) fn first_width(&self) -> usize {
        self.z.sic.next_multiple_of(16).max(self.gates.padded())
    }

    /// Whether direction `d` walks back in time.
    fn is_backward(&self, d: usize) -> bool {
        is_backward(&self.op, d)
    }

    /// Panels of the phases of a step.
    fn phases(&self) -> [usize; 2] {
        let second = if self.projection.is_some() { self.outputs.count } else { self.gates.count };
        [self.gates.count, if self.second.is_some() { second } else { 0 }]
    }
}

/// Whether direction `d` of a network walks back in time.
pub(super) fn is_backward(op: &Rnn, d: usize) -> bool {
    op.direction == RnnDirection::Right2Left || d == 1
}

/// First byte of the source and bytes from a row to the next, where its rows lie as tiles read them.
pub(super) fn in_place(op: &Rnn) -> Option<(usize, usize)> {
    let place = place::plain(&op.src_layer, &[0, 1], &[2]).ok()?;
    (place.column == op.src_layer.dtype.bits() / 8).then_some((place.start, place.row))
}

/// What the tasks of an execution share.
pub(super) struct Run<'a> {
    pub(super) plan: &'a Forward,
    pub(super) simd: Simd,
    /// Rows of the source.
    src: Rows,
    /// Weights of input, state and projection.
    layer: Buf,
    pub(super) iter: Buf,
    pub(super) projection: Buf,
    /// Bias and peephole weights by stack, panel and gate.
    pub(super) bias: &'a [f32],
    pub(super) peephole: &'a [f32],
    pub(super) attention: Option<View<'a>>,
    pub(super) workspace: Option<Buf>,
    /// Gates by direction, panel, time, sample and gate: products of the layer's input, then values that a second phase needs.
    pub(super) gates: Buf,
    /// States that the layer gives, by direction, time and sample.
    pub(super) sequence: Buf,
    /// States before the first step, by direction and sample.
    pub(super) first: Buf,
    /// Cells by direction and sample.
    pub(super) cell: Buf,
    /// Reset states, or states before their projection, by direction and sample.
    pub(super) middle: Buf,
}

/// A panel of a step.
#[derive(Clone, Copy)]
pub(super) struct Step<'p> {
    pub(super) l: usize,
    pub(super) t: usize,
    /// The time of the step before, if there is one.
    pub(super) before: Option<usize>,
    pub(super) place: &'p Place,
}

impl Kernel for Forward {
    fn prepare(&self) -> Result<(), Error> {
        self.second.as_ref().map_or(Ok(()), Skinny::prepare)?;
        self.skinny.prepare()?;
        self.gemm.prepare()
    }

    fn run(&self, simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let lens = &self.lens;
        let [layer, iter, projection] = lens.weights.map(|n| scratch.take(n));
        let layer = self.layer.panels(simd, ctx, layer?)?;
        let iter = self.iter.panels(simd, ctx, iter?)?;
        let projection = match &self.projection {
            Some(weights) => weights.panels(simd, ctx, projection?)?,
            None => Buf::empty(),
        };
        let lines = |gates: usize| Lines { z: &self.z, panels: self.gates, gates };
        let (bias, peephole) = (View::optional(simd, ctx, Arg::BIAS)?, View::optional(simd, ctx, Arg::WEIGHTS_2)?);
        let bias = lines(self.z.bias_gates).fill(ctx.executor, bias.as_ref(), scratch.take(lens.bias)?);
        let peephole = lines(3).fill(ctx.executor, peephole.as_ref(), scratch.take(lens.peephole)?);
        let src = self.source(simd, ctx, scratch.take(lens.src)?)?;
        let gates = scratch.take(lens.gates)?.into_buf();
        let sequences = [scratch.take(lens.sequences[0])?.into_buf(), scratch.take(lens.sequences[1])?.into_buf()];
        let mut run = Run {
            plan: self,
            simd,
            src,
            layer,
            iter,
            projection,
            bias,
            peephole,
            attention: View::optional(simd, ctx, Arg::SRC_3)?,
            workspace: if self.op.prop == Prop::ForwardTraining { Some(ctx.buf(Arg::WORKSPACE)?) } else { None },
            gates,
            sequence: sequences[0],
            first: scratch.take(lens.first)?.into_buf(),
            cell: scratch.take(lens.cell)?.into_buf(),
            middle: scratch.take(lens.middle)?.into_buf(),
        };
        let mut work = scratch.take(lens.gemm.max(lens.share))?;
        for l in 0..self.z.layers {
            run.sequence = sequences[l % 2];
            let below = if l == 0 { None } else { Some(sequences[(l + 1) % 2]) };
            self.start(ctx, &run, l)?;
            self.inputs(ctx, l, below, &run, &mut work);
            self.steps(ctx, l, &run, &mut work);
            self.leave(ctx, &run, l)?;
        }
        self.write(simd, ctx, run.sequence)
    }
}

impl Forward {
    /// Rows of the source, copied unless they are taken as they lie.
    fn source(&self, simd: Simd, ctx: &Ctx<'_>, part: Part<'_>) -> Result<Rows, Error> {
        if let Some((start, row)) = self.src {
            return Ok(Rows { buf: ctx.buf(Arg::SRC)?, start, row });
        }
        let (z, to) = (&self.z, part.into_buf());
        let view = View::of(simd, ctx, Arg::SRC)?;
        ctx.executor.run(self.workers, z.samples(), &|_, i| {
            states::load(&view, (&[i / z.batch, i % z.batch], 0), (to, self.state), (i * z.slc, z.slc), z.slc);
        });
        Ok(Rows { buf: to, start: 0, row: z.slc * self.state.bits() / 8 })
    }

    /// The states before a layer's first step.
    fn start(&self, ctx: &Ctx<'_>, run: &Run<'_>, l: usize) -> Result<(), Error> {
        let (z, padded) = (&self.z, self.gates.padded());
        let [h, c] = [View::optional(run.simd, ctx, Arg::SRC_1)?, View::optional(run.simd, ctx, Arg::SRC_2)?];
        for (view, to, dtype, count, width) in
            [(h, run.first, self.state, z.sic, self.first_width()), (c, run.cell, self.cell, z.dhc, padded)]
        {
            if view.is_none() {
                to.fill(0);
            }
            let Some(view) = view else { continue };
            for i in 0..z.directions * z.batch {
                states::load(&view, (&[l, i / z.batch, i % z.batch], 0), (to, dtype), (i * width, width), count);
            }
        }
        Ok(())
    }

    /// The products of a layer's input, for all steps of both directions.
    fn inputs(&self, ctx: &Ctx<'_>, l: usize, below: Option<Buf>, run: &Run<'_>, work: &mut Part<'_>) {
        let (z, size) = (&self.z, self.state.bits() / 8);
        let row = self.outputs.padded() * size;
        let a = below.map_or(run.src, |buf| Rows { buf, start: 0, row });
        let distance = if below.is_some() { z.samples() * row } else { 0 };
        let c_row = z.gates * self.gates.width * 4;
        let starts = |index: usize| {
            let (d, panel) = (index / self.gates.count, index % self.gates.count);
            [a.start + d * distance, self.layer.at(l * z.directions + d, panel, 0), index * z.samples() * c_row]
        };
        let on = Operands {
            a: a.buf,
            a_row: a.row,
            a_depth: size,
            b: run.layer,
            b_bytes: &[],
            b_row: self.gates.width * 4,
            b_column: self.layer.panel_bytes(),
            c: run.gates,
            c_row,
            starts: &starts,
            tail: Some(&TailArgs::NONE),
            store: &|_| {},
        };
        self.gemm.run(run.simd, ctx.executor, work, &on);
    }

    /// All steps of a layer.
    fn steps(&self, ctx: &Ctx<'_>, l: usize, run: &Run<'_>, work: &mut Part<'_>) {
        let z = &self.z;
        let on = On { executor: ctx.executor, workers: self.workers, directions: z.directions, steps: z.time, phases: self.phases() };
        self.cut.run(on, work, &|place, share| {
            let time = |step: usize| if self.is_backward(place.d) { z.time - 1 - step } else { step };
            run.panel(&Step { l, t: time(place.step), before: place.step.checked_sub(1).map(time), place }, share);
        });
    }

    /// The states behind a layer's last step.
    fn leave(&self, ctx: &Ctx<'_>, run: &Run<'_>, l: usize) -> Result<(), Error> {
        let z = &self.z;
        let [h, c] = [View::optional(run.simd, ctx, Arg::DST_1)?, View::optional(run.simd, ctx, Arg::DST_2)?];
        for i in 0..z.directions * z.batch {
            let (d, n) = (i / z.batch, i % z.batch);
            let t = if self.is_backward(d) { 0 } else { z.time - 1 };
            if let Some(view) = &h {
                let first = ((d * z.time + t) * z.batch + n) * self.outputs.padded();
                states::store(view, (&[l, d, n], 0), &[(run.sequence, first)], self.state, z.dic);
            }
            if let Some(view) = &c {
                states::store(view, (&[l, d, n], 0), &[(run.cell, i * self.gates.padded())], self.cell, z.dhc);
            }
        }
        if l + 1 == z.layers {
            [h, c].iter().flatten().for_each(View::zero_padding);
        }
        Ok(())
    }

    /// The results of the last layer.
    fn write(&self, simd: Simd, ctx: &Ctx<'_>, sequence: Buf) -> Result<(), Error> {
        let (z, width) = (&self.z, self.outputs.padded());
        let dst = View::of(simd, ctx, Arg::DST)?;
        dst.zero_padding();
        let all = z.samples() * width;
        ctx.executor.run(self.workers, z.samples(), &|_, i| {
            let (pos, row) = ([i / z.batch, i % z.batch], i * width);
            match self.op.direction {
                RnnDirection::BidirectionalSum => {
                    states::store(&dst, (&pos, 0), &[(sequence, row), (sequence, all + row)], self.state, z.dic);
                }
                _ => {
                    for d in 0..z.directions {
                        states::store(&dst, (&pos, d * z.dic), &[(sequence, d * all + row)], self.state, z.dic);
                    }
                }
            }
        });
        Ok(())
    }
}

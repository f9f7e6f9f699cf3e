//! Gradients of weights and biases: products over all steps and samples of a layer at once.
//!
//! The left operand, states or inputs by channel, is a transposed copy of their rows; the right one is the deltas, which were stored in
//! panels for this. Products of bf16 take both in words of two samples. Every gate is a product of its own, so that gradients are stored
//! directly where they belong.

use super::backward::Backward;
use super::cell_bwd::CellBwd;
use super::diff_operands::{CHANNELS, Span, Spans, Transposed, narrow, pitch, totals};
use super::forward::{is_backward, over_all_steps};
use super::sizes::{LINE, Panels, Sizes};
use super::skinny::Rows;
use super::states::position;
use crate::CpuTarget;
use crate::kernels::access::View;
use crate::kernels::gemm::{self, Gemm, Kind, Operands};
use crate::kernels::macrokernel::{BLayout, SumBlock};
use crate::kernels::microkernel::epilogue::EpilogueRequest;
use crate::kernels::microkernel::{DotType, Epilogue, EpilogueArgs, Stride};
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::Part;
use crate::row::TOO_LARGE;
use oxidnn_jit::Isa;
use oxidnn_runtime::{Buf, Ctx, Skip};
use oxidnn_spec::op::{Rnn, RnnCell};
use oxidnn_spec::{Arg, Attr, Error, PostOp, Real, Tensor};
use std::sync::Arc;

/// The planned gradients.
#[derive(Debug)]
pub(super) struct DiffWeights {
    /// Those of the weights of input and state, and of the projection.
    gradients: Vec<Gradient>,
    overwrite: bool,
    product: DotType,
    /// Samples of all steps.
    samples: usize,
}

/// The kernels of the gradients.
pub(super) type Code = Vec<gemm::Ready>;

/// The gradient of one tensor of weights.
#[derive(Debug)]
struct Gradient {
    arg: Arg,
    gemm: Gemm,
    panels: Panels,
    /// Gates, each a product.
    gates: usize,
    /// Words of 32 bits that hold the samples of a channel.
    words: usize,
    /// The strides of the gradient, if tiles store it: byte offset, and strides of layer, direction, row and gate in bytes.
    place: Option<[usize; 5]>,
}

/// The memory for the operands of a layer's products, and scratch of workers.
pub(super) struct Space<'a> {
    /// Left operands: inputs, and states.
    pub(super) inputs: Part<'a>,
    pub(super) states: Part<'a>,
    /// Right operands in words of bf16: deltas, and gradients of projected states.
    pub(super) deltas: Part<'a>,
    pub(super) given: Part<'a>,
    pub(super) work: Part<'a>,
}

/// The parameters of the plan.
struct Setup<'p> {
    op: &'p Rnn,
    z: &'p Sizes,
    isa: Isa,
    product: DotType,
    target: &'p CpuTarget,
}

impl Gradient {
    fn new(of: &Setup<'_>, (arg, tensor): (Arg, &Tensor), (gates, columns): (usize, usize)) -> Result<Gradient, Skip> {
        let Setup { op, z, isa, product, target } = *of;
        let b = tensor.blocking().ok_or(Skip::Layout(format!("of {arg}: not dense")))?;
        let (n, size) = (tensor.dims().len(), |n: i64| n.max(0) as usize);
        let stored = b.is_plain() && (b.strides[n - 1] == 1 || columns == 1);
        let bytes = |numbers: i64| size(numbers) * tensor.dtype.bits() / 8;
        let at = |d: usize| bytes(b.strides[d]);
        let place = stored.then(|| [bytes(b.offset), at(0), at(1), at(2), if n == 5 { at(3) } else { 0 }]);
        let (panels, rows) = (Panels::of(isa, columns), size(tensor.dims()[2]));
        let dst = Tensor::plain([rows as i64, columns as i64], tensor.dtype).map_err(|_| TOO_LARGE)?;
        let sum = PostOp::Sum { scale: Real::new(1.0), zero_point: 0, dtype: None };
        let post_ops = if op.diff_weights_overwrite { Vec::new() } else { vec![sum] };
        let attr = Attr { post_ops, ..Attr::default() };
        let about = EpilogueRequest { attr: &attr, dst: &dst, columns: 1, batch: 0, compensated: false, scaled: false, biased: false };
        let epilogue = place.map(|_| Epilogue::plan(&about).map(Arc::new)).transpose()?;
        let words = z.samples().div_ceil(product.step_depth());
        let sizes = gemm::Sizes { batch: z.directions * gates, rows, columns, width: panels.width, depth: words * product.step_depth() };
        let isa = over_all_steps(isa, product, &sizes, target);
        let kind = Kind { isa, product, right: BLayout::Panels, a_step: Stride::Fixed(4), begins: false, epilogue };
        Ok(Gradient { arg, gemm: Gemm::new(kind, sizes, target)?, panels, gates, words, place })
    }

    /// Runs the products; `starts` gives for a direction and gate the first element of the left operand and of the panels.
    fn run(&self, (simd, ctx): (Simd, &Ctx<'_>), op: &Rnn, l: usize, on: Operand<'_, '_>) -> Result<(), Error> {
        let place = self.place.unwrap_or_default();
        let starts = |index: usize| {
            let (d, gate) = (index / self.gates, index % self.gates);
            let c = place[0] + l * place[1] + d * place[2] + gate * place[4];
            let [a, b] = (on.starts)(d, gate);
            [a * 4, b * 4, c]
        };
        let view = View::of(simd, ctx, self.arg)?;
        let store = |block: SumBlock<'_>| self.store(&view, op.diff_weights_overwrite, l, block);
        let operands = Operands {
            a: on.left,
            a_row: pitch(self.words) * 4,
            a_depth: 4 / self.gemm.product().step_depth(),
            b: on.right,
            b_row: self.panels.width * 4,
            b_column: self.words * self.panels.width * 4,
            c: view.buf(),
            c_row: place[3],
            starts: &starts,
            epilogue: Some(&EpilogueArgs::NONE),
            store: &store,
            ..Operands::NONE
        };
        on.code.run(simd, ctx.executor(), on.work, &operands);
        if l == 0 {
            view.zero_padding();
        }
        Ok(())
    }

    /// Stores raw sums in a gradient of any layout and type.
    fn store(&self, view: &View<'_>, overwrite: bool, l: usize, block: SumBlock<'_>) {
        let (d, gate) = (block.unit / self.gates, block.unit % self.gates);
        for (row, sums) in block.rows.zip(block.sums.chunks_mut(block.step)) {
            let at = [l, d, row, gate];
            give(view, &at[..view.dims().len() - 1], block.columns.start, overwrite, &mut sums[..block.columns.len()]);
        }
    }
}

/// Writes elements of a gradient from channel `first` on, or adds them to the old values.
fn give(view: &View<'_>, at: &[usize], first: usize, overwrite: bool, line: &mut [f32]) {
    let (mut pos, dim) = (position(at), at.len());
    for (i, line) in line.chunks_mut(LINE).enumerate() {
        pos[dim] = (first + i * LINE) as i64;
        if !overwrite {
            let mut old = [0.0; LINE];
            let old = &mut old[..line.len()];
            view.read(&pos, dim, old);
            line.iter_mut().zip(&*old).for_each(|(x, y)| *x += y);
        }
        view.write(&pos, dim, line);
    }
}

/// The operands of a gradient.
struct Operand<'s, 'p> {
    code: &'s gemm::Ready,
    left: Buf<'s>,
    right: Buf<'s>,
    /// First elements of both operands for a direction and gate.
    starts: &'s (dyn Fn(usize, usize) -> [usize; 2] + Sync),
    work: &'s mut Part<'p>,
}

/// The rows of a left operand in a direction.
type Left<'a> = dyn Fn(usize) -> Spans<'a> + Sync + 'a;
/// Changes a line of deltas, of a direction, gate, sample, first channel and number of channels.
type Change<'c> = dyn Fn([usize; 5], &mut [f32; LINE]) + Sync + 'c;
/// Gates with peephole weights.
const PEEPHOLE: [usize; 3] = [0, 1, 3];

impl DiffWeights {
    pub(super) fn new(op: &Rnn, z: &Sizes, (isa, product): (Isa, DotType), target: &CpuTarget) -> Result<DiffWeights, Skip> {
        let diff = op.diff.as_ref().ok_or(Skip::Op("backward without gradients"))?;
        let setup = Setup { op, z, isa, product, target };
        let of = |arg: Arg, tensor: &Tensor, gates: usize, columns: usize| Gradient::new(&setup, (arg, tensor), (gates, columns));
        let layer = of(Arg::DIFF_WEIGHTS, &diff.weights_layer, z.gates, z.dhc)?;
        let iter = of(Arg::DIFF_WEIGHTS_1, &diff.weights_iter, z.gates, z.dhc)?;
        let projection = diff.weights_projection.as_ref().map(|t| of(Arg::DIFF_WEIGHTS_3, t, 1, z.dic)).transpose()?;
        let gradients = [layer, iter].into_iter().chain(projection).collect();
        Ok(DiffWeights { gradients, overwrite: op.diff_weights_overwrite, product, samples: z.samples() })
    }

    /// Generates the kernels.
    ///
    /// # Errors
    /// As for [`Gemm::build`].
    pub(super) fn build(&self) -> Result<Code, Error> {
        self.gradients.iter().map(|g| g.gemm.build()).collect()
    }

    /// Elements of scratch of the products.
    pub(super) fn scratch_len(&self) -> Option<usize> {
        self.gradients.iter().map(|g| g.gemm.scratch_len()).try_fold(0, |most, len| Some(len?.max(most)))
    }

    /// Words of 32 bits that hold the samples of a channel.
    pub(super) fn words(&self) -> usize {
        self.samples.div_ceil(self.product.step_depth())
    }

    /// Elements of a left operand of `channels` channels.
    fn side(&self, channels: usize) -> Option<usize> {
        channels.checked_next_multiple_of(CHANNELS)?.checked_mul(pitch(self.words()))
    }

    /// Elements of the left operands: of inputs; and of states with one of reset states and states before projection, if there are any.
    pub(super) fn sides(&self, z: &Sizes, resets: bool) -> Option<[usize; 2]> {
        let states = self.side(z.sic)?.checked_add(if resets || self.gradients.len() > 2 { self.side(z.dhc)? } else { 0 })?;
        Some([z.directions.checked_mul(self.side(z.slc)?)?, z.directions.checked_mul(states)?])
    }

    /// All gradients of a layer; `src` is the first layer's input.
    ///
    /// # Errors
    /// [`Error`] when an argument is missing.
    pub(super) fn run(
        &self,
        (simd, ctx): (Simd, &Ctx<'_>),
        cells: &CellBwd<'_>,
        (l, src): (usize, &Rows),
        Space { inputs: x, states: h, deltas, given, work }: &mut Space<'_>,
    ) -> Result<(), Error> {
        let (plan, code) = (cells.plan, &cells.code.parameters);
        let z = &plan.z;
        let kept = Kept { plan, workspace: cells.workspace };
        let state = z.gates * z.dhc;
        let extra = state + z.dic + if plan.op.cell == RnnCell::Lstm { z.dhc } else { 0 };
        let inputs = |d: usize| {
            if l > 0 {
                return [kept.span([l - 1, d], state); 2];
            }
            [Span { end: z.samples(), buf: src.buf.part(src.start, src.buf.len() - src.start), first: 0, step: src.row / 4 }; 2]
        };
        let before = |d: usize| kept.before_span([l, d], state, (cells.first, plan.state_width()));
        let second = |d: usize| {
            if plan.resets_first() {
                let padded = plan.gates.padded();
                return [Span { end: z.samples(), buf: cells.reset, first: d * z.samples() * padded, step: padded }; 2];
            }
            [kept.span([l, d], extra); 2]
        };
        let x = self.turn((simd, ctx), z.directions, x, &[(z.slc, &inputs)]);
        let h = self.turn((simd, ctx), z.directions, h, &[(z.sic, &before), (z.dhc, &second)]);
        let right = self.right((simd, ctx), (cells.panels, plan.gates), deltas);
        let given = self.right((simd, ctx), (cells.given_panels, plan.outputs), given);
        let sizes = [z.slc, z.sic, z.dhc].map(|n| self.side(n).unwrap_or(0));
        let deltas = |d: usize, gate: usize| (d * z.bias_gates + gate) * plan.gates.padded() * self.words();
        // Reset states, and states before projection, are behind the states of all directions.
        let second = |d: usize| z.directions * sizes[1] + d * sizes[2];
        for (gradient, code) in self.gradients.iter().zip(code) {
            let starts = |d: usize, gate: usize| match gradient.arg {
                Arg::DIFF_WEIGHTS => [d * sizes[0], deltas(d, gate)],
                Arg::DIFF_WEIGHTS_3 => [second(d), d * plan.outputs.padded() * self.words()],
                _ if gate == 2 && plan.resets_first() => [second(d), deltas(d, gate)],
                _ => [d * sizes[1], deltas(d, if gate == 2 && z.bias_gates > z.gates { 3 } else { gate })],
            };
            let left = if gradient.arg == Arg::DIFF_WEIGHTS { x } else { h };
            let right = if gradient.arg == Arg::DIFF_WEIGHTS_3 { given } else { right };
            gradient.run((simd, ctx), &plan.op, l, Operand { code, left, right, starts: &starts, work })?;
        }
        self.bias((simd, ctx), cells, l)?;
        self.peephole((simd, ctx), cells, l, &kept)
    }

    /// Fills a left operand, channel by channel, from rows of `width` channels; `spans` gives the rows of a direction.
    fn turn<'s>(&self, (simd, ctx): (Simd, &Ctx<'_>), directions: usize, part: &mut Part<'s>, sides: &[(usize, &Left<'_>)]) -> Buf<'s> {
        part.refill(ctx.executor(), CHANNELS * pitch(self.words()), &|piece, to| {
            let mut block = piece;
            for (width, spans) in sides {
                let blocks = width.div_ceil(CHANNELS);
                if block < directions * blocks {
                    let (d, first) = (block / blocks, block % blocks * CHANNELS);
                    let channels = (first, CHANNELS.min(width - first));
                    return simd.run(Transposed {
                        simd,
                        spans: &spans(d),
                        samples: self.samples,
                        channels,
                        each: self.product.step_depth(),
                        to,
                    });
                }
                block -= directions * blocks;
            }
        })
    }

    /// The panels in the form that the product takes.
    fn right<'s, 'p: 's>(&self, (simd, ctx): (Simd, &Ctx<'_>), (from, panels): (Buf<'s>, Panels), to: &mut Part<'p>) -> Buf<'s> {
        if self.product == DotType::F32 || from.is_empty() {
            return from;
        }
        let (width, samples) = (panels.width, self.samples);
        to.refill(ctx.executor(), self.words() * width, &|piece, to| narrow(simd, from, piece * samples, samples, width, to))
    }

    /// The gradients of biases: sums of deltas.
    fn bias(&self, (simd, ctx): (Simd, &Ctx<'_>), cells: &CellBwd<'_>, l: usize) -> Result<(), Error> {
        let Some(view) = View::optional(simd, ctx, Arg::DIFF_BIAS)? else { return Ok(()) };
        self.sums(ctx, cells, l, &view, None);
        Ok(())
    }

    /// The gradients of peephole weights: sums of deltas times cells.
    fn peephole(&self, (simd, ctx): (Simd, &Ctx<'_>), cells: &CellBwd<'_>, l: usize, kept: &Kept<'_>) -> Result<(), Error> {
        let (z, plan) = (&cells.plan.z, cells.plan);
        let Some(view) = View::optional(simd, ctx, Arg::DIFF_WEIGHTS_2)? else { return Ok(()) };
        let of_cells = z.gates * z.dhc + z.dic;
        self.sums(
            ctx,
            cells,
            l,
            &view,
            Some(&|[d, gate, i, first, count], delta| {
                let mut cell = [0.0; LINE];
                match if gate == 2 { Some(i) } else { kept.before(d, i) } {
                    Some(i) => kept.read([l, d, i], of_cells + first, &mut cell[..count]),
                    None => cells.cell.read((d * z.batch + i % z.batch) * plan.gates.padded() + first, &mut cell[..count]),
                }
                delta.iter_mut().zip(&cell).for_each(|(x, c)| *x *= c);
            }),
        );
        Ok(())
    }

    /// Sums over all samples of the deltas of gates, for biases; for peephole weights `change` changes the lines first.
    fn sums(&self, ctx: &Ctx<'_>, cells: &CellBwd<'_>, l: usize, view: &View<'_>, change: Option<&Change<'_>>) {
        let (z, panels) = (&cells.plan.z, cells.plan.gates);
        let gates = if change.is_some() { PEEPHOLE.len() } else { z.bias_gates };
        ctx.executor().run(ctx.executor().threads(), z.directions * gates * panels.count, &|_, task| {
            let (panel, rest) = (task % panels.count, task / panels.count);
            let (gate, d) = (rest % gates, rest / gates);
            let (channel, count) = panels.channels(panel, z.dhc);
            let of = if change.is_some() { PEEPHOLE[gate] } else { gate };
            let first = ((d * z.bias_gates + of) * panels.count + panel) * z.samples();
            let changed = change.map(|change| move |i: usize, line: &mut [f32; LINE]| change([d, gate, i, channel, count], line));
            let change = changed.as_ref().map(|change| change as &dyn Fn(usize, &mut [f32; LINE]));
            let mut total = totals(cells.simd, cells.panels, first, z.samples(), panels, change);
            give(view, &[l, d, gate], channel, self.overwrite, &mut total[..count]);
        });
        if l == 0 {
            view.zero_padding();
        }
    }
}

/// The workspace.
struct Kept<'k> {
    plan: &'k Backward,
    workspace: Buf<'k>,
}

impl Kept<'_> {
    /// Elements of the row of a layer, direction and sample.
    fn read(&self, [l, d, i]: [usize; 3], field: usize, to: &mut [f32]) {
        let z = &self.plan.z;
        self.workspace.read(((l * z.directions + d) * z.samples() + i) * self.plan.workspace_row + field, to);
    }

    /// The rows of a layer and direction from a field on.
    fn span(&self, [l, d]: [usize; 2], field: usize) -> Span<'_> {
        let (z, step) = (&self.plan.z, self.plan.workspace_row);
        Span { end: z.samples(), buf: self.workspace, first: (l * z.directions + d) * z.samples() * step + field, step }
    }

    /// The rows of the step before every sample; `first` has those before the first step, and its row length.
    fn before_span<'s>(&'s self, [l, d]: [usize; 2], field: usize, (first, step): (Buf<'s>, usize)) -> Spans<'s> {
        let (z, kept, start) = (&self.plan.z, self.span([l, d], field), d * self.plan.z.batch * step);
        let rest = z.samples() - z.batch;
        if is_backward(&self.plan.op, d) {
            let last = Span { end: z.samples(), buf: first, first: start.wrapping_sub(rest * step), step };
            return [Span { end: rest, first: kept.first + z.batch * kept.step, ..kept }, last];
        }
        [Span { end: z.batch, buf: first, first: start, step }, Span { first: kept.first.wrapping_sub(z.batch * kept.step), ..kept }]
    }

    /// The sample of the step before, if there is one.
    fn before(&self, d: usize, i: usize) -> Option<usize> {
        let z = &self.plan.z;
        if is_backward(&self.plan.op, d) { Some(i + z.batch).filter(|i| *i < z.samples()) } else { i.checked_sub(z.batch) }
    }
}

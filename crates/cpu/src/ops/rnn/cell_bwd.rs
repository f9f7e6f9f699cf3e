//! A panel of a step backward in time: the gradient of the state that the step gave, and the deltas of its gates.

use super::backward::{Backward, Code};
use super::cell_fwd::Step;
use super::partition::PanelTask;
use super::sizes::{BLOCK, LINE, Panels};
use super::skinny::{RUNS, Rows};
use super::states::{self, States};
use crate::kernels::access::View;
use crate::kernels::microkernel::DotType;
use crate::kernels::multiversion::{Body, Simd};
use oxidnn_expr::{Lane, Num, convert, eltwise};
use oxidnn_runtime::Buf;
use oxidnn_spec::DataType;
use oxidnn_spec::op::{EltwiseAlg, RnnActivation, RnnCell};
use std::ops::Range;

/// The type as a parameter of `convert`.
const BF16: usize = DataType::Bf16 as usize;

/// Some channels of a gate.
type Block = [f32; BLOCK];

/// What the tasks of an execution share. All elements are f32, except operands of products.
pub(super) struct CellBwd<'a> {
    pub(super) plan: &'a Backward,
    pub(super) code: &'a Code,
    pub(super) simd: Simd,
    /// Weights of the state, and of the projection.
    pub(super) iter: Buf<'a>,
    pub(super) projection: Buf<'a>,
    pub(super) peephole: &'a [f32],
    pub(super) attention: Option<View<'a>>,
    pub(super) workspace: Buf<'a>,
    /// Initial states and cells of the layer, by direction and sample.
    pub(super) first: Buf<'a>,
    pub(super) cell: Buf<'a>,
    /// Gradients of states and cells: first of those after the last step, then of those before the step that is done; for gated units only
    /// the part that does not come from a product.
    pub(super) dh: Buf<'a>,
    pub(super) dc: Buf<'a>,
    /// Gradients of projected states, by direction and sample; and by direction, panel, time, sample.
    pub(super) given: Buf<'a>,
    pub(super) given_panels: Buf<'a>,
    /// Gradients of the layer's results.
    pub(super) results: States<'a>,
    /// Deltas by direction, time, sample, gate, channel; and by direction, gate, panel, time, sample.
    pub(super) rows: Buf<'a>,
    pub(super) panels: Buf<'a>,
    /// Reset states by direction, time and sample.
    pub(super) reset: Buf<'a>,
    /// Gradients of attention by time, sample and panel.
    pub(super) attention_parts: Buf<'a>,
}

/// A pass over the rows of a slice, for some panels of this width from the first on.
struct Pass<'p, 'a> {
    first: usize,
    width: usize,
    cells: &'p CellBwd<'a>,
    step: Step<'p>,
    /// Products, by row.
    sums: &'p mut [f32],
}

impl CellBwd<'_> {
    /// Computes some panels of a step, with the worker's scratch.
    pub(super) fn panels(&self, step: &Step<'_>, share: &mut [f32]) {
        let (plan, PanelTask { d, rows, phase, panel, .. }) = (self.plan, step.place);
        let stack = step.l * plan.z.directions + d;
        let (Panels { width, .. }, panels) = plan.task(*phase, *panel);
        let (first, line) = (panels.start, panels.len() * width);
        match (phase, &self.code.second, &plan.projection) {
            (0, ..) => self.products(step, panels, share),
            (_, Some(second), Some(weights)) => {
                let row = plan.outputs.padded() * plan.element();
                let a = Rows { buf: self.given, start: d * plan.z.batch * row, row };
                let b = weights.group(self.projection, (stack, panels), 0..1);
                second.run((&a, rows.clone()), &[[0, 0]], &b, (share, line));
            }
            _ => self.product(step, step.t, &[(2, 2)], panels, share),
        }
        let sums = &mut share[..rows.len() * line];
        self.simd.run(Pass { first, width, cells: self, step: *step, sums });
    }

    /// The gradient of the state before the first step.
    pub(super) fn last(&self, step: &Step<'_>, share: &mut [f32]) {
        let (plan, PanelTask { d, rows, panel, .. }) = (self.plan, step.place);
        let width = plan.states.width;
        self.products(step, *panel..panel + 1, share);
        for (n, line) in rows.clone().zip(share.chunks_exact_mut(width)) {
            let at = (d * plan.z.batch + n) * plan.state_width() + panel * width;
            if plan.op.cell.gates() == 3 {
                let mut direct = [0.0; LINE];
                let direct = &mut direct[..width];
                self.dh.read(at, direct);
                line.iter_mut().zip(&*direct).for_each(|(x, y)| *x += y);
            }
            self.dh.write(at, line);
        }
    }

    /// The products of the deltas of the step after; nothing for the last step.
    fn products(&self, step: &Step<'_>, panels: Range<usize>, share: &mut [f32]) {
        let Some(after) = step.after else { return };
        let gates: &[_] = match self.plan.op.cell {
            RnnCell::Vanilla => &[(0, 0)],
            RnnCell::Lstm => &[(0, 0), (1, 1), (2, 2), (3, 3)],
            RnnCell::Gru | RnnCell::Augru => &[(0, 0), (1, 1)],
            RnnCell::LbrGru | RnnCell::LbrAugru => &[(0, 0), (1, 1), (2, 3)],
        };
        self.product(step, after, gates, panels, share);
    }

    /// The products of the deltas of time `t` and the weights of the state, for pairs of a gate of the weights and a gate of the deltas.
    fn product(&self, step: &Step<'_>, t: usize, gates: &[(usize, usize)], panels: Range<usize>, share: &mut [f32]) {
        let (plan, PanelTask { d, rows, .. }) = (self.plan, step.place);
        let z = &plan.z;
        let channels = plan.delta_channels() * plan.element();
        let row = z.bias_gates * channels;
        let a = Rows { buf: self.rows, start: (d * z.time + t) * z.batch * row, row };
        let mut runs = [[0; 2]; RUNS];
        for (run, (gate, delta)) in runs.iter_mut().zip(gates) {
            *run = [gate * plan.iter.run_bytes(), delta * channels];
        }
        let b = plan.iter.group(self.iter, (step.l * z.directions + d, panels), 0..1);
        let line = b.panels() * plan.iter.panels.width;
        self.code.skinny.run((&a, rows.clone()), &runs[..gates.len()], &b, (share, line));
    }
}

impl Body for Pass<'_, '_> {
    type Out = ();

    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        let Pass { first, width, cells, step, sums } = self;
        let PanelTask { d, rows, phase, .. } = step.place;
        let line = sums.len() / rows.len().max(1);
        for (n, sums) in rows.clone().zip(sums.chunks_exact(line.max(1))) {
            for (i, sums) in sums.as_chunks::<BLOCK>().0.iter().enumerate() {
                let (panel, block) = (first + i * BLOCK / width, i * BLOCK % width);
                let at = At { cells, plan: cells.plan, step, d: *d, n, panel, block };
                match (phase, at.plan.op.cell, at.plan.projection.is_some()) {
                    (0, RnnCell::Lstm, true) => at.give(&at.output(sums)),
                    (0, RnnCell::Lstm, false) => at.lstm::<FMA>(&at.output(sums)),
                    (0, RnnCell::Vanilla, _) => at.vanilla::<FMA>(&at.output(sums)),
                    (0, RnnCell::Gru | RnnCell::Augru, _) => drop(at.update(&at.output(sums))),
                    (0, RnnCell::LbrGru | RnnCell::LbrAugru, _) => at.lbr_gru(&at.output(sums)),
                    (_, RnnCell::Lstm, _) => at.lstm::<FMA>(sums),
                    _ => at.reset(sums),
                }
            }
        }
    }
}

/// A block of channels of a panel of a step, for one sample.
struct At<'p, 'a> {
    cells: &'p CellBwd<'a>,
    plan: &'p Backward,
    step: Step<'p>,
    d: usize,
    n: usize,
    /// The block's panel, and its first channel within that.
    panel: usize,
    block: usize,
}

/// Its gates, as separate values, so that all stay in registers.
struct Gates {
    input: Block,
    forget: Block,
    candidate: Block,
    output: Block,
}

impl At<'_, '_> {
    /// First channel of the block.
    #[inline(always)]
    fn channel(&self) -> usize {
        self.panel * self.plan.gates.width + self.block
    }

    /// How many of the block's channels exist.
    #[inline(always)]
    fn count(&self) -> usize {
        self.plan.z.dhc.saturating_sub(self.channel()).min(BLOCK)
    }

    /// Index of a sample among those of a direction.
    #[inline(always)]
    fn sample(&self, t: usize) -> usize {
        t * self.plan.z.batch + self.n
    }

    /// Index of a sample of the step among those of both directions.
    #[inline(always)]
    fn index(&self) -> usize {
        self.d * self.plan.z.samples() + self.sample(self.step.t)
    }

    /// Index of the block's first element in rows of `width` elements by direction and sample.
    #[inline(always)]
    fn row(&self, row: usize) -> usize {
        (self.d * self.plan.z.batch + self.n) * row + self.channel()
    }

    #[inline(always)]
    fn load(&self, buf: Buf, at: usize) -> Block {
        self.load_some(buf, at, BLOCK)
    }

    /// The first `count` elements of a block, zero-padded.
    #[inline(always)]
    fn load_some(&self, buf: Buf, at: usize, count: usize) -> Block {
        let mut block = [0.0; BLOCK];
        if count == BLOCK {
            buf.read(at, &mut block);
        } else if count > 0 {
            buf.read(at, &mut block[..count]);
        }
        block
    }

    /// The block's channels of a vector of the workspace at time `t`, zero-padded.
    #[inline(always)]
    fn kept(&self, t: usize, field: usize) -> Block {
        let z = &self.plan.z;
        let sample = (self.step.l * z.directions + self.d) * z.samples() + self.sample(t);
        self.load_some(self.cells.workspace, sample * self.plan.workspace_row + field + self.channel(), self.count())
    }

    #[inline(always)]
    fn gate(&self, gate: usize) -> Block {
        self.kept(self.step.t, gate * self.plan.z.dhc)
    }

    #[inline(always)]
    fn state_before(&self) -> Block {
        match self.step.before {
            Some(t) => self.kept(t, self.plan.z.gates * self.plan.z.dhc),
            None => self.load(self.cells.first, self.row(self.plan.state_width())),
        }
    }

    /// Stores the first `count` elements of a block as operands of a product, from element `first` on; the last step is zero-padded.
    #[inline(always)]
    fn multiplied(&self, to: Buf, first: usize, (block, count): (&Block, usize)) {
        if self.plan.product == DotType::F32 {
            return if count == BLOCK { to.write(first, block) } else { to.write(first, &block[..count]) };
        }
        let (mut numbers, mut elements) = (*block, [[0; 2]; BLOCK]);
        if count < BLOCK {
            numbers[count..].fill(0.0);
        }
        convert::store::<BF16>(&numbers, elements.as_flattened_mut());
        if count == BLOCK {
            to.write(first, &elements)
        } else {
            to.write(first, &elements[..count.next_multiple_of(self.plan.product.step_depth())])
        }
    }

    /// Stores the deltas of a gate.
    #[inline(always)]
    fn put(&self, gate: usize, block: &Block) {
        let (plan, z) = (self.plan, &self.plan.z);
        let count = self.count();
        if count > 0 {
            let first = (self.index() * z.bias_gates + gate) * plan.delta_channels() + self.channel();
            self.multiplied(self.cells.rows, first, (block, count));
        }
        let panel = (self.d * z.bias_gates + gate) * plan.gates.count + self.panel;
        self.cells.panels.write((panel * z.samples() + self.sample(self.step.t)) * plan.gates.width + self.block, block);
    }

    /// The gradient of the state that the step gave.
    #[inline(always)]
    fn output(&self, sums: &Block) -> Block {
        let plan = self.plan;
        let at = self.panel * plan.outputs.width + self.block;
        let (results, first) = self.cells.results.row([self.d, self.step.t, self.n]);
        let mut out = self.load_some(results, first + at, plan.z.dic.saturating_sub(at).min(BLOCK));
        if self.step.after.is_some() {
            add(&mut out, sums);
        }
        if self.step.after.is_none() || plan.op.cell.gates() == 3 {
            add(&mut out, &self.load(self.cells.dh, (self.d * plan.z.batch + self.n) * plan.state_width() + at));
        }
        out
    }

    /// Stores the gradient of a projected state for the product that follows, and for that of the projection's gradient.
    #[inline(always)]
    fn give(&self, out: &Block) {
        let (z, outputs, panel) = (&self.plan.z, self.plan.outputs, self.panel);
        let channel = panel * outputs.width + self.block;
        let given = z.dic.saturating_sub(channel).min(BLOCK);
        if given > 0 {
            self.multiplied(self.cells.given, (self.d * z.batch + self.n) * outputs.padded() + channel, (out, given));
        }
        let line = (self.d * outputs.count + panel) * z.samples() + self.sample(self.step.t);
        self.cells.given_panels.write(line * outputs.width + self.block, out);
    }

    #[inline(always)]
    fn vanilla<const FMA: bool>(&self, out: &Block) {
        let (plan, mut delta) = (self.plan, *out);
        // The workspace has the result of the activation, exactly if it is f32, and what the activation is of.
        let exact = plan.op.src_layer.dtype == DataType::F32;
        let by_result = exact && plan.linear.is_none() && plan.op.activation != RnnActivation::Relu;
        let x = self.kept(self.step.t, if by_result { plan.z.gates * plan.z.dhc } else { 0 });
        // A loop for each activation, so that the compiler vectorises it.
        match (plan.linear, plan.op.activation, exact) {
            (Some([factor, ..]), ..) => delta.iter_mut().zip(&x).for_each(|(d, x)| *d *= factor * (factor * x)),
            (_, RnnActivation::Relu, _) => slope::<FMA>(EltwiseAlg::Relu, plan.op.alpha.get(), &mut delta, &x),
            (_, RnnActivation::Tanh, true) => slope::<FMA>(EltwiseAlg::TanhDst, 0.0, &mut delta, &x),
            (_, RnnActivation::Tanh, false) => slope::<FMA>(EltwiseAlg::Tanh, 0.0, &mut delta, &x),
            (_, RnnActivation::Logistic, true) => slope::<FMA>(EltwiseAlg::LogisticDst, 0.0, &mut delta, &x),
            (_, RnnActivation::Logistic, false) => slope::<FMA>(EltwiseAlg::Logistic, 0.0, &mut delta, &x),
        }
        self.put(0, &delta);
    }

    #[inline(always)]
    fn lstm<const FMA: bool>(&self, out: &Block) {
        let (plan, z, padded) = (self.plan, &self.plan.z, self.plan.gates.padded());
        let cells = z.gates * z.dhc + z.dic;
        let gates = Gates { input: self.gate(0), forget: self.gate(1), candidate: self.gate(2), output: self.gate(3) };
        let before = match self.step.before {
            Some(t) => self.kept(t, cells),
            None => self.load(self.cells.cell, self.row(padded)),
        };
        let mut bounded = self.kept(self.step.t, cells);
        for x in &mut bounded {
            *x = match plan.linear {
                Some(factors) => factors[4] * *x,
                None => Lane::<FMA>(*x).tanh().0,
            };
        }
        let [mut to_input, mut to_forget, mut to_output] = [[0.0; BLOCK]; 3];
        if !self.cells.peephole.is_empty() {
            let first = ((self.step.l * z.directions + self.d) * plan.gates.count + self.panel) * 3 * plan.gates.width;
            let line = |i: usize| &self.cells.peephole[first + i * plan.gates.width + self.block..][..BLOCK];
            to_input.copy_from_slice(line(0));
            to_forget.copy_from_slice(line(1));
            to_output.copy_from_slice(line(2));
        }
        let mut dc = self.load(self.cells.dc, self.row(padded));
        let mut deltas = Gates { input: [0.0; BLOCK], forget: [0.0; BLOCK], candidate: [0.0; BLOCK], output: [0.0; BLOCK] };
        for j in 0..BLOCK {
            let (i, f, g, o) = (gates.input[j], gates.forget[j], gates.candidate[j], gates.output[j]);
            let d_output = out[j] * bounded[j] * o * (1.0 - o);
            let d_cell = dc[j] + out[j] * o * (1.0 - bounded[j] * bounded[j]) + d_output * to_output[j];
            let (d_input, d_forget) = (d_cell * g * i * (1.0 - i), d_cell * before[j] * f * (1.0 - f));
            deltas.input[j] = d_input;
            deltas.forget[j] = d_forget;
            deltas.candidate[j] = d_cell * i * (1.0 - g * g);
            deltas.output[j] = d_output;
            dc[j] = d_cell * f + d_input * to_input[j] + d_forget * to_forget[j];
        }
        self.cells.dc.write(self.row(padded), &dc);
        self.put(0, &deltas.input);
        self.put(1, &deltas.forget);
        self.put(2, &deltas.candidate);
        self.put(3, &deltas.output);
    }

    /// The deltas of update gate and candidate, of which the candidate's is returned, and the direct part of the gradient of the state
    /// before.
    #[inline(always)]
    fn update(&self, out: &Block) -> Block {
        let (update, candidate, before) = (self.gate(0), self.gate(2), self.state_before());
        let at = states::position(&[self.step.t, self.n]);
        let kept = self.cells.attention.as_ref().map_or(1.0, |a| 1.0 - a.get(&at));
        let [mut d_update, mut d_candidate, mut direct, mut attention] = [[0.0; BLOCK]; 4];
        for j in 0..BLOCK {
            let (u, o) = (update[j], candidate[j]);
            let (effective, d_effective) = (kept * u, out[j] * (before[j] - o));
            attention[j] = -d_effective * u;
            d_update[j] = d_effective * kept * u * (1.0 - u);
            d_candidate[j] = out[j] * (1.0 - effective) * (1.0 - o * o);
            direct[j] = out[j] * effective;
        }
        if self.cells.attention.is_some() {
            let at = self.sample(self.step.t) * self.plan.gates.count + self.panel;
            let before = if self.block == 0 { 0.0 } else { self.cells.attention_parts.get(at) };
            self.cells.attention_parts.set(at, before + attention.iter().sum::<f32>());
        }
        self.put(0, &d_update);
        self.put(2, &d_candidate);
        self.cells.dh.write(self.row(self.plan.state_width()), &direct);
        d_candidate
    }

    #[inline(always)]
    fn lbr_gru(&self, out: &Block) {
        let z = &self.plan.z;
        let candidate = self.update(out);
        let (reset, inner) = (self.gate(1), self.kept(self.step.t, z.gates * z.dhc + z.dic));
        let [mut d_reset, mut d_inner] = [[0.0; BLOCK]; 2];
        for j in 0..BLOCK {
            let r = reset[j];
            d_reset[j] = candidate[j] * inner[j] * r * (1.0 - r);
            d_inner[j] = candidate[j] * r;
        }
        self.put(1, &d_reset);
        self.put(3, &d_inner);
    }

    /// The second phase of a gated unit, whose product is the gradient of the reset state.
    #[inline(always)]
    fn reset(&self, product: &Block) {
        let (reset, before) = (self.gate(1), self.state_before());
        let at = self.row(self.plan.state_width());
        let mut direct = self.load(self.cells.dh, at);
        let [mut d_reset, mut state] = [[0.0; BLOCK]; 2];
        for j in 0..BLOCK {
            let r = reset[j];
            d_reset[j] = product[j] * before[j] * r * (1.0 - r);
            direct[j] += product[j] * r;
            state[j] = r * before[j];
        }
        self.put(1, &d_reset);
        self.cells.dh.write(at, &direct);
        self.cells.reset.write(self.index() * self.plan.gates.padded() + self.channel(), &state);
    }
}

/// Multiplies gradients by the derivative of an activation.
#[inline(always)]
fn slope<const FMA: bool>(algorithm: EltwiseAlg, alpha: f32, gradients: &mut Block, from: &Block) {
    for (d, x) in gradients.iter_mut().zip(from) {
        *d = eltwise::backward(algorithm, alpha, 0.0, Lane::<FMA>(*d), Lane(*x)).0;
    }
}

#[inline(always)]
fn add(to: &mut Block, from: &Block) {
    for (x, y) in to.iter_mut().zip(from) {
        *x += y;
    }
}

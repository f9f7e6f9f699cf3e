//! A panel of a step back in time: the gradient of the state that the step gave, and the deltas of its gates.

use super::backward::{Backward, Code};
use super::cut::Place;
use super::sizes::{LINE, Panels};
use super::skinny::{RUNS, Rows};
use super::states;
use super::step::Step;
use crate::kernels::access::View;
use crate::kernels::multiversion::{Body, Simd};
use crate::kernels::tile::Product;
use oxidnn_expr::{Lane, Num, convert, eltwise};
use oxidnn_runtime::Buf;
use oxidnn_spec::DataType;
use oxidnn_spec::op::{EltwiseAlg, RnnActivation, RnnCell};

/// As `convert` names it.
const BF16: usize = DataType::Bf16 as usize;

/// A gate of a panel.
type Line = [f32; LINE];

/// What the tasks of an execution share. Everything is f32 but what products take.
pub(super) struct Sweep<'a> {
    pub(super) plan: &'a Backward,
    pub(super) code: &'a Code,
    pub(super) simd: Simd,
    /// Weights of state and projection.
    pub(super) iter: Buf<'a>,
    pub(super) projection: Buf<'a>,
    pub(super) peephole: &'a [f32],
    pub(super) attention: Option<View<'a>>,
    pub(super) workspace: Buf<'a>,
    /// States and cells before the layer's first step, by direction and sample.
    pub(super) first: Buf<'a>,
    pub(super) cell: Buf<'a>,
    /// Gradients of states and cells: at first of those behind the last step, then of those before the step that is done; of gated units only
    /// the part that is no product.
    pub(super) dh: Buf<'a>,
    pub(super) dc: Buf<'a>,
    /// Gradients of states that were projected, by direction and sample; and by direction, panel, time, sample.
    pub(super) given: Buf<'a>,
    pub(super) given_panels: Buf<'a>,
    /// Gradients of the layer's results by direction, time and sample; in the end those of its input.
    pub(super) outputs: Buf<'a>,
    /// Deltas by direction, time, sample, gate, channel; and by direction, gate, panel, time, sample.
    pub(super) rows: Buf<'a>,
    pub(super) panels: Buf<'a>,
    /// Reset states by direction, time and sample.
    pub(super) reset: Buf<'a>,
    /// Gradients of attention by time, sample and panel.
    pub(super) attention_parts: Buf<'a>,
}

/// A pass over the rows of a slice.
struct Pass<'p, 'a> {
    sweep: &'p Sweep<'a>,
    step: Step<'p>,
    /// Products, row by row.
    sums: &'p mut [f32],
}

impl Sweep<'_> {
    /// Computes a panel of a step, with the worker's scratch.
    pub(super) fn panel(&self, step: &Step<'_>, share: &mut [f32]) {
        let (plan, Place { d, rows, phase, panel, .. }) = (self.plan, step.place);
        let stack = step.l * plan.z.directions + d;
        let width = if *phase == 0 { plan.outputs.width } else { plan.gates.width };
        match (phase, &self.code.second, &plan.projection) {
            (0, ..) => self.products(step, width, share),
            (_, Some(second), Some(weights)) => {
                let row = plan.outputs.padded() * plan.element();
                let a = Rows { buf: self.given, start: d * plan.z.batch * row, row };
                let b = weights.group(self.projection, (stack, *panel), 0..1);
                second.run((&a, rows.clone()), &[[0, 0]], &b, (share, width));
            }
            _ => self.product(step, step.t, &[(2, 2)], share, width),
        }
        let sums = &mut share[..rows.len() * width];
        self.simd.run(Pass { sweep: self, step: *step, sums });
    }

    /// The gradient of the state before the first step.
    pub(super) fn last(&self, step: &Step<'_>, share: &mut [f32]) {
        let (plan, Place { d, rows, panel, .. }) = (self.plan, step.place);
        let width = plan.states.width;
        self.products(step, width, share);
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

    /// The products of the deltas of the step that follows; nothing where there is none.
    fn products(&self, step: &Step<'_>, width: usize, share: &mut [f32]) {
        let Some(after) = step.after else { return };
        let gates: &[_] = match self.plan.op.cell {
            RnnCell::Vanilla => &[(0, 0)],
            RnnCell::Lstm => &[(0, 0), (1, 1), (2, 2), (3, 3)],
            RnnCell::Gru | RnnCell::Augru => &[(0, 0), (1, 1)],
            RnnCell::LbrGru | RnnCell::LbrAugru => &[(0, 0), (1, 1), (2, 3)],
        };
        self.product(step, after, gates, share, width);
    }

    /// The products of deltas of time `t` by the weights of the state, of pairs of a gate of the weights and one of the deltas.
    fn product(&self, step: &Step<'_>, t: usize, gates: &[(usize, usize)], share: &mut [f32], width: usize) {
        let (plan, Place { d, rows, panel, .. }) = (self.plan, step.place);
        let z = &plan.z;
        let channels = plan.delta_channels() * plan.element();
        let row = z.bias_gates * channels;
        let a = Rows { buf: self.rows, start: (d * z.time + t) * z.batch * row, row };
        let mut runs = [[0; 2]; RUNS];
        for (run, (gate, delta)) in runs.iter_mut().zip(gates) {
            *run = [gate * plan.iter.run_bytes(), delta * channels];
        }
        let b = plan.iter.group(self.iter, (step.l * z.directions + d, *panel), 0..1);
        self.code.skinny.run((&a, rows.clone()), &runs[..gates.len()], &b, (share, width));
    }
}

impl Body for Pass<'_, '_> {
    type Out = ();

    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        let Pass { sweep, step, sums } = self;
        let Place { d, rows, phase, panel, .. } = step.place;
        let at = At { sweep, plan: sweep.plan, step, d: *d, panel: *panel, width: sweep.plan.gates.width.min(LINE) };
        let line = sums.len() / rows.len().max(1);
        for (n, sums) in rows.clone().zip(sums.chunks_exact(line.max(1))) {
            if *phase == 0 {
                let out = at.output(n, sums);
                match at.plan.op.cell {
                    RnnCell::Lstm if at.plan.projection.is_some() => at.give(n, &out),
                    RnnCell::Lstm => at.lstm::<FMA>(n, &out),
                    RnnCell::Vanilla => at.vanilla::<FMA>(n, &out),
                    RnnCell::Gru | RnnCell::Augru => at.update(n, &out, None),
                    RnnCell::LbrGru | RnnCell::LbrAugru => at.lbr_gru(n, &out),
                }
            } else {
                let mut line = [0.0; LINE];
                line[..sums.len()].copy_from_slice(sums);
                if at.plan.op.cell == RnnCell::Lstm { at.lstm::<FMA>(n, &line) } else { at.reset(n, &line) }
            }
        }
    }
}

/// A panel of a step.
struct At<'p, 'a> {
    sweep: &'p Sweep<'a>,
    plan: &'p Backward,
    step: Step<'p>,
    d: usize,
    panel: usize,
    /// Channels of a panel of gates.
    width: usize,
}

impl At<'_, '_> {
    /// Index of a sample among those of a direction.
    #[inline(always)]
    fn sample(&self, t: usize, n: usize) -> usize {
        t * self.plan.z.batch + n
    }

    /// Index of a sample of the step among those of both directions.
    #[inline(always)]
    fn index(&self, n: usize) -> usize {
        self.d * self.plan.z.samples() + self.sample(self.step.t, n)
    }

    /// First number of the panel in rows by direction and sample of so many numbers.
    #[inline(always)]
    fn row(&self, n: usize, row: usize) -> usize {
        (self.d * self.plan.z.batch + n) * row + self.panel * self.width
    }

    #[inline(always)]
    fn load(&self, buf: Buf, at: usize, count: usize) -> Line {
        let mut line = [0.0; LINE];
        states::read(buf, at, &mut line[..count.min(LINE)]);
        line
    }

    /// The panel's channels of a vector of the workspace of time `t`, zeros behind them.
    #[inline(always)]
    fn kept(&self, t: usize, n: usize, field: usize) -> Line {
        let z = &self.plan.z;
        let (first, count) = self.plan.gates.channels(self.panel, z.dhc);
        let sample = (self.step.l * z.directions + self.d) * z.samples() + self.sample(t, n);
        self.load(self.sweep.workspace, sample * self.plan.workspace_row + field + first, count)
    }

    #[inline(always)]
    fn gate(&self, n: usize, gate: usize) -> Line {
        self.kept(self.step.t, n, gate * self.plan.z.dhc)
    }

    #[inline(always)]
    fn state_before(&self, n: usize) -> Line {
        match self.step.before {
            Some(t) => self.kept(t, n, self.plan.z.gates * self.plan.z.dhc),
            None => self.load(self.sweep.first, self.row(n, self.plan.state_width()), self.width),
        }
    }

    /// Keeps the first `count` numbers of a line as elements of a product, from element `first` on; the last step is filled with zeros.
    #[inline(always)]
    fn multiplied(&self, to: Buf, first: usize, (line, count): (&Line, usize)) {
        if self.plan.product == Product::F32 {
            return states::write(to, first, &line[..count]);
        }
        let mut elements = [[0; 2]; LINE];
        convert::store::<BF16>(&line[..count], elements.as_flattened_mut());
        to.write(first, &elements[..count.next_multiple_of(self.plan.product.depth())]);
    }

    /// Keeps the deltas of a gate.
    #[inline(always)]
    fn put(&self, n: usize, gate: usize, line: &Line) {
        let z = &self.plan.z;
        let (first, count) = self.plan.gates.channels(self.panel, z.dhc);
        let channels = self.plan.delta_channels();
        self.multiplied(self.sweep.rows, (self.index(n) * z.bias_gates + gate) * channels + first, (line, count));
        let panel = (self.d * z.bias_gates + gate) * self.plan.gates.count + self.panel;
        states::write(self.sweep.panels, (panel * z.samples() + self.sample(self.step.t, n)) * self.width, &line[..self.width]);
    }

    /// The gradient of the state that the step gave.
    #[inline(always)]
    fn output(&self, n: usize, sums: &[f32]) -> Line {
        let (plan, width) = (self.plan, sums.len().min(LINE));
        let at = self.panel * width;
        let mut out = self.load(self.sweep.outputs, self.index(n) * plan.output_width() + at, width);
        if self.step.after.is_some() {
            out[..width].iter_mut().zip(sums).for_each(|(x, y)| *x += y);
        }
        if self.step.after.is_none() || plan.op.cell.gates() == 3 {
            let direct = self.load(self.sweep.dh, (self.d * plan.z.batch + n) * plan.state_width() + at, width);
            out.iter_mut().zip(&direct).for_each(|(x, y)| *x += y);
        }
        out
    }

    /// Keeps the gradient of a projected state for the product that follows, and for that of the projection's gradient.
    #[inline(always)]
    fn give(&self, n: usize, out: &Line) {
        let (z, Panels { width, count }) = (&self.plan.z, self.plan.outputs);
        let (line, given) = (&out[..width], self.plan.outputs.channels(self.panel, z.dic).1);
        self.multiplied(self.sweep.given, (self.d * z.batch + n) * width * count + self.panel * width, (out, given));
        let panel = self.d * count + self.panel;
        states::write(self.sweep.given_panels, (panel * z.samples() + self.sample(self.step.t, n)) * width, line);
    }

    #[inline(always)]
    fn vanilla<const FMA: bool>(&self, n: usize, out: &Line) {
        let (x, alpha) = (self.gate(n, 0), self.plan.op.alpha.get());
        let mut delta = *out;
        if let Some(factors) = self.plan.linear {
            delta.iter_mut().zip(&x).for_each(|(d, x)| *d *= factors[0] * (factors[0] * x));
            return self.put(n, 0, &delta);
        }
        let lines = delta[..self.width].iter_mut().zip(&x);
        match self.plan.op.activation {
            RnnActivation::Relu => {
                lines.for_each(|(d, x)| *d = eltwise::backward(EltwiseAlg::Relu, alpha, 0.0, Lane::<FMA>(*d), Lane(*x)).0);
            }
            RnnActivation::Tanh => {
                lines.for_each(|(d, x)| *d = eltwise::backward(EltwiseAlg::Tanh, alpha, 0.0, Lane::<FMA>(*d), Lane(*x)).0);
            }
            RnnActivation::Logistic => {
                lines.for_each(|(d, x)| *d = eltwise::backward(EltwiseAlg::Logistic, alpha, 0.0, Lane::<FMA>(*d), Lane(*x)).0);
            }
        }
        self.put(n, 0, &delta);
    }

    #[inline(always)]
    fn lstm<const FMA: bool>(&self, n: usize, out: &Line) {
        let (z, padded) = (&self.plan.z, self.plan.gates.padded());
        let cells = z.gates * z.dhc + z.dic;
        let [input, forget, candidate, output] = [0, 1, 2, 3].map(|gate| self.gate(n, gate));
        let after = self.kept(self.step.t, n, cells);
        let before = match self.step.before {
            Some(t) => self.kept(t, n, cells),
            None => self.load(self.sweep.cell, self.row(n, padded), self.width),
        };
        let mut peephole = [[0.0; LINE]; 3];
        if !self.sweep.peephole.is_empty() {
            let first = ((self.step.l * z.directions + self.d) * self.plan.gates.count + self.panel) * 3 * self.width;
            let lines = self.sweep.peephole[first..].chunks_exact(self.width);
            peephole.iter_mut().zip(lines).for_each(|(to, from)| to[..self.width].copy_from_slice(from));
        }
        let mut dc = self.load(self.sweep.dc, self.row(n, padded), self.width);
        let mut deltas = [[0.0; LINE]; 4];
        for j in 0..self.width {
            let (i, f, g, o) = (input[j], forget[j], candidate[j], output[j]);
            let bounded = match self.plan.linear {
                Some(factors) => factors[4] * after[j],
                None => Lane::<FMA>(after[j]).tanh().0,
            };
            let d_output = out[j] * bounded * o * (1.0 - o);
            let d_cell = dc[j] + out[j] * o * (1.0 - bounded * bounded) + d_output * peephole[2][j];
            let (d_input, d_forget) = (d_cell * g * i * (1.0 - i), d_cell * before[j] * f * (1.0 - f));
            deltas[0][j] = d_input;
            deltas[1][j] = d_forget;
            deltas[2][j] = d_cell * i * (1.0 - g * g);
            deltas[3][j] = d_output;
            dc[j] = d_cell * f + d_input * peephole[0][j] + d_forget * peephole[1][j];
        }
        states::write(self.sweep.dc, self.row(n, padded), &dc[..self.width]);
        deltas.iter().enumerate().for_each(|(gate, line)| self.put(n, gate, line));
    }

    /// The deltas of update gate and candidate, whose own is returned, and the direct way to the state before.
    #[inline(always)]
    fn update(&self, n: usize, out: &Line, candidate_delta: Option<&mut Line>) {
        let (update, candidate, before) = (self.gate(n, 0), self.gate(n, 2), self.state_before(n));
        let at = states::position(&[self.step.t, n]);
        let kept = self.sweep.attention.as_ref().map_or(1.0, |a| 1.0 - a.get(&at));
        let [mut d_update, mut d_candidate, mut direct, mut attention] = [[0.0; LINE]; 4];
        for j in 0..self.width {
            let (u, o) = (update[j], candidate[j]);
            let (effective, d_effective) = (kept * u, out[j] * (before[j] - o));
            attention[j] = -d_effective * u;
            d_update[j] = d_effective * kept * u * (1.0 - u);
            d_candidate[j] = out[j] * (1.0 - effective) * (1.0 - o * o);
            direct[j] = out[j] * effective;
        }
        if self.sweep.attention.is_some() {
            let at = self.sample(self.step.t, n) * self.plan.gates.count + self.panel;
            self.sweep.attention_parts.set(at, attention[..self.width].iter().sum::<f32>());
        }
        self.put(n, 0, &d_update);
        self.put(n, 2, &d_candidate);
        states::write(self.sweep.dh, self.row(n, self.plan.state_width()), &direct[..self.width]);
        if let Some(to) = candidate_delta {
            *to = d_candidate;
        }
    }

    #[inline(always)]
    fn lbr_gru(&self, n: usize, out: &Line) {
        let z = &self.plan.z;
        let mut candidate = [0.0; LINE];
        self.update(n, out, Some(&mut candidate));
        let (reset, inner) = (self.gate(n, 1), self.kept(self.step.t, n, z.gates * z.dhc + z.dic));
        let [mut d_reset, mut d_inner] = [[0.0; LINE]; 2];
        for j in 0..self.width {
            let r = reset[j];
            d_reset[j] = candidate[j] * inner[j] * r * (1.0 - r);
            d_inner[j] = candidate[j] * r;
        }
        self.put(n, 1, &d_reset);
        self.put(n, 3, &d_inner);
    }

    /// The second phase of a gated unit, whose product is the gradient of the reset state.
    #[inline(always)]
    fn reset(&self, n: usize, product: &Line) {
        let (reset, before) = (self.gate(n, 1), self.state_before(n));
        let at = self.row(n, self.plan.state_width());
        let mut direct = self.load(self.sweep.dh, at, self.width);
        let [mut d_reset, mut state] = [[0.0; LINE]; 2];
        for j in 0..self.width {
            let r = reset[j];
            d_reset[j] = product[j] * before[j] * r * (1.0 - r);
            direct[j] += product[j] * r;
            state[j] = r * before[j];
        }
        self.put(n, 1, &d_reset);
        states::write(self.sweep.dh, at, &direct[..self.width]);
        let row = self.index(n) * self.plan.gates.padded() + self.panel * self.width;
        states::write(self.sweep.reset, row, &state[..self.width]);
    }
}

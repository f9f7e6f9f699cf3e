//! Backward passes: time runs against its direction, layers from the last to the first.
//!
//! For each layer and direction the gradients of all gate sums (`deltas`) are computed step by step; the gradients of weights, bias and the
//! layer's input are then sums over all steps. Rounding of states counts as the identity.

use super::{Network, Stack, Target, Workspace, add_products, take};
use crate::dot::products;
use crate::rnn::forward::activation;
use crate::{Args, View, dot, for_each_position};
use oxidnn_expr::eltwise;
use oxidnn_spec::op::{Rnn, RnnCell, RnnSizes};
use oxidnn_spec::{Arg, Error};

/// Scratch beyond [`dot::SCRATCH`].
pub(super) fn scratch_len(op: &Rnn, z: &RnnSizes) -> usize {
    let samples = z.time * z.batch;
    let steps = samples * (z.dic.max(z.slc) + op.cell.bias_gates() * z.dhc + z.slc);
    (steps + z.batch * (z.dic.max(z.sic) + 2 * z.dhc)) as usize
}

struct Buffers<'s> {
    tiles: &'s mut [f64],
    /// Gradient of the layer's states by time and sample; becomes that of its input. Rows of `outputs_width`.
    outputs: &'s mut [f64],
    /// Gradient of the gate sums by time, sample, and bias gate.
    deltas: &'s mut [f64],
    /// Gradient of `src_layer`, summed over the directions.
    input: &'s mut [f64],
    /// Gradient of the state before the step, by sample; rows of the wider of SIC and DIC.
    h: &'s mut [f64],
    /// Gradient of the cell state, by sample.
    c: &'s mut [f64],
    /// Gradient of the state before projection, or of the reset state of a GRU.
    extra: &'s mut [f64],
}

pub(super) fn run<'a>(network: &Network<'a>, args: &'a dyn Args, scratch: &mut [f64]) -> Result<(), Error> {
    let ws = network.workspace.ok_or_else(|| Error::arg(Arg::WORKSPACE, "nothing", "the workspace"))?;
    let z = network.z;
    let (samples, width) = (z.time * z.batch, z.dic.max(z.slc));
    let state_width = z.dic.max(z.sic);
    let back = Backward { network, ws, z, bias_gates: network.op.cell.bias_gates(), width, state_width, diffs: Diffs::of(args)? };
    let mut rest = scratch;
    let mut b = Buffers {
        tiles: take(&mut rest, dot::SCRATCH as i64),
        outputs: take(&mut rest, samples * width),
        deltas: take(&mut rest, samples * back.bias_gates * z.dhc),
        input: take(&mut rest, samples * z.slc),
        h: take(&mut rest, z.batch * state_width),
        c: take(&mut rest, z.batch * z.dhc),
        extra: take(&mut rest, z.batch * z.dhc),
    };
    b.input.fill(0.0);
    for d in 0..z.directions {
        for l in (0..z.layers).rev() {
            back.layer(Stack { l, d }, &mut b);
        }
    }
    for_each_position(&[z.time, z.batch, z.slc], |p| {
        back.diffs.src_layer.set(p, b.input[((p[0] * z.batch + p[1]) * z.slc + p[2]) as usize]);
    });
    back.diffs.zero_padding();
    Ok(())
}

/// The gradients that come in and go out.
struct Diffs<'a> {
    dst_layer: View<'a>,
    dst_iter: Option<View<'a>>,
    dst_iter_c: Option<View<'a>>,
    src_layer: View<'a>,
    src_iter: Option<View<'a>>,
    src_iter_c: Option<View<'a>>,
    attention: Option<View<'a>>,
    weights_layer: View<'a>,
    weights_iter: View<'a>,
    peephole: Option<View<'a>>,
    projection: Option<View<'a>>,
    bias: Option<View<'a>>,
}

impl<'a> Diffs<'a> {
    fn of(args: &'a dyn Args) -> Result<Diffs<'a>, Error> {
        let optional = |arg| View::optional(args, arg);
        Ok(Diffs {
            dst_layer: View::of(args, Arg::DIFF_DST)?,
            dst_iter: optional(Arg::DIFF_DST_1)?,
            dst_iter_c: optional(Arg::DIFF_DST_2)?,
            src_layer: View::of(args, Arg::DIFF_SRC)?,
            src_iter: optional(Arg::DIFF_SRC_1)?,
            src_iter_c: optional(Arg::DIFF_SRC_2)?,
            attention: optional(Arg::DIFF_SRC_3)?,
            weights_layer: View::of(args, Arg::DIFF_WEIGHTS)?,
            weights_iter: View::of(args, Arg::DIFF_WEIGHTS_1)?,
            peephole: optional(Arg::DIFF_WEIGHTS_2)?,
            projection: optional(Arg::DIFF_WEIGHTS_3)?,
            bias: optional(Arg::DIFF_BIAS)?,
        })
    }

    fn zero_padding(&self) {
        let Diffs { src_layer, src_iter, src_iter_c, attention, weights_layer, weights_iter, peephole, projection, bias, .. } = self;
        let optional = [src_iter, src_iter_c, attention, peephole, projection, bias];
        for view in [src_layer, weights_layer, weights_iter].into_iter().chain(optional.into_iter().flatten()) {
            view.zero_padding();
        }
    }
}

struct Backward<'n, 'a> {
    network: &'n Network<'a>,
    ws: Workspace<'a>,
    z: RnnSizes,
    bias_gates: i64,
    /// Row length of [`Buffers::outputs`].
    width: i64,
    /// Row length of [`Buffers::h`].
    state_width: i64,
    diffs: Diffs<'a>,
}

/// One sample at one step.
#[derive(Clone, Copy)]
struct Sample {
    s: Stack,
    t: i64,
    n: i64,
}

impl Backward<'_, '_> {
    fn layer(&self, s: Stack, b: &mut Buffers<'_>) {
        let z = &self.z;
        self.start(s, b);
        for step in (0..z.time).rev() {
            self.step(s, self.network.time(s.d, step), b);
        }
        let last = [(&self.diffs.src_iter, &*b.h, [z.sic, self.state_width]), (&self.diffs.src_iter_c, &*b.c, [z.dhc; 2])];
        for (view, gradient, [channels, width]) in last {
            if let Some(view) = view {
                for_each_position(&[z.batch, channels], |p| view.set(&[s.l, s.d, p[0], p[1]], gradient[(p[0] * width + p[1]) as usize]));
            }
        }
        self.parameters(s, b);
        self.inputs(s, b);
    }

    /// Gradients that come from outside the layer.
    fn start(&self, s: Stack, b: &mut Buffers<'_>) {
        let z = &self.z;
        if s.l + 1 == z.layers {
            let first = self.network.first_channel(s.d);
            for_each_position(&[z.time, z.batch, z.dic], |p| {
                b.outputs[((p[0] * z.batch + p[1]) * self.width + p[2]) as usize] = self.diffs.dst_layer.get(&[p[0], p[1], first + p[2]]);
            });
        }
        let states = [(&mut *b.h, &self.diffs.dst_iter, [z.dic, self.state_width]), (&mut *b.c, &self.diffs.dst_iter_c, [z.dhc; 2])];
        for (state, view, [channels, width]) in states {
            state.fill(0.0);
            if let Some(view) = view {
                for_each_position(&[z.batch, channels], |p| state[(p[0] * width + p[1]) as usize] = view.get(&[s.l, s.d, p[0], p[1]]));
            }
        }
    }

    /// The state before a step: of the step before, or what came in.
    fn state_before(&self, x: Sample, c: i64) -> f64 {
        match self.time_before(x) {
            Some(t) => self.ws.get(self.ws.state(x.s, t, x.n, c)),
            None => self.network.src_iter.map_or(0.0, |v| v.get(&[x.s.l, x.s.d, x.n, c])),
        }
    }

    fn cell_before(&self, x: Sample, c: i64) -> f64 {
        match self.time_before(x) {
            Some(t) => self.ws.get(self.ws.cell(x.s, t, x.n, c)),
            None => self.network.src_iter_c.map_or(0.0, |v| v.get(&[x.s.l, x.s.d, x.n, c])),
        }
    }

    fn time_before(&self, x: Sample) -> Option<i64> {
        let t = if self.network.is_backward(x.s.d) { x.t + 1 } else { x.t - 1 };
        (0..self.z.time).contains(&t).then_some(t)
    }

    fn gate(&self, x: Sample, gate: i64, c: i64) -> f64 {
        self.ws.get(self.ws.gate(x.s, x.t, x.n, gate * self.z.dhc + c))
    }

    /// Index in `deltas`.
    fn delta(&self, x: Sample, gate: i64, c: i64) -> usize {
        (((x.t * self.z.batch + x.n) * self.bias_gates + gate) * self.z.dhc + c) as usize
    }

    /// The bias gate whose delta belongs to recurrent gate `gate`: the candidate of linear-before-reset cells has one of its own.
    fn recurrent_gate(&self, gate: i64) -> i64 {
        if gate == 2 && self.network.is_lbr() { 3 } else { gate }
    }

    /// One step: `b.h` and `b.c`, gradients of the states after it, become those of the states before it; the deltas are kept.
    fn step(&self, s: Stack, t: i64, b: &mut Buffers<'_>) {
        let (z, samples) = (&self.z, |n: i64| Sample { s, t, n });
        for n in 0..z.batch {
            let row = &mut b.outputs[((t * z.batch + n) * self.width) as usize..][..z.dic as usize];
            for (out, h) in row.iter_mut().zip(&b.h[(n * self.state_width) as usize..]) {
                *out += h;
            }
        }
        b.h.fill(0.0);
        match self.network.op.cell {
            RnnCell::Vanilla => (0..z.batch).for_each(|n| self.vanilla(samples(n), b)),
            RnnCell::Lstm => self.lstm(s, t, b),
            RnnCell::Gru | RnnCell::Augru => return self.gru(s, t, b),
            RnnCell::LbrGru | RnnCell::LbrAugru => (0..z.batch).for_each(|n| self.lbr_gru(samples(n), b)),
        }
        self.add_recurrent(s, t, z.gates, b);
    }

    /// Adds what the deltas of the first `gates` gates give to the state before the step.
    fn add_recurrent(&self, s: Stack, t: i64, gates: i64, b: &mut Buffers<'_>) {
        let (z, deltas) = (&self.z, &*b.deltas);
        let delta = |n: i64, j: i64| deltas[self.delta(Sample { s, t, n }, self.recurrent_gate(j / z.dhc), j % z.dhc)];
        let weight = |j: i64, k: i64| self.network.weight(&self.network.weights_iter, s, k, j);
        add_products([z.batch, z.sic, gates * z.dhc], b.tiles, delta, weight, Target { data: b.h, width: self.state_width, column: 0 });
    }

    /// Gradient of the state that a sample's step gave.
    fn output(&self, b: &Buffers<'_>, x: Sample, c: i64) -> f64 {
        b.outputs[((x.t * self.z.batch + x.n) * self.width + c) as usize]
    }

    fn vanilla(&self, x: Sample, b: &mut Buffers<'_>) {
        let op = self.network.op;
        for c in 0..self.z.dhc {
            let output = self.output(b, x, c);
            b.deltas[self.delta(x, 0, c)] = match self.network.linear {
                Some(_) => output * self.network.tanh(0, self.network.tanh(0, self.gate(x, 0, c))),
                None => eltwise::backward(activation(op), op.alpha.get(), 0.0, output, self.gate(x, 0, c)),
            };
        }
    }

    fn lstm(&self, s: Stack, t: i64, b: &mut Buffers<'_>) {
        let z = &self.z;
        b.extra.fill(0.0);
        if let Some(projection) = &self.network.projection {
            let outputs = &*b.outputs;
            let given = |n: i64, c: i64| outputs[((t * z.batch + n) * self.width + c) as usize];
            let weight = |j: i64, k: i64| projection.get(&[s.l, s.d, k, j]);
            add_products([z.batch, z.dhc, z.dic], b.tiles, given, weight, Target { data: b.extra, width: z.dhc, column: 0 });
        }
        for n in 0..z.batch {
            for c in 0..z.dhc {
                self.lstm_element(Sample { s, t, n }, c, b);
            }
        }
    }

    fn lstm_element(&self, x: Sample, c: i64, b: &mut Buffers<'_>) {
        let (network, at) = (self.network, (x.n * self.z.dhc + c) as usize);
        let d_out = if network.projection.is_some() { b.extra[at] } else { self.output(b, x, c) };
        let [input, forget, candidate, output] = [0, 1, 2, 3].map(|g| self.gate(x, g, c));
        let (before, after) = (self.cell_before(x, c), self.ws.get(self.ws.cell(x.s, x.t, x.n, c)));
        let peephole = [0, 1, 2].map(|g| network.peephole(x.s, g, c as usize));
        let bounded = self.network.bounded(after);
        let d_output = d_out * bounded * output * (1.0 - output);
        let d_cell = b.c[at] + d_out * output * (1.0 - bounded * bounded) + d_output * peephole[2];
        let d_input = d_cell * candidate * input * (1.0 - input);
        let d_forget = d_cell * before * forget * (1.0 - forget);
        let d_candidate = d_cell * input * (1.0 - candidate * candidate);
        for (gate, d) in [d_input, d_forget, d_candidate, d_output].into_iter().enumerate() {
            b.deltas[self.delta(x, gate as i64, c)] = d;
        }
        b.c[at] = d_cell * forget + d_input * peephole[0] + d_forget * peephole[1];
    }

    /// What all gated units share: deltas of update and candidate, the direct way to the state before, and the attention.
    fn update_and_candidate(&self, x: Sample, b: &mut Buffers<'_>) {
        let attention = self.network.attention(x.t, x.n);
        let mut d_attention = 0.0;
        for c in 0..self.z.dhc {
            let (update, candidate) = (self.gate(x, 0, c), self.gate(x, 2, c));
            let (d_out, effective) = (self.output(b, x, c), (1.0 - attention) * update);
            let d_effective = d_out * (self.state_before(x, c) - candidate);
            d_attention -= d_effective * update;
            b.deltas[self.delta(x, 0, c)] = d_effective * (1.0 - attention) * update * (1.0 - update);
            b.deltas[self.delta(x, 2, c)] = d_out * (1.0 - effective) * (1.0 - candidate * candidate);
            b.h[(x.n * self.state_width + c) as usize] += d_out * effective;
        }
        if let Some(view) = &self.diffs.attention {
            view.set(&[x.t, x.n, 0], d_attention);
        }
    }

    fn lbr_gru(&self, x: Sample, b: &mut Buffers<'_>) {
        self.update_and_candidate(x, b);
        for c in 0..self.z.dhc {
            let (reset, inner) = (self.gate(x, 1, c), self.ws.get(self.ws.extra(x.s, x.t, x.n, c)));
            let d = b.deltas[self.delta(x, 2, c)];
            b.deltas[self.delta(x, 1, c)] = d * inner * reset * (1.0 - reset);
            b.deltas[self.delta(x, 3, c)] = d * reset;
        }
    }

    fn gru(&self, s: Stack, t: i64, b: &mut Buffers<'_>) {
        let z = &self.z;
        (0..z.batch).for_each(|n| self.update_and_candidate(Sample { s, t, n }, b));
        b.extra.fill(0.0);
        let deltas = &*b.deltas;
        let candidate = |n: i64, c: i64| deltas[self.delta(Sample { s, t, n }, 2, c)];
        let weight = |c: i64, k: i64| self.network.weight(&self.network.weights_iter, s, k, 2 * z.dhc + c);
        add_products([z.batch, z.sic, z.dhc], b.tiles, candidate, weight, Target { data: b.extra, width: z.dhc, column: 0 });
        for n in 0..z.batch {
            let x = Sample { s, t, n };
            for c in 0..z.dhc {
                let (reset, d) = (self.gate(x, 1, c), b.extra[(n * z.dhc + c) as usize]);
                b.deltas[self.delta(x, 1, c)] = d * self.state_before(x, c) * reset * (1.0 - reset);
                b.h[(n * self.state_width + c) as usize] += d * reset;
            }
        }
        self.add_recurrent(s, t, 2, b);
    }

    /// Writes a gradient of a parameter, or adds it to what is there.
    fn give(&self, view: &View<'_>, pos: &[i64], value: f64) {
        let old = if self.network.op.diff_weights_overwrite { 0.0 } else { view.get(pos) };
        view.set(pos, old + value);
    }

    /// The sample with number `i` of all samples and steps.
    fn sample(&self, s: Stack, i: i64) -> Sample {
        Sample { s, t: i / self.z.batch, n: i % self.z.batch }
    }

    /// The layer's input.
    fn input(&self, x: Sample, k: i64) -> f64 {
        match x.s.l {
            0 => self.network.src_layer.get(&[x.t, x.n, k]),
            l => self.ws.get(self.ws.state(Stack { l: l - 1, ..x.s }, x.t, x.n, k)),
        }
    }

    /// Gradients of weights and bias, sums over all steps and samples.
    fn parameters(&self, s: Stack, b: &mut Buffers<'_>) {
        let z = &self.z;
        let (samples, columns) = (z.time * z.batch, z.gates * z.dhc);
        let Buffers { tiles, outputs, deltas, .. } = b;
        let (outputs, deltas) = (&**outputs, &**deltas);
        let delta = |i: i64, gate: i64, c: i64| deltas[self.delta(self.sample(s, i), gate, c)];
        let to = |view: View<'_>, k: i64, j0: i64, sums: &mut [f64]| {
            for (j, &sum) in (j0..).zip(sums.iter()) {
                self.give(&view, &[s.l, s.d, k, j / z.dhc, j % z.dhc], sum);
            }
        };
        products(
            [z.slc, columns, samples],
            tiles,
            |k, i| Some(self.input(self.sample(s, i), k)),
            |i, j| delta(i, j / z.dhc, j % z.dhc),
            |k, j0, sums| to(self.diffs.weights_layer, k, j0, sums),
        );
        let reset_first = matches!(self.network.op.cell, RnnCell::Gru | RnnCell::Augru);
        let parts = if reset_first { [(0, 2, false), (2, 1, true)] } else { [(0, z.gates, false), (0, 0, false)] };
        for (first, gates, reset) in parts {
            products(
                [z.sic, gates * z.dhc, samples],
                tiles,
                |k, i| {
                    let x = self.sample(s, i);
                    Some(self.state_before(x, k) * if reset { self.gate(x, 1, k) } else { 1.0 })
                },
                |i, j| delta(i, self.recurrent_gate(first + j / z.dhc), j % z.dhc),
                |k, j0, sums| to(self.diffs.weights_iter, k, first * z.dhc + j0, sums),
            );
        }
        if let Some(view) = &self.diffs.projection {
            products(
                [z.dhc, z.dic, samples],
                tiles,
                |k, i| {
                    let x = self.sample(s, i);
                    Some(self.ws.get(self.ws.extra(s, x.t, x.n, k)))
                },
                |i, c| outputs[(i * self.width + c) as usize],
                |k, c0, sums| (c0..).zip(sums.iter()).for_each(|(c, &sum)| self.give(view, &[s.l, s.d, k, c], sum)),
            );
        }
        if let Some(view) = &self.diffs.bias {
            for_each_position(&[self.bias_gates, z.dhc], |p| {
                self.give(view, &[s.l, s.d, p[0], p[1]], (0..samples).map(|i| delta(i, p[0], p[1])).sum());
            });
        }
        if let Some(view) = &self.diffs.peephole {
            for_each_position(&[3, z.dhc], |p| {
                let (gate, c) = ([0, 1, 3][p[0] as usize], p[1]);
                let state = |x: Sample| if gate == 3 { self.ws.get(self.ws.cell(s, x.t, x.n, c)) } else { self.cell_before(x, c) };
                self.give(view, &[s.l, s.d, p[0], c], (0..samples).map(|i| delta(i, gate, c) * state(self.sample(s, i))).sum());
            });
        }
    }

    /// Gradient of the layer's input: to the layer below, or to `src_layer`.
    fn inputs(&self, s: Stack, b: &mut Buffers<'_>) {
        let z = &self.z;
        let deltas = &*b.deltas;
        let delta = |i: i64, j: i64| deltas[self.delta(self.sample(s, i), j / z.dhc, j % z.dhc)];
        let weight = |j: i64, k: i64| self.network.weight(&self.network.weights_layer, s, k, j);
        let size = [z.time * z.batch, z.slc, z.gates * z.dhc];
        if s.l == 0 {
            add_products(size, b.tiles, delta, weight, Target { data: b.input, width: z.slc, column: 0 });
        } else {
            b.outputs.fill(0.0);
            add_products(size, b.tiles, delta, weight, Target { data: b.outputs, width: self.width, column: 0 });
        }
    }
}

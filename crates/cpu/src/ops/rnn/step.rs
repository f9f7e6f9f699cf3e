//! A panel of a step: its products, and the pass that makes gates and states of them.

use super::cells::{self, LINE};
use super::cut::Place;
use super::forward::{Run, Step};
use super::skinny::Rows;
use crate::kernels::access::{read_run, write_run};
use crate::kernels::multiversion::Body;
use oxidnn_runtime::Buf;
use oxidnn_spec::op::RnnCell;
use oxidnn_spec::{DataType, MAX_NDIMS};

/// Most gates of a cell.
const GATES: usize = 4;

/// A pass over the rows of a slice.
struct Pass<'p, 'a> {
    run: &'p Run<'a>,
    step: Step<'p>,
    /// Sums, row by row.
    sums: &'p mut [f32],
}

impl Run<'_> {
    /// Computes a panel of a step, with the worker's scratch.
    pub(super) fn panel(&self, step: &Step<'_>, share: &mut [f32]) {
        let (plan, Place { d, rows, phase, panel, .. }) = (self.plan, step.place);
        let (stack, width) = (step.l * plan.z.directions + d, plan.gates.width);
        let line = if *phase == 0 { plan.z.gates * width } else { plan.outputs.width };
        if *phase == 0 {
            let multiplied = if plan.second.is_some() && plan.projection.is_none() { 2 } else { plan.z.gates };
            for gate in 0..multiplied {
                let b = (self.iter, plan.iter.at(stack, *panel, gate));
                plan.skinny.run(&self.before(step), rows.clone(), &[[0, 0]], b, &mut share[gate * width..], line);
            }
        } else if let Some(second) = &plan.second {
            let b = match &plan.projection {
                Some(weights) => (self.projection, weights.at(stack, *panel, 0)),
                None => (self.iter, plan.iter.at(stack, *panel, 2)),
            };
            let row = plan.gates.padded() * plan.state.bits() / 8;
            let a = Rows { buf: self.middle, start: d * plan.z.batch * row, row };
            second.run(&a, rows.clone(), &[[0, 0]], b, share, line);
        }
        let sums = &mut share[..rows.len() * line];
        self.simd.run(Pass { run: self, step: *step, sums });
    }

    /// The states before a step.
    fn before(&self, step: &Step<'_>) -> Rows {
        let (plan, size) = (self.plan, self.plan.state.bits() / 8);
        match step.before {
            None => {
                let row = plan.first_width() * size;
                Rows { buf: self.first, start: step.place.d * plan.z.batch * row, row }
            }
            Some(t) => {
                let row = plan.outputs.padded() * size;
                Rows { buf: self.sequence, start: (step.place.d * plan.z.time + t) * plan.z.batch * row, row }
            }
        }
    }
}

impl Body for Pass<'_, '_> {
    type Out = ();

    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        let Pass { run, step, sums } = self;
        let Place { d, rows, phase, panel, .. } = step.place;
        let at = At { run, step, d: *d, panel: *panel, width: run.plan.gates.width };
        let line = sums.len() / rows.len().max(1);
        for (n, sums) in rows.clone().zip(sums.chunks_exact_mut(line.max(1))) {
            match (run.plan.op.cell, *phase) {
                (RnnCell::Vanilla, _) => at.vanilla::<FMA>(n, sums),
                (RnnCell::Lstm, 0) => at.lstm::<FMA>(n, sums),
                (RnnCell::Lstm, _) => at.put_state(n, sums),
                (RnnCell::Gru | RnnCell::Augru, 0) => at.gru_reset::<FMA>(n, sums),
                (RnnCell::Gru | RnnCell::Augru, _) => at.gru::<FMA>(n, sums),
                (RnnCell::LbrGru | RnnCell::LbrAugru, _) => at.lbr_gru::<FMA>(n, sums),
            }
        }
    }
}

/// A panel of a step.
struct At<'p, 'a> {
    run: &'p Run<'a>,
    step: Step<'p>,
    d: usize,
    panel: usize,
    /// Channels of a panel of gates.
    width: usize,
}

impl At<'_, '_> {
    /// Index of a sample of the step among all.
    #[inline(always)]
    fn sample(&self, n: usize) -> usize {
        (self.d * self.run.plan.z.time + self.step.t) * self.run.plan.z.batch + n
    }

    /// Index of a sample in what is kept for one step only.
    #[inline(always)]
    fn row(&self, n: usize) -> usize {
        (self.d * self.run.plan.z.batch + n) * self.run.plan.gates.padded() + self.panel * self.width
    }

    /// The panel's first gate in [`Run::gates`].
    #[inline(always)]
    fn gates(&self, n: usize) -> usize {
        (self.sample(n) * self.run.plan.gates.count + self.panel) * self.run.plan.z.gates * self.width
    }

    /// The panel's lines of numbers by channel.
    #[inline(always)]
    fn lines<'l>(&self, of: &'l [f32], gates: usize) -> &'l [f32] {
        let stack = self.step.l * self.run.plan.z.directions + self.d;
        let first = (stack * self.run.plan.gates.count + self.panel) * gates * self.width;
        &of[first..first + gates * self.width]
    }

    #[inline(always)]
    fn bias(&self) -> &[f32] {
        self.lines(self.run.bias, self.run.plan.z.bias_gates)
    }

    /// Adds products of the input and bias to the sums of the first gates.
    #[inline(always)]
    fn add_inputs(&self, n: usize, sums: &mut [f32]) {
        let mut inputs = [0.0; GATES * LINE];
        let inputs = &mut inputs[..sums.len()];
        self.run.gates.read(self.gates(n), inputs);
        cells::add(sums, inputs, self.bias());
    }

    /// The state before the step.
    #[inline(always)]
    fn state_before(&self, n: usize, h: &mut [f32]) {
        let plan = self.run.plan;
        let (buf, row) = match self.step.before {
            None => (self.run.first, (self.d * plan.z.batch + n) * plan.first_width()),
            Some(t) => (self.run.sequence, ((self.d * plan.z.time + t) * plan.z.batch + n) * plan.outputs.padded()),
        };
        self.load((buf, plan.state), row + self.panel * self.width, h);
    }

    #[inline(always)]
    fn load(&self, (buf, dtype): (Buf, DataType), first: usize, to: &mut [f32]) {
        if dtype == DataType::F32 { buf.read(first, to) } else { read_run(self.run.simd, buf, dtype, (first, 1), to) }
    }

    /// Stores numbers as a type has them, and makes them what was stored.
    #[inline(always)]
    fn save(&self, (buf, dtype): (Buf, DataType), first: usize, from: &mut [f32]) {
        if dtype == DataType::F32 {
            return buf.write(first, from);
        }
        write_run(self.run.simd, buf, dtype, (first, 1), from);
        read_run(self.run.simd, buf, dtype, (first, 1), from);
    }

    /// Stores the state that a step gives.
    #[inline(always)]
    fn put_state(&self, n: usize, h: &mut [f32]) {
        let plan = self.run.plan;
        let first = self.panel * plan.outputs.width;
        self.save((self.run.sequence, plan.state), self.sample(n) * plan.outputs.padded() + first, h);
        let count = plan.outputs.width.min(plan.z.dic - first);
        self.keep_at(n, plan.z.gates * plan.z.dhc + first, &h[..count]);
    }

    /// Keeps numbers of a sample in the workspace.
    #[inline(always)]
    fn keep_at(&self, n: usize, field: usize, numbers: &[f32]) {
        let Some(workspace) = self.run.workspace else { return };
        let z = &self.run.plan.z;
        let row = self.run.plan.workspace_row;
        let at = (self.step.l * z.directions * z.samples() + self.sample(n)) * row;
        workspace.write(at + field, numbers);
    }

    /// Keeps a gate, or what follows the state.
    #[inline(always)]
    fn keep(&self, n: usize, field: Field, line: &[f32]) {
        let z = &self.run.plan.z;
        let (first, count) = self.run.plan.gates.channels(self.panel, z.dhc);
        let before = match field {
            Field::Gate(gate) => gate * z.dhc,
            Field::Cell => z.gates * z.dhc + z.dic,
            Field::Extra => z.gates * z.dhc + z.dic + if self.run.plan.op.cell == RnnCell::Lstm { z.dhc } else { 0 },
        };
        self.keep_at(n, before + first, &line[..count]);
    }

    #[inline(always)]
    fn keep_gates(&self, n: usize, gates: &[f32]) {
        if self.run.workspace.is_some() {
            gates.chunks_exact(self.width).enumerate().for_each(|(gate, line)| self.keep(n, Field::Gate(gate), line));
        }
    }

    /// The share of the update gate that attention leaves.
    #[inline(always)]
    fn kept(&self, n: usize) -> f32 {
        let mut pos = [0; MAX_NDIMS];
        (pos[0], pos[1]) = (self.step.t as i64, n as i64);
        self.run.attention.as_ref().map_or(1.0, |a| 1.0 - a.get(&pos))
    }

    #[inline(always)]
    fn vanilla<const FMA: bool>(&self, n: usize, sums: &mut [f32]) {
        self.add_inputs(n, sums);
        self.keep_gates(n, sums);
        cells::activate::<FMA>(self.run.plan.op.activation, self.run.plan.op.alpha.get(), sums);
        self.put_state(n, sums);
    }

    #[inline(always)]
    fn lstm<const FMA: bool>(&self, n: usize, sums: &mut [f32]) {
        let (plan, width) = (self.run.plan, self.width);
        self.add_inputs(n, sums);
        let mut cell = [0.0; LINE];
        let cell = &mut cell[..width];
        let at = (self.run.cell, plan.cell);
        self.load(at, self.row(n), cell);
        let peephole = (!self.run.peephole.is_empty()).then(|| self.lines(self.run.peephole, 3));
        let (both, rest) = sums.split_at_mut(2 * width);
        let (candidate, output) = rest.split_at_mut(width);
        if let Some(peephole) = peephole {
            for (gate, weights) in both.chunks_exact_mut(width).zip(peephole.chunks_exact(width)) {
                cells::add_product::<FMA>(gate, weights, cell);
            }
        }
        cells::logistic::<FMA>(both);
        cells::tanh::<FMA>(candidate);
        cells::next_cell::<FMA>(cell, &both[..width], &both[width..], candidate);
        self.save(at, self.row(n), cell);
        if let Some(peephole) = peephole {
            cells::add_product::<FMA>(output, &peephole[2 * width..], cell);
        }
        cells::logistic::<FMA>(output);
        let mut h = [0.0; LINE];
        let h = &mut h[..width];
        cells::bounded::<FMA>(h, output, cell);
        self.keep_gates(n, sums);
        self.keep(n, Field::Cell, cell);
        if plan.projection.is_some() {
            self.save((self.run.middle, plan.state), self.row(n), h);
            self.keep(n, Field::Extra, h);
        } else {
            self.put_state(n, h);
        }
    }

    /// The first phase of a gated unit: update and reset gates, and the reset state.
    #[inline(always)]
    fn gru_reset<const FMA: bool>(&self, n: usize, sums: &mut [f32]) {
        let width = self.width;
        let both = &mut sums[..2 * width];
        self.add_inputs(n, both);
        cells::logistic::<FMA>(both);
        self.keep_gates(n, both);
        let (update, reset) = both.split_at(width);
        self.run.gates.write(self.gates(n), update);
        let (mut h, mut product) = ([0.0; LINE], [0.0; LINE]);
        let (h, product) = (&mut h[..width], &mut product[..width]);
        self.state_before(n, h);
        cells::product(product, reset, h);
        self.save((self.run.middle, self.run.plan.state), self.row(n), product);
    }

    /// The second phase: the candidate and the state.
    #[inline(always)]
    fn gru<const FMA: bool>(&self, n: usize, candidate: &mut [f32]) {
        let (width, gates) = (self.width, self.gates(n));
        let (mut inputs, mut update, mut h) = ([0.0; LINE], [0.0; LINE], [0.0; LINE]);
        let (inputs, update, h) = (&mut inputs[..width], &mut update[..width], &mut h[..width]);
        self.run.gates.read(gates + 2 * width, inputs);
        self.run.gates.read(gates, update);
        cells::add(candidate, inputs, &self.bias()[2 * width..]);
        cells::tanh::<FMA>(candidate);
        self.keep(n, Field::Gate(2), candidate);
        self.state_before(n, h);
        cells::blend(h, self.kept(n), update, candidate);
        self.put_state(n, h);
    }

    #[inline(always)]
    fn lbr_gru<const FMA: bool>(&self, n: usize, sums: &mut [f32]) {
        let width = self.width;
        let (mut inputs, mut h) = ([0.0; LINE], [0.0; LINE]);
        let (inputs, h) = (&mut inputs[..width], &mut h[..width]);
        let bias = self.bias();
        self.add_inputs(n, &mut sums[..2 * width]);
        let (both, recurrent) = sums.split_at_mut(2 * width);
        cells::logistic::<FMA>(both);
        for (x, b) in recurrent.iter_mut().zip(&bias[3 * width..]) {
            *x += *b;
        }
        self.keep(n, Field::Extra, recurrent);
        self.run.gates.read(self.gates(n) + 2 * width, inputs);
        for (x, b) in inputs.iter_mut().zip(&bias[2 * width..3 * width]) {
            *x += *b;
        }
        cells::add_product::<FMA>(inputs, &both[width..], recurrent);
        cells::tanh::<FMA>(inputs);
        recurrent.copy_from_slice(inputs);
        self.keep_gates(n, sums);
        self.state_before(n, h);
        cells::blend(h, self.kept(n), &sums[..width], &sums[2 * width..]);
        self.put_state(n, h);
    }
}

/// A vector of a row of the workspace.
#[derive(Clone, Copy)]
enum Field {
    Gate(usize),
    Cell,
    Extra,
}

//! A panel of a step: its products, and the pass that makes gates and states of them.

use super::cells::{self, BLOCK, Block, LINE};
use super::cut::Place;
use super::forward::{Run, Step};
use super::skinny::Rows;
use super::states;
use crate::kernels::access::{read_run, write_run};
use crate::kernels::multiversion::Body;
use oxidnn_runtime::Buf;
use oxidnn_spec::op::RnnCell;
use oxidnn_spec::{DataType, MAX_NDIMS};

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
            let gates = if plan.second.is_some() && plan.projection.is_none() { 2 } else { plan.z.gates };
            let b = plan.iter.group(self.iter, (stack, *panel), 0..gates);
            plan.skinny.run((&self.before(step), rows.clone()), &[[0, 0]], &b, (share, line));
        } else if let Some(second) = &plan.second {
            let b = match &plan.projection {
                Some(weights) => weights.group(self.projection, (stack, *panel), 0..1),
                None => plan.iter.group(self.iter, (stack, *panel), 2..3),
            };
            let row = plan.gates.padded() * plan.state.bits() / 8;
            let a = Rows { buf: self.middle, start: d * plan.z.batch * row, row };
            second.run((&a, rows.clone()), &[[0, 0]], &b, (share, line));
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
        let (z, panels) = (&self.run.plan.z, self.run.plan.gates.count);
        let sample = ((self.d * panels + self.panel) * z.time + self.step.t) * z.batch + n;
        sample * z.gates * self.width
    }

    /// The panel's lines of numbers by channel.
    #[inline(always)]
    fn lines<'l>(&self, of: &'l [f32], gates: usize) -> &'l [f32] {
        let stack = self.step.l * self.run.plan.z.directions + self.d;
        let first = (stack * self.run.plan.gates.count + self.panel) * gates * self.width;
        &of[first..first + gates * self.width]
    }

    #[inline(always)]
    fn bias(&self) -> &[Block] {
        self.lines(self.run.bias, self.run.plan.z.bias_gates).as_chunks().0
    }

    /// Adds the products of the input and the bias of a block, which is number `index` of the panel's, to sums.
    #[inline(always)]
    fn add(&self, n: usize, index: usize, sums: &mut Block, bias: &Block) {
        let mut inputs = [0.0; BLOCK];
        self.run.gates.read(self.gates(n) + index * BLOCK, &mut inputs);
        for j in 0..BLOCK {
            sums[j] += inputs[j] + bias[j];
        }
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
        if dtype != DataType::F32 {
            return read_run(self.run.simd, buf, dtype, (first, 1), to);
        }
        states::read(buf, first, to);
    }

    /// Stores numbers as a type has them, and makes them what was stored.
    #[inline(always)]
    fn save(&self, (buf, dtype): (Buf, DataType), first: usize, from: &mut [f32]) {
        if dtype != DataType::F32 {
            write_run(self.run.simd, buf, dtype, (first, 1), from);
            return read_run(self.run.simd, buf, dtype, (first, 1), from);
        }
        states::write(buf, first, from);
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
        states::write(workspace, at + field, numbers);
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

    /// Blocks of a gate of the panel.
    #[inline(always)]
    fn blocks(&self) -> usize {
        self.width / BLOCK
    }

    #[inline(always)]
    fn vanilla<const FMA: bool>(&self, n: usize, sums: &mut [f32]) {
        let op = &self.run.plan.op;
        for (k, (x, bias)) in sums.as_chunks_mut().0.iter_mut().zip(self.bias()).enumerate() {
            self.add(n, k, x, bias);
        }
        self.keep_gates(n, sums);
        for x in sums.as_chunks_mut().0 {
            cells::activate::<FMA>(op.activation, op.alpha.get(), x);
        }
        self.put_state(n, sums);
    }

    #[inline(always)]
    fn lstm<const FMA: bool>(&self, n: usize, sums: &mut [f32]) {
        let (plan, bias, blocks) = (self.run.plan, self.bias(), self.blocks());
        let none = &[[0.0; BLOCK]; 3 * LINE / BLOCK];
        let peephole = if self.run.peephole.is_empty() { none } else { self.lines(self.run.peephole, 3).as_chunks().0 };
        let (mut cell, mut h) = ([0.0; LINE], [0.0; LINE]);
        let (cell, h) = (&mut cell[..self.width], &mut h[..self.width]);
        let at = (self.run.cell, plan.cell);
        self.load(at, self.row(n), cell);
        let (gates, _) = sums.as_chunks_mut::<BLOCK>();
        for (k, cell) in cell.as_chunks_mut().0.iter_mut().enumerate() {
            let mut three = [0, 1, 2].map(|gate| gates[gate * blocks + k]);
            for (gate, x) in three.iter_mut().enumerate() {
                self.add(n, gate * blocks + k, x, &bias[gate * blocks + k]);
            }
            cells::lstm_cell::<FMA>(&mut three, [&peephole[k], &peephole[blocks + k]], cell);
            for (gate, x) in three.into_iter().enumerate() {
                gates[gate * blocks + k] = x;
            }
        }
        self.save(at, self.row(n), cell);
        for (k, (cell, h)) in cell.as_chunks().0.iter().zip(h.as_chunks_mut().0).enumerate() {
            let output = &mut gates[3 * blocks + k];
            self.add(n, 3 * blocks + k, output, &bias[3 * blocks + k]);
            *h = cells::lstm_state::<FMA>(output, &peephole[2 * blocks + k], cell);
        }
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
        for (k, (x, bias)) in both.as_chunks_mut().0.iter_mut().zip(self.bias()).enumerate() {
            self.add(n, k, x, bias);
            cells::gate::<FMA>(x);
        }
        self.keep_gates(n, both);
        let (update, reset) = both.split_at_mut(width);
        self.save((self.run.gates, DataType::F32), self.gates(n), update);
        let mut h = [0.0; LINE];
        let h = &mut h[..width];
        self.state_before(n, h);
        h.iter_mut().zip(&*reset).for_each(|(h, r)| *h *= *r);
        self.save((self.run.middle, self.run.plan.state), self.row(n), h);
    }

    /// The second phase: the candidate and the state.
    #[inline(always)]
    fn gru<const FMA: bool>(&self, n: usize, candidate: &mut [f32]) {
        let (width, blocks, bias) = (self.width, self.blocks(), self.bias());
        let (mut update, mut h) = ([0.0; LINE], [0.0; LINE]);
        let (update, h) = (&mut update[..width], &mut h[..width]);
        self.load((self.run.gates, DataType::F32), self.gates(n), update);
        self.state_before(n, h);
        let keep = self.kept(n);
        let lines = candidate.as_chunks_mut().0.iter_mut().zip(update.as_chunks().0).zip(h.as_chunks_mut().0);
        for (k, ((candidate, update), h)) in lines.enumerate() {
            self.add(n, 2 * blocks + k, candidate, &bias[2 * blocks + k]);
            cells::gru_state::<FMA>(candidate, update, keep, h);
        }
        self.keep(n, Field::Gate(2), candidate);
        self.put_state(n, h);
    }

    #[inline(always)]
    fn lbr_gru<const FMA: bool>(&self, n: usize, sums: &mut [f32]) {
        let (width, blocks, bias) = (self.width, self.blocks(), self.bias());
        let (mut inner, mut h) = ([0.0; LINE], [0.0; LINE]);
        let (inner, h) = (&mut inner[..width], &mut h[..width]);
        self.state_before(n, h);
        let keep = self.kept(n);
        let (gates, _) = sums.as_chunks_mut::<BLOCK>();
        for (k, (inner, h)) in inner.as_chunks_mut().0.iter_mut().zip(h.as_chunks_mut().0).enumerate() {
            let [mut update, mut reset, mut recurrent] = [0, 1, 2].map(|gate| gates[gate * blocks + k]);
            self.add(n, k, &mut update, &bias[k]);
            self.add(n, blocks + k, &mut reset, &bias[blocks + k]);
            cells::gate::<FMA>(&mut update);
            cells::gate::<FMA>(&mut reset);
            cells::add(&mut recurrent, &bias[3 * blocks + k]);
            let mut candidate = [0.0; BLOCK];
            self.add(n, 2 * blocks + k, &mut candidate, &bias[2 * blocks + k]);
            cells::add_product::<FMA>(&mut candidate, &reset, &recurrent);
            cells::gru_state::<FMA>(&mut candidate, &update, keep, h);
            *inner = recurrent;
            for (gate, x) in [update, reset, candidate].into_iter().enumerate() {
                gates[gate * blocks + k] = x;
            }
        }
        self.keep_gates(n, sums);
        self.keep(n, Field::Extra, inner);
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

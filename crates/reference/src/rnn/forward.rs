//! Forward passes: one cell step after the other, layer by layer, direction by direction.

use super::{Network, Stack, Target, add_products, take};
use crate::{Args, View, dot, for_each_position};
use oxidnn_expr::{eltwise, number};
use oxidnn_spec::op::{EltwiseAlg, Rnn, RnnActivation, RnnCell, RnnDirection, RnnSizes};
use oxidnn_spec::{Arg, DataType, Error};

/// Scratch beyond [`dot::SCRATCH`].
pub(super) fn scratch_len(z: &RnnSizes) -> usize {
    let rows = z.batch * (2 * z.gates * z.dhc + 2 * z.dhc + z.sic + z.dic);
    (z.directions * z.time * z.batch * z.dic + rows) as usize
}

/// The activation of a vanilla cell.
pub(super) fn activation(op: &Rnn) -> EltwiseAlg {
    match op.activation {
        RnnActivation::Relu => EltwiseAlg::Relu,
        RnnActivation::Tanh => EltwiseAlg::Tanh,
        RnnActivation::Logistic => EltwiseAlg::Logistic,
    }
}

/// What one step works on: row-major, a row a sample. States are codes, gates real.
struct Buffers<'s> {
    tiles: &'s mut [f64],
    /// Gates: sums, then values.
    gates: &'s mut [f64],
    /// Recurrent sums of linear-before-reset cells.
    recurrent: &'s mut [f64],
    /// The reset state of a GRU, the state before projection, the candidate of a linear-before-reset cell before its reset.
    extra: &'s mut [f64],
    /// The state before the step, SIC wide, and after it.
    before: &'s mut [f64],
    h: &'s mut [f64],
    c: &'s mut [f64],
}

pub(super) fn run(network: &Network<'_>, args: &dyn Args, scratch: &mut [f64]) -> Result<(), Error> {
    let z = &network.z;
    let mut rest = scratch;
    let mut b = Buffers {
        tiles: take(&mut rest, dot::SCRATCH as i64),
        gates: take(&mut rest, z.batch * z.gates * z.dhc),
        recurrent: take(&mut rest, z.batch * z.gates * z.dhc),
        extra: take(&mut rest, z.batch * z.dhc),
        before: take(&mut rest, z.batch * z.sic),
        h: take(&mut rest, z.batch * z.dic),
        c: take(&mut rest, z.batch * z.dhc),
    };
    let outputs = take(&mut rest, z.directions * z.time * z.batch * z.dic);
    let per_direction = (z.time * z.batch * z.dic) as usize;
    let (dst_iter, dst_iter_c) = (View::optional(args, Arg::DST_1)?, View::optional(args, Arg::DST_2)?);
    for d in 0..z.directions {
        let sequence = &mut outputs[d as usize * per_direction..][..per_direction];
        for l in 0..z.layers {
            let s = Stack { l, d };
            network.first_states(s, &mut b);
            for step in 0..z.time {
                let t = network.time(d, step);
                network.step(s, t, sequence, &mut b);
                sequence[(t * z.batch * z.dic) as usize..][..b.h.len()].copy_from_slice(b.h);
                if step + 1 < z.time {
                    b.before.copy_from_slice(b.h);
                }
            }
            let states = [(&dst_iter, &*b.h, z.dic), (&dst_iter_c, &*b.c, z.dhc)];
            for (i, (view, state, channels)) in states.into_iter().enumerate() {
                let Some(view) = view else { continue };
                for_each_position(&[z.batch, channels], |p| {
                    let value = state[(p[0] * channels + p[1]) as usize];
                    let pos = [l, d, p[0], p[1]];
                    if i == 0 { network.codec.store(view, &pos, value) } else { view.set(&pos, value) }
                });
            }
        }
    }
    for view in [dst_iter, dst_iter_c].iter().flatten() {
        view.zero_padding();
    }
    network.write_layer(&View::of(args, Arg::DST)?, outputs);
    Ok(())
}

impl Network<'_> {
    fn write_layer(&self, dst: &View<'_>, outputs: &[f64]) {
        let z = &self.z;
        let sum = self.op.direction == RnnDirection::BidirectionalSum;
        for_each_position(&[z.time, z.batch, z.dic], |p| {
            let at = |d: i64| outputs[(((d * z.time + p[0]) * z.batch + p[1]) * z.dic + p[2]) as usize];
            if sum {
                self.codec.store(dst, p, at(0) + at(1));
            } else {
                for d in 0..z.directions {
                    self.codec.store(dst, &[p[0], p[1], self.first_channel(d) + p[2]], at(d));
                }
            }
        });
        dst.zero_padding();
    }

    fn first_states(&self, s: Stack, b: &mut Buffers<'_>) {
        let (codec, z) = (self.codec, &self.z);
        for (i, h) in b.before.iter_mut().enumerate() {
            let (n, c) = (i as i64 / z.sic, i as i64 % z.sic);
            *h = self.src_iter.map_or(codec.code(0.0), |v| codec.load(&v, &[s.l, s.d, n, c]));
        }
        for (i, x) in b.c.iter_mut().enumerate() {
            let (n, c) = (i as i64 / z.dhc, i as i64 % z.dhc);
            *x = self.src_iter_c.map_or(0.0, |v| v.get(&[s.l, s.d, n, c]));
        }
    }

    /// One step of one layer at time `t`: from `b.before` and `b.c` to `b.h` and `b.c`. The layer below left its states in `sequence`.
    fn step(&self, s: Stack, t: i64, sequence: &[f64], b: &mut Buffers<'_>) {
        let z = &self.z;
        let columns = z.gates * z.dhc;
        b.gates.fill(0.0);
        let input = |n: i64, k: i64| match s.l {
            0 => self.codec.load(&self.src_layer, &[t, n, k]),
            _ => sequence[((t * z.batch + n) * z.dic + k) as usize],
        };
        let weight = |k, j| self.weight(&self.weights_layer, s, k, j);
        add_products([z.batch, columns, z.slc], b.tiles, input, weight, Target { data: b.gates, width: columns, column: 0 });
        match self.op.cell {
            RnnCell::Vanilla => self.vanilla(s, t, b),
            RnnCell::Lstm => self.lstm(s, t, b),
            RnnCell::Gru | RnnCell::Augru => self.gru(s, t, b),
            RnnCell::LbrGru | RnnCell::LbrAugru => self.lbr_gru(s, t, b),
        }
        self.keep(s, t, b);
    }

    /// Adds the recurrent sums of the `columns` from column `first` on.
    fn add_recurrent(&self, s: Stack, [first, columns]: [i64; 2], tiles: &mut [f64], state: &[f64], to: &mut [f64]) {
        let z = &self.z;
        let width = z.gates * z.dhc;
        let input = |n: i64, k: i64| state[(n * z.sic + k) as usize];
        let weight = |k, j| self.weight(&self.weights_iter, s, k, first + j);
        add_products([z.batch, columns, z.sic], tiles, input, weight, Target { data: to, width, column: first });
    }

    /// The real value of the sum in column `gate * DHC + c`, with its bias.
    fn gate(&self, s: Stack, sums: &[f64], gate: usize, c: usize) -> f64 {
        let column = gate * self.z.dhc as usize + c;
        sums[column] / (self.codec.scale * self.scales.at(column)) + self.bias(s, gate, c)
    }

    fn vanilla(&self, s: Stack, _: i64, b: &mut Buffers<'_>) {
        let width = self.z.dhc as usize;
        self.add_recurrent(s, [0, self.z.dhc], b.tiles, b.before, b.gates);
        let alg = activation(self.op);
        for (gates, h) in b.gates.chunks_exact_mut(width).zip(b.h.chunks_exact_mut(width)) {
            for c in 0..width {
                gates[c] = self.gate(s, gates, 0, c);
                let state = match self.linear {
                    Some(_) => self.tanh(0, gates[c]),
                    None => eltwise::forward(alg, self.op.alpha.get(), 0.0, gates[c]),
                };
                h[c] = self.codec.code(state);
            }
        }
    }

    fn lstm(&self, s: Stack, _: i64, b: &mut Buffers<'_>) {
        let (z, width) = (&self.z, self.z.dhc as usize);
        self.add_recurrent(s, [0, z.gates * z.dhc], b.tiles, b.before, b.gates);
        let rows = b.gates.chunks_exact_mut(4 * width).zip(b.c.chunks_exact_mut(width)).zip(b.extra.chunks_exact_mut(width));
        for ((gates, cell), out) in rows {
            for c in 0..width {
                let input = self.logistic(0, self.gate(s, gates, 0, c) + self.peephole(s, 0, c) * cell[c]);
                let forget = self.logistic(1, self.gate(s, gates, 1, c) + self.peephole(s, 1, c) * cell[c]);
                let candidate = self.tanh(2, self.gate(s, gates, 2, c));
                cell[c] = self.round_cell(forget * cell[c] + input * candidate);
                let output = self.logistic(3, self.gate(s, gates, 3, c) + self.peephole(s, 2, c) * cell[c]);
                out[c] = output * self.bounded(cell[c]);
                (gates[c], gates[width + c], gates[2 * width + c], gates[3 * width + c]) = (input, forget, candidate, output);
            }
        }
        for x in &mut *b.extra {
            *x = self.codec.code(*x);
        }
        let Some(projection) = &self.projection else { return b.h.copy_from_slice(b.extra) };
        b.h.fill(0.0);
        let (before, weight) = (&*b.extra, |k, j| projection.get(&[s.l, s.d, k, j]));
        let input = |n: i64, k: i64| before[(n * z.dhc + k) as usize];
        add_products([z.batch, z.dic, z.dhc], b.tiles, input, weight, Target { data: b.h, width: z.dic, column: 0 });
        for (i, h) in b.h.iter_mut().enumerate() {
            let scale = self.codec.scale * self.projection_scales.at(i % z.dic as usize);
            *h = self.codec.code(*h / scale);
        }
    }

    fn round_cell(&self, c: f64) -> f64 {
        if self.cell_dtype == DataType::F32 { c } else { number::round_to(self.cell_dtype, c) }
    }

    fn gru(&self, s: Stack, t: i64, b: &mut Buffers<'_>) {
        let (z, width) = (&self.z, self.z.dhc as usize);
        self.add_recurrent(s, [0, 2 * z.dhc], b.tiles, b.before, b.gates);
        let rows = b.gates.chunks_exact_mut(3 * width).zip(b.before.chunks_exact(width)).zip(b.extra.chunks_exact_mut(width));
        for ((gates, h), reset_state) in rows {
            for c in 0..width {
                let [update, reset] = [0, 1].map(|gate| self.logistic(gate, self.gate(s, gates, gate, c)));
                (gates[c], gates[width + c]) = (update, reset);
                reset_state[c] = self.codec.code(reset * self.codec.real(h[c]));
            }
        }
        self.add_recurrent(s, [2 * z.dhc, z.dhc], b.tiles, b.extra, b.gates);
        let rows = b.gates.chunks_exact_mut(3 * width).zip(b.before.chunks_exact(width)).zip(b.h.chunks_exact_mut(width));
        for (n, ((gates, before), h)) in rows.enumerate() {
            let keep = 1.0 - self.attention(t, n as i64);
            for c in 0..width {
                gates[2 * width + c] = self.tanh(2, self.gate(s, gates, 2, c));
                let update = keep * gates[c];
                h[c] = self.codec.code(update * self.codec.real(before[c]) + (1.0 - update) * gates[2 * width + c]);
            }
        }
    }

    fn lbr_gru(&self, s: Stack, t: i64, b: &mut Buffers<'_>) {
        let (z, width) = (&self.z, self.z.dhc as usize);
        b.recurrent.fill(0.0);
        self.add_recurrent(s, [0, z.gates * z.dhc], b.tiles, b.before, b.recurrent);
        let states = b.before.chunks_exact(width).zip(b.h.chunks_exact_mut(width)).zip(b.extra.chunks_exact_mut(width));
        let rows = b.gates.chunks_exact_mut(3 * width).zip(b.recurrent.chunks_exact(3 * width));
        for (n, ((gates, recurrent), ((before, h), extra))) in rows.zip(states).enumerate() {
            let keep = 1.0 - self.attention(t, n as i64);
            for c in 0..width {
                let sum = |gate: usize| recurrent[gate * width + c] / (self.codec.scale * self.scales.at(gate * width + c));
                let [update, reset] = [0, 1].map(|gate| self.logistic(gate, self.gate(s, gates, gate, c) + sum(gate)));
                extra[c] = sum(2) + self.bias(s, 3, c);
                let candidate = self.tanh(2, self.gate(s, gates, 2, c) + reset * extra[c]);
                h[c] = self.codec.code(keep * update * self.codec.real(before[c]) + (1.0 - keep * update) * candidate);
                (gates[c], gates[width + c], gates[2 * width + c]) = (update, reset, candidate);
            }
        }
    }

    /// Keeps for backward what the step computed.
    fn keep(&self, s: Stack, t: i64, b: &Buffers<'_>) {
        let Some(ws) = &self.workspace else { return };
        let z = &self.z;
        for n in 0..z.batch {
            let row = |data: &[f64], width: i64, c: i64| data[(n * width + c) as usize];
            for j in 0..z.gates * z.dhc {
                ws.store(ws.gate(s, t, n, j), row(b.gates, z.gates * z.dhc, j));
            }
            for c in 0..z.dic {
                ws.store(ws.state(s, t, n, c), row(b.h, z.dic, c));
            }
            for c in 0..z.dhc {
                if self.op.cell == RnnCell::Lstm {
                    ws.store(ws.cell(s, t, n, c), row(b.c, z.dhc, c));
                }
                if self.is_lbr() || self.projection.is_some() {
                    ws.store(ws.extra(s, t, n, c), row(b.extra, z.dhc, c));
                }
            }
        }
    }
}

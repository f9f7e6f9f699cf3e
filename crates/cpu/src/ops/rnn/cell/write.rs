//! Writes the code of a [`Spec`].

use super::{Args, Field, Numbers, Pass, Spec};
use crate::kernels::tile::value::{Value, formula};
use oxidnn_expr::{Num as _, eltwise};
use oxidnn_jit::Function;
use oxidnn_jit::asm::Width;
use oxidnn_jit::ir::{Accumulate, Addr, Binary, Elem, Int, Pred, Src, Unary, Val};
use oxidnn_spec::op::{EltwiseAlg, RnnActivation};
use std::mem::offset_of;

/// The place of the factor of the cell among those of linear activations.
const CELL: usize = 4;

struct Writer<'s> {
    spec: &'s Spec,
    width: Width,
    args: Int,
    /// Where the row is in the fields that differ by row.
    at: [Option<Int>; Field::ALL.len()],
    /// The first channel of the vector.
    channel: Int,
    mask: Option<Pred>,
}

fn argument(f: &mut Function, args: Int, at: usize) -> Int {
    f.load_int(args.at(at as i32))
}

/// Where a field's numbers begin in the arguments.
fn at(field: Field) -> usize {
    offset_of!(Args, at) + field as usize * size_of::<usize>()
}

pub(super) fn write(spec: &Spec, f: &mut Function) {
    let (args, width) = (f.arguments(), f.isa().width());
    let rows = argument(f, args, offset_of!(Args, rows));
    let moving = |field: &Field| !matches!(field, Field::Bias | Field::Factors | Field::Peephole) && spec.extent(*field, 1, 1).is_some();
    let mut at_rows = [None; Field::ALL.len()];
    for field in Field::ALL.into_iter().filter(moving) {
        at_rows[field as usize] = Some(argument(f, args, at(field)));
    }
    f.repeat_some(rows, |f| {
        let (channel, vectors) = (f.int(0), argument(f, args, offset_of!(Args, vectors)));
        let left = spec.masked.then(|| argument(f, args, offset_of!(Args, channels)));
        f.repeat_some(vectors, |f| {
            let mask = left.map(|left| f.first_lanes(left));
            Writer { spec, width, args, at: at_rows, channel, mask }.vector(f);
            f.add(channel, width.lanes() as i32);
            if let Some(left) = left {
                f.sub(left, width.lanes() as i32);
            }
        });
        for (i, row) in at_rows.iter().enumerate() {
            if let Some(row) = row {
                let bytes = argument(f, args, offset_of!(Args, row) + i * size_of::<usize>());
                f.add(*row, bytes);
            }
        }
    });
}

impl Writer<'_> {
    fn vector(&self, f: &mut Function) {
        match self.spec.pass {
            Pass::Vanilla(activation, alpha) => {
                let x = self.gate(f, 0, 0);
                self.keep_gate(f, 0, x);
                let h = self.activation(f, activation, alpha.get(), x);
                self.put_state(f, h);
            }
            Pass::Lstm { peephole, projected } => self.lstm(f, peephole, projected),
            Pass::Projection => {
                let sums = self.sums(f, 0);
                let h = if self.spec.whole { self.real(f, 0, 0, sums) } else { sums };
                self.put_state(f, h);
            }
            Pass::Reset => self.reset(f),
            Pass::Gru => {
                let (x, update) = (self.gate(f, 0, 2), self.line(Field::Inputs, f, 0, self.spec.width));
                let (candidate, update) = (self.tanh(f, 2, x), f.load(self.width, update));
                self.keep_gate(f, 2, candidate);
                self.gated_state(f, update, candidate);
            }
            Pass::LbrGru => self.lbr_gru(f),
        }
    }

    fn lstm(&self, f: &mut Function, peephole: bool, projected: bool) {
        let (elem, at) = (self.spec.cell, self.channels(f, Field::Cell, self.spec.cell));
        let cell = f.load_as(elem, at, None);
        let looking = |f: &mut Function, x: Val, line: usize, cell: Val| {
            if peephole {
                let weights = self.line(Field::Peephole, f, line, self.spec.width);
                f.accumulate(Accumulate::FmaF32, x, cell, Src::Mem(weights));
            }
        };
        let [input, forget, candidate] = [0, 1, 2].map(|gate| {
            let x = self.gate(f, gate, gate);
            if gate == 2 {
                return self.tanh(f, gate, x);
            }
            looking(f, x, gate, cell);
            self.logistic(f, gate, x)
        });
        let new = f.binary(Binary::MulF32, forget, cell);
        f.accumulate(Accumulate::FmaF32, new, input, candidate);
        f.store_as(elem, at, new, None);
        let cell = if elem == Elem::F32 { new } else { f.load_as(elem, at, None) };
        let output = self.gate(f, 3, 3);
        looking(f, output, 2, cell);
        let output = self.logistic(f, 3, output);
        let bounded = self.tanh(f, CELL, cell);
        let h = f.binary(Binary::MulF32, output, bounded);
        [input, forget, candidate, output].into_iter().enumerate().for_each(|(gate, x)| self.keep_gate(f, gate, x));
        self.keep(f, Field::KeptCell, cell);
        if projected {
            let h = self.store_state(f, h);
            self.keep(f, Field::Extra, h);
        } else {
            self.put_state(f, h);
        }
    }

    fn reset(&self, f: &mut Function) {
        let [update, reset] = [0, 1].map(|gate| {
            let x = self.gate(f, gate, gate);
            self.logistic(f, gate, x)
        });
        self.keep_gate(f, 0, update);
        self.keep_gate(f, 1, reset);
        let to = self.line(Field::Inputs, f, 0, self.spec.width);
        f.store(to, update);
        let before = self.before(f);
        let h = f.binary(Binary::MulF32, before, reset);
        self.store_state(f, h);
    }

    fn lbr_gru(&self, f: &mut Function) {
        let [update, reset] = [0, 1].map(|gate| {
            let x = self.gate(f, gate, gate);
            self.logistic(f, gate, x)
        });
        let bias = |f: &mut Function, gate| self.line(Field::Bias, f, gate, self.spec.width);
        let (recurrent, input) = (self.sums(f, 2), self.line(Field::Inputs, f, 2, self.spec.width));
        let (inner_bias, outer_bias) = (bias(f, 3), bias(f, 2));
        let recurrent = f.binary(Binary::AddF32, recurrent, Src::Mem(inner_bias));
        let x = f.load(self.width, input);
        let x = f.binary(Binary::AddF32, x, Src::Mem(outer_bias));
        f.accumulate(Accumulate::FmaF32, x, reset, recurrent);
        let candidate = self.tanh(f, 2, x);
        [update, reset, candidate].into_iter().enumerate().for_each(|(gate, x)| self.keep_gate(f, gate, x));
        self.keep(f, Field::Extra, recurrent);
        self.gated_state(f, update, candidate);
    }

    /// The state of a gated unit: `u h + (1 - u) candidate`.
    fn gated_state(&self, f: &mut Function, update: Val, candidate: Val) {
        let update = if self.spec.attention {
            let share = self.row(Field::Share, f);
            f.binary(Binary::MulF32, update, Src::Splat(share.at(0)))
        } else {
            update
        };
        let one = f.splat_f32(self.width, 1.0);
        let rest = f.binary(Binary::SubF32, one, update);
        let h = f.binary(Binary::MulF32, rest, candidate);
        let before = self.before(f);
        f.accumulate(Accumulate::FmaF32, h, update, before);
        self.put_state(f, h);
    }

    /// The row of a field.
    fn row(&self, field: Field, f: &mut Function) -> Int {
        self.at[field as usize].unwrap_or_else(|| argument(f, self.args, at(field)))
    }

    /// The vector of a line of f32 of a field.
    fn line(&self, field: Field, f: &mut Function, gate: usize, distance: u16) -> Addr {
        let row = self.row(field, f);
        row.indexed(self.channel, 4, (gate * usize::from(distance) * 4) as i32)
    }

    /// The vector of a field of some type.
    fn channels(&self, f: &mut Function, field: Field, elem: Elem) -> Addr {
        self.row(field, f).indexed(self.channel, elem.bytes() as u8, 0)
    }

    /// A number of the call.
    fn number(&self, offset: usize) -> Addr {
        self.args.at((offset_of!(Args, numbers) + offset) as i32)
    }

    /// Sums of the state's products as f32.
    fn sums(&self, f: &mut Function, gate: usize) -> Val {
        let at = self.line(Field::Sums, f, gate, self.spec.columns);
        let sums = f.load(self.width, at);
        if self.spec.whole { f.unary(Unary::F32FromI32, sums) } else { sums }
    }

    /// The real numbers that whole sums are, with their bias.
    fn real(&self, f: &mut Function, factor: usize, bias: usize, sums: Val) -> Val {
        let (factors, bias) = (self.line(Field::Factors, f, factor, self.spec.width), self.line(Field::Bias, f, bias, self.spec.width));
        let x = f.load(self.width, bias);
        f.accumulate(Accumulate::FmaF32, x, sums, Src::Mem(factors));
        x
    }

    /// The sum of both products and the bias of a gate, which is another one among the sums of a second phase.
    fn gate(&self, f: &mut Function, among_sums: usize, gate: usize) -> Val {
        let (sums, inputs) = (self.sums(f, among_sums), self.line(Field::Inputs, f, gate, self.spec.width));
        let x = f.binary(Binary::AddF32, sums, Src::Mem(inputs));
        if self.spec.whole {
            return self.real(f, gate, gate, x);
        }
        let bias = self.line(Field::Bias, f, gate, self.spec.width);
        f.binary(Binary::AddF32, x, Src::Mem(bias))
    }

    fn activation(&self, f: &mut Function, activation: RnnActivation, alpha: f32, x: Val) -> Val {
        match activation {
            RnnActivation::Tanh => self.tanh(f, 0, x),
            RnnActivation::Logistic => self.logistic(f, 0, x),
            RnnActivation::Relu => {
                self.either(f, 0, x, |f, x| formula(f, |r| eltwise::forward(EltwiseAlg::Relu, alpha, 0.0, r.value(x))))
            }
        }
    }

    fn logistic(&self, f: &mut Function, gate: usize, x: Val) -> Val {
        self.either(f, gate, x, |f, x| formula(f, |r| eltwise::logistic(r.value(x))))
    }

    fn tanh(&self, f: &mut Function, gate: usize, x: Val) -> Val {
        self.either(f, gate, x, |f, x| formula(f, |r| Value::tanh(r.value(x))))
    }

    /// The activation of a gate, or what stands for it where activations are linear.
    fn either(&self, f: &mut Function, gate: usize, x: Val, make: impl FnOnce(&mut Function, Val) -> Val) -> Val {
        if self.spec.linear {
            return f.binary(Binary::MulF32, x, Src::Splat(self.number(offset_of!(Numbers, linear) + gate * 4)));
        }
        make(f, x)
    }

    /// The real numbers of the states before the step.
    fn before(&self, f: &mut Function) -> Val {
        let at = self.channels(f, Field::Before, self.spec.state);
        let h = f.load_as(self.spec.state, at, self.mask);
        if !self.spec.whole {
            return h;
        }
        let h = f.binary(Binary::SubF32, h, Src::Splat(self.number(offset_of!(Numbers, shift))));
        f.binary(Binary::DivF32, h, Src::Splat(self.number(offset_of!(Numbers, scale))))
    }

    /// Stores a state, and gives what was stored where that is kept.
    fn store_state(&self, f: &mut Function, h: Val) -> Val {
        let (state, to) = (self.spec.state, self.channels(f, Field::State, self.spec.state));
        if self.spec.whole {
            let code = f.splat(self.width, self.number(offset_of!(Numbers, shift)));
            f.accumulate(Accumulate::FmaF32, code, h, Src::Splat(self.number(offset_of!(Numbers, scale))));
            f.store_as(state, to, code, self.mask);
            return h;
        }
        f.store_as(state, to, h, self.mask);
        if self.spec.training && state != Elem::F32 { f.load_as(state, to, self.mask) } else { h }
    }

    fn put_state(&self, f: &mut Function, h: Val) {
        let h = self.store_state(f, h);
        self.keep(f, Field::KeptState, h);
    }

    /// Keeps numbers in the workspace.
    fn keep(&self, f: &mut Function, field: Field, x: Val) {
        if self.spec.training {
            let to = self.channels(f, field, Elem::F32);
            f.store_as(Elem::F32, to, x, self.mask);
        }
    }

    fn keep_gate(&self, f: &mut Function, gate: usize, x: Val) {
        if !self.spec.training {
            return;
        }
        let row = self.row(Field::Gates, f);
        let (to, distance) = (f.copy(row), argument(f, self.args, offset_of!(Args, kept_gate)));
        (0..gate).for_each(|_| f.add(to, distance));
        f.store_as(Elem::F32, to.indexed(self.channel, 4, 0), x, self.mask);
    }
}

//! Writes the code of a [`Spec`].

use super::{Args, Field, Pass, Scalars, Spec};
use crate::kernels::chain::jit::interleaved::Interleaved;
use crate::kernels::chain::jit::value::Recorder;
use oxidnn_expr::eltwise;
use oxidnn_jit::Function;
use oxidnn_jit::asm::Width;
use oxidnn_jit::ir::{Accumulate, Addr, Binary, Compare, Elem, Int, Pred, Src, Unary, Val};
use oxidnn_spec::op::{EltwiseAlg, RnnActivation};
use std::array::from_fn;
use std::mem::offset_of;

/// Index of the cell's factor among those of linear activations.
const CELL: usize = 4;

/// Writes the code for `N` vectors at a time.
struct Writer<'s, const N: usize> {
    spec: &'s Spec,
    width: Width,
    args: Int,
    /// Addresses of the current row in the fields that have rows.
    at: [Option<Int>; Field::ALL.len()],
    /// The first channel of the vectors.
    channel: Int,
    masks: [Option<Pred>; N],
}

/// Offset of a field's address in the arguments.
fn at(field: Field) -> usize {
    offset_of!(Args, at) + field as usize * size_of::<usize>()
}

/// Writes the kernel, for `N` vectors at a time.
pub(super) fn rows<const N: usize>(spec: &Spec, f: &mut Function) {
    let (args, width) = (f.arguments(), f.isa().width());
    let rows = f.argument(args, offset_of!(Args, rows));
    let moving =
        |field: &Field| !matches!(field, Field::Bias | Field::Shifts | Field::Factors | Field::Peephole) && spec.reach(*field).is_some();
    let mut at_rows = [None; Field::ALL.len()];
    for field in Field::ALL.into_iter().filter(moving) {
        at_rows[field as usize] = Some(f.argument(args, at(field)));
    }
    f.repeat_some(rows, |f| {
        let (channel, steps) = (f.int(0), f.argument(args, offset_of!(Args, steps)));
        let left = spec.masked.then(|| f.argument(args, offset_of!(Args, channels)));
        f.repeat_some(steps, |f| {
            let masks = from_fn(|_| left.map(|left| next_mask(f, left, width)));
            Writer::<N> { spec, width, args, at: at_rows, channel, masks }.vectors(f);
            f.add(channel, (N * width.lanes()) as i32);
        });
        for (i, row) in at_rows.iter().enumerate() {
            if let Some(row) = row {
                let bytes = f.argument(args, offset_of!(Args, row) + i * size_of::<usize>());
                f.add(*row, bytes);
            }
        }
    });
}

/// The mask of lanes that have channels left; `left` becomes less by a vector.
fn next_mask(f: &mut Function, left: Int, width: Width) -> Pred {
    let mask = f.first_lanes(left);
    f.sub(left, width.lanes() as i32);
    f.when(Compare::Lt, left, 0, |f| {
        let none = f.int(0);
        f.set(left, none);
    });
    mask
}

/// A formula of some vectors, interleaved operation by operation.
fn formula<const N: usize>(f: &mut Function, alg: EltwiseAlg, alpha: f32, x: [Val; N]) -> [Val; N] {
    let recorder = Recorder::new(f);
    eltwise::forward(alg, alpha, 0.0, Interleaved(x.map(|x| recorder.value(x)))).0.map(|y| recorder.lanes(y))
}

impl<const N: usize> Writer<'_, N> {
    fn vectors(&self, f: &mut Function) {
        match self.spec.pass {
            Pass::Vanilla(activation, alpha) => {
                let x = self.gate(f, 0, 0);
                self.keep_gate(f, 0, x);
                let alg = match activation {
                    RnnActivation::Tanh => EltwiseAlg::Tanh,
                    RnnActivation::Logistic => EltwiseAlg::Logistic,
                    RnnActivation::Relu => EltwiseAlg::Relu,
                };
                let [h] = self.activate(f, (alg, alpha.get()), [(0, x)]);
                self.put_state(f, h);
            }
            Pass::Lstm { peephole, projected } => self.lstm(f, peephole, projected),
            Pass::Projection => {
                let sums = self.sums(f, 0);
                let h = if self.spec.whole { self.real(f, 0, sums) } else { sums };
                self.put_state(f, h);
            }
            Pass::GruPart1 => self.reset(f),
            Pass::GruPart2 => {
                let x = self.gate(f, 0, 2);
                let [candidate] = self.activate(f, TANH, [(2, x)]);
                let update = self.map(f, |f, i| {
                    let at = self.line(f, Field::LayerGemm, 0, self.spec.width, i);
                    f.load(self.width, at)
                });
                self.keep_gate(f, 2, candidate);
                self.gated_state(f, update, candidate);
            }
            Pass::LbrGru => self.lbr_gru(f),
        }
    }

    fn lstm(&self, f: &mut Function, peephole: bool, projected: bool) {
        let elem = self.spec.cell;
        let before = self.map(f, |f, i| {
            let at = self.channels(f, Field::Cell, elem, i);
            f.load_as(elem, at, None)
        });
        let gate = |f: &mut Function, gate: usize, looks: Option<(usize, [Val; N])>| {
            let x = self.gate(f, gate, gate);
            if let (true, Some((line, cell))) = (peephole, looks) {
                (0..N).for_each(|i| {
                    let weights = self.line(f, Field::Peephole, line, self.spec.width, i);
                    f.accumulate(Accumulate::FmaF32, x[i], cell[i], Src::Mem(weights));
                });
            }
            x
        };
        let (input, forget) = (gate(f, 0, Some((0, before))), gate(f, 1, Some((1, before))));
        let (input, forget, output) = if peephole {
            let [input, forget] = self.activate(f, LOGISTIC, [(0, input), (1, forget)]);
            (input, forget, None)
        } else {
            let output = gate(f, 3, None);
            let [input, forget, output] = self.activate(f, LOGISTIC, [(0, input), (1, forget), (3, output)]);
            (input, forget, Some(output))
        };
        let candidate = gate(f, 2, None);
        let [candidate] = self.activate(f, TANH, [(2, candidate)]);
        let cell = self.map(f, |f, i| {
            let new = f.binary(Binary::MulF32, forget[i], before[i]);
            f.accumulate(Accumulate::FmaF32, new, input[i], candidate[i]);
            let at = self.channels(f, Field::Cell, elem, i);
            f.store_as(elem, at, new, None);
            if elem == Elem::F32 { new } else { f.load_as(elem, at, None) }
        });
        let output = output.unwrap_or_else(|| {
            let output = gate(f, 3, Some((2, cell)));
            let [output] = self.activate(f, LOGISTIC, [(3, output)]);
            output
        });
        let [bounded] = self.activate(f, TANH, [(CELL, cell)]);
        let h = self.map(f, |f, i| f.binary(Binary::MulF32, output[i], bounded[i]));
        [input, forget, candidate, output].into_iter().enumerate().for_each(|(gate, x)| self.keep_gate(f, gate, x));
        self.keep(f, Field::WsCell, cell);
        if projected {
            let h = self.store_state(f, h);
            self.keep(f, Field::WsGrid, h);
        } else {
            self.put_state(f, h);
        }
    }

    /// Update and reset gates.
    fn both(&self, f: &mut Function) -> [[Val; N]; 2] {
        let gates = [0, 1].map(|gate| (gate, self.gate(f, gate, gate)));
        self.activate(f, LOGISTIC, gates)
    }

    fn reset(&self, f: &mut Function) {
        let [update, reset] = self.both(f);
        self.keep_gate(f, 0, update);
        self.keep_gate(f, 1, reset);
        let before = self.before(f);
        let h = self.map(f, |f, i| {
            let to = self.line(f, Field::LayerGemm, 0, self.spec.width, i);
            f.store(to, update[i]);
            f.binary(Binary::MulF32, before[i], reset[i])
        });
        self.store_state(f, h);
    }

    fn lbr_gru(&self, f: &mut Function) {
        let [update, reset] = self.both(f);
        let sums = self.sums(f, 2);
        let recurrent = self.map(f, |f, i| {
            let bias = self.line(f, Field::Bias, 3, self.spec.width, i);
            f.binary(Binary::AddF32, sums[i], Src::Mem(bias))
        });
        let x = self.map(f, |f, i| {
            let (input, bias) = (self.line(f, Field::LayerGemm, 2, self.spec.width, i), self.line(f, Field::Bias, 2, self.spec.width, i));
            let x = f.load(self.width, input);
            f.update(Binary::AddF32, x, Src::Mem(bias));
            f.accumulate(Accumulate::FmaF32, x, reset[i], recurrent[i]);
            x
        });
        let [candidate] = self.activate(f, TANH, [(2, x)]);
        [update, reset, candidate].into_iter().enumerate().for_each(|(gate, x)| self.keep_gate(f, gate, x));
        self.keep(f, Field::WsGrid, recurrent);
        self.gated_state(f, update, candidate);
    }

    /// The state of a gated unit: `u h + (1 - u) candidate`.
    fn gated_state(&self, f: &mut Function, update: [Val; N], candidate: [Val; N]) {
        let share = self.spec.attention.then(|| self.row(f, Field::Attention));
        let before = self.before(f);
        let h = self.map(f, |f, i| {
            let update = share.map_or(update[i], |share| f.binary(Binary::MulF32, update[i], Src::Splat(share.at(0))));
            let one = f.splat_f32(self.width, 1.0);
            let rest = f.binary(Binary::SubF32, one, update);
            let h = f.binary(Binary::MulF32, rest, candidate[i]);
            f.accumulate(Accumulate::FmaF32, h, update, before[i]);
            h
        });
        self.put_state(f, h);
    }

    fn map<T>(&self, f: &mut Function, mut each: impl FnMut(&mut Function, usize) -> T) -> [T; N] {
        from_fn(|i| each(f, i))
    }

    /// The address of the current row of a field.
    fn row(&self, f: &mut Function, field: Field) -> Int {
        self.at[field as usize].unwrap_or_else(|| f.argument(self.args, at(field)))
    }

    /// Vector `i` of a line of f32 of a field.
    fn line(&self, f: &mut Function, field: Field, gate: usize, distance: u16, i: usize) -> Addr {
        let row = self.row(f, field);
        row.indexed(self.channel, 4, (gate * usize::from(distance) * 4 + i * self.width.bytes()) as i32)
    }

    /// Vector `i` of a field of some type.
    fn channels(&self, f: &mut Function, field: Field, elem: Elem, i: usize) -> Addr {
        self.row(f, field).indexed(self.channel, elem.bytes() as u8, (i * self.width.lanes() * elem.bytes()) as i32)
    }

    /// A scalar of the call.
    fn number(&self, offset: usize) -> Addr {
        self.args.at((offset_of!(Args, numbers) + offset) as i32)
    }

    /// Sums of the state's products as f32.
    fn sums(&self, f: &mut Function, gate: usize) -> [Val; N] {
        self.map(f, |f, i| {
            let at = self.line(f, Field::IterGemm, gate, self.spec.columns, i);
            let sums = f.load(self.width, at);
            if self.spec.whole { f.unary(Unary::F32FromI32, sums) } else { sums }
        })
    }

    /// The sum of both products and the bias of a gate; in a second phase the gate has another index among the sums.
    fn gate(&self, f: &mut Function, among_sums: usize, gate: usize) -> [Val; N] {
        let sums = self.sums(f, among_sums);
        let x = self.with_line(f, (Binary::AddF32, Field::LayerGemm), gate, sums);
        let x = if self.spec.whole { self.real(f, gate, x) } else { x };
        self.with_line(f, (Binary::AddF32, Field::Bias), gate, x)
    }

    /// Integer sums converted to floating point.
    fn real(&self, f: &mut Function, gate: usize, sums: [Val; N]) -> [Val; N] {
        let sums = self.with_line(f, (Binary::SubF32, Field::Shifts), gate, sums);
        self.with_line(f, (Binary::MulF32, Field::Factors), gate, sums)
    }

    /// Applies an operation to some vectors and a line of a field.
    fn with_line(&self, f: &mut Function, (op, field): (Binary, Field), gate: usize, x: [Val; N]) -> [Val; N] {
        self.map(f, |f, i| {
            let at = self.line(f, field, gate, self.spec.width, i);
            f.binary(op, x[i], Src::Mem(at))
        })
    }

    /// The same activation for some gates, or the factors of linear activations.
    fn activate<const G: usize>(&self, f: &mut Function, (alg, alpha): (EltwiseAlg, f32), gates: [(usize, [Val; N]); G]) -> [[Val; N]; G] {
        if self.spec.linear {
            let factor = |gate: usize| Src::Splat(self.number(offset_of!(Scalars, linear) + gate * 4));
            return gates.map(|(gate, x)| x.map(|x| f.binary(Binary::MulF32, x, factor(gate))));
        }
        let at = |k: usize| gates[k / N].1[k % N];
        // All vectors of all gates are interleaved.
        let all: Vec<Val> = match G * N {
            1 => formula::<1>(f, alg, alpha, from_fn(at)).to_vec(),
            2 => formula::<2>(f, alg, alpha, from_fn(at)).to_vec(),
            3 => formula::<3>(f, alg, alpha, from_fn(at)).to_vec(),
            4 => formula::<4>(f, alg, alpha, from_fn(at)).to_vec(),
            _ => formula::<6>(f, alg, alpha, from_fn(at)).to_vec(),
        };
        from_fn(|gate| from_fn(|i| all[gate * N + i]))
    }

    /// The floating-point elements of the states before the step.
    fn before(&self, f: &mut Function) -> [Val; N] {
        self.map(f, |f, i| {
            let at = self.channels(f, Field::StateBefore, self.spec.state, i);
            let h = f.load_as(self.spec.state, at, self.masks[i]);
            if !self.spec.whole {
                return h;
            }
            let h = f.binary(Binary::SubF32, h, Src::Splat(self.number(offset_of!(Scalars, shift))));
            f.binary(Binary::DivF32, h, Src::Splat(self.number(offset_of!(Scalars, scale))))
        })
    }

    /// Stores a state, and returns the stored value if the workspace keeps it.
    fn store_state(&self, f: &mut Function, h: [Val; N]) -> [Val; N] {
        let state = self.spec.state;
        self.map(f, |f, i| {
            let to = self.channels(f, Field::State, state, i);
            if self.spec.whole {
                let code = f.splat(self.width, self.number(offset_of!(Scalars, shift)));
                f.accumulate(Accumulate::FmaF32, code, h[i], Src::Splat(self.number(offset_of!(Scalars, scale))));
                f.store_as(state, to, code, self.masks[i]);
                return h[i];
            }
            f.store_as(state, to, h[i], self.masks[i]);
            if self.spec.training && state != Elem::F32 { f.load_as(state, to, self.masks[i]) } else { h[i] }
        })
    }

    fn put_state(&self, f: &mut Function, h: [Val; N]) {
        let h = self.store_state(f, h);
        self.keep(f, Field::WsState, h);
    }

    /// Stores elements in the workspace.
    fn keep(&self, f: &mut Function, field: Field, x: [Val; N]) {
        if self.spec.training {
            for (i, x) in x.into_iter().enumerate() {
                let to = self.channels(f, field, Elem::F32, i);
                f.store_as(Elem::F32, to, x, self.masks[i]);
            }
        }
    }

    fn keep_gate(&self, f: &mut Function, gate: usize, x: [Val; N]) {
        if !self.spec.training {
            return;
        }
        let row = self.row(f, Field::WsGates);
        let (to, distance) = (f.copy(row), f.argument(self.args, offset_of!(Args, kept_gate)));
        (0..gate).for_each(|_| f.add(to, distance));
        for (i, x) in x.into_iter().enumerate() {
            f.store_as(Elem::F32, to.indexed(self.channel, 4, (i * self.width.bytes()) as i32), x, self.masks[i]);
        }
    }
}

const LOGISTIC: (EltwiseAlg, f32) = (EltwiseAlg::Logistic, 0.0);
const TANH: (EltwiseAlg, f32) = (EltwiseAlg::Tanh, 0.0);

//! Recurrent networks: every cell, direction and configuration, forward, training and backward.
//!
//! With `x` the layer's input, `h` the incoming state, `W`, `U`, `b` the weights and bias of a gate, `s` the logistic function:
//!
//! | cell | step |
//! |---|---|
//! | vanilla | `h' = act(W x + U h + b)` |
//! | LSTM | `i = s(Wi x + Ui h + bi + pi c)`, `f = s(.. + pf c)`, `g = tanh(..)`, `c' = f c + i g`, `o = s(.. + po c')`, `h' = o tanh(c')`, times the projection |
//! | GRU | `u = s(..)`, `r = s(..)`, `o = tanh(Wo x + Uo (r h) + bo)`, `h' = u h + (1 - u) o` |
//! | LBR-GRU | as GRU with `o = tanh(Wo x + bo + r (Uo h + bo'))` |
//! | AUGRU, LBR-AUGRU | as GRU, LBR-GRU with `(1 - a) u` in place of `u` in `h'`, `a` the attention of the step |
//!
//! Gates are in the order i f g o and u r o. The directions are independent stacks of layers; the one that runs backward in time gives its result
//! for the time it read. With several layers each feeds the next, whatever the direction's combination, which happens at the end.
//!
//! **Types.** Sums and gates are `f64`. States are rounded to the type of `src_layer` wherever an implementation with that type must hold them:
//! after every step, and where a GRU resets its state before it multiplies it (f32 states stay `f64`). The cell state of an LSTM is
//! rounded to its own type when that is f16.
//!
//! **int8.** A real number `x` is held as `q = scale * x + shift` ([`RnnQuant::data`](oxidnn_spec::RnnQuant)), weights as `scale_w * w`. Gates are
//! `sum((q - shift) * w) / (scale * scale_w) + bias`, all whole numbers up to the division. States between steps and layers, the reset state of a GRU
//! and the input of a projection are rounded and saturated to `src_layer`'s type; f32 states are quantised when they come in; a destination of
//! a floating-point type gets the real number that the quantised state stands for. Peephole weights and the cell state are real.

mod backward;
mod forward;
#[cfg(test)]
mod tests;

use crate::dot::{self, products};
use crate::view::Cells;
use crate::{Args, View};
use oxidnn_expr::{eltwise, number};
use oxidnn_spec::op::{Rnn, RnnCell, RnnDirection, RnnSizes};
use oxidnn_spec::{Arg, Attr, DataType, Error, Prop, Real, RnnLinear};

/// Scratch for [`run`], in `f64` elements.
pub(crate) fn scratch_len(op: &Rnn) -> usize {
    let Some(z) = op.sizes() else { return 0 };
    dot::SCRATCH + if op.prop.is_forward() { forward::scratch_len(&z) } else { backward::scratch_len(op, &z) }
}

/// Computes a recurrent network.
pub(crate) fn run<'a>(op: &'a Rnn, attr: &'a Attr, args: &'a dyn Args, scratch: &mut [f64]) -> Result<(), Error> {
    let network = Network::of(op, attr, args)?;
    if [network.z.time, network.z.batch, network.z.dhc, network.z.dic].contains(&0) {
        return Ok(());
    }
    if op.prop.is_forward() { forward::run(&network, args, scratch) } else { backward::run(&network, args, scratch) }
}

/// How states are held: as codes, which are real numbers times `scale`.
#[derive(Clone, Copy)]
struct Codec {
    dtype: DataType,
    scale: f64,
    shift: f64,
}

impl Codec {
    fn of(dtype: DataType, attr: &Attr) -> Codec {
        match attr.rnn.data {
            Some((scale, shift)) if dtype.is_x8() => Codec { dtype, scale: f64::from(scale.get()), shift: f64::from(shift.get()) },
            _ => Codec { dtype, scale: 1.0, shift: 0.0 },
        }
    }

    /// The code of a real number, rounded as the type has it.
    fn code(&self, real: f64) -> f64 {
        match self.dtype {
            DataType::F32 => real,
            dtype => number::round_to(dtype, real * self.scale + self.shift) - self.shift,
        }
    }

    fn real(&self, code: f64) -> f64 {
        code / self.scale
    }

    /// The code of a tensor's element.
    fn load(&self, view: &View<'_>, pos: &[i64]) -> f64 {
        let x = view.get(pos);
        if view.dtype() == self.dtype { x - self.shift } else { self.code(x) }
    }

    /// Writes a code (or a sum of codes) to a tensor: as it is to a quantised one, as a real number to any other.
    fn store(&self, view: &View<'_>, pos: &[i64], code: f64) {
        view.set(pos, if view.dtype().is_x8() { code + self.shift } else { self.real(code) });
    }
}

/// Scales of quantised weights: one, or one a column.
#[derive(Clone, Copy)]
struct WeightScales<'a>(&'a [Real]);

impl WeightScales<'_> {
    fn at(&self, column: usize) -> f64 {
        match self.0 {
            [] => 1.0,
            [one] => f64::from(one.get()),
            many => f64::from(many[column].get()),
        }
    }
}

/// The array of [`Rnn::workspace`].
#[derive(Clone, Copy)]
struct Workspace<'a> {
    cells: Cells<'a>,
    row: i64,
    sizes: RnnSizes,
    lstm: bool,
}

/// One layer of one direction.
#[derive(Clone, Copy)]
struct Stack {
    l: i64,
    d: i64,
}

impl<'a> Workspace<'a> {
    fn of(op: &Rnn, sizes: RnnSizes, args: &'a dyn Args) -> Result<Workspace<'a>, Error> {
        let need = op.workspace_bytes().unwrap_or(i64::MAX) as usize;
        match args.data(Arg::WORKSPACE, 0) {
            Some(data) if data.len() >= need => {
                let row = op.workspace_row().unwrap_or(0);
                Ok(Workspace { cells: Cells::new(DataType::F32, data), row, sizes, lstm: op.cell == RnnCell::Lstm })
            }
            Some(data) => Err(Error::arg(Arg::WORKSPACE, format_args!("{} bytes", data.len()), format_args!("{need} bytes"))),
            None => Err(Error::arg(Arg::WORKSPACE, "nothing", "the workspace")),
        }
    }

    fn at(&self, s: Stack, t: i64, n: i64, field: i64) -> i64 {
        let z = &self.sizes;
        (((s.l * z.directions + s.d) * z.time + t) * z.batch + n) * self.row + field
    }

    /// Offsets within a row: gates (by column), state, cell state, the further vector.
    fn gate(&self, s: Stack, t: i64, n: i64, column: i64) -> i64 {
        self.at(s, t, n, column)
    }
    fn state(&self, s: Stack, t: i64, n: i64, c: i64) -> i64 {
        self.at(s, t, n, self.sizes.gates * self.sizes.dhc + c)
    }
    fn cell(&self, s: Stack, t: i64, n: i64, c: i64) -> i64 {
        self.state(s, t, n, self.sizes.dic + c)
    }
    fn extra(&self, s: Stack, t: i64, n: i64, c: i64) -> i64 {
        self.cell(s, t, n, if self.lstm { self.sizes.dhc } else { 0 } + c)
    }
    fn get(&self, offset: i64) -> f64 {
        self.cells.load(offset)
    }
    fn store(&self, offset: i64, value: f64) {
        self.cells.store(offset, value);
    }
}

/// A network with its inputs.
struct Network<'a> {
    op: &'a Rnn,
    z: RnnSizes,
    codec: Codec,
    cell_dtype: DataType,
    scales: WeightScales<'a>,
    projection_scales: WeightScales<'a>,
    linear: Option<&'a RnnLinear>,
    src_layer: View<'a>,
    src_iter: Option<View<'a>>,
    src_iter_c: Option<View<'a>>,
    attention: Option<View<'a>>,
    weights_layer: View<'a>,
    weights_iter: View<'a>,
    peephole: Option<View<'a>>,
    projection: Option<View<'a>>,
    bias: Option<View<'a>>,
    workspace: Option<Workspace<'a>>,
}

impl<'a> Network<'a> {
    fn of(op: &'a Rnn, attr: &'a Attr, args: &'a dyn Args) -> Result<Network<'a>, Error> {
        let z = op.sizes().ok_or_else(|| Error::arg(Arg::SRC, op.src_layer.dims(), "T x N x SLC"))?;
        if z.time > 1 && z.sic != z.dic {
            return Err(Error::arg(Arg::WEIGHTS_1, z.sic, format_args!("{} state channels", z.dic)));
        }
        let scales = |q: &'a Option<(u32, Vec<Real>)>| match q {
            Some((_, scales)) if op.src_layer.dtype.is_x8() => WeightScales(scales),
            _ => WeightScales(&[]),
        };
        let cell = op.src_iter_c.as_ref().or(op.dst_iter_c.as_ref());
        Ok(Network {
            op,
            z,
            codec: Codec::of(op.src_layer.dtype, attr),
            cell_dtype: cell.map_or(DataType::F32, |t| t.dtype),
            scales: scales(&attr.rnn.weights),
            projection_scales: scales(&attr.rnn.projection),
            linear: attr.rnn.linear.as_ref(),
            src_layer: View::of(args, Arg::SRC)?,
            src_iter: View::optional(args, Arg::SRC_1)?,
            src_iter_c: View::optional(args, Arg::SRC_2)?,
            attention: View::optional(args, Arg::SRC_3)?,
            weights_layer: View::of(args, Arg::WEIGHTS)?,
            weights_iter: View::of(args, Arg::WEIGHTS_1)?,
            peephole: View::optional(args, Arg::WEIGHTS_2)?,
            projection: View::optional(args, Arg::WEIGHTS_3)?,
            bias: View::optional(args, Arg::BIAS)?,
            workspace: if op.prop == Prop::ForwardInference { None } else { Some(Workspace::of(op, z, args)?) },
        })
    }

    /// The logistic function of a gate, or its linear activation.
    fn logistic(&self, gate: usize, x: f64) -> f64 {
        self.linear.map_or_else(|| eltwise::logistic(x), |l| f64::from(l.gates[gate].get()) * x)
    }

    /// The hyperbolic tangent of a gate, or its linear activation.
    fn tanh(&self, gate: usize, x: f64) -> f64 {
        self.linear.map_or_else(|| x.tanh(), |l| f64::from(l.gates[gate].get()) * x)
    }

    /// The hyperbolic tangent of a cell, or what stands for it.
    fn bounded(&self, cell: f64) -> f64 {
        self.linear.map_or_else(|| cell.tanh(), |l| f64::from(l.cell.get()) * cell)
    }

    /// True for the cells whose candidate multiplies the state before the reset.
    fn is_lbr(&self) -> bool {
        self.op.cell.bias_gates() > self.op.cell.gates()
    }

    /// True where direction `d` runs backward in time.
    fn is_backward(&self, d: i64) -> bool {
        self.op.direction == RnnDirection::Right2Left || d == 1
    }

    /// Time of step `step`.
    fn time(&self, d: i64, step: i64) -> i64 {
        if self.is_backward(d) { self.z.time - 1 - step } else { step }
    }

    /// First channel of direction `d` in `dst_layer`.
    fn first_channel(&self, d: i64) -> i64 {
        if self.op.direction == RnnDirection::BidirectionalConcat { d * self.z.dic } else { 0 }
    }

    /// The attention of a step, 0 without.
    fn attention(&self, t: i64, n: i64) -> f64 {
        self.attention.map_or(0.0, |a| a.get(&[t, n, 0]))
    }

    /// The weight of input `k` in column `j` (gate times DHC plus channel).
    fn weight(&self, view: &View<'_>, s: Stack, k: i64, j: i64) -> f64 {
        view.get(&[s.l, s.d, k, j / self.z.dhc, j % self.z.dhc])
    }

    fn bias(&self, s: Stack, gate: usize, c: usize) -> f64 {
        self.bias.map_or(0.0, |b| b.get(&[s.l, s.d, gate as i64, c as i64]))
    }

    fn peephole(&self, s: Stack, gate: usize, c: usize) -> f64 {
        self.peephole.map_or(0.0, |p| p.get(&[s.l, s.d, gate as i64, c as i64]))
    }
}

/// Takes `n` elements off the front of `rest`.
fn take<'s>(rest: &mut &'s mut [f64], n: i64) -> &'s mut [f64] {
    let (front, back) = std::mem::take(rest).split_at_mut(n.max(0) as usize);
    *rest = back;
    front
}

/// Part of a row-major matrix: `width` columns in all, from `column` on.
struct Target<'t> {
    data: &'t mut [f64],
    width: i64,
    column: i64,
}

/// Adds the sums of [`products`] to a matrix.
fn add_products(size: [i64; 3], tiles: &mut [f64], a: impl FnMut(i64, i64) -> f64, b: impl FnMut(i64, i64) -> f64, to: Target<'_>) {
    let mut a = a;
    products(
        size,
        tiles,
        |m, k| Some(a(m, k)),
        b,
        |m, n0, sums| {
            let first = (m * to.width + to.column + n0) as usize;
            for (x, sum) in to.data[first..].iter_mut().zip(sums.iter()) {
                *x += sum;
            }
        },
    );
}

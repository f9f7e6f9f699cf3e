//! Gradients of recurrent networks (backpropagation through time), layers from the last to the first.
//!
//! The gradients of the gates' sums (`deltas`) are computed step by step; those of weights, bias and the layer's input are then sums over all steps. All
//! intermediates are f32. `reference::rnn::backward` defines the computation and its order.

use super::{Mark, Stack, by_k_and_n, matrix, multiplied};
use crate::CudaTarget;
use crate::emit::{Emitter, Real, View, literal};
use crate::ops::map::Map;
use crate::ops::pointwise::tensor;
use crate::ops::reductions::aligned;
use crate::ops::rows::{Rows, Stage};
use crate::ops::{gemm, zero};
use crate::program::{MapPlace, OVERFLOW, Program, Word};
use crate::row::Lower;
use oxidnn_expr::eltwise;
use oxidnn_runtime::Skip;
use oxidnn_spec::op::{EltwiseAlg, Rnn, RnnActivation, RnnCell, RnnDirection, RnnSizes};
use oxidnn_spec::{Arg, DataType, Dims, Op, Problem, Tensor};

/// Further placeholders of a step: rows of deltas, of the gradients of states, of the workspace a step before, and of the gradient of the attention.
const DELTAS: Arg = Arg(30_011);
const OUTPUTS: Arg = Arg(30_012);
const EARLIER: Arg = Arg(30_013);
const DIFF_ATTENTION: Arg = Arg(30_014);

/// Offsets of the gradients in scratch, f32.
struct Buffers {
    /// Of the layer's states, T x N x max(DIC, SLC); later of its input.
    outputs: usize,
    /// Of the gates' sums, T x N x bias gates x DHC.
    deltas: usize,
    /// Of the source, T x N x SLC.
    input: usize,
    /// Of the state before a step, N x max(DIC, SIC); of the cell state; of the state before the projection, or of the reset state.
    h: usize,
    c: usize,
    extra: usize,
}

/// A product of deltas by recurrent weights: for `gates` gates from `first` on, to rows of `width` in scratch at `to`, overwriting or adding.
struct Way {
    first: i64,
    gates: i64,
    to: usize,
    width: i64,
    adds: bool,
}

struct Net<'a> {
    op: &'a Rnn,
    problem: &'a Problem,
    z: RnnSizes,
    b: Buffers,
    bias_gates: i64,
    width: i64,
    state_width: i64,
    /// Elements of a workspace row.
    row: i64,
    /// The rows for matrix products, in the order of preference; other products are generic.
    rows: &'a [Lower],
    target: &'a CudaTarget,
}

/// The gradients of a network.
pub(super) fn lower(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    aligned(|vectors| lower_by(problem, if vectors { &[gemm::simt::matmul] } else { &[] }, target))
}

fn lower_by(problem: &Problem, rows: &[Lower], target: &CudaTarget) -> Result<Program, Skip> {
    let Op::Rnn(op) = &problem.op else { return Err(Skip::Op("anything but recurrent networks")) };
    let z = op.sizes().ok_or(OVERFLOW)?;
    let (width, state_width, bias_gates) = (z.dic.max(z.slc), z.dic.max(z.sic), op.cell.bias_gates());
    let mut all = Program::default();
    let mut book = |sizes: &[i64]| {
        let elements = sizes.iter().try_fold(4i64, |n, &s| n.checked_mul(s)).and_then(|n| usize::try_from(n).ok());
        all.book(elements.ok_or(OVERFLOW)?)
    };
    let b = Buffers {
        outputs: book(&[z.time, z.batch, width])?,
        deltas: book(&[z.time, z.batch, bias_gates, z.dhc])?,
        input: book(&[z.time, z.batch, z.slc])?,
        h: book(&[z.batch, state_width])?,
        c: book(&[z.batch, z.dhc])?,
        extra: book(&[z.batch, z.dhc.max(z.sic)])?,
    };
    let row = op.workspace_row().ok_or(OVERFLOW)?;
    let net = Net { op, problem, z, b, bias_gates, width, state_width, row, rows, target };
    for d in 0..z.directions {
        for l in (0..z.layers).rev() {
            net.layer(&mut all, Stack { l, d })?;
        }
    }
    net.source(&mut all)?;
    Ok(all)
}

/// A plain f32 tensor.
fn plain(dims: &[i64]) -> Result<Tensor, Skip> {
    Tensor::plain(Dims::from_fn(dims.len(), |d| dims[d]), DataType::F32).map_err(|_| OVERFLOW)
}

impl Net<'_> {
    fn is_lbr(&self) -> bool {
        matches!(self.op.cell, RnnCell::LbrGru | RnnCell::LbrAugru)
    }

    fn is_gru(&self) -> bool {
        matches!(self.op.cell, RnnCell::Gru | RnnCell::Augru)
    }

    fn is_back(&self, d: i64) -> bool {
        d == 1 || self.op.direction == RnnDirection::Right2Left
    }

    /// Offsets of state, cell state and further values in a workspace row.
    fn fields(&self) -> [i64; 3] {
        let z = &self.z;
        let state = z.gates * z.dhc;
        let cell = state + z.dic;
        [state, cell, cell + if self.op.cell == RnnCell::Lstm { z.dhc } else { 0 }]
    }

    /// Offset of a step's rows in the workspace, in bytes.
    fn kept(&self, s: Stack, t: i64) -> u64 {
        let z = &self.z;
        (((s.l * z.directions + s.d) * z.time + t) * z.batch * self.row * 4) as u64
    }

    fn layer(&self, all: &mut Program, s: Stack) -> Result<(), Skip> {
        let z = &self.z;
        self.start(all, s)?;
        let (first, other) = (self.step(all, s, true)?, if z.time > 1 { Some(self.step(all, s, false)?) } else { None });
        for i in (0..z.time).rev() {
            let time = |i: i64| if self.is_back(s.d) { z.time - 1 - i } else { i };
            let (t, before) = (time(i), time((i - 1).max(0)));
            let step = if i == 0 { &first } else { other.as_ref().unwrap_or(&first) };
            let attention = match &self.op.attention {
                Some(a) => (t * gemm::plain(a)?.strides[0]) as u64 * (a.dtype.bits() / 8) as u64,
                None => 0,
            };
            let diff_attention = match self.problem.op.tensor(Arg::DIFF_SRC_3) {
                Some(a) => (t * gemm::plain(a)?.strides[0]) as u64 * (a.dtype.bits() / 8) as u64,
                None => 0,
            };
            let row = |width: i64| (t * z.batch * width * 4) as usize;
            let here = step
                .clone()
                .moved(DELTAS, MapPlace::Scratch(self.b.deltas + row(self.bias_gates * z.dhc)))
                .moved(OUTPUTS, MapPlace::Scratch(self.b.outputs + row(self.width)))
                .moved(Mark::KEPT, MapPlace::Arg(Arg::WORKSPACE, self.kept(s, t)))
                .moved(EARLIER, MapPlace::Arg(Arg::WORKSPACE, self.kept(s, before)))
                .moved(Mark::ATTENTION, MapPlace::Arg(Arg::SRC_3, attention))
                .moved(DIFF_ATTENTION, MapPlace::Arg(Arg::DIFF_SRC_3, diff_attention));
            all.launches.extend(here.launches);
        }
        self.first_states(all, s)?;
        self.parameters(all, s)?;
        self.inputs(all, s)
    }

    /// Declares the workspace rows of this step and of the one before, and the state and cell state before: from the workspace, or the initial ones.
    fn declare_kept(&self, emit: &mut Emitter, s: Stack, first: bool) -> Result<(), Skip> {
        let [state, cell, extra] = self.fields();
        emit.word("const float* kept_rows", Word::Address { arg: Mark::KEPT, buffer: 0 });
        emit.number("kept_row", self.row);
        for (name, value) in [("channels", self.z.dhc), ("state_field", state), ("cell_field", cell), ("extra_field", extra)] {
            emit.number(name, value);
        }
        emit.code(
            "DEVICE const float* kept(const Args& a, index n) { return a.kept_rows + (i64)n * a.kept_row; }\n\
             DEVICE real gate(const Args& a, index n, index g, index c) { return kept(a, n)[g * a.channels + c]; }\n",
        );
        self.declare_before(emit, s, first)
    }

    fn declare_before(&self, emit: &mut Emitter, s: Stack, first: bool) -> Result<(), Skip> {
        for (name, arg, given, field) in
            [("state", Arg::SRC_1, &self.op.src_iter, "state_field"), ("cell", Arg::SRC_2, &self.op.src_iter_c, "cell_field")]
        {
            let value = match given {
                _ if !first => format!("a.earlier_rows[(i64)n * a.kept_row + a.{field} + c]"),
                Some(t) => {
                    emit.view(&View::of(&format!("first_{name}"), arg, t))?;
                    emit.numbers(&format!("{name}_stack"), &[s.l, s.d]);
                    emit.code(&format!(
                        "DEVICE real given_{name}(const Args& a, index n, index c) {{\n    const index q[] = {{(index)a.{name}_stack[0], (index)a.{name}_stack[1], n, c}};\n    \
                         return first_{name}(a, q);\n}}\n"
                    ));
                    format!("given_{name}(a, n, c)")
                }
                None => "(real)0".into(),
            };
            if !first && name == "state" {
                emit.word("const float* earlier_rows", Word::Address { arg: EARLIER, buffer: 0 });
            }
            emit.code(&format!("DEVICE real {name}_before(const Args& a, index n, index c) {{ return {value}; }}\n"));
        }
        Ok(())
    }

    /// The gradients that come from outside of the layer.
    fn start(&self, all: &mut Program, s: Stack) -> Result<(), Skip> {
        let (z, op) = (&self.z, self.op);
        if s.l + 1 == z.layers {
            let outputs = plain(&[z.time, z.batch, self.width])?;
            let diff_dst = tensor(self.problem, Arg::DIFF_DST)?;
            let mut map = Map::over(Real::Single, &outputs.layout);
            map.emit.view(&View::scratch("outputs", self.b.outputs, &outputs))?;
            map.emit.view(&View::of("diff_dst", Arg::DIFF_DST, diff_dst))?;
            map.emit.number("first", if op.direction == RnnDirection::BidirectionalConcat { s.d * z.dic } else { 0 });
            map.emit.number("channels", z.dic);
            map.element.push_str(
                "    const index q[] = {p[0], p[1], p[2] + (index)a.first};\n    \
                 outputs_store(a, outputs_at(a, p), p[2] < a.channels ? diff_dst(a, q) : (real)0);\n",
            );
            all.launches.push(map.launch());
        }
        for (at, width, channels, arg) in [(self.b.h, self.state_width, z.dic, Arg::DIFF_DST_1), (self.b.c, z.dhc, z.dhc, Arg::DIFF_DST_2)]
        {
            let own = plain(&[z.batch, width])?;
            let mut map = Map::over(Real::Single, &own.layout);
            map.emit.view(&View::scratch("to", at, &own))?;
            let value = match self.problem.op.tensor(arg) {
                Some(t) => {
                    map.emit.view(&View::of("given", arg, t))?;
                    map.emit.numbers("stack", &[s.l, s.d]);
                    map.emit.number("channels", channels);
                    map.element.push_str("    const index q[] = {(index)a.stack[0], (index)a.stack[1], p[0], p[1]};\n");
                    "p[1] < a.channels ? given(a, q) : (real)0"
                }
                None => "(real)0",
            };
            map.element += &format!("    to_store(a, to_at(a, p), {value});\n");
            all.launches.push(map.launch());
        }
        Ok(())
    }

    /// Declares a layer's weights as a matrix (inputs, gates x channels).
    fn declare_weights(&self, emit: &mut Emitter, s: Stack, arg: Arg, t: &Tensor) -> Result<(), Skip> {
        emit.view(&View::of("weights", arg, t))?;
        emit.numbers("weights_stack", &[s.l, s.d]);
        emit.sizes("width", &[self.z.dhc]);
        emit.code(
            "DEVICE real weight(const Args& a, index k, index j) {\n    const index c = split(a.width[0], j);\n    \
             const index q[] = {(index)a.weights_stack[0], (index)a.weights_stack[1], k, j, c};\n    return weights(a, q);\n}\n",
        );
        Ok(())
    }

    /// The launches of a step, over the placeholders: from the gradients of the states after it to those of the states before it.
    fn step(&self, all: &mut Program, s: Stack, first: bool) -> Result<Program, Skip> {
        let (z, op) = (&self.z, self.op);
        let mut step = Program { scratch: all.scratch, ..Program::default() };
        let outputs = plain(&[z.batch, self.width])?;
        let h = plain(&[z.batch, self.state_width])?;
        let states = plain(&[z.batch, z.dic])?;
        let mut add = Map::over(Real::Single, &states.layout);
        add.emit.view(&View::of("outputs", OUTPUTS, &outputs))?;
        add.emit.view(&View::scratch("h", self.b.h, &h))?;
        add.element.push_str("    outputs_store(a, outputs_at(a, p), outputs(a, p) + h(a, p));\n");
        step.launches.push(add.launch());
        if let Some(projection) = &op.weights_projection {
            self.before_projection(&mut step, s, projection)?;
        }
        step.launches.push(self.cell(s, first)?);
        if self.problem.op.tensor(Arg::DIFF_SRC_3).is_some() {
            step.launches.push(self.attention(s, first)?);
        }
        if self.is_gru() {
            let way = Way { first: 2, gates: 1, to: self.b.extra, width: z.dhc.max(z.sic), adds: false };
            self.product_of_deltas(&mut step, s, &way)?;
            step.launches.push(self.reset(s, first)?);
        }
        let gates = if self.is_gru() { 2 } else { z.gates };
        let adds = !matches!(op.cell, RnnCell::Vanilla | RnnCell::Lstm);
        self.product_of_deltas(&mut step, s, &Way { first: 0, gates, to: self.b.h, width: self.state_width, adds })?;
        all.scratch = step.scratch;
        Ok(step)
    }

    /// The gradient of the state before the projection.
    fn before_projection(&self, step: &mut Program, s: Stack, projection: &Tensor) -> Result<(), Skip> {
        let z = &self.z;
        let (outputs, extra) = (plain(&[z.batch, self.width])?, plain(&[z.batch, z.dhc.max(z.sic)])?);
        let declare = |emit: &mut Emitter| {
            emit.define("RANK", 4);
            emit.view(&View::of("outputs", OUTPUTS, &outputs))?;
            emit.view(&View::of("weights", Arg::WEIGHTS_3, projection))?;
            emit.view(&View::scratch("extra", self.b.extra, &extra))?;
            emit.numbers("stack", &[s.l, s.d]);
            emit.code(
                "DEVICE factor left(const Args& a, index, index m, index k) { const index p[] = {m, k}; return outputs(a, p); }\n\
                 DEVICE factor right(const Args& a, index, index k, index n) {\n    const index p[] = {(index)a.stack[0], (index)a.stack[1], n, k};\n    return weights(a, p);\n}\n\
                 DEVICE void store(const Args& a, index, index m, index n, total sum) { const index p[] = {m, n}; extra_store(a, extra_at(a, p), sum); }\n",
            );
            Ok(())
        };
        by_k_and_n([z.batch, z.dhc, z.dic], &declare).append(step, self.target)
    }

    /// The product of deltas of all gates by f32 weights as a matrix product; `None` if no row applies.
    fn by_weights(
        &self,
        all: &mut Program,
        s: Stack,
        arg: Arg,
        [rows, columns, width]: [i64; 3],
        [from, to]: [MapPlace; 2],
    ) -> Option<Program> {
        let weights = if arg == Arg::WEIGHTS_1 { &self.op.weights_iter } else { &self.op.weights_layer };
        let (z, b) = (&self.z, gemm::plain(weights).ok()?);
        if weights.dtype != DataType::F32 || z.gates > 1 && b.strides[3] != z.dhc * b.strides[4] {
            return None;
        }
        let terms = z.gates * z.dhc;
        let deltas = matrix(DataType::F32, [rows, terms], [self.bias_gates * z.dhc, 1], 0).ok()?;
        let first = b.offset + s.l * b.strides[0] + s.d * b.strides[1];
        let weights = matrix(DataType::F32, [terms, columns], [b.strides[4], b.strides[2]], first).ok()?;
        let result = matrix(DataType::F32, [rows, columns], [width, 1], 0).ok()?;
        multiplied(all, self.rows, [deltas, weights, result], [from, MapPlace::Arg(arg, 0), to], self.target).ok()
    }

    /// A product of deltas by recurrent weights.
    fn product_of_deltas(&self, step: &mut Program, s: Stack, way: &Way) -> Result<(), Skip> {
        let Way { first, gates, to, width, adds } = *way;
        let z = &self.z;
        if first == 0 && !adds && !self.is_lbr() {
            let sizes = [z.batch, z.sic, width];
            if let Some(dense) = self.by_weights(step, s, Arg::WEIGHTS_1, sizes, [MapPlace::Arg(DELTAS, 0), MapPlace::Scratch(to)]) {
                step.launches.extend(dense.launches);
                return Ok(());
            }
        }
        let deltas = plain(&[z.batch, self.bias_gates * z.dhc])?;
        let result = plain(&[z.batch, width])?;
        let declare = |emit: &mut Emitter| {
            emit.define("RANK", 5);
            emit.view(&View::of("deltas", DELTAS, &deltas))?;
            emit.view(&View::scratch("result", to, &result))?;
            self.declare_weights(emit, s, Arg::WEIGHTS_1, &self.op.weights_iter)?;
            emit.number("first", first * z.dhc);
            emit.number("candidate", if self.is_lbr() { 2 * z.dhc } else { i64::MAX });
            emit.number("channels", z.dhc);
            let old = if adds { " + result_load(a, at)" } else { "" };
            // For linear-before-reset cells the candidate has a separate delta after the others.
            emit.code(&format!(
                "DEVICE factor left(const Args& a, index, index m, index k) {{\n    const index p[] = {{m, (index)(k + a.first + (k >= a.candidate ? a.channels : 0))}};\n    return deltas(a, p);\n}}\n\
                 DEVICE factor right(const Args& a, index, index k, index n) {{ return weight(a, n, (index)(k + a.first)); }}\n\
                 DEVICE void store(const Args& a, index, index m, index n, total sum) {{\n    const index p[] = {{m, n}};\n    const i64 at = result_at(a, p);\n    \
                 result_store(a, at, sum{old});\n}}\n"
            ));
            Ok(())
        };
        by_k_and_n([z.batch, z.sic, gates * z.dhc], &declare).append(step, self.target)
    }

    /// Declares what a step's element-wise kernels use.
    fn declare_step(&self, emit: &mut Emitter, s: Stack, first: bool) -> Result<(), Skip> {
        let (op, z) = (self.op, &self.z);
        let [outputs, deltas, h, c, extra] = [
            plain(&[z.batch, self.width])?,
            plain(&[z.batch, self.bias_gates, z.dhc])?,
            plain(&[z.batch, self.state_width])?,
            plain(&[z.batch, z.dhc])?,
            plain(&[z.batch, z.dhc.max(z.sic)])?,
        ];
        emit.view(&View::of("outputs", OUTPUTS, &outputs))?;
        emit.view(&View::of("deltas", DELTAS, &deltas))?;
        for (name, at, t) in [("h", self.b.h, &h), ("c", self.b.c, &c), ("extra", self.b.extra, &extra)] {
            emit.view(&View::scratch(name, at, t))?;
        }
        emit.code(
            "DEVICE void delta_store(const Args& a, index n, index g, index c, real v) { const index q[] = {n, g, c}; deltas_store(a, deltas_at(a, q), v); }\n",
        );
        self.declare_kept(emit, s, first)?;
        let attention = op.attention.as_ref().filter(|_| op.cell.is_augru());
        match attention {
            Some(t) => {
                let b = gemm::plain(t)?;
                let own = super::matrix(t.dtype, [z.batch, 1], [b.strides[1], 0], b.offset)?;
                emit.view(&View::of("attention", Mark::ATTENTION, &own))?;
                emit.code("DEVICE real attention_of(const Args& a, index n) { const index q[] = {n, 0}; return attention(a, q); }\n");
            }
            None => emit.code("DEVICE real attention_of(const Args&, index) { return 0; }\n"),
        }
        match &op.weights_peephole {
            Some(t) => {
                emit.view(&View::of("peephole", Arg::WEIGHTS_2, t))?;
                emit.numbers("peephole_stack", &[s.l, s.d]);
                emit.code(
                    "DEVICE real peephole_of(const Args& a, index g, index c) {\n    const index q[] = {(index)a.peephole_stack[0], (index)a.peephole_stack[1], g, c};\n    return peephole(a, q);\n}\n",
                );
            }
            None => emit.code("DEVICE real peephole_of(const Args&, index, index) { return 0; }\n"),
        }
        Ok(())
    }

    /// The deltas of a step, except for the reset gate of a GRU.
    fn cell(&self, s: Stack, first: bool) -> Result<crate::program::Launch, Skip> {
        let (op, z) = (self.op, &self.z);
        let cells = plain(&[z.batch, z.dhc])?;
        let mut map = Map::over(Real::Single, &cells.layout);
        self.declare_step(&mut map.emit, s, first)?;
        let linear = self.problem.attr.rnn.linear.as_ref();
        let bounded = linear.map(|l| f64::from(l.cell.get()));
        let given = if op.weights_projection.is_some() { "extra(a, p)" } else { "outputs(a, p)" };
        let body = match op.cell {
            RnnCell::Vanilla => {
                let alg = match op.activation {
                    RnnActivation::Relu => EltwiseAlg::Relu,
                    RnnActivation::Tanh => EltwiseAlg::Tanh,
                    RnnActivation::Logistic => EltwiseAlg::Logistic,
                };
                map.emit.formula("slope", 2, |x| eltwise::backward(alg, op.alpha.get(), 0.0, x[0], x[1]));
                match linear.and_then(|l| l.gates.first()) {
                    Some(f) => {
                        let f = literal(f64::from(f.get()));
                        format!("    delta_store(a, n, 0, c, d * ({f} * ({f} * gate(a, n, 0, c))));\n")
                    }
                    None => "    delta_store(a, n, 0, c, slope(d, gate(a, n, 0, c)));\n".into(),
                }
            }
            RnnCell::Lstm => {
                map.emit.formula("tangent_of", 1, |x| eltwise::forward(EltwiseAlg::Tanh, 0.0, 0.0, x[0]));
                let value = bounded.map_or("tangent_of(after)".into(), |f| format!("{} * after", literal(f)));
                format!(
                    "    const real input = gate(a, n, 0, c), forget = gate(a, n, 1, c), fresh = gate(a, n, 2, c), output = gate(a, n, 3, c);\n    \
                     const real before = cell_before(a, n, c), after = kept(a, n)[a.cell_field + c];\n    const real top = {value}, one = 1;\n    \
                     const real d_output = d * top * output * (one - output);\n    const i64 own = c_at(a, p);\n    \
                     const real d_cell = c_load(a, own) + d * output * (one - top * top) + d_output * peephole_of(a, 2, c);\n    \
                     const real d_input = d_cell * fresh * input * (one - input), d_forget = d_cell * before * forget * (one - forget);\n    \
                     delta_store(a, n, 0, c, d_input);\n    delta_store(a, n, 1, c, d_forget);\n    \
                     delta_store(a, n, 2, c, d_cell * input * (one - fresh * fresh));\n    delta_store(a, n, 3, c, d_output);\n    \
                     c_store(a, own, d_cell * forget + d_input * peephole_of(a, 0, c) + d_forget * peephole_of(a, 1, c));\n"
                )
            }
            _ => {
                let reset = if self.is_lbr() {
                    "    const real reset = gate(a, n, 1, c);\n    delta_store(a, n, 1, c, d_fresh * kept(a, n)[a.extra_field + c] * reset * (one - reset));\n    \
                     delta_store(a, n, 3, c, d_fresh * reset);\n"
                } else {
                    ""
                };
                format!(
                    "    const real update = gate(a, n, 0, c), fresh = gate(a, n, 2, c), one = 1, keep = one - attention_of(a, n);\n    \
                     const real effective = keep * update, d_effective = d * (state_before(a, n, c) - fresh);\n    \
                     const real d_fresh = d * (one - effective) * (one - fresh * fresh);\n    \
                     delta_store(a, n, 0, c, d_effective * keep * update * (one - update));\n    delta_store(a, n, 2, c, d_fresh);\n{reset}    \
                     h_store(a, h_at(a, p), d * effective);\n"
                )
            }
        };
        map.element = format!("    const index n = p[0], c = p[1];\n    const real d = {given};\n{body}");
        Ok(map.launch())
    }

    /// The gradient of a step's attention: a sum over channels.
    fn attention(&self, s: Stack, first: bool) -> Result<crate::program::Launch, Skip> {
        let z = &self.z;
        let t = tensor(self.problem, Arg::DIFF_SRC_3)?;
        let b = gemm::plain(t)?;
        let own = super::matrix(t.dtype, [z.batch, 1], [b.strides[1], 0], b.offset)?;
        let cells = plain(&[z.batch, z.dhc])?;
        let mut rows = Rows::over(Real::Single, &cells.layout, |d| d == 0);
        self.declare_step(&mut rows.emit, s, first)?;
        rows.emit.view(&View::of("diff_attention", DIFF_ATTENTION, &own))?;
        rows.emit.code(
            "DEVICE real attention_term(const Args& a, const index* p) {\n    const index n = p[0], c = p[1];\n    \
             return -outputs(a, p) * (state_before(a, n, c) - gate(a, n, 2, c)) * gate(a, n, 0, c);\n}\n",
        );
        rows.stages = vec![Stage::sum("attention_term(a, p)", "x")];
        rows.result = "    diff_attention_store(a, diff_attention_at(a, p), s[0]);\n".into();
        Ok(rows.launch())
    }

    /// The delta of a GRU's reset gate, and its contribution to the gradient of the state before.
    fn reset(&self, s: Stack, first: bool) -> Result<crate::program::Launch, Skip> {
        let cells = plain(&[self.z.batch, self.z.dhc])?;
        let mut map = Map::over(Real::Single, &cells.layout);
        self.declare_step(&mut map.emit, s, first)?;
        map.element.push_str(
            "    const index n = p[0], c = p[1];\n    const real reset = gate(a, n, 1, c), d = extra(a, p);\n    \
             delta_store(a, n, 1, c, d * state_before(a, n, c) * reset * ((real)1 - reset));\n    const i64 at = h_at(a, p);\n    \
             h_store(a, at, h_load(a, at) + d * reset);\n",
        );
        Ok(map.launch())
    }

    /// The gradients of the initial states.
    fn first_states(&self, all: &mut Program, s: Stack) -> Result<(), Skip> {
        let z = &self.z;
        for (at, width, channels, arg) in [(self.b.h, self.state_width, z.sic, Arg::DIFF_SRC_1), (self.b.c, z.dhc, z.dhc, Arg::DIFF_SRC_2)]
        {
            let Some(t) = self.problem.op.tensor(arg) else { continue };
            let (own, over) = (plain(&[z.batch, width])?, plain(&[z.batch, channels])?);
            let mut map = Map::over(Real::Single, &over.layout);
            map.emit.view(&View::scratch("from", at, &own))?;
            map.emit.view(&View::of("given", arg, t))?;
            map.emit.numbers("stack", &[s.l, s.d]);
            map.element.push_str(
                "    const index q[] = {(index)a.stack[0], (index)a.stack[1], p[0], p[1]};\n    given_store(a, given_at(a, q), from(a, p));\n",
            );
            all.launches.push(map.launch());
            self.clear(all, s, arg)?;
        }
        Ok(())
    }

    /// Zeroes the padding of a gradient after its last part.
    fn clear(&self, all: &mut Program, s: Stack, arg: Arg) -> Result<(), Skip> {
        if s.l == 0 && s.d + 1 == self.z.directions { zero::padding(all, arg, tensor(self.problem, arg)?) } else { Ok(()) }
    }

    /// Declares what sums over all steps read: `delta(a, i, gate, c)`, `here(a, i, field)`, `earlier_state(a, i, c)` and `earlier_cell(a, i, c)` of step and
    /// sample `i`.
    fn declare_all(&self, emit: &mut Emitter, s: Stack) -> Result<(), Skip> {
        let z = &self.z;
        let [state, cell, extra] = self.fields();
        emit.word("const float* deltas", Word::Scratch(self.b.deltas));
        emit.word("const float* kept_rows", Word::Offset { arg: Arg::WORKSPACE, bytes: self.kept(s, 0) });
        for (name, value) in [
            ("kept_row", self.row),
            ("channels", z.dhc),
            ("gates", self.bias_gates),
            ("state_field", state),
            ("cell_field", cell),
            ("extra_field", extra),
            ("batch", z.batch),
            ("samples", z.time * z.batch),
            ("earlier", if self.is_back(s.d) { z.batch } else { -z.batch }),
        ] {
            emit.number(name, value);
        }
        emit.sizes("by_sample", &[z.batch]);
        emit.sizes("by_channel", &[z.dhc]);
        self.declare_before(emit, s, true)?;
        emit.code(
            "DEVICE real delta(const Args& a, index i, index g, index c) { return a.deltas[((i64)i * a.gates + g) * a.channels + c]; }\n\
             DEVICE real here(const Args& a, index i, i64 field) { return a.kept_rows[(i64)i * a.kept_row + field]; }\n\
             DEVICE real earlier_state(const Args& a, index i, index c) {\n    const i64 e = i + a.earlier;\n    \
             if (e >= 0 && e < a.samples) return here(a, (index)e, a.state_field + c);\n    index t = i;\n    const index n = split(a.by_sample[0], t);\n    return state_before(a, n, c);\n}\n\
             DEVICE real earlier_cell(const Args& a, index i, index c) {\n    const i64 e = i + a.earlier;\n    \
             if (e >= 0 && e < a.samples) return here(a, (index)e, a.cell_field + c);\n    index t = i;\n    const index n = split(a.by_sample[0], t);\n    return cell_before(a, n, c);\n}\n",
        );
        Ok(())
    }

    /// Declares the gradient of a parameter as `diff`, and `give(a, p, v)`, which writes or accumulates an element.
    fn declare_gradient(&self, emit: &mut Emitter, s: Stack, arg: Arg) -> Result<(), Skip> {
        emit.view(&View::of("diff", arg, tensor(self.problem, arg)?))?;
        emit.numbers("stack", &[s.l, s.d]);
        let old = if self.op.diff_weights_overwrite { "" } else { " + diff_load(a, at)" };
        emit.code(&format!(
            "DEVICE void give(const Args& a, const index* p, real v) {{\n    const i64 at = diff_at(a, p);\n    diff_store(a, at, v{old});\n}}\n"
        ));
        Ok(())
    }

    /// The gradients of weights and bias.
    fn parameters(&self, all: &mut Program, s: Stack) -> Result<(), Skip> {
        let z = &self.z;
        let input = if s.l == 0 {
            "    index t = k;\n    const index n = split(a.by_sample[0], t), p[] = {t, n, m};\n    return src(a, p);\n"
        } else {
            "    return a.below[(i64)k * a.kept_row + a.state_field + m];\n"
        };
        self.gradient(all, s, Arg::DIFF_WEIGHTS, [z.slc, z.gates * z.dhc, 0], input)?;
        let state = "    return earlier_state(a, k, m);\n";
        if self.is_gru() {
            self.gradient(all, s, Arg::DIFF_WEIGHTS_1, [z.sic, 2 * z.dhc, 0], state)?;
            let reset = "    return earlier_state(a, k, m) * here(a, k, a.channels + m);\n";
            self.gradient(all, s, Arg::DIFF_WEIGHTS_1, [z.sic, z.dhc, 2 * z.dhc], reset)?;
        } else {
            self.gradient(all, s, Arg::DIFF_WEIGHTS_1, [z.sic, z.gates * z.dhc, 0], state)?;
        }
        if self.problem.op.tensor(Arg::DIFF_WEIGHTS_3).is_some() {
            self.projection(all, s)?;
        }
        for (arg, gates) in [(Arg::DIFF_BIAS, self.bias_gates), (Arg::DIFF_WEIGHTS_2, 3)] {
            if self.problem.op.tensor(arg).is_some() {
                self.by_channel(all, s, arg, gates)?;
            }
        }
        for arg in [Arg::DIFF_WEIGHTS, Arg::DIFF_WEIGHTS_1, Arg::DIFF_WEIGHTS_2, Arg::DIFF_WEIGHTS_3, Arg::DIFF_BIAS] {
            if self.problem.op.tensor(arg).is_some() {
                self.clear(all, s, arg)?;
            }
        }
        Ok(())
    }

    /// The same as a matrix product: the input is copied to dense rows, and the result from scratch to the gradient. False if no row applies.
    fn dense_gradient(&self, all: &mut Program, s: Stack, arg: Arg, [inputs, columns, first]: [i64; 3], left: &str) -> Result<bool, Skip> {
        let (z, rows) = (&self.z, self.z.time * self.z.batch);
        let (copy, sums) = (plain(&[rows, inputs])?, plain(&[inputs, columns])?);
        let mut made = Program { scratch: all.scratch, ..Program::default() };
        let at = made.book(copy.bytes())?;
        let to = made.book(sums.bytes())?;
        let mut map = Map::over(Real::Single, &copy.layout);
        map.emit.view(&View::scratch("copy", at, &copy))?;
        self.declare_all(&mut map.emit, s)?;
        self.declare_input(&mut map.emit, s)?;
        map.emit.code(&format!("DEVICE real left(const Args& a, index m, index k) {{\n{left}}}\n"));
        map.element.push_str("    copy_store(a, copy_at(a, p), left(a, p[1], p[0]));\n");
        made.launches.push(map.launch());
        let left = matrix(DataType::F32, [inputs, rows], [1, inputs], 0)?;
        let right = matrix(DataType::F32, [rows, columns], [self.bias_gates * z.dhc, 1], first)?;
        let places = [MapPlace::Scratch(at), MapPlace::Scratch(self.b.deltas), MapPlace::Scratch(to)];
        let Ok(product) = multiplied(&mut made, self.rows, [left, right, sums.clone()], places, self.target) else { return Ok(false) };
        made.launches.extend(product.launches);
        let mut map = Map::over(Real::Single, &sums.layout);
        map.emit.view(&View::scratch("sums", to, &sums))?;
        self.declare_gradient(&mut map.emit, s, arg)?;
        map.emit.number("first", first);
        map.emit.sizes("by_channel", &[z.dhc]);
        map.element.push_str(
            "    index g = (index)(p[1] + a.first);\n    const index c = split(a.by_channel[0], g);\n    \
             const index q[] = {(index)a.stack[0], (index)a.stack[1], p[0], g, c};\n    give(a, q, sums(a, p));\n",
        );
        made.launches.push(map.launch());
        all.scratch = made.scratch;
        all.launches.extend(made.launches);
        Ok(true)
    }

    /// Declares the layer's input: the source, or the states of the layer below.
    fn declare_input(&self, emit: &mut Emitter, s: Stack) -> Result<(), Skip> {
        emit.view(&View::of("src", Arg::SRC, &self.op.src_layer))?;
        let below = Stack { l: (s.l - 1).max(0), ..s };
        emit.word("const float* below", Word::Offset { arg: Arg::WORKSPACE, bytes: self.kept(below, 0) });
        Ok(())
    }

    /// The gradient of `inputs` rows of weights in `columns` columns from `first` on: sums over steps and samples of `left` by a delta.
    fn gradient(&self, all: &mut Program, s: Stack, arg: Arg, [inputs, columns, first]: [i64; 3], left: &str) -> Result<(), Skip> {
        let z = &self.z;
        let recurrent = arg == Arg::DIFF_WEIGHTS_1;
        if !(recurrent && self.is_lbr()) && self.dense_gradient(all, s, arg, [inputs, columns, first], left)? {
            return Ok(());
        }
        let declare = |emit: &mut Emitter| {
            emit.define("RANK", 5);
            self.declare_all(emit, s)?;
            self.declare_gradient(emit, s, arg)?;
            self.declare_input(emit, s)?;
            emit.number("first", first);
            let own = if recurrent && self.is_lbr() { "g == 2 ? 3 : g" } else { "g" };
            emit.code(&format!(
                "DEVICE factor left(const Args& a, index, index m, index k) {{\n{left}}}\n\
                 DEVICE factor right(const Args& a, index, index k, index n) {{\n    index g = (index)(n + a.first);\n    const index c = split(a.by_channel[0], g);\n    return delta(a, k, {own}, c);\n}}\n\
                 DEVICE void store(const Args& a, index, index m, index n, total sum) {{\n    index g = (index)(n + a.first);\n    const index c = split(a.by_channel[0], g);\n    \
                 const index p[] = {{(index)a.stack[0], (index)a.stack[1], m, g, c}};\n    give(a, p, sum);\n}}\n"
            ));
            Ok(())
        };
        let mut product = by_k_and_n([inputs, columns, z.time * z.batch], &declare);
        product.left_k_first = false;
        product.append(all, self.target)
    }

    fn projection(&self, all: &mut Program, s: Stack) -> Result<(), Skip> {
        let z = &self.z;
        let outputs = plain(&[z.time * z.batch, self.width])?;
        let declare = |emit: &mut Emitter| {
            emit.define("RANK", 4);
            self.declare_all(emit, s)?;
            self.declare_gradient(emit, s, Arg::DIFF_WEIGHTS_3)?;
            emit.view(&View::scratch("outputs", self.b.outputs, &outputs))?;
            emit.code(
                "DEVICE factor left(const Args& a, index, index m, index k) { return here(a, k, a.extra_field + m); }\n\
                 DEVICE factor right(const Args& a, index, index k, index n) { const index p[] = {k, n}; return outputs(a, p); }\n\
                 DEVICE void store(const Args& a, index, index m, index n, total sum) {\n    const index p[] = {(index)a.stack[0], (index)a.stack[1], m, n};\n    give(a, p, sum);\n}\n",
            );
            Ok(())
        };
        let mut product = by_k_and_n([z.dhc, z.dic, z.time * z.batch], &declare);
        product.left_k_first = false;
        product.append(all, self.target)
    }

    /// The gradients of bias or peephole weights: sums over steps and samples per gate and channel.
    fn by_channel(&self, all: &mut Program, s: Stack, arg: Arg, gates: i64) -> Result<(), Skip> {
        let z = &self.z;
        let over = plain(&[z.time * z.batch, gates, z.dhc])?;
        let mut rows = Rows::over(Real::Single, &over.layout, |d| d != 0);
        self.declare_all(&mut rows.emit, s)?;
        self.declare_gradient(&mut rows.emit, s, arg)?;
        let term = if arg == Arg::DIFF_BIAS {
            "return delta(a, p[0], p[1], p[2]);"
        } else {
            "const index g = p[1] == 2 ? 3 : p[1];\n    \
             return delta(a, p[0], g, p[2]) * (g == 3 ? here(a, p[0], a.cell_field + p[2]) : earlier_cell(a, p[0], p[2]));"
        };
        rows.emit.code(&format!("DEVICE real gradient_term(const Args& a, const index* p) {{\n    {term}\n}}\n"));
        rows.stages = vec![Stage::sum("gradient_term(a, p)", "x")];
        rows.result = "    const index q[] = {(index)a.stack[0], (index)a.stack[1], p[1], p[2]};\n    give(a, q, s[0]);\n".into();
        all.launches.push(rows.launch());
        Ok(())
    }

    /// The gradient of the layer's input: to the layer below, or to the source, where the directions are added.
    fn inputs(&self, all: &mut Program, s: Stack) -> Result<(), Skip> {
        let z = &self.z;
        let (at, width) = if s.l == 0 { (self.b.input, z.slc) } else { (self.b.outputs, self.width) };
        if s.l > 0 || s.d == 0 {
            let (sizes, places) = ([z.time * z.batch, z.slc, width], [MapPlace::Scratch(self.b.deltas), MapPlace::Scratch(at)]);
            if let Some(dense) = self.by_weights(all, s, Arg::WEIGHTS, sizes, places) {
                all.launches.extend(dense.launches);
                return Ok(());
            }
        }
        let result = plain(&[z.time * z.batch, width])?;
        let deltas = plain(&[z.time * z.batch, self.bias_gates * z.dhc])?;
        let declare = |emit: &mut Emitter| {
            emit.define("RANK", 5);
            emit.view(&View::scratch("deltas", self.b.deltas, &deltas))?;
            emit.view(&View::scratch("result", at, &result))?;
            self.declare_weights(emit, s, Arg::WEIGHTS, &self.op.weights_layer)?;
            let old = if s.l == 0 && s.d > 0 { " + result_load(a, at)" } else { "" };
            emit.code(&format!(
                "DEVICE factor left(const Args& a, index, index m, index k) {{ const index p[] = {{m, k}}; return deltas(a, p); }}\n\
                 DEVICE factor right(const Args& a, index, index k, index n) {{ return weight(a, n, k); }}\n\
                 DEVICE void store(const Args& a, index, index m, index n, total sum) {{\n    const index p[] = {{m, n}};\n    const i64 at = result_at(a, p);\n    \
                 result_store(a, at, sum{old});\n}}\n"
            ));
            Ok(())
        };
        by_k_and_n([z.time * z.batch, z.slc, z.gates * z.dhc], &declare).append(all, self.target)
    }

    /// The gradient of the source.
    fn source(&self, all: &mut Program) -> Result<(), Skip> {
        let z = &self.z;
        let (own, diff) = (plain(&[z.time, z.batch, z.slc])?, tensor(self.problem, Arg::DIFF_SRC)?);
        let mut map = Map::over(Real::Single, &diff.layout);
        map.written(&View::of("diff", Arg::DIFF_SRC, diff))?;
        map.emit.view(&View::scratch("from", self.b.input, &own))?;
        map.element.push_str("    diff_store(a, diff_at(a, p), from(a, p));\n");
        all.launches.push(map.launch());
        Ok(())
    }
}

//! Recurrent networks forward. Per layer and direction: one product for the inputs of all time steps, then per time step a product of the state and an
//! element-wise launch for the cell, or one launch for both, or for all steps (`step`).
//!
//! The launches of a step are planned once per layer and direction, with placeholder arguments for what changes from step to step ([`Mark`]), and relocated for each
//! step.
//!
//! States have the source's data type. 8-bit states are quantised, `scale * x + shift`: sums are over the states minus the shift times the quantised weights, and
//! are dequantised where a gate reads them.

mod backward;
mod step;

use super::map::Map;
use super::products::{Products, Sizes, Sum};
use super::reductions::aligned;
use super::{gemm, matmul};
use crate::CudaTarget;
use crate::emit::{Emitter, Real, View, literal};
use crate::program::{MapPlace, OVERFLOW, Program, Word};
use crate::row::Lower;
use oxidnn_expr::eltwise;
use oxidnn_runtime::Skip;
use oxidnn_spec::op::{EltwiseAlg, Matmul, Rnn, RnnActivation, RnnCell, RnnDirection, RnnSizes};
use oxidnn_spec::{Arg, Attr, DataType, Op, Problem, Prop, RnnQuant, Tensor};

/// Placeholders for a step's input sums, its state before and after, its rows of the workspace, and of the attention.
struct Mark;

impl Mark {
    const GATES: Arg = Arg(30_001);
    const BEFORE: Arg = Arg(30_002);
    const AFTER: Arg = Arg(30_003);
    const KEPT: Arg = Arg(30_004);
    const ATTENTION: Arg = Arg(30_005);
}

/// Layers by directions of a network at most, whose products are planned one by one, and their steps, whose launches are listed.
const STACKS: i64 = 256;
const STEPS: i64 = 1 << 15;

/// Scales that one launch copies from its parameters to scratch.
const NUMBERS: usize = 128;

/// Scales of weights: one for all columns, or one per column in scratch.
#[derive(Clone, Copy)]
enum Scales {
    One(f64),
    Each(usize),
}

/// A matrix within the weights that are passed as `arg`.
struct Weights {
    arg: Arg,
    matrix: Tensor,
}

/// A forward pass.
struct Net<'a> {
    op: &'a Rnn,
    z: RnnSizes,
    /// The data type of states; their scale and shift.
    state: DataType,
    code: [f64; 2],
    quant: &'a RnnQuant,
    /// The rows for products, in the order of preference.
    rows: &'a [Lower],
    target: &'a CudaTarget,
}

/// A layer in one direction.
#[derive(Clone, Copy, Debug)]
struct Stack {
    l: i64,
    d: i64,
}

/// Offsets of the buffers in scratch.
struct Buffers {
    gates: usize,
    recurrent: usize,
    candidate: usize,
    reset: usize,
    cell: usize,
    first: usize,
    /// Counters for the synchronisation of CTAs between steps.
    counters: usize,
    /// Scales of the weights, and of the projection weights.
    scales: [Scales; 2],
    /// The states of all steps and directions, of a layer and of the one below.
    sequences: [usize; 2],
}

/// All passes.
pub(crate) fn lower(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    let Op::Rnn(op) = &problem.op else { return Err(Skip::Op("anything but recurrent networks")) };
    let z = op.sizes().ok_or(OVERFLOW)?;
    if [z.layers, z.directions, z.time, z.batch, z.dhc, z.dic].contains(&0) {
        return Ok(Program::default());
    }
    let stacks = z.layers.saturating_mul(z.directions);
    if stacks > STACKS || stacks.saturating_mul(z.time) > STEPS {
        return Err(Skip::Shape("more steps than a list of launches has"));
    }
    if op.prop == Prop::Backward {
        return backward::lower(problem, target);
    }
    let (state, quant) = (op.src_layer.dtype, &problem.attr.rnn);
    let is_code = state.is_x8();
    let code = quant.data.filter(|_| is_code).map_or([1.0, 0.0], |(scale, shift)| [f64::from(scale.get()), f64::from(shift.get())]);
    let alike = [op.weights_layer.dtype, op.weights_iter.dtype].iter().all(|&t| t == state);
    let fast: &[Lower] = if alike && !is_code && z.slc > 0 && z.sic > 0 {
        &[gemm::matmul_rows, gemm::matmul, gemm::matmul_mma, gemm::simt::matmul, matmul::matmul]
    } else {
        &[]
    };
    aligned(|vectors| {
        let rows = if vectors { fast } else { &fast[fast.len().saturating_sub(1)..] };
        Net { op, z, state, code, quant, rows, target }.program()
    })
}

/// A matrix with these strides and offset.
fn matrix(dtype: DataType, dims: [i64; 2], strides: [i64; 2], offset: i64) -> Result<Tensor, Skip> {
    let mut t = Tensor::plain(dims, dtype).map_err(|_| OVERFLOW)?;
    let b = t.layout.blocking_mut().ok_or(OVERFLOW)?;
    (b.strides, b.offset) = (strides.into(), offset);
    Ok(t)
}

/// The launches of a product by the first row that applies, with source, weights and destination at these places.
fn multiplied(
    all: &mut Program,
    rows: &[Lower],
    [src, weights, dst]: [Tensor; 3],
    [from, by, to]: [MapPlace; 3],
    target: &CudaTarget,
) -> Result<Program, Skip> {
    let problem = Problem::new(Matmul { src, weights, bias: None, dst }, Attr::default()).map_err(|_| OVERFLOW)?;
    let mut last = OVERFLOW;
    for row in rows {
        match row(&problem, target) {
            Ok(program) => {
                let program = program.shifted(all.scratch);
                all.scratch = program.scratch;
                return Ok(program.moved(Arg::DST, to).moved(Arg::WEIGHTS, by).moved(Arg::SRC, from));
            }
            Err(why) => last = why,
        }
    }
    Err(last)
}

/// A generic product in f32 with `left` contiguous along K and `right` along N.
fn by_k_and_n([m, n, k]: [i64; 3], declare: &dyn Fn(&mut Emitter) -> Result<(), Skip>) -> Products<'_> {
    let sizes = Sizes { batches: 1, m, n, k };
    Products { real: Real::Single, sum: Sum::Single, sizes, left_k_first: true, right_n_first: true, z_first: false, declare }
}

fn bytes(dtype: DataType, elements: i64) -> Result<usize, Skip> {
    usize::try_from(elements).ok().and_then(|n| n.checked_mul(dtype.bits() / 8)).ok_or(OVERFLOW)
}

impl Net<'_> {
    /// The type that states are computed in: double for quantised states, where saturated activations and integer sums give exact ties.
    fn real(&self) -> Real {
        if self.state.is_x8() { Real::Double } else { Real::Single }
    }

    fn is_lbr(&self) -> bool {
        matches!(self.op.cell, RnnCell::LbrGru | RnnCell::LbrAugru)
    }

    fn is_gru(&self) -> bool {
        matches!(self.op.cell, RnnCell::Gru | RnnCell::Augru)
    }

    fn book(&self, program: &mut Program, dtype: DataType, elements: i64) -> Result<usize, Skip> {
        program.book(bytes(dtype, elements)?)
    }

    fn program(&self) -> Result<Program, Skip> {
        let z = &self.z;
        let mut all = Program::default();
        let sequence = z.directions * z.time * z.batch * z.dic;
        let b = Buffers {
            gates: self.book(&mut all, DataType::F32, z.time * z.batch * z.gates * z.dhc)?,
            recurrent: self.book(&mut all, DataType::F32, z.batch * (z.gates * z.dhc).max(z.dic))?,
            candidate: self.book(&mut all, DataType::F32, z.batch * z.dhc)?,
            reset: self.book(&mut all, self.state, z.batch * z.dhc)?,
            cell: self.book(&mut all, DataType::F32, z.batch * z.dhc)?,
            first: self.book(&mut all, self.state, z.batch * z.sic)?,
            counters: self.book(&mut all, DataType::S32, z.batch)?,
            sequences: [self.book(&mut all, self.state, sequence)?, self.book(&mut all, self.state, sequence)?],
            scales: [self.scales(&mut all, &self.quant.weights)?, self.scales(&mut all, &self.quant.projection)?],
        };
        let input = self.input(&mut all)?;
        for l in 0..z.layers {
            for d in 0..z.directions {
                self.layer(&mut all, &b, Stack { l, d }, input)?;
            }
        }
        self.result(&mut all, &b)?;
        Ok(all)
    }

    /// The scales of weights; several are copied to scratch.
    fn scales(&self, all: &mut Program, given: &Option<(u32, Vec<oxidnn_spec::Real>)>) -> Result<Scales, Skip> {
        let many = match given {
            Some((_, scales)) if self.state.is_x8() => scales,
            _ => return Ok(Scales::One(1.0)),
        };
        if let [] | [_] = many[..] {
            return Ok(Scales::One(many.first().map_or(1.0, |s| f64::from(s.get()))));
        }
        let at = self.book(all, DataType::F32, many.len() as i64)?;
        for (part, numbers) in many.chunks(NUMBERS).enumerate() {
            let own = Tensor::plain([numbers.len() as i64], DataType::F32).map_err(|_| OVERFLOW)?;
            let mut map = Map::over(Real::Single, &own.layout);
            map.emit.view(&View::scratch("to", at + part * NUMBERS * 4, &own))?;
            let mut padded = [0.0; NUMBERS];
            padded.iter_mut().zip(numbers).for_each(|(to, s)| *to = f64::from(s.get()));
            map.emit.real_numbers("given", &padded);
            map.element.push_str("    to_store(a, to_at(a, p), (real)a.given[p[0]]);\n");
            all.launches.push(map.launch());
        }
        Ok(Scales::Each(at))
    }

    /// Declares `code_of(a, x)` (quantise a state), `real_of(a, q)` (dequantise it) and `scaled(a, column, sum)` (dequantise a sum).
    fn declare_codes(&self, emit: &mut Emitter, scales: Scales) {
        if !self.state.is_x8() {
            return emit.code(
                "DEVICE real code_of(const Args&, real x) { return x; }\nDEVICE real real_of(const Args&, real q) { return q; }\n\
                 DEVICE real scaled(const Args&, index, real sum) { return sum; }\n",
            );
        }
        emit.real_number("code_scale", self.code[0]);
        emit.real_number("code_shift", self.code[1]);
        let scale = match scales {
            Scales::One(scale) => {
                emit.real_number("weights_scale", scale);
                "(real)a.weights_scale"
            }
            Scales::Each(at) => {
                emit.word("const float* weights_scale", Word::Scratch(at));
                "a.weights_scale[column]"
            }
        };
        emit.code(&format!(
            "DEVICE real code_of(const Args& a, real x) {{ return x * (real)a.code_scale + (real)a.code_shift; }}\n\
             DEVICE real real_of(const Args& a, real q) {{ return (q - (real)a.code_shift) / (real)a.code_scale; }}\n\
             DEVICE real scaled(const Args& a, index column, real sum) {{ return sum / ((real)a.code_scale * {scale}); }}\n"
        ));
    }

    /// Where the source is dense: the argument itself, or a copy in scratch.
    fn input(&self, all: &mut Program) -> Result<MapPlace, Skip> {
        let src = &self.op.src_layer;
        let plain = Tensor::plain(*src.dims(), src.dtype).map_err(|_| OVERFLOW)?;
        if plain.layout == src.layout {
            return Ok(MapPlace::Arg(Arg::SRC, 0));
        }
        let at = all.book(plain.bytes())?;
        let mut map = Map::over(Real::Single, &plain.layout);
        map.written(&View::scratch("to", at, &plain))?;
        map.emit.view(&View::of("src", Arg::SRC, src))?;
        map.element.push_str("    store_code<to_type>(a.to_data, to_at(a, p), src_code(a, src_at(a, p)));\n");
        all.launches.push(map.launch());
        Ok(MapPlace::Scratch(at))
    }

    /// The offset in scratch of the state of a layer and direction at time `t`.
    fn state_at(&self, b: &Buffers, s: Stack, t: i64) -> Result<usize, Skip> {
        let z = &self.z;
        Ok(b.sequences[(s.l % 2) as usize] + bytes(self.state, ((s.d * z.time + t) * z.batch) * z.dic)?)
    }

    /// The time index of a step.
    fn time(&self, d: i64, step: i64) -> i64 {
        let back = d == 1 || self.op.direction == RnnDirection::Right2Left;
        if back { self.z.time - 1 - step } else { step }
    }

    /// The weights of `gates` gates from the first on as a matrix (inputs, gates x channels).
    fn weights(&self, t: &Tensor, s: Stack, [first, gates]: [i64; 2]) -> Result<Tensor, Skip> {
        let b = gemm::plain(t)?;
        let (dims, st) = (t.dims(), &b.strides);
        if gates > 1 && st[3] != dims[4] * st[4] {
            return Err(Skip::Layout("gates of weights that are not evenly spaced".into()));
        }
        matrix(t.dtype, [dims[2], gates * dims[4]], [st[2], st[4]], b.offset + s.l * st[0] + s.d * st[1] + first * st[3])
    }

    /// The launches of a product of `from` by weights to the scratch at `to`.
    fn product(&self, all: &mut Program, [rows, k]: [i64; 2], from: MapPlace, weights: Weights, to: usize) -> Result<Program, Skip> {
        let Weights { arg, matrix: weights } = weights;
        let columns = weights.dims()[1];
        let (src, dst) = (matrix(self.state, [rows, k], [k, 1], 0)?, matrix(DataType::F32, [rows, columns], [columns, 1], 0)?);
        if self.rows.is_empty() {
            return self.sums(all, from, Weights { arg, matrix: weights }, [src, dst], to);
        }
        multiplied(all, self.rows, [src, weights, dst], [from, MapPlace::Arg(arg, 0), MapPlace::Scratch(to)], self.target)
    }

    /// The same by the generic products, for any types; the shift of quantised states is subtracted.
    fn sums(&self, all: &mut Program, from: MapPlace, weights: Weights, [src, dst]: [Tensor; 2], to: usize) -> Result<Program, Skip> {
        let declare = |emit: &mut Emitter| {
            emit.define("RANK", 2);
            emit.view(&View::of("src", Arg::SRC, &src))?;
            emit.view(&View::of("weights", weights.arg, &weights.matrix))?;
            emit.view(&View::scratch("to", to, &dst))?;
            emit.real_number("shift", self.code[1]);
            emit.code(
                "DEVICE factor left(const Args& a, index, index m, index k) { const index p[] = {m, k}; return src(a, p) - (real)a.shift; }\n\
                 DEVICE factor right(const Args& a, index, index k, index n) { const index p[] = {k, n}; return weights(a, p); }\n\
                 DEVICE void store(const Args& a, index, index m, index n, total sum) { const index p[] = {m, n}; to_store(a, to_at(a, p), sum); }\n",
            );
            Ok(())
        };
        let [m, n, k] = [dst.dims()[0], dst.dims()[1], src.dims()[1]];
        let mut program = Program { scratch: all.scratch, ..Program::default() };
        by_k_and_n([m, n, k], &declare).append(&mut program, self.target)?;
        all.scratch = program.scratch;
        Ok(program.moved(Arg::SRC, from))
    }

    /// All steps of a layer in one direction.
    fn layer(&self, all: &mut Program, b: &Buffers, s: Stack, input: MapPlace) -> Result<(), Skip> {
        let (op, z) = (self.op, &self.z);
        let from = if s.l == 0 { input } else { MapPlace::Scratch(self.state_at(b, Stack { l: s.l - 1, ..s }, 0)?) };
        let weights = Weights { arg: Arg::WEIGHTS, matrix: self.weights(&op.weights_layer, s, [0, z.gates])? };
        let inputs = self.product(all, [z.time * z.batch, z.slc], from, weights, b.gates)?;
        all.launches.extend(inputs.launches);
        self.first_states(all, b, s)?;
        let step = self.step(all, b, s)?;
        let row = op.workspace_row().unwrap_or(0) * 4 * z.batch;
        let at = |i: i64| -> Result<Program, Skip> {
            let t = self.time(s.d, i);
            let before = if i == 0 { b.first } else { self.state_at(b, s, self.time(s.d, i - 1))? };
            let attention = match &op.attention {
                Some(a) => bytes(a.dtype, t * gemm::plain(a)?.strides[0])? as u64,
                None => 0,
            };
            let kept = ((s.l * z.directions + s.d) * z.time + t) * row;
            Ok(step
                .clone()
                .moved(Mark::GATES, MapPlace::Scratch(b.gates + bytes(DataType::F32, t * z.batch * z.gates * z.dhc)?))
                .moved(Mark::BEFORE, MapPlace::Scratch(before))
                .moved(Mark::AFTER, MapPlace::Scratch(self.state_at(b, s, t)?))
                .moved(Mark::ATTENTION, MapPlace::Arg(Arg::SRC_3, attention))
                .moved(Mark::KEPT, MapPlace::Arg(Arg::WORKSPACE, kept as u64)))
        };
        let in_one = if z.time < 3 { None } else { step::in_one([&at(0)?, &at(1)?, &at(2)?], z.time, &self.target.facts) };
        if let Some(launch) = in_one {
            self.count_from_zero(all, b)?;
            all.launches.push(launch);
        } else {
            for i in 0..z.time {
                all.launches.extend(at(i)?.launches);
            }
        }
        self.last_states(all, b, s)
    }

    /// Zeroes the counters.
    fn count_from_zero(&self, all: &mut Program, b: &Buffers) -> Result<(), Skip> {
        let counters = Tensor::plain([self.z.batch], DataType::S32).map_err(|_| OVERFLOW)?;
        let mut map = Map::over(Real::Single, &counters.layout);
        map.written(&View::scratch("to", b.counters, &counters))?;
        map.element.push_str("    to_store(a, to_at(a, p), (real)0);\n");
        all.launches.push(map.launch());
        Ok(())
    }

    /// The initial states.
    fn first_states(&self, all: &mut Program, b: &Buffers, s: Stack) -> Result<(), Skip> {
        let z = &self.z;
        for (at, dtype, channels, given, arg) in
            [(b.first, self.state, z.sic, &self.op.src_iter, Arg::SRC_1), (b.cell, DataType::F32, z.dhc, &self.op.src_iter_c, Arg::SRC_2)]
        {
            let own = Tensor::plain([z.batch, channels], dtype).map_err(|_| OVERFLOW)?;
            let mut map = Map::over(Real::Single, &own.layout);
            map.written(&View::scratch("to", at, &own))?;
            self.declare_codes(&mut map.emit, b.scales[0]);
            let is_state = arg == Arg::SRC_1;
            let value = match given {
                Some(t) => {
                    map.emit.view(&View::of("given", arg, t))?;
                    map.emit.numbers("stack", &[s.l, s.d]);
                    map.element.push_str("    const index q[] = {(index)a.stack[0], (index)a.stack[1], p[0], p[1]};\n");
                    if is_state && t.dtype != self.state { "code_of(a, given(a, q))" } else { "given(a, q)" }
                }
                None if is_state => "code_of(a, 0)",
                None => "(real)0",
            };
            map.element += &format!("    to_store(a, to_at(a, p), {value});\n");
            all.launches.push(map.launch());
        }
        Ok(())
    }

    /// Stores the final states, if requested.
    fn last_states(&self, all: &mut Program, b: &Buffers, s: Stack) -> Result<(), Skip> {
        let z = &self.z;
        let last = self.state_at(b, s, self.time(s.d, z.time - 1))?;
        for (at, dtype, channels, wanted, arg) in
            [(last, self.state, z.dic, &self.op.dst_iter, Arg::DST_1), (b.cell, DataType::F32, z.dhc, &self.op.dst_iter_c, Arg::DST_2)]
        {
            let Some(t) = wanted else { continue };
            let own = Tensor::plain([z.batch, channels], dtype).map_err(|_| OVERFLOW)?;
            let mut map = Map::over(Real::Single, &own.layout);
            map.emit.view(&View::scratch("from", at, &own))?;
            map.emit.view(&View::of("given", arg, t))?;
            map.emit.numbers("stack", &[s.l, s.d]);
            self.declare_codes(&mut map.emit, b.scales[0]);
            let value = if arg == Arg::DST_1 && !t.dtype.is_x8() { "real_of(a, from(a, p))" } else { "from(a, p)" };
            map.element = format!(
                "    const index q[] = {{(index)a.stack[0], (index)a.stack[1], p[0], p[1]}};\n    given_store(a, given_at(a, q), {value});\n"
            );
            all.launches.push(map.launch());
            if s.l + 1 == z.layers && s.d + 1 == z.directions {
                super::zero::padding(all, arg, t)?;
            }
        }
        Ok(())
    }

    /// Stores the last layer's states to the destination.
    fn result(&self, all: &mut Program, b: &Buffers) -> Result<(), Skip> {
        let (z, dst) = (&self.z, &self.op.dst_layer);
        let own = Tensor::plain([z.directions, z.time, z.batch, z.dic], self.state).map_err(|_| OVERFLOW)?;
        let at = b.sequences[((z.layers - 1) % 2) as usize];
        let mut map = Map::over(Real::Single, &dst.layout);
        map.written(&View::of("dst", Arg::DST, dst))?;
        map.emit.view(&View::scratch("from", at, &own))?;
        map.emit.sizes("width", &[z.dic]);
        self.declare_codes(&mut map.emit, b.scales[0]);
        let sum = if self.op.direction == RnnDirection::BidirectionalSum {
            "    const index q[] = {0, p[0], p[1], p[2]}, r[] = {1, p[0], p[1], p[2]};\n    const real v = real_of(a, from(a, q)) + real_of(a, from(a, r));\n"
        } else {
            "    index d = p[2];\n    const index c = split(a.width[0], d), q[] = {d, p[0], p[1], c};\n    const real v = real_of(a, from(a, q));\n"
        };
        let value = if dst.dtype.is_x8() { "code_of(a, v)" } else { "v" };
        map.element = format!("{sum}    dst_store(a, dst_at(a, p), {value});\n");
        all.launches.push(map.launch());
        Ok(())
    }

    /// The launches of a step, over the placeholders.
    fn step(&self, all: &mut Program, b: &Buffers, s: Stack) -> Result<Program, Skip> {
        let (op, z) = (self.op, &self.z);
        let before = MapPlace::Arg(Mark::BEFORE, 0);
        let recurrent = |gates| self.weights(&op.weights_iter, s, gates).map(|matrix| Weights { arg: Arg::WEIGHTS_1, matrix });
        let shape = [z.batch, z.sic];
        let mut program = Program::default();
        if self.is_gru() {
            program.launches.extend(self.product(all, shape, before, recurrent([0, 2])?, b.recurrent)?.launches);
            program.launches.push(self.pointwise(b, s, &self.reset_code(), 2)?);
            let reset = MapPlace::Scratch(b.reset);
            let product = self.product(all, [z.batch, z.dhc], reset, recurrent([2, 1])?, b.candidate)?;
            program.launches.extend(product.launches);
            program.launches.push(self.pointwise(b, s, &self.cell_code(), 2)?);
        } else if let Some(launch) = step::fused(self, b, s, &self.cell_code())? {
            program.launches.push(launch);
        } else {
            program.launches.extend(self.product(all, shape, before, recurrent([0, z.gates])?, b.recurrent)?.launches);
            program.launches.push(self.pointwise(b, s, &self.cell_code(), z.gates)?);
        }
        if let Some(p) = &op.weights_projection {
            let bl = gemm::plain(p)?;
            let offset = bl.offset + s.l * bl.strides[0] + s.d * bl.strides[1];
            let weights = matrix(p.dtype, [z.dhc, z.dic], [bl.strides[2], bl.strides[3]], offset)?;
            let product = self.product(
                all,
                [z.batch, z.dhc],
                MapPlace::Scratch(b.reset),
                Weights { arg: Arg::WEIGHTS_3, matrix: weights },
                b.recurrent,
            )?;
            program.launches.extend(product.launches);
            program.launches.push(self.projected(b)?);
        }
        Ok(program)
    }

    /// The state from the sums of the projection.
    fn projected(&self, b: &Buffers) -> Result<crate::program::Launch, Skip> {
        let z = &self.z;
        let sums = Tensor::plain([z.batch, z.dic], DataType::F32).map_err(|_| OVERFLOW)?;
        let after = Tensor::plain([z.batch, z.dic], self.state).map_err(|_| OVERFLOW)?;
        let mut map = Map::over(self.real(), &after.layout);
        map.written(&View::of("after", Mark::AFTER, &after))?;
        map.emit.view(&View::scratch("sums", b.recurrent, &sums))?;
        self.declare_codes(&mut map.emit, b.scales[1]);
        map.element.push_str("    after_store(a, after_at(a, p), code_of(a, scaled(a, p[1], sums(a, p))));\n");
        if self.op.workspace.is_some() {
            self.keeper(&mut map.emit);
            map.element += &format!("    kept(a, p[0])[{} + p[1]] = after(a, p);\n", z.gates * z.dhc);
        }
        Ok(map.launch())
    }

    /// Declares the workspace rows.
    fn keeper(&self, emit: &mut Emitter) {
        emit.word("float* workspace", Word::Address { arg: Mark::KEPT, buffer: 0 });
        emit.number("workspace_row", self.op.workspace_row().unwrap_or(0));
        emit.code("DEVICE float* kept(const Args& a, index n) { return a.workspace + (i64)n * a.workspace_row; }\n");
    }

    /// An element-wise launch over samples and channels of a cell.
    fn pointwise(&self, b: &Buffers, s: Stack, code: &str, recurrent: i64) -> Result<crate::program::Launch, Skip> {
        let cells = Tensor::plain([self.z.batch, self.z.dhc], DataType::F32).map_err(|_| OVERFLOW)?;
        let mut map = Map::over(self.real(), &cells.layout);
        map.element = self.declare_cell(&mut map.emit, b, s, Some(recurrent))?;
        map.element.push_str(code);
        Ok(map.launch())
    }

    /// Declares the inputs and outputs of a cell, and returns the statements that precede its own at sample and channel `p`. The state's sums are in scratch, for so
    /// many gates, or with `None` in the array `sums`.
    fn declare_cell(&self, emit: &mut Emitter, b: &Buffers, s: Stack, recurrent: Option<i64>) -> Result<String, Skip> {
        let (op, z) = (self.op, &self.z);
        let f32_of = |dims: [i64; 3]| Tensor::plain(dims, DataType::F32).map_err(|_| OVERFLOW);
        let own = |dtype, channels| Tensor::plain([z.batch, channels], dtype).map_err(|_| OVERFLOW);
        let gates = f32_of([z.batch, z.gates, z.dhc])?;
        let sums = f32_of([z.batch, recurrent.unwrap_or(0), z.dhc])?;
        let (cells, states, before) = (own(DataType::F32, z.dhc)?, own(self.state, z.dhc)?, own(self.state, z.sic)?);
        emit.view(&View::of("gates", Mark::GATES, &gates))?;
        if recurrent.is_some() {
            emit.view(&View::scratch("recurrent", b.recurrent, &sums))?;
        }
        emit.view(&View::scratch("candidate", b.candidate, &cells))?;
        emit.view(&View::scratch("cell", b.cell, &cells))?;
        emit.view(&View::scratch("reset_state", b.reset, &states))?;
        emit.view(&View::of("before", Mark::BEFORE, &before))?;
        let after = if op.weights_projection.is_some() {
            View::scratch("after", b.reset, &states)
        } else {
            View::of("after", Mark::AFTER, &states)
        };
        emit.view(&after)?;
        emit.numbers("stack", &[s.l, s.d]);
        match &op.bias {
            Some(t) => {
                emit.view(&View::of("bias", Arg::BIAS, t))?;
                emit.code(
                    "DEVICE real bias_of(const Args& a, index g, index c) {\n    const index q[] = {(index)a.stack[0], (index)a.stack[1], g, c};\n    return bias(a, q);\n}\n",
                );
            }
            None => emit.code("DEVICE real bias_of(const Args&, index, index) { return 0; }\n"),
        }
        match &op.weights_peephole {
            Some(t) => {
                emit.view(&View::of("peephole", Arg::WEIGHTS_2, t))?;
                emit.code(
                    "DEVICE real peephole_of(const Args& a, index g, index c) {\n    const index q[] = {(index)a.stack[0], (index)a.stack[1], g, c};\n    return peephole(a, q);\n}\n",
                );
            }
            None => emit.code("DEVICE real peephole_of(const Args&, index, index) { return 0; }\n"),
        }
        let activation = match (op.cell, op.activation) {
            (RnnCell::Vanilla, RnnActivation::Relu) => EltwiseAlg::Relu,
            (RnnCell::Vanilla, RnnActivation::Logistic) => EltwiseAlg::Logistic,
            _ => EltwiseAlg::Tanh,
        };
        self.declare_codes(emit, b.scales[0]);
        emit.formula("logistic", 1, |x| eltwise::forward(EltwiseAlg::Logistic, 0.0, 0.0, x[0]));
        emit.formula("activation", 1, |x| eltwise::forward(activation, op.alpha.get(), 0.0, x[0]));
        let tangent = if op.cell == RnnCell::Vanilla { 0 } else { 2 };
        for g in 0..z.gates {
            let value = match &self.quant.linear {
                Some(linear) => format!("{} * x", literal(f64::from(linear.gates.get(g as usize).map_or(1.0, |v| v.get())))),
                None if g == tangent => "activation(x)".into(),
                None => "logistic(x)".into(),
            };
            emit.code(&format!("DEVICE real gate_{g}(real x) {{ return {value}; }}\n"));
        }
        let bounded = self.quant.linear.as_ref().map_or("activation(x)".into(), |l| format!("{} * x", literal(f64::from(l.cell.get()))));
        emit.code(&format!("DEVICE real bounded(real x) {{ return {bounded}; }}\n"));
        emit.number("channels", z.dhc);
        let cell_type = op.src_iter_c.as_ref().or(op.dst_iter_c.as_ref()).map_or(DataType::F32, |t| t.dtype);
        emit.code(&format!("typedef {} cell_state;\n", crate::emit::type_name(cell_type)));
        let attention = op.attention.as_ref().filter(|_| op.cell.is_augru());
        let attention =
            attention.map(|t| gemm::plain(t).and_then(|b| matrix(t.dtype, [z.batch, 1], [b.strides[1], 0], b.offset))).transpose()?;
        match &attention {
            Some(t) => {
                emit.view(&View::of("attention", Mark::ATTENTION, t))?;
                emit.code(
                    "DEVICE real attention_of(const Args& a, index n) {\n    const index q[] = {n, 0};\n    return attention(a, q);\n}\n",
                );
            }
            None => emit.code("DEVICE real attention_of(const Args&, index) { return 0; }\n"),
        }
        if op.workspace.is_some() {
            self.keeper(emit);
        }
        let sum = if recurrent.is_some() { "recurrent(a, q)" } else { "sums[g]" };
        Ok(format!(
            "    const index n = p[0], c = p[1];\n    auto at = [&](index g) {{ const index q[] = {{n, g, c}}; return gates_at(a, q); }};\n    \
             auto input = [&](index g) -> real {{ return scaled(a, g * (index)a.channels + c, gates_load(a, at(g))) + bias_of(a, g, c); }};\n    \
             auto state = [&](index g) -> real {{ const index q[] = {{n, g, c}}; return scaled(a, g * (index)a.channels + c, {sum}); }};\n    \
             auto old_state = [&]() -> real {{ return real_of(a, before(a, p)); }};\n    \
             auto leave = [&](real x) {{ after_store(a, after_at(a, p), code_of(a, x)); }};\n"
        ))
    }

    /// GRU: the update and reset gates, stored over their sums, and the reset state.
    fn reset_code(&self) -> String {
        "    const real update = gate_0(input(0) + state(0)), reset = gate_1(input(1) + state(1));\n    gates_store(a, at(0), update);\n    \
         gates_store(a, at(1), reset);\n    reset_state_store(a, reset_state_at(a, p), code_of(a, reset * old_state()));\n"
            .into()
    }

    /// Statements that store the results of a step.
    fn cell_code(&self) -> String {
        let (op, z) = (self.op, &self.z);
        let attention = |code: &str| format!("    const real keep = (real)1 - attention_of(a, n);\n{code}");
        let (code, values): (String, &[&str]) = match op.cell {
            RnnCell::Vanilla => (
                "    const real sum = input(0) + state(0);\n    leave(gate_0(sum));\n".into(),
                &["sum"],
            ),
            RnnCell::Lstm => (
                "    const i64 own = cell_at(a, p);\n    const real old = cell_load(a, own);\n    \
                 const real in = gate_0(input(0) + state(0) + peephole_of(a, 0, c) * old), forget = gate_1(input(1) + state(1) + peephole_of(a, 1, c) * old);\n    \
                 const real fresh = gate_2(input(2) + state(2));\n    const real now = cell_state::decode(cell_state::encode(forget * old + in * fresh));\n    \
                 const real out = gate_3(input(3) + state(3) + peephole_of(a, 2, c) * now);\n    cell_store(a, own, now);\n    \
                 leave(out * bounded(now));\n"
                    .into(),
                &["in", "forget", "fresh", "out"],
            ),
            RnnCell::Gru | RnnCell::Augru => (
                attention(
                    "    const real update = gates_load(a, at(0)), reset = gates_load(a, at(1)), fresh = gate_2(input(2) + scaled(a, 2 * (index)a.channels + c, candidate(a, p)));\n    \
                     leave(keep * update * old_state() + ((real)1 - keep * update) * fresh);\n",
                ),
                &["update", "reset", "fresh"],
            ),
            RnnCell::LbrGru | RnnCell::LbrAugru => (
                attention(
                    "    const real update = gate_0(input(0) + state(0)), reset = gate_1(input(1) + state(1));\n    \
                     const real extra = state(2) + bias_of(a, 3, c), fresh = gate_2(input(2) + reset * extra);\n    \
                     leave(keep * update * old_state() + ((real)1 - keep * update) * fresh);\n",
                ),
                &["update", "reset", "fresh"],
            ),
        };
        if op.workspace.is_none() {
            return code;
        }
        let gates: String = values.iter().enumerate().map(|(g, v)| format!("    row[{} + c] = {v};\n", g as i64 * z.dhc)).collect();
        let (mut field, mut rest) = (z.gates * z.dhc, String::new());
        if op.weights_projection.is_none() {
            rest += &format!("    row[{field} + c] = after(a, p);\n");
        }
        field += z.dic;
        if op.cell == RnnCell::Lstm {
            rest += &format!("    row[{field} + c] = now;\n");
            field += z.dhc;
        }
        if self.is_lbr() {
            rest += &format!("    row[{field} + c] = extra;\n");
        } else if op.weights_projection.is_some() {
            rest += &format!("    row[{field} + c] = after(a, p);\n");
        }
        format!("{code}    float* row = kept(a, n);\n{gates}{rest}")
    }
}

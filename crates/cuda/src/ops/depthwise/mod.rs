//! `depthwise:generic`: depthwise convolution with contiguous channels, in vectors of channels. `few:generic`: backward data of convolutions with few input
//! channels.

mod strips;

use super::columns::{self, Matrix, Shape};
use super::map::Map;
use super::pointwise::tensor;
use super::reductions::aligned;
use super::rows::{Rows, Stage};
use crate::CudaTarget;
use crate::emit::{Emitter, Factor, Real, Tail, View};
use crate::program::{MapPlace, OVERFLOW, Program};
use oxidnn_runtime::Skip;
use oxidnn_spec::op::{Conv, ConvSizes};
use oxidnn_spec::{Arg, Dims, Layout, Op, Problem, Prop, Tensor};

/// Taps whose sums one launch of the weight gradient keeps in registers.
const TAPS: i64 = 9;
/// Most taps of a filter whose gradient is computed by such launches.
const MOST_TAPS: i64 = 64 * TAPS;

/// `few:generic`: source channels, at most; destination channels that are read together.
const FEW: i64 = 8;
const VECTOR: i64 = 8;

/// Depthwise convolution in all directions.
pub(crate) fn conv(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    let Op::Conv(op) = &problem.op else { return Err(Skip::Op("anything but convolutions")) };
    let z = op.sizes();
    let attr = &problem.attr;
    if z.ic != 1 || z.oc != 1 || z.g < 4 || op.weights.dims().len() == op.src.dims().len() {
        return Err(Skip::Shape("anything but many groups of one channel"));
    }
    if !attr.zero_points.keys().all(|&arg| arg == Arg::DST) || attr.depthwise_index().is_some() {
        return Err(Skip::Attr("zero points of operands, or a depthwise convolution behind".into()));
    }
    let last = |t: &Tensor| t.blocking().is_some_and(|b| b.is_plain() && b.strides[1] == 1);
    if !last(&op.src) || !last(&op.dst) {
        return Err(Skip::Layout("channels that are not next to each other".into()));
    }
    if op.prop == Prop::BackwardWeights {
        return aligned(|vectors| match vectors {
            true => gradient(op, problem, &z, target),
            false => super::conv::conv(problem, target),
        });
    }
    data(op, problem, &z)
}

/// Declares the geometry for `pool.cuh`.
fn geometry(op: &Conv, z: &ConvSizes, emit: &mut Emitter) {
    let n = op.src.dims().len() - 2;
    let own = |v: [i64; 3]| v[3 - n..].to_vec();
    emit.define("SPATIAL", n);
    emit.define("ACROSS", 1);
    emit.sizes("kernel", &own(z.k));
    emit.sizes("step", &own(z.s));
    emit.number("taps", z.k.iter().product());
    for (name, v) in [("stride", z.s), ("padding", z.pl), ("dilation", z.d), ("input", z.i), ("output", z.o)] {
        emit.numbers(name, &own(v));
    }
    emit.code("#include \"pool.cuh\"\n");
}

/// Forward, or backward data.
fn data(op: &Conv, problem: &Problem, z: &ConvSizes) -> Result<Program, Skip> {
    let forward = op.prop.is_forward();
    let (from, to) =
        if forward { ((Arg::SRC, &op.src), (Arg::DST, &op.dst)) } else { ((Arg::DIFF_DST, &op.dst), (Arg::DIFF_SRC, &op.src)) };
    let (real, n) = (Real::of(problem), op.src.dims().len() - 2);
    let taps: i64 = z.k.iter().product();
    // The weights are copied to (taps, channels).
    let dims = Dims::from_fn(n + 1, |d| if d < n { z.k[3 - n + d] } else { z.g });
    let filter = Tensor::plain(dims, op.weights.dtype).map_err(|_| OVERFLOW)?;
    let mut program = Program::default();
    let at = program.book(filter.bytes())?;
    let view = View::scratch("filter", at, &filter);
    let mut copy = Map::over(Real::Single, &filter.layout);
    copy.written(&view)?;
    copy.emit.view(&View::of("weights", Arg::WEIGHTS, &op.weights))?;
    let by_strips = strips::fits(op, z, !forward);
    let turned = by_strips && !forward;
    copy.emit.numbers("last", &[z.k[0] - 1, z.k[1] - 1, z.k[2] - 1]);
    let tap: String =
        (0..n).map(|d| if turned { format!(", (index)a.last[{}] - p[{d}]", 3 - n + d) } else { format!(", p[{d}]") }).collect();
    copy.element = format!(
        "    const index q[] = {{p[{n}], 0, 0{tap}}};\n    store_code<filter_type>(a.filter_data, filter_at(a, p), weights_code(a, weights_at(a, q)));\n"
    );
    program.launches.push(copy.launch());
    if by_strips {
        program.launches.push(strips::data(op, problem, z, &view)?);
        return Ok(program);
    }
    let mut map = Map::over(real, &to.1.layout);
    map.tail(&Tail::of(problem, to.0, to.1))?;
    geometry(op, z, &mut map.emit);
    map.emit.view(&View::of("from", from.0, from.1))?;
    map.emit.view(&view)?;
    map.emit.number("groups", z.g);
    let [before, value] = if forward { scaled(op, problem, "sum[i]", &mut map.emit)? } else { [String::new(), "sum[i]".into()] };
    let there = if forward { "tap" } else { "window" };
    let code = format!(
        "    real sum[LANES] = {{}};\n    for (index k = 0; k < (index)a.taps; ++k) {{\n        index q[RANK];\n        if (!{there}(a, p, k, q)) continue;\n        \
         Vector<from_type, LANES> x;\n        x.load(a.from_data, from_at(a, q));\n        Vector<filter_type, LANES> w;\n        w.load(a.filter_data, (i64)k * a.groups + p[1]);\n\
         #pragma unroll\n        for (int i = 0; i < LANES; ++i) sum[i] = fma(x.number(i), w.number(i), sum[i]);\n    }}\n#pragma unroll\n    \
         for (int i = 0; i < LANES; ++i) {{\n{before}        sum[i] = {value};\n    }}\n    finish_lanes<LANES>(a, p, sum);\n"
    );
    let row = Tensor { dtype: op.weights.dtype, layout: Layout::plain([taps * z.g].into()).map_err(|_| OVERFLOW)? };
    map.lanes(&code, &[("from", from.1), ("dst", to.1), ("filter", &row)]);
    program.launches.push(map.launch());
    Ok(program)
}

/// Statements, and then the expression, of `sum` of channel `p[1] + i` with scales and bias.
fn scaled(op: &Conv, problem: &Problem, sum: &str, emit: &mut Emitter) -> Result<[String; 2], Skip> {
    let (mut before, mut value) = (String::new(), sum.to_owned());
    let (src, weights) = (
        Factor::scale("src_scale", &problem.attr, Arg::SRC, op.src.dims()),
        Factor::scale("weights_scale", &problem.attr, Arg::WEIGHTS, op.weights.dims()),
    );
    if src.quant.is_some() || weights.quant.is_some() {
        emit.factor(&src);
        emit.factor(&weights);
        before.push_str("        const index zeros[5] = {}, w[6] = {p[1] + i};\n");
        value.push_str(" * (src_scale(a, zeros) * weights_scale(a, w))");
    }
    if let Some(bias) = &op.bias {
        emit.view(&View::of("bias", Arg::BIAS, bias))?;
        before.push_str("        const index c[] = {p[1] + i};\n");
        value.push_str(" + bias(a, c)");
    }
    Ok([before, value])
}

/// The gradients of weights and bias: column sums over pixels for every tap, in parts.
fn gradient(op: &Conv, problem: &Problem, z: &ConvSizes, target: &CudaTarget) -> Result<Program, Skip> {
    let real = Real::of(problem);
    let diff_dst = tensor(problem, Arg::DIFF_DST)?;
    let taps: i64 = z.k.iter().product();
    if taps > MOST_TAPS {
        return Err(Skip::Shape("filters of very many taps"));
    }
    if strips::fits(op, z, false) {
        let mut program = strips::gradient(op, problem, z, target)?;
        super::zero::padding(&mut program, Arg::DIFF_WEIGHTS, &op.weights)?;
        if let Some(bias) = problem.op.tensor(Arg::DIFF_BIAS) {
            super::conv::bias_gradient(&mut program, problem, diff_dst, bias)?;
        }
        return Ok(program);
    }
    let (pixels, n) = (z.mb * z.o.iter().product::<i64>(), op.src.dims().len() - 2);
    let strided = || Skip::Layout("pixels that are not evenly spaced or channels that are not read in vectors".into());
    let matrix = Matrix::of("diff_dst", Arg::DIFF_DST, diff_dst, 1).ok_or_else(strided)?;
    let source = Matrix::of("image", Arg::SRC, &op.src, 1).ok_or_else(strided)?;
    let shape = Shape::of(&[matrix, source], [pixels, z.g], real, target).filter(|_| real == Real::Single).ok_or_else(strided)?;
    let tail = Tail::of(problem, Arg::DIFF_WEIGHTS, &op.weights);
    let mut program = Program::default();
    let at = columns::book(&mut program, &shape, taps.min(TAPS), real)?;
    for first in (0..taps).step_by(TAPS as usize) {
        let count = TAPS.min(taps - first);
        let mut emit = Emitter::new(real, pixels.saturating_mul(z.g));
        emit.define("RANK", n + 2);
        geometry(op, z, &mut emit);
        emit.number("first", first);
        let sizes: Vec<i64> = [z.mb, z.g].into_iter().chain(z.o[3 - n..].iter().copied()).collect();
        let order: Vec<usize> = std::iter::once(0).chain(2..n + 2).collect();
        emit.traversal("pixel", &sizes, &order);
        emit.view(&View::of("src", Arg::SRC, &op.src))?;
        let terms = "    DEVICE void begin(const Args&, i64) {}\n    DEVICE void at(const Args& a, i64 r, i64 c, real (&t)[SUMS][VECTOR]) {\n        \
                     real d[VECTOR];\n        diff_dst_vector(a, r, c, d);\n        index p[RANK] = {};\n        pixel(a, (index)r, p);\n        p[1] = (index)c;\n\
                     #pragma unroll\n        for (int s = 0; s < SUMS; ++s) {\n            index q[RANK];\n            Vector<src_type, VECTOR> x = {};\n            \
                     const bool inside = tap(a, p, (index)a.first + s, q);\n            if (inside) x.load(a.src_data, src_at(a, q));\n#pragma unroll\n            \
                     for (int v = 0; v < VECTOR; ++v) t[s][v] = inside ? d[v] * x.number(v) : (real)0;\n        }\n    }\n";
        program.launches.push(shape.launch(emit, &[matrix, source], terms, Some(count), at));
        let partial = shape.partial(count, real)?;
        let mut rows = Rows::over(real, &partial.layout, |d| d != 1);
        rows.emit.view(&View::scratch("partial", at, &partial))?;
        rows.emit.tail(&tail)?;
        rows.emit.sizes("size", &z.k[4 - n..]);
        rows.emit.number("first", first);
        rows.stages = vec![Stage::sum("partial(a, p)", "x")];
        let split: String = (1..n).rev().map(|d| format!("    q[{}] = split(a.size[{}], k);\n", 3 + d, d - 1)).collect();
        rows.result =
            format!("    index q[{}] = {{p[2]}}, k = (index)a.first + p[0];\n{split}    q[3] = k;\n    finish(a, q, s[0]);\n", n + 3);
        program.launches.push(rows.launch());
    }
    super::zero::padding(&mut program, Arg::DIFF_WEIGHTS, &op.weights)?;
    if let Some(bias) = problem.op.tensor(Arg::DIFF_BIAS) {
        super::conv::bias_gradient(&mut program, problem, diff_dst, bias)?;
    }
    Ok(program)
}

/// Backward data with few source channels (the first layer of a network): one thread per element, summing over taps and vectors of destination channels.
pub(crate) fn few_channels(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    let Op::Conv(op) = &problem.op else { return Err(Skip::Op("anything but convolutions")) };
    let (z, attr) = (op.sizes(), &problem.attr);
    if op.prop != Prop::BackwardData || z.g != 1 || z.ic > FEW || op.weights.dims().len() != op.src.dims().len() {
        return Err(Skip::Op("anything but gradients of up to 8 channels without groups"));
    }
    if !attr.zero_points.is_empty() || !attr.scales.is_empty() {
        return Err(Skip::Attr("scales or zero points".into()));
    }
    let from = &op.dst;
    let whole = |v: i64| v % VECTOR == 0;
    let close = from.blocking().is_some_and(|b| {
        let spaced = (0..from.dims().len()).all(|d| d == 1 || from.dims()[d] == 1 || whole(b.strides[d]));
        b.is_plain() && b.padded_dims == *from.dims() && b.strides[1] == 1 && whole(b.offset) && spaced
    });
    let words = [from.dtype, op.weights.dtype].iter().all(|t| matches!(t.bits(), 16 | 32));
    if !close || !whole(z.oc) || !words || Real::of(problem) != Real::Single {
        return Err(Skip::Layout("channels of the destination that are not read in vectors".into()));
    }
    aligned(|vectors| if vectors { few(op, problem, &z) } else { super::conv::conv(problem, target) })
}

fn few(op: &Conv, problem: &Problem, z: &ConvSizes) -> Result<Program, Skip> {
    let n = op.src.dims().len() - 2;
    let dims = Dims::from_fn(n + 2, |d| {
        if d < n {
            z.k[3 - n + d]
        } else if d == n {
            z.ic
        } else {
            z.oc
        }
    });
    let filter = Tensor::plain(dims, op.weights.dtype).map_err(|_| OVERFLOW)?;
    let mut program = Program::default();
    let at = program.book(filter.bytes())?;
    let view = View::scratch("filter", at, &filter);
    let mut copy = Map::over(Real::Single, &filter.layout);
    copy.written(&view)?;
    copy.emit.view(&View::of("weights", Arg::WEIGHTS, &op.weights))?;
    let tap: String = (0..n).map(|d| format!(", p[{d}]")).collect();
    copy.element = format!(
        "    const index q[] = {{p[{}], p[{n}]{tap}}};\n    store_code<filter_type>(a.filter_data, filter_at(a, p), weights_code(a, weights_at(a, q)));\n",
        n + 1
    );
    program.launches.push(copy.launch());
    let mut map = Map::over(Real::Single, &op.src.layout);
    map.tail(&Tail::of(problem, Arg::DIFF_SRC, &op.src))?;
    geometry(op, z, &mut map.emit);
    map.emit.view(&View::of("from", Arg::DIFF_DST, &op.dst))?;
    map.emit.view(&view)?;
    map.emit.number("made", z.ic);
    map.emit.number("given", z.oc);
    map.element = format!(
        "    real sum = 0;\n    for (index k = 0; k < (index)a.taps; ++k) {{\n        index q[RANK];\n        if (!window(a, p, k, q)) continue;\n        q[1] = 0;\n        \
         const i64 x0 = from_at(a, q), w0 = ((i64)k * a.made + p[1]) * a.given;\n        for (i64 c = 0; c < a.given; c += {VECTOR}) {{\n            \
         Vector<from_type, {VECTOR}> x;\n            Vector<filter_type, {VECTOR}> w;\n            x.load(a.from_data, x0 + c);\n            w.load(a.filter_data, w0 + c);\n\
         #pragma unroll\n            for (int i = 0; i < {VECTOR}; ++i) sum = fma(x.number(i), w.number(i), sum);\n        }}\n    }}\n    finish(a, p, sum);\n"
    );
    let mut launch = map.launch();
    launch.aligned.push(MapPlace::Arg(Arg::DIFF_DST, 0));
    program.launches.push(launch);
    Ok(program)
}

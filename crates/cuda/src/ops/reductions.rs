//! Reduction, softmax, and PReLU backward.

use super::columns::{self, Matrix, Shape};
use super::map::{Map, flattened, merged_behind};
use super::pointwise::tensor;
use super::rows::{Reduced, Rows, Stage};
use super::rows_vector::Input;
use super::zero;
use crate::CudaTarget;
use crate::emit::{Emitter, Factor, Real, Tail, View, literal};
use crate::program::{Launch, OVERFLOW, Program, Unaligned};
use oxidnn_runtime::Skip;
use oxidnn_spec::op::{Prelu, Reduction, ReductionAlg, Softmax, SoftmaxAlg};
use oxidnn_spec::{Arg, Layout, Op, Problem, Tensor};

/// Reduction over every dimension of size 1 in the destination.
pub(crate) fn reduction(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    aligned(|vectors| match down_columns(problem, target)? {
        Some(program) if vectors => Ok(program),
        _ => reduction_by(problem, target, vectors),
    })
}

/// Sums and means down contiguous columns, in parts; `None` for other reductions.
fn down_columns(problem: &Problem, target: &CudaTarget) -> Result<Option<Program>, Skip> {
    let Op::Reduction(op) = &problem.op else { return Ok(None) };
    let (src, dst) = (op.src.dims(), op.dst.dims());
    let kept: Vec<usize> = (0..src.len()).filter(|&d| dst[d] != 1).collect();
    let (&[channel], ReductionAlg::Sum | ReductionAlg::Mean) = (&kept[..], op.alg) else { return Ok(None) };
    let real = Real::of(problem);
    let rows = src.volume().unwrap_or(0) / src[channel].max(1);
    let Some(matrix) = Matrix::of("src", Arg::SRC, &op.src, channel).filter(|_| !op.src.is_empty()) else { return Ok(None) };
    let Some(shape) = Shape::of(&[matrix], [rows, src[channel]], real, target) else { return Ok(None) };
    let mut program = Program::default();
    let terms = "    DEVICE void begin(const Args&, i64) {}\n    DEVICE void at(const Args& a, i64 r, i64 c, real (&t)[1][VECTOR]) { src_vector(a, r, c, t[0]); }\n";
    let count = if op.alg == ReductionAlg::Mean { rows } else { 1 };
    let launch = Columns { shape, real, emit: Emitter::new(real, rows), matrices: &[matrix], terms };
    launch.sums(&mut program, &Tail::of(problem, Arg::DST, &op.dst), (channel, count))?;
    zero::padding(&mut program, Arg::DST, &op.dst)?;
    Ok(Some(program))
}

/// A launch of `columns.cu` with one sum per column.
struct Columns<'a> {
    shape: Shape,
    real: Real,
    emit: Emitter,
    matrices: &'a [Matrix<'a>],
    terms: &'a str,
}

impl Columns<'_> {
    /// Appends the launch, and the one that adds the parts, divides by `count` and writes the result of index `channel` through `tail`.
    fn sums(self, program: &mut Program, tail: &Tail<'_>, (channel, count): (usize, i64)) -> Result<(), Skip> {
        let Columns { shape, real, matrices, terms, emit } = self;
        let at = columns::book(program, &shape, 1, real)?;
        program.launches.push(shape.launch(emit, matrices, terms, Some(1), at));
        program.launches.push(added(real, tail, &Partial { channel, count, at, parts: shape.parts })?);
        Ok(())
    }
}

/// `parts` partial sums per index of dimension `channel` in the scratch memory at `at`; their total is divided by `count`.
struct Partial {
    channel: usize,
    count: i64,
    at: usize,
    parts: i64,
}

/// The launch that adds partial sums and writes the results through `tail`.
fn added(real: Real, tail: &Tail<'_>, sums: &Partial) -> Result<Launch, Skip> {
    let &Partial { channel, count, at, parts } = sums;
    let dims = &tail.dst.layout.dims;
    let partial = Layout::plain([parts, dims[channel]].into()).map_err(|_| OVERFLOW)?;
    let mut last = Rows::over(real, &partial, |d| d == 1);
    last.emit.view(&columns::part_view("partial", at, 0, &partial, real))?;
    // The position in the destination.
    let own: Vec<String> = (0..dims.len()).map(|d| if d == channel { "p[1]".into() } else { "0".to_owned() }).collect();
    last.emit.tail(tail)?;
    last.emit.number("count", count);
    last.stages = vec![Stage::sum("partial(a, p)", "x / (real)a.count")];
    last.result = format!("    const index q[] = {{{}}};\n    finish(a, q, s[0]);\n", own.join(", "));
    Ok(last.launch())
}

fn reduction_by(problem: &Problem, target: &CudaTarget, vectors: bool) -> Result<Program, Skip> {
    let Op::Reduction(op) = &problem.op else { return Err(Skip::Op("anything but reductions")) };
    if op.src.is_empty() {
        return Ok(Program::default());
    }
    let real = Real::of(problem);
    let mut program = Program::default();
    let split = Reduced { real, layout: &op.src.layout, stage: stage(op), target };
    let kept = |d: usize| op.dst.dims()[d] != 1;
    let declare = |emit: &mut Emitter| emit.view(&View::of("src", Arg::SRC, &op.src));
    let finish = |emit: &mut Emitter| emit.tail(&Tail::of(problem, Arg::DST, &op.dst)).map(|()| "    finish(a, p, s[0]);\n".to_owned());
    if split.in_parts(&mut program, &kept, &declare, &finish)? {
        zero::padding(&mut program, Arg::DST, &op.dst)?;
        return Ok(program);
    }
    let mut rows = Rows::over(real, &op.src.layout, kept);
    rows.emit.view(&View::of("src", Arg::SRC, &op.src))?;
    rows.emit.tail(&Tail::of(problem, Arg::DST, &op.dst))?;
    rows.stages.push(stage(op));
    if vectors {
        rows.vectorised(vec![Input::of(&View::of("src", Arg::SRC, &op.src), 0, true)], None, &target.facts);
    }
    // The reduced dimensions of the position are 0 here.
    rows.result = "    finish(a, p, s[0]);\n".into();
    program.launches.push(rows.launch());
    zero::padding(&mut program, Arg::DST, &op.dst)?;
    Ok(program)
}

fn stage(op: &Reduction) -> Stage {
    use ReductionAlg::*;
    let (p, eps) = (literal(f64::from(op.p.get())), literal(f64::from(op.eps.get())));
    let root = literal(1.0 / f64::from(op.p.get()));
    let power = format!("pow(fabs(src(a, p)), {p})");
    let plain = |identity: f64, combine| Stage { identity: literal(identity), combine, term: "src(a, p)".into(), close: "x".into() };
    match op.alg {
        Max => plain(f64::NEG_INFINITY, "fmax(x, y)"),
        Min => plain(f64::INFINITY, "fmin(x, y)"),
        Mul => plain(1.0, "x * y"),
        Sum => plain(0.0, "x + y"),
        Mean => Stage { close: "x / (real)a.terms".into(), ..plain(0.0, "x + y") },
        NormLpMax => Stage::sum(power, format!("pow(fmax(x, {eps}), {root})")),
        NormLpSum => Stage::sum(power, format!("pow(x + {eps}, {root})")),
        NormLpPowerPMax => Stage::sum(power, format!("fmax(x, {eps})")),
        NormLpPowerPSum => Stage::sum(power, format!("x + {eps}")),
    }
}

/// Softmax and log-softmax along an axis, forward and backward.
pub(crate) fn softmax(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    let Op::Softmax(op) = &problem.op else { return Err(Skip::Op("anything but softmax")) };
    // The dimensions after the axis are merged.
    let flat = merged_behind(problem, Arg::DST, op.axis + 1);
    aligned(|vectors| softmax_by(flat.as_ref().unwrap_or(problem), vectors.then_some(target)))
}

/// The program with vector accesses, and the one without as its alternative for unaligned memory.
pub(crate) fn aligned(make: impl Fn(bool) -> Result<Program, Skip>) -> Result<Program, Skip> {
    let mut program = make(true)?;
    if program.launches.iter().any(|l| !l.aligned.is_empty() || !l.maps.is_empty()) {
        let plain = make(false)?;
        program.scratch = program.scratch.max(plain.scratch);
        program.unaligned = Some(Unaligned::Made(Box::new(plain)));
    }
    Ok(program)
}

fn softmax_by(problem: &Problem, vectors: Option<&CudaTarget>) -> Result<Program, Skip> {
    let Op::Softmax(op) = &problem.op else { return Err(Skip::Op("anything but softmax")) };
    let (arg, dst) = if op.prop.is_forward() { (Arg::DST, &op.dst) } else { (Arg::DIFF_SRC, tensor(problem, Arg::DIFF_SRC)?) };
    let mut rows = Rows::over(Real::of(problem), &dst.layout, |d| d != op.axis);
    rows.emit.tail(&Tail::of(problem, arg, dst))?;
    if op.prop.is_forward() {
        forward(op, problem, &mut rows)?
    } else {
        backward(op, problem, &mut rows)?
    }
    if let Some(target) = vectors {
        let mut inputs = vec![];
        for (name, arg) in if op.prop.is_forward() { &[("src", Arg::SRC)][..] } else { &[("data", Arg::DST), ("diff_dst", Arg::DIFF_DST)] }
        {
            inputs.push(Input::of(&View::of(name, *arg, tensor(problem, *arg)?), 0, true));
        }
        rows.vectorised(inputs, Some(Input::of(&View::of("dst", arg, dst), 0, false)), &target.facts);
    }
    let mut program = Program::default();
    if !dst.is_empty() {
        program.launches.push(rows.launch());
    }
    zero::padding(&mut program, arg, dst)?;
    Ok(program)
}

fn forward(op: &Softmax, problem: &Problem, rows: &mut Rows) -> Result<(), Skip> {
    let src = tensor(problem, Arg::SRC)?;
    rows.emit.view(&View::of("src", Arg::SRC, src))?;
    rows.emit.factor(&Factor::scale("scale", &problem.attr, Arg::SRC, src.dims()));
    let largest = Stage { identity: literal(f64::NEG_INFINITY), combine: "fmax(x, y)", term: "src(a, p)".into(), close: "x".into() };
    let is_short = Emitter::is_short(Real::of(problem), op.dst.dtype);
    let share = format!("{}(src(a, p) - s[0])", if is_short { "short_exp" } else { "exp" });
    // The sum is at least 1: multiply by its reciprocal.
    let is_inverse = Real::of(problem) == Real::Single && op.alg != SoftmaxAlg::Log;
    let close = match (is_inverse, is_short) {
        (true, true) => "short_ratio((real)1, x)",
        (true, false) => "(real)1 / x",
        _ => "x",
    };
    rows.stages = vec![largest, Stage::sum(share.clone(), close)];
    let value = match op.alg {
        SoftmaxAlg::Log => "src(a, p) - s[0] - log(s[1])".into(),
        // A row of only -infinity must give zeros instead of NaN if the algorithm says so; its sum would be 1.
        SoftmaxAlg::Accurate | SoftmaxAlg::InfAsZero => format!("{share} {} s[1]", if is_inverse { "*" } else { "/" }),
    };
    if op.alg == SoftmaxAlg::InfAsZero {
        rows.stages.push(Stage::sum("isnan(src(a, p)) ? (real)1 : (real)0", "x"));
        rows.each = format!(
            "    const bool empty = s[0] == {} && s[2] == 0;\n    finish(a, p, (empty ? (real)0 : {value}) * scale(a, p));\n",
            literal(f64::NEG_INFINITY)
        );
    } else {
        rows.each = format!("    finish(a, p, ({value}) * scale(a, p));\n");
    }
    Ok(())
}

/// Softmax: `ds = d (dd - sum(dd d))`; log-softmax: `ds = dd - e^d sum(dd)`.
fn backward(op: &Softmax, problem: &Problem, rows: &mut Rows) -> Result<(), Skip> {
    rows.emit.view(&View::of("data", Arg::DST, &op.dst))?;
    rows.emit.view(&View::of("diff_dst", Arg::DIFF_DST, tensor(problem, Arg::DIFF_DST)?))?;
    let logarithm = op.alg == SoftmaxAlg::Log;
    rows.stages = vec![Stage::sum(if logarithm { "diff_dst(a, p)" } else { "diff_dst(a, p) * data(a, p)" }, "x")];
    let value = if logarithm { "diff_dst(a, p) - exp(data(a, p)) * s[0]" } else { "data(a, p) * (diff_dst(a, p) - s[0])" };
    rows.each = format!("    finish(a, p, {value});\n");
    Ok(())
}

/// Bytes of a plane of the source that a CTA can keep in registers beside that of the gradient, at most.
const LARGEST_PLANE: i64 = 48 * 1024;

/// PReLU backward.
pub(crate) fn prelu(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    aligned(|vectors| {
        if vectors {
            if let Some(program) = slopes_of_columns(problem, target)? {
                return Ok(program);
            }
            let flat = merged_behind(problem, Arg::SRC, 2);
            if let Some(program) = slopes_of_planes(flat.as_ref().unwrap_or(problem), target)? {
                return Ok(program);
            }
        }
        slopes(problem, target)
    })
}

/// Both gradients in one pass over the planes of images and channels, if there is a weight per channel and pixels are contiguous.
fn slopes_of_planes(problem: &Problem, target: &CudaTarget) -> Result<Option<Program>, Skip> {
    let Op::Prelu(op) = &problem.op else { return Ok(None) };
    let Prelu { src, weights, .. } = &**op;
    let (diff_dst, diff_src) = (tensor(problem, Arg::DIFF_DST)?, tensor(problem, Arg::DIFF_SRC)?);
    let (real, dims) = (Real::of(problem), src.dims());
    let own = dims.len() == 3 && (0..3).all(|d| (weights.dims()[d] != 1) == (d == 1)) && !src.is_empty();
    let plain = |t: &&Tensor| t.blocking().is_some_and(|b| b.is_plain() && b.padded_dims == *t.dims() && b.strides[2] == 1);
    let fits = own && [src, diff_dst, diff_src].iter().all(plain) && dims[0] * dims[1] >= 2 * i64::from(target.facts.multiprocessors);
    if !fits || dims[2] * src.dtype.bits() as i64 / 8 > LARGEST_PLANE {
        return Ok(None);
    }
    let mut program = Program::default();
    let partial = Tensor::plain([dims[0], dims[1]], real.dtype()).map_err(|_| OVERFLOW)?;
    let at = program.book(partial.bytes())?;
    let mut rows = Rows::over(real, &src.layout, |d| d < 2);
    let inputs = [View::of("src", Arg::SRC, src), View::of("diff_dst", Arg::DIFF_DST, diff_dst)];
    rows.emit.tail(&Tail::of(problem, Arg::DIFF_SRC, diff_src))?;
    for view in inputs.iter().chain([&View::of("weights", Arg::WEIGHTS, weights)]) {
        rows.emit.view(view)?;
    }
    rows.emit.view(&columns::part_view("part", at, 0, &partial.layout, real))?;
    rows.stages = vec![Stage::sum("diff_dst(a, p) * fmin(src(a, p), (real)0)", "x")];
    rows.result = "    part_store(a, part_at(a, p), s[0]);\n".into();
    rows.ready = "    const real slope = weights(a, p);\n".into();
    rows.each = "    const real dd = diff_dst(a, p);\n    finish(a, p, src(a, p) > 0 ? dd : dd * slope);\n".into();
    let dst = Input::of(&View::of("dst", Arg::DIFF_SRC, diff_src), 0, false);
    rows.vectorised(inputs.iter().map(|view| Input::of(view, 0, true)).collect(), Some(dst), &target.facts);
    program.launches.push(rows.launch());
    let diff_weights = tensor(problem, Arg::DIFF_WEIGHTS)?;
    program.launches.push(added(
        real,
        &Tail::of(problem, Arg::DIFF_WEIGHTS, diff_weights),
        &Partial { channel: 1, count: 1, at, parts: dims[0] },
    )?);
    zero::padding(&mut program, Arg::DIFF_WEIGHTS, diff_weights)?;
    Ok(Some(program))
}

/// Both gradients in one pass, if there is a weight per channel and channels are contiguous.
fn slopes_of_columns(problem: &Problem, target: &CudaTarget) -> Result<Option<Program>, Skip> {
    let Op::Prelu(op) = &problem.op else { return Ok(None) };
    let Prelu { src, weights, .. } = &**op;
    let (real, dims) = (Real::of(problem), src.dims());
    let channels: Vec<usize> = (0..dims.len()).filter(|&d| weights.dims()[d] != 1).collect();
    let &[channel] = &channels[..] else { return Ok(None) };
    let (diff_dst, diff_src) = (tensor(problem, Arg::DIFF_DST)?, tensor(problem, Arg::DIFF_SRC)?);
    let (rows, count) = (dims.volume().unwrap_or(0) / dims[channel].max(1), dims[channel]);
    let given = [("src", Arg::SRC, src), ("diff_dst", Arg::DIFF_DST, diff_dst), ("diff_src", Arg::DIFF_SRC, diff_src)];
    let [Some(x), Some(dd), Some(dx)] = given.map(|(name, arg, t)| Matrix::of(name, arg, t, channel).filter(|_| !t.is_empty())) else {
        return Ok(None);
    };
    let matrices = [x, dd, dx];
    let Some(shape) = Shape::of(&matrices, [rows, count], real, target).map(Shape::in_turns) else { return Ok(None) };
    if !Tail::of(problem, Arg::DIFF_SRC, diff_src).is_plain() {
        return Ok(None);
    }
    let mut emit = Emitter::new(real, rows);
    emit.view(&View::of("weights", Arg::WEIGHTS, weights))?;
    emit.define("TOGETHER", 2);
    let terms = format!(
        "{}    real slope[VECTOR];\n    DEVICE void begin(const Args& a, i64 c) {{\n        index p[{}] = {{}};\n#pragma unroll\n        \
         for (int v = 0; v < VECTOR; ++v) {{\n            p[{channel}] = (index)(c + v);\n            slope[v] = weights(a, p);\n        }}\n    }}\n    \
         DEVICE void at(const Args& a, const Loaded& x, i64 r, i64 c, real (&t)[1][VECTOR]) {{\n        Vector<diff_src_number, VECTOR> out;\n#pragma unroll\n        \
         for (int v = 0; v < VECTOR; ++v) {{\n            const real own = x.src.number(v), d = x.diff_dst.number(v);\n            \
         t[0][v] = d * fmin(own, (real)0);\n            out.words[v] = diff_src_number::encode(own > 0 ? d : d * slope[v]);\n        }}\n        \
         out.store(a.diff_src_rows, a.diff_src_offset + r * a.diff_src_step + c);\n    }}\n",
        columns::loaded(&matrices[..2]),
        dims.len()
    );
    let mut program = Program::default();
    let diff_weights = tensor(problem, Arg::DIFF_WEIGHTS)?;
    let launch = Columns { shape, real, emit, matrices: &matrices, terms: &terms };
    launch.sums(&mut program, &Tail::of(problem, Arg::DIFF_WEIGHTS, diff_weights), (channel, 1))?;
    zero::padding(&mut program, Arg::DIFF_WEIGHTS, diff_weights)?;
    Ok(Some(program))
}

/// The gradient of the weights first, since the source gradient may overwrite the inputs.
fn slopes(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    let Op::Prelu(op) = &problem.op else { return Err(Skip::Op("anything but prelu")) };
    let Prelu { prop, src, weights, .. } = &**op;
    if prop.is_forward() {
        return Err(Skip::Op("forward passes"));
    }
    let (real, diff_dst) = (Real::of(problem), tensor(problem, Arg::DIFF_DST)?);
    let diff_weights = tensor(problem, Arg::DIFF_WEIGHTS)?;
    let mut program = Program::default();
    if !diff_weights.is_empty() {
        let kept = |d: usize| weights.dims()[d] != 1;
        let stage = Stage::sum("diff_dst(a, p) * fmin(src(a, p), (real)0)", "x");
        let declare = |emit: &mut Emitter| {
            emit.view(&View::of("src", Arg::SRC, src))?;
            emit.view(&View::of("diff_dst", Arg::DIFF_DST, diff_dst))
        };
        let finish = |emit: &mut Emitter| {
            emit.tail(&Tail::of(problem, Arg::DIFF_WEIGHTS, diff_weights))?;
            Ok("    finish(a, p, s[0]);\n".to_owned())
        };
        let split = Reduced { real, layout: &src.layout, stage: stage.clone(), target };
        if !split.in_parts(&mut program, &kept, &declare, &finish)? {
            let mut rows = Rows::over(real, &src.layout, kept);
            declare(&mut rows.emit)?;
            rows.result = finish(&mut rows.emit)?;
            rows.stages = vec![stage];
            program.launches.push(rows.launch());
        }
        zero::padding(&mut program, Arg::DIFF_WEIGHTS, diff_weights)?;
    }
    program.launches.push(slopes_of_elements(flattened(problem, Arg::DIFF_SRC).as_ref().unwrap_or(problem))?);
    Ok(program)
}

/// The source gradient.
fn slopes_of_elements(problem: &Problem) -> Result<Launch, Skip> {
    let diff_src = tensor(problem, Arg::DIFF_SRC)?;
    let view = |name, arg| Ok(View::of(name, arg, tensor(problem, arg)?));
    let mut map = Map::over(Real::of(problem), &diff_src.layout);
    let inputs = [view("src", Arg::SRC)?, view("diff_dst", Arg::DIFF_DST)?, view("weights", Arg::WEIGHTS)?];
    map.elementwise(&Tail::of(problem, Arg::DIFF_SRC, diff_src), &inputs)?;
    map.element.push_str("    const real dd = diff_dst(a, p);\n    finish(a, p, src(a, p) > 0 ? dd : dd * weights(a, p));\n");
    Ok(map.launch())
}

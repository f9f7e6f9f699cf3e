//! Reduction, softmax, and PReLU backward.

use super::columns::{self, Matrix, Shape};
use super::map::{Map, merged_behind};
use super::pointwise::tensor;
use super::rows::{Reduced, Rows, Stage};
use super::rows_vector::Input;
use super::zero;
use crate::CudaTarget;
use crate::emit::{Emitter, Factor, Real, Tail, View, literal};
use crate::program::{Program, Unaligned};
use oxidnn_runtime::Skip;
use oxidnn_spec::op::{Prelu, Reduction, ReductionAlg, Softmax, SoftmaxAlg};
use oxidnn_spec::{Arg, Layout, Op, Problem};

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
    let at = columns::book(&mut program, &shape, 1, real)?;
    let terms = "    DEVICE void begin(const Args&, i64) {}\n    DEVICE void at(const Args& a, i64 r, i64 c, real (&t)[1][VECTOR]) { src_vector(a, r, c, t[0]); }\n";
    program.launches.push(shape.launch(Emitter::new(real, rows), &[matrix], terms, Some(1), at));
    let partial = Layout::plain([shape.parts, src[channel]].into()).map_err(|_| Skip::Shape("sizes that overflow"))?;
    let mut last = Rows::over(real, &partial, |d| d == 1);
    last.emit.view(&columns::part_view("partial", at, 0, &partial, real))?;
    // The position in the destination.
    let own: Vec<String> = (0..dst.len()).map(|d| if d == channel { "p[1]".into() } else { "0".to_owned() }).collect();
    let tail = Tail::of(problem, Arg::DST, &op.dst);
    last.emit.tail(&tail)?;
    last.emit.number("count", if op.alg == ReductionAlg::Mean { rows } else { 1 });
    last.stages = vec![Stage::sum("partial(a, p)", "x / (real)a.count")];
    last.result = format!("    const index q[] = {{{}}};\n    finish(a, q, s[0]);\n", own.join(", "));
    program.launches.push(last.launch());
    zero::padding(&mut program, Arg::DST, &op.dst)?;
    Ok(Some(program))
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

/// PReLU backward: first the weight gradient, because the source gradient may overwrite its inputs.
pub(crate) fn prelu(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    let Op::Prelu(op) = &problem.op else { return Err(Skip::Op("anything but prelu")) };
    let Prelu { prop, src, weights, .. } = &**op;
    if prop.is_forward() {
        return Err(Skip::Op("forward passes"));
    }
    let (real, diff_dst) = (Real::of(problem), tensor(problem, Arg::DIFF_DST)?);
    let (diff_weights, diff_src) = (tensor(problem, Arg::DIFF_WEIGHTS)?, tensor(problem, Arg::DIFF_SRC)?);
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
    let mut map = Map::over(real, &diff_src.layout);
    map.tail(&Tail::of(problem, Arg::DIFF_SRC, diff_src))?;
    map.emit.view(&View::of("src", Arg::SRC, src))?;
    map.emit.view(&View::of("diff_dst", Arg::DIFF_DST, diff_dst))?;
    map.emit.view(&View::of("weights", Arg::WEIGHTS, weights))?;
    map.element.push_str("    const real dd = diff_dst(a, p);\n    finish(a, p, src(a, p) > 0 ? dd : dd * weights(a, p));\n");
    program.launches.push(map.launch());
    Ok(program)
}

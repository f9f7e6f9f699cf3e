//! Element-wise operations: eltwise, binary, sum, PReLU forward, shuffle, concat, reorder.

use super::map::{Map, flattened};
use crate::CudaTarget;
use crate::emit::{Emitter, Factor, Real, Tail, View, literal};
use crate::program::{MapPlace, OVERFLOW, Program};
use oxidnn_expr::{binary, eltwise, quant};
use oxidnn_runtime::Skip;
use oxidnn_spec::op::{Binary, Concat, Eltwise, Prelu, Reorder, Shuffle, Sum};
use oxidnn_spec::{Arg, Attr, DataType, Format, Op, Problem, RnnQuant, Tensor};

/// Sources that one launch of a sum adds, at most.
const SUM_SOURCES: usize = 32;

/// The operation's tensor `arg`.
pub(crate) fn tensor(problem: &Problem, arg: Arg) -> Result<&Tensor, Skip> {
    problem.op.tensor(arg).ok_or(Skip::Op("a problem without one of its tensors"))
}

/// Eltwise, binary, sum and PReLU forward.
pub(crate) fn lower(problem: &Problem, _: &CudaTarget) -> Result<Program, Skip> {
    let dst = if problem.op.tensor(Arg::DIFF_SRC).is_some() { Arg::DIFF_SRC } else { Arg::DST };
    let flat = flattened(problem, dst);
    let problem = flat.as_ref().unwrap_or(problem);
    match &problem.op {
        Op::Eltwise(op) => elements(op, problem),
        Op::Binary(op) => pairs(op, problem),
        Op::Sum(op) => sums(op, problem),
        Op::Prelu(op) => slopes(op, problem),
        _ => Err(Skip::Op("anything but pointwise operations")),
    }
}

fn elements(op: &Eltwise, problem: &Problem) -> Result<Program, Skip> {
    let (alpha, beta) = (op.alpha.get(), op.beta.get());
    let to = if op.prop.is_forward() { Arg::DST } else { Arg::DIFF_SRC };
    let dst = tensor(problem, to)?;
    let mut map = Map::over(Real::of(problem), &dst.layout);
    let tail = Tail::of(problem, to, dst);
    if op.prop.is_forward() {
        map.elementwise(&tail, &[View::of("src", Arg::SRC, &op.src)])?;
        let to = if problem.attr.post_ops.is_empty() { dst.dtype } else { DataType::F64 };
        map.emit.formula_to(to, "formula", 1, |x| eltwise::forward(op.alg, alpha, beta, x[0]));
        map.element.push_str("    finish(a, p, formula(src(a, p)));\n");
    } else {
        let data = if op.alg.uses_dst() { Arg::DST } else { Arg::SRC };
        let diff_dst = tensor(problem, Arg::DIFF_DST)?;
        map.elementwise(&tail, &[View::of("data", data, tensor(problem, data)?), View::of("diff_dst", Arg::DIFF_DST, diff_dst)])?;
        map.emit.formula_to(dst.dtype, "formula", 2, |x| eltwise::backward(op.alg, alpha, beta, x[0], x[1]));
        map.element.push_str("    finish(a, p, formula(diff_dst(a, p), data(a, p)));\n");
    }
    Ok(map.program())
}

fn pairs(op: &Binary, problem: &Problem) -> Result<Program, Skip> {
    let mut map = Map::over(Real::of(problem), &op.dst.layout);
    let mut inputs = vec![View::of("src0", Arg::SRC, &op.src0), View::of("src1", Arg::SRC_1, &op.src1)];
    inputs.extend(op.src2.as_ref().map(|t| View::of("src2", Arg::SRC_2, t)));
    map.elementwise(&Tail::of(problem, Arg::DST, &op.dst), &inputs)?;
    for (scale, arg, t) in [("scale0", Arg::SRC, &op.src0), ("scale1", Arg::SRC_1, &op.src1)] {
        map.emit.factor(&Factor::scale(scale, &problem.attr, arg, t.dims()));
    }
    let condition = if op.src2.is_some() { "src2(a, p)" } else { "(real)0" };
    map.emit.formula("formula", 3, |x| binary::apply(op.alg, x[0], x[1], x[2]));
    map.element = format!("    finish(a, p, formula(src0(a, p) * scale0(a, p), src1(a, p) * scale1(a, p), {condition}));\n");
    Ok(map.program())
}

/// A sum of many sources: several launches, in the order of the sources, with the intermediate sum in scratch.
fn sums(op: &Sum, problem: &Problem) -> Result<Program, Skip> {
    let real = Real::of(problem);
    let mut program = Program::default();
    let names: Vec<String> = (0..op.srcs.len()).map(|i| format!("src{i}")).collect();
    let parts = op.srcs.len().div_ceil(SUM_SOURCES);
    let partial = Tensor::plain(*op.dst.dims(), real.dtype()).map_err(|_| OVERFLOW)?;
    let kept = if parts > 1 { program.book(partial.bytes())? } else { 0 };
    let scratch = View::scratch("partial", kept, &partial);
    for part in 0..parts {
        let (first, last) = (part == 0, part + 1 == parts);
        let mut map = Map::over(real, if last { &op.dst.layout } else { &partial.layout });
        map.element.push_str("    real sum = 0;\n");
        if parts > 1 {
            if last { map.emit.view(&scratch)? } else { map.written(&scratch)? }
        }
        if !first {
            map.element.push_str("    sum = partial(a, p);\n");
        }
        let own = part * SUM_SOURCES..op.srcs.len().min((part + 1) * SUM_SOURCES);
        let views: Vec<View<'_>> = own.clone().map(|i| View::of(&names[i], Arg::multiple_src(i), &op.srcs[i])).collect();
        if last && parts == 1 {
            map.elementwise(&Tail::of(problem, Arg::DST, &op.dst), &views)?;
        } else {
            views.iter().try_for_each(|v| map.emit.view(v))?;
        }
        for i in own {
            map.element += &format!("    sum = fma({}, src{i}(a, p), sum);\n", literal(f64::from(op.scales[i].get())));
        }
        if last {
            if parts > 1 {
                map.tail(&Tail::of(problem, Arg::DST, &op.dst))?;
            }
            map.element.push_str("    finish(a, p, sum);\n");
        } else {
            map.element.push_str("    partial_store(a, partial_at(a, p), sum);\n");
        }
        program.launches.push(map.launch());
    }
    Ok(program)
}

fn slopes(op: &Prelu, problem: &Problem) -> Result<Program, Skip> {
    if !op.prop.is_forward() {
        return Err(Skip::Op("backward passes of prelu"));
    }
    let dst = tensor(problem, Arg::DST)?;
    let mut map = Map::over(Real::of(problem), &dst.layout);
    map.elementwise(
        &Tail::of(problem, Arg::DST, dst),
        &[View::of("src", Arg::SRC, &op.src), View::of("weights", Arg::WEIGHTS, &op.weights)],
    )?;
    map.emit.formula("formula", 2, |x| binary::prelu(x[0], x[1]));
    map.element.push_str("    finish(a, p, formula(src(a, p), weights(a, p)));\n");
    Ok(map.program())
}

/// Whether elements are copied without conversion.
fn is_exact(src: &Tensor, dst: &Tensor, attr: &Attr) -> bool {
    src.dtype == dst.dtype && attr.scales.is_empty() && attr.zero_points.is_empty() && attr.post_ops.is_empty()
}

/// Statements that move the element of `src` at `from` to the destination at `to`; `value` is the expression if it is not a copy.
fn copy(emit: &mut Emitter, exact: bool, [from, to]: [&str; 2], value: &str) -> String {
    emit.define("EXACT", i32::from(exact));
    if exact {
        format!("    store_code<dst_type>(a.dst_data, dst_at(a, {to}), src_code(a, src_at(a, {from})));\n")
    } else {
        format!("    const real x = src(a, {from});\n    finish(a, {to}, {value});\n")
    }
}

/// Channel shuffle.
pub(crate) fn shuffle(problem: &Problem, _: &CudaTarget) -> Result<Program, Skip> {
    let Op::Shuffle(op) = &problem.op else { return Err(Skip::Op("anything but shuffles")) };
    let Shuffle { prop, src, dst, axis, group_size } = op;
    let (from, to) = if prop.is_forward() { ((Arg::SRC, src), (Arg::DST, dst)) } else { ((Arg::DIFF_DST, dst), (Arg::DIFF_SRC, src)) };
    let groups = src.dims()[*axis] / (*group_size).max(1);
    let rows = if prop.is_forward() { groups } else { *group_size };
    let mut map = Map::over(Real::of(problem), &to.1.layout);
    map.tail(&Tail::of(problem, to.0, to.1))?;
    map.emit.view(&View::of("src", from.0, from.1))?;
    // Target t comes from source i with t = i % columns * rows + i / columns.
    map.emit.sizes("rows", &[rows]);
    map.emit.number("columns", src.dims()[*axis] / rows.max(1));
    let exact = is_exact(from.1, to.1, &problem.attr);
    let copy = copy(&mut map.emit, exact, ["q", "p"], "x");
    map.element = format!(
        "    index q[RANK], column = p[{axis}];\n    for (int d = 0; d < RANK; ++d) q[d] = p[d];\n    \
         const index row = split(a.rows[0], column);\n    q[{axis}] = row * (index)a.columns + column;\n{copy}"
    );
    Ok(map.program())
}

/// Concatenation: one launch per source over the source's elements, and one that zeroes the destination's padding.
pub(crate) fn concat(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    let Op::Concat(Concat { axis, srcs, dst }) = &problem.op else { return Err(Skip::Op("anything but concatenations")) };
    let mut program = Program::default();
    let mut start = 0;
    for (i, t) in srcs.iter().enumerate() {
        let (arg, first) = (Arg::multiple_src(i), start);
        start += t.dims()[*axis];
        if t.is_empty() {
            continue;
        }
        if let Some(copy) = copied(t, first, problem, target) {
            program.launches.extend(copy.moved(Arg::SRC, MapPlace::Arg(arg, 0)).launches);
            continue;
        }
        // Over the source's elements without padding, in the order of the destination.
        let inside = dst.layout.resized(*t.dims());
        let plain = oxidnn_spec::Layout::plain(*t.dims()).map_err(|_| OVERFLOW)?;
        let over = if inside.blocking().is_some_and(|b| b.is_plain()) { inside } else { plain };
        let mut map = Map::over(Real::of(problem), &over);
        map.tail(&Tail::of(problem, Arg::DST, dst))?;
        map.emit.view(&View::of("src", arg, t))?;
        map.emit.factor(&Factor::scale("scale", &problem.attr, arg, t.dims()));
        map.emit.number("start", first);
        let exact = is_exact(t, dst, &problem.attr);
        let copy = copy(&mut map.emit, exact, ["p", "q"], "x * scale(a, p)");
        map.element =
            format!("    index q[RANK];\n    for (int d = 0; d < RANK; ++d) q[d] = p[d];\n    q[{axis}] += (index)a.start;\n{copy}");
        program.launches.push(map.launch());
    }
    if dst.blocking().is_some_and(|b| b.padded_dims != *dst.dims()) {
        let mut map = Map::over(Real::Single, &dst.layout);
        map.written(&View::of("dst", Arg::DST, dst))?;
        program.launches.push(map.launch());
    }
    Ok(program)
}

/// The copy of a source to its part of the destination (from `start` on along the axis), if both layouts have strides only and no value changes.
fn copied(src: &Tensor, start: i64, concat: &Problem, target: &CudaTarget) -> Option<Program> {
    let Op::Concat(Concat { axis, dst, .. }) = &concat.op else { return None };
    let attr = &concat.attr;
    let strided = |t: &Tensor| t.blocking().is_some_and(|b| b.is_plain() && b.padded_dims == *t.dims() && b.compensation.is_none());
    if !is_exact(src, dst, attr) || attr.dropout.is_some() || !strided(src) || !strided(dst) || dst.layout.has_runtime() {
        return None;
    }
    let mut part = dst.clone();
    part.layout.dims = *src.dims();
    let b = part.layout.blocking_mut()?;
    (b.padded_dims, b.offset) = (*src.dims(), b.offset + start * b.strides[*axis]);
    let problem = Problem::new(Reorder { src: src.clone(), dst: part }, Attr::default()).ok()?;
    super::align::reorder(&problem, target).or_else(|_| reorder(&problem, target)).ok()
}

/// Reorders between dense layouts.
pub(crate) fn reorder(problem: &Problem, _: &CudaTarget) -> Result<Program, Skip> {
    let Op::Reorder(whole) = &problem.op else { return Err(Skip::Op("anything but reorders")) };
    if matches!(whole.dst.layout.format, Format::Sparse(_) | Format::Packed(_)) {
        return Err(Skip::Layout("a sparse or packed destination".into()));
    }
    let network = whole.rnn_scaling(&problem.attr.rnn);
    let compensation = whole.dst.blocking().and_then(|b| b.compensation);
    let flat = if problem.attr.rnn == RnnQuant::default() && compensation.is_none() { flattened(problem, Arg::DST) } else { None };
    let problem = flat.as_ref().unwrap_or(problem);
    let Op::Reorder(op) = &problem.op else { return Err(Skip::Op("anything but reorders")) };
    let (attr, dims) = (&problem.attr, op.src.dims());
    if network.is_some_and(|n| n.mask != 0) {
        return Err(Skip::Attr("scales of a recurrent network by channel".into()));
    }
    let mut map = Map::over(Real::of(problem), &op.dst.layout);
    map.elementwise(&Tail::of(problem, Arg::DST, &op.dst), &[View::of("src", Arg::SRC, &op.src)])?;
    map.emit.factor(&Factor::scale("scale", attr, Arg::SRC, dims));
    map.emit.factor(&Factor::zero_point("zero", attr, Arg::SRC, dims));
    map.emit.formula("dequantise", 3, |x| quant::dequantise(x[0], x[1], x[2]));
    let adjust = compensation.and_then(|c| c.scale_adjust).map_or(1.0, |s| f64::from(s.get()));
    let (factor, shift) = network.map_or((1.0, 0.0), |n| {
        let scale = n.scales.first().map_or(1.0, |s| f64::from(s.get()));
        (scale, f64::from(n.shift.get()))
    });
    let mut value = String::from("dequantise(x, scale(a, p), zero(a, p))");
    if adjust * factor != 1.0 || shift != 0.0 {
        value = format!("fma({value}, {}, {})", literal(adjust * factor), literal(shift));
    }
    let exact = is_exact(&op.src, &op.dst, attr) && adjust == 1.0;
    map.element = if exact {
        map.emit.code("DEVICE void copy(const Args& a, const index* p) { store_code<dst_type>(a.dst_data, dst_at(a, p), src_code(a, src_at(a, p))); }\n");
        "    copy(a, p);\n".into()
    } else {
        format!("    const real x = src(a, p);\n    finish(a, p, {value});\n")
    };
    let mut program = map.program();
    if let Some(c) = compensation {
        super::compensation::append(&mut program, &op.dst, c)?;
    }
    Ok(program)
}

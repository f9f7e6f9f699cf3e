//! Dynamic quantisation: scales that the library computes from the largest magnitude of the elements that share one.

use super::rows::{Rows, Stage};
use super::{DENSE_MATMUL, zero};
use crate::CudaTarget;
use crate::emit::{Emitter, Factor, Real, Tail, View, literal, memory_order, type_name};
use crate::program::{MapPlace, OVERFLOW, Program, Unaligned};
use oxidnn_expr::{number, quant};
use oxidnn_runtime::Skip;
use oxidnn_spec::op::Matmul;
use oxidnn_spec::{Arg, Attr, DataType, Format, Op, PostOp, Problem, Quant, QuantMode, RnnQuant, Rounding, Tensor};

/// The scales to compute.
fn wanted(problem: &Problem) -> Result<&Quant, Skip> {
    let quant = problem.attr.scales.get(&Arg::DST).filter(|q| q.mode != QuantMode::Static);
    quant.ok_or_else(|| Skip::Attr("scales that are given".into()))
}

/// Reorders between dense layouts.
pub(crate) fn reorder(problem: &Problem, _: &CudaTarget) -> Result<Program, Skip> {
    let Op::Reorder(op) = &problem.op else { return Err(Skip::Op("anything but reorders")) };
    let quant = wanted(problem)?;
    let special = matches!(op.dst.layout.format, Format::Sparse(_) | Format::Packed(_))
        || op.dst.blocking().is_some_and(|b| b.compensation.is_some())
        || problem.attr.rnn != RnnQuant::default();
    if special {
        return Err(Skip::Layout("a sparse, packed or compensated destination".into()));
    }
    let mut program = Program::default();
    let (attr, dims) = (&problem.attr, op.src.dims());
    let mut emit = Emitter::new(Real::of(problem), dims.volume().unwrap_or(i64::MAX));
    emit.view(&View::of("src", Arg::SRC, &op.src))?;
    emit.factor(&Factor::scale("scale", attr, Arg::SRC, dims));
    emit.factor(&Factor::zero_point("zero", attr, Arg::SRC, dims));
    emit.formula("dequantise", 3, |x| quant::dequantise(x[0], x[1], x[2]));
    emit.code("DEVICE real given(const Args& a, const index* q) { return dequantise(src(a, q), scale(a, q), zero(a, q)); }\n");
    let mut divided = problem.clone();
    divided.attr.scales.remove(&Arg::DST);
    scaled(&mut program, emit, quant, &divided, &op.dst)?;
    Ok(program)
}

/// Matmul: results with post-ops in f32 in scratch, then as a reorder of these.
pub(crate) fn matmul(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    let Op::Matmul(op) = &problem.op else { return Err(Skip::Op("anything but matmul")) };
    let quant = wanted(problem)?;
    let attr = &problem.attr;
    let reads_dst = attr.post_ops.iter().any(|p| matches!(p, PostOp::Sum { .. }));
    if reads_dst || attr.dropout.is_some() || attr.rounding.values().any(|&r| r == Rounding::Stochastic) {
        return Err(Skip::Attr("sums with the destination, dropout or stochastic rounding before scales are known".into()));
    }
    if op.dst.is_empty() {
        return Err(Skip::Shape("no elements"));
    }
    let sums = Tensor::plain(*op.dst.dims(), DataType::F32).map_err(|_| OVERFLOW)?;
    let mut inner = attr.clone();
    inner.scales.remove(&Arg::DST);
    inner.zero_points.remove(&Arg::DST);
    let product =
        Problem::new(Matmul { dst: sums.clone(), ..op.clone() }, inner).map_err(|_| Skip::Shape("a product that f32 does not hold"))?;
    let all = DENSE_MATMUL.iter().find_map(|row| (row.lower)(&product, target).ok());
    let made = all.ok_or_else(|| Skip::Attr("a product that no row makes".into()))?;
    let mut program = Program::default();
    let at = program.book(sums.bytes())?;
    let otherwise = made.unaligned.as_ref().map(|u| u.program(&product, target)).transpose()?;
    let place = |p: Program, program: &Program| p.shifted(program.scratch).moved(Arg::DST, MapPlace::Scratch(at));
    let unaligned = otherwise.map(|p| place(p, &program));
    let made = place(made, &program);
    program.scratch = made.scratch.max(unaligned.as_ref().map_or(0, |p| p.scratch));
    program.launches = made.launches;
    let mut emit = Emitter::new(Real::of(problem), op.dst.dims().volume().unwrap_or(i64::MAX));
    emit.view(&View::scratch("sums", at, &sums))?;
    emit.code("DEVICE real given(const Args& a, const index* q) { return sums(a, q); }\n");
    let zero_points = attr.zero_points.iter().filter(|z| *z.0 == Arg::DST).map(|(arg, q)| (*arg, q.clone())).collect();
    let divided = Problem { op: problem.op.clone(), attr: Attr { zero_points, ..Attr::default() } };
    let before = program.launches.len();
    scaled(&mut program, emit, quant, &divided, &op.dst)?;
    let last = program.launches[before..].to_vec();
    program.unaligned = unaligned.map(|p| {
        let launches = p.launches.into_iter().chain(last).collect();
        Unaligned::Made(Box::new(Program { launches, scratch: program.scratch, unaligned: None }))
    });
    Ok(program)
}

/// Appends the launches that write `dst` and its scales; the header has `given(a, q)`, the value at a position. `divided` has the other attributes.
fn scaled(program: &mut Program, mut emit: Emitter, quant: &Quant, divided: &Problem, dst: &Tensor) -> Result<(), Skip> {
    let (dims, n) = (dst.dims(), dst.dims().len());
    let counts = quant.dims(dims);
    let group = |d: usize| match quant.mask >> d & 1 {
        0 => dims[d],
        _ if d + 2 < n => 1,
        _ => quant.groups.get(d + 2 - n).map_or(1, |&g| g.max(1)),
    };
    let groups: Vec<i64> = (0..n).map(group).collect();
    // Positions are a group and an element within the group.
    let sizes: Vec<i64> = (0..n).map(|d| if quant.mask >> d & 1 == 1 { counts[d] } else { 1 }).chain(groups.iter().copied()).collect();
    emit.tail(&Tail::of(divided, Arg::DST, dst))?;
    let mut attr = Attr::default();
    attr.scales.insert(Arg::DST, Quant { mode: QuantMode::Static, ..quant.clone() });
    emit.factor(&Factor::scale("kept", &attr, Arg::DST, dims));
    emit.define("RANK", 2 * n);
    emit.numbers("group", &groups);
    emit.numbers("whole", dims);
    emit.traversal("output", &sizes, &(0..n).collect::<Vec<_>>());
    emit.traversal("row_term", &sizes, &memory_order(&dst.layout).into_iter().map(|d| n + d).collect::<Vec<_>>());
    let to_scale = |x: &str| format!("{0}::decode({0}::encode({x}))", type_name(quant.dtype));
    // Integers saturate.
    let top = literal(if dst.dtype.is_integral() { number::round_to(dst.dtype, f64::MAX) } else { -number::lowest(dst.dtype) });
    let value = match quant.mode {
        QuantMode::DynamicMx => to_scale(&format!("{} / {}", to_scale("x"), to_scale(&top))),
        _ => format!("x == 0 ? (real)1 : {}", to_scale(&format!("x / {top}"))),
    };
    emit.code(&format!(
        "DEVICE bool place(const Args& a, const index* p, index* q) {{\n    bool inside = true;\n#pragma unroll\n    for (int d = 0; d < {n}; ++d) {{\n        \
         q[d] = p[d] * (index)a.group[d] + p[{n} + d];\n        inside = inside && q[d] < a.whole[d];\n    }}\n    return inside;\n}}\n\
         DEVICE real magnitude(const Args& a, const index* p) {{\n    index q[{n}];\n    if (!place(a, p, q)) return 0;\n    \
         return fabs(value(a, q, dst_at(a, q), given(a, q)));\n}}\n"
    ));
    let count = |s: &[i64]| s.iter().fold(1i64, |n, &v| n.saturating_mul(v));
    let mut rows = Rows::with(emit, [count(&sizes[..n]), count(&sizes[n..])], false);
    rows.stages = vec![Stage { identity: "(real)0".into(), combine: "fmax(x, y)", term: "magnitude(a, p)".into(), close: value }];
    rows.result =
        format!("    index q[{n}];\n    place(a, p, q);\n    store<{}>(a.kept_data, kept_at(a, q), s[0]);\n", type_name(quant.dtype));
    rows.each = format!(
        "    index q[{n}];\n    if (!place(a, p, q)) return;\n    const i64 at = dst_at(a, q);\n    write(a, q, at, value(a, q, at, given(a, q)) / s[0]);\n"
    );
    program.launches.push(rows.launch());
    zero::padding(program, Arg::DST, dst)
}

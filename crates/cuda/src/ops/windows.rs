//! Operations on windows around each element: pooling, resampling, local response normalisation.

use super::map::Map;
use super::pointwise::tensor;
use crate::CudaTarget;
use crate::emit::{Emitter, Place, Real, Tail, View, literal};
use crate::program::Program;
use oxidnn_expr::number;
use oxidnn_runtime::Skip;
use oxidnn_spec::op::{Lrn, LrnAlg, Pool, PoolAlg, ResamplingAlg};
use oxidnn_spec::{Arg, Op, Problem, Tensor};

/// Pooling forward and backward.
pub(crate) fn pool(problem: &Problem, _: &CudaTarget) -> Result<Program, Skip> {
    let Op::Pool(op) = &problem.op else { return Err(Skip::Op("anything but pooling")) };
    let (arg, to) = if op.prop.is_forward() { (Arg::DST, &op.dst) } else { (Arg::DIFF_SRC, &op.src) };
    let mut map = Map::over(Real::of(problem), &to.layout);
    map.tail(&Tail::of(problem, arg, to))?;
    geometry(op, &mut map.emit);
    if op.prop.is_forward() {
        pool_forward(op, &mut map)?
    } else {
        pool_backward(op, &mut map)?
    }
    Ok(map.program())
}

fn geometry(op: &Pool, emit: &mut Emitter) {
    let (window, spatial) = (&op.window, op.kernel.len());
    emit.define("SPATIAL", spatial);
    emit.sizes("kernel", &op.kernel);
    emit.number("taps", op.kernel.volume().unwrap_or(0));
    emit.numbers("stride", &window.strides);
    emit.sizes("step", &window.strides);
    emit.numbers("padding", &window.padding_l);
    let distances: Vec<i64> = window.dilations.iter().map(|d| d + 1).collect();
    emit.numbers("dilation", &distances);
    emit.numbers("input", &op.src.dims()[2..]);
    emit.numbers("output", &op.dst.dims()[2..]);
    if op.alg == PoolAlg::AvgIncludePadding {
        emit.define("INCLUDE_PADDING", 1);
    }
    emit.code("#include \"pool.cuh\"\n");
}

fn pool_forward(op: &Pool, map: &mut Map<'_>) -> Result<(), Skip> {
    map.emit.view(&View::of("src", Arg::SRC, &op.src))?;
    if op.alg != PoolAlg::Max {
        map.lanes(
            // Several loads are on their way: nothing branches between them.
            "    real sum[LANES] = {};\n#pragma unroll 7\n    for (index k = 0; k < (index)a.taps; ++k) {\n        index q[RANK];\n        \
             const bool inside = tap(a, p, k, q);\n        Vector<src_type, LANES> x = {};\n        if (inside) x.load(a.src_data, src_at(a, q));\n#pragma unroll\n        \
             for (int i = 0; i < LANES; ++i) sum[i] += inside ? src_type::decode(x.words[i]) : (real)0;\n    }\n    \
             const real by = divisor(a, p);\n#pragma unroll\n    for (int i = 0; i < LANES; ++i) sum[i] = sum[i] / by;\n    finish_lanes<LANES>(a, p, sum);\n",
            &[("src", &op.src), ("dst", &op.dst)],
        );
        return Ok(());
    }
    let mut all = vec![("src", &op.src), ("dst", &op.dst)];
    let keep = match &op.workspace {
        Some(ws) => {
            map.written(&View::of("ws", Arg::WORKSPACE, ws))?;
            all.push(("ws", ws));
            "    Vector<ws_type, LANES> kept;\n#pragma unroll\n    for (int i = 0; i < LANES; ++i) kept.words[i] = ws_type::encode((real)chosen[i]);\n    \
             kept.store(a.ws_data, ws_at(a, p));\n"
        }
        None => "",
    };
    // A number is taken before any that is none, as `fmax` does.
    let better = match op.workspace {
        Some(_) => "if (x > best[i] || best[i] != best[i] && (!any || x == x)) best[i] = x, chosen[i] = k;",
        None => "best[i] = fmax(best[i], x);",
    };
    let code = format!(
        "    real best[LANES];\n    index chosen[LANES] = {{}};\n    bool any = false;\n#pragma unroll\n    for (int i = 0; i < LANES; ++i) best[i] = {};\n    \
         each_tap(a, p, [&](index k, const index* q) {{\n        Vector<src_type, LANES> taken;\n        \
         taken.load(a.src_data, src_at(a, q));\n#pragma unroll\n        for (int i = 0; i < LANES; ++i) {{\n            const real x = src_type::decode(taken.words[i]);\n            \
         {better}\n        }}\n        any = true;\n    }});\n#pragma unroll\n    \
         for (int i = 0; i < LANES; ++i) if (!any) best[i] = {};\n{keep}    finish_lanes<LANES>(a, p, best);\n",
        literal(f64::NAN),
        literal(number::lowest(op.dst.dtype))
    );
    map.lanes(&code, &all);
    Ok(())
}

fn pool_backward(op: &Pool, map: &mut Map<'_>) -> Result<(), Skip> {
    map.emit.view(&View::of("diff_dst", Arg::DIFF_DST, &op.dst))?;
    let mut all = vec![("diff_dst", &op.dst), ("dst", &op.src)];
    let part = match &op.workspace {
        Some(ws) => {
            map.emit.view(&View::of("ws", Arg::WORKSPACE, ws))?;
            all.push(("ws", ws));
            "        Vector<ws_type, LANES> kept;\n        kept.load(a.ws_data, ws_at(a, q));\n#pragma unroll\n        \
             for (int i = 0; i < LANES; ++i) if ((index)ws_type::decode(kept.words[i]) == k) sum[i] += diff_dst_type::decode(x.words[i]);\n"
        }
        None => {
            "        const real by = divisor(a, q);\n#pragma unroll\n        for (int i = 0; i < LANES; ++i) sum[i] += diff_dst_type::decode(x.words[i]) / by;\n"
        }
    };
    let code = format!(
        "    real sum[LANES] = {{}};\n    index out[RANK];\n    out[0] = p[0], out[1] = p[1];\n    each_window(a, p, [&](index k, const index* q) {{\n        \
         Vector<diff_dst_type, LANES> x;\n        x.load(a.diff_dst_data, diff_dst_at(a, q));\n{part}    }}, out);\n    finish_lanes<LANES>(a, p, sum);\n"
    );
    map.lanes(&code, &all);
    Ok(())
}

/// Resampling forward and backward.
pub(crate) fn resampling(problem: &Problem, _: &CudaTarget) -> Result<Program, Skip> {
    let Op::Resampling(op) = &problem.op else { return Err(Skip::Op("anything but resampling")) };
    let forward = op.prop.is_forward();
    let (to, from) =
        if forward { ((Arg::DST, &op.dst), (Arg::SRC, &op.src)) } else { ((Arg::DIFF_SRC, &op.src), (Arg::DIFF_DST, &op.dst)) };
    let mut map = Map::over(Real::of(problem), &to.1.layout);
    map.tail(&Tail::of(problem, to.0, to.1))?;
    map.emit.view(&View::of("from", from.0, from.1))?;
    map.emit.numbers("input", &op.src.dims()[2..]);
    map.emit.numbers("output", &op.dst.dims()[2..]);
    let doubled: Vec<i64> = op.dst.dims()[2..].iter().map(|o| o.saturating_mul(2)).collect();
    map.emit.sizes("doubled", &doubled);
    let is_narrow = op.src.dims()[2..].iter().zip(&doubled).all(|(i, &o)| i.saturating_add(1).saturating_mul(o) <= i64::from(i32::MAX));
    map.emit.before(if is_narrow { "typedef int numerator;\n" } else { "typedef i64 numerator;\n" });
    if op.alg == ResamplingAlg::Nearest {
        map.emit.define("NEAREST", 1);
    }
    map.emit.code("#include \"resample.cuh\"\n");
    let spatial = op.src.dims().len() - 2;
    let (mut open, mut close) = (String::new(), String::new());
    for d in 0..spatial {
        let at = 2 + d;
        if forward {
            open += &format!(
                "    index at{d}[2];\n    real second{d};\n    taps(a, {d}, p[{at}], at{d}, second{d});\n    \
                 for (int side{d} = 0; side{d} < 2; ++side{d}) {{\n    q[{at}] = at{d}[side{d}];\n    \
                 const real w{d} = side{d} ? second{d} : (real)1 - second{d};\n    if (w{d} == 0) continue;\n"
            );
        } else {
            open += &format!(
                "    i64 first{d}, last{d};\n    reach(a, {d}, p[{at}], first{d}, last{d});\n    \
                 for (i64 o{d} = first{d}; o{d} <= last{d}; ++o{d}) {{\n    q[{at}] = (index)o{d};\n    \
                 const real w{d} = weight_of(a, {d}, o{d}, p[{at}]);\n    if (w{d} == 0) continue;\n"
            );
        }
        close.push_str("    }\n");
    }
    let weight: Vec<String> = (0..spatial).map(|d| format!("w{d}")).collect();
    let weight = if weight.is_empty() { "(real)1".to_owned() } else { weight.join(" * ") };
    let code = format!(
        "    real sum[LANES] = {{}};\n    index q[RANK] = {{p[0], p[1]}};\n{open}    const real weight = {weight};\n    Vector<from_type, LANES> x;\n    \
         x.load(a.from_data, from_at(a, q));\n#pragma unroll\n    for (int i = 0; i < LANES; ++i) sum[i] += weight * from_type::decode(x.words[i]);\n{close}    \
         finish_lanes<LANES>(a, p, sum);\n"
    );
    map.lanes(&code, &[("from", from.1), ("dst", to.1)]);
    Ok(map.program())
}

/// Local response normalisation forward and backward.
pub(crate) fn lrn(problem: &Problem, _: &CudaTarget) -> Result<Program, Skip> {
    let Op::Lrn(op) = &problem.op else { return Err(Skip::Op("anything but local response normalisation")) };
    let beta = f64::from(op.beta.get());
    let mut program = Program::default();
    if op.prop.is_forward() {
        let dst = tensor(problem, Arg::DST)?;
        let mut map = Map::over(Real::of(problem), &dst.layout);
        map.tail(&Tail::of(problem, Arg::DST, dst))?;
        neighbourhood(op, &mut map.emit)?;
        map.element = format!("    finish(a, p, src(a, p) * pow(base(a, p), {}));\n", literal(-beta));
        program.launches.push(map.launch());
        return Ok(program);
    }
    let (diff_src, diff_dst) = (tensor(problem, Arg::DIFF_SRC)?, tensor(problem, Arg::DIFF_DST)?);
    let real = Real::of(problem);
    let bases = Tensor::plain(*op.src.dims(), real.dtype()).map_err(|_| Skip::Shape("sizes that overflow"))?;
    let at = program.book(bases.bytes()).ok_or(Skip::Shape("sizes that overflow"))?;
    let kept = View { place: Place::Scratch(at), ..View::of("bases", Arg::SRC, &bases) };
    let mut map = Map::over(real, &bases.layout);
    map.written(&kept)?;
    neighbourhood(op, &mut map.emit)?;
    map.element.push_str("    bases_store(a, bases_at(a, p), base(a, p));\n");
    program.launches.push(map.launch());
    let mut map = Map::over(real, &diff_src.layout);
    map.tail(&Tail::of(problem, Arg::DIFF_SRC, diff_src))?;
    map.emit.view(&kept)?;
    map.emit.view(&View::of("diff_dst", Arg::DIFF_DST, diff_dst))?;
    neighbourhood(op, &mut map.emit)?;
    let factor = 2.0 * f64::from(op.alpha.get()) * beta / divisor(op);
    map.element = format!(
        "    real sum = 0;\n    around(a, p, [&](const index* q) {{ sum += diff_dst(a, q) * src(a, q) * pow(bases(a, q), {}); }});\n    \
         finish(a, p, diff_dst(a, p) * pow(bases(a, p), {}) - {} * src(a, p) * sum);\n",
        literal(-beta - 1.0),
        literal(-beta),
        literal(factor)
    );
    program.launches.push(map.launch());
    Ok(program)
}

/// Number of elements of a whole neighbourhood.
fn divisor(op: &Lrn) -> f64 {
    let (first, last) = axes(op);
    (op.local_size as f64).powi((last - first) as i32)
}

fn axes(op: &Lrn) -> (usize, usize) {
    if op.alg == LrnAlg::AcrossChannels { (1, 2) } else { (2, op.src.dims().len()) }
}

/// Declares the source and `base(a, p)`: `k + alpha / n * sum(src^2)` around a position.
fn neighbourhood(op: &Lrn, emit: &mut Emitter) -> Result<(), Skip> {
    let (first, last) = axes(op);
    emit.view(&View::of("src", Arg::SRC, &op.src))?;
    emit.numbers("full", op.src.dims());
    emit.number("half", (op.local_size - 1) / 2);
    emit.define("AXIS_FIRST", first);
    emit.define("AXIS_LAST", last);
    emit.code("#include \"lrn.cuh\"\n");
    emit.real_number("alpha_over_n", f64::from(op.alpha.get()) / divisor(op));
    emit.real_number("k", f64::from(op.k.get()));
    emit.code(
        "DEVICE real base(const Args& a, const index* p) {\n    real sum = 0;\n    \
         around(a, p, [&](const index* q) { const real x = src(a, q); sum += x * x; });\n    return (real)a.k + (real)a.alpha_over_n * sum;\n}\n",
    );
    Ok(())
}

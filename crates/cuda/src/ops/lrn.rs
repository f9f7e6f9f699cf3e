//! Local response normalisation.

use super::map::{Map, Tile};
use super::pointwise::tensor;
use crate::CudaTarget;
use crate::emit::{Emitter, Place, Real, Tail, View, literal};
use crate::program::Program;
use oxidnn_runtime::Skip;
use oxidnn_spec::op::{Lrn, LrnAlg};
use oxidnn_spec::{Arg, Op, Problem, Tensor};

/// Largest half width of a neighbourhood of channels that is kept in registers.
const NEAR: i64 = 4;

/// Results of a thread: channels, if they are not contiguous in memory; pixels of a column within channels.
const TALL: i64 = 8;
/// CTAs per SM of vectors of channels, whose row sums take registers.
const BLOCKS_OF_VECTORS: i64 = 2;

/// Local response normalisation forward and backward.
pub(crate) fn lrn(problem: &Problem, _: &CudaTarget) -> Result<Program, Skip> {
    let Op::Lrn(op) = &problem.op else { return Err(Skip::Op("anything but local response normalisation")) };
    let beta = f64::from(op.beta.get());
    if op.alg == LrnAlg::AcrossChannels && (op.local_size - 1) / 2 <= NEAR {
        return across_channels(op, problem);
    }
    if op.alg == LrnAlg::WithinChannel && op.prop.is_forward() && op.src.dims().len() == 4 && (op.local_size - 1) / 2 <= NEAR {
        return within_planes(op, problem);
    }
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
    let kept = Tensor::plain(*op.src.dims(), real.dtype()).map_err(|_| Skip::Shape("sizes that overflow"))?;
    let mut book = || program.book(kept.bytes()).ok_or(Skip::Shape("sizes that overflow"));
    let view = |name: &'static str, at: usize| View { place: Place::Scratch(at), ..View::of(name, Arg::SRC, &kept) };
    // An element's contribution to the gradients around it, and to its own only.
    let (terms, own) = (view("terms", book()?), view("own", book()?));
    let mut map = Map::over(real, &kept.layout);
    map.written(&terms)?;
    map.written(&own)?;
    map.emit.view(&View::of("diff_dst", Arg::DIFF_DST, diff_dst))?;
    neighbourhood(op, &mut map.emit)?;
    map.element = format!(
        "    const real around_p = base(a, p), share = diff_dst(a, p) * pow(around_p, {});\n    terms_store(a, terms_at(a, p), src(a, p) * share);\n    \
         own_store(a, own_at(a, p), share * around_p);\n",
        literal(-beta - 1.0)
    );
    program.launches.push(map.launch());
    let mut map = Map::over(real, &diff_src.layout);
    map.tail(&Tail::of(problem, Arg::DIFF_SRC, diff_src))?;
    map.emit.view(&terms)?;
    map.emit.view(&own)?;
    neighbourhood(op, &mut map.emit)?;
    let factor = 2.0 * f64::from(op.alpha.get()) * beta / divisor(op);
    map.element = format!(
        "    real sum = 0;\n    around(a, p, [&](const index* q) {{ sum += terms(a, q); }});\n    finish(a, p, own(a, p) - {} * src(a, p) * sum);\n",
        literal(factor)
    );
    program.launches.push(map.launch());
    Ok(program)
}

/// Within channels, forward, in 2D: a thread computes results of one column, whose neighbourhoods share their row sums.
fn within_planes(op: &Lrn, problem: &Problem) -> Result<Program, Skip> {
    let (real, dst) = (Real::of(problem), tensor(problem, Arg::DST)?);
    let mut map = Map::over(real, &dst.layout);
    map.tail(&Tail::of(problem, Arg::DST, dst))?;
    map.emit.view(&View::of("src", Arg::SRC, &op.src))?;
    map.emit.define("HALF", (op.local_size - 1) / 2);
    map.emit.real_number("alpha_over_n", f64::from(op.alpha.get()) / divisor(op));
    map.emit.real_number("k", f64::from(op.k.get()));
    map.emit.real_number("beta", f64::from(op.beta.get()));
    map.emit.code("#include \"lrn_power.cuh\"\n");
    let power = if Emitter::is_short(real, dst.dtype) { "short_power" } else { "pow" };
    let code = format!(
        "    real sums[TALL][LANES] = {{}};\n    index q[RANK], own[RANK];\n    for (int d = 0; d < RANK; ++d) q[d] = p[d];\n#pragma unroll\n    \
         for (int i = 0; i < TALL + 2 * HALF; ++i) {{\n        q[2] = p[2] + i - HALF;\n        const bool inside = q[2] >= 0 && q[2] < (index)a.length[2];\n        \
         real row[LANES] = {{}};\n#pragma unroll\n        \
         for (int d = -HALF; d <= HALF; ++d) {{\n            q[3] = p[3] + d;\n            Vector<src_type, LANES> x = {{}};\n            \
         if (inside && q[3] >= 0 && q[3] < (index)a.length[3]) x.load(a.src_data, src_at(a, q));\n#pragma unroll\n            \
         for (int l = 0; l < LANES; ++l) row[l] = fma(x.number(l), x.number(l), row[l]);\n        }}\n#pragma unroll\n        \
         for (int j = 0; j < TALL; ++j) {{\n            if (j > i || j + 2 * HALF < i) continue;\n#pragma unroll\n            \
         for (int l = 0; l < LANES; ++l) sums[j][l] += row[l];\n        }}\n        \
         const int j = i - 2 * HALF;\n        if (j < 0 || !moved(a, p, j, 0, own)) continue;\n        Vector<src_type, LANES> x;\n        \
         x.load(a.src_data, src_at(a, own));\n        real v[LANES];\n#pragma unroll\n        for (int l = 0; l < LANES; ++l) \
         v[l] = x.number(l) * {power}((real)a.k + (real)a.alpha_over_n * sums[j][l], (real)-a.beta);\n        \
         finish_lanes<LANES>(a, own, v);\n    }}\n"
    );
    let apart = dst.blocking().is_some_and(|b| b.is_plain() && b.strides[1] != 1);
    if !apart {
        map.emit.option("BLOCKS", BLOCKS_OF_VECTORS);
    }
    map.tiles(&code, &[("src", &op.src), ("dst", dst)], Tile { along: 2, tall: TALL, wide: 1 });
    Ok(map.program())
}

/// Across channels: a thread keeps the neighbourhoods of `COUNT` channels in registers; if channels are contiguous they are a vector. With
/// `base = k + alpha / n * sum(x^2)` of a channel, the gradient is `dd base^-beta - 2 alpha beta / n x sum(dd x base^(-beta - 1))`.
fn across_channels(op: &Lrn, problem: &Problem) -> Result<Program, Skip> {
    let forward = op.prop.is_forward();
    let (arg, dst) = if forward { (Arg::DST, tensor(problem, Arg::DST)?) } else { (Arg::DIFF_SRC, tensor(problem, Arg::DIFF_SRC)?) };
    let real = Real::of(problem);
    let mut map = Map::over(real, &dst.layout);
    map.tail(&Tail::of(problem, arg, dst))?;
    map.emit.view(&View::of("src", Arg::SRC, &op.src))?;
    let mut all = vec![("src", &op.src), ("dst", dst)];
    if !forward {
        let diff_dst = tensor(problem, Arg::DIFF_DST)?;
        map.emit.view(&View::of("diff_dst", Arg::DIFF_DST, diff_dst))?;
        all.push(("diff_dst", diff_dst));
    }
    map.emit.define("HALF", (op.local_size - 1) / 2);
    map.emit.number("channels", op.src.dims()[1]);
    map.emit.real_number("alpha_over_n", f64::from(op.alpha.get()) / divisor(op));
    map.emit.real_number("k", f64::from(op.k.get()));
    map.emit.real_number("beta", f64::from(op.beta.get()));
    let power = if Emitter::is_short(real, dst.dtype) { "short_power" } else { "pow" };
    let apart = dst.blocking().is_some_and(|b| b.is_plain() && b.strides[1] != 1);
    // Channel i is counted from `reach` before the thread's first channel.
    let value = |name: &str, reach: &str| {
        let inside = format!("(q[1] >= 0 && q[1] < (index)a.channels ? {name}(a, q) : (real)0)");
        if apart { inside } else { format!("(i >= {reach} && i < COUNT + {reach} ? own_{name}.number(i - {reach}) : {inside})") }
    };
    let own = |name: &str| {
        if apart {
            String::new()
        } else {
            format!("    Vector<{name}_type, LANES> own_{name};\n    own_{name}.load(a.{name}_data, {name}_at(a, p));\n")
        }
    };
    let sum = |of: &str, to: &str| {
        format!(
            "            real sum = 0;\n#pragma unroll\n            for (int d = 0; d <= 2 * HALF; ++d) sum += {of}[i + d];\n            {to}\n"
        )
    };
    let each = |count: &str, body: &str| format!("#pragma unroll\n        for (int i = 0; i < {count}; ++i) {{\n{body}        }}\n");
    let base = "const real base = (real)a.k + (real)a.alpha_over_n * sum;";
    let body = if forward {
        let load = format!(
            "            q[1] = p[1] + i - HALF;\n            const real y = {};\n            square[i] = y * y;\n            if (i >= HALF && i < COUNT + HALF) x[i - HALF] = y;\n",
            value("src", "HALF")
        );
        let result = sum("square", base) + &format!("            v[i] = x[i] * {power}(base, (real)-a.beta);\n");
        own("src") + "    real square[COUNT + 2 * HALF], x[COUNT];\n" + &each("COUNT + 2 * HALF", &load) + &each("COUNT", &result)
    } else {
        let load = format!(
            "            q[1] = p[1] + i - 2 * HALF;\n            const real y = {};\n            square[i] = y * y;\n            if (i >= HALF && i < COUNT + 3 * HALF) x[i - HALF] = y;\n",
            value("src", "2 * HALF")
        );
        let term = format!("            q[1] = p[1] + i - HALF;\n            const real d = {};\n", value("diff_dst", "HALF"))
            + &sum("square", base)
            + &format!(
                "            const real share = {power}(base, (real)(-a.beta - 1));\n            term[i] = q[1] >= 0 && q[1] < (index)a.channels ? d * x[i] * share : (real)0;\n            \
                 if (i >= HALF && i < COUNT + HALF) v[i - HALF] = d * share * base;\n"
            );
        let factor = "            v[i] -= (real)(2 * a.alpha_over_n * a.beta) * x[i + HALF] * sum;";
        own("src")
            + &own("diff_dst")
            + "    real square[COUNT + 4 * HALF], x[COUNT + 2 * HALF], term[COUNT + 2 * HALF];\n"
            + &each("COUNT + 4 * HALF", &load)
            + &each("COUNT + 2 * HALF", &term)
            + &each("COUNT", &sum("term", factor))
    };
    let start = "    index q[RANK];\n    for (int d = 0; d < RANK; ++d) q[d] = p[d];\n";
    map.emit.code("#include \"lrn_power.cuh\"\n");
    if apart {
        let code = format!(
            "    const int COUNT = TALL;\n    real v[COUNT];\n{start}{body}#pragma unroll\n    for (int j = 0; j < TALL; ++j) {{\n        if (!moved(a, p, j, 0, q)) break;\n        \
             const real one[1] = {{v[j]}};\n        finish_lanes<1>(a, q, one);\n    }}\n"
        );
        map.tiles(&code, &all, Tile { along: 1, tall: TALL, wide: 1 });
    } else {
        map.lanes(&format!("    const int COUNT = LANES;\n    real v[COUNT];\n{start}{body}    finish_lanes<LANES>(a, p, v);\n"), &all);
    }
    Ok(map.program())
}

/// Number of elements of a full neighbourhood.
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

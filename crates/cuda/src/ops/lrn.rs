//! Local response normalisation.

use super::map::{Map, Tile};
use super::pointwise::tensor;
use crate::CudaTarget;
use crate::emit::{Emitter, Real, Tail, View, literal};
use crate::program::{OVERFLOW, Program};
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
    if op.alg == LrnAlg::WithinChannel && op.src.dims().len() == 4 && (op.local_size - 1) / 2 <= NEAR {
        let plain = |t: &Tensor| t.blocking().is_some_and(|b| b.is_plain() && b.padded_dims == *t.dims());
        if op.prop.is_forward() {
            return within_planes(op, problem);
        }
        if plain(&op.src) && problem.op.tensor(Arg::DIFF_SRC).is_some_and(plain) {
            return within_planes_backward(op, problem);
        }
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
    let kept = Tensor::plain(*op.src.dims(), real.dtype()).map_err(|_| OVERFLOW)?;
    let mut book = |name| program.book(kept.bytes()).map(|at| View::scratch(name, at, &kept));
    // An element's contribution to the gradients around it, and to its own only.
    let (terms, own) = (book("terms")?, book("own")?);
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

/// Statements of a tile that sum `name`, or its squares, over the neighbourhoods of results of one column, which share their row sums; then those of `own` per
/// result at position `own`, with its sums `sums[j]`.
fn summed(name: &str, squares: bool, own: &str) -> String {
    let add = if squares { "fma(x.number(l), x.number(l), row[l])" } else { "row[l] + x.number(l)" };
    format!(
        "    real sums[TALL][LANES] = {{}};\n    index q[RANK], own[RANK];\n    for (int d = 0; d < RANK; ++d) q[d] = p[d];\n#pragma unroll\n    \
         for (int i = 0; i < TALL + 2 * HALF; ++i) {{\n        q[2] = p[2] + i - HALF;\n        const bool inside = q[2] >= 0 && q[2] < (index)a.length[2];\n        \
         real row[LANES] = {{}};\n#pragma unroll\n        \
         for (int d = -HALF; d <= HALF; ++d) {{\n            q[3] = p[3] + d;\n            Vector<{name}_type, LANES> x = {{}};\n            \
         if (inside && q[3] >= 0 && q[3] < (index)a.length[3]) x.load(a.{name}_data, {name}_at(a, q));\n#pragma unroll\n            \
         for (int l = 0; l < LANES; ++l) row[l] = {add};\n        }}\n#pragma unroll\n        \
         for (int j = 0; j < TALL; ++j) {{\n            if (j > i || j + 2 * HALF < i) continue;\n#pragma unroll\n            \
         for (int l = 0; l < LANES; ++l) sums[j][l] += row[l];\n        }}\n        \
         const int j = i - 2 * HALF;\n        if (j < 0 || !moved(a, p, j, 0, own)) continue;\n{own}    }}\n"
    )
}

/// Statements that load the vector `to` of a tensor at position `own`.
fn loaded(name: &str, to: &str) -> String {
    format!("        Vector<{name}_type, LANES> {to};\n        {to}.load(a.{name}_data, {name}_at(a, own));\n")
}

/// Sets the tile of these statements: eight pixels of a column.
fn down_columns(map: &mut Map<'_>, code: &str, all: &[(&str, &Tensor)], dst: &Tensor) {
    if dst.blocking().is_some_and(|b| b.is_plain() && b.strides[1] == 1) {
        map.emit.option("BLOCKS", BLOCKS_OF_VECTORS);
    }
    map.tiles(code, all, Tile { along: 2, tall: TALL, wide: 1, before: 0 });
}

/// Declares the constants of neighbourhoods in 2D; returns the function of powers.
fn constants(op: &Lrn, emit: &mut Emitter, real: Real, dst: &Tensor) -> &'static str {
    emit.define("HALF", (op.local_size - 1) / 2);
    emit.real_number("alpha_over_n", f64::from(op.alpha.get()) / divisor(op));
    emit.real_number("k", f64::from(op.k.get()));
    emit.real_number("beta", f64::from(op.beta.get()));
    emit.code("#include \"lrn_power.cuh\"\n");
    power(op, real, dst)
}

/// The function of powers: approximate for results of few bits, by roots for the usual exponent.
fn power(op: &Lrn, real: Real, dst: &Tensor) -> &'static str {
    if Emitter::is_short(real, dst.dtype) {
        "short_power"
    } else if op.beta.get() == 0.75 {
        "power_of_roots"
    } else {
        "pow"
    }
}

/// Within channels, forward, in 2D.
fn within_planes(op: &Lrn, problem: &Problem) -> Result<Program, Skip> {
    let (real, dst) = (Real::of(problem), tensor(problem, Arg::DST)?);
    let mut map = Map::over(real, &dst.layout);
    map.tail(&Tail::of(problem, Arg::DST, dst))?;
    map.emit.view(&View::of("src", Arg::SRC, &op.src))?;
    let power = constants(op, &mut map.emit, real, dst);
    let own = loaded("src", "y")
        + &format!(
            "        real v[LANES];\n#pragma unroll\n        for (int l = 0; l < LANES; ++l) \
             v[l] = y.number(l) * {power}((real)a.k + (real)a.alpha_over_n * sums[j][l], (real)-a.beta);\n        finish_lanes<LANES>(a, own, v);\n"
        );
    down_columns(&mut map, &summed("src", true, &own), &[("src", &op.src), ("dst", dst)], dst);
    Ok(map.program())
}

/// Within channels, backward, in 2D: an element's contributions to the gradients around it and to its own, then the gradients.
fn within_planes_backward(op: &Lrn, problem: &Problem) -> Result<Program, Skip> {
    let (real, diff_src, diff_dst) = (Real::of(problem), tensor(problem, Arg::DIFF_SRC)?, tensor(problem, Arg::DIFF_DST)?);
    let mut program = Program::default();
    let kept = Tensor { dtype: real.dtype(), layout: op.src.layout.clone() };
    let mut book = |name| program.book(kept.bytes()).map(|at| View::scratch(name, at, &kept));
    let (terms, alone) = (book("terms")?, book("alone")?);
    let start = |map: &mut Map<'_>| -> Result<&'static str, Skip> {
        map.tail(&Tail::of(problem, Arg::DIFF_SRC, diff_src))?;
        for view in [&View::of("src", Arg::SRC, &op.src), &terms, &alone] {
            map.emit.view(view)?;
        }
        Ok(constants(op, &mut map.emit, real, diff_src))
    };
    let all = [("src", &op.src), ("terms", &kept), ("alone", &kept)];
    let mut map = Map::over(real, &diff_src.layout);
    let power = start(&mut map)?;
    map.emit.view(&View::of("diff_dst", Arg::DIFF_DST, diff_dst))?;
    let own = loaded("src", "y")
        + &loaded("diff_dst", "dd")
        + &format!(
            "        Vector<terms_type, LANES> term;\n        Vector<alone_type, LANES> single;\n#pragma unroll\n        for (int l = 0; l < LANES; ++l) {{\n            \
             const real base = (real)a.k + (real)a.alpha_over_n * sums[j][l], share = dd.number(l) * {power}(base, (real)(-a.beta - 1));\n            \
             term.words[l] = terms_type::encode(y.number(l) * share);\n            single.words[l] = alone_type::encode(share * base);\n        }}\n        \
             term.store(a.terms_data, terms_at(a, own));\n        single.store(a.alone_data, alone_at(a, own));\n"
        );
    down_columns(&mut map, &summed("src", true, &own), &[all[0], all[1], all[2], ("diff_dst", diff_dst)], diff_src);
    program.launches.push(map.launch());
    let mut map = Map::over(real, &diff_src.layout);
    start(&mut map)?;
    let own = loaded("src", "y")
        + &loaded("alone", "single")
        + "        real v[LANES];\n#pragma unroll\n        for (int l = 0; l < LANES; ++l) \
           v[l] = single.number(l) - (real)(2 * a.alpha_over_n * a.beta) * y.number(l) * sums[j][l];\n        finish_lanes<LANES>(a, own, v);\n";
    down_columns(&mut map, &summed("terms", false, &own), &[all[0], all[1], all[2], ("dst", diff_src)], diff_src);
    program.launches.push(map.launch());
    Ok(program)
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
    let power = power(op, real, dst);
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
        map.tiles(&code, &all, Tile { along: 1, tall: TALL, wide: 1, before: 0 });
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

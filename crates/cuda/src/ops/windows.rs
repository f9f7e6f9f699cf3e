//! Pooling and resampling (`kernels/windows.cu`; NCHW also `planes.cu` and `pool_strips.cu`).

use super::map::{Map, Tile};
use super::planes::{BAND, Planes, Table};
use super::reductions::aligned;
use super::{spread_planes, strips};
use crate::CudaTarget;
use crate::emit::{Emitter, Real, Tail, View, literal};
use crate::ops::ceil;
use crate::program::Program;
use oxidnn_expr::number;
use oxidnn_runtime::Skip;
use oxidnn_spec::op::{Pool, PoolAlg, Resampling, ResamplingAlg};
use oxidnn_spec::{Arg, Op, Problem};

/// Pooling forward and backward.
pub(crate) fn pool(problem: &Problem, _: &CudaTarget) -> Result<Program, Skip> {
    aligned(|vectors| pool_by(problem, vectors))
}

fn pool_by(problem: &Problem, vectors: bool) -> Result<Program, Skip> {
    let Op::Pool(op) = &problem.op else { return Err(Skip::Op("anything but pooling")) };
    if vectors && let Some(launch) = strips::pool(problem, op)? {
        return Ok(Program { launches: vec![launch], ..Program::default() });
    }
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

pub(crate) fn geometry(op: &Pool, emit: &mut Emitter) {
    let (window, spatial) = (&op.window, op.kernel.len());
    emit.define("SPATIAL", spatial);
    emit.sizes("kernel", &op.kernel);
    emit.number("taps", op.kernel.volume().unwrap_or(0));
    emit.numbers("stride", &window.strides);
    emit.sizes("step", &window.strides);
    emit.numbers("padding", &window.padding_l);
    let distances: Vec<i64> = window.dilations.iter().map(|d| d + 1).collect();
    emit.numbers("dilation", &distances);
    if distances.iter().any(|&d| d != 1) {
        emit.define("DILATED", 1);
    }
    emit.numbers("input", &op.src.dims()[2..]);
    emit.numbers("output", &op.dst.dims()[2..]);
    if op.alg == PoolAlg::AvgIncludePadding {
        emit.define("INCLUDE_PADDING", 1);
    }
    emit.code("#include \"pool.cuh\"\n");
}

/// The dimension of a tile's rows: the last but one spatial dimension, if there are several.
fn along(rank: usize) -> usize {
    if rank > 3 { rank - 2 } else { 2 }
}

/// The tile of a thread; 1 x 1 with dilation, where windows share no inputs.
fn tile(op: &Pool, [tall, wide]: [i64; 2]) -> Tile {
    let apart = op.window.dilations.iter().any(|&d| d != 0);
    let [tall, wide] = if apart { [1; 2] } else { [tall, wide] };
    Tile { along: along(op.src.dims().len()), tall, wide, before: 0 }
}

/// Largest side of windows for which the kernel is specialised.
const KNOWN: i64 = 3;

/// Specialises the kernel for small 2D windows that overlap or touch: defines their sizes and strides, and the offset of the first input in a window. Returns
/// whether it did.
fn known(op: &Pool, emit: &mut Emitter) -> bool {
    let (&[rows, columns], &[down, step]) = (&op.kernel[..], &op.window.strides[..]) else { return false };
    if rows.max(columns) > KNOWN || down > rows || step > columns || op.window.dilations.iter().any(|&d| d != 0) {
        return false;
    }
    let edge = |d: usize, distance: i64| op.window.padding_l.get(d).map_or(0, |p| p.rem_euclid(distance));
    for (name, value) in
        [("ROWS", rows), ("COLUMNS", columns), ("DOWN", down), ("STEP", step), ("EDGE_DOWN", edge(0, down)), ("EDGE_STEP", edge(1, step))]
    {
        emit.option(name, value);
    }
    true
}

fn pool_forward(op: &Pool, map: &mut Map<'_>) -> Result<(), Skip> {
    map.emit.view(&View::of("src", Arg::SRC, &op.src))?;
    let known = known(op, &mut map.emit);
    // More loads in flight for wide windows.
    map.emit.define("ACROSS", if op.kernel.last().is_some_and(|&k| k > 6) { 7 } else { 3 });
    let mut all = vec![("src", &op.src), ("dst", &op.dst)];
    // Without branches, so that the loads of a tile are in flight together.
    let filling = if op.alg == PoolAlg::Max && (known || op.workspace.is_none()) { "nothing<src_type, LANES>()" } else { "{}" };
    let load = format!(
        "        Vector<src_type, LANES> x = {filling};\n        if (is) x.load(a.src_data, src_at(a, q));\n#pragma unroll\n        for (int j = 0; j < TALL * WIDE; ++j) {{\n"
    );
    let each = |before: &str, take: &str, after: &str| {
        format!(
            "{before}    each_tap<TALL, WIDE>(a, p, [&](const index* q, const index (&k)[TALL * WIDE], bool is) {{\n{load}{take}        }}\n    }});\n#pragma unroll\n    \
             for (int j = 0; j < TALL * WIDE; ++j) {{\n        index q[RANK];\n        if (!moved(a, p, j / WIDE, j % WIDE, q)) continue;\n        real v[LANES];\n{after}        \
             finish_lanes<LANES>(a, q, v);\n    }}\n"
        )
    };
    let lowest = literal(number::lowest(op.dst.dtype));
    let code = if op.alg != PoolAlg::Max {
        // Padding adds zeros, without branches: so the loads of a tile are in flight together, and take registers.
        map.emit.option("BLOCKS", 3);
        each(
            "    real sum[TALL * WIDE][LANES] = {};\n",
            "            if (k[j] < 0) continue;\n#pragma unroll\n            for (int i = 0; i < LANES; ++i) sum[j][i] += x.number(i);\n",
            "        const real by = divisor(a, q);\n#pragma unroll\n        for (int i = 0; i < LANES; ++i) v[i] = ratio(sum[j][i], by);\n",
        )
    } else if let Some(ws) = &op.workspace {
        map.written(&View::of("ws", Arg::WORKSPACE, ws))?;
        all.push(("ws", ws));
        let store = "kept.store(a.ws_data, ws_at(a, q));\n";
        if known {
            // Padding is NaN or the lowest integer, which are never chosen: no branches between the loads of a window.
            each(
                "    Chosen<src_type, LANES> best(first_tap(a, p));\n    bool any = false;\n",
                "            best.take(x, k[j]);\n            any = any || is;\n",
                &format!(
                    "        Vector<ws_type, LANES> kept;\n#pragma unroll\n        for (int i = 0; i < LANES; ++i) v[i] = any ? best.number(i) : {lowest}, kept.words[i] = any ? (ws_type::word)best.element(i) : 0;\n        {store}"
                ),
            )
        } else {
            // NaN is never chosen, as with `fmax`.
            each(
                &format!(
                    "    real best[TALL * WIDE][LANES];\n    index chosen[TALL * WIDE][LANES] = {{}};\n    bool any[TALL * WIDE] = {{}};\n#pragma unroll\n    \
                     for (int j = 0; j < TALL * WIDE; ++j) for (int i = 0; i < LANES; ++i) best[j][i] = {};\n",
                    literal(f64::NAN)
                ),
                "            if (!is || k[j] < 0) continue;\n#pragma unroll\n            for (int i = 0; i < LANES; ++i) {\n                const real y = x.number(i);\n                \
                 if (!(y <= best[j][i]) && (y == y || !any[j])) best[j][i] = y, chosen[j][i] = k[j];\n            }\n            any[j] = true;\n",
                &format!(
                    "        Vector<ws_type, LANES> kept;\n#pragma unroll\n        for (int i = 0; i < LANES; ++i) v[i] = any[j] ? best[j][i] : {lowest}, kept.words[i] = (ws_type::word)chosen[j][i];\n        \
                     {store}"
                ),
            )
        }
    } else {
        each(
            "    Largest<src_type, LANES> best[TALL * WIDE];\n    bool any[TALL * WIDE] = {};\n",
            "            if (k[j] < 0) continue;\n            best[j].take(x);\n            any[j] = any[j] || is;\n",
            &format!("#pragma unroll\n        for (int i = 0; i < LANES; ++i) v[i] = any[j] ? best[j].number(i) : {lowest};\n"),
        )
    };
    // Tiles pay off if windows overlap; the positions of the maxima take registers.
    let shares = |d: usize| op.kernel[d] > op.window.strides[d];
    let (last, kept) = (op.kernel.len() - 1, op.workspace.is_some());
    // Where a thread has one channel, a taller tile shares more of its positions.
    let apart = op.dst.blocking().is_some_and(|b| b.is_plain() && b.strides[1] != 1);
    let tall = if !kept && shares(last.saturating_sub(1)) { if apart && last > 0 { 4 } else { 2 } } else { 1 };
    let wide = if !kept && shares(last) && op.window.strides[last] == 1 { 2 } else { 1 };
    map.tiles(&code, &all, tile(op, [tall, wide]));
    if !kept && op.kernel.len() == 2 {
        let (size, step) = (op.kernel[0], op.window.dilations[0] + 1);
        map.planes(Planes {
            name: "src",
            tensor: op.src.clone(),
            rows: "    const index begin = first * (index)a.stride[0] - (index)a.padding[0], reach = ((index)a.kernel[0].n - 1) * (index)a.dilation[0] + 1;\n    \
                   const index to = begin + (last - 1 - first) * (index)a.stride[0] + reach, from = min(max(begin, (index)0), (index)a.input[0]);\n    \
                   return {(int)from, (int)max(min(to, (index)a.input[0]), from)};\n"
                .into(),
            ratio: (op.window.strides[0], 1),
            more: (size - 1).saturating_mul(step).saturating_add(1),
            band: BAND,
            runs: None,
            table: None,
        });
    }
    Ok(())
}

fn pool_backward(op: &Pool, map: &mut Map<'_>) -> Result<(), Skip> {
    map.emit.view(&View::of("diff_dst", Arg::DIFF_DST, &op.dst))?;
    known(op, &mut map.emit);
    if op.workspace.is_none() {
        // All loads of a tile in flight, and the divisors of all windows, take registers.
        map.emit.option("BLOCKS", 2);
    }
    // Whether windows overlap much.
    let own = op.kernel.last().zip(op.window.strides.last()).is_some_and(|(&k, &s)| k > 2 * s);
    map.emit.define("ACROSS", if own { 3 } else { 2 });
    let mut all = vec![("diff_dst", &op.dst), ("dst", &op.src)];
    let (load, take) = match &op.workspace {
        Some(ws) => {
            map.emit.view(&View::of("ws", Arg::WORKSPACE, ws))?;
            all.push(("ws", ws));
            (
                "        Vector<ws_type, LANES> kept = {};\n        if (is) kept.load(a.ws_data, ws_at(a, q));\n",
                "if (was_kept(kept, i, k[j])) sum[j][i] += x.number(i);",
            )
        }
        None => ("        const real by = ratio((real)1, divisor(a, q));\n", "sum[j][i] = fma(x.number(i), by, sum[j][i]);"),
    };
    let code = format!(
        "    real sum[TALL * WIDE][LANES] = {{}};\n    each_window<TALL, WIDE>(a, p, [&](const index* q, const index (&k)[TALL * WIDE], bool is) {{\n        \
         Vector<diff_dst_type, LANES> x = {{}};\n        if (is) x.load(a.diff_dst_data, diff_dst_at(a, q));\n{load}#pragma unroll\n        \
         for (int j = 0; j < TALL * WIDE; ++j) {{\n            if (k[j] < 0) continue;\n#pragma unroll\n            for (int i = 0; i < LANES; ++i) {take}\n        }}\n    \
         }});\n#pragma unroll\n    for (int j = 0; j < TALL * WIDE; ++j) {{\n        index q[RANK];\n        if (moved(a, p, j / WIDE, j % WIDE, q)) finish_lanes<LANES>(a, q, sum[j]);\n    }}\n"
    );
    map.tiles(&code, &all, tile(op, [2; 2]));
    Ok(())
}

/// Resampling forward and backward.
pub(crate) fn resampling(problem: &Problem, _: &CudaTarget) -> Result<Program, Skip> {
    aligned(|vectors| resampling_by(problem, vectors))
}

/// Declares the sizes of both sides and how many inputs a result has along a dimension.
fn declare(map: &mut Map, op: &Resampling) {
    map.emit.numbers("input", &op.src.dims()[2..]);
    map.emit.numbers("output", &op.dst.dims()[2..]);
    let doubled: Vec<i64> = op.dst.dims()[2..].iter().map(|o| o.saturating_mul(2)).collect();
    map.emit.sizes("doubled", &doubled);
    let is_narrow = op.src.dims()[2..].iter().zip(&doubled).all(|(i, &o)| i.saturating_add(1).saturating_mul(o) <= i64::from(i32::MAX));
    map.emit.before(if is_narrow { "typedef int numerator;\n" } else { "typedef i64 numerator;\n" });
    let nearest = op.alg == ResamplingAlg::Nearest;
    if nearest {
        map.emit.define("NEAREST", 1);
    }
    map.emit.define("SIDES", if nearest { 1 } else { 2 });
    map.emit.code("#include \"resample.cuh\"\n");
    map.emit.sizes("spread", &op.src.dims()[2..].iter().map(|i| i.saturating_mul(2)).collect::<Vec<_>>());
}

fn resampling_by(problem: &Problem, vectors: bool) -> Result<Program, Skip> {
    let Op::Resampling(op) = &problem.op else { return Err(Skip::Op("anything but resampling")) };
    let forward = op.prop.is_forward();
    let (to, from) =
        if forward { ((Arg::DST, &op.dst), (Arg::SRC, &op.src)) } else { ((Arg::DIFF_SRC, &op.src), (Arg::DIFF_DST, &op.dst)) };
    let mut map = Map::over(Real::of(problem), &to.1.layout);
    map.tail(&Tail::of(problem, to.0, to.1))?;
    map.emit.view(&View::of("from", from.0, from.1))?;
    declare(&mut map, op);
    let nearest = op.alg == ResamplingAlg::Nearest;
    let (rank, along) = (op.src.dims().len(), along(op.src.dims().len()));
    let mut code = if forward { resampled(rank, along) } else { spread(op, along) };
    // Fewer results per thread if each is a vector of channels, which takes more registers; more if lines of input rows are kept for the next results.
    let single = to.1.blocking().is_some_and(|b| b.strides[1] != 1);
    let doubles = rank == 4 && (2..4).all(|d| op.dst.dims()[d] == 2 * op.src.dims()[d]);
    let twice = doubles && single;
    let [wide, before] = if doubles && !single && forward && !nearest { [2, 1] } else { [1, 0] };
    if wide == 2 {
        code.insert_str(0, "    if constexpr (TALL == 2 && WIDE == 2) return linear_twice<LANES>(a, p);\n");
    }
    let keeps_lines = rank == 4 && op.dst.dims()[3] >= op.src.dims()[3];
    let tall = match (forward && single, keeps_lines) {
        (true, true) => 8,
        (true, false) => 4,
        (false, _) if twice && !forward => 4,
        _ => 2,
    };
    map.tiles(&code, &[("from", from.1), ("dst", to.1)], Tile { along, tall, wide, before });
    if forward && rank == 4 {
        // When downsampling, reads from shared memory would have bank conflicts.
        let runs = if twice {
            let wide = if op.dst.dtype.bits() <= 16 && op.dst.dims()[3] % 8 == 0 { 8 } else { 4 };
            Some((wide, "resample_twice"))
        } else {
            (op.dst.dims()[3] >= op.src.dims()[3]).then_some((4, "resample"))
        };
        let table = Table { function: "tap_of", element: "Tap", count: 1, bytes: if Real::of(problem) == Real::Double { 16 } else { 8 } };
        map.planes(Planes {
            name: "from",
            tensor: op.src.clone(),
            rows: "    index at[2];\n    real second;\n    taps(a, 0, first, at, second);\n    const index from = at[0];\n    taps(a, 0, min(last, (index)a.length[2]) - 1, at, second);\n    \
                   return {(int)from, (int)at[1] + 1};\n"
                .into(),
            ratio: (op.src.dims()[2], op.dst.dims()[2].max(1)),
            more: 3,
            band: BAND,
            runs,
            table: (!nearest && !twice).then_some(table),
        });
    }
    if !forward && twice {
        map.planes(Planes {
            name: "from",
            tensor: op.dst.clone(),
            rows: "    return {(int)max(2 * first - 1, (index)0), (int)min(2 * last + 1, (index)a.output[0])};\n".into(),
            ratio: (2, 1),
            more: 4,
            band: 2 * BAND,
            runs: Some((if op.dst.dtype.bits() == 32 { 2 } else { 4 }, "spread_twice")),
            table: None,
        });
    } else if !forward && rank == 4 && Real::of(problem) == Real::Single {
        // Outputs that use an input, at most.
        let most = |d: usize| {
            let (i, o) = (op.src.dims()[d].max(1), op.dst.dims()[d].saturating_mul(2));
            ceil(o, i)
        };
        let entries = most(2).max(most(3));
        if let Some(entries) = [2, 4, 6, 8].into_iter().find(|&n| entries <= n) {
            if vectors
                && !nearest
                && let Some(shape) = spread_planes::shape(from.1, &to.1.layout, entries)
            {
                return Ok(spread_planes::program(map, from.1, &to.1.layout, &shape));
            }
            map.emit.option("MOST", entries);
            map.planes(Planes {
                name: "from",
                tensor: op.dst.clone(),
                rows: "    index from, to;\n    reach(a, 0, first, min(last, (index)a.length[2]) - 1, from, to);\n    return {(int)from, (int)max(to + 1, from)};\n".into(),
                ratio: (op.dst.dims()[2], op.src.dims()[2].max(1)),
                more: most(2) + 2,
                band: BAND,
                runs: Some((2, "spread")),
                table: Some(Table { function: "spread_of", element: "u32", count: 1 + entries, bytes: 4 }),
            });
        }
    }
    Ok(map.program())
}

/// The spatial dimensions other than `along`.
fn across(rank: usize, along: usize) -> impl Iterator<Item = usize> {
    (2..rank).filter(move |&d| d != along).map(|d| d - 2)
}

/// Statements that interpolate a tile: each result loads its own taps, all before the first use; inputs shared by results come from the cache.
fn resampled(rank: usize, along: usize) -> String {
    let (mut before, mut open, mut close, mut weight) = (String::new(), String::new(), String::new(), "ws".to_owned());
    for d in across(rank, along) {
        before += &format!("    index at{d}[2];\n    real second{d};\n    sure_taps(a, {d}, p[{}], at{d}, second{d});\n", 2 + d);
        open += &format!(
            "#pragma unroll\n            for (int side{d} = 0; side{d} < SIDES; ++side{d}) {{\n            q[{}] = at{d}[side{d}];\n            \
             const real w{d} = weight_of_side(side{d}, second{d});\n",
            2 + d
        );
        weight += &format!(" * w{d}");
        close.push_str("            }\n");
    }
    let line = along - 2;
    format!(
        "{before}    index q[RANK] = {{p[0], p[1]}};\n    real v[TALL][LANES] = {{}};\n#pragma unroll\n    for (int j = 0; j < TALL; ++j) {{\n        index at[2];\n        real second;\n        \
         sure_taps(a, {line}, min(p[{along}] + j, (index)a.length[{along}] - 1), at, second);\n#pragma unroll\n        for (int s = 0; s < SIDES; ++s) {{\n            q[{along}] = at[s];\n            \
         const real ws = weight_of_side(s, second);\n{open}            Vector<from_type, LANES> x;\n            x.load(a.from_data, from_at(a, q));\n            const real weight = {weight};\n#pragma unroll\n            \
         for (int i = 0; i < LANES; ++i) v[j][i] = fma(weight, x.number(i), v[j][i]);\n{close}        }}\n    }}\n#pragma unroll\n    \
         for (int j = 0; j < TALL; ++j) {{\n        index own[RANK];\n        if (moved(a, p, j, 0, own)) finish_lanes<LANES>(a, own, v[j]);\n    }}\n"
    )
}

/// Statements that sum the gradients of a column of inputs over the outputs that use them, line by line.
fn spread(op: &Resampling, along: usize) -> String {
    let rank = op.src.dims().len();
    let (mut before, mut open, mut close, mut weight) = (String::new(), String::new(), String::new(), "(real)1".to_owned());
    let skip = if op.alg == ResamplingAlg::Nearest { "if (w == 0) continue;" } else { "" };
    for d in across(rank, along) {
        let own = 2 + d;
        before += &format!("    index first{d}, last{d};\n    reach(a, {d}, p[{own}], p[{own}], first{d}, last{d});\n");
        open += &format!(
            "#pragma unroll 4\n        for (index o{d} = first{d}; o{d} <= last{d}; ++o{d}) {{\n        q[{own}] = o{d};\n        \
             const real w{d} = weight_of(a, {d}, o{d}, p[{own}]);\n        {}\n",
            skip.replace('w', &format!("w{d}"))
        );
        weight += &format!(" * w{d}");
        close.push_str("        }\n");
    }
    let line = along - 2;
    format!(
        "{before}    index first, last, q[RANK] = {{p[0], p[1]}};\n    reach(a, {line}, p[{along}], min(p[{along}] + TALL, (index)a.length[{along}]) - 1, first, last);\n    real sum[TALL][LANES] = {{}};\n    \
         for (index o = first; o <= last; ++o) {{\n        q[{along}] = o;\n        real t[LANES] = {{}};\n{open}        Vector<from_type, LANES> x;\n        \
         x.load(a.from_data, from_at(a, q));\n        const real weight = {weight};\n#pragma unroll\n        for (int i = 0; i < LANES; ++i) t[i] = fma(weight, x.number(i), t[i]);\n{close}#pragma unroll\n        \
         for (int j = 0; j < TALL; ++j) {{\n            const real w = weight_of(a, {line}, o, p[{along}] + j);\n            if (w == 0) continue;\n#pragma unroll\n            \
         for (int i = 0; i < LANES; ++i) sum[j][i] = fma(w, t[i], sum[j][i]);\n        }}\n    }}\n#pragma unroll\n    \
         for (int j = 0; j < TALL; ++j) {{\n        index own[RANK];\n        if (moved(a, p, j, 0, own)) finish_lanes<LANES>(a, own, sum[j]);\n    }}\n"
    )
}

//! Depthwise convolution of images in strips: a thread computes four neighbouring pixels of a vector of channels, and reads each input pixel of a row once for all
//! of them. Filters up to 7 wide without dilation along W. Bound by memory: source and result are moved once.

use super::{TAPS, scaled};
use crate::CudaTarget;
use crate::emit::{Emitter, Real, Tail, View};
use crate::ops::ceil;
use crate::ops::columns::{self, Matrix, Shape};
use crate::ops::map::Map;
use crate::ops::pointwise::tensor;
use crate::ops::rows::{Rows, Stage};
use crate::program::{OVERFLOW, Program};
use oxidnn_runtime::Skip;
use oxidnn_spec::op::{Conv, ConvSizes};
use oxidnn_spec::{Arg, Layout, Problem, Tensor};

/// Pixels of a strip.
const STRIP: i64 = 4;
/// Widest filter, and largest stride along W.
const WIDE: i64 = 7;
const STEP: i64 = 2;

/// Whether strips apply; backward data without strides only.
pub(super) fn fits(op: &Conv, z: &ConvSizes, by_data: bool) -> bool {
    op.src.dims().len() == 4 && z.d[2] == 1 && z.k[2] <= WIDE && z.s[2] <= STEP && (!by_data || z.s == [1; 3])
}

/// The number of strips.
fn strips(images: i64, rows: i64, across: i64) -> [i64; 3] {
    [images, rows, ceil(across, STRIP)]
}

/// Forward, or backward data; `filter` is the copy of the weights as (taps, channels), flipped for backward data.
pub(super) fn data(op: &Conv, problem: &Problem, z: &ConvSizes, filter: &View<'_>) -> Result<crate::program::Launch, Skip> {
    let forward = op.prop.is_forward();
    let (from, to) =
        if forward { ((Arg::SRC, &op.src), (Arg::DST, &op.dst)) } else { ((Arg::DIFF_DST, &op.dst), (Arg::DIFF_SRC, &op.src)) };
    let (read, written) = if forward { (z.i, z.o) } else { (z.o, z.i) };
    let [images, rows, across] = strips(z.mb, written[1], written[2]);
    let over = Layout::dense([images, z.g, rows, across].into(), &[0, 2, 3, 1]).map_err(|_| OVERFLOW)?;
    let mut map = Map::over(Real::of(problem), &over);
    map.emit.tail(&Tail::of(problem, to.0, to.1))?;
    map.emit.view(&View::of("from", from.0, from.1))?;
    map.emit.view(filter)?;
    map.emit.number("groups", z.g);
    map.emit.number("high", z.k[1]);
    let padding = |d: usize| if forward { z.pl[d] } else { (z.k[d] - 1) * z.d[d] - z.pl[d] };
    for (name, v) in [("read", read), ("padding", [0, padding(1), padding(2)]), ("down", [0, z.s[1], z.d[1]])] {
        map.emit.numbers(name, &v[1..]);
    }
    map.emit.number("across", written[2]);
    for (name, value) in [("STRIP", STRIP), ("WIDE", z.k[2]), ("STEP", z.s[2])] {
        map.emit.define(name, value);
    }
    let [before, value] = if forward { scaled(op, problem, "sum[s][i]", &mut map.emit)? } else { [String::new(), "sum[s][i]".into()] };
    let code = format!(
        "    real sum[STRIP][LANES] = {{}};\n    const index first = p[3] * STRIP;\n    for (index k = 0; k < (index)a.high; ++k) {{\n        \
         const index line[] = {{p[0], p[1], (index)(p[2] * a.down[0] - a.padding[0] + k * a.down[1]), 0}};\n        \
         if (line[2] < 0 || line[2] >= a.read[0]) continue;\n        const i64 row = from_at(a, line);\n        Vector<filter_type, LANES> w[WIDE];\n\
         #pragma unroll\n        for (int x = 0; x < WIDE; ++x) w[x].load(a.filter_data, ((i64)k * WIDE + x) * a.groups + p[1]);\n\
         #pragma unroll\n        for (int c = 0; c < (STRIP - 1) * STEP + WIDE; ++c) {{\n            const index x = first * STEP - (index)a.padding[1] + c;\n            \
         if (x < 0 || x >= a.read[1]) continue;\n            Vector<from_type, LANES> v;\n            v.load(a.from_data, row + (i64)x * a.from_stride[3]);\n\
         #pragma unroll\n            for (int s = 0; s < STRIP; ++s) {{\n                const int t = c - s * STEP;\n                if (t < 0 || t >= WIDE) continue;\n\
         #pragma unroll\n                for (int i = 0; i < LANES; ++i) sum[s][i] = fma(v.number(i), w[t].number(i), sum[s][i]);\n            }}\n        }}\n    }}\n\
         #pragma unroll\n    for (int s = 0; s < STRIP; ++s) {{\n        const index q[] = {{p[0], p[1], p[2], first + s}};\n        if (q[3] >= a.across) break;\n\
         #pragma unroll\n        for (int i = 0; i < LANES; ++i) {{\n{before}            sum[s][i] = {value};\n        }}\n        finish_lanes<LANES>(a, q, sum[s]);\n    }}\n"
    );
    let row = Tensor { dtype: op.weights.dtype, layout: Layout::plain([z.k[1] * z.k[2] * z.g].into()).map_err(|_| OVERFLOW)? };
    map.lanes(&code, &[("from", from.1), ("dst", to.1), ("filter", &row)]);
    Ok(map.launch())
}

/// The weight gradient: sums over strips, for some filter rows per launch, in parts.
pub(super) fn gradient(op: &Conv, problem: &Problem, z: &ConvSizes, target: &CudaTarget) -> Result<Program, Skip> {
    let real = Real::of(problem);
    let diff_dst = tensor(problem, Arg::DIFF_DST)?;
    let strided = || Skip::Layout("pixels that are not evenly spaced or channels that are not read in vectors".into());
    let matrices = [("diff_dst", Arg::DIFF_DST, diff_dst), ("image", Arg::SRC, &op.src)];
    let [d, x] = matrices.map(|(name, arg, t)| Matrix::of(name, arg, t, 1));
    let all = [d.ok_or_else(strided)?, x.ok_or_else(strided)?];
    let sizes = strips(z.mb, z.o[1], z.o[2]);
    let shape = Shape::of(&all, [sizes.iter().product(), z.g], real, target).filter(|_| real == Real::Single).ok_or_else(strided)?;
    let rows_of = (TAPS / z.k[2]).clamp(1, z.k[1]);
    let mut program = Program::default();
    let at = columns::book(&mut program, &shape, rows_of * z.k[2], real)?;
    let tail = Tail::of(problem, Arg::DIFF_WEIGHTS, &op.weights);
    for first in (0..z.k[1]).step_by(rows_of as usize) {
        let rows = rows_of.min(z.k[1] - first);
        let mut emit = Emitter::new(real, z.mb * z.o.iter().product::<i64>() * z.g);
        emit.define("RANK", 4);
        for (name, value) in [("STRIP", STRIP), ("WIDE", z.k[2]), ("STEP", z.s[2]), ("ROWS", rows), ("ADDS", 1)] {
            emit.option(name, value);
        }
        emit.traversal("strip", &sizes, &[0, 1, 2]);
        emit.view(&View::of("src", Arg::SRC, &op.src))?;
        emit.view(&View::of("given", Arg::DIFF_DST, diff_dst))?;
        emit.numbers("read", &z.i[1..]);
        emit.numbers("padding", &[z.pl[1] - first * z.d[1], z.pl[2]]);
        emit.numbers("down", &[z.s[1], z.d[1]]);
        emit.number("across", z.o[2]);
        let terms = "    DEVICE void begin(const Args&, i64) {}\n    DEVICE void at(const Args& a, i64 r, i64 c, real (&t)[SUMS][VECTOR]) {\n        \
                     index p[3];\n        strip(a, (index)r, p);\n        const index first = p[2] * STRIP, start[] = {p[0], (index)c, p[1], first};\n        \
                     const i64 row = given_at(a, start);\n        Vector<given_type, VECTOR> d[STRIP];\n\
                     #pragma unroll\n        for (int s = 0; s < STRIP; ++s) {\n            if (first + s < a.across) d[s].load(a.given_data, row + s * a.given_stride[3]);\n        }\n\
                     #pragma unroll\n        for (int k = 0; k < ROWS; ++k) {\n            const index line[] = {p[0], (index)c, (index)(p[1] * a.down[0] - a.padding[0] + k * a.down[1]), 0};\n            \
                     if (line[2] < 0 || line[2] >= a.read[0]) continue;\n            const i64 from = src_at(a, line);\n\
                     #pragma unroll\n            for (int j = 0; j < (STRIP - 1) * STEP + WIDE; ++j) {\n                const index x = first * STEP - (index)a.padding[1] + j;\n                \
                     if (x < 0 || x >= a.read[1]) continue;\n                Vector<src_type, VECTOR> v;\n                v.load(a.src_data, from + (i64)x * a.src_stride[3]);\n\
                     #pragma unroll\n                for (int s = 0; s < STRIP; ++s) {\n                    const int tap = j - s * STEP;\n                    \
                     if (tap < 0 || tap >= WIDE || first + s >= a.across) continue;\n\
                     #pragma unroll\n                    for (int i = 0; i < VECTOR; ++i) t[k * WIDE + tap][i] = fma(d[s].number(i), v.number(i), t[k * WIDE + tap][i]);\n                \
                     }\n            }\n        }\n    }\n";
        program.launches.push(shape.launch(emit, &all, terms, Some(rows * z.k[2]), at));
        let partial = shape.partial(rows * z.k[2], real)?;
        let mut add = Rows::over(real, &partial.layout, |d| d != 1);
        add.emit.view(&View::scratch("partial", at, &partial))?;
        add.emit.tail(&tail)?;
        add.emit.sizes("breadth", &[z.k[2]]);
        add.emit.number("first", first);
        add.stages = vec![Stage::sum("partial(a, p)", "x")];
        add.result =
            "    index y = p[0];\n    const index x = split(a.breadth[0], y), q[] = {p[2], 0, 0, y + (index)a.first, x};\n    finish(a, q, s[0]);\n".into();
        program.launches.push(add.launch());
    }
    Ok(program)
}

//! Columns whose terms a block keeps in registers (`kernels/columns_vector.cu`): what [`rows_vector`] is for outputs that lie next to each other in memory while
//! their terms are apart.

use super::rows_vector::{Body, Extent, Input, chunks, combine, mentions, together};
use crate::Facts;
use crate::emit::Emitter;
use crate::program::Launch;
use std::fmt::Write;

/// Words that a thread keeps at most: two blocks of 256 threads share a multiprocessor, or one of 512 has it.
const WORDS: i64 = 64;
/// Registers of a multiprocessor, and those that a thread needs besides.
const REGISTERS: i64 = 64 * 1024;
const BESIDES: i64 = 56;
/// Bytes next to each other that a block reads of a term, best first, with the block's threads.
const RUNS: [(i64, i64); 6] = [(128, 256), (64, 256), (128, 512), (64, 512), (32, 256), (32, 512)];

/// The shape of the kernel.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    vector: i64,
    lanes: i64,
    threads: i64,
    chunks: i64,
    /// Blocks that share a multiprocessor at least.
    blocks: i64,
    /// The dimension along which neighbouring outputs lie.
    along: usize,
}

/// The shape for columns, which lie along the dimension of `extent`; `None` where registers do not hold the terms, or elements share bytes.
pub(crate) fn shape(inputs: &[Input], dst: Option<&Input>, extent: &Extent, facts: &Facts) -> Option<Shape> {
    let Extent { outputs, terms, along } = *extent;
    let tensors = || inputs.iter().chain(dst);
    let least = tensors().map(Input::bytes).min().filter(|&b| b > 0)?;
    let vector = together(tensors(), along).unwrap_or(1);
    let words: i64 = inputs.iter().map(|t| t.words(vector)).sum();
    let of = |run: i64, threads: i64| {
        let mut lanes = (run / (vector * least)).clamp(1, 32);
        // Threads that would have no term have columns.
        while lanes < 32 && threads / lanes > terms {
            lanes *= 2;
        }
        let chunks = chunks(terms, threads / lanes)?;
        (chunks * words <= WORDS).then_some(Shape {
            vector,
            lanes,
            threads,
            chunks,
            blocks: (REGISTERS / (threads * (chunks * words + BESIDES))).max(1),
            along: along.0,
        })
    };
    let shapes = RUNS.iter().filter_map(|&(run, threads)| of(run, threads));
    let blocks = |s: &Shape| outputs / (s.lanes * s.vector);
    shapes.clone().find(|s| blocks(s) >= i64::from(facts.multiprocessors)).or_else(|| shapes.max_by_key(blocks))
}

/// The launch.
pub(crate) fn launch(mut emit: Emitter, shape: &Shape, body: &Body<'_>) -> Launch {
    let Body { inputs, dst, stages, each, result, outputs, terms } = *body;
    let Shape { vector, lanes, threads, chunks, blocks, along } = *shape;
    for (name, value) in [("THREADS", threads), ("LANES", lanes), ("VECTOR", vector), ("CHUNKS", chunks), ("BLOCKS", blocks)] {
        emit.option(name, value);
    }
    emit.define("STAGES", stages.len().max(1));
    emit.number("outputs", outputs);
    emit.number("terms", terms);
    emit.code(&combine(stages));
    emit.code(REDUCED);
    let (mut declared, mut loads) = (String::new(), String::new());
    for t in inputs {
        let name = t.name();
        let _ = writeln!(declared, "    Vector<{name}_type, VECTOR> {name}_kept[CHUNKS];");
        let _ = writeln!(loads, "            {name}_kept[c].load(a.{name}_data, {name}_at(a, p));");
    }
    // The terms of a thread, for whose columns `body` is done.
    let chunk = |text: &str, before: &str, body: &str, after: &str| {
        let (mut bound, mut own) = (String::new(), String::new());
        for name in inputs.iter().map(Input::name).filter(|name| mentions(text, name)) {
            let _ = writeln!(bound, "            auto& {name} = {name}_kept[c];");
            let _ = writeln!(own, "                {name}.lane = i;");
        }
        format!(
            "#pragma unroll\n    for (int c = 0; c < CHUNKS; ++c) {{\n        const i64 r = c * PARTS + part;\n        if (valid && r < a.terms) {{\n            \
             p[{along}] = first;\n            row_term(a, (index)r, p);\n{bound}{before}#pragma unroll\n            for (int i = 0; i < VECTOR; ++i) {{\n                \
             p[{along}] = first + i;\n                real (&s)[STAGES] = numbers[i];\n{own}{body}            }}\n{after}        }}\n    }}\n"
        )
    };
    let mut body = String::new();
    for (k, stage) in stages.iter().enumerate() {
        let term = format!("                all[i] = combine({k}, all[i], {});\n", stage.term);
        let _ = write!(
            body,
            "    {{\n    real all[VECTOR];\n#pragma unroll\n    for (int i = 0; i < VECTOR; ++i) all[i] = {};\n{}    reduced({k}, all);\n#pragma unroll\n    \
             for (int i = 0; i < VECTOR; ++i) {{\n        real (&s)[STAGES] = numbers[i];\n        const real x = all[i];\n        s[{k}] = {};\n    }}\n    }}\n",
            stage.identity,
            chunk(&stage.term, "", &term, ""),
            stage.close
        );
    }
    if dst.is_some() && !each.is_empty() {
        let before = "            const i64 at = dst_at(a, p);\n            Vector<dst_type, VECTOR> out;\n";
        let own = format!(
            "                auto finish = [&](const Args&, const index*, real v) {{ out.words[i] = dst_type::encode(rounded(a, p, at + i, value(a, p, at + i, v))); }};\n{each}"
        );
        body += &chunk(each, before, &own, "            out.store(a.dst_data, at);\n");
    }
    if !result.is_empty() {
        let _ = write!(
            body,
            "    if (valid && part == 0) {{\n        for (int i = 0; i < VECTOR; ++i) {{\n            index p[RANK + 2] = {{}};\n            \
             real (&s)[STAGES] = numbers[i];\n            output(a, (index)(o + i), p);\n{result}        }}\n    }}\n"
        );
    }
    let load = format!(
        "#pragma unroll\n    for (int c = 0; c < CHUNKS; ++c) {{\n        const i64 r = c * PARTS + part;\n        if (valid && r < a.terms) {{\n            \
         row_term(a, (index)r, p);\n{loads}        }}\n    }}\n"
    );
    emit.code(&format!(
        "DEVICE void column(const Args& a, i64 o, bool valid, int part) {{\n    index p[RANK + 2] = {{}};\n    real numbers[VECTOR][STAGES];\n    \
         if (valid) output(a, (index)o, p);\n    const index first = p[{along}];\n{declared}{load}{body}}}\n"
    ));
    let own = lanes * vector;
    let blocks = (outputs.max(1) as u64).div_ceil(own as u64).min(1 << 20) as u32;
    let mut launch = emit.launch_blocks("columns_vector", [blocks, 1, 1]);
    launch.block = threads as u32;
    if vector > 1 {
        launch.aligned = inputs.iter().chain(dst).filter_map(Input::place).collect();
    }
    launch
}

/// `reduced(stage, x)`: the numbers of all threads of each column.
const REDUCED: &str = "DEVICE void reduced(int stage, real (&x)[VECTOR]) {\n    __shared__ real parts[THREADS / 32][LANES * VECTOR];\n    \
    const int own = threadIdx.x % LANES * VECTOR;\n#pragma unroll\n    for (int step = 16; step >= LANES; step /= 2) {\n#pragma unroll\n        \
    for (int i = 0; i < VECTOR; ++i) x[i] = combine(stage, x[i], __shfl_xor_sync(~0u, x[i], step));\n    }\n    __syncthreads();\n    \
    if (threadIdx.x % 32 < LANES) {\n#pragma unroll\n        for (int i = 0; i < VECTOR; ++i) parts[threadIdx.x / 32][own + i] = x[i];\n    }\n    \
    __syncthreads();\n#pragma unroll\n    for (int i = 0; i < VECTOR; ++i) x[i] = parts[0][own + i];\n#pragma unroll\n    for (int w = 1; w < THREADS / 32; ++w) {\n\
    #pragma unroll\n        for (int i = 0; i < VECTOR; ++i) x[i] = combine(stage, x[i], parts[w][own + i]);\n    }\n}\n";

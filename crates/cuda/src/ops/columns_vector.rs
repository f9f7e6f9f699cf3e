//! Column reductions with the terms in registers (`kernels/columns_vector.cu`): the counterpart of [`rows_vector`] for outputs that are contiguous in memory while
//! the terms of an output are not.

use super::rows_vector::{Body, Extent, Input, chunks, combine, mentions, surely, together};
use crate::Facts;
use crate::emit::Emitter;
use crate::program::Launch;
use std::fmt::Write;

/// Values of a thread up to which its loop over terms is unrolled without bounds checks; 32-bit registers for terms, at most, so that two CTAs of 256 threads or one
/// of 512 fit an SM.
const NUMBERS: i64 = 64;
const WORDS: i64 = 64;
/// Registers of an SM, and those that a thread needs besides its terms.
const REGISTERS: i64 = 64 * 1024;
const BESIDES: i64 = 56;
/// Shared memory of a CTA besides the prefetched columns.
const OWN_BYTES: i64 = 5 * 1024;
/// Candidates in order of preference: contiguous bytes that a group reads of a term, threads per CTA, threads of a group; and bytes that make coalesced accesses.
const RUNS: [(i64, i64, i64); 8] =
    [(128, 256, 32), (64, 256, 32), (128, 256, 256), (64, 256, 256), (128, 512, 512), (64, 512, 512), (32, 256, 256), (32, 512, 512)];
const LONG: i64 = 64;

/// The configuration of the kernel.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    vector: i64,
    lanes: i64,
    /// Threads that share columns: a warp or the CTA.
    group: i64,
    threads: i64,
    chunks: i64,
    /// Terms that every thread has, which need no bounds check.
    sure: i64,
    /// CTAs per SM, at least.
    blocks: i64,
    /// The dimension along which outputs are contiguous.
    along: usize,
    /// The dimension of the terms, if it is a single one along which all tensors have a stride.
    down: Option<usize>,
    /// Iterations that are prefetched into shared memory, bytes of one, and CTAs of the then persistent kernel.
    staged: i64,
    bytes: i64,
    at_once: i64,
}

impl Shape {
    /// Columns of a CTA.
    fn width(&self) -> i64 {
        self.threads / self.group * self.lanes * self.vector
    }
}

/// The configuration; `None` if the terms do not fit in registers, or the elements have fewer than 8 bits.
pub(crate) fn shape(inputs: &[Input], dst: Option<&Input>, extent: &Extent, facts: &Facts) -> Option<Shape> {
    let Extent { outputs, terms, along, down } = *extent;
    let tensors = || inputs.iter().chain(dst);
    let least = tensors().map(Input::bytes).min().filter(|&b| b > 0)?;
    let vector = together(tensors(), along).unwrap_or(1);
    let words: i64 = inputs.iter().map(|t| t.words(vector)).sum();
    let down = down.filter(|_| tensors().all(Input::is_plain));
    let of = |(run, threads, group): (i64, i64, i64)| {
        let mut lanes = (run / (vector * least)).clamp(1, 32);
        // Threads without a term take further columns instead.
        while lanes < 32 && group / lanes > terms {
            lanes *= 2;
        }
        let chunks = chunks(terms, group / lanes)?;
        let numbers = chunks * vector * inputs.len() as i64;
        let blocks = (REGISTERS / (threads * (numbers.min(WORDS).max(chunks * words) + BESIDES))).max(1);
        let at_once = i64::from(facts.multiprocessors) * blocks;
        let (bytes, sure) = (4 * threads * chunks * words, if numbers <= NUMBERS { surely(chunks) } else { 0 });
        let shape = Shape { vector, lanes, group, threads, chunks, sure, blocks, along: along.0, down, staged: 0, bytes, at_once };
        let turns = outputs / shape.width() / at_once;
        let fits = |ahead: &i64| blocks * (ahead * bytes + OWN_BYTES) <= i64::from(facts.shared_memory) && turns >= *ahead;
        let is_copied = inputs.iter().all(|t| t.bytes() * vector % 4 == 0);
        let staged = [2, 1].into_iter().filter(|_| is_copied).find(fits).unwrap_or(0);
        let is_quick = numbers <= NUMBERS && run >= LONG;
        (chunks * words <= WORDS && (is_quick || group == threads)).then_some((is_quick, Shape { staged, ..shape }))
    };
    let shapes = RUNS.iter().filter_map(|&run| of(run));
    let blocks = |s: &Shape| outputs / s.width();
    let busy = |s: &Shape| blocks(s) >= i64::from(facts.multiprocessors);
    let quick = shapes.clone().filter(|s| s.0).map(|s| s.1).find(busy);
    let all = shapes.map(|s| s.1);
    quick.or_else(|| all.clone().find(busy)).or_else(|| all.max_by_key(blocks))
}

/// Declares the kernel's defines and sizes.
fn declare(emit: &mut Emitter, shape: &Shape, body: &Body<'_>) {
    let Shape { vector, lanes, group, threads, chunks, sure, blocks, staged, .. } = *shape;
    let sizes = [("THREADS", threads), ("LANES", lanes), ("GROUP", group), ("VECTOR", vector), ("CHUNKS", chunks), ("SURE", sure)];
    for (name, value) in sizes.into_iter().chain([("BLOCKS", blocks), ("STAGED", staged)]) {
        emit.option(name, value);
    }
    emit.define("STAGES", body.stages.len().max(1));
    emit.number("outputs", body.outputs);
    emit.number("terms", body.terms);
    emit.code(&combine(body.stages));
    emit.code(REDUCED);
}

/// The launch.
pub(crate) fn launch(mut emit: Emitter, shape: &Shape, body: &Body<'_>) -> Launch {
    let Body { inputs, dst, stages, each, result, outputs, .. } = *body;
    let Shape { vector, threads, along, down, staged, bytes, at_once, .. } = *shape;
    declare(&mut emit, shape, body);
    // The offset of a thread's element of a chunk: by a stride, or from its position.
    let place = |name: &str| if down.is_some() { format!("{name}_first + c * {name}_apart") } else { format!("{name}_at(a, p)") };
    let first = |name: &str| {
        let apart = |d| format!("    const i64 {name}_first = {name}_at(a, p), {name}_apart = (i64)PARTS * a.{name}_stride[{d}];\n");
        down.map_or(String::new(), apart)
    };
    let begin = "    row_term(a, (index)part, p);\n";
    // A loop over the chunks of terms that exist.
    let chunks_of = |text: &str| {
        format!(
            "#pragma unroll\n    for (int c = 0; c < CHUNKS; ++c) {{\n        const index r = c * PARTS + part;\n        if (c < SURE || r < (index)a.terms) {{\n            \
             row_term(a, r, p);\n{text}        }}\n    }}\n"
        )
    };
    let (mut declared, mut loads, mut firsts, mut fetched, mut room) =
        (String::new(), String::new(), String::new(), String::new(), "(room + slot * SLOT)".to_owned());
    for t in inputs {
        let (name, piece) = (t.name(), t.bytes() * vector);
        let _ = writeln!(declared, "    Vector<{name}_type, VECTOR> {name}_kept[CHUNKS];");
        firsts += &first(name);
        let own = format!("{room} + (c * THREADS + (int)threadIdx.x) * {piece}");
        let _ = writeln!(fetched, "            fetch<{piece}>({own}, (const {name}_type::word*)a.{name}_data + {});", place(name));
        let from = if staged > 0 { own } else { format!("(const {name}_type::word*)a.{name}_data + {}", place(name)) };
        let _ = writeln!(loads, "            {name}_kept[c].load({from}, 0);");
        let _ = write!(room, " + CHUNKS * THREADS * {piece}");
    }
    // A loop over a thread's terms and columns.
    let chunk = |text: &str, before: &str, body: &str, after: &str| {
        let (mut bound, mut own) = (String::new(), String::new());
        for name in inputs.iter().map(Input::name).filter(|name| mentions(text, name)) {
            let _ = writeln!(bound, "            auto& {name} = {name}_kept[c];");
            let _ = writeln!(own, "                {name}.lane = i;");
        }
        chunks_of(&format!(
            "            p[{along}] = first;\n{bound}{before}#pragma unroll\n            for (int i = 0; i < VECTOR; ++i) {{\n                \
             p[{along}] = first + i;\n                real (&s)[STAGES] = numbers[i];\n{own}{body}            }}\n{after}"
        ))
    };
    let mut body = String::new();
    for (k, stage) in stages.iter().enumerate() {
        let term = format!("                all[i] = combine({k}, all[i], {});\n", stage.term);
        // After the first stage the slot has been read: prefetch into it.
        let next = if k == 0 && staged > 0 { "    fetch_columns(a, o + step, part, slot);\n" } else { "" };
        let _ = write!(
            body,
            "    {{\n    real all[VECTOR];\n#pragma unroll\n    for (int i = 0; i < VECTOR; ++i) all[i] = {};\n{}    reduced({k}, all);\n{next}#pragma unroll\n    \
             for (int i = 0; i < VECTOR; ++i) {{\n        real (&s)[STAGES] = numbers[i];\n        const real x = all[i];\n        s[{k}] = {};\n    }}\n    }}\n",
            stage.identity,
            chunk(&stage.term, "", &term, ""),
            stage.close
        );
    }
    if dst.is_some() && !each.is_empty() {
        let before = format!("            const i64 at = {};\n            Vector<dst_type, VECTOR> out;\n", place("dst"));
        let own = format!(
            "                auto finish = [&](const Args&, const index*, real v) {{ out.words[i] = dst_type::encode(rounded(a, p, at + i, value(a, p, at + i, v))); }};\n{each}"
        );
        let all = chunk(each, &before, &own, "            out.store(a.dst_data, at);\n");
        let _ = write!(body, "    if (valid) {{\n    p[{along}] = first;\n{begin}{}{all}    }}\n", first("dst"));
    }
    if !result.is_empty() {
        let _ = write!(
            body,
            "    if (valid && part == 0) {{\n        for (int i = 0; i < VECTOR; ++i) {{\n            index p[RANK + 2] = {{}};\n            \
             real (&s)[STAGES] = numbers[i];\n            output(a, (index)(o + i), p);\n{result}        }}\n    }}\n"
        );
    }
    let position = format!("    index p[RANK + 2] = {{}};\n    output(a, (index)min(o, a.outputs - VECTOR), p);\n{begin}");
    let mut load = format!("{firsts}{}", chunks_of(&loads));
    if staged > 0 {
        emit.define("SLOT", bytes);
        emit.code("extern __shared__ __align__(16) u8 room[];\n");
        emit.code(&format!(
            "DEVICE void fetch_columns(const Args& a, i64 o, int part, int slot) {{\n    if (o < a.outputs) {{\n{position}{firsts}{}    }}\n    \
             asm volatile(\"cp.async.commit_group;\" ::: \"memory\");\n}}\n",
            chunks_of(&fetched)
        ));
        load = format!("    asm volatile(\"cp.async.wait_group %0;\" ::\"n\"(STAGED - 1) : \"memory\");\n{}", chunks_of(&loads));
    }
    emit.code(&format!(
        "DEVICE void column(const Args& a, i64 o, i64 step, int part, int slot) {{\n{position}    const bool valid = o < a.outputs;\n    real numbers[VECTOR][STAGES];\n    \
         const index first = p[{along}];\n{declared}{load}{body}}}\n"
    ));
    let tiles = (outputs.max(1) as u64).div_ceil(shape.width() as u64).min(1 << 20) as u32;
    let mut launch = emit.launch_blocks("columns_vector", [if staged > 0 { at_once as u32 } else { tiles }, 1, 1]);
    launch.block = threads as u32;
    launch.shared = (staged * bytes) as u32;
    if vector > 1 {
        launch.aligned = inputs.iter().chain(dst).filter_map(Input::place).collect();
    }
    launch
}

/// `reduced(stage, x)`: combines the values of each column over the threads that share it, by shuffles within a warp and through shared memory between warps.
const REDUCED: &str = "DEVICE void reduced(int stage, real (&x)[VECTOR]) {\n#pragma unroll\n    for (int step = 16; step >= LANES; step /= 2) {\n#pragma unroll\n        \
    for (int i = 0; i < VECTOR; ++i) x[i] = combine(stage, x[i], __shfl_xor_sync(~0u, x[i], step));\n    }\n#if GROUP > 32\n    \
    const int columns = LANES * VECTOR, warps = THREADS / 32, own = threadIdx.x % LANES * VECTOR;\n    __shared__ real parts[warps][columns + 4], totals[columns];\n    \
    if (threadIdx.x % 32 < LANES) {\n#pragma unroll\n        for (int i = 0; i < VECTOR; ++i) parts[threadIdx.x / 32][own + i] = x[i];\n    }\n    \
    __syncthreads();\n#pragma unroll\n    for (int k = 0; k < (columns + 31) / 32; ++k) {\n        const int i = k * THREADS + threadIdx.x;\n        \
    if (columns % 32 != 0 && i >= warps * columns) break;\n        real y = parts[i % warps][i / warps];\n#pragma unroll\n        \
    for (int step = warps / 2; step > 0; step /= 2) y = combine(stage, y, __shfl_xor_sync(~0u, y, step));\n        if (i % warps == 0) totals[i / warps] = y;\n    }\n    \
    __syncthreads();\n#pragma unroll\n    for (int i = 0; i < VECTOR; ++i) x[i] = totals[own + i];\n#endif\n}\n";

//! Rows whose terms a block keeps in registers, in vectors of neighbours (`kernels/rows_vector.cu`): the code of [`Rows`](super::rows::Rows) with vectors in
//! place of the tensors' accessors.

use super::rows::Stage;
use crate::emit::{Emitter, View};
use crate::program::{Launch, MapPlace};
use oxidnn_spec::{DataType, Layout};
use std::fmt::Write;

/// Numbers of a thread that are kept in registers at most, in words, where rows are read besides that all share, and with blocks of 1,024 threads.
const WORDS: i64 = 32;
const WORDS_OF_SHARED: i64 = 16;
const WORDS_OF_MANY: i64 = 24;

/// A tensor that moves along the rows.
pub(crate) struct Input {
    name: String,
    dtype: DataType,
    layout: Layout,
    /// Its position begins so many dimensions further.
    shift: usize,
    /// Loaded once, or where it is used: what all rows share.
    kept: bool,
    place: Option<MapPlace>,
}

impl Input {
    /// A tensor whose elements are read once a term, kept where `kept` says so; its positions begin at dimension `shift`.
    pub(crate) fn of(view: &View<'_>, shift: usize, kept: bool) -> Input {
        let place = match view.place {
            crate::emit::Place::Arg(arg) => Some(MapPlace::Arg(arg, 0)),
            crate::emit::Place::Scratch(_) => None,
        };
        Input { name: view.name.into(), dtype: view.dtype, layout: view.layout.clone(), shift, kept, place }
    }

    fn bytes(&self) -> i64 {
        self.dtype.bits() as i64 / 8
    }
}

/// The shape of the kernel.
pub(crate) struct Shape {
    vector: i64,
    threads: i64,
    chunks: i64,
    /// The dimension along which neighbours lie.
    along: usize,
}

/// The shape for rows of `terms`, whose fastest dimension is `along` with `size` positions, over tensors that all move along it in one run; `None` where they
/// do not, or the rows are too long for registers.
pub(crate) fn shape(inputs: &[Input], dst: Option<&Input>, terms: i64, (along, size): (usize, i64)) -> Option<Shape> {
    let all = || inputs.iter().chain(dst);
    let least = all().map(Input::bytes).min().filter(|&b| b > 0)?;
    let fits = |n: i64| {
        size % n == 0
            && n * least >= 4
            && all().all(|t| {
                let whole = |stride: i64| stride % n == 0;
                let d = along.checked_sub(t.shift);
                let run = |b: &oxidnn_spec::Blocking, d: usize| {
                    d < t.layout.ndims()
                        && t.layout.dims[d] == size
                        && b.strides[d] == 1
                        && (0..t.layout.ndims()).all(|e| e == d || t.layout.dims[e] == 1 || whole(b.strides[e]))
                };
                t.layout
                    .blocking()
                    .is_some_and(|b| b.is_plain() && b.padded_dims == t.layout.dims && whole(b.offset) && d.is_some_and(|d| run(b, d)))
            })
    };
    let vector = [8, 4, 2].into_iter().filter(|n| n * least <= 16).find(|&n| fits(n))?;
    let words: i64 = inputs.iter().filter(|i| i.kept).map(|i| (vector * i.bytes()).div_euclid(4).max(1)).sum();
    let vectors = terms / vector;
    let shares = inputs.iter().any(|i| !i.kept);
    [32, 64, 128, 256, 512, 1024].into_iter().find_map(|threads| {
        let needed = vectors / threads + i64::from(vectors % threads != 0);
        let chunks = [1, 2, 3, 4, 6, 8, 12, 16, 20, 24].into_iter().find(|&c| c >= needed)?;
        let limit = if threads == 1024 {
            WORDS_OF_MANY
        } else if shares {
            WORDS_OF_SHARED
        } else {
            WORDS
        };
        (chunks * words <= limit).then_some(Shape { vector, threads, chunks, along })
    })
}

/// What is done with rows.
pub(crate) struct Body<'a> {
    /// The tensors that move along them, and the one that is written.
    pub(crate) inputs: &'a [Input],
    pub(crate) dst: Option<&'a Input>,
    pub(crate) stages: &'a [Stage],
    /// Writes an element by `finish`, where there is a destination; run once a row.
    pub(crate) each: &'a str,
    pub(crate) result: &'a str,
    pub(crate) outputs: i64,
    pub(crate) terms: i64,
}

/// The launch.
pub(crate) fn launch(mut emit: Emitter, shape: &Shape, body: &Body<'_>) -> Launch {
    let Body { inputs, dst, stages, each, result, outputs, terms } = *body;
    let Shape { vector, threads, chunks, along } = *shape;
    for (name, value) in [("THREADS", threads), ("VECTOR", vector), ("CHUNKS", chunks)] {
        emit.option(name, value);
    }
    emit.number("outputs", outputs);
    emit.number("terms", terms);
    let cases = |f: &dyn Fn(&Stage) -> String| {
        let all = stages.iter().enumerate().map(|(i, s)| format!("    if (stage == {i}) return {};\n", f(s)));
        all.collect::<String>() + "    return 0;\n"
    };
    let combine = cases(&|s| s.combine.into());
    emit.code(&format!(
        "DEVICE real combine(int stage, real x, real y) {{\n{combine}}}\n\
         DEVICE real reduced(int stage, real x) {{\n#pragma unroll\n    for (int step = 16; step > 0; step /= 2) x = combine(stage, x, __shfl_xor_sync(~0u, x, step));\n\
         #if THREADS > 32\n    __shared__ real parts[THREADS * PER_BLOCK / 32];\n    const int warps = THREADS / 32, first = threadIdx.x / THREADS * warps;\n    \
         __syncthreads();\n    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;\n    __syncthreads();\n    x = parts[first];\n#pragma unroll\n    \
         for (int w = 1; w < warps; ++w) x = combine(stage, x, parts[first + w]);\n#endif\n    return x;\n}}\n"
    ));
    let at = |t: &Input| if t.shift == 0 { "p".to_owned() } else { format!("p + {}", t.shift) };
    let (mut declared, mut loads) = (String::new(), String::new());
    for t in inputs.iter().filter(|t| t.kept) {
        let name = &t.name;
        let _ = writeln!(declared, "    Vector<{name}_type, VECTOR> {name}_kept[CHUNKS];");
        let _ = writeln!(loads, "            {name}_kept[c].load(a.{name}_data, {name}_at(a, {}));", at(t));
    }
    // The accessors that a text uses, as the vectors of the current chunk.
    let used = |text: &str| {
        let (mut bound, mut lanes) = (String::new(), String::new());
        for t in inputs.iter().filter(|t| mentions(text, &t.name)) {
            let name = &t.name;
            if t.kept {
                let _ = writeln!(bound, "            auto& {name} = {name}_kept[c];");
            } else {
                let _ = writeln!(
                    bound,
                    "            Vector<{name}_type, VECTOR> {name};\n            {name}.load(a.{name}_data, {name}_at(a, {}));",
                    at(t)
                );
            }
            let _ = writeln!(lanes, "                {name}.lane = i;");
        }
        [bound, lanes]
    };
    let chunk = |text: &str, before: &str, body: &str, after: &str| {
        let [bound, lanes] = used(text);
        format!(
            "#pragma unroll\n    for (int c = 0; c < CHUNKS; ++c) {{\n        const i64 r = (i64)(c * THREADS + lane) * VECTOR;\n        if (valid && r < a.terms) {{\n            \
             row_term(a, (index)r, p);\n            const index first = p[{along}];\n{bound}{before}#pragma unroll\n            for (int i = 0; i < VECTOR; ++i) {{\n                \
             p[{along}] = first + i;\n{lanes}{body}            }}\n{after}        }}\n    }}\n"
        )
    };
    let mut body = String::new();
    for (k, stage) in stages.iter().enumerate() {
        let term = format!("                x = combine({k}, x, {});\n", stage.term);
        let _ = write!(
            body,
            "    {{\n    real x = {};\n{}    x = reduced({k}, x);\n    s[{k}] = {};\n    }}\n",
            stage.identity,
            chunk(&stage.term, "", &term, ""),
            stage.close
        );
    }
    if let Some(dst) = dst.filter(|_| !each.is_empty()) {
        let _ = dst;
        let before = "            const i64 at = dst_at(a, p);\n            Vector<dst_type, VECTOR> out;\n";
        let lane = format!(
            "                auto finish = [&](const Args&, const index*, real v) {{ out.words[i] = dst_type::encode(rounded(a, p, at + i, value(a, p, at + i, v))); }};\n{each}"
        );
        body += &chunk(each, before, &lane, "            out.store(a.dst_data, at);\n");
    }
    let load = format!(
        "#pragma unroll\n    for (int c = 0; c < CHUNKS; ++c) {{\n        const i64 r = (i64)(c * THREADS + lane) * VECTOR;\n        if (valid && r < a.terms) {{\n            \
         row_term(a, (index)r, p);\n{loads}        }}\n    }}\n"
    );
    let result = if result.is_empty() {
        String::new()
    } else {
        format!("    if (valid && lane == 0) {{\n        index p[RANK + 2] = {{}};\n        output(a, o, p);\n{result}    }}\n")
    };
    emit.code(&format!(
        "DEVICE void row(const Args& a, index o, bool valid, int lane) {{\n    index p[RANK + 2] = {{}};\n    real s[{}];\n    if (valid) output(a, o, p);\n\
         {declared}{load}{body}{result}}}\n",
        stages.len().max(1)
    ));
    let per_block = (256 / threads).max(1);
    let blocks = (outputs.max(1) as u64).div_ceil(per_block as u64).min(1 << 20) as u32;
    let mut launch = emit.launch_blocks("rows_vector", [blocks, 1, 1]);
    launch.block = (threads * per_block) as u32;
    launch.aligned = inputs.iter().chain(dst).filter_map(|t| t.place).collect();
    launch
}

/// Whether an accessor is called in a text.
fn mentions(text: &str, name: &str) -> bool {
    let call = format!("{name}(");
    text.match_indices(&call).any(|(i, _)| !text[..i].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))
}

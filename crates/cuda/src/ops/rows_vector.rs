//! Rows whose terms a block keeps in registers, in vectors of neighbours (`kernels/rows_vector.cu`): the code of [`Rows`](super::rows::Rows) with vectors in
//! place of the tensors' accessors.

use super::rows::Stage;
use crate::emit::{Emitter, View};
use crate::program::{Launch, MapPlace, Word};
use oxidnn_spec::{DataType, Layout};
use std::fmt::Write;
use std::ops::Range;

/// Numbers of a thread that are kept in registers at most, in words, and with blocks of 1,024 threads.
const WORDS: i64 = 32;
const WORDS_OF_MANY: i64 = 24;

/// The numbers of all of a row's threads as one, of several stages at once.
const REDUCED: &str = "template <int N> DEVICE void reduced(int stage, real (&x)[N]) {
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
#pragma unroll
        for (int n = 0; n < N; ++n) x[n] = combine(stage + n, x[n], __shfl_xor_sync(~0u, x[n], step));
    }
#if THREADS > 32
    __shared__ real parts[N][THREADS * PER_BLOCK / 32];
    const int warps = THREADS / 32, first = threadIdx.x / THREADS * warps;
    __syncthreads();
#pragma unroll
    for (int n = 0; n < N; ++n) {
        if (threadIdx.x % 32 == 0) parts[n][threadIdx.x / 32] = x[n];
    }
    __syncthreads();
#pragma unroll
    for (int n = 0; n < N; ++n) {
        x[n] = parts[n][first];
#pragma unroll
        for (int w = 1; w < warps; ++w) x[n] = combine(stage + n, x[n], parts[n][first + w]);
    }
#endif
}
";

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

/// The shape for rows of `terms`, whose fastest dimension is `along` with `size` positions, over tensors that all move along it in one run, with so many sums by
/// term; `None` where they do not, or the rows are too long for registers.
pub(crate) fn shape(inputs: &[Input], dst: Option<&Input>, [terms, carried]: [i64; 2], (along, size): (usize, i64)) -> Option<Shape> {
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
    let words = words + carried * vector;
    let vectors = terms / vector;
    [32, 64, 128, 256, 512, 1024].into_iter().find_map(|threads| {
        let needed = vectors / threads + i64::from(vectors % threads != 0);
        let chunks = [1, 2, 3, 4, 6, 8, 12, 16, 20, 24].into_iter().find(|&c| c >= needed)?;
        let limit = if threads == 1024 { WORDS_OF_MANY } else { WORDS };
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
    /// What is the same along a row: names, and the expressions that they stand for.
    pub(crate) constants: &'a [(&'static str, String)],
    pub(crate) outputs: i64,
    pub(crate) terms: i64,
    /// The sums by term, which `each` adds to by `carry(sum, term)`.
    pub(crate) carried: Option<Carried>,
}

/// Sums that are carried from row to row.
#[derive(Clone, Copy)]
pub(crate) struct Carried {
    pub(crate) sums: i64,
    /// Rows of `partial`, one for each row that is worked on at a time, and where in the scratch they lie.
    pub(crate) parts: i64,
    pub(crate) at: usize,
}

impl Shape {
    /// Rows of a block.
    pub(crate) fn per_block(&self) -> i64 {
        (256 / self.threads).max(1)
    }

    /// Blocks that a multiprocessor has at once where sums are carried, which takes many registers.
    pub(crate) fn at_once(&self) -> i64 {
        (1024 / (self.threads * self.per_block())).max(1)
    }
}

/// The launch.
pub(crate) fn launch(mut emit: Emitter, shape: &Shape, body: &Body<'_>) -> Launch {
    let Body { inputs, dst, stages, each, result, constants, outputs, terms, carried } = *body;
    let Shape { vector, threads, chunks, along } = *shape;
    for (name, value) in [("THREADS", threads), ("VECTOR", vector), ("CHUNKS", chunks)] {
        emit.option(name, value);
    }
    emit.option("CARRIED", carried.map_or(0, |c| c.sums));
    emit.number("outputs", outputs);
    emit.number("terms", terms);
    let sums = match carried {
        Some(c) => {
            emit.word("real* partial", Word::Scratch(c.at));
            "    real sums[CARRIED][CHUNKS][VECTOR];\n"
        }
        None => "",
    };
    emit.code(&format!("struct Carried {{\n{sums}}};\n"));
    let cases = |f: &dyn Fn(&Stage) -> String| {
        let all = stages.iter().enumerate().map(|(i, s)| format!("    if (stage == {i}) return {};\n", f(s)));
        all.collect::<String>() + "    return 0;\n"
    };
    let combine = cases(&|s| s.combine.into());
    emit.code(&format!("DEVICE real combine(int stage, real x, real y) {{\n{combine}}}\n{REDUCED}"));
    // What is the same along a row has a name there.
    let named = |text: &str| constants.iter().fold(text.to_owned(), |text, (name, value)| text.replace(value, &format!("kept.{name}")));
    let at = |t: &Input| if t.shift == 0 { "p".to_owned() } else { format!("p + {}", t.shift) };
    let (mut declared, mut loads, mut once) = (String::new(), String::new(), String::new());
    for t in inputs.iter().filter(|t| t.kept) {
        let name = &t.name;
        let _ = writeln!(declared, "    Vector<{name}_type, VECTOR> {name}[CHUNKS];");
        let _ = writeln!(loads, "            kept.{name}[c].load(a.{name}_data, {name}_at(a, {}));", at(t));
    }
    for (name, value) in constants {
        let _ = writeln!(declared, "    real {name};");
        let _ = writeln!(once, "    if (valid) kept.{name} = {value};");
    }
    // The accessors that a text uses, as the vectors of the current chunk.
    let used = |text: &str| {
        let (mut bound, mut lanes) = (String::new(), String::new());
        for t in inputs.iter().filter(|t| mentions(text, &t.name)) {
            let name = &t.name;
            if t.kept {
                let _ = writeln!(bound, "            auto& {name} = kept.{name}[c];");
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
    let chunk = |before: &str, body: &str, after: &str| {
        let [bound, lanes] = used(body);
        format!(
            "#pragma unroll\n    for (int c = 0; c < CHUNKS; ++c) {{\n        const i64 r = (i64)(c * THREADS + lane) * VECTOR;\n        if (valid && r < a.terms) {{\n            \
             row_term(a, (index)r, p);\n            const index first = p[{along}];\n{bound}{before}#pragma unroll\n            for (int i = 0; i < VECTOR; ++i) {{\n                \
             p[{along}] = first + i;\n{lanes}{body}            }}\n{after}        }}\n    }}\n"
        )
    };
    let mut body = String::new();
    for group in groups(stages) {
        let (first, own) = (group.start, &stages[group]);
        let identities: Vec<&str> = own.iter().map(|s| s.identity.as_str()).collect();
        let terms: String = own
            .iter()
            .enumerate()
            .map(|(i, s)| format!("                x[{i}] = combine({}, x[{i}], {});\n", first + i, named(&s.term)))
            .collect();
        let _ = write!(body, "    {{\n    real x[] = {{{}}};\n{}    reduced({first}, x);\n", identities.join(", "), chunk("", &terms, ""));
        for (i, stage) in own.iter().enumerate() {
            let _ = writeln!(body, "    s[{}] = [&](real x) -> real {{ return {}; }}(x[{i}]);", first + i, stage.close);
        }
        body.push_str("    }\n");
    }
    if dst.is_some() && !each.is_empty() {
        let before = "            const i64 at = dst_at(a, p);\n            Vector<dst_type, VECTOR> out;\n";
        let carry = "                auto carry = [&](int sum, real x) { carried.sums[sum][c][i] += x; };\n";
        let carry = if carried.is_some() { carry } else { "" };
        let lane = format!(
            "                auto finish = [&](const Args&, const index*, real v) {{ out.words[i] = dst_type::encode(rounded(a, p, at + i, value(a, p, at + i, v))); }};\n{carry}{}",
            named(each)
        );
        body += &chunk(before, &lane, "            out.store(a.dst_data, at);\n");
    }
    let result = if result.is_empty() {
        String::new()
    } else {
        format!("    if (valid && lane == 0) {{\n        index p[RANK + 2] = {{}};\n        output(a, o, p);\n{result}    }}\n")
    };
    emit.code(&format!(
        "struct Kept {{\n{declared}}};\n\
         DEVICE void load(const Args& a, index o, bool valid, int lane, Kept& kept) {{\n    index p[RANK + 2] = {{}};\n    if (valid) output(a, o, p);\n{once}\
         #pragma unroll\n    for (int c = 0; c < CHUNKS; ++c) {{\n        const i64 r = (i64)(c * THREADS + lane) * VECTOR;\n        if (valid && r < a.terms) {{\n            \
         row_term(a, (index)r, p);\n{loads}        }}\n    }}\n}}\n\
         DEVICE void row(const Args& a, index o, bool valid, int lane, Kept& kept, Carried& carried) {{\n    index p[RANK + 2] = {{}};\n    real s[{}];\n    \
         if (valid) output(a, o, p);\n{body}{result}}}\n",
        stages.len().max(1)
    ));
    let per_block = shape.per_block();
    let blocks = carried.map_or((outputs.max(1) as u64).div_ceil(per_block as u64).min(1 << 20), |c| (c.parts / per_block) as u64) as u32;
    let mut launch = emit.launch_blocks("rows_vector", [blocks, 1, 1]);
    launch.block = (threads * per_block) as u32;
    launch.aligned = inputs.iter().chain(dst).filter_map(|t| t.place).collect();
    launch
}

/// The stages that one pass over the terms makes: a term that knows numbers of stages before comes after them.
fn groups(stages: &[Stage]) -> Vec<Range<usize>> {
    let mut all: Vec<Range<usize>> = Vec::new();
    for (i, stage) in stages.iter().enumerate() {
        match all.last_mut().filter(|_| !stage.term.contains("s[")) {
            Some(group) => group.end = i + 1,
            None => all.push(i..i + 1),
        }
    }
    all
}

/// Whether an accessor is called in a text.
fn mentions(text: &str, name: &str) -> bool {
    let call = format!("{name}(");
    text.match_indices(&call).any(|(i, _)| !text[..i].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))
}

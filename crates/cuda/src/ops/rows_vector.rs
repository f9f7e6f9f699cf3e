//! Row reductions with the row in registers (`kernels/rows_vector.cu`): the statements of [`Rows`](super::rows::Rows), with vectors in place of the tensors'
//! accessors.

use super::rows::Stage;
use crate::Facts;
use crate::emit::{Emitter, View};
use crate::ops::ceil;
use crate::program::{Launch, MapPlace};
use oxidnn_spec::{DataType, Layout};
use std::fmt::Write;

/// 32-bit registers of a thread for the row, at most: in general; with further tensors that all rows share; with 1,024 threads.
const WORDS: i64 = 32;
const WORDS_OF_SHARED: i64 = 16;
const WORDS_OF_MANY: i64 = 24;
/// Threads of a row that share a warp with other rows, and registers of a thread for the row, at most. Rows at any offset have an element per thread beyond both ends
/// of their whole vectors; those of fewer terms have no vectors.
const PART_OF_WARP: [i64; 4] = [2, 4, 8, 16];
const WORDS_OF_SHORT: i64 = 16;
const SHORT: i64 = 128;
/// Whole vectors, at least, of rows at any offset that share tensors: of fewer, most threads have elements at the edges only.
const OF_EDGES: i64 = 10;

/// Threads of a CTA in a cluster, and registers of a thread for the row: with two CTAs per SM, or one.
const CLUSTERED: i64 = 512;
const WORDS_OF_CLUSTERED: [i64; 2] = [24, 64];
/// Threads of a CTA that has an SM for itself and prefetches the next row into shared memory, and registers of a thread for the row.
const STAGING: i64 = 512;
const WORDS_OF_STAGING: i64 = 64;
/// The widest access in bytes that rows must allow to be read and written by themselves if they are one run of memory, and registers of a thread for a row of a run.
const NARROW: i64 = 4;
const WORDS_OF_RUN: i64 = 24;
/// Threads of a CTA whose rows are a run.
const RUN_BLOCK: i64 = 128;
/// Bytes of a row from which clusters pay off.
const LARGE: i64 = 64 * 1024;
/// Elements of tensors that all rows share in the shared memory of a CTA, at most; threads of such a CTA, at least, and threads per SM, each CTA of which copies them
/// once.
const STAGED: i64 = 10 * 1024;
const STAGED_BLOCK: i64 = 256;
const STAGED_THREADS: i64 = 1280;
/// Threads of a CTA, at least, otherwise: few, so that an SM does not wait for the slowest of many rows.
const BLOCK: i64 = 64;

/// A tensor that varies along the rows.
pub(crate) struct Input {
    name: String,
    dtype: DataType,
    layout: Layout,
    /// Its position begins at this dimension of `p`.
    shift: usize,
    /// Kept in registers; otherwise (shared by all rows) loaded where it is used, or kept in shared memory if rows begin at any offset.
    kept: bool,
    place: Option<MapPlace>,
}

impl Input {
    /// A tensor of which one element is read per term; its position begins at dimension `shift`.
    pub(crate) fn of(view: &View<'_>, shift: usize, kept: bool) -> Input {
        let place = match view.place {
            crate::emit::Place::Arg(arg) => Some(MapPlace::Arg(arg, 0)),
            crate::emit::Place::Scratch(_) => None,
        };
        Input { name: view.name.into(), dtype: view.dtype, layout: view.layout.clone(), shift, kept, place }
    }

    /// The expression of its position for a term at `p`.
    fn position(&self) -> String {
        if self.shift == 0 { "p".to_owned() } else { format!("p + {}", self.shift) }
    }

    /// The name of its view.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Its place, if it is an argument.
    pub(crate) fn place(&self) -> Option<MapPlace> {
        self.place
    }

    /// Whether it is kept in registers.
    pub(crate) fn is_kept(&self) -> bool {
        self.kept
    }

    /// Whether its layout has strides only.
    pub(crate) fn is_plain(&self) -> bool {
        self.layout.blocking().is_some_and(oxidnn_spec::Blocking::is_plain)
    }

    /// Bytes of an element; 0 for 4-bit types.
    pub(crate) fn bytes(&self) -> i64 {
        self.dtype.bits() as i64 / 8
    }

    /// Registers of a vector.
    pub(crate) fn words(&self, vector: i64) -> i64 {
        (vector * self.bytes()).div_euclid(4).max(1)
    }
}

/// The vector width along dimension `along` of `size` positions that all of these tensors allow.
pub(crate) fn together<'t>(all: impl Iterator<Item = &'t Input> + Clone, (along, size): (usize, i64)) -> Option<i64> {
    let least = all.clone().map(Input::bytes).min().filter(|&b| b > 0)?;
    let fits = |n: i64| {
        size % n == 0
            && n * least >= 4
            && all.clone().all(|t| {
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
    [8, 4, 2].into_iter().filter(|n| n * least <= 16).find(|&n| fits(n))
}

/// The vector width for rows that begin at any offset, if a row has the same offset from a vector boundary in all tensors.
fn adrift<'t>(mut all: impl Iterator<Item = &'t Input>, along: usize) -> Option<i64> {
    let place = |t: &Input| {
        let b = t.layout.blocking().filter(|b| t.shift == 0 && b.is_plain() && b.padded_dims == t.layout.dims && b.strides[along] == 1)?;
        let vector = 16 / t.bytes().max(2);
        let strides = (0..t.layout.ndims()).filter(|&d| t.layout.dims[d] > 1).map(|d| b.strides[d]);
        Some((t.bytes(), vector, strides.chain([b.offset]).map(|n| n % vector).collect::<Vec<_>>()))
    };
    let first = all.next().and_then(place)?;
    all.all(|t| place(t).as_ref() == Some(&first)).then_some(first.1)
}

/// The configuration of the kernel.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    vector: i64,
    /// Rows begin at any offset from a vector boundary.
    adrift: bool,
    threads: i64,
    chunks: i64,
    /// CTAs per row; CTAs, at most; CTAs that share an SM, at least, 0: any number.
    cluster: i64,
    blocks: i64,
    resident: i64,
    /// Threads of a CTA, at least.
    block: i64,
    /// Bytes of shared memory into which a thread prefetches its vectors of the CTA's next row; 0: none.
    staged: i64,
    /// The rows of a CTA are one run of memory, which is copied to and from shared memory.
    is_run: bool,
    /// The contiguous dimension.
    along: usize,
}

/// Vectors per thread that kernels are compiled for.
const CHUNKS: [i64; 11] = [1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 32];

/// Vectors per thread for `threads` threads, rounded up to one of [`CHUNKS`].
pub(crate) fn chunks(vectors: i64, threads: i64) -> Option<i64> {
    let needed = ceil(vectors, threads);
    CHUNKS.into_iter().find(|&c| c >= needed)
}

/// Vectors that every thread surely has in a kernel for `chunks`.
pub(crate) fn surely(chunks: i64) -> i64 {
    CHUNKS.into_iter().rev().find(|&c| c < chunks).unwrap_or(0)
}

/// Number of outputs and of terms per output; the contiguous dimension and its size; the dimension of the terms, if it is a single one.
pub(crate) struct Extent {
    pub(crate) outputs: i64,
    pub(crate) terms: i64,
    pub(crate) along: (usize, i64),
    pub(crate) down: Option<usize>,
}

/// The configuration; `None` if the rows are too long for registers.
pub(crate) fn shape(inputs: &[Input], dst: Option<&Input>, extent: &Extent, facts: &Facts) -> Option<Shape> {
    let Extent { outputs, terms, along, down } = *extent;
    if inputs.iter().chain(dst).any(|t| t.bytes() == 0) {
        return None;
    }
    let whole = together(inputs.iter().chain(dst), along);
    let shared = || inputs.iter().filter(|t| !t.kept);
    let shares = shared().next().is_some();
    let staged = shared().all(|t| t.shift == along.0 && t.layout.ndims() == 1) && shared().count() as i64 * terms <= STAGED;
    let parts = || adrift(inputs.iter().filter(|i| i.kept).chain(dst), along.0).filter(|_| down.is_some() && staged);
    let adrift = whole.is_none().then(parts).flatten().filter(|&vector| terms >= SHORT || shares && terms >= OF_EDGES * vector);
    let vector = whole.or(adrift).unwrap_or(1);
    let adrift = adrift.is_some();
    let words: i64 = inputs.iter().filter(|i| i.kept).map(|i| i.words(vector)).sum();
    let resident = |threads: i64| if adrift && shares { STAGED_THREADS / threads.max(STAGED_BLOCK) } else { 0 };
    let block = if adrift && shares { STAGED_BLOCK } else { BLOCK };
    let base = Shape {
        vector,
        adrift,
        threads: STAGING,
        chunks: 0,
        cluster: 1,
        blocks: i64::from(facts.multiprocessors),
        resident: 1,
        block,
        staged: 0,
        is_run: false,
        along: along.0,
    };
    let with = |shape: Shape| {
        let resident = resident(shape.threads);
        Shape { resident, blocks: if resident > 0 { resident * i64::from(facts.multiprocessors) } else { 1 << 20 }, ..shape }
    };
    let vectors = (terms / vector).max(1);
    if let Some(shape) = run(inputs, dst, extent, Shape { block: RUN_BLOCK, ..with(base) }) {
        return Some(shape);
    }
    let short = PART_OF_WARP.into_iter().find_map(|threads| {
        let chunks = chunks(vectors, threads).filter(|chunks| chunks * words <= WORDS_OF_SHORT)?;
        (threads >= if adrift { 2 * vector } else { vectors.min(if vector == 1 { 4 } else { 8 }) }).then_some(with(Shape {
            threads,
            chunks,
            ..base
        }))
    });
    let single = [32, 64, 128, 256, 512, 1024].into_iter().find_map(|threads| {
        let chunks = chunks(vectors, threads)?;
        let limit = if threads == 1024 {
            WORDS_OF_MANY
        } else if shares {
            WORDS_OF_SHARED
        } else {
            WORDS
        };
        (chunks * words <= limit).then_some(with(Shape { threads, chunks, ..base }))
    });
    let single = short.or(single);
    let staging = || {
        let chunks = chunks(vectors, STAGING)?;
        let (bytes, most) = (chunks * words * 4 * STAGING, i64::from(facts.shared_memory) - 2048);
        let fits = chunks * words <= WORDS_OF_STAGING
            && bytes <= most
            && vector * inputs.iter().map(Input::bytes).min()? == 16
            && !(adrift && shares);
        (fits && outputs >= 2 * base.blocks).then_some(Shape { chunks, staged: bytes, ..base })
    };
    if facts.sm >= 80
        && single.is_none_or(|s| s.threads > STAGING)
        && let Some(shape) = staging()
    {
        return Some(shape);
    }
    let few = outputs < i64::from(facts.multiprocessors) && vectors * words * 4 >= LARGE;
    if facts.sm < 90 || single.is_some() && !few {
        return single;
    }
    let clustered = |limit: i64, cluster: i64| {
        let chunks = chunks(vectors, cluster * CLUSTERED)?;
        (chunks * words <= limit).then_some(with(Shape { threads: CLUSTERED, chunks, cluster, ..base }))
    };
    let all = WORDS_OF_CLUSTERED.iter().flat_map(|&limit| [2, 4, 8].into_iter().filter_map(move |cluster| clustered(limit, cluster)));
    let busy = |s: &Shape| outputs * s.cluster >= i64::from(facts.multiprocessors);
    all.clone().find(busy).or_else(|| all.max_by_key(|s| s.cluster)).or(single)
}

/// The configuration for short rows, one behind the other in all tensors that vary along the rows, that can only be read in narrow accesses: few bytes of a sector at a
/// time.
fn run(inputs: &[Input], dst: Option<&Input>, extent: &Extent, base: Shape) -> Option<Shape> {
    let Extent { terms, along, .. } = *extent;
    let behind = |t: &Input| {
        let plain = Layout::plain(t.layout.dims).is_ok_and(|plain| plain == t.layout);
        plain && t.shift == 0 && t.layout.ndims() == along.0 + 1 && t.layout.dims[along.0] == terms
    };
    let least = inputs.iter().filter(|t| t.kept).map(Input::bytes).min()?;
    if base.adrift || terms >= SHORT || base.vector * least > NARROW || !inputs.iter().filter(|t| t.kept).chain(dst).all(behind) {
        return None;
    }
    let words: i64 = inputs.iter().filter(|t| t.kept).map(|t| t.words(base.vector)).sum();
    let is_whole = |t: &Input, threads: i64| RUN_BLOCK / threads * t.bytes() % 16 == 0;
    PART_OF_WARP.into_iter().find_map(|threads| {
        let chunks = chunks((terms / base.vector).max(1), threads).filter(|chunks| chunks * words <= WORDS_OF_RUN)?;
        inputs.iter().filter(|t| t.kept).chain(dst).all(|t| is_whole(t, threads)).then_some(Shape { threads, chunks, is_run: true, ..base })
    })
}

/// The operation.
pub(crate) struct Body<'a> {
    /// The tensors that vary along the rows, and the one that is written.
    pub(crate) inputs: &'a [Input],
    pub(crate) dst: Option<&'a Input>,
    pub(crate) stages: &'a [Stage],
    /// Statements between the stages and `each`; statements per term, which write by `finish`, and per output.
    pub(crate) ready: &'a str,
    pub(crate) each: &'a str,
    pub(crate) result: &'a str,
    pub(crate) outputs: i64,
    pub(crate) terms: i64,
}

/// Declares the kernel's defines and sizes, `combine` and `reduced`.
fn declare(emit: &mut Emitter, shape: &Shape, body: &Body<'_>) {
    let Body { stages, outputs, terms, .. } = *body;
    let Shape { vector, threads, chunks, cluster, .. } = *shape;
    for (name, value) in
        [("THREADS", threads), ("VECTOR", vector), ("CHUNKS", chunks), ("CLUSTER", cluster), ("STAGED", i64::from(shape.staged > 0))]
    {
        emit.option(name, value);
    }
    emit.option("PER_BLOCK", (shape.block / threads).max(1));
    emit.option("RESIDENT", shape.resident);
    emit.option("RUN", i32::from(shape.is_run));
    // No branches where the vectors of all threads fill the row exactly, which takes registers: for rows that share tensors, which have fewer elements a thread.
    let shares = body.inputs.iter().any(|i| !i.kept);
    let is_exact = shares && !shape.adrift && cluster == 1 && chunks * threads * vector == terms;
    emit.option("EXACT", i64::from(is_exact));
    emit.define("SURELY", if is_exact { chunks } else { surely(chunks) });
    emit.define("STAGES", stages.len().max(1));
    emit.number("outputs", outputs);
    emit.number("terms", terms);
    emit.code(&combine(stages));
    let all = if cluster > 1 { "across(stage, x)" } else { "x" };
    if cluster > 1 {
        emit.code(ACROSS);
    }
    emit.code(&format!(
        "DEVICE real reduced(int stage, real x) {{\n#pragma unroll\n    for (int step = THREADS < 32 ? THREADS / 2 : 16; step > 0; step /= 2) x = combine(stage, x, __shfl_xor_sync(~0u, x, step));\n\
         #if THREADS > 32\n    __shared__ real parts[THREADS * PER_BLOCK / 32];\n    const int warps = THREADS / 32, first = threadIdx.x / THREADS * warps;\n    \
         __syncthreads();\n    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;\n    __syncthreads();\n    x = parts[first];\n#pragma unroll\n    \
         for (int w = 1; w < warps; ++w) x = combine(stage, x, parts[first + w]);\n#endif\n    return {all};\n}}\n"
    ));
}

/// Statements that bind the accessors used in `text` to the vectors of the current chunk, and that select element `i`. With rows at any offset, shared tensors are
/// in shared memory, those of element `i` at `here`.
fn used(inputs: &[Input], text: &str, adrift: bool) -> [String; 2] {
    let (mut bound, mut lanes) = (String::new(), String::new());
    let of_room = |t: &Input| adrift.then(|| inputs.iter().filter(|t| !t.kept).position(|s| s.name == t.name)).flatten();
    for t in inputs.iter().filter(|t| mentions(text, &t.name)) {
        let name = &t.name;
        if t.kept {
            let _ = writeln!(bound, "            auto& {name} = {name}_kept[c];");
        } else if let Some(k) = of_room(t) {
            let _ = writeln!(lanes, "                auto {name} = [&](const Args&, const index*) {{ return room[here + {k}]; }};");
            continue;
        } else {
            let _ = writeln!(
                bound,
                "            Vector<{name}_type, VECTOR> {name};\n            {name}.load(a.{name}_data, {name}_at(a, {}));",
                t.position()
            );
        }
        let _ = writeln!(lanes, "                {name}.lane = i;");
    }
    [bound, lanes]
}

/// Declares `prepare(a)`, which copies the tensors that all rows share to shared memory, if rows begin at any offset: interleaved, so that an element's are loaded
/// together, and with a free place behind every vector, so that threads that each read an element of their vectors have no bank conflicts. Returns the bytes.
fn prepare(emit: &mut Emitter, inputs: &[Input], terms: i64, shape: &Shape) -> i64 {
    let shared: Vec<&Input> = inputs.iter().filter(|t| !t.kept && shape.adrift).collect();
    let mut copies = String::new();
    for (k, Input { name, .. }) in shared.iter().enumerate() {
        let _ = writeln!(copies, "        room[place(c) + {k}] = {name}(a, q);");
    }
    if !shared.is_empty() {
        emit.define("SHARED", shared.len());
        emit.code(
            "extern __shared__ __align__(16) real room[];\nDEVICE int place(int c) { return SHARED * (c + (int)((u32)c / VECTOR)); }\n",
        );
        copies = format!(
            "    for (int c = threadIdx.x; c < (int)a.terms; c += blockDim.x) {{\n        const index q[] = {{c}};\n{copies}    }}\n    __syncthreads();\n"
        );
    }
    emit.code(&format!("DEVICE void prepare(const Args& a) {{\n{copies}}}\n"));
    shared.len() as i64 * (terms + terms / shape.vector + 1) * emit.real().dtype().bits() as i64 / 8
}

/// For operands that stay in registers: their declarations, the loads of a chunk, of the elements at the edges of a row, and the members of what is loaded a row ahead.
fn kept(inputs: &[Input], Shape { adrift, is_run, .. }: Shape) -> [String; 4] {
    let [mut declared, mut loads, mut edges, mut ahead] = [const { String::new() }; 4];
    for t in inputs.iter().filter(|t| t.kept) {
        let name = &t.name;
        let _ = writeln!(declared, "    Vector<{name}_type, VECTOR> {name}_kept[CHUNKS];");
        let from = if is_run { format!("{name}_run, here + r") } else { format!("a.{name}_data, {name}_at(a, {})", t.position()) };
        let _ = writeln!(loads, "            {name}_kept[c].load({from});");
        if adrift {
            let _ = writeln!(declared, "    auto {name}_edge = ahead.{name}_edge;");
            let _ = writeln!(ahead, "    Vector<{name}_type, 1> {name}_edge;");
            let _ = writeln!(edges, "            ahead.{name}_edge.load(a.{name}_data, {name}_at(a, {}));", t.position());
        }
    }
    [declared, loads, edges, ahead]
}

/// Declares the places of a run of rows in shared memory, and `take_run` and `give_run`, which copy `rows` rows from row `first` on there and back. Returns the bytes. The
/// result takes the place of the first operand if its elements are as long: a thread overwrites what it has read.
fn run_copies(emit: &mut Emitter, shape: &Shape, body: &Body<'_>) -> i64 {
    let rows = shape.block / shape.threads;
    let (mut room, mut takes, mut gives) = (0, String::new(), String::new());
    let mut declared = String::from("#include \"fetch.cuh\"\nextern __shared__ __align__(16) u8 runs[];\n");
    let mut first = None;
    let kept = body.inputs.iter().filter(|t| t.kept);
    for (t, is_dst) in kept.map(|t| (t, false)).chain(body.dst.map(|t| (t, true))) {
        let (name, bytes) = (if is_dst { "dst" } else { &t.name }, t.bytes());
        let at = match first {
            Some(of_first) if is_dst && of_first == bytes => 0,
            _ => {
                room += rows * body.terms * bytes;
                room - rows * body.terms * bytes
            }
        };
        first = first.or(Some(bytes));
        let _ = writeln!(declared, "#define {name}_run (runs + {at})");
        let from = format!("(u8*)a.{name}_data + first * a.terms * {bytes}, rows * (int)a.terms * {bytes}");
        if is_dst {
            let _ = writeln!(gives, "    give({from}, {name}_run);");
        } else {
            let _ = writeln!(takes, "    take({from}, {name}_run);");
        }
    }
    emit.code(&format!(
        "{declared}DEVICE void take(const u8* from, int bytes, u8* to) {{\n    for (int i = threadIdx.x * 16; i + 16 <= bytes; i += blockDim.x * 16) fetch<16>(to + i, from + i);\n    \
         for (int i = bytes / 16 * 16 + threadIdx.x; i < bytes; i += blockDim.x) to[i] = from[i];\n}}\n\
         DEVICE void give(u8* to, int bytes, const u8* from) {{\n    for (int i = threadIdx.x * 16; i + 16 <= bytes; i += blockDim.x * 16) *(uint4*)(to + i) = *(const uint4*)(from + i);\n    \
         for (int i = bytes / 16 * 16 + threadIdx.x; i < bytes; i += blockDim.x) to[i] = from[i];\n}}\n\
         DEVICE void take_run(const Args& a, i64 first, int rows) {{\n{takes}    commit_fetches();\n    wait_fetches<0>();\n}}\n\
         DEVICE void give_run(const Args& a, i64 first, int rows) {{\n{gives}}}\n"
    ));
    room
}

/// Declares `head`, the number of elements of a row before the first vector boundary, and `bodies`, that of its whole vectors.
fn head(inputs: &[Input], dst: Option<&Input>) -> String {
    inputs.iter().filter(|t| t.kept).chain(dst).next().map_or(String::new(), |t| {
        format!(
            "    int head = 0;\n    if (valid) {{\n        row_term(a, 0, p);\n        head = (int)min(-{}_at(a, p) & (VECTOR - 1), a.terms);\n    }}\n    \
             const int bodies = ((int)a.terms - head) / VECTOR;\n",
            t.name
        )
    })
}

/// The launch.
pub(crate) fn launch(mut emit: Emitter, shape: &Shape, body: &Body<'_>) -> Launch {
    let Body { inputs, dst, stages, ready, each, result, .. } = *body;
    let Shape { adrift, cluster, along, .. } = *shape;
    declare(&mut emit, shape, body);
    let shared = prepare(&mut emit, inputs, body.terms, shape);
    let in_run = if shape.is_run { run_copies(&mut emit, shape, body) } else { 0 };
    let [mut declared, loads, edges, ahead] = kept(inputs, *shape);
    // The position of a thread's vector of a chunk; with rows at any offset, whole vectors behind the `head` elements before the first vector boundary.
    let term = if adrift {
        // Vectors that a thread surely has save branches, and take registers, which are limited only where rows are staged or share tensors.
        let sure = if shared + shape.staged > 0 { "c < SURELY || " } else { "" };
        format!(
            " + head;\n        if (valid && ({sure}r + VECTOR <= a.terms)) {{\n            row_term(a, 0, p);\n            p[{along}] += (index)r;\n"
        )
    } else {
        ";\n        if (valid && (c < SURELY || r < a.terms)) {\n            row_term(a, (index)r, p);\n".to_owned()
    };
    let each_chunk = |text: &str| {
        format!(
            "#pragma unroll\n    for (int c = 0; c < CHUNKS; ++c) {{\n        const i64 r = (i64)(c * (THREADS * CLUSTER) + lane) * VECTOR{term}{text}        }}\n    }}\n"
        )
    };
    // The elements of a row before its first and behind its last whole vector, one per thread.
    let each_edge = |text: &str| {
        format!(
            "    const int edge = lane < head ? lane : lane + bodies * VECTOR;\n    if (valid && lane < 2 * VECTOR && edge < (int)a.terms) {{\n            \
             row_term(a, 0, p);\n            p[{along}] += edge;\n            const int i = 0;\n{text}    }}\n"
        )
    };
    let chunk = |text: &str, before: &str, body: &str, after: &str| {
        let [bound, lanes] = used(inputs, text, adrift);
        // Where the elements of shared tensors are: all chunks at the same distance from those of the first.
        let at_room =
            |place: &str| if lanes.contains("here") { format!("                const int here = {place};\n") } else { String::new() };
        let here = at_room("places[i] + c * (SHARED * (VECTOR + 1) * THREADS * CLUSTER)");
        let mut all = each_chunk(&format!(
            "            const index first = p[{along}];\n{bound}{before}#pragma unroll\n            for (int i = 0; i < VECTOR; ++i) {{\n                \
             p[{along}] = first + i;\n{here}{lanes}{body}            }}\n{after}"
        ));
        if adrift {
            let single = |text: &str| text.replace("_kept[c]", "_edge").replace("VECTOR", "1");
            let here = at_room("place(edge)");
            all += &format!("    {{\n{}    }}\n", each_edge(&format!("{}{}{here}{lanes}{body}{after}", single(&bound), single(before))));
        }
        all
    };
    let mut work = String::new();
    for (k, stage) in stages.iter().enumerate() {
        let term = format!("                x = combine({k}, x, {});\n", stage.term);
        let _ = write!(
            work,
            "    {{\n    real x = {};\n{}    x = reduced({k}, x);\n    s[{k}] = {};\n    }}\n",
            stage.identity,
            chunk(&stage.term, "", &term, ""),
            stage.close
        );
    }
    // A CTA must not overwrite its values, or exit, before the others have read them.
    let left = if cluster > 1 { LEFT } else { "" };
    if dst.is_some() && !each.is_empty() {
        let before = "            const i64 at = dst_at(a, p);\n            Vector<dst_type, VECTOR> out;\n";
        let lane = format!(
            "                auto finish = [&](const Args&, const index*, real v) {{ out.words[i] = dst_type::encode(rounded(a, p, at + i, value(a, p, at + i, v))); }};\n{each}"
        );
        work += ready;
        let store = if shape.is_run { "put(dst_run, here + r)" } else { "store(a.dst_data, at)" };
        work += &chunk(each, before, &lane, &format!("            out.{store};\n"));
    }
    let before = match () {
        () if adrift => head(inputs, dst),
        () if shape.is_run => "    const int here = (int)threadIdx.x / THREADS * (int)a.terms;\n".into(),
        () => String::new(),
    };
    if shared > 0 {
        declared += "    int places[VECTOR];\n#pragma unroll\n    for (int i = 0; i < VECTOR; ++i) places[i] = SHARED * (lane * (VECTOR + 1) + head + i + (head + i) / VECTOR);\n";
    }
    let edges = if adrift { format!("    {{\n{}    }}\n", each_edge(&edges)) } else { String::new() };
    emit.code(&format!("struct Ahead {{\n{ahead}}};\n"));
    let load = if shape.staged > 0 {
        let of_next = |text: &str| format!("{edges}{}", each_chunk(text));
        format!("{declared}{}", staged_loads(&mut emit, inputs, shape, [&each_chunk, &of_next], &before))
    } else {
        format!("{edges}{declared}{}", each_chunk(&loads))
    };
    let result = if result.is_empty() {
        String::new()
    } else {
        format!("    if (valid && lane == 0) {{\n        index p[RANK + 2] = {{}};\n        output(a, o, p);\n{result}    }}\n")
    };
    emit.code(&format!(
        "DEVICE void row(const Args& a, index o, bool valid, int lane, Ahead& ahead) {{\n    index p[RANK + 2] = {{}};\n    real s[{}];\n    \
         if (valid) output(a, o, p);\n{before}{load}{work}{result}{left}}}\n",
        stages.len().max(1)
    ));
    placed(emit, shape, body, shared + shape.staged + in_run)
}

/// The launch of what was emitted, with `shared` bytes of shared memory.
fn placed(emit: Emitter, shape: &Shape, body: &Body<'_>, shared: i64) -> Launch {
    let Shape { threads, cluster, .. } = *shape;
    let per_block = (shape.block / threads).max(1);
    let blocks = (body.outputs.max(1) as u64).div_ceil(per_block as u64).min((shape.blocks / cluster) as u64) as u32 * cluster as u32;
    let mut launch = emit.launch_blocks("rows_vector", [blocks, 1, 1]);
    launch.block = (threads * per_block) as u32;
    (launch.cluster, launch.shared) = (cluster as u32, shared as u32);
    if shape.vector > 1 || shape.is_run {
        launch.aligned = body.inputs.iter().chain(body.dst).filter_map(|t| t.place).collect();
    }
    launch
}

/// Declares `fetch_row(a, o, lane, ahead)`, which copies a thread's vectors of row `o` to shared memory and loads its element at the edge, and returns the statements
/// that take the row from there and prefetch the next one. The first of `each` repeats statements for all vectors, the second also loads the elements at the edge.
fn staged_loads(emit: &mut Emitter, inputs: &[Input], shape: &Shape, each: [&dyn Fn(&str) -> String; 2], before: &str) -> String {
    let (mut fetches, mut loads, mut room) = (String::new(), String::new(), 0);
    for t in inputs.iter().filter(|t| t.kept) {
        let (name, bytes) = (&t.name, shape.vector * t.bytes());
        let place = format!("staged + {room} + (c * THREADS + lane) * {bytes}");
        let at = format!("{name}_at(a, {})", t.position());
        let from = format!("(const {name}_type::word*)a.{name}_data + {name}_first");
        let _ = writeln!(fetches, "            const i64 {name}_first = {at};");
        let _ = writeln!(fetches, "            fetch<{bytes}>({place}, {from});");
        let _ = writeln!(loads, "            {name}_kept[c].load({place}, 0);");
        room += shape.chunks * shape.threads * bytes;
    }
    emit.code(&format!(
        "#include \"fetch.cuh\"\nextern __shared__ __align__(16) u8 staged[];\nDEVICE void fetch_row(const Args& a, index o, int lane, Ahead& ahead) {{\n    \
         const bool valid = o < a.outputs;\n    index p[RANK + 2] = {{}};\n    if (valid) output(a, o, p);\n{before}{}    commit_fetches();\n}}\n",
        each[1](&fetches)
    ));
    format!("    wait_fetches<0>();\n{}    fetch_row(a, o + gridDim.x, lane, ahead);\n", each[0](&loads))
}

/// `across(stage, x)`: combines the values of a cluster's CTAs in the order of ranks, through distributed shared memory.
const ACROSS: &str = "DEVICE real across(int stage, real x) {\n    __shared__ real totals[STAGES];\n    if (threadIdx.x == 0) totals[stage] = x;\n    \
    asm volatile(\"barrier.cluster.arrive.aligned;\\n barrier.cluster.wait.aligned;\" ::: \"memory\");\n#pragma unroll\n    \
    for (int b = 0; b < CLUSTER; ++b) {\n        u64 there;\n        asm(\"mapa.u64 %0, %1, %2;\" : \"=l\"(there) : \"l\"(&totals[stage]), \"r\"(b));\n        \
    const real y = *(const volatile real*)there;\n        x = b == 0 ? y : combine(stage, x, y);\n    }\n    return x;\n}\n";
const LEFT: &str = "    asm volatile(\"barrier.cluster.arrive.aligned;\\n barrier.cluster.wait.aligned;\" ::: \"memory\");\n";

/// `combine(stage, x, y)`: combines two values of a stage.
pub(crate) fn combine(stages: &[Stage]) -> String {
    let cases: String = stages.iter().enumerate().map(|(i, s)| format!("    if (stage == {i}) return {};\n", s.combine)).collect();
    format!("DEVICE real combine(int stage, real x, real y) {{\n{cases}    return 0;\n}}\n")
}

/// Whether `text` calls the accessor `name`.
pub(crate) fn mentions(text: &str, name: &str) -> bool {
    let call = format!("{name}(");
    text.match_indices(&call).any(|(i, _)| !text[..i].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))
}

//! Two-pass column operations (large batch and group normalisation of NHWC) in one cooperative launch (`kernels/columns_kept.cu`): part of the matrix stays in
//! shared memory between the passes.

use super::columns::{Matrix, Shape, made};
use crate::CudaTarget;
use crate::emit::{Emitter, Real, memory_order};
use crate::ops::ceil;
use crate::program::{Launch, MapPlace, Word};
use oxidnn_spec::{Arg, Layout};

/// Threads per CTA, at most.
const THREADS: i64 = 512;
/// Bytes read, below which separate launches are as fast.
const LARGE: i64 = 8 << 20;
/// Stages of the ring, at most.
const MOST_STAGES: i64 = 48;
/// Stages that the first pass prefetches.
const AHEAD: i64 = 8;
/// Percentage of L2 that the second pass finds again.
const FOUND: i64 = 40;
/// 32-bit registers of a thread for rows that stay there between the passes, and such rows, at most.
const WORDS_OF_KEPT: i64 = 48;
const MOST_KEPT: i64 = 12;

/// A bit mask with a bit per element, in memory order of the dense matrix.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Bits {
    None,
    /// The statements of `value` set bit `i` of `bits` for column `i` of the vector.
    Written(Arg),
    /// The statements read the vector's bits as `x.bits`.
    Read(Arg),
}

impl Bits {
    /// The number of columns must be a multiple of this, so that a 32-bit word belongs to one row.
    pub(crate) const COLUMNS: i64 = 32;

    fn arg(self) -> Option<Arg> {
        match self {
            Bits::None => None,
            Bits::Written(arg) | Bits::Read(arg) => Some(arg),
        }
    }

    /// Bytes of the mask that a thread copies per row.
    fn fetched(self) -> i64 {
        if matches!(self, Bits::Read(_)) { 4 } else { 0 }
    }
}

/// Which elements share statistics, and the matrix.
#[derive(Clone, Copy)]
pub(crate) struct Sizes {
    /// Images with statistics of their own, rows of each, and columns.
    pub(crate) images: i64,
    pub(crate) rows: i64,
    pub(crate) columns: i64,
    /// Neighbouring columns that share mean and variance; 0: each has its own.
    pub(crate) group: i64,
}

/// The configuration of a launch.
pub(crate) struct Whole {
    /// Its rows and parts are those of an image.
    shape: Shape,
    sizes: Sizes,
    threads: i64,
    /// Groups of columns (`gridDim.x`).
    across: i64,
    stages: i64,
    /// Rows of a thread in registers, and the others, which pass through the ring.
    kept: i64,
    ringed: i64,
    /// Bytes of a ring slot: one vector of each input for all threads of a CTA.
    slot: i64,
    /// Half of an SM's shared memory, more than which a CTA takes.
    half: i64,
    /// Rows of a thread that neither the ring nor L2 keeps for the second pass.
    once: i64,
    /// The result does not fit L2: streaming stores.
    beyond: bool,
    bits: Bits,
}

/// The operation.
pub(crate) struct Body<'a> {
    /// Inputs, and the result, whose epilogue the emitter has.
    pub(crate) read: &'a [Matrix<'a>],
    pub(crate) dst: Matrix<'a>,
    pub(crate) layout: &'a Layout,
    /// Members of `struct Terms`; with `moments` there is one term.
    pub(crate) terms: &'a str,
    pub(crate) moments: bool,
    /// Coefficients of a column, and the statements that compute them (`to[k * WIDTH]`) from the column's sums.
    pub(crate) numbers: &'a [&'a str],
    pub(crate) settle: &'a str,
    /// Statements that compute `v`, the element in column `i`, from the inputs `x.name.number(i)`.
    pub(crate) value: &'a str,
}

/// Bytes of shared memory for sums and coefficients: `room` and `numbers` of the kernel.
fn fixed(threads: i64, [lanes, vector]: [i64; 2], group: i64, numbers: i64) -> i64 {
    let row = |across: i64| if across < 32 && 32 % across == 0 { 32 } else { across };
    let span = lanes * vector / group.max(1);
    let pieces = if span % 4 == 0 { span / 4 } else { span };
    let room = (threads / row(lanes) * lanes * vector).max(2 * (threads / row(pieces)) * span);
    4 * (room + numbers * lanes * vector) + 1024
}

impl Whole {
    /// The configuration; `None` if the matrices are small or cannot be read in vectors, or if images or columns do not divide evenly among the SMs.
    pub(crate) fn of([read, dst]: [&[Matrix<'_>]; 2], sizes: Sizes, (numbers, bits): (i64, Bits), target: &CudaTarget) -> Option<Whole> {
        let (facts, Sizes { images, rows, columns, group }) = (&target.facts, sizes);
        let all: Vec<Matrix<'_>> = read.iter().chain(dst).copied().collect();
        let base = Shape::on(1, &all, [images.checked_mul(rows)?, columns], Real::Single, target)?;
        let size = |m: &Matrix<'_>| m.dtype.bits() as i64 / 8;
        let row = read.iter().map(size).sum::<i64>();
        let bytes = (images * rows).checked_mul(columns)?.checked_mul(row)?;
        if facts.sm < 80 || base.vector < 4 || bytes < LARGE || !all.iter().all(|m| m.has_images(images)) {
            return None;
        }
        let vectors = columns / base.vector;
        let blocks = i64::from(facts.multiprocessors);
        // A CTA has all columns of a row if they form groups.
        let lanes = if group > 0 { vec![vectors] } else { [8, 16, 32].map(|lanes: i64| lanes.min(base.lanes)).to_vec() };
        let (lanes, across, parts) = lanes.into_iter().filter(|&lanes| 2 * lanes <= THREADS).find_map(|lanes| {
            let across = ceil(vectors, lanes);
            let parts = (blocks / (across * images)).min(rows / (THREADS / lanes));
            let busy = vectors % lanes == 0 || across == 1;
            (busy && 10 * parts * images * across >= 9 * blocks).then_some((lanes, across, parts))
        })?;
        let down = THREADS / lanes;
        let (threads, width) = (down * lanes, [lanes, base.vector]);
        let slot = threads * (base.vector * row + bits.fetched());
        let stages = ((i64::from(facts.shared_memory) - fixed(threads, width, group, numbers)) / slot).min(MOST_STAGES);
        let turns = ceil(rows, down * parts);
        let found = i64::from(facts.l2) / 100 * FOUND / (parts * images * across * slot);
        let words = (base.vector * row + bits.fetched()) / 4;
        // Rows that surely are in L2 are read from there as quickly.
        let kept = if turns > stages + found * 3 / 4 { (WORDS_OF_KEPT / words.max(1)).min(MOST_KEPT) } else { 0 };
        let ringed = if kept > 0 { (turns - kept).max(stages) } else { turns };
        let shape = Shape { rows, lanes, down, parts, apart: down, span: rows, step: down * parts, ..base };
        let beyond = bytes / row * dst.iter().map(size).sum::<i64>() > i64::from(facts.l2) / 2;
        let once = (ringed - stages - found).max(0);
        (stages >= 4).then_some(Whole {
            shape,
            sizes,
            threads,
            across,
            stages,
            kept,
            ringed,
            slot,
            half: i64::from(facts.shared_memory) / 2,
            once,
            beyond,
            bits,
        })
    }

    /// The configuration of the partial sums.
    pub(crate) fn partial(&self) -> Shape {
        Shape { parts: self.shape.parts * self.sizes.images, ..self.shape }
    }

    /// The launch, with scratch for partial sums at `partial`.
    pub(crate) fn launch(&self, mut emit: Emitter, body: &Body<'_>, partial: usize) -> Launch {
        let Body { read, dst, layout, terms, moments, numbers, settle, value } = *body;
        let Shape { rows, columns, vector, lanes, parts, step, .. } = self.shape;
        for (name, value) in [
            ("VECTOR", vector),
            ("LANES", lanes),
            ("THREADS", self.threads),
            ("STAGES", self.stages),
            ("AHEAD", AHEAD.min(self.stages)),
            ("KEPT", self.kept),
            ("SLOT", self.slot),
            ("NUMBERS", numbers.len() as i64),
            ("GROUP", self.sizes.group),
        ] {
            emit.option(name, value);
        }
        if moments {
            emit.option("MOMENTS", 1);
        }
        self.shape.count(&mut emit);
        emit.word("real* partial", Word::Scratch(partial));
        let Sizes { images, group, .. } = self.sizes;
        for (name, value) in [
            ("rows", rows),
            ("columns", columns),
            ("parts", parts),
            ("row_step", step),
            ("ringed", self.ringed),
            ("once", self.once),
            ("part_rows", parts * images),
            ("stats", columns / group.max(1)),
        ] {
            emit.number(name, value);
        }
        emit.define("RANK", layout.ndims());
        let order: Vec<usize> = memory_order(layout).into_iter().filter(|&d| d != 1).collect();
        emit.traversal("position", &layout.dims, &order);
        let mut all = Walk::default();
        for m in read {
            m.declare(&mut emit);
            let (name, piece) = (m.name, vector * m.dtype.bits() as i64 / 8);
            all.add(&Part {
                name,
                word: &format!("const {name}_number::word"),
                member: &format!("Vector<{name}_number, VECTOR> {name}"),
                bytes: piece * self.threads,
                first: &format!("(const {name}_number::word*)a.{name}_rows + a.{name}_offset + r * a.{name}_step + c"),
                apart: &format!("step * a.{name}_step"),
                load: &format!("{name}.load(from, 0)"),
                take: &format!("{name}.load_once(walk.{name}, 0)"),
            });
        }
        dst.declare(&mut emit);
        let members: String = numbers.iter().map(|m| format!("    real {m}[VECTOR];\n")).collect();
        let taken: String =
            numbers.iter().enumerate().map(|(k, m)| format!("            {m}[i] = from[{k} * LANES * VECTOR + i];\n")).collect();
        if let Some(arg) = self.bits.arg() {
            emit.word("u64 bits", Word::Address { arg, buffer: 0 });
        }
        match self.bits {
            Bits::None => {}
            Bits::Written(_) => emit.code(KEEP_BITS),
            Bits::Read(_) => {
                let own = |word: &str, thread: &str| format!("bits = {word} >> ({thread} % LANES * VECTOR & 31)");
                all.add(&Part {
                    name: "bits",
                    word: "const u32",
                    member: "u32 bits",
                    bytes: 4 * self.threads,
                    first: "(const u32*)a.bits + ((r * a.columns + c) >> 5)",
                    apart: "(step * a.columns) >> 5",
                    load: &own("*(const u32*)from", "thread"),
                    take: &own("*walk.bits", "threadIdx.x"),
                });
            }
        }
        let make = made(&dst, value, if self.beyond { "store_once" } else { "store" }, matches!(self.bits, Bits::Written(_)));
        emit.code(&all.code());
        emit.code(&format!(
            "struct Terms {{\n{terms}}};\nDEVICE void settle(const Args& a, int image, i64 c, const real (&s)[2], bool is_first, real* to) {{\n    \
             const index p[] = {{(index)image, (index)c}};\n{settle}}}\nstruct Columns {{\n{members}    DEVICE void begin(const real* from) {{\n#pragma unroll\n        \
             for (int i = 0; i < VECTOR; ++i) {{\n{taken}        }}\n    }}\n{make}}};\n"
        ));
        let mut launch = emit.launch_blocks("columns_kept", [self.across as u32, (parts * self.sizes.images) as u32, 1]);
        launch.block = self.threads as u32;
        launch.shared = (self.stages * self.slot).max(self.half) as u32;
        launch.resident = true;
        launch.aligned = read.iter().chain([&dst]).map(|m| m.arg).chain(self.bits.arg()).map(|arg| MapPlace::Arg(arg, 0)).collect();
        launch
    }
}

/// What a row has of one tensor.
struct Part<'a> {
    name: &'a str,
    /// The type of elements in global memory, the member of `Loaded`, and its bytes in a slot.
    word: &'a str,
    member: &'a str,
    bytes: i64,
    /// The address in row r, and the elements between the rows of a thread.
    first: &'a str,
    apart: &'a str,
    /// Statements that set the member from a slot (`from`), and from global memory (`walk`).
    load: &'a str,
    take: &'a str,
}

/// `struct Walk` and `struct Loaded` in the making: the vectors of a row, in global memory and in a slot of the ring.
#[derive(Default)]
struct Walk {
    pointers: String,
    begin: String,
    moves: [String; 2],
    vectors: String,
    fetches: String,
    loads: String,
    takes: String,
    room: i64,
}

impl Walk {
    fn add(&mut self, part: &Part<'_>) {
        let &Part { name, word, member, bytes, first, apart, load, take } = part;
        let room = self.room;
        self.pointers += &format!("    {word}* {name};\n    i64 {name}_apart;\n");
        self.begin += &format!("        {name} = {first};\n        {name}_apart = {apart};\n");
        for (text, sign) in self.moves.iter_mut().zip(["+=", "-="]) {
            *text += &format!("        {name} {sign} {name}_apart;\n");
        }
        let place = |thread: &str| format!("{room} + {thread} * ({bytes} / THREADS)");
        self.vectors += &format!("    {member};\n");
        self.fetches += &format!("        ::fetch<{bytes} / THREADS>(to + {}, walk.{name}, policy);\n", place("threadIdx.x"));
        self.loads += &format!("        {{\n            const u8* from = slot + {};\n            {load};\n        }}\n", place("thread"));
        self.takes += &format!("        {take};\n");
        self.room += bytes;
    }

    fn code(&self) -> String {
        let Walk { pointers, begin, moves: [next, back], vectors, fetches, loads, takes, .. } = self;
        format!(
            "struct Walk {{\n{pointers}    DEVICE void begin(const Args& a, i64 r, i64 c, i64 step) {{\n{begin}    }}\n    DEVICE void next() {{\n{next}    }}\n    \
             DEVICE void back() {{\n{back}    }}\n}};\nstruct Loaded {{\n{vectors}    static DEVICE void fetch(const Walk& walk, u8* to, u64 policy) {{\n{fetches}    }}\n    \
             DEVICE void load(const u8* slot, int thread) {{\n{loads}    }}\n    DEVICE void take(const Walk& walk) {{\n{takes}    }}\n}};\n"
        )
    }
}

/// `keep_bits(a, r, c, bits)` stores a vector's mask bits; with vectors of four, two neighbouring threads combine theirs to a byte.
const KEEP_BITS: &str = "DEVICE void keep_bits(const Args& a, i64 r, i64 c, u32 bits) {\n#if VECTOR == 4\n    \
    bits |= __shfl_xor_sync(3u << (threadIdx.x & 30), bits, 1) << 4;\n    if (threadIdx.x & 1) return;\n#endif\n    \
    ((u8*)a.bits)[(r * a.columns + c) >> 3] = (u8)bits;\n}\n";

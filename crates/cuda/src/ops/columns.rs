//! Sums down the columns of row-major matrices, such as pixels by channels of NHWC tensors (`kernels/columns.cu`), element-wise operations with coefficients per
//! column (`columns_map.cu`), and layer normalisation backward (`rows_gradient.cu`).

use crate::CudaTarget;
use crate::emit::{Emitter, Place, Real, View, memory_order};
use crate::ops::ceil;
use crate::program::{Launch, MapPlace, OVERFLOW, Program, Word};
use oxidnn_runtime::Skip;
use oxidnn_spec::{Arg, DataType, Layout, MAX_NDIMS, Tensor};

/// Rows that a thread of a part adds, at least; CTAs per SM.
const ROWS: i64 = 8;
const BLOCKS: i64 = 8;
/// Columns of a thread of `rows_gradient.cu`, at most.
const COLUMNS: i64 = 16;
/// Where a warp has a row: columns of a thread, at most, and warps of a CTA, which has an SM for itself; the last only for rows that are not aligned.
const WARPS: [(i64, i64); 3] = [(16, 16), (24, 12), (32, 8)];
/// Bytes of the prefetch rings of all CTAs of an SM (`rows_gradient.cu`), and their stages, at most: deeper ones are slower.
const RING: i64 = 192 * 1024;
const STAGES: i64 = 3;

/// A row-major matrix in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Matrix<'a> {
    pub(crate) name: &'a str,
    pub(crate) arg: Arg,
    pub(crate) dtype: DataType,
    offset: i64,
    /// Row stride in elements.
    step: i64,
    /// The dimensions that form the rows, slowest first.
    order: [u8; MAX_NDIMS],
}

impl<'a> Matrix<'a> {
    /// The tensor as a matrix with `channel`, the contiguous dimension, as columns; `None` if the other dimensions cannot be merged.
    pub(crate) fn of(name: &'a str, arg: Arg, t: &Tensor, channel: usize) -> Option<Matrix<'a>> {
        let b = t.blocking().filter(|b| b.is_plain() && b.padded_dims == *t.dims())?;
        if b.strides[channel] != 1 || t.dtype.bits() < 8 {
            return None;
        }
        let mut merged: Option<(i64, i64)> = None;
        for d in memory_order(&t.layout).into_iter().rev().filter(|&d| d != channel && t.dims()[d] != 1) {
            merged = Some(match merged {
                None => (t.dims()[d], b.strides[d]),
                Some((size, step)) if b.strides[d] == size * step => (size * t.dims()[d], step),
                Some(_) => return None,
            });
        }
        let mut order = [u8::MAX; MAX_NDIMS];
        let rows = memory_order(&t.layout).into_iter().filter(|&d| d != channel && t.dims()[d] != 1);
        order.iter_mut().zip(rows).for_each(|(to, d)| *to = d as u8);
        Some(Matrix { name, arg, dtype: t.dtype, offset: b.offset, step: merged.map_or(t.dims()[channel], |m| m.1), order })
    }

    /// Whether the rows of an image (dimension 0) are neighbours.
    pub(crate) fn has_images(&self, images: i64) -> bool {
        images == 1 || self.order[0] == 0
    }

    /// Declares its address, offset and row stride as fields, and its type as `name_number`.
    pub(crate) fn declare(&self, emit: &mut Emitter) {
        let (name, dtype) = (self.name, crate::emit::type_name(self.dtype));
        emit.word(&format!("void* {name}_rows"), Word::Address { arg: self.arg, buffer: 0 });
        emit.number(&format!("{name}_step"), self.step);
        emit.number(&format!("{name}_offset"), self.offset);
        emit.code(&format!("typedef {dtype} {name}_number;"));
    }
}

/// The configuration of a launch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(super) rows: i64,
    pub(super) columns: i64,
    pub(crate) vector: i64,
    pub(super) lanes: i64,
    /// Rows that a CTA reads at a time.
    pub(super) down: i64,
    pub(crate) parts: i64,
    /// Rows between the starts of neighbouring parts; rows that a part spans; rows between the groups of a part (`row_step`).
    pub(super) apart: i64,
    pub(super) span: i64,
    pub(super) step: i64,
    /// Rows are not aligned to vectors (`rows_gradient.cu` only).
    pub(super) adrift: bool,
}

impl Shape {
    /// The configuration for these matrices; `None` if they cannot be read in vectors.
    pub(crate) fn of(all: &[Matrix<'_>], [rows, columns]: [i64; 2], real: Real, target: &CudaTarget) -> Option<Shape> {
        Shape::on(BLOCKS, all, [rows, columns], real, target)
    }

    /// The same for kernels with at most `blocks` CTAs per SM.
    pub(crate) fn on(blocks: i64, all: &[Matrix<'_>], [rows, columns]: [i64; 2], real: Real, target: &CudaTarget) -> Option<Shape> {
        let least = all.iter().map(|m| m.dtype.bits() as i64 / 8).min()?;
        let vector = if real == Real::Double { 2 } else { (16 / least).clamp(1, 8) };
        let fits = |m: &Matrix<'_>| m.offset % vector == 0 && m.step % vector == 0 && vector * (m.dtype.bits() as i64 / 8) >= 4;
        let alike = all.iter().all(|m| m.order == all[0].order);
        if columns % vector != 0 || rows < 1 || columns < 1 || !all.iter().all(fits) || !alike {
            return None;
        }
        let vectors = columns / vector;
        let whole = [32, 16, 8].into_iter().find(|lanes| vectors % lanes == 0);
        let lanes = whole.unwrap_or((vectors as u64).next_power_of_two().min(32) as i64);
        let down = 256 / lanes;
        let across = ceil(columns, vector * lanes);
        let wanted = (blocks * i64::from(target.facts.multiprocessors) / across).max(1);
        let parts = wanted.min((rows / (ROWS * down)).max(1)).min(4096);
        let chunk = ceil(rows, parts);
        let parts = ceil(rows, chunk);
        Some(Shape { rows, columns, vector, lanes, down, parts, apart: chunk, span: chunk, step: down, adrift: false })
    }

    /// The configuration of `rows_gradient.cu` for rows that are not aligned to vectors; `None` unless a row has the same offset from a vector boundary in all
    /// matrices.
    pub(crate) fn adrift(all: &[Matrix<'_>; 3], [rows, columns]: [i64; 2], real: Real, target: &CudaTarget) -> Option<Shape> {
        let bytes = all[0].dtype.bits() as i64 / 8;
        let vector = 16 / bytes.max(2);
        let place = |m: &Matrix<'_>| (m.dtype.bits(), m.offset % vector, m.step % vector, m.order);
        let whole = rows.checked_mul(columns)?;
        if real == Real::Double || columns < vector || !all.iter().all(|m| place(m) == place(&all[0])) {
            return None;
        }
        // The other fields are those for a matrix of aligned rows.
        let like = all.map(|m| Matrix { offset: 0, step: vector, ..m });
        let shape = Shape::of(&like, [whole / columns, columns / vector * vector], real, target)?;
        Some(Shape { columns, adrift: true, ..shape })
    }

    /// The same with interleaved parts, so that all CTAs together read the matrix from front to back.
    pub(crate) fn in_turns(self) -> Shape {
        let parts = self.parts.min((self.rows / self.down).max(1));
        Shape { parts, apart: self.down, span: self.rows, step: self.down * parts, ..self }
    }

    /// The configuration in which no part has rows of two images; all parts have the same number of rows, and those of an image are consecutive.
    pub(crate) fn of_images(all: &[Matrix<'_>], [images, rows, columns]: [i64; 3], real: Real, target: &CudaTarget) -> Option<Shape> {
        let shape = Shape::on(blocks_of(all.len()), all, [images.checked_mul(rows)?, columns], real, target)?;
        if !all.iter().all(|m| m.has_images(images)) {
            return None;
        }
        let own = (1..=(shape.parts / images).max(1)).rev().find(|parts| rows % parts == 0)?;
        let parts = images * own;
        let chunk = rows / own;
        (parts <= 65_535).then_some(Shape { parts, apart: chunk, span: chunk, step: shape.down, ..shape })
    }

    /// Declares `rows_of(a, part)`, the number of rows of a part.
    pub(crate) fn count(&self, emit: &mut Emitter) {
        let down = self.down;
        let groups = ceil(self.rows, down);
        // With interleaved parts, the first `more` parts have one group more, and the owner of the last group may lack rows of it; otherwise only the last part is
        // shorter.
        let in_turns = self.span == self.rows && self.parts > 1;
        let [whole, more, owner, missing] = if in_turns {
            [groups / self.parts * down, groups % self.parts, (groups - 1) % self.parts, groups * down - self.rows]
        } else {
            [self.span, 0, self.parts - 1, self.parts * self.span - self.rows]
        };
        for (name, value) in [("whole", whole), ("more", more), ("owner", owner), ("missing", missing)] {
            emit.number(name, value);
        }
        emit.code(&format!(
            "DEVICE real rows_of(const Args& a, index part) {{\n    \
             return (real)(a.whole + (part < (index)a.more ? {down} : 0) - (part == (index)a.owner ? a.missing : 0));\n}}\n"
        ));
    }

    /// Appends the launch of `rows_gradient.cu` for source, destination gradient and source gradient. `emit` has the functions of rows and columns that the kernel
    /// needs. Returns place and layout of the partial sums; `None` if a thread would have too many columns.
    pub(crate) fn rows_gradient(
        &self,
        mut emit: Emitter,
        all: &[Matrix<'_>; 3],
        program: &mut Program,
        target: &CudaTarget,
    ) -> Result<Option<(usize, Layout)>, Skip> {
        let vectors = self.columns / self.vector;
        let chunks = |threads: i64| ceil(vectors, threads);
        let few = [64, 128, 256].into_iter().find(|&t| chunks(t) <= 2);
        let threads = few.or_else(|| [64, 128, 256, 512].into_iter().find(|&t| chunks(t) * self.vector <= COLUMNS));
        let Some(threads) = threads else { return Ok(None) };
        let sizes = if self.adrift { &WARPS[..] } else { &WARPS[..2] };
        let by_warps = sizes.iter().find(|w| chunks(32) * self.vector <= w.0).map(|w| w.1);
        let teams = by_warps.filter(|w| self.rows >= 4 * w * i64::from(target.facts.multiprocessors)).unwrap_or(1);
        let (threads, together) = if teams > 1 { (32, 1) } else { (threads, 512 / threads) };
        // The copy engine moves multiples of 16 bytes.
        let bulk = target.facts.sm >= 90 && all[..2].iter().all(|m| m.dtype.bits() >= 16);
        let blocks = (i64::from(target.facts.multiprocessors) * together).min(self.rows);
        // A multiple of the vector width, so that all rows of a CTA have the same offset from a vector boundary.
        let parts = if self.adrift && teams % self.vector != 0 { blocks - blocks % self.vector } else { blocks };
        if parts < 1 {
            return Ok(None);
        }
        let row = teams * threads * chunks(threads) * self.vector * all[..2].iter().map(|m| m.dtype.bits() as i64 / 8).sum::<i64>();
        let room = i64::from(target.facts.shared_memory);
        let stages = if 2 * row > room { return Ok(None) } else { (room.min(RING) / (row * together)).clamp(2, STAGES) };
        // Two CTAs of an SM add their sums in the memory of the ring. Clusters of more are not all resident.
        let sums = 8 * self.columns * teams;
        let is_pair = together == 2 && parts % 2 == 0 && stages * row >= sums;
        let cluster = if target.facts.sm >= 90 && is_pair { 2 } else { 1 };
        let at = book(program, &Shape { parts: parts / cluster, ..*self }, 2, Real::Single)?;
        for (name, value) in [
            ("VECTOR", self.vector),
            ("THREADS", threads),
            ("TEAMS", teams),
            ("CHUNKS", chunks(threads)),
            ("STAGES", stages),
            ("BLOCKS", together),
            ("BULK", i64::from(bulk)),
            ("ADRIFT", i64::from(self.adrift)),
            ("CLUSTER", cluster),
        ] {
            emit.option(name, value);
        }
        emit.word("real* partial", Word::Scratch(at));
        for (name, value) in [("rows", self.rows), ("columns", self.columns)] {
            emit.number(name, value);
        }
        for m in all {
            m.declare(&mut emit);
        }
        let mut launch = emit.launch_blocks("rows_gradient", [parts as u32, 1, 1]);
        (launch.block, launch.cluster) = ((threads * teams) as u32, cluster as u32);
        launch.shared = (stages * row).max(if self.adrift || teams > 1 { sums } else { 0 }) as u32;
        launch.aligned = all.iter().map(|m| MapPlace::Arg(m.arg, 0)).collect();
        program.launches.push(launch);
        Ok(Some((at, Layout::plain([parts / cluster, self.columns].into()).map_err(|_| OVERFLOW)?)))
    }

    /// The results of all parts: a tensor (sums, parts, columns).
    pub(crate) fn partial(&self, sums: i64, real: Real) -> Result<Tensor, Skip> {
        Tensor::plain([sums, self.parts, self.columns], real.dtype()).map_err(|_| OVERFLOW)
    }

    /// The launch of `columns.cu`, which stores to the scratch at `partial`. `terms` are the members of `struct Terms`, which read by `name_vector(a, r, c, x)`;
    /// without `sums` the results are moments.
    pub(crate) fn launch(&self, mut emit: Emitter, all: &[Matrix<'_>], terms: &str, sums: Option<i64>, partial: usize) -> Launch {
        for (name, value) in [("VECTOR", self.vector), ("LANES", self.lanes), ("SUMS", sums.unwrap_or(1))] {
            emit.option(name, value);
        }
        if sums.is_none() {
            emit.option("MOMENTS", 1);
            self.count(&mut emit);
        }
        emit.word("real* partial", Word::Scratch(partial));
        for (name, value) in
            [("rows", self.rows), ("columns", self.columns), ("apart", self.apart), ("span", self.span), ("row_step", self.step)]
        {
            emit.number(name, value);
        }
        for m in all {
            let name = m.name;
            m.declare(&mut emit);
            emit.code(&format!(
                "DEVICE void {name}_vector(const Args& a, i64 r, i64 c, real (&x)[VECTOR]) {{\n    Vector<{name}_number, VECTOR> v;\n    \
                 v.load(a.{name}_rows, a.{name}_offset + r * a.{name}_step + c);\n#pragma unroll\n    for (int i = 0; i < VECTOR; ++i) x[i] = v.number(i);\n}}\n"
            ));
        }
        emit.code(&format!("struct Terms {{\n{terms}}};\n"));
        let across = ceil(self.columns, self.vector * self.lanes);
        let mut launch = emit.launch_blocks("columns", [across as u32, self.parts as u32, 1]);
        launch.aligned = all.iter().map(|m| MapPlace::Arg(m.arg, 0)).collect();
        launch
    }
}

/// An element-wise operation with coefficients per column (`kernels/columns_map.cu`).
pub(crate) struct Elements<'a> {
    /// Inputs.
    pub(crate) read: &'a [Matrix<'a>],
    /// The result, whose epilogue the emitter has.
    pub(crate) dst: Matrix<'a>,
    pub(crate) layout: &'a Layout,
    /// Members of `struct Columns`: arrays of coefficients of a thread's columns.
    pub(crate) members: &'a [&'a str],
    /// Statements that set the coefficients of the columns from `c` on: once, and per column `i` with its position `p`.
    pub(crate) begin: [&'a str; 2],
    /// Statements that compute `v`, the element in column `i`, from the inputs `x.name.number(i)`.
    pub(crate) value: &'a str,
}

impl Shape {
    /// The launch of `columns_map.cu`.
    pub(crate) fn elements(&self, mut emit: Emitter, elements: &Elements<'_>) -> Launch {
        let Elements { read, dst, layout, members, begin, value } = elements;
        for (name, value) in [
            ("VECTOR", self.vector),
            ("LANES", self.lanes),
            ("AHEAD", if read.len() > 1 { 2 } else { 4 }),
            ("BLOCKS", blocks_of(read.len() + 1)),
        ] {
            emit.option(name, value);
        }
        for (name, value) in
            [("rows", self.rows), ("columns", self.columns), ("apart", self.apart), ("span", self.span), ("row_step", self.step)]
        {
            emit.number(name, value);
        }
        emit.define("RANK", layout.ndims());
        let order: Vec<usize> = memory_order(layout).into_iter().filter(|&d| d != 1).collect();
        emit.traversal("position", &layout.dims, &order);
        read.iter().for_each(|m| m.declare(&mut emit));
        dst.declare(&mut emit);
        let members: String = members.iter().map(|m| format!("    real {m}[VECTOR];\n")).collect();
        let ([once, each], make, loaded) = (begin, made(dst, value, "store", false), loaded(read));
        emit.code(&format!(
            "{loaded}\
             struct Columns {{\n{members}    DEVICE void begin(const Args& a, i64 r, i64 c) {{\n        index p[RANK];\n        position(a, (index)r, p);\n        p[1] = (index)c;\n\
             {once}#pragma unroll\n        for (int i = 0; i < VECTOR; ++i) {{\n            p[1] = (index)(c + i);\n{each}        }}\n    }}\n{make}}};\n"
        ));
        let across = ceil(self.columns, self.vector * self.lanes);
        let mut launch = emit.launch_blocks("columns_map", [across as u32, self.parts as u32, 1]);
        launch.aligned = read.iter().chain([dst]).map(|m| MapPlace::Arg(m.arg, 0)).collect();
        launch
    }
}

/// `struct Loaded`: a vector of each of these matrices, at row `r` and column `c`.
pub(crate) fn loaded(read: &[Matrix<'_>]) -> String {
    let (mut vectors, mut loads) = (String::new(), String::new());
    for Matrix { name, .. } in read {
        vectors += &format!("    Vector<{name}_number, VECTOR> {name};\n");
        loads += &format!("        {name}.load(a.{name}_rows, a.{name}_offset + r * a.{name}_step + c);\n");
    }
    format!("struct Loaded {{\n{vectors}    DEVICE void load(const Args& a, i64 r, i64 c) {{\n{loads}    }}\n}};\n")
}

/// The member function `make`, which computes a row's elements from the loaded vectors `x` by the statements of `value` and stores them by `store`; with
/// `keeps`, also the mask bits that the statements set in `bits`.
pub(crate) fn made(dst: &Matrix<'_>, value: &str, store: &str, keeps: bool) -> String {
    let to = dst.name;
    let [bits, keep] = if keeps { ["        u32 bits = 0;\n", "        keep_bits(a, r, c, bits);\n"] } else { [""; 2] };
    format!(
        "    DEVICE void make(const Args& a, const Loaded& x, i64 r, i64 c) const {{\n        index p[RANK];\n        position(a, (index)r, p);\n        \
         const i64 at = a.{to}_offset + r * a.{to}_step + c;\n        Vector<dst_type, VECTOR> out;\n{bits}#pragma unroll\n        for (int i = 0; i < VECTOR; ++i) {{\n            \
         p[1] = (index)(c + i);\n{value}            out.words[i] = dst_type::encode(rounded(a, p, at + i, ::value(a, p, at + i, v)));\n        }}\n        \
         out.{store}(a.{to}_rows, at);\n{keep}    }}\n"
    )
}

/// CTAs per SM of `columns_map.cu`, and of `columns.cu` with moments, by the number of matrices.
pub(crate) fn blocks_of(matrices: usize) -> i64 {
    if matrices > 2 { 3 } else { 4 }
}

/// A view of one of the partial sums, with `layout` as parts by columns.
pub(crate) fn part_view<'a>(name: &'a str, at: usize, sum: i64, layout: &'a Layout, real: Real) -> View<'a> {
    let (count, bytes) = (layout.dims.iter().product::<i64>(), if real == Real::Double { 8 } else { 4 });
    View { name, place: Place::Scratch(at + (sum * count * bytes) as usize), dtype: real.dtype(), layout, padded: false }
}

/// Books scratch for the results of all parts.
pub(crate) fn book(program: &mut Program, shape: &Shape, sums: i64, real: Real) -> Result<usize, Skip> {
    program.book(shape.partial(sums, real)?.bytes())
}

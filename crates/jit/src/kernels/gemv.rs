//! Products of a few rows with weights that are read once: speed is that of memory.
//!
//! `C[i][j] (+)= sum over k of A[i][k] * B[k][j]` for up to 8 rows `i`. Vectors of weights (`B`) are multiplied in the order in which they
//! come from memory, decoded in registers (see [`super::unpack`]). `A` is permuted beforehand to the order of the decoded elements, which
//! costs little since it is small. There is a kernel for each order in which weights can be contiguous:
//!
//! - [`Layout::Panel`]: panels of columns, a word of every column after the other. Lanes are columns, words of `A` are broadcast to them, and
//!   the sums of a panel stay in registers. Scales and zero points of groups along K are applied to the sums of each group.
//! - [`Layout::Rows`]: rows of weights. Lanes are columns (of a part), the sums of a few hundred columns stay in L1, and several rows are
//!   taken at a time, so that each sum is loaded and stored once for all of them. Each group is a call of its own.
//! - [`Layout::Columns`]: columns of weights. Lanes run along K, `A` is read in vectors, and the lanes of each column's sums are added up in the end. The
//!   sums of a group times its scale are added to totals; several groups may share a vector.
//!
//! Sums are f32 and are many enough at a time that the latency of multiply-adds hides behind memory's.

use super::dot::STREAM_BYTES;
use super::unpack::{Decode, Decoder, Stored};
use crate::asm::Width;
use crate::ir::{Accumulate, Addr, Binary, Elem, Function, Int, Pred, Prefetch, Src, Val};
use crate::isa::Isa;
use crate::key::Key;
use std::mem::offset_of;

#[cfg(test)]
mod tests;

/// Largest number of rows.
pub const MAX_ROWS: usize = 8;

/// Largest number of rows of columns that groups scale.
pub const SCALED_ROWS: usize = 4;

/// The key of a kernel: everything that its code depends on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Gemv {
    /// The weights.
    pub decode: Decode,
    /// Rows of `A`, 1 to [`MAX_ROWS`].
    pub rows: u8,
    /// The layout of the weights.
    pub layout: Layout,
}

/// The layout of the weights, whose order in memory is the order of the loops.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Layout {
    /// Panels, [`Args::b_row`] apart: lines of a word of each column.
    ///
    /// `A` has for every line and part one word of each row. Sums are added to `C`, whose rows are [`Args::c_row`] apart.
    Panel {
        /// Vectors in a line.
        line: u8,
        /// Those of them that are taken.
        vectors: u8,
        /// Panels that are taken at a time, whose sums follow each other.
        panels: u8,
        /// Quantisation of groups of lines.
        groups: Option<Groups>,
    },
    /// Rows, [`Args::b_row`] apart.
    ///
    /// `A` has for every row of weights a word for each row. Sums are added to `C`: for every vector of a row of weights and each of its
    /// parts a vector for each row. A vector has [`Decode::in_lane`] elements a lane, each of which makes a part.
    Rows {
        /// Rows of weights that are taken at a time.
        lines: u8,
        /// True when a vector of [`Args::last`] words follows the whole ones.
        masked: bool,
    },
    /// Columns, [`Args::b_row`] apart.
    ///
    /// `A` has for every vector of a column and each of its parts a vector for each row, zeros after the last number. Of weights of one part it has rows,
    /// [`Args::a_row`] apart, of as many words as a column. `C` gets for every column the sum of each row; the vector that ends with the last of them is
    /// written whole. Where groups of the depth have scales, a column is [`Args::rest`] times [`Args::blocks`] vectors.
    Columns {
        /// Columns that are taken at a time.
        columns: u8,
        /// True when a vector of [`Args::last`] words follows the whole ones.
        masked: bool,
        /// Scales of groups of the depth.
        scales: Option<Scales>,
    },
}

/// Scales of groups of the depth of columns: of [`Args::blocks`] whole vectors each, or of equal parts of a vector.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Scales {
    /// Their type.
    pub elem: Elem,
    /// Groups of a vector.
    pub in_vector: u8,
}

/// The factors of a group's sums, by column.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Groups {
    /// Type of scales, which multiply.
    pub scale: Option<Elem>,
    /// Type of zero points, which are subtracted from weights.
    pub zero: Option<Elem>,
}

/// Arguments of a kernel.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Args {
    /// `A`, see [`Layout`].
    pub a: *const u8,
    /// First word of weights.
    pub b: *const u8,
    /// The sums.
    pub c: *mut f32,
    /// Distance of rows of `A` in bytes, where they are apart.
    pub a_row: usize,
    /// Distance of panels, rows or columns of weights in bytes.
    pub b_row: usize,
    /// Distance of rows of `C` in bytes, for panels.
    pub c_row: usize,
    /// Groups of a panel (at least 1), or groups of as many lines or columns as the kernel takes at a time.
    pub groups: usize,
    /// Rounds of [`Gemv::unroll`] lines in a group of a panel, or whole vectors of a row or column, or of a part of it that is scaled.
    pub blocks: usize,
    /// Lines behind these rounds, or parts of a column that are scaled.
    pub rest: usize,
    /// Lanes of the last vector, where the kernel is masked.
    pub last: usize,
    /// Scales of the first group.
    pub scale: *const u8,
    /// Distance of the scales of two groups in bytes.
    pub scale_row: usize,
    /// Zero points of the first group.
    pub zero: *const u8,
    /// Distance of the zero points of two groups in bytes.
    pub zero_row: usize,
    /// Sums of `A` in each group: f32, a word of each row.
    pub a_sums: *const f32,
}

/// Streams that saturate memory: on Zen 3 one gets 25 GB/s, four 40. On Sapphire Rapids, whose panels have lines of 256 bytes, several
/// streams are slower.
const MEMORY_STREAMS: usize = 4;

/// The most accumulators that fit beside the registers for decoding.
const fn max_sums(isa: Isa, decode: Decode) -> usize {
    match (isa.avx512, decode.line_parts()) {
        (true, _) => 24,
        (false, 1) => 12,
        (false, _) => 10,
    }
}

impl Key for Gemv {
    type Args = Args;

    /// The name in dumps and profiles, such as `gemv.s4.pairs.panel.1x64.avx512_bf16`.
    fn name(&self, isa: Isa) -> String {
        let lanes = isa.width().lanes();
        let pairs = if self.decode.pairs { ".pairs" } else { "" };
        let layout = match self.layout {
            Layout::Panel { line, vectors, panels, groups } => {
                let count = if panels > 1 { format!("{panels}panels") } else { "panel".into() };
                let part = if line == vectors { String::new() } else { format!("of{}", usize::from(line) * lanes) };
                let quantised = |prefix: &str, elem: Option<Elem>| elem.map_or(String::new(), |e| format!(".{prefix}-{}", e.name()));
                let groups = groups.map_or(String::new(), |g| quantised("scale", g.scale) + &quantised("zero", g.zero));
                format!("{count}.{}x{}{part}{groups}", self.rows, usize::from(vectors) * lanes)
            }
            Layout::Rows { lines, masked } => format!("lines.{}x{lines}{}", self.rows, if masked { ".masked" } else { "" }),
            Layout::Columns { columns, masked, scales } => {
                let scales = scales.map_or(String::new(), |s| format!(".scale{}-{}", s.in_vector, s.elem.name()));
                format!("columns.{}x{columns}{}{scales}", self.rows, if masked { ".masked" } else { "" })
            }
        };
        format!("gemv.{}{pairs}.{layout}.{}", self.decode.stored.name(), isa.name())
    }

    fn write(&self, f: &mut Function) {
        let args = f.arguments();
        let decoder = Decoder::new(f, self.decode);
        let writer = Writer { rows: usize::from(self.rows), decode: self.decode, decoder, width: f.isa().width(), args };
        match self.layout {
            Layout::Panel { line, vectors, panels, groups } => {
                let [line, vectors, panels] = [line, vectors, panels].map(usize::from);
                Panel { w: &writer, line, vectors, panels, unroll: self.unroll() }.write(f, groups);
            }
            Layout::Rows { lines, masked } => Lines { w: &writer, lines: usize::from(lines) }.write(f, masked),
            Layout::Columns { columns, masked, scales } => Columns { w: &writer, columns: usize::from(columns) }.write(f, masked, scales),
        }
    }
}

impl Gemv {
    /// Vectors of a line of a panel that are taken at a time: `line`, or an equal part of it whose sums have registers.
    pub const fn vectors(isa: Isa, decode: Decode, rows: usize, line: usize) -> usize {
        let mut vectors = line;
        while vectors > 1 && rows * vectors > max_sums(isa, decode) {
            vectors = if vectors.is_multiple_of(2) { vectors / 2 } else { 1 };
        }
        vectors
    }

    /// Panels of such lines that are taken at a time: memory delivers several streams of short lines faster than one. Registers hold all
    /// their sums.
    pub const fn panels(isa: Isa, decode: Decode, rows: usize, line: usize) -> usize {
        match max_sums(isa, decode) / (rows * line) {
            0 => 1,
            _ if isa.avx512 => 1,
            panels @ 1..MEMORY_STREAMS => panels,
            _ => MEMORY_STREAMS,
        }
    }

    /// Rows of weights that are taken at a time.
    pub const fn lines(isa: Isa) -> usize {
        if isa.avx512 { 8 } else { 4 }
    }

    /// Columns of weights that are taken at a time.
    pub const fn columns(isa: Isa, decode: Decode, rows: usize) -> usize {
        match (isa.avx512, rows) {
            (true, 1) => 8,
            // Parts would need registers of their own.
            (true, 2) if decode.parts() == 1 => 8,
            (true, ..=5) => 4,
            (true, _) => 2,
            (false, 1) if decode.parts() == 1 => 7,
            (false, 1) => 4,
            (false, ..=4) => 2,
            (false, _) => 1,
        }
    }

    /// The same where groups are scaled: totals, factors and masks are beside the sums.
    pub const fn scaled_columns(isa: Isa, decode: Decode, rows: usize) -> usize {
        Gemv::columns(isa, decode, 4 * rows)
    }

    /// Lines of a panel in the body of the loop.
    pub const fn unroll(&self) -> usize {
        match self.decode.line_parts() {
            1 => 4,
            2 => 2,
            _ => 1,
        }
    }
}

/// What the three orders of weights share.
struct Writer {
    rows: usize,
    decode: Decode,
    decoder: Decoder,
    width: Width,
    args: Int,
}

impl Writer {
    /// A field of the arguments.
    fn arg(&self, f: &mut Function, offset: usize) -> Int {
        f.load_int(self.args.at(offset as i32))
    }

    fn parts(&self) -> usize {
        self.decode.parts()
    }

    fn op(&self) -> Accumulate {
        if self.decode.pairs { Accumulate::DotBf16 } else { Accumulate::FmaF32 }
    }

    /// `n` vectors.
    fn bytes(&self, n: usize) -> i32 {
        (n * self.width.bytes()) as i32
    }

    fn load(&self, f: &mut Function, from: Addr, mask: Option<Pred>) -> Val {
        match mask {
            None => f.load(self.width, from),
            Some(mask) => f.load_masked(from, mask),
        }
    }

    fn pinned_zeros(&self, f: &mut Function, n: usize) -> Vec<Val> {
        let zeros: Vec<Val> = (0..n).map(|_| f.zero(self.width)).collect();
        zeros.iter().for_each(|v| f.pin(*v));
        zeros
    }

    fn mask(&self, f: &mut Function, masked: bool) -> Option<Pred> {
        masked.then(|| {
            let last = self.arg(f, offset_of!(Args, last));
            f.first_lanes(last)
        })
    }
}

/// Rows or columns of weights at a distance that is passed, up to 8: two registers with the fifth between them, and the triple distance.
pub(super) struct Streams {
    bases: Vec<Int>,
    row: Int,
    triple: Int,
}

/// Streams that addressing modes reach from one base register: an index is scaled by 1, 2 or 4, and a register with the triple stride reaches
/// the fourth.
const STREAMS_PER_BASE: usize = 5;

impl Streams {
    /// So many of them from `b` on.
    pub(super) fn new(f: &mut Function, b: Int, row: Int, count: usize) -> Streams {
        let triple = f.address(row.indexed(row, 2, 0));
        let mut bases = vec![f.copy(b)];
        if count > STREAMS_PER_BASE {
            let next = f.address(b.indexed(row, 4, 0));
            f.add(next, row);
            bases.push(next);
        }
        Streams { bases, row, triple }
    }

    /// Back to where `b` is.
    pub(super) fn restart(&self, f: &mut Function, b: Int) {
        f.set(self.bases[0], b);
        if let [_, second] = self.bases[..] {
            let next = f.address(b.indexed(self.row, 4, 0));
            f.set(second, next);
            f.add(second, self.row);
        }
    }

    /// The address of one of them.
    pub(super) fn at(&self, i: usize) -> Addr {
        self.behind(i, 0)
    }

    /// The address `bytes` bytes behind.
    pub(super) fn behind(&self, i: usize, bytes: i32) -> Addr {
        let base = self.bases[i / STREAMS_PER_BASE];
        match i % STREAMS_PER_BASE {
            0 => base.at(bytes),
            3 => base.indexed(self.triple, 1, bytes),
            n => base.indexed(self.row, n as u8, bytes),
        }
    }

    /// Advances all of them.
    pub(super) fn advance(&self, f: &mut Function, bytes: i32) {
        self.bases.iter().for_each(|b| f.add(*b, bytes));
    }
}

/// Independent chains of multiply-adds that hide their latency.
const MIN_CHAINS: usize = 8;

/// Rows from which prefetching pays on AVX-512: with fewer, out-of-order execution reaches far enough ahead, and prefetches cost a few per
/// cent. With half the bytes a vector it does not reach as far.
const MIN_PREFETCH_ROWS: usize = 3;

struct Panel<'w> {
    w: &'w Writer,
    line: usize,
    vectors: usize,
    panels: usize,
    unroll: usize,
}

/// Pointers that move through panels.
struct Cursor {
    a: Int,
    b: Streams,
}

impl Panel<'_> {
    /// Vectors of sums of a row.
    fn columns(&self) -> usize {
        self.panels * self.vectors
    }

    /// Sets of accumulators, used in turn.
    fn accumulator_sets(&self) -> usize {
        let sums = self.w.rows * self.columns();
        (MIN_CHAINS / sums).clamp(1, self.unroll * self.parts())
    }

    fn parts(&self) -> usize {
        self.w.decode.line_parts()
    }

    /// Whether the panel is prefetched. Weights that are decoded come slowly enough without.
    fn prefetches(&self) -> bool {
        self.panels == 1 && self.parts() == 1 && (self.w.rows >= MIN_PREFETCH_ROWS || self.w.width == Width::W256)
    }

    /// Bytes of so many vectors' columns in a line.
    fn bytes(&self, vectors: usize) -> i32 {
        (vectors * self.w.width.lanes() * self.w.decode.line_bytes()) as i32
    }

    fn load(&self, f: &mut Function, from: Addr) -> Val {
        if self.w.decode.stored == Stored::F16 { f.load_as(Elem::F16, from, None) } else { f.load(self.w.width, from) }
    }

    fn write(&self, f: &mut Function, groups: Option<Groups>) {
        let w = self.w;
        let sums = w.pinned_zeros(f, self.accumulator_sets() * w.rows * self.columns());
        let (b, row) = (w.arg(f, offset_of!(Args, b)), w.arg(f, offset_of!(Args, b_row)));
        let cursor = Cursor { a: w.arg(f, offset_of!(Args, a)), b: Streams::new(f, b, row, self.panels) };
        match groups {
            None => {
                self.group(f, &cursor, &sums);
                self.add(f, &sums);
            }
            Some(groups) => {
                let count = w.arg(f, offset_of!(Args, groups));
                let finish = Finish::new(f, w, groups);
                f.repeat_some(count, |f| {
                    sums.iter().for_each(|s| f.clear(*s));
                    self.group(f, &cursor, &sums);
                    self.finish(f, &finish, &sums);
                });
            }
        }
    }

    /// The lines of a group, and the sets of sums added up into the first.
    fn group(&self, f: &mut Function, at: &Cursor, sums: &[Val]) {
        let w = self.w;
        let blocks = w.arg(f, offset_of!(Args, blocks));
        f.repeat(blocks, |f| self.lines(f, at, sums, self.unroll));
        if self.unroll > 1 {
            let rest = w.arg(f, offset_of!(Args, rest));
            f.repeat(rest, |f| self.lines(f, at, sums, 1));
        }
        let (first, others) = sums.split_at(w.rows * self.columns());
        others.iter().enumerate().for_each(|(i, other)| f.update(Binary::AddF32, first[i % first.len()], *other));
    }

    fn lines(&self, f: &mut Function, at: &Cursor, sums: &[Val], count: usize) {
        let w = self.w;
        let (sums_of_set, accumulator_sets) = (w.rows * self.columns(), self.accumulator_sets());
        for l in 0..count {
            let line = l * self.line;
            if self.prefetches() {
                let near = if self.w.width == Width::W256 { Prefetch::L1 } else { Prefetch::L2 };
                for byte in (0..self.bytes(self.vectors)).step_by(64) {
                    f.prefetch(near, at.b.behind(0, self.bytes(line) + byte + STREAM_BYTES));
                }
            }
            for panel in 0..self.panels {
                let x: Vec<Val> = (0..self.vectors).map(|v| self.load(f, at.b.behind(panel, self.bytes(line + v)))).collect();
                for part in 0..self.parts() {
                    let n = l * self.parts() + part;
                    let sums = &sums[n % accumulator_sets * sums_of_set..][..sums_of_set];
                    self.part(f, at.a, n, (&x, part), &sums[panel * self.vectors..]);
                }
            }
        }
        f.add(at.a, (count * self.parts() * w.rows * 4) as i32);
        at.b.advance(f, self.bytes(count * self.line));
    }

    /// A part of a loaded vector; whole lines are converted without extraction.
    fn elements(&self, f: &mut Function, x: Val, part: usize) -> Val {
        if self.w.decode.stored == Stored::F16 { x } else { self.w.decoder.part(f, x, part) }
    }

    /// Multiplies a part of a panel's line, word `n` of every row of `A`; `sums` are those from the panel on. Words are repeated in registers where a few serve many vectors, else in the
    /// multiply-adds.
    fn part(&self, f: &mut Function, a: Int, n: usize, (x, part): (&[Val], usize), sums: &[Val]) {
        let w = self.w;
        let word = |row: usize| a.at(((n * w.rows + row) * 4) as i32);
        if self.vectors > 1 && (w.rows == 1 || self.parts() == 1) {
            let elements = |f: &mut Function, v: usize| self.elements(f, x[v], part);
            for row in 0..w.rows {
                let a = f.splat(w.width, word(row));
                for v in 0..self.vectors {
                    let b = elements(f, v);
                    f.accumulate(w.op(), sums[row * self.columns() + v], a, b);
                }
            }
            return;
        }
        for v in 0..self.vectors {
            let b = self.elements(f, x[v], part);
            for row in 0..w.rows {
                f.accumulate(w.op(), sums[row * self.columns() + v], b, Src::Splat(word(row)));
            }
        }
    }

    /// Adds the sums to `C`.
    fn add(&self, f: &mut Function, sums: &[Val]) {
        let w = self.w;
        let (c, row) = (w.arg(f, offset_of!(Args, c)), w.arg(f, offset_of!(Args, c_row)));
        for line in sums[..w.rows * self.columns()].chunks(self.columns()) {
            for (v, sum) in line.iter().enumerate() {
                f.update(Binary::AddF32, *sum, Src::Mem(c.at(w.bytes(v))));
                f.store(c.at(w.bytes(v)), *sum);
            }
            f.add(c, row);
        }
    }

    /// Subtracts zero points from, scales and adds the sums of a group.
    fn finish(&self, f: &mut Function, at: &Finish, sums: &[Val]) {
        let w = self.w;
        let (c, row) = (w.arg(f, offset_of!(Args, c)), w.arg(f, offset_of!(Args, c_row)));
        for (i, line) in sums[..w.rows * self.columns()].chunks(self.columns()).enumerate() {
            let a = at.a_sums.map(|a| f.splat(w.width, a.at(i as i32 * 4)));
            for (v, sum) in line.iter().enumerate() {
                let column = |f: &mut Function, of: Option<(Int, Elem)>| {
                    of.map(|(base, elem)| f.load_as(elem, base.at((v * w.width.lanes() * elem.bytes()) as i32), None))
                };
                if let (Some(zero), Some(a)) = (column(f, at.zero), a) {
                    f.accumulate(Accumulate::FnmaF32, *sum, zero, a);
                }
                let to = c.at(w.bytes(v));
                match column(f, at.scale) {
                    Some(scale) => {
                        let total = f.load(w.width, to);
                        f.accumulate(Accumulate::FmaF32, total, *sum, scale);
                        f.store(to, total);
                    }
                    None => {
                        f.update(Binary::AddF32, *sum, Src::Mem(to));
                        f.store(to, *sum);
                    }
                }
            }
            f.add(c, row);
        }
        for (base, row) in
            [(at.scale.map(|s| s.0), w.arg(f, offset_of!(Args, scale_row))), (at.zero.map(|z| z.0), w.arg(f, offset_of!(Args, zero_row)))]
        {
            base.into_iter().for_each(|base| f.add(base, row));
        }
        at.a_sums.into_iter().for_each(|a| f.add(a, w.rows as i32 * 4));
    }
}

/// Where the quantisation of the current group is.
struct Finish {
    scale: Option<(Int, Elem)>,
    zero: Option<(Int, Elem)>,
    a_sums: Option<Int>,
}

impl Finish {
    fn new(f: &mut Function, w: &Writer, groups: Groups) -> Finish {
        let scale = groups.scale.map(|elem| (w.arg(f, offset_of!(Args, scale)), elem));
        let zero = groups.zero.map(|elem| (w.arg(f, offset_of!(Args, zero)), elem));
        let a_sums = groups.zero.map(|_| w.arg(f, offset_of!(Args, a_sums)));
        Finish { scale, zero, a_sums }
    }
}

struct Lines<'w> {
    w: &'w Writer,
    lines: usize,
}

impl Lines<'_> {
    /// Parts of a vector of a row, and bytes of the row that it takes.
    fn parts(&self) -> usize {
        self.w.decode.in_lane()
    }

    fn vector_bytes(&self) -> i32 {
        (self.w.width.lanes() * self.parts() * self.w.decode.stored.bits() / 8) as i32
    }

    fn load(&self, f: &mut Function, from: Addr, mask: Option<Pred>) -> Val {
        match self.w.decode.stored.elem() {
            Some(elem) => f.load_as(elem, from, mask),
            None => self.w.load(f, from, mask),
        }
    }

    /// A part of a loaded vector, whose bytes are numbers.
    fn part(&self, f: &mut Function, x: Val, part: usize) -> Val {
        if self.w.decode.stored.bits() == 8 { x } else { self.w.decoder.part(f, x, part) }
    }

    fn write(&self, f: &mut Function, masked: bool) {
        let w = self.w;
        let mask = w.mask(f, masked);
        let (a, b, row) = (w.arg(f, offset_of!(Args, a)), w.arg(f, offset_of!(Args, b)), w.arg(f, offset_of!(Args, b_row)));
        let streams = Streams::new(f, b, row, self.lines);
        let groups = w.arg(f, offset_of!(Args, groups));
        f.repeat(groups, |f| {
            let c = w.arg(f, offset_of!(Args, c));
            streams.restart(f, b);
            let words: Vec<Src> = (0..self.lines * w.rows).map(|i| Src::Splat(a.at(i as i32 * 4))).collect();
            let words = if words.len() <= f.isa().simd_registers() / 4 { self.held(f, &words) } else { words };
            let blocks = w.arg(f, offset_of!(Args, blocks));
            f.repeat(blocks, |f| {
                self.vector(f, (&words, c), &streams, None);
                f.add(c, w.bytes(self.parts() * w.rows));
                streams.advance(f, self.vector_bytes());
            });
            if mask.is_some() {
                self.vector(f, (&words, c), &streams, mask);
            }
            (0..self.lines).for_each(|_| f.add(b, row));
            f.add(a, (self.lines * w.rows * 4) as i32);
        });
    }

    /// Words of `A` in registers, for all vectors of some lines.
    fn held(&self, f: &mut Function, words: &[Src]) -> Vec<Src> {
        let held = |word: &Src| {
            let &Src::Splat(at) = word else { return *word };
            let word = f.splat(self.w.width, at);
            f.pin(word);
            Src::Val(word)
        };
        words.iter().map(held).collect()
    }

    /// A vector of every line, multiplied by the lines' words of `A`.
    fn vector(&self, f: &mut Function, (words, c): (&[Src], Int), streams: &Streams, mask: Option<Pred>) {
        let w = self.w;
        let x: Vec<Val> = (0..self.lines).map(|l| self.load(f, streams.at(l), mask)).collect();
        for part in 0..self.parts() {
            let sum_at = |row: usize| c.at(w.bytes(part * w.rows + row));
            let sums: Vec<Val> = (0..w.rows).map(|row| f.load(w.width, sum_at(row))).collect();
            for (l, x) in x.iter().enumerate() {
                let b = self.part(f, *x, part);
                for (row, sum) in sums.iter().enumerate() {
                    f.accumulate(w.op(), *sum, b, words[l * w.rows + row]);
                }
            }
            sums.iter().enumerate().for_each(|(row, sum)| f.store(sum_at(row), *sum));
        }
    }
}

struct Columns<'w> {
    w: &'w Writer,
    columns: usize,
}

impl Columns<'_> {
    fn write(&self, f: &mut Function, masked: bool, scales: Option<Scales>) {
        let w = self.w;
        let mask = w.mask(f, masked);
        let (b, row, c) = (w.arg(f, offset_of!(Args, b)), w.arg(f, offset_of!(Args, b_row)), w.arg(f, offset_of!(Args, c)));
        let streams = Streams::new(f, b, row, self.columns + self.prefetched());
        let rows = (w.parts() == 1 && w.rows > 1).then(|| {
            let (a, row) = (w.arg(f, offset_of!(Args, a)), w.arg(f, offset_of!(Args, a_row)));
            Streams::new(f, a, row, w.rows)
        });
        let sums = w.pinned_zeros(f, w.rows * self.columns);
        let scaled = scales.map(|scales| Scaled::new(f, w, scales, sums.len()));
        let results = scaled.as_ref().map_or(&sums, |s| &s.totals);
        let groups = w.arg(f, offset_of!(Args, groups));
        f.repeat(groups, |f| {
            let a = w.arg(f, offset_of!(Args, a));
            streams.restart(f, b);
            rows.iter().for_each(|rows| rows.restart(f, a));
            sums.iter().for_each(|s| f.clear(*s));
            let from = Operands { streams: &streams, a, rows: rows.as_ref() };
            match &scaled {
                None => self.vectors(f, &from, &sums),
                Some(scaled) => {
                    results.iter().for_each(|s| f.clear(*s));
                    let (parts, scale) = (w.arg(f, offset_of!(Args, rest)), f.copy(scaled.scale));
                    f.repeat(parts, |f| {
                        self.vectors(f, &from, &sums);
                        self.scale(f, (scaled, scale), &sums);
                    });
                    f.add(scaled.scale, (self.columns * scaled.scales.elem.bytes()) as i32);
                }
            }
            if mask.is_some() {
                self.vector(f, &from, &sums, mask);
            }
            let row_sums = f.lane_sums(results);
            row_sums.iter().enumerate().for_each(|(i, sums)| f.store(c.at(w.bytes(i)), *sums));
            f.add(c, (sums.len() * 4) as i32);
            (0..self.columns).for_each(|_| f.add(b, row));
        });
    }

    /// Columns of the next group to prefetch, each of which is a stream that the hardware finds late.
    fn prefetched(&self) -> usize {
        if self.w.rows >= MIN_PREFETCH_ROWS && self.columns < STREAMS_PER_BASE { self.columns } else { 0 }
    }

    /// Whole vectors of every column.
    fn vectors(&self, f: &mut Function, from: &Operands<'_>, sums: &[Val]) {
        let w = self.w;
        let blocks = w.arg(f, offset_of!(Args, blocks));
        f.repeat(blocks, |f| {
            (0..self.prefetched()).for_each(|i| f.prefetch(Prefetch::L2, from.streams.at(self.columns + i)));
            self.vector(f, from, sums, None);
            match from.rows {
                Some(rows) => rows.advance(f, w.bytes(1)),
                None => f.add(from.a, w.bytes(w.parts() * w.rows)),
            }
            from.streams.advance(f, w.bytes(1));
        });
    }

    /// Adds the sums of a part of every column to the totals, times the scales of the groups that their lanes belong to, and clears them. `scale` is
    /// where the scales of the part's first group are.
    fn scale(&self, f: &mut Function, (scaled, scale): (&Scaled, Int), sums: &[Val]) {
        let (w, elem) = (self.w, scaled.scales.elem);
        let next = w.arg(f, offset_of!(Args, scale_row));
        let group = |f: &mut Function| {
            let group = f.copy(scale);
            f.add(scale, next);
            group
        };
        let first = group(f);
        let others: Vec<Int> = scaled.lanes_below.iter().map(|_| group(f)).collect();
        for (column, (sums, totals)) in sums.chunks(w.rows).zip(scaled.totals.chunks(w.rows)).enumerate() {
            let of = |f: &mut Function, group: Int| f.splat_as(elem, group.at((column * elem.bytes()) as i32));
            let mut factor = of(f, first);
            for (lanes_below, group) in scaled.lanes_below.iter().zip(&others) {
                let next_factor = of(f, *group);
                factor = f.select(*lanes_below, factor, next_factor);
            }
            for (sum, total) in sums.iter().zip(totals) {
                f.accumulate(Accumulate::FmaF32, *total, *sum, factor);
                f.clear(*sum);
            }
        }
    }

    /// A vector of every column.
    fn vector(&self, f: &mut Function, from: &Operands<'_>, sums: &[Val], mask: Option<Pred>) {
        let w = self.w;
        let x: Vec<Val> = (0..self.columns).map(|l| w.load(f, from.streams.at(l), mask)).collect();
        for part in 0..w.parts() {
            let x: Vec<Val> = x.iter().map(|x| w.decoder.part(f, *x, part)).collect();
            for row in 0..w.rows {
                let at = from.rows.map_or_else(|| from.a.at(w.bytes(part * w.rows + row)), |rows| rows.at(row));
                // The memory behind the last element of a row is not zero.
                let a = match mask.filter(|_| w.parts() == 1) {
                    Some(mask) => Src::Val(f.load_masked(at, mask)),
                    // Loaded once for all columns, where there is a register.
                    None if self.columns > 1 && (f.isa().avx512 || w.parts() == 1) => Src::Val(f.load(w.width, at)),
                    None => Src::Mem(at),
                };
                x.iter().zip(sums.chunks(w.rows)).for_each(|(b, sums)| f.accumulate(w.op(), sums[row], *b, a));
            }
        }
    }
}

/// The registers for scales of groups along K.
struct Scaled {
    scales: Scales,
    /// The scales of the first group from the next column on.
    scale: Int,
    /// Sums of scaled group sums.
    totals: Vec<Val>,
    /// For each group of a vector but the first, the lanes below its own.
    lanes_below: Vec<Pred>,
}

impl Scaled {
    fn new(f: &mut Function, w: &Writer, scales: Scales, sums: usize) -> Scaled {
        let (scale, totals, count) = (w.arg(f, offset_of!(Args, scale)), w.pinned_zeros(f, sums), usize::from(scales.in_vector));
        let first_lanes_of = |f: &mut Function, group: usize| {
            let lanes = f.int((group * w.width.lanes() / count) as i64);
            f.first_lanes(lanes)
        };
        let lanes_below = (1..count).map(|group| first_lanes_of(f, group)).collect();
        Scaled { scales, scale, totals, lanes_below }
    }
}

/// The addresses of a kernel of columns: of the columns, and of `A`, which is one array or a stream for each row.
struct Operands<'s> {
    streams: &'s Streams,
    a: Int,
    rows: Option<&'s Streams>,
}

//! Writes the code of a [`Dot`].
//!
//! A step is one or two *passes* over the tile. There is one pass where one instruction multiplies the elements of a step. Otherwise every
//! pass extracts a part of the step's elements from their lanes, `B`'s once, `A`'s row by row, and multiplies those.

use super::{
    Args, Dot, DotType, Function, InitialSums, Int, LineStride, PREFETCH_BYTES, Pred, PrefetchMode, STREAM_LINES, STRIP_HEADER_WORDS,
    Stride, Sums, TileAt, Val, column,
};
use crate::asm::Width;
use crate::ir::{Accumulate, Addr, Binary, Elem, Prefetch, Src, Unary};
use crate::isa::Isa;
use std::mem::offset_of;

/// The bits that make signed bytes unsigned.
const FLIP: u32 = 0x8080_8080;

/// Bytes that are prefetched at a time.
const CACHE_LINE_BYTES: usize = 64;

/// Two ones of 16 bits.
const ONES: i32 = 0x0001_0001;

/// The logarithm of the number of steps in the body of the loop: the loop's overhead vanishes beside a few tens of multiply-adds, and short
/// code is generated quickly. Every fourth step prefetches.
fn unroll_shift(dot: &Dot) -> u8 {
    if dot.prefetch != PrefetchMode::Given && usize::from(dot.rows) * usize::from(dot.vectors) >= 12 { 1 } else { 2 }
}

/// Sums in flight that hide the latency of multiply-adds, by the registers that there are.
const MIN_SUMS: usize = 8;
const MIN_SUMS_NARROW: usize = 4;

/// Sets of sums that the steps of a tile take in turns. Integers, which have the same sum in any order, have as many as are worthwhile.
fn sets(dot: &Dot, isa: Isa) -> usize {
    let sums = usize::from(dot.rows) * usize::from(dot.vectors);
    let least = if isa.avx512 { MIN_SUMS } else { MIN_SUMS_NARROW };
    if !dot.product.is_integer() || !dot.product.is_native(isa) {
        return usize::from(dot.sets).min(1 << unroll_shift(dot));
    }
    least.div_ceil(sums).next_power_of_two().min(1 << unroll_shift(dot))
}

/// How a pass takes its numbers from a step, and multiplies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    /// Lanes unchanged.
    Whole(Accumulate),
    /// Lanes unchanged, the bytes of `A` flipped to unsigned.
    Flipped,
    /// The lower or upper bf16 of every lane, as f32.
    HalfBf16 { upper: bool },
    /// The first or second f16 of the step, as f32.
    HalfF16 { second: bool },
    /// Pairs of 16-bit elements, unchanged.
    Pairs,
    /// Lanes unchanged, products added pair by pair in 16 bits, the bytes of `A` flipped to unsigned or not.
    Narrow { flipped: bool },
    /// The even or odd bytes, as 16-bit elements.
    HalfBytes { odd: bool, flipped: bool },
}

impl Pass {
    fn list(product: DotType, isa: Isa) -> Vec<Pass> {
        let halves = |pass: fn(bool) -> Pass| [false, true].map(pass).to_vec();
        match product {
            DotType::F32 => vec![Pass::Whole(Accumulate::FmaF32)],
            DotType::Bf16 if isa.bf16 => vec![Pass::Whole(Accumulate::DotBf16)],
            DotType::Bf16 => halves(|upper| Pass::HalfBf16 { upper }),
            DotType::F16 => halves(|second| Pass::HalfF16 { second }),
            DotType::U8S8 | DotType::U8S7 if isa.vnni => vec![Pass::Whole(Accumulate::DotU8S8)],
            DotType::U8S8 => halves(|odd| Pass::HalfBytes { odd, flipped: false }),
            DotType::S8S8 | DotType::S8S7 if isa.vnni => vec![Pass::Flipped],
            DotType::S8S8 => halves(|odd| Pass::HalfBytes { odd, flipped: true }),
            DotType::U8S7 => vec![Pass::Narrow { flipped: false }],
            DotType::S8S7 => vec![Pass::Narrow { flipped: true }],
            DotType::I16 => vec![Pass::Pairs],
        }
    }
}

/// Where a tap is read.
struct Cursor {
    /// The first step of every row of `A`, or of the first one where they are neighbours.
    rows: Vec<Int>,
    /// How far `A` has come from there, unless the rows' addresses move.
    k: Option<Int>,
    /// The line of `B`.
    b: Int,
    /// [`FLIP`] in a register, where a step is one pass and leaves room for it.
    flip: Option<Val>,
    /// Ones of 16 bits in a register, for [`Pass::Narrow`].
    ones: Option<Val>,
}

impl Cursor {
    /// The step of row `i`, that many bytes into it.
    fn row(&self, i: usize, bytes: i32) -> Addr {
        match (self.k, &self.rows[..]) {
            (Some(k), [first]) => first.indexed(k, 1, bytes + i as i32 * 4),
            (Some(k), rows) => rows[i].indexed(k, 1, bytes),
            (None, rows) => rows[i].at(bytes),
        }
    }
}

/// A step's part of a row of `A`.
#[derive(Clone, Copy)]
enum Left {
    /// All of it, in memory.
    Memory(Addr),
    /// The numbers that are there, in every lane.
    Lanes(Val),
}

/// Where a step's part of row `i` is, that many bytes into the step.
type LeftOf<'l> = dyn FnMut(&mut Function, usize, i32) -> Left + 'l;

struct Writer<'d> {
    dot: &'d Dot,
    width: Width,
    passes: Vec<Pass>,
    args: Int,
    last: Option<Pred>,
    /// Distance of the steps of `A`, where it is passed.
    a_step: Option<Int>,
    /// Distance of the lines of `B`, where it is passed.
    b_row: Option<Int>,
    /// The next prefetch, and the distance to the ones that follow.
    ahead: Option<(Int, Int)>,
    /// Bytes from a line of `B` to the one that [`PrefetchMode::Panels`] prefetches, where lines are strided.
    stream: Option<Int>,
}

pub(super) fn write(dot: &Dot, f: &mut Function, begin: impl FnOnce(&mut Function, TileAt), finish: impl FnOnce(&mut Function, &Sums<'_>)) {
    let args = f.arguments();
    let argument = |f: &mut Function, field: usize| f.load_int(args.at(field as i32));
    let passes = Pass::list(dot.product, f.isa());
    let last = dot.masked.then(|| {
        let last = argument(f, offset_of!(Args, last));
        f.first_lanes(last)
    });
    let a_step = (!matches!(dot.a_step, Stride::Fixed(_))).then(|| argument(f, offset_of!(Args, a_step)));
    let b_row = (dot.line == LineStride::Strided).then(|| argument(f, offset_of!(Args, b_row)));
    let ahead = (dot.prefetch == PrefetchMode::Given)
        .then(|| (argument(f, offset_of!(Args, prefetch)), argument(f, offset_of!(Args, prefetch_step))));
    let stream = b_row.filter(|_| dot.prefetch == PrefetchMode::Panels).map(|row| {
        let lines = f.copy(row);
        f.shl(lines, STREAM_LINES.trailing_zeros() as u8);
        lines
    });
    let writer = Writer { dot, width: f.isa().width(), passes, args, last, a_step, b_row, ahead, stream };
    let strip = argument(f, offset_of!(Args, strips));
    let count = argument(f, offset_of!(Args, count));
    f.repeat_some(count, |f| {
        let (taps, before, tiles) = (f.copy(strip), f.int(0), f.load_int(strip.at(size_of::<usize>() as i32)));
        f.repeat_some(tiles, |f| {
            let (panel, column) = (argument(f, offset_of!(Args, b)), f.int(0));
            let panels = argument(f, offset_of!(Args, panels));
            f.repeat_some(panels, |f| {
                let at = TileAt::of_strip(args, column, (strip, before));
                begin(f, at);
                let values = writer.tile(f, at, (panel, strip, taps));
                finish(f, &Sums { at, values: &values, vectors: usize::from(dot.vectors), last });
                let bytes = argument(f, offset_of!(Args, b_panel));
                f.add(panel, bytes);
                f.add(column, (usize::from(dot.vectors) * writer.width.lanes()) as i32);
            });
            f.add(before, i32::from(dot.rows));
        });
        f.set(strip, taps);
    });
}

impl Writer<'_> {
    /// The sums of a tile by a panel; afterwards `table` points past the strip's taps.
    fn tile(&self, f: &mut Function, at: TileAt, (panel, strip, table): (Int, Int, Int)) -> Vec<Val> {
        let sums = self.begin(f, at);
        let flips = self.passes.contains(&Pass::Flipped) && !self.dot.lacks_b_register(f.isa());
        let flip = flips.then(|| f.splat_i32(self.width, FLIP as i32));
        let narrow = self.passes.iter().any(|p| matches!(p, Pass::Narrow { .. }));
        let ones = narrow.then(|| f.splat_i32(self.width, ONES));
        f.set(table, strip);
        let taps = f.load_int(at.word(0));
        f.add(table, ((STRIP_HEADER_WORDS + usize::from(self.dot.rows)) * size_of::<usize>()) as i32);
        f.repeat(taps, |f| self.tap(f, at, (panel, table), (flip, ones), &sums));
        let (first, others) = sums.split_at(self.each());
        let add = if self.dot.product.is_integer() { Binary::AddI32 } else { Binary::AddF32 };
        others.iter().enumerate().for_each(|(i, other)| f.update(add, first[i % first.len()], *other));
        if self.dot.start == InitialSums::Add {
            self.add_memory(f, at, first);
        }
        first.to_vec()
    }

    /// Sums of a set.
    fn each(&self) -> usize {
        usize::from(self.dot.rows) * usize::from(self.dot.vectors)
    }

    /// Adds the values in memory to the sums.
    fn add_memory(&self, f: &mut Function, at: TileAt, sums: &[Val]) {
        let add = if self.dot.product.is_integer() { Binary::AddI32 } else { Binary::AddF32 };
        let (at, row) = at.memory(f);
        for (i, line) in sums.chunks(usize::from(self.dot.vectors)).enumerate() {
            if i > 0 {
                f.add(at, row);
            }
            for (v, sum) in line.iter().enumerate() {
                let before = self.load(f, column(at, v, self.width), self.mask(v));
                f.update(add, *sum, before);
            }
        }
    }

    /// The initial sums, row by row, pinned; those of the other sets are zeros.
    fn begin(&self, f: &mut Function, at: TileAt) -> Vec<Val> {
        let at = (self.dot.start == InitialSums::Load).then(|| at.memory(f));
        let mut sums = Vec::new();
        for i in 0..self.dot.rows {
            if let Some((at, row)) = at.filter(|_| i > 0) {
                f.add(at, row);
            }
            for v in 0..usize::from(self.dot.vectors) {
                let sum = match at {
                    None => f.zero(self.width),
                    Some((at, _)) => self.load(f, column(at, v, self.width), self.mask(v)),
                };
                sums.push(sum);
            }
        }
        let others = sums.len() * (sets(self.dot, f.isa()) - 1);
        sums.extend((0..others).map(|_| f.zero(self.width)));
        sums.iter().for_each(|sum| f.pin(*sum));
        sums
    }

    fn load(&self, f: &mut Function, at: Addr, mask: Option<Pred>) -> Val {
        match mask {
            None => f.load(self.width, at),
            Some(mask) => f.load_masked(at, mask),
        }
    }

    fn mask(&self, vector: usize) -> Option<Pred> {
        self.last.filter(|_| vector + 1 == usize::from(self.dot.vectors))
    }

    fn tap(&self, f: &mut Function, spot: TileAt, (panel, table): (Int, Int), constants: (Option<Val>, Option<Val>), sums: &[Val]) {
        let word = |i: usize| table.at((i * size_of::<usize>()) as i32);
        let b = f.load_int(word(0));
        f.add(b, panel);
        let rows: Vec<Int> = (1..=self.dot.listed()).map(|i| f.load_int(word(i))).collect();
        f.add(table, ((1 + rows.len()) * size_of::<usize>()) as i32);
        let (k, from) = (spot.scaled(f, spot.word(3)), f.load_int(self.args.at(offset_of!(Args, a_from) as i32)));
        f.add(k, from);
        let k = if self.moves_rows(f.isa()) {
            rows.iter().for_each(|row| f.add(*row, k));
            None
        } else {
            Some(k)
        };
        let at = Cursor { rows, k, b, flip: constants.0, ones: constants.1 };
        let steps = |f: &mut Function| f.load_int(self.args.at(offset_of!(Args, steps) as i32));
        let (blocks, shift) = (steps(f), unroll_shift(self.dot));
        f.shr(blocks, shift);
        f.repeat(blocks, |f| self.steps(f, &at, sums, 1 << shift));
        let epilogue = steps(f);
        f.and(epilogue, (1 << shift) - 1);
        f.repeat(epilogue, |f| self.steps(f, &at, sums, 1));
        if self.dot.k_tail > 0 {
            self.partial_step(f, &at, sums);
        }
    }

    /// Whether the addresses of rows move instead of an offset from them: where every multiply-add reads its number of `A` from memory, an
    /// index would make it two operations of the front end, as many as loads can be.
    fn moves_rows(&self, isa: Isa) -> bool {
        let reads = matches!(self.passes[..], [Pass::Whole(op)] if op != Accumulate::DotU8S8);
        isa.avx512 && reads && self.dot.vectors == 1 && self.dot.listed() > 1 && matches!(self.dot.a_step, Stride::Fixed(_))
    }

    /// Bytes of a line of a packed panel.
    fn line(&self) -> i32 {
        match self.dot.line {
            LineStride::Packed(vectors) => i32::from(vectors) * self.width.bytes() as i32,
            LineStride::Strided => 0,
        }
    }

    /// A number of steps, and the cursor after them: it moves at the end where distances are known, else with every step.
    fn steps(&self, f: &mut Function, at: &Cursor, sums: &[Val], count: i32) {
        for step in 0..count {
            let disp = if let Stride::Fixed(bytes) = self.dot.a_step { step * bytes } else { 0 };
            let set = step as usize * self.each() % sums.len();
            if let Some(lines) = self.stream {
                let bytes = usize::from(self.dot.vectors) * self.width.bytes();
                (0..bytes).step_by(CACHE_LINE_BYTES).for_each(|byte| f.prefetch(Prefetch::L2, at.b.indexed(lines, 1, byte as i32)));
            }
            for pass in &self.passes {
                let left = &mut |_: &mut Function, i: usize, skip| Left::Memory(at.row(i, disp + skip));
                self.pass(f, *pass, at, step * self.line(), &sums[set..][..self.each()], left);
            }
            if let Some((ahead, _)) = self.ahead.filter(|_| count > 1) {
                f.prefetch(Prefetch::L2, ahead.at(step * (PREFETCH_BYTES / 4) as i32));
            }
            if let (Some(bytes), Some(k)) = (self.a_step, at.k) {
                f.add(k, bytes);
            }
            if let Some(bytes) = self.b_row.filter(|_| self.dot.product != DotType::F16) {
                f.add(at.b, bytes);
            }
        }
        if let Stride::Fixed(bytes) = self.dot.a_step {
            let moved = at.k.as_ref().map_or(&at.rows[..], std::slice::from_ref);
            moved.iter().for_each(|address| f.add(*address, count * bytes));
        }
        if self.b_row.is_none() {
            f.add(at.b, count * self.line());
        }
        if let Some((ahead, bytes)) = self.ahead.filter(|_| count > 1) {
            f.add(ahead, bytes);
        }
    }

    /// One pass over the tile, with the step's line of `B` so many bytes from the cursor.
    fn pass(&self, f: &mut Function, pass: Pass, at: &Cursor, from: i32, sums: &[Val], left: &mut LeftOf<'_>) {
        if self.dot.lacks_b_register(f.isa()) {
            return self.memory_operand_pass(f, pass, at, from, sums, left);
        }
        if matches!(pass, Pass::Pairs | Pass::Narrow { .. }) {
            return self.pairs_pass(f, pass, at, from, sums, left);
        }
        let b: Vec<Val> = (0..usize::from(self.dot.vectors)).map(|v| self.right(f, pass, at, from, v)).collect();
        if let (Pass::HalfF16 { .. }, Some(bytes)) = (pass, self.b_row) {
            f.add(at.b, bytes);
        }
        let skip = if pass == (Pass::HalfF16 { second: true }) { 2 } else { 0 };
        for (i, sums) in sums.chunks(b.len()).enumerate() {
            let left = left(f, i, skip);
            if let (Pass::Whole(op), Left::Memory(a), [b], [sum]) = (pass, left, &b[..], sums)
                && op != Accumulate::DotU8S8
            {
                // The number in memory is an operand of the multiply-add itself.
                f.accumulate(op, *sum, *b, Src::Splat(a));
                continue;
            }
            let a = self.left(f, pass, left, at.flip);
            for (b, sum) in b.iter().zip(sums) {
                multiply(f, pass, *sum, a, Src::Val(*b));
            }
        }
    }

    /// The same where accumulators leave no register for one vector of the line of `B`: every row reads the first vector from memory again,
    /// as the memory operand of the multiply-add.
    fn memory_operand_pass(&self, f: &mut Function, pass: Pass, at: &Cursor, from: i32, sums: &[Val], left: &mut LeftOf<'_>) {
        let vectors = usize::from(self.dot.vectors);
        let b: Vec<Val> = (1..vectors).map(|v| self.right(f, pass, at, from, v)).collect();
        for (i, sums) in sums.chunks(vectors).enumerate() {
            let left = left(f, i, 0);
            let a = self.left(f, pass, left, at.flip);
            multiply(f, pass, sums[0], a, Src::Mem(at.b.at(from)));
            for (b, sum) in b.iter().zip(&sums[1..]) {
                multiply(f, pass, *sum, a, Src::Val(*b));
            }
        }
    }

    /// A pass whose products are added pair by pair before they are added to the sums. The additions come after the next products have
    /// started: an addition right after its product would wait for it in a pipe that could multiply. Because this takes registers, and so
    /// do the additions of 16-bit pairs, every row reads the vectors of `B` from memory.
    fn pairs_pass(&self, f: &mut Function, pass: Pass, at: &Cursor, from: i32, sums: &[Val], left: &mut LeftOf<'_>) {
        let vectors = usize::from(self.dot.vectors);
        let free = vectors.saturating_sub(if pass == Pass::Pairs { 1 } else { 2 });
        let resident = if vectors == 1 || self.last.is_some() && self.dot.line == LineStride::Strided { vectors } else { free };
        let b: Vec<Val> = (0..resident).map(|v| self.right(f, pass, at, from, v)).collect();
        let mut pending = None;
        for (i, sums) in sums.chunks(vectors).enumerate() {
            let left = left(f, i, 0);
            let a = self.left(f, pass, left, None);
            for (v, sum) in sums.iter().enumerate() {
                let b = b.get(v).map_or(Src::Mem(at.b.at(from + (v * self.width.bytes()) as i32)), |b| Src::Val(*b));
                let pairs = match at.ones {
                    None => f.binary(Binary::MaddI16, a, b),
                    Some(ones) => {
                        let pairs = f.binary(Binary::MaddU8S8, a, b);
                        f.binary(Binary::MaddI16, pairs, ones)
                    }
                };
                if let Some((sum, pairs)) = pending.replace((*sum, pairs)) {
                    f.update(Binary::AddI32, sum, pairs);
                }
            }
        }
        if let Some((sum, pairs)) = pending {
            f.update(Binary::AddI32, sum, pairs);
        }
    }

    /// The part of a vector of the line of `B` that a pass uses.
    fn right(&self, f: &mut Function, pass: Pass, at: &Cursor, from: i32, v: usize) -> Val {
        let mask = self.mask(v).filter(|_| self.dot.line == LineStride::Strided);
        if let Pass::HalfF16 { second } = pass {
            let skip = if second && self.b_row.is_none() { self.line() / 2 } else { 0 };
            return f.load_as(Elem::F16, at.b.at(from + skip + (v * self.width.bytes() / 2) as i32), mask);
        }
        let b = self.load(f, at.b.at(from + (v * self.width.bytes()) as i32), mask);
        match pass {
            Pass::HalfBf16 { upper: false } => f.unary(Unary::ShlI32(16), b),
            Pass::HalfBf16 { upper: true } => self.upper(f, b),
            Pass::HalfBytes { odd, .. } => {
                let b = if odd { b } else { f.unary(Unary::ShlI16(8), b) };
                f.unary(Unary::SarI16(8), b)
            }
            _ => b,
        }
    }

    /// The upper 16 bits of every lane.
    fn upper(&self, f: &mut Function, x: Val) -> Val {
        let upper = f.constant(&broadcast_bytes(0xffff_0000, self.width));
        f.binary(Binary::And, x, Src::Mem(upper))
    }

    /// The part of a row of `A` that a pass uses, in every lane.
    fn left(&self, f: &mut Function, pass: Pass, left: Left, flip: Option<Val>) -> Val {
        if let (Pass::HalfF16 { .. }, Left::Memory(at)) = (pass, left) {
            return f.splat_as(Elem::F16, at);
        }
        let mut a = match (left, flip) {
            (Left::Memory(at), None) => f.splat(self.width, at),
            (Left::Memory(at), Some(flip)) => f.binary(Binary::Xor, flip, Src::Splat(at)),
            (Left::Lanes(a), None) => a,
            (Left::Lanes(a), Some(flip)) => f.binary(Binary::Xor, a, flip),
        };
        if matches!(pass, Pass::HalfBytes { flipped: true, .. } | Pass::Narrow { flipped: true }) || pass == Pass::Flipped && flip.is_none()
        {
            let flip = f.constant(&broadcast_bytes(FLIP, self.width));
            a = f.binary(Binary::Xor, a, Src::Mem(flip));
        }
        match pass {
            Pass::HalfBf16 { upper: false } => f.unary(Unary::ShlI32(16), a),
            Pass::HalfBf16 { upper: true } => self.upper(f, a),
            Pass::HalfBytes { odd: false, .. } => {
                let low = f.constant(&broadcast_bytes(0x00ff_00ff, self.width));
                f.binary(Binary::And, a, Src::Mem(low))
            }
            Pass::HalfBytes { odd: true, .. } => f.unary(Unary::ShrI16(8), a),
            _ => a,
        }
    }

    /// The K epilogue, a step that is not whole: the existing elements of `A`, then zeros.
    fn partial_step(&self, f: &mut Function, at: &Cursor, sums: &[Val]) {
        let a_at = |i: usize, byte: i32| at.row(i, byte);
        if self.dot.product == DotType::F16 {
            // One number: the first pass alone.
            return self.pass(f, self.passes[0], at, 0, &sums[..self.each()], &mut |_, i, _| Left::Memory(a_at(i, 0)));
        }
        let bytes = usize::from(self.dot.k_tail) * 4 / self.dot.product.step_depth();
        for pass in &self.passes {
            self.pass(f, *pass, at, 0, &sums[..self.each()], &mut |f, i, _| {
                let x = match bytes {
                    1 => f.load_u8(a_at(i, 0)),
                    2 => f.load_u16(a_at(i, 0)),
                    _ => {
                        let high = f.load_u8(a_at(i, 2));
                        f.shl(high, 16);
                        let low = f.load_u16(a_at(i, 0));
                        f.add(low, high);
                        low
                    }
                };
                Left::Lanes(f.splat_int(self.width, x))
            });
        }
    }
}

/// `sum += a * b` on the parts of a pass.
fn multiply(f: &mut Function, pass: Pass, sum: Val, a: Val, b: Src) {
    match pass {
        Pass::Whole(op) => f.accumulate(op, sum, a, b),
        Pass::Flipped => f.accumulate(Accumulate::DotU8S8, sum, a, b),
        Pass::HalfBf16 { .. } | Pass::HalfF16 { .. } => f.accumulate(Accumulate::FmaF32, sum, a, b),
        Pass::HalfBytes { .. } | Pass::Pairs | Pass::Narrow { .. } => {
            let pairs = f.binary(Binary::MaddI16, a, b);
            f.update(Binary::AddI32, sum, pairs);
        }
    }
}

/// A vector with the same 32 bits in every lane.
fn broadcast_bytes(bits: u32, width: Width) -> Vec<u8> {
    std::iter::repeat_n(bits.to_le_bytes(), width.lanes()).flatten().collect()
}

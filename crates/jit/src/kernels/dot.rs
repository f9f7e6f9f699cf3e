//! The inner kernel of `dot`: a tile of sums of products stays in registers over a whole reduction.
//!
//! `C[i][j] (+)= sum over pairs and depth of A[i][k] * B[k][j]`. The reduction is a list of pairs of addresses ([`Pair`]), each with the same
//! depth, so that windows, dilation and padding are addresses and not copies. `A` is read where it is, 4 bytes of a row at a time (one f32,
//! two bf16 or four u8: a *step*), which every lane multiplies; `B` has, for every step, a line of 4 bytes a column.
//!
//! Distances are known when the kernel is made, or passed to it. Rows whose distance is passed share a base register by fives: x86 addresses
//! reach 0, 1, 2, 4 times a register, and one with the triple reaches 3.
//!
//! # What it reaches
//!
//! A step of a tile of `r` rows and `v` vectors takes `r * v` multiply-adds and `r + v` loads; the core starts two of either in a cycle. So
//! the floor is `r * v / 2` cycles as long as `r + v <= r * v`; with `v = 1` loads are the floor, `(r + 1) / 2`. Registers hold `r * v` sums,
//! `v` vectors of `B` and one of `A`.
//!
//! Measured on one core of a Zen 5 server processor (two 512-bit multiply-add units; shared, best of many short runs), against a loop of
//! multiply-adds on registers alone measured in turns (268 Gflop/s f32, 538 bf16, 1080 Gop/s u8s8; 134 and 540 with AVX2 and AVX-VNNI), in
//! per cent of that loop; 240 rows by 512 columns from the second cache, loads of arguments and stores of sums included, reductions as parts
//! times steps. `cargo run --release -p oxidnn-jit --example dot` prints the table.
//!
//! | tile, `unroll` 4 | 1x256 | 1x64 | 9x64 | 1x16 |
//! |---|---|---|---|---|
//! | f32 6x64 / 8x48 / 12x32 / 14x32 | 99 / 100 / 100 / 99 | 99 / 100 / 99 / 97 | 99 / 100 / 99 / 97 | 96 / 98 / 97 / 93 |
//! | bf16 6x64 / 8x48 / 12x32 / 14x32 | 97 / 98 / 99 / 99 | 97 / 98 / 99 / 98 | 97 / 97 / 99 / 100 | 94 / 96 / 96 / 96 |
//! | u8s8 6x64 / 8x48 / 12x32 / 14x32 | 99 / 99 / 98 / 99 | 100 / 98 / 100 / 99 | 100 / 100 / 99 / 99 | 97 / 97 / 95 / 94 |
//! | f32 24x16 / 28x16 (loads are the floor: 96) | 93 / 94 | 90 / 89 | 93 / 94 | 78 / 80 |
//! | AVX2 f32 6x16 / 4x24 / 12x8 (floor of the last: 92) | 99 / 100 / 89 | 99 / 100 / 87 | 99 / 100 / 89 | 100 / 100 / 79 |
//! | AVX2 u8s8 6x16 / 4x24 | 100 / 99 | 100 / 100 | 99 / 98 | 100 / 98 |
//!
//! Nothing is left for a schedule by hand: the order in which the author writes a step (the line of `B`, then row by row) is the order of the
//! code, registers come out as one would give them, and the processor's window covers the latencies. Passing distances costs nothing that
//! could be measured, nor does unrolling by 8 gain. Making a kernel takes 20 to 30 microseconds, installing it included.

use crate::asm::Width;
use crate::ir::{Accumulate, Addr, Compiled, Function, Int, IrError, Pred, Prefetch, Src, Val};
use crate::isa::Isa;
use std::fmt;
use std::mem::offset_of;

#[cfg(test)]
mod tests;

/// Types of the operands; sums are f32, or i32 for bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Product {
    /// f32 by f32.
    F32,
    /// bf16 by bf16, pairs of depth together.
    Bf16,
    /// Unsigned bytes (`A`) by signed bytes (`B`), four of depth together.
    U8S8,
}

impl Product {
    /// Depth of a step.
    pub const fn depth(self) -> usize {
        match self {
            Product::F32 => 1,
            Product::Bf16 => 2,
            Product::U8S8 => 4,
        }
    }

    fn accumulate(self) -> Accumulate {
        match self {
            Product::F32 => Accumulate::FmaF32,
            Product::Bf16 => Accumulate::DotBf16,
            Product::U8S8 => Accumulate::DotU8S8,
        }
    }
}

/// A distance in bytes that is known when the kernel is made, or passed to it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Stride {
    /// Known.
    Fixed(i32),
    /// Passed in [`Args`].
    Given,
}

/// What the sums begin with.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Start {
    /// Zeros.
    Zero,
    /// What is in `C`.
    Load,
}

/// How `B` lies.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Panel {
    /// Lines of the tile's whole width, one after the other; columns behind a tail are there and any number.
    Packed,
    /// Lines [`Args::b_row`] bytes apart; columns behind a tail are not touched.
    Apart,
}

/// What a kernel is made for. This is its key.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Dot {
    /// Types.
    pub product: Product,
    /// Rows of the tile.
    pub rows: u8,
    /// Columns of the tile, in vectors of the widest register.
    pub vectors: u8,
    /// Distance of the rows of `A`.
    pub a_row: Stride,
    /// Distance of the steps of `A`; 4 bytes when they follow each other.
    pub a_step: Stride,
    /// How `B` lies.
    pub panel: Panel,
    /// Steps in the body of the loop.
    pub unroll: u8,
    /// Numbers of a last step that is not whole, 0 if there is none: its part of `A` is read exactly, `B` has zeros to the whole step.
    pub partial: u8,
    /// What the sums begin with.
    pub start: Start,
    /// True when the last vector has [`Args::last`] columns.
    pub tail: bool,
    /// Bytes of `B` ahead to ask for; 0 asks for nothing.
    pub prefetch_b: u16,
}

/// Where one part of the reduction lies.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    /// First step of the first row of `A`.
    pub a: *const u8,
    /// First step of the panel of `B`.
    pub b: *const u8,
}

/// Arguments of a kernel.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Args {
    /// The parts.
    pub pairs: *const Pair,
    /// Number of parts; none leaves what the sums begin with.
    pub count: usize,
    /// Rounds of the unrolled loop in every part.
    pub blocks: usize,
    /// Steps behind them.
    pub rest: usize,
    /// First sum.
    pub c: *mut u8,
    /// Distance of the rows of `C` in bytes.
    pub c_row: usize,
    /// Distance of the rows of `A` in bytes, where it is [`Stride::Given`].
    pub a_row: usize,
    /// Distance of the steps of `A` in bytes, where it is [`Stride::Given`].
    pub a_step: usize,
    /// Distance of the lines of `B` in bytes, where they are [`Panel::Apart`].
    pub b_row: usize,
    /// Columns of the last vector, where there is a tail.
    pub last: usize,
}

/// The sums of a tile, for what follows them.
#[derive(Debug)]
pub struct Sums<'s> {
    /// Pointer to the arguments: an [`Args`], which may be the first field of a larger block.
    pub args: Int,
    /// The sums, row by row.
    pub values: &'s [Val],
    /// How many belong to a row.
    pub vectors: usize,
    /// Which lanes of the last vector of a row are wanted; `None` means all.
    pub last: Option<Pred>,
}

impl Sums<'_> {
    /// Calls `body` with row, vector, sum and the lanes that are wanted, row by row.
    pub fn each(&self, mut body: impl FnMut(usize, usize, Val, Option<Pred>)) {
        for (row, line) in self.values.chunks(self.vectors).enumerate() {
            for (vector, sum) in line.iter().enumerate() {
                body(row, vector, *sum, self.last.filter(|_| vector + 1 == self.vectors));
            }
        }
    }

    /// Stores the sums as they are to [`Args::c`].
    pub fn store(&self, f: &mut Function) {
        let (c, row) = output(f, self.args);
        let mut stored = 0;
        self.each(|i, v, sum, mask| {
            if i > stored {
                f.add(c, row);
                stored = i;
            }
            let to = column(c, v, f.width(sum));
            match mask {
                None => f.store(to, sum),
                Some(mask) => f.store_masked(to, sum, mask),
            }
        });
    }
}

/// The pointer to the sums in memory, to be moved from row to row, and their distance.
fn output(f: &mut Function, args: Int) -> (Int, Int) {
    (f.load_int(args.at(offset_of!(Args, c) as i32)), f.load_int(args.at(offset_of!(Args, c_row) as i32)))
}

fn column(base: Int, vector: usize, width: Width) -> Addr {
    base.at((vector * width.bytes()) as i32)
}

/// Rows that share a base register when their distance is passed.
const SHARE: usize = 5;

impl Dot {
    /// A kernel for a tile of `rows` by `vectors`: the distance of rows passed, steps behind each other, `B` packed, sums from zero.
    pub const fn new(product: Product, rows: u8, vectors: u8) -> Dot {
        Dot {
            product,
            rows,
            vectors,
            a_row: Stride::Given,
            a_step: Stride::Fixed(4),
            panel: Panel::Packed,
            unroll: 4,
            partial: 0,
            start: Start::Zero,
            tail: false,
            prefetch_b: 0,
        }
    }

    /// The kernel for a processor.
    ///
    /// # Errors
    /// [`IrError`]: the tile needs more registers than there are.
    pub fn compile(&self, isa: Isa) -> Result<Compiled, IrError> {
        self.function(isa).finish()
    }

    /// The kernel before registers, which stores the sums as they are.
    pub fn function(&self, isa: Isa) -> Function {
        self.function_with(isa, |f, sums| sums.store(f))
    }

    /// The kernel before registers; `finish` writes what happens to the sums, storing included, while they are in registers.
    pub fn function_with(&self, isa: Isa, finish: impl FnOnce(&mut Function, &Sums<'_>)) -> Function {
        let mut f = Function::new(isa);
        let mut writer = Writer { dot: *self, width: isa.width(), tail: None };
        writer.write(&mut f, finish);
        f
    }

    /// Columns of the tile.
    pub fn columns(&self, isa: Isa) -> usize {
        usize::from(self.vectors) * isa.width().lanes()
    }

    /// The name in dumps and profiles, such as `dot.f32.14x32.avx512`.
    pub fn name(&self, isa: Isa) -> String {
        format!("dot.{self}.{}x{}.{}", self.rows, self.columns(isa), isa.name())
    }
}

impl fmt::Display for Dot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.product {
            Product::F32 => "f32f32f32",
            Product::Bf16 => "bf16bf16f32",
            Product::U8S8 => "u8s8s32",
        })
    }
}

/// Distances that are passed.
#[derive(Clone, Copy)]
struct Given {
    /// Distance of the rows of `A` and its triple.
    a_row: Option<(Int, Int)>,
    a_step: Option<Int>,
    b_row: Option<Int>,
}

/// Where a part of the reduction is read: `A` through one base for every group of rows, `B` through one.
struct Cursor {
    a: Vec<Int>,
    b: Int,
    given: Given,
}

struct Writer {
    dot: Dot,
    width: Width,
    tail: Option<Pred>,
}

impl Writer {
    fn write(&mut self, f: &mut Function, finish: impl FnOnce(&mut Function, &Sums<'_>)) {
        let args = f.arguments();
        self.tail = self.dot.tail.then(|| {
            let last = f.load_int(args.at(offset_of!(Args, last) as i32));
            f.first_lanes(last)
        });
        let sums = self.begin(f, args);
        let given = self.given(f, args);
        let pairs = f.load_int(args.at(offset_of!(Args, pairs) as i32));
        let count = f.load_int(args.at(offset_of!(Args, count) as i32));
        f.repeat(count, |f| {
            let cursor = self.cursor(f, pairs, given);
            f.add(pairs, size_of::<Pair>() as i32);
            let blocks = f.load_int(args.at(offset_of!(Args, blocks) as i32));
            f.repeat(blocks, |f| self.steps(f, &cursor, &sums, usize::from(self.dot.unroll)));
            if self.dot.unroll > 1 {
                let rest = f.load_int(args.at(offset_of!(Args, rest) as i32));
                f.repeat(rest, |f| self.steps(f, &cursor, &sums, 1));
            }
            if self.dot.partial > 0 {
                self.partial_step(f, &cursor, &sums);
            }
        });
        finish(f, &Sums { args, values: &sums, vectors: usize::from(self.dot.vectors), last: self.tail });
    }

    fn given(&self, f: &mut Function, args: Int) -> Given {
        let a_row = (self.dot.a_row == Stride::Given).then(|| {
            let row = f.load_int(args.at(offset_of!(Args, a_row) as i32));
            let triple = f.address(row.indexed(row, 2, 0));
            (row, triple)
        });
        let a_step = (self.dot.a_step == Stride::Given).then(|| f.load_int(args.at(offset_of!(Args, a_step) as i32)));
        let b_row = (self.dot.panel == Panel::Apart).then(|| f.load_int(args.at(offset_of!(Args, b_row) as i32)));
        Given { a_row, a_step, b_row }
    }

    /// The sums, row by row, pinned.
    fn begin(&self, f: &mut Function, args: Int) -> Vec<Val> {
        let mut sums = Vec::new();
        let at = (self.dot.start == Start::Load).then(|| output(f, args));
        for _ in 0..self.dot.rows {
            for v in 0..usize::from(self.dot.vectors) {
                let sum = match at {
                    None => f.zero(self.width),
                    Some((c, _)) => match self.mask(v) {
                        None => f.load(self.width, column(c, v, self.width)),
                        Some(mask) => f.load_masked(column(c, v, self.width), mask),
                    },
                };
                f.pin(sum);
                sums.push(sum);
            }
            if let Some((c, row)) = at {
                f.add(c, row);
            }
        }
        sums
    }

    fn mask(&self, vector: usize) -> Option<Pred> {
        self.tail.filter(|_| vector + 1 == usize::from(self.dot.vectors))
    }

    fn cursor(&self, f: &mut Function, pairs: Int, given: Given) -> Cursor {
        let mut a = vec![f.load_int(pairs.at(offset_of!(Pair, a) as i32))];
        let b = f.load_int(pairs.at(offset_of!(Pair, b) as i32));
        if let Some((row, _)) = given.a_row {
            for _ in 1..usize::from(self.dot.rows).div_ceil(SHARE) {
                let last = a[a.len() - 1];
                let next = f.address(last.indexed(row, 4, 0));
                f.add(next, row);
                a.push(next);
            }
        }
        Cursor { a, b, given }
    }

    /// Where row `i` of `A` is, `disp` bytes into the row.
    fn row(&self, at: &Cursor, i: usize, disp: i32) -> Addr {
        let Some((row, triple)) = at.given.a_row else {
            let Stride::Fixed(row) = self.dot.a_row else { return at.a[0].at(disp) };
            return at.a[0].at(i as i32 * row + disp);
        };
        let base = at.a[i / SHARE];
        match i % SHARE {
            0 => base.at(disp),
            3 => base.indexed(triple, 1, disp),
            n => base.indexed(row, n as u8, disp),
        }
    }

    /// Bytes of a line of a packed panel.
    fn line(&self) -> i32 {
        i32::from(self.dot.vectors) * self.width.bytes() as i32
    }

    /// A number of steps, and the cursor behind them: it moves at the end where distances are known, else with every step.
    fn steps(&self, f: &mut Function, at: &Cursor, sums: &[Val], count: usize) {
        for step in 0..count as i32 {
            let from = if at.given.b_row.is_some() { 0 } else { step * self.line() };
            let b = self.load_b(f, at, from);
            let disp = if let Stride::Fixed(bytes) = self.dot.a_step { step * bytes } else { 0 };
            for (i, sums) in sums.chunks(b.len()).enumerate() {
                self.row_step(f, self.row(at, i, disp), &b, sums);
            }
            at.given.b_row.into_iter().for_each(|bytes| f.add(at.b, bytes));
            at.given.a_step.into_iter().for_each(|bytes| at.a.iter().for_each(|a| f.add(*a, bytes)));
        }
        if let Stride::Fixed(bytes) = self.dot.a_step {
            at.a.iter().for_each(|a| f.add(*a, count as i32 * bytes));
        }
        if at.given.b_row.is_none() {
            f.add(at.b, count as i32 * self.line());
        }
    }

    fn load_b(&self, f: &mut Function, at: &Cursor, from: i32) -> Vec<Val> {
        let exact = self.dot.panel == Panel::Apart;
        let place = |v: usize| at.b.at(from + (v * self.width.bytes()) as i32);
        let load = |v: usize| match self.mask(v).filter(|_| exact) {
            None => f.load(self.width, place(v)),
            Some(mask) => f.load_masked(place(v), mask),
        };
        let b = (0..usize::from(self.dot.vectors)).map(load).collect();
        if self.dot.prefetch_b > 0 {
            for v in (0..self.line()).step_by(64) {
                f.prefetch(Prefetch::L1, at.b.at(from + v + i32::from(self.dot.prefetch_b)));
            }
        }
        b
    }

    /// One row of a step. A row of one vector takes `A` from memory in the multiply-add itself, where that is not its unsigned operand.
    fn row_step(&self, f: &mut Function, a: Addr, b: &[Val], sums: &[Val]) {
        let op = self.dot.product.accumulate();
        if let ([b], [sum]) = (b, sums)
            && self.dot.product != Product::U8S8
        {
            return f.accumulate(op, *sum, *b, Src::Splat(a));
        }
        let a = f.splat(self.width, a);
        for (b, sum) in b.iter().zip(sums) {
            f.accumulate(op, *sum, a, *b);
        }
    }

    /// The step that is not whole: the numbers of `A` that are there, zeros behind them.
    fn partial_step(&self, f: &mut Function, at: &Cursor, sums: &[Val]) {
        let b = self.load_b(f, at, 0);
        let bytes = usize::from(self.dot.partial) * 4 / self.dot.product.depth();
        for (i, sums) in sums.chunks(b.len()).enumerate() {
            let x = match bytes {
                1 => f.load_u8(self.row(at, i, 0)),
                2 => f.load_u16(self.row(at, i, 0)),
                _ => {
                    let high = f.load_u8(self.row(at, i, 2));
                    f.shl(high, 16);
                    let low = f.load_u16(self.row(at, i, 0));
                    f.add(low, high);
                    low
                }
            };
            let a = f.splat_int(self.width, x);
            for (b, sum) in b.iter().zip(sums) {
                f.accumulate(self.dot.product.accumulate(), *sum, a, *b);
            }
        }
    }
}

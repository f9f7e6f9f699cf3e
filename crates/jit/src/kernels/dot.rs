//! The inner kernel of `dot`: a tile of sums of products stays in registers over a whole reduction.
//!
//! `C[i][j] (+)= sum over pairs and depth of A[i][k] * B[k][j]`. The reduction is a list of pairs of addresses ([`Pair`]), each with the same
//! depth, so that windows, dilation and padding are addresses and not copies. `A` is read where it is, 4 bytes of a row at a time (one f32,
//! two bf16 or four u8: a *step*), which every lane multiplies; `B` is packed: for every step the whole width of the tile, 4 bytes a column.
//!
//! Rows lie `a_row` bytes apart, known when the kernel is made or passed to it. In the second case rows share a base register by fives:
//! x86 addresses reach 0, 1, 2, 4 times a register, and one with the triple reaches 3.

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
    /// Distance of the steps of `A` in bytes; 4 when they follow each other.
    pub a_step: i32,
    /// Steps in the body of the loop.
    pub unroll: u8,
    /// What the sums begin with.
    pub start: Start,
    /// True when the last vector has [`Args::last`] columns; `B` is padded to the whole width.
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
    /// Columns of the last vector, where there is a tail.
    pub last: usize,
}

/// Rows that share a base register when their distance is passed.
const SHARE: usize = 5;

impl Dot {
    /// The kernel for a processor.
    ///
    /// # Errors
    /// [`IrError`]: the tile needs more registers than there are.
    pub fn compile(&self, isa: Isa) -> Result<Compiled, IrError> {
        self.function(isa).finish()
    }

    /// The kernel before registers.
    pub fn function(&self, isa: Isa) -> Function {
        Writer { dot: *self, width: isa.width(), tail: None }.write(Function::new(isa))
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

/// Where a part of the reduction is read: `A` through one base for every group of rows, `B` through one.
struct Cursor {
    a: Vec<Int>,
    /// Distance of rows and its triple, where it is passed.
    given: Option<(Int, Int)>,
    b: Int,
}

struct Writer {
    dot: Dot,
    width: Width,
    tail: Option<Pred>,
}

impl Writer {
    fn write(mut self, mut f: Function) -> Function {
        let f = &mut f;
        let args = f.arguments();
        self.tail = self.dot.tail.then(|| {
            let last = f.load_int(args.at(offset_of!(Args, last) as i32));
            f.first_lanes(last)
        });
        let sums = self.begin(f, args);
        let given = (self.dot.a_row == Stride::Given).then(|| {
            let row = f.load_int(args.at(offset_of!(Args, a_row) as i32));
            let triple = f.address(row.indexed(row, 2, 0));
            (row, triple)
        });
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
        });
        self.end(f, args, &sums);
        std::mem::replace(f, Function::new(f.isa()))
    }

    /// The sums, row by row, pinned.
    fn begin(&self, f: &mut Function, args: Int) -> Vec<Val> {
        let mut sums = Vec::new();
        let at = (self.dot.start == Start::Load).then(|| self.output(f, args));
        for _ in 0..self.dot.rows {
            for v in 0..self.dot.vectors {
                let sum = match at {
                    None => f.zero(self.width),
                    Some((c, _)) => match self.mask(v) {
                        None => f.load(self.width, self.column(c, v)),
                        Some(mask) => f.load_masked(self.column(c, v), mask),
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

    /// The pointer to the sums in memory, to be moved from row to row, and their distance.
    fn output(&self, f: &mut Function, args: Int) -> (Int, Int) {
        (f.load_int(args.at(offset_of!(Args, c) as i32)), f.load_int(args.at(offset_of!(Args, c_row) as i32)))
    }

    fn mask(&self, vector: u8) -> Option<Pred> {
        self.tail.filter(|_| vector + 1 == self.dot.vectors)
    }

    fn column(&self, base: Int, vector: u8) -> Addr {
        base.at(i32::from(vector) * self.width.bytes() as i32)
    }

    fn end(&self, f: &mut Function, args: Int, sums: &[Val]) {
        let (c, row) = self.output(f, args);
        for line in sums.chunks(usize::from(self.dot.vectors)) {
            for (v, sum) in (0..).zip(line) {
                match self.mask(v) {
                    None => f.store(self.column(c, v), *sum),
                    Some(mask) => f.store_masked(self.column(c, v), *sum, mask),
                }
            }
            f.add(c, row);
        }
    }

    fn cursor(&self, f: &mut Function, pairs: Int, given: Option<(Int, Int)>) -> Cursor {
        let mut a = vec![f.load_int(pairs.at(offset_of!(Pair, a) as i32))];
        let b = f.load_int(pairs.at(offset_of!(Pair, b) as i32));
        if let Some((row, _)) = given {
            for _ in 1..usize::from(self.dot.rows).div_ceil(SHARE) {
                let last = a[a.len() - 1];
                let next = f.address(last.indexed(row, 4, 0));
                f.add(next, row);
                a.push(next);
            }
        }
        Cursor { a, given, b }
    }

    /// Where row `i` of `A` is in a step of the unrolled body.
    fn row(&self, at: &Cursor, i: usize, step: usize) -> Addr {
        let disp = step as i32 * self.dot.a_step;
        let Some((row, triple)) = at.given else {
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

    /// A number of steps, and the cursor behind them.
    fn steps(&self, f: &mut Function, at: &Cursor, sums: &[Val], count: usize) {
        let vectors = self.dot.vectors;
        let line = i32::from(vectors) * self.width.bytes() as i32;
        for step in 0..count {
            let from = step as i32 * line;
            let b: Vec<Val> = (0..vectors).map(|v| f.load(self.width, at.b.at(from + i32::from(v) * self.width.bytes() as i32))).collect();
            if self.dot.prefetch_b > 0 {
                for v in (0..line).step_by(64) {
                    f.prefetch(Prefetch::L1, at.b.at(from + v + i32::from(self.dot.prefetch_b)));
                }
            }
            for (i, sums) in sums.chunks(usize::from(vectors)).enumerate() {
                self.row_step(f, self.row(at, i, step), &b, sums);
            }
        }
        for a in &at.a {
            f.add(*a, count as i32 * self.dot.a_step);
        }
        f.add(at.b, count as i32 * line);
    }

    /// One row of a step. A row of one vector takes `A` from memory in the multiply-add itself where that is its signed or only operand.
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
}

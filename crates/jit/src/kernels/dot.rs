//! The inner kernel of `dot`: a tile of sums of products stays in registers over a whole reduction.
//!
//! `C[i][j] (+)= sum over taps and depth of A[i][k] * B[k][j]`. The reduction is a table: for every *tap* one word that says where its
//! panel of `B` begins, and one address for every row of `A`. So windows, strides, dilation, padding (rows of zeros) and plain matrices are
//! addresses, not copies, and one kernel serves them all. `A` is read in place, 4 bytes of a row at a time (one f32, two bf16 or f16, four
//! bytes: a *step*), broadcast to all lanes. `B` has, for every step, a line of 4 bytes a column.
//!
//! A call works through a list of *strips*, each a number of tiles whose rows follow each other at constant distances, by a number of
//! panels of `B`. Between two tiles there are only a few tens of instructions, which the processor reads while the multiply-adds of the
//! previous tile are still waiting, so that short reductions cost little more than their multiply-adds. [`Dot::strip_words`] has the format
//! of a strip.
//!
//! The addresses of a tap's rows stay in registers. One more register, the offset within the tap, is added to each of them by the
//! addressing mode: a step increments one register for `A` and one for `B`, however many rows there are.
//!
//! # What it reaches
//!
//! A step of a tile of `r` rows and `v` vectors takes `r * v` multiply-adds and `r + v` loads; the core starts two of each a cycle. So the
//! floor is `r * v / 2` cycles as long as `r + v <= r * v`. With `v = 1` loads are the floor, `(r + 1) / 2`. There must be as many sums as
//! multiply-adds in flight. Registers hold `r * v` sums, `v` vectors of `B` and one of `A`, and `r` addresses. Where that is one register
//! too many, 7 rows of 4 vectors, the multiply-adds of one vector take it from memory: 17 loads in 14 cycles, and a sixth fewer bytes of
//! `B` than 6 rows.
//!
//! Measured on one core of a Zen 5 server processor (two 512-bit multiply-add units; shared, best of many short runs), in per cent of a
//! loop of multiply-adds on registers, measured in turns (270 Gflop/s f32, 540 bf16, 1070 Gop/s bytes; 134 and 530 with AVX2 and AVX-VNNI).
//! 240 rows by 512 columns from L2, loads of arguments and stores of sums included; the columns are taps times steps of the reduction.
//! `cargo run --release -p oxidnn-jit --example dot` prints the table.
//!
//! | tile | 1x256 | 1x64 | 9x64 | 1x16 |
//! |---|---|---|---|---|
//! | f32 6x64 / 8x48 / 8x32 | 98 / 99 / 99 | 99 / 99 / 97 | 97 / 99 / 97 | 96 / 96 / 96 |
//! | bf16 6x64 / 8x48 / 8x32 | 99 / 100 / 98 | 99 / 100 / 100 | 98 / 100 / 98 | 96 / 99 / 97 |
//! | u8s8 6x64 / 8x48 / 8x32 | 96 / 98 / 100 | 98 / 99 / 100 | 97 / 97 / 100 | 94 / 94 / 99 |
//! | s8s8 6x64 / 8x48 / 8x32 | 99 / 98 / 97 | 100 / 100 / 100 | 98 / 99 / 99 | 96 / 97 / 97 |
//! | f16 6x64 / 8x48 / 8x32, of the f32 loop | 94 / 93 / 78 | 94 / 93 / 78 | 93 / 93 / 76 | 92 / 93 / 75 |
//! | 10x16: f32 / bf16 / u8s8 / f16 | 89 / 80 / 80 / 54 | 84 / 81 / 77 / 54 | 85 / 79 / 79 / 53 | 72 / 71 / 66 / 53 |
//! | AVX2 6x16: f32 / bf16 / f16, of the f32 loop | 100 / 99 / 81 | 100 / 97 / 81 | 98 / 96 / 80 | 100 / 92 / 81 |
//! | AVX2 6x16: u8s8 / s8s8 | 100 / 100 | 100 / 99 | 100 / 95 | 100 / 96 |
//!
//! Scheduling by hand gains nothing: the order in which the author writes a step (the line of `B`, then row by row) is the order of the
//! code, register allocation is as good as by hand, and the processor's window covers the latencies. Two steps in a loop are enough. Making
//! a kernel takes 17 to 28 microseconds, f16 45.

use crate::asm::Width;
use crate::ir::{Addr, Function, Int, Pred, Val};
use crate::isa::Isa;
use crate::key::Key;
use std::fmt;
use std::mem::offset_of;
use std::ptr;

#[cfg(test)]
mod tests;
mod write;

/// Types of the operands; sums are f32, or i32 for bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DotType {
    /// f32 by f32.
    F32,
    /// bf16 by bf16, pairs of depth together in `B`.
    Bf16,
    /// f16 by f16, rounded to f32 before they are multiplied. A line of `B` is two lines of half the bytes, one for either of the step's depths.
    F16,
    /// Unsigned bytes (`A`) by signed bytes (`B`), four of depth together in `B`.
    U8S8,
    /// Signed bytes by signed bytes: 128 is added to every number of `A`, so that the sums carry 128 times the sums of `B`'s columns.
    S8S8,
    /// As [`DotType::U8S8`], where the pairs of neighbours in `B` leave products room in 16 bits: two weights are at most 128 together, signs apart.
    U8S7,
    /// As [`DotType::S8S8`] with such pairs.
    S8S7,
    /// Signed 16-bit numbers by the same, pairs of depth together in `B`: bytes that were widened before.
    I16,
}

impl DotType {
    /// All of them.
    pub const ALL: [DotType; 8] =
        [DotType::F32, DotType::Bf16, DotType::F16, DotType::U8S8, DotType::S8S8, DotType::U8S7, DotType::S8S7, DotType::I16];

    /// Depth of a step.
    #[inline]
    pub const fn step_depth(self) -> usize {
        match self {
            DotType::F32 => 1,
            DotType::Bf16 | DotType::F16 | DotType::I16 => 2,
            DotType::U8S8 | DotType::S8S8 | DotType::U8S7 | DotType::S8S7 => 4,
        }
    }

    /// Elements of consecutive depth that are interleaved in `B`, for every column: the K of a VNNI block.
    #[inline]
    pub const fn vnni(self) -> usize {
        match self {
            DotType::F16 => 1,
            other => other.step_depth(),
        }
    }

    /// True where one instruction multiplies the elements of a step.
    pub const fn is_native(self, isa: Isa) -> bool {
        match self {
            DotType::F32 => true,
            DotType::Bf16 => isa.bf16,
            DotType::F16 | DotType::I16 => false,
            DotType::U8S8 | DotType::S8S8 | DotType::U8S7 | DotType::S8S7 => isa.vnni,
        }
    }

    /// True when the sums are i32.
    pub const fn is_integer(self) -> bool {
        !matches!(self, DotType::F32 | DotType::Bf16 | DotType::F16)
    }
}

/// A distance in bytes that is known when the kernel is made, or passed to it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Stride {
    /// Known.
    Fixed(i32),
    /// Passed in [`Args`].
    Given,
    /// Passed in [`Args`], between steps of rows that are neighbours, 4 bytes apart: taps have the address of the first row alone.
    Across,
}

/// The initial value of the sums.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum InitialSums {
    /// Zeros.
    Zero,
    /// The values at [`Args::sums`].
    Load,
    /// Zeros; the values at [`Args::sums`] are added at the end. Long sums have smaller rounding errors as a sum of sums.
    Add,
}

/// How far the lines of `B` are apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LineStride {
    /// So many vectors, at least those of the tile; columns after a mask are there and any number.
    Packed(u8),
    /// [`Args::b_row`] bytes; columns after a mask are not touched. For f16 that is the distance of single depths.
    Strided,
}

/// The key of a kernel: everything that its code depends on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Dot {
    /// Types.
    pub product: DotType,
    /// Rows of the tile.
    pub rows: u8,
    /// Columns of the tile, in vectors of the widest register.
    pub vectors: u8,
    /// The layout of `B`.
    pub line: LineStride,
    /// Distance of the steps of `A`; 4 bytes when they follow each other.
    pub a_step: Stride,
    /// Elements of a last step that is not whole, 0 if there is none: its part of `A` is read exactly, and `B` has zeros to the whole step
    /// where these are interleaved.
    pub k_tail: u8,
    /// Sets of sums that the steps of real numbers take in turns, at least 1, so that few sums need not wait for each other: 1, 2 or 4. Results are
    /// rounded otherwise.
    pub sets: u8,
    /// The initial value of the sums.
    pub start: InitialSums,
    /// True when the last vector has [`Args::last`] columns.
    pub masked: bool,
    /// What is prefetched meanwhile.
    pub prefetch: PrefetchMode,
}

/// Memory that a kernel prefetches into L2.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PrefetchMode {
    /// None.
    Nothing,
    /// What the arguments say.
    Given,
    /// The lines of panels that are read later: by tiles of AMX [`STREAM_BYTES`], where lines are strided [`STREAM_LINES`] later. For panels
    /// from beyond L2 that are read once: the hardware prefetcher stops at every page, which few rows take no longer to multiply than it
    /// takes to start again.
    Panels,
    /// The next block of depth of panels, into L1: by tiles of AMX, which wait for every line of a panel that is not there.
    NextBlock,
}

impl PrefetchMode {
    /// What the arguments say, if operands come from beyond L2.
    pub const fn given_if(far: bool) -> PrefetchMode {
        if far { PrefetchMode::Given } else { PrefetchMode::Nothing }
    }
}

/// How far ahead packed panels are prefetched.
pub const STREAM_BYTES: i32 = 8192;
/// How many strided lines ahead.
pub const STREAM_LINES: usize = 32;

/// Arguments of a kernel.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Args {
    /// The strips, one after the other, see [`Dot::strip_words`].
    pub strips: *const usize,
    /// Number of strips, at least 1.
    pub count: usize,
    /// Number of panels, at least 1, that a tile is multiplied by before the next tile.
    pub panels: usize,
    /// Whole steps of every tap.
    pub steps: usize,
    /// The base of the first words of the taps: an address of `B`, in the first panel.
    pub b: *const u8,
    /// Bytes from a panel to the next.
    pub b_panel: usize,
    /// Bytes from the addresses of the rows of `A` to the first step.
    pub a_from: usize,
    /// The base of the strips' places of sums, in the first panel: where [`InitialSums::Load`] and [`InitialSums::Add`] read and [`Sums::store`]
    /// writes.
    pub sums: *mut u8,
    /// Distance of the rows of sums there in bytes.
    pub sums_row: usize,
    /// Distance of the steps of `A` in bytes, where it is not [`Stride::Fixed`].
    pub a_step: usize,
    /// Distance of the lines of `B` in bytes, where they are [`LineStride::Strided`].
    pub b_row: usize,
    /// Columns of the last vector, where it is masked.
    pub last: usize,
    /// Where memory begins that is wanted in L2: [`PREFETCH_BYTES`] bytes in every fourth step. Any address will do.
    pub prefetch: usize,
    /// Bytes from there to the prefetch of the fourth next step.
    pub prefetch_step: usize,
}

impl Args {
    /// For code without products: a last vector of so many columns, where it is masked.
    pub const fn of_last(last: usize) -> Args {
        Args {
            strips: ptr::null(),
            count: 0,
            panels: 0,
            steps: 0,
            b: ptr::null(),
            b_panel: 0,
            a_from: 0,
            sums: ptr::null_mut(),
            sums_row: 0,
            a_step: 0,
            b_row: 0,
            last,
            prefetch: 0,
            prefetch_step: 0,
        }
    }
}

/// Bytes that a kernel asks for at a time, see [`Args::prefetch`].
pub const PREFETCH_BYTES: usize = 256;

/// Words of a strip before those of its rows.
pub const STRIP_HEADER_WORDS: usize = 5;

/// A tile that is being made.
#[derive(Clone, Copy, Debug)]
pub struct TileAt {
    /// Pointer to the arguments: an [`Args`], which may be the first field of a larger block.
    pub args: Int,
    /// Columns of the panels that are done for the tile.
    pub column: Int,
    /// Pointer to the words of the strip, and rows of it before the tile; or pointer to the words of its rows, and how far after them its place is.
    words: Words,
}

/// The address of a tile's words.
#[derive(Clone, Copy, Debug)]
enum Words {
    Strip { words: Int, before: Int },
    Rows { words: Int, shift: Int },
}

impl TileAt {
    fn of_strip(args: Int, column: Int, (words, before): (Int, Int)) -> TileAt {
        TileAt { args, column, words: Words::Strip { words, before } }
    }

    /// A tile that does not come from a strip: the words of its rows are at `words`, its place as many bytes after them as `shift` says.
    pub fn of_rows(args: Int, column: Int, (words, shift): (Int, Int)) -> TileAt {
        TileAt { args, column, words: Words::Rows { words, shift } }
    }

    fn word(&self, i: usize) -> Addr {
        let (Words::Strip { words, .. } | Words::Rows { words, .. }) = self.words;
        words.at((i * size_of::<usize>()) as i32)
    }

    /// The word of a row of the strip's first tile that the epilogue uses.
    pub fn row(&self, row: usize) -> Addr {
        self.word(if matches!(self.words, Words::Strip { .. }) { STRIP_HEADER_WORDS + row } else { row })
    }

    /// The distance of the tile from the strip's first tile, by the strip's distance for the epilogue.
    pub fn shift(&self, f: &mut Function) -> Int {
        match self.words {
            Words::Strip { .. } => self.scaled(f, self.word(4)),
            Words::Rows { shift, .. } => f.copy(shift),
        }
    }

    /// The rows of the strip before the tile, each as long as a number in memory says.
    fn scaled(&self, f: &mut Function, row: Addr) -> Int {
        let Words::Strip { before, .. } = self.words else { return f.int(0) };
        let row = f.load_int(row);
        f.mul(row, before);
        row
    }

    /// The place of the sums in memory, to be moved from row to row, and the distance of rows.
    fn memory(&self, f: &mut Function) -> (Int, Int) {
        let row = self.args.at(offset_of!(Args, sums_row) as i32);
        let base = f.load_int(self.args.at(offset_of!(Args, sums) as i32));
        let (offset, before) = (f.load_int(self.word(2)), self.scaled(f, row));
        f.add(base, offset);
        f.add(base, before);
        (f.address(base.indexed(self.column, 4, 0)), f.load_int(row))
    }
}

/// The sums of a tile, for the epilogue.
#[derive(Debug)]
pub struct Sums<'s> {
    /// The tile.
    pub at: TileAt,
    /// The sums, row by row.
    pub values: &'s [Val],
    /// How many belong to a row.
    pub vectors: usize,
    /// Which lanes of the last vector of a row are wanted; `None` means all.
    pub last: Option<Pred>,
}

impl Sums<'_> {
    /// Stores the sums unconverted to [`Args::sums`].
    pub fn store(&self, f: &mut Function) {
        let (at, row) = self.at.memory(f);
        for (i, line) in self.values.chunks(self.vectors).enumerate() {
            if i > 0 {
                f.add(at, row);
            }
            for (v, sum) in line.iter().enumerate() {
                let to = column(at, v, f.width(*sum));
                match self.mask(v) {
                    None => f.store(to, *sum),
                    Some(mask) => f.store_masked(to, *sum, mask),
                }
            }
        }
    }

    /// Which lanes of a vector of a row are wanted; `None` means all.
    pub fn mask(&self, vector: usize) -> Option<Pred> {
        self.last.filter(|_| vector + 1 == self.vectors)
    }
}

fn column(base: Int, vector: usize, width: Width) -> Addr {
    base.at((vector * width.bytes()) as i32)
}

impl Key for Dot {
    type Args = Args;

    /// The name in dumps and profiles, such as `dot.f32f32f32.6x64.avx512`.
    fn name(&self, isa: Isa) -> String {
        format!("dot.{self}.{}x{}.{}", self.rows, self.columns(isa), isa.name())
    }

    /// Sums are stored unconverted.
    fn write(&self, f: &mut Function) {
        self.write_around(f, |_, _| {}, |f, sums| sums.store(f));
    }
}

impl Dot {
    /// A kernel for a tile of `rows` by `vectors`: steps after each other, lines of `B` after each other, sums from zero.
    pub const fn new(product: DotType, rows: u8, vectors: u8) -> Dot {
        Dot {
            product,
            rows,
            vectors,
            line: LineStride::Packed(vectors),
            a_step: Stride::Fixed(4),
            k_tail: 0,
            sets: 1,
            start: InitialSums::Zero,
            masked: false,
            prefetch: PrefetchMode::Nothing,
        }
    }

    /// Writes the kernel: `begin` writes code before the sums of every tile; `finish` writes the epilogue, stores included, while the sums
    /// are in registers.
    pub fn write_around(&self, f: &mut Function, begin: impl FnOnce(&mut Function, TileAt), finish: impl FnOnce(&mut Function, &Sums<'_>)) {
        write::write(self, f, begin, finish);
    }

    /// Words of a strip of so many taps, in order: their number (0 leaves the initial sums); the number of tiles, at least 1; bytes from
    /// [`Args::sums`] to the first sum; where there are several tiles, the distance of rows of `A`, and the distance of rows for the
    /// epilogue; one word of the epilogue for each row of the first tile; for every tap one word that is added to [`Args::b`], and the
    /// address of every row of `A` of the first tile (see [`Dot::listed`]), [`Args::a_from`] before its first step.
    #[inline]
    pub fn strip_words(&self, taps: usize) -> Option<usize> {
        taps.checked_mul(1 + self.listed())?.checked_add(STRIP_HEADER_WORDS + usize::from(self.rows))
    }

    /// Rows of `A` whose addresses a tap has.
    #[inline]
    pub fn listed(&self) -> usize {
        if self.a_step == Stride::Across { 1 } else { usize::from(self.rows) }
    }

    /// True where accumulators leave no register for one of the vectors of `B`. A kernel can do without if it multiplies elements as they are, see
    /// [`DotType::is_native`].
    #[inline]
    fn lacks_b_register(&self, isa: Isa) -> bool {
        let (rows, vectors) = (usize::from(self.rows), usize::from(self.vectors));
        self.product.is_native(isa) && vectors > 1 && (rows + 1) * vectors == isa.simd_registers()
    }

    /// Columns of the tile.
    pub fn columns(&self, isa: Isa) -> usize {
        usize::from(self.vectors) * isa.width().lanes()
    }
}

impl fmt::Display for Dot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.product {
            DotType::F32 => "f32f32f32",
            DotType::Bf16 => "bf16bf16f32",
            DotType::F16 => "f16f16f32",
            DotType::U8S8 => "u8s8s32",
            DotType::S8S8 => "s8s8s32",
            DotType::U8S7 => "u8s7s32",
            DotType::S8S7 => "s8s7s32",
            DotType::I16 => "s16s16s32",
        })
    }
}

//! The products of positions: for every position a matrix of tiles by channels times one of channels by result channels.
//!
//! The transformed source comes in *chunks* of a vector of channels: in a chunk, the vectors of all tiles follow each other for every
//! position, as the transform wrote them. So the strides of rows are known when a kernel is made, and one call computes all positions: a
//! reduction over 64 channels takes a tile of sums some 800 cycles, too few for a call of its own.
//!
//! - [`Products`] multiplies by transformed weights in memory.
//! - [`Fused`] transforms weights as it goes, for few tiles, whose products do not pay for sending the transformed weights through L2: a
//!   third of the positions of one chunk stays in L1. A third is two columns of positions, for which the columns of weights are transformed
//!   once. Prefetching the weights of the next chunk gained nothing.

use super::{POSITIONS, SIDE, WEIGHT_FACTORS, weight_line, weight_pair};
use crate::ir::{Accumulate, Function, Int, Src, Val};
use crate::isa::Isa;
use crate::key::Key;
use std::mem::offset_of;

/// Positions of a third.
pub const THIRD: usize = POSITIONS / 3;

/// Sums of up to two heights of tiles that stay in registers over a reduction. This is the key of a kernel of [`Args`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Products {
    /// Tiles in the taller height; the other has one less.
    pub rows: u8,
    /// Vectors of result channels.
    pub vectors: u8,
    /// Vectors of a line of weights.
    pub line: u8,
}

/// A reduction that transforms the weights itself. This is the key of a kernel of [`FusedArgs`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Fused {
    /// Tiles in the taller height; the other has one less.
    pub rows: u8,
    /// Vectors of result channels.
    pub vectors: u8,
    /// Whether the third is that of the outermost columns, which take only the outermost columns of weights.
    pub ends: bool,
}

/// Arguments of [`Products`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Args {
    /// The transformed source: first position, first tile.
    pub a: *const u8,
    /// Bytes from a position to the next, and from a chunk to the next.
    pub a_position: usize,
    /// As said.
    pub a_chunk: usize,
    /// The transformed weights: lines of the chunk's channels follow each other.
    pub b: *const u8,
    /// Bytes from a position to the next.
    pub b_position: usize,
    /// Bytes from a chunk to the next.
    pub b_chunk: usize,
    /// The sums: vectors, then tiles follow each other.
    pub sums: *mut u8,
    /// Bytes from a position to the next.
    pub sums_position: usize,
    /// Number of chunks, at least 1.
    pub chunks: usize,
    /// How many tiles of sums of either height there are.
    pub tiles: [usize; 2],
}

/// Arguments of [`Fused`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FusedArgs {
    /// The transformed source: the third's first position, first tile.
    pub a: *const u8,
    /// Bytes from a position to the next.
    pub a_position: usize,
    /// Bytes from a chunk to the next.
    pub a_chunk: usize,
    /// The first tap of the weights.
    pub weights: *const u8,
    /// Bytes from a tap to the next: negative for a window that is turned round.
    pub tap: isize,
    /// Bytes from a source channel to the next.
    pub line: usize,
    /// Scratch for [`Fused::scratch`] bytes of transformed weights.
    pub b: *mut u8,
    /// The sums of the third, which are added to: vectors, then tiles follow each other.
    pub sums: *mut u8,
    /// Bytes from a position to the next.
    pub sums_position: usize,
    /// Number of chunks, at least 1.
    pub chunks: usize,
    /// How many tiles of sums of either height there are.
    pub tiles: [usize; 2],
    /// Which of [`WEIGHT_FACTORS`] are the third's; not looked at for the ends.
    pub factors: [f32; 3],
}

/// Channels whose products follow each other without a jump.
const UNROLL: usize = 4;

/// A tile of sums in the making.
struct Sums {
    rows: usize,
    vectors: usize,
    /// Bytes of a line of weights.
    line: usize,
    values: Vec<Val>,
}

impl Sums {
    fn vector_offset(&self, f: &Function, at: usize) -> i32 {
        (at * f.isa().width().bytes()) as i32
    }

    fn zero(f: &mut Function, [rows, vectors, line]: [usize; 3]) -> Sums {
        let w = f.isa().width();
        let values = (0..rows * vectors).map(|_| f.zero(w)).collect();
        Sums { rows, vectors, line: line * w.bytes(), values }
    }

    fn load(f: &mut Function, [rows, vectors, line]: [usize; 3], from: Int) -> Sums {
        let w = f.isa().width();
        let values = (0..rows * vectors).map(|i| f.load(w, from.at((i * w.bytes()) as i32))).collect();
        Sums { rows, vectors, line: line * w.bytes(), values }
    }

    /// Stores, and moves the pointer past the tile.
    fn store(&self, f: &mut Function, to: Int) {
        for (i, v) in self.values.iter().enumerate() {
            let at = self.vector_offset(f, i);
            f.store(to.at(at), *v);
        }
        f.add(to, self.vector_offset(f, self.values.len()));
    }

    /// Adds the products of a chunk, and moves both pointers: `a` by a vector, `b` past the chunk.
    fn chunk(&self, f: &mut Function, a: Int, b: Int) {
        let w = f.isa().width();
        let iterations = f.int((w.lanes() / UNROLL) as i64);
        f.repeat_some(iterations, |f| {
            for k in 0..UNROLL {
                let line: Vec<Val> = (0..self.vectors).map(|v| f.load(w, b.at((k * self.line + v * w.bytes()) as i32))).collect();
                for (row, sums) in self.values.chunks(self.vectors).enumerate() {
                    let from = a.at((row * w.bytes() + k * 4) as i32);
                    if let ([sum], [b]) = (sums, &line[..]) {
                        f.accumulate(Accumulate::FmaF32, *sum, *b, Src::Splat(from));
                        continue;
                    }
                    let x = f.splat(w, from);
                    sums.iter().zip(&line).for_each(|(sum, b)| f.accumulate(Accumulate::FmaF32, *sum, x, *b));
                }
            }
            f.add(a, (UNROLL * 4) as i32);
            f.add(b, (UNROLL * self.line) as i32);
        });
    }

    /// Bytes of a chunk's vectors of as many tiles as there are rows.
    fn rows_bytes(&self, f: &Function) -> i32 {
        self.vector_offset(f, self.rows)
    }
}

impl Key for Products {
    type Args = Args;

    /// The name in dumps and profiles, such as `winograd.products.6x64.avx512`.
    fn name(&self, isa: Isa) -> String {
        format!("winograd.products.{}x{}.{}", self.rows, usize::from(self.vectors) * isa.width().lanes(), isa.name())
    }

    fn write(&self, g: &mut Function) {
        let (args, isa) = (g.arguments(), g.isa());
        let field = |f: &mut Function, at: usize| f.load_int(args.at(at as i32));
        let (a, b) = (field(g, offset_of!(Args, a)), field(g, offset_of!(Args, b)));
        let sums = field(g, offset_of!(Args, sums));
        let positions = g.int(POSITIONS as i64);
        let vector = isa.width().bytes() as i32;
        g.repeat_some(positions, |f| {
            let (row, to) = (f.copy(a), f.copy(sums));
            for (i, rows) in [usize::from(self.rows), usize::from(self.rows) - 1].into_iter().enumerate().filter(|r| r.1 > 0) {
                let tiles = field(f, offset_of!(Args, tiles) + 8 * i);
                f.repeat(tiles, |f| {
                    let tile = Sums::zero(f, [rows, self.vectors.into(), self.line.into()]);
                    let (a, b) = (f.copy(row), f.copy(b));
                    let chunks = field(f, offset_of!(Args, chunks));
                    f.repeat_some(chunks, |f| {
                        tile.chunk(f, a, b);
                        for (pointer, step) in [(a, offset_of!(Args, a_chunk)), (b, offset_of!(Args, b_chunk))] {
                            let step = field(f, step);
                            f.add(pointer, step);
                        }
                        f.sub(a, vector);
                        f.sub(b, (isa.width().lanes() * tile.line) as i32);
                    });
                    tile.store(f, to);
                    f.add(row, tile.rows_bytes(f));
                });
            }
            for (pointer, step) in
                [(a, offset_of!(Args, a_position)), (b, offset_of!(Args, b_position)), (sums, offset_of!(Args, sums_position))]
            {
                let step = field(f, step);
                f.add(pointer, step);
            }
        });
    }
}

impl Key for Fused {
    type Args = FusedArgs;

    /// The name in dumps and profiles, such as `winograd.ends.4x32.avx512`.
    fn name(&self, isa: Isa) -> String {
        let third = if self.ends { "ends" } else { "pair" };
        format!("winograd.{third}.{}x{}.{}", self.rows, usize::from(self.vectors) * isa.width().lanes(), isa.name())
    }

    fn write(&self, g: &mut Function) {
        let (args, isa) = (g.arguments(), g.isa());
        let field = |f: &mut Function, at: usize| f.load_int(args.at(at as i32));
        let (a, weights) = (field(g, offset_of!(FusedArgs, a)), field(g, offset_of!(FusedArgs, weights)));
        let chunks = field(g, offset_of!(FusedArgs, chunks));
        g.repeat_some(chunks, |f| {
            self.transform(f, args, weights);
            let (b, row_at, sums) = (field(f, offset_of!(FusedArgs, b)), f.copy(a), field(f, offset_of!(FusedArgs, sums)));
            let positions = f.int(THIRD as i64);
            f.repeat_some(positions, |f| {
                let (row, to) = (f.copy(row_at), f.copy(sums));
                for (i, rows) in [usize::from(self.rows), usize::from(self.rows) - 1].into_iter().enumerate().filter(|r| r.1 > 0) {
                    let tiles = field(f, offset_of!(FusedArgs, tiles) + 8 * i);
                    f.repeat(tiles, |f| {
                        let tile = Sums::load(f, [rows, self.vectors.into(), self.vectors.into()], to);
                        let (a, b) = (f.copy(row), f.copy(b));
                        tile.chunk(f, a, b);
                        tile.store(f, to);
                        f.add(row, tile.rows_bytes(f));
                    });
                }
                f.add(b, (isa.width().lanes() * self.line(isa)) as i32);
                for (pointer, step) in [(row_at, offset_of!(FusedArgs, a_position)), (sums, offset_of!(FusedArgs, sums_position))] {
                    let step = field(f, step);
                    f.add(pointer, step);
                }
            });
            let step = field(f, offset_of!(FusedArgs, a_chunk));
            f.add(a, step);
        });
    }
}

impl Fused {
    /// Bytes of a chunk of transformed weights.
    pub fn scratch(&self, isa: Isa) -> usize {
        THIRD * isa.width().lanes() * self.line(isa)
    }

    /// Bytes of a line of transformed weights.
    fn line(&self, isa: Isa) -> usize {
        usize::from(self.vectors) * isa.width().bytes()
    }

    /// Transforms a chunk of the weights, and moves the pointer past it.
    fn transform(&self, f: &mut Function, args: Int, weights: Int) {
        let (isa, w) = (f.isa(), f.isa().width());
        let field = |f: &mut Function, at: usize| f.load_int(args.at(at as i32));
        let factors = WEIGHT_FACTORS.map(|pair| pair.map(|x| f.splat_f32(w, x)));
        let own: Vec<Val> = if self.ends {
            Vec::new()
        } else {
            (0..3).map(|i| f.splat(w, args.at((offset_of!(FusedArgs, factors) + 4 * i) as i32))).collect()
        };
        let (tap, line) = (field(f, offset_of!(FusedArgs, tap)), field(f, offset_of!(FusedArgs, line)));
        let to = field(f, offset_of!(FusedArgs, b));
        let channels = f.int(w.lanes() as i64);
        f.repeat_some(channels, |f| {
            for v in 0..usize::from(self.vectors) {
                let offset = (v * w.bytes()) as i32;
                let at = f.copy(weights);
                // Two columns of transformed lines, row by row.
                let mut columns: [Vec<Val>; 2] = Default::default();
                for _ in 0..3 {
                    let mut x = Vec::new();
                    for column in 0..3 {
                        if !self.ends || column != 1 {
                            x.push(f.load(w, at.at(offset)));
                        }
                        f.add(at, tap);
                    }
                    let line = if let [first, last] = x[..] {
                        [first, last]
                    } else {
                        weight_pair(f, [own[0], own[1], own[2]], [x[0], x[1], x[2]])
                    };
                    columns.iter_mut().zip(line).for_each(|(c, v)| c.push(v));
                }
                for (j, c) in columns.iter().enumerate() {
                    for (i, value) in weight_line(f, &factors, [c[0], c[1], c[2]]).into_iter().enumerate() {
                        let position = (j * SIDE + i) * w.lanes() * self.line(isa);
                        f.store(to.at(position as i32 + offset), value);
                    }
                }
            }
            f.add(weights, line);
            f.add(to, self.line(isa) as i32);
        });
    }
}

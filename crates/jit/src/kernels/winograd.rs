//! The transforms of Winograd's minimal filtering `F(4x4, 3x3)`: 4 by 4 results of a 3 by 3 window from 36 products instead of 144.
//!
//! With `d` a tile of 6 by 6 source pixels, `g` the 3 by 3 weights and `*` the element-wise product, `y = A' [ (G g G') * (B' d B) ] A`
//! (Lavin and Gray, *Fast Algorithms for Convolutional Neural Networks*, 2016); sums over channels are taken between the products and the
//! last transform. The 36 elements of a tile are its *positions*: column by column, in the order of [`COLUMNS`], the six rows of each.
//! Every kernel works on vectors of contiguous channels, so that nothing is shuffled.
//!
//! # Points
//!
//! The matrices follow from five points at which polynomials are evaluated, and infinity. The usual points, 0, 1, -1, 2, -2, are not the
//! most exact: rounding errors grow with the ratio of the largest to the smallest coefficient. Among symmetric points (which share the
//! operations of a pair) those with `q = 1 / p` are best, and among them `p` about 2/3. Over sums of 512 channels of uniform data the norm
//! of the error is 2.0e-6 of the norm of the result, with the usual points 4.6e-6, and 1.2e-6 when the products are added in order without
//! any transform; the largest error relative to the largest result is 3.4e-6, 1.1e-5 and 2.9e-6. With `p q = 1`, up to factors that `G`
//! takes:
//!
//! ```text
//!      1  0  -(p2 + q2)  0     1  0          1    0     0          1  1   1  1   1  0
//!      0  -p q2   -q2    p     1  0          1    p    p2          0  p  -p  q  -q  0
//! B' = 0   p q2   -q2   -p     1  0     G =  1   -p    p2     A' = 0  p2 p2  q2 q2  0
//!      0  -q p2   -p2    q     1  0          1    q    q2          0  p3 -p3 q3 -q3 1
//!      0   q p2   -p2   -q     1  0          1   -q    q2
//!      0  1    0   -(p2 + q2)  0  1          0    0     1
//! ```
//!
//! # Cost
//!
//! A vector of channels takes 144 operations and 36 stores for a tile of the source, 130 operations and 36 loads for a tile of results (its epilogue comes on
//! top), 72 operations and 36 stores for the weights; the products of a tile take 36 multiply-adds for every pair of a source channel and a
//! vector of result channels.

use crate::asm::Width;
use crate::ir::{Accumulate, Binary, Compare, Elem, Function, Int, Pred, Val};
use crate::isa::Isa;
use crate::kernels::strips::{Finish, Strip, StripKey};
use crate::key::Key;
use std::mem::offset_of;

#[cfg(test)]
mod tests;

pub mod products;

/// The order of the columns of positions: those of the outermost rows of the matrices, then those of either pair of points.
pub const COLUMNS: [usize; SIDE] = [0, 5, 1, 2, 3, 4];
/// Positions of a tile.
pub const POSITIONS: usize = 36;
/// Results of a tile in either direction.
pub const RESULTS: usize = 4;
/// Source pixels of a tile in either direction, and positions.
pub const SIDE: usize = 6;

const P: f64 = 2.0 / 3.0;
const Q: f64 = 1.5;
const P2: f64 = P * P;
const Q2: f64 = Q * Q;
/// Factors of the rows of `G` for the points of either pair: one over the product of a point's differences from the others.
const G_P: f64 = 1.0 / (2.0 * P2 * (P2 - Q2));
const G_Q: f64 = 1.0 / (2.0 * Q2 * (Q2 - P2));

/// Arguments of [`Source`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SourceArgs {
    /// The pixel of the first column of every row, first channel. Only pixels of wanted columns are read.
    pub rows: [*const u8; SIDE],
    /// Bytes from a vector of channels to the next, row by row: 0 for a row that is the same for all.
    pub channels: [usize; SIDE],
    /// Lanes that are read of the pixels of every column: all or none.
    pub lanes: [usize; SIDE],
    /// Bytes from a pixel to the next of its row.
    pub pixel: usize,
    /// Number of vectors of channels, at least 1.
    pub vectors: usize,
    /// Where the first position goes.
    pub to: *mut u8,
    /// Bytes from a position to the next.
    pub position: usize,
    /// Bytes from a vector of channels of a position to the next.
    pub step: usize,
}

/// Arguments of [`Weights`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct WeightArgs {
    /// The first tap.
    pub from: *const u8,
    /// Bytes from a tap to the next: negative for a window that is turned round.
    pub tap: isize,
    /// Number of vectors, at least 1; they follow each other, in every tap and every position.
    pub vectors: usize,
    /// Where the first position goes.
    pub to: *mut u8,
    /// Bytes from a position to the next.
    pub position: usize,
}

/// Arguments of [`Results`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ResultArgs {
    /// The first position of the sums; vectors of channels follow each other.
    pub from: *const u8,
    /// Bytes from a position to the next.
    pub position: usize,
    /// Number of vectors of channels, at least 1.
    pub vectors: usize,
    /// The first result of every row, first channel; those after `wanted` rows are not looked at.
    pub rows: [*mut u8; RESULTS],
    /// Bytes from a result to the next of its row.
    pub pixel: usize,
    /// Bytes from a vector of channels to the next.
    pub channel: usize,
    /// Rows and columns that exist.
    pub wanted: [usize; 2],
}

/// Coefficients in registers.
struct Points {
    p: Val,
    q: Val,
    p2: Val,
    q2: Val,
}

impl Points {
    fn new(f: &mut Function, w: Width) -> Points {
        let mut splat = |x: f64| f.splat_f32(w, x as f32);
        Points { p: splat(P), q: splat(Q), p2: splat(P2), q2: splat(Q2) }
    }
}

/// `a + b * c`, `a` used up.
fn fma(f: &mut Function, a: Val, b: Val, c: Val) -> Val {
    f.accumulate(Accumulate::FmaF32, a, b, c);
    a
}

/// `a - b * c`, `a` used up.
fn fnma(f: &mut Function, a: Val, b: Val, c: Val) -> Val {
    f.accumulate(Accumulate::FnmaF32, a, b, c);
    a
}

/// `(a + b * c, a - b * c)`, `a` used up.
fn fma_fnma(f: &mut Function, a: Val, b: Val, c: Val) -> [Val; 2] {
    let other = f.copy_of(a);
    [fma(f, other, b, c), fnma(f, a, b, c)]
}

/// Rows of `B' x` that are computed together: the first, the last, those of either pair of points. In this order they are [`COLUMNS`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Group {
    First,
    Last,
    P,
    Q,
}

const BY_COLUMN: [Group; 4] = [Group::First, Group::Last, Group::P, Group::Q];
const BY_ROW: [Group; 4] = [Group::First, Group::P, Group::Q, Group::Last];

/// A group of `B' x`, where `x` gives the six elements of a line one by one.
fn source_group(
    f: &mut Function,
    (points, ends): (&Points, Val),
    group: Group,
    mut x: impl FnMut(&mut Function, usize) -> Val,
) -> Vec<Val> {
    let (point, other) = match group {
        Group::First | Group::Last => {
            let at = usize::from(group == Group::Last);
            let (first, middle, last) = (x(f, at), x(f, at + 2), x(f, at + 4));
            let sum = f.binary(Binary::AddF32, first, last);
            return vec![fnma(f, sum, middle, ends)];
        }
        Group::P => (points.p, points.q2),
        Group::Q => (points.q, points.p2),
    };
    let (x1, x2, x3, x4) = (x(f, 1), x(f, 2), x(f, 3), x(f, 4));
    let (even, odd) = (f.copy_of(x4), f.copy_of(x3));
    let (even, odd) = (fnma(f, even, x2, other), fnma(f, odd, x1, other));
    fma_fnma(f, even, odd, point).to_vec()
}

/// The transform of a tile of source pixels: a function of [`SourceArgs`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Source;

impl Key for Source {
    type Args = SourceArgs;

    fn name(&self, isa: Isa) -> String {
        format!("winograd.source.{}", isa.name())
    }

    fn write(&self, g: &mut Function) {
        let (args, w) = (g.arguments(), g.isa().width());
        let field = |f: &mut Function, at: usize| f.load_int(args.at(at as i32));
        let points = Points::new(g, w);
        let ends = g.splat_f32(w, (P2 + Q2) as f32);
        let wanted: Vec<Pred> = (0..SIDE)
            .map(|j| {
                let lanes = field(g, offset_of!(SourceArgs, lanes) + 8 * j);
                g.first_lanes(lanes)
            })
            .collect();
        let rows: Vec<Int> = (0..SIDE).map(|i| field(g, offset_of!(SourceArgs, rows) + 8 * i)).collect();
        let pixel = field(g, offset_of!(SourceArgs, pixel));
        let pixels_3 = g.address(pixel.indexed(pixel, 2, 0));
        let pixels_5 = g.address(pixel.indexed(pixel, 4, 0));
        let (to, position) = (field(g, offset_of!(SourceArgs, to)), field(g, offset_of!(SourceArgs, position)));
        let vectors = field(g, offset_of!(SourceArgs, vectors));
        g.repeat_some(vectors, |f| {
            let at = f.copy(to);
            for group in BY_COLUMN {
                // Along rows first: the numbers of columns of positions, row by row.
                let mut columns: [Vec<Val>; 2] = Default::default();
                for row in &rows {
                    let group_of_row = source_group(f, (&points, ends), group, |f, j| {
                        let from = match j {
                            0 => row.at(0),
                            3 => row.indexed(pixels_3, 1, 0),
                            5 => row.indexed(pixels_5, 1, 0),
                            j => row.indexed(pixel, j as u8, 0),
                        };
                        f.load_masked(from, wanted[j])
                    });
                    columns.iter_mut().zip(group_of_row).for_each(|(c, v)| c.push(v));
                }
                for column in columns.iter().filter(|c| !c.is_empty()) {
                    for group in BY_ROW {
                        for v in source_group(f, (&points, ends), group, |_, i| column[i]) {
                            f.store(at.at(0), v);
                            f.add(at, position);
                        }
                    }
                }
            }
            let step = field(f, offset_of!(SourceArgs, step));
            f.add(to, step);
            for (i, row) in rows.iter().enumerate() {
                let channel = field(f, offset_of!(SourceArgs, channels) + 8 * i);
                f.add(*row, channel);
            }
        });
    }
}

/// A pair of rows of `G x`, by its factors.
fn weight_pair(f: &mut Function, [g, g_point, g_square]: [Val; 3], x: [Val; 3]) -> [Val; 2] {
    let even = f.binary(Binary::MulF32, x[0], g);
    let even = fma(f, even, x[2], g_square);
    fma_fnma(f, even, x[1], g_point)
}

/// `G x` for three elements of a line of weights.
fn weight_line(f: &mut Function, factors: &[[Val; 3]; 2], x: [Val; 3]) -> [Val; SIDE] {
    let ([p, minus_p], [q, minus_q]) = (weight_pair(f, factors[0], x), weight_pair(f, factors[1], x));
    [x[0], p, minus_p, q, minus_q, x[2]]
}

/// Factors of the three elements of a line of weights, for either pair of points.
pub const WEIGHT_FACTORS: [[f32; 3]; 2] =
    [[G_P as f32, (G_P * P) as f32, (G_P * P2) as f32], [G_Q as f32, (G_Q * Q) as f32, (G_Q * Q2) as f32]];

/// The transform of vectors of weights: a function of [`WeightArgs`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Weights;

impl Key for Weights {
    type Args = WeightArgs;

    fn name(&self, isa: Isa) -> String {
        format!("winograd.weights.{}", isa.name())
    }

    fn write(&self, g: &mut Function) {
        let (args, w) = (g.arguments(), g.isa().width());
        let field = |f: &mut Function, at: usize| f.load_int(args.at(at as i32));
        let factors = WEIGHT_FACTORS.map(|pair| pair.map(|x| g.splat_f32(w, x)));
        let (from, tap) = (field(g, offset_of!(WeightArgs, from)), field(g, offset_of!(WeightArgs, tap)));
        let (to, position) = (field(g, offset_of!(WeightArgs, to)), field(g, offset_of!(WeightArgs, position)));
        let vectors = field(g, offset_of!(WeightArgs, vectors));
        g.repeat_some(vectors, |f| {
            let (at, tap_at) = (f.copy(to), f.copy(from));
            let rows: Vec<[Val; SIDE]> = (0..3)
                .map(|_| {
                    let x = [0; 3].map(|_| {
                        let v = f.load(w, tap_at.at(0));
                        f.add(tap_at, tap);
                        v
                    });
                    weight_line(f, &factors, x)
                })
                .collect();
            for j in COLUMNS {
                for v in weight_line(f, &factors, [rows[0][j], rows[1][j], rows[2][j]]) {
                    f.store(at.at(0), v);
                    f.add(at, position);
                }
            }
            f.add(from, w.bytes() as i32);
            f.add(to, w.bytes() as i32);
        });
    }
}

/// `A' m` for six elements of a line, used up.
fn result_line(f: &mut Function, points: &Points, m: [Val; SIDE]) -> [Val; RESULTS] {
    let [first, p, minus_p, q, minus_q, last] = m;
    let (even_p, even_q) = (f.binary(Binary::AddF32, p, minus_p), f.binary(Binary::AddF32, q, minus_q));
    f.update(Binary::SubF32, p, minus_p);
    f.update(Binary::MulF32, p, points.p);
    f.update(Binary::SubF32, q, minus_q);
    f.update(Binary::MulF32, q, points.q);
    f.update(Binary::AddF32, first, even_p);
    f.update(Binary::AddF32, first, even_q);
    let last = fma(f, last, p, points.p2);
    let last = fma(f, last, q, points.q2);
    f.update(Binary::AddF32, p, q);
    f.update(Binary::MulF32, even_p, points.p2);
    let even = fma(f, even_p, even_q, points.q2);
    [first, p, even, last]
}

/// The transform of sums to a tile of results, each of whose whole rows is a [`Strip`]: a function of [`ResultArgs`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Results;

impl Key for Results {
    type Args = ResultArgs;

    fn name(&self, isa: Isa) -> String {
        format!("winograd.results.{}", isa.name())
    }

    fn write(&self, f: &mut Function) {
        self.write_strips(f, &mut |f, strip| strip.store(f, Elem::F32));
    }
}

impl StripKey for Results {
    fn write_strips(&self, g: &mut Function, finish: &mut Finish<'_>) {
        let (args, w) = (g.arguments(), g.isa().width());
        let field = |f: &mut Function, at: usize| f.load_int(args.at(at as i32));
        let points = Points::new(g, w);
        let (from, position) = (field(g, offset_of!(ResultArgs, from)), field(g, offset_of!(ResultArgs, position)));
        let vectors = field(g, offset_of!(ResultArgs, vectors));
        let (offset, channel) = (g.int(0), g.int(0));
        g.repeat_some(vectors, |f| {
            let at = f.copy(from);
            let column = |f: &mut Function| {
                let m = [0; SIDE].map(|_| {
                    let v = f.load(w, at.at(0));
                    f.add(at, position);
                    v
                });
                result_line(f, &points, m)
            };
            let mut columns: Vec<(usize, [Val; RESULTS])> = COLUMNS.iter().map(|j| (*j, column(f))).collect();
            columns.sort_by_key(|c| c.0);
            let lines: Vec<[Val; RESULTS]> =
                (0..RESULTS).map(|i| result_line(f, &points, std::array::from_fn(|j| columns[j].1[i]))).collect();
            let rows = field(f, offset_of!(ResultArgs, wanted));
            for (i, line) in lines.iter().enumerate() {
                f.when(Compare::Gt, rows, i as i32, |f| {
                    let result = field(f, offset_of!(ResultArgs, rows) + 8 * i);
                    f.add(result, offset);
                    let column = offset_of!(ResultArgs, pixel);
                    finish_line(
                        f,
                        &Strip { args, column, channel, result, values: line, mask: None, normal: false, streaming: false },
                        finish,
                    );
                });
            }
            f.add(from, w.bytes() as i32);
            let step = field(f, offset_of!(ResultArgs, channel));
            f.add(offset, step);
            f.add(channel, w.lanes() as i32);
        });
    }
}

/// Finishes the wanted results of a row: together where it is whole, else one by one.
fn finish_line(f: &mut Function, line: &Strip<'_>, finish: &mut Finish<'_>) {
    let columns = f.load_int(line.args.at((offset_of!(ResultArgs, wanted) + 8) as i32));
    f.when(Compare::Eq, columns, RESULTS as i32, |f| finish(f, line));
    f.when(Compare::Lt, columns, RESULTS as i32, |f| {
        let pixel = f.load_int(line.args.at(line.column as i32));
        for (j, value) in line.values[..RESULTS - 1].iter().enumerate() {
            f.when(Compare::Gt, columns, j as i32, |f| {
                finish(f, &Strip { values: std::slice::from_ref(value), ..*line });
                f.add(line.result, pixel);
            });
        }
    });
}

//! Online softmax in generated code: the largest score of each row, exponentials with their sum, and results that are rescaled when the
//! largest grows. `ops::sdpa::softmax` explains the recurrence.
//!
//! A row of scores stays in L1 between its two passes. A vector of 16 scores costs a load and a maximum in the first; a load, a
//! multiply-add, a dozen instructions of the exponential, an addition and a store in the second. The exponential is a dependency chain, so
//! four vectors are interleaved, and rows are processed by fours. If only a rounding to bf16 follows, exponentials are computed with that
//! accuracy.
//!
//! The reference that is subtracted from scores need not be the largest: powers up to [`MAX_EXCESS`] are as accurate. So a row keeps its
//! reference until a score exceeds it by more than that, which is rare after the first block: one comparison of whole vectors decides it
//! for all rows, without reducing lanes.

use super::chain::jit::interleaved::Interleaved;
use super::chain::jit::value::Recorder;
use super::code::{self, Key};
use super::extent::{Read, Written, reach};
use oxidnn_expr::functions;
use oxidnn_jit::ir::{Accumulate, Binary, Compare, Elem, Int, Val};
use oxidnn_jit::{Entry, Function, Isa};
use oxidnn_spec::Error;
use std::mem::offset_of;

#[cfg(test)]
mod tests;

/// Rows, and vectors of a row, that are processed together: as many as registers hold.
const fn together(isa: Isa) -> usize {
    if isa.avx512 { 4 } else { 2 }
}

/// The key of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Spec {
    /// Type of the exponentials.
    weights: Elem,
    /// Rows that are processed together.
    rows: u8,
}

/// Arguments of a kernel. Strides are in bytes.
#[repr(C)]
#[derive(Debug)]
struct Args {
    scores: *mut u8,
    scores_row: usize,
    /// Groups of rows, at least 1.
    groups: usize,
    /// Vectors of a row: groups of [`together`], and the remaining ones.
    apart: usize,
    single: usize,
    factor: *const u8,
    states: *mut u8,
    results: *mut u8,
    results_row: usize,
    /// Vectors of a row of results.
    results_vectors: usize,
}

impl Key for Spec {
    type Args = Args;

    fn name(&self, isa: Isa) -> String {
        format!("online.{}.{}rows.{}", self.weights.name(), self.rows, isa.name())
    }

    fn write(&self, f: &mut Function) {
        let (args, width) = (f.arguments(), f.isa().width());
        let rows = usize::from(self.rows);
        let factor = f.argument(args, offset_of!(Args, factor));
        let factor = f.splat(width, factor.at(0));
        f.pin(factor);
        let scores = f.argument(args, offset_of!(Args, scores));
        let states = f.argument(args, offset_of!(Args, states));
        let results = f.argument(args, offset_of!(Args, results));
        let groups = f.argument(args, offset_of!(Args, groups));
        f.repeat_some(groups, |f| {
            let mut first = scores;
            let at: Vec<Int> = (0..rows)
                .map(|_| {
                    let at = f.copy(first);
                    let next = f.argument(args, offset_of!(Args, scores_row));
                    f.add(next, first);
                    first = next;
                    at
                })
                .collect();
            f.set(scores, first);
            let totals = self.largest(f, args, &at);
            let shifts = references(f, &At { args, state: states, results }, &totals, factor);
            let next = f.argument(args, offset_of!(Args, results_row));
            (0..rows).for_each(|_| f.add(results, next));
            let lines = at.into_iter().zip(shifts).map(|(scores, shift)| Line { scores, shift });
            let lines: Vec<Line> = lines.collect();
            self.exponentials(f, args, (&lines, states), factor);
            f.add(states, (rows * STATE) as i32);
        });
    }
}

/// The state of a row: its reference, which no score times the factor exceeds by more than [`MAX_EXCESS`], and the sum of the powers of two
/// of scores times the factor minus the reference.
pub type State = [f32; 2];

/// How far scores times the factor may exceed a row's reference.
pub const MAX_EXCESS: f32 = 8.0;

/// Bytes of a row's state, and the offset of its sum.
const STATE: usize = size_of::<State>();
const SUM: usize = size_of::<f32>();

/// A row while it is processed.
struct Line {
    scores: Int,
    /// What is added to scores.
    shift: Val,
}

/// Addresses of the states and results of rows, from one row on.
struct At {
    args: Int,
    state: Int,
    results: Int,
}

/// Scores that become exponentials: their row, the index of their first vector, their factor, the sums that they are added to, and
/// constants in registers.
struct Exponent<'w> {
    line: &'w Line,
    index: Int,
    factor: Val,
    totals: &'w [Val],
    kept: &'w [(u32, Val)],
}

impl Spec {
    /// Iterates over the vectors of some rows, several at a time as long as there are enough: `each` gets a row, the index of its first
    /// vector, and the number of vectors.
    fn vectors(&self, f: &mut Function, args: Int, each: impl Fn(&mut Function, usize, Int, usize)) {
        let (rows, lanes) = (usize::from(self.rows), f.isa().width().lanes() as i32);
        let index = f.int(0);
        for (count, vectors) in [(offset_of!(Args, apart), together(f.isa())), (offset_of!(Args, single), 1)] {
            let count = f.argument(args, count);
            f.repeat(count, |f| {
                (0..rows).for_each(|row| each(f, row, index, vectors));
                f.add(index, lanes * vectors as i32);
            });
        }
    }

    /// Independent accumulators of a row: several rows need fewer.
    fn apart(&self, isa: Isa) -> usize {
        if self.rows == 1 { together(isa) } else { 1 }
    }

    /// The largest scores of some rows, lane by lane.
    fn largest(&self, f: &mut Function, args: Int, at: &[Int]) -> Vec<Val> {
        let (width, apart) = (f.isa().width(), self.apart(f.isa()));
        let totals: Vec<Vec<Val>> = at.iter().map(|_| (0..apart).map(|_| f.splat_f32(width, f32::NEG_INFINITY)).collect()).collect();
        totals.iter().flatten().for_each(|total| f.pin(*total));
        self.vectors(f, args, |f, row, index, vectors| {
            for v in 0..vectors {
                let x = f.load(width, at[row].indexed(index, 4, (v * width.bytes()) as i32));
                // If a score is NaN, so will be the sum.
                let total = totals[row][v % apart];
                let larger = f.binary(Binary::MaxF32, x, total);
                f.assign(total, larger);
            }
        });
        totals.iter().map(|totals| totals[1..].iter().fold(totals[0], |a, b| f.binary(Binary::MaxF32, *b, a))).collect()
    }

    /// Replaces some vectors of scores by exponentials, and adds these to the sums.
    fn weights<const N: usize>(&self, f: &mut Function, on: &Exponent<'_>) {
        let Exponent { line, index, factor, totals, kept } = *on;
        let (width, bytes) = (f.isa().width(), self.weights.bytes());
        let less: [Val; N] = std::array::from_fn(|v| {
            let x = f.load(width, line.scores.indexed(index, 4, (v * width.bytes()) as i32));
            let less = f.copy_of(line.shift);
            f.accumulate(Accumulate::FmaF32, less, x, factor);
            less
        });
        for (v, e) in powers(f, self.weights, less, kept).into_iter().enumerate() {
            f.update(Binary::AddF32, totals[v % totals.len()], e);
            // Narrow weights are stored in the first half of their row, behind no score that is still to be read.
            let to = line.scores.indexed(index, bytes as u8, (v * width.lanes() * bytes) as i32);
            if self.weights == Elem::Bf16 { f.store_bf16_flushed(to, e, None) } else { f.store_as(self.weights, to, e, None) }
        }
    }

    /// Replaces scores by exponentials, and updates the states.
    fn exponentials(&self, f: &mut Function, args: Int, (lines, states): (&[Line], Int), factor: Val) {
        let (width, apart) = (f.isa().width(), self.apart(f.isa()));
        let totals: Vec<Vec<Val>> = lines.iter().map(|_| (0..apart).map(|_| f.zero(width)).collect()).collect();
        totals.iter().flatten().for_each(|total| f.pin(*total));
        // In memory they would cost a load each, more loads than there are multiply-adds.
        let constants: Vec<f64> = match self.weights {
            _ if !f.isa().avx512 => Vec::new(),
            Elem::Bf16 => functions::exp2_short_constants().collect(),
            _ => functions::exp2_constants().collect(),
        };
        let kept: Vec<(u32, Val)> = constants.into_iter().map(|x| ((x as f32).to_bits(), f.splat_f32(width, x as f32))).collect();
        kept.iter().for_each(|(_, x)| f.pin(*x));
        self.vectors(f, args, |f, row, index, vectors| {
            let on = Exponent { line: &lines[row], index, factor, totals: &totals[row], kept: &kept };
            match vectors {
                1 => self.weights::<1>(f, &on),
                2 => self.weights::<2>(f, &on),
                _ => self.weights::<4>(f, &on),
            }
        });
        let one = f.int(1);
        let first = f.first_lanes(one);
        for (row, totals) in totals.iter().enumerate() {
            let total = totals[1..].iter().fold(totals[0], |a, b| f.binary(Binary::AddF32, a, *b));
            let total = f.across(Binary::AddF32, total);
            let at = states.at((row * STATE + SUM) as i32);
            let sum = f.splat(width, at);
            let total = f.binary(Binary::AddF32, total, sum);
            f.store_masked(at, total, first);
        }
    }
}

/// Powers of two that will be rounded to a type, with constants in registers.
fn powers<const N: usize>(f: &mut Function, to: Elem, x: [Val; N], kept: &[(u32, Val)]) -> [Val; N] {
    let recorder = Recorder::keeping(f, kept);
    let x = Interleaved(x.map(|x| recorder.value(x)));
    let powers = if to == Elem::Bf16 { functions::exp2_short(x) } else { functions::exp2(x) };
    powers.0.map(|y| recorder.lanes(y))
}

/// What is added to the scores of some rows; updates states and results if a score exceeds its row's reference by too much.
fn references(f: &mut Function, first: &At, totals: &[Val], factor: Val) -> Vec<Val> {
    let width = f.isa().width();
    let references: Vec<Val> = (0..totals.len()).map(|row| f.splat(width, first.state.at((row * STATE) as i32))).collect();
    references.iter().for_each(|x| f.pin(*x));
    let mut beyond = f.splat_f32(width, f32::NEG_INFINITY);
    for (total, reference) in totals.iter().zip(&references) {
        let total = f.binary(Binary::MulF32, *total, factor);
        let more = f.binary(Binary::SubF32, total, *reference);
        // Infinity minus infinity must not count.
        beyond = f.binary(Binary::MaxF32, more, beyond);
    }
    let most = f.splat_f32(width, MAX_EXCESS);
    let any = f.compare_f32(Compare::Gt, beyond, most);
    let memory = f.local(size_of::<u16>());
    f.store_bits(memory.at(0), any);
    let any = if f.isa().avx512 { f.load_u16(memory.at(0)) } else { f.load_u8(memory.at(0)) };
    f.when(Compare::Ne, any, 0, |f| {
        let at = At { args: first.args, state: f.copy(first.state), results: f.copy(first.results) };
        for (total, reference) in totals.iter().zip(&references) {
            let total = f.across(Binary::MaxF32, *total);
            let total = f.binary(Binary::MulF32, total, factor);
            update(f, &at, total, *reference);
            f.advance(at.results, at.args, offset_of!(Args, results_row));
            f.add(at.state, STATE as i32);
        }
    });
    let (zero, nothing) = (f.zero(width), f.splat_f32(width, f32::NEG_INFINITY));
    let shift = |reference: &Val| {
        // While all scores are minus infinity, their exponentials must be 0 and not NaN.
        let none = f.compare_f32(Compare::Eq, *reference, nothing);
        let reference = f.select(none, zero, *reference);
        f.binary(Binary::SubF32, zero, reference)
    };
    references.iter().map(shift).collect()
}

/// Makes the largest score of a block the row's reference if it exceeds that by too much, and rescales the sum and the results so far.
fn update(f: &mut Function, at: &At, largest: Val, reference: Val) {
    let width = f.isa().width();
    let (zero, nothing, most) = (f.zero(width), f.splat_f32(width, f32::NEG_INFINITY), f.splat_f32(width, MAX_EXCESS));
    let more = f.binary(Binary::SubF32, largest, reference);
    let beyond = f.compare_f32(Compare::Gt, more, most);
    let new = f.select(beyond, largest, reference);
    let none = f.compare_f32(Compare::Eq, new, nothing);
    let less = f.select(none, zero, new);
    let less = f.binary(Binary::SubF32, reference, less);
    let [share] = powers(f, Elem::F32, [less], &[]);
    let sum = f.splat(width, at.state.at(SUM as i32));
    let sum = f.binary(Binary::MulF32, sum, share);
    let one = f.int(1);
    let first = f.first_lanes(one);
    f.store_masked(at.state.at(0), new, first);
    f.store_masked(at.state.at(SUM as i32), sum, first);
    f.assign(reference, new);
    rescale(f, at, share);
}

/// Multiplies a row of results by a factor, unless that is 1.
fn rescale(f: &mut Function, at: &At, share: Val) {
    let width = f.isa().width();
    let memory = f.local(size_of::<f32>());
    let one = f.int(1);
    let first = f.first_lanes(one);
    f.store_masked(memory.at(0), share, first);
    let bits = f.load_i32(memory.at(0));
    f.when(Compare::Ne, bits, 1.0f32.to_bits() as i32, |f| {
        let vectors = f.argument(at.args, offset_of!(Args, results_vectors));
        let at = f.copy(at.results);
        f.repeat(vectors, |f| {
            let x = f.load(width, at.at(0));
            let x = f.binary(Binary::MulF32, x, share);
            f.store(at.at(0), x);
            f.add(at, width.bytes() as i32);
        });
    });
}

/// The kernels for weights of a type.
#[derive(Clone, Debug)]
pub struct Online {
    several: Entry<Args>,
    single: Entry<Args>,
    /// Rows and vectors that are processed together.
    together: usize,
    lanes: usize,
}

/// A call: rows with their states.
#[derive(Debug)]
pub struct Call<'a> {
    /// Scores, row by row, which become exponentials of the kernel's type from the row's first byte on.
    pub scores: &'a mut [f32],
    /// Stride of the rows of scores.
    pub step: usize,
    /// Scores of a row: whole vectors.
    pub columns: usize,
    /// The factor of scores: the scale times the binary logarithm of e, positive and finite.
    pub factor: f32,
    /// The states of the rows.
    pub states: &'a mut [State],
    /// Results so far, row by row.
    pub results: &'a mut [f32],
    /// Stride of the rows of results.
    pub results_step: usize,
    /// Results of a row, in whole vectors; 0 if there are none yet.
    pub results_columns: usize,
}

impl Online {
    /// The kernels that write weights of type `weights`: f32 or bf16.
    ///
    /// # Errors
    /// As for [`code::get`].
    pub fn get(isa: Isa, weights: Elem) -> Result<Online, Error> {
        let kernel = |rows: usize| code::get(isa, &Spec { weights, rows: rows as u8 });
        let together = together(isa);
        Ok(Online { several: kernel(together)?, single: kernel(1)?, together, lanes: isa.width().lanes() })
    }

    /// Runs it.
    ///
    /// # Panics
    /// If rows are missing, or not whole vectors.
    pub fn run(&self, call: Call<'_>) {
        let Call { scores, step, columns, factor, states, results, results_step, results_columns } = call;
        let (rows, lanes, together) = (states.len(), self.lanes, self.together);
        if rows == 0 {
            return;
        }
        assert!(columns.is_multiple_of(lanes) && results_columns.is_multiple_of(lanes), "{columns} and {results_columns} columns");
        let area = |step: usize, columns: usize| step.checked_mul(4).and_then(|row| reach(&[(rows, row)], columns * 4));
        let vectors = columns / lanes;
        let factor = [factor];
        let mut args = Args {
            scores: Written::from(scores).at("scores", 0, area(step, columns)),
            scores_row: step * 4,
            groups: rows / together,
            apart: vectors / together,
            single: vectors % together,
            factor: Read::from(&factor[..]).at("factor", 0, Some(4)),
            states: Written::from(states.as_flattened_mut()).at("states", 0, rows.checked_mul(STATE)),
            results: Written::from(results).at("results", 0, area(results_step, results_columns)),
            results_row: results_step * 4,
            results_vectors: results_columns / lanes,
        };
        for (entry, groups, each) in [(&self.several, rows / together, together), (&self.single, rows % together, 1)] {
            if groups == 0 {
                continue;
            }
            args.groups = groups;
            // SAFETY: the kernel accesses whole vectors of the rows that were checked, their states, and the factor.
            unsafe { entry.call(&args) }
            args.scores = args.scores.wrapping_add(groups * each * args.scores_row);
            args.states = args.states.wrapping_add(groups * each * STATE);
            args.results = args.results.wrapping_add(groups * each * args.results_row);
        }
    }
}

//! Predicted times, by which rows are chosen: nanoseconds of what a row counts in its plan (calls, squares, vectors, runs). They were fitted to the
//! times of random reorders whose data stays in the caches, then, on a Xeon with and without AVX-512, to what the chosen rows of 1,500 of them take: half
//! of the times are predicted within a third. Where data comes from memory all rows wait for the same bytes, except for what non-temporal stores do not
//! read.

use crate::CpuTarget;
use crate::kernels::pointwise::{Copies, Counts, LookedUp, Pipeline, Program, Tables, Taken, Zeros};
use oxidnn_jit::Isa;
use oxidnn_runtime::{Choose, Plan};
use oxidnn_spec::Problem;
use oxidnn_spec::op::Reorder;

/// Nanoseconds of each of some counts, without and with AVX-512.
pub(super) type Times<const N: usize> = [[f64; N]; 2];
/// The same for chunks, runs and positions of a traversal, by where they are contiguous; the first number is that of an execution.
type Traversal = Times<10>;

/// Zeroed chunks and runs, and bytes that are cleared as a whole.
pub(super) const ZEROS: Times<3> = [[40.0, 1.2, 0.014], [30.0, 1.0, 0.02]];
const COPIES: Traversal =
    [[160.0, 25.0, 1.4, 0.0, 70.0, 0.6, 0.7, 6.0, 0.9, 0.6], [165.0, 25.0, 1.35, 0.0, 105.0, 4.6, 0.8, 5.6, 0.85, 0.85]];
/// A byte of a copy, which L1 does not hold.
const COPIED: f64 = 0.027;
const PIPELINE: Traversal =
    [[186.0, 54.0, 4.7, 0.24, 150.0, 0.0, 1.46, 127.0, 4.4, 0.96], [240.0, 75.0, 6.0, 0.3, 200.0, 0.0, 2.0, 170.0, 6.0, 1.3]];
/// Programs whose operands are in place, copied for them (each is counted), in chunks, and bytes whose results are looked up.
const PROGRAM: [Traversal; 4] = [
    [[170.0, 5.2, 2.1, 0.069, 5.2, 2.1, 0.069, 5.2, 2.1, 0.069], [180.0, 2.7, 0.83, 0.093, 2.7, 0.83, 0.093, 2.7, 0.83, 0.093]],
    [[150.0, 112.0, 3.0, 0.165, 112.0, 3.0, 0.165, 100.0, 4.4, 0.72], [270.0, 218.0, 0.0, 0.16, 222.0, 1.9, 0.18, 220.0, 2.0, 0.85]],
    [[226.0, 90.0, 6.0, 2.5, 76.0, 0.0, 2.3, 99.0, 0.0, 3.4], [206.0, 218.0, 0.0, 0.0, 410.0, 0.8, 0.0, 258.0, 0.0, 0.0]],
    [[0.0; 10], [330.0, 3.1, 10.0, 0.03, 3.1, 10.0, 0.03, 3.1, 10.0, 0.03]],
];
/// An execution, rows, single elements, converted ones, and runs.
const TABLES: Times<5> = [[150.0, 5.1, 0.58, 0.87, 2.6], [171.0, 5.9, 0.67, 1.0, 3.0]];
/// An execution, calls, and vectors.
const LOOKED_UP: Times<3> = [[125.0, 20.0, 1.1], [125.0, 19.0, 1.15]];
/// An element of sums behind the elements.
const SUM: f64 = 0.25;
/// Bytes a nanosecond that a core moves beyond L2, and beyond all that stays in the caches; and the part of that time with non-temporal stores.
pub(super) const BANDWIDTHS: [f64; 2] = [60.0, 20.0];
const STREAMED: f64 = 0.625;

/// The time of some counts.
pub(super) fn total<const N: usize>(times: &Times<N>, isa: Option<Isa>, counts: [f64; N]) -> f64 {
    times[usize::from(isa.is_some_and(|isa| isa.avx512))].iter().zip(counts).map(|(time, count)| time * count).sum()
}

/// The time of a traversal, and of zeroing the padded area.
fn traversed(times: &Traversal, isa: Option<Isa>, (counts, (zeros, cleared)): (Counts, Zeros)) -> f64 {
    let mut all = [1.0; 10];
    all[1..].iter_mut().zip(counts.as_flattened()).for_each(|(to, count)| *to = *count);
    let of = |i: usize| zeros.iter().map(|class| class[i]).sum::<f64>();
    total(times, isa, all) + total(&ZEROS, isa, [of(0), of(1), cleared as f64])
}

/// A kernel whose time is predicted: nanoseconds, unless only an execution knows sizes.
pub(super) trait Timed {
    fn time(&self, isa: Option<Isa>) -> Option<f64>;

    /// Whether results of words are stored non-temporally.
    fn streams(&self) -> bool {
        false
    }
}

impl Timed for Copies {
    fn time(&self, isa: Option<Isa>) -> Option<f64> {
        Some(traversed(&COPIES, isa, self.counts()?) + COPIED * self.bytes() as f64)
    }
}

impl Timed for Pipeline {
    fn time(&self, isa: Option<Isa>) -> Option<f64> {
        Some(traversed(&PIPELINE, isa, self.counts()?))
    }
}

impl Timed for Program {
    fn time(&self, isa: Option<Isa>) -> Option<f64> {
        let (taken, counts) = self.counts()?;
        let which = match taken {
            Taken::InPlace => 0,
            Taken::Brought => 1,
            Taken::InChunks => 2,
            Taken::LookedUp => 3,
        };
        Some(traversed(&PROGRAM[which], isa, counts))
    }

    fn streams(&self) -> bool {
        Program::streams(self)
    }
}

impl Timed for Tables {
    fn time(&self, isa: Option<Isa>) -> Option<f64> {
        let ([rows, single, runs, converted], zeros) = self.counts()?;
        let zeros = traversed(&[[0.0; 10]; 2], isa, (Counts::default(), zeros));
        Some(total(&TABLES, isa, [1.0, rows, single, converted, runs]) + zeros)
    }
}

impl Timed for LookedUp {
    fn time(&self, isa: Option<Isa>) -> Option<f64> {
        let ([calls, vectors], zeros) = self.counts()?;
        Some(total(&LOOKED_UP, isa, [1.0, calls, vectors]) + traversed(&[[0.0; 10]; 2], isa, (Counts::default(), zeros)))
    }
}

/// The time of sums behind the elements of a destination.
pub(super) fn of_sums(op: &Reorder) -> f64 {
    op.dst.bytes() as f64 * SUM
}

/// The time that a kernel waits for data that L2 does not hold; lines of results that are stored non-temporally are not read before.
pub(super) fn of_memory(op: &Reorder, target: &CpuTarget, streams: bool) -> f64 {
    let bytes = op.src.bytes().saturating_add(op.dst.bytes());
    let far = !target.is_near(bytes);
    let part = if far && streams { STREAMED } else { 1.0 };
    if bytes > target.caches.l2 { part * bytes as f64 / BANDWIDTHS[usize::from(far)] } else { 0.0 }
}

/// The plan of the row that is predicted to be fastest.
pub(super) fn fastest(rows: &[Choose<CpuTarget>], problem: &Problem, target: &CpuTarget) -> Option<Box<dyn Plan>> {
    let plans = rows.iter().filter_map(|row| row(problem, target).ok());
    plans.min_by(|a, b| a.seconds().unwrap_or(f64::INFINITY).total_cmp(&b.seconds().unwrap_or(f64::INFINITY)))
}

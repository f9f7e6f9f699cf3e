//! `steps:jit`: reorders in two steps through scratch, each of which is fast while both at once are not.
//!
//! A layout that interleaves a few elements of several rows, such as `ABcd4b16a4b` of words, is reached by way of blocks in which these
//! rows follow each other; the second step interleaves within blocks, in whole vectors. And a reorder that changes the contiguous dimension
//! and does arithmetic that the transposing rows do not do (scales that vary along the source's contiguous dimension, zero points, sums,
//! rare types) does the arithmetic in the layout of the narrower tensor, and moves elements in the other step.

use super::loops::loops;
use super::{check_adjusted, check_copy, check_known, generated, is_sparse, lanes, pieces, reorder, run, squares, time};
use crate::CpuTarget;
use crate::ops::staged::{self, Copied};
use oxidnn_runtime::{Choose, Plan, Skip};
use oxidnn_spec::op::Reorder;
use oxidnn_spec::{Arg, Attr, Blocking, Blocks, Layout, Problem, Tensor};

/// Rows that move elements.
const MOVES: &[Choose<CpuTarget>] = &[squares::plan, pieces::plan, lanes::plan];
/// Numbers of rows that layouts interleave.
const ROWS: std::ops::RangeInclusive<i64> = 2..=8;
/// Contiguous elements in both tensors from which on arithmetic needs no separate step, unless bytes are looked up.
const MIN_RUN: usize = 16;
/// Seconds from the first step to the second, and the time of both relative to each on its own.
const BETWEEN: f64 = 1e-7;
const BOTH: f64 = 1.25;
/// Elements from which on two steps pay.
const MIN_ELEMENTS: i64 = 256;

/// Plans two steps.
///
/// # Errors
/// Problems that the row does not take.
pub(super) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let jit = target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?;
    let problem = crate::ops::support::resolved(problem);
    let op = reorder(&problem)?;
    check_known(op)?;
    check_adjusted(op)?;
    if op.dst.dims().volume().is_none_or(|n| n < MIN_ELEMENTS) {
        return Err(Skip::Shape("few elements"));
    }
    let none = || Skip::Layout("of src and dst, nor any between them".into());
    let in_two = |between: Tensor, attrs: [&Attr; 2], rows: [&[Choose<CpuTarget>]; 2]| {
        let step = |src: &Tensor, dst: &Tensor, i: usize| {
            let problem = Problem::new(Reorder { src: src.clone(), dst: dst.clone() }, attrs[i].clone()).ok()?;
            time::fastest(rows[i], &problem, target)
        };
        Some([step(&op.src, &between, 0)?, step(&between, &op.dst, 1)?])
    };
    let nothing = Attr::default();
    // What the destination held before is in its own layout.
    let merged = parted(op, jit.width().lanes()).filter(|_| !problem.attr.reads_dst()).and_then(|layout| {
        let between = Tensor { dtype: op.dst.dtype, layout };
        in_two(between, [&problem.attr, &nothing], [MOVES, MOVES])
    });
    let looked_up = jit.vbmi && [&op.src, &op.dst].iter().all(|t| t.dtype.bits() == 8);
    let steps = match merged {
        Some(steps) => steps,
        None if check_copy(op, &problem.attr).is_ok() || run(&op.dst, &op.src) >= MIN_RUN && !looked_up => {
            return Err(none());
        }
        // A sum post-op needs the old destination, and fewer bytes should be moved.
        None if problem.attr.reads_dst() || op.src.dtype.bits() < op.dst.dtype.bits() => {
            let between = Tensor { dtype: op.src.dtype, layout: op.dst.layout.resized(*op.dst.dims()) };
            in_two(between, [&nothing, &problem.attr], [MOVES, &[generated]]).ok_or_else(none)?
        }
        None => {
            let between = Tensor { dtype: op.dst.dtype, layout: op.src.layout.resized(*op.src.dims()) };
            in_two(between, [&problem.attr, &nothing], [&[generated], MOVES]).ok_or_else(none)?
        }
    };
    let what = "in two steps, the second from a copy in another layout or type";
    let [first, second] = steps;
    let seconds = first.seconds().zip(second.seconds()).map(|(a, b)| BOTH * (a + b) + BETWEEN);
    staged::with_copy(problem, first, Copied { what, arg: Arg::DST, apart: true, reorders: [None, Some(second)], seconds }, target)
}

/// The destination's layout with all blocks of a dimension merged, if it interleaves rows of which the source has too few contiguous
/// elements for vectors.
fn parted(op: &Reorder, lanes: usize) -> Option<Layout> {
    let (dst, src) = (op.dst.blocking()?, op.src.blocking()?);
    let (last, rows) = dst.inner.iter().next_back()?;
    let blocks = dst.inner.iter().filter(|b| b.0 == last).count();
    if blocks < 2 || !ROWS.contains(&rows) || is_sparse(&op.dst) || fills(op, [dst, src], lanes) {
        return None;
    }
    let mut inner = Blocks::default();
    for (d, _) in dst.inner.iter() {
        if inner.iter().all(|b| b.0 != d) {
            inner.push(d, dst.inner.of(d));
        }
    }
    Some(Layout { dims: *op.dst.dims(), format: Blocking { inner, compensation: None, ..dst.clone() }.into() })
}

/// Whether the source's contiguous elements fill whole vectors of `lanes` positions, in loops whose sizes are even up to there.
fn fills(op: &Reorder, tensors: [&Blocking; 2], lanes: usize) -> bool {
    let Some(mut all) = loops(op.dst.dims(), tensors) else { return false };
    all.sort_by_key(|l| l.steps[1]);
    let mut neighbours = 1;
    for l in all {
        if l.steps[1] != neighbours || neighbours >= lanes {
            break;
        }
        neighbours *= l.size;
        if !neighbours.is_power_of_two() && !neighbours.is_multiple_of(lanes) {
            return false;
        }
    }
    neighbours >= lanes
}

//! `unit_stride:jit`: 1x1 windows with strides over NCHW tensors. The pixels that are read are gathered first; a row for unit strides does
//! the rest.
//!
//! With strides of 2, three of four pixels are not read, while a row that transposes its source or reads it in place would fetch and
//! transpose them all. The gathered pixels stay in the caches for the row that takes them.

use super::{columns, of_all, tiles};
use crate::CpuTarget;
use crate::ops::staged::{self, Copied};
use crate::ops::support;
use oxidnn_runtime::{Plan, Skip};
use oxidnn_spec::{Arg, Attr, DataType, Dims, MAX_NDIMS, Op, Problem, Prop, Tensor};

#[cfg(test)]
mod tests;

/// Most bytes to gather: all images are gathered at once.
const MAX_GATHERED_BYTES: usize = 8 << 20;

/// Fewest pixels of a gathered line for a row that reads it in place; with shorter lines transposing is as fast.
const MIN_LINE_PIXELS: i64 = 5;

/// Plans `problem` if it is a forward convolution with such windows.
///
/// # Errors
/// Problems that the row does not take.
pub(crate) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let (dense, met) = dense(problem)?;
    let inner =
        columns::plan(&dense, target).or_else(|_| tiles::plan(&dense, target)).or_else(|_| of_all(&dense, target, &[tiles::plan]))?;
    let mut problem = problem.clone();
    support::adopt(&mut problem, inner.problem(), &[Arg::SRC]);
    let tensor = inner.problem().op.tensor(Arg::SRC).ok_or(Skip::Op("without a source"))?;
    let gathered = staged::copy(&met, tensor, (Arg::SRC, &Attr::default()), target).ok_or(Skip::Op("pixels that no row gathers"))?;
    let reorders = [Some(gathered), None];
    let what = "pixels that are met, gathered";
    staged::with_copy(problem, inner, Copied { what, arg: Arg::SRC, apart: true, reorders, seconds: None }, target)
}

/// The problem over the pixels that are read, as a strided view of the source, if 1x1 windows skip some. Where pixels are closest and whole
/// lines are wanted, those of a line are not skipped: they are read in vectors.
pub(super) fn met(problem: &Problem, whole_lines: bool) -> Option<Problem> {
    let mut met = problem.clone();
    let Op::Conv(op) = &mut met.op else { return None };
    let (s, n) = (op.sizes(), op.src.dims().len());
    let skips = s.k == [1; 3] && s.pl == [0; 3] && s.s != [1; 3];
    let inside = (0..3).all(|i| (s.o[i] - 1) * s.s[i] < s.i[i]);
    let known = !op.src.dims().has_runtime() && !op.src.is_empty();
    let apart = op.src.blocking().is_some_and(|b| b.inner.iter().all(|(d, _)| d < 2));
    if op.prop == Prop::BackwardData || op.depthwise_dst.is_some() || !(skips && inside && known && apart) {
        return None;
    }
    let whole = whole_lines && op.src.blocking().is_some_and(|b| b.strides[n - 1] == 1);
    let kept = n - usize::from(whole);
    let dims = Dims::from_fn(n, |d| if d < 2 || d >= kept { op.src.dims()[d] } else { s.o[d + 3 - n] });
    op.src.layout = op.src.layout.submemory(&dims, &[0; MAX_NDIMS][..n]).ok()?;
    let b = op.src.layout.blocking_mut()?;
    for d in 2..kept {
        b.strides[d] = b.strides[d].checked_mul(s.s[d + 3 - n])?;
        (op.window.strides[d - 2], op.window.padding_r[d - 2]) = (1, 0);
    }
    Some(met)
}

/// The problem over a dense copy of the pixels that are read, and their strided view.
fn dense(problem: &Problem) -> Result<(Problem, Tensor), Skip> {
    let none = Skip::Shape("other than windows of one pixel that skip pixels");
    let (Op::Conv(all), Some(mut dense)) = (&problem.op, met(problem, false)) else { return Err(none) };
    let Op::Conv(op) = &mut dense.op else { return Err(none) };
    if !matches!(op.prop, Prop::ForwardTraining | Prop::ForwardInference) {
        return Err(none);
    }
    if op.src.dtype != DataType::F32 || problem.operands().len() + 2 > support::OPERANDS {
        return Err(Skip::DataType("other than f32 with pixels last".into()));
    }
    let (dims, n) = (*op.src.dims(), op.src.dims().len());
    let closest = |t: &Tensor| t.blocking().is_some_and(|b| b.is_plain() && b.strides[n - 1] == 1 && dims[1] > 1);
    if !closest(&all.src) {
        return Err(Skip::Layout("of the source: pixels are not closest".into()));
    }
    let plain = Tensor::with_tag(dims, DataType::F32, "abx").map_err(|e| Skip::Layout(e.to_string()))?;
    let met = std::mem::replace(&mut op.src, plain);
    if op.src.bytes() > MAX_GATHERED_BYTES || dims[n - 1] < MIN_LINE_PIXELS {
        return Err(Skip::Shape("many images, or short lines"));
    }
    Ok((dense, met))
}

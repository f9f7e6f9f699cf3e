//! Rounds: an operation over some images at a time, so that copies and intermediate results stay in the caches.

use crate::CpuTarget;
use oxidnn_runtime::queue::Immediate;
use oxidnn_runtime::{Buf, Ctx};
use oxidnn_spec::{Attr, Error, MAX_NDIMS, PostOp, Tensor};
use std::sync::OnceLock;

/// Whether an operand of a post-op varies along a dimension for which `which` is true.
pub(super) fn differs(attr: &Attr, which: impl Fn(usize) -> bool) -> bool {
    let tensor = |t: &Tensor| t.dims().iter().enumerate().any(|(d, n)| *n != 1 && which(d));
    attr.post_ops.iter().any(|p| match p {
        PostOp::Binary { src1, src2, .. } => tensor(src1) || src2.as_ref().is_some_and(tensor),
        PostOp::Prelu { mask } => (0..MAX_NDIMS).any(|d| mask >> d & 1 == 1 && which(d)),
        _ => false,
    })
}

/// The largest divisor of `n` that is at most `most`; at least 1.
pub(super) fn divisor(n: usize, most: usize) -> usize {
    (1..=most.clamp(1, n.max(1))).rev().find(|d| n.is_multiple_of(*d)).unwrap_or(1)
}

/// The stride of a dimension in bytes.
pub(super) fn bytes(tensor: &Tensor, dim: usize) -> usize {
    tensor.blocking().map_or(0, |b| b.strides[dim] as usize * tensor.dtype.bits() / 8)
}

/// Whether no block of the layout spans a dimension, so that its indices have one stride.
pub(super) fn is_apart(tensor: &Tensor, dim: usize) -> bool {
    tensor.dtype.bits() >= 8 && tensor.blocking().is_some_and(|b| b.inner.of(dim) <= 1)
}

/// The first images and rows of a tensor, as a strided view; `None` for other layouts.
pub(super) fn part(tensor: &Tensor, images: i64, rows: i64) -> Option<Tensor> {
    let mut part = tensor.clone();
    for (dim, size) in [(0, images), (2, rows)].into_iter().filter(|(dim, _)| *dim < tensor.dims().len()) {
        let whole = part.layout.dims[dim] == size;
        part.layout.dims[dim] = size;
        if !whole {
            part.layout.blocking_mut()?.padded_dims[dim] = size;
        }
    }
    Some(part)
}

/// Bytes of a line of memory, which bands do not share.
const LINE: usize = 64;

/// The rows of a band: as many as leave their part of `bytes` in L2; `None` if the caches keep the tensors, or if their images or rows share lines of
/// memory.
pub(super) fn rows_of_band(tensors: &[&Tensor], bytes: usize, target: &CpuTarget) -> Option<i64> {
    let dims = tensors.first()?.dims();
    let all = tensors.iter().fold(0usize, |sum, t| sum.saturating_add(t.bytes()));
    let is_whole = |t: &Tensor, d: usize| t.dims()[d] == dims[d] && t.blocking().is_some_and(|b| b.padded_dims[d] == dims[d]);
    let has_lines = |t: &Tensor, d: usize| dims[d] == 1 || self::bytes(t, d) >= LINE;
    let is_cut = |t: &&Tensor| [0, 2].iter().all(|d| is_apart(t, *d) && is_whole(t, *d) && has_lines(t, *d));
    if dims.len() < 4 || target.is_near(all) || !tensors.iter().all(is_cut) {
        return None;
    }
    let row = bytes / (dims[0] * dims[2]).max(1) as usize;
    Some(divisor(dims[2] as usize, target.caches.l2 / 2 / row.max(1)) as i64)
}

/// The buffer from a byte on; empty beyond its end.
pub(super) fn behind(buf: Buf<'_>, at: usize) -> Buf<'_> {
    buf.part(at, buf.len().saturating_sub(at))
}

/// Calls `round` for each of `count` rounds, with the worker's number: of `workers` workers that take rounds of their own; in order, by all workers
/// together, if there are none.
pub(super) fn each(
    ctx: &Ctx<'_>,
    workers: usize,
    count: usize,
    round: &(dyn Fn(&Ctx<'_>, usize, usize) -> Result<(), Error> + Sync),
) -> Result<(), Error> {
    if workers == 0 {
        return (0..count).try_for_each(|i| round(ctx, 0, i));
    }
    let failure = OnceLock::new();
    ctx.executor().run(workers.min(ctx.executor().threads().max(1)), count, &|worker, i| {
        if let Err(e) = round(&Ctx { queue: Immediate::inline(), ..*ctx }, worker, i) {
            let _ = failure.set(e);
        }
    });
    failure.into_inner().map_or(Ok(()), Err)
}

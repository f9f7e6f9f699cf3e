//! `align:generic`: copies of rows that are not aligned (`kernels/align.cu`): of the caller's tensors, and to aligned rows for kernels that read by the tensor copy
//! engine.

use super::map::collapsed;
use super::transpose::{bases, unit};
use crate::CudaTarget;
use crate::emit::{Emitter, Real};
use crate::ops::ceil;
use crate::program::{OVERFLOW, Program, Word};
use oxidnn_runtime::Skip;
use oxidnn_spec::{Arg, Attr, Blocking, Op, Problem, Tensor};

/// Units of 16 bytes that a CTA copies at a time; half as many of rows of the caller's.
const STEP: i64 = 1024;

/// Bytes of a row of the caller's, at least: shorter ones are mostly edges.
const LEAST: i64 = 256;

/// Reorders that only move rows.
pub(crate) fn reorder(problem: &Problem, _: &CudaTarget) -> Result<Program, Skip> {
    let Op::Reorder(whole) = &problem.op else { return Err(Skip::Op("anything but reorders")) };
    let compensated = whole.dst.blocking().is_some_and(|b| b.compensation.is_some());
    if problem.attr != (Attr { scratchpad: problem.attr.scratchpad, ..Attr::default() }) || compensated {
        return Err(Skip::Attr("that change numbers".into()));
    }
    rows(&whole.src, &whole.dst, true)
}

/// The launch that copies `src` to `dst`: in scratch, with spaced rows, or `exact`, the caller's.
pub(super) fn rows(src: &Tensor, dst: &Tensor, exact: bool) -> Result<Program, Skip> {
    let word = unit(src.dtype)?;
    let flat = collapsed(&dst.layout, &[&src.layout, &dst.layout]).ok_or_else(|| Skip::Layout("without common loops".into()))?;
    let ([Some(from), Some(to)], dims) = ([0, 1].map(|i| flat[i].blocking()), &flat[1].dims) else {
        return Err(Skip::Layout("without strides".into()));
    };
    let Some(row) = dims.len().checked_sub(1).filter(|&d| from.strides[d] == 1 && to.strides[d] == 1 && src.dtype == dst.dtype) else {
        return Err(Skip::Layout("that does not stay contiguous along its loop".into()));
    };
    let per_unit = 128 / src.dtype.bits() as i64;
    let whole = |b: &Blocking| b.offset % per_unit == 0 && b.strides[..row].iter().all(|s| s % per_unit == 0);
    let is_aligned = whole(from) && dims[row] % per_unit == 0;
    if is_aligned && (!exact || whole(to))
        || !exact && !whole(to)
        || exact && dims[row] < LEAST / (16 / per_unit)
        || dims[row] > i64::from(i32::MAX) / 2
    {
        return Err(Skip::Layout("that is aligned already, or not in the copy, or has short or very long rows".into()));
    }
    let per_row = ceil(dims[row] + if exact { per_unit - 1 } else { 0 }, per_unit);
    let units = dims[..row].iter().try_fold(per_row, |n, &d| n.checked_mul(d)).ok_or(OVERFLOW)?;
    let end = from.offset + dims.iter().zip(from.strides.iter()).map(|(size, stride)| (size - 1) * stride).sum::<i64>() + 1;
    let mut emit = Emitter::new(Real::Single, units.saturating_mul(per_unit));
    emit.define("UNIT", word);
    emit.define("EXACT", i32::from(exact));
    emit.number("length", dims[row]);
    emit.word("void* src_data", Word::Address { arg: Arg::SRC, buffer: 0 });
    emit.word("void* dst_data", Word::Address { arg: Arg::DST, buffer: 0 });
    for (name, value) in [("units", units), ("src_end", end), ("src_origin", from.offset), ("dst_origin", to.offset)] {
        emit.number(name, value);
    }
    emit.sizes("per_row", &[per_row]);
    bases(&mut emit, &dims[..row], [&from.strides[..row], &to.strides[..row]]);
    let blocks = ceil(units, if exact { STEP / 2 } else { STEP }).clamp(1, 1 << 20) as u32;
    Ok(Program { launches: vec![emit.launch_blocks("align", [blocks, 1, 1])], ..Program::default() })
}

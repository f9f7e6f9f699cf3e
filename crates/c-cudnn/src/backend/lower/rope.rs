//! Rotary position embedding: rotates pairs of elements that are half of the rotated width apart.

use super::value::Val;
use super::{Lowering, misfit};
use crate::backend::object::Frozen;
use crate::enums::*;
use crate::status::Failure;

/// The attributes of one of the two passes.
struct Names {
    from: i32,
    to: i32,
    angles: i32,
    scale: i32,
    width: i32,
}

pub(super) fn forward(l: &mut Lowering<'_>, op: &Frozen) -> Result<(), Failure> {
    let names = Names {
        from: CUDNN_ATTR_OPERATION_ROPE_FWD_XDESC,
        to: CUDNN_ATTR_OPERATION_ROPE_FWD_YDESC,
        angles: CUDNN_ATTR_OPERATION_ROPE_FWD_FREQSDESC,
        scale: CUDNN_ATTR_OPERATION_ROPE_FWD_OUTPUT_SCALE,
        width: CUDNN_ATTR_OPERATION_ROPE_FWD_ROPE_DIM,
    };
    turn(l, op, &names, false)
}

pub(super) fn backward(l: &mut Lowering<'_>, op: &Frozen) -> Result<(), Failure> {
    let names = Names {
        from: CUDNN_ATTR_OPERATION_ROPE_BWD_DYDESC,
        to: CUDNN_ATTR_OPERATION_ROPE_BWD_DXDESC,
        angles: CUDNN_ATTR_OPERATION_ROPE_BWD_FREQSDESC,
        scale: CUDNN_ATTR_OPERATION_ROPE_BWD_OUTPUT_SCALE,
        width: CUDNN_ATTR_OPERATION_ROPE_BWD_ROPE_DIM,
    };
    turn(l, op, &names, true)
}

/// `y1 = x1 cos(f1) - x2 sin(f1)`, `y2 = x2 cos(f2) + x1 sin(f2)`, or its transpose for the gradient; all times the scale.
fn turn(l: &mut Lowering<'_>, op: &Frozen, names: &Names, transposed: bool) -> Result<(), Failure> {
    let (x, y, angles) = (l.read(op, names.from)?, l.output(op, names.to)?, l.read(op, names.angles)?);
    let n = x.rank();
    if n != 4 || angles.rank() != 4 || x.dims() != y.dims() {
        return Err(misfit("ROPE", x.dims(), "a tensor B x H x S x D, one of equal sizes, and angles S x 1 x 1 x D"));
    }
    let size = x.dims()[3];
    let width = op.int(names.width).filter(|&w| w > 0).unwrap_or(size);
    let angles = angles.permuted(&[1, 2, 0, 3])?;
    if width % 2 != 0 || width > size || angles.dims()[3] < width || angles.dims()[2] < x.dims()[2] {
        return Err(misfit("ROPE_DIM", width, format_args!("an even number of at most {size}, with as many angles")));
    }
    let scale = op.real(names.scale).unwrap_or(1.0);
    let half = width / 2;
    let passed = size - width;
    if passed > 0 {
        let kept = l.scaled(&x.along(3, 0, passed)?, scale)?;
        l.reorder(&kept, &y.along(3, 0, passed)?)?;
    }
    let angles = angles.along(2, 0, x.dims()[2])?;
    let from = angles.dims()[3] - width;
    let mut sines = Vec::with_capacity(2);
    for i in 0..2 {
        let part: Val = angles.along(3, from + i * half, half)?;
        let (sin, cos) = l.circle(&part)?;
        sines.push((l.scaled(&sin, scale)?, l.scaled(&cos, scale)?));
    }
    let (x1, x2) = (x.along(3, passed, half)?, x.along(3, passed + half, half)?);
    let straight = l.mul(&x1, &sines[0].1)?;
    let across = l.mul(&x2, &sines[usize::from(transposed)].0)?;
    let first = if transposed { l.add(&straight, &across)? } else { l.sub(&straight, &across)? };
    l.reorder(&first, &y.along(3, passed, half)?)?;
    let straight = l.mul(&x2, &sines[1].1)?;
    let across = l.mul(&x1, &sines[usize::from(!transposed)].0)?;
    let second = if transposed { l.sub(&straight, &across)? } else { l.add(&straight, &across)? };
    l.reorder(&second, &y.along(3, passed + half, half)?)
}

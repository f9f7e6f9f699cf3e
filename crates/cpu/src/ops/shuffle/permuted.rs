//! Shuffles whose elements are contiguous along the axis, at least within blocks of it: the axis as loops in both orders.

use crate::ops::reorder::lanes::{Lanes, Loop, Moved};
use crate::ops::reorder::loops::step;
use oxidnn_jit::Isa;
use oxidnn_jit::ir::Elem;
use oxidnn_jit::kernels::transpose::UNCHANGED;
use oxidnn_runtime::Skip;
use oxidnn_spec::{Arg, Blocking, Tensor};

/// The kernel for a destination and its source, whose axis is `rows` rows that become columns.
///
/// # Errors
/// [`Skip`] for layouts whose blocks end within rows, sizes that fill few lanes, and types other than words of 8, 16 or 32 bits.
pub(super) fn kernel(args: [Arg; 2], tensors: [&Tensor; 2], axis: usize, rows: i64, jit: Isa) -> Result<Lanes, Skip> {
    let [dst, src] = tensors;
    let elem = match dst.dtype.bits() {
        8 => Elem::Low8,
        16 => Elem::Low16,
        32 => Elem::F32,
        _ => return Err(Skip::DataType(format!("{}, not of 8, 16 or 32 bits", dst.dtype))),
    };
    let other = || Skip::Layout("of src or dst: padding, or blocks that end within rows".into());
    let known = tensors.iter().all(|t| !t.layout.has_runtime() && !t.is_empty()) && src.dtype == dst.dtype && rows > 0;
    let whole = |t: &'_ &Tensor| t.blocking().filter(|b| b.padded_dims == *t.dims()).cloned();
    let [Some(to), Some(from)] = [whole(&dst), whole(&src)] else { return Err(other()) };
    let dims = *dst.dims();
    if !known || dims[axis] % rows != 0 {
        return Err(other());
    }
    let columns = dims[axis] / rows;
    let mut loops = Vec::new();
    for d in (0..dims.len()).filter(|d| *d != axis) {
        each(&mut loops, [(&to, 1), (&from, 1)], d, dims[d]).ok_or_else(other)?;
    }
    // A step along a row of the source is a step down a column of the destination, and the other way round.
    each(&mut loops, [(&to, rows), (&from, 1)], axis, columns).ok_or_else(other)?;
    each(&mut loops, [(&to, 1), (&from, columns)], axis, rows).ok_or_else(other)?;
    let starts = [to.offset as usize, from.offset as usize];
    let kernel = Lanes::new(Moved { args, types: [elem; 2], starts, loops, ends: Vec::new(), factors: UNCHANGED, adds: None }, jit)?;
    if kernel.is_filled() { Ok(kernel) } else { Err(Skip::Shape("rows and columns that fill few lanes of a vector")) }
}

/// Adds the loops over `size` positions of dimension `d`, with a stride in positions for either tensor; `None` if blocks do not nest.
fn each(loops: &mut Vec<Loop>, tensors: [(&Blocking, i64); 2], d: usize, size: i64) -> Option<()> {
    let mut units = vec![1, size];
    for (b, distance) in tensors {
        let mut block = 1;
        for (_, n) in b.inner.iter().rev().filter(|inner| inner.0 == d) {
            block *= n;
            if block > distance && block < distance * size {
                units.push(Some(block / distance).filter(|unit| unit * distance == block)?);
            } else if block <= distance && distance % block != 0 || block >= distance * size && block % (distance * size) != 0 {
                return None;
            }
        }
    }
    units.sort_unstable();
    units.dedup();
    if units.windows(2).any(|w| w[1] % w[0] != 0) {
        return None;
    }
    for w in units.windows(2) {
        let mut l = Loop { size: (w[1] / w[0]) as usize, steps: Default::default() };
        for (step_of, (b, distance)) in l.steps.iter_mut().zip(tensors) {
            *step_of = step(b, d, w[0] * distance) as usize;
        }
        loops.push(l);
    }
    Some(())
}

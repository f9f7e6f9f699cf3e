//! Weighted sum of tensors. May run in place over any source: a row is summed in scratch before it is written.

#[cfg(test)]
mod tests;

use crate::region::lease;
use crate::{Args, Epilogue, View, for_each_position};
use oxidnn_spec::op::Sum;
use oxidnn_spec::{Arg, Attr, Dims, Error};

/// A row of the last dimension.
pub(crate) fn scratch_len(op: &Sum) -> usize {
    op.dst.dims().last().map_or(0, |&d| usize::try_from(d).unwrap_or(0))
}

pub(crate) fn run<'a>(op: &Sum, attr: &'a Attr, args: &'a dyn Args, scratch: &mut [f64]) -> Result<(), Error> {
    let tail = Epilogue::new(attr, args, Arg::DST)?;
    let dims = tail.dst().dims();
    for i in 0..op.srcs.len() {
        View::of(args, Arg::multiple_src(i))?;
    }
    let Some(last) = dims.len().checked_sub(1) else { return Ok(()) };
    let row = lease(scratch, dims[last])?;
    let mut rows = *dims;
    rows[last] = rows[last].min(1);
    for_each_position(&rows, |first| {
        let mut pos = Dims::from_fn(first.len(), |d| first[d]);
        row.fill(0.0);
        for (i, scale) in op.scales.iter().enumerate() {
            let Ok(src) = View::of(args, Arg::multiple_src(i)) else { continue };
            for (k, acc) in row.iter_mut().enumerate() {
                pos[last] = k as i64;
                *acc += f64::from(scale.get()) * src.get(&pos);
            }
        }
        for (k, &acc) in row.iter().enumerate() {
            pos[last] = k as i64;
            tail.finish(&pos, acc);
        }
    });
    tail.dst().zero_padding();
    Ok(())
}

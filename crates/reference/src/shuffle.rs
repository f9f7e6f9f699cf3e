//! Channel shuffle: the axis seen as `group_size x D / group_size` and transposed; backward is the inverse.

#[cfg(test)]
mod tests;

use crate::copy::Copy;
use crate::{Args, Epilogue, View, for_each_position};
use oxidnn_spec::op::Shuffle;
use oxidnn_spec::{Arg, Attr, Dims, Error};

pub(crate) fn run<'a>(op: &Shuffle, attr: &'a Attr, args: &'a dyn Args) -> Result<(), Error> {
    let (from, to) = if op.prop.is_forward() { (Arg::SRC, Arg::DST) } else { (Arg::DIFF_DST, Arg::DIFF_SRC) };
    let (src, tail) = (View::of(args, from)?, Epilogue::new(attr, args, to)?);
    let dst = tail.dst();
    let columns = src.dims()[op.axis] / op.group_size;
    let copy = Copy::new(src, tail, attr);
    for_each_position(src.dims(), |pos| {
        let i = pos[op.axis];
        let (rows, columns) = if op.prop.is_forward() { (op.group_size, columns) } else { (columns, op.group_size) };
        let mut target = Dims::from_fn(pos.len(), |d| pos[d]);
        target[op.axis] = i % columns * rows + i / columns;
        copy.element(pos, &target, |v| v);
    });
    dst.zero_padding();
    Ok(())
}

//! Channel shuffle: the axis seen as `D / group_size x group_size` and transposed; backward is the inverse.

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
    let groups = src.dims()[op.axis] / op.group_size;
    let (rows, columns) = if op.prop.is_forward() { (groups, op.group_size) } else { (op.group_size, groups) };
    let copy = Copy::new(src, tail, attr);
    for_each_position(src.dims(), |pos| {
        let i = pos[op.axis];
        let mut target = Dims::from_fn(pos.len(), |d| pos[d]);
        target[op.axis] = i % columns * rows + i / columns;
        copy.element(pos, &target, |v| v);
    });
    dst.zero_padding();
    Ok(())
}

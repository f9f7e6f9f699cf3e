//! Concatenation along an axis, each source with its scale.

#[cfg(test)]
mod tests;

use crate::copy::Copy;
use crate::{Args, Epilogue, Factor, View, for_each_position};
use oxidnn_spec::op::Concat;
use oxidnn_spec::{Arg, Attr, Dims, Error};

pub(crate) fn run<'a>(op: &Concat, attr: &'a Attr, args: &'a dyn Args) -> Result<(), Error> {
    let mut start = 0;
    for i in 0..op.srcs.len() {
        let src = View::of(args, Arg::multiple_src(i))?;
        let scale = Factor::scale(attr, args, Arg::multiple_src(i), src.dims())?;
        let copy = Copy::new(src, Epilogue::new(attr, args, Arg::DST)?, attr);
        for_each_position(src.dims(), |pos| {
            let mut target = Dims::from_fn(pos.len(), |d| pos[d]);
            target[op.axis] += start;
            copy.element(pos, &target, |v| v * scale.at(pos));
        });
        start += src.dims()[op.axis];
    }
    View::of(args, Arg::DST)?.zero_padding();
    Ok(())
}

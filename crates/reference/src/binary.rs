//! Element-wise functions of two operands (and of three: select), each broadcast where it has size 1. May run in place.

#[cfg(test)]
mod tests;

use crate::{Args, Epilogue, Factor, View, for_each_position};
use oxidnn_expr::binary;
use oxidnn_spec::op::Binary;
use oxidnn_spec::{Arg, Attr, Error};

pub(crate) fn run<'a>(op: &Binary, attr: &'a Attr, args: &'a dyn Args) -> Result<(), Error> {
    let (src0, src1) = (View::of(args, Arg::SRC)?, View::of(args, Arg::SRC_1)?);
    let src2 = if op.src2.is_some() { Some(View::of(args, Arg::SRC_2)?) } else { None };
    let scale0 = Factor::scale(attr, args, Arg::SRC, src0.dims())?;
    let scale1 = Factor::scale(attr, args, Arg::SRC_1, src1.dims())?;
    let tail = Epilogue::new(attr, args, Arg::DST)?;
    for_each_position(tail.dst().dims(), |pos| {
        let a = src0.get(pos) * scale0.at(pos);
        let b = src1.get(pos) * scale1.at(pos);
        let condition = src2.map_or(0.0, |s| s.get(pos));
        tail.finish(pos, binary::apply(op.alg, a, b, condition));
    });
    tail.dst().zero_padding();
    Ok(())
}

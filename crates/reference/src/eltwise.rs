//! Element-wise functions of one operand, forward and backward. May run in place.

#[cfg(test)]
mod tests;

use crate::{Args, Epilogue, View, for_each_position};
use oxidnn_expr::eltwise;
use oxidnn_spec::op::Eltwise;
use oxidnn_spec::{Arg, Attr, Error};

pub(crate) fn run<'a>(op: &Eltwise, attr: &'a Attr, args: &'a dyn Args) -> Result<(), Error> {
    let (alpha, beta) = (op.alpha.get(), op.beta.get());
    let tail = if op.prop.is_forward() {
        let src = View::of(args, Arg::SRC)?;
        let tail = Epilogue::new(attr, args, Arg::DST)?;
        for_each_position(src.dims(), |pos| tail.finish(pos, eltwise::forward(op.alg, alpha, beta, src.get(pos))));
        tail
    } else {
        let data = View::of(args, if op.alg.uses_dst() { Arg::DST } else { Arg::SRC })?;
        let diff_dst = View::of(args, Arg::DIFF_DST)?;
        let tail = Epilogue::new(attr, args, Arg::DIFF_SRC)?;
        for_each_position(data.dims(), |pos| {
            tail.finish(pos, eltwise::backward(op.alg, alpha, beta, diff_dst.get(pos), data.get(pos)));
        });
        tail
    };
    tail.dst().zero_padding();
    Ok(())
}

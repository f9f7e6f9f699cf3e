//! Parametric ReLU with broadcast weights, forward and backward. May run in place.

#[cfg(test)]
mod tests;

use crate::region::Region;
use crate::{Args, Epilogue, View, for_each_position};
use oxidnn_expr::binary::prelu;
use oxidnn_spec::op::Prelu;
use oxidnn_spec::{Arg, Attr, Dims, Error};

pub(crate) fn run<'a>(op: &Prelu, attr: &'a Attr, args: &'a dyn Args) -> Result<(), Error> {
    let (src, weights) = (View::of(args, Arg::SRC)?, View::of(args, Arg::WEIGHTS)?);
    if op.prop.is_forward() {
        let tail = Epilogue::new(attr, args, Arg::DST)?;
        for_each_position(src.dims(), |pos| tail.finish(pos, prelu(src.get(pos), weights.get(pos))));
        tail.dst().zero_padding();
        return Ok(());
    }
    let diff_dst = View::of(args, Arg::DIFF_DST)?;
    let diff_weights = Epilogue::new(attr, args, Arg::DIFF_WEIGHTS)?;
    let diff_src = Epilogue::new(attr, args, Arg::DIFF_SRC)?;
    // The weights' gradient goes first: `diff_src` may lie over `src` or `diff_dst`.
    for_each_position(weights.dims(), |w| diff_weights.finish(w, gradient_of_weight(&src, &diff_dst, weights.dims(), w)));
    for_each_position(src.dims(), |pos| {
        let dd = diff_dst.get(pos);
        diff_src.finish(pos, if src.get(pos) > 0.0 { dd } else { dd * weights.get(pos) });
    });
    diff_weights.dst().zero_padding();
    diff_src.dst().zero_padding();
    Ok(())
}

/// The sum of `diff_dst * src` over the elements that the weight at `w` multiplies.
fn gradient_of_weight(src: &View<'_>, diff_dst: &View<'_>, dims: &Dims, w: &[i64]) -> f64 {
    let fixed = (0..w.len()).filter(|&d| dims[d] != 1);
    let region = fixed.fold(Region::all(src.dims()), |r, d| r.along(d, w[d], 1));
    region.sum(|pos| diff_dst.get(pos) * src.get(pos).min(0.0))
}

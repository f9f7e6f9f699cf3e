//! Reduction over every dimension that the destination has as 1.

#[cfg(test)]
mod tests;

use crate::region::Region;
use crate::{Args, Epilogue, View, for_each_position};
use oxidnn_spec::op::{Reduction, ReductionAlg};
use oxidnn_spec::{Arg, Attr, Error};

pub(crate) fn run<'a>(op: &Reduction, attr: &'a Attr, args: &'a dyn Args) -> Result<(), Error> {
    let src = View::of(args, Arg::SRC)?;
    let tail = Epilogue::new(attr, args, Arg::DST)?;
    if src.is_empty() {
        return Ok(());
    }
    let dims = tail.dst().dims();
    for_each_position(dims, |pos| {
        let kept_dims = (0..dims.len()).filter(|&d| dims[d] != 1);
        let region = kept_dims.fold(Region::all(src.dims()), |r, d| r.along(d, pos[d], 1));
        tail.finish(pos, reduce(op, &src, &region));
    });
    tail.dst().zero_padding();
    Ok(())
}

fn reduce(op: &Reduction, src: &View<'_>, region: &Region) -> f64 {
    use ReductionAlg::*;
    let (p, eps) = (f64::from(op.p.get()), f64::from(op.eps.get()));
    let mut acc = match op.alg {
        Max => f64::NEG_INFINITY,
        Min => f64::INFINITY,
        Mul => 1.0,
        Sum | Mean | NormLpMax | NormLpSum | NormLpPowerPMax | NormLpPowerPSum => 0.0,
    };
    region.for_each(|pos| {
        let x = src.get(pos);
        acc = match op.alg {
            Max => acc.max(x),
            Min => acc.min(x),
            Mul => acc * x,
            Sum | Mean => acc + x,
            NormLpMax | NormLpSum | NormLpPowerPMax | NormLpPowerPSum => acc + x.abs().powf(p),
        };
    });
    match op.alg {
        Max | Min | Mul | Sum => acc,
        Mean => acc / region.count() as f64,
        NormLpMax => at_least(acc, eps).powf(1.0 / p),
        NormLpSum => (acc + eps).powf(1.0 / p),
        NormLpPowerPMax => at_least(acc, eps),
        NormLpPowerPSum => acc + eps,
    }
}

/// The larger of the two; NaN where the sum is.
fn at_least(sum: f64, eps: f64) -> f64 {
    if sum < eps { eps } else { sum }
}

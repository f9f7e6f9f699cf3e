//! Resampling (interpolation).

use super::{Prop, operands};
use crate::{Arg, Dims, Real, Tensor};

/// How values between elements are made.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ResamplingAlg {
    /// The nearest element.
    Nearest,
    /// Linear along each spatial dimension.
    Linear,
}

/// Resampling with half-pixel centres of 1 to 3 spatial dimensions. With [`Prop::BackwardData`] `src` and `dst` are the gradients.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Resampling {
    /// Forward kinds or [`Prop::BackwardData`].
    pub prop: Prop,
    /// Algorithm.
    pub alg: ResamplingAlg,
    /// Source (gradient), N x C x spatial.
    pub src: Tensor,
    /// Destination (gradient).
    pub dst: Tensor,
    /// Ratio of destination to source sizes, one a spatial dimension.
    pub factors: Vec<Real>,
}

impl Resampling {
    /// Spatial sizes `(source, destination)`, three with leading ones.
    pub fn spatial(&self) -> ([i64; 3], [i64; 3]) {
        let three = |d: &Dims| {
            let mut out = [1; 3];
            out[5 - d.len()..].copy_from_slice(&d[2..]);
            out
        };
        (three(self.src.dims()), three(self.dst.dims()))
    }
}

operands!(Resampling { prop, src, dst }, o => {
    if prop.is_forward() {
        o.input(Arg::SRC, src);
        o.output(Arg::DST, dst);
    } else {
        o.input(Arg::DIFF_DST, dst);
        o.output(Arg::DIFF_SRC, src);
    }
});

//! Deconvolution (transposed convolution), forward and both backward passes.

#[cfg(test)]
mod tests;

use crate::window::Pass;
use crate::{Args, conv};
use oxidnn_spec::op::Deconv;
use oxidnn_spec::{Attr, Error, Prop};

/// Computes a deconvolution; needs `dot::SCRATCH`.
pub(crate) fn run<'a>(op: &Deconv, attr: &'a Attr, args: &'a dyn Args, scratch: &mut [f64]) -> Result<(), Error> {
    let pass = Pass::deconv(op.sizes());
    match op.prop {
        Prop::BackwardData => pass.run_backward_data(attr, args, scratch),
        Prop::BackwardWeights => pass.run_backward_weights(attr, args, scratch),
        _ => conv::forward(&pass, attr, args, scratch),
    }
}

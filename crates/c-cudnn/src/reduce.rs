//! Reductions of tensors.

use crate::exec::{Blend, Job};
use crate::handle::Handle;
use crate::pointers::Data;
use crate::status::Failure;
use oxidnn_spec::op::{Reduction, ReductionAlg};
use oxidnn_spec::{Arg, Real, Tensor};

/// `to = blend(sums of from over the dimensions in which `to` has 1 element, to)`.
///
/// # Errors
/// Where sizes do not fit.
pub(crate) fn sum_to(handle: &Handle, from: (&Tensor, Data), to: (&Tensor, Data), blend: Blend) -> Result<(), Failure> {
    if from.0.dims() == to.0.dims() {
        return handle.combine((from.0, from.1.into()), (to.0, to.1.into()), blend);
    }
    let zero = Real::new(0.0);
    let op = Reduction { alg: ReductionAlg::Sum, src: from.0.clone(), dst: to.0.clone(), p: Real::new(1.0), eps: zero };
    Job::new(op).arg(Arg::SRC, from.1).arg(Arg::DST, to.1).blend(blend).run(handle)
}

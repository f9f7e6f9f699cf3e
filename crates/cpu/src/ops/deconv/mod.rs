//! Rows of deconvolution: a convolution's gradient with respect to its source, as a forward operation. They are those of convolution.

use crate::CpuTarget;
use crate::ops::{conv, fallback, passes};
use oxidnn_runtime::{Choose, Impl, Plan, Skip};
use oxidnn_spec::Problem;

/// Best first.
pub const IMPLS: &[Impl<CpuTarget>] = &[
    Impl::new("scaled:jit", conv::scaled::plan),
    Impl::new("direct:jit", conv::direct),
    Impl::new("transposed_direct:jit", conv::transposed_direct),
    Impl::new("rounded:amx", conv::rounded).for_some_shapes(),
    Impl::new("packed:amx", conv::amx),
    Impl::new("transposed:amx", conv::transposed_amx),
    Impl::new("nchw1x1:jit", conv::nchw1x1),
    Impl::new("scattered:jit", conv::scattered).for_some_shapes(),
    Impl::new("edges:jit", conv::edges).for_some_shapes(),
    Impl::new("packed:jit", conv::packed),
    Impl::new("transposed:jit", conv::transposed),
    Impl::new("repeated:jit", conv::repeated),
    Impl::new("bwd_weights:amx", conv::bwd_weights_amx),
    Impl::new("flat:jit", conv::flat),
    Impl::new("bwd_weights:jit", conv::bwd_weights),
    Impl::new("staged:jit", staged),
    Impl::new("passes:jit", passes::generated),
    Impl::new("direct:portable", conv::direct_portable),
    Impl::new("packed:portable", conv::packed_portable),
    Impl::new("passes:portable", passes::portable),
    fallback::ROW,
];

/// The rows that [`staged`] makes copies for.
const GENERATED: &[Choose<CpuTarget>] = &[
    conv::scaled::plan,
    conv::direct,
    conv::transposed_direct,
    conv::amx,
    conv::transposed_amx,
    conv::nchw1x1,
    conv::edges,
    conv::packed,
    conv::transposed,
    conv::bwd_weights_amx,
    conv::bwd_weights,
];

fn staged(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    passes::unless_sooner(problem, target, |problem, target| conv::with_copies(problem, target, GENERATED))
}

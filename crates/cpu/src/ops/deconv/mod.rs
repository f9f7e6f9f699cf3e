//! Rows of deconvolution: a convolution's gradient with respect to its source, as a forward operation. They are those of convolution.

use crate::CpuTarget;
use crate::ops::{conv, fallback};
use oxidnn_runtime::{Choose, Impl, Plan, Skip};
use oxidnn_spec::Problem;

/// Best first.
pub const IMPLS: &[Impl<CpuTarget>] = &[
    Impl { name: "direct:jit", plan: conv::direct },
    Impl { name: "transposed_direct:jit", plan: conv::transposed_direct },
    Impl { name: "packed:amx", plan: conv::amx },
    Impl { name: "transposed:amx", plan: conv::transposed_amx },
    Impl { name: "nchw1x1:jit", plan: conv::nchw1x1 },
    Impl { name: "packed:jit", plan: conv::packed },
    Impl { name: "transposed:jit", plan: conv::transposed },
    Impl { name: "bwd_weights:jit", plan: conv::bwd_weights },
    Impl { name: "staged:jit", plan: staged },
    Impl { name: "direct:portable", plan: conv::direct_portable },
    Impl { name: "packed:portable", plan: conv::packed_portable },
    fallback::ROW,
];

/// The rows that [`staged`] makes copies for.
const GENERATED: &[Choose<CpuTarget>] = &[
    conv::direct,
    conv::transposed_direct,
    conv::amx,
    conv::transposed_amx,
    conv::nchw1x1,
    conv::packed,
    conv::transposed,
    conv::bwd_weights,
];

fn staged(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    conv::with_copies(problem, target, GENERATED)
}

//! Rows of recurrent networks.
//!
//! | file | what it is for |
//! |---|---|
//! | `forward`, `backward` | the grid: layers, in these one product of the layer's input for all steps (`layer_gemm`), then steps and directions; copies of the network's states in and out (`copy_init_*`, `copy_res_*`) |
//! | `cell_fwd`, `cell_bwd` | a cell, that is a panel of channels of one step: the product of the state (`gemm_iter`), then its gates |
//! | `postgemm` | gates and states of all kinds of cells from the sums of both products, in generated code |
//! | `skinny` | the products of a cell, of few rows |
//! | `diff_weights`, `diff_operands` | gradients of weights and biases, for all steps of a layer at once |
//! | `partition`, `persistent` | cells as tasks, and threads that go through all steps of a layer without being joined |
//! | `weights`, `states`, `sizes`, `quantised` | packed weights; states in memory; sizes; scales and shifts of integer networks |

mod backward;
mod cell_bwd;
mod cell_fwd;
mod diff_operands;
mod diff_weights;
mod forward;
mod partition;
mod persistent;
mod postgemm;
mod quantised;
mod sizes;
mod skinny;
mod states;
mod weights;

use crate::CpuTarget;
use crate::kernels::amx;
use crate::ops::fallback;
use oxidnn_runtime::{Impl, Plan, Skip};
use oxidnn_spec::op::Rnn;
use oxidnn_spec::{Op, Problem, Prop};

/// Best first.
pub const IMPLS: &[Impl<CpuTarget>] =
    &[Impl::new("packed:amx", |p, t| plan(p, t, true)), Impl::new("packed:jit", |p, t| plan(p, t, false)), fallback::ROW];

/// The network of a problem.
fn network(problem: &Problem) -> Result<&Rnn, Skip> {
    match &problem.op {
        Op::Rnn(op) => Ok(op),
        _ => Err(Skip::Op("anything but a recurrent network")),
    }
}

fn plan(problem: &Problem, target: &CpuTarget, on_amx: bool) -> Result<Box<dyn Plan>, Skip> {
    let vectors = || target.jit.map(oxidnn_jit::Isa::without_amx).ok_or(Skip::Isa("avx2, or executable memory"));
    let isa = if on_amx { amx::isa(target.jit)? } else { vectors()? };
    match network(problem)?.prop {
        Prop::Backward => backward::plan(problem, target, isa),
        _ => forward::plan(problem, target, isa),
    }
}

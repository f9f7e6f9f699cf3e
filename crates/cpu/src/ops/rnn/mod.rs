//! Rows of recurrent networks.

mod cells;
mod cut;
mod forward;
mod sizes;
mod skinny;
mod states;
mod step;
mod weights;

use crate::CpuTarget;
use crate::ops::fallback;
use oxidnn_runtime::Impl;

/// Best first.
pub const IMPLS: &[Impl<CpuTarget>] = &[Impl { name: "packed:jit", plan: forward::plan }, fallback::ROW];

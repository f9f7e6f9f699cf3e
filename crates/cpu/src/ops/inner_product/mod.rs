//! Rows of inner product.

mod jit;
mod packed;

use crate::CpuTarget;
use crate::ops::fallback;
use oxidnn_runtime::Impl;

/// Best first.
pub const IMPLS: &[Impl<CpuTarget>] =
    &[Impl { name: "packed:jit", plan: jit::plan }, Impl { name: "packed:portable", plan: packed::plan }, fallback::ROW];

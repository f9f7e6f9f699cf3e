//! Rows of binary operations.

use crate::CpuTarget;
use crate::ops::fallback;
use oxidnn_runtime::Impl;

/// Best first.
pub const IMPLS: &[Impl<CpuTarget>] = &[fallback::ROW];

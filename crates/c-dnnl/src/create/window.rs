//! Strides, dilations and paddings.

use super::spatial;
use crate::handle::Array;
use crate::status::Failure;
use oxidnn_spec::op::Window;
use oxidnn_spec::{Dims, Tensor};

/// C's parameters of a window, one value per spatial dimension.
#[derive(Clone, Copy)]
pub(super) struct Sizes<'a> {
    pub(super) strides: Array<'a, i64>,
    /// Null for a dense kernel.
    pub(super) dilations: Array<'a, i64>,
    pub(super) padding_l: Array<'a, i64>,
    /// Null if it equals the padding before.
    pub(super) padding_r: Array<'a, i64>,
}

impl Sizes<'_> {
    /// The window over `tensor`.
    pub(super) fn over(&self, tensor: &Tensor) -> Result<Window, Failure> {
        let strides = spatial(self.strides, tensor, "strides")?;
        let padding_l = spatial(self.padding_l, tensor, "padding_l")?;
        let n = strides.len();
        let dilations = if self.dilations.is_null() { Dims::filled(n, 0) } else { spatial(self.dilations, tensor, "dilates")? };
        let padding_r = if self.padding_r.is_null() { padding_l } else { spatial(self.padding_r, tensor, "padding_r")? };
        Ok(Window { strides, dilations, padding_l, padding_r })
    }
}

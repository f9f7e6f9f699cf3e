//! Pooling.

use super::{Prop, Window, operands};
use crate::{Arg, DataType, Dims, Tensor};

/// What is taken of a window.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PoolAlg {
    /// The largest element.
    Max,
    /// The mean, padding counted in as zeros.
    AvgIncludePadding,
    /// The mean of the elements inside.
    AvgExcludePadding,
}

/// Pooling over 1 to 3 spatial dimensions; `src` N x C x spatial. With [`Prop::BackwardData`] `src` and `dst` are the gradients.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Pool {
    /// Forward kinds or [`Prop::BackwardData`].
    pub prop: Prop,
    /// Algorithm.
    pub alg: PoolAlg,
    /// Source (gradient).
    pub src: Tensor,
    /// Destination (gradient).
    pub dst: Tensor,
    /// Kernel sizes.
    pub kernel: Dims,
    /// Strides, dilations, paddings.
    pub window: Window,
    /// Max pooling in training and backward: position within the kernel (row-major) of each maximum, row-major over the
    /// destination's dims, u8 where the kernel has at most 255 elements, else s32.
    pub workspace: Option<Tensor>,
}

operands!(Pool { prop, src, dst, workspace }, o => {
    match prop {
        Prop::ForwardTraining | Prop::ForwardInference => {
            o.input(Arg::SRC, src);
            o.output(Arg::DST, dst);
            o.output(Arg::WORKSPACE, workspace);
        }
        _ => {
            o.input(Arg::DIFF_DST, dst);
            o.input(Arg::WORKSPACE, workspace);
            o.output(Arg::DIFF_SRC, src);
        }
    }
});

impl Pool {
    /// A pooling; [`crate::Problem::new`] adds the workspace.
    pub fn new(prop: Prop, alg: PoolAlg, [src, dst]: [Tensor; 2], kernel: Dims, window: Window) -> Pool {
        Pool { prop, alg, src, dst, kernel, window, workspace: None }
    }

    /// The workspace of max pooling in training and backward.
    pub(super) fn derive(&mut self) {
        if self.alg == PoolAlg::Max && self.prop != Prop::ForwardInference && self.workspace.is_none() {
            let dtype = if self.kernel.volume().is_some_and(|k| k <= 255) { DataType::U8 } else { DataType::S32 };
            self.workspace = Tensor::plain(*self.dst.dims(), dtype).ok();
        }
    }
}

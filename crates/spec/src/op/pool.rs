//! Pooling.

use super::{Prop, Window, operands};
use crate::check::types::{DATA, F8, F64, FP, Pass, TypeTable, row, same};
use crate::check::{self, Checked, ensure};
use crate::{Arg, DataType, Dims, RUNTIME, Tensor};

/// The reduction over a window.
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
    /// Max pooling in training and backward: position within the kernel (row-major) of each maximum, in the destination's order and blocks
    /// without holes, u8 if the kernel has at most 255 elements, else s32.
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
        let kept = self.alg == PoolAlg::Max && self.prop != Prop::ForwardInference;
        let dtype = if self.kernel.volume().is_some_and(|k| k <= 255) { DataType::U8 } else { DataType::S32 };
        let (dims, layout) = (*self.dst.dims(), &self.dst.layout);
        self.workspace = match layout.has_runtime() {
            _ if !kept => None,
            // It follows the destination that an execution brings.
            true => Tensor::with_strides(dims, dtype, Some(Dims::filled(dims.len(), RUNTIME))).ok(),
            false => Some(Tensor { dtype, layout: layout.resized(dims) }),
        };
    }
}

impl Pool {
    /// Gives a gradient of the destination whose layout is `any` the layout of the forward pass's destination, densely: then it has the
    /// order of the workspace.
    pub(super) fn follow(&mut self, forward: &Pool) {
        let open = self.dst.layout.is_any() && !self.prop.is_forward() && forward.dst.dims() == self.dst.dims();
        if open && !forward.dst.layout.is_any() {
            self.dst.layout = forward.dst.layout.resized(*self.dst.dims());
        }
    }
}

/// Data types.
pub(super) const TYPES: TypeTable = TypeTable {
    columns: &["src", "dst"],
    rows: &[
        same(Pass::Forward, &[F8, F8]),
        row(Pass::Forward, &[DATA, DATA]),
        same(Pass::Backward, &[FP, FP]),
        same(Pass::Every, &[F64, F64]),
    ],
};

impl Pool {
    pub(super) fn check(&self) -> Checked {
        check::prop(self.prop, check::DATA_PROPS)?;
        let (src_arg, dst_arg) = if self.prop.is_forward() { (Arg::SRC, Arg::DST) } else { (Arg::DIFF_SRC, Arg::DIFF_DST) };
        check::rank(src_arg, &self.src, 3..=5)?;
        let (s, d) = (self.src.dims(), self.dst.dims());
        check::rank(dst_arg, &self.dst, s.len()..=s.len())?;
        ensure(d[..2] == s[..2], dst_arg, d, format_args!("batch and channels of {s}"))?;
        ensure(self.kernel.len() == s.len() - 2, "kernel", self.kernel, format_args!("{} sizes", s.len() - 2))?;
        self.window.check(&s[2..], &self.kernel, dst_arg, &d[2..])?;
        let most = if self.workspace.is_some() { i64::from(i32::MAX) } else { i64::MAX };
        let countable = self.kernel.volume().is_some_and(|k| k <= most);
        ensure(countable, "kernel", self.kernel, format_args!("at most {most} elements"))?;
        if self.alg == PoolAlg::AvgExcludePadding {
            for i in 0..self.kernel.len() {
                let inside = check::open(s[i + 2], d[i + 2]) || self.windows_touch(i, s[i + 2], d[i + 2]);
                ensure(
                    inside,
                    "padding",
                    format_args!("a window of dimension {i} wholly in it"),
                    "an element of the source in every window",
                )?;
            }
        }
        TYPES.check(Some(self.prop), &[Some(self.src.dtype), Some(self.dst.dtype)])
    }

    /// True when each of the `out` windows along spatial dimension `i` holds one of its `size` elements.
    ///
    /// A window that begins inside holds its first element, so the last begin must lie before the end. Of those that begin in the padding, the
    /// first element at or after 0 must lie before the end; where kernel elements are no further apart than the dimension is long, that
    /// follows from the window reaching it.
    fn windows_touch(&self, i: usize, size: i64, out: i64) -> bool {
        let (stride, before) = (self.window.strides[i], self.window.padding_l[i]);
        if out == 0 {
            return true;
        }
        let (Some(step), Some(last)) = (self.window.dilations[i].checked_add(1), (out - 1).checked_mul(stride).map(|v| v - before)) else {
            return false;
        };
        if (self.kernel[i] - 1).checked_mul(step).is_none_or(|reach| reach < before) || last >= size {
            return false;
        }
        let padded = (before / stride + i64::from(before % stride > 0)).min(out).min(1 << 16);
        step <= size || (0..padded).all(|o| (o * stride - before).rem_euclid(step) < size)
    }
}

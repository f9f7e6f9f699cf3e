//! Exact copies of single elements.

use crate::{Epilogue, View};
use oxidnn_spec::Attr;

/// Copies elements between two tensors: bit by bit where the types agree and no attribute changes the value, else through `f64`.
pub(crate) struct Copy<'a> {
    src: View<'a>,
    tail: Epilogue<'a>,
    exact: bool,
}

impl<'a> Copy<'a> {
    pub(crate) fn new(src: View<'a>, tail: Epilogue<'a>, attr: &Attr) -> Copy<'a> {
        let exact = src.dtype() == tail.dst().dtype() && attr.scales.is_empty() && attr.zero_points.is_empty() && attr.post_ops.is_empty();
        Copy { src, tail, exact }
    }

    /// The same, where a factor of no attribute may change values.
    pub(crate) fn times(self, factor: f64) -> Self {
        Copy { exact: self.exact && factor == 1.0, ..self }
    }

    /// Copies the element at `from` to `to`; `value` makes the number where it is not copied exactly.
    pub(crate) fn element(&self, from: &[i64], to: &[i64], value: impl FnOnce(f64) -> f64) {
        if self.exact {
            let dst = self.tail.dst();
            dst.set_bits(dst.offset(to), self.src.bits(self.src.offset(from)));
        } else {
            self.tail.finish(to, value(self.src.get(from)));
        }
    }
}

//! The bit mask of a fused ReLU (a bit per element, set if the element passes), and when it is read and written in vectors together with the elements.

use super::Norm;
use crate::emit::{Emitter, Real};
use crate::ops::columns_kept::Bits;
use oxidnn_spec::{Arg, Op};

impl Norm<'_> {
    /// Whether vector accesses are allowed and an element depends only on the same element of the tensors and on its channel: no second source, no scale of the
    /// source.
    pub(super) fn has_own_elements(&self) -> bool {
        let none = |arg| self.tensor(arg).is_none();
        self.vectors.is_some()
            && self.real == Real::Single
            && [Arg::SRC_1, Arg::DIFF_SRC_1].into_iter().all(none)
            && !self.problem.attr.scales.contains_key(&Arg::SRC)
    }

    /// The same with a mask in the source's layout, contiguous channels, and rows of whole 32-bit words.
    pub(super) fn has_bits_by_columns(&self) -> bool {
        let Op::BatchNorm(op) = &self.problem.op else { return false };
        self.has_own_elements()
            && self.src.dims()[1] % Bits::COLUMNS == 0
            && self.src.blocking().is_some_and(|b| b.is_plain() && b.strides[1] == 1)
            && op.bits().is_some_and(|order| order == self.src.layout)
    }

    /// The same with a mask in the layout of source and destination, which are dense with contiguous pixels, and whole bytes.
    pub(super) fn has_bits_by_elements(&self) -> bool {
        let Op::BatchNorm(op) = &self.problem.op else { return false };
        let dst = if self.prop.is_forward() { self.tensor(Arg::DST) } else { self.tensor(Arg::DIFF_SRC) };
        self.tensor(Arg::WORKSPACE).is_some()
            && self.has_own_elements()
            && self.has_planes()
            && self.src.dims().volume().is_some_and(|n| n % 8 == 0)
            && self.src.layout.is_dense(false)
            && dst.is_some_and(|dst| dst.layout == self.src.layout)
            && op.bits().is_some_and(|order| order == self.src.layout)
    }

    /// The expression of the destination's gradient at `p`, masked by the ReLU.
    pub(super) fn passed(&self) -> &'static str {
        if self.tensor(Arg::WORKSPACE).is_some() { "(passes(a, p) ? diff_dst(a, p) : (real)0)" } else { "diff_dst(a, p)" }
    }

    /// Declares `index_of(a, p)`: the bit of a position in the ReLU mask.
    pub(super) fn number_of(&self, emit: &mut Emitter) {
        let Op::BatchNorm(op) = &self.problem.op else { return };
        if op.bits().is_some_and(|order| order == self.src.layout) {
            return emit.code("DEVICE i64 index_of(const Args& a, const index* p) { return src_at(a, p); }");
        }
        let dims = self.src.dims();
        emit.numbers("full", dims);
        let terms: String = (0..dims.len()).map(|d| format!("    i = i * a.full[{d}] + p[{d}];\n")).collect();
        emit.code(&format!("DEVICE i64 index_of(const Args& a, const index* p) {{\n    i64 i = 0;\n{terms}    return i;\n}}\n"));
    }
}

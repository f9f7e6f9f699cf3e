//! Bits of what a fused ReLU lets pass, one an element: where they are written and read together with the elements.

use super::Norm;
use crate::emit::{Emitter, Real};
use crate::ops::columns_kept::Bits;
use oxidnn_spec::{Arg, Op};

impl Norm<'_> {
    /// Whether an element depends on the same one of the tensors alone, besides its channel.
    pub(super) fn has_own_elements(&self) -> bool {
        let none = |arg| self.tensor(arg).is_none();
        self.vectors.is_some()
            && self.real == Real::Single
            && [Arg::SRC_1, Arg::DIFF_SRC_1].into_iter().all(none)
            && !self.problem.attr.scales.contains_key(&Arg::SRC)
    }

    /// The same where the bits of the ReLU lie as rows of channels, whole words each.
    pub(super) fn has_bits_by_columns(&self) -> bool {
        let Op::BatchNorm(op) = &self.problem.op else { return false };
        self.has_own_elements()
            && self.src.dims()[1] % Bits::COLUMNS == 0
            && self.src.blocking().is_some_and(|b| b.is_plain() && b.strides[1] == 1)
            && op.bits().is_some_and(|order| order == self.src.layout)
    }

    /// The same where its bits and elements lie in one order, eight whole bits a byte, in planes of channels.
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

    /// What `gradient(a, p)` of [`Self::gradient`] is, in terms of the tensors.
    pub(super) fn passed(&self) -> &'static str {
        if self.tensor(Arg::WORKSPACE).is_some() { "(passes(a, p) ? diff_dst(a, p) : (real)0)" } else { "diff_dst(a, p)" }
    }

    /// `index_of(a, p)`: the number of a position's bit; the source is declared.
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

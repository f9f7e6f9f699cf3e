//! Element-wise functions of two operands (and of three: select), and the formula of parametric ReLU.

#[cfg(test)]
mod tests;

use crate::Num;
use oxidnn_spec::op::BinaryAlg;

/// `alg(a, b)`; comparisons give 1 or 0 (a comparison with NaN is false, `ne` true); `max` and `min` give the other operand where one
/// is NaN; `select` gives `a` where `cond` is not 0, else `b`. `cond` is read by `select` only.
#[inline(always)]
pub fn apply<N: Num>(alg: BinaryAlg, a: N, b: N, cond: N) -> N {
    let flag = |m: N::Mask| N::select(m, N::constant(1.0), N::constant(0.0));
    match alg {
        BinaryAlg::Add => a.add(b),
        BinaryAlg::Sub => a.sub(b),
        BinaryAlg::Mul => a.mul(b),
        BinaryAlg::Div => a.div(b),
        BinaryAlg::Max => a.max(b),
        BinaryAlg::Min => a.min(b),
        BinaryAlg::Ge => flag(b.le(a)),
        BinaryAlg::Gt => flag(b.lt(a)),
        BinaryAlg::Le => flag(a.le(b)),
        BinaryAlg::Lt => flag(a.lt(b)),
        BinaryAlg::Eq => flag(a.eq(b)),
        BinaryAlg::Ne => N::select(a.eq(b), N::constant(0.0), N::constant(1.0)),
        BinaryAlg::Select => N::select(cond.eq(N::constant(0.0)), b, a),
    }
}

/// Parametric ReLU: `s > 0 ? s : s * weight`.
#[inline(always)]
pub fn prelu<N: Num>(s: N, weight: N) -> N {
    N::select(N::constant(0.0).lt(s), s, s.mul(weight))
}

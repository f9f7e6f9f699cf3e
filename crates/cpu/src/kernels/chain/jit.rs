//! Formulas as instructions on vectors in registers.

pub(crate) mod interleaved;
pub(crate) mod value;

use self::interleaved::Interleaved;
use super::{Formula, Unary};
use oxidnn_expr::{Num, binary, eltwise};
use oxidnn_jit::Function;
use oxidnn_jit::ir::{self, Val};
use oxidnn_runtime::Skip;
use oxidnn_spec::op::EltwiseAlg;
use value::{Recorder, Value, formula, has_power};

/// Refuses formulas without instructions.
///
/// # Errors
/// [`Skip`] for these.
pub(crate) fn check(formula: Formula) -> Result<(), Skip> {
    let power = match formula {
        Formula::Forward(Unary { alg: EltwiseAlg::Pow, beta, .. }) => beta.get(),
        Formula::Backward(Unary { alg: EltwiseAlg::Pow, beta, .. }) => beta.get() - 1.0,
        _ => return Ok(()),
    };
    if has_power(power) { Ok(()) } else { Err(Skip::Attr(format!("a power of {power}"))) }
}

/// Whether the formula is a few instructions.
pub(crate) fn is_short(formula: Formula) -> bool {
    match formula {
        Formula::Forward(f) => value::is_short(f.alg),
        // Derivatives that use the result of a long function are short.
        Formula::Backward(f) => value::is_short(f.alg) || f.alg.uses_dst(),
        Formula::Binary(_) | Formula::Prelu | Formula::Accumulate { .. } => true,
    }
}

/// Whether the formula is one instruction with a vector of zeros.
pub(crate) fn is_relu(formula: Formula) -> bool {
    matches!(formula, Formula::Forward(Unary { alg: EltwiseAlg::Relu | EltwiseAlg::ReluDst, alpha, .. }) if alpha.get() == 0.0)
}

/// The formula on vectors. For [`is_relu`], `y` may be a register of zeros.
pub(crate) fn apply(f: &mut Function, step: Formula, x: Val, [y, z]: [Option<Val>; 2]) -> Val {
    if is_relu(step) {
        let zero = y.unwrap_or_else(|| f.zero(f.width(x)));
        // If one of two operands is NaN, the processor returns the second.
        return f.binary(ir::Binary::MaxF32, zero, x);
    }
    formula(f, |r| {
        let [y, z] = [y, z].map(|operand| operand.map_or(Value::constant(0.0), |v| r.value(v)));
        evaluate(step, r.value(x), [y, z])
    })
}

/// The formula on several vectors, long ones interleaved operation by operation; `y` is the second operand of each.
pub(crate) fn apply_all(f: &mut Function, step: Formula, x: &mut [Val], y: &[Option<Val>]) {
    match (is_short(step), &mut *x, y) {
        (false, [a, b, c, d], [y0, y1, y2, y3]) => [*a, *b, *c, *d] = interleaved(f, step, [*a, *b, *c, *d], [*y0, *y1, *y2, *y3]),
        (false, [a, b], [y0, y1]) => [*a, *b] = interleaved(f, step, [*a, *b], [*y0, *y1]),
        _ => x.iter_mut().zip(y).for_each(|(x, y)| *x = apply(f, step, *x, [*y, None])),
    }
}

fn interleaved<const N: usize>(f: &mut Function, step: Formula, x: [Val; N], y: [Option<Val>; N]) -> [Val; N] {
    let r = Recorder::new(f);
    let y = Interleaved(y.map(|y| y.map_or(Value::constant(0.0), |y| r.value(y))));
    evaluate(step, Interleaved(x.map(|x| r.value(x))), [y, Interleaved::constant(0.0)]).0.map(|x| r.lanes(x))
}

/// The formula in any arithmetic.
fn evaluate<X: Num>(step: Formula, x: X, [y, z]: [X; 2]) -> X {
    match step {
        Formula::Forward(Unary { alg, alpha, beta }) => eltwise::forward(alg, alpha.get(), beta.get(), x),
        Formula::Backward(Unary { alg, alpha, beta }) => eltwise::backward(alg, alpha.get(), beta.get(), x, y),
        Formula::Binary(alg) => binary::apply(alg, x, y, z),
        Formula::Prelu => binary::prelu(x, y),
        Formula::Accumulate { scale, zero_point } => {
            let [scale, zero_point] = [scale, zero_point].map(|number| f64::from(number.get()));
            let y = if zero_point == 0.0 { y } else { y.sub(X::constant(zero_point)) };
            if scale == 1.0 { x.add(y) } else { y.mul_add(X::constant(scale), x) }
        }
    }
}

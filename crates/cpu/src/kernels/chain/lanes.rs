//! Formulas over lines of f32: a loop for each algorithm, selected once a line.

use super::{Formula, Unary};
use crate::kernels::multiversion::{Body, Simd};
use oxidnn_expr::{Lane, binary, lane};
use oxidnn_spec::op::BinaryAlg;

/// `x = f(x, y, z)`; lines without an operand in the formula are not read, except `z` of a binary algorithm, which must be as long as the
/// others.
pub fn apply(simd: Simd, formula: Formula, x: &mut [f32], [y, z]: [&[f32]; 2]) {
    simd.run(Lines { formula, x, y, z });
}

/// `x = alg(x, y)` for a constant `y`; not for select.
pub fn constant(simd: Simd, alg: BinaryAlg, x: &mut [f32], y: f32) {
    simd.run(Constant(alg, x, y));
}

/// Selects the loop of a binary algorithm.
macro_rules! choose {
    ($alg:expr, $each:ident) => {
        choose!($alg, $each, Add Mul Max Min Div Sub Ge Gt Le Lt Eq Ne Select)
    };
    ($alg:expr, $each:ident, $($name:ident)*) => {
        match $alg {
            $(BinaryAlg::$name => $each!($name),)*
        }
    };
}

struct Lines<'a> {
    formula: Formula,
    x: &'a mut [f32],
    y: &'a [f32],
    z: &'a [f32],
}

impl Body for Lines<'_> {
    type Out = ();
    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        let Lines { formula, x, y, z } = self;
        macro_rules! each {
            ($name:ident) => {
                for ((x, y), z) in x.iter_mut().zip(y).zip(z) {
                    *x = binary::apply(BinaryAlg::$name, Lane::<FMA>(*x), Lane(*y), Lane(*z)).0;
                }
            };
        }
        match formula {
            Formula::Forward(Unary { alg, alpha, beta }) => lane::forward::<FMA>(alg, alpha.get(), beta.get(), x),
            Formula::Backward(Unary { alg, alpha, beta }) => lane::backward::<FMA>(alg, alpha.get(), beta.get(), x, y),
            Formula::Binary(alg) => choose!(alg, each),
            Formula::Prelu => x.iter_mut().zip(y).for_each(|(x, w)| *x = binary::prelu(Lane::<FMA>(*x), Lane(*w)).0),
            Formula::Accumulate { scale, zero_point } => {
                let [scale, zero_point] = [scale, zero_point].map(|number| number.get());
                x.iter_mut().zip(y).for_each(|(x, y)| *x += scale * (*y - zero_point));
            }
        }
    }
}

struct Constant<'a>(BinaryAlg, &'a mut [f32], f32);

impl Body for Constant<'_> {
    type Out = ();
    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        let Constant(alg, x, y) = self;
        macro_rules! each {
            ($name:ident) => {
                for x in x.iter_mut() {
                    *x = binary::apply(BinaryAlg::$name, Lane::<FMA>(*x), Lane(y), Lane(1.0)).0;
                }
            };
        }
        choose!(alg, each)
    }
}

//! The formulas of `expr` over chunks: one loop for each algorithm, chosen once a chunk.

use crate::kernels::multiversion::{Body, Simd};
use oxidnn_expr::{Lane, binary, lane};
use oxidnn_spec::Real;
use oxidnn_spec::op::{BinaryAlg, EltwiseAlg};

/// An element-wise function with its parameters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Unary {
    /// The function.
    pub alg: EltwiseAlg,
    /// Its first parameter.
    pub alpha: Real,
    /// Its second parameter.
    pub beta: Real,
}

struct Forward<'a>(Unary, &'a mut [f32]);

impl Body for Forward<'_> {
    type Out = ();
    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        let Unary { alg, alpha, beta } = self.0;
        lane::forward::<FMA>(alg, alpha.get(), beta.get(), self.1);
    }
}

struct Backward<'a>(Unary, &'a mut [f32], &'a [f32]);

impl Body for Backward<'_> {
    type Out = ();
    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        let Unary { alg, alpha, beta } = self.0;
        lane::backward::<FMA>(alg, alpha.get(), beta.get(), self.1, self.2);
    }
}

struct Both<'a>(BinaryAlg, &'a mut [f32], &'a [f32], &'a [f32]);

impl Body for Both<'_> {
    type Out = ();
    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        let Both(alg, x, y, z) = self;
        macro_rules! choose {
            ($($name:ident)*) => {
                match alg {
                    $(BinaryAlg::$name => {
                        for ((x, y), z) in x.iter_mut().zip(y).zip(z) {
                            *x = binary::apply(BinaryAlg::$name, Lane::<FMA>(*x), Lane(*y), Lane(*z)).0;
                        }
                    })*
                }
            };
        }
        choose!(Add Mul Max Min Div Sub Ge Gt Le Lt Eq Ne Select)
    }
}

struct Constant<'a>(BinaryAlg, &'a mut [f32], f32);

impl Body for Constant<'_> {
    type Out = ();
    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        let Constant(alg, x, y) = self;
        macro_rules! choose {
            ($($name:ident)*) => {
                match alg {
                    $(BinaryAlg::$name => {
                        for x in x.iter_mut() {
                            *x = binary::apply(BinaryAlg::$name, Lane::<FMA>(*x), Lane(y), Lane(1.0)).0;
                        }
                    })*
                }
            };
        }
        choose!(Add Mul Max Min Div Sub Ge Gt Le Lt Eq Ne Select)
    }
}

struct Prelu<'a>(&'a mut [f32], &'a [f32]);

impl Body for Prelu<'_> {
    type Out = ();
    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        for (x, w) in self.0.iter_mut().zip(self.1) {
            *x = binary::prelu(Lane::<FMA>(*x), Lane(*w)).0;
        }
    }
}

struct Accumulate<'a>(f32, f32, &'a mut [f32], &'a [f32]);

impl Body for Accumulate<'_> {
    type Out = ();
    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        for (x, y) in self.2.iter_mut().zip(self.3) {
            *x += self.0 * (*y - self.1);
        }
    }
}

/// `x = f(x)`.
pub(super) fn forward(simd: Simd, f: Unary, x: &mut [f32]) {
    simd.run(Forward(f, x));
}

/// `dd = dd * f'(x)`, `x` the source, or the destination for a `Dst` algorithm.
pub(super) fn backward(simd: Simd, f: Unary, dd: &mut [f32], x: &[f32]) {
    simd.run(Backward(f, dd, x));
}

/// `x = alg(x, y)`, with the condition `z` of a select; `z` has the length of `x` in any case.
pub(super) fn both(simd: Simd, alg: BinaryAlg, x: &mut [f32], y: &[f32], z: &[f32]) {
    simd.run(Both(alg, x, y, z));
}

/// `x = alg(x, y)` for a constant `y`; not for select.
pub(super) fn constant(simd: Simd, alg: BinaryAlg, x: &mut [f32], y: f32) {
    simd.run(Constant(alg, x, y));
}

/// `x = x > 0 ? x : x * w`.
pub(super) fn prelu(simd: Simd, x: &mut [f32], w: &[f32]) {
    simd.run(Prelu(x, w));
}

/// `x += scale * (y - zero_point)`.
pub(super) fn accumulate(simd: Simd, scale: f32, zero_point: f32, x: &mut [f32], y: &[f32]) {
    simd.run(Accumulate(scale, zero_point, x, y));
}

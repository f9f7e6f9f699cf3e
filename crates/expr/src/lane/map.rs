//! Element-wise functions over whole slices: the choice of the function is made once, outside the loop.

use super::Lane;
use crate::{Num, eltwise};
use oxidnn_spec::op::EltwiseAlg;

/// An element-wise function with its choice and parameters fixed, so that a loop over it holds only arithmetic.
pub trait Formula<N: Num>: Copy {
    /// The value at `s`.
    fn forward(self, s: N) -> N;
    /// `dd` times the derivative; `x` as in [`eltwise::backward`].
    fn backward(self, dd: N, x: N) -> N;
}

/// Code that wants a [`Formula`]; its method must be `#[inline(always)]`.
pub trait WithFormula<N: Num> {
    /// What it returns.
    type Out;
    /// Runs with the formula.
    fn with<F: Formula<N>>(self, formula: F) -> Self::Out;
}

/// The function whose discriminant is `ALG`, with its parameters.
#[derive(Clone, Copy)]
struct Fixed<const ALG: usize> {
    alpha: f32,
    beta: f32,
}

impl<const ALG: usize> Fixed<ALG> {
    const FUNCTION: EltwiseAlg = EltwiseAlg::NAMES[ALG].0;
    const IS_ITSELF: () = assert!(Self::FUNCTION as usize == ALG, "functions are listed in the order of the enumeration");
}

impl<N: Num, const ALG: usize> Formula<N> for Fixed<ALG> {
    #[inline(always)]
    fn forward(self, s: N) -> N {
        let () = Self::IS_ITSELF;
        eltwise::forward(Self::FUNCTION, self.alpha, self.beta, s)
    }
    #[inline(always)]
    fn backward(self, dd: N, x: N) -> N {
        eltwise::backward(Self::FUNCTION, self.alpha, self.beta, dd, x)
    }
}

/// Runs `w` with the formula of `alg`. Inlines the whole of `w` once for every algorithm: for one function a kernel, not for many places.
#[inline(always)]
pub fn dispatch<N: Num, W: WithFormula<N>>(alg: EltwiseAlg, alpha: f32, beta: f32, w: W) -> W::Out {
    // Without a wildcard: a function that is missing here does not compile.
    macro_rules! choose {
        ($($name:ident)*) => {
            match alg {
                $(EltwiseAlg::$name => w.with(Fixed::<{ EltwiseAlg::$name as usize }> { alpha, beta }),)*
            }
        };
    }
    choose! {
        Relu Tanh Elu Square Abs Sqrt Linear SoftRelu HardSigmoid Logistic Exp GeluTanh GeluErf Swish Log Clip ClipV2 Pow Round
        Mish HardSwish ReluDst TanhDst EluDst SqrtDst LogisticDst ExpDst ClipV2Dst
    }
}

struct Forward<'a>(&'a mut [f32]);

impl<const FMA: bool> WithFormula<Lane<FMA>> for Forward<'_> {
    type Out = ();
    #[inline(always)]
    fn with<F: Formula<Lane<FMA>>>(self, formula: F) {
        for x in self.0 {
            *x = formula.forward(Lane(*x)).0;
        }
    }
}

struct Backward<'a>(&'a mut [f32], &'a [f32]);

impl<const FMA: bool> WithFormula<Lane<FMA>> for Backward<'_> {
    type Out = ();
    #[inline(always)]
    fn with<F: Formula<Lane<FMA>>>(self, formula: F) {
        for (dd, x) in self.0.iter_mut().zip(self.1) {
            *dd = formula.backward(Lane(*dd), Lane(*x)).0;
        }
    }
}

/// Replaces every value by the function of it.
#[inline(always)]
pub fn forward<const FMA: bool>(alg: EltwiseAlg, alpha: f32, beta: f32, values: &mut [f32]) {
    dispatch::<Lane<FMA>, _>(alg, alpha, beta, Forward(values));
}

/// Replaces every gradient `dd` by `dd * alg'(x)`; `x` as in [`eltwise::backward`], as long as `dd`.
#[inline(always)]
pub fn backward<const FMA: bool>(alg: EltwiseAlg, alpha: f32, beta: f32, dd: &mut [f32], x: &[f32]) {
    dispatch::<Lane<FMA>, _>(alg, alpha, beta, Backward(dd, x));
}

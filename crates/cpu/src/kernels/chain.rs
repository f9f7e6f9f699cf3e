//! The chain of a result: all arithmetic between sums (or other values) and the destination. Scales of the sources, bias, post-ops, the
//! destination's scale and zero point are steps `x = f(x, y, z)`, whose operands have names.
//!
//! [`steps`] is the one place that interprets attributes. Kernels provide the operands: lines by column beside a tile in registers
//! ([`Epilogue`](super::microkernel::Epilogue)), registers of a program ([`Builder`](super::pointwise::Builder)), rows at any position ([`Chain`]).
//! Formulas are lowered twice: to vector instructions ([`jit`]), and to loops over lines of f32 ([`lanes`]).

pub mod jit;
pub mod lanes;

use super::access::{Pos, View};
use super::broadcast::Broadcast;
use super::multiversion::Simd;
use oxidnn_runtime::{Ctx, Skip};
use oxidnn_spec::op::{BinaryAlg, EltwiseAlg};
use oxidnn_spec::{Arg, Attr, DataType, Error, PostOp, Real};

/// An element-wise function with its parameters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Unary {
    /// The function.
    pub alg: EltwiseAlg,
    /// Its first parameter.
    pub alpha: Real,
    /// Its second parameter.
    pub beta: Real,
}

impl Unary {
    /// A function with its parameters.
    pub fn new(alg: EltwiseAlg, alpha: f32, beta: f32) -> Unary {
        Unary { alg, alpha: alpha.into(), beta: beta.into() }
    }
}

/// The function of a step, of an element `x` and perhaps `y` and `z`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Formula {
    /// `f(x)`
    Forward(Unary),
    /// `x * f'(y)`, where `y` is the source, or the destination for a `Dst` algorithm
    Backward(Unary),
    /// `alg(x, y, z)`
    Binary(BinaryAlg),
    /// `x > 0 ? x : x * y`
    Prelu,
    /// `x + scale * (y - zero_point)`
    Accumulate {
        /// The factor.
        scale: Real,
        /// What is subtracted from `y` before.
        zero_point: Real,
    },
}

impl Formula {
    /// Operands besides `x`.
    pub const fn operands(self) -> usize {
        match self {
            Formula::Forward(_) => 0,
            Formula::Binary(BinaryAlg::Select) => 2,
            _ => 1,
        }
    }
}

/// An operand of a step.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operand {
    /// The product of the scales of the sources.
    Factors,
    /// The bias.
    Bias,
    /// The old elements of the destination, read as a type.
    Before(DataType),
    /// An argument of a post-op.
    PostOp(usize, Arg),
    /// The scales of the destination.
    Scale,
    /// The zero points of the destination.
    ZeroPoint,
}

/// A step.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Step {
    /// What it computes.
    pub formula: Formula,
    /// `y` and `z`, if the formula has them.
    pub operands: [Option<Operand>; 2],
}

impl Step {
    fn binary(alg: BinaryAlg, operand: Operand) -> Step {
        Step { formula: Formula::Binary(alg), operands: [Some(operand), None] }
    }

    /// The step of post-op `i` of a result of type `dst`.
    fn post_op(i: usize, op: &PostOp, dst: DataType) -> Result<Step, Skip> {
        let operand = |of: Arg| Some(Operand::PostOp(i, of));
        let (formula, operands) = match op {
            PostOp::Sum { scale, zero_point, dtype } => {
                let zero_point = (*zero_point as f32).into();
                (Formula::Accumulate { scale: *scale, zero_point }, [Some(Operand::Before(dtype.unwrap_or(dst))), None])
            }
            PostOp::Eltwise { alg, alpha, beta } => (Formula::Forward(Unary { alg: *alg, alpha: *alpha, beta: *beta }), [None; 2]),
            PostOp::Binary { alg, src2, .. } => {
                (Formula::Binary(*alg), [operand(Arg::SRC_1), src2.as_ref().and_then(|_| operand(Arg::SRC_2))])
            }
            PostOp::Prelu { .. } => (Formula::Prelu, [operand(Arg::WEIGHTS), None]),
            PostOp::Depthwise { .. } => return Err(Skip::Attr("a depthwise post-op".into())),
        };
        Ok(Step { formula, operands })
    }
}

/// Whether a post-op changes nothing: frameworks add such scales to products.
fn is_identity(op: &PostOp) -> bool {
    matches!(op, PostOp::Eltwise { alg: EltwiseAlg::Linear, alpha, beta } if alpha.get() == 1.0 && beta.get() == 0.0)
}

/// The steps of a result of type `dst`; `scaled` and `biased` say whether the sources have scales and whether there is a bias.
///
/// # Errors
/// In place of a step: the attribute that no chain does.
pub fn steps(attr: &Attr, dst: DataType, [scaled, biased]: [bool; 2]) -> impl Iterator<Item = Result<Step, Skip>> + '_ {
    let step = |wanted: bool, alg, operand| wanted.then_some(Ok(Step::binary(alg, operand)));
    let before = [step(scaled, BinaryAlg::Mul, Operand::Factors), step(biased, BinaryAlg::Add, Operand::Bias)];
    let post_ops = attr.post_ops.iter().enumerate().filter(|(_, op)| !is_identity(op));
    let after = [
        step(attr.scales.contains_key(&Arg::DST), BinaryAlg::Div, Operand::Scale),
        step(attr.zero_points.contains_key(&Arg::DST), BinaryAlg::Add, Operand::ZeroPoint),
    ];
    before.into_iter().flatten().chain(post_ops.map(move |(i, op)| Step::post_op(i, op, dst))).chain(after.into_iter().flatten())
}

/// What is applied to sums before post-ops, by position in the result.
#[derive(Debug, Default)]
pub struct Before<'a> {
    /// Scales of the sources, if there are any.
    pub factors: Option<[Broadcast<'a>; 2]>,
    /// The bias.
    pub bias: Option<Broadcast<'a>>,
}

impl<'a> Before<'a> {
    /// From the bias, and the scales of the sources, which `factors` gives if the attributes have any.
    ///
    /// # Errors
    /// Those of `factors`.
    pub fn new(
        attr: &Attr,
        factors: impl FnOnce() -> Result<[Broadcast<'a>; 2], Error>,
        bias: Option<Broadcast<'a>>,
    ) -> Result<Before<'a>, Error> {
        let factors = if attr.scales.is_empty() { None } else { Some(factors()?) };
        Ok(Before { factors, bias })
    }

    /// For a result with channels in its second dimension: the bias by channel, the one scale of `source`, which is argument `arg`, and the
    /// scales of weights if the attributes have any.
    ///
    /// # Errors
    /// Those of `by_weights`; [`Error::InvalidArguments`] when an argument is missing.
    pub fn by_channel(
        ctx: &Ctx<'a>,
        attr: &Attr,
        arg: Arg,
        source: &View<'a>,
        by_weights: impl FnOnce() -> Result<Broadcast<'a>, Error>,
    ) -> Result<Before<'a>, Error> {
        let simd = source.simd();
        let bias = View::optional(simd, ctx, Arg::BIAS)?.map(|b| Broadcast::along(b, 1));
        let by_source = || Ok::<_, Error>(Broadcast::scale(simd, ctx, attr, arg, source.dims())?.permuted(&[]));
        Before::new(attr, || Ok([by_source()?, by_weights()?]), bias)
    }
}

/// A chain with its operands in an execution. Operands of post-ops, and scales and zero points of the destination, are looked up when they
/// are used: filling a table of all would take longer than a small product.
#[derive(Clone, Copy, Debug)]
pub struct Chain<'a> {
    ctx: Ctx<'a>,
    attr: &'a Attr,
    dst: View<'a>,
    before: Option<&'a Before<'a>>,
}

impl<'a> Chain<'a> {
    /// The chain of the result `arg` without scales of sources and without bias.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] when an argument is missing.
    pub fn new(simd: Simd, ctx: &Ctx<'a>, attr: &'a Attr, arg: Arg) -> Result<Chain<'a>, Error> {
        let quantised = [(&attr.scales, Arg::scale(Arg::DST)), (&attr.zero_points, Arg::zero_point(Arg::DST))];
        if let Some((_, missing)) = quantised.into_iter().find(|(of, numbers)| of.contains_key(&Arg::DST) && ctx.bound(*numbers).is_none())
        {
            return Err(Error::arg(missing, "nothing", "a memory object"));
        }
        Ok(Chain { ctx: *ctx, attr, dst: View::of(simd, ctx, arg)?, before: None })
    }

    /// The same with what is applied to sums before post-ops.
    pub fn with(self, before: &'a Before<'a>) -> Chain<'a> {
        Chain { before: Some(before), ..self }
    }

    /// The result.
    pub fn dst(&self) -> &View<'a> {
        &self.dst
    }

    /// The argument that is an operand of a post-op.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] when it is missing.
    pub fn argument(&self, i: usize, of: Arg) -> Result<View<'a>, Error> {
        View::of(self.dst.simd(), &self.ctx, Arg::post_op(i, of))
    }

    /// The steps.
    pub fn steps(&self) -> impl Iterator<Item = Result<Step, Skip>> + 'a {
        let scaled = self.factors().is_some_and(|factors| !factors.iter().all(|f| f.is_constant(1.0)));
        steps(self.attr, self.dst.dtype(), [scaled, self.bias().is_some()])
    }

    fn factors(&self) -> Option<&'a [Broadcast<'a>; 2]> {
        self.before.and_then(|before| before.factors.as_ref())
    }

    fn bias(&self) -> Option<&'a Broadcast<'a>> {
        self.before.and_then(|before| before.bias.as_ref())
    }

    /// The values of an operand from `pos` on along `dim`.
    ///
    /// # Errors
    /// As for [`Chain::argument`].
    pub fn line(&self, operand: Operand, pos: &Pos, dim: usize, out: &mut [f32]) -> Result<(), Error> {
        match operand {
            Operand::Factors => match self.factors() {
                Some(factors) => product(factors, pos, dim, out),
                None => out.fill(1.0),
            },
            Operand::Bias => match self.bias() {
                Some(bias) => bias.line(pos, dim, out),
                None => out.fill(0.0),
            },
            Operand::Before(dtype) => self.dst.reinterpret(dtype).read(pos, dim, out),
            Operand::PostOp(i, of) => Broadcast::tensor(self.argument(i, of)?).line(pos, dim, out),
            Operand::Scale => Broadcast::scale(self.dst.simd(), &self.ctx, self.attr, Arg::DST, self.dst.dims())?.line(pos, dim, out),
            Operand::ZeroPoint => {
                Broadcast::zero_point(self.dst.simd(), &self.ctx, self.attr, Arg::DST, self.dst.dims())?.line(pos, dim, out)
            }
        }
        Ok(())
    }
}

/// The products of two factors from `pos` on along `dim`.
pub fn product([a, b]: &[Broadcast<'_>; 2], pos: &Pos, dim: usize, out: &mut [f32]) {
    const PART: usize = 64;
    let (mut pos, mut part) = (*pos, [0.0; PART]);
    a.line(&pos, dim, out);
    for out in out.chunks_mut(PART).filter(|_| !b.is_constant(1.0)) {
        let part = &mut part[..out.len()];
        b.line(&pos, dim, part);
        out.iter_mut().zip(part).for_each(|(x, y)| *x *= *y);
        pos[dim] += PART as i64;
    }
}

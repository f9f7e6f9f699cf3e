//! Local response normalisation.

use crate::kernels::multiversion::{Body, Simd};
use crate::kernels::pointwise::{Builder, Planes, Sides, Window, Windows};
use crate::ops::fallback;
use crate::{CpuTarget, RowPlan};
use oxidnn_expr::{Lane, Num};
use oxidnn_runtime::{Impl, Plan, Skip};
use oxidnn_spec::op::{Lrn, LrnAlg};
use oxidnn_spec::{Arg, Op, Problem};

/// The rows, best first.
pub const IMPLS: &[Impl<CpuTarget>] = &[Impl { name: "planes:portable", plan }, fallback::ROW];

fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    RowPlan::resolved(problem, target, |problem| match &problem.op {
        Op::Lrn(op) => windows(op, problem, target),
        _ => Err(Skip::Op("another operation than local response normalisation")),
    })
}

fn windows(op: &Lrn, problem: &Problem, target: &CpuTarget) -> Result<(Windows<Responses>, usize), Skip> {
    let (dims, forward) = (op.src.dims(), op.prop.is_forward());
    let all = (1u32 << dims.len()) - 1;
    let across = op.alg == LrnAlg::AcrossChannels;
    let kept = if across { all & !0b10 } else { 0b11 };
    let sizes: Vec<usize> = (0..dims.len()).filter(|d| kept >> d & 1 == 0).map(|d| dims[d] as usize).collect();
    let volume = sizes.iter().product::<usize>() as i64;
    let window = Responses {
        forward,
        half: ((op.local_size - 1) / 2) as usize,
        share: op.alpha.get() / (op.local_size as f32).powi(sizes.len() as i32),
        alpha_beta: 2.0 * op.beta.get() * op.alpha.get() / (op.local_size as f32).powi(sizes.len() as i32),
        beta: op.beta.get(),
        k: op.k.get(),
        sizes,
    };
    let inputs: &[Arg] = if forward { &[Arg::SRC] } else { &[Arg::SRC, Arg::DIFF_DST] };
    let result = if forward { Arg::DST } else { Arg::DIFF_SRC };
    Windows::new(
        Builder::new(problem, dims, None)?,
        result,
        kept,
        window,
        Sides { inputs, second: None, extra: 2 * volume, workers: target.threads },
    )
}

/// `x (k + share * sum(x^2))^-beta` and its gradient, the sums over windows of `2 half + 1` along each dimension.
#[derive(Debug)]
struct Responses {
    forward: bool,
    half: usize,
    /// `alpha / n`.
    share: f32,
    /// `2 alpha beta / n`.
    alpha_beta: f32,
    beta: f32,
    k: f32,
    sizes: Vec<usize>,
}

impl Responses {
    /// Sums over windows of `from`, left in `from`; `space` has the same length.
    #[inline(always)]
    fn sums<'a>(&self, run: usize, mut from: &'a mut [f32], mut space: &'a mut [f32]) -> &'a mut [f32] {
        let mut inner = run;
        for &n in self.sizes.iter().rev() {
            space.fill(0.0);
            for (to, from) in space.chunks_exact_mut(n * inner).zip(from.chunks_exact(n * inner)) {
                for shift in 0..=self.half.min(n - 1) {
                    let (s, rest) = (shift * inner, (n - shift) * inner);
                    to[..rest].iter_mut().zip(&from[s..]).for_each(|(t, f)| *t += f);
                    if shift > 0 {
                        to[s..].iter_mut().zip(&from[..rest]).for_each(|(t, f)| *t += f);
                    }
                }
            }
            std::mem::swap(&mut from, &mut space);
            inner *= n;
        }
        from
    }
}

impl Window for Responses {
    fn compute(&self, simd: Simd, run: usize, planes: Planes<'_>) {
        simd.run(Compute(self, run, planes));
    }
}

struct Compute<'a>(&'a Responses, usize, Planes<'a>);

impl Body for Compute<'_> {
    type Out = ();
    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        let Compute(lrn, run, Planes { inputs: [x, dd], result, extra }) = self;
        let (beta, power) = (lrn.beta, |v: f32, p: f32| Lane::<FMA>(v).powf(f64::from(p)).0);
        let (squares, space) = extra.split_at_mut(result.len());
        squares.iter_mut().zip(x).for_each(|(s, x)| *s = x * x);
        let sums = lrn.sums(run, squares, space);
        for (r, s) in result.iter_mut().zip(sums) {
            *r = lrn.k + lrn.share * *s;
        }
        if lrn.forward {
            for (r, x) in result.iter_mut().zip(x) {
                *r = x * power(*r, -beta);
            }
            return;
        }
        let (terms, space) = extra.split_at_mut(result.len());
        for (((t, base), x), dd) in terms.iter_mut().zip(&*result).zip(x).zip(dd) {
            *t = dd * x * power(*base, -beta - 1.0);
        }
        let sums = lrn.sums(run, terms, space);
        for (((r, s), x), dd) in result.iter_mut().zip(sums).zip(x).zip(dd) {
            *r = dd * power(*r, -beta) - lrn.alpha_beta * x * *s;
        }
    }
}

//! Local response normalisation.

mod across;
mod generated;
mod within;

use crate::kernels::multiversion::{Body, Simd};
use crate::kernels::pointwise::{Builder, Planes, Sides, Window, Windows};
use crate::kernels::responses::{QUARTERS, USUAL, power};
use crate::ops::fallback;
use crate::{CpuTarget, RowPlan};
use oxidnn_expr::{Lane, Num};
use oxidnn_runtime::{Impl, Plan, Skip};
use oxidnn_spec::op::{Lrn, LrnAlg};
use oxidnn_spec::{Arg, Op, Problem};

/// The rows, best first.
pub const IMPLS: &[Impl<CpuTarget>] =
    &[Impl::new("channels:jit", across::plan), Impl::new("pixels:jit", within::plan), Impl::new("planes:portable", plan), fallback::ROW];

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
    // A longer window includes no more elements.
    let reach = sizes.iter().max().map_or(0, |&longest| longest.saturating_sub(1));
    let window = Responses {
        forward,
        half: reach.min(((op.local_size - 1) / 2) as usize),
        share: op.alpha.get() / (op.local_size as f32).powi(sizes.len() as i32),
        alpha_beta: 2.0 * op.beta.get() * op.alpha.get() / (op.local_size as f32).powi(sizes.len() as i32),
        power: Power::new(op.beta.get()),
        next_power: Power::new(op.beta.get() + 1.0),
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
        Sides { inputs, second: None, extra: 2 * volume, workers: target.threads, jit: target.jit },
    )
}

/// `x (k + share * sum(x^2))^-beta` and its gradient; sums are over windows of `2 half + 1` along each dimension.
#[derive(Debug)]
struct Responses {
    forward: bool,
    half: usize,
    /// `alpha / n`.
    share: f32,
    /// `2 alpha beta / n`.
    alpha_beta: f32,
    power: Power,
    /// The power with an exponent one larger.
    next_power: Power,
    k: f32,
    sizes: Vec<usize>,
}

/// `x^-p` for non-negative numbers: by square roots if the exponent is a multiple of a quarter, as it usually is.
#[derive(Clone, Copy, Debug)]
struct Power {
    exponent: f64,
    /// The exponent in quarters, if square roots can compute it.
    quarters: Option<u8>,
}

impl Power {
    fn new(exponent: f32) -> Power {
        let quarters = QUARTERS.iter().find(|q| f32::from(**q) == exponent * 4.0).copied();
        Power { exponent: f64::from(exponent), quarters }
    }

    /// Replaces elements by their powers.
    #[inline(always)]
    fn apply<const FMA: bool>(self, x: &mut [f32]) {
        macro_rules! each {
            ($x:ident, $usual:ident, $($quarters:literal)*) => {
                match (self.quarters, $usual) {
                    $((Some($quarters), true) => $x.iter_mut().for_each(|x| *x = power(Lane::<FMA>(*x), $quarters, true).0),)*
                    $((Some($quarters), false) => $x.iter_mut().for_each(|x| *x = power(Lane::<FMA>(*x), $quarters, false).0),)*
                    _ => $x.iter_mut().for_each(|x| *x = Lane::<FMA>(*x).powf(-self.exponent).0),
                }
            };
        }
        for x in x.chunks_mut(CHUNK) {
            // Numbers in the usual range need neither a division nor a square root instruction.
            let usual = x.iter().fold(true, |usual, x| usual & (*x > USUAL.0) & (*x < USUAL.1));
            each!(x, usual, 1 2 3 4 6 7 8);
        }
    }
}

/// Elements that are processed together.
const CHUNK: usize = 256;

/// Sums of `2 half + 1` rows of `inner` elements around each of the rows of `from`; fewer rows at the ends.
#[inline(always)]
fn line(to: &mut [f32], from: &[f32], half: usize, inner: usize) {
    let n = to.len() / inner;
    let whole = n.saturating_sub(2 * half) * inner;
    let (start, end) = if whole > 0 { (half * inner, half * inner + whole) } else { (to.len(), to.len()) };
    for (i, to) in to[start..end].chunks_mut(CHUNK).enumerate() {
        let from = &from[i * CHUNK..];
        to.copy_from_slice(&from[..to.len()]);
        for j in 1..=2 * half {
            to.iter_mut().zip(&from[j * inner..]).for_each(|(t, f)| *t += f);
        }
    }
    // The rows at both ends, or all if there are fewer than a window.
    for i in (0..start / inner).chain(end / inner..n) {
        let (first, last) = (i.saturating_sub(half), (i + half).min(n - 1));
        if inner == 1 {
            to[i] = from[first..=last].iter().sum();
            continue;
        }
        let to = &mut to[i * inner..][..inner];
        to.copy_from_slice(&from[first * inner..][..inner]);
        for row in first + 1..=last {
            to.iter_mut().zip(&from[row * inner..]).for_each(|(t, f)| *t += f);
        }
    }
}

impl Responses {
    /// Sums over windows of `from`, returned in `from` or in `space`, which has the same length.
    #[inline(always)]
    fn sums<'a>(&self, run: usize, mut from: &'a mut [f32], mut space: &'a mut [f32]) -> &'a mut [f32] {
        let mut inner = run;
        for &n in self.sizes.iter().rev() {
            for (to, from) in space.chunks_exact_mut(n * inner).zip(from.chunks_exact(n * inner)) {
                line(to, from, self.half, inner);
            }
            std::mem::swap(&mut from, &mut space);
            inner *= n;
        }
        from
    }
}

impl Window for Responses {
    const TOGETHER: bool = true;

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
        let (squares, space) = extra.split_at_mut(result.len());
        squares.iter_mut().zip(x).for_each(|(s, x)| *s = x * x);
        let sums = lrn.sums(run, squares, space);
        for (r, s) in result.iter_mut().zip(sums) {
            *r = lrn.k + lrn.share * *s;
        }
        if lrn.forward {
            lrn.power.apply::<FMA>(result);
            result.iter_mut().zip(x).for_each(|(r, x)| *r *= x);
            return;
        }
        let (terms, space) = extra.split_at_mut(result.len());
        terms.copy_from_slice(result);
        lrn.next_power.apply::<FMA>(terms);
        for ((t, x), dd) in terms.iter_mut().zip(x).zip(dd) {
            *t *= dd * x;
        }
        let sums = lrn.sums(run, terms, space);
        lrn.power.apply::<FMA>(result);
        for (((r, s), x), dd) in result.iter_mut().zip(sums).zip(x).zip(dd) {
            *r = dd * *r - lrn.alpha_beta * x * *s;
        }
    }
}

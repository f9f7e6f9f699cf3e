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
pub const IMPLS: &[Impl<CpuTarget>] = &[Impl::new("planes:portable", plan), fallback::ROW];

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
    power: Power,
    /// One more.
    next_power: Power,
    k: f32,
    sizes: Vec<usize>,
}

/// `x^-p` for numbers that are not negative: of roots where the exponent is a number of quarters, as usual ones are.
#[derive(Clone, Copy, Debug)]
struct Power {
    exponent: f64,
    /// The exponent in quarters, where these are few.
    quarters: Option<u32>,
}

/// Most quarters of an exponent that roots make.
const QUARTERS: f32 = 12.0;

impl Power {
    fn new(exponent: f32) -> Power {
        let quarters = exponent * 4.0;
        let few = quarters.fract() == 0.0 && (0.0..=QUARTERS).contains(&quarters);
        Power { exponent: f64::from(exponent), quarters: few.then_some(quarters as u32) }
    }

    /// Replaces numbers.
    #[inline(always)]
    fn apply<const FMA: bool>(self, x: &mut [f32]) {
        for x in x.chunks_mut(PIECE) {
            // Numbers of usual sizes need no division and no root of the processor.
            let usual = x.iter().fold(true, |usual, x| usual & (*x > USUAL.0) & (*x < USUAL.1));
            match self.quarters.filter(|_| usual) {
                Some(2) => x.iter_mut().for_each(|x| *x = inverse_root(*x)),
                Some(3) => x.iter_mut().for_each(|x| *x = inverse_three_quarters(*x).0),
                Some(6) => x.iter_mut().for_each(|x| *x = inverse_root(*x) * inverse_root(*x) * inverse_root(*x)),
                Some(7) => x.iter_mut().for_each(|x| *x = inverse_seven_quarters(*x)),
                _ => self.apply_to_any::<FMA>(x),
            }
        }
    }

    /// The same for all numbers.
    #[inline(always)]
    fn apply_to_any<const FMA: bool>(self, x: &mut [f32]) {
        match self.quarters {
            Some(1) => x.iter_mut().for_each(|x| *x = 1.0 / x.sqrt().sqrt()),
            Some(2) => x.iter_mut().for_each(|x| *x = 1.0 / x.sqrt()),
            Some(3) => x.iter_mut().for_each(|x| *x = three_quarters(*x)),
            Some(4) => x.iter_mut().for_each(|x| *x = 1.0 / *x),
            Some(6) => x.iter_mut().for_each(|x| *x = 1.0 / (*x * x.sqrt())),
            Some(7) => x.iter_mut().for_each(|x| *x = three_quarters(*x) / *x),
            Some(8) => x.iter_mut().for_each(|x| *x = (1.0 / *x) / *x),
            _ => x.iter_mut().for_each(|x| *x = Lane::<FMA>(*x).powf(-self.exponent).0),
        }
    }
}

/// Numbers that are looked at together.
const PIECE: usize = 256;
/// Sizes of numbers whose roots and powers are far from the ends of f32.
const USUAL: (f32, f32) = (1e-16, 1e16);

/// `x^(-1/2)` by Newton's method, from a number that is right to 4 %.
#[inline(always)]
fn inverse_root(x: f32) -> f32 {
    let (half, mut y) = (0.5 * x, f32::from_bits(0x5f37_59df - (x.to_bits() >> 1)));
    for _ in 0..3 {
        y *= 1.5 - half * y * y;
    }
    y
}

/// `x^(-3/4)`, and `x^(-1/2)`.
#[inline(always)]
fn inverse_three_quarters(x: f32) -> (f32, f32) {
    let root = inverse_root(x);
    (root * inverse_root(x * root), root)
}

/// `x^(-7/4)`.
#[inline(always)]
fn inverse_seven_quarters(x: f32) -> f32 {
    let (power, root) = inverse_three_quarters(x);
    power * root * root
}

/// `x^(-3/4)` by roots.
#[inline(always)]
fn three_quarters(x: f32) -> f32 {
    let root = x.sqrt();
    1.0 / (root * root.sqrt())
}

/// Sums of `2 half + 1` rows of `inner` numbers around each of the rows of `from`, fewer at the ends.
#[inline(always)]
fn line(to: &mut [f32], from: &[f32], half: usize, inner: usize) {
    let n = to.len() / inner;
    let whole = n.saturating_sub(2 * half) * inner;
    let (start, end) = if whole > 0 { (half * inner, half * inner + whole) } else { (to.len(), to.len()) };
    macro_rules! fused {
        ($($half:literal)*) => {
            match half {
                $($half => {
                    let rows: [&[f32]; 2 * $half + 1] = std::array::from_fn(|j| &from[j * inner..][..whole]);
                    let to = &mut to[start..][..whole];
                    for (i, t) in to.iter_mut().enumerate() {
                        let mut sum = rows[0][i];
                        for row in &rows[1..] {
                            sum += row[i];
                        }
                        *t = sum;
                    }
                })*
                _ => {
                    to[start..end].copy_from_slice(&from[..whole]);
                    for j in 1..=2 * half {
                        to[start..end].iter_mut().zip(&from[j * inner..]).for_each(|(t, f)| *t += f);
                    }
                }
            }
        };
    }
    if whole > 0 {
        fused!(1 2 3 4);
    }
    // The rows at both ends, and all where there are not enough for one window.
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
    /// Sums over windows of `from`, left in `from` or `space`, which has the same length.
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

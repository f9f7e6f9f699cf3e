//! `fused:any`: a 1x1 convolution with a depthwise post-op, by a row for each of the two, with the intermediate result in scratch.
//!
//! An image is processed in bands of rows. For each band the first row computes the lines of the intermediate result that the band needs
//! and that do not exist yet; the second row computes the band from them while they are in L2. Small images are processed together, as many
//! as fit into L2. Each row is the best one that takes its part of the problem, so types, layouts and instruction sets are those of all
//! rows.

use super::{IMPLS, window};
use crate::CpuTarget;
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::{Scratch, booked};
use crate::ops::rounds::{behind, bytes, differs, divisor, is_apart, part};
use crate::ops::support;
use crate::row::{Generated, RowPlan};
use oxidnn_runtime::{Bound, Buf, Ctx, Decision, Exec, Plan, Region, Skip};
use oxidnn_spec::op::{Conv, ConvSizes, Window};
use oxidnn_spec::{Arg, Attr, Dims, Error, Op, PostOp, Problem, Quant, Rounding, Tensor};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Most bands of an image.
const MAX_BANDS: usize = 256;
/// The attributes' arguments in the whole problem, and in the depthwise convolution.
const DW_ARGS: [(Arg, Arg); 3] = [(DW_WEIGHTS, Arg::WEIGHTS), (Arg::DST, Arg::SRC), (Arg::depthwise(Arg::DST), Arg::DST)];
const DW_WEIGHTS: Arg = Arg::depthwise(Arg::WEIGHTS);
const DW_BIAS: Arg = Arg::depthwise(Arg::BIAS);

/// One of the two convolutions of a band.
#[derive(Clone, Copy, Debug)]
struct Half {
    /// Which plan.
    plan: usize,
    /// Byte offsets of the band in its source and in its result.
    from: usize,
    to: usize,
}

/// Rows of results, and the rows of the intermediate result that no earlier band needed.
#[derive(Clone, Copy, Debug)]
struct Band {
    first: Option<Half>,
    second: Half,
}

/// The plans for one of the two convolutions: bands of equal sizes share a plan.
type Plans = Vec<Box<dyn Plan>>;

#[derive(Debug)]
struct Fused {
    /// Index of the depthwise post-op.
    index: usize,
    /// Rounds of images, and bytes of source and destination from one round to the next.
    rounds: usize,
    round_bytes: [usize; 2],
    bands: Vec<Band>,
    plans: [Plans; 2],
    /// Bytes of the intermediate result of a round.
    middle: usize,
}

/// How the batch is cut.
#[derive(Clone, Copy)]
struct Cut {
    /// Images of a round, result rows of a band.
    images: i64,
    rows: i64,
    /// Whether images are cut into bands: then a source row is a row of the intermediate result.
    bands: bool,
}

/// Both convolutions, while they are planned.
struct Halves<'p> {
    op: Conv,
    attr: &'p Attr,
    index: usize,
    /// Sizes of the depthwise convolution.
    sizes: ConvSizes,
    /// The intermediate result of a round.
    middle: Tensor,
    cut: Cut,
    target: &'p CpuTarget,
    plans: [Plans; 2],
}

/// Plans `problem`.
///
/// # Errors
/// Problems that the row does not take.
pub(super) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let index = problem.attr.depthwise_index().ok_or(Skip::Op("convolutions without a depthwise post-op"))?;
    check(problem, index)?;
    let mut problem = problem.clone();
    for o in problem.op.operands_mut().into_iter().filter(|o| [Arg::SRC, Arg::DST].contains(&o.arg)) {
        support::resolve(o.tensor, "axb")?;
    }
    problem.attr.post_ops = support::resolved(&problem).attr.post_ops;
    let Op::Conv(op) = &problem.op else { return Err(Skip::Op("other than a convolution")) };
    let sizes = op.depthwise_sizes(&problem.attr).filter(|_| op.depthwise_dst.is_some()).ok_or(Skip::Op("without a destination"))?;
    let cut = cut(op, &problem.attr, (&sizes, target))?;
    let dims = Dims::from([cut.images, sizes.g, sizes.i[1], sizes.i[2]]);
    let middle = Tensor::with_tag(dims, op.dst.dtype, "axb").map_err(|e| Skip::Layout(e.to_string()))?;
    let (images, round_bytes) = (sizes.mb / cut.images, [&op.src, depthwise_dst(op)].map(|t| bytes(t, 0) * cut.images as usize));
    let (op, attr) = ((**op).clone(), problem.attr.clone());
    let mut halves = Halves { op, attr: &attr, index, sizes, middle, cut, target, plans: [Vec::new(), Vec::new()] };
    let bands = halves.bands()?;
    let Halves { op, middle, plans, .. } = halves;
    let fused = Fused { index, rounds: images as usize, round_bytes, bands, plans, middle: middle.bytes() };
    problem.op = op.into();
    problem.resolve();
    RowPlan::of(problem, target, booked(&fused.parts()), fused)
}

/// Refuses attributes that the two parts would apply differently from the whole.
fn check(problem: &Problem, index: usize) -> Result<(), Skip> {
    let attr = &problem.attr;
    support::known(problem)?;
    if problem.operands().len() + 2 > support::OPERANDS || problem.op.operands().iter().any(|o| o.tensor.is_empty()) {
        return Err(Skip::Shape("so many operands, or empty ones"));
    }
    if attr.dropout.is_some() || attr.rounding.values().any(|r| *r == Rounding::Stochastic) || !attr.precomputed_reductions.is_empty() {
        return Err(Skip::Attr("dropout, stochastic rounding or precomputed reductions".into()));
    }
    if attr.post_ops[..index].iter().any(|p| matches!(p, PostOp::Sum { .. })) {
        return Err(Skip::Attr("a sum before the depthwise post-op".into()));
    }
    Ok(())
}

/// The destination of the depthwise convolution, which is that of the whole.
fn depthwise_dst(op: &Conv) -> &Tensor {
    op.depthwise_dst.as_ref().unwrap_or(&op.dst)
}

/// Rounds of as many images as have their intermediate results in L2, or bands of an image.
fn cut(op: &Conv, attr: &Attr, (sizes, target): (&ConvSizes, &CpuTarget)) -> Result<Cut, Skip> {
    let too_large = Skip::Shape("an intermediate result beyond the address space");
    let (all, [_, height, width]) = (sizes.mb, sizes.i);
    let row = (sizes.g as usize).checked_mul(width as usize).and_then(|n| n.checked_mul(op.dst.dtype.bits()));
    let row = row.ok_or(too_large)?.div_ceil(8).max(1);
    let budget = target.caches.l2 / 2 * target.threads.max(1);
    let dst = depthwise_dst(op);
    let cuts = |dim: usize| is_apart(&op.src, dim) && is_apart(dst, dim) && !differs(attr, |d| d == dim);
    let image = row.saturating_mul(height as usize);
    let images = if cuts(0) { divisor(all as usize, budget / image) as i64 } else { all };
    let first = op.sizes();
    let same_rows = first.s[1] == 1 && first.pl[1] == 0 && first.i[1] == first.o[1];
    let bands = images == 1 && image > budget && same_rows && op.dst.dtype.bits() >= 8 && cuts(2);
    let [_, out, _] = sizes.o;
    let most = ((budget / row) as i64 - (sizes.k[1] - sizes.s[1])) / sizes.s[1];
    let rows =
        if bands { window::cut(out as usize, most.max(1) as usize, 1).0.max((out as usize).div_ceil(MAX_BANDS)) as i64 } else { out };
    Ok(Cut { images, rows, bands })
}

impl Halves<'_> {
    /// Plans all bands.
    fn bands(&mut self) -> Result<Vec<Band>, Skip> {
        let (mut bands, mut done) = (Vec::new(), 0);
        let (out, [source, result]) = (self.sizes.o[1], [bytes(&self.op.src, 2), bytes(depthwise_dst(&self.op), 2)]);
        let middle = bytes(&self.middle, 2);
        for start in (0..out).step_by(self.cut.rows as usize) {
            let rows = start..out.min(start + self.cut.rows);
            let rows_read = self.rows_read(&rows);
            let first = if rows_read.end > done {
                let problem = self.first(rows_read.end - done).ok_or(Skip::Op("this 1x1 convolution alone"))?;
                let [from, to] = [source, middle].map(|row| row * done as usize);
                Some(Half { plan: self.half(0, problem)?, from, to })
            } else {
                None
            };
            done = done.max(rows_read.end);
            let problem = self.second(&rows, &rows_read).ok_or(Skip::Op("this depthwise convolution alone"))?;
            let second = Half { plan: self.half(1, problem)?, from: rows_read.start as usize * middle, to: start as usize * result };
            bands.push(Band { first, second });
        }
        Ok(bands)
    }

    /// The rows of the intermediate result that rows of results read.
    fn rows_read(&self, rows: &Range<i64>) -> Range<i64> {
        let s = &self.sizes;
        if !self.cut.bands {
            return 0..s.i[1];
        }
        (rows.start * s.s[1] - s.pl[1]).max(0)..((rows.end - 1) * s.s[1] - s.pl[1] + s.k[1]).min(s.i[1])
    }

    /// The 1x1 convolution of `rows` rows.
    fn first(&self, rows: i64) -> Option<Problem> {
        let (op, attr) = (&self.op, self.attr);
        let source = if self.cut.bands { rows } else { op.src.dims()[2] };
        let tensors = [part(&op.src, self.cut.images, source)?, op.weights.clone(), part(&self.middle, self.cut.images, rows)?];
        let own = |of: &BTreeMap<Arg, Quant>| {
            let own = of.iter().filter(|(arg, _)| [Arg::SRC, Arg::WEIGHTS, Arg::DST].contains(arg));
            own.map(|(arg, q)| (*arg, q.clone())).collect()
        };
        let attr = Attr {
            scales: own(&attr.scales),
            zero_points: own(&attr.zero_points),
            post_ops: attr.post_ops[..self.index].to_vec(),
            ..self.common()
        };
        Problem::new(Conv::new(op.prop, op.alg, tensors, op.bias.clone(), op.window.clone()), attr).ok()
    }

    /// The depthwise convolution that computes `rows` from the rows `rows_read` of the intermediate result.
    fn second(&self, rows: &Range<i64>, rows_read: &Range<i64>) -> Option<Problem> {
        let (op, attr, s) = (&self.op, self.attr, &self.sizes);
        let images = self.cut.images;
        let dst = part(depthwise_dst(op), images, rows.end - rows.start)?;
        let tensors = [part(&self.middle, images, rows_read.end - rows_read.start)?, op.depthwise_weights.clone()?, dst];
        let low = rows_read.start - (rows.start * s.s[1] - s.pl[1]);
        let high = (rows.end - 1) * s.s[1] - s.pl[1] + s.k[1] - rows_read.end;
        let window = Window {
            strides: Dims::from([s.s[1], s.s[2]]),
            dilations: Dims::from([0, 0]),
            padding_l: Dims::from([low, s.pl[2]]),
            padding_r: Dims::from([high, s.pr[2]]),
        };
        let moved = |of: &BTreeMap<Arg, Quant>| DW_ARGS.iter().filter_map(|(arg, to)| Some((*to, of.get(arg)?.clone()))).collect();
        let attr = Attr {
            scales: moved(&attr.scales),
            zero_points: moved(&attr.zero_points),
            post_ops: attr.post_ops[self.index + 1..].to_vec(),
            ..self.common()
        };
        Problem::new(Conv::new(op.prop, op.alg, tensors, op.depthwise_bias.clone(), window), attr).ok()
    }

    /// The attributes that both inherit.
    fn common(&self) -> Attr {
        let Attr { fpmath, accumulation, deterministic, hint_reusable_kernels, .. } = *self.attr;
        Attr { fpmath, accumulation, deterministic, hint_reusable_kernels, ..Attr::default() }
    }

    /// Plans a part by the best row that takes it; returns the plan's index. All bands use the weight layout that the first plan chose.
    fn half(&mut self, which: usize, problem: Problem) -> Result<usize, Skip> {
        if let Some(known) = self.plans[which].iter().position(|p| *p.problem() == problem) {
            return Ok(known);
        }
        let none = if which == 0 { "a 1x1 convolution that no row takes" } else { "a depthwise convolution that no row takes" };
        let plan = support::best(IMPLS, &problem, self.target).ok_or(Skip::Op(none))?;
        if let Op::Conv(chosen) = &plan.problem().op {
            let (weights, bias) = (chosen.weights.clone(), chosen.bias.clone());
            match which {
                0 => (self.op.weights, self.op.bias) = (weights, bias),
                _ => (self.op.depthwise_weights, self.op.depthwise_bias) = (Some(weights), bias),
            }
        }
        self.plans[which].push(plan);
        Ok(self.plans[which].len() - 1)
    }
}

impl Fused {
    /// Elements of scratch: for the executions, and for the intermediate result.
    fn parts(&self) -> [usize; 2] {
        let shared = self.plans.iter().flatten().map(|p| p.scratch_bytes()).max().unwrap_or(0);
        [shared.div_ceil(4), self.middle.div_ceil(4)]
    }

    /// The name that an argument has in one of the convolutions, except for its source and result.
    fn named(&self, which: usize, arg: Arg) -> Option<Arg> {
        if let Some((i, of)) = arg.post_op_index() {
            return match which {
                0 => (i < self.index).then_some(arg),
                _ => (i > self.index).then(|| Arg::post_op(i - self.index - 1, of)),
            };
        }
        if which == 0 {
            let quantised = [Arg::SRC, Arg::WEIGHTS, Arg::DST].iter().any(|of| [Arg::scale(*of), Arg::zero_point(*of)].contains(&arg));
            return (quantised || [Arg::WEIGHTS, Arg::BIAS].contains(&arg)).then_some(arg);
        }
        let numbers =
            DW_ARGS.iter().flat_map(|(of, to)| [(Arg::scale(*of), Arg::scale(*to)), (Arg::zero_point(*of), Arg::zero_point(*to))]);
        numbers.chain([(DW_WEIGHTS, Arg::WEIGHTS), (DW_BIAS, Arg::BIAS)]).find(|(of, _)| *of == arg).map(|(_, to)| to)
    }

    /// Executes one of the convolutions of a band from one buffer to another.
    fn half(&self, (which, code): (usize, &[Arc<dyn Exec>]), half: Half, ctx: &Ctx<'_>, [from, to]: [Buf<'_>; 2]) -> Result<(), Error> {
        let unbound = |arg: Arg| Error::arg(arg, "nothing", "a memory object");
        let (source, result) =
            (ctx.bound(Arg::SRC).ok_or_else(|| unbound(Arg::SRC))?, ctx.bound(Arg::DST).ok_or_else(|| unbound(Arg::DST))?);
        let Op::Conv(op) = &self.plans[which][half.plan].problem().op else { return Err(unbound(Arg::DST)) };
        let regions = [from, to].map(|buf| [Region::host(buf)]);
        let from = Bound { tensor: &op.src, regions: &regions[0], ..*source };
        let to = Bound { tensor: &op.dst, regions: &regions[1], ..*result };
        support::run_between(&*code[half.plan], ctx, ctx.scratch, [from, to], |arg| self.named(which, arg))
    }
}

impl Generated for Fused {
    type Code = [Vec<Arc<dyn Exec>>; 2];

    fn decision(&self, _: &Problem) -> Decision {
        let decisions = [0, 1].map(|which| self.plans[which].iter().map(|p| p.decision()).collect::<Vec<_>>());
        let seconds = self.bands.iter().map(|band| {
            let first = band.first.map_or(Some(0.0), |half| decisions[0][half.plan].seconds);
            Some(first? + decisions[1][band.second.plan].seconds?)
        });
        let seconds: Option<f64> = seconds.sum();
        let [first, second] = decisions.map(|all| all.into_iter().next().unwrap_or_default());
        let mut blocks: Vec<_> = first.blocks.into_iter().chain(second.blocks).collect();
        blocks.sort_by_key(|b| b.level);
        let bands = self.bands.len() * self.rounds;
        let algorithm = format!("{bands} bands of a 1x1 and of a depthwise convolution: {}, then {}", first.algorithm, second.algorithm);
        Decision { algorithm, blocks, seconds: seconds.map(|s| s * self.rounds as f64) }
    }

    fn build(&self) -> Result<Self::Code, Error> {
        let build = |plans: &Plans| plans.iter().map(|p| p.build()).collect::<Result<Vec<_>, Error>>();
        Ok([build(&self.plans[0])?, build(&self.plans[1])?])
    }

    fn table_bytes(&self) -> usize {
        self.bands.len() * size_of::<Band>()
    }

    fn run(&self, [first, second]: &Self::Code, _simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let [shared, middle] = self.parts();
        let shared = scratch.take(shared)?.into_buf();
        let middle = scratch.take(middle)?.into_buf().part(0, self.middle);
        let (src, dst) = (ctx.buf(Arg::SRC)?, ctx.buf(Arg::DST)?);
        let ctx = &Ctx { scratch: Region::host(shared), ..*ctx };
        for round in 0..self.rounds {
            let [src_at, dst_at] = self.round_bytes.map(|bytes| bytes * round);
            for Band { first: half, second: last } in &self.bands {
                if let Some(half) = half {
                    self.half((0, first), *half, ctx, [behind(src, src_at + half.from), behind(middle, half.to)])?;
                }
                self.half((1, second), *last, ctx, [behind(middle, last.from), behind(dst, dst_at + last.to)])?;
            }
        }
        Ok(())
    }
}

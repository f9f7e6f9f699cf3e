//! `staged:jit`: products whose operands have a layout or a type that no generated row takes, computed on copies that have one.
//!
//! The operation is planned with some of its operands in the layout that a generated row asks for. These copies are in scratch: reorders write
//! them before the row runs, and read its result from there afterwards. That is one pass over memory, where the portable rows would gather
//! elements one by one. Of all sets of operands with which a generated row takes the problem, the one with the fewest elements is copied.
//! Convolutions whose source and result are copied (NCHW) run in rounds of images, so that the copies stay in the caches; those of 1x1 windows
//! run in bands of rows, one worker each. Weights are copied once for all images.

use super::conv::window::Setup;
use super::rounds::{behind, bytes, differs, divisor, is_apart, part};
use super::support::{OPERANDS, run_between, run_with};
use super::{matmul, passes, reorder};
use crate::CpuTarget;
use crate::decision::around;
use crate::kernels::multiversion::Simd;
use crate::kernels::pointwise::Program;
use crate::kernels::scratch::{Scratch, booked, for_workers};
use crate::row::{Generated, RowPlan};
use oxidnn_runtime::queue::Immediate;
use oxidnn_runtime::{ALIGNMENT, Bound, Buf, Choose, Ctx, Decision, Exec, Plan, Region, Skip};
use oxidnn_spec::op::{Operand, Reorder, Use};
use oxidnn_spec::{Arg, Attr, DataType, Error, Format, Op, Problem, Prop, Tensor};
use std::sync::{Arc, OnceLock};

mod repeat;
#[cfg(test)]
mod tests;

/// Operands of a product that may be copied.
const STAGED: [Arg; 6] = [Arg::SRC, Arg::WEIGHTS, Arg::DST, Arg::DIFF_SRC, Arg::DIFF_WEIGHTS, Arg::DIFF_DST];
/// Elements of a result from which on its operands are copied, and neighbours that it shares with one which is not.
const LEAST: i64 = 1024;
const RUN: usize = 16;
/// Bytes of a number of scratch.
const WORD: usize = 4;
/// Fewest bands that are taken by a worker each, and fewest pixels of one.
const BANDS: i64 = 8;
const PIXELS: i64 = 48;

/// An operand that the operation sees as something else.
#[derive(Debug)]
struct Stage {
    arg: Arg,
    /// What it is to the operation, in a round.
    tensor: Tensor,
    /// Of images: bytes of the operand from those of a round to the next, and from band to band.
    steps: Option<[usize; 2]>,
    /// Whether that lies in scratch, and not in the operand's own memory.
    apart: bool,
    /// Reorders that make it of the operand before the operation, and the operand of it behind that.
    reorders: [Option<Box<dyn Plan>>; 2],
}

/// An operation by the plan of one whose operands are others.
#[derive(Debug)]
struct Staged {
    /// What is done so, for people to read.
    what: &'static str,
    inner: Box<dyn Plan>,
    stages: Vec<Stage>,
    rounds: Rounds,
}

/// Rounds of images, and of bands of rows of these.
#[derive(Clone, Copy, Debug)]
struct Rounds {
    count: usize,
    /// Bands of an image.
    bands: usize,
    /// Workers that take rounds of their own; 0 where all work on one.
    workers: usize,
}

impl Rounds {
    const ONE: Rounds = Rounds { count: 1, bands: 1, workers: 0 };
}

/// The code of the operation and of the reorders of every stage.
struct Code {
    inner: Arc<dyn Exec>,
    stages: Vec<[Option<Arc<dyn Exec>>; 2]>,
}

/// How most operations are staged.
const COPIES: &str = "on copies of operands";

/// Types of copies by argument, where they differ from the operand's.
pub(crate) type Types = &'static [(Arg, DataType)];

/// What copies of convolutions and inner products may be, one after the other: as they are, but for gradients of weights, which are summed in f32, and
/// for elements of 8 bits, all of which bf16 has.
pub(crate) fn types(problem: &Problem) -> &'static [Types] {
    const FLOATS: Types = &[(Arg::SRC, DataType::F32), (Arg::DIFF_DST, DataType::F32), (Arg::DIFF_WEIGHTS, DataType::F32)];
    const SHORT: Types = &[
        (Arg::SRC, DataType::Bf16),
        (Arg::WEIGHTS, DataType::Bf16),
        (Arg::DIFF_DST, DataType::Bf16),
        (Arg::DST, DataType::F32),
        (Arg::DIFF_SRC, DataType::F32),
    ];
    let has = |types: &[DataType]| problem.op.operands().iter().any(|o| types.contains(&o.tensor.dtype));
    match problem.op.prop() {
        // f32 would lose half of the digits of f64.
        _ if has(&[DataType::F64]) => &[&[]],
        Some(Prop::BackwardWeights) => &[&[(Arg::DIFF_WEIGHTS, DataType::F32)], FLOATS],
        _ if has(&[DataType::F8E5m2, DataType::F8E4m3]) => &[SHORT],
        _ => &[&[]],
    }
}

/// Plans `problem` by the first of `rows` that takes it with copies of some operands, whose types are one of `types`.
///
/// # Errors
/// Where no row takes it so.
pub(crate) fn plan(problem: &Problem, target: &CpuTarget, rows: &[Choose<CpuTarget>], types: &[Types]) -> Result<Box<dyn Plan>, Skip> {
    super::support::known(problem)?;
    let dense = |t: &Tensor| matches!(t.layout.format, Format::Any | Format::Blocked(_) | Format::HostScalar);
    if let Some(o) = problem.operands().iter().find(|o| !dense(&o.tensor)) {
        return Err(Skip::Layout(format!("of {}: not dense", o.arg)));
    }
    if problem.operands().len() + 2 > OPERANDS {
        return Err(Skip::Shape("so many operands"));
    }
    let none = || Skip::Layout("of the operands, nor any that they could be copied to".into());
    types.iter().find_map(|types| with_types(problem, target, rows, types)).ok_or_else(none)
}

/// The plan of `problem`, layouts resolved, by that of the same problem whose operands are described in other words: what they are lies in the same
/// bytes.
///
/// # Errors
/// Where an operand is missing, or scratch exceeds the address space.
pub(crate) fn viewed(problem: Problem, inner: Box<dyn Plan>, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let mut stages = Vec::new();
    for o in problem.operands() {
        let tensor = inner.problem().tensor(o.arg).ok_or(Skip::Op("without an operand"))?;
        if o.tensor != tensor {
            stages.push(Stage { arg: o.arg, tensor, steps: None, apart: false, reorders: [None, None] });
        }
    }
    if stages.len() > STAGED.len() {
        return Err(Skip::Shape("so many operands"));
    }
    finish(problem, Staged { what: COPIES, inner, stages, rounds: Rounds::ONE }, target)
}

/// An operand that is something else to an operation.
pub(crate) struct Copied {
    /// What is done so, for people to read.
    pub(crate) what: &'static str,
    pub(crate) arg: Arg,
    /// Whether that lies in scratch, and not in the operand's own memory.
    pub(crate) apart: bool,
    /// Reorders that make it of the operand before the operation, and the operand of it behind that.
    pub(crate) reorders: [Option<Box<dyn Plan>>; 2],
}

/// The plan of `problem`, layouts resolved, by that of one with another operand.
///
/// # Errors
/// Where there is no such operand, or scratch exceeds the address space.
pub(crate) fn with_copy(problem: Problem, inner: Box<dyn Plan>, copied: Copied, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let Copied { what, arg, apart, reorders } = copied;
    let tensor = inner.problem().op.tensor(arg).ok_or(Skip::Op("without an operand"))?.clone();
    finish(problem, Staged { what, inner, stages: vec![Stage { arg, tensor, steps: None, apart, reorders }], rounds: Rounds::ONE }, target)
}

fn finish(problem: Problem, staged: Staged, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let scratch = staged.each().and_then(|each| booked(&[for_workers(staged.rounds.workers, each)?]));
    RowPlan::of(problem, target, scratch, staged)
}

/// The plan with copies of these types.
fn with_types(problem: &Problem, target: &CpuTarget, rows: &[Choose<CpuTarget>], types: Types) -> Option<Box<dyn Plan>> {
    let named = |arg: Arg| types.iter().find(|t| t.0 == arg).map(|t| t.1);
    let may = |o: &Operand<&Tensor>| {
        let changes = named(o.arg).is_some_and(|t| t != o.tensor.dtype);
        STAGED.contains(&o.arg) && !o.tensor.is_empty() && (changes || !o.tensor.layout.is_any())
    };
    let copy = |o: Operand<&Tensor>| (o.arg, Tensor::any(*o.tensor.dims(), named(o.arg).unwrap_or(o.tensor.dtype)));
    let all: Vec<(Arg, Tensor)> = problem.op.operands().into_iter().filter(may).map(copy).collect();
    let numbers = |set: usize| copies(&all, set).fold(0i64, |sum, (_, t)| sum.saturating_add(t.dims().volume().unwrap_or(i64::MAX)));
    let mut sets: Vec<usize> = (1..1 << all.len()).collect();
    sets.sort_by_key(|set| numbers(*set));
    sets.into_iter().find_map(|set| attempt(problem, target, rows, &copies(&all, set).cloned().collect::<Vec<_>>()))
}

/// The operands in a set.
fn copies(all: &[(Arg, Tensor)], set: usize) -> impl Iterator<Item = &(Arg, Tensor)> {
    all.iter().enumerate().filter(move |(i, _)| set >> i & 1 == 1).map(|(_, copy)| copy)
}

/// The plan with copies of these operands, in layouts that a row chooses.
fn attempt(problem: &Problem, target: &CpuTarget, rows: &[Choose<CpuTarget>], copies: &[(Arg, Tensor)]) -> Option<Box<dyn Plan>> {
    let (mut staged, cut) = (problem.clone(), cut(problem, copies, target));
    for (arg, tensor) in copies {
        let operand = staged.op.tensor_mut(*arg)?;
        // A copy in floating-point elements of whole ones is what these stand for.
        if operand.dtype.is_integral() && !tensor.dtype.is_integral() {
            staged.attr.scales.remove(arg);
            staged.attr.zero_points.remove(arg);
        }
        let mut tensor = tensor.clone();
        if let Some(cut) = cut.filter(|_| *arg != Arg::WEIGHTS) {
            tensor.layout.dims[0] = cut.images;
            tensor.layout.dims[2] = cut.rows.unwrap_or(tensor.layout.dims[2]);
        }
        *staged.op.tensor_mut(*arg)? = tensor;
    }
    let workers = cut.and_then(|cut| cut.rows).map_or(0, |_| target.threads.max(1));
    let inner = CpuTarget { threads: if workers > 0 { 1 } else { target.threads }, ..*target };
    in_rounds(problem, rows.iter().find_map(|row| row(&staged, &inner).ok())?, workers, target)
}

/// What a convolution takes in a round: images, and rows of these where not all.
#[derive(Clone, Copy)]
struct Cut {
    images: i64,
    rows: Option<i64>,
}

/// The rounds of a convolution whose source and result are copied: as many images as divide the batch, with copies that stay in the last cache; of windows of
/// one pixel, where there are enough of them, what a core's own cache holds.
fn cut(problem: &Problem, copies: &[(Arg, Tensor)], target: &CpuTarget) -> Option<Cut> {
    let (attr, data) = (&problem.attr, || copies.iter().filter(|(arg, _)| *arg != Arg::WEIGHTS));
    let s = Setup::of(&problem.op).ok().filter(|_| data().count() == 2)?;
    let quants = attr.scales.iter().chain(&attr.zero_points);
    let by_position = quants.filter(|(arg, _)| **arg != Arg::WEIGHTS).any(|(_, q)| q.mask & !0b10 != 0);
    let apart = |dim: usize| [s.source.1, s.result.1].iter().all(|t| is_apart(t, dim)) && !differs(attr, |d| d == dim);
    if by_position || !apart(0) {
        return None;
    }
    let (all, dims) = (s.sizes.mb, s.result.1.dims());
    let bytes: i64 = data().filter_map(|(_, copy)| Some(copy.dims().volume()? * copy.dtype.bits() as i64 / 8 / all)).sum();
    let (bytes, pixels) = (bytes.max(1), dims[2..].iter().product::<i64>());
    let pointwise = [s.sizes.k, s.sizes.s] == [[1; 3]; 2] && s.source.1.dims()[2..] == dims[2..];
    if pointwise && copies.len() == 2 && !differs(attr, |d| d != 1) && apart(2) {
        let most = (target.caches.budget(false).plain as i64 * pixels / bytes).min(PIXELS.max(all * pixels / BANDS));
        let rows = divisor(dims[2] as usize, (most * dims[2] / pixels) as usize) as i64;
        let images = if rows == dims[2] { divisor(all as usize, (most / pixels) as usize) as i64 } else { 1 };
        if images * rows * pixels / dims[2] >= PIXELS && all / images * (dims[2] / rows) >= BANDS {
            return Some(Cut { images, rows: Some(rows) });
        }
    }
    Some(Cut { images: divisor(all as usize, target.caches.l3 / 8 / bytes as usize) as i64, rows: None })
}

/// The plan of `problem` by that of the same problem with some operands in other layouts or of other types, on copies of these.
pub(crate) fn copied(problem: &Problem, inner: Box<dyn Plan>, target: &CpuTarget) -> Option<Box<dyn Plan>> {
    in_rounds(problem, inner, 0, target)
}

/// The same where the other problem may be a round of it, which `workers` take by themselves.
fn in_rounds(problem: &Problem, inner: Box<dyn Plan>, workers: usize, target: &CpuTarget) -> Option<Box<dyn Plan>> {
    let (mut resolved, chosen) = (problem.clone(), inner.problem());
    resolved.attr.post_ops = chosen.attr.post_ops.clone();
    let (mut stages, mut rounds) = (Vec::new(), Rounds { workers, ..Rounds::ONE });
    for o in resolved.op.operands_mut() {
        let tensor = chosen.op.tensor(o.arg)?;
        if o.tensor.layout.is_any() {
            // A copy of another type lies as the operand does.
            *o.tensor = Tensor { dtype: o.tensor.dtype, layout: tensor.layout.clone() };
        }
        if o.tensor != tensor {
            let before = o.usage == Use::In || problem.attr.reads_dst();
            let nothing = Attr::default();
            let quant = if o.tensor.dtype.is_integral() && !tensor.dtype.is_integral() { &problem.attr } else { &nothing };
            let (mut outside, mut steps) = (o.tensor.clone(), None);
            if o.tensor.dims() != tensor.dims() {
                let [images, rows] = [0, 2].map(|d| tensor.dims()[d]);
                outside = part(o.tensor, images, rows)?;
                steps = Some([bytes(o.tensor, 0) * images as usize, bytes(o.tensor, 2) * rows as usize]);
                let [images, bands] = [0, 2].map(|d| (o.tensor.dims()[d] / tensor.dims()[d]) as usize);
                rounds = Rounds { count: images * bands, bands, workers };
            }
            let before = if before { Some(copy(&outside, tensor, (o.arg, quant), target)?) } else { None };
            let after = if o.usage == Use::Out { Some(copy(tensor, &outside, (o.arg, &nothing), target)?) } else { None };
            stages.push(Stage { arg: o.arg, tensor: tensor.clone(), steps, apart: true, reorders: [before, after] });
        }
    }
    // Where nothing is copied the row itself takes the problem.
    if stages.is_empty() {
        return None;
    }
    finish(resolved, Staged { what: COPIES, inner, stages, rounds }, target).ok()
}

/// Plans a problem element by element by `row`, on copies of the operands that have other neighbours than its result: to change their places is what takes
/// time, and reorders are made for that.
///
/// # Errors
/// Where no operand is to be copied, or the row does not take the problem so.
pub(crate) fn alike(problem: &Problem, target: &CpuTarget, row: Choose<CpuTarget>) -> Result<Box<dyn Plan>, Skip> {
    let mut resolved = problem.clone();
    resolved.resolve();
    super::support::known(&resolved)?;
    let result = resolved.op.result().ok_or(Skip::Op("without a result"))?.clone();
    let (dims, mut copies, mut lying) = (*result.dims(), 0, resolved.clone());
    if dims.volume().is_none_or(|n| n < LEAST) {
        return Err(Skip::Shape("few elements"));
    }
    if reorder::is_sparse(&result) {
        return Err(Skip::Layout("of the result: mostly padding".into()));
    }
    for o in lying.op.operands_mut() {
        let copy = Tensor { dtype: o.tensor.dtype, layout: result.layout.resized(dims) };
        if o.usage == Use::In && *o.tensor.dims() == dims && *o.tensor != copy && reorder::run(&result, o.tensor) < RUN {
            *o.tensor = copy;
            copies += 1;
        }
    }
    if !(1..=STAGED.len()).contains(&copies) || resolved.operands().len() + 2 > OPERANDS {
        return Err(Skip::Layout("of the operands: the same neighbours, or many others".into()));
    }
    let inner = row(&lying, target)?;
    copied(&resolved, inner, target).ok_or(Skip::Layout("of the operands, nor any that they could be copied to".into()))
}

/// Plans gradients of weights of groups, where one operand has a single channel in a group and the other one several, as depthwise ones by the first of
/// `rows` that takes them: on a copy of that operand which repeats each channel for every one that it meets.
///
/// # Errors
/// What are no such gradients, layouts of the gradient other than row-major, and what no row takes so.
pub(crate) fn repeated(problem: &Problem, target: &CpuTarget, rows: &[Choose<CpuTarget>]) -> Result<Box<dyn Plan>, Skip> {
    let operand = |arg: Arg| problem.op.tensor(arg).ok_or(Skip::Op("anything but gradients of weights"));
    let (src, diff, weights) = (operand(Arg::SRC)?, operand(Arg::DIFF_DST)?, operand(Arg::DIFF_WEIGHTS)?);
    let (groups, all) = (weights.dims()[0], src.dims()[1].max(diff.dims()[1]));
    let biased = problem.op.tensor(Arg::DIFF_BIAS).is_some();
    let (arg, thin) = if src.dims()[1] == groups { (Arg::SRC, src) } else { (Arg::DIFF_DST, diff) };
    let single = weights.dims().len() > src.dims().len() && groups > 1 && thin.dims()[1] == groups;
    if !single || all == groups || biased && arg == Arg::DIFF_DST || thin.is_empty() {
        return Err(Skip::Shape("groups without a single channel of one operand and several of the other"));
    }
    super::support::known(problem)?;
    let none = || Skip::Layout("of the operands, nor any that they could be copied to".into());
    let last = Tensor::with_tag(*thin.dims(), thin.dtype, "axb").map_err(|e| Skip::Layout(e.to_string()))?;
    if !thin.layout.is_any() && *thin != last {
        // Channels are repeated where they are neighbours, and a reorder makes them so.
        let mut neighbours = problem.clone();
        neighbours.op.tensor_mut(arg).into_iter().for_each(|t| *t = last.clone());
        return copied(problem, repeated(&neighbours, target, rows)?, target).ok_or_else(none);
    }
    let mut resolved = problem.clone();
    for o in resolved.op.operands_mut() {
        match o.arg {
            Arg::DIFF_WEIGHTS => super::support::resolve(o.tensor, "abx")?,
            _ if o.arg == arg => super::support::resolve(o.tensor, "axb")?,
            _ => {}
        }
    }
    let mut wide = resolved.clone();
    let with = |tensor: &Tensor, at: &[(usize, i64)]| {
        let mut dims = *tensor.dims();
        at.iter().for_each(|(d, size)| dims[*d] = *size);
        Tensor::any(dims, tensor.dtype)
    };
    let plain = |tensor: Tensor| Tensor::plain(*tensor.dims(), tensor.dtype).map_err(|e| Skip::Layout(e.to_string()));
    for o in wide.op.operands_mut() {
        if o.arg == Arg::DIFF_WEIGHTS {
            if *o.tensor != plain(with(o.tensor, &[]))? {
                return Err(Skip::Layout("of the gradient: not row-major".into()));
            }
            *o.tensor = plain(with(o.tensor, &[(0, all), (1, 1), (2, 1)]))?;
        } else if o.arg == arg {
            *o.tensor = with(o.tensor, &[(1, all)]);
        }
    }
    let wide = Problem::new(wide.op, wide.attr).map_err(|_| Skip::Op("what is no depthwise convolution with repeated channels"))?;
    let inner = rows.iter().find_map(|row| row(&wide, target).ok()).ok_or_else(none)?;
    let mut stages = Vec::new();
    for o in resolved.op.operands_mut() {
        let tensor = inner.problem().op.tensor(o.arg).ok_or(Skip::Op("without an operand"))?;
        if o.arg == Arg::DIFF_WEIGHTS {
            stages.push(Stage { arg: o.arg, tensor: tensor.clone(), steps: None, apart: false, reorders: [None, None] });
        } else if o.arg == arg {
            let [from, to] = [(&*o.tensor, 1), (tensor, all / groups)].map(|(t, each)| in_groups(t, [groups, each]));
            let element_by_element = || from.zip(to).and_then(|(from, to)| spread(&from, &to, target));
            let before = repeat::plan(o.tensor, tensor, (all / groups) as usize, target).or_else(element_by_element).ok_or_else(none)?;
            stages.push(Stage { arg: o.arg, tensor: tensor.clone(), steps: None, apart: true, reorders: [Some(before), None] });
        } else if o.tensor.layout.is_any() {
            *o.tensor = tensor.clone();
        }
    }
    finish(resolved, Staged { what: COPIES, inner, stages, rounds: Rounds::ONE }, target)
}

/// A tensor whose channels are two dimensions: groups, and the channels of a group.
fn in_groups(tensor: &Tensor, channels: [i64; 2]) -> Option<Tensor> {
    let dims = tensor.dims();
    let dims: Vec<i64> = dims[..1].iter().chain(&channels).chain(&dims[2..]).copied().collect();
    Some(Tensor { dtype: tensor.dtype, layout: tensor.layout.reshape(&dims).ok()? })
}

/// A copy of `src` to every element of `dst` that it stands for.
fn spread(src: &Tensor, dst: &Tensor, target: &CpuTarget) -> Option<Box<dyn Plan>> {
    let problem = Problem { op: Op::Reorder(Reorder { src: src.clone(), dst: dst.clone() }), attr: Attr::default() };
    Program::plan_in_stages(&problem, target, passes::elements).ok()
}

/// A copy that is not the reference's, with what the attributes say of the elements of an argument.
pub(crate) fn copy(src: &Tensor, dst: &Tensor, (arg, quant): (Arg, &Attr), target: &CpuTarget) -> Option<Box<dyn Plan>> {
    if let Format::Sparse(_) = src.layout.format {
        return matmul::sparse::expansion(src, dst, target);
    }
    let mut attr = Attr::default();
    attr.scales.extend(quant.scales.get(&arg).map(|q| (Arg::SRC, q.clone())));
    attr.zero_points.extend(quant.zero_points.get(&arg).map(|q| (Arg::SRC, q.clone())));
    let problem = Problem::new(Reorder { src: src.clone(), dst: dst.clone() }, attr).ok()?;
    let (_, rows) = reorder::IMPLS.split_last()?;
    rows.iter().find_map(|row| (row.plan)(&problem, target).ok())
}

impl Stage {
    /// Bytes of scratch.
    fn bytes(&self) -> usize {
        if self.apart { self.tensor.bytes() } else { 0 }
    }
}

impl Staged {
    /// Bytes of scratch of the operation or of the reorders, which follow each other.
    fn shared(&self) -> usize {
        let reorders = self.stages.iter().flat_map(|s| &s.reorders).flatten();
        reorders.fold(self.inner.scratch_bytes(), |most, p| most.max(p.scratch_bytes()))
    }

    /// Elements of scratch of a round: what is shared, and those of every copy; `None` on overflow.
    fn each(&self) -> Option<usize> {
        let whole = |bytes: usize| bytes.checked_next_multiple_of(ALIGNMENT);
        let add = |sum: usize, s: &Stage| s.tensor.layout.elements().and_then(|_| sum.checked_add(whole(s.bytes())?));
        Some(self.stages.iter().try_fold(whole(self.shared())?, add)? / WORD)
    }
}

impl Generated for Staged {
    type Code = Code;

    fn decision(&self, _: &Problem) -> Decision {
        let moved = self.stages.iter().filter(|s| s.reorders.iter().any(Option::is_some));
        match moved.map(|s| s.tensor.bytes()).sum() {
            0 => self.inner.decision(),
            bytes => around(self.what, &*self.inner, self.rounds.count.div_ceil(self.rounds.workers.max(1)), bytes),
        }
    }

    fn build(&self) -> Result<Code, Error> {
        let build = |plan: &Option<Box<dyn Plan>>| plan.as_ref().map(|p| p.build()).transpose();
        let stages = self.stages.iter().map(|Stage { reorders: [before, after], .. }| Ok([build(before)?, build(after)?]));
        Ok(Code { inner: self.inner.build()?, stages: stages.collect::<Result<_, Error>>()? })
    }

    fn run(&self, code: &Code, _simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let (each, Rounds { count, workers, .. }) = (self.each().unwrap_or(0), self.rounds);
        let shares = scratch.take(for_workers(workers, each).unwrap_or(0))?.into_buf();
        let share = |worker: usize| shares.part(worker * each * WORD, each * WORD);
        if workers == 0 {
            return (0..count).try_for_each(|round| self.round(code, ctx, share(0), round));
        }
        let failure = OnceLock::new();
        ctx.executor().run(workers.min(ctx.executor().threads().max(1)), count, &|worker, round| {
            if let Err(e) = self.round(code, &Ctx { queue: Immediate::inline(), ..*ctx }, share(worker), round) {
                let _ = failure.set(e);
            }
        });
        failure.into_inner().map_or(Ok(()), Err)
    }
}

impl Staged {
    /// A round: what comes before the operation, that, and what comes behind it. Other copies than those of images are there from the first one on.
    fn round(&self, code: &Code, ctx: &Ctx<'_>, scratch: Buf<'_>, round: usize) -> Result<(), Error> {
        let mut used = 0;
        let mut take = |bytes: usize| {
            let part = scratch.part(used, bytes);
            used += bytes.next_multiple_of(ALIGNMENT);
            part
        };
        let shared = Region::host(take(self.shared()));
        let mut copies = [[Region::host(Buf::empty())]; STAGED.len()];
        copies.iter_mut().zip(&self.stages).for_each(|(copy, stage)| *copy = [Region::host(take(stage.bytes()))]);
        let reorder = |which: usize| {
            self.stages.iter().zip(&copies).zip(&code.stages).try_for_each(|((stage, copy), execs)| {
                let plan = stage.reorders[which].as_ref().map(|p| &p.problem().op);
                let (Some(exec), Some(Op::Reorder(Reorder { src, dst })), Some(bound)) = (&execs[which], plan, ctx.bound(stage.arg)) else {
                    return Ok(());
                };
                let part = match stage.steps.filter(|_| round > 0) {
                    None if round > 0 => return Ok(()),
                    None => None,
                    Some([images, bands]) => {
                        let at = images * (round / self.rounds.bands) + bands * (round % self.rounds.bands);
                        Some([Region::host(behind(ctx.buf(stage.arg)?, at))])
                    }
                };
                let outside = part.as_ref().map_or(*bound, |regions| Bound { regions, ..*bound });
                let inside = if stage.apart { Bound { regions: copy, ..outside } } else { outside };
                let (from, to) = if which == 0 { (outside, inside) } else { (inside, outside) };
                run_between(&**exec, ctx, shared, [Bound { tensor: src, ..from }, Bound { tensor: dst, ..to }], |arg| match which {
                    0 if stage.arg == Arg::DST => None,
                    0 if arg == Arg::scale(stage.arg) => Some(Arg::scale(Arg::SRC)),
                    0 if arg == Arg::zero_point(stage.arg) => Some(Arg::zero_point(Arg::SRC)),
                    0 => None,
                    _ => (![Arg::SRC, Arg::DST].contains(&arg)).then_some(arg),
                })
            })
        };
        reorder(0)?;
        run_with(&*code.inner, ctx, shared, |bound| {
            if let Some((stage, copy)) = self.stages.iter().zip(&copies).find(|s| s.0.arg == bound.arg) {
                bound.tensor = &stage.tensor;
                if stage.apart {
                    bound.regions = copy;
                }
            }
        })?;
        reorder(1)
    }
}

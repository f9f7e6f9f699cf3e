//! `staged:jit`: products whose operands have a layout or a type that no generated row takes, computed on copies.
//!
//! The operation is planned with some operands in the layouts that a generated row prefers. These copies are in scratch; reorders write
//! them before the row runs, or read its result from them afterwards. That is one more pass over memory, where portable rows would gather
//! elements one by one. Of all sets of operands whose copies make a generated row take the problem, the one with the fewest elements is
//! chosen.
//!
//! Convolutions that copy source and result (NCHW) run in rounds of images, so that the copies stay in the caches; those of 1x1 windows in
//! bands of rows, each by one worker. Weights are copied once for all images.

use super::conv::window::Setup;
use super::rounds::{self, behind, bytes, differs, divisor, is_apart, part};
use super::support::{OPERANDS, run_between, run_with};
use super::{matmul, passes, reorder};
use crate::CpuTarget;
use crate::decision::around;
use crate::kernels::multiversion::Simd;
use crate::kernels::pointwise::{Program, skips_lines};
use crate::kernels::scratch::{Scratch, booked, for_workers};
use crate::row::{Generated, RowPlan};
use oxidnn_runtime::{ALIGNMENT, Bound, Buf, Choose, Ctx, Decision, Exec, Plan, Region, Skip};
use oxidnn_spec::op::{Operand, Reorder, Use};
use oxidnn_spec::{Arg, Attr, DataType, Dims, Error, Format, Op, Problem, Prop, Tensor};
use std::sync::Arc;

mod repeat;
#[cfg(test)]
mod tests;

/// Operands that may be copied.
const STAGED: [Arg; 7] = [Arg::SRC, Arg::WEIGHTS, Arg::DST, Arg::DIFF_SRC, Arg::DIFF_WEIGHTS, Arg::DIFF_DST, Arg::WORKSPACE];
/// Elements of a result from which on its operands are copied, and contiguous elements that it shares with an operand which needs no copy.
const LEAST: i64 = 1024;
const RUN: usize = 16;
/// Bytes of an element of scratch.
const WORD: usize = 4;
/// Fewest bands for which each worker takes bands of its own, and fewest pixels of a band.
const BANDS: i64 = 8;
const PIXELS: i64 = 48;

/// An operand that the inner operation gets in another form: a copy, or its own bytes with another description.
#[derive(Debug)]
struct Stage {
    arg: Arg,
    /// Its description in the inner operation, for a round.
    tensor: Tensor,
    /// If it has images: bytes of the operand from one round to the next, and from one band to the next.
    steps: Option<[usize; 2]>,
    /// Whether it is a copy in scratch, not the operand's own memory.
    apart: bool,
    /// The reorder to the copy before the operation, and the one back from it afterwards.
    reorders: [Option<Box<dyn Plan>>; 2],
}

/// An operation by the plan of another with operands in other forms.
#[derive(Debug)]
struct Staged {
    /// What this does, for `explain`.
    what: &'static str,
    inner: Box<dyn Plan>,
    stages: Vec<Stage>,
    rounds: Rounds,
    /// Seconds of an execution, if they are known better than by the bytes that are copied.
    seconds: Option<f64>,
}

/// Rounds of images, and of bands of their rows.
#[derive(Clone, Copy, Debug)]
struct Rounds {
    count: usize,
    /// Bands of an image.
    bands: usize,
    /// Workers that take rounds of their own; 0 if all work on the same round.
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

/// The description of most staged operations.
const COPIES: &str = "on copies of operands";

/// Types of copies by argument, if they differ from the operand's.
pub(crate) type Types = &'static [(Arg, DataType)];

/// Types that copies of convolutions and inner products may have, in the order in which they are tried: the operands' own, f32 for
/// gradients of weights, which are accumulated, and bf16 for 8-bit floats, all of whose values it has.
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

/// Plans `problem` by the first of `rows` that takes it with copies of some operands; `types` lists the types that these may have.
///
/// # Errors
/// Problems that no row takes so.
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

/// The plan of `problem`, whose layouts are resolved, by the plan of the same problem with other descriptions of the same bytes.
///
/// # Errors
/// Missing operands, and scratch that exceeds the address space.
pub(crate) fn viewed(problem: Problem, inner: Box<dyn Plan>, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    by_image(problem, inner, 1, target)
}

/// The same by the plan for one of `images` images: every operand with another description in `inner` has an image for each round.
///
/// # Errors
/// As for [`viewed`].
pub(crate) fn by_image(problem: Problem, inner: Box<dyn Plan>, images: usize, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let mut stages = Vec::new();
    for o in problem.operands() {
        let tensor = inner.problem().tensor(o.arg).ok_or(Skip::Op("without an operand"))?;
        if o.tensor != tensor {
            let steps = (images > 1).then(|| [bytes(&o.tensor, 0), 0]);
            stages.push(Stage { arg: o.arg, tensor, steps, apart: false, reorders: [None, None] });
        }
    }
    if stages.len() > STAGED.len() {
        return Err(Skip::Shape("so many operands"));
    }
    finish(problem, Staged { what: COPIES, inner, stages, rounds: Rounds { count: images, ..Rounds::ONE }, seconds: None }, target)
}

/// An operand that the inner operation gets in another form.
pub(crate) struct Copied {
    /// What this does, for `explain`.
    pub(crate) what: &'static str,
    pub(crate) arg: Arg,
    /// Whether it is a copy in scratch, not the operand's own memory.
    pub(crate) apart: bool,
    /// The reorder to the copy before the operation, and the one back from it afterwards.
    pub(crate) reorders: [Option<Box<dyn Plan>>; 2],
    /// Seconds that all of it is predicted to take, if they are known better than by the bytes that are copied.
    pub(crate) seconds: Option<f64>,
}

/// The plan of `problem`, whose layouts are resolved, by the plan of the same problem with one operand in another form.
///
/// # Errors
/// Missing operands, and scratch that exceeds the address space.
pub(crate) fn with_copy(problem: Problem, inner: Box<dyn Plan>, copied: Copied, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let Copied { what, arg, apart, reorders, seconds } = copied;
    let tensor = inner.problem().op.tensor(arg).ok_or(Skip::Op("without an operand"))?.clone();
    let stages = vec![Stage { arg, tensor, steps: None, apart, reorders }];
    finish(problem, Staged { what, inner, stages, rounds: Rounds::ONE, seconds }, target)
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

/// The operands of a set, given as bits.
fn copies(all: &[(Arg, Tensor)], set: usize) -> impl Iterator<Item = &(Arg, Tensor)> {
    all.iter().enumerate().filter(move |(i, _)| set >> i & 1 == 1).map(|(_, copy)| copy)
}

/// The plan with copies of the operands `copies`, in layouts that a row chooses.
fn attempt(problem: &Problem, target: &CpuTarget, rows: &[Choose<CpuTarget>], copies: &[(Arg, Tensor)]) -> Option<Box<dyn Plan>> {
    let (mut staged, cut) = (problem.clone(), cut(problem, copies, target));
    for (arg, tensor) in copies {
        let operand = staged.op.tensor_mut(*arg)?;
        // A floating-point copy of integers has their scaled values.
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

/// What a convolution computes in a round: images, and rows if not all.
#[derive(Clone, Copy)]
struct Cut {
    images: i64,
    rows: Option<i64>,
}

/// The rounds of a convolution with copies of source and result. A round is as many images as divide the batch and leave the copies in the
/// last-level cache; for 1x1 windows, if that makes enough rounds, what fits into a core's own cache.
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

/// The plan of `problem` by that of the same problem with some operands in other layouts or types, on copies of these.
pub(crate) fn copied(problem: &Problem, inner: Box<dyn Plan>, target: &CpuTarget) -> Option<Box<dyn Plan>> {
    in_rounds(problem, inner, 0, target)
}

/// The same, if `inner` may be a round of `problem`; `workers` workers take rounds of their own.
fn in_rounds(problem: &Problem, inner: Box<dyn Plan>, workers: usize, target: &CpuTarget) -> Option<Box<dyn Plan>> {
    let (mut resolved, chosen) = (problem.clone(), inner.problem());
    resolved.attr.post_ops = chosen.attr.post_ops.clone();
    let (mut stages, mut rounds) = (Vec::new(), Rounds { workers, ..Rounds::ONE });
    for o in resolved.op.operands_mut() {
        let tensor = chosen.op.tensor(o.arg)?;
        if o.tensor.layout.is_any() {
            // A copy of another type has the operand's layout.
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
            if outside == *tensor {
                stages.push(Stage { arg: o.arg, tensor: outside, steps, apart: false, reorders: [None, None] });
                continue;
            }
            let before = if before { Some(copy(&outside, tensor, (o.arg, quant), target)?) } else { None };
            let after = if o.usage == Use::Out { Some(copy(tensor, &outside, (o.arg, &nothing), target)?) } else { None };
            stages.push(Stage { arg: o.arg, tensor: tensor.clone(), steps, apart: true, reorders: [before, after] });
        }
    }
    // Without copies the row itself takes the problem.
    if stages.is_empty() {
        return None;
    }
    finish(resolved, Staged { what: COPIES, inner, stages, rounds, seconds: None }, target).ok()
}

/// Plans an element-wise problem by `row` on copies of the operands whose contiguous dimension differs from the result's: reorders
/// transpose faster than element-wise programs do. Where the caches do not keep the tensors, band by band of rows.
///
/// # Errors
/// Problems without such operands, and copies that the row does not take.
pub(crate) fn alike(problem: &Problem, target: &CpuTarget, row: Choose<CpuTarget>) -> Result<Box<dyn Plan>, Skip> {
    let resolved = super::support::resolved(problem);
    super::support::known(&resolved)?;
    let result = resolved.op.result().ok_or(Skip::Op("without a result"))?.clone();
    let (dims, mut copies, mut lying) = (*result.dims(), 0, resolved.clone());
    if dims.volume().is_none_or(|n| n < LEAST) {
        return Err(Skip::Shape("few elements"));
    }
    // Among padding the result is stored faster by a reorder, too.
    let is_sparse = result.blocking().is_some_and(|b| (0..dims.len()).any(|d| skips_lines(&dims, b, d)));
    let plain = || Tensor::plain(dims, result.dtype).map_err(|e| Skip::Layout(e.to_string()));
    let form = if is_sparse { plain()? } else { result.clone() };
    let all: Vec<&Tensor> = resolved.op.operands().into_iter().map(|o| o.tensor).collect();
    let bytes = all.iter().fold(0usize, |sum, t| sum.saturating_add(t.bytes()));
    let is_plain = (Attr { scratchpad: Default::default(), ..resolved.attr.clone() }).is_default();
    let rows = rounds::rows_of_band(&all, bytes, target).filter(|_| is_plain && all.len() <= STAGED.len());
    let band = |t: &Tensor| rows.map_or(Some(t.clone()), |rows| part(t, 1, rows)).ok_or(Skip::Layout("of the operands: no bands".into()));
    let of_band = *band(&result)?.dims();
    for o in lying.op.operands_mut() {
        let like = |dims: Dims| Tensor { dtype: o.tensor.dtype, layout: form.layout.resized(dims) };
        let differs = if o.usage == Use::Out { is_sparse } else { reorder::run(&form, o.tensor) < RUN };
        let is_moved = differs && *o.tensor != like(dims);
        if is_moved && *o.tensor.dims() == dims {
            *o.tensor = like(of_band);
            copies += 1;
        } else {
            *o.tensor = band(o.tensor)?;
        }
    }
    if !(1..=STAGED.len()).contains(&copies) || resolved.operands().len() + 2 > OPERANDS {
        return Err(Skip::Layout("of the operands: the same neighbours, or many others".into()));
    }
    let workers = if rows.is_some() { target.threads.max(1) } else { 0 };
    let inner = row(&lying, &CpuTarget { threads: if workers > 0 { 1 } else { target.threads }, ..*target })?;
    in_rounds(&resolved, inner, workers, target).ok_or(Skip::Layout("of the operands, nor any that they could be copied to".into()))
}

/// Plans gradients of weights of groups with one channel in one operand and several in the other as depthwise ones, by the first of `rows`
/// that takes them, on a copy of the former operand in which each channel is repeated.
///
/// # Errors
/// Other problems, gradients that are not row-major, and problems that no row takes so.
pub(crate) fn repeated(problem: &Problem, target: &CpuTarget, rows: &[Choose<CpuTarget>]) -> Result<Box<dyn Plan>, Skip> {
    let operand = |arg: Arg| problem.op.tensor(arg).ok_or(Skip::Op("anything but gradients of weights"));
    let (src, diff, weights) = (operand(Arg::SRC)?, operand(Arg::DIFF_DST)?, operand(Arg::DIFF_WEIGHTS)?);
    let (groups, all) = (weights.dims()[0], src.dims()[1].max(diff.dims()[1]));
    let (arg, thin) = if src.dims()[1] == groups { (Arg::SRC, src) } else { (Arg::DIFF_DST, diff) };
    let single = weights.dims().len() > src.dims().len() && groups > 1 && thin.dims()[1] == groups;
    if !single || all == groups || thin.is_empty() {
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
            Arg::SRC | Arg::DIFF_DST => super::support::resolve(o.tensor, "axb")?,
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
        }
    }
    finish(resolved, Staged { what: COPIES, inner, stages, rounds: Rounds::ONE, seconds: None }, target)
}

/// The tensor with its channels as two dimensions: groups, and channels of a group.
fn in_groups(tensor: &Tensor, channels: [i64; 2]) -> Option<Tensor> {
    let dims = tensor.dims();
    let dims: Vec<i64> = dims[..1].iter().chain(&channels).chain(&dims[2..]).copied().collect();
    Some(Tensor { dtype: tensor.dtype, layout: tensor.layout.reshape(&dims).ok()? })
}

/// A copy of `src` that repeats it along the dimensions of `dst` that it lacks.
fn spread(src: &Tensor, dst: &Tensor, target: &CpuTarget) -> Option<Box<dyn Plan>> {
    let problem = Problem { op: Op::Reorder(Reorder { src: src.clone(), dst: dst.clone() }), attr: Attr::default() };
    Program::plan_in_stages(&problem, target, passes::elements).ok()
}

/// A reorder by another row than the reference, with the attributes' quantisation of an argument.
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
    /// Bytes of scratch of the operation or of the reorders, which run one after the other.
    fn shared(&self) -> usize {
        let reorders = self.stages.iter().flat_map(|s| &s.reorders).flatten();
        reorders.fold(self.inner.scratch_bytes(), |most, p| most.max(p.scratch_bytes()))
    }

    /// Elements of scratch of a round: what the executions need, and each copy; `None` on overflow.
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
        let decision = match moved.map(|s| s.tensor.bytes()).sum() {
            0 if self.rounds.count == 1 => self.inner.decision(),
            bytes => around(self.what, &*self.inner, self.rounds.count.div_ceil(self.rounds.workers.max(1)), bytes),
        };
        Decision { seconds: self.seconds.or(decision.seconds), ..decision }
    }

    fn seconds(&self, problem: &Problem) -> Option<f64> {
        self.seconds.or_else(|| self.decision(problem).seconds)
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
        rounds::each(ctx, workers, count, &|ctx, worker, round| self.round(code, ctx, share(worker), round))
    }
}

impl Staged {
    /// A round: reorders, the operation, reorders. Copies that are not of images are made in the first round.
    fn round(&self, code: &Code, ctx: &Ctx<'_>, scratch: Buf<'_>, round: usize) -> Result<(), Error> {
        let mut used = 0;
        let mut take = |bytes: usize| {
            let part = scratch.part(used, bytes);
            used += bytes.next_multiple_of(ALIGNMENT);
            part
        };
        let shared = Region::host(take(self.shared()));
        let mut copies = [[Region::host(Buf::empty())]; STAGED.len()];
        let at = |[images, bands]: [usize; 2]| images * (round / self.rounds.bands) + bands * (round % self.rounds.bands);
        for (copy, stage) in copies.iter_mut().zip(&self.stages) {
            let image = stage.steps.filter(|_| !stage.apart).map(|steps| Ok(behind(ctx.buf(stage.arg)?, at(steps))));
            *copy = [Region::host(image.unwrap_or_else(|| Ok(take(stage.bytes())))?)];
        }
        let reorder = |which: usize| {
            self.stages.iter().zip(&copies).zip(&code.stages).try_for_each(|((stage, copy), execs)| {
                let plan = stage.reorders[which].as_ref().map(|p| &p.problem().op);
                let (Some(exec), Some(Op::Reorder(Reorder { src, dst })), Some(bound)) = (&execs[which], plan, ctx.bound(stage.arg)) else {
                    return Ok(());
                };
                let part = match stage.steps.filter(|_| round > 0) {
                    None if round > 0 => return Ok(()),
                    None => None,
                    Some(steps) => Some([Region::host(behind(ctx.buf(stage.arg)?, at(steps)))]),
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
                if stage.apart || stage.steps.is_some() {
                    bound.regions = copy;
                }
            }
        })?;
        reorder(1)
    }
}

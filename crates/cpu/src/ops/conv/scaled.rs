//! `scaled:jit`: depthwise 1x1 windows without strides, which multiply each channel by a number, as a program over elements.
//!
//! It takes floats however they lie, in place, but for blocks of channels, which are [`direct`](super::direct)'s.

use super::depthwise::is_depthwise;
use crate::CpuTarget;
use crate::kernels::pointwise::{Builder, Pipeline, Program};
use crate::ops::strips::Place;
use crate::ops::support;
use oxidnn_runtime::{Plan, Skip};
use oxidnn_spec::op::{BinaryAlg, ConvAlg, Window};
use oxidnn_spec::{Arg, Blocking, DataType, Dims, Layout, Op, Problem, Prop, Tensor};

/// Channels are dimension 1 of source and result.
const CHANNELS: usize = 1;

/// Plans forward and backward by data.
pub(crate) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let mut problem = problem.clone();
    let (prop, window, tensors) = match &mut problem.op {
        Op::Conv(op) if op.alg != ConvAlg::Winograd && op.depthwise_weights.is_none() => (op.prop, &op.window, [&mut op.src, &mut op.dst]),
        Op::Deconv(op) => (op.prop, &op.window, [&mut op.src, &mut op.dst]),
        _ => return Err(Skip::Op("the direct algorithm")),
    };
    if prop == Prop::BackwardWeights {
        return Err(Skip::Op("this propagation kind"));
    }
    skips_nothing(window)?;
    if tensors[0].dims() != tensors[1].dims() {
        return Err(Skip::Shape("windows of several pixels"));
    }
    alike(tensors, target)?;
    if !is_depthwise(&problem) {
        return Err(Skip::Shape("several channels in a group"));
    }
    Program::plan_in_stages(&problem, target, pipeline)
}

fn skips_nothing(window: &Window) -> Result<(), Skip> {
    let Window { strides, padding_l, padding_r, .. } = window;
    let whole = strides.iter().all(|s| *s == 1) && padding_l.iter().chain(padding_r.iter()).all(|p| *p == 0);
    if whole { Ok(()) } else { Err(Skip::Shape("windows that skip pixels or read padding")) }
}

/// Gives an operand of open layout the layout of the other; then both must be equal, since copies between layouts are left to other rows.
fn alike([a, b]: [&mut Tensor; 2], target: &CpuTarget) -> Result<(), Skip> {
    match (a.layout.is_any(), b.layout.is_any()) {
        (true, true) => [&mut *a, b].into_iter().try_for_each(|t| support::resolve(t, "axb"))?,
        (true, false) => a.layout = b.layout.clone(),
        (false, true) => b.layout = a.layout.clone(),
        (false, false) if a.layout != b.layout => return Err(Skip::Layout("of source and result: another for each".into())),
        (false, false) => {}
    }
    let strips = a.blocking().is_some_and(|b| !b.is_plain()) && Place::of(Arg::SRC, a, target.isa.lanes()).is_ok();
    if strips { Err(Skip::Layout("of blocks of channels, which are for strips".into())) } else { Ok(()) }
}

fn pipeline(problem: &Problem) -> Result<(Pipeline, usize), Skip> {
    let forward = problem.op.prop().is_some_and(Prop::is_forward);
    let [source, result] = if forward { [Arg::SRC, Arg::DST] } else { [Arg::DIFF_DST, Arg::DIFF_SRC] };
    let weights = problem.tensor(Arg::WEIGHTS).ok_or(Skip::Op("without weights"))?;
    let from = problem.tensor(source).ok_or(Skip::Op("without a source"))?;
    for t in [&weights, &from] {
        if !matches!(t.dtype, DataType::F32 | DataType::Bf16 | DataType::F16) {
            return Err(Skip::DataType(format!("{} of an operand", t.dtype)));
        }
    }
    if !problem.attr.zero_points.keys().all(|arg| *arg == Arg::DST) || problem.attr.scales.get(&Arg::WEIGHTS).is_some_and(|q| q.mask != 0) {
        return Err(Skip::Attr("zero points of operands, or scales by channel".into()));
    }
    let mut b = Builder::elementwise(problem, result)?;
    b.load_argument(0, source)?;
    let weights = b.part(Arg::WEIGHTS, &by_channel(&weights, from.dims().len())?)?;
    b.with(0, BinaryAlg::Mul, weights);
    b.scale(0, Arg::SRC)?;
    b.scale(0, Arg::WEIGHTS)?;
    if problem.tensor(Arg::BIAS).is_some() {
        let bias = b.argument_by(Arg::BIAS, 1 << CHANNELS)?;
        b.with(0, BinaryAlg::Add, bias);
    }
    b.result(result)?;
    b.finish()
}

/// The weights' layout, by group, as that of a tensor of `ndims` dimensions with channels.
fn by_channel(weights: &Tensor, ndims: usize) -> Result<Layout, Skip> {
    let decline = || Skip::Layout("of weights: groups at other distances".into());
    let known = |b: &&Blocking| b.offset == 0 && b.padded_offsets.iter().all(|o| *o == 0) && !weights.layout.has_runtime();
    let blocking = weights.blocking().filter(known).ok_or_else(decline)?;
    let mut inner = blocking.inner.iter().filter(|(_, size)| *size > 1);
    let step = match (inner.next(), inner.next()) {
        (None, _) => blocking.strides[0],
        (Some((0, size)), None) if blocking.strides[0] == size => 1,
        _ => return Err(decline()),
    };
    let by_channel = |others: i64, channels: i64| Dims::from_fn(ndims, |d| if d == CHANNELS { channels } else { others });
    let (dims, strides) = (by_channel(1, weights.dims()[0]), by_channel(weights.dims()[0].saturating_mul(step), step));
    Tensor::with_strides(dims, weights.dtype, Some(strides)).map(|t| t.layout).map_err(|_| decline())
}

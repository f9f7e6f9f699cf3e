//! Normalisations. Statistics and parameters that are not of the type that the primitives take are converted on the way.

use super::state::channels_first;
use super::{Lowering, Value};
use crate::infer::axis;
use crate::{AttrId, Error};
use oxidnn_spec::op::{BatchNorm, Binary, BinaryAlg, Diff, EltwiseAlg, GroupNorm, LayerNorm, NormFlags, Prop, Sum};
use oxidnn_spec::{Arg, Attr, DataType, Dims, PostOp, Real, Tensor};

fn epsilon(l: &Lowering<'_>) -> f32 {
    l.op.f32(AttrId::Epsilon)
}

/// An input of one number a channel, f32.
fn parameter(l: &mut Lowering<'_>, i: usize) -> Result<Value, Error> {
    let value = l.input(i)?;
    l.cast(&value, DataType::F32)
}

pub(super) fn batch_inference(l: &mut Lowering<'_>) -> Result<(), Error> {
    let src = channels_first(l.op, &l.input(0)?)?;
    let dst = l.destination(channels_first)?;
    let (gamma, beta, mean, variance) = (parameter(l, 1)?, parameter(l, 2)?, parameter(l, 3)?, parameter(l, 4)?);
    let flags = NormFlags { use_global_stats: true, use_scale: true, use_shift: true, ..NormFlags::default() };
    let problem = BatchNorm::forward(Prop::ForwardInference, flags, epsilon(l), src.tensor.clone(), dst.tensor.clone());
    let args =
        [(Arg::SRC, &src), (Arg::MEAN, &mean), (Arg::VARIANCE, &variance), (Arg::SCALE, &gamma), (Arg::SHIFT, &beta), (Arg::DST, &dst)];
    l.main(problem, &args)
}

/// The factor and the summand, one of each a channel, that a normalisation with known statistics multiplies by and adds.
pub(super) fn factors(l: &mut Lowering<'_>, op: &crate::Op) -> Result<(Value, Value), Error> {
    let value = |l: &Lowering<'_>, i: usize| -> Result<Value, Error> {
        let value = l.values.get(&op.inputs[i].id).cloned();
        value.ok_or_else(|| Error::argument("parameter", "nothing", "one that was computed before"))
    };
    let (gamma, beta, mean, variance) = (value(l, 1)?, value(l, 2)?, value(l, 3)?, value(l, 4)?);
    let channels = Tensor::plain(*gamma.dims(), DataType::F32)?;
    let lasting = [&gamma, &beta, &mean, &variance].iter().all(|v| v.constant);
    let (factor, summand) = (l.temporary(channels.clone(), lasting), l.temporary(channels, lasting));
    let epsilon = f64::from(op.f32(AttrId::Epsilon));
    let epsilon = l.numbers(Tensor::plain([1], DataType::F32)?, |_| epsilon)?;
    let power = |alg: EltwiseAlg, beta: f32, alpha: f32| PostOp::Eltwise { alg, alpha: Real::new(alpha), beta: Real::new(beta) };
    let times = |l: &mut Lowering<'_>, [a, b, c]: [&Value; 3], first: BinaryAlg, then: [PostOp; 1], last: BinaryAlg, dst: &Value| {
        let [then] = then;
        let post_ops = vec![then, PostOp::Binary { alg: last, src1: c.tensor.clone(), src2: None }];
        let attr = Attr { post_ops, ..l.attr.clone() };
        let problem = Binary { alg: first, src0: a.tensor.clone(), src1: b.tensor.clone(), src2: None, dst: dst.tensor.clone() };
        l.step_with(problem, attr, &[(Arg::SRC, a), (Arg::SRC_1, b), (Arg::post_op(1, Arg::SRC_1), c), (Arg::DST, dst)])
    };
    let root = power(EltwiseAlg::Pow, -0.5, 1.0);
    times(l, [&variance, &epsilon, &gamma], BinaryAlg::Add, [root], BinaryAlg::Mul, &factor)?;
    let negative = power(EltwiseAlg::Linear, 0.0, -1.0);
    times(l, [&mean, &factor, &beta], BinaryAlg::Mul, [negative], BinaryAlg::Add, &summand)?;
    Ok((factor, summand))
}

/// The bias of a result that is multiplied by `factor` before `summand` is added, for the same without them.
pub(super) fn shifted(l: &mut Lowering<'_>, bias: Option<Value>, [factor, summand]: [&Value; 2]) -> Result<Value, Error> {
    let Some(bias) = bias else { return Ok(summand.clone()) };
    let bias = bias.reshaped(factor.dims())?;
    let to = l.temporary(Tensor::plain(*factor.dims(), DataType::F32)?, true);
    let post_ops = vec![PostOp::Binary { alg: BinaryAlg::Add, src1: summand.tensor.clone(), src2: None }];
    let attr = Attr { post_ops, ..l.attr.clone() };
    let problem =
        Binary { alg: BinaryAlg::Mul, src0: bias.tensor.clone(), src1: factor.tensor.clone(), src2: None, dst: to.tensor.clone() };
    l.step_with(problem, attr, &[(Arg::SRC, &bias), (Arg::SRC_1, factor), (Arg::post_op(0, Arg::SRC_1), summand), (Arg::DST, &to)])?;
    Ok(to)
}

/// A linear function after products of bytes, as part of the source's scale and of the bias, if these are constant.
pub(super) fn by_source(l: &mut Lowering<'_>, src: &mut Value, bias: &mut Option<Value>) -> Result<(), Error> {
    let Some((scaled, common)) = src.scaled.as_ref().and_then(|s| Some((s.clone(), s.common?))) else { return Ok(()) };
    if !l.quantised || !l.keeps || l.folded.norm.is_some() || bias.as_ref().is_some_and(|b| !b.constant || b.dtype() != DataType::F32) {
        return Ok(());
    }
    let given = l.folded.posts.clone();
    match (l.folded.leading(), bias.take()) {
        (Some([factor, summand]), Some(own)) => {
            let plain = Tensor::plain(*own.dims(), DataType::F32)?;
            let [factors, summands] = [factor, summand].map(|x| l.numbers(plain.clone(), |_| f64::from(x)));
            *bias = Some(shifted(l, Some(own), [&factors?, &summands?])?);
            src.scaled = Some(Box::new(scaled.times(l, common, factor)?));
        }
        (Some([factor, 0.0]), None) => src.scaled = Some(Box::new(scaled.times(l, common, factor)?)),
        (_, own) => (l.folded.posts, *bias) = (given, own),
    }
    Ok(())
}

/// The share of the old value in a running statistic, where no attribute says.
const MOMENTUM: f32 = 0.5;

pub(super) fn batch_training(l: &mut Lowering<'_>) -> Result<(), Error> {
    let (src, dst) = (channels_first(l.op, &l.input(0)?)?, channels_first(l.op, &l.output(0)?)?);
    let channels = [src.size(1)?];
    let (gamma, beta) = (l.optional(3)?.map(|_| parameter(l, 3)).transpose()?, l.optional(4)?.map(|_| parameter(l, 4)).transpose()?);
    let outputs = [l.output(3)?, l.output(4)?];
    let mean = l.output_or_temporary(&outputs[0], &channels, DataType::F32)?;
    let variance = l.output_or_temporary(&outputs[1], &channels, DataType::F32)?;
    let flags = NormFlags { use_scale: gamma.is_some(), use_shift: beta.is_some(), ..NormFlags::default() };
    let problem = BatchNorm::forward(Prop::ForwardTraining, flags, epsilon(l), src.tensor.clone(), dst.tensor.clone());
    let problem = BatchNorm { mean: Some(mean.tensor.clone()), variance: Some(variance.tensor.clone()), ..problem };
    let mut args = vec![(Arg::SRC, &src), (Arg::DST, &dst), (Arg::MEAN, &mean), (Arg::VARIANCE, &variance)];
    args.extend(gamma.as_ref().map(|g| (Arg::SCALE, g)));
    args.extend(beta.as_ref().map(|b| (Arg::SHIFT, b)));
    l.step(problem, &args)?;
    let momentum = if l.op.attrs.contains_key(&AttrId::Momentum) { l.op.f32(AttrId::Momentum) } else { MOMENTUM };
    for (i, new) in [&mean, &variance].into_iter().enumerate() {
        let (old, running) = (l.input(1 + i)?, l.output(1 + i)?);
        let problem = Sum {
            scales: vec![Real::new(momentum), Real::new(1.0 - momentum)],
            srcs: vec![old.tensor.clone(), new.tensor.clone()],
            dst: running.tensor.clone(),
        };
        l.step(problem, &[(Arg::multiple_src(0), &old), (Arg::multiple_src(1), new), (Arg::DST, &running)])?;
    }
    l.copy_out(&mean, &outputs[0])?;
    l.copy_out(&variance, &outputs[1])
}

/// The results of a backward pass, and their destinations.
struct Gradients {
    outputs: Vec<Value>,
    temporaries: Vec<Value>,
}

impl Gradients {
    /// The gradients of scale and shift, where they are asked for.
    fn of_parameters(l: &mut Lowering<'_>, dims: &[i64], dtype: DataType) -> Result<Gradients, Error> {
        let outputs = (1..l.op.outputs.len()).map(|i| l.output(i)).collect::<Result<Vec<_>, _>>()?;
        let temporaries = outputs.iter().map(|o| l.output_or_temporary(o, dims, dtype)).collect::<Result<Vec<_>, _>>()?;
        Ok(Gradients { outputs, temporaries })
    }

    fn copy_out(&self, l: &mut Lowering<'_>) -> Result<(), Error> {
        self.temporaries.iter().zip(&self.outputs).try_for_each(|(r, o)| l.copy_out(r, o))
    }
}

pub(super) fn batch_backward(l: &mut Lowering<'_>) -> Result<(), Error> {
    let (src, diff_dst) = (channels_first(l.op, &l.input(0)?)?, channels_first(l.op, &l.input(1)?)?);
    let diff_src = channels_first(l.op, &l.output(0)?)?;
    let (mean, variance) = (parameter(l, 2)?, parameter(l, 3)?);
    let gamma = l.optional(4)?.map(|_| parameter(l, 4)).transpose()?;
    let channels = [src.size(1)?];
    let gradients = Gradients::of_parameters(l, &channels, DataType::F32)?;
    let both = gradients.temporaries.len() == 2;
    let flags = NormFlags { use_scale: gamma.is_some() || both, use_shift: both, ..NormFlags::default() };
    // A scale that is not given is 1.
    let gamma = match gamma {
        None if flags.use_scale => Some(l.numbers(Tensor::plain(channels, DataType::F32)?, |_| 1.0)?),
        given => given,
    };
    let prop = if both { Prop::Backward } else { Prop::BackwardData };
    let diff = Diff { src: diff_src.tensor.clone(), dst: diff_dst.tensor.clone() };
    let problem = BatchNorm::backward(prop, flags, epsilon(l), src.tensor.clone(), diff);
    let mut args = vec![(Arg::SRC, &src), (Arg::DIFF_DST, &diff_dst), (Arg::MEAN, &mean), (Arg::VARIANCE, &variance)];
    args.push((Arg::DIFF_SRC, &diff_src));
    args.extend(gamma.as_ref().map(|g| (Arg::SCALE, g)));
    if both {
        args.extend([(Arg::DIFF_SCALE, &gradients.temporaries[0]), (Arg::DIFF_SHIFT, &gradients.temporaries[1])]);
    }
    l.step(problem, &args)?;
    gradients.copy_out(l)
}

/// Normalised rows in the primitive's form: 2 to 5 dimensions, of which the last is normalised.
struct Rows {
    /// Sizes of the data.
    data: Vec<i64>,
    /// Sizes of the statistics.
    stats: Vec<i64>,
    /// Elements of a row.
    row: i64,
}

impl Rows {
    /// Of the data of the operation: everything from the axis on is one row.
    fn of(l: &Lowering<'_>) -> Result<Rows, Error> {
        let dims = l.op.inputs[0].known_dims().unwrap_or_default();
        let at = axis(l.op.s64(AttrId::BeginNormAxis), dims.len())?;
        let row = dims[at..].iter().product();
        let stats = if (1..=4).contains(&at) { dims[..at].to_vec() } else { vec![dims[..at].iter().product()] };
        let data = stats.iter().copied().chain([row]).collect();
        Ok(Rows { data, stats, row })
    }
}

impl Rows {
    /// A tensor that is broadcast to the data, of sizes `whole`, in the primitive's form.
    fn operand(&self, value: &Value, whole: &Dims) -> Result<Value, Error> {
        if value.dims() == whole {
            return value.reshaped(&self.data);
        }
        if value.dims().volume() == Some(1) {
            return value.reshaped(&vec![1; self.data.len()]);
        }
        if self.data[..] == whole[..] { Ok(value.clone()) } else { Err(Error::shape("operand", value.dims(), whole)) }
    }
}

/// A layer normalisation forward, with or without a mean; the parameters are those that the operation has.
fn layer_pass(l: &mut Lowering<'_>, rms: bool) -> Result<(), Error> {
    let rows = Rows::of(l)?;
    let src = l.input(0)?;
    let src = l.reshaped(&src, &rows.data)?;
    let output = l.output(0)?;
    let dst = l.output_or_temporary(&output, &rows.data, output.dtype())?;
    l.folded.view(|v| rows.operand(v, output.dims()))?;
    let learnt = |l: &mut Lowering<'_>, i: usize| l.optional(i)?.map(|v| l.reshaped(&v, &[rows.row])).transpose();
    let (gamma, beta) = (learnt(l, 1)?, learnt(l, 2)?);
    let statistics = (1..l.op.outputs.len()).map(|i| l.output(i)).collect::<Result<Vec<_>, _>>()?;
    let saved = statistics.iter().map(|s| l.output_or_temporary(s, &rows.stats, DataType::F32)).collect::<Result<Vec<_>, _>>()?;
    let flags = NormFlags { use_scale: gamma.is_some(), use_shift: beta.is_some(), rms, ..NormFlags::default() };
    let prop = if saved.is_empty() { Prop::ForwardInference } else { Prop::ForwardTraining };
    let tensor = |v: &Option<Value>| v.as_ref().map(|v| v.tensor.clone());
    let problem = LayerNorm {
        scale: tensor(&gamma),
        shift: tensor(&beta),
        mean: tensor(&saved.first().cloned()),
        variance: tensor(&saved.get(1).cloned()),
        ..LayerNorm::forward(prop, flags, epsilon(l), src.tensor.clone(), dst.tensor.clone())
    };
    let mut args = vec![(Arg::SRC, &src), (Arg::DST, &dst)];
    args.extend(gamma.as_ref().map(|g| (Arg::SCALE, g)));
    args.extend(beta.as_ref().map(|b| (Arg::SHIFT, b)));
    args.extend([Arg::MEAN, Arg::VARIANCE].into_iter().zip(&saved));
    l.main(problem, &args)?;
    l.copy_out(&dst, &output)?;
    saved.iter().zip(&statistics).try_for_each(|(k, s)| l.copy_out(k, s))
}

pub(super) fn layer(l: &mut Lowering<'_>) -> Result<(), Error> {
    layer_pass(l, false)
}

pub(super) fn rms(l: &mut Lowering<'_>) -> Result<(), Error> {
    layer_pass(l, true)
}

pub(super) fn layer_backward(l: &mut Lowering<'_>) -> Result<(), Error> {
    let rows = Rows::of(l)?;
    let (src, diff_dst) = (l.input(0)?, l.input(1)?);
    let (src, diff_dst) = (l.reshaped(&src, &rows.data)?, l.reshaped(&diff_dst, &rows.data)?);
    let output = l.output(0)?;
    let diff_src = l.output_or_temporary(&output, &rows.data, output.dtype())?;
    let statistic = |l: &mut Lowering<'_>, i: usize| -> Result<Value, Error> {
        let value = parameter(l, i)?;
        l.reshaped(&value, &rows.stats)
    };
    let (mean, variance) = (statistic(l, 2)?, statistic(l, 3)?);
    let gamma = l.optional(4)?.map(|v| l.reshaped(&v, &[rows.row])).transpose()?;
    let dtype = gamma.as_ref().map_or(DataType::F32, Value::dtype);
    let gradients = Gradients::of_parameters(l, &[rows.row], dtype)?;
    let both = gradients.temporaries.len() == 2;
    let flags = NormFlags { use_scale: gamma.is_some() || both, use_shift: both, ..NormFlags::default() };
    let gamma = match gamma {
        None if flags.use_scale => Some(l.numbers(Tensor::plain([rows.row], dtype)?, |_| 1.0)?),
        given => given,
    };
    let diff = Diff { src: diff_src.tensor.clone(), dst: diff_dst.tensor.clone() };
    let prop = if both { Prop::Backward } else { Prop::BackwardData };
    let problem = LayerNorm {
        scale: gamma.as_ref().map(|g| g.tensor.clone()),
        mean: Some(mean.tensor.clone()),
        variance: Some(variance.tensor.clone()),
        ..LayerNorm::backward(prop, flags, epsilon(l), src.tensor.clone(), diff)
    };
    let mut args = vec![(Arg::SRC, &src), (Arg::DIFF_DST, &diff_dst), (Arg::MEAN, &mean), (Arg::VARIANCE, &variance)];
    args.push((Arg::DIFF_SRC, &diff_src));
    args.extend(gamma.as_ref().map(|g| (Arg::SCALE, g)));
    if both {
        args.extend([(Arg::DIFF_SCALE, &gradients.temporaries[0]), (Arg::DIFF_SHIFT, &gradients.temporaries[1])]);
    }
    l.step(problem, &args)?;
    l.copy_out(&diff_src, &output)?;
    gradients.copy_out(l)
}

pub(super) fn group(l: &mut Lowering<'_>) -> Result<(), Error> {
    let src = channels_first(l.op, &l.input(0)?)?;
    let dst = l.destination(channels_first)?;
    let groups = l.op.s64(AttrId::Groups);
    let affine = l.op.inputs.len() > 2;
    let (gamma, beta) = if affine { (Some(parameter(l, 1)?), Some(parameter(l, 2)?)) } else { (None, None) };
    let statistics = (1..l.op.outputs.len()).map(|i| l.output(i)).collect::<Result<Vec<_>, _>>()?;
    let stats = [src.size(0)?, groups];
    let saved = statistics.iter().map(|s| l.output_or_temporary(s, &stats, DataType::F32)).collect::<Result<Vec<_>, _>>()?;
    let flags = NormFlags { use_scale: affine, use_shift: affine, ..NormFlags::default() };
    let prop = if saved.is_empty() { Prop::ForwardInference } else { Prop::ForwardTraining };
    let problem = GroupNorm {
        mean: saved.first().map(|v| v.tensor.clone()),
        variance: saved.get(1).map(|v| v.tensor.clone()),
        ..GroupNorm::forward(prop, flags, epsilon(l), src.tensor.clone(), dst.tensor.clone()).groups(groups)
    };
    let mut args = vec![(Arg::SRC, &src), (Arg::DST, &dst)];
    args.extend(gamma.as_ref().map(|g| (Arg::SCALE, g)));
    args.extend(beta.as_ref().map(|b| (Arg::SHIFT, b)));
    args.extend([Arg::MEAN, Arg::VARIANCE].into_iter().zip(&saved));
    l.main(problem, &args)?;
    saved.iter().zip(&statistics).try_for_each(|(k, s)| l.copy_out(k, s))
}

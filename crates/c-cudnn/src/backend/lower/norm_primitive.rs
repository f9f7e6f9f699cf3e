//! Normalisations that are one primitive: batch, layer or group normalisation, chosen by the sizes of statistics and scale, not by the mode's name. Only a few
//! short vectors are computed separately.

use super::calc::Then;
use super::norm::{Backward, Epsilon, Forward, Moments, parameters};
use super::value::Val;
use super::{Lowering, is_reference};
use crate::status::Failure;
use oxidnn_runtime::PrimitiveDesc;
use oxidnn_spec::op::{BatchNorm, BinaryAlg, Diff, GroupNorm, LayerNorm, NormFlags, Prop};
use oxidnn_spec::{Arg, DataType, Dims, Op, Problem, Tensor};

/// Which primitive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Batch,
    Layer,
    /// With this number of groups of channels.
    Group(i64),
}

/// The tensors of a normalisation as the primitive needs them.
struct Shape {
    kind: Kind,
    /// The dimensions in the order in which they become those of the primitive.
    order: Vec<usize>,
    data: Dims,
    stats: Dims,
    channels: i64,
    /// Whether the primitive applies scale and bias; otherwise they are separate steps.
    learns: bool,
}

impl Shape {
    /// The primitive whose statistics have the sizes `stats`, and whose scale has those of `scale`.
    fn of(x: &Val, stats: &Dims, scale: Option<&Val>) -> Option<Shape> {
        let (dims, n) = (*x.dims(), x.rank());
        if n < 2 || stats.len() != n || scale.is_some_and(|s| s.rank() != n) {
            return None;
        }
        let is = |of: &Dims, wanted: &dyn Fn(usize) -> bool| (0..n).all(|d| of[d] == if wanted(d) { dims[d] } else { 1 });
        let scale = scale.map(|s| *s.dims());
        let (normal, strides) = (|d: usize| stats[d] == 1 && dims[d] != 1, x.tensor.blocking().filter(|b| b.is_plain())?.strides);
        let layer = scale.is_none_or(|s| (0..n).all(|d| s[d] == if normal(d) { dims[d] } else { 1 }));
        let by_channel = scale.is_none_or(|s| is(&s, &|d| d == 1));
        let whole = |kind, stats| Some(Shape { kind, order: (0..n).collect(), data: dims, stats, channels: dims[1], learns: true });
        if !layer && by_channel && is(stats, &|d| d == 1) {
            return whole(Kind::Batch, Dims::from([dims[1]]));
        }
        let groups = stats[1];
        let grouped = stats[0] == dims[0] && groups > 0 && dims[1] % groups == 0 && stats[2..].iter().all(|&s| s == 1);
        if !layer && by_channel && grouped {
            return whole(Kind::Group(groups), Dims::from([dims[0], groups]));
        }
        if !(0..n).all(|d| normal(d) || stats[d] == dims[d]) {
            return None;
        }
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by_key(|&d| (normal(d), std::cmp::Reverse(strides[d])));
        let product = |of: bool| (0..n).filter(|&d| normal(d) == of).map(|d| dims[d]).product();
        let (kept, channels) = (product(false), product(true));
        Some(Shape { kind: Kind::Layer, order, data: Dims::from([kept, channels]), stats: Dims::from([kept]), channels, learns: layer })
    }

    fn seen(&self, value: &Val, dims: &[i64]) -> Option<Val> {
        if value.rank() != self.order.len() {
            return None;
        }
        value.permuted(&self.order).ok()?.viewed(dims)
    }

    /// Source, destination, or a gradient of these: the normalised elements are contiguous.
    fn data(&self, value: &Val) -> Option<Val> {
        let seen = self.seen(value, &self.data)?;
        let apart = self.kind == Kind::Layer && seen.tensor.blocking().is_none_or(|b| b.strides[1] != 1);
        (!apart).then_some(seen)
    }

    fn stat(&self, value: &Val) -> Option<Val> {
        self.seen(value, &self.stats)
    }

    /// Scale, bias, or a gradient of these.
    fn learnt(&self, value: &Val) -> Option<Val> {
        self.seen(value, &[self.channels])
    }

    fn forward(&self, prop: Prop, flags: NormFlags, epsilon: f32, [src, dst]: [Tensor; 2]) -> Op {
        match self.kind {
            Kind::Batch => BatchNorm::forward(prop, flags, epsilon, src, dst).into(),
            Kind::Layer => LayerNorm::forward(prop, flags, epsilon, src, dst).into(),
            Kind::Group(groups) => GroupNorm::forward(prop, flags, epsilon, src, dst).groups(groups).into(),
        }
    }

    /// The gradients; the deviation comes from the statistics unchanged.
    fn backward(&self, prop: Prop, flags: NormFlags, src: Tensor, diff: Diff) -> Op {
        match self.kind {
            Kind::Batch => BatchNorm::backward(prop, flags, 0.0, src, diff).into(),
            Kind::Layer => LayerNorm::backward(prop, flags, 0.0, src, diff).into(),
            Kind::Group(groups) => GroupNorm::backward(prop, flags, 0.0, src, diff).groups(groups).into(),
        }
    }
}

/// The implementation of an operation, unless only the reference supports it.
fn described(l: &Lowering<'_>, op: Op) -> Option<PrimitiveDesc> {
    let problem = Problem::new(op, l.attr()).ok()?;
    l.described_by(problem).ok().filter(|desc| !is_reference(desc.impl_name()))
}

/// The buffer of an `f32` result, and its `view` for the primitive: the caller's output if it is `f32`, else a temporary of `dims`.
fn place(l: &mut Lowering<'_>, wanted: Option<&Val>, dims: Dims, view: impl Fn(&Val) -> Option<Val>) -> Result<Option<[Val; 2]>, Failure> {
    let value = match wanted.filter(|w| w.dtype() == DataType::F32 && view(w).is_some()) {
        Some(own) => own.clone(),
        None => l.temp(Tensor::plain(dims, DataType::F32)?),
    };
    Ok(view(&value).map(|seen| [value, seen]))
}

/// The deviation as a variance with epsilon 0.
fn variance(l: &mut Lowering<'_>, inverse: &Val) -> Result<Val, Failure> {
    l.power(inverse, -2.0)
}

/// The forward pass as a primitive, with the moments if it computes them. `None`, without effect, if there is no primitive for it.
pub(super) fn forward(l: &mut Lowering<'_>, f: &Forward, epsilon: Option<Epsilon>) -> Result<Option<Option<Moments>>, Failure> {
    let given = f.is_given();
    let Some(shape) = Shape::of(&f.x, &f.stats, f.scale.as_ref().or(f.bias.as_ref())) else { return Ok(None) };
    let Some(epsilon) = (if given { Some(Epsilon { value: 0.0, given: None }) } else { epsilon }) else { return Ok(None) };
    if f.x.dtype() == DataType::F64 || f.y.dims() != f.x.dims() {
        return Ok(None);
    }
    let learns = |v: &Option<Val>| shape.learns && v.is_some();
    let apart = !shape.learns && (f.scale.is_some() || f.bias.is_some());
    let y = if apart { l.temp(Tensor { dtype: DataType::F32, layout: f.x.tensor.layout.resized(*f.x.dims()) }) } else { f.y.clone() };
    let flags =
        NormFlags { use_global_stats: given, use_scale: learns(&f.scale), use_shift: learns(&f.bias), rms: f.rms, ..NormFlags::default() };
    let prop = if f.training { Prop::ForwardTraining } else { Prop::ForwardInference };
    let (Some(mut x), Some(dst)) = (shape.data(&f.x), shape.data(&y)) else { return Ok(None) };
    let op = |x: &Val| shape.forward(prop, flags, epsilon.value, [x.tensor.clone(), dst.tensor.clone()]);
    let mut desc = described(l, op(&x));
    if desc.is_none() && x.dtype() != dst.dtype() && dst.dtype() == DataType::F32 {
        // The primitive has one type for source and result: convert the source.
        let wide = Val { tensor: Tensor { dtype: DataType::F32, layout: x.tensor.layout.resized(*x.dims()) }, ..x.clone() };
        desc = described(l, op(&wide));
        x = if desc.is_some() { l.real(&x)? } else { x };
    }
    let plain = Val { tensor: Tensor::plain(f.stats, DataType::F32)?, ..f.x.clone() };
    if shape.stat(&plain).is_none() || given && f.mean.as_ref().is_some_and(|mean| shape.stat(mean).is_none()) {
        return Ok(None);
    }
    let learnt = |v: &Option<Val>| v.as_ref().filter(|_| shape.learns).map(|v| shape.learnt(v));
    let (scale, bias) = (learnt(&f.scale), learnt(&f.bias));
    let (Some(desc), false) = (desc, matches!(scale, Some(None)) || matches!(bias, Some(None))) else { return Ok(None) };
    let mut args = vec![(Arg::SRC, x), (Arg::DST, dst)];
    for (arg, value) in [(Arg::SCALE, scale.flatten()), (Arg::SHIFT, bias.flatten())] {
        if let Some(value) = value {
            args.push((arg, l.real(&value)?));
        }
    }
    let mut moments = None;
    if given {
        let inverse = f.inverse.as_ref().map(|i| variance(l, i)).transpose()?;
        for (arg, value) in [(Arg::MEAN, f.mean.clone().filter(|_| !f.rms)), (Arg::VARIANCE, inverse)] {
            if let Some(value) = value {
                let Some(seen) = shape.stat(&l.real(&value)?) else { return Ok(None) };
                args.push((arg, seen));
            }
        }
    } else if f.training {
        let mean = if f.rms { None } else { place(l, f.mean.as_ref(), f.stats, |v| shape.stat(v))? };
        let Some([variance, seen]) = place(l, None, f.stats, |v| shape.stat(v))? else { return Ok(None) };
        if mean.is_none() && !f.rms {
            return Ok(None);
        }
        args.push((Arg::VARIANCE, seen));
        args.extend(mean.iter().map(|[_, seen]| (Arg::MEAN, seen.clone())));
        moments = Some(Moments { mean: mean.map(|[mean, _]| mean), variance });
    }
    let args: Vec<(Arg, &Val)> = args.iter().map(|(arg, value)| (*arg, value)).collect();
    l.step_of(desc, &args, epsilon.given)?;
    if apart {
        affine(l, f, &y)?;
    }
    Ok(Some(moments))
}

/// Applies scale and bias that depend on more than the position within a normalised row.
fn affine(l: &mut Lowering<'_>, f: &Forward, normal: &Val) -> Result<(), Failure> {
    let y = match (&f.scale, &f.bias) {
        (Some(scale), Some(bias)) => l.chained(BinaryAlg::Mul, normal, scale, &[Then::Two(BinaryAlg::Add, bias)])?,
        (Some(scale), None) => l.mul(normal, scale)?,
        (None, Some(bias)) => l.add(normal, bias)?,
        (None, None) => normal.clone(),
    };
    l.store(&y, &f.y)
}

/// The backward pass as a primitive; false, without effect, if there is none for it.
pub(super) fn backward(l: &mut Lowering<'_>, b: &Backward) -> Result<bool, Failure> {
    let (Some(inverse), true) = (&b.inverse, b.rms || b.mean.is_some()) else { return Ok(false) };
    let Some(shape) = Shape::of(&b.x, &b.stats, Some(&b.scale)) else { return Ok(false) };
    if [&b.x, &b.dy, &b.dx].iter().any(|v| v.dtype() == DataType::F64 || v.dims() != b.x.dims()) {
        return Ok(false);
    }
    let wide = Val { tensor: Tensor::plain(*b.x.dims(), DataType::F32)?, ..b.dy.clone() };
    let slope = if shape.learns { &b.dy } else { &wide };
    let (Some(x), Some(dy), Some(dx)) = (shape.data(&b.x), shape.data(slope), shape.data(&b.dx)) else { return Ok(false) };
    let wants = shape.learns && (b.dscale.is_some() || b.dbias.is_some());
    let flags = NormFlags { use_scale: shape.learns, use_shift: wants && b.dbias.is_some(), rms: b.rms, ..NormFlags::default() };
    let prop = if wants { Prop::Backward } else { Prop::BackwardData };
    let Some(desc) = described(l, shape.backward(prop, flags, x.tensor.clone(), Diff { src: dx.tensor.clone(), dst: dy.tensor })) else {
        return Ok(false);
    };
    let seen = |v: &Option<Val>| v.as_ref().is_none_or(|v| !shape.learns || shape.learnt(v).is_some());
    let plain = Val { tensor: Tensor::plain(b.stats, DataType::F32)?, ..inverse.clone() };
    let mean = b.mean.as_ref().filter(|_| !b.rms);
    let fits = shape.stat(&plain).is_some() && mean.is_none_or(|mean| mean.dtype() == DataType::F32 && shape.stat(mean).is_some());
    if !fits || !seen(&b.dscale) || !seen(&b.dbias) || shape.learns && shape.learnt(&b.scale).is_none() {
        return Ok(false);
    }
    let slope = if shape.learns { b.dy.clone() } else { l.mul(&b.dy, &b.scale)? };
    let variance = variance(l, inverse)?;
    let mut args =
        vec![(Arg::SRC, Some(x)), (Arg::DIFF_DST, shape.data(&slope)), (Arg::DIFF_SRC, Some(dx)), (Arg::VARIANCE, shape.stat(&variance))];
    args.extend(mean.map(|mean| (Arg::MEAN, shape.stat(mean))));
    let mut after = Vec::new();
    if shape.learns {
        let scale = l.real(&b.scale)?;
        args.push((Arg::SCALE, shape.learnt(&scale)));
    }
    for (arg, wanted, needed) in [(Arg::DIFF_SCALE, &b.dscale, wants), (Arg::DIFF_SHIFT, &b.dbias, flags.use_shift)] {
        if needed {
            let own = wanted.as_ref().and_then(|w| shape.learnt(w));
            let value = match own.clone().filter(|own| own.dtype() == DataType::F32) {
                Some(own) => own,
                None => l.temp(Tensor::plain([shape.channels], DataType::F32)?),
            };
            after.extend(own.filter(|own| own.spot != value.spot).map(|own| (value.clone(), own)));
            args.push((arg, Some(value)));
        }
    }
    let args: Vec<(Arg, &Val)> = args.iter().filter_map(|(arg, value)| Some((*arg, value.as_ref()?))).collect();
    l.step_of(desc, &args, None)?;
    for (from, to) in &after {
        l.reorder(from, to)?;
    }
    if !shape.learns && (b.dscale.is_some() || b.dbias.is_some()) {
        let dy = l.real(&b.dy)?;
        let normal = match mean {
            Some(mean) => l.chained(BinaryAlg::Sub, &b.x, mean, &[Then::Two(BinaryAlg::Mul, inverse)])?,
            None => l.mul(&b.x, inverse)?,
        };
        parameters(l, b, &dy, &normal)?;
    }
    Ok(true)
}

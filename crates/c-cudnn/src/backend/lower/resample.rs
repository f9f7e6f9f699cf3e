//! Pooling and interpolation.

use super::value::Val;
use super::{Lowering, misfit, unsupported};
use crate::backend::object::{Frozen, Value};
use crate::enums::*;
use crate::nan;
use crate::status::Failure;
use oxidnn_spec::op::{BinaryAlg, Pool, PoolAlg, Prop, Resampling, ResamplingAlg, Window};
use oxidnn_spec::{Arg, DataType, Dims, Tensor};

/// A list of values, which may be fractions.
fn fractions(parameters: &Frozen, id: i32) -> Vec<[i64; 2]> {
    match parameters.values.get(&id).map(|t| &t.value) {
        Some(Value::Fractions(f)) => f.clone(),
        Some(Value::Ints(v)) => v.iter().map(|&v| [v, 1]).collect(),
        _ => Vec::new(),
    }
}

/// A list of values that must be integers.
fn whole(parameters: &Frozen, id: i32) -> Result<Dims, Failure> {
    let list = fractions(parameters, id);
    let all: Option<Vec<i64>> = list.iter().map(|f| (f[0] % f[1] == 0).then(|| f[0] / f[1])).collect();
    let all = all.ok_or_else(|| unsupported("windows at fractions of elements for pooling"))?;
    Dims::new(&all).ok_or_else(|| misfit("RESAMPLE", "too many spatial dimensions", "at most 6"))
}

/// The parameters of pooling.
struct Pooling {
    alg: PoolAlg,
    kernel: Dims,
    window: Window,
    /// Whether padding takes part in the maximum as 0.
    zero_padding: bool,
    /// Whether NaN in a window makes the maximum NaN.
    carries_nan: bool,
}

impl Pooling {
    fn of(parameters: &Frozen) -> Result<Pooling, Failure> {
        let mode = parameters.int(CUDNN_ATTR_RESAMPLE_MODE).unwrap_or(-1) as i32;
        let alg = match mode {
            CUDNN_RESAMPLE_MAXPOOL => PoolAlg::Max,
            CUDNN_RESAMPLE_AVGPOOL_INCLUDE_PADDING => PoolAlg::AvgIncludePadding,
            _ => PoolAlg::AvgExcludePadding,
        };
        let kernel = whole(parameters, CUDNN_ATTR_RESAMPLE_WINDOW_DIMS)?;
        let window = Window {
            strides: whole(parameters, CUDNN_ATTR_RESAMPLE_STRIDES)?,
            dilations: Dims::filled(kernel.len(), 0),
            padding_l: whole(parameters, CUDNN_ATTR_RESAMPLE_PRE_PADDINGS)?,
            padding_r: whole(parameters, CUDNN_ATTR_RESAMPLE_POST_PADDINGS)?,
        };
        let padding = parameters.int(CUDNN_ATTR_RESAMPLE_PADDING_MODE).unwrap_or(0) as i32;
        let padded = window.padding_l.iter().chain(window.padding_r.iter()).any(|&p| p != 0);
        if padded && padding == CUDNN_EDGE_VAL_PAD {
            return Err(unsupported("pooling of edges repeated (EDGE_VAL_PAD): pad with zeros or negative infinity"));
        }
        if padded && padding == CUDNN_NEG_INF_PAD && alg != PoolAlg::Max {
            return Err(unsupported("means of negative infinity (NEG_INF_PAD)"));
        }
        let nan = parameters.int(CUDNN_ATTR_RESAMPLE_NAN_PROPAGATION) == Some(i64::from(CUDNN_PROPAGATE_NAN));
        let carries_nan = nan && alg == PoolAlg::Max;
        Ok(Pooling { alg, kernel, window, zero_padding: padded && padding == CUDNN_ZERO_PAD && alg == PoolAlg::Max, carries_nan })
    }

    /// NaN for each window that contains NaN, else 0: average pooling of the source's carrier.
    fn carrier(&self, l: &mut Lowering<'_>, x: &Val, y: &Val) -> Result<Val, Failure> {
        let carrier = l.carrier(x)?;
        let means = l.room(*y.dims())?;
        let tensors = [carrier.tensor.clone(), means.tensor.clone()];
        let problem = Pool::new(Prop::ForwardInference, PoolAlg::AvgIncludePadding, tensors, self.kernel, self.window.clone());
        l.step(problem, &[(Arg::SRC, &carrier), (Arg::DST, &means)])?;
        Ok(means)
    }

    /// The source with NaN replaced by infinity, so that NaN is the maximum of its window.
    fn ordered(&self, l: &mut Lowering<'_>, x: &Val) -> Result<Val, Failure> {
        if !self.carries_nan || !nan::has(x.dtype()) {
            return Ok(x.clone());
        }
        let ordered = l.with_number(BinaryAlg::Min, x, f64::INFINITY)?;
        l.cast(&ordered, x.dtype())
    }

    /// A lower bound for each window's maximum: 0 if the window contains padding, else negative infinity.
    fn floor(&self, l: &mut Lowering<'_>, x: &Val, y: &Val) -> Result<Val, Failure> {
        let (n, spatial) = (y.rank(), self.kernel.len());
        let mut touched: Option<Val> = None;
        for i in 0..spatial {
            let d = n - spatial + i;
            let dims = Dims::from_fn(n, |j| if j == d { y.dims()[d] } else { 1 });
            let (stride, before, kernel, size) = (self.window.strides[i], self.window.padding_l[i], self.kernel[i], x.dims()[d]);
            let line = l.constant(Tensor::plain(dims, DataType::F32)?, |o| {
                let start = o as i64 * stride - before;
                if start < 0 || start + kernel > size { 0.0 } else { f64::NEG_INFINITY }
            })?;
            touched = Some(match touched {
                Some(other) => l.two(BinaryAlg::Max, &other, &line)?,
                None => line,
            });
        }
        touched.ok_or_else(|| unsupported("a window of no dimensions"))
    }
}

/// The algorithm of an interpolation; checks that strides are the ratio of the sizes. `None` for pooling.
fn interpolation(parameters: &Frozen, from: &Dims, to: &Dims) -> Result<Option<ResamplingAlg>, Failure> {
    let alg = match parameters.int(CUDNN_ATTR_RESAMPLE_MODE).unwrap_or(-1) as i32 {
        CUDNN_RESAMPLE_NEAREST => ResamplingAlg::Nearest,
        CUDNN_RESAMPLE_BILINEAR => ResamplingAlg::Linear,
        _ => return Ok(None),
    };
    let strides = fractions(parameters, CUDNN_ATTR_RESAMPLE_STRIDES);
    let first = from.len().saturating_sub(strides.len());
    let ratio = |(i, s): (usize, &[i64; 2])| s[0].checked_mul(to[first + i]) == s[1].checked_mul(from[first + i]);
    if !strides.iter().enumerate().all(ratio) {
        return Err(unsupported("an interpolation whose strides are not the ratio of the sizes"));
    }
    Ok(Some(alg))
}

fn scaled_only(op: &Frozen, alpha: i32, beta: i32) -> Result<(), Failure> {
    let plain = op.real(alpha).unwrap_or(1.0) == 1.0 && op.real(beta).unwrap_or(0.0) == 0.0;
    if plain { Ok(()) } else { Err(unsupported("alpha and beta of a resampling other than 1 and 0, which cuDNN deprecates")) }
}

pub(super) fn forward(l: &mut Lowering<'_>, op: &Frozen) -> Result<(), Failure> {
    scaled_only(op, CUDNN_ATTR_OPERATION_RESAMPLE_FWD_ALPHA, CUDNN_ATTR_OPERATION_RESAMPLE_FWD_BETA)?;
    let parameters = op.object(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_DESC).ok_or_else(|| unsupported("no parameters"))?.clone();
    let x = l.read(op, CUDNN_ATTR_OPERATION_RESAMPLE_FWD_XDESC)?;
    let y = l.output(op, CUDNN_ATTR_OPERATION_RESAMPLE_FWD_YDESC)?;
    if x.dtype() == DataType::F64 {
        l.real = DataType::F64;
    }
    if let Some(alg) = interpolation(&parameters, x.dims(), y.dims())? {
        let problem =
            |y: &Val| Resampling { prop: Prop::ForwardInference, alg, src: x.tensor.clone(), dst: y.tensor.clone(), factors: Vec::new() };
        return l.step(problem(&y), &[(Arg::SRC, &x), (Arg::DST, &y)]);
    }
    let pooling = Pooling::of(&parameters)?;
    let index = l.wanted(op, CUDNN_ATTR_OPERATION_RESAMPLE_FWD_IDXDESC)?;
    let ordered = pooling.ordered(l, &x)?;
    let carries = pooling.carries_nan && nan::has(x.dtype());
    let mut pooled = pool(l, &pooling, &ordered, &y, index.as_ref())?;
    if pooling.zero_padding {
        let floor = pooling.floor(l, &x, &y)?;
        pooled = l.two(BinaryAlg::Max, &pooled, &floor)?;
    }
    if carries {
        let carrier = pooling.carrier(l, &x, &y)?;
        pooled = l.add(&pooled, &carrier)?;
    }
    l.store(&pooled, &y)
}

/// The pooled tensor in the source's type, and the positions of the maxima.
fn pool(l: &mut Lowering<'_>, pooling: &Pooling, x: &Val, y: &Val, index: Option<&Val>) -> Result<Val, Failure> {
    let to = if x.dtype() == y.dtype() && !pooling.zero_padding && !pooling.carries_nan {
        y.clone()
    } else {
        l.temp(Tensor { dtype: x.dtype(), layout: y.tensor.layout.resized(*y.dims()) })
    };
    let kept = index.is_some() && pooling.alg == PoolAlg::Max;
    let prop = if kept { Prop::ForwardTraining } else { Prop::ForwardInference };
    let tensors = [x.tensor.clone(), to.tensor.clone()];
    let problem = Pool::new(prop, pooling.alg, tensors, pooling.kernel, pooling.window.clone());
    let Some(index) = index.filter(|_| kept) else {
        l.step(problem, &[(Arg::SRC, x), (Arg::DST, &to)])?;
        return Ok(to);
    };
    let places = places(l, pooling, &to)?;
    l.step(problem, &[(Arg::SRC, x), (Arg::DST, &to), (Arg::WORKSPACE, &places)])?;
    l.reorder(&places, index)?;
    Ok(to)
}

/// Memory for the positions of maxima within their windows.
fn places(l: &mut Lowering<'_>, pooling: &Pooling, y: &Val) -> Result<Val, Failure> {
    let dtype = if pooling.kernel.volume().is_some_and(|k| k <= 255) { DataType::U8 } else { DataType::S32 };
    Ok(l.temp(Tensor { dtype, layout: y.tensor.layout.resized(*y.dims()) }))
}

pub(super) fn backward(l: &mut Lowering<'_>, op: &Frozen) -> Result<(), Failure> {
    scaled_only(op, CUDNN_ATTR_OPERATION_RESAMPLE_BWD_ALPHA, CUDNN_ATTR_OPERATION_RESAMPLE_BWD_BETA)?;
    let parameters = op.object(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DESC).ok_or_else(|| unsupported("no parameters"))?.clone();
    let dy = l.read(op, CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DYDESC)?;
    let dx = l.output(op, CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DXDESC)?;
    if dy.dtype() == DataType::F64 {
        l.real = DataType::F64;
    }
    if let Some(alg) = interpolation(&parameters, dx.dims(), dy.dims())? {
        let problem = Resampling { prop: Prop::BackwardData, alg, src: dx.tensor.clone(), dst: dy.tensor.clone(), factors: Vec::new() };
        return l.step(problem, &[(Arg::DIFF_DST, &dy), (Arg::DIFF_SRC, &dx)]);
    }
    let pooling = Pooling::of(&parameters)?;
    let floating = matches!(dy.dtype(), DataType::F32 | DataType::F64 | DataType::F16 | DataType::Bf16);
    let dy = if floating { dy } else { l.real(&dy)? };
    let to = if dx.dtype() == dy.dtype() {
        dx.clone()
    } else {
        l.temp(Tensor { dtype: dy.dtype(), layout: dx.tensor.layout.resized(*dx.dims()) })
    };
    let tensors = [to.tensor.clone(), dy.tensor.clone()];
    let problem = Pool::new(Prop::BackwardData, pooling.alg, tensors, pooling.kernel, pooling.window.clone());
    if pooling.alg == PoolAlg::Max {
        let places = maxima(l, op, &pooling, &dy)?;
        l.step(problem, &[(Arg::DIFF_DST, &dy), (Arg::WORKSPACE, &places), (Arg::DIFF_SRC, &to)])?;
    } else {
        l.step(problem, &[(Arg::DIFF_DST, &dy), (Arg::DIFF_SRC, &to)])?;
    }
    if to.spot == dx.spot { Ok(()) } else { l.reorder(&to, &dx) }
}

/// The positions of the maxima: from the forward pass, otherwise recomputed from the source.
fn maxima(l: &mut Lowering<'_>, op: &Frozen, pooling: &Pooling, dy: &Val) -> Result<Val, Failure> {
    let places = places(l, pooling, dy)?;
    if let Some(index) = l.maybe(op, CUDNN_ATTR_OPERATION_RESAMPLE_BWD_IDXDESC)? {
        l.reorder(&index, &places)?;
        return Ok(places);
    }
    if pooling.zero_padding {
        return Err(unsupported("the gradient of a maximum with zeros around it, without IDXDESC: use NEG_INF_PAD"));
    }
    let x = l.maybe(op, CUDNN_ATTR_OPERATION_RESAMPLE_BWD_XDESC)?;
    let x = x.ok_or_else(|| unsupported("the gradient of max pooling with neither IDXDESC nor XDESC"))?;
    let x = pooling.ordered(l, &x)?;
    let x = l.cast(&x, dy.dtype())?;
    let y = l.temp(Tensor { dtype: x.dtype(), layout: dy.tensor.layout.resized(*dy.dims()) });
    let tensors = [x.tensor.clone(), y.tensor.clone()];
    let problem = Pool::new(Prop::ForwardTraining, PoolAlg::Max, tensors, pooling.kernel, pooling.window.clone());
    l.step(problem, &[(Arg::SRC, &x), (Arg::DST, &y), (Arg::WORKSPACE, &places)])?;
    Ok(places)
}

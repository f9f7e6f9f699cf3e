//! Normalisations of any mode and their gradients: as one primitive if there is one, otherwise by reductions and arithmetic.

use super::calc::Then;
use super::value::Val;
use super::{Lowering, misfit, norm_primitive, unsupported};
use crate::backend::object::Frozen;
use crate::backend::program::number;
use crate::enums::*;
use crate::status::Failure;
use oxidnn_spec::op::{BinaryAlg, EltwiseAlg, ReductionAlg};
use oxidnn_spec::{DataType, Dims};

/// Which elements share a mean, as the sizes of the means.
fn statistics(mode: i32, x: &Val, scale: Option<&Val>, stats: Option<&Val>) -> Result<Dims, Failure> {
    let dims = *x.dims();
    if let Some(stats) = stats.filter(|s| s.rank() == dims.len()) {
        return Ok(*stats.dims());
    }
    let n = dims.len();
    Ok(match mode {
        CUDNN_BATCH_NORM => Dims::from_fn(n, |d| if d == 1 { dims[1] } else { 1 }),
        CUDNN_INSTANCE_NORM => Dims::from_fn(n, |d| if d < 2 { dims[d] } else { 1 }),
        CUDNN_ADA_LAYER_NORM => Dims::from_fn(n, |d| if d == 0 { dims[0] } else { 1 }),
        CUDNN_LAYER_NORM | CUDNN_RMS_NORM => {
            let scale = scale.filter(|s| s.rank() == n);
            let scale = scale.ok_or_else(|| unsupported("a normalisation without statistics and without a scale of as many dimensions"))?;
            Dims::from_fn(n, |d| if scale.dims()[d] == 1 { dims[d] } else { 1 })
        }
        _ => return Err(unsupported("a group normalisation without statistics, whose sizes say how many groups there are")),
    })
}

/// The fewest elements of a mean.
fn count(x: &Val, stats: &Dims) -> f64 {
    x.dims().iter().zip(stats.iter()).filter(|(x, s)| x != s).map(|(&x, _)| x as f64).product()
}

fn peers(op: &Frozen, id: i32) -> Result<(), Failure> {
    if op.objects(id).is_empty() { Ok(()) } else { Err(unsupported("statistics of other devices (PEER_STAT_DESCS): there is one device")) }
}

/// `1 / sqrt(variance + epsilon)`.
fn inverse(l: &mut Lowering<'_>, variance: &Val, epsilon: &Val) -> Result<Val, Failure> {
    l.chained(BinaryAlg::Add, variance, epsilon, &[Then::One(EltwiseAlg::Pow, [1.0, -0.5])])
}

/// The tensors of a forward pass.
pub(super) struct Forward {
    pub(super) rms: bool,
    pub(super) training: bool,
    pub(super) x: Val,
    pub(super) y: Val,
    pub(super) scale: Option<Val>,
    pub(super) bias: Option<Val>,
    pub(super) epsilon: Option<Val>,
    /// Written in training, read in inference.
    pub(super) mean: Option<Val>,
    pub(super) inverse: Option<Val>,
    /// Sizes of the statistics.
    pub(super) stats: Dims,
}

impl Forward {
    fn of(l: &mut Lowering<'_>, op: &Frozen) -> Result<Forward, Failure> {
        let mode = op.int(CUDNN_ATTR_OPERATION_NORM_FWD_MODE).unwrap_or(-1) as i32;
        let x = l.read(op, CUDNN_ATTR_OPERATION_NORM_FWD_XDESC)?;
        let scale = l.maybe(op, CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC)?;
        let mean = l.maybe(op, CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC)?;
        let inverse = l.maybe(op, CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC)?;
        Ok(Forward {
            rms: mode == CUDNN_RMS_NORM,
            training: op.int(CUDNN_ATTR_OPERATION_NORM_FWD_PHASE) == Some(i64::from(CUDNN_NORM_FWD_TRAINING)),
            stats: statistics(mode, &x, scale.as_ref(), mean.as_ref().or(inverse.as_ref()))?,
            y: l.output(op, CUDNN_ATTR_OPERATION_NORM_FWD_YDESC)?,
            bias: l.maybe(op, CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC)?,
            epsilon: l.maybe(op, CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC)?,
            x,
            scale,
            mean,
            inverse,
        })
    }

    /// Whether the statistics are given: the deviation, and the mean if one is subtracted.
    pub(super) fn is_given(&self) -> bool {
        !self.training && self.inverse.is_some() && (self.rms || self.mean.is_some())
    }

    fn epsilon(&self) -> Result<&Val, Failure> {
        self.epsilon.as_ref().ok_or_else(|| Failure::invalid("NORM_FWD_EPSILON_DESC", "nothing", "a number"))
    }
}

/// The statistics that a forward pass computes beside the result.
pub(super) struct Moments {
    /// `None` if no mean is subtracted.
    pub(super) mean: Option<Val>,
    pub(super) variance: Val,
}

pub(super) fn forward(l: &mut Lowering<'_>, op: &Frozen) -> Result<(), Failure> {
    peers(op, CUDNN_ATTR_OPERATION_NORM_FWD_PEER_STAT_DESCS)?;
    let f = Forward::of(l, op)?;
    if f.x.dtype() == DataType::F64 {
        l.real = DataType::F64;
    }
    if !f.is_given() {
        f.epsilon()?;
    }
    let known = known_epsilon(l, op, CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC);
    let moments = match norm_primitive::forward(l, &f, known)? {
        Some(moments) => moments,
        None => composed(l, &f)?,
    };
    let Some(Moments { mean, variance }) = moments.filter(|_| f.training) else { return Ok(()) };
    if let (Some(mean), Some(out)) = (&mean, &f.mean)
        && mean.spot != out.spot
    {
        l.reorder(mean, out)?;
    }
    if let Some(out) = &f.inverse {
        let factor = inverse(l, &variance, f.epsilon()?)?;
        l.store(&factor, out)?;
    }
    let n = count(&f.x, &f.stats);
    if let Some(mean) = &mean {
        running(l, op, mean, &MEAN, 1.0)?;
    }
    running(l, op, &variance, &VARIANCE, if n > 1.0 { n / (n - 1.0) } else { 1.0 })
}

/// The forward pass by reductions and arithmetic; returns the moments if they are computed.
fn composed(l: &mut Lowering<'_>, f: &Forward) -> Result<Option<Moments>, Failure> {
    whole(&f.x, &f.stats)?;
    let x = l.real(&f.x)?;
    let mut moments = None;
    let mut y = match (&f.inverse, &f.mean) {
        (Some(factor), mean) if f.is_given() => {
            let centred = mean.as_ref().filter(|_| !f.rms).map_or(Ok(x.clone()), |mean| l.sub(&x, mean))?;
            l.mul(&centred, factor)?
        }
        _ => {
            let mean = if f.rms { None } else { Some(l.reduced(ReductionAlg::Mean, &x, &f.stats)?) };
            let centred = mean.as_ref().map_or(Ok(x.clone()), |mean| l.sub(&x, mean))?;
            let square = l.mul(&centred, &centred)?;
            let variance = l.reduced(ReductionAlg::Mean, &square, &f.stats)?;
            let factor = inverse(l, &variance, f.epsilon()?)?;
            moments = Some(Moments { mean, variance });
            l.mul(&centred, &factor)?
        }
    };
    if let Some(scale) = &f.scale {
        y = l.mul(&y, scale)?;
    }
    if let Some(bias) = &f.bias {
        y = l.add(&y, bias)?;
    }
    l.store(&y, &f.y)?;
    Ok(moments)
}

/// Groups of channels are not a dimension to reduce over.
fn whole(x: &Val, stats: &Dims) -> Result<(), Failure> {
    match x.dims().iter().zip(stats.iter()).all(|(x, s)| *s == 1 || s == x) {
        true => Ok(()),
        false => {
            Err(misfit("statistics", stats, format_args!("sizes of 1 or those of {}: of groups, an epsilon that is a number", x.dims())))
        }
    }
}

/// A scalar for the primitive: its value if known, otherwise the tensor that is passed by value.
#[derive(Clone)]
pub(super) struct Epsilon {
    pub(super) value: f32,
    pub(super) given: Option<Val>,
}

/// The epsilon of an operation, if it is a scalar.
fn known_epsilon(l: &mut Lowering<'_>, op: &Frozen, id: i32) -> Option<Epsilon> {
    let tensor = l.described(op, id)?;
    let one = tensor.dims.iter().all(|&d| d == 1);
    match &tensor.constant {
        Some(bytes) if one => Some(Epsilon { value: number(tensor.real_type().ok()?, bytes)?, given: None }),
        None if one && tensor.is_by_value && !tensor.is_virtual => Some(Epsilon { value: USUAL, given: l.value(&tensor).ok() }),
        _ => None,
    }
}

/// The epsilon of primitives before an execution sets another.
const USUAL: f32 = 1e-5;

/// The attributes of a running statistic: before and after.
struct Running {
    before: i32,
    after: i32,
}

const MEAN: Running = Running {
    before: CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_MEAN_DESC,
    after: CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_MEAN_DESC,
};
const VARIANCE: Running =
    Running { before: CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_VAR_DESC, after: CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_VAR_DESC };

/// `after = (1 - factor) * before + factor * correction * now`.
fn running(l: &mut Lowering<'_>, op: &Frozen, now: &Val, names: &Running, correction: f64) -> Result<(), Failure> {
    let Some(after) = l.wanted(op, names.after)? else { return Ok(()) };
    let before = l.read(op, names.before)?;
    let factor = l.read(op, CUDNN_ATTR_OPERATION_NORM_FWD_EXP_AVG_FACTOR_DESC)?;
    let now = l.scaled(now, correction)?;
    let mixed = mixed(l, &before, &now, &factor)?;
    l.store(&mixed, &after)
}

/// `before + factor * (now - before)`, as the sum of two products.
pub(super) fn mixed(l: &mut Lowering<'_>, before: &Val, now: &Val, factor: &Val) -> Result<Val, Failure> {
    let rest = l.one(EltwiseAlg::Linear, [-1.0, 1.0], factor)?;
    let new = l.mul(now, factor)?;
    l.chained(BinaryAlg::Mul, before, &rest, &[Then::Two(BinaryAlg::Add, &new)])
}

/// The tensors of a backward pass.
pub(super) struct Backward {
    pub(super) rms: bool,
    pub(super) x: Val,
    pub(super) dy: Val,
    pub(super) dx: Val,
    pub(super) scale: Val,
    pub(super) mean: Option<Val>,
    pub(super) inverse: Option<Val>,
    pub(super) dscale: Option<Val>,
    pub(super) dbias: Option<Val>,
    /// Sizes of the statistics.
    pub(super) stats: Dims,
}

pub(super) fn backward(l: &mut Lowering<'_>, op: &Frozen) -> Result<(), Failure> {
    peers(op, CUDNN_ATTR_OPERATION_NORM_BWD_PEER_STAT_DESCS)?;
    let mode = op.int(CUDNN_ATTR_OPERATION_NORM_BWD_MODE).unwrap_or(-1) as i32;
    let (x, scale) = (l.read(op, CUDNN_ATTR_OPERATION_NORM_BWD_XDESC)?, l.read(op, CUDNN_ATTR_OPERATION_NORM_BWD_SCALE_DESC)?);
    let mean = l.maybe(op, CUDNN_ATTR_OPERATION_NORM_BWD_MEAN_DESC)?;
    let inverse = l.maybe(op, CUDNN_ATTR_OPERATION_NORM_BWD_INV_VARIANCE_DESC)?;
    let b = Backward {
        rms: mode == CUDNN_RMS_NORM,
        stats: statistics(mode, &x, Some(&scale), inverse.as_ref().or(mean.as_ref()))?,
        dy: l.read(op, CUDNN_ATTR_OPERATION_NORM_BWD_DYDESC)?,
        dx: l.output(op, CUDNN_ATTR_OPERATION_NORM_BWD_DXDESC)?,
        dscale: l.wanted(op, CUDNN_ATTR_OPERATION_NORM_BWD_DSCALE_DESC)?,
        dbias: l.wanted(op, CUDNN_ATTR_OPERATION_NORM_BWD_DBIAS_DESC)?,
        x,
        scale,
        mean,
        inverse,
    };
    if b.x.dtype() == DataType::F64 {
        l.real = DataType::F64;
    }
    if norm_primitive::backward(l, &b)? {
        return Ok(());
    }
    whole(&b.x, &b.stats)?;
    let (x, dy) = (l.real(&b.x)?, l.real(&b.dy)?);
    let centred = match &b.mean {
        _ if b.rms => x.clone(),
        Some(mean) => l.sub(&x, mean)?,
        None => {
            let mean = l.reduced(ReductionAlg::Mean, &x, &b.stats)?;
            l.sub(&x, &mean)?
        }
    };
    let factor = match &b.inverse {
        Some(factor) => factor.clone(),
        None => {
            let epsilon = l.read(op, CUDNN_ATTR_OPERATION_NORM_BWD_EPSILON_DESC)?;
            let square = l.mul(&centred, &centred)?;
            let variance = l.reduced(ReductionAlg::Mean, &square, &b.stats)?;
            self::inverse(l, &variance, &epsilon)?
        }
    };
    let normal = l.mul(&centred, &factor)?;
    parameters(l, &b, &dy, &normal)?;
    let slope = l.mul(&dy, &b.scale)?;
    let weighted = l.mul(&slope, &normal)?;
    let mean = l.reduced(ReductionAlg::Mean, &weighted, &b.stats)?;
    let along = l.mul(&normal, &mean)?;
    let mut dx = l.sub(&slope, &along)?;
    if !b.rms {
        let mean = l.reduced(ReductionAlg::Mean, &slope, &b.stats)?;
        dx = l.sub(&dx, &mean)?;
    }
    dx = l.mul(&dx, &factor)?;
    l.store(&dx, &b.dx)
}

/// The gradients of scale and bias, of the normalised data.
pub(super) fn parameters(l: &mut Lowering<'_>, b: &Backward, dy: &Val, normal: &Val) -> Result<(), Failure> {
    if let Some(dscale) = &b.dscale {
        let product = l.mul(dy, normal)?;
        let sum = l.reduced(ReductionAlg::Sum, &product, &fitted(&b.x, dscale)?)?;
        l.store(&sum, dscale)?;
    }
    if let Some(dbias) = &b.dbias {
        let sum = l.reduced(ReductionAlg::Sum, dy, &fitted(&b.x, dbias)?)?;
        l.store(&sum, dbias)?;
    }
    Ok(())
}

/// The sizes of a gradient of parameters, if those of the data reduce to them.
pub(super) fn fitted(x: &Val, parameter: &Val) -> Result<Dims, Failure> {
    let (x, p) = (x.dims(), parameter.dims());
    let fits = x.len() == p.len() && x.iter().zip(p.iter()).all(|(&x, &p)| p == 1 || p == x);
    if fits { Ok(*p) } else { Err(misfit("gradient of parameters", p, format_args!("sizes of 1 or those of {x}"))) }
}

//! Normalisations and their gradients, of any mode, by reductions and arithmetic: epsilon is known at execution only.

use super::value::Val;
use super::{Lowering, misfit, unsupported};
use crate::backend::object::Frozen;
use crate::enums::*;
use crate::status::Failure;
use oxidnn_spec::Dims;
use oxidnn_spec::op::{EltwiseAlg, ReductionAlg};

/// Which elements a mean is taken of: the sizes of the means.
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
        other => return Err(unsupported(format_args!("the mode {other}: cuDNN has no group normalisation here either"))),
    })
}

/// The fewest elements that a mean is taken of.
fn count(x: &Val, stats: &Dims) -> f64 {
    x.dims().iter().zip(stats.iter()).filter(|(x, s)| x != s).map(|(&x, _)| x as f64).product()
}

fn peers(op: &Frozen, id: i32) -> Result<(), Failure> {
    if op.objects(id).is_empty() { Ok(()) } else { Err(unsupported("statistics of other devices (PEER_STAT_DESCS): there is one device")) }
}

/// `1 / sqrt(variance + epsilon)`.
fn inverse(l: &mut Lowering<'_>, variance: &Val, epsilon: &Val) -> Result<Val, Failure> {
    let sum = l.add(variance, epsilon)?;
    l.power(&sum, -0.5)
}

pub(super) fn forward(l: &mut Lowering<'_>, op: &Frozen) -> Result<(), Failure> {
    peers(op, CUDNN_ATTR_OPERATION_NORM_FWD_PEER_STAT_DESCS)?;
    let mode = op.int(CUDNN_ATTR_OPERATION_NORM_FWD_MODE).unwrap_or(-1) as i32;
    let x = l.read(op, CUDNN_ATTR_OPERATION_NORM_FWD_XDESC)?;
    if x.dtype() == oxidnn_spec::DataType::F64 {
        l.real = x.dtype();
    }
    let training = op.int(CUDNN_ATTR_OPERATION_NORM_FWD_PHASE) == Some(i64::from(CUDNN_NORM_FWD_TRAINING));
    let scale = l.maybe(op, CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC)?;
    let bias = l.maybe(op, CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC)?;
    let (mean_id, inverse_id) = (CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC, CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC);
    let (saved_mean, saved_inverse) = (l.maybe(op, mean_id)?, l.maybe(op, inverse_id)?);
    let x = l.real(&x)?;
    let stats = statistics(mode, &x, scale.as_ref(), saved_mean.as_ref().or(saved_inverse.as_ref()))?;
    let given = !training && saved_inverse.is_some();
    let rms = mode == CUDNN_RMS_NORM;
    let centred = match (&saved_mean, rms) {
        (_, true) => x.clone(),
        (Some(mean), false) if given => l.sub(&x, mean)?,
        _ => {
            let mean = l.reduced(ReductionAlg::Mean, &x, &stats)?;
            if let (Some(out), true) = (&saved_mean, training) {
                l.reorder(&mean, out)?;
            }
            running(l, op, &mean, &MEAN, 1.0)?;
            l.sub(&x, &mean)?
        }
    };
    let factor = match &saved_inverse {
        Some(factor) if given => factor.clone(),
        _ => {
            let epsilon = l.maybe(op, CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC)?;
            let epsilon = epsilon.ok_or_else(|| Failure::invalid("NORM_FWD_EPSILON_DESC", "nothing", "a number"))?;
            let square = l.mul(&centred, &centred)?;
            let variance = l.reduced(ReductionAlg::Mean, &square, &stats)?;
            let n = count(&x, &stats);
            running(l, op, &variance, &VARIANCE, if n > 1.0 { n / (n - 1.0) } else { 1.0 })?;
            let factor = inverse(l, &variance, &epsilon)?;
            if let (Some(out), true) = (&saved_inverse, training) {
                l.reorder(&factor, out)?;
            }
            factor
        }
    };
    let mut y = l.mul(&centred, &factor)?;
    if let Some(scale) = &scale {
        y = l.mul(&y, scale)?;
    }
    if let Some(bias) = &bias {
        y = l.add(&y, bias)?;
    }
    let output = l.output(op, CUDNN_ATTR_OPERATION_NORM_FWD_YDESC)?;
    l.store(&y, &output)
}

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
    let old = l.mul(before, &rest)?;
    let new = l.mul(now, factor)?;
    l.add(&old, &new)
}

pub(super) fn backward(l: &mut Lowering<'_>, op: &Frozen) -> Result<(), Failure> {
    peers(op, CUDNN_ATTR_OPERATION_NORM_BWD_PEER_STAT_DESCS)?;
    let mode = op.int(CUDNN_ATTR_OPERATION_NORM_BWD_MODE).unwrap_or(-1) as i32;
    let rms = mode == CUDNN_RMS_NORM;
    let x = l.read(op, CUDNN_ATTR_OPERATION_NORM_BWD_XDESC)?;
    if x.dtype() == oxidnn_spec::DataType::F64 {
        l.real = x.dtype();
    }
    let (x, dy) = (l.real(&x)?, l.read(op, CUDNN_ATTR_OPERATION_NORM_BWD_DYDESC)?);
    let dy = l.real(&dy)?;
    let scale = l.read(op, CUDNN_ATTR_OPERATION_NORM_BWD_SCALE_DESC)?;
    let mean = l.maybe(op, CUDNN_ATTR_OPERATION_NORM_BWD_MEAN_DESC)?;
    let factor = l.maybe(op, CUDNN_ATTR_OPERATION_NORM_BWD_INV_VARIANCE_DESC)?;
    let stats = statistics(mode, &x, Some(&scale), factor.as_ref().or(mean.as_ref()))?;
    let centred = match (mean, rms) {
        (_, true) => x.clone(),
        (Some(mean), false) => l.sub(&x, &mean)?,
        (None, false) => {
            let mean = l.reduced(ReductionAlg::Mean, &x, &stats)?;
            l.sub(&x, &mean)?
        }
    };
    let factor = match factor {
        Some(factor) => factor,
        None => {
            let epsilon = l.read(op, CUDNN_ATTR_OPERATION_NORM_BWD_EPSILON_DESC)?;
            let square = l.mul(&centred, &centred)?;
            let variance = l.reduced(ReductionAlg::Mean, &square, &stats)?;
            inverse(l, &variance, &epsilon)?
        }
    };
    let normal = l.mul(&centred, &factor)?;
    let product = l.mul(&dy, &normal)?;
    if let Some(dscale) = l.wanted(op, CUDNN_ATTR_OPERATION_NORM_BWD_DSCALE_DESC)? {
        let sum = l.reduced(ReductionAlg::Sum, &product, &fitted(&x, &dscale)?)?;
        l.store(&sum, &dscale)?;
    }
    if let Some(dbias) = l.wanted(op, CUDNN_ATTR_OPERATION_NORM_BWD_DBIAS_DESC)? {
        let sum = l.reduced(ReductionAlg::Sum, &dy, &fitted(&x, &dbias)?)?;
        l.store(&sum, &dbias)?;
    }
    let slope = l.mul(&dy, &scale)?;
    let weighted = l.mul(&slope, &normal)?;
    let mean = l.reduced(ReductionAlg::Mean, &weighted, &stats)?;
    let along = l.mul(&normal, &mean)?;
    let mut dx = l.sub(&slope, &along)?;
    if !rms {
        let mean = l.reduced(ReductionAlg::Mean, &slope, &stats)?;
        dx = l.sub(&dx, &mean)?;
    }
    dx = l.mul(&dx, &factor)?;
    let output = l.output(op, CUDNN_ATTR_OPERATION_NORM_BWD_DXDESC)?;
    l.store(&dx, &output)
}

/// The sizes of a gradient of parameters, if those of the data reduce to them.
pub(super) fn fitted(x: &Val, parameter: &Val) -> Result<Dims, Failure> {
    let (x, p) = (x.dims(), parameter.dims());
    let fits = x.len() == p.len() && x.iter().zip(p.iter()).all(|(&x, &p)| p == 1 || p == x);
    if fits { Ok(*p) } else { Err(misfit("gradient of parameters", p, format_args!("sizes of 1 or those of {x}"))) }
}

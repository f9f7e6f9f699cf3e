//! Batch normalisation in three parts, so that sums can be computed beside a convolution: sums, the values derived from them, and the
//! gradients.

use super::norm::{fitted, mixed};
use super::{Lowering, unsupported};
use crate::backend::object::Frozen;
use crate::enums::*;
use crate::status::Failure;
use oxidnn_spec::op::{BinaryAlg, EltwiseAlg, ReductionAlg};

pub(super) fn generate(l: &mut Lowering<'_>, op: &Frozen) -> Result<(), Failure> {
    l.precision(op, CUDNN_ATTR_OPERATION_GENSTATS_MATH_PREC);
    let x = l.read(op, CUDNN_ATTR_OPERATION_GENSTATS_XDESC)?;
    let x = l.real(&x)?;
    let output = l.output(op, CUDNN_ATTR_OPERATION_GENSTATS_SUMDESC)?;
    let sum = l.reduced(ReductionAlg::Sum, &x, &fitted(&x, &output)?)?;
    l.store(&sum, &output)?;
    let output = l.output(op, CUDNN_ATTR_OPERATION_GENSTATS_SQSUMDESC)?;
    let square = l.mul(&x, &x)?;
    let sum = l.reduced(ReductionAlg::Sum, &square, &fitted(&x, &output)?)?;
    l.store(&sum, &output)
}

pub(super) fn finalize(l: &mut Lowering<'_>, op: &Frozen) -> Result<(), Failure> {
    l.precision(op, CUDNN_ATTR_OPERATION_BN_FINALIZE_MATH_PREC);
    let scale = l.maybe(op, CUDNN_ATTR_OPERATION_BN_FINALIZE_SCALE_DESC)?;
    let bias = l.maybe(op, CUDNN_ATTR_OPERATION_BN_FINALIZE_BIAS_DESC)?;
    let epsilon = l.read(op, CUDNN_ATTR_OPERATION_BN_FINALIZE_EPSILON_DESC)?;
    let training = op.int(CUDNN_ATTR_OPERATION_BN_FINALIZE_STATS_MODE) == Some(i64::from(CUDNN_BN_FINALIZE_STATISTICS_TRAINING));
    let (mean, variance) = if training {
        let count = l.read(op, CUDNN_ATTR_OPERATION_BN_FINALIZE_ACCUM_COUNT_DESC)?;
        let (sum, squares) =
            (l.read(op, CUDNN_ATTR_OPERATION_BN_FINALIZE_Y_SUM_DESC)?, l.read(op, CUDNN_ATTR_OPERATION_BN_FINALIZE_Y_SQ_SUM_DESC)?);
        let mean = l.div(&sum, &count)?;
        let square = l.mul(&mean, &mean)?;
        let squares = l.div(&squares, &count)?;
        let variance = l.sub(&squares, &square)?;
        let variance = l.with_number(BinaryAlg::Max, &variance, 0.0)?;
        let fewer = l.with_number(BinaryAlg::Sub, &count, 1.0)?;
        let fewer = l.with_number(BinaryAlg::Max, &fewer, 1.0)?;
        let more = l.mul(&variance, &count)?;
        let unbiased = l.div(&more, &fewer)?;
        let running = [
            (&mean, CUDNN_ATTR_OPERATION_BN_FINALIZE_PREV_RUNNING_MEAN_DESC, CUDNN_ATTR_OPERATION_BN_FINALIZE_UPDATED_RUNNING_MEAN_DESC),
            (&unbiased, CUDNN_ATTR_OPERATION_BN_FINALIZE_PREV_RUNNING_VAR_DESC, CUDNN_ATTR_OPERATION_BN_FINALIZE_UPDATED_RUNNING_VAR_DESC),
        ];
        for (now, before, after) in running {
            let Some(after) = l.wanted(op, after)? else { continue };
            let (before, factor) = (l.read(op, before)?, l.read(op, CUDNN_ATTR_OPERATION_BN_FINALIZE_EXP_AVERATE_FACTOR_DESC)?);
            let new = mixed(l, &before, now, &factor)?;
            l.store(&new, &after)?;
        }
        (mean, variance)
    } else {
        let mean = l.read(op, CUDNN_ATTR_OPERATION_BN_FINALIZE_PREV_RUNNING_MEAN_DESC)?;
        let variance = l.read(op, CUDNN_ATTR_OPERATION_BN_FINALIZE_PREV_RUNNING_VAR_DESC)?;
        (l.real(&mean)?, l.real(&variance)?)
    };
    let sum = l.add(&variance, &epsilon)?;
    let inverse = l.power(&sum, -0.5)?;
    for (value, id) in
        [(&mean, CUDNN_ATTR_OPERATION_BN_FINALIZE_SAVED_MEAN_DESC), (&inverse, CUDNN_ATTR_OPERATION_BN_FINALIZE_SAVED_INV_STD_DESC)]
    {
        if let Some(output) = l.wanted(op, id)? {
            l.reorder(value, &output)?;
        }
    }
    let factor = match &scale {
        Some(scale) => l.mul(&inverse, scale)?,
        None => inverse,
    };
    if let Some(output) = l.wanted(op, CUDNN_ATTR_OPERATION_BN_FINALIZE_EQ_SCALE_DESC)? {
        l.reorder(&factor, &output)?;
    }
    if let Some(output) = l.wanted(op, CUDNN_ATTR_OPERATION_BN_FINALIZE_EQ_BIAS_DESC)? {
        let shift = l.mul(&mean, &factor)?;
        let shift = match &bias {
            Some(bias) => l.sub(bias, &shift)?,
            None => l.one(EltwiseAlg::Linear, [-1.0, 0.0], &shift)?,
        };
        l.store(&shift, &output)?;
    }
    Ok(())
}

pub(super) fn backward_weights(l: &mut Lowering<'_>, op: &Frozen) -> Result<(), Failure> {
    l.precision(op, CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_MATH_PREC);
    let (x, dy) = (l.read(op, CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_X_DESC)?, l.read(op, CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DY_DESC)?);
    let (mean, inverse) =
        (l.read(op, CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_MEAN_DESC)?, l.read(op, CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_INVSTD_DESC)?);
    let scale = l.read(op, CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_BN_SCALE_DESC)?;
    let stats = fitted(&x, &mean)?;
    let count: i64 = x.dims().iter().zip(stats.iter()).filter(|(x, s)| x != s).map(|(&x, _)| x).product();
    let dy = l.real(&dy)?;
    let centred = l.sub(&x, &mean)?;
    let normal = l.mul(&centred, &inverse)?;
    let product = l.mul(&dy, &normal)?;
    let dscale = l.reduced(ReductionAlg::Sum, &product, &stats)?;
    let dbias = l.reduced(ReductionAlg::Sum, &dy, &stats)?;
    for (value, id) in
        [(&dscale, CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DBN_SCALE_DESC), (&dbias, CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DBN_BIAS_DESC)]
    {
        if let Some(output) = l.wanted(op, id)? {
            l.reorder(value, &output)?;
        }
    }
    if count == 0 {
        return Err(unsupported("gradients of no elements"));
    }
    // dx = a dy + b x + c with these.
    let a = l.mul(&scale, &inverse)?;
    let means = [l.scaled(&dscale, 1.0 / count as f64)?, l.scaled(&dbias, 1.0 / count as f64)?];
    let steep = l.mul(&a, &inverse)?;
    let steep = l.mul(&steep, &means[0])?;
    let b = l.one(EltwiseAlg::Linear, [-1.0, 0.0], &steep)?;
    let (lifted, flat) = (l.mul(&steep, &mean)?, l.mul(&a, &means[1])?);
    let c = l.sub(&lifted, &flat)?;
    for (value, id) in [
        (&a, CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_DY_SCALE_DESC),
        (&b, CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_X_SCALE_DESC),
        (&c, CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_BIAS),
    ] {
        if let Some(output) = l.wanted(op, id)? {
            l.reorder(value, &output)?;
        }
    }
    Ok(())
}

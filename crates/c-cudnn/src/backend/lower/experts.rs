//! Grouped matrix products of a mixture of experts; each expert multiplies the tokens from its first one up to the next expert's first one.

use super::value::Val;
use super::{Lowering, misfit, unsupported};
use crate::backend::object::Frozen;
use crate::enums::*;
use crate::status::Failure;
use oxidnn_spec::op::BinaryAlg;

/// 1 for the tokens of an expert, else 0, along the second of three dimensions.
fn members(l: &mut Lowering<'_>, tokens: i64, experts: i64, expert: i64, first: &Val) -> Result<Val, Failure> {
    let ramp = l.ramp(3, 1, tokens)?;
    let begin = first.along(0, expert, 1)?;
    let from = l.two(BinaryAlg::Ge, &ramp, &begin)?;
    if expert + 1 == experts {
        return Ok(from);
    }
    let end = first.along(0, expert + 1, 1)?;
    let until = l.two(BinaryAlg::Lt, &ramp, &end)?;
    l.mul(&from, &until)
}

/// Limit on the experts; each becomes a few steps.
const EXPERTS: i64 = 4096;

fn few(experts: i64) -> Result<(), Failure> {
    if experts <= EXPERTS { Ok(()) } else { Err(unsupported(format_args!("{experts} experts: at most {EXPERTS}"))) }
}

fn three(values: &[&Val]) -> Result<(), Failure> {
    match values.iter().find(|v| v.rank() != 3) {
        Some(v) => Err(misfit("tensor", v.dims(), "three dimensions")),
        None => Ok(()),
    }
}

pub(super) fn forward(l: &mut Lowering<'_>, op: &Frozen) -> Result<(), Failure> {
    if op.int(CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_MODE) != Some(i64::from(CUDNN_MOE_GROUPED_MATMUL_MODE_NONE)) {
        return Err(unsupported("tokens gathered or scattered by an index: cuDNN does not say what TOKEN_INDEX, TOKEN_KS and TOP_K mean"));
    }
    l.precision(op, CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_MATH_PREC);
    let tokens = l.read(op, CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_TOKEN_DESC)?;
    let weights = l.read(op, CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_WEIGHT_DESC)?;
    let first = l.read(op, CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_FIRST_TOKEN_OFFSET_DESC)?;
    let output = l.output(op, CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_OUTPUT_DESC)?;
    three(&[&tokens, &weights, &first, &output])?;
    let (count, experts) = (tokens.dims()[1], weights.dims()[0]);
    few(experts)?;
    let first = l.real(&first)?;
    let mut sum = l.number(0.0)?;
    for expert in 0..experts {
        let mine = members(l, count, experts, expert, &first)?;
        let rows = l.select_or(&mine, &tokens, 0.0)?;
        let product = l.product(&rows, &weights.along(0, expert, 1)?)?;
        sum = l.select(&mine, &product, &sum)?;
    }
    l.store(&sum, &output)
}

pub(super) fn backward(l: &mut Lowering<'_>, op: &Frozen) -> Result<(), Failure> {
    l.precision(op, CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_BWD_MATH_PREC);
    let tokens = l.read(op, CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_BWD_TOKEN_DESC)?;
    let gradient = l.read(op, CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_BWD_DOUTPUT_DESC)?;
    let first = l.read(op, CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_BWD_FIRST_TOKEN_OFFSET_DESC)?;
    let output = l.output(op, CUDNN_ATTR_OPERATION_MOE_GROUPED_MATMUL_BWD_DWEIGHT_DESC)?;
    three(&[&tokens, &gradient, &first, &output])?;
    let (count, experts) = (tokens.dims()[1], output.dims()[0]);
    few(experts)?;
    let first = l.real(&first)?;
    for expert in 0..experts {
        let mine = members(l, count, experts, expert, &first)?;
        let rows = l.select_or(&mine, &tokens, 0.0)?;
        let slopes = l.select_or(&mine, &gradient, 0.0)?;
        let product = l.product(&rows.transposed()?, &slopes)?;
        l.reorder(&product, &output.along(0, expert, 1)?)?;
    }
    Ok(())
}

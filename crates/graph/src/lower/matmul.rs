//! Products of matrices: transposed operands are views, vectors are matrices of one row or column, and a batch by one matrix is one product.

use super::{Lowering, Value};
use crate::{AttrId, Error};
use oxidnn_spec::op::Matmul;
use oxidnn_spec::{Accumulation, Arg, Attr};

/// The operand as matrices: transposed if asked for, a vector as one row or column.
fn operand(value: &Value, transpose: bool, column: bool) -> Result<Value, Error> {
    let n = value.dims().len();
    if n == 1 {
        let k = value.dims()[0];
        return Ok(value.with(value.tensor.layout.reshape(&if column { [k, 1] } else { [1, k] })?));
    }
    if !transpose {
        return Ok(value.clone());
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.swap(n - 2, n - 1);
    value.permuted(&order)
}

fn accumulation(word: &str) -> Accumulation {
    match word {
        "relaxed" => Accumulation::Relaxed,
        "any" => Accumulation::Any,
        "s32" => Accumulation::S32,
        "f32" => Accumulation::F32,
        "f16" => Accumulation::F16,
        _ => Accumulation::Strict,
    }
}

pub(super) fn lower(l: &mut Lowering<'_>) -> Result<(), Error> {
    let (src, weights, bias, dst) = (l.input(0)?, l.input(1)?, l.optional(2)?, l.output(0)?);
    let vectors = [src.dims().len() == 1, weights.dims().len() == 1];
    let mut src = operand(&src, l.op.flag(AttrId::TransposeA), false)?;
    let mut weights = operand(&weights, l.op.flag(AttrId::TransposeB), true)?;
    let mut dst = full(&dst, vectors)?;
    let rank = src.dims().len().max(weights.dims().len());
    let mut bias = bias.map(|b| b.at_rank(rank)).transpose()?;
    (src, weights, dst) = (src.at_rank(rank)?, weights.at_rank(rank)?, dst.at_rank(rank)?);
    let single =
        weights.dims()[..rank - 2].iter().all(|&d| d == 1) && bias.as_ref().is_none_or(|b| b.dims()[..rank - 1].iter().all(|&d| d == 1));
    if rank > 2 && single {
        let rows = |v: &Value| -> Result<Value, Error> {
            let (last, before) = (v.dims()[rank - 1], v.dims()[..rank - 1].iter().product());
            Ok(v.with(v.tensor.layout.reshape(&[before, last])?))
        };
        // Where the rows of the batch do not lie in one matrix, the batch stays one.
        if let (Ok(s), Ok(d)) = (rows(&src), rows(&dst)) {
            let matrix = |v: &Value| -> Result<Value, Error> {
                let n = v.dims().len();
                Ok(v.with(v.tensor.layout.reshape(&[v.dims()[n - 2], v.dims()[n - 1]])?))
            };
            (src, weights, dst) = (s, matrix(&weights)?, d);
            bias = bias.map(|b| matrix(&b)).transpose()?;
        }
    }
    let attr = Attr { accumulation: accumulation(l.op.text(AttrId::AccumulationMode)), ..l.attr.clone() };
    let problem = Matmul {
        src: src.tensor.clone(),
        weights: weights.tensor.clone(),
        bias: bias.as_ref().map(|b| b.tensor.clone()),
        dst: dst.tensor.clone(),
    };
    let mut args = vec![(Arg::SRC, &src), (Arg::WEIGHTS, &weights), (Arg::DST, &dst)];
    args.extend(bias.as_ref().map(|b| (Arg::BIAS, b)));
    l.step_with(problem, attr, &args)
}

/// The result with the dimensions that vectors do not have: one row, one column.
fn full(dst: &Value, [row, column]: [bool; 2]) -> Result<Value, Error> {
    let mut dims = dst.dims().to_vec();
    if row && column {
        dims = vec![1, 1];
    } else if row {
        dims.insert(dims.len() - 1, 1);
    } else if column {
        dims.push(1);
    }
    Ok(dst.with(dst.tensor.layout.reshape(&dims)?))
}

//! Products of matrices: transposed operands are views, vectors are matrices of one row or column, and a batch by one matrix is one product.

use super::{Lowering, Value};
use crate::{AttrId, Error};
use oxidnn_spec::op::Matmul;
use oxidnn_spec::{Accumulation, Arg, Attr, Tensor};

/// The operand as matrices: transposed if asked for, a vector as one row or column.
fn operand(value: &Value, transpose: bool, column: bool) -> Result<Value, Error> {
    let n = value.dims().len();
    if n == 1 {
        let k = value.dims()[0];
        return value.reshaped(&if column { [k, 1] } else { [1, k] });
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
    // The source is taken as bytes where the weights are bytes too.
    let src = if l.operand(1)?.scaled.is_some() { l.source(0)? } else { l.input(0)? };
    let (weights, bias) = (l.source(1)?, l.optional(2)?);
    let vectors = [src.dims().len() == 1, weights.dims().len() == 1];
    let mut src = operand(&src, l.op.flag(AttrId::TransposeA), false)?;
    let mut weights = operand(&weights, l.op.flag(AttrId::TransposeB), true)?;
    let rank = src.dims().len().max(weights.dims().len());
    let mut dst = l.destination(|_, v| full(v, vectors)?.at_rank(rank))?;
    let mut bias = bias.map(|b| b.at_rank(rank)).transpose()?;
    (src, weights) = (src.at_rank(rank)?, weights.at_rank(rank)?);
    let single =
        weights.dims()[..rank - 2].iter().all(|&d| d == 1) && bias.as_ref().is_none_or(|b| b.dims()[..rank - 1].iter().all(|&d| d == 1));
    if rank > 2 && single {
        let batch = *dst.dims();
        let seen = |v: &Value| rows(v, &batch);
        let mut folded = l.folded.clone();
        // If the rows of the batch are not in one matrix, the batch stays a batch.
        if let (Ok(s), Ok(d), Ok(())) = (rows(&src, &batch), rows(&dst, &batch), folded.view(seen)) {
            let matrix = |v: &Value| v.reshaped(&v.dims()[rank - 2..]);
            (src, weights, dst) = (s, matrix(&weights)?, d);
            bias = bias.map(|b| matrix(&b)).transpose()?;
            l.folded = folded;
        }
    }
    super::norm::by_source(l, &mut src, &mut bias)?;
    let mut attr = Attr { accumulation: accumulation(l.op.text(AttrId::AccumulationMode)), ..l.attr.clone() };
    // Weights of whole numbers under a source of others are converted to its type.
    attr.fpmath.apply_to_int |= weights.scaled.is_some() && src.scaled.is_none();
    // Weights that are the same in every execution are packed once, if packed weights are kept.
    let open = l.keeps && weights.constant;
    let problem = Matmul {
        src: src.tensor.clone(),
        weights: if open { Tensor::any(*weights.dims(), weights.dtype()) } else { weights.tensor.clone() },
        bias: bias.as_ref().map(|b| b.tensor.clone()),
        dst: dst.tensor.clone(),
    };
    let mut args = vec![(Arg::SRC, &src), (Arg::WEIGHTS, &weights), (Arg::DST, &dst)];
    args.extend(bias.as_ref().map(|b| (Arg::BIAS, b)));
    l.main_with(problem, attr, &args)
}

/// A batch of matrices, or a tensor broadcast to one of sizes `batch`, as one matrix of all rows.
fn rows(value: &Value, batch: &[i64]) -> Result<Value, Error> {
    let (dims, last) = (*value.dims(), value.dims().len() - 1);
    let before = &dims[..last];
    let count: i64 = if before.iter().all(|&d| d == 1) { 1 } else { batch[..last].iter().product() };
    if count != 1 && *before != batch[..last] {
        return Err(Error::shape("operand", dims, "all rows of the batch, or one"));
    }
    value.reshaped(&[count, dims[last]])
}

/// The result with the dimensions that vectors do not have: one row, one column.
fn full(value: &Value, [row, column]: [bool; 2]) -> Result<Value, Error> {
    let mut dims = value.dims().to_vec();
    if row && column {
        dims = vec![1, 1];
    } else if row {
        dims.insert(dims.len() - 1, 1);
    } else if column {
        dims.push(1);
    }
    value.reshaped(&dims)
}

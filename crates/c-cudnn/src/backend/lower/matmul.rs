//! Matrix products.

use super::value::Val;
use super::{Lowering, misfit, unsupported};
use crate::backend::object::Frozen;
use crate::enums::*;
use crate::status::Failure;
use oxidnn_spec::op::{BinaryAlg, Matmul};
use oxidnn_spec::{Attr, Problem};

pub(super) fn lower(l: &mut Lowering<'_>, op: &Frozen) -> Result<(), Failure> {
    let parameters = op.object(CUDNN_ATTR_OPERATION_MATMUL_DESC).ok_or_else(|| unsupported("no parameters"))?.clone();
    l.precision(&parameters, CUDNN_ATTR_MATMUL_COMP_TYPE);
    if parameters.int(CUDNN_ATTR_MATMUL_COMP_TYPE) == Some(i64::from(CUDNN_DATA_INT32)) {
        // The primitive accumulates products of 8-bit integers in s32 whatever this says.
        l.real = oxidnn_spec::DataType::F32;
    }
    let (a, b) = (l.read(op, CUDNN_ATTR_OPERATION_MATMUL_ADESC)?, l.read(op, CUDNN_ATTR_OPERATION_MATMUL_BDESC)?);
    let output = l.output(op, CUDNN_ATTR_OPERATION_MATMUL_CDESC)?;
    if a.rank() < 2 || b.rank() < 2 {
        return Err(unsupported("matrices of one dimension"));
    }
    let lengths = [
        l.maybe(op, CUDNN_ATTR_OPERATION_MATMUL_GEMM_M_OVERRIDE_DESC)?,
        l.maybe(op, CUDNN_ATTR_OPERATION_MATMUL_GEMM_N_OVERRIDE_DESC)?,
        l.maybe(op, CUDNN_ATTR_OPERATION_MATMUL_GEMM_K_OVERRIDE_DESC)?,
    ];
    if lengths.iter().all(Option::is_none) {
        if a.dtype() == oxidnn_spec::DataType::F64 {
            l.real = oxidnn_spec::DataType::F64;
        }
        if whole(l, [&a, &b, &output])? {
            return Ok(());
        }
        let c = l.product(&a, &b)?;
        return l.store(&c, &output);
    }
    let padding = parameters.real(CUDNN_ATTR_MATMUL_PADDING_VALUE).unwrap_or(0.0);
    let c = within(l, [&a, &b], &lengths, padding)?;
    l.store(&c, &output)
}

/// The product as one primitive of the unconverted tensors, if there is one.
fn whole(l: &mut Lowering<'_>, [a, b, c]: [&Val; 3]) -> Result<bool, Failure> {
    let problem = Matmul { src: a.tensor.clone(), weights: b.tensor.clone(), bias: None, dst: c.tensor.clone() };
    if Problem::new(problem.clone(), Attr::default()).is_err() {
        return Ok(false);
    }
    use oxidnn_spec::Arg;
    l.step(problem, &[(Arg::SRC, a), (Arg::WEIGHTS, b), (Arg::DST, c)])?;
    Ok(true)
}

/// The product of matrices whose sizes differ by batch: elements beyond them count as 0, and get the padding value in the result.
fn within(l: &mut Lowering<'_>, [a, b]: [&Val; 2], lengths: &[Option<Val>; 3], padding: f64) -> Result<Val, Failure> {
    let rank = a.rank().max(b.rank());
    let (mut a, mut b) = (a.at_rank(rank)?, b.at_rank(rank)?);
    let mask = |l: &mut Lowering<'_>, v: &Val, d: usize, length: &Val| {
        let ramp = l.ramp(rank, d, v.dims()[d])?;
        let length = length.at_rank(rank)?;
        if length.dims()[rank - 1] != 1 || length.dims()[rank - 2] != 1 {
            return Err(misfit("GEMM_OVERRIDE_DESC", length.dims(), "one number a batch"));
        }
        l.two(BinaryAlg::Lt, &ramp, &length)
    };
    if let Some(k) = &lengths[2] {
        let inside = mask(l, &a, rank - 1, k)?;
        a = l.select_or(&inside, &a, 0.0)?;
        let inside = mask(l, &b, rank - 2, k)?;
        b = l.select_or(&inside, &b, 0.0)?;
    }
    let mut c = l.product(&a, &b)?;
    for (d, length) in [(rank - 2, &lengths[0]), (rank - 1, &lengths[1])] {
        if let Some(length) = length {
            let inside = mask(l, &c, d, length)?;
            c = l.select_or(&inside, &c, padding)?;
        }
    }
    Ok(c)
}

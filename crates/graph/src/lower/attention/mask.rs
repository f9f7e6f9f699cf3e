//! Masks of scores in the primitive's forms: none, by position, or added values.
//!
//! A selection of scores by a condition becomes an addition: of 0, or of the fill value. That gives the same result if the fill value is
//! minus infinity, or so low that no score changes it, which only an execution knows: the program checks it ([`Guard`]).

use super::scores::{Causal, Masking, Scores};
use super::{four, given, operand};
use crate::Error;
use crate::lower::{Lowering, Value};
use crate::program::Guard;
use oxidnn_spec::op::{Binary, BinaryAlg, SdpaMask};
use oxidnn_spec::{Arg, DataType, Dims, Tensor};

/// The mask of an attention.
#[derive(Debug)]
pub(super) struct Mask {
    pub(super) kind: SdpaMask,
    pub(super) numbers: Option<Value>,
}

fn refused(what: &str) -> Error {
    Error::Unimplemented(format!("attention with {what}"))
}

/// The mask of scores of `rank` dimensions, `sizes` queries by keys.
pub(super) fn of(l: &mut Lowering<'_>, scores: &Scores, rank: usize, sizes: [i64; 2]) -> Result<Mask, Error> {
    match scores.masks[..] {
        [] => Ok(Mask { kind: SdpaMask::None, numbers: None }),
        [Masking::Chosen { other, causal: Some(causal), .. }] => by_position(l, other, causal, sizes),
        _ => {
            let numbers = added(l, &scores.masks, rank)?;
            Ok(Mask { kind: SdpaMask::Buffer, numbers: Some(four(&numbers)?) })
        }
    }
}

/// The fill value of masked-out scores is checked when the program runs.
fn low(l: &mut Lowering<'_>, other: usize) -> Result<(), Error> {
    let input = given(l, other).ok_or_else(|| refused("masked scores that are replaced by what the partition computes"))?;
    l.assume(Guard::Low(input))
}

fn by_position(l: &mut Lowering<'_>, other: usize, causal: Causal, [queries, keys]: [i64; 2]) -> Result<Mask, Error> {
    low(l, other)?;
    let Some([more, less]) = causal.offsets else { return Ok(Mask { kind: SdpaMask::CausalTopLeft, numbers: None }) };
    // A query before all keys would see none.
    if queries > keys {
        return Err(refused("more queries than keys, aligned at their ends"));
    }
    let both = given(l, more).zip(given(l, less));
    let (more, less) = both.ok_or_else(|| refused("positions that the partition computes"))?;
    l.assume(Guard::Distance { more, less, is: keys - queries })?;
    Ok(Mask { kind: SdpaMask::CausalBottomRight, numbers: None })
}

/// Sizes that both broadcast to.
fn common(a: &Dims, b: &Dims) -> Dims {
    Dims::from_fn(a.len().min(b.len()), |d| a[d].max(b[d]))
}

/// All masks as one tensor of numbers that are added.
fn added(l: &mut Lowering<'_>, masks: &[Masking], rank: usize) -> Result<Value, Error> {
    let mut sum: Option<Value> = None;
    for mask in masks {
        sum = Some(match *mask {
            Masking::Added(id) => {
                let value = operand(l, id, false)?.at_rank(rank)?;
                match sum {
                    None => value,
                    Some(before) => plus(l, &before, &value)?,
                }
            }
            Masking::Chosen { condition, other, .. } => {
                low(l, other)?;
                let condition = operand(l, condition, false)?.typed(DataType::S8).at_rank(rank)?;
                let other = operand(l, other, false)?.at_rank(rank)?;
                chosen(l, sum, &condition, &other)?
            }
        });
    }
    sum.ok_or_else(|| refused("no mask"))
}

fn plus(l: &mut Lowering<'_>, a: &Value, b: &Value) -> Result<Value, Error> {
    let dims = common(a.dims(), b.dims());
    let dst = l.temporary(Tensor::plain(dims, DataType::F32)?, a.constant && b.constant);
    let problem = Binary { alg: BinaryAlg::Add, src0: a.tensor.clone(), src1: b.tensor.clone(), src2: None, dst: dst.tensor.clone() };
    l.step(problem, &[(Arg::SRC, a), (Arg::SRC_1, b), (Arg::DST, &dst)])?;
    Ok(dst)
}

/// The score, or 0, where the condition holds, else `other`.
fn chosen(l: &mut Lowering<'_>, there: Option<Value>, condition: &Value, other: &Value) -> Result<Value, Error> {
    let there = match there {
        Some(value) => value,
        None => l.numbers(Tensor::plain(Dims::filled(condition.dims().len(), 1), DataType::F32)?, |_| 0.0)?,
    };
    let dims = common(there.dims(), condition.dims());
    let dst = l.temporary(Tensor::plain(dims, DataType::F32)?, there.constant && condition.constant && other.constant);
    let (there, condition) = (there.spread(&dims)?, condition.spread(&dims)?);
    let problem = Binary {
        alg: BinaryAlg::Select,
        src0: there.tensor.clone(),
        src1: other.tensor.clone(),
        src2: Some(condition.tensor.clone()),
        dst: dst.tensor.clone(),
    };
    l.step(problem, &[(Arg::SRC, &there), (Arg::SRC_1, other), (Arg::SRC_2, &condition), (Arg::DST, &dst)])?;
    Ok(dst)
}

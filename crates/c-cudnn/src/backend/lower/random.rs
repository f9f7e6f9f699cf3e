//! Random numbers, made of random bits that dropout draws.

use super::value::Val;
use super::{Lowering, unsupported};
use crate::backend::object::{Frozen, Value};
use crate::enums::*;
use crate::status::Failure;
use oxidnn_spec::op::{BinaryAlg, Eltwise, EltwiseAlg, Prop, ReductionAlg};
use oxidnn_spec::{Arg, DataType, Dims, Dropout, Tensor};

/// Random bits per uniform value.
const BITS: i64 = 24;

/// Seed and offset of a random sequence.
#[derive(Clone)]
pub(super) struct Start {
    pub(super) seed: Val,
    pub(super) offset: Val,
}

impl Lowering<'_> {
    /// One 64-bit integer: of a tensor, or 0.
    pub(super) fn whole_number(&mut self, given: Option<Val>) -> Result<Val, Failure> {
        let tensor = Tensor::plain([1], DataType::S64)?;
        let Some(value) = given else { return self.constant(tensor, |_| 0.0) };
        if value.tensor.layout.elements() != Some(1) {
            return Err(Failure::shape("seed", value.dims(), "one number"));
        }
        let value = self.reshaped(&value, &[1])?;
        let copy = self.temp(tensor);
        self.reorder(&value, &copy)?;
        Ok(copy)
    }

    /// Bytes that are 1 with the given probability, else 0.
    pub(super) fn chances(&mut self, dims: Dims, probability: f64, start: &Start) -> Result<Val, Failure> {
        let zero = self.constant(Tensor::plain([1], DataType::F32)?, |_| 0.0)?.spread(&dims)?;
        let (mask, waste) = (self.temp(Tensor::plain(dims, DataType::U8)?), self.temp(Tensor::plain(dims, DataType::F32)?));
        let dropped = self.constant(Tensor::plain([1], DataType::F32)?, |_| 1.0 - probability)?;
        let mut attr = self.attr();
        attr.dropout =
            Some(Dropout { mask: Some(mask.tensor.clone()), seed_dtype: DataType::S64, use_offset: true, use_host_scalars: false });
        let problem = Eltwise::forward(Prop::ForwardInference, EltwiseAlg::Linear, [1.0, 0.0], zero.tensor.clone(), waste.tensor.clone());
        let args = [
            (Arg::SRC, &zero),
            (Arg::DST, &waste),
            (Arg::DROPOUT_MASK, &mask),
            (Arg::DROPOUT_SEED, &start.seed),
            (Arg::DROPOUT_OFFSET, &start.offset),
            (Arg::DROPOUT_PROBABILITY, &dropped),
        ];
        self.step_with(problem, attr, &args)?;
        Ok(mask)
    }

    /// `rows` x `count` uniform values in [0, 1), put together from random bits.
    fn uniform(&mut self, rows: i64, count: i64, start: &Start) -> Result<Val, Failure> {
        let bits = self.chances(Dims::from([rows, BITS, count]), 0.5, start)?;
        let weights = self.constant(Tensor::plain([1, BITS, 1], DataType::F32)?, |i| 0.5f64.powi(i as i32 + 1))?;
        let weighted = self.mul(&bits, &weights)?;
        self.reduced(ReductionAlg::Sum, &weighted, &[rows, 1, count])
    }
}

pub(super) fn lower(l: &mut Lowering<'_>, op: &Frozen) -> Result<(), Failure> {
    let parameters = op.object(CUDNN_ATTR_OPERATION_RNG_DESC).ok_or_else(|| unsupported("no parameters"))?.clone();
    let y = l.output(op, CUDNN_ATTR_OPERATION_RNG_YDESC)?;
    let seed = match op.values.get(&CUDNN_ATTR_OPERATION_RNG_SEED).map(|t| &t.value) {
        Some(Value::Ints(v)) => {
            let bytes = v.first().copied().unwrap_or(0).to_le_bytes();
            l.constant_bytes(Tensor::plain([1], DataType::S64)?, &bytes)?
        }
        _ => {
            let given = l.maybe(op, CUDNN_ATTR_OPERATION_RNG_SEED)?;
            l.whole_number(given)?
        }
    };
    let offset = l.maybe(op, CUDNN_ATTR_OPERATION_RNG_OFFSET_DESC)?;
    let start = Start { seed, offset: l.whole_number(offset)? };
    let real = |id, default: f64| parameters.real(id).unwrap_or(default);
    let dims = *y.dims();
    let count = y.tensor.layout.elements().unwrap_or(0);
    let drawn = match parameters.int(CUDNN_ATTR_RNG_DISTRIBUTION).unwrap_or(0) as i32 {
        CUDNN_RNG_DISTRIBUTION_BERNOULLI => l.chances(dims, real(CUDNN_ATTR_RNG_BERNOULLI_DIST_PROBABILITY, 0.5), &start)?,
        CUDNN_RNG_DISTRIBUTION_UNIFORM => {
            let unit = l.uniform(1, count, &start)?;
            let (low, high) = (real(CUDNN_ATTR_RNG_UNIFORM_DIST_MINIMUM, 0.0), real(CUDNN_ATTR_RNG_UNIFORM_DIST_MAXIMUM, 1.0));
            let wide = l.scaled(&unit, high - low)?;
            l.with_number(BinaryAlg::Add, &wide, low)?
        }
        _ => {
            // The Box-Muller transform.
            let both = l.uniform(2, count, &start)?;
            let first = l.one(EltwiseAlg::Linear, [-1.0, 1.0], &both.along(0, 0, 1)?)?;
            let log = l.one(EltwiseAlg::Log, [0.0; 2], &first)?;
            let square = l.with_number(BinaryAlg::Mul, &log, -2.0)?;
            let distance = l.one(EltwiseAlg::Sqrt, [0.0; 2], &square)?;
            let angle = l.with_number(BinaryAlg::Mul, &both.along(0, 1, 1)?, std::f64::consts::TAU)?;
            let (_, cos) = l.circle(&angle)?;
            let normal = l.mul(&distance, &cos)?;
            let wide = l.scaled(&normal, real(CUDNN_ATTR_RNG_NORMAL_DIST_STANDARD_DEVIATION, 1.0))?;
            l.with_number(BinaryAlg::Add, &wide, real(CUDNN_ATTR_RNG_NORMAL_DIST_MEAN, 0.0))?
        }
    };
    let drawn = l.reshaped(&drawn, &dims)?;
    l.store(&drawn, &y)
}

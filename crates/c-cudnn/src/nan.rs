//! NaN propagation as `cudnnNanPropagation_t` requires.
//!
//! Maxima and minima of the primitives are IEEE 754's maximumNumber and minimumNumber: the other operand if one is NaN.
//! `CUDNN_NOT_PROPAGATE_NAN` asks for that, so it costs nothing. For `CUDNN_PROPAGATE_NAN` a *carrier* is added to the result: a tensor
//! that is zero where its source is a number, and NaN where it is NaN.

use crate::enums::CUDNN_PROPAGATE_NAN;
use crate::exec::{Job, Located, Place};
use crate::handle::Handle;
use crate::pointers::Data;
use crate::status::Failure;
use oxidnn_runtime::{DeviceId, Engine, Memory, fork};
use oxidnn_spec::op::{Binary, BinaryAlg, EltwiseAlg};
use oxidnn_spec::{Arg, DataType, Dims, Tensor};
use std::collections::BTreeMap;
use std::sync::{LazyLock, Mutex};

/// Whether a type has NaN and binary operations.
pub(crate) fn has(dtype: DataType) -> bool {
    matches!(dtype, DataType::F32 | DataType::F64 | DataType::F16 | DataType::Bf16)
}

/// Whether NaN of tensors of the type must be propagated explicitly.
pub(crate) fn propagates(option: i32, dtype: DataType) -> bool {
    option == CUDNN_PROPAGATE_NAN && has(dtype)
}

/// The post-ops that turn a flag into a carrier: 0 stays 0, and 1 becomes the square root of -1, NaN.
pub(crate) const CARRIES: [(EltwiseAlg, [f32; 2]); 2] = [(EltwiseAlg::Linear, [-1.0, 0.0]), (EltwiseAlg::Sqrt, [0.0, 0.0])];

/// The carrier of a tensor, in its type and layout.
///
/// # Errors
/// Of the execution.
pub(crate) fn carrier(handle: &Handle, tensor: &Tensor, at: Data) -> Result<Place, Failure> {
    let memory = handle.temporary(tensor)?;
    let op = Binary { alg: BinaryAlg::Ne, src0: tensor.clone(), src1: tensor.clone(), src2: None, dst: tensor.clone() };
    let job = Job::new(op).arg(Arg::SRC, at).arg(Arg::SRC_1, at).arg(Arg::DST, memory.view(tensor.clone())?);
    CARRIES.into_iter().fold(job, |job, (alg, [a, b])| job.eltwise(alg, f64::from(a), f64::from(b))).run(handle)?;
    Ok(memory.into())
}

/// Sets the elements at `to` to NaN where those at `from` are NaN.
///
/// # Errors
/// Of the execution.
pub(crate) fn carry(handle: &Handle, from: Located<'_>, to: Located<'_>) -> Result<(), Failure> {
    let (dst, carrier) = (to.tensor.clone(), carrier(handle, from.tensor, from.at)?);
    let op = Binary { alg: BinaryAlg::Add, src0: dst.clone(), src1: from.tensor.clone(), src2: None, dst };
    Job::new(op).arg(Arg::SRC, to.at).arg(Arg::SRC_1, carrier).arg(Arg::DST, to.at).run(handle)
}

/// Scalar operands of calls, in memory that lives as long as the process, because recorded calls read them again.
static NUMBERS: LazyLock<Mutex<Numbers>> = LazyLock::new(Mutex::default);

/// By device, type and bits.
type Numbers = BTreeMap<(DeviceId, DataType, u64), Memory<'static>>;

/// One of a few scalars as a tensor of `rank` dimensions of 1.
///
/// # Errors
/// If there is no memory.
pub(crate) fn number(engine: &Engine, dtype: DataType, rank: usize, value: f64) -> Result<(Tensor, Memory<'static>), Failure> {
    let tensor = Tensor::plain(Dims::filled(rank, 1), dtype)?;
    let mut known = fork::lock(&NUMBERS);
    let key = (engine.id(), dtype, value.to_bits());
    if let Some(memory) = known.get(&key) {
        return Ok((tensor.clone(), memory.view(tensor)?));
    }
    let memory = Memory::new(engine, tensor.clone())?;
    memory.write_f64(&[value])?;
    let view = memory.view(tensor.clone())?;
    known.insert(key, memory);
    Ok((tensor, view))
}

/// Whether an address is that of one of these scalars.
pub(crate) fn is_number(at: Data) -> bool {
    fork::lock(&NUMBERS).values().any(|memory| Data::at(memory) == at)
}

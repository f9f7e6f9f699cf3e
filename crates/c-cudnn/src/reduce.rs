//! Reductions of tensors.

use crate::enums::*;
use crate::exec::{Blend, Job, Located, Place};
use crate::handle::Handle;
use crate::loops::argmax;
use crate::nan;
use crate::pointers::{self, Data, In, InOut, New, Out, Owned};
use crate::pointwise::plus;
use crate::status::{Failure, Status, guard};
use crate::tensor::TensorDesc;
use crate::values;
use oxidnn_spec::op::{Binary, BinaryAlg, Eltwise, EltwiseAlg, Prop, Reduction, ReductionAlg};
use oxidnn_spec::{Arg, Real, Tensor};

/// `to = blend(sum of from over the dimensions where `to` has size 1, to)`.
///
/// # Errors
/// If the sizes do not match.
pub(crate) fn sum_to(handle: &Handle, from: Located<'_>, to: Located<'_>, blend: Blend) -> Result<(), Failure> {
    reduce(handle, ReductionAlg::Sum, (from.tensor, Place::At(from.at)).into(), to, blend)
}

/// Sums the squares of `from` over the dimensions where `to` has size 1.
///
/// # Errors
/// Those of the execution.
pub(crate) fn squares_to(handle: &Handle, from: Located<'_>, to: Located<'_>) -> Result<(), Failure> {
    let alg = ReductionAlg::NormLpPowerPSum;
    let op = Reduction { alg, src: from.tensor.clone(), dst: to.tensor.clone(), p: Real::new(2.0), eps: Real::new(0.0) };
    Job::new(op).arg(Arg::SRC, from.at).arg(Arg::DST, to.at).run(handle)
}

/// A reduction, or a copy if there is nothing to reduce.
fn reduce(handle: &Handle, alg: ReductionAlg, from: Located<'_, Place>, to: Located<'_>, blend: Blend) -> Result<(), Failure> {
    if from.tensor.dims() == to.tensor.dims() {
        return handle.combine((from.tensor, from.at), (to.tensor, to.at.into()), blend);
    }
    reduction(alg, from, to).blend(blend).run(handle)
}

fn reduction(alg: ReductionAlg, from: Located<'_, Place>, to: Located<'_>) -> Job {
    let p = if alg == ReductionAlg::NormLpSum { 2.0 } else { 1.0 };
    let op = Reduction { alg, src: from.tensor.clone(), dst: to.tensor.clone(), p: Real::new(p), eps: Real::new(0.0) };
    Job::new(op).arg(Arg::SRC, from.at).arg(Arg::DST, to.at)
}

/// The object behind a `cudnnReduceTensorDescriptor_t`.
#[derive(Clone, Debug, Default)]
pub struct ReduceDesc {
    /// Operation, compute type, NaN option, whether indices are returned, their type.
    set: Option<[i32; 5]>,
}

impl Owned for ReduceDesc {}

impl ReduceDesc {
    fn get(&self) -> Result<[i32; 5], Failure> {
        self.set.ok_or_else(|| Failure::invalid("reduceTensorDesc", "a descriptor that was never set", "one that describes a reduction"))
    }

    /// Whether the indices of minima or maxima are returned.
    fn wants_indices(&self) -> Result<bool, Failure> {
        let [op, _, _, indices, _] = self.get()?;
        let extremum = matches!(op, CUDNN_REDUCE_TENSOR_MIN | CUDNN_REDUCE_TENSOR_MAX | CUDNN_REDUCE_TENSOR_AMAX);
        Ok(indices == CUDNN_REDUCE_TENSOR_FLATTENED_INDICES && extremum)
    }
}

/// `cudnnCreateReduceTensorDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnCreateReduceTensorDescriptor(desc: New<'_, ReduceDesc>) -> Status {
    guard("cudnnCreateReduceTensorDescriptor", || desc.own("reduceTensorDesc", || Ok(ReduceDesc::default())))
}

/// `cudnnDestroyReduceTensorDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnDestroyReduceTensorDescriptor(desc: pointers::Handle<ReduceDesc>) -> Status {
    guard("cudnnDestroyReduceTensorDescriptor", || {
        desc.destroy();
        Ok(())
    })
}

/// `cudnnSetReduceTensorDescriptor`. Indices have 32 bits, as in cuDNN. `nan` applies to minima and maxima: with `CUDNN_NOT_PROPAGATE_NAN`
/// they ignore NaN, also for indices. Sums and products always propagate NaN.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnSetReduceTensorDescriptor(
    desc: InOut<'_, ReduceDesc>,
    op: i32,
    compute: i32,
    nan: i32,
    indices: i32,
    indices_type: i32,
) -> Status {
    guard("cudnnSetReduceTensorDescriptor", || {
        values::check("reduceTensorOp", "cudnnReduceTensorOp_t", op)?;
        values::check("reduceTensorCompType", "cudnnDataType_t", compute)?;
        values::check("reduceTensorNanOpt", "cudnnNanPropagation_t", nan)?;
        values::check("reduceTensorIndices", "cudnnReduceTensorIndices_t", indices)?;
        values::check("reduceTensorIndicesType", "cudnnIndicesType_t", indices_type)?;
        if indices == CUDNN_REDUCE_TENSOR_FLATTENED_INDICES && indices_type != CUDNN_32BIT_INDICES {
            return Err(Failure::unsupported("indices of other than 32 bits"));
        }
        desc.get("reduceTensorDesc")?.set = Some([op, compute, nan, indices, indices_type]);
        Ok(())
    })
}

/// `cudnnGetReduceTensorDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetReduceTensorDescriptor(
    desc: In<'_, ReduceDesc>,
    op: Out<'_, i32>,
    compute: Out<'_, i32>,
    nan: Out<'_, i32>,
    indices: Out<'_, i32>,
    indices_type: Out<'_, i32>,
) -> Status {
    guard("cudnnGetReduceTensorDescriptor", || {
        let numbers = desc.get("reduceTensorDesc")?.get()?;
        for (place, number) in [op, compute, nan, indices, indices_type].into_iter().zip(numbers) {
            place.set_optional(number);
        }
        Ok(())
    })
}

/// Size in bytes of the indices of a reduction to `tensor`.
fn indices_bytes(desc: &ReduceDesc, tensor: &Tensor) -> Result<usize, Failure> {
    let elements = tensor.layout.elements().and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
    Ok(if desc.wants_indices()? { elements * size_of::<u32>() } else { 0 })
}

/// `cudnnGetReductionIndicesSize`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetReductionIndicesSize(
    handle: In<'_, Handle>,
    desc: In<'_, ReduceDesc>,
    _a_desc: In<'_, TensorDesc>,
    c_desc: In<'_, TensorDesc>,
    size: Out<'_, usize>,
) -> Status {
    guard("cudnnGetReductionIndicesSize", || {
        handle.get("handle")?;
        size.set("sizeInBytes", indices_bytes(desc.get("reduceTensorDesc")?, c_desc.tensor("cDesc")?)?)
    })
}

/// `cudnnGetReductionWorkspaceSize`: none.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetReductionWorkspaceSize(
    handle: In<'_, Handle>,
    desc: In<'_, ReduceDesc>,
    a_desc: In<'_, TensorDesc>,
    c_desc: In<'_, TensorDesc>,
    size: Out<'_, usize>,
) -> Status {
    guard("cudnnGetReductionWorkspaceSize", || {
        handle.get("handle")?;
        desc.get("reduceTensorDesc")?.get()?;
        a_desc.tensor("aDesc")?;
        c_desc.tensor("cDesc")?;
        size.set("sizeInBytes", 0)
    })
}

/// `cudnnReduceTensor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnReduceTensor(
    handle: In<'_, Handle>,
    desc: In<'_, ReduceDesc>,
    indices: Data,
    indices_size: usize,
    _workspace: Data,
    _workspace_bytes: usize,
    alpha: Data,
    a_desc: In<'_, TensorDesc>,
    a: Data,
    beta: Data,
    c_desc: In<'_, TensorDesc>,
    c: Data,
) -> Status {
    guard("cudnnReduceTensor", || {
        let (handle, desc) = (handle.get("handle")?, desc.get("reduceTensorDesc")?);
        let ([op, _, nan_option, ..], src, dst) = (desc.get()?, a_desc.tensor("aDesc")?, c_desc.tensor("cDesc")?);
        let carries = nan::propagates(nan_option, src.dtype);
        let (blend, a, c) = (Blend::read(alpha, beta, dst.dtype)?, a.some("A")?, c.some("C")?);
        let need = indices_bytes(desc, dst)?;
        if need > indices_size {
            return Err(Failure::small("indicesSizeInBytes", indices_size, need));
        }
        if need > 0 {
            let extremum = if op == CUDNN_REDUCE_TENSOR_MIN { argmax::Extremum::Least } else { argmax::Extremum::Greatest };
            let extremum = if op == CUDNN_REDUCE_TENSOR_AMAX { argmax::Extremum::Farthest } else { extremum };
            let wanted = argmax::Wanted { extremum, nan: carries };
            argmax::indices(handle, wanted, (src, a).into(), (dst, indices.some("indices")?).into())?;
        }
        let (alg, place) = match op {
            CUDNN_REDUCE_TENSOR_ADD => (ReductionAlg::Sum, a.into()),
            CUDNN_REDUCE_TENSOR_MUL => (ReductionAlg::Mul, a.into()),
            CUDNN_REDUCE_TENSOR_MIN => (ReductionAlg::Min, a.into()),
            CUDNN_REDUCE_TENSOR_MAX => (ReductionAlg::Max, a.into()),
            CUDNN_REDUCE_TENSOR_AVG => (ReductionAlg::Mean, a.into()),
            CUDNN_REDUCE_TENSOR_AMAX => (ReductionAlg::Max, magnitudes(handle, src, a)?),
            CUDNN_REDUCE_TENSOR_NORM1 => (ReductionAlg::Sum, magnitudes(handle, src, a)?),
            CUDNN_REDUCE_TENSOR_NORM2 if src.dims() == dst.dims() => (ReductionAlg::Sum, magnitudes(handle, src, a)?),
            CUDNN_REDUCE_TENSOR_NORM2 => (ReductionAlg::NormLpSum, a.into()),
            _ => (ReductionAlg::Mul, without_zeros(handle, src, a)?),
        };
        if !matches!(alg, ReductionAlg::Min | ReductionAlg::Max) || !carries || src.dims() == dst.dims() {
            return reduce(handle, alg, (src, place).into(), (dst, c).into(), blend);
        }
        let carrier = carried(handle, (src, a).into(), dst)?;
        reduction(alg, (src, place).into(), (dst, c).into()).plus(dst, carrier).blend(blend).run(handle)
    })
}

/// NaN for each element of `dst` that has NaN among its inputs, else 0.
fn carried(handle: &Handle, from: Located<'_>, dst: &Tensor) -> Result<Place, Failure> {
    let (sums, carrier) = (handle.temporary(dst)?, nan::carrier(handle, from.tensor, from.at)?);
    reduce(handle, ReductionAlg::Sum, (from.tensor, carrier).into(), (dst, Data::of(&sums)).into(), Blend::PLAIN)?;
    Ok(sums.into())
}

/// `|a|`.
fn magnitudes(handle: &Handle, tensor: &Tensor, a: Data) -> Result<Place, Failure> {
    let copy = handle.temporary(tensor)?;
    let op = Eltwise::forward(Prop::ForwardInference, EltwiseAlg::Abs, [0.0, 0.0], tensor.clone(), tensor.clone());
    Job::new(op).arg(Arg::SRC, a).arg(Arg::DST, copy.view(tensor.clone())?).run(handle)?;
    Ok(copy.into())
}

/// `a` with zeros replaced by ones.
fn without_zeros(handle: &Handle, tensor: &Tensor, a: Data) -> Result<Place, Failure> {
    let copy = handle.temporary(tensor)?;
    let (zero, value) = handle.scalar(tensor.dtype, tensor.dims().len(), 0.0)?;
    let op = Binary { alg: BinaryAlg::Eq, src0: tensor.clone(), src1: zero, src2: None, dst: tensor.clone() };
    let job = Job::new(op).arg(Arg::SRC, a).arg(Arg::SRC_1, value).arg(Arg::DST, copy.view(tensor.clone())?);
    job.post_op(plus(tensor)).arg(Arg::post_op(0, Arg::SRC_1), a).run(handle)?;
    Ok(copy.into())
}

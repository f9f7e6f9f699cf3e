//! Pointwise operations on tensors: sum, product, scaling, fill, copy between layouts.

use crate::enums::*;
use crate::exec::{Blend, Job, Place, factor, repeated};
use crate::handle::Handle;
use crate::nan;
use crate::pointers::{self, Data, In, InOut, New, Out, Owned, host_bytes};
use crate::status::{Failure, Status, guard};
use crate::steps::{remembered, stamp};
use crate::tensor::{TensorDesc, factor_bits};
use crate::values;
use oxidnn_runtime::Memory;
use oxidnn_spec::op::{Binary, BinaryAlg, EltwiseAlg, Reorder};
use oxidnn_spec::{Arg, DataType, Dims, PostOp, Tensor};

/// The object behind a `cudnnOpTensorDescriptor_t`.
#[derive(Clone, Debug, Default)]
pub struct OpTensorDesc {
    /// Operation, type of computation, NaN option.
    set: Option<[i32; 3]>,
}

impl Owned for OpTensorDesc {}

impl OpTensorDesc {
    fn get(&self) -> Result<[i32; 3], Failure> {
        self.set.ok_or_else(|| Failure::invalid("opTensorDesc", "a descriptor that was never set", "one that describes an operation"))
    }
}

/// `cudnnCreateOpTensorDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnCreateOpTensorDescriptor(desc: New<'_, OpTensorDesc>) -> Status {
    guard("cudnnCreateOpTensorDescriptor", || desc.own("opTensorDesc", || Ok(OpTensorDesc::default())))
}

/// `cudnnDestroyOpTensorDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnDestroyOpTensorDescriptor(desc: pointers::Handle<OpTensorDesc>) -> Status {
    guard("cudnnDestroyOpTensorDescriptor", || {
        desc.destroy();
        Ok(())
    })
}

/// `cudnnSetOpTensorDescriptor`. `nan` applies to minimum and maximum: with `CUDNN_NOT_PROPAGATE_NAN`, if one operand is NaN, they return the other.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnSetOpTensorDescriptor(desc: InOut<'_, OpTensorDesc>, op: i32, compute: i32, nan: i32) -> Status {
    guard("cudnnSetOpTensorDescriptor", || {
        values::check("opTensorOp", "cudnnOpTensorOp_t", op)?;
        values::check("opTensorCompType", "cudnnDataType_t", compute)?;
        values::check("opTensorNanOpt", "cudnnNanPropagation_t", nan)?;
        desc.get("opTensorDesc")?.set = Some([op, compute, nan]);
        Ok(())
    })
}

/// `cudnnGetOpTensorDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetOpTensorDescriptor(
    desc: In<'_, OpTensorDesc>,
    op: Out<'_, i32>,
    compute: Out<'_, i32>,
    nan: Out<'_, i32>,
) -> Status {
    guard("cudnnGetOpTensorDescriptor", || {
        let numbers = desc.get("opTensorDesc")?.get()?;
        for (place, number) in [op, compute, nan].into_iter().zip(numbers) {
            place.set_optional(number);
        }
        Ok(())
    })
}

/// `factor * at`, in single precision (double for double); the tensor itself if the factor is 1.
pub(crate) fn scaled(handle: &Handle, at: (&Tensor, Data), factor: f64) -> Result<(Tensor, Place), Failure> {
    if factor == 1.0 {
        return Ok((at.0.clone(), at.1.into()));
    }
    let dtype = if at.0.dtype == DataType::F64 { DataType::F64 } else { DataType::F32 };
    let product = Tensor { dtype, layout: at.0.layout.clone() };
    let copy = handle.temporary(&product)?;
    let place = copy.view(product.clone())?;
    handle.combine((at.0, at.1.into()), (&product, place.into()), Blend { alpha: factor, beta: 0.0 })?;
    Ok((product, copy.into()))
}

/// `cudnnOpTensor`: `C = op(alpha1 * A, alpha2 * B) + beta * C`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnOpTensor(
    handle: In<'_, Handle>,
    desc: In<'_, OpTensorDesc>,
    alpha1: Data,
    a_desc: In<'_, TensorDesc>,
    a: Data,
    alpha2: Data,
    b_desc: In<'_, TensorDesc>,
    b: Data,
    beta: Data,
    c_desc: In<'_, TensorDesc>,
    c: Data,
) -> Status {
    guard("cudnnOpTensor", || {
        let handle = handle.get("handle")?;
        let [op, _, nan_option] = desc.get("opTensorDesc")?.get()?;
        let (src, dst) = (a_desc.tensor("aDesc")?, c_desc.tensor("cDesc")?);
        let blend = Blend { alpha: 1.0, beta: factor("beta", beta, dst.dtype)? };
        let (src0, first) = scaled(handle, (src, a.some("A")?), factor("alpha1", alpha1, dst.dtype)?)?;
        let two = match op {
            CUDNN_OP_TENSOR_ADD => Some(BinaryAlg::Add),
            CUDNN_OP_TENSOR_MUL => Some(BinaryAlg::Mul),
            CUDNN_OP_TENSOR_MIN => Some(BinaryAlg::Min),
            CUDNN_OP_TENSOR_MAX => Some(BinaryAlg::Max),
            _ => None,
        };
        let Some(alg) = two else {
            // A unary operation: multiply by one, then apply the function as a post-op.
            let (one, value) = handle.scalar(dst.dtype, dst.dims().len(), 1.0)?;
            let op_of_one = Binary { alg: BinaryAlg::Mul, src0, src1: one, src2: None, dst: dst.clone() };
            let job = Job::new(op_of_one).arg(Arg::SRC, first).arg(Arg::SRC_1, value).arg(Arg::DST, c.some("C")?);
            let job = match op {
                CUDNN_OP_TENSOR_SQRT => job.eltwise(EltwiseAlg::Sqrt, 0.0, 0.0),
                _ => job.eltwise(EltwiseAlg::Linear, -1.0, 1.0),
            };
            return job.blend(blend).run(handle);
        };
        let other = b_desc.tensor("bDesc")?;
        let (src1, second) = scaled(handle, (other, b.some("B")?), factor("alpha2", alpha2, dst.dtype)?)?;
        let op = Binary { alg, src0, src1, src2: None, dst: dst.clone() };
        let mut job = Job::new(op).arg(Arg::SRC, first).arg(Arg::SRC_1, second).arg(Arg::DST, c.some("C")?);
        if matches!(alg, BinaryAlg::Min | BinaryAlg::Max) {
            for (tensor, at) in [(src, a), (other, b)].into_iter().filter(|(t, _)| nan::propagates(nan_option, t.dtype)) {
                job = job.plus(tensor, nan::carrier(handle, tensor, at)?);
            }
        }
        job.blend(blend).run(handle)
    })
}

/// `cudnnAddTensor`: `C = alpha * A + beta * C`, with `A` broadcast along dimensions of size 1.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnAddTensor(
    handle: In<'_, Handle>,
    alpha: Data,
    a_desc: In<'_, TensorDesc>,
    a: Data,
    beta: Data,
    c_desc: In<'_, TensorDesc>,
    c: Data,
) -> Status {
    guard("cudnnAddTensor", || {
        let words = [stamp(a_desc), stamp(c_desc), factor_bits(alpha, c_desc), factor_bits(beta, c_desc)];
        remembered(handle, "cudnnAddTensor", words, [a, c], || {
            let handle = handle.get("handle")?;
            let (src, dst) = (a_desc.tensor("aDesc")?, c_desc.tensor("cDesc")?);
            let (blend, a, c) = (Blend::read(alpha, beta, dst.dtype)?, a.some("A")?, c.some("C")?);
            if blend == (Blend { alpha: 1.0, beta: 1.0 }) && src.dims().len() == dst.dims().len() {
                let op = Binary { alg: BinaryAlg::Add, src0: dst.clone(), src1: src.clone(), src2: None, dst: dst.clone() };
                return Job::new(op).arg(Arg::SRC, c).arg(Arg::SRC_1, a).arg(Arg::DST, c).run(handle);
            }
            handle.combine((src, a.into()), (dst, c.into()), blend)
        })
    })
}

/// `cudnnScaleTensor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnScaleTensor(handle: In<'_, Handle>, y_desc: In<'_, TensorDesc>, y: Data, alpha: Data) -> Status {
    guard("cudnnScaleTensor", || {
        let tensor = y_desc.tensor("yDesc")?;
        let alpha = factor("alpha", alpha, tensor.dtype)?;
        handle.get("handle")?.scale((tensor, y.some("y")?.into()), alpha).map(drop)
    })
}

/// `cudnnSetTensor`: the value has the tensor's type.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnSetTensor(handle: In<'_, Handle>, y_desc: In<'_, TensorDesc>, y: Data, value: Data) -> Status {
    guard("cudnnSetTensor", || {
        let (handle, dst) = (handle.get("handle")?, y_desc.tensor("yDesc")?);
        let bytes = host_bytes(value.some("valuePtr")?, dst.dtype.bytes(1).unwrap_or(0));
        let one = Tensor::plain(Dims::filled(dst.dims().len(), 1), dst.dtype)?;
        let memory = Memory::new(handle.engine(), one.clone())?;
        let mut mapped = memory.map_mut(0)?;
        mapped[..bytes.len()].copy_from_slice(bytes);
        mapped.unmap()?;
        let op = Reorder { src: repeated(&one, dst.dims())?, dst: dst.clone() };
        Job::new(op).arg(Arg::SRC, memory.view(repeated(&one, dst.dims())?)?).arg(Arg::DST, y.some("y")?).run(handle)
    })
}

/// `cudnnTransformTensor`: `y = alpha * x + beta * y` in another layout or type.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnTransformTensor(
    handle: In<'_, Handle>,
    alpha: Data,
    x_desc: In<'_, TensorDesc>,
    x: Data,
    beta: Data,
    y_desc: In<'_, TensorDesc>,
    y: Data,
) -> Status {
    guard("cudnnTransformTensor", || {
        let words = [stamp(x_desc), stamp(y_desc), factor_bits(alpha, y_desc), factor_bits(beta, y_desc)];
        remembered(handle, "cudnnTransformTensor", words, [x, y], || {
            let (src, dst) = (x_desc.tensor("xDesc")?, y_desc.tensor("yDesc")?);
            if src.dims() != dst.dims() {
                return Err(Failure::shape("yDesc", dst.dims(), format_args!("{} as xDesc", src.dims())));
            }
            let blend = Blend::read(alpha, beta, dst.dtype)?;
            handle.get("handle")?.combine((src, x.some("x")?.into()), (dst, y.some("y")?.into()), blend)
        })
    })
}

/// A post-op that adds a tensor.
pub(crate) fn plus(tensor: &Tensor) -> PostOp {
    PostOp::Binary { alg: BinaryAlg::Add, src1: tensor.clone(), src2: None }
}

//! Activations.

use crate::enums::*;
use crate::exec::{Blend, Job};
use crate::handle::Handle;
use crate::nan;
use crate::pointers::{self, Data, In, InOut, New, Out, Owned};
use crate::status::{Failure, Status, guard};
use crate::steps::{Stamp, Stamped, remembered, stamp};
use crate::tensor::{TensorDesc, factor_bits};
use crate::values;
use oxidnn_runtime::Engine;
use oxidnn_spec::op::{Binary, BinaryAlg, Diff, Eltwise, EltwiseAlg, Prop};
use oxidnn_spec::{Arg, DataType, Tensor};

/// The object behind a `cudnnActivationDescriptor_t`.
#[derive(Clone, Debug)]
pub struct ActivationDesc {
    /// `cudnnActivationMode_t`, once it is set.
    mode: Option<i32>,
    nan: i32,
    coefficient: f64,
    swish: f64,
    stamp: Stamp,
}

impl Owned for ActivationDesc {}

impl Stamped for ActivationDesc {
    fn stamp(&self) -> Option<Stamp> {
        self.mode.map(|_| self.stamp)
    }
}

impl Default for ActivationDesc {
    fn default() -> ActivationDesc {
        ActivationDesc { mode: None, nan: CUDNN_NOT_PROPAGATE_NAN, coefficient: 0.0, swish: 1.0, stamp: Stamp::new() }
    }
}

impl ActivationDesc {
    /// `cudnnActivationMode_t`.
    ///
    /// # Errors
    /// `BAD_PARAM` if it was never set.
    pub(crate) fn mode(&self) -> Result<i32, Failure> {
        self.mode.ok_or_else(|| Failure::invalid("activationDesc", "a descriptor that was never set", "one that describes an activation"))
    }

    /// Whether it is the identity.
    pub(crate) fn is_identity(&self) -> bool {
        self.mode == Some(CUDNN_ACTIVATION_IDENTITY)
    }

    /// The function with its two parameters.
    ///
    /// # Errors
    /// `BAD_PARAM` if it was never set.
    pub(crate) fn function(&self) -> Result<(EltwiseAlg, [f32; 2]), Failure> {
        let c = self.coefficient as f32;
        Ok(match self.mode()? {
            CUDNN_ACTIVATION_SIGMOID => (EltwiseAlg::Logistic, [0.0, 0.0]),
            CUDNN_ACTIVATION_RELU => (EltwiseAlg::Relu, [0.0, 0.0]),
            CUDNN_ACTIVATION_TANH => (EltwiseAlg::Tanh, [0.0, 0.0]),
            CUDNN_ACTIVATION_CLIPPED_RELU => (EltwiseAlg::ClipV2, [0.0, c]),
            CUDNN_ACTIVATION_ELU => (EltwiseAlg::Elu, [c, 0.0]),
            CUDNN_ACTIVATION_SWISH => (EltwiseAlg::Swish, [self.swish as f32, 0.0]),
            _ => (EltwiseAlg::Linear, [1.0, 0.0]),
        })
    }

    /// Whether it is a ReLU, clipped or not: only these compare, so only they can replace NaN.
    fn compares(&self) -> bool {
        matches!(self.mode, Some(CUDNN_ACTIVATION_RELU | CUDNN_ACTIVATION_CLIPPED_RELU))
    }

    /// Appends the function to a job with results of `dtype`: a maximum with 0 if NaN becomes 0.
    ///
    /// # Errors
    /// `BAD_PARAM` if it was never set.
    pub(crate) fn behind(&self, job: Job, engine: &Engine, dtype: DataType, rank: usize) -> Result<Job, Failure> {
        let (alg, [alpha, beta]) = self.function()?;
        if !self.drops_nan(dtype) {
            return Ok(job.eltwise(alg, f64::from(alpha), f64::from(beta)));
        }
        let wide = if dtype == DataType::F64 { dtype } else { DataType::F32 };
        let (zero, value) = nan::number(engine, wide, rank, 0.0)?;
        let job = job.with_tensor(BinaryAlg::Max, &zero, value);
        Ok(if alg == EltwiseAlg::Relu { job } else { job.eltwise(alg, f64::from(alpha), f64::from(beta)) })
    }

    /// Whether NaN becomes 0.
    fn drops_nan(&self, dtype: DataType) -> bool {
        self.compares() && self.nan == CUDNN_NOT_PROPAGATE_NAN && nan::has(dtype)
    }

    /// The function of `src`.
    fn forward(&self, engine: &Engine, src: &Tensor, dst: &Tensor, [x, y]: [Data; 2]) -> Result<Job, Failure> {
        let (alg, parameters) = self.function()?;
        if !self.drops_nan(dst.dtype) {
            let op = Eltwise::forward(Prop::ForwardInference, alg, parameters, src.clone(), dst.clone());
            return Ok(Job::new(op).arg(Arg::SRC, x).arg(Arg::DST, y));
        }
        let (zero, value) = nan::number(engine, dst.dtype, dst.dims().len(), 0.0)?;
        let op = Binary { alg: BinaryAlg::Max, src0: src.clone(), src1: zero, src2: None, dst: dst.clone() };
        let job = Job::new(op).arg(Arg::SRC, x).arg(Arg::SRC_1, value).arg(Arg::DST, y);
        Ok(if alg == EltwiseAlg::Relu { job } else { job.eltwise(alg, f64::from(parameters[0]), f64::from(parameters[1])) })
    }

    /// The function whose gradient is computed, and whether from the result, because programs that compute in place have overwritten the source.
    fn gradient(&self) -> Result<(EltwiseAlg, [f32; 2], bool), Failure> {
        let (alg, parameters) = self.function()?;
        if alg == EltwiseAlg::Relu && self.nan == CUDNN_NOT_PROPAGATE_NAN {
            // Where ReLU blocks the gradient it is 0, even if dy is NaN; multiplying by a slope of 0 would keep NaN.
            return Ok((EltwiseAlg::Clip, [0.0, f32::INFINITY], true));
        }
        let by_result = match alg {
            EltwiseAlg::Logistic => Some(EltwiseAlg::LogisticDst),
            EltwiseAlg::Tanh => Some(EltwiseAlg::TanhDst),
            EltwiseAlg::Relu => Some(EltwiseAlg::ReluDst),
            EltwiseAlg::ClipV2 => Some(EltwiseAlg::ClipV2Dst),
            EltwiseAlg::Elu if parameters[0] >= 0.0 => Some(EltwiseAlg::EluDst),
            _ => None,
        };
        Ok((by_result.unwrap_or(alg), parameters, by_result.is_some()))
    }
}

/// `cudnnCreateActivationDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnCreateActivationDescriptor(desc: New<'_, ActivationDesc>) -> Status {
    guard("cudnnCreateActivationDescriptor", || desc.own("activationDesc", || Ok(ActivationDesc::default())))
}

/// `cudnnDestroyActivationDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnDestroyActivationDescriptor(desc: pointers::Handle<ActivationDesc>) -> Status {
    guard("cudnnDestroyActivationDescriptor", || {
        desc.destroy();
        Ok(())
    })
}

/// `cudnnSetActivationDescriptor`. `nan` applies to ReLU and clipped ReLU: with `CUDNN_NOT_PROPAGATE_NAN` NaN and its gradient become 0, else
/// both are NaN. Other functions always propagate NaN.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnSetActivationDescriptor(desc: InOut<'_, ActivationDesc>, mode: i32, nan: i32, coefficient: f64) -> Status {
    guard("cudnnSetActivationDescriptor", || {
        let desc = desc.get("activationDesc")?;
        let mode = values::check("mode", "cudnnActivationMode_t", mode)?;
        let nan = values::check("reluNanOpt", "cudnnNanPropagation_t", nan)?;
        if mode == CUDNN_ACTIVATION_CLIPPED_RELU && (coefficient < 0.0 || coefficient.is_nan()) {
            return Err(Failure::invalid("coef", coefficient, "a ceiling of at least 0"));
        }
        *desc = ActivationDesc { mode: Some(mode), nan, coefficient, swish: desc.swish, stamp: Stamp::new() };
        Ok(())
    })
}

/// `cudnnGetActivationDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetActivationDescriptor(
    desc: In<'_, ActivationDesc>,
    mode: Out<'_, i32>,
    nan: Out<'_, i32>,
    coefficient: Out<'_, f64>,
) -> Status {
    guard("cudnnGetActivationDescriptor", || {
        let desc = desc.get("activationDesc")?;
        mode.set_optional(desc.mode()?);
        nan.set_optional(desc.nan);
        coefficient.set_optional(desc.coefficient);
        Ok(())
    })
}

/// `cudnnSetActivationDescriptorSwishBeta`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnSetActivationDescriptorSwishBeta(desc: InOut<'_, ActivationDesc>, beta: f64) -> Status {
    guard("cudnnSetActivationDescriptorSwishBeta", || {
        let desc = desc.get("activationDesc")?;
        (desc.swish, desc.stamp) = (beta, Stamp::new());
        Ok(())
    })
}

/// `cudnnGetActivationDescriptorSwishBeta`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetActivationDescriptorSwishBeta(desc: In<'_, ActivationDesc>, beta: Out<'_, f64>) -> Status {
    guard("cudnnGetActivationDescriptorSwishBeta", || beta.set("swish_beta", desc.get("activationDesc")?.swish))
}

/// `cudnnActivationForward`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnActivationForward(
    handle: In<'_, Handle>,
    desc: In<'_, ActivationDesc>,
    alpha: Data,
    x_desc: In<'_, TensorDesc>,
    x: Data,
    beta: Data,
    y_desc: In<'_, TensorDesc>,
    y: Data,
) -> Status {
    guard("cudnnActivationForward", || {
        let words = [stamp(desc), stamp(x_desc), stamp(y_desc), factor_bits(alpha, y_desc), factor_bits(beta, y_desc)];
        remembered(handle, "cudnnActivationForward", words, [x, y], || {
            let (handle, desc) = (handle.get("handle")?, desc.get("activationDesc")?);
            let (src, dst) = (x_desc.tensor("xDesc")?, y_desc.tensor("yDesc")?);
            let blend = Blend::read(alpha, beta, dst.dtype)?;
            desc.forward(handle.engine(), src, dst, [x.some("x")?, y.some("y")?])?.blend(blend).run(handle)
        })
    })
}

/// `cudnnActivationBackward`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnActivationBackward(
    handle: In<'_, Handle>,
    desc: In<'_, ActivationDesc>,
    alpha: Data,
    y_desc: In<'_, TensorDesc>,
    y: Data,
    dy_desc: In<'_, TensorDesc>,
    dy: Data,
    x_desc: In<'_, TensorDesc>,
    x: Data,
    beta: Data,
    dx_desc: In<'_, TensorDesc>,
    dx: Data,
) -> Status {
    guard("cudnnActivationBackward", || {
        let words = [
            stamp(desc),
            stamp(y_desc),
            stamp(dy_desc),
            stamp(x_desc),
            stamp(dx_desc),
            factor_bits(alpha, dx_desc),
            factor_bits(beta, dx_desc),
        ];
        remembered(handle, "cudnnActivationBackward", words, [y, dy, x, dx], || {
            let (handle, desc) = (handle.get("handle")?, desc.get("activationDesc")?);
            let (alg, parameters, by_result) = desc.gradient()?;
            let (given, wanted) = (dy_desc.tensor("dyDesc")?, dx_desc.tensor("dxDesc")?);
            let blend = Blend::read(alpha, beta, wanted.dtype)?;
            let (tensor, arg, data) = match by_result {
                true => (y_desc.tensor("yDesc")?, if alg.uses_dst() { Arg::DST } else { Arg::SRC }, y.some("y")?),
                false => (x_desc.tensor("xDesc")?, Arg::SRC, x.some("x")?),
            };
            let op = Eltwise::backward(alg, parameters, tensor.clone(), Diff { src: wanted.clone(), dst: given.clone() });
            let job = Job::new(op).arg(arg, data).arg(Arg::DIFF_DST, dy.some("dy")?).arg(Arg::DIFF_SRC, dx.some("dx")?);
            job.blend(blend).run(handle)?;
            match desc.compares() && nan::propagates(desc.nan, tensor.dtype) {
                true => nan::carry(handle, (tensor, data).into(), (wanted, dx).into()),
                false => Ok(()),
            }
        })
    })
}

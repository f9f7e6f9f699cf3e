//! Batch normalisation.

use super::run::{Fused, Given, Gradients, Norm, Statistics, Training, given};
use crate::activation::ActivationDesc;
use crate::enums::*;
use crate::exec::Blend;
use crate::handle::Handle;
use crate::pointers::{Data, In, InOut, Out};
use crate::status::{Failure, Status, guard};
use crate::tensor::TensorDesc;
use crate::values;
use oxidnn_spec::{DataType, Dims, Tensor};

/// Whether statistics are per activation.
fn per_activation(mode: i32) -> Result<bool, Failure> {
    Ok(values::check("mode", "cudnnBatchNormMode_t", mode)? == CUDNN_BATCHNORM_PER_ACTIVATION)
}

/// The descriptor for a tensor's statistics: single precision, or double for doubles.
pub(super) fn derive(to: &mut TensorDesc, x: &Tensor, per_activation: bool) -> Result<(), Failure> {
    let number = if x.dtype == DataType::F64 { CUDNN_DATA_DOUBLE } else { CUDNN_DATA_FLOAT };
    let n = x.dims().len();
    if n < 2 {
        return Err(Failure::shape("xDesc", x.dims(), "channels"));
    }
    let dims = Dims::from_fn(n, |d| if d == 1 || d > 1 && per_activation { x.dims()[d] } else { 1 });
    let strides = match (per_activation, x.blocking()) {
        (true, Some(b)) => Dims::from_fn(n, |d| if d == 0 { dims.iter().product() } else { b.strides[d] }),
        _ => Dims::from_fn(n, |d| if d == 0 { dims[1] } else { 1 }),
    };
    to.set(number, dims, strides)
}

/// The common part of the functions, without fusion.
fn plain<'a>(handle: In<'a, Handle>, mode: i32, params: In<'a, TensorDesc>, epsilon: f64) -> Result<Norm<'a>, Failure> {
    let params = params.tensor("bnScaleBiasMeanVarDesc")?;
    let epsilon = checked_epsilon(epsilon)?;
    Ok(Norm {
        handle: handle.get("handle")?,
        per_activation: per_activation(mode)?,
        fused: Fused::Nothing,
        epsilon,
        learnt: params,
        stats: params,
    })
}

/// An epsilon that divides by nothing.
pub(super) fn checked_epsilon(epsilon: f64) -> Result<f64, Failure> {
    match epsilon >= 0.0 {
        true => Ok(epsilon),
        false => Err(Failure::invalid("epsilon", epsilon, "at least CUDNN_BN_MIN_EPSILON, 0")),
    }
}

/// A second source or its gradient, if there is one.
pub(super) fn second<'a>(fused: Fused, desc: In<'a, TensorDesc>, data: Data, name: &str) -> Result<Option<Given<'a>>, Failure> {
    if fused == Fused::AddRelu { given(desc, data, name).map(Some) } else { Ok(None) }
}

/// `cudnnDeriveBNTensorDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnDeriveBNTensorDescriptor(derived_bn_desc: InOut<'_, TensorDesc>, x_desc: In<'_, TensorDesc>, mode: i32) -> Status {
    guard("cudnnDeriveBNTensorDescriptor", || derive(derived_bn_desc.get("derivedBnDesc")?, x_desc.tensor("xDesc")?, per_activation(mode)?))
}

/// `cudnnBatchNormalizationForwardInference`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnBatchNormalizationForwardInference(
    handle: In<'_, Handle>,
    mode: i32,
    alpha: Data,
    beta: Data,
    x_desc: In<'_, TensorDesc>,
    x: Data,
    y_desc: In<'_, TensorDesc>,
    y: Data,
    bn_scale_bias_mean_var_desc: In<'_, TensorDesc>,
    bn_scale: Data,
    bn_bias: Data,
    estimated_mean: Data,
    estimated_variance: Data,
    epsilon: f64,
) -> Status {
    guard("cudnnBatchNormalizationForwardInference", || {
        let norm = plain(handle, mode, bn_scale_bias_mean_var_desc, epsilon)?;
        let (x, y) = (given(x_desc, x, "xDesc")?, given(y_desc, y, "yDesc")?);
        norm.inference([x, y], None, [bn_scale, bn_bias, estimated_mean, estimated_variance], Blend::read(alpha, beta, y.0.dtype)?)
    })
}

/// `cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize`: none.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(
    handle: In<'_, Handle>,
    mode: i32,
    bn_ops: i32,
    x_desc: In<'_, TensorDesc>,
    _z_desc: In<'_, TensorDesc>,
    _y_desc: In<'_, TensorDesc>,
    _bn_scale_bias_mean_var_desc: In<'_, TensorDesc>,
    activation_desc: In<'_, ActivationDesc>,
    size_in_bytes: Out<'_, usize>,
) -> Status {
    guard("cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize", || {
        handle.get("handle")?;
        Fused::new(bn_ops, activation_desc)?;
        per_activation(mode)?;
        x_desc.tensor("xDesc")?;
        size_in_bytes.set("sizeInBytes", 0)
    })
}

/// `cudnnGetBatchNormalizationBackwardExWorkspaceSize`: none.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetBatchNormalizationBackwardExWorkspaceSize(
    handle: In<'_, Handle>,
    mode: i32,
    bn_ops: i32,
    x_desc: In<'_, TensorDesc>,
    _y_desc: In<'_, TensorDesc>,
    _dy_desc: In<'_, TensorDesc>,
    _dz_desc: In<'_, TensorDesc>,
    _dx_desc: In<'_, TensorDesc>,
    _d_bn_scale_bias_desc: In<'_, TensorDesc>,
    activation_desc: In<'_, ActivationDesc>,
    size_in_bytes: Out<'_, usize>,
) -> Status {
    guard("cudnnGetBatchNormalizationBackwardExWorkspaceSize", || {
        handle.get("handle")?;
        Fused::new(bn_ops, activation_desc)?;
        per_activation(mode)?;
        x_desc.tensor("xDesc")?;
        size_in_bytes.set("sizeInBytes", 0)
    })
}

/// `cudnnGetBatchNormalizationTrainingExReserveSpaceSize`: the mask bits of ReLU; 0 without it.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetBatchNormalizationTrainingExReserveSpaceSize(
    handle: In<'_, Handle>,
    mode: i32,
    bn_ops: i32,
    activation_desc: In<'_, ActivationDesc>,
    x_desc: In<'_, TensorDesc>,
    size_in_bytes: Out<'_, usize>,
) -> Status {
    guard("cudnnGetBatchNormalizationTrainingExReserveSpaceSize", || {
        let (x, mut derived) = (x_desc.tensor("xDesc")?, TensorDesc::default());
        derive(&mut derived, x, per_activation(mode)?)?;
        let (stats, fused) = (derived.tensor("xDesc")?, Fused::new(bn_ops, activation_desc)?);
        let norm = Norm { handle: handle.get("handle")?, per_activation: per_activation(mode)?, fused, epsilon: 0.0, learnt: stats, stats };
        size_in_bytes.set("sizeInBytes", norm.reserve_bytes(x)?)
    })
}

/// `cudnnBatchNormalizationForwardTraining`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnBatchNormalizationForwardTraining(
    handle: In<'_, Handle>,
    mode: i32,
    alpha: Data,
    beta: Data,
    x_desc: In<'_, TensorDesc>,
    x: Data,
    y_desc: In<'_, TensorDesc>,
    y: Data,
    bn_scale_bias_mean_var_desc: In<'_, TensorDesc>,
    bn_scale: Data,
    bn_bias: Data,
    exponential_average_factor: f64,
    result_running_mean: Data,
    result_running_variance: Data,
    epsilon: f64,
    result_save_mean: Data,
    result_save_inv_variance: Data,
) -> Status {
    guard("cudnnBatchNormalizationForwardTraining", || {
        let norm = plain(handle, mode, bn_scale_bias_mean_var_desc, epsilon)?;
        let (x, y) = (given(x_desc, x, "xDesc")?, given(y_desc, y, "yDesc")?);
        let told = Statistics {
            factor: exponential_average_factor,
            running_mean: result_running_mean,
            running_variance: result_running_variance,
            saved_mean: result_save_mean,
            saved_inverse: result_save_inv_variance,
        };
        let blend = Blend::read(alpha, beta, y.0.dtype)?;
        norm.training(Training { x, y, z: None, reserve: (Data::NULL, 0), blend }, [bn_scale, bn_bias], told)
    })
}

/// `cudnnBatchNormalizationForwardTrainingEx`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnBatchNormalizationForwardTrainingEx(
    handle: In<'_, Handle>,
    mode: i32,
    bn_ops: i32,
    alpha: Data,
    beta: Data,
    x_desc: In<'_, TensorDesc>,
    x_data: Data,
    z_desc: In<'_, TensorDesc>,
    z_data: Data,
    y_desc: In<'_, TensorDesc>,
    y_data: Data,
    bn_scale_bias_mean_var_desc: In<'_, TensorDesc>,
    bn_scale: Data,
    bn_bias: Data,
    exponential_average_factor: f64,
    result_running_mean: Data,
    result_running_variance: Data,
    epsilon: f64,
    result_save_mean: Data,
    result_save_inv_variance: Data,
    activation_desc: In<'_, ActivationDesc>,
    _workspace: Data,
    _work_space_size_in_bytes: usize,
    reserve_space: Data,
    reserve_space_size_in_bytes: usize,
) -> Status {
    guard("cudnnBatchNormalizationForwardTrainingEx", || {
        let fused = Fused::new(bn_ops, activation_desc)?;
        let norm = Norm { fused, ..plain(handle, mode, bn_scale_bias_mean_var_desc, epsilon)? };
        let (x, y) = (given(x_desc, x_data, "xDesc")?, given(y_desc, y_data, "yDesc")?);
        let told = Statistics {
            factor: exponential_average_factor,
            running_mean: result_running_mean,
            running_variance: result_running_variance,
            saved_mean: result_save_mean,
            saved_inverse: result_save_inv_variance,
        };
        let (reserve, blend) = ((reserve_space, reserve_space_size_in_bytes), Blend::read(alpha, beta, y.0.dtype)?);
        let z = second(fused, z_desc, z_data, "zDesc")?;
        norm.training(Training { x, y, z, reserve, blend }, [bn_scale, bn_bias], told)
    })
}

/// `cudnnBatchNormalizationBackward`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnBatchNormalizationBackward(
    handle: In<'_, Handle>,
    mode: i32,
    alpha_data_diff: Data,
    beta_data_diff: Data,
    alpha_param_diff: Data,
    beta_param_diff: Data,
    x_desc: In<'_, TensorDesc>,
    x: Data,
    dy_desc: In<'_, TensorDesc>,
    dy: Data,
    dx_desc: In<'_, TensorDesc>,
    dx: Data,
    d_bn_scale_bias_desc: In<'_, TensorDesc>,
    bn_scale: Data,
    d_bn_scale_result: Data,
    d_bn_bias_result: Data,
    epsilon: f64,
    saved_mean: Data,
    saved_inv_variance: Data,
) -> Status {
    guard("cudnnBatchNormalizationBackward", || {
        let norm = plain(handle, mode, d_bn_scale_bias_desc, epsilon)?;
        let (x, dx) = (given(x_desc, x, "xDesc")?, given(dx_desc, dx, "dxDesc")?);
        norm.backward(&Gradients {
            x,
            dy: given(dy_desc, dy, "dyDesc")?,
            dx,
            dz: None,
            scale: bn_scale,
            dscale: d_bn_scale_result,
            dbias: d_bn_bias_result,
            saved_mean,
            saved_inverse: saved_inv_variance,
            reserve: (Data::NULL, 0),
            blends: [Blend::read(alpha_data_diff, beta_data_diff, x.0.dtype)?, Blend::read(alpha_param_diff, beta_param_diff, x.0.dtype)?],
        })
    })
}

/// `cudnnBatchNormalizationBackwardEx`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnBatchNormalizationBackwardEx(
    handle: In<'_, Handle>,
    mode: i32,
    bn_ops: i32,
    alpha_data_diff: Data,
    beta_data_diff: Data,
    alpha_param_diff: Data,
    beta_param_diff: Data,
    x_desc: In<'_, TensorDesc>,
    x_data: Data,
    _y_desc: In<'_, TensorDesc>,
    _y_data: Data,
    dy_desc: In<'_, TensorDesc>,
    dy_data: Data,
    dz_desc: In<'_, TensorDesc>,
    dz_data: Data,
    dx_desc: In<'_, TensorDesc>,
    dx_data: Data,
    d_bn_scale_bias_desc: In<'_, TensorDesc>,
    bn_scale_data: Data,
    _bn_bias_data: Data,
    d_bn_scale_data: Data,
    d_bn_bias_data: Data,
    epsilon: f64,
    saved_mean: Data,
    saved_inv_variance: Data,
    activation_desc: In<'_, ActivationDesc>,
    _work_space: Data,
    _work_space_size_in_bytes: usize,
    reserve_space: Data,
    reserve_space_size_in_bytes: usize,
) -> Status {
    guard("cudnnBatchNormalizationBackwardEx", || {
        let fused = Fused::new(bn_ops, activation_desc)?;
        let norm = Norm { fused, ..plain(handle, mode, d_bn_scale_bias_desc, epsilon)? };
        let (x, dx) = (given(x_desc, x_data, "xDesc")?, given(dx_desc, dx_data, "dxDesc")?);
        norm.backward(&Gradients {
            x,
            dy: given(dy_desc, dy_data, "dyDesc")?,
            dx,
            dz: second(fused, dz_desc, dz_data, "dzDesc")?,
            scale: bn_scale_data,
            dscale: d_bn_scale_data,
            dbias: d_bn_bias_data,
            saved_mean,
            saved_inverse: saved_inv_variance,
            reserve: (reserve_space, reserve_space_size_in_bytes),
            blends: [Blend::read(alpha_data_diff, beta_data_diff, x.0.dtype)?, Blend::read(alpha_param_diff, beta_param_diff, x.0.dtype)?],
        })
    })
}

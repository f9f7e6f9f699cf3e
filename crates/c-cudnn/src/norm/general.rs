//! `cudnnNormalization*`: batch normalisation with separate descriptors of parameters and statistics.

use super::batch::{checked_epsilon, derive, second};
use super::run::{Fused, Gradients, Norm, Statistics, Training, given};
use crate::activation::ActivationDesc;
use crate::enums::*;
use crate::exec::Blend;
use crate::handle::Handle;
use crate::pointers::{Data, In, InOut, Out};
use crate::status::{Failure, Status, guard};
use crate::tensor::TensorDesc;
use crate::values;

/// Whether statistics are per activation.
fn per_activation(mode: i32, groups: i32) -> Result<bool, Failure> {
    if groups != 1 {
        return Err(Failure::invalid("groupCnt", groups, "1, the only count that cuDNN has"));
    }
    Ok(values::check("mode", "cudnnNormMode_t", mode)? == CUDNN_NORM_PER_ACTIVATION)
}

/// Mode, algorithm, groups, fused operation.
struct Numbers {
    mode: i32,
    algo: i32,
    groups: i32,
    ops: i32,
}

impl Numbers {
    fn norm<'a>(
        self,
        handle: In<'a, Handle>,
        descs: [In<'a, TensorDesc>; 2],
        activation: In<'a, ActivationDesc>,
        epsilon: f64,
    ) -> Result<Norm<'a>, Failure> {
        values::check("algo", "cudnnNormAlgo_t", self.algo)?;
        Ok(Norm {
            handle: handle.get("handle")?,
            per_activation: per_activation(self.mode, self.groups)?,
            fused: Fused::new(self.ops, activation)?,
            epsilon: checked_epsilon(epsilon)?,
            learnt: descs[0].tensor("normScaleBiasDesc")?,
            stats: descs[1].tensor("normMeanVarDesc")?,
        })
    }
}

/// `cudnnDeriveNormTensorDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnDeriveNormTensorDescriptor(
    derived_norm_scale_bias_desc: InOut<'_, TensorDesc>,
    derived_norm_mean_var_desc: InOut<'_, TensorDesc>,
    x_desc: In<'_, TensorDesc>,
    mode: i32,
    group_cnt: i32,
) -> Status {
    guard("cudnnDeriveNormTensorDescriptor", || {
        let (x, per_activation) = (x_desc.tensor("xDesc")?, per_activation(mode, group_cnt)?);
        derive(derived_norm_scale_bias_desc.get("derivedNormScaleBiasDesc")?, x, per_activation)?;
        derive(derived_norm_mean_var_desc.get("derivedNormMeanVarDesc")?, x, per_activation)
    })
}

/// `cudnnNormalizationForwardInference`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnNormalizationForwardInference(
    handle: In<'_, Handle>,
    mode: i32,
    norm_ops: i32,
    algo: i32,
    alpha: Data,
    beta: Data,
    x_desc: In<'_, TensorDesc>,
    x: Data,
    norm_scale_bias_desc: In<'_, TensorDesc>,
    norm_scale: Data,
    norm_bias: Data,
    norm_mean_var_desc: In<'_, TensorDesc>,
    estimated_mean: Data,
    estimated_variance: Data,
    z_desc: In<'_, TensorDesc>,
    z: Data,
    activation_desc: In<'_, ActivationDesc>,
    y_desc: In<'_, TensorDesc>,
    y: Data,
    epsilon: f64,
    group_cnt: i32,
) -> Status {
    guard("cudnnNormalizationForwardInference", || {
        let numbers = Numbers { mode, algo, groups: group_cnt, ops: norm_ops };
        let norm = numbers.norm(handle, [norm_scale_bias_desc, norm_mean_var_desc], activation_desc, epsilon)?;
        let (x, y) = (given(x_desc, x, "xDesc")?, given(y_desc, y, "yDesc")?);
        let z = second(norm.fused, z_desc, z, "zDesc")?;
        norm.inference([x, y], z, [norm_scale, norm_bias, estimated_mean, estimated_variance], Blend::read(alpha, beta, y.0.dtype)?)
    })
}

/// `cudnnGetNormalizationForwardTrainingWorkspaceSize`: none.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetNormalizationForwardTrainingWorkspaceSize(
    handle: In<'_, Handle>,
    mode: i32,
    norm_ops: i32,
    algo: i32,
    x_desc: In<'_, TensorDesc>,
    _z_desc: In<'_, TensorDesc>,
    _y_desc: In<'_, TensorDesc>,
    _norm_scale_bias_desc: In<'_, TensorDesc>,
    activation_desc: In<'_, ActivationDesc>,
    _norm_mean_var_desc: In<'_, TensorDesc>,
    size_in_bytes: Out<'_, usize>,
    group_cnt: i32,
) -> Status {
    guard("cudnnGetNormalizationForwardTrainingWorkspaceSize", || {
        handle.get("handle")?;
        values::check("algo", "cudnnNormAlgo_t", algo)?;
        Fused::new(norm_ops, activation_desc)?;
        per_activation(mode, group_cnt)?;
        x_desc.tensor("xDesc")?;
        size_in_bytes.set("sizeInBytes", 0)
    })
}

/// `cudnnGetNormalizationBackwardWorkspaceSize`: none.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetNormalizationBackwardWorkspaceSize(
    handle: In<'_, Handle>,
    mode: i32,
    norm_ops: i32,
    algo: i32,
    x_desc: In<'_, TensorDesc>,
    _y_desc: In<'_, TensorDesc>,
    _dy_desc: In<'_, TensorDesc>,
    _dz_desc: In<'_, TensorDesc>,
    _dx_desc: In<'_, TensorDesc>,
    _d_norm_scale_bias_desc: In<'_, TensorDesc>,
    activation_desc: In<'_, ActivationDesc>,
    _norm_mean_var_desc: In<'_, TensorDesc>,
    size_in_bytes: Out<'_, usize>,
    group_cnt: i32,
) -> Status {
    guard("cudnnGetNormalizationBackwardWorkspaceSize", || {
        handle.get("handle")?;
        values::check("algo", "cudnnNormAlgo_t", algo)?;
        Fused::new(norm_ops, activation_desc)?;
        per_activation(mode, group_cnt)?;
        x_desc.tensor("xDesc")?;
        size_in_bytes.set("sizeInBytes", 0)
    })
}

/// `cudnnGetNormalizationTrainingReserveSpaceSize`: the mask bits of ReLU; 0 without it.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetNormalizationTrainingReserveSpaceSize(
    handle: In<'_, Handle>,
    mode: i32,
    norm_ops: i32,
    algo: i32,
    activation_desc: In<'_, ActivationDesc>,
    x_desc: In<'_, TensorDesc>,
    size_in_bytes: Out<'_, usize>,
    group_cnt: i32,
) -> Status {
    guard("cudnnGetNormalizationTrainingReserveSpaceSize", || {
        values::check("algo", "cudnnNormAlgo_t", algo)?;
        let (x, mut derived, per_activation) = (x_desc.tensor("xDesc")?, TensorDesc::default(), per_activation(mode, group_cnt)?);
        derive(&mut derived, x, per_activation)?;
        let (stats, fused) = (derived.tensor("xDesc")?, Fused::new(norm_ops, activation_desc)?);
        let norm = Norm { handle: handle.get("handle")?, per_activation, fused, epsilon: 0.0, learnt: stats, stats };
        size_in_bytes.set("sizeInBytes", norm.reserve_bytes(x)?)
    })
}

/// `cudnnNormalizationForwardTraining`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnNormalizationForwardTraining(
    handle: In<'_, Handle>,
    mode: i32,
    norm_ops: i32,
    algo: i32,
    alpha: Data,
    beta: Data,
    x_desc: In<'_, TensorDesc>,
    x_data: Data,
    norm_scale_bias_desc: In<'_, TensorDesc>,
    norm_scale: Data,
    norm_bias: Data,
    exponential_average_factor: f64,
    norm_mean_var_desc: In<'_, TensorDesc>,
    result_running_mean: Data,
    result_running_variance: Data,
    epsilon: f64,
    result_save_mean: Data,
    result_save_inv_variance: Data,
    activation_desc: In<'_, ActivationDesc>,
    z_desc: In<'_, TensorDesc>,
    z_data: Data,
    y_desc: In<'_, TensorDesc>,
    y_data: Data,
    _workspace: Data,
    _work_space_size_in_bytes: usize,
    reserve_space: Data,
    reserve_space_size_in_bytes: usize,
    group_cnt: i32,
) -> Status {
    guard("cudnnNormalizationForwardTraining", || {
        let numbers = Numbers { mode, algo, groups: group_cnt, ops: norm_ops };
        let norm = numbers.norm(handle, [norm_scale_bias_desc, norm_mean_var_desc], activation_desc, epsilon)?;
        let (x, y) = (given(x_desc, x_data, "xDesc")?, given(y_desc, y_data, "yDesc")?);
        let told = Statistics {
            factor: exponential_average_factor,
            running_mean: result_running_mean,
            running_variance: result_running_variance,
            saved_mean: result_save_mean,
            saved_inverse: result_save_inv_variance,
        };
        let (reserve, blend) = ((reserve_space, reserve_space_size_in_bytes), Blend::read(alpha, beta, y.0.dtype)?);
        let z = second(norm.fused, z_desc, z_data, "zDesc")?;
        norm.training(Training { x, y, z, reserve, blend }, [norm_scale, norm_bias], told)
    })
}

/// `cudnnNormalizationBackward`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnNormalizationBackward(
    handle: In<'_, Handle>,
    mode: i32,
    norm_ops: i32,
    algo: i32,
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
    d_norm_scale_bias_desc: In<'_, TensorDesc>,
    norm_scale_data: Data,
    _norm_bias_data: Data,
    d_norm_scale_data: Data,
    d_norm_bias_data: Data,
    epsilon: f64,
    norm_mean_var_desc: In<'_, TensorDesc>,
    saved_mean: Data,
    saved_inv_variance: Data,
    activation_desc: In<'_, ActivationDesc>,
    _work_space: Data,
    _work_space_size_in_bytes: usize,
    reserve_space: Data,
    reserve_space_size_in_bytes: usize,
    group_cnt: i32,
) -> Status {
    guard("cudnnNormalizationBackward", || {
        let numbers = Numbers { mode, algo, groups: group_cnt, ops: norm_ops };
        let norm = numbers.norm(handle, [d_norm_scale_bias_desc, norm_mean_var_desc], activation_desc, epsilon)?;
        let (x, dx) = (given(x_desc, x_data, "xDesc")?, given(dx_desc, dx_data, "dxDesc")?);
        norm.backward(&Gradients {
            x,
            dy: given(dy_desc, dy_data, "dyDesc")?,
            dx,
            dz: second(norm.fused, dz_desc, dz_data, "dzDesc")?,
            scale: norm_scale_data,
            dscale: d_norm_scale_data,
            dbias: d_norm_bias_data,
            saved_mean,
            saved_inverse: saved_inv_variance,
            reserve: (reserve_space, reserve_space_size_in_bytes),
            blends: [Blend::read(alpha_data_diff, beta_data_diff, x.0.dtype)?, Blend::read(alpha_param_diff, beta_param_diff, x.0.dtype)?],
        })
    })
}

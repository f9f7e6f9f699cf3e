//! Fused operations (`cudnnFusedOps*`) of convolution and batch normalisation: parameter packs, plans, and their execution.
//!
//! A pack of constants has descriptors, and for each pointer whether it will be present: operations without their pointers are skipped. The operations on bit
//! masks of activations, which `cudnn_cnn.h` reserves, are refused.

use crate::activation::ActivationDesc;
use crate::conv::ConvDesc;
use crate::enums::*;
use crate::filter::FilterDesc;
use crate::handle::Handle;
use crate::pointers::{self, Data, In, InOut, New, Out, Owned};
use crate::status::{Failure, Status, guard};
use crate::tensor::TensorDesc;
use crate::values;
use std::collections::BTreeMap;

mod run;

/// A constant parameter.
#[derive(Clone, Debug)]
enum Param {
    Tensor(TensorDesc),
    Filter(FilterDesc),
    Conv(ConvDesc),
    Activation(ActivationDesc),
    /// `cudnnFusedOpsPointerPlaceHolder_t`, or `cudnnBatchNormMode_t`.
    Number(i32),
}

/// The object behind a `cudnnFusedOpsConstParamPack_t`.
#[derive(Clone, Debug)]
pub struct ConstPack {
    ops: i32,
    /// By `cudnnFusedOpsConstParamLabel_t`.
    set: BTreeMap<i32, Param>,
}

/// The object behind a `cudnnFusedOpsVariantParamPack_t`.
#[derive(Clone, Debug)]
pub struct VariantPack {
    ops: i32,
    /// By `cudnnFusedOpsVariantParamLabel_t`.
    pointers: BTreeMap<i32, Data>,
    workspace: usize,
    count: i64,
    factor: f64,
    epsilon: f64,
}

/// The object behind a `cudnnFusedOpsPlan_t`.
#[derive(Clone, Debug)]
pub struct FusedPlan {
    ops: i32,
    made: Option<ConstPack>,
}

impl Owned for ConstPack {}
impl Owned for VariantPack {}
impl Owned for FusedPlan {}

/// The operation with this enumerator.
fn operation(number: i32) -> Result<i32, Failure> {
    values::check("ops", "cudnnFusedOps_t", number)
}

impl Param {
    /// Reads the caller's value for a label: the handle of a descriptor, or the address of a scalar.
    fn read(label: i32, param: Data) -> Result<Param, Failure> {
        Ok(match label {
            CUDNN_PARAM_CONV_DESC => Param::Conv(param.object::<ConvDesc>("param")?.clone()),
            CUDNN_PARAM_ACTIVATION_DESC => Param::Activation(param.object::<ActivationDesc>("param")?.clone()),
            CUDNN_PARAM_WDESC | CUDNN_PARAM_DWDESC => Param::Filter(param.object::<FilterDesc>("param")?.clone()),
            CUDNN_PARAM_BN_MODE => Param::Number(values::check("param", "cudnnBatchNormMode_t", param.read("param")?)?),
            label if is_tensor(label) => Param::Tensor(param.object::<TensorDesc>("param")?.clone()),
            _ => Param::Number(values::check("param", "cudnnFusedOpsPointerPlaceHolder_t", param.read("param")?)?),
        })
    }

    /// Returns it to the caller: into a descriptor, or as a scalar.
    fn give(&self, param: Data) -> Result<(), Failure> {
        match self {
            Param::Tensor(desc) => *param.object_mut::<TensorDesc>("param")? = desc.clone(),
            Param::Filter(desc) => *param.object_mut::<FilterDesc>("param")? = desc.clone(),
            Param::Conv(desc) => *param.object_mut::<ConvDesc>("param")? = desc.clone(),
            Param::Activation(desc) => *param.object_mut::<ActivationDesc>("param")? = desc.clone(),
            Param::Number(number) => param.write("param", *number)?,
        }
        Ok(())
    }
}

/// Whether a label's parameter is a tensor descriptor.
fn is_tensor(label: i32) -> bool {
    [
        CUDNN_PARAM_XDESC,
        CUDNN_PARAM_BN_EQSCALEBIAS_DESC,
        CUDNN_PARAM_YDESC,
        CUDNN_PARAM_DYDESC,
        CUDNN_PARAM_YSTATS_DESC,
        CUDNN_PARAM_BN_SCALEBIAS_MEANVAR_DESC,
        CUDNN_PARAM_ZDESC,
        CUDNN_PARAM_BN_Z_EQSCALEBIAS_DESC,
        CUDNN_PARAM_ACTIVATION_BITMASK_DESC,
        CUDNN_PARAM_DXDESC,
        CUDNN_PARAM_DZDESC,
    ]
    .contains(&label)
}

/// `cudnnCreateFusedOpsConstParamPack`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnCreateFusedOpsConstParamPack(const_pack: New<'_, ConstPack>, ops: i32) -> Status {
    guard("cudnnCreateFusedOpsConstParamPack", || {
        const_pack.own("constPack", || Ok(ConstPack { ops: operation(ops)?, set: BTreeMap::new() }))
    })
}

/// `cudnnDestroyFusedOpsConstParamPack`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnDestroyFusedOpsConstParamPack(const_pack: pointers::Handle<ConstPack>) -> Status {
    guard("cudnnDestroyFusedOpsConstParamPack", || {
        const_pack.destroy();
        Ok(())
    })
}

/// `cudnnSetFusedOpsConstParamPackAttribute`: descriptors are copied; null removes a parameter.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnSetFusedOpsConstParamPackAttribute(const_pack: InOut<'_, ConstPack>, param_label: i32, param: Data) -> Status {
    guard("cudnnSetFusedOpsConstParamPackAttribute", || {
        let pack = const_pack.get("constPack")?;
        values::check("paramLabel", "cudnnFusedOpsConstParamLabel_t", param_label)?;
        match param.is_null() {
            true => pack.set.remove(&param_label),
            false => pack.set.insert(param_label, Param::read(param_label, param)?),
        };
        Ok(())
    })
}

/// `cudnnGetFusedOpsConstParamPackAttribute`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetFusedOpsConstParamPackAttribute(
    const_pack: In<'_, ConstPack>,
    param_label: i32,
    param: Data,
    is_null: Out<'_, i32>,
) -> Status {
    guard("cudnnGetFusedOpsConstParamPackAttribute", || {
        let pack = const_pack.get("constPack")?;
        values::check("paramLabel", "cudnnFusedOpsConstParamLabel_t", param_label)?;
        let found = pack.set.get(&param_label);
        is_null.set_optional(i32::from(found.is_none()));
        found.map_or(Ok(()), |found| found.give(param))
    })
}

/// `cudnnCreateFusedOpsVariantParamPack`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnCreateFusedOpsVariantParamPack(var_pack: New<'_, VariantPack>, ops: i32) -> Status {
    guard("cudnnCreateFusedOpsVariantParamPack", || {
        let ops = operation(ops)?;
        var_pack.own("varPack", || Ok(VariantPack { ops, pointers: BTreeMap::new(), workspace: 0, count: 0, factor: 0.0, epsilon: 0.0 }))
    })
}

/// `cudnnDestroyFusedOpsVariantParamPack`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnDestroyFusedOpsVariantParamPack(var_pack: pointers::Handle<VariantPack>) -> Status {
    guard("cudnnDestroyFusedOpsVariantParamPack", || {
        var_pack.destroy();
        Ok(())
    })
}

/// `cudnnSetFusedOpsVariantParamPackAttribute`: the address itself for pointers, the address of a scalar for the others.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnSetFusedOpsVariantParamPackAttribute(var_pack: InOut<'_, VariantPack>, param_label: i32, ptr: Data) -> Status {
    guard("cudnnSetFusedOpsVariantParamPackAttribute", || {
        let pack = var_pack.get("varPack")?;
        match values::check("paramLabel", "cudnnFusedOpsVariantParamLabel_t", param_label)? {
            CUDNN_SCALAR_SIZE_T_WORKSPACE_SIZE_IN_BYTES => pack.workspace = ptr.read("ptr")?,
            CUDNN_SCALAR_INT64_T_BN_ACCUMULATION_COUNT => pack.count = ptr.read("ptr")?,
            CUDNN_SCALAR_DOUBLE_BN_EXP_AVG_FACTOR => pack.factor = ptr.read("ptr")?,
            CUDNN_SCALAR_DOUBLE_BN_EPSILON => pack.epsilon = ptr.read("ptr")?,
            label => {
                pack.pointers.insert(label, ptr);
            }
        }
        Ok(())
    })
}

/// `cudnnGetFusedOpsVariantParamPackAttribute`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetFusedOpsVariantParamPackAttribute(var_pack: In<'_, VariantPack>, param_label: i32, ptr: Data) -> Status {
    guard("cudnnGetFusedOpsVariantParamPackAttribute", || {
        let pack = var_pack.get("varPack")?;
        match values::check("paramLabel", "cudnnFusedOpsVariantParamLabel_t", param_label)? {
            CUDNN_SCALAR_SIZE_T_WORKSPACE_SIZE_IN_BYTES => ptr.write("ptr", pack.workspace),
            CUDNN_SCALAR_INT64_T_BN_ACCUMULATION_COUNT => ptr.write("ptr", pack.count),
            CUDNN_SCALAR_DOUBLE_BN_EXP_AVG_FACTOR => ptr.write("ptr", pack.factor),
            CUDNN_SCALAR_DOUBLE_BN_EPSILON => ptr.write("ptr", pack.epsilon),
            label => ptr.write("ptr", pack.pointers.get(&label).map_or(0, |data| data.number())),
        }
    })
}

/// `cudnnCreateFusedOpsPlan`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnCreateFusedOpsPlan(plan: New<'_, FusedPlan>, ops: i32) -> Status {
    guard("cudnnCreateFusedOpsPlan", || plan.own("plan", || Ok(FusedPlan { ops: operation(ops)?, made: None })))
}

/// `cudnnDestroyFusedOpsPlan`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnDestroyFusedOpsPlan(plan: pointers::Handle<FusedPlan>) -> Status {
    guard("cudnnDestroyFusedOpsPlan", || {
        plan.destroy();
        Ok(())
    })
}

/// `cudnnMakeFusedOpsPlan`: checks the constants, which the plan keeps, and returns the size of the workspace.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnMakeFusedOpsPlan(
    handle: In<'_, Handle>,
    plan: InOut<'_, FusedPlan>,
    const_pack: In<'_, ConstPack>,
    workspace_size_in_bytes: Out<'_, usize>,
) -> Status {
    guard("cudnnMakeFusedOpsPlan", || {
        let (handle, plan, pack) = (handle.get("handle")?, plan.get("plan")?, const_pack.get("constPack")?);
        if plan.ops != pack.ops {
            return Err(Failure::invalid("constPack", name("cudnnFusedOps_t", pack.ops), name("cudnnFusedOps_t", plan.ops)));
        }
        let bytes = pack.prepare(handle)?;
        plan.made = Some(pack.clone());
        workspace_size_in_bytes.set("workspaceSizeInBytes", bytes)
    })
}

/// `cudnnFusedOpsExecute`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnFusedOpsExecute(handle: In<'_, Handle>, plan: In<'_, FusedPlan>, var_pack: InOut<'_, VariantPack>) -> Status {
    guard("cudnnFusedOpsExecute", || {
        let (handle, plan, pack) = (handle.get("handle")?, plan.get("plan")?, var_pack.get("varPack")?);
        let Some(made) = &plan.made else {
            return Err(Failure::invalid("plan", "a plan that was never made", "one of cudnnMakeFusedOpsPlan"));
        };
        if pack.ops != plan.ops {
            return Err(Failure::invalid("varPack", name("cudnnFusedOps_t", pack.ops), name("cudnnFusedOps_t", plan.ops)));
        }
        made.execute(handle, pack)
    })
}

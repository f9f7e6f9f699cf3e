//! Connectionist temporal classification, computed by `loops::alignment`.

use crate::enums::*;
use crate::handle::Handle;
use crate::loops::alignment;
use crate::pointers::{self, Array, Data, In, InOut, New, Out, Owned};
use crate::status::{Failure, Status, guard};
use crate::tensor::TensorDesc;
use crate::values;
use oxidnn_spec::DataType;

/// The object behind a `cudnnCTCLossDescriptor_t`.
#[derive(Clone, Copy, Debug)]
pub struct CtcDesc {
    compute: i32,
    normalization: i32,
    /// `cudnnCTCGradMode_t`; older functions pass it as `cudnnNanPropagation_t` with the same values.
    gradients: i32,
    longest: i32,
}

impl Owned for CtcDesc {}

impl Default for CtcDesc {
    fn default() -> CtcDesc {
        let (normalization, gradients) = (CUDNN_LOSS_NORMALIZATION_NONE, CUDNN_CTC_ZERO_OOB_GRADIENTS);
        CtcDesc { compute: CUDNN_DATA_FLOAT, normalization, gradients, longest: i32::MAX }
    }
}

impl CtcDesc {
    fn checked(self) -> Result<CtcDesc, Failure> {
        if self.compute != CUDNN_DATA_FLOAT {
            return Err(Failure::invalid("compType", name("cudnnDataType_t", self.compute), "CUDNN_DATA_FLOAT"));
        }
        values::check("normMode", "cudnnLossNormalizationMode_t", self.normalization)?;
        values::check("gradMode", "cudnnCTCGradMode_t", self.gradients)?;
        match self.longest >= 0 {
            true => Ok(self),
            false => Err(Failure::invalid("maxLabelLength", self.longest, "at least 0")),
        }
    }
}

/// The parameters of both executing functions.
struct Call<'a> {
    handle: In<'a, Handle>,
    desc: In<'a, CtcDesc>,
    algo: i32,
    probs: (In<'a, TensorDesc>, Data),
    lists: [Array<'a, i32>; 3],
    costs: Data,
    gradients: (In<'a, TensorDesc>, Data),
}

/// Costs, and gradients if requested.
fn compute(call: Call<'_>) -> Result<(), Failure> {
    let desc = call.desc.get("ctcLossDesc")?;
    values::check("algo", "cudnnCTCLossAlgo_t", call.algo)?;
    let probs = (call.probs.0.tensor("probsDesc")?, call.probs.1.some("probs")?);
    let batch = match probs.0.dims()[..] {
        [_, n, _] if matches!(probs.0.dtype, DataType::F32 | DataType::F64 | DataType::F16 | DataType::Bf16) => n as usize,
        _ => return Err(Failure::shape("probsDesc", probs.0.summary(), "T x N x A of a real type")),
    };
    let gradients = match call.gradients.0.optional() {
        Some(desc) if !call.gradients.1.is_null() => Some((desc.tensor("gradientsDesc")?, call.gradients.1)),
        _ => None,
    };
    let handle = call.handle.get("handle")?;
    crate::loops::view::host(handle)?;
    let label_lengths = call.lists[1].slice("labelLengths", batch)?;
    let input_lengths = call.lists[2].slice("inputLengths", batch)?;
    let mut count = 0usize;
    for &length in label_lengths {
        let known = usize::try_from(length).ok().filter(|_| length <= desc.longest);
        count += known.ok_or_else(|| Failure::invalid("labelLengths", length, format_args!("0 to {}", desc.longest)))?;
    }
    let loss = alignment::Loss {
        handle,
        inputs: probs,
        is_activation: desc.normalization == CUDNN_LOSS_NORMALIZATION_SOFTMAX,
        zero_behind: desc.gradients == CUDNN_CTC_ZERO_OOB_GRADIENTS,
    };
    loss.run(call.lists[0].slice("labels", count)?, [label_lengths, input_lengths], call.costs.some("costs")?, gradients)
}

/// `cudnnCreateCTCLossDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnCreateCTCLossDescriptor(ctc_loss_desc: New<'_, CtcDesc>) -> Status {
    guard("cudnnCreateCTCLossDescriptor", || ctc_loss_desc.own("ctcLossDesc", || Ok(CtcDesc::default())))
}

/// `cudnnDestroyCTCLossDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnDestroyCTCLossDescriptor(desc: pointers::Handle<CtcDesc>) -> Status {
    guard("cudnnDestroyCTCLossDescriptor", || {
        desc.destroy();
        Ok(())
    })
}

/// `cudnnSetCTCLossDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnSetCTCLossDescriptor(ctc_loss_desc: InOut<'_, CtcDesc>, comp_type: i32) -> Status {
    guard("cudnnSetCTCLossDescriptor", || {
        *ctc_loss_desc.get("ctcLossDesc")? = CtcDesc { compute: comp_type, ..CtcDesc::default() }.checked()?;
        Ok(())
    })
}

/// `cudnnSetCTCLossDescriptorEx`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnSetCTCLossDescriptorEx(ctc_loss_desc: InOut<'_, CtcDesc>, comp_type: i32, norm_mode: i32, grad_mode: i32) -> Status {
    guard("cudnnSetCTCLossDescriptorEx", || {
        let desc = CtcDesc { compute: comp_type, normalization: norm_mode, gradients: grad_mode, ..CtcDesc::default() };
        *ctc_loss_desc.get("ctcLossDesc")? = desc.checked()?;
        Ok(())
    })
}

/// `cudnnSetCTCLossDescriptor_v8`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnSetCTCLossDescriptor_v8(
    ctc_loss_desc: InOut<'_, CtcDesc>,
    comp_type: i32,
    norm_mode: i32,
    grad_mode: i32,
    max_label_length: i32,
) -> Status {
    guard("cudnnSetCTCLossDescriptor_v8", || {
        let desc = CtcDesc { compute: comp_type, normalization: norm_mode, gradients: grad_mode, longest: max_label_length };
        *ctc_loss_desc.get("ctcLossDesc")? = desc.checked()?;
        Ok(())
    })
}

/// `cudnnSetCTCLossDescriptor_v9`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnSetCTCLossDescriptor_v9(
    ctc_loss_desc: InOut<'_, CtcDesc>,
    comp_type: i32,
    norm_mode: i32,
    ctc_grad_mode: i32,
    max_label_length: i32,
) -> Status {
    guard("cudnnSetCTCLossDescriptor_v9", || {
        let desc = CtcDesc { compute: comp_type, normalization: norm_mode, gradients: ctc_grad_mode, longest: max_label_length };
        *ctc_loss_desc.get("ctcLossDesc")? = desc.checked()?;
        Ok(())
    })
}

/// `cudnnGetCTCLossDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetCTCLossDescriptor(ctc_loss_desc: In<'_, CtcDesc>, comp_type: Out<'_, i32>) -> Status {
    guard("cudnnGetCTCLossDescriptor", || comp_type.set("compType", ctc_loss_desc.get("ctcLossDesc")?.compute))
}

/// `cudnnGetCTCLossDescriptorEx`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetCTCLossDescriptorEx(
    ctc_loss_desc: In<'_, CtcDesc>,
    comp_type: Out<'_, i32>,
    norm_mode: Out<'_, i32>,
    grad_mode: Out<'_, i32>,
) -> Status {
    guard("cudnnGetCTCLossDescriptorEx", || {
        let desc = ctc_loss_desc.get("ctcLossDesc")?;
        comp_type.set_optional(desc.compute);
        norm_mode.set_optional(desc.normalization);
        grad_mode.set_optional(desc.gradients);
        Ok(())
    })
}

/// `cudnnGetCTCLossDescriptor_v8`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetCTCLossDescriptor_v8(
    ctc_loss_desc: In<'_, CtcDesc>,
    comp_type: Out<'_, i32>,
    norm_mode: Out<'_, i32>,
    grad_mode: Out<'_, i32>,
    max_label_length: Out<'_, i32>,
) -> Status {
    guard("cudnnGetCTCLossDescriptor_v8", || {
        let desc = ctc_loss_desc.get("ctcLossDesc")?;
        comp_type.set_optional(desc.compute);
        norm_mode.set_optional(desc.normalization);
        grad_mode.set_optional(desc.gradients);
        max_label_length.set_optional(desc.longest);
        Ok(())
    })
}

/// `cudnnGetCTCLossDescriptor_v9`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetCTCLossDescriptor_v9(
    ctc_loss_desc: In<'_, CtcDesc>,
    comp_type: Out<'_, i32>,
    norm_mode: Out<'_, i32>,
    ctc_grad_mode: Out<'_, i32>,
    max_label_length: Out<'_, i32>,
) -> Status {
    guard("cudnnGetCTCLossDescriptor_v9", || {
        let desc = ctc_loss_desc.get("ctcLossDesc")?;
        comp_type.set_optional(desc.compute);
        norm_mode.set_optional(desc.normalization);
        ctc_grad_mode.set_optional(desc.gradients);
        max_label_length.set_optional(desc.longest);
        Ok(())
    })
}

/// `cudnnCTCLoss`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnCTCLoss(
    handle: In<'_, Handle>,
    probs_desc: In<'_, TensorDesc>,
    probs: Data,
    host_labels: Array<'_, i32>,
    host_label_lengths: Array<'_, i32>,
    host_input_lengths: Array<'_, i32>,
    costs: Data,
    gradients_desc: In<'_, TensorDesc>,
    gradients: Data,
    algo: i32,
    ctc_loss_desc: In<'_, CtcDesc>,
    _workspace: Data,
    _work_space_size_in_bytes: usize,
) -> Status {
    guard("cudnnCTCLoss", || {
        let (probs, gradients) = ((probs_desc, probs), (gradients_desc, gradients));
        compute(Call {
            handle,
            desc: ctc_loss_desc,
            algo,
            probs,
            lists: [host_labels, host_label_lengths, host_input_lengths],
            costs,
            gradients,
        })
    })
}

/// `cudnnCTCLoss_v8`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnCTCLoss_v8(
    handle: In<'_, Handle>,
    algo: i32,
    ctc_loss_desc: In<'_, CtcDesc>,
    probs_desc: In<'_, TensorDesc>,
    probs: Data,
    labels: Array<'_, i32>,
    label_lengths: Array<'_, i32>,
    input_lengths: Array<'_, i32>,
    costs: Data,
    gradients_desc: In<'_, TensorDesc>,
    gradients: Data,
    _work_space_size_in_bytes: usize,
    _workspace: Data,
) -> Status {
    guard("cudnnCTCLoss_v8", || {
        let (probs, gradients) = ((probs_desc, probs), (gradients_desc, gradients));
        compute(Call { handle, desc: ctc_loss_desc, algo, probs, lists: [labels, label_lengths, input_lengths], costs, gradients })
    })
}

/// `cudnnGetCTCLossWorkspaceSize`: none.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetCTCLossWorkspaceSize(
    handle: In<'_, Handle>,
    probs_desc: In<'_, TensorDesc>,
    _gradients_desc: In<'_, TensorDesc>,
    _labels: Array<'_, i32>,
    _label_lengths: Array<'_, i32>,
    _input_lengths: Array<'_, i32>,
    _algo: i32,
    ctc_loss_desc: In<'_, CtcDesc>,
    size_in_bytes: Out<'_, usize>,
) -> Status {
    guard("cudnnGetCTCLossWorkspaceSize", || {
        handle.get("handle")?;
        ctc_loss_desc.get("ctcLossDesc")?;
        probs_desc.tensor("probsDesc")?;
        size_in_bytes.set("sizeInBytes", 0)
    })
}

/// `cudnnGetCTCLossWorkspaceSize_v8`: none.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetCTCLossWorkspaceSize_v8(
    handle: In<'_, Handle>,
    _algo: i32,
    ctc_loss_desc: In<'_, CtcDesc>,
    probs_desc: In<'_, TensorDesc>,
    _gradients_desc: In<'_, TensorDesc>,
    size_in_bytes: Out<'_, usize>,
) -> Status {
    guard("cudnnGetCTCLossWorkspaceSize_v8", || {
        handle.get("handle")?;
        ctc_loss_desc.get("ctcLossDesc")?;
        probs_desc.tensor("probsDesc")?;
        size_in_bytes.set("sizeInBytes", 0)
    })
}

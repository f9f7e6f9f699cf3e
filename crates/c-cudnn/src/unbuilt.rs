//! Functions of cuDNN that oxidnn has nothing for: each answers `CUDNN_STATUS_NOT_SUPPORTED` and says so. Loaders that resolve every name find them.

use crate::status::{Failure, Status, guard};

/// Writes functions that are not supported. Their parameters are not looked at, so none are declared: on every platform that cuDNN is for, the
/// caller puts them away.
macro_rules! unbuilt {
    ($($name:ident)*) => {
        $(#[doc = concat!("`", stringify!($name), "`: not supported.")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() -> Status {
            guard(stringify!($name), || Err(Failure::unsupported(concat!("oxidnn does not have ", stringify!($name)))))
        })*
    };
}

unbuilt! {
    cudnnGetFoldedConvBackwardDataDescriptors
    cudnnCreateFusedOpsConstParamPack
    cudnnDestroyFusedOpsConstParamPack
    cudnnSetFusedOpsConstParamPackAttribute
    cudnnGetFusedOpsConstParamPackAttribute
    cudnnCreateFusedOpsVariantParamPack
    cudnnDestroyFusedOpsVariantParamPack
    cudnnSetFusedOpsVariantParamPackAttribute
    cudnnGetFusedOpsVariantParamPackAttribute
    cudnnCreateFusedOpsPlan
    cudnnDestroyFusedOpsPlan
    cudnnMakeFusedOpsPlan
    cudnnFusedOpsExecute
    cudnnCreateSeqDataDescriptor
    cudnnDestroySeqDataDescriptor
    cudnnSetSeqDataDescriptor
    cudnnGetSeqDataDescriptor
    cudnnCreateAttnDescriptor
    cudnnDestroyAttnDescriptor
    cudnnSetAttnDescriptor
    cudnnGetAttnDescriptor
    cudnnGetMultiHeadAttnBuffers
    cudnnGetMultiHeadAttnWeights
    cudnnMultiHeadAttnForward
    cudnnMultiHeadAttnBackwardData
    cudnnMultiHeadAttnBackwardWeights
    cudnnB2BCausalConv1dForward
    cudnnB2BCausalConv1dBackward
    cudnnGnnAggSimpleForward
    cudnnGnnAggSimpleBackward
}

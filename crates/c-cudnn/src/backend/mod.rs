//! The backend interface (graphs of operations): not built yet.

use crate::status::{Failure, Status, guard};

/// Writes functions that are not supported.
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
    cudnnBackendCreateDescriptor
    cudnnBackendDestroyDescriptor
    cudnnBackendInitialize
    cudnnBackendFinalize
    cudnnBackendSetAttribute
    cudnnBackendGetAttribute
    cudnnGetExecutionPlanWorkspaceSize
    cudnnBackendExecute
    cudnnBackendPopulateCudaGraph
    cudnnBackendUpdateCudaGraph
}

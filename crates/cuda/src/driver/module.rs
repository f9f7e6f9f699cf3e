//! Modules (loaded cubins), functions and launches.

use super::{Context, CudaError, Current, Stream, check};
use cudarc::driver::sys::{
    self, CUfunction, CUfunction_attribute as Attribute, CUlaunchAttribute, CUlaunchAttributeID, CUlaunchConfig, CUmodule,
};
use std::ffi::{CString, c_void};
use std::sync::Arc;

/// A loaded cubin.
#[derive(Debug)]
pub struct Module {
    raw: CUmodule,
    context: Arc<Context>,
}

// SAFETY: a module is a handle that any thread may use; the driver locks.
unsafe impl Send for Module {}
// SAFETY: as above.
unsafe impl Sync for Module {}

impl Module {
    /// Loads a cubin.
    ///
    /// # Errors
    /// [`CudaError::Call`] if it is not one for this GPU.
    pub fn load(context: &Arc<Context>, cubin: &[u8]) -> Result<Arc<Module>, CudaError> {
        let _current = Current::of(context)?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: writes a handle; reads an image, whose sizes are inside of it. The bytes come from the compiler or passed the store's checks.
        check("cuModuleLoadData", unsafe { sys::cuModuleLoadData(&raw mut raw, cubin.as_ptr().cast()) })?;
        Ok(Arc::new(Module { raw, context: Arc::clone(context) }))
    }

    /// The function called `name`.
    ///
    /// # Errors
    /// [`CudaError::Call`] if there is none.
    pub fn function(self: &Arc<Module>, name: &str) -> Result<Function, CudaError> {
        let _current = Current::of(&self.context)?;
        let name = CString::new(name).unwrap_or_default();
        let mut raw = std::ptr::null_mut();
        // SAFETY: writes a handle; reads a string that ends with a zero.
        check("cuModuleGetFunction", unsafe { sys::cuModuleGetFunction(&raw mut raw, self.raw, name.as_ptr()) })?;
        Ok(Function { raw, module: Arc::clone(self) })
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        if let Ok(_current) = Current::of(&self.context) {
            // SAFETY: made by `load`, unloaded once; functions hold the module.
            unsafe { sys::cuModuleUnload(self.raw) };
        }
    }
}

/// A `__global__` function of a module.
#[derive(Clone, Debug)]
pub struct Function {
    raw: CUfunction,
    /// Keeps the module loaded.
    module: Arc<Module>,
}

// SAFETY: a function is a handle that any thread may use; the driver locks.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

/// The configuration of a launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LaunchShape {
    /// CTAs along each dimension.
    pub grid: [u32; 3],
    /// Threads per CTA.
    pub block: u32,
    /// CTAs per cluster, along the first dimension; 1 for no clusters.
    pub cluster: u32,
    /// Dynamic shared memory in bytes.
    pub shared: u32,
    /// Programmatic dependent launch: CTAs may start while the preceding kernel finishes; the kernel itself waits for that.
    pub overlaps: bool,
    /// Cooperative launch: all CTAs are co-resident, or it fails.
    pub resident: bool,
}

impl Function {
    /// Raises the limit of shared memory (static and dynamic) from 48 KiB to `most` bytes. With lazy loading this also makes the driver load the code now.
    ///
    /// # Errors
    /// [`CudaError::Call`] if the GPU has less.
    pub fn allow(&self, most: u32) -> Result<(), CudaError> {
        let _current = Current::of(&self.module.context)?;
        let mut own = 0;
        // SAFETY: writes one number; the function lives.
        let status = unsafe { sys::cuFuncGetAttribute(&raw mut own, Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, self.raw) };
        check("cuFuncGetAttribute", status)?;
        let dynamic = (most as i32).saturating_sub(own);
        let attribute = Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: the function lives.
        check("cuFuncSetAttribute", unsafe { sys::cuFuncSetAttribute(self.raw, attribute, dynamic) })
    }

    /// Enqueues a launch on the stream, whose context is current; `parameters` point to the values of the kernel's parameters.
    ///
    /// # Errors
    /// [`CudaError::Call`].
    ///
    /// # Safety
    /// The parameters match the function's in number and size, and the memory that they refer to is valid for its accesses until it has completed.
    pub unsafe fn launch(&self, _: &Current, stream: &Stream, shape: LaunchShape, parameters: &mut [*mut c_void]) -> Result<(), CudaError> {
        // SAFETY: a plain C structure, for which zeros are the defaults.
        let mut attributes: [CUlaunchAttribute; 3] = unsafe { std::mem::zeroed() };
        let mut count = 0;
        if shape.cluster > 1 {
            attributes[count].id = CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
            attributes[count].value.clusterDim.x = shape.cluster;
            attributes[count].value.clusterDim.y = 1;
            attributes[count].value.clusterDim.z = 1;
            count += 1;
        }
        if shape.overlaps {
            attributes[count].id = CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
            attributes[count].value.programmaticStreamSerializationAllowed = 1;
            count += 1;
        }
        if shape.resident {
            attributes[count].id = CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
            attributes[count].value.cooperative = 1;
            count += 1;
        }
        let [x, y, z] = shape.grid;
        let config = CUlaunchConfig {
            gridDimX: x,
            gridDimY: y,
            gridDimZ: z,
            blockDimX: shape.block,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: shape.shared,
            hStream: stream.handle(),
            attrs: attributes.as_mut_ptr(),
            numAttrs: count as u32,
        };
        // SAFETY: reads the configuration and the parameters, whose fit is the caller's promise.
        let status = unsafe { sys::cuLaunchKernelEx(&raw const config, self.raw, parameters.as_mut_ptr(), std::ptr::null_mut()) };
        check("cuLaunchKernelEx", status)
    }
}

//! CUDA contexts: the primary one of a GPU, or the user's.

use super::{CudaError, check, load};
use crate::Facts;
use cudarc::driver::sys::{self, CUcontext, CUdevice, CUdevice_attribute as Attribute, CUuuid};
use std::cell::Cell;
use std::sync::Arc;

/// Number of GPUs.
///
/// # Errors
/// [`CudaError`] without a driver.
pub fn count() -> Result<usize, CudaError> {
    load()?;
    let mut n = 0;
    // SAFETY: writes one number.
    check("cuDeviceGetCount", unsafe { sys::cuDeviceGetCount(&raw mut n) })?;
    Ok(n.max(0) as usize)
}

/// A context on a GPU.
#[derive(Debug)]
pub struct Context {
    raw: CUcontext,
    device: CUdevice,
    /// Whether it is the primary context, which this value retains.
    primary: bool,
}

// SAFETY: a context is a handle that any thread may make current.
unsafe impl Send for Context {}
// SAFETY: as above; the driver locks.
unsafe impl Sync for Context {}

impl Context {
    /// The primary context of GPU `ordinal`.
    ///
    /// # Errors
    /// [`CudaError`] if there is none.
    pub fn primary(ordinal: usize) -> Result<Arc<Context>, CudaError> {
        let count = count()?;
        if ordinal >= count {
            return Err(CudaError::NoDevice { ordinal, count });
        }
        let (mut device, mut raw) = (0, std::ptr::null_mut());
        // SAFETY: writes a number; the ordinal is below the count.
        check("cuDeviceGet", unsafe { sys::cuDeviceGet(&raw mut device, ordinal as i32) })?;
        // SAFETY: writes a handle; the device is there.
        check("cuDevicePrimaryCtxRetain", unsafe { sys::cuDevicePrimaryCtxRetain(&raw mut raw, device) })?;
        Ok(Arc::new(Context { raw, device, primary: true }))
    }

    /// The user's context.
    ///
    /// # Errors
    /// [`CudaError`] if the driver does not know it.
    ///
    /// # Safety
    /// `raw` is a `CUcontext` that lives longer than everything made from the result.
    pub unsafe fn of_user(raw: *mut std::ffi::c_void) -> Result<Arc<Context>, CudaError> {
        load()?;
        let mut context = Context { raw: raw.cast(), device: 0, primary: false };
        let mut device = 0;
        {
            let _current = Current::of(&context)?;
            // SAFETY: writes a number; a context is current.
            check("cuCtxGetDevice", unsafe { sys::cuCtxGetDevice(&raw mut device) })?;
        }
        context.device = device;
        Ok(Arc::new(context))
    }

    /// The handle, for calls of the driver.
    pub fn raw(&self) -> *mut std::ffi::c_void {
        self.raw.cast()
    }

    pub(crate) fn device(&self) -> CUdevice {
        self.device
    }

    /// The ordinal of its GPU.
    ///
    /// # Errors
    /// [`CudaError::Call`]; [`CudaError::NoDevice`] for a context on something else, such as a part of a GPU.
    pub fn ordinal(&self) -> Result<usize, CudaError> {
        let count = count()?;
        for ordinal in 0..count {
            let mut device = 0;
            // SAFETY: writes a number; the ordinal is below the count.
            check("cuDeviceGet", unsafe { sys::cuDeviceGet(&raw mut device, ordinal as i32) })?;
            if device == self.device {
                return Ok(ordinal);
            }
        }
        Err(CudaError::NoDevice { ordinal: count, count })
    }

    fn attribute(&self, attribute: Attribute) -> Result<u32, CudaError> {
        let mut value = 0;
        // SAFETY: writes one number.
        check("cuDeviceGetAttribute", unsafe { sys::cuDeviceGetAttribute(&raw mut value, attribute, self.device) })?;
        Ok(value.max(0) as u32)
    }

    /// The properties of the GPU that planning uses.
    ///
    /// # Errors
    /// [`CudaError::Call`].
    pub fn facts(&self) -> Result<Facts, CudaError> {
        let major = self.attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
        let minor = self.attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
        Ok(Facts {
            sm: major * 10 + minor,
            multiprocessors: self.attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
            shared_memory: self.attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
            l2: self.attribute(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?,
            clock: self.attribute(Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE)?,
            memory_clock: self.attribute(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE)?,
            memory_bus: self.attribute(Attribute::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH)?,
        })
    }

    /// The GPU's name.
    ///
    /// # Errors
    /// [`CudaError::Call`].
    pub fn name(&self) -> Result<String, CudaError> {
        let mut name = [0u8; 256];
        // SAFETY: writes at most 256 bytes, ended by a zero.
        check("cuDeviceGetName", unsafe { sys::cuDeviceGetName(name.as_mut_ptr().cast(), 256, self.device) })?;
        let end = name.iter().position(|&b| b == 0).unwrap_or(name.len());
        Ok(String::from_utf8_lossy(&name[..end]).into_owned())
    }

    /// The GPU's UUID.
    ///
    /// # Errors
    /// [`CudaError::Call`].
    pub fn uuid(&self) -> Result<[u8; 16], CudaError> {
        let mut id = CUuuid { bytes: [0; 16] };
        // SAFETY: writes 16 bytes.
        check("cuDeviceGetUuid", unsafe { sys::cuDeviceGetUuid_v2(&raw mut id, self.device) })?;
        Ok(id.bytes.map(|b| b as u8))
    }

    /// Bytes of the GPU's memory.
    ///
    /// # Errors
    /// [`CudaError::Call`].
    pub fn memory(&self) -> Result<usize, CudaError> {
        let mut bytes = 0;
        // SAFETY: writes one number.
        check("cuDeviceTotalMem", unsafe { sys::cuDeviceTotalMem_v2(&raw mut bytes, self.device) })?;
        Ok(bytes)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if self.primary {
            // SAFETY: retained by `primary`, released once.
            unsafe { sys::cuDevicePrimaryCtxRelease_v2(self.device) };
        }
    }
}

thread_local! {
    /// The context that this thread holds a [`Current`] of.
    static HELD: Cell<CUcontext> = const { Cell::new(std::ptr::null_mut()) };
}

/// Makes a context the calling thread's current one until it is dropped. Functions that need a current context take it as proof, so that a sequence of calls
/// makes it current once: inside of another one of the same context it asks nothing of the driver.
#[derive(Debug)]
pub struct Current {
    pushed: bool,
    /// What the thread held before.
    outer: CUcontext,
}

impl Current {
    /// Makes `context` current, if it is not already.
    ///
    /// # Errors
    /// [`CudaError::Call`].
    pub fn of(context: &Context) -> Result<Current, CudaError> {
        let outer = HELD.get();
        if outer == context.raw {
            return Ok(Current { pushed: false, outer });
        }
        let mut now = std::ptr::null_mut();
        // SAFETY: writes a handle.
        check("cuCtxGetCurrent", unsafe { sys::cuCtxGetCurrent(&raw mut now) })?;
        let pushed = now != context.raw;
        if pushed {
            // SAFETY: the context lives.
            check("cuCtxPushCurrent", unsafe { sys::cuCtxPushCurrent_v2(context.raw) })?;
        }
        HELD.set(context.raw);
        Ok(Current { pushed, outer })
    }

    /// Calls code that may make other contexts current, in which therefore the driver is asked again.
    pub fn outside<T>(&self, call: impl FnOnce() -> T) -> T {
        let held = HELD.replace(std::ptr::null_mut());
        let result = call();
        HELD.set(held);
        result
    }
}

impl Drop for Current {
    fn drop(&mut self) {
        HELD.set(self.outer);
        if self.pushed {
            let mut was = std::ptr::null_mut();
            // SAFETY: writes a handle; takes away what `of` put there.
            unsafe { sys::cuCtxPopCurrent_v2(&raw mut was) };
        }
    }
}

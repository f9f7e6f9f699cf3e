//! Device memory: a stream-ordered pool with a budget, copies and fills.

use super::{Context, CudaError, Current, Relaxed, Stream, check};
use cudarc::driver::sys::{
    self, CUmemAllocationHandleType, CUmemAllocationType, CUmemLocation, CUmemLocationType, CUmemPool_attribute, CUmemPoolProps,
    CUmemoryPool, CUresult,
};
use std::sync::Arc;

/// A memory pool of one GPU (`cuMemPool`).
#[derive(Debug)]
pub struct Pool {
    raw: CUmemoryPool,
    context: Arc<Context>,
    /// The stream of allocations that belong to no stream.
    stream: Stream,
}

// SAFETY: a pool is a handle that any thread may use; the driver locks.
unsafe impl Send for Pool {}
// SAFETY: as above.
unsafe impl Sync for Pool {}

impl Pool {
    /// A pool of at most `budget` bytes (0: all memory of the GPU).
    ///
    /// # Errors
    /// [`CudaError::Call`].
    pub fn new(context: &Arc<Context>, budget: usize) -> Result<Arc<Pool>, CudaError> {
        let stream = Stream::new(context)?;
        let _current = Current::of(context)?;
        // SAFETY: a plain C structure, for which zeros are the defaults.
        let mut properties: CUmemPoolProps = unsafe { std::mem::zeroed() };
        properties.allocType = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.handleTypes = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE;
        properties.location = CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: context.device() };
        properties.maxSize = budget;
        let mut raw = std::ptr::null_mut();
        // SAFETY: writes a handle; reads the properties.
        check("cuMemPoolCreate", unsafe { sys::cuMemPoolCreate(&raw mut raw, &raw const properties) })?;
        let mut keep = u64::MAX;
        let threshold = CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
        // SAFETY: reads one 64-bit number.
        check("cuMemPoolSetAttribute", unsafe { sys::cuMemPoolSetAttribute(raw, threshold, (&raw mut keep).cast()) })?;
        Ok(Arc::new(Pool { raw, context: Arc::clone(context), stream }))
    }

    /// Allocates in the order of `stream`; without a stream the memory is zeroed, and usable on all streams on return.
    ///
    /// # Errors
    /// [`CudaError::OutOfMemory`], [`CudaError::Call`].
    pub fn allocate(self: &Arc<Pool>, bytes: usize, stream: Option<&Arc<Stream>>) -> Result<Block, CudaError> {
        let mut address = 0;
        if bytes > 0 {
            let _current = Current::of(&self.context)?;
            // Such an allocation is allowed while the thread captures another stream.
            let _relaxed = Relaxed::new();
            let handle = stream.map_or(self.stream.handle(), |s| s.handle());
            // Rounded up to whole words: kernels access the word that contains the last byte.
            let padded = bytes.checked_next_multiple_of(256).ok_or(CudaError::OutOfMemory { bytes })?;
            // SAFETY: writes an address; pool and stream live.
            match unsafe { sys::cuMemAllocFromPoolAsync(&raw mut address, padded, self.raw, handle) } {
                CUresult::CUDA_ERROR_OUT_OF_MEMORY => return Err(CudaError::OutOfMemory { bytes }),
                status => check("cuMemAllocFromPoolAsync", status)?,
            }
            if stream.is_none() {
                // SAFETY: the memory was just made on this stream.
                check("cuMemsetD8Async", unsafe { sys::cuMemsetD8Async(address, 0, padded, handle) })?;
                self.stream.synchronise()?;
            }
        }
        Ok(Block { address, bytes, pool: Arc::clone(self), stream: stream.cloned() })
    }

    /// Releases unused memory to the system.
    ///
    /// # Errors
    /// [`CudaError::Call`].
    pub fn trim(&self) -> Result<(), CudaError> {
        let _current = Current::of(&self.context)?;
        // SAFETY: the pool lives.
        check("cuMemPoolTrimTo", unsafe { sys::cuMemPoolTrimTo(self.raw, 0) })
    }

    /// Bytes of memory in use.
    ///
    /// # Errors
    /// [`CudaError::Call`].
    pub fn used(&self) -> Result<u64, CudaError> {
        let mut used = 0u64;
        let attribute = CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT;
        // SAFETY: writes one 64-bit number.
        check("cuMemPoolGetAttribute", unsafe { sys::cuMemPoolGetAttribute(self.raw, attribute, (&raw mut used).cast()) })?;
        Ok(used)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        if let Ok(_current) = Current::of(&self.context) {
            // SAFETY: made by `new`, destroyed once; blocks hold the pool.
            unsafe { sys::cuMemPoolDestroy(self.raw) };
        }
    }
}

/// An allocation of a pool; freed in stream order when dropped.
#[derive(Debug)]
pub struct Block {
    address: u64,
    bytes: usize,
    pool: Arc<Pool>,
    stream: Option<Arc<Stream>>,
}

impl Block {
    /// Its address.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Its size.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if self.address != 0
            && let Ok(_current) = Current::of(&self.pool.context)
        {
            let handle = self.stream.as_ref().map_or(self.pool.stream.handle(), |s| s.handle());
            // SAFETY: made by `allocate`, freed once.
            unsafe { sys::cuMemFreeAsync(self.address, handle) };
        }
    }
}

impl Stream {
    /// Copies host memory to the GPU in stream order; on return the host memory may be changed.
    ///
    /// # Errors
    /// [`CudaError::Call`].
    ///
    /// # Safety
    /// The bytes at `to` are device memory of this process.
    pub unsafe fn upload(&self, from: &[u8], to: u64) -> Result<(), CudaError> {
        if from.is_empty() {
            return Ok(());
        }
        let _current = Current::of(self.context())?;
        // SAFETY: reads the slice; the caller answers for the destination.
        check("cuMemcpyHtoDAsync", unsafe { sys::cuMemcpyHtoDAsync_v2(to, from.as_ptr().cast(), from.len(), self.handle()) })?;
        self.synchronise()
    }

    /// Copies device memory to the host after the stream's work so far; synchronous.
    ///
    /// # Errors
    /// [`CudaError::Call`].
    ///
    /// # Safety
    /// The bytes at `from` are device memory of this process.
    pub unsafe fn download(&self, from: u64, to: &mut [u8]) -> Result<(), CudaError> {
        if to.is_empty() {
            return Ok(());
        }
        let _current = Current::of(self.context())?;
        // SAFETY: writes the slice, and `synchronise` waits for that; the caller answers for the source.
        check("cuMemcpyDtoHAsync", unsafe { sys::cuMemcpyDtoHAsync_v2(to.as_mut_ptr().cast(), from, to.len(), self.handle()) })?;
        self.synchronise()
    }

    /// Copies device memory in stream order.
    ///
    /// # Errors
    /// [`CudaError::Call`].
    ///
    /// # Safety
    /// Both ranges are device memory of this process until the copy has completed.
    pub unsafe fn copy(&self, from: u64, to: u64, bytes: usize) -> Result<(), CudaError> {
        if bytes == 0 {
            return Ok(());
        }
        let _current = Current::of(self.context())?;
        // SAFETY: the caller answers for both places.
        check("cuMemcpyDtoDAsync", unsafe { sys::cuMemcpyDtoDAsync_v2(to, from, bytes, self.handle()) })
    }

    /// Sets bytes of device memory in stream order.
    ///
    /// # Errors
    /// [`CudaError::Call`].
    ///
    /// # Safety
    /// The range is device memory of this process until the fill has completed.
    pub unsafe fn fill(&self, to: u64, byte: u8, bytes: usize) -> Result<(), CudaError> {
        if bytes == 0 {
            return Ok(());
        }
        let _current = Current::of(self.context())?;
        // SAFETY: the caller answers for the place.
        check("cuMemsetD8Async", unsafe { sys::cuMemsetD8Async(to, byte, bytes, self.handle()) })
    }
}

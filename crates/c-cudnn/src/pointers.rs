//! Types of C's pointer parameters: objects, results, arrays, text, tensor data. **Apart from the backend's, the only file of this crate
//! that dereferences them.**
//!
//! To C, each type is just a pointer (`repr(transparent)`). Those that are references in Rust (`In`, `InOut`, `Out`) can be created
//! anywhere. The others have no constructor outside of this file, so any value of theirs came from a C caller, who vouches for what cuDNN's
//! documentation requires of the pointer. Every `SAFETY` line here rests on that: a non-null address is valid, aligned and initialised as
//! the parameter's declaration says, for the duration of the call.

use crate::handle::Gpu;
use crate::host_runtime;
use crate::status::Failure;
use oxidnn_cuda::exec::Launches;
use oxidnn_cuda::ragged::Memories;
use oxidnn_cuda::{CudaQueue, driver};
use oxidnn_runtime as runtime;
use oxidnn_spec::{Error, Tensor};
use std::ffi::c_char;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::sync::Arc;

/// A type whose objects C owns through handles, which are boxes.
pub trait Owned: Send + Sync + Sized {}

/// `const T *`, or the handle of an object that is only read.
#[derive(Debug)]
#[repr(transparent)]
pub struct In<'a, T>(Option<&'a T>);

impl<T> Clone for In<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for In<'_, T> {}

impl<'a, T> In<'a, T> {
    /// The object.
    ///
    /// # Errors
    /// `BAD_PARAM_NULL_POINTER`.
    pub fn get(&self, name: &str) -> Result<&'a T, Failure> {
        self.0.ok_or_else(|| Failure::null(name))
    }

    /// The object, if the pointer is not null.
    pub fn optional(&self) -> Option<&'a T> {
        self.0
    }

    /// The pointer itself.
    pub fn address(&self) -> Data {
        Data(self.0.map_or(std::ptr::null_mut(), |object| std::ptr::from_ref(object).cast_mut().cast()))
    }
}

impl<'a, T> From<Option<&'a T>> for In<'a, T> {
    fn from(v: Option<&'a T>) -> In<'a, T> {
        In(v)
    }
}

impl<'a, T> From<&'a T> for In<'a, T> {
    fn from(v: &'a T) -> In<'a, T> {
        In(Some(v))
    }
}

/// The handle of an object that is changed.
#[derive(Debug)]
#[repr(transparent)]
pub struct InOut<'a, T>(Option<&'a mut T>);

impl<'a, T> InOut<'a, T> {
    /// The object.
    ///
    /// # Errors
    /// `BAD_PARAM_NULL_POINTER`.
    pub fn get(self, name: &str) -> Result<&'a mut T, Failure> {
        self.0.ok_or_else(|| Failure::null(name))
    }
}

/// `T *`: where to write a result.
#[derive(Debug)]
#[repr(transparent)]
pub struct Out<'a, T>(Option<&'a mut MaybeUninit<T>>);

impl<T> Out<'_, T> {
    /// Writes the result.
    ///
    /// # Errors
    /// `BAD_PARAM_NULL_POINTER`.
    pub fn set(self, name: &str, value: T) -> Result<(), Failure> {
        self.0.ok_or_else(|| Failure::null(name))?.write(value);
        Ok(())
    }

    /// Writes the result if the pointer is not null.
    pub fn set_optional(self, value: T) {
        if let Some(place) = self.0 {
            place.write(value);
        }
    }

    /// True where the pointer is null.
    pub fn is_null(&self) -> bool {
        self.0.is_none()
    }
}

/// `T **`: where to write a new handle.
#[derive(Debug)]
#[repr(transparent)]
pub struct New<'a, T>(Out<'a, *const T>);

impl<T: Owned> New<'_, T> {
    /// Gives the object to the caller, who must destroy it.
    ///
    /// # Errors
    /// `BAD_PARAM_NULL_POINTER`.
    pub fn own(self, name: &str, make: impl FnOnce() -> Result<T, Failure>) -> Result<(), Failure> {
        if self.0.is_null() {
            return Err(Failure::null(name));
        }
        self.0.set(name, Box::into_raw(Box::new(make()?)))
    }
}

/// The handle of an object to be destroyed.
#[derive(Debug)]
#[repr(transparent)]
pub struct Handle<T>(*mut T);

impl<T: Owned> Handle<T> {
    /// Destroys the object; null is allowed.
    pub fn destroy(self) {
        if !self.0.is_null() {
            // SAFETY: objects of `Owned` types reach C as handles only through `New::own`, and the caller gives each back once.
            drop(unsafe { Box::from_raw(self.0) });
        }
    }
}

/// `const T *`: an array, whose length is another parameter.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Array<'a, T>(*const T, PhantomData<&'a T>);

impl<'a, T> Array<'a, T> {
    /// The `len` elements.
    ///
    /// # Errors
    /// `BAD_PARAM_NULL_POINTER` if elements are expected.
    pub fn slice(&self, name: &str, len: usize) -> Result<&'a [T], Failure> {
        match self.optional(len) {
            Some(elements) => Ok(elements),
            None if len == 0 => Ok(&[]),
            None => Err(Failure::null(name)),
        }
    }

    /// The `len` elements, if the pointer is not null.
    pub fn optional(&self, len: usize) -> Option<&'a [T]> {
        // SAFETY: the caller promised an array of the length in the other parameter.
        (!self.0.is_null()).then(|| unsafe { std::slice::from_raw_parts(self.0, len) })
    }

    /// True where the pointer is null.
    pub fn is_null(&self) -> bool {
        self.0.is_null()
    }
}

/// `T *`: an array to write, whose length is another parameter.
#[derive(Debug)]
#[repr(transparent)]
pub struct ArrayMut<'a, T>(*mut T, PhantomData<&'a mut T>);

impl<T: Copy> ArrayMut<'_, T> {
    /// Copies `elements` to the beginning of the array, which may be uninitialised.
    ///
    /// # Errors
    /// `BAD_PARAM_NULL_POINTER` if there are elements.
    pub fn fill(self, name: &str, elements: &[T]) -> Result<(), Failure> {
        if elements.is_empty() {
            return Ok(());
        }
        if self.0.is_null() {
            return Err(Failure::null(name));
        }
        // SAFETY: the caller promised room for as many elements as the function is documented to write.
        unsafe { std::ptr::copy_nonoverlapping(elements.as_ptr(), self.0, elements.len()) };
        Ok(())
    }

    /// As [`ArrayMut::fill`], if the pointer is not null.
    pub fn fill_optional(self, elements: &[T]) {
        if !self.0.is_null() {
            let _ = self.fill("", elements);
        }
    }

    /// True where the pointer is null.
    pub fn is_null(&self) -> bool {
        self.0.is_null()
    }
}

impl ArrayMut<'_, c_char> {
    /// Writes a zero-terminated string into `room` bytes, truncated if need be.
    pub fn write_text(self, text: &str, room: usize) {
        let Some(room) = room.checked_sub(1) else { return };
        let end = (0..=text.len().min(room)).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        let bytes: Vec<c_char> = text.bytes().take(end).chain([0]).map(|b| b as c_char).collect();
        self.fill_optional(&bytes);
    }
}

/// `void *`: the address of a tensor's data, of a workspace, or of a value whose type is another parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub struct Data(*mut u8);

// SAFETY: just an address; `memory_over` states the rules for using it.
unsafe impl Send for Data {}
// SAFETY: as above.
unsafe impl Sync for Data {}

impl Data {
    /// The null address.
    pub const NULL: Data = Data(std::ptr::null_mut());

    /// True where the pointer is null.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// The address, which must not be null.
    ///
    /// # Errors
    /// `BAD_PARAM_NULL_POINTER`.
    pub fn some(self, name: &str) -> Result<Data, Failure> {
        if self.is_null() { Err(Failure::null(name)) } else { Ok(self) }
    }

    /// This address plus `bytes`.
    pub fn behind(self, bytes: usize) -> Data {
        Data(self.0.wrapping_add(bytes))
    }

    /// The address as an integer.
    pub fn number(self) -> usize {
        self.0.addr()
    }

    /// The address.
    pub fn address(self) -> *mut u8 {
        self.0
    }

    /// The object of which this is the handle; another parameter gives its type.
    ///
    /// # Errors
    /// `BAD_PARAM_NULL_POINTER`.
    pub(crate) fn object<'a, T: Owned>(self, name: &str) -> Result<&'a T, Failure> {
        self.some(name)?;
        // SAFETY: the caller promised the handle of an object of the type in the other parameter.
        Ok(unsafe { &*self.0.cast::<T>() })
    }

    /// As [`Data::object`], mutable.
    ///
    /// # Errors
    /// `BAD_PARAM_NULL_POINTER`.
    pub(crate) fn object_mut<'a, T: Owned>(self, name: &str) -> Result<&'a mut T, Failure> {
        self.some(name)?;
        // SAFETY: as above, and that nothing else uses it during the call.
        Ok(unsafe { &mut *self.0.cast::<T>() })
    }

    /// The address of memory that the library owns. Work that the call queues on a stream of the host's runtime keeps the memory alive.
    pub(crate) fn of(memory: &runtime::Memory<'static>) -> Data {
        host_runtime::lend(memory);
        Data::at(memory)
    }

    /// The same, for memory that outlives its users anyway.
    pub(crate) fn at(memory: &runtime::Memory<'static>) -> Data {
        Data(memory.data_handle(0).unwrap_or(std::ptr::null_mut()))
    }

    /// The address of host bytes that outlive their users and are only read.
    pub(crate) fn of_bytes(bytes: &[u8]) -> Data {
        Data(bytes.as_ptr().cast_mut())
    }

    /// Reads a value from host memory; the address need not be aligned.
    ///
    /// # Errors
    /// `BAD_PARAM_NULL_POINTER`.
    pub fn read<T: bytemuck::AnyBitPattern>(self, name: &str) -> Result<T, Failure> {
        self.some(name)?;
        // SAFETY: the caller promised a value of the type in the other parameter, in host memory.
        Ok(unsafe { self.0.cast::<T>().read_unaligned() })
    }

    /// Writes a value to host memory; the address need not be aligned.
    ///
    /// # Errors
    /// `BAD_PARAM_NULL_POINTER`.
    pub fn write<T: bytemuck::NoUninit>(self, name: &str, value: T) -> Result<(), Failure> {
        self.some(name)?;
        // SAFETY: the caller promised room for a value of the type in the other parameter, in host memory.
        unsafe { self.0.cast::<T>().write_unaligned(value) };
        Ok(())
    }
}

/// Memory at an address that a C caller passed, or in memory that lives longer.
///
/// # Errors
/// [`Error::InvalidArguments`] if memory cannot have this description.
pub(crate) fn memory_over(engine: &runtime::Engine, tensor: Tensor, data: Data) -> Result<runtime::Memory<'static>, Error> {
    // SAFETY: the caller promised that the address holds the tensor until the submitted work is done, and that concurrent calls do not conflict on
    // it.
    unsafe { runtime::Memory::from_raw(engine, tensor, &[data.0]) }
}

/// Moves memory made by [`memory_over`] to another address.
///
/// # Errors
/// [`Error::InvalidArguments`] if memory cannot have this description.
pub(crate) fn repoint(memory: &mut runtime::Memory<'static>, data: Data) -> Result<(), Error> {
    // SAFETY: as for `memory_over`.
    unsafe { memory.set_data_handle(0, data.0) }
}

/// A queue over a CUDA stream that a C caller passed.
pub(crate) fn queue_over(gpu: &Gpu, stream: Data) -> CudaQueue {
    // SAFETY: the caller promised a stream of the GPU's context that lives as long as calls use it.
    CudaQueue::over(&gpu.device, Arc::new(unsafe { driver::Stream::of_user(&gpu.context, stream.0.cast()) }))
}

/// Enqueues a copy of a ragged tensor on a GPU's stream: the caller's tensor, the offsets, and the padded copy.
///
/// # Errors
/// Those of the launch.
pub(crate) fn copy_on_device(stream: &runtime::Stream, launches: &Arc<Launches>, memories: [Data; 3]) -> Result<(), Failure> {
    let places = Memories(memories.map(|data| data.0 as u64));
    let queue = stream.queue().as_any().downcast_ref::<CudaQueue>();
    // SAFETY: the caller promised memory of the GPU's as its tensors and workspace describe it, until the work is done.
    queue.map_or(Ok(()), |queue| unsafe { queue.launch(launches, &places) })?;
    Ok(())
}

/// `bytes` bytes of host memory at an address that a C caller passed.
pub(crate) fn host_bytes<'a>(data: Data, bytes: usize) -> &'a [u8] {
    // SAFETY: the caller promised as many bytes as the tensor's description says, which nobody writes during the call.
    if data.is_null() || bytes == 0 { &[] } else { unsafe { std::slice::from_raw_parts(data.0, bytes) } }
}

/// As [`host_bytes`], mutable: for an output, with one such slice at a time.
pub(crate) fn host_bytes_mut<'a>(data: Data, bytes: usize) -> &'a mut [u8] {
    // SAFETY: the caller promised as many bytes as the tensor's description says, which nobody else uses during the call.
    if data.is_null() || bytes == 0 { &mut [] } else { unsafe { std::slice::from_raw_parts_mut(data.0, bytes) } }
}

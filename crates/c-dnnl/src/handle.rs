//! C's parameters: pointers to objects, to places for results, to arrays, to text, to tensors' data. **The only file of this crate that
//! dereferences them**, except for the object of the caller's thread pool, which is C++ (`threadpool::iface`).
//!
//! Each type is a pointer for C and nothing else (`repr(transparent)`). Those that are references in Rust (`In`, `InOut`, `Out`) may be
//! made anywhere. The others have no constructor outside of tests (except `Data` of a slice, for bodies that pass on memory of their own),
//! so a value in the hands of a body came from a C caller. By calling, the caller promised what the function's documentation says of the
//! pointer. Every `SAFETY` line here rests on that promise: a non-null address is valid, aligned and initialised as the parameter's
//! declaration says, for the duration of the call.
//!
//! An object that C holds is a `Box` ([`Owned`]) or an `Arc` ([`Shared`], where several objects hand out the same address: engines).

use crate::status::Failure;
use oxidnn_runtime as runtime;
use oxidnn_spec::{Error, Tensor};
use std::ffi::{CStr, c_char};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::sync::Arc;

#[cfg(test)]
pub(crate) mod tests;

/// A type whose objects C owns through handles, which are boxes.
pub trait Owned: Send + Sync + Sized {}

/// A type whose objects C and other objects hold by counted references.
pub trait Shared: Send + Sync + Sized {
    /// A new counted reference; `None` if there are none left.
    fn counted(&self) -> Option<Arc<Self>>;
}

/// `const T *`: an object or a value that is read.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct In<'a, T>(Option<&'a T>);

impl<'a, T> In<'a, T> {
    /// The object.
    ///
    /// # Errors
    /// `invalid_arguments` if the pointer is null.
    pub fn get(&self, name: &str) -> Result<&'a T, Failure> {
        self.0.ok_or_else(|| Failure::null(name))
    }

    /// The object, if the pointer is not null.
    pub fn optional(&self) -> Option<&'a T> {
        self.0
    }
}

impl<T: Shared> In<'_, T> {
    /// A counted reference of one's own.
    ///
    /// # Errors
    /// `invalid_arguments` if the pointer is null.
    pub fn share(&self, name: &str) -> Result<Arc<T>, Failure> {
        let gone = || Failure::invalid(name, "an object that was destroyed", "one in use");
        self.get(name)?.counted().ok_or_else(gone)
    }
}

impl<'a, T> From<&'a T> for In<'a, T> {
    fn from(v: &'a T) -> In<'a, T> {
        In(Some(v))
    }
}

impl<'a, T> From<Option<&'a T>> for In<'a, T> {
    fn from(v: Option<&'a T>) -> In<'a, T> {
        In(v)
    }
}

/// `T *`: an object that is changed.
#[derive(Debug)]
#[repr(transparent)]
pub struct InOut<'a, T>(Option<&'a mut T>);

impl<'a, T> InOut<'a, T> {
    /// The object.
    ///
    /// # Errors
    /// `invalid_arguments` if the pointer is null.
    pub fn get(self, name: &str) -> Result<&'a mut T, Failure> {
        self.0.ok_or_else(|| Failure::null(name))
    }
}

impl<'a, T> From<&'a mut T> for InOut<'a, T> {
    fn from(v: &'a mut T) -> InOut<'a, T> {
        InOut(Some(v))
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
    /// `invalid_arguments` if the pointer is null.
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

    /// True if the pointer is null.
    pub fn is_null(&self) -> bool {
        self.0.is_none()
    }
}

impl<'a, T: Copy> From<&'a mut T> for Out<'a, T> {
    fn from(v: &'a mut T) -> Out<'a, T> {
        // SAFETY: `MaybeUninit<T>` has the layout of `T`, and only whole values are written.
        Out(Some(unsafe { &mut *std::ptr::from_mut(v).cast() }))
    }
}

/// `T **`: where to write a new handle.
#[derive(Debug)]
#[repr(transparent)]
pub struct New<'a, T>(Out<'a, *const T>);

impl<T> New<'_, T> {
    /// Fails if the pointer is null, before the object is created.
    ///
    /// # Errors
    /// `invalid_arguments` if the pointer is null.
    pub fn check(&self, name: &str) -> Result<(), Failure> {
        if self.0.is_null() { Err(Failure::null(name)) } else { Ok(()) }
    }

    /// Gives the object to the caller, who must destroy it.
    ///
    /// # Errors
    /// `invalid_arguments` if the pointer is null.
    pub fn own(self, name: &str, object: T) -> Result<(), Failure>
    where
        T: Owned,
    {
        self.check(name)?;
        self.0.set(name, Box::into_raw(Box::new(object)))
    }

    /// Gives a counted reference to the caller, who must destroy it.
    ///
    /// # Errors
    /// `invalid_arguments` if the pointer is null.
    pub fn share(self, name: &str, object: Arc<T>) -> Result<(), Failure>
    where
        T: Shared,
    {
        self.check(name)?;
        self.0.set(name, Arc::into_raw(object))
    }

    /// Lends the caller an object that another one keeps alive.
    ///
    /// # Errors
    /// `invalid_arguments` if the pointer is null.
    pub fn lend(self, name: &str, object: &T) -> Result<(), Failure> {
        self.0.set(name, object)
    }

    /// Returns a null handle: there is no such object.
    ///
    /// # Errors
    /// `invalid_arguments` if the pointer is null.
    pub fn nothing(self, name: &str) -> Result<(), Failure> {
        self.0.set(name, std::ptr::null())
    }
}

impl<'a, T> From<&'a mut *const T> for New<'a, T> {
    fn from(v: &'a mut *const T) -> New<'a, T> {
        New(v.into())
    }
}

/// `T **`: an array to write new handles to.
#[derive(Debug)]
#[repr(transparent)]
pub struct NewArray<'a, T>(ArrayMut<'a, *const T>);

impl<T: Owned> NewArray<'_, T> {
    /// Gives the objects to the caller, who must destroy them.
    ///
    /// # Errors
    /// `invalid_arguments` if the pointer is null.
    pub fn own(self, name: &str, objects: Vec<T>) -> Result<(), Failure> {
        if self.0.is_null() {
            return Err(Failure::null(name));
        }
        let handles: Vec<*const T> = objects.into_iter().map(|o| Box::into_raw(Box::new(o)).cast_const()).collect();
        self.0.fill(name, &handles)
    }
}

/// `T *`: a handle to be destroyed.
#[derive(Debug)]
#[repr(transparent)]
pub struct Handle<T>(*mut T);

impl<T> Handle<T> {
    /// True if the pointer is null.
    pub fn is_null(&self) -> bool {
        self.0.is_null()
    }
}

impl<T: Owned> Handle<T> {
    /// Destroys the object; null is allowed.
    pub fn destroy(self) {
        if !self.0.is_null() {
            // SAFETY: objects of `Owned` types reach C as handles only through `New::own` and `NewArray::own`, and the caller gives each back once.
            drop(unsafe { Box::from_raw(self.0) });
        }
    }
}

impl<T: Shared> Handle<T> {
    /// Drops the caller's reference; null is allowed.
    pub fn release(self) {
        if !self.0.is_null() {
            // SAFETY: objects of `Shared` types reach C as handles only through `New::share`, and the caller gives each back once.
            drop(unsafe { Arc::from_raw(self.0) });
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
    /// `invalid_arguments` if the pointer is null and elements are expected.
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

    /// True if the pointer is null.
    pub fn is_null(&self) -> bool {
        self.0.is_null()
    }

    #[cfg(test)]
    pub(crate) fn of(elements: &'a [T]) -> Array<'a, T> {
        Array(elements.as_ptr(), PhantomData)
    }

    #[cfg(test)]
    pub(crate) fn null() -> Array<'static, T> {
        Array(std::ptr::null(), PhantomData)
    }
}

/// `T *`: an array to write, whose length is another parameter.
#[derive(Debug)]
#[repr(transparent)]
pub struct ArrayMut<'a, T>(*mut T, PhantomData<&'a mut T>);

impl<'a, T: Copy> ArrayMut<'a, T> {
    /// Copies `elements` to the beginning of the array, which may be uninitialised.
    ///
    /// # Errors
    /// `invalid_arguments` if the pointer is null.
    pub fn fill(self, name: &str, elements: &[T]) -> Result<(), Failure> {
        if self.0.is_null() {
            return Err(Failure::null(name));
        }
        // SAFETY: the caller promised room for as many elements as the function is documented to write.
        unsafe { std::ptr::copy_nonoverlapping(elements.as_ptr(), self.0, elements.len()) };
        Ok(())
    }

    /// The `len` elements, which are initialised.
    ///
    /// # Errors
    /// `invalid_arguments` if the pointer is null and elements are expected.
    pub fn slice(self, name: &str, len: usize) -> Result<&'a mut [T], Failure> {
        if len == 0 {
            return Ok(&mut []);
        }
        if self.0.is_null() {
            return Err(Failure::null(name));
        }
        // SAFETY: the caller promised an initialised array of the length in the other parameter, which nobody else uses during the call.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.0, len) })
    }

    /// True if the pointer is null.
    pub fn is_null(&self) -> bool {
        self.0.is_null()
    }

    /// The address.
    pub fn data(&self) -> Data {
        Data(self.0.cast())
    }

    #[cfg(test)]
    pub(crate) fn of(elements: &'a mut [T]) -> ArrayMut<'a, T> {
        ArrayMut(elements.as_mut_ptr(), PhantomData)
    }

    #[cfg(test)]
    pub(crate) fn null() -> ArrayMut<'static, T> {
        ArrayMut(std::ptr::null_mut(), PhantomData)
    }
}

/// `const char *`.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Text<'a>(*const c_char, PhantomData<&'a c_char>);

impl<'a> Text<'a> {
    /// The string.
    ///
    /// # Errors
    /// `invalid_arguments` if the pointer is null or the text is not UTF-8.
    pub fn get(&self, name: &str) -> Result<&'a str, Failure> {
        if self.0.is_null() {
            return Err(Failure::null(name));
        }
        // SAFETY: the caller promised a zero-terminated string.
        let text = unsafe { CStr::from_ptr(self.0) };
        text.to_str().map_err(|_| Failure::invalid(name, "bytes that are not UTF-8", "text"))
    }

    /// True if the pointer is null.
    pub fn is_null(&self) -> bool {
        self.0.is_null()
    }

    #[cfg(test)]
    pub(crate) fn at(text: *const c_char) -> Text<'a> {
        Text(text, PhantomData)
    }
}

/// `void *`: the address of a tensor's data, or of a value whose type is another parameter.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Data(*mut u8);

// SAFETY: just an address; `runtime::Memory::from_raw` states the rules for using it.
unsafe impl Send for Data {}
// SAFETY: as above.
unsafe impl Sync for Data {}

impl<T> From<&mut [T]> for Data {
    fn from(elements: &mut [T]) -> Data {
        Data(elements.as_mut_ptr().cast())
    }
}

impl Data {
    /// `DNNL_MEMORY_ALLOCATE`: the library allocates.
    const ALLOCATE: usize = usize::MAX;

    /// True if the pointer is null.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// True if the library is to allocate.
    pub fn is_allocate(self) -> bool {
        self.0.addr() == Data::ALLOCATE
    }

    /// The null address.
    pub const NULL: Data = Data(std::ptr::null_mut());

    /// The address of an allocation, which must live as long as the memory object that it is for.
    pub(crate) fn own(allocation: &runtime::Allocation) -> Data {
        if allocation.region().is_empty() { Data::NULL } else { Data(allocation.region().as_ptr()) }
    }

    /// The address.
    pub fn address(self) -> *mut u8 {
        self.0
    }

    /// This address plus `bytes`.
    pub fn behind(self, bytes: i64) -> Data {
        Data(self.0.wrapping_offset(bytes as isize))
    }

    /// The `len` addresses that it points to.
    ///
    /// # Errors
    /// `invalid_arguments` if the pointer is null.
    pub fn addresses<'a>(self, name: &str, len: usize) -> Result<&'a [Data], Failure> {
        if self.0.is_null() {
            return Err(Failure::null(name));
        }
        // SAFETY: the caller promised an array of as many addresses, and that it stays until the call that reads them has ended.
        Ok(unsafe { std::slice::from_raw_parts(self.0.cast(), len) })
    }

    /// Copies the value that it points to to `bytes`.
    ///
    /// # Errors
    /// `invalid_arguments` if the pointer is null.
    pub fn read(self, name: &str, bytes: &mut [u8]) -> Result<(), Failure> {
        if self.0.is_null() {
            return Err(Failure::null(name));
        }
        // SAFETY: the caller promised a value of the type in the other parameter, which has the size of `bytes`.
        unsafe { std::ptr::copy_nonoverlapping(self.0, bytes.as_mut_ptr(), bytes.len()) };
        Ok(())
    }

    /// Copies `bytes` to the address.
    ///
    /// # Errors
    /// `invalid_arguments` if the pointer is null.
    pub fn write(self, name: &str, bytes: &[u8]) -> Result<(), Failure> {
        if self.0.is_null() {
            return Err(Failure::null(name));
        }
        // SAFETY: the caller promised room for a value of the type in the other parameter, which has the size of `bytes`.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.0, bytes.len()) };
        Ok(())
    }

    /// Writes a value, the result of a query, to the address.
    ///
    /// # Errors
    /// `invalid_arguments` if the pointer is null.
    pub fn set<T: Copy>(self, name: &str, value: T) -> Result<(), Failure> {
        if self.0.is_null() {
            return Err(Failure::null(name));
        }
        // SAFETY: the caller promised room for a value of the query's type.
        unsafe { self.0.cast::<T>().write_unaligned(value) };
        Ok(())
    }

    #[cfg(test)]
    pub(crate) fn of<T>(value: &mut T) -> Data {
        Data(std::ptr::from_mut(value).cast())
    }
}

/// The `bytes` behind the caller's address.
pub(crate) fn region<'a>(data: Data, bytes: usize) -> runtime::Buf<'a> {
    // SAFETY: the caller promised matrices of the sizes that other parameters say, which nobody writes meanwhile.
    unsafe { runtime::Buf::new(data.0, bytes) }
}

/// Memory at addresses that C callers passed, or that live as long as the memory object.
///
/// # Errors
/// [`Error::InvalidArguments`] if memory cannot have this description, and for a wrong number of addresses.
pub(crate) fn memory_over(engine: &runtime::Engine, tensor: Tensor, data: &[Data]) -> Result<runtime::Memory<'static>, Error> {
    let addresses: Vec<*mut u8> = data.iter().map(|d| d.0).collect();
    // SAFETY: the caller promised that the addresses serve the memory object as long as it uses them, and that executions which share
    // them do not conflict.
    unsafe { runtime::Memory::from_raw(engine, tensor, &addresses) }
}

/// Sets the address of buffer `index` of a memory.
///
/// # Errors
/// [`Error::InvalidArguments`] for host scalars and an index without a buffer.
pub(crate) fn repoint(memory: &mut runtime::Memory<'static>, index: usize, data: Data) -> Result<(), Error> {
    // SAFETY: as for `memory_over`.
    unsafe { memory.set_data_handle(index, data.0) }
}

/// The object that a function under test creates.
#[cfg(test)]
pub(crate) fn made<T: Owned>(make: impl FnOnce(New<'_, T>) -> crate::status::Status) -> Result<Box<T>, crate::status::Status> {
    let mut handle = std::ptr::null();
    match make(New::from(&mut handle)) {
        // SAFETY: the function succeeded, so it wrote a new box there.
        crate::status::Status::Success => Ok(unsafe { Box::from_raw(handle.cast_mut()) }),
        status => Err(status),
    }
}

/// The object behind the pointer of a function under test, inside of `_owner`.
#[cfg(test)]
pub(crate) fn lent<T, O: ?Sized>(pointer: *const T, _owner: &O) -> &T {
    // SAFETY: functions of this crate that lend guarantee that the object lives as long as its owner.
    unsafe { &*pointer }
}

//! Calls by name, checked against the table of signatures. One of the two files with unsafe code.

use crate::error::{PeerError, Status};
use crate::signatures;
use libloading::Library as Dynamic;
use std::ffi::{CString, c_char, c_void};
use std::path::{Path, PathBuf};

/// A pointer to something that the library owns.
pub(crate) type Raw = *mut c_void;

/// An open library.
#[derive(Debug)]
pub(crate) struct Library {
    dynamic: Dynamic,
    path: PathBuf,
}

/// A value that can be passed as one parameter.
pub(crate) trait Value {
    /// Its letter in the table of signatures.
    const TYPE_CODE: char;
    /// The C type of the parameter.
    type C: Copy;
    /// What is passed.
    fn c(&self) -> Self::C;
    /// The number of elements that it counts or has, where the letter has one.
    fn count(&self) -> Option<usize> {
        None
    }
}

/// The arguments of one call: a tuple of values.
pub(crate) trait Arguments {
    /// Their letters.
    fn signature() -> String;
    /// Every number of elements among them.
    fn counts(&self) -> Vec<usize>;
    /// Calls `function`.
    ///
    /// # Safety
    /// `function` must be a C function whose parameters have the types that [`Arguments::signature`] names and whose result is an `R`.
    unsafe fn invoke<R>(&self, function: Raw) -> R;
}

/// Writes [`Arguments`] for tuples of every length.
macro_rules! arguments {
    () => {};
    ($first:ident $($rest:ident)*) => {
        impl<$first: Value, $($rest: Value),*> Arguments for ($first, $($rest,)*) {
            fn signature() -> String {
                [$first::TYPE_CODE, $($rest::TYPE_CODE),*].into_iter().collect()
            }
            #[allow(non_snake_case, reason = "the names of the types name the values too")]
            fn counts(&self) -> Vec<usize> {
                let ($first, $($rest,)*) = self;
                [$first.count(), $($rest.count()),*].into_iter().flatten().collect()
            }
            #[allow(non_snake_case, reason = "the names of the types name the values too")]
            unsafe fn invoke<R>(&self, function: Raw) -> R {
                let ($first, $($rest,)*) = self;
                // SAFETY: the caller vouches that the function has these parameters and this result; a symbol's address is a function pointer.
                let function = unsafe {
                    std::mem::transmute::<Raw, unsafe extern "C" fn($first::C, $($rest::C),*) -> R>(function)
                };
                // SAFETY: as above; every pointer passed comes from a reference or handle that `self` borrows, or is null where that is allowed.
                unsafe { function($first.c(), $($rest.c()),*) }
            }
        }
        arguments!($($rest)*);
    };
}
arguments!(A B C D E F G H I J K L M N O P Q S T U V W X Y Z A1 B1 C1 D1 E1);

/// Results other than a status.
pub(crate) trait Answer {
    /// Its letter after `>` in the table.
    const TYPE_CODE: &'static str;
}
impl Answer for i32 {
    const TYPE_CODE: &'static str = ">i";
}
impl Answer for usize {
    const TYPE_CODE: &'static str = ">z";
}

impl Library {
    /// Opens `path`: a file, or a folder that holds `libdnnl.so.3`.
    pub(crate) fn open(path: &Path) -> Result<Library, PeerError> {
        let file = if path.is_dir() { path.join("libdnnl.so.3") } else { path.to_owned() };
        let failed = |why: String| PeerError::Load { path: file.display().to_string(), why };
        let file = file.canonicalize().map_err(|e| failed(e.to_string()))?;
        // SAFETY: the user names a oneDNN library, whose initialisers and finalisers are those of any shared library of its dependencies.
        let dynamic = unsafe { Dynamic::new(&file) }.map_err(|e| failed(e.to_string()))?;
        Ok(Library { dynamic, path: file })
    }

    /// The file that was opened.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The address of `name` in the library or what it depends on.
    pub(crate) fn symbol(&self, name: &'static str) -> Result<Raw, PeerError> {
        // SAFETY: only the address is taken here; who calls it names its type.
        let symbol = unsafe { self.dynamic.get::<Raw>(name) };
        // SAFETY: the address is used only while `self`, which keeps the library open, is borrowed or owned.
        match symbol.ok().and_then(|s| unsafe { s.try_as_raw_ptr() }) {
            Some(address) if !address.is_null() => Ok(address),
            _ => Err(PeerError::Missing(name)),
        }
    }

    /// Calls a function that answers a status.
    pub(crate) fn call<A: Arguments>(&self, name: &'static str, arguments: A) -> Result<(), PeerError> {
        match self.checked::<i32, A>(name, &arguments, "")? {
            0 => Ok(()),
            status => Err(PeerError::Refused { what: name.into(), status: Status::new(status) }),
        }
    }

    /// Calls a function that answers a number.
    pub(crate) fn ask<R: Answer, A: Arguments>(&self, name: &'static str, arguments: A) -> Result<R, PeerError> {
        self.checked(name, &arguments, R::TYPE_CODE)
    }

    fn checked<R, A: Arguments>(&self, name: &'static str, arguments: &A, result: &str) -> Result<R, PeerError> {
        let passed = A::signature() + result;
        let counts = arguments.counts();
        match signatures::of(name) {
            Some(wanted) if wanted == passed && counts.windows(2).all(|w| w[0] == w[1]) => {}
            wanted => return Err(PeerError::Signature { name, wanted: wanted.unwrap_or("unknown").into(), passed }),
        }
        let function = self.symbol(name)?;
        // SAFETY: the arguments have the types that the table gives for this function, and arrays the lengths that are passed with them.
        Ok(unsafe { arguments.invoke(function) })
    }

    /// Asks an OpenMP runtime that the library brought for `threads` threads in regions started by this thread; false where there is none.
    pub(crate) fn set_openmp_threads(&self, threads: usize) -> bool {
        let (Ok(symbol), Ok(threads)) = (self.symbol("omp_set_num_threads"), i32::try_from(threads)) else { return false };
        // SAFETY: OpenMP declares `void omp_set_num_threads(int)`.
        let set = unsafe { std::mem::transmute::<Raw, unsafe extern "C" fn(i32)>(symbol) };
        // SAFETY: it takes any number.
        unsafe { set(threads) };
        true
    }

    /// The library's version, `3.13.2` for example.
    pub(crate) fn version(&self) -> Option<String> {
        let symbol = self.symbol("dnnl_version").ok()?;
        // SAFETY: the header declares `const dnnl_version_t *dnnl_version(void)`.
        let version = unsafe { std::mem::transmute::<Raw, unsafe extern "C" fn() -> *const [i32; 3]>(symbol) };
        // SAFETY: the answer is a static structure that begins with three ints.
        let [major, minor, patch] = *unsafe { version().as_ref() }?;
        Some(format!("{major}.{minor}.{patch}"))
    }
}

/// An enum, flag or other int.
impl Value for i32 {
    const TYPE_CODE: char = 'i';
    type C = i32;
    fn c(&self) -> i32 {
        *self
    }
}

impl Value for i64 {
    const TYPE_CODE: char = 'l';
    type C = i64;
    fn c(&self) -> i64 {
        *self
    }
}

impl Value for usize {
    const TYPE_CODE: char = 'z';
    type C = usize;
    fn c(&self) -> usize {
        *self
    }
}

impl Value for f32 {
    const TYPE_CODE: char = 'f';
    type C = f32;
    fn c(&self) -> f32 {
        *self
    }
}

/// Sizes, strides or paddings, padded to the 12 that the library may read; null when absent.
#[derive(Clone, Copy)]
pub(crate) struct Sizes(Option<[i64; 12]>);

impl Sizes {
    /// The numbers of `dims`.
    pub(crate) fn of(dims: &[i64]) -> Sizes {
        let mut all = [0; 12];
        all.iter_mut().zip(dims).for_each(|(a, d)| *a = *d);
        Sizes(Some(all))
    }
    /// A null pointer.
    pub(crate) fn none() -> Sizes {
        Sizes(None)
    }
}

impl Value for &Sizes {
    const TYPE_CODE: char = 'd';
    type C = *const i64;
    fn c(&self) -> *const i64 {
        self.0.as_ref().map_or(std::ptr::null(), |d| d.as_ptr())
    }
}

/// A number of dimensions.
#[derive(Clone, Copy)]
pub(crate) struct Rank(i32);

impl Rank {
    /// The length of `dims`.
    pub(crate) fn of(dims: &oxidnn_spec::Dims) -> Rank {
        Rank(dims.len() as i32)
    }
}

impl Value for Rank {
    const TYPE_CODE: char = 'r';
    type C = i32;
    fn c(&self) -> i32 {
        self.0
    }
}

/// The number of elements of the call's arrays, an int.
pub(crate) struct Count(pub(crate) usize);

impl Value for Count {
    const TYPE_CODE: char = 'n';
    type C = i32;
    fn c(&self) -> i32 {
        self.0 as i32
    }
    fn count(&self) -> Option<usize> {
        Some(self.0)
    }
}

/// The same as a 64-bit size.
pub(crate) struct LongCount(pub(crate) usize);

impl Value for LongCount {
    const TYPE_CODE: char = 'N';
    type C = i64;
    fn c(&self) -> i64 {
        self.0 as i64
    }
    fn count(&self) -> Option<usize> {
        Some(self.0)
    }
}

impl Value for &[f32] {
    const TYPE_CODE: char = 'F';
    type C = *const f32;
    fn c(&self) -> *const f32 {
        self.as_ptr()
    }
    fn count(&self) -> Option<usize> {
        Some(self.len())
    }
}

/// Factors, padded; null when absent.
pub(crate) struct Factors(pub(crate) Option<[f32; 12]>);

impl Value for &Factors {
    const TYPE_CODE: char = 'G';
    type C = *const f32;
    fn c(&self) -> *const f32 {
        self.0.as_ref().map_or(std::ptr::null(), |f| f.as_ptr())
    }
}

impl Value for &CString {
    const TYPE_CODE: char = 'c';
    type C = *const c_char;
    fn c(&self) -> *const c_char {
        self.as_ptr()
    }
}

/// The handle that asks the library to allocate.
pub(crate) struct Allocate;

impl Value for Allocate {
    const TYPE_CODE: char = 'V';
    type C = usize;
    fn c(&self) -> usize {
        usize::MAX
    }
}

/// An array of handles that ask the library to allocate.
pub(crate) struct AllocateAll(Vec<usize>);

impl AllocateAll {
    /// `n` of them.
    pub(crate) fn new(n: usize) -> AllocateAll {
        AllocateAll(vec![usize::MAX; n])
    }
}

impl Value for &AllocateAll {
    const TYPE_CODE: char = 'H';
    type C = *const usize;
    fn c(&self) -> *const usize {
        self.0.as_ptr()
    }
    fn count(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

/// The bytes of one number, little-endian.
pub(crate) struct Number(pub(crate) [u8; 8]);

impl Value for &Number {
    const TYPE_CODE: char = 'b';
    type C = *const u8;
    fn c(&self) -> *const u8 {
        self.0.as_ptr()
    }
}

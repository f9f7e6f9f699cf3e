//! The caller's C++ object, by the Itanium C++ ABI of GCC on x86-64 Linux: an object begins with a pointer to its vtable, whose entries are in order of
//! declaration; a `std::function` of libstdc++ is two words of captured data, a manager function, and an invoker function, which gets the address of
//! the data. One of the files with unsafe code.

use crate::handle::Data;
use oxidnn_runtime::threads::CallerPool;
use std::ffi::{c_int, c_void};

/// An object of a class derived from `threadpool_iface`.
#[repr(C)]
struct Object {
    virtuals: *const Virtuals,
}

/// Its virtual functions; the destructors after them are not called.
#[repr(C)]
struct Virtuals {
    get_num_threads: unsafe extern "C" fn(*const Object) -> c_int,
    get_in_parallel: unsafe extern "C" fn(*const Object) -> bool,
    parallel_for: unsafe extern "C" fn(*mut Object, c_int, *const Function),
    get_flags: unsafe extern "C" fn(*const Object) -> u64,
    wait: unsafe extern "C" fn(*mut Object),
}

/// The captured data of a `std::function`: here the address of a [`Body`].
type Captured = [*const c_void; 2];

/// `std::function<void(int, int)>`.
#[repr(C)]
struct Function {
    captured: Captured,
    manage: unsafe extern "C" fn(*mut Captured, *const Captured, c_int) -> bool,
    call: unsafe extern "C" fn(*const Captured, *mut c_int, *mut c_int),
}

/// The parallel work, behind an address of one word.
struct Body<'a>(&'a (dyn Fn(usize) + Sync));

/// The operations of `manage`.
mod ask {
    use std::ffi::c_int;
    pub(super) const TYPE: c_int = 0;
    pub(super) const ADDRESS: c_int = 1;
    pub(super) const COPY: c_int = 2;
}

/// Copies share the body, which outlives them, so there is nothing to destroy. The `type_info` is null: no caller can name the type.
///
/// # Safety
/// As libstdc++ calls it: both addresses are of captured data where the question needs them.
unsafe extern "C" fn manage(to: *mut Captured, from: *const Captured, question: c_int) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        match question {
            ask::TYPE => (*to)[0] = std::ptr::null(),
            ask::ADDRESS => (*to)[0] = from.cast(),
            ask::COPY => *to = *from,
            _ => {}
        }
    }
    false
}

/// Calls the body. A panic does not leave it: executors catch those of tasks, and any other ends the process here.
///
/// # Safety
/// Called by libstdc++: `captured` is the data made by [`Pool::parallel_for`] or a copy of it, while that runs; `index` is the address of a
/// number.
unsafe extern "C" fn call(captured: *const Captured, index: *mut c_int, _count: *mut c_int) {
    // SAFETY: the caller's promise; the body is alive until `parallel_for` returns.
    let (body, index) = unsafe { (&*(*captured)[0].cast::<Body<'_>>(), *index) };
    if let Ok(index) = usize::try_from(index) {
        (body.0)(index);
    }
}

/// `threadpool_iface::ASYNCHRONOUS`: `parallel_for` returns before the work is done.
const ASYNCHRONOUS: u64 = 1;

/// The caller's pool.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pool(*mut Object);

// SAFETY: the interface requires pools to be usable by several threads.
unsafe impl Send for Pool {}
// SAFETY: as above.
unsafe impl Sync for Pool {}

impl Pool {
    /// The pool at an address that a C caller passed; `None` for null. It must live as long as the stream that uses it.
    pub(super) fn at(pool: Data) -> Option<Pool> {
        (!pool.is_null()).then(|| Pool(pool.address().cast()))
    }

    fn virtuals(&self) -> &Virtuals {
        // SAFETY: the C caller promised an object of the class, which is alive as long as the stream is used.
        unsafe { &*(*self.0).virtuals }
    }
}

impl CallerPool for Pool {
    fn threads(&self) -> usize {
        // SAFETY: the object that the function belongs to.
        usize::try_from(unsafe { (self.virtuals().get_num_threads)(self.0) }).unwrap_or(1)
    }

    fn in_parallel(&self) -> bool {
        // SAFETY: the object that the function belongs to.
        unsafe { (self.virtuals().get_in_parallel)(self.0) }
    }

    fn parallel_for(&self, n: usize, body: &(dyn Fn(usize) + Sync)) {
        let body = Body(body);
        let function = Function { captured: [(&raw const body).cast(), std::ptr::null()], manage, call };
        let count = c_int::try_from(n).unwrap_or(c_int::MAX);
        let virtuals = self.virtuals();
        // SAFETY: the object that the functions belong to; the function and its body live until all calls have ended: when `parallel_for`
        // returns, or, of an asynchronous pool, when `wait` does.
        unsafe {
            (virtuals.parallel_for)(self.0, count, &raw const function);
            if (virtuals.get_flags)(self.0) & ASYNCHRONOUS != 0 {
                (virtuals.wait)(self.0);
            }
        }
    }
}

//! Room on the stack. One of the files with unsafe code.
//!
//! Making a primitive needs a deep stack: problems are values of some kilobytes that functions pass to each other. On a thread whose stack
//! is short or of unknown size (a coroutine's), a thread made for the purpose does it, while the calling one waits.

use crate::PrimitiveDesc;
use std::cell::Cell;
use std::thread;

#[cfg(test)]
mod tests;

/// More than making any primitive takes, in a build without optimisation too.
const NEED: usize = 512 << 10;
/// Stack of a thread that is made for it.
const DEEP_STACK_BYTES: usize = 2 << 20;

thread_local! {
    /// The lowest address of the calling thread's stack and the one after the highest; 0 where nobody asked yet.
    static BOUNDS: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

#[cfg(target_os = "linux")]
mod bounds {
    use std::ffi::{c_int, c_void};

    /// `pthread_attr_t`, no larger in any known C library.
    type Attributes = [u64; 16];

    unsafe extern "C" {
        fn pthread_self() -> usize;
        fn pthread_getattr_np(thread: usize, attributes: *mut Attributes) -> c_int;
        fn pthread_attr_getstack(attributes: *const Attributes, start: *mut *mut c_void, size: *mut usize) -> c_int;
        fn pthread_attr_destroy(attributes: *mut Attributes) -> c_int;
    }

    /// Asks the C library for the bounds of the calling thread's stack.
    pub(super) fn ask() -> Option<(usize, usize)> {
        let (mut attributes, mut start, mut size) = ([0; 16], std::ptr::null_mut(), 0);
        // SAFETY: the C library's functions, with the calling thread and places for what they write; attributes are read only where they were
        // written, and destroyed then.
        unsafe {
            if pthread_getattr_np(pthread_self(), &raw mut attributes) != 0 {
                return None;
            }
            let known = pthread_attr_getstack(&raw const attributes, &raw mut start, &raw mut size) == 0;
            pthread_attr_destroy(&raw mut attributes);
            known.then_some((start.addr(), start.addr() + size))
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod bounds {
    /// Nobody is asked.
    pub(super) fn ask() -> Option<(usize, usize)> {
        None
    }
}

/// Whether the calling thread's stack is too short for deep calls.
pub fn is_short() -> bool {
    !has(NEED)
}

/// Tiers of rows that run generated code.
const GENERATED: [&str; 2] = [":jit", ":amx"];
/// Rows among these that run several kernels, which share data on the stack.
const STAGED: [&str; 4] = ["stages:", "staged:", "chunks:", "flash:"];

/// Whether executions are deep: portable rows and the reference keep chunks of tensors on the stack, and executions with open sizes
/// describe problems.
pub fn is_deep(desc: &PrimitiveDesc) -> bool {
    let name = desc.impl_name();
    desc.has_runtime() || !GENERATED.iter().any(|tier| name.contains(tier)) || STAGED.iter().any(|row| name.contains(row))
}

/// Whether the calling thread's stack has `need` bytes to come.
fn has(need: usize) -> bool {
    let marker = 0_u8;
    let at = (&raw const marker).addr();
    let (mut low, mut high) = BOUNDS.get();
    if (low, high) == (0, 0) {
        // Where the system does not say, it is taken for a usual stack.
        (low, high) = bounds::ask().unwrap_or((1, usize::MAX));
        BOUNDS.set((low, high));
    }
    (low..high).contains(&at) && at - low >= need
}

/// The data that one thread hands to another one that it waits for.
struct Handed<T>(T);

// SAFETY: the thread that hands it over waits until the other has ended, so that nobody uses it meanwhile.
unsafe impl<T> Send for Handed<T> {}

impl<T> Handed<T> {
    fn take(self) -> T {
        self.0
    }
}

/// The result of `body`, run on a stack with room. If no thread can be made for that, it runs here.
pub fn deep<T>(body: impl FnOnce() -> T) -> T {
    if has(NEED) {
        return body();
    }
    let mut body = Some(Handed(body));
    let body_of_thread = Handed(&raw mut body);
    thread::scope(|scope| {
        let run = move || {
            // SAFETY: the place lives until the scope ends, and its owner looks at it after this thread has ended, or was never made.
            let body = unsafe { (*body_of_thread.take()).take() };
            Handed(body.map(|body| body.take()()))
        };
        match thread::Builder::new().stack_size(DEEP_STACK_BYTES).spawn_scoped(scope, run) {
            Ok(made) => made.join().map(Handed::take).unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(_) => None,
        }
    })
    .unwrap_or_else(|| body.take().map(|body| body.take()()).unwrap_or_else(|| unreachable!("a thread that was made has called the body")))
}

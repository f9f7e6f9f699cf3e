//! OpenMP's settings and threads, if the process has an OpenMP library: found at run time, because this library does not link to one. One of
//! the files with unsafe code.
//!
//! OpenMP's threads spin after a parallel region, up to 0.2 seconds in some libraries. A program with parallel regions between executions would
//! leave no core for threads of our own. By running on OpenMP's threads we use only as many cores as the program asked for.

use libloading::os::unix::{Library, RTLD_LAZY, Symbol};
use oxidnn_runtime::fork;
use oxidnn_runtime::threads::CallerPool;
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

#[cfg(test)]
mod tests;

/// A function without parameters that returns an integer.
type Ask = Symbol<unsafe extern "C" fn() -> c_int>;

/// Calls a function with the same argument on a number of threads, and returns when all calls have; flags are 0.
type Parallel = Symbol<unsafe extern "C" fn(extern "C" fn(*mut c_void), *mut c_void, c_uint, c_uint)>;

/// An OpenMP library.
struct OpenMp {
    max_threads: Ask,
    in_parallel: Ask,
    thread_num: Ask,
    num_threads: Ask,
    parallel: Option<Parallel>,
    /// Whether a forked child starts threads of its own, as with Intel's and LLVM's OpenMP. GCC's would wait for the parent's threads for ever.
    restarts: bool,
    /// Keeps the library loaded.
    _library: Library,
}

static FOUND: OnceLock<OpenMp> = OnceLock::new();

/// Names of OpenMP libraries that may have been loaded with `RTLD_LOCAL`, so that a search of the process does not find their functions.
const LIBRARIES: [&str; 3] = ["libiomp5.so", "libgomp.so.1", "libomp.so.5"];

/// Flag of `dlopen`: only if the library is already loaded.
const RTLD_NOLOAD: c_int = 4;

/// Looks for a library, which takes 25 system calls, unless one is known or nothing was loaded since the last look.
pub(crate) fn find() {
    static LOOKED: AtomicU64 = AtomicU64::new(u64::MAX);
    let loads = loads();
    if FOUND.get().is_some() || LOOKED.load(Ordering::Relaxed) == loads {
        return;
    }
    let _inside = fork::enter();
    let whole = [Ok(Library::this())].into_iter();
    // SAFETY: no library is loaded here, so no initialiser runs.
    let hidden = LIBRARIES.iter().map(|name| unsafe { Library::open(Some(*name), RTLD_LAZY | RTLD_NOLOAD) });
    if let Some(found) = whole.chain(hidden).flatten().find_map(functions) {
        let _ = FOUND.set(found);
    }
    LOOKED.store(loads, Ordering::Relaxed);
}

/// The loader's record of a library (`dl_iterate_phdr(3)`), up to the fields that are read here.
#[repr(C)]
struct Loaded {
    address: usize,
    name: *const c_char,
    headers: *const c_void,
    header_count: u16,
    loads: u64,
}

/// Number of libraries loaded since the program began.
fn loads() -> u64 {
    unsafe extern "C" {
        fn dl_iterate_phdr(visit: unsafe extern "C" fn(*const Loaded, usize, *mut c_void) -> c_int, data: *mut c_void) -> c_int;
    }
    /// # Safety
    /// Called by the loader with its record of a library, and the address of a number.
    unsafe extern "C" fn visit(library: *const Loaded, size: usize, loads: *mut c_void) -> c_int {
        if size >= size_of::<Loaded>() {
            // SAFETY: the loader's promise, whose record is as long as it says.
            unsafe { *loads.cast() = (*library).loads };
        }
        1
    }
    let mut loads = 0_u64;
    // SAFETY: the C library's function, which ends with the first library, as `visit` says, and calls it with the address of the number.
    unsafe { dl_iterate_phdr(visit, (&raw mut loads).cast()) };
    loads
}

fn functions(library: Library) -> Option<OpenMp> {
    // SAFETY: the OpenMP specification declares functions of these names with this type.
    let ask = |name: &[u8]| unsafe { library.get(name) }.ok();
    let (max_threads, in_parallel) = (ask(b"omp_get_max_threads\0")?, ask(b"omp_in_parallel\0")?);
    let (thread_num, num_threads) = (ask(b"omp_get_thread_num\0")?, ask(b"omp_get_num_threads\0")?);
    // SAFETY: GCC's OpenMP library declares it with this type, and Intel's and LLVM's provide it for programs that GCC compiled.
    let parallel = unsafe { library.get(b"GOMP_parallel\0") }.ok();
    // SAFETY: only looked for, not called.
    let restarts = unsafe { library.get::<Ask>(b"__kmpc_fork_call\0") }.is_ok();
    Some(OpenMp { max_threads, in_parallel, thread_num, num_threads, parallel, restarts, _library: library })
}

/// Number of threads of a parallel region that the calling thread would begin now: 1 inside a region. `None` if no library was found.
pub(crate) fn max_threads() -> Option<usize> {
    let omp = FOUND.get()?;
    // SAFETY: the function may be called at any time, from any thread.
    if unsafe { (omp.in_parallel)() } != 0 {
        return Some(1);
    }
    // SAFETY: as above.
    usize::try_from(unsafe { (omp.max_threads)() }).ok().filter(|n| *n > 0)
}

/// The threads of the process's OpenMP library, at most so many.
pub(crate) struct OpenMpThreads {
    parallel: &'static Parallel,
    most: usize,
}

/// OpenMP's threads, if a usable library was found.
pub(crate) fn threads(most: usize) -> Option<OpenMpThreads> {
    let parallel = FOUND.get()?.parallel.as_ref()?;
    Some(OpenMpThreads { parallel, most })
}

/// The calls that the threads of a region divide statically, so that a thread gets the same part of every job.
struct Region<'a> {
    calls: usize,
    body: &'a (dyn Fn(usize) + Sync),
}

/// The body of every thread of a region.
extern "C" fn calls(region: *mut c_void) {
    // SAFETY: `parallel_for` passes its region, which outlives the threads' calls and is only read.
    let region = unsafe { &*region.cast_const().cast::<Region<'_>>() };
    let Some(omp) = FOUND.get() else { return };
    // SAFETY: the functions may be called at any time, from any thread.
    let [thread, threads] = unsafe { [(omp.thread_num)(), (omp.num_threads)()] }.map(|n| usize::try_from(n).unwrap_or(0));
    (thread..region.calls).step_by(threads.max(1)).for_each(region.body);
}

impl CallerPool for OpenMpThreads {
    fn threads(&self) -> usize {
        max_threads().unwrap_or(1).min(self.most)
    }

    fn in_parallel(&self) -> bool {
        // SAFETY: the function may be called at any time, from any thread.
        FOUND.get().is_some_and(|omp| (fork::process() > 0 && !omp.restarts) || unsafe { (omp.in_parallel)() } != 0)
    }

    fn parallel_for(&self, n: usize, body: &(dyn Fn(usize) + Sync)) {
        let mut region = Region { calls: n, body };
        // SAFETY: the function and its argument fit each other, and the call returns when all threads are done with both. No panic leaves
        // `body`: the runtime guards it, and one that did would end the process.
        unsafe { (self.parallel)(calls, (&raw mut region).cast(), n as c_uint, 0) };
    }
}

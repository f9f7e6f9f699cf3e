//! OpenMP's settings, where the process has an OpenMP library: found at run time, because this library uses none. One of the files with
//! unsafe code.

use libloading::os::unix::{Library, RTLD_LAZY, Symbol};
use std::ffi::c_int;
use std::sync::OnceLock;

#[cfg(test)]
mod tests;

/// A function without parameters that answers with a number.
type Ask = Symbol<unsafe extern "C" fn() -> c_int>;

/// An OpenMP library.
struct OpenMp {
    max_threads: Ask,
    in_parallel: Ask,
    /// Keeps the functions where they are.
    _library: Library,
}

static FOUND: OnceLock<OpenMp> = OnceLock::new();

/// Names of OpenMP libraries that may have been loaded for somebody else alone, which hides their functions from a search of the process.
const LIBRARIES: [&str; 3] = ["libiomp5.so", "libgomp.so.1", "libomp.so.5"];

/// Of `dlopen`: the library, only if it is loaded already.
const RTLD_NOLOAD: c_int = 4;

/// Looks for a library, unless one is known.
pub(crate) fn find() {
    if FOUND.get().is_some() {
        return;
    }
    let whole = [Ok(Library::this())].into_iter();
    // SAFETY: no library is loaded here, so no initialiser runs.
    let hidden = LIBRARIES.iter().map(|name| unsafe { Library::open(Some(*name), RTLD_LAZY | RTLD_NOLOAD) });
    if let Some(found) = whole.chain(hidden).flatten().find_map(functions) {
        let _ = FOUND.set(found);
    }
}

fn functions(library: Library) -> Option<OpenMp> {
    // SAFETY: the OpenMP specification declares functions of these names with this type.
    let ask = |name: &[u8]| unsafe { library.get(name) }.ok();
    let (max_threads, in_parallel) = (ask(b"omp_get_max_threads\0")?, ask(b"omp_in_parallel\0")?);
    Some(OpenMp { max_threads, in_parallel, _library: library })
}

/// How many threads a parallel region that the calling thread began now would have: 1 inside of one. `None` where no library was found.
pub(crate) fn max_threads() -> Option<usize> {
    let omp = FOUND.get()?;
    // SAFETY: the function may be called at any time, from any thread.
    if unsafe { (omp.in_parallel)() } != 0 {
        return Some(1);
    }
    // SAFETY: as above.
    usize::try_from(unsafe { (omp.max_threads)() }).ok().filter(|n| *n > 0)
}

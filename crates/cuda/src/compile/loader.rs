//! The code of one GPU: made once a kernel, whoever asks, and kept.

use super::compile;
use super::files::{HEADERS, kernel};
use crate::Facts;
use crate::driver::{Context, CudaError, Function, Module};
use crate::program::Source;
use oxidnn_runtime::cache::Lru;
use oxidnn_runtime::knobs;
use oxidnn_runtime::store::{Installed, Store, digest, user_folder};
use std::collections::HashSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// Modules that stay loaded although nobody uses them.
const KEPT: usize = 4096;

/// Loads kernels into a context. Two threads that want the same kernel at the same time get what one of them makes.
pub struct Loader {
    context: Arc<Context>,
    architecture: String,
    overlaps: bool,
    /// The digest of the files that kernels include.
    headers: String,
    installed: Option<Installed>,
    store: Option<Store>,
    state: Mutex<State>,
    landed: Condvar,
}

struct State {
    ready: Lru<Arc<Source>, Function>,
    /// Kernels that some thread is making.
    making: HashSet<Arc<Source>>,
    /// Compilations so far.
    compiled: usize,
}

/// A kernel that this thread makes. However that ends, those who wait for it go on.
struct Flight<'a> {
    loader: &'a Loader,
    source: &'a Arc<Source>,
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        self.loader.state.lock().unwrap_or_else(PoisonError::into_inner).making.remove(self.source);
        self.loader.landed.notify_all();
    }
}

impl fmt::Debug for Loader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Loader({})", self.architecture)
    }
}

impl Loader {
    /// A loader for the GPU of `context`.
    pub fn new(context: &Arc<Context>, facts: &Facts) -> Loader {
        let state = State { ready: Lru::new(KEPT, usize::MAX), making: HashSet::new(), compiled: 0 };
        Loader {
            context: Arc::clone(context),
            architecture: facts.architecture(),
            overlaps: facts.sm >= 90,
            headers: headers(),
            installed: installed(),
            store: store(),
            state: Mutex::new(state),
            landed: Condvar::new(),
        }
    }

    /// Whether the GPU starts blocks of a launch while the one before ends, where they wait for it themselves.
    pub fn overlaps(&self) -> bool {
        self.overlaps
    }

    /// Kernels that were compiled so far.
    pub fn compiled(&self) -> usize {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).compiled
    }

    /// The function of a kernel, which may have `shared` bytes of shared memory at a launch: as many at every call for the same kernel.
    ///
    /// # Errors
    /// [`CudaError`] where it does not compile or load.
    pub fn function(&self, source: &Arc<Source>, shared: u32) -> Result<Function, CudaError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(function) = state.ready.get(source) {
                return Ok(function.clone());
            }
            if !state.making.contains(source) {
                break;
            }
            state = self.landed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.making.insert(Arc::clone(source));
        drop(state);
        let _flight = Flight { loader: self, source };
        let made = self.make(source, shared);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let gone = match &made {
            Ok(function) => state.ready.insert(Arc::clone(source), function.clone(), 1),
            Err(_) => Vec::new(),
        };
        drop(state);
        drop(gone);
        made
    }

    fn make(&self, source: &Source, shared: u32) -> Result<Function, CudaError> {
        let key = key(source, &self.architecture, &self.headers);
        let load = |cubin: Vec<u8>| Module::load(&self.context, &cubin).ok()?.function(source.file, shared).ok();
        let (installed, store) = (self.installed.as_ref(), self.store.as_ref());
        let kept = installed.and_then(|s| s.get(&key)).and_then(load).or_else(|| store.and_then(|s| s.get(&key)).and_then(load));
        if let Some(function) = kept {
            return Ok(function);
        }
        let cubin = compile(source, &self.architecture)?;
        self.state.lock().unwrap_or_else(PoisonError::into_inner).compiled += 1;
        if let Some(store) = &self.store {
            // Code that cannot be kept is compiled again next time.
            let _ = store.put(&key, &cubin);
        }
        Module::load(&self.context, &cubin)?.function(source.file, shared)
    }
}

/// The digest of the files that kernels include.
fn headers() -> String {
    let files: String = HEADERS.iter().map(|h| h.1).collect();
    format!("{:032x}", digest(files.as_bytes()))
}

/// Everything that a cubin depends on.
fn key(source: &Source, architecture: &str, headers: &str) -> Vec<u8> {
    let (text, _) = kernel(source.file).unwrap_or_default();
    let text = format!("{:032x}", digest(text.as_bytes()));
    [env!("CARGO_PKG_VERSION"), architecture, source.file, headers, &text, &source.options, &source.header].join("\0").into_bytes()
}

/// Compiles a kernel for `architecture` into a store, before anybody needs it and without a GPU; false where it is there already.
///
/// # Errors
/// [`CudaError::Missing`] without NVRTC, [`CudaError::Compile`], [`CudaError::Store`] where it cannot be kept.
pub fn prebuild(source: &Source, architecture: &str, store: &Store) -> Result<bool, CudaError> {
    let key = key(source, architecture, &headers());
    if store.get(&key).is_some() {
        return Ok(false);
    }
    let cubin = compile(source, architecture)?;
    store.put(&key, &cubin).map_err(|e| CudaError::Store { why: e.to_string() })?;
    Ok(true)
}

/// The folder with kernels that were compiled before and installed with the engine: beside the library or program that it is part of, or in the `lib` beside a
/// program's `bin`.
const INSTALLED: &str = "oxidnn-kernels";

/// The kernels that were installed with the engine; none where there are none, or others may write there.
fn installed() -> Option<Installed> {
    let file = home()?;
    let folder = file.parent()?;
    [folder.join(INSTALLED), folder.join("../lib").join(INSTALLED)].into_iter().find_map(|dir| Installed::open(dir).ok())
}

/// The library or program that this code is part of, as the system lists what is mapped where; none on systems that do not.
fn home() -> Option<PathBuf> {
    let here = home as *const () as u64;
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let is_ours = |line: &&str| {
        let number = |text| u64::from_str_radix(text, 16).ok();
        let bounds = line.split(' ').next().and_then(|range| range.split_once('-'));
        bounds.and_then(|(from, to)| Some((number(from)?..number(to)?).contains(&here))) == Some(true)
    };
    let line = maps.lines().find(is_ours)?;
    line.find('/').map(|at| PathBuf::from(&line[at..]))
}

/// The store of the user's cache directory, as the knob `KERNEL_STORE` has it; none where there is no such directory or others may write there.
pub fn store() -> Option<Store> {
    let budget = knobs::get().kernel_store as u64;
    Store::open(user_folder("cubin")?, budget).ok().filter(|_| budget > 0)
}

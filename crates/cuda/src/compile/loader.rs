//! The loader of one GPU: compiles and loads each kernel once.
//!
//! A kernel is looked up in memory, in the installed kernels (`oxidnn-kernels`), and in the kernel store of the user's cache directory; otherwise NVRTC
//! compiles it, and the cubin goes to the store. The key is everything that a cubin depends on: version, architecture, source text, headers, options and
//! generated header; a change of any of them, a comment included, is a miss.

use super::ahead::Ahead;
use super::compile;
use super::files::{HEADERS, kernel};
use crate::Facts;
use crate::driver::{Context, CudaError, Function, Module, Relaxed};
use crate::program::Source;
use oxidnn_runtime::cache::Lru;
use oxidnn_runtime::knobs;
use oxidnn_runtime::store::{Installed, Store, digest, user_folder};
use std::collections::HashSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

/// Modules that stay loaded while unused, at most.
const KEPT: usize = 4096;
/// Kernels of a file that are preloaded, at most; a kernel takes some 30 KiB of device memory and 0.1 ms of a thread (H200).
const AHEAD: usize = 512;
/// Loaded modules beyond which nothing is preloaded, so that preloading evicts nothing that was used.
const ROOM: usize = KEPT / 2;

/// The files of products and convolutions, and of the copies around them: a program that uses one of them is likely to use others.
const PRODUCTS: &[&str] = &[
    "gemm_sm90",
    "conv_sm90",
    "gemm_sm80",
    "conv_weights_sm90",
    "gemm_f32",
    "products",
    "conv_planar_sm90",
    "conv_window_sm90",
    "conv_groups_sm80",
    "gemv",
];
const COPIES: &[&str] = &["transpose", "align", "reduce_parts", "map", "window_pack", "window_weights", "add_parts", "dots"];

/// Loads kernels into a context. If several threads want the same kernel, one of them makes it and the others wait.
///
/// A background thread preloads kernels that are installed or stored: those of products at once if there are installed kernels; when a kernel is used for the
/// first time, the others of its file, and if it is one of a product, those of all products.
pub struct Loader {
    kernels: Arc<Kernels>,
    ahead: Ahead,
}

/// State shared by callers and the preloading thread.
struct Kernels {
    context: Arc<Context>,
    architecture: String,
    overlaps: bool,
    /// Maximum shared memory of a CTA, in bytes.
    shared: u32,
    /// The digest of all headers.
    headers: String,
    installed: Option<Installed>,
    store: Option<Store>,
    state: Mutex<State>,
    landed: Condvar,
    /// The keys of the store and of the installed kernels, as they were when first listed.
    listed: OnceLock<Vec<Vec<u8>>>,
}

struct State {
    ready: Lru<Arc<Source>, Function>,
    /// Kernels that are being made by some thread.
    making: HashSet<Arc<Source>>,
    /// Number of compilations.
    compiled: usize,
}

/// Marks a kernel as being made by this thread; wakes the waiting threads when dropped, also after an error.
struct Flight<'a> {
    kernels: &'a Kernels,
    source: &'a Arc<Source>,
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        self.kernels.state().making.remove(self.source);
        self.kernels.landed.notify_all();
    }
}

impl fmt::Debug for Loader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Loader({})", self.kernels.architecture)
    }
}

impl Loader {
    /// A loader for the GPU of `context`.
    pub fn new(context: &Arc<Context>, facts: &Facts) -> Loader {
        let state = State { ready: Lru::new(KEPT, usize::MAX), making: HashSet::new(), compiled: 0 };
        let kernels = Arc::new(Kernels {
            context: Arc::clone(context),
            architecture: facts.architecture(),
            overlaps: facts.sm >= 90,
            shared: facts.shared_memory,
            headers: headers(),
            installed: installed(),
            store: store(),
            state: Mutex::new(state),
            landed: Condvar::new(),
            listed: OnceLock::new(),
        });
        let shared = Arc::clone(&kernels);
        let ahead = Ahead::new(Box::new(move |file| {
            let kernels = Arc::clone(&shared);
            Box::new(kernels.kept_of(file).into_iter().map(move |source| kernels.prepare(&source)))
        }));
        let loader = Loader { kernels, ahead };
        // Installed kernels are there for a fast first result.
        if loader.kernels.installed.is_some() {
            loader.prepare_products();
        }
        loader
    }

    fn prepare_products(&self) {
        PRODUCTS.iter().chain(COPIES).for_each(|file| self.ahead.prepare(file));
    }

    /// Whether the GPU has programmatic dependent launch.
    pub fn overlaps(&self) -> bool {
        self.kernels.overlaps
    }

    /// Number of kernels compiled so far.
    pub fn compiled(&self) -> usize {
        self.kernels.state().compiled
    }

    /// The function of a kernel.
    ///
    /// # Errors
    /// [`CudaError`] if it does not compile or load.
    pub fn function(&self, source: &Arc<Source>) -> Result<Function, CudaError> {
        let (function, is_new) = self.kernels.function(source, || self.kernels.make(source))?;
        if is_new {
            self.ahead.hurry(source.file);
            if PRODUCTS.contains(&source.file) {
                self.prepare_products();
            }
        }
        Ok(function)
    }
}

impl Kernels {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The function of a kernel, made by `make` if it is not loaded; and whether it was made.
    fn function(&self, source: &Arc<Source>, make: impl FnOnce() -> Result<Function, CudaError>) -> Result<(Function, bool), CudaError> {
        let mut state = self.state();
        loop {
            if let Some(function) = state.ready.get(source) {
                return Ok((function.clone(), false));
            }
            if !state.making.contains(source) {
                break;
            }
            state = self.landed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.making.insert(Arc::clone(source));
        drop(state);
        let _flight = Flight { kernels: self, source };
        let function = make()?;
        let gone = self.state().ready.insert(Arc::clone(source), function.clone(), 1);
        drop(gone);
        Ok((function, true))
    }

    fn load(&self, file: &str, cubin: &[u8]) -> Result<Function, CudaError> {
        let function = Module::load(&self.context, cubin)?.function(file)?;
        function.allow(self.shared)?;
        Ok(function)
    }

    /// A kernel that is installed, or in the store, which is read by `get`.
    fn kept(&self, source: &Source, key: &[u8], get: impl Fn(&Store, &[u8]) -> Option<Vec<u8>>) -> Option<Function> {
        let load = |cubin: Vec<u8>| self.load(source.file, &cubin).ok();
        let (installed, store) = (self.installed.as_ref(), self.store.as_ref());
        installed.and_then(|s| s.get(key)).and_then(load).or_else(|| store.and_then(|s| get(s, key)).and_then(load))
    }

    fn make(&self, source: &Source) -> Result<Function, CudaError> {
        let key = self.key(source);
        if let Some(function) = self.kept(source, &key, Store::get) {
            return Ok(function);
        }
        let cubin = compile(source, &self.architecture)?;
        self.state().compiled += 1;
        if let Some(store) = &self.store {
            // A cubin that cannot be stored is compiled again by the next process.
            let _ = store.put(&key, &cubin);
        }
        self.load(source.file, &cubin)
    }

    fn key(&self, source: &Source) -> Vec<u8> {
        key(source, &self.architecture, &self.headers)
    }

    /// The installed and stored kernels of a file; those of the store come first, most recently used first.
    fn kept_of(&self, file: &'static str) -> Vec<Arc<Source>> {
        let listed = self.listed.get_or_init(|| {
            let (store, installed) = (self.store.as_ref(), self.installed.as_ref());
            [store.map(Store::keys), installed.map(Installed::keys)].into_iter().flatten().flatten().collect()
        });
        let empty = Source { file, options: Arc::from(""), header: Arc::from("") };
        // The key up to the options, and one more separator, which is removed below.
        let before = self.key(&empty);
        let source = |key: &Vec<u8>| {
            let rest = std::str::from_utf8(key.strip_prefix(&before[..before.len() - 1])?).ok()?;
            let (options, header) = rest.split_once(SEPARATOR)?;
            Some(Arc::new(Source { file, options: Arc::from(options), header: Arc::from(header) }))
        };
        listed.iter().filter_map(source).take(AHEAD).collect()
    }

    /// Preloads a kernel that is installed or stored; one that cannot be loaded is made on demand.
    fn prepare(&self, source: &Arc<Source>) {
        if self.state().ready.len() >= ROOM {
            return;
        }
        let _relaxed = Relaxed::new();
        let absent = || CudaError::Store { why: "no such kernel".into() };
        let load = || self.kept(source, &self.key(source), Store::peek).ok_or_else(absent);
        let _ = self.function(source, load);
    }
}

/// The digest of all headers.
fn headers() -> String {
    let files: String = HEADERS.iter().map(|h| h.1).collect();
    format!("{:032x}", digest(files.as_bytes()))
}

/// Separates the parts of a key.
const SEPARATOR: &str = "\0";

/// Everything that a cubin depends on.
fn key(source: &Source, architecture: &str, headers: &str) -> Vec<u8> {
    let (text, _) = kernel(source.file).unwrap_or_default();
    let text = format!("{:032x}", digest(text.as_bytes()));
    [env!("CARGO_PKG_VERSION"), architecture, source.file, headers, &text, &source.options, &source.header].join(SEPARATOR).into_bytes()
}

/// Compiles a kernel for `architecture` into a store, without a GPU; false if the store has it.
///
/// # Errors
/// [`CudaError::Missing`] without NVRTC, [`CudaError::Compile`], [`CudaError::Store`] if it cannot be stored.
pub fn prebuild(source: &Source, architecture: &str, store: &Store) -> Result<bool, CudaError> {
    let key = key(source, architecture, &headers());
    if store.get(&key).is_some() {
        return Ok(false);
    }
    let cubin = compile(source, architecture)?;
    store.put(&key, &cubin).map_err(|e| CudaError::Store { why: e.to_string() })?;
    Ok(true)
}

/// The folder of kernels that are installed with the engine: beside the library or program that contains this code, or in the `lib` beside a program's `bin`.
const INSTALLED: &str = "oxidnn-kernels";

/// The installed kernels; `None` if there are none, or if others may write there.
fn installed() -> Option<Installed> {
    let file = home()?;
    let folder = file.parent()?;
    [folder.join(INSTALLED), folder.join("../lib").join(INSTALLED)].into_iter().find_map(|dir| Installed::open(dir).ok())
}

/// The file of the library or program that contains this code, from `/proc/self/maps`; `None` on systems without it.
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

/// The kernel store in the user's cache directory, of the size of the knob `KERNEL_STORE`; `None` if it is 0, there is no such directory, or others may
/// write there.
pub fn store() -> Option<Store> {
    let budget = knobs::get().kernel_store as u64;
    Store::open(user_folder("cubin")?, budget).ok().filter(|_| budget > 0)
}

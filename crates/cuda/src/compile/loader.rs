//! The code of one GPU: made once a kernel, whoever asks, and kept.

use super::compile;
use crate::Facts;
use crate::driver::{Context, CudaError, Function, Module};
use crate::program::Source;
use oxidnn_runtime::cache::Lru;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// Modules that stay loaded although nobody uses them.
const KEPT: usize = 4096;

/// Loads kernels into a context. Two threads that want the same kernel at the same time get what one of them makes.
pub struct Loader {
    context: Arc<Context>,
    architecture: String,
    state: Mutex<State>,
    landed: Condvar,
}

struct State {
    ready: Lru<Arc<Source>, Function>,
    /// Kernels that some thread is making.
    making: HashMap<Arc<Source>, ()>,
    /// Compilations so far.
    compiled: usize,
}

impl fmt::Debug for Loader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Loader({})", self.architecture)
    }
}

impl Loader {
    /// A loader for the GPU of `context`.
    pub fn new(context: &Arc<Context>, facts: &Facts) -> Loader {
        let state = State { ready: Lru::new(KEPT, usize::MAX), making: HashMap::new(), compiled: 0 };
        Loader { context: Arc::clone(context), architecture: facts.architecture(), state: Mutex::new(state), landed: Condvar::new() }
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
            if !state.making.contains_key(source) {
                break;
            }
            state = self.landed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.making.insert(Arc::clone(source), ());
        drop(state);
        let made = self.make(source, shared);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.making.remove(source);
        state.compiled += 1;
        let gone = match &made {
            Ok(function) => state.ready.insert(Arc::clone(source), function.clone(), 1),
            Err(_) => Vec::new(),
        };
        drop(state);
        self.landed.notify_all();
        drop(gone);
        made
    }

    fn make(&self, source: &Source, shared: u32) -> Result<Function, CudaError> {
        let cubin = compile(source, &self.architecture)?;
        Module::load(&self.context, &cubin)?.function(source.file, shared)
    }
}

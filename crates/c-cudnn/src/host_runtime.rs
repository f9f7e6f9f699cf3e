//! Executions on the asynchronous streams and in the graphs of the host's CUDA runtime (`c-cudart`), if the process has it. One of the files
//! with unsafe code.
//!
//! On the CPU engine an execution is done when the call returns, unless the handle's stream belongs to that runtime and has a thread of its
//! own or is being captured: then it is queued there, together with the memory that it needs.

use crate::handle::Handle;
use crate::logging;
use crate::pointers::{self, Data, In, Owned};
use crate::status::Failure;
use oxidnn_runtime::{Memory, fork};
use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_void};
use std::sync::OnceLock;

/// Where executions go: run now, or queued on a stream or graph of the host's runtime.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sink {
    /// Executed, or submitted to the handle's own stream, before the call returns.
    Now,
    /// A stream of the host's runtime.
    Stream(Data),
    /// A graph of the host's runtime.
    Graph(Data),
}

/// Work that may run several times, held by the runtime.
struct Deferred(Box<dyn Fn() -> Result<(), Failure> + Send + Sync>);

impl Owned for Deferred {}

type Run = extern "C" fn(In<'_, Deferred>) -> i32;
type End = extern "C" fn(pointers::Handle<Deferred>);
type Give = extern "C" fn(Data, Run, End, Data) -> i32;
type Ask = extern "C" fn(Data) -> i32;

thread_local! {
    /// The library's own memory whose addresses the thread's current call uses.
    static LENT: RefCell<Vec<Memory<'static>>> = const { RefCell::new(Vec::new()) };
}

/// A view of all of a memory's bytes.
fn view(memory: &Memory<'static>) -> Option<Memory<'static>> {
    memory.view(memory.tensor().clone()).ok()
}

/// Records until the end of the call that the address of a memory is used.
pub(crate) fn lend(memory: &Memory<'static>) {
    LENT.with_borrow_mut(|lent| lent.extend(view(memory)));
}

/// Views of that memory, for deferred work.
pub(crate) fn lent() -> Vec<Memory<'static>> {
    LENT.with_borrow(|lent| lent.iter().filter_map(view).collect())
}

/// Clears the record at the end of the call.
pub(crate) fn forget() {
    let gone = LENT.take();
    drop(gone);
}

/// Functions of the runtime.
struct Runtime {
    defers: Ask,
    submit: Give,
    append: Give,
    clear: Ask,
    settle: Ask,
}

unsafe extern "C" {
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// The address of a symbol of the process.
fn symbol(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: the C library's function; null asks for the whole process, and the name ends with a zero.
    let found = unsafe { dlsym(std::ptr::null_mut(), name.as_ptr()) };
    (!found.is_null()).then_some(found)
}

/// The host's runtime, if the process has it.
fn runtime() -> Option<&'static Runtime> {
    static FOUND: OnceLock<Option<Runtime>> = OnceLock::new();
    let find = || {
        // NVIDIA's library has none of these names, so its `cudaStreamSynchronize` is never taken.
        let [defers, submit] = [symbol(c"oxidnnCudartDefers")?, symbol(c"oxidnnCudartSubmit")?];
        let [append, clear] = [symbol(c"oxidnnCudartAppend")?, symbol(c"oxidnnCudartClear")?];
        let settle = symbol(c"cudaStreamSynchronize")?;
        // SAFETY: the functions of these names have these types (`crates/c-cudart/src/graph.rs` and `stream.rs`).
        unsafe {
            Some(Runtime {
                defers: std::mem::transmute::<*mut c_void, Ask>(defers),
                submit: std::mem::transmute::<*mut c_void, Give>(submit),
                append: std::mem::transmute::<*mut c_void, Give>(append),
                clear: std::mem::transmute::<*mut c_void, Ask>(clear),
                settle: std::mem::transmute::<*mut c_void, Ask>(settle),
            })
        }
    };
    fork::once(&FOUND, find).as_ref()
}

/// Whether the process has that runtime.
pub(crate) fn is_there() -> bool {
    runtime().is_some()
}

/// Runs the work, and reports failures to the logging callback and the runtime, because the call has returned.
extern "C" fn run(work: In<'_, Deferred>) -> i32 {
    let result = work.get("work").and_then(|work| crate::status::caught(|| (work.0)()));
    if let Err(failure) = result {
        logging::failed("work of a stream", failure.status, &format!("{}: {}", failure.status.name(), failure.message));
        return failure.status.0;
    }
    0
}

extern "C" fn end(work: pointers::Handle<Deferred>) {
    work.destroy();
}

impl Sink {
    /// Where executions of a handle go whose stream belongs to the host's runtime.
    pub(crate) fn of(handle: &Handle) -> Sink {
        let stream = handle.given_stream();
        match runtime() {
            Some(runtime) if handle.engine().host_visible() && (runtime.defers)(stream) != 0 => Sink::Stream(stream),
            _ => Sink::Now,
        }
    }

    /// Submits work.
    ///
    /// # Errors
    /// `BAD_PARAM` if the runtime refuses the stream or the graph.
    pub(crate) fn give(self, work: impl Fn() -> Result<(), Failure> + Send + Sync + 'static) -> Result<(), Failure> {
        let (give, to, name) = match (self, runtime()) {
            (Sink::Stream(stream), Some(runtime)) => (runtime.submit, stream, "the handle's stream"),
            (Sink::Graph(graph), Some(runtime)) => (runtime.append, graph, "graph"),
            _ => return work(),
        };
        let held = Box::leak(Box::new(Deferred(Box::new(work))));
        match give(to, run, end, In::from(&*held).address()) {
            0 => Ok(()),
            error => Err(Failure::invalid(name, format_args!("the error {error} of the runtime"), "one that was made and not destroyed")),
        }
    }
}

/// A graph of the host's runtime, emptied of its nodes.
///
/// # Errors
/// `NOT_SUPPORTED_CUDA_GRAPH_NATIVE_API` without that runtime, `BAD_PARAM` for no graph.
pub(crate) fn emptied(graph: Data) -> Result<Sink, Failure> {
    let Some(runtime) = runtime() else {
        let what = "the CPU engine has no kernels that a CUDA graph could hold, and the process not the runtime on the host (c-cudart): call cudnnBackendExecute";
        return Err(Failure::new(crate::enums::CUDNN_STATUS_NOT_SUPPORTED_CUDA_GRAPH_NATIVE_API, what));
    };
    match (runtime.clear)(graph) {
        0 => Ok(Sink::Graph(graph)),
        error => Err(Failure::invalid("graph", format_args!("the error {error} of the runtime"), "one that was made and not destroyed")),
    }
}

/// Waits for the work of a handle's stream, so that the host can read its results.
///
/// # Errors
/// `NOT_SUPPORTED` if the stream is being captured; the error of its work.
pub(crate) fn settle(handle: &Handle) -> Result<(), Failure> {
    if let Sink::Stream(stream) = Sink::of(handle)
        && let Some(runtime) = runtime()
        && (runtime.settle)(stream) != 0
    {
        return Err(Failure::unsupported("this function on a stream that is recorded: the host computes a part of it"));
    }
    Ok(handle.stream().wait()?)
}

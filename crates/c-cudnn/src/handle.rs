//! Handles: an engine, a stream on it, and the program's CUDA stream.

use crate::enums::*;
use crate::host_runtime;
use crate::pointers::{self, Data, In, InOut, New, Out, Owned, queue_over};
use crate::status::{Failure, Status, guard};
use crate::steps::Memo;
use oxidnn_cpu::hardware::Core;
use oxidnn_cpu::{CpuDevice, CpuTarget};
use oxidnn_cuda::{CudaDevice, driver};
use oxidnn_runtime::{self as runtime, fork};
use std::sync::{Arc, Mutex, OnceLock};

/// Chooses the engine: `cpu`, or `cuda`.
const VARIABLE: &str = "OXIDNN_CUDNN_ENGINE";
/// Chooses the GPU of the CUDA engine: its number, 0 by default.
const DEVICE: &str = "OXIDNN_CUDNN_DEVICE";
/// Streams whose queues a handle keeps, for programs that switch between a few.
const MOST_STREAMS: usize = 64;

/// The object behind a `cudnnHandle_t`.
#[derive(Debug)]
pub struct Handle {
    stream: runtime::Stream,
    /// The argument of `cudnnSetStream`: the stream of the CUDA engine; for the CPU engine an opaque value, or a stream of the host's runtime.
    given: Data,
    /// Streams that were set before, on the CUDA engine.
    others: Vec<(Data, runtime::Stream)>,
    memo: Mutex<Memo>,
}

impl Owned for Handle {}

/// The device of the process.
#[derive(Debug)]
struct Machine {
    engine: runtime::Engine,
    /// The identity of the device, equal in every process.
    identity: String,
    cuda: Option<Gpu>,
}

/// A GPU, with the context that streams of the caller's belong to.
#[derive(Debug)]
pub(crate) struct Gpu {
    pub(crate) device: CudaDevice,
    pub(crate) context: Arc<driver::Context>,
}

impl Gpu {
    /// The GPU that the environment names.
    fn chosen() -> Result<Gpu, Failure> {
        let ordinal = match std::env::var(DEVICE) {
            Ok(text) if !text.is_empty() => {
                text.trim().parse().map_err(|_| Failure::invalid(DEVICE, &text, "the number of a GPU, from 0 on"))?
            }
            _ => 0,
        };
        let start = || {
            let context = driver::Context::primary(ordinal)?;
            Ok(Gpu { device: CudaDevice::over(context.clone(), ordinal)?, context })
        };
        start().map_err(|e: driver::CudaError| {
            let what = format_args!("{VARIABLE}=cuda, GPU {ordinal}: {e}; unset {VARIABLE}, or say cpu, to compute on the CPU engine");
            Failure::new(CUDNN_STATUS_NOT_INITIALIZED, what)
        })
    }
}

impl Machine {
    /// The engine that the environment requests.
    fn chosen() -> Result<Machine, Failure> {
        match std::env::var(VARIABLE).as_deref() {
            Ok("cuda") => {
                let gpu = Gpu::chosen()?;
                let engine = runtime::Engine::new(gpu.device.clone());
                Ok(Machine { identity: engine.device().verbose_info().concat(), engine, cuda: Some(gpu) })
            }
            Ok(other) if !other.is_empty() && other != "cpu" => Err(Failure::invalid(VARIABLE, other, "cpu or cuda")),
            _ => {
                let engine = runtime::Engine::new(CpuDevice::new(CpuTarget::host()));
                Ok(Machine { identity: format!("{} {}", engine.device().fingerprint(), Core::host().name), engine, cuda: None })
            }
        }
    }

    /// The queue over a stream of the caller's.
    fn stream(&self, stream: Data) -> Result<runtime::Stream, Failure> {
        match &self.cuda {
            Some(gpu) => Ok(runtime::Stream::over(&self.engine, Arc::new(queue_over(gpu, stream)))),
            None => Ok(runtime::Stream::new(&self.engine)?),
        }
    }
}

impl Handle {
    /// A handle on the engine that the environment requests, and on the default stream.
    ///
    /// # Errors
    /// `NOT_INITIALIZED` for an engine that is not available.
    pub(crate) fn new() -> Result<Handle, Failure> {
        Ok(Handle::over(machine()?.stream(Data::NULL)?, Data::NULL))
    }

    fn over(stream: runtime::Stream, given: Data) -> Handle {
        Handle { stream, given, others: Vec::new(), memo: Mutex::default() }
    }

    /// The state of functions without a handle, which take a stream.
    ///
    /// # Errors
    /// As [`Handle::new`].
    pub(crate) fn of_stream(stream: Data) -> Result<&'static Handle, Failure> {
        static KNOWN: Mutex<Vec<(Data, &'static Handle)>> = Mutex::new(Vec::new());
        let machine = machine()?;
        let stream = if machine.cuda.is_some() || host_runtime::is_there() { stream } else { Data::NULL };
        let mut known = fork::lock(&KNOWN);
        if let Some((_, handle)) = known.iter().find(|k| k.0 == stream) {
            return Ok(handle);
        }
        let made = Box::leak(Box::new(Handle::over(machine.stream(stream)?, stream)));
        known.push((stream, made));
        Ok(made)
    }

    /// The engine on which primitives are made.
    pub(crate) fn engine(&self) -> &runtime::Engine {
        self.stream.engine()
    }

    /// The stream on which primitives are executed. It may be asynchronous: work need not be done when a call returns.
    pub(crate) fn stream(&self) -> &runtime::Stream {
        &self.stream
    }

    /// The calls that it has recorded.
    pub(crate) fn memo(&self) -> &Mutex<Memo> {
        &self.memo
    }

    /// The address that `cudnnSetStream` was given.
    pub(crate) fn given_stream(&self) -> Data {
        self.given
    }

    /// Switches to another stream of the caller's.
    fn set_stream(&mut self, stream: Data) -> Result<(), Failure> {
        let machine = machine()?;
        if stream == self.given || machine.cuda.is_none() {
            self.given = stream;
            return Ok(());
        }
        let next = match self.others.iter().position(|o| o.0 == stream) {
            Some(at) => self.others.swap_remove(at).1,
            None => machine.stream(stream)?,
        };
        if self.others.len() >= MOST_STREAMS {
            self.others.remove(0);
        }
        let before = std::mem::replace(&mut self.stream, next);
        self.others.push((std::mem::replace(&mut self.given, stream), before));
        Ok(())
    }
}

fn machine() -> Result<&'static Machine, Failure> {
    static MACHINE: OnceLock<Result<Machine, Failure>> = OnceLock::new();
    fork::once(&MACHINE, Machine::chosen).as_ref().map_err(Clone::clone)
}

/// The process's engine. Descriptors and plans can be made on it before there is a handle.
///
/// # Errors
/// `NOT_INITIALIZED` for an engine that is not available.
pub(crate) fn engine() -> Result<&'static runtime::Engine, Failure> {
    machine().map(|m| &m.engine)
}

/// The process's GPU; none on the CPU engine.
///
/// # Errors
/// As [`engine`].
pub(crate) fn gpu() -> Result<Option<&'static Gpu>, Failure> {
    machine().map(|m| m.cuda.as_ref())
}

/// The identity of the process's device, equal in every process.
///
/// # Errors
/// As [`engine`].
pub(crate) fn identity() -> Result<&'static str, Failure> {
    machine().map(|m| &*m.identity)
}

/// `cudnnCreate`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnCreate(handle: New<'_, Handle>) -> Status {
    guard("cudnnCreate", || handle.own("handle", Handle::new))
}

/// `cudnnDestroy`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnDestroy(handle: pointers::Handle<Handle>) -> Status {
    guard("cudnnDestroy", || {
        handle.destroy();
        Ok(())
    })
}

/// `cudnnSetStream`: any value, the legacy and per-thread ones too.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnSetStream(handle: InOut<'_, Handle>, stream: Data) -> Status {
    guard("cudnnSetStream", || handle.get("handle")?.set_stream(stream))
}

/// `cudnnGetStream`: the argument of `cudnnSetStream`, null before.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetStream(handle: In<'_, Handle>, stream: Out<'_, Data>) -> Status {
    guard("cudnnGetStream", || stream.set("streamId", handle.get("handle")?.given_stream()))
}

/// `cudnnGetBackdoor`, which no header declares: there is none.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetBackdoor() -> Status {
    Status(CUDNN_STATUS_NOT_SUPPORTED)
}

/// `cudnnSetBackdoor`, which no header declares: there is none.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnSetBackdoor() -> Status {
    Status(CUDNN_STATUS_NOT_SUPPORTED)
}

/// `cudnnSetBackdoorEx`, which no header declares: there is none.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnSetBackdoorEx() -> Status {
    Status(CUDNN_STATUS_NOT_SUPPORTED)
}

/// `cudnnGetRNNDropoutLocationsInternal`, which no header declares.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetRNNDropoutLocationsInternal() -> Status {
    Status(CUDNN_STATUS_NOT_SUPPORTED)
}

//! Engines. All engines of a device are equal to the runtime and share its caches; to C they differ by their addresses.
//!
//! GPUs are looked up when a program asks for one: the library loads without CUDA.

use crate::graph::Allocator;
use crate::handle::{Handle, In, New, Out, Shared};
use crate::status::{Failure, Status, guard, guard_error};
use crate::{heap, isa};
use oxidnn_c_common::numbers;
use oxidnn_cpu::{CpuDevice, CpuTarget};
use oxidnn_cuda::CudaDevice;
use oxidnn_runtime::{self as runtime, fork};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, Weak};

#[cfg(test)]
mod tests;

/// The object behind a `dnnl_engine_t`.
#[derive(Debug)]
pub struct Engine {
    me: Weak<Engine>,
    allocator: Option<Arc<Allocator>>,
    runtime: runtime::Engine,
    /// The GPU, if it is a GPU engine.
    gpu: Option<CudaDevice>,
}

impl Shared for Engine {
    fn counted(&self) -> Option<Arc<Engine>> {
        self.me.upgrade()
    }
}

impl Engine {
    /// A CPU engine.
    pub fn cpu() -> Arc<Engine> {
        Engine::with_allocator(None)
    }

    /// A CPU engine whose graph tensors and scratch come from `allocator`.
    pub fn with_allocator(allocator: Option<Arc<Allocator>>) -> Arc<Engine> {
        Arc::new_cyclic(|me| Engine { me: me.clone(), allocator, runtime: host(), gpu: None })
    }

    /// A GPU engine.
    pub fn gpu((device, runtime): (CudaDevice, runtime::Engine)) -> Arc<Engine> {
        Arc::new_cyclic(|me| Engine { me: me.clone(), allocator: None, runtime, gpu: Some(device) })
    }

    /// The GPU of a GPU engine.
    ///
    /// # Errors
    /// `invalid_arguments` for an engine of another kind.
    pub fn cuda(&self) -> Result<&CudaDevice, Failure> {
        self.gpu.as_ref().ok_or_else(|| Failure::invalid("engine", &self.runtime, "an engine of a GPU"))
    }

    /// The caller's allocator for graphs, if any.
    pub fn allocator(&self) -> Option<&Arc<Allocator>> {
        self.allocator.as_ref()
    }

    /// The runtime's engine, on which primitives and memory are created.
    pub fn runtime(&self) -> &runtime::Engine {
        &self.runtime
    }

    /// `dnnl_engine_kind_t`.
    pub fn kind(&self) -> i32 {
        match self.runtime.kind() {
            runtime::EngineKind::Cpu => numbers::CPU,
            runtime::EngineKind::Gpu => numbers::GPU,
        }
    }
}

/// The runtime's CPU engine, created on first use: from then on the instruction sets are fixed.
fn host_engine() -> &'static runtime::Engine {
    static HOST: OnceLock<runtime::Engine> = OnceLock::new();
    runtime::fork::once(&HOST, || {
        let target = CpuTarget::limited(isa::limit(), runtime::threads::default_threads());
        runtime::Engine::new(CpuDevice::new(target))
    })
}

/// The runtime's CPU engine.
pub(crate) fn host() -> runtime::Engine {
    host_engine().clone()
}

/// GPU `index` with its primary context, created on first use: its engines share a memory pool.
fn gpu(index: usize) -> Result<(CudaDevice, runtime::Engine), Failure> {
    static KNOWN: Mutex<BTreeMap<usize, (CudaDevice, runtime::Engine)>> = Mutex::new(BTreeMap::new());
    let _inside = fork::enter();
    let mut known = fork::lock(&KNOWN);
    if let Some(gpu) = known.get(&index) {
        return Ok(gpu.clone());
    }
    let device = CudaDevice::new(index).map_err(|why| Failure::invalid("engine", why, "a GPU that this process can use"))?;
    let gpu = (device.clone(), runtime::Engine::new(device));
    known.insert(index, gpu.clone());
    Ok(gpu)
}

/// `dnnl_engine_get_count`: one CPU engine, and an engine per GPU.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_engine_get_count(kind: i32) -> usize {
    match kind {
        numbers::CPU => 1,
        numbers::GPU => oxidnn_cuda::engines(),
        _ => 0,
    }
}

/// `dnnl_engine_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_engine_create(engine: New<'_, Engine>, kind: i32, index: usize) -> Status {
    guard_error("dnnl_engine_create", || {
        engine.check("engine")?;
        match kind {
            numbers::CPU if index == 0 => {
                heap::settle();
                engine.share("engine", Engine::cpu())
            }
            numbers::CPU => Err(Failure::invalid("index", index, "0: there is one CPU engine")),
            numbers::GPU => engine.share("engine", Engine::gpu(gpu(index)?)),
            _ => Err(Failure::invalid("kind", kind, "an engine kind of this library: 1, the CPU, or 2, a GPU")),
        }
    })
}

/// `dnnl_engine_get_kind`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_engine_get_kind(engine: In<'_, Engine>, kind: Out<'_, i32>) -> Status {
    guard("dnnl_engine_get_kind", || kind.set("kind", engine.get("engine")?.kind()))
}

/// `dnnl_engine_destroy`: objects created on the engine stay valid.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_engine_destroy(engine: Handle<Engine>) -> Status {
    guard("dnnl_engine_destroy", || {
        engine.release();
        Ok(())
    })
}

//! Engines. All engines over a device are equal to the runtime, so that they share its caches; to C they differ by their addresses.

use crate::graph::Allocator;
use crate::handle::{Handle, In, New, Out, Shared};
use crate::status::{Failure, Status, guard, guard_error};
use crate::{heap, isa};
use oxidnn_c_common::numbers;
use oxidnn_cpu::{CpuDevice, CpuTarget};
use oxidnn_runtime as runtime;
use std::sync::{Arc, OnceLock, Weak};

#[cfg(test)]
mod tests;

/// What `dnnl_engine_t` points to.
#[derive(Debug)]
pub struct Engine {
    me: Weak<Engine>,
    allocator: Option<Arc<Allocator>>,
    runtime: runtime::Engine,
}

impl Shared for Engine {
    fn counted(&self) -> Option<Arc<Engine>> {
        self.me.upgrade()
    }
}

impl Engine {
    /// An engine of this processor.
    pub fn cpu() -> Arc<Engine> {
        Engine::with_allocator(None)
    }

    /// An engine of this processor whose graph tensors and scratch come from `allocator`.
    pub fn with_allocator(allocator: Option<Arc<Allocator>>) -> Arc<Engine> {
        Engine::over(host(), allocator)
    }

    /// An engine over a device.
    pub fn over(runtime: runtime::Engine, allocator: Option<Arc<Allocator>>) -> Arc<Engine> {
        Arc::new_cyclic(|me| Engine { me: me.clone(), allocator, runtime })
    }

    /// Where memory of graphs comes from, where the caller said.
    pub fn allocator(&self) -> Option<&Arc<Allocator>> {
        self.allocator.as_ref()
    }

    /// What primitives and memory are made on.
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

/// The runtime's engine of this processor, made when it is first asked for: from then on the instruction sets that it uses are fixed.
fn host_engine() -> &'static runtime::Engine {
    static HOST: OnceLock<runtime::Engine> = OnceLock::new();
    runtime::fork::once(&HOST, || {
        let target = CpuTarget::limited(isa::limit(), runtime::threads::default_threads());
        runtime::Engine::new(CpuDevice::new(target))
    })
}

/// The runtime's engine of this processor.
pub(crate) fn host() -> runtime::Engine {
    host_engine().clone()
}

/// `dnnl_engine_get_count`: one of this processor, none of other kinds.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_engine_get_count(kind: i32) -> usize {
    usize::from(kind == numbers::CPU)
}

/// `dnnl_engine_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_engine_create(engine: New<'_, Engine>, kind: i32, index: usize) -> Status {
    guard_error("dnnl_engine_create", || {
        engine.check("engine")?;
        if kind != numbers::CPU {
            return Err(Failure::invalid("kind", kind, "an engine kind of this library: 1, the CPU"));
        }
        if index != 0 {
            return Err(Failure::invalid("index", index, "0: there is one CPU engine"));
        }
        heap::settle();
        engine.share("engine", Engine::cpu())
    })
}

/// `dnnl_engine_get_kind`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_engine_get_kind(engine: In<'_, Engine>, kind: Out<'_, i32>) -> Status {
    guard("dnnl_engine_get_kind", || kind.set("kind", engine.get("engine")?.kind()))
}

/// `dnnl_engine_destroy`: what the engine made lives on.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_engine_destroy(engine: Handle<Engine>) -> Status {
    guard("dnnl_engine_destroy", || {
        engine.release();
        Ok(())
    })
}

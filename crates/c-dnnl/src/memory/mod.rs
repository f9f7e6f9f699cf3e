//! Memory objects: a descriptor, an engine and the addresses of data.

use crate::engine::Engine;
use crate::handle::{Array, Data, Handle, In, New, Owned, memory_over, uncounted};
use crate::memory_desc::{MemoryDesc, record};
use crate::status::{Failure, Status, guard};
use oxidnn_runtime as runtime;
use oxidnn_spec::Tensor;
use std::sync::Arc;

/// What `dnnl_memory_t` points to.
#[derive(Debug)]
pub struct Memory {
    desc: MemoryDesc,
    engine: Option<Arc<Engine>>,
    runtime: runtime::Memory<'static>,
}

impl Owned for Memory {}

impl Memory {
    /// Memory of a tensor: one address a buffer, each null, the caller's, or the wish for an allocation.
    ///
    /// # Errors
    /// `invalid_arguments` for descriptions that memory cannot have and a wrong number of addresses, `out_of_memory`.
    pub fn new(engine: Arc<Engine>, tensor: Tensor, data: &[Data]) -> Result<Memory, Failure> {
        let desc = record(&tensor);
        let allocate = data.iter().filter(|d| d.is_allocate()).count();
        let runtime = match allocate {
            0 => memory_over(engine.runtime(), tensor, data)?,
            n if n == data.len() && n == tensor.buffers() => uncounted(runtime::Memory::new(engine.runtime(), tensor)?),
            n => {
                let got = format_args!("{n} of {} handles to allocate", data.len());
                return Err(Failure::invalid("handles", got, format_args!("all or none of {}", tensor.buffers())));
            }
        };
        Ok(Memory { desc, engine: Some(engine), runtime })
    }

    /// What executions take.
    pub fn runtime(&self) -> &runtime::Memory<'static> {
        &self.runtime
    }

    /// Its description, which lives as long as the memory.
    pub fn desc(&self) -> &MemoryDesc {
        &self.desc
    }

    /// The engine that it was made with; none for a host scalar.
    pub fn engine(&self) -> Option<&Arc<Engine>> {
        self.engine.as_ref()
    }
}

/// `dnnl_memory_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_memory_create(memory: New<'_, Memory>, desc: In<'_, MemoryDesc>, engine: In<'_, Engine>, data: Data) -> Status {
    guard("dnnl_memory_create", || {
        memory.check("memory")?;
        let engine = engine.share("engine")?;
        let tensor = desc.tensor("memory_desc")?;
        let data = vec![data; tensor.buffers()];
        memory.own("memory", Memory::new(engine, tensor, &data)?)
    })
}

/// `dnnl_memory_create_v2`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_memory_create_v2(
    memory: New<'_, Memory>,
    desc: In<'_, MemoryDesc>,
    engine: In<'_, Engine>,
    count: i32,
    handles: Array<'_, Data>,
) -> Status {
    guard("dnnl_memory_create_v2", || {
        memory.check("memory")?;
        let engine = engine.share("engine")?;
        let tensor = desc.tensor("memory_desc")?;
        let count = usize::try_from(count).ok().filter(|n| *n > 0).ok_or_else(|| Failure::invalid("nhandles", count, "1 or more"))?;
        let handles = handles.optional(count).ok_or_else(|| Failure::null("handles"))?;
        memory.own("memory", Memory::new(engine, tensor, handles)?)
    })
}

/// `dnnl_memory_destroy`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_memory_destroy(memory: Handle<Memory>) -> Status {
    guard("dnnl_memory_destroy", || {
        memory.destroy();
        Ok(())
    })
}

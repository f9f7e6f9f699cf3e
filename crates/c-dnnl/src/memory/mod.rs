//! Memory objects: a descriptor, an engine and the addresses of data.

pub mod data;
pub mod scalar;
#[cfg(test)]
mod tests;

use crate::engine::Engine;
use crate::handle::{Array, Data, Handle, In, New, Owned, memory_over};
use crate::memory_desc::query::buffer_bytes;
use crate::memory_desc::{MemoryDesc, record};
use crate::status::{Failure, Status, guard};
use oxidnn_runtime as runtime;
use oxidnn_spec::{DataType, Format, Sparse, Tensor};
use std::sync::{Arc, Mutex};

/// The object behind a `dnnl_memory_t`.
#[derive(Debug)]
pub struct Memory {
    desc: MemoryDesc,
    /// None for a host scalar.
    engine: Option<Arc<Engine>>,
    /// As many as the caller gave, which need not be as many as the tensor has buffers.
    handles: Vec<Data>,
    runtime: runtime::Memory<'static>,
    owned: Vec<runtime::Allocation>,
    /// The mapped copy of memory that the host cannot address.
    copies: Mutex<Vec<data::Copy>>,
}

impl Owned for Memory {}

impl Drop for Memory {
    /// Submitted work may still use the memory that is freed here.
    fn drop(&mut self) {
        let _ = self.runtime.wait();
    }
}

impl Memory {
    /// Memory of a tensor, or of nothing. Each handle is null, an address of the caller's, or the wish for an allocation; buffers without a
    /// handle have null.
    ///
    /// # Errors
    /// `invalid_arguments` for descriptions that memory cannot have, `out_of_memory`.
    pub fn new(engine: Arc<Engine>, tensor: Option<Tensor>, handles: &[Data]) -> Result<Memory, Failure> {
        let desc = tensor.as_ref().map_or(MemoryDesc::ZERO, record);
        let tensor = match tensor.filter(|t| !is_undecided(t)) {
            Some(t) => t,
            None => Tensor::plain([0], DataType::U8)?,
        };
        if matches!(tensor.layout.format, Format::HostScalar | Format::Any) || tensor.layout.has_runtime() {
            return Err(Failure::invalid("memory_desc", tensor.dims(), "a layout with all sizes and strides given, on an engine"));
        }
        let mut owned = Vec::new();
        let mut resolve = |(i, &h): (usize, &Data)| resolved(&engine, buffer_bytes(&tensor, i), h, &mut owned);
        let handles = handles.iter().enumerate().map(&mut resolve).collect::<Result<Vec<_>, _>>()?;
        let addresses: Vec<Data> = (0..tensor.buffers()).map(|i| handles.get(i).copied().unwrap_or(Data::NULL)).collect();
        let runtime = memory_over(engine.runtime(), tensor, &addresses)?;
        Ok(Memory { desc, engine: Some(engine), handles, runtime, owned, copies: Mutex::default() })
    }

    /// The memory for executions. For no memory, and for a packed tensor whose blocking nobody chose, it is an empty tensor.
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

/// A packed tensor whose blocking is not chosen has no size yet.
fn is_undecided(tensor: &Tensor) -> bool {
    matches!(tensor.layout.format, Format::Sparse(Sparse::Packed { blocking: None, .. }))
}

/// The address for a handle of a buffer of `bytes`; memory allocated for it goes to `owned`.
fn resolved(engine: &Engine, bytes: usize, handle: Data, owned: &mut Vec<runtime::Allocation>) -> Result<Data, Failure> {
    if !handle.is_allocate() {
        return Ok(handle);
    }
    let own = engine.runtime().device().allocate(bytes)?;
    let address = Data::own(&own);
    owned.push(own);
    Ok(address)
}

/// `dnnl_memory_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_memory_create(memory: New<'_, Memory>, desc: In<'_, MemoryDesc>, engine: In<'_, Engine>, handle: Data) -> Status {
    guard("dnnl_memory_create", || {
        memory.check("memory")?;
        let (engine, tensor) = (engine.share("engine")?, desc.optional_tensor("memory_desc")?);
        memory.own("memory", Memory::new(engine, tensor, &[handle])?)
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
        let (engine, tensor) = (engine.share("engine")?, desc.optional_tensor("memory_desc")?);
        let count = usize::try_from(count).ok().filter(|n| *n > 0).ok_or_else(|| Failure::invalid("nhandles", count, "1 or more"))?;
        memory.own("memory", Memory::new(engine, tensor, handles.slice("handles", count)?)?)
    })
}

/// `dnnl_memory_get_memory_desc`: valid as long as the memory.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_memory_get_memory_desc(memory: In<'_, Memory>, desc: New<'_, MemoryDesc>) -> Status {
    guard("dnnl_memory_get_memory_desc", || desc.lend("memory_desc", memory.get("memory")?.desc()))
}

/// `dnnl_memory_get_engine`: null for a host scalar.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_memory_get_engine(memory: In<'_, Memory>, engine: New<'_, Engine>) -> Status {
    guard("dnnl_memory_get_engine", || match memory.get("memory")?.engine() {
        Some(e) => engine.lend("engine", e),
        None => engine.nothing("engine"),
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

//! The addresses of a memory's data. The host reads and writes the CPU's memory in place, so mapping returns its address; for a GPU's
//! memory it returns a copy, which unmapping writes back.

use super::{Memory, resolved};
use crate::handle::{Data, In, InOut, Out, repoint};
use crate::memory_desc::query::buffer_bytes;
use crate::status::{Failure, Status, guard};
use crate::stream::Stream;
use oxidnn_runtime::{Allocation, fork};

/// The host's copy of a mapped buffer.
#[derive(Debug)]
pub struct Copy {
    index: usize,
    bytes: Allocation,
}

impl Memory {
    /// Handle `index`.
    fn handle(&self, index: i32) -> Result<Data, Failure> {
        if self.engine.is_none() {
            return Err(Failure::invalid("memory", "a host scalar", "memory of an engine"));
        }
        let found = usize::try_from(index).ok().and_then(|i| self.handles.get(i));
        found.copied().ok_or_else(|| Failure::invalid("index", index, format_args!("0 to {}", self.handles.len() - 1)))
    }

    fn set_handle(&mut self, index: i32, handle: Data) -> Result<(), Failure> {
        self.handle(index)?;
        self.runtime.wait()?;
        let index = index as usize;
        if let Some(engine) = &self.engine {
            let address = resolved(engine, buffer_bytes(self.runtime.tensor(), index), handle, &mut self.owned)?;
            self.handles[index] = address;
            if index < self.runtime.buffers() {
                repoint(&mut self.runtime, index, address)?;
            }
        }
        Ok(())
    }

    /// The host address of buffer `index`, after waiting for work on it; null if it is empty.
    fn mapped(&self, index: i32) -> Result<*mut u8, Failure> {
        self.runtime.wait()?;
        if self.engine.is_none() && index == 0 {
            return Ok(self.runtime.data_handle(0).unwrap_or(std::ptr::null_mut()));
        }
        let handle = self.handle(index)?;
        let bytes = buffer_bytes(self.runtime.tensor(), index as usize);
        Ok(match self.engine.as_ref().is_none_or(|e| e.runtime().host_visible()) {
            _ if bytes == 0 => std::ptr::null_mut(),
            true => handle.address(),
            false => self.copied(index as usize)?,
        })
    }

    /// The address of a new copy of a buffer of a device.
    fn copied(&self, index: usize) -> Result<*mut u8, Failure> {
        let mapped = self.runtime.map(index)?;
        let bytes = Allocation::host(mapped.len())?;
        if let Some(buf) = bytes.region().bytes() {
            buf.write(0, &mapped);
        }
        let address = bytes.region().as_ptr();
        fork::lock(&self.copies).push(Copy { index, bytes });
        Ok(address)
    }

    /// Writes the copy at this address back and frees it.
    fn unmapped(&self, address: Data, index: i32) -> Result<(), Failure> {
        if self.engine.as_ref().is_none_or(|e| e.runtime().host_visible()) || address.is_null() {
            return self.mapped(index).map(|_| ());
        }
        let mut copies = fork::lock(&self.copies);
        let found = copies.iter().position(|c| c.index as i32 == index && c.bytes.region().as_ptr() == address.address());
        let copy =
            copies.swap_remove(found.ok_or_else(|| Failure::invalid("mapped_ptr", "an address that was not mapped", "one that was"))?);
        drop(copies);
        let mut bytes = vec![0; copy.bytes.region().len()];
        if let Some(buf) = copy.bytes.region().bytes() {
            buf.read(0, &mut bytes);
        }
        Ok(self.runtime.replace(copy.index, &bytes)?)
    }
}

/// `dnnl_memory_get_data_handle`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_memory_get_data_handle(memory: In<'_, Memory>, handle: Out<'_, *mut u8>) -> Status {
    guard("dnnl_memory_get_data_handle", || get(memory, handle, 0))
}

/// `dnnl_memory_get_data_handle_v2`: for one buffer.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_memory_get_data_handle_v2(memory: In<'_, Memory>, handle: Out<'_, *mut u8>, index: i32) -> Status {
    guard("dnnl_memory_get_data_handle_v2", || get(memory, handle, index))
}

/// A null memory has a null address.
fn get(memory: In<'_, Memory>, handle: Out<'_, *mut u8>, index: i32) -> Result<(), Failure> {
    let address = match memory.optional() {
        Some(m) => m.handle(index)?.address(),
        None => std::ptr::null_mut(),
    };
    handle.set("handle", address)
}

/// `dnnl_memory_set_data_handle`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_memory_set_data_handle(memory: InOut<'_, Memory>, handle: Data) -> Status {
    guard("dnnl_memory_set_data_handle", || memory.get("memory")?.set_handle(0, handle))
}

/// `dnnl_memory_set_data_handle_v2`: for one buffer.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_memory_set_data_handle_v2(memory: InOut<'_, Memory>, handle: Data, index: i32) -> Status {
    guard("dnnl_memory_set_data_handle_v2", || memory.get("memory")?.set_handle(index, handle))
}

/// `dnnl_memory_map_data`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_memory_map_data(memory: In<'_, Memory>, mapped: Out<'_, *mut u8>) -> Status {
    guard("dnnl_memory_map_data", || mapped.set("mapped_ptr", memory.get("memory")?.mapped(0)?))
}

/// `dnnl_memory_map_data_v2`: for one buffer.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_memory_map_data_v2(memory: In<'_, Memory>, mapped: Out<'_, *mut u8>, index: i32) -> Status {
    guard("dnnl_memory_map_data_v2", || mapped.set("mapped_ptr", memory.get("memory")?.mapped(index)?))
}

/// `dnnl_memory_unmap_data`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_memory_unmap_data(memory: In<'_, Memory>, mapped: Data) -> Status {
    guard("dnnl_memory_unmap_data", || memory.get("memory")?.unmapped(mapped, 0))
}

/// `dnnl_memory_unmap_data_v2`: there is nothing to write back.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_memory_unmap_data_v2(memory: In<'_, Memory>, mapped: Data, index: i32) -> Status {
    guard("dnnl_memory_unmap_data_v2", || memory.get("memory")?.unmapped(mapped, index))
}

/// `dnnl_impl_zero_pad`: makes the padded area zero. Test programs link against it.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_impl_zero_pad(memory: In<'_, Memory>, stream: In<'_, Stream>) -> Status {
    guard("dnnl_impl_zero_pad", || {
        let memory = memory.get("memory")?;
        if let Some(stream) = stream.optional() {
            stream.runtime().wait()?;
        }
        Ok(memory.runtime.zero_padding()?)
    })
}

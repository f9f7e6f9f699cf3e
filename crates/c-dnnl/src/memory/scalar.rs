//! Host scalars: memory of one value, without an engine.

use super::Memory;
use crate::handle::{Data, In, InOut, New};
use crate::memory_desc::MemoryDesc;
use crate::status::{Failure, Status, guard};
use oxidnn_runtime as runtime;
use oxidnn_spec::{DataType, Format};
use std::sync::Mutex;

/// Bytes of the largest type.
const LARGEST: usize = 8;

/// The bytes of one value of type `dtype` at `value`.
fn number(dtype: DataType, value: Data, bytes: &mut [u8; LARGEST]) -> Result<&[u8], Failure> {
    let bytes = &mut bytes[..dtype.bytes(1).unwrap_or(0)];
    value.read("value", bytes)?;
    Ok(bytes)
}

impl Memory {
    fn scalar_type(&self) -> Result<DataType, Failure> {
        if self.engine.is_some() {
            return Err(Failure::invalid("memory", "memory of an engine", "a host scalar"));
        }
        Ok(self.runtime.tensor().dtype)
    }
}

/// `dnnl_memory_create_host_scalar`: the value is copied.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_memory_create_host_scalar(memory: New<'_, Memory>, desc: In<'_, MemoryDesc>, value: Data) -> Status {
    guard("dnnl_memory_create_host_scalar", || {
        memory.check("memory")?;
        let (tensor, desc) = (desc.tensor("memory_desc")?, *desc.get("memory_desc")?);
        if tensor.layout.format != Format::HostScalar {
            return Err(Failure::invalid("memory_desc", tensor.summary(), "the descriptor of a host scalar"));
        }
        let mut bytes = [0; LARGEST];
        let runtime = runtime::Memory::host_scalar_of(tensor.dtype, number(tensor.dtype, value, &mut bytes)?)?;
        memory.own("memory", Memory { desc, engine: None, handles: Vec::new(), runtime, owned: Vec::new(), copies: Mutex::default() })
    })
}

/// `dnnl_memory_get_host_scalar_value`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_memory_get_host_scalar_value(memory: In<'_, Memory>, value: Data) -> Status {
    guard("dnnl_memory_get_host_scalar_value", || {
        let memory = memory.get("memory")?;
        memory.scalar_type()?;
        value.write("value", &memory.runtime.map(0)?)
    })
}

/// `dnnl_memory_set_host_scalar_value`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_memory_set_host_scalar_value(memory: InOut<'_, Memory>, value: Data) -> Status {
    guard("dnnl_memory_set_host_scalar_value", || {
        let memory = memory.get("memory")?;
        let mut bytes = [0; LARGEST];
        let number = number(memory.scalar_type()?, value, &mut bytes)?;
        memory.runtime.map_mut(0)?.copy_from_slice(number);
        Ok(())
    })
}

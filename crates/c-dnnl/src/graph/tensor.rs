//! Tensors: a logical tensor with memory.

use super::LogicalTensor;
use super::allocator::Block;
use crate::engine::Engine;
use crate::handle::{Data, Handle, In, InOut, New, Out, Owned, memory_over, repoint};
use crate::status::{Failure, Status, guard};
use oxidnn_graph::{self as graph, Property};
use oxidnn_runtime::Memory;
use oxidnn_spec::DataType;
use std::sync::Arc;

/// The object behind a `dnnl_graph_tensor_t`.
#[derive(Debug)]
pub struct Tensor {
    tensor: graph::LogicalTensor,
    /// `None` for a host scalar.
    engine: Option<Arc<Engine>>,
    /// As the logical tensor describes it; `None` if its size is unknown.
    memory: Option<Memory<'static>>,
    data: Data,
    /// The owner of the data, if the library allocated it.
    block: Option<Block>,
}

impl Owned for Tensor {}

/// A tensor's memory as a port of a compiled partition needs it.
pub(super) enum Seen<'t> {
    /// With the tensor's own description.
    Same(&'t Memory<'static>),
    /// With another description.
    Other(Memory<'static>),
}

impl Seen<'_> {
    pub(super) fn memory(&self) -> &Memory<'static> {
        match self {
            Seen::Same(m) => m,
            Seen::Other(m) => m,
        }
    }
}

impl Tensor {
    fn new(tensor: graph::LogicalTensor, engine: Arc<Engine>, data: Data) -> Result<Tensor, Failure> {
        if tensor.property == Property::HostScalar {
            return Err(Failure::invalid("logical_tensor", "a host scalar", "one of an engine"));
        }
        let mut made = Tensor { tensor, engine: None, memory: None, data, block: None };
        match (tensor.tensor(), data.is_allocate()) {
            (Ok(description), allocate) => {
                if allocate {
                    made.data = made.block.insert(Block::new(&engine, description.bytes())?).data();
                }
                made.memory = Some(memory_over(engine.runtime(), description, &[made.data])?);
            }
            (Err(_), false) => {}
            (Err(unknown), true) => return Err(unknown.into()),
        }
        made.engine = Some(engine);
        Ok(made)
    }

    /// A scalar, copied.
    fn scalar(tensor: graph::LogicalTensor, value: Data) -> Result<Tensor, Failure> {
        if tensor.property != Property::HostScalar {
            return Err(Failure::invalid("logical_tensor", "one of an engine", "a host scalar"));
        }
        let mut bytes = [0u8; 8];
        let memory = match tensor.dtype {
            Some(DataType::F32) => {
                value.read("scalar", &mut bytes[..4])?;
                Memory::host_scalar(f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))?
            }
            Some(DataType::S32) => {
                value.read("scalar", &mut bytes[..4])?;
                Memory::host_scalar(i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))?
            }
            _ => {
                value.read("scalar", &mut bytes)?;
                Memory::host_scalar(i64::from_le_bytes(bytes))?
            }
        };
        Ok(Tensor { tensor, engine: None, memory: Some(memory), data: value, block: None })
    }

    /// Its id.
    pub(super) fn id(&self) -> usize {
        self.tensor.id
    }

    /// Its memory as `port` describes it.
    ///
    /// # Errors
    /// `invalid_arguments` for memory that is too small.
    pub(super) fn seen_as(&self, port: &graph::LogicalTensor, engine: &Engine) -> Result<Seen<'_>, Failure> {
        let description = port.tensor()?;
        Ok(match &self.memory {
            Some(m) if *m.tensor() == description => Seen::Same(m),
            Some(m) => Seen::Other(m.view(description)?),
            None => Seen::Other(memory_over(engine.runtime(), description, &[self.data])?),
        })
    }

    /// Its memory with its own description.
    ///
    /// # Errors
    /// `invalid_arguments` if its size is unknown.
    pub(super) fn memory(&self) -> Result<&Memory<'static>, Failure> {
        self.memory.as_ref().ok_or_else(|| Failure::invalid("tensor", "one of unknown size", "one whose logical tensor is known"))
    }
}

/// `dnnl_graph_tensor_create`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_tensor_create(
    tensor: New<'_, Tensor>,
    logical_tensor: In<'_, LogicalTensor>,
    engine: In<'_, Engine>,
    data: Data,
) -> Status {
    guard("dnnl_graph_tensor_create", || {
        tensor.check("tensor")?;
        let lt = logical_tensor.get("logical_tensor")?.graph()?;
        tensor.own("tensor", Tensor::new(lt, engine.share("engine")?, data)?)
    })
}

/// `dnnl_graph_tensor_create_scalar`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_tensor_create_scalar(tensor: New<'_, Tensor>, logical_tensor: In<'_, LogicalTensor>, scalar: Data) -> Status {
    guard("dnnl_graph_tensor_create_scalar", || {
        tensor.check("tensor")?;
        tensor.own("tensor", Tensor::scalar(logical_tensor.get("logical_tensor")?.graph()?, scalar)?)
    })
}

/// `dnnl_graph_tensor_destroy`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_tensor_destroy(tensor: Handle<Tensor>) -> Status {
    guard("dnnl_graph_tensor_destroy", || {
        tensor.destroy();
        Ok(())
    })
}

/// `dnnl_graph_tensor_get_data_handle`: null for a host scalar.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_tensor_get_data_handle(tensor: In<'_, Tensor>, data: Out<'_, *mut u8>) -> Status {
    guard("dnnl_graph_tensor_get_data_handle", || {
        let tensor = tensor.get("tensor")?;
        let address = tensor.engine.as_ref().map_or(std::ptr::null_mut(), |_| tensor.data.address());
        data.set("handle", address)
    })
}

/// `dnnl_graph_tensor_set_data_handle`: not for a host scalar.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_tensor_set_data_handle(tensor: InOut<'_, Tensor>, data: Data) -> Status {
    guard("dnnl_graph_tensor_set_data_handle", || {
        let tensor = tensor.get("tensor")?;
        if tensor.engine.is_none() {
            return Err(Failure::invalid("tensor", "a host scalar", "a tensor on an engine"));
        }
        if let Some(memory) = &mut tensor.memory {
            repoint(memory, 0, data)?;
        }
        tensor.data = data;
        tensor.block = None;
        Ok(())
    })
}

/// `dnnl_graph_tensor_get_engine`: null for a host scalar.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_tensor_get_engine(tensor: In<'_, Tensor>, engine: New<'_, Engine>) -> Status {
    guard("dnnl_graph_tensor_get_engine", || match &tensor.get("tensor")?.engine {
        Some(e) => engine.lend("engine", e),
        None => engine.nothing("engine"),
    })
}

/// `dnnl_graph_tensor_get_logical_tensor`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_tensor_get_logical_tensor(tensor: In<'_, Tensor>, logical_tensor: Out<'_, LogicalTensor>) -> Status {
    guard("dnnl_graph_tensor_get_logical_tensor", || {
        logical_tensor.set("logical_tensor", LogicalTensor::from(&tensor.get("tensor")?.tensor))
    })
}

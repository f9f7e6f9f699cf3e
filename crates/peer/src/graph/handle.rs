//! Graphs' own values in C, and the calls whose arrays the table of signatures has no words for. One of the files with unsafe code.

use crate::call::{Library, Raw, Value};
use crate::error::{PeerError, Status};
use crate::handle::{Compiled, Engine, GraphTensor, Owned, Partition, Stream};
use oxidnn_c_common::numbers;
use oxidnn_graph::{LayoutType, LogicalTensor, Property, UNKNOWN};
use oxidnn_spec::{Dims, MAX_NDIMS};
use std::cell::Cell;
use std::rc::Rc;

/// `dnnl_graph_logical_tensor_t`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Record {
    pub(crate) id: usize,
    ndims: i32,
    dims: [i64; MAX_NDIMS],
    data_type: i32,
    property: i32,
    layout_type: i32,
    /// Strides; of an opaque layout its number, in the first place.
    layout: [i64; MAX_NDIMS],
}

const ANY: i32 = 1;
const STRIDED: i32 = 2;
const OPAQUE: i32 = 3;
const PROPERTIES: [Property; 4] = [Property::Undef, Property::Variable, Property::Constant, Property::HostScalar];

impl Record {
    /// A record of nothing.
    pub(crate) const EMPTY: Record =
        Record { id: 0, ndims: -1, dims: [0; MAX_NDIMS], data_type: 0, property: 0, layout_type: 0, layout: [0; MAX_NDIMS] };

    /// What the record says; a layout of the library's own is opaque.
    pub(crate) fn tensor(&self) -> Option<LogicalTensor> {
        let rank = usize::try_from(self.ndims).ok();
        let list = |values: &[i64]| rank.and_then(|r| Dims::new(values.get(..r)?));
        let layout = match self.layout_type {
            ANY => LayoutType::Any,
            STRIDED => LayoutType::Strided,
            OPAQUE => LayoutType::Opaque(usize::try_from(self.layout[0]).ok()?),
            _ => LayoutType::Undef,
        };
        let strides = if layout == LayoutType::Strided { list(&self.layout).unwrap_or_default() } else { Dims::default() };
        let property = *PROPERTIES.get(usize::try_from(self.property).ok()?)?;
        Some(LogicalTensor {
            id: self.id,
            dtype: numbers::DATA_TYPE.value(self.data_type),
            dims: list(&self.dims),
            strides,
            layout,
            property,
        })
    }
}

impl From<&LogicalTensor> for Record {
    fn from(lt: &LogicalTensor) -> Record {
        let (mut dims, mut layout) = ([UNKNOWN; MAX_NDIMS], [UNKNOWN; MAX_NDIMS]);
        let sizes = lt.dims.unwrap_or_default();
        dims[..sizes.len()].copy_from_slice(&sizes);
        layout[..lt.strides.len()].copy_from_slice(&lt.strides);
        let layout_type = match lt.layout {
            LayoutType::Undef => 0,
            LayoutType::Any => ANY,
            LayoutType::Strided => STRIDED,
            LayoutType::Opaque(id) => {
                layout[0] = id as i64;
                OPAQUE
            }
        };
        Record {
            id: lt.id,
            ndims: lt.dims.map_or(-1, |d| d.len() as i32),
            dims,
            data_type: lt.dtype.map_or(0, |d| numbers::DATA_TYPE.of(d)),
            property: PROPERTIES.iter().position(|p| *p == lt.property).unwrap_or(0) as i32,
            layout_type,
            layout,
        }
    }
}

/// Writes [`Value`] for a reference that is passed as a pointer.
macro_rules! pointers {
    ($($from:ty => $code:literal $to:ty, |$v:ident| $c:expr, $count:expr;)*) => {
        $(impl Value for $from {
            const TYPE_CODE: char = $code;
            type C = $to;
            fn c(&self) -> $to {
                let $v = self;
                $c
            }
            fn count(&self) -> Option<usize> {
                let $v = self;
                let _ = $v;
                $count
            }
        })*
    };
}

/// A number of elements, a `size_t`.
pub(crate) struct Length(pub(crate) usize);

pointers! {
    Length => 'h' usize, |v| v.0, Some(v.0);
    &Record => 'L' *const Record, |v| std::ptr::from_ref(*v), None;
    &Cell<Record> => 'g' *const Cell<Record>, |v| std::ptr::from_ref(*v), None;
    &[Cell<Record>] => 'D' *const Cell<Record>, |v| v.as_ptr(), Some(v.len());
    &Cell<usize> => 'Z' *const Cell<usize>, |v| std::ptr::from_ref(*v), None;
    &Cell<u8> => 'v' *const Cell<u8>, |v| std::ptr::from_ref(*v), None;
    &[Cell<usize>] => 'I' *const Cell<usize>, |v| v.as_ptr(), Some(v.len());
    &[i64] => 'B' *const i64, |v| v.as_ptr(), Some(v.len());
    &[u8] => 'U' *const u8, |v| v.as_ptr(), Some(v.len());
}

fn done(what: &'static str, status: i32) -> Result<(), PeerError> {
    match status {
        0 => Ok(()),
        n => Err(PeerError::Refused { what: what.into(), status: Status::new(n) }),
    }
}

type Compile = unsafe extern "C" fn(Raw, Raw, usize, *const *const Record, usize, *const *const Record, Raw) -> i32;

impl Owned<Partition> {
    /// Compiles the partition into `compiled`.
    pub(crate) fn compile(&self, compiled: &Owned<Compiled>, ports: [&[Record]; 2], engine: &Owned<Engine>) -> Result<(), PeerError> {
        const NAME: &str = "dnnl_graph_partition_compile";
        // SAFETY: the header declares `dnnl_status_t dnnl_graph_partition_compile(dnnl_graph_partition_t, dnnl_graph_compiled_partition_t, size_t,
        // const dnnl_graph_logical_tensor_t **, size_t, const dnnl_graph_logical_tensor_t **, dnnl_engine_t)`.
        let compile = unsafe { std::mem::transmute::<Raw, Compile>(self.library.symbol(NAME)?) };
        let [inputs, outputs] = ports.map(|list| list.iter().map(std::ptr::from_ref).collect::<Vec<_>>());
        // SAFETY: handles are alive, arrays have the lengths given, of pointers to records that live as long as the call.
        done(NAME, unsafe { compile(self.raw, compiled.raw, inputs.len(), inputs.as_ptr(), outputs.len(), outputs.as_ptr(), engine.raw) })
    }
}

/// Memory of the library's own for a logical tensor.
#[derive(Debug)]
pub(crate) struct TensorMemory {
    pub(crate) handle: Owned<GraphTensor>,
    pub(crate) record: Record,
    pub(crate) size: usize,
}

impl TensorMemory {
    /// Shows the bytes to `f`; none of a number on the host.
    pub(crate) fn with_bytes<R>(&self, f: impl FnOnce(&mut [u8]) -> R) -> Result<R, PeerError> {
        const NAME: &str = "dnnl_graph_tensor_get_data_handle";
        // SAFETY: the header declares `dnnl_status_t dnnl_graph_tensor_get_data_handle(const_dnnl_graph_tensor_t, void **)`.
        let get = unsafe { std::mem::transmute::<Raw, unsafe extern "C" fn(Raw, *mut Raw) -> i32>(self.handle.library.symbol(NAME)?) };
        let mut data: Raw = std::ptr::null_mut();
        // SAFETY: the handle is alive; the pointer receives a pointer.
        done(NAME, unsafe { get(self.handle.raw, &mut data) })?;
        if data.is_null() || self.size == 0 {
            return Ok(f(&mut []));
        }
        // SAFETY: the library allocated so many bytes for the tensor, in memory of a CPU engine; no execution is under way, as every one is waited for.
        Ok(f(unsafe { std::slice::from_raw_parts_mut(data.cast::<u8>(), self.size) }))
    }
}

type Execute = unsafe extern "C" fn(Raw, Raw, usize, *const Raw, usize, *const Raw) -> i32;

/// A compiled partition with its tensors.
#[derive(Debug)]
pub(crate) struct Bound {
    compiled: Owned<Compiled>,
    /// Keeps alive what the arguments point to.
    _memories: [Vec<Rc<TensorMemory>>; 2],
    arguments: [Vec<Raw>; 2],
    execute: Execute,
}

impl Bound {
    /// Binds inputs and outputs.
    pub(crate) fn new(library: &Library, compiled: Owned<Compiled>, memories: [Vec<Rc<TensorMemory>>; 2]) -> Result<Bound, PeerError> {
        // SAFETY: the header declares `dnnl_status_t dnnl_graph_compiled_partition_execute(const_dnnl_graph_compiled_partition_t, dnnl_stream_t,
        // size_t, const_dnnl_graph_tensor_t *, size_t, const_dnnl_graph_tensor_t *)`.
        let execute = unsafe { std::mem::transmute::<Raw, Execute>(library.symbol("dnnl_graph_compiled_partition_execute")?) };
        let arguments = [&memories[0], &memories[1]].map(|list| list.iter().map(|r| r.handle.raw).collect());
        Ok(Bound { compiled, _memories: memories, arguments, execute })
    }

    /// Submits the partition.
    pub(crate) fn submit(&self, stream: &Owned<Stream>) -> Result<(), PeerError> {
        let [inputs, outputs] = &self.arguments;
        // SAFETY: `self` keeps the partition and every tensor alive, the caller the stream; the arrays have the lengths given.
        done("dnnl_graph_compiled_partition_execute", unsafe {
            (self.execute)(self.compiled.raw, stream.raw, inputs.len(), inputs.as_ptr(), outputs.len(), outputs.as_ptr())
        })
    }
}

/// Waits until all that was submitted is done.
pub(crate) fn wait(stream: &Owned<Stream>) -> Result<(), PeerError> {
    // SAFETY: the header declares `dnnl_status_t dnnl_stream_wait(dnnl_stream_t)`.
    let wait = unsafe { std::mem::transmute::<Raw, unsafe extern "C" fn(Raw) -> i32>(stream.library.symbol("dnnl_stream_wait")?) };
    // SAFETY: the stream is alive.
    done("dnnl_stream_wait", unsafe { wait(stream.raw) })
}

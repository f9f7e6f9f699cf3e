//! `dnnl_graph_logical_tensor_t`: a struct that C programs create, copy and read themselves.

use crate::handle::{Array, In, Out};
use crate::status::{Failure, Status, guard};
use oxidnn_c_common::numbers;
use oxidnn_graph::{self as graph, LayoutType, Property, UNKNOWN};
use oxidnn_spec::{Dims, MAX_NDIMS};

/// The record, 224 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct LogicalTensor {
    /// The tensor's id.
    pub id: usize,
    /// Number of dimensions; -1 if unknown.
    pub ndims: i32,
    /// Sizes, [`UNKNOWN`] if unknown.
    pub dims: [i64; MAX_NDIMS],
    /// `dnnl_data_type_t`.
    pub data_type: i32,
    /// `dnnl_graph_tensor_property_t`.
    pub property: i32,
    /// `dnnl_graph_layout_type_t`.
    pub layout_type: i32,
    /// Strides; for an opaque layout, its id in the first element.
    pub layout: [i64; MAX_NDIMS],
}

const ANY: i32 = 1;
const STRIDED: i32 = 2;
const OPAQUE: i32 = 3;
const HOST_SCALAR: i32 = 3;

const PROPERTIES: [Property; 4] = [Property::Undef, Property::Variable, Property::Constant, Property::HostScalar];

impl LogicalTensor {
    /// The contents of the record.
    ///
    /// # Errors
    /// `invalid_arguments` for invalid values.
    pub fn graph(&self) -> Result<graph::LogicalTensor, Failure> {
        let rank = usize::try_from(self.ndims).ok();
        if rank.is_some_and(|r| r > MAX_NDIMS) {
            return Err(Failure::invalid("ndims", self.ndims, "at most 12"));
        }
        let list = |values: &[i64]| rank.and_then(|r| Dims::new(&values[..r]));
        let dtype = match self.data_type {
            0 => None,
            n => Some(numbers::DATA_TYPE.value(n).ok_or_else(|| Failure::invalid("data_type", n, "a data type"))?),
        };
        let layout = match self.layout_type {
            0 => LayoutType::Undef,
            ANY => LayoutType::Any,
            STRIDED => LayoutType::Strided,
            OPAQUE => LayoutType::Opaque(self.layout[0] as usize),
            n => return Err(Failure::invalid("layout_type", n, "a layout type, 0 to 3")),
        };
        let property = usize::try_from(self.property).ok().and_then(|p| PROPERTIES.get(p)).copied();
        let property = property.ok_or_else(|| Failure::invalid("property", self.property, "a property, 0 to 3"))?;
        let strides = if layout == LayoutType::Strided { list(&self.layout) } else { None };
        Ok(graph::LogicalTensor { id: self.id, dtype, dims: list(&self.dims), strides: strides.unwrap_or_default(), layout, property })
    }

    /// A record with an id and sizes, everything else unknown.
    fn without_layout(id: usize, ndims: i32, data_type: i32, layout_type: i32, property: i32) -> Result<LogicalTensor, Failure> {
        if ndims > MAX_NDIMS as i32 {
            return Err(Failure::invalid("ndims", ndims, "at most 12"));
        }
        let unknown = if ndims == 0 { 0 } else { UNKNOWN };
        let dims = [unknown; MAX_NDIMS];
        let lt = LogicalTensor { id, ndims, dims, data_type, property, layout_type, layout: dims };
        if property == HOST_SCALAR {
            let lt = lt.graph()?;
            graph::LogicalTensor::new(lt.id, lt.dtype, lt.dims.map(|d| d.len()), lt.layout, lt.property)?;
        }
        Ok(lt)
    }
}

impl From<&graph::LogicalTensor> for LogicalTensor {
    fn from(lt: &graph::LogicalTensor) -> LogicalTensor {
        let unknown = |known: bool| [if known { 0 } else { UNKNOWN }; MAX_NDIMS];
        let (mut dims, mut layout) = (unknown(lt.dims.is_some()), unknown(lt.layout == LayoutType::Strided));
        let sizes = lt.dims.unwrap_or_default();
        dims[..sizes.len()].copy_from_slice(&sizes);
        if lt.layout == LayoutType::Strided {
            layout[..lt.strides.len()].copy_from_slice(&lt.strides);
        }
        let layout_type = match lt.layout {
            LayoutType::Undef => 0,
            LayoutType::Any => ANY,
            LayoutType::Strided => STRIDED,
            LayoutType::Opaque(id) => {
                layout[0] = id as i64;
                OPAQUE
            }
        };
        LogicalTensor {
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

/// The records of a list of pointers to them.
///
/// # Errors
/// `invalid_arguments` for a null pointer in the list, and for invalid records.
pub(super) fn list(name: &str, tensors: Array<'_, In<'_, LogicalTensor>>, count: usize) -> Result<Vec<graph::LogicalTensor>, Failure> {
    tensors.slice(name, count)?.iter().map(|lt| lt.get(name)?.graph()).collect()
}

/// `dnnl_graph_logical_tensor_init`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_logical_tensor_init(
    logical_tensor: Out<'_, LogicalTensor>,
    id: usize,
    data_type: i32,
    ndims: i32,
    layout_type: i32,
    property: i32,
) -> Status {
    guard("dnnl_graph_logical_tensor_init", || {
        logical_tensor.set("logical_tensor", LogicalTensor::without_layout(id, ndims, data_type, layout_type, property)?)
    })
}

/// The first `ndims` elements of an array, which may be null if `ndims` is 0.
fn sizes<'a>(name: &str, array: Array<'a, i64>, ndims: i32) -> Result<&'a [i64], Failure> {
    let n = usize::try_from(ndims).ok().filter(|n| *n <= MAX_NDIMS);
    array.slice(name, n.ok_or_else(|| Failure::invalid("ndims", ndims, "0 to 12"))?)
}

/// `dnnl_graph_logical_tensor_init_with_dims`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_logical_tensor_init_with_dims(
    logical_tensor: Out<'_, LogicalTensor>,
    id: usize,
    data_type: i32,
    ndims: i32,
    dims: Array<'_, i64>,
    layout_type: i32,
    property: i32,
) -> Status {
    guard("dnnl_graph_logical_tensor_init_with_dims", || {
        let dims = sizes("dims", dims, ndims)?;
        let mut lt = LogicalTensor::without_layout(id, ndims, data_type, layout_type, property)?;
        lt.dims = [0; MAX_NDIMS];
        lt.dims[..dims.len()].copy_from_slice(dims);
        if layout_type == STRIDED && dims.iter().all(|&d| d >= 0) {
            let sizes = Dims::new(dims).unwrap_or_default();
            let dense = graph::LogicalTensor::with_dims(id, None, sizes, LayoutType::Strided, Property::Undef)?;
            lt.layout = LogicalTensor::from(&dense).layout;
        }
        logical_tensor.set("logical_tensor", lt)
    })
}

/// `dnnl_graph_logical_tensor_init_with_strides`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_logical_tensor_init_with_strides(
    logical_tensor: Out<'_, LogicalTensor>,
    id: usize,
    data_type: i32,
    ndims: i32,
    dims: Array<'_, i64>,
    strides: Array<'_, i64>,
    property: i32,
) -> Status {
    guard("dnnl_graph_logical_tensor_init_with_strides", || {
        let (dims, strides) = (sizes("dims", dims, ndims)?, sizes("strides", strides, ndims)?);
        let mut lt = LogicalTensor::without_layout(id, ndims, data_type, STRIDED, property)?;
        (lt.dims, lt.layout) = ([0; MAX_NDIMS], [0; MAX_NDIMS]);
        lt.dims[..dims.len()].copy_from_slice(dims);
        lt.layout[..strides.len()].copy_from_slice(strides);
        logical_tensor.set("logical_tensor", lt)
    })
}

/// `dnnl_graph_logical_tensor_get_mem_size`: all ones if unknown.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_logical_tensor_get_mem_size(logical_tensor: In<'_, LogicalTensor>, size: Out<'_, usize>) -> Status {
    guard("dnnl_graph_logical_tensor_get_mem_size", || {
        size.set("mem_size", logical_tensor.get("logical_tensor")?.graph()?.bytes().unwrap_or(usize::MAX))
    })
}

/// `dnnl_graph_logical_tensor_is_equal`: compares everything, the id included.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_graph_logical_tensor_is_equal(
    first: In<'_, LogicalTensor>,
    second: In<'_, LogicalTensor>,
    equal: Out<'_, u8>,
) -> Status {
    guard("dnnl_graph_logical_tensor_is_equal", || {
        let same = first.get("lt1")?.graph()? == second.get("lt2")?.graph()?;
        equal.set("is_equal", u8::from(same))
    })
}

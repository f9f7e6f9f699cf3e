//! Tensors of the backend interface, and their oxidnn layouts.

use super::object::{Typed, Value, Values, ints};
use crate::enums::*;
use crate::pointers::{Data, host_bytes};
use crate::status::Failure;
use crate::values::data_type;
use oxidnn_spec::{Blocking, Blocks, DataType, Dims, Layout, Tensor};
use std::sync::Arc;

/// A tensor: element type, sizes and layout.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct TensorDesc {
    pub(crate) uid: i64,
    /// A number of `cudnnDataType_t`.
    pub(crate) dtype: i32,
    pub(crate) dims: Dims,
    pub(crate) strides: Dims,
    /// Elements of a vector, and the dimension along which vectors are packed; sizes and strides count vectors.
    pub(crate) vector: Option<(usize, i64)>,
    pub(crate) is_virtual: bool,
    pub(crate) reordering: i64,
    /// Where each batch begins, for batches of different lengths, one behind the other.
    pub(crate) ragged: Option<Ragged>,
    /// A scalar that is read at execution, from host or device memory.
    pub(crate) is_by_value: bool,
    /// The bytes of a constant scalar.
    pub(crate) constant: Option<Vec<u8>>,
}

/// The places of ragged batches.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Ragged {
    /// The tensor that holds the beginning of each batch, and the end of the last one.
    pub(crate) offsets: Arc<TensorDesc>,
    /// Elements per unit of the offsets.
    pub(crate) unit: i64,
}

impl TensorDesc {
    /// The tensor that the attributes describe.
    ///
    /// # Errors
    /// `BAD_PARAM` for sizes, strides and alignments that make no tensor, `NOT_SUPPORTED` for those without a type or layout of oxidnn.
    pub(crate) fn new(values: &Values) -> Result<TensorDesc, Failure> {
        let one = |id| ints(values, id).first().copied();
        let list = |id, name: &str| Dims::new(ints(values, id)).ok_or_else(|| Failure::invalid(name, "too many sizes", "at most 8"));
        let (dims, strides) = (list(CUDNN_ATTR_TENSOR_DIMENSIONS, "dimensions")?, list(CUDNN_ATTR_TENSOR_STRIDES, "strides")?);
        let dtype = one(CUDNN_ATTR_TENSOR_DATA_TYPE).and_then(|v| i32::try_from(v).ok()).unwrap_or(CUDNN_DATA_FLOAT);
        let count = one(CUDNN_ATTR_TENSOR_VECTOR_COUNT).unwrap_or(1);
        let along = one(CUDNN_ATTR_TENSOR_VECTORIZED_DIMENSION).unwrap_or(-1);
        let vector = (count > 1).then(|| usize::try_from(along).ok().filter(|&d| d < dims.len()).map(|d| (d, count)));
        let vector = match vector {
            Some(None) => return Err(Failure::invalid("VECTORIZED_DIMENSION", along, format_args!("0 to {}", dims.len() - 1))),
            other => other.flatten(),
        };
        let constant = match values.get(&CUDNN_ATTR_TENSOR_CONSTANT_VALUE) {
            Some(Typed { value: Value::Addresses(at), .. }) => at.first().map(|&at| constant(at, dtype)).transpose()?,
            Some(Typed { value: Value::Bytes(bytes), .. }) => Some(bytes.clone()),
            _ => None,
        };
        let tensor = TensorDesc {
            uid: one(CUDNN_ATTR_TENSOR_UNIQUE_ID).unwrap_or(0),
            dtype,
            dims,
            strides,
            vector,
            is_virtual: one(CUDNN_ATTR_TENSOR_IS_VIRTUAL) == Some(1),
            reordering: one(CUDNN_ATTR_TENSOR_REORDERING_MODE).unwrap_or(0),
            is_by_value: one(CUDNN_ATTR_TENSOR_IS_BY_VALUE) == Some(1),
            ragged: match values.get(&CUDNN_ATTR_TENSOR_RAGGED_OFFSET_DESC) {
                Some(Typed { value: Value::Objects(all), .. }) => all.first().and_then(|o| o.as_tensor()).cloned(),
                _ => None,
            }
            .map(|offsets| Ragged { offsets, unit: one(CUDNN_ATTR_TENSOR_RAGGED_OFFSET_MULTIPLIER).unwrap_or(1) }),
            constant,
        };
        tensor.check(count, one(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT).unwrap_or(1))?;
        Ok(tensor)
    }

    fn check(&self, count: i64, alignment: i64) -> Result<(), Failure> {
        if self.dims.is_empty() || self.dims.len() != self.strides.len() {
            let got = format_args!("{} sizes and {} strides", self.dims.len(), self.strides.len());
            return Err(Failure::invalid("tensor", got, "as many of each, at least 1"));
        }
        if let Some(bad) = self.dims.iter().find(|&&d| d < 1) {
            return Err(Failure::invalid("TENSOR_DIMENSIONS", bad, "sizes of at least 1"));
        }
        if let Some(bad) = self.strides.iter().find(|&&s| s < 0) {
            return Err(Failure::invalid("TENSOR_STRIDES", bad, "strides of at least 0"));
        }
        if matches!(self.dtype, CUDNN_DATA_INT8x4 | CUDNN_DATA_UINT8x4 | CUDNN_DATA_INT8x32) {
            let what = "a packed data type: set INT8 with a VECTOR_COUNT";
            return Err(Failure::unsupported(what));
        }
        if !matches!(count, 1 | 4 | 32) {
            return Err(Failure::invalid("TENSOR_VECTOR_COUNT", count, "1, 4 or 32"));
        }
        let bits = self.real_type().map_or(8, DataType::bits) as i64;
        if alignment < 1 || alignment * 8 % bits != 0 {
            return Err(Failure::invalid("TENSOR_BYTE_ALIGNMENT", alignment, "a multiple of the element's size"));
        }
        self.tensor().map(drop)
    }

    /// The element type, if oxidnn has it. Bit-packed booleans are bytes to a program's steps.
    ///
    /// # Errors
    /// `NOT_SUPPORTED_DATA_TYPE`.
    pub(crate) fn real_type(&self) -> Result<DataType, Failure> {
        match self.dtype {
            CUDNN_DATA_BOOLEAN => Ok(DataType::U8),
            other => data_type("TENSOR_DATA_TYPE", other),
        }
    }

    /// Whether it is bit-packed booleans in the caller's memory.
    pub(crate) fn is_bits(&self) -> bool {
        self.dtype == CUDNN_DATA_BOOLEAN && !self.is_virtual
    }

    /// The oxidnn tensor. Vectorised dimensions become blocked ones, and sizes count elements.
    ///
    /// # Errors
    /// `NOT_SUPPORTED_DATA_TYPE`, `BAD_PARAM` for overlapping elements.
    pub(crate) fn tensor(&self) -> Result<Tensor, Failure> {
        let dtype = self.real_type()?;
        let Some((d, count)) = self.vector else {
            let strided = Tensor::with_strides(self.dims, dtype, Some(self.strides));
            // The layout of a virtual tensor does not matter, and cudnn-frontend sets impossible strides for some.
            return Ok(if self.is_virtual { strided.or_else(|_| Tensor::plain(self.dims, dtype))? } else { strided? });
        };
        let large = || Failure::invalid("tensor", self.dims, "sizes that 64 bits hold");
        let mut dims = self.dims;
        dims[d] = dims[d].checked_mul(count).ok_or_else(large)?;
        let strides: Option<Vec<i64>> = self.strides.iter().map(|s| s.checked_mul(count)).collect();
        let strides = strides.as_deref().and_then(Dims::new).ok_or_else(large)?;
        let mut inner = Blocks::default();
        inner.push(d, count);
        let padded_offsets = Dims::filled(dims.len(), 0);
        let blocking = Blocking { padded_dims: dims, padded_offsets, offset: 0, strides, inner, compensation: None };
        let tensor = Tensor { dtype, layout: Layout { dims, format: blocking.into() } };
        tensor.layout.check()?;
        Ok(tensor)
    }
}

/// The bytes of a scalar constant of the type.
fn constant(at: Data, dtype: i32) -> Result<Vec<u8>, Failure> {
    let bytes = data_type("TENSOR_DATA_TYPE", dtype)?.bits().div_ceil(8);
    at.some("TENSOR_CONSTANT_VALUE")?;
    Ok(host_bytes(at, bytes).to_vec())
}

//! Tensor descriptors.

use crate::enums::*;
use crate::pointers::{Array, ArrayMut, Data, Handle, In, InOut, New, Out, Owned};
use crate::status::{Failure, Status, guard};
use crate::steps::{Stamp, Stamped};
use crate::values;
use oxidnn_spec::{DataType, Dims, Tensor};

#[cfg(test)]
mod tests;

/// Limit on the dimensions of a descriptor: `CUDNN_DIM_MAX`.
pub(crate) const MOST_DIMS: usize = 8;

/// The object behind a `cudnnTensorDescriptor_t`.
#[derive(Clone, Debug, Default)]
pub struct TensorDesc {
    set: Option<Described>,
}

/// A tensor as the caller described it.
#[derive(Clone, Debug)]
pub(crate) struct Described {
    /// `cudnnDataType_t`.
    pub(crate) number: i32,
    /// Sizes; channels count single elements even for vectorised types.
    pub(crate) dims: Dims,
    /// Strides in elements, or in vectors for vectorised types.
    pub(crate) strides: Dims,
    /// The oxidnn tensor, if it can be represented.
    tensor: Result<Tensor, Failure>,
    stamp: Stamp,
}

impl Owned for TensorDesc {}

impl Stamped for TensorDesc {
    fn stamp(&self) -> Option<Stamp> {
        self.set.as_ref().map(|d| d.stamp)
    }
}

impl TensorDesc {
    /// The tensor.
    ///
    /// # Errors
    /// `BAD_PARAM` if nothing was set, `NOT_SUPPORTED` if oxidnn has no such tensor.
    pub(crate) fn tensor(&self, name: &str) -> Result<&Tensor, Failure> {
        self.described(name)?.tensor.as_ref().map_err(|e| e.clone().within(name))
    }

    /// The values that were set.
    ///
    /// # Errors
    /// `BAD_PARAM` if nothing was.
    pub(crate) fn described(&self, name: &str) -> Result<&Described, Failure> {
        self.set.as_ref().ok_or_else(|| Failure::invalid(name, "a descriptor that was never set", "one that describes a tensor"))
    }

    /// Sets the description.
    ///
    /// # Errors
    /// For sizes that are not positive, strides that are negative, and unknown data types.
    pub(crate) fn set(&mut self, number: i32, dims: Dims, strides: Dims) -> Result<(), Failure> {
        self.set = Some(Described::new(number, dims, strides)?);
        Ok(())
    }
}

impl<'a> In<'a, TensorDesc> {
    /// The tensor that a descriptor describes.
    ///
    /// # Errors
    /// For null, and as [`TensorDesc::tensor`].
    pub(crate) fn tensor(&self, name: &str) -> Result<&'a Tensor, Failure> {
        self.get(name)?.tensor(name)
    }
}

/// A scaling factor as a word of a call's key: all ones for null.
pub(crate) fn factor_bits(at: Data, like: In<'_, TensorDesc>) -> u64 {
    let wide = like.optional().and_then(|d| d.set.as_ref()).is_some_and(|d| d.number == CUDNN_DATA_DOUBLE);
    let value = if wide { at.read::<f64>("") } else { at.read::<f32>("").map(f64::from) };
    value.map_or(u64::MAX, f64::to_bits)
}

/// Elements per vector of a type; 1 for types that are not vectorised.
pub(crate) fn vector(number: i32) -> i64 {
    match number {
        CUDNN_DATA_INT8x4 | CUDNN_DATA_UINT8x4 => 4,
        CUDNN_DATA_INT8x32 => 32,
        _ => 1,
    }
}

/// The element type of a `cudnnDataType_t`.
///
/// # Errors
/// As [`values::data_type`].
pub(crate) fn element(name: &str, number: i32) -> Result<DataType, Failure> {
    match number {
        CUDNN_DATA_INT8x4 | CUDNN_DATA_INT8x32 => Ok(DataType::S8),
        CUDNN_DATA_UINT8x4 => Ok(DataType::U8),
        _ => values::data_type(name, number),
    }
}

impl Described {
    fn new(number: i32, dims: Dims, strides: Dims) -> Result<Described, Failure> {
        values::check("dataType", "cudnnDataType_t", number)?;
        if dims.iter().any(|&d| d < 1) {
            return Err(Failure::invalid("dimensions", dims, "sizes of at least 1"));
        }
        if strides.iter().any(|&s| s < 0) {
            return Err(Failure::invalid("strides", strides, "strides of at least 0"));
        }
        let v = vector(number);
        if v > 1 && (dims.len() < 2 || dims[1] % v != 0) {
            return Err(Failure::invalid("channels", dims, format_args!("a multiple of {v} for {}", name("cudnnDataType_t", number))));
        }
        let tensor = tensor_of(number, dims, strides);
        Ok(Described { number, dims, strides, tensor, stamp: Stamp::new() })
    }

    /// Size in bytes from the first to the end of the last element.
    fn bytes(&self) -> Result<usize, Failure> {
        let v = vector(self.number);
        let mut last = 0i64;
        for (d, (&size, &stride)) in self.dims.iter().zip(self.strides.iter()).enumerate() {
            let size = if d == 1 { size / v } else { size };
            last = (size - 1)
                .checked_mul(stride)
                .and_then(|n| last.checked_add(n))
                .ok_or_else(|| Failure::unsupported("a tensor of so many bytes"))?;
        }
        let elements = usize::try_from(last.saturating_add(1).saturating_mul(v)).unwrap_or(usize::MAX);
        let bits = match self.number {
            CUDNN_DATA_COMPLEX_FP32 => 64,
            CUDNN_DATA_COMPLEX_FP64 => 128,
            CUDNN_DATA_UINT32 => 32,
            CUDNN_DATA_BOOLEAN => 1,
            CUDNN_DATA_FAST_FLOAT_FOR_FP8 => 32,
            CUDNN_DATA_FP8_E5M3 => 8,
            number => element("dataType", number)?.bits(),
        };
        Ok(elements.saturating_mul(bits).div_ceil(8))
    }
}

fn tensor_of(number: i32, dims: Dims, strides: Dims) -> Result<Tensor, Failure> {
    let dtype = element("dataType", number)?;
    let v = vector(number);
    if v == 1 {
        return Ok(Tensor::with_strides(dims, dtype, Some(strides))?);
    }
    let mut tensor = Tensor::with_tag(dims, dtype, &vector_tag(dims.len(), v))?;
    if let Some(b) = tensor.layout.blocking_mut() {
        b.strides = Dims::from_fn(dims.len(), |d| strides[d].saturating_mul(v));
    }
    tensor.layout.check()?;
    Ok(tensor)
}

/// The blocked layout of channels in vectors of `v`, such as `aBcd4b`.
pub(crate) fn vector_tag(rank: usize, v: i64) -> String {
    let letters: String = ('a'..).take(rank).map(|c| if c == 'b' { 'B' } else { c }).collect();
    format!("{letters}{v}b")
}

/// Strides of a dense tensor in a format, in the order N, C, spatial.
///
/// # Errors
/// `BAD_PARAM` for an unknown format, or a vectorised format with another type.
pub(crate) fn strides_of(format: i32, number: i32, dims: &Dims) -> Result<Dims, Failure> {
    values::check("format", "cudnnTensorFormat_t", format)?;
    let (n, v) = (dims.len(), vector(number));
    if (format == CUDNN_TENSOR_NCHW_VECT_C) != (v > 1) {
        return Err(Failure::invalid(
            "format",
            format_args!("{} with {}", name("cudnnTensorFormat_t", format), name("cudnnDataType_t", number)),
            "CUDNN_TENSOR_NCHW_VECT_C for vectors of channels, and for these only",
        ));
    }
    let order: Vec<usize> = match format {
        CUDNN_TENSOR_NHWC if n > 2 => (0..1).chain(2..n).chain(1..2).collect(),
        _ => (0..n).collect(),
    };
    let (mut strides, mut step) = (Dims::filled(n, 0), 1i64);
    for &d in order.iter().rev() {
        strides[d] = step;
        let size = if d == 1 { dims[d] / v } else { dims[d] };
        step = step.checked_mul(size.max(1)).ok_or_else(|| Failure::unsupported("a tensor of so many elements"))?;
    }
    Ok(strides)
}

/// Whether each sample is contiguous.
pub(crate) fn is_row(tensor: &Tensor) -> bool {
    let Some(b) = tensor.blocking() else { return false };
    let mut inner: Vec<(i64, i64)> = b.strides.iter().copied().zip(tensor.dims().iter().copied()).skip(1).filter(|d| d.1 > 1).collect();
    inner.sort_unstable();
    let mut step = 1;
    inner.into_iter().all(|(stride, size)| {
        let fits = stride == step;
        step *= size;
        fits
    })
}

/// A list of the caller's as [`Dims`].
///
/// # Errors
/// `NOT_SUPPORTED` for more than [`MOST_DIMS`] dimensions, `BAD_PARAM` for none.
pub(crate) fn list(name: &str, array: Array<'_, i32>, len: i32) -> Result<Dims, Failure> {
    let n = usize::try_from(len).ok().filter(|n| (1..=MOST_DIMS).contains(n));
    let n = n.ok_or_else(|| Failure::invalid(format_args!("number of {name}"), len, format_args!("1 to {MOST_DIMS}")))?;
    let values = array.slice(name, n)?;
    Ok(Dims::from_fn(n, |i| i64::from(values[i])))
}

/// The first `requested` values of a list, for the caller.
pub(crate) fn give(array: ArrayMut<'_, i32>, dims: &[i64], requested: i32) {
    let count = usize::try_from(requested).unwrap_or(0).min(dims.len());
    let values: Vec<i32> = dims[..count].iter().map(|&d| d as i32).collect();
    array.fill_optional(&values);
}

/// `cudnnCreateTensorDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnCreateTensorDescriptor(desc: New<'_, TensorDesc>) -> Status {
    guard("cudnnCreateTensorDescriptor", || desc.own("tensorDesc", || Ok(TensorDesc::default())))
}

/// `cudnnDestroyTensorDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnDestroyTensorDescriptor(desc: Handle<TensorDesc>) -> Status {
    guard("cudnnDestroyTensorDescriptor", || {
        desc.destroy();
        Ok(())
    })
}

/// `cudnnSetTensor4dDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnSetTensor4dDescriptor(
    desc: InOut<'_, TensorDesc>,
    format: i32,
    dtype: i32,
    n: i32,
    c: i32,
    h: i32,
    w: i32,
) -> Status {
    guard("cudnnSetTensor4dDescriptor", || {
        let dims = Dims::from([n, c, h, w].map(i64::from));
        desc.get("tensorDesc")?.set(dtype, dims, strides_of(format, dtype, &dims)?)
    })
}

/// `cudnnSetTensor4dDescriptorEx`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnSetTensor4dDescriptorEx(
    desc: InOut<'_, TensorDesc>,
    dtype: i32,
    n: i32,
    c: i32,
    h: i32,
    w: i32,
    n_stride: i32,
    c_stride: i32,
    h_stride: i32,
    w_stride: i32,
) -> Status {
    guard("cudnnSetTensor4dDescriptorEx", || {
        let strides = [n_stride, c_stride, h_stride, w_stride].map(i64::from);
        desc.get("tensorDesc")?.set(dtype, [n, c, h, w].map(i64::from).into(), strides.into())
    })
}

/// `cudnnGetTensor4dDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetTensor4dDescriptor(
    desc: In<'_, TensorDesc>,
    dtype: Out<'_, i32>,
    n: Out<'_, i32>,
    c: Out<'_, i32>,
    h: Out<'_, i32>,
    w: Out<'_, i32>,
    n_stride: Out<'_, i32>,
    c_stride: Out<'_, i32>,
    h_stride: Out<'_, i32>,
    w_stride: Out<'_, i32>,
) -> Status {
    guard("cudnnGetTensor4dDescriptor", || {
        let d = desc.get("tensorDesc")?.described("tensorDesc")?;
        if d.dims.len() != 4 {
            return Err(Failure::invalid("tensorDesc", format_args!("{} dimensions", d.dims.len()), "4"));
        }
        dtype.set_optional(d.number);
        for (place, value) in [n, c, h, w].into_iter().zip(d.dims.iter()) {
            place.set_optional(*value as i32);
        }
        for (place, value) in [n_stride, c_stride, h_stride, w_stride].into_iter().zip(d.strides.iter()) {
            place.set_optional(*value as i32);
        }
        Ok(())
    })
}

/// `cudnnSetTensorNdDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnSetTensorNdDescriptor(
    desc: InOut<'_, TensorDesc>,
    dtype: i32,
    count: i32,
    dims: Array<'_, i32>,
    strides: Array<'_, i32>,
) -> Status {
    guard("cudnnSetTensorNdDescriptor", || {
        let (dims, strides) = (list("dimA", dims, count)?, list("strideA", strides, count)?);
        desc.get("tensorDesc")?.set(dtype, dims, strides)
    })
}

/// `cudnnSetTensorNdDescriptorEx`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnSetTensorNdDescriptorEx(
    desc: InOut<'_, TensorDesc>,
    format: i32,
    dtype: i32,
    count: i32,
    dims: Array<'_, i32>,
) -> Status {
    guard("cudnnSetTensorNdDescriptorEx", || {
        let dims = list("dimA", dims, count)?;
        desc.get("tensorDesc")?.set(dtype, dims, strides_of(format, dtype, &dims)?)
    })
}

/// `cudnnGetTensorNdDescriptor`: returns as many sizes and strides as the caller asks for.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetTensorNdDescriptor(
    desc: In<'_, TensorDesc>,
    requested: i32,
    dtype: Out<'_, i32>,
    count: Out<'_, i32>,
    dims: ArrayMut<'_, i32>,
    strides: ArrayMut<'_, i32>,
) -> Status {
    guard("cudnnGetTensorNdDescriptor", || {
        let d = desc.get("tensorDesc")?.described("tensorDesc")?;
        dtype.set_optional(d.number);
        count.set_optional(d.dims.len() as i32);
        give(dims, &d.dims, requested);
        give(strides, &d.strides, requested);
        Ok(())
    })
}

/// `cudnnGetTensorSizeInBytes`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetTensorSizeInBytes(desc: In<'_, TensorDesc>, size: Out<'_, usize>) -> Status {
    guard("cudnnGetTensorSizeInBytes", || size.set("size", desc.get("tensorDesc")?.described("tensorDesc")?.bytes()?))
}

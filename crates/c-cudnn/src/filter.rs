//! Filter descriptors.

use crate::pointers::{Array, ArrayMut, Handle, In, InOut, New, Out, Owned};
use crate::status::{Failure, Status, guard};
use crate::steps::{Stamp, Stamped};
use crate::tensor::{element, give, list, strides_of, vector, vector_tag};
use crate::values;
use oxidnn_spec::{DataType, Dims, Tensor};

/// The object behind a `cudnnFilterDescriptor_t`.
#[derive(Clone, Debug, Default)]
pub struct FilterDesc {
    set: Option<Filter>,
}

/// A filter: K x C x spatial, dense in a format.
#[derive(Clone, Debug)]
pub(crate) struct Filter {
    /// `cudnnDataType_t`.
    pub(crate) number: i32,
    /// `cudnnTensorFormat_t`.
    pub(crate) format: i32,
    /// Output channels, input channels per group, spatial sizes.
    pub(crate) dims: Dims,
    /// The oxidnn tensor.
    pub(crate) tensor: Tensor,
    stamp: Stamp,
}

impl Owned for FilterDesc {}

impl Stamped for FilterDesc {
    fn stamp(&self) -> Option<Stamp> {
        self.set.as_ref().map(|f| f.stamp)
    }
}

impl FilterDesc {
    /// Sets the description.
    ///
    /// # Errors
    /// For sizes that are not positive, unknown types and formats.
    pub(crate) fn set(&mut self, number: i32, format: i32, dims: Dims) -> Result<(), Failure> {
        values::check("dataType", "cudnnDataType_t", number)?;
        if dims.iter().any(|&d| d < 1) {
            return Err(Failure::invalid("filter dimensions", dims, "sizes of at least 1"));
        }
        let (dtype, strides) = (element("dataType", number)?, strides_of(format, number, &dims)?);
        let tensor = match vector(number) {
            1 => Tensor::with_strides(dims, dtype, Some(strides))?,
            v if dims.len() > 1 && dims[1] % v == 0 => Tensor::with_tag(dims, dtype, &vector_tag(dims.len(), v))?,
            v => return Err(Failure::invalid("input channels", dims, format_args!("a multiple of {v}"))),
        };
        self.set = Some(Filter { number, format, dims, tensor, stamp: Stamp::new() });
        Ok(())
    }

    /// The values that were set.
    ///
    /// # Errors
    /// `BAD_PARAM` if nothing was.
    pub(crate) fn filter(&self, name: &str) -> Result<&Filter, Failure> {
        self.set.as_ref().ok_or_else(|| Failure::invalid(name, "a descriptor that was never set", "one that describes a filter"))
    }
}

impl<'a> In<'a, FilterDesc> {
    /// The filter that a descriptor describes.
    ///
    /// # Errors
    /// For null, and as [`FilterDesc::filter`].
    pub(crate) fn filter(&self, name: &str) -> Result<&'a Filter, Failure> {
        self.get(name)?.filter(name)
    }
}

impl Filter {
    /// The weights with a leading dimension of groups.
    ///
    /// # Errors
    /// `BAD_PARAM` if the groups do not divide the output channels, `NOT_SUPPORTED` for groups with vectorised channels.
    pub(crate) fn grouped(&self, groups: i64) -> Result<Tensor, Failure> {
        if groups == 1 {
            return Ok(self.tensor.clone());
        }
        let k = self.dims[0];
        if k % groups != 0 {
            return Err(Failure::invalid("output channels of the filter", k, format_args!("a multiple of the group count {groups}")));
        }
        let Some(b) = self.tensor.blocking().filter(|b| b.is_plain()) else {
            return Err(Failure::unsupported("groups of filters of vectors of channels"));
        };
        let n = self.dims.len() + 1;
        let pick =
            |list: &Dims, first: i64, second: i64| Dims::from_fn(n, |d| [first, second].get(d).copied().unwrap_or_else(|| list[d - 1]));
        let dims = pick(&self.dims, groups, k / groups);
        let strides = pick(&b.strides, b.strides[0] * (k / groups), b.strides[0]);
        Ok(Tensor::with_strides(dims, self.tensor.dtype, Some(strides))?)
    }

    /// The element type.
    pub(crate) fn dtype(&self) -> DataType {
        self.tensor.dtype
    }
}

/// `cudnnCreateFilterDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnCreateFilterDescriptor(desc: New<'_, FilterDesc>) -> Status {
    guard("cudnnCreateFilterDescriptor", || desc.own("filterDesc", || Ok(FilterDesc::default())))
}

/// `cudnnDestroyFilterDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnDestroyFilterDescriptor(desc: Handle<FilterDesc>) -> Status {
    guard("cudnnDestroyFilterDescriptor", || {
        desc.destroy();
        Ok(())
    })
}

/// `cudnnSetFilter4dDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnSetFilter4dDescriptor(
    desc: InOut<'_, FilterDesc>,
    dtype: i32,
    format: i32,
    k: i32,
    c: i32,
    h: i32,
    w: i32,
) -> Status {
    guard("cudnnSetFilter4dDescriptor", || desc.get("filterDesc")?.set(dtype, format, [k, c, h, w].map(i64::from).into()))
}

/// `cudnnGetFilter4dDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetFilter4dDescriptor(
    desc: In<'_, FilterDesc>,
    dtype: Out<'_, i32>,
    format: Out<'_, i32>,
    k: Out<'_, i32>,
    c: Out<'_, i32>,
    h: Out<'_, i32>,
    w: Out<'_, i32>,
) -> Status {
    guard("cudnnGetFilter4dDescriptor", || {
        let filter = desc.filter("filterDesc")?;
        if filter.dims.len() != 4 {
            return Err(Failure::invalid("filterDesc", format_args!("{} dimensions", filter.dims.len()), "4"));
        }
        dtype.set_optional(filter.number);
        format.set_optional(filter.format);
        for (place, value) in [k, c, h, w].into_iter().zip(filter.dims.iter()) {
            place.set_optional(*value as i32);
        }
        Ok(())
    })
}

/// `cudnnSetFilterNdDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnSetFilterNdDescriptor(
    desc: InOut<'_, FilterDesc>,
    dtype: i32,
    format: i32,
    count: i32,
    dims: Array<'_, i32>,
) -> Status {
    guard("cudnnSetFilterNdDescriptor", || desc.get("filterDesc")?.set(dtype, format, list("filterDimA", dims, count)?))
}

/// `cudnnGetFilterNdDescriptor`: returns as many sizes as the caller asks for.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetFilterNdDescriptor(
    desc: In<'_, FilterDesc>,
    requested: i32,
    dtype: Out<'_, i32>,
    format: Out<'_, i32>,
    count: Out<'_, i32>,
    dims: ArrayMut<'_, i32>,
) -> Status {
    guard("cudnnGetFilterNdDescriptor", || {
        let filter = desc.filter("filterDesc")?;
        dtype.set_optional(filter.number);
        format.set_optional(filter.format);
        count.set_optional(filter.dims.len() as i32);
        give(dims, &filter.dims, requested);
        Ok(())
    })
}

/// `cudnnGetFilterSizeInBytes`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetFilterSizeInBytes(desc: In<'_, FilterDesc>, size: Out<'_, usize>) -> Status {
    guard("cudnnGetFilterSizeInBytes", || size.set("size", desc.filter("filterDesc")?.tensor.bytes()))
}

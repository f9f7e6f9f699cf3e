//! Logical tensors: the inputs and outputs of operations, by number, before there is any memory.

use crate::Error;
use oxidnn_spec::{DataType, Dims, Tensor};

/// A dimension or stride that is not known yet.
pub const UNKNOWN: i64 = i64::MIN;

/// The layout of a logical tensor's elements in memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum LayoutType {
    /// Not said: the same as [`LayoutType::Any`] where the library writes, an error where it reads.
    #[default]
    Undef,
    /// The library chooses when a partition is compiled.
    Any,
    /// By strides.
    Strided,
    /// The layout of this number. No compiled partition of this library returns one: its layouts all have strides.
    Opaque(usize),
}

/// How much is known about the contents of a logical tensor.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum Property {
    /// Nothing.
    #[default]
    Undef,
    /// They may change from execution to execution.
    Variable,
    /// They are the same in every execution.
    Constant,
    /// One number that lives on the host.
    HostScalar,
}

/// A logical tensor: a number that names it, and what is known about it so far.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LogicalTensor {
    /// The name: equal numbers of one graph are the same tensor.
    pub id: usize,
    /// Type of the elements.
    pub dtype: Option<DataType>,
    /// Sizes, [`UNKNOWN`] where not known; `None` where not even the rank is; none of them: one number.
    pub dims: Option<Dims>,
    /// Distances in elements between indices, one a dimension, where the layout is strided; [`UNKNOWN`] where not known.
    pub strides: Dims,
    /// Kind of layout.
    pub layout: LayoutType,
    /// How much is known about the contents.
    pub property: Property,
}

impl LogicalTensor {
    /// A tensor of unknown sizes: `rank` of them, or not even that. A host scalar is one number with a type that hosts have.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`].
    pub fn new(
        id: usize,
        dtype: Option<DataType>,
        rank: Option<usize>,
        layout: LayoutType,
        property: Property,
    ) -> Result<LogicalTensor, Error> {
        if let Some(rank) = rank.filter(|&r| r > oxidnn_spec::MAX_NDIMS) {
            return Err(Error::argument("ndims", rank, "at most 12"));
        }
        let dims = rank.map(|n| Dims::filled(n, UNKNOWN));
        LogicalTensor { id, dtype, dims, strides: dims.unwrap_or_default(), layout, property }.checked()
    }

    /// A tensor of `dims`; row-major where the layout is strided and all sizes are known.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`].
    pub fn with_dims(
        id: usize,
        dtype: Option<DataType>,
        dims: Dims,
        layout: LayoutType,
        property: Property,
    ) -> Result<LogicalTensor, Error> {
        let known = layout == LayoutType::Strided && dims.iter().all(|&d| d >= 0);
        let strides = if known { row_major(&dims) } else { Dims::filled(dims.len(), UNKNOWN) };
        LogicalTensor { id, dtype, dims: Some(dims), strides, layout, property }.checked()
    }

    /// A strided tensor.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`].
    pub fn with_strides(id: usize, dtype: Option<DataType>, dims: Dims, strides: Dims, property: Property) -> Result<LogicalTensor, Error> {
        LogicalTensor { id, dtype, dims: Some(dims), strides, layout: LayoutType::Strided, property }.checked()
    }

    fn checked(self) -> Result<LogicalTensor, Error> {
        let number = matches!(self.dtype, Some(DataType::S32 | DataType::S64 | DataType::F32)) && self.dims.is_some_and(|d| d.is_empty());
        if self.property == Property::HostScalar && !number {
            return Err(Error::argument("host scalar", "another type or rank", "one number (ndims 0) of type s32, s64 or f32"));
        }
        Ok(self)
    }

    /// The sizes, where all of them are known.
    pub fn known_dims(&self) -> Option<Dims> {
        self.dims.filter(|d| d.iter().all(|&v| v >= 0))
    }

    /// The same tensor, strided, of `dims` and `strides`.
    pub(crate) fn resolved(self, dims: Dims, strides: Dims) -> LogicalTensor {
        LogicalTensor { dims: Some(dims), strides, layout: LayoutType::Strided, ..self }
    }

    /// The description of its memory; one number is a tensor of one dimension.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] where something about it is not known, or the strides make no tensor.
    pub fn tensor(&self) -> Result<Tensor, Error> {
        let missing =
            |what: &str| Error::argument(format_args!("logical tensor {}", self.id), format_args!("no {what}"), "all of it known");
        let dtype = self.dtype.ok_or_else(|| missing("data type"))?;
        if self.property == Property::HostScalar {
            return Ok(Tensor::host_scalar(dtype));
        }
        let dims = self.known_dims().ok_or_else(|| missing("sizes"))?;
        if self.layout != LayoutType::Strided || self.strides.contains(&UNKNOWN) {
            return Err(missing("strides"));
        }
        if dims.is_empty() {
            return Ok(Tensor::plain([1], dtype)?);
        }
        Ok(Tensor::with_strides(dims, dtype, Some(self.strides))?)
    }

    /// Bytes from the first element to the last; 0 where sizes are unknown.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] for a tensor of unknown type or layout.
    pub fn bytes(&self) -> Result<usize, Error> {
        match self.property {
            Property::HostScalar => Ok(self.dtype.map_or(0, |d| d.bits() / 8)),
            _ => Ok(self.tensor()?.bytes()),
        }
    }

    /// True if `other`, the same tensor as another operation describes it, does not contradict: the kinds of layouts are equal, and so is
    /// everything that both know.
    pub(crate) fn agrees(&self, other: &LogicalTensor) -> bool {
        let sizes =
            |a: &Dims, b: &Dims| a.len() == b.len() && a.iter().zip(b.iter()).all(|(&x, &y)| x == y || x == UNKNOWN || y == UNKNOWN);
        let alike = self.dtype == other.dtype && self.property == other.property && self.layout == other.layout;
        alike && self.dims.zip(other.dims).is_none_or(|(a, b)| sizes(&a, &b))
    }
}

/// Strides of a row-major tensor; empty dimensions count as 1.
pub(crate) fn row_major(dims: &[i64]) -> Dims {
    let mut strides = Dims::filled(dims.len(), 1);
    for d in (1..dims.len()).rev() {
        strides[d - 1] = strides[d].saturating_mul(dims[d].max(1));
    }
    strides
}

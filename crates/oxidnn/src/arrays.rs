//! Conversion between arrays of the crate `ndarray` and memory.

use ndarray::{ArrayBase, ArrayD, Data, Dimension, IxDyn};
use oxidnn_runtime::{Engine, Memory, Native};
use oxidnn_spec::{Dims, Error};

/// Memory from arrays, and arrays from memory; the feature `ndarray`.
///
/// ```
/// use oxidnn::{Arrays, prelude::*};
///
/// # fn main() -> Result<(), oxidnn::Error> {
/// let engine = Engine::cpu();
/// let image = ndarray::Array4::<f32>::from_elem((1, 3, 8, 8), 0.5);
/// let memory = Memory::from_array(&engine, &image.permuted_axes([0, 2, 3, 1]))?; // in the order of the view
/// assert_eq!(memory.tensor().dims()[..], [1, 8, 8, 3]);
/// assert_eq!(memory.to_array::<f32>()?.sum(), 96.0);
/// # Ok(())
/// # }
/// ```
pub trait Arrays: Sized {
    /// Owned memory for a plain tensor with the array's sizes and elements.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] for more dimensions than a tensor has; [`Error::OutOfMemory`].
    fn from_array<T: Native, D: Dimension>(engine: &Engine, array: &ArrayBase<impl Data<Elem = T>, D>) -> Result<Self, Error>;

    /// Every element, whatever the layout, of a tensor whose data type is `T`'s.
    ///
    /// # Errors
    /// As [`Memory::read`].
    fn to_array<T: Native>(&self) -> Result<ArrayD<T>, Error>;
}

impl Arrays for Memory<'static> {
    fn from_array<T: Native, D: Dimension>(engine: &Engine, array: &ArrayBase<impl Data<Elem = T>, D>) -> Result<Self, Error> {
        Memory::from_vec(engine, Dims::try_from(array.shape().to_vec())?, array.iter().copied().collect())
    }

    fn to_array<T: Native>(&self) -> Result<ArrayD<T>, Error> {
        let shape: Vec<usize> = self.tensor().dims().iter().map(|&d| usize::try_from(d).unwrap_or(0)).collect();
        ArrayD::from_shape_vec(IxDyn(&shape), self.read::<T>()?).map_err(|e| Error::Runtime(e.to_string()))
    }
}

//! What C passes: places for results.

use crate::error::Error;
use std::mem::MaybeUninit;

/// `T *`: a place for a result, which the caller's C promises to be null or valid.
#[derive(Debug)]
#[repr(transparent)]
pub struct Out<'a, T>(Option<&'a mut MaybeUninit<T>>);

impl<T> Out<'_, T> {
    /// Writes the result.
    ///
    /// # Errors
    /// `cudaErrorInvalidValue` for null.
    pub fn set(self, value: T) -> Result<(), Error> {
        self.0.ok_or(Error::INVALID_VALUE)?.write(value);
        Ok(())
    }

    /// Writes the result if there is a place for it.
    pub fn set_optional(self, value: T) {
        if let Some(place) = self.0 {
            place.write(value);
        }
    }
}

//! Types of C's pointer parameters: where to write results.

use crate::error::Error;
use std::mem::MaybeUninit;

/// `T *`: where to write a result; the C caller promises that it is null or valid.
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

    /// Writes the result if the pointer is not null.
    pub fn set_optional(self, value: T) {
        if let Some(place) = self.0 {
            place.write(value);
        }
    }
}

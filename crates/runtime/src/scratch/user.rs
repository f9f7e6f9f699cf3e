//! The caller's scratchpad.

use crate::{Bound, Region};
use oxidnn_spec::{Arg, Error};

/// The scratchpad, unless it overlaps an argument. Kernels keep tables of addresses there: an overwritten table would be read as addresses.
///
/// # Errors
/// [`Error::InvalidArguments`] with the argument that shares bytes with it.
pub(crate) fn unaliased<'a>(scratchpad: Region<'a>, args: &[Bound<'_>]) -> Result<Region<'a>, Error> {
    match args.iter().find(|b| b.regions.iter().any(|region| region.overlaps(&scratchpad))) {
        Some(shared) => Err(Error::arg(Arg::SCRATCHPAD, format!("memory that is also passed as {}", shared.arg), "memory of its own")),
        None => Ok(scratchpad),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Allocation;
    use oxidnn_spec::{DataType, Tensor, Use};

    #[test]
    fn a_scratchpad_that_is_an_argument_too_is_refused() {
        let (memory, tensor) = (Allocation::host(256).unwrap(), Tensor::plain([16], DataType::F32).unwrap());
        let part = |start: usize, len: usize| memory.region().part(start, len);
        for usage in [Use::In, Use::Out] {
            let regions = [part(0, 16), part(64, 64)];
            let args = [Bound { arg: Arg::DST, usage, tensor: &tensor, regions: &regions, notes: None }];
            for (start, len) in [(0, 1), (0, 256), (32, 33), (127, 100)] {
                let error = unaliased(part(start, len), &args).unwrap_err();
                assert!(error.to_string().contains("scratchpad") && error.to_string().contains("dst"), "{error}");
            }
            for (start, len) in [(16, 48), (128, 128), (100, 0)] {
                assert_eq!(unaliased(part(start, len), &args).unwrap().len(), len);
            }
        }
    }
}

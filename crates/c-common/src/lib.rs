//! oneDNN's C interface as data: the enumerators that correspond to our types ([`numbers`]), the names of all enumerators ([`names`]), the status
//! codes, and the structures whose layout is part of the ABI ([`records`]). Used by the library that implements this interface and by programs that call it.
#![forbid(unsafe_code)]

pub mod names;
pub mod numbers;
pub mod records;
mod status;

pub use status::Status;

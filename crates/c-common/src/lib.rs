//! oneDNN's C interface as data: the numbers that stand for our types ([`numbers`]), the names of all enumerators ([`names`]), the status
//! codes, and the structures whose layout clients know ([`records`]). Shared by the library that has this interface and by the one that calls it.
#![forbid(unsafe_code)]

pub mod names;
pub mod numbers;
pub mod records;
mod status;

pub use status::Status;

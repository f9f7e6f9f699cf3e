//! Tests of correctness: filling inputs, comparing outputs, tolerances, and the harness that runs every implementation row of a problem
//! against the reference; also the reader of vectors made outside the project.
#![forbid(unsafe_code)]

pub mod compare;
pub mod concrete;
pub mod fill;
pub mod harness;
pub mod host;
pub mod idx;
pub mod judge;
pub mod sweep;
pub mod targets;
pub mod tolerance;
pub mod vectors;

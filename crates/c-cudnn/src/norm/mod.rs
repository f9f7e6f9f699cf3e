//! Batch normalisation, per channel or per activation: one implementation under cuDNN's three interfaces.

mod batch;
mod composed;
mod general;
mod run;

pub use batch::*;
pub use general::*;

//! Normalisation over batches: per channel, or per activation. One mechanism under cuDNN's three interfaces of it.

mod batch;
mod composed;
mod general;
mod run;

pub use batch::*;
pub use general::*;

//! Shared by the training examples: a small net on the primitives, its training loop, and the generator behind every random choice.

pub(crate) mod net;
pub(crate) mod random;
pub(crate) mod train;
pub(crate) mod training;

#[cfg(test)]
mod tests;

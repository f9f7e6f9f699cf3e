//! Operations that no primitive of oxidnn computes: plain loops over the host's memory, after the stream's work is done. Everything else in
//! this crate is made of primitives.
//!
//! - `alignment`: the loss of connectionist temporal classification.
//! - `argmax`: the positions of extrema. Reductions give values only.
//! - `divisive`: divisive normalisation.
//! - `neighbours`: aggregates over neighbours in graphs.
//! - `recurrence`: recurrent cells of doubles, and of LSTMs that are clipped.
//! - `sampler`: bilinear samples at given points.
//! - `view`: tensors as numbers by position, for the others.

pub(crate) mod alignment;
pub(crate) mod argmax;
pub(crate) mod divisive;
pub(crate) mod neighbours;
pub(crate) mod recurrence;
pub(crate) mod sampler;
pub(crate) mod view;

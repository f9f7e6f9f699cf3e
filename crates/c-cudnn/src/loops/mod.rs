//! Operations that no primitive of oxidnn computes: plain loops over host memory, after the stream's work is done. Everything else in this crate is made of
//! primitives.
//!
//! - `alignment`: the CTC loss.
//! - `argmax`: the positions of extrema. Reductions give values only.
//! - `divisive`: divisive normalisation.
//! - `neighbours`: aggregation over neighbours in graphs.
//! - `recurrence`: recurrent cells in double precision, and clipped LSTMs.
//! - `sampler`: bilinear samples at given points.
//! - `view`: element access, for the others.

pub(crate) mod alignment;
pub(crate) mod argmax;
pub(crate) mod divisive;
pub(crate) mod neighbours;
pub(crate) mod recurrence;
pub(crate) mod sampler;
pub(crate) mod view;

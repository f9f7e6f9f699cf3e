//! Recurrent networks.
//!
//! One primitive computes one layer in one direction over steps in which the same samples are alive (`plan`); layers, directions and
//! lengths of sequences are loops around it. Everything is computed in single precision, except for networks of doubles and LSTMs with
//! clipped cells, which are computed in double precision by loops (`by_loops`). cuDNN's two backward functions are one primitive: the first
//! computes all gradients and keeps those of the weights in the reserve space, the second hands them out.

mod backward;
mod by_loops;
mod data;
mod desc;
mod forward;
mod functions;
mod layer;
mod plan;
mod weights;

pub use data::*;
pub use desc::*;
pub use functions::*;

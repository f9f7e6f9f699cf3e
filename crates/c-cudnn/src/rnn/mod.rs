//! Recurrent networks: `cudnnRNNForward` and the two backward functions.
//!
//! One primitive computes one layer in one direction over a segment, which is a range of time steps with the same active sequences (`plan`).
//! Loops around it cover segments, directions and layers. The primitive computes in single precision. Networks of doubles, and LSTMs whose
//! cell state is clipped, are computed in double precision on the host (`by_loops`). cuDNN has two backward functions, the primitive one
//! backward pass: the first function computes all gradients and keeps those of the weights in the reserve space, the second copies them to
//! the caller.

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

//! Convolution: descriptors, algorithms, and the three passes.

mod algorithms;
mod bias;
mod columns;
mod desc;
mod flip;
mod functions;
mod perf;
mod request;

pub use bias::*;
pub use columns::*;
pub use desc::*;
pub use functions::*;
pub use perf::*;

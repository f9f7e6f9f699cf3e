//! Convolution: descriptors, algorithms, and the three passes.

pub(crate) mod algorithms;
mod bias;
mod columns;
mod desc;
mod flip;
mod folded;
mod functions;
mod perf;
pub(crate) mod request;

pub use bias::*;
pub use columns::*;
pub use desc::*;
pub use folded::*;
pub use functions::*;
pub use perf::*;

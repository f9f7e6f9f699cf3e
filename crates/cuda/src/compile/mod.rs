//! Kernels from source to code: embedded files, NVRTC, and the code that is there already.

mod ahead;
mod files;
mod loader;
mod nvrtc;

pub use files::{HEADERS, kernel, waits};
pub use loader::{Loader, prebuild, store};
pub use nvrtc::compile;

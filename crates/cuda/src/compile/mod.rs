//! Kernels from source to loaded code: embedded files, NVRTC, the kernel store, preloading.

mod ahead;
mod files;
mod loader;
mod nvrtc;

pub use files::{HEADERS, kernel, waits};
pub use loader::{Loader, prebuild, store};
pub use nvrtc::compile;

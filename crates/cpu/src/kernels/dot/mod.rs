//! `dot`: sums of products over address lists, the one portable compute block of convolution, deconvolution, inner product and matmul.
//!
//! `tile` is the register-blocked kernel, `block` runs it over a block of rows and columns. Everything is `f32`: other types are converted
//! while they are copied into scratch, which costs little beside the products and keeps one kernel for all of them.

pub mod block;
pub mod pack;
pub mod product;
pub mod sums;
mod tile;

pub use block::{Block, Rows, accumulate};
pub use tile::{MAX_ROWS, Tap, panel_width};

//! Generators of kernels that know addresses and strides, and nothing of tensors.

pub mod blend;
pub mod byte_table;
pub mod bytes;
#[cfg(test)]
mod cases;
pub mod columns;
pub mod depthwise;
pub mod dot;
pub mod gather;
pub mod gemv;
pub mod interleave;
pub mod interpolate;
pub mod lookup;
pub mod permute;
pub mod pool;
pub mod strips;
pub mod tiles;
pub mod transpose;
pub mod unpack;
pub mod winograd;

//! Generators of kernels that know addresses and strides, and nothing of tensors.

pub mod dot;

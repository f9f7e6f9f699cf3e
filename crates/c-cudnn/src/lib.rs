//! `libcudnn.so.9`: cuDNN's C interface over oxidnn, so that programs written for cuDNN run on it unchanged.
//!
//! Each exported function takes the types of [`pointers`], which are pointers to C and checked values to Rust. Its body, run by
//! [`status::guard`], translates the arguments, calls the runtime, and turns errors into a status and a text for `cudnnGetLastErrorString`;
//! a panic becomes `CUDNN_STATUS_INTERNAL_ERROR`. Whatever a primitive of oxidnn supports, the function supports.

#![allow(non_snake_case, non_upper_case_globals, reason = "exported functions and enumerators have cuDNN's names")]

pub mod activation;
pub mod attention;
pub mod backend;
pub mod causal;
pub mod chained;
pub mod conv;
pub mod ctc;
pub mod dropout;
pub mod enums;
mod exec;
pub mod filter;
pub mod fused;
pub mod graphs;
pub mod handle;
mod host_runtime;
pub mod logging;
mod loops;
pub mod lrn;
mod measured;
mod nan;
pub mod norm;
pub mod pointers;
pub mod pointwise;
pub mod pooling;
pub mod reduce;
pub mod rnn;
mod snippet;
pub mod softmax;
pub mod spatial;
pub mod status;
mod steps;
pub mod tensor;
pub mod transform;
pub mod values;
pub mod version;

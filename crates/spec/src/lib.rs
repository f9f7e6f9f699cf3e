//! Problems as plain data: data types, layouts, tensors, operations, attributes, errors, and the text grammar of problems.
//!
//! Nothing here knows an engine, allocates device memory or computes a tensor element. A value of [`Problem`] is the cache key, the
//! verbose line and the line that reproduces a report, all in one.
#![forbid(unsafe_code)]

mod arg;
mod attr;
mod check;
mod dims;
mod dtype;
mod error;
mod layout;
pub mod op;
mod problem;
pub mod text;
mod work;

pub use arg::Arg;
pub use attr::{
    Accumulation, Attr, Dropout, DynamicDim, FpMath, FpMathMode, MAX_POST_OPS, PostOp, Quant, QuantMode, RnnLinear, RnnQuant, Rounding,
    ScratchpadMode,
};
pub use dims::{Dims, MAX_NDIMS, RUNTIME, Real};
pub use dtype::{DataType, UnknownDataType};
pub use error::{Error, Invalid, Refusal};
pub use layout::{Blocking, Blocks, Compensation, Format, Layout, Loop, Nest, Packed, Sparse, TagError, Tensor};
pub use op::{Op, Operand, Prop, Use};
pub use problem::Problem;

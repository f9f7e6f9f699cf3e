//! oxidnn: deep-learning primitives on CPUs and NVIDIA GPUs.
//!
//! Describe an operation on an [`Engine`], bring weights into the layout that it asks for, create the primitive, execute it on a [`Stream`]:
//!
//! ```
//! use oxidnn::prelude::*;
//!
//! # fn main() -> Result<(), oxidnn::Error> {
//! let engine = Engine::cpu();
//! let stream = Stream::new(&engine)?;
//! let desc = Conv::forward(Prop::ForwardInference)
//!     .src([1, 64, 56, 56], F32)
//!     .weights([64, 64, 3, 3], F32)
//!     .bias([64], F32)
//!     .padding([1, 1])
//!     .post_ops(PostOps::new().relu())
//!     .describe(&engine)?;
//! let x = engine.zeros(&desc, Arg::SRC)?;
//! let weights = engine.filled(&desc, Arg::WEIGHTS, &vec![0.01; 64 * 64 * 9])?; // packed once, serves every batch and size
//! let bias = engine.filled(&desc, Arg::BIAS, &[0.5; 64])?;
//! let y = engine.zeros(&desc, Arg::DST)?;
//! let conv = desc.create()?; // Send + Sync, cached
//! conv.execute(&stream, &[(Arg::SRC, &x), (Arg::WEIGHTS, &weights), (Arg::BIAS, &bias), (Arg::DST, &y)])?;
//! assert_eq!(y.read_f32()?[0], 0.5);
//! # Ok(())
//! # }
//! ```
//!
//! A wrong request is an error that names the argument, what it got, what it needs, and the problem line that `oxidnn verify` replays.
#![forbid(unsafe_code)]

/// The README's examples, compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(feature = "ndarray")]
mod arrays;
mod attention;
mod backward;
mod describe;
mod engine;
pub mod graph;
mod products;
mod recurrent;
mod sequence;
mod simple;
mod window;

#[cfg(feature = "ndarray")]
pub use arrays::Arrays;
pub use attention::Attention;
pub use backward::Backward;
pub use describe::{Describe, PostOps};
pub use engine::EngineExt;
pub use half::{bf16, f16};
pub use oxidnn_runtime::threads::{CallerPool, ForkJoin};
pub use oxidnn_runtime::{
    Element, Engine, EngineKind, Event, Executor, Mapped, MappedMut, Memory, Native, Primitive, PrimitiveDesc, Stream, Threads, Verdict,
    cache, knobs, scratch, verbose,
};
pub use oxidnn_spec::{
    Accumulation, Arg, Attr, DataType, Dims, Dropout, Error, FpMath, FpMathMode, Invalid, Layout, MAX_NDIMS, Op, Operand, PostOp, Problem,
    Quant, QuantMode, RUNTIME, Real, Refusal, Rounding, ScratchpadMode, Tensor, Use, op,
};
pub use products::{InnerProduct, Matmul};
pub use recurrent::Recurrent;
pub use sequence::{Sequence, SharedMemory, Step};
pub use simple::{
    Builder, LrnParams, batch_norm, binary, concat, eltwise, group_norm, layer_norm, lrn, prelu, reduction, reorder, resampling, shuffle,
    softmax, sum,
};
pub use window::{Conv, Pool};

/// The items that most programs need, with the data types' names.
pub mod prelude {
    pub use crate::op::{
        BinaryAlg, ConvAlg, EltwiseAlg, LrnAlg, NormFlags, PoolAlg, Prop, ReductionAlg, ResamplingAlg, RnnActivation, RnnDirection,
        SdpaMask, SdpaScale, SoftmaxAlg,
    };
    pub use crate::{
        Arg, Attention, Attr, Backward, Builder, Conv, DataType, DataType::*, Describe, Dims, Engine, EngineExt, Error, FpMathMode,
        InnerProduct, Layout, LrnParams, Matmul, Memory, Pool, PostOps, Primitive, PrimitiveDesc, Problem, Quant, Recurrent,
        ScratchpadMode, Sequence, SharedMemory, Step, Stream, Tensor, Threads,
    };
}

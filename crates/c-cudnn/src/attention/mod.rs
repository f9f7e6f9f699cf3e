//! Multi-head attention over containers of sequences: projections of queries, keys and values for every head, softmax within a window of
//! time-steps, weighted sums, and a projection of the heads' outputs.
//!
//! ```text
//! head_h = softmax(scaler * (q Wq_h + bq_h) (k Wk_h + bk_h)^T) (v Wv_h + bv_h)
//! out    = dropout(sum over h of head_h Wo_h + bo) + residual
//! ```
//!
//! Everything is computed in single precision, or in double for tensors of doubles, on copies in the workspace whose padding is zero.

mod backward;
mod call;
mod desc;
mod forward;
mod functions;
mod layout;
mod sequences;

pub use desc::*;
pub use functions::*;
pub use sequences::*;

//! What oneDNN exports for its own test programs and no header declares: `symbols.txt` lists all such symbols. Here are those that belong
//! to no other part of the interface: number types, facts about the processor, creators of primitives that a CPU does not have, and internal kernels
//! of products.
//! Names are C++'s, arguments are passed as its ABI passes them.

pub mod brgemm;
pub mod cache;
pub mod creators;
pub mod numbers;
pub mod platform;

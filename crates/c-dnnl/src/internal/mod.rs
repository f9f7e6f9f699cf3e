//! Symbols that oneDNN exports for its own test programs and that no header declares; `symbols.txt` lists them. Here are those that belong to no other part of
//! the interface: floating-point types, facts about the processor, creators of primitives that the CPU engine does not have, and internal GEMM kernels. Names
//! and calling convention are C++'s.

pub mod brgemm;
pub mod cache;
pub mod creators;
pub mod numbers;
pub mod platform;

//! Symbols that oneDNN exports for its own test programs and no header declares; `symbols.txt` lists them. Here are those that belong to no
//! other part of the interface: number types, facts about the processor, creators of primitives that a CPU does not have, and internal
//! kernels of products. Names are C++'s, arguments are passed by its ABI.

pub mod brgemm;
pub mod cache;
pub mod creators;
pub mod numbers;
pub mod platform;

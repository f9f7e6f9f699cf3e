//! Generated tiles of sums of products, and the loops around them.

pub mod layout;

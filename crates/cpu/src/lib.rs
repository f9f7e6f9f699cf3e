//! The CPU engine: targets, implementation rows and their kernels.

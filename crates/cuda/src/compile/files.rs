//! The files of `kernels/`, embedded.

/// The headers that kernels include, by name.
pub const HEADERS: &[(&str, &str)] = &[
    ("number.cuh", include_str!("../../kernels/number.cuh")),
    ("index.cuh", include_str!("../../kernels/index.cuh")),
    ("random.cuh", include_str!("../../kernels/random.cuh")),
    ("pool.cuh", include_str!("../../kernels/pool.cuh")),
    ("resample.cuh", include_str!("../../kernels/resample.cuh")),
    ("lrn.cuh", include_str!("../../kernels/lrn.cuh")),
];

/// Kernels, each with a function of the same name.
const KERNELS: &[(&str, &str)] = &[
    ("map", include_str!("../../kernels/map.cu")),
    ("rows", include_str!("../../kernels/rows.cu")),
    ("products", include_str!("../../kernels/products.cu")),
    ("dots", include_str!("../../kernels/dots.cu")),
    ("parts", include_str!("../../kernels/parts.cu")),
];

/// The text of a kernel's file.
pub fn kernel(name: &str) -> Option<&'static str> {
    KERNELS.iter().find(|k| k.0 == name).map(|k| k.1)
}

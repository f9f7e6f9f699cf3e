//! Other processors than this one, for which generated code is tested here as well: narrower ones, whose code runs, and wider ones, whose
//! code is emulated.

use oxidnn_cpu::{Caches, CpuDevice, CpuTarget, Limit};
use oxidnn_runtime::PrimitiveDesc;

/// Ends the names of rows that run generated code, on vectors and on tiles of AMX.
const GENERATED: [&str; 2] = [":jit", ":amx"];

/// Processors by oneDNN's names of their instruction sets: with everything, without bf16 and byte products, without 512-bit vectors, without both.
const OTHERS: [&str; 4] = ["all", "avx512_core", "avx2_vnni", "avx2"];

/// The most operations that are emulated: a second or so.
const MAX_EMULATED_FLOPS: f64 = 2e8;

/// Sizes of L1, L2 and L3 that hold next to nothing, so that small problems take the paths of large ones, such as results that are stored non-temporally.
const SMALL: [usize; 3] = [4 << 10, 8 << 10, 16 << 10];

/// This processor as the environment allows it to be used.
pub fn host() -> CpuTarget {
    *CpuDevice::host().target()
}

/// What tells a processor from [this one](host): an instruction set, or caches.
pub fn name(target: &CpuTarget) -> &'static str {
    if target.caches == host().caches { target.jit.map_or("none", |jit| jit.name()) } else { "small_caches" }
}

/// Whether a row is to be run for one of the [`narrower`] or [`emulated`] processors: those of generated code, where the problem is not too
/// large to be emulated.
pub fn runs(target: &CpuTarget, row: &PrimitiveDesc) -> bool {
    let is_small = || row.problem().flops() <= MAX_EMULATED_FLOPS;
    GENERATED.iter().any(|end| row.impl_name().ends_with(end)) && (target.jit.is_none_or(|jit| !jit.emulated) || is_small())
}

/// Processors whose generated code this one runs, and which differ from it.
pub fn narrower() -> Vec<CpuTarget> {
    others(true)
}

/// Processors whose instruction sets this one lacks and the environment allows: their code is emulated.
pub fn emulated() -> Vec<CpuTarget> {
    others(false)
}

fn others(present: bool) -> Vec<CpuTarget> {
    let (host, allowed) = (host(), Limit::of_environment());
    let mut found: Vec<CpuTarget> = Vec::new();
    let is_allowed = |limit: &Limit| host.jit.is_some() && limit.jit.zip(allowed.jit).is_some_and(|(jit, most)| jit.is_within(most));
    for limit in OTHERS.into_iter().filter_map(Limit::named).filter(is_allowed) {
        if limit.jit.is_some_and(|jit| jit.is_present()) == present {
            let target = CpuTarget::limited(if present { limit } else { limit.emulated() }, host.threads);
            if found.iter().chain([&host]).all(|f| f.jit != target.jit) {
                found.push(target);
            }
        }
    }
    found
}

/// This processor, if caches held next to nothing.
pub fn small_caches() -> CpuTarget {
    let ([l1, l2, l3], host) = (SMALL, host());
    CpuTarget { caches: Caches { l1, l2, l3, ..host.caches }, ..host }
}

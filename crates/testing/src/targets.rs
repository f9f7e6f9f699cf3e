//! The processors that this one can emulate: code for narrower ones is tested here as well.

use oxidnn_cpu::{Caches, CpuDevice, CpuTarget, Limit};

/// Ends the names of rows that run generated code, of all and of those on tiles of AMX.
const GENERATED: [&str; 2] = [":jit", AMX];
const AMX: &str = ":amx";

/// Narrower processors by oneDNN's names: without bf16 and byte products, without 512-bit vectors, without both.
const NARROWER: [&str; 3] = ["avx512_core", "avx2_vnni", "avx2"];

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

/// Whether a row is to be run for one of the [`narrower`] processors: those of generated code, and where tiles are emulated those that use any.
pub fn runs(target: &CpuTarget, row: &str) -> bool {
    let emulated = target.jit.is_some_and(|jit| jit.emulated);
    if emulated { row.ends_with(AMX) } else { GENERATED.iter().any(|end| row.ends_with(end)) }
}

/// Processors whose generated code this one runs and which differ from it: narrower ones, and one with tiles of AMX where these are emulated.
pub fn narrower() -> Vec<CpuTarget> {
    let host = host();
    let Some(has) = host.jit else { return Vec::new() };
    let mut found: Vec<CpuTarget> = Vec::new();
    for limit in NARROWER.into_iter().filter_map(Limit::named) {
        let target = CpuTarget::limited(limit, host.threads);
        let within = target.isa <= host.isa && target.jit.is_some_and(|j| j.avx512 <= has.avx512 && j.vnni <= has.vnni);
        if within && target.jit != host.jit && found.iter().all(|f| f.jit != target.jit) {
            found.push(target);
        }
    }
    let emulated = CpuTarget::limited(Limit::EMULATED_AMX, host.threads);
    if has.bf16 && !has.amx && emulated.jit.is_some_and(|jit| jit.amx) {
        found.push(emulated);
    }
    found
}

/// This processor, if caches held next to nothing.
pub fn small_caches() -> CpuTarget {
    let ([l1, l2, l3], host) = (SMALL, host());
    CpuTarget { caches: Caches { l1, l2, l3, ..host.caches }, ..host }
}

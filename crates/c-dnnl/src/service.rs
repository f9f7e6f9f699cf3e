//! Settings of the process: version, verbose lines, precision, the primitive cache, dumps and profiles of generated code.

use crate::handle::{Data, Out};
use crate::status::{Failure, Status, guard};
use oxidnn_c_common::numbers::FPMATH;
use oxidnn_c_common::records::{Version, runtime};
use oxidnn_runtime::{cache, knobs, verbose};

#[cfg(test)]
mod tests;

/// `oxidnn-` and this crate's version, after which there are zeros.
const HASH: [u8; 32] = {
    let text = concat!("oxidnn-", env!("CARGO_PKG_VERSION")).as_bytes();
    let mut hash = [0; 32];
    let mut i = 0;
    while i < text.len() && i < 31 {
        hash[i] = text[i];
        i += 1;
    }
    hash
};

/// The interface's version, and the runtime that programs expect of it: OpenMP, whose settings are followed.
static VERSION: Version = Version { major: 3, minor: 13, patch: 2, hash: &HASH, cpu_runtime: runtime::OMP, gpu_runtime: runtime::NONE };

/// `dnnl_version`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_version() -> &'static Version {
    &VERSION
}

/// `dnnl_set_verbose`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_set_verbose(level: i32) -> Status {
    guard("dnnl_set_verbose", || Ok(verbose::set_level(level)?))
}

/// `dnnl_verbose_profiling_enabled`: not 0 when executions are reported.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_verbose_profiling_enabled(enabled: Out<'_, i32>) -> Status {
    guard("dnnl_verbose_profiling_enabled", || enabled.set("enabled", i32::from(verbose::on(verbose::PROFILE_EXEC))))
}

/// `dnnl_get_default_fpmath_mode`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_get_default_fpmath_mode(mode: Out<'_, i32>) -> Status {
    guard("dnnl_get_default_fpmath_mode", || mode.set("mode", FPMATH.of(knobs::default_fpmath())))
}

/// `dnnl_set_default_fpmath_mode`.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_set_default_fpmath_mode(mode: i32) -> Status {
    guard("dnnl_set_default_fpmath_mode", || {
        let mode = FPMATH.value(mode).ok_or_else(|| Failure::invalid("mode", mode, "0 to 4"))?;
        knobs::set_default_fpmath(mode);
        Ok(())
    })
}

/// `dnnl_get_primitive_cache_capacity`: in primitives.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_get_primitive_cache_capacity(capacity: Out<'_, i32>) -> Status {
    guard("dnnl_get_primitive_cache_capacity", || capacity.set("capacity", i32::try_from(cache::capacity()).unwrap_or(i32::MAX)))
}

/// `dnnl_set_primitive_cache_capacity`: in primitives, 0 for no cache.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_set_primitive_cache_capacity(capacity: i32) -> Status {
    guard("dnnl_set_primitive_cache_capacity", || {
        let entries = usize::try_from(capacity).map_err(|_| Failure::invalid("capacity", capacity, "0 or more"))?;
        cache::set_capacity(entries);
        Ok(())
    })
}

/// `dnnl_set_jit_dump`: kernels generated from now on are written to files, or not.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_set_jit_dump(enable: i32) -> Status {
    guard("dnnl_set_jit_dump", || {
        knobs::set_jit_dump(enable != 0);
        Ok(())
    })
}

/// Flags of profilers that are known: VTune, `perf` by its map, `perf` by dumps, and dumps with the processor's clock.
const PROFILERS: u32 = 15;
/// The one that is served: names of kernels for `perf`.
const PERF_MAP: u32 = 2;

/// `dnnl_set_jit_profiling_flags`: before the first kernel is generated.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_set_jit_profiling_flags(flags: u32) -> Status {
    guard("dnnl_set_jit_profiling_flags", || {
        if flags & !PROFILERS != 0 {
            return Err(Failure::invalid("flags", flags, "0 to 15"));
        }
        knobs::set_jit_profile(flags & PERF_MAP != 0);
        Ok(())
    })
}

/// `dnnl_set_jit_profiling_jitdumpdir`: the place of dumps for `perf`, which are not written.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_set_jit_profiling_jitdumpdir(_directory: Data) -> Status {
    Status::Success
}

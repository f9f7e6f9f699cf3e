//! Facts about the processor by which oneDNN's tests choose their cases: supported types, sizes of caches.

use crate::isa::{self, has_any, sets};
use oxidnn_c_common::numbers::DATA_TYPE;
use oxidnn_runtime::{fork, threads};
use oxidnn_spec::DataType;
use std::path::Path;
use std::sync::OnceLock;

#[cfg(test)]
mod tests;

/// Whether the processor has instructions for the type, or needs none.
fn supports(dtype: DataType) -> bool {
    match dtype {
        DataType::F64 | DataType::F4E2m1 | DataType::F4E3m0 => false,
        DataType::Bf16 => has_any(&[sets::AVX512_CORE, sets::AVX2_VNNI_2]),
        DataType::F16 => has_any(&[sets::AVX512_CORE_FP16, sets::AVX2_VNNI_2]),
        DataType::F8E5m2 | DataType::F8E4m3 | DataType::E8m0 => has_any(&[sets::AVX512_CORE_FP16]),
        _ => true,
    }
}

/// `platform::has_data_type_support`: whether tests of the type make sense here. (Every type is computed everywhere; the answer is
/// oneDNN's.)
#[unsafe(export_name = "_ZN4dnnl4impl3cpu8platform21has_data_type_supportE16dnnl_data_type_t")]
pub extern "C" fn has_data_type_support(data_type: i32) -> bool {
    DATA_TYPE.value(data_type).is_some_and(supports)
}

/// `platform::has_training_support`.
#[unsafe(export_name = "_ZN4dnnl4impl3cpu8platform20has_training_supportE16dnnl_data_type_t")]
pub extern "C" fn has_training_support(data_type: i32) -> bool {
    match DATA_TYPE.value(data_type) {
        Some(DataType::F32) => true,
        Some(DataType::Bf16) => has_any(&[sets::AVX512_CORE]),
        Some(DataType::F16 | DataType::F8E5m2 | DataType::F8E4m3) => has_any(&[sets::AVX512_CORE_FP16]),
        _ => false,
    }
}

/// `platform::s8s8_weights_scale_factor`: the factor applied to weights so that sums of 8-bit products do not saturate.
#[unsafe(export_name = "_ZN4dnnl4impl3cpu8platform25s8s8_weights_scale_factorEv")]
pub extern "C" fn s8s8_weights_scale_factor() -> f32 {
    if has_any(&[sets::AVX512_CORE_VNNI, sets::AVX2_VNNI]) { 1.0 } else { 0.5 }
}

/// `platform::has_optimized_gemm`.
#[unsafe(export_name = "_ZN4dnnl4impl3cpu8platform18has_optimized_gemmEv")]
pub extern "C" fn has_optimized_gemm() -> bool {
    true
}

/// `platform::prefer_ymm_requested`.
#[unsafe(export_name = "_ZN4dnnl4impl3cpu8platform20prefer_ymm_requestedEv")]
pub extern "C" fn prefer_ymm_requested() -> bool {
    isa::hints(true) != 0
}

/// `platform::get_num_cores`.
#[unsafe(export_name = "_ZN4dnnl4impl3cpu8platform13get_num_coresEv")]
pub extern "C" fn num_cores() -> u32 {
    u32::try_from(threads::default_threads()).unwrap_or(u32::MAX)
}

/// `platform::get_per_core_cache_size`: a core's share of a level's cache in bytes; 0 if there is no such level.
#[unsafe(export_name = "_ZN4dnnl4impl3cpu8platform23get_per_core_cache_sizeEi")]
pub extern "C" fn per_core_cache_size(level: i32) -> u32 {
    static LEVELS: OnceLock<[u32; 4]> = OnceLock::new();
    let levels = fork::once(&LEVELS, || [0, 1, 2, 3].map(|level| read_cache(Path::new("/sys/devices/system/cpu/cpu0/cache"), level)));
    usize::try_from(level).ok().and_then(|level| levels.get(level)).copied().unwrap_or(0)
}

/// A core's share in bytes of a level's data cache, according to the system; 0 if unknown.
fn read_cache(folder: &Path, level: u32) -> u32 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let of_level = entries.filter_map(|entry| {
        let text = |name: &str| std::fs::read_to_string(entry.path().join(name)).ok().map(|t| t.trim().to_owned());
        let data = text("level")?.parse() == Ok(level) && text("type")? != "Instruction";
        let bytes: u32 = text("size")?.strip_suffix('K')?.parse::<u32>().ok()?.checked_mul(1024)?;
        data.then_some(bytes / sharers(&text("shared_cpu_list")?).max(1))
    });
    of_level.max().unwrap_or(0)
}

/// Number of processors in a list such as `0-3,8`.
fn sharers(list: &str) -> u32 {
    let range = |part: &str| -> Option<u32> {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(last.parse::<u32>().ok()?.checked_sub(first.parse().ok()?)? + 1)
    };
    list.split(',').filter_map(range).sum()
}

/// `get_max_cpu_isa_mask`: the usable instruction sets; a `soft` query does not make the limit final.
#[unsafe(export_name = "_ZN4dnnl4impl3cpu3x6420get_max_cpu_isa_maskEb")]
pub extern "C" fn max_cpu_isa_mask(soft: bool) -> u32 {
    isa::max_bits(!soft)
}

/// `get_cpu_isa_hints`.
#[unsafe(export_name = "_ZN4dnnl4impl3cpu3x6417get_cpu_isa_hintsEb")]
pub extern "C" fn cpu_isa_hints(soft: bool) -> i32 {
    isa::hints(!soft)
}

/// `amx::is_available`.
#[unsafe(export_name = "_ZN4dnnl4impl3cpu3x643amx12is_availableEv")]
pub extern "C" fn amx_is_available() -> bool {
    has_any(&[sets::AVX512_CORE_AMX])
}

/// `experimental::use_bnorm_stats_one_pass`: statistics are always exact.
#[unsafe(export_name = "_ZN4dnnl4impl12experimental24use_bnorm_stats_one_passEv")]
pub extern "C" fn use_bnorm_stats_one_pass() -> bool {
    false
}

//! Knobs: everything that the environment steers, in one table, read once.
//!
//! Knob `X` answers to `OXIDNN_X`, `ONEDNN_X` and `DNNL_X`, in this order. A value that is not one of the knob's leaves the default and is
//! reported by [`warnings`].

#[cfg(test)]
mod tests;

use crate::fork::{self, Locked};
use crate::threads::{LEAST_MOST, most_threads};
use oxidnn_spec::FpMathMode;
use oxidnn_spec::op::ConvAlg;
use std::sync::{Mutex, OnceLock};

/// One knob.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Knob {
    /// Name without prefix.
    pub name: &'static str,
    /// The values that it may have.
    pub values: &'static str,
    /// The default.
    pub default: &'static str,
    /// The effect.
    pub help: &'static str,
}

const fn knob(name: &'static str, values: &'static str, default: &'static str, help: &'static str) -> Knob {
    Knob { name, values, default, help }
}

/// Prefixes of the environment variables, the strongest first.
pub const PREFIXES: [&str; 3] = ["OXIDNN_", "ONEDNN_", "DNNL_"];

/// Every knob.
pub const KNOBS: &[Knob] = &[
    knob(
        "VERBOSE",
        "none, error, warn, check, dispatch, profile, profile_create, profile_exec, all, 0, 1, 2, filter=REGEX; joined by commas",
        "error",
        "which lines are printed about primitives made and executed",
    ),
    knob("VERBOSE_TIMESTAMP", "0, 1", "0", "verbose lines carry the time in milliseconds after `v1`"),
    knob(
        "DEFAULT_FPMATH_MODE",
        "strict, bf16, f16, tf32, any",
        "strict",
        "the precision f32 computation may be lowered to, of new attributes",
    ),
    knob("PRIMITIVE_CACHE_CAPACITY", "a number of entries", "1024", "how many primitives are kept for reuse; 0: none"),
    knob("PRIMITIVE_CACHE_BYTES", "MiB", "512", "how much code and tables the kept primitives may take"),
    knob(
        "MAX_CPU_ISA",
        "sse41, avx, avx2, avx2_vnni, avx2_vnni_2, avx512_core, avx512_core_vnni, avx512_core_bf16, avx512_core_fp16, avx512_core_amx, \
         avx512_core_amx_fp16, avx10_1_512, avx10_1_512_amx, avx10_1_512_amx_fp16, avx10_2_512, avx10_2_512_amx_2, all, default",
        "default",
        "the highest instruction set that CPU kernels use",
    ),
    knob("CPU_ISA_HINTS", "no_hints, prefer_ymm", "no_hints", "what `dnnl_get_cpu_isa_hints` answers; kernels do not depend on it"),
    knob(
        "PREFER_REUSABLE_KERNELS",
        "0, 1",
        "0",
        "implementations that serve every shape come before those for particular ones, as the attribute asks",
    ),
    knob(
        "EMULATE",
        "0, 1",
        "0",
        "1: generated code is emulated, with all that MAX_CPU_ISA allows, which is slow: for tests where AVX-512 or AMX are missing",
    ),
    knob(
        "CPU_CACHES",
        "KiB of L1, L2 and L3, joined by commas",
        "",
        "cache sizes that CPU kernels are planned for in place of the processor's: with small ones, small problems test what large ones do",
    ),
    knob("JIT", "0, 1", "1", "0: no code is generated, portable kernels do everything"),
    knob("JIT_DUMP", "0, 1", "0", "every generated kernel is written to a file `dnnl_dump_cpu_NAME.NUMBER.bin` in the working directory"),
    knob("JIT_PROFILE", "0 to 15; 2 in the sum: perf", "0", "names of generated kernels are written to /tmp/perf-PID.map for `perf`"),
    knob(
        "NUM_THREADS",
        "a number of threads, 0: all cores",
        "0",
        "threads of the process-wide pool, the calling one included; at most 1024, or 4 for each core where that is more",
    ),
    knob("SPIN_MICROSECONDS", "microseconds", "100", "how long an idle thread of the pool looks for work before it sleeps"),
    knob(
        "GRAPH_DUMP",
        "graph, subgraph; joined by commas",
        "",
        "JSON files of graphs, and of partitions that are compiled, are written to the working directory",
    ),
    knob(
        "GRAPH_CONSTANT_TENSOR_CACHE_CAPACITY",
        "cpu:MiB, gpu:MiB; joined by semicolons",
        "",
        "how much of what partitions compute from constant tensors alone is kept",
    ),
    knob(
        "GRAPH_COMPILED_PARTITION_CACHE_CAPACITY",
        "a number of entries",
        "1024",
        "how many compiled partitions are kept for reuse; 0: none",
    ),
    knob(
        "GRAPH_CONVOLUTION",
        "auto, direct",
        "auto",
        "the algorithm of a graph's f32 convolutions; auto: Winograd's where it takes less time, whose tiles of 4x4 results share their pixels",
    ),
    knob(
        "ASYNCHRONOUS_STREAMS",
        "0, 1",
        "0",
        "new streams of a CPU compute on a thread of their own, and executions return at once; host addresses must not be touched before a wait",
    ),
    knob("SCRATCH_BUDGET", "MiB", "1024", "idle scratch memory that is kept for the next executions"),
    knob(
        "KERNEL_STORE",
        "MiB",
        "256",
        "how much compiled GPU code, and how much of measured choices, is kept in the user's cache directory for later processes; 0: none",
    ),
];

/// The names that `MAX_CPU_ISA` may have, narrowest first.
pub const CPU_ISAS: [&str; 18] = [
    "sse41",
    "avx",
    "avx2",
    "avx2_vnni",
    "avx2_vnni_2",
    "avx512_core",
    "avx512_core_vnni",
    "avx512_core_bf16",
    "avx512_core_fp16",
    "avx10_1_512",
    "avx512_core_amx",
    "avx10_1_512_amx",
    "avx512_core_amx_fp16",
    "avx10_1_512_amx_fp16",
    "avx10_2_512",
    "avx10_2_512_amx_2",
    "all",
    "default",
];

/// The values of all knobs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Knobs {
    /// `VERBOSE`, parsed by [`crate::verbose`].
    pub verbose: String,
    /// `VERBOSE_TIMESTAMP`.
    pub verbose_timestamp: bool,
    /// `DEFAULT_FPMATH_MODE`.
    pub default_fpmath: FpMathMode,
    /// `PRIMITIVE_CACHE_CAPACITY`: entries.
    pub cache_capacity: usize,
    /// `PRIMITIVE_CACHE_BYTES`, in bytes.
    pub cache_bytes: usize,
    /// `MAX_CPU_ISA`: one of [`CPU_ISAS`], which the CPU engine interprets; `None` for the default.
    pub max_cpu_isa: Option<String>,
    /// `CPU_ISA_HINTS`: whether vectors of 256 bits are preferred.
    pub prefer_ymm: bool,
    /// `PREFER_REUSABLE_KERNELS`.
    pub prefer_reusable_kernels: bool,
    /// `EMULATE`.
    pub emulate: bool,
    /// `CPU_CACHES`: the sizes of L1, L2 and L3 in bytes; `None` for the processor's.
    pub cpu_caches: Option<[usize; 3]>,
    /// `JIT`.
    pub jit: bool,
    /// `JIT_DUMP`; [`jit_dump`] has the current value.
    pub jit_dump: bool,
    /// `JIT_PROFILE`, whether `perf` is told; [`jit_profile`] has the current value.
    pub jit_profile: bool,
    /// `NUM_THREADS`; `None` for all cores.
    pub num_threads: Option<usize>,
    /// `SPIN_MICROSECONDS`.
    pub spin_microseconds: u64,
    /// `ASYNCHRONOUS_STREAMS`; [`asynchronous_streams`] has the current value.
    pub asynchronous_streams: bool,
    /// `SCRATCH_BUDGET`, in bytes.
    pub scratch_budget: usize,
    /// `KERNEL_STORE`, in bytes.
    pub kernel_store: usize,
    /// `GRAPH_DUMP`: graphs, partitions.
    pub graph_dump: [bool; 2],
    /// `GRAPH_CONVOLUTION`.
    pub graph_convolution: ConvAlg,
    /// `GRAPH_CONSTANT_TENSOR_CACHE_CAPACITY`, in bytes, of the CPU's tensors and of a GPU's.
    pub constant_tensor_cache_capacity: [usize; 2],
    /// `GRAPH_COMPILED_PARTITION_CACHE_CAPACITY`: entries.
    pub compiled_partition_cache_capacity: usize,
}

/// Where a knob's value comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Setting {
    /// The knob.
    pub knob: Knob,
    /// The current value, as text.
    pub value: String,
    /// The environment variable that set it, if any.
    pub variable: Option<String>,
}

/// Every knob with its value, for listings.
pub fn list() -> Vec<Setting> {
    let environment = |v: &str| std::env::var(v).ok();
    KNOBS
        .iter()
        .map(|&knob| {
            let (variable, value) = lookup(knob.name, &environment).unzip();
            Setting { knob, value: value.unwrap_or_else(|| knob.default.to_string()), variable }
        })
        .collect()
}

/// The values, read from the environment at the first call.
pub fn get() -> &'static Knobs {
    &read().0
}

/// The values in the environment now, for knobs that are read once, at their first use: programs set variables until then.
pub fn now() -> Knobs {
    parse(&|v| std::env::var(v).ok()).0
}

/// The errors in the environment, a line each.
pub fn warnings() -> &'static [String] {
    &read().1
}

/// Values set by functions, which override the environment.
struct Chosen {
    fpmath: Option<FpMathMode>,
    jit_dump: Option<bool>,
    jit_profile: Option<bool>,
    asynchronous_streams: Option<bool>,
}

static CHOSEN: Mutex<Chosen> = Mutex::new(Chosen { fpmath: None, jit_dump: None, jit_profile: None, asynchronous_streams: None });

fn chosen() -> Locked<'static, Chosen> {
    fork::lock(&CHOSEN)
}

/// The precision that f32 computation may be lowered to where nothing else is asked for: faces give it to new attributes.
pub fn default_fpmath() -> FpMathMode {
    *chosen().fpmath.get_or_insert_with(|| now().default_fpmath)
}

/// Changes [`default_fpmath`] for the process, whatever the environment says.
pub fn set_default_fpmath(mode: FpMathMode) {
    chosen().fpmath = Some(mode);
}

/// Whether kernels generated from now on are written to files.
pub fn jit_dump() -> bool {
    chosen().jit_dump.unwrap_or(get().jit_dump)
}

/// Changes [`jit_dump`], whatever the environment says.
pub fn set_jit_dump(on: bool) {
    chosen().jit_dump = Some(on);
}

/// Whether `perf` is told the names of kernels; looked at when the first is generated.
pub fn jit_profile() -> bool {
    chosen().jit_profile.unwrap_or(get().jit_profile)
}

/// Changes [`jit_profile`], whatever the environment says.
pub fn set_jit_profile(on: bool) {
    chosen().jit_profile = Some(on);
}

/// Whether new streams of a CPU are asynchronous where nothing else is asked for.
pub fn asynchronous_streams() -> bool {
    chosen().asynchronous_streams.unwrap_or(get().asynchronous_streams)
}

/// Changes [`asynchronous_streams`], whatever the environment says.
pub fn set_asynchronous_streams(on: bool) {
    chosen().asynchronous_streams = Some(on);
}

fn read() -> &'static (Knobs, Vec<String>) {
    static KNOBS: OnceLock<(Knobs, Vec<String>)> = OnceLock::new();
    fork::once(&KNOBS, || parse(&|v| std::env::var(v).ok()))
}

/// The variable that sets knob `name`, and its value.
fn lookup(name: &str, environment: &dyn Fn(&str) -> Option<String>) -> Option<(String, String)> {
    PREFIXES.iter().map(|p| format!("{p}{name}")).find_map(|v| environment(&v).map(|value| (v, value.trim().to_lowercase())))
}

/// The values that `environment` gives, and a line for each that is not understood.
pub(crate) fn parse(environment: &dyn Fn(&str) -> Option<String>) -> (Knobs, Vec<String>) {
    let mut parser = Parser { environment, warnings: Vec::new() };
    let knobs = Knobs {
        verbose: parser.value("VERBOSE", |v| Some(v.to_string())),
        verbose_timestamp: parser.value("VERBOSE_TIMESTAMP", flag),
        default_fpmath: parser.value("DEFAULT_FPMATH_MODE", fpmath),
        cache_capacity: parser.value("PRIMITIVE_CACHE_CAPACITY", |v| v.parse().ok()),
        cache_bytes: parser.value("PRIMITIVE_CACHE_BYTES", mebibytes),
        max_cpu_isa: parser.value("MAX_CPU_ISA", |v| CPU_ISAS.contains(&v).then(|| (v != "default").then(|| v.to_string()))),
        prefer_ymm: parser.value("CPU_ISA_HINTS", |v| ["no_hints", "prefer_ymm"].iter().position(|h| *h == v).map(|i| i == 1)),
        prefer_reusable_kernels: parser.value("PREFER_REUSABLE_KERNELS", flag),
        emulate: parser.value("EMULATE", flag),
        cpu_caches: parser.value("CPU_CACHES", caches),
        jit: parser.value("JIT", flag),
        jit_dump: parser.value("JIT_DUMP", flag),
        jit_profile: parser.value("JIT_PROFILE", |v| v.parse::<u8>().ok().filter(|n| *n < 16).map(|n| n & 2 != 0)),
        num_threads: parser.threads(),
        spin_microseconds: parser.value("SPIN_MICROSECONDS", |v| v.parse().ok()),
        asynchronous_streams: parser.value("ASYNCHRONOUS_STREAMS", flag),
        scratch_budget: parser.value("SCRATCH_BUDGET", mebibytes),
        kernel_store: parser.value("KERNEL_STORE", mebibytes),
        graph_dump: parser.value("GRAPH_DUMP", dumps),
        graph_convolution: parser.value("GRAPH_CONVOLUTION", convolution),
        constant_tensor_cache_capacity: parser.value("GRAPH_CONSTANT_TENSOR_CACHE_CAPACITY", capacities),
        compiled_partition_cache_capacity: parser.value("GRAPH_COMPILED_PARTITION_CACHE_CAPACITY", |v| v.parse().ok()),
    };
    (knobs, parser.warnings)
}

fn flag(v: &str) -> Option<bool> {
    v.parse::<u8>().ok().map(|n| n != 0)
}

fn mebibytes(v: &str) -> Option<usize> {
    v.parse::<usize>().ok()?.checked_mul(1 << 20)
}

fn caches(v: &str) -> Option<Option<[usize; 3]>> {
    if v.is_empty() {
        return Some(None);
    }
    let sizes: Option<Vec<usize>> = v.split(',').map(|n| n.trim().parse::<usize>().ok()?.checked_mul(1 << 10).filter(|n| *n > 0)).collect();
    Some(Some(sizes?.try_into().ok()?))
}

fn dumps(v: &str) -> Option<[bool; 2]> {
    let words = || v.split(',').map(str::trim).filter(|w| !w.is_empty());
    words().all(|w| ["graph", "subgraph"].contains(&w)).then(|| ["graph", "subgraph"].map(|w| words().any(|v| v == w)))
}

fn capacities(v: &str) -> Option<[usize; 2]> {
    let mut out = [0; 2];
    for part in v.split(';').filter(|p| !p.trim().is_empty()) {
        let (kind, size) = part.split_once(':')?;
        let place = ["cpu", "gpu"].iter().position(|k| *k == kind.trim())?;
        out[place] = mebibytes(size.trim())?;
    }
    Some(out)
}

fn convolution(v: &str) -> Option<ConvAlg> {
    match v {
        "auto" => Some(ConvAlg::Auto),
        "direct" => Some(ConvAlg::Direct),
        _ => None,
    }
}

fn fpmath(v: &str) -> Option<FpMathMode> {
    Some(match v {
        "strict" => FpMathMode::Strict,
        "bf16" => FpMathMode::Bf16,
        "f16" => FpMathMode::F16,
        "tf32" => FpMathMode::Tf32,
        "any" => FpMathMode::Any,
        _ => return None,
    })
}

struct Parser<'a> {
    environment: &'a dyn Fn(&str) -> Option<String>,
    warnings: Vec<String>,
}

impl Parser<'_> {
    /// The threads asked for, as far as a pool may have them.
    fn threads(&mut self) -> Option<usize> {
        let asked = self.value("NUM_THREADS", |v| v.parse().ok().map(|n: usize| (n > 0).then_some(n)))?;
        if asked <= LEAST_MOST || asked <= most_threads() {
            return Some(asked);
        }
        let most = most_threads();
        self.warnings.push(format!("NUM_THREADS={asked} is more than the {most} threads that a pool may have here; using {most}"));
        Some(most)
    }

    /// The value of knob `name`: the environment's if it can be read, else the table's default.
    ///
    /// # Panics
    /// When the table has no such knob or its default cannot be read: a test reads them all.
    fn value<T>(&mut self, name: &str, read: impl Fn(&str) -> Option<T>) -> T {
        let knob = KNOBS.iter().find(|k| k.name == name).unwrap_or_else(|| panic!("no knob {name}"));
        if let Some((variable, text)) = lookup(name, self.environment) {
            match read(&text) {
                Some(value) => return value,
                None => {
                    self.warnings.push(format!("{variable}={text} is not understood; expected {}; using {}", knob.values, knob.default))
                }
            }
        }
        read(knob.default).unwrap_or_else(|| panic!("the default of {name}"))
    }
}

//! Limits and hints for instruction sets. Each can be set once, and only before its first use, which fixes it for the process.

use crate::status::{Failure, Status, guard, guard_value};
use oxidnn_cpu::Limit;
use oxidnn_runtime::fork;
use oxidnn_runtime::knobs::{self, Knobs};
use std::sync::Mutex;

#[cfg(test)]
mod tests;

/// Values of `dnnl_cpu_isa_t`. A value is a bit set that includes the bits of the instruction sets that it contains.
pub(crate) mod sets {
    pub(crate) const AVX2: i32 = 7;
    pub(crate) const AVX2_VNNI: i32 = 15;
    pub(crate) const AVX2_VNNI_2: i32 = 31;
    pub(crate) const AVX512_CORE: i32 = 39;
    pub(crate) const AVX512_CORE_VNNI: i32 = 103;
    pub(crate) const AVX512_CORE_BF16: i32 = 231;
    pub(crate) const AVX512_CORE_FP16: i32 = 495;
    pub(crate) const AVX512_CORE_AMX: i32 = 4079;
    pub(crate) const AVX512_CORE_AMX_FP16: i32 = 8175;
}

/// One number of `dnnl_cpu_isa_t`.
struct Set {
    number: i32,
    /// The set as oneDNN's internal bits, which its test programs use.
    bits: u32,
    /// The limit's name.
    name: &'static str,
}

impl Set {
    const fn new(number: i32, bits: u32, name: &'static str) -> Set {
        Set { number, bits, name }
    }
}

/// All sets, narrowest first.
const SETS: [Set; 14] = [
    Set::new(1, 0x10, "sse41"),
    Set::new(3, 0x30, "avx"),
    Set::new(sets::AVX2, 0x230, "avx2"),
    Set::new(sets::AVX2_VNNI, 0x630, "avx2_vnni"),
    Set::new(sets::AVX2_VNNI_2, 0xe30, "avx2_vnni_2"),
    Set::new(sets::AVX512_CORE, 0x370, "avx512_core"),
    Set::new(sets::AVX512_CORE_VNNI, 0x1370, "avx512_core_vnni"),
    Set::new(sets::AVX512_CORE_BF16, 0x3370, "avx512_core_bf16"),
    Set::new(sets::AVX512_CORE_FP16, 0x7771, "avx10_1_512"),
    Set::new(sets::AVX512_CORE_AMX, 0x1_f7f1, "avx10_1_512_amx"),
    Set::new(sets::AVX512_CORE_AMX_FP16, 0x3_f7f1, "avx10_1_512_amx_fp16"),
    Set::new(131_583, 0x7f72, "avx10_2_512"),
    Set::new(143_359, 0x7_fff2, "avx10_2_512_amx_2"),
    Set::new(0, 0x7fff_ffff, "default"),
];

/// Other names of sets, which the environment may use.
const ALIASES: [(&str, i32); 4] = [
    ("avx512_core_fp16", sets::AVX512_CORE_FP16),
    ("avx512_core_amx", sets::AVX512_CORE_AMX),
    ("avx512_core_amx_fp16", sets::AVX512_CORE_AMX_FP16),
    ("all", 0),
];

/// The smallest set that is reported.
const LEAST: i32 = sets::AVX2;

/// A value that can be set until its first use.
struct Choice(Mutex<State>);

#[derive(Clone, Copy)]
enum State {
    Open,
    Chosen(i32),
}

impl Choice {
    const fn new() -> Choice {
        Choice(Mutex::new(State::Open))
    }

    /// False if it is too late.
    fn choose(&self, value: i32) -> bool {
        let mut state = fork::lock(&self.0);
        let open = matches!(*state, State::Open);
        if open {
            *state = State::Chosen(value);
        }
        open
    }

    /// The value set, else the environment's; `fix` makes it final.
    fn value(&self, fix: bool, environment: impl FnOnce(Knobs) -> i32) -> i32 {
        let mut state = fork::lock(&self.0);
        if let State::Chosen(value) = *state {
            return value;
        }
        let value = environment(knobs::now());
        if fix {
            *state = State::Chosen(value);
        }
        value
    }
}

static MAX: Choice = Choice::new();
static HINTS: Choice = Choice::new();

/// The limit, 0 for none; `fix` makes it final.
pub fn max(fix: bool) -> i32 {
    MAX.value(fix, |knobs| knobs.max_cpu_isa.as_deref().and_then(number).unwrap_or(0))
}

/// The hints, 1 for a preference of 256-bit vectors; `fix` makes them final.
pub fn hints(fix: bool) -> i32 {
    HINTS.value(fix, |knobs| knobs.prefer_ymm.into())
}

/// Whether this processor has one of these sets within the limit, which becomes final.
pub fn has_any(sets: &[i32]) -> bool {
    let ours = dnnl_get_effective_cpu_isa();
    sets.iter().any(|set| ours & set == *set)
}

/// The instruction sets that kernels may use, which become final; as everywhere, the knob `EMULATE` gives all of them to any processor.
pub(crate) fn limit() -> Limit {
    let max = max(true);
    find(max).and_then(|set| Limit::named(set.name)).unwrap_or(Limit::NONE).as_emulated()
}

fn find(number: i32) -> Option<&'static Set> {
    SETS.iter().find(|set| set.number == number)
}

/// The largest usable set as oneDNN's internal bits; `fix` makes it final.
pub(crate) fn max_bits(fix: bool) -> u32 {
    find(max(fix)).map_or(0, |set| set.bits)
}

fn number(name: &str) -> Option<i32> {
    let alias = ALIASES.iter().find(|(n, _)| *n == name).map(|(_, number)| *number);
    alias.or_else(|| SETS.iter().find(|set| set.name == name).map(|set| set.number))
}

/// The largest set that this processor has within `max`; 0 if it has no name here.
fn effective(max: i32) -> i32 {
    let within = |set: i32| max == 0 || set & max == set;
    let sets = SETS.iter().map(|set| set.number).filter(|n| *n >= LEAST);
    sets.filter(|&set| within(set) && has(set)).max().unwrap_or(0)
}

/// Whether this processor has the set of this value.
#[cfg(target_arch = "x86_64")]
fn has(set: i32) -> bool {
    use std::arch::is_x86_feature_detected as has;
    let avx512 = has!("avx512f") && has!("avx512bw") && has!("avx512vl") && has!("avx512dq");
    match set {
        sets::AVX2 => has!("avx2"),
        sets::AVX2_VNNI => has!("avx2") && has!("avxvnni"),
        sets::AVX2_VNNI_2 => has!("avx2") && has!("avxvnni") && has!("avxvnniint8") && has!("avxneconvert"),
        sets::AVX512_CORE => avx512,
        sets::AVX512_CORE_VNNI => avx512 && has!("avx512vnni"),
        sets::AVX512_CORE_BF16 => avx512 && has!("avx512vnni") && has!("avx512bf16"),
        sets::AVX512_CORE_FP16 => avx512 && has!("avx512vnni") && has!("avx512bf16") && has!("avx512fp16"),
        sets::AVX512_CORE_AMX => has!("avx512fp16") && oxidnn_cpu::CpuTarget::host().jit.is_some_and(|j| j.amx),
        _ => false,
    }
}

/// Whether this processor has the set of this value.
#[cfg(not(target_arch = "x86_64"))]
fn has(_: i32) -> bool {
    false
}

/// `dnnl_set_max_cpu_isa`: once, and before anything depends on it.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_set_max_cpu_isa(isa: i32) -> Status {
    guard("dnnl_set_max_cpu_isa", || {
        if find(isa).is_none() {
            return Err(Failure::invalid("isa", isa, "a number of dnnl_cpu_isa_t"));
        }
        if MAX.choose(isa) { Ok(()) } else { Err(Failure::invalid("isa", isa, "the first call, before the limit is needed")) }
    })
}

/// `dnnl_get_effective_cpu_isa`: this processor's instruction set within the limit. The limit and relevant hints become final.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_get_effective_cpu_isa() -> i32 {
    guard_value("dnnl_get_effective_cpu_isa", 0, || {
        let max = max(true);
        // Hints concern 512-bit vectors: if the limit excludes these, the hints are not used yet.
        if max == 0 || max & sets::AVX512_CORE == sets::AVX512_CORE {
            hints(true);
        }
        Ok(effective(max))
    })
}

/// `dnnl_set_cpu_isa_hints`: once, and before anything depends on them.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_set_cpu_isa_hints(hints: i32) -> Status {
    guard("dnnl_set_cpu_isa_hints", || {
        let late = |why: &str| Failure { status: Status::RuntimeError, message: format!("hints {hints}: {why}") };
        if !(0..=1).contains(&hints) {
            return Err(late("expected 0, none, or 1, vectors of 256 bits"));
        }
        if HINTS.choose(hints) { Ok(()) } else { Err(late("they are fixed; set them once, before they are needed")) }
    })
}

/// `dnnl_get_cpu_isa_hints`: they become final.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_get_cpu_isa_hints() -> i32 {
    guard_value("dnnl_get_cpu_isa_hints", 0, || Ok(hints(true)))
}

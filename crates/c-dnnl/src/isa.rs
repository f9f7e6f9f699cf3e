//! Limits and hints for instruction sets. Each is set once, and only before somebody needs to know it: then it is fixed for the process.

use crate::status::{Failure, Status, guard, guard_value};
use oxidnn_cpu::{CpuTarget, Limit};
use oxidnn_runtime::knobs;
use std::sync::Mutex;

#[cfg(test)]
mod tests;

/// `dnnl_cpu_isa_t` with the limit's name, narrowest first. A number is a set of bits, those of the sets that it contains among them.
const SETS: [(i32, &str); 14] = [
    (1, "sse41"),
    (3, "avx"),
    (7, "avx2"),
    (15, "avx2_vnni"),
    (31, "avx2_vnni_2"),
    (39, "avx512_core"),
    (103, "avx512_core_vnni"),
    (231, "avx512_core_bf16"),
    (495, "avx10_1_512"),
    (4079, "avx10_1_512_amx"),
    (8175, "avx10_1_512_amx_fp16"),
    (131_583, "avx10_2_512"),
    (143_359, "avx10_2_512_amx_2"),
    (0, "default"),
];

/// Other names of sets, which the environment may use.
const ALIASES: [(&str, i32); 4] = [("avx512_core_fp16", 495), ("avx512_core_amx", 4079), ("avx512_core_amx_fp16", 8175), ("all", 0)];

/// The narrowest set that an answer names.
const LEAST: i32 = 7;

/// A number that may be chosen until somebody needs it.
struct Choice(Mutex<State>);

#[derive(Clone, Copy)]
enum State {
    Open,
    Chosen(i32),
    /// Nobody chose, and now it is needed.
    Fixed,
}

impl Choice {
    const fn new() -> Choice {
        Choice(Mutex::new(State::Open))
    }

    /// False where it is too late.
    fn choose(&self, value: i32) -> bool {
        let mut state = self.0.lock().unwrap_or_else(|e| e.into_inner());
        let open = matches!(*state, State::Open);
        if open {
            *state = State::Chosen(value);
        }
        open
    }

    /// What was chosen; with `fix`, nothing can be chosen from now on.
    fn value(&self, fix: bool) -> Option<i32> {
        let mut state = self.0.lock().unwrap_or_else(|e| e.into_inner());
        if let State::Chosen(value) = *state {
            return Some(value);
        }
        if fix {
            *state = State::Fixed;
        }
        None
    }
}

static MAX: Choice = Choice::new();
static HINTS: Choice = Choice::new();

/// The number of the widest set that may be used, 0 for all; with `fix`, it cannot be changed from now on.
pub fn max(fix: bool) -> i32 {
    let environment = || knobs::get().max_cpu_isa.as_deref().and_then(number).unwrap_or(0);
    MAX.value(fix).unwrap_or_else(environment)
}

/// The hints, 1 for a preference of 256-bit vectors; with `fix`, they cannot be changed from now on.
pub fn hints(fix: bool) -> i32 {
    HINTS.value(fix).unwrap_or_else(|| knobs::get().prefer_ymm.into())
}

/// What kernels may use, from now on.
pub(crate) fn limit() -> Limit {
    let max = max(true);
    SETS.iter().find(|(number, _)| *number == max).and_then(|(_, name)| Limit::named(name)).unwrap_or(Limit::NONE)
}

fn number(name: &str) -> Option<i32> {
    let alias = ALIASES.iter().find(|(n, _)| *n == name).map(|(_, number)| *number);
    alias.or_else(|| SETS.iter().find(|(_, n)| *n == name).map(|(number, _)| *number))
}

/// The widest set that this processor has within `max`; 0 where that is none of those that have a name here.
fn effective(max: i32) -> i32 {
    let within = |set: i32| max == 0 || set & max == set;
    let sets = SETS.iter().map(|(number, _)| *number).filter(|n| *n >= LEAST);
    sets.filter(|&set| within(set) && has(set)).max().unwrap_or(0)
}

/// Whether this processor has the set of this number.
#[cfg(target_arch = "x86_64")]
fn has(set: i32) -> bool {
    use std::arch::is_x86_feature_detected as has;
    let avx512 = has!("avx512f") && has!("avx512bw") && has!("avx512vl") && has!("avx512dq");
    match set {
        7 => has!("avx2"),
        15 => has!("avx2") && has!("avxvnni"),
        31 => has!("avx2") && has!("avxvnni") && has!("avxvnniint8") && has!("avxneconvert"),
        39 => avx512,
        103 => avx512 && has!("avx512vnni"),
        231 => avx512 && has!("avx512vnni") && has!("avx512bf16"),
        495 => avx512 && has!("avx512vnni") && has!("avx512bf16") && has!("avx512fp16"),
        4079 => has!("avx512fp16") && CpuTarget::host().jit.is_some_and(|j| j.amx),
        _ => false,
    }
}

/// Whether this processor has the set of this number.
#[cfg(not(target_arch = "x86_64"))]
fn has(_: i32) -> bool {
    false
}

/// `dnnl_set_max_cpu_isa`: once, and before anything was made that depends on it.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_set_max_cpu_isa(isa: i32) -> Status {
    guard("dnnl_set_max_cpu_isa", || {
        if !SETS.iter().any(|(number, _)| *number == isa) {
            return Err(Failure::invalid("isa", isa, "a number of dnnl_cpu_isa_t"));
        }
        if MAX.choose(isa) { Ok(()) } else { Err(Failure::invalid("isa", isa, "the first call, before the limit is needed")) }
    })
}

/// `dnnl_get_effective_cpu_isa`: what this processor has within the limit, which cannot be changed from now on.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_get_effective_cpu_isa() -> i32 {
    guard_value("dnnl_get_effective_cpu_isa", 0, || {
        hints(true);
        Ok(effective(max(true)))
    })
}

/// `dnnl_set_cpu_isa_hints`: once, and before anything was made that depends on them.
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

/// `dnnl_get_cpu_isa_hints`, which cannot be changed from now on.
#[unsafe(no_mangle)]
pub extern "C" fn dnnl_get_cpu_isa_hints() -> i32 {
    guard_value("dnnl_get_cpu_isa_hints", 0, || Ok(hints(true)))
}

//! `Limit`: the widest instruction sets that may be used, by oneDNN's names, as the knob `MAX_CPU_ISA` says.

use crate::Isa;
use oxidnn_jit::Isa as Jit;
use oxidnn_runtime::knobs;

#[cfg(test)]
mod tests;

/// The most that kernels may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limit {
    /// For portable kernels.
    pub isa: Isa,
    /// For generated ones; `None` for none.
    pub jit: Option<Jit>,
}

/// Every name, narrowest first.
const LIMITS: [(&str, Limit); 18] = [
    ("sse41", Limit { isa: Isa::Baseline, jit: None }),
    ("avx", Limit { isa: Isa::Baseline, jit: None }),
    ("avx2", Limit { isa: Isa::Avx2, jit: Some(Jit::AVX2) }),
    ("avx2_vnni", Limit { isa: Isa::Avx2, jit: Some(Jit::AVX2_VNNI) }),
    ("avx2_vnni_2", Limit { isa: Isa::Avx2, jit: Some(Jit::AVX2_VNNI) }),
    ("avx512_core", Limit { isa: Isa::Avx512, jit: Some(Jit::AVX512) }),
    ("avx512_core_vnni", Limit { isa: Isa::Avx512, jit: Some(Jit { vnni: true, ..Jit::AVX512 }) }),
    ("avx512_core_bf16", Limit { isa: Isa::Avx512, jit: Some(Jit::AVX512_BF16) }),
    ("avx512_core_fp16", FP16),
    ("avx10_1_512", FP16),
    ("avx512_core_amx", EVERYTHING),
    ("avx10_1_512_amx", EVERYTHING),
    ("avx512_core_amx_fp16", EVERYTHING),
    ("avx10_1_512_amx_fp16", EVERYTHING),
    ("avx10_2_512", EVERYTHING),
    ("avx10_2_512_amx_2", EVERYTHING),
    ("all", EVERYTHING),
    ("default", EVERYTHING),
];

const FP16: Limit = Limit { isa: Isa::Avx512, jit: Some(Jit::AVX512_FP16) };
const EVERYTHING: Limit = Limit { isa: Isa::Avx512, jit: Some(Jit::AMX) };

impl Limit {
    /// No limit.
    pub const NONE: Limit = EVERYTHING;

    /// The limit that oneDNN's name of an instruction set stands for; `None` for unknown names.
    pub fn named(name: &str) -> Option<Limit> {
        LIMITS.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, limit)| *limit)
    }

    /// The limit of the knobs `MAX_CPU_ISA` and `EMULATE`.
    pub fn of_environment() -> Limit {
        knobs::get().max_cpu_isa.as_deref().and_then(Limit::named).unwrap_or(Limit::NONE).as_emulated()
    }

    /// The same, emulated if the knob `EMULATE` asks for that.
    pub fn as_emulated(self) -> Limit {
        if knobs::get().emulate { self.emulated() } else { self }
    }

    /// The same, with generated code for all of it, which is emulated.
    pub fn emulated(self) -> Limit {
        Limit { jit: self.jit.map(Jit::emulated), ..self }
    }

    /// The widest instruction set of portable kernels within the limit that this processor has.
    pub fn isa(self) -> Isa {
        Isa::ALL.into_iter().find(|i| *i <= self.isa && i.is_present()).unwrap_or(Isa::Baseline)
    }
}

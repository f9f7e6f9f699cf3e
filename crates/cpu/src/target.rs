//! `CpuTarget`: the facts about a processor that plans depend on.
//!
//! A target is plain data and always an argument: plans for another processor can be made anywhere, and only their execution needs that
//! processor. The number of threads bounds the scratch that plans book; it never changes what is computed.

use crate::Limit;
use crate::hardware::{Caches, Core};
use crate::kernels::code;
use oxidnn_runtime::threads::cores;

/// Instruction sets that the portable kernels are compiled for, narrowest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Isa {
    /// The baseline of the architecture.
    Baseline,
    /// x86-64 with AVX2 and FMA: 256-bit vectors.
    Avx2,
    /// x86-64 with AVX-512 F, VL, BW and DQ: 512-bit vectors.
    Avx512,
}

impl Isa {
    /// All of them, the widest first.
    pub const ALL: [Isa; 3] = [Isa::Avx512, Isa::Avx2, Isa::Baseline];

    /// The widest that this processor has.
    pub fn detect() -> Isa {
        Isa::ALL.into_iter().find(|isa| isa.is_present()).unwrap_or(Isa::Baseline)
    }

    /// Whether this processor has it.
    pub fn is_present(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::is_x86_feature_detected as has;
            match self {
                Isa::Baseline => true,
                Isa::Avx2 => has!("avx2") && has!("fma"),
                Isa::Avx512 => has!("avx512f") && has!("avx512vl") && has!("avx512bw") && has!("avx512dq") && has!("avx2") && has!("fma"),
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            self == Isa::Baseline
        }
    }

    /// `f32` elements in a vector.
    pub const fn lanes(self) -> usize {
        match self {
            Isa::Baseline => 4,
            Isa::Avx2 => 8,
            Isa::Avx512 => 16,
        }
    }

    /// The name in verbose lines and of kernels.
    pub const fn name(self) -> &'static str {
        match self {
            Isa::Baseline => "baseline",
            Isa::Avx2 => "avx2",
            Isa::Avx512 => "avx512_core",
        }
    }
}

/// A processor.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct CpuTarget {
    /// Instruction set for portable kernels.
    pub isa: Isa,
    /// Instruction set for generated code; `None` if there is none, because the processor lacks AVX2 with FMA, or the system refuses
    /// executable memory.
    pub jit: Option<oxidnn_jit::Isa>,
    /// Most workers of an execution.
    pub threads: usize,
    /// The data caches of a core.
    pub caches: Caches,
}

impl CpuTarget {
    /// The processor that runs this, with all threads that the system grants.
    pub fn host() -> CpuTarget {
        CpuTarget::limited(Limit::NONE, cores())
    }

    /// A processor with `threads` workers and this processor's features within `limit`.
    pub fn limited(limit: Limit, threads: usize) -> CpuTarget {
        let jit = limit.jit.and_then(oxidnn_jit::Isa::host_within).filter(|_| code::refusal().is_none());
        CpuTarget { isa: limit.isa(), jit, threads, caches: Caches::host() }
    }

    /// Whether so many bytes stay in the caches of the workers from one operation to the next ([`Core::kept`]).
    #[must_use]
    pub fn keeps(&self, bytes: usize) -> bool {
        bytes <= Core::host().kept(&self.caches, self.threads)
    }

    /// The same whatever the number of workers is, on which the choice of a row may not depend.
    #[must_use]
    pub fn is_near(&self, bytes: usize) -> bool {
        bytes <= Core::host().near(&self.caches)
    }

    /// A processor with `threads` workers and this processor's features within `isa`.
    pub fn within(isa: Isa, threads: usize) -> CpuTarget {
        let jit = match isa {
            Isa::Baseline => None,
            Isa::Avx2 => Some(oxidnn_jit::Isa::AVX2_VNNI),
            Isa::Avx512 => Limit::NONE.jit,
        };
        CpuTarget::limited(Limit { isa, jit }, threads)
    }
}

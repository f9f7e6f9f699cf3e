//! The processor's features, as far as generated code depends on them.

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod amx;

/// No tiles but on Linux, whose leave they need.
#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
mod amx {
    #[cfg(target_arch = "x86_64")]
    pub(super) fn is_usable() -> bool {
        false
    }
}

/// Instruction sets that code may use. Always an argument, so that code for any processor can be made and looked at on any host.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Isa {
    /// AVX-512 F, BW, DQ and VL; without it code is AVX2, FMA and F16C, the least that is asked for.
    pub avx512: bool,
    /// Dot products of bytes: AVX512-VNNI, or AVX-VNNI without AVX-512.
    pub vnni: bool,
    /// Dot products of bf16 and conversions to it: AVX512-BF16.
    pub bf16: bool,
    /// Conversions of f16 that repeat a number in memory: AVX512-FP16.
    pub fp16: bool,
    /// Lookups of bytes in two vectors: AVX512-VBMI.
    pub vbmi: bool,
    /// Tiles of bf16 and bytes: AMX-TILE, AMX-BF16 and AMX-INT8.
    pub amx: bool,
    /// Code runs on the [emulator](crate::emulator): slow, so that code for any processor can be tested on others.
    pub emulated: bool,
}

impl Isa {
    /// AVX2, FMA and F16C.
    pub const AVX2: Isa = Isa { avx512: false, vnni: false, bf16: false, fp16: false, vbmi: false, amx: false, emulated: false };
    /// AVX2 and AVX-VNNI.
    pub const AVX2_VNNI: Isa = Isa { vnni: true, ..Isa::AVX2 };
    /// AVX-512 F, BW, DQ and VL.
    pub const AVX512: Isa = Isa { avx512: true, ..Isa::AVX2 };
    /// AVX-512 with VNNI and BF16.
    pub const AVX512_BF16: Isa = Isa { vnni: true, bf16: true, ..Isa::AVX512 };
    /// AVX-512 with VNNI, BF16, FP16 and VBMI.
    pub const AVX512_FP16: Isa = Isa { fp16: true, vbmi: true, ..Isa::AVX512_BF16 };
    /// AVX-512 with VNNI, BF16, FP16, VBMI and AMX.
    pub const AMX: Isa = Isa { amx: true, ..Isa::AVX512_FP16 };

    /// The best that this processor has; `None` where generated code cannot run. Asks the system for leave to use tiles where there are any.
    #[cfg(target_arch = "x86_64")]
    pub fn host() -> Option<Isa> {
        use std::arch::is_x86_feature_detected as has;
        if !(has!("avx2") && has!("fma") && has!("f16c")) {
            return None;
        }
        if has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl") {
            let (vnni, bf16, fp16, vbmi) = (has!("avx512vnni"), has!("avx512bf16"), has!("avx512fp16"), has!("avx512vbmi"));
            return Some(Isa { vnni, bf16, fp16, vbmi, amx: vnni && bf16 && amx::is_usable(), ..Isa::AVX512 });
        }
        Some(Isa { vnni: has!("avxvnni"), ..Isa::AVX2 })
    }

    /// The best that this processor has; `None` where generated code cannot run.
    #[cfg(not(target_arch = "x86_64"))]
    pub fn host() -> Option<Isa> {
        None
    }

    /// Whether it has nothing that `limit` has not.
    pub fn is_within(self, limit: Isa) -> bool {
        let features = |isa: Isa| [isa.avx512, isa.vnni, isa.bf16, isa.fp16, isa.vbmi, isa.amx];
        features(self).into_iter().zip(features(limit)).all(|(has, may)| has <= may)
    }

    /// The same, emulated.
    pub fn emulated(self) -> Isa {
        Isa { emulated: true, ..self }
    }

    /// The best that this processor has within `limit`, which is `limit` itself if it is emulated; `None` where that cannot run.
    pub fn host_within(limit: Isa) -> Option<Isa> {
        if limit.emulated {
            return cfg!(all(target_arch = "x86_64", target_os = "linux")).then_some(limit);
        }
        let host = Isa::host()?;
        let narrow = host.avx512 && !limit.avx512;
        Some(Isa {
            avx512: host.avx512 && limit.avx512,
            vnni: if narrow { limit.vnni && has_avx_vnni() } else { host.vnni && limit.vnni },
            bf16: host.bf16 && limit.bf16,
            fp16: host.fp16 && limit.fp16,
            vbmi: host.vbmi && limit.vbmi,
            amx: host.amx && limit.amx,
            emulated: false,
        })
    }

    /// The same without tiles.
    pub fn without_amx(self) -> Isa {
        Isa { amx: false, ..self }
    }

    /// True when code for this can run here.
    pub fn is_present(self) -> bool {
        Isa::host_within(self) == Some(self)
    }

    /// The widest vector register.
    pub fn width(self) -> crate::asm::Width {
        if self.avx512 { crate::asm::Width::W512 } else { crate::asm::Width::W256 }
    }

    /// Number of vector registers.
    pub fn simd_registers(self) -> usize {
        if self.avx512 { 32 } else { 16 }
    }

    /// The name in kernels' names: `avx2`, `avx2_vnni`, `avx512`, `avx512_vnni`, `avx512_bf16`, `avx512_fp16`,
    /// `avx512_amx`; `emulated_` goes before those that are.
    pub fn name(self) -> &'static str {
        const NAMES: [[&str; 2]; 7] = [
            ["avx2", "emulated_avx2"],
            ["avx2_vnni", "emulated_avx2_vnni"],
            ["avx512", "emulated_avx512"],
            ["avx512_vnni", "emulated_avx512_vnni"],
            ["avx512_bf16", "emulated_avx512_bf16"],
            ["avx512_fp16", "emulated_avx512_fp16"],
            ["avx512_amx", "emulated_avx512_amx"],
        ];
        let which = match (self.avx512, self.vnni, self.bf16) {
            _ if self.amx => 6,
            _ if self.fp16 => 5,
            (false, vnni, _) => usize::from(vnni),
            (true, _, true) => 4,
            (true, vnni, false) => 2 + usize::from(vnni),
        };
        NAMES[which][usize::from(self.emulated)]
    }
}

#[cfg(target_arch = "x86_64")]
fn has_avx_vnni() -> bool {
    std::arch::is_x86_feature_detected!("avxvnni")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_avx_vnni() -> bool {
    false
}

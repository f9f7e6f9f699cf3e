//! What the processor can do, as far as generated code depends on it.

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
    /// Tiles of bf16 and bytes: AMX-TILE, AMX-BF16 and AMX-INT8.
    pub amx: bool,
}

impl Isa {
    /// AVX2, FMA and F16C.
    pub const AVX2: Isa = Isa { avx512: false, vnni: false, bf16: false, amx: false };
    /// AVX2 and AVX-VNNI.
    pub const AVX2_VNNI: Isa = Isa { avx512: false, vnni: true, bf16: false, amx: false };
    /// AVX-512 F, BW, DQ and VL.
    pub const AVX512: Isa = Isa { avx512: true, vnni: false, bf16: false, amx: false };
    /// AVX-512 with VNNI and BF16.
    pub const AVX512_BF16: Isa = Isa { avx512: true, vnni: true, bf16: true, amx: false };
    /// AVX-512 with VNNI, BF16 and AMX.
    pub const AMX: Isa = Isa { avx512: true, vnni: true, bf16: true, amx: true };

    /// The best that this processor has; `None` where generated code cannot run. Asks the system for leave to use tiles where there are any.
    #[cfg(target_arch = "x86_64")]
    pub fn host() -> Option<Isa> {
        use std::arch::is_x86_feature_detected as has;
        if !(has!("avx2") && has!("fma") && has!("f16c")) {
            return None;
        }
        if has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl") {
            return Some(Isa { avx512: true, vnni: has!("avx512vnni"), bf16: has!("avx512bf16"), amx: amx::is_usable() });
        }
        Some(Isa { avx512: false, vnni: has!("avxvnni"), bf16: false, amx: false })
    }

    /// The best that this processor has; `None` where generated code cannot run.
    #[cfg(not(target_arch = "x86_64"))]
    pub fn host() -> Option<Isa> {
        None
    }

    /// The best that this processor has within `limit`; `None` where that cannot run.
    pub fn host_within(limit: Isa) -> Option<Isa> {
        let host = Isa::host()?;
        let narrow = host.avx512 && !limit.avx512;
        Some(Isa {
            avx512: host.avx512 && limit.avx512,
            vnni: if narrow { limit.vnni && has_avx_vnni() } else { host.vnni && limit.vnni },
            bf16: host.bf16 && limit.bf16,
            amx: host.amx && limit.amx,
        })
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

    /// The name in kernels' names: `avx2`, `avx2_vnni`, `avx512`, `avx512_vnni`, `avx512_bf16`, `avx512_amx`.
    pub fn name(self) -> &'static str {
        match (self.avx512, self.vnni, self.bf16) {
            _ if self.amx => "avx512_amx",
            (false, false, _) => "avx2",
            (false, true, _) => "avx2_vnni",
            (true, _, true) => "avx512_bf16",
            (true, true, false) => "avx512_vnni",
            (true, false, false) => "avx512",
        }
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

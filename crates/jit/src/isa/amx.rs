//! Whether AMX may be used: the processor has it, the system keeps its state, and lets this process use it.

#[cfg(target_os = "linux")]
use std::arch::asm;
use std::arch::x86_64::{__cpuid_count, _xgetbv};
use std::sync::OnceLock;

/// Bits of `edx` of leaf 7: AMX-BF16, AMX-TILE, AMX-INT8.
const FEATURES: u32 = 1 << 22 | 1 << 24 | 1 << 25;
/// Bits of the extended control register: configuration and data of tiles are kept.
const STATE: u64 = 1 << 17 | 1 << 18;
/// Linux's `arch_prctl` and its request for a component of the processor's state, here the tiles' data.
const ARCH_PRCTL: u64 = 158;
const REQUEST: u64 = 0x1023;
const TILE_DATA: u64 = 18;

/// True once the system has said yes, which it is asked once.
pub(super) fn is_usable() -> bool {
    static USABLE: OnceLock<bool> = OnceLock::new();
    *USABLE.get_or_init(|| has_amx() && state_is_kept() && ask())
}

fn has_amx() -> bool {
    __cpuid_count(7, 0).edx & FEATURES == FEATURES
}

fn state_is_kept() -> bool {
    // SAFETY: processors with AMX have `xgetbv`, which reads a register; the caller has looked for AMX.
    std::arch::is_x86_feature_detected!("xsave") && unsafe { xcr0() } & STATE == STATE
}

#[target_feature(enable = "xsave")]
fn xcr0() -> u64 {
    // SAFETY: register 0 exists wherever `xgetbv` does.
    unsafe { _xgetbv(0) }
}

#[cfg(target_os = "linux")]
fn ask() -> bool {
    let mut result = ARCH_PRCTL;
    // SAFETY: the call takes two numbers and touches no memory of the process; the two registers are those that any system call changes.
    unsafe {
        asm!("syscall", inlateout("rax") result, in("rdi") REQUEST, in("rsi") TILE_DATA, out("rcx") _, out("r11") _, options(nostack));
    }
    result == 0
}

/// No other system is asked yet.
#[cfg(not(target_os = "linux"))]
fn ask() -> bool {
    false
}

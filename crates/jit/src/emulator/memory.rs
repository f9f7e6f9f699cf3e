//! The emulated program's loads and stores.

/// `N` bytes at an address.
pub(super) fn load<const N: usize>(address: u64) -> [u8; N] {
    // SAFETY: who calls a program vouches for the memory that it accesses; any alignment is right for an array of bytes.
    unsafe { (address as *const [u8; N]).read() }
}

/// Bytes to an address.
pub(super) fn store<const N: usize>(address: u64, bytes: [u8; N]) {
    // SAFETY: as for `load`.
    unsafe { (address as *mut [u8; N]).write(bytes) }
}

/// As many bytes at an address as `to` has.
pub(super) fn load_into(address: u64, to: &mut [u8]) {
    // SAFETY: as for `load`; a register of the machine is no memory of the program.
    unsafe { std::ptr::copy_nonoverlapping(address as *const u8, to.as_mut_ptr(), to.len()) }
}

/// Bytes to an address.
pub(super) fn store_from(address: u64, from: &[u8]) {
    // SAFETY: as for `load_into`.
    unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), address as *mut u8, from.len()) }
}

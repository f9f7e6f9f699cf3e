//! Keeps glibc's allocator from mapping a program's result buffers anew for every execution.
//!
//! glibc's `malloc` maps blocks beyond a threshold one by one and unmaps them when they are freed, so each of their pages costs a fault
//! whenever such a block is allocated again. The threshold rises to the size of the largest block freed in this way (`mallopt(3)`,
//! `M_MMAP_THRESHOLD`). So a program that allocates its tensors for every execution pays for the largest of them every time, unless
//! something larger has been freed before. oneDNN's own buffers have that effect; this library leases its scratch and frees no such block.
//! (MobileNetV2 in PaddlePaddle: a fifth of the time went into faults, 8.4 ms a pass instead of 6.4.)
//!
//! Allocating a large block once and freeing it untouched raises the threshold. A threshold that the program has set stays, and other allocators are not
//! affected.

use oxidnn_runtime::fork;
use std::hint::black_box;
use std::sync::Once;

/// A little less than glibc's largest dynamic threshold, 32 MiB including the block's header.
const BLOCK: usize = (32 << 20) - (64 << 10);

/// Allocates and frees one large block, once per process.
pub(crate) fn settle() {
    static SETTLED: Once = Once::new();
    if SETTLED.is_completed() {
        return;
    }
    let _inside = fork::enter();
    SETTLED.call_once(|| {
        let mut block = Vec::<u8>::new();
        if block.try_reserve_exact(BLOCK).is_ok() {
            drop(black_box(block));
        }
    });
}

//! Notes about bytes that no longer change: each execution can use what an earlier one found.

use crate::Buf;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// Bytes that share a note.
const BLOCK: usize = 512;
/// The note about a block, once an execution has inspected it.
const HAS: u8 = 1;
const HAS_NOT: u8 = 2;

/// Of the blocks of [lasting](super::Memory::lasting) memory, whether their bytes have the property that kernels of their engine ask for. It has one
/// such property.
#[derive(Clone)]
pub struct Notes(Arc<Page>);

/// The notes that all views of a memory share.
struct Page {
    /// Address of the first byte.
    first: usize,
    blocks: Box<[AtomicU8]>,
}

impl fmt::Debug for Notes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |word: u8| self.0.blocks.iter().filter(|note| note.load(Ordering::Relaxed) == word).count();
        write!(f, "Notes({} of {} blocks have it, {} do not)", count(HAS), self.0.blocks.len(), count(HAS_NOT))
    }
}

impl Notes {
    /// Notes about bytes at which nobody has looked.
    pub(super) fn new(bytes: Buf<'_>) -> Notes {
        let blocks = (0..bytes.len() / BLOCK).map(|_| AtomicU8::new(0)).collect();
        Notes(Arc::new(Page { first: bytes.as_ptr().addr(), blocks }))
    }

    /// Whether all of `bytes` have the property, which `has` finds out: it looks at blocks at which nobody has looked, and at bytes that are not a whole
    /// block of this memory.
    pub fn all(&self, bytes: Buf<'_>, has: impl Fn(Buf<'_>) -> bool) -> bool {
        let whole = bytes.as_ptr().addr().checked_sub(self.0.first).and_then(|at| {
            let (first, end) = (at.div_ceil(BLOCK), (at + bytes.len()) / BLOCK);
            Some((first * BLOCK - at, self.0.blocks.get(first..end)?))
        });
        let Some((before, blocks)) = whole else { return has(bytes) };
        let known = |(i, note): (usize, &AtomicU8)| match note.load(Ordering::Relaxed) {
            HAS => true,
            HAS_NOT => false,
            _ => {
                let found = has(bytes.part(before + i * BLOCK, BLOCK));
                note.store(if found { HAS } else { HAS_NOT }, Ordering::Relaxed);
                found
            }
        };
        let behind = before + blocks.len() * BLOCK;
        has(bytes.part(0, before)) && has(bytes.part(behind, bytes.len() - behind)) && blocks.iter().enumerate().all(known)
    }
}

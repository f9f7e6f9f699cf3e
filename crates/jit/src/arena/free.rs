//! Free space of a chunk: first fit, neighbours joined.

use std::collections::BTreeMap;

/// Free ranges by offset.
#[derive(Debug)]
pub(super) struct FreeList(BTreeMap<usize, usize>);

impl FreeList {
    /// All of `len` bytes.
    pub(super) fn new(len: usize) -> FreeList {
        FreeList(BTreeMap::from([(0, len)]))
    }

    /// The offset of `len` bytes that are free no more.
    pub(super) fn take(&mut self, len: usize) -> Option<usize> {
        let (&offset, &size) = self.0.iter().find(|(_, size)| **size >= len)?;
        self.0.remove(&offset);
        if size > len {
            self.0.insert(offset + len, size - len);
        }
        Some(offset)
    }

    /// Bytes that were taken are free again.
    pub(super) fn give(&mut self, mut offset: usize, mut len: usize) {
        if let Some(next) = self.0.remove(&(offset + len)) {
            len += next;
        }
        if let Some((&before, &size)) = self.0.range(..offset).next_back()
            && before + size == offset
        {
            self.0.remove(&before);
            offset = before;
            len += size;
        }
        self.0.insert(offset, len);
    }

    /// Free bytes.
    pub(super) fn total(&self) -> usize {
        self.0.values().sum()
    }

    /// Sizes of the free ranges.
    #[cfg(test)]
    pub(super) fn sizes(&self) -> Vec<usize> {
        self.0.values().copied().collect()
    }
}

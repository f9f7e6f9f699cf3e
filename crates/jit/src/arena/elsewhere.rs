//! Systems without an implementation of executable memory that is never writable: every mapping is refused, and engines choose portable
//! kernels.

use super::CodeError;

/// `len` rounded up to pages.
pub(super) fn whole_pages(len: usize) -> usize {
    len.max(1).next_multiple_of(4096)
}

fn refused() -> CodeError {
    CodeError::Refused { step: "mapping executable memory", reason: format!("not done on {}", std::env::consts::OS) }
}

/// The error of every mapping.
#[derive(Debug)]
enum Nothing {}

/// A memory file in two views; none can be made here.
#[derive(Debug)]
pub(super) struct DualMap(Nothing);

impl DualMap {
    pub(super) fn new(_len: usize) -> Result<DualMap, CodeError> {
        Err(refused())
    }

    pub(super) fn len(&self) -> usize {
        match self.0 {}
    }

    pub(super) fn address(&self) -> usize {
        match self.0 {}
    }

    pub(super) fn write(&mut self, _offset: usize, _bytes: &[u8]) {
        match self.0 {}
    }

    pub(super) fn trap(&mut self, _offset: usize, _len: usize) {
        match self.0 {}
    }
}

/// Pages of one kernel; none can be made here.
#[derive(Debug)]
pub(super) struct Anonymous(Nothing);

impl Anonymous {
    pub(super) fn new(_bytes: &[u8]) -> Result<Anonymous, CodeError> {
        Err(refused())
    }

    pub(super) fn len(&self) -> usize {
        match self.0 {}
    }

    pub(super) fn address(&self) -> usize {
        match self.0 {}
    }
}

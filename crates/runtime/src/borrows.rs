//! The memory that an execution uses, taken for the time of it: inputs shared, outputs exclusively; a memory that is both, once, exclusively.

use crate::Memory;
use crate::memory::{Access, Storage};
use crate::queue::{Queue, Ticket};
use oxidnn_spec::{Error, Operand, Tensor, Use};
use std::sync::Arc;

/// Borrowed memories; given back when dropped.
pub(crate) struct Borrows<'b> {
    operands: &'b [Operand<Tensor>],
    memories: &'b [Option<&'b Memory<'b>>],
    /// Whether memory that is written may count its users together with that of another operand.
    shares: bool,
    taken: usize,
}

impl<'b> Borrows<'b> {
    /// Takes all of them, or none.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] that names the argument in use elsewhere.
    pub(crate) fn take(
        operands: &'b [Operand<Tensor>],
        memories: &'b [Option<&'b Memory<'b>>],
        shares: bool,
    ) -> Result<Borrows<'b>, Error> {
        let mut borrows = Borrows { operands, memories, shares, taken: 0 };
        while borrows.taken < operands.len() {
            let i = borrows.taken;
            if let Some((memory, access)) = borrows.claim(i)
                && !memory.storage().uses.try_take(access)
            {
                let got = format!("{} by an execution or mapping under way", memory.storage().uses.state());
                let expected = if access == Access::Read { "memory that nobody writes" } else { "memory that nobody uses" };
                return Err(Error::arg(operands[i].arg, got, expected));
            }
            borrows.taken += 1;
        }
        Ok(borrows)
    }

    /// What operand `i` adds to the borrows before it.
    fn claim(&self, i: usize) -> Option<(&'b Memory<'b>, Access)> {
        let memory = self.memories[i].filter(|m| m.is_checked())?;
        if !self.shares {
            return Some((memory, if self.operands[i].usage == Use::Out { Access::Write } else { Access::Read }));
        }
        let same = |j: usize| self.memories[j].is_some_and(|m| m.is_checked() && m.shares(memory));
        let written = |j: usize| self.operands[j].usage == Use::Out && same(j);
        if self.operands[i].usage == Use::Out {
            (!(0..i).any(written)).then_some((memory, Access::Write))
        } else {
            (!(0..self.operands.len()).any(written)).then_some((memory, Access::Read))
        }
    }

    /// Every memory, checked or not, and what the execution does with it.
    fn uses(&self) -> impl Iterator<Item = (&'b Memory<'b>, Access)> + use<'b> {
        let access = |o: &Operand<Tensor>| if o.usage == Use::Out { Access::Write } else { Access::Read };
        self.operands.iter().zip(self.memories).filter_map(move |(o, m)| Some(((*m)?, access(o))))
    }

    /// Waits on the host for submitted work that this execution comes after.
    ///
    /// # Errors
    /// A failure of that work which its stream has not shown yet.
    #[inline]
    pub(crate) fn settle(&self) -> Result<(), Error> {
        self.uses().try_for_each(|(memory, access)| memory.storage().uses.settle(access))
    }

    /// Has `queue` begin what is submitted next after the work that this execution comes after.
    ///
    /// # Errors
    /// [`Error::Runtime`] when a device fails.
    pub(crate) fn order(&self, queue: &Arc<dyn Queue>) -> Result<(), Error> {
        self.uses().try_for_each(|(memory, access)| memory.storage().uses.order(access, queue))
    }

    /// Remembers the submission, for whoever uses the memories next.
    pub(crate) fn submitted(&self, queue: &Arc<dyn Queue>, ticket: Ticket) {
        self.uses().for_each(|(memory, access)| memory.storage().uses.submitted(access, queue, ticket));
    }

    /// What keeps the bytes of all memories alive.
    pub(crate) fn storages(&self) -> Vec<Arc<Storage>> {
        self.uses().map(|(memory, _)| memory.storage().clone()).collect()
    }
}

impl Drop for Borrows<'_> {
    fn drop(&mut self) {
        for i in 0..self.taken {
            if let Some((memory, access)) = self.claim(i) {
                memory.storage().uses.release(access);
            }
        }
    }
}

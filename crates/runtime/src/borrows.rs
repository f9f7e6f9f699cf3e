//! The memory that an execution uses, taken for the time of it: inputs shared, outputs exclusively; a memory that is both, once, exclusively.

use crate::Memory;
use crate::memory::{Access, Storage};
use crate::queue::{Queue, Ticket};
use oxidnn_spec::{Error, Operand, Tensor, Use};
use std::sync::Arc;

/// Memories of most executions.
const FEW: usize = 6;

/// Borrowed memories; given back when dropped.
pub(crate) struct Borrows<'b> {
    operands: &'b [Operand<Tensor>],
    memories: &'b [Option<&'b Memory<'b>>],
    /// Whether memory that is written may count its users together with that of another operand.
    aliased: bool,
    taken: usize,
    /// Whether work was submitted on a memory that may not be done.
    is_pending: bool,
}

impl<'b> Borrows<'b> {
    /// None of them yet.
    #[inline]
    pub(crate) fn none(operands: &'b [Operand<Tensor>], memories: &'b [Option<&'b Memory<'b>>], aliased: bool) -> Borrows<'b> {
        Borrows { operands, memories, aliased, taken: 0, is_pending: false }
    }

    /// Takes all of them. In place, because moving the result would cost more than borrowing.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] that names the argument in use elsewhere; those before it are given back when this is dropped.
    #[inline]
    pub(crate) fn take(&mut self) -> Result<(), Error> {
        let mut is_pending = false;
        for (i, (operand, memory)) in self.operands.iter().zip(self.memories).enumerate() {
            let Some(memory) = memory else { continue };
            let uses = &memory.storage().uses;
            if let Some(access) = self.claim(i, operand.usage, memory)
                && !uses.try_take(access)
            {
                self.taken = i;
                return Err(in_use(operand, access, uses.state()));
            }
            is_pending |= uses.is_pending();
        }
        (self.taken, self.is_pending) = (self.operands.len(), is_pending);
        Ok(())
    }

    /// The borrow that operand `i`, of this memory, adds to those before it.
    #[inline(always)]
    fn claim(&self, i: usize, usage: Use, memory: &Memory<'_>) -> Option<Access> {
        match memory.is_checked() {
            true if self.aliased => self.claim_shared(i, usage, memory),
            true => Some(access(usage)),
            false => None,
        }
    }

    /// As [`Borrows::claim`], where others may count their users together with this memory's: one borrow serves all of them, the writer's if one writes.
    #[cold]
    fn claim_shared(&self, i: usize, usage: Use, memory: &Memory<'_>) -> Option<Access> {
        let same = |j: usize| self.memories[j].is_some_and(|m| m.is_checked() && m.aliases(memory));
        let written = |j: usize| self.operands[j].usage == Use::Out && same(j);
        let others = if usage == Use::Out { i } else { self.operands.len() };
        (!(0..others).any(written)).then_some(access(usage))
    }

    /// Every memory, checked or not, and how the execution uses it.
    fn uses(&self) -> impl Iterator<Item = (&'b Memory<'b>, Access)> + use<'b> {
        self.operands.iter().zip(self.memories).filter_map(|(o, m)| Some(((*m)?, access(o.usage))))
    }

    /// Waits on the host for submitted work that this execution comes after.
    ///
    /// # Errors
    /// A failure of that work which its stream has not shown yet.
    #[inline]
    pub(crate) fn settle(&self) -> Result<(), Error> {
        if !self.is_pending {
            return Ok(());
        }
        self.uses().try_for_each(|(memory, access)| memory.storage().uses.settle(access))
    }

    /// Orders the next submission to `queue` after the work that this execution depends on.
    ///
    /// # Errors
    /// [`Error::Runtime`] when a device fails.
    pub(crate) fn order(&self, queue: &Arc<dyn Queue>) -> Result<(), Error> {
        self.uses().try_for_each(|(memory, access)| memory.storage().uses.order(access, queue))
    }

    /// Records the submission, for the next users of the memories.
    pub(crate) fn submitted(&self, queue: &Arc<dyn Queue>, ticket: Ticket) {
        self.uses().for_each(|(memory, access)| memory.storage().uses.submitted(access, queue, ticket));
    }

    /// The owners that keep the bytes of all memories alive; those of few memories without an allocation.
    pub(crate) fn storages(&self) -> ([Option<Arc<Storage>>; FEW], Vec<Arc<Storage>>) {
        let mut all = self.uses().map(|(memory, _)| memory.storage().clone());
        (std::array::from_fn(|_| all.next()), all.collect())
    }
}

impl Drop for Borrows<'_> {
    fn drop(&mut self) {
        for (i, (operand, memory)) in self.operands.iter().zip(self.memories).enumerate().take(self.taken) {
            if let Some(memory) = memory
                && let Some(access) = self.claim(i, operand.usage, memory)
            {
                memory.storage().uses.release(access);
            }
        }
    }
}

#[inline]
fn access(usage: Use) -> Access {
    if usage == Use::Out { Access::Write } else { Access::Read }
}

#[cold]
fn in_use(operand: &Operand<Tensor>, access: Access, state: &str) -> Error {
    let expected = if access == Access::Read { "memory that nobody writes" } else { "memory that nobody uses" };
    Error::arg(operand.arg, format!("{state} by an execution or mapping under way"), expected)
}

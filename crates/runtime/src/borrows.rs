//! The memory that an execution uses, taken for the time of it: inputs shared, outputs exclusively; a memory that is both, once, exclusively.

use crate::Memory;
use crate::memory::{Access, Guard};
use oxidnn_spec::{Error, Operand, Tensor, Use};

/// Borrowed memories; given back when dropped.
pub(crate) struct Borrows<'b> {
    operands: &'b [Operand<Tensor>],
    memories: &'b [Option<&'b Memory<'b>>],
    taken: usize,
}

impl<'b> Borrows<'b> {
    /// Takes all of them, or none.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] that names the argument in use elsewhere.
    pub(crate) fn take(operands: &'b [Operand<Tensor>], memories: &'b [Option<&'b Memory<'b>>]) -> Result<Borrows<'b>, Error> {
        let mut borrows = Borrows { operands, memories, taken: 0 };
        while borrows.taken < operands.len() {
            let i = borrows.taken;
            if let Some((memory, access)) = borrows.claim(i)
                && !memory.storage().borrow.try_take(access)
            {
                let got = format!("{} by an execution or mapping under way", memory.storage().borrow.state());
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
        let same = |j: usize| self.memories[j].is_some_and(|m| m.is_checked() && m.shares(memory));
        let written = |j: usize| self.operands[j].usage == Use::Out && same(j);
        if self.operands[i].usage == Use::Out {
            (!(0..i).any(written)).then_some((memory, Access::Write))
        } else {
            (!(0..self.operands.len()).any(written)).then_some((memory, Access::Read))
        }
    }

    /// The same borrows as values that live on their own, for work that goes on after `execute` returns.
    pub(crate) fn into_guards(self) -> Vec<Guard> {
        let guards = (0..self.taken).filter_map(|i| Some((i, self.memories[i]?)));
        let guards = guards.map(|(i, m)| Guard::adopt(m.storage(), self.claim(i).map(|c| c.1))).collect();
        std::mem::forget(self);
        guards
    }
}

impl Drop for Borrows<'_> {
    fn drop(&mut self) {
        for i in 0..self.taken {
            if let Some((memory, access)) = self.claim(i) {
                memory.storage().borrow.release(access);
            }
        }
    }
}

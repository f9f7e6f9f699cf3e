//! The keys of kernels.

use crate::ir::{Compiled, Function, IrError};
use crate::isa::Isa;
use std::hash::Hash;

/// Everything that a kernel's code depends on: plain data, which knows how to write the code.
pub trait Key: Clone + Eq + Hash + Send + 'static {
    /// The block of arguments that the kernel reads.
    type Args: 'static;

    /// The name in dumps and profiles, such as `dot.f32f32f32.6x64.avx512`.
    fn name(&self, isa: Isa) -> String;

    /// Writes the kernel.
    fn write(&self, f: &mut Function);

    /// The kernel before registers.
    fn function(&self, isa: Isa) -> Function {
        let mut f = Function::new(isa);
        self.write(&mut f);
        f
    }

    /// The kernel for a processor.
    ///
    /// # Errors
    /// [`IrError`]: it needs more registers than there are.
    fn compile(&self, isa: Isa) -> Result<Compiled, IrError> {
        self.function(isa).finish()
    }
}

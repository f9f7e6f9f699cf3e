//! The CPU engine, and memory made for a descriptor's arguments.

use oxidnn_runtime::{Engine, Memory, PrimitiveDesc};
use oxidnn_spec::{Arg, Error, Tensor};

/// What the CPU brings to [`Engine`].
pub trait CpuEngine {
    /// The engine of this machine's processor, on the process-wide thread pool.
    fn cpu() -> Engine;

    /// Zeroed memory with the layout that `desc` has for `arg`.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] when the descriptor has no such argument; [`Error::OutOfMemory`].
    fn zeros(&self, desc: &PrimitiveDesc, arg: Arg) -> Result<Memory<'static>, Error>;

    /// Memory with the layout that `desc` has for `arg`, filled from `values` in logical row-major order (the order of a plain, contiguous array)
    /// and converted to the argument's type.
    ///
    /// # Errors
    /// As [`CpuEngine::zeros`], and when `values` has more or fewer numbers than the tensor has elements.
    fn filled(&self, desc: &PrimitiveDesc, arg: Arg, values: &[f32]) -> Result<Memory<'static>, Error>;
}

impl CpuEngine for Engine {
    fn cpu() -> Engine {
        oxidnn_cpu::engine()
    }

    fn zeros(&self, desc: &PrimitiveDesc, arg: Arg) -> Result<Memory<'static>, Error> {
        Memory::new(self, described(desc, arg)?)
    }

    fn filled(&self, desc: &PrimitiveDesc, arg: Arg, values: &[f32]) -> Result<Memory<'static>, Error> {
        let memory = self.zeros(desc, arg)?;
        memory.write_f32(values)?;
        Ok(memory)
    }
}

fn described(desc: &PrimitiveDesc, arg: Arg) -> Result<Tensor, Error> {
    desc.problem()
        .tensor(arg)
        .ok_or_else(|| Error::arg(arg, "an argument the primitive does not have", "one of its arguments").with_problem(desc.problem()))
}

//! The engines of this machine, and memory made for a descriptor's arguments.

use oxidnn_runtime::{Engine, Memory, PrimitiveDesc};
use oxidnn_spec::{Arg, Error, Tensor};

/// Constructors of [`Engine`] for this machine, and by a descriptor.
pub trait EngineExt {
    /// The engine of this machine's processor, on the process-wide thread pool.
    fn cpu() -> Engine;

    /// The engine of NVIDIA GPU `ordinal`, counted from 0. The driver and NVRTC are loaded by the first call.
    ///
    /// # Errors
    /// [`Error::Runtime`] that says what is missing: driver, GPU or compiler.
    fn cuda(ordinal: usize) -> Result<Engine, Error>;

    /// Zeroed memory with the layout that `desc` has for `arg`.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] when the descriptor has no such argument; [`Error::OutOfMemory`].
    fn zeros(&self, desc: &PrimitiveDesc, arg: Arg) -> Result<Memory<'static>, Error>;

    /// Memory with the layout that `desc` has for `arg`, filled from `values` in logical row-major order (the order of a plain, contiguous array)
    /// and converted to the argument's type.
    ///
    /// # Errors
    /// As [`EngineExt::zeros`], and when `values` has more or fewer numbers than the tensor has elements.
    fn filled(&self, desc: &PrimitiveDesc, arg: Arg, values: &[f32]) -> Result<Memory<'static>, Error>;
}

impl EngineExt for Engine {
    fn cpu() -> Engine {
        oxidnn_cpu::engine()
    }

    fn cuda(ordinal: usize) -> Result<Engine, Error> {
        Ok(oxidnn_cuda::engine(ordinal)?)
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

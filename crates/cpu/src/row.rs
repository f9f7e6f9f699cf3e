//! What every row of this crate shares: a plan is the resolved problem, a size of scratch and a kernel.

use crate::kernels::code;
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::Scratch;
use crate::target::{CpuTarget, Isa};
use oxidnn_runtime::{Ctx, Exec, Plan, Skip};
use oxidnn_spec::{Error, Problem};
use std::fmt;
use std::sync::Arc;

/// A planned computation: everything that depends on the problem is decided.
pub trait Kernel: fmt::Debug + Send + Sync + 'static {
    /// Makes the generated code that it runs. Called before the first run, once or more often.
    ///
    /// # Errors
    /// [`Error::Runtime`] when code cannot be made.
    fn prepare(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Bytes of the tables that it has besides its own fields, for the budget of the primitive cache. Code is counted where it is made.
    fn table_bytes(&self) -> usize {
        0
    }

    /// Runs it with the processor's instructions and scratch of the booked size.
    ///
    /// # Errors
    /// As for [`Exec::run`].
    fn run(&self, simd: Simd, ctx: &Ctx<'_>, scratch: Scratch<'_>) -> Result<(), Error>;
}

/// The plan of a [`Kernel`].
#[derive(Debug)]
pub struct RowPlan<K> {
    /// The problem, layouts resolved.
    pub problem: Problem,
    /// Bytes of scratch.
    pub scratch_bytes: usize,
    /// Instruction set of the target.
    pub isa: Isa,
    /// What runs.
    pub kernel: Arc<K>,
}

struct Ready<K> {
    simd: Simd,
    scratch_bytes: usize,
    footprint: usize,
    kernel: Arc<K>,
}

impl<K: Kernel> Plan for RowPlan<K> {
    fn problem(&self) -> &Problem {
        &self.problem
    }
    fn scratch_bytes(&self) -> usize {
        self.scratch_bytes
    }
    fn build(&self) -> Result<Arc<dyn Exec>, Error> {
        let simd = Simd::new(self.isa).ok_or_else(|| Error::Runtime(format!("this processor lacks {}", self.isa.name())))?;
        let (prepared, code) = code::counted(|| self.kernel.prepare());
        prepared?;
        let footprint = size_of::<Ready<K>>() + size_of::<K>() + self.kernel.table_bytes() + code;
        Ok(Arc::new(Ready { simd, scratch_bytes: self.scratch_bytes, footprint, kernel: Arc::clone(&self.kernel) }))
    }
}

impl<K: Kernel> Exec for Ready<K> {
    fn run(&self, ctx: &Ctx<'_>) -> Result<(), Error> {
        let buf = ctx.scratch_buf();
        let buf = buf.part(0, self.scratch_bytes.min(buf.len()));
        // SAFETY: a context's scratch belongs to the one execution it is made for, and this is where it is taken.
        let scratch = unsafe { Scratch::new(buf) };
        self.kernel.run(self.simd, ctx, scratch)
    }

    fn footprint(&self) -> usize {
        self.footprint
    }
}

impl<K: Kernel> RowPlan<K> {
    /// The plan of the kernel that `make` makes, with the bytes of scratch it needs, of the problem with its layouts resolved.
    ///
    /// # Errors
    /// What `make` declines.
    pub fn resolved(
        problem: &Problem,
        target: &CpuTarget,
        make: impl FnOnce(&Problem) -> Result<(K, usize), Skip>,
    ) -> Result<Box<dyn Plan>, Skip> {
        let mut problem = problem.clone();
        problem.resolve();
        let (kernel, scratch_bytes) = make(&problem)?;
        Ok(Box::new(RowPlan { problem, scratch_bytes, isa: target.isa, kernel: Arc::new(kernel) }))
    }
}

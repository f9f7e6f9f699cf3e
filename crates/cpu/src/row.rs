//! What every row of this crate shares: a plan is the resolved problem, a size of scratch and a kernel.

use crate::kernels::code;
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::Scratch;
use crate::target::{CpuTarget, Isa};
use oxidnn_runtime::{Ctx, Decision, Exec, Plan, Skip};
use oxidnn_spec::{Error, Problem};
use std::fmt;
use std::sync::Arc;

/// A planned computation without generated code: everything that depends on the problem is decided.
pub trait Kernel: fmt::Debug + Send + Sync + 'static {
    /// The decision about its problem, for people to read.
    fn decision(&self, _problem: &Problem) -> Decision {
        Decision::default()
    }

    /// The decision's predicted time in seconds.
    fn seconds(&self, problem: &Problem) -> Option<f64> {
        self.decision(problem).seconds
    }

    /// Bytes of its tables besides its own fields, for the budget of the primitive cache. Code is counted where it is generated.
    fn table_bytes(&self) -> usize {
        0
    }

    /// Runs it on the given instruction set, with scratch of the booked size.
    ///
    /// # Errors
    /// As for [`Exec::run`].
    fn run(&self, simd: Simd, ctx: &Ctx<'_>, scratch: Scratch<'_>) -> Result<(), Error>;
}

/// A planned computation that runs generated code. Building leaves it unchanged, so it may be built several times.
pub trait Generated: fmt::Debug + Send + Sync + 'static {
    /// All the code that it runs.
    type Code: Send + Sync + 'static;

    /// As [`Kernel::decision`].
    fn decision(&self, _problem: &Problem) -> Decision {
        Decision::default()
    }

    /// As [`Kernel::seconds`].
    fn seconds(&self, problem: &Problem) -> Option<f64> {
        self.decision(problem).seconds
    }

    /// Generates the code.
    ///
    /// # Errors
    /// [`Error::Runtime`] when code cannot be generated.
    fn build(&self) -> Result<Self::Code, Error>;

    /// As [`Kernel::table_bytes`].
    fn table_bytes(&self) -> usize {
        0
    }

    /// As [`Kernel::run`], with the result of [`Generated::build`].
    ///
    /// # Errors
    /// As for [`Exec::run`].
    fn run(&self, code: &Self::Code, simd: Simd, ctx: &Ctx<'_>, scratch: Scratch<'_>) -> Result<(), Error>;
}

impl<K: Kernel> Generated for K {
    type Code = ();

    fn decision(&self, problem: &Problem) -> Decision {
        Kernel::decision(self, problem)
    }
    fn seconds(&self, problem: &Problem) -> Option<f64> {
        Kernel::seconds(self, problem)
    }
    fn build(&self) -> Result<(), Error> {
        Ok(())
    }
    fn table_bytes(&self) -> usize {
        Kernel::table_bytes(self)
    }
    fn run(&self, (): &(), simd: Simd, ctx: &Ctx<'_>, scratch: Scratch<'_>) -> Result<(), Error> {
        Kernel::run(self, simd, ctx, scratch)
    }
}

/// The plan of a row.
#[derive(Debug)]
pub struct RowPlan<K> {
    /// The problem, layouts resolved.
    pub problem: Problem,
    /// Bytes of scratch.
    pub scratch_bytes: usize,
    /// Instruction set of the target.
    pub isa: Isa,
    /// The computation.
    pub kernel: Arc<K>,
}

/// A plan with its code.
struct Ready<K: Generated> {
    simd: Simd,
    scratch_bytes: usize,
    footprint: usize,
    kernel: Arc<K>,
    code: K::Code,
}

impl<K: Generated> Plan for RowPlan<K> {
    fn problem(&self) -> &Problem {
        &self.problem
    }
    fn scratch_bytes(&self) -> usize {
        self.scratch_bytes
    }
    fn decision(&self) -> Decision {
        self.kernel.decision(&self.problem)
    }
    fn seconds(&self) -> Option<f64> {
        self.kernel.seconds(&self.problem)
    }
    fn build(&self) -> Result<Arc<dyn Exec>, Error> {
        let simd = Simd::new(self.isa).ok_or_else(|| Error::Runtime(format!("this processor lacks {}", self.isa.name())))?;
        let (code, bytes) = code::counted(|| self.kernel.build());
        let footprint = size_of::<Ready<K>>() + size_of::<K>() + self.kernel.table_bytes() + bytes;
        Ok(Arc::new(Ready { simd, scratch_bytes: self.scratch_bytes, footprint, kernel: Arc::clone(&self.kernel), code: code? }))
    }
}

impl<K: Generated> Exec for Ready<K> {
    fn run(&self, ctx: &Ctx<'_>) -> Result<(), Error> {
        let buf = ctx.scratch_buf();
        let buf = buf.part(0, self.scratch_bytes.min(buf.len()));
        // SAFETY: a context's scratch belongs to the one execution it is made for, and this is where it is taken.
        let scratch = unsafe { Scratch::new(buf) };
        self.kernel.run(&self.code, self.simd, ctx, scratch)
    }

    fn footprint(&self) -> usize {
        self.footprint
    }
}

/// The reason for declining a problem whose scratch exceeds the address space.
pub(crate) const TOO_LARGE: Skip = Skip::Shape("scratch exceeds the address space");

impl<K: Generated> RowPlan<K> {
    /// The plan of a kernel for a resolved problem; `scratch_bytes` is `None` if they exceed the address space.
    ///
    /// # Errors
    /// Scratch that exceeds the address space.
    pub fn of(problem: Problem, target: &CpuTarget, scratch_bytes: Option<usize>, kernel: K) -> Result<Box<dyn Plan>, Skip> {
        let scratch_bytes = scratch_bytes.ok_or(TOO_LARGE)?;
        Ok(Box::new(RowPlan { problem, scratch_bytes, isa: target.isa, kernel: Arc::new(kernel) }))
    }

    /// The plan of the kernel that `make` makes, with its bytes of scratch, for the problem with its layouts resolved.
    ///
    /// # Errors
    /// Problems that `make` declines.
    pub fn resolved(
        problem: &Problem,
        target: &CpuTarget,
        make: impl FnOnce(&Problem) -> Result<(K, usize), Skip>,
    ) -> Result<Box<dyn Plan>, Skip> {
        let mut problem = problem.clone();
        problem.resolve();
        let (kernel, scratch_bytes) = make(&problem)?;
        RowPlan::of(problem, target, Some(scratch_bytes), kernel)
    }
}

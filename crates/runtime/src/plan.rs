//! Rows, plans and executables: how a problem finds its kernel.

use crate::{Bound, Ctx, Decision};
use oxidnn_spec::{Error, Problem};
use std::fmt;
use std::sync::Arc;

/// One implementation of an operation for targets of type `T`; tables of these, best first, are the whole dispatch.
pub struct Impl<T: 'static> {
    /// `how:tier`, such as `packed:jit` or `ref:any`.
    pub name: &'static str,
    /// Decides whether and how this row does the problem; cheap.
    pub plan: Choose<T>,
    /// For which shapes it is.
    pub tier: Tier,
    /// Whether it and the rows beside it for which this is so, too, are ordered by the times that they predict.
    pub by_time: bool,
}

impl<T> Impl<T> {
    /// A row whose kernels serve all shapes.
    pub const fn new(name: &'static str, plan: Choose<T>) -> Impl<T> {
        Impl { name, plan, tier: Tier::Reusable, by_time: false }
    }

    /// The same as a row of [`Tier::Particular`].
    pub const fn for_some_shapes(self) -> Impl<T> {
        Impl { tier: Tier::Particular, ..self }
    }

    /// The same as one of several rows, of which the one that predicts the least time comes first ([`Plan::seconds`]).
    pub const fn by_time(self) -> Impl<T> {
        Impl { by_time: true, ..self }
    }

    /// The same as a row of [`Tier::Reference`].
    pub const fn as_reference(self) -> Impl<T> {
        Impl { tier: Tier::Reference, ..self }
    }
}

/// For which shapes a row is; in the order in which rows are asked where sizes change ([`oxidnn_spec::Attr::hint_reusable_kernels`], or sizes that
/// come with executions).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Tier {
    /// Its kernels serve all of them.
    Reusable,
    /// Some: few rows, small weights, or weights in a layout that other rows do not read.
    Particular,
    /// All, at any cost.
    Reference,
}

/// Decides whether and how a row does a problem on a target.
pub type Choose<T> = fn(&Problem, &T) -> Result<Box<dyn Plan>, Skip>;

/// Why a row declined.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Skip {
    /// The target lacks an instruction set.
    Isa(&'static str),
    /// This operation, propagation kind or algorithm is not done by the row.
    Op(&'static str),
    /// A data type (or a combination) that the row does not take.
    DataType(String),
    /// A layout that the row does not take.
    Layout(String),
    /// Sizes that the row does not take.
    Shape(&'static str),
    /// An attribute that the row does not take.
    Attr(String),
    /// The row runs generated code, which there is none of; why.
    Code(&'static str),
    /// The knob or filter that excludes the row.
    Excluded(String),
}

impl fmt::Display for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Skip::Isa(s) => write!(f, "needs the instruction set {s}"),
            Skip::Op(s) => write!(f, "does not do {s}"),
            Skip::DataType(s) => write!(f, "does not take the data types {s}"),
            Skip::Layout(s) => write!(f, "does not take the layout {s}"),
            Skip::Shape(s) => write!(f, "does not take these sizes: {s}"),
            Skip::Attr(s) => write!(f, "does not take the attribute {s}"),
            Skip::Code(s) => write!(f, "runs generated code: {s}"),
            Skip::Excluded(s) => write!(f, "excluded by {s}"),
        }
    }
}

/// A decision: cheap to make, printable, and enough to answer every query.
pub trait Plan: fmt::Debug + Send + Sync {
    /// The problem with every `any` layout resolved.
    fn problem(&self) -> &Problem;
    /// Bytes of scratch that an execution needs.
    fn scratch_bytes(&self) -> usize {
        0
    }
    /// The decision, for people to read.
    fn decision(&self) -> Decision {
        Decision::default()
    }
    /// The decision's predicted time in seconds; cheap.
    fn seconds(&self) -> Option<f64> {
        self.decision().seconds
    }
    /// Makes the ready code.
    ///
    /// # Errors
    /// [`Error::Runtime`] or [`Error::OutOfMemory`] when code cannot be made.
    fn build(&self) -> Result<Arc<dyn Exec>, Error>;
}

/// The row that took a problem.
#[derive(Debug)]
pub struct Planned {
    /// Its index in the order in which rows were asked, which is that of the operation's table but for rows that are ordered by time.
    pub row: usize,
    /// Its name.
    pub name: &'static str,
    /// Its decision.
    pub plan: Box<dyn Plan>,
    /// The rows asked before it, with their reasons.
    pub skipped: Vec<(&'static str, Skip)>,
}

/// Ready code: re-entrant, shared by all primitives of the same problem.
pub trait Exec: Send + Sync {
    /// Runs once. Steady-state runs allocate nothing.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] for arguments that only show themselves wrong now (runtime sizes, index arrays).
    fn run(&self, ctx: &Ctx<'_>) -> Result<(), Error>;

    /// Bytes of scratch for these arguments, where it is more than the plan booked because sizes are known only now; asked only of
    /// problems with runtime dimensions.
    fn scratch_bytes(&self, args: &[Bound<'_>]) -> usize {
        let _ = args;
        0
    }

    /// Bytes that the code and its tables take, for the budget of the primitive cache.
    fn footprint(&self) -> usize {
        0
    }
}

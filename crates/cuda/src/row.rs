//! Rows and plans: how a problem finds its launches.

use crate::CudaTarget;
use crate::exec::{Launches, Open, Ready};
use crate::program::Program;
use oxidnn_runtime::{Exec, Plan, Skip};
use oxidnn_spec::{Dims, Error, Format, Problem, RUNTIME};
use std::sync::Arc;

/// One implementation of an operation.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// `how:tier`, such as `tiles:generic`.
    pub name: &'static str,
    /// Lowers a problem, its layouts resolved and its sizes known, to launches; cheap.
    pub lower: Lower,
}

/// Lowers a problem to launches, or says why not.
pub type Lower = fn(&Problem, &CudaTarget) -> Result<Program, Skip>;

/// Stands in for sizes that only an execution knows, where a plan asks what the code will be.
const EXAMPLE: i64 = 4;

/// The plan of a row.
#[derive(Debug)]
pub struct RowPlan {
    problem: Problem,
    program: Program,
    target: CudaTarget,
    lower: Lower,
}

impl Row {
    /// The plan for a problem.
    ///
    /// # Errors
    /// Why the row declines.
    pub fn plan(&self, problem: &Problem, target: &CudaTarget) -> Result<RowPlan, Skip> {
        let mut problem = problem.clone();
        problem.resolve();
        let program = match has_runtime(&problem) {
            false => (self.lower)(&problem, target)?,
            // Code and refusals do not depend on sizes; words and scratch do.
            true => Program { scratch: 0, ..(self.lower)(&example(&problem), target)? },
        };
        Ok(RowPlan { problem, program, target: target.clone(), lower: self.lower })
    }
}

/// Whether a size is known at execution only.
pub(crate) fn has_runtime(problem: &Problem) -> bool {
    problem.operands().iter().any(|o| o.tensor.layout.has_runtime())
}

/// The problem with example sizes for those that an execution gives.
fn example(problem: &Problem) -> Problem {
    let mut example = problem.clone();
    for o in example.op.operands_mut() {
        let layout = &mut o.tensor.layout;
        let known = |dims: &Dims| Dims::from_fn(dims.len(), |d| if dims[d] == RUNTIME { EXAMPLE } else { dims[d] });
        layout.dims = known(&layout.dims);
        if let Format::Blocked(_) = layout.format
            && let Some(b) = layout.blocking_mut()
        {
            (b.padded_dims, b.strides) = (known(&b.padded_dims), known(&b.strides));
            b.offset = if b.offset == RUNTIME { 0 } else { b.offset };
        }
    }
    example
}

impl RowPlan {
    /// The launches; of a problem whose sizes an execution gives, those for example sizes.
    pub fn program(&self) -> &Program {
        &self.program
    }
}

impl Plan for RowPlan {
    fn problem(&self) -> &Problem {
        &self.problem
    }
    fn scratch_bytes(&self) -> usize {
        self.program.scratch
    }
    fn build(&self) -> Result<Arc<dyn Exec>, Error> {
        let loader = self.target.loader.as_ref().ok_or_else(|| Error::Runtime("this GPU is only described; nothing runs on it".into()))?;
        let launches = Launches::load(&self.program, loader)?;
        Ok(Arc::new(match has_runtime(&self.problem) {
            false => Ready::Known(launches),
            true => Ready::Open(Box::new(Open { problem: self.problem.clone(), target: self.target.clone(), lower: self.lower })),
        }))
    }
}

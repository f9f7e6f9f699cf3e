//! Rows and plans: how a problem finds its launches.

use crate::CudaTarget;
use crate::exec::Launches;
use crate::program::Program;
use oxidnn_runtime::{Exec, Plan, Skip};
use oxidnn_spec::{Error, Problem};
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

/// The plan of a row.
#[derive(Debug)]
pub struct RowPlan {
    problem: Problem,
    program: Program,
    target: CudaTarget,
}

impl Row {
    /// The plan for a problem.
    ///
    /// # Errors
    /// Why the row declines.
    pub fn plan(&self, problem: &Problem, target: &CudaTarget) -> Result<RowPlan, Skip> {
        // An execution's sizes make a problem of their own (`runtime::family`), which comes here.
        if problem.operands().iter().any(|o| o.tensor.layout.has_runtime()) {
            return Err(Skip::Shape("sizes that an execution gives"));
        }
        let mut problem = problem.clone();
        problem.resolve();
        let program = (self.lower)(&problem, target)?;
        Ok(RowPlan { problem, program, target: target.clone() })
    }
}

impl RowPlan {
    /// The launches.
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
        Ok(Arc::new(Launches::load(&self.program, loader)?))
    }
}

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
    problem: Arc<Problem>,
    program: Program,
    target: CudaTarget,
}

impl Row {
    /// The plan for a problem.
    ///
    /// # Errors
    /// Why the row declines.
    pub fn plan(&self, problem: &Problem, target: &CudaTarget) -> Result<RowPlan, Skip> {
        self.plan_resolved(&resolved(problem)?, target)
    }

    /// The plan for a problem whose layouts are resolved.
    pub(crate) fn plan_resolved(&self, problem: &Arc<Problem>, target: &CudaTarget) -> Result<RowPlan, Skip> {
        let program = (self.lower)(problem, target)?;
        Ok(RowPlan { problem: Arc::clone(problem), program, target: target.clone() })
    }
}

/// The problem with every layout chosen.
pub(crate) fn resolved(problem: &Problem) -> Result<Arc<Problem>, Skip> {
    // An execution's sizes make a problem of their own (`runtime::family`), which comes here.
    if problem.op.has_runtime() {
        return Err(Skip::Shape("sizes that an execution gives"));
    }
    let mut problem = problem.clone();
    problem.resolve();
    Ok(Arc::new(problem))
}

impl RowPlan {
    /// The launches.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// These launches, those where memory is not aligned, and what stands behind those.
    ///
    /// # Errors
    /// Why there are none of the latter.
    pub fn programs(&self) -> Result<Vec<Program>, Skip> {
        let mut all = vec![self.program.clone()];
        while let Some(unaligned) = all.last().and_then(|program| program.unaligned.clone()) {
            all.push(unaligned.program(&self.problem, &self.target)?);
        }
        Ok(all)
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
        Ok(Arc::new(Launches::load(&self.program, &self.problem, &self.target)?))
    }
}

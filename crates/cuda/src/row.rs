//! Implementations and plans. A [`Row`] is one implementation of an operation; the rows of an operation are tried in order (`ops::rows`), and the first one
//! that lowers the problem to a [`Program`] wins. The others say why they do not ([`Skip`]).

use crate::CudaTarget;
use crate::exec::Launches;
use crate::program::Program;
use oxidnn_runtime::{Exec, Plan, Skip};
use oxidnn_spec::{Error, Problem};
use std::sync::Arc;

/// One implementation of an operation.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// `algorithm:tier`, such as `gemm:sm90` or `tiles:generic`.
    pub name: &'static str,
    /// Lowers a problem with known layouts and sizes to launches; cheap, without a GPU.
    pub lower: Lower,
}

/// Lowers a problem to launches, or returns the reason why this implementation does not apply.
pub type Lower = fn(&Problem, &CudaTarget) -> Result<Program, Skip>;

/// A row's plan for a problem.
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
    /// Why the row does not apply.
    pub fn plan(&self, problem: &Problem, target: &CudaTarget) -> Result<RowPlan, Skip> {
        self.plan_resolved(&resolved(problem)?, target)
    }

    /// The plan for a problem whose layouts are chosen.
    pub(crate) fn plan_resolved(&self, problem: &Arc<Problem>, target: &CudaTarget) -> Result<RowPlan, Skip> {
        let program = (self.lower)(problem, target)?;
        Ok(RowPlan { problem: Arc::clone(problem), program, target: target.clone() })
    }
}

/// The problem with all layouts (`any`) chosen.
pub(crate) fn resolved(problem: &Problem) -> Result<Arc<Problem>, Skip> {
    // With runtime sizes, each execution's sizes form a problem of their own (`runtime::family`), which is planned here.
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

    /// This program and its alternatives for unaligned memory.
    ///
    /// # Errors
    /// Why an alternative does not apply.
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

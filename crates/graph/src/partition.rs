//! Partitions: what is compiled and executed as one; here one operation.

use crate::compiled::Compiled;
use crate::{CompiledPartition, Error, LogicalTensor, Op, compiled, dump, infer, lower};
use oxidnn_runtime::{Engine, EngineKind};
use oxidnn_spec::FpMath;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A part of a graph; a cheap handle.
#[derive(Clone, Debug)]
pub struct Partition(Arc<State>);

#[derive(Debug)]
struct State {
    id: usize,
    op: Op,
    engine_kind: EngineKind,
    fpmath: FpMath,
}

impl Partition {
    /// A partition of one operation that belongs to no graph.
    ///
    /// # Errors
    /// [`Error::InvalidOp`] when the operation does not follow its schema.
    pub fn new(op: &Op, engine_kind: EngineKind) -> Result<Partition, Error> {
        let mut op = op.clone();
        op.kind.schema().complete(&mut op)?;
        Ok(Partition::of(op, engine_kind, FpMath::default()))
    }

    pub(crate) fn of(op: Op, engine_kind: EngineKind, fpmath: FpMath) -> Partition {
        static NEXT: AtomicUsize = AtomicUsize::new(100_000);
        Partition(Arc::new(State { id: NEXT.fetch_add(1, Ordering::Relaxed), op, engine_kind, fpmath }))
    }

    /// A number that no other partition of this process has.
    pub fn id(&self) -> usize {
        self.0.id
    }

    /// The operations.
    pub fn ops(&self) -> &[Op] {
        std::slice::from_ref(&self.0.op)
    }

    /// The kind of engines it is for.
    pub fn engine_kind(&self) -> EngineKind {
        self.0.engine_kind
    }

    /// What it reads from outside, each tensor once.
    pub fn inputs(&self) -> Vec<LogicalTensor> {
        self.0.op.ports()
    }

    /// What it writes.
    pub fn outputs(&self) -> &[LogicalTensor] {
        &self.0.op.outputs
    }

    /// Why this library cannot compute it; `None` where it can.
    pub fn refusal(&self) -> Option<String> {
        lower::refusal(&self.0.op).or_else(|| (self.0.engine_kind != EngineKind::Cpu).then(|| "no engine of this kind".into()))
    }

    /// Makes the code for tensors as `inputs` and `outputs` describe them, in any order; or takes it from the process-wide cache.
    ///
    /// Inputs have all sizes and strides. Of outputs that are not known, sizes are inferred, and layouts chosen.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] for a partition that is not supported, an engine of another kind, a port that is missing or not known well
    /// enough; [`Error::InvalidShape`] for sizes that do not fit; what the primitives refuse.
    pub fn compile(&self, engine: &Engine, inputs: &[LogicalTensor], outputs: &[LogicalTensor]) -> Result<CompiledPartition, Error> {
        if let Some(why) = self.refusal() {
            return Err(Error::InvalidArguments(format!("partition {} is not supported: {why}", self.id())));
        }
        if engine.kind() != self.engine_kind() {
            return Err(Error::argument("engine", engine.kind(), self.engine_kind()));
        }
        let mut op = self.0.op.clone();
        described(&mut op.inputs, inputs)?;
        described(&mut op.outputs, outputs)?;
        compiled::cached(self, engine, op, |op| {
            infer::outputs(op)?;
            dump::partition(self, op);
            let program = lower::lower(op, engine, self.0.fpmath)?;
            Ok(Compiled::new(engine.clone(), op.clone(), program))
        })
    }

    pub(crate) fn fpmath(&self) -> FpMath {
        self.0.fpmath
    }
}

/// Puts what the caller knows now in the place of each port.
fn described(ports: &mut [LogicalTensor], given: &[LogicalTensor]) -> Result<(), Error> {
    for port in ports {
        let lt = given.iter().find(|g| g.id == port.id);
        let lt = lt.ok_or_else(|| Error::argument("logical tensors", "none", format_args!("one with the number {}", port.id)))?;
        if lt.dtype != port.dtype {
            let name = |lt: &LogicalTensor| lt.dtype.map_or("no type", |d| d.name());
            return Err(Error::argument(format_args!("type of logical tensor {}", port.id), name(lt), name(port)));
        }
        *port = *lt;
    }
    Ok(())
}

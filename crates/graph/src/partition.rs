//! Partitions: sets of operations that are compiled and executed as one.

use crate::compiled::Compiled;
use crate::graph::Numerics;
use crate::open::{self, Open};
use crate::{CompiledPartition, Error, LayoutType, LogicalTensor, Op, UNKNOWN, compiled, dump, infer, lower};
use oxidnn_runtime::{Engine, EngineKind};
use oxidnn_spec::{Dims, FpMath};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A part of a graph; a cheap handle.
#[derive(Clone, Debug)]
pub struct Partition(Arc<State>);

#[derive(Debug)]
struct State {
    id: usize,
    /// In an order to compute them in.
    ops: Vec<Op>,
    /// The inputs from outside, as often as they are read.
    reads: Vec<LogicalTensor>,
    inputs: Vec<LogicalTensor>,
    outputs: Vec<LogicalTensor>,
    pattern: &'static str,
    engine_kind: EngineKind,
    numerics: Numerics,
}

/// The common data of the partitions of one graph.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    pub(crate) engine_kind: EngineKind,
    pub(crate) numerics: Numerics,
}

impl Partition {
    /// A partition of one operation that belongs to no graph.
    ///
    /// # Errors
    /// [`Error::InvalidOp`] when the operation does not follow its schema.
    pub fn new(op: &Op, engine_kind: EngineKind) -> Result<Partition, Error> {
        let mut op = op.clone();
        op.kind.schema().complete(&mut op)?;
        Ok(Partition::of(vec![op], SINGLE, Origin { engine_kind, numerics: Numerics::new(FpMath::default()) }, |_| true))
    }

    /// A partition of operations, in an order to compute them in; `leaves`: whether anybody outside reads an output, or nobody does.
    pub(crate) fn of(ops: Vec<Op>, pattern: &'static str, origin: Origin, leaves: impl Fn(usize) -> bool) -> Partition {
        static NEXT: AtomicUsize = AtomicUsize::new(100_000);
        let Origin { engine_kind, numerics } = origin;
        let made: HashSet<usize> = ops.iter().flat_map(|op| &op.outputs).map(|lt| lt.id).collect();
        let reads: Vec<LogicalTensor> = ops.iter().flat_map(|op| &op.inputs).filter(|lt| !made.contains(&lt.id)).copied().collect();
        let mut inputs: Vec<LogicalTensor> = Vec::with_capacity(reads.len());
        for lt in &reads {
            if inputs.iter().all(|p| p.id != lt.id) {
                inputs.push(*lt);
            }
        }
        let outputs = ops.iter().flat_map(|op| &op.outputs).filter(|lt| leaves(lt.id)).copied().collect();
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Partition(Arc::new(State { id, ops, reads, inputs, outputs, pattern, engine_kind, numerics }))
    }

    /// A number that no other partition of this process has.
    pub fn id(&self) -> usize {
        self.0.id
    }

    /// The operations, in an order to compute them in.
    pub fn ops(&self) -> &[Op] {
        &self.0.ops
    }

    /// The name of the pattern that the operations are an instance of.
    pub fn pattern(&self) -> &'static str {
        self.0.pattern
    }

    /// The kind of engines it is for.
    pub fn engine_kind(&self) -> EngineKind {
        self.0.engine_kind
    }

    /// The tensors that its operations read from outside, each as often as they read it: the input ports of the specification.
    pub fn reads(&self) -> &[LogicalTensor] {
        &self.0.reads
    }

    /// The tensors that it reads from outside, each once, in the order of [`Partition::reads`].
    pub fn inputs(&self) -> &[LogicalTensor] {
        &self.0.inputs
    }

    /// The tensors that it writes for others.
    pub fn outputs(&self) -> &[LogicalTensor] {
        &self.0.outputs
    }

    /// Why this library cannot compute it; `None` where it can.
    pub fn refusal(&self) -> Option<String> {
        let of = |op: &Op| lower::refusal(op).map(|why| format!("{} (operation {}): {why}", op.kind.name(), op.id));
        self.0.ops.iter().find_map(of)
    }

    /// Makes the code for tensors as `inputs` and `outputs` describe them, in any order; or takes it from the process-wide cache.
    ///
    /// Unknown sizes of outputs are inferred, and their layouts chosen. If sizes or strides of inputs are unknown, they come with the
    /// memory of an execution: each set of them is compiled at its first use, with the kernels and packed weights of those before.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] for a partition that is not supported, an engine of another kind, a port that is missing or not known
    /// well enough; [`Error::InvalidShape`] for sizes that do not fit; errors of the primitives.
    pub fn compile(&self, engine: &Engine, inputs: &[LogicalTensor], outputs: &[LogicalTensor]) -> Result<CompiledPartition, Error> {
        if let Some(why) = self.refusal() {
            return Err(Error::InvalidArguments(format!("partition {} is not supported: {why}", self.id())));
        }
        if engine.kind() != self.engine_kind() {
            return Err(Error::argument("engine", engine.kind(), self.engine_kind()));
        }
        let ports = [described(&self.0.inputs, inputs)?, described(&self.0.outputs, outputs)?];
        if ports[0].iter().any(open::is_open) {
            return Ok(CompiledPartition::open(self, Open::new(engine, ports)));
        }
        self.compile_sized(engine, ports).map(|compiled| CompiledPartition::sized_as(self, compiled))
    }

    /// The code for ports as they are described, all sizes of inputs known.
    pub(crate) fn compile_sized(&self, engine: &Engine, ports: [Vec<LogicalTensor>; 2]) -> Result<Arc<Compiled>, Error> {
        compiled::cached(self, engine, ports, |ports| {
            let (ops, outputs) = self.inferred(&ports)?;
            dump::partition(self, &ops);
            let lowered = lower::lower(&ops, [&ports[0], &outputs], engine, self.0.numerics)?;
            Ok(Compiled::new(engine.clone(), self.id(), ops, [ports[0].clone(), outputs], lowered))
        })
    }

    /// The operations with everything about their tensors known, and the outputs; `ports` are inputs and outputs as the caller describes them.
    fn inferred(&self, ports: &[Vec<LogicalTensor>; 2]) -> Result<(Vec<Op>, Vec<LogicalTensor>), Error> {
        let mut known: HashMap<usize, LogicalTensor> = ports[0].iter().map(|lt| (lt.id, *lt)).collect();
        let mut ops = self.0.ops.clone();
        for op in &mut ops {
            for lt in &mut op.inputs {
                *lt = *known.get(&lt.id).unwrap_or(lt);
            }
            for lt in &mut op.outputs {
                *lt = match ports[1].iter().find(|p| p.id == lt.id) {
                    Some(port) => *port,
                    // Nobody sees the layouts of tensors that stay inside, and their sizes need not be known before.
                    None => inner(lt),
                };
            }
            let free = op.outputs.first().is_some_and(|lt| lt.layout == LayoutType::Any);
            infer::outputs(op)?;
            if free {
                infer::innermost_channels(op);
            }
            known.extend(op.outputs.iter().map(|lt| (lt.id, *lt)));
        }
        let outputs = self.0.outputs.iter().map(|lt| *known.get(&lt.id).unwrap_or(lt)).collect();
        Ok((ops, outputs))
    }

    pub(crate) fn numerics(&self) -> Numerics {
        self.0.numerics
    }
}

/// The name of the pattern of single operations.
pub(crate) const SINGLE: &str = "single";

/// A tensor that no port is, with a layout that is free.
fn inner(lt: &LogicalTensor) -> LogicalTensor {
    let strides = lt.dims.map_or(Dims::default(), |d| Dims::filled(d.len(), UNKNOWN));
    LogicalTensor { layout: LayoutType::Any, strides, ..*lt }
}

/// The caller's present knowledge of each port.
fn described(ports: &[LogicalTensor], given: &[LogicalTensor]) -> Result<Vec<LogicalTensor>, Error> {
    let of = |port: &LogicalTensor| {
        let lt = given.iter().find(|g| g.id == port.id);
        let lt = lt.ok_or_else(|| Error::argument("logical tensors", "none", format_args!("one with the number {}", port.id)))?;
        if lt.dtype != port.dtype {
            let name = |lt: &LogicalTensor| lt.dtype.map_or("no type", |d| d.name());
            return Err(Error::argument(format_args!("type of logical tensor {}", port.id), name(lt), name(port)));
        }
        Ok(*lt)
    };
    ports.iter().map(of).collect()
}

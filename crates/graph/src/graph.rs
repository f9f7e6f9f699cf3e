//! Graphs: operations are added, the graph is closed, partitions are taken.

use crate::partition::Origin;
use crate::pattern::{self, Explanation, Policy};
use crate::{Error, LogicalTensor, Op, Partition, dump};
use oxidnn_runtime::{EngineKind, knobs};
use oxidnn_spec::FpMath;
use oxidnn_spec::op::ConvAlg;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How numbers are computed where the specification leaves a choice.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Numerics {
    /// The precision that f32 computation may be lowered to.
    pub(crate) fpmath: FpMath,
    /// The algorithm of convolutions, and of their gradients by data.
    pub(crate) convolution: ConvAlg,
}

impl Numerics {
    /// With the algorithm that the environment says.
    pub(crate) fn new(fpmath: FpMath) -> Numerics {
        Numerics { fpmath, convolution: knobs::get().graph_convolution }
    }
}

/// Operations over logical tensors.
#[derive(Clone, Debug)]
pub struct Graph {
    id: usize,
    engine_kind: EngineKind,
    numerics: Numerics,
    /// In the order they were added; after [`Graph::finalize`] in topological order.
    ops: Vec<Op>,
    finalized: bool,
    partitions: Vec<Partition>,
}

impl Graph {
    /// An empty graph for engines of a kind.
    pub fn new(engine_kind: EngineKind, fpmath: FpMath) -> Graph {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Graph { id, engine_kind, numerics: Numerics::new(fpmath), ops: Vec::new(), finalized: false, partitions: Vec::new() }
    }

    /// A number that no other graph of this process has.
    pub fn id(&self) -> usize {
        self.id
    }

    /// The kind of engines it is for.
    pub fn engine_kind(&self) -> EngineKind {
        self.engine_kind
    }

    /// The precision its computation may be lowered to.
    pub fn fpmath(&self) -> FpMath {
        self.numerics.fpmath
    }

    /// The algorithm of its convolutions.
    pub fn convolution(&self) -> ConvAlg {
        self.numerics.convolution
    }

    /// Whether it is closed.
    pub fn is_finalized(&self) -> bool {
        self.finalized
    }

    /// The operations.
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// Changes the precision.
    ///
    /// # Errors
    /// [`Error::InvalidGraph`] when the graph is closed.
    pub fn set_fpmath(&mut self, fpmath: FpMath) -> Result<(), Error> {
        self.open("the precision cannot change any more")?;
        self.numerics.fpmath = fpmath;
        Ok(())
    }

    /// Changes the algorithm of convolutions and of their gradients by data: [`ConvAlg::Auto`], unless the knob `GRAPH_CONVOLUTION` says otherwise.
    /// With [`ConvAlg::Direct`] every result is a sum of products of the pixels under its window, and of no others.
    ///
    /// # Errors
    /// [`Error::InvalidGraph`] when the graph is closed.
    pub fn set_convolution(&mut self, convolution: ConvAlg) -> Result<(), Error> {
        self.open("the algorithm cannot change any more")?;
        self.numerics.convolution = convolution;
        Ok(())
    }

    fn open(&self, what: &str) -> Result<(), Error> {
        if self.finalized { Err(Error::InvalidGraph(format!("the graph is finalized: {what}"))) } else { Ok(()) }
    }

    /// Adds an operation, with the defaults of attributes that it does not have. An operation whose number the graph has already is ignored.
    ///
    /// # Errors
    /// [`Error::InvalidGraph`] when the graph is closed, [`Error::InvalidOp`] when the operation does not follow its schema.
    pub fn add_op(&mut self, op: &Op) -> Result<(), Error> {
        self.open("no operation can be added")?;
        if self.ops.iter().any(|o| o.id == op.id) {
            return Ok(());
        }
        let mut op = op.clone();
        op.kind.schema().complete(&mut op)?;
        self.ops.push(op);
        Ok(())
    }

    /// Closes the graph: checks that operations agree about the tensors between them, and that there is an order to compute them in.
    ///
    /// # Errors
    /// [`Error::InvalidGraph`].
    pub fn finalize(&mut self) -> Result<(), Error> {
        if self.finalized {
            return Ok(());
        }
        let mut seen: HashMap<usize, LogicalTensor> = HashMap::new();
        for lt in self.ops.iter().flat_map(|o| o.inputs.iter().chain(&o.outputs)) {
            if !seen.entry(lt.id).or_insert(*lt).agrees(lt) {
                return Err(Error::InvalidGraph(format!("operations disagree about logical tensor {}", lt.id)));
            }
        }
        self.ops = sorted(std::mem::take(&mut self.ops)).map_err(|(ops, why)| {
            self.ops = ops;
            Error::InvalidGraph(why)
        })?;
        self.finalized = true;
        Ok(())
    }

    /// Makes the partitions, anew at every call, in topological order.
    ///
    /// # Errors
    /// [`Error::InvalidGraph`] when the graph is not closed.
    pub fn filter(&mut self, policy: Policy) -> Result<(), Error> {
        if !self.finalized {
            return Err(Error::InvalidGraph("the graph is not finalized".into()));
        }
        let origin = Origin { engine_kind: self.engine_kind, numerics: self.numerics };
        let mut consumers: HashMap<usize, Vec<usize>> = HashMap::new();
        for (i, op) in self.ops.iter().enumerate() {
            op.inputs.iter().for_each(|lt| consumers.entry(lt.id).or_default().push(i));
        }
        let made = pattern::groups(&self.ops, policy).into_iter().map(|group| {
            let ops = group.ops.iter().map(|&i| self.ops[i].clone()).collect();
            let leaves = |id: usize| consumers.get(&id).is_none_or(|all| !all.iter().all(|i| group.ops.contains(i)));
            Partition::of(ops, group.pattern, origin, leaves)
        });
        self.partitions = made.collect();
        dump::graph(self);
        Ok(())
    }

    /// The fate of each operation when [`Graph::filter`] made the partitions: empty before that.
    pub fn explain(&self) -> Vec<Explanation> {
        let of = |(i, op): (usize, &Op)| {
            let partition = self.partitions.iter().find(|p| p.ops().iter().any(|o| o.id == op.id))?;
            let declined = pattern::declined(&self.ops, i, partition.pattern());
            Some(Explanation { op: op.id, kind: op.kind, partition: partition.id(), pattern: partition.pattern(), declined })
        };
        self.ops.iter().enumerate().filter_map(of).collect()
    }

    /// The partitions that [`Graph::filter`] made.
    pub fn partitions(&self) -> &[Partition] {
        &self.partitions
    }
}

/// The operations in topological order, those that could come next in the order they were added; or as they were, and why there is none.
fn sorted(ops: Vec<Op>) -> Result<Vec<Op>, (Vec<Op>, String)> {
    let mut producer = HashMap::new();
    for (i, op) in ops.iter().enumerate() {
        for out in &op.outputs {
            if let Some(other) = producer.insert(out.id, i).filter(|&o| o != i) {
                let why = format!("logical tensor {} is written by operations {} and {}", out.id, ops[other].id, op.id);
                return Err((ops, why));
            }
        }
    }
    let mut state = vec![Visit::New; ops.len()];
    let mut order = Vec::with_capacity(ops.len());
    for i in 0..ops.len() {
        if !visit(i, &ops, &producer, &mut state, &mut order) {
            let why = format!("operation {} ({}) is in a cycle", ops[i].id, ops[i].kind.name());
            return Err((ops, why));
        }
    }
    let mut ops: Vec<Option<Op>> = ops.into_iter().map(Some).collect();
    Ok(order.into_iter().filter_map(|i| ops[i].take()).collect())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Visit {
    New,
    Open,
    Done,
}

/// Puts the producers of operation `root` and then itself into `order`, with a stack of its own; false where they are in a cycle.
fn visit(root: usize, ops: &[Op], producer: &HashMap<usize, usize>, state: &mut [Visit], order: &mut Vec<usize>) -> bool {
    let mut stack = vec![(root, 0)];
    while let Some((i, input)) = stack.pop() {
        if state[i] == Visit::Done {
            continue;
        }
        state[i] = Visit::Open;
        let Some(lt) = ops[i].inputs.get(input) else {
            state[i] = Visit::Done;
            order.push(i);
            continue;
        };
        stack.push((i, input + 1));
        if let Some(&from) = producer.get(&lt.id) {
            match state[from] {
                Visit::New => stack.push((from, 0)),
                Visit::Open => return false,
                Visit::Done => {}
            }
        }
    }
    true
}

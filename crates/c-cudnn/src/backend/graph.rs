//! Graphs of operations, in topological order.

use super::object::Frozen;
use super::schema::Of;
use super::tensor::TensorDesc;
use crate::enums::*;
use crate::status::Failure;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// An operation with the unique ids of its tensors.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) op: Arc<Frozen>,
    pub(crate) reads: Vec<i64>,
    pub(crate) writes: Vec<i64>,
}

/// A graph.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    /// Operations in topological order.
    pub(crate) nodes: Vec<Node>,
    pub(crate) tensors: BTreeMap<i64, Arc<TensorDesc>>,
    /// Sizes may be given with each execution.
    pub(crate) sizes_change: bool,
}

/// Most operations of a graph.
const MOST: usize = 250;

impl Node {
    fn new(op: &Arc<Frozen>) -> Node {
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        for row in op.descriptor.rows {
            for inner in op.objects(row.id).iter().filter_map(|o| o.as_graph()) {
                reads.extend(inner.outer_reads(op));
            }
            // Nested operations: their tensors that are not virtual are read and written by the whole.
            for inner in op.objects(row.id).iter().filter(|o| o.descriptor.is_operation()) {
                let outside = |uid: &i64| tensors_of(inner).any(|t| t.uid == *uid && !t.is_virtual);
                let node = Node::new(inner);
                reads.extend(node.reads.into_iter().filter(outside));
                writes.extend(node.writes.into_iter().filter(outside));
            }
            let uids = op.objects(row.id).iter().filter_map(|o| o.as_tensor()).map(|t| t.uid);
            match row.of {
                Of::Input => reads.extend(uids),
                Of::Output if given(op, row.id) => reads.extend(uids),
                Of::Output => writes.extend(uids),
                _ => {}
            }
        }
        Node { op: op.clone(), reads, writes }
    }
}

/// Statistics that a normalisation in inference gets instead of computing them.
pub(crate) fn given(op: &Frozen, id: i32) -> bool {
    let statistics = matches!(id, CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC | CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC);
    statistics && op.int(CUDNN_ATTR_OPERATION_NORM_FWD_PHASE) == Some(i64::from(CUDNN_NORM_FWD_INFERENCE))
}

impl Graph {
    /// The graph of the operations.
    ///
    /// # Errors
    /// `BAD_PARAM` for no or too many operations, different tensors with the same id, tensors that two operations write, and cycles.
    pub(crate) fn new(ops: &[Arc<Frozen>], sizes_change: bool) -> Result<Graph, Failure> {
        if ops.is_empty() || ops.len() > MOST {
            return Err(Failure::invalid("OPERATIONGRAPH_OPS", format_args!("{} operations", ops.len()), format_args!("1 to {MOST}")));
        }
        let nodes: Vec<Node> = ops.iter().map(Node::new).collect();
        let mut tensors: BTreeMap<i64, Arc<TensorDesc>> = BTreeMap::new();
        for tensor in ops.iter().flat_map(tensors_of) {
            let known = tensors.entry(tensor.uid).or_insert_with(|| tensor.clone());
            if known != tensor {
                let got = format_args!("two tensors of the unique id {}, {known:?} and {tensor:?}", tensor.uid);
                return Err(Failure::invalid("OPERATIONGRAPH_OPS", got, "one tensor for each unique id"));
            }
        }
        let mut writers: HashMap<i64, usize> = HashMap::new();
        for (i, node) in nodes.iter().enumerate() {
            for &uid in &node.writes {
                if writers.insert(uid, i).is_some() {
                    let what = format_args!("the tensor {uid} is written by two operations");
                    return Err(Failure::new(CUDNN_STATUS_BAD_PARAM_DUPLICATED_ENTRIES, what));
                }
            }
        }
        Ok(Graph { nodes: ordered(nodes, &writers)?, tensors, sizes_change })
    }

    /// Tensors that the subgraph of `op` reads from outside.
    fn outer_reads<'a>(&'a self, op: &'a Frozen) -> impl Iterator<Item = i64> + 'a {
        let written = |uid: i64| self.nodes.iter().any(|n| n.writes.contains(&uid));
        let is_input = |uid: i64| op.int(CUDNN_ATTR_OPERATION_SDPA_FWD_SUBGRAPH_INPUT_UID) == Some(uid);
        let bound = |uid: i64| op.int(CUDNN_ATTR_OPERATION_SDPA_BWD_SUBGRAPH_INPUT_UID) == Some(uid);
        self.nodes.iter().flat_map(|n| &n.reads).copied().filter(move |&uid| !written(uid) && !is_input(uid) && !bound(uid))
    }

    /// The same graph with other sizes of some tensors.
    pub(crate) fn with_tensors(&self, changed: &BTreeMap<i64, Arc<TensorDesc>>) -> Graph {
        let tensors = self.tensors.iter().map(|(uid, t)| (*uid, changed.get(uid).unwrap_or(t).clone())).collect();
        Graph { tensors, ..self.clone() }
    }

    /// Checks that each virtual tensor is written by an operation.
    ///
    /// # Errors
    /// `BAD_PARAM` with the tensor's number.
    pub(crate) fn check_sources(&self) -> Result<(), Failure> {
        let written = |uid: &i64| self.nodes.iter().any(|n| n.writes.contains(uid));
        match self.nodes.iter().flat_map(|n| &n.reads).find(|uid| self.tensors[uid].is_virtual && !written(uid)) {
            Some(uid) => {
                Err(Failure::invalid("OPERATIONGRAPH_OPS", format_args!("the virtual tensor {uid} that no operation writes"), "a source"))
            }
            None => Ok(()),
        }
    }

    /// Ids of the tensors in the caller's memory, in order.
    pub(crate) fn uids(&self) -> Vec<i64> {
        self.tensors.values().filter(|t| !t.is_virtual && t.constant.is_none()).map(|t| t.uid).collect()
    }
}

/// Tensors of an operation, and of the subgraph or operation within it.
fn tensors_of(op: &Arc<Frozen>) -> Box<dyn Iterator<Item = &Arc<TensorDesc>> + '_> {
    let held = || op.descriptor.rows.iter().flat_map(|r| op.objects(r.id));
    let graphs = held().filter_map(|o| o.as_graph()).flat_map(|g| g.tensors.values());
    let within = held().filter(|o| o.descriptor.is_operation()).flat_map(tensors_of);
    let ragged = held().filter_map(|o| o.as_tensor()?.ragged.as_ref()).map(|r| &r.offsets);
    Box::new(held().filter_map(|o| o.as_tensor()).chain(graphs).chain(within).chain(ragged))
}

/// The operations in topological order, in which independent ones keep their order.
fn ordered(nodes: Vec<Node>, writers: &HashMap<i64, usize>) -> Result<Vec<Node>, Failure> {
    let count = nodes.len();
    let mut done = vec![false; count];
    let mut order = Vec::with_capacity(count);
    while order.len() < count {
        let before = order.len();
        for (i, node) in nodes.iter().enumerate() {
            let ready = node.reads.iter().all(|uid| writers.get(uid).is_none_or(|&w| w == i && !node.writes.is_empty() || done[w]));
            if !done[i] && ready {
                done[i] = true;
                order.push(i);
            }
        }
        if order.len() == before {
            return Err(Failure::invalid("OPERATIONGRAPH_OPS", "operations that wait for each other in a circle", "none"));
        }
    }
    Ok(order.into_iter().map(|i| nodes[i].clone()).collect())
}

//! The same graphs written otherwise, for patterns that have few: smaller types, operands and operations in another order, several graphs in one.

use super::run::partitioned;
use super::{Named, Net};
use oxidnn_graph::{AttrId, AttrValue, LogicalTensor, Op, OpKind, Policy};
use oxidnn_spec::DataType::{self, Bf16, F16, F32, S8, U8};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// How many graphs every pattern has at least: under its name, and that it takes operations of.
pub(crate) const LEAST: usize = 6;

type Change = fn(&Net) -> Option<Net>;

const CHANGES: [(&str, Change); 8] = [
    ("swapped", swapped),
    ("bf16", |net| narrowed(net, Bf16)),
    ("reversed", reversed),
    ("twice", twice),
    ("f16", |net| narrowed(net, F16)),
    ("shared", shared),
    ("beside", beside),
    ("behind", behind),
];

/// Adds graphs to those of every pattern until there are enough: by the part of the name before the stroke, then by what takes their operations.
pub(crate) fn completed(all: Vec<Named>) -> Vec<Named> {
    let named = |graph: &Named| BTreeSet::from([graph.0.split('/').next().unwrap_or_default().to_string()]);
    added(added(all, &named), &|graph| takers(&graph.1))
}

/// The patterns that take operations of a graph.
pub(crate) fn takers(net: &Net) -> BTreeSet<String> {
    let graph = partitioned(net, Policy::Fusion).expect("a valid graph");
    graph.partitions().iter().filter(|p| p.ops().len() > 1).map(|p| p.pattern().to_string()).collect()
}

/// Adds graphs until there are enough of every pattern; `of` says of which patterns a graph is.
fn added(mut all: Vec<Named>, of: &dyn Fn(&Named) -> BTreeSet<String>) -> Vec<Named> {
    let mut own: BTreeMap<String, Vec<Named>> = BTreeMap::new();
    let mut names: HashSet<String> = all.iter().map(|graph| graph.0.clone()).collect();
    for graph in &all {
        of(graph).into_iter().for_each(|pattern| own.entry(pattern).or_default().push(graph.clone()));
    }
    for (pattern, own) in own {
        let changed = CHANGES
            .iter()
            .flat_map(|(word, change)| own.iter().filter_map(move |(name, net)| Some((format!("{name}~{word}"), change(net)?))));
        let new = changed.filter(|graph| !names.contains(&graph.0) && of(graph).contains(&pattern));
        let new: Vec<Named> = new.take(LEAST.saturating_sub(own.len())).collect();
        names.extend(new.iter().map(|graph| graph.0.clone()));
        all.extend(new);
    }
    all
}

/// Both operands of every sum, product, maximum and minimum in the other's place.
fn swapped(net: &Net) -> Option<Net> {
    let symmetric = |op: &Op| matches!(op.kind, OpKind::Add | OpKind::Multiply | OpKind::Maximum | OpKind::Minimum);
    let mut net = net.clone();
    net.ops.iter_mut().filter(|op| symmetric(op)).for_each(|op| op.inputs.reverse());
    net.ops.iter().any(symmetric).then_some(net)
}

/// In a smaller type, where nothing but f32 is in the graph, and parameters of normalisations are none.
fn narrowed(net: &Net, dtype: DataType) -> Option<Net> {
    let mut net = net.clone();
    let narrow = |op: &Op| op.inputs.iter().chain(&op.outputs).all(|lt| lt.dtype == Some(F32));
    let plain = |op: &Op| op.kind.schema().types.len() == 1 || op.kind == OpKind::Multiply;
    if !net.ops.iter().all(|op| narrow(op) && plain(op)) {
        return None;
    }
    net.ops.iter_mut().flat_map(|op| op.inputs.iter_mut().chain(&mut op.outputs)).for_each(|lt| lt.dtype = Some(dtype));
    Some(net)
}

/// The operations added from last to first.
fn reversed(net: &Net) -> Option<Net> {
    let mut net = net.clone();
    net.ops.reverse();
    Some(net)
}

/// The graph two times over.
fn twice(net: &Net) -> Option<Net> {
    Some(doubled(net, &HashSet::new()))
}

/// The same with one set of inputs.
fn shared(net: &Net) -> Option<Net> {
    let made: HashSet<usize> = net.ops.iter().flat_map(|op| &op.outputs).map(|lt| lt.id).collect();
    Some(doubled(net, &net.ops.iter().flat_map(|op| &op.inputs).map(|lt| lt.id).filter(|id| !made.contains(id)).collect()))
}

/// The first input of the graph that is of one of these types and of known sizes, of more than one dimension.
fn given(net: &Net, types: &[DataType]) -> Option<LogicalTensor> {
    let made: HashSet<usize> = net.ops.iter().flat_map(|op| &op.outputs).map(|lt| lt.id).collect();
    let fits = |lt: &&LogicalTensor| lt.dtype.is_some_and(|d| types.contains(&d)) && lt.known_dims().is_some_and(|d| d.len() > 1);
    net.ops.iter().flat_map(|op| &op.inputs).filter(|lt| !made.contains(&lt.id)).find(fits).copied()
}

/// An input that another operation reads, too.
fn beside(net: &Net) -> Option<Net> {
    let (input, mut net) = (given(net, &[F32, Bf16, F16, S8, U8])?, net.clone());
    if matches!(input.dtype, Some(S8 | U8)) {
        net.dequantize(input, 0.5, 0)
    } else {
        net.unary(OpKind::Abs, input)
    };
    Some(net)
}

/// An input that is the result of an operation.
fn behind(net: &Net) -> Option<Net> {
    let (input, mut net) = (given(net, &[F32, Bf16, F16])?, net.clone());
    let made = net.op(OpKind::SoftMax, &[input], input.dtype?, vec![(AttrId::Axis, AttrValue::S64(-1))]);
    let last = net.ops.len() - 1;
    for op in &mut net.ops[..last] {
        op.inputs.iter_mut().filter(|lt| lt.id == input.id).for_each(|lt| *lt = made);
    }
    Some(net)
}

fn doubled(net: &Net, kept: &HashSet<usize>) -> Net {
    let ports = |op: &Op| op.inputs.iter().chain(&op.outputs).map(|lt| lt.id).max();
    let (ops, tensors) = (net.ops.len(), net.ops.iter().filter_map(ports).max().map_or(0, |id| id + 1));
    let other = |id: usize| if kept.contains(&id) { id } else { id + tensors };
    let renamed = |all: &[LogicalTensor]| all.iter().map(|lt| LogicalTensor { id: other(lt.id), ..*lt }).collect();
    let mut all = net.clone();
    all.ops.extend(net.ops.iter().map(|op| Op {
        id: op.id + ops,
        inputs: renamed(&op.inputs),
        outputs: renamed(&op.outputs),
        ..op.clone()
    }));
    all.numbers.extend(net.numbers.iter().map(|(&id, &number)| (other(id), number)));
    all
}

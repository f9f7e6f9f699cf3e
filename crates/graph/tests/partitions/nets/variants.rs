//! The same graphs written otherwise, for patterns that have few: smaller types, operands and operations in another order, several graphs in one.

use super::{Named, Net};
use oxidnn_graph::{LogicalTensor, Op, OpKind};
use oxidnn_spec::DataType::{self, Bf16, F16, F32};
use std::collections::{BTreeMap, HashSet};

/// How many graphs there are under every pattern's name at least.
const LEAST: usize = 6;

type Change = fn(&Net) -> Option<Net>;

const CHANGES: [(&str, Change); 6] = [
    ("swapped", swapped),
    ("bf16", |net| narrowed(net, Bf16)),
    ("reversed", reversed),
    ("twice", twice),
    ("f16", |net| narrowed(net, F16)),
    ("shared", shared),
];

/// Adds graphs to those of every pattern, by the part of the name before the stroke, until there are enough.
pub(crate) fn completed(mut all: Vec<Named>) -> Vec<Named> {
    let pattern = |name: &str| name.split('/').next().unwrap_or_default().to_string();
    let mut of: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    all.iter().enumerate().for_each(|(i, (name, _))| of.entry(pattern(name)).or_default().push(i));
    for own in of.into_values() {
        let made = CHANGES.iter().flat_map(|(word, change)| {
            let all = &all;
            own.iter().filter_map(move |&i| Some((format!("{}~{word}", all[i].0), change(&all[i].1)?)))
        });
        let made: Vec<Named> = made.take(LEAST.saturating_sub(own.len())).collect();
        all.extend(made);
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

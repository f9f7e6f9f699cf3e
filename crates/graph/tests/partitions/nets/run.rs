//! Execution of a graph, partition by partition.

use super::Net;
use oxidnn_graph::{CompiledPartition, Error, Graph, LogicalTensor, Partition, Policy, Property};
use oxidnn_runtime::{Engine, EngineKind, Memory, Stream};
use oxidnn_spec::{DataType, FpMath, Tensor};
use std::collections::BTreeMap;

/// The graph, closed, with its partitions.
pub(crate) fn partitioned(net: &Net, policy: Policy) -> Result<Graph, Error> {
    let mut graph = Graph::new(EngineKind::Cpu, FpMath::default());
    net.ops.iter().try_for_each(|op| graph.add_op(op))?;
    graph.finalize()?;
    graph.filter(policy)?;
    Ok(graph)
}

/// The numbers of the operations of each partition in their order, `0,1|2`, with `!` behind those that cannot be computed.
pub(crate) fn grouping(graph: &Graph) -> String {
    let of = |p: &Partition| {
        let mut ids: Vec<usize> = p.ops().iter().map(|o| o.id).collect();
        ids.sort_unstable();
        numbers(ids) + if p.refusal().is_some() { "!" } else { "" }
    };
    graph.partitions().iter().map(of).collect::<Vec<_>>().join("|")
}

/// The same with the numbers of the ports: `0,1<5,6>7|2<7>8`.
pub(crate) fn ported(graph: &Graph) -> String {
    let ids = |list: &[LogicalTensor]| numbers(list.iter().map(|lt| lt.id).collect());
    let of = |(text, p): (&str, &Partition)| format!("{text}<{}>{}", ids(p.reads()), ids(p.outputs()));
    grouping(graph).split('|').zip(graph.partitions()).map(of).collect::<Vec<_>>().join("|")
}

/// The pairs of an input and an output that may be the same memory, partition by partition: `~5:7||~8:9`.
pub(crate) fn in_place(engine: &Engine, graph: &Graph) -> Result<String, Error> {
    let mut known: BTreeMap<usize, LogicalTensor> = BTreeMap::new();
    let mut all = Vec::new();
    for partition in graph.partitions() {
        let inputs: Vec<LogicalTensor> = partition.inputs().iter().map(|lt| *known.get(&lt.id).unwrap_or(lt)).collect();
        let compiled = partition.compile(engine, &inputs, partition.outputs())?;
        known.extend(partition.outputs().iter().filter_map(|lt| Some((lt.id, *compiled.logical_tensor(lt.id)?))));
        all.push(compiled.in_place().iter().map(|(i, o)| format!("~{i}:{o}")).collect::<String>());
    }
    Ok(all.join("|"))
}

fn numbers(ids: Vec<usize>) -> String {
    ids.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

/// Numbers for a tensor of the graph's inputs: small, not all equal, exact in every type.
fn filled(lt: &LogicalTensor, count: usize) -> Vec<f64> {
    let mut state = (lt.id as u32).wrapping_mul(7919).wrapping_add(12345);
    let dtype = lt.dtype.expect("a type");
    let next = |_| {
        state = state.wrapping_mul(1664525).wrapping_add(1013904223);
        let r = i64::from(state >> 24 & 31) - 16;
        match dtype {
            DataType::Boolean => f64::from(u8::from(r > -8)),
            DataType::S8 | DataType::S32 | DataType::S64 => r as f64,
            DataType::U8 => (r + 16) as f64,
            DataType::S4 => (r / 2) as f64,
            DataType::U4 => ((r + 16) / 2) as f64,
            // Never 0: some are divided by.
            _ => (2 * r + 1) as f64 / 16.0,
        }
    };
    (0..count).map(next).collect()
}

fn memory(engine: &Engine, net: &Net, lt: &LogicalTensor) -> Memory<'static> {
    if lt.property == Property::HostScalar {
        let v = filled(lt, 1)[0].abs();
        let scalar = if lt.dtype == Some(DataType::F32) { Memory::host_scalar(v as f32 / 4.0) } else { Memory::host_scalar(v as i64) };
        return scalar.expect("a number");
    }
    let tensor = lt.tensor().expect("a known tensor");
    let memory = Memory::new(engine, Tensor::clone(&tensor)).expect("memory");
    let count = tensor.layout.elements().expect("a size") as usize;
    let values = net.numbers.get(&lt.id).map_or_else(|| filled(lt, count), |&v| vec![v; count]);
    memory.write_with(|i| values[i]).expect("memory of its own");
    memory
}

/// A compiled partition with memory for its ports.
pub(crate) struct Ports {
    pub(crate) compiled: CompiledPartition,
    pub(crate) inputs: Vec<Memory<'static>>,
    pub(crate) outputs: Vec<Memory<'static>>,
}

/// A partition that reads nothing but inputs of its graph.
pub(crate) fn ports(engine: &Engine, net: &Net, partition: &Partition) -> Result<Ports, Error> {
    let compiled = partition.compile(engine, partition.inputs(), partition.outputs())?;
    let inputs = partition.inputs().iter().map(|lt| memory(engine, net, lt)).collect();
    let known = |lt: &LogicalTensor| *compiled.logical_tensor(lt.id).expect("a port");
    let outputs = partition.outputs().iter().map(|lt| Ok(Memory::new(engine, known(lt).tensor()?)?)).collect::<Result<_, Error>>()?;
    Ok(Ports { compiled, inputs, outputs })
}

/// What leaves the graph, by the number of the tensor, with its type.
pub(crate) type Results = BTreeMap<usize, (DataType, Vec<f64>)>;

/// Executes all partitions; what nothing reads, or several partitions of the other policy would, is returned.
pub(crate) fn run(engine: &Engine, net: &Net, policy: Policy) -> Result<Results, Error> {
    let graph = partitioned(net, policy)?;
    let stream = Stream::new(engine)?;
    let mut known: BTreeMap<usize, (LogicalTensor, Memory<'static>)> = BTreeMap::new();
    for partition in graph.partitions() {
        for lt in partition.inputs() {
            known.entry(lt.id).or_insert_with(|| (*lt, memory(engine, net, lt)));
        }
        let inputs: Vec<LogicalTensor> = partition.inputs().iter().map(|lt| known[&lt.id].0).collect();
        let compiled = partition.compile(engine, &inputs, partition.outputs())?;
        let mut outputs = Vec::new();
        for lt in partition.outputs() {
            let lt = *compiled.logical_tensor(lt.id).expect("a port");
            outputs.push((lt, Memory::new(engine, lt.tensor()?)?));
        }
        let ins: Vec<&Memory<'_>> = partition.inputs().iter().map(|lt| &known[&lt.id].1).collect();
        let outs: Vec<&Memory<'_>> = outputs.iter().map(|o| &o.1).collect();
        compiled.execute(&stream, &ins, &outs, None)?;
        known.extend(outputs.into_iter().map(|(lt, m)| (lt.id, (lt, m))));
    }
    let read = |id: usize| net.ops.iter().any(|o| o.inputs.iter().any(|lt| lt.id == id));
    let mut results = Results::new();
    for lt in net.ops.iter().flat_map(|o| &o.outputs).filter(|lt| !read(lt.id)) {
        let (lt, memory) = &known[&lt.id];
        results.insert(lt.id, (lt.dtype.expect("a type"), memory.read_f64()?));
    }
    Ok(results)
}

/// The largest finite magnitude.
pub(crate) fn largest(values: &[f64]) -> f64 {
    values.iter().filter(|v| v.is_finite()).fold(0.0, |m, v| m.max(v.abs()))
}

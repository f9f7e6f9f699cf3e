//! Graphs computed partition by partition, timed and compared.

use anyhow::{Result, anyhow};
use oxidnn_graph::{CompiledPartition, Error, Graph, LogicalTensor, Op, OpKind, Partition, Policy, Property};
use oxidnn_runtime::{Engine, EngineKind, Memory, Stream};
use oxidnn_spec::op::ConvAlg;
use oxidnn_spec::{DataType, FpMath};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use std::time::{Duration, Instant};

/// A graph as a file has it.
#[derive(Clone, Debug)]
pub(super) struct Net {
    pub(super) ops: Vec<Op>,
    pub(super) fpmath: FpMath,
}

impl Net {
    /// The graph with its partitions for engines of a kind. Operations one by one are the yardstick for others: their convolutions are
    /// direct.
    ///
    /// # Errors
    /// Errors of the graph.
    pub(super) fn partitioned(&self, kind: EngineKind, policy: Policy) -> Result<Graph, Error> {
        let mut graph = Graph::new(kind, self.fpmath);
        if policy == Policy::Debug {
            graph.set_convolution(ConvAlg::Direct)?;
        }
        self.ops.iter().try_for_each(|op| graph.add_op(op))?;
        graph.finalize()?;
        graph.filter(policy)?;
        Ok(graph)
    }
}

/// A partition that was compiled and executed, in seconds.
pub(super) struct Times {
    pub(super) compiled: CompiledPartition,
    pub(super) compile: f64,
    /// The shortest execution, where it was asked for.
    pub(super) execute: Option<f64>,
    /// The shortest execution of each step but those that only depend on constants.
    pub(super) steps: Vec<f64>,
}

/// The result of a graph.
#[derive(Default)]
pub(super) struct Computed {
    /// The partitions, up to the one that failed.
    pub(super) done: Vec<Times>,
    /// All tensors between them and around.
    pub(super) tensors: BTreeMap<usize, (LogicalTensor, Memory<'static>)>,
    pub(super) failed: Option<Error>,
}

/// Computes a graph with numbers of the program's own.
pub(super) fn compute(stream: &Stream, graph: &Graph, seconds: Option<f64>) -> Computed {
    let mut computed = Computed::default();
    let mut supported = graph.partitions().iter().filter(|p| p.refusal().is_none());
    computed.failed = supported.try_for_each(|p| computed.partition(stream, p, seconds)).err();
    computed
}

impl Computed {
    /// The numbers of a tensor, where there is one.
    ///
    /// # Errors
    /// Memory that cannot be read.
    pub(super) fn numbers(&self, id: usize) -> Result<Option<Vec<f64>>> {
        Ok(self.tensors.get(&id).map(|(_, memory)| memory.read_f64()).transpose()?)
    }

    fn partition(&mut self, stream: &Stream, partition: &Partition, seconds: Option<f64>) -> Result<(), Error> {
        let engine = stream.engine();
        for lt in partition.inputs() {
            if let Entry::Vacant(slot) = self.tensors.entry(lt.id) {
                let range = partition.ops().iter().map(|op| Range::of(op, lt)).find(|r| *r != Range::Any).unwrap_or(Range::Any);
                slot.insert((*lt, given(engine, lt, range)?));
            }
        }
        let inputs: Vec<LogicalTensor> = partition.inputs().iter().map(|lt| self.tensors[&lt.id].0).collect();
        let begin = Instant::now();
        let compiled = partition.compile(engine, &inputs, partition.outputs())?;
        let compile = begin.elapsed().as_secs_f64();
        let mut outputs = Vec::new();
        for port in partition.outputs() {
            let lt = *compiled.logical_tensor(port.id).unwrap_or(port);
            outputs.push((lt, Memory::new(engine, lt.tensor()?)?));
        }
        let ins: Vec<&Memory<'_>> = partition.inputs().iter().map(|lt| &self.tensors[&lt.id].1).collect();
        let outs: Vec<&Memory<'_>> = outputs.iter().map(|o| &o.1).collect();
        let once = || -> Result<f64, Error> {
            let begin = Instant::now();
            compiled.execute(stream, &ins, &outs, None)?;
            stream.wait()?;
            Ok(begin.elapsed().as_secs_f64())
        };
        let first = once()?;
        let (mut execute, mut steps) = (None, Vec::new());
        if let Some(limit) = seconds {
            let (begin, mut best) = (Instant::now(), first);
            while begin.elapsed().as_secs_f64() < limit {
                best = best.min(once()?);
            }
            execute = Some(best);
            steps = compiled.time_steps(stream, &ins, &outs)?.iter().map(Duration::as_secs_f64).collect();
            let begin = Instant::now();
            while begin.elapsed().as_secs_f64() < limit {
                let again = compiled.time_steps(stream, &ins, &outs)?;
                steps.iter_mut().zip(again).for_each(|(best, t)| *best = best.min(t.as_secs_f64()));
            }
        }
        self.tensors.extend(outputs.into_iter().map(|(lt, memory)| (lt.id, (lt, memory))));
        self.done.push(Times { compiled, compile, execute, steps });
        Ok(())
    }
}

/// The distribution of an input's numbers, such that those of a deep network neither grow nor vanish.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Range {
    Any,
    /// A variance: at least 1.
    Variance,
    /// Weights that so many products of are added.
    Weights(i64),
}

impl Range {
    fn of(op: &Op, lt: &LogicalTensor) -> Range {
        let at = |port: usize| op.inputs.get(port).is_some_and(|i| i.id == lt.id);
        let float = matches!(lt.dtype, Some(DataType::F32 | DataType::Bf16 | DataType::F16 | DataType::F64));
        let dims = lt.dims.filter(|d| d.len() > 1 && float && lt.property == Property::Constant);
        let variance = match op.kind {
            OpKind::BatchNormInference => at(4),
            OpKind::BatchNormForwardTraining => at(2),
            OpKind::BatchNormTrainingBackward | OpKind::LayerNormBackward => at(3),
            _ => false,
        };
        match (op.kind, dims) {
            _ if variance => Range::Variance,
            // All sizes but the largest, which is near enough to that of the results.
            (OpKind::Convolution | OpKind::ConvTranspose | OpKind::MatMul, Some(d)) if at(1) => {
                Range::Weights(d.iter().product::<i64>() / d.iter().max().copied().unwrap_or(1).max(1))
            }
            _ => Range::Any,
        }
    }

    fn apply(self, number: f64) -> f64 {
        match self {
            Range::Any => number,
            Range::Variance => number.abs() + 1.0,
            // By a power of two, which every type has.
            Range::Weights(count) => number * (-0.5 * (count.max(1) as f64).log2()).floor().exp2(),
        }
    }
}

/// Memory of small numbers that every type has, none of them 0 where it may be divided by.
fn given(engine: &Engine, lt: &LogicalTensor, range: Range) -> Result<Memory<'static>, Error> {
    let mut state = (lt.id as u32).wrapping_mul(7919).wrapping_add(12345);
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        i64::from(state >> 24 & 31) - 16
    };
    let number = |r: i64| match lt.dtype {
        Some(DataType::Boolean) => f64::from(u8::from(r > -8)),
        Some(DataType::S8 | DataType::S32 | DataType::S64) => r as f64,
        Some(DataType::U8) => (r + 16) as f64,
        Some(DataType::S4) => (r / 2) as f64,
        Some(DataType::U4) => ((r + 16) / 2) as f64,
        _ => (2 * r + 1) as f64 / 16.0,
    };
    if lt.property == Property::HostScalar {
        let v = number(next()).abs();
        let scalar = match lt.dtype {
            Some(DataType::F32) => Memory::host_scalar(v as f32 / 4.0),
            Some(DataType::S32) => Memory::host_scalar(v as i32),
            _ => Memory::host_scalar(v as i64),
        };
        return Ok(scalar?);
    }
    let memory = Memory::new(engine, lt.tensor()?)?;
    memory.write_with(|_| range.apply(number(next())))?;
    Ok(memory)
}

/// The difference between an output of the graph and the result of its operations one by one.
pub(super) struct Difference {
    tensor: usize,
    dtype: DataType,
    largest: f64,
    allowed: f64,
    /// The largest number that is right.
    size: f64,
}

impl Difference {
    /// How far off it is, relative to the largest number.
    pub(super) fn relative(&self) -> f64 {
        if self.largest == 0.0 { 0.0 } else { self.largest / self.size }
    }

    /// Whether it is within the rounding errors of the types.
    pub(super) fn fits(&self) -> bool {
        self.largest <= self.allowed
    }

    pub(super) fn json(&self) -> serde_json::Value {
        let Difference { tensor, dtype, largest, allowed, .. } = self;
        serde_json::json!({"tensor": tensor, "dtype": dtype.name(), "difference": largest, "allowed": allowed, "fits": self.fits()})
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.fits() { "agrees" } else { "differs" };
        write!(f, "tensor {} ({}): {verdict}, off by {:e}, {:e} allowed", self.tensor, self.dtype, self.largest, self.allowed)
    }
}

/// The outputs of a graph: tensors that no operation reads.
pub(super) fn leaving(net: &Net) -> impl Iterator<Item = &LogicalTensor> {
    let read = move |id: usize| net.ops.iter().any(|o| o.inputs.iter().any(|lt| lt.id == id));
    net.ops.iter().flat_map(|o| &o.outputs).filter(move |lt| !read(lt.id))
}

/// The differences of a graph's outputs.
///
/// # Errors
/// Tensors that are not there.
pub(super) fn differences(net: &Net, got: &Computed, expected: &Computed) -> Result<Vec<Difference>> {
    // Every operation may round its output, to 16 bits if it has such a type: rounding errors add up.
    let small = net.ops.iter().flat_map(|o| &o.outputs).any(|lt| matches!(lt.dtype, Some(DataType::Bf16 | DataType::F16)));
    let unit = match (net.ops.len() as f64, small) {
        // Scores of attention are rounded before exponentials of them are taken.
        (count, true) => ((6.0 + count) * (-8f64).exp2()).min(1.0 / 16.0),
        (count, false) => ((4.0 + count) * (-21f64).exp2()).min(5e-5),
    };
    // A number that is rounded to a byte on the way may be the neighbour: the results behind it move with it.
    let bytes = net.ops.iter().filter(|o| matches!(o.kind, OpKind::Quantize | OpKind::DynamicQuantize)).count();
    let unit = if bytes > 0 { unit.max((1 + bytes) as f64 / 256.0).min(0.25) } else { unit };
    let mut all = Vec::new();
    for lt in leaving(net) {
        let (Some(a), Some(b)) = (got.numbers(lt.id)?, expected.numbers(lt.id)?) else { continue };
        let dtype = lt.dtype.ok_or_else(|| anyhow!("logical tensor {} has no type", lt.id))?;
        let size = b.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        let allowed = match (dtype.is_integral(), small) {
            (true, false) => 1.0,
            (true, true) => 2.0,
            (false, _) => size * unit,
        };
        let off = |(x, y): (&f64, &f64)| if x == y || x.is_nan() && y.is_nan() { 0.0 } else { (x - y).abs() };
        let largest = a.iter().zip(&b).map(off).fold(0.0, |m: f64, d| if d.is_nan() { f64::INFINITY } else { m.max(d) });
        all.push(Difference { tensor: lt.id, dtype, largest, allowed, size });
    }
    Ok(all)
}

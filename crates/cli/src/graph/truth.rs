//! Graphs in double precision. If results differ by more than rounding errors allow, they decide which are nearer to the meaning of the
//! operations.

use super::run::{self, Computed, Net};
use anyhow::{Context, Result, bail};
use oxidnn_graph::{LogicalTensor, Op, OpKind, Policy, Ports, Schema};
use oxidnn_runtime::{EngineKind, Stream};
use oxidnn_spec::DataType;
use std::collections::HashSet;
use std::fmt;

/// Rounding errors of one size may have either sign: results are right if they are at most so many times as far from the truth as those of
/// the operations one by one, at the maximum and in the mean of squares.
const MAX_ERROR_RATIO: f64 = 2.0;

/// A graph's outputs, computed without rounding except to bytes, which is part of the meaning of a quantisation.
struct Truth(Vec<(usize, Vec<f64>)>);

/// How far results are from the truth, relative to the largest number of each tensor; of bytes in levels.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Error {
    largest: f64,
    /// The root of the mean of squares.
    mean: f64,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2e} at the largest, {:.2e} in the mean", self.largest, self.mean)
    }
}

impl Truth {
    /// # Errors
    /// Graphs that cannot be computed in double precision, such as of types that an operation has in f32 only.
    fn of(net: &Net, stream: &Stream) -> Result<Truth> {
        let wide = widened(net);
        let graph = wide.partitioned(EngineKind::Cpu, Policy::Debug).context("in double precision")?;
        let computed = run::compute(stream, &graph, None);
        if let Some(e) = &computed.failed {
            bail!("in double precision: {e}");
        }
        let mut all = Vec::new();
        for lt in run::leaving(&wide) {
            if let Some(numbers) = computed.numbers(lt.id)? {
                all.push((lt.id, numbers));
            }
        }
        Ok(Truth(all))
    }

    /// How far the results are off: the worst of the tensors.
    ///
    /// # Errors
    /// Memory that cannot be read.
    fn error(&self, got: &Computed) -> Result<Error> {
        let mut worst = Error { largest: 0.0, mean: 0.0 };
        for (id, right) in &self.0 {
            let Some(numbers) = got.numbers(*id)? else { continue };
            let bytes = got.tensors.get(id).is_some_and(|(lt, _)| lt.dtype.is_some_and(DataType::is_integral));
            let largest = right.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
            let size = if bytes || largest == 0.0 { 1.0 } else { largest };
            let off = |(x, y): (&f64, &f64)| if x == y || x.is_nan() && y.is_nan() { 0.0 } else { (x - y).abs() / size };
            let finite = |d: f64| if d.is_nan() { f64::INFINITY } else { d };
            let all = || numbers.iter().zip(right).map(off).map(finite);
            let mean = (all().map(|d| d * d).sum::<f64>() / right.len().max(1) as f64).sqrt();
            worst = Error { largest: all().fold(worst.largest, f64::max), mean: worst.mean.max(mean) };
        }
        Ok(worst)
    }
}

/// How far results are from the truth, and the operations one by one; or why that is not known.
pub(super) struct Accuracy(Result<[Error; 2], String>);

impl Accuracy {
    /// # Errors
    /// Memory that cannot be read.
    pub(super) fn of(net: &Net, stream: &Stream, both: [&Computed; 2]) -> Result<Accuracy> {
        Ok(Accuracy(match Truth::of(net, stream) {
            Ok(truth) => Ok([truth.error(both[0])?, truth.error(both[1])?]),
            Err(e) => Err(format!("{e:#}")),
        }))
    }

    /// Whether the results are as near to the truth as roundings put the operations one by one.
    pub(super) fn is_right(&self) -> bool {
        let fits = |[got, one]: &[Error; 2]| got.largest <= one.largest * MAX_ERROR_RATIO && got.mean <= one.mean * MAX_ERROR_RATIO;
        self.0.as_ref().is_ok_and(fits)
    }
}

impl fmt::Display for Accuracy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Ok([got, one]) => write!(f, "off the truth by {got}; the operations one by one by {one}"),
            Err(why) => write!(f, "not known {why}"),
        }
    }
}

fn is_float(lt: &LogicalTensor) -> bool {
    matches!(lt.dtype, Some(DataType::F32 | DataType::Bf16 | DataType::F16))
}

/// The graph with every floating-point tensor as f64 that all operations take as such. Conversions between these are copies.
fn widened(net: &Net) -> Net {
    let mut narrow = HashSet::new();
    for op in &net.ops {
        let schema = op.kind.schema();
        narrow.extend(kept(schema, schema.inputs, &op.inputs).chain(kept(schema, schema.outputs, &op.outputs)));
    }
    let wide = |lt: &LogicalTensor| {
        let dtype = if is_float(lt) && !narrow.contains(&lt.id) { Some(DataType::F64) } else { lt.dtype };
        LogicalTensor { dtype, ..*lt }
    };
    let ops = net.ops.iter().map(|op| {
        let (inputs, outputs) = (op.inputs.iter().map(wide).collect(), op.outputs.iter().map(wide).collect());
        let mut op = Op { inputs, outputs, ..op.clone() };
        let same = op.kind == OpKind::TypeCast && op.inputs.first().map(|lt| lt.dtype) == op.outputs.first().map(|lt| lt.dtype);
        if same {
            op.kind = OpKind::Reorder;
        }
        op
    });
    Net { ops: ops.collect(), fpmath: Default::default() }
}

/// The tensors among `given` that the operation does not take as f64.
fn kept<'a>(schema: &'a Schema, ports: Ports, given: &'a [LogicalTensor]) -> impl Iterator<Item = usize> + 'a {
    let set = move |i: usize| ports.list.get(i).or(ports.list.last()).and_then(|(_, variable)| schema.types.get(*variable));
    let takes = move |i: usize| set(i).is_none_or(|set| set.contains(DataType::F64));
    given.iter().enumerate().filter(move |&(i, _)| !takes(i)).map(|(_, lt)| lt.id)
}

//! Partitions that were compiled before all sizes were known: these come with the memory of an execution.
//!
//! The lowered partition depends on sizes, its kernels do not: a *member* is the partition compiled for the sizes of one execution, with
//! kernels, packed weights and scales that it shares with the other members. Executions find existing members without an allocation.

use crate::compiled::Compiled;
use crate::{Error, LayoutType, LogicalTensor, Partition, UNKNOWN};
use oxidnn_runtime::cache::Lru;
use oxidnn_runtime::{Engine, Memory, fork};
use oxidnn_spec::Tensor;
use std::fmt;
use std::sync::{Arc, Mutex};

/// How many sets of sizes are remembered.
const MEMBERS: usize = 256;

/// A partition some of whose sizes are open.
pub(crate) struct Open {
    pub(crate) engine: Engine,
    /// Inputs and outputs as far as they are known.
    pub(crate) ports: [Vec<LogicalTensor>; 2],
    members: Mutex<Lru<u64, Arc<Member>>>,
}

impl fmt::Debug for Open {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Open({:?})", self.ports)
    }
}

/// The partition for one set of sizes.
struct Member {
    /// The sizes and strides of the memories that the ports left open.
    given: Vec<Tensor>,
    compiled: Arc<Compiled>,
}

/// Whether sizes or strides come with memory: of tensors that have a type, and may have strides.
pub(crate) fn is_open(lt: &LogicalTensor) -> bool {
    let unknown = lt.known_dims().is_none() || lt.strides.contains(&UNKNOWN);
    unknown && lt.dtype.is_some() && lt.layout == LayoutType::Strided
}

impl Open {
    pub(crate) fn new(engine: &Engine, ports: [Vec<LogicalTensor>; 2]) -> Open {
        Open { engine: engine.clone(), ports, members: Mutex::new(Lru::new(MEMBERS, usize::MAX)) }
    }

    /// The partition for the sizes of these inputs, which are in the order of its ports.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] for sizes that contradict the known ones, and layouts that are not strided; errors of compiling.
    pub(crate) fn member(&self, partition: &Partition, inputs: &[&Memory<'_>]) -> Result<Arc<Compiled>, Error> {
        let ports = &self.ports[0];
        if inputs.len() != ports.len() {
            return Err(Error::argument("inputs", inputs.len(), ports.len()));
        }
        let open = || ports.iter().zip(inputs).filter(|(lt, _)| is_open(lt)).map(|(_, m)| m.tensor());
        let hash = open().fold(0, hashed);
        let _inside = fork::enter();
        let known = fork::lock(&self.members).get(&hash).cloned();
        if let Some(member) = known.filter(|m| m.given.iter().eq(open())) {
            return Ok(member.compiled.clone());
        }
        let sized = ports.iter().zip(inputs).map(|(lt, m)| if is_open(lt) { seen(lt, m.tensor()) } else { Ok(*lt) });
        let compiled = partition.compile_sized(&self.engine, [sized.collect::<Result<_, _>>()?, self.ports[1].clone()])?;
        let member = Arc::new(Member { given: open().cloned().collect(), compiled: compiled.clone() });
        let evicted = fork::lock(&self.members).insert(hash, member, 1);
        drop(evicted);
        Ok(compiled)
    }
}

/// Mixes sizes and strides into a number.
fn hashed(hash: u64, tensor: &Tensor) -> u64 {
    let mix = |h: u64, &n: &i64| (h.rotate_left(23) ^ n as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let sizes = tensor.dims().iter().fold(hash, mix);
    tensor.blocking().map_or(sizes, |b| b.strides.iter().fold(sizes, mix))
}

/// The port as memory has it.
fn seen(lt: &LogicalTensor, tensor: &Tensor) -> Result<LogicalTensor, Error> {
    let what = || format!("memory of logical tensor {}", lt.id);
    if lt.dtype != Some(tensor.dtype) {
        return Err(Error::argument(what(), tensor.dtype, lt.dtype.map_or("no type", |d| d.name())));
    }
    let strides = tensor.blocking().filter(|b| b.inner.is_empty() && b.offset == 0).map(|b| b.strides);
    let strides = strides.ok_or_else(|| Error::argument(what(), "another layout", "strides"))?;
    let fits = |(known, given): (&i64, &i64)| known == given || *known == UNKNOWN;
    let sizes = lt.dims.is_none_or(|d| d.len() == tensor.dims().len() && d.iter().zip(tensor.dims().iter()).all(fits));
    if !sizes || lt.dims.is_some() && !lt.strides.iter().zip(strides.iter()).all(fits) {
        return Err(Error::argument(what(), format_args!("{} by {strides}", tensor.dims()), format_args!("{lt:?}")));
    }
    LogicalTensor::with_strides(lt.id, lt.dtype, *tensor.dims(), strides, lt.property)
}

//! Programs: lowered graphs. A program is a list of steps, each a primitive whose arguments are the caller's tensors, constants, or parts of the
//! workspace.

use super::lower::is_reference;
use super::pack::Pack;
use crate::enums::*;
use crate::handle::Handle;
use crate::host_runtime::Sink;
use crate::loops::view::{host, load};
use crate::pointers::{Data, copy_on_device, host_bytes, host_bytes_mut};
use crate::status::Failure;
use crate::steps::Step as Ready;
use oxidnn_cuda::exec::Launches;
use oxidnn_runtime::{ALIGNMENT, Engine, Memory, Primitive, PrimitiveDesc, Verdict, fork};
use oxidnn_spec::{Arg, DataType, Op, Problem, Real, Tensor};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// The location of a tensor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// A tensor of the caller's: index in [`Program::uids`].
    User(usize),
    /// A constant: index in [`Program::constants`].
    Constant(usize),
    /// Byte offset in the workspace.
    Workspace(usize),
}

/// An argument of a step.
#[derive(Debug)]
pub(crate) struct Binding {
    pub(crate) arg: Arg,
    pub(crate) place: Place,
    pub(crate) tensor: Tensor,
}

/// One execution of a primitive.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) primitive: Primitive,
    pub(crate) bindings: Vec<Binding>,
    /// The scalar passed by value that is the primitive's epsilon.
    pub(crate) epsilon: Option<(Place, DataType)>,
}

/// A scalar from its bytes; `None` for types that an epsilon cannot have.
pub(crate) fn number(dtype: DataType, bytes: &[u8]) -> Option<f32> {
    let real = matches!(dtype, DataType::F32 | DataType::F64 | DataType::F16 | DataType::Bf16);
    let own = bytes.get(..dtype.bits() / 8).filter(|_| real)?;
    Some(load(dtype, own) as f32)
}

impl Step {
    /// The step for executions.
    fn ready(&self, engine: &Engine, primitive: &Primitive) -> Result<Ready, Failure> {
        Ready::new(primitive, engine, self.bindings.iter().map(|b| (b.arg, &b.tensor)))
    }

    /// Sets the epsilon of an execution.
    fn follow(&self, ready: &mut Ready, engine: &Engine, epsilon: f32) -> Result<(), Failure> {
        let (desc, epsilon) = (ready.primitive().desc(), Real::new(epsilon));
        let had = match &desc.given().op {
            Op::BatchNorm(norm) => norm.epsilon,
            Op::LayerNorm(norm) => norm.epsilon,
            Op::GroupNorm(norm) => norm.epsilon,
            _ => return Ok(()),
        };
        if had == epsilon {
            return Ok(());
        }
        let Problem { mut op, attr } = desc.given().clone();
        match &mut op {
            Op::BatchNorm(norm) => norm.epsilon = epsilon,
            Op::LayerNorm(norm) => norm.epsilon = epsilon,
            Op::GroupNorm(norm) => norm.epsilon = epsilon,
            _ => {}
        }
        let primitive = PrimitiveDesc::with_filter(engine, Problem::new(op, attr)?, desc.impl_name())?.create()?;
        *ready = self.ready(engine, &primitive)?;
        Ok(())
    }
}

/// A tensor of the caller's whose batches have different lengths and lie one behind the other; steps compute on a padded copy.
#[derive(Clone, Debug)]
pub(crate) struct Ragged {
    /// The tensor: an index in [`Program::uids`].
    pub(crate) user: usize,
    /// The beginnings of its batches: an index, too.
    pub(crate) offsets: usize,
    /// Whether offsets have 64 bits, not 32.
    pub(crate) wide: bool,
    /// Elements of the tensor per unit of the offsets.
    pub(crate) unit: i64,
    /// Batch, heads, sequence, size.
    pub(crate) dims: [i64; 4],
    pub(crate) strides: [i64; 4],
    /// Bytes of an element.
    pub(crate) width: usize,
    /// Whether it is copied back after the steps, not before them.
    pub(crate) is_output: bool,
    /// The copy on a GPU; on the CPU engine the host copies.
    pub(crate) on_device: Option<Arc<Launches>>,
    /// Byte offset of the padded copy in the workspace.
    pub(crate) padded: usize,
}

impl Ragged {
    /// The beginning of batch `b` in elements.
    fn place(&self, offsets: Data, b: i64) -> Option<i64> {
        let bytes = if self.wide { 8 } else { 4 };
        let number = host_bytes(offsets.behind(b as usize * bytes), bytes);
        let number =
            if self.wide { i64::from_le_bytes(number.try_into().ok()?) } else { i32::from_le_bytes(number.try_into().ok()?).into() };
        number.checked_mul(self.unit).filter(|&at| at >= 0)
    }

    /// The beginning of batch `b` and the length of its sequences, if addresses can hold all of them.
    fn batch(&self, offsets: Data, b: i64) -> Option<(i64, i64)> {
        let [_, heads, rows, size] = self.dims;
        let begin = self.place(offsets, b)?;
        let own = (self.place(offsets, b + 1)?.checked_sub(begin).filter(|&all| all >= 0)? / self.strides[2]).min(rows);
        let reach = [heads, own.max(1), size].into_iter().zip(&self.strides[1..]);
        let end = reach.map(|(n, stride)| stride.checked_mul(n - 1)).try_fold(begin, |at, more| at.checked_add(more?))?;
        end.checked_add(1)?.checked_mul(self.width as i64)?;
        Some((begin, own))
    }

    /// Copies between the caller's memory and the padded copy, which has zeros behind the end of each batch.
    ///
    /// # Errors
    /// `BAD_PARAM` for offsets below 0, that decrease, or that are no addresses.
    fn copy(&self, user: Data, offsets: Data, padded: Data) -> Result<(), Failure> {
        let [batches, heads, rows, size] = self.dims;
        let line = size as usize * self.width;
        // The elements of a row lie side by side, or are copied one by one.
        let (pieces, bytes) = if self.strides[3] == 1 { (1, line) } else { (size, self.width) };
        for b in 0..batches {
            let batch = self.batch(offsets, b);
            let wrong =
                || Failure::invalid("RAGGED_OFFSET_DESC", format_args!("those of batch {b}"), "offsets of at least 0 that do not decrease");
            let (begin, own) = batch.ok_or_else(wrong)?;
            for (h, r) in (0..heads).flat_map(|h| (0..rows).map(move |r| (h, r))) {
                let copy = padded.behind(((b * heads + h) * rows + r) as usize * line);
                if r >= own {
                    if !self.is_output {
                        host_bytes_mut(copy, line).fill(0);
                    }
                    continue;
                }
                for i in 0..pieces {
                    let place = begin + h * self.strides[1] + r * self.strides[2] + i * self.strides[3];
                    let (user, copy) = (user.behind(place as usize * self.width), copy.behind(i as usize * bytes));
                    let (from, to) = if self.is_output { (copy, user) } else { (user, copy) };
                    host_bytes_mut(to, bytes).copy_from_slice(host_bytes(from, bytes));
                }
            }
        }
        Ok(())
    }
}

/// About what the descriptors, arguments and addresses of a step take.
const STEP_BYTES: usize = 16 * 1024;

/// Scalars passed by value that a program keeps in device memory.
const NUMBERS: usize = 64;

/// Steps and their resources. Several threads may run it at once.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) steps: Vec<Step>,
    pub(crate) constants: Vec<Memory<'static>>,
    /// Ids of the caller's tensors.
    pub(crate) uids: Vec<i64>,
    /// Size in bytes of those passed by value, 0 for the others.
    pub(crate) by_value: Vec<usize>,
    /// Tensors with padded copies.
    pub(crate) ragged: Vec<Ragged>,
    /// Size in bytes of intermediate results and scratchpads.
    pub(crate) scratch: usize,
    /// Operations that were fused with others.
    pub(crate) fused: usize,
    /// The steps of the last execution, while no thread uses them.
    pub(crate) ready: Mutex<Option<Vec<Ready>>>,
    /// Device copies of scalars passed by value, for devices that cannot read host memory: by tensor and value.
    pub(crate) numbers: Mutex<BTreeMap<(usize, Vec<u8>), Memory<'static>>>,
}

impl Program {
    /// Workspace size in bytes, with room for alignment.
    pub(crate) fn workspace(&self) -> i64 {
        let bytes = if self.scratch == 0 { 0 } else { self.scratch + ALIGNMENT - 1 };
        i64::try_from(bytes).unwrap_or(i64::MAX)
    }

    /// Bytes that it keeps in memory, besides what the primitives' plans share.
    pub(crate) fn footprint(&self) -> usize {
        let steps: usize = self.steps.iter().map(|step| STEP_BYTES + step.primitive.exec().footprint()).sum();
        steps + self.constants.iter().map(|c| c.tensor().bytes()).sum::<usize>()
    }

    /// Whether several operations became one primitive.
    pub(crate) fn fuses(&self) -> bool {
        self.fused > 0
    }

    /// Executes once. Memory objects of the last execution are reused, by one thread at a time.
    ///
    /// # Errors
    /// `BAD_PARAM_NULL_POINTER` for a tensor or a workspace without memory.
    pub(crate) fn run(&self, handle: &Handle, sink: Sink, pack: &Pack) -> Result<(), Failure> {
        let user = |uid: i64| pack.address(uid).filter(|d| !d.is_null());
        if let Some(uid) = self.uids.iter().find(|&&uid| user(uid).is_none()) {
            return Err(Failure::null(format_args!("VARIANT_PACK_DATA_POINTERS: the tensor of the unique id {uid}")));
        }
        let workspace = self.aligned(pack.workspace)?;
        if !self.ragged.is_empty() && matches!(sink, Sink::Graph(_)) {
            return Err(Failure::unsupported("ragged batches in a graph of the host's runtime: the host copies them"));
        }
        self.copy_ragged(handle, pack, workspace, false)?;
        let values = match sink {
            Sink::Now if handle.engine().host_visible() => Vec::new(),
            Sink::Now => self.on_device(handle, pack)?,
            _ => self.values(handle, pack)?,
        };
        // Queued work may outlive the program, and keeps its resources alive.
        let address = if sink == Sink::Now { Data::at } else { Data::of };
        let value = |i: usize| values.get(i).and_then(Option::as_ref);
        let user = |i: usize| value(i).map_or_else(|| user(self.uids[i]).unwrap_or(Data::NULL), address);
        let kept = self.ready.try_lock().ok().and_then(|mut ready| ready.take());
        let mut ready = kept.map_or_else(|| self.prepared(handle.engine()), Ok)?;
        for (step, ready) in self.steps.iter().zip(&mut ready) {
            if let Some((Place::User(i), dtype)) = step.epsilon {
                let given = pack.address(self.uids[i]).unwrap_or(Data::NULL);
                let epsilon = number(dtype, host_bytes(given, self.by_value[i]));
                step.follow(ready, handle.engine(), epsilon.ok_or_else(|| Failure::invalid("epsilon", dtype, "f32, f64, f16 or bf16"))?)?;
            }
            ready.run(handle, sink, |i| match step.bindings[i].place {
                Place::User(i) => user(i),
                Place::Constant(i) => address(&self.constants[i]),
                Place::Workspace(at) => workspace.behind(at),
            })?;
        }
        if let Ok(mut kept) = self.ready.try_lock() {
            *kept = Some(ready);
        }
        self.copy_ragged(handle, pack, workspace, true)
    }

    /// Copies the ragged inputs or outputs: in the stream, or on the host once the stream's work is done.
    fn copy_ragged(&self, handle: &Handle, pack: &Pack, workspace: Data, outputs: bool) -> Result<(), Failure> {
        let mut all = self.ragged.iter().filter(|r| r.is_output == outputs).peekable();
        if all.peek().is_some_and(|r| r.on_device.is_none()) {
            host(handle)?;
        }
        let user = |slot: usize| pack.address(self.uids[slot]).unwrap_or(Data::NULL);
        all.try_for_each(|r| {
            let memories = [user(r.user), user(r.offsets), workspace.behind(r.padded)];
            match &r.on_device {
                Some(launches) => copy_on_device(handle.stream(), launches, memories),
                None => r.copy(memories[0], memories[1], memories[2]),
            }
        })
    }

    /// Copies of the scalars passed by value, which the caller may free when the call returns.
    fn values(&self, handle: &Handle, pack: &Pack) -> Result<Vec<Option<Memory<'static>>>, Failure> {
        let copy = |(uid, bytes): (&i64, &usize)| {
            let Some(at) = pack.address(*uid).filter(|_| *bytes > 0) else { return Ok(None) };
            let memory = Memory::new(handle.engine(), Tensor::plain([*bytes as i64], DataType::U8)?)?;
            let mut mapped = memory.map_mut(0)?;
            mapped[..*bytes].copy_from_slice(host_bytes(at, *bytes));
            mapped.unmap()?;
            Ok(Some(memory))
        };
        self.uids.iter().zip(&self.by_value).map(copy).collect()
    }

    /// Device copies of the scalars passed by value. They are kept: queued work may still read them, and later calls reuse them.
    fn on_device(&self, handle: &Handle, pack: &Pack) -> Result<Vec<Option<Memory<'static>>>, Failure> {
        let mut known = fork::lock(&self.numbers);
        if known.len() > NUMBERS {
            handle.stream().wait()?;
            known.clear();
        }
        let one = |(i, (uid, bytes)): (usize, (&i64, &usize))| {
            let Some(at) = pack.address(*uid).filter(|_| *bytes > 0) else { return Ok(None) };
            let key = (i, host_bytes(at, *bytes).to_vec());
            if !known.contains_key(&key) {
                let memory = Memory::new(handle.engine(), Tensor::plain([*bytes as i64], DataType::U8)?)?;
                memory.write_raw(0, &key.1)?;
                known.insert(key.clone(), memory);
            }
            Ok(known.get(&key).map(|memory| memory.view(memory.tensor().clone())).transpose()?)
        };
        self.uids.iter().zip(&self.by_value).enumerate().map(one).collect()
    }

    /// The steps with memory objects.
    fn prepared(&self, engine: &Engine) -> Result<Vec<Ready>, Failure> {
        self.steps.iter().map(|step| step.ready(engine, &step.primitive)).collect()
    }

    /// The implementations of its steps, in order.
    pub(crate) fn implementations(&self) -> impl Iterator<Item = &PrimitiveDesc> {
        self.steps.iter().map(|step| step.primitive.desc())
    }

    /// The largest number of implementations of a step, without the reference: with more than one there is a knob.
    pub(crate) fn rows(&self) -> usize {
        let takes = |verdict: &Verdict| !matches!(verdict, Verdict::Skipped(_));
        let rows = |desc: &PrimitiveDesc| desc.explain().iter().filter(|(name, verdict)| takes(verdict) && !is_reference(name)).count();
        let computes = |desc: &&PrimitiveDesc| !matches!(desc.problem().op, Op::Reorder(_));
        self.implementations().filter(computes).map(rows).max().unwrap_or(1).max(1)
    }

    /// The first aligned byte of the workspace.
    fn aligned(&self, given: Data) -> Result<Data, Failure> {
        if self.scratch > 0 && given.is_null() {
            let what = format_args!("VARIANT_PACK_WORKSPACE: got a null pointer, expected {} bytes", self.workspace());
            return Err(Failure::new(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, what));
        }
        Ok(given.behind(given.number().next_multiple_of(ALIGNMENT) - given.number()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_counts_its_steps_and_constants() -> Result<(), Box<dyn std::error::Error>> {
        let engine = oxidnn_cpu::engine();
        let problem: Problem = "--eltwise --dt=f32 --alg=relu 2x3".parse()?;
        let step = || -> Result<Step, Box<dyn std::error::Error>> {
            let primitive = PrimitiveDesc::new(&engine, problem.clone())?.create()?;
            Ok(Step { primitive, bindings: Vec::new(), epsilon: None })
        };
        let constant = Memory::new(&engine, Tensor::plain([1000], DataType::F32)?)?;
        let program = |steps, constants| Program {
            steps,
            constants,
            uids: Vec::new(),
            by_value: Vec::new(),
            ragged: Vec::new(),
            scratch: 0,
            fused: 0,
            ready: Mutex::default(),
            numbers: Mutex::default(),
        };
        let (one, two) = (program(vec![step()?], Vec::new()).footprint(), program(vec![step()?, step()?], vec![constant]).footprint());
        assert!(one >= STEP_BYTES, "{one}");
        assert_eq!(two, 2 * one + 4000);
        Ok(())
    }
}

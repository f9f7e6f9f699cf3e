//! Programs: what a graph is lowered to. Steps, each a primitive, over places: the caller's tensors, constants, and the workspace.

use super::pack::Pack;
use crate::enums::*;
use crate::handle::Handle;
use crate::host_runtime::Sink;
use crate::pointers::{Data, host_bytes};
use crate::status::Failure;
use crate::steps::Step as Ready;
use oxidnn_runtime::{ALIGNMENT, Engine, Memory, Primitive};
use oxidnn_spec::{Arg, DataType, Tensor};
use std::sync::Mutex;

/// Where a tensor lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// A tensor of the caller's, by its place in [`Program::uids`].
    User(usize),
    /// A constant of the program, by its place in [`Program::constants`].
    Constant(usize),
    /// Byte of the workspace.
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
}

/// Steps and what they need. Any number of threads may run it at once.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) steps: Vec<Step>,
    pub(crate) constants: Vec<Memory<'static>>,
    /// Numbers of the caller's tensors.
    pub(crate) uids: Vec<i64>,
    /// Bytes of those that come by value, 0 for the others.
    pub(crate) by_value: Vec<usize>,
    /// Bytes of intermediate results and scratchpads.
    pub(crate) scratch: usize,
    /// Operations of the graph that became one primitive with others.
    pub(crate) fused: usize,
    /// The steps as they were executed last, while no thread executes them.
    pub(crate) ready: Mutex<Option<Vec<Ready>>>,
}

impl Program {
    /// Bytes of workspace: room to align what lies in it, too.
    pub(crate) fn workspace(&self) -> i64 {
        let bytes = if self.scratch == 0 { 0 } else { self.scratch + ALIGNMENT - 1 };
        i64::try_from(bytes).unwrap_or(i64::MAX)
    }

    /// Whether several operations became one primitive.
    pub(crate) fn fuses(&self) -> bool {
        self.fused > 0
    }

    /// Computes once. Memory objects of the last execution serve the next one, of one thread at a time.
    ///
    /// # Errors
    /// `BAD_PARAM_NULL_POINTER` for a tensor or a workspace without memory.
    pub(crate) fn run(&self, handle: &Handle, sink: Sink, pack: &Pack) -> Result<(), Failure> {
        let user = |uid: i64| pack.address(uid).filter(|d| !d.is_null());
        if let Some(uid) = self.uids.iter().find(|&&uid| user(uid).is_none()) {
            return Err(Failure::null(format_args!("VARIANT_PACK_DATA_POINTERS: the tensor of the unique id {uid}")));
        }
        let workspace = self.aligned(pack.workspace)?;
        let values = if sink == Sink::Now { Vec::new() } else { self.values(handle, pack)? };
        // What is done later may come after the end of the program, and keeps what it uses.
        let address = if sink == Sink::Now { Data::at } else { Data::of };
        let value = |i: usize| values.get(i).and_then(Option::as_ref);
        let user = |i: usize| value(i).map_or_else(|| user(self.uids[i]).unwrap_or(Data::NULL), address);
        let kept = self.ready.try_lock().ok().and_then(|mut ready| ready.take());
        let mut ready = kept.map_or_else(|| self.prepared(handle.engine()), Ok)?;
        for (step, ready) in self.steps.iter().zip(&mut ready) {
            ready.run(handle, sink, |i| match step.bindings[i].place {
                Place::User(i) => user(i),
                Place::Constant(i) => address(&self.constants[i]),
                Place::Workspace(at) => workspace.behind(at),
            })?;
        }
        if let Ok(mut kept) = self.ready.try_lock() {
            *kept = Some(ready);
        }
        Ok(())
    }

    /// Copies of the numbers that the caller gave by value, and may forget when the call returns.
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

    /// The steps with memory objects.
    fn prepared(&self, engine: &Engine) -> Result<Vec<Ready>, Failure> {
        let ready = |step: &Step| Ready::new(&step.primitive, engine, step.bindings.iter().map(|b| (b.arg, &b.tensor)));
        self.steps.iter().map(ready).collect()
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

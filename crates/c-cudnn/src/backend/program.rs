//! Programs: what a graph is lowered to. Steps, each a primitive, over places: the caller's tensors, constants, and the workspace.

use super::pack::Pack;
use crate::enums::*;
use crate::pointers::{Data, memory_over};
use crate::status::Failure;
use oxidnn_runtime::{ALIGNMENT, Memory, Primitive, Stream};
use oxidnn_spec::{Arg, Tensor};

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

/// Steps and what they need. Nothing in it changes when it runs, so that any number of threads may run it at once.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) steps: Vec<Step>,
    pub(crate) constants: Vec<Memory<'static>>,
    /// Numbers of the caller's tensors.
    pub(crate) uids: Vec<i64>,
    /// Bytes of intermediate results and scratchpads.
    pub(crate) scratch: usize,
    /// Operations of the graph that became one primitive with others.
    pub(crate) fused: usize,
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

    /// Computes once.
    ///
    /// # Errors
    /// `BAD_PARAM_NULL_POINTER` for a tensor or a workspace without memory.
    pub(crate) fn run(&self, stream: &Stream, pack: &Pack) -> Result<(), Failure> {
        let mut users = Vec::with_capacity(self.uids.len());
        for &uid in &self.uids {
            let found = pack.address(uid).filter(|d| !d.is_null());
            users.push(found.ok_or_else(|| Failure::null(format_args!("VARIANT_PACK_DATA_POINTERS: the tensor of the unique id {uid}")))?);
        }
        let workspace = self.aligned(pack.workspace)?;
        for step in &self.steps {
            let memories = step.bindings.iter().map(|b| self.memory(b, stream, &users, workspace)).collect::<Result<Vec<_>, Failure>>()?;
            let args: Vec<(Arg, &Memory<'_>)> = step.bindings.iter().map(|b| b.arg).zip(&memories).collect();
            step.primitive.execute_bytes(stream, &args)?;
        }
        Ok(())
    }

    /// The first aligned byte of the workspace.
    fn aligned(&self, given: Data) -> Result<Data, Failure> {
        if self.scratch > 0 && given.is_null() {
            let what = format_args!("VARIANT_PACK_WORKSPACE: got a null pointer, expected {} bytes", self.workspace());
            return Err(Failure::new(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, what));
        }
        Ok(given.behind(given.number().next_multiple_of(ALIGNMENT) - given.number()))
    }

    fn memory(&self, binding: &Binding, stream: &Stream, users: &[Data], workspace: Data) -> Result<Memory<'static>, Failure> {
        let at = match binding.place {
            Place::User(i) => users[i],
            Place::Constant(i) => Data::of(&self.constants[i]),
            Place::Workspace(at) => workspace.behind(at),
        };
        Ok(memory_over(stream.engine(), binding.tensor.clone(), at)?)
    }
}

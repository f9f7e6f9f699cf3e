//! Programs: what a partition is lowered to. Steps, each a primitive, over places: the caller's tensors, constants, and scratch.
//!
//! Steps that depend on nothing but constant tensors come first; their results are kept apart, so that they can be computed once for all
//! executions (see [`crate::constants`]). All scratch is one block, the primitives' own included.

use crate::{Error, Op};
use oxidnn_runtime::{Memory, Primitive, Stream};
use oxidnn_spec::{Arg, DataType, Tensor};

/// Where a tensor lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// An input of the partition.
    In(usize),
    /// An output of the partition.
    Out(usize),
    /// A constant of the program.
    Constant(usize),
    /// Byte of the results that only depend on constant inputs.
    Kept(usize),
    /// Byte of the intermediate results.
    Scratch(usize),
    /// The scratchpad of the primitive of the step.
    Step,
}

/// An argument of a step.
#[derive(Debug)]
pub(crate) struct Binding {
    pub(crate) arg: Arg,
    pub(crate) place: Place,
    /// The place as the step sees it.
    pub(crate) tensor: Tensor,
}

/// One execution of a primitive.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) primitive: Primitive,
    pub(crate) bindings: Vec<Binding>,
}

/// Bytes of the parts of a program's scratch, in the order they lie.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Sizes {
    /// Intermediate results.
    pub(crate) scratch: usize,
    /// The largest scratchpad of a step.
    pub(crate) step: usize,
    /// Results that only depend on constant inputs.
    pub(crate) kept: usize,
}

/// Steps and what they need.
#[derive(Debug, Default)]
pub(crate) struct Program {
    /// Steps that depend on constant inputs only, and whose results are kept.
    pub(crate) prepare: Vec<Step>,
    /// The other steps.
    pub(crate) steps: Vec<Step>,
    pub(crate) constants: Vec<Memory<'static>>,
    pub(crate) sizes: Sizes,
}

/// The memory of one execution.
#[derive(Clone, Copy)]
pub(crate) struct Frame<'a> {
    pub(crate) inputs: &'a [&'a Memory<'a>],
    pub(crate) outputs: &'a [&'a Memory<'a>],
    /// At least [`Program::scratch_bytes`]; `None` where that is 0.
    pub(crate) scratch: Option<&'a Memory<'a>>,
    /// Results kept from an earlier execution.
    pub(crate) kept: Option<&'a Memory<'a>>,
}

impl Program {
    /// Bytes of scratch that an execution needs.
    pub(crate) fn scratch_bytes(&self) -> usize {
        self.sizes.scratch + self.sizes.step + self.sizes.kept
    }

    /// Numbers of the input and the output of `op` that may be the same memory: where a single elementwise primitive takes it as it is.
    pub(crate) fn in_place(&self, op: &Op) -> Vec<(usize, usize)> {
        let [Step { primitive, bindings }] = &self.steps[..] else { return Vec::new() };
        let elementwise = match &primitive.desc().problem().op {
            oxidnn_spec::Op::Eltwise(x) => x.prop.is_forward() && x.dst.as_ref() == Some(&x.src),
            oxidnn_spec::Op::Softmax(x) => x.prop.is_forward(),
            oxidnn_spec::Op::Binary(_) => true,
            _ => false,
        };
        let dst = bindings.iter().find(|b| b.arg == Arg::DST && elementwise);
        let src = bindings.iter().filter(|b| matches!(b.arg, Arg::SRC | Arg::SRC_1));
        let pair = dst.and_then(|dst| {
            let port = src.filter(|b| b.tensor == dst.tensor).find_map(|b| if let Place::In(i) = b.place { Some(i) } else { None });
            Some((op.ports().get(port?)?.id, op.outputs.first()?.id))
        });
        pair.into_iter().collect()
    }

    /// Computes what only depends on constant inputs into `frame.kept`, else into scratch.
    pub(crate) fn prepare(&self, stream: &Stream, frame: Frame<'_>) -> Result<(), Error> {
        self.prepare.iter().try_for_each(|s| self.step(s, stream, frame))
    }

    /// Computes the rest.
    pub(crate) fn run(&self, stream: &Stream, frame: Frame<'_>) -> Result<(), Error> {
        self.steps.iter().try_for_each(|s| self.step(s, stream, frame))
    }

    fn step(&self, step: &Step, stream: &Stream, frame: Frame<'_>) -> Result<(), Error> {
        let bindings = || step.bindings.iter();
        let views = bindings().map(|b| self.bind(b, frame)).collect::<Result<Vec<_>, Error>>()?;
        let args: Vec<(Arg, &Memory<'_>)> = bindings().zip(&views).map(|(b, v)| (b.arg, v.memory())).collect();
        Ok(step.primitive.execute(stream, &args)?)
    }

    fn bind<'a>(&'a self, binding: &Binding, frame: Frame<'a>) -> Result<View<'a>, Error> {
        let Sizes { scratch, step, .. } = self.sizes;
        let missing = || Error::argument("memory", format_args!("nothing for {:?}", binding.place), "a tensor for every port");
        let (memory, start) = match binding.place {
            Place::In(i) => (frame.inputs.get(i).copied(), 0),
            Place::Out(i) => (frame.outputs.get(i).copied(), 0),
            Place::Constant(i) => (self.constants.get(i), 0),
            Place::Kept(at) => match frame.kept {
                Some(kept) => (Some(kept), at),
                None => (frame.scratch, scratch + step + at),
            },
            Place::Scratch(at) => (frame.scratch, at),
            Place::Step => (frame.scratch, scratch),
        };
        let memory = memory.ok_or_else(missing)?;
        if start == 0 && *memory.tensor() == binding.tensor {
            return Ok(View::Whole(memory));
        }
        Ok(View::Part(memory.view_at(start, binding.tensor.clone())?))
    }
}

/// A place as a step sees it.
enum View<'a> {
    Whole(&'a Memory<'a>),
    Part(Memory<'a>),
}

impl View<'_> {
    fn memory(&self) -> &Memory<'_> {
        match self {
            View::Whole(m) => m,
            View::Part(m) => m,
        }
    }
}

/// Bytes in one dimension.
pub(crate) fn bytes(count: usize) -> Result<Tensor, Error> {
    Ok(Tensor::plain([i64::try_from(count).unwrap_or(i64::MAX)], DataType::U8)?)
}

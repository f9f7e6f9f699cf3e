//! Sequences of primitives with bound memories: a forward pass, a backward pass, an update of parameters.
//!
//! Does what every program that runs a net would repeat for each primitive: allocates its outputs, and inserts a reorder for an input whose layout
//! differs from the one that the primitive needs.

use crate::describe::Describe;
use crate::simple::reorder;
use oxidnn_runtime::{Engine, Memory, Primitive, PrimitiveDesc, Stream};
use oxidnn_spec::{Arg, Error, Tensor, Use};
use std::sync::Arc;

/// Memory that owns its bytes and that several steps use.
pub type SharedMemory = Arc<Memory<'static>>;

/// So many arguments are passed without allocating.
const USUAL: usize = 24;

/// A primitive with all its arguments.
#[derive(Clone, Debug)]
pub struct Step<'a> {
    name: String,
    primitive: Primitive,
    args: Vec<(Arg, Arc<Memory<'a>>)>,
}

impl<'a> Step<'a> {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its primitive descriptor.
    pub fn desc(&self) -> &PrimitiveDesc {
        self.primitive.desc()
    }

    /// The memory bound to `arg`.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] when the primitive has no such argument.
    pub fn memory(&self, arg: Arg) -> Result<&Arc<Memory<'a>>, Error> {
        let bound = self.args.iter().find(|(a, _)| *a == arg).map(|(_, m)| m);
        bound.ok_or_else(|| {
            Error::arg(arg, "an argument the primitive does not have", "one of its arguments").with_problem(self.desc().problem())
        })
    }

    /// Executes it.
    ///
    /// # Errors
    /// As [`Primitive::execute`].
    pub fn execute(&self, stream: &Stream) -> Result<(), Error> {
        match self.args.len() {
            n @ 1..=USUAL => {
                let args: [_; USUAL] = std::array::from_fn(|i| borrowed(&self.args[i.min(n - 1)]));
                self.primitive.execute(stream, &args[..n])
            }
            _ => self.primitive.execute(stream, &self.args.iter().map(borrowed).collect::<Vec<_>>()),
        }
    }
}

fn borrowed<'m>((arg, memory): &'m (Arg, Arc<Memory<'_>>)) -> (Arg, &'m Memory<'m>) {
    (*arg, memory)
}

/// Steps in the order in which they run. `'a` is how long the memories live that they use: `'static` for those that own their bytes, shorter for
/// those over the user's slices.
#[derive(Clone, Debug)]
pub struct Sequence<'a> {
    engine: Engine,
    steps: Vec<Step<'a>>,
}

impl<'a> Sequence<'a> {
    /// No steps yet.
    #[must_use]
    pub fn new(engine: &Engine) -> Sequence<'a> {
        Sequence { engine: engine.clone(), steps: Vec::new() }
    }

    /// Appends the primitive of `desc`. `given` has all its inputs. An input of another layout or type than `desc` asks for is reordered by
    /// a step of its own, each time the sequence runs. Outputs that are not given are allocated; [`Step::memory`] returns them.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] for an input that is missing or has other dims, for an output of another layout, and for an argument
    /// that the primitive does not have; errors of making the primitive or memory.
    pub fn push(&mut self, name: impl Into<String>, desc: &PrimitiveDesc, given: &[(Arg, &Arc<Memory<'a>>)]) -> Result<&Step<'a>, Error> {
        let name = name.into();
        if let Some((arg, _)) = given.iter().find(|(a, _)| desc.tensor(*a).is_none()) {
            return Err(Error::arg(*arg, "an argument the primitive does not have", "one of its arguments").with_problem(desc.problem()));
        }
        let mut args = Vec::with_capacity(desc.operands().len());
        for o in desc.operands() {
            let memory = given.iter().find(|(arg, _)| *arg == o.arg).map(|(_, m)| *m);
            let memory = match (memory, o.usage) {
                (Some(m), Use::In) => self.fit(&format!("{name}: {}", o.arg), m, &o.tensor),
                (Some(m), Use::Out) if *m.tensor() == o.tensor => Ok(m.clone()),
                (Some(m), Use::Out) => Err(Error::arg(o.arg, m.tensor().summary(), o.tensor.summary())),
                (None, Use::Out) => Memory::new(&self.engine, o.tensor.clone()).map(Arc::new),
                (None, Use::In) => Err(Error::arg(o.arg, "nothing", o.tensor.summary())),
            };
            args.push((o.arg, memory.map_err(|e| e.with_problem(desc.problem()))?));
        }
        Ok(self.append(Step { name, primitive: desc.create()?, args }))
    }

    /// `memory` in the layout and type of `tensor`: itself if it has them, else the result of a reorder that is appended as step `name`.
    /// Elements are rounded if the type is narrower, so a bf16 net takes f32 weights.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] when dims differ; whatever making the reorder or its memory reports.
    pub fn fit(&mut self, name: &str, memory: &Arc<Memory<'a>>, tensor: &Tensor) -> Result<Arc<Memory<'a>>, Error> {
        let own = memory.tensor();
        if own == tensor {
            return Ok(memory.clone());
        }
        if own.dims() != tensor.dims() {
            return Err(Error::invalid(name, own.summary(), tensor.summary()));
        }
        let desc = reorder(own.clone(), tensor.clone()).describe(&self.engine)?;
        let dst = Arc::new(Memory::new(&self.engine, tensor.clone())?);
        let args = vec![(Arg::SRC, memory.clone()), (Arg::DST, dst.clone())];
        self.append(Step { name: name.to_owned(), primitive: desc.create()?, args });
        Ok(dst)
    }

    fn append(&mut self, step: Step<'a>) -> &Step<'a> {
        let last = self.steps.len();
        self.steps.push(step);
        &self.steps[last]
    }

    /// The steps, first to last.
    pub fn steps(&self) -> &[Step<'a>] {
        &self.steps
    }

    /// Runs all steps and waits for them.
    ///
    /// # Errors
    /// As [`Primitive::execute`], of the first step that fails.
    pub fn run(&self, stream: &Stream) -> Result<(), Error> {
        self.steps.iter().try_for_each(|s| s.execute(stream))?;
        stream.wait()
    }
}

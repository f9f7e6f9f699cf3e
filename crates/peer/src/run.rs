//! Problems on the other library: descriptors, memory, reorders from the harness's layouts to those that the library chose, execution.

use crate::attr;
use crate::call::Library;
use crate::create::Creation;
use crate::describe;
use crate::error::PeerError;
use crate::forward;
use crate::handle::{Attribute, Buffers, Desc, Engine, Execution, Owned, Prim, PrimDesc, Stream};
use oxidnn_c_common::numbers;
use oxidnn_spec::op::Prop;
use oxidnn_spec::text::FillHints;
use oxidnn_spec::{Arg, Format, Op, Problem, ScratchpadMode, Tensor, Use};
use oxidnn_testing::fill;
use oxidnn_testing::harness;
use oxidnn_testing::host::{HostArgs, HostTensor};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Size in bytes of a descriptor whose sizes are given at execution.
const RUNTIME_SIZE: usize = 1 << 63;

/// Another oneDNN library with an engine and a stream.
#[derive(Debug)]
pub struct Peer {
    pub(crate) stream: Rc<Owned<Stream>>,
    pub(crate) engine: Owned<Engine>,
    pub(crate) library: Arc<Library>,
    threads_are_set: bool,
}

/// A problem's primitive in the library.
#[derive(Debug)]
pub struct Created {
    forward: Option<Owned<PrimDesc>>,
    desc: Owned<PrimDesc>,
    primitive: Owned<Prim>,
    spent: Duration,
}

impl Created {
    /// The implementation's name.
    ///
    /// # Errors
    /// What the query answers.
    pub fn impl_name(&self) -> Result<String, PeerError> {
        self.desc.impl_name()
    }

    /// Time that the library took for the primitive descriptor and the primitive.
    pub fn spent(&self) -> Duration {
        self.spent
    }
}

/// A primitive with its arguments in the library's memory.
#[derive(Debug)]
pub struct Prepared {
    execution: Execution,
    outputs: Vec<Output>,
}

/// Where an output is to be read from.
#[derive(Debug)]
struct Output {
    arg: Arg,
    /// Memory as the harness describes it, and the reorder that fills it where the primitive writes another layout.
    memory: Rc<Buffers>,
    reorder: Option<Execution>,
}

impl Peer {
    /// Loads `path`, a file or a folder that holds `libdnnl.so.3`. With `threads`, an OpenMP runtime of the library is asked for so many (for
    /// regions that this thread starts, so the peer is used from this thread only); [`Peer::threads_are_set`] says whether there was one.
    ///
    /// # Errors
    /// [`PeerError::Load`], or that the library has no CPU engine.
    pub fn load(path: &Path, threads: Option<usize>) -> Result<Peer, PeerError> {
        let library = Arc::new(Library::open(path)?);
        let threads_are_set = threads.is_none_or(|n| library.set_openmp_threads(n));
        let engine = Owned::make(&library, |out| library.call("dnnl_engine_create", (out, numbers::CPU, 0usize)))?;
        let stream = Owned::make(&library, |out| library.call("dnnl_stream_create", (out, &engine, numbers::IN_ORDER.cast_signed())))?;
        Ok(Peer { stream: Rc::new(stream), engine, library, threads_are_set })
    }

    /// Version and file.
    pub fn describe(&self) -> String {
        format!("oneDNN {} ({})", self.library.version().unwrap_or_default(), self.library.path().display())
    }

    /// The library's version.
    pub fn version(&self) -> String {
        self.library.version().unwrap_or_default()
    }

    /// Asks the library's OpenMP runtime for so many threads, for regions that this thread starts; false where there is none.
    pub fn set_threads(&self, threads: usize) -> bool {
        self.library.set_openmp_threads(threads)
    }

    /// Makes the library forget the primitives that it keeps for reuse.
    pub fn forget(&self) {
        // The library's own default. One that cannot forget finds primitives again; there is nobody to tell.
        const CAPACITY: i32 = 1024;
        for capacity in [0, CAPACITY] {
            let _ = self.library.call("dnnl_set_primitive_cache_capacity", (capacity,));
        }
    }

    /// False where a number of threads was asked for but the library has no OpenMP runtime to ask.
    pub fn threads_are_set(&self) -> bool {
        self.threads_are_set
    }

    /// Makes the primitive of `problem`, with layouts that are still `any` left to the library.
    ///
    /// # Errors
    /// The library's refusal.
    pub fn create(&self, problem: &Problem) -> Result<Created, PeerError> {
        self.create_nth(problem, 0)
    }

    /// As [`Peer::create`], with the implementation that the library would take if the first `skip` did not exist.
    ///
    /// # Errors
    /// The library's refusal; [`crate::Status::LastImplReached`] where there are not so many.
    pub fn create_nth(&self, problem: &Problem, skip: usize) -> Result<Created, PeerError> {
        let attr = attr::attribute(&self.library, &problem.attr)?;
        let creation = || Creation { attr: attr.as_ref(), ..Creation::new(&self.library, &self.engine) };
        let forward = forward::of(&problem.op).map(|op| creation().primitive_desc(&op)).transpose();
        let forward = forward.map_err(|e| e.during("forward hint"))?;
        let creation = Creation { hint: forward.as_ref(), ..creation() };
        let desc = creation.primitive_desc(&problem.op)?;
        for _ in 0..skip {
            self.library.call("dnnl_primitive_desc_next_impl", (&desc,))?;
        }
        let begin = Instant::now();
        let primitive = self.primitive(&desc)?;
        let spent = creation.spent.get() + begin.elapsed();
        Ok(Created { forward, desc, primitive, spent })
    }

    /// Gives `created` its arguments: `inputs` as the harness fills them for `concrete`, which is the problem with all layouts and sizes
    /// resolved. The two arguments of `inplace` share memory. What only a forward pass of the library itself can make (its workspace), that
    /// pass makes here.
    ///
    /// # Errors
    /// The library's refusal, of a reorder for example.
    pub fn bind(
        &self,
        created: Created,
        concrete: &Problem,
        inputs: &HostArgs,
        inplace: Option<(Arg, Arg)>,
    ) -> Result<Prepared, PeerError> {
        let workspace = match (created.desc.desc_of(Arg::WORKSPACE)?, &created.forward) {
            (Some(_), Some(forward)) => Some(self.workspace(forward, concrete, inputs)?),
            (Some(desc), None) => Some(Rc::new(Buffers::new(&self.engine, desc, 1)?)),
            (None, _) => None,
        };
        self.bind_with(&created.desc, created.primitive, &Binding { problem: concrete, inputs, inplace, workspace })
    }

    /// Runs the forward pass and gives the workspace that it leaves.
    fn workspace(&self, forward: &Owned<PrimDesc>, backward: &Problem, inputs: &HostArgs) -> Result<Rc<Buffers>, PeerError> {
        let problem = match harness::forward_of(backward)? {
            Some(p) => p,
            None => {
                let op: Op = forward::of(&backward.op).ok_or_else(|| PeerError::Ours("no forward pass".into()))?;
                Problem::new(op, backward.attr.clone())?
            }
        };
        let mut args = fill::arguments(&problem, &FillHints::default());
        for (arg, tensor) in &mut args.0 {
            if let Some(shared) = inputs.get(*arg).filter(|s| s.tensor == tensor.tensor) {
                *tensor = shared.clone();
            }
        }
        let desc = forward.desc_of(Arg::WORKSPACE)?.ok_or_else(|| PeerError::Ours("the forward pass has no workspace".into()))?;
        let workspace = Rc::new(Buffers::new(&self.engine, desc, 1)?);
        let binding = Binding { problem: &problem, inputs: &args, inplace: None, workspace: Some(workspace.clone()) };
        let primitive = self.primitive(forward)?;
        self.bind_with(forward, primitive, &binding).and_then(|p| p.run()).map_err(|e| e.during("forward pass"))?;
        Ok(workspace)
    }

    fn bind_with(&self, desc: &Owned<PrimDesc>, primitive: Owned<Prim>, b: &Binding) -> Result<Prepared, PeerError> {
        let mut bound: Vec<(Arg, Rc<Buffers>)> = Vec::new();
        let mut outputs = Vec::new();
        let usage = |arg: Arg| b.problem.operands().into_iter().find(|o| o.arg == arg).map(|o| o.usage);
        for (arg, host) in b.inputs.0.iter().filter(|a| a.0 != Arg::WORKSPACE) {
            let shared = b.inplace.filter(|p| p.1 == *arg).and_then(|p| bound.iter().find(|m| m.0 == p.0).map(|m| m.1.clone()));
            let output = usage(*arg) == Some(Use::Out);
            let (memory, back) = match shared {
                Some(memory) => (memory.clone(), Output { arg: *arg, memory, reorder: None }),
                None => self.argument(desc, *arg, host, b, output)?,
            };
            bound.push((*arg, memory));
            outputs.extend(output.then_some(back));
        }
        for arg in [Arg::DIFF_SCALE, Arg::DIFF_SHIFT] {
            bound.extend(self.unasked(desc, arg, b)?);
        }
        bound.extend(b.workspace.iter().map(|w| (Arg::WORKSPACE, w.clone())));
        if b.problem.attr.scratchpad == ScratchpadMode::User
            && let Some(scratchpad) = desc.desc_of(Arg::SCRATCHPAD)?
        {
            bound.push((Arg::SCRATCHPAD, Rc::new(Buffers::new(&self.engine, scratchpad, 1)?)));
        }
        Ok(Prepared { execution: Execution::new(primitive, &self.stream, bound)?, outputs })
    }

    /// Memory for a gradient that the problem does not ask for: batch and group normalisation want one for every learnt parameter in use, even
    /// where only the gradient of the data is computed.
    fn unasked(&self, desc: &Owned<PrimDesc>, arg: Arg, b: &Binding) -> Result<Option<(Arg, Rc<Buffers>)>, PeerError> {
        let flags = match &b.problem.op {
            Op::BatchNorm(x) if x.prop == Prop::BackwardData => x.flags,
            Op::GroupNorm(x) if x.prop == Prop::BackwardData => x.flags,
            _ => return Ok(None),
        };
        let used = if arg == Arg::DIFF_SCALE { flags.use_scale } else { flags.use_shift };
        let wanted = if used { desc.desc_of(arg)? } else { None };
        wanted.map(|d| Ok((arg, Rc::new(Buffers::new(&self.engine, d, 1)?)))).transpose()
    }

    /// The memory of one argument, and how to read it back.
    fn argument(
        &self,
        desc: &Owned<PrimDesc>,
        arg: Arg,
        host: &HostTensor,
        b: &Binding,
        output: bool,
    ) -> Result<(Rc<Buffers>, Output), PeerError> {
        let given = Rc::new(self.upload(arg, host)?);
        let wanted = if has_own_layout(b.problem, arg, &host.tensor) { desc.desc_of(arg)? } else { None };
        let Some(wanted) = wanted.filter(|w| w.bytes(0).is_ok_and(|n| n != RUNTIME_SIZE)) else {
            return Ok((given.clone(), Output { arg, memory: given, reorder: None }));
        };
        if given.desc().same_as(&wanted)? {
            return Ok((given.clone(), Output { arg, memory: given, reorder: None }));
        }
        let memory = Rc::new(Buffers::new(&self.engine, wanted, 1)?);
        let attr = match arg {
            Arg::WEIGHTS | Arg::WEIGHTS_1 | Arg::WEIGHTS_3 => attr::recurrent_weights(&self.library, &b.problem.attr.rnn)?,
            _ => None,
        };
        let there = self.reorder(&given, &memory, attr).and_then(|r| r.run());
        // The old contents of most outputs do not matter, and not every type can be reordered there.
        if !output || b.problem.attr.reads_dst() {
            there.map_err(|e| e.during(format_args!("reorder of {arg} to the library's layout")))?;
        }
        let back = if output {
            Some(self.reorder(&memory, &given, None).map_err(|e| e.during(format_args!("reorder of {arg} back")))?)
        } else {
            None
        };
        Ok((memory, Output { arg, memory: given, reorder: back }))
    }

    fn reorder(&self, from: &Rc<Buffers>, to: &Rc<Buffers>, attr: Option<Owned<Attribute>>) -> Result<Execution, PeerError> {
        let creation = Creation { attr: attr.as_ref(), ..Creation::new(&self.library, &self.engine) };
        let desc = creation.reorder_between(from.desc(), to.desc())?;
        Execution::new(self.primitive(&desc)?, &self.stream, vec![(Arg::SRC, from.clone()), (Arg::DST, to.clone())])
    }

    fn primitive(&self, desc: &Owned<PrimDesc>) -> Result<Owned<Prim>, PeerError> {
        Owned::make(&self.library, |out| self.library.call("dnnl_primitive_create", (out, desc)))
    }

    fn upload(&self, arg: Arg, host: &HostTensor) -> Result<Buffers, PeerError> {
        let desc: Owned<Desc> = describe::desc(&self.library, &host.tensor).map_err(|e| e.during(format_args!("descriptor of {arg}")))?;
        if matches!(host.tensor.layout.format, Format::HostScalar) {
            let mut number = [0; 8];
            number.iter_mut().zip(host.bytes(0)).for_each(|(n, b)| *n = b);
            return Buffers::scalar(desc, number);
        }
        let memory = Buffers::new(&self.engine, desc, host.bufs.len())?;
        for (i, buf) in host.bufs.iter().enumerate() {
            let theirs = memory.sizes()[i];
            // The library counts the gap after the last row of a strided tensor too.
            if theirs < buf.len() {
                return Err(PeerError::Size { arg: arg.to_string(), theirs, ours: buf.len() });
            }
            memory.with_bytes(i, |bytes| bytes.iter_mut().zip(buf).for_each(|(b, c)| *b = c.get()))?;
        }
        Ok(memory)
    }
}

/// What a primitive is to run with.
struct Binding<'a> {
    problem: &'a Problem,
    inputs: &'a HostArgs,
    inplace: Option<(Arg, Arg)>,
    workspace: Option<Rc<Buffers>>,
}

/// True for the arguments whose layout the library may choose: those of the operation and of its post-ops and dropout, where the harness's
/// tensor is an ordinary one. Numbers of attributes are plain; sizes given at execution come with the memory.
fn has_own_layout(problem: &Problem, arg: Arg, tensor: &Tensor) -> bool {
    let ordinary = matches!(tensor.layout.format, Format::Blocked(_));
    ordinary && (problem.op.tensor(arg).is_some() || arg.post_op_index().is_some() || arg == Arg::DROPOUT_MASK)
}

impl Prepared {
    /// Executes once and waits.
    ///
    /// # Errors
    /// What the library answers.
    pub fn run(&self) -> Result<(), PeerError> {
        self.execution.run()
    }

    /// The outputs in the layouts of `inputs`, with which the primitive was bound.
    ///
    /// # Errors
    /// What the library answers to a reorder.
    pub fn outputs(&self, inputs: &HostArgs) -> Result<HostArgs, PeerError> {
        let mut read = HostArgs::default();
        for output in &self.outputs {
            let Some(host) = inputs.get(output.arg).cloned() else { continue };
            if let Some(reorder) = &output.reorder {
                reorder.run()?;
            }
            for i in 0..host.bufs.len() {
                output.memory.with_bytes(i, |bytes| host.set_bytes(i, bytes))?;
            }
            read.0.push((output.arg, host));
        }
        Ok(read)
    }
}

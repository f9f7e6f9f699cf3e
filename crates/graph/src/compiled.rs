//! Compiled partitions, and the process-wide cache of them.

use crate::constants::{self, ConstantCache};
use crate::graph::Numerics;
use crate::lower::Lowered;
use crate::open::Open;
use crate::program::{Frame, Program};
use crate::{Error, LogicalTensor, Op, Partition, Property};
use oxidnn_runtime::cache::Lru;
use oxidnn_runtime::fork::{self, Locked};
use oxidnn_runtime::{DeviceId, Engine, Memory, Stream, knobs, verbose};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

/// Ready code of a partition for tensors of known sizes and layouts; a cheap handle that several threads may execute at once.
#[derive(Clone, Debug)]
pub struct CompiledPartition {
    partition: Partition,
    code: Code,
}

#[derive(Clone, Debug)]
enum Code {
    /// For known sizes.
    Sized(Arc<Compiled>),
    /// For sizes that come with the memory of an execution.
    Open(Arc<Open>),
}

/// The data that handles and the cache share.
#[derive(Debug)]
pub(crate) struct Compiled {
    engine: Engine,
    /// The operations with everything about their tensors known.
    ops: Vec<Op>,
    /// Inputs and outputs, everything about them known.
    ports: [Vec<LogicalTensor>; 2],
    executable: Executable,
    /// A program that computes the same where `executable` does not hold.
    otherwise: Option<Executable>,
    /// A program that computes the same where an input and an output are the same memory.
    shared: Option<Executable>,
    notes: Vec<String>,
    in_place: Vec<(usize, usize)>,
}

/// A program with its cached constants.
#[derive(Debug)]
struct Executable {
    program: Program,
    /// Shared with the same partition compiled for other sizes, where these prepare the same.
    constants: Arc<ConstantCache>,
}

impl Executable {
    fn new(engine: &Engine, partition: usize, program: Program) -> Executable {
        Executable { constants: constants::shared(engine, partition, &program), program }
    }

    /// Lets `run` compute once the values that depend on constant inputs only are cached.
    fn execute<T>(
        &self,
        engine: &Engine,
        stream: &Stream,
        frame: Frame<'_>,
        run: impl FnOnce(&Program, Frame<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let Executable { program, constants } = self;
        let constants = constants.get(engine, program, |memory| program.prepare(stream, Frame { cached: Some(memory), ..frame }))?;
        if constants.is_none() {
            program.prepare(stream, frame)?;
        }
        run(program, Frame { cached: constants.as_deref(), ..frame })
    }
}

impl Compiled {
    pub(crate) fn new(engine: Engine, partition: usize, ops: Vec<Op>, ports: [Vec<LogicalTensor>; 2], lowered: Lowered) -> Compiled {
        let Lowered { program, notes, otherwise, shared } = lowered;
        let id = |list: &[LogicalTensor], i: usize| list.get(i).map(|lt| lt.id);
        let same = |pair: &(usize, usize)| otherwise.as_ref().is_none_or(|p| p.in_place().contains(pair));
        let mut pairs: Vec<(usize, usize)> = shared.iter().filter_map(Program::shared).collect();
        let known = pairs.clone();
        pairs.extend(program.in_place().into_iter().filter(|pair| same(pair) && !known.contains(pair)));
        let in_place = pairs.into_iter().filter_map(|(i, o)| id(&ports[0], i).zip(id(&ports[1], o))).collect();
        let [otherwise, shared] = [otherwise, shared].map(|p| p.map(|program| Executable::new(&engine, partition, program)));
        let executable = Executable::new(&engine, partition, program);
        Compiled { engine, ops, ports, executable, otherwise, shared, notes, in_place }
    }

    fn scratch_bytes(&self) -> usize {
        let others = self.otherwise.iter().chain(&self.shared).map(|r| r.program.scratch_bytes());
        others.fold(self.executable.program.scratch_bytes(), usize::max)
    }

    /// The fields of verbose lines between the engine and the time: partition, operations, formats, tensors, precision, implementation.
    fn profile(&self, partition: &Partition) -> String {
        crate::dump::profile(partition, &self.ops, &self.ports, self.scratch_bytes())
    }
}

impl CompiledPartition {
    pub(crate) fn sized_as(partition: &Partition, compiled: Arc<Compiled>) -> CompiledPartition {
        CompiledPartition { partition: partition.clone(), code: Code::Sized(compiled) }
    }

    pub(crate) fn open(partition: &Partition, open: Open) -> CompiledPartition {
        CompiledPartition { partition: partition.clone(), code: Code::Open(Arc::new(open)) }
    }

    /// The partition for the sizes of these inputs, which are in the order of its ports: itself, if all sizes were known when it was
    /// compiled. It has the layouts of its outputs, and the size of its scratch.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] for sizes that contradict the known ones; errors of compiling.
    pub fn sized(&self, inputs: &[&Memory<'_>]) -> Result<CompiledPartition, Error> {
        match &self.code {
            Code::Sized(_) => Ok(self.clone()),
            Code::Open(open) => Ok(CompiledPartition::sized_as(&self.partition, open.member(&self.partition, inputs)?)),
        }
    }

    /// Whether sizes come with the memory of an execution.
    pub fn is_open(&self) -> bool {
        matches!(self.code, Code::Open(_))
    }

    /// The partition itself where all sizes are known.
    fn compiled(&self) -> Option<&Compiled> {
        match &self.code {
            Code::Sized(compiled) => Some(compiled),
            Code::Open(_) => None,
        }
    }

    /// The partition that it was made of.
    pub fn partition(&self) -> &Partition {
        &self.partition
    }

    /// The engine that it is for.
    pub fn engine(&self) -> &Engine {
        match &self.code {
            Code::Sized(compiled) => &compiled.engine,
            Code::Open(open) => &open.engine,
        }
    }

    /// The tensor with this number, everything about it known but sizes that are open.
    pub fn logical_tensor(&self, id: usize) -> Option<&LogicalTensor> {
        let ports = match &self.code {
            Code::Sized(compiled) => &compiled.ports,
            Code::Open(open) => &open.ports,
        };
        ports.iter().flatten().find(|lt| lt.id == id)
    }

    /// Pairs of an input and an output, by index, that may be the same memory.
    pub fn in_place(&self) -> &[(usize, usize)] {
        self.compiled().map_or(&[], |c| &c.in_place)
    }

    /// One line for each operation that became a problem of its own: the operations folded into it, and why no more. Empty where sizes are
    /// open, as the other lists are.
    pub fn notes(&self) -> &[String] {
        self.compiled().map_or(&[], |c| &c.notes)
    }

    /// The problems that it computes, in order, each with the name of its implementation. If these hold only for some values of the inputs
    /// (a mask that is minus infinity), an execution with others computes other problems.
    pub fn problems(&self) -> Vec<(String, &'static str)> {
        let of = |p: &oxidnn_runtime::Primitive| (p.desc().problem().to_string(), p.desc().impl_name());
        self.compiled().map(|c| c.executable.program.primitives().map(of).collect()).unwrap_or_default()
    }

    /// Bytes of scratch that an execution needs; where sizes are open, it is leased.
    pub fn scratch_bytes(&self) -> usize {
        self.compiled().map_or(0, Compiled::scratch_bytes)
    }

    /// Computes once. `inputs` and `outputs` are in the order of the partition's ports; `scratch` has at least [`CompiledPartition::scratch_bytes`]
    /// bytes, and is allocated where it is absent.
    ///
    /// # Errors
    /// [`Error::InvalidArguments`] for a port without memory, or memory that is too small or of another engine.
    pub fn execute(
        &self,
        stream: &Stream,
        inputs: &[&Memory<'_>],
        outputs: &[&Memory<'_>],
        scratch: Option<&Memory<'_>>,
    ) -> Result<(), Error> {
        let begin = verbose::clock(verbose::PROFILE_EXEC);
        let compiled = self.with_scratch(stream, [inputs, outputs], scratch, |program, frame| program.run(stream, frame))?.1;
        verbose::graph("exec", self.engine(), begin, || compiled.profile(&self.partition));
        Ok(())
    }

    /// Computes once, with scratch of its own, and returns the time of each of [`CompiledPartition::problems`], in order. The first
    /// problems, which depend only on constant inputs, are not timed: there are as many fewer times.
    ///
    /// # Errors
    /// As [`CompiledPartition::execute`].
    pub fn time_steps(&self, stream: &Stream, inputs: &[&Memory<'_>], outputs: &[&Memory<'_>]) -> Result<Vec<Duration>, Error> {
        Ok(self.with_scratch(stream, [inputs, outputs], None, |program, frame| program.timed(stream, frame))?.0)
    }

    /// How many of [`CompiledPartition::problems`], the first of them, only depend on constant inputs.
    pub fn prepared(&self) -> usize {
        self.compiled().map_or(0, |c| c.executable.program.prepared_steps())
    }

    /// Lets `run` compute, and returns the compiled partition that was used.
    fn with_scratch<T>(
        &self,
        stream: &Stream,
        [inputs, outputs]: [&[&Memory<'_>]; 2],
        scratch: Option<&Memory<'_>>,
        run: impl FnOnce(&Program, Frame<'_>) -> Result<T, Error>,
    ) -> Result<(T, Arc<Compiled>), Error> {
        let (compiled, scratch) = match &self.code {
            Code::Sized(compiled) => (compiled.clone(), scratch),
            // Nobody could know how much it is.
            Code::Open(open) => (open.member(&self.partition, inputs)?, None),
        };
        let Compiled { engine, executable, otherwise, shared, .. } = &*compiled;
        let needed = compiled.scratch_bytes();
        let own = if scratch.is_none() && needed > 0 { Some(Memory::scratch(engine, needed)?) } else { None };
        let frame = Frame { inputs, outputs, scratch: scratch.or(own.as_ref()), cached: None };
        let executable = match (shared, otherwise) {
            (Some(shared), _) if shared.program.holds(inputs, outputs)? => shared,
            (_, Some(otherwise)) if !executable.program.holds(inputs, outputs)? => otherwise,
            _ => executable,
        };
        let done = executable.execute(engine, stream, frame, run)?;
        drop(own);
        Ok((done, compiled))
    }
}

/// The key of an entry of the cache: equal operations share an entry, of whatever graph, unless contents are said to be the same in every
/// execution, which holds for one graph only.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    engine: DeviceId,
    partition: Option<usize>,
    numerics: Numerics,
    /// Whether constants are kept, which decides what is computed ahead.
    keeps: bool,
    ops: Vec<Op>,
    ports: [Vec<LogicalTensor>; 2],
}

static CACHE: LazyLock<Mutex<Lru<Key, Arc<Compiled>>>> =
    LazyLock::new(|| Mutex::new(Lru::new(knobs::get().compiled_partition_cache_capacity, usize::MAX)));

fn cache() -> Locked<'static, Lru<Key, Arc<Compiled>>> {
    let _inside = fork::enter();
    fork::lock(&CACHE)
}

/// How many compiled partitions are kept for reuse.
pub fn cache_capacity() -> usize {
    cache().capacity()
}

/// Changes how many compiled partitions are kept for reuse; 0: none.
pub fn set_cache_capacity(entries: usize) {
    let evicted = cache().limit(entries, usize::MAX);
    drop(evicted);
}

/// The compiled partition for ports as the caller described them: from the cache, else by `make`.
pub(crate) fn cached(
    partition: &Partition,
    engine: &Engine,
    ports: [Vec<LogicalTensor>; 2],
    make: impl FnOnce([Vec<LogicalTensor>; 2]) -> Result<Compiled, Error>,
) -> Result<Arc<Compiled>, Error> {
    let begin = verbose::clock(verbose::PROFILE_CREATE);
    let constant = ports[0].iter().any(|lt| lt.property == Property::Constant);
    let partition_id = constant.then(|| partition.id());
    let keeps = constants::constant_capacity(engine.kind()) > 0;
    let ops = partition.ops().to_vec();
    let key = Key { engine: engine.id(), partition: partition_id, numerics: partition.numerics(), keeps, ops, ports };
    let found = cache().get(&key).cloned();
    let hit = found.is_some();
    let compiled = match found {
        Some(compiled) => compiled,
        None => {
            let compiled = Arc::new(make(key.ports.clone())?);
            let mut cache = cache();
            // Another thread may have been faster; then its work is used.
            match cache.get(&key).cloned() {
                Some(other) => other,
                None => {
                    let evicted = cache.insert(key, compiled.clone(), 1);
                    drop(cache);
                    drop(evicted);
                    compiled
                }
            }
        }
    };
    verbose::graph(if hit { "compile:cache_hit" } else { "compile:cache_miss" }, engine, begin, || compiled.profile(partition));
    Ok(compiled)
}

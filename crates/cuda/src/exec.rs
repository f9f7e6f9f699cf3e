//! Executing a program: from `execute` to the launches. One of the files with unsafe code.
//!
//! What happens at each call. In the steady state nothing is compiled, loaded or synchronised. Host memory is allocated only for a launch of more than 256
//! parameter words, device memory only when the scratch must grow.
//!
//! 1. The runtime (`Primitive::execute`) has checked the memories against the primitive's descriptors and submits [`Work::Run`](oxidnn_runtime::Work) with
//!    the bound arguments to the stream's queue.
//! 2. [`CudaQueue`] takes the lock that keeps the launches of an execution together on the stream, makes the context current, leases scratch, and calls
//!    [`Launches::run`](Exec::run).
//! 3. `run` refuses addresses that are not aligned to the element type.
//! 4. [`Launches::launch`] checks the addresses that must be multiples of 16 bytes, for TMA and vector accesses. If one is not, the generic program
//!    for the same problem runs instead ([`Program::unaligned`]), which is planned and loaded the first time that happens.
//! 5. For each launch of the program, in order, `Loaded::start` fills in the words of the kernel's parameter structure (numbers are known from planning;
//!    addresses are those of this execution's arguments and scratch, from [`Places`]), and encodes TMA descriptors for these addresses, or takes them from
//!    earlier executions.
//! 6. [`Function::launch`] calls `cuLaunchKernelEx` with grid, block, cluster and shared memory of the plan, and the attributes for programmatic dependent
//!    launch and cooperative launch.
//! 7. Back in the queue, the submission gets a number (ticket); events are recorded only where somebody waits, and every so many submissions.
//!
//! Functions come from [`Loader`](compile::Loader) when the primitive is created ([`Launches::load`]).

use crate::CudaTarget;
use crate::compile;
use crate::driver::{CudaError, Current, EncodedMap, Function, LaunchShape, Relaxed, Stream};
use crate::program::{self, Launch, MapPlace, Program, Word};
use crate::queue::CudaQueue;
use oxidnn_runtime::{Ctx, Exec};
use oxidnn_spec::{Arg, DataType, Error, Op, Problem};
use std::ffi::c_void;
use std::sync::{Arc, Mutex, OnceLock};

/// Words of parameters that fit a buffer on the stack; more (a sum of many sources) go to the heap.
const ON_STACK: usize = 256;

/// TMA descriptors of a kernel, at most.
const MAPS: usize = 4;

/// The addresses of an execution's arguments.
pub trait Places {
    /// The address of buffer `buffer` of an argument; `None` if it is not passed.
    fn address(&self, arg: Arg, buffer: usize) -> Option<u64>;
    /// The bits of a host scalar, in the low end of the word.
    fn host_scalar(&self, arg: Arg) -> Option<u64>;
    /// The address of the scratch.
    fn scratch(&self) -> u64;
}

/// The address of a place.
fn located(place: MapPlace, places: &dyn Places) -> u64 {
    match place {
        MapPlace::Arg(arg, offset) => places.address(arg, 0).unwrap_or(0) + offset,
        MapPlace::Scratch(at) => places.scratch() + at as u64,
    }
}

/// Sets of encoded TMA descriptors that a launch caches, because an application's buffers repeat.
const KEPT: usize = 8;

/// Descriptors by the addresses that they were encoded for.
type Encoded = ([u64; MAPS], [EncodedMap; MAPS]);

/// A cache of descriptors, replaced in order of age.
#[derive(Default, Debug)]
struct Kept {
    all: Vec<Encoded>,
    oldest: usize,
}

impl Kept {
    /// Adds descriptors, in the place of the oldest ones if the cache is full.
    fn keep(&mut self, maps: Encoded) {
        if self.all.len() < KEPT {
            self.all.push(maps);
        } else {
            self.all[self.oldest] = maps;
            self.oldest = (self.oldest + 1) % KEPT;
        }
    }
}

/// A launch and its loaded function.
#[derive(Debug)]
struct Loaded {
    launch: Launch,
    function: Function,
    /// Launched with programmatic dependent launch: its CTAs may start while the preceding kernel finishes.
    overlaps: bool,
    encoded: Mutex<Kept>,
}

impl Loaded {
    /// Launches the kernel; its parameters are the TMA descriptors, then a structure of words.
    ///
    /// # Safety
    /// That of [`Launches::launch`].
    unsafe fn start(&self, current: &Current, stream: &Stream, places: &dyn Places) -> Result<(), CudaError> {
        let launch = &self.launch;
        let (mut small, mut large) = ([0u64; ON_STACK], Vec::new());
        let words = match small.get_mut(..launch.words.len()) {
            Some(words) => words,
            None => {
                large.resize(launch.words.len(), 0);
                &mut large[..]
            }
        };
        words.iter_mut().zip(&launch.words).for_each(|(value, word)| *value = filled(word, places));
        let mut maps = if launch.maps.is_empty() { [EncodedMap::default(); MAPS] } else { self.maps(places)? };
        let (mut parameters, count) = ([std::ptr::null_mut::<c_void>(); MAPS + 1], launch.maps.len().min(MAPS));
        parameters.iter_mut().zip(&mut maps[..count]).for_each(|(to, map)| *to = std::ptr::from_mut(map).cast());
        parameters[count] = words.as_mut_ptr().cast();
        let Launch { grid, block, cluster, shared, resident, .. } = *launch;
        let shape = LaunchShape { grid, block, cluster, shared, overlaps: self.overlaps, resident };
        // SAFETY: these are the parameters that the kernel takes; the caller vouches for the places.
        unsafe { self.function.launch(current, stream, shape, &mut parameters[..=count]) }
    }

    /// The launch's TMA descriptors, from the cache or encoded.
    fn maps(&self, places: &dyn Places) -> Result<[EncodedMap; MAPS], CudaError> {
        let mut addresses = [0; MAPS];
        for (address, map) in addresses.iter_mut().zip(&self.launch.maps) {
            *address = located(map.place, places);
        }
        // Executions do not wait for this lock: if another thread holds it, encode without the cache.
        let mut kept = self.encoded.try_lock().ok();
        if let Some((_, maps)) = kept.iter().flat_map(|k| &k.all).find(|e| e.0 == addresses) {
            return Ok(*maps);
        }
        let mut maps = [EncodedMap::default(); MAPS];
        for ((to, map), address) in maps.iter_mut().zip(&self.launch.maps).zip(addresses) {
            *to = EncodedMap::new(map, address)?;
        }
        if let Some(kept) = &mut kept {
            kept.keep((addresses, maps));
        }
        Ok(maps)
    }
}

/// The value of a word.
fn filled(word: &Word, places: &dyn Places) -> u64 {
    match *word {
        Word::Value(v) => v,
        Word::Address { arg, buffer } => places.address(arg, buffer).unwrap_or(0),
        Word::HostScalar(arg) => places.host_scalar(arg).unwrap_or(0),
        Word::Scratch(at) => places.scratch() + at as u64,
        Word::Offset { arg, bytes } => places.address(arg, 0).unwrap_or(0) + bytes,
    }
}

/// A program's launches with their functions: the executable code of a primitive.
#[derive(Debug)]
pub struct Launches {
    list: Vec<Loaded>,
    unaligned: Option<Box<Unaligned>>,
    /// Arguments in device memory, and the alignment of their elements in bytes.
    numbers: Vec<(Arg, u64)>,
}

/// The program for addresses that are not aligned to 16 bytes, loaded when it is first needed.
#[derive(Debug)]
struct Unaligned {
    launches: program::Unaligned,
    problem: Arc<Problem>,
    target: CudaTarget,
    /// Bytes of scratch that were booked for it.
    scratch: usize,
    ready: OnceLock<Launches>,
}

impl Unaligned {
    fn launches(&self) -> Result<&Launches, Error> {
        if let Some(ready) = self.ready.get() {
            return Ok(ready);
        }
        let _relaxed = Relaxed::new();
        let program = self.launches.program(&self.problem, &self.target).map_err(|why| Error::Runtime(why.to_string()))?;
        if program.scratch > self.scratch {
            return Err(Error::Runtime(format!("{} bytes of scratch, booked are {}", program.scratch, self.scratch)));
        }
        let made = Launches::load(&program, &self.problem, &self.target)?;
        Ok(self.ready.get_or_init(|| made))
    }
}

impl Launches {
    /// Compiles and loads the kernels of a program.
    ///
    /// # Errors
    /// [`Error::Runtime`] if it does not compile or load, or the GPU is only described.
    pub fn load(program: &Program, problem: &Arc<Problem>, target: &CudaTarget) -> Result<Launches, Error> {
        let later = |launches: &program::Unaligned| {
            Box::new(Unaligned {
                launches: launches.clone(),
                problem: Arc::clone(problem),
                target: target.clone(),
                scratch: program.scratch,
                ready: OnceLock::new(),
            })
        };
        let unaligned = program.unaligned.as_ref().map(later);
        Ok(Launches { unaligned, numbers: numbers(program, problem), ..Launches::alone(program, target)? })
    }

    /// The same for a program of no problem, for any addresses.
    pub(crate) fn alone(program: &Program, target: &CudaTarget) -> Result<Launches, Error> {
        let loader = target.loader.as_ref().ok_or_else(|| Error::Runtime("this GPU is only described; nothing runs on it".into()))?;
        let ready = |launch: &Launch| {
            let function = loader.function(&launch.source)?;
            let overlaps = loader.overlaps() && compile::waits(&launch.source);
            Ok(Loaded { launch: launch.clone(), function, overlaps, encoded: Mutex::default() })
        };
        let list = program.launches.iter().map(ready).collect::<Result<_, CudaError>>()?;
        Ok(Launches { list, unaligned: None, numbers: Vec::new() })
    }

    /// Number of launches.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are no launches.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Enqueues the launches on the stream.
    ///
    /// # Errors
    /// [`Error::Runtime`].
    ///
    /// # Safety
    /// The places are those of the program's problem, checked against it, and stay valid until the work is done.
    pub unsafe fn launch(&self, stream: &Stream, places: &dyn Places) -> Result<(), Error> {
        if let Some(other) = self.unaligned.as_ref().filter(|_| !self.are_aligned(places)) {
            // SAFETY: the caller's promise.
            return unsafe { other.launches()?.launch(stream, places) };
        }
        let current = Current::of(stream.context())?;
        // SAFETY: the caller's promise.
        Ok(self.list.iter().try_for_each(|loaded| unsafe { loaded.start(&current, stream, places) })?)
    }

    /// Whether all addresses that must be multiples of 16 bytes are.
    fn are_aligned(&self, places: &dyn Places) -> bool {
        let mut all = self.list.iter().flat_map(|l| l.launch.maps.iter().map(|m| m.place).chain(l.launch.aligned.iter().copied()));
        all.all(|place| located(place, places).is_multiple_of(16))
    }
}

/// The bound arguments of an execution.
struct Arguments<'a>(&'a Ctx<'a>);

impl Places for Arguments<'_> {
    fn address(&self, arg: Arg, buffer: usize) -> Option<u64> {
        Some(self.0.bound(arg)?.regions.get(buffer)?.address())
    }
    fn host_scalar(&self, arg: Arg) -> Option<u64> {
        let bytes = self.0.bound(arg)?.regions.first()?.bytes()?;
        let mut word = [0; 8];
        let len = bytes.len().min(word.len());
        bytes.read(0, &mut word[..len]);
        Some(u64::from_le_bytes(word))
    }
    fn scratch(&self) -> u64 {
        self.0.scratch.address()
    }
}

/// The arguments that a program accesses, and the alignment that their elements need: a misaligned access in a kernel would make the CUDA context
/// unusable. The workspaces of RNN and attention are declared as bytes and hold f32.
fn numbers(program: &Program, problem: &Problem) -> Vec<(Arg, u64)> {
    let kept = matches!(problem.op, Op::Rnn(_) | Op::Sdpa(_));
    let bytes = |arg: Arg| match problem.tensor(arg)?.dtype {
        DataType::U8 if kept && arg == Arg::WORKSPACE => Some(4),
        dtype => Some(dtype.bits() as u64 / 8).filter(|bytes| *bytes > 1),
    };
    let words = program.launches.iter().flat_map(|l| &l.words).filter_map(|word| match *word {
        Word::Address { arg, buffer: 0 } | Word::Offset { arg, .. } => Some(arg),
        _ => None,
    });
    let maps = program.launches.iter().flat_map(|l| &l.maps).filter_map(|map| match map.place {
        MapPlace::Arg(arg, _) => Some(arg),
        MapPlace::Scratch(_) => None,
    });
    let mut all: Vec<_> = words.chain(maps).filter_map(|arg| Some((arg, bytes(arg)?))).collect();
    all.sort_unstable();
    all.dedup();
    all
}

impl Exec for Launches {
    fn run(&self, ctx: &Ctx<'_>) -> Result<(), Error> {
        let Some(queue) = ctx.queue.as_any().downcast_ref::<CudaQueue>() else {
            return Err(Error::Runtime("code of a GPU on a queue that is no GPU's".into()));
        };
        for (arg, bytes) in &self.numbers {
            let address = Arguments(ctx).address(*arg, 0).unwrap_or(0);
            if !address.is_multiple_of(*bytes) {
                return Err(Error::invalid(
                    arg,
                    format!("memory at {address:#x}"),
                    format!("an address that is a multiple of {bytes} bytes"),
                ));
            }
        }
        // SAFETY: the runtime has checked the arguments against the problem, and keeps memory and scratch until the work is done.
        unsafe { self.launch(queue.stream(), &Arguments(ctx))? };
        Ok(())
    }

    fn footprint(&self) -> usize {
        self.list.iter().map(|l| l.launch.words.len() * size_of::<Word>() + size_of::<Launch>()).sum()
    }
}

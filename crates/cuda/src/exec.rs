//! Executing a program: from `execute` to the launches. One of the files with unsafe code.
//!
//! What happens at each call. In the steady state nothing is compiled, loaded or synchronised. Host memory is allocated only for a launch of more than 256
//! parameter words, device memory only when the scratch must grow.
//!
//! 1. The runtime (`Primitive::execute`) has checked the memories against the primitive's descriptors and submits [`Work::Run`](oxidnn_runtime::Work) with
//!    the bound arguments to the stream's queue.
//! 2. [`CudaQueue`] takes the lock that keeps the launches of an execution together on the stream, makes the context current, leases scratch, and calls
//!    [`Launches::run`](Exec::run).
//! 3. `run` looks up each address that the program depends on, a `Base`, once, and refuses those that are not aligned to the element type.
//! 4. `Launches::enqueue` checks the addresses that must be multiples of 16 bytes, for TMA and vector accesses. If one is not, the generic program
//!    for the same problem runs instead ([`Program::unaligned`]), which is planned and loaded the first time that happens.
//! 5. For each launch of the program, in order, `Loaded::start` copies the kernel's parameter structure as planning left it, fills in the addresses of this
//!    execution, and encodes TMA descriptors for them, or takes them from earlier executions.
//! 6. [`Function::launch`] calls `cuLaunchKernelEx` with grid, block, cluster and shared memory of the plan, and the attributes for programmatic dependent
//!    launch and cooperative launch.
//! 7. Back in the queue, the submission gets a number (ticket); events are recorded only where somebody waits, and every so many submissions.
//!
//! Functions come from [`Loader`](compile::Loader) when the primitive is created ([`Launches::load`]).

use crate::CudaTarget;
use crate::compile;
use crate::driver::{CudaError, Current, EncodedMap, Function, LaunchShape, Relaxed, Stream};
use crate::program::{self, Launch, MapPlace, Program, TensorMap, Word};
use crate::queue::CudaQueue;
use oxidnn_runtime::{Ctx, Exec};
use oxidnn_spec::{Arg, DataType, Error, Op, Problem};
use std::ffi::c_void;
use std::sync::{Arc, Mutex, OnceLock};

/// Words of the parameters of most launches, and of the largest ones that fit a buffer on the stack; more (a sum of many sources) go to the heap.
const MOST_LAUNCHES: usize = 64;
const ON_STACK: usize = 256;

/// Bases that fit the stack.
const BASES: usize = 24;

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

/// What an execution brings: all that the parameters of a program are made of beside numbers that are known from planning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Base {
    /// The address of a buffer of an argument.
    Argument(Arg, usize),
    /// The bits of a host scalar.
    HostScalar(Arg),
    /// The address of the scratch.
    Scratch,
}

impl Base {
    fn value(self, places: &dyn Places) -> u64 {
        match self {
            Base::Argument(arg, buffer) => places.address(arg, buffer).unwrap_or(0),
            Base::HostScalar(arg) => places.host_scalar(arg).unwrap_or(0),
            Base::Scratch => places.scratch(),
        }
    }
}

/// The value of a base, by its index, plus an offset.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Sum {
    base: usize,
    offset: u64,
}

impl Sum {
    fn of(self, bases: &[u64]) -> u64 {
        bases[self.base] + self.offset
    }
}

/// The bases of a program, each once.
#[derive(Default)]
struct Bases(Vec<Base>);

impl Bases {
    fn sum(&mut self, base: Base, offset: u64) -> Sum {
        let base = self.0.iter().position(|b| *b == base).unwrap_or_else(|| {
            self.0.push(base);
            self.0.len() - 1
        });
        Sum { base, offset }
    }

    fn place(&mut self, place: MapPlace) -> Sum {
        match place {
            MapPlace::Arg(arg, offset) => self.sum(Base::Argument(arg, 0), offset),
            MapPlace::Scratch(at) => self.sum(Base::Scratch, at as u64),
        }
    }

    /// A word that an execution fills in; `None` for numbers.
    fn word(&mut self, word: Word) -> Option<Sum> {
        Some(match word {
            Word::Value(_) => return None,
            Word::Address { arg, buffer } => self.sum(Base::Argument(arg, buffer), 0),
            Word::HostScalar(arg) => self.sum(Base::HostScalar(arg), 0),
            Word::Scratch(at) => self.sum(Base::Scratch, at as u64),
            Word::Offset { arg, bytes } => self.sum(Base::Argument(arg, 0), bytes),
        })
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

/// A launch with its loaded function.
#[derive(Debug)]
struct Loaded {
    function: Function,
    shape: LaunchShape,
    /// The parameter structure; zeros where an execution fills in what `sums` says, by word.
    words: Vec<u64>,
    sums: Vec<(usize, Sum)>,
    maps: Vec<(TensorMap, Sum)>,
    encoded: Mutex<Kept>,
}

impl Loaded {
    fn new(launch: &Launch, function: Function, overlaps: bool, bases: &mut Bases) -> Loaded {
        let Launch { grid, block, cluster, shared, resident, .. } = *launch;
        Loaded {
            function,
            shape: LaunchShape { grid, block, cluster, shared, overlaps, resident },
            words: launch.words.iter().map(|word| if let Word::Value(v) = word { *v } else { 0 }).collect(),
            sums: launch.words.iter().enumerate().filter_map(|(i, word)| Some((i, bases.word(*word)?))).collect(),
            maps: launch.maps.iter().map(|map| (*map, bases.place(map.place))).collect(),
            encoded: Mutex::default(),
        }
    }

    /// Launches the kernel; its parameters are the TMA descriptors, then a structure of words.
    ///
    /// # Safety
    /// That of [`Launches::launch`].
    unsafe fn start(&self, current: &Current, stream: &Stream, bases: &[u64]) -> Result<(), CudaError> {
        let count = self.words.len();
        // SAFETY: the caller's promise.
        unsafe {
            if count <= MOST_LAUNCHES {
                self.start_with(&mut [0; MOST_LAUNCHES][..count], current, stream, bases)
            } else if count <= ON_STACK {
                self.start_with(&mut [0; ON_STACK][..count], current, stream, bases)
            } else {
                self.start_with(&mut vec![0; count], current, stream, bases)
            }
        }
    }

    /// The same with memory for the words.
    ///
    /// # Safety
    /// The same.
    unsafe fn start_with(&self, words: &mut [u64], current: &Current, stream: &Stream, bases: &[u64]) -> Result<(), CudaError> {
        words.copy_from_slice(&self.words);
        self.sums.iter().for_each(|(word, sum)| words[*word] = sum.of(bases));
        let mut maps = if self.maps.is_empty() { [EncodedMap::default(); MAPS] } else { self.maps(bases)? };
        let (mut parameters, count) = ([std::ptr::null_mut::<c_void>(); MAPS + 1], self.maps.len().min(MAPS));
        parameters.iter_mut().zip(&mut maps[..count]).for_each(|(to, map)| *to = std::ptr::from_mut(map).cast());
        parameters[count] = words.as_mut_ptr().cast();
        // SAFETY: these are the parameters that the kernel takes; the caller vouches for the bases.
        unsafe { self.function.launch(current, stream, self.shape, &mut parameters[..=count]) }
    }

    /// The launch's TMA descriptors, from the cache or encoded.
    fn maps(&self, bases: &[u64]) -> Result<[EncodedMap; MAPS], CudaError> {
        let mut addresses = [0; MAPS];
        addresses.iter_mut().zip(&self.maps).for_each(|(address, (_, place))| *address = place.of(bases));
        // Executions do not wait for this lock: if another thread holds it, encode without the cache.
        let mut kept = self.encoded.try_lock().ok();
        if let Some((_, maps)) = kept.iter().flat_map(|k| &k.all).find(|e| e.0 == addresses) {
            return Ok(*maps);
        }
        let mut maps = [EncodedMap::default(); MAPS];
        for ((to, (map, _)), address) in maps.iter_mut().zip(&self.maps).zip(addresses) {
            *to = EncodedMap::new(map, address)?;
        }
        if let Some(kept) = &mut kept {
            kept.keep((addresses, maps));
        }
        Ok(maps)
    }
}

/// A program's launches with their functions: the executable code of a primitive.
#[derive(Debug)]
pub struct Launches {
    list: Vec<Loaded>,
    /// What an execution looks up.
    bases: Vec<Base>,
    /// Addresses that must be multiples of 16 bytes.
    aligned: Vec<Sum>,
    unaligned: Option<Box<Unaligned>>,
    /// Arguments in device memory by their bases, and the alignment of their elements in bytes.
    numbers: Vec<(Arg, usize, u64)>,
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
        let alone = Launches::alone(program, target)?;
        Ok(Launches { unaligned, numbers: numbers(&alone.bases, problem), ..alone })
    }

    /// The same for a program of no problem, for any addresses.
    pub(crate) fn alone(program: &Program, target: &CudaTarget) -> Result<Launches, Error> {
        let loader = target.loader.as_ref().ok_or_else(|| Error::Runtime("this GPU is only described; nothing runs on it".into()))?;
        let mut bases = Bases::default();
        let ready = |launch: &Launch| {
            let function = loader.function(&launch.source)?;
            Ok(Loaded::new(launch, function, loader.overlaps() && compile::waits(&launch.source), &mut bases))
        };
        let list = program.launches.iter().map(ready).collect::<Result<_, CudaError>>()?;
        let places = program.launches.iter().flat_map(|l| l.maps.iter().map(|m| m.place).chain(l.aligned.iter().copied()));
        let mut aligned: Vec<Sum> = places.map(|place| bases.place(place)).map(|sum| Sum { offset: sum.offset % 16, ..sum }).collect();
        aligned.sort_unstable_by_key(|sum| (sum.base, sum.offset));
        aligned.dedup();
        Ok(Launches { list, bases: bases.0, aligned, unaligned: None, numbers: Vec::new() })
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
        // SAFETY: the caller's promise.
        self.looked_up(places, |bases| unsafe { self.enqueue(stream, places, bases) })
    }

    /// Calls `then` with the values of the bases.
    fn looked_up<T>(&self, places: &dyn Places, then: impl FnOnce(&[u64]) -> T) -> T {
        let (mut few, mut many) = ([0; BASES], Vec::new());
        let values = match few.get_mut(..self.bases.len()) {
            Some(values) => values,
            None => {
                many.resize(self.bases.len(), 0);
                &mut many[..]
            }
        };
        values.iter_mut().zip(&self.bases).for_each(|(value, base)| *value = base.value(places));
        then(values)
    }

    /// Enqueues the launches, or those of the program for unaligned memory.
    ///
    /// # Safety
    /// That of [`Launches::launch`]; the bases are those of the places.
    unsafe fn enqueue(&self, stream: &Stream, places: &dyn Places, bases: &[u64]) -> Result<(), Error> {
        if let Some(other) = self.unaligned.as_ref().filter(|_| !self.aligned.iter().all(|sum| sum.of(bases).is_multiple_of(16))) {
            // SAFETY: the caller's promise.
            return unsafe { other.launches()?.launch(stream, places) };
        }
        let current = Current::of(stream.context())?;
        // SAFETY: the caller's promise.
        Ok(self.list.iter().try_for_each(|loaded| unsafe { loaded.start(&current, stream, bases) })?)
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
fn numbers(bases: &[Base], problem: &Problem) -> Vec<(Arg, usize, u64)> {
    let kept = matches!(problem.op, Op::Rnn(_) | Op::Sdpa(_));
    let bytes = |arg: Arg| match problem.tensor(arg)?.dtype {
        DataType::U8 if kept && arg == Arg::WORKSPACE => Some(4),
        dtype => Some(dtype.bits() as u64 / 8).filter(|bytes| *bytes > 1),
    };
    let number = |(i, base): (usize, &Base)| match *base {
        Base::Argument(arg, 0) => Some((arg, i, bytes(arg)?)),
        _ => None,
    };
    bases.iter().enumerate().filter_map(number).collect()
}

impl Exec for Launches {
    fn run(&self, ctx: &Ctx<'_>) -> Result<(), Error> {
        let Some(queue) = ctx.queue.as_any().downcast_ref::<CudaQueue>() else {
            return Err(Error::Runtime("code of a GPU on a queue that is no GPU's".into()));
        };
        let places = Arguments(ctx);
        self.looked_up(&places, |bases| {
            for &(arg, base, bytes) in &self.numbers {
                let address = bases[base];
                if !address.is_multiple_of(bytes) {
                    let expected = format!("an address that is a multiple of {bytes} bytes");
                    return Err(Error::invalid(arg, format!("memory at {address:#x}"), expected));
                }
            }
            // SAFETY: the runtime has checked the arguments against the problem, and keeps memory and scratch until the work is done.
            unsafe { self.enqueue(queue.stream(), &places, bases) }
        })
    }

    fn footprint(&self) -> usize {
        self.list
            .iter()
            .map(|l| size_of_val(&l.words[..]) + size_of_val(&l.sums[..]) + size_of_val(&l.maps[..]) + size_of::<Loaded>())
            .sum()
    }
}

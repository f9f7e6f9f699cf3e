//! Recorded calls: a repeated call replays the primitives of an earlier one.
//!
//! Two calls execute the same primitives on corresponding arguments if they agree in function, descriptor states and scalars, and in which
//! of their addresses are null or equal to each other. The second such call is recorded as a list of steps (a primitive, and which of the
//! call's addresses its arguments are); later ones only run the steps: no descriptor is read, no primitive is looked up, nothing is
//! allocated. Calls that use temporary memory of the library are not recorded.

use crate::exec::Made;
use crate::handle::Handle;
use crate::host_runtime::{Sink, lent};
use crate::nan;
use crate::pointers::{Data, In, memory_over, repoint};
use crate::status::Failure;
use oxidnn_runtime::{Engine, Memory, Mixer, Primitive, Stream, stack};
use oxidnn_spec::{Arg, Tensor};
use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, TryLockError};

/// Arguments of an execution that are listed on the stack rather than on the heap.
const ARGS: usize = 8;
/// Limits on the words and the addresses of a call.
const WORDS: usize = 12;
const PLACES: usize = 8;
/// Recorded calls of a handle, and slots for the hashes of calls seen once.
const CALLS: usize = 256;
const SEEN: usize = 256;

/// Identifies the state of a descriptor: each change gets a new value, unique in the process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamp(u64);

impl Stamp {
    /// A new value.
    pub(crate) fn new() -> Stamp {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Stamp(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// A descriptor with a stamp.
pub(crate) trait Stamped {
    /// Its stamp; `None` if it was never set.
    fn stamp(&self) -> Option<Stamp>;
}

/// The stamp as a word of a call's key, 0 if there is none.
pub(crate) fn stamp<T: Stamped>(desc: In<'_, T>) -> u64 {
    desc.optional().and_then(Stamped::stamp).map_or(0, |s| s.0)
}

/// An execution of a primitive; before each run its memories are set to the call's addresses.
#[derive(Debug)]
pub(crate) struct Step {
    primitive: Primitive,
    deep: bool,
    args: Vec<(Arg, Memory<'static>)>,
}

impl Step {
    /// The step of a primitive with these arguments.
    ///
    /// # Errors
    /// If memory cannot have such a description.
    pub(crate) fn new<'a>(primitive: &Primitive, engine: &Engine, args: impl Iterator<Item = (Arg, &'a Tensor)>) -> Result<Step, Failure> {
        let args = args.map(|(arg, tensor)| Ok((arg, memory_over(engine, tensor.clone(), Data::NULL)?)));
        let args = args.collect::<Result<Vec<_>, Failure>>()?;
        Ok(Step { primitive: primitive.clone(), deep: stack::is_deep(primitive.desc()), args })
    }

    /// The primitive.
    pub(crate) fn primitive(&self) -> &Primitive {
        &self.primitive
    }

    /// Executes it; `at` maps the index of an argument to its address.
    ///
    /// # Errors
    /// Those of the execution.
    pub(crate) fn run(&mut self, handle: &Handle, sink: Sink, at: impl Fn(usize) -> Data) -> Result<(), Failure> {
        for (i, (_, memory)) in self.args.iter_mut().enumerate() {
            repoint(memory, at(i))?;
        }
        execute((&self.primitive, self.deep), handle, sink, &self.args)
    }
}

/// Executes now, or passes the execution, with views of its memory, to `sink`. Primitives that need a deep stack run on one.
///
/// # Errors
/// Those of the execution.
pub(crate) fn execute(primitive: (&Primitive, bool), handle: &Handle, sink: Sink, args: &[(Arg, Memory<'static>)]) -> Result<(), Failure> {
    if sink == Sink::Now {
        return here(primitive, handle.stream(), args);
    }
    let views = args.iter().map(|(arg, memory)| Ok((*arg, memory.view(memory.tensor().clone())?)));
    let views = views.collect::<Result<Vec<_>, Failure>>()?;
    let (stream, deep, primitive, lent) = (handle.stream().clone(), primitive.1, primitive.0.clone(), lent());
    sink.give(move || {
        let _kept = &lent;
        here((&primitive, deep), &stream, &views)
    })
}

/// Executes, on a larger stack if necessary.
fn here((primitive, deep): (&Primitive, bool), stream: &Stream, args: &[(Arg, Memory<'static>)]) -> Result<(), Failure> {
    if deep && stack::is_short() {
        return stack::deep(|| with(primitive, stream, args));
    }
    with(primitive, stream, args)
}

fn with(primitive: &Primitive, stream: &Stream, args: &[(Arg, Memory<'static>)]) -> Result<(), Failure> {
    match args {
        [first, rest @ ..] if rest.len() < ARGS => {
            let mut list = [(first.0, &first.1); ARGS];
            for (place, (arg, memory)) in list[1..].iter_mut().zip(rest) {
                *place = (*arg, memory);
            }
            Ok(primitive.execute_bytes(stream, &list[..args.len()])?)
        }
        _ => {
            let list: Vec<(Arg, &Memory<'_>)> = args.iter().map(|(arg, memory)| (*arg, memory)).collect();
            Ok(primitive.execute_bytes(stream, &list)?)
        }
    }
}

/// Everything that the steps of a call depend on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Key {
    function: &'static str,
    words: [u64; WORDS],
    /// For each address, four bits: the index of the first address equal to it, or 0xf for null.
    alike: u64,
}

impl Key {
    fn new(function: &'static str, words: &[u64], places: &[Data]) -> Key {
        let mut all = [0; WORDS];
        all[..words.len()].copy_from_slice(words);
        let first = |p: &Data| if p.is_null() { 0xf } else { places.iter().position(|q| q == p).unwrap_or(0) as u64 };
        Key { function, words: all, alike: places.iter().fold(0, |bits, p| bits << 4 | first(p)) }
    }
}

/// The address of a recorded step's argument.
#[derive(Clone, Copy, Debug)]
enum Spot {
    /// One of the call's addresses.
    Call(usize),
    /// A constant that lives as long as the process.
    Number(Data),
}

/// A step with the addresses of its arguments.
type Noted = (Step, Vec<Spot>);

/// The steps of a call.
#[derive(Debug)]
struct Recorded(Vec<Noted>);

/// The recorded calls of a handle.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    seen: Vec<u64>,
    known: HashMap<Key, Recorded, BuildHasherDefault<Mixer>>,
}

/// A call being recorded: its addresses and its steps.
struct Recorder {
    places: Vec<Data>,
    /// `None` after an execution that cannot be recorded.
    steps: Option<Vec<Noted>>,
}

thread_local! {
    static RECORDER: RefCell<Option<Recorder>> = const { RefCell::new(None) };
}

/// Records an execution, if the thread's current call is being recorded.
pub(crate) fn note(made: &Made, engine: &Engine, args: &[(Arg, Memory<'static>)]) {
    RECORDER.with_borrow_mut(|recorder| {
        let Some(Recorder { places, steps }) = recorder else { return };
        let place = |m: &Memory<'static>| {
            let at = Some(Data::at(m)).filter(|_| m.buffers() == 1)?;
            let of_call = places.iter().position(|&p| p == at).map(Spot::Call);
            of_call.or_else(|| nan::is_number(at).then_some(Spot::Number(at)))
        };
        let known: Option<Vec<Spot>> = args.iter().map(|(_, memory)| place(memory)).collect();
        let step = known.and_then(|known| {
            let step = Step::new(made.primitive(), engine, args.iter().map(|(arg, memory)| (*arg, memory.tensor()))).ok()?;
            Some((step, known))
        });
        match (step, steps.as_mut()) {
            (Some(step), Some(steps)) => steps.push(step),
            _ => *steps = None,
        }
    });
}

fn lock(memo: &Mutex<Memo>) -> Option<MutexGuard<'_, Memo>> {
    match memo.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(left)) => Some(left.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// Runs `body`, the body of `function`, or the recorded steps of an equal call. `body` must compute by jobs only, and these must depend only
/// on `words` (stamps of descriptors, scalars) and on which of `places` are null or equal.
///
/// # Errors
/// Those of `body` and of executions.
pub(crate) fn remembered<const W: usize, const P: usize>(
    handle: In<'_, Handle>,
    function: &'static str,
    words: [u64; W],
    places: [Data; P],
    body: impl FnOnce() -> Result<(), Failure>,
) -> Result<(), Failure> {
    const { assert!(W <= WORDS && P <= PLACES) };
    let Some(handle) = handle.optional() else { return body() };
    let key = Key::new(function, &words, &places);
    match lock(handle.memo()) {
        None => return body(),
        Some(mut memo) => {
            if let Some(Recorded(steps)) = memo.known.get_mut(&key) {
                let sink = Sink::of(handle);
                let place = |spot| match spot {
                    Spot::Call(i) => places[i],
                    Spot::Number(at) => at,
                };
                return steps.iter_mut().try_for_each(|(step, spots)| step.run(handle, sink, |i| place(spots[i])));
            }
            if !memo.comes_again(&key) {
                drop(memo);
                return body();
            }
        }
    }
    RECORDER.set(Some(Recorder { places: places.to_vec(), steps: Some(Vec::new()) }));
    let result = body();
    let steps = RECORDER.take().and_then(|r| r.steps).filter(|steps| !steps.is_empty() && result.is_ok());
    if let (Some(steps), Some(mut memo)) = (steps, lock(handle.memo())) {
        if memo.known.len() >= CALLS {
            memo.known.clear();
        }
        memo.known.insert(key, Recorded(steps));
    }
    result
}

impl Memo {
    /// Whether the call was seen before; a later call may have overwritten the slot.
    fn comes_again(&mut self, key: &Key) -> bool {
        let hash = BuildHasherDefault::<Mixer>::default().hash_one(key);
        self.seen.resize(SEEN, 0);
        let seen = &mut self.seen[hash as usize % SEEN];
        std::mem::replace(seen, hash) == hash
    }
}

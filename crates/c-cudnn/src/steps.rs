//! Steps: executions of primitives on memory that is told anew each time, and calls that are remembered as steps.
//!
//! A call executes the same primitives on the same arguments as an earlier one if the states of its descriptors and its numbers are the
//! same, and its addresses are equal to each other, and null, in the same places. So the second such call is recorded, and later ones run
//! its steps: no descriptor is read, nothing is looked up by the problem, and nothing is allocated. Calls that use memory of the library's
//! own are not recorded.

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

/// Arguments of an execution that are listed on the stack.
const ARGS: usize = 8;
/// Numbers and addresses of a call, at most.
const WORDS: usize = 12;
const PLACES: usize = 8;
/// Calls that a handle remembers, and those that it has seen once.
const CALLS: usize = 256;
const SEEN: usize = 256;

/// The state of a descriptor: every change makes another one, which no descriptor has had before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamp(u64);

impl Stamp {
    /// A state that is new.
    pub(crate) fn new() -> Stamp {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Stamp(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// A descriptor whose states are told apart.
pub(crate) trait Stamped {
    /// Its state; none where it was never set.
    fn stamp(&self) -> Option<Stamp>;
}

/// The state of a descriptor as a number of a call, 0 for none.
pub(crate) fn stamp<T: Stamped>(desc: In<'_, T>) -> u64 {
    desc.optional().and_then(Stamped::stamp).map_or(0, |s| s.0)
}

/// An execution of a primitive, with memories that point to where they did the last time.
#[derive(Debug)]
pub(crate) struct Step {
    primitive: Primitive,
    deep: bool,
    args: Vec<(Arg, Memory<'static>)>,
}

impl Step {
    /// The step of a primitive whose arguments are these.
    ///
    /// # Errors
    /// For descriptions that memory cannot have.
    pub(crate) fn new<'a>(primitive: &Primitive, engine: &Engine, args: impl Iterator<Item = (Arg, &'a Tensor)>) -> Result<Step, Failure> {
        let args = args.map(|(arg, tensor)| Ok((arg, memory_over(engine, tensor.clone(), Data::NULL)?)));
        let args = args.collect::<Result<Vec<_>, Failure>>()?;
        Ok(Step { primitive: primitive.clone(), deep: stack::is_deep(primitive.desc()), args })
    }

    /// The primitive.
    pub(crate) fn primitive(&self) -> &Primitive {
        &self.primitive
    }

    /// Computes on memory at the addresses that `at` gives by the places of the arguments.
    ///
    /// # Errors
    /// Of the execution.
    pub(crate) fn run(&mut self, handle: &Handle, sink: Sink, at: impl Fn(usize) -> Data) -> Result<(), Failure> {
        for (i, (_, memory)) in self.args.iter_mut().enumerate() {
            repoint(memory, at(i))?;
        }
        execute((&self.primitive, self.deep), handle, sink, &self.args)
    }
}

/// Executes, or gives the execution with views of its memory to where it goes. Deep primitives are executed where there is room on the stack.
///
/// # Errors
/// Of the execution.
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

/// Executes, where there is room on the stack.
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
    /// Of each address the place of the first that is the same, four bits each; all of them where it is null.
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

/// Where an argument of a remembered step is.
#[derive(Clone, Copy, Debug)]
enum Spot {
    /// At one of the call's addresses.
    Call(usize),
    /// A number that lives as long as the process.
    Number(Data),
}

/// A step with the places of its arguments.
type Noted = (Step, Vec<Spot>);

/// The steps of a call.
#[derive(Debug)]
struct Recorded(Vec<Noted>);

/// The calls that a handle remembers.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    seen: Vec<u64>,
    known: HashMap<Key, Recorded, BuildHasherDefault<Mixer>>,
}

/// A call while it is recorded: its addresses, and its executions.
struct Recorder {
    places: Vec<Data>,
    /// None after something that cannot be remembered.
    steps: Option<Vec<Noted>>,
}

thread_local! {
    static RECORDER: RefCell<Option<Recorder>> = const { RefCell::new(None) };
}

/// Remembers an execution, where the thread's call is recorded.
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

/// Runs `body`, the whole of a call of `function`, or the steps that it took before. `body` computes by jobs only, and they follow from
/// `words` (states of descriptors, numbers of the call) and from which of `places` are equal.
///
/// # Errors
/// Errors of `body`, and of executions.
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
    /// Whether the call came before, as far as that is still known.
    fn comes_again(&mut self, key: &Key) -> bool {
        let hash = BuildHasherDefault::<Mixer>::default().hash_one(key);
        self.seen.resize(SEEN, 0);
        let seen = &mut self.seen[hash as usize % SEEN];
        std::mem::replace(seen, hash) == hash
    }
}

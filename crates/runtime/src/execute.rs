//! One execution: arguments are bound and checked, and the work is submitted after whatever else uses its memory. One of the files with unsafe
//! code.

use crate::borrows::Borrows;
use crate::code::Code;
use crate::desc::SCRATCH_SLACK;
use crate::family::Member;
use crate::memory::ALIGNMENT;
use crate::queue::{ScratchSource, Submission, Work};
use crate::{Bound, Memory, PrimitiveDesc, Region, Stream, check, fork, scratch, verbose};
use oxidnn_spec::{Arg, DataType, Error, Tensor, Use};
use std::any::Any;
use std::sync::{Arc, Mutex};

/// The arguments of `execute`.
#[derive(Clone, Copy)]
pub(crate) struct Request<'a> {
    pub(crate) desc: &'a PrimitiveDesc,
    pub(crate) code: &'a Code,
    pub(crate) stream: &'a Stream,
    pub(crate) args: &'a [(Arg, &'a Memory<'a>)],
    pub(crate) matching: Matching,
    /// The member for the sizes of the arguments, where sizes come with them.
    pub(crate) member: Option<&'a Member>,
    /// Whether memory that is written counts its users together with that of another argument: not before the arguments were checked.
    pub(crate) aliased: bool,
}

/// The results of checking the arguments.
struct Checked {
    member: Option<Arc<Member>>,
    aliased: bool,
}

impl<'a> Request<'a> {
    /// The same with the member of its arguments' sizes, whose code runs.
    #[inline(always)]
    fn of<'b>(&self, checked: &'b Checked) -> Request<'b>
    where
        'a: 'b,
    {
        let member = checked.member.as_deref();
        Request { member, code: member.map_or(self.code, |m| &m.code), aliased: checked.aliased, ..*self }
    }
}

/// How memories are matched with operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Matching {
    /// Each memory must be described as its operand.
    Descriptions,
    /// Believes the primitive's description, not the memory's: memory is bytes, of which there must be enough.
    Bytes,
}

/// Stands in unused places of argument arrays.
fn nothing() -> Bound<'static> {
    static NOTHING: Tensor = Tensor::host_scalar(DataType::U8);
    Bound { arg: Arg(0), usage: Use::In, tensor: &NOTHING, regions: &[], notes: None }
}

/// Executes once; errors carry the problem line. The request goes by reference: a copy of memory that was just written in parts would wait
/// for these stores.
pub(crate) fn execute(request: &Request<'_>) -> Result<(), Error> {
    let done = match request.desc.operands().len() {
        0..=4 => on_stack::<4>(request),
        5..=12 => on_stack::<12>(request),
        13..=32 => on_stack::<32>(request),
        33..=128 => on_stack::<128>(request),
        129..=512 => on_stack::<512>(request),
        _ => on_heap(request),
    };
    done.map_err(|e| failed(request, e))
}

#[cold]
fn failed(request: &Request<'_>, error: Error) -> Error {
    let error = error.with_problem(request.desc.given());
    verbose::failed("exec", request.desc.problem().op.kind(), &error);
    error
}

/// Binds into arrays on the stack: nothing is allocated. A function of its own for each size, so that small executions do not take the room of large
/// ones.
#[inline(never)]
fn on_stack<const N: usize>(request: &Request<'_>) -> Result<(), Error> {
    let n = request.desc.operands().len();
    let (mut memories, mut parts) = ([None; N], [None; N]);
    let checked = prepare(request, &mut memories[..n], &mut parts[..n])?;
    let request = &request.of(&checked);
    let mut bound = [nothing(); N];
    let count = bind(request, &memories[..n], &parts[..n], &mut bound);
    run(request, &memories[..n], &bound[..count])
}

/// For problems of very many operands (a concat of more than 500 sources): the one execution that allocates.
#[inline(never)]
fn on_heap(request: &Request<'_>) -> Result<(), Error> {
    let n = request.desc.operands().len();
    let (mut memories, mut parts) = (vec![None; n], vec![None; n]);
    let checked = prepare(request, &mut memories, &mut parts)?;
    let request = &request.of(&checked);
    let mut bound = vec![nothing(); n];
    let count = bind(request, &memories, &parts, &mut bound);
    run(request, &memories, &bound[..count])
}

/// Assigns the memories to their operands and checks them, before a byte is written. `parts` receives the bytes of an operand whose memory
/// is not believed and larger. Returns the descriptions and the code that follow from the memories' sizes.
fn prepare<'a>(request: &Request<'a>, memories: &mut [Option<&'a Memory<'a>>], parts: &mut [Option<Region<'a>>]) -> Result<Checked, Error> {
    let Request { desc, stream, matching, .. } = *request;
    if stream.engine() != desc.engine() {
        return Err(Error::invalid("stream", format!("a stream of {}", stream.engine()), format!("one of {}", desc.engine())));
    }
    place(request, memories)?;
    for (i, (operand, memory)) in desc.operands().iter().zip(&*memories).enumerate() {
        match memory {
            Some(memory) if memory.is_known_to_fit(operand.usage, desc.stamp(i, matching)) => {}
            Some(memory) => parts[i] = fitting(request, i, memory)?,
            None => check::missing(operand)?,
        }
    }
    let Some(family) = desc.family() else { return Ok(Checked { member: None, aliased: check::overlaps(desc, memories)? }) };
    let member = check::runtime(desc, family, memories, matching)?;
    if matching == Matching::Bytes {
        // Except a scratchpad, which is the last operand and determines no sizes.
        for i in 0..member.tensors.len() {
            parts[i] = memories[i].map_or(Ok(None), |memory| check::bytes(desc, i, Some(&member), memory))?;
        }
    }
    Ok(Checked { member: Some(member), aliased: check::overlaps(desc, memories)? })
}

/// Checks the memory of operand `i`, and has it remember that it fits. Returns the bytes that the operand takes of memory that is larger.
#[cold]
fn fitting<'a>(request: &Request<'a>, i: usize, memory: &'a Memory<'a>) -> Result<Option<Region<'a>>, Error> {
    let Request { desc, matching, .. } = *request;
    let operand = &desc.operands()[i];
    let part = match matching {
        Matching::Descriptions => check::operand(desc, operand, memory).map(|()| None)?,
        // How much an operand of open sizes needs is not known yet.
        Matching::Bytes if desc.has_runtime() => return Ok(None),
        Matching::Bytes => check::bytes(desc, i, None, memory)?,
    };
    if part.is_none() {
        memory.remember_fit(operand.usage, desc.stamp(i, matching));
    }
    Ok(part)
}

/// The arguments as kernels see them, without the scratchpad; returns how many there are. `parts` has the bytes that operands take of larger
/// memories.
fn bind<'a>(request: &Request<'a>, memories: &[Option<&'a Memory<'a>>], parts: &'a [Option<Region<'a>>], bound: &mut [Bound<'a>]) -> usize {
    let operands = request.desc.operands();
    let arguments = &operands[..operands.len() - usize::from(request.desc.scratchpad().is_some())];
    let mut count = 0;
    for (i, (((operand, memory), part), place)) in arguments.iter().zip(memories).zip(parts).zip(bound).enumerate() {
        let Some(memory) = memory else { break };
        let tensor = match request.member {
            None => &operand.tensor,
            Some(_) if request.matching == Matching::Descriptions && !operand.arg.is_quantisation() => memory.tensor(),
            Some(member) => &member.tensors[i],
        };
        let regions = part.as_ref().map_or(memory.regions(), std::slice::from_ref);
        *place = Bound { arg: operand.arg, usage: operand.usage, tensor, regions, notes: memory.notes() };
        count += 1;
    }
    count
}

fn run<'a>(request: &Request<'a>, memories: &[Option<&'a Memory<'a>>], bound: &'a [Bound<'a>]) -> Result<(), Error> {
    if is_noop(bound) {
        return Borrows::none(request.desc.operands(), memories, request.aliased).take();
    }
    let begin = match verbose::on(verbose::PROFILE_EXEC) {
        true => Some(request.stream.record()?),
        false => None,
    };
    if request.stream.is_synchronous() {
        let mut borrows = Borrows::none(request.desc.operands(), memories, request.aliased);
        borrows.take()?;
        borrows.settle()?;
        let submission = Submission { work: work(request, memories, bound)?, held: None };
        // SAFETY: the memories are borrowed until this returns, after the work, and `borrows` keeps others from conflicting use.
        unsafe { request.stream.queue().submit(submission) }?;
    } else {
        enqueue(request, memories, bound)?;
    }
    if let Some(begin) = begin {
        let end = request.stream.record()?;
        end.wait()?;
        let desc = request.member.map_or(request.desc, |m| &m.desc);
        verbose::executed(request.desc, desc, end.since(&begin)?);
    }
    Ok(())
}

/// Submits to a queue that may go on after this returns. The memories are borrowed for the moment of it only; from then on they remember
/// the submission.
fn enqueue<'a>(request: &Request<'a>, memories: &[Option<&'a Memory<'a>>], bound: &'a [Bound<'a>]) -> Result<(), Error> {
    /// Held from finding the work to wait for until the memories record the new work, so that two threads do not miss each other's.
    static ORDER: Mutex<()> = Mutex::new(());
    let (queue, exec) = (request.stream.queue(), &request.code.exec);
    let ticket = {
        let _order = fork::lock(&ORDER);
        let mut borrows = Borrows::none(request.desc.operands(), memories, request.aliased);
        borrows.take()?;
        borrows.order(queue)?;
        let held = Some(Box::new((borrows.storages(), exec.clone())) as Box<dyn Any + Send>);
        let submission = Submission { work: work(request, memories, bound)?, held };
        // SAFETY: `held` owns the storages and the code; memory that is borrowed from the user is waited for below; the memories remember
        // the ticket, so that their next user comes after it.
        let ticket = unsafe { queue.submit(submission) }?;
        borrows.submitted(queue, ticket);
        ticket
    };
    queue.throttle();
    match memories.iter().flatten().all(|m| m.outlives_borrow()) {
        true => Ok(()),
        false => queue.wait_until(ticket),
    }
}

/// The execution as work for a queue.
#[inline(always)]
fn work<'a>(request: &Request<'a>, memories: &[Option<&'a Memory<'a>>], args: &'a [Bound<'a>]) -> Result<Work<'a>, Error> {
    let Request { desc, code, .. } = *request;
    let exec = &code.exec;
    let need = match request.member {
        Some(member) => member.scratch_bytes(),
        None => desc.scratch_bytes(),
    };
    let scratch = match desc.scratchpad() {
        // The caller could not know how much this is.
        Some(_) if request.member.is_some() => ScratchSource::Lease(need),
        Some(_) => ScratchSource::Given(scratch::user::unaliased(user_scratch(desc, memories, need)?, args)?),
        None => ScratchSource::Lease(need),
    };
    Ok(Work::Run { exec, args, scratch })
}

/// Puts each argument in the place of its operand.
fn place<'a>(request: &Request<'a>, memories: &mut [Option<&'a Memory<'a>>]) -> Result<(), Error> {
    let operands = request.desc.operands();
    let mut next = 0;
    for &(arg, memory) in request.args {
        let found = match operands.get(next).is_some_and(|o| o.arg == arg) {
            true => Some(next),
            false => operands.iter().position(|o| o.arg == arg),
        };
        let Some(i) = found else {
            if request.matching == Matching::Bytes {
                continue;
            }
            let known: Vec<String> = operands.iter().map(|o| o.arg.to_string()).collect();
            return Err(Error::arg(arg, "an argument that this primitive does not have", format!("one of {}", known.join(", "))));
        };
        if memories[i].replace(memory).is_some() {
            return Err(Error::arg(arg, "the same argument twice", "each argument once"));
        }
        next = i + 1;
    }
    Ok(())
}

/// True when there is nothing to write: no output has elements, nor sums after them.
fn is_noop(bound: &[Bound<'_>]) -> bool {
    bound.iter().filter(|b| b.usage == Use::Out).all(|b| b.regions.iter().all(Region::is_empty) && b.tensor.is_empty())
}

/// The aligned part of the caller's scratchpad.
fn user_scratch<'a>(desc: &PrimitiveDesc, memories: &[Option<&'a Memory<'a>>], need: usize) -> Result<Region<'a>, Error> {
    if need == 0 {
        return Ok(Region::empty());
    }
    let position = desc.operands().iter().position(|o| o.arg == Arg::SCRATCHPAD);
    let given = position.and_then(|i| memories[i]).and_then(|m| m.regions().first().copied());
    let region = given.unwrap_or(Region::empty());
    let skip = region.as_ptr().addr().next_multiple_of(ALIGNMENT) - region.as_ptr().addr();
    if region.len() < need + SCRATCH_SLACK {
        let got = given.map_or("nothing".to_string(), |b| format!("{} bytes", b.len()));
        return Err(Error::arg(Arg::SCRATCHPAD, got, format!("at least {} bytes", need + SCRATCH_SLACK)));
    }
    Ok(region.part(skip, need))
}

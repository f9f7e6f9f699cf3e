//! One execution: arguments are bound and checked, memory is borrowed, scratch is leased, the work is submitted.

use crate::borrows::Borrows;
use crate::check::Concrete;
use crate::code::Code;
use crate::desc::SCRATCH_SLACK;
use crate::memory::ALIGNMENT;
use crate::{Bound, Buf, Ctx, Exec, Memory, PrimitiveDesc, Stream, check, scratch, verbose};
use oxidnn_spec::{Arg, DataType, Error, Tensor, Use};
use std::sync::{Arc, LazyLock};

/// What `execute` was called with.
#[derive(Clone, Copy)]
pub(crate) struct Request<'a> {
    pub(crate) desc: &'a PrimitiveDesc,
    pub(crate) code: &'a Code,
    pub(crate) stream: &'a Stream,
    pub(crate) args: &'a [(Arg, &'a Memory<'a>)],
    pub(crate) faith: Faith,
}

/// How far the descriptions of the memories are believed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Faith {
    /// Each memory must be described as its operand.
    Descriptions,
    /// The primitive knows best: memory is bytes, of which there must be enough.
    Bytes,
}

/// Stands in unused places of argument arrays.
fn nothing() -> Bound<'static> {
    static NOTHING: LazyLock<Tensor> = LazyLock::new(|| Tensor::host_scalar(DataType::U8));
    Bound { arg: Arg(0), usage: Use::In, tensor: &NOTHING, bufs: &[] }
}

/// Executes once; errors carry the problem line.
pub(crate) fn execute(request: Request<'_>) -> Result<(), Error> {
    let run = match request.desc.operands().len() {
        0..=8 => on_stack::<8>,
        9..=24 => on_stack::<24>,
        25..=96 => on_stack::<96>,
        97..=512 => on_stack::<512>,
        _ => on_heap,
    };
    run(request).map_err(|e| {
        let e = e.with_problem(request.desc.given());
        verbose::failed("exec", request.desc.problem().op.kind(), &e);
        e
    })
}

/// Binds into arrays on the stack: nothing is allocated.
fn on_stack<const N: usize>(request: Request<'_>) -> Result<(), Error> {
    let n = request.desc.operands().len();
    let (mut memories, mut bufs) = ([None; N], [Buf::empty(); N]);
    let concrete = prepare(request, &mut memories[..n], &mut bufs)?;
    let mut bound = [nothing(); N];
    let count = bind(request, &memories[..n], Views { bufs: &bufs, concrete: concrete.as_deref() }, &mut bound);
    run(request, &memories[..n], &bound[..count])
}

/// For problems of very many operands (a concat of more than 500 sources): the one execution that allocates.
fn on_heap(request: Request<'_>) -> Result<(), Error> {
    let n = request.desc.operands().len();
    let (mut memories, mut bufs) = (vec![None; n], vec![Buf::empty(); n]);
    let concrete = prepare(request, &mut memories, &mut bufs)?;
    let mut bound = vec![nothing(); n];
    let count = bind(request, &memories, Views { bufs: &bufs, concrete: concrete.as_deref() }, &mut bound);
    run(request, &memories, &bound[..count])
}

/// Puts the memories in the places of their operands and checks them, before a byte is written. `bufs` receives the bytes that an operand
/// takes of a memory that is not believed; what is returned are the descriptions that come with the memories.
fn prepare<'a>(request: Request<'a>, memories: &mut [Option<&'a Memory<'a>>], bufs: &mut [Buf]) -> Result<Option<Arc<Concrete>>, Error> {
    let Request { desc, code, stream, faith, .. } = request;
    if stream.engine() != desc.engine() {
        return Err(Error::invalid("stream", format!("a stream of {}", stream.engine()), format!("one of {}", desc.engine())));
    }
    place(request, memories)?;
    for (operand, memory) in desc.operands().iter().zip(&*memories) {
        check::present(operand, *memory)?;
        if let (Some(memory), Faith::Descriptions) = (memory, faith) {
            check::operand(desc, operand, memory)?;
        }
    }
    let concrete = if desc.has_runtime() { Some(check::runtime(desc, code, memories, faith)?) } else { None };
    if faith == Faith::Bytes {
        check::bytes(desc, memories, concrete.as_deref(), bufs)?;
    }
    check::overlaps(desc, memories)?;
    if !stream.queue().is_synchronous() {
        check::outlive(desc, memories)?;
    }
    Ok(concrete)
}

/// What stands for memories that are not believed.
#[derive(Clone, Copy)]
struct Views<'a> {
    bufs: &'a [Buf],
    concrete: Option<&'a Concrete>,
}

/// The arguments as kernels see them, without the scratchpad; returns how many there are.
fn bind<'a>(request: Request<'a>, memories: &[Option<&'a Memory<'a>>], views: Views<'a>, bound: &mut [Bound<'a>]) -> usize {
    let mut count = 0;
    for (i, (operand, memory)) in request.desc.operands().iter().zip(memories).enumerate() {
        let Some(memory) = memory.filter(|_| operand.arg != Arg::SCRATCHPAD) else { continue };
        let (tensor, bufs) = match request.faith {
            Faith::Descriptions => (memory.tensor(), memory.bufs()),
            Faith::Bytes => {
                let tensor = views.concrete.map_or(&operand.tensor, |c| &c.tensors[i]);
                (tensor, if tensor.buffers() == 1 { std::slice::from_ref(&views.bufs[i]) } else { memory.bufs() })
            }
        };
        bound[count] = Bound { arg: operand.arg, usage: operand.usage, tensor, bufs };
        count += 1;
    }
    count
}

fn run(request: Request<'_>, memories: &[Option<&Memory<'_>>], bound: &[Bound<'_>]) -> Result<(), Error> {
    let Request { desc, code, stream, .. } = request;
    let exec = code.exec();
    let borrows = Borrows::take(desc.operands(), memories)?;
    if is_noop(bound) {
        return Ok(());
    }
    let booked = desc.plan().scratch_bytes();
    let need = if desc.has_runtime() { booked.max(exec.scratch_bytes(bound)) } else { booked };
    let lease = match desc.scratchpad() {
        None => scratch::arena().lease(need)?,
        Some(_) => scratch::Lease::of(user_scratch(desc, memories, need)?),
    };
    let ctx = Ctx { args: bound, scratch: lease.buf(), executor: stream.executor() };
    submit(request, exec, &ctx)?;
    if !stream.queue().is_synchronous() {
        stream.queue().retain(Box::new((borrows.into_guards(), lease, exec.clone())));
    }
    Ok(())
}

fn submit(request: Request<'_>, exec: &Arc<dyn Exec>, ctx: &Ctx<'_>) -> Result<(), Error> {
    let queue = request.stream.queue();
    let begin = verbose::clock(verbose::PROFILE_EXEC);
    queue.submit(exec, ctx)?;
    if begin.is_some() {
        queue.wait()?;
        verbose::executed(request.desc, ctx.args, begin);
    }
    Ok(())
}

/// Puts each argument in the place of its operand.
fn place<'a>(request: Request<'a>, memories: &mut [Option<&'a Memory<'a>>]) -> Result<(), Error> {
    let operands = request.desc.operands();
    let mut next = 0;
    for &(arg, memory) in request.args {
        let found = (next..operands.len()).chain(0..next).find(|&i| operands[i].arg == arg);
        let Some(i) = found else {
            if request.faith == Faith::Bytes {
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

/// True when there is nothing to write: every output is empty.
fn is_noop(bound: &[Bound<'_>]) -> bool {
    bound.iter().filter(|b| b.usage == Use::Out).all(|b| b.tensor.is_empty())
}

/// The aligned part of the caller's scratchpad.
fn user_scratch(desc: &PrimitiveDesc, memories: &[Option<&Memory<'_>>], need: usize) -> Result<Buf, Error> {
    if need == 0 {
        return Ok(Buf::empty());
    }
    let position = desc.operands().iter().position(|o| o.arg == Arg::SCRATCHPAD);
    let given = position.and_then(|i| memories[i]).and_then(|m| m.bufs().first().copied());
    let buf = given.unwrap_or(Buf::empty());
    let skip = buf.as_ptr().addr().next_multiple_of(ALIGNMENT) - buf.as_ptr().addr();
    if buf.len() < need + SCRATCH_SLACK {
        let got = given.map_or("nothing".to_string(), |b| format!("{} bytes", b.len()));
        return Err(Error::arg(Arg::SCRATCHPAD, got, format!("at least {} bytes", need + SCRATCH_SLACK)));
    }
    Ok(buf.part(skip, need))
}

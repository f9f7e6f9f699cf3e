//! One execution: arguments are bound and checked, memory is borrowed, scratch is leased, the work is submitted.

use crate::borrows::Borrows;
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
    let mut memories = [None; N];
    let mut bound = [nothing(); N];
    let n = request.desc.operands().len();
    run(request, &mut memories[..n], &mut bound[..n])
}

/// For problems of very many operands (a concat of more than 500 sources): the one execution that allocates.
fn on_heap(request: Request<'_>) -> Result<(), Error> {
    let n = request.desc.operands().len();
    let mut bound = vec![nothing(); n];
    run(request, &mut vec![None; n], &mut bound)
}

fn run<'a>(request: Request<'a>, memories: &mut [Option<&'a Memory<'a>>], bound: &mut [Bound<'a>]) -> Result<(), Error> {
    let Request { desc, code, stream, .. } = request;
    if stream.engine() != desc.engine() {
        return Err(Error::invalid("stream", format!("a stream of {}", stream.engine()), format!("one of {}", desc.engine())));
    }
    place(request, memories)?;
    let mut count = 0;
    for (operand, memory) in desc.operands().iter().zip(&*memories) {
        let Some(memory) = check::operand(desc, operand, *memory)? else { continue };
        if operand.arg != Arg::SCRATCHPAD {
            bound[count] = Bound { arg: operand.arg, usage: operand.usage, tensor: memory.tensor(), bufs: memory.bufs() };
            count += 1;
        }
    }
    let bound = &bound[..count];
    if desc.has_runtime() {
        check::runtime(desc, code, bound)?;
    }
    check::overlaps(desc, memories)?;
    if !stream.queue().is_synchronous() {
        check::outlive(desc, memories)?;
    }
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

//! Checks of the arguments of an execution, all made before a byte is written.

use crate::code::Code;
use crate::{Bound, Memory, PrimitiveDesc};
use oxidnn_spec::{Arg, Error, Op, Operand, Problem, RUNTIME, Tensor, Use};

/// Checks one operand against the memory passed for it. `Ok(None)`: a scratchpad that is not needed.
pub(crate) fn operand<'a>(
    desc: &PrimitiveDesc,
    o: &Operand<Tensor>,
    memory: Option<&'a Memory<'a>>,
) -> Result<Option<&'a Memory<'a>>, Error> {
    let Some(memory) = memory else {
        if o.arg == Arg::SCRATCHPAD {
            return Ok(None);
        }
        return Err(Error::arg(o.arg, "nothing", o.tensor.summary()));
    };
    if o.arg != Arg::SCRATCHPAD && !fits(&o.tensor, memory.tensor()) {
        return Err(Error::arg(o.arg, memory.tensor().summary(), o.tensor.summary()));
    }
    if memory.engine().is_some_and(|e| e != desc.engine()) {
        let got = memory.engine().map(|e| format!("memory of {e}")).unwrap_or_default();
        return Err(Error::arg(o.arg, got, format!("memory of {}", desc.engine())));
    }
    let tensor = memory.tensor();
    let null = memory.bufs().iter().enumerate().any(|(i, b)| b.as_ptr().is_null() && tensor.buffer_bytes(i) != Some(0));
    if null && o.arg != Arg::SCRATCHPAD {
        return Err(Error::arg(o.arg, "a null address", tensor.summary()));
    }
    if o.usage == Use::Out && memory.is_read_only() {
        return Err(Error::arg(o.arg, "memory over a slice that may only be read", "memory that may be written"));
    }
    Ok(Some(memory))
}

/// Whether memory of `got` may be passed where `expected` is needed: equal, but for what `expected` leaves to run time. Of an empty tensor
/// the layout does not count.
fn fits(expected: &Tensor, got: &Tensor) -> bool {
    if expected == got {
        return true;
    }
    let same = |e: i64, g: i64| e == g || e == RUNTIME;
    let (dims, want) = (got.dims(), expected.dims());
    let shape = expected.dtype == got.dtype && dims.len() == want.len() && want.iter().zip(dims.iter()).all(|(&e, &g)| same(e, g));
    if !shape || (got.is_empty() && expected.blocking().is_some() && got.blocking().is_some()) {
        return shape;
    }
    let (true, Some(e), Some(g)) = (expected.layout.has_runtime(), expected.blocking(), got.blocking()) else { return false };
    let strides = e.strides.iter().zip(g.strides.iter()).zip(g.padded_dims.iter()).all(|((&e, &g), &d)| d == 1 || same(e, g));
    let padded = e.padded_dims.iter().zip(g.padded_dims.iter()).all(|(&e, &g)| same(e, g));
    strides && padded && same(e.offset, g.offset) && e.inner == g.inner && e.compensation == g.compensation
}

/// The problem with the arguments' own descriptions in place of the operation's.
pub(crate) fn concrete(problem: &Problem, bound: &[Bound<'_>]) -> Problem {
    let mut problem = problem.clone();
    for o in problem.op.operands_mut() {
        if let Some(b) = bound.iter().find(|b| b.arg == o.arg) {
            *o.tensor = b.tensor.clone();
        }
    }
    problem
}

/// Checks that sizes given only now fit each other, by validating the problem that they make. What was valid last is remembered, so that
/// repeated executions neither validate nor allocate.
pub(crate) fn runtime(desc: &PrimitiveDesc, code: &Code, bound: &[Bound<'_>]) -> Result<(), Error> {
    let mut valid = code.valid.lock().unwrap_or_else(|e| e.into_inner());
    if valid.len() == bound.len() && valid.iter().zip(bound).all(|(v, b)| v == b.tensor) {
        return Ok(());
    }
    let Problem { op, attr } = concrete(desc.problem(), bound);
    let problem = Problem::new(op, attr)?;
    for o in problem.operands() {
        if let Some(b) = bound.iter().find(|b| b.arg == o.arg).filter(|b| !fits(&o.tensor, b.tensor)) {
            return Err(Error::arg(o.arg, b.tensor.summary(), o.tensor.summary()));
        }
    }
    *valid = bound.iter().map(|b| b.tensor.clone()).collect();
    Ok(())
}

/// Refuses memory that is written and also used by another argument, but for the in-place pairs of element-wise operations, whose
/// elements are read by who writes them. Memory from raw addresses is its maker's responsibility.
pub(crate) fn overlaps(desc: &PrimitiveDesc, memories: &[Option<&Memory<'_>>]) -> Result<(), Error> {
    let used = || desc.operands().iter().zip(memories).filter_map(|(o, m)| Some((o, (*m)?)));
    for (i, (written, out)) in used().enumerate().filter(|(_, (o, m))| o.usage == Use::Out && m.is_checked()) {
        for (_, (other, memory)) in used().enumerate().filter(|(j, (_, m))| *j != i && m.overlaps(out)) {
            let in_place = other.usage == Use::In && may_be_in_place(&desc.problem().op, other.arg) && memory.is_same_place(out);
            if !in_place {
                let got = format!("memory that is also passed as {}", other.arg);
                return Err(Error::arg(written.arg, got, "memory of its own"));
            }
        }
    }
    Ok(())
}

/// Refuses memory over a user's slice for work that may go on after `execute` returns: nobody could keep the slice alive.
pub(crate) fn outlive(desc: &PrimitiveDesc, memories: &[Option<&Memory<'_>>]) -> Result<(), Error> {
    for (o, m) in desc.operands().iter().zip(memories) {
        if m.is_some_and(|m| !m.outlives_borrow()) {
            return Err(Error::arg(o.arg, "memory over a slice on an asynchronous stream", "memory that the library owns"));
        }
    }
    Ok(())
}

/// Whether the operation may overwrite this input with its result, element by element.
fn may_be_in_place(op: &Op, arg: Arg) -> bool {
    let elementwise =
        matches!(op, Op::Eltwise(_) | Op::Binary(_) | Op::Sum(_) | Op::Softmax(_) | Op::BatchNorm(_) | Op::LayerNorm(_) | Op::GroupNorm(_));
    elementwise && (matches!(arg, Arg::SRC | Arg::SRC_1 | Arg::DIFF_DST) || arg.multiple_src_index().is_some())
}

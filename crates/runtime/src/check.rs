//! Checks of the arguments of an execution, all made before a byte is written.

use crate::execute::Matching;
use crate::family::{Family, Member};
use crate::{Memory, PrimitiveDesc, Region};
use oxidnn_spec::{Arg, Error, Layout, Operand, RUNTIME, Tensor, Use};
use std::sync::Arc;

/// Checks an operand without memory: only a scratchpad may lack it, which may not be needed.
pub(crate) fn missing(o: &Operand<Tensor>) -> Result<(), Error> {
    if o.arg == Arg::SCRATCHPAD { Ok(()) } else { Err(Error::arg(o.arg, "nothing", o.tensor.summary())) }
}

/// Checks one operand against the memory passed for it, which must be described as the operand.
pub(crate) fn operand(desc: &PrimitiveDesc, o: &Operand<Tensor>, memory: &Memory<'_>) -> Result<(), Error> {
    if o.arg != Arg::SCRATCHPAD && !fits(&o.tensor, memory.tensor()) && !is_list(o, memory.tensor()) {
        return Err(unlike(o.arg, memory.tensor(), &o.tensor));
    }
    if memory.engine().is_some_and(|e| e != desc.engine_of(o.arg)) {
        let got = memory.engine().map(|e| format!("memory of {e}")).unwrap_or_default();
        return Err(Error::arg(o.arg, got, format!("memory of {}", desc.engine_of(o.arg))));
    }
    let tensor = memory.tensor();
    let null = memory.regions().iter().enumerate().any(|(i, b)| b.as_ptr().is_null() && tensor.buffer_bytes(i) != Some(0));
    if null && o.arg != Arg::SCRATCHPAD {
        return Err(Error::arg(o.arg, "a null address", tensor.summary()));
    }
    if o.usage == Use::Out && memory.is_read_only() {
        return Err(Error::arg(o.arg, "memory that may only be read", "memory that may be written"));
    }
    Ok(())
}

/// Checks that memory has the bytes that operand `i` needs, whatever the memory says of itself; with open sizes, those of the member.
/// Returns these bytes if they are only a part of the memory.
pub(crate) fn bytes<'a>(
    desc: &PrimitiveDesc,
    i: usize,
    member: Option<&Member>,
    memory: &'a Memory<'a>,
) -> Result<Option<Region<'a>>, Error> {
    let o = &desc.operands()[i];
    if o.arg == Arg::SCRATCHPAD {
        return Ok(None);
    }
    if o.usage == Use::Out && memory.is_read_only() {
        return Err(Error::arg(o.arg, "memory that may only be read", "memory that may be written"));
    }
    let tensor = member.map_or(&o.tensor, |m| &m.tensors[i]);
    let need = |k: usize| desc.operand_bytes(i).filter(|_| k == 0).or_else(|| tensor.buffer_bytes(k));
    let mut part = None;
    for k in 0..tensor.buffers() {
        let (given, need) = (memory.regions().get(k), need(k).unwrap_or(usize::MAX));
        let Some(region) = given.filter(|b| b.len() >= need) else {
            let got = given.map_or("nothing".to_string(), |b| format!("{} bytes at {:p}", b.len(), b.as_ptr()));
            return Err(Error::arg(o.arg, got, format!("{need} bytes of {}", tensor.summary())));
        };
        let space = if memory.engine().is_none() { region.space() } else { desc.engine_of(o.arg).space() };
        if region.space() != space && need > 0 {
            let got = memory.engine().map(|e| format!("memory of {e}")).unwrap_or_default();
            return Err(Error::arg(o.arg, got, format!("memory that {} can address", desc.engine_of(o.arg))));
        }
        if tensor.buffers() == 1 && (memory.buffers() > 1 || region.len() > need) {
            part = Some(region.part(0, need));
        }
    }
    Ok(part)
}

/// The difference between memory of `got` and the expected description.
pub(crate) fn unlike(arg: Arg, got: &Tensor, expected: &Tensor) -> Error {
    if same_shape(expected, got) {
        let expected = format!("{expected}: reorder it, or describe the problem with that layout");
        return Error::arg(arg, format!("{got}, another layout"), expected);
    }
    Error::arg(arg, got.summary(), expected.summary())
}

/// Whether a size, stride or offset equals the expected one, which may be open.
fn same(expected: i64, got: i64) -> bool {
    expected == got || expected == RUNTIME
}

fn same_shape(expected: &Tensor, got: &Tensor) -> bool {
    let (dims, want) = (got.dims(), expected.dims());
    expected.dtype == got.dtype && dims.len() == want.len() && want.iter().zip(dims.iter()).all(|(&e, &g)| same(e, g))
}

/// Whether memory of `got` may be passed where `expected` is needed: equal, but for the values that `expected` leaves to run time. The
/// layout of an empty tensor does not matter.
pub(crate) fn fits(expected: &Tensor, got: &Tensor) -> bool {
    if expected == got {
        return true;
    }
    let shape = same_shape(expected, got);
    if !shape || (got.is_empty() && expected.blocking().is_some() && got.blocking().is_some()) {
        return shape;
    }
    let (true, Some(e), Some(g)) = (expected.layout.has_runtime(), expected.blocking(), got.blocking()) else { return false };
    let strides = e.strides.iter().zip(g.strides.iter()).zip(g.padded_dims.iter()).all(|((&e, &g), &d)| d == 1 || same(e, g));
    let padded = e.padded_dims.iter().zip(g.padded_dims.iter()).all(|(&e, &g)| same(e, g));
    strides && padded && same(e.offset, g.offset) && e.inner == g.inner && e.compensation == g.compensation
}

/// Whether `got` is a plain list of an operand's scales or zero points, whatever its dims.
pub(crate) fn is_list(o: &Operand<Tensor>, got: &Tensor) -> bool {
    let list = |t: &Tensor| t.layout == Layout::plain(*t.dims()).unwrap_or_else(|_| Layout::any(*t.dims()));
    let counts = (o.tensor.layout.elements(), got.layout.elements());
    o.arg.is_quantisation() && o.tensor.dtype == got.dtype && counts.0 == counts.1 && counts.0.is_some() && list(&o.tensor) && list(got)
}

/// The member of the sizes and strides that come with the memories.
pub(crate) fn runtime(
    desc: &PrimitiveDesc,
    family: &Family,
    memories: &[Option<&Memory<'_>>],
    matching: Matching,
) -> Result<Arc<Member>, Error> {
    let operands = desc.operands();
    family.member(|i| match memories[i].filter(|_| matching == Matching::Descriptions || gives_sizes(&operands[i])) {
        Some(memory) => memory.tensor(),
        None => &operands[i].tensor,
    })
}

/// Whether sizes or strides come with the memory of this operand. True only for the operation's own arguments, which have the lowest
/// numbers; those of attributes follow from them.
fn gives_sizes(o: &Operand<Tensor>) -> bool {
    o.arg < Arg::precomputed(Arg(0)) && o.tensor.layout.has_runtime()
}

/// Refuses memory that is written and also used by another argument, except for the in-place pairs of element-wise operations, in which the
/// worker that writes an element has read it. Memory from raw addresses is its maker's responsibility. Returns true where memory that is
/// written shares its count of users with another argument.
#[inline]
pub(crate) fn overlaps(desc: &PrimitiveDesc, memories: &[Option<&Memory<'_>>]) -> Result<bool, Error> {
    let mut aliased = false;
    for (i, (o, out)) in desc.operands().iter().zip(memories).enumerate() {
        let Some(out) = out.filter(|m| o.usage == Use::Out && m.is_checked()) else { continue };
        for (j, memory) in memories.iter().enumerate() {
            if j != i && memory.is_some_and(|m| m.aliases(out)) {
                aliased = true;
                overlap(desc, memories, (i, j))?;
            }
        }
    }
    Ok(aliased)
}

/// As [`overlaps`], of operand `i`, which is written, and operand `j`, whose users are counted together.
#[cold]
fn overlap(desc: &PrimitiveDesc, memories: &[Option<&Memory<'_>>], (i, j): (usize, usize)) -> Result<(), Error> {
    let (written, other) = (&desc.operands()[i], &desc.operands()[j]);
    let (Some(out), Some(memory)) = (memories[i], memories[j]) else { return Ok(()) };
    let in_place = || other.usage == Use::In && desc.problem().op.may_be_in_place(other.arg) && memory.is_same_place(out);
    if !memory.overlaps(out) || in_place() {
        return Ok(());
    }
    Err(Error::arg(written.arg, format!("memory that is also passed as {}", other.arg), "memory of its own"))
}

//! Reorders between engines: a reorder on the side whose memory the host cannot address, and a copy between the address spaces.
//!
//! The argument of the other engine is staged in scratch: a source is copied there before the reorder, a destination from there after it.
//! If the layouts are equal and nothing is computed, there is only the copy.

use crate::{Bound, Ctx, Engine, Exec, Plan, PrimitiveDesc};
use oxidnn_spec::{Arg, Attr, Error, Op, Problem, ScratchpadMode};
use std::sync::Arc;

/// Name of the implementation.
pub(crate) const NAME: &str = "transfer:any";

/// Alignment of the scratch after the staged tensor; the largest that devices require of addresses.
const ALIGNMENT: usize = 256;

/// Arguments that a reorder has at most: both tensors, scales and zero points of both, sum.
const ARGUMENTS: usize = 8;

#[derive(Debug)]
struct Transfer {
    problem: Problem,
    /// The argument that is not of the engine.
    foreign: Arg,
    /// Bytes of it that are staged; `None` for a copy alone.
    reorder: Option<(usize, Arc<PrimitiveDesc>)>,
}

/// How `engine` does `problem`, one of whose arguments is of another engine.
pub(crate) fn plan(engine: &Engine, foreign: &(Arg, Engine), problem: &Problem) -> Result<Box<dyn Plan>, Error> {
    let Op::Reorder(op) = &problem.op else {
        let kind = problem.op.kind();
        return Err(Error::invalid("operation", kind, "a reorder, which alone goes from one engine to another").with_problem(problem));
    };
    if op.src.layout.has_runtime() || op.dst.layout.has_runtime() {
        return Err(Error::invalid("sizes", "sizes that only the execution gives", "known sizes").with_problem(problem));
    }
    let plain = Attr { scratchpad: problem.attr.scratchpad, fpmath: problem.attr.fpmath, ..Attr::default() };
    if op.src == op.dst && problem.attr == plain {
        return Ok(Box::new(Transfer { problem: problem.clone(), foreign: foreign.0, reorder: None }));
    }
    let mut local = problem.clone();
    local.attr.scratchpad = ScratchpadMode::Library;
    let desc = PrimitiveDesc::new(engine, local)?;
    let staged = match foreign.1.space() == engine.space() {
        true => 0,
        false => desc.tensor(foreign.0).map_or(0, |t| t.bytes()),
    };
    let mut resolved = desc.problem().clone();
    resolved.attr.scratchpad = problem.attr.scratchpad;
    Ok(Box::new(Transfer { problem: resolved, foreign: foreign.0, reorder: Some((staged, Arc::new(desc))) }))
}

impl Plan for Transfer {
    fn problem(&self) -> &Problem {
        &self.problem
    }

    fn scratch_bytes(&self) -> usize {
        let inner = |d: &PrimitiveDesc| d.plan().scratch_bytes();
        self.reorder.as_ref().map_or(0, |(staged, desc)| staged.next_multiple_of(ALIGNMENT) + ALIGNMENT + inner(desc))
    }

    fn build(&self) -> Result<Arc<dyn Exec>, Error> {
        let reorder = self.reorder.as_ref().map(|(staged, desc)| Ok::<_, Error>((*staged, desc.plan().build()?))).transpose()?;
        Ok(Arc::new(Ready { foreign: self.foreign, reorder }))
    }
}

struct Ready {
    foreign: Arg,
    reorder: Option<(usize, Arc<dyn Exec>)>,
}

impl Exec for Ready {
    fn run(&self, ctx: &Ctx<'_>) -> Result<(), Error> {
        let Some((staged, exec)) = &self.reorder else {
            return ctx.copy(*ctx.region(Arg::SRC)?, *ctx.region(Arg::DST)?);
        };
        let foreign = *ctx.region(self.foreign)?;
        if *staged == 0 {
            return exec.run(ctx);
        }
        let skip = ctx.scratch.as_ptr().addr().next_multiple_of(ALIGNMENT) - ctx.scratch.as_ptr().addr();
        let (stage, rest) = (ctx.scratch.part(skip, *staged), skip + staged.next_multiple_of(ALIGNMENT));
        let scratch = ctx.scratch.part(rest, ctx.scratch.len() - rest);
        let stage = [stage];
        let first = *ctx.args.first().ok_or_else(|| Error::Runtime("no arguments".into()))?;
        let mut args = [first; ARGUMENTS];
        let args = args.get_mut(..ctx.args.len()).ok_or_else(|| Error::Runtime(format!("{} arguments of a reorder", ctx.args.len())))?;
        args.copy_from_slice(ctx.args);
        args.iter_mut().filter(|b: &&mut Bound<'_>| b.arg == self.foreign).for_each(|b| b.regions = &stage);
        let inner = Ctx { args, scratch, ..*ctx };
        match self.foreign {
            Arg::SRC => {
                ctx.copy(foreign.part(0, *staged), stage[0])?;
                exec.run(&inner)
            }
            _ => {
                exec.run(&inner)?;
                ctx.copy(stage[0], foreign.part(0, *staged))
            }
        }
    }
}

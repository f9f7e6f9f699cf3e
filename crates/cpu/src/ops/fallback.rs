//! `ref:any`, the last row of every table: the reference implementation, which takes everything that the specification defines.

use crate::decision::How;
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::{Scratch, booked};
use crate::row::{Kernel, RowPlan};
use crate::{CpuTarget, Isa};
use oxidnn_reference as reference;
use oxidnn_runtime::{Ctx, Decision, Impl, Plan, Skip};
use oxidnn_spec::{Arg, Error, Problem, Tensor};
use std::cell::Cell;
use std::sync::Arc;

/// Multiply-adds a cycle, as a prediction.
const MULTIPLY_ADDS_PER_CYCLE: f64 = 0.25;

/// The row.
pub const ROW: Impl<CpuTarget> = Impl::new("ref:any", plan).as_reference();

#[derive(Debug)]
struct Reference {
    problem: Problem,
    scratch: usize,
}

fn plan(problem: &Problem, _: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let problem = super::support::resolved(problem);
    let numbers = reference::scratch_len(&problem).checked_mul(2);
    let too_large = Skip::Shape("scratch of the reference exceeds the address space");
    let (Some(scratch), Some(scratch_bytes)) = (numbers, numbers.and_then(|n| booked(&[n]))) else { return Err(too_large) };
    let kernel = Arc::new(Reference { problem: problem.clone(), scratch });
    Ok(Box::new(RowPlan { problem, scratch_bytes, isa: Isa::Baseline, kernel }))
}

/// The arguments of an execution, as the reference reads them.
pub(super) struct Arguments<'a>(pub(super) &'a Ctx<'a>);

impl reference::Args for Arguments<'_> {
    fn tensor(&self, arg: Arg) -> Option<&Tensor> {
        self.0.bound(arg).map(|b| b.tensor)
    }
    fn data(&self, arg: Arg, buffer: usize) -> Option<&[Cell<u8>]> {
        self.0.bound(arg)?.regions.get(buffer)?.bytes().map(|b| b.cells())
    }
}

impl Kernel for Reference {
    fn decision(&self, problem: &Problem) -> Decision {
        How::new("the definition, element by element", MULTIPLY_ADDS_PER_CYCLE, 1)
            .registers("a sum in double precision", size_of::<f64>())
            .block("nothing: every element is looked up where it lies", problem.bytes())
            .decision(problem)
    }

    fn run(&self, _: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let numbers = scratch.take(self.scratch)?.into_slice();
        let numbers = bytemuck::try_cast_slice_mut::<f32, f64>(numbers);
        let numbers = numbers.map_err(|_| Error::Runtime("scratch is not aligned for 64-bit numbers".into()))?;
        reference::run(&self.problem, &Arguments(ctx), numbers)
    }
}

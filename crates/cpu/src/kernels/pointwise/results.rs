//! Results that kernels write in runs of memory: their epilogue, and the zeros of padded areas.

use super::pipeline::{Bound, Group, Lines, Padding, zero};
use super::program::{Builder, Draft, Over, Stage, Step};
use super::{CHUNK, Chunk, Kind, OPERANDS};
use crate::kernels::multiversion::Simd;
use oxidnn_runtime::{Buf, Ctx, Skip};
use oxidnn_spec::{Arg, DataType, Error};

/// The epilogue of a result, without post-ops that need positions.
#[derive(Debug)]
pub struct Results {
    epilogue: Group,
    stage: Stage,
    padding: Vec<Padding>,
    /// Whether elements are stored unchanged.
    plain: bool,
}

/// The memory of an execution's result.
pub struct Destination<'r> {
    results: &'r Results,
    bound: Bound<'r>,
}

/// The same with a task's registers.
pub struct Stores<'r> {
    to: &'r Destination<'r>,
    lines: Lines,
}

impl Results {
    /// The epilogue for the argument `result`.
    ///
    /// # Errors
    /// [`Skip`] for attributes with other tensors, for types and layouts.
    pub fn new(mut b: Builder<'_>, result: Arg) -> Result<Results, Skip> {
        let none = || Skip::Attr("with other tensors".into());
        b.group(b.all());
        b.stage(Over::All);
        b.argument(result)?;
        b.result(result)?;
        let space = *b.space();
        let (Draft { operands, mut stages, .. }, padding) = b.last_group().ok_or_else(none)?;
        let stage = stages.pop().filter(|_| operands.len() == 1).ok_or_else(none)?;
        let number = operands[0].kind == Kind::Number(DataType::F32);
        let plain = number && matches!(stage.steps[..], [Step::Store { from: 0, .. }]);
        Ok(Results { epilogue: Group { space, operands, stages: Vec::new(), grid: None }, stage, padding, plain })
    }

    /// The memory of an execution.
    ///
    /// # Errors
    /// If an argument is missing.
    pub fn bind<'r>(&'r self, ctx: &Ctx<'r>) -> Result<Destination<'r>, Error> {
        let mut to = Destination { results: self, bound: Bound::default() };
        self.epilogue.bind(ctx, Buf::empty(), &mut to.bound)?;
        Ok(to)
    }

    /// Zeroes the padded area.
    ///
    /// # Errors
    /// If an argument is missing.
    pub fn pad(&self, ctx: &Ctx<'_>) -> Result<(), Error> {
        for Padding { arg, dtype, nest } in &self.padding {
            zero(ctx, ctx.buf(*arg)?, dtype.bits(), nest);
        }
        Ok(())
    }
}

impl Destination<'_> {
    /// The state that a task stores with.
    pub fn stores(&self) -> Stores<'_> {
        Stores { to: self, lines: Lines::new() }
    }
}

impl Stores<'_> {
    /// Stores `values` as elements from `at` on.
    pub fn store(&mut self, simd: Simd, at: usize, values: &[f32]) {
        let Destination { results, bound: Bound { memory, .. } } = self.to;
        if results.plain {
            return memory[0].buf.write(at, values);
        }
        let one: [i64; OPERANDS] = std::array::from_fn(|t| i64::from(t == 0));
        let mut first = [0; OPERANDS];
        for (i, piece) in values.chunks(CHUNK).enumerate() {
            first[0] = (at + i * CHUNK) as i64;
            self.lines.0[0][..piece.len()].copy_from_slice(piece);
            let chunk = Chunk { at: first, run: piece.len(), rows: 1, inner: &one, outer: &one };
            results.stage.program(simd, memory, &chunk, &mut self.lines.0);
        }
    }
}

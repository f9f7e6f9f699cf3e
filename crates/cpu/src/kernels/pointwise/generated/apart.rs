//! Rows of vectors at a stride: blocks of channels, whose lanes are reduced too, and reduced dimensions that are not the innermost, where
//! each lane is a row.
//!
//! All stages process the vectors of a few rows before the next rows, so that what one stage has read is in a cache for the next, and rows
//! that stages pass on stay in L1.
//!
//! One of the few files with unsafe code: every address is checked against its buffer before the call.

use super::super::Nest;
use super::super::pipeline::{Bound, Group};
use super::super::program::{Over, Source};
use super::{
    ADDRESSES, Args, Call, Chunk, ENOUGH_TASKS, Fused, MOST, Memory, OPERANDS, Origin, Part, Rows, Spec, Way, check_formulas, element,
};
use crate::kernels::extent::{Written, reach};
use oxidnn_jit::{Entry, Isa};
use oxidnn_runtime::{Buf, Ctx, Skip};
use oxidnn_spec::Error;

/// Fewest elements of a task.
const MIN_TASK_ELEMENTS: i64 = 16 * 1024;

/// The vectors of a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Apart {
    /// Whole vectors, and the reduced lanes of a partial one after them.
    vectors: usize,
    left: usize,
    /// Elements from one vector to the next.
    step: usize,
    kept: bool,
}

impl Fused {
    /// The kernel of a group whose rows are vectors at a stride.
    ///
    /// # Errors
    /// [`Skip`] for other groups, for types and formulas that generated code does not have, and for operands with other strides.
    pub(super) fn apart(group: &Group, isa: Isa) -> Result<Fused, Skip> {
        let grid = group.grid.as_ref().ok_or(Skip::Shape("sizes known at execution only"))?;
        let (kept, reduced) = (&grid.kept, &grid.reduced);
        if reduced.volume() == 0 || kept.volume() == 0 {
            return Err(Skip::Shape("no elements"));
        }
        let stages: Vec<Part> = group.stages.iter().map(Part::of).collect();
        check_formulas(&stages)?;
        let used: Vec<usize> = (0..group.operands.len()).filter(|i| matches!(group.operands[*i].source, Source::Argument(_))).collect();
        let still = |i: usize| reduced.stands_still(i) && kept.step(i) == Some(0);
        let moving = used.iter().copied().filter(|i| !still(*i));
        let runs = reduced.runs_apart(moving.clone());
        let (half, whole) = (Isa::AVX2.width().lanes() as i64, isa.width().lanes() as i64);
        let (apart, isa) = match runs {
            Some(runs) if (runs.run == whole || runs.run == half) && runs.distance >= runs.run => {
                let (vectors, left) = (runs.count as usize, runs.left as usize);
                let isa = if runs.run == whole { isa } else { Isa::AVX2 };
                (Apart { vectors, left, step: runs.distance as usize, kept: false }, isa)
            }
            _ => {
                let apart = Apart { vectors: reduced.volume() as usize, left: 0, step: columns(kept, reduced, moving)?, kept: true };
                (apart, if kept.innermost(0).0 == half { Isa::AVX2 } else { isa })
            }
        };
        let lanes = if apart.kept { isa.width().lanes() as i64 } else { 1 };
        if grid.segments() != 1 && kept.volume() < ENOUGH_TASKS * lanes {
            return Err(Skip::Shape("few rows that are folded in parts"));
        }
        let mut operands = Vec::new();
        for (i, operand) in group.operands.iter().enumerate() {
            let way = match operand.source {
                Source::Table(_) => Way::Made,
                Source::Row => Way::Own,
                Source::Sums(_) => return Err(Skip::Layout("sums of rows that are not one run".into())),
                Source::Argument(_) if still(i) => Way::Still,
                Source::Argument(_) => Way::Moves,
            };
            let written = stages.iter().any(|s| s.writes(i) || s.folds.iter().any(|fold| fold.2 == i));
            let once = stages.iter().any(|s| s.over == Over::Kept && s.steps.iter().any(|step| step.operand() == Some(i)));
            let each = stages.iter().any(|s| s.over == Over::All && s.writes(i));
            if written && way == Way::Still || each && way == Way::Made || once && way == Way::Moves {
                return Err(Skip::Layout("a number for each row in memory".into()));
            }
            operands.push((element(operand)?, way));
        }
        if operands.iter().filter(|o| o.1 != Way::Made).count() > ADDRESSES || operands.len() > OPERANDS {
            return Err(Skip::Attr(format!("more than {ADDRESSES} tensors")));
        }
        let from = (0..operands.len()).map(Origin::Operand).collect();
        let spec = Spec::new(stages, operands, Rows::Apart { kept: apart.kept });
        let each = (MIN_TASK_ELEMENTS / reduced.volume()).max(lanes);
        // Whole runs of kept positions, or whole vectors of them.
        let run = kept.innermost(0).0;
        let grain = if run < each { each / run * run } else { (each + lanes - 1) / lanes * lanes };
        Ok(Fused {
            call: Call::new(spec, isa, from),
            folded: true,
            grain,
            rows: None,
            brought: Vec::new(),
            flat: false,
            streamed: Box::default(),
            apart: Some(apart),
            bytes: None,
        })
    }

    /// Runs the rows.
    pub(super) fn run_apart<'a>(
        &self,
        (code, apart): (&Entry<Args>, &Apart),
        group: &Group,
        ctx: &Ctx<'a>,
        tables: Buf<'a>,
    ) -> Result<(), Error> {
        let Some(grid) = &group.grid else { return Err(Error::Runtime("sizes that were not planned".into())) };
        let mut bound = Bound::default();
        group.bind(ctx, tables, &mut bound)?;
        let (kept, executor) = (grid.kept.volume(), ctx.executor());
        executor.run(self.workers(executor), ((kept + self.grain - 1) / self.grain) as usize, &|worker, task| {
            let memory = self.memory(&bound, worker, ctx);
            let first = task as i64 * self.grain;
            grid.kept.chunks(first..(first + self.grain).min(kept), i64::MAX, |chunk| self.call.run_apart(code, &memory, chunk, apart));
        });
        Ok(())
    }
}

/// Elements from one reduced position to the next, if there is one loop of them and kept positions are contiguous.
fn columns(kept: &Nest, reduced: &Nest, moving: impl Iterator<Item = usize>) -> Result<usize, Skip> {
    let mut step = None;
    for i in moving {
        let (count, distance) = reduced.innermost(i);
        if count != reduced.volume() || kept.step(i) != Some(1) || step.is_some_and(|step| step != distance) {
            return Err(Skip::Layout("neither neighbours nor rows at one distance".into()));
        }
        step = Some(distance);
    }
    step.map(|step| step as usize).ok_or(Skip::Op("no tensor"))
}

impl Apart {
    /// Elements of a worker's own row.
    pub(super) fn own(&self, lanes: usize) -> usize {
        (self.vectors + usize::from(self.left > 0)) * lanes
    }
}

impl Call {
    /// Runs the rows of a chunk of kept positions.
    ///
    /// # Panics
    /// If an element is outside its buffer.
    fn run_apart(&self, code: &Entry<Args>, memory: &[Memory<'_>; OPERANDS], chunk: &Chunk<'_>, apart: &Apart) {
        let lanes = self.isa.width().lanes();
        let (each, left) = if apart.kept { (lanes, chunk.run % lanes) } else { (1, apart.left) };
        let (rows, groups) = (chunk.run / each, chunk.run.div_ceil(each));
        let joint = self.spec.rows_together();
        let mut args = Args {
            planes: chunk.rows,
            joint: if joint > 1 { rows / joint } else { 0 },
            rows: if joint > 1 { rows % joint } else { rows },
            step: apart.step,
            together: 0,
            single: 0,
            vectors: apart.vectors,
            left,
            at: [std::ptr::null_mut(); MOST],
            row: [0; MOST],
            plane: [0; MOST],
        };
        let own = apart.own(lanes);
        for (slot, (i, (elem, way))) in self.spec.placed().enumerate() {
            let (size, to) = (elem.bytes(), Written::from(memory[i].buf));
            if way == Way::Own {
                (args.at[slot], args.row[slot]) = (to.at("a row", 0, (joint * own).checked_mul(size)), own * size);
                continue;
            }
            let [at, inner, outer] = [chunk.at[i], chunk.inner[i], chunk.outer[i]].map(|x| x as usize);
            // The last vector of a row: one lane, all lanes, or the remaining ones.
            let (vectors, last) = match (way, apart.kept, apart.left) {
                (Way::Moves, true, _) => (apart.vectors, 1),
                (Way::Moves, false, 0) => (apart.vectors, lanes),
                (Way::Moves, false, left) => (apart.vectors + 1, left),
                _ => (1, 1),
            };
            let elements = reach(&[(chunk.rows, outer), (chunk.run, inner), (vectors, apart.step)], last);
            args.at[slot] = to.at("operand", at.saturating_mul(size), elements.and_then(|n| n.checked_mul(size)));
            args.row[slot] = inner * each * size;
            args.plane[slot] = outer.wrapping_sub(inner.wrapping_mul(each * groups)).wrapping_mul(size);
        }
        // SAFETY: the elements of all vectors of all rows are inside the memory that was checked.
        unsafe { code.call(&args) }
    }
}

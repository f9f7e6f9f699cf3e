//! Stages as kernels of their own, over the chunks of their group's grid.

use super::super::fold;
use super::super::pipeline::{Group, Lines, Registers, Visit, Work};
use super::super::program::{Over, Source, Stage};
use super::super::{CHUNK, Chunk, Chunks, Kind, Nest, OPERANDS};
use super::{Args, Call, MOST, Origin, Own, Part, Rows, Spec, Step, Way, check_formulas, element};
use crate::kernels::multiversion::Simd;
use oxidnn_jit::ir::Elem;
use oxidnn_jit::{Entry, Isa};
use oxidnn_runtime::{Buf, Ctx, Skip};
use oxidnn_spec::Error;

/// Positions of a call down columns: what its columns share from vector to vector stays in L1.
const MAX_COLUMN_POSITIONS: usize = 8192;
/// Positions of a call along rows.
const MAX_ROW_POSITIONS: usize = 4 * MAX_COLUMN_POSITIONS;
/// Rows of a call: as many elements as f32 can add accurately.
const MAX_ROWS: usize = 1024;

/// The kernels of the stages of a group; `None` for stages that are interpreted: over kept positions, and with bits.
///
/// # Errors
/// [`Skip`] if another stage cannot be generated.
pub(super) fn calls(group: &Group, isa: Isa) -> Result<Vec<Option<Call>>, Skip> {
    let bits = |stage: &Stage| stage.steps.iter().filter_map(Step::operand).any(|i| group.operands[i].kind == Kind::Bits);
    let call = |stage: &Stage| match call(stage, group, isa) {
        Err(skip) if stage.over == Over::All && !bits(stage) => Err(skip),
        call => Ok(call.ok()),
    };
    group.stages.iter().map(call).collect()
}

/// How operand `i` goes along the positions of `along`, and along those of `across` if these are rows.
fn way(i: usize, along: &Nest, across: Option<&Nest>) -> Result<Way, Skip> {
    match along.step(i) {
        Some(0) => Ok(Way::Still),
        Some(1) if across.is_some_and(|nest| nest.stands_still(i)) => Ok(Way::Column),
        Some(1) => Ok(Way::Moves),
        _ => Err(Skip::Layout("operands that lie apart along a row".into())),
    }
}

fn call(stage: &Stage, group: &Group, isa: Isa) -> Result<Call, Skip> {
    let grid = group.grid.as_ref().ok_or(Skip::Shape("sizes known at execution only"))?;
    let by_kept = stage.by_kept(grid);
    let down = !by_kept && grid.columns;
    let (along, across) = if by_kept || down { (&grid.kept, down.then_some(&grid.reduced)) } else { (&grid.reduced, None) };
    // Kept positions become rows of the kernel, which runs over all of them. The total of a single element is the element.
    let mut part = Part { over: Over::All, ..Part::of(stage) };
    if by_kept {
        part.steps.extend(stage.folds.iter().map(|f| Step::Store { from: f.register, operand: f.operand }));
        part.folds.clear();
    }
    let mut used: Vec<usize> = Vec::new();
    for i in part.steps.iter().filter_map(Step::operand) {
        if !used.contains(&i) {
            used.push(i);
        }
    }
    if used.len() + part.folds.len() > MOST {
        return Err(Skip::Attr(format!("more than {MOST} tensors")));
    }
    let mut operands: Vec<(Elem, Way)> = Vec::new();
    let mut from: Vec<Origin> = Vec::new();
    for &i in &used {
        if group.operands[i].kind == Kind::Bits {
            if by_kept || part.writes(i) {
                return Err(Skip::DataType("bits".into()));
            }
            operands.push((Elem::U8, Way::Moves));
            from.push(Origin::Bits(i));
            continue;
        }
        if matches!(group.operands[i].source, Source::Row | Source::Sums(_)) {
            return Err(Skip::Shape("rows that are not one run"));
        }
        let way = way(i, along, across)?;
        if way != Way::Moves && part.writes(i) {
            return Err(Skip::Layout("a result that stands still along a row".into()));
        }
        operands.push((element(&group.operands[i])?, way));
        from.push(Origin::Operand(i));
    }
    let number = |i: usize| used.iter().position(|u| *u == i).unwrap_or(i);
    part.steps.iter_mut().for_each(|step| *step = step.with_operand(number));
    for (i, fold) in part.folds.iter_mut().enumerate() {
        fold.2 = operands.len();
        operands.push((Elem::F32, if down { Way::Moves } else { Way::Still }));
        from.push(Origin::Total(i));
    }
    let stages = vec![part];
    check_formulas(&stages)?;
    // With rows of half a vector, vectors of half the width need no mask.
    let isa = if along.run() == Some(Isa::AVX2.width().lanes() as i64) { Isa::AVX2 } else { isa };
    Ok(Call::new(Spec::new(stages, operands, if down { Rows::Down } else { Rows::Any }), isa, from))
}

/// The kernels of the stages of a group, with their code.
pub(super) struct Kernels<'g> {
    pub(super) group: &'g Group,
    pub(super) calls: &'g [Option<Call>],
    pub(super) codes: &'g [Option<Entry<Args>>],
}

/// Runs a group whose stages have kernels.
pub(super) fn run<'a>(of: Kernels<'_>, (simd, ctx): (Simd, &Ctx<'a>), space: [Buf<'a>; 2]) -> Result<(), Error> {
    of.group.run(ctx, space, &|work, lines| match of.calls[work.stage].as_ref().zip(of.codes[work.stage].as_ref()) {
        Some(call) => of.stage(call, simd, work, lines),
        None => of.group.stages[work.stage].run(simd, work, lines),
    })
}

/// Expands each bit of operand `t` of a chunk to a byte, row by row.
fn spread(buf: Buf<'_>, chunk: &Chunk<'_>, t: usize, bytes: &mut [u8]) {
    let (at, inner, outer) = (chunk.at[t] as usize, chunk.inner[t] as usize, chunk.outer[t] as usize);
    let mut run = |first: usize, (at, n): (usize, usize), step: usize| {
        let mut i = 0;
        while i < n {
            let (bits, count) = (buf.get::<u8>((at + i) / 8) >> ((at + i) % 8), (8 - (at + i) % 8).min(n - i));
            (0..count).for_each(|k| bytes[first + (i + k) * step] = bits >> k & 1);
            i += count;
        }
    };
    match (inner, outer) {
        (1, _) => (0..chunk.rows).for_each(|r| run(r * chunk.run, (at + r * outer, chunk.run), 1)),
        (_, 1) => (0..chunk.run).for_each(|j| run(j, (at + j * inner, chunk.rows), chunk.run)),
        _ => (0..chunk.positions()).for_each(|i| run(i, (at + i / chunk.run * outer + i % chunk.run * inner, 1), 1)),
    }
}

impl Kernels<'_> {
    /// Runs a stage by its kernel.
    fn stage(&self, (call, code): (&Call, &Entry<Args>), simd: Simd, work: &Work<'_>, lines: &mut Lines) {
        let (stage, grid, memory) = (&self.group.stages[work.stage], work.grid, &work.bound.memory);
        if stage.by_kept(grid) {
            return grid.kept.repeated(work.kept.clone(), |chunks| call.run(code, memory, None, chunks));
        }
        let narrow = call.isa.width().lanes() * call.spec.together(call.isa);
        let of_bits = call.from.iter().find_map(|from| if let Origin::Bits(i) = from { Some(*i) } else { None });
        let limit = |kept: usize| match grid.columns {
            _ if of_bits.is_some() => MAX_COLUMN_POSITIONS / kept,
            true if kept <= narrow => MAX_ROWS,
            true => (MAX_COLUMN_POSITIONS / kept).max(16),
            false => MAX_ROW_POSITIONS,
        };
        let mut bytes = of_bits.map(|_| [0; MAX_COLUMN_POSITIONS]);
        let bits = bytes.as_mut().map_or(&mut [][..], |b| &mut b[..]);
        let Lines(registers, folded) = lines;
        // With a single chunk, its totals are the result.
        let mut chunks = 0;
        grid.each(work.kept.clone(), work.reduced.clone(), (CHUNK, limit), |visit| match visit {
            Visit::Fresh(n) => {
                chunks = 0;
                stage.begin(folded, n);
            }
            Visit::Chunk(chunk) => {
                if let Some(i) = of_bits {
                    spread(memory[i].buf, chunk, i, bits);
                }
                let n = if grid.columns { chunk.run } else { chunk.rows };
                let mut fold = |registers: &mut Registers| {
                    for (i, (f, total)) in stage.folds.iter().zip(&mut *folded).enumerate() {
                        fold::columns(simd, f.op, &mut registers[i][..n], n, total);
                    }
                };
                if chunks == 1 {
                    fold(registers);
                }
                call.run(
                    code,
                    memory,
                    Some(Own { totals: &mut *registers, bits: &mut *bits }),
                    &Chunks { chunk: *chunk, count: 1, strides: &[0; OPERANDS] },
                );
                if chunks > 0 {
                    fold(registers);
                }
                chunks += 1;
            }
            Visit::Done(chunk) if chunks == 1 => {
                for ((f, to), total) in stage.folds.iter().zip(&work.bound.totals).zip(&*registers) {
                    to.store(simd, chunk, f.operand, total);
                }
            }
            Visit::Done(chunk) => stage.end(simd, work.bound, chunk, folded),
        });
    }
}

//! Execution of pipelines: positions are split into tasks, tasks into chunks, and chunks go through the programs of the stages.
//!
//! The split depends on the problem alone. If there are enough kept positions for enough tasks, a task takes a block of them through all
//! stages of the group, so that the data that a stage has read is in the cache for the next. Otherwise the reduced positions are split as
//! well: each stage ends before the next begins, and the totals of segments are combined in order.

use super::copy::{Zeros, clear};
use super::fold::{self, Totals};
use super::operand::Kind;
use super::program::{FOLDS, Operand, Over, REGISTERS, Source, Stage, Step};
use super::{CHUNK, Chunk, Counts, GRAIN, Memory, Nest, OPERANDS, Place, grain, random, split};
use crate::kernels::chain::{Formula, lanes};
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::Scratch;
use crate::row::Kernel;
use oxidnn_runtime::{Buf, Ctx, Element, Executor};
use oxidnn_spec::{Arg, DataType, Dims, Error};
use std::cell::Cell;
use std::ops::Range;

/// Tasks that a group should make before the reduced positions are split as well.
const MIN_GROUP_TASKS: i64 = 16;
/// Most segments of the reduced positions.
const MAX_SEGMENTS: i64 = 64;
/// Fewest kept positions of a task, if so many are contiguous.
const MIN_TASK_COLUMNS: i64 = 64;
/// Most positions that are folded as a whole, because one worker has their data in a cache.
const MAX_UNSPLIT_POSITIONS: i64 = 2 * GRAIN;
/// Most rows that are folded at the same time.
const MAX_FOLDED_ROWS: usize = 64;

/// Programs that run one after the other.
#[derive(Debug)]
pub struct Pipeline {
    pub(super) groups: Vec<Group>,
    pub(super) padding: Vec<Padding>,
    /// Arguments that are zeroed first, and which of their bytes.
    pub(super) cleared: Vec<(Arg, Range<usize>)>,
    /// Elements of all tables.
    pub(super) tables: usize,
}

/// The padded area of an output.
#[derive(Debug)]
pub(super) struct Padding {
    pub(super) arg: Arg,
    pub(super) dtype: DataType,
    pub(super) nest: Nest,
}

/// Stages over the same positions.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) space: Dims,
    pub(super) operands: Vec<Operand>,
    pub(super) stages: Vec<Stage>,
    /// `None` if sizes are known only at execution.
    pub(super) grid: Option<Grid>,
}

impl Group {
    /// The positions of a copy in 32-bit words.
    fn words(&self) -> Option<Nest> {
        let ([a, b], Some(grid)) = (&self.operands[..], &self.grid) else { return None };
        let moves = matches!(&self.stages[..], [stage] if matches!(stage.steps[..], [Step::Load { .. }, Step::Store { .. }]));
        let steps = [0, 1].map(|t| grid.kept.step(t));
        if moves && a.kind == b.kind && steps == [Some(1); 2] { grid.kept.words(a.kind.bits()) } else { None }
    }
}

/// The cost of a position over all stages, relative to moving one element, and the number of stages that run over all positions.
#[derive(Clone, Copy)]
pub(super) struct Cost {
    pub(super) weight: i64,
    pub(super) passes: usize,
}

impl Cost {
    /// The cost of moving an element.
    const MOVE: Cost = Cost { weight: 1, passes: 1 };
}

/// Kept times reduced positions, and how they are split.
#[derive(Debug)]
pub(super) struct Grid {
    pub(super) kept: Nest,
    pub(super) reduced: Nest,
    /// Whether chunks run along the kept positions, not along the reduced ones.
    pub(super) columns: bool,
    /// Kept positions of a task.
    pub(super) block: i64,
    /// Reduced positions of a task.
    segment: i64,
}

/// The part of a stage that a task does.
pub(super) struct Work<'w> {
    /// The stage's index in its group.
    pub(super) stage: usize,
    pub(super) grid: &'w Grid,
    pub(super) bound: &'w Bound<'w>,
    /// Ranges of kept and reduced positions.
    pub(super) kept: Range<i64>,
    pub(super) reduced: Range<i64>,
}

/// Totals of the registers that a stage folds.
pub(super) type Folded = [Totals; FOLDS];

/// The memory of a stage.
#[derive(Default)]
pub(super) struct Bound<'a> {
    pub(super) memory: [Memory<'a>; OPERANDS],
    /// Where totals go.
    pub(super) totals: [Memory<'a>; FOLDS],
}

pub(super) type Registers = [[f32; CHUNK]; REGISTERS];

/// Registers aligned to cache lines, so that no vector crosses one, and totals.
#[repr(align(64))]
pub(super) struct Lines(pub(super) Registers, pub(super) Folded);

thread_local! {
    /// The registers for a thread's tasks, while none uses them: initialising new ones takes as long as a small task.
    static LINES: Cell<Option<Box<Lines>>> = const { Cell::new(None) };
}

impl Lines {
    /// Calls `f` with registers of arbitrary contents.
    pub(super) fn lend<R>(f: impl FnOnce(&mut Lines) -> R) -> R {
        // A task within a task, or of a thread that is ending, gets its own.
        let lent = LINES.try_with(Cell::take).ok().flatten();
        let mut lines = lent.unwrap_or_else(|| Box::new(Lines::new()));
        let result = f(&mut lines);
        let _ = LINES.try_with(|lent| lent.set(Some(lines)));
        result
    }

    /// Zeros.
    pub(super) fn new() -> Lines {
        Lines([[0.0; CHUNK]; REGISTERS], [[0.0; CHUNK]; FOLDS])
    }
}

impl Grid {
    /// The grid of a space whose dimensions `kept` are kept; without a cost there is one task.
    pub(super) fn new(space: &Dims, kept: u32, places: &[Place], cost: Option<Cost>) -> Option<Grid> {
        let full = (0..space.len()).map(|d| 1 << d).sum::<u32>();
        let reduced = Nest::across(space, full & !kept, places)?;
        let kept = Nest::kept(space, kept, places)?;
        let (k, r) = (kept.volume(), reduced.volume());
        let ((k_size, k_stride), (r_size, r_stride)) = (kept.innermost(0), reduced.innermost(0));
        let columns = r_stride != 1 && (k_stride == 1 || k_size > r_size);
        let volume = k.checked_mul(r)?;
        let mut grid = Grid { kept, reduced, columns, block: k.max(1), segment: r.max(1) };
        // Bits in the order of memory need blocks of whole bytes, which `grain` is as long as there is one part.
        let down = columns && r > 1;
        let Some(cost) = cost.filter(|_| !down || volume > MAX_UNSPLIT_POSITIONS) else { return Some(grid) };
        // If a block of the layout limits the run, it is whole cache lines. Many short runs of data that is read only once are taken
        // together.
        let short = cost.passes == 1 && volume > MAX_UNSPLIT_POSITIONS && !columns && r_size < r;
        let least = match (down, short) {
            (true, _) => MIN_TASK_COLUMNS.min(k_size),
            (_, true) => GRAIN / r_size.max(1),
            _ => 1,
        };
        let block = if down { GRAIN / r } else { grain(volume, cost.weight) / r.max(1) };
        grid.block = block.max(least).clamp(1, k.max(1));
        let blocks = (k + grid.block - 1) / grid.block;
        if volume > MAX_UNSPLIT_POSITIONS && blocks < MIN_GROUP_TASKS && r > 1 {
            if columns {
                grid.block = grid.block.max(k_size.min(CHUNK as i64));
            }
            let segment = (GRAIN / grid.block).max(r / MAX_SEGMENTS + 1);
            grid.segment = (if short && segment > r_size { (segment + r_size - 1) / r_size * r_size } else { segment }).min(r);
        }
        Some(grid)
    }

    /// The same with `rows` kept positions a task, whose rows are whole.
    pub(super) fn in_tasks(self, rows: i64) -> Grid {
        Grid { block: rows, segment: self.reduced.volume().max(1), ..self }
    }

    /// Whether there are kept positions but no reduced ones.
    pub(super) fn folds_nothing(&self) -> bool {
        self.kept.volume() > 0 && self.reduced.volume() == 0
    }

    /// Kept positions of a task whose rows are folded by one kernel each; with one worker, all of few positions.
    pub(super) fn rows(&self, executor: &dyn Executor) -> i64 {
        let few = self.kept.volume().saturating_mul(self.reduced.volume()) <= MAX_UNSPLIT_POSITIONS;
        if executor.threads() == 1 && few { self.kept.volume().max(1) } else { self.block }
    }

    /// Kept positions of a task that runs its stages one by one, each of which has a start-up time.
    fn staged(&self) -> i64 {
        let (kept, reduced) = (self.kept.volume(), self.reduced.volume());
        match reduced {
            0 | 1 => self.block,
            _ if kept.saturating_mul(reduced) <= MAX_UNSPLIT_POSITIONS => kept.max(1),
            _ => self.block.max((GRAIN / reduced).min(kept)),
        }
    }

    pub(super) fn segments(&self) -> i64 {
        (self.reduced.volume() + self.segment - 1) / self.segment
    }

    /// The totals of a segment in one of its folds, by kept positions.
    fn partial<'a>(&self, partials: Buf<'a>, fold: usize, segment: i64) -> Buf<'a> {
        let kept = self.kept.volume() as usize;
        partials.part(4 * (fold * self.segments() as usize + segment as usize) * kept, 4 * kept)
    }

    /// Elements of scratch for the totals of segments.
    pub(super) fn partials(&self) -> usize {
        if self.segments() > 1 { FOLDS * (self.segments() * self.kept.volume()) as usize } else { 0 }
    }

    /// Calls `f` for every chunk of a stage over all positions in the ranges, with [`Visit::Fresh`] before and [`Visit::Done`] after the
    /// chunks of the same kept positions. At most `limit` kept positions are taken at a time, and with `n` of these `with(n)` reduced ones.
    pub(super) fn each(
        &self,
        kept: Range<i64>,
        reduced: Range<i64>,
        (limit, with): (usize, impl Fn(usize) -> usize),
        mut f: impl FnMut(Visit<'_>),
    ) {
        self.kept.runs(kept, limit, |k| {
            f(Visit::Fresh(k.len));
            self.reduced.runs(reduced.clone(), with(k.len), |r| {
                let at = std::array::from_fn(|t| k.at[t] + r.at[t]);
                f(Visit::Chunk(&if self.columns {
                    Chunk { at, run: k.len, inner: k.strides, rows: r.len, outer: r.strides }
                } else {
                    Chunk { at, run: r.len, inner: r.strides, rows: k.len, outer: k.strides }
                }));
            });
            f(Visit::Done(&Chunk { at: k.at, run: k.len, inner: k.strides, rows: 1, outer: k.strides }));
        });
    }
}

/// What [`Grid::each`] visits.
pub(super) enum Visit<'a> {
    /// The begin of this many kept positions.
    Fresh(usize),
    /// Some of their reduced positions.
    Chunk(&'a Chunk<'a>),
    /// The kept positions whose reduced ones have all been visited.
    Done(&'a Chunk<'a>),
}

impl Group {
    /// Whether the rows of each task are added up.
    pub(super) fn has_sums(&self) -> bool {
        self.operands.iter().any(|o| matches!(o.source, Source::Sums(_)))
    }

    /// Binds the memory of the operands; tables are parts of `tables`.
    pub(super) fn bind<'a>(&self, ctx: &Ctx<'a>, tables: Buf<'a>, bound: &mut Bound<'a>) -> Result<(), Error> {
        for (m, o) in bound.memory.iter_mut().zip(&self.operands) {
            let buf = match o.source {
                Source::Argument(arg) => ctx.buf(arg)?,
                Source::Table(at) | Source::Sums(at) => tables.part(4 * at, tables.len() - 4 * at),
                Source::Row => Buf::empty(),
            };
            *m = Memory { buf, kind: o.kind };
        }
        Ok(())
    }

    /// The grid for the sizes of the arguments.
    fn late(&self, ctx: &Ctx<'_>) -> Result<Grid, Error> {
        let mut places: [Place; OPERANDS] = std::array::from_fn(|_| Place::single(self.space.len()));
        let mut space = self.space;
        for (slot, o) in places.iter_mut().zip(&self.operands) {
            *slot = match (&o.place, o.source) {
                (None, Source::Argument(arg)) => {
                    let tensor = ctx.bound(arg).map(|b| b.tensor).ok_or_else(|| Error::arg(arg, "nothing", "a memory object"))?;
                    for (s, d) in space.iter_mut().zip(tensor.dims().iter()).filter(|(s, _)| **s < 0) {
                        *s = *d;
                    }
                    Place::of(&tensor.layout).ok_or_else(|| Error::arg(arg, "a layout with runtime sizes", "one without"))?
                }
                (place, _) => place.clone().unwrap_or_else(|| Place::single(self.space.len())),
            };
        }
        let whole = self.operands.iter().any(|o| o.kind.bits() < 8);
        Grid::new(&space, u32::MAX, &places[..self.operands.len()], (!whole).then_some(Cost::MOVE))
            .ok_or_else(|| Error::Runtime("blocks of the arguments do not nest".into()))
    }

    /// Runs all stages, each as tasks for `execute`.
    pub(super) fn run<'a>(&self, ctx: &Ctx<'a>, [tables, partials]: [Buf<'a>; 2], execute: &Execute<'_>) -> Result<(), Error> {
        let mut bound = Bound::default();
        self.bind(ctx, tables, &mut bound)?;
        let late;
        let grid = match &self.grid {
            Some(grid) => grid,
            None => {
                late = self.late(ctx)?;
                &late
            }
        };
        let (kept, reduced) = (grid.kept.volume(), grid.reduced.volume());
        if grid.segments() <= 1 {
            split(ctx.executor(), kept, grid.staged(), &|range| {
                Lines::lend(|lines| {
                    for (index, stage) in self.stages.iter().enumerate() {
                        let mut totals = [Memory::default(); FOLDS];
                        for (t, f) in totals.iter_mut().zip(&stage.folds) {
                            *t = bound.memory[f.operand];
                        }
                        let bound = Bound { memory: bound.memory, totals };
                        execute(&Work { stage: index, grid, bound: &bound, kept: range.clone(), reduced: 0..reduced }, lines);
                    }
                });
            });
            return Ok(());
        }
        // A few workers take blocks through all stages, so that what one stage has read is in a cache for the next. Segments are the same
        // either way.
        let (executor, blocks) = (ctx.executor(), (kept + grid.block - 1) / grid.block);
        if executor.threads() as i64 <= blocks {
            executor.run(executor.threads(), blocks as usize, &|_, block| {
                let range = block as i64 * grid.block..((block as i64 + 1) * grid.block).min(kept);
                Lines::lend(|lines| {
                    for (index, stage) in self.stages.iter().enumerate() {
                        for segment in 0..stage.segments(grid) {
                            Segment { grid, bound: &bound, partials, stage: index, index: segment }.run(range.clone(), execute, lines);
                        }
                        stage.join((grid, &bound), range.clone(), partials);
                    }
                });
            });
            return Ok(());
        }
        for (index, stage) in self.stages.iter().enumerate() {
            executor.run(executor.threads(), (blocks * stage.segments(grid)) as usize, &|_, task| {
                let (block, segment) = (task as i64 % blocks, task as i64 / blocks);
                let range = block * grid.block..((block + 1) * grid.block).min(kept);
                let segment = Segment { grid, bound: &bound, partials, stage: index, index: segment };
                Lines::lend(|lines| segment.run(range, execute, lines));
            });
            stage.join((grid, &bound), 0..kept, partials);
        }
        Ok(())
    }
}

/// A segment of the reduced positions of a stage, and where its totals go.
struct Segment<'s> {
    grid: &'s Grid,
    bound: &'s Bound<'s>,
    partials: Buf<'s>,
    stage: usize,
    index: i64,
}

impl Segment<'_> {
    /// Runs it for some kept positions.
    fn run(&self, kept: Range<i64>, execute: &Execute<'_>, lines: &mut Lines) {
        let Segment { grid, partials, stage, .. } = *self;
        let totals = std::array::from_fn(|f| Memory { buf: grid.partial(partials, f, self.index), kind: Kind::Number(DataType::F32) });
        let bound = Bound { memory: self.bound.memory, totals };
        let start = self.index * grid.segment;
        let reduced = start..(start + grid.segment).min(grid.reduced.volume());
        execute(&Work { stage, grid, bound: &bound, kept, reduced }, lines);
    }
}

/// Does a task of a stage, with registers that are lent to it.
pub(super) type Execute<'e> = dyn Fn(&Work<'_>, &mut Lines) + Sync + 'e;

impl Stage {
    /// Whether it visits only kept positions.
    pub(super) fn by_kept(&self, grid: &Grid) -> bool {
        self.over == Over::Kept || grid.reduced.volume() == 1
    }

    /// Number of segments of the positions that it visits.
    fn segments(&self, grid: &Grid) -> i64 {
        if self.over == Over::Kept { 1 } else { grid.segments() }
    }

    /// Combines the totals of segments for some kept positions.
    fn join(&self, (grid, bound): (&Grid, &Bound<'_>), kept: Range<i64>, partials: Buf<'_>) {
        for (i, f) in self.folds.iter().enumerate() {
            grid.kept.runs(kept.clone(), CHUNK, |run| {
                let (at, step) = (run.at[f.operand] as usize, run.strides[f.operand] as usize);
                let (mut all, mut numbers) = ([f.op.neutral(); CHUNK], [0.0f32; CHUNK]);
                let (all, numbers) = (&mut all[..run.len], &mut numbers[..run.len]);
                for segment in 0..self.segments(grid) {
                    let part = grid.partial(partials, i, segment);
                    match step {
                        1 => part.read(at, numbers),
                        _ => numbers.iter_mut().enumerate().for_each(|(k, n)| *n = part.get(at + k * step)),
                    }
                    all.iter_mut().zip(&*numbers).for_each(|(a, b)| *a = f.op.apply(*a, f64::from(*b)));
                }
                let to = bound.memory[f.operand].buf;
                all.iter().enumerate().for_each(|(k, a)| to.set(at + k * step, *a as f32));
            });
        }
    }

    /// Initialises the totals of `n` kept positions.
    pub(super) fn begin(&self, folded: &mut Folded, n: usize) {
        for (f, total) in self.folds.iter().zip(folded) {
            total[..n].fill(f.op.neutral());
        }
    }

    /// Stores the totals of the kept positions of a chunk.
    pub(super) fn end(&self, simd: Simd, bound: &Bound<'_>, chunk: &Chunk<'_>, folded: &Folded) {
        for ((f, total), to) in self.folds.iter().zip(folded).zip(&bound.totals) {
            let mut values = [0.0; CHUNK];
            for (v, t) in values.iter_mut().zip(&total[..chunk.positions()]) {
                *v = *t as f32;
            }
            to.store(simd, chunk, f.operand, &values);
        }
    }

    /// Interprets the stage.
    pub(super) fn run(&self, simd: Simd, work: &Work<'_>, lines: &mut Lines) {
        let (grid, bound, Lines(registers, folded)) = (work.grid, work.bound, lines);
        if self.by_kept(grid) {
            grid.kept.walk(work.kept.clone(), |chunk| {
                self.program(simd, &bound.memory, chunk, registers);
                for (f, to) in self.folds.iter().zip(&bound.totals) {
                    to.store(simd, chunk, f.operand, &registers[f.register]);
                }
            });
            return;
        }
        let inner = grid.reduced.innermost(0).0.max(1) as usize;
        let limit = if grid.columns { CHUNK } else { (CHUNK / inner.min(CHUNK)).clamp(1, MAX_FOLDED_ROWS) };
        grid.each(work.kept.clone(), work.reduced.clone(), (limit, |kept| CHUNK / kept), |visit| match visit {
            Visit::Fresh(n) => self.begin(folded, n),
            Visit::Chunk(chunk) => {
                self.program(simd, &bound.memory, chunk, registers);
                for (f, total) in self.folds.iter().zip(&mut *folded) {
                    let x = &mut registers[f.register][..chunk.positions()];
                    if grid.columns { fold::columns(simd, f.op, x, chunk.run, total) } else { fold::rows(simd, f.op, x, chunk.run, total) }
                }
            }
            Visit::Done(chunk) => self.end(simd, bound, chunk, folded),
        });
    }

    pub(super) fn program(&self, simd: Simd, memory: &[Memory<'_>; OPERANDS], chunk: &Chunk<'_>, registers: &mut Registers) {
        let n = chunk.positions();
        for step in &self.steps {
            match *step {
                Step::Load { to, operand } => memory[operand].load(simd, chunk, operand, &mut registers[to]),
                Step::Store { from, operand } => memory[operand].store(simd, chunk, operand, &registers[from]),
                Step::Copy { to, from } => {
                    if let Ok([to, from]) = registers.get_disjoint_mut([to, from]) {
                        to[..n].copy_from_slice(&from[..n]);
                    }
                }
                Step::Apply { at, formula } => apply(simd, formula, registers, at, n),
                Step::With { at, alg, operand } => match memory[operand].constant(simd, chunk, operand) {
                    Some(y) => lanes::constant(simd, alg, &mut registers[at][..n], y),
                    None => {
                        memory[operand].load(simd, chunk, operand, &mut registers[at + 1]);
                        apply(simd, Formula::Binary(alg), registers, at, n);
                    }
                },
                Step::Drop(drop) => {
                    let (x, rest) = registers.split_at_mut(1);
                    random::drop_out(simd, &drop, memory, chunk, [&mut x[0], &mut rest[0]]);
                    drop.mask.iter().for_each(|mask| memory[*mask].store(simd, chunk, *mask, &rest[0]));
                }
                Step::Round(round) => random::round(simd, &round, memory, chunk, &mut registers[0]),
            }
        }
    }
}

/// `r[at] = f(r[at], r[at + 1], r[at + 2])` for the first `n` elements.
fn apply(simd: Simd, formula: Formula, registers: &mut Registers, at: usize, n: usize) {
    let (x, rest) = registers.split_at_mut(at + 1);
    let operand = |i: usize| rest.get(i).or(rest.first()).map_or(&[][..], |y| &y[..n]);
    lanes::apply(simd, formula, &mut x[at][..n], [operand(0), operand(1)]);
}

impl Pipeline {
    /// Whether it is made one of copies in 32-bit words, bit by bit: groups that only copy elements, which are contiguous everywhere and fill words.
    pub fn copy_words(&mut self) -> bool {
        let Some(nests) = self.groups.iter().map(Group::words).collect::<Option<Vec<_>>>() else { return false };
        for (Group { operands, grid, .. }, nest) in self.groups.iter_mut().zip(nests) {
            operands.iter_mut().for_each(|o| o.kind = Kind::Number(DataType::F32));
            grid.iter_mut().zip(Some(nest)).for_each(|(grid, nest)| grid.kept = nest);
        }
        true
    }

    /// The memory of tables, and that of the totals of segments.
    pub(super) fn space<'a>(&self, ctx: &Ctx<'a>) -> [Buf<'a>; 2] {
        let tables = 4 * self.tables;
        [ctx.scratch_buf().part(0, tables), ctx.scratch_buf().part(tables, ctx.scratch.len() - tables)]
    }

    /// What is done before and after the groups; `run` runs each group, by index.
    pub(super) fn around(&self, ctx: &Ctx<'_>, mut run: impl FnMut(usize, &Group) -> Result<(), Error>) -> Result<(), Error> {
        for (arg, bytes) in &self.cleared {
            let buf = ctx.buf(*arg)?;
            clear(ctx.executor(), buf.part(bytes.start, bytes.end.min(buf.len()) - bytes.start));
        }
        self.groups.iter().enumerate().try_for_each(|(index, group)| run(index, group))?;
        for Padding { arg, dtype, nest } in &self.padding {
            zero(ctx, ctx.buf(*arg)?, dtype.bits(), nest);
        }
        Ok(())
    }
}

impl Pipeline {
    /// What a pipeline of one group counts, and zeroing the padded areas of its results.
    pub fn counts(&self) -> Option<(Counts, Zeros)> {
        let [Group { grid: Some(grid), .. }] = &self.groups[..] else { return None };
        let mut zeros = Counts::default();
        for padding in &self.padding {
            let more = padding.nest.counts(0, CHUNK as i64);
            zeros.iter_mut().flatten().zip(more.iter().flatten()).for_each(|(sum, n)| *sum += n);
        }
        let cleared = self.cleared.iter().map(|(_, bytes)| bytes.len()).sum();
        Some((grid.kept.counts(1, CHUNK as i64), (zeros, cleared)))
    }
}

impl Kernel for Pipeline {
    fn run(&self, simd: Simd, ctx: &Ctx<'_>, _scratch: Scratch<'_>) -> Result<(), Error> {
        let space = self.space(ctx);
        self.around(ctx, |_, group| group.run(ctx, space, &|work, lines| group.stages[work.stage].run(simd, work, lines)))
    }
}

/// Zeroes all bits of the elements of `bits` bits at the positions of `nest`, whose only operand is `buf`.
pub(super) fn zero(ctx: &Ctx<'_>, buf: Buf<'_>, bits: usize, nest: &Nest) {
    let grain = if bits >= 8 { GRAIN } else { i64::MAX };
    split(ctx.executor(), nest.volume(), grain, &|range| {
        nest.chunks(range, i64::MAX, |chunk| match bits {
            4 => each(chunk, |at| buf.set(at / 2, buf.get::<u8>(at / 2) & 15 << ((at + 1) % 2 * 4))),
            8 => zeros::<u8>(buf, chunk),
            16 => zeros::<u16>(buf, chunk),
            32 => zeros::<u32>(buf, chunk),
            _ => zeros::<u64>(buf, chunk),
        });
    });
}

fn zeros<T: Element>(buf: Buf<'_>, chunk: &Chunk<'_>) {
    if chunk.inner[0] != 1 {
        return each(chunk, |at| buf.set(at, T::zeroed()));
    }
    let (start, row) = (chunk.at[0] as usize, chunk.outer[0] as usize);
    // Ends of blocks are short: they are written without a call.
    macro_rules! short {
        ($($n:literal)*) => {
            match chunk.run {
                $($n => (0..chunk.rows).for_each(|r| buf.write(start + r * row, &[T::zeroed(); $n])),)*
                _ => (0..chunk.rows).for_each(|r| buf.part((start + r * row) * size_of::<T>(), chunk.run * size_of::<T>()).fill(0)),
            }
        };
    }
    short!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
}

/// Calls `f` with the index of every element of a chunk's first operand.
fn each(chunk: &Chunk<'_>, f: impl Fn(usize)) {
    let [start, row, step] = [chunk.at, *chunk.outer, *chunk.inner].map(|t| t[0] as usize);
    for r in 0..chunk.rows {
        (0..chunk.run).for_each(|j| f(start + r * row + j * step));
    }
}

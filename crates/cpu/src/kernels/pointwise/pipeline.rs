//! Execution of pipelines: positions split into tasks, tasks into chunks, chunks through the programs of the stages.
//!
//! How positions are split is a function of the problem. Where enough kept positions make enough tasks, a task takes a block of them through all
//! stages of the group, so that what one stage has read is in the cache for the next. Otherwise the reduced positions are split too, each
//! stage ends before the next begins, and what segments have folded is put together in their order.

use super::fold::{self, Totals};
use super::formula;
use super::operand::Kind;
use super::program::{FOLDS, Operand, Over, REGISTERS, Source, Stage, Step};
use super::{CHUNK, Chunk, GRAIN, Memory, Nest, OPERANDS, Place, split};
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::Scratch;
use crate::row::Kernel;
use oxidnn_runtime::{Buf, Ctx, Element};
use oxidnn_spec::op::BinaryAlg;
use oxidnn_spec::{Arg, DataType, Dims, Error};
use std::ops::Range;

/// Tasks that a group should make before the reduced positions are split too.
const ENOUGH_TASKS: i64 = 16;
/// The largest number of segments of the reduced positions.
const SEGMENTS: i64 = 64;
/// Kept positions of a task at least, where neighbours lie in one cache line.
const COLUMNS: i64 = 64;
/// Rows that are folded side by side at most.
const ROWS: usize = 64;

/// Programs that run one after the other.
#[derive(Debug)]
pub struct Pipeline {
    pub(super) groups: Vec<Group>,
    pub(super) padding: Vec<Padding>,
    /// Arguments that begin as zeros, from a byte on.
    pub(super) cleared: Vec<(Arg, usize)>,
    /// Numbers of all tables.
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
    /// `None` where sizes are known only at execution.
    pub(super) grid: Option<Grid>,
}

/// Kept times reduced positions, and how they are split.
#[derive(Debug)]
pub(super) struct Grid {
    pub(super) kept: Nest,
    pub(super) reduced: Nest,
    /// Chunks run along the kept positions, not along the reduced ones.
    columns: bool,
    /// Kept positions of a task.
    pub(super) block: i64,
    /// Reduced positions of a task.
    segment: i64,
}

/// The memory that a stage works on.
pub(super) struct Bound<'a> {
    pub(super) memory: [Memory<'a>; OPERANDS],
    /// Where folds go.
    totals: [Memory<'a>; FOLDS],
}

pub(super) type Registers = [[f32; CHUNK]; REGISTERS];

/// Registers in whole cache lines: no vector of theirs crosses one.
#[repr(align(64))]
pub(super) struct Lines(pub(super) Registers);

impl Lines {
    /// Zeros.
    pub(super) fn new() -> Lines {
        Lines([[0.0; CHUNK]; REGISTERS])
    }
}

impl Grid {
    /// The grid of a space whose dimensions `kept` are kept; `whole` keeps it in one task.
    pub(super) fn new(space: &Dims, kept: u32, places: &[Place], whole: bool) -> Option<Grid> {
        let full = (0..space.len()).map(|d| 1 << d).sum::<u32>();
        let reduced = Nest::across(space, full & !kept, places)?;
        let kept = Nest::kept(space, kept, places)?;
        let (k, r) = (kept.volume(), reduced.volume());
        let ((k_size, k_stride), (r_size, r_stride)) = (kept.innermost(0), reduced.innermost(0));
        let columns = r_stride != 1 && (k_stride == 1 || k_size > r_size);
        let volume = k.checked_mul(r)?;
        let mut grid = Grid { kept, reduced, columns, block: k.max(1), segment: r.max(1) };
        // Bits in the order of memory need blocks of whole bytes, which `GRAIN` is as long as there is one part.
        if whole || volume <= 2 * GRAIN {
            return Some(grid);
        }
        grid.block = (GRAIN / r).max(if columns { COLUMNS } else { 1 }).min(k);
        let blocks = (k + grid.block - 1) / grid.block;
        if blocks < ENOUGH_TASKS && r > 1 {
            grid.segment = (GRAIN / grid.block).max(r / SEGMENTS + 1).min(r);
        }
        Some(grid)
    }

    /// True when there are kept positions but no reduced ones.
    pub(super) fn folds_nothing(&self) -> bool {
        self.kept.volume() > 0 && self.reduced.volume() == 0
    }

    pub(super) fn segments(&self) -> i64 {
        (self.reduced.volume() + self.segment - 1) / self.segment
    }

    /// Numbers of scratch for what segments fold.
    pub(super) fn partials(&self) -> usize {
        if self.segments() > 1 { FOLDS * (self.segments() * self.kept.volume()) as usize } else { 0 }
    }

    /// Calls `chunk` for every chunk of a stage over all positions in the ranges; `fresh` before and `done` after those of the same kept positions.
    fn each(&self, kept: Range<i64>, reduced: Range<i64>, mut f: impl FnMut(Visit<'_>)) {
        let inner = self.reduced.innermost(0).0.max(1) as usize;
        let limit = if self.columns { CHUNK } else { (CHUNK / inner.min(CHUNK)).clamp(1, ROWS) };
        self.kept.runs(kept, limit, |k| {
            f(Visit::Fresh(k.len));
            self.reduced.runs(reduced.clone(), CHUNK / k.len, |r| {
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

enum Visit<'a> {
    Fresh(usize),
    Chunk(&'a Chunk<'a>),
    Done(&'a Chunk<'a>),
}

impl Group {
    /// Memory of the operands; tables are parts of `tables`.
    pub(super) fn bind<'a>(&self, ctx: &Ctx<'a>, tables: Buf<'a>) -> Result<Bound<'a>, Error> {
        let mut memory = [Memory::default(); OPERANDS];
        for (m, o) in memory.iter_mut().zip(&self.operands) {
            let buf = match o.source {
                Source::Argument(arg) => ctx.buf(arg)?,
                Source::Table(at) => tables.part(4 * at, tables.len() - 4 * at),
            };
            *m = Memory { buf, kind: o.kind };
        }
        Ok(Bound { memory, totals: [Memory::default(); FOLDS] })
    }

    /// The grid for the sizes that the arguments have.
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
        Grid::new(&space, u32::MAX, &places[..self.operands.len()], whole)
            .ok_or_else(|| Error::Runtime("blocks of the arguments do not nest".into()))
    }

    fn run(&self, simd: Simd, ctx: &Ctx<'_>, tables: Buf, partials: Buf) -> Result<(), Error> {
        let bound = self.bind(ctx, tables)?;
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
            split(ctx.executor(), kept, grid.block, &|range| {
                let mut registers = Lines::new();
                for stage in &self.stages {
                    let mut totals = [Memory::default(); FOLDS];
                    for (t, f) in totals.iter_mut().zip(&stage.folds) {
                        *t = bound.memory[f.operand];
                    }
                    let bound = Bound { memory: bound.memory, totals };
                    stage.run(simd, grid, &bound, (range.clone(), 0..reduced), &mut registers.0);
                }
            });
            return Ok(());
        }
        for stage in &self.stages {
            self.segmented(simd, ctx, grid, &bound, stage, partials);
        }
        Ok(())
    }

    /// Runs one stage with its reduced positions in segments, then puts together what they have folded.
    fn segmented(&self, simd: Simd, ctx: &Ctx<'_>, grid: &Grid, bound: &Bound, stage: &Stage, partials: Buf) {
        let (kept, reduced) = (grid.kept.volume(), grid.reduced.volume());
        let segments = if stage.over == Over::Kept { 1 } else { grid.segments() };
        let blocks = (kept + grid.block - 1) / grid.block;
        let part = |fold: usize, segment: i64| {
            partials.part(4 * (fold * grid.segments() as usize + segment as usize) * kept as usize, 4 * kept as usize)
        };
        ctx.executor().run(ctx.executor().threads(), (blocks * segments) as usize, &|_, task| {
            let (block, segment) = (task as i64 % blocks, task as i64 / blocks);
            let (k, r) = (block * grid.block, segment * grid.segment);
            let totals = std::array::from_fn(|f| Memory { buf: part(f, segment), kind: Kind::Number(DataType::F32) });
            let bound = Bound { memory: bound.memory, totals };
            let range = (k..(k + grid.block).min(kept), r..(r + grid.segment).min(reduced));
            stage.run(simd, grid, &bound, range, &mut Lines::new().0);
        });
        for (i, f) in stage.folds.iter().enumerate() {
            for k in 0..kept as usize {
                let all = (0..segments).map(|s| f64::from(part(i, s).get::<f32>(k)));
                bound.memory[f.operand].buf.set(k, all.fold(f.op.neutral(), |a, b| f.op.apply(a, b)) as f32);
            }
        }
    }
}

impl Stage {
    fn run(&self, simd: Simd, grid: &Grid, bound: &Bound, (kept, reduced): (Range<i64>, Range<i64>), registers: &mut Registers) {
        if self.over == Over::Kept || grid.reduced.volume() == 1 {
            grid.kept.walk(kept, |chunk| {
                self.program(simd, &bound.memory, chunk, registers);
                for (f, to) in self.folds.iter().zip(&bound.totals) {
                    to.store(simd, chunk, f.operand, &registers[f.register]);
                }
            });
            return;
        }
        let mut totals: [Totals; FOLDS] = [[0.0; CHUNK]; FOLDS];
        grid.each(kept, reduced, |visit| match visit {
            Visit::Fresh(n) => {
                for (f, total) in self.folds.iter().zip(&mut totals) {
                    total[..n].fill(f.op.neutral());
                }
            }
            Visit::Chunk(chunk) => {
                self.program(simd, &bound.memory, chunk, registers);
                for (f, total) in self.folds.iter().zip(&mut totals) {
                    let x = &mut registers[f.register][..chunk.positions()];
                    if grid.columns { fold::columns(simd, f.op, x, chunk.run, total) } else { fold::rows(simd, f.op, x, chunk.run, total) }
                }
            }
            Visit::Done(chunk) => {
                for ((f, total), to) in self.folds.iter().zip(&totals).zip(&bound.totals) {
                    let mut values = [0.0; CHUNK];
                    for (v, t) in values.iter_mut().zip(&total[..chunk.positions()]) {
                        *v = *t as f32;
                    }
                    to.store(simd, chunk, f.operand, &values);
                }
            }
        });
    }

    pub(super) fn program(&self, simd: Simd, memory: &[Memory; OPERANDS], chunk: &Chunk<'_>, registers: &mut Registers) {
        let n = chunk.positions();
        for step in &self.steps {
            match *step {
                Step::Load { to, operand } => memory[operand].load(simd, chunk, operand, &mut registers[to]),
                Step::Store { from, operand } => memory[operand].store(simd, chunk, operand, &registers[from]),
                Step::Copy { to, from } => {
                    let copy = registers[from];
                    registers[to][..n].copy_from_slice(&copy[..n]);
                }
                Step::Forward { at, f } => formula::forward(simd, f, &mut registers[at][..n]),
                Step::Backward(f) => {
                    let (x, rest) = registers.split_at_mut(1);
                    formula::backward(simd, f, &mut x[0][..n], &rest[0][..n]);
                }
                Step::Both { at, alg } => both(simd, alg, registers, at, n),
                Step::With { at, alg, operand } => match memory[operand].constant(simd, chunk, operand) {
                    Some(y) => formula::constant(simd, alg, &mut registers[at][..n], y),
                    None => {
                        memory[operand].load(simd, chunk, operand, &mut registers[at + 1]);
                        both(simd, alg, registers, at, n);
                    }
                },
                Step::Prelu => {
                    let (x, rest) = registers.split_at_mut(1);
                    formula::prelu(simd, &mut x[0][..n], &rest[0][..n]);
                }
                Step::Accumulate { scale, zero_point } => {
                    let (x, rest) = registers.split_at_mut(1);
                    formula::accumulate(simd, scale.get(), zero_point.get(), &mut x[0][..n], &rest[0][..n]);
                }
            }
        }
    }
}

/// `r[at] = alg(r[at], r[at + 1], r[at + 2])` for the first `n` numbers.
fn both(simd: Simd, alg: BinaryAlg, registers: &mut Registers, at: usize, n: usize) {
    let (x, rest) = registers.split_at_mut(at + 1);
    let z = rest.get(1).unwrap_or(&rest[0]);
    formula::both(simd, alg, &mut x[at][..n], &rest[0][..n], &z[..n]);
}

impl Pipeline {
    /// A copy of elements as one of words of 32 bits; `None` where it is none, or there are not as many neighbours everywhere.
    pub fn in_words(mut self) -> Option<Pipeline> {
        let [Group { operands, stages, grid: Some(grid), .. }] = &mut self.groups[..] else { return None };
        let [to, from] = &mut operands[..] else { return None };
        let moves = matches!(&stages[..], [stage] if matches!(stage.steps[..], [Step::Load { .. }, Step::Store { .. }]));
        let steps = [0, 1].map(|t| grid.kept.step(t));
        if !moves || to.kind != from.kind || steps != [Some(1); 2] {
            return None;
        }
        grid.kept = grid.kept.words(to.kind.bits())?;
        (to.kind, from.kind) = (Kind::Number(DataType::F32), Kind::Number(DataType::F32));
        Some(self)
    }

    /// What comes before and after the groups, each of which `run` runs.
    pub(super) fn around(&self, ctx: &Ctx<'_>, run: impl Fn(&Group) -> Result<(), Error>) -> Result<(), Error> {
        for (arg, start) in &self.cleared {
            let buf = ctx.buf(*arg)?;
            buf.part(*start, buf.len() - start).fill(0);
        }
        self.groups.iter().try_for_each(run)?;
        for Padding { arg, dtype, nest } in &self.padding {
            zero(ctx, ctx.buf(*arg)?, dtype.bits(), nest);
        }
        Ok(())
    }
}

impl Kernel for Pipeline {
    fn run(&self, simd: Simd, ctx: &Ctx<'_>, _scratch: Scratch<'_>) -> Result<(), Error> {
        let tables = ctx.scratch_buf().part(0, 4 * self.tables);
        let partials = ctx.scratch_buf().part(4 * self.tables, ctx.scratch.len() - 4 * self.tables);
        self.around(ctx, |group| group.run(simd, ctx, tables, partials))
    }
}

/// Makes all bits of the elements of `bits` at the positions of `nest`, whose only operand `buf` is, zeros.
pub(super) fn zero(ctx: &Ctx<'_>, buf: Buf, bits: usize, nest: &Nest) {
    let grain = if bits >= 8 { GRAIN } else { i64::MAX };
    split(ctx.executor(), nest.volume(), grain, &|range| {
        nest.walk(range, |chunk| match bits {
            4 => each(chunk, |at| buf.set(at / 2, buf.get::<u8>(at / 2) & 15 << ((at + 1) % 2 * 4))),
            8 => zeros::<u8>(buf, chunk),
            16 => zeros::<u16>(buf, chunk),
            32 => zeros::<u32>(buf, chunk),
            _ => zeros::<u64>(buf, chunk),
        });
    });
}

fn zeros<T: Element>(buf: Buf, chunk: &Chunk<'_>) {
    if chunk.inner[0] != 1 {
        return each(chunk, |at| buf.set(at, T::zeroed()));
    }
    let (start, row) = (chunk.at[0] as usize, chunk.outer[0] as usize);
    (0..chunk.rows).for_each(|r| buf.part((start + r * row) * size_of::<T>(), chunk.run * size_of::<T>()).fill(0));
}

/// Calls `f` with the place of every element of a chunk's first operand.
fn each(chunk: &Chunk<'_>, f: impl Fn(usize)) {
    let [start, row, step] = [chunk.at, *chunk.outer, *chunk.inner].map(|t| t[0] as usize);
    for r in 0..chunk.rows {
        (0..chunk.run).for_each(|j| f(start + r * row + j * step));
    }
}

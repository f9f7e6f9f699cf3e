//! Programs as generated code: the steps of stages on vectors in registers, from loads to stores.
//!
//! The programs are those of [`Builder`](super::Builder). If the rows of a group's stages are one contiguous run each, all stages on a row
//! are one kernel, and folded values stay in registers ([`Fused`]). Otherwise each stage is a kernel of its own over the chunks of its grid
//! ([`stages`]): along the reduced positions, or down the columns of kept ones, where totals and values that are the same in all rows stay
//! in registers. Operands that kernels cannot take in place are copied for them chunk by chunk ([`brought`]). Code depends on the steps, on
//! the types, on which operands have stride 0, and on how many rows stay in L1, on no other sizes.
//!
//! One of the few files with unsafe code: every address is checked against its buffer before the call.

mod apart;
mod brought;
mod byte_table;
mod lanes;
mod stages;
mod write;

use super::copy::Zeros;
use super::fold::FoldOp;
use super::operand::Kind;
use super::pipeline::{Bound, Group, Lines, Pipeline, Registers};
use super::program::{LINE, Operand, Over, Source, Stage, Step};
use super::{CHUNK, Chunk, Chunks, Counts, Memory, Nest, OPERANDS, split};
use crate::CpuTarget;
use crate::decision::How;
use crate::kernels::chain::{Formula, jit};
use crate::kernels::code::{self, Key, elem};
use crate::kernels::extent::{Written, reach};
use crate::kernels::lookup::ByteLooker;
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::Scratch;
use crate::kernels::transpose::RegisterTranspose;
use crate::row::{Generated, RowPlan};
use apart::Apart;
use brought::Brought;
use oxidnn_jit::ir::Elem;
use oxidnn_jit::{Entry, Function, Isa};
use oxidnn_runtime::{Buf, Ctx, Decision, Executor, Plan, Skip};
use oxidnn_spec::op::EltwiseAlg;
use oxidnn_spec::{Error, Op, Problem};

#[cfg(test)]
mod tests;

/// Most operands in memory.
const MOST: usize = 10;
/// Most operands of all stages on a row: their addresses stay in registers.
const ADDRESSES: usize = 6;
/// Most addresses of all rows that are processed together.
const JOINT_ADDRESSES: usize = 10;
/// Tasks from which on whole rows are not folded in parts.
const ENOUGH_TASKS: i64 = 8;
/// Most steps of a stage whose vectors are processed together.
const SHORT: usize = 6;
/// Fewest elements of rows that are masked vectors with AVX-512.
const MASKED: i64 = 3;
/// Vectors that are processed together.
const TOGETHER: usize = 4;
/// Bytes of rows that stay in L1 beside those that are prefetched, and fewest rows for that.
const NEAR_BYTES: usize = 28 * 1024;
const MIN_ROWS: i64 = 16;
/// Bytes of the shortest vector that is stored non-temporally.
const LEAST_STREAMED: usize = 16;

/// The key of a kernel.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Spec {
    stages: Vec<Part>,
    operands: Vec<(Elem, Way)>,
    rows: Rows,
    /// Whether the result that the last stage stores is stored non-temporally, in aligned vectors.
    streaming: bool,
    /// Whether subnormal results of bf16 may become zeros.
    flushes: bool,
    /// Rows that stay in L1: four, two or one.
    near: u8,
}

/// The length of rows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Rows {
    /// Given by the call.
    Any,
    /// This many vectors, at most [`TOGETHER`], with or without a masked one behind them: unrolled, without loops.
    Few {
        /// Whole vectors.
        vectors: u8,
        /// Whether there is a masked vector.
        left: bool,
    },
    /// This many whole vectors, at most [`TOGETHER`]. The rows of each operand are contiguous, or the same row again, so several rows are
    /// processed together.
    Joined(u8),
    /// Given by the call, and processed down the columns: some vectors of all rows, then the next ones.
    Down,
    /// Vectors at a stride that the call gives. Lanes are kept positions with a row each, or reduced ones.
    Apart {
        /// Whether lanes are kept positions.
        kept: bool,
    },
}

impl Rows {
    /// Rows of `run` elements.
    fn of(run: i64, lanes: i64) -> Rows {
        let (vectors, left) = (run / lanes, run % lanes > 0);
        if vectors + i64::from(left) <= TOGETHER as i64 { Rows::Few { vectors: vectors as u8, left } } else { Rows::Any }
    }
}

/// A stage: its steps, and the registers that are folded into operands.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Part {
    over: Over,
    steps: Vec<Step>,
    folds: Vec<(usize, FoldOp, usize)>,
}

/// How an operand's elements go along a row.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Way {
    /// An element for each position, contiguous.
    Moves,
    /// One element for all positions.
    Still,
    /// One number for all positions, computed by a stage and not in memory.
    Made,
    /// An element for each position of a row, the same in all rows: read once for all of them, or for those that are processed together.
    Column,
    /// An element for each position of a row, in the worker's memory: one row for all, or one for each of those that are processed
    /// together.
    Own,
    /// An element for each position of a row, in the task's memory, to which every row adds.
    Sums,
}

/// Arguments of a kernel.
#[repr(C)]
#[derive(Debug)]
struct Args {
    /// Planes of rows, and rows of each, at least 1; if several rows are processed together, the number of such groups, and the remaining
    /// rows.
    planes: usize,
    joint: usize,
    rows: usize,
    /// Elements from one vector of a row to the next, if vectors are apart.
    step: usize,
    /// Vectors of a row: groups of [`TOGETHER`] and the remaining ones, or all; and elements behind them.
    together: usize,
    single: usize,
    vectors: usize,
    left: usize,
    /// The operands' first elements.
    at: [*mut u8; MOST],
    /// Bytes from row to row, and from the end of a plane's last row to the next plane.
    row: [usize; MOST],
    plane: [usize; MOST],
}

impl Key for Spec {
    type Args = Args;

    fn name(&self, isa: Isa) -> String {
        let types: Vec<String> = self.operands.iter().map(|o| format!("{:?}", o.0).to_lowercase()).collect();
        let steps = self.stages.iter().map(|s| s.steps.len() + s.folds.len()).sum::<usize>();
        let streaming = if self.streaming { ".streaming" } else { "" };
        let flushes = if self.flushes { ".flushes" } else { "" };
        format!("program.{}.{steps}steps{streaming}{flushes}.{}", types.join(""), isa.name())
    }

    fn write(&self, f: &mut Function) {
        write::Writer::new(self).write(f);
    }
}

/// A kernel, and the origin of its operands.
#[derive(Debug)]
struct Call {
    spec: Spec,
    isa: Isa,
    from: Vec<Origin>,
    /// Whether long rows come from memory, in which case processing them row by row is faster.
    far: bool,
    /// Vectors of a row that are counted together, and rows that are processed together.
    together: u16,
    joint: u8,
}

/// The origin of a kernel's operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Origin {
    /// An operand of the group.
    Operand(usize),
    /// A total that a stage folds: a number for each kept position of a call, in this register.
    Total(usize),
    /// An operand of single bits, each of which is expanded to a byte before the call.
    Bits(usize),
    /// An operand whose elements are copied to this register before the call, or from it after the call.
    Brought(usize),
}

/// The memory of a call besides the operands of its group.
struct Own<'o> {
    totals: &'o mut Registers,
    bits: &'o mut [u8],
}

/// All stages of a group on a row in one kernel: an element-wise stage, whose rows are the innermost loop, or stages that fold rows, whose
/// totals are not in memory.
#[derive(Debug)]
struct Fused {
    call: Call,
    /// Whether rows are the reduced positions; otherwise they are the innermost loop of the kept ones.
    folded: bool,
    /// Positions of a task.
    grain: i64,
    rows: Option<OwnRows>,
    brought: Vec<Brought>,
    /// Whether rows are too short for vectors: then a chunk is processed as one row, for which operands are copied.
    flat: bool,
    /// The operands that are stored non-temporally.
    streamed: Box<[usize]>,
    /// The vectors of rows, if these are apart.
    apart: Option<Apart>,
    /// The result and the source, if results are looked up in a table.
    bytes: Option<[u8; 2]>,
}

/// The workers' own rows in scratch: their operand, where they begin, and their size.
#[derive(Clone, Copy, Debug)]
struct OwnRows {
    operand: usize,
    start: usize,
    bytes: usize,
    workers: usize,
}

/// How a kernel takes its operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Taken {
    /// From memory.
    InPlace,
    /// The same, with results of bytes from a table.
    LookedUp,
    /// Some of them are copied for it, chunk by chunk: each is counted.
    Brought,
    /// All of them: a chunk is one row.
    InChunks,
}

/// How a group is run.
#[derive(Debug)]
enum Made {
    Fused(Fused),
    /// A kernel for each stage; `None` for those that are interpreted.
    Stages(Vec<Option<Call>>),
}

/// A pipeline in generated code.
#[derive(Debug)]
pub struct Program {
    pipeline: Pipeline,
    groups: Vec<Made>,
}

/// Bytes of the widest vector.
const VECTOR: usize = 64;

/// Makes the pipeline of a problem with its layouts resolved, and says its bytes of scratch.
type Make = fn(&Problem) -> Result<(Pipeline, usize), Skip>;
/// Makes its code for an instruction set.
type New = fn(Pipeline, Isa) -> Result<Program, Skip>;

impl Program {
    /// The plan of the pipeline that `make` makes, as one kernel.
    ///
    /// # Errors
    /// Problems that `make` or [`Program::new`] declines.
    pub fn plan(problem: &Problem, target: &CpuTarget, make: Make) -> Result<Box<dyn Plan>, Skip> {
        Program::planned(problem, target, make, Program::new)
    }

    /// The plan of the pipeline that `make` makes, with as many kernels as it needs.
    ///
    /// # Errors
    /// Problems that `make` or [`Program::in_stages`] declines.
    pub fn plan_in_stages(problem: &Problem, target: &CpuTarget, make: Make) -> Result<Box<dyn Plan>, Skip> {
        Program::planned(problem, target, make, Program::in_stages)
    }

    fn planned(problem: &Problem, target: &CpuTarget, make: Make, new: New) -> Result<Box<dyn Plan>, Skip> {
        let isa = target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?;
        RowPlan::resolved(problem, target, |problem| {
            let (pipeline, scratch) = make(problem)?;
            let mut program = new(pipeline, isa)?.streaming(target, CpuTarget::keeps).flushing(problem);
            let scratch = program.drop_tables(scratch);
            let bytes = program.give_rows(scratch, target.threads).ok_or(Skip::Shape("scratch exceeds the address space"))?;
            Ok((program, bytes))
        })
    }

    /// The pipeline as one kernel, with further ones that add the sums of its tasks.
    ///
    /// # Errors
    /// [`Skip`] for other groups, for rows that are not one run or are folded in parts, for types and formulas that generated code does not
    /// have, and for operands that are neither contiguous along a row nor have stride 0.
    pub fn new(pipeline: Pipeline, isa: Isa) -> Result<Program, Skip> {
        let (group, others) = match &pipeline.groups[..] {
            [group, others @ ..] if others.is_empty() || group.has_sums() => (group, others),
            _ => return Err(Skip::Op("several passes")),
        };
        let chain = Fused::new(group, isa, false).or_else(|skip| Fused::apart(group, isa).map_err(|_| skip))?;
        let others = others.iter().map(|group| Made::new(group, isa, true));
        Ok(Program { groups: std::iter::once(Ok(Made::Fused(chain))).chain(others).collect::<Result<_, Skip>>()?, pipeline })
    }

    /// The pipeline with one kernel for each group if possible, else for each stage.
    ///
    /// # Errors
    /// [`Skip`] if a stage with arithmetic over all positions cannot be generated.
    pub fn in_stages(pipeline: Pipeline, isa: Isa) -> Result<Program, Skip> {
        let several = pipeline.groups.len() > 1;
        let groups: Result<_, Skip> = pipeline.groups.iter().map(|group| Made::new(group, isa, several)).collect();
        Ok(Program { groups: groups?, pipeline })
    }

    /// What a program of one group counts, and how it takes its operands.
    pub fn counts(&self) -> Option<(Taken, (Counts, Zeros))> {
        let ([Made::Fused(chain)], [Group { grid: Some(grid), .. }]) = (&self.groups[..], &self.pipeline.groups[..]) else { return None };
        let (mut counts, zeros) = self.pipeline.counts()?;
        if chain.flat || chain.brought.is_empty() {
            let in_place = if chain.bytes.is_some() { Taken::LookedUp } else { Taken::InPlace };
            return Some((if chain.flat { Taken::InChunks } else { in_place }, (counts, zeros)));
        }
        counts = Counts::default();
        for brought in &chain.brought {
            let mut of = grid.kept.counts(brought.operand, CHUNK as i64);
            of[1][2] = grid.kept.in_squares(brought.operand, CHUNK as i64);
            counts.as_flattened_mut().iter_mut().zip(of.as_flattened()).for_each(|(sum, n)| *sum += n);
        }
        Some((Taken::Brought, (counts, zeros)))
    }

    /// Whether it stores a result non-temporally.
    pub fn streams(&self) -> bool {
        self.groups.iter().any(|made| matches!(made, Made::Fused(chain) if !chain.streamed.is_empty()))
    }

    /// The same for the caches of a processor: data that does not fit is read row by row, and results that are stored element by element, with data that it
    /// does not keep, are stored non-temporally, so that their lines are not read first and evict nothing.
    #[must_use]
    pub fn streaming(mut self, target: &CpuTarget, keeps: fn(&CpuTarget, usize) -> bool) -> Program {
        for (group, made) in self.pipeline.groups.iter().zip(&mut self.groups) {
            let (Some(grid), Made::Fused(chain)) = (&group.grid, made) else { continue };
            let moving = chain.call.spec.operands.iter().filter(|o| o.1 == Way::Moves);
            let positions = (grid.kept.volume() as usize).saturating_mul(grid.reduced.volume() as usize);
            let bytes = positions.saturating_mul(moving.map(|o| o.0.bytes()).sum());
            chain.call.far = chain.call.spec.rows == Rows::Any && !target.is_near(bytes);
        }
        // Groups of one stage, such as the sources of a concatenation, read nothing that another has written, except for tables.
        let groups = &self.pipeline.groups;
        let count = match &groups[..] {
            all if all.iter().all(|group| group.stages.len() == 1) => all.len(),
            [first, others @ ..] if others.is_empty() || first.has_sums() => 1,
            _ => 0,
        };
        for (group, made) in groups.iter().zip(&mut self.groups).take(count) {
            let (Some(grid), Made::Fused(chain)) = (&group.grid, made) else { continue };
            let positions = (grid.kept.volume() as usize).saturating_mul(grid.reduced.volume() as usize);
            let bytes = |of: usize| positions.saturating_mul(of);
            let Call { spec, from, .. } = &chain.call;
            let whole = |origin: &Origin| chain.folded || matches!(origin, Origin::Operand(i) if grid.kept.is_joined(*i));
            let operands = spec.operands.iter().zip(from).filter(|(o, origin)| o.1 == Way::Moves && whole(origin));
            let all = operands.map(|(o, _)| o.0.bytes()).sum::<usize>().max(size_of::<f32>());
            let is_table = |slot: &usize| matches!(from[*slot], Origin::Operand(i) if matches!(group.operands[i].source, Source::Table(_)));
            // Padded areas are zeroed at the end, in lines that should still be in a cache.
            let is_far = !keeps(target, bytes(all)) && (self.pipeline.padding.is_empty() || bytes(all) > target.caches.l3);
            let results = if is_far { chain.results() } else { Box::default() };
            chain.streamed = if results.iter().any(is_table) { Box::default() } else { results };
        }
        self
    }

    /// The same with results of bf16 whose subnormal values may become zeros, unless they are only copied; that saves a test.
    fn flushing(mut self, problem: &Problem) -> Program {
        let flushes = !matches!(problem.op, Op::Concat(_) | Op::Pool(_) | Op::Reorder(_) | Op::Shuffle(_));
        for made in &mut self.groups {
            let calls = match made {
                Made::Fused(chain) => vec![&mut chain.call],
                Made::Stages(calls) => calls.iter_mut().flatten().collect(),
            };
            calls.into_iter().for_each(|call| call.spec.flushes = flushes);
        }
        self
    }

    /// The bytes of scratch that are needed of those for all tables: none where one kernel keeps what it folds in registers.
    fn drop_tables(&mut self, scratch: usize) -> usize {
        let ([group], [Made::Fused(_)]) = (&mut self.pipeline.groups[..], &self.groups[..]) else { return scratch };
        if group.has_sums() {
            return scratch;
        }
        self.pipeline.tables = 0;
        for operand in &mut group.operands {
            if let Source::Table(at) = &mut operand.source {
                *at = 0;
            }
        }
        0
    }

    /// Books a row of elements for each worker behind `scratch` bytes, where stages leave such rows to each other; the bytes of all.
    fn give_rows(&mut self, scratch: usize, workers: usize) -> Option<usize> {
        let [Group { operands, grid: Some(grid), .. }] = &self.pipeline.groups[..] else { return Some(scratch) };
        let Some(operand) = operands.iter().position(|o| o.source == Source::Row) else { return Some(scratch) };
        let [Made::Fused(chain)] = &mut self.groups[..] else { return Some(scratch) };
        let elements = match chain.apart {
            Some(apart) => apart.own(chain.call.isa.width().lanes()),
            None => own_row(usize::try_from(grid.reduced.volume()).ok()?),
        };
        let bytes = elements.checked_mul(4 * chain.call.spec.rows_together())?.checked_next_multiple_of(64)?;
        let start = scratch.checked_next_multiple_of(64)?;
        let rows = OwnRows { operand, start, bytes, workers: workers.max(1) };
        chain.rows = Some(rows);
        bytes.checked_mul(rows.workers)?.checked_add(start)
    }
}

/// The code of a chain: its kernel, and the transpositions of operands that are copied for it.
#[derive(Debug)]
struct FusedCode {
    entry: Entry<Args>,
    /// The kernel with non-temporal stores.
    streaming: Option<Entry<Args>>,
    squares: Vec<Option<RegisterTranspose>>,
    looker: Option<ByteLooker>,
}

/// The code of a group.
#[derive(Debug)]
enum Code {
    Fused(FusedCode),
    Stages(Vec<Option<Entry<Args>>>),
}

impl Made {
    /// The kernels of a group; tables are in memory if there are several groups.
    fn new(group: &Group, isa: Isa, several: bool) -> Result<Made, Skip> {
        if let Ok(chain) = Fused::new(group, isa, several) {
            return Ok(Made::Fused(chain));
        }
        stages::calls(group, isa).map(Made::Stages)
    }

    fn build(&self) -> Result<Code, Error> {
        Ok(match self {
            Made::Fused(chain) => {
                let squares = chain.brought.iter().map(|b| b.build(chain.call.isa)).collect::<Result<_, _>>()?;
                let Call { spec, isa, .. } = &chain.call;
                let streams = !chain.streamed.is_empty();
                let streaming = streams.then(|| code::get(*isa, &Spec { streaming: true, ..spec.clone() })).transpose()?;
                let looker = chain.bytes.map(|_| ByteLooker::get(*isa)).transpose()?;
                Code::Fused(FusedCode { entry: chain.call.build()?, streaming, squares, looker })
            }
            Made::Stages(calls) => {
                Code::Stages(calls.iter().map(|call| call.as_ref().map(Call::build).transpose()).collect::<Result<_, _>>()?)
            }
        })
    }
}

/// The code of all groups.
#[derive(Debug)]
pub struct Codes(Vec<Code>);

impl Generated for Program {
    type Code = Codes;

    fn build(&self) -> Result<Codes, Error> {
        self.groups.iter().map(Made::build).collect::<Result<_, _>>().map(Codes)
    }

    fn decision(&self, problem: &Problem) -> Decision {
        let operands = self.pipeline.groups.iter().map(|group| group.operands.len()).max().unwrap_or(0);
        How::new(format!("a program over elements, in {} passes", self.groups.len()), (VECTOR / size_of::<f32>()) as f64, 1)
            .registers("a vector of every operand", operands * VECTOR)
            .block("lines of all operands, which pass by once", operands * VECTOR)
            .decision(problem)
    }

    fn run(&self, code: &Codes, simd: Simd, ctx: &Ctx<'_>, _scratch: Scratch<'_>) -> Result<(), Error> {
        self.execute(code, simd, ctx)
    }
}

impl Program {
    /// Runs all groups; tables are at the begin of the execution's scratch.
    ///
    /// # Errors
    /// As for [`Generated::run`].
    pub fn execute(&self, code: &Codes, simd: Simd, ctx: &Ctx<'_>) -> Result<(), Error> {
        let space = self.pipeline.space(ctx);
        self.pipeline.around(ctx, |index, group| match (&self.groups[index], &code.0[index]) {
            (Made::Fused(chain), Code::Fused(code)) => chain.run(code, group, (simd, ctx), space[0]),
            (Made::Stages(calls), Code::Stages(codes)) => stages::run(stages::Kernels { group, calls, codes }, (simd, ctx), space),
            (made, code) => panic!("{code:?} of another group than {made:?}"),
        })
    }
}

/// The element type that a kernel has for an operand.
fn element(operand: &Operand) -> Result<Elem, Skip> {
    let Kind::Number(dtype) = operand.kind else { return Err(Skip::DataType("bits".into())) };
    elem(dtype).ok_or_else(|| Skip::DataType(format!("{dtype} in generated code")))
}

/// Checks the formulas of some stages.
fn check_formulas(stages: &[Part]) -> Result<(), Skip> {
    stages.iter().flat_map(|s| &s.steps).try_for_each(|step| match step {
        Step::Drop(_) | Step::Round(_) => Err(Skip::Attr("dropout or stochastic rounding".into())),
        Step::Apply { formula, .. } => jit::check(*formula),
        _ => Ok(()),
    })
}

impl Fused {
    /// The kernel of a group; its totals are in memory if other groups use them.
    fn new(group: &Group, isa: Isa, shared: bool) -> Result<Fused, Skip> {
        let grid = group.grid.as_ref().ok_or(Skip::Shape("sizes known at execution only"))?;
        let folded = grid.reduced.volume() != 1;
        if !folded && (group.stages.len() != 1 || !group.stages[0].folds.is_empty()) {
            return Err(Skip::Shape("rows of one element"));
        }
        if folded && grid.segments() != 1 && grid.kept.volume() < ENOUGH_TASKS {
            return Err(Skip::Shape("few rows that are folded in parts"));
        }
        if folded && grid.reduced.innermost(0).0 != grid.reduced.volume() {
            return Err(Skip::Shape("rows that are not one run"));
        }
        let nest = if folded { &grid.reduced } else { &grid.kept };
        // Without reduced positions all positions are kept, and rows are made of these.
        let over = |part: Part| if folded { part } else { Part { over: Over::All, ..part } };
        let stages: Vec<Part> = group.stages.iter().map(Part::of).map(over).collect();
        check_formulas(&stages)?;
        let run = nest.innermost(0).0;
        let several = if folded { Some(run) } else { nest.run().filter(|run| *run < nest.volume()) };
        // With rows of half a vector, vectors of half the width need no mask.
        let isa = if several == Some(Isa::AVX2.width().lanes() as i64) { Isa::AVX2 } else { isa };
        let lanes = isa.width().lanes() as i64;
        let chosen = |flat: bool| {
            let (stages, none) = (stages.clone(), (Vec::new(), Vec::new(), Vec::new()));
            let across = folded.then_some(&grid.kept);
            let mut all = Chosen { nest, across, shared, flat, stages, operands: none.0, from: none.1, brought: none.2 };
            group.operands.iter().enumerate().try_for_each(|(i, operand)| all.add(i, operand))?;
            Ok::<_, Skip>(all)
        };
        let mut all = chosen(false)?;
        let rows = if all.brought.is_empty() { several.map_or(Rows::Any, |run| Rows::of(run, lanes)) } else { Rows::Any };
        let least = match rows {
            Rows::Any => lanes / 2,
            _ if isa.avx512 => MASKED,
            _ => lanes / 4,
        };
        let flat = !folded && run < nest.volume() && run < least;
        let rows = if flat { Rows::Any } else { rows };
        if flat {
            all = chosen(true)?;
        }
        let rows = if folded || flat { rows } else { all.joined(rows, isa) };
        let Chosen { stages, operands, from, brought, .. } = all;
        // Adding up rows saves a pass, even if addresses have to wait in memory for the next row.
        let own = group.operands.iter().filter(|o| o.source == Source::Row).count();
        let most = if group.has_sums() { MOST } else { ADDRESSES + own };
        if operands.iter().filter(|o| o.1 != Way::Made).count() > most || operands.len() > OPERANDS {
            return Err(Skip::Attr(format!("more than {most} tensors")));
        }
        let of_position = operands.iter().filter(|o| o.1 == Way::Moves).map(|o| o.0.bytes()).sum::<usize>();
        let stay = |rows: &u8| {
            folded && grid.kept.volume() >= MIN_ROWS && (usize::from(*rows) * of_position).saturating_mul(run as usize) <= NEAR_BYTES
        };
        // Sums of four rows leave registers for the steps.
        let fits = |s: &Part| 2 * TOGETHER * s.folds.len() + s.steps.len() <= isa.simd_registers();
        let near = [4, 2].into_iter().find(|rows| stay(rows) && (*rows == 2 || stages.iter().all(fits))).unwrap_or(1);
        // Unrolled rows are never cut; elements that share a byte are one task.
        let grain = match rows {
            _ if grid.block >= nest.volume() && !brought.is_empty() => i64::MAX,
            Rows::Any => grid.block,
            _ => grid.block / run * run,
        };
        let fused = Fused {
            call: Call::new(Spec { near, ..Spec::new(stages, operands, rows) }, isa, from),
            folded,
            grain,
            rows: None,
            brought,
            flat,
            streamed: Box::default(),
            apart: None,
            bytes: None,
        };
        Ok(Fused { bytes: fused.of_bytes(group), ..fused })
    }

    /// The operands that are stored element by element, if no stage reads them and they have vectors that may be stored non-temporally.
    fn results(&self) -> Box<[usize]> {
        let Spec { stages, operands, rows, .. } = &self.call.spec;
        if !matches!(rows, Rows::Any | Rows::Joined(_)) || self.flat || !self.brought.is_empty() {
            return Box::default();
        }
        let stored = |step: &Step| if let Step::Store { operand, .. } = step { Some(*operand) } else { None };
        let stores = stages.iter().flat_map(|s| &s.steps).filter_map(stored).filter(|i| operands[*i].1 == Way::Moves);
        let wide = |i: usize| self.call.isa.width().lanes() * operands[i].0.bytes() >= LEAST_STREAMED;
        let all: Option<Box<[usize]>> = stores.map(|i| (wide(i) && !stages.iter().any(|s| s.loads(i))).then_some(i)).collect();
        // Several results must be whole cache lines: halves of lines of two results in turn take three times as long as ordinary stores.
        all.filter(|all| all.len() == 1 || self.call.isa.avx512).unwrap_or_default()
    }

    /// The code for some chunks: with non-temporal stores if results are aligned vectors and overlap nothing else.
    fn entry<'c>(&self, code: &'c FusedCode, memory: &[Memory<'_>; OPERANDS], chunks: &Chunks<'_>) -> &'c Entry<Args> {
        let Some(streaming) = &code.streaming else { return &code.entry };
        let origin = |i: usize| if let Origin::Operand(operand) = self.call.from[i] { Some(operand) } else { None };
        let address = |operand: usize| memory[operand].buf.as_ptr().addr();
        let chunk = &chunks.chunk;
        let streams = |slot: usize| {
            let Some(result) = origin(slot) else { return false };
            let size = self.call.spec.operands[slot].0.bytes();
            let at = address(result).wrapping_add(chunk.at[result] as usize * size);
            let steps = [(chunk.rows, chunk.outer[result] as usize), (chunks.count, chunks.strides[result] as usize)];
            let distances = steps.map(|(count, step)| if count > 1 { step.wrapping_mul(size) } else { 0 });
            let bytes = self.call.isa.width().bytes();
            let aligned = distances.into_iter().chain([at]).all(|x| x.is_multiple_of(bytes));
            let others = (0..self.call.from.len()).filter(|i| *i != slot).filter_map(origin);
            aligned && others.map(address).all(|other| other != address(result))
        };
        if self.streamed.iter().all(|slot| streams(*slot)) { streaming } else { &code.entry }
    }

    /// Runs positions of a nest if operands are copied for the kernel, or a chunk is one row.
    fn run_brought(&self, (code, simd): (&FusedCode, Simd), nest: &Nest, range: std::ops::Range<i64>, bound: &Bound<'_>) {
        let memory = &bound.memory;
        Lines::lend(|Lines(registers, _)| {
            nest.walk(range, |chunk| {
                for (b, squares) in self.brought.iter().zip(&code.squares).filter(|b| b.0.read) {
                    b.bring((simd, squares.as_ref()), memory, chunk, &mut registers[b.register]);
                }
                let own = Own { totals: &mut *registers, bits: &mut [] };
                let row = if self.flat { Chunk { run: chunk.positions(), rows: 1, ..*chunk } } else { *chunk };
                self.call.run(&code.entry, memory, Some(own), &Chunks { chunk: row, count: 1, strides: &[0; OPERANDS] });
                for b in self.brought.iter().filter(|b| b.written) {
                    memory[b.operand].store(simd, chunk, b.operand, &registers[b.register]);
                }
            });
        });
    }

    /// Number of workers, each of which has rows of its own if the group has such.
    fn workers(&self, executor: &dyn Executor) -> usize {
        self.rows.map_or(usize::MAX, |rows| rows.workers).min(executor.threads())
    }

    /// The memory of the operands, with a worker's own rows.
    fn memory<'a>(&self, bound: &Bound<'a>, worker: usize, ctx: &Ctx<'a>) -> [Memory<'a>; OPERANDS] {
        let mut memory = bound.memory;
        if let Some(OwnRows { operand, start, bytes, .. }) = self.rows {
            memory[operand].buf = ctx.scratch_buf().part(start + worker * bytes, bytes);
        }
        memory
    }

    fn run<'a>(&self, code: &FusedCode, group: &Group, (simd, ctx): (Simd, &Ctx<'a>), tables: Buf<'a>) -> Result<(), Error> {
        if let Some(apart) = &self.apart {
            return self.run_apart((&code.entry, apart), group, ctx, tables);
        }
        let Some(grid) = &group.grid else { return Err(Error::Runtime("sizes that were not planned".into())) };
        let mut bound = Bound::default();
        group.bind(ctx, tables, &mut bound)?;
        if self.flat || !self.brought.is_empty() {
            split(ctx.executor(), grid.kept.volume(), self.grain, &|range| self.run_brought((code, simd), &grid.kept, range, &bound));
            return Ok(());
        }
        if let Some(looker) = &code.looker {
            self.run_on_bytes(code, looker, (&grid.kept, &bound), ctx);
            return Ok(());
        }
        if !self.folded {
            split(ctx.executor(), grid.kept.volume(), self.grain, &|range| {
                grid.kept.repeated(range, |chunks| self.call.run(self.entry(code, &bound.memory, chunks), &bound.memory, None, chunks));
            });
            return Ok(());
        }
        let run = grid.reduced.volume() as usize;
        let (kept, executor) = (grid.kept.volume(), ctx.executor());
        let block = match grid.segments() {
            _ if group.has_sums() => grid.block,
            1 => grid.rows(executor),
            _ => 1,
        };
        executor.run(self.workers(executor), ((kept + block - 1) / block) as usize, &|worker, task| {
            let mut memory = self.memory(&bound, worker, ctx);
            let bytes = 4 * own_row(run);
            for (of, _) in memory.iter_mut().zip(&group.operands).filter(|(_, o)| matches!(o.source, Source::Sums(_))) {
                of.buf = of.buf.part(task * bytes, bytes);
                of.buf.fill(0);
            }
            let first = task as i64 * block;
            // Two loops over rows are the planes and rows of a call.
            grid.kept.chunks(first..(first + block).min(kept), i64::MAX, |kept| {
                let chunk = Chunk { at: kept.at, run, rows: kept.run, inner: &[0; OPERANDS], outer: kept.inner };
                let chunks = Chunks { chunk, count: kept.rows, strides: kept.outer };
                self.call.run(self.entry(code, &memory, &chunks), &memory, None, &chunks);
            });
        });
        Ok(())
    }
}

/// The operands of a chain while they are chosen.
struct Chosen<'n> {
    /// The nest whose innermost loop is the rows.
    nest: &'n Nest,
    /// The positions of the rows, if rows are folded; if not, operands may be copied for the kernel.
    across: Option<&'n Nest>,
    /// Whether tables are used by other groups.
    shared: bool,
    /// Whether a chunk is one row: then operands whose rows are not contiguous are copied as well.
    flat: bool,
    stages: Vec<Part>,
    operands: Vec<(Elem, Way)>,
    from: Vec<Origin>,
    brought: Vec<Brought>,
}

impl Chosen<'_> {
    /// How unrolled rows are processed: several together, if every operand's rows are contiguous or the same row.
    fn joined(&mut self, rows: Rows, isa: Isa) -> Rows {
        let Rows::Few { vectors, left: false } = rows else { return rows };
        let column = |i: usize| self.nest.row_step(i) == Some(0);
        let fits = |(operand, origin): (&(Elem, Way), &Origin)| match (operand.1, origin) {
            (Way::Moves, Origin::Operand(i)) => column(*i) || self.nest.is_joined(*i),
            (Way::Still, Origin::Operand(i)) => column(*i),
            _ => false,
        };
        let columns: Vec<bool> = self.from.iter().map(|from| matches!(from, Origin::Operand(i) if column(*i))).collect();
        let held = columns.iter().filter(|column| **column).count() * usize::from(vectors);
        if held > isa.simd_registers() / 4 || !self.operands.iter().zip(&self.from).all(fits) {
            return rows;
        }
        for (operand, _) in self.operands.iter_mut().zip(columns).filter(|(operand, column)| *column && operand.1 == Way::Moves) {
            operand.1 = Way::Column;
        }
        Rows::Joined(vectors)
    }

    /// Adds operand `i` of the group. If a kernel cannot take it in place, it is copied for it.
    fn add(&mut self, i: usize, operand: &Operand) -> Result<(), Skip> {
        let (shared, may) = (self.shared, self.across.is_none());
        let written = self.stages.iter().any(|s| s.writes(i) || s.folds.iter().any(|fold| fold.2 == i));
        // A single element is a row of one.
        let step = if may && self.nest.volume() == 1 { Some(1) } else { self.nest.step(i) };
        let way = match (operand.source, step) {
            (Source::Table(_), Some(0)) if !shared => Some(Way::Made),
            (Source::Table(_), _) if !shared => return Err(Skip::Layout("a table along a row".into())),
            (Source::Row, _) if shared => return Err(Skip::Op("several passes over a row")),
            _ if self.flat && !self.nest.is_joined(i) => None,
            (_, Some(0)) => Some(Way::Still),
            (Source::Row, Some(1)) => Some(Way::Own),
            (Source::Sums(_), Some(1)) if self.across.is_some() => Some(Way::Sums),
            (Source::Sums(_), _) => return Err(Skip::Shape("sums of rows of one element")),
            (_, Some(1)) if !written && self.across.is_some_and(|rows| rows.volume() > 1 && rows.stands_still(i)) => Some(Way::Column),
            (_, Some(1)) => Some(Way::Moves),
            _ => None,
        };
        let writes = self.stages.iter().any(|s| s.over == Over::All && s.writes(i));
        if (way.is_some_and(|way| !matches!(way, Way::Moves | Way::Own | Way::Sums)) || step == Some(0)) && writes {
            return Err(Skip::Layout("a result that stands still along a row".into()));
        }
        match (element(operand), way) {
            (Ok(elem), Some(way)) => {
                self.operands.push((elem, way));
                self.from.push(Origin::Operand(i));
            }
            (Err(skip), _) if !may => return Err(skip),
            _ if !may => return Err(Skip::Layout("operands that lie apart along a row".into())),
            _ => {
                let (way, register) = (way.unwrap_or(Way::Moves), self.brought.len());
                self.brought.push(Brought::new(i, operand, way, &self.stages, register)?);
                self.operands.push((Elem::F32, way));
                self.from.push(Origin::Brought(register));
            }
        }
        Ok(())
    }
}

impl Call {
    fn new(spec: Spec, isa: Isa, from: Vec<Origin>) -> Call {
        let (together, joint) = ((isa.width().lanes() * spec.together(isa)) as u16, spec.rows_together() as u8);
        Call { spec, isa, from, far: false, together, joint }
    }

    fn build(&self) -> Result<Entry<Args>, Error> {
        code::get(self.isa, &self.spec)
    }

    /// Runs chunks with the code of the call; single ones if something is folded into `totals`.
    ///
    /// # Panics
    /// If an element is outside its buffer, or there is no room for totals.
    fn run(&self, code: &Entry<Args>, memory: &[Memory<'_>; OPERANDS], mut own: Option<Own<'_>>, chunks: &Chunks<'_>) {
        let (chunk, lanes) = (&chunks.chunk, self.isa.width().lanes());
        let (run, together) = (chunk.run, usize::from(self.together));
        let mut args = Args {
            planes: chunks.count,
            joint: 0,
            rows: chunk.rows,
            step: 0,
            together: run / together,
            single: run % together / lanes,
            vectors: run / lanes,
            left: run % lanes,
            at: [std::ptr::null_mut(); MOST],
            row: [0; MOST],
            plane: [0; MOST],
        };
        for (slot, (i, (elem, way))) in self.spec.placed().enumerate() {
            let size = elem.bytes();
            let i = match self.from[i] {
                Origin::Operand(i) => i,
                origin @ (Origin::Total(register) | Origin::Brought(register)) => {
                    let Some(numbers) = own.as_mut().and_then(|own| own.totals.get_mut(register)) else { panic!("no numbers of its own") };
                    let (count, row) = match (way, origin) {
                        (Way::Still, _) => (chunk.rows, size),
                        (_, Origin::Total(_)) => (run, 0),
                        _ => (chunk.positions(), run * size),
                    };
                    assert!(chunks.count == 1, "numbers of its own, {} times", chunks.count);
                    let numbers = Written::from(&mut numbers[..]);
                    (args.at[slot], args.row[slot]) = (numbers.at("numbers of its own", 0, count.checked_mul(size_of::<f32>())), row);
                    continue;
                }
                Origin::Bits(_) => {
                    let Some(own) = own.as_mut() else { panic!("no room for bits") };
                    assert!(chunks.count == 1, "rows of bits, {} times", chunks.count);
                    (args.at[slot], args.row[slot]) = (Written::from(&mut own.bits[..]).at("bits", 0, run.checked_mul(chunk.rows)), run);
                    continue;
                }
            };
            let memory = Written::from(memory[i].buf);
            let (at, plane) = (chunk.at[i] as usize, chunks.strides[i] as usize);
            let (rows, row) = match way {
                Way::Own => (usize::from(self.joint), own_row(run)),
                Way::Sums => (1, 0),
                _ => (chunk.rows, chunk.outer[i] as usize),
            };
            let elements = reach(&[(rows, row), (chunks.count, plane)], if way == Way::Still { 1 } else { run });
            let first = at.saturating_mul(size);
            let address = memory.at("operand", first, elements.and_then(|n| n.checked_mul(size)));
            // Strides of joined rows are not taken from the call.
            let joined = matches!(self.spec.rows, Rows::Joined(_));
            let row = match way {
                Way::Moves if joined => {
                    assert!(chunk.rows == 1 || row == run, "rows of {run} that are {row} apart");
                    run
                }
                _ if joined && chunk.rows == 1 => 0,
                _ => row,
            };
            let still = way == Way::Column || way == Way::Still && joined;
            assert!(!still || row == 0, "a column that moves {row} from row to row");
            (args.at[slot], args.row[slot]) = (address, row * size);
            args.plane[slot] = plane.wrapping_sub(row.wrapping_mul(chunk.rows)).wrapping_mul(size);
        }
        if let Rows::Few { vectors, left } = self.spec.rows {
            assert!(usize::from(vectors) == run / lanes && left == (run % lanes > 0), "a row of {run}");
        }
        if let Rows::Joined(vectors) = self.spec.rows {
            assert!(usize::from(vectors) * lanes == run, "a row of {run}");
        }
        assert!(self.spec.rows != Rows::Down || chunks.count == 1, "{} planes of columns", chunks.count);
        let joint = usize::from(self.joint);
        if joint > 1 && !self.far {
            (args.joint, args.rows) = (chunk.rows / joint, chunk.rows % joint);
        }
        // SAFETY: the elements of all rows are inside the memory that was checked, and totals inside theirs.
        unsafe { code.call(&args) }
    }
}

/// Elements from one own row of a worker to the next, or of a task's sums.
fn own_row(run: usize) -> usize {
    run.next_multiple_of(LINE)
}

impl Spec {
    fn new(stages: Vec<Part>, operands: Vec<(Elem, Way)>, rows: Rows) -> Spec {
        Spec { stages, operands, rows, streaming: false, flushes: false, near: 1 }
    }

    /// The operands in memory.
    fn placed(&self) -> impl Iterator<Item = (usize, (Elem, Way))> + '_ {
        self.operands.iter().copied().enumerate().filter(|o| o.1.1 != Way::Made)
    }

    /// Vectors of columns that are processed together, as many as there are registers for sums and for columns.
    fn columns_together(&self, isa: Isa) -> usize {
        let lines = self.operands.iter().filter(|o| o.1 == Way::Column).count() + self.stages.iter().map(|s| s.folds.len()).sum::<usize>();
        let long = self.stages.iter().any(Part::is_long);
        if long { 1 } else { (isa.simd_registers() / 2 / lines.max(1)).clamp(1, TOGETHER) }
    }

    /// Vectors of a row that the call counts together.
    fn together(&self, isa: Isa) -> usize {
        if self.rows == Rows::Down { self.columns_together(isa) } else { TOGETHER / self.rows_together().min(2) }
    }

    /// Vectors of a row that a stage processes together.
    fn vectors_together(&self, stage: &Part) -> usize {
        stage.together().min(TOGETHER / self.rows_together().min(2))
    }

    /// Rows that are processed together if something is folded over each: while one waits for its fold, the others proceed. Of short rows
    /// there are more; the addresses of all rows must stay in registers.
    fn rows_together(&self) -> usize {
        if self.rows == Rows::Down || self.stages.iter().all(|stage| stage.folds.is_empty()) {
            return 1;
        }
        let count = |of: &[Way]| self.operands.iter().filter(|o| of.contains(&o.1)).count();
        let (shared, each) = (count(&[Way::Column, Way::Sums]), count(&[Way::Moves, Way::Own]));
        let most = if self.near == 4 || matches!(self.rows, Rows::Few { .. }) { 4 } else { 2 };
        [4, 2].into_iter().find(|rows| *rows <= most && rows * each + shared <= JOINT_ADDRESSES).unwrap_or(1)
    }

    /// Whether an operand is only read.
    fn reads(&self, operand: usize) -> bool {
        self.stages.iter().any(|s| s.loads(operand))
            && !self.stages.iter().any(|s| s.writes(operand) || s.folds.iter().any(|f| f.2 == operand))
    }
}

impl Part {
    fn of(stage: &Stage) -> Part {
        let folds = stage.folds.iter().map(|f| (f.register, f.op, f.operand)).collect();
        Part { over: stage.over, steps: stage.steps.clone(), folds }
    }

    fn loads(&self, operand: usize) -> bool {
        let load = |s: &Step| matches!(s, Step::Load { operand: o, .. } | Step::With { operand: o, .. } if *o == operand);
        self.steps.iter().any(load)
    }

    fn writes(&self, operand: usize) -> bool {
        self.steps.iter().any(|s| matches!(s, Step::Store { operand: o, .. } if *o == operand))
    }

    /// Whether its last step squares a register that is then summed.
    fn squared(&self) -> bool {
        let [(register, FoldOp::Sum, _)] = self.folds[..] else { return false };
        let square = |formula| matches!(formula, Formula::Forward(unary) if unary.alg == EltwiseAlg::Square);
        matches!(self.steps.last(), Some(Step::Apply { at, formula }) if *at == register && square(*formula))
    }

    /// Vectors that are processed together.
    fn together(&self) -> usize {
        if self.steps.len() > SHORT || self.is_long() { 1 } else { TOGETHER }
    }

    /// Whether it has a formula of many instructions.
    fn is_long(&self) -> bool {
        self.steps.iter().any(Step::is_long)
    }
}

//! Programs as generated code: the steps of stages on vectors in registers, from loads to stores.
//!
//! The programs are those of [`Builder`](super::Builder): either one stage element by element, whose rows are the innermost loop, or the
//! stages of a group that folds rows. Operands must either stand still along a row, and are then read once for it, or lie closest there. What
//! a stage has folded stays in registers, so tables take no memory. Code depends on the steps, on the types, and on which operands move,
//! never on sizes. A call makes rows; each stage makes vectors four at a time where steps are short, so that a loop costs little beside them,
//! then one by one, then what is left of a row under a mask.
//!
//! One of the few files with unsafe code: every address is checked against its buffer before the call.

use super::fold::FoldOp;
use super::formula::Unary;
use super::operand::Kind;
use super::pipeline::{Bound, Group, Pipeline};
use super::program::{Over, REGISTERS, Source, Stage, Step};
use super::{Chunk, Chunks, GRAIN, OPERANDS, split};
use crate::CpuTarget;
use crate::kernels::code::{Kernels, Key, elem};
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::Scratch;
use crate::kernels::tile::value::{Value, formula, has_power, is_short};
use crate::row::{Kernel, RowPlan};
use oxidnn_expr::{Num, binary, eltwise};
use oxidnn_jit::ir::{Addr, Binary, Compare, Elem, Int, Pred, Val};
use oxidnn_jit::{Entry, Function, Isa};
use oxidnn_runtime::{Ctx, Plan, Skip};
use oxidnn_spec::op::{BinaryAlg, EltwiseAlg};
use oxidnn_spec::{Error, Problem};
use std::mem::offset_of;
use std::sync::OnceLock;

#[cfg(test)]
mod tests;

/// Most operands in memory: their addresses stay in registers.
const MOST: usize = 6;
/// Most steps of a stage whose vectors are made together.
const SHORT: usize = 6;
/// Vectors that are made at a time.
const TOGETHER: usize = 4;

/// What a kernel is made for. This is its key.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Spec {
    stages: Vec<Part>,
    operands: Vec<(Elem, Way)>,
    rows: Rows,
}

/// How long rows are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Rows {
    /// As long as the call says.
    Any,
    /// So many vectors, at most [`TOGETHER`], and some numbers under a mask behind them or none: written out, without loops.
    Few {
        /// Whole vectors.
        vectors: u8,
        /// Whether there are numbers behind them.
        left: bool,
    },
}

impl Rows {
    /// Rows of `run` numbers.
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

/// How an operand goes along a row.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Way {
    /// An element for each position, closest together.
    Moves,
    /// One element for all.
    Still,
    /// One number for all that a stage has made, in no memory.
    Made,
}

/// Arguments of a kernel.
#[repr(C)]
#[derive(Debug)]
struct Args {
    /// Planes of rows, and rows of each, at least 1.
    planes: usize,
    rows: usize,
    /// Vectors of a row, in times of [`TOGETHER`] and single ones behind, or all; and numbers left.
    together: usize,
    single: usize,
    vectors: usize,
    left: usize,
    /// The operands' first elements.
    at: [*mut u8; MOST],
    /// Bytes from row to row, and from behind the last row of a plane to the next plane.
    row: [usize; MOST],
    plane: [usize; MOST],
}

static PROGRAMS: Kernels<Spec> = Kernels::new();

impl Key for Spec {
    type Args = Args;

    fn name(&self, isa: Isa) -> String {
        let types: Vec<String> = self.operands.iter().map(|o| format!("{:?}", o.0).to_lowercase()).collect();
        let steps = self.stages.iter().map(|s| s.steps.len() + s.folds.len()).sum::<usize>();
        format!("program.{}.{steps}steps.{}", types.join(""), isa.name())
    }

    fn function(&self, isa: Isa) -> Function {
        let mut f = Function::new(isa);
        Writer::new(self).write(&mut f);
        f
    }
}

/// A pipeline of one stage, or of one group that folds rows, generated.
#[derive(Debug)]
pub struct Program {
    pipeline: Pipeline,
    isa: Isa,
    /// Rows are the reduced positions, not the innermost loop of the kept ones.
    folded: bool,
    spec: Spec,
    /// Positions of a task.
    grain: i64,
    code: OnceLock<Entry<Args>>,
}

impl Program {
    /// The plan of the generated pipeline that `make` makes of the problem with its layouts resolved.
    ///
    /// # Errors
    /// What `make` or [`Program::new`] declines.
    pub fn plan(
        problem: &Problem,
        target: &CpuTarget,
        make: impl FnOnce(&Problem) -> Result<(Pipeline, usize), Skip>,
    ) -> Result<Box<dyn Plan>, Skip> {
        let isa = target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?;
        RowPlan::resolved(problem, target, |problem| {
            let (pipeline, scratch) = make(problem)?;
            Ok((Program::new(pipeline, isa)?, scratch))
        })
    }

    /// The pipeline as generated code.
    ///
    /// # Errors
    /// [`Skip`] for several groups, for rows that are not one run or are folded in parts, for types and formulas that generated code does
    /// not know, and for operands that neither stand still nor lie closest along a row.
    pub fn new(pipeline: Pipeline, isa: Isa) -> Result<Program, Skip> {
        let [group] = &pipeline.groups[..] else { return Err(Skip::Op("several passes")) };
        let grid = group.grid.as_ref().ok_or(Skip::Shape("sizes known at execution only"))?;
        let folded = grid.reduced.volume() != 1;
        if !folded && (group.stages.len() != 1 || !group.stages[0].folds.is_empty()) {
            return Err(Skip::Shape("rows of one element"));
        }
        if folded && (grid.segments() != 1 || grid.reduced.innermost(0).0 != grid.reduced.volume()) {
            return Err(Skip::Shape("rows that are not one run"));
        }
        let nest = if folded { &grid.reduced } else { &grid.kept };
        let stages: Vec<Part> = group.stages.iter().map(Part::of).collect();
        if let Some(f) = stages.iter().flat_map(|s| &s.steps).find_map(unknown) {
            return Err(Skip::Attr(format!("a power of {}", f.beta)));
        }
        let mut operands = Vec::new();
        for (i, operand) in group.operands.iter().enumerate() {
            let way = match (operand.source, nest.step(i)) {
                (Source::Table(_), Some(0)) => Way::Made,
                (Source::Argument(_), Some(0)) => Way::Still,
                (Source::Argument(_), Some(1)) => Way::Moves,
                _ => return Err(Skip::Layout("operands that lie apart along a row".into())),
            };
            let Kind::Number(dtype) = operand.kind else { return Err(Skip::DataType("bits".into())) };
            let elem = elem(dtype).filter(|e| *e != Elem::I32).ok_or_else(|| Skip::DataType(format!("{dtype} in generated code")))?;
            if way != Way::Moves && stages.iter().any(|s| s.over == Over::All && s.writes(i)) {
                return Err(Skip::Layout("a result that stands still along a row".into()));
            }
            operands.push((elem, way));
        }
        if operands.iter().filter(|o| o.1 != Way::Made).count() > MOST || operands.len() > OPERANDS {
            return Err(Skip::Attr(format!("more than {MOST} tensors")));
        }
        let run = nest.innermost(0).0;
        let several = nest.run().filter(|run| !folded && *run < nest.volume());
        // Rows of half a vector are whole ones of half the width, which need no mask.
        let isa = if several == Some(Isa::AVX2.width().lanes() as i64) { Isa::AVX2 } else { isa };
        let lanes = isa.width().lanes() as i64;
        let rows = several.map_or(Rows::Any, |run| Rows::of(run, lanes));
        // Without masks for narrow numbers, these are taken one by one.
        let narrow = !isa.avx512 && run % lanes != 0 && operands.iter().any(|o| o.0.bytes() < 4);
        let least = if rows == Rows::Any { lanes / 2 } else { lanes / 4 };
        if (folded || run < nest.volume()) && (run < least || narrow) {
            return Err(Skip::Shape("short rows"));
        }
        // Rows that are written out are never cut.
        let grain = if rows == Rows::Any { GRAIN } else { GRAIN / run * run };
        Ok(Program { spec: Spec { stages, operands, rows }, folded, pipeline, isa, grain, code: OnceLock::new() })
    }

    fn group(&self, group: &Group, ctx: &Ctx<'_>) -> Result<(), Error> {
        let (Some(code), Some(grid)) = (self.code.get(), &group.grid) else {
            return Err(Error::Runtime("code that was not prepared".into()));
        };
        let bound = group.bind(ctx, ctx.scratch_buf())?;
        if !self.folded {
            split(ctx.executor(), grid.kept.volume(), self.grain, &|range| {
                grid.kept.repeated(range, |chunks| self.chunks(code, &bound, chunks));
            });
            return Ok(());
        }
        let run = grid.reduced.volume() as usize;
        split(ctx.executor(), grid.kept.volume(), grid.block, &|range| {
            grid.kept.runs(range, i64::MAX as usize, |kept| {
                let chunk = Chunk { at: kept.at, run, rows: kept.len, inner: &[0; OPERANDS], outer: kept.strides };
                self.chunks(code, &bound, &Chunks { chunk, count: 1, strides: &[0; OPERANDS] });
            });
        });
        Ok(())
    }

    /// Runs chunks.
    ///
    /// # Panics
    /// When an element lies outside its buffer.
    fn chunks(&self, code: &Entry<Args>, bound: &Bound, chunks: &Chunks<'_>) {
        let (chunk, lanes) = (&chunks.chunk, self.isa.width().lanes());
        let (run, together) = (chunk.run, lanes * TOGETHER);
        let mut args = Args {
            planes: chunks.count,
            rows: chunk.rows,
            together: run / together,
            single: run % together / lanes,
            vectors: run / lanes,
            left: run % lanes,
            at: [std::ptr::null_mut(); MOST],
            row: [0; MOST],
            plane: [0; MOST],
        };
        for (slot, (i, (elem, way))) in self.spec.placed().enumerate() {
            let (buf, size) = (bound.memory[i].buf, elem.bytes());
            let (at, row, plane) = (chunk.at[i] as usize, chunk.outer[i] as usize, chunks.strides[i] as usize);
            let before = row.checked_mul(chunk.rows - 1).zip(plane.checked_mul(chunks.count - 1));
            let last = before
                .and_then(|(rows, planes)| rows.checked_add(planes)?.checked_add(at)?.checked_add(if way == Way::Moves { run } else { 1 }));
            let end = last.and_then(|n| n.checked_mul(size));
            assert!(end.is_some_and(|end| end <= buf.len()), "element {last:?} of a buffer of {} bytes", buf.len());
            (args.at[slot], args.row[slot]) = (buf.as_ptr().wrapping_add(at * size), row * size);
            args.plane[slot] = plane.wrapping_sub(row.wrapping_mul(chunk.rows)).wrapping_mul(size);
        }
        if let Rows::Few { vectors, left } = self.spec.rows {
            assert!(usize::from(vectors) == run / lanes && left == (run % lanes > 0), "a row of {run}");
        }
        // SAFETY: the elements of all rows lie in the buffers, as was checked; buffers are valid by the promise of `Buf::new`.
        unsafe { code.call(&args) }
    }
}

impl Kernel for Program {
    fn prepare(&self) -> Result<(), Error> {
        if self.code.get().is_none() {
            let _ = self.code.set(PROGRAMS.get(self.isa, &self.spec)?);
        }
        Ok(())
    }

    fn run(&self, _: Simd, ctx: &Ctx<'_>, _scratch: Scratch<'_>) -> Result<(), Error> {
        self.pipeline.around(ctx, |group| self.group(group, ctx))
    }
}

/// The function of a step that generated code does not know.
fn unknown(step: &Step) -> Option<Unary> {
    let (Step::Forward { f, .. } | Step::Backward(f)) = step else { return None };
    let power = if matches!(step, Step::Backward(_)) { f.beta.get() - 1.0 } else { f.beta.get() };
    (f.alg == EltwiseAlg::Pow && !has_power(power)).then_some(*f)
}

impl Spec {
    /// The operands in memory.
    fn placed(&self) -> impl Iterator<Item = (usize, (Elem, Way))> + '_ {
        self.operands.iter().copied().enumerate().filter(|o| o.1.1 != Way::Made)
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

    /// Vectors made at a time.
    fn together(&self) -> usize {
        let long = |step: &Step| matches!(step, Step::Forward { f, .. } | Step::Backward(f) if !is_short(f.alg));
        if self.steps.len() > SHORT || self.steps.iter().any(long) { 1 } else { TOGETHER }
    }
}

/// The vectors of a program's registers.
type Registers = [Option<Val>; REGISTERS];

/// Where vectors are made.
struct Place {
    /// Elements of the row before, and vectors after those; `None` for what is made once a row.
    at: Option<(Int, usize)>,
    mask: Option<Pred>,
}

/// What writes a kernel: the addresses of the operands' row, and what operands are that stand still.
struct Writer<'s> {
    spec: &'s Spec,
    at: Vec<Option<Int>>,
    still: Vec<Option<Val>>,
}

fn field(f: &mut Function, args: Int, offset: usize) -> Int {
    f.load_int(args.at(offset as i32))
}

impl<'s> Writer<'s> {
    fn new(spec: &'s Spec) -> Writer<'s> {
        Writer { spec, at: vec![None; spec.operands.len()], still: vec![None; spec.operands.len()] }
    }

    fn write(&mut self, f: &mut Function) {
        let (args, spec) = (f.arguments(), self.spec);
        for (slot, (i, _)) in spec.placed().enumerate() {
            self.at[i] = Some(field(f, args, offset_of!(Args, at) + size_of::<usize>() * slot));
        }
        let few = match spec.rows {
            Rows::Few { vectors, left } => {
                let mask = left.then(|| {
                    let left = field(f, args, offset_of!(Args, left));
                    f.first_lanes(left)
                });
                Some((f.int(0), usize::from(vectors), mask))
            }
            Rows::Any => None,
        };
        let planes = field(f, args, offset_of!(Args, planes));
        f.repeat_some(planes, |f| {
            let rows = field(f, args, offset_of!(Args, rows));
            f.repeat_some(rows, |f| {
                self.row(f, args, few);
                self.go_on(f, args, offset_of!(Args, row));
            });
            self.go_on(f, args, offset_of!(Args, plane));
        });
    }

    /// Moves all operands by distances among the arguments.
    fn go_on(&self, f: &mut Function, args: Int, distances: usize) {
        for (slot, (i, _)) in self.spec.placed().enumerate() {
            let distance = field(f, args, distances + size_of::<usize>() * slot);
            self.at[i].iter().for_each(|at| f.add(*at, distance));
        }
    }

    /// All stages on a row; `few` are a zero, its vectors and the mask of what is left, where it is written out.
    fn row(&mut self, f: &mut Function, args: Int, few: Option<(Int, usize, Option<Pred>)>) {
        let spec = self.spec;
        for (i, (elem, way)) in spec.placed() {
            if let (Way::Still, Some(at), true) = (way, self.at[i], spec.reads(i)) {
                self.still[i] = Some(f.splat_as(elem, at.at(0)));
            }
        }
        for stage in &spec.stages {
            match (stage.over, few) {
                (Over::All, None) => self.stage(f, args, stage),
                (Over::All, Some((zero, vectors, mask))) => {
                    let whole = (0..vectors).map(|vector| Place { at: Some((zero, vector)), mask: None });
                    let left = mask.map(|mask| Place { at: Some((zero, vectors)), mask: Some(mask) });
                    whole.chain(left).for_each(|place| self.vector(f, stage, &place, &[]));
                }
                (Over::Kept, _) => {
                    let mut r: Registers = [None; REGISTERS];
                    stage.steps.iter().for_each(|step| self.step(f, step, &mut r, &Place { at: None, mask: None }));
                }
            }
        }
    }

    /// A stage over the elements of a row.
    fn stage(&mut self, f: &mut Function, args: Int, stage: &Part) {
        let lanes = f.isa().width().lanes();
        let together = stage.together();
        // One vector of what has been folded for each that is made at a time, so that one need not wait for the other.
        let totals: Vec<Vec<Val>> = stage.folds.iter().map(|fold| (0..together).map(|_| neutral(f, fold.1)).collect()).collect();
        totals.iter().flatten().for_each(|total| f.pin(*total));
        let index = f.int(0);
        if together > 1 {
            let count = field(f, args, offset_of!(Args, together));
            f.repeat(count, |f| {
                (0..together).for_each(|vector| self.vector(f, stage, &Place { at: Some((index, vector)), mask: None }, &totals));
                f.add(index, (together * lanes) as i32);
            });
        }
        let count = field(f, args, if together > 1 { offset_of!(Args, single) } else { offset_of!(Args, vectors) });
        f.repeat(count, |f| {
            self.vector(f, stage, &Place { at: Some((index, 0)), mask: None }, &totals);
            f.add(index, lanes as i32);
        });
        let left = field(f, args, offset_of!(Args, left));
        f.when(Compare::Gt, left, 0, |f| {
            let mask = f.first_lanes(left);
            self.vector(f, stage, &Place { at: Some((index, 0)), mask: Some(mask) }, &totals);
        });
        for ((_, op, operand), totals) in stage.folds.iter().zip(&totals) {
            let total = across(f, *op, totals);
            self.keep(f, *operand, total);
        }
    }

    /// The steps on one vector of a row.
    fn vector(&mut self, f: &mut Function, stage: &Part, place: &Place, totals: &[Vec<Val>]) {
        let mut r: Registers = [None; REGISTERS];
        stage.steps.iter().for_each(|step| self.step(f, step, &mut r, place));
        for ((register, op, _), totals) in stage.folds.iter().zip(totals) {
            let x = get(f, &r, *register);
            let x = match place.mask {
                Some(mask) => {
                    let nothing = neutral(f, *op);
                    f.select(mask, x, nothing)
                }
                None => x,
            };
            let total = totals[place.at.map_or(0, |at| at.1)];
            let sum = fold(f, *op, x, total);
            f.assign(total, sum);
        }
    }

    /// The address of an operand's vector, of its one element where it stands still.
    fn address(&self, f: &Function, operand: usize, place: &Place) -> Option<Addr> {
        let size = self.spec.operands[operand].0.bytes();
        let at = self.at[operand]?;
        Some(match place.at {
            Some((index, vector)) => at.indexed(index, size as u8, (vector * f.isa().width().lanes() * size) as i32),
            None => at.at(0),
        })
    }

    fn load(&self, f: &mut Function, operand: usize, place: &Place) -> Val {
        let (elem, way) = self.spec.operands[operand];
        match (self.still[operand], self.address(f, operand, place), self.at[operand]) {
            (Some(still), ..) => still,
            (None, Some(at), _) if way == Way::Moves => f.load_as(elem, at, place.mask),
            (None, _, Some(at)) => f.splat_as(elem, at.at(0)),
            _ => f.zero(f.isa().width()),
        }
    }

    /// Keeps a number that is the same in all lanes as the operand's for the row, and stores it where the operand is in memory.
    fn keep(&mut self, f: &mut Function, operand: usize, x: Val) {
        if let Some(at) = self.at[operand] {
            let one = f.int(1);
            let mask = f.first_lanes(one);
            f.store_as(self.spec.operands[operand].0, at.at(0), x, Some(mask));
        } else {
            self.still[operand] = Some(x);
        }
    }

    fn step(&mut self, f: &mut Function, step: &Step, r: &mut Registers, place: &Place) {
        match *step {
            Step::Load { to, operand } => r[to] = Some(self.load(f, operand, place)),
            Step::Store { from, operand } => {
                let x = get(f, r, from);
                match (place.at, self.address(f, operand, place)) {
                    (Some(_), Some(at)) => f.store_as(self.spec.operands[operand].0, at, x, place.mask),
                    _ => self.keep(f, operand, x),
                }
            }
            Step::Copy { to, from } => r[to] = r[from],
            // Of two operands the second is taken where one is NaN.
            Step::Forward { at, f: Unary { alg: EltwiseAlg::Relu | EltwiseAlg::ReluDst, alpha, .. } } if alpha.get() == 0.0 => {
                let (zero, x) = (f.zero(f.isa().width()), get(f, r, at));
                r[at] = Some(f.binary(Binary::MaxF32, zero, x));
            }
            Step::Forward { at, f: Unary { alg, alpha, beta } } => {
                let x = get(f, r, at);
                r[at] = Some(formula(f, |v| eltwise::forward(alg, alpha.get(), beta.get(), v.value(x))));
            }
            Step::Backward(Unary { alg, alpha, beta }) => {
                let (dd, x) = (get(f, r, 0), get(f, r, 1));
                r[0] = Some(formula(f, |v| eltwise::backward(alg, alpha.get(), beta.get(), v.value(dd), v.value(x))));
            }
            Step::Both { at, alg } => {
                let (x, y) = (get(f, r, at), get(f, r, at + 1));
                let z = if alg == BinaryAlg::Select { Some(get(f, r, at + 2)) } else { None };
                r[at] = Some(formula(f, |v| {
                    let condition = z.map_or(Value::constant(0.0), |z| v.value(z));
                    binary::apply(alg, v.value(x), v.value(y), condition)
                }));
            }
            Step::With { at, alg, operand } => {
                let (x, y) = (get(f, r, at), self.load(f, operand, place));
                r[at] = Some(formula(f, |v| binary::apply(alg, v.value(x), v.value(y), Value::constant(1.0))));
            }
            Step::Prelu => {
                let (x, y) = (get(f, r, 0), get(f, r, 1));
                r[0] = Some(formula(f, |v| binary::prelu(v.value(x), v.value(y))));
            }
            Step::Accumulate { scale, zero_point } => {
                let (x, y) = (get(f, r, 0), get(f, r, 1));
                let (scale, zero_point) = (f64::from(scale.get()), f64::from(zero_point.get()));
                r[0] = Some(formula(f, |v| {
                    let y = if zero_point == 0.0 { v.value(y) } else { v.value(y).sub(Value::constant(zero_point)) };
                    if scale == 1.0 { v.value(x).add(y) } else { y.mul_add(Value::constant(scale), v.value(x)) }
                }));
            }
        }
    }
}

/// A register; zeros where nothing has been loaded.
fn get(f: &mut Function, r: &Registers, i: usize) -> Val {
    r.get(i).copied().flatten().unwrap_or_else(|| f.zero(f.isa().width()))
}

fn neutral(f: &mut Function, op: FoldOp) -> Val {
    f.splat_f32(f.isa().width(), op.neutral() as f32)
}

/// Two vectors folded: the second, which is never NaN by itself, where the first is NaN and `op` leaves those out.
fn fold(f: &mut Function, op: FoldOp, x: Val, total: Val) -> Val {
    let op = match op {
        FoldOp::Sum => Binary::AddF32,
        FoldOp::Mul => Binary::MulF32,
        FoldOp::Max => Binary::MaxF32,
        FoldOp::Min => Binary::MinF32,
    };
    f.binary(op, x, total)
}

/// All lanes of some vectors folded, in all lanes: halves are exchanged, then quarters, and so on.
fn across(f: &mut Function, op: FoldOp, totals: &[Val]) -> Val {
    let mut total = totals[0];
    for other in &totals[1..] {
        total = fold(f, op, *other, total);
    }
    let lanes = f.isa().width().lanes() as u32;
    let mut distance = lanes / 2;
    while distance > 0 {
        let bytes: Vec<u8> = (0..lanes).flat_map(|lane| (lane ^ distance).to_le_bytes()).collect();
        let at = f.constant(&bytes);
        let from = f.load(f.isa().width(), at);
        let exchanged = f.binary(Binary::Lookup32, from, total);
        total = fold(f, op, exchanged, total);
        distance /= 2;
    }
    total
}

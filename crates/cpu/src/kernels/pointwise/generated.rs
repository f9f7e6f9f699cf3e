//! Programs as generated code: the steps of an element by element stage on vectors in registers, from loads to stores.
//!
//! The programs are those of [`Builder`](super::Builder). Operands must either stand still along the innermost loop, and are then read once a
//! row, or lie closest there. Code depends on the steps, on the types, and on which operands move, never on sizes. A call makes rows of
//! positions: vectors four at a time where steps are short, so that a loop costs little beside them, then one by one, then what is left of a
//! row under a mask.
//!
//! One of the few files with unsafe code: every address is checked against its buffer before the call.

use super::formula::Unary;
use super::operand::Kind;
use super::pipeline::{Bound, Group, Pipeline};
use super::program::{REGISTERS, Source, Step};
use super::{Chunk, GRAIN, split};
use crate::CpuTarget;
use crate::kernels::code::{Kernels, Key};
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::Scratch;
use crate::kernels::tile::value::{Value, formula, has_power, is_short};
use crate::row::{Kernel, RowPlan};
use oxidnn_expr::{Num, binary, eltwise};
use oxidnn_jit::ir::{Addr, Binary, Compare, Elem, Int, Pred, Val};
use oxidnn_jit::{Entry, Function, Isa};
use oxidnn_runtime::{Buf, Ctx, Plan, Skip};
use oxidnn_spec::op::{BinaryAlg, EltwiseAlg};
use oxidnn_spec::{DataType, Error, Problem};
use std::mem::offset_of;
use std::sync::OnceLock;

/// Most operands: their addresses stay in registers.
const MOST: usize = 6;
/// Most steps that vectors go through four at a time.
const SHORT: usize = 6;
/// Vectors that are made at a time.
const TOGETHER: usize = 4;

/// What a kernel is made for. This is its key.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Spec {
    steps: Vec<Step>,
    /// Types of the operands, and whether they move along a row.
    operands: Vec<(Elem, bool)>,
}

/// Arguments of a kernel.
#[repr(C)]
#[derive(Debug)]
struct Args {
    /// Rows, at least 1.
    rows: usize,
    /// In each: [`TOGETHER`] vectors at a time, single vectors, and numbers left.
    together: usize,
    single: usize,
    left: usize,
    /// The operands' first elements.
    at: [*mut u8; MOST],
    /// Bytes from row to row.
    row: [usize; MOST],
}

static PROGRAMS: Kernels<Spec> = Kernels::new();

impl Key for Spec {
    type Args = Args;

    fn name(&self, isa: Isa) -> String {
        let types: Vec<String> = self.operands.iter().map(|o| format!("{:?}", o.0).to_lowercase()).collect();
        format!("program.{}.{}steps.{}", types.join(""), self.steps.len(), isa.name())
    }

    fn function(&self, isa: Isa) -> Function {
        let mut f = Function::new(isa);
        Writer { spec: self }.write(&mut f);
        f
    }
}

/// The type as kernels read and write it.
fn elem(dtype: DataType) -> Option<Elem> {
    Some(match dtype {
        DataType::F32 => Elem::F32,
        DataType::Bf16 => Elem::Bf16,
        DataType::F16 => Elem::F16,
        DataType::S8 => Elem::I8,
        DataType::U8 => Elem::U8,
        _ => return None,
    })
}

/// A pipeline of one stage, generated.
#[derive(Debug)]
pub struct Program {
    pipeline: Pipeline,
    isa: Isa,
    spec: Spec,
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
    /// [`Skip`] for what is not one stage over all positions, for types and formulas that generated code does not know, and for operands
    /// that neither stand still nor lie closest along the innermost loop.
    pub fn new(pipeline: Pipeline, isa: Isa) -> Result<Program, Skip> {
        let [group] = &pipeline.groups[..] else { return Err(Skip::Op("several stages")) };
        let [stage] = &group.stages[..] else { return Err(Skip::Op("several stages")) };
        let grid = group.grid.as_ref().ok_or(Skip::Shape("sizes known at execution only"))?;
        if grid.reduced.volume() != 1 || !stage.folds.is_empty() {
            return Err(Skip::Op("a reduction"));
        }
        if group.operands.len() > MOST {
            return Err(Skip::Attr(format!("more than {MOST} tensors")));
        }
        if let Some(f) = stage.steps.iter().find_map(unknown) {
            return Err(Skip::Attr(format!("a power of {}", f.beta)));
        }
        let mut operands = Vec::new();
        for (i, operand) in group.operands.iter().enumerate() {
            let (Kind::Number(dtype), Source::Argument(_)) = (operand.kind, operand.source) else {
                return Err(Skip::DataType("bits".into()));
            };
            let elem = elem(dtype).ok_or_else(|| Skip::DataType(format!("{dtype} in generated code")))?;
            let mut steps = grid.kept.steps().map(|s| s[i]);
            let step = steps.next().unwrap_or(0);
            let written = stage.steps.iter().any(|s| matches!(s, Step::Store { operand, .. } if *operand == i));
            if steps.any(|s| s != step) || !(step == 1 || step == 0 && !written) {
                return Err(Skip::Layout("operands that lie apart along the innermost loop".into()));
            }
            operands.push((elem, step == 1));
        }
        let (run, lanes) = (grid.kept.innermost(0).0, isa.width().lanes() as i64);
        // Without masks for narrow numbers, these are taken one by one.
        let narrow = !isa.avx512 && run % lanes != 0 && operands.iter().any(|o| o.0.bytes() < 4);
        if run < grid.kept.volume() && (run < lanes / 2 || narrow) {
            return Err(Skip::Shape("short rows"));
        }
        let spec = Spec { steps: stage.steps.clone(), operands };
        Ok(Program { pipeline, isa, spec, code: OnceLock::new() })
    }

    fn group(&self, group: &Group, ctx: &Ctx<'_>) -> Result<(), Error> {
        let (Some(code), Some(grid)) = (self.code.get(), &group.grid) else {
            return Err(Error::Runtime("code that was not prepared".into()));
        };
        let bound = group.bind(ctx, Buf::empty())?;
        split(ctx.executor, grid.kept.volume(), GRAIN, &|range| {
            grid.kept.chunks(range, i64::MAX, |chunk| self.chunk(code, &bound, chunk));
        });
        Ok(())
    }

    /// Runs a chunk.
    ///
    /// # Panics
    /// When an element lies outside its buffer.
    fn chunk(&self, code: &Entry<Args>, bound: &Bound, chunk: &Chunk<'_>) {
        let lanes = self.isa.width().lanes();
        let (run, together) = (chunk.run, lanes * self.spec.together());
        let mut args = Args {
            rows: chunk.rows,
            together: run / together,
            single: run % together / lanes,
            left: run % lanes,
            at: [std::ptr::null_mut(); MOST],
            row: [0; MOST],
        };
        for (i, (elem, moves)) in self.spec.operands.iter().enumerate() {
            let (buf, size) = (bound.memory[i].buf, elem.bytes());
            let (at, row) = (chunk.at[i] as usize, chunk.outer[i] as usize);
            let last = row.checked_mul(chunk.rows - 1).and_then(|rows| rows.checked_add(at)?.checked_add(if *moves { run } else { 1 }));
            let end = last.and_then(|n| n.checked_mul(size));
            assert!(end.is_some_and(|end| end <= buf.len()), "element {last:?} of a buffer of {} bytes", buf.len());
            (args.at[i], args.row[i]) = (buf.as_ptr().wrapping_add(at * size), row * size);
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

    fn run(&self, simd: Simd, ctx: &Ctx<'_>, _scratch: Scratch<'_>) -> Result<(), Error> {
        self.pipeline.around(simd, ctx, |group| self.group(group, ctx))
    }
}

/// The function of a step that generated code does not know.
fn unknown(step: &Step) -> Option<Unary> {
    let (Step::Forward { f, .. } | Step::Backward(f)) = step else { return None };
    let power = if matches!(step, Step::Backward(_)) { f.beta.get() - 1.0 } else { f.beta.get() };
    (f.alg == EltwiseAlg::Pow && !has_power(power)).then_some(*f)
}

impl Spec {
    /// Vectors made at a time.
    fn together(&self) -> usize {
        let long = |step: &Step| matches!(step, Step::Forward { f, .. } | Step::Backward(f) if !is_short(f.alg));
        if self.steps.len() > SHORT || self.steps.iter().any(long) { 1 } else { TOGETHER }
    }
}

/// The vectors of a program's registers.
type Registers = [Option<Val>; REGISTERS];

/// Where vectors are made.
struct Place<'p> {
    /// Addresses of the operands' row.
    at: &'p [Int],
    /// What operands that stand still are all over it.
    still: &'p [Option<Val>],
    /// Elements before.
    index: Int,
    /// Vectors after that.
    vector: usize,
    mask: Option<Pred>,
}

struct Writer<'s> {
    spec: &'s Spec,
}

impl Writer<'_> {
    fn write(&self, f: &mut Function) {
        let args = f.arguments();
        let field = |f: &mut Function, offset: usize| f.load_int(args.at(offset as i32));
        let lanes = f.isa().width().lanes();
        let operands = &self.spec.operands;
        let at: Vec<Int> = (0..operands.len()).map(|i| field(f, offset_of!(Args, at) + 8 * i)).collect();
        let rows = field(f, offset_of!(Args, rows));
        f.repeat_some(rows, |f| {
            let still: Vec<Option<Val>> =
                operands.iter().zip(&at).map(|((elem, moves), at)| (!moves).then(|| f.splat_as(*elem, at.at(0)))).collect();
            let index = f.int(0);
            let place = |vector, mask| Place { at: &at, still: &still, index, vector, mask };
            let together = self.spec.together();
            let count = field(f, offset_of!(Args, together));
            f.repeat(count, |f| {
                (0..together).for_each(|vector| self.vector(f, &place(vector, None)));
                f.add(index, (together * lanes) as i32);
            });
            let count = field(f, offset_of!(Args, single));
            f.repeat(count, |f| {
                self.vector(f, &place(0, None));
                f.add(index, lanes as i32);
            });
            let left = field(f, offset_of!(Args, left));
            f.when(Compare::Gt, left, 0, |f| {
                let mask = f.first_lanes(left);
                self.vector(f, &place(0, Some(mask)));
            });
            for (i, at) in at.iter().enumerate() {
                let row = field(f, offset_of!(Args, row) + 8 * i);
                f.add(*at, row);
            }
        });
    }

    /// The steps on one vector.
    fn vector(&self, f: &mut Function, place: &Place<'_>) {
        let mut r: Registers = [None; REGISTERS];
        for step in &self.spec.steps {
            self.step(f, step, &mut r, place);
        }
    }

    /// The address of an operand's vector.
    fn address(&self, f: &Function, operand: usize, place: &Place<'_>) -> Addr {
        let size = self.spec.operands[operand].0.bytes();
        place.at[operand].indexed(place.index, size as u8, (place.vector * f.isa().width().lanes() * size) as i32)
    }

    fn load(&self, f: &mut Function, operand: usize, place: &Place<'_>) -> Val {
        let at = self.address(f, operand, place);
        place.still[operand].unwrap_or_else(|| f.load_as(self.spec.operands[operand].0, at, place.mask))
    }

    fn step(&self, f: &mut Function, step: &Step, r: &mut Registers, place: &Place<'_>) {
        let width = f.isa().width();
        let get = |f: &mut Function, r: &Registers, i: usize| r.get(i).copied().flatten().unwrap_or_else(|| f.zero(width));
        match *step {
            Step::Load { to, operand } => r[to] = Some(self.load(f, operand, place)),
            Step::Store { from, operand } => {
                let (x, at) = (get(f, r, from), self.address(f, operand, place));
                f.store_as(self.spec.operands[operand].0, at, x, place.mask);
            }
            Step::Copy { to, from } => r[to] = r[from],
            // Of two operands the second is taken where one is NaN.
            Step::Forward { at, f: Unary { alg: EltwiseAlg::Relu | EltwiseAlg::ReluDst, alpha, .. } } if alpha.get() == 0.0 => {
                let (zero, x) = (f.zero(width), get(f, r, at));
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

//! The code of a program: rows, stages, steps.

use super::super::fold::FoldOp;
use super::super::program::{Over, REGISTERS, Step};
use super::{Args, Part, Rows, Spec, Way};
use crate::kernels::chain::{Formula, jit};
use oxidnn_jit::Function;
use oxidnn_jit::ir::{self, Addr, Binary, Compare, Elem, Int, Pred, Val};
use std::mem::offset_of;

/// Rows of one vector that are folded apart: a power of two.
const APART: usize = 4;

/// The vectors of a program's registers.
type Registers = [Option<Val>; REGISTERS];

/// Where vectors are made.
struct Place {
    /// Elements of the row before, and vectors after those; `None` for what is made once a row.
    at: Option<(Int, usize)>,
    mask: Option<Pred>,
    /// Which of the vectors that are folded apart it goes to.
    total: usize,
    /// The first or the second of two vectors that have every other element of as many as both have.
    half: Option<usize>,
}

/// What writes a kernel: the addresses of the operands' row, and what operands are that stand still.
pub(super) struct Writer<'s> {
    spec: &'s Spec,
    at: Vec<Option<Int>>,
    still: Vec<Option<Val>>,
    /// The vectors of columns of operands that are the same in all rows.
    columns: Vec<Vec<Val>>,
    /// The same of columns whose even and odd elements are vectors of their own.
    apart: Vec<Vec<Val>>,
    /// Two vectors of operands as they are in memory, and what is to be stored of the first of them.
    pairs: Vec<Option<Val>>,
    even: Vec<Option<Val>>,
}

fn field(f: &mut Function, args: Int, offset: usize) -> Int {
    f.load_int(args.at(offset as i32))
}

impl<'s> Writer<'s> {
    /// The writer of a kernel.
    pub(super) fn new(spec: &'s Spec) -> Writer<'s> {
        Writer {
            spec,
            at: vec![None; spec.operands.len()],
            still: vec![None; spec.operands.len()],
            columns: vec![Vec::new(); spec.operands.len()],
            apart: vec![Vec::new(); spec.operands.len()],
            pairs: vec![None; spec.operands.len()],
            even: vec![None; spec.operands.len()],
        }
    }

    /// Writes it.
    pub(super) fn write(&mut self, f: &mut Function) {
        let (args, spec) = (f.arguments(), self.spec);
        if spec.rows == Rows::Down {
            return self.down(f, args);
        }
        for (slot, (i, _)) in spec.placed().enumerate() {
            self.at[i] = Some(field(f, args, offset_of!(Args, at) + size_of::<usize>() * slot));
        }
        if let Rows::Joined(vectors) = spec.rows {
            return self.joined(f, args, vectors.into());
        }
        let few = match spec.rows {
            Rows::Few { vectors, left } => {
                let mask = left.then(|| {
                    let left = field(f, args, offset_of!(Args, left));
                    f.first_lanes(left)
                });
                Some((f.int(0), usize::from(vectors), mask))
            }
            Rows::Any | Rows::Joined(_) | Rows::Down => None,
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
        if spec.streaming {
            f.store_fence();
        }
    }

    /// Rows of some vectors, several at a time. What is the same in all rows of a plane is loaded before them.
    fn joined(&mut self, f: &mut Function, args: Int, vectors: usize) {
        let (spec, width) = (self.spec, f.isa().width());
        let Some(stage) = spec.stages.first() else { return };
        let (together, in_pairs) = (stage.together() / vectors, self.in_pairs(f, stage));
        let zero = f.int(0);
        let planes = field(f, args, offset_of!(Args, planes));
        f.repeat_some(planes, |f| {
            for (i, (elem, way)) in spec.placed() {
                let Some(at) = self.at[i] else { continue };
                match way {
                    Way::Still => self.still[i] = Some(splat(f, elem, at)),
                    Way::Column => {
                        let vector = |v: usize| f.load_number(elem, at.at((v * width.lanes() * elem.bytes()) as i32), None);
                        self.columns[i] = (0..vectors).map(vector).collect();
                        if in_pairs {
                            self.apart[i] = self.take_apart(f, (elem, at), i);
                        }
                    }
                    Way::Moves | Way::Made => {}
                }
            }
            let mut rows_of = |f: &mut Function, rows: usize| {
                self.vectors(f, stage, (zero, rows * vectors), &[]);
                for (i, (elem, _)) in spec.placed().filter(|operand| operand.1.1 == Way::Moves) {
                    self.at[i].iter().for_each(|at| f.add(*at, (rows * vectors * width.lanes() * elem.bytes()) as i32));
                }
            };
            let rows = field(f, args, offset_of!(Args, rows));
            if together > 1 {
                let times = f.copy(rows);
                f.shr(times, together.ilog2() as u8);
                f.repeat(times, |f| rows_of(f, 1 << together.ilog2()));
                f.and(rows, (1 << together.ilog2()) - 1);
            }
            f.repeat(rows, |f| rows_of(f, 1));
            self.go_on(f, args, offset_of!(Args, plane));
        });
        if spec.streaming {
            f.store_fence();
        }
    }

    /// The columns of all rows, some vectors at a time.
    fn down(&mut self, f: &mut Function, args: Int) {
        let (together, lanes) = (self.spec.columns_together(f.isa()), f.isa().width().lanes());
        let index = f.int(0);
        if together > 1 {
            let count = field(f, args, offset_of!(Args, together));
            f.repeat(count, |f| {
                self.columns(f, args, index, (together, None));
                f.add(index, (together * lanes) as i32);
            });
        }
        let count = field(f, args, if together > 1 { offset_of!(Args, single) } else { offset_of!(Args, vectors) });
        f.repeat(count, |f| {
            self.columns(f, args, index, (1, None));
            f.add(index, lanes as i32);
        });
        let left = field(f, args, offset_of!(Args, left));
        f.when(Compare::Gt, left, 0, |f| {
            let mask = f.first_lanes(left);
            self.columns(f, args, index, (1, Some(mask)));
        });
    }

    /// All rows of some vectors of columns, the first of which begin at an index. What stands still from row to row is loaded before them, what
    /// is folded is stored behind them.
    fn columns(&mut self, f: &mut Function, args: Int, index: Int, (vectors, mask): (usize, Option<Pred>)) {
        let (spec, width) = (self.spec, f.isa().width());
        let Some(stage) = spec.stages.first() else { return };
        let slot = |f: &mut Function, slot: usize| field(f, args, offset_of!(Args, at) + size_of::<usize>() * slot);
        // Rows of one vector are folded apart, so that one need not wait for the other.
        let lines = spec.operands.iter().filter(|o| o.1 == Way::Column).count();
        let room = f.isa().simd_registers().saturating_sub(lines + 6) / stage.folds.len().max(1);
        let apart = if vectors == 1 && !stage.is_long() { room.clamp(1, APART) } else { 1 };
        let apart = if apart < APART { 1 } else { apart };
        let totals = totals(f, stage, vectors.max(apart));
        let folded = |i: usize| stage.folds.iter().position(|fold| fold.2 == i);
        let (mut moving, mut ends) = (Vec::new(), Vec::new());
        for (at, (i, (elem, way))) in spec.placed().enumerate() {
            if let Some(fold) = folded(i) {
                ends.push((at, fold));
                continue;
            }
            let base = slot(f, at);
            self.at[i] = None;
            self.columns[i].clear();
            match way {
                Way::Column => {
                    for v in 0..vectors {
                        let at = base.indexed(index, elem.bytes() as u8, (v * width.lanes() * elem.bytes()) as i32);
                        let x = f.load_number(elem, at, mask);
                        f.pin(x);
                        self.columns[i].push(x);
                    }
                }
                Way::Moves => {
                    let first = f.address(base.indexed(index, elem.bytes() as u8, 0));
                    self.at[i] = Some(first);
                    moving.push((at, first));
                }
                Way::Still | Way::Made => {
                    self.at[i] = Some(base);
                    moving.push((at, base));
                }
            }
        }
        let moving: Vec<[Int; 2]> =
            moving.into_iter().map(|(at, address)| [address, field(f, args, offset_of!(Args, row) + size_of::<usize>() * at)]).collect();
        let (zero, rows) = (f.int(0), field(f, args, offset_of!(Args, rows)));
        let mut row = |f: &mut Function, first: usize| {
            (0..vectors).for_each(|v| self.vector(f, stage, &Place { at: Some((zero, v)), mask, total: first + v, half: None }, &totals));
            moving.iter().for_each(|[address, distance]| f.add(*address, *distance));
        };
        if apart > 1 {
            let times = f.copy(rows);
            f.shr(times, APART.ilog2() as u8);
            f.repeat(times, |f| (0..apart).for_each(|first| row(f, first)));
            f.and(rows, APART as i32 - 1);
        }
        f.repeat(rows, |f| row(f, 0));
        for (at, fold) in ends {
            let base = slot(f, at);
            let (op, totals) = (stage.folds[fold].1, &totals[fold]);
            for other in totals.iter().skip(vectors) {
                let sum = f.binary(operation(op), *other, totals[0]);
                f.assign(totals[0], sum);
            }
            for (v, total) in totals.iter().take(vectors).enumerate() {
                let to = base.indexed(index, 4, (v * width.bytes()) as i32);
                match mask {
                    Some(mask) => f.store_masked(to, *total, mask),
                    None => f.store(to, *total),
                }
            }
        }
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
                self.still[i] = Some(splat(f, elem, at));
            }
        }
        for stage in &spec.stages {
            match (stage.over, few) {
                (Over::All, None) => self.stage(f, args, stage),
                (Over::All, Some((zero, vectors, mask))) => {
                    let apart = stage.together().min(vectors + usize::from(mask.is_some()));
                    let totals = totals(f, stage, apart);
                    let whole = (0..vectors).map(|vector| (vector, None));
                    let left = mask.map(|mask| (vectors, Some(mask)));
                    whole.chain(left).for_each(|(vector, mask)| {
                        self.vector(f, stage, &Place { at: Some((zero, vector)), mask, total: vector % apart, half: None }, &totals);
                    });
                    self.folded(f, stage, &totals);
                }
                (Over::Kept, _) => {
                    let mut r: Registers = [None; REGISTERS];
                    stage.steps.iter().for_each(|step| self.step(f, step, &mut r, &Place { at: None, mask: None, total: 0, half: None }));
                }
            }
        }
    }

    /// A stage over the elements of a row.
    fn stage(&mut self, f: &mut Function, args: Int, stage: &Part) {
        let lanes = f.isa().width().lanes();
        let together = stage.together();
        // One vector of what has been folded for each that is made at a time, so that one need not wait for the other.
        let totals = totals(f, stage, together);
        let index = f.int(0);
        if together > 1 {
            let count = field(f, args, offset_of!(Args, together));
            f.repeat(count, |f| {
                self.vectors(f, stage, (index, together), &totals);
                f.add(index, (together * lanes) as i32);
            });
        }
        let count = field(f, args, if together > 1 { offset_of!(Args, single) } else { offset_of!(Args, vectors) });
        f.repeat(count, |f| {
            self.vectors(f, stage, (index, 1), &totals);
            f.add(index, lanes as i32);
        });
        let left = field(f, args, offset_of!(Args, left));
        f.when(Compare::Gt, left, 0, |f| {
            let mask = f.first_lanes(left);
            self.vector(f, stage, &Place { at: Some((index, 0)), mask: Some(mask), total: 0, half: None }, &totals);
        });
        self.folded(f, stage, &totals);
    }

    /// Keeps what a stage has folded over a row.
    fn folded(&mut self, f: &mut Function, stage: &Part, totals: &[Vec<Val>]) {
        for ((_, op, operand), totals) in stage.folds.iter().zip(totals) {
            let total = across(f, *op, totals);
            self.keep(f, *operand, total);
        }
    }

    /// Whether two vectors are made of every other element of as many as both have: those of 16 bits are loaded as they are and become numbers by a
    /// shift or a mask, without being moved to other lanes, and are stored together.
    fn in_pairs(&self, f: &Function, stage: &Part) -> bool {
        let moving = || self.spec.placed().filter(|operand| operand.1.1 == Way::Moves);
        let mut stores = stage.steps.iter().skip_while(|step| !matches!(step, Step::Store { .. }));
        let last = stores.all(|step| matches!(step, Step::Store { .. } | Step::Copy { .. }));
        f.isa().bf16 && stage.folds.is_empty() && last && moving().count() > 0 && moving().all(|operand| operand.1.0 == Elem::Bf16)
    }

    /// The even and the odd elements of two vectors of a column, which repeats itself where it is one vector.
    fn take_apart(&self, f: &mut Function, (elem, at): (Elem, Int), operand: usize) -> Vec<Val> {
        let width = f.isa().width();
        let columns = &self.columns[operand];
        if let [column] = columns[..] {
            let lanes = width.lanes() as i32;
            return Vec::from([0, 1].map(|first| {
                let order: Vec<u8> = (0..lanes).flat_map(|i| ((2 * i + first) % lanes).to_le_bytes()).collect();
                let order = f.constant(&order);
                let order = f.load(width, order);
                f.binary(Binary::Lookup32, order, column)
            }));
        }
        if elem != Elem::Bf16 || columns.len() % 2 == 1 {
            return Vec::new();
        }
        (0..columns.len() / 2)
            .flat_map(|pair| {
                let both = f.load(width, at.at((pair * width.bytes()) as i32));
                [0, 1].map(|half| half_of(f, both, half))
            })
            .collect()
    }

    /// The steps on so many whole vectors of a row from an index on.
    fn vectors(&mut self, f: &mut Function, stage: &Part, (index, count): (Int, usize), totals: &[Vec<Val>]) {
        let fits = |i: usize| self.columns[i].is_empty() || !self.apart[i].is_empty();
        let pairs = if self.in_pairs(f, stage) && (0..self.spec.operands.len()).all(fits) { count / 2 } else { 0 };
        for pair in 0..pairs {
            self.pairs.fill(None);
            for half in 0..2 {
                let vector = 2 * pair + half;
                self.vector(f, stage, &Place { at: Some((index, vector)), mask: None, total: vector, half: Some(half) }, totals);
            }
        }
        (2 * pairs..count).for_each(|vector| {
            self.vector(f, stage, &Place { at: Some((index, vector)), mask: None, total: vector, half: None }, totals);
        });
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
            let total = totals[place.total];
            let sum = f.binary(operation(*op), x, total);
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

    fn load(&mut self, f: &mut Function, operand: usize, place: &Place) -> Val {
        let (elem, way) = self.spec.operands[operand];
        if let (Some(half), Some((index, vector))) = (place.half, place.at) {
            if let columns @ [_, ..] = &self.apart[operand][..] {
                return columns[vector % columns.len()];
            }
            if way == Way::Moves {
                let first = Place { at: Some((index, vector - half)), mask: None, total: 0, half: None };
                let both = self.pairs[operand].or_else(|| {
                    let at = self.address(f, operand, &first)?;
                    Some(f.load(f.isa().width(), at))
                });
                self.pairs[operand] = both;
                return match both {
                    Some(both) => half_of(f, both, half),
                    None => f.zero(f.isa().width()),
                };
            }
        }
        if let (Some((_, vector)), columns @ [_, ..]) = (place.at, &self.columns[operand][..]) {
            return columns[vector % columns.len()];
        }
        match (self.still[operand], self.address(f, operand, place), self.at[operand]) {
            (Some(still), ..) => still,
            (None, Some(at), _) if way == Way::Moves => f.load_number(elem, at, place.mask),
            (None, _, Some(at)) => splat(f, elem, at),
            _ => f.zero(f.isa().width()),
        }
    }

    /// Keeps a number that is the same in all lanes as the operand's for the row, and stores it where the operand is in memory.
    fn keep(&mut self, f: &mut Function, operand: usize, x: Val) {
        if let Some(at) = self.at[operand] {
            let one = f.int(1);
            let mask = f.first_lanes(one);
            f.store_number(self.spec.operands[operand].0, at.at(0), x, Some(mask));
        } else {
            self.still[operand] = Some(x);
        }
    }

    fn step(&mut self, f: &mut Function, step: &Step, r: &mut Registers, place: &Place) {
        match *step {
            Step::Load { to, operand } => r[to] = Some(self.load(f, operand, place)),
            Step::Store { from, operand } => {
                let x = get(f, r, from);
                if let (Some(half), Some((index, vector))) = (place.half, place.at) {
                    let first = Place { at: Some((index, vector - half)), mask: None, total: 0, half: None };
                    match (self.even[operand].take(), self.address(f, operand, &first)) {
                        (Some(even), Some(at)) if half == 1 => {
                            let both = f.binary(Binary::PairBf16, even, x);
                            f.store(at, both);
                        }
                        _ => self.even[operand] = Some(x),
                    }
                    return;
                }
                match (place.at, self.address(f, operand, place)) {
                    (Some(_), Some(at)) if self.spec.streaming && place.mask.is_none() => f.store_streaming(at, x),
                    (Some(_), Some(at)) => f.store_number(self.spec.operands[operand].0, at, x, place.mask),
                    _ => self.keep(f, operand, x),
                }
            }
            Step::Copy { to, from } => r[to] = r[from],
            Step::Apply { at, formula } => {
                let x = get(f, r, at);
                let operand = |i: usize| (i < formula.operands()).then(|| get(f, r, at + 1 + i));
                let operands = [0, 1].map(operand);
                r[at] = Some(jit::apply(f, formula, x, operands));
            }
            Step::With { at, alg, operand } => {
                let (x, y) = (get(f, r, at), self.load(f, operand, place));
                r[at] = Some(jit::apply(f, Formula::Binary(alg), x, [Some(y), None]));
            }
            // Refused before.
            Step::Drop(_) | Step::Round(_) => {}
        }
    }
}

/// The even or the odd ones of two vectors of bf16.
fn half_of(f: &mut Function, both: Val, half: usize) -> Val {
    if half == 0 {
        return f.unary(ir::Unary::ShlI32(16), both);
    }
    let high = f.splat_i32(f.isa().width(), -0x1_0000);
    f.binary(Binary::And, both, high)
}

/// A number from memory as f32 in every lane.
fn splat(f: &mut Function, elem: Elem, at: Int) -> Val {
    let x = f.splat_as(elem, at.at(0));
    if elem == Elem::I32 { f.unary(ir::Unary::F32FromI32, x) } else { x }
}

/// A register; zeros where nothing has been loaded.
fn get(f: &mut Function, r: &Registers, i: usize) -> Val {
    r.get(i).copied().flatten().unwrap_or_else(|| f.zero(f.isa().width()))
}

/// So many vectors of each number that a stage folds, from the neutral element on.
fn totals(f: &mut Function, stage: &Part, n: usize) -> Vec<Vec<Val>> {
    let totals: Vec<Vec<Val>> = stage.folds.iter().map(|fold| (0..n).map(|_| neutral(f, fold.1)).collect()).collect();
    totals.iter().flatten().for_each(|total| f.pin(*total));
    totals
}

fn neutral(f: &mut Function, op: FoldOp) -> Val {
    f.splat_f32(f.isa().width(), op.neutral() as f32)
}

/// The operation of a fold, whose second operand, which is never NaN by itself, stays where the first is NaN and the fold leaves those out.
fn operation(op: FoldOp) -> Binary {
    match op {
        FoldOp::Sum => Binary::AddF32,
        FoldOp::Mul => Binary::MulF32,
        FoldOp::Max => Binary::MaxF32,
        FoldOp::Min => Binary::MinF32,
    }
}

/// All lanes of some vectors folded, in all lanes.
fn across(f: &mut Function, op: FoldOp, totals: &[Val]) -> Val {
    let op = operation(op);
    let total = totals[1..].iter().fold(totals[0], |total, other| f.binary(op, *other, total));
    f.across(op, total)
}

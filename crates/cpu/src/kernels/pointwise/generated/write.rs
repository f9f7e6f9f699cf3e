//! Writes the code of a program: rows, stages, steps.

use super::super::fold::FoldOp;
use super::super::program::{Over, REGISTERS, Step};
use super::{Args, Part, Rows, Spec, Way, lanes};
use crate::kernels::chain::{Formula, jit};
use oxidnn_jit::Function;
use oxidnn_jit::ir::{self, Accumulate, Addr, Binary, Compare, Divisor, Elem, Int, Pred, Prefetch, Val};
use oxidnn_spec::op::BinaryAlg;
use std::mem::offset_of;

/// Independent accumulators of one vector of a row: a power of two.
const ACCUMULATORS: usize = 4;

/// Bytes of a prefetch.
const PREFETCH_BYTES: usize = 64;

/// Vectors of bytes that are stored together.
const HELD: usize = 4;

/// The vectors in a program's registers.
type Registers = [Option<Val>; REGISTERS];

/// The position of a vector.
#[derive(Clone, Copy)]
struct Place {
    /// Elements of the row before it, and vectors after those; `None` for what is computed once a row.
    at: Option<(Int, usize)>,
    mask: Option<Pred>,
    /// The index of the accumulator that it goes to.
    total: usize,
    /// Which of two vectors, of the even and of the odd elements of two vectors in memory.
    half: Option<usize>,
    /// The index among the rows that are processed together.
    row: usize,
}

impl Place {
    /// For values that are computed once for all rows that are processed together.
    const UNIFORM: Place = Place { at: None, mask: None, total: 0, half: None, row: 0 };

    /// For a vector of the first row.
    fn of(at: (Int, usize), mask: Option<Pred>, total: usize) -> Place {
        Place { at: Some(at), mask, total, half: None, row: 0 }
    }
}

/// An unrolled row: a zero index, number of whole vectors, and the mask of a partial one.
type Few = (Int, usize, Option<Pred>);

/// The writer of a kernel.
pub(super) struct Writer<'s> {
    spec: &'s Spec,
    /// Rows that are processed together now, and in most of the kernel.
    rows: usize,
    most: usize,
    args: Option<Int>,
    /// With vectors at a stride: the offset in a worker's own row, and the mask of existing lanes.
    own: Option<Int>,
    lanes: Option<Pred>,
    /// The addresses of the operands in each of these rows; only in the first row for operands that have one element or are the same in all
    /// rows.
    at: Vec<Vec<Option<Int>>>,
    /// Operands with one element for a row: in all lanes; and of several rows in one vector.
    still: Vec<Vec<Option<Val>>>,
    joint: Vec<Option<Val>>,
    /// Those of them that divide the elements of long rows.
    divisors: Vec<Divisor>,
    /// The vectors of columns of operands that are the same in all rows.
    columns: Vec<Vec<Val>>,
    /// The same for columns whose even and odd elements are separate vectors.
    apart: Vec<Vec<Val>>,
    /// Two vectors of operands as loaded; and the even vector of a pair to be stored.
    pairs: Vec<Option<Val>>,
    even: Vec<Option<Val>>,
    /// Whether vectors of bytes are stored four at a time; and those to be stored.
    holds: bool,
    held: Vec<Vec<Val>>,
    /// The vector of such an operand, or of sums, that the rows processed together share.
    shared: Vec<Option<Val>>,
}

fn field(f: &mut Function, args: Int, offset: usize) -> Int {
    f.load_int(args.at(offset as i32))
}

impl<'s> Writer<'s> {
    /// The writer of a kernel.
    pub(super) fn new(spec: &'s Spec) -> Writer<'s> {
        let (most, count) = (spec.rows_together(), spec.operands.len());
        Writer {
            spec,
            rows: 1,
            most,
            args: None,
            own: None,
            lanes: None,
            at: vec![vec![None; count]; most],
            still: vec![vec![None; count]; most],
            joint: vec![None; count],
            divisors: Vec::new(),
            columns: vec![Vec::new(); count],
            apart: vec![Vec::new(); count],
            pairs: vec![None; count],
            even: vec![None; count],
            holds: false,
            held: vec![Vec::new(); count],
            shared: vec![None; count],
        }
    }

    /// Writes it.
    pub(super) fn write(&mut self, f: &mut Function) {
        let (args, spec) = (f.arguments(), self.spec);
        self.args = Some(args);
        if spec.rows == Rows::Down {
            return self.down(f, args);
        }
        for (slot, (i, _)) in spec.placed().enumerate() {
            self.at[0][i] = Some(field(f, args, offset_of!(Args, at) + size_of::<usize>() * slot));
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
            Rows::Any | Rows::Joined(_) | Rows::Down | Rows::Apart { .. } => None,
        };
        let planes = field(f, args, offset_of!(Args, planes));
        f.repeat_some(planes, |f| {
            if self.most > 1 {
                let joint = field(f, args, offset_of!(Args, joint));
                f.repeat(joint, |f| self.together(f, args, few, self.most));
            }
            let rows = field(f, args, offset_of!(Args, rows));
            f.repeat(rows, |f| self.together(f, args, few, 1));
            if spec.rows == (Rows::Apart { kept: true }) {
                let left = field(f, args, offset_of!(Args, left));
                f.when(Compare::Gt, left, 0, |f| {
                    self.lanes = Some(f.first_lanes(left));
                    self.together(f, args, few, 1);
                });
                self.lanes = None;
            }
            self.advance(f, args, offset_of!(Args, plane));
        });
        if spec.streaming {
            f.store_fence();
        }
    }

    /// Processes rows of some vectors, several at a time. Operands that are the same in all rows of a plane are loaded first.
    fn joined(&mut self, f: &mut Function, args: Int, vectors: usize) {
        let (spec, width) = (self.spec, f.isa().width());
        let Some(stage) = spec.stages.first() else { return };
        let (together, in_pairs) = (stage.together() / vectors, self.in_pairs(f, stage));
        let zero = f.int(0);
        let planes = field(f, args, offset_of!(Args, planes));
        f.repeat_some(planes, |f| {
            for (i, (elem, way)) in spec.placed() {
                let Some(at) = self.at[0][i] else { continue };
                match way {
                    Way::Still => self.still[0][i] = Some(self.splat(f, (i, elem), at)),
                    Way::Column => {
                        let vector = |v: usize| f.load_number(elem, at.at((v * width.lanes() * elem.bytes()) as i32), None);
                        self.columns[i] = (0..vectors).map(vector).collect();
                        if in_pairs {
                            self.apart[i] = self.take_apart(f, (elem, at), i);
                        }
                    }
                    Way::Moves | Way::Own | Way::Sums | Way::Made => {}
                }
            }
            let mut rows_of = |f: &mut Function, rows: usize| {
                self.vectors(f, stage, (zero, rows * vectors), &[]);
                for (i, (elem, _)) in spec.placed().filter(|operand| operand.1.1 == Way::Moves) {
                    self.at[0][i].iter().for_each(|at| f.add(*at, (rows * vectors * width.lanes() * elem.bytes()) as i32));
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
            self.advance(f, args, offset_of!(Args, plane));
        });
        if spec.streaming {
            f.store_fence();
        }
    }

    /// Processes some rows, and moves to those after them.
    fn together(&mut self, f: &mut Function, args: Int, few: Option<Few>, rows: usize) {
        self.rows = rows;
        for (i, _) in self.spec.placed().filter(|o| matches!(o.1.1, Way::Moves | Way::Own)) {
            for (row, at) in self.each_row(f, i).into_iter().enumerate().skip(1) {
                self.at[row][i] = Some(at);
            }
        }
        self.row(f, args, few);
        (0..rows).for_each(|_| self.advance(f, args, offset_of!(Args, row)));
    }

    /// The addresses of an operand in memory in each of the rows that are processed together.
    fn each_row(&self, f: &mut Function, operand: usize) -> Vec<Int> {
        let mut all: Vec<Int> = self.at[0][operand].into_iter().collect();
        if let (Some(distance), true) = (self.distance(f, operand), self.rows > 1) {
            for row in 1..self.rows {
                let at = f.copy(all[row - 1]);
                f.add(at, distance);
                all.push(at);
            }
        }
        all
    }

    /// The stride from row to row of an operand in memory.
    fn distance(&self, f: &mut Function, operand: usize) -> Option<Int> {
        let slot = self.spec.placed().position(|o| o.0 == operand)?;
        self.args.map(|args| field(f, args, offset_of!(Args, row) + size_of::<usize>() * slot))
    }

    /// The only moving operand that is only read, with the bytes from its rows to those that are processed next: these are prefetched. Hardware
    /// prefetches as well where two operands are read.
    fn prefetch(&self, f: &mut Function) -> Option<(usize, Int)> {
        let mut read = self.spec.placed().map(|o| o.0).filter(|i| self.spec.operands[*i].1 == Way::Moves && self.spec.reads(*i));
        let (Some(operand), None) = (read.next(), read.next()) else { return None };
        let distance = self.distance(f, operand)?;
        f.shl(distance, self.rows.ilog2() as u8);
        Some((operand, distance))
    }

    /// Processes the columns of all rows, some vectors at a time.
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

    /// Processes all rows of some vectors of columns, which begin at an index. Values that are the same in all rows are loaded before,
    /// totals are stored afterwards.
    fn columns(&mut self, f: &mut Function, args: Int, index: Int, (vectors, mask): (usize, Option<Pred>)) {
        let (spec, width) = (self.spec, f.isa().width());
        let Some(stage) = spec.stages.first() else { return };
        let slot = |f: &mut Function, slot: usize| field(f, args, offset_of!(Args, at) + size_of::<usize>() * slot);
        // Rows of one vector have several accumulators, to hide latency.
        let lines = spec.operands.iter().filter(|o| o.1 == Way::Column).count();
        let room = f.isa().simd_registers().saturating_sub(lines + 6) / stage.folds.len().max(1);
        let apart = if vectors == 1 && !stage.is_long() { room.clamp(1, ACCUMULATORS) } else { 1 };
        let apart = if apart < ACCUMULATORS { 1 } else { apart };
        let totals = totals(f, stage, vectors.max(apart));
        let folded = |i: usize| stage.folds.iter().position(|fold| fold.2 == i);
        let (mut moving, mut ends) = (Vec::new(), Vec::new());
        for (at, (i, (elem, way))) in spec.placed().enumerate() {
            if let Some(fold) = folded(i) {
                ends.push((at, fold));
                continue;
            }
            let base = slot(f, at);
            self.at[0][i] = None;
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
                    self.at[0][i] = Some(first);
                    moving.push((at, first));
                }
                Way::Still | Way::Own | Way::Sums | Way::Made => {
                    self.at[0][i] = Some(base);
                    moving.push((at, base));
                }
            }
        }
        let moving: Vec<[Int; 2]> =
            moving.into_iter().map(|(at, address)| [address, field(f, args, offset_of!(Args, row) + size_of::<usize>() * at)]).collect();
        let (zero, rows) = (f.int(0), field(f, args, offset_of!(Args, rows)));
        let mut row = |f: &mut Function, first: usize| {
            (0..vectors).for_each(|v| self.vector(f, stage, &Place::of((zero, v), mask, first + v), &totals));
            moving.iter().for_each(|[address, distance]| f.add(*address, *distance));
        };
        if apart > 1 {
            let times = f.copy(rows);
            f.shr(times, ACCUMULATORS.ilog2() as u8);
            f.repeat(times, |f| (0..apart).for_each(|first| row(f, first)));
            f.and(rows, ACCUMULATORS as i32 - 1);
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

    /// The number of an operand in every lane, prepared if it divides the elements of long rows.
    fn splat(&mut self, f: &mut Function, (operand, elem): (usize, Elem), at: Int) -> Val {
        let x = splat(f, elem, at);
        let divides = |step: &Step| matches!(step, Step::With { alg: BinaryAlg::Div, operand: by, .. } if *by == operand);
        let long = matches!(self.spec.rows, Rows::Any | Rows::Joined(_));
        if long && self.spec.stages.iter().any(|stage| stage.over == Over::All && stage.steps.iter().any(divides)) {
            self.divisors.push(f.divisor(x));
        }
        x
    }

    /// Moves the addresses of all operands by strides among the arguments.
    fn advance(&self, f: &mut Function, args: Int, distances: usize) {
        let moves = |way: Way| match way {
            Way::Own | Way::Sums => false,
            Way::Column => matches!(self.spec.rows, Rows::Joined(_)),
            Way::Moves | Way::Still | Way::Made => true,
        };
        for (slot, (i, _)) in self.spec.placed().enumerate().filter(|o| moves(o.1.1.1)) {
            let distance = field(f, args, distances + size_of::<usize>() * slot);
            self.at[0][i].iter().for_each(|at| f.add(*at, distance));
        }
    }

    /// All stages on the rows that are processed together; `few` describes unrolled rows.
    fn row(&mut self, f: &mut Function, args: Int, few: Option<Few>) {
        let spec = self.spec;
        self.joint.fill(None);
        self.still.iter_mut().for_each(|still| still.fill(None));
        for (i, (elem, _)) in spec.placed().filter(|o| o.1.1 == Way::Still && spec.reads(o.0)) {
            for (row, at) in self.each_row(f, i).into_iter().enumerate() {
                self.still[row][i] = Some(self.splat(f, (i, elem), at));
            }
        }
        let second = spec.stages.iter().enumerate().filter(|stage| stage.1.over == Over::All).nth(1).map(|stage| stage.0);
        for (i, stage) in spec.stages.iter().enumerate() {
            match (stage.over, few) {
                (Over::All, None) => self.whole_stage(f, args, stage, Some(i) == second),
                (Over::All, Some((zero, vectors, mask))) => {
                    self.spread(f, stage);
                    // Rows that are processed together need no further accumulators.
                    let apart = if self.most > 1 { 1 } else { stage.together().min(vectors + usize::from(mask.is_some())) };
                    let totals = totals(f, stage, self.rows * apart);
                    let whole = (0..vectors).map(|vector| (vector, None));
                    let left = mask.map(|mask| (vectors, Some(mask)));
                    whole.chain(left).for_each(|(vector, mask)| {
                        self.of_each_row(f, stage, Place::of((zero, vector), mask, vector % apart), &totals);
                    });
                    self.folded(f, stage, &totals);
                }
                (Over::Kept, _) => {
                    for row in 0..if self.has_kept_lanes() { self.rows } else { 1 } {
                        let mut r: Registers = [None; REGISTERS];
                        stage.steps.iter().for_each(|step| self.step(f, step, &mut r, &Place { row, ..Place::UNIFORM }));
                    }
                }
            }
        }
    }

    /// Whether lanes are positions of their own.
    fn has_kept_lanes(&self) -> bool {
        self.spec.rows == Rows::Apart { kept: true }
    }

    /// A stage over the vectors of rows with vectors at a stride.
    fn stage_apart(&mut self, f: &mut Function, args: Int, stage: &Part) {
        self.spread(f, stage);
        let totals = totals(f, stage, self.rows);
        let (index, own, step) = (f.int(0), f.int(0), field(f, args, offset_of!(Args, step)));
        self.own = Some(own);
        let count = field(f, args, offset_of!(Args, vectors));
        let mask = self.lanes;
        f.repeat(count, |f| {
            self.of_each_row(f, stage, Place::of((index, 0), mask, 0), &totals);
            f.add(index, step);
            f.add(own, f.isa().width().lanes() as i32);
        });
        if !self.has_kept_lanes() {
            let left = field(f, args, offset_of!(Args, left));
            f.when(Compare::Gt, left, 0, |f| {
                let mask = f.first_lanes(left);
                self.of_each_row(f, stage, Place::of((index, 0), Some(mask), 0), &totals);
            });
        }
        self.folded(f, stage, &totals);
    }

    /// A stage over the elements of the rows. If some rows of its result are not aligned to vectors, rows are processed one by one, each in
    /// aligned vectors after a partial one: alternating between two rows of stores that cross cache lines would take twice as long.
    fn whole_stage(&mut self, f: &mut Function, args: Int, stage: &Part, prefetch: bool) {
        let result = self.spec.operands.iter().enumerate().position(|(i, o)| o.1 == Way::Moves && stage.writes(i));
        let rows_of = self.spec.rows == Rows::Any && self.spec.stages.len() > 1 && stage.folds.is_empty();
        let Some(result) = result.filter(|_| rows_of) else { return self.stage(f, args, stage, prefetch) };
        let bytes = f.isa().width().lanes() * self.spec.operands[result].0.bytes();
        let behind = f.int(0);
        for at in (0..self.rows).filter_map(|row| self.at[row][result]) {
            let of_row = f.copy(at);
            f.and(of_row, bytes as i32 - 1);
            f.add(behind, of_row);
        }
        // Values that both branches use are computed before.
        self.spread(f, stage);
        let still = self.still.clone();
        for (i, (elem, _)) in self.spec.placed().filter(|o| o.1.1 == Way::Still && stage.loads(o.0)) {
            for (row, at) in self.each_row(f, i).into_iter().enumerate() {
                self.still[row][i] = self.still[row][i].or_else(|| Some(splat(f, elem, at)));
            }
        }
        f.when(Compare::Eq, behind, 0, |f| self.stage(f, args, stage, prefetch));
        f.when(Compare::Gt, behind, 0, |f| {
            let rows = std::mem::replace(&mut self.rows, 1);
            for row in 0..rows {
                self.exchange(row);
                self.aligned(f, args, stage, result);
                self.exchange(row);
            }
            self.rows = rows;
        });
        self.still = still;
    }

    /// Exchanges a row with the first of those that are processed together.
    fn exchange(&mut self, row: usize) {
        self.still.swap(0, row);
        for (i, _) in self.spec.placed().filter(|o| matches!(o.1.1, Way::Moves | Way::Own)) {
            let first = self.at[0][i];
            self.at[0][i] = std::mem::replace(&mut self.at[row][i], first);
        }
    }

    /// A stage over the elements of one row, whose result is stored in aligned vectors.
    fn aligned(&mut self, f: &mut Function, args: Int, stage: &Part, result: usize) {
        let (lanes, size) = (f.isa().width().lanes(), self.spec.operands[result].0.bytes());
        let (together, Some(at)) = (stage.together(), self.at[0][result]) else { return };
        let (head, index) = (f.int(0), f.int(0));
        f.sub(head, at);
        f.and(head, (lanes * size) as i32 - 1);
        f.shr(head, size.ilog2() as u8);
        let (rest, left) = (field(f, args, offset_of!(Args, vectors)), field(f, args, offset_of!(Args, left)));
        f.shl(rest, lanes.ilog2() as u8);
        f.add(rest, left);
        f.sub(rest, head);
        let part = |writer: &mut Self, f: &mut Function, count: Int| {
            f.when(Compare::Gt, count, 0, |f| {
                let mask = f.first_lanes(count);
                writer.of_each_row(f, stage, Place::of((index, 0), Some(mask), 0), &[]);
            });
        };
        part(self, f, head);
        f.add(index, head);
        for (vectors, of) in [(together, usize::MAX), (1, together)] {
            if vectors == of {
                continue;
            }
            let count = f.copy(rest);
            if of < usize::MAX {
                f.and(count, (of * lanes) as i32 - 1);
            }
            f.shr(count, (vectors * lanes).ilog2() as u8);
            f.repeat(count, |f| {
                self.vectors(f, stage, (index, vectors), &[]);
                f.add(index, (vectors * lanes) as i32);
            });
        }
        f.and(rest, lanes as i32 - 1);
        part(self, f, rest);
    }

    /// A stage over the elements of the rows. With `prefetch` the next rows are prefetched.
    fn stage(&mut self, f: &mut Function, args: Int, stage: &Part, prefetch: bool) {
        if matches!(self.spec.rows, Rows::Apart { .. }) {
            return self.stage_apart(f, args, stage);
        }
        let lanes = f.isa().width().lanes();
        let together = self.spec.vectors_together(stage);
        self.spread(f, stage);
        // An accumulator for each vector that is processed together, to hide latency.
        let totals = totals(f, stage, self.rows * together);
        let prefetch = if prefetch { self.prefetch(f) } else { None };
        let to = if self.spec.near > 1 { Prefetch::L1 } else { Prefetch::L2 };
        let index = f.int(0);
        if together > 1 {
            let count = field(f, args, offset_of!(Args, together));
            f.repeat(count, |f| {
                if let Some((operand, ahead)) = prefetch {
                    let bytes = together * lanes * self.spec.operands[operand].0.bytes();
                    for at in (0..self.rows).filter_map(|row| self.at[row][operand]) {
                        (0..bytes).step_by(PREFETCH_BYTES).for_each(|line| f.prefetch(to, at.indexed(ahead, 1, line as i32)));
                    }
                    f.add(ahead, bytes as i32);
                }
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
            self.of_each_row(f, stage, Place::of((index, 0), Some(mask), 0), &totals);
        });
        self.folded(f, stage, &totals);
    }

    /// Broadcasts the numbers of each row that a stage loads to all lanes.
    fn spread(&mut self, f: &mut Function, stage: &Part) {
        for i in (0..self.joint.len()).filter(|i| stage.loads(*i)) {
            if let (Some(joint), None) = (self.joint[i], self.still[0][i]) {
                for (row, x) in lanes::spread(f, joint, self.rows).into_iter().enumerate() {
                    self.still[row][i] = Some(x);
                }
            }
        }
    }

    /// Keeps the totals of a stage over the rows.
    fn folded(&mut self, f: &mut Function, stage: &Part, totals: &[Vec<Val>]) {
        for ((_, op, operand), totals) in stage.folds.iter().zip(totals) {
            if self.has_kept_lanes() {
                (0..self.rows).for_each(|row| self.still[row][*operand] = Some(totals[row]));
                continue;
            }
            let apart = totals.len() / self.rows;
            let of_row = |f: &mut Function, row: usize| {
                let totals = &totals[row * apart..(row + 1) * apart];
                totals[1..].iter().fold(totals[0], |total, other| f.binary(operation(*op), *other, total))
            };
            let each: Vec<Val> = (0..self.rows).map(|row| of_row(f, row)).collect();
            let all: Vec<Val> = (0..self.most).map(|row| each[row % self.rows]).collect();
            let total = lanes::fold(f, *op, &all);
            self.keep(f, *operand, total, 0);
        }
    }

    /// Whether vectors of even and of odd elements are processed: 16-bit elements are loaded unchanged, become numbers by a shift or a mask
    /// without moving between lanes, and are stored together.
    fn in_pairs(&self, f: &Function, stage: &Part) -> bool {
        let moving = || self.spec.placed().filter(|operand| operand.1.1 == Way::Moves);
        let mut stores = stage.steps.iter().skip_while(|step| !matches!(step, Step::Store { .. }));
        let last = stores.all(|step| matches!(step, Step::Store { .. } | Step::Copy { .. }));
        f.isa().bf16 && stage.folds.is_empty() && last && moving().count() > 0 && moving().all(|operand| operand.1.0 == Elem::Bf16)
    }

    /// The even and the odd elements of two vectors of a column; a column of one vector is repeated.
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

    /// The steps on `n` whole vectors of a row from an index on.
    fn vectors(&mut self, f: &mut Function, stage: &Part, (index, count): (Int, usize), totals: &[Vec<Val>]) {
        let fits = |i: usize| match self.spec.operands[i].1 {
            Way::Column => !self.apart[i].is_empty(),
            Way::Own | Way::Sums => false,
            Way::Moves | Way::Still | Way::Made => true,
        };
        let fits = self.rows == 1 && self.in_pairs(f, stage) && (0..self.spec.operands.len()).all(fits);
        let pairs = if fits { count / 2 } else { 0 };
        for pair in 0..pairs {
            self.pairs.fill(None);
            for half in 0..2 {
                let vector = 2 * pair + half;
                self.vector(f, stage, &Place { half: Some(half), ..Place::of((index, vector), None, vector) }, totals);
            }
        }
        self.holds = self.rows == 1 && pairs == 0 && count.is_multiple_of(HELD);
        (2 * pairs..count).for_each(|vector| {
            self.of_each_row(f, stage, Place::of((index, vector), None, vector), totals);
        });
        self.holds = false;
    }

    /// The steps on one vector of each row, at the place of the first row's.
    fn of_each_row(&mut self, f: &mut Function, stage: &Part, place: Place, totals: &[Vec<Val>]) {
        let apart = totals.first().map_or(1, |totals| totals.len() / self.rows);
        for row in 0..self.rows {
            self.vector(f, stage, &Place { total: row * apart + place.total, row, ..place }, totals);
        }
        self.shared.fill(None);
    }

    /// The steps on one vector of a row.
    fn vector(&mut self, f: &mut Function, stage: &Part, place: &Place, totals: &[Vec<Val>]) {
        let mut r: Registers = [None; REGISTERS];
        let squared = stage.squared();
        let mut steps = &stage.steps[..stage.steps.len() - usize::from(squared)];
        while let [step, rest @ ..] = steps {
            steps = match self.multiply_add(f, steps, &mut r, place) {
                Some(rest) => rest,
                None => {
                    self.step(f, step, &mut r, place);
                    rest
                }
            };
        }
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
            match op {
                _ if squared => f.accumulate(Accumulate::FmaF32, total, x, x),
                FoldOp::Sum | FoldOp::Mul => f.update(operation(*op), total, x),
                FoldOp::Max | FoldOp::Min => {
                    let folded = f.binary(operation(*op), x, total);
                    f.assign(total, folded);
                }
            }
        }
    }

    /// Whether vectors of an operand are stored non-temporally.
    fn streams(&self, operand: usize) -> bool {
        self.spec.streaming && self.spec.operands[operand].1 == Way::Moves
    }

    /// The address of an operand's vector, or of its one element.
    fn address(&self, f: &Function, operand: usize, place: &Place) -> Option<Addr> {
        let (elem, way) = self.spec.operands[operand];
        let (at, size) = (self.at[if matches!(way, Way::Column | Way::Sums) { 0 } else { place.row }][operand]?, elem.bytes());
        let own = self.own.filter(|_| way == Way::Own);
        Some(match place.at.map(|(index, vector)| (own.unwrap_or(index), vector)) {
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
                let first = Place::of((index, vector - half), None, 0);
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
        if place.at.is_none() && !self.has_kept_lanes() {
            return self.load_joint(f, operand);
        }
        if let Some(known) = self.still[place.row][operand].or(self.shared[operand]) {
            return known;
        }
        match (self.address(f, operand, place), way) {
            (Some(at), Way::Moves | Way::Own) => f.load_number(elem, at, place.mask),
            (Some(at), Way::Column | Way::Sums) => {
                let x = f.load_number(elem, at, place.mask);
                self.shared[operand] = Some(x);
                x
            }
            _ => match self.each_row(f, operand).get(place.row) {
                Some(at) => splat(f, elem, *at),
                None => f.zero(f.isa().width()),
            },
        }
    }

    /// The values with one number for each row, as the rows' lanes of one vector.
    fn load_joint(&mut self, f: &mut Function, operand: usize) -> Val {
        if let Some(joint) = self.joint[operand] {
            return joint;
        }
        let elem = self.spec.operands[operand].0;
        let known: Option<Vec<Val>> = (0..self.rows).map(|row| self.still[row][operand]).collect();
        let each = match known {
            Some(known) => known,
            None => self.each_row(f, operand).into_iter().map(|at| splat(f, elem, at)).collect(),
        };
        if each.is_empty() { f.zero(f.isa().width()) } else { lanes::join(f, &each) }
    }

    /// Keeps a number of each row as the operand's value for the row (or the numbers of several rows, as lanes), and stores it if the
    /// operand is in memory.
    fn keep(&mut self, f: &mut Function, operand: usize, x: Val, row: usize) {
        let elem = self.spec.operands[operand].0;
        if self.has_kept_lanes() {
            self.still[row][operand] = Some(x);
            return;
        }
        if self.at[0][operand].is_none() {
            self.joint[operand] = Some(x);
            self.still.iter_mut().for_each(|still| still[operand] = None);
            return;
        }
        let one = f.int(1);
        let mask = f.first_lanes(one);
        let each = lanes::spread(f, x, self.rows);
        for (x, at) in each.into_iter().zip(self.each_row(f, operand)) {
            f.store_number(elem, at.at(0), x, Some(mask));
        }
    }

    /// A multiplication and an addition by operands as one FMA, in kernels of several stages; returns the steps after them if these are the
    /// first two.
    fn multiply_add<'t>(&mut self, f: &mut Function, steps: &'t [Step], r: &mut Registers, place: &Place) -> Option<&'t [Step]> {
        let [Step::With { at, alg: BinaryAlg::Mul, operand: factor }, Step::With { at: to, alg: BinaryAlg::Add, operand }, rest @ ..] =
            steps
        else {
            return None;
        };
        if at != to || self.spec.stages.len() < 2 {
            return None;
        }
        let (x, factor, added) = (get(f, r, *at), self.load(f, *factor, place), self.load(f, *operand, place));
        let sum = if self.spec.operands[*operand].1 == Way::Moves { added } else { f.copy_of(added) };
        f.accumulate(Accumulate::FmaF32, sum, x, factor);
        r[*at] = Some(sum);
        Some(rest)
    }

    /// Keeps a vector of bytes until there are some that are stored together.
    fn hold(&mut self, f: &mut Function, operand: usize, x: Val, place: &Place) {
        self.held[operand].push(x);
        let (Ok(all), Some((index, vector))) = (<[Val; HELD]>::try_from(&self.held[operand][..]), place.at) else { return };
        self.held[operand].clear();
        let at = |first: usize| self.address(f, operand, &Place { at: Some((index, vector + first + 1 - HELD)), ..*place });
        if let (Some(low), Some(high)) = (at(0), at(HELD / 2)) {
            f.store_bytes(self.spec.operands[operand].0, true, [low, high], all);
        }
    }

    fn step(&mut self, f: &mut Function, step: &Step, r: &mut Registers, place: &Place) {
        match *step {
            Step::Load { to, operand } => r[to] = Some(self.load(f, operand, place)),
            Step::Store { from, operand } => {
                let x = get(f, r, from);
                if let (Some(half), Some((index, vector))) = (place.half, place.at) {
                    let first = Place::of((index, vector - half), None, 0);
                    match (self.even[operand].take(), self.address(f, operand, &first)) {
                        (Some(even), Some(at)) if half == 1 => {
                            let pair = if self.spec.flushes { Binary::PairBf16Flushed } else { Binary::PairBf16 };
                            let both = f.binary(pair, even, x);
                            if self.streams(operand) { f.store_streaming(at, both) } else { f.store(at, both) }
                        }
                        _ => self.even[operand] = Some(x),
                    }
                    return;
                }
                let (elem, way) = self.spec.operands[operand];
                if self.holds && way == Way::Moves && matches!(elem, Elem::I8 | Elem::U8) && !self.streams(operand) {
                    return self.hold(f, operand, x, place);
                }
                match (place.at, self.address(f, operand, place)) {
                    // The next of the rows that are processed together adds to it.
                    (Some(_), Some(_)) if way == Way::Sums && place.row + 1 < self.rows => self.shared[operand] = Some(x),
                    (Some(_), Some(at)) if self.streams(operand) && place.mask.is_none() && (self.spec.flushes || elem != Elem::Bf16) => {
                        f.store_streaming_as(elem, at, x)
                    }
                    (Some(_), Some(at)) if self.spec.flushes && elem == Elem::Bf16 => f.store_bf16_flushed(at, x, place.mask),
                    (Some(_), Some(at)) => f.store_number(elem, at, x, place.mask),
                    _ => self.keep(f, operand, x, place.row),
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
                let divisor = self.divisors.iter().find(|divisor| alg == BinaryAlg::Div && divisor.number() == y);
                if let Some(divisor) = divisor {
                    r[at] = Some(f.quotient(x, *divisor));
                    return;
                }
                r[at] = Some(jit::apply(f, Formula::Binary(alg), x, [Some(y), None]));
            }
            // Programs with these are refused before.
            Step::Drop(_) | Step::Round(_) => {}
        }
    }
}

/// The even or the odd elements of two vectors of bf16, as f32.
fn half_of(f: &mut Function, both: Val, half: usize) -> Val {
    if half == 0 {
        return f.unary(ir::Unary::ShlI32(16), both);
    }
    let high = f.splat_i32(f.isa().width(), -0x1_0000);
    f.binary(Binary::And, both, high)
}

/// An element in memory as f32 in every lane.
fn splat(f: &mut Function, elem: Elem, at: Int) -> Val {
    let x = f.splat_as(elem, at.at(0));
    if elem == Elem::I32 { f.unary(ir::Unary::F32FromI32, x) } else { x }
}

/// A register; zeros if nothing has been loaded.
fn get(f: &mut Function, r: &Registers, i: usize) -> Val {
    r.get(i).copied().flatten().unwrap_or_else(|| f.zero(f.isa().width()))
}

/// `n` accumulators for each fold of a stage, initialised to the neutral element.
fn totals(f: &mut Function, stage: &Part, n: usize) -> Vec<Vec<Val>> {
    let totals: Vec<Vec<Val>> = stage.folds.iter().map(|fold| (0..n).map(|_| neutral(f, fold.1)).collect()).collect();
    totals.iter().flatten().for_each(|total| f.pin(*total));
    totals
}

fn neutral(f: &mut Function, op: FoldOp) -> Val {
    f.splat_f32(f.isa().width(), op.neutral() as f32)
}

/// The operation of a fold. Its second operand, the total, is never NaN for maxima and minima, and stays if the first operand is NaN.
pub(super) fn operation(op: FoldOp) -> Binary {
    match op {
        FoldOp::Sum => Binary::AddF32,
        FoldOp::Mul => Binary::MulF32,
        FoldOp::Max => Binary::MaxF32,
        FoldOp::Min => Binary::MinF32,
    }
}

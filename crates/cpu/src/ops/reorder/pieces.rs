//! `pieces:jit`: reorders that change the contiguous dimension and convert, scale, interleave or pad elements on the way.
//!
//! A piece has *lines*, contiguous in the destination, and a *run*, contiguous in the source. A kernel transposes it in squares: narrow
//! elements are words in registers, converted by loads and stores. A run may span several loops that are contiguous in the source, wherever
//! the destination has them, since a table says where each line goes: the nine taps of a 3x3 window alone would be short, but the taps of
//! sixteen channels are a long run.
//!
//! If the destination interleaves lines (VNNI: a word of weights of 16 bits or bytes has two or four elements of K), a piece is transposed
//! to memory that stays in L1, and another kernel interleaves it from there. If the source's contiguous dimension is the contiguous one of
//! the interleaved rows, the interleaving kernel alone reads, converts and stores.
//!
//! Pieces of few elements, such as blocks of eight by eight, are left to the next row, which computes several in a call.
//!
//! Padded dimensions are visited up to the larger size of the two tensors: elements that only the destination has become zero.

use super::factors::{scales, still, types, with_zero_points, zero_points};
use super::loops::{self, PADDED, Walk, loops, padded, place, positions};
use super::reorder;
use super::sums::{self, Behind, Summed};
use super::time::{Timed, Times, total};
use crate::kernels::multiversion::Simd;
use crate::kernels::pointwise::{GRAIN, evenly};
use crate::kernels::scratch::{Scratch, booked, for_workers, lend};
use crate::kernels::transpose::{Factors, Interleaved, Interleaver, Matrix, Places, RegisterTranspose, TransposeOperand, no_factors};
use crate::row::Generated;
use crate::{CpuTarget, RowPlan};
use oxidnn_jit::Isa;
use oxidnn_jit::ir::Elem;
use oxidnn_jit::kernels::interleave::Interleave;
use oxidnn_jit::kernels::transpose::{Factor, Factors as Kinds, Transpose, UNCHANGED};
use oxidnn_runtime::{Buf, Ctx, Plan, Skip};
use oxidnn_spec::op::Reorder;
use oxidnn_spec::{Arg, Attr, Blocking, DataType, Error, Problem};

/// Most elements of a piece; of one whose lines are several vectors, which are written one after the other and must stay in L1, half as many.
const MAX_PIECE_ELEMENTS: usize = 8192;
/// Most lines of a piece if runs are long.
const MAX_LINES: usize = 128;
/// Groups of rows that a call interleaves, and most columns of these.
const MAX_GROUPS: usize = 64;
const MAX_GROUP_COLUMNS: usize = 256;
/// Bytes of a word.
const WORD: usize = 4;
/// Contiguous elements that do not fill vectors, in destination or source: left to the next row.
const SHORT: [usize; 6] = [2, 3, 4, 5, 6, 7];

/// Nanoseconds of an execution; of a piece, its squares, and their vectors; of a piece to be interleaved, its columns, and their vectors; of an interleaved
/// piece, its vectors, and those that are converted; and of a piece with scales by line.
const TIMES: Times<11> =
    [[293.0, 133.0, 9.3, 0.0, 110.0, 2.5, 0.9, 20.0, 0.8, 0.7, 100.0], [208.0, 91.0, 29.0, 0.63, 60.0, 1.0, 2.9, 170.0, 0.65, 1.0, 220.0]];

/// Elements of scratch for zero points.
const ZERO_POINTS: usize = 2;

/// The index of sums among a loop's steps.
const SUMS: usize = 4 + PADDED;

/// A loop: its strides in destination, source, the scales of both, the positions of padded dimensions, and sums.
type Loop = loops::Loop<{ SUMS + 1 }>;
/// An offset in each of these.
type At = [usize; SUMS + 1];

/// A loop of one iteration.
const ONCE: Loop = Loop { size: 1, steps: [0; SUMS + 1] };

/// A loop that is cut into pieces.
#[derive(Clone, Copy, Debug)]
struct Cut {
    all: Loop,
    /// Iterations in a piece.
    piece: usize,
}

impl Cut {
    fn new(all: Loop, piece: usize) -> Cut {
        Cut { all, piece: piece.clamp(1, all.size) }
    }

    /// The loop over pieces.
    fn pieces(&self) -> Loop {
        Loop { size: self.all.size.div_ceil(self.piece), steps: self.all.steps.map(|s| s * self.piece) }
    }

    /// Iterations in piece `i`.
    fn count(&self, i: usize) -> usize {
        self.piece.min(self.all.size - i * self.piece)
    }
}

/// The sizes of a padded dimension in source and destination, and its place among the loops of a piece.
#[derive(Clone, Copy, Debug)]
struct Extent {
    read: usize,
    written: usize,
    within: Within,
}

/// The place of a padded dimension.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Within {
    /// Outside of pieces.
    Outer,
    /// Along the lines, which are this many positions apart.
    Lines(usize),
    /// Along the run: this many contiguous elements have one position, and the next are the second number of positions further.
    Run(usize, usize),
    /// Along the interleaved rows, or groups of them.
    Groups,
}

/// What is done to a piece.
#[derive(Debug)]
enum Way {
    /// Transposed to the destination.
    Transpose(Places<1>),
    /// Transposed to the worker's memory, in `parts` parts if the interleaved rows are not in the run, then interleaved.
    TransposeAndInterleave { groups: Places<2>, parts: Loop, row: usize },
    /// Interleaved. `positions` are those of the first row of each group in the padded dimensions.
    Interleave { groups: Places<2>, rows: Loop, positions: Vec<[usize; PADDED]> },
}

/// A planned reorder.
#[derive(Debug)]
struct Pieces {
    jit: Isa,
    way: Way,
    /// Element types of destination and source.
    types: [Elem; 2],
    /// The factors of the kernels.
    factors: Kinds,
    starts: At,
    lines: Cut,
    /// The outermost loop of a run, or of groups; and the contiguous elements, or groups, for each of its iterations.
    last: Cut,
    inner: usize,
    /// Consecutive groups with equally many rows; and those for each iteration of the loop that is cut, or 0 if it is not among their
    /// loops.
    alike: [usize; 2],
    /// Whether the positions of groups never become smaller, so that there never are more rows than before.
    ascending: bool,
    extents: [Extent; PADDED],
    outer: Vec<Loop>,
    /// If sums are computed on the way: where they are, in 32-bit elements, and their factors.
    sums: Vec<(usize, i32)>,
    sums_len: usize,
    workers: usize,
}

/// Plans such a reorder.
///
/// # Errors
/// Problems that the row does not take.
pub(super) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let jit = target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?;
    RowPlan::resolved(problem, target, |problem| {
        let op = reorder(problem)?;
        let types = types(op, &problem.attr)?;
        let data = Pieces::plan(op, &problem.attr, types, (jit, target.threads))?;
        let scratch = data.scratch_len().and_then(|len| booked(&[ZERO_POINTS, len]));
        let scratch = scratch.ok_or(Skip::Shape("too large"))?;
        // Sums that are not computed on the way are computed from what has been written.
        let (sums, sums_scratch) = if data.sums.is_empty() { Behind::plan(op, problem, jit)? } else { (Behind::Nothing, 0) };
        Ok((Summed::new(op, target, data, sums), scratch.max(sums_scratch)))
    })
}

/// The sums computed on the way: where they begin, in 32-bit elements, with their factors; and the number of each.
type Outputs = (Vec<(usize, i32)>, usize);

/// The index of an element's sum, as strides, and where sums are stored; empty without sums, or with sums of different dimensions.
///
/// # Errors
/// As for [`sums::places`].
fn outputs(op: &Reorder, dst: &Blocking) -> Result<(Blocking, Outputs), Skip> {
    let (places, mut place) = (sums::places(op)?, still(op.dst.dims()));
    let Some((_, mask, _)) = places.first().filter(|first| places.iter().all(|p| p.1 == first.1 && p.0 % WORD == 0)) else {
        return Ok((place, Outputs::default()));
    };
    let mut stride = 1;
    for d in (0..dst.strides.len()).rev().filter(|d| mask >> d & 1 == 1) {
        place.strides[d] = stride;
        stride *= dst.padded_dims[d];
    }
    Ok((place, (places.iter().map(|p| (p.0 / WORD, p.2)).collect(), stride as usize)))
}

/// Number of positions from `base` on, `unit` apart, that are below `limit`.
fn left(limit: usize, base: usize, unit: usize) -> usize {
    limit.saturating_sub(base).div_ceil(unit)
}

/// The loops while a piece is chosen.
struct Draft {
    /// Loops that are not taken yet.
    rest: Vec<Loop>,
    lines: Loop,
    /// The rows that are interleaved.
    together: Option<Loop>,
}

impl Draft {
    fn taken(&mut self, which: impl Fn(&Loop) -> bool) -> Option<Loop> {
        let i = self.rest.iter().position(which)?;
        Some(self.rest.remove(i))
    }

    /// The run: loops that are contiguous in the source, innermost first, with at most `most` iterations together; the last is cut. The
    /// interleaved rows may be among them.
    fn run(&mut self, most: usize) -> Option<(Vec<Loop>, Cut)> {
        if let Some(rows) = self.together {
            self.rest.push(rows);
        }
        let first = self.taken(|l| l.steps[1] == 1)?;
        let (mut run, mut last) = (Vec::new(), first);
        loop {
            let total = last.size * run.iter().map(|l: &Loop| l.size).product::<usize>();
            let is_rows = |l: &Loop| self.together.is_some_and(|t| t.steps == l.steps && t.size == l.size);
            if total >= most {
                // The interleaved rows are all in the run, or none of them is.
                let piece = most / (total / last.size);
                if piece == 0 || is_rows(&last) && piece < last.size {
                    self.rest.push(last);
                    last = run.pop()?;
                    let whole = Cut::new(last, last.size);
                    return Some((run, whole));
                }
                return Some((run, Cut::new(last, piece)));
            }
            // A loop after the end of a padded dimension is not contiguous with it, unless it is the same dimension.
            let of = |l: &Loop| std::array::from_fn::<bool, PADDED, _>(|k| l.steps[4 + k] > 0);
            let padded = run.iter().chain([&last]).map(of).find(|p| p.contains(&true));
            let next = |l: &Loop| l.steps[1] == total && padded.is_none_or(|p| p == of(l));
            match self.taken(next) {
                Some(l) => run.push(std::mem::replace(&mut last, l)),
                None => return Some((run, Cut::new(last, last.size))),
            }
        }
    }
}

impl Pieces {
    fn plan(op: &Reorder, attr: &Attr, types: [Elem; 2], (jit, workers): (Isa, usize)) -> Result<Pieces, Skip> {
        let (Walk { dst, src, sizes, positions: [a, b, c], ends }, dims) = (Walk::new(op)?, op.dst.dims());
        let extents = std::array::from_fn(|k| {
            let [read, written] = ends.get(k).copied().unwrap_or([1; 2]);
            Extent { read, written, within: Within::Outer }
        });
        let [by_dst, by_src] = [scales(Arg::DST, attr, dims)?, scales(Arg::SRC, attr, dims)?];
        let (by_sums, outputs) = outputs(op, dst)?;
        let rest = loops(&sizes, [dst, src, &by_dst, &by_src, &a, &b, &c, &by_sums]).ok_or_else(padded)?;
        let starts = [dst.offset as usize, src.offset as usize, 0, 0, 0, 0, 0, 0];
        let small = || Skip::Layout("of src and dst: the same neighbours, or few".into());
        let mut draft = Draft { rest, lines: ONCE, together: None };
        draft.lines = draft.taken(|l| l.steps[0] == 1).ok_or_else(small)?;
        let n = draft.lines.size;
        if n > 1 && n * types[0].bytes() == WORD {
            let rows = draft.lines;
            draft.lines = draft.taken(|l| l.steps[0] == n).ok_or_else(small)?;
            draft.together = Some(rows);
        } else if SHORT.contains(&n) {
            return Err(small());
        }
        // With this number of lines, vectors of half the width are full.
        let jit = if draft.lines.size == Isa::AVX2.width().lanes() { Isa::AVX2 } else { jit };
        let mut pieces = Pieces {
            jit,
            way: Way::Transpose(Places::new(Vec::new())),
            types,
            factors: UNCHANGED,
            starts,
            lines: Cut::new(draft.lines, MAX_GROUP_COLUMNS),
            last: Cut::new(ONCE, 1),
            inner: 1,
            alike: [1; 2],
            ascending: false,
            extents,
            outer: Vec::new(),
            sums: Vec::new(),
            sums_len: 0,
            workers,
        };
        let interleaved = draft.together.filter(|_| draft.lines.steps[1] == 1);
        let inside = match interleaved {
            Some(rows) => pieces.interleave(&mut draft, rows),
            None if draft.lines.steps[1] == 1 => return Err(small()),
            None => pieces.turn(&mut draft).ok_or_else(small)?,
        };
        if inside.iter().any(|l| l.steps[2..4] != [0; 2]) {
            return Err(Skip::Attr("scales that differ along a piece".into()));
        }
        let mut scaled = [Factor::None; 2];
        for (i, arg) in [Arg::SRC, Arg::DST].into_iter().enumerate().filter(|(_, arg)| attr.scales.contains_key(arg)) {
            scaled[i] = match draft.lines.steps[3 - i] {
                0 => Factor::Same,
                1 => Factor::ByRow,
                _ => return Err(Skip::Attr(format!("scales of {arg} that lie apart"))),
            };
        }
        pieces.factors = with_zero_points(attr, scaled);
        let lines = draft.lines;
        for (k, extent) in pieces.extents.iter_mut().enumerate().filter(|(k, _)| lines.steps[4 + k] > 0) {
            if extent.within != Within::Outer {
                return Err(padded());
            }
            extent.within = Within::Lines(lines.steps[4 + k]);
        }
        let interleaved = !matches!(pieces.way, Way::Transpose(_));
        if interleaved && op.dst.dtype == DataType::S8 && lines.steps[SUMS] == 1 && inside.iter().all(|l| l.steps[SUMS] == 0) {
            // A task computes the sums of its lines alone.
            draft.rest.sort_by_key(|l| l.steps[SUMS] == 0);
            (pieces.sums, pieces.sums_len) = outputs;
        }
        pieces.outer = draft.rest;
        Ok(pieces)
    }

    /// Chooses what a call interleaves; returns the loops inside except the lines.
    fn interleave(&mut self, draft: &mut Draft, rows: Loop) -> Vec<Loop> {
        draft.rest.sort_by_key(|l| l.steps[0]);
        let (mut inside, mut count) = (Vec::new(), 1);
        while count < MAX_GROUPS && !draft.rest.is_empty() {
            let l = draft.rest.remove(0);
            self.last = Cut::new(l, MAX_GROUPS.div_ceil(count));
            count *= self.last.piece;
            inside.push(Loop { size: self.last.piece, ..l });
        }
        draft.rest.reverse();
        self.inner = count / self.last.piece;
        // Groups with equally many rows follow each other: those at one position of padded dimensions.
        let padded = |l: &Loop| l.steps[4..4 + PADDED] != [0; PADDED];
        let cut = inside.len().saturating_sub(1);
        let cut_padded = inside.last().is_some_and(padded);
        let sorted = if cut_padded { cut } else { inside.len() };
        inside[..sorted].sort_by_key(padded);
        let alike: usize = inside.iter().take_while(|l| !padded(l)).map(|l| l.size).product();
        self.alike = [alike, if cut_padded { 0 } else { alike / self.last.piece }];
        let all = positions(&inside);
        let bytes = |at: &At| [at[1] * self.types[1].bytes(), at[0] * self.types[0].bytes()];
        let groups = Places::new(all.iter().map(bytes).collect());
        let positions: Vec<[usize; PADDED]> = all.iter().map(|at| std::array::from_fn(|k| at[4 + k])).collect();
        self.ascending = positions.is_sorted_by(|a, b| a.iter().zip(b).all(|(a, b)| a <= b));
        self.way = Way::Interleave { groups, rows, positions };
        inside.push(rows);
        self.within(&inside, Within::Groups);
        inside
    }

    /// Chooses what a call transposes; returns the loops inside except the lines, or `None` if there is little.
    fn turn(&mut self, draft: &mut Draft) -> Option<Vec<Loop>> {
        let lanes = self.jit.width().lanes();
        let lines = draft.lines.size.min(MAX_LINES);
        let most = if !self.jit.avx512 && lines > lanes { MAX_PIECE_ELEMENTS / 2 } else { MAX_PIECE_ELEMENTS };
        let (run, last) = draft.run(most / lines.next_multiple_of(lanes))?;
        self.inner = run.iter().map(|l| l.size).product();
        self.last = last;
        let columns = self.inner * last.piece;
        self.lines = Cut::new(draft.lines, (most / columns / lanes * lanes).max(MAX_LINES));
        let mut inside: Vec<Loop> = run.iter().copied().chain([Loop { size: last.piece, ..last.all }]).collect();
        if self.lines.piece * columns < lanes || SHORT.contains(&columns) {
            return None;
        }
        for (i, l) in inside.iter().enumerate() {
            let before: usize = inside[..i].iter().map(|l| l.size).product();
            for (k, extent) in self.extents.iter_mut().enumerate().filter(|(k, e)| l.steps[4 + k] > 0 && e.within == Within::Outer) {
                extent.within = Within::Run(before, l.steps[4 + k]);
            }
        }
        let all = positions(&inside);
        let size = self.types[0].bytes();
        let Some(rows) = draft.together else {
            self.way = Way::Transpose(Places::new(all.iter().map(|at| [at[0] * size]).collect()));
            return Some(inside);
        };
        let row = self.row_bytes();
        let among = draft.rest.iter().position(|l| l.steps == rows.steps && l.size == rows.size);
        let (parts, distance) = match among {
            // The interleaved rows are not in the run.
            Some(i) => (draft.rest.remove(i), columns * row),
            None => {
                let i = inside.iter().position(|l| l.steps == rows.steps && l.size == rows.size)?;
                (ONCE, inside[..i].iter().map(|l| l.size).product::<usize>() * row)
            }
        };
        let first = |i: &usize| parts.size > 1 || (i * row / distance).is_multiple_of(rows.size);
        let groups = (0..all.len()).filter(first).map(|i| [i * row, all[i][0] * size]).collect();
        self.way = Way::TransposeAndInterleave { groups: Places::new(groups), parts, row: distance };
        if parts.size > 1 {
            for (k, extent) in self.extents.iter().enumerate() {
                if parts.steps[4 + k] > 0 && extent.within != Within::Outer {
                    return None;
                }
            }
            self.within(&[parts], Within::Groups);
            inside.push(parts);
        }
        Some(inside)
    }

    /// Notes where padded dimensions are.
    fn within(&mut self, loops: &[Loop], what: Within) {
        for (k, extent) in self.extents.iter_mut().enumerate() {
            if loops.iter().any(|l| l.steps[4 + k] > 0) {
                extent.within = what;
            }
        }
    }

    /// Bytes of a line of a piece in the worker's memory.
    fn row_bytes(&self) -> usize {
        self.lines.piece.next_multiple_of(self.jit.width().lanes()) * self.types[0].bytes()
    }

    /// Bytes of a piece in the worker's memory.
    fn piece_bytes(&self) -> usize {
        match &self.way {
            Way::TransposeAndInterleave { parts, .. } => self.row_bytes() * self.inner * self.last.piece * parts.size,
            _ => 0,
        }
    }

    /// Number of sums of the lines from `from` on; there may be fewer sums than lines.
    fn sums_of_lines(&self, from: usize) -> usize {
        self.lines.all.size.min(self.sums_len.saturating_sub(from))
    }

    /// Elements of scratch of all workers.
    fn scratch_len(&self) -> Option<usize> {
        for_workers(self.workers, self.piece_bytes().div_ceil(WORD).next_multiple_of(16))
    }

    /// The part of the piece at `at` that exists: lines read and written, and elements of the run read and written; `None` if the
    /// destination has nothing there.
    fn counts(&self, at: &At, [lines, run]: [usize; 2]) -> Option<([usize; 2], [usize; 2])> {
        let (mut lines, mut run) = ([lines; 2], [run; 2]);
        for (extent, base) in self.extents.iter().zip(&at[4..]) {
            if *base >= extent.written {
                return None;
            }
            for (i, limit) in [extent.read, extent.written].into_iter().enumerate() {
                match extent.within {
                    Within::Lines(unit) => lines[i] = lines[i].min(left(limit, *base, unit)),
                    Within::Run(inner, unit) => run[i] = run[i].min(inner * left(limit, *base, unit)),
                    Within::Outer | Within::Groups if *base >= limit => run[i] = 0,
                    Within::Outer | Within::Groups => {}
                }
            }
        }
        Some((lines, run))
    }
}

impl Timed for Pieces {
    fn time(&self, isa: Option<Isa>) -> Option<f64> {
        let lanes = self.jit.width().lanes();
        let pieces = [self.lines, self.last].map(|cut| cut.pieces().size as f64);
        let calls = self.outer.iter().map(|l| l.size as f64).product::<f64>() * pieces[0] * pieces[1];
        let (lines, columns) = (self.lines.all.size as f64 / pieces[0], self.inner as f64 * self.last.all.size as f64 / pieces[1]);
        let strips = calls * (lines / lanes as f64).ceil();
        let squares = [calls, strips * (columns / lanes as f64).ceil(), strips * columns];
        let scaled = if self.factors.contains(&Factor::ByRow) { calls } else { 0.0 };
        let counts = match &self.way {
            Way::Transpose(_) => [1.0, squares[0], squares[1], squares[2], 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, scaled],
            Way::TransposeAndInterleave { parts, .. } => {
                let parts = parts.size as f64;
                [1.0, 0.0, 0.0, 0.0, calls * parts, calls * parts * columns, squares[2] * parts, 0.0, 0.0, 0.0, scaled]
            }
            Way::Interleave { rows, .. } => {
                let vectors = squares[2] * rows.size as f64;
                let converted = if self.types[0] == self.types[1] { 0.0 } else { vectors };
                [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, calls, vectors, converted, scaled]
            }
        };
        Some(total(&TIMES, isa, counts))
    }
}

impl Generated for Pieces {
    type Code = Kernels;

    fn build(&self) -> Result<Kernels, Error> {
        let [to, from] = self.types;
        let interleave = |from, factors| Interleaver::get(self.jit, Interleave { from, to, factors, summed: !self.sums.is_empty() });
        let turn = |placed| RegisterTranspose::of(self.jit, Transpose { from, to, factors: self.factors, placed });
        Ok(match &self.way {
            Way::Transpose(_) => Kernels::Transpose(turn(true)?),
            Way::TransposeAndInterleave { .. } => Kernels::TransposeAndInterleave(turn(false)?, interleave(to, UNCHANGED)?),
            Way::Interleave { .. } => Kernels::Interleave(interleave(from, self.factors)?),
        })
    }

    fn run(&self, kernels: &Kernels, _: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let len = self.scratch_len().ok_or_else(|| Error::Runtime("scratch that was not booked".into()))?;
        let zeros = scratch.take(ZERO_POINTS)?.into_buf();
        zero_points(&self.factors, ctx)?.into_iter().enumerate().for_each(|(i, x)| zeros.set(i, x));
        let mut shares = scratch.take(len)?;
        let memory = [ctx.buf(Arg::DST)?, ctx.buf(Arg::SRC)?];
        let mut scales = [Buf::empty(); 2];
        for (i, arg) in [Arg::SRC, Arg::DST].into_iter().enumerate().filter(|(i, _)| self.factors[i + 1] != Factor::None) {
            scales[i] = ctx.buf(Arg::scale(arg))?;
        }
        let pieces = [self.lines, self.last].map(|c| c.pieces());
        let each = pieces[0].size * pieces[1].size;
        let all = each * self.outer.iter().map(|l| l.size).product::<usize>();
        let numbers = self.lines.piece * self.inner * self.last.piece;
        let group = if self.sums.is_empty() {
            evenly(all, GRAIN as usize / numbers)
        } else {
            each * self.outer.iter().filter(|l| l.steps[SUMS] == 0).map(|l| l.size).product::<usize>()
        };
        shares.work(ctx.executor(), self.workers, all.div_ceil(group), &|task, share| {
            let piece = Piece { by: self, kernels, memory, scales, zeros, share: lend(share) };
            let sums = place(&self.outer, self.starts, task * group / each)[SUMS];
            piece.clear(sums);
            for i in task * group..all.min((task + 1) * group) {
                let inside = [i % pieces[0].size, i / pieces[0].size % pieces[1].size];
                let mut at = place(&self.outer, self.starts, i / each);
                for (pieces, i) in pieces.iter().zip(inside) {
                    (0..at.len()).for_each(|t| at[t] += i * pieces.steps[t]);
                }
                piece.make(at, [self.lines.count(inside[0]), self.inner * self.last.count(inside[1])]);
            }
            piece.finish(sums);
        });
        Ok(())
    }
}

/// The kernels for each [`Way`].
enum Kernels {
    Transpose(RegisterTranspose),
    TransposeAndInterleave(RegisterTranspose, Interleaver),
    Interleave(Interleaver),
}

/// What a worker needs for pieces.
struct Piece<'p> {
    by: &'p Pieces,
    kernels: &'p Kernels,
    /// Memory of destination and source.
    memory: [Buf<'p>; 2],
    /// Scales of source and destination.
    scales: [Buf<'p>; 2],
    /// The zero points of source and destination.
    zeros: Buf<'p>,
    /// Memory of the worker.
    share: Buf<'p>,
}

impl Piece<'_> {
    /// Where the sums for `at` begin.
    fn sums(&self, at: &At) -> Option<(Buf<'_>, usize)> {
        self.by.sums.first().map(|(start, _)| (self.memory[0], start + at[SUMS]))
    }

    /// Zeroes the sums of all lines from `from` on.
    fn clear(&self, from: usize) {
        let count = self.by.sums_of_lines(from);
        if let Some((start, _)) = self.by.sums.first().filter(|_| count > 0) {
            self.memory[0].part((start + from) * WORD, count * WORD).fill(0);
        }
    }

    /// Multiplies the sums of all lines from `from` on by their factors.
    fn finish(&self, from: usize) {
        let Some((first, _)) = self.by.sums.first() else { return };
        for i in from..from + self.by.sums_of_lines(from) {
            let sum: i32 = self.memory[0].get(first + i);
            self.by.sums.iter().for_each(|(start, factor)| self.memory[0].set(start + i, sum.wrapping_mul(*factor)));
        }
    }

    /// Computes the piece at `at`, with `counts` lines and elements of the run or groups.
    fn make(&self, at: At, counts: [usize; 2]) {
        let (by, [dst, src]) = (self.by, self.memory);
        let Some(([lines, written], [read, run])) = by.counts(&at, counts) else { return };
        let lines = if read == 0 { 0 } else { lines };
        let [to, from] = [at[0] * by.types[0].bytes(), at[1] * by.types[1].bytes()];
        // If nothing is read, there may be no factors either.
        let factor = |t: usize| if lines == 0 { 0 } else { at[t] };
        let factors = [(self.zeros, 0), (self.scales[0], factor(3)), (self.scales[1], factor(2)), (self.zeros, 1)];
        let from = Matrix { buf: src, at: from, row: by.lines.all.steps[1] * by.types[1].bytes() };
        match (&by.way, self.kernels) {
            (Way::Transpose(places), Kernels::Transpose(squares)) => {
                let to = Matrix { buf: dst, at: to, row: 0 };
                let all = TransposeOperand { from, rows: lines, columns: read, to, written, places: Some((places, 0)), factors };
                squares.turn(&all);
                squares.turn(&TransposeOperand { rows: 0, columns: run - read, places: Some((places, read)), ..all });
            }
            (Way::TransposeAndInterleave { groups, parts, row }, Kernels::TransposeAndInterleave(squares, interleaver)) => {
                self.turn_parts(squares, &at, (from, factors), [lines, read, run], parts);
                let from = Matrix { buf: self.share, at: 0, row: *row };
                let together = interleaver.rows();
                let count = if parts.size > 1 { run } else { run.div_ceil(together) };
                let interleaved = Interleaved {
                    from,
                    rows: together,
                    columns: written.min(counts[0]),
                    to: (dst, to),
                    written,
                    groups: (groups, 0, count),
                    factors: no_factors(),
                    sums: self.sums(&at),
                };
                interleaver.interleave(&interleaved);
            }
            (Way::Interleave { groups, rows, positions }, Kernels::Interleave(interleaver)) => {
                let from = Matrix { row: rows.steps[1] * by.types[1].bytes(), ..from };
                let to = (dst, to);
                let all = Interleaved {
                    from,
                    rows: rows.size,
                    columns: lines,
                    to,
                    written,
                    groups: (groups, 0, counts[1]),
                    factors,
                    sums: self.sums(&at),
                };
                self.interleave(interleaver, &all, &at, (rows, positions));
            }
            (way, _) => panic!("kernels of another way than {way:?}"),
        }
    }

    /// Transposes the parts of a piece to be interleaved: `lines` lines, and of `run` elements those that exist. The others become zeros.
    fn turn_parts(
        &self,
        squares: &RegisterTranspose,
        at: &At,
        (from, factors): (Matrix, Factors),
        [lines, read, run]: [usize; 3],
        parts: &Loop,
    ) {
        let (by, row) = (self.by, self.by.row_bytes());
        for part in 0..parts.size {
            let to = Matrix { buf: self.share, at: part * by.inner * by.last.piece * row, row };
            let mut there = if lines == 0 { 0 } else { read };
            for (k, extent) in by.extents.iter().enumerate().filter(|(k, _)| parts.steps[4 + k] > 0) {
                there = if at[4 + k] + part * parts.steps[4 + k] < extent.read { there } else { 0 };
            }
            let whole = by.lines.piece.min(by.row_bytes() / by.types[0].bytes());
            if there < run || lines < whole {
                let end = run.next_multiple_of(WORD / by.types[0].bytes()).min(by.inner * by.last.piece);
                self.share.part(to.at, end * row).fill(0);
            }
            let from = Matrix { at: from.at + part * parts.steps[1] * by.types[1].bytes(), ..from };
            squares.turn(&TransposeOperand { from, rows: lines, columns: there, to, written: lines, places: None, factors });
        }
    }

    /// Interleaves groups; those with equally many rows in one call.
    fn interleave(&self, interleaver: &Interleaver, all: &Interleaved<'_>, at: &At, (rows, positions): (&Loop, &[[usize; PADDED]])) {
        let extents = &self.by.extents;
        let padded = |k: &usize| extents[*k].within == Within::Groups;
        let rows_of = |position: &[usize; PADDED]| {
            let mut there = rows.size;
            for k in (0..PADDED).filter(padded) {
                let (base, unit) = (at[4 + k] + position[k], rows.steps[4 + k]);
                if base >= extents[k].written {
                    return None;
                }
                let exist = if unit > 0 { left(extents[k].read, base, unit) } else { rows.size * usize::from(base < extents[k].read) };
                there = there.min(exist);
            }
            Some(if all.columns == 0 { 0 } else { there })
        };
        let ((table, _, count), [alike, each]) = (all.groups, self.by.alike);
        // Positions are at most those of the last group of all.
        let whole = count == positions.len() && positions.last().and_then(rows_of) == Some(rows.size);
        if whole || (0..PADDED).filter(padded).count() == 0 {
            return interleaver.interleave(&Interleaved { rows: if all.columns == 0 { 0 } else { rows.size }, ..*all });
        }
        let share = if each > 0 { each * (count / self.by.inner) } else { alike };
        let blocks = if share < alike { positions.len() } else { count } / alike;
        let mut first = 0;
        while first < blocks {
            let there = rows_of(&positions[first * alike]);
            let same = |position: &[usize; PADDED]| rows_of(position) == there;
            let rest = &positions[(first + 1) * alike..blocks * alike];
            let together = match share == alike {
                true if self.by.ascending => 1 + rest.partition_point(same) / alike,
                true => 1 + rest.iter().step_by(alike).take_while(|position| same(position)).count(),
                false => 1,
            };
            if let Some(there) = there {
                let groups = (table, first * alike, (together - 1) * alike + share);
                interleaver.interleave(&Interleaved { rows: there, groups, ..*all });
            }
            first += together;
        }
    }
}

//! `pieces:jit`: reorders in which numbers that are no words of 32 bits, or do not stay what they were, get other neighbours.
//!
//! A piece goes through the first cache step by step, and every step is one that vectors do well. The source's numbers become words, which
//! costs nothing where they are f32; squares of these are transposed until the destination's neighbours lie side by side; these are converted;
//! and where the destination weaves such lines (weights of 16 bits or bytes, a word of which has two or four numbers of the reduction),
//! squares of the words that they make by now are transposed once more. Numbers that only move keep their bits: they are words with zeros.
//! Scales that are the same along a line are multiplied in before the conversion.

use super::reorder;
use super::squares::{self, layouts, loops, padded, place};
use super::sums::{Summed, Sums};
use crate::kernels::multiversion::{Body, Simd};
use crate::kernels::pointwise::GRAIN;
use crate::kernels::scratch::{Scratch, booked, for_workers};
use crate::kernels::transpose::{Matrix, Prepared, Squares};
use crate::row::Kernel;
use crate::{CpuTarget, RowPlan};
use oxidnn_expr::convert;
use oxidnn_jit::Isa;
use oxidnn_runtime::{Buf, Ctx, Plan, Skip};
use oxidnn_spec::op::Reorder;
use oxidnn_spec::{Arg, Attr, Blocking, Blocks, DataType, Dims, Error, Problem, QuantMode};

/// Numbers of a piece: of one whose lines are finished, and of the lines that are woven together with others.
const FINISHED: usize = 4096;
const WOVEN: usize = 1024;
/// Most neighbours in a line of a piece that is transposed, in the source of one that is woven, and most lines that are.
const LINE: usize = 64;
const ACROSS: usize = 16;
const BESIDE: usize = 64;
/// Neighbours for which a square pays.
const FEW: usize = 8;
/// Bytes of a word.
const WORD: usize = 4;

/// A loop over destination, source, and the scales of both.
type Loop = squares::Loop<4>;

/// A loop that no dimension needs.
const ONCE: Loop = Loop { size: 1, steps: [0; 4] };

/// A loop that is cut.
#[derive(Clone, Copy, Debug)]
struct Cut {
    all: Loop,
    /// Positions of a piece.
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

    /// Positions of piece `i`.
    fn count(&self, i: usize) -> usize {
        self.piece.min(self.all.size - i * self.piece)
    }
}

/// How a reorder is done.
#[derive(Debug)]
struct Pieces {
    jit: Isa,
    squares: Prepared,
    /// Of destination and source.
    types: [DataType; 2],
    /// Of destination, source, and the scales of both.
    starts: [usize; 4],
    /// Whether numbers are multiplied by the source's scales, and divided by the destination's.
    scaled: [bool; 2],
    /// Numbers of the destination that come together in words: 1 where lines are its own.
    together: usize,
    /// Neighbours of the destination, in words.
    line: Cut,
    /// From a number of a line to the next in the source.
    step: usize,
    /// Neighbours of the source, where they are others.
    across: Cut,
    /// Lines whose words lie side by side.
    beside: Cut,
    outer: Vec<Loop>,
    workers: usize,
}

/// Plans such a reorder.
///
/// # Errors
/// What the row does not take.
pub(super) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let jit = target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?;
    RowPlan::resolved(problem, target, |problem| {
        let op = reorder(problem)?;
        let types = types(op, &problem.attr)?;
        let data = Pieces::plan(op, &problem.attr, types, (jit, target.threads))?;
        let scratch = data.scratch_lens().and_then(|lens| booked(&lens)).ok_or(Skip::Shape("too large"))?;
        Ok((Summed { data, sums: Sums::plan(op)? }, scratch))
    })
}

/// The types of destination and source.
///
/// # Errors
/// Types and attributes for which there is more to do.
fn types(op: &Reorder, attr: &Attr) -> Result<[DataType; 2], Skip> {
    use DataType::*;
    let types = [op.dst.dtype, op.src.dtype];
    if !(Attr { scales: Default::default(), ..attr.clone() }).is_default() {
        return Err(Skip::Attr("other than scales".into()));
    }
    if types == [F32; 2] && !attr.scales.is_empty() {
        return Err(Skip::Attr("scales of what is not converted".into()));
    }
    super::check_adjusted(op)?;
    let held = |t: &DataType| matches!(t, F32 | Bf16 | F16 | S8 | U8);
    if types.iter().all(held) { Ok(types) } else { Err(Skip::DataType(format!("{} to {}", types[1], types[0]))) }
}

/// Where the scales of `arg` lie, as those of a tensor of the same sizes that stands still along the other dimensions; without scales anywhere.
///
/// # Errors
/// Scales that are not f32 and one for every index.
fn scales(arg: Arg, attr: &Attr, like: &Blocking) -> Result<Blocking, Skip> {
    let n = like.strides.len();
    let mut place = Blocking { offset: 0, strides: Dims::filled(n, 0), inner: Blocks::default(), ..like.clone() };
    let Some(quant) = attr.scales.get(&arg) else { return Ok(place) };
    if quant.mode != QuantMode::Static || quant.dtype != DataType::F32 || !quant.groups.is_empty() {
        return Err(Skip::Attr(format!("scales of {arg}: in groups, not f32, or computed by the library")));
    }
    let mut stride = 1;
    for d in (0..n).rev().filter(|d| quant.mask >> d & 1 == 1) {
        place.strides[d] = stride;
        stride *= like.padded_dims[d];
    }
    Ok(place)
}

impl Pieces {
    fn plan(op: &Reorder, attr: &Attr, types: [DataType; 2], (jit, workers): (Isa, usize)) -> Result<Pieces, Skip> {
        let [dst, src] = layouts(op)?;
        let [by_dst, by_src] = [scales(Arg::DST, attr, dst)?, scales(Arg::SRC, attr, src)?];
        let mut outer = loops(op.dst.dims(), [dst, src, &by_dst, &by_src]).ok_or_else(padded)?;
        let mut taken = |t: usize, step: usize| outer.iter().position(|l| l.steps[t] == step).map(|i| outer.remove(i));
        let small = || Skip::Layout("of src and dst: the same neighbours, or few".into());
        let neighbours = taken(0, 1).ok_or_else(small)?;
        let step = neighbours.steps[1];
        let across = if step == 1 { ONCE } else { taken(1, 1).ok_or_else(small)? };
        let (mut together, mut line, mut beside) = (1, neighbours, ONCE);
        if neighbours.size * types[0].bits() == 8 * WORD && neighbours.size > 1 {
            together = neighbours.size;
            line = taken(1, together * step).ok_or_else(small)?;
            beside = taken(0, together).ok_or_else(small)?;
        }
        let finished = together == 1;
        if (if finished { across.size.min(line.size) } else { beside.size }) < FEW {
            return Err(small());
        }
        if [neighbours, line, across].iter().any(|l| l.steps[2..] != [0; 2]) {
            return Err(Skip::Attr("scales that differ along neighbours".into()));
        }
        let starts = [dst.offset as usize, src.offset as usize, 0, 0];
        let scaled = [Arg::SRC, Arg::DST].map(|arg| attr.scales.contains_key(&arg));
        let lanes = jit.width().lanes();
        let piece = |most: usize, other: usize| (most / other / lanes).max(1) * lanes;
        let (line, across) = if finished {
            let line = Cut::new(line, LINE);
            (line, Cut::new(across, piece(FINISHED, line.piece)))
        } else {
            let across = Cut::new(across, ACROSS);
            (Cut::new(line, piece(WOVEN / together, across.piece)), across)
        };
        let beside = Cut::new(beside, BESIDE);
        Ok(Pieces { jit, squares: Prepared::default(), types, starts, scaled, together, line, step, across, beside, outer, workers })
    }

    /// Whether numbers keep their bits.
    fn moves(&self) -> bool {
        self.types[0] == self.types[1] && self.scaled == [false; 2]
    }

    /// Most numbers of a piece's lines for one of those beside each other.
    fn numbers(&self) -> usize {
        self.line.piece * self.together * self.across.piece
    }

    /// Words of a worker's memory for code: source, transposed, and lines that are to be woven.
    fn shares(&self) -> [usize; 3] {
        let n = self.numbers().next_multiple_of(16);
        [n, n, if self.together > 1 { (self.line.piece * self.across.piece).next_multiple_of(16) * self.beside.piece } else { 0 }]
    }

    /// Numbers of scratch of all workers: what is converted and what comes of it, and memory for code.
    fn scratch_lens(&self) -> Option<[usize; 2]> {
        Some([for_workers(self.workers, 2 * self.shares()[0])?, for_workers(self.workers, self.shares().iter().sum())?])
    }
}

impl Kernel for Pieces {
    fn prepare(&self) -> Result<(), Error> {
        self.squares.prepare(self.jit)
    }

    fn run(&self, simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let squares = self.squares.get()?;
        let lens = self.scratch_lens().ok_or_else(|| Error::Runtime("scratch that was not booked".into()))?;
        let (mut own, mut code) = (scratch.take(lens[0])?, scratch.take(lens[1])?);
        let memory = [ctx.buf(Arg::DST)?, ctx.buf(Arg::SRC)?];
        let [dst, src] = [1, 0].map(|s| if self.scaled[s] { ctx.buf(Arg::scale([Arg::SRC, Arg::DST][s])) } else { Ok(Buf::empty()) });
        let scales = [dst?, src?];
        let cuts = [&self.line, &self.across, &self.beside];
        let pieces = cuts.map(Cut::pieces);
        let each: usize = pieces.iter().map(|l| l.size).product();
        let all = each * self.outer.iter().map(|l| l.size).product::<usize>();
        let group = (GRAIN as usize / (self.numbers() * self.beside.piece)).max(1);
        own.work_beside(&mut code, ctx.executor, self.workers, (all.div_ceil(group), None), &|task, numbers, share| {
            let n = numbers.len() / 2;
            let (carry, bytes) = numbers.split_at_mut(n);
            let mut on =
                Piece { by: self, squares, memory, scales, factors: [1.0; 2], share, carry, bytes: bytemuck::cast_slice_mut(bytes) };
            for i in task * group..all.min((task + 1) * group) {
                let inside =
                    [i % each % pieces[0].size, i % each / pieces[0].size % pieces[1].size, i % each / pieces[0].size / pieces[1].size];
                let mut at = place(&self.outer, self.starts, i / each);
                for (pieces, i) in pieces.iter().zip(inside) {
                    (0..at.len()).for_each(|t| at[t] += i * pieces.steps[t]);
                }
                let counts = [0, 1, 2].map(|c| cuts[c].count(inside[c]));
                simd.run(On { piece: &mut on, at, counts });
            }
        });
        Ok(())
    }
}

/// What a worker makes pieces with.
struct Piece<'p> {
    by: &'p Pieces,
    squares: &'p Squares,
    /// Of destination and source.
    memory: [Buf; 2],
    scales: [Buf; 2],
    /// Those of the lines that are made: what numbers are divided by, and multiplied by before.
    factors: [f32; 2],
    /// The memory for code.
    share: Buf,
    /// Words, and what they are converted from or to.
    carry: &'p mut [f32],
    bytes: &'p mut [u8],
}

/// A piece: where it begins in destination, source and scales, words of a line, lines, and lines beside each other.
struct On<'o, 'p> {
    piece: &'o mut Piece<'p>,
    at: [usize; 4],
    counts: [usize; 3],
}

impl Body for On<'_, '_> {
    type Out = ();

    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) {
        let On { piece, at, counts: [words, lines, beside] } = self;
        let by = piece.by;
        let (size, dst) = (by.types[0].bits() / 8, piece.memory[0]);
        let to = |step: usize| Matrix { buf: dst, at: at[0] * size, row: step * size };
        piece.scale(at);
        if by.together == 1 {
            return piece.lines(at[1], to(by.across.all.steps[0]), [words, lines]);
        }
        let (start, bytes) = ((by.shares()[0] + by.shares()[1]) * WORD, words * WORD);
        let woven = to(by.line.all.steps[0]);
        for i in 0..beside {
            let to = Matrix { buf: piece.share, at: start + i * lines * bytes, row: bytes };
            let at: [usize; 4] = std::array::from_fn(|t| at[t] + i * by.beside.all.steps[t]);
            piece.scale(at);
            piece.lines(at[1], to, [words * by.together, lines]);
        }
        for line in 0..lines {
            let from = Matrix { buf: piece.share, at: start + line * bytes, row: lines * bytes };
            let to = Matrix { at: woven.at + line * by.across.all.steps[0] * size, ..woven };
            piece.squares.run(from, to, beside, words);
        }
    }
}

impl Piece<'_> {
    /// Takes the scales of the lines that come.
    #[inline(always)]
    fn scale(&mut self, at: [usize; 4]) {
        let [src, dst] = self.by.scaled;
        self.factors = [if dst { self.scales[0].get(at[2]) } else { 1.0 }, if src { self.scales[1].get(at[3]) } else { 1.0 }];
    }

    /// Words times and divided by their scales.
    #[inline(always)]
    fn scaled(by: &Pieces, [divisor, factor]: [f32; 2], words: &mut [f32]) {
        if by.scaled[0] {
            words.iter_mut().for_each(|w| *w *= factor);
        }
        if by.scaled[1] {
            words.iter_mut().for_each(|w| *w /= divisor);
        }
    }

    /// Lines of `count` numbers from an element of the source on.
    #[inline(always)]
    fn lines(&mut self, at: usize, to: Matrix, [count, lines]: [usize; 2]) {
        let (by, src) = (self.by, self.memory[1]);
        let sizes = by.types.map(|t| t.bits() / 8);
        if by.step == 1 {
            self.load(at, count);
            return self.save(to.at, 0, count);
        }
        let words = Matrix { buf: self.share, at: 0, row: lines * WORD };
        let from = if sizes[1] == WORD {
            Matrix { buf: src, at: at * WORD, row: by.step * WORD }
        } else {
            // Rows that follow each other are one.
            let (rows, n) = if by.step == lines { (1, count * lines) } else { (count, lines) };
            for row in 0..rows {
                self.load(at + row * by.step, n);
                self.share.write(row * n, &self.carry[..n]);
            }
            words
        };
        if sizes[0] == WORD {
            return self.squares.run(from, to, count, lines);
        }
        let turned = Matrix { buf: self.share, at: by.shares()[0] * WORD, row: count * WORD };
        self.squares.run(from, turned, count, lines);
        self.share.read(turned.at / WORD, &mut self.carry[..count * lines]);
        if to.row == count * sizes[0] {
            return self.save(to.at, 0, count * lines);
        }
        for line in 0..lines {
            self.save(to.at + line * to.row, line * count, count);
        }
    }

    /// Numbers of the source as words.
    #[inline(always)]
    fn load(&mut self, at: usize, n: usize) {
        let ([dst, src], moved) = (self.by.types, self.by.moves());
        let (words, bytes) = (&mut self.carry[..n], &mut self.bytes[..n * src.bits() / 8]);
        self.memory[1].read(at * src.bits() / 8, bytes);
        match (moved, src.bits()) {
            (true, 8) => words.iter_mut().zip(bytes).for_each(|(word, b)| *word = f32::from_bits(u32::from(*b))),
            (true, 16) => {
                let numbers = bytes.as_chunks().0.iter().map(|b| u16::from_le_bytes(*b));
                words.iter_mut().zip(numbers).for_each(|(word, b)| *word = f32::from_bits(u32::from(b)));
            }
            _ => convert::to_f32(src, bytes, words),
        }
        if dst == DataType::F32 {
            Self::scaled(self.by, self.factors, words);
        }
    }

    /// Words from one on as numbers of the destination, or of lines that are to be woven: from a byte on.
    #[inline(always)]
    fn save(&mut self, to: usize, first: usize, n: usize) {
        let (dst, moved) = (self.by.types[0], self.by.moves());
        let (words, bytes) = (&mut self.carry[first..first + n], &mut self.bytes[..n * dst.bits() / 8]);
        Self::scaled(self.by, self.factors, words);
        match (moved, dst.bits()) {
            (true, 8) => bytes.iter_mut().zip(words).for_each(|(b, word)| *b = word.to_bits() as u8),
            (true, 16) => {
                let numbers = words.iter().map(|w| (w.to_bits() as u16).to_le_bytes());
                bytes.as_chunks_mut().0.iter_mut().zip(numbers).for_each(|(b, word)| *b = word);
            }
            _ => convert::from_f32(dst, words, bytes),
        }
        let buf = if self.by.together > 1 { self.share } else { self.memory[0] };
        buf.write(to, bytes);
    }
}

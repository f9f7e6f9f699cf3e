//! The sums behind quantised weights: `-128 sum(w)` for signed sources that are shifted to unsigned ones, `-sum(w)` for sources with a zero
//! point. They are row-major over the padded sizes of their dimensions. They are computed from the elements that a reorder has written:
//! from words of four elements of K, with the columns of a line contiguous, as kernels for bytes want their weights; for other layouts by a
//! pipeline.

use super::loops::{step, units};
use super::time::{self, Timed};
use crate::CpuTarget;
use crate::kernels::multiversion::{Body, Simd};
use crate::kernels::pointwise::{Builder, Codes, FoldOp, Over, Program};
use crate::kernels::scratch::Scratch;
use crate::row::Generated;
use oxidnn_jit::Isa;
use oxidnn_runtime::{Buf, Ctx, Decision, Skip};
use oxidnn_spec::op::{EltwiseAlg, Reorder};
use oxidnn_spec::{Arg, Dims, Error, Problem};

/// Most words of a line.
const MAX_LINE_WORDS: usize = 64;
/// Elements of K in a word.
const K_PER_WORD: i64 = 4;
/// Lines that are added in 16 bits: pairs of bytes cannot overflow.
const MAX_LINES_IN_I16: usize = 127;

/// The factors of the sums for signed sources and of those for zero points.
const FACTORS: [i32; 2] = [-128, -1];

/// A kernel whose destination may have sums behind its elements.
#[derive(Debug)]
pub(super) struct Summed<K> {
    data: K,
    sums: Behind,
    seconds: Option<f64>,
}

/// How the sums behind elements are computed.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "one of a primitive")]
pub(super) enum Behind {
    /// There are none, or the kernel computes them on the way.
    Nothing,
    /// From elements in lines of words.
    Words(Sums),
    /// From any others: folded over the dimensions of K.
    Folded(Program),
}

impl Behind {
    /// The generated code for the sums of a reorder's destination, and its bytes of scratch.
    ///
    /// # Errors
    /// [`Skip`] for layouts and sizes that it does not take.
    pub(super) fn plan(op: &Reorder, problem: &Problem, isa: Isa) -> Result<(Behind, usize), Skip> {
        match Sums::plan(op) {
            Ok(sums) => Ok((sums.map_or(Behind::Nothing, Behind::Words), 0)),
            Err(_) => {
                let mut b = Builder::new(problem, op.dst.dims(), None)?;
                fold(op, &mut b)?;
                let (pipeline, scratch) = b.finish()?;
                Ok((Behind::Folded(Program::in_stages(pipeline, isa)?), scratch))
            }
        }
    }
}

impl<K: Timed> Summed<K> {
    /// The kernel for the elements of a reorder, and the sums after it.
    pub(super) fn new(op: &Reorder, target: &CpuTarget, data: K, sums: Behind) -> Summed<K> {
        let behind = if matches!(sums, Behind::Nothing) { 0.0 } else { time::of_sums(op) };
        let time = data.time(target.jit).map(|time| time + behind + time::of_memory(op, target, data.streams()));
        Summed { data, sums, seconds: time.map(|nanoseconds| nanoseconds * 1e-9) }
    }
}

impl<K: Generated> Generated for Summed<K> {
    type Code = (K::Code, Option<Codes>);

    fn build(&self) -> Result<Self::Code, Error> {
        let sums = if let Behind::Folded(program) = &self.sums { Some(program.build()?) } else { None };
        Ok((self.data.build()?, sums))
    }

    fn decision(&self, problem: &Problem) -> Decision {
        let how = self.data.decision(problem);
        let algorithm = if how.algorithm.is_empty() { "elements moved as the row is described".into() } else { how.algorithm };
        Decision { algorithm, seconds: self.seconds, ..how }
    }

    fn seconds(&self, _: &Problem) -> Option<f64> {
        self.seconds
    }

    fn table_bytes(&self) -> usize {
        self.data.table_bytes()
    }

    fn run(&self, (data, sums): &Self::Code, simd: Simd, ctx: &Ctx<'_>, scratch: Scratch<'_>) -> Result<(), Error> {
        self.data.run(data, simd, ctx, scratch)?;
        match (&self.sums, sums) {
            (Behind::Words(sums), _) => sums.run(simd, ctx),
            // It begins when the kernel no longer uses the scratch.
            (Behind::Folded(program), Some(code)) => program.execute(code, simd, ctx),
            _ => Ok(()),
        }
    }
}

/// The sums behind quantised weights of any layout, as groups of a pipeline.
///
/// # Errors
/// [`Skip`] for layouts that pipelines do not take.
pub(super) fn fold(op: &Reorder, b: &mut Builder<'_>) -> Result<(), Skip> {
    let (places, Some(blocking)) = (places(op)?, op.dst.blocking()) else { return Ok(()) };
    if let Some((start, ..)) = places.first() {
        b.clear(Arg::DST, *start..usize::MAX);
    }
    for (start, mask, factor) in places {
        b.group(mask);
        b.argument(Arg::DST)?;
        let table = b.table(mask)?;
        let table = b.bind(&table)?;
        let out = b.behind(Arg::DST, start, mask, &blocking.padded_dims)?;
        b.stage(Over::All);
        b.load_argument(0, Arg::DST)?;
        b.fold(0, FoldOp::Sum, table);
        b.stage(Over::Kept);
        b.load(0, table);
        b.forward(0, EltwiseAlg::Linear, factor as f32, 0.0);
        b.store(0, out);
    }
    Ok(())
}

/// The sums of a destination.
#[derive(Debug)]
pub(super) struct Sums {
    /// The first element of the words.
    start: usize,
    /// Words of a line, and the stride of their sums.
    line: (usize, usize),
    /// Loops over lines with different sums: size, stride in elements, stride in sums.
    kept: Vec<(usize, usize, usize)>,
    /// Loops over lines with the same sums.
    reduced: Vec<(usize, usize)>,
    /// Where sums are stored, in 32-bit elements, and their factors.
    outputs: Vec<(usize, i32)>,
}

/// Where each kind of sums of a destination begins, in bytes, the mask of its dimensions, and its factor.
///
/// # Errors
/// [`Skip`] for sizes that only the execution gives.
pub(super) fn places(op: &Reorder) -> Result<Vec<(usize, u32, i32)>, Skip> {
    let Some((blocking, sums)) = op.dst.blocking().and_then(|b| Some((b, b.compensation?))) else { return Ok(Vec::new()) };
    let mut start = op.dst.compensation_at().ok_or(Skip::Shape("sums of runtime sizes"))?;
    let mut places = Vec::new();
    for (mask, factor) in [sums.s8s8_mask, sums.zero_point_mask].into_iter().zip(FACTORS) {
        let Some(mask) = mask else { continue };
        places.push((start, mask, factor));
        start +=
            4 * (0..blocking.padded_dims.len()).filter(|d| mask >> d & 1 == 1).map(|d| blocking.padded_dims[d] as usize).product::<usize>();
    }
    Ok(places)
}

impl Sums {
    /// The sums of a reorder's destination, if it has any.
    ///
    /// # Errors
    /// [`Skip`] for elements that are not in lines of words.
    pub(super) fn plan(op: &Reorder) -> Result<Option<Sums>, Skip> {
        let places = places(op)?;
        let (Some(b), Some(&(_, mask, _))) = (op.dst.blocking(), places.first()) else { return Ok(None) };
        let no = || Skip::Layout("of dst: sums of what is not in lines of words".into());
        if places.iter().any(|p| p.1 != mask) || b.offset % K_PER_WORD != 0 || b.padded_dims.iter().any(|d| *d <= 0) {
            return Err(no());
        }
        // Row-major over the dimensions of the mask.
        let (mut strides, mut stride) = (Dims::filled(b.padded_dims.len(), 0), 1);
        for d in (0..b.padded_dims.len()).rev().filter(|d| mask >> d & 1 == 1) {
            strides[d] = stride;
            stride *= b.padded_dims[d];
        }
        let (mut kept, mut reduced) = (Vec::new(), Vec::new());
        for (d, size) in b.padded_dims.iter().enumerate() {
            for w in units(d, *size, &[b]).ok_or_else(no)?.windows(2) {
                let (count, step) = ((w[1] / w[0]) as usize, step(b, d, w[0]));
                if mask >> d & 1 == 1 {
                    kept.push((count, step as usize, (w[0] * strides[d]) as usize));
                } else {
                    reduced.push((count, step as usize));
                }
            }
        }
        let word = reduced.iter().position(|l| *l == (K_PER_WORD as usize, 1)).ok_or_else(no)?;
        reduced.remove(word);
        let line = kept.iter().position(|l| l.1 == K_PER_WORD as usize && l.0 <= MAX_LINE_WORDS).ok_or_else(no)?;
        let (count, _, distance) = kept.remove(line);
        let outputs = places.iter().map(|p| (p.0 / 4, p.2)).collect();
        Ok(Some(Sums { start: b.offset as usize, line: (count, distance), kept, reduced, outputs }))
    }

    fn run(&self, simd: Simd, ctx: &Ctx<'_>) -> Result<(), Error> {
        let buf = ctx.buf(Arg::DST)?;
        let tasks: usize = self.kept.iter().map(|l| l.0).product();
        ctx.executor().run(ctx.executor().threads(), tasks, &|_, task| {
            let (mut at, mut to, mut rest) = (self.start, 0, task);
            for (count, step, sums) in &self.kept {
                (at, to, rest) = (at + rest % count * step, to + rest % count * sums, rest / count);
            }
            let sums = simd.run(Lines { buf, at, count: self.line.0, reduced: &self.reduced });
            for (start, factor) in &self.outputs {
                for (j, sum) in sums[..self.line.0].iter().enumerate() {
                    buf.set(start + to + j * self.line.1, factor.wrapping_mul(*sum));
                }
            }
        });
        Ok(())
    }
}

/// Sums of the words of lines.
struct Lines<'l> {
    buf: Buf<'l>,
    /// The first element.
    at: usize,
    count: usize,
    reduced: &'l [(usize, usize)],
}

impl Lines<'_> {
    /// Adds `count` words of each line; the two bytes of a 16-bit half are added in one 16-bit sum.
    #[inline(always)]
    fn add(&self, count: usize) -> [i32; MAX_LINE_WORDS] {
        let (mut sums, mut halves) = ([0_i32; MAX_LINE_WORDS], [0_i16; 2 * MAX_LINE_WORDS]);
        let all: usize = self.reduced.iter().map(|l| l.0).product();
        for first in (0..all).step_by(MAX_LINES_IN_I16) {
            let mut totals = [0_i16; 2 * MAX_LINE_WORDS];
            for i in first..all.min(first + MAX_LINES_IN_I16) {
                let (mut at, mut rest) = (self.at, i);
                for (count, step) in self.reduced {
                    (at, rest) = (at + rest % count * step, rest / count);
                }
                self.buf.read(at / 2, &mut halves[..2 * count]);
                for (total, w) in totals.iter_mut().zip(&halves) {
                    *total = total.wrapping_add((w << 8 >> 8) + (w >> 8));
                }
            }
            for (sum, two) in sums.iter_mut().zip(totals.as_chunks::<2>().0) {
                *sum = sum.wrapping_add(i32::from(two[0]) + i32::from(two[1]));
            }
        }
        sums
    }
}

impl Body for Lines<'_> {
    type Out = [i32; MAX_LINE_WORDS];

    #[inline(always)]
    fn run<const W: usize, const FMA: bool>(self) -> [i32; MAX_LINE_WORDS] {
        // Most lines have all words; then the compiler knows the count.
        match self.count {
            MAX_LINE_WORDS => self.add(MAX_LINE_WORDS),
            count => self.add(count),
        }
    }
}

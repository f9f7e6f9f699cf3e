//! `direct:jit`: pooling by generated strips, forward and backward, with channels last, in blocks of whole vectors, or in
//! [planes](super::planes).
//!
//! A task is some result rows of an image times a chunk of channels, small enough that the source rows of a window stay in L1 from one
//! result row to the next. Backward, the window slides over the results: a source gradient is gathered from the destination's gradients.
//! The workspace of max pooling, the positions of maxima, is called *places*.

use super::planes::{Planes, Tensors};
use crate::CpuTarget;
use crate::kernels::access::View;
use crate::kernels::chain::Chain;
use crate::kernels::code::elem;
use crate::kernels::microkernel::EpilogueArgs;
use crate::kernels::microkernel::epilogue::{Epilogue, EpilogueRequest};
use crate::kernels::multiversion::Simd;
use crate::kernels::scratch::{Scratch, booked};
use crate::kernels::strip::{Call, Channels, Line as Taps, Row, Strip, Table};
use crate::kernels::transpose::RegisterTranspose;
use crate::ops::conv::geometry::{Direction, Line, Phase};
use crate::ops::conv::window::cut;
use crate::ops::strips::{Met, Place, Segment, Width, check_table, table};
use crate::ops::support;
use crate::row::{Generated, RowPlan, TOO_LARGE};
use oxidnn_jit::Isa;
use oxidnn_jit::ir::Elem;
use oxidnn_jit::kernels::pool::{self as generated, Take};
use oxidnn_jit::kernels::strips::Window;
use oxidnn_runtime::{Buf, Ctx, Plan, Skip};
use oxidnn_spec::op::{ConvSizes, Pool, PoolAlg};
use oxidnn_spec::{Arg, Attr, DataType, Error, Op, Problem, Tensor};
use std::ops::Range;

/// Most lines of a window, and most taps of a line: f32 holds a sum of so many bytes exactly.
const LINES: i64 = 1024;
const TAPS: i64 = 32;
/// Most columns between a result and a tap.
const REACH: i64 = 8 << 10;
/// Most rows of a task.
const ROWS: usize = 16;
/// Most lines of the windows of images that are processed together.
const JOINT: usize = 512;
/// Bytes from the first source row of a task to its last.
const NEAR: usize = 256 * 1024;
/// Bytes of a word.
const WORD: usize = 4;
/// Elements that a task reads, counting an element once for every window.
const TASK: usize = 1 << 17;

#[derive(Debug)]
pub(super) struct Direct {
    jit: Isa,
    attr: Attr,
    source: Place,
    result: Place,
    places: Option<Place>,
    planes: Option<Planes>,
    /// Whether places are read with the source (backward), not written with the result.
    pub(super) reads: bool,
    width: Width,
    /// The segments and rows of each phase of the width.
    phases: Vec<(Vec<Segment<generated::Pool>>, Table)>,
    epilogue: Epilogue,
    pub(super) images: usize,
    pub(super) channels: usize,
    /// With channels as words: bytes by which the last word overlaps the one before.
    again: usize,
    /// Vectors of a group.
    vectors: usize,
    /// Channels of a task, and number of such chunks.
    chunks: (usize, usize),
    /// Number of tasks by columns.
    columns: usize,
    /// Rows of a task, and all rows.
    pub(super) rows: [usize; 2],
}

/// Plans a pooling.
///
/// # Errors
/// Problems that the row does not take.
pub(super) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let jit = target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?;
    RowPlan::resolved(problem, target, |problem| {
        let Op::Pool(op) = &problem.op else { return Err(Skip::Op("another operation than pooling")) };
        support::dense(problem)?;
        let kernel = support::of_widths(jit, |isa| Direct::new(op, &problem.attr, target, isa))?;
        let planes = kernel.planes.as_ref().map_or(Some(0), Planes::scratch);
        let scratch = kernel.epilogue.scratch(kernel.channels).zip(planes).and_then(|(epilogue, vectors)| booked(&[epilogue, vectors]));
        Ok((kernel, scratch.ok_or(TOO_LARGE)?))
    })
}

/// The sizes of a pooling, as those of a convolution with a group for every channel.
fn sizes(op: &Pool) -> ConvSizes {
    let three = |v: &[i64], missing: i64| std::array::from_fn(|i| (i + v.len()).checked_sub(3).map_or(missing, |d| v[d]));
    let (src, dst, w) = (op.src.dims(), op.dst.dims(), &op.window);
    ConvSizes {
        mb: src[0],
        g: src[1],
        ic: 1,
        oc: 1,
        i: three(&src[2..], 1),
        o: three(&dst[2..], 1),
        k: three(&op.kernel, 1),
        s: three(&w.strides, 1),
        d: three(&w.dilations, 0).map(|d| d.saturating_add(1)),
        pl: three(&w.padding_l, 0),
        pr: three(&w.padding_r, 0),
    }
}

/// Whether every window lies inside the source.
fn is_inside(s: &ConvSizes) -> bool {
    (0..3).all(|i| s.pl[i] == 0 && (s.o[i] - 1) * s.s[i] + (s.k[i] - 1) * s.d[i] < s.i[i])
}

/// Number of taps of result `o`'s window that are inside the source along dimension `i` (depth, height or width).
fn taps_inside(s: &ConvSizes, i: usize, o: i64) -> i64 {
    (0..s.k[i]).filter(|k| (0..s.i[i]).contains(&(o * s.s[i] - s.pl[i] + k * s.d[i]))).count() as i64
}

/// Whether channels are processed as words (four bytes, or one s32), which are moved and compared without conversion: the channels are
/// whole words, or fill at least a vector of words, so that the last word may overlap the one before.
fn are_words(source: &Tensor, result: &Tensor, attr: &Attr, lanes: usize) -> bool {
    let last = |t: &Tensor| t.blocking().is_some_and(|b| b.inner.is_empty() && b.strides[1] == 1);
    let whole = matches!(source.dtype, DataType::S8 | DataType::U8 | DataType::S32) && source.dtype == result.dtype;
    let bytes = source.dims()[1] as usize * source.dtype.bits() / 8;
    whole && attr.is_default() && last(source) && last(result) && (bytes.is_multiple_of(WORD) || bytes >= lanes * WORD)
}

/// How windows are reduced (`places` is the type of the workspace), and the divisor of sums, unless it is the number of elements inside.
fn take(op: &Pool, s: &ConvSizes, places: Option<Elem>) -> Result<(Take, f32), Skip> {
    let exact = if op.prop.is_forward() { op.dst.dtype } else { op.src.dtype }.is_integral();
    let all = s.k.iter().product::<i64>() as f32;
    let none = Skip::DataType("of the workspace".into());
    match (op.alg, op.prop.is_forward()) {
        (PoolAlg::Max, true) if op.workspace.is_none() => Ok((Take::Largest, 1.0)),
        (PoolAlg::Max, true) => Ok((Take::Place(places.ok_or(none)?), 1.0)),
        (PoolAlg::Max, false) => Ok((Take::Chosen(places.ok_or(none)?), 1.0)),
        (PoolAlg::AvgExcludePadding, _) if !is_inside(s) => match op.prop.is_forward() {
            true => Ok((Take::Mean { counted: true, exact }, 1.0)),
            false => Ok((Take::Shared, 1.0)),
        },
        _ => Ok((Take::Mean { counted: false, exact }, all)),
    }
}

/// Vectors of contiguous channels, and how windows of them are reduced.
struct Following<'a> {
    count: usize,
    /// Whether groups of vectors must end where these do.
    even: bool,
    take: Take,
    direction: Direction,
    sizes: &'a ConvSizes,
}

impl Following<'_> {
    /// How many vectors form a group. If few results read a pixel, groups are large, so that pixels are read in long pieces.
    fn together(&self, jit: Isa) -> usize {
        let (s, gathers, registers) = (self.sizes, self.direction == Direction::Gather, jit.simd_registers());
        let results = if gathers { s.o[2] } else { (s.i[2] + s.s[2] - 1) / s.s[2] };
        let most = match self.take {
            // Windows without common columns are computed one by one.
            Take::Place(_) if gathers && s.k[2] <= s.s[2] => registers / 4,
            Take::Place(_) | Take::Chosen(_) if jit.avx512 => 4,
            Take::Place(_) | Take::Chosen(_) => 1,
            _ if results == 1 => registers / 2,
            _ if gathers && !self.even && s.k[2] <= 2 * s.s[2] => registers / 2,
            _ if gathers && !self.even => registers / 4,
            _ => registers / 8,
        };
        let found = (1..=most.min(self.count)).rev().find(|n| self.count.is_multiple_of(*n)).unwrap_or(1);
        // A group of few vectors would read every cache line several times.
        if self.even || 2 * found > most { found } else { most.min(self.count) }
    }
}

/// The width of results. `most` gives the most results of a strip by number of taps. If the window slides over results, all phases are
/// computed together, provided that a strip has room for one result of each.
fn width(direction: Direction, s: &ConvSizes, (result, source): (i64, i64), most: impl Fn(usize) -> usize) -> Width {
    let line = Line::new(direction, s, 2, result, source);
    let (step, taps) = (line.step, line.phases.iter().flat_map(|p| p.taps.iter().map(|t| (t.0, t.1 * line.step - p.first))));
    if step == 1 || (most(s.k[2] as usize) as i64) < step {
        return Width { line, step: 1 };
    }
    let phases = vec![Phase { first: 0, count: result as usize, taps: taps.collect() }];
    Width { line: Line { phases, step: 1, stride: 1, source }, step: step as usize }
}

/// The kernel for a window whose first result is at source column `begin`.
fn kernel(s: &ConvSizes, take: Take, window: Window, begin: i64) -> generated::Pool {
    let shared = if take == Take::Shared { window.inside.0..window.inside.1 } else { 0..0 };
    let counts = shared.map(|x| taps_inside(s, 2, begin + i64::from(x)) as u8).collect();
    generated::Pool { window, take, counts }
}

/// Refuses sizes that the kernels' keys cannot hold.
fn check_sizes(s: &ConvSizes, results: [i64; 3]) -> Result<(), Skip> {
    let [kd, kh, kw] = s.k;
    let far = (0..3).any(|i| s.d[i].saturating_mul(s.k[i]).max(s.pl[i]) > REACH);
    if kd.saturating_mul(kh) > LINES || kw > TAPS || s.s[2] > 16 || far {
        return Err(Skip::Shape("a large window"));
    }
    if s.mb <= 0 || s.g <= 0 || results.contains(&0) || s.i.contains(&0) || s.o.contains(&0) {
        return Err(Skip::Shape("no elements"));
    }
    check_table(results[0].saturating_mul(results[1]), kd.saturating_mul(kh))
}

impl Direct {
    fn new(op: &Pool, attr: &Attr, target: &CpuTarget, jit: Isa) -> Result<Direct, Skip> {
        let (forward, s, lanes) = (op.prop.is_forward(), sizes(op), jit.width().lanes());
        let (source, result, direction) = match forward {
            true => ((Arg::SRC, &op.src), (Arg::DST, &op.dst), Direction::Gather),
            false => ((Arg::DIFF_DST, &op.dst), (Arg::DIFF_SRC, &op.src), Direction::Scatter),
        };
        let (from, to) = if forward { (s.i, s.o) } else { (s.o, s.i) };
        check_sizes(&s, to)?;
        let in_words = op.alg == PoolAlg::Max && op.workspace.is_none() && are_words(source.1, result.1, attr, lanes);
        let source_elem = elem(source.1.dtype).ok_or_else(|| Skip::DataType(format!("{} in a generated window", source.1.dtype)))?;
        let (take, divisor) = take(op, &s, op.workspace.as_ref().and_then(|w| elem(w.dtype)))?;
        let stored = Tensor { dtype: if in_words { DataType::F32 } else { result.1.dtype }, ..result.1.clone() };
        let epilogue = Epilogue::of_strips(&EpilogueRequest::of_sums(attr, &stored, 1))?;
        let tensors = [Some(source), Some(result), op.workspace.as_ref().map(|w| (Arg::WORKSPACE, w))];
        let (mut source, mut result, places, planes) = layouts(tensors, attr, (target.threads, jit))?;
        let bytes = s.g as usize * source_elem.bytes();
        let (source_elem, take, all, again) = match in_words {
            true => (Elem::F32, Take::LargestWhole(source_elem), bytes.div_ceil(WORD), bytes.next_multiple_of(WORD) - bytes),
            false => (source_elem, take, s.g as usize, 0),
        };
        for place in [&mut source, &mut result].into_iter().filter(|_| in_words) {
            (place.size, place.block) = (WORD, all.next_multiple_of(lanes));
        }
        // Padding channels of blocks are zero, and so are their results without post-ops; the places of maxima would not be zero.
        let places_padded = places.as_ref().is_none_or(|p| p.padded);
        let whole = planes.is_none() && attr.is_default() && source.padded && result.padded && places_padded;
        let channels = if whole { all.next_multiple_of(source.block) } else { all };
        result.padded &= !whole;
        let blocked = source.blocks > 0;
        // Groups must not cross the end of the last block; vectors in scratch are single.
        let uneven = planes.is_some() || blocked && !channels.is_multiple_of(source.block);
        let following = match (uneven, blocked) {
            (true, _) => 1,
            (_, true) => source.block / lanes,
            // The last vector may be masked.
            _ if jit.avx512 && again == 0 => channels.div_ceil(lanes),
            _ if again > 0 => (channels - 1) / lanes,
            _ => channels / lanes,
        };
        let vectors = Following { count: following.max(1), even: blocked, take, direction, sizes: &s }.together(jit);
        let masked = planes.is_none() && (again > 0 || !channels.is_multiple_of(lanes * vectors));
        let most = |taps| generated::Pool::most_results(jit, take, taps, vectors, masked);
        let width = width(direction, &s, (to[2], from[2]), most);
        let near = NEAR / source.spatial[1].max(1).saturating_mul(s.s[1] as usize);
        let rows = cut((to[0] * to[1]) as usize, near.clamp(1, ROWS), 1).0;
        let work = rows * to[2] as usize * lanes * s.k.iter().product::<i64>() as usize;
        // Contiguous channels are one task, split by columns; blocks of channels are separate tasks.
        let chunk = match blocked {
            true if source.block > lanes * vectors => source.block,
            true => cut(channels, (TASK / work).max(vectors) * lanes, lanes * vectors).0,
            false => channels,
        };
        let bytes = op.src.bytes().saturating_add(op.dst.bytes());
        // Results are stored non-temporally if the tensors do not fit into the last-level cache; not in runs of a single line, from pixel to
        // pixel, as vectors of half a line store gradients of contiguous channels: 48 ms on Zen 3 for what takes 7 with ordinary stores.
        let in_runs = jit.avx512 || blocked || forward;
        let streaming = in_runs && planes.is_none() && attr.is_default() && stored.dtype == DataType::F32 && !target.keeps(bytes);
        let common = Window { source: source_elem, masked, streaming, ..Window::of_vectors(vectors as u8) };
        let strides = [source.spatial, result.spatial, places.as_ref().map_or([0; 3], |p| p.spatial)];
        let lines = [0, 1].map(|i| Line::new(direction, &s, i, to[i], from[i]));
        let phases = width.line.phases.iter().map(|phase| {
            let segments = width.cut(phase, most(phase.taps.len()), (&common, &epilogue), |window, begin| kernel(&s, take, window, begin));
            let sizes = [to[0], to[1], phase.first];
            let divisor = |lines: usize| if matches!(take, Take::Mean { counted: true, .. }) { lines.max(1) as f32 } else { divisor };
            (segments, of_rows([&lines[0], &lines[1]], sizes, &strides, divisor, |met| value(&s, take, met)))
        });
        let mut phases: Vec<_> = phases.collect();
        let met = phases.iter().all(|p| p.1.is_met() && p.0.iter().all(|s| s.spec.sums.is_met()));
        if matches!(take, Take::Largest | Take::LargestWhole(_) | Take::Place(_)) && !met {
            return Err(Skip::Shape("windows in the padding"));
        }
        let strips = phases.iter().map(|(segments, _)| segments.iter().map(|s| s.strips).sum()).max().unwrap_or(1);
        let columns = if blocked { 1 } else { (work / lanes).saturating_mul(channels).div_ceil(TASK).clamp(1, strips) };
        let (all, distances) = ((to[0] * to[1]) as usize, [source.image, result.image, places.as_ref().map_or(0, |p| p.image)]);
        let [images, each, all] = match planes {
            None => joint(&mut phases, s.mb as usize, [rows, all, (work / rows / lanes).saturating_mul(chunk) / columns], distances),
            Some(_) => [s.mb as usize, rows, all],
        };
        let (rows, chunks) = ([each, all], channels.div_ceil(chunk));
        let (attr, reads) = (attr.clone(), !forward);
        Ok(Direct {
            jit,
            attr,
            source,
            result,
            places,
            planes,
            reads,
            width,
            phases,
            epilogue,
            images,
            channels,
            again,
            vectors,
            chunks: (chunk, chunks),
            columns,
            rows,
        })
    }
}

/// Images with few rows become further rows: the number of images, rows of a task, and all rows of an image. `rows` are those of a task
/// and of an image, and the work of one.
fn joint<S>(phases: &mut [(S, Table)], images: usize, rows: [usize; 3], distances: [usize; 3]) -> [usize; 3] {
    let lines = phases.iter().map(|p| p.1.lines()).max().unwrap_or(0);
    if images <= 1 || lines.saturating_mul(images) > JOINT {
        return [images, rows[0], rows[1]];
    }
    phases.iter_mut().for_each(|p| p.1 = p.1.repeated(images, distances));
    [1, (TASK / rows[2].max(1)).clamp(1, ROWS).min(rows[1] * images), rows[1] * images]
}

/// The strides of the tensors, or of their vectors in scratch if channels are planes.
fn layouts(tensors: Tensors<'_>, attr: &Attr, about: (usize, Isa)) -> Result<(Place, Place, Option<Place>, Option<Planes>), Skip> {
    let lanes = about.1.width().lanes();
    let [source, result, places] = tensors.map(|t| t.map(|(arg, tensor)| Place::of(arg, tensor, lanes)).transpose());
    let (planes, [source, result, places]) = match (source, result, places) {
        (Ok(source), Ok(result), Ok(places)) => (None, [source, result, places]),
        _ if attr.reads_dst() => return Err(Skip::Layout("of dst: channels that are not in vectors, below a sum".into())),
        _ => Planes::of(tensors, about).map(|(planes, places)| (Some(planes), places))?,
    };
    let (Some(source), Some(result)) = (source, result) else { return Err(Skip::Op("no tensors")) };
    if source.block != result.block || places.as_ref().is_some_and(|p| p.block != source.block) {
        return Err(Skip::Layout("of src and dst: channels that lie differently".into()));
    }
    Ok((source, result, places, planes))
}

/// The table of result rows and of the lines of their windows, for the result's depth and height and the first result of a phase of the
/// width. Strides are those of source, result and places. A row has a divisor by its number of lines, a line a value.
fn of_rows(
    lines: [&Line; 2],
    [depth, height, first]: [i64; 3],
    [source, result, places]: &[[usize; 3]; 3],
    divisor: impl Fn(usize) -> f32,
    value: impl Fn(Met) -> f32,
) -> Table {
    let at = |strides: &[usize; 3], [d, h, w]: [i64; 3]| d as usize * strides[0] + h as usize * strides[1] + w as usize * strides[2];
    let row = |_: usize, [d, h]: [i64; 2], lines: usize| Row {
        result: at(result, [d, h, first]),
        other: at(places, [d, h, first]),
        lines,
        divisor: divisor(lines),
    };
    let line = |met: Met| {
        let [_, [z, y]] = met;
        Taps { source: at(source, [z, y, 0]), other: at(places, [z, y, 0]), value: value(met) }
    };
    table(lines, [depth, height], row, line)
}

/// What a kernel knows of a line of the window: its factor where it is shared, or the bits of the place of its first tap.
fn value(s: &ConvSizes, take: Take, [[kd, kh], [z, y]]: Met) -> f32 {
    match take {
        Take::Shared => 1.0 / (taps_inside(s, 0, z) * taps_inside(s, 1, y)).max(1) as f32,
        _ => f32::from_bits(((kd * s.k[1] + kh) * s.k[2]) as u32),
    }
}

/// The kernels of a pooling: those of the segments of each phase, and the transpositions of planes.
pub(super) struct Code {
    strips: Vec<Vec<Strip>>,
    pub(super) squares: [Option<RegisterTranspose>; 3],
}

impl Generated for Direct {
    type Code = Code;

    fn build(&self) -> Result<Code, Error> {
        let count = if self.planes.is_some() { self.jit.width().lanes() } else { self.channels };
        let channels = Channels { count, twice: self.source.blocks == 0 && !self.attr.reads_dst(), again: self.again };
        let strip = |segment: &Segment<_>| Strip::get(self.jit, &segment.spec, channels);
        let strips = self.phases.iter().map(|(segments, _)| segments.iter().map(strip).collect()).collect::<Result<_, Error>>()?;
        Ok(Code { strips, squares: self.planes.as_ref().map(|planes| planes.build(self.jit)).transpose()?.unwrap_or_default() })
    }

    fn run(&self, code: &Code, simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let operands = scratch.take(self.epilogue.scratch(self.channels).unwrap_or(0))?.into_slice();
        let chain = Chain::new(simd, ctx, &self.attr, self.result.arg)?;
        let epilogue = self.epilogue.args(&chain, 1, &[], operands)?;
        let bound = Bound {
            plan: self,
            code,
            source: ctx.buf(self.source.arg)?,
            result: ctx.buf(self.result.arg)?,
            places: self.places.as_ref().map(|p| Ok::<_, Error>((p, ctx.buf(p.arg)?))).transpose()?,
            epilogue,
        };
        if let Some(planes) = &self.planes {
            return planes.run(self, ctx, &mut scratch, bound);
        }
        let (blocks, (chunk, chunks)) = (self.rows[1].div_ceil(self.rows[0]), self.chunks);
        let tasks = self.images * chunks * self.columns * blocks;
        ctx.executor().run(ctx.executor().threads(), tasks, &|_, task| {
            // All channels of some rows come before the next rows: their lines are contiguous in memory.
            let (first, rest) = (task % chunks * chunk, task / chunks);
            let (column, rest) = (rest % self.columns, rest / self.columns);
            let (block, image) = (rest % blocks, rest / blocks);
            let rows = block * self.rows[0]..self.rows[1].min((block + 1) * self.rows[0]);
            let channels = (first, chunk.min(self.channels - first));
            bound.strips(Task { at: (image, first), channels, rows, columns: (column, self.columns) });
        });
        for place in [Some(&self.result), self.places.as_ref().filter(|_| !self.reads)].into_iter().flatten().filter(|p| p.padded) {
            View::of(simd, ctx, place.arg)?.zero_padding();
        }
        Ok(())
    }
}

/// The work of a task.
pub(super) struct Task {
    /// The image, and the index of the first channel in memory.
    pub(super) at: (usize, usize),
    /// The index of that channel for the epilogue, and number of channels.
    pub(super) channels: (usize, usize),
    pub(super) rows: Range<usize>,
    /// The part of the columns, and number of parts.
    pub(super) columns: (usize, usize),
}

/// A problem bound to its arguments.
#[derive(Clone, Copy)]
pub(super) struct Bound<'a> {
    pub(super) plan: &'a Direct,
    pub(super) code: &'a Code,
    pub(super) source: Buf<'a>,
    pub(super) result: Buf<'a>,
    pub(super) places: Option<(&'a Place, Buf<'a>)>,
    pub(super) epilogue: EpilogueArgs<'a>,
}

impl Bound<'_> {
    /// Computes the results of a task.
    pub(super) fn strips(&self, task: Task) {
        let (p, (image, channel), (first, channels), (column, columns)) = (self.plan, task.at, task.channels, task.columns);
        let sizes = [p.jit.width().lanes(), p.vectors];
        let step = p.width.line.step as usize;
        for ((segments, table), strips) in p.phases.iter().zip(&self.code.strips) {
            let all: usize = segments.iter().map(|s| s.strips).sum();
            let part = column * all / columns..(column + 1) * all / columns;
            for (segment, strip) in segments.iter().zip(strips) {
                let start = segment.first / segment.each;
                let part = part.start.max(start)..part.end.min(start + segment.strips);
                if part.is_empty() {
                    continue;
                }
                let (before, each) = (part.start - start, p.width.column(segment.each));
                let read = |place: &Place, buf| {
                    let at = place.at(image, channel) + (segment.column + before * each) * place.spatial[2];
                    place.operand(buf, at, (1, each), sizes)
                };
                let written = |place: &Place, buf| {
                    let at = place.at(image, channel) + part.start * segment.each * step * place.spatial[2];
                    place.operand(buf, at, (step, segment.each * step), sizes)
                };
                strip.run(Call {
                    table,
                    rows: task.rows.clone(),
                    source: read(&p.source, self.source),
                    result: written(&p.result, self.result),
                    other: self.places.map(|(place, buf)| if p.reads { read(place, buf) } else { written(place, buf) }),
                    strips: part.len(),
                    channels,
                    shift: &[],
                    epilogue: (&self.epilogue, first),
                    far: false,
                });
            }
        }
    }
}

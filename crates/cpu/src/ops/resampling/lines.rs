//! `lines:jit`: resampling along contiguous elements, on generated code: positions of a line follow each other, or a few channels do and then
//! positions.
//!
//! A row of results is a weighted sum of a few lines by depth and height; each of its elements is one of a few elements of that sum. Backward,
//! lines and elements are the outputs that use an input. Long lines are segments of whole periods, such as an input and its two outputs: those
//! between the first and the last share their tables. Where lines are shorter than a vector, several whole planes are a line.

use super::place::Place;
use super::{Axis, changes_nothing, ends};
use crate::CpuTarget;
use crate::kernels::code::elem;
use crate::kernels::lookup::{Interpolator, LineTaps, RowLines};
use crate::kernels::multiversion::Simd;
use crate::kernels::pointwise::GRAIN;
use crate::kernels::scratch::Scratch;
use crate::ops::support::of_widths;
use crate::row::{Generated, RowPlan};
use oxidnn_jit::Isa;
use oxidnn_jit::ir::Elem;
use oxidnn_runtime::{Ctx, Plan, Skip};
use oxidnn_spec::op::Resampling;
use oxidnn_spec::{Arg, Attr, DataType, Error, Op, Problem, Tensor};
use std::ops::Range;

/// Most results of a line without periods, or of a period, and rows of a plane: they bound the tables, and the time to describe a problem.
const MAX_ELEMENTS: i64 = 1 << 14;
/// Elements of a segment, whose tables stay in L1 or L2, and fewest segments of a line.
const SEGMENT: i64 = 1 << 10;
const MIN_SEGMENTS: i64 = 4;

/// The kernel.
#[derive(Debug)]
struct Lines {
    isa: Isa,
    /// The input and the result, with their elements and places.
    args: [Arg; 2],
    elems: [Elem; 2],
    places: [Place; 2],
    segments: Vec<Segment>,
    rows: RowLines,
    /// Elements of a row.
    elements: usize,
}

/// Parts of a line that have the same taps.
#[derive(Debug)]
struct Segment {
    taps: LineTaps,
    /// Bytes from the begin of a line to the first one, in input and result, and from one to the next.
    starts: [usize; 2],
    steps: [usize; 2],
    count: usize,
}

/// Lines of which segments are made: positions along an axis, of `run` elements each.
struct Line {
    axis: Axis,
    forward: bool,
    run: usize,
    sizes: [usize; 2],
    lanes: usize,
}

/// Plans a resampling of lines.
///
/// # Errors
/// [`Skip`] for other layouts, attributes, and ratios of sizes for which results need many elements.
pub(super) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let isa = target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?;
    RowPlan::resolved(problem, target, |problem| match &problem.op {
        Op::Resampling(op) => Ok((of_widths(isa, |isa| Lines::new(op, &problem.attr, isa))?, 0)),
        _ => Err(Skip::Op("another operation than resampling")),
    })
}

impl Lines {
    fn new(op: &Resampling, attr: &Attr, isa: Isa) -> Result<Lines, Skip> {
        let forward = op.prop.is_forward();
        changes_nothing(attr)?;
        let [input, result] = ends(op);
        let number = |t: DataType| elem(t).ok_or_else(|| Skip::DataType(format!("{t} in generated sums")));
        let elems = [number(input.1.dtype)?, number(result.1.dtype)?];
        if input.1.is_empty() || result.1.is_empty() {
            return Err(Skip::Shape("no elements"));
        }
        let places = [Place::of(input.0, input.1)?, Place::of(result.0, result.1)?];
        let [from, to] = &places;
        let plain = |t: &Tensor| t.blocking().is_some_and(|b| b.is_plain() && b.padded_dims == *t.dims());
        if from.run != to.run || from.counts != to.counts || !plain(input.1) || !plain(result.1) {
            return Err(Skip::Layout("of src and dst: other positions in a line, or blocks".into()));
        }
        let axes = Axis::all_of(op)?;
        let sizes = elems.map(Elem::bytes);
        let line = Line { axis: axes[2], forward, run: from.run, sizes, lanes: isa.width().lanes() };
        if line.is_short() {
            let (places, segment) = planes(&places, axes, &line)?;
            let rows = RowLines::new(&[(0, vec![(0, 1.0)])]).ok_or(Skip::Shape("no row"))?;
            return Ok(Lines {
                isa,
                args: [input.0, result.0],
                elems,
                elements: places[1].strides[0],
                segments: vec![segment],
                rows,
                places,
            });
        }
        let rows = made(axes[0], forward).saturating_mul(made(axes[1], forward));
        if rows > MAX_ELEMENTS {
            return Err(Skip::Shape("planes of many lines"));
        }
        let [depth, height] = [0, 1].map(|d| taps(axes[d], forward, 0..made(axes[d], forward)));
        let mut rows = Vec::new();
        for (d, depths) in depth.iter().enumerate() {
            for (h, heights) in height.iter().enumerate() {
                let lines = depths.iter().flat_map(|(d, u)| heights.iter().map(move |(h, v)| (from.row(*d, *h) * sizes[0], u * v)));
                rows.push((to.row(d, h) * sizes[1], lines.collect()));
            }
        }
        let rows = RowLines::new(&rows).ok_or(Skip::Shape("rows of no line, or of many"))?;
        let segments = line.segments()?;
        let elements = made(axes[2], forward) as usize * from.run;
        Ok(Lines { isa, args: [input.0, result.0], elems, segments, rows, elements, places })
    }
}

impl Line {
    /// The segments of a line: all of it, if it has few periods.
    fn segments(&self) -> Result<Vec<Segment>, Skip> {
        let Line { axis: Axis { inputs, outputs, .. }, run, .. } = *self;
        let periods = gcd(inputs, outputs);
        let all = made(self.axis, self.forward);
        let [from, to] = [inputs + outputs - all, all].map(|positions| positions / periods);
        let [longest, made] = [from.max(to), to].map(|positions| positions.saturating_mul(run as i64));
        let each = (SEGMENT / longest).max(1);
        let count = periods / each;
        let is_one = count < MIN_SEGMENTS;
        if made.saturating_mul(if is_one { periods } else { each }) > MAX_ELEMENTS {
            return Err(Skip::Shape("long lines without periods"));
        }
        let read = (inputs + outputs - all) as usize;
        let segment = |results: Range<i64>, steps: [i64; 2], count: i64| {
            let first = results.start as usize;
            self.segment((&taps(self.axis, self.forward, results), first), read, steps, count)
        };
        if is_one {
            return Ok(vec![segment(0..all, [0; 2], 1)?]);
        }
        let (steps, last) = ([from, to].map(|positions| positions * each), (count - 1) * each * to);
        Ok(vec![segment(0..steps[1], steps, 1)?, segment(steps[1]..2 * steps[1], steps, count - 2)?, segment(last..all, steps, 1)?])
    }

    /// `count` segments, of which the first makes the results from `first_result` on with these taps of `all` positions, from `steps` positions
    /// in input and result to the next.
    fn segment(&self, (taps, first_result): (&[TapList], usize), all: usize, steps: [i64; 2], count: i64) -> Result<Segment, Skip> {
        let Line { run, sizes, lanes, .. } = *self;
        let used = || taps.iter().flatten().map(|tap| tap.0);
        let none = || Skip::Shape("lines of less than a vector, or neighbours that are far apart");
        let (first, last) = used().min().zip(used().max()).ok_or_else(none)?;
        // Vectors are read whole.
        let first = first.min(all.saturating_sub(lanes.div_ceil(run)));
        let end = (last + 1).max(first + lanes.div_ceil(run));
        let steps = steps.map(|positions| positions as usize);
        if end + (count as usize - 1) * steps[0] > all {
            return Err(none());
        }
        let spread = |of: &TapList, element: usize| of.iter().map(|(at, weight)| ((at - first) * run + element, *weight)).collect();
        let elements: Vec<TapList> = taps.iter().flat_map(|of| (0..run).map(move |element| spread(of, element))).collect();
        let taps = LineTaps::new(&elements, (end - first) * run, sizes, lanes).ok_or_else(none)?;
        let bytes = |positions: [usize; 2]| [0, 1].map(|t| positions[t] * run * sizes[t]);
        Ok(Segment { taps, starts: bytes([first, first_result]), steps: bytes(steps), count: count as usize })
    }

    /// Whether a line of inputs or results has less than a vector.
    fn is_short(&self) -> bool {
        let Line { axis, run, lanes, .. } = *self;
        axis.inputs.min(axis.outputs).saturating_mul(run as i64) < lanes as i64
    }
}

/// The elements that a result is made of, with their weights.
type TapList = Vec<(usize, f32)>;

/// Lines of several whole planes, which follow each other: their places, and the only segment of each.
///
/// # Errors
/// [`Skip`] for long planes, and for those with gaps.
fn planes([from, to]: &[Place; 2], axes: [Axis; 3], line: &Line) -> Result<([Place; 2], Segment), Skip> {
    let volume = |of: fn(&Axis) -> i64| axes.iter().map(of).try_fold(1i64, |all, n| all.checked_mul(n)).unwrap_or(i64::MAX);
    let [inputs, outputs]: [i64; 2] = [volume(|a| a.inputs), volume(|a| a.outputs)];
    let sizes = if line.forward { [inputs, outputs] } else { [outputs, inputs] };
    let follow = |place: &Place, size: i64, axis: fn(&Axis) -> i64| {
        let [depth, height, width] = axes.each_ref().map(|a| axis(a) as usize);
        let strides = [place.counts[1] * size as usize, size as usize, height * width, width];
        let counts = [place.counts[0], place.counts[1], depth, height];
        place.run == 1 && (0..4).all(|d| counts[d] == 1 || place.strides[d] == strides[d])
    };
    let (all, longest) = ((to.counts[0] * to.counts[1]) as i64, inputs.max(outputs));
    let [read, written]: [fn(&Axis) -> i64; 2] = if line.forward { [|a| a.inputs, |a| a.outputs] } else { [|a| a.outputs, |a| a.inputs] };
    if longest > SEGMENT || !follow(from, sizes[0], read) || !follow(to, sizes[1], written) {
        return Err(Skip::Shape("short lines, or planes that do not follow each other"));
    }
    let whole = |each: &i64| all % each == 0;
    let most = all.min(MAX_ELEMENTS / longest);
    let enough = (1..=most).filter(whole).find(|each| each * longest >= SEGMENT);
    let each = enough.or_else(|| (1..=most).rev().find(whole)).ok_or(Skip::Shape("no planes"))?;
    let [depth, height, width] = axes.map(|axis| taps(axis, line.forward, 0..made(axis, line.forward)));
    let [rows, columns] = [read(&axes[1]), read(&axes[2])].map(|n| n as usize);
    let mut plane: Vec<TapList> = Vec::new();
    for (d, h, w) in depth.iter().flat_map(|d| height.iter().map(move |h| (d, h))).flat_map(|(d, h)| width.iter().map(move |w| (d, h, w))) {
        let lines = d.iter().flat_map(|(d, u)| h.iter().map(move |(h, v)| ((d * rows + h) * columns, u * v)));
        plane.push(lines.flat_map(|(at, u)| w.iter().map(move |(w, v)| (at + w, u * v))).collect());
    }
    let step = sizes[0] as usize;
    let taps = |i: usize| plane.iter().map(move |taps| taps.iter().map(|(at, weight)| (at + i * step, *weight)).collect::<TapList>());
    let all_taps: Vec<TapList> = (0..each as usize).flat_map(taps).collect();
    let segment = line.segment((&all_taps, 0), each as usize * step, [0; 2], 1)?;
    let place = |place: &Place, size: i64| Place {
        start: place.start,
        strides: [(each * size) as usize, 0, 0, 0],
        counts: [(all / each) as usize, 1],
        run: 1,
    };
    Ok(([place(from, sizes[0]), place(to, sizes[1])], segment))
}

/// The positions of an axis that are made: outputs, or for gradients inputs.
fn made(axis: Axis, forward: bool) -> i64 {
    if forward { axis.outputs } else { axis.inputs }
}

/// The greatest common divisor of two sizes.
fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The inputs of some outputs of an axis, or for gradients the outputs that use some inputs, with their weights; more than rows take are left out.
fn taps(axis: Axis, forward: bool, of: Range<i64>) -> Vec<TapList> {
    let count = (of.end - of.start) as usize;
    if forward {
        return axis.from(of.start).take(count).map(|taps| taps.into_iter().filter(|tap| tap.1 != 0.0).collect()).collect();
    }
    let users = |i: i64| axis.outputs_of(i).take(LineTaps::MAX_TAPS + 1).map(|(o, weight)| (o as usize, weight)).collect();
    of.map(users).collect()
}

impl Generated for Lines {
    type Code = Vec<Interpolator>;

    fn build(&self) -> Result<Vec<Interpolator>, Error> {
        self.segments.iter().map(|segment| Interpolator::get(self.isa, self.elems, &segment.taps, &self.rows)).collect()
    }

    fn table_bytes(&self) -> usize {
        self.segments.iter().map(|segment| segment.taps.bytes()).sum::<usize>() + self.rows.bytes()
    }

    fn run(&self, interpolators: &Vec<Interpolator>, _simd: Simd, ctx: &Ctx<'_>, _scratch: Scratch<'_>) -> Result<(), Error> {
        let bufs = [ctx.buf(self.args[0])?, ctx.buf(self.args[1])?];
        let ([images, blocks], rows) = (self.places[1].counts, self.rows.count());
        // A task has parts of a plane, or several planes.
        let each = (GRAIN as usize / self.elements).max(1);
        let (parts, planes) = (rows.div_ceil(each), (each / rows).max(1));
        let tasks = (images * blocks).div_ceil(planes) * parts;
        ctx.executor().run(ctx.executor().threads(), tasks, &|_, task| {
            let (first, part) = (task / parts * planes, task % parts);
            let range = part * each..rows.min((part + 1) * each);
            for plane in first..(first + planes).min(images * blocks) {
                let place = |t: usize| self.places[t].line([plane / blocks, plane % blocks, 0, 0]) * self.elems[t].bytes();
                let line = [place(0), place(1)];
                for (Segment { taps, starts, steps, count }, interpolator) in self.segments.iter().zip(interpolators) {
                    for i in 0..*count {
                        let at = [0, 1].map(|t| line[t] + starts[t] + i * steps[t]);
                        interpolator.run(taps, (&self.rows, range.clone()), bufs, at);
                    }
                }
            }
        });
        Ok(())
    }
}

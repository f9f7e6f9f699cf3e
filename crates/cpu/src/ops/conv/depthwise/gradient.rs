//! `direct:jit` for gradients of weights: depthwise, and groups of 2, 4 or 8 channels.
//!
//! A task has some vectors of channels and a share of the pixels, which it processes in bands. A band is some rows of an image, or some
//! small images; it stays in L2 while the taps of all lines of the window read it. The gradients of as many lines of taps as fit are in
//! registers meanwhile. Places of the window at which some taps are on padding are parts of their own, with fewer taps. Shares depend on
//! the problem alone and are added in order.

use super::super::weights::side::Dim;
use super::super::weights::{self, Setup};
use super::super::window::{cut, place_tap, spatial};
use super::{data_tag, weights_tag};
use crate::CpuTarget;
use crate::decision::{How, padding};
use crate::hardware::Core;
use crate::kernels::access::Pos;
use crate::kernels::chain::Chain;
use crate::kernels::code::elem;
use crate::kernels::multiversion::Simd;
use crate::kernels::portable_epilogue::{self, PortableEpilogue, Run as Places, Sums};
use crate::kernels::scratch::{Scratch, booked};
use crate::kernels::strip;
use crate::ops::strips::Place;
use crate::ops::support;
use crate::row::{Generated, RowPlan};
use oxidnn_expr::convert::bf16_pair;
use oxidnn_jit::Isa;
use oxidnn_jit::ir::Elem;
use oxidnn_jit::kernels::depthwise::weights::{Gradient as Kind, Part, Steps};
use oxidnn_jit::kernels::strips::Tap;
use oxidnn_runtime::{Buf, Ctx, Decision, Element, Plan, Skip};
use oxidnn_spec::{Arg, Attr, DataType, Error, MAX_NDIMS, Problem, Tensor};
use std::ops::Range;

/// Most taps of a window.
const TAPS: i64 = 1024;
/// Most columns between two taps of a line, and most between places of the window.
const REACH: i64 = 4 << 10;
const STRIDE: i64 = 16;
/// Strips of a part that a kernel unrolls; and parts of a segment above which the places go on in another segment.
const UNROLLED: usize = 1;
const PARTS: usize = 12;
/// Bytes of a band.
const BAND: usize = 192 << 10;
/// Vectors of channels of a task.
const VECTORS: usize = 4;
/// Tasks that a problem is cut into, if it has as many bands.
const TASKS: usize = 16;
/// Bands of rows, and results along a row, at most: plans list the bands, and the segments of a row.
const MAX_BANDS: usize = 1 << 18;
const MAX_WIDTH: usize = 1 << 22;
/// Lanes of the widest vector.
const LANES: usize = 16;

/// Neighbouring places of the window in a row, by parts with different taps of a line. A kernel computes a segment.
#[derive(Debug)]
struct Segment {
    kind: Kind,
    /// First place, and strips of the part that is a loop.
    first: usize,
    strips: usize,
}

#[derive(Debug)]
struct Gradient {
    jit: Isa,
    attr: Attr,
    operands: [Place; 2],
    window: [Dim; 3],
    /// Segments by number of lines, from one on; empty for numbers that no call has.
    segments: Vec<Vec<Segment>>,
    /// The runs of every band of rows.
    runs: Vec<Vec<Run>>,
    group: usize,
    /// The dimension of the weights, within a group, that lanes run along.
    lane_dim: usize,
    images: usize,
    channels: usize,
    lanes: usize,
    /// Vectors of a task, and number of tasks' chunks of channels.
    chunk: usize,
    chunks: usize,
    /// Whether the pixels of both operands come from memory beyond L2.
    far: bool,
    /// Images and rows of a band, and numbers of bands by images, depths and heights.
    each: [usize; 2],
    bands: [usize; 3],
    /// Shares that the bands are split into.
    shares: usize,
    workers: usize,
}

/// Plans `problem`.
///
/// # Errors
/// Problems that the row does not take.
pub(crate) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let jit = target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?;
    let s = Setup::of(&problem.op)?;
    let (group, lanes, n) = (s.sizes.ic, jit.width().lanes(), s.x.1.dims().len());
    if s.weights.dims().len() == n || s.sizes.oc != group || ![1, 2, 4, 8].contains(&group) || group as usize >= lanes {
        return Err(Skip::Shape("groups that are not 1, 2, 4 or 8 channels to as many"));
    }
    let taps = s.sizes.k.iter().fold(1i64, |n, k| n.saturating_mul(*k));
    let reach = (s.sizes.k[2] - 1).saturating_mul(s.sizes.d[2]).saturating_add(s.sizes.pl[2].abs());
    if taps > TAPS || reach > REACH || s.sizes.s[2] > STRIDE {
        return Err(Skip::Shape("a large window"));
    }
    let data_tag = if group == 1 { data_tag([s.x.1, s.y.1], &s.sizes, (target, lanes), false) } else { "axb".into() };
    let (tag, data) = (weights_tag(n + 1, lanes, [group as usize; 2], (0, 1)), [s.x.0, s.y.0]);
    let mut problem = problem.clone();
    for o in problem.op.operands_mut() {
        if o.arg == Arg::DIFF_WEIGHTS {
            support::resolve(o.tensor, &tag)?;
        } else if data.contains(&o.arg) {
            support::resolve(o.tensor, &data_tag)?;
        }
    }
    problem.resolve();
    support::dense(&problem)?;
    let s = Setup::of(&problem.op)?;
    portable_epilogue::check(&problem.attr, s.weights)?;
    // Reorders store blocks faster than one element or line after the other; few channels of groups are too few for that.
    let plain = s.weights.blocking().is_some_and(|b| b.inner.is_empty());
    if plain && (group == 1 || s.weights.dtype != DataType::F32) {
        return Err(Skip::Layout(format!("of the gradient: not {tag}")));
    }
    let kernel = Gradient::new(&s, &problem.attr, (target, jit))?;
    RowPlan::of(problem, target, booked(&[kernel.scratch()]), kernel)
}

/// Rows with the same taps of the height inside the image, and these taps.
type Run = (Range<usize>, Range<usize>);

/// The runs of some rows, with at most `most` taps each.
fn runs(height: Dim, rows: Range<usize>, most: usize) -> Vec<Run> {
    let ends = (0..height.taps).flat_map(move |tap| [height.inside(tap).start, height.inside(tap).end]);
    let mut ends: Vec<usize> = ends.chain([rows.start, rows.end]).filter(|row| rows.contains(row) || *row == rows.end).collect();
    ends.sort_unstable();
    ends.dedup();
    let met = move |row: usize| {
        let mut taps = (0..height.taps).filter(|tap| height.inside(*tap).contains(&row));
        taps.next().map(|first| first..taps.next_back().unwrap_or(first) + 1)
    };
    let met = ends.windows(2).filter_map(|end| Some((end[0]..end[1], met(end[0])?)));
    let pieces = met.flat_map(|(rows, taps)| {
        let each = cut(taps.len(), most, 1).0;
        taps.clone().step_by(each).map(move |first| (rows.clone(), first..taps.end.min(first + each)))
    });
    pieces.collect()
}

/// The segments of a line: gapless runs of places, each with at most one part that loops, for as many taps as a kernel can hold.
fn segments(dim: &Dim, kind: &Kind, (isa, strips): (Isa, usize)) -> Vec<Segment> {
    let most = Kind::most_taps(isa, kind.group.into()) / usize::from(kind.lines);
    let each = cut(dim.taps, most.max(1), 1).0.max(1);
    let chunks = (0..dim.taps).step_by(each).map(|first| first..dim.taps.min(first + each));
    chunks.flat_map(|taps| rows(dim, taps, kind, isa)).flat_map(|segment| pieces(segment, strips)).collect()
}

/// Splits a segment, so that its loop has at most `most` strips.
fn pieces(segment: Segment, most: usize) -> Vec<Segment> {
    let Segment { kind, first, strips } = segment;
    let Some(at) = kind.parts.iter().position(|p| p.repeated).filter(|_| strips > most) else {
        return vec![Segment { kind, first, strips }];
    };
    let places = |parts: &[Part]| parts.iter().map(|p| usize::from(p.places)).sum::<usize>();
    let of = |parts: &[Part], first: usize, strips: usize| Segment { kind: Kind { parts: parts.to_vec(), ..kind.clone() }, first, strips };
    let (start, strip) = (first + places(&kind.parts[..at]), usize::from(kind.parts[at].places));
    let before = (at > 0).then(|| of(&kind.parts[..at], first, 1));
    let middle = (0..strips).step_by(most).map(|i| of(&kind.parts[at..=at], start + i * strip, most.min(strips - i)));
    let behind = (at + 1 < kind.parts.len()).then(|| of(&kind.parts[at + 1..], start + strips * strip, 1));
    before.into_iter().chain(middle).chain(behind).collect()
}

/// The segments of a range of taps of a line.
fn rows(dim: &Dim, taps: Range<usize>, kind: &Kind, isa: Isa) -> Vec<Segment> {
    let tap = |t: usize| Tap { column: ((t * dim.dilation) as i64 - dim.pad) as i16, weights: t as u16 };
    let kind = Kind { taps: taps.clone().map(tap).collect(), ..kind.clone() };
    let mut ends: Vec<usize> = taps.clone().map(|t| dim.inside(t)).flat_map(|r| [r.start, r.end]).collect();
    ends.sort_unstable();
    ends.dedup();
    let (mut segments, mut open): (Vec<Segment>, Option<Segment>) = (Vec::new(), None);
    for part in ends.windows(2) {
        let mut met = taps.clone().filter(|t| dim.inside(*t).contains(&part[0]));
        let Some(low) = met.next() else {
            segments.extend(open.take());
            continue;
        };
        let of = ((low - taps.start) as u8, (met.next_back().unwrap_or(low) - low + 1) as u8);
        let places = Kind::most_places(isa, kind.group.into(), kind.taps.len() * usize::from(kind.lines));
        let (whole, left) = ((part[1] - part[0]) / places, (part[1] - part[0]) % places);
        let long = whole > UNROLLED;
        if open.as_ref().is_some_and(|s| s.kind.parts.len() > PARTS || long && s.kind.parts.iter().any(|p| p.repeated)) {
            segments.extend(open.take());
        }
        let new = || Segment { kind: kind.clone(), first: part[0], strips: 1 };
        let segment = open.get_or_insert_with(new);
        let strip = Part { places: places as u8, repeated: long, taps: of };
        segment.kind.parts.extend(std::iter::repeat_n(strip, if long { 1 } else { whole }));
        if long {
            segment.strips = whole;
        }
        segment.kind.parts.extend((left > 0).then_some(Part { places: left as u8, repeated: false, taps: of }));
    }
    segments.extend(open);
    segments
}

impl Gradient {
    fn new(s: &Setup<'_>, attr: &Attr, (target, jit): (&CpuTarget, Isa)) -> Result<Gradient, Skip> {
        let float = |t: &Tensor| elem(t.dtype).filter(|e| matches!(e, Elem::F32 | Elem::Bf16 | Elem::F16));
        let known = |t: &Tensor| float(t).ok_or_else(|| Skip::DataType(format!("{} in a gradient of depthwise weights", t.dtype)));
        let (types, lanes) = ([known(s.x.1)?, known(s.y.1)?], jit.width().lanes());
        let (group, images) = (s.sizes.ic as usize, s.sizes.mb as usize);
        let channels = s.sizes.g as usize * group;
        let masked = !channels.is_multiple_of(lanes);
        if masked && !jit.avx512 && types.iter().any(|t| t.bytes() < 4) {
            return Err(Skip::Shape("channels that are not whole vectors of narrow numbers"));
        }
        let operands = [Place::of(s.x.0, s.x.1, lanes)?, Place::of(s.y.0, s.y.1, lanes)?];
        if operands.iter().any(|place| place.even(lanes) < usize::MAX) {
            return Err(Skip::Layout("of operands: vectors in larger blocks, which are not one distance apart".into()));
        }
        let window = weights::window(s);
        let stride = window[2].stride as u8;
        // Converting bf16 to f32 takes as long as the dot products on processors that do one vector product a cycle.
        let dots = jit.bf16 && types == [Elem::Bf16; 2] && Core::host().rate(lanes, 1) <= lanes as f64;
        let types = if dots { [Elem::Low16; 2] } else { types };
        let kind = Kind { types, dots, group: group as u8, stride, lines: 1, taps: Vec::new(), parts: Vec::new(), masked };
        let all = channels.div_ceil(lanes);
        let distant = s.x.1.bytes().saturating_add(s.y.1.bytes()) > Core::host().near(&target.caches);
        let far = operands.iter().all(|place| place.blocks == 0) && distant;
        // The sums of a task stay in L1.
        let vector = window.iter().map(|d| d.taps).fold(group * lanes * 4, usize::saturating_mul);
        let most = if far { (target.caches.l1 / vector.max(1)).max(VECTORS) } else { VECTORS };
        let chunk = cut(all, most, 1).0.max(1);
        let bytes = |rows: usize| {
            let [_, h, w] = &window;
            [(rows.saturating_mul(h.stride)).min(h.size).saturating_mul(w.size), rows.saturating_mul(w.places)]
                .into_iter()
                .zip(types)
                .fold(0usize, |sum, (pixels, t)| sum.saturating_add(pixels.saturating_mul(t.bytes() * lanes * chunk)))
        };
        let rows = if far { 1 } else { (BAND / bytes(1).max(1)).clamp(1, window[1].places.max(1)) };
        let whole = !far && rows == window[1].places && window[0].places == 1;
        let together = if whole { (BAND / bytes(rows).max(1)).clamp(1, images.max(1)) } else { 1 };
        let (each, bands) = (cut(window[1].places, rows, 1), cut(images, together, 1));
        let (rows, together) = (each.0.max(1), bands.0.max(1));
        let bands = [images.div_ceil(together), window[0].places, window[1].places.div_ceil(rows)];
        let chunks = all.div_ceil(chunk);
        if bands[2] > MAX_BANDS || window[2].places > MAX_WIDTH {
            return Err(Skip::Shape("so many pixels"));
        }
        let most = (Kind::most_taps(jit, group) / window[2].taps.max(1)).clamp(1, window[1].taps.max(1));
        let mut segments: Vec<Vec<Segment>> = (0..most).map(|_| Vec::new()).collect();
        let bands_of_rows = (0..window[1].places).step_by(rows).map(|first| first..window[1].places.min(first + rows));
        let runs: Vec<Vec<Run>> = bands_of_rows.map(|rows| self::runs(window[1], rows, most)).collect();
        let place = bytes(1) / window[2].places.max(1);
        for (_, taps) in runs.iter().flatten() {
            let of = &mut segments[taps.len() - 1];
            if of.is_empty() {
                let kind = Kind { lines: taps.len() as u8, ..kind.clone() };
                let places = Kind::most_places(jit, group, window[2].taps * taps.len());
                let strips = if far { (target.caches.l2 / 8 / (place * places).max(1)).max(1) } else { usize::MAX };
                *of = self::segments(&window[2], &kind, (jit, strips));
            }
        }
        let units = bands.iter().try_fold(1usize, |n, b| n.checked_mul(*b)).ok_or(Skip::Shape("so many pixels"))?;
        Ok(Gradient {
            jit,
            attr: attr.clone(),
            operands,
            segments,
            runs,
            window,
            group,
            lane_dim: if s.x_first { 2 } else { 1 },
            images,
            channels,
            lanes,
            chunk,
            chunks,
            far,
            each: [together, rows],
            bands,
            shares: TASKS.div_ceil(chunks.max(1)).clamp(1, units.max(1)),
            workers: target.threads,
        })
    }

    /// Elements of the sums of a vector of channels.
    fn vector(&self) -> usize {
        self.window.iter().map(|d| d.taps).product::<usize>() * self.group * self.lanes
    }

    /// Elements of the sums of a task.
    fn piece(&self) -> usize {
        self.vector() * self.chunk
    }

    fn scratch(&self) -> usize {
        self.piece().saturating_mul(self.chunks).saturating_mul(self.shares)
    }
}

impl Generated for Gradient {
    fn decision(&self, problem: &Problem) -> Decision {
        let taps: usize = self.window.iter().map(|d| d.taps).product();
        let (vector, kept) = (self.lanes * 4, self.group * taps);
        How::new("sums of pixels by window places, channels in lanes", Core::host().rate(self.lanes, 1), self.workers)
            .registers(format!("gradients of {} lanes at the taps of a row", self.lanes), vector * self.window[2].taps * self.group)
            .block(
                format!("gradients of {} of {} vectors at {taps} taps", self.chunk, self.chunks * self.chunk),
                self.chunk * kept * vector,
            )
            .block(
                format!("a band of {} rows of {} images", self.each[1], self.each[0]),
                self.each[0] * self.each[1] * self.window[2].places * vector,
            )
            .padding(padding(self.channels, self.lanes))
            .decision(problem)
    }

    /// The kernels of the segments.
    type Code = Vec<Vec<strip::Gradient>>;

    fn build(&self) -> Result<Self::Code, Error> {
        let kernel = |segment: &Segment| strip::Gradient::get(self.jit, &segment.kind, segment.strips);
        self.segments.iter().map(|segments| segments.iter().map(kernel).collect()).collect()
    }

    fn run(&self, kernels: &Self::Code, simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let epilogue = PortableEpilogue::new(Chain::new(simd, ctx, &self.attr, Arg::DIFF_WEIGHTS)?)?;
        epilogue.dst().zero_padding();
        if epilogue.dst().dims().contains(&0) {
            return Ok(());
        }
        let [x, y] = &self.operands;
        let bound = Bound { plan: self, kernels, operands: [(x, ctx.buf(x.arg)?), (y, ctx.buf(y.arg)?)], epilogue };
        let mut none = scratch.take(0)?;
        let tasks = self.chunks * self.shares;
        let sums = scratch.take(self.scratch())?;
        let sums = none.work_on(sums, ctx.executor(), self.workers, (tasks, self.piece()), &|task, sums, _| {
            sums.fill(0.0);
            bound.share(task / self.shares, task % self.shares, sums);
        });
        sums.reduce(ctx.executor(), [self.shares, self.piece()], &|chunk, sums| bound.finish(chunk, sums));
        Ok(())
    }
}

/// A problem bound to its arguments.
struct Bound<'a> {
    plan: &'a Gradient,
    kernels: &'a [Vec<strip::Gradient>],
    operands: [(&'a Place, Buf<'a>); 2],
    epilogue: PortableEpilogue<'a>,
}

/// Some places for a chunk of channels: images, one depth, rows.
struct Band {
    chunk: usize,
    images: Range<usize>,
    depth: usize,
    rows: Range<usize>,
}

impl Bound<'_> {
    /// The sums of a share of the bands for a chunk of channels.
    fn share(&self, chunk: usize, share: usize, sums: &mut [f32]) {
        let p = self.plan;
        let all = p.bands.iter().product::<usize>();
        for index in share * all / p.shares..(share + 1) * all / p.shares {
            let [_, depths, heights] = p.bands;
            let image = index / (depths * heights) * p.each[0];
            let images = image..p.images.min(image + p.each[0]);
            let (depth, height) = (index / heights % depths, index % heights);
            self.band((chunk, images, depth), &p.runs[height], sums);
        }
    }

    /// The products of a band.
    fn band(&self, (chunk, images, at): (usize, Range<usize>, usize), runs: &[Run], sums: &mut [f32]) {
        let p = self.plan;
        let [depth, height, _] = p.window;
        for kd in (0..depth.taps).filter(|kd| depth.inside(*kd).contains(&at)) {
            for (rows, taps) in runs {
                let line = (kd * height.taps + taps.start) * self.line();
                let band = Band { chunk, images: images.clone(), depth: at, rows: rows.clone() };
                let segments = p.segments[taps.len() - 1].iter().zip(&self.kernels[taps.len() - 1]);
                segments.for_each(|segment| self.segment(segment, [kd, taps.start], &band, &mut sums[line..]));
            }
        }
    }

    /// Sums of a line of the window.
    fn line(&self) -> usize {
        self.plan.window[2].taps * self.plan.group * self.plan.lanes
    }

    /// Adds the products of some lines of taps, the first of which is `tap`, at the places of a segment.
    fn segment(&self, (segment, kernel): (&Segment, &strip::Gradient), tap: [usize; 2], band: &Band, sums: &mut [f32]) {
        let p = self.plan;
        let places = segment.kind.parts.iter().find(|p| p.repeated).map_or(0, |p| usize::from(p.places));
        let column = segment.first * p.window[2].stride;
        let pixel =
            |i: usize, place: usize| ((place * p.window[i].stride + tap[i] * p.window[i].dilation) as i64 - p.window[i].pad) as usize;
        let operand = |o: &Place, [d, h, w]: [usize; 3], [down, across]: [usize; 2]| {
            let ([depth, height, column], vector) = (o.spatial, o.group(p.lanes));
            let at = o.start + band.images.start * o.image + band.chunk * p.chunk * vector + d * depth + h * height + w * column;
            let (line, row) = (height * p.window[1].dilation, height * down);
            (at, Steps { column, strip: column * across, line, row, image: o.image, vector })
        };
        let [(x, from), (y, by)] = self.operands;
        let (row, stride) = (band.rows.start, [p.window[1].stride, p.window[2].stride]);
        let first = band.chunk * p.chunk * p.lanes;
        let source = operand(x, [pixel(0, band.depth), pixel(1, row), column], [stride[0], places * stride[1]]);
        let gradient = operand(y, [band.depth, row, segment.first], [1, places]);
        kernel.run(strip::GradientCall {
            operands: [(from.into(), source.0, source.1), (by.into(), gradient.0, gradient.1)],
            counts: [band.rows.len(), band.images.len()],
            channels: (p.chunk * p.lanes).min(p.channels - first),
            sums: (sums, [p.vector(), self.line()]),
            far: p.far,
        });
    }

    /// Stores the gradient of a chunk of channels.
    fn finish(&self, chunk: usize, sums: &mut [f32]) {
        let p = self.plan;
        for (vector, sums) in sums.chunks_exact_mut(p.vector()).enumerate() {
            let first = (chunk * p.chunk + vector) * p.lanes;
            if first < p.channels {
                self.store(first, sums);
            }
        }
    }

    /// Stores the gradients of the weights of a vector of channels from channel `first` on.
    fn store(&self, first: usize, sums: &mut [f32]) {
        let p = self.plan;
        let dst = self.epilogue.dst();
        let raw = self.epilogue.is_plain() && dst.blocking().inner.iter().all(|(dim, _)| dim < 3);
        match dst.dtype() {
            DataType::F32 if raw => return self.store_raw(first, sums, |line| line),
            DataType::Bf16 if raw => return self.store_raw(first, sums, |line| line.map(|sum| bf16_pair(sum, 0.0) as u16)),
            _ => {}
        }
        let n = self.epilogue.dst().dims().len();
        let channels = p.lanes.min(p.channels - first);
        let widths = p.window[2].taps;
        let step = p.group * p.lanes;
        for (line, sums) in sums.chunks_exact_mut(widths * step).enumerate() {
            let mut pos: Pos = [0; MAX_NDIMS];
            place_tap(&mut pos, (n, 3), line * widths, p.window.map(|d| d.taps as i64));
            if p.group == 1 {
                pos[0] = first as i64;
                let sums = Sums { data: sums, exact: None, step, columns: channels, dim: 0 };
                self.epilogue.store(sums, std::iter::once(Places { pos, dim: n - 1, step: 1, count: widths }));
                continue;
            }
            for (group, channel) in (0..channels / p.group).flat_map(|g| (0..p.group).map(move |c| (g, c))) {
                pos[0] = (first / p.group + group) as i64;
                pos[3 - p.lane_dim] = channel as i64;
                let data = &mut sums[channel * p.lanes + group * p.group..];
                let sums = Sums { data, exact: None, step, columns: p.group, dim: p.lane_dim };
                self.epilogue.store(sums, std::iter::once(Places { pos, dim: n - 1, step: 1, count: widths }));
            }
        }
    }

    /// Stores them as they are but for their type to a gradient whose taps are at strides.
    fn store_raw<T: Element>(&self, first: usize, sums: &[f32], typed: impl Fn([f32; LANES]) -> [T; LANES]) {
        let (p, dst) = (self.plan, self.epilogue.dst());
        let channels = p.lanes.min(p.channels - first);
        let distance = |i: usize| spatial(i, dst.dims().len(), 3).map_or(0, |d| dst.blocking().strides[d] as usize);
        let ([depth, row, column], [_, heights, widths]) = ([0, 1, 2].map(distance), [0, 1, 2].map(|i| p.window[i].taps));
        let are_neighbours = self.are_neighbours();
        for channel in 0..p.group {
            let place = |lane: usize| {
                let mut pos: Pos = [0; MAX_NDIMS];
                pos[0] = ((first + lane) / p.group) as i64;
                (pos[p.lane_dim], pos[3 - p.lane_dim]) = ((lane % p.group) as i64, channel as i64);
                dst.offset(&pos)
            };
            let mut places = [place(0); LANES];
            if !are_neighbours {
                places[..channels].iter_mut().enumerate().for_each(|(lane, at)| *at = place(lane));
            }
            for (tap, sums) in sums.chunks_exact(p.group * p.lanes).enumerate() {
                let sums = &sums[channel * p.lanes..];
                let tap = tap / (heights * widths) * depth + tap / widths % heights * row + tap % widths * column;
                if let Some(line) = sums.first_chunk::<LANES>().filter(|_| are_neighbours && channels == LANES) {
                    dst.buf().write(places[0] + tap, &typed(*line));
                    continue;
                }
                let mut line = [0.0; LANES];
                line[..channels].copy_from_slice(&sums[..channels]);
                let line = &typed(line)[..channels];
                if are_neighbours {
                    dst.buf().write(places[0] + tap, line);
                } else {
                    line.iter().zip(&places).for_each(|(sum, at)| dst.buf().write(at + tap, std::slice::from_ref(sum)));
                }
            }
        }
    }

    /// Whether the channels of a vector are neighbours in the gradient: it is in blocks of vectors.
    fn are_neighbours(&self) -> bool {
        let p = self.plan;
        let mut blocks = self.epilogue.dst().blocking().inner.iter();
        let groups = blocks.next().filter(|block| block.0 == 0).map_or(0, |block| block.1 as usize);
        let of_groups = p.group == 1 || blocks.next() == Some((p.lane_dim, p.group as i64));
        of_groups && blocks.next().is_none() && groups > 0 && (groups * p.group).is_multiple_of(p.lanes)
    }
}

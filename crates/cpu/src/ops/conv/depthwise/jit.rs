//! `direct:jit`: depthwise convolution and convolution of groups of few channels on generated strips, forward and backward by data, and
//! deconvolution.
//!
//! Vectors run over channels, which must be last or in blocks of whole vectors. A task is some result rows of an image times a chunk of
//! channels, small enough that the source rows of a window stay in L1 from one result row to the next. Strips run the epilogue on sums in
//! registers and store results.

use super::super::geometry::{self, Direction, Line, Phase};
use super::super::window::{Setup, check_quantisation, cut, resolved, sizes_of, spatial};
use super::{data_tag, weights_tag};
use crate::CpuTarget;
use crate::decision::{How, padding};
use crate::hardware::Core;
use crate::kernels::code::elem;
use crate::kernels::microkernel::epilogue::{Epilogue, EpilogueRequest};
use crate::kernels::portable_epilogue;
use crate::kernels::scratch::booked;
use crate::kernels::strip::{Channels, Line as Taps, Row, Strip, Table};
use crate::ops::passes;
use crate::ops::strips::{Met, Place, Segment, Width, check_table, table};
use crate::row::RowPlan;
use oxidnn_jit::Isa;
use oxidnn_jit::ir::{Accumulate, Elem};
use oxidnn_jit::kernels::depthwise as generated;
use oxidnn_jit::kernels::strips::{Window, WindowKey};
use oxidnn_runtime::{Plan, Skip};
use oxidnn_spec::{Arg, Attr, DataType, Error, Problem, Tensor};

/// Most pixels of a strip across channels, if no two of them read the same source.
const MOST_APART: usize = 4;
/// Most lines of a window.
const LINES: usize = 64;
/// Most integer products in a sum that f32 holds exactly; half as many if zero points are subtracted from weights, which adds a bit.
const EXACT: i64 = 512;
/// Most taps of a line.
const TAPS: usize = 32;
/// Most taps of a line of f32 in groups that leave lanes idle, where masks are slow: strips of more are slower than products. Measured on
/// Zen 3.
const MAX_MASKED_TAPS: i64 = 5;
/// Most columns between a result and a tap.
const REACH: i64 = 8 << 10;
/// Most rows of a task, and of one of planes of blocks.
const ROWS: usize = 16;
const ROWS_OF_PLANE: usize = 64;
/// Multiply-adds that make a task large enough.
const TASK: usize = 1 << 17;
/// Tasks of a worker that are enough for balance.
const TASKS: usize = 4;
/// Multiply-adds in the time that it takes to set up a call.
const CALL: usize = 1 << 13;
/// Tasks of a worker from which on one more or less does not matter.
const MANY: usize = 64;
/// Bytes of a cache line.
const LINE: usize = 64;
/// Numbers of vectors that are tried for a task.
const MOST_SIZES: usize = 64;

#[derive(Debug)]
pub(crate) struct Depthwise {
    jit: Isa,
    pub(super) attr: Attr,
    pub(super) source: Place,
    pub(super) result: Place,
    pub(super) width: Width,
    /// The segments of each phase of the width.
    pub(super) segments: Vec<Vec<Segment<generated::Depthwise>>>,
    /// Addresses of the rows of each phase, from an image's first channel on.
    pub(super) tables: Vec<Table>,
    pub(super) kernel: [usize; 3],
    pub(super) channels: usize,
    /// Source and result channels of a group.
    pub(super) group: [usize; 2],
    /// The same for kernels, whose elements may be words of two bf16 or four bytes.
    pub(super) words: [usize; 2],
    /// Which of the weights' channel dimensions is the result's.
    pub(super) result_channel: usize,
    pub(super) images: usize,
    pub(super) result_sizes: [i64; 3],
    pub(super) workers: usize,
    /// Channels of a vector of results: whole groups.
    pub(super) lanes: usize,
    /// Channels of a task, and number of such chunks.
    pub(super) chunk: usize,
    pub(super) chunks: usize,
    /// Result rows of a task, and of a call.
    pub(super) rows: usize,
    pub(super) together: usize,
    /// Parts of each segment of a row, if rows are few.
    pub(super) parts: usize,
    /// Whether pixels come from memory beyond L2.
    pub(super) far: bool,
    /// Whether kernels read a copy of the weights, less their zero point.
    pub(super) shifted: bool,
    /// The epilogue of strips.
    pub(super) epilogue: Epilogue,
}

/// Elements of scratch of an execution.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScratchLens {
    /// The copy of the weights, if they have a zero point.
    pub(super) weights: usize,
    /// Zero points of the source by channel, if it has any.
    pub(super) shifts: usize,
    /// Operands of the epilogue.
    pub(super) epilogue: usize,
}

impl ScratchLens {
    /// Bytes in total; `None` on overflow.
    fn bytes(self) -> Option<usize> {
        let ScratchLens { weights, shifts, epilogue } = self;
        booked(&[weights, shifts, epilogue])
    }
}

/// Whether weights lie as kernels read them, in lines of `lanes` results.
fn is_placed(weights: &Tensor, lanes: usize, [from, to]: [usize; 2], (result_channel, together): (usize, usize)) -> bool {
    weights.blocking().is_some_and(|b| {
        let (last, line, pair) = (weights.dims().len() - 1, lanes as i64, together as i64);
        let blocks = [(0, line / to as i64), (1 + result_channel, to as i64), (2 - result_channel, pair)];
        let blocks = blocks.into_iter().filter(|(_, size)| *size > 1);
        let next = b.strides[2 - result_channel] == line * pair || from as i64 == pair;
        b.inner.iter().eq(blocks) && b.strides[last] == line * from as i64 && next
    })
}

/// Whether weights, which must lie as kernels read them, have a zero point.
///
/// # Errors
/// Other weights, or zero points that kernels do not subtract.
fn is_shifted(s: &Setup<'_>, attr: &Attr, [lanes, used]: [usize; 2], group: [usize; 2], together: usize) -> Result<bool, Skip> {
    let (weights, order) = (s.weights, (s.result_channel, together));
    if !is_placed(weights, used, group, order) {
        return Err(Skip::Layout(format!("of the weights: not {}", weights_tag(weights.dims().len(), lanes, group, order))));
    }
    let shifted = attr.zero_points.get(&Arg::WEIGHTS);
    if shifted.is_some_and(|q| q.mask != 0 || !are_runs(weights, used * group[0])) {
        return Err(Skip::Attr("zero points of the weights that differ by channel, or gaps between their taps".into()));
    }
    Ok(shifted.is_some())
}

/// Whether weights that lie as kernels read them, with `tap` elements of a vector of channels at each tap, have no gaps.
fn are_runs(weights: &Tensor, tap: usize) -> bool {
    let dims = weights.dims();
    weights.blocking().is_some_and(|b| {
        let run = |d: usize| dims[d + 1..].iter().product::<i64>() * tap as i64;
        b.strides[0] == run(2) && (3..dims.len()).all(|d| dims[d] == 1 || b.strides[d] == run(d))
    })
}

/// Whether kernels multiply words in dot products, and the channels of a group then: pairs of channels of bf16, or four of bytes, are words where the source
/// has them, as fewer products; single ones of bf16 are words with a zero, where spreading bf16 to f32 takes longer than products that are half as fast on
/// processors which multiply two vectors of f32 in a cycle.
fn dots(s: &Setup<'_>, attr: &Attr, group: [usize; 2], jit: Isa) -> Option<[usize; 2]> {
    let [from, to] = group;
    let (taps, columns) = (s.sizes.k[2], s.sizes.k[2].min(s.sizes.s[2]));
    let together = match [s.source.1, s.weights].map(|t| t.dtype) {
        [DataType::Bf16, DataType::Bf16] if jit.bf16 => 2,
        [DataType::U8 | DataType::S8, DataType::S8] if jit.vnni && jit.avx512 => 4,
        _ => return None,
    };
    if [s.source.0, Arg::WEIGHTS].iter().any(|arg| attr.zero_points.contains_key(arg)) {
        return None;
    }
    let words = from / together;
    if is_last(s.source.1) && from.is_multiple_of(together) && (words < to || words.is_multiple_of(to)) {
        return Some([words, to]);
    }
    let lanes = jit.width().lanes();
    let single = from == to && (2 * columns >= taps || Core::host().rate(lanes, 1) <= lanes as f64);
    (single && together == 2).then_some(group)
}

/// Bytes between taps of weights in depth, height and width.
fn weights_bytes(tensor: &Tensor) -> [usize; 3] {
    let (size, n) = (tensor.dtype.bits() / 8, tensor.dims().len());
    std::array::from_fn(|i| spatial(i, n, 3).zip(tensor.blocking()).map_or(0, |(d, b)| b.strides[d] as usize * size))
}

/// Plans `problem`.
///
/// # Errors
/// Problems that the row does not take.
pub(crate) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let jit = target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?;
    let s = Setup::of(&problem.op)?;
    let jit = narrowest(&s, jit);
    let weights = s.weights.dims().len();
    let lanes = jit.width().lanes();
    let group = few(&s, lanes)?;
    let words = dots(&s, &problem.attr, group, jit);
    let read = words.unwrap_or(group);
    let suits = read[0] < read[1] || read[1] < lanes && met(lanes, read) <= MET;
    if !suits || is_product(&s, group, (jit, words.is_some())) {
        return Err(Skip::Shape("groups whose channels fill steps of products"));
    }
    let [kd, kh, kw] = s.sizes.k;
    if s.source.1.dtype == DataType::F32 && !jit.avx512 && !lanes.is_multiple_of(group[1]) && kw > MAX_MASKED_TAPS {
        return Err(Skip::Shape("wide windows of groups that leave lanes idle"));
    }
    let products = if problem.attr.zero_points.contains_key(&Arg::WEIGHTS) { EXACT / 2 } else { EXACT };
    let exact = !s.source.1.dtype.is_integral() || kd.saturating_mul(kh).saturating_mul(kw).saturating_mul(group[0] as i64) <= products;
    if kd.saturating_mul(kh) > LINES as i64 || kw > TAPS as i64 || s.sizes.s[2] > 16 || s.sizes.d[2] > 64 || !exact {
        return Err(Skip::Shape("a large window"));
    }
    let phases = if s.direction == Direction::Scatter { s.sizes.s[2] } else { 1 };
    check_table(s.result.1.dims().iter().skip(2).rev().skip(1).fold(phases, |n, size| n.saturating_mul(*size)), kd * kh)?;
    let together = words.map_or(1, |words| group[0] / words[0]);
    let tag = weights_tag(weights, lanes, group, (s.result_channel, together));
    let scatters = s.direction == Direction::Scatter;
    let data_tag = if group == [1, 1] { data_tag([s.source.1, s.result.1], &s.sizes, (target, lanes), scatters) } else { "axb".into() };
    let problem = resolved(problem, [&data_tag, &tag])?;
    let s = Setup::of(&problem.op)?;
    portable_epilogue::check(&problem.attr, s.result.1)?;
    check_quantisation(&problem.attr, &s)?;
    let kernel = Depthwise::new(&s, &problem.attr, (target, jit))?;
    RowPlan::of(problem, target, kernel.scratch().and_then(ScratchLens::bytes), kernel)
}

/// Most vectors of source channels, or of words of them, that a vector of results reads.
const MET: usize = 4;

/// Source and result channels of a group, if they are few: a vector has the results of several groups, or of one with fewer source
/// channels.
///
/// # Errors
/// Groups of more channels.
fn few(s: &Setup<'_>, lanes: usize) -> Result<[usize; 2], Skip> {
    let dims = s.weights.dims();
    if dims.len() == s.source.1.dims().len() {
        return Err(Skip::Shape("one group"));
    }
    let [from, to] = [dims[2 - s.result_channel], dims[1 + s.result_channel]].map(|n| n.max(0) as usize);
    if from == 0 || to == 0 {
        return Err(Skip::Shape("groups without channels"));
    }
    if from <= lanes && (lanes.is_multiple_of(to) || 2 * to <= lanes || from < to && to <= lanes) {
        Ok([from, to])
    } else {
        Err(Skip::Shape("groups of other than few channels"))
    }
}

/// Vectors of source channels of the groups of a vector of results.
fn met(lanes: usize, [from, to]: [usize; 2]) -> usize {
    (lanes / to * from).div_ceil(lanes)
}

/// The instruction set of 8-lane vectors for 8 channels of f32, of which wider vectors would waste half.
fn narrowest(s: &Setup<'_>, isa: Isa) -> Isa {
    let narrow = Isa::AVX2;
    let f32 = [s.source.1, s.weights, s.result.1].iter().all(|t| t.dtype == DataType::F32);
    let fills = s.result.1.dims()[1] == narrow.width().lanes() as i64 && is_last(s.source.1) && is_last(s.result.1);
    if f32 && fills { narrow } else { isa }
}

/// Whether products of narrow elements, which take several channels of a group at once where a strip that has no words of them spreads one after the other, are
/// faster though few of their columns are results: measured on Zen 3, Zen 4 and Sapphire Rapids. They need channels last.
fn is_product(s: &Setup<'_>, [from, to]: [usize; 2], (jit, words): (Isa, bool)) -> bool {
    let lanes = jit.width().lanes();
    let whole = lanes.is_multiple_of(to) && s.result.1.dims()[1] % lanes as i64 == 0;
    let taps = s.sizes.k.iter().product::<i64>();
    let fills = match s.source.1.dtype {
        DataType::S8 if from >= 16 => true,
        DataType::S8 | DataType::U8 => from >= 8 && !(words && taps > 1) || from >= 4 && taps == 1 || from > to && !whole && !words,
        // A tile has an address for every row and line of the window; one of AMX only its first.
        DataType::Bf16 => {
            // A single group leaves most lanes of a strip idle.
            let least = if s.weights.dims()[0] == 1 { 4 } else { 8 };
            jit.bf16
                && (from >= 16 || jit.amx && taps > 1 && from.min(to) >= least || from * to >= 32 && taps == 1 || from >= 4 && to >= lanes)
        }
        _ => false,
    };
    fills && is_last(s.source.1) && is_last(s.result.1)
}

/// The epilogue of strips.
fn epilogue(s: &Setup<'_>, attr: &Attr) -> Result<Epilogue, Skip> {
    let scaled = [s.source.0, Arg::WEIGHTS].iter().any(|a| attr.scales.contains_key(a));
    let about = EpilogueRequest { attr, dst: s.result.1, columns: 1, batch: 0, compensated: false, scaled, biased: s.biased };
    Epilogue::of(&about)
}

/// The segments of every phase of the width, for strips of `kernel`.
fn segments(width: &Width, kernel: &generated::Depthwise, (jit, epilogue): (Isa, &Epilogue)) -> Vec<Vec<Segment<generated::Depthwise>>> {
    let of_phase = |phase: &Phase| {
        let most =
            generated::Depthwise::most_results(jit, phase.taps.len(), kernel.group(), [kernel.window.masked, kernel.single, kernel.signed]);
        // Pixels that share no source would only evict each other's lines, which are read to the end by the strips that follow.
        let apart = kernel.window.across && phase.taps.len() as i64 <= width.line.stride;
        let most = if apart { most.min(MOST_APART) } else { most };
        width.cut(phase, most, (&kernel.window, epilogue), |window, _| kernel.with(window))
    };
    width.line.phases.iter().map(of_phase).collect()
}

impl Depthwise {
    /// Blocks and the caches they stay in, and the predicted speed.
    pub(super) fn how(&self) -> How {
        let (taps, vector) = (self.kernel.iter().product::<usize>(), self.lanes * 4);
        let (pixels, window) = (self.width.line.source as usize, self.kernel[0] * self.kernel[1]);
        let strip = self.segments.iter().flatten().map(|s| s.each).max().unwrap_or(0);
        How::new("direct: strips of pixels, channels in lanes", Core::host().rate(self.lanes, self.group[0] / self.words[0]), self.workers)
            .registers(format!("sums of a strip of {strip} pixels by {} lanes", self.lanes), vector * strip)
            .block(format!("weights of {taps} taps of {} channels", self.chunk), taps * self.group[0] * self.chunk * 4)
            .block(format!("{window} source rows under the window of {} channels", self.chunk), window * pixels * self.chunk * 4)
            .padding(padding(self.channels, self.lanes))
    }

    /// Generates the kernels, by phase.
    pub(super) fn strips(&self) -> Result<Vec<Vec<Strip>>, Error> {
        let strip = |segment: &Segment<_>| Strip::get(self.jit, &segment.spec, Channels::once(self.channels));
        self.segments.iter().map(|segments| segments.iter().map(strip).collect()).collect()
    }

    fn new(s: &Setup<'_>, attr: &Attr, (target, jit): (&CpuTarget, Isa)) -> Result<Depthwise, Skip> {
        let (source, weights, result) = (s.source.1, s.weights, s.result.1);
        let (source_elem, weights_elem) = (element(source)?, element(weights)?);
        let lanes = jit.width().lanes();
        let (from, to) = (sizes_of(source), sizes_of(result));
        let lines = geometry::lines(s.direction, &s.sizes, [to, from])?;
        let group = few(s, lanes)?;
        let dots = dots(s, attr, group, jit);
        let words = dots.unwrap_or(group);
        let ([from_group, to_group], together) = (words, group[0] / words[0]);
        let channels = s.sizes.g as usize * to_group;
        check_reach(&lines[2])?;
        let (idle, used) = (lanes % to_group, lanes - lanes % to_group);
        let (masked, word) = (idle > 0 || !channels.is_multiple_of(lanes), if together > 1 { Elem::F32 } else { Elem::Low16 });
        let single = masked && channels / to_group * from_group <= lanes;
        let from_place = Place::of(s.source.0, source, lanes)?;
        let to_place = Place::of(s.result.0, result, lanes)?;
        if from_group != to_group && from_place.blocks > 0 || idle > 0 && from_place.blocks.max(to_place.blocks) > 0 {
            return Err(Skip::Layout("blocks of channels, in which groups do not fill vectors alike".into()));
        }
        check_groups(words, source_elem, jit, [masked && !single, attr.zero_points.contains_key(&s.source.0)])?;
        let epilogue = epilogue(s, attr)?;
        let pixels = to.iter().fold(s.sizes.mb.max(0) as usize, |all, n| all.saturating_mul((*n).max(0) as usize));
        passes::fills(attr, [pixels, channels], (jit, target))?;
        let row = (from[2].max(1) as usize).saturating_mul(lanes * source_elem.bytes());
        let [kd, kh, kw] = s.sizes.k.map(|k| k.max(1) as usize);
        let (far, met) = (are_far([source, result], target), if are_apart(s) { 1 } else { kh });
        let across = far || is_across(s, lanes * source_elem.bytes());
        let fills_lines = result.dtype == DataType::F32 && jit.avx512 && epilogue.is_repeatable();
        let most = common([from_place.even(lanes), to_place.even(lanes)], lanes);
        let shifted = is_shifted(s, attr, [lanes, used], group, together)?;
        // Strips come to lines of the cache out of the order of memory, and so must fill them; even a slow last cache collects them faster.
        let streaming = far && fills_lines && source.bytes().saturating_add(result.bytes()) > target.caches.l3 / 2;
        let elems = match dots {
            _ if shifted => [source_elem, Elem::F32],
            Some(_) => [word; 2],
            None => [source_elem, weights_elem],
        };
        let window = Window { source: elems[0], idle: idle as u8, masked, streaming, across, ..Window::of_vectors(1) };
        let kernel = generated::Depthwise {
            window,
            weights: elems[1],
            dots: dots.map(|_| if together > 2 { Accumulate::DotU8S8 } else { Accumulate::DotBf16 }),
            signed: together > 2 && source.dtype == DataType::S8,
            group: words.map(|n| n as u8),
            shifted: attr.zero_points.contains_key(&s.source.0),
            single,
        };
        let [depth, height, line] = lines;
        let width = Width { line, step: 1 };
        let planes = most == usize::MAX && are_large(&from_place, row.saturating_mul((from[0] * from[1]).max(0) as usize), target);
        let rows = cut((to[0] * to[1]).max(1) as usize, if planes { ROWS_OF_PLANE } else { ROWS }, 1).0;
        let work = rows * to[2].max(1) as usize * lanes * kd * kh * kw * from_group;
        let enough = target.threads > 1 && channels.div_ceil(used).saturating_mul(work) >= 2 * target.threads * TASK;
        let chunk = match most {
            usize::MAX if across => cut(channels, (target.caches.l2 / 4 * 3 / window_bytes(met, row)).max(1) * used, used).0,
            usize::MAX if planes => (TASK / work).clamp(1, channels.div_ceil(used)) * used,
            // Workers that had channels of one row would write parts of the same cache lines.
            usize::MAX if s.sizes.mb * to[0] * to[1] == 1 && lanes * source_elem.bytes() < LINE && enough => channels,
            usize::MAX => {
                let (vectors, blocks) = (channels.div_ceil(used), ((to[0] * to[1]).max(1) as usize).div_ceil(rows));
                Tasks { vectors, blocks, images: s.sizes.mb as usize, work, workers: target.threads }.vectors_each() * used
            }
            block => block,
        };
        let tasks = (s.sizes.mb as usize * channels.div_ceil(chunk) * ((to[0] * to[1]).max(1) as usize).div_ceil(rows)).max(1);
        let parts =
            if tasks < 2 * target.threads { (work.saturating_mul(chunk.div_ceil(used)) / TASK).clamp(1, 2 * target.threads) } else { 1 };
        let kept = target.caches.l2 / if far { 8 } else { 2 } / row_bytes(s, [&from_place, &to_place], chunk).max(1);
        let taps = if shifted { [kh * kw, kw, 1].map(|n| n * group[0] * used * 4) } else { weights_bytes(weights) };
        let strides = [from_place.spatial, taps, to_place.spatial];
        let tables = width.line.phases.iter().map(|phase| of_rows([&depth, &height], [to[0], to[1], phase.first], &strides));
        Ok(Depthwise {
            jit,
            tables: tables.collect(),
            group,
            words,
            result_channel: s.result_channel,
            far,
            attr: attr.clone(),
            source: from_place,
            result: to_place,
            segments: segments(&width, &kernel, (jit, &epilogue)),
            kernel: [kd, kh, kw],
            channels,
            images: s.sizes.mb as usize,
            result_sizes: to,
            workers: target.threads,
            lanes: used,
            chunk,
            chunks: channels.div_ceil(chunk),
            rows,
            together: kept.clamp(1, rows),
            parts,
            shifted,
            epilogue,
            width,
        })
    }

    /// Elements of scratch.
    pub(super) fn scratch(&self) -> Option<ScratchLens> {
        let channels = self.channels.checked_next_multiple_of(self.lanes)?;
        let weights = if self.shifted { (self.kernel.iter().product::<usize>() * self.group[0]).checked_mul(channels)? } else { 0 };
        // The last vector is read whole.
        let shifts = if self.attr.zero_points.contains_key(&self.source.arg) { channels + self.jit.width().lanes() } else { 0 };
        Some(ScratchLens { weights, shifts, epilogue: self.epilogue.scratch(self.channels)? })
    }
}

/// Addresses of result rows and of the lines of their windows, for the result's depth and height and the first result of a phase of the
/// width. Strides are those of source, weights and result.
fn of_rows(lines: [&Line; 2], [depth, height, first]: [i64; 3], [source, taps, result]: &[[usize; 3]; 3]) -> Table {
    let at = |strides: &[usize; 3], [d, h, w]: [i64; 3]| d as usize * strides[0] + h as usize * strides[1] + w as usize * strides[2];
    let row = |_: usize, [d, h]: [i64; 2], _: usize| Row { result: at(result, [d, h, first]), ..Row::default() };
    let line = |[[kd, kh], [z, y]]: Met| Taps { source: at(source, [z, y, 0]), other: at(taps, [kd, kh, 0]), value: 0.0 };
    table(lines, [depth, height], row, line)
}

/// The element type that kernels load from a tensor.
fn element(tensor: &Tensor) -> Result<Elem, Skip> {
    let unknown = || Skip::DataType(format!("{} in a depthwise window", tensor.dtype));
    elem(tensor.dtype).filter(|e| *e != Elem::I32).ok_or_else(unknown)
}

/// Whether pixels of both come from afar, a line of the cache here and there.
fn are_far(tensors: [&Tensor; 2], target: &CpuTarget) -> bool {
    tensors.iter().all(|t| is_plain(t))
        && tensors.iter().fold(0, |n: usize, t| n.saturating_add(t.bytes())) > Core::host().near(&target.caches)
}

/// Whether vectors of channels are in planes of so many bytes, too large for L1: these are passed in the order of memory, as many together as
/// make a task.
fn are_large(place: &Place, plane: usize, target: &CpuTarget) -> bool {
    place.blocks > 0 && plane > target.caches.l1
}

/// Whether the windows of no two places meet: no two results read the same pixel, or none reads more than one.
fn are_apart(s: &Setup<'_>) -> bool {
    (0..3).all(|i| (s.sizes.k[i] - 1) * s.sizes.d[i] < s.sizes.s[i])
}

/// Whether strips go across channels, in the order of memory, though pixels are near: where windows do not meet, or few do and vectors, of `bytes` bytes,
/// are parts of cache lines at large strides.
fn is_across(s: &Setup<'_>, bytes: usize) -> bool {
    let parts = s.sizes.s[2] > 1 && bytes < LINE;
    [s.source.1, s.result.1].iter().all(|t| is_plain(t)) && (are_apart(s) || parts)
}

/// Bytes of `chunk` channels of a row of results, and of the source rows that it adds to those of the row before.
fn row_bytes(s: &Setup<'_>, [from, to]: [&Place; 2], chunk: usize) -> usize {
    let [source, result] = [(s.source.1, from), (s.result.1, to)].map(|(t, place)| sizes_of(t)[2].max(1) as usize * chunk * place.size);
    let stride = if s.direction == Direction::Gather { s.sizes.s[1].max(1) as usize } else { 1 };
    stride * source + result
}

/// Bytes of the source rows of a window, and of the row that comes next; a window of one row reuses none.
fn window_bytes(rows: usize, row: usize) -> usize {
    if rows > 1 { (rows + 1).saturating_mul(row) } else { 1 }
}

/// Whether a tensor has no blocks.
fn is_plain(tensor: &Tensor) -> bool {
    tensor.blocking().is_some_and(|b| b.inner.iter().next().is_none())
}

/// Whether a tensor has no blocks, or need not have any.
fn is_last(tensor: &Tensor) -> bool {
    tensor.layout.is_any() || is_plain(tensor)
}

/// The work that is divided: vectors of channels, blocks of rows, images, and the multiply-adds of a vector in a block.
struct Tasks {
    vectors: usize,
    blocks: usize,
    images: usize,
    work: usize,
    workers: usize,
}

impl Tasks {
    /// Vectors of a task for which the last worker ends first. Fewer tasks mean fewer calls; but workers get equal numbers of tasks, and
    /// those of an image's last channels are smaller.
    fn vectors_each(&self) -> usize {
        let all = self.vectors.saturating_mul(self.blocks).saturating_mul(self.images);
        let most = (all / (self.workers * TASKS)).max(TASK / self.work).clamp(1, self.vectors.max(1));
        if all / most > MANY * self.workers {
            return most;
        }
        (most.saturating_sub(MOST_SIZES - 1).max(1)..=most).min_by_key(|each| self.longest(*each)).unwrap_or(1)
    }

    /// Multiply-adds of the busiest worker, with the cost of calls, if tasks have `each` vectors.
    fn longest(&self, each: usize) -> usize {
        let chunks = self.vectors.div_ceil(each);
        let tasks = (chunks * self.blocks).saturating_mul(self.images);
        // The vectors of the first `n` tasks.
        let vectors = |n: usize| n * each - (chunks * each - self.vectors) * (n / chunks);
        let share = |worker: usize| {
            let [first, end] = [worker, worker + 1].map(|w| w * tasks / self.workers);
            (vectors(end) - vectors(first)).saturating_mul(self.work) + (end - first) * CALL
        };
        (0..self.workers).map(share).max().unwrap_or(0)
    }
}

/// Groups with unequal channels are read by permutations of vectors of words, without zero points; if groups end within vectors, of one or
/// two vectors. Narrow weights of vectors with idle lanes are read by masks.
fn check_groups([from, to]: [usize; 2], source: Elem, jit: Isa, [several, shifted]: [bool; 2]) -> Result<(), Skip> {
    let lanes = jit.width().lanes();
    let narrow = !jit.avx512 && source.bytes() < 4;
    if narrow && (from < to || !lanes.is_multiple_of(to)) || from > to && several && met(lanes, [from, to]) > 2 {
        return Err(Skip::Shape("groups of unequal channels, of narrow elements or that end within vectors"));
    }
    if from != to && shifted {
        return Err(Skip::Attr("zero points of the source of groups of unequal channels".into()));
    }
    Ok(())
}

/// Contiguous channels in tensors of blocks of these sizes: `usize::MAX` if all are.
fn common(blocks: [usize; 2], lanes: usize) -> usize {
    match blocks {
        [a, b] if a == b || b == usize::MAX => a,
        [usize::MAX, b] => b,
        _ => lanes,
    }
}

/// Refuses windows whose columns are more than [`REACH`] apart.
fn check_reach(line: &Line) -> Result<(), Skip> {
    let is_large = line.phases.iter().flat_map(|p| &p.taps).any(|t| t.1.abs() > REACH);
    if is_large { Err(Skip::Shape("a large window")) } else { Ok(()) }
}

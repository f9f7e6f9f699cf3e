//! `channels:jit`: resampling of contiguous channels, last or in blocks of whole vectors, on generated code.
//!
//! A row of results is a weighted sum of a few lines by depth and height, and a column of it of a few taps by width. Backward, lines and
//! taps are the outputs that use an input. Each axis has a table of its own, so that tables grow with the sizes of dimensions, not with
//! their product.

use super::{Axis, ends, place::Place};
use crate::CpuTarget;
use crate::kernels::access::zero_bytes;
use crate::kernels::blend::{Blender, Call, Columns, Side, Spec};
use crate::kernels::chain::Chain;
use crate::kernels::code::elem;
use crate::kernels::microkernel::epilogue::{Epilogue, EpilogueRequest};
use crate::kernels::multiversion::Simd;
use crate::kernels::pointwise::{GRAIN, evenly};
use crate::kernels::scratch::{Scratch, booked};
use crate::ops::support;
use crate::row::{Generated, RowPlan, TOO_LARGE};
use oxidnn_jit::Isa;
use oxidnn_jit::ir::Elem;
use oxidnn_jit::kernels::blend::{Blend, Tap};
use oxidnn_runtime::{Ctx, Plan, Skip};
use oxidnn_spec::op::{Resampling, ResamplingAlg};
use oxidnn_spec::{Arg, Attr, DataType, Error, Op, Problem};
use std::ops::RangeInclusive;

/// Fewest channels of narrow elements that are last; masks leave out lanes without a channel.
const MIN_CHANNELS: usize = 4;
/// Most lines of a row.
const MAX_LINES: usize = 64;
/// Most vectors of a group, without and with post-ops. The more vectors, the less often weights are multiplied; but registers must also
/// hold a weight and an element, or what post-ops need.
const MAX_GROUP_VECTORS: [usize; 2] = [8, 4];
/// Most lines that registers hold.
const MAX_REGISTER_LINES: usize = 2;
/// Most taps of an axis, which bounds the plan's memory.
const MAX_TAPS: usize = 1 << 18;

/// The kernel.
#[derive(Debug)]
struct Blended {
    jit: Isa,
    attr: Attr,
    /// The kernel for whole groups of channels, and that for the rest.
    specs: [Spec; 2],
    /// Channels of whole groups; the first of the other channels, and their number: whole vectors, the last of which overlaps the one
    /// before, if there is one and results do not depend on old ones.
    whole: usize,
    rest: (usize, usize),
    /// The input and the result, with their bytes of an element.
    args: [Arg; 2],
    sizes: [usize; 2],
    places: [Place; 2],
    /// The taps of the result's positions by depth and by height, and where those of each position begin.
    depths: Positions,
    heights: Positions,
    columns: Columns,
    /// Channels that are computed; by kernel, channels of a call and byte strides of groups.
    made: usize,
    channels: usize,
    groups: [[usize; 2]; 2],
    /// Whether the result has padding channels that no call writes.
    padded: bool,
    /// Whether the result is stored non-temporally if it is aligned to vectors.
    streaming: bool,
}

/// The taps of the positions of an axis.
#[derive(Debug)]
struct Positions {
    taps: Vec<Tap>,
    starts: Vec<usize>,
    /// The farthest tap.
    most: usize,
}

impl Positions {
    /// The taps of an axis, `stride` bytes apart.
    fn new(axis: Axis, forward: bool, stride: usize) -> Result<Positions, Skip> {
        let (mut taps, mut starts) = (Vec::new(), vec![0]);
        each(axis, forward, |of| {
            taps.extend(of.map(|(at, weight)| Tap { source: at * stride, weight }));
            starts.push(taps.len());
            taps.len()
        })?;
        let most = taps.iter().map(|tap| tap.source).max().unwrap_or(0);
        Ok(Positions { taps, starts, most })
    }

    fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The fewest and the most taps of a position.
    fn counts(&self) -> RangeInclusive<usize> {
        let count = |i: usize| self.of(i).len();
        let counts = || (0..self.len()).map(count);
        counts().min().unwrap_or(0)..=counts().max().unwrap_or(0)
    }

    fn of(&self, position: usize) -> &[Tap] {
        &self.taps[self.starts[position]..self.starts[position + 1]]
    }
}

/// Vectors of a group, at most `most`, that minimise the number of vectors of a group plus that of the rest.
fn of_group(vectors: usize, most: usize) -> usize {
    (1..=most.min(vectors)).rev().min_by_key(|v| vectors / v + vectors % v).unwrap_or(1)
}

/// Channels that one plan covers.
struct Channels {
    count: usize,
    /// Contiguous channels; all of them if they are the `last` dimension.
    run: usize,
    last: bool,
    /// Most vectors of a group.
    most: usize,
    jit: Isa,
    /// Whether some channels may be computed twice.
    again: bool,
}

/// Groups of vectors of channels: vectors of a group, channels in groups, the first of the other channels and their number, and whether the
/// last vector of the groups and of the rest may be partial.
struct Groups {
    vectors: usize,
    whole: usize,
    rest: (usize, usize),
    masked: [bool; 2],
}

impl Channels {
    /// All vectors in groups, the last one masked; or groups first, then single vectors.
    fn groups(&self) -> Groups {
        let Channels { count, run, last, most, jit, again } = *self;
        let lanes = jit.width().lanes();
        let (masked, all) = (!count.is_multiple_of(lanes), count.div_ceil(lanes));
        let together = Some(of_group(all, most)).filter(|vectors| masked && last && jit.avx512 && all.is_multiple_of(*vectors));
        let twice = masked && last && together.is_none() && count >= lanes && again;
        // Blocks may have channels that end within a group.
        let are_groups = |v: &usize| run.is_multiple_of(v * lanes) && count.is_multiple_of(v * lanes);
        let vectors = match (masked, together) {
            (_, Some(together)) => together,
            _ if last => of_group(count / lanes, most),
            (true, _) => 1,
            (false, _) => (1..=most).rev().find(are_groups).unwrap_or(1),
        };
        let in_groups = together.is_some() || !last;
        let whole = if in_groups { count } else { count / (vectors * lanes) * (vectors * lanes) };
        let left = count - whole;
        let rest = if twice { (count - left.next_multiple_of(lanes), left.next_multiple_of(lanes)) } else { (whole, left) };
        Groups { vectors, whole, rest, masked: [masked && in_groups, masked && !twice] }
    }
}

/// Merges the innermost dimensions that are not resampled into the channels, if positions are contiguous and lines stay short.
fn merge(axes: &mut [Axis; 3], places: &mut [Place; 2]) {
    while axes[2].inputs == axes[2].outputs && axes.iter().any(|axis| axis.outputs * axis.inputs != 1) {
        let n = axes[2].inputs as usize;
        let follows = |place: &Place| axes[1].inputs * axes[1].outputs == 1 || place.strides[3] == n * place.run;
        if n * places[0].run > GRAIN as usize || !places.iter().all(follows) {
            return;
        }
        for place in &mut *places {
            let [image, block, depth, _] = place.strides;
            (place.run, place.strides) = (n * place.run, [image, block, 0, depth]);
        }
        *axes = [Axis { inputs: 1, outputs: 1, ..axes[0] }, axes[0], axes[1]];
    }
}

/// Calls `add` for every position of the result along an axis with its inputs and weights; it returns the number of taps so far.
pub(super) fn each(axis: Axis, forward: bool, mut add: impl FnMut(&mut dyn Iterator<Item = (usize, f32)>) -> usize) -> Result<(), Skip> {
    let bounded = |n: usize| if n > MAX_TAPS { Err(Skip::Shape("long dimensions")) } else { Ok(()) };
    bounded(if forward { axis.outputs } else { axis.inputs } as usize)?;
    if forward {
        axis.all().try_for_each(|taps| bounded(add(&mut taps.into_iter().filter(|tap| tap.1 != 0.0))))
    } else {
        (0..axis.inputs).try_for_each(|i| bounded(add(&mut axis.outputs_of(i).take(MAX_TAPS + 1).map(|(o, weight)| (o as usize, weight)))))
    }
}

/// Plans a resampling of channels.
///
/// # Errors
/// [`Skip`] for other layouts, and for operands that vary by pixel.
pub(super) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let jit = target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?;
    RowPlan::resolved(problem, target, |problem| {
        let Op::Resampling(op) = &problem.op else { return Err(Skip::Op("another operation than resampling")) };
        let mut kernel = support::of_widths(jit, |isa| Blended::new(op, &problem.attr, isa))?;
        kernel.streaming = !target.keeps(op.src.bytes().saturating_add(op.dst.bytes())) && kernel.has_whole_vectors(op);
        let scratch = kernel.specs[0].epilogue.scratch(kernel.made).and_then(|n| booked(&[n]));
        Ok((kernel, scratch.ok_or(TOO_LARGE)?))
    })
}

impl Blended {
    fn new(op: &Resampling, attr: &Attr, jit: Isa) -> Result<Blended, Skip> {
        let (forward, lanes) = (op.prop.is_forward(), jit.width().lanes());
        let [input, result] = ends(op);
        let mut source = elem(input.1.dtype).ok_or_else(|| Skip::DataType(format!("{} in generated sums", input.1.dtype)))?;
        let mut epilogue = Epilogue::of_strips(&EpilogueRequest::of_sums(attr, result.1, 1))?;
        if input.1.is_empty() || result.1.is_empty() {
            return Err(Skip::Shape("no elements"));
        }
        let mut places = [Place::of(input.0, input.1)?, Place::of(result.0, result.1)?];
        let mut sizes = [input, result].map(|t| t.1.dtype.bits() / 8);
        let mut exist = input.1.dims()[1] as usize;
        let copies = forward && op.alg == ResamplingAlg::Nearest;
        // What stays as it is is words, whatever they are.
        let stays = copies && attr.is_default() && input.1.dtype == result.1.dtype;
        if let (true, [Some(a), Some(b)]) =
            (stays, [0, 1].map(|i| places[i].in_words(sizes[i]).filter(|p| p.run >= Isa::AVX2.width().lanes())))
        {
            exist = exist * sizes[0] / 4;
            (places, sizes, source, epilogue) = ([a, b], [4; 2], Elem::F32, Epilogue::raw());
        }
        let last = |p: &Place| p.counts[1] == 1 && p.strides[1] == 0;
        let mut axes = Axis::all_of(op)?;
        if places.iter().all(last) && epilogue.scratch(1) == Some(0) {
            merge(&mut axes, &mut places);
        }
        let [from, to] = &places;
        if from.run != to.run || from.counts != to.counts || last(from) != last(to) {
            return Err(Skip::Layout("of src and dst: other channels in a line".into()));
        }
        // Narrow elements need masks, which only AVX-512 has.
        let narrow = jit.avx512 && (source.bytes() < 4 || sizes[1] < 4);
        let least = if narrow { MIN_CHANNELS } else { lanes / 2 };
        if from.run < least || !last(from) && !from.run.is_multiple_of(lanes) {
            return Err(Skip::Layout("of src and dst: channels that are not in vectors".into()));
        }
        // Padding channels of blocks are zero, and so are their results without post-ops.
        let whole = !last(from) && attr.is_default();
        let channels = if whole || last(from) { from.run * from.counts[1] } else { exist };
        let most = MAX_GROUP_VECTORS[usize::from(!attr.is_default())];
        let of = Channels { count: channels, run: from.run, last: last(from), most, jit, again: !attr.reads_dst() };
        let Groups { vectors, whole: whole_groups, rest, masked } = of.groups();
        if masked[1] && !jit.avx512 && (source.bytes() < 4 || sizes[1] < 4) {
            return Err(Skip::Shape("channels that are not whole vectors of narrow numbers"));
        }
        let blocks = !last(from) && vectors * lanes == from.run;
        // A block of several groups ends with a group: then each block is a call.
        let alone = !last(from) && !blocks;
        let [depth, height, width] = axes;
        let stride = |d: usize| from.strides[2 + d] * sizes[0];
        let (depths, heights) = (Positions::new(depth, forward, stride(0))?, Positions::new(height, forward, stride(1))?);
        let [depth, height] = [depths.counts(), heights.counts()];
        if depth.end() * height.end() > MAX_LINES {
            return Err(Skip::Shape("so many lines in a row"));
        }
        let columns = columns(width, forward, from.run * sizes[0])?;
        let taps = columns.each().filter(|n| *n <= 4);
        let lines = (depth.start() * height.start(), depth.end() * height.end());
        let held = (jit.avx512 || vectors <= MAX_GROUP_VECTORS[1])
            && attr.is_default()
            && taps.is_some()
            && !copies
            && lines.0 == lines.1
            && (1..=MAX_REGISTER_LINES).contains(&lines.1);
        let lines = held.then_some(lines.1 as u8);
        // With several groups, the vectors of a column are contiguous across groups.
        let across = |channels: usize, vectors: usize| last(from) && taps.is_some() && channels > vectors * lanes;
        let blend = Blend {
            source,
            taps,
            lines,
            copies,
            vectors: vectors as u8,
            masked: masked[0],
            across: across(whole_groups, vectors),
            streaming: false,
        };
        let spec = |blend: Blend| Spec { sums: blend, epilogue: epilogue.clone() };
        let specs = [spec(blend), spec(Blend { vectors: 1, masked: masked[1], across: across(rest.1, 1), ..blend })];
        let group = |i: usize| if blocks { places[i].strides[1] * sizes[i] } else { vectors * lanes * sizes[i] };
        Ok(Blended {
            jit,
            attr: attr.clone(),
            specs,
            whole: whole_groups,
            rest,
            args: [input.0, result.0],
            sizes,
            depths,
            heights,
            columns,
            made: channels,
            channels: if alone { from.run.min(channels) } else { channels },
            groups: [[group(0), group(1)], sizes.map(|size| lanes * size)],
            padded: !last(from) && !whole && channels < from.run * from.counts[1],
            streaming: false,
            places,
        })
    }

    /// Whether results are unprocessed words, at strides that keep all vectors as aligned as the first.
    fn has_whole_vectors(&self, op: &Resampling) -> bool {
        let result = if op.prop.is_forward() { &op.dst } else { &op.src };
        let stays = self.specs[0].sums.copies && op.src.dtype == op.dst.dtype;
        let words = self.attr.is_default() && if stays { self.sizes[1] == 4 } else { result.dtype == DataType::F32 };
        let Place { start, strides, run, .. } = &self.places[1];
        let lanes = self.lanes();
        let whole = [*start, *run, self.made, self.channels].iter().chain(strides).all(|n| n.is_multiple_of(lanes));
        words && whole && self.specs.iter().all(|spec| !spec.sums.masked)
    }

    /// Lanes of its vectors.
    fn lanes(&self) -> usize {
        self.jit.width().lanes()
    }
}

/// The columns of a row, each with the same number of taps if that is small: an input may appear twice with half its weight.
fn columns(width: Axis, forward: bool, stride: usize) -> Result<Columns, Skip> {
    let mut columns = Columns::default();
    let two = forward && width.alg == ResamplingAlg::Linear;
    each(width, forward, |of| {
        let mut taps = [of.next(), of.next()].map(|tap| tap.map(|(at, weight)| Tap { source: at * stride, weight }));
        if let ([Some(tap), None], true) = (taps, two) {
            let half = Tap { weight: tap.weight / 2.0, ..tap };
            taps = [Some(half); 2];
        }
        columns.push(taps.into_iter().flatten().chain(of.map(|(at, weight)| Tap { source: at * stride, weight })));
        columns.taps()
    })?;
    Ok(columns)
}

impl Generated for Blended {
    /// Kernels with normal and with non-temporal stores.
    type Code = [[Option<Blender>; 2]; 2];

    fn build(&self) -> Result<[[Option<Blender>; 2]; 2], Error> {
        let get = |i: usize, streaming: bool| {
            let Spec { sums, epilogue } = &self.specs[i];
            let spec = Spec { sums: Blend { streaming, ..*sums }, epilogue: epilogue.clone() };
            let wanted = [self.whole, self.rest.1][i] > 0 && (self.streaming || !streaming);
            wanted.then(|| Blender::get(self.jit, &spec)).transpose()
        };
        Ok([[get(0, false)?, get(1, false)?], [get(0, true)?, get(1, true)?]])
    }

    fn run(&self, blenders: &[[Option<Blender>; 2]; 2], simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let [input, result] = self.args;
        let operands = scratch.take(self.specs[0].epilogue.scratch(self.made).unwrap_or(0))?.into_slice();
        let chain = Chain::new(simd, ctx, &self.attr, result)?;
        let epilogue = self.specs[0].epilogue.args(&chain, 1, &[], operands)?;
        let bufs = [ctx.buf(input)?, ctx.buf(result)?];
        let vector = self.lanes() * size_of::<f32>();
        let blenders = &blenders[usize::from(self.streaming && bufs[1].as_ptr().addr().is_multiple_of(vector))];
        let [source, to] = &self.places;
        let [images, blocks] = [to.counts[0], self.made.div_ceil(self.channels)];
        let heights = self.heights.len();
        let rows = self.depths.len() * heights;
        let numbers = self.columns.count() * self.channels;
        let each = evenly(images * rows, GRAIN as usize / 2 / numbers.max(1));
        let chunks = (images * rows).div_ceil(each);
        let image = [source.strides[0] * self.sizes[0], to.strides[0] * self.sizes[1]];
        let last = [self.depths.most + self.heights.most, to.row(self.depths.len() - 1, heights - 1) * self.sizes[1]];
        let farthest = std::array::from_fn(|i| last[i] + (images - 1) * image[i]);
        ctx.executor().run(ctx.executor().threads(), blocks * chunks, &|_, task| {
            let (chunk, block) = (task % chunks, task / chunks);
            let channel = block * self.channels;
            let whole = self.channels.min(self.whole).min(self.made - channel);
            let parts = [(0, whole), self.rest];
            let calls: [Call<'_>; 2] = std::array::from_fn(|i| {
                let (first, channels) = parts[i];
                let side = |k: usize, place: &Place| Side {
                    buf: bufs[k],
                    at: (place.line([0, block, 0, 0]) + first) * self.sizes[k],
                    group: self.groups[i][k],
                };
                let result = (side(1, to), to.run * self.sizes[1]);
                Call {
                    columns: &self.columns,
                    source: side(0, source),
                    result,
                    farthest,
                    channels,
                    epilogue: &epilogue,
                    channel: channel + first,
                }
            });
            let mut bound = [0, 1].map(|i| blenders[i].as_ref().and_then(|blender| blender.bind(&calls[i])));
            let mut lines = [Tap::default(); MAX_LINES];
            // The padding channels behind those of the last block.
            let last = (self.made - 1) / to.run;
            let behind = (to.line([0, last, 0, 0]) + self.made - last * to.run) * self.sizes[1];
            let padding = if self.padded && block + 1 == blocks { ((last + 1) * to.run - self.made) * self.sizes[1] } else { 0 };
            let end = (images * rows).min((chunk + 1) * each);
            for i in chunk * each..end {
                let (at, row) = (i / rows, i % rows);
                let [depth, height] = [row / heights, row % heights];
                let mut count = 0;
                for d in self.depths.of(depth) {
                    for h in self.heights.of(height) {
                        lines[count] = Tap { source: at * image[0] + d.source + h.source, weight: d.weight * h.weight };
                        count += 1;
                    }
                }
                let row = at * image[1] + to.row(depth, height) * self.sizes[1];
                bound.iter_mut().flatten().for_each(|rows| rows.run(row, &lines[..count], i + 1 == end));
                let columns = 0..if padding > 0 { self.columns.count() } else { 0 };
                columns.for_each(|column| zero_bytes(&bufs[1], behind + row + column * to.run * self.sizes[1], padding));
            }
        });
        Ok(())
    }
}

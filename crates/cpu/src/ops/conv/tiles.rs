//! `packed:jit` and `packed:amx`: convolution, its gradient with respect to the source, and deconvolution, on generated microkernels.
//!
//! A row of the product is a result pixel. A tap of the window is an entry of the microkernel's address list, so source pixels are read in
//! place, without im2col. Pixels are taken in the [`Order`] that groups those with the same taps. For integers, padding is a row of zeros.
//! For real numbers, where zero times a weight may be NaN, vector tiles have no taps on padding; AMX tiles do, and results that come out as
//! NaN are summed again without them. Weights are read in the panels that `any` resolves to.

mod compensation;
mod cursor;
pub(super) mod order;
mod padded;
mod repack;
mod run;
mod subpixel;
#[cfg(test)]
mod tests;

use super::geometry::{self, Direction, Line};
use super::window::{self, Setup, sizes_of, spatial};
use crate::CpuTarget;
use crate::hardware::K_STEPS;
use crate::kernels::amx::{self, Macrokernel};
use crate::kernels::gemm::{MOST_STEPS, TOO_MANY_STEPS};
use crate::kernels::macrokernel::{BLayout, KBlock, Shape};
use crate::kernels::microkernel::epilogue::{Epilogue, EpilogueRequest};
use crate::kernels::microkernel::layout::{panel_columns, panel_tag};
use crate::kernels::microkernel::upconvert::{Upconvert, UpconvertedSources};
use crate::kernels::microkernel::{DotType, Stride, max_tile_rows};
use crate::kernels::portable_epilogue;
use crate::kernels::scratch::booked;
use crate::ops::passes;
use crate::row::RowPlan;
use compensation::{Compensation, Filled, Shift};
use order::{Cut, Order, Run, Segment};
use oxidnn_jit::Isa;
use oxidnn_jit::kernels::tiles::{LINES, ROWS};
use oxidnn_runtime::{Plan, Skip};
use oxidnn_spec::{Arg, Attr, DataType, Problem, Tensor};
use padded::{CopyRequest, Padded};
use repack::{Packed, Units, WeightLines};
use std::ops::Range;
use std::sync::Arc;
use subpixel::SubPixel;

/// Neighbouring taps are merged below this number of channels, if their pixels are contiguous.
const MAX_MERGED_CHANNELS: usize = 32;
/// Results of a line up to which separate passes for its ends cost more than merging taps saves.
const MAX_UNMERGED_LINE: usize = 8;
/// Channels of a group that are few for an AMX tile.
const MAX_FEW_CHANNELS: i64 = 16;
/// Bytes of a row of a tile below which vectors are faster for bytes in groups of few channels.
const MIN_ROW_DEPTH: i64 = 24;
/// Depth of the reduction up to which vectors are faster than AMX where strides leave each result a part of the taps: of bf16, and of bytes.
/// Measured on Sapphire Rapids.
const MAX_STRIDED_DEPTH: [i64; 2] = [3, 64];
/// The same in groups of few channels, measured on Emerald Rapids.
const MAX_STRIDED_GROUP_DEPTH: i64 = 8;
/// Pixels of an image from which on windows that overlap fill rows of tiles, which are of one image each.
const MIN_TILE_PIXELS: i64 = 4;
/// Nanoseconds of gathering a row of a tile, where lines of pixels that a stride keeps apart are shorter than tiles.
const GATHER_NS: f64 = 20.0;
/// Rows up to which vectors are faster than AMX with weights that come from beyond L2, measured on Sapphire Rapids.
const MAX_FEW_ROWS: i64 = 4;
/// Most passes for merging taps.
const MAX_PASSES: usize = 8;
/// Most steps of a tap that are rounded up to equal blocks on AMX: with more, the last block's time does not matter.
const MAX_EVEN_STEPS: usize = 256;
/// Most taps of a window.
const MAX_TAPS: usize = 4096;

const TOO_LARGE: Skip = Skip::Shape("scratch exceeds the address space");

/// A planned problem.
#[derive(Debug)]
struct Tiles {
    pub(super) attr: Attr,
    pub(super) source: Arg,
    pub(super) result: Arg,
    /// The passes, one after the other; each computes other results.
    pub(super) passes: Vec<Pass>,
    pub(super) from: Place,
    pub(super) to: Place,
    /// The padded copy of the source that windows read instead, and the place of the source's own pixels.
    pub(super) padded: Option<(Padded, Place)>,
    /// Whether the copy is padded with the source's zero point, so that all results have the same compensation.
    pub(super) fills: bool,
    /// Depth, height and width of the source.
    pub(super) sizes: [usize; 3],
    /// Which of the weights' channel dimensions is the result's: 0 or 1.
    pub(super) result_channel: usize,
    /// Groups, and source and result channels of each.
    pub(super) groups: usize,
    pub(super) depth: usize,
    pub(super) channels: usize,
    /// Byte offset of the weights, bytes of a panel, panels of a group.
    pub(super) weights: usize,
    pub(super) panel: usize,
    pub(super) panels: usize,
    pub(super) panel_width: usize,
    /// The epilogue in registers.
    pub(super) epilogue: Option<Arc<Epilogue>>,
    pub(super) scratch: ScratchLens,
    /// Whether accumulators are 32-bit integers.
    pub(super) whole: bool,
    /// What is subtracted from integer sums, if anything.
    pub(super) compensation: Option<Compensation>,
    /// Whether weights have zero points; then sums of source pixels are subtracted, too.
    pub(super) weights_shifted: bool,
    pub(super) workers: usize,
}

/// Elements of scratch of an execution, by purpose.
#[derive(Clone, Copy, Default, Debug)]
struct ScratchLens {
    /// A row of zeros, with a row of ones behind it.
    pub(super) zeros: usize,
    /// Operands of the epilogue.
    pub(super) epilogue: usize,
    /// Sums of the columns of the weights, by panel and by channel.
    pub(super) panel_sums: usize,
    pub(super) channel_sums: usize,
    /// Sums over the channels of every pixel.
    pub(super) pixel_sums: usize,
    /// Weights packed at execution.
    pub(super) packed: usize,
    /// The widened source, and the padded copy.
    pub(super) widened: usize,
    pub(super) padded: usize,
    /// Scratch of the workers.
    pub(super) workers: usize,
}

impl ScratchLens {
    /// Bytes in total; `None` on overflow.
    fn bytes(&self) -> Option<usize> {
        let ScratchLens { zeros, epilogue, panel_sums, channel_sums, pixel_sums, packed, widened, padded, workers } = *self;
        booked(&[zeros, epilogue, panel_sums, channel_sums, pixel_sums, packed, widened, padded, workers])
    }
}

/// Results whose taps have the same depth, computed by one macrokernel.
#[derive(Debug)]
struct Pass {
    /// The products (groups or joined groups).
    pub(super) units: Units,
    pub(super) lines: [Line; 3],
    pub(super) order: Order,
    /// What each tap adds in each dimension, by phase of the dimension.
    offsets: [Vec<Vec<Offset>>; 3],
    /// How weights are packed at execution, if they are not read in place, and the word where they begin.
    pub(super) packed: Option<Packed>,
    pub(super) packed_at: usize,
    /// Whether an earlier pass packs the same weights.
    pub(super) shared: bool,
    /// Steps of a tap, and how many taps of the window are merged into it.
    pub(super) steps: usize,
    pub(super) joined: usize,
    /// Phases whose channels are the columns of one product.
    pub(super) subpixel: Option<SubPixel>,
    pub(super) macrokernel: Macrokernel,
}

impl Pass {
    /// Panels of all products.
    pub(super) fn panels(&self) -> usize {
        self.units.count * self.macrokernel.shape().panels()
    }

    /// Words of packed weights.
    pub(super) fn words(&self) -> usize {
        self.packed.map_or(0, |p| p.words() * self.panels())
    }

    /// Gives every pass a place for its packed weights. Passes with the same packed weights share them. Returns the words of all.
    fn share(passes: &mut [Pass]) -> usize {
        let mut words = 0;
        for i in 0..passes.len() {
            let (before, pass) = (&passes[..i], &passes[i]);
            let alike = |p: &&Pass| {
                !p.shared && p.subpixel.is_none() && pass.subpixel.is_none() && (p.units, p.packed) == (pass.units, pass.packed)
            };
            let first = before.iter().find(alike).map(|p| p.packed_at);
            (passes[i].packed_at, passes[i].shared) = (first.unwrap_or(words), first.is_some());
            words += if first.is_some() { 0 } else { passes[i].words() };
        }
        words
    }

    /// Bytes of its tables.
    pub(super) fn table_bytes(&self) -> usize {
        self.offsets.iter().flatten().map(|phase| phase.len() * size_of::<Offset>()).sum()
    }
}

/// What a tap of a window adds in one dimension, see [`Tap`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Offset {
    b: usize,
    a: isize,
    pub(super) at: i64,
}

/// A tap of a window, relative to a result of the pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Tap {
    /// Its byte offset in the panel.
    pub(super) b: usize,
    /// Its byte offset in the source, for result 0 of the phase.
    pub(super) a: isize,
    /// The source coordinates that it reads for result 0.
    pub(super) at: [i64; 3],
}

/// The addresses of pixels, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place {
    /// Offset of the first.
    pub(super) base: usize,
    /// Strides of images, of groups, and of the three spatial dimensions.
    pub(super) image: usize,
    pub(super) group: usize,
    pub(super) strides: [usize; 3],
}

/// Plans `problem` on vector microkernels.
///
/// # Errors
/// Problems that the row does not take.
pub(crate) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    super::dense(problem)?;
    let jit = target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?;
    plan_on(problem, target, jit.without_amx())
}

/// Plans `problem` on AMX.
///
/// # Errors
/// Problems that the row does not take.
pub(crate) fn plan_amx(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    super::dense(problem)?;
    let jit = amx::isa(target.jit)?;
    let s = Setup::of(&problem.op)?;
    let product = product(&s)?;
    amx::check(product)?;
    if leaves_tiles_empty(&s, product) {
        return Err(Skip::Shape("groups of few channels, which fill little of a tile"));
    }
    let [lines, depth] = met(&s);
    let strided = s.direction == Direction::Scatter && s.sizes.s != [1; 3];
    let rows = sizes_of(s.result.1).iter().fold(s.sizes.mb, |n, size| n.saturating_mul(*size));
    let channels = if s.result_channel == 0 { s.sizes.oc } else { s.sizes.ic };
    let of_pixels = window::is_pointwise(&s.sizes) || s.direction == Direction::Gather && s.sizes.k == [1; 3];
    let gathered = if s.sizes.s == [1; 3] || s.sizes.o[2] >= LINES as i64 { 0.0 } else { GATHER_NS * rows as f64 };
    if of_pixels && amx::saved(product, [s.sizes.g, rows, channels, depth]) <= gathered {
        return Err(Skip::Shape("too little work for tiles of AMX"));
    }
    let in_groups = if has_few_channels(&s) { MAX_STRIDED_GROUP_DEPTH } else { 0 };
    let strided = strided && depth <= MAX_STRIDED_DEPTH[usize::from(product.is_integer())].max(in_groups);
    if strided || amx::is_shallow(product, lines, depth) {
        return Err(Skip::Shape("too little depth for tiles of AMX"));
    }
    // Rows that a tap is multiplied with, at most.
    let pixels = [s.source.1, s.result.1].map(|t| sizes_of(t).iter().fold(1_i64, |n, size| n.saturating_mul(*size)));
    let pixels = pixels[0].min(pixels[1]);
    if s.direction == Direction::Scatter && (0..3).any(|i| s.sizes.k[i] > s.sizes.s[i]) && pixels < MIN_TILE_PIXELS {
        return Err(Skip::Shape("so few pixels of an image that they fill little of a tile"));
    }
    let alike = || weights_tag(&s, jit, product) == weights_tag(&s, jit.without_amx(), product);
    if pixels.saturating_mul(s.sizes.mb) <= MAX_FEW_ROWS
        && s.weights.dims().volume().is_some_and(|n| n > target.caches.l2 as i64)
        && alike()
    {
        return Err(Skip::Shape("so few rows that weights are loaded for few products"));
    }
    plan_on(problem, target, jit)
}

/// Whether a problem has several groups, of few channels.
fn has_few_channels(s: &Setup<'_>) -> bool {
    s.sizes.g > 1 && s.sizes.ic.max(s.sizes.oc) <= MAX_FEW_CHANNELS
}

/// Refuses f32 in groups of few channels, which vectors multiply faster than AMX its copies in bf16.
///
/// # Errors
/// The reason.
pub(super) fn check_rounded(problem: &Problem) -> Result<(), Skip> {
    let few = has_few_channels(&Setup::of(&problem.op)?);
    if few { Err(Skip::Shape("groups of few channels, which fill little of a tile")) } else { Ok(()) }
}

/// Whether vectors are faster than AMX for groups of few channels, measured on Sapphire Rapids. In bf16: the reduction is shorter than
/// `MAX_FEW_CHANNELS`. In bytes: a group has fewer than twice as many source as result channels, of which vectors join several groups; or
/// little depth is read as one row of a tile.
fn leaves_tiles_empty(s: &Setup<'_>, product: DotType) -> bool {
    let (from, to) = if s.result_channel == 0 { (s.sizes.ic, s.sizes.oc) } else { (s.sizes.oc, s.sizes.ic) };
    let few = if product.is_integer() {
        let merges = s.direction == Direction::Gather && s.sizes.d[2] == 1;
        let row = if merges { from.saturating_mul(s.sizes.k[2]) } else { from };
        from < 2 * to && (2 * to <= MAX_FEW_CHANNELS || row < MIN_ROW_DEPTH)
    } else {
        s.sizes.k.iter().fold(from, |n, k| n.saturating_mul(*k)) < MAX_FEW_CHANNELS
    };
    has_few_channels(s) && few
}

/// Contiguous pieces of the source that a result reads, and elements of each.
fn met(s: &Setup<'_>) -> [i64; 2] {
    let all = |sizes: &[i64]| sizes.iter().fold(1_i64, |n, size| n.saturating_mul(*size));
    let from = if s.result_channel == 0 { s.sizes.ic } else { s.sizes.oc };
    // If the window slides over the result, strides leave each result a part of the taps.
    match s.direction {
        Direction::Gather => [all(&s.sizes.k[..2]), from.saturating_mul(s.sizes.k[2])],
        Direction::Scatter => [1, from.saturating_mul((all(&s.sizes.k) / all(&s.sizes.s).max(1)).max(1))],
    }
}

fn plan_on(problem: &Problem, target: &CpuTarget, jit: Isa) -> Result<Box<dyn Plan>, Skip> {
    let s = Setup::of(&problem.op)?;
    let product = product(&s)?;
    let tag = weights_tag(&s, jit, product);
    let problem = window::resolved(problem, ["axb", &tag])?;
    let s = Setup::of(&problem.op)?;
    portable_epilogue::check(&problem.attr, s.result.1)?;
    window::check_quantisation(&problem.attr, &s)?;
    window::check_weights(s.weights, &tag)?;
    let plan = |fills: bool| Tiles::new(&s, &problem.attr, (jit, fills), target);
    let (tiles, isa) = (plan(true)?, target.isa);
    let scratch_bytes = tiles.scratch.bytes().ok_or(TOO_LARGE)?;
    if !tiles.fills {
        return Ok(Box::new(RowPlan { problem, scratch_bytes, isa, kernel: Arc::new(tiles) }));
    }
    let other = plan(false)?;
    let scratch_bytes = scratch_bytes.max(other.scratch.bytes().ok_or(TOO_LARGE)?);
    Ok(Box::new(RowPlan { problem, scratch_bytes, isa, kernel: Arc::new(Filled { tiles, other }) }))
}

/// The shift of integer sums: the factor of the column sums of the weights that are subtracted besides the source's zero point, and whether
/// zero points differ by channel. Then whether the weights have zero points.
fn shift(s: &Setup<'_>, attr: &Attr, (product, isa): (DotType, Isa)) -> Result<(Option<Shift>, bool), Skip> {
    let (source, weights) = (attr.zero_points.get(&s.source.0), attr.zero_points.get(&Arg::WEIGHTS));
    if source.or(weights).is_some() && !product.is_integer() {
        return Err(Skip::Attr("zero points of real numbers".into()));
    }
    let by_channel = source.is_some_and(|q| q.mask == 2);
    let grouped = usize::from(s.weights.dims().len() > s.source.1.dims().len());
    let column = 1 << (grouped + s.result_channel);
    let wanted = if grouped == 1 { [0, 1, column | 1] } else { [0, column, column] };
    if source.is_some_and(|q| q.mask & !2 != 0) || weights.is_some_and(|q| !wanted.contains(&q.mask)) {
        return Err(Skip::Attr("zero points that differ by more than a channel".into()));
    }
    let flip = match product {
        DotType::S8S8 if !isa.amx => Some(Shift { flip: 128, by_channel }),
        _ => source.map(|_| Shift { flip: 0, by_channel }),
    };
    Ok((flip, weights.is_some()))
}

/// The epilogue in registers, where one is possible.
fn epilogue(s: &Setup<'_>, attr: &Attr, compensated: bool) -> Option<Arc<Epilogue>> {
    let about = EpilogueRequest {
        attr,
        dst: s.result.1,
        columns: 1,
        batch: 0,
        compensated,
        scaled: [s.source.0, Arg::WEIGHTS].iter().any(|a| attr.scales.contains_key(a)),
        biased: s.biased,
    };
    Epilogue::plan(&about).ok().map(Arc::new)
}

/// The types of the product, if microkernels exist for them.
pub(super) fn product(s: &Setup<'_>) -> Result<DotType, Skip> {
    let types = (s.source.1.dtype, s.weights.dtype);
    let product = match types {
        (DataType::F32, DataType::F32) => Some(DotType::F32),
        (DataType::Bf16, DataType::Bf16) => Some(DotType::Bf16),
        (DataType::F16, DataType::F16) => Some(DotType::F16),
        (DataType::U8, DataType::S8) => Some(DotType::U8S8),
        (DataType::S8, DataType::S8) => Some(DotType::S8S8),
        _ => None,
    };
    product.ok_or_else(|| Skip::DataType(format!("{} by {}", types.0, types.1)))
}

/// The layout that `any` resolves to for weights: panels of result channels, in these taps, in these source channels.
pub(super) fn weights_tag(s: &Setup<'_>, isa: Isa, product: DotType) -> String {
    let n = s.weights.dims().len();
    let first = usize::from(n > s.source.1.dims().len());
    let (column, depth) = (first + s.result_channel, first + 1 - s.result_channel);
    let depth: Vec<usize> = (first + 2..n).chain([depth]).collect();
    let width = panel_columns(isa, s.weights.dims()[column].max(0) as usize);
    let vnni = if in_lines(s, isa, product) { 1 } else { product.vnni() };
    let tag = panel_tag(n, &depth, column, width, vnni);
    let (channels, all) = (depth_of(s), tap_depth(s, isa, product));
    if all == channels.next_multiple_of(vnni) {
        return tag;
    }
    let (outer, inner) = tag.split_at(tag.find(|c: char| c.is_ascii_digit()).unwrap_or(tag.len()));
    let letter = char::from(b'a' + (first + 1 - s.result_channel) as u8);
    format!("{outer}{}{letter}{inner}", all / vnni)
}

/// Source channels of a group.
fn depth_of(s: &Setup<'_>) -> usize {
    let dims = s.weights.dims();
    let first = usize::from(dims.len() > s.source.1.dims().len());
    dims[first + 1 - s.result_channel].max(0) as usize
}

/// Source channels of a tap in a panel: whole steps. On AMX, windows of several taps are zero-padded to equal K blocks.
fn tap_depth(s: &Setup<'_>, isa: Isa, product: DotType) -> usize {
    let (depth, each, in_lines) = (depth_of(s), product.step_depth(), in_lines(s, isa, product));
    let steps = depth.div_ceil(each);
    let joined = if s.direction == Direction::Gather && s.sizes.d[2] == 1 { s.sizes.k[2] } else { 1 };
    let tiled = isa.amx && amx::check(product).is_ok() && s.sizes.k.iter().any(|k| *k > 1);
    if tiled && steps <= MAX_EVEN_STEPS {
        return amx::even_steps(steps, joined.max(1) as usize) * each;
    }
    depth.next_multiple_of(if in_lines { 1 } else { product.vnni() })
}

/// Whether weights of few channels keep one depth a line. A merged row of taps then does not begin and end at whole steps, so its weights
/// are packed at execution. AMX merges taps in a padded copy of the source, whose pixels are whole steps.
fn in_lines(s: &Setup<'_>, isa: Isa, product: DotType) -> bool {
    let (depth, tiled) = (depth_of(s), isa.amx && amx::check(product).is_ok());
    !tiled
        && product.vnni() > 1
        && depth < MAX_MERGED_CHANNELS
        && !depth.is_multiple_of(product.step_depth())
        && s.weights.dims().last().is_some_and(|k| *k > 1)
}

impl Place {
    /// The pixels of a tensor whose channels are contiguous.
    pub(super) fn new(tensor: &Tensor, channels: usize, what: &str) -> Result<Place, Skip> {
        let no = || Skip::Layout(format!("of the {what}: channels are not last"));
        let b = tensor.blocking().filter(|b| b.is_plain() && (b.strides[1] == 1 || tensor.dims()[1] == 1)).ok_or_else(no)?;
        let (n, size) = (tensor.dims().len(), tensor.dtype.bits() / 8);
        let strides = std::array::from_fn(|i| spatial(i, n, 2).map_or(0, |d| b.strides[d] as usize * size));
        Ok(Place { base: b.offset as usize * size, image: b.strides[0] as usize * size, group: channels * size, strides })
    }
}

/// Merges outer dimensions into the width: dimensions without a window if both tensors are contiguous there, and a dimension with a window
/// over ones without.
fn collapse(lines: &mut [Line; 3], places: [&mut Place; 2], images: &mut usize) {
    let [from, to] = places;
    let slides = |l: &Line| l.phases.len() == 1 && l.stride == 1 && l.step == 1;
    let whole = |l: &Line| slides(l) && l.phases[0].taps == [(0, 0)] && l.source == l.phases[0].count as i64;
    // The stride of an outer dimension of size 1 is meaningless.
    let chained = |outer: usize, n: usize, inner: usize| n == 1 || outer == inner;
    for i in (0..2).rev() {
        let inner = lines[2].phases.first().map_or(0, |p| p.count);
        let joins = |p: &Place, n: usize| chained(p.strides[i], n, p.strides[2] * inner);
        let n = lines[i].phases.first().map_or(0, |p| p.count);
        if !(slides(&lines[i]) && whole(&lines[2]) && joins(from, lines[i].source as usize) && joins(to, n)) {
            return;
        }
        lines.swap(i, 2);
        lines[2].source *= inner as i64;
        lines[2].phases[0].count *= inner;
        lines[2].phases[0].taps.iter_mut().for_each(|tap| tap.1 *= inner as i64);
        lines[i].phases[0].count = 1;
        lines[i].source = 1;
    }
    let inner = lines[2].phases[0].count;
    let joins = |p: &Place| chained(p.image, *images, p.strides[2] * inner);
    if whole(&lines[2]) && joins(from) && joins(to) {
        lines[2].phases[0].count *= *images;
        lines[2].source *= *images as i64;
        *images = 1;
    }
}

/// A reduction to be cut into K blocks.
#[derive(Clone, Copy)]
struct Reduction {
    product: DotType,
    /// Most taps of a tile.
    most: usize,
    /// Taps in the weights, and bytes from one to the next.
    taps: usize,
    tap_bytes: usize,
    /// Elements of a tap.
    depth: usize,
}

impl Reduction {
    /// K blocks small enough that the operands stay in L2: the whole reduction; or some neighbouring taps each; or, if a single tap is too
    /// long, equal ranges of channels for all taps.
    fn parts(&self) -> Vec<KBlock> {
        let Reduction { product, most, taps, tap_bytes, depth, .. } = *self;
        let each = product.step_depth();
        let steps = depth.div_ceil(each).max(1);
        if most * steps <= K_STEPS.window {
            return vec![self.part(most, 0..depth)];
        }
        if steps <= K_STEPS.window {
            let per = taps.div_ceil(taps.div_ceil(K_STEPS.window / steps));
            let taken = |i: usize| Some([i * per * tap_bytes, taps.min((i + 1) * per) * tap_bytes]);
            return (0..taps.div_ceil(per)).map(|i| KBlock { taken: taken(i), ..self.part(per, 0..depth) }).collect();
        }
        let pieces = (most * steps).div_ceil(K_STEPS.window).min(steps.div_ceil(16));
        let per = steps.div_ceil(pieces).next_multiple_of(16);
        (0..steps.div_ceil(per)).map(|i| self.part(most, i * per * each..depth.min((i + 1) * per * each))).collect()
    }

    /// The K block of at most `taps` taps and the given range of elements of each.
    fn part(&self, taps: usize, numbers: Range<usize>) -> KBlock {
        let each = self.product.step_depth();
        KBlock {
            taps: taps.min(self.most),
            first: numbers.start / each,
            steps: numbers.len() / each,
            k_tail: (numbers.len() % each) as u8,
            taken: None,
        }
    }
}

/// What all passes of a problem share.
struct Common<'a> {
    setup: &'a Setup<'a>,
    product: DotType,
    isa: Isa,
    epilogue: Option<Arc<Epilogue>>,
    from: Place,
    to: Place,
    images: usize,
    /// The products, and channels of each.
    units: Units,
    channels: usize,
    depth: usize,
    /// Source channels of a tap in a panel.
    tap_depth: usize,
    /// Whether results have all taps of their pass, including those on padding; else taps on padding are left out where possible.
    all_taps: bool,
    exact: bool,
    /// Padding of a copy may be the source's zero point.
    fills: bool,
    weights_shifted: bool,
    /// Columns of a panel, and bytes of one tap of it.
    width: usize,
    tap: usize,
    /// The layout of weights that are packed at execution, if they are.
    packed: Option<WeightLines>,
    /// The copy of the source that windows slide over.
    padded: Option<Padded>,
    /// Whether neighbouring taps of a line are one tap of their joint depth.
    merged: bool,
    /// Taps of each dimension by which weights are ordered.
    kernel: [usize; 3],
    target: &'a CpuTarget,
}

/// Refuses reductions that are empty, or have more K blocks than a plan should list.
fn may_be_reduced(depth: usize) -> Result<(), Skip> {
    match depth {
        0 => Err(Skip::Shape("an empty reduction")),
        1..=MOST_STEPS => Ok(()),
        _ => Err(TOO_MANY_STEPS),
    }
}

impl Tiles {
    fn new(s: &Setup<'_>, attr: &Attr, (isa, fills): (Isa, bool), target: &CpuTarget) -> Result<Tiles, Skip> {
        let (source, result, product) = (s.source.1, s.result.1, product(s)?);
        let channels = if s.result_channel == 0 { [s.sizes.oc, s.sizes.ic] } else { [s.sizes.ic, s.sizes.oc] };
        let [channels, depth] = channels.map(|n| n as usize);
        let (in_sizes, out_sizes) = (sizes_of(source), sizes_of(result));
        may_be_reduced(depth)?;
        let mut lines = geometry::lines(s.direction, &s.sizes, [out_sizes, in_sizes])?;
        let all = s.sizes.k.iter().product::<i64>() as usize;
        if all > MAX_TAPS {
            return Err(Skip::Shape("a window of more than 4096 taps"));
        }
        let (panel_width, number) = (panel_columns(isa, channels), s.weights.dtype.bits() / 8);
        let (flip, weights_shifted) = shift(s, attr, (product, isa))?;
        let vnni = if in_lines(s, isa, product) { 1 } else { product.vnni() };
        let tap_depth = tap_depth(s, isa, product);
        let tap = tap_depth * number * panel_width;
        let rows = (s.sizes.mb as usize).saturating_mul(out_sizes.iter().product::<i64>() as usize);
        let groups = s.sizes.g as usize;
        // For real numbers, the zeros between groups would turn infinities and NaN of other groups into NaN.
        let units = Units::of(isa, groups, channels, if weights_shifted || !product.is_integer() { 0 } else { rows });
        passes::fills(attr, [rows.saturating_mul(groups / units[0].joined.max(1)), channels * units[0].joined], (isa, target))?;
        let repacks = units[0].joined > 1 || in_lines(s, isa, product);
        let packing = WeightLines { groups: 1, depth, columns: channels, vnni, width: panel_width, tap, panel: all * tap };
        let mut common = Common {
            setup: s,
            product,
            isa,
            epilogue: passes::left(epilogue(s, attr, flip.is_some()).filter(|_| !weights_shifted), attr)?,
            from: Place::new(source, depth, "source")?,
            to: Place::new(result, channels, "result")?,
            images: s.sizes.mb as usize,
            units: units[0],
            channels,
            depth,
            tap_depth,
            all_taps: flip.is_some() || weights_shifted,
            fills: fills && flip.is_some_and(|shift| !shift.by_channel) && !weights_shifted,
            // AMX tiles check their sums instead.
            exact: !product.is_integer() && !isa.amx,
            weights_shifted,
            width: panel_width,
            tap,
            packed: None,
            padded: None,
            merged: false,
            kernel: s.sizes.k.map(|k| k as usize),
            target,
        };
        if common.epilogue.is_some() {
            collapse(&mut lines, [&mut common.from, &mut common.to], &mut common.images);
        }
        let source_place = common.from;
        if let Some(padded) = common.pads(&lines, (groups, &units)) {
            common.slide_over(padded, &mut lines);
        }
        let shifted = attr.zero_points.contains_key(&s.source.0);
        let fills = common.reads_zero_points(&lines, shifted);
        let mut passes = common.all_passes(&lines, units, repacks.then_some(packing), flip.map(|shift| (shift, shifted && !fills)))?;
        let packed = Pass::share(&mut passes);
        let compensation = flip.map(|shift| Compensation::new((isa, shift), common.width, &passes));
        let (columns, repeated) = (channels * groups, if flip.is_some() { passes.len().max(1) } else { 1 });
        let lines_of = |t: &Arc<Epilogue>| t.scratch(Epilogue::apart(columns).checked_mul(repeated - 1)?.checked_add(columns)?);
        let epilogue = common.epilogue.as_ref().map_or(Some(0), lines_of).ok_or(TOO_LARGE)?;
        let padded = passes.iter().flat_map(|p| &p.order.segments).any(|s| !s.exact);
        if padded && common.exact {
            return Err(Skip::Shape("a window that reads padding in more ways than are told apart"));
        }
        let steps = |p: &Pass| p.macrokernel.shape().k_blocks.iter().map(|p| p.first + p.steps + 1).max().unwrap_or(0);
        let zeros = passes.iter().map(steps).max().unwrap_or(0);
        let pixels = || (s.sizes.mb as usize).checked_mul(groups)?.checked_mul(in_sizes.iter().product::<i64>() as usize);
        let pixel_sums = if weights_shifted { pixels().ok_or(TOO_LARGE)? } else { 0 };
        let padded = common.padded.as_ref().map_or(0, |p| p.len().div_ceil(4));
        let mut tiles = Tiles {
            attr: attr.clone(),
            source: s.source.0,
            result: s.result.0,
            passes,
            from: common.from,
            to: common.to,
            padded: common.padded.map(|p| (p, source_place)),
            fills,
            sizes: in_sizes.map(|n| n as usize),
            result_channel: s.result_channel,
            groups,
            depth,
            channels,
            weights: s.weights.blocking().map_or(0, |b| b.offset as usize) * s.weights.dtype.bits() / 8,
            panel: all * tap,
            panels: channels.div_ceil(panel_width),
            panel_width,
            compensation,
            weights_shifted,
            whole: product.is_integer(),
            epilogue: common.epilogue,
            scratch: ScratchLens { zeros: zeros + 1, epilogue, pixel_sums, packed, padded, ..ScratchLens::default() },
            workers: target.threads,
        };
        tiles.scratch = tiles.scratch_lens().ok_or(TOO_LARGE)?;
        Ok(tiles)
    }

    /// How the source is widened before the products, if any pass needs that.
    pub(super) fn widens(&self) -> Option<&Upconvert> {
        self.passes.iter().find_map(|p| p.macrokernel.widens())
    }

    /// Bytes of the source's memory.
    pub(super) fn memory(&self) -> usize {
        self.passes.iter().map(|p| p.macrokernel.shape().memory).max().unwrap_or(0)
    }

    /// Most panels of a pass.
    pub(super) fn most_panels(&self) -> usize {
        self.passes.iter().map(Pass::panels).max().unwrap_or(0)
    }

    /// Elements of scratch by purpose; `None` on overflow.
    fn scratch_lens(&self) -> Option<ScratchLens> {
        let (panel_sums, channel_sums) = match &self.compensation {
            Some(c) => {
                let [panels, channels] = [self.most_panels(), self.channels.checked_mul(self.groups)?];
                (panels.checked_mul(c.width)?.checked_mul(self.passes.len())?, channels.checked_mul(self.passes.len())?)
            }
            None => (0, 0),
        };
        let mut drives = self.passes.iter().map(|p| p.macrokernel.scratch_len(self.workers));
        Some(ScratchLens {
            panel_sums,
            channel_sums,
            widened: if self.widens().is_some() { UpconvertedSources::len([self.memory(), self.scratch.zeros * 4]) } else { 0 },
            workers: drives.try_fold(0, |most, len| Some(most.max(len?)))?,
            ..self.scratch
        })
    }
}

impl Common<'_> {
    /// Bytes of the source's memory if all pixels begin at whole steps, else 0.
    fn memory(&self) -> usize {
        let Place { base, image, group, strides: [d, h, w] } = self.from;
        let whole = [base, image, group * self.units.joined, group * self.units.first, d, h, w].into_iter().all(|n| n.is_multiple_of(4));
        if whole { self.setup.source.1.bytes() } else { 0 }
    }

    /// Whether padding is read as zero points: in a copy, or by vector tiles, which read it as a row, where one pass is faster then.
    fn reads_zero_points(&self, lines: &[Line; 3], shifted: bool) -> bool {
        let sooner = || compensation::is_sooner_in_one(lines, self.images, self.tall());
        self.fills && (self.padded.is_some() || !self.isa.amx && shifted && sooner())
    }

    /// Rows of the tallest tile of vectors.
    fn tall(&self) -> usize {
        max_tile_rows(self.isa, self.product, self.width / self.isa.width().lanes())
    }

    /// Bytes of source and result pixels with all groups, for each row of a product of one group.
    fn joint_row_bytes(&self) -> usize {
        let s = self.setup;
        let rows = sizes_of(s.result.1).iter().fold(s.sizes.mb, |n, size| n.saturating_mul(*size)).max(1);
        if s.sizes.g > 1 { (s.source.1.bytes() + s.result.1.bytes()) / rows as usize } else { 0 }
    }

    /// The passes of all products. `packing` is the layout of weights that are packed at execution, `shift` how integer sums are
    /// compensated.
    fn all_passes(
        &mut self,
        lines: &[Line; 3],
        units: Vec<Units>,
        packing: Option<WeightLines>,
        shift: Option<(Shift, bool)>,
    ) -> Result<Vec<Pass>, Skip> {
        let (channels, depth, mut passes) = (self.channels, self.depth, Vec::new());
        for units in units {
            self.units = units;
            (self.channels, self.depth) = (channels * units.joined, depth * units.joined);
            if self.padded.is_some() && packing.is_none() {
                self.depth = self.tap_depth;
            }
            self.width = panel_columns(self.isa, self.channels);
            self.packed = packing.map(|packing| WeightLines { groups: units.joined, ..packing });
            passes.extend(match shift {
                Some((shift, shifted)) => self.compensated(lines, shift, shifted)?,
                None => self.passes(lines.clone()),
            });
        }
        Ok(passes)
    }

    /// Cuts the results into passes.
    fn passes(&mut self, lines: [Line; 3]) -> Vec<Pass> {
        let s = self.setup;
        let copied = self.epilogue.as_deref() == Some(&Epilogue::raw()) && self.to.strides[2] == self.channels * size_of::<f32>();
        let subpixel = (copied && self.product == DotType::F32 && s.sizes.g == 1)
            .then(|| SubPixel::new(&lines, self.channels, self.depth, self.kernel))
            .flatten();
        if let Some(subpixel) = subpixel.filter(|j| j.columns() <= panel_columns(self.isa, j.columns())) {
            self.epilogue = None;
            return vec![Pass::subpixel(self, subpixel)];
        }
        if self.padded.is_some() {
            self.merged = self.joins(s.source.1.dtype.bits() / 8);
            return vec![Pass::new(self, lines)];
        }
        let runs =
            if !self.all_taps && self.merges(s.source.1.dtype.bits() / 8) { Run::all(&lines[2].phases[0], &lines[2]) } else { Vec::new() };
        self.merged = (1..=MAX_PASSES).contains(&runs.len());
        if !self.merged {
            return vec![Pass::new(self, lines)];
        }
        let line = |r: &Run| lines[2].part(0, r.first, r.count, r.taps.clone());
        runs.iter().map(|r| Pass::new(self, [lines[0].clone(), lines[1].clone(), line(r)])).collect()
    }

    /// The passes of compensated integer sums, where the source has a zero point or not.
    fn compensated(&mut self, lines: &[Line; 3], shift: Shift, shifted: bool) -> Result<Vec<Pass>, Skip> {
        let shifted = shifted || !self.isa.amx && compensation::is_later_in_one(lines, self.images, self.tall());
        // Passes are then cut at padding anyway, so merging taps adds none.
        let parted = shifted || lines[2].phases.iter().all(|p| p.count > MAX_UNMERGED_LINE);
        let (size, padded) = (self.setup.source.1.dtype.bits() / 8, self.padded.is_some());
        let merges = if padded { self.joins(size) } else { parted && self.merges(size) };
        self.merged = merges && !self.weights_shifted && !shift.by_channel;
        let parts = compensation::passes(lines, shifted || self.merged && !padded)?;
        let all = if parts.is_empty() { vec![lines.clone()] } else { parts };
        Ok(all.into_iter().map(|lines| Pass::new(self, lines)).collect())
    }

    /// Whether neighbouring taps of a line can be merged: few channels, contiguous in source and weights.
    fn merges(&self, size: usize) -> bool {
        self.joins(size) && self.depth < MAX_MERGED_CHANNELS
    }

    /// The same for any number of channels.
    fn joins(&self, size: usize) -> bool {
        let s = &self.setup.sizes;
        let adjoin = self.packed.is_some() || self.depth == self.tap_depth;
        let dense = self.from.strides[2] == self.depth * size && adjoin;
        self.setup.direction == Direction::Gather && dense && s.d[2] == 1 && s.k[2] > 1
    }

    /// Makes the padded copy the source of the windows.
    fn slide_over(&mut self, padded: Padded, lines: &mut [Line; 3]) {
        (self.from, self.images) = (padded.place(&self.from), padded.images);
        lines[1].phases.iter_mut().for_each(|phase| phase.count = phase.count.min(padded.lines));
        self.padded = Some(padded);
    }

    /// The padded copy of the source for AMX, if one is worth making.
    fn pads(&self, lines: &[Line; 3], (groups, units): (usize, &[Units])) -> Option<Padded> {
        let (s, size) = (self.setup, self.setup.source.1.dtype.bits() / 8);
        let all: usize = lines.iter().map(|line| line.phases.iter().map(|p| p.count).sum::<usize>()).product();
        let epilogue = self.epilogue.as_ref()?;
        let repeats = epilogue.is_repeatable();
        let watched = self.product.is_integer() || repeats || all > ROWS;
        let fits =
            self.isa.amx && amx::check(self.product).is_ok() && (self.fills || !self.all_taps) && s.sizes.k.iter().product::<i64>() > 1;
        if !fits {
            return None;
        }
        let separate = units.len() == 1 && units[0].joined == 1;
        let depth = if separate { self.tap_depth } else { self.depth };
        let (of, joined) = if separate { (groups, 1) } else { (1, groups) };
        let (bytes, pixel) = (self.depth * joined * size, depth * joined * size);
        let budget = self.target.caches.l2 * self.target.threads.max(1);
        let request = CopyRequest {
            images: self.images,
            groups: of,
            bytes,
            pixel,
            columns: self.channels * joined,
            budget,
            panels: self.target.caches.budget(true).panels,
            watched,
            repeats,
            by_column: epilogue.is_by_column(),
            fills: self.fills,
        };
        Padded::new(lines, request)
    }
}

impl Pass {
    /// What the taps of a segment add in a dimension.
    pub(super) fn offsets(&self, segment: &Segment, dim: usize) -> &[Offset] {
        &self.offsets[dim][segment.phases[dim]][segment.taps[dim].clone()]
    }

    /// Calls `each` with the taps of a segment, in order.
    #[inline(always)]
    pub(super) fn taps(&self, segment: &Segment, mut each: impl FnMut(Tap)) {
        let [depth, height, width] = [0, 1, 2].map(|dim| self.offsets(segment, dim));
        for d in depth {
            for h in height {
                let (b, a) = (d.b + h.b, d.a + h.a);
                width.iter().for_each(|w| each(Tap { b: b + w.b, a: a + w.a, at: [d.at, h.at, w.at] }));
            }
        }
    }

    /// All phases as one product.
    fn subpixel(c: &Common<'_>, subpixel: SubPixel) -> Pass {
        let (channels, kernel) = (subpixel.columns(), subpixel.taps());
        let width = panel_columns(c.isa, channels);
        let packed = WeightLines { groups: 1, depth: c.depth, columns: channels, vnni: 1, width, tap: 0, panel: 0 };
        let c = Common {
            channels,
            kernel,
            width,
            tap: c.depth * width * 4,
            epilogue: None,
            packed: Some(packed),
            padded: None,
            merged: false,
            ..*c
        };
        Pass { subpixel: Some(subpixel.clone()), ..Pass::new(&c, subpixel.lines()) }
    }

    fn new(c: &Common<'_>, lines: [Line; 3]) -> Pass {
        let (k, each) = (c.kernel, c.product.step_depth());
        let size = c.setup.source.1.dtype.bits() / 8;
        let merged = c.merged;
        let joint = if merged { lines[2].phases[0].taps.len() } else { 1 };
        let packed = c.packed.map(|from| {
            let first = if merged { lines[2].phases[0].taps.first().map_or(0, |t| t.0 as usize) } else { 0 };
            let taps = k[0] * k[1] * if merged { 1 } else { k[2] };
            let tap_lines = c.depth * if merged { k[2] } else { 1 };
            let lines = c.depth * joint;
            let steps = lines.div_ceil(each);
            Packed { tap_lines, lines, first: first * c.depth, taps, steps, width: c.width, step: each, vnni: c.product.vnni(), from }
        });
        let tap_bytes = packed.map_or(c.tap, |p| p.steps * p.width * 4);
        let across = if merged && c.packed.is_some() { [k[1], 1, 0] } else { [k[1] * k[2], k[2], 1] };
        let b = across.map(|x| x * tap_bytes);
        let on_amx = c.isa.amx && amx::check(c.product).is_ok();
        let rows = if on_amx { ROWS } else { max_tile_rows(c.isa, c.product, c.width / c.isa.width().lanes()) };
        let mut order = Order::new(
            c.padded.as_ref().map(|p| p.lines(&lines)).as_ref().unwrap_or(&lines),
            Cut { images: c.images, rows, on_amx, all_taps: c.all_taps, exact: c.exact || c.padded.is_some() },
        );
        order.segments.iter_mut().for_each(|s| s.taps[2].end = s.taps[2].end.min(s.taps[2].start + s.taps[2].len() / joint.max(1)));
        let offsets = std::array::from_fn(|i| {
            let offset = |t: &(i64, i64)| Offset { b: t.0 as usize * b[i], a: t.1 as isize * c.from.strides[i] as isize, at: t.1 };
            lines[i].phases.iter().map(|phase| phase.taps.iter().map(offset).collect()).collect()
        });
        let most = order.segments.iter().map(Segment::all_taps).max().unwrap_or(0);
        let (all, tap_bytes) = if merged { (k[0] * k[1], b[1]) } else { (k.iter().product(), tap_bytes) };
        let stretches: Vec<usize> = order.segments.iter().map(|s| s.rows).collect();
        let reduction = Reduction { product: c.product, most, taps: all, tap_bytes, depth: c.depth * joint };
        let met = stretches.iter().sum::<usize>().saturating_mul(most * c.depth * joint * size);
        let shape = Shape {
            units: c.units.count,
            rows: stretches,
            even: false,
            columns: c.channels,
            panel: c.width,
            panel_bytes: packed.map_or(k.iter().product::<usize>() * c.tap, |p| p.words() * 4),
            memory: c.memory(),
            k_blocks: reduction.parts(),
            source: met.min(c.setup.sizes.mb as usize * c.from.image),
            product: c.product,
            b_layout: BLayout::Panels,
            a_step: Stride::Fixed(4),
            joint_row_bytes: c.joint_row_bytes(),
            begins: false,
            padded: c.padded.is_some(),
            epilogue: c.epilogue.clone(),
        };
        let line = |s: &Segment| match (s.exact, s.patches.len()) {
            (true, 1) => order.patches[s.patches.start].count[2],
            (exact, _) => s.rows * usize::from(exact),
        };
        let macrokernel = Macrokernel::new(c.isa, shape, &order.segments.iter().map(line).collect::<Vec<_>>(), c.target);
        let steps = (c.depth * joint).div_ceil(each);
        Pass {
            units: c.units,
            lines,
            order,
            offsets,
            packed,
            packed_at: 0,
            shared: false,
            steps,
            joined: joint.max(1),
            subpixel: None,
            macrokernel,
        }
    }
}

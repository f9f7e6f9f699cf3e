//! `winograd:jit`: 3x3 windows of stride 1 by Winograd's `F(4x4, 3x3)`, with a quarter of the multiplications; forward, and backward by
//! data. Only if the algorithm is `winograd`, or `auto` and this is faster.
//!
//! # Weights
//!
//! Weights have the panels of the direct row and are transformed in every execution, for three reasons. Transformed weights would be four
//! times as large, more than L3 holds for the last stage of a residual network. What `any` resolves to must not depend on the image size,
//! so they would have to be used for every size, also where direct convolution is faster. And memory packed for one algorithm would not
//! serve the other. A transform takes about 40 cycles for a vector of weights, the products of a single tile 18 for the same vector: with
//! 16 tiles it is an eighth of the time, with 200 nothing.
//!
//! # Two loop orders
//!
//! With many tiles, all weights are transformed first, in parallel, and tasks are blocks of tiles: source transform, products for a panel
//! of result channels at a time, result transform. With few tiles the weights are the large operand: then all source tiles are transformed
//! first, and tasks are one or two vectors of result channels, whose weights are transformed a few at a time just before they are
//! multiplied.
//!
//! Both add sums in the order of channels, so results are equal.

mod execute;

use super::window::{self, Setup};
use crate::CpuTarget;
use crate::decision::{How, padding};
use crate::hardware::Core;
use crate::kernels::microkernel::Epilogue;
use crate::kernels::microkernel::epilogue::EpilogueRequest;
use crate::kernels::microkernel::layout::{panel_columns, panel_tag};
use crate::kernels::portable_epilogue;
use crate::kernels::scratch::{booked, for_workers};
use crate::kernels::winograd::{FusedMultiply, Multiply, POSITIONS, RESULTS, SIDE, Transforms, heights, tallest};
use crate::row::RowPlan;
use oxidnn_jit::Isa;
use oxidnn_jit::kernels::winograd::products::Products;
use oxidnn_runtime::{Plan, Skip};
use oxidnn_spec::op::{ConvAlg, ConvSizes};
use oxidnn_spec::{Arg, Attr, DataType, Error, Op, Problem, Tensor};

/// Most elements of transformed source and sums of a task over tiles: they stay in L2 beside a panel of weights.
const MAX_TASK_ELEMENTS: usize = 128 * 1024;
/// Up to this number of tiles, weights are transformed just before they are multiplied.
const MAX_LATE_WEIGHT_TILES: usize = 32;
/// Up to this number of tiles, the sums of two vectors of result channels stay in L1.
const MAX_PAIRED_TILES: usize = 16;
/// The number of tasks over tiles is a multiple of this.
const TASK_COUNT_MULTIPLE: usize = 4;

/// A planned problem.
#[derive(Debug)]
pub(super) struct Winograd {
    attr: Attr,
    source: Arg,
    result: Arg,
    isa: Isa,
    lanes: usize,
    /// Source and result channels.
    depth: usize,
    channels: usize,
    result_channel: usize,
    /// Columns of a panel.
    panel: usize,
    images: usize,
    /// Tiles of an image down and across.
    tiles: [usize; 2],
    /// Source coordinates of the first pixel of the first tile.
    low: [i64; 2],
    source_sizes: [usize; 2],
    result_sizes: [usize; 2],
    from: Place,
    to: Place,
    /// The epilogue of results in registers.
    epilogue: Epilogue,
    /// Byte offset of the weights.
    weights: usize,
    order: LoopOrder,
    workers: usize,
}

/// How work is cut into tasks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum LoopOrder {
    /// A number of tasks over tiles.
    Tiles(usize),
    /// A task for `task` vectors of result channels, `each` of them at a time.
    Channels { task: usize, each: usize },
}

/// Where vectors of channels are: bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Place {
    base: usize,
    image: usize,
    row: usize,
    pixel: usize,
    channel: usize,
}

/// The kernels.
#[derive(Debug)]
pub(super) struct Code {
    transforms: Transforms,
    /// By rows, and for all panels but the last and for the last.
    multiply: Vec<[Option<Multiply>; 2]>,
    fused: Option<FusedMultiply>,
}

/// Elements of scratch of an execution.
#[derive(Clone, Copy, Debug)]
struct ScratchLens {
    /// A row of zeros for pixels of padding.
    zeros: usize,
    /// Operands of the epilogue.
    epilogue: usize,
    /// Transformed weights or source, which all workers read.
    shared: usize,
    /// Scratch of the workers.
    workers: usize,
}

impl ScratchLens {
    /// Bytes in total; `None` on overflow.
    fn bytes(self) -> Option<usize> {
        let ScratchLens { zeros, epilogue, shared, workers } = self;
        booked(&[zeros, epilogue, shared, workers])
    }
}

/// Plans `problem`.
///
/// # Errors
/// Problems that the row does not take.
pub(super) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let isa = target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?;
    let mut problem = problem.clone();
    let alg = match &mut problem.op {
        Op::Conv(conv) if conv.alg != ConvAlg::Direct => std::mem::replace(&mut conv.alg, ConvAlg::Winograd),
        _ => return Err(Skip::Op("the direct algorithm")),
    };
    let s = Setup::of(&problem.op)?;
    check(&s, isa, alg)?;
    let tag = weights_tag(&s, isa);
    let problem = window::resolved(&problem, ["axb", &tag])?;
    let s = Setup::of(&problem.op)?;
    portable_epilogue::check(&problem.attr, s.result.1)?;
    window::check_quantisation(&problem.attr, &s)?;
    window::check_weights(s.weights, &tag)?;
    let kernel = Winograd::new(&s, &problem.attr, isa, target)?;
    RowPlan::of(problem, target, kernel.scratch().and_then(ScratchLens::bytes), kernel)
}

/// Whether the transforms take a problem, and, if the algorithm is `auto`, whether they are faster.
fn check(s: &Setup<'_>, isa: Isa, alg: ConvAlg) -> Result<(), Skip> {
    let ConvSizes { g, ic, oc, k, s: strides, d, .. } = s.sizes;
    if s.source.1.dims().len() != 4 || g != 1 {
        return Err(Skip::Shape("other than two spatial dimensions, or groups"));
    }
    if k != [1, 3, 3] || strides != [1; 3] || d != [1; 3] {
        return Err(Skip::Shape("other than 3x3 windows of stride 1"));
    }
    if [s.source.1, s.weights].iter().any(|t| t.dtype != DataType::F32) {
        return Err(Skip::DataType(format!("{} by {}", s.source.1.dtype, s.weights.dtype)));
    }
    let lanes = isa.width().lanes() as i64;
    if ic % lanes != 0 || oc % lanes != 0 || s.sizes.mb * ic * oc == 0 || s.result.1.is_empty() {
        return Err(Skip::Shape("channels that do not fill vectors"));
    }
    if alg == ConvAlg::Auto && !is_faster(s, lanes as f64) { Err(Skip::Shape("direct windows are faster")) } else { Ok(()) }
}

/// Compares the cycles of direct convolution with those of the transforms and their products, at two vectors of multiply-adds a cycle.
fn is_faster(s: &Setup<'_>, lanes: f64) -> bool {
    let (ic, oc) = (s.sizes.ic as f64, s.sizes.oc as f64);
    let [.., h, w] = **s.result.1.dims() else { return false };
    let images = s.sizes.mb as f64;
    let tiles = images * ((h + 3) / 4 * ((w + 3) / 4)) as f64;
    let direct = images * (h * w) as f64 * 9.0 * ic * oc / lanes / 2.0;
    let products = tiles * POSITIONS as f64 * ic * oc / lanes / 2.0;
    let transforms = tiles * (ic + oc) / lanes * 90.0 + ic * oc / lanes * 45.0;
    (products * 1.15 + transforms) * 1.1 < direct
}

/// The layout that `any` resolves to for weights: that of the direct row.
fn weights_tag(s: &Setup<'_>, isa: Isa) -> String {
    let (column, other) = (s.result_channel, 1 - s.result_channel);
    let width = panel_columns(isa, s.weights.dims()[column].max(0) as usize);
    panel_tag(4, &[2, 3, other], column, width, 1)
}

impl Place {
    /// The vectors of a tensor whose channels are contiguous in at least whole vectors.
    fn new(tensor: &Tensor, lanes: usize) -> Option<Place> {
        let (b, size) = (tensor.blocking()?, tensor.dtype.bits() / 8);
        let bytes = |elements: i64| usize::try_from(elements).ok()?.checked_mul(size);
        let stride = |d: usize| bytes(b.strides[d]);
        let (pixel, channel) = match b.inner.iter().next() {
            None if b.strides[1] == 1 => (stride(3)?, lanes * size),
            Some((1, block)) if b.inner.len() == 1 && block == lanes as i64 => (stride(3)?, stride(1)?),
            _ => return None,
        };
        if b.padded_offsets.iter().any(|o| *o != 0) {
            return None;
        }
        Some(Place { base: bytes(b.offset)?, image: stride(0)?, row: stride(2)?, pixel, channel })
    }
}

impl Winograd {
    fn new(s: &Setup<'_>, attr: &Attr, isa: Isa, target: &CpuTarget) -> Result<Winograd, Skip> {
        let lanes = isa.width().lanes();
        let sizes = |t: &Tensor| [t.dims()[2] as usize, t.dims()[3] as usize];
        let (source_sizes, result_sizes) = (sizes(s.source.1), sizes(s.result.1));
        // Backward, the window is mirrored: it begins two pixels minus the padding before a result.
        let before = |pl: i64| if s.result_channel == 0 { -pl } else { pl - 2 };
        let depth = (if s.result_channel == 0 { s.sizes.ic } else { s.sizes.oc }) as usize;
        let channels = (if s.result_channel == 0 { s.sizes.oc } else { s.sizes.ic }) as usize;
        let scaled = [s.source.0, Arg::WEIGHTS].iter().any(|a| attr.scales.contains_key(a));
        let about = EpilogueRequest { attr, dst: s.result.1, columns: 1, batch: 0, compensated: false, scaled, biased: s.biased };
        let from = Place::new(s.source.1, lanes).ok_or(Skip::Layout("of the source: channels are not next to each other".into()))?;
        let weights = s.weights.blocking().map_or(0, |b| b.offset as usize * 4);
        let tiles = result_sizes.map(|n| n.div_ceil(RESULTS));
        let mut plan = Winograd {
            attr: attr.clone(),
            source: s.source.0,
            result: s.result.0,
            isa,
            lanes,
            depth,
            channels,
            result_channel: s.result_channel,
            panel: panel_columns(isa, channels),
            images: s.sizes.mb as usize,
            tiles,
            low: [before(s.sizes.pl[1]), before(s.sizes.pl[2])],
            source_sizes,
            result_sizes,
            from,
            to: Place::new(s.result.1, lanes).ok_or(Skip::Layout("of the result: channels are not next to each other".into()))?,
            epilogue: Epilogue::of(&about)?,
            weights,
            order: LoopOrder::Tiles(1),
            workers: target.threads,
        };
        let all = plan.images.checked_mul(tiles[0] * tiles[1]).ok_or(Skip::Shape("too many tiles"))?;
        let vectors = plan.panel / lanes;
        if all > MAX_LATE_WEIGHT_TILES {
            let tall = tallest(isa, vectors);
            let each = (MAX_TASK_ELEMENTS / (POSITIONS * (plan.depth + plan.panel))).max(tall * 4);
            let tasks = all.div_ceil(each).next_multiple_of(TASK_COUNT_MULTIPLE);
            plan.order = LoopOrder::Tiles(tasks.min(all.div_ceil(tall * 2)).max(1));
        } else {
            let whole = channels.is_multiple_of(plan.panel);
            let each = if all <= MAX_PAIRED_TILES && whole && vectors.is_multiple_of(2) { 2 } else { 1 };
            plan.order = LoopOrder::Channels { task: if whole && plan.panels() >= TASK_COUNT_MULTIPLE { vectors } else { each }, each };
        }
        Ok(plan)
    }

    /// Tiles of all images.
    fn all(&self) -> usize {
        self.images * self.tiles[0] * self.tiles[1]
    }

    /// Most tiles of a task.
    fn most(&self) -> usize {
        match self.order {
            LoopOrder::Tiles(tasks) => self.all().div_ceil(tasks),
            LoopOrder::Channels { .. } => self.all(),
        }
    }

    fn panels(&self) -> usize {
        self.channels.div_ceil(self.panel)
    }

    /// Vectors of source channels.
    fn chunks(&self) -> usize {
        self.depth / self.lanes
    }

    /// Vectors of result channels that a task computes at a time.
    fn vectors(&self) -> usize {
        match self.order {
            LoopOrder::Tiles(_) => self.panel / self.lanes,
            LoopOrder::Channels { each, .. } => each,
        }
    }

    /// Elements from a position of the transformed source to the next, an odd number of vectors so that positions do not map to the same
    /// cache sets; and from a chunk to the next.
    fn source_steps(&self) -> [usize; 2] {
        let position = (self.most() | 1) * self.lanes;
        [position, POSITIONS * position]
    }

    /// Elements from a position of a chunk of transformed weights to the next, and from a chunk to the next.
    fn weight_steps(&self) -> [usize; 2] {
        let position = (self.panel + 1) * self.lanes;
        [position, POSITIONS * position]
    }

    /// Elements from a position of the sums to the next.
    fn sum_position(&self) -> usize {
        ((self.most() * self.vectors()) | 1) * self.lanes
    }

    /// Blocks and the caches they stay in, and the predicted speed: a quarter of the direct algorithm's multiplications, and half as many
    /// again for transforms.
    pub(super) fn how(&self) -> How {
        let scratch = self.scratch().map_or([0; 2], |s| [s.shared * 4, s.workers * 4 / self.workers.max(1)]);
        let shared = match self.order {
            LoopOrder::Tiles(_) => "weights",
            LoopOrder::Channels { .. } => "source tiles",
        };
        How::new("Winograd's F(4x4, 3x3)", Core::host().rate(self.lanes, 1), self.workers)
            .registers(
                format!("sums of tiles by {} columns at a position", self.panel),
                self.panel * 4 * tallest(self.isa, self.panel / self.lanes),
            )
            .block(format!("{shared} at {POSITIONS} positions, which all workers read"), scratch[0])
            .block("what a worker transforms and multiplies at a time", scratch[1])
            .padding(padding(self.channels, self.lanes) * 3.0 / 8.0)
            .copies(scratch[0])
    }

    /// Elements of the sums of a task.
    fn sums(&self) -> Option<usize> {
        let groups = if let LoopOrder::Channels { task, each } = self.order { task / each } else { 1 };
        POSITIONS.checked_mul(self.sum_position())?.checked_mul(groups)
    }

    /// Elements of scratch.
    fn scratch(&self) -> Option<ScratchLens> {
        let sums = self.sums()?;
        let zeros = (self.from.pixel / 4).checked_mul(SIDE - 1)?.checked_add(self.lanes)?;
        let source = self.source_steps()[1].checked_mul(self.chunks())?;
        let (shared, own) = match self.order {
            LoopOrder::Tiles(_) => (self.weight_steps()[1].checked_mul(self.chunks() * self.panels())?, source),
            LoopOrder::Channels { each, .. } => (source, FusedMultiply::scratch(self.isa, each)),
        };
        Some(ScratchLens {
            zeros,
            epilogue: self.epilogue.scratch(self.channels)?,
            shared,
            workers: for_workers(self.workers, sums.checked_add(own)?)?,
        })
    }

    /// Vectors of panel `panel`.
    fn panel_vectors(&self, panel: usize) -> usize {
        self.panel.min(self.channels - panel * self.panel) / self.lanes
    }

    fn make(&self) -> Result<Code, Error> {
        let mut code = Code { transforms: Transforms::get(self.isa, self.epilogue.clone())?, multiply: Vec::new(), fused: None };
        let tasks = match self.order {
            LoopOrder::Channels { each, .. } => {
                code.fused = Some(FusedMultiply::get(self.isa, heights(self.all(), tallest(self.isa, each)).0, each)?);
                return Ok(code);
            }
            LoopOrder::Tiles(tasks) => tasks,
        };
        let tall = tallest(self.isa, self.panel / self.lanes);
        code.multiply = vec![[None, None]; tall + 1];
        let line = (self.panel / self.lanes) as u8;
        for tiles in [self.all() / tasks, self.all().div_ceil(tasks)] {
            let rows = heights(tiles, tall).0;
            for panel in 0..self.panels() {
                let last = usize::from(panel + 1 == self.panels());
                if code.multiply[rows][last].is_none() {
                    let key = Products { rows: rows as u8, vectors: self.panel_vectors(panel) as u8, line };
                    code.multiply[rows][last] = Some(Multiply::get(self.isa, key)?);
                }
            }
        }
        Ok(code)
    }
}

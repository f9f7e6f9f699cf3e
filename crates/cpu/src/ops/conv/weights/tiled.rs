//! `bwd_weights:jit` and `bwd_weights:amx`: gradients of weights of convolution, deconvolution and inner product, on generated
//! microkernels.
//!
//! `dW[y, x, k] = sum over images and places o of X[x, o * s - pl + k * d] * Y[y, o]`. One operand gives the columns of the product: the
//! one whose channels the gradient has in panels. The other gives the rows. The depth of the product is pixels, and both operands are read
//! pixel by pixel with contiguous channels. 16-bit elements are multiplied in pairs: of two images, or of the two halves of one
//! ([`Halves`]).
//!
//! A task has a block of rows by some panels with all taps. It iterates over boxes of pixels: operands that are not suitable in place are
//! copied (see [`side`](super::side)), then the tiles of each tap are multiplied over the pixels inside the image. With several boxes, sums
//! are accumulated in scratch. AMX needs the pixels of a row contiguous, so for AMX rows are transposed: copied channel by channel.
//!
//! For small gradients the boxes are split into slices, which are summed separately and added in order. The slices depend on the problem
//! alone, so results do not depend on the number of threads, which decides only how finely rows and panels are cut.

use super::side::{Dim, Grid, Halves, Roles, Strides};
use super::{Setup, cost, window};
use crate::CpuTarget;
use crate::decision::{How, PORTABLE, padding};
use crate::hardware::Core;
use crate::kernels::access::Axis;
use crate::kernels::amx::{self, Accumulate};
use crate::kernels::microkernel::layout::{panel_columns, panel_tag, vnni_factor};
use crate::kernels::microkernel::{
    AddressList, DotType, Epilogue, InitialSums, LineStride, MOST_ROWS, Microkernel, MicrokernelKey, PrefetchMode, Stride, max_tile_rows,
};
use crate::kernels::portable_epilogue;
use crate::kernels::scratch::{Lens, for_workers};
use crate::kernels::transpose::RegisterTranspose;
use crate::ops::conv::dense;
use crate::ops::support;
use crate::row::{RowPlan, TOO_LARGE};
use oxidnn_jit::Isa;
use oxidnn_jit::kernels::tiles::{LINES, ROWS};
use oxidnn_runtime::{Plan, Skip};
use oxidnn_spec::{Arg, Attr, Blocking, DataType, Error, Problem, Tensor};
use std::sync::Arc;

/// Steps of a box times columns of a panel: a panel stays in a near cache, and sums stay in registers for long.
const BOX_STEPS_BY_COLUMNS: usize = 512 * MAX_PANEL_COLUMNS;
/// The same for merged taps: neighbouring boxes share pixels of the operand, which are copied for both.
const MERGED_STEPS_BY_COLUMNS: usize = 1024 * MAX_PANEL_COLUMNS;
/// Boxes that remain if steps are raised for few columns.
const MIN_BOXES: usize = 4;
/// Steps of a row of an image below which images are put side by side on AMX, and steps that rows have then.
const MIN_ROW_STEPS: usize = 14;
const JOINT_ROW_STEPS: usize = 24;
/// Places of an image up to which it is not split into halves.
const MAX_UNSPLIT_PLACES: usize = 64;
/// Least rows of a block when blocks are cut.
const MIN_BLOCK_ROWS: usize = 48;
/// Columns of the widest panel.
pub(crate) const MAX_PANEL_COLUMNS: usize = 64;
/// Bytes of a gradient in slices, all slices together.
const MAX_SLICES_BYTES: usize = 1 << 20;
/// Most slices.
const MAX_SLICES: usize = 16;
/// Rows over all taps up to which columns are not copied to panels.
const MAX_UNPACKED_ROWS: usize = 2 * CACHE_LINE_ELEMENTS;
/// Channels of a block from which on rows are read in place: tiles do not cross blocks.
const MIN_ROWS_IN_PLACE: usize = 8;
/// Most bytes between pixels for reading rows in place.
const MAX_PIXEL_STRIDE: usize = 2048;
/// The same if the bytes are an odd number of cache lines, which spreads pixels over all sets of L1.
const MAX_ODD_PIXEL_STRIDE: usize = 4096;
/// Elements below which storing a gradient one by one does no harm.
const MAX_SCATTERED_ELEMENTS: i64 = 1 << 9;
/// Words of the tiles that are listed for a call, unless a single tile has more.
const LIST_WORDS: usize = 512;
/// Multiply-adds that are begun before the first is done.
const LATENCY: usize = 4;
/// Vectors of multiply-adds in the time that it takes to store a number of a gradient beside those of other lines.
const VECTORS_PER_STORED: usize = 16;
/// Elements of a cache line.
const CACHE_LINE_ELEMENTS: usize = 16;
/// Channels of rows that are transposed together for AMX.
pub(crate) const TRANSPOSED_CHANNELS: usize = 64;

/// One operand.
#[derive(Debug)]
pub(crate) struct Side {
    pub(crate) arg: Arg,
    pub(crate) roles: Roles,
    pub(crate) grid: Grid,
    /// Channels of a group, channels of a block, and number of blocks. Blocks of columns are whole panels.
    pub(crate) channels: usize,
    pub(crate) each: usize,
    pub(crate) blocks: usize,
    /// Strides, if channels are contiguous.
    pub(crate) strides: Option<Strides>,
    /// Whether the operand is read in place.
    pub(crate) in_place: bool,
    /// Words of a copy.
    pub(crate) copy: usize,
}

/// Bytes of L2 for each purpose.
#[derive(Clone, Copy, Debug)]
struct Budget {
    /// Sums of a block, if they are carried from box to box; sums of a tap and panel, if they are stored at once.
    sums: usize,
    hot: usize,
    /// The rows of a box, and the panels of a box that are packed together.
    rows: usize,
    panels: usize,
    /// Size of an operand above which tiles prefetch.
    far: usize,
    /// Bytes of L1 for panels that are read in place.
    near: usize,
}

impl Budget {
    fn of(target: &CpuTarget) -> Budget {
        let l2 = target.caches.l2;
        // Measured with 1 MiB of L2. With half as much the operands get the same number of bytes, since they are read in long runs.
        let boxes = l2.max((2 * l2).min(1 << 20));
        Budget { sums: l2, hot: l2 / 16, rows: boxes / 16 * 5, panels: boxes / 8, far: l2 / 2, near: target.caches.l1 }
    }
}

/// The microkernels that multiply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Engine {
    /// Those of `kernels::dot`, over copies of both operands as f32.
    Portable,
    /// Generated, on vectors of this instruction set.
    Vectors(Isa),
    /// Generated, on AMX: rows are copied channel by channel.
    Amx(Isa),
}

impl Engine {
    /// The engine of generated code.
    pub(crate) fn of(isa: Isa) -> Engine {
        if isa.amx { Engine::Amx(isa) } else { Engine::Vectors(isa) }
    }
}

/// A planned gradient.
#[derive(Debug)]
pub(crate) struct Gradient {
    pub(crate) attr: Attr,
    pub(crate) engine: Engine,
    pub(crate) isa: Isa,
    pub(crate) product: DotType,
    /// The operands that give the rows and the columns, and whether the window slides over the former.
    pub(crate) rows: Side,
    pub(crate) columns: Side,
    pub(crate) rows_slide: bool,
    /// Products, and the groups joined in each, of which only the diagonal blocks are the gradient.
    pub(crate) groups: usize,
    pub(crate) joined: usize,
    pub(crate) images: usize,
    /// Depths in a word, and the halves of an image that share words, if not images do.
    pub(crate) vnni: usize,
    pub(crate) halves: Option<Halves>,
    /// Words of a pixel: images side by side, so that the rows of small images are one long part of the reduction. 1 except on AMX.
    pub(crate) side_by_side: usize,
    /// Columns of a panel, and whether its lines are at other strides than a panel's: in place, or copied without padding to the panel.
    pub(crate) panel: usize,
    pub(crate) strided_lines: bool,
    /// Panels that are packed together.
    pub(crate) panels_at_once: usize,
    /// Distance of the taps of a window row that are multiplied in one call on AMX; all taps of a row if each has a call of its own.
    pub(crate) taps_apart: usize,
    /// Panels, and taps of each, whose sums are kept at the same time.
    pub(crate) kept: [usize; 2],
    /// Places of a box (first groups of images), and numbers of boxes.
    pub(crate) each: [usize; 4],
    pub(crate) boxes: [usize; 4],
    pub(crate) slices: usize,
    pub(crate) workers: usize,
    budget: Budget,
    /// Words of the table of the parts of a tap's reduction.
    pub(crate) pairs: usize,
    /// Elements of the sums of a block, and of a worker's address table.
    pub(crate) sums: usize,
    pub(crate) table: usize,
    /// Dimensions of the gradient along columns and rows, and whether the first dimension is groups.
    pub(crate) column_dim: usize,
    pub(crate) row_dim: usize,
    pub(crate) grouped: bool,
    /// Whether tiles prefetch what comes next.
    pub(crate) far: bool,
    /// The epilogue with which tiles store their sums in the gradient, if they can.
    pub(crate) epilogue: Option<Arc<Epilogue>>,
}

/// The kernels of a gradient.
#[derive(Debug)]
pub(crate) enum Code {
    /// None: the microkernels of `kernels::dot`.
    Portable,
    /// Vector microkernels.
    Vectors(Tiles),
    /// The AMX microkernels, and the transposition of rows for them.
    Amx(Box<(Accumulate, RegisterTranspose)>),
}

/// The kernels by rows and vectors; and by variant: the second adds to sums in memory or, if tiles store, masks its last vector.
#[derive(Debug)]
pub(crate) struct Tiles(Vec<Option<Microkernel>>);

impl Tiles {
    const fn index(rows: usize, vectors: usize, other: bool) -> usize {
        ((vectors - 1) * MOST_ROWS + rows - 1) * 2 + other as usize
    }

    /// The kernel of `rows` by `vectors`.
    pub(crate) fn get(&self, rows: usize, vectors: usize, other: bool) -> &Microkernel {
        let tile = self.0[Tiles::index(rows, vectors, other)].as_ref();
        tile.unwrap_or_else(|| panic!("no kernel of {rows} rows by {vectors} vectors was made"))
    }
}

/// Plans `problem` on vector microkernels.
///
/// # Errors
/// Problems that the row does not take.
pub(crate) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    plan_on(problem, target, target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?.without_amx())
}

/// Plans `problem` on AMX.
///
/// # Errors
/// Problems that the row does not take.
pub(crate) fn plan_amx(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    dense(problem)?;
    plan_on(problem, target, amx::isa(target.jit)?)
}

fn plan_on(problem: &Problem, target: &CpuTarget, isa: Isa) -> Result<Box<dyn Plan>, Skip> {
    let mut problem = problem.clone();
    resolve(&mut problem, target)?;
    problem.resolve();
    support::dense(&problem)?;
    let setup = Setup::of(&problem.op)?;
    portable_epilogue::check(&problem.attr, setup.weights)?;
    let tensors = [setup.x.1, setup.y.1];
    let task = Task::of(&setup, isa).along_lines(tensors);
    check(&task, tensors, isa)?;
    if !matches!(setup.weights.dtype, DataType::F32 | DataType::Bf16) {
        return Err(Skip::DataType(format!("{} of the weights", setup.weights.dtype)));
    }
    if isa.amx {
        cost::check_amx(&task, tensors, isa)?;
    }
    let gradient = Gradient::new(&task, tensors, &problem.attr, (Engine::of(isa), target));
    finish(problem, gradient, target)
}

/// Refuses operands that cannot be copied by vectors.
///
/// # Errors
/// Types and layouts that would be read element by element.
fn check(task: &Task, tensors: [&Tensor; 2], isa: Isa) -> Result<(), Skip> {
    let types = tensors.map(|t| t.dtype);
    let has_strides = |(t, roles): (&Tensor, &Roles)| t.is_empty() || roles.strides(t).is_some();
    if !tensors.into_iter().zip(&task.roles).all(has_strides) {
        return Err(Skip::Layout("of data: channels are not neighbours".into()));
    }
    if types != [DataType::F32; 2] && Pairs::of(task, tensors, isa).is_none() {
        return Err(Skip::DataType(format!("{} by {}, {} images", types[0], types[1], task.images)));
    }
    Ok(())
}

/// What the two 16-bit elements of a word are.
#[derive(Clone, Copy, Debug)]
pub(super) enum Pairs {
    Images,
    Halves(Halves),
}

impl Pairs {
    /// The pairs, if there are any. Emulating a product by several instructions is worth it only for pairs of images, which need no copy.
    pub(super) fn of(task: &Task, tensors: [&Tensor; 2], isa: Isa) -> Option<Pairs> {
        let short =
            tensors.iter().zip(&task.roles).all(|(t, roles)| t.dtype == DataType::Bf16 && (t.is_empty() || roles.strides(t).is_some()));
        match task.images {
            _ if !short => None,
            2.. => Some(Pairs::Images),
            _ if !DotType::Bf16.is_native(isa) => None,
            _ if task.is_padded(isa) => Some(Halves::padded(&task.window).map_or(Pairs::Images, Pairs::Halves)),
            _ => {
                // With few places, one box with zeros as partners is faster than boxes of halves and of the remainder.
                let few = task.window.iter().fold(1usize, |n, dim| n.saturating_mul(dim.places)) <= MAX_UNSPLIT_PLACES;
                let halves = Halves::of(&task.window);
                let beside_zeros = few && halves.is_none_or(|h| h.leaves_some(&task.window));
                if beside_zeros { Some(Pairs::Images) } else { halves.map(Pairs::Halves) }
            }
        }
    }
}

/// The plan of a gradient.
///
/// # Errors
/// Gradients that are too large, or would be stored element by element.
pub(crate) fn finish(problem: Problem, gradient: Option<Gradient>, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let weights = problem.op.tensor(Arg::DIFF_WEIGHTS);
    if gradient.as_ref().zip(weights).is_some_and(|(gradient, weights)| gradient.scatters(weights)) {
        return Err(Skip::Layout("of the gradient, which would be stored number by number".into()));
    }
    let gradient = gradient.zip(weights).and_then(|(g, weights)| g.storing(weights));
    gradient.ok_or(TOO_LARGE)?.plan(problem, target)
}

/// Resolves open layouts: data to the blocks of channels that tiles read, or to channels last if blocks would not be whole, and the
/// weights' gradient to the layout of the forward pass.
///
/// # Errors
/// Targets without generated code.
pub(crate) fn resolve(problem: &mut Problem, target: &CpuTarget) -> Result<(), Skip> {
    let isa = target.jit.ok_or(Skip::Isa("avx2, or executable memory"))?;
    let s = Setup::of(&problem.op)?;
    let (dims, first) = (s.weights.dims(), s.weights.dims().len() - s.x.1.dims().len());
    let depth: Vec<usize> = (first + 2..dims.len()).chain([first + 1]).collect();
    let width = panel_columns(isa, dims[first].max(0) as usize);
    let tag = panel_tag(dims.len(), &depth, first, width, vnni_factor(s.weights.dtype).unwrap_or(1));
    let (groups, data, n) = (s.sizes.g.max(1), [s.x.0, s.y.0], s.x.1.dims().len());
    let letters: String = (2..n).map(|d| (b'a' + d as u8) as char).collect();
    for o in problem.op.operands_mut() {
        if o.arg == Arg::DIFF_WEIGHTS {
            support::resolve(o.tensor, &tag)?;
        } else if data.contains(&o.arg) {
            let channels = (o.tensor.dims()[1].max(0) / groups) as usize;
            let width = panel_columns(isa, channels);
            let blocked = o.tensor.dtype == DataType::F32 && channels > 0 && channels.is_multiple_of(width);
            support::resolve(o.tensor, &if blocked { format!("aB{letters}{width}b") } else { "axb".into() })?;
        }
    }
    Ok(())
}

/// The gradient to compute, for any operation.
pub(crate) struct Task {
    pub(crate) groups: usize,
    pub(crate) images: usize,
    /// The window over `X`.
    pub(crate) window: [Dim; 3],
    /// Arguments, channels of a group and dimensions of `X` and `Y`.
    pub(crate) args: [Arg; 2],
    pub(crate) channels: [usize; 2],
    pub(crate) roles: [Roles; 2],
    /// Whether the columns of panels are the channels of `X`.
    pub(crate) x_columns: bool,
    /// Whether the taps of a window row are merged into rows of one product.
    pub(crate) merged: bool,
    /// Dimensions of the gradient along columns and rows, and whether the first dimension is groups.
    pub(crate) column_dim: usize,
    pub(crate) row_dim: usize,
    pub(crate) grouped: bool,
}

impl Task {
    /// Steps of a box for panels of `panel` columns: more for few columns, if the rows stay in L2 and boxes remain. Windows of one pixel read
    /// each step of a box once for every tile. Tiles of 8 lanes take as long for it as two cache lines from L2, so the panel and the lines
    /// of a tile's rows then stay in L1.
    fn steps(&self, panel: usize, (joined, vnni): (usize, usize), (isa, budget): (Isa, Budget)) -> usize {
        let all = self.window.iter().fold(self.images, |n, dim| n.saturating_mul(dim.places)) / vnni;
        let pixelwise = self.window.iter().all(|dim| dim.taps == 1) && self.window.iter().any(|dim| dim.places > 1);
        if pixelwise && !isa.avx512 {
            let in_l1 = (budget.near / ((panel + CACHE_LINE_ELEMENTS) * size_of::<f32>())).max(1);
            return if all <= 2 * in_l1 { all.max(1) } else { in_l1 };
        }
        if isa.amx && !self.merged {
            // The rows of a tile stay in L1 for all panels and taps.
            let in_l1 = budget.near / (self.channels[usize::from(self.x_columns)].clamp(1, ROWS) * size_of::<f32>());
            let padding = self.window.iter().fold(1.0, |n, dim| n * dim.span(dim.places) as f64 / (dim.places.max(1) * dim.stride) as f64);
            return ((in_l1 as f64 / padding) as usize).clamp(LINES, BOX_STEPS_BY_COLUMNS / MAX_PANEL_COLUMNS);
        }
        let most = if self.merged { MERGED_STEPS_BY_COLUMNS } else { BOX_STEPS_BY_COLUMNS };
        let row = self.channels[usize::from(self.x_columns)] * joined * size_of::<f32>();
        (most / panel).min(budget.rows / row.max(1)).min(all / MIN_BOXES).max(most / MAX_PANEL_COLUMNS)
    }

    /// The task of a convolution or deconvolution.
    pub(super) fn of(setup: &Setup<'_>, isa: Isa) -> Task {
        let (s, n, window) = (setup.sizes, setup.x.1.dims().len(), window(setup));
        let roles = |t: &Tensor| Roles {
            image: Some(0),
            pixel: std::array::from_fn(|i| (i + n).checked_sub(3).filter(|d| *d >= 2)),
            channels: Axis::new(&[1], t.dims()),
        };
        let channels = (if setup.x_first { [s.oc, s.ic] } else { [s.ic, s.oc] }).map(|c| c as usize);
        let first = setup.weights.dims().len() - n;
        // Few columns leave most of a vector idle; then rows and columns are exchanged, if there are many rows.
        let [columns, rows] = if setup.x_first { channels } else { [channels[1], channels[0]] };
        let idle = columns.next_multiple_of(CACHE_LINE_ELEMENTS) * rows * isa.width().lanes()
            > (CACHE_LINE_ELEMENTS + isa.width().lanes() / 2) * rows.next_multiple_of(CACHE_LINE_ELEMENTS) * columns
            && rows >= CACHE_LINE_ELEMENTS;
        // So they are if taps can be merged as rows then, where few rows leave the multiply-adds waiting for each other.
        let [over, turned] = [[columns, rows], [rows, columns]].map(|[columns, rows]| columns.div_ceil(CACHE_LINE_ELEMENTS) * rows);
        // Few channels leave multiply-adds waiting for each other, and tiles of AMX half empty. A copy for each group pays for fewer channels.
        let most = if s.g == 1 { CACHE_LINE_ELEMENTS - 1 } else { LATENCY };
        // On AMX a call multiplies the taps of a row without a stride, which read neighbouring pixels.
        let most = if isa.amx && window[2].stride == 1 { LATENCY / 2 } else { most };
        let narrow = |channels: usize| channels <= most && window[2].taps > 1 && window[2].dilation == 1 && (s.g == 1 || !isa.amx);
        let merges = setup.x_first && s.g == 1 && narrow(columns);
        let few = window.iter().fold(columns * rows, |n, dim| n.saturating_mul(dim.taps)) < MAX_SCATTERED_ELEMENTS as usize;
        let sooner = setup.weights.dtype == DataType::F32 && !isa.amx && is_sooner_turned([rows, columns], (&window, s.mb as usize));
        let turned = idle || merges && few && turned < over.max(LATENCY) || sooner;
        let (column_dim, row_dim) = if turned { (first + 1, first) } else { (first, first + 1) };
        Task {
            groups: s.g as usize,
            images: s.mb as usize,
            window,
            args: [setup.x.0, setup.y.0],
            channels,
            roles: [roles(setup.x.1), roles(setup.y.1)],
            x_columns: setup.x_first != turned,
            merged: setup.x_first == turned && narrow(channels[0]),
            column_dim,
            row_dim,
            grouped: setup.weights.dims().len() > n,
        }
    }
}

/// Whether vectors exchange rows and columns of windows of one pixel, though the gradient is then stored number by number, because that leaves
/// fewer vectors to multiply.
fn is_sooner_turned([rows, columns]: [usize; 2], (window, images): (&[Dim; 3], usize)) -> bool {
    let depth = window.iter().fold(images, |n, dim| n.saturating_mul(dim.places));
    let work = |rows: usize, columns: usize| rows.saturating_mul(columns.div_ceil(CACHE_LINE_ELEMENTS));
    let (here, turned) = (work(rows, columns), work(columns, rows));
    let saved = here.saturating_sub(turned).saturating_mul(depth);
    let enough = rows.min(columns) >= CACHE_LINE_ELEMENTS && here > turned + turned / 4;
    window.iter().all(|dim| dim.taps == 1) && enough && saved > rows.saturating_mul(columns).saturating_mul(VECTORS_PER_STORED)
}

/// Cuts `n` into equal parts of at most `most`: their size and number.
fn cut(n: usize, most: usize, unit: usize) -> (usize, usize) {
    let parts = n.div_ceil(most.max(1)).max(1);
    let each = n.div_ceil(parts).next_multiple_of(unit.max(1)).max(1);
    (each, n.div_ceil(each).max(1))
}

/// Groups joined in a product. Several groups of few columns take as many multiply-adds as one by one, since each of these would fill a
/// vector as well, and their pixels are read in one piece.
fn joined(task: &Task, isa: Isa) -> usize {
    let columns = task.channels[usize::from(!task.x_columns)].max(1);
    let most = (isa.width().lanes() / columns).min(task.groups);
    (1..=most).rev().find(|n| task.groups.is_multiple_of(*n)).unwrap_or(1)
}

/// The instruction set whose vectors are closest to those of portable code.
pub(super) fn portable_isa(target: &CpuTarget) -> Isa {
    if target.isa.lanes() == Isa::AVX512.width().lanes() { Isa::AVX512 } else { Isa::AVX2 }
}

impl Gradient {
    pub(crate) fn new(task: &Task, tensors: [&Tensor; 2], attr: &Attr, (engine, target): (Engine, &CpuTarget)) -> Option<Gradient> {
        let (isa, pairs) = match engine {
            Engine::Portable => (portable_isa(target), None),
            Engine::Vectors(isa) | Engine::Amx(isa) => (isa, Pairs::of(task, tensors, isa)),
        };
        let (product, vnni) = if pairs.is_some() { (DotType::Bf16, 2) } else { (DotType::F32, 1) };
        let halves = pairs.and_then(|p| if let Pairs::Halves(halves) = p { Some(halves) } else { None });
        let window = task.window;
        let joined = joined(task, isa);
        let columns = task.channels[usize::from(!task.x_columns)] * joined;
        let panel = if engine == Engine::Portable { 2 * target.isa.lanes() } else { panel_columns(isa, columns) };
        // Boxes of AMX have the fewest steps.
        let wide = if engine == Engine::Amx(isa) { MAX_PANEL_COLUMNS } else { panel };
        let merged = task.merged;
        let padded = engine == Engine::Amx(isa) && task.is_padded(isa);
        let steps = task.steps(wide, (joined, vnni), (isa, Budget::of(target)));
        // Boxes grow from the innermost dimension; an outer one grows only if all inner ones are whole.
        let (across, pairs) = (window[2].places.max(1), task.images.div_ceil(vnni));
        let side_by_side = if padded && across < MIN_ROW_STEPS { JOINT_ROW_STEPS.div_ceil(across).min(pairs).max(1) } else { 1 };
        let (mut each, mut boxes, mut left) = ([1; 4], [1; 4], (steps / side_by_side).max(1));
        for (i, n) in [pairs.div_ceil(side_by_side), window[0].places, window[1].places, window[2].places].into_iter().enumerate().rev() {
            let half = halves.filter(|h| h.dim + 1 == i);
            let places = half.map_or(n, |h| h.count);
            (each[i], boxes[i]) = cut(places, if i == 0 && side_by_side > 1 { 1 } else { left }, 1);
            boxes[i] = half.map_or(boxes[i], |h| h.boxes(n, each[i]));
            left = if each[i] >= places { left / places.max(1) } else { 1 };
        }
        let at = [each[1], each[2], each[3]];
        let grids = [Grid::new(window, at, merged), Grid::new(window.map(|d| Dim::of_places(d.places)), at, false)];
        let grids = if padded { Grid::padded(grids) } else { grids };
        let side = |i: usize| Side {
            arg: task.args[i],
            roles: task.roles[i],
            grid: grids[i],
            channels: task.channels[i] * joined,
            each: 0,
            blocks: 0,
            strides: task.roles[i].strides(tensors[i]),
            in_place: false,
            copy: 0,
        };
        let (rows, columns) = if task.x_columns { (side(1), side(0)) } else { (side(0), side(1)) };
        let mut g = Gradient {
            attr: attr.clone(),
            engine,
            isa,
            product,
            panel,
            strided_lines: false,
            panels_at_once: 1,
            taps_apart: 0,
            kept: [0; 2],
            rows,
            columns,
            rows_slide: !task.x_columns,
            groups: task.groups / joined,
            joined,
            images: task.images,
            vnni,
            halves,
            side_by_side,
            each,
            boxes,
            slices: 1,
            workers: target.threads,
            budget: Budget::of(target),
            sums: 0,
            pairs: 0,
            table: 0,
            column_dim: task.column_dim,
            row_dim: task.row_dim,
            grouped: task.grouped,
            far: false,
            epilogue: None,
        };
        g.place(if task.x_columns { [tensors[1], tensors[0]] } else { tensors });
        g.cut_channels()?;
        Some(g)
    }

    /// The plan of a problem, with scratch.
    pub(super) fn plan(self, problem: Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
        RowPlan::of(problem, target, self.scratch().and_then(Lens::bytes), self)
    }

    /// Whether the sums of a panel's line are so scattered in the gradient that storing another layout and reordering it takes less time.
    fn scatters(&self, weights: &Tensor) -> bool {
        let Some(b) = weights.blocking().filter(|_| weights.dims().volume().is_some_and(|n| n >= MAX_SCATTERED_ELEMENTS)) else {
            return false;
        };
        let columns = self.columns.channels / self.joined;
        let mut inner = b.inner.iter();
        match (inner.next(), inner.next()) {
            (None, _) => columns > 1 && b.strides[self.column_dim] != 1,
            (Some((dim, width)), None) => dim == self.column_dim && columns.min(self.panel) > width as usize,
            _ => weights.dtype != DataType::Bf16 || self.pairs_of_rows(b).or(self.pairs_of_columns(b)).is_none(),
        }
    }

    /// Columns of a block of the gradient, if its lines are pairs of rows (VNNI) and panels are whole blocks.
    pub(crate) fn pairs_of_rows(&self, gradient: &Blocking) -> Option<usize> {
        let (mut inner, pair) = (gradient.inner.iter(), (self.row_dim, 2));
        let (dim, columns) = inner.next().filter(|_| inner.next() == Some(pair) && inner.next().is_none())?;
        let even = self.rows.blocks == 1 || self.rows.each.is_multiple_of(2);
        (dim == self.column_dim && even && self.joined == 1 && self.panel.is_multiple_of(columns as usize)).then_some(columns as usize)
    }

    /// Rows of a block of the gradient, if its lines are pairs of columns (VNNI) and blocks of rows are whole.
    pub(crate) fn pairs_of_columns(&self, gradient: &Blocking) -> Option<usize> {
        let (mut inner, pair) = (gradient.inner.iter(), (self.column_dim, 2));
        let (dim, rows) = inner.next().filter(|_| inner.next() == Some(pair) && inner.next().is_none())?;
        let whole = self.rows.blocks == 1 || self.rows.each.is_multiple_of(rows as usize);
        (dim == self.row_dim && whole && self.joined == 1 && rows as usize <= MAX_PANEL_COLUMNS).then_some(rows as usize)
    }

    /// Lets tiles store their sums, if each is complete after one call and the rows of a panel are contiguous in the gradient.
    fn storing(mut self, weights: &Tensor) -> Option<Gradient> {
        let neighbours = weights.blocking().is_some_and(|b| {
            let panels = b.inner.len() == 1 && b.inner.iter().all(|i| i == (self.column_dim, self.panel as i64));
            panels || b.is_plain() && b.strides[self.column_dim] == 1
        });
        let raw = weights.dtype == DataType::F32 && self.attr.scales.is_empty() && self.attr.post_ops.is_empty();
        if self.is_on_vectors()
            && neighbours
            && raw
            && self.joined == 1
            && self.attr.zero_points.is_empty()
            && self.is_single()
            && weights.blocking().is_some_and(|b| self.follow(b))
        {
            self.epilogue = Some(Arc::new(Epilogue::raw()));
            self.cut_channels()?;
        }
        Some(self)
    }

    /// Whether the rows of merged taps follow each other in the gradient as those of a tap do.
    fn follow(&self, gradient: &Blocking) -> bool {
        let next = gradient.strides[self.row_dim].saturating_mul(self.rows.channels as i64);
        self.rows_per_channel() == 1 || self.tap_dim(gradient.strides.len(), 2).is_some_and(|d| gradient.strides[d] == next)
    }

    /// The dimension of a gradient of `ndims` dimensions along the window's dimension `i`, if it has one.
    pub(crate) fn tap_dim(&self, ndims: usize, i: usize) -> Option<usize> {
        (ndims + i).checked_sub(3).filter(|d| *d >= usize::from(self.grouped) + 2)
    }

    /// Decides what is read in place: rows whose pixels are near each other, columns that are stored as panels.
    fn place(&mut self, [rows, columns]: [&Tensor; 2]) {
        let floats = |t: &Tensor| self.engine != Engine::Portable && t.dtype == DataType::F32;
        let pixels = self.sliding().grid.dims.iter().any(|d| d.places > 1);
        let step = |s: &Strides, side: &Side| if pixels { s.at[2] * side.grid.dims[2].stride * 4 } else { s.image * 4 };
        let whole = |s: &Strides, side: &Side| s.is_plain() || self.groups == 1 || side.channels.is_multiple_of(s.block);
        let spread = |bytes: usize| bytes <= MAX_ODD_PIXEL_STRIDE && (bytes / 64) % 2 == 1;
        let near = |s: &Strides| {
            let bytes = step(s, &self.rows);
            (bytes <= MAX_PIXEL_STRIDE || spread(bytes)) && whole(s, &self.rows) && s.block >= MIN_ROWS_IN_PLACE
        };
        let in_panels = |s: &Strides| {
            let alone = self.groups == 1 && self.columns.channels == self.panel;
            let block = if s.is_plain() { alone } else { s.block == self.panel };
            block && step(s, &self.columns) == self.panel * 4 && self.columns.channels.is_multiple_of(self.panel)
        };
        let rows_there = floats(rows) && !self.rows.grid.merged && self.rows.strides.as_ref().is_some_and(near);
        let columns_there = floats(columns) && self.columns.strides.as_ref().is_some_and(in_panels);
        // Few channels are read at their own stride, which saves the copy, or makes it one of whole runs.
        let narrow = self.columns.channels < self.panel;
        let near_plain = |s: &Strides| s.is_plain() && step(s, &self.columns) <= MAX_PIXEL_STRIDE;
        // So are many channels that few rows are multiplied with.
        let each_once = !self.rows_slide && self.columns.grid.is_partition(self.each);
        let met = self.rows.channels.saturating_mul(if each_once { 1 } else { self.all_taps() }).saturating_mul(self.rows_per_channel());
        let whole_blocks = |s: &Strides| s.is_plain() || s.block == self.panel && whole(s, &self.columns);
        let within = |s: &Strides| whole_blocks(s) && step(s, &self.columns) <= MAX_ODD_PIXEL_STRIDE;
        let wide = met <= MAX_UNPACKED_ROWS && !columns_there && floats(columns) && self.columns.strides.as_ref().is_some_and(within);
        self.strided_lines = self.is_on_vectors() && (wide || narrow && self.columns.strides.as_ref().is_some_and(Strides::is_plain));
        let columns_strided = wide || self.strided_lines && floats(columns) && self.columns.strides.as_ref().is_some_and(near_plain);
        (self.rows.in_place, self.columns.in_place) = (rows_there, columns_there || columns_strided);
        let blocked = |t: &Tensor, s: &Strides| !s.is_plain() && t.dims().volume().is_some_and(|n| n * 4 > self.budget.far as i64);
        let asks = |t: &Tensor, side: &Side| side.strides.as_ref().is_some_and(|s| blocked(t, s));
        let floats = [rows, columns].into_iter().all(|t| t.dtype == DataType::F32 && self.engine != Engine::Portable);
        self.far = floats && !self.is_single() && (asks(rows, &self.rows) || asks(columns, &self.columns));
    }

    fn is_on_vectors(&self) -> bool {
        matches!(self.engine, Engine::Vectors(_))
    }

    pub(crate) fn is_on_amx(&self) -> bool {
        matches!(self.engine, Engine::Amx(_))
    }

    /// Contiguous rows of a block.
    fn rows_together(&self) -> usize {
        self.rows.strides.filter(|_| self.rows.in_place).map_or(usize::MAX, |s| s.block)
    }

    /// Whether `rows` rows of a block are contiguous.
    pub(crate) fn is_contiguous(&self, rows: usize) -> bool {
        rows <= self.rows_together()
    }

    /// The offset of a row of a block from the first, in words.
    pub(crate) fn row_offset(&self, row: usize) -> usize {
        self.rows.strides.filter(|s| self.rows.in_place && !s.is_plain()).map_or(row, |s| s.channel(row))
    }

    /// Words from a line of a panel to the next, in a copy.
    pub(crate) fn line(&self) -> usize {
        if self.strided_lines { self.columns.channels } else { self.panel }
    }

    /// Words from a step to the next in a copy of `rows` rows: an odd number of cache lines, since a power of two would map to few sets of
    /// L1.
    pub(crate) fn pitch(&self, rows: usize) -> usize {
        if self.rows.grid.merged || rows <= 2 * CACHE_LINE_ELEMENTS {
            rows
        } else {
            (rows.div_ceil(CACHE_LINE_ELEMENTS) | 1) * CACHE_LINE_ELEMENTS
        }
    }

    /// Words from a pixel to the next in a copy of `rows` rows.
    pub(crate) fn pixel(&self, rows: usize) -> usize {
        if self.is_on_amx() { 1 } else { self.pitch(rows) }
    }

    /// Words from a row of `words` words to the next: an odd number of cache lines.
    fn row(words: usize) -> usize {
        (words.div_ceil(CACHE_LINE_ELEMENTS) | 1) * CACHE_LINE_ELEMENTS
    }

    /// Words from a row to the next in the transposed copy for AMX.
    pub(crate) fn transposed_row(&self) -> usize {
        Gradient::row(self.words(&self.rows.grid.turned()).unwrap_or(0))
    }

    /// Words of the pixels of a box in a copy of `grid`, for each channel.
    pub(crate) fn words(&self, grid: &Grid) -> Option<usize> {
        grid.all_pixels(self.each[0])?.checked_mul(self.side_by_side)
    }

    /// Taps with products of their own; merged ones count once.
    pub(crate) fn taps(&self) -> [usize; 3] {
        self.sliding().grid.taps()
    }

    /// Their number, saturated.
    fn all_taps(&self) -> usize {
        self.taps().iter().fold(1, |n, taps| n.saturating_mul(*taps))
    }

    /// The distance of taps of a window row that a call multiplies: those of a phase, whose pixels are equally far apart in a padded copy, if
    /// all of them meet pixels and `most` regions of sums stay in L2 until they are stored.
    fn taps_apart(&self, most: usize) -> usize {
        let (grid, taps) = (&self.sliding().grid, self.taps()[2]);
        let together = self.is_on_amx() && grid.padded && (!self.is_single() || taps <= most) && grid.dims[2].meets_pixels();
        if together { grid.dims[2].period().min(taps) } else { taps }
    }

    /// The taps of a call, the first and their number, for all calls of a window.
    pub(crate) fn tap_runs(&self) -> impl Iterator<Item = ([usize; 3], usize)> + use<> {
        let ([depth, height, across], apart) = (self.taps(), self.taps_apart);
        let at = move |i: usize| [i / (height * apart), i / apart % height, i % apart];
        (0..depth * height * apart).map(at).map(move |tap| (tap, (across - tap[2]).div_ceil(apart)))
    }

    /// First place and number of places of a box in dimension `d` (0 for images), and the distance to the places that share their words.
    pub(crate) fn span(&self, d: usize, places: usize, index: usize) -> (usize, usize, usize) {
        if let Some(halves) = self.halves.filter(|h| h.dim + 1 == d) {
            return halves.span((places, self.each[d]), index);
        }
        let first = index * self.each[d];
        (first, self.each[d].min(places - first), 0)
    }

    /// The operand that the window slides over.
    pub(crate) fn sliding(&self) -> &Side {
        if self.rows_slide { &self.rows } else { &self.columns }
    }

    /// Rows of the gradient for each channel of a block.
    pub(crate) fn rows_per_channel(&self) -> usize {
        self.rows.grid.merged_taps()
    }

    /// Elements of the sums of a tap and panel of a block.
    pub(crate) fn region(&self) -> usize {
        self.rows.each * self.rows_per_channel() * self.panel
    }

    /// Boxes of all slices together.
    pub(crate) fn all_boxes(&self) -> usize {
        self.boxes.iter().product()
    }

    /// Whether one box has everything, so that sums are complete after one call.
    pub(crate) fn is_single(&self) -> bool {
        self.all_boxes() == 1
    }

    /// Decides slices and blocks of rows and panels, and computes the scratch they need.
    fn cut_channels(&mut self) -> Option<()> {
        let taps = self.all_taps();
        let steps = self.each.iter().product::<usize>() * self.side_by_side;
        let sizes = [self.rows.channels, self.rows_per_channel(), self.columns.channels.next_multiple_of(self.panel), taps, 4];
        let all = sizes.into_iter().fold(self.groups, usize::saturating_mul);
        // A power of two, because seven slices would keep two threads busy for as long as eight.
        self.slices = 1 << (MAX_SLICES_BYTES / all.max(1)).clamp(1, MAX_SLICES).min(self.all_boxes().max(1)).ilog2();
        let (rows, columns) = (self.rows.channels.max(1), self.columns.channels.max(1));
        let (mut most_rows, mut most_columns) = (rows, columns.next_multiple_of(self.panel));
        let halve = |n: &mut usize, unit: usize| *n = (*n / 2).next_multiple_of(unit).max(unit);
        let sums = |r: usize, c: usize| [c, taps, self.rows_per_channel(), 4].into_iter().fold(r, usize::saturating_mul);
        let carried = |r: usize, c: usize| if self.is_single() { 0 } else { sums(r, c) };
        let splits_rows = |r: usize| r > MIN_BLOCK_ROWS && !self.rows.grid.merged;
        let hot = |r: usize| !self.is_single() || self.epilogue.is_some() || r * self.panel * 4 <= self.budget.hot;
        while splits_rows(most_rows) && (most_rows * steps * 4 > self.budget.rows || !hot(most_rows)) {
            halve(&mut most_rows, 16);
        }
        let tasks = |r: usize, c: usize| self.slices * self.groups * rows.div_ceil(r) * columns.div_ceil(c);
        let few = |r: usize, c: usize| self.workers > 1 && tasks(r, c) < 2 * self.workers;
        while carried(most_rows, most_columns) > self.budget.sums || few(most_rows, most_columns) {
            if most_columns > self.panel && (most_columns >= most_rows || !splits_rows(most_rows)) {
                halve(&mut most_columns, self.panel);
            } else if splits_rows(most_rows) {
                halve(&mut most_rows, 16);
            } else {
                break;
            }
        }
        let all_panels = most_columns / self.panel;
        self.panels_at_once =
            if self.columns.in_place { all_panels } else { (self.budget.panels / (self.panel * steps.max(1) * 4)).clamp(1, all_panels) };
        // Rows of pairs of 16-bit operands are pairs in a gradient of that type.
        let block = self.rows.strides.filter(|s| self.rows.in_place && !s.is_plain()).map_or(self.vnni, |s| {
            let block = s.block.min(rows);
            let idle = tasks(block, most_columns) < self.workers;
            if idle && block.is_multiple_of(most_rows) { most_rows } else { block }
        });
        (self.rows.each, self.rows.blocks) = cut(rows, most_rows.next_multiple_of(block), block);
        (self.columns.each, self.columns.blocks) = cut(columns, most_columns, self.panel);
        let region = self.rows.each.checked_mul(self.rows_per_channel())?.checked_mul(self.panel)?;
        let panels = self.columns.each.div_ceil(self.panel);
        let hot = self.budget.hot / size_of::<f32>() / region.max(1);
        self.taps_apart = self.taps_apart(hot);
        if self.is_single() {
            // Their sums are stored call by call.
            let across = self.taps()[2];
            let kept = if self.taps_apart < across { across } else { 1 };
            self.kept = [1, kept];
        } else {
            self.kept = [panels.max(1), taps.max(1)];
        }
        self.sums = region.checked_mul(self.kept[0].checked_mul(self.kept[1])?)?.next_multiple_of(16);
        let parts = self.each[0].checked_mul(self.each[1])?.checked_mul(self.each[2])?;
        self.pairs = parts.checked_mul(2)?;
        let list = if self.is_on_amx() { Accumulate::words(parts) } else { AddressList::words(1, [MOST_ROWS, 1], parts)?.max(LIST_WORDS) };
        self.table = self.pairs.checked_add(list)?.checked_mul(size_of::<usize>() / size_of::<f32>())?.next_multiple_of(16);
        let words = [&self.rows, &self.columns].map(|side| self.words(&side.grid));
        let words = [words[0]?, words[1]?];
        let rows = if self.is_on_amx() {
            let turned = Gradient::row(self.words(&self.rows.grid.turned())?).checked_mul(self.rows.each * self.rows_per_channel())?;
            turned.checked_add(words[0].checked_mul(TRANSPOSED_CHANNELS)?)?
        } else {
            words[0].checked_mul(self.pitch(self.rows.each))?
        };
        let columns = words[1].checked_mul(self.panels_at_once * self.line())?;
        for (side, words) in [&mut self.rows, &mut self.columns].into_iter().zip([rows, columns]) {
            side.copy = if side.in_place { 0 } else { words.next_multiple_of(CACHE_LINE_ELEMENTS) };
        }
        Some(())
    }

    /// Blocks of the gradient.
    pub(crate) fn blocks(&self) -> usize {
        self.groups * self.rows.blocks * self.columns.blocks
    }

    /// Elements of scratch: the sums of all slices, and of each worker an address table, copies of both operands and, without slices, sums.
    pub(crate) fn scratch(&self) -> Option<Lens> {
        let own = self.table.checked_add(self.rows.copy)?.checked_add(self.columns.copy)?;
        if self.slices == 1 {
            return Some(Lens { shared: 0, workers: for_workers(self.workers, own.checked_add(self.sums)?)? });
        }
        let shared = self.sums.checked_mul(self.blocks())?.checked_mul(self.slices)?;
        Some(Lens { shared, workers: for_workers(self.workers, own)? })
    }

    /// Cuts contiguous rows evenly into tiles of `vectors` vectors: runs of tiles of equal height, each with its first row, rows of a tile,
    /// and number of tiles.
    pub(crate) fn runs(&self, rows: usize, vectors: usize) -> impl Iterator<Item = (usize, usize, usize)> + use<> {
        let (at_once, tall) = (self.rows_together().min(rows.max(1)), max_tile_rows(self.isa, self.product, vectors));
        (0..rows.div_ceil(at_once)).flat_map(move |b| {
            let first = b * at_once;
            let n = at_once.min(rows - first);
            let tiles = n.div_ceil(tall);
            let (each, more) = (n / tiles, n % tiles);
            [(first, each + 1, more), (first + more * (each + 1), each, tiles - more)].into_iter().filter(|(_, _, count)| *count > 0)
        })
    }

    /// Vectors of the panel that begins with column `first` of a group.
    pub(crate) fn vectors(&self, first: usize) -> usize {
        self.panel.min(self.columns.channels - first).div_ceil(self.isa.width().lanes())
    }

    /// Whether tiles store and the panel that begins with column `first` of a group ends within a vector.
    pub(crate) fn ends_within(&self, first: usize) -> bool {
        self.epilogue.is_some()
            && !self.strided_lines
            && !self.panel.min(self.columns.channels - first).is_multiple_of(self.isa.width().lanes())
    }

    /// Blocks and the caches they stay in, and the predicted speed.
    pub(crate) fn how(&self) -> How {
        let (lanes, steps) = (self.isa.width().lanes(), self.each.iter().product::<usize>() * self.side_by_side);
        let (depth, core) = (self.product.step_depth(), Core::host());
        let (tall, wide, rate, on) = match self.engine {
            Engine::Portable => (1, self.panel, core.rate(self.panel / 2, 1) / PORTABLE, "vectors in portable code"),
            Engine::Vectors(_) => {
                (max_tile_rows(self.isa, self.product, self.panel / lanes), self.panel, core.rate(lanes, depth), "vectors")
            }
            Engine::Amx(_) => (ROWS, 2 * CACHE_LINE_ELEMENTS, core.tile_rate(depth), "tiles of AMX"),
        };
        let copied = |side: &Side| if side.in_place { "where they lie" } else { "copied" };
        let (rows, columns) = (&self.rows, &self.columns);
        How::new(format!("product of channels by channels, whose depth are the pixels of boxes, on {on}"), rate, self.workers)
            .registers(format!("sums of a tile of {tall} rows by {wide} columns"), tall * wide * 4)
            .block(format!("a panel of {} columns in a box of {steps} steps, {}", self.panel, copied(columns)), self.panel * steps * 4)
            .block(format!("rows of {} of {} channels in a box, {}", rows.each, rows.channels, copied(rows)), rows.each * steps * 4)
            .block(
                format!("nc = {} panels of {} of {} channels", self.panels_at_once, columns.each, columns.channels),
                self.panels_at_once * self.panel * steps * 4,
            )
            .block("gradients of a block, carried from box to box", self.sums * 4)
            .padding(padding(columns.channels, lanes))
            .copies((rows.copy + columns.copy).saturating_mul(4).saturating_mul(self.all_boxes()))
    }

    /// Generates the kernels.
    pub(crate) fn code(&self) -> Result<Code, Error> {
        match self.engine {
            Engine::Portable => return Ok(Code::Portable),
            Engine::Vectors(_) => return self.tiles().map(Code::Vectors),
            Engine::Amx(_) => {}
        }
        let last_panel = self.columns.channels.saturating_sub(1) / self.panel * self.panel;
        let vectors = [0, last_panel].map(|first| self.vectors(first).max(1));
        let accumulate = Accumulate::get(self.isa, self.product, (self.panel / CACHE_LINE_ELEMENTS, vectors), PrefetchMode::Nothing)?;
        Ok(Code::Amx(Box::new((accumulate, RegisterTranspose::get(self.isa)?))))
    }

    fn tiles(&self) -> Result<Tiles, Error> {
        if self.columns.channels == 0 || self.rows.channels == 0 {
            return Ok(Tiles(Vec::new()));
        }
        let line = self.panel / self.isa.width().lanes();
        let mut tiles = vec![None; line * MOST_ROWS * 2];
        let last_panel = (self.columns.channels - 1) / self.panel * self.panel;
        let last_block = self.rows.channels - (self.rows.blocks - 1) * self.rows.each;
        for first in [0, last_panel] {
            let (vectors, within) = (self.vectors(first), self.ends_within(first));
            for channels in [self.rows.each, last_block] {
                for (_, rows, _) in self.runs(channels * self.rows_per_channel(), vectors) {
                    for start in [InitialSums::Zero, InitialSums::Add] {
                        let tile = &mut tiles[Tiles::index(rows, vectors, within || start == InitialSums::Add)];
                        if tile.is_some() || start == InitialSums::Add && self.is_single() {
                            continue;
                        }
                        let line = if self.strided_lines { LineStride::Strided } else { LineStride::Packed(line as u8) };
                        let (masked, epilogue) = (within || self.strided_lines, self.epilogue.clone());
                        let (a_step, prefetch) = (Stride::Across, PrefetchMode::given_if(self.far));
                        let spec = MicrokernelKey {
                            line,
                            a_step,
                            start,
                            epilogue,
                            masked,
                            prefetch,
                            ..MicrokernelKey::new(self.product, rows, vectors)
                        };
                        *tile = Some(Microkernel::get(self.isa, &spec)?);
                    }
                }
            }
        }
        Ok(Tiles(tiles))
    }
}

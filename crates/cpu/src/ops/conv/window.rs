//! `packed:portable`: convolution, its gradient with respect to the source, and deconvolution, through the dot kernel.
//!
//! A task is a box of result pixels of one image and group, times a block of result channels. The source pixels of the box are copied to
//! scratch as channels-last `f32` with zeros for the padding (or read in place); every tap of the window is then an entry of the address
//! list. Weights are read in panels: in place if they have the layout that `any` resolves to, else packed once an execution.

use super::geometry::{self, Direction, Line, Phase};
use crate::CpuTarget;
use crate::kernels::access::{Pos, View};
use crate::kernels::broadcast::Broadcast;
use crate::kernels::dot::{Tap, panel_width};
use crate::kernels::epilogue;
use crate::kernels::scratch::{Lens, for_workers};
use crate::ops::support;
use crate::row::{RowPlan, TOO_LARGE};
use oxidnn_jit::Isa;
use oxidnn_runtime::{Ctx, Plan, Skip};
use oxidnn_spec::op::ConvSizes;
use oxidnn_spec::{Arg, Attr, DataType, Error, Op, Problem, Prop, Tensor};

/// Largest number of result pixels of a box.
pub(super) const MAX_BOX_PIXELS: usize = 240;
/// Largest number of sums of a block.
const MAX_BLOCK_SUMS: usize = 240 * 128;
/// Largest number of result channels of a block.
const MAX_BLOCK_CHANNELS: usize = 256;
/// Elements of a copied box above which source channels are split.
const MAX_COPY_ELEMENTS: usize = 96 * 1024;
/// Padding between copied pixels, so that they do not map to the same cache sets.
const SKEW: usize = 16;

/// A problem as a window over one of its tensors.
pub(crate) struct Setup<'a> {
    /// Which tensor the window slides over.
    pub(crate) direction: Direction,
    /// The operation's sizes.
    pub(crate) sizes: ConvSizes,
    /// The tensor read.
    pub(crate) source: (Arg, &'a Tensor),
    /// Weights.
    pub(crate) weights: &'a Tensor,
    /// The tensor written.
    pub(crate) result: (Arg, &'a Tensor),
    /// Which of the weights' channel dimensions is the result's: 0 or 1.
    pub(crate) result_channel: usize,
    /// Whether there is a bias.
    pub(crate) biased: bool,
}

impl Setup<'_> {
    /// A convolution or deconvolution, forward or backward by data, as a window over one of its tensors.
    ///
    /// # Errors
    /// Other operations.
    pub(crate) fn of(op: &Op) -> Result<Setup<'_>, Skip> {
        let (gathers, sizes, biased, (src, weights, dst)) = match op {
            Op::Conv(op) => (true, op.sizes(), op.bias.is_some(), (&op.src, &op.weights, &op.dst)),
            Op::Deconv(op) => (false, op.sizes(), op.bias.is_some(), (&op.src, &op.weights, &op.dst)),
            _ => return Err(Skip::Op("anything but convolution")),
        };
        let forward = match op.prop() {
            Some(Prop::ForwardTraining | Prop::ForwardInference) => true,
            Some(Prop::BackwardData) => false,
            _ => return Err(Skip::Op("this propagation kind")),
        };
        let (source, result) = if forward { ((Arg::SRC, src), (Arg::DST, dst)) } else { ((Arg::DIFF_DST, dst), (Arg::DIFF_SRC, src)) };
        // Forward deconvolution is the gradient of a convolution with respect to its source.
        let direction = if gathers == forward { Direction::Gather } else { Direction::Scatter };
        Ok(Setup { direction, sizes, source, weights, result, result_channel: usize::from(!forward), biased })
    }
}

/// One combination of phases: results with the same taps.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) phases: [Phase; 3],
    /// Weight coordinates and source offsets of every tap, relative to the first source pixel of a box.
    pub(super) taps: Vec<([i64; 3], [i64; 3])>,
    /// Source coordinate of the first pixel of a box at `j = 0`.
    pub(super) low: [i64; 3],
    /// Results of a box in each dimension, and number of boxes.
    pub(super) each: [usize; 3],
    pub(super) boxes: [usize; 3],
    /// Source pixels of a full box in each dimension.
    pub(super) extent: [usize; 3],
    /// First task of the part within an image, group and block of channels.
    pub(super) first_box: usize,
    /// Whether the neighbouring taps of a row are merged into one of their joint depth.
    pub(super) merged: bool,
    /// Addresses of the taps, in a copy and in place.
    pub(super) copied: Vec<Tap>,
    pub(super) placed: Vec<Tap>,
}

#[derive(Debug)]
pub(crate) struct Window {
    pub(super) attr: Attr,
    pub(super) source: Arg,
    pub(super) result: Arg,
    pub(super) lines: [Line; 3],
    pub(super) parts: Vec<Part>,
    pub(super) groups: usize,
    pub(super) images: usize,
    /// Source and result channels of a group.
    pub(super) depth: usize,
    pub(super) channels: usize,
    /// Source channels that are copied at a time.
    pub(super) depth_each: usize,
    pub(super) channels_each: usize,
    pub(super) channel_blocks: usize,
    pub(super) boxes: usize,
    pub(super) width: usize,
    pub(super) panels: Panels,
    pub(super) result_channel: usize,
    pub(super) kernel: [i64; 3],
    pub(super) workers: usize,
    /// Packed weights are shared; each worker has sums and a copied box.
    pub(super) scratch: Lens,
    /// Elements of sums in a worker's scratch.
    pub(super) sums: usize,
    /// Dimensions of the source.
    pub(super) dims: usize,
}

/// Where packed weights begin, and their strides.
#[derive(Debug)]
pub(super) struct Panels {
    pub(super) in_place: bool,
    pub(super) taps: [usize; 3],
    pub(super) row: usize,
    pub(super) panel: usize,
    pub(super) group: usize,
    pub(super) offset: usize,
}

/// Plans `problem`.
///
/// # Errors
/// Problems that the row does not take.
pub(crate) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    let s = Setup::of(&problem.op)?;
    let grouped = s.weights.dims().len() > s.source.1.dims().len();
    let problem = resolved(problem, ["axb", &support::window_tag(s.weights, grouped, s.result_channel, target.isa)])?;
    let setup = Setup::of(&problem.op)?;
    let (source, result) = (setup.source, setup.result);
    for t in [source.1, setup.weights] {
        support::operand_type(t.dtype)?;
    }
    epilogue::check(&problem.attr, result.1)?;
    check_quantisation(&problem.attr, &setup)?;
    let lines = geometry::lines(setup.direction, &setup.sizes, [result.1, source.1].map(sizes_of))?;
    let window = Window::new(&setup, &problem.attr, lines, target).ok_or(TOO_LARGE)?;
    RowPlan::of(problem, target, window.scratch.bytes(), window)
}

/// `problem` with open layouts resolved: of source and result to the first tag, of weights to the second.
///
/// # Errors
/// Tags that do not fit, and operands that are not dense.
pub(super) fn resolved(problem: &Problem, [data_tag, weights_tag]: [&str; 2]) -> Result<Problem, Skip> {
    let mut problem = problem.clone();
    let s = Setup::of(&problem.op)?;
    let data = [s.source.0, s.result.0];
    for o in problem.op.operands_mut() {
        if o.arg == Arg::WEIGHTS {
            support::resolve(o.tensor, weights_tag)?;
        } else if data.contains(&o.arg) {
            support::resolve(o.tensor, data_tag)?;
        }
    }
    problem.resolve();
    support::dense(&problem)?;
    Ok(problem)
}

/// Whether every result reads the pixel at its own place.
pub(super) fn is_pointwise(s: &ConvSizes) -> bool {
    [s.k, s.s] == [[1; 3]; 2] && s.pl == [0; 3] && s.i == s.o
}

/// Refuses weights whose layout is not `tag`.
pub(super) fn check_weights(weights: &Tensor, tag: &str) -> Result<(), Skip> {
    match Tensor::with_tag(*weights.dims(), weights.dtype, tag) {
        Ok(packed) if packed == *weights => Ok(()),
        Ok(_) => Err(Skip::Layout(format!("of the weights: not {tag}"))),
        Err(e) => Err(Skip::Layout(e.to_string())),
    }
}

/// Resolves open data layouts to contiguous pixels (NCHW): if the other tensor has them, or if the result has so few channels, in all or in
/// each group, that channels last would leave most of a vector idle, or groups have one source channel: then writing takes longest, which
/// channels last do in short runs.
pub(super) fn resolve_planes(problem: &mut Problem, isa: Isa) -> Result<(), Skip> {
    let s = Setup::of(&problem.op)?;
    let (channels, depth) = if s.result_channel == 0 { (s.sizes.oc, s.sizes.ic) } else { (s.sizes.ic, s.sizes.oc) };
    let many = channels * if s.sizes.g > 1 { 2 } else { 4 } > isa.width().lanes() as i64 && (s.sizes.g == 1 || depth > 1);
    let data = [s.source.0, s.result.0];
    let open = [s.source.1, s.result.1].iter().all(|t| t.layout.is_any());
    if open && many {
        return Err(Skip::Layout("of source and result: any, which is channels last where there are enough".into()));
    }
    for o in problem.op.operands_mut().into_iter().filter(|o| data.contains(&o.arg)) {
        support::resolve(o.tensor, "abx")?;
    }
    Ok(())
}

/// Scales and zero points must not vary along the reduction.
pub(super) fn check_quantisation(attr: &Attr, setup: &Setup<'_>) -> Result<(), Skip> {
    let grouped = u32::from(setup.weights.dims().len() == setup.source.1.dims().len() + 1);
    let channel = 1 << (grouped + setup.result_channel as u32);
    let scale = |arg: Arg| attr.scales.get(&arg).map_or(0, |q| q.mask);
    if scale(setup.source.0) != 0 {
        return Err(Skip::Attr("scales of the source that differ by position".into()));
    }
    let allowed = if grouped == 1 { [0, 1, channel | 1] } else { [0, channel, channel] };
    if !allowed.contains(&scale(Arg::WEIGHTS)) {
        return Err(Skip::Attr("scales of the weights that differ by more than the result's channel".into()));
    }
    let grouped_numbers = attr.scales.values().chain(attr.zero_points.values()).any(|q| !q.groups.is_empty());
    if grouped_numbers { Err(Skip::Attr("grouped quantisation".into())) } else { Ok(()) }
}

/// Scales of the weights as a broadcast over a result with `dims` dimensions and `channels` channels in a group.
pub(super) fn weight_scale<'a>(
    ctx: &Ctx<'a>,
    attr: &Attr,
    weights: &View<'a>,
    result: (usize, usize, usize),
) -> Result<Broadcast<'a>, Error> {
    Ok(by_result(Broadcast::scale(weights.simd(), ctx, attr, Arg::WEIGHTS, weights.dims())?, weights.dims().len(), result))
}

/// The same for any attribute of weights of `n` dimensions.
pub(super) fn by_result(numbers: Broadcast<'_>, n: usize, (dims, result_channel, channels): (usize, usize, usize)) -> Broadcast<'_> {
    let grouped = usize::from(n == dims + 1);
    // By group and channel, the elements are in the order of the result's channels; by group alone, each serves a group's channels.
    if grouped == 1 && !numbers.varies(1) && numbers.varies(0) {
        numbers.permuted(&[None, Some(0)]).grouped(1, channels as i64)
    } else {
        numbers.permuted(&[None, Some(grouped + result_channel)])
    }
}

/// Cuts `size` into equal pieces of at most `most`, multiples of `unit`: their size and number.
pub(crate) fn cut(size: usize, most: usize, unit: usize) -> (usize, usize) {
    let each = size.div_ceil(size.div_ceil(most.max(1)).max(1)).next_multiple_of(unit).max(unit);
    (each, size.div_ceil(each))
}

/// The tensor dimension of spatial dimension `i` of three, if the tensor of `n` dimensions has it.
pub(crate) fn spatial(i: usize, n: usize, first: usize) -> Option<usize> {
    (i + n).checked_sub(3).filter(|d| *d >= first)
}

/// Depth, height and width of a data tensor.
pub(crate) fn sizes_of(t: &Tensor) -> [i64; 3] {
    std::array::from_fn(|i| spatial(i, t.dims().len(), 2).map_or(1, |d| t.dims()[d]))
}

/// Sets the spatial coordinates of a position in a data tensor.
pub(super) fn place(pos: &mut Pos, n: usize, at: [i64; 3]) {
    set_spatial(pos, (n, 2), at);
}

/// Sets the spatial coordinates, behind the first `first` dimensions, of a position in weights to those of a tap.
pub(super) fn place_tap(pos: &mut Pos, (n, first): (usize, usize), tap: usize, [_, kh, kw]: [i64; 3]) {
    let tap = tap as i64;
    set_spatial(pos, (n, first), [tap / (kh * kw), tap / kw % kh, tap % kw]);
}

fn set_spatial(pos: &mut Pos, (n, first): (usize, usize), at: [i64; 3]) {
    for (i, x) in at.into_iter().enumerate() {
        if let Some(d) = spatial(i, n, first) {
            pos[d] = x;
        }
    }
}

impl Part {
    fn new(lines: &[Line; 3], index: [usize; 3], rows: usize) -> Part {
        let phases: [Phase; 3] = std::array::from_fn(|i| lines[i].phases[index[i]].clone());
        let mut each = [0; 3];
        let mut boxes = [0; 3];
        let mut left = rows;
        for i in (0..3).rev() {
            (each[i], boxes[i]) = cut(phases[i].count, left, 1);
            left = (left / each[i]).max(1);
        }
        let low = std::array::from_fn(|i| phases[i].taps.iter().map(|t| t.1).min().unwrap_or(0));
        let extent = std::array::from_fn(|i| phases[i].reach(lines[i].stride, 0, each[i]).map_or(0, |(l, h)| (h - l + 1) as usize));
        let mut taps = Vec::new();
        for d in &phases[0].taps {
            for h in &phases[1].taps {
                for w in &phases[2].taps {
                    taps.push(([d.0, h.0, w.0], [d.1 - low[0], h.1 - low[1], w.1 - low[2]]));
                }
            }
        }
        let (copied, placed) = (Vec::new(), Vec::new());
        Part { phases, taps, low, each, boxes, extent, first_box: 0, merged: false, copied, placed }
    }

    /// Whether the taps of a row are neighbours in the source as in the weights.
    fn row_is_dense(&self) -> bool {
        let row = &self.phases[2].taps;
        row.len() > 1 && row.windows(2).all(|t| t[1].0 == t[0].0 + 1 && t[1].1 == t[0].1 + 1)
    }

    /// Fills the address lists, for pixel strides `copy` in a copied box and `source` in place.
    fn address(&mut self, copy: [usize; 3], source: Option<[usize; 3]>, panels: &Panels) {
        let dot = |x: &[i64; 3], y: [usize; 3]| x.iter().zip(y).map(|(x, y)| *x as usize * y).sum::<usize>();
        let first = self.phases[2].taps.first().map_or(0, |t| t.0);
        let taps = self.taps.iter().filter(|t| !self.merged || t.0[2] == first);
        self.copied = taps.clone().map(|(k, at)| Tap { a: dot(at, copy), b: dot(k, panels.taps) }).collect();
        if let Some(source) = source {
            self.placed = taps.map(|(k, at)| Tap { a: dot(at, source), b: dot(k, panels.taps) }).collect();
        }
    }

    pub(super) fn boxes(&self) -> usize {
        self.boxes.iter().product()
    }
}

impl Panels {
    /// In place if weights are `f32` in panels of `width` columns, else in the form that [`Window::pack`] writes.
    fn new(setup: &Setup<'_>, plain: bool, width: usize) -> Panels {
        let (w, s) = (setup.weights, &setup.sizes);
        let grouped = usize::from(w.dims().len() == setup.source.1.dims().len() + 1);
        let (n_dim, c_dim) = (grouped + setup.result_channel, grouped + 1 - setup.result_channel);
        if let Some(b) = w.blocking().filter(|b| plain && b.inner.len() == 1 && b.inner.iter().next() == Some((n_dim, width as i64))) {
            let stride = |d: usize| b.strides[d] as usize;
            let taps = std::array::from_fn(|i| spatial(i, w.dims().len(), 2 + grouped).map_or(0, stride));
            let group = if grouped == 1 { stride(0) } else { 0 };
            return Panels { in_place: true, taps, row: stride(c_dim), panel: stride(n_dim), group, offset: b.offset as usize };
        }
        let (n, c) = if setup.result_channel == 0 { (s.oc, s.ic) } else { (s.ic, s.oc) };
        let tap = c as usize * width;
        let [_, kh, kw] = s.k.map(|k| k as usize);
        let panel = tap * s.k.iter().product::<i64>() as usize;
        let group = panel * (n as usize).div_ceil(width);
        Panels { in_place: false, taps: [tap * kh * kw, tap * kw, tap], row: width, panel, group, offset: 0 }
    }
}

impl Window {
    /// Decides everything for a problem whose layouts are resolved.
    fn new(setup: &Setup<'_>, attr: &Attr, lines: [Line; 3], target: &CpuTarget) -> Option<Window> {
        let (s, source) = (&setup.sizes, setup.source.1);
        let (channels, depth) = if setup.result_channel == 0 { (s.oc, s.ic) } else { (s.ic, s.oc) };
        let (channels, depth) = (channels as usize, depth as usize);
        let width = panel_width(target.isa, channels);
        let plain = |arg: Arg| !attr.zero_points.contains_key(&arg);
        let source_plain = plain(setup.source.0) && source.dtype == DataType::F32;
        let weights_plain = plain(Arg::WEIGHTS) && setup.weights.dtype == DataType::F32;
        let panels = Panels::new(setup, weights_plain, width);
        let (channels_each, channel_blocks) = cut(channels, MAX_BLOCK_CHANNELS, width);
        let rows = MAX_BOX_PIXELS.min(MAX_BLOCK_SUMS / channels_each.max(1)).max(1);
        let mut parts = Vec::new();
        for d in 0..lines[0].phases.len() {
            for h in 0..lines[1].phases.len() {
                for w in 0..lines[2].phases.len() {
                    parts.push(Part::new(&lines, [d, h, w], rows));
                }
            }
        }
        let pixels = parts.iter().map(|p| p.extent.iter().fold(1, |n: usize, size| n.saturating_mul(*size))).max().unwrap_or(0);
        let split = depth > 64 && pixels.checked_mul(depth + SKEW)? > MAX_COPY_ELEMENTS;
        let depth_each = if split { cut(depth, (MAX_COPY_ELEMENTS / pixels).saturating_sub(SKEW).max(32), 16).0.min(depth) } else { depth };
        let in_place = source.blocking().filter(|b| source_plain && b.is_plain() && b.strides[1] == 1);
        let n = source.dims().len();
        let strides = in_place.map(|b| std::array::from_fn(|i| spatial(i, n, 2).map_or(0, |d| b.strides[d] as usize)));
        let mut copy_len = 0;
        let mut first_box = 0;
        for part in &mut parts {
            part.merged = depth < 64 && depth_each == depth && source_plain && panels.taps[2] == depth * panels.row && part.row_is_dense();
            let pixel = part.pixel(depth_each);
            let [ed, eh, ew] = part.extent;
            copy_len = copy_len.max(ed.checked_mul(eh)?.checked_mul(ew)?.checked_mul(pixel)?);
            let strides =
                strides.filter(|s: &[usize; 3]| (!part.merged || s[2] == depth) && (!s[2].is_multiple_of(1024) || part.each[2] < 8));
            part.address([eh * ew * pixel, ew * pixel, pixel], strides, &panels);
            part.first_box = first_box;
            first_box += part.boxes();
        }
        let sums = 2 * MAX_BLOCK_SUMS.max(rows * channels_each);
        let packed = if panels.in_place { 0 } else { panels.group.checked_mul(s.g as usize)? };
        Some(Window {
            attr: attr.clone(),
            source: setup.source.0,
            result: setup.result.0,
            lines,
            parts,
            groups: s.g as usize,
            images: s.mb as usize,
            depth,
            channels,
            depth_each,
            channels_each,
            channel_blocks,
            boxes: first_box,
            width,
            panels,
            result_channel: setup.result_channel,
            kernel: s.k,
            workers: target.threads,
            scratch: Lens { shared: packed, workers: for_workers(target.threads, sums.checked_add(copy_len)?)? },
            sums,
            dims: n,
        })
    }
}

impl Part {
    /// Stride of copied pixels.
    pub(super) fn pixel(&self, depth: usize) -> usize {
        if self.merged { depth } else { depth + SKEW }
    }
}

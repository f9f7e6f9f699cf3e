//! `window:sm90`: implicit GEMM convolution and deconvolution, forward and backward data, of NHWC (and in 16 bits to NCHW) on Hopper (`kernels/conv_sm90.cu`).
//!
//! A filter relates a small grid of pixels to a large one: `large = small * stride - padding + tap * dilation`. Passes that read the large grid (convolution
//! forward, deconvolution backward data) are one [`Walk`] with the convolution's strides. Passes that read the small grid (the others) are one walk
//! per residue of the large grid's pixels modulo the strides: only every stride-th tap reaches those, and they are not contiguous.

use super::shape::{self, Choice, Request, Store};
use super::slices::Slices;
use super::{
    Channels, GROUP, check, clusters, epilogue, launch_shape, operand, operand_kind, pairs, pixel_step, plain, result, tile_options,
};
use crate::CudaTarget;
use crate::emit::Emitter;
use crate::ops::ceil;
use crate::ops::transpose::{Kept, copied};
use crate::program::{Launch, MapKind, MapPlace, MapTile, OVERFLOW, Program, Swizzle, TensorMap, Word};
use crate::row::Lower;
use oxidnn_runtime::Skip;
use oxidnn_spec::op::ConvSizes;
use oxidnn_spec::{Arg, Blocking, Layout, Op, Problem, Prop, Tensor};
use std::iter::once;

/// Walks of a pass, and of one launch, at most.
pub(super) const WALKS: usize = 27;
pub(super) const TOGETHER: usize = 8;
/// Most taps of a window along a dimension: more are not within reach of im2col mode, whatever the strides.
const MAX_TAPS: i64 = 256 * WALKS as i64;

/// Reverses D, H, W to the order of TMA and the kernel.
pub(super) fn inner_first<T: Copy>(v: [T; 3]) -> [T; 3] {
    [v[2], v[1], v[0]]
}

/// Convolution or deconvolution without groups.
pub(crate) fn window(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    let (channels, direction) = direction(problem)?;
    Window::new(problem, channels, direction)?.program(target)
}

/// The tensors of a convolution or deconvolution, and its direction.
pub(super) fn direction(problem: &Problem) -> Result<(Channels<'_>, Direction), Skip> {
    let ((src, weights, bias, dst), (prop, sizes), input_is_large, otherwise): (_, _, _, Lower) = match &problem.op {
        Op::Conv(op) => ((&op.src, &op.weights, &op.bias, &op.dst), (op.prop, op.sizes()), true, crate::ops::conv::conv),
        Op::Deconv(op) => ((&op.src, &op.weights, &op.bias, &op.dst), (op.prop, op.sizes()), false, crate::ops::conv::deconv),
        _ => return Err(Skip::Op("anything but convolutions")),
    };
    let channels = Channels { src, weights, bias: bias.as_ref(), dst };
    Ok((channels, Direction { prop, sizes, input_is_large, otherwise, slices: None }))
}

/// A convolution or deconvolution pass, as the kernel sees it: reads `from`, writes `to`.
pub(super) struct Window<'a> {
    pub(super) problem: &'a Problem,
    pub(super) channels: Channels<'a>,
    pub(super) z: ConvSizes,
    pub(super) forward: bool,
    /// Whether the large grid is read.
    pub(super) from_large: bool,
    pub(super) from: (Arg, &'a Tensor),
    pub(super) to: (Arg, &'a Tensor),
    /// Channels that are summed over (K), and output channels (N).
    pub(super) given: i64,
    pub(super) made: i64,
    pub(super) otherwise: Lower,
    pub(super) slices: Option<Slices>,
}

/// Output pixels that the same taps reach; arrays are along D, H, W.
#[derive(Clone)]
pub(super) struct Walk {
    /// Number of output pixels; stride in the input; input position of the first pixel's first tap.
    pub(super) size: [i64; 3],
    pub(super) stride: [i64; 3],
    pub(super) start: [i64; 3],
    /// Number of taps; index of the first one and step to the next in the filter; input pixels from one tap to the next.
    pub(super) taps: [i64; 3],
    pub(super) first: [i64; 3],
    pub(super) step: [i64; 3],
    pub(super) offset: [i64; 3],
    /// The residue of the output pixels modulo the strides; zeros if there is a single walk.
    pub(super) residue: [i64; 3],
    /// No tap reaches these pixels.
    pub(super) empty: bool,
}

impl Walk {
    /// Number of taps.
    pub(super) fn count(&self) -> i64 {
        if self.empty { 0 } else { self.taps.iter().product() }
    }

    /// The words of the kernel's `Walk`; `blocks` stages per tap, `strides` of the result along D, H, W.
    fn words(&self, start: [i64; 3], blocks: i64, strides: [i64; 3]) -> [Word; 9] {
        let taps = if self.empty { [1, 1, 0] } else { self.taps };
        let mut ints = Vec::with_capacity(16);
        for v in [taps, self.first, self.step, self.offset, std::array::from_fn(|d| self.start[d] - start[d])] {
            ints.extend(inner_first(v));
        }
        ints.push((self.count() * blocks).max(1));
        let at: i64 = std::iter::zip(self.residue, strides).map(|(r, s)| r * s).sum();
        let mut words = [Word::Value(at as u64); 9];
        words[..8].copy_from_slice(&pairs(&ints));
        words
    }

    /// Input pixels from the first tap to the last.
    fn reach(&self) -> [i64; 3] {
        std::array::from_fn(|d| (self.taps[d] - 1) * self.offset[d])
    }
}

/// Groups walks of the same size into launches, those with most taps first, with a common start for TMA.
pub(super) fn grouped(mut walks: Vec<Walk>) -> Vec<(Vec<Walk>, [i64; 3])> {
    walks.sort_by_key(|w| (w.size, -w.count()));
    let groups = walks.chunk_by(|a, b| a.size == b.size).flat_map(|g| g.chunks(TOGETHER));
    groups.map(|g| (g.to_vec(), std::array::from_fn(|d| g.iter().map(|w| w.start[d]).min().unwrap_or(0)))).collect()
}

/// Whether TMA can address a tensor with contiguous channels.
fn is_close(t: &Tensor, b: &Blocking) -> bool {
    let whole = |v: i64| v * (t.dtype.bits() / 8) as i64 % 16 == 0;
    b.strides[1] == 1 && whole(b.offset) && b.strides.iter().enumerate().all(|(d, &s)| d == 1 || t.dims()[d] == 1 || whole(s) && s > 0)
}

/// For an NCHW tensor of a 16-bit type: 0 if TMA can store it in blocks of 64 pixels of an image, otherwise how many neighbouring pixels are always in one image
/// and aligned (`PLANE_UNIT`); `None` for other layouts.
fn plane_unit(t: &Tensor, b: &Blocking) -> Option<i64> {
    let image: i64 = t.dims().iter().skip(2).product();
    if t.dtype.bits() != 16 || b.strides[1] == 1 || t.dims()[1] == 1 || pixel_step(t, b, 2) != Some(1) {
        return None;
    }
    let spaced = |unit: i64, d: usize| t.dims()[d] == 1 || b.strides[d] % unit == 0 && b.strides[d] > 0;
    let fits = |unit: &i64| image % unit == 0 && b.offset % unit == 0 && spaced(*unit, 0) && spaced(*unit, 1);
    if image % 64 == 0 && fits(&8) { Some(0) } else { [8, 4].into_iter().find(fits) }
}

/// Whether a tensor has the dense layout `layout`.
fn is_alike(t: &Tensor, layout: &Layout) -> bool {
    let (Ok(own), Some(other)) = (plain(t), layout.blocking()) else { return false };
    own.offset == 0 && t.dims().iter().enumerate().all(|(d, &size)| size == 1 || own.strides[d] == other.strides[d])
}

/// Whether a walk is within the limits of im2col mode: corners of the bounding box, tap offsets, and strides.
pub(super) fn is_in_reach([start, size, stride, reach, read]: [[i64; 3]; 5], deep: bool) -> bool {
    let (corner, offset) = if deep { (15, 31) } else { (127, 255) };
    (0..3).all(|d| {
        let upper = start[d] + (size[d] - 1) * stride[d] - (read[d] - 1);
        start[d].abs() <= corner && upper.abs() <= corner && reach[d] <= offset && stride[d] <= 8
    })
}

/// A walk of im2col mode over a tensor of `sizes`: number of pixels visited, strides, and position of the first pixel's first tap.
#[derive(Clone, Copy)]
pub(super) struct Visits {
    pub(super) sizes: [i64; 3],
    pub(super) size: [i64; 3],
    pub(super) stride: [i64; 3],
    pub(super) lower: [i64; 3],
    /// Three spatial dimensions.
    pub(super) deep: bool,
}

/// The TMA descriptor in im2col mode of a tensor with contiguous channels.
pub(super) fn walked((arg, t): (Arg, &Tensor), visits: &Visits, [channels, pixels]: [i64; 2]) -> TensorMap {
    let Visits { sizes, size, stride, lower, deep } = *visits;
    let (blocking, bytes) = (t.blocking(), (t.dtype.bits() / 8) as i64);
    let step = |d: usize| blocking.map_or(0, |b| b.strides[d]);
    let (n, c) = (t.dims().len(), t.dims()[1]);
    // Strides of W, H, D; a dimension that the tensor does not have gets the extent of those inside of it.
    let spatial: [i64; 3] = std::array::from_fn(|i| if i + 2 < n && t.dims()[n - 1 - i] != 1 { step(n - 1 - i) } else { 0 });
    let inner = inner_first(sizes);
    let (mut strides, mut last) = ([0u64; 4], ceil(c * bytes, 16) * 16 / bytes);
    for i in 0..3 {
        let step = if spatial[i] > 0 { spatial[i] } else { last };
        strides[i] = (step * bytes) as u64;
        last = step * inner[i];
    }
    let batch = if t.dims()[0] > 1 { step(0) } else { last };
    let ([w, h, d], [sw, sh, sd]) = (inner.map(|v| v as u64), inner_first(stride).map(|v| v as u32));
    let mb = t.dims()[0] as u64;
    let (rank, dims, steps) =
        if deep { (5, [c as u64, w, h, d, mb], [1, sw, sh, sd, 1]) } else { (4, [c as u64, w, h, mb, 1], [1, sw, sh, 1, 1]) };
    strides[rank - 2] = (batch * bytes) as u64;
    let upper: [i64; 3] = std::array::from_fn(|d| lower[d] + (size[d] - 1) * stride[d] - (sizes[d] - 1));
    let narrow = |v: [i64; 3]| inner_first(v).map(|x| x as i32);
    let offset = blocking.map_or(0, |b| b.offset);
    let tile = MapTile::Window { lower: narrow(lower), upper: narrow(upper), channels: channels as u32, pixels: pixels as u32, steps };
    let place = MapPlace::Arg(arg, (offset * bytes) as u64);
    TensorMap { place, kind: operand_kind(t.dtype), rank, dims, strides, tile, swizzle: Swizzle::Full }
}

/// A convolution or deconvolution in one direction.
pub(super) struct Direction {
    pub(super) prop: Prop,
    pub(super) sizes: ConvSizes,
    /// The large grid is that of the input (convolution), not of the output (deconvolution).
    pub(super) input_is_large: bool,
    /// Lowers the problem for addresses that are not aligned.
    pub(super) otherwise: Lower,
    /// The groups, if there are several.
    pub(super) slices: Option<Slices>,
}

/// What all launches of a pass have in common.
struct Chosen<'a> {
    request: &'a Request,
    choice: &'a Choice,
    types: [&'static str; 3],
    weights: MapPlace,
    /// `PLANE_UNIT` of the kernel.
    unit: i64,
}

impl<'a> Window<'a> {
    pub(super) fn new(problem: &'a Problem, channels: Channels<'a>, direction: Direction) -> Result<Window<'a>, Skip> {
        let Direction { prop, sizes: z, input_is_large, otherwise, slices } = direction;
        let forward = prop.is_forward();
        if !forward && prop != Prop::BackwardData {
            return Err(Skip::Op("gradients of weights"));
        }
        if slices.is_none() && (z.g != 1 || channels.weights.dims().len() != channels.src.dims().len()) {
            return Err(Skip::Shape("groups"));
        }
        let (src, dst) = (channels.src, channels.dst);
        let (from, to) = if forward { ((Arg::SRC, src), (Arg::DST, dst)) } else { ((Arg::DIFF_DST, dst), (Arg::DIFF_SRC, src)) };
        let (given, made) = match &slices {
            Some(slices) => (slices.channels()[1], slices.channels()[0] * slices.count()),
            None if forward => (z.ic, z.oc),
            None => (z.oc, z.ic),
        };
        if from.1.is_empty() || to.1.is_empty() || channels.weights.is_empty() {
            return Err(Skip::Shape("no elements"));
        }
        Ok(Window { problem, channels, z, forward, from_large: forward == input_is_large, from, to, given, made, otherwise, slices })
    }

    /// The spatial sizes of input and output of this pass.
    pub(super) fn grids(&self) -> [[i64; 3]; 2] {
        if self.forward { [self.z.i, self.z.o] } else { [self.z.o, self.z.i] }
    }

    /// The walks that cover all output pixels, at most `most`.
    ///
    /// # Errors
    /// More of them, and windows of more taps than the tensor copy engine reaches.
    pub(super) fn walks(&self, most: usize) -> Result<Vec<Walk>, Skip> {
        let (z, [_, to]) = (&self.z, self.grids());
        if z.k.iter().any(|k| *k > MAX_TAPS) {
            return Err(Skip::Shape("windows that the tensor copy engine does not walk"));
        }
        if self.from_large {
            let (start, zeros) = (z.pl.map(|p| -p), [0; 3]);
            return Ok(vec![Walk {
                size: to,
                stride: z.s,
                start,
                taps: z.k,
                first: zeros,
                step: [1; 3],
                offset: z.d,
                residue: zeros,
                empty: false,
            }]);
        }
        // Residues of output pixels by the strides.
        let [depths, heights, widths]: [i64; 3] = std::array::from_fn(|d| z.s[d].min(to[d]));
        let count = depths.saturating_mul(heights).saturating_mul(widths);
        if count > most as i64 {
            return Err(Skip::Shape("strides that leave many residues"));
        }
        let walk = |i: i64| {
            let residue = [i / (heights * widths), i / widths % heights, i % widths];
            self.residue_walk(residue, std::array::from_fn(|d| ceil(to[d] - residue[d], z.s[d])))
        };
        Ok((0..count).map(walk).collect())
    }

    fn residue_walk(&self, residue: [i64; 3], size: [i64; 3]) -> Walk {
        let z = &self.z;
        let mut w =
            Walk { size, stride: [1; 3], start: [0; 3], taps: [1; 3], first: [0; 3], step: [-1; 3], offset: [1; 3], residue, empty: false };
        for (d, &own) in residue.iter().enumerate() {
            // In reverse order: the last tap reads the first pixel.
            let mine: Vec<i64> = (0..z.k[d]).rev().filter(|t| (own + z.pl[d] - t * z.d[d]) % z.s[d] == 0).collect();
            let Some(&last) = mine.first() else {
                w.empty = true;
                continue;
            };
            (w.taps[d], w.first[d]) = (mine.len() as i64, last);
            w.start[d] = (own + z.pl[d] - last * z.d[d]).div_euclid(z.s[d]);
            if let Some(next) = mine.get(1) {
                (w.step[d], w.offset[d]) = (next - last, (last - next) * z.d[d] / z.s[d]);
            }
        }
        if w.empty {
            (w.taps, w.first, w.start) = ([1; 3], [0; 3], [0; 3]);
        }
        w
    }

    pub(super) fn deep(&self) -> bool {
        self.z.i[0] > 1 || self.z.k[0] > 1 || self.z.o[0] > 1
    }

    /// The launches.
    pub(super) fn program(&self, target: &CudaTarget) -> Result<Program, Skip> {
        check(self.problem, target)?;
        let mode = self.problem.attr.fpmath.mode;
        let (from, to, weights) = (self.from.1, self.to.1, self.channels.weights);
        let (ta, tb, tc) = (operand(from.dtype, mode), operand(weights.dtype, mode), result(to.dtype));
        let (Some(ta), Some(tb), Some(tc)) = (ta, tb, tc) else {
            return Err(Skip::DataType(format!("{}:{}:{}", from.dtype, weights.dtype, to.dtype)));
        };
        let bytes = (from.dtype.bits() / 8) as i64;
        if ta != tb && bytes != 1 || from.dtype.is_f8() != weights.dtype.is_f8() {
            return Err(Skip::DataType(format!("{} by {}", from.dtype, weights.dtype)));
        }
        let (from_layout, to_layout) = (plain(from)?, plain(to)?);
        let unit = plane_unit(to, to_layout);
        let planes = unit.is_some();
        if !is_close(from, from_layout) || !planes && to_layout.strides[1] != 1 {
            return Err(Skip::Layout("channels that are not next to each other, or pixels that are not 16-byte aligned".into()));
        }
        let walks = self.walks(if planes { 1 } else { WALKS })?;
        let read = self.grids()[0];
        let groups = grouped(walks);
        let near = |w: &Walk, start: [i64; 3]| {
            let reach = std::array::from_fn(|d| w.start[d] - start[d] + w.reach()[d]);
            is_in_reach([start, w.size, w.stride, reach, read], self.deep())
        };
        if !groups.iter().all(|(walks, start)| walks.iter().all(|w| near(w, *start))) {
            return Err(Skip::Shape("windows that the tensor copy engine does not walk"));
        }
        let request = Request { planes, ..self.request(&groups, bytes, to_layout)? };
        let mut program = Program::or_unaligned(self.otherwise, self.problem, target)?;
        let (weights, b_mn) = self.weights(&mut program, bytes, target)?;
        let request = Request { b_mn, ..request };
        let choice = self.choice(&request, target).ok_or(Skip::Shape("no tile fits"))?;
        let chosen = Chosen { request: &request, choice: &choice, types: [ta, tb, tc], weights, unit: unit.unwrap_or(0) };
        for (walks, start) in &groups {
            program.launches.push(self.launch(walks, *start, &chosen, target)?);
        }
        Ok(program)
    }

    /// The tile; it has columns of one slice only.
    fn choice(&self, request: &Request, target: &CudaTarget) -> Option<Choice> {
        let Some(slices) = self.slices.as_ref().filter(|s| s.count() > 1) else { return shape::best(request, target) };
        shape::candidates(request, &target.facts).into_iter().find(|c| slices.channels()[0] % c.shape.n == 0)
    }

    /// The request for a tile: the group with most taps, with their mean number per walk.
    fn request(&self, groups: &[(Vec<Walk>, [i64; 3])], bytes: i64, to: &Blocking) -> Result<Request, Skip> {
        let result_bytes = (self.to.1.dtype.bits() / 8) as i64;
        let taps = |g: &[Walk]| g.iter().map(Walk::count).sum::<i64>();
        let (most, _) = groups.iter().max_by_key(|g| taps(&g.0)).ok_or(Skip::Shape("no pixels"))?;
        let (taps, count) = (taps(most).max(1), most.len() as i64);
        let scattered = groups.len() > 1 || count > 1;
        let whole = |v: i64| v * result_bytes % 16 == 0;
        let step = pixel_step(self.to.1, to, 0);
        if !scattered && step.is_none() && to.strides[1] == 1 {
            return Err(Skip::Layout("pixels that are not evenly spaced".into()));
        }
        let spaced = |d: usize| d == 1 || self.to.1.dims()[d] == 1 || whole(to.strides[d]);
        if scattered && !(whole(self.made) && whole(to.offset) && (0..self.to.1.dims().len()).all(spaced)) {
            return Err(Skip::Layout("pixels that are not 16-byte aligned".into()));
        }
        let pixels = self.z.mb * most[0].size.iter().product::<i64>();
        if pixels > i64::from(i32::MAX) / 2 {
            return Err(Skip::Shape("very many pixels"));
        }
        let lanes = 128 / bytes;
        let sizes = [pixels, self.made, ceil(taps, count) * ceil(self.given, lanes) * lanes, count];
        Ok(Request {
            promote: self.from.1.dtype.is_f8(),
            aligned: step.is_some_and(whole) && whole(self.made) && whole(to.offset),
            window: true,
            undivided: !self.from_large,
            scattered,
            computed: !self.problem.attr.post_ops.is_empty(),
            taps,
            ..Request::new(sizes, [bytes, result_bytes])
        })
    }

    /// The dense layout of the weights with these channel dimensions outermost and innermost.
    fn filter_order(&self, outer: usize, inner: usize) -> Result<Layout, Skip> {
        let dims = *self.channels.weights.dims();
        let order: Vec<usize> = once(outer).chain(2..dims.len()).chain([inner]).collect();
        Layout::dense(dims, &order).map_err(|_| OVERFLOW)
    }

    /// Where the kernel reads the weights, and whether they are contiguous along N (output channels) instead of K: the argument itself if the kernel can read
    /// its layout, otherwise a copy in scratch.
    fn weights(&self, program: &mut Program, bytes: i64, target: &CudaTarget) -> Result<(MapPlace, bool), Skip> {
        if let Some(slices) = &self.slices {
            return Ok((slices.spread(self.channels.weights, self.held(), program)?, false));
        }
        let (given, made) = if self.forward { (1, 0) } else { (0, 1) };
        if bytes == 2 && self.made * bytes % 16 == 0 && is_alike(self.channels.weights, &self.filter_order(given, made)?) {
            return Ok((MapPlace::Arg(Arg::WEIGHTS, 0), true));
        }
        Ok((self.filter(program, target)?, false))
    }

    /// Input channels of a tap in K-major weights, padded to 16 bytes.
    pub(super) fn held(&self) -> i64 {
        let unit = 128 / self.channels.weights.dtype.bits() as i64;
        ceil(self.given, unit) * unit
    }

    /// The weights with K innermost, from tap to tap by `held`, and N outermost: the argument itself, or a copy in scratch.
    pub(super) fn filter(&self, program: &mut Program, target: &CudaTarget) -> Result<MapPlace, Skip> {
        let t = self.channels.weights;
        let (given, made) = if self.forward { (1, 0) } else { (0, 1) };
        let wanted = self.filter_order(made, given)?;
        if self.held() == self.given && is_alike(t, &wanted) {
            return Ok(MapPlace::Arg(Arg::WEIGHTS, 0));
        }
        let mut copy = Tensor { dtype: t.dtype, layout: wanted };
        for (_, stride) in copy.layout.blocking_mut().ok_or(OVERFLOW)?.strides.iter_mut().enumerate().filter(|(d, _)| *d != given) {
            *stride = (*stride / self.given).checked_mul(self.held()).ok_or(OVERFLOW)?;
        }
        let at = program.book(copy.bytes())?;
        let kept = Kept { arg: Arg::WEIGHTS, tensor: copy, at };
        program.launches.extend(copied(t, &kept, true, target)?.launches);
        Ok(MapPlace::Scratch(at))
    }

    fn launch(&self, walks: &[Walk], start: [i64; 3], chosen: &Chosen<'_>, target: &CudaTarget) -> Result<Launch, Skip> {
        let (z, deep) = (&self.z, self.deep());
        let Chosen { request, choice, types, weights, unit } = *chosen;
        let (size, stride) = (walks[0].size, walks[0].stride);
        let r = &Request { m: z.mb * size.iter().product::<i64>(), batch: walks.len() as i64, ..*request };
        let residues: [[i64; 3]; TOGETHER] = std::array::from_fn(|i| walks.get(i).map_or([0; 3], |w| w.residue));
        let apart = r.scattered.then_some((size, z.s, &residues[..]));
        let declare =
            |emit: &mut Emitter| if self.forward { self.channels.declare(self.problem, apart, emit) } else { Ok(Default::default()) };
        let mut emit = epilogue(self.problem, self.to.0, &declare)?;
        tile_options(&mut emit, types, r, choice);
        emit.option("SPATIAL", if deep { 3 } else { 2 });
        emit.option("PLANE_UNIT", unit);
        let lanes = 128 / r.bytes;
        let ([down, across], blocks) = (clusters(r, choice), ceil(self.given, lanes));
        let mut ints = vec![r.m, r.n, blocks];
        for v in [z.k, size, stride, start] {
            ints.extend(inner_first(v));
        }
        let slice = self.slices.as_ref().map_or(i64::from(i32::MAX), |s| s.channels()[0]);
        ints.extend([down, across, r.batch, GROUP, slice, self.given, 0]);
        let mut words = pairs(&ints);
        let (to, n) = (plain(self.to.1)?, self.to.1.dims().len());
        let spatial: [i64; 3] = std::array::from_fn(|d| if d + n >= 5 { to.strides[d + n - 3] } else { 0 });
        for i in 0..if r.scattered { TOGETHER } else { 1 } {
            words.extend(walks.get(i).map_or([Word::Value(0); 9], |w| w.words(start, blocks, spatial)));
        }
        words.push(Word::Offset { arg: self.to.0, bytes: (to.offset * r.result_bytes) as u64 });
        let step = pixel_step(self.to.1, to, 0).unwrap_or(0);
        words.extend([step, if r.planes { to.strides[1] } else { 1 }, 0].map(|v| Word::Value(v as u64)));
        let place = inner_first(std::array::from_fn(|d| spatial[d] * z.s[d]));
        words.extend(place.into_iter().chain([to.strides[0]]).map(|v| Word::Value(v as u64)));
        let mut launch = emit.epilogue_of("conv_sm90", words);
        let visits = Visits { sizes: self.grids()[0], size, stride, lower: start, deep };
        let source = walked(self.from, &visits, [lanes, choice.shape.m]);
        launch.maps = vec![source, self.weights_map(r, weights, choice.shape), self.result_map(chosen, step)?];
        launch_shape(&mut launch, r, choice, target);
        Ok(launch)
    }

    fn weights_map(&self, r: &Request, place: MapPlace, shape: shape::Shape) -> TensorMap {
        let taps: i64 = self.z.k.iter().product();
        let (inner, outer) = if r.b_mn { (self.made, self.given) } else { (self.given, self.made) };
        let lead = if r.b_mn { inner } else { self.held() };
        let strides = [(lead * r.bytes) as u64, (lead * taps * r.bytes) as u64];
        let tile = if r.b_mn { [64, 1, (128 / r.bytes) as u32] } else { [(128 / r.bytes) as u32, 1, (shape.n / shape.cluster[0]) as u32] };
        TensorMap::boxes(place, operand_kind(self.channels.weights.dtype), &[inner as u64, taps as u64, outer as u64], &strides, &tile)
    }

    fn result_map(&self, chosen: &Chosen<'_>, step: i64) -> Result<TensorMap, Skip> {
        let Chosen { request: r, choice, unit, .. } = *chosen;
        let size = r.result_bytes;
        let kind = MapKind::of(self.to.1.dtype);
        let tile = [(128 / size) as u32, 64, 1];
        if choice.store == Store::Planes && unit == 0 {
            return self.planes_map(choice);
        }
        if choice.store != Store::Tma {
            return Ok(TensorMap::boxes(MapPlace::Arg(self.to.0, 0), kind, &[(16 / size) as u64, 1, 1], &[16, 16], &tile));
        }
        let place = MapPlace::Arg(self.to.0, (plain(self.to.1)?.offset * size) as u64);
        let strides = [(step * size) as u64, (step * r.m * size) as u64];
        Ok(TensorMap::boxes(place, kind, &[r.n as u64, r.m as u64, 1], &strides, &tile))
    }

    /// The TMA descriptor that stores 64 pixels per channel (NCHW).
    fn planes_map(&self, choice: &Choice) -> Result<TensorMap, Skip> {
        let (t, b) = (self.to.1, plain(self.to.1)?);
        let image: i64 = t.dims().iter().skip(2).product();
        let batch = if t.dims()[0] > 1 { b.strides[0] } else { b.strides[1] * self.made };
        let columns = (choice.shape.n / choice.shape.split).clamp(8, 64);
        let place = MapPlace::Arg(self.to.0, (b.offset * 2) as u64);
        let dims = [image, self.made, t.dims()[0]].map(|v| v as u64);
        let strides = [b.strides[1], batch].map(|v| (v * 2) as u64);
        Ok(TensorMap::boxes(place, MapKind::of(t.dtype), &dims, &strides, &[64, columns as u32, 1]))
    }
}

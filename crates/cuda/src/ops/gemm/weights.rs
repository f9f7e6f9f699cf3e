//! `weights:sm90`: weight gradients of convolution and deconvolution on Hopper, 16-bit types and TF32 (`kernels/conv_weights_sm90.cu`; `gemm_sm90.cu` for 1x1): an
//! implicit GEMM with K = pixels, with split-K into parts that `reduce_parts.cu` adds.

use super::conv::{Direction, Visits, direction, inner_first, is_in_reach, walked};
use super::shape::{self, Choice, Gradient, Request, Shifts, Store};
use super::slices::Slices;
use super::{GROUP, check, epilogue, launch_shape, operand, operand_kind, pairs, pixel_step, plain, result, tile_options};
use crate::CudaTarget;
use crate::emit::{Real, Tail, View};
use crate::ops::ceil;
use crate::ops::map::Map;
use crate::ops::pointwise::tensor;
use crate::program::{Launch, MapKind, MapPlace, OVERFLOW, Program, TensorMap, Word};
use oxidnn_runtime::Skip;
use oxidnn_spec::op::ConvSizes;
use oxidnn_spec::{Arg, Dims, Layout, Problem, Prop, Tensor};
use std::iter::once;

/// `LANES` of `reduce_parts.cu`, and up to how many elements the larger one is used.
const LANES: [i64; 2] = [8, 32];
const FEW: i64 = 1 << 15;

/// A weight gradient as a product over pixels.
pub(super) struct Pass<'a> {
    pub(super) problem: &'a Problem,
    pub(super) z: ConvSizes,
    /// The tensor on the small grid (A, its channels are M), and the one on the large grid (B, taps x its channels are N).
    pub(super) small: (Arg, &'a Tensor),
    pub(super) large: (Arg, &'a Tensor),
    pub(super) sizes: [[i64; 3]; 2],
    pub(super) gradient: &'a Tensor,
    /// M is the first dimension of the weights.
    pub(super) rows_first: bool,
    pub(super) slices: Option<Slices>,
}

/// The gradients of weights and bias of a convolution or deconvolution without groups.
pub(crate) fn weights(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    let (channels, direction) = direction(problem)?;
    lower(problem, direction, [channels.src, channels.weights], target)
}

pub(super) fn lower(problem: &Problem, direction: Direction, tensors: [&Tensor; 2], target: &CudaTarget) -> Result<Program, Skip> {
    check(problem, target)?;
    lower_by(problem, direction, tensors, (&|pass, scratch, target| pass.program(scratch, target), target))
}

/// The launches of a pass, whose scratch begins at an offset.
type Way<'a> = &'a dyn Fn(&Pass<'_>, usize, &CudaTarget) -> Result<Program, Skip>;

/// By one of the kernels: the gradients of source, or small and large grid, `src` and `gradient`.
pub(super) fn lower_by(
    problem: &Problem,
    direction: Direction,
    [src, gradient]: [&Tensor; 2],
    (way, target): (Way<'_>, &CudaTarget),
) -> Result<Program, Skip> {
    let Direction { prop, sizes: z, input_is_large, otherwise, slices } = direction;
    if prop != Prop::BackwardWeights {
        return Err(Skip::Op("all but gradients of weights"));
    }
    let diff_dst = tensor(problem, Arg::DIFF_DST)?;
    let (input, output) = ((Arg::SRC, src), (Arg::DIFF_DST, diff_dst));
    let (small, large) = if input_is_large { (output, input) } else { (input, output) };
    let sizes = if input_is_large { [z.o, z.i] } else { [z.i, z.o] };
    let pass = Pass { problem, z, small, large, sizes, gradient, rows_first: input_is_large, slices };
    let mut program = Program::or_unaligned(otherwise, problem, target)?;
    let product = way(&pass, program.scratch, target)?;
    (program.scratch, program.launches) = (product.scratch, product.launches);
    if let Some(bias) = problem.op.tensor(Arg::DIFF_BIAS) {
        crate::ops::conv::bias_gradient(&mut program, problem, diff_dst, bias)?;
    }
    Ok(program)
}

impl Pass<'_> {
    fn is_pointwise(&self) -> bool {
        let z = &self.z;
        self.slices.is_none() && z.k == [1; 3] && z.s == [1; 3] && z.pl == [0; 3] && self.sizes[0] == self.sizes[1]
    }

    pub(super) fn deep(&self) -> bool {
        self.sizes[0][0] > 1 || self.sizes[1][0] > 1 || self.z.k[0] > 1
    }

    /// The launches, whose scratch begins at offset `scratch`.
    pub(super) fn program(&self, scratch: usize, target: &CudaTarget) -> Result<Program, Skip> {
        let (small, large, z) = (self.small.1, self.large.1, &self.z);
        let names = [small, large].map(|t| operand(t.dtype, self.problem.attr.fpmath.mode));
        let ([Some(ta), Some(tb)], Some(tc)) = (names, result(self.gradient.dtype)) else { return Err(self.types()) };
        if ta != tb || !matches!(small.dtype.bits(), 16 | 32) {
            return Err(self.types());
        }
        let grouped = z.g != 1 || self.gradient.dims().len() != small.dims().len();
        if grouped && self.slices.is_none() || [small, large, self.gradient].iter().any(|t| t.is_empty()) {
            return Err(Skip::Shape("groups, or no elements"));
        }
        if !Tail::of(self.problem, Arg::DIFF_WEIGHTS, self.gradient).is_plain() {
            return Err(Skip::Attr("scales of gradients".into()));
        }
        let (rows, channels) = (small.dims()[1], self.channels());
        let taps: i64 = z.k.iter().product();
        let pixels = self.pixels(1);
        self.is_readable()?;
        let held = self.held(channels);
        let columns = taps * held;
        if [rows, columns, pixels].iter().any(|&n| n > i64::from(i32::MAX) / 2) {
            return Err(Skip::Shape("very large tensors"));
        }
        let g = shape::gradient([rows, columns, pixels, self.slice()], self.shifts(held), self.bytes(), &target.facts)
            .ok_or(Skip::Shape("no tile fits"))?;
        let mut program = Program { scratch, ..Program::default() };
        let (to, copied) = self.destination(&mut program, held)?;
        if g.parts == 1 {
            program.launches.push(self.product(&g, [rows, columns], [ta, tb, tc], to, target)?);
        } else {
            let bytes = rows.checked_mul(columns).and_then(|n| n.checked_mul(4 * g.parts)).and_then(|b| usize::try_from(b).ok());
            let at = program.book(bytes.ok_or(OVERFLOW)?)?;
            program.launches.push(self.product(&g, [rows, columns], [ta, tb, "T_F32"], MapPlace::Scratch(at), target)?);
            program.launches.push(add(self.problem, Parts { count: g.parts, rows, columns, at }, tc, to, [columns, 1])?);
        }
        program.launches.extend(copied);
        Ok(program)
    }

    /// The channels on the large grid that those on the small one are multiplied by.
    fn channels(&self) -> i64 {
        self.slices.as_ref().map_or(self.large.1.dims()[1], |s| s.channels()[1])
    }

    /// The rows that a tile lies within.
    fn slice(&self) -> i64 {
        self.slices.as_ref().filter(|s| s.count() > 1).map_or(0, |s| s.channels()[0])
    }

    /// The walk over the small grid with `SHIFTS`: its sizes, and its start.
    fn walk(&self, shifts: i64) -> [[i64; 3]; 2] {
        let ([mut size, _], down) = (self.sizes, (shifts - 1) * self.z.d[1]);
        size[1] += down;
        [size, [0, -down, 0]]
    }

    /// Number of pixels of that walk.
    pub(super) fn pixels(&self, shifts: i64) -> i64 {
        self.small.1.dims()[0] * self.walk(shifts)[0].iter().product::<i64>()
    }

    /// Whether `SHIFTS` applies: without strides all taps along H read the same lines, and without dilation few lines are added.
    fn shifts(&self, held: i64) -> Option<Shifts> {
        let (z, taps) = (&self.z, self.z.k[1]);
        if self.bytes() != 2 || self.is_pointwise() || z.s != [1; 3] || z.d[1] != 1 || !matches!(taps, 2 | 3) {
            return None;
        }
        let [size, lower] = self.walk(taps);
        let reach = std::array::from_fn(|d| if d == 1 { 0 } else { (z.k[d] - 1) * z.d[d] });
        let near = is_in_reach([lower, size, [1; 3], lower.map(|v| -v), self.sizes[0]], self.deep())
            && is_in_reach([z.pl.map(|p| -p), size, z.s, reach, self.sizes[1]], self.deep());
        (near && self.pixels(taps) <= i64::from(i32::MAX) / 2).then(|| Shifts { taps, line: z.k[2] * held, pixels: self.pixels(taps) })
    }

    /// Element size of the operands in bytes.
    fn bytes(&self) -> i64 {
        (self.small.1.dtype.bits() / 8) as i64
    }

    /// Elements in 128 bytes: pixels of a stage, and channels that are gathered together.
    fn depth(&self) -> i64 {
        128 / self.bytes()
    }

    /// The channels of a tap, padded to what is gathered together.
    fn held(&self, channels: i64) -> i64 {
        if self.is_pointwise() && channels * self.bytes() % 16 == 0 { channels } else { ceil(channels, self.depth()) * self.depth() }
    }

    pub(super) fn types(&self) -> Skip {
        Skip::DataType(format!("{}:{}:{}", self.small.1.dtype, self.large.1.dtype, self.gradient.dtype))
    }

    /// Checks that TMA can address both tensors.
    fn is_readable(&self) -> Result<(), Skip> {
        let (small, large, z) = (self.small.1, self.large.1, &self.z);
        let whole = |v: i64| v * self.bytes() % 16 == 0;
        let (s, l) = (plain(small)?, plain(large)?);
        let step = pixel_step(small, s, 0);
        let spaced = |t: &Tensor, d: usize, stride: i64| d == 1 || t.dims()[d] == 1 || whole(stride) && stride > 0;
        let apart = || Skip::Layout("channels that are not next to each other, or pixels that are not 16-byte aligned".into());
        let close = s.strides[1] == 1 && l.strides[1] == 1 && whole(s.offset) && whole(l.offset);
        if !close || !step.is_some_and(whole) || !l.strides.iter().enumerate().all(|(d, &st)| spaced(large, d, st)) {
            return Err(apart());
        }
        if self.is_pointwise() {
            return if pixel_step(large, l, 0).is_some_and(whole) { Ok(()) } else { Err(apart()) };
        }
        let reach = std::array::from_fn(|d| (z.k[d] - 1) * z.d[d]);
        if !is_in_reach([z.pl.map(|p| -p), self.sizes[0], z.s, reach, self.sizes[1]], self.deep()) {
            return Err(Skip::Shape("windows that the tensor copy engine does not walk"));
        }
        Ok(())
    }

    /// Where the kernel stores (M, taps, `held` channels): the gradient itself if it has that layout, otherwise scratch, and the launches that copy it from there.
    pub(super) fn destination(&self, program: &mut Program, held: i64) -> Result<(MapPlace, Vec<Launch>), Skip> {
        let (t, n) = (self.gradient, self.gradient.dims().len());
        if let Some(slices) = &self.slices {
            return slices.gather(t, held, program);
        }
        let (first, last) = if self.rows_first { (0, 1) } else { (1, 0) };
        let order: Vec<usize> = once(first).chain(2..n).chain([last]).collect();
        let wanted = Layout::dense(*t.dims(), &order).map_err(|_| OVERFLOW)?;
        let inner = usize::from(self.rows_first);
        if t.layout == wanted && held == t.dims()[inner] {
            return Ok((MapPlace::Arg(Arg::DIFF_WEIGHTS, 0), Vec::new()));
        }
        let whole = Dims::from_fn(n, |d| if d == inner { held } else { t.dims()[d] });
        let whole = Tensor { dtype: t.dtype, layout: Layout::dense(whole, &order).map_err(|_| OVERFLOW)? };
        let at = program.book(whole.bytes())?;
        let mut kept = Tensor { dtype: t.dtype, layout: wanted };
        kept.layout.blocking_mut().ok_or(OVERFLOW)?.strides = plain(&whole)?.strides;
        let mut map = Map::over(Real::Single, &t.layout);
        map.written(&View::of("dst", Arg::DIFF_WEIGHTS, t))?;
        map.emit.view(&View::scratch("src", at, &kept))?;
        map.element.push_str("    store_code<dst_type>(a.dst_data, dst_at(a, p), src_code(a, src_at(a, p)));\n");
        Ok((MapPlace::Scratch(at), vec![map.launch()]))
    }

    /// The TMA descriptors of both operands.
    fn maps(&self, g: &Gradient) -> Result<[TensorMap; 2], Skip> {
        let ([size, lower], [small, large], deep) = (self.walk(g.shifts), self.sizes, self.deep());
        let walk = |of: (Arg, &Tensor), sizes, stride, lower| walked(of, &Visits { sizes, size, stride, lower, deep }, [self.depth(); 2]);
        let pixels = self.pixels(1);
        let left = if g.shifts > 1 { walk(self.small, small, [1; 3], lower) } else { pixels_map(self.small, pixels)? };
        let right =
            if self.is_pointwise() { pixels_map(self.large, pixels)? } else { walk(self.large, large, self.z.s, self.z.pl.map(|p| -p)) };
        Ok([left, right])
    }

    fn product(
        &self,
        g: &Gradient,
        [rows, columns]: [i64; 2],
        types: [&str; 3],
        to: MapPlace,
        target: &CudaTarget,
    ) -> Result<Launch, Skip> {
        let (z, pointwise, pixels) = (&self.z, self.is_pointwise(), self.pixels(g.shifts));
        let depth = self.depth();
        let kind = if types[2] == "T_F32" { MapKind::Single } else { MapKind::of(self.gradient.dtype) };
        let size = if kind == MapKind::Single { 4 } else { (self.gradient.dtype.bits() / 8) as i64 };
        let (across, down) = (columns / g.shifts, ceil(rows, g.shape.m / g.shifts));
        let r = Request {
            a_mn: true,
            b_mn: true,
            aligned: columns * size % 16 == 0,
            window: true,
            undivided: true,
            ..Request::new([down * g.shape.m, across, pixels, g.parts], [self.bytes(), size])
        };
        let choice = Choice { shape: g.shape, stages: g.stages, store: Store::Tma, seconds: 0.0 };
        let mut emit = epilogue(self.problem, Arg::DIFF_WEIGHTS, &|_| Ok(Default::default()))?;
        tile_options(&mut emit, types, &r, &choice);
        let (tiles, stages) = (ceil(across, g.shape.n), ceil(ceil(pixels, depth), g.parts));
        let mut ints;
        if pointwise {
            ints = vec![rows, columns, stages, g.parts, down, tiles, g.parts, GROUP, 1, 1, 1, 1];
        } else {
            emit.option("SPATIAL", if self.deep() { 3 } else { 2 });
            emit.option("SHIFTS", g.shifts);
            let held = self.held(self.channels());
            let filter = if g.shifts > 1 { [z.k[0], 1, z.k[2]] } else { z.k };
            ints = vec![rows, across, stages, held / depth];
            for v in [filter, z.d, self.walk(g.shifts)[0], z.s, z.pl.map(|p| -p)] {
                ints.extend(inner_first(v));
            }
            let slice = if self.slice() > 0 { self.slice() } else { i64::from(i32::MAX) };
            ints.extend([z.d[1], z.k[2] * held, slice, self.channels(), down, tiles, g.parts, GROUP]);
        }
        let mut words = pairs(&ints);
        words.push(to.word());
        words.extend([columns, 1, rows * columns].map(|v| Word::Value(v as u64)));
        let mut launch = emit.epilogue_of(if pointwise { "gemm_sm90" } else { "conv_weights_sm90" }, words);
        let strides = [(columns * size) as u64, (rows * columns * size) as u64];
        let out = TensorMap::boxes(to, kind, &[columns as u64, rows as u64, g.parts as u64], &strides, &[(128 / size) as u32, 64, 1]);
        let [left, right] = self.maps(g)?;
        launch.maps = vec![left, right, out];
        launch_shape(&mut launch, &r, &choice, target);
        Ok(launch)
    }
}

/// Split-K parts: dense f32 matrices at an offset in the scratch.
#[derive(Clone, Copy)]
pub(super) struct Parts {
    pub(super) count: i64,
    pub(super) rows: i64,
    pub(super) columns: i64,
    pub(super) at: usize,
}

/// The launch of `reduce_parts.cu` for a weight gradient of type `name` with these row and column strides.
pub(super) fn add(problem: &Problem, parts: Parts, name: &str, to: MapPlace, strides: [i64; 2]) -> Result<Launch, Skip> {
    let Parts { count, rows, columns, at } = parts;
    let mut emit = epilogue(problem, Arg::DIFF_WEIGHTS, &|_| Ok(Default::default()))?;
    emit.option("C_TYPE", name);
    // Few elements and many parts: more threads per element.
    let lanes = if rows * columns <= FEW && count > LANES[0] { LANES[1] } else { LANES[0] };
    emit.option("LANES", lanes);
    let mut words = vec![Word::Scratch(at)];
    words.extend(pairs(&[count, rows, columns, 0]));
    words.push(to.word());
    words.extend(strides.map(|v| Word::Value(v as u64)));
    let mut launch = emit.epilogue_of("reduce_parts", words);
    launch.grid = [ceil(rows * columns * lanes, 1024) as u32, 1, 1];
    Ok(launch)
}

/// The TMA descriptor (tiled mode) of a tensor as pixels by channels, in boxes of 128 bytes of channels by as many pixels.
fn pixels_map((arg, t): (Arg, &Tensor), pixels: i64) -> Result<TensorMap, Skip> {
    let (b, size) = (plain(t)?, (t.dtype.bits() / 8) as i64);
    let step = pixel_step(t, b, 0).ok_or(OVERFLOW)?;
    let (strides, depth) = ([(step * size) as u64, (step * pixels * size) as u64], (128 / size) as u32);
    let place = MapPlace::Arg(arg, (b.offset * size) as u64);
    Ok(TensorMap::boxes(place, operand_kind(t.dtype), &[t.dims()[1] as u64, pixels as u64, 1], &strides, &[depth, depth, 1]))
}

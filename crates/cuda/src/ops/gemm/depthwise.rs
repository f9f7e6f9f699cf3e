//! `depthwise:sm90`: depthwise convolution of NHWC images of f32 and 16-bit types in all directions (`kernels/depthwise_sm90.cu`, `depthwise_weights_sm90.cu`).
//! Bound by memory: source and result are moved once; TMA loads each tile with its halo, which hits in L2.

use super::weights::{Parts, add};
use super::{Channels, check_attributes, epilogue, hopper, pairs, plain, result};
use crate::CudaTarget;
use crate::emit::{Emitter, Tail};
use crate::ops::ceil;
use crate::program::{Launch, MapKind, MapPlace, OVERFLOW, Program, Swizzle, TensorMap, Word};
use oxidnn_runtime::Skip;
use oxidnn_spec::op::{Conv, ConvSizes};
use oxidnn_spec::{Arg, DataType, Op, Problem, Prop, Tensor};

/// Channels of a CTA and its warps; sizes of shared memory that kernels are compiled for, with three CTAs per SM for the weight gradient.
const CHANNELS: i64 = 64;
const WARPS: i64 = 8;
const SHARED: [i64; 2] = [40 << 10, 74 << 10];
const BLOCKS: i64 = 3;
/// Largest filter, and largest stride along W.
const TAPS: i64 = 7;
const STEP: i64 = 2;
/// Weight gradient: taps whose sums a lane keeps in registers, at most.
const KEPT: i64 = 28;

/// Depthwise convolution, and its gradients.
pub(crate) fn conv(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    hopper(target)?;
    let Op::Conv(op) = &problem.op else { return Err(Skip::Op("anything but convolutions")) };
    check_attributes(problem)?;
    let z = op.sizes();
    let is_depthwise = z.ic == 1 && z.oc == 1 && z.g >= 8 && op.src.dims().len() == 4 && op.weights.dims().len() == 5;
    if !is_depthwise || [&op.src, &op.weights, &op.dst].iter().any(|t| t.is_empty()) {
        return Err(Skip::Shape("anything but groups of one channel of images"));
    }
    if z.d[2] != 1 || z.k[1] > TAPS || z.k[2] > TAPS || z.s[2] > STEP || op.prop == Prop::BackwardData && z.s != [1; 3] {
        return Err(Skip::Shape("kernels of more than 7 taps, dilated rows, steps beyond 2, or gradients of strided sources"));
    }
    let pixels = [z.i, z.o].map(|size| size.iter().fold(z.mb, |n, &d| n.saturating_mul(d)));
    if pixels.iter().any(|&n| n > i64::from(i32::MAX) / CHANNELS) {
        return Err(Skip::Shape("very many pixels"));
    }
    let depthwise = Depthwise { op, problem, z, target };
    let mut program = Program::or_unaligned(crate::ops::depthwise::conv, problem, target)?;
    if op.prop == Prop::BackwardWeights {
        depthwise.gradient(&mut program)?;
    } else {
        program.launches.push(depthwise.data()?);
    }
    Ok(program)
}

struct Depthwise<'a> {
    op: &'a Conv,
    problem: &'a Problem,
    z: ConvSizes,
    target: &'a CudaTarget,
}

/// A pass along H and W, as it is tiled.
#[derive(Clone, Copy)]
struct Walk {
    /// Sizes of input and result.
    read: [i64; 2],
    written: [i64; 2],
    padding: [i64; 2],
    /// Filter rows of one CTA.
    high: i64,
}

/// The tiling: pixels of a strip; strips per row and rows of a tile; tiles of an image along H and W; size of the source box.
#[derive(Clone, Copy)]
struct Tiling {
    strip: i64,
    strips: i64,
    rows: i64,
    down: i64,
    across: i64,
    pitch: i64,
    lines: i64,
    /// Shared memory in bytes.
    shared: i64,
}

/// The kernels' code of a type.
fn name(dtype: DataType) -> Result<&'static str, Skip> {
    match dtype {
        DataType::F32 => Ok("T_F32"),
        DataType::Bf16 => Ok("T_BF16"),
        DataType::F16 => Ok("T_F16"),
        _ => Err(Skip::DataType(dtype.to_string())),
    }
}

fn size(t: &Tensor) -> i64 {
    (t.dtype.bits() / 8) as i64
}

/// Checks that TMA can address a tensor with contiguous channels, and that channels can be stored in pairs.
fn is_readable(t: &Tensor) -> Result<(), Skip> {
    let b = plain(t)?;
    let whole = |v: i64| v * size(t) % 16 == 0;
    let spaced = |d: usize| t.dims()[d] == 1 || b.strides[d] > 0 && whole(b.strides[d]);
    if b.strides[1] != 1 || !whole(b.offset) || !whole(t.dims()[1]) || ![0, 2, 3].into_iter().all(spaced) {
        return Err(Skip::Layout("channels that are not next to each other, or pixels that are not 16-byte aligned".into()));
    }
    Ok(())
}

/// The TMA descriptor (tiled mode) of a tensor as (C, W, H, N).
fn map((arg, t): (Arg, &Tensor), [pixels, rows]: [i64; 2]) -> Result<TensorMap, Skip> {
    let (b, d) = (plain(t)?, t.dims());
    // Dimensions of size 1 need a legal stride, too.
    let stride = |i: usize| if d[i] == 1 { 16 } else { (b.strides[i] * size(t)) as u64 };
    let place = MapPlace::Arg(arg, (b.offset * size(t)) as u64);
    let dims = [d[1], d[3], d[2], d[0]].map(|n| n as u64);
    let tile = [CHANNELS, pixels, rows, 1].map(|n| n as u32);
    let map = TensorMap::boxes(place, MapKind::of(t.dtype), &dims, &[stride(3), stride(2), stride(0)], &tile);
    Ok(TensorMap { swizzle: Swizzle::None, ..map })
}

impl Depthwise<'_> {
    /// The tiling with the largest tiles that fit shared memory and the fewest wasted pixels; `both`: result tiles are loaded, too.
    fn tiling(&self, walk: &Walk, pixel: i64, both: bool) -> Result<Tiling, Skip> {
        let z = &self.z;
        let [height, width] = walk.written;
        let fits = |most: [i64; 2], strip: i64| {
            let (down, all) = (ceil(height, most[0]), ceil(width, strip));
            let across = ceil(all, most[1]);
            let (rows, strips) = (ceil(height, down), ceil(all, across));
            let lines = (rows - 1) * z.s[1] + (walk.high - 1) * z.d[1] + 1;
            let pitch = (strips * strip - 1) * z.s[2] + z.k[2];
            let own = if both { rows * strips * strip } else { 0 };
            let shared = SHARED.into_iter().find(|&s| (lines * pitch + own) * pixel + 128 <= s)?;
            (lines.max(pitch) <= 256).then_some(Tiling { strip, strips, rows, down, across, pitch, lines, shared })
        };
        let sizes = [[8, 4], [8, 2], [4, 4], [4, 2], [4, 1], [2, 2], [2, 1], [1, 1]];
        let found = sizes.into_iter().find_map(|most| {
            let waste = |t: &Tiling| t.across * t.strips * t.strip;
            [8, 7].into_iter().filter_map(|strip| fits(most, strip)).min_by_key(waste)
        });
        found.ok_or(Skip::Shape("a kernel too large for shared memory"))
    }

    /// The kernels' `struct Geometry`.
    fn geometry(&self, walk: &Walk, t: &Tiling, pixel: i64) -> Vec<i64> {
        let z = &self.z;
        let [height, width] = walk.written;
        let bytes = t.lines * t.pitch * pixel;
        let tiles = [t.rows, t.strips, t.down, t.across, t.pitch, bytes];
        let sizes = [z.g, ceil(z.g, CHANNELS), walk.read[0], height, width];
        let steps = [z.s[1], z.d[1], walk.padding[0], walk.padding[1]];
        sizes.into_iter().chain(tiles).chain(steps).collect()
    }

    fn options(&self, emit: &mut Emitter, dtype: DataType, t: &Tiling) -> Result<(), Skip> {
        emit.option("A_TYPE", name(dtype)?);
        for (name, value) in [("TAPS_W", self.z.k[2]), ("STEP", self.z.s[2]), ("STRIP", t.strip), ("SHARED", t.shared)] {
            emit.option(name, value);
        }
        Ok(())
    }

    /// Forward, or backward data, which is a convolution with the flipped filter.
    fn data(&self) -> Result<Launch, Skip> {
        let (op, z) = (self.op, &self.z);
        let forward = op.prop.is_forward();
        let (from, to) =
            if forward { ((Arg::SRC, &op.src), (Arg::DST, &op.dst)) } else { ((Arg::DIFF_DST, &op.dst), (Arg::DIFF_SRC, &op.src)) };
        if from.1.dtype != op.weights.dtype {
            return Err(Skip::DataType(format!("{} by {}", from.1.dtype, op.weights.dtype)));
        }
        let made = result(to.1.dtype).ok_or_else(|| Skip::DataType(to.1.dtype.to_string()))?;
        is_readable(from.1)?;
        is_readable(to.1)?;
        let own = |v: [i64; 3]| [v[1], v[2]];
        let padding = |d: usize| if forward { z.pl[d] } else { (z.k[d] - 1) * z.d[d] - z.pl[d] };
        let [read, written] = if forward { [own(z.i), own(z.o)] } else { [own(z.o), own(z.i)] };
        let (walk, pixel) = (Walk { read, written, padding: [padding(1), padding(2)], high: z.k[1] }, CHANNELS * size(from.1));
        let t = self.tiling(&walk, pixel, false)?;
        let channels = Channels { src: &op.src, weights: &op.weights, bias: op.bias.as_ref(), dst: &op.dst };
        let declare = |emit: &mut Emitter| if forward { channels.declare(self.problem, None, emit) } else { Ok(Default::default()) };
        let mut emit = epilogue(self.problem, to.0, &declare)?;
        self.options(&mut emit, from.1.dtype, &t)?;
        emit.option("C_TYPE", made);
        emit.option("TAPS_H", z.k[1]);
        let mut words = pairs(&self.geometry(&walk, &t, pixel));
        let (filter, result) = (plain(&op.weights)?, plain(to.1)?);
        let (sign, last) = if forward { (1, 0) } else { (-1, (z.k[1] - 1) * filter.strides[3] + (z.k[2] - 1) * filter.strides[4]) };
        words.push(Word::Offset { arg: Arg::WEIGHTS, bytes: ((filter.offset + last) * size(&op.weights)) as u64 });
        words.extend([filter.strides[0], sign * filter.strides[3], sign * filter.strides[4]].map(|v| Word::Value(v as u64)));
        words.push(Word::Offset { arg: to.0, bytes: (result.offset * size(to.1)) as u64 });
        words.extend([0, 2, 3].map(|d| Word::Value(result.strides[d] as u64)));
        let mut launch = emit.epilogue_of("depthwise_sm90", words);
        launch.grid = [u32::try_from(z.mb * t.down * t.across * ceil(z.g, CHANNELS)).map_err(|_| OVERFLOW)?, 1, 1];
        launch.shared = t.shared as u32;
        launch.maps = vec![map(from, [t.pitch, t.lines])?];
        launch.aligned = vec![MapPlace::Arg(to.0, 0)];
        Ok(launch)
    }

    /// The weight gradient, in parts that `reduce_parts.cu` adds.
    fn gradient(&self, program: &mut Program) -> Result<(), Skip> {
        let (op, z) = (self.op, &self.z);
        let diff_dst = self.problem.op.tensor(Arg::DIFF_DST).ok_or(OVERFLOW)?;
        if op.src.dtype != diff_dst.dtype {
            return Err(Skip::DataType(format!("{} by {}", op.src.dtype, diff_dst.dtype)));
        }
        let made = result(op.weights.dtype).ok_or_else(|| Skip::DataType(op.weights.dtype.to_string()))?;
        if !Tail::of(self.problem, Arg::DIFF_WEIGHTS, &op.weights).is_plain() {
            return Err(Skip::Attr("scales of gradients".into()));
        }
        is_readable(&op.src)?;
        is_readable(diff_dst)?;
        let filter = plain(&op.weights)?;
        let step = if z.k[2] == 1 { filter.strides[3] } else { filter.strides[4] };
        if z.k[1] > 1 && z.k[2] > 1 && filter.strides[3] != z.k[2] * step {
            return Err(Skip::Layout("taps of weights that are not evenly spaced".into()));
        }
        let high = (KEPT / z.k[2]).min(z.k[1]);
        let (own, pixel) = (|v: [i64; 3]| [v[1], v[2]], CHANNELS * size(&op.src));
        let walk = Walk { read: own(z.i), written: own(z.o), padding: own(z.pl), high };
        let mut t = self.tiling(&walk, pixel, true)?;
        // The warps' sums reuse the memory of the tiles.
        if WARPS * high * z.k[2] * CHANNELS * 4 + 128 > t.shared {
            t.shared = SHARED[1];
        }
        let (tiles, taps) = (z.mb * t.down * t.across, z.k[1] * z.k[2]);
        let (blocks, groups) = (ceil(z.g, CHANNELS), ceil(z.k[1], high));
        let most = (BLOCKS * i64::from(self.target.facts.multiprocessors) / (blocks * groups)).clamp(1, tiles);
        let count = ceil(tiles, ceil(tiles, most));
        let sums = count.checked_mul(taps * z.g * 4).and_then(|b| usize::try_from(b).ok());
        let at = program.book(sums.ok_or(OVERFLOW)?)?;
        let mut emit = epilogue(self.problem, Arg::DIFF_WEIGHTS, &|_| Ok(Default::default()))?;
        self.options(&mut emit, op.src.dtype, &t)?;
        emit.option("ROWS", high);
        let mut ints = self.geometry(&walk, &t, pixel);
        ints.extend([tiles, z.k[1]]);
        let mut words = pairs(&ints);
        words.push(Word::Scratch(at));
        let mut launch = emit.epilogue_of("depthwise_weights_sm90", words);
        launch.grid = [count, blocks, groups].map(|n| n as u32);
        launch.shared = t.shared as u32;
        launch.maps = vec![map((Arg::SRC, &op.src), [t.pitch, t.lines])?, map((Arg::DIFF_DST, diff_dst), [t.strips * t.strip, t.rows])?];
        program.launches.push(launch);
        let to = MapPlace::Arg(Arg::DIFF_WEIGHTS, (filter.offset * size(&op.weights)) as u64);
        program.launches.push(add(self.problem, Parts { count, rows: taps, columns: z.g, at }, made, to, [step, filter.strides[0]])?);
        match self.problem.op.tensor(Arg::DIFF_BIAS) {
            Some(bias) => crate::ops::conv::bias_gradient(program, self.problem, diff_dst, bias),
            None => Ok(()),
        }
    }
}

const _: () = assert!(WARPS * KEPT * CHANNELS * 4 + 128 <= SHARED[1], "the sums of all warps fit where the tiles were");

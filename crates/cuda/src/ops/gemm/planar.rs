//! `planar:sm90`: convolution of NCHW tensors of 16-bit types with stride 1, forward and backward data, on Hopper (`kernels/conv_planar_sm90.cu`). Only the weights
//! are transposed in memory.

use super::conv::{Direction, Window};
use super::{Channels, Declared, check, epilogue, operand, operand_kind, pairs, pixel_step, plain, result};
use crate::emit::Emitter;
use crate::ops::ceil;
use crate::program::{Launch, MapPlace, OVERFLOW, Program, TensorMap, Word};
use crate::{CudaTarget, Facts};
use oxidnn_runtime::Skip;
use oxidnn_spec::{Op, PostOp, Problem, Tensor};

/// Taps of a filter, at most.
const TAPS: i64 = 64;
/// Limits within which it is faster than `window:sm90` between transpositions: least taps, since these reuse the transposed input in shared memory; largest K, and
/// largest number of pixels of an image and in all, since `conv_sm90.cu` has larger tiles and split-K (time relative to the alternative on an H200 for
/// 3x3 and 16 images: 0.83 for 128 channels of 28 x 28, 0.87 for 256 channels of 14 x 14, 1.16 for 512 channels of 7 x 7).
const WORTH_TAPS: i64 = 9;
const WORTH_STEPS: i64 = 2560;
const WORTH_PIXELS: [i64; 2] = [1024, 12_544];
/// Input channels, at least.
const LEAST: i64 = 24;
/// Possible numbers of weight stages.
const STAGES: [i64; 5] = [8, 6, 4, 3, 2];
/// Shared memory of a consumer's staged sums; of mbarriers, the table of taps, and alignment.
const SUMS: i64 = 4 * 16 * 288;
const BESIDES: i64 = 1024 + 1024;

/// Sizes of the pass, along H and W.
struct Walk {
    read: [i64; 2],
    made: [i64; 2],
    taps: [i64; 2],
    step: [i64; 2],
    padding: [i64; 2],
    /// Positions of a padded line, and the offset of the last tap in positions.
    pitch: i64,
    reach: i64,
}

/// A variant of the kernel and what follows from it.
#[derive(Clone, Copy)]
struct Tile {
    consumers: i64,
    columns: i64,
    buffers: i64,
    stages: i64,
    positions: i64,
    /// Predicted cycles.
    cycles: i64,
}

/// Convolution without groups.
pub(crate) fn conv(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    let Op::Conv(op) = &problem.op else { return Err(Skip::Op("anything but convolutions")) };
    check(problem, target)?;
    let channels = Channels { src: &op.src, weights: &op.weights, bias: op.bias.as_ref(), dst: &op.dst };
    let direction = Direction { prop: op.prop, sizes: op.sizes(), input_is_large: true, otherwise: crate::ops::conv::conv, slices: None };
    let window = Window::new(problem, channels, direction)?;
    let walk = Walk::of(&window)?;
    let is_planar = |t: &Tensor| plain(t).is_ok_and(|b| pixel_step(t, b, 2) == Some(1));
    if !is_planar(window.from.1) || !is_planar(window.to.1) {
        return Err(Skip::Layout("pixels that are not next to each other".into()));
    }
    let tile = Tile::best(&window, &walk, &target.facts).ok_or(Skip::Shape("no tile fits"))?;
    let mut program = Program::default();
    let weights = window.filter(&mut program, target)?;
    program.launches.push(walk.launch(&window, &tile, weights)?);
    if let MapPlace::Arg(..) = weights {
        let otherwise = Program::or_unaligned(window.otherwise, problem, target)?;
        (program.scratch, program.unaligned) = (program.scratch.max(otherwise.scratch), otherwise.unaligned);
    }
    Ok(program)
}

impl Walk {
    fn of(w: &Window<'_>) -> Result<Walk, Skip> {
        let (z, [read, made]) = (&w.z, w.grids());
        let plane = |v: [i64; 3]| [v[1], v[2]];
        let (taps, step) = (plane(z.k), plane(z.d));
        if w.from.1.dims().len() > 4 || z.s != [1; 3] {
            return Err(Skip::Shape("strides, or three spatial dimensions"));
        }
        let has_sum = w.problem.attr.post_ops.iter().any(|p| matches!(p, PostOp::Sum { .. }));
        let count = taps[0].saturating_mul(taps[1]);
        if !(2..=TAPS).contains(&count) || w.given % 8 != 0 || w.given < LEAST {
            return Err(Skip::Shape("few or many taps, or channels that are few or no multiple of 8"));
        }
        let (read, made) = (plane(read), plane(made));
        if [step, plane(z.pl), read, made].concat().iter().any(|v| v.abs() > 1 << 20) || read[0] * read[1] > i64::from(i32::MAX) / 4 {
            return Err(Skip::Shape("large images or steps"));
        }
        let pixels = read[0] * read[1];
        let is_small = pixels <= WORTH_PIXELS[0] && pixels.saturating_mul(z.mb) <= WORTH_PIXELS[1];
        let is_faster = is_small && count >= WORTH_TAPS && w.given * count <= WORTH_STEPS;
        if !(has_sum || is_faster) {
            return Err(Skip::Shape("what is faster between transpositions"));
        }
        let reach: [i64; 2] = std::array::from_fn(|d| (taps[d] - 1) * step[d]);
        let padding = std::array::from_fn(|d| if w.forward { z.pl[d + 1] } else { reach[d] - z.pl[d + 1] });
        let pitch = made[1] + reach[1];
        if made[0] * pitch > i64::from(i32::MAX) / 4 {
            return Err(Skip::Shape("large images or steps"));
        }
        Ok(Walk { read, made, taps, step, padding, pitch, reach: reach[0] * pitch + reach[1] })
    }

    /// Tiles of `columns` positions in an image.
    fn tiles(&self, columns: i64) -> i64 {
        ceil((self.made[0] - 1) * self.pitch + self.made[1], columns)
    }

    fn launch(&self, w: &Window<'_>, tile: &Tile, weights: MapPlace) -> Result<Launch, Skip> {
        let ((from, read), (to, made)) = (w.from, w.to);
        let (given_at, made_at) = (plain(read)?, plain(made)?);
        let mode = w.problem.attr.fpmath.mode;
        let types = [operand(read.dtype, mode), operand(w.channels.weights.dtype, mode), result(made.dtype)];
        let [Some(ta), Some(tb), Some(tc)] = types else { return Err(other_types(w)) };
        if ta != tb || read.dtype.bits() != 16 || !matches!(tc, "T_F16" | "T_BF16" | "T_F32") {
            return Err(other_types(w));
        }
        let declare = |emit: &mut Emitter| if w.forward { w.channels.declare_planar(w.problem, emit) } else { Ok(Declared::default()) };
        let mut emit = epilogue(w.problem, to, &declare)?;
        for (name, value) in [("A_TYPE", ta), ("B_TYPE", tb), ("C_TYPE", tc)] {
            emit.option(name, value);
        }
        for (name, value) in [("TILE_N", tile.columns), ("CONSUMERS", tile.consumers)] {
            emit.option(name, value);
        }
        let (given, taps) = (w.given, self.taps[0] * self.taps[1]);
        let tiles = [ceil(w.made, 64 * tile.consumers), self.tiles(tile.columns)];
        let mut ints = vec![w.made, given, ceil(given, 64), taps, self.taps[1], i64::from(!w.forward)];
        for pair in [self.step, self.padding, self.read, self.made, [self.pitch, tile.columns + self.reach]] {
            ints.extend(pair);
        }
        ints.extend([tile.stages, tile.buffers, tile.positions, tile.table()]);
        ints.extend(tiles);
        let mut words = pairs(&ints);
        for (arg, t, b) in [(from, read, given_at), (to, made, made_at)] {
            words.push(Word::Offset { arg, bytes: (b.offset * (t.dtype.bits() / 8) as i64) as u64 });
            words.extend([b.strides[1], b.strides[0]].map(|v| Word::Value(v as u64)));
        }
        let mut launch = emit.epilogue_of("conv_planar_sm90", words);
        let row = given * 2;
        let strides = [row, row * taps].map(|v| v as u64);
        let dims = [given, taps, w.made].map(|v| v as u64);
        launch.maps =
            vec![TensorMap::boxes(weights, operand_kind(w.channels.weights.dtype), &dims, &strides, &[64, 1, 64 * tile.consumers as u32])];
        let blocks = tiles[0].checked_mul(tiles[1]).and_then(|n| n.checked_mul(w.z.mb)).and_then(|n| u32::try_from(n).ok());
        launch.grid = [blocks.filter(|&n| n < 1 << 31).ok_or(OVERFLOW)?, 1, 1];
        launch.block = (128 * tile.consumers + 288) as u32;
        launch.shared = tile.shared() as u32;
        Ok(launch)
    }
}

fn other_types(w: &Window<'_>) -> Skip {
    Skip::DataType(format!("{}:{}:{}", w.from.1.dtype, w.channels.weights.dtype, w.to.1.dtype))
}

impl Tile {
    /// Entries of the table of pixels: positions, rounded up to what a warp reads at once.
    fn table(&self) -> i64 {
        ceil(self.positions, 128) * 128
    }

    /// Shared memory in bytes.
    fn shared(&self) -> i64 {
        let input = self.buffers * 8 * self.positions * 16;
        BESIDES + self.stages * self.consumers * 8192 + input + self.consumers * SUMS + self.table() * 4
    }

    /// CTAs per SM.
    fn resident(&self) -> i64 {
        if self.consumers == 1 && self.columns == 64 { 2 } else { 1 }
    }

    /// The variant with the least predicted time.
    fn best(w: &Window<'_>, walk: &Walk, facts: &Facts) -> Option<Tile> {
        let shapes = [[1, 64], [1, 128], [2, 64], [2, 128]];
        shapes.into_iter().filter_map(|shape| Tile::new(shape, w, walk, facts)).min_by_key(|t| t.cycles)
    }

    fn new([consumers, columns]: [i64; 2], w: &Window<'_>, walk: &Walk, facts: &Facts) -> Option<Tile> {
        let (chunks, taps) = (ceil(w.given, 64), walk.taps[0] * walk.taps[1]);
        let used = columns + walk.reach;
        let positions = ceil(used, 8) * 8;
        let mut tile = Tile { consumers, columns, buffers: chunks.min(2), stages: 0, positions, cycles: 0 };
        let room = i64::from(facts.shared_memory) / tile.resident() - 1024;
        tile.stages = STAGES.into_iter().find(|&stages| Tile { stages, ..tile }.shared() <= room)?;
        // Cycles of a chunk: wgmma, and loading of the input.
        let products = tile.resident() * taps * (consumers * columns * 9 / 4).max(160);
        let input = ceil(used, 128) * 700 + 2 * used;
        let blocks = ceil(w.made, 64 * consumers) * walk.tiles(columns) * w.z.mb;
        let waves = ceil(blocks, i64::from(facts.multiprocessors) * tile.resident());
        tile.cycles = waves.checked_mul(chunks * products.max(input) + input + 1500 + columns * 12)?;
        Some(tile)
    }
}

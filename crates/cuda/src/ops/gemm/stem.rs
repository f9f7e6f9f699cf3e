//! `stem:sm90`: forward convolution of few input channels (the first layer of a network), 16-bit types, on Hopper (`kernels/conv_window_sm90.cu`). The source, in
//! any layout, and the weights are packed before (`kernels/window_pack.cu`).

use super::shape::{Choice, Request, Shape, Store};
use super::{Channels, check, epilogue, operand, pairs, plain, result, tile_options};
use crate::CudaTarget;
use crate::emit::{Emitter, bare};
use crate::ops::ceil;
use crate::program::{Launch, MapKind, MapPlace, OVERFLOW, Program, Swizzle, TensorMap, Word};
use oxidnn_runtime::Skip;
use oxidnn_spec::op::{Conv, ConvSizes};
use oxidnn_spec::{Arg, Blocking, Op, Problem};

/// Taps of a filter row, padded with zeros.
const TAPS: i64 = 8;
/// Pixels of a tile along W and H for NHWC results, and for NCHW ones.
const TILE: [i64; 2] = [8, 16];
const LINES: [i64; 2] = [64, 2];
const SHAPE: Shape = Shape { m: 128, n: 64, consumers: 2, cluster: [1, 1], split: 1, alternate: false, transposed: false };
/// Bytes of 128 bytes of K of the weights; shared memory for staged results, mbarriers and alignment.
const FILTER: i64 = SHAPE.n * 128;
const BESIDES: i64 = 2 * 16_384 + 2 * 1024;
/// Input buffers, at most.
const BUFFERS: i64 = 4;
/// Extent of a TMA box, at most.
const BOX: i64 = 256;

struct Stem<'a> {
    op: &'a Conv,
    problem: &'a Problem,
    z: ConvSizes,
    /// Strides along H and W (2 for dimensions of one output pixel, where they do not matter).
    step: [i64; 2],
    /// Channels of the packed source; also pieces of a filter row.
    channels: i64,
    /// Pieces from one output pixel's window to the next (phases); positions per phase of a line; lines of an image.
    phases: i64,
    positions: i64,
    rows: i64,
    /// 128-byte slices of K of the weights, and filter rows that they hold.
    stages: i64,
    kernel_rows: i64,
    /// The result is NCHW.
    planes: bool,
    tile: [i64; 2],
}

/// Shared memory of a CTA, and CTAs per SM.
struct Room {
    buffer: i64,
    buffers: i64,
    shared: i64,
    resident: i64,
}

/// Forward convolution of at most 8 input channels with filters at most 8 wide.
pub(crate) fn conv(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    let Op::Conv(op) = &problem.op else { return Err(Skip::Op("anything but convolutions")) };
    check(problem, target)?;
    let z = op.sizes();
    if !op.prop.is_forward() {
        return Err(Skip::Op("backward passes"));
    }
    let planar = op.src.dims().len() == 4 && op.weights.dims().len() == 4;
    if !planar || z.g != 1 || z.ic > 8 || z.k[2] > TAPS || z.d != [1; 3] || op.dst.is_empty() || op.src.is_empty() {
        return Err(Skip::Shape("groups, dilation, many channels, a kernel wider than 8, or another number of dimensions than four"));
    }
    let step = [1, 2].map(|d| if z.o[d] == 1 { 2 } else { z.s[d] });
    let channels = if z.ic <= 4 && step[1] % 2 == 0 { 4 } else { 8 };
    let per_stage = if channels == 4 { 2 } else { 1 };
    let (stages, phases) = (ceil(z.k[1], per_stage), step[1] / per_stage);
    let positions = z.o[2] + (channels - 1) / phases;
    let rows = (z.o[1] - 1) * z.s[1] + z.k[1];
    let planes = plain(&op.dst)?.strides[1] != 1;
    let tile = if planes { LINES } else { TILE };
    let stem = Stem { op, problem, z, step, channels, phases, positions, rows, stages, kernel_rows: stages * per_stage, planes, tile };
    stem.program(target)
}

impl Stem<'_> {
    fn program(&self, target: &CudaTarget) -> Result<Program, Skip> {
        let (op, z) = (self.op, &self.z);
        let mode = self.problem.attr.fpmath.mode;
        let types = [operand(op.src.dtype, mode), operand(op.weights.dtype, mode), result(op.dst.dtype)];
        let ([Some(ta), Some(tb), Some(tc)], 16, 16) = (types, op.src.dtype.bits(), op.dst.dtype.bits()) else {
            return Err(Skip::DataType(format!("{}:{}:{}", op.src.dtype, op.weights.dtype, op.dst.dtype)));
        };
        if ta != tb {
            return Err(Skip::DataType(format!("{} by {}", op.src.dtype, op.weights.dtype)));
        }
        let (src, weights, dst) = (plain(&op.src)?, plain(&op.weights)?, plain(&op.dst)?);
        let whole = |v: i64| v * 2 % 16 == 0;
        let inner = if self.planes { 3 } else { 1 };
        let spaced = |d: usize| d == inner || op.dst.dims()[d] == 1 || whole(dst.strides[d]) && dst.strides[d] > 0;
        if dst.strides[inner] != 1 || !(0..4).all(spaced) || !(self.planes || whole(z.oc)) || !whole(dst.offset) {
            return Err(Skip::Layout(
                "a destination with neither channels nor pixels next to each other, or with lines of them that are not 16-byte aligned"
                    .into(),
            ));
        }
        let room = self.room(target)?;
        let lines = z.mb.checked_mul(self.rows).and_then(|n| n.checked_mul(self.phases)).ok_or(OVERFLOW)?;
        let pieces = lines.checked_mul(self.positions).ok_or(OVERFLOW)?;
        if [pieces, z.mb * ceil(z.o[2], self.tile[0]) * ceil(z.o[1], self.tile[1]) * SHAPE.m].iter().any(|&n| n > i64::from(i32::MAX)) {
            return Err(Skip::Shape("very many pixels"));
        }
        let mut program = Program::or_unaligned(crate::ops::conv::conv, self.problem, target)?;
        let taps = z.oc * self.kernel_rows * TAPS;
        let [packed, filter] = [pieces * 16, taps * self.channels * 2].map(|bytes| usize::try_from(bytes).map_err(|_| OVERFLOW));
        let (packed, filter) = (program.book(packed?)?, program.book(filter?)?);
        let wide = self.channels.to_string();
        let offset = |arg, elements: i64| Word::Offset { arg, bytes: (elements * 2) as u64 };
        let mut words = vec![offset(Arg::SRC, src.offset), Word::Scratch(packed)];
        words.extend(pairs(&[z.ic, z.i[2], z.i[1], z.pl[2], z.pl[1], self.positions, self.phases, self.rows, pieces, 0]));
        words.extend([1, 3, 2, 0].map(|d| Word::Value(src.strides[d] as u64)));
        let mut pack = bare("window_pack", &[("CHANNELS", &wide)], words, pieces);
        let order = self.order().iter().rev().fold(0, |all, piece| all << 4 | piece);
        let mut words = vec![offset(Arg::WEIGHTS, weights.offset), Word::Scratch(filter)];
        words.extend(pairs(&[z.oc, z.ic, z.k[2], z.k[1], self.kernel_rows, order]));
        words.extend([0, 1, 3, 2].map(|d| Word::Value(weights.strides[d] as u64)));
        let mut pack_weights = bare("window_weights", &[("CHANNELS", &wide)], words, taps);
        pack.lead(&mut pack_weights);
        program.launches.extend([pack, pack_weights, self.product([ta, tb, tc], [packed, filter], &room, target)?]);
        Ok(program)
    }

    /// Positions of a line, and lines, that a tile reads.
    fn width(&self) -> i64 {
        self.tile[0] + (self.channels - 1) / self.phases
    }

    fn lines(&self) -> i64 {
        (self.tile[1] - 1) * self.step[0] + self.z.k[1]
    }

    /// The order of a filter row's pieces in memory: phase by phase.
    fn order(&self) -> Vec<i64> {
        let mut all: Vec<i64> = (0..self.channels).collect();
        all.sort_by_key(|piece| (piece % self.phases, *piece));
        all
    }

    fn room(&self, target: &CudaTarget) -> Result<Room, Skip> {
        if self.phases > BOX || self.lines() > BOX {
            return Err(Skip::Shape("large strides, or high kernels"));
        }
        let buffer = ceil(self.phases * self.width() * self.lines() * 16, 128) * 128;
        let (fixed, all) = (BESIDES + self.stages * FILTER, i64::from(target.facts.shared_memory));
        let fit = |resident: i64| {
            let buffers = ((all / resident - 1024 - fixed) / buffer).min(BUFFERS);
            (buffers >= 2).then(|| Room { buffer, buffers, shared: fixed + buffers * buffer, resident })
        };
        fit(2).or_else(|| fit(1)).ok_or(Skip::Shape("weights or rows that shared memory does not hold"))
    }

    /// Declares `place` for rows that are the pixels of tile after tile, and columns that are channels.
    fn declare(&self, emit: &mut Emitter) -> Result<super::Declared, Skip> {
        let (z, [across, down]) = (&self.z, self.tile);
        emit.sizes("tiles", &[ceil(z.o[2], across), ceil(z.o[1], down)]);
        emit.numbers("last", &[z.o[2] - 1, z.o[1] - 1]);
        emit.code(&format!(
            "DEVICE void place(const Args& a, int batch, int row, int column, index* p) {{\n    index tile = row / 128;\n    \
             const index within = row % 128, across = split(a.tiles[0], tile), down = split(a.tiles[1], tile);\n    \
             p[0] = tile, p[1] = column;\n    p[2] = min(down * {down} + within / {across}, (index)a.last[1]), p[3] = min(across * {across} + within % {across}, (index)a.last[0]);\n}}\n",
        ));
        let op = self.op;
        let channels = Channels { src: &op.src, weights: &op.weights, bias: op.bias.as_ref(), dst: &op.dst };
        Ok(super::Declared { by_column: true, ..channels.factors(self.problem, emit)? })
    }

    fn product(&self, types: [&str; 3], [packed, filter]: [usize; 2], room: &Room, target: &CudaTarget) -> Result<Launch, Skip> {
        let (op, z, dst) = (self.op, &self.z, plain(&self.op.dst)?);
        let [across, down] = [ceil(z.o[2], self.tile[0]), ceil(z.o[1], self.tile[1])];
        let tiles = z.mb * across * down;
        let depth = self.kernel_rows * TAPS * self.channels;
        let sizes = [tiles * SHAPE.m, z.oc, depth, 1];
        let r = Request { aligned: true, window: true, undivided: true, planes: self.planes, ..Request::new(sizes, [2, 2]) };
        let choice = Choice { shape: SHAPE, stages: 1, store: if self.planes { Store::Planes } else { Store::Tma }, seconds: 0.0 };
        let mut emit = epilogue(self.problem, Arg::DST, &|emit| self.declare(emit))?;
        tile_options(&mut emit, types, &r, &choice);
        emit.option("CHANNELS", self.channels);
        emit.option("TILE_W", self.tile[0]);
        let columns = ceil(z.oc, SHAPE.n);
        let line = self.phases * self.width();
        let next = if self.planes { [8, self.step[0] * line] } else { [self.step[0] * line, 8 * self.step[0] * line] };
        let mut ints = vec![z.oc, columns, tiles, across, down, self.step[0], z.k[1], line, self.lines() * line * 16];
        ints.extend([next[0], next[1], self.stages, room.buffers, room.buffer]);
        ints.extend(self.order().iter().map(|piece| piece % self.phases * self.width() + piece / self.phases));
        let mut words = pairs(&ints);
        words.push(Word::Offset { arg: Arg::DST, bytes: (dst.offset * 2) as u64 });
        words.extend([z.oc, 1, 0].map(|v| Word::Value(v as u64)));
        let mut launch = emit.epilogue_of("conv_window_sm90", words);
        let u = |v: &[i64]| v.iter().map(|&x| x as u64).collect::<Vec<_>>();
        let narrow = |v: &[i64]| v.iter().map(|&x| x as u32).collect::<Vec<_>>();
        let weights = TensorMap::boxes(
            MapPlace::Scratch(filter),
            MapKind::of(op.src.dtype),
            &u(&[depth, z.oc, 1]),
            &u(&[depth * 2, depth * z.oc * 2]),
            &narrow(&[64, SHAPE.n, 1]),
        );
        let row = self.phases * self.positions * 16;
        let source = TensorMap {
            swizzle: Swizzle::None,
            ..TensorMap::boxes(
                MapPlace::Scratch(packed),
                MapKind::Words,
                &u(&[2 * self.positions, self.phases, self.rows, z.mb]),
                &u(&[self.positions * 16, row, self.rows * row]),
                &narrow(&[2 * self.width(), self.phases, self.lines(), 1]),
            )
        };
        launch.maps = vec![source, weights, self.result_map(dst)];
        let walkers = (i64::from(target.facts.multiprocessors) * room.resident / columns).clamp(1, tiles);
        launch.grid = [(walkers * columns) as u32, 1, 1];
        (launch.block, launch.shared) = (128 * (1 + SHAPE.consumers as u32), room.shared as u32);
        Ok(launch)
    }

    fn result_map(&self, dst: &Blocking) -> TensorMap {
        let (order, tile) =
            if self.planes { ([3, 2, 1, 0], [64, 1, 64, 1]) } else { ([1, 3, 2, 0], [64, TILE[0] as u32, TILE[1] as u32 / 2, 1]) };
        let sizes = order.map(|d| self.op.dst.dims()[d]);
        let mut strides = [0; 3];
        let mut dense = sizes[0];
        for (i, &d) in order[1..].iter().enumerate() {
            strides[i] = (2 * if sizes[i + 1] > 1 { dst.strides[d] } else { ceil(dense, 8) * 8 }) as u64;
            dense *= sizes[i + 1];
        }
        let place = MapPlace::Arg(Arg::DST, (dst.offset * 2) as u64);
        TensorMap::boxes(place, MapKind::of(self.op.dst.dtype), &sizes.map(|v| v as u64), &strides, &tile)
    }
}

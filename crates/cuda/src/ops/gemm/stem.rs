//! `stem:sm90`: forward convolution of few input channels, the first one of a network, of 16-bit types (`kernels/conv_window_sm90.cu`). The source is
//! copied once, with its padding around it, to where a row of the kernel at a pixel is one run of memory; it may lie in any order before.

use super::conv::OVERFLOW;
use super::shape::{Choice, Request, Shape, Store, ceil};
use super::{Channels, check, epilogue, launch_shape, operand, pairs, plain, result, tile_options};
use crate::CudaTarget;
use crate::emit::{Emitter, bare};
use crate::program::{Launch, MapKind, MapPlace, Program, Swizzle, TensorMap, Word};
use oxidnn_runtime::Skip;
use oxidnn_spec::op::{Conv, ConvSizes};
use oxidnn_spec::{Arg, Blocking, Op, Problem};

/// Taps of a row of the kernel.
const TAPS: i64 = 8;
/// Pixels of a tile along W and H, and where those of the result are next to each other.
const TILE: [i64; 2] = [16, 8];
const LINES: [i64; 2] = [64, 2];
const SHAPE: Shape = Shape { m: 128, n: 64, consumers: 2, cluster: [1, 1], split: 1, alternate: false };
const STAGES: i64 = 8;

struct Stem<'a> {
    op: &'a Conv,
    problem: &'a Problem,
    z: ConvSizes,
    /// Channels of the copy; its pixels of a row and its rows.
    channels: i64,
    pitch: i64,
    rows: i64,
    /// Stages of K, and rows of the kernel that they hold.
    stages: i64,
    kernel_rows: i64,
    /// The result's pixels are next to each other, not its channels.
    planes: bool,
    tile: [i64; 2],
}

/// Forward convolution of at most 8 channels and a kernel at most 8 wide.
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
    let channels = if z.ic <= 4 && z.s[2] % 2 == 0 { 4 } else { 8 };
    let per_stage = if channels == 4 { 2 } else { 1 };
    let stages = ceil(z.k[1], per_stage);
    let pitch = ceil((z.o[2] - 1) * z.s[2] + TAPS, 8) * 8;
    let rows = (z.o[1] - 1) * z.s[1] + z.k[1];
    let planes = plain(&op.dst)?.strides[1] != 1;
    let tile = if planes { LINES } else { TILE };
    let stem = Stem { op, problem, z, channels, pitch, rows, stages, kernel_rows: stages * per_stage, planes, tile };
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
        let pixels = z.mb.checked_mul(self.rows).and_then(|n| n.checked_mul(self.pitch)).ok_or(OVERFLOW)?;
        if [pixels, z.mb * ceil(z.o[2], self.tile[0]) * ceil(z.o[1], self.tile[1]) * SHAPE.m].iter().any(|&n| n > i64::from(i32::MAX)) {
            return Err(Skip::Shape("very many pixels"));
        }
        let mut program = Program::or_unaligned(crate::ops::conv::conv, self.problem, target)?;
        let taps = z.oc * self.kernel_rows * TAPS;
        let bytes = |pixels: i64| usize::try_from(pixels * self.channels * 2).ok();
        let packed = bytes(pixels).and_then(|b| program.book(b)).ok_or(OVERFLOW)?;
        let filter = bytes(taps).and_then(|b| program.book(b)).ok_or(OVERFLOW)?;
        let wide = self.channels.to_string();
        let offset = |arg, elements: i64| Word::Offset { arg, bytes: (elements * 2) as u64 };
        let mut words = vec![offset(Arg::SRC, src.offset), Word::Scratch(packed)];
        words.extend(pairs(&[z.ic, z.i[2], z.i[1], z.pl[2], z.pl[1], self.pitch, self.rows, z.mb]));
        words.extend([1, 3, 2, 0].map(|d| Word::Value(src.strides[d] as u64)));
        program.launches.push(bare("window_pack", &[("CHANNELS", &wide)], words, pixels));
        let mut words = vec![offset(Arg::WEIGHTS, weights.offset), Word::Scratch(filter)];
        words.extend(pairs(&[z.oc, z.ic, z.k[2], z.k[1], self.kernel_rows, 0]));
        words.extend([0, 1, 3, 2].map(|d| Word::Value(weights.strides[d] as u64)));
        program.launches.push(bare("window_weights", &[("CHANNELS", &wide)], words, taps));
        program.launches.push(self.product([ta, tb, tc], [packed, filter], target)?);
        Ok(program)
    }

    /// Declares the pixel of a row, those of tiles behind each other, and a column's channel.
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

    fn product(&self, types: [&str; 3], [packed, filter]: [usize; 2], target: &CudaTarget) -> Result<Launch, Skip> {
        let (op, z, dst) = (self.op, &self.z, plain(&self.op.dst)?);
        let [across, down] = [ceil(z.o[2], self.tile[0]), ceil(z.o[1], self.tile[1])];
        let tiles = z.mb * across * down;
        let depth = self.kernel_rows * TAPS * self.channels;
        let r = Request {
            m: tiles * SHAPE.m,
            n: z.oc,
            k: depth,
            batch: 1,
            bytes: 2,
            result_bytes: 2,
            a_mn: false,
            b_mn: false,
            swapped: false,
            promote: false,
            aligned: true,
            window: true,
            undivided: true,
            scattered: false,
            planes: self.planes,
            computed: false,
        };
        let choice = Choice { shape: SHAPE, stages: STAGES, store: if self.planes { Store::Planes } else { Store::Tma }, seconds: 0.0 };
        let mut emit = epilogue(self.problem, Arg::DST, &|emit| self.declare(emit))?;
        tile_options(&mut emit, types, &r, &choice);
        emit.option("CHANNELS", self.channels);
        emit.option("TILE_W", self.tile[0]);
        let columns = ceil(z.oc, SHAPE.n);
        let mut words = pairs(&[z.oc, z.o[2], z.o[1], across, down, self.stages, tiles, columns, 1, super::GROUP]);
        words.push(Word::Offset { arg: Arg::DST, bytes: (dst.offset * 2) as u64 });
        words.extend([z.oc, 1, 0].map(|v| Word::Value(v as u64)));
        let mut launch = emit.epilogue_of("conv_window_sm90", words);
        let (kind, row, c) = (MapKind::of(op.src.dtype), self.pitch * self.channels * 2, self.channels);
        let u = |v: &[i64]| v.iter().map(|&x| x as u64).collect::<Vec<_>>();
        let narrow = |v: &[i64]| v.iter().map(|&x| x as u32).collect::<Vec<_>>();
        let source = TensorMap {
            swizzle: if c == 4 { Swizzle::Half } else { Swizzle::Full },
            ..TensorMap::boxes(
                MapPlace::Scratch(packed),
                kind,
                &u(&[TAPS * c, z.o[2], z.k[1], z.o[1], z.mb]),
                &u(&[z.s[2] * c * 2, row, z.s[1] * row, self.rows * row]),
                &narrow(&[TAPS * c, self.tile[0], 1, self.tile[1], 1]),
            )
        };
        let weights = TensorMap::boxes(
            MapPlace::Scratch(filter),
            kind,
            &u(&[depth, z.oc, 1]),
            &u(&[depth * 2, depth * z.oc * 2]),
            &narrow(&[64, SHAPE.n, 1]),
        );
        launch.maps = vec![source, weights, self.result_map(dst)];
        launch_shape(&mut launch, &r, &choice, target);
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

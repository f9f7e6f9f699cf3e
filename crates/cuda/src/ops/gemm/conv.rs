//! `window:sm90`: forward convolution on Hopper's tensor cores (`kernels/conv_sm90.cu`). TMA gathers the pixels under each element of the kernel.

use super::Store;
use super::shape::{self, Request};
use super::{
    GROUP, check, clusters, declare_conv, epilogue, launch_shape, operand, operand_kind, pairs, pixel_step, plain, result, tile_options,
};
use crate::CudaTarget;
use crate::emit::{Emitter, Place, Real, View};
use crate::ops::map::Map;
use crate::program::{Launch, MapKind, MapPlace, MapTile, Program, TensorMap, Word};
use oxidnn_runtime::Skip;
use oxidnn_spec::op::{Conv, ConvSizes};
use oxidnn_spec::{Arg, Layout, Op, Problem, Tensor};

const OVERFLOW: Skip = Skip::Shape("sizes that overflow");

/// Spatial numbers innermost first, as the copy engine and the kernel have them.
fn inner_first<T: Copy>(v: [T; 3]) -> [T; 3] {
    [v[2], v[1], v[0]]
}

/// Forward convolution without groups, channels next to each other.
pub(crate) fn conv(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    let Op::Conv(op) = &problem.op else { return Err(Skip::Op("anything but convolutions")) };
    check(problem, target)?;
    let z = op.sizes();
    if !op.prop.is_forward() {
        return Err(Skip::Op("backward passes"));
    }
    if z.g != 1 || op.weights.dims().len() != op.src.dims().len() {
        return Err(Skip::Shape("groups"));
    }
    let size = (op.src.dtype.bits() / 8) as i64;
    let reach: [i64; 3] = std::array::from_fn(|d| (z.k[d] - 1) * z.d[d]);
    let (corner, offset) = if z.i[0] > 1 || z.k[0] > 1 || z.o[0] > 1 { (15, 31) } else { (127, 255) };
    let upper: [i64; 3] = std::array::from_fn(|d| -z.pl[d] + (z.o[d] - 1) * z.s[d] - (z.i[d] - 1));
    let far = (0..3).any(|d| z.pl[d] > corner || upper[d].abs() > corner || reach[d] > offset || z.s[d] > 8);
    if far || op.dst.is_empty() || op.src.is_empty() {
        return Err(Skip::Shape("windows that the tensor copy engine does not walk"));
    }
    let (src, dst) = (plain(&op.src)?, plain(&op.dst)?);
    let close = |t: &Tensor, b: &oxidnn_spec::Blocking| {
        let whole = |v: i64| v * (t.dtype.bits() / 8) as i64 % 16 == 0;
        b.strides[1] == 1 && whole(b.offset) && b.strides.iter().enumerate().all(|(d, &s)| d == 1 || t.dims()[d] == 1 || whole(s) && s > 0)
    };
    if !close(&op.src, src) || z.ic * size % 16 != 0 || dst.strides[1] != 1 {
        return Err(Skip::Layout("channels that are not next to each other, or pixels that are not 16-byte aligned".into()));
    }
    let step = pixel_step(&op.dst, dst).ok_or_else(|| Skip::Layout("pixels that are not evenly spaced".into()))?;
    Window { op, problem, z, upper, step }.program(target)
}

struct Window<'a> {
    op: &'a Conv,
    problem: &'a Problem,
    z: ConvSizes,
    /// Upper corner of the box that the first element of the kernel visits.
    upper: [i64; 3],
    /// Elements from one pixel of the result to the next.
    step: i64,
}

impl Window<'_> {
    fn program(&self, target: &CudaTarget) -> Result<Program, Skip> {
        let (op, z) = (self.op, &self.z);
        let mode = self.problem.attr.fpmath.mode;
        let (ta, tb, tc) = (operand(op.src.dtype, mode), operand(op.weights.dtype, mode), result(op.dst.dtype));
        let (Some(ta), Some(tb), Some(tc)) = (ta, tb, tc) else {
            return Err(Skip::DataType(format!("{}:{}:{}", op.src.dtype, op.weights.dtype, op.dst.dtype)));
        };
        let bytes = (op.src.dtype.bits() / 8) as i64;
        if ta != tb && bytes != 1 || (op.src.dtype.is_f8() != op.weights.dtype.is_f8()) {
            return Err(Skip::DataType(format!("{} by {}", op.src.dtype, op.weights.dtype)));
        }
        let pixels = z.mb * z.o.iter().product::<i64>();
        let taps: i64 = z.k.iter().product();
        let result_bytes = (op.dst.dtype.bits() / 8) as i64;
        let lanes = 128 / bytes;
        let aligned = self.step * result_bytes % 16 == 0 && z.oc * result_bytes % 16 == 0;
        if pixels > i64::from(i32::MAX) / 2 {
            return Err(Skip::Shape("very many pixels"));
        }
        let request = Request {
            m: pixels,
            n: z.oc,
            k: taps * super::ceil(z.ic, lanes) * lanes,
            batch: 1,
            bytes,
            result_bytes,
            a_mn: false,
            b_mn: false,
            swapped: false,
            promote: op.src.dtype.is_f8(),
            aligned,
            window: true,
        };
        let choice = shape::best(&request, &target.facts).ok_or(Skip::Shape("no tile fits"))?;
        let unaligned = crate::ops::conv::conv(self.problem, target)?;
        let mut program = Program { scratch: unaligned.scratch, ..Program::default() };
        let weights = self.weights(&mut program)?;
        program.launches.push(self.launch(&request, &choice, [ta, tb, tc], weights, target)?);
        program.unaligned = Some(Box::new(unaligned));
        Ok(program)
    }

    /// Where the weights lie by output channels, elements of the kernel and input channels: where they are given so, there; else a copy in scratch.
    fn weights(&self, program: &mut Program) -> Result<MapPlace, Skip> {
        let (t, n) = (&self.op.weights, self.op.weights.dims().len());
        let order: String = std::iter::once('a').chain((2..n).map(|d| (b'a' + d as u8) as char)).chain(['b']).collect();
        let wanted = Layout::with_tag(*t.dims(), &order).map_err(|_| OVERFLOW)?;
        if t.layout == wanted {
            return Ok(MapPlace::Arg(Arg::WEIGHTS, 0));
        }
        let copy = Tensor { dtype: t.dtype, layout: wanted };
        let at = program.book(copy.bytes()).ok_or(OVERFLOW)?;
        let mut map = Map::over(Real::Single, &copy.layout);
        map.written(&View { place: Place::Scratch(at), ..View::of("dst", Arg::WEIGHTS, &copy) })?;
        map.emit.view(&View::of("src", Arg::WEIGHTS, t))?;
        map.element.push_str("    store_code<dst_type>(a.dst_data, dst_at(a, p), src_code(a, src_at(a, p)));\n");
        program.launches.push(map.launch());
        Ok(MapPlace::Scratch(at))
    }

    fn launch(
        &self,
        r: &Request,
        choice: &shape::Choice,
        types: [&str; 3],
        weights: MapPlace,
        target: &CudaTarget,
    ) -> Result<Launch, Skip> {
        let (op, z, shape) = (self.op, &self.z, choice.shape);
        let declare = |emit: &mut Emitter| declare_conv(op, self.problem, emit);
        let mut emit = epilogue(self.problem, Arg::DST, &declare)?;
        tile_options(&mut emit, types, r, choice);
        let deep = z.i[0] > 1 || z.k[0] > 1 || z.o[0] > 1;
        emit.option("SPATIAL", if deep { 3 } else { 2 });
        let lanes = 128 / r.bytes;
        let [down, across] = clusters(r, choice);
        let mut ints = vec![r.m, r.n, super::ceil(z.ic, lanes)];
        for v in [z.k, [0; 3], [1; 3], z.d, z.k, z.o, z.s, z.pl.map(|p| -p)] {
            ints.extend(inner_first(v));
        }
        ints.extend([down, across, 1, GROUP]);
        let mut words = pairs(&ints);
        let offset = op.dst.blocking().map_or(0, |b| b.offset);
        words.push(Word::Offset { arg: Arg::DST, bytes: (offset * r.result_bytes) as u64 });
        words.extend([self.step, 1, 0, 0, 0, 0, 0].map(|v| Word::Value(v as u64)));
        let mut launch = emit.epilogue_of("conv_sm90", words);
        launch.maps = vec![self.source_map(deep, r, shape.m), self.weights_map(r, weights, shape), self.result_map(r, choice, offset)];
        launch_shape(&mut launch, r, choice, target);
        Ok(launch)
    }

    fn source_map(&self, deep: bool, r: &Request, pixels: i64) -> TensorMap {
        let (t, z) = (&self.op.src, &self.z);
        let blocking = t.blocking();
        let stride = |d: usize| blocking.map_or(0, |b| b.strides[d]);
        let n = t.dims().len();
        // Elements from one position to the next of W, H, D; where a tensor has no such dimension, past all that is inside of it.
        let spatial: [i64; 3] = std::array::from_fn(|i| if i + 2 < n && t.dims()[n - 1 - i] != 1 { stride(n - 1 - i) } else { 0 });
        let sizes = inner_first(z.i);
        let (mut strides, mut last) = ([0u64; 4], z.ic);
        for i in 0..3 {
            let step = if spatial[i] > 0 { spatial[i] } else { last };
            strides[i] = (step * r.bytes) as u64;
            last = step * sizes[i];
        }
        let batch = if t.dims()[0] > 1 { stride(0) } else { last };
        let ([w, h, d], [sw, sh, sd]) = (sizes.map(|v| v as u64), inner_first(z.s).map(|v| v as u32));
        let (c, mb) = (z.ic as u64, z.mb as u64);
        let narrow = |v: [i64; 3]| inner_first(v).map(|x| x as i32);
        let (rank, dims, steps) = if deep { (5, [c, w, h, d, mb], [1, sw, sh, sd, 1]) } else { (4, [c, w, h, mb, 1], [1, sw, sh, 1, 1]) };
        strides[rank - 2] = (batch * r.bytes) as u64;
        let offset = blocking.map_or(0, |b| b.offset);
        let lower = narrow(z.pl.map(|p| -p));
        let tile = MapTile::Window { lower, upper: narrow(self.upper), channels: (128 / r.bytes) as u32, pixels: pixels as u32, steps };
        let place = MapPlace::Arg(Arg::SRC, (offset * r.bytes) as u64);
        TensorMap { place, kind: operand_kind(t.dtype), rank, dims, strides, tile }
    }

    fn weights_map(&self, r: &Request, place: MapPlace, shape: shape::Shape) -> TensorMap {
        let z = &self.z;
        let taps: i64 = z.k.iter().product();
        let dims = [z.ic as u64, taps as u64, z.oc as u64];
        let strides = [(z.ic * r.bytes) as u64, (z.ic * taps * r.bytes) as u64];
        let tile = [(128 / r.bytes) as u32, 1, (shape.n / shape.cluster[0]) as u32];
        TensorMap::boxes(place, operand_kind(self.op.weights.dtype), dims, strides, tile)
    }

    fn result_map(&self, r: &Request, choice: &shape::Choice, offset: i64) -> TensorMap {
        let size = r.result_bytes;
        let kind = MapKind::of(self.op.dst.dtype);
        let tile = [(128 / size) as u32, 64, 1];
        if choice.store == Store::Direct {
            return TensorMap::boxes(MapPlace::Arg(Arg::DST, 0), kind, [(16 / size) as u64, 1, 1], [16, 16], tile);
        }
        let strides = [(self.step * size) as u64, (self.step * r.m * size) as u64];
        TensorMap::boxes(MapPlace::Arg(Arg::DST, (offset * size) as u64), kind, [r.n as u64, r.m as u64, 1], strides, tile)
    }
}

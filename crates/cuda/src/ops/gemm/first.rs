//! `first:sm90`: convolutions of few input channels (the first layer of a network) that `stem:sm90` does not support: forward in TF32 and in three dimensions, and
//! gradients.
//!
//! The source is copied so that a filter row at a pixel is one contiguous run, which becomes the channels of a convolution with a filter one column wide over
//! overlapping pixels, for the kernels of `window:sm90` and `weights:sm90`. The gradient of a strided source is computed with one channel per residue of
//! its pixels modulo the strides, and distributed to the pixels afterwards.

use super::conv::Window;
use super::weights::Pass;
use super::{Channels, check, operand};
use crate::CudaTarget;
use crate::emit::{Real, Tail, View};
use crate::ops::ceil;
use crate::ops::map::Map;
use crate::ops::pointwise::tensor;
use crate::program::{MapPlace, OVERFLOW, Program};
use oxidnn_runtime::Skip;
use oxidnn_spec::op::{Conv, ConvSizes};
use oxidnn_spec::{Arg, DataType, Dims, Layout, Op, Problem, Prop, Tensor};
use std::iter::once;

/// Taps of a filter row, padded; input channels, at most.
const TAPS: i64 = 8;
const FEW: i64 = 8;
/// Residues times channels of the source gradient, at most.
const RESIDUES: i64 = 64;

/// A convolution of few input channels.
struct First<'a> {
    op: &'a Conv,
    problem: &'a Problem,
    z: ConvSizes,
    target: &'a CudaTarget,
}

/// The first layer of a network.
pub(crate) fn conv(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    let Op::Conv(op) = &problem.op else { return Err(Skip::Op("anything but convolutions")) };
    check(problem, target)?;
    let z = op.sizes();
    let n = op.src.dims().len();
    let is_grouped = op.weights.dims().len() != n;
    let is_empty = [&op.src, &op.weights, &op.dst].iter().any(|t| t.is_empty());
    if !matches!(n, 4 | 5) || is_grouped || z.ic > FEW || is_empty {
        return Err(Skip::Shape("groups, many channels, no elements, or one dimension"));
    }
    let first = First { op, problem, z, target };
    match op.prop {
        Prop::BackwardData => first.source_gradient(),
        Prop::BackwardWeights => first.weights_gradient(),
        _ => first.forward(),
    }
}

/// An NHWC or NDHWC tensor with sizes given as N, C, and those of space.
fn channels_last(n: i64, c: i64, space: &[i64], dtype: DataType) -> Result<Tensor, Skip> {
    let dims = Dims::from_fn(space.len() + 2, |d| if d < 2 { [n, c][d] } else { space[d - 2] });
    let order: Vec<usize> = once(0).chain(2..dims.len()).chain([1]).collect();
    Ok(Tensor { dtype, layout: Layout::dense(dims, &order).map_err(|_| OVERFLOW)? })
}

impl First<'_> {
    fn program(&self) -> Result<Program, Skip> {
        Program::or_unaligned(crate::ops::conv::conv, self.problem, self.target)
    }

    /// The sizes of the convolution over filter rows, with 8 taps x `channels` as input channels.
    fn by_rows(&self, channels: i64) -> ConvSizes {
        let z = self.z;
        let one = |v: [i64; 3], own: i64| [v[0], v[1], own];
        ConvSizes {
            ic: channels * TAPS,
            i: one(z.i, z.o[2]),
            k: one(z.k, 1),
            s: one(z.s, 1),
            d: one(z.d, 1),
            pl: one(z.pl, 0),
            pr: one(z.pr, 0),
            ..z
        }
    }

    /// Depth, if there are three dimensions, height, and `own` in place of the width.
    fn space(&self, v: [i64; 3], own: i64) -> Vec<i64> {
        let skipped = 5 - self.op.src.dims().len();
        [v[0], v[1], own][skipped..].to_vec()
    }

    /// The positions of a thread's element along depth, if there is one, and height: `p[first]` and on.
    fn lines(&self, first: usize) -> String {
        (first..first + self.op.src.dims().len() - 3).map(|d| format!("p[{d}], ")).collect()
    }

    /// Whether f32 is TF32.
    fn is_tf32(&self) -> bool {
        self.op.src.dtype == DataType::F32 && operand(self.op.src.dtype, self.problem.attr.fpmath.mode).is_some()
    }

    /// Channels of the copy of the source, whose pixels are then aligned.
    fn channels(&self) -> i64 {
        if self.is_tf32() && self.z.ic <= 4 { 4 } else { 8 }
    }

    /// Copies the source so that 8 taps x `channels` of a filter row at a pixel are contiguous; returns the tensor of these overlapping pixels and its place.
    fn rows(&self, program: &mut Program, channels: i64) -> Result<(Tensor, usize), Skip> {
        let (op, z) = (self.op, &self.z);
        let pitch = ceil((z.o[2] - 1) * z.s[2] + TAPS, 8) * 8;
        let copy = channels_last(z.mb, channels, &self.space(z.i, pitch), op.src.dtype)?;
        let at = program.book(copy.bytes())?;
        let pixels: Vec<i64> = once(z.mb).chain(self.space(z.i, pitch)).collect();
        let pixels = Layout::plain(Dims::from_fn(pixels.len(), |d| pixels[d])).map_err(|_| OVERFLOW)?;
        let mut map = Map::over(Real::Single, &pixels);
        map.emit.view(&View::scratch("copy", at, &copy))?;
        map.emit.view(&View::of("src", Arg::SRC, &op.src))?;
        for (name, value) in [("before", z.pl[2]), ("breadth", z.i[2]), ("channels", z.ic)] {
            map.emit.number(name, value);
        }
        let (lines, across) = (self.lines(1), pixels.dims.len() - 1);
        map.element = format!(
            "    const index x = p[{across}] - (index)a.before, to[] = {{p[0], 0, {lines}p[{across}]}};\n    const bool inside = x >= 0 && x < a.breadth;\n    \
             Vector<copy_type, {channels}> pixel;\n#pragma unroll\n    for (int c = 0; c < {channels}; ++c) {{\n        const index from[] = {{p[0], c, {lines}x}};\n        \
             pixel.words[c] = inside && c < a.channels ? src_code(a, src_at(a, from)) : (copy_type::word)0;\n    }}\n    pixel.store(a.copy_data, copy_at(a, to));\n"
        );
        program.launches.push(map.launch());
        let mut rows = channels_last(z.mb, channels * TAPS, &self.space(z.i, z.o[2]), op.src.dtype)?;
        let lead = pitch * channels;
        let strides: Vec<i64> =
            [z.i[0] * z.i[1] * lead, 1].into_iter().chain(self.space([z.i[1] * lead, lead, 0], z.s[2] * channels)).collect();
        rows.layout.blocking_mut().ok_or(OVERFLOW)?.strides = Dims::from_fn(strides.len(), |d| strides[d]);
        Ok((rows, at))
    }

    fn is_narrow(&self) -> Result<(), Skip> {
        if self.z.k[2] > TAPS || self.z.d[2] != 1 {
            return Err(Skip::Shape("a kernel wider than 8, or dilation along its rows"));
        }
        Ok(())
    }

    /// Forward, in TF32, or in 16 bits in three dimensions.
    fn forward(&self) -> Result<Program, Skip> {
        let (op, z) = (self.op, &self.z);
        self.is_narrow()?;
        let is_short = op.src.dtype.bits() == 16 && z.k[2] > 1 && op.src.dims().len() == 5;
        if !is_short && (!self.is_tf32() || z.ic > 4) {
            return Err(Skip::DataType("anything but f32 as tf32 of up to 4 channels, and 16 bits in three dimensions".into()));
        }
        let channels = self.channels();
        let mut program = self.program()?;
        let (rows, at) = self.rows(&mut program, channels)?;
        let filter = channels_last(z.oc, channels * TAPS, &self.space(z.k, 1), op.weights.dtype)?;
        let filter_at = program.book(filter.bytes())?;
        let mut map = Map::over(Real::Single, &filter.layout);
        map.emit.view(&View::scratch("to", filter_at, &filter))?;
        map.emit.view(&View::of("weights", Arg::WEIGHTS, &op.weights))?;
        map.emit.numbers("given", &[z.ic, z.k[2]]);
        let lines = self.lines(2);
        map.element = format!(
            "    const index c = p[1] % {channels}, x = p[1] / {channels}, q[] = {{p[0], c, {lines}x}};\n    \
             to_store(a, to_at(a, p), c < a.given[0] && x < a.given[1] ? weights(a, q) : (real)0);\n"
        );
        program.launches.push(map.launch());
        let inner = Window {
            slices: None,
            problem: self.problem,
            channels: Channels { src: &rows, weights: &filter, bias: op.bias.as_ref(), dst: &op.dst },
            z: self.by_rows(channels),
            forward: true,
            from_large: true,
            from: (Arg::SRC, &rows),
            to: (Arg::DST, &op.dst),
            given: channels * TAPS,
            made: z.oc,
            otherwise: crate::ops::conv::conv,
        };
        let product = inner.program(self.target)?.shifted(program.scratch);
        program.scratch = product.scratch;
        let product = product.moved(Arg::SRC, MapPlace::Scratch(at)).moved(Arg::WEIGHTS, MapPlace::Scratch(filter_at));
        program.launches.extend(product.launches);
        Ok(program)
    }

    /// The gradients of weights and bias.
    fn weights_gradient(&self) -> Result<Program, Skip> {
        let (op, z) = (self.op, &self.z);
        self.is_narrow()?;
        if !self.is_tf32() && op.src.dtype.bits() != 16 || z.k[0] * z.k[1] == 1 {
            return Err(Skip::DataType("anything but 16-bit types and f32 as tf32, or a kernel of one row".into()));
        }
        // With few channels, a filter row at a pixel is 128 bytes.
        let channels = self.channels();
        let diff_dst = tensor(self.problem, Arg::DIFF_DST)?;
        let mut program = self.program()?;
        let (rows, at) = self.rows(&mut program, channels)?;
        let gradient = channels_last(z.oc, channels * TAPS, &self.space(z.k, 1), op.weights.dtype)?;
        let gradient_at = program.book(gradient.bytes())?;
        let own = self.by_rows(channels);
        let pass = Pass {
            slices: None,
            problem: self.problem,
            z: own,
            small: (Arg::DIFF_DST, diff_dst),
            large: (Arg::SRC, &rows),
            sizes: [own.o, own.i],
            gradient: &gradient,
            rows_first: true,
        };
        let product = pass.program(program.scratch, self.target)?;
        program.scratch = product.scratch;
        let product = product.moved(Arg::SRC, MapPlace::Scratch(at)).moved(Arg::DIFF_WEIGHTS, MapPlace::Scratch(gradient_at));
        program.launches.extend(product.launches);
        let mut map = Map::over(Real::Single, &op.weights.layout);
        map.written(&View::of("dst", Arg::DIFF_WEIGHTS, &op.weights))?;
        map.emit.view(&View::scratch("from", gradient_at, &gradient))?;
        let (lines, across) = (self.lines(2), op.weights.dims().len() - 1);
        map.element = format!(
            "    const index q[] = {{p[0], p[{across}] * {channels} + p[1], {lines}0}};\n    store_code<dst_type>(a.dst_data, dst_at(a, p), from_code(a, from_at(a, q)));\n"
        );
        program.launches.push(map.launch());
        if let Some(bias) = self.problem.op.tensor(Arg::DIFF_BIAS) {
            crate::ops::conv::bias_gradient(&mut program, self.problem, diff_dst, bias)?;
        }
        Ok(program)
    }

    /// Along one dimension: how far before a pixel of the small grid the first one is that reaches any residue, and how many consecutive ones do.
    fn reach(&self, d: usize) -> Option<[i64; 2]> {
        let (k, s, p) = (self.z.k[d], self.z.s[d], self.z.pl[d]);
        // Of a residue less than `s`, plus the padding, minus a tap less than `k`: the multiples of `s`.
        let (first, last) = (-k.checked_sub(1 + p)?.div_euclid(s), p.checked_add(s - 1)?.div_euclid(s));
        (k > 0).then_some([first, last - first + 1])
    }

    /// The gradient of the source.
    fn source_gradient(&self) -> Result<Program, Skip> {
        let (op, z) = (self.op, &self.z);
        let residues = z.s[1].saturating_mul(z.s[2]);
        if op.src.dims().len() != 4 || z.d != [1; 3] || residues.saturating_mul(z.ic) > RESIDUES || residues == 1 && z.ic % 8 == 0 {
            return Err(Skip::Shape("three dimensions, dilation, large strides, or channels and strides that need no residues"));
        }
        if !Tail::of(self.problem, Arg::DIFF_SRC, &op.src).is_plain() {
            return Err(Skip::Attr("scales of gradients".into()));
        }
        let [Some(down), Some(across)] = [self.reach(1), self.reach(2)] else { return Err(Skip::Shape("no taps")) };
        let made = ceil(residues * z.ic, 8) * 8;
        let grid = [1, ceil(z.i[1], z.s[1]), ceil(z.i[2], z.s[2])];
        let mut program = self.program()?;
        let result = channels_last(z.mb, made, &grid[1..], op.src.dtype)?;
        let filter = channels_last(made, z.oc, &[down[1], across[1]], op.weights.dtype)?;
        let at = program.book(result.bytes())?;
        let filter_at = program.book(filter.bytes())?;
        program.launches.push(self.residues(&filter, filter_at, [down[0], across[0]])?);
        let inner = Window {
            slices: None,
            problem: self.problem,
            channels: Channels { src: &op.dst, weights: &filter, bias: None, dst: &result },
            z: ConvSizes {
                ic: z.oc,
                oc: made,
                i: z.o,
                o: grid,
                k: [1, down[1], across[1]],
                s: [1; 3],
                pl: [0, -down[0], -across[0]],
                pr: [0; 3],
                ..*z
            },
            forward: true,
            from_large: true,
            from: (Arg::DIFF_DST, &op.dst),
            to: (Arg::DIFF_SRC, &result),
            given: z.oc,
            made,
            otherwise: crate::ops::conv::conv,
        };
        let product = inner.program(self.target)?.shifted(program.scratch);
        program.scratch = product.scratch;
        let product = product.moved(Arg::DIFF_SRC, MapPlace::Scratch(at)).moved(Arg::WEIGHTS, MapPlace::Scratch(filter_at));
        program.launches.extend(product.launches);
        let mut map = Map::over(Real::Single, &op.src.layout);
        map.written(&View::of("dst", Arg::DIFF_SRC, &op.src))?;
        map.emit.view(&View::scratch("from", at, &result))?;
        map.emit.sizes("stride", &[z.s[1], z.s[2]]);
        map.emit.number("channels", z.ic);
        map.element.push_str(
            "    index y = p[2], x = p[3];\n    const index ry = split(a.stride[0], y), rx = split(a.stride[1], x);\n    \
             const index q[] = {p[0], (index)((ry * a.stride[1].n + rx) * a.channels + p[1]), y, x};\n    \
             store_code<dst_type>(a.dst_data, dst_at(a, p), from_code(a, from_at(a, q)));\n",
        );
        program.launches.push(map.launch());
        Ok(program)
    }

    /// The weights of the convolution without strides whose output channels are residues x channels of the source; `first` is how far before a pixel it begins.
    fn residues(&self, filter: &Tensor, at: usize, first: [i64; 2]) -> Result<crate::program::Launch, Skip> {
        let z = &self.z;
        let mut map = Map::over(Real::Single, &filter.layout);
        map.emit.view(&View::scratch("to", at, filter))?;
        map.emit.view(&View::of("weights", Arg::WEIGHTS, &self.op.weights))?;
        map.emit.sizes("by", &[z.ic, z.s[2]]);
        map.emit.numbers("first", &first);
        map.emit.numbers("stride", &z.s[1..]);
        map.emit.numbers("padding", &z.pl[1..]);
        map.emit.numbers("kernel", &z.k[1..]);
        map.element.push_str(
            "    index y = p[0];\n    const index c = split(a.by[0], y), x = split(a.by[1], y);\n    \
             const i64 ky = y + a.padding[0] - (a.first[0] + p[2]) * a.stride[0], kx = x + a.padding[1] - (a.first[1] + p[3]) * a.stride[1];\n    \
             const bool inside = y < a.stride[0] && ky >= 0 && ky < a.kernel[0] && kx >= 0 && kx < a.kernel[1];\n    \
             const index q[] = {p[1], c, inside ? (index)ky : 0, inside ? (index)kx : 0};\n    \
             store_code<to_type>(a.to_data, to_at(a, p), inside ? weights_code(a, weights_at(a, q)) : (to_type::word)0);\n",
        );
        Ok(map.launch())
    }
}

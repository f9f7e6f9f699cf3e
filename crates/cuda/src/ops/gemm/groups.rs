//! `groups:sm80`: grouped convolution of NHWC images of 16-bit types with 8 to 64 channels per group (`kernels/conv_groups_sm80.cu`), forward, and backward
//! data without strides. Bound by memory: source and result are moved once.

use super::{Channels, check_attributes, epilogue, operand, pairs, plain, result};
use crate::CudaTarget;
use crate::emit::{Real, View};
use crate::ops::ceil;
use crate::ops::map::Map;
use crate::program::{Launch, MapPlace, OVERFLOW, Program, Word};
use oxidnn_runtime::Skip;
use oxidnn_spec::op::ConvSizes;
use oxidnn_spec::{Arg, Op, Problem, Prop, Tensor};

/// Input channels of a CTA; pixels along H and W; output channels of its groups, at most.
const CHANNELS: i64 = 64;
const TILE: [i64; 2] = [8, 16];
const MADE: i64 = 128;
/// Sizes of shared memory that kernels are compiled for.
const SHARED: [i64; 4] = [24 << 10, 48 << 10, 96 << 10, 160 << 10];

/// Grouped convolution.
pub(crate) fn conv(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    let Op::Conv(op) = &problem.op else { return Err(Skip::Op("anything but convolutions")) };
    check_attributes(problem)?;
    if target.facts.sm < 80 {
        return Err(Skip::Isa("sm_80"));
    }
    let z = op.sizes();
    let forward = op.prop.is_forward();
    if op.prop == Prop::BackwardWeights || !forward && z.s != [1; 3] {
        return Err(Skip::Op("gradients of weights, or of strided sources"));
    }
    let ((from, to), (given, made)) = if forward {
        (((Arg::SRC, &op.src), (Arg::DST, &op.dst)), (z.ic, z.oc))
    } else {
        (((Arg::DIFF_DST, &op.dst), (Arg::DIFF_SRC, &op.src)), (z.oc, z.ic))
    };
    let per_block = CHANNELS / given.max(1) * made;
    let fits = matches!(given, 8 | 16 | 32 | 64) && made % 8 == 0 && per_block <= MADE;
    if z.g < 2 || op.src.dims().len() != 4 || op.weights.dims().len() != 5 || !fits || op.dst.is_empty() || op.src.is_empty() {
        return Err(Skip::Shape("anything but groups of 8, 16, 32 or 64 channels of images"));
    }
    let mode = problem.attr.fpmath.mode;
    let types = [operand(from.1.dtype, mode), operand(op.weights.dtype, mode), result(to.1.dtype)];
    let ([Some(ta), Some(tb), Some(tc)], 16, 16) = (types, from.1.dtype.bits(), to.1.dtype.bits()) else {
        return Err(Skip::DataType(format!("{}:{}:{}", from.1.dtype, op.weights.dtype, to.1.dtype)));
    };
    if ta != tb {
        return Err(Skip::DataType(format!("{} by {}", from.1.dtype, op.weights.dtype)));
    }
    for (_, t) in [from, to] {
        let b = plain(t)?;
        let whole = |d: usize| t.dims()[d] == 1 || b.strides[d] % 8 == 0 && b.strides[d] > 0;
        if b.strides[1] != 1 || b.offset % 8 != 0 || ![0, 2, 3].into_iter().all(whole) {
            return Err(Skip::Layout("channels that are not next to each other, or pixels that are not 16-byte aligned".into()));
        }
    }
    let channels = Channels { src: &op.src, weights: &op.weights, bias: op.bias.as_ref(), dst: &op.dst };
    let groups = Groups { problem, channels, z, forward, from, to, given, made, per_block };
    groups.program([ta, tc], target)
}

struct Groups<'a> {
    problem: &'a Problem,
    channels: Channels<'a>,
    z: ConvSizes,
    forward: bool,
    from: (Arg, &'a Tensor),
    to: (Arg, &'a Tensor),
    /// Input and output channels of a group; output channels of the groups that share 64 input channels.
    given: i64,
    made: i64,
    per_block: i64,
}

impl Groups<'_> {
    fn program(&self, [ta, tc]: [&str; 2], target: &CudaTarget) -> Result<Program, Skip> {
        let z = &self.z;
        let mut program = Program::or_unaligned(crate::ops::conv::conv, self.problem, target)?;
        let filter = Tensor::plain([z.k[1], z.k[2], z.g * self.made, self.given], self.channels.weights.dtype).map_err(|_| OVERFLOW)?;
        let at = program.book(filter.bytes())?;
        program.launches.push(self.filter(&filter, at)?);
        let declare = |emit: &mut crate::emit::Emitter| {
            if self.forward { self.channels.declare(self.problem, None, emit) } else { Ok(Default::default()) }
        };
        let mut emit = epilogue(self.problem, self.to.0, &declare)?;
        let own = |v: [i64; 3]| [v[1], v[2]];
        let (taps, stride, dilation) = (own(z.k), own(z.s), own(z.d));
        let (read, written) = if self.forward { (own(z.i), own(z.o)) } else { (own(z.o), own(z.i)) };
        // Backward data: taps in reverse order.
        let padding: [i64; 2] = std::array::from_fn(|d| if self.forward { z.pl[d + 1] } else { (taps[d] - 1) * dilation[d] - z.pl[d + 1] });
        let patch: [i64; 2] = std::array::from_fn(|d| (TILE[d] - 1) * stride[d] + (taps[d] - 1) * dilation[d] + 1);
        let bytes = (patch[0] * patch[1] * CHANNELS * 2).max(TILE[0] * TILE[1] * self.per_block * 2);
        let shared = SHARED.into_iter().find(|&s| s >= bytes && s <= i64::from(target.facts.shared_memory));
        let shared = shared.ok_or(Skip::Shape("a kernel too large for shared memory"))?;
        let numbers = [("GIVEN", self.given), ("MADE", self.per_block), ("SHARED", shared)];
        [("A_TYPE", ta), ("C_TYPE", tc)].into_iter().for_each(|(name, value)| emit.option(name, value));
        numbers.into_iter().for_each(|(name, value)| emit.option(name, value));
        let (from, to) = (plain(self.from.1)?, plain(self.to.1)?);
        let offset = |(arg, _): (Arg, &Tensor), elements: i64| Word::Offset { arg, bytes: (elements * 2) as u64 };
        let mut words = vec![offset(self.from, from.offset), Word::Scratch(at), offset(self.to, to.offset)];
        let [down, across] = [ceil(written[0], TILE[0]), ceil(written[1], TILE[1])];
        let (all_given, all_made) = (z.g * self.given, z.g * self.made);
        let mut ints = vec![all_given, all_made, read[0], read[1], written[0], written[1], across, down];
        [taps, stride, padding, dilation, patch].into_iter().for_each(|v| ints.extend(v));
        words.extend(pairs(&ints));
        for b in [from, to] {
            words.extend([0, 2, 3].map(|d| Word::Value(b.strides[d] as u64)));
        }
        let blocks = z.mb * down * across;
        if blocks > i64::from(i32::MAX) / 2 || z.mb * written[0] * written[1] > i64::from(i32::MAX) {
            return Err(Skip::Shape("very many pixels"));
        }
        let mut launch = emit.epilogue_of("conv_groups_sm80", words);
        launch.grid = [blocks as u32, ceil(all_given, CHANNELS) as u32, 1];
        launch.shared = shared as u32;
        launch.aligned = [self.from, self.to].map(|(arg, _)| MapPlace::Arg(arg, 0)).into();
        program.launches.push(launch);
        Ok(program)
    }

    /// Copies the weights to (taps, output channels, input channels of the group); for backward data those of the convolution that computes the gradient.
    fn filter(&self, filter: &Tensor, at: usize) -> Result<Launch, Skip> {
        let z = &self.z;
        let mut map = Map::over(Real::Single, &filter.layout);
        map.emit.view(&View::scratch("to", at, filter))?;
        map.emit.view(&View::of("weights", Arg::WEIGHTS, self.channels.weights))?;
        map.emit.sizes("made", &[self.made]);
        map.emit.numbers("last", &[z.k[1] - 1, z.k[2] - 1]);
        let place =
            if self.forward { "{g, c, p[3], p[0], p[1]}" } else { "{g, p[3], c, (index)a.last[0] - p[0], (index)a.last[1] - p[1]}" };
        map.element = format!(
            "    index g = p[2];\n    const index c = split(a.made[0], g), q[] = {place};\n    \
             store_code<to_type>(a.to_data, to_at(a, p), weights_code(a, weights_at(a, q)));\n"
        );
        Ok(map.launch())
    }
}

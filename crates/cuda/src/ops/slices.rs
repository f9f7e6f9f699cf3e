//! `slices:sm90`: convolutions and deconvolutions in groups by the rows without groups. A slice is the channels of some neighbouring groups, enough to fill a tile:
//! a view of the tensors and weights that are zero between its groups.

use super::map::Map;
use super::{between, conv, gemm};
use crate::CudaTarget;
use crate::emit::{Place, Real, View};
use crate::program::{Launch, MapPlace, Program};
use crate::row::Lower;
use oxidnn_runtime::Skip;
use oxidnn_spec::op::ConvSizes;
use oxidnn_spec::{Arg, Attr, Dims, Layout, Op, PostOp, Problem, Prop, Tensor};

/// Channels that fill a tile along both operands; the most slices of narrower groups.
const CHANNELS: i64 = 64;
const SLICES: i64 = 16;
const OVERFLOW: Skip = Skip::Shape("sizes that overflow");

/// The groups of a convolution or deconvolution in slices.
struct Slices<'a> {
    problem: &'a Problem,
    prop: Prop,
    z: ConvSizes,
    weights: &'a Tensor,
    /// Groups of a slice.
    together: i64,
    /// The weights of all slices, (slice, output channels, input channels, taps) as the rows read or write them.
    whole: Tensor,
    rows: &'a [Lower],
}

/// Convolution or deconvolution in groups.
pub(crate) fn lower(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    gemm::hopper(target)?;
    let conv_rows: &[Lower] = &[gemm::pointwise_conv, gemm::conv, gemm::weights::conv, between::lower];
    let deconv_rows: &[Lower] = &[gemm::deconv, gemm::weights::deconv, between::lower];
    let (prop, z, [src, weights], rows) = match &problem.op {
        Op::Conv(op) => (op.prop, op.sizes(), [&op.src, &op.weights], conv_rows),
        Op::Deconv(op) => (op.prop, op.sizes(), [&op.src, &op.weights], deconv_rows),
        _ => return Err(Skip::Op("anything but convolutions")),
    };
    if z.g < 2 || weights.dims().len() == src.dims().len() || weights.is_empty() {
        return Err(Skip::Shape("one group"));
    }
    if !is_alike(&problem.attr) {
        return Err(Skip::Attr("that differ by channel".into()));
    }
    let together = together(&z, src.dtype.bits() as i64);
    let first = match (prop, &problem.op) {
        (Prop::BackwardData, _) | (Prop::BackwardWeights, Op::Deconv(_)) => 2,
        _ => 1,
    };
    let mut dims = *weights.dims();
    (dims[0], dims[1], dims[2]) = (z.g / together, together * z.oc, together * z.ic);
    let order: Vec<usize> = [0, first].into_iter().chain(3..dims.len()).chain([3 - first]).collect();
    let whole = Tensor { dtype: weights.dtype, layout: Layout::dense(dims, &order).map_err(|_| OVERFLOW)? };
    Slices { problem, prop, z, weights, together, whole, rows }.program(target)
}

/// Whether all channels have the same attributes.
fn is_alike(attr: &Attr) -> bool {
    attr.scales.is_empty()
        && attr.zero_points.is_empty()
        && attr.rounding.is_empty()
        && attr.precomputed_reductions.is_empty()
        && attr.dropout.is_none()
        && attr.post_ops.iter().all(|p| matches!(p, PostOp::Eltwise { .. } | PostOp::Sum { .. }))
}

/// The fewest groups of a slice that fill a tile, begin at multiples of 16 bytes and leave few slices.
fn together(z: &ConvSizes, bits: i64) -> i64 {
    let narrow = z.ic.min(z.oc);
    let fits = |n: &i64| {
        z.g % n == 0
            && (narrow * n >= CHANNELS && (narrow >= CHANNELS || z.g / n <= SLICES))
            && [z.ic, z.oc].iter().all(|c| c * n * bits % 128 == 0)
    };
    (1..z.g).find(fits).unwrap_or(z.g)
}

impl Slices<'_> {
    fn program(&self, target: &CudaTarget) -> Result<Program, Skip> {
        let generic = if matches!(self.problem.op, Op::Deconv(_)) { conv::deconv } else { conv::conv };
        let mut all = Program::or_unaligned(generic, self.problem, target)?;
        let at = all.book(self.whole.bytes()).ok_or(OVERFLOW)?;
        let count = self.z.g / self.together;
        let bytes = self.whole.bytes() / count as usize;
        let shared = all.scratch;
        let arg = if self.prop == Prop::BackwardWeights { Arg::DIFF_WEIGHTS } else { Arg::WEIGHTS };
        if arg == Arg::WEIGHTS {
            all.launches.push(self.spread(at)?);
        }
        for slice in 0..count {
            let program = self.slice(slice, target)?.shifted(shared).moved(arg, MapPlace::Scratch(at + slice as usize * bytes));
            all.scratch = all.scratch.max(program.scratch);
            all.launches.extend(program.launches);
        }
        if arg == Arg::DIFF_WEIGHTS {
            all.launches.push(self.gather(at)?);
            if let (Some(bias), Some(diff_dst)) = (self.problem.op.tensor(Arg::DIFF_BIAS), self.problem.op.tensor(Arg::DIFF_DST)) {
                conv::bias_gradient(&mut all, self.problem, diff_dst, bias)?;
            }
        }
        Ok(all)
    }

    /// The launches of a slice.
    fn slice(&self, slice: i64, target: &CudaTarget) -> Result<Program, Skip> {
        let mut inner = self.problem.clone();
        let own = |t: &Tensor, d: usize| -> Result<Tensor, Skip> {
            let (mut dims, mut from) = (*t.dims(), vec![0; t.dims().len()]);
            dims[d] = t.dims()[d] * self.together / self.z.g;
            from[d] = slice * dims[d];
            Ok(Tensor { dtype: t.dtype, layout: t.layout.submemory(&dims, &from).map_err(|_| OVERFLOW)? })
        };
        let dims = Dims::from_fn(self.whole.dims().len() - 1, |d| self.whole.dims()[d + 1]);
        let mut weights = Tensor::plain(dims, self.whole.dtype).map_err(|_| OVERFLOW)?;
        let (Some(to), Some(from)) = (weights.layout.blocking_mut(), self.whole.blocking()) else { return Err(OVERFLOW) };
        to.strides = Dims::from_fn(dims.len(), |d| from.strides[d + 1]);
        let (src, dst, bias, filter) = match &mut inner.op {
            Op::Conv(op) => (&mut op.src, &mut op.dst, &mut op.bias, &mut op.weights),
            Op::Deconv(op) => (&mut op.src, &mut op.dst, &mut op.bias, &mut op.weights),
            _ => return Err(Skip::Op("anything but convolutions")),
        };
        *filter = weights;
        (*src, *dst) = (own(src, 1)?, own(dst, 1)?);
        *bias = bias.as_ref().filter(|_| self.prop != Prop::BackwardWeights).map(|b| own(b, 0)).transpose()?;
        let within = target.within();
        let mut last = Skip::Shape("no rows");
        for row in self.rows {
            match row(&inner, &within) {
                Ok(program) => return Ok(program),
                Err(why) => last = why,
            }
        }
        Err(last)
    }

    /// Copies the weights to their slices.
    fn spread(&self, at: usize) -> Result<Launch, Skip> {
        let mut map = Map::over(Real::Single, &self.whole.layout);
        map.emit.view(&View { place: Place::Scratch(at), ..View::of("to", Arg::WEIGHTS, &self.whole) })?;
        map.emit.view(&View::of("weights", Arg::WEIGHTS, self.weights))?;
        map.emit.sizes("own", &[self.z.oc, self.z.ic]);
        map.emit.number("together", self.together);
        map.element = format!(
            "    index row = p[1], column = p[2];\n    const index o = split(a.own[0], row), i = split(a.own[1], column);\n    \
             const index q[] = {{p[0] * (index)a.together + row, o, i{}}};\n    \
             store_code<to_type>(a.to_data, to_at(a, p), row == column ? weights_code(a, weights_at(a, q)) : (to_type::word)0);\n",
            self.taps()
        );
        Ok(map.launch())
    }

    /// Copies the gradients of the weights from their slices.
    fn gather(&self, at: usize) -> Result<Launch, Skip> {
        let mut map = Map::over(Real::Single, &self.weights.layout);
        map.written(&View::of("dst", Arg::DIFF_WEIGHTS, self.weights))?;
        map.emit.view(&View { place: Place::Scratch(at), ..View::of("src", Arg::DIFF_WEIGHTS, &self.whole) })?;
        map.emit.sizes("together", &[self.together]);
        map.emit.numbers("own", &[self.z.oc, self.z.ic]);
        map.element = format!(
            "    index slice = p[0];\n    const index group = split(a.together[0], slice);\n    \
             const index q[] = {{slice, group * (index)a.own[0] + p[1], group * (index)a.own[1] + p[2]{}}};\n    \
             store_code<dst_type>(a.dst_data, dst_at(a, p), src_code(a, src_at(a, q)));\n",
            self.taps()
        );
        Ok(map.launch())
    }

    /// The indices of the taps, to append to those of slice and channels.
    fn taps(&self) -> String {
        (3..self.whole.dims().len()).map(|d| format!(", p[{d}]")).collect()
    }
}

//! `slices:sm90`: convolutions and deconvolutions in groups by the kernels of `window:sm90` and `weights:sm90`, in one launch. A slice is the channels of some
//! neighbouring groups, enough to fill a tile: the output channels of a tile read the input channels of their slice, and weights are zero between its groups. As
//! in other convolutions by transforms, an infinite source makes outputs of its neighbours undefined: of the groups of its slice.

use super::conv::{Direction, Window, direction};
use super::{Channels, check};
use crate::CudaTarget;
use crate::emit::{Real, View};
use crate::ops::map::Map;
use crate::program::{Launch, MapPlace, OVERFLOW, Program};
use oxidnn_runtime::Skip;
use oxidnn_spec::op::ConvSizes;
use oxidnn_spec::{Arg, DataType, Layout, Op, Problem, Prop, Tensor};

/// Channels that fill a tile.
const CHANNELS: i64 = 64;
/// The most groups that a slice may take when it does not take all: of the divisors of large numbers of groups only these are tried.
const GROUPS: i64 = 1024;
/// Bits at whose multiples TMA begins to load.
const TMA_BITS: i64 = 128;

/// The groups of a convolution or deconvolution in slices.
#[derive(Clone, Copy)]
pub(super) struct Slices {
    z: ConvSizes,
    /// Groups of a slice.
    together: i64,
    /// The dimension of the weights that is outermost but for the slices, of output or input channels; the other one is innermost.
    first: usize,
}

/// Convolution in groups, without depthwise ones and groups of which only many make whole tiles.
pub(crate) fn conv(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    let Op::Conv(op) = &problem.op else { return Err(Skip::Op("anything but convolutions")) };
    let z = op.sizes();
    let slices = Slices::of(z, first(op.prop, true), op.src.dtype);
    let [outer, inner] = slices.channels();
    if z.ic == 1 && z.oc == 1 || slices.together > 1 && outer.min(inner) > 2 * CHANNELS {
        return Err(Skip::Shape("depthwise convolutions, or groups of which only many make whole tiles"));
    }
    any(problem, target)
}

/// The dimension of the weights (`Slices::first`) of a pass of a convolution or deconvolution.
fn first(prop: Prop, is_conv: bool) -> usize {
    if prop == Prop::BackwardData || prop == Prop::BackwardWeights && !is_conv { 2 } else { 1 }
}

/// Convolution or deconvolution in groups.
pub(crate) fn any(problem: &Problem, target: &CudaTarget) -> Result<Program, Skip> {
    check(problem, target)?;
    let (channels, direction) = direction(problem)?;
    let (Channels { src, weights, dst, .. }, Direction { prop, sizes, input_is_large, .. }) = (channels, &direction);
    if sizes.g < 2 || weights.dims().len() == src.dims().len() || [src, weights, dst].iter().any(|t| t.is_empty()) {
        return Err(Skip::Shape("one group, or no elements"));
    }
    let slices = Some(Slices::of(*sizes, first(*prop, *input_is_large), src.dtype));
    let direction = Direction { slices, ..direction };
    if direction.prop == Prop::BackwardWeights {
        return super::weights::lower(problem, direction, [src, weights], target);
    }
    Window::new(problem, channels, direction)?.program(target)
}

impl Slices {
    fn of(z: ConvSizes, first: usize, dtype: DataType) -> Slices {
        let outer = if first == 1 { z.oc } else { z.ic };
        let inner = if first == 1 { z.ic } else { z.oc };
        // TMA loads channels from 16-byte boundaries on.
        let aligned = |channels: i64| channels * dtype.bits() as i64 % TMA_BITS == 0;
        // The fewest groups whose outer channels are whole tiles, and whose inner ones leave little of a stage empty.
        let fits = |n: &i64| z.g % n == 0 && outer * n % CHANNELS == 0 && inner * n * 4 >= CHANNELS && aligned(inner * n);
        Slices { z, together: (1..z.g.min(GROUPS + 1)).find(fits).unwrap_or(z.g), first }
    }

    /// The channels of a slice along the dimension `first`, and along the other one.
    pub(super) fn channels(&self) -> [i64; 2] {
        let own = [self.z.oc * self.together, self.z.ic * self.together];
        [own[self.first - 1], own[2 - self.first]]
    }

    pub(super) fn count(&self) -> i64 {
        self.z.g / self.together
    }

    /// The weights in slices: (slice, output channels, input channels, taps), with the innermost channels spaced by `lead`.
    fn whole(&self, weights: &Tensor, lead: i64) -> Result<Tensor, Skip> {
        let mut dims = *weights.dims();
        (dims[0], dims[1], dims[2]) = (self.count(), self.together * self.z.oc, self.together * self.z.ic);
        let inner = 3 - self.first;
        let order: Vec<usize> = [0, self.first].into_iter().chain(3..dims.len()).chain([inner]).collect();
        let mut padded = dims;
        padded[inner] = lead;
        let mut whole = Tensor::plain(dims, weights.dtype).map_err(|_| OVERFLOW)?;
        let spaced = Layout::dense(padded, &order).map_err(|_| OVERFLOW)?;
        let (Some(own), Some(spaced)) = (whole.layout.blocking_mut(), spaced.blocking()) else { return Err(OVERFLOW) };
        own.strides = spaced.strides;
        Ok(whole)
    }

    /// The weights in slices: the argument, if it has their layout, or a copy in scratch.
    pub(super) fn spread(&self, weights: &Tensor, lead: i64, program: &mut Program) -> Result<MapPlace, Skip> {
        let whole = self.whole(weights, lead)?;
        if whole.layout == weights.layout {
            return Ok(MapPlace::Arg(Arg::WEIGHTS, 0));
        }
        let at = program.book(whole.bytes())?;
        let mut map = Map::over(Real::Single, &whole.layout);
        map.emit.view(&View::scratch("to", at, &whole))?;
        map.emit.view(&View::of("weights", Arg::WEIGHTS, weights))?;
        map.emit.sizes("own", &[self.z.oc, self.z.ic]);
        map.emit.number("together", self.together);
        map.element = format!(
            "    index row = p[1], column = p[2];\n    const index o = split(a.own[0], row), i = split(a.own[1], column);\n    \
             const index q[] = {{p[0] * (index)a.together + row, o, i{}}};\n    \
             store_code<to_type>(a.to_data, to_at(a, p), row == column ? weights_code(a, weights_at(a, q)) : (to_type::word)0);\n",
            taps(weights)
        );
        program.launches.push(map.launch());
        Ok(MapPlace::Scratch(at))
    }

    /// The place of the gradients of the weights in slices: the argument, if it has their layout, or scratch; and the launch that copies them from there.
    pub(super) fn gather(&self, weights: &Tensor, lead: i64, program: &mut Program) -> Result<(MapPlace, Vec<Launch>), Skip> {
        let whole = self.whole(weights, lead)?;
        if whole.layout == weights.layout {
            return Ok((MapPlace::Arg(Arg::DIFF_WEIGHTS, 0), Vec::new()));
        }
        let bytes = whole.bytes().checked_add(lead as usize * 4).ok_or(OVERFLOW)?;
        let at = program.book(bytes)?;
        let mut map = Map::over(Real::Single, &weights.layout);
        map.written(&View::of("dst", Arg::DIFF_WEIGHTS, weights))?;
        map.emit.view(&View::scratch("src", at, &whole))?;
        map.emit.sizes("together", &[self.together]);
        map.emit.numbers("own", &[self.z.oc, self.z.ic]);
        map.element = format!(
            "    index slice = p[0];\n    const index group = split(a.together[0], slice);\n    \
             const index q[] = {{slice, group * (index)a.own[0] + p[1], group * (index)a.own[1] + p[2]{}}};\n    \
             store_code<dst_type>(a.dst_data, dst_at(a, p), src_code(a, src_at(a, q)));\n",
            taps(weights)
        );
        Ok((MapPlace::Scratch(at), vec![map.launch()]))
    }
}

/// The indices of the taps, to append to those of slice and channels.
fn taps(weights: &Tensor) -> String {
    (3..weights.dims().len()).map(|d| format!(", p[{d}]")).collect()
}

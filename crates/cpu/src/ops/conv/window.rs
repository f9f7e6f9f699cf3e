//! A convolution, its gradient of data or a deconvolution as a window over one of its tensors: operands, layouts, and quantisation that rows
//! share.

use super::geometry::Direction;
use crate::kernels::access::{Pos, View};
use crate::kernels::broadcast::Broadcast;
use crate::ops::support;
use oxidnn_jit::Isa;
use oxidnn_runtime::{Ctx, Skip};
use oxidnn_spec::op::ConvSizes;
use oxidnn_spec::{Arg, Attr, Error, Op, Problem, Prop, Tensor};

/// A problem as a window over one of its tensors.
pub(crate) struct Setup<'a> {
    /// Which tensor the window slides over.
    pub(crate) direction: Direction,
    /// The operation's sizes.
    pub(crate) sizes: ConvSizes,
    /// The tensor read.
    pub(crate) source: (Arg, &'a Tensor),
    /// Weights.
    pub(crate) weights: &'a Tensor,
    /// The tensor written.
    pub(crate) result: (Arg, &'a Tensor),
    /// Which of the weights' channel dimensions is the result's: 0 or 1.
    pub(crate) result_channel: usize,
    /// Whether there is a bias.
    pub(crate) biased: bool,
}

impl Setup<'_> {
    /// A convolution or deconvolution, forward or backward by data, as a window over one of its tensors.
    ///
    /// # Errors
    /// Other operations.
    pub(crate) fn of(op: &Op) -> Result<Setup<'_>, Skip> {
        let (gathers, sizes, biased, (src, weights, dst)) = match op {
            Op::Conv(op) => (true, op.sizes(), op.bias.is_some(), (&op.src, &op.weights, &op.dst)),
            Op::Deconv(op) => (false, op.sizes(), op.bias.is_some(), (&op.src, &op.weights, &op.dst)),
            _ => return Err(Skip::Op("anything but convolution")),
        };
        let forward = match op.prop() {
            Some(Prop::ForwardTraining | Prop::ForwardInference) => true,
            Some(Prop::BackwardData) => false,
            _ => return Err(Skip::Op("this propagation kind")),
        };
        let (source, result) = if forward { ((Arg::SRC, src), (Arg::DST, dst)) } else { ((Arg::DIFF_DST, dst), (Arg::DIFF_SRC, src)) };
        // Forward deconvolution is the gradient of a convolution with respect to its source.
        let direction = if gathers == forward { Direction::Gather } else { Direction::Scatter };
        Ok(Setup { direction, sizes, source, weights, result, result_channel: usize::from(!forward), biased })
    }
}

/// `problem` with open layouts resolved: of source and result to the first tag, of weights to the second.
///
/// # Errors
/// Tags that do not fit, and operands that are not dense.
pub(super) fn resolved(problem: &Problem, [data_tag, weights_tag]: [&str; 2]) -> Result<Problem, Skip> {
    let mut problem = problem.clone();
    let s = Setup::of(&problem.op)?;
    let data = [s.source.0, s.result.0];
    for o in problem.op.operands_mut() {
        if o.arg == Arg::WEIGHTS {
            support::resolve(o.tensor, weights_tag)?;
        } else if data.contains(&o.arg) {
            support::resolve(o.tensor, data_tag)?;
        }
    }
    problem.resolve();
    support::dense(&problem)?;
    Ok(problem)
}

/// Whether every result reads the pixel at its own place.
pub(super) fn is_pointwise(s: &ConvSizes) -> bool {
    [s.k, s.s] == [[1; 3]; 2] && s.pl == [0; 3] && s.i == s.o
}

/// Refuses weights whose layout is not `tag`.
pub(super) fn check_weights(weights: &Tensor, tag: &str) -> Result<(), Skip> {
    match Tensor::with_tag(*weights.dims(), weights.dtype, tag) {
        Ok(packed) if packed == *weights => Ok(()),
        Ok(_) => Err(Skip::Layout(format!("of the weights: not {tag}"))),
        Err(e) => Err(Skip::Layout(e.to_string())),
    }
}

/// Resolves open data layouts to contiguous pixels (NCHW): if the other tensor has them, or if the result has so few channels, in all or in
/// each group, that channels last would leave most of a vector idle, or groups have one source channel: then writing takes longest, which
/// channels last do in short runs.
pub(super) fn resolve_planes(problem: &mut Problem, isa: Isa) -> Result<(), Skip> {
    let s = Setup::of(&problem.op)?;
    let (channels, depth) = if s.result_channel == 0 { (s.sizes.oc, s.sizes.ic) } else { (s.sizes.ic, s.sizes.oc) };
    let many = channels * if s.sizes.g > 1 { 2 } else { 4 } > isa.width().lanes() as i64 && (s.sizes.g == 1 || depth > 1);
    let data = [s.source.0, s.result.0];
    let open = [s.source.1, s.result.1].iter().all(|t| t.layout.is_any());
    if open && many {
        return Err(Skip::Layout("of source and result: any, which is channels last where there are enough".into()));
    }
    for o in problem.op.operands_mut().into_iter().filter(|o| data.contains(&o.arg)) {
        support::resolve(o.tensor, "abx")?;
    }
    Ok(())
}

/// Scales and zero points must not vary along the reduction.
pub(super) fn check_quantisation(attr: &Attr, setup: &Setup<'_>) -> Result<(), Skip> {
    let grouped = u32::from(setup.weights.dims().len() == setup.source.1.dims().len() + 1);
    let channel = 1 << (grouped + setup.result_channel as u32);
    let scale = |arg: Arg| attr.scales.get(&arg).map_or(0, |q| q.mask);
    if scale(setup.source.0) != 0 {
        return Err(Skip::Attr("scales of the source that differ by position".into()));
    }
    let allowed = if grouped == 1 { [0, 1, channel | 1] } else { [0, channel, channel] };
    if !allowed.contains(&scale(Arg::WEIGHTS)) {
        return Err(Skip::Attr("scales of the weights that differ by more than the result's channel".into()));
    }
    let grouped_numbers = attr.scales.values().chain(attr.zero_points.values()).any(|q| !q.groups.is_empty());
    if grouped_numbers { Err(Skip::Attr("grouped quantisation".into())) } else { Ok(()) }
}

/// Scales of the weights as a broadcast over a result with `dims` dimensions and `channels` channels in a group.
pub(super) fn weight_scale<'a>(
    ctx: &Ctx<'a>,
    attr: &Attr,
    weights: &View<'a>,
    result: (usize, usize, usize),
) -> Result<Broadcast<'a>, Error> {
    Ok(by_result(Broadcast::scale(weights.simd(), ctx, attr, Arg::WEIGHTS, weights.dims())?, weights.dims().len(), result))
}

/// The same for any attribute of weights of `n` dimensions.
pub(super) fn by_result(numbers: Broadcast<'_>, n: usize, (dims, result_channel, channels): (usize, usize, usize)) -> Broadcast<'_> {
    let grouped = usize::from(n == dims + 1);
    // By group and channel, the elements are in the order of the result's channels; by group alone, each serves a group's channels.
    if grouped == 1 && !numbers.varies(1) && numbers.varies(0) {
        numbers.permuted(&[None, Some(0)]).grouped(1, channels as i64)
    } else {
        numbers.permuted(&[None, Some(grouped + result_channel)])
    }
}

/// Cuts `size` into equal pieces of at most `most`, multiples of `unit`: their size and number.
pub(crate) fn cut(size: usize, most: usize, unit: usize) -> (usize, usize) {
    let each = size.div_ceil(size.div_ceil(most.max(1)).max(1)).next_multiple_of(unit).max(unit);
    (each, size.div_ceil(each))
}

/// The tensor dimension of spatial dimension `i` of three, if the tensor of `n` dimensions has it.
pub(crate) fn spatial(i: usize, n: usize, first: usize) -> Option<usize> {
    (i + n).checked_sub(3).filter(|d| *d >= first)
}

/// Depth, height and width of a data tensor.
pub(crate) fn sizes_of(t: &Tensor) -> [i64; 3] {
    std::array::from_fn(|i| spatial(i, t.dims().len(), 2).map_or(1, |d| t.dims()[d]))
}

/// Sets the spatial coordinates of a position in a data tensor.
pub(super) fn place(pos: &mut Pos, n: usize, at: [i64; 3]) {
    set_spatial(pos, (n, 2), at);
}

/// Sets the spatial coordinates, behind the first `first` dimensions, of a position in weights to those of a tap.
pub(super) fn place_tap(pos: &mut Pos, (n, first): (usize, usize), tap: usize, [_, kh, kw]: [i64; 3]) {
    let tap = tap as i64;
    set_spatial(pos, (n, first), [tap / (kh * kw), tap / kw % kh, tap % kw]);
}

fn set_spatial(pos: &mut Pos, (n, first): (usize, usize), at: [i64; 3]) {
    for (i, x) in at.into_iter().enumerate() {
        if let Some(d) = spatial(i, n, first) {
            pos[d] = x;
        }
    }
}

//! Sizes of outputs from sizes of inputs, and the layouts of outputs that were left open.

use crate::tensor::row_major;
use crate::{AttrId, Error, LayoutType, LogicalTensor, Op, OpKind, UNKNOWN};
use oxidnn_spec::Dims;

/// Gives every output of `op` its sizes and strides; inputs must have theirs.
///
/// # Errors
/// [`Error::InvalidShape`] for sizes that do not fit, [`Error::InvalidArguments`] for inputs that are not known well enough.
pub(crate) fn outputs(op: &mut Op) -> Result<(), Error> {
    use OpKind::{AvgPool, AvgPoolBackward, Concat, Interpolate, InterpolateBackward, MaxPool, MaxPoolBackward};
    for lt in &op.inputs {
        lt.tensor()?;
    }
    let inferred = shapes(op)?;
    let first_input = op.inputs.first().copied();
    // Images keep the order of their dimensions, whatever their sizes become.
    let images = matches!(op.kind, AvgPool | MaxPool | AvgPoolBackward | MaxPoolBackward | Interpolate | InterpolateBackward | Concat);
    for (i, (out, dims)) in op.outputs.iter_mut().zip(inferred).enumerate() {
        if let Some(given) = out.dims {
            let fits = given.len() == dims.len() && given.iter().zip(dims.iter()).all(|(&g, &d)| g == d || g == UNKNOWN);
            if !fits {
                let what = format!("sizes of output {i} of {}", op.kind.name());
                return Err(Error::shape(what, given, dims));
            }
        }
        let open = matches!(out.layout, LayoutType::Undef | LayoutType::Any);
        let strides = match (open, out.layout) {
            (false, LayoutType::Opaque(_)) => return Err(Error::argument("layout of an output", "opaque", "any or strided")),
            (false, _) if out.strides.len() == dims.len() && !out.strides.contains(&UNKNOWN) => out.strides,
            (true, _) => followed(first_input.as_ref(), &dims, images).unwrap_or_else(|| row_major(&dims)),
            _ => row_major(&dims),
        };
        *out = out.resolved(dims, strides);
    }
    Ok(())
}

/// Makes the channels of a convolution's output contiguous if its layout is free, whatever the format: the readers are fastest with that.
pub(crate) fn innermost_channels(op: &mut Op) {
    let windows = matches!(op.kind, OpKind::Convolution | OpKind::ConvTranspose) && op.text(AttrId::DataFormat) == "NCX";
    let Some(&lt) = op.outputs.first() else { return };
    let Some(dims) = lt.known_dims().filter(|d| windows && d.len() > 2) else { return };
    let mut last: Vec<i64> = dims.to_vec();
    let channels = last.remove(1);
    last.push(channels);
    let strides = row_major(&last);
    let n = dims.len();
    op.outputs[0] = lt.resolved(
        dims,
        Dims::from_fn(n, |d| {
            strides[if d == 0 {
                0
            } else if d == 1 {
                n - 1
            } else {
                d - 1
            }]
        }),
    );
}

/// Dense strides of `dims` in the memory order of an input of the same sizes, with which element-wise operations are fastest; or of an
/// input with as many dimensions.
fn followed(first_input: Option<&LogicalTensor>, dims: &Dims, resized: bool) -> Option<Dims> {
    let layout = first_input?.tensor().ok()?.layout;
    let same = layout.dims == *dims || resized && layout.dims.len() == dims.len();
    let resized = layout.resized(*dims);
    resized.blocking().filter(|_| same).map(|b| b.strides)
}

/// Sizes of an input.
fn dims(op: &Op, i: usize) -> Dims {
    op.inputs.get(i).and_then(LogicalTensor::known_dims).unwrap_or_default()
}

/// `axis`, which may count from the end, of a tensor of `rank` dimensions.
pub(crate) fn axis(axis: i64, rank: usize) -> Result<usize, Error> {
    let from_begin = if axis < 0 { axis + rank as i64 } else { axis };
    let inside = usize::try_from(from_begin).ok().filter(|&a| a < rank);
    inside.ok_or_else(|| Error::shape("axis", axis, format_args!("-{rank} to {}", rank as i64 - 1)))
}

/// Place of the channels of data of `rank` dimensions.
pub(crate) fn channel(op: &Op, rank: usize) -> usize {
    if op.text(AttrId::DataFormat) == "NXC" { rank.saturating_sub(1) } else { 1.min(rank.saturating_sub(1)) }
}

/// Batch, channels and spatial sizes of data in the operation's format.
pub(crate) fn split(op: &Op, dims: &Dims) -> Result<(i64, i64, Dims), Error> {
    let n = dims.len();
    if n < 3 {
        return Err(Error::shape(format_args!("data of {}", op.kind.name()), dims, "at least 3 dimensions"));
    }
    let c = channel(op, n);
    let spatial = if c == 1 { &dims[2..] } else { &dims[1..n - 1] };
    Ok((dims[0], dims[c], Dims::new(spatial).unwrap_or_default()))
}

/// The opposite of [`split`].
fn join(op: &Op, mb: i64, channels: i64, spatial: &[i64]) -> Dims {
    let last = op.text(AttrId::DataFormat) == "NXC";
    let mut out = Dims::from([mb]);
    if !last {
        out.push(channels);
    }
    spatial.iter().for_each(|&s| out.push(s));
    if last {
        out.push(channels);
    }
    out
}

/// Weights in the operation's format: output channels, input channels, kernel sizes, in the order of the format.
pub(crate) fn weights(op: &Op, dims: &Dims) -> Result<(i64, i64, Dims), Error> {
    let n = dims.len();
    if n < 3 {
        return Err(Error::shape(format_args!("weights of {}", op.kind.name()), dims, "at least 3 dimensions"));
    }
    let order = weights_order(op, n);
    Ok((dims[order[0]], dims[order[1]], Dims::from_fn(n - 2, |i| dims[order[i + 2]])))
}

/// Places of output channels, input channels and kernel sizes in weights of `rank` dimensions.
pub(crate) fn weights_order(op: &Op, rank: usize) -> Vec<usize> {
    let (first, second, kernel) = match op.text(AttrId::WeightsFormat) {
        "OIX" => (0, 1, 2),
        "IOX" => (1, 0, 2),
        "XOI" => (rank - 2, rank - 1, 0),
        _ => (rank - 1, rank - 2, 0),
    };
    [first, second].into_iter().chain(kernel..kernel + rank - 2).collect()
}

/// A window along one spatial dimension: stride, dilation, padding before and after.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WindowDim {
    pub(crate) stride: i64,
    /// Distance between kernel elements, at least 1.
    pub(crate) dilation: i64,
    pub(crate) before: i64,
    pub(crate) after: i64,
    /// Elements from the first to the last that the window covers.
    pub(crate) span: i64,
}

/// The window of a convolution or pooling along each spatial dimension; `wide` are the sizes it slides over, or of a deconvolution
/// (`transposed`) those it starts from.
pub(crate) fn window_dims(op: &Op, wide: &[i64], kernel: &[i64], transposed: bool) -> Result<Vec<WindowDim>, Error> {
    let n = wide.len();
    let list = |id: AttrId, missing: i64| {
        let given = op.s64s(id);
        // A default stands for as many numbers as there are dimensions.
        let open = given.is_empty() || given == [missing; 12];
        if !open && given.len() != n {
            return Err(Error::shape(id.name(), format_args!("{given:?}"), format_args!("{n} numbers, one a spatial dimension")));
        }
        Ok(if open { vec![missing; n] } else { given.to_vec() })
    };
    if kernel.len() != n || n > 3 {
        return Err(Error::shape("kernel", format_args!("{kernel:?}"), format_args!("{n} sizes, at most 3")));
    }
    let (strides, dilations) = (list(AttrId::Strides, 1)?, list(AttrId::Dilations, 1)?);
    let (begin, end) = (list(AttrId::PadsBegin, 0)?, list(AttrId::PadsEnd, 0)?);
    if strides.iter().chain(&dilations).chain(kernel).any(|&v| v < 1) {
        return Err(Error::shape("kernel, strides, dilations", format_args!("{kernel:?}, {strides:?}, {dilations:?}"), "at least 1"));
    }
    let window_dim = |i: usize| {
        let (stride, dilation) = (strides[i], dilations[i]);
        let span = (kernel[i] - 1).saturating_mul(dilation).saturating_add(1);
        let needed = match transposed {
            true => span.saturating_sub(stride),
            false => ((wide[i] - 1).div_euclid(stride).saturating_mul(stride)).saturating_add(span).saturating_sub(wide[i]),
        };
        let total = needed.max(0);
        let (before, after) = match op.text(AttrId::AutoPad) {
            "SAME_UPPER" => (total / 2, total - total / 2),
            "SAME_LOWER" => (total - total / 2, total / 2),
            "VALID" => (0, 0),
            _ => (begin[i], end[i]),
        };
        WindowDim { stride, dilation, before, after, span }
    };
    Ok((0..n).map(window_dim).collect())
}

/// Sizes that a window gives when it slides over `wide`.
fn narrowed(op: &Op, wide: &[i64], window_dims: &[WindowDim]) -> Result<Dims, Error> {
    let up = op.text(AttrId::RoundingType) == "ceil" && matches!(op.text(AttrId::AutoPad), "" | "None");
    let mut out = Dims::default();
    for (&w, s) in wide.iter().zip(window_dims) {
        let last_start = w.saturating_add(s.before).saturating_add(s.after).saturating_sub(s.span);
        if last_start < 0 {
            return Err(Error::shape("padded input", format_args!("{wide:?}"), format_args!("at least the window of {}", s.span)));
        }
        out.push((if up { last_start.saturating_add(s.stride - 1) } else { last_start }) / s.stride + 1);
    }
    Ok(out)
}

/// A shape that comes as an attribute, or is the output's own.
fn stated(op: &Op, id: AttrId) -> Result<Dims, Error> {
    let attr = op.s64s(id);
    if !attr.is_empty() && attr != [0; 12] {
        return Dims::new(attr).ok_or_else(|| Error::shape(id.name(), attr.len(), "at most 12 sizes"));
    }
    let known = op.outputs[0].known_dims();
    known.ok_or_else(|| Error::shape(id.name(), "an input whose values are not known yet", "the sizes of the output, or an attribute"))
}

/// The sizes of two operands together.
pub(crate) fn broadcast(op: &Op, all: &[Dims]) -> Result<Dims, Error> {
    let n = all.iter().map(|d| d.len()).max().unwrap_or(0);
    let mut out = Dims::filled(n, 1);
    for dims in all {
        for (o, &d) in out[n - dims.len()..].iter_mut().zip(dims.iter()) {
            let fits = *o == d || d == 1 || *o == 1;
            if !fits || op.text(AttrId::AutoBroadcast) == "none" && dims != &all[0] {
                return Err(Error::shape(format_args!("operands of {}", op.kind.name()), format_args!("{all:?}"), "sizes that broadcast"));
            }
            *o = if *o == 1 { d } else { *o };
        }
    }
    Ok(out)
}

/// The sizes of every output.
fn shapes(op: &Op) -> Result<Vec<Dims>, Error> {
    use OpKind::*;
    let first = dims(op, 0);
    let one = |d: Result<Dims, Error>| d.map(|d| vec![d]);
    match op.kind {
        Add | Divide | Maximum | Minimum | Multiply | Subtract | SquaredDifference | GreaterEqual => {
            one(broadcast(op, &[first, dims(op, 1)]))
        }
        Select => one(broadcast(op, &[dims(op, 1), dims(op, 2), first])),
        AvgPool | MaxPool => one(pool(op, &first)),
        AvgPoolBackward => one(stated(op, AttrId::SrcShape)),
        BatchNormForwardTraining => Ok(channels(op, &first, 4)),
        BatchNormTrainingBackward => Ok(channels(op, &first, op.outputs.len() - 1)),
        BiasAddBackward => Ok(vec![Dims::from([*first.get(channel(op, first.len())).unwrap_or(&1)])]),
        Concat => one(concat(op)),
        Convolution | ConvTransposeBackwardData => one(convolution(op)),
        ConvTranspose => one(transposed(op)),
        ConvolutionBackwardData => one(stated_or(op, AttrId::DstShape, transposed)),
        ConvolutionBackwardWeights | ConvTransposeBackwardWeights => one(stated(op, AttrId::WeightsShape)),
        Interpolate => one(resized(op, &first)),
        LayerNorm => layer_norm(op, &first),
        LayerNormBackward => Ok([first].into_iter().chain((1..op.outputs.len()).map(|_| dims(op, 4))).collect()),
        GroupNorm => {
            let stats = Dims::from([*first.first().unwrap_or(&1), op.s64(AttrId::Groups)]);
            Ok([first].into_iter().chain((1..op.outputs.len()).map(|_| stats)).collect())
        }
        MatMul => one(matmul(op)),
        PreluBackward => Ok(vec![first, dims(op, 1)]),
        ReduceL1 | ReduceL2 | ReduceMax | ReduceMean | ReduceMin | ReduceProd | ReduceSum => one(reduce(op, &first)),
        SoftMax => {
            let at = axis(op.s64(AttrId::Axis), first.len())?;
            let stats = Dims::from_fn(first.len(), |d| if d == at { 1 } else { first[d] });
            Ok([first].into_iter().chain((1..op.outputs.len()).map(|_| stats)).collect())
        }
        StaticReshape => one(reshape(op, &first)),
        StaticTranspose => one(transpose_order(op, first.len()).map(|o| Dims::from_fn(o.len(), |i| first[o[i]]))),
        _ => Ok(vec![first; op.outputs.len()]),
    }
}

/// The data's sizes, then `count` times the number of channels.
fn channels(op: &Op, data: &Dims, count: usize) -> Vec<Dims> {
    let stats = Dims::from([*data.get(channel(op, data.len())).unwrap_or(&1)]);
    [*data].into_iter().chain((0..count).map(|_| stats)).collect()
}

fn pool(op: &Op, src: &Dims) -> Result<Dims, Error> {
    let (mb, c, spatial) = split(op, src)?;
    let window_dims = window_dims(op, &spatial, op.s64s(AttrId::Kernel), false)?;
    Ok(join(op, mb, c, &narrowed(op, &spatial, &window_dims)?))
}

fn concat(op: &Op) -> Result<Dims, Error> {
    let mut out = dims(op, 0);
    let at = axis(op.s64(AttrId::Axis), out.len())?;
    for i in 1..op.inputs.len() {
        let d = dims(op, i);
        let fits = d.len() == out.len() && (0..d.len()).all(|k| k == at || d[k] == out[k]);
        if !fits {
            return Err(Error::shape(format_args!("input {i} of Concat"), d, format_args!("{out} but for dimension {at}")));
        }
        out[at] = out[at].saturating_add(d[at]);
    }
    Ok(out)
}

/// Output of a convolution; of the gradient of a deconvolution's data too, which is one.
fn convolution(op: &Op) -> Result<Dims, Error> {
    let (mb, c, spatial) = split(op, &dims(op, 0))?;
    let (o, i, kernel) = weights(op, &dims(op, 1))?;
    let forward = op.kind == OpKind::Convolution;
    let (from, to, groups) = if forward { (i, o, op.s64(AttrId::Groups)) } else { (o, i, op.s64(AttrId::Groups)) };
    if groups < 1 || from.saturating_mul(groups) != c {
        return Err(Error::shape("channels of the data", c, format_args!("{groups} x {from} by groups and weights")));
    }
    let window_dims = window_dims(op, &spatial, &kernel, false)?;
    Ok(join(op, mb, to, &narrowed(op, &spatial, &window_dims)?))
}

/// Output of a deconvolution, and of the gradient of a convolution's data.
fn transposed(op: &Op) -> Result<Dims, Error> {
    let (mb, c, spatial) = split(op, &dims(op, 0))?;
    let (o, i, kernel) = weights(op, &dims(op, 1))?;
    let groups = op.s64(AttrId::Groups);
    // The side of the weights whose channels are counted over all groups is the source's here.
    let (from, to) = if op.kind == OpKind::ConvTranspose { (i, o) } else { (o, i) };
    if groups < 1 || from != c {
        return Err(Error::shape("channels of the data", c, format_args!("{from} by the weights")));
    }
    let window_dims = window_dims(op, &spatial, &kernel, true)?;
    let padding = op.s64s(AttrId::OutputPadding);
    if !padding.is_empty() && padding != [0; 12] && padding.len() != spatial.len() {
        let expected = format_args!("{} numbers, one a spatial dimension", spatial.len());
        return Err(Error::shape("output_padding", format_args!("{padding:?}"), expected));
    }
    let mut out = Dims::default();
    for (i, (&size, s)) in spatial.iter().zip(&window_dims).enumerate() {
        let more = padding.get(i).copied().unwrap_or(0);
        let full = (size - 1).saturating_mul(s.stride).saturating_add(s.span).saturating_add(more);
        out.push(full.saturating_sub(s.before).saturating_sub(s.after));
    }
    Ok(join(op, mb, to.saturating_mul(groups), &out))
}

/// [`stated`], where it is stated, else inferred by `infer`.
fn stated_or(op: &Op, id: AttrId, infer: fn(&Op) -> Result<Dims, Error>) -> Result<Dims, Error> {
    stated(op, id).or_else(|_| infer(op))
}

fn resized(op: &Op, src: &Dims) -> Result<Dims, Error> {
    let (mb, c, spatial) = split(op, src)?;
    let (sizes, scales) = (op.s64s(AttrId::Sizes), op.f32s(AttrId::Scales));
    if sizes.len().max(scales.len()) != spatial.len() {
        return Err(Error::shape("sizes or scales", sizes.len().max(scales.len()), format_args!("{}", spatial.len())));
    }
    let scaled = |i: usize| (spatial[i] as f64 * f64::from(scales[i].get())) as i64;
    let out = Dims::from_fn(spatial.len(), |i| if sizes.is_empty() { scaled(i) } else { sizes[i] });
    Ok(join(op, mb, c, &out))
}

fn layer_norm(op: &Op, src: &Dims) -> Result<Vec<Dims>, Error> {
    let at = axis(op.s64(AttrId::BeginNormAxis), src.len())?;
    let stats = Dims::from_fn(at, |d| src[d]);
    Ok([*src].into_iter().chain((1..op.outputs.len()).map(|_| stats)).collect())
}

fn matmul(op: &Op) -> Result<Dims, Error> {
    let (mut a, mut b) = (dims(op, 0), dims(op, 1));
    let (rows, columns) = (a.len() > 1, b.len() > 1);
    if a.is_empty() || b.is_empty() {
        return Err(Error::shape("operands of MatMul", format_args!("{a} and {b}"), "at least 1 dimension"));
    }
    let swap = |d: &mut Dims, flag: AttrId| {
        let n = d.len();
        if op.flag(flag) && n > 1 {
            d.swap(n - 2, n - 1);
        }
    };
    swap(&mut a, AttrId::TransposeA);
    swap(&mut b, AttrId::TransposeB);
    let (m, k) = if rows { (a[a.len() - 2], a[a.len() - 1]) } else { (1, a[0]) };
    let (k2, n) = if columns { (b[b.len() - 2], b[b.len() - 1]) } else { (b[0], 1) };
    if k != k2 {
        return Err(Error::shape("operands of MatMul", format_args!("{a} by {b}"), "as many columns as rows"));
    }
    let batch = |d: &Dims| Dims::new(&d[..d.len().saturating_sub(2)]).unwrap_or_default();
    let mut out = broadcast(op, &[batch(&a), batch(&b)])?;
    if rows {
        out.push(m);
    }
    if columns {
        out.push(n);
    }
    Ok(out)
}

/// The dimensions that are reduced.
pub(crate) fn reduced(op: &Op, rank: usize) -> Result<Vec<bool>, Error> {
    let mut out = vec![false; rank];
    for &a in op.s64s(AttrId::Axes) {
        out[axis(a, rank)?] = true;
    }
    Ok(out)
}

fn reduce(op: &Op, src: &Dims) -> Result<Dims, Error> {
    let reduced = reduced(op, src.len())?;
    let mut out = Dims::default();
    for (&d, r) in src.iter().zip(reduced) {
        match (r, op.flag(AttrId::KeepDims)) {
            (true, true) => out.push(1),
            (true, false) => {}
            (false, _) => out.push(d),
        }
    }
    Ok(out)
}

fn reshape(op: &Op, src: &Dims) -> Result<Dims, Error> {
    let wanted = op.s64s(AttrId::Shape);
    let bad = || Error::shape("shape of StaticReshape", format_args!("{wanted:?}"), format_args!("as many elements as {src}"));
    let mut out = Dims::new(wanted).ok_or_else(bad)?;
    for (i, d) in out.iter_mut().enumerate() {
        if *d == 0 && op.flag(AttrId::SpecialZero) {
            *d = *src.get(i).ok_or_else(bad)?;
        }
    }
    let total = src.volume().ok_or_else(bad)?;
    if let Some(open) = out.iter().position(|&d| d == -1) {
        out[open] = 1;
        let known = out.volume().filter(|&v| v > 0 && total % v == 0).ok_or_else(bad)?;
        out[open] = total / known;
    }
    if out.volume() == Some(total) { Ok(out) } else { Err(bad()) }
}

/// The input's dimension that each dimension of the output is.
pub(crate) fn transpose_order(op: &Op, rank: usize) -> Result<Vec<usize>, Error> {
    let given = op.s64s(AttrId::Order);
    let order = given.iter().map(|&a| axis(a, rank)).collect::<Result<Vec<_>, _>>()?;
    let all = order.len() == rank && (0..rank).all(|d| order.contains(&d));
    if all { Ok(order) } else { Err(Error::shape("order", format_args!("{given:?}"), format_args!("each of 0..{rank} once"))) }
}

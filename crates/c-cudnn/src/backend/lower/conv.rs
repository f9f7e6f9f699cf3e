//! Convolutions and their gradients.

use super::value::Val;
use super::{Lowering, misfit, unsupported};
use crate::backend::object::Frozen;
use crate::enums::*;
use crate::status::Failure;
use oxidnn_spec::op::{Conv, ConvAlg, Prop, Sum, Window};
use oxidnn_spec::{Arg, DataType, Dims, Layout, Problem, Real, Tensor};

/// The attributes of one of the three operations.
struct Names {
    parameters: i32,
    alpha: i32,
    beta: i32,
}

const FORWARD: Names = Names {
    parameters: CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
    alpha: CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
    beta: CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
};
const DATA: Names = Names {
    parameters: CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
    alpha: CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
    beta: CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA,
};
const FILTER: Names = Names {
    parameters: CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
    alpha: CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
    beta: CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA,
};

/// The parameters of a convolution other than its tensors.
#[derive(Clone)]
pub(super) struct Slide {
    pub(super) window: Window,
    /// The filter is flipped (a true convolution, not a cross-correlation).
    pub(super) flipped: bool,
    double: bool,
}

impl Slide {
    pub(super) fn of(parameters: &Frozen) -> Result<Slide, Failure> {
        let list = |id| Dims::new(parameters.ints(id)).ok_or_else(|| misfit("CONVOLUTION", "too many spatial dimensions", "at most 6"));
        let mut dilations = list(CUDNN_ATTR_CONVOLUTION_DILATIONS)?;
        for d in 0..dilations.len() {
            dilations[d] -= 1;
        }
        Ok(Slide {
            window: Window {
                strides: list(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES)?,
                dilations,
                padding_l: list(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS)?,
                padding_r: list(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS)?,
            },
            flipped: parameters.int(CUDNN_ATTR_CONVOLUTION_CONV_MODE) == Some(i64::from(CUDNN_CONVOLUTION)),
            double: parameters.int(CUDNN_ATTR_CONVOLUTION_COMP_TYPE) == Some(i64::from(CUDNN_DATA_DOUBLE)),
        })
    }
}

fn slide(op: &Frozen, names: &Names) -> Result<Slide, Failure> {
    Slide::of(op.object(names.parameters).ok_or_else(|| unsupported("no parameters"))?)
}

/// The filter as groups x output channels x input channels x kernel; the number of groups follows from the channels of the source.
pub(super) fn grouped(l: &mut Lowering<'_>, w: &Val, channels: i64) -> Result<Val, Failure> {
    let dims = grouped_dims(w, channels)?;
    if dims.len() == w.rank() { Ok(w.clone()) } else { l.reshaped(w, &dims) }
}

/// Taps of a filter that is flipped, at most: each is a step.
const WIDEST: i64 = 1024;

/// A copy of a filter with its spatial dimensions flipped, in row-major order.
pub(super) fn flipped(l: &mut Lowering<'_>, w: &Val, spatial: usize) -> Result<Val, Failure> {
    let mut from = w.clone();
    let first = w.rank() - spatial;
    for d in first..w.rank() {
        let size = w.dims()[d];
        if size == 1 {
            continue;
        }
        if size > WIDEST {
            return Err(unsupported(format_args!("a filter of {size} elements turned round: at most {WIDEST}")));
        }
        let to = l.temp(Tensor::plain(*w.dims(), w.dtype())?);
        for i in 0..size {
            l.reorder(&from.along(d, i, 1)?, &to.along(d, size - 1 - i, 1)?)?;
        }
        from = to;
    }
    Ok(from)
}

impl Lowering<'_> {
    /// The layout of weights for a primitive: `any`, if the engine packs weights.
    pub(super) fn weights_layout(&self, w: &Val) -> Tensor {
        if self.style.pack { Tensor { dtype: w.dtype(), layout: Layout::any(*w.dims()) } } else { w.tensor.clone() }
    }

    /// The tensors of a convolution in types that go together: unconverted if they do, else all in the compute type. The last is the
    /// result.
    fn fitting(&mut self, prop: Prop, tensors: [&Val; 3], window: &Window) -> Result<bool, Failure> {
        let [x, w, y] = tensors.map(|v| v.tensor.clone());
        let conv = Conv::new(prop, ConvAlg::Direct, [x, w, y], None, window.clone());
        match Problem::new(conv, self.attr()) {
            Ok(_) => Ok(true),
            Err(e) => {
                let [x, w, y] = tensors.map(|v| Tensor { dtype: self.real, layout: v.tensor.layout.clone() });
                let conv = Conv::new(prop, ConvAlg::Direct, [x, w, y], None, window.clone());
                Problem::new(conv, self.attr()).map_err(|_| e)?;
                Ok(false)
            }
        }
    }
}

/// `y = alpha * result + beta * y`.
fn blended(l: &mut Lowering<'_>, op: &Frozen, names: &Names, result: &Val, y: &Val) -> Result<(), Failure> {
    let (alpha, beta) = factors(op, names);
    if beta == 0.0 {
        let scaled = l.scaled(result, alpha)?;
        return l.store(&scaled, y);
    }
    let sum = l.room(*y.dims())?;
    let old = l.real(y)?;
    let problem = Sum {
        scales: vec![Real::new(alpha as f32), Real::new(beta as f32)],
        srcs: vec![result.tensor.clone(), old.tensor.clone()],
        dst: sum.tensor.clone(),
    };
    l.step(problem, &[(Arg::multiple_src(0), result), (Arg::multiple_src(1), &old), (Arg::DST, &sum)])?;
    l.reorder(&sum, y)
}

fn factors(op: &Frozen, names: &Names) -> (f64, f64) {
    (op.real(names.alpha).unwrap_or(1.0), op.real(names.beta).unwrap_or(0.0))
}

/// Where a primitive writes: directly to the output, if nothing follows.
fn target(l: &mut Lowering<'_>, op: &Frozen, names: &Names, y: &Val, dtype: Option<DataType>) -> Result<Val, Failure> {
    if factors(op, names) == (1.0, 0.0) && dtype.is_none_or(|d| d == y.dtype()) {
        return Ok(y.clone());
    }
    let layout = y.tensor.layout.resized(*y.dims());
    let dtype = dtype.unwrap_or(if y.dtype().is_integral() { y.dtype() } else { l.real });
    Ok(l.temp(Tensor { dtype, layout }))
}

fn begin(l: &mut Lowering<'_>, slide: &Slide, tensors: [&Val; 3]) {
    let double = slide.double || tensors.iter().any(|v| v.dtype() == DataType::F64);
    l.real = if double { DataType::F64 } else { DataType::F32 };
}

pub(super) fn forward(l: &mut Lowering<'_>, op: &Frozen) -> Result<(), Failure> {
    let slide = slide(op, &FORWARD)?;
    let x = l.read(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X)?;
    let w = l.read(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W)?;
    let y = l.output(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y)?;
    begin(l, &slide, [&x, &w, &y]);
    let w = if slide.flipped { flipped(l, &w, slide.window.strides.len())? } else { w };
    let w = grouped(l, &w, x.dims().get(1).copied().unwrap_or(0))?;
    let direct = l.fitting(Prop::ForwardInference, [&x, &w, &y], &slide.window)?;
    let (x, w) = if direct { (x, w) } else { (l.real(&x)?, l.real(&w)?) };
    let real = l.real;
    let to = target(l, op, &FORWARD, &y, (!direct).then_some(real))?;
    let tensors = [x.tensor.clone(), l.weights_layout(&w), to.tensor.clone()];
    let problem = Conv::new(Prop::ForwardInference, ConvAlg::Direct, tensors, None, slide.window);
    l.step(problem, &[(Arg::SRC, &x), (Arg::WEIGHTS, &w), (Arg::DST, &to)])?;
    if to.spot == y.spot { Ok(()) } else { blended(l, op, &FORWARD, &to, &y) }
}

pub(super) fn backward_data(l: &mut Lowering<'_>, op: &Frozen) -> Result<(), Failure> {
    let slide = slide(op, &DATA)?;
    let dy = l.read(op, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY)?;
    let w = l.read(op, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W)?;
    let dx = l.output(op, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX)?;
    begin(l, &slide, [&dy, &w, &dx]);
    let w = if slide.flipped { flipped(l, &w, slide.window.strides.len())? } else { w };
    let w = grouped(l, &w, dx.dims().get(1).copied().unwrap_or(0))?;
    let direct = l.fitting(Prop::BackwardData, [&dx, &w, &dy], &slide.window)?;
    let (dy, w) = if direct { (dy, w) } else { (l.real(&dy)?, l.real(&w)?) };
    let real = l.real;
    let to = target(l, op, &DATA, &dx, (!direct).then_some(real))?;
    let tensors = [to.tensor.clone(), l.weights_layout(&w), dy.tensor.clone()];
    let problem = Conv::new(Prop::BackwardData, ConvAlg::Direct, tensors, None, slide.window);
    l.step(problem, &[(Arg::DIFF_DST, &dy), (Arg::WEIGHTS, &w), (Arg::DIFF_SRC, &to)])?;
    if to.spot == dx.spot { Ok(()) } else { blended(l, op, &DATA, &to, &dx) }
}

pub(super) fn backward_filter(l: &mut Lowering<'_>, op: &Frozen) -> Result<(), Failure> {
    let slide = slide(op, &FILTER)?;
    let x = l.read(op, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X)?;
    let dy = l.read(op, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY)?;
    let dw = l.output(op, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW)?;
    begin(l, &slide, [&x, &dy, &dw]);
    let spatial = slide.window.strides.len();
    let mut split = grouped_dims(&dw, x.dims().get(1).copied().unwrap_or(0))?;
    let view = dw.viewed(&split);
    let direct = match &view {
        Some(view) => l.fitting(Prop::BackwardWeights, [&x, view, &dy], &slide.window)?,
        None => false,
    };
    let plain = factors(op, &FILTER) == (1.0, 0.0) && !slide.flipped;
    let (x, dy) = if direct { (x, dy) } else { (l.real(&x)?, l.real(&dy)?) };
    let to = match view.filter(|_| direct && plain) {
        Some(view) => view,
        None => {
            let dtype = if direct { dw.dtype() } else { l.real };
            l.temp(Tensor::plain(Dims::new(&split).unwrap_or_default(), dtype)?)
        }
    };
    let tensors = [x.tensor.clone(), l.weights_layout(&to), dy.tensor.clone()];
    let problem = Conv::new(Prop::BackwardWeights, ConvAlg::Direct, tensors, None, slide.window);
    l.step(problem, &[(Arg::SRC, &x), (Arg::DIFF_DST, &dy), (Arg::DIFF_WEIGHTS, &to)])?;
    if to.spot == dw.spot {
        return Ok(());
    }
    let to = if slide.flipped { flipped(l, &to, spatial)? } else { to };
    if split.len() > dw.rank() {
        let groups = split.remove(0);
        split[0] *= groups;
    }
    let to = l.reshaped(&to, &split)?;
    let to = l.real(&to)?;
    blended(l, op, &FILTER, &to, &dw)
}

/// Sizes of the filter with a dimension of groups, if there are several.
fn grouped_dims(w: &Val, channels: i64) -> Result<Vec<i64>, Failure> {
    let dims = *w.dims();
    if dims.len() < 3 || dims.len() > 5 {
        return Err(unsupported(format_args!("a convolution of {} dimensions: it has 3 to 5", dims.len())));
    }
    let groups = if dims[1] > 0 && channels % dims[1] == 0 { channels / dims[1] } else { 0 };
    if groups < 1 || dims[0] % groups != 0 {
        return Err(misfit("filter", dims, format_args!("channels that divide {channels}")));
    }
    let mut split = dims.to_vec();
    if groups > 1 {
        split[0] /= groups;
        split.insert(0, groups);
    }
    Ok(split)
}

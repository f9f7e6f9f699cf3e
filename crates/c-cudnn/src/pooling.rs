//! Pooling. The backward pass of max pooling recomputes the positions of the maxima: cuDNN's interface keeps nothing from the forward pass.

use crate::enums::*;
use crate::exec::{Blend, Job, Place};
use crate::handle::Handle;
use crate::nan;
use crate::pointers::{self, Array, ArrayMut, Data, In, InOut, New, Out, Owned};
use crate::status::{Failure, Status, guard};
use crate::steps::{Stamp, Stamped, remembered, stamp};
use crate::tensor::{TensorDesc, factor_bits, give, list};
use crate::values;
use oxidnn_runtime::Memory;
use oxidnn_spec::op::{Binary, BinaryAlg, Pool, PoolAlg, Prop, Window};
use oxidnn_spec::{Arg, Dims, Problem, Tensor};

/// The object behind a `cudnnPoolingDescriptor_t`.
#[derive(Clone, Debug, Default)]
pub struct PoolingDesc {
    set: Option<(Geometry, Stamp)>,
}

#[derive(Clone, Copy, Debug)]
struct Geometry {
    mode: i32,
    nan: i32,
    kernel: Dims,
    padding: Dims,
    strides: Dims,
}

impl Owned for PoolingDesc {}

impl Stamped for PoolingDesc {
    fn stamp(&self) -> Option<Stamp> {
        self.set.map(|s| s.1)
    }
}

impl PoolingDesc {
    fn geometry(&self) -> Result<&Geometry, Failure> {
        let set = self.set.as_ref().map(|s| &s.0);
        set.ok_or_else(|| Failure::invalid("poolingDesc", "a descriptor that was never set", "one that describes a pooling"))
    }

    fn set(&mut self, geometry: Geometry) -> Result<(), Failure> {
        let Geometry { mode, nan, kernel, padding, strides } = geometry;
        values::check("mode", "cudnnPoolingMode_t", mode)?;
        values::check("maxpoolingNanOpt", "cudnnNanPropagation_t", nan)?;
        for (name, list, least) in [("window", kernel, 1), ("padding", padding, 0), ("stride", strides, 1)] {
            if list.iter().any(|&v| v < least) {
                return Err(Failure::invalid(name, list, format_args!("numbers of at least {least}")));
            }
        }
        self.set = Some((geometry, Stamp::new()));
        Ok(())
    }

    /// Output sizes for an input.
    fn output(&self, src: &Tensor) -> Result<Dims, Failure> {
        let g = self.geometry()?;
        let s = src.dims();
        if s.len() != g.kernel.len() + 2 {
            return Err(Failure::shape("inputTensorDesc", format_args!("{} dimensions", s.len()), format_args!("{}", g.kernel.len() + 2)));
        }
        let out = g.window().output(&s[2..], &g.kernel).filter(|o| o.iter().all(|&d| d > 0));
        let out = out.ok_or_else(|| Failure::shape("inputTensorDesc", s, format_args!("room for the window {}", g.kernel)))?;
        Ok(Dims::from_fn(s.len(), |d| if d < 2 { s[d] } else { out[d - 2] }))
    }
}

impl Geometry {
    fn window(&self) -> Window {
        let dilations = Dims::filled(self.kernel.len(), 0);
        Window { strides: self.strides, dilations, padding_l: self.padding, padding_r: self.padding }
    }

    fn alg(&self) -> PoolAlg {
        match self.mode {
            CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING => PoolAlg::AvgIncludePadding,
            CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING => PoolAlg::AvgExcludePadding,
            _ => PoolAlg::Max,
        }
    }

    /// The pooling from `src` to `dst`; their sizes determine the padding on the right.
    fn op(&self, prop: Prop, src: &Tensor, dst: &Tensor) -> Result<Pool, Failure> {
        let (s, d, n) = (src.dims(), dst.dims(), self.kernel.len());
        if s.len() != n + 2 || d.len() != n + 2 {
            let got = format_args!("tensors of {} and {} dimensions", s.len(), d.len());
            return Err(Failure::shape("descriptors", got, format_args!("{}: the pooling has {n} spatial ones", n + 2)));
        }
        Ok(Pool::new(prop, self.alg(), [src.clone(), dst.clone()], self.kernel, self.window()))
    }

    /// Whether a NaN in the window makes the maximum NaN.
    fn carries_nan(&self, src: &Tensor) -> bool {
        self.alg() == PoolAlg::Max && nan::propagates(self.nan, src.dtype)
    }

    /// NaN for each window that contains NaN, else 0: average pooling of [`nan::carrier`] of the source.
    fn carrier(&self, handle: &Handle, src: &Tensor, x: Data, dst: &Tensor) -> Result<Memory<'static>, Failure> {
        let (carrier, means) = (nan::carrier(handle, src, x)?, handle.temporary(dst)?);
        let op = Pool { alg: PoolAlg::AvgIncludePadding, ..self.op(Prop::ForwardInference, src, dst)? };
        Job::new(op).arg(Arg::SRC, carrier).arg(Arg::DST, means.view(dst.clone())?).run(handle)?;
        Ok(means)
    }

    /// The source with NaN replaced by infinity, so that NaN is the maximum of its window and receives the gradient.
    fn ordered(handle: &Handle, src: &Tensor, x: Data) -> Result<Memory<'static>, Failure> {
        let (infinity, value) = nan::number(handle.engine(), src.dtype, src.dims().len(), f64::INFINITY)?;
        let copy = handle.temporary(src)?;
        let op = Binary { alg: BinaryAlg::Min, src0: src.clone(), src1: infinity, src2: None, dst: src.clone() };
        Job::new(op).arg(Arg::SRC, x).arg(Arg::SRC_1, value).arg(Arg::DST, copy.view(src.clone())?).run(handle)?;
        Ok(copy)
    }
}

/// `cudnnCreatePoolingDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnCreatePoolingDescriptor(desc: New<'_, PoolingDesc>) -> Status {
    guard("cudnnCreatePoolingDescriptor", || desc.own("poolingDesc", || Ok(PoolingDesc::default())))
}

/// `cudnnDestroyPoolingDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnDestroyPoolingDescriptor(desc: pointers::Handle<PoolingDesc>) -> Status {
    guard("cudnnDestroyPoolingDescriptor", || {
        desc.destroy();
        Ok(())
    })
}

/// `cudnnSetPooling2dDescriptor`. `nan` applies to max pooling: with `CUDNN_NOT_PROPAGATE_NAN` the maximum ignores NaN, else it is NaN if any
/// element of the window is, and its gradient goes to the first NaN.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnSetPooling2dDescriptor(
    desc: InOut<'_, PoolingDesc>,
    mode: i32,
    nan: i32,
    window_h: i32,
    window_w: i32,
    padding_h: i32,
    padding_w: i32,
    stride_h: i32,
    stride_w: i32,
) -> Status {
    guard("cudnnSetPooling2dDescriptor", || {
        let two = |h: i32, w: i32| Dims::from([i64::from(h), i64::from(w)]);
        let (kernel, padding, strides) = (two(window_h, window_w), two(padding_h, padding_w), two(stride_h, stride_w));
        desc.get("poolingDesc")?.set(Geometry { mode, nan, kernel, padding, strides })
    })
}

/// `cudnnGetPooling2dDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetPooling2dDescriptor(
    desc: In<'_, PoolingDesc>,
    mode: Out<'_, i32>,
    nan: Out<'_, i32>,
    window_h: Out<'_, i32>,
    window_w: Out<'_, i32>,
    padding_h: Out<'_, i32>,
    padding_w: Out<'_, i32>,
    stride_h: Out<'_, i32>,
    stride_w: Out<'_, i32>,
) -> Status {
    guard("cudnnGetPooling2dDescriptor", || {
        let g = desc.get("poolingDesc")?.geometry()?;
        if g.kernel.len() != 2 {
            return Err(Failure::invalid("poolingDesc", format_args!("{} spatial dimensions", g.kernel.len()), "2"));
        }
        mode.set_optional(g.mode);
        nan.set_optional(g.nan);
        let numbers = g.kernel.iter().chain(g.padding.iter()).chain(g.strides.iter());
        for (place, value) in [window_h, window_w, padding_h, padding_w, stride_h, stride_w].into_iter().zip(numbers) {
            place.set_optional(*value as i32);
        }
        Ok(())
    })
}

/// `cudnnSetPoolingNdDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnSetPoolingNdDescriptor(
    desc: InOut<'_, PoolingDesc>,
    mode: i32,
    nan: i32,
    count: i32,
    window: Array<'_, i32>,
    padding: Array<'_, i32>,
    strides: Array<'_, i32>,
) -> Status {
    guard("cudnnSetPoolingNdDescriptor", || {
        let (kernel, padding) = (list("windowDimA", window, count)?, list("paddingA", padding, count)?);
        let strides = list("strideA", strides, count)?;
        desc.get("poolingDesc")?.set(Geometry { mode, nan, kernel, padding, strides })
    })
}

/// `cudnnGetPoolingNdDescriptor`: returns as many values as the caller asks for.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetPoolingNdDescriptor(
    desc: In<'_, PoolingDesc>,
    requested: i32,
    mode: Out<'_, i32>,
    nan: Out<'_, i32>,
    count: Out<'_, i32>,
    window: ArrayMut<'_, i32>,
    padding: ArrayMut<'_, i32>,
    strides: ArrayMut<'_, i32>,
) -> Status {
    guard("cudnnGetPoolingNdDescriptor", || {
        let g = desc.get("poolingDesc")?.geometry()?;
        mode.set_optional(g.mode);
        nan.set_optional(g.nan);
        count.set_optional(g.kernel.len() as i32);
        give(window, &g.kernel, requested);
        give(padding, &g.padding, requested);
        give(strides, &g.strides, requested);
        Ok(())
    })
}

/// `cudnnGetPoolingNdForwardOutputDim`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetPoolingNdForwardOutputDim(
    desc: In<'_, PoolingDesc>,
    input: In<'_, TensorDesc>,
    count: i32,
    out: ArrayMut<'_, i32>,
) -> Status {
    guard("cudnnGetPoolingNdForwardOutputDim", || {
        let dims = desc.get("poolingDesc")?.output(input.tensor("inputTensorDesc")?)?;
        if out.is_null() {
            return Err(Failure::null("outputTensorDimA"));
        }
        give(out, &dims, count);
        Ok(())
    })
}

/// `cudnnGetPooling2dForwardOutputDim`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetPooling2dForwardOutputDim(
    desc: In<'_, PoolingDesc>,
    input: In<'_, TensorDesc>,
    n: Out<'_, i32>,
    c: Out<'_, i32>,
    h: Out<'_, i32>,
    w: Out<'_, i32>,
) -> Status {
    guard("cudnnGetPooling2dForwardOutputDim", || {
        let dims = desc.get("poolingDesc")?.output(input.tensor("inputTensorDesc")?)?;
        if dims.len() != 4 {
            return Err(Failure::invalid("inputTensorDesc", format_args!("{} dimensions", dims.len()), "4"));
        }
        for (place, value) in [n, c, h, w].into_iter().zip(dims.iter()) {
            place.set_optional(*value as i32);
        }
        Ok(())
    })
}

/// `cudnnPoolingForward`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnPoolingForward(
    handle: In<'_, Handle>,
    desc: In<'_, PoolingDesc>,
    alpha: Data,
    x_desc: In<'_, TensorDesc>,
    x: Data,
    beta: Data,
    y_desc: In<'_, TensorDesc>,
    y: Data,
) -> Status {
    guard("cudnnPoolingForward", || {
        let words = [stamp(desc), stamp(x_desc), stamp(y_desc), factor_bits(alpha, y_desc), factor_bits(beta, y_desc)];
        remembered(handle, "cudnnPoolingForward", words, [x, y], || {
            let (handle, geometry) = (handle.get("handle")?, desc.get("poolingDesc")?.geometry()?);
            let (src, dst) = (x_desc.tensor("xDesc")?, y_desc.tensor("yDesc")?);
            let op = geometry.op(Prop::ForwardInference, src, dst)?;
            let mut job = Job::new(op).arg(Arg::SRC, x.some("x")?).arg(Arg::DST, y.some("y")?);
            if geometry.carries_nan(src) {
                job = job.plus(dst, geometry.carrier(handle, src, x, dst)?);
            }
            job.blend(Blend::read(alpha, beta, dst.dtype)?).run(handle)
        })
    })
}

/// `cudnnPoolingBackward`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnPoolingBackward(
    handle: In<'_, Handle>,
    desc: In<'_, PoolingDesc>,
    alpha: Data,
    _y_desc: In<'_, TensorDesc>,
    _y: Data,
    dy_desc: In<'_, TensorDesc>,
    dy: Data,
    x_desc: In<'_, TensorDesc>,
    x: Data,
    beta: Data,
    dx_desc: In<'_, TensorDesc>,
    dx: Data,
) -> Status {
    guard("cudnnPoolingBackward", || {
        let words = [stamp(desc), stamp(dy_desc), stamp(x_desc), stamp(dx_desc), factor_bits(alpha, dx_desc), factor_bits(beta, dx_desc)];
        remembered(handle, "cudnnPoolingBackward", words, [dy, x, dx], || {
            let handle = handle.get("handle")?;
            let geometry = desc.get("poolingDesc")?.geometry()?;
            let (given, wanted) = (dy_desc.tensor("dyDesc")?, dx_desc.tensor("dxDesc")?);
            let op = geometry.op(Prop::BackwardData, wanted, given)?;
            let mut job = Job::new(op.clone()).arg(Arg::DIFF_DST, dy.some("dy")?).arg(Arg::DIFF_SRC, dx.some("dx")?);
            if geometry.alg() == PoolAlg::Max {
                // Recompute the positions of the maxima.
                let src = x_desc.tensor("xDesc")?;
                let problem = Problem::new(geometry.op(Prop::ForwardTraining, src, given)?, oxidnn_spec::Attr::default())?;
                let places = problem.op.workspace().cloned().ok_or_else(|| Failure::unsupported("maxima without their places"))?;
                let (results, kept) = (handle.temporary(given)?, handle.temporary(&places)?);
                let x = x.some("x")?;
                let source = if geometry.carries_nan(src) { Geometry::ordered(handle, src, x)?.into() } else { Place::At(x) };
                let forward = Job::new(problem.op).arg(Arg::SRC, source).arg(Arg::DST, results);
                forward.arg(Arg::WORKSPACE, kept.view(places)?).run(handle)?;
                job = job.arg(Arg::WORKSPACE, kept);
            }
            job.blend(Blend::read(alpha, beta, wanted.dtype)?).run(handle)
        })
    })
}

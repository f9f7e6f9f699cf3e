//! Convolution descriptors.

use crate::enums::*;
use crate::filter::FilterDesc;
use crate::pointers::{Array, ArrayMut, Handle, In, InOut, New, Out, Owned};
use crate::status::{Failure, Status, guard};
use crate::steps::{Stamp, Stamped};
use crate::tensor::{TensorDesc, give, list};
use crate::values;
use oxidnn_spec::op::Window;
use oxidnn_spec::{Dims, Tensor};

/// The object behind a `cudnnConvolutionDescriptor_t`.
#[derive(Clone, Debug)]
pub struct ConvDesc {
    set: Option<Geometry>,
    math: i32,
    groups: i64,
    reorder: i32,
    stamp: Stamp,
}

/// Padding, strides and dilations.
#[derive(Clone, Copy, Debug)]
pub(super) struct Geometry {
    pub(super) padding: Dims,
    pub(super) strides: Dims,
    pub(super) dilations: Dims,
    /// `cudnnConvolutionMode_t`.
    pub(super) mode: i32,
    /// `cudnnDataType_t`.
    pub(super) compute: i32,
}

impl Owned for ConvDesc {}

impl Stamped for ConvDesc {
    fn stamp(&self) -> Option<Stamp> {
        self.set.map(|_| self.stamp)
    }
}

impl Default for ConvDesc {
    fn default() -> ConvDesc {
        ConvDesc { set: None, math: CUDNN_DEFAULT_MATH, groups: 1, reorder: CUDNN_DEFAULT_REORDER, stamp: Stamp::new() }
    }
}

impl ConvDesc {
    fn geometry(&self) -> Result<&Geometry, Failure> {
        self.set.as_ref().ok_or_else(|| Failure::invalid("convDesc", "a descriptor that was never set", "one that describes a convolution"))
    }

    fn set(&mut self, geometry: Geometry) -> Result<(), Failure> {
        let Geometry { padding, strides, dilations, mode, compute } = geometry;
        let lists = [("padding", padding, 0), ("filter strides", strides, 1), ("dilation", dilations, 1)];
        for (name, list, least) in lists {
            if list.iter().any(|&v| v < least) {
                return Err(Failure::invalid(name, list, format_args!("numbers of at least {least}")));
            }
        }
        values::check("mode", "cudnnConvolutionMode_t", mode)?;
        values::check("computeType", "cudnnDataType_t", compute)?;
        (self.set, self.stamp) = (Some(geometry), Stamp::new());
        Ok(())
    }

    /// Copies math type, groups and filter order from another descriptor.
    pub(super) fn become_like(&mut self, other: &ConvDesc, geometry: Geometry) -> Result<(), Failure> {
        (self.math, self.groups, self.reorder) = (other.math, other.groups, other.reorder);
        self.set(geometry)
    }

    /// `cudnnDataType_t` of the computation.
    pub(super) fn compute(&self) -> Result<i32, Failure> {
        Ok(self.geometry()?.compute)
    }

    /// `cudnnMathType_t`.
    pub(crate) fn math(&self) -> i32 {
        self.math
    }

    /// Groups of channels.
    pub(crate) fn groups(&self) -> i64 {
        self.groups
    }

    /// Whether the filter is flipped (`CUDNN_CONVOLUTION`, not cross-correlation).
    pub(crate) fn flips(&self) -> Result<bool, Failure> {
        Ok(self.geometry()?.mode == CUDNN_CONVOLUTION)
    }

    /// The window for tensors with `spatial` spatial dimensions.
    ///
    /// # Errors
    /// `BAD_PARAM` if the descriptor has another number of them.
    pub(crate) fn window(&self, spatial: usize) -> Result<Window, Failure> {
        let g = self.geometry()?;
        if g.padding.len() != spatial {
            return Err(Failure::invalid(
                "convDesc",
                format_args!("{} spatial dimensions", g.padding.len()),
                format_args!("{spatial} as the tensors"),
            ));
        }
        let dilations = Dims::from_fn(spatial, |d| g.dilations[d] - 1);
        Ok(Window { strides: g.strides, dilations, padding_l: g.padding, padding_r: g.padding })
    }

    /// Output sizes for an input and a filter.
    pub(super) fn output(&self, src: &Tensor, filter: &Dims) -> Result<Dims, Failure> {
        let s = src.dims();
        if s.len() != filter.len() || s.len() < 3 {
            return Err(Failure::shape(
                "filterDesc",
                format_args!("{} dimensions", filter.len()),
                format_args!("{} as the input, at least 3", s.len()),
            ));
        }
        if s[1] != filter[1] * self.groups {
            let wanted = format_args!("{} groups of the filter's {}", self.groups, filter[1]);
            return Err(Failure::shape("channels of the input", s[1], wanted));
        }
        let out = self.window(s.len() - 2)?.output(&s[2..], &filter[2..]).filter(|o| o.iter().all(|&d| d > 0));
        let out = out.ok_or_else(|| Failure::shape("inputTensorDesc", s, format_args!("room for the filter {filter}")))?;
        Ok(Dims::from_fn(s.len(), |d| match d {
            0 => s[0],
            1 => filter[0],
            _ => out[d - 2],
        }))
    }
}

/// `cudnnCreateConvolutionDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnCreateConvolutionDescriptor(desc: New<'_, ConvDesc>) -> Status {
    guard("cudnnCreateConvolutionDescriptor", || desc.own("convDesc", || Ok(ConvDesc::default())))
}

/// `cudnnDestroyConvolutionDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnDestroyConvolutionDescriptor(desc: Handle<ConvDesc>) -> Status {
    guard("cudnnDestroyConvolutionDescriptor", || {
        desc.destroy();
        Ok(())
    })
}

/// `cudnnSetConvolutionMathType`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnSetConvolutionMathType(desc: InOut<'_, ConvDesc>, math: i32) -> Status {
    guard("cudnnSetConvolutionMathType", || {
        let (desc, math) = (desc.get("convDesc")?, values::check("mathType", "cudnnMathType_t", math)?);
        if math != desc.math {
            (desc.math, desc.stamp) = (math, Stamp::new());
        }
        Ok(())
    })
}

/// `cudnnGetConvolutionMathType`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetConvolutionMathType(desc: In<'_, ConvDesc>, math: Out<'_, i32>) -> Status {
    guard("cudnnGetConvolutionMathType", || math.set("mathType", desc.get("convDesc")?.math))
}

/// `cudnnSetConvolutionGroupCount`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnSetConvolutionGroupCount(desc: InOut<'_, ConvDesc>, groups: i32) -> Status {
    guard("cudnnSetConvolutionGroupCount", || {
        if groups < 1 {
            return Err(Failure::invalid("groupCount", groups, "at least 1"));
        }
        let (desc, groups) = (desc.get("convDesc")?, i64::from(groups));
        if groups != desc.groups {
            (desc.groups, desc.stamp) = (groups, Stamp::new());
        }
        Ok(())
    })
}

/// `cudnnGetConvolutionGroupCount`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetConvolutionGroupCount(desc: In<'_, ConvDesc>, groups: Out<'_, i32>) -> Status {
    guard("cudnnGetConvolutionGroupCount", || groups.set("groupCount", desc.get("convDesc")?.groups as i32))
}

/// `cudnnSetConvolutionReorderType`: no effect, since reordered filters have the same layout here.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnSetConvolutionReorderType(desc: InOut<'_, ConvDesc>, reorder: i32) -> Status {
    guard("cudnnSetConvolutionReorderType", || {
        desc.get("convDesc")?.reorder = values::check("reorderType", "cudnnReorderType_t", reorder)?;
        Ok(())
    })
}

/// `cudnnGetConvolutionReorderType`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetConvolutionReorderType(desc: In<'_, ConvDesc>, reorder: Out<'_, i32>) -> Status {
    guard("cudnnGetConvolutionReorderType", || reorder.set("reorderType", desc.get("convDesc")?.reorder))
}

/// `cudnnSetConvolution2dDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnSetConvolution2dDescriptor(
    desc: InOut<'_, ConvDesc>,
    pad_h: i32,
    pad_w: i32,
    u: i32,
    v: i32,
    dilation_h: i32,
    dilation_w: i32,
    mode: i32,
    compute: i32,
) -> Status {
    guard("cudnnSetConvolution2dDescriptor", || {
        let two = |a: i32, b: i32| Dims::from([i64::from(a), i64::from(b)]);
        let (padding, strides, dilations) = (two(pad_h, pad_w), two(u, v), two(dilation_h, dilation_w));
        desc.get("convDesc")?.set(Geometry { padding, strides, dilations, mode, compute })
    })
}

/// `cudnnGetConvolution2dDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetConvolution2dDescriptor(
    desc: In<'_, ConvDesc>,
    pad_h: Out<'_, i32>,
    pad_w: Out<'_, i32>,
    u: Out<'_, i32>,
    v: Out<'_, i32>,
    dilation_h: Out<'_, i32>,
    dilation_w: Out<'_, i32>,
    mode: Out<'_, i32>,
    compute: Out<'_, i32>,
) -> Status {
    guard("cudnnGetConvolution2dDescriptor", || {
        let g = desc.get("convDesc")?.geometry()?;
        if g.padding.len() != 2 {
            return Err(Failure::invalid("convDesc", format_args!("{} spatial dimensions", g.padding.len()), "2"));
        }
        let numbers = g.padding.iter().chain(g.strides.iter()).chain(g.dilations.iter());
        for (place, value) in [pad_h, pad_w, u, v, dilation_h, dilation_w].into_iter().zip(numbers) {
            place.set_optional(*value as i32);
        }
        mode.set_optional(g.mode);
        compute.set_optional(g.compute);
        Ok(())
    })
}

/// `cudnnSetConvolutionNdDescriptor`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnSetConvolutionNdDescriptor(
    desc: InOut<'_, ConvDesc>,
    count: i32,
    padding: Array<'_, i32>,
    strides: Array<'_, i32>,
    dilations: Array<'_, i32>,
    mode: i32,
    compute: i32,
) -> Status {
    guard("cudnnSetConvolutionNdDescriptor", || {
        let (padding, strides) = (list("padA", padding, count)?, list("filterStrideA", strides, count)?);
        let dilations = list("dilationA", dilations, count)?;
        desc.get("convDesc")?.set(Geometry { padding, strides, dilations, mode, compute })
    })
}

/// `cudnnGetConvolutionNdDescriptor`: returns as many values as the caller asks for.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetConvolutionNdDescriptor(
    desc: In<'_, ConvDesc>,
    requested: i32,
    count: Out<'_, i32>,
    padding: ArrayMut<'_, i32>,
    strides: ArrayMut<'_, i32>,
    dilations: ArrayMut<'_, i32>,
    mode: Out<'_, i32>,
    compute: Out<'_, i32>,
) -> Status {
    guard("cudnnGetConvolutionNdDescriptor", || {
        let g = desc.get("convDesc")?.geometry()?;
        count.set_optional(g.padding.len() as i32);
        give(padding, &g.padding, requested);
        give(strides, &g.strides, requested);
        give(dilations, &g.dilations, requested);
        mode.set_optional(g.mode);
        compute.set_optional(g.compute);
        Ok(())
    })
}

/// `cudnnGetConvolution2dForwardOutputDim`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetConvolution2dForwardOutputDim(
    desc: In<'_, ConvDesc>,
    input: In<'_, TensorDesc>,
    filter: In<'_, FilterDesc>,
    n: Out<'_, i32>,
    c: Out<'_, i32>,
    h: Out<'_, i32>,
    w: Out<'_, i32>,
) -> Status {
    guard("cudnnGetConvolution2dForwardOutputDim", || {
        let dims = desc.get("convDesc")?.output(input.tensor("inputTensorDesc")?, &filter.filter("filterDesc")?.dims)?;
        if dims.len() != 4 {
            return Err(Failure::invalid("inputTensorDesc", format_args!("{} dimensions", dims.len()), "4"));
        }
        for (place, value) in [n, c, h, w].into_iter().zip(dims.iter()) {
            place.set_optional(*value as i32);
        }
        Ok(())
    })
}

/// `cudnnGetConvolutionNdForwardOutputDim`.
#[unsafe(no_mangle)]
pub extern "C" fn cudnnGetConvolutionNdForwardOutputDim(
    desc: In<'_, ConvDesc>,
    input: In<'_, TensorDesc>,
    filter: In<'_, FilterDesc>,
    count: i32,
    out: ArrayMut<'_, i32>,
) -> Status {
    guard("cudnnGetConvolutionNdForwardOutputDim", || {
        let dims = desc.get("convDesc")?.output(input.tensor("inputTensorDesc")?, &filter.filter("filterDesc")?.dims)?;
        if out.is_null() {
            return Err(Failure::null("tensorOuputDimA"));
        }
        give(out, &dims, count);
        Ok(())
    })
}

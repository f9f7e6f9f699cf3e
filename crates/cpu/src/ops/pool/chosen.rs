//! `chosen:portable`: gradients of global max pooling: zero, except for the element of each plane that was the maximum.

use crate::kernels::multiversion::Simd;
use crate::kernels::pointwise::{grain_rows, split};
use crate::kernels::scratch::Scratch;
use crate::row::Kernel;
use oxidnn_runtime::{Buf, Ctx, Element, Skip};
use oxidnn_spec::op::{Pool, PoolAlg};
use oxidnn_spec::{Arg, DataType, Error, Tensor};

/// The kernel.
#[derive(Debug)]
pub(super) struct Chosen {
    /// Bits of an element, and whether the workspace has bytes.
    bits: usize,
    bytes: bool,
    /// Planes of an image and of all images, and elements of a plane.
    channels: usize,
    planes: usize,
    plane: usize,
    source: Planes,
    gradient: Planes,
    places: Planes,
}

/// The planes of a tensor, in elements.
#[derive(Clone, Copy, Debug)]
struct Planes {
    start: usize,
    image: usize,
    channel: usize,
}

impl Planes {
    /// The planes of a tensor whose planes are dense.
    fn of(arg: Arg, tensor: &Tensor) -> Result<Planes, Skip> {
        let other = || Skip::Layout(format!("of {arg}: no planes"));
        let (b, dims) = (tensor.blocking().filter(|b| b.inner.is_empty()).ok_or_else(other)?, tensor.dims());
        let mut next = 1;
        for d in (2..dims.len()).rev() {
            if dims[d] != 1 && b.strides[d] != next {
                return Err(other());
            }
            next *= dims[d];
        }
        let [start, image, channel] = [b.offset, b.strides[0], b.strides[1]].map(|n| n as usize);
        Ok(Planes { start, image, channel })
    }

    fn at(self, image: usize, channel: usize) -> usize {
        self.start + image * self.image + channel * self.channel
    }
}

impl Chosen {
    /// The kernel of a pooling.
    ///
    /// # Errors
    /// [`Skip`] for all but gradients of maxima over whole planes, and for other types and layouts.
    pub(super) fn new(op: &Pool) -> Result<Chosen, Skip> {
        let workspace = op.workspace.as_ref().filter(|_| op.alg == PoolAlg::Max && !op.prop.is_forward() && super::is_whole(op));
        let workspace = workspace.ok_or(Skip::Shape("anything but gradients of maxima of whole planes"))?;
        let (bits, dims) = (op.src.dtype.bits(), op.src.dims());
        if op.dst.dtype != op.src.dtype || !matches!(bits, 16 | 32) || !matches!(workspace.dtype, DataType::U8 | DataType::S32) {
            return Err(Skip::DataType(format!("{} to {}", op.dst.dtype, op.src.dtype)));
        }
        let [images, channels, plane] = [dims[0], dims[1], dims[2..].iter().product()].map(|n| n as usize);
        Ok(Chosen {
            bits,
            bytes: workspace.dtype == DataType::U8,
            channels,
            planes: images * channels,
            plane,
            source: Planes::of(Arg::DIFF_SRC, &op.src)?,
            gradient: Planes::of(Arg::DIFF_DST, &op.dst)?,
            places: Planes::of(Arg::WORKSPACE, workspace)?,
        })
    }

    fn elements<T: Element>(&self, ctx: &Ctx<'_>, [source, gradient, places]: [Buf<'_>; 3]) {
        let size = size_of::<T>();
        split(ctx.executor(), self.planes as i64, grain_rows(self.planes as i64, self.plane as i64, 1), &|range| {
            for i in range {
                let (image, channel) = (i as usize / self.channels, i as usize % self.channels);
                let plane = source.part(self.source.at(image, channel) * size, self.plane * size);
                let at = self.places.at(image, channel);
                let place = if self.bytes { places.get::<u8>(at).into() } else { places.get::<i32>(at) as usize };
                plane.fill(0);
                if place < self.plane {
                    plane.set::<T>(place, gradient.get(self.gradient.at(image, channel)));
                }
            }
        });
    }
}

impl Kernel for Chosen {
    fn run(&self, _: Simd, ctx: &Ctx<'_>, _: Scratch<'_>) -> Result<(), Error> {
        let bufs = [ctx.buf(Arg::DIFF_SRC)?, ctx.buf(Arg::DIFF_DST)?, ctx.buf(Arg::WORKSPACE)?];
        if self.bits == 16 {
            self.elements::<u16>(ctx, bufs)
        } else {
            self.elements::<u32>(ctx, bufs)
        }
        Ok(())
    }
}

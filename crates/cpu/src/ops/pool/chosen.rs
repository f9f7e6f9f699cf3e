//! `chosen:portable`: gradients of global max pooling, of single channels or of blocks of them: zero, except for the element of each channel that was the
//! largest.

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
    images: usize,
    channels: usize,
    /// Elements of the plane of a channel.
    plane: usize,
    source: Planes,
    gradient: Planes,
    places: Planes,
}

/// Where the planes of a tensor are, in elements: those of the channels of a block are one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Planes {
    start: usize,
    image: usize,
    block: usize,
    blocks: usize,
}

impl Planes {
    /// The planes of a tensor whose planes are dense.
    fn of(arg: Arg, tensor: &Tensor) -> Result<Planes, Skip> {
        let other = || Skip::Layout(format!("of {arg}: no planes, nor such of blocks of channels"));
        let (b, dims) = (tensor.blocking().ok_or_else(other)?, tensor.dims());
        let mut inner = b.inner.iter();
        let block = match (inner.next(), inner.next()) {
            (None, _) => 1,
            (Some((1, block)), None) => block,
            _ => return Err(other()),
        };
        let mut next = block;
        for d in (2..dims.len()).rev() {
            if dims[d] != 1 && b.strides[d] != next || b.padded_dims[d] != dims[d] {
                return Err(other());
            }
            next *= dims[d];
        }
        let [start, image, block, blocks] = [b.offset, b.strides[0], block, b.strides[1]].map(|n| n as usize);
        Ok(Planes { start, image, block, blocks })
    }

    /// The first element of a channel.
    fn at(self, image: usize, channel: usize) -> usize {
        self.start + image * self.image + channel / self.block * self.blocks + channel % self.block
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
            images,
            channels,
            plane,
            source: Planes::of(Arg::DIFF_SRC, &op.src)?,
            gradient: Planes::of(Arg::DIFF_DST, &op.dst)?,
            places: Planes::of(Arg::WORKSPACE, workspace)?,
        })
    }

    fn elements<T: Element>(&self, ctx: &Ctx<'_>, [source, gradient, places]: [Buf<'_>; 3]) {
        let (size, block) = (size_of::<T>(), self.source.block);
        let blocks = self.channels.div_ceil(block);
        let (all, elements) = ((self.images * blocks) as i64, self.plane * block);
        split(ctx.executor(), all, grain_rows(all, elements as i64, 1), &|range| {
            for i in range {
                let (image, first) = (i as usize / blocks, i as usize % blocks * block);
                let planes = source.part(self.source.at(image, first) * size, elements * size);
                planes.fill(0);
                for channel in first..self.channels.min(first + block) {
                    let at = self.places.at(image, channel);
                    let place = if self.bytes { places.get::<u8>(at).into() } else { places.get::<i32>(at) as usize };
                    if place < self.plane {
                        planes.set::<T>(place * block + channel - first, gradient.get(self.gradient.at(image, channel)));
                    }
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

//! `chosen:portable`: gradients of global max pooling: zero, except for the element of each channel that was the largest.

use crate::kernels::multiversion::Simd;
use crate::kernels::pointwise::{clear, grain_rows, split};
use crate::kernels::scratch::Scratch;
use crate::ops::conv::window::{sizes_of, spatial};
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
    /// Depth, height and width of the plane of a channel.
    sizes: [usize; 3],
    source: Planes,
    gradient: Planes,
    places: Planes,
}

/// Where the elements of a tensor are, in elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Planes {
    start: usize,
    images: Steps,
    channels: Steps,
    /// Strides of depth, height and width.
    pixels: [usize; 3],
}

/// Where the positions of a dimension are: those of a block, and blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Steps {
    block: usize,
    within: usize,
    blocks: usize,
}

impl Steps {
    fn at(self, position: usize) -> usize {
        match self.block {
            1 => position * self.blocks,
            block => position / block * self.blocks + position % block * self.within,
        }
    }
}

impl Planes {
    /// The planes of a tensor without blocks of pixels.
    fn of(arg: Arg, tensor: &Tensor) -> Result<Planes, Skip> {
        let other = || Skip::Layout(format!("of {arg}: blocks of pixels"));
        let (b, dims) = (tensor.blocking().ok_or_else(other)?, tensor.dims());
        let steps = |dim: usize| {
            let mut steps = Steps { block: 1, within: 0, blocks: b.strides[dim] as usize };
            let mut within = 1;
            for (d, size) in b.inner.iter().rev() {
                if d == dim {
                    (steps.block, steps.within) = (size as usize, within);
                }
                within *= size as usize;
            }
            steps
        };
        let single = b.inner.iter().all(|(d, _)| d < 2 && b.inner.iter().filter(|other| other.0 == d).count() == 1);
        if !single || b.padded_dims[2..] != dims[2..] {
            return Err(other());
        }
        let pixels = std::array::from_fn(|i| spatial(i, dims.len(), 2).map_or(0, |d| b.strides[d] as usize));
        Ok(Planes { start: b.offset as usize, images: steps(0), channels: steps(1), pixels })
    }

    /// The first element of an image.
    fn image(self, image: usize) -> usize {
        self.start + self.images.at(image)
    }

    /// The distance of neighbours in memory, if all elements of a plane have the same.
    fn distance(self, sizes: [usize; 3]) -> Option<usize> {
        let used = || (0..3).rev().filter(|i| sizes[*i] > 1);
        let last = used().next()?;
        let inside = |i: usize| sizes[i + 1..].iter().product::<usize>();
        used().all(|i| self.pixels[i] == self.pixels[last] * inside(i)).then_some(self.pixels[last])
    }

    /// Elements of the planes of a block of channels, if they are dense.
    fn dense(self, sizes: [usize; 3]) -> Option<usize> {
        let alone = self.images.block == 1 && (self.channels.block == 1 || self.channels.within == 1);
        let follows = |all: usize, (size, stride): (&usize, usize)| (*size == 1 || stride == all).then_some(all * size);
        sizes.iter().zip(self.pixels).rev().try_fold(self.channels.block, follows).filter(|_| alone)
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
        let ([images, channels], sizes) = ([dims[0], dims[1]].map(|n| n as usize), sizes_of(&op.src).map(|n| n as usize));
        if sizes.iter().product::<usize>() <= 1 {
            return Err(Skip::Shape("planes of one element"));
        }
        let source = Planes::of(Arg::DIFF_SRC, &op.src)?;
        // Vectors of channels are left to strips.
        let vectors = source.channels.block == 1 && source.channels.blocks == 1;
        if source.dense(sizes).is_none() && (vectors || !op.src.layout.is_dense(true) || source.start > 0) {
            return Err(Skip::Layout("of diff_src: neighbouring channels, or gaps".into()));
        }
        Ok(Chosen {
            bits,
            bytes: workspace.dtype == DataType::U8,
            images,
            channels,
            sizes,
            source,
            gradient: Planes::of(Arg::DIFF_DST, &op.dst)?,
            places: Planes::of(Arg::WORKSPACE, workspace)?,
        })
    }

    fn elements<T: Element>(&self, ctx: &Ctx<'_>, [source, gradient, places]: [Buf<'_>; 3]) {
        let (dense, block) = (self.source.dense(self.sizes), self.source.channels.block);
        let ([depth, height, width], distance) = (self.sizes, self.source.distance(self.sizes));
        let blocks = self.channels.div_ceil(block);
        if dense.is_none() {
            clear(ctx.executor(), source);
        }
        // Planes that follow each other are cleared together.
        let follow = |n: &usize| self.source.channels.blocks == *n && (self.images == 1 || self.source.images.blocks == n * blocks);
        let joined = dense.filter(follow);
        let size = size_of::<T>();
        let (all, cost) = ((self.images * blocks) as i64, dense.unwrap_or(block) as i64);
        split(ctx.executor(), all, grain_rows(all, cost, 1), &|range| {
            if let Some(elements) = joined {
                let [first, count] = [range.start, range.end - range.start].map(|n| n as usize * elements * size);
                source.part(self.source.start * size + first, count).fill(0);
            }
            for i in range {
                let (image, first) = (i as usize / blocks, i as usize % blocks * block);
                let [to, from, chosen] = [self.source, self.gradient, self.places].map(|planes| planes.image(image));
                if let Some(elements) = dense.filter(|_| joined.is_none()) {
                    let at = to + self.source.channels.at(first);
                    source.part(at * size, elements * size).fill(0);
                }
                for channel in first..self.channels.min(first + block) {
                    let at = chosen + self.places.channels.at(channel);
                    let place = if self.bytes { places.get::<u8>(at).into() } else { places.get::<i32>(at) as usize };
                    if place < depth * height * width {
                        let pixel = distance.map_or_else(
                            || {
                                let pixel = [place / width / height, place / width % height, place % width];
                                pixel.iter().zip(self.source.pixels).map(|(at, stride)| at * stride).sum()
                            },
                            |distance| place * distance,
                        );
                        let at = to + self.source.channels.at(channel) + pixel;
                        source.set::<T>(at, gradient.get(from + self.gradient.channels.at(channel)));
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

//! `chosen:portable`: gradients of global max pooling: zero, except for the element of each channel that was the largest.

use crate::kernels::multiversion::Simd;
use crate::kernels::pointwise::{clear, grain_rows, split};
use crate::kernels::scratch::Scratch;
use crate::row::Kernel;
use oxidnn_runtime::{Buf, Ctx, Element, Skip};
use oxidnn_spec::op::{Pool, PoolAlg};
use oxidnn_spec::{Arg, DataType, Error, MAX_NDIMS, Tensor};

/// Most images, channels and pixels whose offsets are listed.
const MAX_OFFSETS: i64 = 1 << 14;

/// The kernel.
#[derive(Debug)]
pub(super) struct Chosen {
    /// Bits of an element, and whether the workspace has bytes.
    bits: usize,
    bytes: bool,
    /// Channels of a block, of which the tasks have some.
    block: usize,
    /// Elements of the planes of a block if they are cleared by the task that writes there, or bytes to clear before.
    own: Option<usize>,
    cleared: usize,
    /// The gradients of source and result, and the places of the largest.
    source: Places,
    result: Places,
    chosen: Places,
}

/// Where the elements of a tensor are: an offset is the sum of those of an image, of a channel, and of a pixel.
#[derive(Debug)]
struct Places {
    images: Vec<usize>,
    channels: Vec<usize>,
    pixels: Vec<usize>,
}

impl Places {
    fn of(arg: Arg, tensor: &Tensor) -> Result<Places, Skip> {
        let (b, dims) = (tensor.blocking().ok_or_else(|| Skip::Layout(format!("of {arg}")))?, tensor.dims());
        let pixels = dims[2..].iter().fold(1i64, |n, size| n.saturating_mul(*size));
        if dims[0].saturating_add(dims[1]).saturating_add(pixels) > MAX_OFFSETS {
            return Err(Skip::Shape("more than 16384 images, channels and pixels"));
        }
        let first = b.offset_of(&[0; MAX_NDIMS][..dims.len()]);
        let terms = |d: usize| {
            (0..dims[d]).map(move |p| {
                let mut position = [0; MAX_NDIMS];
                position[d] = p;
                (b.offset_of(&position[..dims.len()]) - first) as usize
            })
        };
        let pixels = (2..dims.len()).fold(vec![0], |all, d| all.iter().flat_map(|at| terms(d).map(move |term| at + term)).collect());
        Ok(Places { images: terms(0).map(|term| first as usize + term).collect(), channels: terms(1).collect(), pixels })
    }

    /// Elements of the planes of a block of channels, if the planes of all blocks follow each other.
    fn follow(&self, block: usize) -> Option<usize> {
        let (elements, blocks) = (block * self.pixels.len(), self.channels.len().div_ceil(block));
        let inside = self.channels[..block.min(self.channels.len())].iter().max()? + self.pixels.iter().max()? < elements;
        let images = self.images.iter().enumerate().all(|(i, at)| *at == i * blocks * elements);
        let channels = self.channels.iter().step_by(block).enumerate().all(|(i, at)| *at == i * elements);
        (inside && images && channels).then_some(elements)
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
        let bits = op.src.dtype.bits();
        if op.dst.dtype != op.src.dtype || !matches!(bits, 16 | 32) || !matches!(workspace.dtype, DataType::U8 | DataType::S32) {
            return Err(Skip::DataType(format!("{} to {}", op.dst.dtype, op.src.dtype)));
        }
        if op.src.is_empty() || op.kernel.iter().product::<i64>() <= 1 {
            return Err(Skip::Shape("planes of one element"));
        }
        let source = Places::of(Arg::DIFF_SRC, &op.src)?;
        let block = op.src.blocking().map_or(1, |b| b.inner.of(1)) as usize;
        let own = source.follow(block);
        // Vectors of channels are left to strips.
        let vectors = block == 1 && source.channels.get(1).is_none_or(|step| *step == 1);
        let whole = op.src.layout.is_dense(true) && op.src.blocking().is_some_and(|b| b.offset == 0);
        if own.is_none() && (vectors || !whole) {
            return Err(Skip::Layout("of diff_src: neighbouring channels, or gaps".into()));
        }
        Ok(Chosen {
            bits,
            bytes: workspace.dtype == DataType::U8,
            block,
            own,
            cleared: op.src.bytes(),
            source,
            result: Places::of(Arg::DIFF_DST, &op.dst)?,
            chosen: Places::of(Arg::WORKSPACE, workspace)?,
        })
    }

    /// Spreads the gradients.
    fn spread<T: Element>(&self, ctx: &Ctx<'_>, [source, gradient, chosen]: [Buf<'_>; 3]) {
        let Chosen { block, source: to, result: from, chosen: places, .. } = self;
        let (images, channels) = (to.images.len(), to.channels.len());
        if self.own.is_none() {
            clear(ctx.executor(), source.part(0, self.cleared));
        }
        let blocks = channels.div_ceil(*block);
        let (all, cost) = ((images * blocks) as i64, self.own.unwrap_or(*block) as i64);
        split(ctx.executor(), all, grain_rows(all, cost, 1), &|range| {
            let [mut first, end] = [range.start, range.end].map(|n| n as usize);
            if let Some(bytes) = self.own.map(|elements| elements * size_of::<T>()) {
                source.part(first * bytes, (end - first) * bytes).fill(0);
            }
            while first < end {
                let (image, begin) = (first / blocks, first % blocks);
                let some = (end - first).min(blocks - begin);
                let [to_image, from_image, places_image] = [to, from, places].map(|p| p.images[image]);
                for channel in begin * block..channels.min((begin + some) * block) {
                    let at = places_image + places.channels[channel];
                    let place = if self.bytes { chosen.get::<u8>(at).into() } else { chosen.get::<i32>(at) as usize };
                    if let Some(pixel) = to.pixels.get(place) {
                        let x = gradient.get::<T>(from_image + from.channels[channel]);
                        source.set(to_image + to.channels[channel] + pixel, x);
                    }
                }
                first += some;
            }
        });
    }
}

impl Kernel for Chosen {
    fn table_bytes(&self) -> usize {
        let all = [&self.source, &self.result, &self.chosen].map(|p| p.images.len() + p.channels.len() + p.pixels.len());
        all.iter().sum::<usize>() * size_of::<usize>()
    }

    fn run(&self, _: Simd, ctx: &Ctx<'_>, _: Scratch<'_>) -> Result<(), Error> {
        let bufs = [ctx.buf(Arg::DIFF_SRC)?, ctx.buf(Arg::DIFF_DST)?, ctx.buf(Arg::WORKSPACE)?];
        match self.bits {
            16 => self.spread::<u16>(ctx, bufs),
            _ => self.spread::<u32>(ctx, bufs),
        }
        Ok(())
    }
}

//! `chosen:portable`: global max pooling of planes with the places of the largest, and its gradients: zero, except for these elements.

use crate::kernels::access::View;
use crate::kernels::multiversion::{Simd, multiversion};
use crate::kernels::pointwise::{clear, grain_rows, split};
use crate::kernels::scratch::Scratch;
use crate::row::Kernel;
use oxidnn_runtime::{Buf, Ctx, Element, Skip};
use oxidnn_spec::op::{Pool, PoolAlg};
use oxidnn_spec::{Arg, Attr, DataType, Error, MAX_NDIMS, Tensor};

/// Most elements of a plane whose largest is looked for.
const PLANE: usize = 1024;

/// The kernel.
#[derive(Debug)]
pub(super) struct Chosen {
    forward: bool,
    /// Bits of an element, and whether the workspace has bytes.
    bits: usize,
    bytes: bool,
    /// Channels of a block, of which the tasks have some.
    block: usize,
    /// Elements of the planes of a block if they are cleared by the task that writes there, or bytes to clear before.
    own: Option<usize>,
    cleared: usize,
    /// The planes and the results, or the gradients of both, and the places.
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
    /// [`Skip`] for all but maxima over whole planes with a workspace, and for other types and layouts.
    pub(super) fn new(op: &Pool, attr: &Attr) -> Result<Chosen, Skip> {
        let plain = (Attr { scratchpad: Default::default(), ..attr.clone() }).is_default();
        let workspace = op.workspace.as_ref().filter(|_| op.alg == PoolAlg::Max && super::is_whole(op) && plain);
        let workspace = workspace.ok_or(Skip::Shape("anything but maxima of whole planes, and their gradients"))?;
        let float = matches!(op.src.dtype, DataType::F32 | DataType::Bf16 | DataType::F16);
        if op.dst.dtype != op.src.dtype || !float || !matches!(workspace.dtype, DataType::U8 | DataType::S32) {
            return Err(Skip::DataType(format!("{} to {}", op.dst.dtype, op.src.dtype)));
        }
        if op.src.is_empty() || op.kernel.iter().product::<i64>() <= 1 {
            return Err(Skip::Shape("planes of one element"));
        }
        let forward = op.prop.is_forward();
        let [source, result] = if forward { [Arg::SRC, Arg::DST] } else { [Arg::DIFF_SRC, Arg::DIFF_DST] };
        let (source, result) = (Places::of(source, &op.src)?, Places::of(result, &op.dst)?);
        let block = op.src.blocking().map_or(1, |b| b.inner.of(1)) as usize;
        let own = source.follow(block);
        // Vectors of channels are left to strips.
        let vectors = block == 1 && source.channels.get(1).is_none_or(|step| *step == 1);
        let whole = op.src.layout.is_dense(true) && op.src.blocking().is_some_and(|b| b.offset == 0);
        let padded = |t: &Tensor| t.blocking().is_none_or(|b| b.padded_dims != *t.dims());
        let taken = match forward {
            true => {
                source.pixels.len() <= PLANE
                    && source.pixels.iter().enumerate().all(|(i, at)| i == *at)
                    && !padded(&op.dst)
                    && !padded(workspace)
            }
            false => own.is_some() || !vectors && whole,
        };
        if !taken {
            return Err(Skip::Layout("of src: neighbouring channels, or gaps".into()));
        }
        Ok(Chosen {
            forward,
            bits: op.src.dtype.bits(),
            bytes: workspace.dtype == DataType::U8,
            block,
            own,
            cleared: op.src.bytes(),
            source,
            result,
            chosen: Places::of(Arg::WORKSPACE, workspace)?,
        })
    }

    /// Finds the largest of each plane.
    fn find<T: Element>(&self, (simd, view): (Simd, &View<'_>), ctx: &Ctx<'_>, [source, result, chosen]: [Buf<'_>; 3]) {
        let Chosen { source: from, result: to, chosen: places, .. } = self;
        let (channels, count) = (from.channels.len(), from.pixels.len());
        let all = (from.images.len() * channels) as i64;
        split(ctx.executor(), all, grain_rows(all, count as i64, 1), &|range| {
            let mut plane = [0.0; PLANE];
            for i in range {
                let (image, channel) = (i as usize / channels, i as usize % channels);
                let [at, to, place_at] = [from, to, places].map(|p| p.images[image] + p.channels[channel]);
                view.read_run(at, 1, &mut plane[..count]);
                let place = largest(simd, &plane[..count]);
                result.set(to, source.get::<T>(at + place));
                if self.bytes { chosen.set(place_at, place as u8) } else { chosen.set(place_at, place as i32) }
            }
        });
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

    fn run(&self, simd: Simd, ctx: &Ctx<'_>, _: Scratch<'_>) -> Result<(), Error> {
        let chosen = ctx.buf(Arg::WORKSPACE)?;
        if self.forward {
            let (bufs, view) = ([ctx.buf(Arg::SRC)?, ctx.buf(Arg::DST)?, chosen], View::of(simd, ctx, Arg::SRC)?);
            match self.bits {
                16 => self.find::<u16>((simd, &view), ctx, bufs),
                _ => self.find::<u32>((simd, &view), ctx, bufs),
            }
            return Ok(());
        }
        let bufs = [ctx.buf(Arg::DIFF_SRC)?, ctx.buf(Arg::DIFF_DST)?, chosen];
        match self.bits {
            16 => self.spread::<u16>(ctx, bufs),
            _ => self.spread::<u32>(ctx, bufs),
        }
        Ok(())
    }
}

multiversion! {
    /// The place of the first of the largest elements, which NaN is not; the first place if there are only NaN.
    fn largest(x: &[f32]) -> usize {
        let (vectors, rest) = x.as_chunks::<16>();
        let mut most = [f32::NEG_INFINITY; 16];
        for vector in vectors {
            most = std::array::from_fn(|i| if vector[i] > most[i] { vector[i] } else { most[i] });
        }
        let most = most.iter().chain(rest).fold(f32::NEG_INFINITY, |most, x| if *x > most { *x } else { most });
        let within = |vector: &[f32]| vector.iter().position(|x| *x == most);
        let first = vectors.iter().position(|vector| vector.iter().fold(false, |any, x| any | (*x == most)));
        match first {
            Some(i) => 16 * i + within(&vectors[i]).unwrap_or(0),
            None => within(rest).map_or(0, |i| 16 * vectors.len() + i),
        }
    }
}

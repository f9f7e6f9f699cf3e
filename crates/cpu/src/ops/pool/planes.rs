//! Pooling of tensors whose channels lie in planes, such as NCHW: vectors of channels are brought together in scratch, pooled, and taken apart.
//!
//! A task is a vector of channels of an image. Squares of the source go through registers to scratch, where its pixels are vectors of channels;
//! strips make the results there, and squares take these to their planes.

use super::jit::{Bound, Direct, Place};
use crate::kernels::scratch::{Scratch, for_workers};
use crate::kernels::transpose::{Matrix, Squares};
use oxidnn_jit::Isa;
use oxidnn_runtime::{Buf, Ctx, Skip};
use oxidnn_spec::{Arg, Error, Tensor};

/// Most numbers of the planes of a task.
const NUMBERS: usize = 1024 * 1024;

/// A tensor of planes; distances in bytes.
#[derive(Clone, Debug)]
struct Plane {
    size: usize,
    start: usize,
    image: usize,
    channel: usize,
    /// Numbers of a plane.
    count: usize,
}

/// The planes of a pooling, and where their vectors lie in a worker's scratch.
#[derive(Debug)]
pub(super) struct Planes {
    lanes: usize,
    source: Plane,
    result: Plane,
    places: Option<Plane>,
    workers: usize,
}

impl Plane {
    /// The tensor, and the place of a vector of its channels in scratch.
    fn of(arg: Arg, tensor: &Tensor, lanes: usize) -> Result<(Plane, Place), Skip> {
        let (dims, size) = (tensor.dims(), tensor.dtype.bits() / 8);
        let count: i64 = dims[2..].iter().product();
        let mut dense = 1;
        let planes = tensor.blocking().filter(|b| b.is_plain()).filter(|b| {
            (2..dims.len()).rev().all(|d| {
                let fits = b.strides[d] == dense || dims[d] == 1;
                dense *= dims[d];
                fits
            })
        });
        let b = planes.ok_or_else(|| Skip::Layout(format!("of {arg}: channels neither in vectors nor in planes")))?;
        let bytes = |stride: i64| stride as usize * size;
        let plane = Plane { size, start: bytes(b.offset), image: bytes(b.strides[0]), channel: bytes(b.strides[1]), count: count as usize };
        Ok((plane, Place::in_scratch(arg, tensor, lanes)))
    }

    fn at(&self, image: usize, channel: usize) -> usize {
        self.start + image * self.image + channel * self.channel
    }

    /// Numbers of scratch for a vector of channels.
    fn numbers(&self, lanes: usize) -> usize {
        (self.count * lanes * self.size).div_ceil(4)
    }
}

/// A pooling's tensors.
pub(super) type Tensors<'a> = [Option<(Arg, &'a Tensor)>; 3];

impl Planes {
    /// The planes of source, result and places, and where their vectors lie in scratch.
    ///
    /// # Errors
    /// [`Skip`] for other layouts, for types but `f32`, and for planes that are too large.
    pub(super) fn of([source, result, places]: Tensors<'_>, (workers, jit): (usize, Isa)) -> Result<(Planes, [Option<Place>; 3]), Skip> {
        let lanes = jit.width().lanes();
        let (Some(source), Some(result)) = (source, result) else { return Err(Skip::Op("no tensors")) };
        let plane = |(arg, tensor): (Arg, &Tensor)| Plane::of(arg, tensor, lanes);
        let (source, result, places) = (plane(source)?, plane(result)?, places.map(plane).transpose()?);
        if source.0.size != 4 || result.0.size != 4 {
            return Err(Skip::DataType("narrow numbers in planes".into()));
        }
        let (places, in_places) = places.unzip();
        let planes = Planes { lanes, source: source.0, result: result.0, places, workers };
        if planes.shares().iter().sum::<usize>() > NUMBERS {
            return Err(Skip::Shape("large planes"));
        }
        Ok((planes, [Some(source.1), Some(result.1), in_places]))
    }

    /// Numbers of a worker's scratch for source, result and places.
    fn shares(&self) -> [usize; 3] {
        let numbers = |plane: &Plane| plane.numbers(self.lanes).next_multiple_of(16);
        [numbers(&self.source), numbers(&self.result), self.places.as_ref().map_or(0, numbers)]
    }

    /// Numbers of scratch of all workers: what they own, and what code works on.
    pub(super) fn scratch(&self) -> Option<[usize; 2]> {
        Some([for_workers(self.workers, 16)?, for_workers(self.workers, self.shares().iter().sum())?])
    }

    /// Pools all images.
    pub(super) fn run(&self, pool: &Direct, ctx: &Ctx<'_>, scratch: &mut Scratch<'_>, bound: Bound<'_>) -> Result<(), Error> {
        let Some(squares) = &bound.code.squares else { panic!("no transposition was made") };
        let [own, code] = self.scratch().unwrap_or([0; 2]);
        let (mut own, mut code) = (scratch.take(own)?, scratch.take(code)?);
        let groups = pool.channels.div_ceil(self.lanes);
        own.work_beside(&mut code, ctx.executor(), self.workers, (pool.images * groups, None), &|task, _, share| {
            let (image, first) = (task / groups, task % groups * self.lanes);
            let (at, channels) = ((image, first), self.lanes.min(pool.channels - first));
            let [source, result, places] = self.shares().map(|n| n * 4);
            let parts = [share.part(0, source), share.part(source, result), share.part(source + result, places)];
            let (from, to) = (self.matrix(&self.source, bound.source, at), self.vectors(parts[0]));
            squares.run(from, to, channels, self.source.count);
            let places = self.places.as_ref().zip(bound.places.as_ref().map(|p| p.1));
            if let (Some((plane, buf)), true) = (places, pool.reads) {
                self.gather(squares, (plane, buf), parts[2], (at, channels));
            }
            let places_in = bound.places.map(|(place, _)| (place, parts[2]));
            Bound { source: parts[0], result: parts[1], places: places_in, ..bound }.strips((0, 0), (first, self.lanes), 0..pool.rows[1]);
            squares.run(self.vectors(parts[1]), self.matrix(&self.result, bound.result, at), self.result.count, channels);
            if let (Some((plane, buf)), false) = (places, pool.reads) {
                self.scatter(squares, (plane, buf), parts[2], (at, channels));
            }
        });
        Ok(())
    }

    fn matrix<'b>(&self, plane: &Plane, buf: Buf<'b>, (image, channel): (usize, usize)) -> Matrix<'b> {
        Matrix { buf, at: plane.at(image, channel), row: plane.channel }
    }

    /// Pixels in scratch: vectors of channels one behind the other.
    fn vectors<'b>(&self, buf: Buf<'b>) -> Matrix<'b> {
        Matrix { buf, at: 0, row: self.lanes * 4 }
    }

    /// Brings the places of some channels together.
    fn gather(&self, squares: &Squares, (plane, buf): (&Plane, Buf), to: Buf, (at, channels): ((usize, usize), usize)) {
        if plane.size == 4 {
            return squares.run(self.matrix(plane, buf, at), self.vectors(to), channels, plane.count);
        }
        bytes(plane, plane.at(at.0, at.1), channels, |c, pixel, byte| to.set(pixel * self.lanes + c, buf.get::<u8>(byte)));
    }

    /// Takes the places of some channels apart.
    fn scatter(&self, squares: &Squares, (plane, buf): (&Plane, Buf), from: Buf, (at, channels): ((usize, usize), usize)) {
        if plane.size == 4 {
            return squares.run(self.vectors(from), self.matrix(plane, buf, at), plane.count, channels);
        }
        bytes(plane, plane.at(at.0, at.1), channels, |c, pixel, byte| buf.set(byte, from.get::<u8>(pixel * self.lanes + c)));
    }
}

/// Calls `f` with every channel and pixel of some planes of bytes, and the byte where it lies.
fn bytes(plane: &Plane, at: usize, channels: usize, f: impl Fn(usize, usize, usize)) {
    for c in 0..channels {
        for pixel in 0..plane.count {
            f(c, pixel, at + c * plane.channel + pixel);
        }
    }
}

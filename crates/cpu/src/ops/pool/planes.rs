//! Pooling of tensors whose channels are planes, such as NCHW. A vector of channels is transposed to scratch, pooled there, and transposed
//! back.
//!
//! A task is a vector of channels of an image. Squares transpose the source in registers to scratch, where a pixel is a vector of channels;
//! strips compute the results there, and squares transpose these to their planes.

use super::jit::{Bound, Direct, Task};
use crate::kernels::scratch::{Scratch, for_workers, lend};
use crate::kernels::transpose::{Matrix, RegisterTranspose};
use crate::ops::strips::Place;
use crate::ops::support;
use oxidnn_jit::Isa;
use oxidnn_jit::ir::Elem;
use oxidnn_jit::kernels::transpose::{Transpose, UNCHANGED};
use oxidnn_runtime::{Buf, Ctx, Skip};
use oxidnn_spec::{Arg, Error, Tensor};

/// Most elements of the planes of a task.
const MAX_TASK_ELEMENTS: usize = 4 * 1024 * 1024;

/// A tensor of planes; strides in bytes.
#[derive(Clone, Debug)]
struct Plane {
    size: usize,
    start: usize,
    image: usize,
    channel: usize,
    /// Elements of a plane.
    count: usize,
}

/// The planes of a pooling's tensors, and the layout of their vectors in a worker's scratch.
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
        let planes = tensor.blocking().filter(|b| b.is_plain() && matches!(support::pixel_distance(tensor), Some(0 | 1)));
        let b = planes.ok_or_else(|| Skip::Layout(format!("of {arg}: channels neither in vectors nor in planes")))?;
        let bytes = |stride: i64| stride as usize * size;
        let plane = Plane { size, start: bytes(b.offset), image: bytes(b.strides[0]), channel: bytes(b.strides[1]), count: count as usize };
        Ok((plane, Place::in_scratch(arg, tensor, lanes)))
    }

    fn at(&self, image: usize, channel: usize) -> usize {
        self.start + image * self.image + channel * self.channel
    }

    /// Elements of scratch for a vector of channels.
    fn numbers(&self, lanes: usize) -> usize {
        (self.count * lanes * self.size).div_ceil(4)
    }
}

/// A pooling's tensors.
pub(super) type Tensors<'a> = [Option<(Arg, &'a Tensor)>; 3];

impl Planes {
    /// The planes of source, result and places, and the places of their vectors in scratch.
    ///
    /// # Errors
    /// [`Skip`] for other layouts, for elements of 64 bits, and for planes that are too large.
    pub(super) fn of([source, result, places]: Tensors<'_>, (workers, jit): (usize, Isa)) -> Result<(Planes, [Option<Place>; 3]), Skip> {
        let lanes = jit.width().lanes();
        let (Some(source), Some(result)) = (source, result) else { return Err(Skip::Op("no tensors")) };
        let plane = |(arg, tensor): (Arg, &Tensor)| Plane::of(arg, tensor, lanes);
        let (source, result, places) = (plane(source)?, plane(result)?, places.map(plane).transpose()?);
        let (places, in_places) = places.unzip();
        if [&source.0, &result.0].into_iter().chain(&places).any(|plane| bits(plane.size).is_none()) {
            return Err(Skip::DataType("numbers of 64 bits in planes".into()));
        }
        let planes = Planes { lanes, source: source.0, result: result.0, places, workers };
        if planes.shares().iter().sum::<usize>() > MAX_TASK_ELEMENTS {
            return Err(Skip::Shape("large planes"));
        }
        Ok((planes, [Some(source.1), Some(result.1), in_places]))
    }

    /// The kernels that transpose vectors of source, result and places.
    ///
    /// # Errors
    /// As for [`RegisterTranspose::of`].
    pub(super) fn build(&self, isa: Isa) -> Result<[Option<RegisterTranspose>; 3], Error> {
        let squares = |plane: Option<&Plane>| {
            let elem = plane.and_then(|plane| bits(plane.size));
            elem.map(|elem| RegisterTranspose::of(isa, Transpose { from: elem, to: elem, factors: UNCHANGED, placed: false })).transpose()
        };
        Ok([squares(Some(&self.source))?, squares(Some(&self.result))?, squares(self.places.as_ref())?])
    }

    /// Elements of a worker's scratch for source, result and places.
    fn shares(&self) -> [usize; 3] {
        let numbers = |plane: &Plane| plane.numbers(self.lanes).next_multiple_of(16);
        [numbers(&self.source), numbers(&self.result), self.places.as_ref().map_or(0, numbers)]
    }

    /// Elements of scratch of all workers.
    pub(super) fn scratch(&self) -> Option<usize> {
        let vectors = self.shares().iter().sum();
        for_workers(self.workers, vectors)
    }

    /// Pools all images.
    pub(super) fn run(&self, pool: &Direct, ctx: &Ctx<'_>, scratch: &mut Scratch<'_>, bound: Bound<'_>) -> Result<(), Error> {
        let [Some(load), Some(store), move_places] = &bound.code.squares else { panic!("no transposition was made") };
        let len = self.scratch().ok_or_else(|| Error::Runtime("scratch that was not booked".into()))?;
        let mut vectors = scratch.take(len)?;
        let groups = pool.channels.div_ceil(self.lanes);
        vectors.work(ctx.executor(), self.workers, pool.images * groups, &|task, share| {
            let (image, first, share) = (task / groups, task % groups * self.lanes, lend(share));
            let (at, channels) = ((image, first), self.lanes.min(pool.channels - first));
            let [source, result, places] = self.shares().map(|n| n * 4);
            let parts = [share.part(0, source), share.part(source, result), share.part(source + result, places)];
            let (from, to) = (self.matrix(&self.source, bound.source, at), self.vectors(&self.source, parts[0]));
            load.run(from, to, channels, self.source.count);
            let places = self.places.as_ref().zip(bound.places.as_ref().map(|p| p.1)).zip(move_places.as_ref());
            let places =
                places.map(|((plane, buf), squares)| (squares, self.matrix(plane, buf, at), self.vectors(plane, parts[2]), plane.count));
            if let Some((squares, outside, inside, count)) = places.filter(|_| pool.reads) {
                squares.run(outside, inside, channels, count);
            }
            let places_in = bound.places.map(|(place, _)| (place, parts[2]));
            let all = Task { at: (0, 0), channels: (first, self.lanes), rows: 0..pool.rows[1], columns: (0, 1) };
            Bound { source: parts[0], result: parts[1], places: places_in, ..bound }.strips(all);
            store.run(self.vectors(&self.result, parts[1]), self.matrix(&self.result, bound.result, at), self.result.count, channels);
            if let Some((squares, outside, inside, count)) = places.filter(|_| !pool.reads) {
                squares.run(inside, outside, count, channels);
            }
        });
        Ok(())
    }

    fn matrix<'b>(&self, plane: &Plane, buf: Buf<'b>, (image, channel): (usize, usize)) -> Matrix<'b> {
        Matrix { buf, at: plane.at(image, channel), row: plane.channel }
    }

    /// The pixels of a tensor in scratch: contiguous vectors of channels.
    fn vectors<'b>(&self, plane: &Plane, buf: Buf<'b>) -> Matrix<'b> {
        Matrix { buf, at: 0, row: self.lanes * plane.size }
    }
}

/// The type that moves elements of `bytes` bytes.
fn bits(bytes: usize) -> Option<Elem> {
    Some(match bytes {
        1 => Elem::Low8,
        2 => Elem::Low16,
        4 => Elem::F32,
        _ => return None,
    })
}

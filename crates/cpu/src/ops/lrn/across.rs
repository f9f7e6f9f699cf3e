//! `channels:jit`: windows of channels on generated code, with channels last, in blocks of a vector, or in planes.

use super::generated::{self, Code, Formula, Lanes};
use crate::CpuTarget;
use crate::kernels::multiversion::Simd;
use crate::kernels::responses::{Call, MOST, Plane};
use crate::kernels::scratch::{Scratch, for_workers};
use crate::row::Generated;
use oxidnn_jit::Isa;
use oxidnn_runtime::{Buf, Ctx, Plan, Skip};
use oxidnn_spec::op::{Lrn, LrnAlg};
use oxidnn_spec::{Error, Problem};

/// Zeros before and after a row of channels.
const AROUND: usize = 16;
/// Elements of the planes of scratch for some rows of channels, which stay in L1.
const NEAR: usize = 12 * 1024;
/// Fewest pixels of blocks of channels that are processed together.
const BLOCKED: usize = 16;
/// Elements of a plane of all channels, which stays in L2; and fewest and most pixels of it.
const PLANE: usize = 16 * 1024;
const ROWS: std::ops::RangeInclusive<usize> = 64..=512;
/// Elements of a task: its planes have zeros put around their rows once.
const TASK: usize = 8 * 1024;

/// Plans a normalisation.
///
/// # Errors
/// Problems that the row does not take.
pub(super) fn plan(problem: &Problem, target: &CpuTarget) -> Result<Box<dyn Plan>, Skip> {
    generated::plan(problem, target, Across::new, Across::space)
}

/// Planes of scratch, one after the other, in elements.
#[derive(Clone, Copy, Debug)]
struct Planes {
    /// Elements of a plane.
    size: usize,
    /// The strides of the first.
    at: Plane,
}

#[derive(Debug)]
struct Across {
    of: Formula,
    window: u8,
    images: usize,
    pixels: usize,
    /// Elements of a row: channels, including padding channels, or pixels.
    channels: usize,
    /// Pixels that are made together, and where their planes lie; and how often that is done in a task.
    each: usize,
    planes: Planes,
    times: usize,
}

impl Across {
    fn new(op: &Lrn, workers: usize, jit: Isa) -> Result<Across, Skip> {
        if op.alg != LrnAlg::AcrossChannels {
            return Err(Skip::Op("windows of pixels"));
        }
        let (dims, lanes) = (op.src.dims(), jit.width().lanes());
        let mut of = Formula::new(op, op.local_size as f32, (workers, jit))?;
        let [images, channels] = [dims[0], dims[1]].map(|n| n as usize);
        let pixels = dims[2..].iter().product::<i64>() as usize;
        // A longer window includes no more channels.
        let half = (op.local_size as usize - 1) / 2;
        let half = half.min(channels.saturating_sub(1));
        if images * pixels * channels == 0 || 2 * half + 1 > MOST {
            return Err(Skip::Shape("no elements, or a long window"));
        }
        let places = &mut of.places;
        let first = places[0].ok_or(Skip::Op("without a source"))?;
        if places.iter().flatten().any(|p| p.lanes != first.lanes) {
            return Err(Skip::Layout("of src and dst: vectors of other elements".into()));
        }
        let (mut images, mut pixels) = (images, pixels);
        if first.lanes == Lanes::Channels && places.iter().flatten().all(|p| pixels == 1 || p.image == pixels * p.pixel) {
            // Images are further pixels.
            places.iter_mut().flatten().filter(|_| pixels == 1).for_each(|p| p.pixel = p.image);
            (images, pixels) = (1, images * pixels);
        }
        let count = if op.prop.is_forward() { 1 } else { 3 };
        let (each, planes) = match first.lanes {
            Lanes::Channels => {
                let row = channels.next_multiple_of(lanes) + 2 * AROUND;
                // Blocks have pixels that are contiguous.
                let blocked = places.iter().flatten().any(|p| p.channel != lanes * of.elem.bytes()) && channels > lanes;
                let least = if blocked { BLOCKED } else { 1 };
                let each = (NEAR / count / row).max(least).min(pixels);
                (each, Planes { size: each * row, at: Plane { first: AROUND, row, near: 1 } })
            }
            Lanes::Pixels => {
                let row = (PLANE / channels).clamp(*ROWS.start(), *ROWS.end()).min(pixels).next_multiple_of(lanes);
                (row, Planes { size: (channels + 2 * half) * row, at: Plane { first: half * row, row, near: row } })
            }
        };
        let times = (TASK / (each * channels)).clamp(1, pixels.div_ceil(each));
        let across = Across { of, window: 2 * half as u8 + 1, images, pixels, channels, each, planes, times };
        across.of.check_masks(across.is_masked())?;
        Ok(across)
    }

    fn lanes(&self) -> Lanes {
        self.of.places[0].map_or(Lanes::Channels, |p| p.lanes)
    }

    /// Channels of a row.
    fn row(&self) -> usize {
        self.of.channels(self.channels)
    }

    fn is_masked(&self) -> bool {
        let elements = if self.lanes() == Lanes::Channels { self.row() } else { self.pixels };
        !elements.is_multiple_of(self.of.lanes())
    }

    /// Elements of a worker's scratch.
    fn space(&self) -> usize {
        self.planes.size.saturating_mul(if self.of.is_forward() { 1 } else { 3 })
    }

    /// Zeros around the rows of the planes that windows read.
    fn surround(&self, space: &mut [f32]) {
        let Planes { size, at: Plane { first, row, .. } } = self.planes;
        for plane in space.chunks_exact_mut(size).take(2) {
            match self.lanes() {
                Lanes::Channels => plane.chunks_exact_mut(row).for_each(|row| {
                    let end = row.len() - AROUND;
                    row[..AROUND].fill(0.0);
                    row[end..].fill(0.0);
                }),
                Lanes::Pixels => {
                    plane[..first].fill(0.0);
                    plane[size - first..].fill(0.0);
                }
            }
        }
    }

    /// Makes some pixels of an image, in planes with zeros around their rows.
    fn make(&self, code: &Code, bufs: &[Buf<'_>; 3], (image, pixel): (usize, usize), space: &mut [f32]) {
        let count = self.each.min(self.pixels - pixel);
        let width = self.of.lanes() * self.of.elem.bytes();
        let tensors = std::array::from_fn(|i| self.of.places[i].map(|p| p.side(bufs[i], image, pixel, width)));
        let sizes = if self.lanes() == Lanes::Channels { [count, self.row()] } else { [self.channels, count] };
        let Planes { size, at } = self.planes;
        let planes = std::array::from_fn(|i| Plane { first: i * size + at.first, ..at });
        let mut call = Call { tensors, space, planes, sizes, numbers: self.of.numbers };
        let total = code.squares.run(&mut call);
        code.powers[usize::from(self.of.is_usual(total))].run(&mut call);
        if let Some(combine) = &code.combine {
            combine.run(&mut call);
        }
    }
}

impl Generated for Across {
    type Code = Code;

    fn build(&self) -> Result<Code, Error> {
        self.of.code(self.window, self.is_masked())
    }

    fn run(&self, code: &Code, simd: Simd, ctx: &Ctx<'_>, mut scratch: Scratch<'_>) -> Result<(), Error> {
        let bufs = self.of.bufs(ctx)?;
        let task = self.times * self.each;
        let tasks = self.pixels.div_ceil(task);
        let mut space = scratch.take(for_workers(self.of.workers, self.space()).unwrap_or(0))?;
        space.work(ctx.executor(), self.of.workers, self.images * tasks, &|index, space| {
            let (image, first, space) = (index / tasks, index % tasks * task, &mut space[..self.space()]);
            self.surround(space);
            for pixel in (first..self.pixels.min(first + task)).step_by(self.each) {
                self.make(code, &bufs, (image, pixel), space);
            }
        });
        self.of.finish(simd, ctx)
    }
}
